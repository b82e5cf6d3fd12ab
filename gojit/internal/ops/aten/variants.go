// Package aten makes the operators of the definitions in its subpackages, which have a family to a file and an entry to an overload. In-place
// and out= overloads are derived from the functional ones (variants.go) and not written, except where writing in place is the definition. Tensors without
// elements, sparse ones and those on devices are met here, before a body runs (entry.go).
//
// Invariant: an operator leaves its arguments alone unless its schema says that it writes them, and bad arguments give a *source.Error.
package aten

import (
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/nn"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/quantized"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/random"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/sparse"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/special"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/vision"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Families returns all families in the order of the documentation.
func Families() []define.Family {
	all := []define.Family{
		{Title: "Arithmetic and comparison", Definitions: elementwise.PointwiseFamily, KnowsMeta: false},
		{Title: "Activations", Definitions: slices.Concat(nn.ActivationFamily, reduce.SoftmaxFamily), KnowsMeta: false},
		{Title: "Reductions", Definitions: reduce.ReduceFamily, KnowsMeta: false},
		{Title: "Shapes and views", Definitions: views.ViewFamily, KnowsMeta: true},
		{Title: "Creation", Definitions: views.CreateFamily, KnowsMeta: true},
		{Title: "Indexing", Definitions: slices.Concat(indexing.IndexFamily, indexing.SelectionGradientFamily), KnowsMeta: false},
		{Title: "Joining and padding", Definitions: slices.Concat(views.JoinFamily, views.PadFamily), KnowsMeta: false},
		{Title: "Random numbers", Definitions: slices.Concat(random.RandomFamily, random.DistributionFamily), KnowsMeta: true},
		{Title: "Sequences of low discrepancy", Definitions: random.SobolFamily, KnowsMeta: false},
		{Title: "Matrix products", Definitions: linalg.MatmulFamily, KnowsMeta: false},
		{Title: "Convolution", Definitions: conv.ConvFamily, KnowsMeta: false},
		{Title: "Normalization", Definitions: slices.Concat(nn.NormFamily, nn.NormGradientFamily), KnowsMeta: false},
		{Title: "Pooling", Definitions: conv.PoolFamily, KnowsMeta: false},
		{Title: "Losses and distances", Definitions: nn.LossFamily, KnowsMeta: false},
		{Title: "Embeddings", Definitions: indexing.EmbeddingFamily, KnowsMeta: false},
		{Title: "Recurrent layers", Definitions: nn.RnnFamily, KnowsMeta: false},
		{Title: "Attention", Definitions: nn.AttentionFamily, KnowsMeta: false},
		{Title: "Fourier transforms", Definitions: linalg.FftFamily, KnowsMeta: false},
		{Title: "Special functions", Definitions: slices.Concat(special.SpecialFamily, special.Polynomials(), special.BesselFamily), KnowsMeta: false},
		{Title: "Differences and integrals", Definitions: linalg.CalculusFamily, KnowsMeta: false},
		{Title: "Sorting and searching", Definitions: slices.Concat(indexing.SortFamily, indexing.SelectFamily, indexing.UniqueFamily, indexing.SearchFamily), KnowsMeta: false},
		{Title: "Running sums and extremes", Definitions: slices.Concat(reduce.ScanFamily, reduce.ExtremeFamily), KnowsMeta: false},
		{Title: "Resampling", Definitions: vision.ResampleFamily, KnowsMeta: false},
		{Title: "Linear algebra", Definitions: linalg.LinalgFamily, KnowsMeta: false},
		{Title: "Decompositions and solutions", Definitions: slices.Concat(linalg.SolveFamily, linalg.LuFamily, linalg.ReflectionFamily, linalg.LdlFamily, linalg.EigenFamily), KnowsMeta: false},
		{Title: "Copies and conversions", Definitions: views.ConversionFamily, KnowsMeta: true},
		{Title: "Properties", Definitions: views.PropertyFamily, KnowsMeta: true},
		{Title: "Quantization", Definitions: quantized.QuantizeFamily, KnowsMeta: false},
		{Title: "Detection", Definitions: vision.DetectionFamily, KnowsMeta: false},
		{Title: "Lists of tensors", Definitions: foreachFamily(), KnowsMeta: false},
	}
	all = append(all, define.Family{Title: "Quantized forms", Definitions: quantized.ThroughNumbers(all)})
	for i := range all {
		all[i].Definitions = withAliases(all[i].Definitions)
	}
	sparseTensors := define.Family{Title: "Sparse tensors", Definitions: sparse.SparseFamily, KnowsMeta: false}
	sparseTensors.Definitions = slices.Concat(sparseTensors.Definitions, sparse.ForSparseAlone(append(all, sparseTensors)))
	return append(all, sparseTensors)
}

// withAliases has the other names of operators behind them: the same definitions.
func withAliases(definitions []define.Definition) []define.Definition {
	all := make([]define.Definition, 0, len(definitions))
	for i := range definitions {
		d := definitions[i]
		all = append(all, d)
		if d.Record == nil || d.Schema != "" {
			continue
		}
		for _, alias := range d.Record.Aliases {
			d.Name = alias
			all = append(all, d)
		}
	}
	return all
}

// Operators returns every operator of the package, in-place and out= overloads included. Those that are implemented elsewhere have a record
// and nothing to run.
func Operators() []ops.Operator {
	taken := map[string]bool{}
	families := Families()
	further := slices.Concat(views.ViewFurther, vision.ResampleFurther, conv.PoolFurther, conv.ConvFurther, nn.RecurrentFurther, random.RandomFurther, sparse.SparseFurther)
	count, directs := len(further), map[string]define.DirectOut{}
	for _, family := range families {
		count += len(family.Definitions)
		for i := range family.Definitions {
			d := &family.Definitions[i]
			taken[d.Name] = true
			if d.DirectOut != nil {
				directs[define.Key(d.Name)] = d.DirectOut
			}
		}
	}
	all := make([]ops.Operator, 0, 4*count)
	describe := func(name string, record *ops.Def) {
		if record != nil && name != "" {
			all = append(all, ops.Operator{Name: define.Key(name), Record: record})
		}
	}
	describeAliases := func(record *ops.Def) {
		for _, alias := range record.Aliases {
			describe(alias, record)
			inPlace, out := ops.Forms(define.Key(alias))
			describe(inPlace, record)
			describe(out, record)
		}
	}
	for i := range views.ViewFamily {
		if d, ok := copying(&views.ViewFamily[i]); ok && !taken[d.Name] {
			all = append(all, functional(&d))
		}
	}
	for _, family := range families {
		for i := range family.Definitions {
			d := quantized.TakingQuantized(family.Definitions[i])
			d.TakesMeta = family.KnowsMeta && d.Meta != define.RunsOnZero || d.Meta == define.KnowsMeta
			all = append(all, functional(d))
			nn.WithCheck(d.Check, &all[len(all)-1])
			linalg.WithLayout(d.Name, d.Columns, &all[len(all)-1])
			if d.Record != nil {
				describeAliases(d.Record)
			}
			self, out := ops.Forms(define.Key(d.Name))
			if self != "" && !taken[self] {
				all = append(all, inPlace(d, self))
				nn.WithCheck(d.Check, &all[len(all)-1])
				nn.WithCheck(inPlaceCheck(d), &all[len(all)-1])
			} else {
				describe(self, d.Record)
			}
			if out != "" && !taken[out] {
				taken[out] = true
				all = append(all, outForm(d, out))
				nn.WithCheck(d.Check, &all[len(all)-1])
			}
		}
	}
	for i := range all {
		refusingQuantized(&all[i])
	}
	all = append(all, outsOf(all, directs)...)
	for i := range further {
		for _, record := range further[i].Flat() {
			describe(record.Name, record.Def)
			self, out := ops.Forms(define.Key(record.Name))
			describe(self, record.Def)
			describe(out, record.Def)
		}
	}
	return all
}

// Variants returns the overloads that write in place or into out= of a functional one that is implemented
// elsewhere: name is without the namespace.
func Variants(name string, run ops.Operation) []ops.Operator {
	d := &define.Definition{Name: name, Body: func(c define.Call) { source.Throw(run(c.Args, c.Out)) }}
	var all []ops.Operator
	self, out := ops.Forms(define.Key(name))
	if self != "" {
		all = append(all, inPlace(d, self))
	}
	if out != "" {
		all = append(all, outForm(d, out))
	}
	return all
}

// inPlaceCheck is what the form in place asks besides.
func inPlaceCheck(d *define.Definition) func(c define.Call) {
	if d.Record == nil || d.Record.CheckInPlace == nil {
		return nil
	}
	return func(c define.Call) { source.Throw(d.Record.CheckInPlace(c.Args)) }
}

// entryFor makes an overload of the operator.
func entryFor(d *define.Definition, name string, takesMeta bool, body func(c define.Call)) ops.Operator {
	return entryOf(define.Key(name), d.Record, takesMeta, body)
}

func functional(d *define.Definition) ops.Operator {
	if d.Schema != "" {
		return entryOf(d.Schema, d.Record, d.TakesMeta, d.Body)
	}
	if d.Into == nil {
		return entryFor(d, d.Name, d.TakesMeta, d.Body)
	}
	into := d.Into
	return entryFor(d, d.Name, true, func(c define.Call) { c.Out[0] = value.OfTensor(into(c, nil)) })
}

// inPlace derives the overload that writes its first argument.
func inPlace(d *define.Definition, name string) ops.Operator {
	if into := d.Into; into != nil {
		return entryFor(d, name, true, func(c define.Call) {
			into(c, c.Tensor(0))
			c.GiveSelf()
		})
	}
	body, change := d.Body, d.Change
	return entryFor(d, name, d.TakesMeta, func(c define.Call) {
		if self := c.Args[0]; change != nil {
			others := c.Args[1:]
			if d.Name == "index_fill.int_Tensor" {
				others = others[:len(others)-1] // its value is read as a number first
			}
			if elementwise.CheckApart(self.Tensor(), others); define.IsFresh(self.Tensor(), others) {
				change(c, self.Tensor())
				c.GiveSelf()
				return
			}
		}
		var result [1]value.Value
		body(define.Call{Args: c.Args, Out: result[:]})
		if result[0].Kind() == value.KindList {
			for i, part := range result[0].List().Items {
				dst := c.Tensors(0)[i]
				elementwise.Store(dst, part.Tensor())
				dst.Bump()
			}
			return
		}
		elementwise.Store(c.Tensor(0), result[0].Tensor())
		define.Release(result[0].Tensor(), c.Args)
		c.GiveSelf()
	})
}

// outForm derives the overload whose last arguments receive the results.
func outForm(d *define.Definition, name string) ops.Operator {
	into, functional := d.Into, functional(d)
	form := sync.OnceValue(func() *ops.Operator { return ops.Find(define.Key(name)) })
	wanted := sync.OnceValue(func() ops.OutType { return form().OutType() })
	isApart, iterates := d.Outs&define.OutApart != 0, into != nil || d.Outs&define.OutIterated != 0
	return entryFor(d, name, into != nil || d.TakesMeta, func(c define.Call) {
		if len(c.Out) == 0 { // the last argument is a list of tensors
			storeList(c, functional.Run)
			return
		}
		first := len(c.Args) - len(c.Out)
		inputs, rule := c.Args[:first], wanted()
		if rule == ops.OutOfResult && d.Record != nil && d.Record.Promote == ops.BoolResult { // whatever the arguments are
			checkOutType(form(), rule, c, 0, tensor.Bool, c.Tensor(first).DType())
		}
		isSafe := !wantsResult(rule) || len(inputs) > 0 && inputs[0].IsTensor() && inputs[0].Tensor().DType() == c.Tensor(first).DType()
		switch rule {
		case ops.OutInt64:
			checkOutType(form(), rule, c, 0, tensor.Int64, c.Tensor(first).DType())
		case ops.OutComputed, ops.OutComputedFloating:
			inputs = computedIn(rule, c.Tensor(first).DType(), inputs)
		}
		if isApart {
			elementwise.CheckInside(c.Tensor(first))
			elementwise.CheckApart(c.Tensor(first), inputs)
		}
		if iterates {
			elementwise.CheckShifted(c.Tensor(first), inputs)
		}
		if into != nil && isSafe && (isResult(c.Tensor(first), inputs) || mayOverwrite(d, c.Tensor(first), inputs)) {
			into(define.Call{Args: inputs, Out: nil}, c.Tensor(first))
			c.GiveOut(0)
			return
		}
		if isSafe && indexing.RunDirect(d.DirectOut, inputs, c.Tensor(first)) {
			c.GiveOut(0)
			return
		}
		results := make([]value.Value, len(c.Out))
		source.Throw(functional.Run(inputs, results))
		for i, r := range results {
			if r.IsTensor() {
				checkOutType(form(), rule, c, i, r.Tensor().DType(), c.Tensor(first+i).DType())
			}
		}
		for i, r := range results {
			if !r.IsTensor() { // not computed: the tensor becomes empty
				r = value.OfTensor(define.Empty([]int{0}, c.Tensor(first+i).DType()))
			}
			if dst := c.Tensor(first + i); d.Outs&define.OutOverlapping == 0 && tensor.SameShape(dst.Shape(), r.Tensor().Shape()) {
				elementwise.CheckInside(dst)
			}
			if rule == ops.OutCopied {
				elementwise.CopyOut(c.Tensor(first+i), r.Tensor())
			} else {
				elementwise.StoreOut(c.Tensor(first+i), r.Tensor())
			}
			c.GiveOut(i)
		}
		for i, r := range results {
			if r.IsTensor() && !slices.ContainsFunc(results[:i], func(s value.Value) bool { return s.IsTensor() && s.Tensor() == r.Tensor() }) {
				define.Release(r.Tensor(), c.Args)
			}
		}
	})
}

// computedIn returns the arguments of an operator whose last one says in which type it computes, which is that of out= where it says nothing.
func computedIn(rule ops.OutType, out tensor.DType, inputs []value.Value) []value.Value {
	last := len(inputs) - 1
	if !inputs[last].IsNone() {
		return inputs
	}
	if rule == ops.OutComputedFloating {
		if define.IsIntegral(inputs[0].Tensor().DType()) {
			return inputs // refused by the operator
		}
		source.Check(!define.IsIntegral(out), "result type Float can't be cast to the desired output type %s", out.CppName())
	}
	computed := slices.Clone(inputs)
	computed[last] = value.Int(int64(out))
	return computed
}

// storeList writes a list of results into the tensors of the last argument.
func storeList(c define.Call, run ops.Operation) {
	last := len(c.Args) - 1
	var results [1]value.Value
	source.Throw(run(c.Args[:last], results[:]))
	storeParts(c.Tensors(last), results[0].List().Items)
}

// isResult reports whether an elementwise operator may write its result into dst at once: it has the
// shape, and none of the memory, of the inputs.
func isResult(dst *tensor.Tensor, inputs []value.Value) bool {
	full := false
	for _, v := range inputs {
		if !v.IsTensor() {
			continue
		}
		t := v.Tensor()
		if t.SharesStorage(dst) || t.Device() != dst.Device() {
			return false
		}
		if tensor.SameShape(t.Shape(), dst.Shape()) {
			full = true
			continue
		}
		if shape, err := tensor.Broadcast(dst.Shape(), t.Shape()); err != nil || !tensor.SameShape(shape, dst.Shape()) {
			return false
		}
	}
	return full
}

// mayOverwrite reports whether an operator that goes from element to element may write its result over its first input: that is dst itself, and
// the others are like it and have none of its memory.
func mayOverwrite(d *define.Definition, dst *tensor.Tensor, inputs []value.Value) bool {
	if d.Record == nil || d.Record.Scalar == nil || !inputs[0].IsTensor() || inputs[0].Tensor() != dst || !dst.IsContiguous() {
		return false
	}
	for _, v := range inputs[1:] {
		if v.IsTensor() {
			t := v.Tensor()
			if t.SharesStorage(dst) || t.Device() != dst.Device() || t.DType() != dst.DType() || !tensor.SameShape(t.Shape(), dst.Shape()) {
				return false
			}
		}
	}
	return true
}

// copying derives view_copy from view and so on: the same overload that copies its results.
func copying(d *define.Definition) (define.Definition, bool) {
	base, overload, _ := define.CutOverload(d.Name)
	name := base + "_copy" + overload
	if ops.Find(define.Key(name)) == nil {
		return define.Definition{}, false
	}
	body := d.Body
	copied := define.Operator(name, func(c define.Call) {
		body(c)
		if c.Out[0].IsTensor() {
			c.Give(source.Must(c.Out[0].Tensor().Clone(tensor.ContiguousFormat)))
			return
		}
		parts := c.Out[0].List().Items
		for i, p := range parts {
			parts[i] = value.OfTensor(source.Must(p.Tensor().Clone(tensor.ContiguousFormat)))
		}
	})
	if d.Record != nil {
		copied = copied.With(ops.Def{Grad: d.Record.Grad, Tags: d.Record.Tags & ops.AsWritten})
	}
	return copied, true
}

package aten

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// variantTable names the in-place and the out= overload of each functional one, "-" for none.
//
//go:embed variants.txt
var variantTable string

// definition is one functional overload, or one that has no functional form.
type definition struct {
	name string // without the namespace
	// schema is there for an operator that is not in the table of schemas.
	schema string
	// body runs the overload.
	body func(c call)
	// into is there instead of body for elementwise operators: it writes into dst where that is not
	// nil, so that the in-place overload needs no copy.
	into func(c call, dst *tensor.Tensor) *tensor.Tensor
	// change is there besides body where that is change of a copy of the first argument: the in-place overload needs no copy.
	// It fails before it changes anything.
	change func(c call, self *tensor.Tensor)
	// record has the facts of the operator, nil where there are none.
	record *ops.Def
	// check fails where the body would refuse the arguments, without running.
	check func(c call)
	// form is how results are quantized where arguments are; nil: it takes no quantized ones.
	form quantizedForm
	// columns are the results, by their numbers, whose matrices lie column by column.
	columns   []int
	directOut directOut
	outs      outRule
	meta      metaRule
	// takesMeta says that body knows tensors without elements.
	takesMeta bool
}

func define(name string, body func(c call)) definition { return definition{name: name, body: body} }

func defineInto(name string, into func(c call, dst *tensor.Tensor) *tensor.Tensor) definition {
	return definition{name: name, into: into}
}

// of gives a definition its record.
func (d definition) of(record *ops.Def) definition {
	d.record = record
	return d
}

// with gives a definition facts of its operator.
func (d definition) with(facts ops.Def) definition {
	facts.Name = d.name
	d.record = &facts
	return d
}

// outRule says in which memory a tensor of out= may lie.
type outRule uint8

const (
	outApart       outRule = 1 << iota // inputs are read while it is written: no elements may lie in memory of its own others, nor of an input
	outIterated                        // an element is written where that of the input has been read: it may be the input, but not lie shifted
	outOverlapping                     // its elements may lie in the same memory: the last one is written last
)

// metaRule says what an operator does with tensors without elements that its family does not.
type metaRule uint8

const (
	asFamily   metaRule = iota
	runsOnZero          // it reads or writes elements: zeros stand for them
	knowsMeta           // it knows them
)

// ofSchema gives the schema of an operator that is not in the table of schemas.
func (d definition) ofSchema(text string) definition { d.schema = text; return d }

func (d definition) checked(f func(c call)) definition       { d.check = f; return d }
func (d definition) quantized(form quantizedForm) definition { d.form = form; return d }
func (d definition) byColumns(results ...int) definition     { d.columns = results; return d }
func (d definition) outApart() definition                    { d.outs |= outApart; return d }
func (d definition) outIterated() definition                 { d.outs |= outIterated; return d }
func (d definition) outOverlapping() definition              { d.outs |= outOverlapping; return d }
func (d definition) onZeros() definition                     { d.meta = runsOnZero; return d }
func (d definition) onMeta() definition                      { d.meta = knowsMeta; return d }
func (d definition) direct(f directOut) definition           { d.directOut = f; return d }

// giving defines an overload by a function of its arguments that gives one tensor.
func giving(name string, f func(c call) *tensor.Tensor) definition {
	return define(name, func(c call) { c.out[0] = value.OfTensor(f(c)) })
}

// changing defines an overload by what it changes in a contiguous copy of its first argument.
func changing(name string, change func(c call, self *tensor.Tensor)) definition {
	d := giving(name, func(c call) *tensor.Tensor {
		t := must(c.tensor(0).Clone(tensor.ContiguousFormat))
		change(c, t)
		return t
	})
	d.change = change
	return d
}

// Family is a group of operators that are documented together.
type Family struct {
	Title       string
	definitions []definition
	knowsMeta   bool // the operators know tensors without elements
}

// Names returns the operators with their namespaces, without those derived from them.
func (f Family) Names() []string {
	var names []string
	for i := range f.definitions {
		names = append(names, key(f.definitions[i].name))
	}
	return names
}

// Families returns all families in the order of the documentation.
func Families() []Family {
	all := []Family{
		{"Arithmetic and comparison", pointwiseFamily, false},
		{"Activations", activationFamily, false},
		{"Reductions", reduceFamily, false},
		{"Shapes and views", viewFamily, true},
		{"Creation", createFamily, true},
		{"Indexing", slices.Concat(indexFamily, selectionGradientFamily), false},
		{"Joining and padding", slices.Concat(joinFamily, padFamily), false},
		{"Random numbers", slices.Concat(randomFamily, distributionFamily), true},
		{"Sequences of low discrepancy", sobolFamily, false},
		{"Matrix products", matmulFamily, false},
		{"Convolution", convFamily, false},
		{"Normalization", slices.Concat(normFamily, normGradientFamily), false},
		{"Pooling", poolFamily, false},
		{"Losses and distances", lossFamily, false},
		{"Embeddings", embeddingFamily, false},
		{"Recurrent layers", rnnFamily, false},
		{"Attention", attentionFamily, false},
		{"Fourier transforms", fftFamily, false},
		{"Special functions", slices.Concat(specialFamily, polynomials(), besselFamily), false},
		{"Differences and integrals", calculusFamily, false},
		{"Sorting and searching", slices.Concat(sortFamily, selectFamily, uniqueFamily, searchFamily), false},
		{"Running sums and extremes", scanFamily, false},
		{"Resampling", resampleFamily, false},
		{"Linear algebra", linalgFamily, false},
		{"Decompositions and solutions", slices.Concat(solveFamily, luFamily, reflectionFamily, ldlFamily, eigenFamily), false},
		{"Copies and conversions", conversionFamily, true},
		{"Properties", propertyFamily, true},
		{"Quantization", quantizeFamily, false},
		{"Detection", detectionFamily, false},
		{"Lists of tensors", foreachFamily(), false},
	}
	sparseTensors := Family{"Sparse tensors", sparseFamily, false}
	sparseTensors.definitions = slices.Concat(sparseTensors.definitions, forSparseAlone(append(all, sparseTensors)))
	return append(all, sparseTensors)
}

// Operators returns every operator of the package, in-place and out= overloads included. Those that are implemented elsewhere have a record
// and nothing to run.
func Operators() []ops.Operator {
	variants := variantsOf()
	taken := map[string]bool{}
	families := Families()
	further := slices.Concat(viewFurther, resampleFurther, poolFurther, convFurther, recurrentFurther, randomFurther, sparseFurther)
	count, directs := len(further), map[string]directOut{}
	for _, family := range families {
		count += len(family.definitions)
		for i := range family.definitions {
			d := &family.definitions[i]
			taken[d.name] = true
			if d.directOut != nil {
				directs[key(d.name)] = d.directOut
			}
		}
	}
	all := make([]ops.Operator, 0, 4*count)
	describe := func(name string, record *ops.Def) {
		if record != nil && name != "" && name != "-" {
			all = append(all, ops.Operator{Name: key(name), Record: record})
		}
	}
	describeAliases := func(record *ops.Def) {
		for _, alias := range record.Aliases {
			describe(alias, record)
			describe(variants[alias][0], record)
			describe(variants[alias][1], record)
		}
	}
	for i := range viewFamily {
		if d, ok := viewFamily[i].copying(); ok && !taken[d.name] {
			all = append(all, d.functional())
		}
	}
	for _, family := range families {
		for i := range family.definitions {
			d := family.definitions[i].takingQuantized()
			d.takesMeta = family.knowsMeta && d.meta != runsOnZero || d.meta == knowsMeta
			all = append(all, d.functional())
			withCheck(d.check, &all[len(all)-1])
			withLayout(d.name, d.columns, &all[len(all)-1])
			if d.record != nil {
				describeAliases(d.record)
			}
			v := variants[d.name]
			if v[0] != "" && v[0] != "-" && !taken[v[0]] {
				all = append(all, d.inPlace(v[0]))
				withCheck(d.check, &all[len(all)-1])
				withCheck(d.inPlaceCheck(), &all[len(all)-1])
			} else {
				describe(v[0], d.record)
			}
			if v[1] != "" && v[1] != "-" && !taken[v[1]] {
				taken[v[1]] = true
				all = append(all, d.outForm(v[1]))
				withCheck(d.check, &all[len(all)-1])
			}
		}
	}
	all = append(all, outsOf(all, directs)...)
	for i := range further {
		for _, record := range further[i].Flat() {
			describe(record.Name, record.Def)
			for _, variant := range variants[record.Name] {
				describe(variant, record.Def)
			}
		}
	}
	return all
}

// Variants returns the overloads that write in place or into out= of a functional one that is implemented
// elsewhere: name is without the namespace.
func Variants(name string, run ops.Operation) []ops.Operator {
	d := &definition{name: name, body: func(c call) { succeed(run(c.args, c.out)) }}
	var all []ops.Operator
	v := variantsOf()[name]
	if v[0] != "" && v[0] != "-" {
		all = append(all, d.inPlace(v[0]))
	}
	if v[1] != "" && v[1] != "-" {
		all = append(all, d.outForm(v[1]))
	}
	return all
}

var variantsOf = sync.OnceValue(readVariants)

func readVariants() map[string][2]string {
	table := make(map[string][2]string, 1100)
	for rest := variantTable; rest != ""; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		key, names, ok := strings.Cut(line, " ")
		if !ok || key == "#" {
			continue
		}
		inPlace, out, _ := strings.Cut(names, " ")
		table[key] = [2]string{inPlace, out}
	}
	return table
}

// key returns the operator's name with its namespace.
func key(name string) string {
	if strings.Contains(name, "::") {
		return name
	}
	return "aten::" + name
}

// inPlaceCheck is what the form in place asks besides.
func (d *definition) inPlaceCheck() func(c call) {
	if d.record == nil || d.record.CheckInPlace == nil {
		return nil
	}
	return func(c call) { succeed(d.record.CheckInPlace(c.args)) }
}

// entry makes an overload of the operator.
func (d *definition) entry(name string, takesMeta bool, body func(c call)) ops.Operator {
	return entryOf(key(name), d.record, takesMeta, body)
}

func (d *definition) functional() ops.Operator {
	if d.schema != "" {
		return entryOf(d.schema, d.record, d.takesMeta, d.body)
	}
	if d.into == nil {
		return d.entry(d.name, d.takesMeta, d.body)
	}
	into := d.into
	return d.entry(d.name, true, func(c call) { c.out[0] = value.OfTensor(into(c, nil)) })
}

// inPlace derives the overload that writes its first argument.
func (d *definition) inPlace(name string) ops.Operator {
	if into := d.into; into != nil {
		return d.entry(name, true, func(c call) {
			into(c, c.tensor(0))
			c.giveSelf()
		})
	}
	body, change := d.body, d.change
	return d.entry(name, d.takesMeta, func(c call) {
		if self := c.args[0]; change != nil {
			others := c.args[1:]
			if d.name == "index_fill.int_Tensor" {
				others = others[:len(others)-1] // its value is read as a number first
			}
			if checkApart(self.Tensor(), others); isFresh(self.Tensor(), others) {
				change(c, self.Tensor())
				c.giveSelf()
				return
			}
		}
		var result [1]value.Value
		body(call{c.args, result[:]})
		if result[0].Kind() == value.KindList {
			for i, part := range result[0].List().Items {
				dst := c.tensors(0)[i]
				store(dst, part.Tensor())
				dst.Bump()
			}
			return
		}
		store(c.tensor(0), result[0].Tensor())
		release(result[0].Tensor(), c.args)
		c.giveSelf()
	})
}

// store writes a functional result into the tensor that an in-place operator writes.
func store(self, result *tensor.Tensor) {
	if self == result {
		return
	}
	check(tensor.SameShape(self.Shape(), result.Shape()), "output with shape %s doesn't match the broadcast shape %s",
		shapeText(self.Shape()), shapeText(result.Shape()))
	checkCast(result.DType(), self.DType())
	if hasInternalOverlap(self) {
		raise(source.RuntimeError, "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please clone() the tensor before performing the operation.")
	}
	succeed(tensor.Copy(self, result))
}

// outForm derives the overload whose last arguments receive the results.
func (d *definition) outForm(name string) ops.Operator {
	into, functional := d.into, d.functional()
	rule := ops.AnyOut
	if d.record != nil {
		rule = d.record.Out
	}
	isApart, iterates := d.outs&outApart != 0, into != nil || d.outs&outIterated != 0
	return d.entry(name, into != nil || d.takesMeta, func(c call) {
		if len(c.out) == 0 { // the last argument is a list of tensors
			storeList(c, functional.Run)
			return
		}
		first := len(c.args) - len(c.out)
		inputs := c.args[:first]
		if rule == ops.OutInt64 {
			checkOutType(rule, c, tensor.Int64, c.tensor(first).DType())
		}
		if isApart {
			checkInside(c.tensor(first))
			checkApart(c.tensor(first), inputs)
		}
		if iterates {
			checkShifted(c.tensor(first), inputs)
		}
		if into != nil && (isResult(c.tensor(first), inputs) || d.mayOverwrite(c.tensor(first), inputs)) {
			into(call{inputs, nil}, c.tensor(first))
			c.giveOut(0)
			return
		}
		if runDirect(d.directOut, inputs, c.tensor(first)) {
			c.giveOut(0)
			return
		}
		results := make([]value.Value, len(c.out))
		succeed(functional.Run(inputs, results))
		for i, r := range results {
			if !r.IsTensor() { // not computed: the tensor becomes empty
				r = value.OfTensor(empty([]int{0}, c.tensor(first+i).DType()))
			}
			checkOutType(rule, c, r.Tensor().DType(), c.tensor(first+i).DType())
			if dst := c.tensor(first + i); d.outs&outOverlapping == 0 && tensor.SameShape(dst.Shape(), r.Tensor().Shape()) {
				checkInside(dst)
			}
			storeOut(c.tensor(first+i), r.Tensor())
			c.giveOut(i)
		}
		for i, r := range results {
			if r.IsTensor() && !slices.ContainsFunc(results[:i], func(s value.Value) bool { return s.IsTensor() && s.Tensor() == r.Tensor() }) {
				release(r.Tensor(), c.args)
			}
		}
	})
}

// storeList writes a list of results into the tensors of the last argument.
func storeList(c call, run ops.Operation) {
	last := len(c.args) - 1
	var results [1]value.Value
	succeed(run(c.args[:last], results[:]))
	storeParts(c.tensors(last), results[0].List().Items)
}

// giveOut returns the i-th of the last arguments, which was written, as the i-th result.
func (c call) giveOut(i int) {
	a := c.args[len(c.args)-len(c.out)+i]
	a.Tensor().Bump()
	c.out[i] = a
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
func (d *definition) mayOverwrite(dst *tensor.Tensor, inputs []value.Value) bool {
	if d.record == nil || d.record.Scalar == nil || !inputs[0].IsTensor() || inputs[0].Tensor() != dst || !dst.IsContiguous() {
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

// release gives up a result that has been copied, unless its memory is an argument's.
func release(result *tensor.Tensor, args []value.Value) {
	if isFresh(result, args) {
		result.Release()
	}
}

// copying derives view_copy from view and so on: the same overload that copies its results.
func (d *definition) copying() (definition, bool) {
	base, overload, _ := cutOverload(d.name)
	name := base + "_copy" + overload
	if ops.Find(key(name)) == nil {
		return definition{}, false
	}
	body := d.body
	copied := define(name, func(c call) {
		body(c)
		if c.out[0].IsTensor() {
			c.give(must(c.out[0].Tensor().Clone(tensor.ContiguousFormat)))
			return
		}
		parts := c.out[0].List().Items
		for i, p := range parts {
			parts[i] = value.OfTensor(must(p.Tensor().Clone(tensor.ContiguousFormat)))
		}
	})
	if d.record != nil {
		copied = copied.with(ops.Def{Grad: d.record.Grad, Tags: d.record.Tags & ops.AsWritten})
	}
	return copied, true
}

package aten

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// reduction is a tensor arranged for reducing some of its dimensions.
type reduction struct {
	rows  *tensor.Tensor // contiguous: one row of reduced elements for each result
	n     int            // elements of a row
	outer int            // number of rows
	shape []int          // of the result
}

// arrange prepares t, in the type acc, for the reduction of dims; none means all.
func arrange(t *tensor.Tensor, dims []int, keepdim bool, acc tensor.DType) reduction {
	reduced := reducedDims(t, dims)
	r := reduction{n: 1, outer: 1}
	order := make([]int, 0, t.Dim())
	for d, n := range t.Shape() {
		if reduced[d] {
			r.n *= n
			if keepdim {
				r.shape = append(r.shape, 1)
			}
			continue
		}
		r.outer *= n
		r.shape = append(r.shape, n)
		order = append(order, d)
	}
	for d := range t.Dim() {
		if reduced[d] {
			order = append(order, d)
		}
	}
	if !slices.IsSorted(order) {
		t = must(t.Permute(order...))
	}
	r.rows = to(contiguous(t), acc)
	return r
}

func reducedDims(t *tensor.Tensor, dims []int) []bool {
	check(t.Dim() <= 64, "only tensors with up to 64 dims are supported")
	reduced := make([]bool, max(t.Dim(), 1))
	for _, d := range dims {
		d = wrapDim(d, t)
		check(!reduced[d], "dim %d appears multiple times in the list of dims", d)
		reduced[d] = true
	}
	if len(dims) == 0 {
		for d := range reduced {
			reduced[d] = true
		}
	}
	return reduced
}

// reduceRows gives one element of each row.
func reduceRows[T, R tensor.Element](r reduction, f func(row []T) R) *tensor.Tensor {
	out := empty(r.shape, tensor.DTypeOf[R]())
	src, dst := tensor.Data[T](r.rows), tensor.Data[R](out)
	tensor.Parallel(r.outer, rowGrain/max(r.n, 1)+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = f(src[i*r.n : (i+1)*r.n])
		}
	})
	return out
}

// accumulator returns the type that elements are reduced in.
func accumulator(d tensor.DType) tensor.DType {
	switch {
	case d.IsComplex():
		return tensor.Complex128
	case d == tensor.Float64:
		return tensor.Float64
	case d.IsFloating():
		return tensor.Float32
	}
	return tensor.Int64
}

// sumType returns the type of a sum of elements of type d.
func sumType(d tensor.DType) tensor.DType {
	if d.IsIntegral() || d == tensor.Bool {
		return tensor.Int64
	}
	return d
}

func sum(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	if result.IsComplex() {
		return complexSum(t, dims, keepdim, result)
	}
	return sumReducer.reduce(t, dims, keepdim, accumulator(result), result)
}

func checkMean(d tensor.DType) {
	check(!isIntegral(d), "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: %s", d.CppName())
}

func mean(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	checkMean(result)
	n := 1
	for d, reduced := range reducedDims(t, dims) {
		if reduced && d < t.Dim() {
			n *= t.Size(d)
		}
	}
	if result.IsComplex() {
		return divideBy(complexSum(t, dims, keepdim, result), tensor.Int(int64(n)))
	}
	total := sum(t, dims, keepdim, accumulator(result))
	return to(divideBy(total, tensor.Int(int64(n))), result)
}

func product(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	if result.IsComplex() {
		return complexProduct(t, dims, keepdim, result)
	}
	return productReducer.reduce(t, dims, keepdim, accumulator(result), result)
}

// noEmptyRows fails where the reduced elements of a result are none.
func noEmptyRows(name string, t *tensor.Tensor, dims []int) {
	if len(dims) == 0 && strings.HasPrefix(name, "arg") && t.Numel() == 0 {
		raise(source.IndexError, "%s(): Expected reduction dim to be specified for input.numel() == 0.", name)
	}
	if len(dims) == 0 {
		if t.Numel() == 0 {
			check(name != "aminmax", "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
			raise(source.RuntimeError, "%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.", name)
		}
		return
	}
	for _, d := range dims {
		if d = wrapDim(d, t); t.Dim() > 0 && t.Size(d) == 0 {
			raise(source.IndexError, "%s(): Expected reduction dim %d to have non-zero size.", name, d)
		}
	}
}

// ordered is what can be compared.
type ordered interface{ int64 | float32 | float64 }

// extremes gives the largest or smallest element of each row and its index. A NaN is both.
func extremes(name string, t *tensor.Tensor, dims []int, keepdim, smallest bool) (values, indices *tensor.Tensor) {
	orderedOnly(name, t.DType())
	noEmptyRows(name, t, dims)
	g := group(t, dims, keepdim)
	computed := orderedAs(t.DType())
	if g.byColumns || t.OnDevice() {
		values = extremeReducer(smallest).over(g, computed, computed)
		indices = placeReducer.over(g, computed, tensor.Int64, values)
	} else {
		values, indices = extremesOfRows(g.reduction, computed, smallest)
	}
	return to(values, t.DType()), indices
}

// extreme gives the largest or smallest element of each row.
func extreme(name string, t *tensor.Tensor, dims []int, keepdim, smallest bool) *tensor.Tensor {
	orderedOnly(name, t.DType())
	noEmptyRows(name, t, dims)
	return extremeReducer(smallest).reduce(t, dims, keepdim, orderedAs(t.DType()), t.DType())
}

func extremeReducer(smallest bool) *reducer {
	if smallest {
		return minReducer
	}
	return maxReducer
}

// orderedAs returns the type that elements of a type are compared in.
func orderedAs(d tensor.DType) tensor.DType {
	if d == tensor.Bool {
		return tensor.Int32
	}
	return kernel.ComputeType(d)
}

// truth tells for each row whether any, or every, element is not zero.
func truth(t *tensor.Tensor, dims []int, keepdim, every bool) *tensor.Tensor {
	result := tensor.Bool
	if t.DType() == tensor.Uint8 {
		result = tensor.Uint8
	}
	q := maxReducer
	if every {
		q = minReducer
	}
	return to(q.reduce(t, dims, keepdim, tensor.Bool, tensor.Bool), result)
}

// truthOfDims is truth along the dimensions of the second argument: none of an empty list, all of None.
func truthOfDims(c call, every bool) *tensor.Tensor {
	t := c.tensor(0)
	switch {
	case c.isNone(1):
		all := make([]int, t.Dim())
		for d := range all {
			all[d] = d
		}
		return truth(t, all, c.bool(2), every)
	case len(c.ints(1)) == 0:
		return ne.withNumber(t, 0)
	}
	return truth(t, c.ints(1), c.bool(2), every)
}

func divideBy(t *tensor.Tensor, n tensor.Scalar) *tensor.Tensor {
	return div.run(nil, []operand{ofTensor(t), ofScalar(n)})
}

// vectorNorm gives the p-norm of each row.
func vectorNorm(t *tensor.Tensor, p float64, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	check(result.IsFloating() || result.IsComplex(), "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s", result.CppName())
	switch {
	case t.DType().IsComplex():
		t, result = absolute.on(to(t, result)), result.ToReal()
	case result.IsComplex():
		return to(vectorNorm(t, p, dims, keepdim, result.ToReal()), result)
	}
	if (p < 0 || math.IsInf(p, 1)) && t.Numel() == 0 {
		noEmptyRows("linalg.vector_norm", t, dims)
	}
	t = to(t, result)
	computed := accumulator(result)
	var q *reducer
	switch {
	case p == 0:
		q = nonzeroReducer
	case p == 1:
		q = absoluteReducer
	case p == 2:
		return to(squareRoot.on(squaresReducer.reduce(t, dims, keepdim, computed, computed)), result)
	case math.IsInf(p, 1):
		q = largestReducer
		if t.Numel() == 0 {
			q = absoluteReducer
		}
	case math.IsInf(p, -1):
		q = smallestReducer
	default:
		r := arrange(t, dims, keepdim, tensor.Float64)
		return to(reduceRows(r, func(row []float64) float64 { return normOf(row, p) }), result)
	}
	return to(q.reduce(t, dims, keepdim, computed, computed), result)
}

func normOf(row []float64, p float64) float64 {
	s := 0.0
	for _, v := range row {
		s += math.Pow(math.Abs(v), p)
	}
	return math.Pow(s, 1/p)
}

// logSumExp reduces the last dimensions before the first ones, where that saves a transposed copy.
func logSumExp(t *tensor.Tensor, dims []int, keepdim bool) *tensor.Tensor {
	t = to(t, floatOrDefault(t.DType()))
	computed, reduced := kernel.ComputeType(t.DType()), reducedDims(t, dims)
	if kept, trailing, ok := firstAndLast(t, reduced); ok && computed.IsFloating() {
		n := numelOf(t.Shape()[trailing:])
		first := logSumExpOfRows(reduction{rows: t, n: n, outer: t.Numel() / n, shape: []int{t.Numel() / n / kept, kept}}, computed)
		return to(must(logSumExpOver(group(first, []int{0}, false), computed).View(reducedShape(t, reduced, keepdim)...)), t.DType())
	}
	return to(logSumExpOver(group(t, dims, keepdim), computed), t.DType())
}

func logSumExpOver(g grouped, computed tensor.DType) *tensor.Tensor {
	if !g.byColumns && computed.IsFloating() && !g.rows.OnDevice() {
		return logSumExpOfRows(g.reduction, computed)
	}
	high := finite.on(maxReducer.over(g, computed, computed))
	total := exponentialReducer.over(g, computed, computed, high)
	return add.on(logarithm.on(total), high)
}

// finite replaces infinities by zero.
var finite = elementwise("finite", ops.SameType, func(b builder, x ...element) element {
	zero := b.Number(x[0], 0)
	return b.Select(b.Binary(kernel.Eq, b.Unary(kernel.Abs, x[0]), b.Number(x[0], math.Inf(1))), zero, x[0])
})

// floatOrDefault returns d where it is a floating or complex type and the default type otherwise.
func floatOrDefault(d tensor.DType) tensor.DType {
	if d.IsFloating() || d.IsComplex() {
		return d
	}
	return tensor.DefaultDType()
}

func countNonzero(t *tensor.Tensor, dims []int) *tensor.Tensor {
	return countReducer.reduce(t, dims, false, tensor.Bool, tensor.Int64)
}

// countReducer counts what holds.
var countReducer = &reducer{op: kernel.ReduceSum, expr: func(b builder, x ...element) element { return b.Convert(x[0], tensor.Int64) }}

// nanSum is the sum of what is not NaN.
func nanSum(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	switch {
	case !t.DType().IsFloating():
		return sum(t, dims, keepdim, result)
	case !result.IsFloating():
		return sum(choose(isNaN.on(t), ofScalar(tensor.Float(0)), ofTensor(t)), dims, keepdim, result)
	}
	return numbersReducer.reduce(t, dims, keepdim, accumulator(result), result)
}

// countNumbers counts what is not NaN.
func countNumbers(t *tensor.Tensor, dims []int, keepdim bool) *tensor.Tensor {
	if !t.DType().IsFloating() {
		return sum(not.on(isNaN.on(t)), dims, keepdim, tensor.Int64)
	}
	return numbersCounter.reduce(t, dims, keepdim, accumulator(t.DType()), tensor.Int64)
}

// oneDim returns the dimension in argument i as a list, none for None.
func (c call) oneDim(i int) []int {
	if c.isNone(i) {
		return nil
	}
	return []int{c.int(i)}
}

// extremeIndex is argmax and argmin.
func extremeIndex(name string, smallest bool) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		self := c.tensor(0)
		if c.isNone(1) {
			_, at := extremes(name, must(self.Reshape(-1)), nil, false, smallest)
			if c.bool(2) {
				shape := make([]int, self.Dim())
				for i := range shape {
					shape[i] = 1
				}
				return must(at.Reshape(shape...))
			}
			return at
		}
		_, at := extremes(name, self, c.ints(1), c.bool(2), smallest)
		return at
	}
}

func extremeDim(name string, smallest bool) func(c call) {
	return func(c call) {
		v, at := extremes(name, c.tensor(0), c.ints(1), c.bool(2), smallest)
		c.give(v, at)
	}
}

// spreads defines the overloads of std, var and their forms with the mean.
func spreads(name string, root, both bool) []definition {
	give := func(c call, dims []int, correction int, keepdim bool) {
		spread, center := moments(c.tensor(0), dims, correction, keepdim, root)
		c.out[0] = value.OfTensor(spread)
		if both {
			c.out[1] = value.OfTensor(center)
		}
	}
	unbiased := map[bool]int{true: 1}
	facts := func(arguments spreadArguments) ops.Def {
		d := ops.Def{Grad: spreadGrad(root, both, arguments), Tags: ops.AsWritten}
		if !both {
			d.Tags |= ops.Grouped
		}
		return d
	}
	return []definition{
		define(name, func(c call) { give(c, nil, unbiased[c.bool(1)], false) }).with(facts(spreadOfAll)),
		define(name+".dim", func(c call) { give(c, c.ints(1), unbiased[c.bool(2)], c.bool(3)) }).with(facts(spreadOfDims)),
		define(name+".correction", func(c call) { give(c, c.ints(1), c.intOr(2, 1), c.bool(3)) }).with(facts(spreadOfCorrection)),
	}
}

// normOfArgs is norm with an optional p, dimensions and a type.
func normOfArgs(c call, dims []int, keepdim bool, d tensor.DType) *tensor.Tensor {
	p := 2.0
	if !c.isNone(1) {
		p = c.scalar(1).Float64()
	}
	return vectorNorm(c.tensor(0), p, dims, keepdim, d)
}

var reduceFamily = slices.Concat([]definition{
	giving("sum", func(c call) *tensor.Tensor {
		return sum(c.tensor(0), nil, false, c.dtypeOr(1, sumType(c.tensor(0).DType())))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, sumOver(g, g.Grad(0), []int(nil), false)) }, Reduce: kernel.ReduceSum, Tags: ops.AsWritten | ops.InGroups | ops.Reduces}),
	giving("sum.dim_IntList", func(c call) *tensor.Tensor {
		return sum(c.tensor(0), c.ints(1), c.bool(2), c.dtypeOr(3, sumType(c.tensor(0).DType())))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, sumOver(g, g.Grad(0), g.Ints(1), g.Arg(2))) }, Reduce: kernel.ReduceSum, Tags: ops.AsWritten | ops.InGroups | ops.Reduces, Node: "SumBackward1"}),
	giving("sum_to_size", func(c call) *tensor.Tensor { return sumToSize(c.tensor(0), c.ints(1)) }),
	giving("_grad_sum_to_size", func(c call) *tensor.Tensor {
		if c.isNone(1) {
			return c.tensor(0)
		}
		return sumToSize(c.tensor(0), c.ints(1))
	}),
	giving("mean", func(c call) *tensor.Tensor {
		return mean(c.tensor(0), nil, false, c.dtypeOr(1, c.tensor(0).DType()))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, meanOver(g, g.Grad(0), []int(nil), false)) }, Reduce: kernel.ReduceSum, Out: ops.OutOfResult, Tags: ops.Grouped | ops.AsWritten}).quantized(sameScale),
	giving("mean.dim", func(c call) *tensor.Tensor {
		result := c.dtypeOr(3, c.tensor(0).DType())
		check(c.isNone(3) || !isIntegral(result), "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: %s", result.CppName())
		return mean(c.tensor(0), c.ints(1), c.bool(2), result)
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, meanOver(g, g.Grad(0), g.Ints(1), g.Arg(2))) }, Reduce: kernel.ReduceSum, Out: ops.OutOfResult, Tags: ops.Grouped | ops.AsWritten, Node: "MeanBackward1"}).quantized(sameScale),
	giving("nansum", func(c call) *tensor.Tensor {
		return nanSum(c.tensor(0), c.ints(1), c.bool(2), c.dtypeOr(3, sumType(c.tensor(0).DType())))
	}),
	giving("nanmean", func(c call) *tensor.Tensor {
		self := c.tensor(0)
		total := nanSum(self, c.ints(1), c.bool(2), c.dtypeOr(3, self.DType()))
		return div.on(total, countNumbers(self, c.ints(1), c.bool(2)))
	}),
	giving("prod", func(c call) *tensor.Tensor {
		return product(c.tensor(0), nil, false, c.dtypeOr(1, sumType(c.tensor(0).DType())))
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.productGrad(0, true, false) })}),
	giving("prod.dim_int", func(c call) *tensor.Tensor {
		return product(c.tensor(0), c.ints(1), c.bool(2), c.dtypeOr(3, sumType(c.tensor(0).DType())))
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.productGrad(c.int(1), false, c.bool(2)) }), Node: "ProdBackward1"}),
	giving("max", func(c call) *tensor.Tensor {
		return extreme("max", c.tensor(0), nil, false, false)
	}).with(ops.Def{Grad: concrete(func(c gradient) { evenly(c, nil, false) }), Reduce: kernel.ReduceMax, Node: "MaxBackward1"}).quantized(sameScale),
	giving("min", func(c call) *tensor.Tensor {
		return extreme("min", c.tensor(0), nil, false, true)
	}).with(ops.Def{Grad: concrete(func(c gradient) { evenly(c, nil, false) }), Reduce: kernel.ReduceMin, Node: "MinBackward1"}).quantized(sameScale),
	define("max.dim", extremeDim("max", false)).with(ops.Def{Grad: concrete(func(c gradient) { chosenGrad(c, c.int(1), c.bool(2)) })}),
	define("min.dim", extremeDim("min", true)).with(ops.Def{Grad: concrete(func(c gradient) { chosenGrad(c, c.int(1), c.bool(2)) })}),
	giving("amax", func(c call) *tensor.Tensor {
		return extreme("amax", c.tensor(0), c.ints(1), c.bool(2), false)
	}).with(ops.Def{Grad: concrete(func(c gradient) { evenly(c, c.ints(1), c.bool(2)) }), Reduce: kernel.ReduceMax, Out: ops.OutOfInput}),
	giving("amin", func(c call) *tensor.Tensor {
		return extreme("amin", c.tensor(0), c.ints(1), c.bool(2), true)
	}).with(ops.Def{Grad: concrete(func(c gradient) { evenly(c, c.ints(1), c.bool(2)) }), Reduce: kernel.ReduceMin, Out: ops.OutOfInput}),
	define("aminmax", func(c call) {
		low := extreme("aminmax", c.tensor(0), c.oneDim(1), c.bool(2), true)
		high := extreme("aminmax", c.tensor(0), c.oneDim(1), c.bool(2), false)
		if c.tensor(0).Dim() == 0 && !c.isNone(1) && c.bool(2) {
			low, high = must(low.Reshape(1)), must(high.Reshape(1))
		}
		c.give(low, high)
	}).with(ops.Def{Out: ops.OutOfResult}),
	giving("argmax", extremeIndex("argmax", false)),
	giving("argmin", extremeIndex("argmin", true)),
	giving("all.dims", func(c call) *tensor.Tensor { return truthOfDims(c, true) }).
		ofSchema("aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor").
		with(ops.Def{Sample: "(x > 0, [0, 1])"}),
	giving("any.dims", func(c call) *tensor.Tensor { return truthOfDims(c, false) }).
		ofSchema("aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor").
		with(ops.Def{Sample: "(x > 0, [0, 1])"}),
	giving("linalg__powsum", func(c call) *tensor.Tensor {
		size, dims := to(absolute.on(c.tensor(0)), c.dtypeOr(4, c.tensor(0).DType().ToReal())), []int(nil)
		if !c.isNone(2) {
			dims = c.ints(2)
		}
		return sum(pow.run(nil, []operand{ofTensor(size), ofScalar(c.scalar(1))}), dims, c.bool(3), floatOrDefault(size.DType()))
	}).ofSchema("aten::linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor").
		with(ops.Def{Sample: "(x, 3)"}),
	giving("all", func(c call) *tensor.Tensor { return truth(c.tensor(0), nil, false, true) }),
	giving("all.dim", func(c call) *tensor.Tensor { return truth(c.tensor(0), c.ints(1), c.bool(2), true) }),
	giving("any", func(c call) *tensor.Tensor { return truth(c.tensor(0), nil, false, false) }),
	giving("any.dim", func(c call) *tensor.Tensor { return truth(c.tensor(0), c.ints(1), c.bool(2), false) }),
	giving("logsumexp", func(c call) *tensor.Tensor { return logSumExp(c.tensor(0), c.ints(1), c.bool(2)) }).with(ops.Def{Aliases: []string{"special_logsumexp"}, Grad: func(g grad) {
		dims, keep := g.Ints(1), g.Arg(2)
		g.Give(0, g.Mul(spread(g, g.Grad(0), dims, keep), g.Do("exp", g.Minus(g.In(0), spread(g, g.Out(0), dims, keep)))))
	}, Tags: ops.Grouped}),
	giving("special_logsumexp", func(c call) *tensor.Tensor { return logSumExp(c.tensor(0), c.ints(1), c.bool(2)) }),
	giving("count_nonzero", func(c call) *tensor.Tensor { return countNonzero(c.tensor(0), c.oneDim(1)) }),
	giving("count_nonzero.dim_IntList", func(c call) *tensor.Tensor { return countNonzero(c.tensor(0), c.ints(1)) }),
	giving("norm.Scalar", func(c call) *tensor.Tensor { return normOfArgs(c, nil, false, c.tensor(0).DType()) }).with(ops.Def{Grad: concrete(func(c gradient) { c.normGrad(c.order(1), nil, false) }), Tags: ops.AsWritten}),
	giving("norm.ScalarOpt_dim", func(c call) *tensor.Tensor {
		return normOfArgs(c, c.ints(2), c.bool(3), c.tensor(0).DType())
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.normGrad(c.order(1), c.ints(2), c.bool(3)) }), Tags: ops.AsWritten, Node: "NormBackward1"}),
	giving("norm.ScalarOpt_dim_dtype", func(c call) *tensor.Tensor {
		return normOfArgs(c, c.ints(2), c.bool(3), c.dtypeOr(4, c.tensor(0).DType()))
	}),
	giving("norm.ScalarOpt_dtype", func(c call) *tensor.Tensor {
		return normOfArgs(c, nil, false, c.dtypeOr(2, c.tensor(0).DType()))
	}),
	giving("frobenius_norm", func(c call) *tensor.Tensor { return vectorNorm(c.tensor(0), 2, nil, false, c.tensor(0).DType()) }).with(ops.Def{Decomp: emitting("linalg_vector_norm")}),
	giving("frobenius_norm.dim", func(c call) *tensor.Tensor {
		return vectorNorm(c.tensor(0), 2, c.ints(1), c.bool(2), c.tensor(0).DType())
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.normGrad(2, c.ints(1), c.bool(2)) }), Tags: ops.AsWritten}),
	giving("linalg_vector_norm", func(c call) *tensor.Tensor {
		return vectorNorm(c.tensor(0), c.scalar(1).Float64(), c.ints(2), c.bool(3), c.dtypeOr(4, c.tensor(0).DType()))
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.normGrad(c.order(1), c.ints(2), c.bool(3)) }), Tags: ops.AsWritten}),
	giving("dist", func(c call) *tensor.Tensor {
		d := sub.on(c.tensor(0), c.tensor(1))
		return vectorNorm(d, c.scalar(2).Float64(), nil, false, d.DType())
	}),
	giving("trace", func(c call) *tensor.Tensor {
		self := c.tensor(0)
		check(self.Dim() == 2, "trace: expected a matrix, but got tensor with dim %d", self.Dim())
		return sum(must(self.Diagonal(0, 0, 1)), nil, false, sumType(self.DType()))
	}).with(ops.Def{Grad: concrete(func(c gradient) {
		shape := c.shape(0)
		eye := c.do("eye.m", shape[0], shape[1], c.dtype(0))
		c.give(0, c.mul(c.g(), eye))
	}), Tags: ops.AsWritten}),
}, spreads("std", true, false), spreads("var", false, false), spreads("std_mean", true, true), spreads("var_mean", false, true))

// sumToSize adds up the dimensions that broadcasting to t's shape has repeated.
func sumToSize(t *tensor.Tensor, shape []int) *tensor.Tensor {
	check(len(shape) <= t.Dim(), "size {%s} is not expandable to size {%s}.", shapeText(shape), shapeText(t.Shape()))
	if len(shape) == 0 {
		return sum(t, nil, false, t.DType())
	}
	var dims []int
	lead := t.Dim() - len(shape)
	for d, n := range t.Shape() {
		if d < lead || shape[d-lead] == 1 && n != 1 {
			dims = append(dims, d)
		} else {
			check(shape[d-lead] == n, "size {%s} is not expandable to size {%s}.", shapeText(shape), shapeText(t.Shape()))
		}
	}
	if len(dims) == 0 {
		return t
	}
	return must(sum(t, dims, true, t.DType()).Reshape(shape...))
}

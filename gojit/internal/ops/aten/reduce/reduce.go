// Package reduce has the operators that combine elements along dimensions: reductions (reducer states one), running results, exponentials over their sums.
package reduce

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
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
	reduced := ReducedDims(t, dims)
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
		t = source.Must(t.Permute(order...))
	}
	r.rows = elementwise.To(elementwise.Contiguous(t), acc)
	return r
}

// alone shows t in the shape of a reduction each of whose rows has one element; nil where they have others or t is elsewhere.
func alone(t *tensor.Tensor, dims []int, keepdim bool) *tensor.Tensor {
	if t.OnDevice() || t.IsHollow() {
		return nil
	}
	if len(dims) == 0 && t.Numel() != 1 {
		return nil
	}
	for _, d := range dims {
		if d = define.WrapDim(d, t); t.Dim() > 0 && t.Size(d) != 1 {
			return nil
		}
	}
	return source.Must(t.Reshape(reducedShape(t, ReducedDims(t, dims), keepdim)...))
}

// convertedCopy is a copy of t in a type, contiguous.
func convertedCopy(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	out := define.Empty(t.Shape(), d)
	source.Throw(tensor.Copy(out, t))
	return out
}

// numbersAlone are the sums of the elements of t, each alone: a zero has lost its sign.
func numbersAlone(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	out := convertedCopy(t, d)
	if d.IsFloating() {
		elementwise.Add.Run(out, []elementwise.Operand{elementwise.OfTensor(out), elementwise.OfScalar(tensor.Int(0))})
	}
	return out
}

// ReducedDims returns for each dimension of t whether it is among dims; all are where there are none.
func ReducedDims(t *tensor.Tensor, dims []int) []bool {
	source.Check(t.Dim() <= 64, "only tensors with up to 64 dims are supported")
	reduced := make([]bool, max(t.Dim(), 1))
	for _, d := range dims {
		d = define.WrapDim(d, t)
		source.Check(!reduced[d], "dim %d appears multiple times in the list of dims", d)
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
	out := define.Empty(r.shape, tensor.DTypeOf[R]())
	src, dst := tensor.Data[T](r.rows), tensor.Data[R](out)
	parallel.For(r.outer, define.RowGrain/max(r.n, 1)+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = f(src[i*r.n : (i+1)*r.n])
		}
	})
	return out
}

// Accumulator returns the type that elements are reduced in.
func Accumulator(d tensor.DType) tensor.DType {
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

// SumType returns the type of a sum of elements of type d.
func SumType(d tensor.DType) tensor.DType {
	if d.IsIntegral() || d == tensor.Bool {
		return tensor.Int64
	}
	return d
}

// Sum is sum.
func Sum(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	if result.IsComplex() {
		return complexSum(t, dims, keepdim, result)
	}
	if one := alone(t, dims, keepdim); one != nil {
		return numbersAlone(one, result)
	}
	return sumReducer.Reduce(t, dims, keepdim, Accumulator(result), result)
}

// CheckMean refuses the mean of elements of a type that has none.
func CheckMean(d tensor.DType) {
	source.Check(!define.IsIntegral(d), "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: %s", d.CppName())
}

// Mean is mean.
func Mean(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	CheckMean(result)
	n := 1
	for d, reduced := range ReducedDims(t, dims) {
		if reduced && d < t.Dim() {
			n *= t.Size(d)
		}
	}
	if result.IsComplex() {
		return DivideBy(complexSum(t, dims, keepdim, result), tensor.Int(int64(n)))
	}
	if t.OnDevice() {
		if out := meansThere(t, dims, keepdim, result); out != nil {
			return out
		}
	}
	total := Sum(t, dims, keepdim, Accumulator(result))
	return elementwise.To(DivideBy(total, tensor.Int(int64(n))), result)
}

func product(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	if result.IsComplex() {
		return complexProduct(t, dims, keepdim, result)
	}
	if one := alone(t, dims, keepdim); one != nil {
		return convertedCopy(one, result)
	}
	return productReducer.Reduce(t, dims, keepdim, Accumulator(result), result)
}

// noEmptyRows fails where the reduced elements of a result are none.
func noEmptyRows(name string, t *tensor.Tensor, dims []int) {
	if len(dims) == 0 && strings.HasPrefix(name, "arg") && t.Numel() == 0 {
		source.Raise(source.IndexError, "%s(): Expected reduction dim to be specified for input.numel() == 0.", name)
	}
	if len(dims) == 0 {
		if t.Numel() == 0 {
			source.Check(name != "aminmax", "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
			source.Raise(source.RuntimeError, "%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument.", name)
		}
		return
	}
	for _, d := range dims {
		if d = define.WrapDim(d, t); t.Dim() > 0 && t.Size(d) == 0 {
			source.Raise(source.IndexError, "%s(): Expected reduction dim %d to have non-zero size.", name, d)
		}
	}
}

// Ordered is what can be compared.
type Ordered interface{ int64 | float32 | float64 }

// extremes gives the largest or smallest element of each row and its index. A NaN is both.
func extremes(name string, t *tensor.Tensor, dims []int, keepdim, smallest bool) (values, indices *tensor.Tensor) {
	elementwise.OrderedOnly(name, t.DType())
	noEmptyRows(name, t, dims)
	if one := alone(t, dims, keepdim); one != nil {
		return convertedCopy(one, one.DType()), define.Zeros(one.Shape(), tensor.Int64)
	}
	g := group(t, dims, keepdim)
	computed := orderedAs(t.DType())
	switch {
	case g.byColumns || t.OnDevice():
		values = extremeReducer(smallest).over(g, computed, computed)
		indices = placeReducer.over(g, computed, tensor.Int64, values)
	case g.turns(longestTurnedPlace):
		both := g.combinedTurned(func(c columns) []*tensor.Tensor {
			found := extremeReducer(smallest).reduceColumns(c, computed, computed)
			return []*tensor.Tensor{found, placeReducer.reduceColumns(c, computed, tensor.Int64, found)}
		}, computed, tensor.Int64)
		values, indices = both[0], both[1]
	default:
		values, indices = extremesOfRows(g.reduction, computed, smallest)
	}
	return elementwise.To(values, t.DType()), indices
}

// extremePlaces gives the index of the largest or smallest element of each row.
func extremePlaces(name string, t *tensor.Tensor, dims []int, keepdim, smallest bool) *tensor.Tensor {
	elementwise.OrderedOnly(name, t.DType())
	noEmptyRows(name, t, dims)
	if one := alone(t, dims, keepdim); one != nil {
		return define.Zeros(one.Shape(), tensor.Int64)
	}
	_, at := extremes(name, t, dims, keepdim, smallest)
	return at
}

// Extreme gives the largest or smallest element of each row.
func Extreme(name string, t *tensor.Tensor, dims []int, keepdim, smallest bool) *tensor.Tensor {
	elementwise.OrderedOnly(name, t.DType())
	noEmptyRows(name, t, dims)
	if one := alone(t, dims, keepdim); one != nil {
		return convertedCopy(one, one.DType())
	}
	return extremeReducer(smallest).Reduce(t, dims, keepdim, orderedAs(t.DType()), t.DType())
}

func extremeReducer(smallest bool) *Reducer {
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

// fewTruths is up to how many elements the time of a reduction is that of its calls.
const fewTruths = 64

// Truth tells for each row whether any, or every, element is not zero.
func Truth(t *tensor.Tensor, dims []int, keepdim, every bool) *tensor.Tensor {
	result := tensor.Bool
	if t.DType() == tensor.Uint8 {
		result = tensor.Uint8
	}
	if one := alone(t, dims, keepdim); one != nil {
		return elementwise.To(elementwise.Ne.WithNumber(one, 0), result)
	}
	// Lanes of truth values would be twice as many as those of elements. Columns wait for their elements either way, and read fewer bytes of results.
	byColumns := t.IsContiguous() && lastDims(t, dims) < 0
	if t.DType().Size() == 8 && !t.DType().IsComplex() && t.Numel() > fewTruths && !byColumns {
		if every {
			return elementwise.To(elementwise.Not.On(zeroReducer.Reduce(t, dims, keepdim, t.DType(), tensor.Bool)), result)
		}
		return elementwise.To(nonzeroReducer.Reduce(t, dims, keepdim, t.DType(), tensor.Bool), result)
	}
	q := maxReducer
	if every {
		q = minReducer
	}
	return elementwise.To(q.Reduce(t, dims, keepdim, tensor.Bool, tensor.Bool), result)
}

// truthOfDims is truth along the dimensions of the second argument: none of an empty list, all of None.
func truthOfDims(c define.Call, every bool) *tensor.Tensor {
	t := c.Tensor(0)
	switch {
	case c.IsNone(1):
		all := make([]int, t.Dim())
		for d := range all {
			all[d] = d
		}
		return Truth(t, all, c.Bool(2), every)
	case len(c.Ints(1)) == 0:
		return elementwise.Ne.WithNumber(t, 0)
	}
	return Truth(t, c.Ints(1), c.Bool(2), every)
}

// DivideBy returns t / n.
func DivideBy(t *tensor.Tensor, n tensor.Scalar) *tensor.Tensor {
	return elementwise.Div.Run(nil, []elementwise.Operand{elementwise.OfTensor(t), elementwise.OfScalar(n)})
}

// CheckNormType fails for a type that norms of a type are not computed in.
func CheckNormType(name string, t *tensor.Tensor, wanted tensor.DType) {
	d := t.DType()
	source.Check(d.IsFloating() || d.IsComplex(), "%s: Expected a floating point or complex tensor as input. Got %s", name, d.CppName())
	source.Check(wanted.IsFloating() || wanted.IsComplex(), "%s: dtype should be floating point or complex, but got %s", name, wanted.CppName())
	kind := "real"
	if d.IsComplex() {
		kind = "complex"
	}
	source.Check(d.IsComplex() == wanted.IsComplex(), "%s: dtype should be %s for %s inputs, but got %s", name, kind, kind, wanted.CppName())
	source.Check(tensor.Promote(d, wanted) == wanted, "%s: the dtype of the input (%s) should be convertible without narrowing to the specified dtype (%s)", name, d.CppName(), wanted.CppName())
}

// VectorNorm gives the p-norm of each row.
func VectorNorm(t *tensor.Tensor, p float64, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	source.Check(result.IsFloating() || result.IsComplex(), "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s", result.CppName())
	switch {
	case t.DType().IsComplex():
		t, result = elementwise.Absolute.On(elementwise.To(t, result)), result.ToReal()
	case result.IsComplex():
		return elementwise.To(VectorNorm(t, p, dims, keepdim, result.ToReal()), result)
	}
	if (p < 0 || math.IsInf(p, 1)) && t.Numel() == 0 {
		noEmptyRows("linalg.vector_norm", t, dims)
	}
	t = elementwise.To(t, result)
	computed := Accumulator(result)
	var q *Reducer
	switch {
	case p == 0:
		q = nonzeroReducer
	case p == 1:
		q = absoluteReducer
	case p == 2:
		return elementwise.To(elementwise.SquareRoot.On(SquaresReducer.Reduce(t, dims, keepdim, computed, computed)), result)
	case math.IsInf(p, 1):
		q = largestReducer
		if t.Numel() == 0 {
			q = absoluteReducer
		}
	case math.IsInf(p, -1):
		q = smallestReducer
	default:
		r := arrange(t, dims, keepdim, tensor.Float64)
		return elementwise.To(reduceRows(r, func(row []float64) float64 { return normOf(row, p) }), result)
	}
	return elementwise.To(q.Reduce(t, dims, keepdim, computed, computed), result)
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
	t = elementwise.To(t, FloatOrDefault(t.DType()))
	computed, reduced := kernel.ComputeType(t.DType()), ReducedDims(t, dims)
	if kept, trailing, ok := firstAndLast(t, reduced); ok && computed.IsFloating() {
		n := define.NumelOf(t.Shape()[trailing:])
		first := logSumExpOfRows(reduction{rows: t, n: n, outer: t.Numel() / n, shape: []int{t.Numel() / n / kept, kept}}, computed)
		return elementwise.To(source.Must(logSumExpOver(group(first, []int{0}, false), computed).View(reducedShape(t, reduced, keepdim)...)), t.DType())
	}
	return elementwise.To(logSumExpOver(group(t, dims, keepdim), computed), t.DType())
}

func logSumExpOver(g grouped, computed tensor.DType) *tensor.Tensor {
	if !g.byColumns && computed.IsFloating() && !g.rows.OnDevice() {
		return logSumExpOfRows(g.reduction, computed)
	}
	high := finite.On(maxReducer.over(g, computed, computed))
	total := exponentialReducer.over(g, computed, computed, high)
	return elementwise.Add.On(elementwise.Logarithm.On(total), high)
}

// finite replaces infinities by zero.
var finite = elementwise.New("finite", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	zero := b.Number(x[0], 0)
	return b.Select(b.Binary(kernel.Eq, b.Unary(kernel.Abs, x[0]), b.Number(x[0], math.Inf(1))), zero, x[0])
})

// FloatOrDefault returns d where it is a floating or complex type and the default type otherwise.
func FloatOrDefault(d tensor.DType) tensor.DType {
	if d.IsFloating() || d.IsComplex() {
		return d
	}
	return tensor.DefaultDType()
}

func countNonzero(t *tensor.Tensor, dims []int) *tensor.Tensor {
	return countReducer.Reduce(t, dims, false, tensor.Bool, tensor.Int64)
}

// countReducer counts what holds.
var countReducer = &Reducer{Op: kernel.ReduceSum, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Convert(x[0], tensor.Int64)
}}

// nanSum is the sum of what is not NaN.
func nanSum(t *tensor.Tensor, dims []int, keepdim bool, result tensor.DType) *tensor.Tensor {
	switch {
	case !t.DType().IsFloating():
		return Sum(t, dims, keepdim, result)
	case !result.IsFloating():
		return Sum(elementwise.Choose(elementwise.IsNaN.On(t), elementwise.OfScalar(tensor.Float(0)), elementwise.OfTensor(t)), dims, keepdim, result)
	}
	return numbersReducer.Reduce(t, dims, keepdim, Accumulator(result), result)
}

// countNumbers counts what is not NaN.
func countNumbers(t *tensor.Tensor, dims []int, keepdim bool) *tensor.Tensor {
	if !t.DType().IsFloating() {
		return Sum(elementwise.Not.On(elementwise.IsNaN.On(t)), dims, keepdim, tensor.Int64)
	}
	return numbersCounter.Reduce(t, dims, keepdim, Accumulator(t.DType()), tensor.Int64)
}

// extremeIndex is argmax and argmin.
func extremeIndex(name string, smallest bool) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		self := c.Tensor(0)
		if c.IsNone(1) {
			at := extremePlaces(name, source.Must(self.Reshape(-1)), nil, false, smallest)
			if c.Bool(2) {
				shape := make([]int, self.Dim())
				for i := range shape {
					shape[i] = 1
				}
				return source.Must(at.Reshape(shape...))
			}
			return at
		}
		return extremePlaces(name, self, c.Ints(1), c.Bool(2), smallest)
	}
}

func extremeDim(name string, smallest bool) func(c define.Call) {
	return func(c define.Call) {
		v, at := extremes(name, c.Tensor(0), c.Ints(1), c.Bool(2), smallest)
		c.Give(v, at)
	}
}

// spreads defines the overloads of std, var and their forms with the mean.
func spreads(name string, root, both bool) []define.Definition {
	give := func(c define.Call, dims []int, correction int, keepdim bool) {
		spread, center := Moments(c.Tensor(0), dims, correction, keepdim, root)
		c.Out[0] = value.OfTensor(spread)
		if both {
			c.Out[1] = value.OfTensor(center)
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
	corrected := func(d ops.Def, args func(a []value.Value) (dims any, unbiased bool, keepdim any)) ops.Def {
		if !both {
			d.Parts = define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
				dims, whether, keepdim := args(a)
				return x.Do(name+".correction", a[0], dims, unbiased[whether], keepdim)
			})
		}
		return d
	}
	ofAll := corrected(facts(spreadOfAll), func(a []value.Value) (any, bool, any) { return nil, a[1].Bool(), false })
	ofDims := corrected(facts(spreadOfDims), func(a []value.Value) (any, bool, any) { return a[1], a[2].Bool(), a[3] })
	ofCorrection := facts(spreadOfCorrection)
	if root && !both {
		ofCorrection.Parts = define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
			return x.Do("sqrt", x.Do("var.correction", a[0], a[1], a[2], a[3]))
		})
	}
	return []define.Definition{
		define.Operator(name, func(c define.Call) { give(c, nil, unbiased[c.Bool(1)], false) }).With(ofAll),
		define.Operator(name+".dim", func(c define.Call) { give(c, c.Ints(1), unbiased[c.Bool(2)], c.Bool(3)) }).With(ofDims),
		define.Operator(name+".correction", func(c define.Call) { give(c, c.Ints(1), c.IntOr(2, 1), c.Bool(3)) }).With(ofCorrection),
	}
}

// normOfArgs is norm with an optional p, dimensions and a type.
func normOfArgs(c define.Call, dims []int, keepdim bool, d tensor.DType) *tensor.Tensor {
	p := 2.0
	if !c.IsNone(1) {
		p = c.Scalar(1).Float64()
	}
	return VectorNorm(c.Tensor(0), p, dims, keepdim, d)
}

var ReduceFamily = slices.Concat([]define.Definition{
	define.Giving("sum", func(c define.Call) *tensor.Tensor {
		return Sum(c.Tensor(0), nil, false, c.DtypeOr(1, SumType(c.Tensor(0).DType())))
	}).With(ops.Def{Groups: ops.GroupsReducing, Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, sumOver(g, g.Grad(0), []int(nil), false)) }, Reduce: kernel.ReduceSum, Out: ops.OutComputed, Tags: ops.AsWritten}),
	define.Giving("sum.dim_IntList", func(c define.Call) *tensor.Tensor {
		return Sum(c.Tensor(0), c.Ints(1), c.Bool(2), c.DtypeOr(3, SumType(c.Tensor(0).DType())))
	}).With(ops.Def{Groups: ops.GroupsReducing, Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, sumOver(g, g.Grad(0), g.Ints(1), g.Arg(2))) }, Reduce: kernel.ReduceSum, Out: ops.OutComputed, Tags: ops.AsWritten}),
	define.Giving("sum_to_size", func(c define.Call) *tensor.Tensor { return sumToSize(c.Tensor(0), c.Ints(1)) }),
	define.Giving("_grad_sum_to_size", func(c define.Call) *tensor.Tensor {
		if c.IsNone(1) {
			return c.Tensor(0)
		}
		return sumToSize(c.Tensor(0), c.Ints(1))
	}),
	define.Giving("mean", func(c define.Call) *tensor.Tensor {
		return Mean(c.Tensor(0), nil, false, c.DtypeOr(1, c.Tensor(0).DType()))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, meanOver(g, g.Grad(0), []int(nil), false)) }, Reduce: kernel.ReduceSum, Out: ops.OutComputedFloating, Tags: ops.Grouped | ops.AsWritten}).Quantized(define.SameScale),
	define.Giving("mean.dim", func(c define.Call) *tensor.Tensor {
		result := c.DtypeOr(3, c.Tensor(0).DType())
		source.Check(c.IsNone(3) || !define.IsIntegral(result), "mean(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: %s", result.CppName())
		return Mean(c.Tensor(0), c.Ints(1), c.Bool(2), result)
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, meanOver(g, g.Grad(0), g.Ints(1), g.Arg(2))) }, Reduce: kernel.ReduceSum, Out: ops.OutComputedFloating, Tags: ops.Grouped | ops.AsWritten}).Quantized(define.SameScale),
	define.Giving("nansum", func(c define.Call) *tensor.Tensor {
		source.Check(!c.Tensor(0).DType().IsComplex(), "nansum does not support complex inputs")
		return nanSum(c.Tensor(0), c.Ints(1), c.Bool(2), c.DtypeOr(3, SumType(c.Tensor(0).DType())))
	}),
	define.Giving("nanmean", func(c define.Call) *tensor.Tensor {
		self := c.Tensor(0)
		total := nanSum(self, c.Ints(1), c.Bool(2), c.DtypeOr(3, self.DType()))
		return elementwise.Div.On(total, countNumbers(self, c.Ints(1), c.Bool(2)))
	}),
	define.Giving("prod", func(c define.Call) *tensor.Tensor {
		return product(c.Tensor(0), nil, false, c.DtypeOr(1, SumType(c.Tensor(0).DType())))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { productGrad(c, 0, true, false) }), Out: ops.OutComputed}),
	define.Giving("prod.dim_int", func(c define.Call) *tensor.Tensor {
		return product(c.Tensor(0), c.Ints(1), c.Bool(2), c.DtypeOr(3, SumType(c.Tensor(0).DType())))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { productGrad(c, c.Int(1), false, c.Bool(2)) }), Out: ops.OutComputed}),
	define.Giving("max", func(c define.Call) *tensor.Tensor {
		return Extreme("max", c.Tensor(0), nil, false, false)
	}).With(ops.Def{Grad: define.Concrete(EvenlyOfAll), Reduce: kernel.ReduceMax}).Quantized(define.SameScale),
	define.Giving("min", func(c define.Call) *tensor.Tensor {
		return Extreme("min", c.Tensor(0), nil, false, true)
	}).With(ops.Def{Grad: define.Concrete(EvenlyOfAll), Reduce: kernel.ReduceMin}).Quantized(define.SameScale),
	define.Operator("max.dim", extremeDim("max", false)).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { ChosenGrad(c, c.Int(1), c.Bool(2)) })}).Quantized(define.SameScale),
	define.Operator("min.dim", extremeDim("min", true)).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { ChosenGrad(c, c.Int(1), c.Bool(2)) })}).Quantized(define.SameScale),
	define.Giving("amax", func(c define.Call) *tensor.Tensor {
		return Extreme("amax", c.Tensor(0), c.Ints(1), c.Bool(2), false)
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { evenly(c, c.Ints(1), c.Bool(2)) }), Reduce: kernel.ReduceMax, Out: ops.OutOfInput}),
	define.Giving("amin", func(c define.Call) *tensor.Tensor {
		return Extreme("amin", c.Tensor(0), c.Ints(1), c.Bool(2), true)
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { evenly(c, c.Ints(1), c.Bool(2)) }), Reduce: kernel.ReduceMin, Out: ops.OutOfInput}),
	define.Operator("aminmax", func(c define.Call) {
		low := Extreme("aminmax", c.Tensor(0), c.OneDim(1), c.Bool(2), true)
		high := Extreme("aminmax", c.Tensor(0), c.OneDim(1), c.Bool(2), false)
		if c.Tensor(0).Dim() == 0 && !c.IsNone(1) && c.Bool(2) {
			low, high = source.Must(low.Reshape(1)), source.Must(high.Reshape(1))
		}
		c.Give(low, high)
	}).With(ops.Def{Out: ops.OutOfResult}),
	define.Giving("argmax", extremeIndex("argmax", false)),
	define.Giving("argmin", extremeIndex("argmin", true)),
	define.Giving("all.dims", func(c define.Call) *tensor.Tensor { return truthOfDims(c, true) }).
		OfSchema("aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor").
		With(ops.Def{Sample: "(x > 0, [0, 1])"}),
	define.Giving("any.dims", func(c define.Call) *tensor.Tensor { return truthOfDims(c, false) }).
		OfSchema("aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor").
		With(ops.Def{Sample: "(x > 0, [0, 1])"}),
	define.Giving("linalg__powsum", func(c define.Call) *tensor.Tensor {
		size, dims := elementwise.To(elementwise.Absolute.On(c.Tensor(0)), c.DtypeOr(4, c.Tensor(0).DType().ToReal())), []int(nil)
		if !c.IsNone(2) {
			dims = c.Ints(2)
		}
		return Sum(elementwise.Pow.Run(nil, []elementwise.Operand{elementwise.OfTensor(size), elementwise.OfScalar(c.Scalar(1))}), dims, c.Bool(3), FloatOrDefault(size.DType()))
	}).OfSchema("aten::linalg__powsum(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor").
		With(ops.Def{Sample: "(x, 3)", Doc: "The sum of the powers of the absolute values."}),
	define.Giving("all", func(c define.Call) *tensor.Tensor { return Truth(c.Tensor(0), nil, false, true) }).With(ops.Def{Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("logical_not", x.Do("any", x.Do("logical_not", a[0])))
	})}),
	define.Giving("all.dim", func(c define.Call) *tensor.Tensor { return Truth(c.Tensor(0), c.Ints(1), c.Bool(2), true) }),
	define.Giving("any", func(c define.Call) *tensor.Tensor { return Truth(c.Tensor(0), nil, false, false) }),
	define.Giving("any.dim", func(c define.Call) *tensor.Tensor { return Truth(c.Tensor(0), c.Ints(1), c.Bool(2), false) }),
	define.Giving("logsumexp", func(c define.Call) *tensor.Tensor { return logSumExp(c.Tensor(0), c.Ints(1), c.Bool(2)) }).With(ops.Def{Aliases: []string{"special_logsumexp"}, Grad: func(g define.Grad) {
		dims, keep := g.Ints(1), g.Arg(2)
		g.Give(0, g.Mul(spread(g, g.Grad(0), dims, keep), g.Do("exp", g.Minus(g.In(0), spread(g, g.Out(0), dims, keep)))))
	}, Tags: ops.Grouped}),
	define.Giving("count_nonzero", func(c define.Call) *tensor.Tensor { return countNonzero(c.Tensor(0), c.OneDim(1)) }),
	define.Giving("count_nonzero.dim_IntList", func(c define.Call) *tensor.Tensor { return countNonzero(c.Tensor(0), c.Ints(1)) }),
	define.Giving("norm.Scalar", func(c define.Call) *tensor.Tensor { return normOfArgs(c, nil, false, c.Tensor(0).DType()) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { normGrad(c, order(c, 1), nil, false) }), Tags: ops.AsWritten}),
	define.Giving("norm.ScalarOpt_dim", func(c define.Call) *tensor.Tensor {
		return normOfArgs(c, c.Ints(2), c.Bool(3), c.Tensor(0).DType())
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { normGrad(c, order(c, 1), c.Ints(2), c.Bool(3)) }), Tags: ops.AsWritten}),
	define.Giving("norm.ScalarOpt_dim_dtype", func(c define.Call) *tensor.Tensor {
		d := c.DtypeOr(4, c.Tensor(0).DType())
		return elementwise.To(normOfArgs(c, c.Ints(2), c.Bool(3), d), d)
	}),
	define.Giving("norm.ScalarOpt_dtype", func(c define.Call) *tensor.Tensor {
		d := c.DtypeOr(2, c.Tensor(0).DType())
		return elementwise.To(normOfArgs(c, nil, false, d), d)
	}),
	define.Giving("frobenius_norm", func(c define.Call) *tensor.Tensor { return VectorNorm(c.Tensor(0), 2, nil, false, c.Tensor(0).DType()) }).With(ops.Def{Decomp: define.Emitting("linalg_vector_norm")}),
	define.Giving("frobenius_norm.dim", func(c define.Call) *tensor.Tensor {
		return VectorNorm(c.Tensor(0), 2, c.Ints(1), c.Bool(2), c.Tensor(0).DType())
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { normGrad(c, 2, c.Ints(1), c.Bool(2)) }), Tags: ops.AsWritten}),
	define.Giving("linalg_vector_norm", func(c define.Call) *tensor.Tensor {
		return VectorNorm(c.Tensor(0), c.Scalar(1).Float64(), c.Ints(2), c.Bool(3), c.DtypeOr(4, c.Tensor(0).DType()))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { normGrad(c, order(c, 1), c.Ints(2), c.Bool(3)) }), Tags: ops.AsWritten}).Checked(func(c define.Call) {
		if !c.IsNone(4) {
			CheckNormType("linalg.vector_norm", c.Tensor(0), c.DtypeOr(4, tensor.Float32))
		}
	}),
	define.Giving("dist", func(c define.Call) *tensor.Tensor {
		d := elementwise.Sub.On(c.Tensor(0), c.Tensor(1))
		return VectorNorm(d, c.Scalar(2).Float64(), nil, false, d.DType())
	}),
	define.Giving("trace", func(c define.Call) *tensor.Tensor {
		self := c.Tensor(0)
		source.Check(self.Dim() == 2, "trace: expected a matrix, but got tensor with dim %d", self.Dim())
		return Sum(source.Must(self.Diagonal(0, 0, 1)), nil, false, SumType(self.DType()))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		shape := c.Shape(0)
		eye := c.Do("eye.m", shape[0], shape[1], c.Dtype(0))
		c.Give(0, c.Mul(c.G(), eye))
	}), Tags: ops.AsWritten}),
}, spreads("std", true, false), spreads("var", false, false), spreads("std_mean", true, true), spreads("var_mean", false, true))

// sumToSize adds up the dimensions that broadcasting to t's shape has repeated.
func sumToSize(t *tensor.Tensor, shape []int) *tensor.Tensor {
	source.Check(len(shape) <= t.Dim(), "size {%s} is not expandable to size {%s}.", define.ShapeText(shape), define.ShapeText(t.Shape()))
	if len(shape) == 0 {
		return Sum(t, nil, false, t.DType())
	}
	var dims []int
	lead := t.Dim() - len(shape)
	for d, n := range t.Shape() {
		if d < lead || shape[d-lead] == 1 && n != 1 {
			dims = append(dims, d)
		} else {
			source.Check(shape[d-lead] == n, "size {%s} is not expandable to size {%s}.", define.ShapeText(shape), define.ShapeText(t.Shape()))
		}
	}
	if len(dims) == 0 {
		return t
	}
	return source.Must(Sum(t, dims, true, t.DType()).Reshape(shape...))
}

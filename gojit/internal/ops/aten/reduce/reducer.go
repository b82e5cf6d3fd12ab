package reduce

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Reducer combines what an expression gives for each element. Besides the element, the expression
// may use numbers that each row has one of. Programs are kept by the types they are for.
type Reducer struct {
	Op       kernel.ReduceOp
	Expr     elementwise.Expression // nil: the element itself
	numbered bool                   // the expression's last operand is the element's number in its group, of type number
	number   tensor.DType
	rows     launch.Cache
	columns  launch.Cache
	few      launch.Cache
}

var (
	sumReducer     = &Reducer{Op: kernel.ReduceSum}
	productReducer = &Reducer{Op: kernel.ReduceProduct}
	maxReducer     = &Reducer{Op: kernel.ReduceMax}
	minReducer     = &Reducer{Op: kernel.ReduceMin}
	// SquaresReducer adds squares, deviationReducer squares of distances from a number of the row.
	SquaresReducer   = &Reducer{Op: kernel.ReduceSum, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element { return b.Mul(x[0], x[0]) }}
	deviationReducer = &Reducer{Op: kernel.ReduceSum, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		d := b.Sub(x[0], x[1])
		return b.Mul(d, d)
	}}
	// numbersReducer adds what is not NaN, numbersCounter counts it.
	numbersReducer = &Reducer{Op: kernel.ReduceSum, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Eq, x[0], x[0]), x[0], b.Number(x[0], 0))
	}}
	numbersCounter = &Reducer{Op: kernel.ReduceSum, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Convert(b.Binary(kernel.Eq, x[0], x[0]), tensor.Int64)
	}}
	absoluteReducer = &Reducer{Op: kernel.ReduceSum, Expr: elementwise.UnaryOp(kernel.Abs)}
	largestReducer  = &Reducer{Op: kernel.ReduceMax, Expr: elementwise.UnaryOp(kernel.Abs)}
	smallestReducer = &Reducer{Op: kernel.ReduceMin, Expr: elementwise.UnaryOp(kernel.Abs)}
	nonzeroReducer  = &Reducer{Op: kernel.ReduceSum, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Convert(b.Binary(kernel.Ne, x[0], b.Number(x[0], 0)), b.Type(x[0]))
	}}
	// zeroReducer counts what is zero.
	zeroReducer = &Reducer{Op: kernel.ReduceSum, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Convert(b.Binary(kernel.Eq, x[0], b.Number(x[0], 0)), b.Type(x[0]))
	}}
	// exponentialReducer adds exponentials of what exceeds a number of the row.
	exponentialReducer = &Reducer{Op: kernel.ReduceSum, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Exp(b.Sub(x[0], x[1]))
	}}
	// placeReducer gives the index of the first element that is the row's number or not a number, shortPlaceReducer in lanes of 32 bits.
	placeReducer      = &Reducer{Op: kernel.ReduceMin, numbered: true, number: tensor.Int64, Expr: firstPlace(math.MaxInt64)}
	shortPlaceReducer = &Reducer{Op: kernel.ReduceMin, numbered: true, number: tensor.Int32, Expr: firstPlace(math.MaxInt32)}
)

// firstPlace is the number of an element that is x[1] or not a number, and the largest number of others.
func firstPlace(largest int64) elementwise.Expression {
	return func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		found := b.Binary(kernel.Eq, x[0], x[1])
		if b.Type(x[0]).IsFloating() {
			found = b.Binary(kernel.Or, found, b.Unary(kernel.IsNaN, x[0]))
		}
		return b.Select(found, x[2], b.Const(b.Type(x[2]), tensor.Int(largest)))
	}
}

// program returns the program for rows of a type, computed in another, with results of a third.
func (q *Reducer) program(in, computed, result tensor.DType, singles int) *launch.Program {
	key := launch.Key(singles).With(in).With(computed).With(result)
	if p := q.rows.Get(key); p != nil {
		return p
	}
	return source.Must(q.rows.Make(key, func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		x := []kernel.Value{b.Input(in, computed)}
		for range singles {
			x = append(x, b.Input(computed, computed))
		}
		if q.numbered {
			x = append(x, b.Iota(q.number))
		}
		b.Reduce(q.Op, q.apply(b, x), result)
		return launch.ProgramOf(b.Kernel())
	}))
}

func (q *Reducer) apply(b *kernel.Builder, x []kernel.Value) kernel.Value {
	if q.Expr == nil {
		return x[0]
	}
	return q.Expr(b, x...)
}

// valueType returns the type of what is combined.
func (q *Reducer) valueType(computed tensor.DType) tensor.DType {
	if q.Expr == nil {
		return computed
	}
	b := kernel.NewBuilder()
	x := b.Input(computed, computed)
	if q.numbered {
		return q.number
	}
	return b.Type(q.apply(b, []kernel.Value{x, x}))
}

// reduceRows gives one element of type result for each row of r, whose elements are computed with in
// another type. singles hold a number for each row, of the type computed with.
func (q *Reducer) reduceRows(r reduction, computed, result tensor.DType, singles ...*tensor.Tensor) *tensor.Tensor {
	out := define.EmptyBeside(r.rows, r.shape, result)
	if out.IsHollow() {
		return out
	}
	if (q.Op == kernel.ReduceMax || q.Op == kernel.ReduceMin) && len(singles) == 0 && !q.numbered && r.turns(longestTurned) {
		out.Release()
		return r.combinedTurned(func(c columns) []*tensor.Tensor { return []*tensor.Tensor{q.reduceColumns(c, computed, result)} }, result)[0]
	}
	p := q.program(r.rows.DType(), computed, result, len(singles))
	if out.OnDevice() {
		runRows(p, r, out, singles)
		return out
	}
	var operands [4]launch.Row
	operands[0] = launch.SingleOf(out)
	operands[1] = launch.RowOf(r.rows, r.n)
	for i, s := range singles {
		operands[2+i] = launch.SingleOf(s)
	}
	p.ParallelRows(r.outer, r.n, operands[:2+len(singles)], nil)
	return out
}

// grouped is a tensor arranged for combining groups of its elements by several reducers.
type grouped struct {
	reduction         // rows of elements, or
	columns   columns // these, where ByColumns
	byColumns bool
}

// group arranges t for the reduction of dims; none means all.
func group(t *tensor.Tensor, dims []int, keepdim bool) grouped {
	reduced := ReducedDims(t, dims)
	inMemory, along := memoryOrder(t, reduced[:t.Dim()])
	lo, hi := reducedRange(along)
	if hi < t.Dim() && !slices.Contains(along[lo:hi], false) {
		if c, ok := columnsOf(inMemory, lo, hi); ok {
			return grouped{columns: c, byColumns: true, reduction: reduction{n: c.rows, shape: reducedShape(t, reduced, keepdim)}}
		}
	}
	return grouped{reduction: arrange(t, dims, keepdim, t.DType())}
}

// forget gives back the memory of a copy that group has made of t.
func (g *grouped) forget(t *tensor.Tensor) {
	if g.rows != nil {
		define.ForgetMade(t, g.rows)
	}
}

// memoryOrder shows a tensor, channels last for example, with its dimensions as they follow each other in
// memory, where it is contiguous then and the dimensions that are kept stay in their order.
func memoryOrder(t *tensor.Tensor, reduced []bool) (*tensor.Tensor, []bool) {
	if t.IsContiguous() || !slices.Contains(reduced, false) {
		return t, reduced
	}
	order := make([]int, t.Dim())
	for d := range order {
		order[d] = d
	}
	slices.SortStableFunc(order, func(a, b int) int { return t.Strides()[b] - t.Strides()[a] })
	along, last := make([]bool, len(order)), -1
	for i, d := range order {
		if along[i] = reduced[d]; reduced[d] {
			continue
		}
		if d < last {
			return t, reduced
		}
		last = d
	}
	if turned := source.Must(t.Permute(order...)); turned.IsContiguous() {
		return turned, along
	}
	return t, reduced
}

// reducedRange returns the first reduced dimension and the one after the last.
func reducedRange(reduced []bool) (lo, hi int) {
	lo, hi = 0, len(reduced)
	for lo < hi && !reduced[lo] {
		lo++
	}
	for hi > lo && !reduced[hi-1] {
		hi--
	}
	return lo, hi
}

// over gives one element of type result for each group, whose elements are computed with in another
// type. singles hold a number for each group, of the type computed with.
func (q *Reducer) over(g grouped, computed, result tensor.DType, singles ...*tensor.Tensor) *tensor.Tensor {
	if g.byColumns {
		return define.ShownAs(q.reduceColumns(g.columns, computed, result, singles...), g.shape...)
	}
	return q.reduceRows(g.reduction, computed, result, singles...)
}

// Reduce reduces dimensions of t, none meaning all, computing in one type and giving another.
func (q *Reducer) Reduce(t *tensor.Tensor, dims []int, keepdim bool, computed, result tensor.DType) *tensor.Tensor {
	if from := lastDims(t, dims); from >= 0 && t.IsContiguous() {
		shape := t.Shape()[:from]
		if keepdim {
			shape = append(slices.Clone(shape), slices.Repeat([]int{1}, t.Dim()-from)...)
		}
		return q.reduceRows(reduction{rows: t, n: define.NumelOf(t.Shape()[from:]), outer: define.NumelOf(t.Shape()[:from]), shape: shape}, computed, result)
	}
	reduced := ReducedDims(t, dims)
	if t.OnDevice() {
		if out := q.onDevice(t, reduced, keepdim, computed, result); out != nil {
			return out
		}
	}
	if kept, trailing, ok := firstAndLast(t, reduced); ok { // the last ones first
		held, n := q.valueType(computed), define.NumelOf(t.Shape()[trailing:])
		first := q.reduceRows(reduction{rows: t, n: n, outer: t.Numel() / n, shape: t.Shape()[:trailing]}, computed, held)
		defer first.Release()
		out := plainReducer(q.Op).reduceColumns(columns{first, 1, first.Numel() / kept, kept}, held, result)
		return define.ShownAs(out, reducedShape(t, reduced, keepdim)...)
	}
	g := group(t, dims, keepdim)
	defer g.forget(t)
	return q.over(g, computed, result)
}

// firstAndLast reports whether only the first and the last dimensions of a contiguous tensor are reduced, and the last ones have many
// elements: how many elements lie between them, and which is the first of the last.
func firstAndLast(t *tensor.Tensor, reduced []bool) (kept, trailing int, ok bool) {
	leading, trailing := 0, t.Dim()
	for leading < t.Dim() && reduced[leading] {
		leading++
	}
	for trailing > leading && reduced[trailing-1] {
		trailing--
	}
	if leading == 0 || leading == trailing || trailing == t.Dim() || slices.Contains(reduced[leading:trailing], true) {
		return 0, 0, false
	}
	ok = t.IsContiguous() && t.Numel() > 0 && !t.OnDevice() && define.NumelOf(t.Shape()[trailing:]) >= MinColumns
	return define.NumelOf(t.Shape()[leading:trailing]), trailing, ok
}

// lastDims returns the first of the dimensions to be reduced, none meaning all, where they are the last ones, else -1.
func lastDims(t *tensor.Tensor, dims []int) int {
	var reduced uint64
	for _, d := range dims {
		if d = define.WrapDim(d, t); d >= 64 || reduced>>d&1 != 0 {
			return -1
		}
		reduced |= 1 << d
	}
	if len(dims) == 0 || t.Dim() == 0 {
		return 0
	}
	if from := t.Dim() - len(dims); reduced == (1<<len(dims)-1)<<from {
		return from
	}
	return -1
}

// plainReducer returns the reducer of an operation without an expression.
func plainReducer(op kernel.ReduceOp) *Reducer {
	switch op {
	case kernel.ReduceSum:
		return sumReducer
	case kernel.ReduceProduct:
		return productReducer
	case kernel.ReduceMin:
		return minReducer
	}
	return maxReducer
}

func reducedShape(t *tensor.Tensor, reduced []bool, keepdim bool) []int {
	var shape []int
	for d, n := range t.Shape() {
		if !reduced[d] {
			shape = append(shape, n)
		} else if keepdim {
			shape = append(shape, 1)
		}
	}
	return shape
}

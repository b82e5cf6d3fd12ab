package aten

import (
	"math"

	"torchjit/gojit/kernel"
	"torchjit/gojit/kernel/launch"
	"torchjit/gojit/tensor"
)

// reducer combines what an expression gives for each element. Besides the element, the expression
// may use numbers that each row has one of. Programs are kept by the types they are for.
type reducer struct {
	op      kernel.ReduceOp
	expr    expression // nil: the element itself
	rows    launch.Cache
	columns launch.Cache
}

var (
	sumReducer     = &reducer{op: kernel.ReduceSum}
	productReducer = &reducer{op: kernel.ReduceProduct}
	maxReducer     = &reducer{op: kernel.ReduceMax}
	minReducer     = &reducer{op: kernel.ReduceMin}
	// squaresReducer adds squares, deviationReducer squares of distances from a number of the row.
	squaresReducer   = &reducer{op: kernel.ReduceSum, expr: func(b builder, x ...element) element { return b.Mul(x[0], x[0]) }}
	deviationReducer = &reducer{op: kernel.ReduceSum, expr: func(b builder, x ...element) element {
		d := b.Sub(x[0], x[1])
		return b.Mul(d, d)
	}}
	absoluteReducer = &reducer{op: kernel.ReduceSum, expr: unaryOp(kernel.Abs)}
	largestReducer  = &reducer{op: kernel.ReduceMax, expr: unaryOp(kernel.Abs)}
	smallestReducer = &reducer{op: kernel.ReduceMin, expr: unaryOp(kernel.Abs)}
	nonzeroReducer  = &reducer{op: kernel.ReduceSum, expr: func(b builder, x ...element) element {
		return b.Convert(b.Binary(kernel.Ne, x[0], b.Number(x[0], 0)), b.Type(x[0]))
	}}
	// exponentialReducer adds exponentials of what exceeds a number of the row.
	exponentialReducer = &reducer{op: kernel.ReduceSum, expr: func(b builder, x ...element) element { return b.Exp(b.Sub(x[0], x[1])) }}
	// placeReducer gives the index of the first element that is the row's number or not a number.
	placeReducer = &reducer{op: kernel.ReduceMin, expr: func(b builder, x ...element) element {
		found := b.Binary(kernel.Eq, x[0], x[1])
		if b.Type(x[0]).IsFloating() {
			found = b.Binary(kernel.Or, found, b.Unary(kernel.IsNaN, x[0]))
		}
		index := b.Iota(tensor.Int64)
		return b.Select(found, index, b.Const(tensor.Int64, tensor.Int(math.MaxInt64)))
	}}
)

// program returns the program for rows of a type, computed in another, with results of a third.
func (q *reducer) program(in, computed, result tensor.DType, singles int) *launch.Program {
	key := launch.Key(singles).With(in).With(computed).With(result)
	if p := q.rows.Get(key); p != nil {
		return p
	}
	return must(q.rows.Make(key, func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		x := []kernel.Value{b.Input(in, computed)}
		for range singles {
			x = append(x, b.Input(computed, computed))
		}
		b.Reduce(q.op, q.apply(b, x), result)
		return launch.NewProgram(b.Kernel())
	}))
}

func (q *reducer) apply(b *kernel.Builder, x []kernel.Value) kernel.Value {
	if q.expr == nil {
		return x[0]
	}
	return q.expr(b, x...)
}

// valueType returns the type of what is combined.
func (q *reducer) valueType(computed tensor.DType) tensor.DType {
	if q.expr == nil {
		return computed
	}
	b := kernel.NewBuilder()
	return b.Type(q.apply(b, []kernel.Value{b.Input(computed, computed)}))
}

// reduceRows gives one element of type result for each row of r, whose elements are computed with in
// another type. singles hold a number for each row, of the type computed with.
func (q *reducer) reduceRows(r reduction, computed, result tensor.DType, singles ...*tensor.Tensor) *tensor.Tensor {
	out := empty(r.shape, result)
	var operands [4]launch.Row
	operands[0] = launch.SingleOf(out)
	operands[1] = launch.RowOf(r.rows, r.n)
	for i, s := range singles {
		operands[2+i] = launch.SingleOf(s)
	}
	q.program(r.rows.DType(), computed, result, len(singles)).ParallelRows(r.outer, r.n, operands[:2+len(singles)], nil)
	return out
}

// reduce reduces dimensions of t, none meaning all, computing in one type and giving another.
func (q *reducer) reduce(t *tensor.Tensor, dims []int, keepdim bool, computed, result tensor.DType) *tensor.Tensor {
	reduced := reducedDims(t, dims)
	leading, trailing := 0, t.Dim()
	for leading < t.Dim() && reduced[leading] {
		leading++
	}
	for trailing > leading && reduced[trailing-1] {
		trailing--
	}
	middle := true // only the first and the last dimensions are reduced
	for d := leading; d < trailing; d++ {
		middle = middle && !reduced[d]
	}
	if leading > 0 && leading < trailing && middle && t.IsContiguous() && t.Numel() > 0 {
		kept := numelOf(t.Shape()[leading:trailing])
		if n := numelOf(t.Shape()[trailing:]); trailing < t.Dim() && n >= minColumns {
			held := q.valueType(computed)
			first := q.reduceRows(reduction{rows: t, n: n, outer: t.Numel() / n, shape: t.Shape()[:trailing]}, computed, held)
			out := plainReducer(q.op).reduceColumns(first, kept, held, result)
			return must(out.View(reducedShape(t, reduced, keepdim)...))
		} else if trailing == t.Dim() && kept >= minColumns {
			return must(q.reduceColumns(t, kept, computed, result).View(reducedShape(t, reduced, keepdim)...))
		}
	}
	return q.reduceRows(arrange(t, dims, keepdim, t.DType()), computed, result)
}

// minColumns is how many elements side by side are worth walking without bringing those of a result
// together.
const minColumns = 16

// plainReducer returns the reducer of an operation without an expression.
func plainReducer(op kernel.ReduceOp) *reducer {
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

// Columns are combined some rows at a time, and some columns at a time, which stay in the cache.
const (
	rowsAtOnce    = 4
	columnsAtOnce = 2048
)

// columnProgram returns the program that combines rows of elements with the results so far.
func (q *reducer) columnProgram(in, computed, held tensor.DType, rows int) *launch.Program {
	key := launch.Key(rows).With(in).With(computed).With(held)
	if p := q.columns.Get(key); p != nil {
		return p
	}
	return must(q.columns.Make(key, func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		sum := b.Input(held, held)
		var parts []kernel.Value
		for range rows {
			x := b.Input(in, computed)
			parts = append(parts, b.Convert(q.apply(b, []kernel.Value{x}), held))
		}
		for len(parts) > 1 {
			parts = append(parts[2:], b.Binary(q.op.Op(), parts[0], parts[1]))
		}
		b.Output(b.Binary(q.op.Op(), sum, parts[0]), held)
		return launch.NewProgram(b.Kernel())
	}))
}

// reduceColumns combines the rows of n elements that a contiguous tensor consists of. Sums of float32
// are held in float64.
func (q *reducer) reduceColumns(t *tensor.Tensor, n int, computed, result tensor.DType) *tensor.Tensor {
	held := q.valueType(computed)
	if held == tensor.Float32 && (q.op == kernel.ReduceSum || q.op == kernel.ReduceProduct) {
		held = tensor.Float64
	}
	sums := must(tensor.Full([]int{n}, q.identity(held), held))
	rows := t.Numel() / n
	size := t.DType().Size()
	four, one := q.columnProgram(t.DType(), computed, held, rowsAtOnce), q.columnProgram(t.DType(), computed, held, 1)
	tensor.Parallel(n, columnsAtOnce, func(lo, hi int) {
		for from := lo; from < hi; from += columnsAtOnce {
			m := min(columnsAtOnce, hi-from)
			into := launch.RowOf(sums, 1).From(from)
			x := launch.Row{Ptr: t.DataPtr(), Step: size}.From(from)
			x.Step = n * size
			row := 0
			for ; row+rowsAtOnce <= rows; row += rowsAtOnce {
				operands := [...]launch.Row{into, into, x.From(row), x.From(row + 1), x.From(row + 2), x.From(row + 3)}
				four.Rows(1, m, operands[:], nil)
			}
			for ; row < rows; row++ {
				operands := [...]launch.Row{into, into, x.From(row)}
				one.Rows(1, m, operands[:], nil)
			}
		}
	})
	return to(sums, result)
}

// identity is what a reduction starts with.
func (q *reducer) identity(t tensor.DType) tensor.Scalar {
	switch q.op {
	case kernel.ReduceProduct:
		return tensor.Int(1)
	case kernel.ReduceMin:
		return largestOf(t)
	case kernel.ReduceMax:
		return smallestOf(t)
	}
	return tensor.Int(0)
}

// largestOf and smallestOf return what no element of a type exceeds.
func largestOf(t tensor.DType) tensor.Scalar {
	switch {
	case t.IsFloating():
		return tensor.Float(math.Inf(1))
	case t == tensor.Bool:
		return tensor.Int(1)
	case t == tensor.Uint8:
		return tensor.Int(math.MaxUint8)
	}
	return tensor.Int(1<<(8*t.Size()-1) - 1)
}

func smallestOf(t tensor.DType) tensor.Scalar {
	switch {
	case t.IsFloating():
		return tensor.Float(math.Inf(-1))
	case t == tensor.Bool, t == tensor.Uint8:
		return tensor.Int(0)
	}
	return tensor.Int(-1 << (8*t.Size() - 1))
}

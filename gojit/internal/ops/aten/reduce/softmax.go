package aten

import (
	"math"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// rowKernel is a kernel over rows of elements, with numbers that each row has one of. A function of
// a type computed with builds it.
type rowKernel struct {
	build func(b builder, in, computed tensor.DType)
	cache launch.Cache
}

func (k *rowKernel) program(in, computed tensor.DType) *launch.Program {
	key := launch.Key(0).With(in).With(computed)
	if p := k.cache.Get(key); p != nil {
		return p
	}
	return must(k.cache.Make(key, func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		k.build(b, in, computed)
		return launch.ProgramOf(b.Kernel())
	}))
}

var (
	// rowMaximum gives the largest element of a row.
	rowMaximum = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		b.Reduce(kernel.ReduceMax, b.Input(in, computed), computed)
	}}
	// rowExponentials gives the exponentials of what exceeds a number, and their sum.
	rowExponentials = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		e := b.Exp(b.Sub(b.Input(in, computed), b.Input(computed, computed)))
		b.Output(e, in)
		b.Reduce(kernel.ReduceSum, e, computed)
	}}
	// rowExponentialSum gives the sum alone.
	rowExponentialSum = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		b.Reduce(kernel.ReduceSum, b.Exp(b.Sub(b.Input(in, computed), b.Input(computed, computed))), computed)
	}}
	rowScaled = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		b.Output(b.Mul(b.Input(in, computed), b.Input(computed, computed)), in)
	}}
	// columnExponentials gives the exponentials of what exceeds a number of the column and adds them to
	// what the column has so far.
	columnExponentials = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		held := heldAs(in)
		total, x, high := b.Input(held, held), b.Input(in, computed), b.Input(computed, computed)
		e := b.Exp(b.Sub(x, high))
		b.Output(b.Add(total, b.Convert(e, held)), held)
		b.Output(e, in)
	}}
	reciprocals = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		x := b.Input(in, in)
		b.Output(b.Div(b.Number(x, 1), x), computed)
	}}
	rowShifted = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		b.Output(b.Sub(b.Input(in, computed), b.Input(computed, computed)), in)
	}}
)

// rowBatch returns how many rows of n elements pass through the steps of an operator together, so
// that they stay in the cache.
func rowBatch(n int) int { return min(max(rowGrain/max(n, 1), 1), maxRowBatch) }

const maxRowBatch = 64

// alongRows calls f for batches of rows of n elements.
func alongRows(rows, n int, f func(from, count int)) {
	batch := rowBatch(n)
	tensor.Parallel(rows, batch, func(lo, hi int) {
		for from := lo; from < hi; from += batch {
			f(from, min(batch, hi-from))
		}
	})
}

// lastDim brings a dimension of t to the end. back returns a result to t's order.
func lastDim(t *tensor.Tensor, dim int) (rows *tensor.Tensor, n int, back func(*tensor.Tensor) *tensor.Tensor) {
	dim = wrapDim(dim, t)
	if t.Dim() == 0 {
		return t, 1, func(out *tensor.Tensor) *tensor.Tensor { return out }
	}
	last := t.Dim() - 1
	if dim == last {
		return contiguous(t), t.Size(dim), func(out *tensor.Tensor) *tensor.Tensor { return out }
	}
	return contiguous(must(t.Transpose(dim, last))), t.Size(dim), func(out *tensor.Tensor) *tensor.Tensor {
		return contiguous(must(out.Transpose(dim, last)))
	}
}

func softmax(t *tensor.Tensor, dim int) *tensor.Tensor {
	floatRows("softmax", t, dim)
	if t.IsHollow() {
		return emptyBeside(t, t.Shape(), t.DType())
	}
	if t.DType() == tensor.Float64 {
		return softmaxRows[float64](t, dim, tensor.Float64)
	}
	return softmaxRows[float32](t, dim, tensor.Float32)
}

func softmaxRows[T realFloat](t *tensor.Tensor, dim int, computed tensor.DType) *tensor.Tensor {
	if t.Numel() == 0 {
		return empty(t.Shape(), t.DType())
	}
	if c, ok := columnsAround(t, dim); ok {
		return softmaxColumns(c, computed)
	}
	x, n, back := lastDim(t, dim)
	out := empty(x.Shape(), t.DType())
	d := t.DType()
	p := softmaxPrograms[T]{rowMaximum.program(d, computed), rowExponentials.program(d, computed), rowScaled.program(d, computed)}
	if rows := x.Numel() / n; rows <= rowBatch(n) {
		p.rows(launch.RowOf(out, n), launch.RowOf(x, n), rows, n)
	} else {
		alongRows(rows, n, func(from, count int) {
			p.rows(launch.RowOf(out, n).From(from), launch.RowOf(x, n).From(from), count, n)
		})
	}
	return back(out)
}

// softmaxPrograms are the steps of a softmax.
type softmaxPrograms[T realFloat] struct{ highest, exponentials, scaled *launch.Program }

// rows goes through the steps for a batch of rows of n elements.
func (p softmaxPrograms[T]) rows(dst, src launch.Row, count, n int) {
	room := softmaxRooms.Get().(*softmaxRoom)
	defer softmaxRooms.Put(room)
	high, sums := (*[maxRowBatch]T)(unsafe.Pointer(&room.high)), (*[maxRowBatch]T)(unsafe.Pointer(&room.sums))
	p.highest.Rows(count, n, room.operands(numbers(high, false), src), nil)
	p.exponentials.Rows(count, n, room.operands(dst, numbers(sums, false), src, numbers(high, true)), nil)
	for i, s := range sums[:count] {
		sums[i] = 1 / s
	}
	p.scaled.Rows(count, n, room.operands(dst, dst, numbers(sums, true)), nil)
	clear(room.operandRows[:])
}

// softmaxRoom holds what a batch of rows has beside its elements: numbers of float32 or float64, and operands.
type softmaxRoom struct {
	high, sums, totals [maxRowBatch]float64
	operandRows        [4]launch.Row
}

var softmaxRooms = sync.Pool{New: func() any { return new(softmaxRoom) }}

// operands returns a list of rows, which is good until the next.
func (r *softmaxRoom) operands(rows ...launch.Row) []launch.Row {
	return r.operandRows[:copy(r.operandRows[:], rows)]
}

func logSoftmax(t *tensor.Tensor, dim int) *tensor.Tensor {
	floatRows("log_softmax", t, dim)
	if t.IsHollow() {
		return emptyBeside(t, t.Shape(), t.DType())
	}
	if t.DType() == tensor.Float64 {
		return logSoftmaxRows[float64](t, dim, tensor.Float64)
	}
	return logSoftmaxRows[float32](t, dim, tensor.Float32)
}

func logSoftmaxRows[T realFloat](t *tensor.Tensor, dim int, computed tensor.DType) *tensor.Tensor {
	if t.Numel() == 0 {
		return empty(t.Shape(), t.DType())
	}
	if c, ok := columnsAround(t, dim); ok {
		return logSoftmaxColumns(c, computed)
	}
	x, n, back := lastDim(t, dim)
	out := empty(x.Shape(), t.DType())
	totals, shifted := logTotalsOf[T](t.DType(), computed), rowShifted.program(t.DType(), computed)
	batch := func(dst, src launch.Row, count int) {
		room := softmaxRooms.Get().(*softmaxRoom)
		defer softmaxRooms.Put(room)
		total := (*[maxRowBatch]T)(unsafe.Pointer(&room.totals))
		totals.rows(room, src, count, n, total[:count])
		shifted.Rows(count, n, room.operands(dst, src, numbers(total, true)), nil)
		clear(room.operandRows[:])
	}
	if rows := x.Numel() / n; rows <= rowBatch(n) {
		batch(launch.RowOf(out, n), launch.RowOf(x, n), rows)
	} else {
		alongRows(rows, n, func(from, count int) { batch(launch.RowOf(out, n).From(from), launch.RowOf(x, n).From(from), count) })
	}
	return back(out)
}

// rowLogTotals gives logarithms of sums of exponentials.
type rowLogTotals[T realFloat] struct{ highest, total *launch.Program }

func logTotalsOf[T realFloat](in, computed tensor.DType) rowLogTotals[T] {
	return rowLogTotals[T]{rowMaximum.program(in, computed), rowExponentialSum.program(in, computed)}
}

// rows gives those of rows of n elements, of which there are at most maxRowBatch.
func (p rowLogTotals[T]) rows(room *softmaxRoom, src launch.Row, count, n int, into []T) {
	high, sums := (*[maxRowBatch]T)(unsafe.Pointer(&room.high)), (*[maxRowBatch]T)(unsafe.Pointer(&room.sums))
	p.highest.Rows(count, n, room.operands(numbers(high, false), src), nil)
	p.total.Rows(count, n, room.operands(numbers(sums, false), src, numbers(high, true)), nil)
	for i, s := range sums[:count] {
		into[i] = T(math.Log(float64(s))) + high[i]
	}
}

// batch is rows for whoever has no room.
func (p rowLogTotals[T]) batch(src launch.Row, n int, into []T) {
	room := softmaxRooms.Get().(*softmaxRoom)
	p.rows(room, src, len(into), n, into)
	clear(room.operandRows[:])
	softmaxRooms.Put(room)
}

// logTotals gives, in the type computed with, what log_softmax takes from the elements along the middle one
// of three dimensions.
func logTotals(t *tensor.Tensor) *tensor.Tensor {
	computed := kernel.ComputeType(t.DType())
	if c, ok := columnsAround(t, 1); ok {
		return must(columnLogTotals(c, computed).View(t.Size(0), t.Size(2)))
	}
	out := empty([]int{t.Size(0), t.Size(2)}, computed)
	if t.Numel() == 0 {
		return out
	}
	if computed == tensor.Float64 {
		fillLogTotals[float64](out, t)
	} else {
		fillLogTotals[float32](out, t)
	}
	return out
}

func fillLogTotals[T float32 | float64](out, t *tensor.Tensor) {
	x, n, _ := lastDim(t, 1)
	totals, into := logTotalsOf[T](t.DType(), out.DType()), tensor.Data[T](out)
	if len(into) <= rowBatch(n) {
		totals.batch(launch.RowOf(x, n), n, into)
		return
	}
	alongRows(len(into), n, func(from, count int) {
		totals.batch(launch.RowOf(x, n).From(from), n, into[from:from+count])
	})
}

// numbers describes an array that holds a number for each row.
func numbers[T realFloat](data *[maxRowBatch]T, input bool) launch.Row {
	return launch.Row{Ptr: unsafe.Pointer(data), Step: int(unsafe.Sizeof(data[0])), Single: input}
}

// columnsAround shows t around a dimension, where it can be.
func columnsAround(t *tensor.Tensor, dim int) (columns, bool) {
	if t.Dim() == 0 {
		return columns{}, false
	}
	dim = wrapDim(dim, t)
	return columnsOf(t, dim, dim+1)
}

// softmaxColumns goes over some columns at a time, so that they stay in the cache.
func softmaxColumns(c columns, computed tensor.DType) *tensor.Tensor {
	in := c.tensor.DType()
	out := empty(c.tensor.Shape(), in)
	high := maxReducer.reduceColumns(c, computed, computed)
	total := zeros(high.Shape(), heldAs(in))
	share := empty(high.Shape(), computed)
	exponentials, inverse, scaled := columnExponentials.program(in, computed), reciprocals.program(heldAs(in), computed), rowScaled.program(in, computed)
	c.each(c.cachedWidth(), func(block, from, at, m int) {
		src, dst, totals := c.rowsFrom(c.tensor, block, from), c.rowsFrom(out, block, from), sameRow(total, at)
		exponentials.Rows(c.rows, m, []launch.Row{totals, dst, totals, src, sameRow(high, at)}, nil)
		inverse.Rows(1, m, []launch.Row{sameRow(share, at), totals}, nil)
		scaled.Rows(c.rows, m, []launch.Row{dst, dst, sameRow(share, at)}, nil)
	})
	return out
}

// heldAs returns the type in which columns add up exponentials of elements of a type.
func heldAs(in tensor.DType) tensor.DType {
	if in.Size() <= 2 {
		return tensor.Float32
	}
	return tensor.Float64
}

func logSoftmaxColumns(c columns, computed tensor.DType) *tensor.Tensor {
	in := c.tensor.DType()
	out := empty(c.tensor.Shape(), in)
	shift := columnLogTotals(c, computed)
	shifted := rowShifted.program(in, computed)
	c.each(columnsAtOnce, func(block, from, at, m int) {
		shifted.Rows(c.rows, m, []launch.Row{c.rowsFrom(out, block, from), c.rowsFrom(c.tensor, block, from), sameRow(shift, at)}, nil)
	})
	return out
}

func columnLogTotals(c columns, computed tensor.DType) *tensor.Tensor {
	high := maxReducer.reduceColumns(c, computed, computed)
	total := exponentialReducer.reduceColumns(c, computed, tensor.Float64, high)
	return to(add.on(logarithm.on(total), high), computed)
}

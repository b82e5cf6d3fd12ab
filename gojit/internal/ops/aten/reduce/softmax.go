package reduce

import (
	"math"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// CastTo returns the first argument converted to the type in argument i, or as it is for None.
func CastTo(c define.Call, i int) *tensor.Tensor {
	return elementwise.To(c.Tensor(0), c.DtypeOr(i, c.Tensor(0).DType()))
}

// SoftmaxFamily are the exponentials of rows over their sums, and the logarithms of these.
var SoftmaxFamily = []define.Definition{
	define.Giving("softmax.int", func(c define.Call) *tensor.Tensor { return Softmax(CastTo(c, 2), c.Int(1)) }).With(ops.Def{Groups: ops.GroupsReducing, Parts: ofRows("_softmax"), Aliases: []string{"special_softmax"}, Reads: ops.ReadsResult, Grad: softmaxGrad, Tags: ops.ThroughNumbers | ops.Grouped}),
	define.Giving("log_softmax.int", func(c define.Call) *tensor.Tensor { return LogSoftmax(CastTo(c, 2), c.Int(1)) }).With(ops.Def{Groups: ops.GroupsReducing, Parts: ofRows("_log_softmax"), Aliases: []string{"special_log_softmax"}, Reads: ops.ReadsResult, Grad: logSoftmaxGrad, Tags: ops.Grouped}),
	define.Giving("_softmax", func(c define.Call) *tensor.Tensor { return Softmax(c.Tensor(0), c.Int(1)) }).With(ops.Def{Reads: ops.ReadsResult, Grad: softmaxGrad}).OutOverlapping(),
	define.Giving("_log_softmax", func(c define.Call) *tensor.Tensor { return LogSoftmax(c.Tensor(0), c.Int(1)) }).With(ops.Def{Reads: ops.ReadsResult, Grad: logSoftmaxGrad}).OutOverlapping(),
	define.Giving("_softmax_backward_data", softmaxGradient.operator),
	define.Giving("_log_softmax_backward_data", logSoftmaxGradient.operator),
}

// ofRows is an operator of rows, in a type that may be asked for, as the one of ATen's core.
func ofRows(name string) ops.Decomposition {
	return define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		t := a[0].Tensor()
		if !a[2].IsNone() && tensor.DType(a[2].Int()) != t.DType() {
			t = x.Do("_to_copy", t, a[2])
		}
		return x.Do(name, t, a[1], false)
	})
}

// softmaxGrad is the derivative of softmax.
func softmaxGrad(g define.Grad) {
	y := g.Out(0)
	if giveRows(g, "_softmax_backward_data") {
		return
	}
	gy := g.Mul(g.Grad(0), y)
	if isNumber(g, y) {
		g.Give(0, g.Zeros(gy))
		return
	}
	g.Give(0, g.Minus(gy, g.Mul(y, g.Do("sum.dim_IntList", gy, g.ListOf(g.Arg(1)), true))))
}

// logSoftmaxGrad is the derivative of log_softmax.
func logSoftmaxGrad(g define.Grad) {
	dy, y := g.Grad(0), g.Out(0)
	if giveRows(g, "_log_softmax_backward_data") {
		return
	}
	if isNumber(g, y) {
		g.Give(0, g.Zeros(dy))
		return
	}
	g.Give(0, g.Minus(dy, g.Mul(g.Do("exp", y), g.Do("sum.dim_IntList", dy, g.ListOf(g.Arg(1)), true))))
}

// giveRows gives the gradient by an operator of its own where tensors are known; elsewhere it becomes part of what is computed around it.
func giveRows(g define.Grad, name string) bool {
	c := g.Concrete()
	if c == nil {
		return false
	}
	y := define.TensorOf(g.Out(0))
	g.Give(0, ops.Do(c, name, define.TensorOf(g.Grad(0)), y, c.Arguments()[1], y.DType()))
	return true
}

type RealFloat interface{ float32 | float64 }

// FloatRows fails on types that have no kernel for rows along dim.
func FloatRows(name string, t *tensor.Tensor, dim int) {
	isLast := t.Dim() == 0 || define.WrapDim(dim, t) == t.Dim()-1
	switch {
	case t.DType().IsFloating():
	case isLast:
		elementwise.NotImplemented(name+"_lastdim_kernel_impl", t.DType())
	default:
		elementwise.NotImplemented(name+"_kernel_impl", t.DType())
	}
}

// RowKernel is a kernel over rows of elements, with numbers that each row has one of. A function of
// a type computed with builds it.
type RowKernel struct {
	Build func(b elementwise.Builder, in, computed tensor.DType)
	cache launch.Cache
}

// Program returns the kernel for elements of a type and for what is computed with.
func (k *RowKernel) Program(in, computed tensor.DType) *launch.Program {
	key := launch.Key(0).With(in).With(computed)
	if p := k.cache.Get(key); p != nil {
		return p
	}
	return source.Must(k.cache.Make(key, func() (*launch.Program, error) {
		b := kernel.NewBuilder()
		k.Build(b, in, computed)
		return launch.ProgramOf(b.Kernel())
	}))
}

var (
	// RowMaximum gives the largest element of a row.
	RowMaximum = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Reduce(kernel.ReduceMax, b.Input(in, computed), computed)
	}}
	// RowExponentials gives the exponentials of what exceeds a number, and their sum.
	RowExponentials = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		e := b.Exp(b.Sub(b.Input(in, computed), b.Input(computed, computed)))
		b.Output(e, in)
		b.Reduce(kernel.ReduceSum, e, computed)
	}}
	// scaledExponentials is RowExponentials of elements times a parameter.
	scaledExponentials = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		factor := b.Param(computed)
		e := b.Exp(b.Sub(b.Mul(b.Input(in, computed), factor), b.Input(computed, computed)))
		b.Output(e, in)
		b.Reduce(kernel.ReduceSum, e, computed)
	}}
	// rowExponentialSum gives the sum alone.
	rowExponentialSum = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Reduce(kernel.ReduceSum, b.Exp(b.Sub(b.Input(in, computed), b.Input(computed, computed))), computed)
	}}
	RowScaled = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Output(b.Mul(b.Input(in, computed), b.Input(computed, computed)), in)
	}}
	// rowShares gives the exponentials of what exceeds a number, times another.
	rowShares = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		x, high, share := b.Input(in, computed), b.Input(computed, computed), b.Input(computed, computed)
		b.Output(b.Mul(b.Exp(b.Sub(x, high)), share), in)
	}}
	// columnExponentials gives the exponentials of what exceeds a number of the column and adds them to
	// what the column has so far.
	columnExponentials = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Output(addExponential(b, in, computed), in)
	}}
	// columnTotals adds them alone.
	columnTotals = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { addExponential(b, in, computed) }}
	reciprocals  = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		x := b.Input(in, in)
		b.Output(b.Div(b.Number(x, 1), x), computed)
	}}
	rowShifted = &RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Output(b.Sub(b.Input(in, computed), b.Input(computed, computed)), in)
	}}
)

// addExponential adds the exponential of what an element exceeds a number to what the column has so far, and returns it.
func addExponential(b elementwise.Builder, in, computed tensor.DType) elementwise.Element {
	held := heldAs(in)
	total, x, high := b.Input(held, held), b.Input(in, computed), b.Input(computed, computed)
	e := b.Exp(b.Sub(x, high))
	b.Output(b.Add(total, b.Convert(e, held)), held)
	return e
}

// RowBatch returns how many rows of n elements pass through the steps of an operator together, so
// that they stay in the cache.
func RowBatch(n int) int { return min(max(define.RowGrain/max(n, 1), 1), MaxRowBatch) }

const MaxRowBatch = 64

// AlongRows calls f for batches of rows of n elements.
func AlongRows(rows, n int, f func(from, count int)) {
	batch := RowBatch(n)
	parallel.For(rows, batch, func(lo, hi int) {
		for from := lo; from < hi; from += batch {
			f(from, min(batch, hi-from))
		}
	})
}

// lastDim brings a dimension of t to the end. back returns a result to t's order.
func lastDim(t *tensor.Tensor, dim int) (rows *tensor.Tensor, n int, back func(*tensor.Tensor) *tensor.Tensor) {
	dim = define.WrapDim(dim, t)
	if t.Dim() == 0 {
		return t, 1, func(out *tensor.Tensor) *tensor.Tensor { return out }
	}
	last := t.Dim() - 1
	if dim == last {
		return elementwise.Contiguous(t), t.Size(dim), func(out *tensor.Tensor) *tensor.Tensor { return out }
	}
	return elementwise.Contiguous(source.Must(t.Transpose(dim, last))), t.Size(dim), func(out *tensor.Tensor) *tensor.Tensor {
		return elementwise.Contiguous(source.Must(out.Transpose(dim, last)))
	}
}

// Softmax is softmax.
func Softmax(t *tensor.Tensor, dim int) *tensor.Tensor {
	FloatRows("softmax", t, dim)
	if t.IsHollow() {
		return define.EmptyBeside(t, t.Shape(), t.DType())
	}
	if t.OnDevice() {
		return exponentialsOnDevice("softmax", t, dim)
	}
	if t.DType() == tensor.Float64 {
		return softmaxRows[float64](t, dim, tensor.Float64)
	}
	return softmaxRows[float32](t, dim, tensor.Float32)
}

func softmaxRows[T RealFloat](t *tensor.Tensor, dim int, computed tensor.DType) *tensor.Tensor {
	if t.Numel() == 0 {
		return define.Empty(t.Shape(), t.DType())
	}
	if c, ok := columnsAround(t, dim); ok {
		return softmaxColumns(c, computed)
	}
	x, n, back := lastDim(t, dim)
	out := define.Empty(x.Shape(), t.DType())
	d := t.DType()
	p := NewSoftmaxPrograms[T](d, computed)
	if rows := x.Numel() / n; rows <= RowBatch(n) {
		p.Rows(launch.RowOf(out, n), launch.RowOf(x, n), rows, n)
	} else {
		AlongRows(rows, n, func(from, count int) {
			p.Rows(launch.RowOf(out, n).From(from), launch.RowOf(x, n).From(from), count, n)
		})
	}
	return back(out)
}

// SoftmaxPrograms are the steps of a softmax.
type SoftmaxPrograms[T RealFloat] struct {
	highest, exponentials, scaled *launch.Program
	twice                         bool            // exponentials are made again in the last step: elements are rounded, which they are not to be in between
	factor                        []tensor.Scalar // that elements are multiplied with before, above zero; none: one
}

// NewSoftmaxPrograms returns the steps for elements of a type, and for what is computed with.
func NewSoftmaxPrograms[T RealFloat](in, computed tensor.DType) SoftmaxPrograms[T] {
	exponentials, scaled, twice := RowExponentials, RowScaled, in != computed
	if twice {
		exponentials, scaled = rowExponentialSum, rowShares
	}
	return SoftmaxPrograms[T]{highest: RowMaximum.Program(in, computed), exponentials: exponentials.Program(in, computed), scaled: scaled.Program(in, computed), twice: twice}
}

// Times returns the steps for elements, of the type that is computed with, that are multiplied with a factor above zero before: then the highest product is
// that of the highest element.
func (p SoftmaxPrograms[T]) Times(factor float64, computed tensor.DType) SoftmaxPrograms[T] {
	p.exponentials, p.factor = scaledExponentials.Program(computed, computed), []tensor.Scalar{tensor.Float(factor)}
	return p
}

// Rows goes through the steps for a batch of rows of n elements.
func (p SoftmaxPrograms[T]) Rows(dst, src launch.Row, count, n int) {
	room := softmaxRooms.Get().(*softmaxRoom)
	defer softmaxRooms.Put(room)
	high, sums := (*[MaxRowBatch]T)(unsafe.Pointer(&room.high)), (*[MaxRowBatch]T)(unsafe.Pointer(&room.sums))
	p.highest.Rows(count, n, room.operands(Numbers(high, false), src), nil)
	for _, factor := range p.factor {
		for i := range high[:count] {
			high[i] *= T(factor.Float64())
		}
	}
	if p.twice {
		p.exponentials.Rows(count, n, room.operands(Numbers(sums, false), src, Numbers(high, true)), nil)
	} else {
		p.exponentials.Rows(count, n, room.operands(dst, Numbers(sums, false), src, Numbers(high, true)), p.factor)
	}
	for i, s := range sums[:count] {
		sums[i] = 1 / s
	}
	if p.twice {
		p.scaled.Rows(count, n, room.operands(dst, src, Numbers(high, true), Numbers(sums, true)), nil)
	} else {
		p.scaled.Rows(count, n, room.operands(dst, dst, Numbers(sums, true)), nil)
	}
	clear(room.operandRows[:])
}

// softmaxRoom holds what a batch of rows has beside its elements: numbers of float32 or float64, and operands.
type softmaxRoom struct {
	high, sums, totals [MaxRowBatch]float64
	operandRows        [4]launch.Row
}

var softmaxRooms = sync.Pool{New: func() any { return new(softmaxRoom) }}

// operands returns a list of rows, which is good until the next.
func (r *softmaxRoom) operands(rows ...launch.Row) []launch.Row {
	return r.operandRows[:copy(r.operandRows[:], rows)]
}

// LogSoftmax is log_softmax.
func LogSoftmax(t *tensor.Tensor, dim int) *tensor.Tensor {
	FloatRows("log_softmax", t, dim)
	if t.IsHollow() {
		return define.EmptyBeside(t, t.Shape(), t.DType())
	}
	if t.OnDevice() {
		return exponentialsOnDevice("log_softmax", t, dim)
	}
	if t.DType() == tensor.Float64 {
		return logSoftmaxRows[float64](t, dim, tensor.Float64)
	}
	return logSoftmaxRows[float32](t, dim, tensor.Float32)
}

func logSoftmaxRows[T RealFloat](t *tensor.Tensor, dim int, computed tensor.DType) *tensor.Tensor {
	if t.Numel() == 0 {
		return define.Empty(t.Shape(), t.DType())
	}
	if c, ok := columnsAround(t, dim); ok {
		return logSoftmaxColumns(c, computed)
	}
	x, n, back := lastDim(t, dim)
	out := define.Empty(x.Shape(), t.DType())
	totals, shifted := logTotalsOf[T](t.DType(), computed), rowShifted.Program(t.DType(), computed)
	batch := func(dst, src launch.Row, count int) {
		room := softmaxRooms.Get().(*softmaxRoom)
		defer softmaxRooms.Put(room)
		total := (*[MaxRowBatch]T)(unsafe.Pointer(&room.totals))
		totals.rows(room, src, count, n, total[:count])
		shifted.Rows(count, n, room.operands(dst, src, Numbers(total, true)), nil)
		clear(room.operandRows[:])
	}
	if rows := x.Numel() / n; rows <= RowBatch(n) {
		batch(launch.RowOf(out, n), launch.RowOf(x, n), rows)
	} else {
		AlongRows(rows, n, func(from, count int) { batch(launch.RowOf(out, n).From(from), launch.RowOf(x, n).From(from), count) })
	}
	return back(out)
}

// rowLogTotals gives logarithms of sums of exponentials.
type rowLogTotals[T RealFloat] struct{ highest, total *launch.Program }

func logTotalsOf[T RealFloat](in, computed tensor.DType) rowLogTotals[T] {
	return rowLogTotals[T]{RowMaximum.Program(in, computed), rowExponentialSum.Program(in, computed)}
}

// rows gives those of rows of n elements, of which there are at most MaxRowBatch.
func (p rowLogTotals[T]) rows(room *softmaxRoom, src launch.Row, count, n int, into []T) {
	high, sums := (*[MaxRowBatch]T)(unsafe.Pointer(&room.high)), (*[MaxRowBatch]T)(unsafe.Pointer(&room.sums))
	p.highest.Rows(count, n, room.operands(Numbers(high, false), src), nil)
	p.total.Rows(count, n, room.operands(Numbers(sums, false), src, Numbers(high, true)), nil)
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

// LogTotals gives, in the type computed with, what log_softmax takes from the elements along the middle one
// of three dimensions.
func LogTotals(t *tensor.Tensor) *tensor.Tensor {
	computed := kernel.ComputeType(t.DType())
	if c, ok := columnsAround(t, 1); ok {
		return source.Must(columnLogTotals(c, computed).View(t.Size(0), t.Size(2)))
	}
	out := define.Empty([]int{t.Size(0), t.Size(2)}, computed)
	if t.Numel() == 0 {
		return out
	}
	if computed == tensor.Float64 {
		FillLogTotals[float64](out, t)
	} else {
		FillLogTotals[float32](out, t)
	}
	return out
}

// FillLogTotals stores the logarithm of the sum of exponentials along dimension 1.
func FillLogTotals[T float32 | float64](out, t *tensor.Tensor) {
	x, n, _ := lastDim(t, 1)
	totals, into := logTotalsOf[T](t.DType(), out.DType()), tensor.Data[T](out)
	if len(into) <= RowBatch(n) {
		totals.batch(launch.RowOf(x, n), n, into)
		return
	}
	AlongRows(len(into), n, func(from, count int) {
		totals.batch(launch.RowOf(x, n).From(from), n, into[from:from+count])
	})
}

// Numbers describes an array that holds a number for each row.
func Numbers[T RealFloat](data *[MaxRowBatch]T, input bool) launch.Row {
	return launch.Row{Ptr: unsafe.Pointer(data), Step: int(unsafe.Sizeof(data[0])), Single: input}
}

// columnsAround shows t around a dimension, where it can be.
func columnsAround(t *tensor.Tensor, dim int) (columns, bool) {
	if t.Dim() == 0 {
		return columns{}, false
	}
	dim = define.WrapDim(dim, t)
	return columnsOf(t, dim, dim+1)
}

// softmaxColumns goes over some columns at a time, so that they stay in the cache.
func softmaxColumns(c columns, computed tensor.DType) *tensor.Tensor {
	in := c.tensor.DType()
	out := define.Empty(c.tensor.Shape(), in)
	high := maxReducer.reduceColumns(c, computed, computed)
	total := define.Zeros(high.Shape(), heldAs(in))
	share := define.Empty(high.Shape(), computed)
	inverse := reciprocals.Program(heldAs(in), computed)
	if in != computed { // exponentials are not rounded before they are divided
		totals, shares := columnTotals.Program(in, computed), rowShares.Program(in, computed)
		c.each(c.cachedWidth(), func(block, from, at, m int) {
			src, sums := c.rowsFrom(c.tensor, block, from), SameRow(total, at)
			totals.Rows(c.rows, m, []launch.Row{sums, sums, src, SameRow(high, at)}, nil)
			inverse.Rows(1, m, []launch.Row{SameRow(share, at), sums}, nil)
			shares.Rows(c.rows, m, []launch.Row{c.rowsFrom(out, block, from), src, SameRow(high, at), SameRow(share, at)}, nil)
		})
		return out
	}
	exponentials, scaled := columnExponentials.Program(in, computed), RowScaled.Program(in, computed)
	c.each(c.cachedWidth(), func(block, from, at, m int) {
		src, dst, totals := c.rowsFrom(c.tensor, block, from), c.rowsFrom(out, block, from), SameRow(total, at)
		exponentials.Rows(c.rows, m, []launch.Row{totals, dst, totals, src, SameRow(high, at)}, nil)
		inverse.Rows(1, m, []launch.Row{SameRow(share, at), totals}, nil)
		scaled.Rows(c.rows, m, []launch.Row{dst, dst, SameRow(share, at)}, nil)
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
	out := define.Empty(c.tensor.Shape(), in)
	shift := columnLogTotals(c, computed)
	shifted := rowShifted.Program(in, computed)
	c.each(ColumnsAtOnce, func(block, from, at, m int) {
		shifted.Rows(c.rows, m, []launch.Row{c.rowsFrom(out, block, from), c.rowsFrom(c.tensor, block, from), SameRow(shift, at)}, nil)
	})
	return out
}

func columnLogTotals(c columns, computed tensor.DType) *tensor.Tensor {
	high := maxReducer.reduceColumns(c, computed, computed)
	total := exponentialReducer.reduceColumns(c, computed, tensor.Float64, high)
	return elementwise.To(elementwise.Add.On(elementwise.Logarithm.On(total), high), computed)
}

package reduce

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// rowsGradient is the gradient of an operator of rows by what it gave: a sum over the row, and what each element takes from it.
type rowsGradient struct {
	name     string // of PyTorch's kernel
	sum, row *RowKernel
}

var (
	// softmaxGradient is y * (g - sum(g * y)).
	softmaxGradient = rowsGradient{"softmax_backward",
		&RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
			b.Reduce(kernel.ReduceSum, b.Mul(b.Input(in, computed), b.Input(in, computed)), computed)
		}},
		&RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
			g, y := b.Input(in, computed), b.Input(in, computed)
			b.Output(b.Mul(b.Sub(g, b.Input(computed, computed)), y), in)
		}}}
	// logSoftmaxGradient is g - exp(y) * sum(g).
	logSoftmaxGradient = rowsGradient{"log_softmax_backward",
		&RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
			b.Reduce(kernel.ReduceSum, b.Input(in, computed), computed)
		}},
		&RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
			g, y := b.Input(in, computed), b.Input(in, computed)
			b.Output(b.Sub(g, b.Mul(b.Exp(y), b.Input(computed, computed))), in)
		}}}
)

// operator is the gradient as an operator of the gradient of the result, the result, the dimension of the rows, and the type of what is given.
func (r *rowsGradient) operator(c define.Call) *tensor.Tensor {
	g, y, dim := c.Tensor(0), c.Tensor(1), c.Int(2)
	if !tensor.SameShape(g.Shape(), y.Shape()) {
		source.Raise(source.RuntimeError, "Expected tensor for argument #1 'grad' to have same size as tensor for argument #2 'output'; but %s does not equal %s (while checking arguments for %s)",
			define.ShapeText(g.Shape()), define.ShapeText(y.Shape()), r.name)
	}
	define.CheckType(g, y)
	FloatRows(r.name, g, dim)
	define.WrapDim(dim, g)
	if g.Numel() == 0 {
		return define.Empty(g.Shape(), c.DtypeOr(3, g.DType()))
	}
	var out *tensor.Tensor
	if kernel.ComputeType(g.DType()) == tensor.Float64 {
		out = gradientRows[float64](r, g, y, dim)
	} else {
		out = gradientRows[float32](r, g, y, dim)
	}
	return elementwise.OwnTo(out, c.DtypeOr(3, g.DType()))
}

func gradientRows[T RealFloat](r *rowsGradient, g, y *tensor.Tensor, dim int) *tensor.Tensor {
	gRows, n, back := lastDim(g, dim)
	defer define.ForgetMade(g, gRows)
	yRows, _, _ := lastDim(y, dim)
	defer define.ForgetMade(y, yRows)
	out, d := define.Empty(gRows.Shape(), g.DType()), g.DType()
	computed := kernel.ComputeType(d)
	sum, row := r.sum.Program(d, computed), r.row.Program(d, computed)
	reads := len(sum.Kernel().Inputs) // the gradient alone, or the result, too
	AlongRows(g.Numel()/n, n, func(from, count int) {
		room := softmaxRooms.Get().(*softmaxRoom)
		defer softmaxRooms.Put(room)
		sums := (*[MaxRowBatch]T)(unsafe.Pointer(&room.sums))
		gs, ys := launch.RowOf(gRows, n).From(from), launch.RowOf(yRows, n).From(from)
		sum.Rows(count, n, room.operands(Numbers(sums, false), gs, ys)[:1+reads], nil)
		row.Rows(count, n, room.operands(launch.RowOf(out, n).From(from), gs, ys, Numbers(sums, true)), nil)
		clear(room.operandRows[:])
	})
	return back(out)
}

package nn

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// What is done to the gates of an LSTM cell element by element, as one operator with a derivative of its own: one node of the tape, which keeps the
// gates and the two memories. Its third result are the gates after their functions.

// Kernels have eight operands at most, so that a step has several.
var (
	gateSums = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Output(b.Add(b.Input(in, computed), b.Input(in, computed)), in)
	}}
	gateSumsBiased = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		x, h, bx, bh := b.Input(in, computed), b.Input(in, computed), b.Input(in, computed), b.Input(in, computed)
		b.Output(b.Add(b.Add(x, bx), b.Add(h, bh)), in)
	}}
	// lstmMemory gives the gates that write, keep and make the memory, and the new memory, of their sums and the old one.
	lstmMemory = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		write, keep, fresh, memory := elementwise.SigmoidOf(b, b.Input(in, computed)), elementwise.SigmoidOf(b, b.Input(in, computed)), b.Unary(kernel.Tanh, b.Input(in, computed)), b.Input(in, computed)
		b.Output(write, in)
		b.Output(keep, in)
		b.Output(fresh, in)
		b.Output(b.Add(b.Mul(keep, memory), b.Mul(write, fresh)), in)
	}}
	// lstmState gives the gate that reads the memory, and the new state.
	lstmState = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		read, memory := elementwise.SigmoidOf(b, b.Input(in, computed)), b.Input(in, computed)
		b.Output(read, in)
		b.Output(b.Mul(read, b.Unary(kernel.Tanh, memory)), in)
	}}
	// lstmStateGradient gives the gradients of the gate that reads and of the new memory, of that gate, the memory, and their gradients by state and memory.
	lstmStateGradient = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		read, memory, dState, dMemory := b.Input(in, computed), b.Unary(kernel.Tanh, b.Input(in, computed)), b.Input(in, computed), b.Input(in, computed)
		one := b.Number(read, 1)
		b.Output(b.Mul(b.Mul(dState, memory), b.Mul(read, b.Sub(one, read))), in)
		b.Output(b.Add(dMemory, b.Mul(b.Mul(dState, read), b.Sub(one, b.Mul(memory, memory)))), in)
	}}
	// lstmWriteGradient gives the gradients of the gates that write and make, of these and the gradient of the new memory.
	lstmWriteGradient = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		write, fresh, dMemory := b.Input(in, computed), b.Input(in, computed), b.Input(in, computed)
		one := b.Number(write, 1)
		b.Output(b.Mul(b.Mul(dMemory, fresh), b.Mul(write, b.Sub(one, write))), in)
		b.Output(b.Mul(b.Mul(dMemory, write), b.Sub(one, b.Mul(fresh, fresh))), in)
	}}
	// lstmKeepGradient gives the gradients of the gate that keeps and of the old memory, of these and the gradient of the new one.
	lstmKeepGradient = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		keep, memory, dMemory := b.Input(in, computed), b.Input(in, computed), b.Input(in, computed)
		b.Output(b.Mul(b.Mul(dMemory, memory), b.Mul(keep, b.Sub(b.Number(keep, 1), keep))), in)
		b.Output(b.Mul(dMemory, keep), in)
	}}
)

// gateRows are the columns of one of the four gates in a contiguous matrix, as rows.
func gateRows(t *tensor.Tensor, gate int) launch.Row {
	size := t.Size(1) / lstmGates * t.DType().Size()
	return launch.Row{Ptr: unsafe.Add(t.DataPtr(), gate*size), Step: lstmGates * size}
}

// sharedRow is one row that all rows have.
func sharedRow(t *tensor.Tensor) launch.Row { return launch.Row{Ptr: t.DataPtr()} }

// onRows runs the kernel over rows of n elements; results come before what it reads.
func onRows(k *reduce.RowKernel, d tensor.DType, rows, n int, operands ...launch.Row) {
	k.Program(d, d).ParallelRows(rows, n, operands, nil)
}

// checkFusedGates fails where a matrix does not have four gates for each element of a memory, in its type.
func checkFusedGates(name string, gates, memory *tensor.Tensor) {
	d := memory.DType()
	source.Check(d == tensor.Float32 || d == tensor.Float64, "\"%s\" not implemented for '%s'", name, d.CppName())
	checkSameType(d, gates)
	source.Check(memory.Dim() == 2 && gates.Dim() == 2 && gates.Size(0) == memory.Size(0) && gates.Size(1) == lstmGates*memory.Size(1),
		"%s expects gates of %d columns for each of a memory, got %s and %s", name, lstmGates, define.ShapeText(gates.Shape()), define.ShapeText(memory.Shape()))
}

func fusedLSTMCell(c define.Call) {
	x, h, memory, bx, bh := c.Tensor(0), c.Tensor(1), c.Tensor(2), c.OptionalTensor(3), c.OptionalTensor(4)
	checkFusedGates("_thnn_fused_lstm_cell", x, memory)
	checkFusedGates("_thnn_fused_lstm_cell", h, memory)
	source.Check((bx == nil) == (bh == nil), "_thnn_fused_lstm_cell expects two biases or none")
	d, rows, size := memory.DType(), memory.Size(0), memory.Size(1)
	gates, next, state := define.Empty(x.Shape(), d), define.Empty(memory.Shape(), d), define.Empty(memory.Shape(), d)
	if n := lstmGates * size; bx == nil {
		x, h = elementwise.Contiguous(x), elementwise.Contiguous(h)
		onRows(gateSums, d, rows, n, launch.RowOf(gates, n), launch.RowOf(x, n), launch.RowOf(h, n))
	} else {
		for _, b := range []*tensor.Tensor{bx, bh} {
			checkSameType(d, b)
			source.Check(b.Dim() == 1 && b.Size(0) == n, "a bias of _thnn_fused_lstm_cell must have %d elements, got %s", n, define.ShapeText(b.Shape()))
		}
		x, h, bx, bh = elementwise.Contiguous(x), elementwise.Contiguous(h), elementwise.Contiguous(bx), elementwise.Contiguous(bh)
		onRows(gateSumsBiased, d, rows, n, launch.RowOf(gates, n), launch.RowOf(x, n), launch.RowOf(h, n), sharedRow(bx), sharedRow(bh))
	}
	write, keep, fresh, read := gateRows(gates, 0), gateRows(gates, 1), gateRows(gates, 2), gateRows(gates, 3)
	memory = elementwise.Contiguous(memory)
	onRows(lstmMemory, d, rows, size, write, keep, fresh, launch.RowOf(next, size), write, keep, fresh, launch.RowOf(memory, size))
	onRows(lstmState, d, rows, size, read, launch.RowOf(state, size), read, launch.RowOf(next, size))
	c.Give(state, next, gates)
}

func fusedLSTMCellBackward(c define.Call) {
	dState, dNext, memory, next, gates := c.OptionalTensor(0), c.OptionalTensor(1), c.Tensor(2), c.Tensor(3), c.Tensor(4)
	const name = "_thnn_fused_lstm_cell_backward_impl"
	checkFusedGates(name, gates, memory)
	d, rows, size := memory.DType(), memory.Size(0), memory.Size(1)
	likeMemory := func(t *tensor.Tensor) *tensor.Tensor {
		if t == nil {
			return define.Zeros(memory.Shape(), d)
		}
		checkSameType(d, t)
		source.Check(tensor.SameShape(t.Shape(), memory.Shape()), "%s expects gradients and memories of one shape, got %s and %s", name, define.ShapeText(t.Shape()), define.ShapeText(memory.Shape()))
		return elementwise.Contiguous(t)
	}
	dState, dNext, next = likeMemory(dState), likeMemory(dNext), likeMemory(next)
	memory, gates = elementwise.Contiguous(memory), elementwise.Contiguous(gates)
	dGates, dMemory := define.Empty(gates.Shape(), d), define.Empty(memory.Shape(), d)
	of := func(t *tensor.Tensor) launch.Row { return launch.RowOf(t, size) }
	onRows(lstmStateGradient, d, rows, size, gateRows(dGates, 3), of(dMemory), gateRows(gates, 3), of(next), of(dState), of(dNext))
	onRows(lstmWriteGradient, d, rows, size, gateRows(dGates, 0), gateRows(dGates, 2), gateRows(gates, 0), gateRows(gates, 2), of(dMemory))
	onRows(lstmKeepGradient, d, rows, size, gateRows(dGates, 1), of(dMemory), gateRows(gates, 1), of(memory), of(dMemory))
	var dBias *tensor.Tensor
	if c.Bool(5) {
		dBias = reduce.Sum(dGates, []int{0}, false, d)
	} else {
		dBias = define.Empty([]int{0}, d)
	}
	c.Give(dGates, dMemory, dBias)
}

// fusedLSTMGrad: a derivative that is recorded itself, or that a gradient of the gates reaches, is made of operators.
func fusedLSTMGrad(c define.Gradient) {
	grads, biased := c.Grads(), !c.IsNone(3)
	if c.Tape.Records() || grads[2] != nil {
		fusedLSTMGradByOperators(c, biased)
		return
	}
	optional := func(t define.Tensors) value.Value {
		if t == nil {
			return value.None
		}
		return value.OfTensor(t)
	}
	out := ops.DoAll(c.Tape, "_thnn_fused_lstm_cell_backward_impl", optional(grads[0]), optional(grads[1]), c.In(2), c.Out(1), c.Out(2), biased)
	giveFusedLSTM(c, out[0].Tensor(), out[1].Tensor(), out[2].Tensor(), biased)
}

func giveFusedLSTM(c define.Gradient, gates, memory, bias define.Tensors, biased bool) {
	c.Give(0, gates)
	c.Give(1, gates)
	c.Give(2, memory)
	if biased {
		c.Give(3, bias)
		c.Give(4, bias)
	}
}

func fusedLSTMGradByOperators(c define.Gradient, biased bool) {
	gates := func(t define.Tensors) []value.Value {
		return ops.DoAll(c.Tape, "chunk", t, lstmGates, 1)[0].List().Items
	}
	all, memory := gates(c.Out(2)), c.In(2)
	write, keep, fresh, read := all[0].Tensor(), all[1].Tensor(), all[2].Tensor(), all[3].Tensor()
	shown := c.Do("tanh", c.Out(1))
	oneMinusSquare := func(t define.Tensors) define.Tensors { return c.Plus(c.Neg(c.Square(t)), 1) }
	ofSigmoid := func(t define.Tensors) define.Tensors { return c.Mul(t, c.Plus(c.Neg(t), 1)) }
	dNext := c.Add(c.GradOf(1), c.Mul(c.Mul(c.GradOf(0), read), oneMinusSquare(shown)))
	parts := []define.Tensors{c.Mul(dNext, fresh), c.Mul(dNext, memory), c.Mul(dNext, write), c.Mul(c.GradOf(0), shown)}
	if c.Grads()[2] != nil {
		for i, g := range gates(c.GradOf(2)) {
			parts[i] = c.Add(parts[i], g.Tensor())
		}
	}
	dGates := c.Do("cat", []define.Tensors{c.Mul(parts[0], ofSigmoid(write)), c.Mul(parts[1], ofSigmoid(keep)), c.Mul(parts[2], oneMinusSquare(fresh)), c.Mul(parts[3], ofSigmoid(read))}, 1)
	var bias define.Tensors
	if biased {
		bias = c.Do("sum.dim_IntList", dGates, []int{0}, false)
	}
	giveFusedLSTM(c, dGates, c.Mul(dNext, keep), bias, biased)
}

// fusesLSTM reports whether a step of an LSTM is one operator: where the tape alone is to see what it is made of, and the operator computes it
// for gates of so many rows and columns, this memory and these other tensors.
func fusesLSTM(x define.Composer, rows, columns int, memory define.Tensors, others ...define.Tensors) bool {
	e, ok := x.Emitter.(interface{ IsTape() bool })
	if !ok || !e.IsTape() {
		return false
	}
	d := memory.DType()
	isPlain := func(t define.Tensors) bool {
		return t.DType() == d && t.Device().Type == tensor.CPU && !t.IsSparse() && !t.Dispatches()
	}
	if d != tensor.Float32 && d != tensor.Float64 || !isPlain(memory) || memory.Dim() != 2 || memory.Size(0) != rows || columns != lstmGates*memory.Size(1) {
		return false
	}
	return !slices.ContainsFunc(others, func(t define.Tensors) bool { return !isPlain(t) })
}

// fusesCell is fusesLSTM for the arguments of a cell and its states, which match; it has biases.
func fusesCell(x define.Composer, a []value.Value, state []define.Tensors) bool {
	if a[4].IsNone() || a[5].IsNone() {
		return false
	}
	input, weight, inputBias, hiddenBias := a[0].Tensor(), a[3].Tensor(), a[4].Tensor(), a[5].Tensor()
	return input.Dim() == 2 && state[0].Dim() == 2 && weight.Dim() == 2 && inputBias.Dim() == 1 && hiddenBias.Dim() == 1 &&
		inputBias.Size(0) == weight.Size(0) && hiddenBias.Size(0) == weight.Size(0) && tensor.SameShape(a[2].Tensor().Shape()[:1], weight.Shape()[:1]) &&
		fusesLSTM(x, input.Size(0), weight.Size(0), state[1], input, state[0], a[2].Tensor(), weight, inputBias, hiddenBias)
}

// fusedLSTM is a step of an LSTM as one operator; the biases may be None.
func fusedLSTM(x define.Composer, input, hidden, memory define.Tensors, inputBias, hiddenBias value.Value) []define.Tensors {
	out := ops.DoAll(x.Emitter, "_thnn_fused_lstm_cell", input, hidden, memory, inputBias, hiddenBias)
	return []define.Tensors{out[0].Tensor(), out[1].Tensor()}
}

var fusedCells = []define.Definition{
	define.Operator("_thnn_fused_lstm_cell", fusedLSTMCell).With(ops.Def{Reads: ops.ReadsNothing.And(2).AndResult(1).AndResult(2), Grad: define.Concrete(fusedLSTMGrad)}),
	define.Operator("_thnn_fused_lstm_cell_backward_impl", fusedLSTMCellBackward),
}

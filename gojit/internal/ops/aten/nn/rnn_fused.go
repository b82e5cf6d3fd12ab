package aten

import (
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// What is done to the gates of an LSTM cell element by element, as one operator with a derivative of its own: one node of the tape, which keeps the
// gates and the two memories. Its third result are the gates after their functions.

// Kernels have eight operands at most, so that a step has several.
var (
	gateSums = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		b.Output(b.Add(b.Input(in, computed), b.Input(in, computed)), in)
	}}
	gateSumsBiased = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		x, h, bx, bh := b.Input(in, computed), b.Input(in, computed), b.Input(in, computed), b.Input(in, computed)
		b.Output(b.Add(b.Add(x, bx), b.Add(h, bh)), in)
	}}
	// lstmMemory gives the gates that write, keep and make the memory, and the new memory, of their sums and the old one.
	lstmMemory = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		write, keep, fresh, memory := sigmoidOf(b, b.Input(in, computed)), sigmoidOf(b, b.Input(in, computed)), b.Unary(kernel.Tanh, b.Input(in, computed)), b.Input(in, computed)
		b.Output(write, in)
		b.Output(keep, in)
		b.Output(fresh, in)
		b.Output(b.Add(b.Mul(keep, memory), b.Mul(write, fresh)), in)
	}}
	// lstmState gives the gate that reads the memory, and the new state.
	lstmState = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		read, memory := sigmoidOf(b, b.Input(in, computed)), b.Input(in, computed)
		b.Output(read, in)
		b.Output(b.Mul(read, b.Unary(kernel.Tanh, memory)), in)
	}}
	// lstmStateGradient gives the gradients of the gate that reads and of the new memory, of that gate, the memory, and their gradients by state and memory.
	lstmStateGradient = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		read, memory, dState, dMemory := b.Input(in, computed), b.Unary(kernel.Tanh, b.Input(in, computed)), b.Input(in, computed), b.Input(in, computed)
		one := b.Number(read, 1)
		b.Output(b.Mul(b.Mul(dState, memory), b.Mul(read, b.Sub(one, read))), in)
		b.Output(b.Add(dMemory, b.Mul(b.Mul(dState, read), b.Sub(one, b.Mul(memory, memory)))), in)
	}}
	// lstmWriteGradient gives the gradients of the gates that write and make, of these and the gradient of the new memory.
	lstmWriteGradient = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		write, fresh, dMemory := b.Input(in, computed), b.Input(in, computed), b.Input(in, computed)
		one := b.Number(write, 1)
		b.Output(b.Mul(b.Mul(dMemory, fresh), b.Mul(write, b.Sub(one, write))), in)
		b.Output(b.Mul(b.Mul(dMemory, write), b.Sub(one, b.Mul(fresh, fresh))), in)
	}}
	// lstmKeepGradient gives the gradients of the gate that keeps and of the old memory, of these and the gradient of the new one.
	lstmKeepGradient = &rowKernel{build: func(b builder, in, computed tensor.DType) {
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
func (k *rowKernel) onRows(d tensor.DType, rows, n int, operands ...launch.Row) {
	k.program(d, d).ParallelRows(rows, n, operands, nil)
}

// checkFusedGates fails where a matrix does not have four gates for each element of a memory, in its type.
func checkFusedGates(name string, gates, memory *tensor.Tensor) {
	d := memory.DType()
	check(d == tensor.Float32 || d == tensor.Float64, "\"%s\" not implemented for '%s'", name, d.CppName())
	checkSameType(d, gates)
	check(memory.Dim() == 2 && gates.Dim() == 2 && gates.Size(0) == memory.Size(0) && gates.Size(1) == lstmGates*memory.Size(1),
		"%s expects gates of %d columns for each of a memory, got %s and %s", name, lstmGates, shapeText(gates.Shape()), shapeText(memory.Shape()))
}

func fusedLSTMCell(c call) {
	x, h, memory, bx, bh := c.tensor(0), c.tensor(1), c.tensor(2), c.optionalTensor(3), c.optionalTensor(4)
	checkFusedGates("_thnn_fused_lstm_cell", x, memory)
	checkFusedGates("_thnn_fused_lstm_cell", h, memory)
	check((bx == nil) == (bh == nil), "_thnn_fused_lstm_cell expects two biases or none")
	d, rows, size := memory.DType(), memory.Size(0), memory.Size(1)
	gates, next, state := empty(x.Shape(), d), empty(memory.Shape(), d), empty(memory.Shape(), d)
	if n := lstmGates * size; bx == nil {
		x, h = contiguous(x), contiguous(h)
		gateSums.onRows(d, rows, n, launch.RowOf(gates, n), launch.RowOf(x, n), launch.RowOf(h, n))
	} else {
		for _, b := range []*tensor.Tensor{bx, bh} {
			checkSameType(d, b)
			check(b.Dim() == 1 && b.Size(0) == n, "a bias of _thnn_fused_lstm_cell must have %d elements, got %s", n, shapeText(b.Shape()))
		}
		x, h, bx, bh = contiguous(x), contiguous(h), contiguous(bx), contiguous(bh)
		gateSumsBiased.onRows(d, rows, n, launch.RowOf(gates, n), launch.RowOf(x, n), launch.RowOf(h, n), sharedRow(bx), sharedRow(bh))
	}
	write, keep, fresh, read := gateRows(gates, 0), gateRows(gates, 1), gateRows(gates, 2), gateRows(gates, 3)
	memory = contiguous(memory)
	lstmMemory.onRows(d, rows, size, write, keep, fresh, launch.RowOf(next, size), write, keep, fresh, launch.RowOf(memory, size))
	lstmState.onRows(d, rows, size, read, launch.RowOf(state, size), read, launch.RowOf(next, size))
	c.give(state, next, gates)
}

func fusedLSTMCellBackward(c call) {
	dState, dNext, memory, next, gates := c.optionalTensor(0), c.optionalTensor(1), c.tensor(2), c.tensor(3), c.tensor(4)
	const name = "_thnn_fused_lstm_cell_backward_impl"
	checkFusedGates(name, gates, memory)
	d, rows, size := memory.DType(), memory.Size(0), memory.Size(1)
	likeMemory := func(t *tensor.Tensor) *tensor.Tensor {
		if t == nil {
			return zeros(memory.Shape(), d)
		}
		checkSameType(d, t)
		check(tensor.SameShape(t.Shape(), memory.Shape()), "%s expects gradients and memories of one shape, got %s and %s", name, shapeText(t.Shape()), shapeText(memory.Shape()))
		return contiguous(t)
	}
	dState, dNext, next = likeMemory(dState), likeMemory(dNext), likeMemory(next)
	memory, gates = contiguous(memory), contiguous(gates)
	dGates, dMemory := empty(gates.Shape(), d), empty(memory.Shape(), d)
	of := func(t *tensor.Tensor) launch.Row { return launch.RowOf(t, size) }
	lstmStateGradient.onRows(d, rows, size, gateRows(dGates, 3), of(dMemory), gateRows(gates, 3), of(next), of(dState), of(dNext))
	lstmWriteGradient.onRows(d, rows, size, gateRows(dGates, 0), gateRows(dGates, 2), gateRows(gates, 0), gateRows(gates, 2), of(dMemory))
	lstmKeepGradient.onRows(d, rows, size, gateRows(dGates, 1), of(dMemory), gateRows(gates, 1), of(memory), of(dMemory))
	var dBias *tensor.Tensor
	if c.bool(5) {
		dBias = sum(dGates, []int{0}, false, d)
	} else {
		dBias = empty([]int{0}, d)
	}
	c.give(dGates, dMemory, dBias)
}

// fusedLSTMGrad: a derivative that is recorded itself, or that a gradient of the gates reaches, is made of operators.
func fusedLSTMGrad(c gradient) {
	grads, biased := c.grads(), !c.isNone(3)
	if c.run.Records() || grads[2] != nil {
		fusedLSTMGradByOperators(c, biased)
		return
	}
	optional := func(t tensors) value.Value {
		if t == nil {
			return value.None
		}
		return value.OfTensor(t)
	}
	out := ops.DoAll(c.run, "_thnn_fused_lstm_cell_backward_impl", optional(grads[0]), optional(grads[1]), c.in(2), c.out(1), c.out(2), biased)
	giveFusedLSTM(c, out[0].Tensor(), out[1].Tensor(), out[2].Tensor(), biased)
}

func giveFusedLSTM(c gradient, gates, memory, bias tensors, biased bool) {
	c.give(0, gates)
	c.give(1, gates)
	c.give(2, memory)
	if biased {
		c.give(3, bias)
		c.give(4, bias)
	}
}

func fusedLSTMGradByOperators(c gradient, biased bool) {
	gates := func(t tensors) []value.Value { return ops.DoAll(c.run, "chunk", t, lstmGates, 1)[0].List().Items }
	all, memory := gates(c.out(2)), c.in(2)
	write, keep, fresh, read := all[0].Tensor(), all[1].Tensor(), all[2].Tensor(), all[3].Tensor()
	shown := c.do("tanh", c.out(1))
	oneMinusSquare := func(t tensors) tensors { return c.plus(c.neg(c.square(t)), 1) }
	ofSigmoid := func(t tensors) tensors { return c.mul(t, c.plus(c.neg(t), 1)) }
	dNext := c.add(c.gradOf(1), c.mul(c.mul(c.gradOf(0), read), oneMinusSquare(shown)))
	parts := []tensors{c.mul(dNext, fresh), c.mul(dNext, memory), c.mul(dNext, write), c.mul(c.gradOf(0), shown)}
	if c.grads()[2] != nil {
		for i, g := range gates(c.gradOf(2)) {
			parts[i] = c.add(parts[i], g.Tensor())
		}
	}
	dGates := c.do("cat", []tensors{c.mul(parts[0], ofSigmoid(write)), c.mul(parts[1], ofSigmoid(keep)), c.mul(parts[2], oneMinusSquare(fresh)), c.mul(parts[3], ofSigmoid(read))}, 1)
	var bias tensors
	if biased {
		bias = c.do("sum.dim_IntList", dGates, []int{0}, false)
	}
	giveFusedLSTM(c, dGates, c.mul(dNext, keep), bias, biased)
}

// fusesLSTM reports whether a step of an LSTM is one operator: where the tape alone is to see what it is made of, and the operator computes it
// for gates of so many rows and columns, this memory and these other tensors.
func (x composer) fusesLSTM(rows, columns int, memory tensors, others ...tensors) bool {
	e, ok := x.Emitter.(interface{ IsTape() bool })
	if !ok || !e.IsTape() {
		return false
	}
	d := memory.DType()
	isPlain := func(t tensors) bool {
		return t.DType() == d && t.Device().Type == tensor.CPU && !t.IsSparse() && !t.Dispatches()
	}
	if d != tensor.Float32 && d != tensor.Float64 || !isPlain(memory) || memory.Dim() != 2 || memory.Size(0) != rows || columns != lstmGates*memory.Size(1) {
		return false
	}
	return !slices.ContainsFunc(others, func(t tensors) bool { return !isPlain(t) })
}

// fusesCell is fusesLSTM for the arguments of a cell and its states, which match; it has biases.
func (x composer) fusesCell(a []value.Value, state []tensors) bool {
	if a[4].IsNone() || a[5].IsNone() {
		return false
	}
	input, weight, inputBias, hiddenBias := a[0].Tensor(), a[3].Tensor(), a[4].Tensor(), a[5].Tensor()
	return input.Dim() == 2 && state[0].Dim() == 2 && weight.Dim() == 2 && inputBias.Dim() == 1 && hiddenBias.Dim() == 1 &&
		inputBias.Size(0) == weight.Size(0) && hiddenBias.Size(0) == weight.Size(0) && tensor.SameShape(a[2].Tensor().Shape()[:1], weight.Shape()[:1]) &&
		x.fusesLSTM(input.Size(0), weight.Size(0), state[1], input, state[0], a[2].Tensor(), weight, inputBias, hiddenBias)
}

// fusedLSTM is a step of an LSTM as one operator; the biases may be None.
func (x composer) fusedLSTM(input, hidden, memory tensors, inputBias, hiddenBias value.Value) []tensors {
	out := ops.DoAll(x.Emitter, "_thnn_fused_lstm_cell", input, hidden, memory, inputBias, hiddenBias)
	return []tensors{out[0].Tensor(), out[1].Tensor()}
}

var fusedCells = []definition{
	define("_thnn_fused_lstm_cell", fusedLSTMCell).with(ops.Def{Reads: ops.ReadsNothing.And(2).AndResult(1).AndResult(2), Grad: concrete(fusedLSTMGrad)}),
	define("_thnn_fused_lstm_cell_backward_impl", fusedLSTMCellBackward),
}

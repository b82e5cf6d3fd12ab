package nn

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// cell is one step of a recurrent layer. Its kernel runs over rows of a batch. It gives the new memory
// where the cell has one, and the new state, and reads the gates of the input, those of the state where
// apart, and the old memory, or else the old state where apart.
type cell struct {
	gates  int  // parts of the weights
	apart  bool // gates of input and state are not just added
	memory bool // there is a second state
	step   reduce.RowKernel
}

var (
	plainTanh = cell{gates: 1, step: reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Output(b.Unary(kernel.Tanh, b.Input(in, computed)), in)
	}}}
	plainRelu = cell{gates: 1, step: reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		x := b.Input(in, computed)
		b.Output(b.Binary(kernel.Max, x, b.Number(x, 0)), in)
	}}}
	lstmCell = cell{gates: 4, memory: true, step: reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		write, keep, fresh, read, memory := elementwise.SigmoidOf(b, b.Input(in, computed)), elementwise.SigmoidOf(b, b.Input(in, computed)),
			b.Unary(kernel.Tanh, b.Input(in, computed)), elementwise.SigmoidOf(b, b.Input(in, computed)), b.Input(in, computed)
		memory = b.Add(b.Mul(keep, memory), b.Mul(write, fresh))
		b.Output(memory, in)
		b.Output(b.Mul(read, b.Unary(kernel.Tanh, memory)), in)
	}}}
	gruCell = cell{gates: 3, apart: true, step: reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		var x, h [3]elementwise.Element
		for i := range x {
			x[i] = b.Input(in, computed)
		}
		for i := range h {
			h[i] = b.Input(in, computed)
		}
		state := b.Input(in, computed)
		reset, keep := elementwise.SigmoidOf(b, b.Add(x[0], h[0])), elementwise.SigmoidOf(b, b.Add(x[1], h[1]))
		fresh := b.Unary(kernel.Tanh, b.Add(x[2], b.Mul(reset, h[2])))
		b.Output(b.Add(fresh, b.Mul(keep, b.Sub(state, fresh))), in)
	}}}
)

// cellType returns the type that cells of a type are computed in.
func cellType(d tensor.DType) tensor.DType {
	source.Check(d.IsDifferentiable(), "\"rnn\" not implemented for '%s'", d.CppName())
	return linalg.ProductType(d)
}

// stateOf returns a copy of a state that belongs to inputs of type d, for a layer to work on.
func stateOf(s *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	checkSameType(d, s)
	return source.Must(elementwise.To(s, cellType(d)).Clone(tensor.ContiguousFormat))
}

func checkSameType(d tensor.DType, t *tensor.Tensor) {
	if t.DType() != d {
		source.Raise(source.RuntimeError, "expected scalar type %s but found %s", d.CppName(), t.DType().CppName())
	}
}

// layer is one direction of a recurrent layer before it runs.
type layer struct {
	cell         *cell
	gates        *tensor.Tensor   // of the input, for all rows; gates of the state are added where not apart
	states       []*tensor.Tensor // of all layers, contiguous; they change
	weight, bias *tensor.Tensor   // of the state; bias is nil where gates have it or there is none
	project      *tensor.Tensor   // nil or P by size
	size         int              // of what the cell computes
	packed       PackedWeights    // nil: the layer packs its own
}

// newLayer multiplies the input with its weight. The parameters have type d, rows and states the type
// that cells of it are computed in.
func newLayer(kind *cell, d tensor.DType, rows *tensor.Tensor, states []*tensor.Tensor, wi, wh, bi, bh, wr *tensor.Tensor) *layer {
	source.Check(wh.Dim() == 2, "weight of a recurrent layer must be a matrix, got %s", define.ShapeText(wh.Shape()))
	l := &layer{cell: kind, states: states, size: wh.Size(0) / kind.gates}
	computed := func(t *tensor.Tensor) *tensor.Tensor {
		if t == nil {
			return nil
		}
		checkSameType(d, t)
		return elementwise.To(t, rows.DType())
	}
	if bh != nil && bh.Dim() == 1 && bh.Size(0) == 1 { // one number for all gates
		bh = source.Must(source.Must(bh.Expand(wh.Size(0))).Contiguous())
	}
	wi, l.weight, bi, l.bias, l.project = computed(wi), computed(wh), computed(bi), computed(bh), computed(wr)
	state := states[0]
	source.Check(wi.Dim() == 2 && wi.Size(0) == wh.Size(0) && wh.Size(0) == kind.gates*l.size, "weights of a recurrent layer have shapes %s and %s", define.ShapeText(wi.Shape()), define.ShapeText(wh.Shape()))
	source.Check(bh == nil || bh.Dim() == 1 && bh.Size(0) == wh.Size(0), "a bias of a recurrent layer must have %d elements", wh.Size(0))
	if p := state.Size(state.Dim() - 1); p != wh.Size(1) {
		source.Raise(source.RuntimeError, "mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", state.Size(state.Dim()-2), p, wh.Size(1), wh.Size(0))
	}
	if wr == nil {
		source.Check(wh.Size(1) == l.size, "a state of %d elements is given, but a cell computes %d", wh.Size(1), l.size)
	} else {
		source.Check(wr.Dim() == 2 && wr.Size(0) == wh.Size(1) && wr.Size(1) == l.size, "a projection of a recurrent layer has shape %s", define.ShapeText(wr.Shape()))
	}
	for _, s := range states[1:] {
		source.Check(s.Dim() == state.Dim() && s.Size(s.Dim()-1) == l.size && s.Size(s.Dim()-2) == state.Size(state.Dim()-2), "states of a recurrent layer have shapes %s and %s", define.ShapeText(state.Shape()), define.ShapeText(s.Shape()))
	}
	if !kind.apart && bi != nil && l.bias != nil {
		bi, l.bias = elementwise.Add.On(bi, l.bias), nil
		defer bi.Release()
	}
	l.gates = linalg.Linear(rows, wi, bi)
	return l
}

// run goes through the steps, of which step t has the first sizes[t] rows of the batch, and leaves the
// states after the last one in those of number i. out, nil for none, receives the state after every
// step from a column on.
func (l *layer) run(i int, sizes []int, out *tensor.Tensor, column int, backwards bool) {
	switch l.gates.DType() {
	case tensor.Float32:
		runLayer[float32](l, i, sizes, out, column, backwards)
	case tensor.Float64:
		runLayer[float64](l, i, sizes, out, column, backwards)
	case tensor.Complex64:
		runLayer[complex64](l, i, sizes, out, column, backwards)
	case tensor.Complex128:
		runLayer[complex128](l, i, sizes, out, column, backwards)
	default:
		source.Raise(source.RuntimeError, "recurrent layers are not implemented for '%s'", l.gates.DType().CppName())
	}
	l.gates.Release()
}

// productElement is what products are computed with.
type productElement interface {
	gemm.Number
	tensor.Element
}

// packedSteps is how many steps are worth packing the weights for.
const packedSteps = 8

// pass is a run over the steps of a layer.
type pass[T productElement] struct {
	*layer
	program             *launch.Program
	weight, project     gemm.Weights[T]
	sweep, projectSweep gemm.Sweep // of the products of the steps through these

	gates, apart  gemm.Matrix[T] // of the input, or of both; of the state
	bias          []T
	state, memory gemm.Matrix[T]
	computed      gemm.Matrix[T] // what the cell computes: the state, or what is projected to it
	operands      [8]launch.Row
	count         int // of them
	inputs        int // the first of them that is an input
}

func runLayer[T productElement](l *layer, i int, sizes []int, out *tensor.Tensor, column int, backwards bool) {
	batch, total := l.states[0].Size(l.states[0].Dim()-2), 0
	for _, n := range sizes {
		source.Check(n >= 0 && n <= batch, "a step of %d rows in a batch of %d", n, batch)
		total += n
	}
	source.Check(total == l.gates.Size(0), "Expected %d rows of input, got %d", total, l.gates.Size(0))
	if l.size == 0 || total == 0 {
		return
	}
	p := pass[T]{layer: l, program: l.cell.step.Program(l.gates.DType(), l.gates.DType())}
	var rooms [2]*tensor.Tensor
	if w, ok := any(&p.weight).(*gemm.Weights[float32]); ok && l.packed != nil {
		*w = *l.packed(l.weight, batch)
	} else {
		p.weight, rooms[0] = weightsOf[T](l.weight, batch, len(sizes))
	}
	if l.project != nil {
		p.project, rooms[1] = weightsOf[T](l.project, batch, len(sizes))
	}
	if l.bias != nil {
		p.bias = tensor.Data[T](elementwise.Contiguous(l.bias))
	}
	p.bind(i, batch)
	var results gemm.Matrix[T]
	if out != nil {
		results = gemm.Matrix[T]{Data: tensor.Data[T](out)[column:], Stride: out.Size(1)}
	}
	first, end := 0, total
	for t := range sizes {
		n := sizes[t]
		if backwards {
			n = sizes[len(sizes)-1-t]
			first = end - n
		}
		if n > 0 {
			p.step(first, n)
			copyRows(results, first, p.state, n, l.weight.Size(1))
		}
		first, end = first+n, end-n
	}
	for _, room := range rooms {
		if room != nil {
			room.Release()
		}
	}
}

// weightsOf prepares the transposed weight for steps of a batch, in memory that is returned too.
func weightsOf[T productElement](weight *tensor.Tensor, batch, steps int) (gemm.Weights[T], *tensor.Tensor) {
	var m gemm.Matrix[T]
	linalg.SetMatrix(&m, linalg.Compact(source.Must(weight.T())))
	k, n := weight.Size(1), weight.Size(0)
	if steps < packedSteps {
		return gemm.PackWeights(m, k, n, batch, nil), nil
	}
	room := define.Empty([]int{gemm.PackedSize[T](k, n)}, weight.DType())
	return gemm.PackWeights(m, k, n, batch, tensor.Data[T](room)), room
}

// bind lays out the operands of the cell's kernel, those of the gates for row 0.
func (p *pass[T]) bind(i, batch int) {
	l, columns := p.layer, p.cell.gates*p.size
	p.gates = gemm.Matrix[T]{Data: tensor.Data[T](l.gates), Stride: columns}
	stateOf := func(k int) gemm.Matrix[T] {
		n := l.states[k].Size(l.states[k].Dim() - 1)
		return gemm.Matrix[T]{Data: tensor.Data[T](l.states[k])[i*batch*n:], Stride: n}
	}
	p.state = stateOf(0)
	p.computed = p.state
	if l.project != nil {
		p.computed = gemm.Matrix[T]{Data: make([]T, batch*p.size), Stride: p.size}
	}
	if p.cell.memory {
		p.memory = stateOf(1)
		p.operand(p.memory, 0)
	}
	p.operand(p.computed, 0)
	p.inputs = p.count
	for g := range p.cell.gates {
		p.operand(p.gates, g*p.size)
	}
	if p.cell.apart {
		p.apart = gemm.Matrix[T]{Data: make([]T, batch*columns), Stride: columns}
		for g := range p.cell.gates {
			p.operand(p.apart, g*p.size)
		}
		p.operand(p.state, 0)
	}
	if p.cell.memory {
		p.operand(p.memory, 0)
	}
}

func (p *pass[T]) operand(m gemm.Matrix[T], column int) {
	p.operands[p.count] = launch.Row{Ptr: unsafe.Pointer(&m.Data[column]), Step: m.Stride * int(unsafe.Sizeof(*new(T)))}
	p.count++
}

// step computes the states of the first n rows of the batch from the gates from row first on.
func (p *pass[T]) step(first, n int) {
	gates := p.gates
	gates.Data = gates.Data[first*gates.Stride:]
	if p.cell.apart {
		p.weight.Multiply(n, p.state, p.apart, false, p.bias, &p.sweep)
	} else {
		p.weight.Multiply(n, p.state, gates, true, p.bias, &p.sweep)
	}
	for g := range p.cell.gates {
		p.operands[p.inputs+g].Ptr = unsafe.Pointer(&gates.Data[g*p.size])
	}
	p.program.ParallelRows(n, p.size, p.operands[:p.count], nil)
	if p.layer.project != nil {
		p.project.Multiply(n, p.computed, p.state, false, nil, &p.projectSweep)
	}
}

// copyRows copies n rows to those of dst from row first on, where dst has data.
func copyRows[T productElement](dst gemm.Matrix[T], first int, src gemm.Matrix[T], n, columns int) {
	if dst.Data == nil {
		return
	}
	for r := range n {
		copy(dst.Data[(first+r)*dst.Stride:][:columns], src.Data[r*src.Stride:])
	}
}

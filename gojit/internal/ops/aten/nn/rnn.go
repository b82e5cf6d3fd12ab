package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// recurrent describes a stack of recurrent layers.
type recurrent struct {
	cell                 *cell
	params               []*tensor.Tensor
	biases               bool
	layers               int
	dropout              float64
	train, bidirectional bool
	projected            bool // the hidden state is projected by a further weight
	packed               PackedWeights
}

// PackedWeights gives the transposition of a matrix packed for products with a number of rows, which whoever brings it keeps for later calls.
type PackedWeights func(weight *tensor.Tensor, rows int) *dense.Weights[float32]

// RunRecurrent runs aten::lstm.input or aten::gru.input, without an autocast or the tape, with weights that others pack. out has a place for each result.
func RunRecurrent(name string, args, out []value.Value, packed PackedWeights) (err error) {
	defer source.Catch(&err)
	c := call{args: args, out: out}
	if name == "aten::lstm.input" {
		hx := c.tensors(1)
		r := lstmSettings(c, 2, hx)
		r.packed = packed
		y, last := r.runInput(c.tensor(0), hx, c.bool(8))
		c.give(y, last[0], last[1])
		return nil
	}
	r := settings(c, &gruCell, 2)
	r.packed = packed
	y, last := r.runInput(c.tensor(0), []*tensor.Tensor{c.tensor(1)}, c.bool(8))
	c.give(y, last[0])
	return nil
}

// weights returns the parameters of one direction of a layer: w_ih, w_hh, b_ih, b_hh, w_hr.
func (r *recurrent) weights(i int) (wi, wh, bi, bh, wr *tensor.Tensor) {
	n := 2
	if r.biases {
		n = 4
	}
	if r.projected {
		n++
	}
	check((i+1)*n <= len(r.params), "got an incorrect number of RNN parameters")
	p := r.params[i*n : (i+1)*n]
	if r.biases {
		bi, bh = p[2], p[3]
	}
	if r.projected {
		wr = p[n-1]
	}
	return p[0], p[1], bi, bh, wr
}

// run processes a sequence whose step t has the first sizes[t] rows of a batch; rows holds the
// steps one after the other. states holds each state for all layers and directions.
func (r *recurrent) run(rows *tensor.Tensor, sizes []int, states []*tensor.Tensor) (out *tensor.Tensor, last []*tensor.Tensor) {
	checkLayers(r.layers)
	directions := 1
	if r.bidirectional {
		directions = 2
	}
	d, work := rows.DType(), cellType(rows.DType())
	rows = to(rows, work)
	for _, s := range states {
		check(s.Dim() == 3 && s.Size(0) == r.layers*directions, "Expected hidden size (%d, ...), got %s", r.layers*directions, shapeText(s.Shape()))
		last = append(last, stateOf(s, d))
	}
	for layer := range r.layers {
		size := states[0].Size(2)
		out = empty([]int{rows.Size(0), directions * size}, work)
		for i := range directions {
			wi, wh, bi, bh, wr := r.weights(layer*directions + i)
			l := newLayer(r.cell, d, rows, last, wi, wh, bi, bh, wr)
			l.packed = r.packed
			l.run(layer*directions+i, sizes, out, i*size, i == 1)
		}
		if layer > 0 {
			rows.Release()
		}
		rows = out
		if r.dropout > 0 && r.train && layer+1 < r.layers {
			rows = dropout(rows, r.dropout, true)
		}
	}
	for k := range last {
		last[k] = to(last[k], d)
	}
	return to(out, d), last
}

// runInput runs a padded sequence (time, batch, features), or (batch, time, features).
func (r *recurrent) runInput(x *tensor.Tensor, states []*tensor.Tensor, batchFirst bool) (*tensor.Tensor, []*tensor.Tensor) {
	check(x.Dim() == 3, "input must have 3 dimensions, got %d", x.Dim())
	if batchFirst {
		x = must(x.Transpose(0, 1))
	}
	steps, batch := x.Size(0), x.Size(1)
	check(steps > 0, "Expected sequence length to be larger than 0 in RNN")
	sizes := make([]int, steps)
	for i := range sizes {
		sizes[i] = batch
	}
	out, last := r.run(must(x.Reshape(steps*batch, x.Size(2))), sizes, states)
	out = must(out.View(steps, batch, -1))
	if batchFirst {
		out = must(out.Transpose(0, 1))
	}
	return out, last
}

// runData runs a packed sequence.
func (r *recurrent) runData(data, batchSizes *tensor.Tensor, states []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) {
	check(batchSizes.Dim() == 1, "batch_sizes tensor should be 1D, but got %dD", batchSizes.Dim())
	return r.run(data, integersOf(batchSizes), states)
}

func checkLayers(n int) {
	check(n > 0, "a recurrent operator needs a layer at least, but num_layers is %d", n)
}

// settings reads has_biases, num_layers, dropout, train and bidirectional from argument i on, after the parameters.
func settings(c call, kind *cell, i int) *recurrent {
	return &recurrent{cell: kind, params: c.tensors(i), biases: c.bool(i + 1), layers: c.int(i + 2), dropout: c.float(i + 3), train: c.bool(i + 4), bidirectional: c.bool(i + 5)}
}

func lstmSettings(c call, i int, hx []*tensor.Tensor) *recurrent {
	check(len(hx) == 2, "lstm expects two hidden states")
	for _, h := range hx {
		check(h.Dim() == 3, "lstm expects hidden states of 3 dimensions, but got %d", h.Dim())
	}
	r := settings(c, &lstmCell, i)
	r.projected = hx[0].Size(2) != hx[1].Size(2)
	return r
}

// layers defines the two overloads of a layer with one state.
func layers(name string, kind *cell) []definition {
	return []definition{
		define(name+".input", func(c call) {
			out, last := settings(c, kind, 2).runInput(c.tensor(0), []*tensor.Tensor{c.tensor(1)}, c.bool(8))
			c.give(out, last[0])
		}),
		define(name+".data", func(c call) {
			out, last := settings(c, kind, 3).runData(c.tensor(0), c.tensor(1), []*tensor.Tensor{c.tensor(2)})
			c.give(out, last[0])
		}),
	}
}

// oneCell runs a single step.
func oneCell(c call, kind *cell, state []*tensor.Tensor) []*tensor.Tensor {
	x := c.tensor(0)
	check(x.Dim() == 2 && state[0].Dim() == 2, "a recurrent cell expects an input and states of 2 dimensions, got %s and %s", shapeText(x.Shape()), shapeText(state[0].Shape()))
	d, rows := x.DType(), x.Size(0)
	check(d.IsFloating() || d == tensor.Complex64 || d == tensor.Complex128, "\"addmm_impl_cpu_\" not implemented for '%s'", d.CppName())
	states := make([]*tensor.Tensor, len(state))
	for k, s := range state {
		states[k] = stateOf(s, d)
	}
	l := newLayer(kind, d, to(x, cellType(d)), states, c.tensor(2), c.tensor(3), c.optionalTensor(4), c.optionalTensor(5), nil)
	l.run(0, []int{rows}, nil, 0, false)
	for k := range states {
		states[k] = to(states[k], d)
	}
	return states
}

func oneCellOf(name string, kind *cell) definition {
	return giving(name, func(c call) *tensor.Tensor { return oneCell(c, kind, []*tensor.Tensor{c.tensor(1)})[0] })
}

// packPadded puts the steps of padded sequences, longest first, one after the other.
func packPadded(c call) {
	given := c.tensor(1)
	check(given.Dim() == 1 && given.DType() == tensor.Int64, "'lengths' argument should be a 1D CPU int64 tensor, but got %dD cpu %s tensor", given.Dim(), given.DType().CppName())
	x, lengths := c.tensor(0), integersOf(given)
	check(x.Dim() >= 2, "_pack_padded_sequence expects an input of at least 2 dimensions, but got %s", shapeText(x.Shape()))
	check(len(lengths) > 0, "Expected `lengths` to have at least one element")
	if c.bool(2) {
		x = must(x.Transpose(0, 1))
	}
	check(len(lengths) == x.Size(1), "Expected `len(lengths)` to be equal to batch_size, but got %d (batch_size=%d)", len(lengths), x.Size(1))
	check(lengths[len(lengths)-1] > 0, "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
	for i, n := range lengths {
		check(i == 0 || n <= lengths[i-1], "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
	}
	check(lengths[0] <= x.Size(0), "Expected `lengths` to be at most %d, but got %d", x.Size(0), lengths[0])
	var steps []*tensor.Tensor
	sizes := empty([]int{lengths[0]}, tensor.Int64)
	n := len(lengths)
	for t := range lengths[0] {
		for n > 0 && lengths[n-1] <= t {
			n--
		}
		tensor.Data[int64](sizes)[t] = int64(n)
		steps = append(steps, must(must(x.Select(0, t)).Slice(0, 0, n, 1)))
	}
	c.give(concat(steps, 0), sizes)
}

// padPacked undoes packPadded.
func padPacked(c call) {
	data, sizes := c.tensor(0), integersOf(c.tensor(1))
	steps := len(sizes)
	check(steps > 0 && data.Dim() > 0, "_pad_packed_sequence expects at least one batch size and data of at least one dimension")
	total := 0
	for i, n := range sizes {
		check(n > 0 && n <= sizes[0] && (i == 0 || n <= sizes[i-1]), "batch sizes must be positive and not grow, but got %d at step %d", n, i)
		total += n
	}
	check(total <= data.Size(0), "batch sizes add up to %d, but data has %d rows", total, data.Size(0))
	if total := c.int(4); total > 0 {
		if total < steps {
			raise(source.RuntimeError, "Expected total_length to be at least the length of the longest sequence in input, but got total_length=%d and max sequence length being %d", total, steps)
		}
		steps = total
	}
	batch := sizes[0]
	shape := append([]int{steps, batch}, data.Shape()[1:]...)
	out := must(tensor.Full(shape, c.scalar(3), data.DType()))
	lengths := zeros([]int{batch}, tensor.Int64)
	start := 0
	for t, n := range sizes {
		succeed(tensor.Copy(must(must(out.Select(0, t)).Slice(0, 0, n, 1)), must(data.Slice(0, start, start+n, 1))))
		start += n
		for b := range n {
			tensor.Data[int64](lengths)[b]++
		}
	}
	if c.bool(2) {
		out = must(out.Transpose(0, 1))
	}
	c.give(out, lengths)
}

var rnnFamily = append([]definition{
	define("lstm.input", func(c call) {
		hx := c.tensors(1)
		out, last := lstmSettings(c, 2, hx).runInput(c.tensor(0), hx, c.bool(8))
		c.give(out, last[0], last[1])
	}).with(ops.Def{Decomp: composeRecurrent(4)}),
	define("lstm.data", func(c call) {
		hx := c.tensors(2)
		out, last := lstmSettings(c, 3, hx).runData(c.tensor(0), c.tensor(1), hx)
		c.give(out, last[0], last[1])
	}).with(ops.Def{Decomp: recurrentPacked(4)}),
	define("lstm_cell", func(c call) {
		hx := c.tensors(1)
		check(len(hx) == 2, "lstm_cell expects two hidden states")
		c.give(oneCell(c, &lstmCell, hx)...)
	}).with(ops.Def{Decomp: composeCell(4)}).checked(checkCell),
	oneCellOf("gru_cell", &gruCell).with(ops.Def{Decomp: composeCell(3)}).checked(checkCell),
	oneCellOf("rnn_tanh_cell", &plainTanh).with(ops.Def{Decomp: composeCell(1)}).checked(checkCell),
	oneCellOf("rnn_relu_cell", &plainRelu).with(ops.Def{Decomp: composeCell(0)}).checked(checkCell),
	define("_pack_padded_sequence", packPadded).with(ops.Def{Grad: concrete(func(c gradient) { c.moved("_pack_padded_sequence") }), Tags: ops.AsWritten}),
	define("_pad_packed_sequence", padPacked).with(ops.Def{Grad: concrete(func(c gradient) {
		rest := slices.Clone(c.args())
		rest[3] = value.Float(0)
		c.movedWith("_pad_packed_sequence", rest)
	}), Tags: ops.AsWritten}),
}, slices.Concat(layers("gru", &gruCell), layers("rnn_tanh", &plainTanh), layers("rnn_relu", &plainRelu), fusedCells)...)

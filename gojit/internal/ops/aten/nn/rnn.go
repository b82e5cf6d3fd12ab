package nn

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/random"
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
type PackedWeights func(weight *tensor.Tensor, rows int) *gemm.Weights[float32]

// RunRecurrent runs aten::lstm.input or aten::gru.input, without an autocast or the tape, with weights that others pack. out has a place for each result.
func RunRecurrent(name string, args, out []value.Value, packed PackedWeights) (err error) {
	defer source.Catch(&err)
	c := define.Call{Args: args, Out: out}
	if name == "aten::lstm.input" {
		hx := c.Tensors(1)
		r := lstmSettings(c, 2, hx)
		r.packed = packed
		y, last := r.runInput(c.Tensor(0), hx, c.Bool(8))
		c.Give(y, last[0], last[1])
		return nil
	}
	r := settings(c, &gruCell, 2)
	r.packed = packed
	y, last := r.runInput(c.Tensor(0), []*tensor.Tensor{c.Tensor(1)}, c.Bool(8))
	c.Give(y, last[0])
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
	source.Check((i+1)*n <= len(r.params), "got an incorrect number of RNN parameters")
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
	rows = elementwise.To(rows, work)
	for _, s := range states {
		source.Check(s.Dim() == 3 && s.Size(0) == r.layers*directions, "Expected hidden size (%d, ...), got %s", r.layers*directions, define.ShapeText(s.Shape()))
		last = append(last, stateOf(s, d))
	}
	for layer := range r.layers {
		size := states[0].Size(2)
		out = define.Empty([]int{rows.Size(0), directions * size}, work)
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
			rows = random.Dropout(rows, r.dropout, true)
		}
	}
	for k := range last {
		last[k] = elementwise.To(last[k], d)
	}
	return elementwise.To(out, d), last
}

// runInput runs a padded sequence (time, batch, features), or (batch, time, features).
func (r *recurrent) runInput(x *tensor.Tensor, states []*tensor.Tensor, batchFirst bool) (*tensor.Tensor, []*tensor.Tensor) {
	source.Check(x.Dim() == 3, "input must have 3 dimensions, got %d", x.Dim())
	if batchFirst {
		x = source.Must(x.Transpose(0, 1))
	}
	steps, batch := x.Size(0), x.Size(1)
	source.Check(steps > 0, "Expected sequence length to be larger than 0 in RNN")
	sizes := make([]int, steps)
	for i := range sizes {
		sizes[i] = batch
	}
	out, last := r.run(source.Must(x.Reshape(steps*batch, x.Size(2))), sizes, states)
	out = source.Must(out.View(steps, batch, -1))
	if batchFirst {
		out = source.Must(out.Transpose(0, 1))
	}
	return out, last
}

// runData runs a packed sequence.
func (r *recurrent) runData(data, batchSizes *tensor.Tensor, states []*tensor.Tensor) (*tensor.Tensor, []*tensor.Tensor) {
	return r.run(data, elementwise.IntegersOf(batchSizes), states)
}

func checkLayers(n int) {
	source.Check(n > 0, "a recurrent operator needs a layer at least, but num_layers is %d", n)
}

// settings reads has_biases, num_layers, dropout, train and bidirectional from argument i on, after the parameters.
func settings(c define.Call, kind *cell, i int) *recurrent {
	return &recurrent{cell: kind, params: c.Tensors(i), biases: c.Bool(i + 1), layers: c.Int(i + 2), dropout: c.Float(i + 3), train: c.Bool(i + 4), bidirectional: c.Bool(i + 5)}
}

func lstmSettings(c define.Call, i int, hx []*tensor.Tensor) *recurrent {
	source.Check(len(hx) == 2, "lstm expects two hidden states")
	for _, h := range hx {
		source.Check(h.Dim() == 3, "lstm expects hidden states of 3 dimensions, but got %d", h.Dim())
	}
	r := settings(c, &lstmCell, i)
	r.projected = hx[0].Size(2) != hx[1].Size(2)
	return r
}

// layers defines the two overloads of a layer with one state.
func layers(name string, kind *cell) []define.Definition {
	return []define.Definition{
		define.Operator(name+".input", func(c define.Call) {
			out, last := settings(c, kind, 2).runInput(c.Tensor(0), []*tensor.Tensor{c.Tensor(1)}, c.Bool(8))
			c.Give(out, last[0])
		}),
		define.Operator(name+".data", func(c define.Call) {
			out, last := settings(c, kind, 3).runData(c.Tensor(0), c.Tensor(1), []*tensor.Tensor{c.Tensor(2)})
			c.Give(out, last[0])
		}).With(ops.Def{Tags: ops.MovesDevice}).Checked(checkPacked),
	}
}

// oneCell runs a single step: in one pass where the arguments are matrices that fit, as what it is made of where they have to be broadcast.
func oneCell(c define.Call, kind *cell, gates int, state []*tensor.Tensor) {
	if !fitsCell(c, kind, state) {
		run := &define.Plainly{}
		copy(c.Out, composeCell(gates)(run, c.Args))
		run.GiveUp(c.Out)
		return
	}
	x := c.Tensor(0)
	d, rows := x.DType(), x.Size(0)
	states := make([]*tensor.Tensor, len(state))
	for k, s := range state {
		states[k] = stateOf(s, d)
	}
	l := newLayer(kind, d, elementwise.To(x, cellType(d)), states, c.Tensor(2), c.Tensor(3), c.OptionalTensor(4), c.OptionalTensor(5), nil)
	l.run(0, []int{rows}, nil, 0, false)
	for k := range states {
		states[k] = elementwise.To(states[k], d)
	}
	c.Give(states...)
}

// fitsCell reports whether the arguments of a cell are matrices of one type whose sizes are those of a layer, with vectors of biases or none.
func fitsCell(c define.Call, kind *cell, state []*tensor.Tensor) bool {
	x, wi, wh := c.Tensor(0), c.Tensor(2), c.Tensor(3)
	d := x.DType()
	if kind.memory && len(state) != 2 || x.Dim() != 2 || wi.Dim() != 2 || wh.Dim() != 2 || !d.IsDifferentiable() || wi.DType() != d || wh.DType() != d {
		return false
	}
	size := wh.Size(1)
	if wh.Size(0) != kind.gates*size || wi.Size(0) != wh.Size(0) || wi.Size(1) != x.Size(1) {
		return false
	}
	for _, s := range state {
		if s.Dim() != 2 || s.DType() != d || s.Size(0) != x.Size(0) || s.Size(1) != size {
			return false
		}
	}
	for i := 4; i < 6; i++ {
		if b := c.OptionalTensor(i); b != nil && (b.Dim() != 1 || b.DType() != d || b.Size(0) != wh.Size(0)) {
			return false
		}
	}
	return true
}

func oneCellOf(name string, kind *cell, gates int) define.Definition {
	return define.Operator(name, func(c define.Call) { oneCell(c, kind, gates, []*tensor.Tensor{c.Tensor(1)}) }).With(ops.Def{Decomp: composeCell(gates)}).Checked(checkCell)
}

// packPadded puts the steps of padded sequences, longest first, one after the other.
func packPadded(c define.Call) {
	given := c.Tensor(1)
	source.Check(given.Dim() == 1 && given.DType() == tensor.Int64 && !given.OnDevice(), "'lengths' argument should be a 1D CPU int64 tensor, but got %dD %s %s tensor", given.Dim(), tensor.NewDevice(given.Device().Type, -1), given.DType().CppName())
	x, lengths := c.Tensor(0), elementwise.IntegersOf(given)
	source.Check(x.Dim() >= 2, "_pack_padded_sequence expects an input of at least 2 dimensions, but got %s", define.ShapeText(x.Shape()))
	source.Check(len(lengths) > 0, "Expected `lengths` to have at least one element")
	if c.Bool(2) {
		x = source.Must(x.Transpose(0, 1))
	}
	source.Check(len(lengths) == x.Size(1), "Expected `len(lengths)` to be equal to batch_size, but got %d (batch_size=%d)", len(lengths), x.Size(1))
	source.Check(lengths[len(lengths)-1] > 0, "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
	for i, n := range lengths {
		source.Check(i == 0 || n <= lengths[i-1], "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability.")
	}
	source.Check(lengths[0] <= x.Size(0), "Expected `lengths` to be at most %d, but got %d", x.Size(0), lengths[0])
	var steps []*tensor.Tensor
	sizes := define.Empty([]int{lengths[0]}, tensor.Int64)
	n := len(lengths)
	for t := range lengths[0] {
		for n > 0 && lengths[n-1] <= t {
			n--
		}
		tensor.Data[int64](sizes)[t] = int64(n)
		steps = append(steps, source.Must(source.Must(x.Select(0, t)).Slice(0, 0, n, 1)))
	}
	c.Give(elementwise.Concat(steps, 0), sizes)
}

// padPacked undoes packPadded.
func padPacked(c define.Call) {
	data, sizes := c.Tensor(0), elementwise.IntegersOf(c.Tensor(1))
	steps := len(sizes)
	source.Check(steps > 0 && data.Dim() > 0, "_pad_packed_sequence expects at least one batch size and data of at least one dimension")
	total := 0
	for i, n := range sizes {
		source.Check(n > 0 && n <= sizes[0] && (i == 0 || n <= sizes[i-1]), "batch sizes must be positive and not grow, but got %d at step %d", n, i)
		total += n
	}
	source.Check(total <= data.Size(0), "batch sizes add up to %d, but data has %d rows", total, data.Size(0))
	if total := c.Int(4); total > 0 {
		if total < steps {
			source.Raise(source.RuntimeError, "Expected total_length to be at least the length of the longest sequence in input, but got total_length=%d and max sequence length being %d", total, steps)
		}
		steps = total
	}
	batch := sizes[0]
	shape := append([]int{steps, batch}, data.Shape()[1:]...)
	out := define.FullBeside(data, shape, c.Scalar(3), data.DType())
	lengths := define.Zeros([]int{batch}, tensor.Int64)
	start := 0
	for t, n := range sizes {
		source.Throw(tensor.Copy(source.Must(source.Must(out.Select(0, t)).Slice(0, 0, n, 1)), source.Must(data.Slice(0, start, start+n, 1))))
		start += n
		for b := range n {
			tensor.Data[int64](lengths)[b]++
		}
	}
	if c.Bool(2) {
		out = source.Must(out.Transpose(0, 1))
	}
	c.Give(out, lengths)
}

var RnnFamily = append([]define.Definition{
	define.Operator("lstm.input", func(c define.Call) {
		hx := c.Tensors(1)
		out, last := lstmSettings(c, 2, hx).runInput(c.Tensor(0), hx, c.Bool(8))
		c.Give(out, last[0], last[1])
	}).With(ops.Def{Decomp: composeRecurrent(4)}),
	define.Operator("lstm.data", func(c define.Call) {
		hx := c.Tensors(2)
		out, last := lstmSettings(c, 3, hx).runData(c.Tensor(0), c.Tensor(1), hx)
		c.Give(out, last[0], last[1])
	}).With(ops.Def{Decomp: recurrentPacked(4), Tags: ops.MovesDevice}).Checked(checkPacked),
	define.Operator("lstm_cell", func(c define.Call) {
		oneCell(c, &lstmCell, lstmGates, c.Tensors(1))
	}).With(ops.Def{Decomp: composeCell(lstmGates)}).Checked(checkCell),
	oneCellOf("gru_cell", &gruCell, gruGates),
	oneCellOf("rnn_tanh_cell", &plainTanh, tanhGates),
	oneCellOf("rnn_relu_cell", &plainRelu, reluGates),
	define.Operator("_pack_padded_sequence", packPadded).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Moved("_pack_padded_sequence") }), Tags: ops.AsWritten | ops.MovesDevice}),
	define.Operator("_pad_packed_sequence", padPacked).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		rest := slices.Clone(c.Args())
		rest[3] = value.Float(0)
		c.MovedWith("_pad_packed_sequence", rest)
	}), Tags: ops.AsWritten | ops.MovesDevice}),
}, slices.Concat(layers("gru", &gruCell), layers("rnn_tanh", &plainTanh), layers("rnn_relu", &plainRelu), fusedCells)...)

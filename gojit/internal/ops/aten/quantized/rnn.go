package quantized

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/random"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// cellParams is what quantized::make_quantized_cell_params_dynamic makes: the two products of a recurrent cell, each with its bias.
type cellParams struct {
	kind        string // of the state in archives
	ih, hh      *packedLinear
	reduceRange bool
}

const (
	cellParamsKind = "rnn.CellParamsBase"
	dynamicCell    = "quantized_dynamic"
	halfCell       = "quantized_fp16"
)

// State is what archives hold: the kind, tensors, numbers and the packed weights.
func (p *cellParams) State() value.Value {
	biases, flags := value.NewList(types.Tensor), value.NewList(types.Int)
	if p.kind == dynamicCell {
		for _, w := range [2]*packedLinear{p.ih, p.hh} {
			bias := w.bias
			if bias == nil {
				bias = define.Empty([]int{0}, tensor.Float32)
			}
			biases.Items = append(biases.Items, value.OfTensor(bias))
		}
		flags.Items = append(flags.Items, value.Int(int64(boolAsInt(p.reduceRange))))
	}
	linear := types.NativeClass(types.NativePrefix + PackedLinearKind)
	weights := value.NewList(linear)
	for _, w := range [2]*packedLinear{p.ih, p.hh} {
		weights.Items = append(weights.Items, value.OfCapsule(&value.Capsule{Kind: PackedLinearKind, Native: true, Content: w}))
	}
	return value.OfTuple(value.NewTuple(value.Str(p.kind), value.OfList(biases), value.OfList(value.NewList(types.Float)), value.OfList(flags), value.OfList(weights)))
}

func boolAsInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cellOf returns the parameters of a cell: made here, or the state that an archive holds.
func cellOf(v value.Value) *cellParams {
	if v.Kind() == value.KindCapsule && v.Capsule().Kind == cellParamsKind {
		switch content := v.Capsule().Content.(type) {
		case *cellParams:
			return content
		case value.Value:
			if p := cellOfState(content); p != nil {
				return p
			}
		}
	}
	source.Raise(source.RuntimeError, "Expected a value of type '__torch__.torch.classes.%s' but found type '%s'", cellParamsKind, v.Kind())
	return nil
}

func cellOfState(state value.Value) *cellParams {
	if state.Kind() != value.KindTuple || len(state.Tuple().Items) != 5 {
		return nil
	}
	items := state.Tuple().Items
	if items[0].Kind() != value.KindString || items[3].Kind() != value.KindList || items[4].Kind() != value.KindList {
		return nil
	}
	kind, weights := items[0].Str(), items[4].List().Items
	source.Check(kind == dynamicCell || kind == halfCell, "recurrent cells of the kind %q are not implemented", kind)
	if len(weights) != 2 {
		return nil
	}
	pair := define.Call{Args: weights}
	p := &cellParams{kind: kind, ih: packed(pair, 0), hh: packed(pair, 1)}
	if flags := items[3].List().Items; len(flags) > 0 {
		p.reduceRange = flags[0].Int() != 0
	}
	return p
}

// product multiplies rows with one of the weights.
func (p *cellParams) product(x *tensor.Tensor, w *packedLinear) *tensor.Tensor {
	if p.kind == halfCell {
		return linalg.Linear(x, elementwise.To(w.weight, tensor.Float32), w.bias)
	}
	return dynamicProduct("quantized::linear_dynamic", x, w, p.reduceRange)
}

// A quantizedStep makes the new state of a cell from the products with its input and with its state.
type quantizedStep func(input, hidden *tensor.Tensor, state []*tensor.Tensor) []*tensor.Tensor

func lstmStep(input, hidden *tensor.Tensor, state []*tensor.Tensor) []*tensor.Tensor {
	gates := parts(elementwise.Add.On(hidden, input), 4)
	c := elementwise.Add.On(elementwise.Mul.On(elementwise.Sigmoid.On(gates[1]), state[1]), elementwise.Mul.On(elementwise.Sigmoid.On(gates[0]), elementwise.Tanh.On(gates[2])))
	return []*tensor.Tensor{elementwise.Mul.On(elementwise.Sigmoid.On(gates[3]), elementwise.Tanh.On(c)), c}
}

func gruStep(input, hidden *tensor.Tensor, state []*tensor.Tensor) []*tensor.Tensor {
	i, h := parts(input, 3), parts(hidden, 3)
	reset, update := elementwise.Sigmoid.On(elementwise.Add.On(h[0], i[0])), elementwise.Sigmoid.On(elementwise.Add.On(h[1], i[1]))
	fresh := elementwise.Tanh.On(elementwise.Add.On(i[2], elementwise.Mul.On(h[2], reset)))
	return []*tensor.Tensor{elementwise.Add.On(elementwise.Mul.On(elementwise.Sub.On(state[0], fresh), update), fresh)}
}

// parts splits the columns of a matrix.
func parts(t *tensor.Tensor, n int) []*tensor.Tensor {
	width := t.Size(1) / n
	out := make([]*tensor.Tensor, n)
	for i := range out {
		out[i] = source.Must(t.Narrow(1, i*width, width))
	}
	return out
}

// quantizedLayers is a stack of recurrent layers over rows that stand step by step, sizes of them in each step.
type quantizedLayers struct {
	params     []value.Value
	layers     int
	directions int
	dropout    float64
	train      bool
	step       quantizedStep
}

// run gives the rows of the last layer and the last states, which are of all layers and directions.
func (q *quantizedLayers) run(rows *tensor.Tensor, sizes []int, states []*tensor.Tensor) (out *tensor.Tensor, last []*tensor.Tensor) {
	source.Check(q.layers >= 0 && q.layers <= len(q.params)/q.directions, "Expected %d sets of parameters for each of %d layers, but got %d", q.directions, q.layers, len(q.params))
	ends := make([][]*tensor.Tensor, len(states))
	for l := range q.layers {
		var sides []*tensor.Tensor
		for d := range q.directions {
			at := l*q.directions + d
			first := make([]*tensor.Tensor, len(states))
			for i, s := range states {
				source.Check(s.Dim() == 3 && s.Size(0) == q.layers*q.directions, "Expected a state of %d layers and directions, but got size %s", q.layers*q.directions, define.ShapeText(s.Shape()))
				first[i] = source.Must(s.Select(0, at))
			}
			side, end := q.layer(cellOf(q.params[at]), rows, sizes, first, d == 1)
			sides = append(sides, side)
			for i, e := range end {
				ends[i] = append(ends[i], source.Must(e.Unsqueeze(0)))
			}
		}
		rows = elementwise.Concat(sides, 1)
		if q.train && q.dropout > 0 && l+1 < q.layers {
			rows = random.Dropout(rows, q.dropout, true)
		}
	}
	for _, e := range ends {
		last = append(last, elementwise.Concat(e, 0))
	}
	return rows, last
}

// layer runs one layer in one direction. Rows of a state beyond those of a step stay as they are.
func (q *quantizedLayers) layer(p *cellParams, rows *tensor.Tensor, sizes []int, state []*tensor.Tensor, backwards bool) (out *tensor.Tensor, last []*tensor.Tensor) {
	inputs := p.product(rows, p.ih)
	starts, at := make([]int, len(sizes)), 0
	for t, n := range sizes {
		starts[t] = at
		at += n
	}
	source.Check(at == rows.Size(0), "Expected batch sizes that add up to %d rows, but they give %d", rows.Size(0), at)
	outs := make([]*tensor.Tensor, len(sizes))
	for k := range sizes {
		t := k
		if backwards {
			t = len(sizes) - 1 - k
		}
		n := sizes[t]
		live := make([]*tensor.Tensor, len(state))
		for i, s := range state {
			source.Check(n <= s.Size(0), "Expected a state of at least %d rows, but got size %s", n, define.ShapeText(s.Shape()))
			live[i] = source.Must(s.Narrow(0, 0, n))
		}
		live = q.step(source.Must(inputs.Narrow(0, starts[t], n)), p.product(live[0], p.hh), live)
		outs[t] = live[0]
		for i, s := range live {
			if rest := state[i].Size(0) - n; rest > 0 {
				s = elementwise.Concat([]*tensor.Tensor{s, source.Must(state[i].Narrow(0, n, rest))}, 0)
			}
			state[i] = s
		}
	}
	return elementwise.Concat(outs, 0), state
}

// runInput runs layers over sequences of one length (steps, or with batchFirst sequences, first).
func (q *quantizedLayers) runInput(x *tensor.Tensor, states []*tensor.Tensor, batchFirst bool) (out *tensor.Tensor, last []*tensor.Tensor) {
	source.Check(x.Dim() == 3, "Expected an input of 3 dimensions, but got size %s", define.ShapeText(x.Shape()))
	if batchFirst {
		x = source.Must(x.Transpose(0, 1))
	}
	steps, batch := x.Size(0), x.Size(1)
	source.Check(steps > 0, "Expected sequence length to be larger than 0 in RNN")
	sizes := make([]int, steps)
	for i := range sizes {
		sizes[i] = batch
	}
	rows, last := q.run(source.Must(elementwise.Contiguous(x).Reshape(steps*batch, x.Size(2))), sizes, states)
	out = source.Must(rows.Reshape(steps, batch, rows.Size(1)))
	if batchFirst {
		out = source.Must(out.Transpose(0, 1))
	}
	return out, last
}

// layersOf reads the arguments from the list of parameters on.
func layersOf(c define.Call, i int, step quantizedStep) *quantizedLayers {
	q := &quantizedLayers{params: c.Args[i].List().Items, layers: c.Int(i + 2), dropout: c.Float(i + 3), train: c.Bool(i + 4), directions: 1, step: step}
	if c.Bool(i + 5) {
		q.directions = 2
	}
	source.Check(q.layers >= 1, "Expected at least one layer, but got %d", q.layers)
	return q
}

// newCell makes the parameters of a cell from packed weights.
func newCell(c define.Call, kind string) value.Value {
	p := &cellParams{kind: kind, ih: packed(c, 0), hh: packed(c, 1)}
	if kind == dynamicCell {
		p.reduceRange = c.Bool(4)
	}
	return value.OfCapsule(&value.Capsule{Kind: cellParamsKind, Native: true, Content: p})
}

// dynamicCellStep runs one step of a cell with packed weights in the arguments 2 and 3.
func dynamicCellStep(c define.Call, step quantizedStep, state ...*tensor.Tensor) []*tensor.Tensor {
	p := &cellParams{kind: dynamicCell, ih: packed(c, 2), hh: packed(c, 3), reduceRange: true}
	for _, t := range append([]*tensor.Tensor{c.Tensor(0)}, state...) {
		source.Check(t.Dim() == 2, "a quantized cell expects an input and a state with rows of a batch (2 dimensions), but got the shape %s", define.ShapeText(t.Shape()))
	}
	return step(p.product(c.Tensor(0), p.ih), p.product(state[0], p.hh), state)
}

var quantizedRecurrentFamily = []define.Definition{
	define.Operator("quantized::make_quantized_cell_params_dynamic", func(c define.Call) { c.Out[0] = newCell(c, dynamicCell) }),
	define.Operator("quantized::make_quantized_cell_params_fp16", func(c define.Call) { c.Out[0] = newCell(c, halfCell) }),
	define.Operator("quantized_lstm.input", func(c define.Call) {
		c.GiveLayers(layersOf(c, 2, lstmStep).runInput(c.Tensor(0), c.Tensors(1), c.Bool(8)))
	}),
	define.Operator("quantized_lstm.data", func(c define.Call) {
		c.GiveLayers(layersOf(c, 3, lstmStep).run(c.Tensor(0), elementwise.IntegersOf(c.Tensor(1)), c.Tensors(2)))
	}),
	define.Operator("quantized_gru.input", func(c define.Call) {
		c.GiveLayers(layersOf(c, 2, gruStep).runInput(c.Tensor(0), []*tensor.Tensor{c.Tensor(1)}, c.Bool(8)))
	}),
	define.Operator("quantized_gru.data", func(c define.Call) {
		c.GiveLayers(layersOf(c, 3, gruStep).run(c.Tensor(0), elementwise.IntegersOf(c.Tensor(1)), []*tensor.Tensor{c.Tensor(2)}))
	}),
	define.Operator("quantized::quantized_lstm_cell_dynamic", func(c define.Call) {
		state := c.Tensors(1)
		source.Check(len(state) == 2, "quantized_lstm_cell_dynamic expects the two states of a cell, but got %d", len(state))
		c.Give(dynamicCellStep(c, lstmStep, state...)...)
	}),
	define.Operator("quantized::quantized_gru_cell_dynamic", func(c define.Call) { c.Give(dynamicCellStep(c, gruStep, c.Tensor(1))...) }),
	define.Operator("quantized::quantized_rnn_tanh_cell_dynamic", func(c define.Call) {
		c.Give(dynamicCellStep(c, func(i, h *tensor.Tensor, _ []*tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{elementwise.Tanh.On(elementwise.Add.On(h, i))}
		}, c.Tensor(1))...)
	}),
	define.Operator("quantized::quantized_rnn_relu_cell_dynamic", func(c define.Call) {
		c.Give(dynamicCellStep(c, func(i, h *tensor.Tensor, _ []*tensor.Tensor) []*tensor.Tensor {
			return []*tensor.Tensor{elementwise.Relu.On(elementwise.Add.On(h, i))}
		}, c.Tensor(1))...)
	}),
}

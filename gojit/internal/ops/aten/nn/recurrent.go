package nn

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The kinds of recurrent cells are told apart by how many gates they have; a plain cell with relu has 0.
const (
	reluGates = 0
	tanhGates = 1
	gruGates  = 3
	lstmGates = 4
)

// layerNames are the operators of layers by the kinds of their cells.
var layerNames = map[int]string{reluGates: "rnn_relu", tanhGates: "rnn_tanh", gruGates: "gru", lstmGates: "lstm"}

func chunks(x define.Composer, t define.Tensors, n int) []value.Value {
	gates := ops.DoAll(x.Emitter, "chunk", t, n, 1)[0].List().Items
	source.Check(len(gates) == n, "the weights of a recurrent cell give %d columns: expected a multiple of its %d gates", t.Size(1), n)
	return gates
}

// step is one step of a cell from the products of input and state with the weights.
func step(x define.Composer, gates int, input, hidden define.Tensors, state []define.Tensors) []define.Tensors {
	switch gates {
	case reluGates:
		return []define.Tensors{x.Do("relu", x.Do("add.Tensor", input, hidden))}
	case tanhGates:
		return []define.Tensors{x.Do("tanh", x.Do("add.Tensor", input, hidden))}
	case gruGates:
		xs, hs := chunks(x, input, 3), chunks(x, hidden, 3)
		reset := x.Do("sigmoid", x.Do("add.Tensor", xs[0], hs[0]))
		keep := x.Do("sigmoid", x.Do("add.Tensor", xs[1], hs[1]))
		fresh := x.Do("tanh", x.Do("add.Tensor", xs[2], x.Do("mul.Tensor", reset, hs[2])))
		return []define.Tensors{x.Do("add.Tensor", fresh, x.Do("mul.Tensor", keep, x.Do("sub.Tensor", state[0], fresh)))}
	}
	if input.Dim() == 2 && tensor.SameShape(input.Shape(), hidden.Shape()) && fusesLSTM(x, input.Size(0), input.Size(1), state[1], input, hidden) {
		return fusedLSTM(x, input, hidden, state[1], value.None, value.None)
	}
	all := chunks(x, x.Do("add.Tensor", input, hidden), 4)
	in, forget, out := x.Do("sigmoid", all[0]), x.Do("sigmoid", all[1]), x.Do("sigmoid", all[3])
	memory := x.Do("add.Tensor", x.Do("mul.Tensor", forget, state[1]), x.Do("mul.Tensor", in, x.Do("tanh", all[2])))
	return []define.Tensors{x.Do("mul.Tensor", out, x.Do("tanh", memory)), memory}
}

// composeCell decomposes a single step.
func composeCell(gates int) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value {
		x, state := define.Composer{Emitter: e}, define.TensorsIn(a[1])
		if gates == lstmGates && len(state) != 2 {
			source.Raise(source.RuntimeError, "lstm_cell expects two hidden states")
		}
		var next []define.Tensors
		if gates == lstmGates && fusesCell(x, a, state) { // the gradients of both biases are one sum
			next = fusedLSTM(x, x.Do("linear", a[0], a[2]), x.Do("linear", state[0], a[3]), state[1], a[4], a[5])
		} else {
			next = step(x, gates, x.Do("linear", a[0], a[2], a[4]), x.Do("linear", state[0], a[3], a[5]), state)
		}
		out := make([]value.Value, len(next))
		for i, t := range next {
			out[i] = value.OfTensor(t)
		}
		return out
	}
}

// composedLayer holds the parameters of one direction of a layer; the biases and the projection may be None.
type composedLayer struct{ input, hidden, inputBias, hiddenBias, project value.Value }

// composedLayers is one call of recurrent layers over packed rows: those of step t are the t-th block, of sizes[t] rows, and the
// sizes do not rise.
type composedLayers struct {
	define.Composer
	gates         int
	params        []value.Value
	hasBiases     bool
	count         int
	dropout       float64
	bidirectional bool
	sizes         []int
}

// newLayers reads the arguments from the parameters on: params, has_biases, num_layers, dropout, train, bidirectional.
func newLayers(e ops.Emitter, gates int, a []value.Value, sizes []int) composedLayers {
	l := composedLayers{define.Composer{Emitter: e}, gates, a[0].List().Items, a[1].Bool(), int(a[2].Int()), 0, a[5].Bool(), sizes}
	checkLayers(l.count)
	if a[4].Bool() {
		l.dropout = define.NumberOfValue(a[3])
	}
	return l
}

// composeRecurrent decomposes layers over a padded sequence: input, states, parameters, has_biases,
// num_layers, dropout, train, bidirectional, batch_first.
func composeRecurrent(gates int) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value {
		checked := slices.Clone(a)
		if rows := a[0].Tensor(); rows.Dim() == 3 {
			time := 0
			if a[8].Bool() {
				time = 1
			}
			checked[0] = value.OfTensor(source.Must(rows.Slice(time, 0, min(1, rows.Size(time)), 1)))
		}
		checkRecurrent(e, gates, "input", checked, 2)
		x, rows := define.Composer{Emitter: e}, a[0].Tensor()
		if a[8].Bool() {
			rows = x.Do("transpose.int", rows, 0, 1)
		}
		steps, batch := rows.Size(0), rows.Size(1)
		l := newLayers(e, gates, a[2:], slices.Repeat([]int{batch}, steps))
		flat, finals := l.run(x.Do("reshape", rows, []int{steps * batch, rows.Size(2)}), define.TensorsIn(a[1]))
		rows = x.Do("reshape", flat, []int{steps, batch, flat.Size(1)})
		if a[8].Bool() {
			rows = x.Do("transpose.int", rows, 0, 1)
		}
		return append([]value.Value{value.OfTensor(rows)}, finals...)
	}
}

// recurrentPacked decomposes layers over a packed sequence: data, batch_sizes, states, parameters and so on.
func recurrentPacked(gates int) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value {
		var sizes []int
		for _, n := range tensor.Data[int64](source.Must(ops.Do(define.Unrecorded(e), "to.dtype", a[1].Tensor(), tensor.Int64).Contiguous())) {
			sizes = append(sizes, int(n))
		}
		checked := slices.Clone(a)
		if data := a[0].Tensor(); data.Dim() == 2 && len(sizes) > 0 && sizes[0] > 0 {
			checked[0] = value.OfTensor(source.Must(data.Slice(0, 0, min(sizes[0], data.Size(0)), 1)))
			checked[1] = value.OfTensor(source.Must(a[1].Tensor().Slice(0, 0, 1, 1)))
		}
		checkRecurrent(e, gates, "data", checked, 3)
		flat, finals := newLayers(e, gates, a[3:], sizes).run(a[0].Tensor(), define.TensorsIn(a[2]))
		return append([]value.Value{value.OfTensor(flat)}, finals...)
	}
}

// checkRecurrent runs an overload of the operator itself, on one step and without training, for its checks. The parameters are argument p, the
// states the one before; what an autocast will cast is of the parameters' type there.
func checkRecurrent(e ops.Emitter, gates int, overload string, a []value.Value, p int) {
	a[p+4] = value.Bool(false)
	below := define.Unrecorded(e)
	if parameters := define.TensorsIn(a[p]); define.IsCast(e) && len(parameters) > 0 {
		like := func(t *tensor.Tensor) value.Value {
			return value.OfTensor(ops.Do(below, "to.dtype", t, parameters[0].DType()))
		}
		a[0] = like(a[0].Tensor())
		if states := define.TensorsIn(a[p-1]); a[p-1].IsTensor() {
			a[p-1] = like(states[0])
		} else {
			list := value.NewList(a[p-1].List().Elem)
			for _, h := range states {
				list.Items = append(list.Items, like(h))
			}
			a[p-1] = value.OfList(list)
		}
	}
	below.Emit(layerNames[gates]+"."+overload, a...)
}

// run returns the rows of the last layer and the states after the last step of every row, for each kind of state.
func (l composedLayers) run(rows define.Tensors, states []define.Tensors) (define.Tensors, []value.Value) {
	directions := 1
	if l.bidirectional {
		directions = 2
	}
	finals := make([][]define.Tensors, len(states))
	for n := range l.count {
		outs := make([]define.Tensors, directions)
		for d := range directions {
			i := n*directions + d
			var state, last []define.Tensors
			for _, s := range states {
				state = append(state, l.Do("select.int", s, 0, i))
			}
			outs[d], last = l.sequence(l.parameters(i, l.count*directions), rows, state, d == 1)
			for k := range last {
				finals[k] = append(finals[k], last[k])
			}
		}
		rows = outs[0]
		if directions == 2 {
			rows = l.Do("cat", outs, 1)
		}
		if l.dropout > 0 && n+1 < l.count {
			rows = l.Do("dropout", rows, l.dropout, true)
		}
	}
	var results []value.Value
	for _, f := range finals {
		results = append(results, value.OfTensor(l.Do("stack", f, 0)))
	}
	return rows, results
}

func (l composedLayers) parameters(i, count int) composedLayer {
	n := len(l.params) / count
	least := 2
	if l.hasBiases {
		least = 4
	}
	if n*count != len(l.params) || n < least || n > least+1 {
		define.Fail("got an incorrect number of RNN parameters")
	}
	p := l.params[i*n : (i+1)*n]
	one := composedLayer{input: p[0], hidden: p[1]}
	rest := p[2:]
	if l.hasBiases {
		one.inputBias, one.hiddenBias, rest = rest[0], rest[1], rest[2:]
	}
	if len(rest) > 0 {
		one.project = rest[0]
	}
	return one
}

// sequence runs one direction of a layer. Rows leave where the blocks get smaller; backwards, they join.
func (l composedLayers) sequence(p composedLayer, rows define.Tensors, initial []define.Tensors, backwards bool) (define.Tensors, []define.Tensors) {
	blocks := ops.DoAll(l.Emitter, "split_with_sizes", l.Do("linear", rows, p.input, p.inputBias), l.sizes, 0)[0].List().Items
	outs := make([]define.Tensors, len(blocks))
	var left [][]define.Tensors // states of rows that have left, the last ones first
	state, alive := initial, initial[0].Size(0)
	if backwards {
		state, alive = l.part(initial, 0, 0), 0
	}
	for i := range blocks {
		t := i
		if backwards {
			t = len(blocks) - 1 - i
		}
		switch n := l.sizes[t]; {
		case n < alive:
			left = append(left, l.part(state, n, alive-n))
			state = l.part(state, 0, n)
		case n > alive:
			state = l.join([][]define.Tensors{state, l.part(initial, alive, n-alive)})
		}
		alive = l.sizes[t]
		state = step(l.Composer, l.gates, blocks[t].Tensor(), l.Do("linear", state[0], p.hidden, p.hiddenBias), state)
		if !p.project.IsNone() {
			state[0] = l.Do("linear", state[0], p.project, value.None)
		}
		outs[t] = state[0]
	}
	if len(left) > 0 {
		left = append(left, state)
		slices.Reverse(left)
		state = l.join(left)
	}
	return l.Do("cat", outs, 0), state
}

// part returns n rows of every state.
func (l composedLayers) part(state []define.Tensors, start, n int) []define.Tensors {
	parts := make([]define.Tensors, len(state))
	for k, s := range state {
		parts[k] = l.Do("narrow", s, 0, start, n)
	}
	return parts
}

// join puts rows of every state one after the other.
func (l composedLayers) join(states [][]define.Tensors) []define.Tensors {
	joined := make([]define.Tensors, len(states[0]))
	for k := range joined {
		var rows []define.Tensors
		for _, s := range states {
			rows = append(rows, s[k])
		}
		joined[k] = l.Do("cat", rows, 0)
	}
	return joined
}

// RecurrentFurther are the records of operators of recurrent layers that are implemented elsewhere.
var RecurrentFurther = []ops.Def{
	{Name: "gru.data", Decomp: recurrentPacked(3)},
	{Name: "gru.input", Decomp: composeRecurrent(3)},
	{Name: "rnn_relu.data", Decomp: recurrentPacked(0)},
	{Name: "rnn_relu.input", Decomp: composeRecurrent(0)},
	{Name: "rnn_tanh.data", Decomp: recurrentPacked(1)},
	{Name: "rnn_tanh.input", Decomp: composeRecurrent(1)},
}

package autograd

import (
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// The kinds of recurrent cells are told apart by how many gates they have; a plain cell with relu has 0.
const (
	reluCell = 0
	tanhCell = 1
	gruCell  = 3
	lstmCell = 4
)

func (x composer) chunks(t tensors, n int) []value.Value {
	return emit(x.Emitter, "chunk", t, n, 1)[0].List().Items
}

// step is one step of a cell from the products of input and state with the weights.
func (x composer) step(gates int, input, hidden tensors, state []tensors) []tensors {
	switch gates {
	case reluCell:
		return []tensors{x.do("relu", x.do("add.Tensor", input, hidden))}
	case tanhCell:
		return []tensors{x.do("tanh", x.do("add.Tensor", input, hidden))}
	case gruCell:
		xs, hs := x.chunks(input, 3), x.chunks(hidden, 3)
		reset := x.do("sigmoid", x.do("add.Tensor", xs[0], hs[0]))
		keep := x.do("sigmoid", x.do("add.Tensor", xs[1], hs[1]))
		fresh := x.do("tanh", x.do("add.Tensor", xs[2], x.do("mul.Tensor", reset, hs[2])))
		return []tensors{x.do("add.Tensor", fresh, x.do("mul.Tensor", keep, x.do("sub.Tensor", state[0], fresh)))}
	}
	all := x.chunks(x.do("add.Tensor", input, hidden), 4)
	in, forget, out := x.do("sigmoid", all[0]), x.do("sigmoid", all[1]), x.do("sigmoid", all[3])
	memory := x.do("add.Tensor", x.do("mul.Tensor", forget, state[1]), x.do("mul.Tensor", in, x.do("tanh", all[2])))
	return []tensors{x.do("mul.Tensor", out, x.do("tanh", memory)), memory}
}

// cellOf decomposes a single step.
func cellOf(gates int) decomposition {
	return func(e Emitter, a []value.Value) []value.Value {
		x, state := composer{e}, tensorsOf(a[1])
		next := x.step(gates, x.do("linear", a[0], a[2], a[4]), x.do("linear", state[0], a[3], a[5]), state)
		out := make([]value.Value, len(next))
		for i, t := range next {
			out[i] = value.OfTensor(t)
		}
		return out
	}
}

// layer holds the parameters of one direction of a layer; the biases and the projection may be None.
type layer struct{ input, hidden, inputBias, hiddenBias, project value.Value }

// recurrent decomposes layers over a padded sequence: input, states, parameters, has_biases,
// num_layers, dropout, train, bidirectional, batch_first.
func recurrent(gates, batchFirst int) decomposition {
	return func(e Emitter, a []value.Value) []value.Value {
		unrecorded().checkRecurrent(gates, a)
		x, rows, states := composer{e}, a[0].Tensor(), tensorsOf(a[1])
		if a[batchFirst].Bool() {
			rows = x.do("transpose.int", rows, 0, 1)
		}
		layers, directions := int(a[4].Int()), 1
		if a[7].Bool() {
			directions = 2
		}
		finals := make([][]tensors, len(states))
		for l := range layers {
			var outs []tensors
			for d := range directions {
				i := l*directions + d
				var state []tensors
				for _, s := range states {
					state = append(state, x.do("select.int", s, 0, i))
				}
				out, last := x.sequence(gates, parametersOf(a, i, layers*directions), rows, state, d == 1)
				outs = append(outs, out)
				for k := range last {
					finals[k] = append(finals[k], last[k])
				}
			}
			rows = outs[0]
			if directions == 2 {
				rows = x.do("cat", outs, 2)
			}
			if p := number(a[5]); p > 0 && a[6].Bool() && l+1 < layers {
				rows = x.do("dropout", rows, p, true)
			}
		}
		if a[batchFirst].Bool() {
			rows = x.do("transpose.int", rows, 0, 1)
		}
		results := []value.Value{value.OfTensor(rows)}
		for _, f := range finals {
			results = append(results, value.OfTensor(x.do("stack", f, 0)))
		}
		return results
	}
}

// checkRecurrent runs the operator itself on one step without training, for its checks.
func (e *emitter) checkRecurrent(gates int, a []value.Value) {
	name := map[int]string{reluCell: "rnn_relu.input", tanhCell: "rnn_tanh.input", gruCell: "gru.input", lstmCell: "lstm.input"}[gates]
	checked := append([]value.Value{}, a...)
	checked[6] = value.Bool(false)
	if rows := a[0].Tensor(); rows.Dim() == 3 {
		time := 0
		if a[8].Bool() {
			time = 1
		}
		checked[0] = value.OfTensor(must(rows.Slice(time, 0, min(1, rows.Size(time)), 1)))
	}
	e.Emit(name, checked...)
}

func parametersOf(a []value.Value, i, count int) layer {
	params := a[2].List().Items
	n := len(params) / count
	p := params[i*n : (i+1)*n]
	l := layer{input: p[0], hidden: p[1]}
	rest := p[2:]
	if a[3].Bool() {
		l.inputBias, l.hiddenBias, rest = rest[0], rest[1], rest[2:]
	}
	if len(rest) > 0 {
		l.project = rest[0]
	}
	return l
}

func (x composer) sequence(gates int, l layer, rows tensors, state []tensors, backwards bool) (tensors, []*tensor.Tensor) {
	inputs := x.do("linear", rows, l.input, l.inputBias)
	steps := rows.Size(0)
	outs := make([]tensors, steps)
	for t := range steps {
		if backwards {
			t = steps - 1 - t
		}
		state = x.step(gates, x.do("select.int", inputs, 0, t), x.do("linear", state[0], l.hidden, l.hiddenBias), state)
		if !l.project.IsNone() {
			state[0] = x.do("linear", state[0], l.project, value.None)
		}
		outs[t] = state[0]
	}
	return x.do("stack", outs, 0), state
}

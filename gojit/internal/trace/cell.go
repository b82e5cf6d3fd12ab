package trace

import (
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// steps records operators that stand for one that has run: it computes them again, without gradients, so that
// the graph knows the tensors between them.
type steps struct {
	r      *Recorder
	failed bool
}

// run computes an operator and records it. last, if not nil, is the tensor of the program that the result is.
func (s *steps) run(name string, last *tensor.Tensor, args ...value.Value) []value.Value {
	o := ops.Find(name)
	out := []value.Value{value.None}
	if s.failed || o == nil || o.Run == nil {
		s.failed = true
		return out
	}
	for i := len(args); i < len(o.Schema().Arguments); i++ {
		args = append(args, o.Schema().Arguments[i].Default)
	}
	if err := o.Run(args, out); err != nil {
		s.failed = true
		return out
	}
	if last != nil {
		out[0] = value.OfTensor(last)
	}
	if err := s.r.record(o, args, out, nil); err != nil {
		s.failed = true
	}
	return out
}

// lstmCell records a cell as the products and functions that it consists of.
func lstmCell(r *Recorder, _ *ops.Operator, args, out []value.Value) bool {
	state := args[1].List().Items
	s := &steps{r: r}
	r.grad = out[0].Tensor().RequiresGrad()
	defer func() { r.grad = false }()
	gates := s.run(aten.Linear, nil, state[0], args[3], args[5])
	input := s.run(aten.Linear, nil, args[0], args[2], args[4])
	sum := s.run("aten::add_.Tensor", nil, gates[0], input[0], value.Int(1))
	p := s.chunks(sum[0], 4)
	if s.failed {
		return false
	}
	in := s.run(aten.Sigmoid_, nil, p[0])
	forget := s.run(aten.Sigmoid_, nil, p[1])
	cell := s.run(aten.Tanh_, nil, p[2])
	output := s.run(aten.Sigmoid_, nil, p[3])
	kept := s.run("aten::mul.Tensor", nil, forget[0], state[1])
	added := s.run("aten::mul.Tensor", nil, in[0], cell[0])
	next := s.run("aten::add_.Tensor", out[1].Tensor(), kept[0], added[0], value.Int(1))
	active := s.run(aten.Tanh, nil, next[0])
	s.run("aten::mul.Tensor", out[0].Tensor(), output[0], active[0])
	return !s.failed
}

// gruCell records a cell as the products and functions that it consists of.
func gruCell(r *Recorder, _ *ops.Operator, args, out []value.Value) bool {
	s := &steps{r: r}
	r.grad = out[0].Tensor().RequiresGrad()
	defer func() { r.grad = false }()
	x := s.chunks(s.run(aten.Linear, nil, args[0], args[2], args[4])[0], 3)
	h := s.chunks(s.run(aten.Linear, nil, args[1], args[3], args[5])[0], 3)
	if s.failed {
		return false
	}
	reset := s.run(aten.Sigmoid_, nil, s.run("aten::add_.Tensor", nil, h[0], x[0], value.Int(1))[0])
	update := s.run(aten.Sigmoid_, nil, s.run("aten::add_.Tensor", nil, h[1], x[1], value.Int(1))[0])
	kept := s.run("aten::mul_.Tensor", nil, h[2], reset[0])
	next := s.run(aten.Tanh_, nil, s.run("aten::add.Tensor", nil, x[2], kept[0], value.Int(1))[0])
	gap := s.run("aten::sub.Tensor", nil, args[1], next[0], value.Int(1))
	step := s.run("aten::mul_.Tensor", nil, gap[0], update[0])
	s.run("aten::add_.Tensor", out[0].Tensor(), step[0], next[0], value.Int(1))
	return !s.failed
}

// chunks splits gates along dimension 1.
func (s *steps) chunks(gates value.Value, n int) []value.Value {
	parts := s.run(aten.UnsafeChunk, nil, gates, value.Int(int64(n)), value.Int(1))
	if s.failed {
		return nil
	}
	return parts[0].List().Items
}

// rnnCell records a cell as two products and a function.
func rnnCell(r *Recorder, o *ops.Operator, args, out []value.Value) bool {
	s := &steps{r: r}
	r.grad = out[0].Tensor().RequiresGrad()
	defer func() { r.grad = false }()
	h := s.run(aten.Linear, nil, args[1], args[3], args[5])
	x := s.run(aten.Linear, nil, args[0], args[2], args[4])
	sum := s.run("aten::add_.Tensor", nil, h[0], x[0], value.Int(1))
	activation := aten.Relu
	if o.BaseName() == aten.RnnTanhCell {
		activation = aten.Tanh
	}
	s.run(activation, out[0].Tensor(), sum[0])
	return !s.failed
}

package fuse

import (
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sketch is the nodes of a group run on tensors without elements.
type sketch struct {
	rec     *elementwise.Recorder
	tape    *autograd.BackwardPlan
	values  []*tensor.Tensor // the inputs, then the results of the nodes
	grads   []*tensor.Tensor // further inputs of the recording
	numbers []tensor.Scalar
	outputs []int // which values the group gives
}

func (s *sketch) close() {
	if s != nil {
		s.rec.Close()
	}
}

// sketch runs the nodes; given are values whose gradients become inputs.
func (d *recorded) sketch(tensors []*tensor.Tensor, numbers []tensor.Scalar, given []int) (*sketch, error) {
	s := &sketch{rec: elementwise.NewRecorder(), numbers: numbers}
	var needs []bool
	for i, t := range tensors {
		shape := []int{1}
		switch {
		case t.Dim() == 0:
			shape = nil
		case d.key.whole>>i&1 != 0:
			shape = []int{2}
		}
		in, err := s.rec.InputOf(t.DType(), shape)
		if err != nil {
			return s, err
		}
		s.values, needs = append(s.values, in), append(needs, d.key.needs>>i&1 != 0)
	}
	for _, v := range given {
		like := d.group.Like(v)
		g, err := s.rec.InputOf(like.DType(), like.Shape())
		if err != nil {
			return s, err
		}
		s.grads = append(s.grads, g)
	}
	s.tape = autograd.NewBackwardPlan(emitter{s.rec}, s.values, needs)
	return s, d.sketchNodes(s)
}

// sketchNodes runs the nodes of the group and puts them on the tape.
func (d *recorded) sketchNodes(s *sketch) error {
	env := d.environment(s.values, s.numbers)
	places, numbers := map[*ir.Value]int{}, map[*ir.Value]int{}
	for i, v := range d.node.Inputs() {
		if !d.runner.tensors[i] {
			numbers[v] = len(numbers)
		}
	}
	for _, n := range d.nodes {
		args, given := arguments(env, n), make([]int, len(n.Inputs()))
		for i, v := range n.Inputs() {
			k, ok := numbers[v]
			if !ok {
				k = -1
			}
			given[i] = k
		}
		t, err := s.rec.Apply(n.Operator(), args)
		if err != nil {
			return err
		}
		if err := s.tape.Add(n.Operator(), args, given, t); err != nil {
			return err
		}
		env[n.Output()], places[n.Output()] = value.OfTensor(t), len(s.values)
		s.values = append(s.values, t)
	}
	for _, v := range d.results {
		s.outputs = append(s.outputs, places[v])
	}
	return nil
}

// emitter runs the operators of derivatives in a recording.
type emitter struct{ rec *elementwise.Recorder }

// Emit implements autograd.Emitter.
func (e emitter) Emit(name string, args ...value.Value) []value.Value {
	op := ops.Find("aten::" + name)
	if op == nil || op.Run == nil || len(op.Schema().Returns) != 1 {
		source.Raise(source.RuntimeError, "aten::%s is not computed in a kernel", name)
	}
	s := op.Schema()
	for i := len(args); i < len(s.Arguments); i++ {
		args = append(args, s.Arguments[i].Default)
	}
	var out [1]value.Value
	source.Throw(op.Run(args, out[:]))
	if !out[0].IsTensor() {
		source.Raise(source.RuntimeError, "aten::%s is not computed in a kernel", name)
	}
	if _, ok := e.rec.Number(out[0].Tensor()); !ok {
		source.Raise(source.RuntimeError, "aten::%s is not computed in a kernel", name)
	}
	return out[:]
}

// SumTo implements autograd.BackwardEmitter.
func (e emitter) SumTo(g, like *tensor.Tensor) *tensor.Tensor {
	return source.Must(e.rec.Sum(g, like))
}

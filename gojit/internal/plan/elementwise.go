package plan

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// elementwiseStep is operators that are computed element by element, as one kernel.
type elementwiseStep struct {
	nodes   []*node
	inputs  []int
	out     int
	program *launch.Program
}

// elementwise makes a step of node i and of nodes behind it that are computed of its result alone, or of that and other values. It reports whether
// these are one kernel.
func (b *builder) elementwise(i int) bool {
	s := &elementwiseStep{}
	var best *elementwiseStep
	var taken []int
	for u := i; u >= 0; u = b.onlyUser(b.nodes[u].out) {
		n := &b.nodes[u]
		if n.kind != pointwise || u > i && !b.follows(n, s) || len(s.nodes) == mostAfter {
			break
		}
		s.nodes, s.out = append(s.nodes, n), n.out
		taken = append(taken, u)
	}
	for len(s.nodes) > 0 && best == nil {
		if b.compile(s) {
			best = s
			break
		}
		s.nodes, taken = s.nodes[:len(s.nodes)-1], taken[:len(taken)-1]
		if len(s.nodes) > 0 {
			s.out = s.nodes[len(s.nodes)-1].out
		}
	}
	if best == nil {
		return false
	}
	for _, u := range taken {
		b.done[u] = true
	}
	b.place(taken[len(taken)-1], best)
	return true
}

// follows reports whether a node can be computed where the step is: all else that it reads does not depend on what the step gives, and its result
// has the shape of that.
func (b *builder) follows(n *node, s *elementwiseStep) bool {
	if !tensor.SameShape(b.facts[n.out].logical.Shape(), b.facts[s.out].logical.Shape()) {
		return false
	}
	for _, v := range n.refs {
		if v >= 0 && v != s.out && b.dependsOn(v, s.nodes[0].out) {
			return false
		}
	}
	return true
}

// compile makes the kernel of a step and finds what it reads. It reports whether that is one.
func (b *builder) compile(s *elementwiseStep) bool {
	s.inputs = nil
	inside := map[int]bool{}
	for _, n := range s.nodes {
		for _, v := range n.refs {
			if v >= 0 && !inside[v] && !slices.Contains(s.inputs, v) {
				s.inputs = append(s.inputs, v)
			}
		}
		inside[n.out] = true
	}
	if len(s.inputs) == 0 || len(s.inputs) >= elementwise.MostFused {
		return false
	}
	r := elementwise.NewRecorder()
	defer r.Close()
	values := map[int]*tensor.Tensor{}
	for _, v := range s.inputs {
		t := b.facts[v].logical
		if t == nil {
			return false
		}
		in, err := r.Input(t.DType(), t.Dim() == 0)
		if err != nil {
			return false
		}
		values[v] = in
	}
	for _, n := range s.nodes {
		args := slices.Clone(n.args)
		for k, v := range n.refs {
			if v >= 0 {
				args[k] = value.OfTensor(values[v])
			}
		}
		out, err := r.Apply(n.op, args)
		if err != nil {
			return false
		}
		values[n.out] = out
	}
	k, err := r.Kernel(len(s.inputs), values[s.out])
	if err != nil || len(k.Outputs) != 1 || k.Outputs[0].DType != b.facts[s.out].logical.DType() {
		return false
	}
	s.program, err = launch.ProgramOf(k)
	return err == nil
}

func (s *elementwiseStep) gives() int        { return s.out }
func (s *elementwiseStep) reads() []int      { return s.inputs }
func (s *elementwiseStep) overwrites() []int { return s.inputs }

func (s *elementwiseStep) text() string {
	var parts []string
	for _, n := range s.nodes {
		parts = append(parts, strings.TrimPrefix(n.op.BaseName(), "aten::"))
	}
	return strings.Join(parts, "+")
}

func (s *elementwiseStep) run(x *frame) error {
	operands := append(x.operands[:0], x.values[s.out])
	for _, v := range s.inputs {
		operands = append(operands, x.values[v])
	}
	s.program.Run(operands, nil)
	clear(operands)
	return nil
}

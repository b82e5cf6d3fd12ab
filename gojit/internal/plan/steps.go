package plan

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// callStep runs an operator, whose result is copied to where the plan has it.
type callStep struct {
	node *node
	list []int // values of the list that the operator reads, nil for none
}

func (s *callStep) gives() int { return s.node.out }

func (s *callStep) reads() []int { return append(valuesOf(s.node, s.list), s.list...) }

// valuesOf returns the tensors among the arguments of a node that reads a list.
func valuesOf(n *node, list []int) (found []int) {
	for _, v := range n.refs {
		if v >= 0 && (list == nil || v != n.refs[0]) {
			found = append(found, v)
		}
	}
	return found
}

func (s *callStep) text() string { return s.node.op.Name }

func (s *callStep) run(x *frame) error {
	var room [16]value.Value
	args := append(room[:0], s.node.args...)
	for i, v := range s.node.refs {
		if v >= 0 && x.values[v] != nil {
			args[i] = value.OfTensor(x.values[v])
		}
	}
	if s.list != nil {
		list := value.NewList(types.Tensor)
		for _, v := range s.list {
			list.Items = append(list.Items, value.OfTensor(x.values[v]))
		}
		args[0] = value.OfList(list)
	}
	var results [2]value.Value
	out := results[:len(s.node.at.Outputs())]
	if err := s.node.op.Run(args, out); err != nil {
		return err
	}
	for _, unread := range out[1:] {
		unread.Tensor().Release()
	}
	t, to := out[0].Tensor(), x.values[s.node.out]
	if !tensor.SameShape(t.Shape(), to.Shape()) || t.DType() != to.DType() {
		return unplanned(s.node.op.Name + " gives something else than its sizes say")
	}
	if err := tensor.Copy(to, t); err != nil {
		return err
	}
	if !slices.ContainsFunc(args, func(a value.Value) bool { return a.IsTensor() && a.Tensor() == t }) {
		t.Release()
	}
	return nil
}

// copyStep lays a value out in another way. Where the shapes differ the elements stay in their order.
type copyStep struct {
	from, to int
	what     string
}

func (s *copyStep) gives() int   { return s.to }
func (s *copyStep) reads() []int { return []int{s.from} }
func (s *copyStep) text() string { return s.what + " copy" }

func (s *copyStep) run(x *frame) error {
	from, to := x.values[s.from], x.values[s.to]
	if !tensor.SameShape(from.Shape(), to.Shape()) {
		shaped, err := to.View(from.Shape()...)
		if err != nil {
			return err
		}
		to = shaped
	}
	return tensor.Copy(to, from)
}

// joinStep lays tensors side by side.
type joinStep struct {
	list, parts []int // the tensors, and where each of them comes to lie: views of the result
	out         int
}

// join makes the step of aten::cat. It reports whether node i joins tensors of one type and as many dimensions.
func (b *builder) join(i int) bool {
	n := &b.nodes[i]
	list, out := b.facts[n.refs[0]].list, b.facts[n.out]
	dim, err := tensor.WrapDim(int(n.args[1].Int()), out.logical.Dim())
	if err != nil || list == nil {
		return false
	}
	for _, v := range list {
		if f := &b.facts[v]; f.logical.Dim() != out.logical.Dim() || f.logical.DType() != out.logical.DType() {
			return false
		}
	}
	s := &joinStep{list: list, out: n.out}
	from := 0
	for _, v := range list {
		size := b.facts[v].logical.Size(dim)
		part, err := out.physical.Slice(dim, from, from+size, 1)
		if err != nil {
			return false
		}
		s.parts = append(s.parts, len(b.facts))
		b.facts = append(b.facts, fact{logical: part, physical: part, root: n.out, at: i})
		from += size
	}
	b.place(i, s)
	return true
}

func (s *joinStep) gives() int   { return s.out }
func (s *joinStep) reads() []int { return s.list }
func (s *joinStep) text() string { return "cat" }

func (s *joinStep) run(x *frame) error {
	for i, v := range s.list {
		if err := tensor.Copy(x.values[s.parts[i]], x.values[v]); err != nil {
			return err
		}
	}
	return nil
}

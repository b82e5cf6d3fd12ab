package plan

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/nn"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// recurrentStep runs the steps of recurrent layers, whose weights for the state are packed once for all calls.
type recurrentStep struct {
	node    *node
	name    string  // of the operator
	lists   [][]int // by argument: the values of a list of tensors
	weights *Weights
	outs    []int

	mu   sync.Mutex
	kept map[matrixKey]*sharedMatrix // by their keys without the count of writes
}

// inferRecurrent finds what recurrent layers give: the states of the last layer after each step, and the last ones of all layers.
func (b *builder) inferRecurrent(n *node) error {
	in, state, settings := b.facts[n.refs[0]].logical, n.refs[1], n.args[2:]
	states := []int{state}
	if list := b.facts[max(state, 0)].list; state >= 0 && list != nil {
		states = list
	}
	if state < 0 || len(states) != len(n.at.Outputs())-1 || in.Dim() != 3 || in.DType() != tensor.Float32 || n.refs[2] < 0 && settings[0].Kind() != value.KindList {
		return unplanned("recurrent layers have arguments that plans do not take")
	}
	dropout, train, bidirectional := settings[3], settings[4], settings[5]
	if train.Bool() && dropout.Float() > 0 {
		return unplanned("a dropout is in training")
	}
	last := b.facts[states[0]].logical
	if last == nil || last.Dim() != 3 {
		return unplanned("recurrent layers have states of other dimensions")
	}
	size := last.Size(2)
	if bidirectional.Bool() {
		size *= 2
	}
	shapes := [][]int{{in.Size(0), in.Size(1), size}}
	for _, v := range states {
		shapes = append(shapes, b.facts[v].logical.Shape())
	}
	for k, shape := range shapes {
		t, err := metaOf(shape, nil, tensor.Float32)
		if err != nil {
			return err
		}
		if t.Numel() == 0 {
			return unplanned("a tensor has no elements")
		}
		b.facts[n.out+k].logical, b.facts[n.out+k].physical = t, t
	}
	if settings[6].Bool() { // the batch comes first: the result is a transposition of what is computed
		steps, batch := in.Size(1), in.Size(0)
		t, err := metaOf(shapes[0], []int{size, batch * size, 1}, tensor.Float32)
		if err != nil || steps < 0 {
			return err
		}
		b.facts[n.out].logical = t
	}
	return nil
}

// recurrent makes the step of recurrent layers.
func (b *builder) recurrent(i int) {
	n := &b.nodes[i]
	s := &recurrentStep{node: n, name: n.op.Name, weights: b.cache.all}
	for _, v := range n.refs {
		var list []int
		if v >= 0 {
			list = b.facts[v].list
		}
		s.lists = append(s.lists, list)
	}
	for k := range n.at.Outputs() {
		s.outs = append(s.outs, n.out+k)
	}
	b.place(i, s)
}

func (s *recurrentStep) gives() int       { return s.outs[0] }
func (s *recurrentStep) alsoGives() []int { return s.outs[1:] }
func (s *recurrentStep) text() string     { return s.name[len("aten::") : len(s.name)-len(".input")] }

func (s *recurrentStep) reads() (found []int) {
	for k, v := range s.node.refs {
		switch {
		case s.lists[k] != nil:
			found = append(found, s.lists[k]...)
		case v >= 0 && k != 2: // 2 is the list of weights
			found = append(found, v)
		}
	}
	return found
}

func (s *recurrentStep) run(x *frame) error {
	args := slices.Clone(s.node.args)
	for k, v := range s.node.refs {
		switch {
		case s.lists[k] != nil:
			list := value.NewList(types.Tensor)
			for _, item := range s.lists[k] {
				list.Items = append(list.Items, value.OfTensor(x.values[item]))
			}
			args[k] = value.OfList(list)
		case v >= 0 && x.values[v] != nil:
			args[k] = value.OfTensor(x.values[v])
		case v >= 0:
			args[k] = x.given.numbers[v]
		}
	}
	out := make([]value.Value, len(s.outs))
	if err := nn.RunRecurrent(s.name, args, out, s.packed); err != nil {
		return err
	}
	for k, v := range s.outs {
		t, to := out[k].Tensor(), x.values[v]
		if !tensor.SameShape(t.Shape(), to.Shape()) {
			return unplanned("recurrent layers give something else than their sizes say")
		}
		if err := tensor.Copy(to, t); err != nil {
			return err
		}
		t.SetUsers(1) // it may be a view of what the layers made
		t.Release()
	}
	return nil
}

// packed is nn.PackedWeights: matrices that others may write unseen are packed for the call alone.
func (s *recurrentStep) packed(weight *tensor.Tensor, rows int) *gemm.Weights[float32] {
	pack := func() *gemm.Weights[float32] {
		whole, err := weight.Contiguous()
		if err != nil {
			panic(err)
		}
		k, n := weight.Size(1), weight.Size(0)
		m := gemm.Matrix[float32]{Data: tensor.Data[float32](whole), Stride: k, Transposed: true}
		w := gemm.PackWeights(m, k, n, rows, gemm.AlignedRoom(k, n))
		return &w
	}
	of, ok := stampOf(weight)
	if !ok {
		return pack()
	}
	rows = packedRows(rows)
	key := matrixKey{uintptr(unsafe.Pointer(of.storage)), uintptr(of.at), of.strides, of.numel, of.writes, weight.Size(1), weight.Size(0), rows}
	shared := s.weights.of(key, of.storage, func(m *sharedMatrix) {
		weight.Retain()
		m.few = pack()
	})
	s.keep(key, shared)
	return shared.few
}

// packedRows returns the number of rows that weights are packed for: there are few such numbers.
func packedRows(rows int) int {
	for _, n := range []int{1, fewRows} {
		if rows <= n {
			return n
		}
	}
	return 4 * fewRows
}

// keep keeps a packed matrix, in place of that of the same tensor before it was written.
func (s *recurrentStep) keep(key matrixKey, m *sharedMatrix) {
	key.writes = 0
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil || len(s.kept) == mostKept {
		s.kept = map[matrixKey]*sharedMatrix{}
	}
	s.kept[key] = m
}

// mostKept bounds the matrices that a step keeps: a module whose parameters are replaced brings others.
const mostKept = 64

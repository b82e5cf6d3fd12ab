package fuse

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// program computes the gradients of a level. It has kernels for each set of outs whose gradients were met.
type program struct {
	*recorded
	level    *autograd.Level
	tensors  []*tensor.Tensor // without elements, like those of the first run
	numbers  []tensor.Scalar
	mu       sync.Mutex
	variants atomic.Pointer[[]*variant]
}

// variant is the kernels for one set of outs. Its values are the inputs of the group, the gradients of the outs, the results of the
// group's steps and those of the derivatives.
type variant struct {
	present uint64
	err     error // why there are none
	stages  *elementwise.Schedule
	values  int
	saved   []int // places of Saved, -1 for what is not needed
	grads   []int // places of the outs' gradients, -1 for those that are not given
	wanted  []int // places of the gradients of Ins, -1 for zero
}

func (p *program) find(present uint64) *variant {
	if known := p.variants.Load(); known != nil {
		for _, v := range *known {
			if v.present == present {
				return v
			}
		}
	}
	return nil
}

// variant returns the kernels for a set of outs.
func (p *program) variant(present uint64) *variant {
	if v := p.find(present); v != nil {
		return v
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if v := p.find(present); v != nil {
		return v
	}
	v, err := p.make(present)
	if err != nil {
		v = &variant{present: present, err: err}
	}
	all := []*variant{v}
	if known := p.variants.Load(); known != nil {
		all = append(all, *known...)
	}
	p.variants.Store(&all)
	return v
}

func (p *program) make(present uint64) (*variant, error) {
	var given []int
	for i, v := range p.level.Outs {
		if present>>i&1 != 0 {
			given = append(given, v)
		}
	}
	var found [2]*sketch
	var grads [2][]*tensor.Tensor
	for i, numbers := range [2][]tensor.Scalar{likeNumbers(p.numbers, 1000003, 7), likeNumbers(p.numbers, 2000029, 11)} {
		s, err := p.sketch(p.tensors, numbers, given)
		defer s.close()
		if err != nil {
			return nil, err
		}
		grads[i] = make([]*tensor.Tensor, len(s.values))
		for k, v := range given {
			grads[i][v] = s.grads[k]
		}
		if err := s.tape.Gradients(p.level.Reaches(present), grads[i], func(int, int) {}); err != nil {
			return nil, err
		}
		found[i] = s
	}
	inputs, n := len(p.tensors), len(given)
	place := func(v int) int {
		if v >= inputs {
			v += n
		}
		return v
	}
	s := found[0]
	f, err := s.rec.Steps(inputs+n, s.numbers, found[1].rec, found[1].numbers)
	if err != nil {
		return nil, err
	}
	v := &variant{present: present, values: f.Values()}
	if v.values > mostValues {
		return nil, errTooLarge
	}
	known := make([]bool, v.values)
	reads := p.level.Reads(present)
	for _, saved := range p.level.Saved {
		at := -1
		if slices.Contains(reads, saved) || saved >= inputs && !p.group.IsOutput(saved) {
			at = place(saved)
			known[at] = true
		}
		v.saved = append(v.saved, at)
	}
	at := inputs
	for i := range p.level.Outs {
		if present>>i&1 == 0 {
			v.grads = append(v.grads, -1)
			continue
		}
		v.grads = append(v.grads, at)
		known[at] = true
		at++
	}
	var wanted []int
	for _, in := range p.level.Ins {
		at := -1
		if g := grads[0][in]; g != nil {
			var ok bool
			if at, ok = s.rec.Number(g); !ok {
				return nil, errTooLarge
			}
			if !slices.Contains(wanted, at) && !known[at] {
				wanted = append(wanted, at)
			}
		}
		v.wanted = append(v.wanted, at)
	}
	v.stages, err = f.Schedule(wanted, known)
	return v, err
}

// differentiate computes the gradients of one node.
func (p *program) differentiate(n *autograd.GroupNode, present uint64, grads, given []*tensor.Tensor) (bool, error) {
	v := p.variant(present)
	if v.err != nil {
		p.tell("gradients: " + v.err.Error())
		return false, nil
	}
	var room [mostValues]*tensor.Tensor
	values := room[:v.values]
	for i, at := range v.saved {
		if at >= 0 {
			values[at] = n.SavedValue(i)
		}
	}
	for i, at := range v.grads {
		if at >= 0 {
			values[at] = grads[i]
		}
	}
	shapes := elementwise.Shapes{Whole: n.Whole, Small: n.Small}
	for i, in := range p.level.Ins {
		if in < len(p.tensors) {
			shapes.Inputs[in] = n.InputShape(i)
		}
	}
	if ok, err := v.stages.Run(values, &shapes, n.Numbers); !ok || err != nil {
		p.tell("gradients: their layouts differ")
		return false, err
	}
	for i, at := range v.wanted {
		if at >= 0 {
			given[i] = values[at]
		}
	}
	return true, nil
}

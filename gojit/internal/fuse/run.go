package fuse

import (
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sorted puts the arguments behind tensors and numbers, which have room for them. ok is false where kernels cannot read them.
func (r *runner) sorted(m *autograd.Mode, args []value.Value, tensors []*tensor.Tensor, numbers []tensor.Scalar) (
	_ []*tensor.Tensor, _ []tensor.Scalar, k kinds, ok bool) {
	k.types = uint64(tensor.DefaultDType())
	var on *tensor.Tensor // the first tensor, beside which the others are
	for i, isTensor := range r.tensors {
		switch v := args[i]; {
		case isTensor:
			recorded, ok := plain(m, v)
			if !ok {
				if !v.IsTensor() || v.Tensor().Device().Type != tensor.Meta {
					r.tell("a tangent or another mode goes through them, or a tensor has no elements that kernels read")
				}
				return nil, nil, k, false
			}
			t := v.Tensor()
			switch {
			case on == nil:
				on = t
			case t.Device() != on.Device():
				r.tell("their tensors are on several devices")
				return nil, nil, k, false
			}
			if recorded {
				k.needs |= 1 << len(tensors)
			}
			tensors = append(tensors, t)
			k.types = k.types<<6 | uint64(t.DType())<<1
			if t.Dim() == 0 {
				k.types |= 1
			}
		case v.IsInt():
			numbers = append(numbers, tensor.Int(v.Int()))
			k.types = k.types<<1 | 1
		default:
			numbers = append(numbers, tensor.Float(v.Float()))
			k.types <<= 1
		}
	}
	return tensors, numbers, k, true
}

func (r *runner) run(m *autograd.Mode, args, out []value.Value) bool {
	var tensorRoom [elementwise.MostFused]*tensor.Tensor
	var numberRoom [mostNumbers]tensor.Scalar
	if r.fuser.disabled.Load() {
		return false
	}
	tensors, numbers, k, ok := r.sorted(m, args, tensorRoom[:0], numberRoom[:0])
	return ok && r.runOn(m, k, tensors, numbers, out)
}

// runOn runs the elementwise nodes.
func (r *runner) runOn(m *autograd.Mode, k kinds, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	if k.needs != 0 {
		return r.runRecorded(m, k, tensors, numbers, out)
	}
	fused, ok := r.known.find(k.types)
	if !ok {
		fused = r.make(k.types, tensors, numbers)
	}
	if fused == nil {
		return false
	}
	var results [elementwise.MostFused]*tensor.Tensor
	if !fused.Run(tensors, numbers, results[:len(out)]) {
		r.tell("their shapes or layouts are of more than two kinds")
		return false
	}
	for i := range out {
		out[i] = value.OfTensor(results[i])
	}
	return true
}

// plain reports whether v is a tensor that kernels read as it is, and whether what is computed from it is recorded.
func plain(m *autograd.Mode, v value.Value) (recorded, ok bool) {
	if !v.IsTensor() || v.Tensor().Device().Type == tensor.Meta || m.IsCasting() {
		return false, false
	}
	return m.Groups(v.Tensor())
}

func (d *reducer) run(m *autograd.Mode, args, out []value.Value) bool {
	var tensorRoom [elementwise.MostFused]*tensor.Tensor
	var numberRoom [mostNumbers]tensor.Scalar
	if d.fuser.disabled.Load() {
		return false
	}
	tensors, numbers, k, ok := d.sorted(m, args, tensorRoom[:0], numberRoom[:0])
	switch {
	case !ok:
		return false
	case k.needs == 0 && d.atOnce(k, tensors, numbers, out):
		return true
	}
	var room [elementwise.MostFused]value.Value
	results := room[:len(d.results)]
	if !d.sumRecorded(m, k, tensors, numbers, results) {
		if !d.runOn(m, k, tensors, numbers, results) {
			return false
		}
		last := len(results) - 1
		if results[last], ok = d.finish(m, results[last].Tensor()); !ok {
			return false
		}
	}
	for i, at := range d.places {
		out[at] = results[i]
	}
	return true
}

// sums reports whether the reduction is a sum or a mean, whose gradient needs no elements.
func (d *reducer) sums() bool {
	return d.op.BaseName() == aten.Sum || d.op.BaseName() == aten.Mean
}

// given are the arguments of the reduction of t.
func (d *reducer) given(t *tensor.Tensor) []value.Value {
	return append([]value.Value{value.OfTensor(t)}, d.args...)
}

// sumRecorded runs the whole group as one kernel where gradients go through it.
func (d *reducer) sumRecorded(m *autograd.Mode, k kinds, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	shape, err := elementwise.BroadcastAll(tensors)
	if err != nil || k.needs == 0 || !d.sums() {
		return false
	}
	r := d.recordedFor(k, shape, tensors, numbers)
	return r != nil && r.runSum(m, shape, tensors, numbers, out)
}

// finish runs the reduction of t alone. It reports false where that fails: the node itself tells why.
func (d *reducer) finish(m *autograd.Mode, t *tensor.Tensor) (reduced value.Value, ok bool) {
	out := make([]value.Value, 1)
	t.MarkTemporary()
	if d.operate(m, d.given(t), out) != nil {
		return value.None, false
	}
	switch {
	case out[0].Tensor() == t || !t.IsTemporary():
		t.UnmarkTemporary()
	default:
		autograd.Drop(t)
	}
	return out[0], true
}

// atOnce runs the whole group as one kernel.
func (d *reducer) atOnce(k kinds, tensors []*tensor.Tensor, numbers []tensor.Scalar, out []value.Value) bool {
	reduced, ok := d.reduced.find(k.types)
	if !ok {
		reduced = d.makeReduced(k.types, tensors, numbers)
	}
	var results [elementwise.MostFused]*tensor.Tensor
	if reduced == nil {
		return false
	}
	if !reduced.Run(tensors, numbers, results[:len(d.places)]) {
		d.tell("the reduction runs alone: the operands are no rows that lie side by side")
		return false
	}
	for i, at := range d.places {
		out[at] = value.OfTensor(results[i])
	}
	return true
}

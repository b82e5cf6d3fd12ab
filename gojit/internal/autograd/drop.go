package autograd

import "github.com/torchjit/torchjit/gojit/tensor"

// Drop says that one of the registers that have t, or its only owner, has no use for it any more. Behind the last one its memory is used again as soon
// as no node holds it; without nodes, so is the tensor itself.
func Drop(t *tensor.Tensor) {
	if t.IsShared() {
		t.AddRegisters(-1)
		return
	}
	t.UnmarkTemporary()
	switch {
	case !t.RequiresGrad() && t.History() == nil:
		t.Release()
	case Tangent(t) == nil:
		t.GiveUp() // nodes may hold it
	}
}

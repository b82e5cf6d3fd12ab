package autograd

import "github.com/torchjit/torchjit/gojit/tensor"

// Drop says that the only owner of t has no use for it any more. Its memory is used again as soon as no node holds it; without nodes, so is
// the tensor itself.
func Drop(t *tensor.Tensor) {
	t.UnmarkTemporary()
	switch {
	case !t.RequiresGrad() && t.History() == nil:
		t.Release()
	case Tangent(t) == nil:
		t.GiveUp() // nodes may hold it
	}
}

package tensor

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// tracked is set for good when the first tensor requires a gradient, gets a tangent or becomes an inference tensor, inferenceInUse when
// one does that.
var tracked, inferenceInUse atomic.Bool

// Tracked reports whether there ever was a tensor that required a gradient, one with a tangent or an inference tensor.
func Tracked() bool { return tracked.Load() }

// Track says that operators are to look at what is kept about tensors.
func Track() {
	if !tracked.Load() {
		tracked.Store(true)
	}
}

// InferenceInUse reports whether there ever was an inference tensor.
func InferenceInUse() bool { return inferenceInUse.Load() }

// MakeInference makes t and all tensors that share its memory inference tensors.
func (t *Tensor) MakeInference() {
	t.storage.inference.Store(true)
	inferenceInUse.Store(true)
	tracked.Store(true)
}

// IsInference reports whether the memory of t was made in inference mode.
func (t *Tensor) IsInference() bool { return t.storage.inference.Load() }

// RequiresGrad reports whether operations on the tensor are to be recorded. A view does from the
// moment on when a recorded operation wrote its base.
func (t *Tensor) RequiresGrad() bool { return t.requiresGrad || t.IsStale() }

// IsStale reports whether the base of a view was written by a recorded operation after the view's
// history was made.
func (t *Tensor) IsStale() bool { return t.base != nil && t.base.generation != t.generation }

// SetRequiresGrad changes whether operations are recorded. It fails on types without derivatives
// and where it would cut off what made the tensor.
func (t *Tensor) SetRequiresGrad(on bool) error {
	if on && !t.dtype.IsDifferentiable() {
		return source.Errorf(source.RuntimeError, source.Range{}, "only Tensors of floating point and complex dtype can require gradients")
	}
	if !on && !t.IsLeaf() {
		return source.Errorf(source.RuntimeError, source.Range{}, "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a subgraph that doesn't require differentiation use var_no_grad = var.detach().")
	}
	if on {
		Track()
	}
	t.requiresGrad = on
	return nil
}

// IsLeaf reports whether no recorded operation made the tensor.
func (t *Tensor) IsLeaf() bool {
	h, made := t.History().(interface{ IsLeaf() bool })
	return !t.RequiresGrad() || !t.IsStale() && (!made || h.IsLeaf())
}

// History returns what the tape keeps about the tensor, nil at first.
func (t *Tensor) History() any {
	if h := t.history.Load(); h != nil {
		return *h
	}
	return nil
}

// SetHistory replaces what the tape keeps about the tensor.
func (t *Tensor) SetHistory(h any) {
	if h == nil {
		t.history.Store(nil)
		return
	}
	t.separate()
	t.history.Store(&h)
}

// OfferHistory gives a tensor without a history this one, and returns the history that it has then,
// which another goroutine may have given.
func (t *Tensor) OfferHistory(h any) any {
	if !t.history.CompareAndSwap(nil, &h) {
		return t.History()
	}
	return h
}

// Base returns the tensor that t is a view of, nil where it is none.
func (t *Tensor) Base() *Tensor { return t.base }

// SetBase says what t is a view of; nil: it is a tensor of its own.
func (t *Tensor) SetBase(base *Tensor) {
	t.base, t.generation = base, 0
	if base != nil {
		if base.base != nil {
			t.base = base.base
		}
		t.generation = t.base.generation
	}
}

// Rewrite says that a recorded operation wrote t, which is no view: the histories of its views are stale.
func (t *Tensor) Rewrite() { t.generation++ }

// Refresh says that the history of a view is that of its base as it is now.
func (t *Tensor) Refresh() {
	if t.base != nil {
		t.generation = t.base.generation
	}
}

// Retain leaves the tensor and its memory to the collector, whoever releases it.
func (t *Tensor) Retain() {
	t.storage.refs.Add(1)
	t.released.Store(true)
}

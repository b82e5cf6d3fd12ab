package tensor

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// foreign is what few tensors need: those of a class of the host, sparse ones, views of conjugates and negatives, and those with named dimensions.
type foreign struct {
	dispatches bool   // its class runs operators on it
	wraps      bool   // there are no elements behind it
	device     Device // that one without elements says it is on
	sparse     *Sparse
	bits       Bits
	names      []string // of the dimensions, nil where none has one
	keeper     any      // keeps its host object, while only the library holds the tensor
}

// foreignInUse is set for good when the first tensor has a class that runs operators.
var foreignInUse atomic.Bool

// ForeignInUse reports whether there ever was a tensor whose class runs operators.
func ForeignInUse() bool { return foreignInUse.Load() }

func (t *Tensor) foreignly() *foreign {
	if t.foreign == nil {
		t.foreign = &foreign{}
	}
	return t.foreign
}

// Dispatches reports whether the class of t's host object runs operators on it.
func (t *Tensor) Dispatches() bool { return t.foreign != nil && t.foreign.dispatches }

// SetDispatches says whether it does.
func (t *Tensor) SetDispatches(on bool) {
	if !on && t.foreign == nil {
		return
	}
	t.foreignly().dispatches = on
	if on {
		foreignInUse.Store(true)
		Track()
	}
}

// Wraps reports whether t has a geometry and a device, but no elements: its host object has what stands for them.
func (t *Tensor) Wraps() bool { return t.foreign != nil && t.foreign.wraps }

// ShownDevice returns the device that t says it is on. The library knows one without elements as a tensor on meta.
func (t *Tensor) ShownDevice() Device {
	if t.Wraps() || t.IsSparse() || t.Bits() != 0 {
		return t.foreign.device
	}
	return t.device
}

// Keeper returns what keeps the host object of t, nil where the host does.
func (t *Tensor) Keeper() any {
	if t.foreign == nil {
		return nil
	}
	return t.foreign.keeper
}

// SetKeeper says what keeps the host object of t.
func (t *Tensor) SetKeeper(k any) {
	if k == nil && t.foreign == nil {
		return
	}
	t.foreignly().keeper = k
}

// IsRetained reports whether Retain or Hold was called: somebody besides the host uses t.
func (t *Tensor) IsRetained() bool { return t.released.Load() || t.IsHeld() }

// ShareWrites has t, which has no elements, count writes together with what it is a view of, which has none either.
func (t *Tensor) ShareWrites(base *Tensor) {
	if t.Wraps() && base.Wraps() && t.storage != base.storage {
		base.storage.refs.Add(1)
		t.storage.refs.Add(-1)
		t.storage = base.storage
	}
}

// NewWrapper returns a tensor with a geometry, a type and a device, but without elements. Strides may be nil: it is contiguous then.
func NewWrapper(shape, strides []int, offset int, dtype DType, device Device) (*Tensor, error) {
	t, err := EmptyMeta(shape, dtype)
	if err != nil {
		return nil, err
	}
	if strides != nil {
		if len(strides) != len(shape) {
			return nil, source.Errorf(source.RuntimeError, source.Range{},
				"mismatch in length of strides and shape: %d and %d", len(strides), len(shape))
		}
		copy(t.strides, strides)
	}
	t.offset = offset
	f := t.foreignly()
	f.wraps, f.device = true, device
	return t, nil
}

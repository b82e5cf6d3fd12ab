package tensor

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// hollow is memory that is there when somebody first looks at it.
type hollow struct {
	nbytes int
	fill   func()
	once   sync.Once
	filled atomic.Bool
}

// EmptyHollow returns a tensor of the given geometry, contiguous where strides are nil, whose elements nobody is going to
// look at: an operator that knows so (IsHollow) need not compute. Who looks all the same finds zeros, on which fill, if there is one, has run. It fails as Empty does.
func EmptyHollow(shape, strides []int, dtype DType, fill func(t *Tensor)) (*Tensor, error) {
	numel, err := Numel(shape)
	if err != nil {
		return nil, err
	}
	reach := numel
	if strides != nil {
		if reach, err = checkStrides(shape, strides); err != nil {
			return nil, err
		}
	}
	t := &Tensor{numel: numel, dtype: dtype}
	t.setShape(shape)
	if strides == nil {
		fillContiguousStrides(t.strides, t.shape)
	} else {
		copy(t.strides, strides)
	}
	t.storage = &Storage{hollow: &hollow{nbytes: reach * dtype.Size()}}
	t.storage.refs.Store(1)
	if fill != nil {
		view := t.unowned()
		t.storage.hollow.fill = func() { fill(view) }
	}
	return t, nil
}

// IsHollow reports whether nobody has looked at the elements, and nobody is going to.
func (t *Tensor) IsHollow() bool {
	h := t.storage.hollow
	return h != nil && !h.filled.Load()
}

// unowned returns a tensor of the same memory and geometry that does not keep it from being given back.
func (t *Tensor) unowned() *Tensor {
	view := &Tensor{storage: t.storage, offset: t.offset, numel: t.numel, dtype: t.dtype}
	view.setShape(t.shape)
	copy(view.strides, t.strides)
	view.released.Store(true)
	return view
}

// copyLater makes dst a copy of src when somebody looks; both are hollow.
func copyLater(dst, src *Tensor) {
	before, into, from := dst.storage.hollow.fill, dst.unowned(), src.unowned()
	dst.storage.hollow.fill = func() {
		if before != nil {
			before()
		}
		copyElements(into, from)
	}
}

// materialize makes the memory of a hollow storage.
func (s *Storage) materialize() {
	h := s.hollow
	if h == nil || h.filled.Load() {
		return
	}
	h.once.Do(func() {
		if err := s.allocate(h.nbytes, true); err != nil {
			source.Throw(err)
		}
		h.filled.Store(true)
		if h.fill != nil {
			h.fill()
		}
	})
}

// latePointer is DataPtr of a tensor without memory, which is made where the storage is hollow. It fails on a tensor that has elements and no
// memory for them: one on a device, on meta among them, or sparse.
func (t *Tensor) latePointer() unsafe.Pointer {
	if t.numel == 0 {
		return nil
	}
	if t.storage.device.Type == CUDA {
		t.storage.refuseAccess()
	}
	if t.storage.hollow == nil {
		source.Raise(source.RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage")
	}
	t.storage.materialize()
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(t.storage.data)), t.offset*t.dtype.Size())
}

package tensor

import "github.com/torchjit/torchjit/gojit/internal/source"

// Pinner is a Backend that has memory of the processor which stays where it is: devices copy from it and to it while the processor goes on.
type Pinner interface {
	// Pin returns a storage of such memory, whose bytes are undefined.
	Pin(nbytes int) (*Storage, error)
	// IsPinned reports whether the memory of a tensor of the processor is such.
	IsPinned(t *Tensor) bool
	// CopyLater is Copy that does not wait where the processor's memory is pinned: the elements are there once the device has come to it.
	CopyLater(dst, src *Tensor) error
}

// pinner returns what has pinned memory.
func pinner() (Pinner, error) {
	device, err := FindDevice(NewDevice(CUDA, -1))
	if err == nil {
		b, _ := BackendOf(device) // that has found it
		if p, ok := b.(Pinner); ok {
			return p, nil
		}
	}
	refused := source.Errorf(source.RuntimeError, source.Range{}, "Pinned memory requires CUDA.")
	if err != nil {
		refused.Advice = append(refused.Advice, err.Error())
	}
	return nil, refused
}

// EmptyPinned is EmptyStrided in pinned memory. It fails as that does, and where there is no device.
func EmptyPinned(shape, strides []int, dtype DType) (*Tensor, error) {
	p, err := pinner()
	if err != nil {
		return nil, err
	}
	reach, err := checkStrides(shape, strides)
	if err != nil {
		return nil, err
	}
	s, err := p.Pin(reach * dtype.Size())
	if err != nil {
		return nil, err
	}
	return FromStorage(s, 0, shape, strides, dtype)
}

// IsPinned reports whether the memory is pinned.
func (t *Tensor) IsPinned() bool {
	if t.device.Type != CPU || t.storage.foreign == nil {
		return false
	}
	p, err := pinner()
	return err == nil && p.IsPinned(t)
}

// PinMemory returns the elements in pinned memory: t where they are there already. It fails where t is not the processor's, and where there is no device.
func (t *Tensor) PinMemory() (*Tensor, error) {
	if t.device.Type != CPU || t.IsSparse() {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "cannot pin a tensor on the device %s: only dense CPU tensors can be pinned", t.device)
	}
	if t.IsPinned() {
		return t, nil
	}
	made, err := EmptyPinned(t.shape, densely(t), t.dtype)
	if err != nil {
		return nil, err
	}
	made.quantizer = t.quantizer
	return made, Copy(made, t)
}

// densely returns the strides of a copy of t whose elements lie side by side, in t's order where that has one.
func densely(t *Tensor) []int {
	like, err := EmptyMetaFormat(t, t.dtype, PreserveFormat)
	if err != nil {
		return t.strides
	}
	return like.strides
}

// CopyLater is Copy that does not wait for a device where the processor's memory is pinned.
func CopyLater(dst, src *Tensor) error {
	if dst.OnDevice() == src.OnDevice() || dst.device.Type == Meta || src.device.Type == Meta {
		return Copy(dst, src)
	}
	return copyAcross(dst, src, true)
}

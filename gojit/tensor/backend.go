package tensor

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// NoDevicesError says that tensors cannot be on devices of a kind.
type NoDevicesError struct {
	Device Device
	Why    string // what was looked for, and where
}

func (e *NoDevicesError) Error() string {
	return "there are no tensors on the device " + e.Device.String() + ": " + e.Why
}

// Backend has the memory of the devices of one kind, and does there what this package does to elements: their addresses are numbers here, and
// mean nothing to the processor. Package gojit/cuda brings the one of CUDA.
type Backend interface {
	// Find returns a device with its index, that of the current one where none is given. It fails where there is no such device, with a
	// NoDevicesError where there are none at all.
	Find(d Device) (Device, error)
	// Allocate returns memory of nbytes bytes, which hold anything, and what gives it back.
	Allocate(d Device, nbytes int) (at uint64, release func(), err error)
	// Copy stores the elements of src, broadcast and converted, into dst. One of them, or both, are on devices of the kind.
	Copy(dst, src *Tensor) error
	// Fill stores a number in every element.
	Fill(t *Tensor, value Scalar) error
}

// cudaBackend runs tensors on CUDA devices, nil where nothing was registered.
var (
	backendMu   sync.Mutex
	cudaBackend Backend
)

// RegisterCUDA has b keep the tensors on CUDA devices, and returns what did so before.
func RegisterCUDA(b Backend) (before Backend) {
	backendMu.Lock()
	defer backendMu.Unlock()
	before, cudaBackend = cudaBackend, b
	return before
}

// BackendOf returns what keeps the tensors on a device. It fails with a NoDevicesError where nothing does.
func BackendOf(d Device) (Backend, error) {
	backendMu.Lock()
	defer backendMu.Unlock()
	if d.Type != CUDA || cudaBackend == nil {
		return nil, &NoDevicesError{d, "the program was built without anything that keeps them there"}
	}
	return cudaBackend, nil
}

// FindDevice returns the device that tensors are on which are asked for on d: that of the current index where d has none. It fails where
// there is none.
func FindDevice(d Device) (Device, error) {
	switch d.Type {
	case CPU:
		return Device{}, nil
	case Meta:
		return NewDevice(Meta, -1), nil
	}
	b, err := BackendOf(d)
	if err != nil {
		return d, err
	}
	return b.Find(d)
}

// OnDevice reports whether the elements are in memory that the processor cannot look at.
func (t *Tensor) OnDevice() bool { return t.device.Type == CUDA }

// HostAccessError says that the processor was to read or write elements in the memory of a device.
type HostAccessError struct{ err *source.Error }

func (e *HostAccessError) Error() string { return e.err.Error() }
func (e *HostAccessError) Unwrap() error { return e.err }

// refuseAccess fails because the memory of a storage is not the processor's.
func (s *Storage) refuseAccess() {
	source.Throw(&HostAccessError{source.Errorf(source.NotImplementedError, source.Range{},
		"the processor was to read or write the memory of a tensor on the device %s: copy it with cpu() first", s.device)})
}

// DeviceStorage is ForeignStorage for memory of a device, at an address that the processor cannot look at.
func DeviceStorage(at uint64, nbytes int, device Device, release func()) *Storage {
	awayInUse.Or(deviceInUse)
	s := ForeignStorage(nil, release)
	s.foreign.at, s.foreign.nbytes, s.device = at, nbytes, device
	return s
}

// Address returns where the first element is in the memory of t's device, 0 for a tensor without elements.
func (t *Tensor) Address() uint64 {
	if t.numel == 0 || t.storage.foreign == nil || t.storage.foreign.nbytes == 0 {
		return 0
	}
	return t.storage.foreign.at + uint64(t.offset*t.dtype.Size())
}

// DeviceWrites counts how often the memory of t, which is a device's, was written; it is 0 for other tensors.
func (t *Tensor) DeviceWrites() uint64 {
	if !t.OnDevice() {
		return 0
	}
	return t.storage.foreign.writes.Load()
}

// NoteDeviceWrite says that the memory of t, which is a device's, was written.
func (t *Tensor) NoteDeviceWrite() { t.storage.foreign.writes.Add(1) }

// EmptyOn is Empty on a device. It fails as Empty does, and where there is no such device.
func EmptyOn(d Device, shape []int, dtype DType) (*Tensor, error) {
	if d.Type == CPU {
		return Empty(shape, dtype)
	}
	strides := make([]int, len(shape))
	if _, err := Numel(shape); err != nil {
		return nil, err
	}
	fillContiguousStrides(strides, shape)
	return EmptyStridedOn(d, shape, strides, dtype)
}

// EmptyStridedOn is EmptyStrided on a device, with the failures of EmptyOn.
func EmptyStridedOn(d Device, shape, strides []int, dtype DType) (*Tensor, error) {
	switch d.Type {
	case CPU:
		return EmptyStrided(shape, strides, dtype)
	case Meta:
		t, err := EmptyMeta(shape, dtype)
		if err == nil {
			copy(t.strides, strides)
		}
		return t, err
	}
	b, err := BackendOf(d)
	if err != nil {
		return nil, err
	}
	if d, err = b.Find(d); err != nil {
		return nil, err
	}
	reach, err := checkStrides(shape, strides)
	if err != nil {
		return nil, err
	}
	s, err := allocateOn(b, d, reach*dtype.Size())
	if err != nil {
		return nil, err
	}
	return FromStorage(s, 0, shape, strides, dtype)
}

func allocateOn(b Backend, d Device, nbytes int) (*Storage, error) {
	at, release, err := b.Allocate(d, nbytes)
	if err != nil {
		return nil, err
	}
	return DeviceStorage(at, nbytes, d, release), nil
}

// EmptyFormatOn is EmptyFormat on a device, with the failures of EmptyOn.
func EmptyFormatOn(d Device, t *Tensor, dtype DType, format MemoryFormat) (*Tensor, error) {
	strides, err := formatStrides(t, format)
	switch {
	case err != nil:
		return nil, err
	case strides == nil:
		return EmptyOn(d, t.shape, dtype)
	}
	return EmptyStridedOn(d, t.shape, strides, dtype)
}

// ToDevice returns t where it is on the device and a copy there otherwise.
func (t *Tensor) ToDevice(d Device) (*Tensor, error) {
	d, err := FindDevice(d)
	if err != nil || t.ShownDevice() == d {
		return t, err
	}
	c, err := EmptyFormatOn(d, t, t.dtype, PreserveFormat)
	if err != nil {
		return nil, err
	}
	c.quantizer, c.lengths = t.quantizer, t.lengths
	return c, Copy(c, t)
}

// onHost returns a tensor whose elements the processor can read: t, or a copy of one on a device.
func (t *Tensor) onHost() (*Tensor, error) {
	if t.Bits() != 0 {
		return t.Resolved()
	}
	if !t.OnDevice() {
		return t, nil
	}
	return t.ToDevice(Device{})
}

// copyAcross is Copy where a tensor is not the processor's, or CopyLater.
func copyAcross(dst, src *Tensor, later bool) error {
	if dst.device.Type == Meta {
		return nil
	}
	if src.device.Type == Meta {
		return source.Errorf(source.NotImplementedError, source.Range{}, "Cannot copy out of meta tensor; no data!")
	}
	if !SameShape(dst.shape, src.shape) {
		if shape, err := Broadcast(dst.shape, src.shape); err != nil || !SameShape(shape, dst.shape) {
			return copyShapeError(dst, src)
		}
	}
	if dst.dtype != src.dtype && (dst.dtype.IsQuantized() || src.dtype.IsQuantized()) {
		return source.Errorf(source.NotImplementedError, source.Range{}, "copies between devices do not quantize: %s is not %s", src.dtype, dst.dtype)
	}
	if dst.numel == 0 {
		return nil
	}
	on := dst.device
	if !dst.OnDevice() {
		on = src.device
	}
	b, err := BackendOf(on)
	if err != nil {
		return err
	}
	if dst.OnDevice() {
		dst.NoteDeviceWrite()
	}
	if p, ok := b.(Pinner); ok && later {
		return p.CopyLater(dst, src)
	}
	return b.Copy(dst, src)
}

// resizeOnDevice is Resize of memory on a device.
func (s *Storage) resizeOnDevice(nbytes int) error {
	b, err := BackendOf(s.device)
	if err != nil {
		return err
	}
	grown, err := allocateOn(b, s.device, nbytes)
	if err != nil {
		return err
	}
	old := DeviceStorage(s.foreign.at, s.foreign.nbytes, s.device, nil)
	if old.foreign.nbytes > 0 {
		n := old.foreign.nbytes
		dst, err := FromStorage(grown, 0, []int{n}, []int{1}, Uint8)
		if err != nil {
			return err
		}
		src, err := FromStorage(old, 0, []int{n}, []int{1}, Uint8)
		if err == nil {
			err = b.Copy(dst, src)
		}
		if err != nil {
			return err
		}
	}
	s.foreign.free()
	s.foreign = grown.foreign
	return nil
}

package gpu

import (
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Place returns the device as tensors name it.
func (v *Device) Place() tensor.Device { return tensor.NewDevice(tensor.CUDA, v.ordinal) }

// Empty returns a contiguous tensor in the device's memory, whose elements are undefined.
func (v *Device) Empty(shape []int, dtype tensor.DType) (*tensor.Tensor, error) {
	numel, err := tensor.Numel(shape)
	if err != nil {
		return nil, err
	}
	m, err := v.Allocate(numel * dtype.Size())
	if err != nil {
		return nil, err
	}
	storage := tensor.DeviceStorage(address(m.at), m.bytes, v.Place(), func() { _ = m.Free() })
	return tensor.FromStorage(storage, 0, shape, contiguousStrides(shape), dtype)
}

// address returns an address of the device as the pointer that tensors keep. It points to nothing here.
func address(at pointer) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

func contiguousStrides(shape []int) []int {
	strides, step := make([]int, len(shape)), 1
	for d := len(shape) - 1; d >= 0; d-- {
		strides[d] = step
		step *= max(shape[d], 1)
	}
	return strides
}

// Upload copies a tensor of the processor to the device, contiguous.
func (v *Device) Upload(t *tensor.Tensor) (*tensor.Tensor, error) {
	t, err := t.Contiguous()
	if err != nil {
		return nil, err
	}
	made, err := v.Empty(t.Shape(), t.DType())
	if err != nil || t.Numel() == 0 {
		return made, err
	}
	d := v.driver
	err = v.do(func() error {
		return d.check("cuMemcpyHtoD", d.cuMemcpyHtoD_v2(pointer(uintptr(made.DataPtr())), t.DataPtr(), uint64(t.Numel()*t.DType().Size())))
	})
	runtime.KeepAlive(t)
	return made, err
}

// Download copies a contiguous tensor of the device to the processor.
func (v *Device) Download(t *tensor.Tensor) (*tensor.Tensor, error) {
	if !t.IsContiguous() {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "a tensor of strides %v is not contiguous", t.Strides())
	}
	made, err := tensor.Empty(t.Shape(), t.DType())
	if err != nil || t.Numel() == 0 {
		return made, err
	}
	d := v.driver
	err = v.do(func() error {
		return d.check("cuMemcpyDtoH", d.cuMemcpyDtoH_v2(made.DataPtr(), pointer(uintptr(t.DataPtr())), uint64(t.Numel()*t.DType().Size())))
	})
	runtime.KeepAlive(t) // its memory goes back once nobody holds it
	return made, err
}

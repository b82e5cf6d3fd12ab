package gpu

import (
	"runtime"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
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
	storage := tensor.DeviceStorage(uint64(m.at), m.bytes, v.Place(), func() { _ = m.Free() })
	return tensor.FromStorage(storage, 0, shape, tensor.DenseStrides(shape), dtype)
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
	return made, v.write(made, t, true)
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
	return made, v.read(made, t, true)
}

// nbytes returns how many bytes the elements take.
func nbytes(t *tensor.Tensor) uint64 { return uint64(t.Numel() * t.DType().Size()) }

// write copies from the processor to the device, and waits until the elements are read unless their memory is pinned and nobody is to wait. The tensors
// are contiguous and alike.
func (v *Device) write(dst, src *tensor.Tensor, wait bool) error {
	s := v.Stream()
	pinned := v.pinnedAt(src)
	if pinned == nil {
		if err := s.refuse("elements are copied from memory of the processor that is not pinned"); err != nil {
			return err
		}
	}
	v.counts.uploads.Add(1)
	err := v.do(func() error {
		code := v.driver.cuMemcpyHtoDAsync_v2.call(uintptr(dst.Address()), uintptr(src.DataPtr()), uintptr(nbytes(src)), s.handle)
		if err := v.driver.check("cuMemcpyHtoDAsync", code); err != nil {
			return err
		}
		if pinned == nil || wait && s.capture.Load() == nil {
			return s.wait()
		}
		return pinned.usedBy(s)
	})
	runtime.KeepAlive(src)
	runtime.KeepAlive(dst) // its memory goes back once nobody holds it
	return err
}

// read copies from the device to the processor, and waits until the elements are there unless their memory is pinned and nobody is to wait. The tensors
// are contiguous and alike.
func (v *Device) read(dst, src *tensor.Tensor, wait bool) error {
	s := v.Stream()
	pinned := v.pinnedAt(dst)
	if pinned == nil || wait {
		if err := s.refuse("elements are copied to the processor"); err != nil {
			return err
		}
	}
	v.counts.downloads.Add(1)
	err := v.do(func() error {
		if pinned == nil || wait {
			return v.fetch(s, dst.DataPtr(), pointer(src.Address()), nbytes(src))
		}
		code := v.driver.cuMemcpyDtoHAsync_v2.call(uintptr(dst.DataPtr()), uintptr(src.Address()), uintptr(nbytes(src)), s.handle)
		if err := v.driver.check("cuMemcpyDtoHAsync", code); err != nil {
			return err
		}
		return pinned.usedBy(s)
	})
	runtime.KeepAlive(src)
	runtime.KeepAlive(dst)
	return err
}

// fetch copies to the processor behind the work of a stream, and waits for it. The device's context is current.
func (v *Device) fetch(s *Stream, to unsafe.Pointer, from pointer, bytes uint64) error {
	code := v.driver.cuMemcpyDtoHAsync_v2.call(uintptr(to), uintptr(from), uintptr(bytes), s.handle)
	if err := v.driver.check("cuMemcpyDtoHAsync", code); err != nil {
		return err
	}
	return s.wait()
}

// clear has a stream set bytes to zero. The device's context is current.
func (v *Device) clear(s *Stream, at pointer, bytes uint64) error {
	return v.driver.check("cuMemsetD8Async", v.driver.cuMemsetD8Async.call(uintptr(at), 0, uintptr(bytes), s.handle))
}

// move copies within the device. The tensors are contiguous and alike.
func (v *Device) move(dst, src *tensor.Tensor) error {
	err := v.moveBytes(pointer(dst.Address()), pointer(src.Address()), nbytes(src))
	runtime.KeepAlive(src)
	runtime.KeepAlive(dst)
	return err
}

func (v *Device) moveBytes(to, from pointer, bytes uint64) error {
	v.counts.copies.Add(1)
	return v.do(func() error {
		return v.driver.check("cuMemcpyDtoDAsync", v.driver.cuMemcpyDtoDAsync_v2.call(uintptr(to), uintptr(from), uintptr(bytes), v.Stream().handle))
	})
}

// convert stores the elements of src, broadcast and converted, into dst; both are the device's.
func (v *Device) convert(dst, src *tensor.Tensor) error {
	if dst.DType() == src.DType() && dst.IsContiguous() && src.IsContiguous() && tensor.SameShape(dst.Shape(), src.Shape()) {
		return v.move(dst, src)
	}
	p, err := v.conversions.get([2]tensor.DType{src.DType(), dst.DType()}, func() (*Program, error) {
		if src.DType().IsQuantized() {
			return nil, source.Errorf(source.NotImplementedError, source.Range{}, "quantized tensors of %s that do not lie side by side are not copied on a GPU", src.DType())
		}
		b := kernel.NewBuilder()
		b.Output(b.Input(src.DType(), kernel.ComputeType(src.DType())), dst.DType())
		return NewProgram(v, b.Kernel())
	})
	if err != nil {
		return err
	}
	return p.Run([]*tensor.Tensor{dst, src}, nil)
}

// fill stores a number in every element.
func (v *Device) fill(t *tensor.Tensor, s tensor.Scalar) error {
	d := t.DType()
	if re, im := kernel.NumberBits(kernel.ComputeType(d), s); re|im == 0 && t.IsContiguous() {
		err := v.do(func() error { return v.clear(v.Stream(), pointer(t.Address()), nbytes(t)) })
		runtime.KeepAlive(t)
		return err
	}
	p, err := v.fills.get(d, func() (*Program, error) {
		b := kernel.NewBuilder()
		b.Output(b.Param(kernel.ComputeType(d)), d)
		return NewProgram(v, b.Kernel())
	})
	if err != nil {
		return err
	}
	return p.Run([]*tensor.Tensor{t}, []tensor.Scalar{s})
}

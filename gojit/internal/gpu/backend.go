package gpu

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Backend keeps tensors on GPUs (tensor.Backend) and runs kernels over them (kernel.Runner).
type Backend struct {
	devices func() ([]*Device, error)
	current atomic.Int32
}

// Register has tensors on CUDA devices be kept on the GPUs of the machine. The driver is looked for when somebody asks for a device.
func Register() { tensor.RegisterCUDA(machine) }

// machine has the GPUs of the machine.
var machine = &Backend{devices: Devices}

// Machine returns what has the GPUs of the machine.
func Machine() *Backend { return machine }

// Devices returns the devices. The error says why there are none that can be used.
func (b *Backend) Devices() ([]*Device, error) { return b.devices() }

// Current returns the number of the device that is meant where no number is given.
func (b *Backend) Current() int { return int(b.current.Load()) }

// SetCurrent changes which one that is.
func (b *Backend) SetCurrent(i int) error {
	if _, err := b.Device(tensor.NewDevice(tensor.CUDA, i)); err != nil {
		return err
	}
	b.current.Store(int32(i))
	return nil
}

// Device returns a device by the name that tensors have for it.
func (b *Backend) Device(d tensor.Device) (*Device, error) {
	all, err := b.devices()
	if err != nil {
		return nil, &tensor.NoDevicesError{Device: d, Why: err.Error()}
	}
	i := d.Index()
	if i < 0 {
		i = b.Current()
	}
	if i >= len(all) {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "CUDA error: invalid device ordinal: there is no device %d, the machine has %d", i, len(all))
	}
	return all[i], nil
}

// Find returns a device with its number.
func (b *Backend) Find(d tensor.Device) (tensor.Device, error) {
	v, err := b.Device(d)
	if err != nil {
		return d, err
	}
	return v.Place(), nil
}

// Allocate returns memory of a device and what gives it back.
func (b *Backend) Allocate(d tensor.Device, nbytes int) (at uint64, release func(), err error) {
	v, err := b.Device(d)
	if err != nil {
		return 0, nil, err
	}
	m, err := v.Allocate(nbytes)
	if err != nil {
		return 0, nil, err
	}
	return uint64(m.at), func() { _ = m.Free() }, nil
}

// Fill stores a number in every element.
func (b *Backend) Fill(t *tensor.Tensor, s tensor.Scalar) error {
	v, err := b.Device(t.Device())
	if err != nil {
		return err
	}
	return v.fill(t, s)
}

// Run runs a kernel over tensors of one device.
func (b *Backend) Run(k *kernel.Kernel, operands []*tensor.Tensor, params []tensor.Scalar) error {
	v, err := b.Device(operands[0].Device())
	if err != nil {
		return err
	}
	p, err := v.programOf(k)
	if err != nil {
		return err
	}
	return p.Run(operands, params)
}

// Copy stores the elements of src, broadcast and converted, into dst. The side that has fewer bytes converts.
func (b *Backend) Copy(dst, src *tensor.Tensor) error { return b.copy(dst, src, true) }

// CopyLater is Copy that does not wait where the processor's memory is pinned: the elements are there once the device has done it.
func (b *Backend) CopyLater(dst, src *tensor.Tensor) error { return b.copy(dst, src, false) }

func (b *Backend) copy(dst, src *tensor.Tensor, wait bool) error {
	switch {
	case !src.OnDevice():
		return b.upload(dst, src, wait)
	case !dst.OnDevice():
		return b.download(dst, src, wait)
	case dst.Device() != src.Device(): // by way of the processor
		here, err := tensor.Empty(src.Shape(), src.DType())
		if err != nil {
			return err
		}
		if err := b.download(here, src, true); err != nil {
			return err
		}
		return b.upload(dst, here, true)
	}
	v, err := b.Device(dst.Device())
	if err != nil {
		return err
	}
	if dst.SharesStorage(src) && (dst.Address() != src.Address() || !tensor.SameShape(dst.Strides(), src.Strides())) {
		apart, err := v.contiguous(src, src.DType()) // they may overlap
		if err != nil {
			return err
		}
		src = apart
	}
	return v.convert(dst, src)
}

// contiguous returns a copy of a tensor of the device in another type, its elements side by side.
func (v *Device) contiguous(t *tensor.Tensor, d tensor.DType) (*tensor.Tensor, error) {
	made, err := v.Empty(t.Shape(), d)
	if err != nil {
		return nil, err
	}
	return made, v.convert(made, t)
}

// upload copies from the processor.
func (b *Backend) upload(dst, src *tensor.Tensor, wait bool) error {
	v, err := b.Device(dst.Device())
	if err != nil {
		return err
	}
	if src, err = src.To(dst.DType()); err != nil {
		return err
	}
	if src, err = src.Contiguous(); err != nil {
		return err
	}
	if dst.IsContiguous() && tensor.SameShape(dst.Shape(), src.Shape()) {
		return v.write(dst, src, wait)
	}
	there, err := v.Upload(src)
	if err != nil {
		return err
	}
	return v.convert(dst, there)
}

// download copies to the processor.
func (b *Backend) download(dst, src *tensor.Tensor, wait bool) error {
	v, err := b.Device(src.Device())
	if err != nil {
		return err
	}
	if !src.IsContiguous() {
		if src, err = v.contiguous(src, src.DType()); err != nil {
			return err
		}
	}
	if dst.IsContiguous() && dst.DType() == src.DType() && tensor.SameShape(dst.Shape(), src.Shape()) {
		return v.read(dst, src, wait)
	}
	here, err := v.Download(src)
	if err != nil {
		return err
	}
	return tensor.Copy(dst, here)
}

// Package cuda has tensors on NVIDIA's GPUs: a program that imports it can copy tensors to CUDA devices and run operators and models there.
//
// Central functions: Device, which names a GPU, for tensor.Tensor.ToDevice and the functions of package gojit that take a device; Count, which says
// how many there are. The driver and CUDA's compiler are opened when a device is first asked for, so that a program with this package starts on
// machines without them; it needs the system's C library, which programs without the package do not.
package cuda

import (
	"github.com/torchjit/torchjit/gojit/internal/gpu"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func init() { gpu.Register() }

// Count returns how many devices can be used. The error says why there are none: what was looked for, and where.
func Count() (int, error) {
	all, err := gpu.Machine().Devices()
	return len(all), err
}

// Device returns the device of a number, 0 for the first. It fails where there is none.
func Device(i int) (tensor.Device, error) { return tensor.FindDevice(tensor.NewDevice(tensor.CUDA, i)) }

// Synchronize waits until a device has done what it was given.
func Synchronize(d tensor.Device) error {
	v, err := gpu.Machine().Device(d)
	if err != nil {
		return err
	}
	return v.Synchronize()
}

// Counts says what a device was given to do.
type Counts = gpu.Counts

// CountsOf returns what a device was given to do so far.
func CountsOf(d tensor.Device) (Counts, error) {
	v, err := gpu.Machine().Device(d)
	if err != nil {
		return Counts{}, err
	}
	return v.Counts(), nil
}

// AllowTF32 says whether libraries, and own kernels, may round float32 to TF32, which has 10 bits behind the point, for tensor cores: the factors of matrix products, and
// what convolutions multiply. Else both are exact. As in PyTorch products are exact and convolutions are not unless a program says so.
func AllowTF32(products, convolutions bool) {
	gpu.TF32Products.Set(products)
	gpu.TF32Convolutions.Set(convolutions)
}

// Libraries says which of CUDA's libraries a device uses: their versions and files, or why one is not used.
type Libraries = gpu.Libraries

// LibrariesOf opens the libraries that a device uses and says which they are.
func LibrariesOf(d tensor.Device) (Libraries, error) {
	v, err := gpu.Machine().Device(d)
	if err != nil {
		return Libraries{}, err
	}
	return v.Libraries(), nil
}

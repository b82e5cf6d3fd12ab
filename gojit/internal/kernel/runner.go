package kernel

import (
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Runner runs kernels over tensors that are not in the processor's memory: what keeps the tensors of a device is one.
type Runner interface {
	// Run computes the outputs from the inputs: operands holds the outputs, then the inputs, and params the numbers, as for Program.Run.
	Run(k *Kernel, operands []*tensor.Tensor, params []tensor.Scalar) error
}

// ErrNoDeviceForm is wrapped by the error of a kernel that a Runner has no form of.
var ErrNoDeviceForm = source.Errorf(source.NotImplementedError, source.Range{}, "the kernel has no form for the device")

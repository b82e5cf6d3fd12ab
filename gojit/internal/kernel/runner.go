package kernel

import "github.com/torchjit/torchjit/gojit/tensor"

// Runner runs kernels over tensors that are not in the processor's memory: what keeps the tensors of a device is one.
type Runner interface {
	// Run computes the outputs from the inputs: operands holds the outputs, then the inputs, and params the numbers, as for Program.Run.
	Run(k *Kernel, operands []*tensor.Tensor, params []tensor.Scalar) error
}

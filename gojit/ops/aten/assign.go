package aten

import (
	"torchjit/gojit/kernel"
	"torchjit/gojit/kernel/launch"
	"torchjit/gojit/tensor"
)

// conversions keeps the kernels that change the type of elements.
var conversions launch.Cache

// isElement reports whether kernels read and write a type.
func isElement(d tensor.DType) bool {
	switch d {
	case tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64:
		return true
	}
	return false
}

// assign copies the elements of src, which broadcasts to dst, into dst and changes their type. It fails
// where tensor.Copy does.
func assign(dst, src *tensor.Tensor) {
	from, into := src.DType(), dst.DType()
	if from == into || !isElement(from) || !isElement(into) || isMeta(src) || isMeta(dst) || src.SharesStorage(dst) ||
		!tensor.SameShape(src.Shape(), dst.Shape()) || hasInternalOverlap(dst) {
		succeed(tensor.Copy(dst, src))
		return
	}
	key := launch.Key(0).With(from).With(into)
	p := conversions.Get(key)
	if p == nil {
		p = must(conversions.Make(key, func() (*launch.Program, error) {
			b := kernel.NewBuilder()
			b.Output(b.Input(from, kernel.ComputeType(into)), into)
			return launch.ProgramOf(b.Kernel())
		}))
	}
	operands := [...]*tensor.Tensor{dst, src}
	p.Run(operands[:], nil)
}

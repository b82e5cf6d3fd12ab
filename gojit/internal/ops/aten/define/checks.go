package define

import (
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// IsIntegral reports whether elements are integers or truth values.
func IsIntegral(d tensor.DType) bool { return !d.IsFloating() && !d.IsComplex() }

// CheckType fails where one of some tensors, or nil, has another type than x.
func CheckType(x *tensor.Tensor, others ...*tensor.Tensor) {
	for _, t := range others {
		if t != nil {
			source.Check(t.DType() == x.DType(), "expected scalar type %s but found %s", x.DType().CppName(), t.DType().CppName())
		}
	}
}

// CheckFloating asks for floating-point numbers, in the name of a kernel of PyTorch.
func CheckFloating(kernel string, x *tensor.Tensor) {
	source.Check(x.DType().IsFloating(), "\"%s\" not implemented for '%s'", kernel, x.DType().CppName())
}

// OptionalShape prints the shape of a tensor that may be nil.
func OptionalShape(t *tensor.Tensor) ShapeText {
	if t == nil {
		return nil
	}
	return t.Shape()
}

// LowerNames are the C++ names of the element types.
var LowerNames = map[tensor.DType]string{tensor.Uint8: "unsigned char", tensor.Int8: "signed char", tensor.Int16: "short int", tensor.Int32: "int",
	tensor.Int64: "long int", tensor.Float16: "c10::Half", tensor.Float32: "float", tensor.Float64: "double", tensor.Bool: "bool",
	tensor.BFloat16: "c10::BFloat16", tensor.Complex64: "c10::complex<float>", tensor.Complex128: "c10::complex<double>"}

// CheckOutType fails where out has not the type of the result.
func CheckOutType(result, out tensor.DType) {
	if result != out {
		source.Raise(source.RuntimeError, "Expected out tensor to have dtype %s, but got %s instead", LowerNames[result], LowerNames[out])
	}
}

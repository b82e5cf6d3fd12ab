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

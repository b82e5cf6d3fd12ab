package elementwise

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// MustFit fails for a number that a type cannot hold, as where PyTorch converts numbers for a fill. Fractions are cut off;
// negative numbers wrap around in a type without a sign.
func MustFit(s tensor.Scalar, d tensor.DType) {
	source.Check(fits(s, d), "value cannot be converted to type %s without overflow", CppTypeName(d))
}

func fits(s tensor.Scalar, d tensor.DType) bool {
	if d == tensor.Bool || d.IsComplex() {
		return true
	}
	if imag(s.Complex128()) != 0 {
		return false
	}
	if d.IsFloating() {
		f := math.Abs(s.Float64())
		return f <= largest(d) || f-f != 0
	}
	if !d.IsIntegral() {
		return true // the integers of quantized types are made otherwise
	}
	bits := uint(8 * d.Size())
	low, high := -math.Ldexp(1, int(bits)-1), math.Ldexp(1, int(bits)-1)-1
	if d == tensor.Uint8 {
		low, high = -255, 255
	}
	if s.IsIntegral() && d == tensor.Int64 {
		return true
	}
	return s.Float64() >= low && s.Float64() <= high
}

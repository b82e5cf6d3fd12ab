package tensor

import (
	"math"
	"strconv"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Scalar is a Python number: bool, int, float or complex.
type Scalar struct {
	Kind ScalarKind
	bits uint64  // bool, int: the integer; float, complex: the real part's bits
	imag float64 // complex only
}

// ScalarKind says which kind of number a Scalar is.
type ScalarKind uint8

// The kinds of Python number.
const (
	BoolScalar ScalarKind = iota
	IntScalar
	FloatScalar
	ComplexScalar
)

// Int makes an int scalar.
func Int(i int64) Scalar { return Scalar{Kind: IntScalar, bits: uint64(i)} }

// Float makes a float scalar.
func Float(f float64) Scalar { return Scalar{Kind: FloatScalar, bits: math.Float64bits(f)} }

// Complex makes a complex scalar.
func Complex(c complex128) Scalar {
	return Scalar{Kind: ComplexScalar, bits: math.Float64bits(real(c)), imag: imag(c)}
}

// Boolean makes a bool scalar.
func Boolean(b bool) Scalar {
	if b {
		return Scalar{Kind: BoolScalar, bits: 1}
	}
	return Scalar{Kind: BoolScalar}
}

// ResultDType returns the type that the number contributes to promotion.
func (s Scalar) ResultDType() DType {
	switch s.Kind {
	case BoolScalar:
		return Bool
	case IntScalar:
		return Int64
	case FloatScalar:
		return DefaultDType()
	}
	return DefaultDType().ToComplex()
}

// MustBeReal fails (source.Throw) for a number with an imaginary part, which a type of real numbers would lose.
func (s Scalar) MustBeReal(d DType) {
	if s.imag != 0 {
		refuseComplex(d)
	}
}

func refuseComplex(d DType) {
	source.Raise(source.RuntimeError, "value cannot be converted to type %s without overflow", d.CType())
}

// MustSuit is MustBeReal where d is a type of real numbers. Truth values are true of what is not zero.
func (s Scalar) MustSuit(d DType) {
	if s.imag != 0 && !d.IsComplex() && d != Bool {
		refuseComplex(d)
	}
}

// Int64 returns the number as an integer; a float is truncated. It fails (source.Throw) for a number with an imaginary part.
func (s Scalar) Int64() int64 {
	s.MustBeReal(Int64)
	switch s.Kind {
	case BoolScalar, IntScalar:
		return int64(s.bits)
	}
	return int64(math.Float64frombits(s.bits))
}

// Float64 returns the number as a float. It fails (source.Throw) for a number with an imaginary part.
func (s Scalar) Float64() float64 {
	s.MustBeReal(Float64)
	return s.real()
}

// real returns the number, or its real part, as a float.
func (s Scalar) real() float64 {
	switch s.Kind {
	case BoolScalar, IntScalar:
		return float64(int64(s.bits))
	}
	return math.Float64frombits(s.bits)
}

// Complex128 returns the number as a complex one.
func (s Scalar) Complex128() complex128 { return complex(s.real(), s.imag) }

// Bool reports whether the number is not zero.
func (s Scalar) Bool() bool {
	switch s.Kind {
	case BoolScalar, IntScalar:
		return s.bits != 0
	}
	return math.Float64frombits(s.bits) != 0 || s.imag != 0
}

// IsIntegral reports whether the number is an int or a bool.
func (s Scalar) IsIntegral() bool { return s.Kind <= IntScalar }

// String returns the number as C++ streams print it in messages.
func (s Scalar) String() string {
	switch s.Kind {
	case BoolScalar:
		return strconv.FormatBool(s.bits != 0)
	case IntScalar:
		return strconv.FormatInt(int64(s.bits), 10)
	case FloatScalar:
		return decimal.General(s.Float64(), 6)
	}
	return "(" + decimal.General(s.real(), 6) + "," + decimal.General(s.imag, 6) + ")"
}

package tensor

import (
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// DType is the type of a tensor's elements. The numbers are those PyTorch writes into graphs and archives.
type DType uint8

// The element types.
const (
	Uint8      DType = 0
	Int8       DType = 1
	Int16      DType = 2
	Int32      DType = 3
	Int64      DType = 4
	Float16    DType = 5
	Float32    DType = 6
	Float64    DType = 7
	Complex32  DType = 8
	Complex64  DType = 9
	Complex128 DType = 10
	Bool       DType = 11
	QInt8      DType = 12
	QUInt8     DType = 13
	QInt32     DType = 14
	BFloat16   DType = 15

	NumDTypes       = 16
	NoDType   DType = 255 // no type: the identity of promotion
)

type dtypeInfo struct {
	name, alias string // torch.float32, torch.float
	cpp         string // Float, as in CPUFloatType
	class       string // FloatTensor
	size        int
	category    category
}

// category orders the kinds of number: a higher one decides the result type of a mixed expression.
type category uint8

const (
	boolean category = iota
	integral
	floating
	complexes
	quantized
)

var dtypes = [NumDTypes]dtypeInfo{
	Uint8:      {"uint8", "", "Byte", "ByteTensor", 1, integral},
	Int8:       {"int8", "", "Char", "CharTensor", 1, integral},
	Int16:      {"int16", "short", "Short", "ShortTensor", 2, integral},
	Int32:      {"int32", "int", "Int", "IntTensor", 4, integral},
	Int64:      {"int64", "long", "Long", "LongTensor", 8, integral},
	Float16:    {"float16", "half", "Half", "HalfTensor", 2, floating},
	Float32:    {"float32", "float", "Float", "FloatTensor", 4, floating},
	Float64:    {"float64", "double", "Double", "DoubleTensor", 8, floating},
	Complex32:  {"complex32", "chalf", "ComplexHalf", "ComplexHalfTensor", 4, complexes},
	Complex64:  {"complex64", "cfloat", "ComplexFloat", "ComplexFloatTensor", 8, complexes},
	Complex128: {"complex128", "cdouble", "ComplexDouble", "ComplexDoubleTensor", 16, complexes},
	Bool:       {"bool", "", "Bool", "BoolTensor", 1, boolean},
	QInt8:      {"qint8", "", "QInt8", "QInt8Tensor", 1, quantized},
	QUInt8:     {"quint8", "", "QUInt8", "QUInt8Tensor", 1, quantized},
	QInt32:     {"qint32", "", "QInt32", "QInt32Tensor", 4, quantized},
	BFloat16:   {"bfloat16", "", "BFloat16", "BFloat16Tensor", 2, floating},
}

// Valid reports whether d is one of the element types.
func (d DType) Valid() bool { return d < NumDTypes }

// Size returns the bytes of one element.
func (d DType) Size() int { return dtypes[d].size }

// String returns the name without the module: "float32".
func (d DType) String() string {
	if !d.Valid() {
		return "undefined"
	}
	return dtypes[d].name
}

// CppName returns the name PyTorch's C++ side uses: "Float".
func (d DType) CppName() string {
	if !d.Valid() {
		return "Undefined"
	}
	return dtypes[d].cpp
}

// CType returns the name of the C++ type of an element: "float".
func (d DType) CType() string { return cTypes[d] }

var cTypes = map[DType]string{Uint8: "uint8_t", Int8: "int8_t", Int16: "int16_t", Int32: "int", Int64: "int64_t", Float16: "at::Half", Float32: "float", Float64: "double",
	Bool: "bool", BFloat16: "at::BFloat16", Complex64: "c10::complex<float>", Complex128: "c10::complex<double>", Complex32: "c10::complex<c10::Half>",
	QInt8: "c10::qint8", QUInt8: "c10::quint8", QInt32: "c10::qint32"}

// TensorClass returns the name of the typed tensor class: "FloatTensor".
func (d DType) TensorClass() string { return dtypes[d].class }

// isKind reports whether d is a type of a category.
func (d DType) isKind(c category) bool { return d.Valid() && dtypes[d].category == c }

// IsFloating reports whether d is a real floating-point type.
func (d DType) IsFloating() bool { return d.isKind(floating) }

// IsComplex reports whether d is a complex type.
func (d DType) IsComplex() bool { return d.isKind(complexes) }

// IsIntegral reports whether d is an integer type, bool not included.
func (d DType) IsIntegral() bool { return d.isKind(integral) }

// IsQuantized reports whether d holds quantized values.
func (d DType) IsQuantized() bool { return d.isKind(quantized) }

// IsDifferentiable reports whether tensors of the type can require a gradient.
func (d DType) IsDifferentiable() bool { return d.IsFloating() || d.IsComplex() }

// ToReal returns the type of the real part.
func (d DType) ToReal() DType {
	switch d {
	case Complex32:
		return Float16
	case Complex64:
		return Float32
	case Complex128:
		return Float64
	}
	return d
}

// ToComplex returns the complex type whose parts have type d.
func (d DType) ToComplex() DType {
	switch d {
	case Float16:
		return Complex32
	case Float32, BFloat16:
		return Complex64
	case Float64:
		return Complex128
	}
	return d
}

// ParseDType returns the type called name, which may be an alias ("long") and may start with "torch.".
func ParseDType(name string) (DType, bool) {
	if len(name) > 6 && name[:6] == "torch." {
		name = name[6:]
	}
	for d := range dtypes {
		if dtypes[d].name == name || dtypes[d].alias == name && name != "" {
			return DType(d), true
		}
	}
	return NoDType, false
}

// promotionRank orders types within a category.
var promotionRank = [NumDTypes]int{
	Bool: 0, Uint8: 1, Int8: 1, Int16: 2, Int32: 3, Int64: 4,
	Float16: 5, BFloat16: 5, Float32: 6, Float64: 7, Complex32: 8, Complex64: 9, Complex128: 10,
}

// Promote returns the smallest type that holds values of both types. NoDType is its identity. It raises an error for a quantized type and another.
func Promote(a, b DType) DType {
	switch {
	case a == b || !b.Valid():
		return a
	case !a.Valid():
		return b
	case a.IsQuantized() || b.IsQuantized():
		source.Raise(source.RuntimeError, "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, offending types: %s %s", a.CppName(), b.CppName())
	}
	ca, cb := dtypes[a].category, dtypes[b].category
	if ca < cb {
		a, b, ca, cb = b, a, cb, ca
	}
	switch {
	case ca != cb && ca == complexes && cb == floating:
		return Promote(a, b.ToComplex())
	case ca != cb:
		return a
	case promotionRank[a] > promotionRank[b]:
		return a
	case promotionRank[a] < promotionRank[b]:
		return b
	case ca == floating: // float16 with bfloat16
		return Float32
	default: // uint8 with int8
		return Int16
	}
}

// CanCast reports whether a result of type from may be stored into type to without changing category downwards.
func CanCast(from, to DType) bool {
	if from == to {
		return true
	}
	cf, ct := dtypes[from].category, dtypes[to].category
	return cf <= ct || cf == integral && ct == integral
}

var defaultDType atomic.Uint32

func init() { defaultDType.Store(uint32(Float32)) }

// DefaultDType returns the type of floating-point tensors made from Python numbers.
func DefaultDType() DType { return DType(defaultDType.Load()) }

// SetDefaultDType changes the default type; it must be a floating-point type.
func SetDefaultDType(d DType) error {
	if !d.IsFloating() {
		return source.Errorf(source.TypeError, source.Range{}, "only floating-point types are supported as the default type")
	}
	defaultDType.Store(uint32(d))
	return nil
}

// ResultType gathers operands and gives the type PyTorch's rules assign to their combination:
// tensors with dimensions outrank tensors without, which outrank Python numbers, unless the lower
// rank has a higher category. The zero value is not ready: start with NewResultType.
type ResultType struct {
	dim, zero, number DType
}

// NewResultType returns the type of no operands.
func NewResultType() ResultType { return ResultType{NoDType, NoDType, NoDType} }

// Tensor adds a tensor operand.
func (r *ResultType) Tensor(t *Tensor) {
	if t.Dim() > 0 {
		r.dim = Promote(r.dim, t.dtype)
	} else {
		r.zero = Promote(r.zero, t.dtype)
	}
}

// Scalar adds a Python number.
func (r *ResultType) Scalar(s Scalar) { r.number = Promote(r.number, s.ResultDType()) }

// DType returns the combined type.
func (r *ResultType) DType() DType {
	if r.dim.IsFloating() && !r.zero.IsComplex() && !r.number.IsComplex() {
		return r.dim // as the rest would find, for most
	}
	return combineRanks(r.dim, combineRanks(r.zero, r.number))
}

func combineRanks(higher, lower DType) DType {
	switch {
	case higher.IsComplex():
		return higher
	case higher.IsFloating():
		if lower.IsComplex() {
			return higher.ToComplex()
		}
		return higher
	case higher == Bool || lower.IsFloating() || lower.IsComplex():
		return Promote(higher, lower)
	case higher.Valid():
		return higher
	}
	return lower
}

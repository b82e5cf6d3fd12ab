// Package kernel holds the scalar expressions in which pointwise operators state their meaning
// once, and evaluates them over tensors.
//
// Central types: Kernel, a list of typed instructions in which each value is assigned once;
// Builder, which makes one; Program, a kernel prepared for the evaluator. A kernel reads element i
// of each input, computes, and writes element i of each output, or combines the elements of a run
// in an output that reduces. Loads convert from the memory type to the type computed with and
// stores convert back, so 16-bit floats live in memory only.
//
// Package expand rewrites functions such as exp into primitives for targets that make machine code.
// String and Parse are the text form, and Generator makes random kernels for tests.
//
// Package function holds programs over single numbers: blocks, between which control moves, of the
// same instructions, which mean the same there.
//
// Invariant: an instruction uses only values made before it, and Verify accepts every kernel that
// the Builder returns for operations that the types have. The loops of this package define the
// meaning; machine code must agree with them.
package kernel

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Op is what an instruction does.
type Op uint8

// The operations. Comparisons give Bool; the others give the type of their first operand unless
// said otherwise.
const (
	Load  Op = iota // element of input Imm
	Param           // number Imm given at each run
	Const           // number Imm, Imm2 as bits of the type
	Iota            // Int32 or Int64: the element's index in the run

	Neg
	Abs // of complex: real
	Sign
	Not // logical for Bool, bitwise for integers
	Floor
	Ceil
	Round // half to even
	Trunc
	Sqrt
	Exp
	Expm1
	Log
	Log2
	Log10
	Log1p
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
	Erf
	Erfc
	Erfinv
	Lgamma
	Digamma
	IsNaN // Bool
	Conj
	Real  // real
	Imag  // real
	Angle // real
	Bits  // the same bits as an integer of a float's size, or as a float of an integer's

	// Exponent is floor(log2(|a|)) of a real float: -inf of zero, inf of infinities.
	Exponent
	// Mantissa is the number in [0.75, 1.5) of which a real float is a power of two times as large:
	// 1 of zeros and inf, NaN of negative numbers.
	Mantissa
	// Lookup is the element of table Imm that the lowest four bits of an Int32 choose, a Float32.
	Lookup

	Add // or, for Bool
	Sub
	Mul // and, for Bool
	Div // of integers: towards zero
	FloorDiv
	Rem // sign of the dividend
	Mod // sign of the divisor
	Min // a NaN wins; of zeros of both signs either may be the result
	Max
	Pow
	Atan2
	CopySign
	NextAfter
	Scale // a * 2**floor(b) rounded once; both are real floats
	Gcd
	And
	Or
	Xor
	Shl
	Shr
	MakeComplex // of two reals
	Eq
	Ne
	Lt
	Le
	Gt
	Ge

	Fma     // a*b + c rounded once, of real floats
	Select  // a Bool and two values of one type
	Convert // to Type
	NumOps
)

// OpNames are the names of the operations.
var OpNames = func() [NumOps]string {
	names := [NumOps]string{
		Load: "load", Param: "param", Const: "const", Iota: "iota", Neg: "neg", Abs: "abs", Sign: "sign", Not: "not", Floor: "floor",
		Ceil: "ceil", Round: "round", Trunc: "trunc", IsNaN: "isnan", Conj: "conj", Real: "real", Imag: "imag", Angle: "angle", Bits: "bits",
		Exponent: "exponent", Mantissa: "mantissa", Lookup: "lookup", Add: "add", Sub: "sub", Mul: "mul", Div: "div", FloorDiv: "floordiv",
		Rem: "rem", Mod: "mod", Min: "min", Max: "max", Pow: "pow", Atan2: "atan2", CopySign: "copysign", NextAfter: "nextafter", Scale: "scale",
		Gcd: "gcd", And: "and", Or: "or", Xor: "xor", Shl: "shl", Shr: "shr", MakeComplex: "complex", Eq: "eq", Ne: "ne", Lt: "lt", Le: "le",
		Gt: "gt", Ge: "ge", Fma: "fma", Select: "select", Convert: "convert",
	}
	for op := range functions {
		if f := functions[op]; f.name != "" {
			names[op] = f.name
		}
	}
	return names
}()

// String returns the name of the operation.
func (op Op) String() string { return OpNames[op] }

// Operands returns how many values the operation uses.
func (op Op) Operands() int {
	switch {
	case op <= Iota:
		return 0
	case op <= Lookup || op == Convert:
		return 1
	case op == Select || op == Fma:
		return 3
	}
	return 2
}

func (op Op) isComparison() bool { return op >= Eq && op <= Ge }

// Value is the result of an instruction: its index.
type Value int32

// Instr is one instruction.
type Instr struct {
	Op   Op
	Type tensor.DType // of the result
	Args [3]Value
	Imm  uint64 // Load, Param, Lookup: which; Const: bits
	Imm2 uint64 // Const of complex type: bits of the imaginary part
}

// Output says which value is stored and as what. With a reduction, the values of a run's elements
// are combined in the type of the value and one result is stored for the run.
type Output struct {
	Value  Value
	DType  tensor.DType
	Reduce ReduceOp
	Mean   bool // of a sum on a device: it is divided by the number of the elements
}

// Kernel is a pointwise computation, or one with a reduction of each run of elements at its end.
type Kernel struct {
	Inputs  []tensor.DType // memory type of each input
	Params  int            // numbers given at each run
	Tables  []Table        // what Lookup reads
	Instrs  []Instr
	Outputs []Output
}

// Table is what Lookup chooses from.
type Table [16]float32

// TypeOf returns the type of a value.
func (k *Kernel) TypeOf(v Value) tensor.DType { return k.Instrs[v].Type }

// Builder makes a Kernel. Equal instructions are made once.
type Builder struct {
	K     Kernel
	Known map[Instr]Value
}

// NewBuilder starts an empty kernel.
func NewBuilder() *Builder { return &Builder{Known: map[Instr]Value{}} }

func (b *Builder) Emit(in Instr) Value {
	if v, ok := b.Known[in]; ok {
		return v
	}
	v := Value(len(b.K.Instrs))
	b.K.Instrs = append(b.K.Instrs, in)
	b.Known[in] = v
	return v
}

// Input adds an input stored as memory and loads it as computed.
func (b *Builder) Input(memory, computed tensor.DType) Value {
	b.K.Inputs = append(b.K.Inputs, memory)
	return b.Emit(Instr{Op: Load, Type: computed, Imm: uint64(len(b.K.Inputs) - 1)})
}

// Param adds a number that is given at each run.
func (b *Builder) Param(t tensor.DType) Value {
	b.K.Params++
	return b.Emit(Instr{Op: Param, Type: t, Imm: uint64(b.K.Params - 1)})
}

// Output stores a value as an element of the next output.
func (b *Builder) Output(v Value, memory tensor.DType) {
	b.K.Outputs = append(b.K.Outputs, Output{Value: v, DType: memory})
}

// Mean stores the mean of the elements of each run in the next output. Devices alone run kernels with means.
func (b *Builder) Mean(v Value, memory tensor.DType) {
	b.K.Outputs = append(b.K.Outputs, Output{Value: v, DType: memory, Reduce: ReduceSum, Mean: true})
}

// Reduce stores a value combined over the elements of each run in the next output.
func (b *Builder) Reduce(op ReduceOp, v Value, memory tensor.DType) {
	b.K.Outputs = append(b.K.Outputs, Output{Value: v, DType: memory, Reduce: op})
}

// Kernel returns what was built.
func (b *Builder) Kernel() *Kernel { return &b.K }

// Type returns the type of a value.
func (b *Builder) Type(v Value) tensor.DType { return b.K.Instrs[v].Type }

// Const makes a constant of a type.
func (b *Builder) Const(t tensor.DType, s tensor.Scalar) Value {
	re, im := NumberBits(t, s)
	return b.Emit(Instr{Op: Const, Type: t, Imm: re, Imm2: im})
}

// Iota makes the element's index in the run, as Int32 or Int64.
func (b *Builder) Iota(t tensor.DType) Value { return b.Emit(Instr{Op: Iota, Type: t}) }

// Number makes a constant of the type of another value.
func (b *Builder) Number(like Value, f float64) Value { return b.Const(b.Type(like), tensor.Float(f)) }

// NumberBits returns a number as the bits of a type; integers wrap around and are sign-extended, im is
// for complex types only. It fails (source.Throw) for a number with an imaginary part that the type would lose.
func NumberBits(t tensor.DType, s tensor.Scalar) (re, im uint64) {
	if s.Kind == tensor.ComplexScalar {
		s.MustSuit(t)
	}
	switch t {
	case tensor.Bool:
		if s.Bool() {
			return 1, 0
		}
		return 0, 0
	case tensor.Float32:
		return uint64(math.Float32bits(float32(s.Float64()))), 0
	case tensor.Float64:
		return math.Float64bits(s.Float64()), 0
	case tensor.Complex64:
		c := complex64(s.Complex128())
		return uint64(math.Float32bits(real(c))), uint64(math.Float32bits(imag(c)))
	case tensor.Complex128:
		c := s.Complex128()
		return math.Float64bits(real(c)), math.Float64bits(imag(c))
	}
	return wrapInteger(t, s.Int64()), 0
}

// wrapInteger returns the integer of a type that has the lowest bits of i, extended to 64 bits.
func wrapInteger(t tensor.DType, i int64) uint64 {
	switch t {
	case tensor.Uint8:
		return uint64(uint8(i))
	case tensor.Int8:
		return uint64(int8(i))
	case tensor.Int16:
		return uint64(int16(i))
	case tensor.Int32:
		return uint64(int32(i))
	}
	return uint64(i)
}

// Unary makes an instruction of one operand.
func (b *Builder) Unary(op Op, x Value) Value {
	return b.Emit(Instr{Op: op, Type: ResultType(op, b.Type(x)), Args: [3]Value{x}})
}

// ResultType returns the type of what an operation makes of an operand of type t; for Load, Param,
// Const, Iota, Select and Convert the instruction says it.
func ResultType(op Op, t tensor.DType) tensor.DType {
	switch {
	case op == IsNaN || op.isComparison():
		return tensor.Bool
	case op == Abs || op == Real || op == Imag || op == Angle:
		return t.ToReal()
	case op == Bits:
		return BitsType(t)
	case op == MakeComplex:
		return t.ToComplex()
	}
	return t
}

// BitsType returns the type that Bits makes of t, or NoDType.
func BitsType(t tensor.DType) tensor.DType {
	switch t {
	case tensor.Float32:
		return tensor.Int32
	case tensor.Float64:
		return tensor.Int64
	case tensor.Int32:
		return tensor.Float32
	case tensor.Int64:
		return tensor.Float64
	}
	return tensor.NoDType
}

// Binary makes an instruction of two operands of one type.
func (b *Builder) Binary(op Op, x, y Value) Value {
	return b.Emit(Instr{Op: op, Type: ResultType(op, b.Type(x)), Args: [3]Value{x, y}})
}

// Fma makes x*y + z with one rounding.
func (b *Builder) Fma(x, y, z Value) Value {
	return b.Emit(Instr{Op: Fma, Type: b.Type(x), Args: [3]Value{x, y, z}})
}

// Lookup makes the element of a table that the lowest four bits of an Int32 choose.
func (b *Builder) Lookup(index Value, table Table) Value {
	at := slices.Index(b.K.Tables, table)
	if at < 0 {
		at = len(b.K.Tables)
		b.K.Tables = append(b.K.Tables, table)
	}
	return b.Emit(Instr{Op: Lookup, Type: tensor.Float32, Args: [3]Value{index}, Imm: uint64(at)})
}

// Bits reinterprets a float32 or float64 as an integer of its size, or the reverse.
func (b *Builder) Bits(x Value) Value { return b.Unary(Bits, x) }

// Scale makes x times 2 to the power n, an integer held in a float.
func (b *Builder) Scale(x, n Value) Value { return b.Binary(Scale, x, n) }

// Select makes the value x where c holds and y elsewhere.
func (b *Builder) Select(c, x, y Value) Value {
	return b.Emit(Instr{Op: Select, Type: b.Type(x), Args: [3]Value{c, x, y}})
}

// Convert changes the type of a value.
func (b *Builder) Convert(x Value, t tensor.DType) Value {
	if b.Type(x) == t {
		return x
	}
	return b.Emit(Instr{Op: Convert, Type: t, Args: [3]Value{x}})
}

// Add, Sub, Mul, Div, Neg and Exp are shorthands for the commonest instructions.
func (b *Builder) Add(x, y Value) Value { return b.Binary(Add, x, y) }

// Sub makes x - y.
func (b *Builder) Sub(x, y Value) Value { return b.Binary(Sub, x, y) }

// Mul makes x * y.
func (b *Builder) Mul(x, y Value) Value { return b.Binary(Mul, x, y) }

// Div makes x / y.
func (b *Builder) Div(x, y Value) Value { return b.Binary(Div, x, y) }

// Neg makes -x.
func (b *Builder) Neg(x Value) Value { return b.Unary(Neg, x) }

// Exp makes e to the power x.
func (b *Builder) Exp(x Value) Value { return b.Unary(Exp, x) }

// ComputeType returns the type that elements of a memory type are computed with.
func ComputeType(memory tensor.DType) tensor.DType {
	switch memory {
	case tensor.Float16, tensor.BFloat16:
		return tensor.Float32
	case tensor.Complex32:
		return tensor.Complex64
	}
	return memory
}

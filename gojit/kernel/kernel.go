// Package kernel holds the scalar expressions in which pointwise operators state their meaning
// once, and evaluates them over tensors.
//
// Central types: Kernel, a list of typed instructions in which each value is assigned once;
// Builder, which makes one; Program, a kernel prepared for the evaluator. A kernel reads element i
// of each input, computes, and writes element i of each output. Loads convert from the memory type
// to the type computed with and stores convert back, so 16-bit floats live in memory only.
//
// Invariant: an instruction uses only values made before it, and Verify accepts every kernel that
// the Builder returns. eval.go defines the meaning; machine code must agree with it.
package kernel

import (
	"math"

	"torchjit/gojit/tensor"
)

// Op is what an instruction does.
type Op uint8

// The operations. Comparisons give Bool; the others give the type of their first operand unless
// said otherwise.
const (
	Load  Op = iota // element of input Imm
	Param           // number Imm given at each run
	Const           // number Imm, Imm2 as bits of the type

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

	Add // or, for Bool
	Sub
	Mul // and, for Bool
	Div // of integers: towards zero
	FloorDiv
	Rem // sign of the dividend
	Mod // sign of the divisor
	Min // a NaN wins
	Max
	Pow
	Atan2
	CopySign
	NextAfter
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

	Select  // a Bool and two values of one type
	Convert // to Type
	numOps
)

var opNames = [numOps]string{"load", "param", "const", "neg", "abs", "sign", "not", "floor", "ceil", "round", "trunc",
	"sqrt", "exp", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
	"asinh", "acosh", "atanh", "erf", "erfc", "erfinv", "lgamma", "digamma", "isnan", "conj", "real", "imag", "angle",
	"add", "sub", "mul", "div", "floordiv", "rem", "mod", "min", "max", "pow", "atan2", "copysign", "nextafter", "gcd",
	"and", "or", "xor", "shl", "shr", "complex", "eq", "ne", "lt", "le", "gt", "ge", "select", "convert"}

// String returns the name of the operation.
func (op Op) String() string { return opNames[op] }

// Operands returns how many values the operation uses.
func (op Op) Operands() int {
	switch {
	case op <= Const:
		return 0
	case op <= Angle || op == Convert:
		return 1
	case op == Select:
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
	Imm  uint64 // Load, Param: which; Const: bits
	Imm2 uint64 // Const of complex type: bits of the imaginary part
}

// Output says which value is stored and as what.
type Output struct {
	Value Value
	DType tensor.DType
}

// Kernel is a pointwise computation.
type Kernel struct {
	Inputs  []tensor.DType // memory type of each input
	Params  int            // numbers given at each run
	Instrs  []Instr
	Outputs []Output
}

// TypeOf returns the type of a value.
func (k *Kernel) TypeOf(v Value) tensor.DType { return k.Instrs[v].Type }

// Builder makes a Kernel. Equal instructions are made once.
type Builder struct {
	k     Kernel
	known map[Instr]Value
}

// NewBuilder starts an empty kernel.
func NewBuilder() *Builder { return &Builder{known: map[Instr]Value{}} }

func (b *Builder) emit(in Instr) Value {
	if v, ok := b.known[in]; ok {
		return v
	}
	v := Value(len(b.k.Instrs))
	b.k.Instrs = append(b.k.Instrs, in)
	b.known[in] = v
	return v
}

// Input adds an input stored as memory and loads it as computed.
func (b *Builder) Input(memory, computed tensor.DType) Value {
	b.k.Inputs = append(b.k.Inputs, memory)
	return b.emit(Instr{Op: Load, Type: computed, Imm: uint64(len(b.k.Inputs) - 1)})
}

// Param adds a number that is given at each run.
func (b *Builder) Param(t tensor.DType) Value {
	b.k.Params++
	return b.emit(Instr{Op: Param, Type: t, Imm: uint64(b.k.Params - 1)})
}

// Output stores a value as an element of the next output.
func (b *Builder) Output(v Value, memory tensor.DType) {
	b.k.Outputs = append(b.k.Outputs, Output{v, memory})
}

// Kernel returns what was built.
func (b *Builder) Kernel() *Kernel { return &b.k }

// Type returns the type of a value.
func (b *Builder) Type(v Value) tensor.DType { return b.k.Instrs[v].Type }

// Const makes a constant of a type.
func (b *Builder) Const(t tensor.DType, s tensor.Scalar) Value {
	re, im := constBits(t, s)
	return b.emit(Instr{Op: Const, Type: t, Imm: re, Imm2: im})
}

// Number makes a constant of the type of another value.
func (b *Builder) Number(like Value, f float64) Value { return b.Const(b.Type(like), tensor.Float(f)) }

// constBits returns a number as the bits of a type; integers are sign-extended.
func constBits(t tensor.DType, s tensor.Scalar) (re, im uint64) {
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
	return uint64(s.Int64()), 0
}

// Unary makes an instruction of one operand.
func (b *Builder) Unary(op Op, x Value) Value {
	t := b.Type(x)
	switch op {
	case IsNaN:
		t = tensor.Bool
	case Abs, Real, Imag, Angle:
		t = t.ToReal()
	}
	return b.emit(Instr{Op: op, Type: t, Args: [3]Value{x}})
}

// Binary makes an instruction of two operands of one type.
func (b *Builder) Binary(op Op, x, y Value) Value {
	t := b.Type(x)
	switch {
	case op.isComparison():
		t = tensor.Bool
	case op == MakeComplex:
		t = t.ToComplex()
	}
	return b.emit(Instr{Op: op, Type: t, Args: [3]Value{x, y}})
}

// Select makes the value x where c holds and y elsewhere.
func (b *Builder) Select(c, x, y Value) Value {
	return b.emit(Instr{Op: Select, Type: b.Type(x), Args: [3]Value{c, x, y}})
}

// Convert changes the type of a value.
func (b *Builder) Convert(x Value, t tensor.DType) Value {
	if b.Type(x) == t {
		return x
	}
	return b.emit(Instr{Op: Convert, Type: t, Args: [3]Value{x}})
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

package kernel

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Function is a program over single numbers: blocks of instructions between which control moves. It
// computes with Int64, Float64 and Bool, as kernels do element by element, and its instructions are
// those of kernels.
//
// Each value is assigned once, by an instruction or as a parameter of a block; who goes to a block
// gives the parameters. The first block is where a call begins, its parameters are the arguments, and
// nothing goes back to it.
type Function struct {
	Types   []tensor.DType // of the values
	Results []tensor.DType
	Blocks  []Block
}

// Block is a run of instructions with one way in and one end.
type Block struct {
	Params []Value
	Steps  []Step
	End    End
}

// Step is an instruction and the value that it makes.
type Step struct {
	Value Value
	Instr
}

// EndKind is how a block ends.
type EndKind uint8

// The ends of blocks.
const (
	Unfinished EndKind = iota
	Jump               // goes to To[0]
	Branch             // goes to To[0] where Cond holds, else to To[1]
	Return             // leaves with Values
	Trap               // leaves without results: the caller knows what Code means
)

var endNames = [...]string{"unfinished", "jump", "branch", "return", "trap"}

// End is where control goes from a block.
type End struct {
	Kind   EndKind
	Cond   Value
	To     [2]Edge
	Values []Value
	Code   int32
}

// Edge is a block that control goes to, and the values of its parameters.
type Edge struct {
	Block int
	Args  []Value
}

// edges returns where control may go.
func (e *End) edges() []Edge {
	switch e.Kind {
	case Jump:
		return e.To[:1]
	case Branch:
		return e.To[:]
	}
	return nil
}

// Edges returns the places that control may go to at the end of a block.
func (b *Block) Edges() []Edge { return b.End.edges() }

// functionOps has, for each operation of functions, the types of first operands that it is defined for.
var functionOps = func() (table [numOps][tensor.NumDTypes]bool) {
	set := func(t tensor.DType, ops ...Op) {
		for _, op := range ops {
			table[op][t] = true
		}
	}
	set(tensor.Int64, Const, Neg, Abs, Not, Add, Sub, Mul, Div, FloorDiv, Rem, Mod, Min, Max, And, Or, Xor, Shl, Shr, Eq, Ne, Lt, Le, Gt, Ge, Convert, Bits)
	set(tensor.Float64, Const, Neg, Abs, Floor, Ceil, Round, Trunc, Sqrt, Add, Sub, Mul, Div, Eq, Ne, Lt, Le, Gt, Ge, Convert, Bits)
	set(tensor.Bool, Const, Not, And, Or, Xor, Eq, Ne, Select, Convert)
	for op := range calledOps {
		for t, called := range calledOps[op] {
			table[op][t] = table[op][t] || called
		}
	}
	return table
}()

// calledOps has the operations of functions that machine code leaves to Go, by the types of their first operands.
var calledOps = func() (table [numOps][tensor.NumDTypes]bool) {
	for _, op := range []Op{Exp, Expm1, Log, Log2, Log10, Log1p, Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Tanh, Asinh, Acosh, Atanh, Erf, Erfc, Lgamma,
		Pow, Atan2, CopySign, Rem, Mod} {
		table[op][tensor.Float64] = true
	}
	table[Pow][tensor.Int64], table[Gcd][tensor.Int64] = true, true
	return table
}()

// Called reports whether an operation on values of a type is one that the machine code of functions leaves to Go.
func Called(op Op, operand tensor.DType) bool { return calledOps[op][operand] }

// FunctionHas reports whether functions have an operation on values of a type.
func FunctionHas(op Op, operand tensor.DType) bool {
	return op < numOps && operand < tensor.NumDTypes && functionOps[op][operand]
}

// FunctionBuilder makes a Function, block by block in any order.
type FunctionBuilder struct {
	f  Function
	at int
}

// NewFunction starts a function with parameters of some types; its first block is current.
func NewFunction(params ...tensor.DType) *FunctionBuilder {
	b := &FunctionBuilder{}
	b.Block(params...)
	return b
}

// Function returns what was built.
func (b *FunctionBuilder) Function() *Function { return &b.f }

// Block adds a block with parameters of some types and returns its number. The current block stays.
func (b *FunctionBuilder) Block(params ...tensor.DType) int {
	block := Block{}
	for _, t := range params {
		block.Params = append(block.Params, b.value(t))
	}
	b.f.Blocks = append(b.f.Blocks, block)
	return len(b.f.Blocks) - 1
}

// Enter makes a block the current one.
func (b *FunctionBuilder) Enter(block int) { b.at = block }

// Current returns the number of the current block.
func (b *FunctionBuilder) Current() int { return b.at }

// Param returns parameter i of a block.
func (b *FunctionBuilder) Param(block, i int) Value { return b.f.Blocks[block].Params[i] }

// Type returns the type of a value.
func (b *FunctionBuilder) Type(v Value) tensor.DType { return b.f.Types[v] }

func (b *FunctionBuilder) value(t tensor.DType) Value {
	b.f.Types = append(b.f.Types, t)
	return Value(len(b.f.Types) - 1)
}

func (b *FunctionBuilder) emit(in Instr) Value {
	v := b.value(in.Type)
	block := &b.f.Blocks[b.at]
	block.Steps = append(block.Steps, Step{v, in})
	return v
}

// Const makes a constant of a type.
func (b *FunctionBuilder) Const(t tensor.DType, s tensor.Scalar) Value {
	bits, _ := NumberBits(t, s)
	return b.emit(Instr{Op: Const, Type: t, Imm: bits})
}

// Unary makes an instruction of one operand.
func (b *FunctionBuilder) Unary(op Op, x Value) Value {
	return b.emit(Instr{Op: op, Type: resultType(op, b.Type(x)), Args: [3]Value{x}})
}

// Binary makes an instruction of two operands of one type.
func (b *FunctionBuilder) Binary(op Op, x, y Value) Value {
	return b.emit(Instr{Op: op, Type: resultType(op, b.Type(x)), Args: [3]Value{x, y}})
}

// Select makes the value x where c holds and y elsewhere.
func (b *FunctionBuilder) Select(c, x, y Value) Value {
	return b.emit(Instr{Op: Select, Type: b.Type(x), Args: [3]Value{c, x, y}})
}

// Convert changes the type of a value. Floats become integers towards zero; those that do not fit, and
// NaN, become the smallest one.
func (b *FunctionBuilder) Convert(x Value, t tensor.DType) Value {
	if b.Type(x) == t {
		return x
	}
	return b.emit(Instr{Op: Convert, Type: t, Args: [3]Value{x}})
}

// Jump ends the current block: control goes to another one.
func (b *FunctionBuilder) Jump(block int, args ...Value) {
	b.end(End{Kind: Jump, To: [2]Edge{{block, args}}})
}

// Branch ends the current block: control goes to yes where the condition holds, else to no.
func (b *FunctionBuilder) Branch(c Value, yes, no Edge) {
	b.end(End{Kind: Branch, Cond: c, To: [2]Edge{yes, no}})
}

// Return ends the current block and the call. The first Return says what the results are.
func (b *FunctionBuilder) Return(values ...Value) {
	if b.f.Results == nil {
		for _, v := range values {
			b.f.Results = append(b.f.Results, b.Type(v))
		}
	}
	b.end(End{Kind: Return, Values: values})
}

// Trap ends the current block and the call, which has no results; code is what the caller is told.
func (b *FunctionBuilder) Trap(code int32) { b.end(End{Kind: Trap, Code: code}) }

func (b *FunctionBuilder) end(e End) {
	block := &b.f.Blocks[b.at]
	if block.End.Kind != Unfinished {
		panic(fmt.Sprintf("kernel: block b%d ends twice", b.at))
	}
	block.End = e
}

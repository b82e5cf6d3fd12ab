package function

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
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
	Params []kernel.Value
	Steps  []Step
	End    End
}

// Step is an instruction and the value that it makes.
type Step struct {
	Value kernel.Value
	kernel.Instr
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
	Cond   kernel.Value
	To     [2]Edge
	Values []kernel.Value
	Code   int32
}

// Edge is a block that control goes to, and the values of its parameters.
type Edge struct {
	Block int
	Args  []kernel.Value
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
var functionOps = func() (table [kernel.NumOps][tensor.NumDTypes]bool) {
	set := func(t tensor.DType, ops ...kernel.Op) {
		for _, op := range ops {
			table[op][t] = true
		}
	}
	set(tensor.Int64, kernel.Const, kernel.Neg, kernel.Abs, kernel.Not, kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.FloorDiv, kernel.Rem, kernel.Mod, kernel.Min, kernel.Max, kernel.And, kernel.Or, kernel.Xor, kernel.Shl, kernel.Shr, kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge, kernel.Convert, kernel.Bits)
	set(tensor.Float64, kernel.Const, kernel.Neg, kernel.Abs, kernel.Floor, kernel.Ceil, kernel.Round, kernel.Trunc, kernel.Sqrt, kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge, kernel.Convert, kernel.Bits)
	set(tensor.Bool, kernel.Const, kernel.Not, kernel.And, kernel.Or, kernel.Xor, kernel.Eq, kernel.Ne, kernel.Select, kernel.Convert)
	for op := range calledOps {
		for t, called := range calledOps[op] {
			table[op][t] = table[op][t] || called
		}
	}
	return table
}()

// calledOps has the operations of functions that machine code leaves to Go, by the types of their first operands.
var calledOps = func() (table [kernel.NumOps][tensor.NumDTypes]bool) {
	for _, op := range append(kernel.Functions(), kernel.Pow, kernel.Atan2, kernel.CopySign, kernel.Rem, kernel.Mod) {
		table[op][tensor.Float64] = op != kernel.Sqrt // which is an instruction
	}
	table[kernel.Pow][tensor.Int64], table[kernel.Gcd][tensor.Int64] = true, true
	return table
}()

// Called reports whether an operation on values of a type is one that the machine code of functions leaves to Go.
func Called(op kernel.Op, operand tensor.DType) bool { return calledOps[op][operand] }

// FunctionHas reports whether functions have an operation on values of a type.
func FunctionHas(op kernel.Op, operand tensor.DType) bool {
	return op < kernel.NumOps && operand < tensor.NumDTypes && functionOps[op][operand]
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
func (b *FunctionBuilder) Param(block, i int) kernel.Value { return b.f.Blocks[block].Params[i] }

// Type returns the type of a value.
func (b *FunctionBuilder) Type(v kernel.Value) tensor.DType { return b.f.Types[v] }

func (b *FunctionBuilder) value(t tensor.DType) kernel.Value {
	b.f.Types = append(b.f.Types, t)
	return kernel.Value(len(b.f.Types) - 1)
}

func (b *FunctionBuilder) emit(in kernel.Instr) kernel.Value {
	v := b.value(in.Type)
	block := &b.f.Blocks[b.at]
	block.Steps = append(block.Steps, Step{v, in})
	return v
}

// Const makes a constant of a type.
func (b *FunctionBuilder) Const(t tensor.DType, s tensor.Scalar) kernel.Value {
	bits, _ := kernel.NumberBits(t, s)
	return b.emit(kernel.Instr{Op: kernel.Const, Type: t, Imm: bits})
}

// Unary makes an instruction of one operand.
func (b *FunctionBuilder) Unary(op kernel.Op, x kernel.Value) kernel.Value {
	return b.emit(kernel.Instr{Op: op, Type: kernel.ResultType(op, b.Type(x)), Args: [3]kernel.Value{x}})
}

// Binary makes an instruction of two operands of one type.
func (b *FunctionBuilder) Binary(op kernel.Op, x, y kernel.Value) kernel.Value {
	return b.emit(kernel.Instr{Op: op, Type: kernel.ResultType(op, b.Type(x)), Args: [3]kernel.Value{x, y}})
}

// Select makes the value x where c holds and y elsewhere.
func (b *FunctionBuilder) Select(c, x, y kernel.Value) kernel.Value {
	return b.emit(kernel.Instr{Op: kernel.Select, Type: b.Type(x), Args: [3]kernel.Value{c, x, y}})
}

// Convert changes the type of a value. Floats become integers towards zero; those that do not fit, and
// NaN, become the smallest one.
func (b *FunctionBuilder) Convert(x kernel.Value, t tensor.DType) kernel.Value {
	if b.Type(x) == t {
		return x
	}
	return b.emit(kernel.Instr{Op: kernel.Convert, Type: t, Args: [3]kernel.Value{x}})
}

// Jump ends the current block: control goes to another one.
func (b *FunctionBuilder) Jump(block int, args ...kernel.Value) {
	b.end(End{Kind: Jump, To: [2]Edge{{block, args}}})
}

// Branch ends the current block: control goes to yes where the condition holds, else to no.
func (b *FunctionBuilder) Branch(c kernel.Value, yes, no Edge) {
	b.end(End{Kind: Branch, Cond: c, To: [2]Edge{yes, no}})
}

// Return ends the current block and the call. The first Return says what the results are.
func (b *FunctionBuilder) Return(values ...kernel.Value) {
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

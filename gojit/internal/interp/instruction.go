package interp

import (
	"fmt"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
)

// Instruction is one step. What A, B and C mean is in the table of opcodes.
type Instruction struct {
	Op      Opcode
	A, B, C int32
}

// Opcode says what an instruction does.
type Opcode uint32

// The opcodes.
const (
	opInvalid Opcode = iota

	// Control
	opJump
	opJumpIf
	opJumpIfNot
	opLoopStart
	opLoopNext
	opLoopIf
	opPoll
	opLine
	opReturn
	opReturnOne
	opRaise

	// A comparison of integers and the jump that depends on it
	opJumpIfNotLtInt
	opJumpIfNotLeInt
	opJumpIfNotGtInt
	opJumpIfNotGeInt
	opJumpIfNotEqInt
	opJumpIfNotNeInt
	opLoopIfLtInt
	opLoopIfLeInt
	opLoopIfGtInt
	opLoopIfGeInt
	opLoopIfEqInt
	opLoopIfNeInt

	// Registers
	opCopy
	opCopyBits
	opMove
	opDrop
	opUninitialized

	// Calls
	opNative
	opCall
	opCallIn
	opGroup
	opCallFunction
	opCallMethod
	opEnter
	opExit
	opFork
	opSort
	opWarn
	opCheckWrites

	// Containers and objects
	opTuple
	opTupleUnpack
	opTupleIndex
	opList
	opListUnpack
	opDict
	opGetAttr
	opSetAttr
	opCreateObject
	opIsInstance
	opCast
	opUnwrap

	// Integers
	opAddInt
	opSubInt
	opMulInt
	opFloorDivInt
	opRemainderInt
	opNegInt
	opAndInt
	opOrInt
	opXorInt
	opLtInt
	opLeInt
	opGtInt
	opGeInt
	opEqInt
	opNeInt

	// Floating-point numbers
	opAddFloat
	opSubFloat
	opMulFloat
	opDivFloat
	opNegFloat
	opLtFloat
	opLeFloat
	opGtFloat
	opGeFloat
	opEqFloat
	opNeFloat

	// An integer and a floating-point number
	opAddIntFloat
	opSubIntFloat
	opMulIntFloat
	opAddFloatInt
	opSubFloatInt
	opMulFloatInt
	opLtIntFloat
	opLeIntFloat
	opGtIntFloat
	opGeIntFloat
	opLtFloatInt
	opLeFloatInt
	opGtFloatInt
	opGeFloatInt
	opDivInt

	// Truth values and conversions
	opNot
	opAndBool
	opOrBool
	opXorBool
	opEqBool
	opNeBool
	opIntToFloat
	opFloatToInt
	opBoolToInt
	opIntToBool
	opFloatToBool

	numOpcodes
)

// opcodes is the table of what there is. Operands are named by letter for A, B and C in order:
// w register written, r register read, j jump target, s index of a site, - not used. Operator is
// the operator that the instruction stands for where all registers are typed.
var opcodes = [numOpcodes]struct {
	name     string
	operands string
	operator string
	comment  string
}{
	opInvalid: {"invalid", "---", "", "never executed"},

	opJump:      {"jump", "j--", "", "go to A"},
	opJumpIf:    {"jumpif", "jr-", "", "go to A if B"},
	opJumpIfNot: {"jumpifnot", "jr-", "", "go to A unless B"},
	opLoopStart: {"loopstart", "jwr", "", "B = 0; go to A unless B < C"},
	opLoopNext:  {"loopnext", "jwr", "", "B += 1; poll; go to A if B < C"},
	opLoopIf:    {"loopif", "jr-", "", "poll; go to A if B"},
	opPoll:      {"poll", "---", "", "stop if the run was cancelled; before a jump back"},
	opLine:      {"line", "s--", "", "count the node of site A for profiles of lines"},
	opReturn:    {"return", "s--", "", "leave with the inputs of site A"},
	opReturnOne: {"return1", "r--", "", "leave with A"},
	opRaise:     {"raise", "s--", "", "raise an exception from the inputs of site A: message, class"},

	opJumpIfNotLtInt: {"jumpifnotlt", "jrr", "", "go to A unless B < C"},
	opJumpIfNotLeInt: {"jumpifnotle", "jrr", "", "go to A unless B <= C"},
	opJumpIfNotGtInt: {"jumpifnotgt", "jrr", "", "go to A unless B > C"},
	opJumpIfNotGeInt: {"jumpifnotge", "jrr", "", "go to A unless B >= C"},
	opJumpIfNotEqInt: {"jumpifnoteq", "jrr", "", "go to A unless B == C"},
	opJumpIfNotNeInt: {"jumpifnotne", "jrr", "", "go to A unless B != C"},
	opLoopIfLtInt:    {"loopiflt", "jrr", "", "poll; go to A if B < C"},
	opLoopIfLeInt:    {"loopifle", "jrr", "", "poll; go to A if B <= C"},
	opLoopIfGtInt:    {"loopifgt", "jrr", "", "poll; go to A if B > C"},
	opLoopIfGeInt:    {"loopifge", "jrr", "", "poll; go to A if B >= C"},
	opLoopIfEqInt:    {"loopifeq", "jrr", "", "poll; go to A if B == C"},
	opLoopIfNeInt:    {"loopifne", "jrr", "", "poll; go to A if B != C"},

	opCopy:          {"copy", "wr-", "", "A = B"},
	opCopyBits:      {"copybits", "wr-", "", "A = B where both are typed"},
	opMove:          {"move", "wr-", "", "A = B; B = None"},
	opDrop:          {"drop", "w--", "", "A = None"},
	opUninitialized: {"uninitialized", "w--", "", "A = a value that no path uses"},

	opNative:       {"native", "s--", "", "run the loop over numbers of site A as machine code"},
	opCall:         {"call", "s--", "", "run the operation of site A"},
	opCallIn:       {"call_in", "s--", "", "run the operation of site A in the mode of the run"},
	opGroup:        {"group", "js-", "", "go to A if the operation of site B did the work of what follows"},
	opCallFunction: {"callfunction", "s--", "", "call the function of site A"},
	opCallMethod:   {"callmethod", "s--", "", "call the method of the first input that site A names"},
	opSort:         {"sort", "s--", "", "sort the list that is the first input of site A, by __lt__ of its objects"},
	opWarn:         {"warn", "s--", "", "warn of the first input of site A, once in a run"},
	opEnter:        {"enter", "wrs", "", "A = B.__enter__(), by the method cache of site C"},
	opExit:         {"exit", "rs-", "", "A.__exit__(None, None, None), by the method cache of site B"},
	opFork:         {"fork", "s--", "", "start the code of site A beside this one"},
	opCheckWrites:  {"checkwrites", "s--", "", "fail where a running fork can see an input of site A"},

	opTuple:        {"tuple", "s--", "", "tuple of the inputs"},
	opTupleUnpack:  {"tupleunpack", "s--", "", "outputs = items of the input"},
	opTupleIndex:   {"tupleindex", "wrr", "", "A = B[C] of a tuple"},
	opList:         {"list", "s--", "", "list of the inputs"},
	opListUnpack:   {"listunpack", "s--", "", "outputs = items of the input"},
	opDict:         {"dict", "s--", "", "dict of the inputs: key, value, key, value ..."},
	opGetAttr:      {"getattr", "wrs", "", "A = attribute of B that site C names"},
	opSetAttr:      {"setattr", "rrs", "", "attribute of A that site C names = B"},
	opCreateObject: {"createobject", "ws-", "", "A = object of the class of site B"},
	opIsInstance:   {"isinstance", "wrs", "", "A = whether B is of a type of site C"},
	opCast:         {"cast", "wrs", "", "A = B, which must be of the type of site C"},
	opUnwrap:       {"unwrap", "wrs", "", "A = B, which must not be None"},

	opAddInt:       {"addint", "wrr", "aten::add.int", "A = B + C"},
	opSubInt:       {"subint", "wrr", "aten::sub.int", "A = B - C"},
	opMulInt:       {"mulint", "wrr", "aten::mul.int", "A = B * C"},
	opFloorDivInt:  {"floordivint", "wrr", "aten::floordiv.int", "A = B // C"},
	opRemainderInt: {"remainderint", "wrr", "aten::remainder.int", "A = B % C"},
	opNegInt:       {"negint", "wr-", "aten::neg.int", "A = -B"},
	opAndInt:       {"andint", "wrr", "aten::__and__.int", "A = B & C"},
	opOrInt:        {"orint", "wrr", "aten::__or__.int", "A = B | C"},
	opXorInt:       {"xorint", "wrr", "aten::__xor__.int", "A = B ^ C"},
	opLtInt:        {"ltint", "wrr", "aten::lt.int", "A = B < C"},
	opLeInt:        {"leint", "wrr", "aten::le.int", "A = B <= C"},
	opGtInt:        {"gtint", "wrr", "aten::gt.int", "A = B > C"},
	opGeInt:        {"geint", "wrr", "aten::ge.int", "A = B >= C"},
	opEqInt:        {"eqint", "wrr", "aten::eq.int", "A = B == C"},
	opNeInt:        {"neint", "wrr", "aten::ne.int", "A = B != C"},

	opAddFloat: {"addfloat", "wrr", "aten::add.float", "A = B + C"},
	opSubFloat: {"subfloat", "wrr", "aten::sub.float", "A = B - C"},
	opMulFloat: {"mulfloat", "wrr", "aten::mul.float", "A = B * C"},
	opDivFloat: {"divfloat", "wrr", "aten::div.float", "A = B / C"},
	opNegFloat: {"negfloat", "wr-", "aten::neg.float", "A = -B"},
	opLtFloat:  {"ltfloat", "wrr", "aten::lt.float", "A = B < C"},
	opLeFloat:  {"lefloat", "wrr", "aten::le.float", "A = B <= C"},
	opGtFloat:  {"gtfloat", "wrr", "aten::gt.float", "A = B > C"},
	opGeFloat:  {"gefloat", "wrr", "aten::ge.float", "A = B >= C"},
	opEqFloat:  {"eqfloat", "wrr", "aten::eq.float", "A = B == C"},
	opNeFloat:  {"nefloat", "wrr", "aten::ne.float", "A = B != C"},

	opAddIntFloat: {"addintfloat", "wrr", "aten::add.int_float", "A = B + C"},
	opSubIntFloat: {"subintfloat", "wrr", "aten::sub.int_float", "A = B - C"},
	opMulIntFloat: {"mulintfloat", "wrr", "aten::mul.int_float", "A = B * C"},
	opAddFloatInt: {"addfloatint", "wrr", "aten::add.float_int", "A = B + C"},
	opSubFloatInt: {"subfloatint", "wrr", "aten::sub.float_int", "A = B - C"},
	opMulFloatInt: {"mulfloatint", "wrr", "aten::mul.float_int", "A = B * C"},
	opLtIntFloat:  {"ltintfloat", "wrr", "aten::lt.int_float", "A = B < C"},
	opLeIntFloat:  {"leintfloat", "wrr", "aten::le.int_float", "A = B <= C"},
	opGtIntFloat:  {"gtintfloat", "wrr", "aten::gt.int_float", "A = B > C"},
	opGeIntFloat:  {"geintfloat", "wrr", "aten::ge.int_float", "A = B >= C"},
	opLtFloatInt:  {"ltfloatint", "wrr", "aten::lt.float_int", "A = B < C"},
	opLeFloatInt:  {"lefloatint", "wrr", "aten::le.float_int", "A = B <= C"},
	opGtFloatInt:  {"gtfloatint", "wrr", "aten::gt.float_int", "A = B > C"},
	opGeFloatInt:  {"gefloatint", "wrr", "aten::ge.float_int", "A = B >= C"},
	opDivInt:      {"divint", "wrr", "aten::div.int", "A = B / C as a floating-point number"},

	opNot:         {"not", "wr-", aten.Not, "A = not B"},
	opAndBool:     {"andbool", "wrr", "aten::__and__.bool", "A = B and C"},
	opOrBool:      {"orbool", "wrr", "aten::__or__.bool", "A = B or C"},
	opXorBool:     {"xorbool", "wrr", "aten::__xor__.bool", "A = B != C"},
	opEqBool:      {"eqbool", "wrr", "aten::eq.bool", "A = B == C"},
	opNeBool:      {"nebool", "wrr", "aten::ne.bool", "A = B != C"},
	opIntToFloat:  {"inttofloat", "wr-", "aten::Float.int", "A = float(B)"},
	opFloatToInt:  {"floattoint", "wr-", "aten::Int.float", "A = int(B)"},
	opBoolToInt:   {"booltoint", "wr-", "aten::Int.bool", "A = int(B)"},
	opIntToBool:   {"inttobool", "wr-", "aten::Bool.int", "A = bool(B)"},
	opFloatToBool: {"floattobool", "wr-", "aten::Bool.float", "A = bool(B)"},
}

// typedOpcodes finds the instruction of an operator.
var typedOpcodes = func() map[string]Opcode {
	m := map[string]Opcode{}
	for op, info := range opcodes {
		if info.operator != "" {
			m[info.operator] = Opcode(op)
		}
	}
	return m
}()

// fusedJumps are the instructions that compare two integers and jump on the outcome: unless it is
// true, or, at the end of a loop, if it is.
var fusedJumps = map[Opcode]struct{ unless, loop Opcode }{
	opLtInt: {opJumpIfNotLtInt, opLoopIfLtInt}, opLeInt: {opJumpIfNotLeInt, opLoopIfLeInt},
	opGtInt: {opJumpIfNotGtInt, opLoopIfGtInt}, opGeInt: {opJumpIfNotGeInt, opLoopIfGeInt},
	opEqInt: {opJumpIfNotEqInt, opLoopIfEqInt}, opNeInt: {opJumpIfNotNeInt, opLoopIfNeInt},
}

// String returns the instruction's name.
func (o Opcode) String() string {
	if o >= numOpcodes {
		return "invalid"
	}
	return opcodes[o].name
}

// operands calls visit for each operand with its letter.
func (in Instruction) operands(visit func(kind byte, x int32)) {
	for i, x := range [...]int32{in.A, in.B, in.C} {
		if kind := opcodes[in.Op].operands[i]; kind != '-' {
			visit(kind, x)
		}
	}
}

// String disassembles the code: constants, then one line for each instruction.
func (c *Code) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d inputs, %d outputs, %d registers, %d arguments\n",
		c.name, c.numInputs, c.numOutputs, c.numRegisters, c.numArguments)
	for i, in := range c.instructions {
		fmt.Fprintf(&b, "%4d %-12s", i, in.Op)
		in.operands(func(kind byte, x int32) {
			switch kind {
			case 'j':
				fmt.Fprintf(&b, " ->%d", x)
			case 's':
				b.WriteString(" " + c.sites[x].String())
			default:
				b.WriteString(" " + c.register(x))
			}
		})
		b.WriteByte('\n')
	}
	return b.String()
}

// register names a register, or shows the constant that it holds.
func (c *Code) register(r int32) string {
	if text, ok := c.constants[r]; ok {
		return text
	}
	return fmt.Sprintf("r%d", r)
}

func (s *site) String() string {
	var b strings.Builder
	b.WriteString(s.name + "(")
	for i, in := range s.inputs {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprintf(&b, "r%d", in.register)
		if in.move {
			b.WriteByte('!')
		}
	}
	b.WriteByte(')')
	if s.numOutputs > 0 {
		fmt.Fprintf(&b, "=r%d:%d", s.output, s.numOutputs)
	}
	return b.String()
}

// verify checks that every operand of every instruction is in range and that the last instruction
// does not run off the end.
func (c *Code) verify() error {
	for i, in := range c.instructions {
		if in.Op == opInvalid || in.Op >= numOpcodes {
			return fmt.Errorf("instruction %d is invalid", i)
		}
		var err error
		in.operands(func(kind byte, x int32) {
			limit := c.numRegisters
			switch kind {
			case 'j':
				limit = len(c.instructions)
			case 's':
				limit = len(c.sites)
			}
			if x < 0 || int(x) >= limit {
				err = fmt.Errorf("instruction %d, %s: operand %d is out of range", i, in.Op, x)
			}
		})
		if err != nil {
			return err
		}
	}
	for _, s := range c.sites {
		if int(s.output)+s.numOutputs > c.numRegisters || len(s.inputs) > c.numArguments {
			return fmt.Errorf("site %s is out of range", s)
		}
		for _, in := range s.inputs {
			if in.register < 0 || int(in.register) >= c.numRegisters {
				return fmt.Errorf("site %s reads register %d", s, in.register)
			}
		}
	}
	if n := len(c.instructions); n == 0 || c.instructions[n-1].Op != opReturn && c.instructions[n-1].Op != opReturnOne {
		return fmt.Errorf("the code does not end with a return")
	}
	return nil
}

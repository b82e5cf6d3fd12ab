package cuda

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var typeNames = map[tensor.DType]string{
	tensor.Bool: "bool", tensor.Uint8: "u8", tensor.Int8: "i8", tensor.Int16: "i16", tensor.Int32: "i32", tensor.Int64: "i64",
	tensor.Float16: "u16", tensor.BFloat16: "u16", tensor.Float32: "float", tensor.Float64: "double",
	tensor.Complex32: "c32", tensor.Complex64: "c64", tensor.Complex128: "c128",
}

func typeName(t tensor.DType) string { return typeNames[t] }

// expression returns an instruction as C.
func (p *printer) expression(in *kernel.Instr, index, at string) string {
	k := p.kernel
	var x [3]string
	for j := range in.Op.Operands() {
		x[j] = fmt.Sprintf("v%d", in.Args[j])
	}
	switch in.Op {
	case kernel.Load:
		return p.load(k.Inputs[in.Imm], in.Type, fmt.Sprintf(at, len(k.Outputs)+int(in.Imm)))
	case kernel.Param:
		return p.parameter(in.Type, p.number[in.Imm])
	case kernel.Const:
		return bitsText(in.Type, in.Imm)
	case kernel.Iota:
		return cast(in.Type, index)
	case kernel.Lookup:
		return fmt.Sprintf("table%d[%s & 15]", in.Imm, x[0])
	}
	first := k.TypeOf(in.Args[0])
	switch in.Op.Operands() {
	case 1:
		return p.unary(in, first, x[0])
	case 2:
		return p.binary(in.Op, first, x[0], x[1])
	}
	if in.Op == kernel.Select {
		return fmt.Sprintf("%s ? %s : %s", x[0], x[1], x[2])
	}
	return fmt.Sprintf("%s(%s, %s, %s)", function(in.Type, "fma"), x[0], x[1], x[2])
}

// function returns the name that C has for a function of a type of floats.
func function(t tensor.DType, name string) string {
	if t == tensor.Float32 {
		return name + "f"
	}
	return name
}

func cast(t tensor.DType, x string) string { return fmt.Sprintf("(%s)(%s)", typeName(t), x) }

// load returns an element in memory as a value of a type.
func (p *printer) load(memory, t tensor.DType, at string) string {
	x := fmt.Sprintf("*(const %s *)%s", typeName(memory), at)
	computed := kernel.ComputeType(memory)
	switch memory {
	case tensor.Bool:
		x = fmt.Sprintf("(*(const u8 *)%s != 0)", at)
	case tensor.Float16:
		x = "from_half(" + x + ")"
	case tensor.BFloat16:
		x = "from_bfloat(" + x + ")"
	case tensor.Complex32, tensor.Complex64, tensor.Complex128:
		return p.loadComplex(memory, t, fmt.Sprintf("((const %s *)%s)", typeName(memory), at))
	}
	if t.IsComplex() {
		return complexOf(p.convert(x, computed, t.ToReal()), "0")
	}
	return p.convert(x, computed, t)
}

// loadComplex is load for complex elements.
func (p *printer) loadComplex(memory, t tensor.DType, at string) string {
	re, im := at+"->re", at+"->im"
	part := tensor.Float32
	switch memory {
	case tensor.Complex32:
		re, im = "from_half("+re+")", "from_half("+im+")"
	case tensor.Complex128:
		part = tensor.Float64
	}
	switch {
	case t == tensor.Bool:
		return fmt.Sprintf("%s != 0 || %s != 0", re, im)
	case !t.IsComplex():
		return p.convert(re, part, t)
	}
	return complexOf(p.convert(re, part, t.ToReal()), p.convert(im, part, t.ToReal()))
}

// complexOf makes a complex number, in words that C and C++ both have.
func complexOf(re, im string) string { return fmt.Sprintf("{%s, %s}", re, im) }

// parameter returns a number among the arguments.
func (p *printer) parameter(t tensor.DType, word int) string {
	number := func(t tensor.DType, word int) string {
		bits := fmt.Sprintf("a.number[%d]", word)
		switch t {
		case tensor.Float32:
			return "__int_as_float((i32)" + bits + ")"
		case tensor.Float64:
			return "__longlong_as_double((i64)" + bits + ")"
		case tensor.Bool:
			return bits + " != 0"
		}
		return cast(t, bits)
	}
	if t.IsComplex() {
		return complexOf(number(t.ToReal(), word), number(t.ToReal(), word+1))
	}
	return number(t, word)
}

// store writes a value of a type to memory.
func (p *printer) store(memory tensor.DType, at, x string, t tensor.DType) {
	to := fmt.Sprintf("*(%s *)%s", typeName(memory), at)
	computed := kernel.ComputeType(memory)
	switch {
	case memory.IsComplex():
		re, im := x, "0"
		if t.IsComplex() {
			re, im = x+".re", x+".im"
		}
		part := computed.ToReal()
		re, im = p.convert(re, t.ToReal(), part), p.convert(im, part, part)
		if t.IsComplex() {
			im = p.convert(x+".im", t.ToReal(), part)
		}
		if memory == tensor.Complex32 {
			re, im = "to_half("+re+")", "to_half("+im+")"
		}
		p.line("((%s *)%s)->re = %s;", typeName(memory), at, re)
		p.line("((%s *)%s)->im = %s;", typeName(memory), at, im)
		return
	case t.IsComplex() && memory == tensor.Bool:
		p.line("*(u8 *)%s = %s.re != 0 || %s.im != 0;", at, x, x)
		return
	case t.IsComplex():
		x, t = x+".re", t.ToReal()
	}
	switch x = p.convert(x, t, computed); memory {
	case tensor.Float16:
		p.line("%s = to_half(%s);", to, x)
	case tensor.BFloat16:
		p.line("%s = to_bfloat(%s);", to, x)
	case tensor.Bool:
		p.line("*(u8 *)%s = %s;", at, x)
	default:
		p.line("%s = %s;", to, x)
	}
}

// convert changes the type of a real value.
func (p *printer) convert(x string, from, to tensor.DType) string {
	switch {
	case from == to:
		return x
	case to == tensor.Bool:
		return fmt.Sprintf("(%s != 0)", x)
	case from.IsFloating() && to == tensor.Int64:
		return fmt.Sprintf("to_i64(%s)", x)
	case from.IsFloating() && !to.IsFloating():
		return cast(to, fmt.Sprintf("to_i32(%s)", x))
	}
	return cast(to, x)
}

// unary returns an operation of one operand.
func (p *printer) unary(in *kernel.Instr, t tensor.DType, x string) string {
	if in.Op == kernel.Convert {
		return p.convert(x, t, in.Type)
	}
	switch in.Op {
	case kernel.Real:
		if !t.IsComplex() {
			return x
		}
		return x + ".re"
	case kernel.Imag:
		return x + ".im"
	case kernel.Bits:
		return map[tensor.DType]string{tensor.Float32: "__float_as_int", tensor.Float64: "__double_as_longlong", tensor.Int32: "__int_as_float",
			tensor.Int64: "__longlong_as_double"}[t] + "(" + x + ")"
	case kernel.Conj:
		return x
	}
	if t.IsFloating() {
		return p.unaryFloat(in.Op, t, x)
	}
	if t == tensor.Uint8 { // which is never less than zero, as NVRTC warns
		switch in.Op {
		case kernel.Abs:
			return x
		case kernel.Sign:
			return cast(t, x+" != 0")
		}
	}
	switch in.Op {
	case kernel.Neg:
		return cast(t, fmt.Sprintf("0 - (u64)%s", x))
	case kernel.Abs:
		return cast(t, fmt.Sprintf("%s < 0 ? 0 - (u64)%s : (u64)%s", x, x, x))
	case kernel.Sign:
		return cast(t, fmt.Sprintf("(%s > 0) - (%s < 0)", x, x))
	case kernel.Not:
		if t == tensor.Bool {
			return "!" + x
		}
		return cast(t, "~"+x)
	case kernel.Floor, kernel.Ceil, kernel.Round, kernel.Trunc:
		return x
	case kernel.IsNaN:
		return "0"
	}
	return p.unsupported("%s of %s", in.Op, t)
}

var floatFunctions = map[kernel.Op]string{kernel.Abs: "fabs", kernel.Floor: "floor", kernel.Ceil: "ceil", kernel.Round: "rint", kernel.Trunc: "trunc",
	kernel.Sqrt: "sqrt", kernel.Exponent: "logb"}

func (p *printer) unaryFloat(op kernel.Op, t tensor.DType, x string) string {
	switch op {
	case kernel.Neg:
		return "-" + x
	case kernel.Mantissa:
		return cast(t, "mantissa("+x+")")
	}
	if name, ok := floatFunctions[op]; ok {
		return function(t, name) + "(" + x + ")"
	}
	return p.unsupported("%s of %s", op, t)
}

// divisions are the functions of prelude.cu that say where a divisor is zero.
var divisions = map[kernel.Op]string{kernel.Div: "quotient", kernel.FloorDiv: "floor_quotient", kernel.Rem: "remainder_of", kernel.Mod: "modulo"}

var operators = map[kernel.Op]string{kernel.Add: "+", kernel.Sub: "-", kernel.Mul: "*", kernel.Div: "/", kernel.And: "&", kernel.Or: "|", kernel.Xor: "^",
	kernel.Eq: "==", kernel.Ne: "!=", kernel.Lt: "<", kernel.Le: "<=", kernel.Gt: ">", kernel.Ge: ">="}

// binary returns an operation of two operands of a type.
func (p *printer) binary(op kernel.Op, t tensor.DType, x, y string) string {
	switch op {
	case kernel.MakeComplex:
		return complexOf(x, y)
	case kernel.Min:
		return fmt.Sprintf("MIN(%s, %s)", x, y)
	case kernel.Max:
		return fmt.Sprintf("MAX(%s, %s)", x, y)
	case kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge:
		return fmt.Sprintf("%s %s %s", x, operators[op], y)
	}
	switch {
	case t == tensor.Bool:
		return p.binaryBool(op, x, y)
	case t.IsFloating():
		return p.binaryFloat(op, t, x, y)
	case t.IsComplex() && op == kernel.Add:
		return fmt.Sprintf("sum_%s(%s, %s)", typeName(t), x, y)
	case t.IsComplex():
		return p.unsupported("%s of %s", op, t)
	}
	switch op {
	case kernel.Add, kernel.Sub, kernel.Mul:
		return cast(t, fmt.Sprintf("(u64)%s %s (u64)%s", x, operators[op], y))
	case kernel.And, kernel.Or, kernel.Xor:
		return cast(t, fmt.Sprintf("%s %s %s", x, operators[op], y))
	case kernel.Div, kernel.FloorDiv, kernel.Rem, kernel.Mod:
		p.source.Divides = true
		return cast(t, fmt.Sprintf("%s(%s, %s, a.failed)", divisions[op], x, y))
	case kernel.Pow:
		return cast(t, fmt.Sprintf("power(%s, %s)", x, y))
	case kernel.Gcd:
		return cast(t, fmt.Sprintf("greatest_divisor(%s, %s)", x, y))
	case kernel.Shl:
		return cast(t, fmt.Sprintf("shift_left(%s, %s, %d)", x, y, 8*t.Size()))
	case kernel.Shr:
		farthest := 8*t.Size() - 1 // leaves the sign
		if t == tensor.Uint8 {
			farthest++
		}
		return cast(t, fmt.Sprintf("shift_right(%s, %s, %d)", x, y, farthest))
	}
	return p.unsupported("%s of %s", op, t)
}

func (p *printer) binaryBool(op kernel.Op, x, y string) string {
	switch op {
	case kernel.Add, kernel.Or:
		return x + " || " + y
	case kernel.Mul, kernel.And:
		return x + " && " + y
	case kernel.Xor:
		return x + " != " + y
	case kernel.Pow:
		return x + " || !" + y
	}
	return p.unsupported("%s of %s", op, tensor.Bool)
}

func (p *printer) binaryFloat(op kernel.Op, t tensor.DType, x, y string) string {
	switch op {
	case kernel.Add, kernel.Sub, kernel.Mul, kernel.Div:
		return fmt.Sprintf("%s %s %s", x, operators[op], y)
	case kernel.CopySign:
		return fmt.Sprintf("%s(%s, %s)", function(t, "copysign"), x, y)
	}
	return p.unsupported("%s of %s", op, t)
}

// constant returns a number as a constant of a type.
func constant(t tensor.DType, s tensor.Scalar) string {
	re, im := kernel.NumberBits(t, s)
	if t.IsComplex() {
		return fmt.Sprintf("{%s, %s}", bitsText(t.ToReal(), re), bitsText(t.ToReal(), im))
	}
	return bitsText(t, re)
}

// bitsText returns the bits of a number as a constant of a type.
func bitsText(t tensor.DType, bits uint64) string {
	switch t {
	case tensor.Float32:
		return float32Text(math.Float32frombits(uint32(bits)))
	case tensor.Float64:
		return float64Text(math.Float64frombits(bits))
	case tensor.Int64:
		if int64(bits) == math.MinInt64 {
			return "(i64)1 << 63"
		}
		return strconv.FormatInt(int64(bits), 10) + "ll"
	case tensor.Int32:
		if int32(bits) == math.MinInt32 {
			return "-2147483647 - 1"
		}
	}
	return strconv.FormatInt(int64(bits), 10)
}

func float32Text(v float32) string {
	if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
		return fmt.Sprintf("__int_as_float(%#x)", math.Float32bits(v))
	}
	return decimal(strconv.FormatFloat(float64(v), 'g', -1, 32)) + "f"
}

func float64Text(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("__longlong_as_double(%#x)", math.Float64bits(v))
	}
	return decimal(strconv.FormatFloat(v, 'g', -1, 64))
}

// decimal makes an integer a floating-point constant.
func decimal(s string) string {
	if strings.ContainsAny(s, ".e") {
		return s
	}
	return s + ".0"
}

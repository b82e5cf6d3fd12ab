package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Complex numbers are pairs of real ones in an expanded kernel: there, only inputs, parameters and what is stored are complex,
// and Real and Imag take the parts of the first two. A product is four products and two sums, a quotient is scaled by a power of two, so
// that neither overflows nor vanishes on the way; both have the evaluator's bits. Abs, Exp and Sign are written in real functions, other functions in those of
// their parts: complex64 computes them in float64, where nothing overflows on the way and the digits that differences lose are to spare.

// parts are those of a complex value.
type parts struct{ re, im kernel.Value }

// partsOf takes an emitted complex value apart.
func (e *expander) partsOf(v kernel.Value) parts {
	return parts{e.Unary(kernel.Real, v), e.Unary(kernel.Imag, v)}
}

// join makes a complex value.
func (e *expander) join(p parts) kernel.Value { return e.Binary(kernel.MakeComplex, p.re, p.im) }

// function makes an instruction of real values, expanded where it is a function.
func (e *expander) function(op kernel.Op, x, y kernel.Value) kernel.Value {
	t := e.t
	defer func() { e.t = t }()
	e.t = e.Type(x)
	switch {
	case expansions[op].bound(e.t) > 0:
		return expansions[op].expand(e, x, y)
	case op.Operands() == 1:
		return e.Unary(op, x)
	}
	return e.Binary(op, x, y)
}

// each applies an operation to both parts of operands.
func (e *expander) each(op kernel.Op, x, y parts) parts {
	if op.Operands() == 1 {
		return parts{e.Unary(op, x.re), e.Unary(op, x.im)}
	}
	return parts{e.Binary(op, x.re, y.re), e.Binary(op, x.im, y.im)}
}

// converted changes the type of the parts.
func (e *expander) converted(p parts, t tensor.DType) parts {
	return parts{e.Convert(p.re, t), e.Convert(p.im, t)}
}

// truth tells whether a complex number is not zero.
func (e *expander) truth(p parts) kernel.Value {
	e.t = e.Type(p.re)
	zero := e.number(0)
	return e.Binary(kernel.Or, e.Binary(kernel.Ne, p.re, zero), e.Binary(kernel.Ne, p.im, zero))
}

// fromParts converts a complex number to a type that is not complex.
func (e *expander) fromParts(p parts, t tensor.DType) kernel.Value {
	if t == tensor.Bool {
		return e.truth(p)
	}
	return e.Convert(p.re, t)
}

// loadParts loads an element of any type as a complex number of a type.
func (e *expander) loadParts(in kernel.Instr) parts {
	memory, t := e.K.Inputs[in.Imm], in.Type.ToReal()
	if !memory.IsComplex() {
		in.Type = t
		v := e.Emit(in)
		return parts{v, e.Const(t, tensor.Int(0))}
	}
	in.Type = kernel.ComputeType(memory)
	return e.converted(e.partsOf(e.Emit(in)), t)
}

// complexInstr expands an instruction whose result or operands are complex. Where the result is not complex, it is in re.
func (e *expander) complexInstr(k *kernel.Kernel, in kernel.Instr, values []kernel.Value, pairs []parts) parts {
	t := in.Type
	switch in.Op {
	case kernel.Load:
		if t.IsComplex() {
			return e.loadParts(in)
		}
		in.Type = kernel.ComputeType(k.Inputs[in.Imm])
		return parts{re: e.fromParts(e.partsOf(e.Emit(in)), t)}
	case kernel.Param:
		return e.partsOf(e.Emit(in))
	case kernel.Const:
		return parts{e.Emit(kernel.Instr{Op: kernel.Const, Type: t.ToReal(), Imm: in.Imm}), e.Emit(kernel.Instr{Op: kernel.Const, Type: t.ToReal(), Imm: in.Imm2})}
	case kernel.MakeComplex:
		return parts{values[in.Args[0]], values[in.Args[1]]}
	case kernel.Select:
		c, x, y := values[in.Args[0]], pairs[in.Args[1]], pairs[in.Args[2]]
		return parts{e.Select(c, x.re, y.re), e.Select(c, x.im, y.im)}
	case kernel.Convert:
		return e.convertParts(k.TypeOf(in.Args[0]), t, values[in.Args[0]], pairs[in.Args[0]])
	}
	x, y := pairs[in.Args[0]], parts{}
	if in.Op.Operands() > 1 {
		y = pairs[in.Args[1]]
	}
	e.t = e.Type(x.re)
	if made, ok := e.complexOperation(in.Op, x, y); ok {
		return made
	}
	for j := range in.Op.Operands() {
		in.Args[j] = e.join(pairs[in.Args[j]])
	}
	if v := e.Emit(in); t.IsComplex() {
		return e.partsOf(v)
	} else {
		return parts{re: v}
	}
}

func (e *expander) convertParts(from, to tensor.DType, v kernel.Value, p parts) parts {
	switch {
	case !from.IsComplex():
		return parts{e.Convert(v, to.ToReal()), e.Const(to.ToReal(), tensor.Int(0))}
	case to.IsComplex():
		return e.converted(p, to.ToReal())
	}
	return parts{re: e.fromParts(p, to)}
}

// complexOperation writes an operation in those of real numbers; ok is false where that is not done.
func (e *expander) complexOperation(op kernel.Op, x, y parts) (made parts, ok bool) {
	switch op {
	case kernel.Neg, kernel.Add, kernel.Sub:
		return e.each(op, x, y), true
	case kernel.Conj:
		return parts{x.re, e.Neg(x.im)}, true
	case kernel.Real:
		return parts{re: x.re}, true
	case kernel.Imag:
		return parts{re: x.im}, true
	case kernel.IsNaN:
		return parts{re: e.Binary(kernel.Or, e.isNaN(x.re), e.isNaN(x.im))}, true
	case kernel.Eq:
		both := e.each(kernel.Eq, x, y)
		return parts{re: e.Binary(kernel.And, both.re, both.im)}, true
	case kernel.Ne:
		either := e.each(kernel.Ne, x, y)
		return parts{re: e.Binary(kernel.Or, either.re, either.im)}, true
	case kernel.Mul:
		return parts{e.Sub(e.Mul(x.re, y.re), e.Mul(x.im, y.im)), e.Add(e.Mul(x.re, y.im), e.Mul(x.im, y.re))}, true
	case kernel.Div:
		return e.quotient(x, y), true
	case kernel.Abs:
		return parts{re: e.magnitude(x)}, true
	case kernel.Angle:
		return parts{re: e.function(kernel.Atan2, x.im, x.re)}, true
	case kernel.Exp:
		m := e.function(kernel.Exp, x.re, x.re)
		return parts{e.Mul(m, e.function(kernel.Cos, x.im, x.im)), e.Mul(m, e.function(kernel.Sin, x.im, x.im))}, true
	case kernel.Sign:
		m, zero := e.magnitude(x), e.number(0)
		none := e.Binary(kernel.Eq, m, zero)
		return parts{e.Select(none, zero, e.Div(x.re, m)), e.Select(none, zero, e.Div(x.im, m))}, true
	}
	return e.complexFunction(op, x, y)
}

// powerBelow returns the power of two not above the larger of |x| and |y|, and one divided by it. Neither is infinite or
// denormal. Bits of numbers that are not negative are ordered as these.
func (e *expander) powerBelow(x, y kernel.Value) (power, inverse kernel.Value) {
	unit, bias := int64(e.pick(1<<23, 1<<52)), int64(e.pick(127, 1023))
	larger := e.Binary(kernel.Max, e.Bits(e.Unary(kernel.Abs, x)), e.Bits(e.Unary(kernel.Abs, y)))
	bits := e.Binary(kernel.And, larger, e.integer(-unit))
	bits = e.Binary(kernel.Max, e.Binary(kernel.Min, bits, e.integer((2*bias-1)*unit)), e.integer(unit))
	return e.Bits(bits), e.Bits(e.Sub(e.integer(2*bias*unit), bits))
}

// quotient is x times the conjugate of y, divided by the square of |y|, with y scaled to between one and two before and
// the quotient after.
func (e *expander) quotient(x, y parts) parts {
	_, inverse := e.powerBelow(y.re, y.im)
	c, d := e.Mul(y.re, inverse), e.Mul(y.im, inverse)
	square := e.Add(e.Mul(c, c), e.Mul(d, d))
	re := e.Add(e.Mul(x.re, c), e.Mul(x.im, d))
	im := e.Sub(e.Mul(x.im, c), e.Mul(x.re, d))
	divided := e.Div(e.number(1), square)
	return parts{e.Mul(e.Mul(re, divided), inverse), e.Mul(e.Mul(im, divided), inverse)}
}

// magnitude is the root of the sum of squares, both scaled to at most two.
func (e *expander) magnitude(x parts) kernel.Value {
	power, inverse := e.powerBelow(x.re, x.im)
	a, b := e.Mul(x.re, inverse), e.Mul(x.im, inverse)
	return e.Mul(e.Unary(kernel.Sqrt, e.Fma(a, a, e.Mul(b, b))), power)
}

// complexOutput stores a complex value, or a real one as a complex number.
func (e *expander) complexOutput(o kernel.Output, t tensor.DType, v kernel.Value, p parts) kernel.Output {
	switch {
	case o.Reduce != kernel.NoReduce || o.DType == tensor.Complex32:
		o.Value = v
		if t.IsComplex() {
			o.Value = e.join(p)
		}
	case !o.DType.IsComplex():
		o.Value = e.fromParts(p, kernel.ComputeType(o.DType))
	case t.IsComplex():
		o.Value = e.join(e.converted(p, o.DType.ToReal()))
	default:
		o.Value = e.join(e.convertParts(t, o.DType, v, p))
	}
	return o
}

// complexFunction writes a function in real ones; ok is false where that is not done.
func (e *expander) complexFunction(op kernel.Op, x, y parts) (made parts, ok bool) {
	f := expansions[op].complex
	if f == nil && op != kernel.Pow {
		return parts{}, false
	}
	t := e.Type(x.re)
	x = e.converted(x, tensor.Float64)
	e.t = tensor.Float64
	if op == kernel.Pow {
		made = e.complexPower(x, e.converted(y, tensor.Float64))
	} else {
		made = f(e, x)
	}
	return e.converted(made, t), true
}

// infinite tells whether a number is infinite, finite whether it is neither that nor NaN.
func (e *expander) infinite(x kernel.Value) kernel.Value {
	return e.Binary(kernel.Eq, e.Unary(kernel.Abs, x), e.number(math.Inf(1)))
}

func (e *expander) finite(x kernel.Value) kernel.Value {
	return e.Binary(kernel.Lt, e.Unary(kernel.Abs, x), e.number(math.Inf(1)))
}

// distance is the magnitude of a number, infinite where a part is infinite and the other NaN.
func (e *expander) distance(z parts) kernel.Value {
	return e.Select(e.Binary(kernel.Or, e.infinite(z.re), e.infinite(z.im)), e.number(math.Inf(1)), e.magnitude(z))
}

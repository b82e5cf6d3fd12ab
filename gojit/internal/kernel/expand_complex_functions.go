package kernel

import (
	"math"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Functions of complex numbers are those of their parts. Complex64 computes in float64, where nothing overflows on the way and the
// digits that differences lose are to spare.

// complexExpansions are the functions of one complex number that are written in real ones.
var complexExpansions = map[Op]func(e *expander, z parts) parts{
	Sqrt:  (*expander).complexSqrt,
	Log:   func(e *expander, z parts) parts { return e.complexLog(Log, z, 1) },
	Log2:  func(e *expander, z parts) parts { return e.complexLog(Log2, z, 1/math.Ln2) },
	Log10: func(e *expander, z parts) parts { return e.complexLog(Log10, z, 1/math.Ln10) },
	Sinh:  (*expander).complexSinh,
	Cosh:  (*expander).complexCosh,
	Tanh:  (*expander).complexTanh,
	Tan:   turned((*expander).complexTanh),
	Sin:   turned((*expander).complexSinh),
	Cos: func(e *expander, z parts) parts { // cosh(i*z)
		c := e.complexCosh(parts{z.im, z.re})
		return parts{c.re, e.Neg(c.im)}
	},
	Asin:  (*expander).complexAsin,
	Acos:  (*expander).complexAcos,
	Atanh: (*expander).complexAtanh,
	Acosh: (*expander).complexAcosh,
	Asinh: turned((*expander).complexAsin),
	Atan:  turned((*expander).complexAtanh),
}

// turned is -i*f(i*z) of an odd function f.
func turned(f func(e *expander, z parts) parts) func(e *expander, z parts) parts {
	return func(e *expander, z parts) parts {
		s := f(e, parts{z.im, z.re})
		return parts{s.im, s.re}
	}
}

// complexFunction writes a function in real ones; ok is false where that is not done.
func (e *expander) complexFunction(op Op, x, y parts) (made parts, ok bool) {
	f := complexExpansions[op]
	if f == nil && op != Pow {
		return parts{}, false
	}
	t := e.Type(x.re)
	x = e.converted(x, tensor.Float64)
	e.t = tensor.Float64
	if op == Pow {
		made = e.complexPower(x, e.converted(y, tensor.Float64))
	} else {
		made = f(e, x)
	}
	return e.converted(made, t), true
}

// infinite tells whether a number is infinite, finite whether it is neither that nor NaN.
func (e *expander) infinite(x Value) Value {
	return e.Binary(Eq, e.Unary(Abs, x), e.number(math.Inf(1)))
}

func (e *expander) finite(x Value) Value {
	return e.Binary(Lt, e.Unary(Abs, x), e.number(math.Inf(1)))
}

// distance is the magnitude of a number, infinite where a part is infinite and the other NaN.
func (e *expander) distance(z parts) Value {
	return e.Select(e.Binary(Or, e.infinite(z.re), e.infinite(z.im)), e.number(math.Inf(1)), e.magnitude(z))
}

// complexLog is the logarithm of the magnitude and the angle times a factor. Near the unit circle it is half the logarithm of one and
// what the square of the magnitude is above it.
func (e *expander) complexLog(op Op, z parts, factor float64) parts {
	angle := e.function(Atan2, z.im, z.re)
	if factor != 1 {
		angle = e.Mul(angle, e.number(factor))
	}
	m, one := e.distance(z), e.number(1)
	near := e.Binary(And, e.Binary(Gt, m, e.number(0.7)), e.Binary(Lt, m, e.number(1.4)))
	x, y := e.Unary(Abs, z.re), e.Unary(Abs, z.im)
	a, b := e.Binary(Max, x, y), e.Binary(Min, x, y)
	above := e.Fma(e.Sub(a, one), e.Add(a, one), e.Mul(b, b))
	close := e.Mul(e.function(Log1p, above, above), e.number(0.5*factor))
	return parts{e.Select(near, close, e.function(op, m, m)), angle}
}

// complexSqrt takes the root t of half the sum of the magnitude and |x|, scaled to at most four, as one part, and y/(2*t) as the other.
func (e *expander) complexSqrt(z parts) parts {
	zero, infinity := e.number(0), e.number(math.Inf(1))
	power, inverse := e.powerBelow(z.re, z.im)
	a, b := e.Unary(Abs, e.Mul(z.re, inverse)), e.Mul(z.im, inverse)
	half := e.number(0.5)
	m := e.Unary(Sqrt, e.Fma(a, a, e.Mul(b, b)))
	m = e.Select(e.infinite(z.re), infinity, m)
	// The power is 4**k or 2 * 4**k; the root of the second is not exact, and so the factor of two stays inside.
	root := e.Unary(Sqrt, power)
	large := e.Mul(e.Unary(Sqrt, e.Mul(e.Add(m, a), half)), root)
	small := e.Div(e.Mul(z.im, half), large)
	none := e.Binary(Eq, large, zero)
	small = e.Select(none, z.im, small)
	left := e.Binary(Lt, z.re, zero)
	re := e.Select(left, e.Unary(Abs, small), large)
	sign := e.Select(e.Binary(Eq, z.im, z.im), z.im, zero) // a NaN has none
	im := e.Select(left, e.copySign(large, sign), small)
	far := e.infinite(z.im)
	return parts{e.Select(far, infinity, re), e.Select(far, z.im, im)}
}

// complexSinh is sinh(x)*cos(y) + i*cosh(x)*sin(y).
func (e *expander) complexSinh(z parts) parts {
	re := e.Mul(e.function(Sinh, z.re, z.re), e.function(Cos, z.im, z.im))
	im := e.Mul(e.function(Cosh, z.re, z.re), e.function(Sin, z.im, z.im))
	unknown := e.Unary(Not, e.finite(z.im))
	zero := e.number(0)
	re = e.Select(e.Binary(And, unknown, e.infinite(z.re)), e.number(math.Inf(1)), re)
	re = e.Select(e.Binary(And, unknown, e.Binary(Eq, z.re, zero)), z.re, re)
	return parts{re, e.Select(e.Binary(Eq, z.im, zero), z.im, im)}
}

// complexCosh is cosh(x)*cos(y) + i*sinh(x)*sin(y).
func (e *expander) complexCosh(z parts) parts {
	re := e.Mul(e.function(Cosh, z.re, z.re), e.function(Cos, z.im, z.im))
	im := e.Mul(e.function(Sinh, z.re, z.re), e.function(Sin, z.im, z.im))
	unknown := e.Unary(Not, e.finite(z.im))
	zero := e.number(0)
	re = e.Select(e.Binary(And, unknown, e.infinite(z.re)), e.number(math.Inf(1)), re)
	im = e.Select(e.Binary(And, unknown, e.Binary(Eq, z.re, zero)), zero, im)
	return parts{re, e.Select(e.Binary(Eq, z.im, zero), e.Mul(z.im, e.copySign(e.number(1), z.re)), im)}
}

// complexTanh has, with t = tan(y), s = sinh(x) and c = 1 + t*t, the parts c*s*sqrt(1+s*s) and t, divided by 1 + c*s*s. The first one is
// that of a smaller x where it is one.
func (e *expander) complexTanh(z parts) parts {
	one, zero := e.number(1), e.number(0)
	t := e.function(Tan, z.im, z.im)
	c := e.Fma(t, t, one)
	near := e.clamp(z.re, -22, 22)
	s := e.function(Sinh, near, near)
	square := e.Mul(s, s)
	re := e.Div(e.Mul(e.Mul(c, s), e.Unary(Sqrt, e.Add(square, one))), e.Fma(c, square, one))
	far := e.function(Sinh, z.re, z.re)
	im := e.Div(t, e.Fma(c, e.Mul(far, far), one))
	infinite, unknown := e.infinite(z.re), e.Unary(Not, e.finite(z.im))
	re = e.Select(infinite, e.copySign(one, z.re), re)
	re = e.Select(e.Binary(Eq, z.re, zero), z.re, re)
	im = e.Select(e.Binary(And, infinite, unknown), zero, im)
	return parts{re, e.Select(e.Binary(Eq, z.im, zero), z.im, im)}
}

// complexPower is exp(y * log(x)).
func (e *expander) complexPower(x, y parts) parts {
	l := e.complexLog(Log, x, 1)
	re := e.Sub(e.Mul(y.re, l.re), e.Mul(y.im, l.im))
	im := e.Add(e.Mul(y.re, l.im), e.Mul(y.im, l.re))
	m, zero := e.function(Exp, re, re), e.number(0)
	none := e.Binary(And, e.Binary(Eq, m, zero), e.Unary(Not, e.finite(im))) // a number that vanishes has any angle
	far := e.Binary(And, e.infinite(m), e.Unary(Not, e.finite(im)))
	made := parts{e.Mul(m, e.function(Cos, im, im)), e.Mul(m, e.function(Sin, im, im))}
	made = parts{e.Select(none, zero, made.re), e.Select(none, zero, made.im)}
	made.re = e.Select(far, e.number(math.Inf(1)), made.re)
	flat := e.Binary(Eq, im, zero)
	return parts{made.re, e.Select(flat, im, made.im)}
}

package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Functions of complex numbers are those of their parts. Complex64 computes in float64, where nothing overflows on the way and the
// digits that differences lose are to spare.

// complexExpansions are the functions of one complex number that are written in real ones.
var complexExpansions = map[kernel.Op]func(e *expander, z parts) parts{
	kernel.Sqrt:  (*expander).complexSqrt,
	kernel.Log:   func(e *expander, z parts) parts { return e.complexLog(kernel.Log, z, 1) },
	kernel.Log2:  func(e *expander, z parts) parts { return e.complexLog(kernel.Log2, z, 1/math.Ln2) },
	kernel.Log10: func(e *expander, z parts) parts { return e.complexLog(kernel.Log10, z, 1/math.Ln10) },
	kernel.Sinh:  (*expander).complexSinh,
	kernel.Cosh:  (*expander).complexCosh,
	kernel.Tanh:  (*expander).complexTanh,
	kernel.Tan:   turned((*expander).complexTanh),
	kernel.Sin:   turned((*expander).complexSinh),
	kernel.Cos: func(e *expander, z parts) parts { // cosh(i*z)
		c := e.complexCosh(parts{z.im, z.re})
		return parts{c.re, e.Neg(c.im)}
	},
	kernel.Asin:  (*expander).complexAsin,
	kernel.Acos:  (*expander).complexAcos,
	kernel.Atanh: (*expander).complexAtanh,
	kernel.Acosh: (*expander).complexAcosh,
	kernel.Asinh: turned((*expander).complexAsin),
	kernel.Atan:  turned((*expander).complexAtanh),
}

// turned is -i*f(i*z) of an odd function f.
func turned(f func(e *expander, z parts) parts) func(e *expander, z parts) parts {
	return func(e *expander, z parts) parts {
		s := f(e, parts{z.im, z.re})
		return parts{s.im, s.re}
	}
}

// complexFunction writes a function in real ones; ok is false where that is not done.
func (e *expander) complexFunction(op kernel.Op, x, y parts) (made parts, ok bool) {
	f := complexExpansions[op]
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

// complexLog is the logarithm of the magnitude and the angle times a factor. Near the unit circle it is half the logarithm of one and
// what the square of the magnitude is above it.
func (e *expander) complexLog(op kernel.Op, z parts, factor float64) parts {
	angle := e.function(kernel.Atan2, z.im, z.re)
	if factor != 1 {
		angle = e.Mul(angle, e.number(factor))
	}
	m, one := e.distance(z), e.number(1)
	near := e.Binary(kernel.And, e.Binary(kernel.Gt, m, e.number(0.7)), e.Binary(kernel.Lt, m, e.number(1.4)))
	x, y := e.Unary(kernel.Abs, z.re), e.Unary(kernel.Abs, z.im)
	a, b := e.Binary(kernel.Max, x, y), e.Binary(kernel.Min, x, y)
	above := e.Fma(e.Sub(a, one), e.Add(a, one), e.Mul(b, b))
	close := e.Mul(e.function(kernel.Log1p, above, above), e.number(0.5*factor))
	return parts{e.Select(near, close, e.function(op, m, m)), angle}
}

// complexSqrt takes the root t of half the sum of the magnitude and |x|, scaled to at most four, as one part, and y/(2*t) as the other.
func (e *expander) complexSqrt(z parts) parts {
	zero, infinity := e.number(0), e.number(math.Inf(1))
	power, inverse := e.powerBelow(z.re, z.im)
	a, b := e.Unary(kernel.Abs, e.Mul(z.re, inverse)), e.Mul(z.im, inverse)
	half := e.number(0.5)
	m := e.Unary(kernel.Sqrt, e.Fma(a, a, e.Mul(b, b)))
	m = e.Select(e.infinite(z.re), infinity, m)
	// The power is 4**k or 2 * 4**k; the root of the second is not exact, and so the factor of two stays inside.
	root := e.Unary(kernel.Sqrt, power)
	large := e.Mul(e.Unary(kernel.Sqrt, e.Mul(e.Add(m, a), half)), root)
	small := e.Div(e.Mul(z.im, half), large)
	none := e.Binary(kernel.Eq, large, zero)
	small = e.Select(none, z.im, small)
	left := e.Binary(kernel.Lt, z.re, zero)
	re := e.Select(left, e.Unary(kernel.Abs, small), large)
	sign := e.Select(e.Binary(kernel.Eq, z.im, z.im), z.im, zero) // a NaN has none
	im := e.Select(left, e.copySign(large, sign), small)
	far := e.infinite(z.im)
	return parts{e.Select(far, infinity, re), e.Select(far, z.im, im)}
}

// complexSinh is sinh(x)*cos(y) + i*cosh(x)*sin(y).
func (e *expander) complexSinh(z parts) parts {
	re := e.Mul(e.function(kernel.Sinh, z.re, z.re), e.function(kernel.Cos, z.im, z.im))
	im := e.Mul(e.function(kernel.Cosh, z.re, z.re), e.function(kernel.Sin, z.im, z.im))
	unknown := e.Unary(kernel.Not, e.finite(z.im))
	zero := e.number(0)
	re = e.Select(e.Binary(kernel.And, unknown, e.infinite(z.re)), e.number(math.Inf(1)), re)
	re = e.Select(e.Binary(kernel.And, unknown, e.Binary(kernel.Eq, z.re, zero)), z.re, re)
	return parts{re, e.Select(e.Binary(kernel.Eq, z.im, zero), z.im, im)}
}

// complexCosh is cosh(x)*cos(y) + i*sinh(x)*sin(y).
func (e *expander) complexCosh(z parts) parts {
	re := e.Mul(e.function(kernel.Cosh, z.re, z.re), e.function(kernel.Cos, z.im, z.im))
	im := e.Mul(e.function(kernel.Sinh, z.re, z.re), e.function(kernel.Sin, z.im, z.im))
	unknown := e.Unary(kernel.Not, e.finite(z.im))
	zero := e.number(0)
	re = e.Select(e.Binary(kernel.And, unknown, e.infinite(z.re)), e.number(math.Inf(1)), re)
	im = e.Select(e.Binary(kernel.And, unknown, e.Binary(kernel.Eq, z.re, zero)), zero, im)
	return parts{re, e.Select(e.Binary(kernel.Eq, z.im, zero), e.Mul(z.im, e.copySign(e.number(1), z.re)), im)}
}

// complexTanh has, with t = tan(y), s = sinh(x) and c = 1 + t*t, the parts c*s*sqrt(1+s*s) and t, divided by 1 + c*s*s. The first one is
// that of a smaller x where it is one.
func (e *expander) complexTanh(z parts) parts {
	one, zero := e.number(1), e.number(0)
	t := e.function(kernel.Tan, z.im, z.im)
	c := e.Fma(t, t, one)
	near := e.clamp(z.re, -22, 22)
	s := e.function(kernel.Sinh, near, near)
	square := e.Mul(s, s)
	re := e.Div(e.Mul(e.Mul(c, s), e.Unary(kernel.Sqrt, e.Add(square, one))), e.Fma(c, square, one))
	far := e.function(kernel.Sinh, z.re, z.re)
	im := e.Div(t, e.Fma(c, e.Mul(far, far), one))
	infinite, unknown := e.infinite(z.re), e.Unary(kernel.Not, e.finite(z.im))
	re = e.Select(infinite, e.copySign(one, z.re), re)
	re = e.Select(e.Binary(kernel.Eq, z.re, zero), z.re, re)
	im = e.Select(e.Binary(kernel.And, infinite, unknown), zero, im)
	return parts{re, e.Select(e.Binary(kernel.Eq, z.im, zero), z.im, im)}
}

// complexPower is exp(y * log(x)).
func (e *expander) complexPower(x, y parts) parts {
	l := e.complexLog(kernel.Log, x, 1)
	re := e.Sub(e.Mul(y.re, l.re), e.Mul(y.im, l.im))
	im := e.Add(e.Mul(y.re, l.im), e.Mul(y.im, l.re))
	m, zero := e.function(kernel.Exp, re, re), e.number(0)
	none := e.Binary(kernel.And, e.Binary(kernel.Eq, m, zero), e.Unary(kernel.Not, e.finite(im))) // a number that vanishes has any angle
	far := e.Binary(kernel.And, e.infinite(m), e.Unary(kernel.Not, e.finite(im)))
	made := parts{e.Mul(m, e.function(kernel.Cos, im, im)), e.Mul(m, e.function(kernel.Sin, im, im))}
	made = parts{e.Select(none, zero, made.re), e.Select(none, zero, made.im)}
	made.re = e.Select(far, e.number(math.Inf(1)), made.re)
	flat := e.Binary(kernel.Eq, im, zero)
	return parts{made.re, e.Select(flat, im, made.im)}
}

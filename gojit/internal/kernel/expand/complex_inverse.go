package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// roots returns those of 1-z and 1+z.
func (e *expander) roots(z parts) (a, b parts) {
	one := e.number(1)
	return e.complexSqrt(parts{e.Sub(one, z.re), e.Neg(z.im)}), e.complexSqrt(parts{e.Add(one, z.re), z.im})
}

// anyInfinite tells whether a part is infinite.
func (e *expander) anyInfinite(z parts) kernel.Value {
	return e.Binary(kernel.Or, e.infinite(z.re), e.infinite(z.im))
}

func (e *expander) complexAsin(z parts) parts {
	a, b := e.roots(z)
	far := e.anyInfinite(z)
	below := e.Select(far, e.Unary(kernel.Abs, z.im), e.Sub(e.Mul(a.re, b.re), e.Mul(a.im, b.im)))
	re := e.function(kernel.Atan2, z.re, below)
	re = e.Select(e.Binary(kernel.Eq, z.re, e.number(0)), z.re, e.copySign(re, z.re))
	across := e.Sub(e.Mul(a.re, b.im), e.Mul(a.im, b.re))
	im := e.function(kernel.Asinh, across, across)
	return parts{re, e.copySign(e.Select(far, e.number(math.Inf(1)), im), z.im)}
}

func (e *expander) complexAcos(z parts) parts {
	a, b := e.roots(z)
	far := e.anyInfinite(z)
	angle := e.function(kernel.Atan2, e.Select(far, e.Unary(kernel.Abs, z.im), a.re), e.Select(far, z.re, b.re))
	re := e.Select(far, angle, e.Add(angle, angle))
	re = e.Select(e.Binary(kernel.And, e.Binary(kernel.Eq, z.re, e.number(0)), e.Unary(kernel.Not, far)), e.number(math.Pi/2), re)
	across := e.Sub(e.Mul(b.re, a.im), e.Mul(b.im, a.re))
	im := e.function(kernel.Asinh, across, across)
	return parts{re, e.copySign(e.Select(far, e.number(math.Inf(1)), im), e.Neg(z.im))}
}

// complexAtanh has a quarter of log(1 + 4*x/m**2) with m the distance from one; very near to it, half of log(2/m).
func (e *expander) complexAtanh(z parts) parts {
	one, zero, half := e.number(1), e.number(0), e.number(0.5)
	x, y := e.Unary(kernel.Abs, z.re), z.im
	beside := e.Sub(one, x)
	m := e.magnitude(parts{beside, y})
	quotient := e.Div(e.Mul(e.number(4), e.Div(x, m)), m)
	re := e.Mul(e.function(kernel.Log1p, quotient, quotient), e.number(0.25))
	near := e.Mul(e.Sub(e.number(math.Ln2), e.function(kernel.Log, m, m)), half)
	re = e.Select(e.Binary(kernel.Lt, m, e.number(kernel.NearOne)), near, re)
	im := e.Mul(e.function(kernel.Atan2, e.Add(y, y), e.Fma(y, e.Neg(y), e.Mul(beside, e.Add(one, x)))), half)

	far := e.anyInfinite(z)
	re = e.Select(e.Binary(kernel.Or, far, e.Binary(kernel.Eq, x, zero)), zero, re)
	quarter := e.Select(e.Binary(kernel.Eq, y, y), e.number(math.Pi/2), y)
	return parts{e.copySign(re, z.re), e.copySign(e.Select(far, quarter, im), y)}
}

// complexAcosh is the one of i*acos(z) and -i*acos(z) whose real part is not negative.
func (e *expander) complexAcosh(z parts) parts {
	c := e.complexAcos(z)
	return parts{e.Unary(kernel.Abs, c.im), e.copySign(c.re, z.im)}
}

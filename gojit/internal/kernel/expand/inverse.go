package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// inverses are those of hyperbolic and circular functions.
var inverses = map[kernel.Op]expansion{
	kernel.Asin:  {unaryExpansion((*expander).asin), 2.5, 2.5, (*expander).complexAsin},
	kernel.Acos:  {unaryExpansion((*expander).acos), 2, 2, (*expander).complexAcos},
	kernel.Atan:  {unaryExpansion((*expander).atan), 2.5, 2.5, turned((*expander).complexAtanh)},
	kernel.Asinh: {wideUnary((*expander).asinh), 1, 2.5, turned((*expander).complexAsin)},
	kernel.Acosh: {wideUnary((*expander).acosh), 1, 2.5, (*expander).complexAcosh},
	kernel.Atanh: {byType(wideUnary((*expander).atanhShort), unaryExpansion((*expander).atanh)), 1, 2.5, (*expander).complexAtanh},
	kernel.Atan2: {(*expander).atan2, 2.5, 2.5, nil},
}

// asin(s) = s + s**3*p(s*s) on [0, 1/2], relative errors 4.9e-9 and 9.9e-19.
var (
	asinSingle = []float64{0.16666752, 0.074953094, 0.045469154, 0.024184797, 0.042158157}
	asinDouble = []float64{0.1666666666666676, 0.07499999999970866, 0.04464285717455959, 0.03038194270999278, 0.022372214930919204,
		0.017351612960841662, 0.013980809867359221, 0.011398995010788802, 0.010779811157575845, 0.0037080017083882437,
		0.021703736133330678, -0.02099402333936076, 0.03262559426417335}
)

// atan(t) = t + t**3*p(t*t) on [0, 1], relative errors 1.7e-8 and 7.1e-18.
var (
	atanSingle = []float64{-0.33333153, 0.19993767, -0.14211002, 0.10665769, -0.07551658, 0.043204658, -0.016363112, 0.0029193948}
	atanDouble = []float64{-0.33333333333333287, 0.19999999999990614, -0.1428571428504477, 0.11111111086663805, -0.09090908550866308,
		0.07692299752781052, -0.06666584056694086, 0.05881718174249202, -0.052594431000392704, 0.047449593834211885,
		-0.0428648412677342, 0.038212126305497626, -0.032789042054660544, 0.02615667192174755, -0.018619645115707562,
		0.011322246653408873, -0.00561533214976957, 0.0021529715095926667, -0.0005933424461315145, 0.00010396192607993465,
		-8.662596156351658e-06}
)

// addAngle is x plus an angle, which is zero, pi/2 or pi rounded to the type: the digits that the
// rounding took are proportional to it.
func (e *expander) addAngle(angle, x kernel.Value) kernel.Value {
	return e.Add(angle, e.fmaNumber(angle, e.pick(-2.7827534795e-08, 3.8981718325193755e-17), x))
}

// asinReduced returns asin(|x|) where |x| <= 1/2, and asin(sqrt((1-|x|)/2)), of which twice as much is
// missing to pi/2, elsewhere.
func (e *expander) asinReduced(x kernel.Value) (large, p kernel.Value) {
	a := e.Unary(kernel.Abs, x)
	large = e.Binary(kernel.Gt, a, e.number(0.5))
	half := e.fmaNumber(a, -0.5, e.number(0.5))
	square := e.Select(large, half, e.Mul(a, a))
	s := e.Select(large, e.Unary(kernel.Sqrt, half), a)
	return large, e.Fma(e.Mul(square, s), e.polynomial(square, e.table(asinSingle, asinDouble)...), s)
}

// asin is pi/2 - 2*asin(sqrt((1-|x|)/2)) for large |x|.
func (e *expander) asin(x kernel.Value) kernel.Value {
	large, p := e.asinReduced(x)
	rest := e.addAngle(e.number(math.Pi/2), e.Mul(p, e.number(-2)))
	return e.copySign(e.Select(large, rest, p), x)
}

// acos is pi/2 - asin(x); for large |x|, twice the reduced angle, or pi minus it.
func (e *expander) acos(x kernel.Value) kernel.Value {
	large, p := e.asinReduced(x)
	far := e.Select(e.Binary(kernel.Lt, x, e.number(0)), e.number(math.Pi), e.number(0))
	angle := e.Select(large, far, e.number(math.Pi/2))
	factor := e.Select(large, e.number(2), e.number(-1))
	return e.addAngle(angle, e.Mul(e.copySign(p, x), factor))
}

// atan is pi/2 - atan(1/|x|) where |x| is more than one.
func (e *expander) atan(x kernel.Value) kernel.Value {
	a, one, zero := e.Unary(kernel.Abs, x), e.number(1), e.number(0)
	large := e.Binary(kernel.Gt, a, one)
	t := e.Div(e.Select(large, e.number(-1), a), e.Select(large, a, one))
	y := e.addAngle(e.Select(large, e.number(math.Pi/2), zero), e.atanReduced(t))
	return e.copySign(y, x)
}

func (e *expander) atanReduced(t kernel.Value) kernel.Value {
	return e.oddPolynomial(t, e.table(atanSingle, atanDouble))
}

// atan2 is the angle whose tangent, in [0, 1], is the smaller of |x| and |y| divided by the larger,
// moved into the octant of (x, y). Zeros divide to zero and infinities to one.
func (e *expander) atan2(y, x kernel.Value) kernel.Value {
	a, b, zero, one := e.Unary(kernel.Abs, x), e.Unary(kernel.Abs, y), e.number(0), e.number(1)
	larger, smaller := e.Binary(kernel.Max, a, b), e.Binary(kernel.Min, a, b)
	t := e.Div(smaller, e.Select(e.Binary(kernel.Eq, larger, zero), one, larger))
	p := e.atanReduced(e.Select(e.Binary(kernel.Eq, smaller, e.number(math.Inf(1))), one, t))
	steep := e.Binary(kernel.Gt, b, a)
	left := e.Binary(kernel.Lt, e.Bits(x), e.integer(0)) // by the sign bit: minus zero lies left
	angle := e.Select(steep, e.number(math.Pi/2), e.Select(left, e.number(math.Pi), zero))
	p = e.Select(e.Binary(kernel.Xor, steep, left), e.Neg(p), p)
	return e.copySign(e.addAngle(angle, p), y)
}

// asinh is log1p(a + a*a/(1 + sqrt(a*a + 1))) of a = |x|, or log(2*a) where a*a may overflow.
func (e *expander) asinh(x kernel.Value) kernel.Value {
	a, one := e.Unary(kernel.Abs, x), e.number(1)
	huge := e.Binary(kernel.Gt, a, e.number(1<<60))
	square := e.Mul(a, a)
	y := e.Add(a, e.Div(square, e.Add(one, e.Unary(kernel.Sqrt, e.Add(square, one)))))
	return e.copySign(e.log1pOrTwice(huge, a, y), x)
}

// acosh is log1p(t + sqrt(2*t + t*t)) of t = x-1, or log(2*x) where t*t may overflow.
func (e *expander) acosh(x kernel.Value) kernel.Value {
	huge := e.Binary(kernel.Gt, x, e.number(1<<60))
	t := e.Sub(x, e.number(1))
	y := e.Add(t, e.Unary(kernel.Sqrt, e.Fma(t, t, e.Add(t, t))))
	defined := e.Binary(kernel.Ge, x, e.number(1))
	return e.Select(defined, e.log1pOrTwice(huge, x, y), e.number(math.NaN()))
}

// log1pOrTwice is log(2*a) where a is huge, and log1p(y) elsewhere.
func (e *expander) log1pOrTwice(huge, a, y kernel.Value) kernel.Value {
	l := e.log1p(e.Select(huge, a, y))
	return e.Add(l, e.Select(huge, e.number(math.Ln2), e.number(0)))
}

// atanh is log1p(2*a/(1-a))/2 of a = |x|.
func (e *expander) atanh(x kernel.Value) kernel.Value {
	a := e.Unary(kernel.Abs, x)
	y := e.log1p(e.Div(e.Add(a, a), e.Sub(e.number(1), a)))
	return e.copySign(e.Mul(y, e.number(0.5)), x)
}

// atanh(s) = s + s**3*p(s*s) for s*s <= 0.2078, relative error 1.6e-13: as good as float32 needs, in float64.
var atanhQuotient = []float64{0.33333333333399595, 0.19999999948403097, 0.14285720867444868, 0.11110789638547791, 0.09098719454446691,
	0.07586796928464444, 0.0748996442316126, 0.022588367098328704, 0.13177037987685986}

// atanhShort is half of log(1+a) - log(1-a) for a = |x| of float32, with 1-a = 2**k * (1+f): atanh(s) - k*ln2/2 where s is the difference of 1+a
// and 1+f divided by their sum.
func (e *expander) atanhShort(x kernel.Value) kernel.Value {
	a := e.Unary(kernel.Abs, x)
	left := e.Sub(e.number(1), a)
	k, f := e.decompose(left)
	f = e.Select(e.Binary(kernel.Le, a, e.number(0.25)), e.Neg(a), f) // k is zero, and 1-a rounded
	s := e.Div(e.Sub(a, f), e.Add(e.number(2), e.Add(a, f)))
	square := e.Mul(s, s)
	y := e.Fma(e.Mul(s, square), e.polynomial(square, atanhQuotient...), s)
	negative := e.logLimits(left, e.fmaNumber(k, math.Ln2/2, e.Neg(y)))
	return e.copySign(negative, x)
}

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

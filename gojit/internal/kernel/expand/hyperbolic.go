package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// hyperbolics are the hyperbolic functions; those of complex numbers serve the circular ones too.
var hyperbolics = map[kernel.Op]expansion{
	kernel.Sinh: {unaryExpansion((*expander).sinh), 2.75, 2.75, (*expander).complexSinh},
	kernel.Cosh: {unaryExpansion((*expander).cosh), 2.75, 2.75, (*expander).complexCosh},
	kernel.Tanh: {byType(unaryExpansion((*expander).tanh), unaryExpansion((*expander).tanhOfDouble)), 1.25, 2, (*expander).complexTanh},
}

// sinh(r) = r + r**3*p(r*r) and cosh(r) = 1 + r*r*p(r*r) on |r| <= 0.56, relative errors below 3e-9
// and 3e-18.
var (
	sinhSingle = []float64{0.16666669, 0.008332977, 0.00020022066}
	coshSingle = []float64{1, 0.5000001, 0.041664142, 0.0014034469}
	sinhDouble = []float64{0.16666666666666666, 0.00833333333333387, 0.0001984126984023802, 2.7557320136223766e-06, 2.5051701058812762e-08,
		1.6148407036984507e-10}
	coshDouble = []float64{1, 0.4999999999999999, 0.04166666666667336, 0.0013888888887453093, 2.48015886585742e-05, 2.755669673191704e-07,
		2.1013292596307385e-09}
)

// sinh is 2*(a*sinh(r) + b*cosh(r)), where a and b are the sum and the difference of 2**(n-2) and
// 2**(-n-2); the half does not overflow before the result does.
func (e *expander) sinh(x kernel.Value) kernel.Value {
	a, b, s, c := e.hyperbolic(x)
	half := e.Fma(a, s, e.Mul(b, c))
	return e.copySign(e.Add(half, half), x)
}

// cosh is 2*(a*cosh(r) + b*sinh(r)).
func (e *expander) cosh(x kernel.Value) kernel.Value {
	a, b, s, c := e.hyperbolic(x)
	half := e.Fma(a, c, e.Mul(b, s))
	return e.Add(half, half)
}

// tanhPieces are the coefficients of tanh(b+t) in powers of t, for each piece that begins at b: errors below 4.1e-8 of the result. Where a piece stands
// in the tables follows from the bits of b + tanhShift, of which each power of two has four pieces. From the end of the last one on, float32 cannot tell tanh
// from 1.
var tanhPieces = [...]kernel.Table{
	{0.879826665, 0.954045236, 0.982845008, 0.993654609, 0.997660995, 0.999683142, 0.999957085, 0.999994218, 0.999999225, 0, 0.124352999, 0.244918659, 0.3583574, 0.554599702, 0.703905582, 0.809301078},
	{0.225910202, 0.0897997469, 0.0340172313, 0.0126528051, 0.00467020227, 0.000632753363, 8.70107688e-05, 1.04615492e-05, 1.25687347e-06, 1, 0.984537542, 0.94001615, 0.871578753, 0.692423224, 0.504521608, 0.345030487},
	{-0.198884711, -0.0856999755, -0.0334497094, -0.0126037942, -0.00462940754, -0.000624293869, -9.52898627e-05, -2.42239344e-06, -8.98725148e-08, 3.11899271e-07, -0.122511469, -0.23031196, -0.312267631, -0.384145647, -0.355296731, -0.279204249},
	{0.100727618, 0.0519337244, 0.0215589087, 0.00843158364, 0.0029400175, 0.000387062348, 8.24083618e-05, -1.80898496e-05, -1.4276726e-06, -0.333355635, -0.311108619, -0.25507766, -0.179925099, -0.0164233539, 0.0838536918, 0.110808901},
	{-0.0262838043, -0.0210888628, -0.00984143559, -0.00426067226, -0.00119815103, -0.00014785472, -5.41723603e-05, 2.60098841e-05, 1.23171651e-06, 0.000472810119, 0.063434124, 0.123680443, 0.179318398, 0.132249013, 0.0498336479, 0.00251710415},
	{0.00116571947, 0.00484083127, 0.00267789047, 0.00138513045, 0.000239512185, 2.62897283e-05, 1.71777501e-05, -1.09850062e-05, -3.10244474e-07, 0.129985943, 0.159384876, 0.109847903, -0.0253599454, -0.0519805364, -0.0345319062, -0.0235158149},
}

const (
	tanhShift = 0.625
	tanhEnd   = 9.1
)

// tanh is a polynomial whose coefficients depend on the piece that |x| lies in. The distance from where the piece begins is exact.
func (e *expander) tanh(x kernel.Value) kernel.Value {
	const digits = 21 // of a number behind the two that tell pieces apart
	a := e.Binary(kernel.Min, e.number(tanhEnd), e.Unary(kernel.Abs, x))
	bits := e.Bits(e.Add(a, e.number(tanhShift)))
	begin := e.Bits(e.Binary(kernel.And, bits, e.integer(-1<<digits)))
	t := e.Sub(a, e.Sub(begin, e.number(tanhShift)))
	return e.copySign(e.piecewise(e.Binary(kernel.Shr, bits, e.integer(digits)), t, tanhPieces[:]), x)
}

// piecewise is a polynomial of t, whose coefficients the lowest four bits of piece choose.
func (e *expander) piecewise(piece, t kernel.Value, coefficients []kernel.Table) kernel.Value {
	y := e.Lookup(piece, coefficients[len(coefficients)-1])
	for i := len(coefficients) - 2; i >= 0; i-- {
		y = e.Fma(y, t, e.Lookup(piece, coefficients[i]))
	}
	return y
}

// tanhOfDouble is E/(E+1) with E = expm1(2*|x|)/2. The reduction works on |x| in steps of ln2/2: E is
// 2**n*h + (2**n - 1)/2 with h = expm1(2*r)/2 = r + r*r*p(r). An error in r from the missing second
// part of ln2 shrinks as x grows.
func (e *expander) tanhOfDouble(x kernel.Value) kernel.Value {
	a := e.Binary(kernel.Min, e.number(19.1), e.Unary(kernel.Abs, x))
	n, shifted := e.nearest(a, 2*math.Log2E)
	r := e.reduce(a, n, ln2Double[0]/2)
	var c []float64 // of expm1 with 2*r for r, halved: exact
	for i, v := range expm1Double {
		c = append(c, math.Ldexp(v, i+1))
	}
	h := e.Fma(e.Mul(r, e.polynomial(r, c...)), r, r)
	power := e.power(1, n, shifted)
	half := e.Fma(power, h, e.fmaNumber(power, 0.5, e.number(-0.5)))
	one := e.number(1)
	q := e.Div(half, e.Add(half, one))
	// What is lost by rounding the sum weighs where the quotient is small. 3/8 loses nothing.
	small := e.Binary(kernel.Min, e.number(3.0/8), half)
	lost := e.Sub(e.Sub(e.Add(small, one), one), small)
	q = e.Fma(q, lost, q)
	return e.copySign(q, x)
}

// hyperbolic rounds x/ln2 - 0.2: a small remainder below zero keeps sinh from cancelling.
func (e *expander) hyperbolic(x kernel.Value) (a, b, s, c kernel.Value) {
	x = e.Binary(kernel.Min, e.number(e.pick(89.6, 710.6)), e.Unary(kernel.Abs, x))
	shift := e.number(e.roundingShift())
	shifted := e.Add(e.fmaNumber(x, math.Log2E, e.number(-0.2)), shift)
	n := e.Sub(shifted, shift)
	r := e.reduce(x, n, e.ln2(2)...)
	up := e.power(0.25, n, shifted)
	down := e.inversePower(up, n)
	square := e.Mul(r, r)
	s = e.oddPolynomial(r, e.table(sinhSingle, sinhDouble))
	c = e.polynomial(square, e.table(coshSingle, coshDouble)...)
	return e.Add(up, down), e.Sub(up, down), s, c
}

// inversePower is 2**(-n-2), which may be denormal; up is 2**(n-2).
func (e *expander) inversePower(up, n kernel.Value) kernel.Value {
	if e.target.Scale {
		return e.Scale(e.number(0.25), e.Neg(n))
	}
	return e.Div(e.number(1.0/16), up)
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

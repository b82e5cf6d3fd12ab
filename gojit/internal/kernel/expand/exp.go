package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// ln2 in parts, of which each holds the digits that the earlier ones lack.
var (
	ln2Single = []float64{0.6931471824645996, -1.9046542121259336e-09}
	ln2Double = []float64{0.6931471805599453, 2.3190468138462996e-17}
)

// Minimax polynomials on |r| <= ln2/2.
var (
	// exp(r) = 1 + r + r*r*p(r), relative errors 3.2e-9 and 4.0e-18
	expSingle = []float64{1, 1, 0.49999994, 0.16666517, 0.041668106, 0.008369138, 0.001383666}
	expDouble = []float64{1, 1, 0.5000000000000011, 0.1666666666666636, 0.04166666666652474, 0.00833333333352915, 0.0013888888945333404,
		0.00019841269429376942, 2.4801491099375452e-05, 2.7557656710526376e-06, 2.7631032495011694e-07, 2.497747030313261e-08}
	// expm1(r) = r + r*r*p(r), relative errors 1.4e-8 and 3.7e-19
	expm1Single = []float64{0.49999997, 0.16666539, 0.041667745, 0.008367068, 0.0013839094}
	expm1Double = []float64{0.5, 0.16666666666666677, 0.041666666666666685, 0.008333333333321785, 0.0013888888888894586, 0.00019841269885393089,
		2.480158727745662e-05, 2.7557245080743827e-06, 2.75573305785048e-07, 2.510871816267732e-08, 2.089367348220458e-09}
)

// ln2 returns the first parts of the logarithm of two.
func (e *expander) ln2(parts int) []float64 {
	return e.table(ln2Single, ln2Double)[:parts]
}

// exp is 2**n * exp(r) with r = x - n*ln2. Beyond the bounds of the clamp the result is 0 or infinite.
func (e *expander) exp(x kernel.Value) kernel.Value {
	low, high, sign := e.pick(-105, -746), e.pick(89, 710), 1.0
	if in := &e.K.Instrs[x]; in.Op == kernel.Neg { // exp(-y) has -y and -r in place of x and r
		x, low, high, sign = in.Args[0], -high, -low, -1
	}
	x = e.clamp(x, low, high)
	n, shifted := e.nearest(x, sign*math.Log2E)
	r := x
	for _, part := range e.ln2(2) {
		r = e.fmaNumber(n, -sign*part, r)
	}
	var c []float64
	for i, v := range e.table(expSingle, expDouble) {
		if i%2 == 1 {
			v *= sign
		}
		c = append(c, v)
	}
	return e.scale(e.polynomial(r, c...), n, shifted)
}

// exp2 is 2**n * exp(r*ln2) with r = x - n, which is exact.
func (e *expander) exp2(x kernel.Value) kernel.Value {
	x = e.clamp(x, e.pick(-152, -1077), e.pick(129, 1025))
	n, shifted := e.nearest(x, 1)
	var c []float64
	for i, v := range e.table(expSingle, expDouble) {
		c = append(c, v*math.Pow(math.Ln2, float64(i)))
	}
	return e.scale(e.polynomial(e.Sub(x, n), c...), n, shifted)
}

// expm1 is 2*(2**(n-1)*expm1(r) + (2**(n-1) - 1/2)); half of the power does not overflow before the
// result does. The sign of zero is that of x.
func (e *expander) expm1(x kernel.Value) kernel.Value {
	clamped := e.clamp(x, e.pick(-18, -39), e.pick(89, 710))
	n, shifted := e.nearest(clamped, math.Log2E)
	r := e.reduce(clamped, n, e.ln2(2)...)
	power := e.power(0.5, n, shifted)
	half := e.Fma(power, e.expm1Reduced(r), e.Sub(power, e.number(0.5)))
	return e.copySign(e.Add(half, half), x)
}

// expm1Reduced is expm1(r) for |r| <= ln2/2.
func (e *expander) expm1Reduced(r kernel.Value) kernel.Value {
	return e.Fma(e.Mul(r, e.polynomial(r, e.table(expm1Single, expm1Double)...)), r, r)
}

// tanh is E/(E+1) with E = expm1(2*|x|)/2. The reduction works on |x| in steps of ln2/2: E is
// 2**n*h + (2**n - 1)/2 with h = expm1(2*r)/2 = r + r*r*p(r). An error in r from the missing second
// part of ln2 shrinks as x grows.
func (e *expander) tanh(x kernel.Value) kernel.Value {
	a := e.Binary(kernel.Min, e.number(e.pick(9.1, 19.1)), e.Unary(kernel.Abs, x))
	n, shifted := e.nearest(a, 2*math.Log2E)
	r := e.reduce(a, n, e.ln2(1)[0]/2)
	var c []float64 // of expm1 with 2*r for r, halved: exact
	for i, v := range e.table(expm1Single, expm1Double) {
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

// inversePower is 2**(-n-2), which may be denormal; up is 2**(n-2).
func (e *expander) inversePower(up, n kernel.Value) kernel.Value {
	if e.target.Scale {
		return e.Scale(e.number(0.25), e.Neg(n))
	}
	return e.Div(e.number(1.0/16), up)
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

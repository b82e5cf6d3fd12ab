package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// gammaFunctions are the logarithm of the gamma function and the derivative of that.
var gammaFunctions = map[kernel.Op]expansion{
	kernel.Lgamma:  {byType(wideUnary((*expander).lgamma), unaryExpansion((*expander).lgammaDouble)), 2, 5, nil},
	kernel.Digamma: {byType(wideUnary((*expander).digamma), unaryExpansion((*expander).digammaDouble)), 2, 16, nil},
}

const (
	// From gammaShift on Stirling's series is as good as float64; smaller numbers are multiplied up to it.
	gammaShift = 8
	// wholeFrom is where every float32 is an integer.
	wholeFrom = 1 << 23
)

var (
	// stirling holds the coefficients of log(gamma(z)) - (z-1/2)*log(z) + z - log(2*pi)/2 in 1/z, 1/z**3 ...
	stirling = []float64{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156}
	// digammaTail holds the coefficients of log(z) - 1/(2*z) - digamma(z) in 1/z**2, 1/z**4 ...
	digammaTail = []float64{1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760, 1.0 / 12}
	// sineOfHalfTurns holds those of sin(pi*r) in r, r**3 ..., cosineOfHalfTurns of cos(pi*r) in 1, r**2 ...
	sineOfHalfTurns   = halfTurns(1, 11)
	cosineOfHalfTurns = halfTurns(0, 11)
)

// halfTurns returns n coefficients of the series of sin(pi*r), from 1 on, or cos(pi*r), from 0 on.
func halfTurns(from, n int) []float64 {
	c := make([]float64, n)
	term := math.Pow(math.Pi, float64(from))
	for k := range c {
		c[k] = term
		term *= -math.Pi * math.Pi / float64((2*k+1+from)*(2*k+2+from))
	}
	return c
}

// lgamma serves float32. With a = |x| and z = a, or a + 8 where a < 8, log(gamma(a)) is
// log(gamma(z)) - log(a*(a+1)*...*(z-1)). Below zero gamma(x) is -pi / (a * sin(pi*a) * gamma(a)); both
// factors go into one logarithm.
func (e *expander) lgamma(x kernel.Value) kernel.Value {
	zero, one := e.number(0), e.number(1)
	a := e.Unary(kernel.Abs, x)
	few := e.Binary(kernel.Lt, a, e.number(gammaShift))
	rising := a
	for k := 1; k < gammaShift; k++ {
		rising = e.Mul(rising, e.Add(a, e.number(float64(k))))
	}
	rising = e.Select(few, rising, one)
	z := e.Select(few, e.Add(a, e.number(gammaShift)), a)

	inverse := e.Div(one, z)
	rest := e.Fma(e.polynomial(e.Mul(inverse, inverse), stirling...), inverse, e.number(0.5*math.Log(2*math.Pi)-0.5))
	total := e.Fma(e.Sub(z, e.number(0.5)), e.Sub(e.log(z), one), rest)

	left := e.Sub(a, e.Unary(kernel.Round, a))
	sine := e.Unary(kernel.Abs, e.Mul(left, e.polynomial(e.Mul(left, left), sineOfHalfTurns...)))
	sine = e.Select(e.Binary(kernel.Lt, a, e.number(wholeFrom)), sine, zero)
	negative := e.Binary(kernel.Lt, x, zero)
	factor := e.Select(negative, e.Div(e.Mul(e.number(math.Pi), rising), e.Mul(a, sine)), rising)
	y := e.Sub(e.log(factor), total)
	pole := e.Binary(kernel.And, negative, e.Binary(kernel.Eq, sine, zero))
	y = e.Select(pole, e.number(math.Inf(1)), e.Select(negative, y, e.Neg(y)))
	exact := e.Binary(kernel.Or, e.Binary(kernel.Eq, x, one), e.Binary(kernel.Eq, x, e.number(2)))
	return e.Select(exact, zero, y)
}

// lgammaDouble is log(gamma(1+x)) - log(|x|) where |x| < 1/2. Below that, gamma(x) is -pi / (a * sin(pi*a) * gamma(a)) with a = |x|.
// Where x is negative, the error is in units of the larger one of one, the result and log(gamma(a)): there are zeros, near which digits are lost.
func (e *expander) lgammaDouble(x kernel.Value) kernel.Value {
	zero, one, half := e.number(0), e.number(1), e.number(0.5)
	a := e.Unary(kernel.Abs, x)
	small := e.Binary(kernel.Lt, a, half)
	z := e.Select(small, e.Add(x, one), a)
	u := e.Select(small, x, e.Sub(a, one))
	near := e.Fma(e.Mul(u, e.Sub(u, one)), e.Div(e.polynomial(z, kernel.GammaAbove...), e.polynomial(z, kernel.GammaBelow...)), zero) // zero has no sign

	logarithm := e.log(a)
	far := e.Fma(e.Sub(a, half), e.Sub(logarithm, one), e.polynomial(e.Div(one, a), kernel.GammaTail...))
	y := e.Select(e.Binary(kernel.Lt, a, e.number(kernel.GammaFar)), near, far)

	nearest := e.Unary(kernel.Round, a)
	left := e.Sub(a, nearest)
	sine := e.Unary(kernel.Abs, e.Mul(left, e.polynomial(e.Mul(left, left), sineOfHalfTurns...)))
	reflected := e.Sub(e.log(e.Div(e.number(math.Pi), e.Mul(a, sine))), y)
	reflected = e.Select(e.Binary(kernel.Eq, a, nearest), e.number(math.Inf(1)), reflected)
	y = e.Select(e.Binary(kernel.Lt, x, zero), reflected, y)
	return e.Select(small, e.Sub(near, logarithm), y)
}

// digammaFrom computes in float64. With b = x, or 1 - x below zero, and z = b, or b + shift where b < shift, digamma(b) is
// digamma(z) - 1/b - 1/(b+1) - ... - 1/(z-1). Below zero digamma(x) is digamma(b) - pi/tan(pi*x).
func (e *expander) digammaFrom(shift int, x kernel.Value) kernel.Value {
	zero, one := e.number(0), e.number(1)
	negative := e.Binary(kernel.Lt, x, zero)
	b := e.Select(negative, e.Sub(one, x), x)
	few := e.Binary(kernel.Lt, b, e.number(float64(shift)))
	above, below := one, b
	for k := 1; k < shift; k++ {
		next := e.Add(b, e.number(float64(k)))
		above, below = e.Fma(above, next, below), e.Mul(below, next)
	}
	z := e.Select(few, e.Add(b, e.number(float64(shift))), b)

	inverse := e.Div(one, z)
	square := e.Mul(inverse, inverse)
	total := e.Sub(e.fmaNumber(inverse, -0.5, e.log(z)), e.Mul(square, e.polynomial(square, digammaTail...)))
	total = e.Select(few, e.Sub(total, e.Div(above, below)), total)

	left := e.Sub(x, e.Unary(kernel.Round, x))
	square = e.Mul(left, left)
	cosine := e.Mul(e.number(math.Pi), e.polynomial(square, cosineOfHalfTurns...))
	reflected := e.Sub(total, e.Div(cosine, e.Mul(left, e.polynomial(square, sineOfHalfTurns...))))
	reflected = e.Select(e.Binary(kernel.Eq, left, zero), e.number(math.NaN()), reflected)
	y := e.Select(negative, reflected, total)
	return e.Select(e.Binary(kernel.Eq, x, zero), e.copySign(e.number(math.Inf(1)), e.Neg(x)), y)
}

// digamma serves float32.
func (e *expander) digamma(x kernel.Value) kernel.Value { return e.digammaFrom(gammaShift, x) }

// digammaDouble serves float64. Its error is in units of the larger one of the result and one: it has zeros, near which digits are lost.
func (e *expander) digammaDouble(x kernel.Value) kernel.Value { return e.digammaFrom(10, x) }

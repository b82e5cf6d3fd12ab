package kernel

import "math"

const (
	// From gammaShift on Stirling's series is as good as float64; smaller numbers are multiplied up to it.
	gammaShift = 8
	// wholeFrom is where every float32 is an integer.
	wholeFrom = 1 << 23
)

var (
	// stirling holds the coefficients of log(gamma(z)) - (z-1/2)*log(z) + z - log(2*pi)/2 in 1/z, 1/z**3 ...
	stirling = []float64{1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360, 1.0 / 156}
	// sineOfHalfTurns holds those of sin(pi*r) in r, r**3 ...
	sineOfHalfTurns = sineSeries(11)
)

// sineSeries returns n coefficients of sin(pi*r) around zero.
func sineSeries(n int) []float64 {
	c := make([]float64, n)
	term := math.Pi
	for k := range c {
		c[k] = term
		term *= -math.Pi * math.Pi / float64((2*k+2)*(2*k+3))
	}
	return c
}

// lgamma serves float32. With a = |x| and z = a, or a + 8 where a < 8, log(gamma(a)) is
// log(gamma(z)) - log(a*(a+1)*...*(z-1)). Below zero gamma(x) is -pi / (a * sin(pi*a) * gamma(a)); both
// factors go into one logarithm.
func (e *expander) lgamma(x Value) Value {
	zero, one := e.number(0), e.number(1)
	a := e.Unary(Abs, x)
	few := e.Binary(Lt, a, e.number(gammaShift))
	rising := a
	for k := 1; k < gammaShift; k++ {
		rising = e.Mul(rising, e.Add(a, e.number(float64(k))))
	}
	rising = e.Select(few, rising, one)
	z := e.Select(few, e.Add(a, e.number(gammaShift)), a)

	inverse := e.Div(one, z)
	rest := e.Fma(e.polynomial(e.Mul(inverse, inverse), stirling...), inverse, e.number(0.5*math.Log(2*math.Pi)-0.5))
	total := e.Fma(e.Sub(z, e.number(0.5)), e.Sub(e.log(z), one), rest)

	left := e.Sub(a, e.Unary(Round, a))
	sine := e.Unary(Abs, e.Mul(left, e.polynomial(e.Mul(left, left), sineOfHalfTurns...)))
	sine = e.Select(e.Binary(Lt, a, e.number(wholeFrom)), sine, zero)
	negative := e.Binary(Lt, x, zero)
	factor := e.Select(negative, e.Div(e.Mul(e.number(math.Pi), rising), e.Mul(a, sine)), rising)
	y := e.Sub(e.log(factor), total)
	pole := e.Binary(And, negative, e.Binary(Eq, sine, zero))
	y = e.Select(pole, e.number(math.Inf(1)), e.Select(negative, y, e.Neg(y)))
	exact := e.Binary(Or, e.Binary(Eq, x, one), e.Binary(Eq, x, e.number(2)))
	return e.Select(exact, zero, y)
}

package kernel

import "math"

// pi in parts, of which each holds the digits that the earlier ones lack. All are positive: zero times
// them, taken from minus zero, must be minus zero.
var piSingle = []float64{3.141592502593994, 1.5099578831723193e-07, 1.078060505991553e-14}

// SmallLimit bounds the arguments that three parts of pi reduce well in float32. Other functions state
// what must be small so that this limit serves them too.
const SmallLimit = 1 << 17

// sin(r) = r + r**3*p(r*r) on [-pi/2, pi/2], relative error 6.2e-9.
var sinSingle = []float64{-0.1666666, 0.008333069, -0.00019809777, 2.6060975e-06}

// tan(r) = r + r**3*p(r*r) on [-pi/4, pi/4], relative error 1.8e-8.
var tanSingle = []float64{0.33333156, 0.13338836, 0.0534082, 0.024441391, 0.0031014823, 0.009396526}

// sin is (-1)**n * sin(r) with r = |x| - n*pi, and the sign of x. In float64 there is no such expansion:
// a thousand digits of pi would take part.
func (e *expander) sin(x Value) Value {
	a := e.Unary(Abs, x)
	n, shifted := e.nearest(a, 1/math.Pi)
	r, shifted := e.reduceTurns(a, shifted, e.reduce(a, n, piSingle...), 1, 0)
	sign := e.Binary(And, e.Bits(x), e.integer(math.MinInt32))
	return e.sinReduced(r, e.Binary(Xor, sign, e.oddSign(shifted)))
}

// cos is sin(x + pi/2), where pi/2 is joined with the multiple of pi that is taken away.
func (e *expander) cos(x Value) Value {
	shift := e.number(e.roundingShift())
	shifted := e.Add(e.fmaNumber(x, 1/math.Pi, e.number(0.5)), shift)
	n := e.Sub(e.Sub(shifted, shift), e.number(0.5))
	r, shifted := e.reduceTurns(x, shifted, e.reduce(x, n, piSingle...), 1, 0.5)
	return e.sinReduced(r, e.oddSign(shifted))
}

// oddSign is the sign bit where the lowest bit of shifted is set.
func (e *expander) oddSign(shifted Value) Value {
	return e.Binary(Shl, e.Bits(shifted), e.integer(31))
}

// sinReduced is sin(r) within [-1, 1], with the sign changed where the bit is set.
func (e *expander) sinReduced(r, sign Value) Value {
	y := e.clamp(e.oddPolynomial(r, sinSingle), -1, 1)
	return e.Bits(e.Binary(Xor, sign, e.Bits(y)))
}

// oddPolynomial is r + r**3*p(r*r).
func (e *expander) oddPolynomial(r Value, c []float64) Value {
	square := e.Mul(r, r)
	return e.Fma(e.Mul(square, r), e.polynomial(square, c...), r)
}

// tan is tan(r), or -1/tan(r) for odd n, with r = x - n*pi/2.
func (e *expander) tan(x Value) Value {
	n, shifted := e.nearest(x, 2/math.Pi)
	r, shifted := e.reduceTurns(x, shifted, e.reduce(x, n, piSingle[0]/2, piSingle[1]/2, piSingle[2]/2), 2, 0)
	t := e.oddPolynomial(r, tanSingle)
	odd := e.Binary(Ne, e.Binary(And, e.Bits(shifted), e.integer(1)), e.integer(0))
	one := e.number(1)
	return e.Div(e.Select(odd, e.number(-1), t), e.Select(odd, t, one))
}

// reduceTurns returns r and shifted as given where |x| is small, and otherwise the same reduced with
// many digits of pi. ExpandSmall leaves the second part out. The step is pi/stepsPerHalfTurn, and offset is added to the number of steps.
func (e *expander) reduceTurns(x, shifted, r Value, stepsPerHalfTurn, offset float64) (Value, Value) {
	if e.small {
		e.sizes = append(e.sizes, e.Unary(Abs, x))
		return r, shifted
	}
	few := e.Binary(Lt, e.Unary(Abs, x), e.number(SmallLimit))
	manyR, manyShifted := e.manyTurns(x, stepsPerHalfTurn, offset)
	return e.Select(few, r, manyR), e.Select(few, shifted, manyShifted)
}

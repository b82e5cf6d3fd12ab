package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// circulars are the circular functions.
var circulars = map[kernel.Op]expansion{
	kernel.Sin: {unaryExpansion((*expander).sin), 2, 2, turned((*expander).complexSinh)},
	kernel.Cos: {unaryExpansion((*expander).cos), 2, 2, (*expander).complexCos},
	kernel.Tan: {unaryExpansion((*expander).tan), 3.25, 2.75, turned((*expander).complexTanh)},
}

// pi in parts, of which each holds the digits that the earlier ones lack. All are positive: zero times
// them, taken from minus zero, must be minus zero. The product of the first one of float64 with a whole number of half
// turns, taken from the angle, is exact in one Fma.
var (
	piSingle = []float64{3.141592502593994, 1.5099578831723193e-07, 1.078060505991553e-14}
	piDouble = []float64{3.141592653589793, 1.224646799147353e-16, 2.165713347843828e-32}
)

// SmallLimit bounds the arguments that three parts of pi reduce well in float32. Other functions state
// what must be small so that this limit serves them too.
const SmallLimit = 1 << 17

// smallTurns64 bounds the arguments that three parts of pi reduce well in float64.
const smallTurns64 = 1 << 40

// sin(r) = r + r**3*p(r*r) on [-pi/2, pi/2], relative errors 6.2e-9 and 2.8e-19.
var (
	sinSingle = []float64{-0.1666666, 0.008333069, -0.00019809777, 2.6060975e-06}
	sinDouble = []float64{-0.16666666666666666, 0.008333333333333193, -0.00019841269841208852, 2.7557319211072575e-06,
		-2.5052106866726667e-08, 1.605893939322945e-10, -7.642983171643478e-13, 2.7210855576262637e-15}
)

// sin(r) = r + r**3*p(r*r) and cos(r) = 1 + r*r*p(r*r) on [-pi/4, pi/4], relative errors 2.1e-21 and 3.9e-20.
var (
	sinQuarter = []float64{-0.16666666666666666, 0.008333333333333323, -0.00019841269841254725, 2.755731921402522e-06,
		-2.5052104871366892e-08, 1.6058361808639996e-10, -7.578472057850764e-13}
	cosQuarter = []float64{1, -0.5, 0.04166666666666647, -0.0013888888888861862, 2.480158728402313e-05, -2.755731309865232e-07,
		2.0875579745437433e-09, -1.1353162673790795e-11}
)

// tan(r) = r + r**3*p(r*r) on [-pi/4, pi/4], relative error 1.8e-8.
var tanSingle = []float64{0.33333156, 0.13338836, 0.0534082, 0.024441391, 0.0031014823, 0.009396526}

// sin is (-1)**n * sin(r) with r = |x| - n*pi, and the sign of x.
func (e *expander) sin(x kernel.Value) kernel.Value {
	a := e.Unary(kernel.Abs, x)
	n, shifted := e.nearest(a, 1/math.Pi)
	r, shifted := e.reduceTurns(a, shifted, e.reduce(a, n, e.table(piSingle, piDouble)...), 1, 0)
	sign := e.Binary(kernel.And, e.Bits(x), e.integer(int64(e.pick(math.MinInt32, math.MinInt64))))
	return e.sinReduced(r, e.Binary(kernel.Xor, sign, e.oddSign(shifted)))
}

// cos is sin(x + pi/2), where pi/2 is joined with the multiple of pi that is taken away.
func (e *expander) cos(x kernel.Value) kernel.Value {
	shift := e.number(e.roundingShift())
	shifted := e.Add(e.fmaNumber(x, 1/math.Pi, e.number(0.5)), shift)
	n := e.Sub(e.Sub(shifted, shift), e.number(0.5))
	r, shifted := e.reduceTurns(x, shifted, e.reduce(x, n, e.table(piSingle, piDouble)...), 1, 0.5)
	return e.sinReduced(r, e.oddSign(shifted))
}

// oddSign is the sign bit where the lowest bit of shifted is set.
func (e *expander) oddSign(shifted kernel.Value) kernel.Value {
	return e.Binary(kernel.Shl, e.Bits(shifted), e.integer(int64(e.pick(31, 63))))
}

// sinReduced is sin(r) within [-1, 1], with the sign changed where the bit is set.
func (e *expander) sinReduced(r, sign kernel.Value) kernel.Value {
	y := e.clamp(e.oddPolynomial(r, e.table(sinSingle, sinDouble)), -1, 1)
	return e.Bits(e.Binary(kernel.Xor, sign, e.Bits(y)))
}

// oddPolynomial is r + r**3*p(r*r).
func (e *expander) oddPolynomial(r kernel.Value, c []float64) kernel.Value {
	square := e.Mul(r, r)
	return e.Fma(e.Mul(square, r), e.polynomial(square, c...), r)
}

// tan is tan(r), or -1/tan(r) for odd n, with r = x - n*pi/2. In float64 it is a quotient of sine and cosine.
func (e *expander) tan(x kernel.Value) kernel.Value {
	n, shifted := e.nearest(x, 2/math.Pi)
	var halves []float64
	for _, part := range e.table(piSingle, piDouble) {
		halves = append(halves, part/2)
	}
	r, shifted := e.reduceTurns(x, shifted, e.reduce(x, n, halves...), 2, 0)
	odd := e.Binary(kernel.Ne, e.Binary(kernel.And, e.Bits(shifted), e.integer(1)), e.integer(0))
	above, below := kernel.Value(0), e.number(1)
	if e.t == tensor.Float32 {
		above = e.oddPolynomial(r, tanSingle)
	} else {
		above, below = e.oddPolynomial(r, sinQuarter), e.polynomial(e.Mul(r, r), cosQuarter...)
	}
	y := e.Div(e.Select(odd, e.Neg(below), above), e.Select(odd, above, below))
	if e.t == tensor.Float64 { // whose polynomial makes a positive zero of a negative one
		y = e.Select(e.Binary(kernel.Eq, x, e.number(0)), x, y)
	}
	return y
}

// reduceTurns returns r and shifted as given where |x| is small, and otherwise the same reduced with
// many digits of pi. ExpandSmall leaves the second part out. The step is pi/stepsPerHalfTurn, and offset is added to the number of steps.
func (e *expander) reduceTurns(x, shifted, r kernel.Value, stepsPerHalfTurn, offset float64) (kernel.Value, kernel.Value) {
	limit := e.pick(SmallLimit, smallTurns64)
	if e.small {
		e.mustBeSmall(e.Unary(kernel.Abs, x), limit)
		return r, shifted
	}
	few := e.Binary(kernel.Lt, e.Unary(kernel.Abs, x), e.number(limit))
	many := (*expander).manyTurns
	if e.t == tensor.Float64 {
		many = (*expander).manyTurns64
	}
	manyR, manyShifted := many(e, x, stepsPerHalfTurn, offset)
	return e.Select(few, r, manyR), e.Select(few, shifted, manyShifted)
}

// mustBeSmall notes that results are right only where x is below a limit.
func (e *expander) mustBeSmall(x kernel.Value, limit float64) {
	if limit != SmallLimit {
		x = e.Mul(x, e.number(SmallLimit/limit))
	}
	e.sizes = append(e.sizes, e.Convert(x, tensor.Float32))
}

// turned is -i*f(i*z) of an odd function f.
func turned(f func(e *expander, z parts) parts) func(e *expander, z parts) parts {
	return func(e *expander, z parts) parts {
		s := f(e, parts{z.im, z.re})
		return parts{s.im, s.re}
	}
}

// complexCos is cosh(i*z).
func (e *expander) complexCos(z parts) parts {
	c := e.complexCosh(parts{z.im, z.re})
	return parts{c.re, e.Neg(c.im)}
}

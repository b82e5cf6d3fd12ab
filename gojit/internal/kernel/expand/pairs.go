package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// pairSum is a number as the sum of two, of which the second holds digits that the first has no room for.
type pairSum struct{ high, low kernel.Value }

// exactSum is x + y without rounding.
func (e *expander) exactSum(x, y kernel.Value) pairSum {
	s := e.Add(x, y)
	added := e.Sub(s, x)
	return pairSum{s, e.Add(e.Sub(x, e.Sub(s, added)), e.Sub(y, added))}
}

// exactSumOrdered is exactSum where |x| >= |y| or x is zero.
func (e *expander) exactSumOrdered(x, y kernel.Value) pairSum {
	s := e.Add(x, y)
	return pairSum{s, e.Sub(y, e.Sub(s, x))}
}

// exactProduct is x * y without rounding.
func (e *expander) exactProduct(x, y kernel.Value) pairSum {
	p := e.Mul(x, y)
	return pairSum{p, e.Fma(x, y, e.Neg(p))}
}

// product is the product of two sums, but for digits that neither part has room for.
func (e *expander) product(x, y pairSum) pairSum {
	p := e.exactProduct(x.high, y.high)
	return pairSum{p.high, e.Fma(x.high, y.low, e.Fma(x.low, y.high, p.low))}
}

// log1p(f) = 2*s + s**3*(2/3 + s*s*p(s*s)) with s = f/(2+f), for |s| <= 1/5: relative error of p 5.4e-19.
var logQuotient = []float64{0.4, 0.28571428571428487, 0.2222222222227987, 0.18181818167137062, 0.1538461725515027, 0.13333199718162594,
	0.11770293850380219, 0.10391000798116719, 0.1126220570900545}

// ln2Whole is ln2 in two parts, the first of which has products with exponents that are exact.
var ln2Whole = []float64{0.6931471805598903, 5.497923018708371e-14}

// logPair is the logarithm of a positive finite float64 with about ten digits more than float64 has.
func (e *expander) logPair(x kernel.Value) pairSum {
	k, f := e.decompose(x)
	two := e.number(2)
	sum := e.exactSumOrdered(two, f)
	inverse := e.Div(e.number(1), sum.high)
	s := pairSum{high: e.Mul(f, inverse)}
	left := e.Fma(e.Neg(s.high), sum.low, e.Fma(e.Neg(s.high), sum.high, f))
	s.low = e.Mul(left, inverse)

	square := e.product(s, s)
	factor := e.exactSumOrdered(e.number(2.0/3), e.Mul(square.high, e.polynomial(square.high, logQuotient...)))
	factor.low = e.Add(factor.low, e.number(3.700743415417188e-17)) // what 2/3 lacks
	rest := e.product(e.product(square, s), factor)

	first := e.exactSumOrdered(e.Mul(k, e.number(ln2Whole[0])), e.Add(s.high, s.high))
	high := e.exactSumOrdered(first.high, rest.high)
	low := e.Add(e.Add(first.low, high.low), e.Add(e.Add(s.low, s.low), rest.low))
	return pairSum{high.high, e.fmaNumber(k, ln2Whole[1], low)}
}

// expOfProduct is exp(log(x)*y) of a positive finite float64. Where the product is infinite, or rounds to more than exp
// takes, its second part is of no account.
func (e *expander) expOfProduct(x, y kernel.Value) kernel.Value {
	l := e.logPair(x)
	p := e.exactProduct(l.high, y)
	p.low = e.Fma(l.low, y, p.low)
	p.low = e.Select(e.Binary(kernel.Lt, e.Unary(kernel.Abs, p.high), e.number(800)), p.low, e.number(0))
	z := e.clamp(p.high, -746, 710)
	n, shifted := e.nearest(z, math.Log2E)
	r := e.Add(e.reduce(z, n, ln2Double...), p.low)
	return e.scale(e.polynomial(r, expDouble...), n, shifted)
}

// turnDigits are 53 bits each of 1/pi, times 2**turnScale, from the point on.
const turnScale = 300

var turnDigits = [...]float64{
	0x1.45f306dc9c882p+298, 0x1.4a7f09d5f47d4p+245, 0x1.a6ee06db14accp+192, 0x1.3c439041fe516p+139,
	0x1.d5ef5de2b0db8p+84, 0x1.2371d2126e970p+32, 0x1.924bba8274600p-27, 0x1.21cfe1deb1cb0p-73,
	0x1.29a73ee88235fp-125, 0x1.4baed1213a670p-179, 0x1.c09ad17df904ep-231, 0x1.91d639835339ep-285,
	0x1.49c845f8bbdf9p-337, 0x1.41d8ffc4bffecp-392, 0x1.816603fbcbc46p-443, 0x1.6b414da3eda6cp-498,
	0x1.fb3c9f2c26dd0p-551, 0x1.e8c7ecd3cbfd4p-602, 0x1.6ba93dd63f5f2p-656, 0x1.f17b3d0739f78p-709,
	0x1.4a525d4d7f6bep-762, 0x1.623f1aba10ac0p-814,
}

// manyTurns64 is manyTurns of any float64. Digits of 1/pi whose products are even whole numbers are left out, and as many
// more products than that taken as the result has digits. Angles nearer to a multiple than 2**-50 lose some of theirs.
func (e *expander) manyTurns64(x kernel.Value, stepsPerHalfTurn, offset float64) (r, shifted kernel.Value) {
	digits := e.turnDigitsFor(e.Unary(kernel.Abs, x))
	scaled := e.Mul(x, e.number(math.Ldexp(stepsPerHalfTurn, -turnScale)))
	first, second, third := e.exactProduct(scaled, digits[0]), e.exactProduct(scaled, digits[1]), e.exactProduct(scaled, digits[2])
	low := e.Fma(scaled, digits[3], third.low)
	steps := e.moduloTwo(first.high)
	for _, v := range []kernel.Value{e.moduloTwo(first.low), e.moduloTwo(second.high), second.low, third.high} {
		sum := e.exactSum(steps, v)
		steps, low = sum.high, e.Add(low, sum.low)
	}
	if offset != 0 {
		sum := e.exactSum(steps, e.number(offset))
		steps, low = sum.high, e.Add(low, sum.low)
	}
	whole := e.Unary(kernel.Round, steps)
	left := e.exactSum(e.Sub(steps, whole), low)
	half := e.number(math.Pi / stepsPerHalfTurn)
	angle := e.Fma(left.high, half, e.fmaNumber(left.high, piDouble[1]/stepsPerHalfTurn, e.Mul(left.low, half)))
	return angle, e.Add(e.moduloTwo(whole), e.number(e.roundingShift()))
}

// moduloTwo takes even whole numbers away, so that at most one is left.
func (e *expander) moduloTwo(x kernel.Value) kernel.Value {
	return e.fmaNumber(e.Unary(kernel.Round, e.Mul(x, e.number(0.5))), -2, x)
}

// turnDigitsFor chooses four of turnDigits that follow each other by the magnitude of x. Those before them have even
// products with x.
func (e *expander) turnDigitsFor(magnitude kernel.Value) (digits [4]kernel.Value) {
	for i := range digits {
		digits[i] = e.number(turnDigits[i])
	}
	for j := 1; j+len(digits) <= len(turnDigits); j++ {
		far := e.Binary(kernel.Ge, magnitude, e.number(math.Ldexp(1, 53*j+53)))
		for i := range digits {
			digits[i] = e.Select(far, e.number(turnDigits[j+i]), digits[i])
		}
	}
	return digits
}

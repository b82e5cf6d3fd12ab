package expand

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// logarithms are these and what is made of them for complex numbers: roots and powers.
var logarithms = map[kernel.Op]expansion{
	kernel.Log:   {unaryExpansion((*expander).log), 1.5, 1.5, func(e *expander, z parts) parts { return e.complexLog(kernel.Log, z, 1) }},
	kernel.Log2:  {unaryExpansion((*expander).log2), 2.25, 2, func(e *expander, z parts) parts { return e.complexLog(kernel.Log2, z, 1/math.Ln2) }},
	kernel.Log10: {unaryExpansion((*expander).log10), 2, 2, func(e *expander, z parts) parts { return e.complexLog(kernel.Log10, z, 1/math.Ln10) }},
	kernel.Log1p: {unaryExpansion((*expander).log1p), 1.5, 2, nil},
	kernel.Sqrt:  {complex: (*expander).complexSqrt},
}

// log1p(f) = f + f*f*p(f) on [-1/4, 1/2], relative errors 2.9e-8 and 1.1e-17.
var (
	logSingle = []float64{-0.5000006, 0.33333555, -0.24993521, 0.19976799, -0.16820805, 0.14986016, -0.120872445, 0.054350026}
	logDouble = []float64{-0.4999999999999997, 0.3333333333333395, -0.2500000000001967, 0.1999999999981599, -0.16666666662744076,
		0.14285714301380353, -0.1250000035047591, 0.11111110798966035, -0.09999983737321501, 0.09090889580977805,
		-0.08333732307665546, 0.07693482555733175, -0.07138423655483486, 0.06642259187248109, -0.062490735826872444,
		0.06087272534818171, -0.05977891277933341, 0.05075609782351982, -0.029363771117159106, 0.008059856542517079}
)

// Logarithms to base 10 and 2 in two parts. Those of log10(2) are rounded down: both must be positive,
// since minus infinity is multiplied by them.
var (
	log10of2Single = []float64{0.3010299801826477, 1.5481331772093654e-08}
	log10of2Double = []float64{0.30102999566398114, 5.270742310347265e-17}
	log10ofESingle = []float64{0.4342944920063019, -1.0103049952192578e-08}
	log10ofEDouble = []float64{0.4342944819032518, 1.098319650216765e-17}
	log2ofESingle  = []float64{1.4426950216293335, 1.925963033500011e-08}
	log2ofEDouble  = []float64{1.4426950408889634, 2.0355273740931033e-17}
)

// log is k*ln2 + log1p(f).
func (e *expander) log(x kernel.Value) kernel.Value {
	k, f := e.decompose(x)
	return e.logLimits(x, e.addParts(e.logReduced(f), k, e.ln2(int(e.pick(1, 2)))...))
}

// log2 is k + log1p(f)/ln2, exact for powers of two. The large terms are added first: their sum is
// small where they cancel.
func (e *expander) log2(x kernel.Value) kernel.Value {
	k, f := e.decompose(x)
	factor := e.table(log2ofESingle, log2ofEDouble)
	return e.logLimits(x, e.Fma(f, e.logRest(f, factor), e.fmaNumber(f, factor[0], k)))
}

// log10 is k*log10(2) + log1p(f)/ln10.
func (e *expander) log10(x kernel.Value) kernel.Value {
	k, f := e.decompose(x)
	factor := e.table(log10ofESingle, log10ofEDouble)
	p := e.fmaNumber(f, factor[0], e.Mul(f, e.logRest(f, factor)))
	return e.logLimits(x, e.addParts(p, k, e.table(log10of2Single, log10of2Double)...))
}

// log1p takes k from 1+x, but f exactly: 2**-k * (1+x) - 1 is x*2**-k + (2**-k - 1).
func (e *expander) log1p(x kernel.Value) kernel.Value {
	u := e.Add(x, e.number(1))
	k, f := e.exponentAbove(x, u)
	y := e.addParts(e.logReduced(f), k, e.ln2(int(e.pick(1, 2)))...)
	y = e.logSelect(u, y)
	return e.copySign(y, x)
}

// addParts adds k times each part of a constant to x, the smallest first.
func (e *expander) addParts(x, k kernel.Value, parts ...float64) kernel.Value {
	for i := len(parts) - 1; i >= 0; i-- {
		x = e.fmaNumber(k, parts[i], x)
	}
	return x
}

// logReduced is log1p(f) for -1/4 <= f < 1/2.
func (e *expander) logReduced(f kernel.Value) kernel.Value {
	return e.Fma(e.Mul(f, e.polynomial(f, e.table(logSingle, logDouble)...)), f, f)
}

// logRest is q with factor*log1p(f) = f*factor[0] + f*q.
func (e *expander) logRest(f kernel.Value, factor []float64) kernel.Value {
	c := []float64{factor[1]}
	for _, v := range e.table(logSingle, logDouble) {
		c = append(c, v*factor[0])
	}
	return e.polynomial(f, c...)
}

// decompose returns k and f with x = 2**k * (1 + f) and -1/4 <= f < 1/2 for positive finite x. With
// Mantissa, k is infinite and f is zero where x is zero or infinite, f is NaN where x is negative or
// NaN, and so sums of k and f need no further care; without, logLimits takes it.
func (e *expander) decompose(x kernel.Value) (k, f kernel.Value) {
	one := e.number(1)
	if e.target.Mantissa {
		m := e.Unary(kernel.Mantissa, x)
		return e.Sub(e.Unary(kernel.Exponent, x), e.Unary(kernel.Exponent, m)), e.Sub(m, one)
	}
	digits := e.pick(24, 54) // by which a denormal is moved to become normal
	denormal := e.Binary(kernel.Lt, x, e.number(e.pick(0x1p-126, 0x1p-1022)))
	normal := e.Select(denormal, e.Mul(x, e.number(math.Ldexp(1, int(digits)))), x)
	k, whole := e.exponentBits(normal)
	k = e.Add(k, e.Select(denormal, e.number(-digits), e.number(0)))
	return k, e.Sub(e.Bits(e.Sub(e.Bits(normal), whole)), one)
}

// exponentAbove returns k and f with 1+x = 2**k * (1 + f), where u is 1+x rounded. 2**-k may be denormal,
// and so four times as much is computed without Scale.
func (e *expander) exponentAbove(x, u kernel.Value) (k, f kernel.Value) {
	one := e.number(1)
	if e.target.Mantissa {
		k = e.Sub(e.Unary(kernel.Exponent, u), e.Unary(kernel.Exponent, e.Unary(kernel.Mantissa, u)))
	} else {
		var whole kernel.Value
		if k, whole = e.exponentBits(u); !e.target.Scale {
			four := e.number(4)
			power := e.Bits(e.Sub(e.bitsOf(4), whole))
			return k, e.Mul(e.Fma(x, power, e.Sub(power, four)), e.number(0.25))
		}
	}
	power := e.Scale(one, e.Neg(k))
	return k, e.Fma(x, power, e.Sub(power, one))
}

// exponentBits returns k as a float, and as an integer in the place that exponents have in the bits
// of a float. The bits minus those of 3/4 carry it there.
func (e *expander) exponentBits(x kernel.Value) (k, whole kernel.Value) {
	if e.t == tensor.Float64 {
		return e.exponentBits64(x)
	}
	i := e.Sub(e.Bits(x), e.bitsOf(0.75))
	k = e.Convert(e.Binary(kernel.Shr, i, e.integer(23)), e.t)
	return k, e.Binary(kernel.And, i, e.integer(-1<<23))
}

// exponentBits64 does without the conversion of a 64-bit integer, which few targets have: 1023+k, not
// negative, becomes the last digits of 2**52.
func (e *expander) exponentBits64(x kernel.Value) (k, whole kernel.Value) {
	const shift = 1 << 52
	one := int64(math.Float64bits(1))
	i := e.Add(e.Bits(x), e.integer(one-int64(math.Float64bits(0.75))))
	last := e.Binary(kernel.Or, e.Binary(kernel.Shr, i, e.integer(52)), e.bitsOf(shift))
	k = e.Sub(e.Bits(last), e.number(shift+1023))
	return k, e.Sub(e.Binary(kernel.And, i, e.integer(-1<<52)), e.integer(one))
}

// logLimits gives y, a logarithm of x, its values where x is not a positive finite number.
func (e *expander) logLimits(x, y kernel.Value) kernel.Value {
	if e.target.Mantissa {
		return y
	}
	return e.logSelect(x, y)
}

func (e *expander) logSelect(x, y kernel.Value) kernel.Value {
	infinity, zero := e.number(math.Inf(1)), e.number(0)
	y = e.Select(e.Binary(kernel.Lt, x, infinity), y, x)
	pole := e.Select(e.Binary(kernel.Eq, x, zero), e.Neg(infinity), e.number(math.NaN()))
	return e.Select(e.Binary(kernel.Gt, x, zero), y, pole)
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

package kernel

import (
	"math"
	"math/cmplx"
)

// The functions of complex numbers here have the values that C gives where parts are zero, infinite or NaN.

func isFinite(f float64) bool { return math.Abs(f) < math.Inf(1) }

func complexLog(f func(float64) float64, factor float64) func(complex128) complex128 {
	return func(z complex128) complex128 {
		m, angle := math.Hypot(real(z), imag(z)), math.Atan2(imag(z), real(z))*factor
		if m > 0.7 && m < 1.4 { // half the logarithm of one and what the square is above it
			x, y := math.Abs(real(z)), math.Abs(imag(z))
			a, b := max(x, y), min(x, y)
			return complex(0.5*factor*math.Log1p(math.FMA(a-1, a+1, b*b)), angle)
		}
		return complex(f(m), angle)
	}
}

func complexSqrt(z complex128) complex128 {
	if imag(z) == 0 && real(z) != real(z) {
		return complex(math.NaN(), math.NaN())
	}
	return cmplx.Sqrt(z)
}

func complexSinh(z complex128) complex128 {
	x, y := real(z), imag(z)
	re, im := sinh(x)*math.Cos(y), cosh(x)*math.Sin(y)
	switch {
	case !isFinite(y) && x == 0:
		re = x
	case !isFinite(y) && math.IsInf(x, 0):
		re = math.Inf(1)
	case y == 0:
		im = y
	}
	return complex(re, im)
}

func complexCosh(z complex128) complex128 {
	x, y := real(z), imag(z)
	re, im := cosh(x)*math.Cos(y), sinh(x)*math.Sin(y)
	switch {
	case !isFinite(y) && x == 0:
		im = 0
	case !isFinite(y) && math.IsInf(x, 0):
		re = math.Inf(1)
	case y == 0:
		im = y * math.Copysign(1, x)
	}
	return complex(re, im)
}

// turnedAt is -i*f(i*z) of an odd function f.
func turnedAt(f func(complex128) complex128) func(complex128) complex128 {
	return func(z complex128) complex128 {
		s := f(complex(imag(z), real(z)))
		return complex(imag(s), real(s))
	}
}

func complexCos(z complex128) complex128 {
	c := complexCosh(complex(imag(z), real(z)))
	return complex(real(c), -imag(c))
}

// complexTanh has, with t = tan(y), s = sinh(x) and c = 1 + t*t, the parts c*s*sqrt(1+s*s) and t, divided by 1 + c*s*s.
func complexTanh(z complex128) complex128 {
	x, y := real(z), imag(z)
	t, s, far := math.Tan(y), sinh(max(-22, min(22, x))), sinh(x)
	c := math.FMA(t, t, 1)
	re, im := c*s*math.Sqrt(s*s+1)/math.FMA(c, s*s, 1), t/math.FMA(c, far*far, 1)
	switch {
	case math.IsInf(x, 0):
		re = math.Copysign(1, x)
		if !isFinite(y) {
			im = 0
		}
	case x == 0:
		re = x
	}
	if y == 0 {
		im = y
	}
	return complex(re, im)
}

// complexPower is exp(b * log(a)), also for zero: 0**0 is not a number.
func complexPower(a, b complex128) complex128 {
	l := complexLog(math.Log, 1)(a)
	p, q, c, d := real(b), imag(b), real(l), imag(l)
	re, im := complexProduct(p, q, c, d)
	m := exp(re)
	switch {
	case m == 0 && !isFinite(im):
		return 0
	case im == 0:
		return complex(m, im)
	case math.IsInf(m, 1) && !isFinite(im):
		return complex(m, math.NaN())
	}
	return complex(m*math.Cos(im), m*math.Sin(im))
}

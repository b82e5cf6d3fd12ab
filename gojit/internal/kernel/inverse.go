package kernel

import "math"

var inverses = map[Op]function{
	Asin:  {"asin", math.Asin, complexAsin},
	Acos:  {"acos", math.Acos, complexAcos},
	Atan:  {"atan", math.Atan, turnedAt(complexAtanh)},
	Asinh: {"asinh", math.Asinh, turnedAt(complexAsin)},
	Acosh: {"acosh", math.Acosh, complexAcosh},
	Atanh: {"atanh", math.Atanh, complexAtanh},
}

// The inverse functions of complex numbers are Kahan's: products of the roots of 1-z and 1+z, in which nothing cancels, and real inverse functions of these.

// roots returns those of 1-z and 1+z.
func roots(z complex128) (a, b complex128) {
	return complexSqrt(complex(1-real(z), -imag(z))), complexSqrt(complex(1+real(z), imag(z)))
}

func complexAsin(z complex128) complex128 {
	x, y := real(z), imag(z)
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return complex(math.Atan2(x, math.Abs(y)), math.Copysign(math.Inf(1), y))
	}
	a, b := roots(z)
	re := math.Copysign(math.Atan2(x, real(a)*real(b)-imag(a)*imag(b)), x)
	if x == 0 {
		re = x
	}
	return complex(re, math.Copysign(math.Asinh(real(a)*imag(b)-imag(a)*real(b)), y))
}

func complexAcos(z complex128) complex128 {
	x, y := real(z), imag(z)
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return complex(math.Atan2(math.Abs(y), x), math.Copysign(math.Inf(1), -y))
	}
	a, b := roots(z)
	re := 2 * math.Atan2(real(a), real(b))
	if x == 0 {
		re = math.Pi / 2
	}
	return complex(re, math.Copysign(math.Asinh(real(b)*imag(a)-imag(b)*real(a)), -y))
}

// complexAtanh has a quarter of log(1 + 4*x/m**2) with m the distance from one; very near to it, half of log(2/m).
func complexAtanh(z complex128) complex128 {
	x, y := math.Abs(real(z)), imag(z)
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		im := y
		if y == y {
			im = math.Copysign(math.Pi/2, y)
		}
		return complex(math.Copysign(0, real(z)), im)
	}
	m := math.Hypot(1-x, y)
	re := math.Log1p(4*(x/m)/m) / 4
	switch {
	case x == 0:
		re = 0
	case m < NearOne:
		re = (math.Ln2 - log(m)) / 2
	}
	im := math.Atan2(2*y, math.FMA(y, -y, (1-x)*(1+x))) / 2
	return complex(math.Copysign(re, real(z)), math.Copysign(im, y))
}

// NearOne is where the square of a distance is not a normal number.
const NearOne = 0x1p-500

// complexAcosh is the one of i*acos(z) and -i*acos(z) whose real part is not negative.
func complexAcosh(z complex128) complex128 {
	c := complexAcos(z)
	return complex(math.Abs(imag(c)), math.Copysign(real(c), imag(z)))
}

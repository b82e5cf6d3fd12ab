package kernel

import "math"

// hyperbolics are the hyperbolic functions, and the circular ones, which are these turned.
var hyperbolics = map[Op]function{
	Sinh: {"sinh", sinh, complexSinh},
	Cosh: {"cosh", cosh, complexCosh},
	Tanh: {"tanh", math.Tanh, complexTanh},
	Sin:  {"sin", math.Sin, turnedAt(complexSinh)},
	Cos:  {"cos", math.Cos, complexCos},
	Tan:  {"tan", math.Tan, turnedAt(complexTanh)},
}

// sinh and cosh do not overflow before their results do, as those of package math may.
func sinh(v float64) float64 {
	if math.Abs(v) < 700 {
		return math.Sinh(v)
	}
	return math.Copysign(cosh(v), v)
}

func cosh(v float64) float64 {
	if math.Abs(v) < 700 {
		return math.Cosh(v)
	}
	e := math.Exp(math.Abs(v) / 2)
	return e / 2 * e
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

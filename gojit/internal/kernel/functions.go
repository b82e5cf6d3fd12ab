package kernel

import (
	"math"
	"math/cmplx"
)

// function is what an operation is that computes a float of a float: its name, which the text of kernels and the numbers of scripts have, what it gives of a
// real number and, where it is defined there, of a complex one. Package expand has each in primitives, and with that printed as CUDA C.
type function struct {
	name    string
	real    func(float64) float64
	complex func(complex128) complex128
}

// functions are those of all families; a file holds a family and what it computes with.
var functions = func() (all [NumOps]function) {
	for _, family := range []map[Op]function{exponentials, hyperbolics, inverses, specials} {
		for op, f := range family {
			all[op] = f
		}
	}
	return all
}()

// Functions returns the operations that are functions of one float.
func Functions() (all []Op) {
	for op := range functions {
		if functions[op].real != nil {
			all = append(all, Op(op))
		}
	}
	return all
}

// RealFunction returns a function of real numbers, nil where an operation is none.
func RealFunction(op Op) func(float64) float64 { return functions[op].real }

// ComplexFunction returns a function of complex numbers, nil where an operation is none.
func ComplexFunction(op Op) func(complex128) complex128 { return functions[op].complex }

// The functions of complex numbers have the values that C gives where parts are zero, infinite or NaN.

var exponentials = map[Op]function{
	Sqrt:  {"sqrt", math.Sqrt, complexSqrt},
	Exp:   {"exp", exp, cmplx.Exp},
	Expm1: {"expm1", math.Expm1, func(c complex128) complex128 { return cmplx.Exp(c) - 1 }},
	Log:   {"log", log, complexLog(log, 1)},
	Log2:  {"log2", math.Log2, complexLog(math.Log2, 1/math.Ln2)},
	Log10: {"log10", log10, complexLog(log10, 1/math.Ln10)},
	Log1p: {"log1p", math.Log1p, func(c complex128) complex128 { return cmplx.Log(1 + c) }},
}

var log, log10 = logDenormal(math.Log, math.Ln2), logDenormal(math.Log10, math.Ln2/math.Ln10)

// logDenormal makes a logarithm right for denormals, of which package math takes no notice on some
// machines. unit is the logarithm of two.
func logDenormal(f func(float64) float64, unit float64) func(float64) float64 {
	return func(v float64) float64 {
		if v > 0 && v < 0x1p-1022 {
			return f(v*0x1p54) - 54*unit
		}
		return f(v)
	}
}

// exp does not overflow or vanish before its results do, as that of package math may.
func exp(v float64) float64 {
	switch {
	case v > 709:
		return math.Exp(v-1) * math.E
	case v < -740: // on arm64 the smallest results are missing
		return math.Ldexp(math.Exp(v+64*math.Ln2), -64)
	}
	return math.Exp(v)
}

// PowFloat64 is right for denormals too.
func PowFloat64(a, b float64) float64 {
	if m := math.Abs(a); m > 0 && m < 0x1p-1022 && math.Abs(b) < 1<<10 {
		return math.Pow(a*0x1p54, b) * math.Pow(2, -54*b)
	}
	return math.Pow(a, b)
}

func isFinite(f float64) bool { return math.Abs(f) < math.Inf(1) }

func complexSqrt(z complex128) complex128 {
	if imag(z) == 0 && real(z) != real(z) {
		return complex(math.NaN(), math.NaN())
	}
	return cmplx.Sqrt(z)
}

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

package kernel

import (
	"math"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// fma32 is a*b + c rounded once. The product is exact in float64. The sum is rounded to odd there,
// whose extra digits make the rounding to float32 that follows the only one that counts.
func fma32(a, b, c float32) float32 {
	product, addend := float64(a)*float64(b), float64(c)
	sum := product + addend
	back := sum - product
	lost := (product - (sum - back)) + (addend - back) // what the rounding of sum took away, exactly
	if bits := math.Float64bits(sum); bits&1 == 0 && (lost < 0 || lost > 0) {
		if (lost > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
		sum = math.Float64frombits(bits)
	}
	return float32(sum)
}

// scale is a * 2**floor(n) rounded once into float64; a float32 has an exact result there unless it
// overflows or vanishes in float32 as well. Infinite n and NaN follow the instruction VSCALEF.
func scale(a, n float64) float64 {
	switch {
	case a != a || n != n:
		return a + n
	case math.IsInf(n, 1):
		return a * n // 0 times infinity has no value
	case math.IsInf(n, -1):
		if math.IsInf(a, 0) {
			return math.NaN()
		}
		return math.Copysign(0, a)
	}
	return math.Ldexp(a, int(math.Floor(max(-4000, min(4000, n)))))
}

// mantissa is the meaning of Mantissa. A float32 keeps its digits in float64, so this serves both.
func mantissa(a float64) float64 {
	switch {
	case a != a || a < 0:
		return math.NaN()
	case a == 0 || math.IsInf(a, 1):
		return 1
	}
	fraction, _ := math.Frexp(a)
	if fraction < 0.75 {
		return 2 * fraction
	}
	return fraction
}

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

// PowFloat64 is right for denormals too.
func PowFloat64(a, b float64) float64 {
	if m := math.Abs(a); m > 0 && m < 0x1p-1022 && math.Abs(b) < 1<<10 {
		return math.Pow(a*0x1p54, b) * math.Pow(2, -54*b)
	}
	return math.Pow(a, b)
}

// exp, sinh and cosh do not overflow or vanish before their results do, as those of package math may.
func exp(v float64) float64 {
	switch {
	case v > 709:
		return math.Exp(v-1) * math.E
	case v < -740: // on arm64 the smallest results are missing
		return math.Ldexp(math.Exp(v+64*math.Ln2), -64)
	}
	return math.Exp(v)
}

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

// fillIota stores first, first+1, ... in a tile of Int32 or Int64.
func fillIota[T int32 | int64](z []T, first int) {
	for i := range z {
		z[i] = T(first + i)
	}
}

// isReal reports whether t is a type of real floats that kernels compute with.
func isReal(t tensor.DType) bool { return t == tensor.Float32 || t == tensor.Float64 }

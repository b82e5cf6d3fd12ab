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

// fillIota stores first, first+1, ... in a tile of Int32 or Int64.
func fillIota[T int32 | int64](z []T, first int) {
	for i := range z {
		z[i] = T(first + i)
	}
}

// isReal reports whether t is a type of real floats that kernels compute with.
func isReal(t tensor.DType) bool { return t == tensor.Float32 || t == tensor.Float64 }

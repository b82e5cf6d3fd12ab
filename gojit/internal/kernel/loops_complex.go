package kernel

import (
	"math"
	"math/cmplx"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// isComplexNaN reports whether a part of c is NaN, whatever the other one is.
func isComplexNaN(c complex128) bool { return math.IsNaN(real(c)) || math.IsNaN(imag(c)) }

// complexAbs is NaN where a part is.
func complexAbs(c complex128) float64 {
	if isComplexNaN(c) {
		return math.NaN()
	}
	return math.Hypot(real(c), imag(c))
}

// powerBelow returns one divided by the power of two not above the larger of |a| and |b|, limited to normal numbers.
func powerBelow[R Float](a, b R, least, most float64) R {
	larger := math.Abs(float64(b))
	if math.Abs(float64(a)) > larger {
		larger = math.Abs(float64(a))
	}
	if !(larger < most) {
		larger = most
	}
	larger = max(larger, least)
	return R(math.Ldexp(1, -math.Ilogb(larger)))
}

// complexProduct rounds each product and sum to R.
func complexProduct[R Float](a, b, c, d R) (re, im R) {
	ac, bd, ad, bc := R(a*c), R(b*d), R(a*d), R(b*c)
	return ac - bd, ad + bc
}

// complexQuotient is (a + b*i) / (c + d*i) with the divisor scaled to between one and two.
func complexQuotient[R Float](a, b, c, d R, least, most float64) (re, im R) {
	inverse := powerBelow(c, d, least, most)
	c, d = c*inverse, d*inverse
	cc, dd, ac, bd, bc, ad := R(c*c), R(d*d), R(a*c), R(b*d), R(b*c), R(a*d)
	divided := 1 / (cc + dd)
	return (ac + bd) * divided * inverse, (bc - ad) * divided * inverse
}

func complexLoops[C complexNumber, R Float](t *loopTable, dtype tensor.DType, re, im func(C) R, join func(re, im R) C) {
	arithmeticLoops[C](t, dtype)
	for op := range functions {
		if f := functions[op].complex; f != nil {
			t[op][dtype] = unary(func(c C) C { return C(f(complex128(c))) })
		}
	}
	t[Conj][dtype] = unary(func(c C) C { return C(cmplx.Conj(complex128(c))) })
	least, most := 0x1p-1022, 0x1p1022
	if dtype == tensor.Complex64 {
		least, most = 0x1p-126, 0x1p126
	}
	t[Mul][dtype] = binary(func(a, b C) C { return join(complexProduct(re(a), im(a), re(b), im(b))) })
	t[Div][dtype] = binary(func(a, b C) C { return join(complexQuotient(re(a), im(a), re(b), im(b), least, most)) })
	t[Exp][dtype] = unary(func(c C) C {
		m, angle := R(exp(float64(re(c)))), float64(im(c))
		return join(m*R(math.Cos(angle)), m*R(math.Sin(angle)))
	})
	t[Sign][dtype] = unary(func(c C) C {
		if c == 0 {
			return 0
		}
		m := R(complexAbs(complex128(c)))
		return join(re(c)/m, im(c)/m)
	})
	t[Pow][dtype] = binary(func(a, b C) C { return C(complexPower(complex128(a), complex128(b))) })
	t[Abs][dtype] = unary(func(c C) R { return R(complexAbs(complex128(c))) })
	t[Angle][dtype] = unary(func(c C) R { return R(math.Atan2(float64(im(c)), float64(re(c)))) })
	t[Real][dtype] = unary(re)
	t[Imag][dtype] = unary(im)
	t[IsNaN][dtype] = unary(func(c C) bool { return isComplexNaN(complex128(c)) })
}

func boolLoops(t *loopTable) {
	or := binary(func(a, b bool) bool { return a || b })
	and := binary(func(a, b bool) bool { return a && b })
	xor := binary(func(a, b bool) bool { return a != b })
	same := unary(func(a bool) bool { return a })
	for op, f := range map[Op]tileLoop{
		Add: or, Or: or, Max: or, Mul: and, And: and, Min: and, Xor: xor, Ne: xor,
		Eq:  binary(func(a, b bool) bool { return a == b }),
		Lt:  binary(func(a, b bool) bool { return !a && b }),
		Le:  binary(func(a, b bool) bool { return !a || b }),
		Gt:  binary(func(a, b bool) bool { return a && !b }),
		Ge:  binary(func(a, b bool) bool { return a || !b }),
		Pow: binary(func(a, b bool) bool { return a || !b }),
		Not: unary(func(a bool) bool { return !a }),
		Abs: same, Sign: same, Conj: same, Real: same,
		IsNaN:  unary(func(bool) bool { return false }),
		Select: selectLoop[bool],
	} {
		t[op][tensor.Bool] = f
	}
}

package kernel

import (
	"math"
	"math/cmplx"

	"torchjit/gojit/tensor"
)

var complexFunctions = map[Op]func(complex128) complex128{
	Sqrt: cmplx.Sqrt, Exp: cmplx.Exp, Log: cmplx.Log, Log10: cmplx.Log10,
	Log2:  func(c complex128) complex128 { return cmplx.Log(c) / math.Ln2 },
	Log1p: func(c complex128) complex128 { return cmplx.Log(1 + c) },
	Expm1: func(c complex128) complex128 { return cmplx.Exp(c) - 1 },
	Sin:   cmplx.Sin, Cos: cmplx.Cos, Tan: cmplx.Tan, Asin: cmplx.Asin, Acos: cmplx.Acos, Atan: cmplx.Atan,
	Sinh: cmplx.Sinh, Cosh: cmplx.Cosh, Tanh: cmplx.Tanh, Asinh: cmplx.Asinh, Acosh: cmplx.Acosh, Atanh: cmplx.Atanh,
	Conj: cmplx.Conj,
	Sign: func(c complex128) complex128 {
		if c == 0 {
			return 0
		}
		return c / complex(cmplx.Abs(c), 0)
	},
}

func complexLoops[C complexNumber, R float](t *loopTable, dtype tensor.DType, re, im func(C) R) {
	arithmeticLoops[C](t, dtype)
	for op, f := range complexFunctions {
		t[op][dtype] = unary(func(c C) C { return C(f(complex128(c))) })
	}
	t[Div][dtype] = binary(func(a, b C) C { return a / b })
	t[Pow][dtype] = binary(func(a, b C) C { return C(cmplx.Pow(complex128(a), complex128(b))) })
	t[Abs][dtype] = unary(func(c C) R { return R(cmplx.Abs(complex128(c))) })
	t[Angle][dtype] = unary(func(c C) R { return R(math.Atan2(float64(im(c)), float64(re(c)))) })
	t[Real][dtype] = unary(re)
	t[Imag][dtype] = unary(im)
	t[IsNaN][dtype] = unary(func(c C) bool { return c != c })
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

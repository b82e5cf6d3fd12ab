package kernel

import (
	"math"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tileLoop applies an operation to n consecutive elements. d may be equal to a, b or c.
type tileLoop func(d, a, b, c unsafe.Pointer, n int)

type signed interface {
	int8 | int16 | int32 | int64
}
type integer interface{ signed | uint8 }
type Float interface{ float32 | float64 }
type number interface{ integer | Float }
type complexNumber interface{ complex64 | complex128 }

// Loops holds the loop of each operation by the type of its first operand; nil: not defined.
// Select is indexed by the type of its result.
var Loops = makeLoops()

type loopTable [NumOps][tensor.NumDTypes]tileLoop

func makeLoops() *loopTable {
	t := &loopTable{}
	integerLoops[uint8](t, tensor.Uint8)
	signedLoops[int8](t, tensor.Int8)
	signedLoops[int16](t, tensor.Int16)
	signedLoops[int32](t, tensor.Int32)
	signedLoops[int64](t, tensor.Int64)
	floatLoops[float32](t, tensor.Float32)
	floatLoops[float64](t, tensor.Float64)
	complexLoops(t, tensor.Complex64, func(c complex64) float32 { return real(c) }, func(c complex64) float32 { return imag(c) },
		func(re, im float32) complex64 { return complex(re, im) })
	complexLoops(t, tensor.Complex128, func(c complex128) float64 { return real(c) }, func(c complex128) float64 { return imag(c) },
		func(re, im float64) complex128 { return complex(re, im) })
	boolLoops(t)
	t[MakeComplex][tensor.Float32] = binary(func(a, b float32) complex64 { return complex(a, b) })
	t[MakeComplex][tensor.Float64] = binary(func(a, b float64) complex128 { return complex(a, b) })
	t[Fma][tensor.Float32] = ternary(fma32)
	t[Fma][tensor.Float64] = ternary(math.FMA)
	t[Bits][tensor.Float32] = unary(func(v float32) int32 { return int32(math.Float32bits(v)) })
	t[Bits][tensor.Float64] = unary(func(v float64) int64 { return int64(math.Float64bits(v)) })
	t[Bits][tensor.Int32] = unary(func(v int32) float32 { return math.Float32frombits(uint32(v)) })
	t[Bits][tensor.Int64] = unary(func(v int64) float64 { return math.Float64frombits(uint64(v)) })
	return t
}

func slices3[D, T any](d, a, b unsafe.Pointer, n int) ([]D, []T, []T) {
	return unsafe.Slice((*D)(d), n), unsafe.Slice((*T)(a), n), unsafe.Slice((*T)(b), n)
}

// unary and binary make loops of functions that cost more than the call.
func unary[S, D any](f func(S) D) tileLoop {
	return func(d, a, _, _ unsafe.Pointer, n int) {
		z, x, _ := slices3[D, S](d, a, a, n)
		for i := range z {
			z[i] = f(x[i])
		}
	}
}

func binary[S, D any](f func(a, b S) D) tileLoop {
	return func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[D, S](d, a, b, n)
		for i := range z {
			z[i] = f(x[i], y[i])
		}
	}
}

func ternary[T any](f func(a, b, c T) T) tileLoop {
	return func(d, a, b, c unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		w := unsafe.Slice((*T)(c), n)
		for i := range z {
			z[i] = f(x[i], y[i], w[i])
		}
	}
}

// least and greatest keep a NaN to the bit: that of x, or else of y.
func least[T number](x, y T) T {
	switch {
	case x != x:
		return x
	case y != y:
		return y
	}
	return min(x, y)
}

func greatest[T number](x, y T) T {
	switch {
	case x != x:
		return x
	case y != y:
		return y
	}
	return max(x, y)
}

// numberLoops fills in what integers and floats have in common.
func numberLoops[T number](t *loopTable, dtype tensor.DType) {
	arithmeticLoops[T](t, dtype)
	t[Min][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			z[i] = least(x[i], y[i])
		}
	}
	t[Max][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			z[i] = greatest(x[i], y[i])
		}
	}
	t[Lt][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[bool, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] < y[i]
		}
	}
	t[Le][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[bool, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] <= y[i]
		}
	}
	t[Gt][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[bool, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] > y[i]
		}
	}
	t[Ge][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[bool, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] >= y[i]
		}
	}
	t[Conj][dtype] = unary(func(v T) T { return v })
	t[Real][dtype] = t[Conj][dtype]
}

// arithmeticLoops fills in what complex numbers have as well.
func arithmeticLoops[T number | complexNumber](t *loopTable, dtype tensor.DType) {
	t[Neg][dtype] = func(d, a, _, _ unsafe.Pointer, n int) {
		z, x, _ := slices3[T, T](d, a, a, n)
		for i := range z {
			z[i] = -x[i]
		}
	}
	t[Add][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] + y[i]
		}
	}
	t[Sub][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] - y[i]
		}
	}
	t[Mul][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] * y[i]
		}
	}
	t[Eq][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[bool, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] == y[i]
		}
	}
	t[Ne][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[bool, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] != y[i]
		}
	}
	t[Select][dtype] = selectLoop[T]
}

func selectLoop[T any](d, a, b, c unsafe.Pointer, n int) {
	z, x, y := slices3[T, T](d, b, c, n)
	for i, chosen := range unsafe.Slice((*bool)(a), n) {
		if chosen {
			z[i] = x[i]
		} else {
			z[i] = y[i]
		}
	}
}

// DivisionByZero is what integer division by zero panics with; operators turn it into an error.
var DivisionByZero = source.Errorf(source.RuntimeError, source.Range{}, "ZeroDivisionError")

// divisionLoops fills in the divisions of integers, which panic with DivisionByZero. The loops are
// written out, since a call costs as much as a division.
func divisionLoops[T integer](t *loopTable, dtype tensor.DType) {
	t[Div][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] / nonzero(y[i])
		}
	}
	t[Rem][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] % nonzero(y[i])
		}
	}
	t[FloorDiv][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			v, by := x[i], nonzero(y[i])
			q := v / by
			if r := v - q*by; r != 0 && (r < 0) != (by < 0) {
				q--
			}
			z[i] = q
		}
	}
	t[Mod][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			by := nonzero(y[i])
			r := x[i] % by
			if r != 0 && (r < 0) != (by < 0) {
				r += by
			}
			z[i] = r
		}
	}
}

// nonzero returns a divisor, or panics.
func nonzero[T integer](v T) T {
	if v == 0 {
		panic(DivisionByZero)
	}
	return v
}

func integerLoops[T integer](t *loopTable, dtype tensor.DType) {
	numberLoops[T](t, dtype)
	divisionLoops[T](t, dtype)
	t[Abs][dtype] = unary(func(v T) T {
		if v < 0 {
			return -v
		}
		return v
	})
	t[Sign][dtype] = unary(func(v T) T {
		switch {
		case v > 0:
			return 1
		case v < 0:
			return ^T(0) // -1 in T; unsigned types have no such value
		}
		return 0
	})
	t[Pow][dtype] = binary(integerPower[T])
	t[Gcd][dtype] = binary(func(a, b T) T {
		for b != 0 {
			a, b = b, a%b
		}
		if a < 0 {
			a = -a
		}
		return a
	})
	t[Not][dtype] = unary(func(v T) T { return ^v })
	t[And][dtype] = binary(func(a, b T) T { return a & b })
	t[Or][dtype] = binary(func(a, b T) T { return a | b })
	t[Xor][dtype] = binary(func(a, b T) T { return a ^ b })
	width := T(dtype.Size() * 8)
	t[Shl][dtype] = binary(func(a, b T) T {
		if b < 0 || dtype != tensor.Int8 && b >= width || b >= 64 {
			return 0
		}
		return a << b
	})
	farthest := width - 1 // leaves the sign
	if dtype == tensor.Uint8 {
		farthest = width
	}
	t[Shr][dtype] = binary(func(a, b T) T {
		if b < 0 || b > farthest {
			b = farthest
		}
		return a >> b
	})
	for _, op := range []Op{Floor, Ceil, Round, Trunc, Imag, Angle} {
		t[op][dtype] = t[Conj][dtype]
	}
	t[Imag][dtype], t[Angle][dtype] = nil, nil
	t[IsNaN][dtype] = unary(func(T) bool { return false })
}

// integerPower computes a**b with wrap-around; a negative exponent gives 0 unless the base is 1 or -1.
func integerPower[T integer](a, b T) T {
	if b < 0 {
		switch a {
		case 1:
			return 1
		case ^T(0): // -1
			if b%2 == 0 {
				return 1
			}
			return a
		}
		return 0
	}
	result := T(1)
	for e := uint64(b); e > 0; e >>= 1 {
		if e&1 != 0 {
			result *= a
		}
		a *= a
	}
	return result
}

func signedLoops[T signed](t *loopTable, dtype tensor.DType) { integerLoops[T](t, dtype) }

// wide makes the loop of a function of float64.
func wide[T Float](f func(float64) float64) tileLoop {
	return func(d, a, _, _ unsafe.Pointer, n int) {
		z, x, _ := slices3[T, T](d, a, a, n)
		for i := range z {
			z[i] = T(f(float64(x[i])))
		}
	}
}

func wide2[T Float](f func(a, b float64) float64) tileLoop {
	return binary(func(a, b T) T { return T(f(float64(a), float64(b))) })
}

func floatLoops[T Float](t *loopTable, dtype tensor.DType) {
	numberLoops[T](t, dtype)
	for op := range functions {
		if f := functions[op].real; f != nil {
			t[op][dtype] = wide[T](f)
		}
	}
	t[Floor][dtype], t[Ceil][dtype], t[Round][dtype], t[Trunc][dtype] = wide[T](math.Floor), wide[T](math.Ceil), wide[T](math.RoundToEven), wide[T](math.Trunc)
	t[Sqrt][dtype] = func(d, a, _, _ unsafe.Pointer, n int) {
		z, x, _ := slices3[T, T](d, a, a, n)
		for i := range z {
			z[i] = T(math.Sqrt(float64(x[i])))
		}
	}
	t[Abs][dtype] = func(d, a, _, _ unsafe.Pointer, n int) {
		z, x, _ := slices3[T, T](d, a, a, n)
		for i := range z {
			z[i] = T(math.Abs(float64(x[i])))
		}
	}
	t[Div][dtype] = func(d, a, b, _ unsafe.Pointer, n int) {
		z, x, y := slices3[T, T](d, a, b, n)
		for i := range z {
			z[i] = x[i] / y[i]
		}
	}
	t[Sign][dtype] = unary(func(v T) T {
		switch {
		case v > 0:
			return 1
		case v < 0:
			return -1
		}
		return 0
	})
	t[Scale][dtype] = wide2[T](scale)
	t[Exponent][dtype], t[Mantissa][dtype] = wide[T](math.Logb), wide[T](mantissa)
	t[Rem][dtype] = wide2[T](math.Mod)
	t[Mod][dtype] = binary(FloatMod[T])
	t[FloorDiv][dtype] = binary(FloatFloorDiv[T])
	t[Pow][dtype] = wide2[T](PowFloat64)
	t[Atan2][dtype] = wide2[T](func(a, b float64) float64 { return math.Copysign(math.Atan2(a, b), a) }) // a quotient may vanish
	t[CopySign][dtype] = wide2[T](math.Copysign)
	t[NextAfter][dtype] = wide2[T](nextAfter)
	t[IsNaN][dtype] = unary(func(v T) bool { return v != v })
	t[Angle][dtype] = unary(func(v T) T {
		if v < 0 {
			return math.Pi
		}
		if v != v {
			return v
		}
		return 0
	})
	if dtype == tensor.Float32 {
		t[NextAfter][dtype] = binary(func(a, b float32) float32 {
			if a == b {
				return b
			}
			return math.Nextafter32(a, b)
		})
		t[Exp][dtype] = func(d, a, _, _ unsafe.Pointer, n int) {
			z, x, _ := slices3[float32, float32](d, a, a, n)
			for i := range z {
				z[i] = Exp32(x[i])
			}
		}
		t[Tanh][dtype], t[Log][dtype] = unary(Tanh32), unary(Log32)
	}
}

func FloatMod[T Float](a, b T) T {
	r := T(math.Mod(float64(a), float64(b)))
	if r != 0 && (b < 0) != (r < 0) {
		r += b
	}
	return r
}

// FloatFloorDiv is Python's floor division.
func FloatFloorDiv[T Float](a, b T) T {
	if b == 0 {
		return a / b
	}
	mod := T(math.Mod(float64(a), float64(b)))
	div := (a - mod) / b
	if mod != 0 && (b < 0) != (mod < 0) {
		div--
	}
	if div == 0 {
		return T(math.Copysign(0, float64(a/b)))
	}
	floor := T(math.Floor(float64(div)))
	if div-floor > 0.5 {
		floor++
	}
	return floor
}

// nextAfter is b where that is equal to a, also where the signs of two zeros differ.
func nextAfter(a, b float64) float64 {
	if a == b {
		return b
	}
	return math.Nextafter(a, b)
}

package expand

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// complexSamples holds pairs of special numbers and numbers of every exponent.
func complexSamples(n int) []complex64 {
	special := []float32{0, 1, 1.5, -2.5, 1e30, 1e-30, 3e38, 0x1p-149, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), float32(math.Copysign(0, -1))}
	var values []complex64
	for _, re := range special {
		for _, im := range special {
			values = append(values, complex(re, im))
		}
	}
	rng := rand.New(rand.NewPCG(2, 3))
	for len(values) < n {
		values = append(values, complex(float32(rng.NormFloat64()), float32(rng.NormFloat64())),
			complex(math.Float32frombits(rng.Uint32()), math.Float32frombits(rng.Uint32())))
	}
	return values
}

func sameParts(a, b complex128) bool {
	same := func(x, y float64) bool { return x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y }
	return same(real(a), real(b)) && same(imag(a), imag(b))
}

// TestComplexExpansionsAreExact compares with the evaluator, to the bit.
func TestComplexExpansionsAreExact(t *testing.T) {
	single := complexSamples(3000)
	other := make([]complex64, len(single))
	double, otherDouble := make([]complex128, len(single)), make([]complex128, len(single))
	for i := range single {
		other[i] = single[(i*7+3)%len(single)]
		double[i], otherDouble[i] = complex128(single[i])*(1+0x1p-40), complex128(other[i])
	}
	for _, op := range []kernel.Op{kernel.Add, kernel.Sub, kernel.Mul, kernel.Div, kernel.Neg, kernel.Conj} {
		for _, target := range targets {
			kernel := func(t tensor.DType) *kernel.Kernel {
				if op.Operands() == 1 {
					return unaryKernel(op, t)
				}
				return binaryKernel(op, t)
			}
			k := kernel(tensor.Complex64)
			in := []*tensor.Tensor{vector(t, single), vector(t, other)}[:op.Operands()]
			want := run[complex64](t, k, in...)
			for i, got := range run[complex64](t, For(k, target), in...) {
				if !sameParts(complex128(got), complex128(want[i])) {
					t.Fatalf("%s(%v, %v) = %v, want %v", op, single[i], other[i], got, want[i])
				}
			}
			k = kernel(tensor.Complex128)
			in = []*tensor.Tensor{vector(t, double), vector(t, otherDouble)}[:op.Operands()]
			wide := run[complex128](t, k, in...)
			for i, got := range run[complex128](t, For(k, target), in...) {
				if !sameParts(got, wide[i]) {
					t.Fatalf("%s(%v, %v) = %v, want %v", op, double[i], otherDouble[i], got, wide[i])
				}
			}
		}
	}
}

// TestComplexFunctions compares each part with the evaluator: 2 units in the last place for Abs and Sign, 4 for Exp.
func TestComplexFunctions(t *testing.T) {
	in := complexSamples(20000)
	near := func(got, want float32, ulps float64) bool {
		return ulpsApart(got, float64(want), spacing32) <= ulps || math.Abs(float64(got-want)) <= 0x1p-148
	}
	for op, ulps := range map[kernel.Op]float64{kernel.Exp: 4, kernel.Sign: 2} {
		k := unaryKernel(op, tensor.Complex64)
		want := run[complex64](t, k, vector(t, in))
		for i, got := range run[complex64](t, Expand(k), vector(t, in)) {
			if !near(real(got), real(want[i]), ulps) || !near(imag(got), imag(want[i]), ulps) {
				t.Fatalf("%s(%v) = %v, want %v", op, in[i], got, want[i])
			}
		}
	}
	k := unaryKernel(kernel.Abs, tensor.Complex64)
	want := run[float32](t, k, vector(t, in))
	for i, got := range run[float32](t, Expand(k), vector(t, in)) {
		if !near(got, want[i], 2) {
			t.Fatalf("abs(%v) = %v, want %v", in[i], got, want[i])
		}
	}
}

// TestComplexFunctionsOfParts compares functions that compute in float64 with the evaluator: each part of complex64 within 2 units in the last
// place, the parts of complex128 within 8 units of the larger one, where the result is not a power.
func TestComplexFunctionsOfParts(t *testing.T) {
	in := complexSamples(6000)
	double := make([]complex128, len(in))
	for i, z := range in {
		double[i] = complex128(z) * (1 + 0x1p-40)
	}
	for op := range kernel.NumOps {
		if expansions[op].complex == nil {
			continue
		}
		k, wide := unaryKernel(op, tensor.Complex64), unaryKernel(op, tensor.Complex128)
		for _, target := range targets {
			want := run[complex64](t, k, vector(t, in))
			for i, got := range run[complex64](t, For(k, target), vector(t, in)) {
				w := want[i]
				if ulpsApart(real(got), float64(real(w)), spacing32) > 2 || ulpsApart(imag(got), float64(imag(w)), spacing32) > 2 {
					t.Errorf("%s(%v) = %v, want %v", op, in[i], got, w)
				}
			}
			exact := run[complex128](t, wide, vector(t, double))
			for i, got := range run[complex128](t, For(wide, target), vector(t, double)) {
				if z := double[i]; max(math.Abs(real(z)), math.Abs(imag(z))) > 1e8 && op != kernel.Sqrt && op != kernel.Log && cmplx.Abs(z) < math.Inf(1) {
					continue // package math has too few digits of pi
				}
				ulps := 8.0
				if op == kernel.Tan || op == kernel.Tanh {
					ulps = 24 // package math drops digits of tangents of numbers below 1e-7
				}
				if !nearParts(got, exact[i], ulps) {
					t.Errorf("%s(%v) = %v, want %v", op, double[i], got, exact[i])
				}
			}
			if t.Failed() {
				return
			}
		}
	}
}

// TestComplexInverses compares with results of many digits: each part within 6 units in the last place.
func TestComplexInverses(t *testing.T) {
	for name, cases := range readExact(t, "testdata/complex.txt") {
		op := kernel.Op(slices.Index(kernel.OpNames[:], name))
		in := make([]complex128, len(cases))
		for i, c := range cases {
			in[i] = complex(c.args[0], c.args[1])
		}
		k := unaryKernel(op, tensor.Complex128)
		for _, k := range []*kernel.Kernel{k, Expand(k)} {
			for i, got := range run[complex128](t, k, vector(t, in)) {
				c := cases[i]
				re, im := exact{c.args, c.high, 0}, exact{c.args, c.low, 0}
				if r, j := re.off(op, real(got)), im.off(op, imag(got)); !(r <= 6 && j <= 6) {
					t.Errorf("%s%v = %v, want %v: %.3g and %.3g ulp", op, in[i], got, complex(c.high, c.low), r, j)
				}
			}
		}
	}
}

// nearParts compares complex numbers in units of the last place of the larger part. What is infinite or NaN must be so.
func nearParts(got, want complex128, ulps float64) bool {
	larger := 0.0
	for _, part := range []float64{real(want), imag(want)} {
		if a := math.Abs(part); a > larger && !math.IsInf(a, 0) {
			larger = a
		}
	}
	spacing := math.Ldexp(1, max(math.Ilogb(max(larger, 0x1p-1000)), -1000)-52)
	near := func(a, b float64) bool { return a == b || a != a && b != b || math.Abs(a-b) <= ulps*spacing }
	return near(real(got), real(want)) && near(imag(got), imag(want))
}

// TestComplexPowers compares powers: their error grows with the logarithm of the result.
func TestComplexPowers(t *testing.T) {
	x := complexSamples(4000)
	y := make([]complex64, len(x))
	for i := range y {
		y[i] = x[(i*11+5)%len(x)]
	}
	k := binaryKernel(kernel.Pow, tensor.Complex64)
	want := run[complex64](t, k, vector(t, x), vector(t, y))
	for i, got := range run[complex64](t, Expand(k), vector(t, x), vector(t, y)) {
		size := math.Hypot(float64(real(y[i])), float64(imag(y[i]))) * 100
		if size > 1e6 && size == size {
			continue // an angle of so many turns has no digits left
		}
		if !nearParts(complex128(got), complex128(want[i]), 0x1p30) {
			t.Errorf("%v**%v = %v, want %v", x[i], y[i], got, want[i])
		}
	}
}

// TestComplexConversions has kernels whose memory and values have different types.
func TestComplexConversions(t *testing.T) {
	types := []tensor.DType{tensor.Bool, tensor.Int32, tensor.Float32, tensor.Float64, tensor.Complex64, tensor.Complex128}
	data := vector(t, []complex64{0, 1, 2i, -3 + 4i, 100 - 0.5i})
	for _, memory := range types {
		for _, computed := range types {
			for _, result := range types {
				b := kernel.NewBuilder()
				b.Output(b.Input(memory, computed), result)
				in, err := data.To(memory)
				if err != nil {
					t.Fatal(err)
				}
				k := b.Kernel()
				got, want := runTensor(t, Expand(k), in), runTensor(t, k, in)
				for i := range in.Numel() {
					if got.At(i) != want.At(i) {
						t.Errorf("%s as %s as %s: element %d is %v, want %v", memory, computed, result, i, got.At(i), want.At(i))
					}
				}
			}
		}
	}
}

// runTensor evaluates a kernel of one input and one output.
func runTensor(t *testing.T, k *kernel.Kernel, in *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	p, err := kernel.NewProgram(k)
	if err != nil {
		t.Fatalf("%v\n%s", err, k)
	}
	out, err := tensor.Empty(in.Shape(), k.Outputs[0].DType)
	if err != nil {
		t.Fatal(err)
	}
	p.Run([]*tensor.Tensor{out, in}, nil)
	return out
}

package kernel

import (
	"math"
	"math/rand/v2"
	"testing"

	"torchjit/gojit/tensor"
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
	for _, op := range []Op{Add, Sub, Mul, Div, Neg, Conj} {
		for _, target := range targets {
			kernel := func(t tensor.DType) *Kernel {
				if op.Operands() == 1 {
					return unaryKernel(op, t)
				}
				return binaryKernel(op, t)
			}
			k := kernel(tensor.Complex64)
			in := []*tensor.Tensor{vector(t, single), vector(t, other)}[:op.Operands()]
			want := run[complex64](t, k, in...)
			for i, got := range run[complex64](t, ExpandFor(k, target), in...) {
				if !sameParts(complex128(got), complex128(want[i])) {
					t.Fatalf("%s(%v, %v) = %v, want %v", op, single[i], other[i], got, want[i])
				}
			}
			k = kernel(tensor.Complex128)
			in = []*tensor.Tensor{vector(t, double), vector(t, otherDouble)}[:op.Operands()]
			wide := run[complex128](t, k, in...)
			for i, got := range run[complex128](t, ExpandFor(k, target), in...) {
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
	for op, ulps := range map[Op]float64{Exp: 4, Sign: 2} {
		k := unaryKernel(op, tensor.Complex64)
		want := run[complex64](t, k, vector(t, in))
		for i, got := range run[complex64](t, Expand(k), vector(t, in)) {
			if !near(real(got), real(want[i]), ulps) || !near(imag(got), imag(want[i]), ulps) {
				t.Fatalf("%s(%v) = %v, want %v", op, in[i], got, want[i])
			}
		}
	}
	k := unaryKernel(Abs, tensor.Complex64)
	want := run[float32](t, k, vector(t, in))
	for i, got := range run[float32](t, Expand(k), vector(t, in)) {
		if !near(got, want[i], 2) {
			t.Fatalf("abs(%v) = %v, want %v", in[i], got, want[i])
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
				b := NewBuilder()
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
func runTensor(t *testing.T, k *Kernel, in *tensor.Tensor) *tensor.Tensor {
	t.Helper()
	p, err := NewProgram(k)
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

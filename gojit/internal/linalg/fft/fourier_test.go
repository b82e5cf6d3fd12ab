package fft

import (
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// definition is the transform of a row by its definition.
func definition[T Float](x []T, backward bool, scale float64) []complex128 {
	n := len(x) / 2
	y := make([]complex128, n)
	for k := range y {
		for j := range n {
			re, im := unit(j*k%n, n)
			if !backward {
				im = -im
			}
			y[k] += complex(float64(x[2*j]), float64(x[2*j+1])) * complex(re, im)
		}
		y[k] *= complex(scale, 0)
	}
	return y
}

func worst[T Float](got []T, want []complex128) (most float64) {
	largest := 1e-300
	for k, w := range want {
		most = max(most, cmplx.Abs(complex(float64(got[2*k]), float64(got[2*k+1]))-w))
		largest = max(largest, cmplx.Abs(w))
	}
	return most / largest
}

func targets() []asm.ISA {
	list := []asm.ISA{asm.None}
	for isa := asm.AVX2; isa <= min(asm.Host(), asm.Target()); isa++ {
		list = append(list, isa)
	}
	return list
}

func testRows[T Float](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	limit := 1e-6
	if unsafe.Sizeof(T(0)) == 8 {
		limit = 1e-14
	}
	for _, isa := range targets() {
		for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17, 20, 25, 31, 32, 60, 64, 97, 100, 128, 143, 210, 256, 289, 300, 343, 1000, 1009, 1024} {
			for _, count := range []int{1, 5, 16, 19} {
				if n > 300 && count > 5 && n != 1000 {
					continue
				}
				backward := r.IntN(2) == 0
				scale := []float64{1, 1 / float64(n), 0.3}[r.IntN(3)]
				in := make([]T, 2*n*count)
				for i := range in {
					in[i] = T(2*r.Float64() - 1)
				}
				out := make([]T, len(in))
				newPlan[T](isa, n, backward, scale).Transform(Rows[T]{Count: count, In: in, InStep: 2 * n, Out: out, OutStep: 2 * n, Keep: n})
				for _, row := range []int{0, count - 1} {
					want := definition(in[2*n*row:][:2*n], backward, scale)
					if e := worst(out[2*n*row:][:2*n], want); !(e < limit) {
						t.Fatalf("%v, %d rows of %d, backward %t, row %d: error %g", isa, count, n, backward, row, e)
					}
				}
			}
		}
	}
}

func TestTransform(t *testing.T) {
	t.Run("float32", testRows[float32])
	t.Run("float64", testRows[float64])
}

// Real rows give half of what complex ones do, and half a spectrum gives the real rows back.
func TestRealRows(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, isa := range targets() {
		for _, n := range []int{1, 2, 3, 8, 9, 16, 17, 33, 100, 600} {
			for _, count := range []int{1, 3, 20} {
				half := n/2 + 1
				in, out := make([]float64, n*count), make([]float64, 2*half*count)
				for i := range in {
					in[i] = r.Float64()
				}
				newPlan[float64](isa, n, false, 1).Transform(Rows[float64]{Count: count, In: in, InStep: n, Real: true, Out: out, OutStep: 2 * half, Keep: half})
				row := make([]float64, 2*n)
				for i := range n {
					row[2*i] = in[(count-1)*n+i]
				}
				if e := worst(out[(count-1)*2*half:], definition(row, false, 1)[:half]); !(e < 1e-14) {
					t.Fatalf("%v, %d rows of %d: error %g", isa, count, n, e)
				}
				back := make([]float64, n*count)
				newPlan[float64](isa, n, true, 1/float64(n)).Transform(Rows[float64]{Count: count, In: out, InStep: 2 * half, Half: true, Out: back, OutStep: n, Keep: n, RealParts: true})
				for i, v := range in {
					if math.Abs(back[i]-v) > 1e-14 {
						t.Fatalf("%v, %d rows of %d: element %d is %v, want %v", isa, count, n, i, back[i], v)
					}
				}
			}
		}
	}
}

func TestTransformDoesNotDependOnThreads(t *testing.T) {
	defer parallel.SetNumThreads(0)
	for _, count := range []int{1, 70} {
		const n = 6000
		in := make([]float32, 2*n*count)
		for i := range in {
			in[i] = float32(i%97) - 48
		}
		var first []float32
		for threads := 1; threads <= 3; threads++ {
			parallel.SetNumThreads(threads)
			out := make([]float32, len(in))
			PlanOf[float32](n, false, 1).Transform(Rows[float32]{Count: count, In: in, InStep: 2 * n, Out: out, OutStep: 2 * n, Keep: n})
			if first == nil {
				first = out
			}
			for i, v := range first {
				if out[i] != v {
					t.Fatalf("%d threads: element %d is %v, with one %v", threads, i, out[i], v)
				}
			}
		}
	}
}

func TestPlansAreBounded(t *testing.T) {
	for n := range 200 {
		PlanOf[float32](n+1, false, 1)
	}
	if len(plans.known) > keptPlans {
		t.Errorf("%d plans", len(plans.known))
	}
	if first := PlanOf[float32](200, false, 1); first != PlanOf[float32](200, false, 1) {
		t.Error("a plan is made twice")
	}
}

func BenchmarkTransform(b *testing.B) {
	defer parallel.SetNumThreads(0)
	parallel.SetNumThreads(1)
	for _, s := range [][2]int{{1000, 1000}, {1000, 1024}, {1000, 1009}, {1, 1000}, {1, 4096}, {1, 1 << 20}, {1000, 16}} {
		count, n := s[0], s[1]
		in, out := make([]float32, 2*n*count), make([]float32, 2*n*count)
		b.Run(fmt.Sprintf("%dx%d", count, n), func(b *testing.B) {
			for b.Loop() {
				PlanOf[float32](n, false, 1).Transform(Rows[float32]{Count: count, In: in, InStep: 2 * n, Out: out, OutStep: 2 * n, Keep: n})
			}
		})
	}
}

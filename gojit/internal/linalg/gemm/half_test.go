package gemm

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// randomHalves makes a product of whole numbers, whose results are exact.
func randomHalves[T Half](r *rand.Rand, m, n, k int, make16 func(float32) T) HalfProduct[T] {
	p := HalfProduct[T]{M: m, N: n, K: k, Batch: r.IntN(3), Add: r.IntN(2) == 0}
	matrix := func(rows, columns int, transposed bool) Matrix[T] {
		if transposed {
			rows, columns = columns, rows
		}
		x := Matrix[T]{Stride: columns + r.IntN(2)*r.IntN(5), Transposed: transposed}
		for range rows * x.Stride * max(p.Batch, 1) {
			x.Data = append(x.Data, make16(float32(r.IntN(9)-4)))
		}
		return x
	}
	p.A, p.B = matrix(m, k, r.IntN(3) == 0), matrix(k, n, r.IntN(2) == 0)
	p.C = Matrix[float32]{Data: linalgtest.Whole[float32](r, max(p.Batch, 1)*m*(n+1)), Stride: n + 1}
	p.StepA, p.StepB, p.StepC = len(p.A.Data)/max(p.Batch, 1), len(p.B.Data)/max(p.Batch, 1), m*(n+1)
	if r.IntN(2) == 0 {
		p.Bias = linalgtest.Whole[float32](r, n)
	}
	return p
}

// checkHalves compares a way to compute a product to the portable one.
func checkHalves[T Half](t *testing.T, p HalfProduct[T], run func(*HalfProduct[T])) {
	t.Helper()
	want := Product[float32]{M: p.M, N: p.N, K: p.K, A: float32s(p.A), B: float32s(p.B), C: p.C, Batch: p.Batch, StepA: p.StepA, StepB: p.StepB, StepC: p.StepC, Add: p.Add, Bias: p.Bias}
	want.C.Data = append([]float32(nil), p.C.Data...)
	for i := range max(p.Batch, 1) {
		want.portable(i)
	}
	run(&p)
	for i, v := range want.C.Data {
		if p.C.Data[i] != v {
			t.Fatalf("%T %dx%dx%d batch %d, strides %d %d, transposed %v %v, add %v, bias %v: element %d is %v, want %v", p, p.M, p.N, p.K, p.Batch,
				p.A.Stride, p.B.Stride, p.A.Transposed, p.B.Transposed, p.Add, p.Bias != nil, i, p.C.Data[i], v)
		}
	}
}

// TestProductsOfHalves goes through sizes around the edges of pairs, tiles and panels, between guard pages.
func TestProductsOfHalves(t *testing.T) {
	sizes := []int{1, 2, 3, 7, 8, 13, 15, 16, 17, 31, 32, 33, 65, 130}
	r := rand.New(rand.NewPCG(41, 42))
	pick := func() int { return sizes[r.IntN(len(sizes))] }
	for i := range 600 {
		m, n, k := pick(), pick(), pick()
		if i%100 == 0 {
			m, n, k = 60+i/10, 300, 1100+i/100
		}
		p := randomHalves(r, m, n, k, tensor.ToBF16)
		if i%10 == 1 {
			p.A.Data, p.B.Data, p.C.Data = linalgtest.Guarded(t, p.A.Data, i%20 == 1), linalgtest.Guarded(t, p.B.Data, i%20 == 1), linalgtest.Guarded(t, p.C.Data, i%20 == 1)
		}
		checkHalves(t, p, (*HalfProduct[tensor.BF16]).Run)
		for _, isa := range linalgtest.Sets() {
			checkHalves(t, p, func(p *HalfProduct[tensor.BF16]) { p.widened(isa) })
			q := randomHalves(r, m, n, k, tensor.ToF16)
			if i%10 == 1 {
				q.A.Data, q.B.Data, q.C.Data = linalgtest.Guarded(t, q.A.Data, i%20 == 1), linalgtest.Guarded(t, q.B.Data, i%20 == 1), linalgtest.Guarded(t, q.C.Data, i%20 == 1)
			}
			checkHalves(t, q, func(p *HalfProduct[tensor.F16]) { p.widened(isa) })
		}
	}
}

// TestProductsOfHalvesDoNotDependOnThreads compares bits.
func TestProductsOfHalvesDoNotDependOnThreads(t *testing.T) {
	halvesOnThreads(t, tensor.ToBF16)
	halvesOnThreads(t, tensor.ToF16)
}

func halvesOnThreads[T Half](t *testing.T, make16 func(float32) T) {
	defer parallel.SetNumThreads(0)
	r := rand.New(rand.NewPCG(43, 44))
	for _, transposed := range []bool{false, true} {
		p := HalfProduct[T]{M: 200, N: 300, K: 401, A: Matrix[T]{Stride: 401}, B: Matrix[T]{Stride: 401, Transposed: transposed}}
		for range 401 * 401 {
			p.A.Data, p.B.Data = append(p.A.Data, make16(r.Float32())), append(p.B.Data, make16(r.Float32()))
		}
		var first []float32
		for threads := 1; threads <= 4; threads++ {
			parallel.SetNumThreads(threads)
			p.C = Matrix[float32]{Data: make([]float32, 200*300), Stride: 300}
			p.Run()
			if first == nil {
				first = p.C.Data
			}
			for i := range first {
				if p.C.Data[i] != first[i] {
					t.Fatalf("with %d threads element %d is %v, with one %v", threads, i, p.C.Data[i], first[i])
				}
			}
		}
	}
}

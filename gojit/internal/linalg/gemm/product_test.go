package gemm

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// randomProduct makes a product of whole numbers, whose results are exact in any order of additions.
func randomProduct[T Float](r *rand.Rand, m, n, k int) Product[T] {
	p := Product[T]{M: m, N: n, K: k, Batch: r.IntN(3), Add: r.IntN(2) == 0, Relu: r.IntN(4) == 0, BiasOfRows: r.IntN(2) == 0}
	matrix := func(rows, columns int, transposed bool) Matrix[T] {
		if transposed {
			rows, columns = columns, rows
		}
		x := Matrix[T]{Stride: columns + r.IntN(2)*r.IntN(5), Transposed: transposed}
		x.Data = make([]T, rows*x.Stride*max(p.Batch, 1))
		for i := range x.Data {
			x.Data[i] = T(r.IntN(9) - 4)
		}
		return x
	}
	p.A, p.B, p.C = matrix(m, k, r.IntN(2) == 0), matrix(k, n, r.IntN(2) == 0), matrix(m, n, false)
	p.StepA, p.StepB, p.StepC = len(p.A.Data)/max(p.Batch, 1), len(p.B.Data)/max(p.Batch, 1), len(p.C.Data)/max(p.Batch, 1)
	if r.IntN(2) == 0 {
		p.Bias = make([]T, max(m, n))
		for i := range p.Bias {
			p.Bias[i] = T(r.IntN(5) - 2)
		}
	}
	if r.IntN(3) == 0 {
		p.Residual = linalgtest.Whole[T](r, len(p.C.Data))
	}
	if p.Bias != nil && p.Residual != nil && r.IntN(2) == 0 {
		p.Epilogue, p.BiasOfRows, p.Relu = exactEpilogue[T](), false, false
	}
	return p
}

func exactEpilogue[T Float]() *Epilogue {
	e, err := NewEpilogue(linalgtest.ExactEpilogue[T]())
	if err != nil {
		panic(err)
	}
	return e
}

func checkProduct[T Float](t *testing.T, p Product[T], isa asm.ISA) {
	t.Helper()
	want := p
	want.C.Data = append([]T(nil), p.C.Data...)
	for i := range max(p.Batch, 1) {
		want.portable(i)
	}
	if p.Epilogue != nil && isa != asm.Target() { // it is made for the target
		return
	}
	p.generated(isa)
	for i, v := range want.C.Data {
		if p.C.Data[i] != v {
			t.Fatalf("%v %dx%dx%d batch %d, strides %d %d %d, transposed %v %v, residual %v epilogue %v add %v relu %v bias %v rows %v: element %d is %v, want %v", isa, p.M, p.N, p.K, p.Batch,
				p.A.Stride, p.B.Stride, p.C.Stride, p.A.Transposed, p.B.Transposed, p.Residual != nil, p.Epilogue != nil, p.Add, p.Relu, p.Bias != nil, p.BiasOfRows, i, p.C.Data[i], v)
		}
	}
}

// TestGeneratedProductsAgreeWithPortable goes through sizes around the edges of tiles, panels and blocks.
func TestGeneratedProductsAgreeWithPortable(t *testing.T) {
	sizes := []int{1, 2, 3, 4, 5, 7, 8, 9, 13, 14, 15, 16, 17, 29, 31, 32, 33, 47, 64, 65, 100, 129}
	r := rand.New(rand.NewPCG(1, 2))
	pick := func() int { return sizes[r.IntN(len(sizes))] }
	for _, isa := range linalgtest.Sets() {
		for range 700 {
			m, n, k := pick(), pick(), pick()
			checkProduct(t, randomProduct[float32](r, m, n, k), isa)
			checkProduct(t, randomProduct[float64](r, m, n, k), isa)
		}
		for _, s := range [][3]int{{1, 300, 1100}, {20, 700, 1500}, {150, 530, 70}, {250, 300, 1030}, {13, 1000, 600}, {127, 1, 2000}, {40, 520, 1024}} {
			for range 4 {
				checkProduct(t, randomProduct[float32](r, s[0], s[1], s[2]), isa)
				checkProduct(t, randomProduct[float64](r, s[0], s[1], s[2]), isa)
			}
		}
	}
}

// TestProductsDoNotDependOnThreads compares bits.
func TestProductsDoNotDependOnThreads(t *testing.T) {
	defer parallel.SetNumThreads(0)
	r := rand.New(rand.NewPCG(3, 4))
	for _, s := range [][3]int{{300, 300, 300}, {14, 2000, 300}, {1, 3000, 1500}, {500, 40, 200}, {8, 900, 1000}} {
		for _, transposed := range []bool{false, true} {
			p := randomProduct[float32](r, s[0], s[1], s[2])
			p.Batch, p.B.Transposed = 1, transposed
			p.B.Stride = s[1]
			if transposed {
				p.B.Stride = s[2]
			}
			p.B.Data = make([]float32, s[1]*s[2])
			for _, x := range [][]float32{p.A.Data, p.B.Data, p.C.Data} {
				for i := range x {
					x[i] = r.Float32()
				}
			}
			start, first := append([]float32(nil), p.C.Data...), []float32(nil)
			for threads := 1; threads <= 5; threads++ {
				parallel.SetNumThreads(threads)
				copy(p.C.Data, start)
				p.Run()
				if first == nil {
					first = append(first, p.C.Data...)
				}
				for i := range first {
					if p.C.Data[i] != first[i] {
						t.Fatalf("%v: with %d threads element %d is %v, with one %v", s, threads, i, p.C.Data[i], first[i])
					}
				}
			}
		}
	}
}

func BenchmarkProduct(b *testing.B) {
	defer parallel.SetNumThreads(0)
	parallel.SetNumThreads(1)
	r := rand.New(rand.NewPCG(5, 6))
	for _, s := range [][4]int{{1, 4, 4, 4}, {1, 32, 32, 32}, {1, 64, 64, 64}, {1, 128, 128, 128}, {1, 256, 256, 256}, {1, 512, 512, 512}, {1, 1024, 1024, 1024}, {1, 2048, 2048, 2048},
		{1, 1, 1024, 1024}, {1, 8, 3072, 768}, {1, 128, 3072, 768}, {12, 128, 128, 64}} {
		for _, transposed := range []bool{false, true} {
			batch, m, n, k := s[0], s[1], s[2], s[3]
			p := Product[float32]{M: m, N: n, K: k, Batch: batch, StepA: m * k, StepB: n * k, StepC: m * n}
			for _, x := range []*[]float32{&p.A.Data, &p.B.Data, &p.C.Data} {
				*x = make([]float32, batch*max(m*k, n*k, m*n))
				for i := range *x {
					(*x)[i] = r.Float32()
				}
			}
			p.A.Stride, p.B.Stride, p.C.Stride = k, n, n
			if transposed {
				p.B.Stride, p.B.Transposed = k, true
			}
			b.Run(fmt.Sprintf("%dx%dx%dx%d/%v", batch, m, n, k, transposed), func(b *testing.B) {
				for b.Loop() {
					p.Run()
				}
				b.ReportMetric(2*float64(batch*m*n*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOPS")
			})
		}
	}
}

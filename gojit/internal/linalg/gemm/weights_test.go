package gemm

import (
	"github.com/torchjit/torchjit/gojit/internal/linalg/linalgtest"
	"math/rand/v2"
	"testing"
)

// checkWeights compares a product with packed weights to the portable one.
func checkWeights[T Float](t *testing.T, r *rand.Rand, rows, m, n, k int) {
	t.Helper()
	p := randomProduct[T](r, m, n, k)
	p.Batch, p.Relu, p.BiasOfRows, p.Residual, p.Epilogue = 1, false, false, nil, nil
	p.A = Matrix[T]{Data: linalgtest.Whole[T](r, m*(k+3)), Stride: k + 3}
	if p.Bias != nil {
		p.Bias = linalgtest.Whole[T](r, n)
	}
	want := p
	want.C.Data = append([]T(nil), p.C.Data...)
	want.portable(0)
	w := PackWeights(p.B, k, n, rows, make([]T, PackedSize[T](k, n)))
	if w.packed == nil && len(linalgtest.Sets()) > 0 {
		t.Fatal("not packed")
	}
	var sweep Sweep
	before := append([]T(nil), p.C.Data...)
	for range 2 { // from the beginning, and from the end
		copy(p.C.Data, before)
		w.Multiply(m, p.A, p.C, p.Add, p.Bias, &sweep)
		for i, v := range want.C.Data {
			if p.C.Data[i] != v {
				t.Fatalf("%dx%dx%d, packed for %d rows, transposed %v, add %v, bias %v: element %d is %v, want %v", m, n, k, rows, p.B.Transposed, p.Add, p.Bias != nil, i, p.C.Data[i], v)
			}
		}
	}
}

// TestPackedWeightsAgreeWithPortable uses weights for fewer and for more rows than they were packed for.
func TestPackedWeightsAgreeWithPortable(t *testing.T) {
	sizes := []int{1, 2, 7, 8, 13, 14, 15, 16, 17, 33, 65, 100, 257}
	r := rand.New(rand.NewPCG(31, 32))
	pick := func() int { return sizes[r.IntN(len(sizes))] }
	for range 300 {
		checkWeights[float32](t, r, pick(), pick(), pick(), pick())
		checkWeights[float64](t, r, pick(), pick(), pick(), pick())
	}
	checkWeights[float32](t, r, 20, 20, 1100, 300) // on several threads
}

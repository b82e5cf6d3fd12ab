package gemm

import (
	"math/rand/v2"
	"testing"
)

// TestComplexProductsAgreeWithPortable multiplies whole numbers, whose products are exact.
func TestComplexProductsAgreeWithPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	sizes := []int{1, 2, 3, 5, 16, 17, 33, 70}
	pick := func() int { return sizes[r.IntN(len(sizes))] }
	for range 400 {
		m, n, k := pick(), pick(), pick()
		p := Product[complex64]{M: m, N: n, K: k, Batch: r.IntN(3), Add: r.IntN(2) == 0}
		count := max(p.Batch, 1)
		matrix := func(rows, columns int, transposed bool) (Matrix[complex64], int) {
			if transposed {
				rows, columns = columns, rows
			}
			x := Matrix[complex64]{Stride: columns + r.IntN(2)*r.IntN(3), Transposed: transposed}
			x.Data = make([]complex64, rows*x.Stride*count)
			for i := range x.Data {
				x.Data[i] = complex(float32(r.IntN(9)-4), float32(r.IntN(9)-4))
			}
			return x, rows * x.Stride
		}
		p.A, p.StepA = matrix(m, k, r.IntN(2) == 0)
		p.B, p.StepB = matrix(k, n, r.IntN(2) == 0)
		p.C, p.StepC = matrix(m, n, false)
		if r.IntN(3) == 0 {
			bias, _ := matrix(1, n, false)
			p.Bias = bias.Data
		}
		want := p
		want.C.Data = append([]complex64(nil), p.C.Data...)
		for i := range count {
			want.portable(i)
		}
		p.Run()
		for i, v := range want.C.Data {
			if p.C.Data[i] != v {
				t.Fatalf("%dx%dx%d batch %d transposed %t %t add %t bias %t: element %d is %v, want %v", m, n, k, p.Batch, p.A.Transposed, p.B.Transposed, p.Add, p.Bias != nil, i, p.C.Data[i], v)
			}
		}
	}
}

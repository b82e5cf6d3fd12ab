package conv

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Products and convolutions of integers of any size wrap around as the definition does.
func TestProductsOfIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(71, 72))
	for _, size := range []uint{3, 20, 40, 63} {
		const m, n, k = 25, 20, 30
		random := func(count int) []int64 {
			x := make([]int64, count)
			for i := range x {
				x[i] = r.Int64()>>(63-size) - 1<<(size-1)
			}
			return x
		}
		a, b := random(m*k), random(k*n)
		c := tensor.Data[int64](linalg.Mm(source.Must(tensor.FromSlice(a, m, k)), source.Must(tensor.FromSlice(b, k, n))))
		for i := range m {
			for j := range n {
				var want int64
				for p := range k {
					want += a[i*k+p] * b[p*n+j]
				}
				if c[i*n+j] != want {
					t.Fatalf("%d bits: element %d %d is %d, want %d", size, i, j, c[i*n+j], want)
				}
			}
		}
		x, w := random(2*50), random(3*2*4)
		out := tensor.Data[int64](Convolution(source.Must(tensor.FromSlice(x, 1, 2, 50)), source.Must(tensor.FromSlice(w, 3, 2, 4)), nil, ConvArgs{Stride: []int{1}, Padding: []int{0}, Dilation: []int{1}, Groups: 1}))
		for o := range 3 {
			for at := range 47 {
				var want int64
				for c := range 2 {
					for q := range 4 {
						want += x[c*50+at+q] * w[(o*2+c)*4+q]
					}
				}
				if out[o*47+at] != want {
					t.Fatalf("%d bits: output %d %d is %d, want %d", size, o, at, out[o*47+at], want)
				}
			}
		}
	}
}

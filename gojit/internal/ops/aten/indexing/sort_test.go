package indexing

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The first elements of a row are those that sorting the row gives, with the same indices for equal ones.
func TestFirstElementsAreThoseOfSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		d := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int16, tensor.Float16}[rng.IntN(5)]
		x := define.Empty([]int{3, 1 + rng.IntN(200)}, tensor.Float64)
		for i := range tensor.Data[float64](x) {
			tensor.Data[float64](x)[i] = float64(rng.IntN(9) - 4)
			if d.IsFloating() && rng.IntN(10) == 0 {
				tensor.Data[float64](x)[i] = math.NaN()
			}
		}
		x = elementwise.To(x, d)
		k, largest := rng.IntN(min(x.Size(1), 70)+1), rng.IntN(2) == 0
		values, indices := TopK(x, k, 1, largest)
		_, order := SortAlong(x, 1, largest)
		opstest.ForEachIndex(indices.Shape(), func(at []int) {
			i := order.At(at...).Int64()
			want := x.At(at[0], int(i)).Float64()
			if got := values.At(at...).Float64(); indices.At(at...).Int64() != i || got != want && !(got != got && want != want) {
				t.Fatalf("%d first of %v, largest %v: element %v is %v at %v, want %v at %v", k, x, largest, at, got, indices.At(at...).Int64(), want, i)
			}
		})
	}
}

// Rows of every type and of lengths for each way of sorting come in order, equal elements in theirs.
func TestOrderIsStable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, d := range []tensor.DType{tensor.Bool, tensor.Uint8, tensor.Int8, tensor.Int16, tensor.Int32, tensor.Int64, tensor.Float16, tensor.BFloat16, tensor.Float32, tensor.Float64} {
		for _, n := range []int{1, 2, 24, 25, 300} {
			x := define.Empty([]int{n}, tensor.Float64)
			for i := range tensor.Data[float64](x) {
				tensor.Data[float64](x)[i] = []float64{float64(rng.IntN(7)), rng.Float64() * 1e18, math.Copysign(0, -1), math.NaN()}[rng.IntN(4)]
				if !d.IsFloating() && x.At(i).Float64() != x.At(i).Float64() {
					tensor.Data[float64](x)[i] = 3
				}
			}
			x = elementwise.To(x, d)
			values, indices := SortAlong(x, 0, false)
			for i := 1; i < n; i++ {
				a, b := values.At(i-1).Float64(), values.At(i).Float64()
				if a > b || a != a && b == b || (a == b || a != a) && indices.At(i-1).Int64() >= indices.At(i).Int64() {
					t.Fatalf("%v elements of %v: %v at %v before %v at %v", n, d, a, indices.At(i-1), b, indices.At(i))
				}
			}
		}
	}
}

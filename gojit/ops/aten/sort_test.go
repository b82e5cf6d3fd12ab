package aten

import (
	"math"
	"math/rand/v2"
	"testing"

	"torchjit/gojit/tensor"
)

// The first elements of a row are those that sorting the row gives, with the same indices for equal ones.
func TestFirstElementsAreThoseOfSorting(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		d := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Int16, tensor.Float16}[rng.IntN(5)]
		x := empty([]int{3, 1 + rng.IntN(60)}, tensor.Float64)
		for i := range tensor.Data[float64](x) {
			tensor.Data[float64](x)[i] = float64(rng.IntN(9) - 4)
			if d.IsFloating() && rng.IntN(10) == 0 {
				tensor.Data[float64](x)[i] = math.NaN()
			}
		}
		x = to(x, d)
		k, largest := rng.IntN(x.Size(1)+1), rng.IntN(2) == 0
		values, indices := topK(x, k, 1, largest)
		_, order := sortAlong(x, 1, largest)
		forEachIndex(indices.Shape(), func(at []int) {
			i := order.At(at...).Int64()
			want := x.At(at[0], int(i)).Float64()
			if got := values.At(at...).Float64(); indices.At(at...).Int64() != i || got != want && !(got != got && want != want) {
				t.Fatalf("%d first of %v, largest %v: element %v is %v at %v, want %v at %v", k, x, largest, at, got, indices.At(at...).Int64(), want, i)
			}
		})
	}
}

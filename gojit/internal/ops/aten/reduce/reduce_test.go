package reduce

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Sums over any dimensions of any layout agree with sums element by element; whole numbers are exact.
func TestSumsOverDimensions(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		d := []tensor.DType{tensor.Float32, tensor.Float64, tensor.Int64, tensor.Uint8, tensor.Bool}[rng.IntN(5)]
		shape := make([]int, 1+rng.IntN(4))
		for i := range shape {
			shape[i] = 1 + rng.IntN(40/len(shape))
		}
		data := make([]int64, define.NumelOf(shape))
		for i := range data {
			data[i] = int64(rng.IntN(4))
		}
		x, err := tensor.FromSlice(data, shape...)
		if err != nil {
			t.Fatal(err)
		}
		x = elementwise.To(x, d)
		if rng.IntN(3) == 0 {
			x = source.Must(x.Permute(rng.Perm(len(shape))...))
		}
		var dims []int
		for i := range shape {
			if rng.IntN(2) == 0 {
				dims = append(dims, i)
			}
		}
		got := Sum(x, dims, false, SumType(d))
		want := sumsByElement(x, dims)
		opstest.ForEachIndex(got.Shape(), func(at []int) {
			if v := got.At(at...).Float64(); v != want[fmt.Sprint(at)] {
				t.Fatalf("%s %v over %v at %v: %v, want %v", d, x.Shape(), dims, at, v, want[fmt.Sprint(at)])
			}
		})
	}
}

func sumsByElement(x *tensor.Tensor, dims []int) map[string]float64 {
	reduced, sums := ReducedDims(x, dims), map[string]float64{}
	opstest.ForEachIndex(x.Shape(), func(at []int) {
		kept := []int{}
		for i, n := range at {
			if !reduced[i] {
				kept = append(kept, n)
			}
		}
		sums[fmt.Sprint(kept)] += x.At(at...).Float64()
	})
	return sums
}

// TestComplexSumsOfNothing: results without elements, and sums of no elements.
func TestComplexSumsOfNothing(t *testing.T) {
	for _, shape := range [][]int{{0, 3}, {3, 0}} {
		x := define.Empty(shape, tensor.Complex64)
		got := Sum(x, []int{1}, false, tensor.Complex64)
		if got.Numel() != shape[0] || got.Numel() > 0 && got.At(2).Complex128() != 0 {
			t.Errorf("sums of %v: %v", shape, got)
		}
	}
}

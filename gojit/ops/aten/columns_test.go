package aten

import (
	"math"
	"math/rand/v2"
	"testing"

	"torchjit/gojit/tensor"
)

// What goes by columns gives what it gives for the same elements in rows.
func TestColumnsAgreeWithRows(t *testing.T) {
	pairOf := func(f func(t *tensor.Tensor, dim int) (*tensor.Tensor, *tensor.Tensor)) [2]func(*tensor.Tensor, int) *tensor.Tensor {
		return [2]func(*tensor.Tensor, int) *tensor.Tensor{
			func(t *tensor.Tensor, dim int) *tensor.Tensor { v, _ := f(t, dim); return v },
			func(t *tensor.Tensor, dim int) *tensor.Tensor { _, v := f(t, dim); return v },
		}
	}
	variance := pairOf(func(t *tensor.Tensor, dim int) (*tensor.Tensor, *tensor.Tensor) {
		return moments(t, []int{dim}, 1, true, false)
	})
	largest := pairOf(func(t *tensor.Tensor, dim int) (*tensor.Tensor, *tensor.Tensor) {
		return extremes("max", t, []int{dim}, true, false)
	})
	for name, f := range map[string]func(t *tensor.Tensor, dim int) *tensor.Tensor{
		"softmax": softmax, "log_softmax": logSoftmax, "var": variance[0], "mean": variance[1], "max": largest[0], "argmax": largest[1],
		"logsumexp": func(t *tensor.Tensor, dim int) *tensor.Tensor { return logSumExp(t, []int{dim}, true) },
		"cumsum":    func(t *tensor.Tensor, dim int) *tensor.Tensor { return sumScanner.along(t, dim, t.DType()) },
		"cumprod":   func(t *tensor.Tensor, dim int) *tensor.Tensor { return productScanner.along(t, dim, t.DType()) },
		"cumsum.i8": func(t *tensor.Tensor, dim int) *tensor.Tensor { return sumScanner.along(t, dim, tensor.Int8) },
	} {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, shape := range [][]int{{1, 16}, {5, 17}, {2, 7, 40}, {3, 4, 5, 6}, {9, 2100}, {3, 1000, 3}} {
			for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
				x := empty(shape, tensor.Float64)
				for i := range tensor.Data[float64](x) {
					tensor.Data[float64](x)[i] = float64(rng.IntN(9)) / 4
				}
				tensor.Data[float64](x)[rng.IntN(x.Numel())] = math.NaN()
				x = to(x, d)
				dim := len(shape) - 2
				got := f(x, dim)
				turned := f(contiguous(must(x.Transpose(dim, dim+1))), dim+1)
				tolerance := map[tensor.DType]float64{tensor.Float32: 2e-6, tensor.Float64: 1e-14, tensor.BFloat16: 1e-2}[d]
				forEachIndex(got.Shape(), func(at []int) {
					v := got.At(at...).Float64()
					at[dim], at[dim+1] = at[dim+1], at[dim]
					want := turned.At(at...).Float64()
					at[dim], at[dim+1] = at[dim+1], at[dim]
					if v != want && !(v != v && want != want) && !(math.Abs(v-want) <= tolerance*max(1, math.Abs(want))) {
						t.Fatalf("%s of %s %v at %v: %v, in rows %v", name, d, shape, at, v, want)
					}
				})
			}
		}
	}
}

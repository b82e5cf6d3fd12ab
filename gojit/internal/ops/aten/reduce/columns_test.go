package reduce

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
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
		return Moments(t, []int{dim}, 1, true, false)
	})
	largest := pairOf(func(t *tensor.Tensor, dim int) (*tensor.Tensor, *tensor.Tensor) {
		return extremes("max", t, []int{dim}, true, false)
	})
	for name, f := range map[string]func(t *tensor.Tensor, dim int) *tensor.Tensor{
		"softmax": Softmax, "log_softmax": LogSoftmax, "var": variance[0], "mean": variance[1], "max": largest[0], "argmax": largest[1],
		"logsumexp": func(t *tensor.Tensor, dim int) *tensor.Tensor { return logSumExp(t, []int{dim}, true) },
		"sum":       func(t *tensor.Tensor, dim int) *tensor.Tensor { return Sum(t, []int{dim}, true, t.DType()) },
		"prod":      func(t *tensor.Tensor, dim int) *tensor.Tensor { return product(t, []int{dim}, true, t.DType()) },
		"cumsum":    func(t *tensor.Tensor, dim int) *tensor.Tensor { return SumScanner.Along(t, dim, t.DType()) },
		"cumprod":   func(t *tensor.Tensor, dim int) *tensor.Tensor { return productScanner.Along(t, dim, t.DType()) },
		"cumsum.i8": func(t *tensor.Tensor, dim int) *tensor.Tensor { return SumScanner.Along(t, dim, tensor.Int8) },
	} {
		rng := rand.New(rand.NewPCG(5, 6))
		for _, shape := range [][]int{{1, 16}, {5, 17}, {2, 7, 40}, {3, 4, 5, 6}, {9, 2100}, {3, 1000, 3}, {2, 400, 33}, {70, 3, 16}, {64, 7, 20}} {
			for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
				x := define.Empty(shape, tensor.Float64)
				for i := range tensor.Data[float64](x) {
					tensor.Data[float64](x)[i] = float64(rng.IntN(9)) / 4
				}
				tensor.Data[float64](x)[rng.IntN(x.Numel())] = math.NaN()
				x = elementwise.To(x, d)
				dim := len(shape) - 2
				got := f(x, dim)
				turned := f(elementwise.Contiguous(source.Must(x.Transpose(dim, dim+1))), dim+1)
				tolerance := map[tensor.DType]float64{tensor.Float32: 2e-6, tensor.Float64: 1e-14, tensor.BFloat16: 1e-2}[d]
				opstest.ForEachIndex(got.Shape(), func(at []int) {
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

// Many blocks of few rows: sums and extremes of whole numbers are exact.
func TestManyBlocksOfFewRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for rows := 1; rows <= 9; rows++ {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Int64, tensor.Uint8, tensor.BFloat16, tensor.Bool} {
			numbers := define.Empty([]int{80, rows, 17}, tensor.Int64)
			for i := range tensor.Data[int64](numbers) {
				tensor.Data[int64](numbers)[i] = int64(rng.IntN(20))
			}
			x := elementwise.To(numbers, d)
			got, want := Sum(x, []int{1}, false, SumType(d)), sumsByElement(x, []int{1})
			opstest.ForEachIndex(got.Shape(), func(at []int) {
				if v := got.At(at...).Float64(); v != want[fmt.Sprint(at)] {
					t.Fatalf("%d rows of %s: sum %v at %v, want %v", rows, d, v, at, want[fmt.Sprint(at)])
				}
			})
			largest := maxReducer.Reduce(x, []int{1}, false, kernel.ComputeType(d), d)
			opstest.ForEachIndex(largest.Shape(), func(at []int) {
				most := 0.0
				for i := range rows {
					most = max(most, x.At(at[0], i, at[1]).Float64())
				}
				if v := largest.At(at...).Float64(); v != most {
					t.Fatalf("%d rows of %s: maximum %v at %v, want %v", rows, d, v, at, most)
				}
			})
		}
	}
}

// Over the first and the last dimension, the logarithm of a sum of exponentials is that of a copy that has both at the end.
func TestLogSumExpOfFirstAndLast(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16} {
		x := define.Empty([]int{5, 3, 40}, tensor.Float64)
		for i := range tensor.Data[float64](x) {
			tensor.Data[float64](x)[i] = rng.NormFloat64() * 3
		}
		tensor.Data[float64](x)[45] = math.Inf(1)
		x = elementwise.To(x, d)
		got := logSumExp(x, []int{2, 0}, true)
		want := logSumExp(elementwise.Contiguous(source.Must(x.Permute(1, 0, 2))), []int{1, 2}, false)
		for i := range 3 {
			if g, w := got.At(0, i, 0).Float64(), want.At(i).Float64(); g != w && !(math.Abs(g-w) <= 2e-6*math.Abs(w)) {
				t.Errorf("%s: %v, want %v", d, g, w)
			}
		}
	}
}

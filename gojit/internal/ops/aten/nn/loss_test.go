package nn

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// shares makes numbers from 0.05 to 0.95.
func shares(rng *rand.Rand, shape []int, d tensor.DType) *tensor.Tensor {
	x := define.Empty(shape, tensor.Float64)
	for i := range tensor.Data[float64](x) {
		tensor.Data[float64](x)[i] = 0.05 + 0.9*rng.Float64()
	}
	return elementwise.To(x, d)
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance*max(1, math.Abs(b)) }

// A loss of all elements is the mean or sum of the losses of each, whether they lie alike or not.
func TestLossesInOnePass(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for _, p := range []*elementwise.Operator{squareError, absoluteError, softMargin, crossEntropyOfUnit, crossEntropyOfLogit, divergence, divergenceOfLogs} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16} {
			x, y := shares(rng, []int{70, 70}, d), shares(rng, []int{70, 70}, d)
			for _, ts := range [][]*tensor.Tensor{define.Pair(x, y), define.Pair(source.Must(x.Transpose(0, 1)), y), define.Pair(x, source.Must(y.Narrow(0, 3, 1)))} {
				for how := range 3 {
					got, want := lossOf(p, how, ts), reduced(p.On(ts...), how)
					tolerance := map[tensor.DType]float64{tensor.Float32: 1e-6, tensor.Float64: 1e-14, tensor.Float16: 0}[d]
					if a, b := reduce.Sum(got, nil, false, d).At().Float64(), reduce.Sum(want, nil, false, d).At().Float64(); !near(a, b, tolerance) {
						t.Errorf("%s of %s reduced by %d: %v, want %v", p.Name, d, how, a, b)
					}
				}
			}
		}
	}
}

// The cross entropy of labels is the negative log likelihood of log_softmax.
func TestCrossEntropyOfLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, shape := range [][]int{{5}, {4, 7}, {200, 3}, {3, 5, 20}, {2, 6, 3, 2}, {2, 4, 5, 5}} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
			x, classes := shares(rng, shape, d), shape[min(1, len(shape)-1)]
			var places []int
			if len(shape) > 1 {
				places = append([]int{shape[0]}, shape[2:]...)
			}
			target := define.Empty(places, tensor.Int64)
			for i := range tensor.Data[int64](target) {
				tensor.Data[int64](target)[i] = int64(rng.IntN(classes))
			}
			weight := shares(rng, []int{classes}, d)
			for how := range 3 {
				for _, w := range []*tensor.Tensor{nil, weight} {
					got := crossEntropy(x, target, w, how, 1, 0)
					want := nllLossNd(reduce.LogSoftmax(x, min(1, len(shape)-1)), target, w, how, 1, false)
					opstest.ForEachIndex(want.Shape(), func(at []int) {
						tolerance := map[tensor.DType]float64{tensor.Float32: 1e-6, tensor.Float64: 1e-14, tensor.BFloat16: 0.02}[d]
						a, b := got.At(at...).Float64(), want.At(at...).Float64()
						if !near(a, b, tolerance) && !(a != a && b != b) {
							t.Errorf("%s %v reduced by %d: %v, want %v", d, shape, how, a, b)
						}
					})
				}
			}
		}
	}
}

// What rows of logits lose against labels does not depend on how they lie.
func TestLossOfLabels(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for _, rows := range []int{1, 64, 200} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64} {
			x := shares(rng, []int{rows, 5}, d)
			turned := source.Must(elementwise.Contiguous(source.Must(x.Transpose(0, 1))).Transpose(0, 1))
			labels := define.Empty([]int{rows}, tensor.Int64)
			for i := range rows {
				tensor.Data[int64](labels)[i] = int64(i % 5)
			}
			for _, ignore := range []int{-100, 0} {
				for _, how := range []int{reduceMean, reduceSum} {
					got, want := crossEntropy(x, labels, nil, how, ignore, 0), crossEntropy(turned, labels, nil, how, ignore, 0)
					if a, b := got.At().Float64(), want.At().Float64(); a != b && !(math.IsNaN(a) && math.IsNaN(b)) {
						t.Errorf("%d rows of %s, ignoring %d, reduced by %d: %v, want %v", rows, d, ignore, how, a, b)
					}
				}
			}
		}
	}
}

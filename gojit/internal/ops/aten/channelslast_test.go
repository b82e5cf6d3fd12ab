package aten

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Operators on images whose channels lie together give what they give on others, and keep the layout.
func TestChannelsLastStay(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	x := opstest.RandomTensor(r, tensor.Float32, 2, 6, 9, 7)
	last := must(x.Clone(tensor.ChannelsLast))
	w, v := opstest.RandomTensor(r, tensor.Float32, 6), opstest.RandomTensor(r, tensor.Float32, 6)
	convolve2d := func(weight *tensor.Tensor, groups int) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			return convolution(x, weight, v, convArgs{stride: []int{2, 1}, padding: []int{1, 1}, dilation: []int{1, 1}, groups: groups})
		}
	}
	full, single := opstest.RandomTensor(r, tensor.Float32, 6, 6, 3, 3), opstest.RandomTensor(r, tensor.Float32, 6, 1, 3, 3)
	for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"convolution":               convolve2d(full, 1),
		"of weights in that layout": convolve2d(must(full.Clone(tensor.ChannelsLast)), 1),
		"of each channel":           convolve2d(single, 6),
		"max_pool":                  func(x *tensor.Tensor) *tensor.Tensor { return keepFormat(pooledMaxima(x, slidingPool(x, 3, 2, 1)), x) },
		"avg_pool": func(x *tensor.Tensor) *tensor.Tensor {
			return keepFormat(averagePool(x, slidingPool(x, 3, 2, 1), true, 0), x)
		},
		"avg_pool, inputs alone": func(x *tensor.Tensor) *tensor.Tensor {
			return keepFormat(averagePool(x, slidingPool(x, 2, 1, 1), false, 0), x)
		},
		"group_norm":               func(x *tensor.Tensor) *tensor.Tensor { return groupNorm(x, 3, w, v, 1e-5) },
		"group_norm, weight alone": func(x *tensor.Tensor) *tensor.Tensor { return groupNorm(x, 2, w, nil, 1e-5) },
		"group_norm, bias alone":   func(x *tensor.Tensor) *tensor.Tensor { return groupNorm(x, 2, nil, v, 1e-5) },
	} {
		want, got := f(x), f(last)
		if !got.IsContiguousFormat(tensor.ChannelsLast) {
			t.Errorf("%s: strides %v", name, got.Strides())
		}
		if d := opstest.LargestDifference(want, got); d > 1e-5 {
			t.Errorf("%s: off by %v", name, d)
		}
	}
}

// slidingPool is a pooling of squares.
func slidingPool(x *tensor.Tensor, kernel, stride, padding int) pooling {
	two := func(n int) []int { return []int{n, n} }
	p := pooling{n: 2, kernel: two(kernel), stride: two(stride), padding: two(padding), dilation: two(1)}
	for d := range 2 {
		in := x.Size(2 + d)
		p.windows = append(p.windows, slidingWindows(in, pooledSize(in, kernel, stride, padding, 1, false), kernel, stride, padding, 1))
	}
	return p
}

// Distances by a product of matrices are near those row by row.
func TestDistancesByProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 84))
	for _, shape := range [][2][]int{{{40, 9}, {30, 9}}, {{3, 5, 26, 4}, {5, 2, 4}}} {
		a, b := opstest.RandomTensor(r, tensor.Float64, shape[0]...), opstest.RandomTensor(r, tensor.Float64, shape[1]...)
		if d := opstest.LargestDifference(pairDistances(a, b, 2), cdist(a, b, 2, 0)); d > 1e-7 {
			t.Errorf("%v: off by %v", shape, d)
		}
		if d := opstest.LargestDifference(pairDistances(a, b, 2), cdist(a, b, 2, 2)); d != 0 {
			t.Errorf("%v: off by %v without a product", shape, d)
		}
	}
}

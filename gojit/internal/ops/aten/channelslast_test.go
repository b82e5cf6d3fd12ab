package aten

import (
	"math/rand/v2"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/nn"
	"github.com/torchjit/torchjit/gojit/internal/ops/opstest"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Operators on images whose channels lie together give what they give on others, and keep the layout.
func TestChannelsLastStay(t *testing.T) {
	r := rand.New(rand.NewPCG(81, 82))
	x := opstest.RandomTensor(r, tensor.Float32, 2, 6, 9, 7)
	last := source.Must(x.Clone(tensor.ChannelsLast))
	w, v := opstest.RandomTensor(r, tensor.Float32, 6), opstest.RandomTensor(r, tensor.Float32, 6)
	convolve2d := func(weight *tensor.Tensor, groups int) func(x *tensor.Tensor) *tensor.Tensor {
		return func(x *tensor.Tensor) *tensor.Tensor {
			return conv.Convolution(x, weight, v, conv.ConvArgs{Stride: []int{2, 1}, Padding: []int{1, 1}, Dilation: []int{1, 1}, Groups: groups})
		}
	}
	full, single := opstest.RandomTensor(r, tensor.Float32, 6, 6, 3, 3), opstest.RandomTensor(r, tensor.Float32, 6, 1, 3, 3)
	for name, f := range map[string]func(x *tensor.Tensor) *tensor.Tensor{
		"convolution":               convolve2d(full, 1),
		"of weights in that layout": convolve2d(source.Must(full.Clone(tensor.ChannelsLast)), 1),
		"of each channel":           convolve2d(single, 6),
		"max_pool": func(x *tensor.Tensor) *tensor.Tensor {
			return conv.KeepFormat(conv.PooledMaxima(x, slidingPool(x, 3, 2, 1)), x)
		},
		"avg_pool": func(x *tensor.Tensor) *tensor.Tensor {
			return conv.KeepFormat(conv.AveragePool(x, slidingPool(x, 3, 2, 1), true, 0), x)
		},
		"avg_pool, inputs alone": func(x *tensor.Tensor) *tensor.Tensor {
			return conv.KeepFormat(conv.AveragePool(x, slidingPool(x, 2, 1, 1), false, 0), x)
		},
		"group_norm":               func(x *tensor.Tensor) *tensor.Tensor { return nn.GroupNorm(x, 3, w, v, 1e-5) },
		"group_norm, weight alone": func(x *tensor.Tensor) *tensor.Tensor { return nn.GroupNorm(x, 2, w, nil, 1e-5) },
		"group_norm, bias alone":   func(x *tensor.Tensor) *tensor.Tensor { return nn.GroupNorm(x, 2, nil, v, 1e-5) },
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
func slidingPool(x *tensor.Tensor, kernel, stride, padding int) conv.Pooling {
	two := func(n int) []int { return []int{n, n} }
	p := conv.Pooling{N: 2, Kernel: two(kernel), Stride: two(stride), Padding: two(padding), Dilation: two(1)}
	for d := range 2 {
		in := x.Size(2 + d)
		p.Windows = append(p.Windows, conv.SlidingWindows(in, conv.PooledSize(in, kernel, stride, padding, 1, false), kernel, stride, padding, 1))
	}
	return p
}

// Distances by a product of matrices are near those row by row.
func TestDistancesByProduct(t *testing.T) {
	r := rand.New(rand.NewPCG(83, 84))
	for _, shape := range [][2][]int{{{40, 9}, {30, 9}}, {{3, 5, 26, 4}, {5, 2, 4}}} {
		a, b := opstest.RandomTensor(r, tensor.Float64, shape[0]...), opstest.RandomTensor(r, tensor.Float64, shape[1]...)
		if d := opstest.LargestDifference(linalg.PairDistances(a, b, 2), linalg.Cdist(a, b, 2, 0)); d > 1e-7 {
			t.Errorf("%v: off by %v", shape, d)
		}
		if d := opstest.LargestDifference(linalg.PairDistances(a, b, 2), linalg.Cdist(a, b, 2, 2)); d != 0 {
			t.Errorf("%v: off by %v without a product", shape, d)
		}
	}
}

// Package linalgtest holds what tests of products and of convolutions share: numbers whose sums are exact in any order, memory between pages that
// cannot be touched, and the instruction sets that code is generated for here.
package linalgtest

import (
	"math/rand/v2"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/tensor"
)

type float interface{ float32 | float64 }

// Sets are the instruction sets of this machine for which tiles are generated.
func Sets() (sets []asm.ISA) {
	for isa := asm.AVX2; isa <= min(asm.Host(), asm.Target()); isa++ {
		sets = append(sets, isa)
	}
	return sets
}

// Ramp returns n small numbers that rise again and again.
func Ramp[T float](n int) []T {
	data := make([]T, n)
	for i := range data {
		data[i] = T(i%13)/4 - 1
	}
	return data
}

// Whole returns n whole numbers.
func Whole[T float](r *rand.Rand, n int) []T {
	data := make([]T, n)
	for i := range data {
		data[i] = T(r.IntN(9) - 4)
	}
	return data
}

// ExactEpilogue returns the type and the kernel of max(sum*row + like, -3), whose results on whole numbers are exact.
func ExactEpilogue[T float]() (*kernel.Kernel, tensor.DType) {
	t := tensor.Float32
	if unsafe.Sizeof(T(0)) == 8 {
		t = tensor.Float64
	}
	b := kernel.NewBuilder()
	sum, row, like := b.Input(t, t), b.Input(t, t), b.Input(t, t)
	b.Output(b.Binary(kernel.Max, b.Add(b.Mul(sum, row), like), b.Number(sum, -3)), t)
	return b.Kernel(), t
}

// Geometry makes a geometry of up to three dimensions whose output is not empty.
func Geometry(r *rand.Rand) kernel.ConvolutionShape {
	g := kernel.ConvolutionShape{Batch: 1 + r.IntN(3), Groups: 1 + r.IntN(3), In: [3]int{1, 1, 1}, Out: [3]int{1, 1, 1}, Kernel: [3]int{1, 1, 1}, Stride: [3]int{1, 1, 1}, Dilation: [3]int{1, 1, 1}}
	g.InChannels, g.OutChannels = g.Groups*(1+r.IntN(5)), g.Groups*(1+r.IntN(20))
	for i := r.IntN(3); i < 3; i++ {
		for {
			g.In[i], g.Kernel[i], g.Stride[i], g.Dilation[i], g.Padding[i] = 1+r.IntN(24), 1+r.IntN(4), 1+r.IntN(3), 1+r.IntN(2), r.IntN(3)
			if span := g.In[i] + 2*g.Padding[i] - g.Dilation[i]*(g.Kernel[i]-1) - 1; span >= 0 {
				g.Out[i] = span/g.Stride[i] + 1
				break
			}
		}
	}
	return g
}

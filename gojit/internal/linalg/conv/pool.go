package conv

import (
	"math"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// CanPool reports whether generated kernels pool windows of a geometry, in which each channel is a
// group of its own.
func (g *Convolution) CanPool() bool {
	return asm.Target() >= asm.AVX2 && g.InChannels == g.Groups && g.canDepthwise() && Volume(g.Out) > 0
}

// MaxPool writes the largest element of each window to out, NaN where there is one. CanPool must hold.
func MaxPool[T gemm.Float](g Convolution, in, out []T) {
	pool(asm.Target(), tile.Largest, g, in, []T{T(math.Inf(-1))}, nil, out)
}

// AveragePool writes the sum of each window, divided by what divisors has for its place, to out.
// CanPool must hold.
func AveragePool[T gemm.Float](g Convolution, in, divisors, out []T) {
	pool(asm.Target(), tile.Averaged, g, in, []T{0}, divisors, out)
}

func pool[T gemm.Float](isa asm.ISA, kind tile.DepthwiseKind, g Convolution, in, start, divisors, out []T) {
	inSize, outSize := Volume(g.In), Volume(g.Out)
	if len(in) < g.Batch*g.InChannels*inSize || len(out) < g.Batch*g.InChannels*outSize || kind == tile.Averaged && len(divisors) < outSize {
		panic("conv: a pooling reaches outside its data")
	}
	size := int(unsafe.Sizeof(start[0]))
	d := depthwiseOf(isa, &g, size)
	d.Kind = kind
	tiles := depthwiseTiles(d, &g)
	pieces := g.pieces()
	each := len(tiles) / pieces
	parallel.For(g.Batch*g.InChannels*pieces, 1+gemm.ParallelFlops/4/(outSize/pieces*Volume(g.Kernel)), func(lo, hi int) {
		args := tile.DepthwiseArgs{Bias: unsafe.Pointer(&start[0])}
		for k := lo; k < hi; k++ {
			i, first := k/pieces, k%pieces*each
			args.In = unsafe.Pointer(&in[i*inSize])
			for _, t := range tiles[first : first+each] {
				if kind == tile.Averaged {
					args.Weight = unsafe.Pointer(&divisors[t.out])
				}
				args.Out = unsafe.Pointer(&out[i*outSize+t.out])
				args.Offset = int64(t.in * size)
				t.code.Call(unsafe.Pointer(&args))
			}
		}
	})
}

package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Convolve writes to out the correlation of in with the weights, plus one element of bias for each
// out channel where bias is not nil. Layouts are batch, channel, space and out channel, channel of
// the group, kernel. It panics where out, in or weight is shorter than the geometry says.
func Convolve[T gemm.Float](g Convolution, in, weight, bias, out []T) {
	if Volume(g.Out)*g.Batch*g.OutChannels == 0 {
		return
	}
	g.checkExtents(len(in), len(weight), len(bias), len(out), bias != nil)
	isa := asm.Target()
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	switch {
	case Volume(g.Kernel)*channels == 0 || isa < asm.AVX2:
		fillBias(g, bias, out)
		convolve(g, in, weight, out)
	case g.isLinear():
		k := g.InChannels * Volume(g.Kernel)
		p := gemm.Product[T]{M: g.Batch, N: filters, K: k, A: gemm.Matrix[T]{Data: in, Stride: k}, B: gemm.Matrix[T]{Data: weight, Stride: k, Transposed: true}, C: gemm.Matrix[T]{Data: out, Stride: filters}, Bias: bias}
		p.Run()
	case suitsPairs[T](&g, fewestPatches) && convolvePairs(g, in, weight, bias, out, false, tapsLast):
	case g.suitsDepthwise():
		convolveDepthwise(isa, g, in, weight, bias, out)
	case g.isWide():
		convolveWide(isa, g, in, weight, bias, out)
	default:
		convolveTiled(isa, g, in, weight, bias, out)
	}
}

func (g *Convolution) checkExtents(in, weight, bias, out int, hasBias bool) {
	if in < g.Batch*g.InChannels*Volume(g.In) || weight < g.OutChannels*(g.InChannels/g.Groups)*Volume(g.Kernel) || out < g.Batch*g.OutChannels*Volume(g.Out) || hasBias && bias < g.OutChannels {
		panic("conv: a convolution reaches outside its data")
	}
}

// isLinear reports whether the one window of each image is the whole image.
func (g *Convolution) isLinear() bool {
	return g.Groups == 1 && Volume(g.Out) == 1 && g.In == g.Kernel && g.Padding == [3]int{}
}

// isProduct reports whether each image is a matrix that the weights are multiplied with.
func (g *Convolution) isProduct() bool {
	return Volume(g.Kernel) == 1 && g.Stride == [3]int{1, 1, 1} && g.Padding == [3]int{} && g.In == g.Out
}

// fillBias writes to all elements of an out channel its bias.
func fillBias[T gemm.Float](g Convolution, bias, out []T) {
	size := Volume(g.Out)
	if bias == nil {
		clear(out[:g.Batch*g.OutChannels*size])
		return
	}
	for i := range g.Batch * g.OutChannels {
		row := out[i*size:][:size]
		for j := range row {
			row[j] = bias[i%g.OutChannels]
		}
	}
}

// convolveTiled multiplies the weights, group by group, with what the places of the output read.
func convolveTiled[T gemm.Float](isa asm.ISA, g Convolution, in, weight, bias, out []T) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, taps := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	m := gemm.NewTiled(isa, size)
	m.M, m.N, m.K = filters, outSize, channels*taps
	m.Lda, m.Ldb, m.Ldc = m.K, inSize, outSize
	m.Images, m.StepB, m.StepC = g.Batch, g.InChannels*inSize*size, g.OutChannels*outSize*size
	if !g.isProduct() {
		m.Columns = &patches{geometry: g, taps: taps, plane: inSize}
	}
	joined := g.joinsImages(m.Lanes)
	to := out
	if joined {
		m.Images, m.N, m.Ldc = 1, g.Batch*outSize, g.Batch*outSize
		m.Columns = &patches{geometry: g, taps: taps, plane: inSize, image: g.InChannels * inSize}
		memory := gemm.TakeBuffers()
		defer memory.Recycle()
		to = gemm.Elements[T](&memory.Scratch, g.OutChannels*m.N)
	}
	if bias != nil {
		m.BiasKind = tile.RowBias
	}
	group := func(i int) {
		one := m
		one.A = unsafe.Pointer(&weight[i*filters*m.K])
		one.B = unsafe.Pointer(&in[i*channels*inSize])
		one.C = unsafe.Pointer(&to[i*filters*m.N])
		if bias != nil {
			one.Bias = unsafe.Pointer(&bias[i*filters])
		}
		one.RunPacked()
	}
	m.Single = g.Groups > 1 && m.Work() < gemm.ParallelFlops
	eachGroup(g.Groups, m.Work(), m.Single, group)
	if joined {
		for i := range g.Batch * g.OutChannels {
			copy(out[i*outSize:][:outSize], to[i%g.OutChannels*m.N+i/g.OutChannels*outSize:])
		}
	}
}

// eachGroup calls f for all groups: shared out where they are small, else one after the other, each
// being shared out by itself.
func eachGroup(groups, work int, shared bool, f func(group int)) {
	grain := groups
	if shared {
		grain = 1 + gemm.ParallelFlops/work
	}
	parallel.For(groups, grain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

// joinsImages reports whether the columns of all images are computed as those of one, because the
// vectors of each would be a tenth empty or more.
func (g *Convolution) joinsImages(lanes int) bool {
	n := Volume(g.Out)
	vectors, together := g.Batch*((n+lanes-1)/lanes), (g.Batch*n+lanes-1)/lanes
	return g.Batch > 1 && 10*vectors > 11*together
}

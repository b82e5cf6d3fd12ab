package dense

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Convolve writes to out the correlation of in with the weights, plus one element of bias for each
// out channel where bias is not nil. Layouts are batch, channel, space and out channel, channel of
// the group, kernel. It panics where out, in or weight is shorter than the geometry says.
func Convolve[T Float](g Convolution, in, weight, bias, out []T) {
	if volume(g.Out)*g.Batch*g.OutChannels == 0 {
		return
	}
	g.checkExtents(len(in), len(weight), len(bias), len(out), bias != nil)
	isa := asm.Target()
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	switch {
	case volume(g.Kernel)*channels == 0 || isa < asm.AVX2:
		fillBias(g, bias, out)
		convolve(g, in, weight, out)
	case g.isLinear():
		k := g.InChannels * volume(g.Kernel)
		p := Product[T]{M: g.Batch, N: filters, K: k, A: Matrix[T]{Data: in, Stride: k}, B: Matrix[T]{Data: weight, Stride: k, Transposed: true}, C: Matrix[T]{Data: out, Stride: filters}, Bias: bias}
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
	if in < g.Batch*g.InChannels*volume(g.In) || weight < g.OutChannels*(g.InChannels/g.Groups)*volume(g.Kernel) || out < g.Batch*g.OutChannels*volume(g.Out) || hasBias && bias < g.OutChannels {
		panic("dense: a convolution reaches outside its data")
	}
}

// isLinear reports whether the one window of each image is the whole image.
func (g *Convolution) isLinear() bool {
	return g.Groups == 1 && volume(g.Out) == 1 && g.In == g.Kernel && g.Padding == [3]int{}
}

// isProduct reports whether each image is a matrix that the weights are multiplied with.
func (g *Convolution) isProduct() bool {
	return volume(g.Kernel) == 1 && g.Stride == [3]int{1, 1, 1} && g.Padding == [3]int{} && g.In == g.Out
}

// fillBias writes to all elements of an out channel its bias.
func fillBias[T Float](g Convolution, bias, out []T) {
	size := volume(g.Out)
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
func convolveTiled[T Float](isa asm.ISA, g Convolution, in, weight, bias, out []T) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, taps := volume(g.In), volume(g.Out), volume(g.Kernel)
	m := newGemm(isa, size)
	m.m, m.n, m.k = filters, outSize, channels*taps
	m.lda, m.ldb, m.ldc = m.k, inSize, outSize
	m.images, m.stepB, m.stepC = g.Batch, g.InChannels*inSize*size, g.OutChannels*outSize*size
	if !g.isProduct() {
		m.patches = &patches{geometry: g, taps: taps, plane: inSize}
	}
	joined := g.joinsImages(m.lanes)
	to := out
	if joined {
		m.images, m.n, m.ldc = 1, g.Batch*outSize, g.Batch*outSize
		m.patches = &patches{geometry: g, taps: taps, plane: inSize, image: g.InChannels * inSize}
		memory := takeBuffers()
		defer memory.giveBack()
		to = elements[T](&memory.scratch, g.OutChannels*m.n)
	}
	if bias != nil {
		m.biasKind = tile.RowBias
	}
	group := func(i int) {
		one := m
		one.a = unsafe.Pointer(&weight[i*filters*m.k])
		one.b = unsafe.Pointer(&in[i*channels*inSize])
		one.c = unsafe.Pointer(&to[i*filters*m.n])
		if bias != nil {
			one.bias = unsafe.Pointer(&bias[i*filters])
		}
		one.runPacked()
	}
	m.single = g.Groups > 1 && m.work() < parallelFlops
	eachGroup(g.Groups, m.work(), m.single, group)
	if joined {
		for i := range g.Batch * g.OutChannels {
			copy(out[i*outSize:][:outSize], to[i%g.OutChannels*m.n+i/g.OutChannels*outSize:])
		}
	}
}

// eachGroup calls f for all groups: shared out where they are small, else one after the other, each
// being shared out by itself.
func eachGroup(groups, work int, shared bool, f func(group int)) {
	grain := groups
	if shared {
		grain = 1 + parallelFlops/work
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
	n := volume(g.Out)
	vectors, together := g.Batch*((n+lanes-1)/lanes), (g.Batch*n+lanes-1)/lanes
	return g.Batch > 1 && 10*vectors > 11*together
}

package dense

import (
	"unsafe"

	"torchjit/gojit/kernel/amd64"
	"torchjit/gojit/tensor"
)

// WeightGradient writes to weight the derivative of Convolve by the weights, from in and the gradient of out: for each weight the sum
// of the products of what it is multiplied with and of what that gives. It panics where a slice is shorter than the geometry says.
func WeightGradient[T Float](g Convolution, in, out, weight []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	n := g.OutChannels * channels * volume(g.Kernel)
	if n == 0 {
		return
	}
	g.checkExtents(len(in), len(weight), 0, len(out), false)
	isa := amd64.Target()
	switch {
	case g.Batch*volume(g.Out) == 0:
		clear(weight[:n])
	case isa < amd64.AVX2:
		weightGradient(g, in, out, weight)
	case filters < fewFilters:
		weightGradientDots(g, in, out, weight)
	case g.isProduct():
		weightGradientProducts(g, in, out, weight)
	default:
		weightGradientWide(isa, g, in, out, weight)
	}
}

// fewFilters is how many filters a group has for which tiles have empty lanes.
const fewFilters = 8

// weightGradientWide is a wide convolution: the channels are its images, and the images its channels.
func weightGradientWide[T Float](isa amd64.ISA, g Convolution, in, out, weight []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, taps := volume(g.In), volume(g.Out), volume(g.Kernel)
	for group := range g.Groups {
		w := wideProduct[T]{geometry: g, taps: outSize, places: taps, images: channels, channels: g.Batch, filters: filters,
			imageStep: inSize, channelStep: g.InChannels * inSize, filterStep: outSize, weightStep: g.OutChannels * outSize,
			in: in[group*channels*inSize:], weight: out[group*filters*outSize:]}
		w.geometry.Batch = 1
		to, stride := weight[group*filters*channels*taps:], channels*taps
		w.store = func(w *wideWriter[T]) { w.transpose(0, w.rows, to[w.first*taps:], stride) }
		w.run(isa)
	}
}

// weightGradientProducts adds up a product of matrices for each image.
func weightGradientProducts[T Float](g Convolution, in, out, weight []T) {
	channels, filters, size := g.InChannels/g.Groups, g.OutChannels/g.Groups, volume(g.Out)
	for group := range g.Groups {
		for image := range g.Batch {
			p := Product[T]{M: filters, N: channels, K: size, Add: image > 0, A: Matrix[T]{Data: out[(image*g.OutChannels+group*filters)*size:], Stride: size},
				B: Matrix[T]{Data: in[(image*g.InChannels+group*channels)*size:], Stride: size, Transposed: true},
				C: Matrix[T]{Data: weight[group*filters*channels:], Stride: channels}}
			p.Run()
		}
	}
}

// weightGradientDots writes what the weights read in rows, a group after the other, and multiplies them with the gradient's.
func weightGradientDots[T Float](g Convolution, in, out, weight []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, rows := volume(g.In), volume(g.Out), channels*volume(g.Kernel)
	work := g.Batch * outSize * rows
	tensor.Parallel(g.Groups, 1+parallelFlops/work, func(lo, hi int) {
		memory := bufferPool.Get().(*buffers)
		defer bufferPool.Put(memory)
		columns := unsafe.Slice((*T)(grow(&memory.a, rows*outSize*int(unsafe.Sizeof(*new(T))))), rows*outSize)
		for group := lo; group < hi; group++ {
			for image := range g.Batch {
				unfold(g, channels, in[(image*g.InChannels+group*channels)*inSize:], columns)
				p := Product[T]{M: filters, N: rows, K: outSize, Add: image > 0, A: Matrix[T]{Data: out[(image*g.OutChannels+group*filters)*outSize:], Stride: outSize},
					B: Matrix[T]{Data: columns, Stride: outSize, Transposed: true}, C: Matrix[T]{Data: weight[group*filters*rows:], Stride: rows}}
				p.Run()
			}
		}
	})
}

// weightGradient is WeightGradient by its definition.
func weightGradient[T Float](g Convolution, in, out, weight []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, kernel := volume(g.In), volume(g.Out), volume(g.Kernel)
	tensor.Parallel(g.OutChannels*channels, 1+parallelWork/max(g.Batch*outSize*kernel, 1), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			filter, channel := i/channels, i/channels/filters*channels+i%channels
			g.taps(func(tap int, at [3]int) {
				var sum T
				for image := range g.Batch {
					src, dst := in[(image*g.InChannels+channel)*inSize:][:inSize], out[(image*g.OutChannels+filter)*outSize:][:outSize]
					g.rows(at, func(from, to, n, step int) {
						for j := range n {
							sum += src[from+j*step] * dst[to+j]
						}
					})
				}
				weight[i*kernel+tap] = sum
			})
		}
	})
}

package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// WeightGradient writes to weight the derivative of Convolve by the weights, from in and the gradient of out: for each weight the sum
// of the products of what it is multiplied with and of what that gives. It panics where a slice is shorter than the geometry says.
func WeightGradient[T gemm.Float](g Convolution, in, out, weight []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	n := g.OutChannels * channels * Volume(g.Kernel)
	if n == 0 {
		return
	}
	g.checkExtents(len(in), len(weight), 0, len(out), false)
	isa := asm.Target()
	switch {
	case g.Batch*Volume(g.Out) == 0:
		clear(weight[:n])
	case isa < asm.AVX2:
		weightGradient(g, in, out, weight)
	case filters < fewFilters:
		weightGradientDots(isa, g, in, out, weight)
	case suitsPairs[T](&g, fewestPatches) && weightGradientPairs(g, in, out, weight):
	case g.isProduct():
		weightGradientProducts(g, in, out, weight)
	default:
		weightGradientWide(isa, g, in, out, weight)
	}
}

// fewFilters is how many filters a group has for which tiles have empty lanes.
const fewFilters = 8

// weightGradientWide is a wide convolution: the channels are its images, and the images its channels.
func weightGradientWide[T gemm.Float](isa asm.ISA, g Convolution, in, out, weight []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, taps := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
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
func weightGradientProducts[T gemm.Float](g Convolution, in, out, weight []T) {
	channels, filters, size := g.InChannels/g.Groups, g.OutChannels/g.Groups, Volume(g.Out)
	for group := range g.Groups {
		for image := range g.Batch {
			p := gemm.Product[T]{M: filters, N: channels, K: size, Add: image > 0, A: gemm.Matrix[T]{Data: out[(image*g.OutChannels+group*filters)*size:], Stride: size},
				B: gemm.Matrix[T]{Data: in[(image*g.InChannels+group*channels)*size:], Stride: size, Transposed: true},
				C: gemm.Matrix[T]{Data: weight[group*filters*channels:], Stride: channels}}
			p.Run()
		}
	}
}

// weightGradientDots packs what the weights of some groups read in rows, and multiplies each group's with its gradient's.
func weightGradientDots[T gemm.Float](isa asm.ISA, g Convolution, in, out, weight []T) {
	channels, filters, size := g.InChannels/g.Groups, g.OutChannels/g.Groups, int(unsafe.Sizeof(*new(T)))
	inSize, outSize, kernel := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	rows, row := channels*kernel, (min(wideTaps, outSize)+15)/16*16*size+64
	together := min(g.Groups, max(1, gemm.NearBytes/(row*rows)))
	chunks := (g.Groups + together - 1) / together
	parallel.For(chunks, 1+gemm.ParallelFlops/(g.Batch*outSize*rows*together), func(lo, hi int) {
		memory := gemm.TakeBuffers()
		defer memory.Recycle()
		m := gemm.NewTiled(isa, size)
		w := gemm.NewWriter(&m, memory)
		p := patches{geometry: g, taps: kernel, plane: inSize}
		p.geometry.Batch = 1
		packed := gemm.Grow(&memory.A, together*rows*row)
		for chunk := lo; chunk < hi; chunk++ {
			first, end := chunk*together, min((chunk+1)*together, g.Groups)
			for image := range g.Batch {
				from := unsafe.Pointer(&in[(image*g.InChannels+first*channels)*inSize])
				for t0 := 0; t0 < outSize; t0 += wideTaps {
					t1 := min(t0+wideTaps, outSize)
					for at := t0; at < t1; at += gemm.PanelVectors * w.Lanes {
						p.Fill(w.Filling(), unsafe.Add(packed, (at-t0)*size), from, at, min(at+gemm.PanelVectors*w.Lanes, t1), 0, (end-first)*channels, row)
					}
					for group := first; group < end; group++ {
						d := gemm.Tiled{ISA: m.ISA, Double: m.Double, Size: m.Size, Lanes: m.Lanes, LogLanes: m.LogLanes, Single: true}
						d.M, d.N, d.K, d.Lda, d.Ldb, d.Ldc = filters, rows, t1-t0, outSize, row/size, rows
						d.ColumnsB, d.Add = true, image > 0 || t0 > 0
						d.A, d.B = unsafe.Pointer(&out[(image*g.OutChannels+group*filters)*outSize+t0]), unsafe.Add(packed, (group-first)*rows*row)
						d.C = unsafe.Pointer(&weight[group*filters*rows])
						d.Normalize()
						d.Run()
					}
				}
			}
		}
	})
}

// weightGradient is WeightGradient by its definition.
func weightGradient[T gemm.Float](g Convolution, in, out, weight []T) {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	inSize, outSize, kernel := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	parallel.For(g.OutChannels*channels, 1+gemm.ParallelWork/max(g.Batch*outSize*kernel, 1), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			filter, channel := i/channels, i/channels/filters*channels+i%channels
			g.Taps(func(tap int, at [3]int) {
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

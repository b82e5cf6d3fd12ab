package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
)

// SuitsLast reports whether ConvolveLast computes a convolution: one in two dimensions, of all channels
// together or of each by itself, where generated code can run.
func (g *Convolution) SuitsLast() bool {
	flat := g.In[0] == 1 && g.Kernel[0] == 1 && g.Out[0] == 1 && g.Padding[0] == 0
	some := g.Batch*g.OutChannels*Volume(g.Out) > 0 && Volume(g.Kernel)*g.InChannels > 0
	return flat && some && asm.Target() >= asm.AVX2 && (g.Groups == 1 || g.IsDepthwise())
}

// IsDepthwise reports whether each channel has one filter of its own.
func (g *Convolution) IsDepthwise() bool {
	return g.InChannels == g.Groups && g.OutChannels == g.Groups
}

// ConvolveLast is Convolve for images whose channels lie together (batch, height, width, channel), for
// convolutions that SuitsLast accepts. The weights lie as Convolve takes them or, with weightLast, as the
// images do (out channel, kernel, channel).
func ConvolveLast[T gemm.Float](g Convolution, in, weight, bias, out []T, weightLast bool) {
	g.checkExtents(len(in), len(weight), len(bias), len(out), bias != nil)
	if g.Groups > 1 {
		NewDepthwisePlan(g, weight, bias, false).Run(in, out)
		return
	}
	order := tapsLast
	if weightLast {
		order = channelsLast
	}
	if suitsPairs[T](&g, fewestPatches) && convolvePairs(g, in, weight, bias, out, true, order) {
		return
	}
	memory := gemm.TakeBuffers()
	defer memory.Recycle()
	p := planOf(g, bias, PlanOptions{Exact: true})
	if !weightLast && Volume(g.Kernel) > 1 {
		weight = turnWeight(&g, weight, memory)
	}
	p.packTransposed(weight, memory)
	p.cutStrips()
	p.runTiles(in, nil, out, nil)
}

// turnWeight moves the channels of the weights behind the taps.
func turnWeight[T gemm.Float](g *Convolution, weight []T, memory *gemm.Buffers) []T {
	channels, taps, size := g.InChannels, Volume(g.Kernel), int(unsafe.Sizeof(weight[0]))
	turned := unsafe.Slice((*T)(gemm.Grow(&memory.A, len(weight)*size)), len(weight))
	isa := asm.Target()
	lanes := lanesOf[T](isa)
	if channels%lanes != 0 {
		for o := range g.OutChannels {
			from, to := weight[o*channels*taps:][:channels*taps], turned[o*channels*taps:][:channels*taps]
			for c := range channels {
				for t, v := range from[c*taps:][:taps] {
					to[t*channels+c] = v
				}
			}
		}
		return turned
	}
	code := tile.Transposition{ISA: isa, Double: size == 8, Rows: uint8(lanes)}.Code()
	args := tile.CopyArgs{FromRow: int64(taps * size), ToRow: int64(channels * size), Count: int64(taps), Mask: tile.TailMask(isa, taps%lanes*size/4)}
	for o := range g.OutChannels {
		for c := 0; c < channels; c += lanes {
			args.From, args.To = unsafe.Pointer(&weight[(o*channels+c)*taps]), unsafe.Pointer(&turned[o*channels*taps+c])
			code.Call(unsafe.Pointer(&args))
		}
	}
	return turned
}

// packTransposed is pack, into memory of the caller's, of weights of one group whose channels lie together:
// a matrix of out channels by taps and channels, the transposed of which is cut into panels.
func (p *Plan[T]) packTransposed(weight []T, memory *gemm.Buffers) {
	g, lanes, size := &p.geometry, lanesOf[T](p.isa), int(unsafe.Sizeof(weight[0]))
	depth := Volume(g.Kernel) * g.InChannels
	whole := (g.OutChannels + lanes - 1) / lanes * lanes
	n := whole*depth + 1024 // tiles fetch ahead
	p.weight = unsafe.Slice((*T)(gemm.Grow(&memory.B, n*size)), n)
	m := gemm.NewTiled(p.isa, size)
	m.B, m.Ldb = unsafe.Pointer(&weight[0]), depth
	for first := 0; first < g.OutChannels; first += gemm.PanelVectors * lanes {
		width := PanelWidth(g.OutChannels, first/(gemm.PanelVectors*lanes), lanes)
		m.TransposePanel(unsafe.Pointer(&p.weight[first*depth]), m.B, first, min(first+width, g.OutChannels), 0, depth, width/lanes)
	}
}

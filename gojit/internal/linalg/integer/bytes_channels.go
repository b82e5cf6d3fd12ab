package integer

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// NewByteMaxPool makes a plan of the largest bytes of windows of each channel; nothing in the padding is the largest.
func NewByteMaxPool(g conv.Convolution, planes bool) *BytePlan {
	return newBytePool(g, ByteOptions{Planes: planes}, tile.Largest, asm.Target())
}

// NewByteSums makes a plan of the sums of windows of each channel, less the zero point.
func NewByteSums(g conv.Convolution, options ByteOptions) *BytePlan {
	return newBytePool(g, options, tile.Averaged, asm.Target())
}

func newBytePool(g conv.Convolution, options ByteOptions, kind tile.DepthwiseKind, isa asm.ISA) *BytePlan {
	w := &ByteWeights{groups: g.Groups, channels: 1, filters: 1, kernel: g.Kernel, pooled: kind, parts: 1, isa: isa, taps: []uint32{}, sums: make([]int32, g.OutChannels)}
	if isa < asm.AVX2 || kind == tile.Largest && g.InChannels < 16 {
		w.isa, w.taps = asm.None, nil
	}
	for i := range w.sums {
		w.sums[i] = int32(conv.Volume(g.Kernel))
	}
	if kind == tile.Largest {
		options.Zero, options.Scale, options.Limits = 0, make([]float32, g.OutChannels), tile.NewByteLimits(0, 255, 0, 0)
	}
	return NewBytePlan(g, w, options)
}

// runByteChannels shares the strips out.
func runByteChannels[T uint8 | float32](p *BytePlan, in []uint8, out []T) {
	n := len(p.strips)
	for _, l := range p.outer {
		n *= l.count
	}
	threads := parallel.NumThreads()
	grain := n
	if p.work() >= 2*bytesWorth*gemm.ParallelFlops/4 && threads > 1 {
		grain = max(1, n/(16*threads))
	}
	parallel.For(n, grain, func(lo, hi int) {
		for s := lo; s < hi; s++ {
			if p.weights.pooled == tile.Largest {
				p.poolStrip(in, out, s)
			} else {
				runChannelStrip(p, in, out, s)
			}
		}
	})
}

// channelArgs returns what the kernels of a strip receive.
func channelArgs[T uint8 | float32](p *BytePlan, in []uint8, out []T, index int) (*byteStrip, tile.ByteChannelsArgs) {
	s := &p.strips[index%len(p.strips)]
	inAt, outAt := p.outerAt(index / len(p.strips))
	row := p.geometry.OutChannels * int(unsafe.Sizeof(out[0]))
	return s, tile.ByteChannelsArgs{A: unsafe.Pointer(&in[inAt+s.in]), C: unsafe.Pointer(&out[(outAt+s.out)*p.geometry.OutChannels]), Offsets: unsafe.Pointer(&p.offsets[0]), Taps: int64(len(p.offsets)),
		AStep: int64(s.step), CStep: int64(row), Blocks: int64(s.blocks), ABlock: int64(s.blockStep), CBlock: int64(s.rows * row)}
}

// runChannelStrip convolves the channels of a strip, or adds up their windows.
func runChannelStrip[T uint8 | float32](p *BytePlan, in []uint8, out []T, index int) {
	w := p.weights
	s, args := channelArgs(p, in, out, index)
	lanes := w.lanes()
	rest := w.groups % lanes
	k := tile.ByteChannels{ISA: w.isa, Dot: w.dot, Kind: w.pooled, Real: unsafe.Sizeof(out[0]) == 4, Width: w.isa.Width(), Places: uint8(s.rows), Tail: rest != 0}
	if w.pooled == tile.Convolved {
		args.Weight, args.WeightRow = unsafe.Pointer(&w.taps[0]), int64(len(w.taps)/conv.Volume(w.kernel)*4)
	}
	args.Start, args.Scale, args.Bias, args.Limits = unsafe.Pointer(&p.start[0]), unsafe.Pointer(&p.scale[0]), unsafe.Pointer(&p.bias[0]), p.options.Limits
	args.Vectors, args.Tail = int64(w.groups/lanes), int64(rest)
	if rest != 0 {
		args.Mask = tile.TailMask(w.isa, rest)
	}
	k.Code().Call(unsafe.Pointer(&args))
}

// poolStrip finds the largest bytes of a strip. Where the channels are no whole number of vectors, the last vector overlaps the one
// before it.
func (p *BytePlan) poolStrip(in []uint8, out any, index int) {
	to, ok := out.([]uint8)
	if !ok {
		panic("integer: the largest of bytes are bytes")
	}
	channels := p.geometry.InChannels
	width := p.weights.isa.Width()
	for width.Bytes() > channels {
		width--
	}
	s, args := channelArgs(p, in, to, index)
	k := tile.ByteChannels{ISA: p.weights.isa, Kind: tile.Largest, Width: width, Places: uint8(s.rows)}
	again := args
	args.Vectors = int64(channels / width.Bytes())
	k.Code().Call(unsafe.Pointer(&args))
	if channels%width.Bytes() != 0 {
		again.Vectors = 1
		again.A, again.C = unsafe.Add(again.A, channels-width.Bytes()), unsafe.Add(again.C, channels-width.Bytes())
		k.Code().Call(unsafe.Pointer(&again))
	}
}

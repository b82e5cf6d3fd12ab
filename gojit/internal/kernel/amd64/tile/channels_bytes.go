package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// ByteChannels describes a kernel that convolves each channel with its own filter, or pools it, for some places of images of bytes
// whose channels lie together. Lanes are channels.
type ByteChannels struct {
	ISA    asm.ISA
	Dot    bool // as in ByteTile
	Kind   DepthwiseKind
	Real   bool      // results are float32; not with Largest
	Width  asm.Width // of vectors
	Places uint8     // at most ByteChannelsPlaces
	Tail   bool      // channels behind the last whole vector are computed; not with Largest
}

// ByteChannelsPlaces returns how many places one kernel computes at most.
func ByteChannelsPlaces(isa asm.ISA) int { return min(3*len(byteBases)-3, isa.Registers()-4) }

// ByteChannelsArgs is what a kernel of ByteChannels receives. Strides are in bytes. Channels that are convolved, or added up where
// Averaged, are as many as the vectors have 32-bit lanes, and become results as those of a ByteTile do; of the tail, AVX2 reads 8
// bytes. The largest of Largest are those of whole vectors of bytes.
type ByteChannelsArgs struct {
	A, C              unsafe.Pointer
	Offsets           unsafe.Pointer // of the taps: how far behind A they lie, 8 bytes each
	Taps              int64          // at least 1
	AStep, CStep      int64          // from one place to the next
	Weight            unsafe.Pointer // of each tap, 32 bits for each channel, a number of 16 bits in the lower part
	WeightRow         int64          // from one tap to the next
	Start             unsafe.Pointer // int32 for each channel
	Scale, Bias       unsafe.Pointer // float32 for each channel
	Limits            *ByteLimits
	Mask              unsafe.Pointer
	Tail              int64
	Vectors           int64 // whole ones
	Blocks            int64 // of places, one after the other; left 0
	ABlock, CBlock    int64 // what A and C, which are left at the last block, go on by
	Channel, Channels int64 // working memory
}

const (
	byteChannelsA = 8 * iota
	byteChannelsC
	byteChannelsOffsets
	byteChannelsTaps
	byteChannelsAStep
	byteChannelsCStep
	byteChannelsWeight
	byteChannelsWeightRow
	byteChannelsStart
	byteChannelsScale
	byteChannelsBias
	byteChannelsLimits
	byteChannelsMask
	byteChannelsTail
	byteChannelsVectors
	byteChannelsBlocks
	byteChannelsABlock
	byteChannelsCBlock
	byteChannelsChannel  // the first of a vector
	byteChannelsChannels // vectors left
)

// Code returns the kernel's code, made once.
func (c ByteChannels) Code() *asm.Code { return byteChannels.Get(c, c.ISA) }

var byteChannels Kernels[ByteChannels]

// byteChannelsWriter encodes one kernel.
type byteChannelsWriter struct {
	byteWriter
	k ByteChannels
}

const (
	byteChannel = asm.R15 // of the vector
	byteWeight  = asm.R9
)

// Encode appends the kernel's code.
func (c ByteChannels) Encode(a *asm.Assembler) {
	w := &byteChannelsWriter{k: c, byteWriter: byteWriter{t: ByteTile{ISA: c.ISA, Dot: c.Dot, Real: c.Real, Rows: c.Places, Vectors: 1, Tail: c.Tail}, tileWriter: tileWriter{Assembler: a,
		mask: tileK, tile: Tile{ISA: c.ISA, Tail: c.Tail && (c.Real || c.ISA == asm.AVX512)}, width: c.Width, bytes: int32(c.Width.Bytes()), rows: int(c.Places), vectors: 1}}}
	w.free = asm.Reg(c.Places)
	block := a.Here()
	a.Xor(byteChannel, byteChannel)
	tail, done := a.NewLabel(), a.NewLabel()
	a.Load(tileK, asm.At(tileArgs, byteChannelsVectors))
	a.Store(asm.At(tileArgs, byteChannelsChannels), tileK)
	a.CmpImm(tileK, 0)
	a.JumpIf(asm.Equal, tail)
	loop := a.Here()
	w.vector(false)
	a.AddImm(byteChannel, w.channelsOfVector())
	a.Load(tileK, asm.At(tileArgs, byteChannelsChannels))
	a.Dec(tileK)
	a.Store(asm.At(tileArgs, byteChannelsChannels), tileK)
	a.JumpIf(asm.NotEqual, loop)
	a.Bind(tail)
	if c.Tail {
		w.loadTailMask(byteChannelsMask)
		w.vector(true)
	}
	a.Load(tileK, asm.At(tileArgs, byteChannelsBlocks))
	a.SubImm(tileK, 1)
	a.Store(asm.At(tileArgs, byteChannelsBlocks), tileK)
	a.JumpIf(asm.Equal, done)
	w.moveArg(tileK, byteChannelsA, byteChannelsABlock)
	w.moveArg(tileK, byteChannelsC, byteChannelsCBlock)
	a.Jump(block)
	a.Bind(done)
	a.ZeroUpper()
	a.Ret()
}

func (w *byteChannelsWriter) channelsOfVector() int32 {
	if w.k.Kind == Largest {
		return w.bytes
	}
	return w.bytes / 4
}

// vector computes the channels of a vector for all places.
func (w *byteChannelsWriter) vector(tail bool) {
	places := int(w.k.Places)
	if w.k.Kind != Largest {
		w.Load(tileK, asm.At(tileArgs, byteChannelsStart))
		w.V(asm.MOVUPS, w.width, 0, 0, asm.M(asm.Indexed(tileK, byteChannel, 4, 0)))
		for p := 1; p < places; p++ {
			w.V(asm.MOVAPS, w.width, asm.Reg(p), 0, asm.R(0))
		}
		if w.k.Kind == Convolved {
			w.Load(byteWeight, asm.At(tileArgs, byteChannelsWeight))
			w.Lea(byteWeight, asm.Indexed(byteWeight, byteChannel, 4, 0))
		}
	} else {
		for p := range places {
			w.clear(asm.Reg(p))
		}
	}
	w.Load(tileARow, asm.At(tileArgs, byteChannelsAStep))
	w.Load(byteRun, asm.At(tileArgs, byteChannelsOffsets))
	w.Load(byteLeft, asm.At(tileArgs, byteChannelsTaps))
	loop := w.Here()
	w.Load(byteBases[0], asm.At(tileArgs, byteChannelsA))
	w.AddMem(byteBases[0], asm.At(byteRun, 0))
	w.Add(byteBases[0], byteChannel)
	for p := 3; p < places; p += 3 {
		w.Lea(byteBases[p/3], asm.Indexed(byteBases[p/3-1], tileARow, 2, 0))
		w.Add(byteBases[p/3], tileARow)
	}
	w.tap(tail)
	w.AddImm(byteRun, 8)
	w.Dec(byteLeft)
	w.JumpIf(asm.NotEqual, loop)
	w.store(tail)
}

// tap adds a tap to all places.
func (w *byteChannelsWriter) tap(tail bool) {
	weight, x := w.free, w.free+1
	if w.k.Kind == Convolved {
		w.V(asm.MOVUPS, w.width, weight, 0, asm.M(asm.At(byteWeight, 0)))
		w.AddMem(byteWeight, asm.At(tileArgs, byteChannelsWeightRow))
	}
	for p := range int(w.k.Places) {
		m := w.ofRow(0, p)
		switch {
		case w.k.Kind == Largest:
			w.V(asm.PMAXUB, w.width, asm.Reg(p), asm.Reg(p), asm.M(m))
			continue
		case tail && w.k.ISA == asm.AVX512:
			w.VMask(asm.PMOVZXBD, w.width, x, 0, asm.M(m), maskRegister, true)
		default:
			w.V(asm.PMOVZXBD, w.width, x, 0, asm.M(m))
		}
		switch {
		case w.k.Kind == Averaged:
			w.V(asm.PADDD, w.width, asm.Reg(p), asm.Reg(p), asm.R(x))
		case w.k.Dot:
			w.V(asm.PDPWSSD, w.width, asm.Reg(p), x, asm.R(weight))
		default:
			w.V(asm.PMADDWD, w.width, x, x, asm.R(weight))
			w.V(asm.PADDD, w.width, asm.Reg(p), asm.Reg(p), asm.R(x))
		}
	}
}

// store makes results and stores them.
func (w *byteChannelsWriter) store(tail bool) {
	const scale, bias, limits = asm.RSI, asm.R11, byteLeft
	w.Load(tileC, asm.At(tileArgs, byteChannelsC))
	w.Load(byteRowC, asm.At(tileArgs, byteChannelsCStep))
	if w.k.Kind == Largest {
		w.Add(tileC, byteChannel)
		for p := range int(w.k.Places) {
			w.V(asm.MOVUPSstore, w.width, asm.Reg(p), 0, asm.M(asm.At(tileC, 0)))
			w.Add(tileC, byteRowC)
		}
		return
	}
	if tail {
		w.loadTailMask(byteChannelsMask)
	}
	size := uint8(1)
	if w.k.Real {
		size = 4
	}
	w.Lea(tileC, asm.Indexed(tileC, byteChannel, size, 0))
	w.Load(scale, asm.At(tileArgs, byteChannelsScale))
	w.Load(bias, asm.At(tileArgs, byteChannelsBias))
	w.Lea(scale, asm.Indexed(scale, byteChannel, 4, 0))
	w.Lea(bias, asm.Indexed(bias, byteChannel, 4, 0))
	w.Load(limits, asm.At(tileArgs, byteChannelsLimits))
	for p := range int(w.k.Places) {
		w.result(asm.Reg(p), resultAt{scale: asm.At(scale, 0), bias: asm.At(bias, 0), limits: limits, to: asm.At(tileC, 0), tail: tail, count: byteChannelsTail})
		w.Add(tileC, byteRowC)
	}
}

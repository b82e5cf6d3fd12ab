package amd64

import "unsafe"

// ByteChannels describes a kernel that convolves each channel with its own filter, or pools it, for some places of images of bytes
// whose channels lie together. Lanes are channels.
type ByteChannels struct {
	ISA    ISA
	Dot    bool // as in ByteTile
	Kind   DepthwiseKind
	Real   bool  // results are float32; not with Largest
	Width  Width // of vectors
	Places uint8 // at most ByteChannelsPlaces
	Tail   bool  // channels behind the last whole vector are computed; not with Largest
}

// ByteChannelsPlaces returns how many places one kernel computes at most.
func ByteChannelsPlaces(isa ISA) int { return min(3*len(byteBases)-3, isa.Registers()-4) }

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
func (c ByteChannels) Code() *Code { return byteChannels.Get(c, c.ISA) }

var byteChannels Kernels[ByteChannels]

// byteChannelsWriter encodes one kernel.
type byteChannelsWriter struct {
	byteWriter
	k ByteChannels
}

const (
	byteChannel = R15 // of the vector
	byteWeight  = R9
)

// Encode appends the kernel's code.
func (c ByteChannels) Encode(a *Assembler) {
	w := &byteChannelsWriter{k: c, byteWriter: byteWriter{t: ByteTile{ISA: c.ISA, Dot: c.Dot, Real: c.Real, Rows: c.Places, Vectors: 1, Tail: c.Tail}, tileWriter: tileWriter{Assembler: a,
		mask: tileK, tile: Tile{ISA: c.ISA, Tail: c.Tail && (c.Real || c.ISA == AVX512)}, width: c.Width, bytes: int32(c.Width.Bytes()), rows: int(c.Places), vectors: 1}}}
	w.free = Reg(c.Places)
	block := a.Here()
	a.Xor(byteChannel, byteChannel)
	tail, done := a.NewLabel(), a.NewLabel()
	a.Load(tileK, At(tileArgs, byteChannelsVectors))
	a.Store(At(tileArgs, byteChannelsChannels), tileK)
	a.CmpImm(tileK, 0)
	a.JumpIf(Equal, tail)
	loop := a.Here()
	w.vector(false)
	a.AddImm(byteChannel, w.channelsOfVector())
	a.Load(tileK, At(tileArgs, byteChannelsChannels))
	a.Dec(tileK)
	a.Store(At(tileArgs, byteChannelsChannels), tileK)
	a.JumpIf(NotEqual, loop)
	a.Bind(tail)
	if c.Tail {
		w.loadTailMask(byteChannelsMask)
		w.vector(true)
	}
	a.Load(tileK, At(tileArgs, byteChannelsBlocks))
	a.SubImm(tileK, 1)
	a.Store(At(tileArgs, byteChannelsBlocks), tileK)
	a.JumpIf(Equal, done)
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
		w.Load(tileK, At(tileArgs, byteChannelsStart))
		w.V(MOVUPS, w.width, 0, 0, M(Indexed(tileK, byteChannel, 4, 0)))
		for p := 1; p < places; p++ {
			w.V(MOVAPS, w.width, Reg(p), 0, R(0))
		}
		if w.k.Kind == Convolved {
			w.Load(byteWeight, At(tileArgs, byteChannelsWeight))
			w.Lea(byteWeight, Indexed(byteWeight, byteChannel, 4, 0))
		}
	} else {
		for p := range places {
			w.clear(Reg(p))
		}
	}
	w.Load(tileARow, At(tileArgs, byteChannelsAStep))
	w.Load(byteRun, At(tileArgs, byteChannelsOffsets))
	w.Load(byteLeft, At(tileArgs, byteChannelsTaps))
	loop := w.Here()
	w.Load(byteBases[0], At(tileArgs, byteChannelsA))
	w.AddMem(byteBases[0], At(byteRun, 0))
	w.Add(byteBases[0], byteChannel)
	for p := 3; p < places; p += 3 {
		w.Lea(byteBases[p/3], Indexed(byteBases[p/3-1], tileARow, 2, 0))
		w.Add(byteBases[p/3], tileARow)
	}
	w.tap(tail)
	w.AddImm(byteRun, 8)
	w.Dec(byteLeft)
	w.JumpIf(NotEqual, loop)
	w.store(tail)
}

// tap adds a tap to all places.
func (w *byteChannelsWriter) tap(tail bool) {
	weight, x := w.free, w.free+1
	if w.k.Kind == Convolved {
		w.V(MOVUPS, w.width, weight, 0, M(At(byteWeight, 0)))
		w.AddMem(byteWeight, At(tileArgs, byteChannelsWeightRow))
	}
	for p := range int(w.k.Places) {
		m := w.ofRow(0, p)
		switch {
		case w.k.Kind == Largest:
			w.V(PMAXUB, w.width, Reg(p), Reg(p), M(m))
			continue
		case tail && w.k.ISA == AVX512:
			w.VMask(PMOVZXBD, w.width, x, 0, M(m), maskRegister, true)
		default:
			w.V(PMOVZXBD, w.width, x, 0, M(m))
		}
		switch {
		case w.k.Kind == Averaged:
			w.V(PADDD, w.width, Reg(p), Reg(p), R(x))
		case w.k.Dot:
			w.V(PDPWSSD, w.width, Reg(p), x, R(weight))
		default:
			w.V(PMADDWD, w.width, x, x, R(weight))
			w.V(PADDD, w.width, Reg(p), Reg(p), R(x))
		}
	}
}

// store makes results and stores them.
func (w *byteChannelsWriter) store(tail bool) {
	const scale, bias, limits = RSI, R11, byteLeft
	w.Load(tileC, At(tileArgs, byteChannelsC))
	w.Load(byteRowC, At(tileArgs, byteChannelsCStep))
	if w.k.Kind == Largest {
		w.Add(tileC, byteChannel)
		for p := range int(w.k.Places) {
			w.V(MOVUPSstore, w.width, Reg(p), 0, M(At(tileC, 0)))
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
	w.Lea(tileC, Indexed(tileC, byteChannel, size, 0))
	w.Load(scale, At(tileArgs, byteChannelsScale))
	w.Load(bias, At(tileArgs, byteChannelsBias))
	w.Lea(scale, Indexed(scale, byteChannel, 4, 0))
	w.Lea(bias, Indexed(bias, byteChannel, 4, 0))
	w.Load(limits, At(tileArgs, byteChannelsLimits))
	for p := range int(w.k.Places) {
		w.result(Reg(p), resultAt{scale: At(scale, 0), bias: At(bias, 0), limits: limits, to: At(tileC, 0), tail: tail, count: byteChannelsTail})
		w.Add(tileC, byteRowC)
	}
}

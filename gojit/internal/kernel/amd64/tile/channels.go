package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Channels describes a kernel that convolves each channel with its own filter, or pools it, for some
// places of a row of the output of images whose channels lie together. Lanes are channels. Taps that
// fall into the padding are not in the code.
type Channels struct {
	Kind             DepthwiseKind
	ISA              asm.ISA
	Double           bool
	Relu             bool
	Tail             bool  // the last vector of channels is partial
	Places           int32 // at most ChannelsPlaces
	Step             int32 // pixels of the input from one place to the next
	KernelY, KernelX int32 // KernelY of the rows of the filter that are inside the image
	DilationY        int32
	DilationX        int32
	First, Width     int32 // column of the input that tap 0 of place 0 reads; columns there are
	Pixel, Row       int32 // bytes from one pixel, and from one row, to the next of the input
	OutPixel         int32
	Ahead, AheadRows int32     // the last AheadRows rows are fetched into the cache so many bytes ahead
	Epilogue         *Epilogue // of one input, in place of Relu, or nil
}

// ChannelsPlaces returns how many places one kernel computes at most.
func ChannelsPlaces(isa asm.ISA) int {
	if isa == asm.AVX512 {
		return 16
	}
	return 8
}

// ChannelsArgs is what a kernel of Channels receives.
type ChannelsArgs struct {
	In      unsafe.Pointer // of the image
	Out     unsafe.Pointer
	Weight  unsafe.Pointer // tap by channel, from the first row of the filter inside; or the divisors of the places
	Bias    unsafe.Pointer // for each channel, what the sums begin with
	Mask    unsafe.Pointer
	Vectors int64          // whole vectors of channels
	Last    int64          // not 0: the partial vector is to be computed, too
	Offset  int64          // bytes from In to tap 0 of place 0, which may be in the padding
	Scratch unsafe.Pointer // with an epilogue: EpilogueScratch bytes, aligned to 64
}

const (
	channelsIn = 8 * iota
	channelsOut
	channelsWeight
	channelsBias
	channelsTail
	channelsVectors
	channelsLast
	channelsOffset
	channelsScratch
)

// Code returns the kernel's code, made once.
func (c Channels) Code() *asm.Code {
	if c.Epilogue != nil {
		return c.Epilogue.channels.Get(c, c.ISA)
	}
	return channels.Get(c, c.ISA)
}

var channels Kernels[Channels]

// channelsWriter encodes one kernel; it loads and stores as tiles do.
type channelsWriter struct {
	tileWriter
	k              Channels
	input, scratch asm.Reg
	weights, held  asm.Reg // first and number of the registers that hold weights of a row of the filter
	divide         asm.Op
	epilogue       *amd64.Generator
	limits         *limits
	waiting        int // sums that wait in memory while the epilogue is applied to the others
}

// Registers of a kernel; epilogues use none of them.
const (
	channelsSource = asm.R8
	channelsTarget = asm.R9
	channelsFilter = asm.R10
	channelsStart  = asm.R11
	channelsCount  = asm.R12
	channelsMask   = epilogueMask
)

// Encode appends the kernel's code.
func (c Channels) Encode(a *asm.Assembler) {
	w := &channelsWriter{tileWriter: tileWriter{Assembler: a, mask: channelsMask, tile: Tile{ISA: c.ISA, Double: c.Double, Tail: c.Tail}, width: c.ISA.Width(), bytes: int32(c.ISA.Width().Bytes()),
		element: 4, multiplyAdd: asm.FMADD231PS, add: asm.ADDPS, splat: asm.BROADCASTSS, maximum: asm.MAXPS, minimum: asm.MINPS}, k: c, divide: asm.DIVPS}
	if c.Double {
		w.element, w.multiplyAdd, w.add, w.splat, w.maximum, w.minimum, w.divide = 8, asm.FMADD231PD, asm.ADDPD, asm.BROADCASTSD, asm.MAXPD, asm.MINPD, asm.DIVPD
	}
	w.input, w.scratch = asm.Reg(c.Places), asm.Reg(c.Places)+1
	w.weights = w.scratch + 1
	if c.Kind == Convolved {
		w.held = min(asm.Reg(c.KernelX), w.lastRegister()-w.weights)
	}
	if c.Epilogue != nil && c.Epilogue.limits != nil {
		w.limits = c.Epilogue.limits
		pool := w.NewLabel()
		w.LeaLabel(amd64.PoolReg, pool)
		w.encode()
		w.Align(8)
		w.Bind(pool)
		w.Code = w.limits.appendPool(w.Code, c.Double)
		return
	}
	if c.Epilogue != nil {
		var err error
		if w.epilogue, w.waiting, err = c.Epilogue.fit(c.ISA, int(c.Places)); err != nil {
			panic(err) // NewEpilogue has tried more sums
		}
		w.epilogue.Asm, w.Assembler = *a, &w.epilogue.Asm
		w.enterEpilogue()
	}
	w.encode()
	if c.Epilogue != nil {
		w.Align(64)
		w.Bind(w.epilogue.Pool)
		w.Code = append(w.Code, w.epilogue.PoolData...)
		*a = w.epilogue.Asm
	}
}

// encode appends the loop over the vectors of channels.
func (w *channelsWriter) encode() {
	a, c := w.Assembler, &w.k
	a.Load(channelsSource, asm.At(asm.RDI, channelsIn))
	a.AddMem(channelsSource, asm.At(asm.RDI, channelsOffset))
	a.Load(channelsTarget, asm.At(asm.RDI, channelsOut))
	a.Load(channelsFilter, asm.At(asm.RDI, channelsWeight))
	a.Load(channelsStart, asm.At(asm.RDI, channelsBias))
	w.loadTailMask(channelsTail)
	a.Load(channelsCount, asm.At(asm.RDI, channelsVectors))
	done := a.NewLabel()
	a.CmpImm(channelsCount, 0)
	a.JumpIf(asm.Equal, done)
	loop := a.Here()
	w.vector(false)
	a.AddImm(channelsSource, w.bytes)
	a.AddImm(channelsTarget, w.bytes)
	a.AddImm(channelsStart, w.bytes)
	if c.Kind == Convolved {
		a.AddImm(channelsFilter, w.bytes)
	}
	a.Dec(channelsCount)
	a.JumpIf(asm.NotEqual, loop)
	a.Bind(done)
	if c.Tail {
		end := a.NewLabel()
		a.Load(channelsCount, asm.At(asm.RDI, channelsLast))
		a.CmpImm(channelsCount, 0)
		a.JumpIf(asm.Equal, end)
		w.vector(true)
		a.Bind(end)
	}
	a.ZeroUpper()
	a.Ret()
}

// vector computes one vector of channels for all places. Each pixel of the input is loaded once for
// a row of the filter.
func (w *channelsWriter) vector(tail bool) {
	for p := range w.k.Places {
		w.loadVector(asm.Reg(p), asm.At(channelsStart, 0), tail)
	}
	for ky := range w.k.KernelY {
		for kx := range w.held {
			w.loadVector(w.weights+kx, w.weight(ky, int32(kx)), tail)
		}
		for x := range (w.k.Places-1)*w.k.Step + (w.k.KernelX-1)*w.k.DilationX + 1 {
			if w.k.First+x >= 0 && w.k.First+x < w.k.Width {
				w.pixel(ky, x, tail)
			}
		}
	}
	if w.epilogue != nil {
		w.applyEpilogue(tail)
		return
	}
	if w.limits != nil {
		w.V(w.splat, w.width, w.input, 0, asm.M(asm.At(amd64.PoolReg, 0)))
		w.V(w.splat, w.width, w.scratch, 0, asm.M(asm.At(amd64.PoolReg, w.element)))
	}
	for p := range w.k.Places {
		sum := asm.Reg(p)
		if w.limits != nil { // the second operand is what a NaN gives
			w.V(w.maximum, w.width, sum, w.input, asm.R(sum))
			w.V(w.minimum, w.width, sum, w.scratch, asm.R(sum))
		}
		if w.k.Kind == Averaged {
			w.V(w.splat, w.width, w.input, 0, asm.M(asm.At(channelsFilter, p*w.element)))
			w.V(w.divide, w.width, sum, sum, asm.R(w.input))
		}
		if w.k.Relu {
			w.clear(w.input)
			w.V(w.maximum, w.width, sum, w.input, asm.R(sum))
		}
		w.storeVector(sum, asm.At(channelsTarget, p*w.k.OutPixel), tail)
	}
}

// weight returns where the weights of a tap are.
func (w *channelsWriter) weight(ky, kx int32) asm.Mem {
	return asm.At(channelsFilter, (ky*w.k.KernelX+kx)*w.k.OutPixel)
}

// enterEpilogue loads the addresses that the epilogue needs, and makes its constants.
func (w *channelsWriter) enterEpilogue() {
	g := w.epilogue
	w.Load(amd64.ScratchReg, asm.At(asm.RDI, channelsScratch))
	g.Pool = w.NewLabel()
	w.LeaLabel(amd64.PoolReg, g.Pool)
	if w.k.ISA != asm.AVX512 {
		g.ExpandUniforms(func(*amd64.Uniform) bool { return true })
	}
}

// applyEpilogue applies the epilogue to the sums and stores them.
func (w *channelsWriter) applyEpilogue(tail bool) {
	g, kept := w.epilogue, int(w.k.Places)-w.waiting
	wait := func(p int) asm.Mem { return asm.At(amd64.ScratchReg, int32(g.Scratch+p-kept)*w.bytes) }
	for p := kept; p < int(w.k.Places); p++ {
		w.V(asm.MOVUPSstore, w.width, asm.Reg(p), 0, asm.M(wait(p)))
	}
	for i, r := range g.Fixed {
		if r >= 0 {
			g.Instruction(g.ReadUniform(asm.Reg(r), i), 0, amd64.AllLanes)
		}
	}
	for p := range int(w.k.Places) {
		sum := asm.Reg(p)
		if p >= kept { // into the register of a sum that is stored
			sum = asm.Reg(p - kept)
			w.V(asm.MOVUPS, w.width, sum, 0, asm.M(wait(p)))
		}
		for _, m := range g.Body {
			switch m.Kind {
			case amd64.StoreOut:
				w.storeVector(m.V, asm.At(channelsTarget, int32(p)*w.k.OutPixel), tail)
			case amd64.LoadInput:
				w.V(asm.MOVAPS, w.width, m.D, 0, asm.R(sum))
			default:
				g.Instruction(m, 0, amd64.AllLanes)
			}
		}
	}
}

// pixel adds one pixel to the places that read it in a row of the filter.
func (w *channelsWriter) pixel(ky, x int32, tail bool) {
	loaded := false
	for p := range w.k.Places {
		reach := x - p*w.k.Step
		if reach < 0 || reach%w.k.DilationX != 0 || reach/w.k.DilationX >= w.k.KernelX {
			continue
		}
		if !loaded {
			at := asm.At(channelsSource, ky*w.k.DilationY*w.k.Row+x*w.k.Pixel)
			w.loadVector(w.input, at, tail)
			loaded = true
			if ky >= w.k.KernelY-w.k.AheadRows {
				at.Disp += w.k.Ahead
				w.Assembler.Prefetch(asm.PrefetchNearest, at)
			}
		}
		sum := asm.Reg(p)
		switch w.k.Kind {
		case Convolved:
			kx := reach / w.k.DilationX
			switch weight := w.weight(ky, kx); {
			case kx < int32(w.held):
				w.V(w.multiplyAdd, w.width, sum, w.input, asm.R(w.weights+asm.Reg(kx)))
			case tail:
				w.loadVector(w.scratch, weight, true)
				w.V(w.multiplyAdd, w.width, sum, w.input, asm.R(w.scratch))
			default:
				w.V(w.multiplyAdd, w.width, sum, w.input, asm.M(weight))
			}
		case Averaged:
			w.V(w.add, w.width, sum, sum, asm.R(w.input))
		case Largest: // as in depthwiseWriter.pool
			w.V(w.maximum, w.width, w.scratch, sum, asm.R(w.input))
			w.V(w.maximum, w.width, sum, w.input, asm.R(sum))
			w.V(asm.ORPS, w.width, sum, sum, asm.R(w.scratch))
		}
	}
}

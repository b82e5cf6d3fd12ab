package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Depthwise describes a kernel that convolves some rows of one channel with its own filter, or pools
// them. Lanes are places along a row of the output. Sizes are code; steps in x are 1 or 2.
type Depthwise struct {
	Kind              DepthwiseKind
	ISA               asm.ISA
	Double            bool
	In, Out           int32 // elements of a row of the input and of the output
	KernelY, KernelX  int32
	StepY, StepX      int32
	DilationY         int32
	DilationX         int32
	Padding           int32 // in front of a row
	Rows              int32 // of the output, at most DepthwiseRows
	FirstRow, LastRow int32 // rows of the input there are, from the first that the first output row reads
	Add               bool  // the sums begin with what Out holds
	Relu              bool
}

// DepthwiseKind is what becomes of the inputs of a window.
type DepthwiseKind uint8

// The kinds: the sum of products with the weights, the largest input, NaN where there is one, and
// the sum divided by what Weight has for every place of the output.
const (
	Convolved DepthwiseKind = iota
	Largest
	Averaged
)

// DepthwiseRows returns how many rows of the output one kernel computes at most.
func DepthwiseRows(isa asm.ISA) int {
	if isa == asm.AVX512 {
		return 8
	}
	return 4
}

// DepthwiseArgs is what a kernel of Depthwise receives.
type DepthwiseArgs struct {
	In     unsafe.Pointer // of the channel
	Out    unsafe.Pointer // the first row
	Weight unsafe.Pointer // or the divisors of the first row
	Bias   unsafe.Pointer // one element, the sums begin with: for Largest minus infinity
	Offset int64          // bytes from In to the first row that is read, which may lie in the padding
}

const (
	depthwiseIn = 8 * iota
	depthwiseOut
	depthwiseWeight
	depthwiseBias
	depthwiseOffset
)

// Code returns the kernel's code, made once.
func (d Depthwise) Code() *asm.Code { return depthwise.Get(d, d.ISA) }

var depthwise Kernels[Depthwise]

// rangeMasks are the masks of the lanes from one to another.
var rangeMasks [9][9][8]uint32

func init() {
	for lo := range rangeMasks {
		for hi := range rangeMasks[lo] {
			for i := lo; i < hi && i < 8; i++ {
				rangeMasks[lo][hi][i] = 0xffffffff
			}
		}
	}
}

// depthwiseWriter encodes one kernel.
type depthwiseWriter struct {
	*asm.Assembler
	k                                        Depthwise
	width                                    asm.Width
	bytes, element, lanes                    int32
	input, input2, even, mask, first, held   asm.Reg // first and number of the registers that hold weights
	splat, multiplyAdd, maximum, add, divide asm.Op
}

const (
	depthwiseSource = asm.RAX
	depthwiseTarget = asm.RCX
	depthwiseFilter = asm.RDX
	depthwiseAt     = asm.RBX // moves along the row of the output, in bytes
	depthwiseFrom   = asm.RSI // moves along the row of the input
	depthwiseCount  = asm.R8
	depthwiseSpare  = asm.R9
)

// Encode appends the kernel's code.
func (d Depthwise) Encode(a *asm.Assembler) {
	w := &depthwiseWriter{Assembler: a, k: d, width: d.ISA.Width(), bytes: int32(d.ISA.Width().Bytes()), element: 4, splat: asm.BROADCASTSS, multiplyAdd: asm.FMADD231PS, maximum: asm.MAXPS, add: asm.ADDPS, divide: asm.DIVPS}
	if d.Double {
		w.element, w.splat, w.multiplyAdd, w.maximum, w.add, w.divide = 8, asm.BROADCASTSD, asm.FMADD231PD, asm.MAXPD, asm.ADDPD, asm.DIVPD
	}
	w.lanes = w.bytes / w.element
	w.input, w.input2, w.even, w.first, w.held = 8, 9, 10, 11, 20
	if d.ISA == asm.AVX2 {
		w.input, w.input2, w.mask, w.first, w.held = 4, 5, 6, 7, 8
	}
	a.Load(depthwiseFrom, asm.At(asm.RDI, depthwiseIn))
	a.AddMem(depthwiseFrom, asm.At(asm.RDI, depthwiseOffset))
	a.Load(depthwiseTarget, asm.At(asm.RDI, depthwiseOut))
	a.Load(depthwiseFilter, asm.At(asm.RDI, depthwiseWeight))
	a.Load(depthwiseSource, asm.At(asm.RDI, depthwiseBias))
	if d.StepX == 2 && d.ISA == asm.AVX512 {
		a.MoveImm(depthwiseSpare, int64(uintptr(EvenLanes(d.Double))))
		a.V(asm.MOVUPS, w.width, w.even, 0, asm.M(asm.At(depthwiseSpare, 0)))
	}
	if d.Kind == Largest {
		a.V(w.splat, w.width, w.lowest(), 0, asm.M(asm.At(depthwiseSource, 0)))
	}
	for tap := int32(0); d.Kind == Convolved && tap < min(w.taps(), int32(w.held)); tap++ {
		a.V(w.splat, w.width, w.first+asm.Reg(tap), 0, asm.M(asm.At(depthwiseFilter, tap*w.element)))
	}
	vectors := (d.Out + w.lanes - 1) / w.lanes
	for v := int32(0); v < vectors; {
		inner := v
		for inner < vectors && w.isInner(inner) {
			inner++
		}
		if inner-v < 2 {
			w.vector(v)
			v++
			continue
		}
		a.MoveImm(depthwiseCount, int64(inner-v))
		loop := a.Here()
		w.vector(v)
		w.advance(1)
		a.Dec(depthwiseCount)
		a.JumpIf(asm.NotEqual, loop)
		w.advance(v - inner) // so that what follows counts from the start of the row again
		v = inner
	}
	a.ZeroUpper()
	a.Ret()
}

// lowest and scratch are registers that only Largest needs, which has no weights.
func (w *depthwiseWriter) lowest() asm.Reg  { return w.first }
func (w *depthwiseWriter) scratch() asm.Reg { return w.first + 1 }

// advance moves along the row by some vectors.
func (w *depthwiseWriter) advance(vectors int32) {
	if w.k.Kind == Averaged {
		w.AddImm(depthwiseFilter, vectors*w.bytes)
	}
	w.AddImm(depthwiseTarget, vectors*w.bytes)
	w.AddImm(depthwiseFrom, vectors*w.bytes*w.k.StepX)
}

func (w *depthwiseWriter) taps() int32 { return w.k.KernelY * w.k.KernelX }

// columns returns the lanes of a vector whose input for a tap exists, and where in the row lane 0 reads.
func (w *depthwiseWriter) columns(v, kx int32) (lo, hi, at int32) {
	at = v*w.lanes*w.k.StepX + kx*w.k.DilationX - w.k.Padding
	hi = min(w.lanes, w.k.Out-v*w.lanes)
	for lo < hi && at+lo*w.k.StepX < 0 {
		lo++
	}
	for hi > lo && at+(hi-1)*w.k.StepX >= w.k.In {
		hi--
	}
	return lo, hi, at
}

// isInner reports whether all taps of a vector read the input only, and whole vectors of it.
func (w *depthwiseWriter) isInner(v int32) bool {
	for kx := range w.k.KernelX {
		lo, hi, at := w.columns(v, kx)
		if lo != 0 || hi != w.lanes || at+w.lanes*w.k.StepX > w.k.In {
			return false
		}
	}
	return true
}

// vector computes one vector of all rows.
func (w *depthwiseWriter) vector(v int32) {
	live := min(w.lanes, w.k.Out-v*w.lanes)
	for r := range w.k.Rows {
		if w.k.Add {
			w.loadWords(asm.Reg(r), asm.At(depthwiseTarget, (r*w.k.Out)*w.element+v*w.bytes), 0, live*w.element/4)
			continue
		}
		w.V(w.splat, w.width, asm.Reg(r), 0, asm.M(asm.At(depthwiseSource, 0)))
	}
	for row := max(w.k.FirstRow, 0); row < min(w.k.LastRow, (w.k.Rows-1)*w.k.StepY+(w.k.KernelY-1)*w.k.DilationY+1); row++ {
		for kx := range w.k.KernelX {
			w.tap(v, row, kx)
		}
	}
	if w.k.Relu {
		w.V(asm.PXOR, w.width, w.input, w.input, asm.R(w.input))
	}
	for r := range w.k.Rows {
		if w.k.Relu {
			w.V(w.maximum, w.width, asm.Reg(r), w.input, asm.R(asm.Reg(r)))
		}
		at := asm.At(depthwiseTarget, (r*w.k.Out)*w.element+v*w.bytes)
		if w.k.Kind == Averaged {
			divisors := at
			divisors.Base = depthwiseFilter
			w.divideBy(asm.Reg(r), divisors, live*w.element/4)
		}
		switch {
		case live == w.lanes:
			w.V(asm.MOVUPSstore, w.width, asm.Reg(r), 0, asm.M(at))
		case w.k.ISA == asm.AVX512:
			if r == 0 {
				w.loadMask(0, live*w.element/4)
			}
			w.VMask(asm.MOVUPSstore, w.width, asm.Reg(r), 0, asm.M(at), 1, false)
		default:
			w.loadMask(0, live*w.element/4)
			w.V(asm.MASKMOVPSstore, w.width, asm.Reg(r), w.mask, asm.M(at))
		}
	}
}

// divideBy divides a sum by the first words of memory.
func (w *depthwiseWriter) divideBy(sum asm.Reg, m asm.Mem, words int32) {
	if words == w.bytes/4 {
		w.V(w.divide, w.width, sum, sum, asm.M(m))
		return
	}
	w.loadWords(w.input, m, 0, words)
	w.V(w.divide, w.width, sum, sum, asm.R(w.input))
}

// tap loads what a row of the input gives to one column of the filter and adds it to the rows of the
// output that read it.
func (w *depthwiseWriter) tap(v, row, kx int32) {
	loaded := false
	for r := range w.k.Rows {
		reach := row - r*w.k.StepY
		if reach < 0 || reach%w.k.DilationY != 0 || reach/w.k.DilationY >= w.k.KernelY {
			continue
		}
		if !loaded {
			if !w.load(v, row, kx) {
				return
			}
			loaded = true
		}
		if w.k.Kind != Convolved {
			w.pool(asm.Reg(r))
			continue
		}
		tap := reach/w.k.DilationY*w.k.KernelX + kx
		switch weight := w.first + asm.Reg(tap); {
		case tap < int32(w.held):
			w.V(w.multiplyAdd, w.width, asm.Reg(r), w.input, asm.R(weight))
		case w.k.ISA == asm.AVX512:
			w.V(w.multiplyAdd, w.width, asm.Reg(r), w.input, asm.Splat(asm.At(depthwiseFilter, tap*w.element)))
		default:
			w.V(w.splat, w.width, 15, 0, asm.M(asm.At(depthwiseFilter, tap*w.element)))
			w.V(w.multiplyAdd, w.width, asm.Reg(r), w.input, asm.R(15))
		}
	}
}

// pool adds the inputs to a sum, or takes the larger of both. A maximum is its second operand where
// one is NaN, so two of them, joined, are NaN where either is; else they are equal.
func (w *depthwiseWriter) pool(sum asm.Reg) {
	if w.k.Kind == Averaged {
		w.V(w.add, w.width, sum, sum, asm.R(w.input))
		return
	}
	w.V(w.maximum, w.width, w.scratch(), sum, asm.R(w.input))
	w.V(w.maximum, w.width, sum, w.input, asm.R(sum))
	w.V(asm.ORPS, w.width, sum, sum, asm.R(w.scratch()))
}

// load loads the inputs of a vector for a tap; it reports false where all are in the padding.
func (w *depthwiseWriter) load(v, row, kx int32) bool {
	lo, hi, at := w.columns(v, kx)
	if lo >= hi {
		return false
	}
	words, step := w.element/4, w.k.StepX
	// the words of memory, from lane 0 on, that may be read
	first, last := lo*step*words, ((hi-1)*step+1)*words
	if at+w.lanes*step <= w.k.In && at >= 0 && hi == w.lanes {
		first, last = 0, w.lanes*step*words
	}
	size := w.bytes / 4
	for half := range step {
		w.loadWords(w.input+asm.Reg(half), asm.At(depthwiseFrom, (row*w.k.In+at)*w.element+half*w.bytes), max(first-half*size, 0), min(last-half*size, size))
	}
	if step == 2 {
		w.joinEven()
	}
	if w.k.Kind == Largest && (lo != 0 || hi != w.lanes) {
		w.replaceMissing(lo*words, hi*words)
	}
	return true
}

// replaceMissing gives the lanes without input, behind words lo to hi, the lowest value.
func (w *depthwiseWriter) replaceMissing(lo, hi int32) {
	w.loadMask(lo, hi)
	if w.k.ISA == asm.AVX512 {
		w.V(asm.MOVAPS, w.width, w.scratch(), 0, asm.R(w.input))
		w.V(asm.MOVAPS, w.width, w.input, 0, asm.R(w.lowest()))
		w.VMask(asm.MOVAPS, w.width, w.input, 0, asm.R(w.scratch()), 1, false)
		return
	}
	w.VImm(asm.BLENDVPS, w.width, w.input, w.lowest(), asm.R(w.input), uint8(w.mask))
}

// loadWords loads the words from lo to hi of a vector and clears the others.
func (w *depthwiseWriter) loadWords(d asm.Reg, m asm.Mem, lo, hi int32) {
	switch {
	case lo >= hi:
		w.V(asm.PXOR, w.width, d, d, asm.R(d))
	case lo == 0 && hi == w.bytes/4:
		w.V(asm.MOVUPS, w.width, d, 0, asm.M(m))
	case w.k.ISA == asm.AVX512:
		w.loadMask(lo, hi)
		w.VMask(asm.MOVUPS, w.width, d, 0, asm.M(m), 1, true)
	default:
		w.loadMask(lo, hi)
		w.V(asm.MASKMOVPS, w.width, d, w.mask, asm.M(m))
	}
}

// loadMask makes the mask of the words from lo to hi.
func (w *depthwiseWriter) loadMask(lo, hi int32) {
	if w.k.ISA == asm.AVX512 {
		w.MoveImm(depthwiseSpare, int64(1)<<hi-int64(1)<<lo)
		w.KMove(1, depthwiseSpare)
		return
	}
	w.MoveImm(depthwiseSpare, int64(uintptr(unsafe.Pointer(&rangeMasks[lo][hi]))))
	w.V(asm.MOVUPS, w.width, w.mask, 0, asm.M(asm.At(depthwiseSpare, 0)))
}

// joinEven leaves the even lanes of the two input registers in the first.
func (w *depthwiseWriter) joinEven() {
	switch {
	case w.k.ISA == asm.AVX512 && w.k.Double:
		w.V(asm.PERMT2PD, w.width, w.input, w.even, asm.R(w.input2))
	case w.k.ISA == asm.AVX512:
		w.V(asm.PERMT2PS, w.width, w.input, w.even, asm.R(w.input2))
	case w.k.Double:
		w.V(asm.UNPCKLPD, w.width, w.input, w.input, asm.R(w.input2))
		w.VImm(asm.PERMQ, w.width, w.input, 0, asm.R(w.input), 0xd8)
	default:
		w.VImm(asm.SHUFPS, w.width, w.input, w.input, asm.R(w.input2), 0x88)
		w.VImm(asm.PERMQ, w.width, w.input, 0, asm.R(w.input), 0xd8)
	}
}

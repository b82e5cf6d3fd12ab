package amd64

import "unsafe"

// Patches describes a kernel that packs what a convolution reads: for every tap of the filter and
// every channel one row of Vectors vectors, whose lanes are places of the output. The lanes of a
// vector are gathered from Segments runs of the input; lanes that no run has, those in the padding,
// are zero.
//
// The runs are in a table: for each tap and each vector Segments offsets into a channel, 8 bytes
// each, then the masks of the lanes they fill. With Step 2 the lanes are every other element of
// memory, so each run has two masks, for the elements of one vector of memory and of the next.
type Patches struct {
	ISA      ISA
	Double   bool
	Vectors  uint8
	Segments uint8 // 1 to MaxSegments
	Step     uint8 // 1 or 2
}

// MaxSegments is the most runs that a vector is gathered from.
const MaxSegments = 4

// PatchesArgs is what a kernel of Patches receives. Strides are in bytes.
type PatchesArgs struct {
	From, To    unsafe.Pointer
	Table       unsafe.Pointer
	Even        unsafe.Pointer // with AVX-512 and Step 2: EvenLanes
	Taps        int64
	Channels    int64
	FromChannel int64 // from one channel of the input to the next
	ToChannel   int64 // from the rows of one channel to those of the next
}

const (
	patchesFrom = 8 * iota
	patchesTo
	patchesTable
	patchesEven
	patchesTaps
	patchesChannels
	patchesFromChannel
	patchesToChannel
)

// MaskBytes returns the size of a mask in the table of Patches.
func MaskBytes(isa ISA) int {
	if isa == AVX512 {
		return 8
	}
	return 32
}

// PutMask writes a mask of Patches that selects the lanes whose bits are set, a lane being four bytes.
func PutMask(isa ISA, to unsafe.Pointer, lanes uint32) {
	if isa == AVX512 {
		*(*uint64)(to) = uint64(lanes)
		return
	}
	for i, m := 0, (*[8]uint32)(to); i < 8; i++ {
		m[i] = -(lanes >> i & 1)
	}
}

var (
	evenFloats  [16]uint32
	evenDoubles [8]uint64
)

func init() {
	for i := range evenFloats {
		evenFloats[i] = uint32(2 * i)
	}
	for i := range evenDoubles {
		evenDoubles[i] = uint64(2 * i)
	}
}

// EvenLanes returns the indices that Step 2 needs with AVX-512.
func EvenLanes(double bool) unsafe.Pointer {
	if double {
		return unsafe.Pointer(&evenDoubles)
	}
	return unsafe.Pointer(&evenFloats)
}

// Code returns the kernel's code, made once.
func (p Patches) Code() *Code { return patches.Get(p, p.ISA) }

var patches Kernels[Patches]

// EntryBytes returns the size of what the table has for one tap and vector.
func (p Patches) EntryBytes() int {
	return int(p.Segments) * (8 + int(p.Step)*MaskBytes(p.ISA))
}

// patchesWriter encodes one kernel.
type patchesWriter struct {
	*Assembler
	kernel Patches
	width  Width
	bytes  int32
}

const (
	patchesTap         = RCX
	patchesEntry       = RDX
	patchesChannel     = R8
	patchesTarget      = R9
	patchesTargetStart = R10
	patchesSourceStep  = R12
	patchesTargetStep  = R13
	patchesCount       = R15
)

var patchesRuns = [MaxSegments]Reg{RAX, RBX, RSI, R11}

// Encode appends the kernel's code.
func (p Patches) Encode(a *Assembler) {
	w := &patchesWriter{Assembler: a, kernel: p, width: p.ISA.Width(), bytes: int32(p.ISA.Width().Bytes())}
	a.Load(patchesTargetStart, At(RDI, patchesTo))
	a.Load(patchesEntry, At(RDI, patchesTable))
	a.Load(patchesTap, At(RDI, patchesTaps))
	a.Load(patchesSourceStep, At(RDI, patchesFromChannel))
	a.Load(patchesTargetStep, At(RDI, patchesToChannel))
	if p.Step == 2 && p.ISA == AVX512 {
		a.Load(patchesCount, At(RDI, patchesEven))
		a.V(MOVUPS, w.width, w.even(), 0, M(At(patchesCount, 0)))
	}
	loop := a.Here()
	for range p.Vectors {
		w.vector()
	}
	a.Dec(patchesTap)
	a.JumpIf(NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

// even is the register of the indices of the even lanes.
func (w *patchesWriter) even() Reg { return 31 }

// mask is the register of a mask: an opmask, or a vector with AVX2.
func (w *patchesWriter) mask(i int) Reg {
	if w.kernel.ISA == AVX512 {
		return Reg(i)%7 + 1
	}
	return Reg(4 + i)
}

// vector packs one vector for the current tap, all channels.
func (w *patchesWriter) vector() {
	segments, masks := int(w.kernel.Segments), int(w.kernel.Segments)*int(w.kernel.Step)
	for s := range segments {
		w.Load(patchesRuns[s], At(patchesEntry, int32(8*s)))
		w.AddMem(patchesRuns[s], At(RDI, patchesFrom))
	}
	hoisted := masks <= 7
	for i := range masks {
		if hoisted {
			w.loadMask(i)
		}
	}
	w.Move(patchesTarget, patchesTargetStart)
	w.Load(patchesCount, At(RDI, patchesChannels))
	loop := w.Here()
	for s := range segments {
		for half := range int(w.kernel.Step) {
			i := s*int(w.kernel.Step) + half
			if !hoisted {
				w.loadMask(i)
			}
			w.gather(Reg(half), At(patchesRuns[s], int32(half)*w.bytes), w.mask(i), s == 0)
		}
		w.Add(patchesRuns[s], patchesSourceStep)
	}
	if w.kernel.Step == 2 {
		w.joinEven()
	}
	w.V(MOVUPSstore, w.width, 0, 0, M(At(patchesTarget, 0)))
	w.Add(patchesTarget, patchesTargetStep)
	w.Dec(patchesCount)
	w.JumpIf(NotEqual, loop)
	w.AddImm(patchesTargetStart, w.bytes)
	w.AddImm(patchesEntry, int32(w.kernel.EntryBytes()))
}

func (w *patchesWriter) loadMask(i int) {
	at := At(patchesEntry, int32(8*int(w.kernel.Segments)+i*MaskBytes(w.kernel.ISA)))
	if w.kernel.ISA == AVX512 {
		w.KLoad(w.mask(i), at)
	} else {
		w.V(MOVUPS, w.width, w.mask(i), 0, M(at))
	}
}

// gather loads the lanes of a run into d, which has those of other runs unless first.
func (w *patchesWriter) gather(d Reg, m Mem, mask Reg, first bool) {
	const scratch = 3
	switch {
	case w.kernel.ISA == AVX512:
		w.VMask(MOVUPS, w.width, d, 0, M(m), mask, first)
	case first:
		w.V(MASKMOVPS, w.width, d, mask, M(m))
	default:
		w.V(MASKMOVPS, w.width, scratch, mask, M(m))
		w.V(ORPS, w.width, d, d, R(scratch))
	}
}

// joinEven leaves the even lanes of registers 0 and 1 in register 0.
func (w *patchesWriter) joinEven() {
	switch {
	case w.kernel.ISA == AVX512 && w.kernel.Double:
		w.V(PERMT2PD, w.width, 0, w.even(), R(1))
	case w.kernel.ISA == AVX512:
		w.V(PERMT2PS, w.width, 0, w.even(), R(1))
	case w.kernel.Double:
		w.V(UNPCKLPD, w.width, 0, 0, R(1))
		w.VImm(PERMQ, w.width, 0, 0, R(0), 0xd8)
	default:
		w.VImm(SHUFPS, w.width, 0, 0, R(1), 0x88)
		w.VImm(PERMQ, w.width, 0, 0, R(0), 0xd8)
	}
}

package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Patches describes a kernel that packs what a convolution reads: for every channel and every tap of
// the filter one row of Vectors vectors, whose lanes are places of the output. The lanes of a vector
// are gathered from Segments runs of the input; lanes that no run has, those in the padding, are zero.
//
// The runs are in a table. For each vector it has the masks of the lanes that the runs fill, for each
// tap along x, and then for each row of the filter and each run 16 bytes: the offset of lane 0 for the
// first tap, and how far it is from one channel to the next. With Step 2 the lanes are every other element of memory: each run
// has two masks, for one vector of memory and for the next. Where also Dilation is 1 two taps share
// them, the second of which takes the odd elements.
type Patches struct {
	ISA      asm.ISA
	Double   bool
	Vectors  uint8
	Segments uint8 // 1 to MaxSegments
	Step     uint8 // 1 or 2
	Taps     int32 // of a row of the filter
	Dilation int32
	Row      int32 // bytes from one row to the next of the result
}

// MaxSegments is the most runs that a vector is gathered from.
const MaxSegments = 4

// PatchesArgs is what a kernel of Patches receives. Strides are in bytes.
type PatchesArgs struct {
	From, To  unsafe.Pointer
	Table     unsafe.Pointer
	Rows      int64 // of the filter
	Channels  int64
	ToChannel int64 // from the rows of one channel to those of the next
}

const (
	patchesFrom = 8 * iota
	patchesTo
	patchesTable
	patchesRows
	patchesChannels
	patchesToChannel
)

// MaskBytes returns the size of a mask in the table of Patches.
func MaskBytes(isa asm.ISA) int {
	if isa == asm.AVX512 {
		return 8
	}
	return 32
}

// PutMask writes a mask of Patches that selects the lanes whose bits are set, a lane being four bytes.
func PutMask(isa asm.ISA, to unsafe.Pointer, lanes uint32) {
	if isa == asm.AVX512 {
		*(*uint64)(to) = uint64(lanes)
		return
	}
	for i, m := 0, (*[8]uint32)(to); i < 8; i++ {
		m[i] = -(lanes >> i & 1)
	}
}

var (
	evenFloats, oddFloats   [16]uint32
	evenDoubles, oddDoubles [8]uint64
)

func init() {
	for i := range evenFloats {
		evenFloats[i], oddFloats[i] = uint32(2*i), uint32(2*i+1)
	}
	for i := range evenDoubles {
		evenDoubles[i], oddDoubles[i] = uint64(2*i), uint64(2*i+1)
	}
}

func oddLanes(double bool) unsafe.Pointer {
	if double {
		return unsafe.Pointer(&oddDoubles)
	}
	return unsafe.Pointer(&oddFloats)
}

// EvenLanes returns the indices of every other element of two vectors, for AVX-512.
func EvenLanes(double bool) unsafe.Pointer {
	if double {
		return unsafe.Pointer(&evenDoubles)
	}
	return unsafe.Pointer(&evenFloats)
}

// Code returns the kernel's code, made once.
func (p Patches) Code() *asm.Code { return patches.Get(p, p.ISA) }

var patches Kernels[Patches]

// InPairs reports whether two taps share their loads.
func (p *Patches) InPairs() bool { return p.Step == 2 && p.Dilation == 1 }

// Loads returns how many taps, or pairs of them, along x have masks of their own.
func (p *Patches) Loads() int {
	if p.InPairs() {
		return int(p.Taps+1) / 2
	}
	return int(p.Taps)
}

// MasksBytes returns the size of the masks of one vector; those of a load follow each other, run by run.
func (p *Patches) MasksBytes() int {
	return p.Loads() * int(p.Segments) * int(p.Step) * MaskBytes(p.ISA)
}

// patchesWriter encodes one kernel.
type patchesWriter struct {
	*asm.Assembler
	kernel  Patches
	width   asm.Width
	bytes   int32
	element int32
	hoisted bool // the masks stay in registers
}

const (
	patchesRow         = asm.RCX
	patchesEntry       = asm.RDX
	patchesMasks       = asm.R8
	patchesTarget      = asm.R9
	patchesTargetStart = asm.R10
	patchesTargetStep  = asm.R13
	patchesCount       = asm.R15
)

var patchesRuns = [MaxSegments]asm.Reg{asm.RAX, asm.RBX, asm.RSI, asm.R11}

// Vector registers: what is gathered, the odd elements, scratch, and the masks with AVX2 or the
// indices with AVX-512.
const (
	patchesLow  = asm.Reg(0)
	patchesHigh = asm.Reg(1)
	patchesOdd  = asm.Reg(2)
	patchesTemp = asm.Reg(3)
	patchesMask = asm.Reg(4)
	evenIndices = asm.Reg(31)
	oddIndices  = asm.Reg(30)
)

// Encode appends the kernel's code.
func (p Patches) Encode(a *asm.Assembler) {
	w := &patchesWriter{Assembler: a, kernel: p, width: p.ISA.Width(), bytes: int32(p.ISA.Width().Bytes()), element: 4}
	if p.Double {
		w.element = 8
	}
	w.hoisted = p.Loads()*int(p.Segments)*int(p.Step) <= 7
	a.Load(patchesEntry, asm.At(asm.RDI, patchesTable))
	a.Load(patchesTargetStep, asm.At(asm.RDI, patchesToChannel))
	if p.Step == 2 && p.ISA == asm.AVX512 {
		a.MoveImm(patchesCount, int64(uintptr(EvenLanes(p.Double))))
		a.V(asm.MOVUPS, w.width, evenIndices, 0, asm.M(asm.At(patchesCount, 0)))
		a.MoveImm(patchesCount, int64(uintptr(oddLanes(p.Double))))
		a.V(asm.MOVUPS, w.width, oddIndices, 0, asm.M(asm.At(patchesCount, 0)))
	}
	for v := range p.Vectors {
		w.vector(int32(v))
	}
	a.ZeroUpper()
	a.Ret()
}

// vector packs one vector for all rows of the filter and all channels.
func (w *patchesWriter) vector(v int32) {
	w.Move(patchesMasks, patchesEntry)
	if w.hoisted {
		for i := range w.kernel.Loads() * int(w.kernel.Segments*w.kernel.Step) {
			w.loadMask(i)
		}
	}
	w.AddImm(patchesEntry, int32(w.kernel.MasksBytes()))
	w.Load(patchesTargetStart, asm.At(asm.RDI, patchesTo))
	w.AddImm(patchesTargetStart, v*w.bytes)
	w.Load(patchesRow, asm.At(asm.RDI, patchesRows))
	rows := w.Here()
	for s := range w.kernel.Segments {
		w.Load(patchesRuns[s], asm.At(patchesEntry, 16*int32(s)))
		w.AddMem(patchesRuns[s], asm.At(asm.RDI, patchesFrom))
	}
	w.AddImm(patchesEntry, 16*int32(w.kernel.Segments))
	w.Move(patchesTarget, patchesTargetStart)
	w.Load(patchesCount, asm.At(asm.RDI, patchesChannels))
	channels := w.Here()
	for i := range w.kernel.Loads() {
		w.gather(int32(i))
	}
	for s := range w.kernel.Segments {
		w.AddMem(patchesRuns[s], asm.At(patchesEntry, 8-16*int32(w.kernel.Segments-s)))
	}
	w.Add(patchesTarget, patchesTargetStep)
	w.Dec(patchesCount)
	w.JumpIf(asm.NotEqual, channels)
	w.AddImm(patchesTargetStart, w.kernel.Taps*w.kernel.Row)
	w.Dec(patchesRow)
	w.JumpIf(asm.NotEqual, rows)
}

// gather packs one tap along x, or a pair.
func (w *patchesWriter) gather(load int32) {
	step := int32(w.kernel.Step)
	tap := load
	if w.kernel.InPairs() {
		tap *= 2
	}
	for s := range w.kernel.Segments {
		for half := range step {
			at := asm.At(patchesRuns[s], tap*w.kernel.Dilation*w.element+half*w.bytes)
			w.loadLanes(patchesLow+asm.Reg(half), at, int((load*int32(w.kernel.Segments)+int32(s))*step+half), s == 0)
		}
	}
	if step == 1 {
		w.store(patchesLow, tap)
		return
	}
	if w.kernel.InPairs() && tap+1 < w.kernel.Taps {
		w.join(patchesOdd, oddIndices, asm.UNPCKHPD, 0xdd)
		w.store(patchesOdd, tap+1)
	}
	w.join(patchesTemp, evenIndices, asm.UNPCKLPD, 0x88)
	w.store(patchesTemp, tap)
}

func (w *patchesWriter) store(r asm.Reg, tap int32) {
	w.V(asm.MOVUPSstore, w.width, r, 0, asm.M(asm.At(patchesTarget, tap*w.kernel.Row)))
}

// mask is the register of a mask: an opmask, or a vector with AVX2.
func (w *patchesWriter) mask(i int) asm.Reg {
	if w.kernel.ISA == asm.AVX512 {
		return asm.Reg(i)%7 + 1
	}
	return patchesMask + asm.Reg(i)%8
}

func (w *patchesWriter) loadMask(i int) {
	at := asm.At(patchesMasks, int32(i*MaskBytes(w.kernel.ISA)))
	if w.kernel.ISA == asm.AVX512 {
		w.KLoad(w.mask(i), at)
	} else {
		w.V(asm.MOVUPS, w.width, w.mask(i), 0, asm.M(at))
	}
}

// loadLanes loads the lanes of a run into d, which has those of other runs unless first.
func (w *patchesWriter) loadLanes(d asm.Reg, m asm.Mem, mask int, first bool) {
	if !w.hoisted {
		w.loadMask(mask)
	}
	switch {
	case w.kernel.ISA == asm.AVX512:
		w.VMask(asm.MOVUPS, w.width, d, 0, asm.M(m), w.mask(mask), first)
	case first:
		w.V(asm.MASKMOVPS, w.width, d, w.mask(mask), asm.M(m))
	default:
		w.V(asm.MASKMOVPS, w.width, patchesTemp, w.mask(mask), asm.M(m))
		w.V(asm.ORPS, w.width, d, d, asm.R(patchesTemp))
	}
}

// join leaves every other lane of the gathered vectors in d.
func (w *patchesWriter) join(d, indices asm.Reg, double asm.Op, single uint8) {
	switch {
	case w.kernel.ISA == asm.AVX512 && w.kernel.Double:
		w.V(asm.MOVAPS, w.width, d, 0, asm.R(patchesLow))
		w.V(asm.PERMT2PD, w.width, d, indices, asm.R(patchesHigh))
	case w.kernel.ISA == asm.AVX512:
		w.V(asm.MOVAPS, w.width, d, 0, asm.R(patchesLow))
		w.V(asm.PERMT2PS, w.width, d, indices, asm.R(patchesHigh))
	case w.kernel.Double:
		w.V(double, w.width, d, patchesLow, asm.R(patchesHigh))
		w.VImm(asm.PERMQ, w.width, d, 0, asm.R(d), 0xd8)
	default:
		w.VImm(asm.SHUFPS, w.width, d, patchesLow, asm.R(patchesHigh), single)
		w.VImm(asm.PERMQ, w.width, d, 0, asm.R(d), 0xd8)
	}
}

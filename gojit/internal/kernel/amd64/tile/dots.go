package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Dots describes a kernel for a product with a transposed matrix, whose rows are summed along the
// lanes:
//
//	C[r][j] = sum over k of A[r][k]*B[j][k]
//
// for all rows r of A and j of B. Mask of DotsArgs selects what is behind the last whole vector of
// a row, and is needed where K is no multiple of the lanes.
type Dots struct {
	ISA    asm.ISA
	Double bool
	Pairs  bool  // as in Tile
	Half   Half  // what B holds instead of float32; needs AVX512
	Add    bool  // C is added to
	Bias   bool  // each row of C gets DotsArgs.Bias added
	Rows   uint8 // of A, 1 to 4; with AVX2 1 or 2
	Groups uint8 // of rows of B, which DotsGroup tells the size of
}

// DotsGroup is how many rows of B a group of Dots has.
func DotsGroup(double bool) int {
	if double {
		return 2
	}
	return 4
}

// DotsArgs is what a kernel of Dots receives. Strides are in bytes.
type DotsArgs struct {
	A, B, C          unsafe.Pointer
	Mask             unsafe.Pointer
	ARow, BRow, CRow int64
	K                int64
	Bias             unsafe.Pointer // one element for each column
}

const (
	dotsA = 8 * iota
	dotsB
	dotsC
	dotsMask
	dotsARow
	dotsBRow
	dotsCRow
	dotsK
	dotsBias
)

// Code returns the kernel's code, made once.
func (d Dots) Code() *asm.Code { return dots.Get(d, d.ISA) }

var dots Kernels[Dots]

// DotsShapes returns the rows and groups of the kernels worth having: for 1, 2 and, with AVX-512, 4 rows.
func DotsShapes(isa asm.ISA) [][2]uint8 {
	if isa == asm.AVX512 {
		return [][2]uint8{{1, 2}, {1, 1}, {2, 2}, {2, 1}, {3, 1}, {4, 1}}
	}
	return [][2]uint8{{1, 2}, {1, 1}, {2, 1}}
}

// dotsWriter encodes one kernel.
type dotsWriter struct {
	tileWriter
	rows, columns, group int
	kernel               Dots
}

// Registers for the rows of A, which are few, and for every third row of B.
const (
	dotsBaseA  = asm.R10
	dotsThird  = asm.R9 // row 3 of A
	dotsRowA   = asm.R8
	dotsRowB   = asm.R12
	dotsBiasAt = asm.RAX // once B is done with
)

// Encode appends the kernel's code.
func (d Dots) Encode(a *asm.Assembler) {
	w := &dotsWriter{kernel: d, tileWriter: tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: d.ISA, Tail: true}, width: d.ISA.Width(), bytes: int32(d.ISA.Width().Bytes()), element: 4}, rows: int(d.Rows), group: DotsGroup(d.Double)}
	w.multiplyAdd, w.add = asm.FMADD231PS, asm.ADDPS
	if d.Double {
		w.element, w.multiplyAdd, w.add = 8, asm.FMADD231PD, asm.ADDPD
	}
	if d.Pairs {
		w.multiplyAdd = asm.DPBF16PS
	}
	w.columns = int(d.Groups) * w.group
	w.setSets()
	w.tileWriter.rows, w.tileWriter.vectors = w.rows, w.columns // for combine
	a.Load(dotsBaseA, asm.At(tileArgs, dotsA))
	a.Load(dotsRowA, asm.At(tileArgs, dotsARow))
	if w.rows > 3 {
		a.Lea(dotsThird, asm.Indexed(dotsBaseA, dotsRowA, 2, 0))
		a.Add(dotsThird, dotsRowA)
	}
	a.Load(tileBases[0], asm.At(tileArgs, dotsB))
	a.Load(dotsRowB, asm.At(tileArgs, dotsBRow))
	for j := 3; j < w.columns; j += 3 {
		a.Lea(tileBases[j/3], asm.Indexed(tileBases[j/3-1], dotsRowB, 2, 0))
		a.Add(tileBases[j/3], dotsRowB)
	}
	w.loadTailMask(dotsMask)
	a.Load(tileK, asm.At(tileArgs, dotsK))
	for i := range w.sets * w.rows * w.columns {
		w.clear(asm.Reg(i))
	}
	w.sum()
	w.combine()
	w.store()
	a.ZeroUpper()
	a.Ret()
}

// setSets chooses how many sets of accumulators hide the latency.
func (w *dotsWriter) setSets() {
	w.sets = 1
	for n := w.rows * w.columns; n*w.sets < 8 && 2*n*w.sets+w.rows+2 <= w.tile.ISA.Registers(); {
		w.sets *= 2
	}
}

// sum adds up the lanes.
func (w *dotsWriter) sum() {
	lanes := int32(w.sets) * w.bytes / w.element
	single := w.bytes / w.element
	loop, rest, tail, done := w.NewLabel(), w.NewLabel(), w.NewLabel(), w.NewLabel()
	w.SubImm(tileK, lanes)
	w.JumpIf(asm.Less, rest)
	w.Align(32)
	w.Bind(loop)
	for s := range w.sets {
		w.step(s, int32(s)*w.bytes, false)
	}
	w.advance(int32(w.sets) * w.bytes)
	w.SubImm(tileK, lanes)
	w.JumpIf(asm.GreaterEqual, loop)
	w.Bind(rest)
	w.AddImm(tileK, lanes)
	if w.sets > 1 {
		w.SubImm(tileK, single)
		w.JumpIf(asm.Less, tail)
		again := w.Here()
		w.step(0, 0, false)
		w.advance(w.bytes)
		w.SubImm(tileK, single)
		w.JumpIf(asm.GreaterEqual, again)
		w.Bind(tail)
		w.AddImm(tileK, single)
	}
	w.CmpImm(tileK, 0)
	w.JumpIf(asm.Equal, done)
	w.step(0, 0, true)
	w.Bind(done)
}

func (w *dotsWriter) advance(n int32) {
	w.AddImm(dotsBaseA, n)
	if w.rows > 3 {
		w.AddImm(dotsThird, n)
	}
	for j := 0; j < w.columns; j += 3 {
		w.AddImm(tileBases[j/3], w.ofB(n))
	}
}

// ofB returns how many bytes of B there are for so many of A.
func (w *dotsWriter) ofB(n int32) int32 {
	if w.kernel.Half != NoHalf {
		return n / 2
	}
	return n
}

// step multiplies one vector of each row.
func (w *dotsWriter) step(set int, at int32, tail bool) {
	size := w.rows * w.columns
	x := asm.Reg(w.sets * size)
	y := x + asm.Reg(w.rows)
	for r := range w.rows {
		m := asm.At(dotsBaseA, at)
		if r == 3 {
			m.Base = dotsThird
		} else if r > 0 {
			m.Index, m.Scale = dotsRowA, uint8(r)
		}
		w.loadVector(x+asm.Reg(r), m, tail)
	}
	for j := range w.columns {
		m := asm.At(tileBases[j/3], w.ofB(at))
		if j%3 != 0 {
			m.Index, m.Scale = dotsRowB, uint8(j%3)
		}
		if w.kernel.Half != NoHalf {
			w.loadHalf(w.kernel.Half, y, m, tail)
		} else {
			w.loadVector(y, m, tail)
		}
		for r := range w.rows {
			w.V(w.multiplyAdd, w.width, asm.Reg(set*size+r*w.columns+j), y, asm.R(x+asm.Reg(r)))
		}
	}
}

// store reduces the lanes of a group of columns for all rows at once and stores them: row r ends
// up in 128-bit part r of one vector.
func (w *dotsWriter) store() {
	w.Load(tileC, asm.At(tileArgs, dotsC))
	w.Load(tileK, asm.At(tileArgs, dotsCRow))
	if w.kernel.Bias {
		w.Load(dotsBiasAt, asm.At(tileArgs, dotsBias))
	}
	free := asm.Reg(w.rows * w.columns)
	for g := range w.columns / w.group {
		column := func(c int) [4]asm.Reg {
			var sums [4]asm.Reg
			for r := range sums {
				sums[r] = asm.Reg(min(r, w.rows-1)*w.columns + g*w.group + c)
			}
			return sums
		}
		for c := range w.group {
			w.gatherRows(column(c), free)
		}
		w.addLanes(func(c int) asm.Reg { return column(c)[0] }, free)
		at := asm.At(tileC, int32(g)*16)
		sum := column(0)[0]
		w.storePart(sum, free, 0, at, int32(g)*16)
		for r := 1; r < w.rows; r++ {
			if r == 3 {
				w.Lea(tileARow, asm.Indexed(tileC, tileK, 2, 0))
				at.Base, at.Scale = tileARow, 1
			} else {
				at.Scale = uint8(r)
			}
			at.Index = tileK
			w.storePart(sum, free, uint8(r), at, int32(g)*16)
		}
	}
}

// storePart stores 128-bit part i of a register, with what is added to it in a scratch register.
func (w *dotsWriter) storePart(sum, scratch asm.Reg, i uint8, at asm.Mem, column int32) {
	extract := asm.EXTRACTF128store
	if w.tile.ISA == asm.AVX512 {
		extract = asm.EXTRACTF32X4store
	}
	part := sum // the lowest as it is: changing it would clear the others
	switch {
	case i == 0:
	case w.kernel.Add || w.kernel.Bias:
		w.VImm(extract, w.width, sum, 0, asm.R(scratch), i)
		part = scratch
	default:
		w.VImm(extract, w.width, sum, 0, asm.M(at), i)
		return
	}
	if w.kernel.Add {
		w.V(w.add, asm.W128, scratch, part, asm.M(at))
		part = scratch
	}
	if w.kernel.Bias {
		w.V(w.add, asm.W128, scratch, part, asm.M(asm.At(dotsBiasAt, column)))
		part = scratch
	}
	w.V(asm.MOVUPSstore, asm.W128, part, 0, asm.M(at))
}

// gatherRows adds the 128-bit parts of each sum and leaves row r in part r of the first.
func (w *dotsWriter) gatherRows(sums [4]asm.Reg, free asm.Reg) {
	if w.tile.ISA == asm.AVX2 {
		w.VImm(asm.PERM2F128, w.width, free, sums[0], asm.R(sums[1]), 0x20)
		w.VImm(asm.PERM2F128, w.width, free+1, sums[0], asm.R(sums[1]), 0x31)
		w.V(w.add, w.width, sums[0], free, asm.R(free+1))
		return
	}
	fold := func(d, a, b asm.Reg) {
		w.VImm(asm.SHUFF32X4, w.width, free, a, asm.R(b), 0x88)
		w.VImm(asm.SHUFF32X4, w.width, free+1, a, asm.R(b), 0xdd)
		w.V(w.add, w.width, d, free, asm.R(free+1))
	}
	fold(free+2, sums[0], sums[1])
	fold(free+3, sums[2], sums[3])
	fold(sums[0], free+2, free+3)
}

// addLanes adds the elements of each 128-bit part; column c ends up in element c of the first sum.
func (w *dotsWriter) addLanes(sum func(c int) asm.Reg, free asm.Reg) {
	pair := func(d, a, b asm.Reg, low, high asm.Op) {
		w.V(low, w.width, free, a, asm.R(b))
		w.V(high, w.width, free+1, a, asm.R(b))
		w.V(w.add, w.width, d, free, asm.R(free+1))
	}
	if w.group == 2 {
		pair(sum(0), sum(0), sum(1), asm.UNPCKLPD, asm.UNPCKHPD)
		return
	}
	pair(sum(0), sum(0), sum(1), asm.UNPCKLPS, asm.UNPCKHPS)
	pair(sum(2), sum(2), sum(3), asm.UNPCKLPS, asm.UNPCKHPS)
	pair(sum(0), sum(0), sum(2), asm.UNPCKLPD, asm.UNPCKHPD)
}

package amd64

import "unsafe"

// Dots describes a kernel for a product with a transposed matrix, whose rows are summed along the
// lanes:
//
//	C[r][j] = sum over k of A[r][k]*B[j][k]
//
// for all rows r of A and j of B. Mask of DotsArgs selects what is behind the last whole vector of
// a row, and is needed where K is no multiple of the lanes.
type Dots struct {
	ISA    ISA
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
func (d Dots) Code() *Code { return dots.Get(d, d.ISA) }

var dots Kernels[Dots]

// DotsShapes returns the rows and groups of the kernels worth having: for 1, 2 and, with AVX-512, 4 rows.
func DotsShapes(isa ISA) [][2]uint8 {
	if isa == AVX512 {
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
	dotsBaseA  = R10
	dotsThird  = R9 // row 3 of A
	dotsRowA   = R8
	dotsRowB   = R12
	dotsBiasAt = RAX // once B is done with
)

// Encode appends the kernel's code.
func (d Dots) Encode(a *Assembler) {
	w := &dotsWriter{kernel: d, tileWriter: tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: d.ISA, Tail: true}, width: d.ISA.Width(), bytes: int32(d.ISA.Width().Bytes()), element: 4}, rows: int(d.Rows), group: DotsGroup(d.Double)}
	w.multiplyAdd, w.add = FMADD231PS, ADDPS
	if d.Double {
		w.element, w.multiplyAdd, w.add = 8, FMADD231PD, ADDPD
	}
	if d.Pairs {
		w.multiplyAdd = DPBF16PS
	}
	w.columns = int(d.Groups) * w.group
	w.setSets()
	w.tileWriter.rows, w.tileWriter.vectors = w.rows, w.columns // for combine
	a.Load(dotsBaseA, At(tileArgs, dotsA))
	a.Load(dotsRowA, At(tileArgs, dotsARow))
	if w.rows > 3 {
		a.Lea(dotsThird, Indexed(dotsBaseA, dotsRowA, 2, 0))
		a.Add(dotsThird, dotsRowA)
	}
	a.Load(tileBases[0], At(tileArgs, dotsB))
	a.Load(dotsRowB, At(tileArgs, dotsBRow))
	for j := 3; j < w.columns; j += 3 {
		a.Lea(tileBases[j/3], Indexed(tileBases[j/3-1], dotsRowB, 2, 0))
		a.Add(tileBases[j/3], dotsRowB)
	}
	w.loadTailMask(dotsMask)
	a.Load(tileK, At(tileArgs, dotsK))
	for i := range w.sets * w.rows * w.columns {
		w.clear(Reg(i))
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
	w.JumpIf(Less, rest)
	w.Align(32)
	w.Bind(loop)
	for s := range w.sets {
		w.step(s, int32(s)*w.bytes, false)
	}
	w.advance(int32(w.sets) * w.bytes)
	w.SubImm(tileK, lanes)
	w.JumpIf(GreaterEqual, loop)
	w.Bind(rest)
	w.AddImm(tileK, lanes)
	if w.sets > 1 {
		w.SubImm(tileK, single)
		w.JumpIf(Less, tail)
		again := w.Here()
		w.step(0, 0, false)
		w.advance(w.bytes)
		w.SubImm(tileK, single)
		w.JumpIf(GreaterEqual, again)
		w.Bind(tail)
		w.AddImm(tileK, single)
	}
	w.CmpImm(tileK, 0)
	w.JumpIf(Equal, done)
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
	x := Reg(w.sets * size)
	y := x + Reg(w.rows)
	for r := range w.rows {
		m := At(dotsBaseA, at)
		if r == 3 {
			m.Base = dotsThird
		} else if r > 0 {
			m.Index, m.Scale = dotsRowA, uint8(r)
		}
		w.loadVector(x+Reg(r), m, tail)
	}
	for j := range w.columns {
		m := At(tileBases[j/3], w.ofB(at))
		if j%3 != 0 {
			m.Index, m.Scale = dotsRowB, uint8(j%3)
		}
		if w.kernel.Half != NoHalf {
			w.loadHalf(w.kernel.Half, y, m, tail)
		} else {
			w.loadVector(y, m, tail)
		}
		for r := range w.rows {
			w.V(w.multiplyAdd, w.width, Reg(set*size+r*w.columns+j), y, R(x+Reg(r)))
		}
	}
}

// store reduces the lanes of a group of columns for all rows at once and stores them: row r ends
// up in 128-bit part r of one vector.
func (w *dotsWriter) store() {
	w.Load(tileC, At(tileArgs, dotsC))
	w.Load(tileK, At(tileArgs, dotsCRow))
	if w.kernel.Bias {
		w.Load(dotsBiasAt, At(tileArgs, dotsBias))
	}
	free := Reg(w.rows * w.columns)
	for g := range w.columns / w.group {
		column := func(c int) [4]Reg {
			var sums [4]Reg
			for r := range sums {
				sums[r] = Reg(min(r, w.rows-1)*w.columns + g*w.group + c)
			}
			return sums
		}
		for c := range w.group {
			w.gatherRows(column(c), free)
		}
		w.addLanes(func(c int) Reg { return column(c)[0] }, free)
		at := At(tileC, int32(g)*16)
		sum := column(0)[0]
		w.storePart(sum, free, 0, at, int32(g)*16)
		for r := 1; r < w.rows; r++ {
			if r == 3 {
				w.Lea(tileARow, Indexed(tileC, tileK, 2, 0))
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
func (w *dotsWriter) storePart(sum, scratch Reg, i uint8, at Mem, column int32) {
	extract := EXTRACTF128store
	if w.tile.ISA == AVX512 {
		extract = EXTRACTF32X4store
	}
	part := sum // the lowest as it is: changing it would clear the others
	switch {
	case i == 0:
	case w.kernel.Add || w.kernel.Bias:
		w.VImm(extract, w.width, sum, 0, R(scratch), i)
		part = scratch
	default:
		w.VImm(extract, w.width, sum, 0, M(at), i)
		return
	}
	if w.kernel.Add {
		w.V(w.add, W128, scratch, part, M(at))
		part = scratch
	}
	if w.kernel.Bias {
		w.V(w.add, W128, scratch, part, M(At(dotsBiasAt, column)))
		part = scratch
	}
	w.V(MOVUPSstore, W128, part, 0, M(at))
}

// gatherRows adds the 128-bit parts of each sum and leaves row r in part r of the first.
func (w *dotsWriter) gatherRows(sums [4]Reg, free Reg) {
	if w.tile.ISA == AVX2 {
		w.VImm(PERM2F128, w.width, free, sums[0], R(sums[1]), 0x20)
		w.VImm(PERM2F128, w.width, free+1, sums[0], R(sums[1]), 0x31)
		w.V(w.add, w.width, sums[0], free, R(free+1))
		return
	}
	fold := func(d, a, b Reg) {
		w.VImm(SHUFF32X4, w.width, free, a, R(b), 0x88)
		w.VImm(SHUFF32X4, w.width, free+1, a, R(b), 0xdd)
		w.V(w.add, w.width, d, free, R(free+1))
	}
	fold(free+2, sums[0], sums[1])
	fold(free+3, sums[2], sums[3])
	fold(sums[0], free+2, free+3)
}

// addLanes adds the elements of each 128-bit part; column c ends up in element c of the first sum.
func (w *dotsWriter) addLanes(sum func(c int) Reg, free Reg) {
	pair := func(d, a, b Reg, low, high Op) {
		w.V(low, w.width, free, a, R(b))
		w.V(high, w.width, free+1, a, R(b))
		w.V(w.add, w.width, d, free, R(free+1))
	}
	if w.group == 2 {
		pair(sum(0), sum(0), sum(1), UNPCKLPD, UNPCKHPD)
		return
	}
	pair(sum(0), sum(0), sum(1), UNPCKLPS, UNPCKHPS)
	pair(sum(2), sum(2), sum(3), UNPCKLPS, UNPCKHPS)
	pair(sum(0), sum(0), sum(2), UNPCKLPD, UNPCKHPD)
}

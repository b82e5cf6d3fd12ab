package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Copying describes a kernel that copies rows of Vectors vectors, as many rows as CopyArgs.Count
// says. The last vector of a row is partial at the source where Tail; the rest of it becomes zero.
type Copying struct {
	ISA     asm.ISA
	Vectors uint8
	Tail    bool
}

// CopyArgs is what the kernels of Copying and Transposition receive. Strides are in bytes.
type CopyArgs struct {
	From, To       unsafe.Pointer
	Mask           unsafe.Pointer
	FromRow, ToRow int64
	Count          int64 // at least 1
}

const (
	copyFrom = 8 * iota
	copyTo
	copyMask
	copyFromRow
	copyToRow
	copyCount
)

// Encode appends the kernel's code.
func (c Copying) Encode(a *asm.Assembler) {
	copyRows(a, c.ISA, c.Vectors, c.Tail, func(w *tileWriter, from, to asm.Reg) {
		for j := range w.vectors {
			w.loadVector(asm.Reg(j), asm.At(from, int32(j)*w.bytes), w.isTail(j))
		}
		for j := range w.vectors {
			a.V(asm.MOVUPSstore, w.width, asm.Reg(j), 0, asm.M(asm.At(to, int32(j)*w.bytes)))
		}
	})
}

// copyRows writes a kernel that receives CopyArgs and does one thing with each row.
func copyRows(a *asm.Assembler, isa asm.ISA, vectors uint8, tail bool, row func(w *tileWriter, from, to asm.Reg)) {
	const from, to, fromRow, toRow, count = asm.RAX, asm.RCX, asm.RDX, asm.RBX, asm.RSI
	w := &tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: isa, Tail: tail}, width: isa.Width(), bytes: int32(isa.Width().Bytes()), vectors: int(vectors)}
	a.Load(from, asm.At(asm.RDI, copyFrom))
	a.Load(to, asm.At(asm.RDI, copyTo))
	a.Load(fromRow, asm.At(asm.RDI, copyFromRow))
	a.Load(toRow, asm.At(asm.RDI, copyToRow))
	a.Load(count, asm.At(asm.RDI, copyCount))
	w.loadTailMask(copyMask)
	a.Align(32)
	loop := a.Here()
	row(w, from, to)
	a.Add(from, fromRow)
	a.Add(to, toRow)
	a.Dec(count)
	a.JumpIf(asm.NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

// Transposition describes a kernel that copies Rows rows of CopyArgs.Count columns transposed: each
// column becomes one vector of the result, with zeros in the lanes behind Rows. Mask selects the
// columns behind the last whole vector of a row.
type Transposition struct {
	ISA    asm.ISA
	Double bool
	Rows   uint8 // at most the lanes of a vector
}

var transposeBases = [...]asm.Reg{asm.RAX, asm.RBX, asm.RCX, asm.RSI, asm.R11, asm.R9}

// transposeWriter encodes one transposition.
type transposeWriter struct {
	tileWriter
	rows, lanes, group int // group: elements of 128 bits
}

const (
	transposeTo      = asm.R10
	transposeToRow   = asm.R8
	transposeFromRow = asm.R12
	transposeCount   = asm.RDX
)

// Encode appends the kernel's code.
func (t Transposition) Encode(a *asm.Assembler) {
	w := &transposeWriter{tileWriter: tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: t.ISA, Tail: true}, width: t.ISA.Width(), bytes: int32(t.ISA.Width().Bytes())}, rows: int(t.Rows)}
	w.group = 4
	if t.Double {
		w.group = 2
	}
	w.lanes = int(w.bytes) / 16 * w.group
	a.Load(transposeBases[0], asm.At(tileArgs, copyFrom))
	a.Load(transposeTo, asm.At(tileArgs, copyTo))
	a.Load(transposeFromRow, asm.At(tileArgs, copyFromRow))
	a.Load(transposeToRow, asm.At(tileArgs, copyToRow))
	a.Load(transposeCount, asm.At(tileArgs, copyCount))
	w.loadTailMask(copyMask)
	for r := 3; r < w.rows; r += 3 {
		a.Lea(transposeBases[r/3], asm.Indexed(transposeBases[r/3-1], transposeFromRow, 2, 0))
		a.Add(transposeBases[r/3], transposeFromRow)
	}
	rest, done := a.NewLabel(), a.NewLabel()
	a.SubImm(transposeCount, int32(w.lanes))
	a.JumpIf(asm.Less, rest)
	loop := a.Here()
	for _, r := range w.block(false) {
		a.V(asm.MOVUPSstore, w.width, r, 0, asm.M(asm.At(transposeTo, 0)))
		a.Add(transposeTo, transposeToRow)
	}
	for r := 0; r < w.rows; r += 3 {
		a.AddImm(transposeBases[r/3], w.bytes)
	}
	a.SubImm(transposeCount, int32(w.lanes))
	a.JumpIf(asm.GreaterEqual, loop)
	a.Bind(rest)
	a.AddImm(transposeCount, int32(w.lanes))
	a.JumpIf(asm.Equal, done)
	for _, r := range w.block(true) {
		a.V(asm.MOVUPSstore, w.width, r, 0, asm.M(asm.At(transposeTo, 0)))
		a.Add(transposeTo, transposeToRow)
		a.Dec(transposeCount)
		a.JumpIf(asm.Equal, done)
	}
	a.Bind(done)
	a.ZeroUpper()
	a.Ret()
}

// block loads a square block and transposes it. It returns the registers of the columns in order.
func (w *transposeWriter) block(tail bool) []asm.Reg {
	for r := range w.lanes {
		if r >= w.rows {
			w.clear(asm.Reg(r))
			continue
		}
		m := asm.At(transposeBases[r/3], 0)
		if r%3 != 0 {
			m.Index, m.Scale = transposeFromRow, uint8(r%3)
		}
		w.loadVector(asm.Reg(r), m, tail)
	}
	return w.joinLanes(w.transposeLanes())
}

// transposeLanes transposes, in each 128 bits, the elements of the rows of a group. The result at
// [g][c] holds the columns c, c+group, ... of group g in its 128 bits.
func (w *transposeWriter) transposeLanes() [][]asm.Reg {
	high := asm.Reg(w.lanes)
	groups := make([][]asm.Reg, w.lanes/w.group)
	for g := range groups {
		r := asm.Reg(g * w.group)
		if w.group == 2 {
			w.V(asm.UNPCKLPD, w.width, high+r, r, asm.R(r+1))
			w.V(asm.UNPCKHPD, w.width, high+r+1, r, asm.R(r+1))
			groups[g] = []asm.Reg{high + r, high + r + 1}
			continue
		}
		for i := range asm.Reg(2) { // rows i*2 and i*2+1
			w.V(asm.UNPCKLPS, w.width, high+r+2*i, r+2*i, asm.R(r+2*i+1))
			w.V(asm.UNPCKHPS, w.width, high+r+2*i+1, r+2*i, asm.R(r+2*i+1))
		}
		for i := range asm.Reg(2) {
			w.V(asm.UNPCKLPD, w.width, r+2*i, high+r+i, asm.R(high+r+2+i))
			w.V(asm.UNPCKHPD, w.width, r+2*i+1, high+r+i, asm.R(high+r+2+i))
		}
		groups[g] = []asm.Reg{r, r + 1, r + 2, r + 3}
	}
	return groups
}

// joinLanes gathers the 128 bits of all groups that belong to one column.
func (w *transposeWriter) joinLanes(groups [][]asm.Reg) []asm.Reg {
	columns := make([]asm.Reg, w.lanes)
	free := asm.Reg(w.lanes) // the half that the groups do not lie in
	if groups[0][0] >= free {
		free = 0
	}
	for c := range w.group {
		if w.tile.ISA == asm.AVX2 {
			low, high := groups[0][c], groups[1][c]
			t := free + asm.Reg(c)
			w.VImm(asm.PERM2F128, w.width, t, low, asm.R(high), 0x20)
			w.VImm(asm.PERM2F128, w.width, high, low, asm.R(high), 0x31)
			columns[c], columns[w.group+c] = t, high
			continue
		}
		g := [4]asm.Reg{groups[0][c], groups[1][c], groups[2][c], groups[3][c]}
		even, odd := [2]asm.Reg{free + asm.Reg(4*c), free + asm.Reg(4*c+1)}, [2]asm.Reg{free + asm.Reg(4*c+2), free + asm.Reg(4*c+3)}
		for i := range 2 { // 128 bits 0 and 2, 1 and 3 of two groups
			w.VImm(asm.SHUFF32X4, w.width, even[i], g[2*i], asm.R(g[2*i+1]), 0x88)
			w.VImm(asm.SHUFF32X4, w.width, odd[i], g[2*i], asm.R(g[2*i+1]), 0xdd)
		}
		for lane := range 4 {
			pair, choice := even, uint8(0x88)
			if lane%2 != 0 {
				pair = odd
			}
			if lane >= 2 {
				choice = 0xdd
			}
			w.VImm(asm.SHUFF32X4, w.width, g[lane], pair[0], asm.R(pair[1]), choice)
			columns[lane*w.group+c] = g[lane]
		}
	}
	return columns
}

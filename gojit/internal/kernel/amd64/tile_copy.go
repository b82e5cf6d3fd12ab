package amd64

import "unsafe"

// Copying describes a kernel that copies rows of Vectors vectors, as many rows as CopyArgs.Count
// says. The last vector of a row is partial at the source where Tail; the rest of it becomes zero.
type Copying struct {
	ISA     ISA
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
func (c Copying) Encode(a *Assembler) {
	copyRows(a, c.ISA, c.Vectors, c.Tail, func(w *tileWriter, from, to Reg) {
		for j := range w.vectors {
			w.loadVector(Reg(j), At(from, int32(j)*w.bytes), w.isTail(j))
		}
		for j := range w.vectors {
			a.V(MOVUPSstore, w.width, Reg(j), 0, M(At(to, int32(j)*w.bytes)))
		}
	})
}

// copyRows writes a kernel that receives CopyArgs and does one thing with each row.
func copyRows(a *Assembler, isa ISA, vectors uint8, tail bool, row func(w *tileWriter, from, to Reg)) {
	const from, to, fromRow, toRow, count = RAX, RCX, RDX, RBX, RSI
	w := &tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: isa, Tail: tail}, width: isa.Width(), bytes: int32(isa.Width().Bytes()), vectors: int(vectors)}
	a.Load(from, At(RDI, copyFrom))
	a.Load(to, At(RDI, copyTo))
	a.Load(fromRow, At(RDI, copyFromRow))
	a.Load(toRow, At(RDI, copyToRow))
	a.Load(count, At(RDI, copyCount))
	w.loadTailMask(copyMask)
	a.Align(32)
	loop := a.Here()
	row(w, from, to)
	a.Add(from, fromRow)
	a.Add(to, toRow)
	a.Dec(count)
	a.JumpIf(NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

// Transposition describes a kernel that copies Rows rows of CopyArgs.Count columns transposed: each
// column becomes one vector of the result, with zeros in the lanes behind Rows. Mask selects the
// columns behind the last whole vector of a row.
type Transposition struct {
	ISA    ISA
	Double bool
	Rows   uint8 // at most the lanes of a vector
}

var transposeBases = [...]Reg{RAX, RBX, RCX, RSI, R11, R9}

// transposeWriter encodes one transposition.
type transposeWriter struct {
	tileWriter
	rows, lanes, group int // group: elements of 128 bits
}

const (
	transposeTo      = R10
	transposeToRow   = R8
	transposeFromRow = R12
	transposeCount   = RDX
)

// Encode appends the kernel's code.
func (t Transposition) Encode(a *Assembler) {
	w := &transposeWriter{tileWriter: tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: t.ISA, Tail: true}, width: t.ISA.Width(), bytes: int32(t.ISA.Width().Bytes())}, rows: int(t.Rows)}
	w.group = 4
	if t.Double {
		w.group = 2
	}
	w.lanes = int(w.bytes) / 16 * w.group
	a.Load(transposeBases[0], At(tileArgs, copyFrom))
	a.Load(transposeTo, At(tileArgs, copyTo))
	a.Load(transposeFromRow, At(tileArgs, copyFromRow))
	a.Load(transposeToRow, At(tileArgs, copyToRow))
	a.Load(transposeCount, At(tileArgs, copyCount))
	w.loadTailMask(copyMask)
	for r := 3; r < w.rows; r += 3 {
		a.Lea(transposeBases[r/3], Indexed(transposeBases[r/3-1], transposeFromRow, 2, 0))
		a.Add(transposeBases[r/3], transposeFromRow)
	}
	rest, done := a.NewLabel(), a.NewLabel()
	a.SubImm(transposeCount, int32(w.lanes))
	a.JumpIf(Less, rest)
	loop := a.Here()
	for _, r := range w.block(false) {
		a.V(MOVUPSstore, w.width, r, 0, M(At(transposeTo, 0)))
		a.Add(transposeTo, transposeToRow)
	}
	for r := 0; r < w.rows; r += 3 {
		a.AddImm(transposeBases[r/3], w.bytes)
	}
	a.SubImm(transposeCount, int32(w.lanes))
	a.JumpIf(GreaterEqual, loop)
	a.Bind(rest)
	a.AddImm(transposeCount, int32(w.lanes))
	a.JumpIf(Equal, done)
	for _, r := range w.block(true) {
		a.V(MOVUPSstore, w.width, r, 0, M(At(transposeTo, 0)))
		a.Add(transposeTo, transposeToRow)
		a.Dec(transposeCount)
		a.JumpIf(Equal, done)
	}
	a.Bind(done)
	a.ZeroUpper()
	a.Ret()
}

// block loads a square block and transposes it. It returns the registers of the columns in order.
func (w *transposeWriter) block(tail bool) []Reg {
	for r := range w.lanes {
		if r >= w.rows {
			w.clear(Reg(r))
			continue
		}
		m := At(transposeBases[r/3], 0)
		if r%3 != 0 {
			m.Index, m.Scale = transposeFromRow, uint8(r%3)
		}
		w.loadVector(Reg(r), m, tail)
	}
	return w.joinLanes(w.transposeLanes())
}

// transposeLanes transposes, in each 128 bits, the elements of the rows of a group. The result at
// [g][c] holds the columns c, c+group, ... of group g in its 128 bits.
func (w *transposeWriter) transposeLanes() [][]Reg {
	high := Reg(w.lanes)
	groups := make([][]Reg, w.lanes/w.group)
	for g := range groups {
		r := Reg(g * w.group)
		if w.group == 2 {
			w.V(UNPCKLPD, w.width, high+r, r, R(r+1))
			w.V(UNPCKHPD, w.width, high+r+1, r, R(r+1))
			groups[g] = []Reg{high + r, high + r + 1}
			continue
		}
		for i := range Reg(2) { // rows i*2 and i*2+1
			w.V(UNPCKLPS, w.width, high+r+2*i, r+2*i, R(r+2*i+1))
			w.V(UNPCKHPS, w.width, high+r+2*i+1, r+2*i, R(r+2*i+1))
		}
		for i := range Reg(2) {
			w.V(UNPCKLPD, w.width, r+2*i, high+r+i, R(high+r+2+i))
			w.V(UNPCKHPD, w.width, r+2*i+1, high+r+i, R(high+r+2+i))
		}
		groups[g] = []Reg{r, r + 1, r + 2, r + 3}
	}
	return groups
}

// joinLanes gathers the 128 bits of all groups that belong to one column.
func (w *transposeWriter) joinLanes(groups [][]Reg) []Reg {
	columns := make([]Reg, w.lanes)
	free := Reg(w.lanes) // the half that the groups do not lie in
	if groups[0][0] >= free {
		free = 0
	}
	for c := range w.group {
		if w.tile.ISA == AVX2 {
			low, high := groups[0][c], groups[1][c]
			t := free + Reg(c)
			w.VImm(PERM2F128, w.width, t, low, R(high), 0x20)
			w.VImm(PERM2F128, w.width, high, low, R(high), 0x31)
			columns[c], columns[w.group+c] = t, high
			continue
		}
		g := [4]Reg{groups[0][c], groups[1][c], groups[2][c], groups[3][c]}
		even, odd := [2]Reg{free + Reg(4*c), free + Reg(4*c+1)}, [2]Reg{free + Reg(4*c+2), free + Reg(4*c+3)}
		for i := range 2 { // 128 bits 0 and 2, 1 and 3 of two groups
			w.VImm(SHUFF32X4, w.width, even[i], g[2*i], R(g[2*i+1]), 0x88)
			w.VImm(SHUFF32X4, w.width, odd[i], g[2*i], R(g[2*i+1]), 0xdd)
		}
		for lane := range 4 {
			pair, choice := even, uint8(0x88)
			if lane%2 != 0 {
				pair = odd
			}
			if lane >= 2 {
				choice = 0xdd
			}
			w.VImm(SHUFF32X4, w.width, g[lane], pair[0], R(pair[1]), choice)
			columns[lane*w.group+c] = g[lane]
		}
	}
	return columns
}

package amd64

// Pairing describes a kernel that lays rows of bfloat16 out as tiles with Pairs read them: 32 bits hold
// an element of a row and the one below it. CopyArgs.Count counts the pairs of rows; their elements
// fill Vectors vectors, the last of which is partial at the source where Tail and completed with zeros.
type Pairing struct {
	ISA     ISA // AVX512
	Vectors uint8
	Tail    bool
	Single  bool // there is no row below, zeros take its place
}

// Encode appends the kernel's code.
func (p Pairing) Encode(a *Assembler) {
	const from, below, to, fromRow, toRow, count = RAX, R11, RCX, RDX, RBX, RSI
	w := &tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: p.ISA, Tail: p.Tail}, width: p.ISA.Width(), bytes: int32(p.ISA.Width().Bytes()), vectors: int(p.Vectors)}
	a.Load(from, At(RDI, copyFrom))
	a.Load(to, At(RDI, copyTo))
	a.Load(fromRow, At(RDI, copyFromRow))
	a.Load(toRow, At(RDI, copyToRow))
	a.Load(count, At(RDI, copyCount))
	w.loadTailMask(copyMask)
	widen := func(d Reg, m Mem, tail bool) {
		if tail {
			a.VMask(PMOVZXWD, w.width, d, 0, M(m), maskRegister, true)
			return
		}
		a.V(PMOVZXWD, w.width, d, 0, M(m))
	}
	a.Align(32)
	loop := a.Here()
	a.Lea(below, Indexed(from, fromRow, 1, 0))
	for j := range w.vectors {
		at, tail := int32(j)*w.bytes/2, w.isTail(j)
		widen(0, At(from, at), tail)
		if !p.Single {
			widen(1, At(below, at), tail)
			a.VImm(PSLLD, w.width, 1, 0, R(1), 16)
			a.V(POR, w.width, 0, 0, R(1))
		}
		a.V(MOVUPSstore, w.width, 0, 0, M(At(to, int32(j)*w.bytes)))
	}
	a.Lea(from, Indexed(below, fromRow, 1, 0))
	a.Add(to, toRow)
	a.Dec(count)
	a.JumpIf(NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

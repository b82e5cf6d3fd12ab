package amd64

// Half says which 16-bit floats a kernel reads and converts to float32.
type Half uint8

// The 16-bit floats: none, IEEE's and bfloat16.
const (
	NoHalf Half = iota
	Float16
	BFloat16
)

// Widening is Copying of rows of 16-bit floats that become float32: Vectors are those of the result.
// Tail needs AVX512.
type Widening struct {
	ISA     ISA
	Half    Half
	Vectors uint8
	Tail    bool
}

// Encode appends the kernel's code.
func (c Widening) Encode(a *Assembler) {
	const from, to, fromRow, toRow, count = RAX, RCX, RDX, RBX, RSI
	w := &tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: c.ISA, Tail: c.Tail}, width: c.ISA.Width(), bytes: int32(c.ISA.Width().Bytes()), vectors: int(c.Vectors)}
	a.Load(from, At(RDI, copyFrom))
	a.Load(to, At(RDI, copyTo))
	a.Load(fromRow, At(RDI, copyFromRow))
	a.Load(toRow, At(RDI, copyToRow))
	a.Load(count, At(RDI, copyCount))
	w.loadTailMask(copyMask)
	a.Align(32)
	loop := a.Here()
	for j := range w.vectors {
		w.loadHalf(c.Half, Reg(j%8), At(from, int32(j)*w.bytes/2), w.isTail(j))
		a.V(MOVUPSstore, w.width, Reg(j%8), 0, M(At(to, int32(j)*w.bytes)))
	}
	a.Add(from, fromRow)
	a.Add(to, toRow)
	a.Dec(count)
	a.JumpIf(NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

// loadHalf loads a vector of 16-bit floats as float32, the tail of one, which needs AVX512, completed
// with zeros.
func (w *tileWriter) loadHalf(half Half, d Reg, m Mem, tail bool) {
	op := PMOVZXWD
	if half == Float16 {
		op = CVTPH2PS
	}
	if tail {
		w.VMask(op, w.width, d, 0, M(m), maskRegister, true)
	} else {
		w.V(op, w.width, d, 0, M(m))
	}
	if half == BFloat16 {
		w.VImm(PSLLD, w.width, d, 0, R(d), 16)
	}
}

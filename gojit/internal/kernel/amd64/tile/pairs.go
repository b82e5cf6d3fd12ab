package tile

import "github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"

// Pairing describes a kernel that lays rows of bfloat16 out as tiles with Pairs read them: 32 bits hold
// an element of a row and the one below it. CopyArgs.Count counts the pairs of rows; their elements
// fill Vectors vectors, the last of which is partial at the source where Tail and completed with zeros.
type Pairing struct {
	ISA     asm.ISA // AVX512
	Vectors uint8
	Tail    bool
	Single  bool // there is no row below, zeros take its place
}

// Encode appends the kernel's code.
func (p Pairing) Encode(a *asm.Assembler) {
	const from, below, to, fromRow, toRow, count = asm.RAX, asm.R11, asm.RCX, asm.RDX, asm.RBX, asm.RSI
	w := &tileWriter{Assembler: a, mask: tileMask, tile: Tile{ISA: p.ISA, Tail: p.Tail}, width: p.ISA.Width(), bytes: int32(p.ISA.Width().Bytes()), vectors: int(p.Vectors)}
	a.Load(from, asm.At(asm.RDI, copyFrom))
	a.Load(to, asm.At(asm.RDI, copyTo))
	a.Load(fromRow, asm.At(asm.RDI, copyFromRow))
	a.Load(toRow, asm.At(asm.RDI, copyToRow))
	a.Load(count, asm.At(asm.RDI, copyCount))
	w.loadTailMask(copyMask)
	widen := func(d asm.Reg, m asm.Mem, tail bool) {
		if tail {
			a.VMask(asm.PMOVZXWD, w.width, d, 0, asm.M(m), maskRegister, true)
			return
		}
		a.V(asm.PMOVZXWD, w.width, d, 0, asm.M(m))
	}
	a.Align(32)
	loop := a.Here()
	a.Lea(below, asm.Indexed(from, fromRow, 1, 0))
	for j := range w.vectors {
		at, tail := int32(j)*w.bytes/2, w.isTail(j)
		widen(0, asm.At(from, at), tail)
		if !p.Single {
			widen(1, asm.At(below, at), tail)
			a.VImm(asm.PSLLD, w.width, 1, 0, asm.R(1), 16)
			a.V(asm.POR, w.width, 0, 0, asm.R(1))
		}
		a.V(asm.MOVUPSstore, w.width, 0, 0, asm.M(asm.At(to, int32(j)*w.bytes)))
	}
	a.Lea(from, asm.Indexed(below, fromRow, 1, 0))
	a.Add(to, toRow)
	a.Dec(count)
	a.JumpIf(asm.NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

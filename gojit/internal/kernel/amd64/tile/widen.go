package tile

import "github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"

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
	ISA     asm.ISA
	Half    Half
	Vectors uint8
	Tail    bool
}

// Encode appends the kernel's code.
func (c Widening) Encode(a *asm.Assembler) {
	copyRows(a, c.ISA, c.Vectors, c.Tail, func(w *tileWriter, from, to asm.Reg) {
		for j := range w.vectors {
			w.loadHalf(c.Half, asm.Reg(j%8), asm.At(from, int32(j)*w.bytes/2), w.isTail(j))
			a.V(asm.MOVUPSstore, w.width, asm.Reg(j%8), 0, asm.M(asm.At(to, int32(j)*w.bytes)))
		}
	})
}

// loadHalf loads a vector of 16-bit floats as float32, the tail of one, which needs AVX512, completed
// with zeros.
func (w *tileWriter) loadHalf(half Half, d asm.Reg, m asm.Mem, tail bool) {
	op := asm.PMOVZXWD
	if half == Float16 {
		op = asm.CVTPH2PS
	}
	if tail {
		w.VMask(op, w.width, d, 0, asm.M(m), maskRegister, true)
	} else {
		w.V(op, w.width, d, 0, asm.M(m))
	}
	if half == BFloat16 {
		w.VImm(asm.PSLLD, w.width, d, 0, asm.R(d), 16)
	}
}

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
	copyRows(a, c.ISA, c.Vectors, c.Tail, func(w *tileWriter, from, to Reg) {
		for j := range w.vectors {
			w.loadHalf(c.Half, Reg(j%8), At(from, int32(j)*w.bytes/2), w.isTail(j))
			a.V(MOVUPSstore, w.width, Reg(j%8), 0, M(At(to, int32(j)*w.bytes)))
		}
	})
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

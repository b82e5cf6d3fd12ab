package amd64

import "unsafe"

// Rotations describes a kernel that applies a sequence of plane rotations to neighbouring rows of float64: with x the first
// row and y the next one, the first becomes c*x + s*y, and c*y - s*x is the first of the next rotation; what is left of the last
// one is stored where its second row was.
type Rotations struct{ ISA ISA }

// RotationsArgs is what a kernel of Rotations receives. Rows are whole vectors.
type RotationsArgs struct {
	First        unsafe.Pointer // the first row
	Coefficients unsafe.Pointer // c and s of each rotation
	Step         int64          // bytes from a row to the next one, which may be negative
	Count        int64          // of rotations, at least 1
	Vectors      int64          // of a row, a multiple of RotationVectors
}

// RotationVectors is how many vectors of a row are rotated at a time.
const RotationVectors = 4

const (
	rotateFirst = 8 * iota
	rotateCoefficients
	rotateStep
	rotateCount
	rotateVectors
)

// Code returns the kernel's code, made once.
func (k Rotations) Code() *Code { return rotations.Get(k, k.ISA) }

var rotations Kernels[Rotations]

// Encode appends the kernel's code.
func (k Rotations) Encode(a *Assembler) {
	const start, row, step, coefficients, count, vectors = RAX, RCX, RDX, RBX, RSI, R8
	const c, s = Reg(12), Reg(13)
	width := k.ISA.Width()
	bytes := int32(width.Bytes())
	a.Load(start, At(RDI, rotateFirst))
	a.Load(step, At(RDI, rotateStep))
	a.Load(vectors, At(RDI, rotateVectors))
	part := a.Here()
	a.Move(row, start)
	a.Load(coefficients, At(RDI, rotateCoefficients))
	a.Load(count, At(RDI, rotateCount))
	for v := range Reg(RotationVectors) {
		a.V(MOVUPS, width, v, 0, M(At(row, int32(v)*bytes)))
	}
	next := a.Here()
	a.V(BROADCASTSD, width, c, 0, M(At(coefficients, 0)))
	a.V(BROADCASTSD, width, s, 0, M(At(coefficients, 8)))
	for v := range Reg(RotationVectors) {
		y, sum := RotationVectors+v, 2*RotationVectors+v
		at := Indexed(row, step, 1, int32(v)*bytes)
		a.V(MOVUPS, width, y, 0, M(at))
		a.V(MULPD, width, sum, v, R(c))
		a.V(FMADD231PD, width, sum, y, R(s))
		a.V(MULPD, width, y, y, R(c))
		a.V(FNMADD231PD, width, y, v, R(s))
		a.V(MOVUPSstore, width, sum, 0, M(At(row, int32(v)*bytes)))
		a.V(MOVAPS, width, v, 0, R(y))
	}
	a.Add(row, step)
	a.AddImm(coefficients, 16)
	a.Dec(count)
	a.JumpIf(NotEqual, next)
	for v := range Reg(RotationVectors) {
		a.V(MOVUPSstore, width, v, 0, M(At(row, int32(v)*bytes)))
	}
	a.AddImm(start, RotationVectors*bytes)
	a.SubImm(vectors, RotationVectors)
	a.JumpIf(Greater, part)
	a.ZeroUpper()
	a.Ret()
}

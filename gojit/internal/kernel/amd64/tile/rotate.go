package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Rotations describes a kernel that applies a sequence of plane rotations to neighbouring rows of float64: with x the first
// row and y the next one, the first becomes c*x + s*y, and c*y - s*x is the first of the next rotation; what is left of the last
// one is stored where its second row was.
type Rotations struct{ ISA asm.ISA }

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
func (k Rotations) Code() *asm.Code { return rotations.Get(k, k.ISA) }

var rotations Kernels[Rotations]

// Encode appends the kernel's code.
func (k Rotations) Encode(a *asm.Assembler) {
	const start, row, step, coefficients, count, vectors = asm.RAX, asm.RCX, asm.RDX, asm.RBX, asm.RSI, asm.R8
	const c, s = asm.Reg(12), asm.Reg(13)
	width := k.ISA.Width()
	bytes := int32(width.Bytes())
	a.Load(start, asm.At(asm.RDI, rotateFirst))
	a.Load(step, asm.At(asm.RDI, rotateStep))
	a.Load(vectors, asm.At(asm.RDI, rotateVectors))
	part := a.Here()
	a.Move(row, start)
	a.Load(coefficients, asm.At(asm.RDI, rotateCoefficients))
	a.Load(count, asm.At(asm.RDI, rotateCount))
	for v := range asm.Reg(RotationVectors) {
		a.V(asm.MOVUPS, width, v, 0, asm.M(asm.At(row, int32(v)*bytes)))
	}
	next := a.Here()
	a.V(asm.BROADCASTSD, width, c, 0, asm.M(asm.At(coefficients, 0)))
	a.V(asm.BROADCASTSD, width, s, 0, asm.M(asm.At(coefficients, 8)))
	for v := range asm.Reg(RotationVectors) {
		y, sum := RotationVectors+v, 2*RotationVectors+v
		at := asm.Indexed(row, step, 1, int32(v)*bytes)
		a.V(asm.MOVUPS, width, y, 0, asm.M(at))
		a.V(asm.MULPD, width, sum, v, asm.R(c))
		a.V(asm.FMADD231PD, width, sum, y, asm.R(s))
		a.V(asm.MULPD, width, y, y, asm.R(c))
		a.V(asm.FNMADD231PD, width, y, v, asm.R(s))
		a.V(asm.MOVUPSstore, width, sum, 0, asm.M(asm.At(row, int32(v)*bytes)))
		a.V(asm.MOVAPS, width, v, 0, asm.R(y))
	}
	a.Add(row, step)
	a.AddImm(coefficients, 16)
	a.Dec(count)
	a.JumpIf(asm.NotEqual, next)
	for v := range asm.Reg(RotationVectors) {
		a.V(asm.MOVUPSstore, width, v, 0, asm.M(asm.At(row, int32(v)*bytes)))
	}
	a.AddImm(start, RotationVectors*bytes)
	a.SubImm(vectors, RotationVectors)
	a.JumpIf(asm.Greater, part)
	a.ZeroUpper()
	a.Ret()
}

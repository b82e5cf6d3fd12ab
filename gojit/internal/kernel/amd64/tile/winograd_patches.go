package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// PatchKind is a transformation of the convolution algorithm F(2x2, 3x3) and of the gradients by it: L*X*L', where
// L is one of its matrices and X a square of vectors.
type PatchKind uint8

// Kinds of patches, each with the square that it reads and the one that it gives.
const (
	InputPatch          PatchKind = iota // 4 by 4 inputs: 4 by 4 factors
	FilterPatch                          // 3 by 3 weights: 4 by 4 factors
	OutputPatch                          // 4 by 4 products: 2 by 2 outputs
	OutputGradientPatch                  // 2 by 2 gradients of outputs: 4 by 4 factors
	FilterGradientPatch                  // 4 by 4 products: 3 by 3 gradients of weights
)

// sides are the rows of what a kind reads and of what it gives.
func (k PatchKind) sides() (from, to int) {
	switch k {
	case InputPatch:
		return 4, 4
	case FilterPatch:
		return 3, 4
	case OutputPatch:
		return 4, 2
	case OutputGradientPatch:
		return 2, 4
	}
	return 4, 3
}

// Patch describes a kernel that transforms a patch, vector after vector of what lies together. It is for float32 and AVX-512.
//
// Of what it reads there are rows [Y0, Y1) and columns [X0, X1), the others being zeros; of outputs it writes rows [0, Y1)
// and columns [0, X1).
type Patch struct {
	Kind           PatchKind
	Y0, Y1, X0, X1 uint8
	Residual, Relu bool // of outputs: what else is added to them, and then the larger of the sum and 0
}

// PatchArgs is what a kernel of Patch receives. Steps are in bytes.
type PatchArgs struct {
	From, To                    unsafe.Pointer
	Offset                      int64 // added to From
	FromRow, FromColumn, FromBy int64 // from one element of the patch to the one below it and to that beside it, and from one vector to the next
	ToRow, ToColumn, ToBy       int64
	Bias                        unsafe.Pointer // of outputs, a vector for each
	Residual                    unsafe.Pointer // of outputs, as To
	Check                       unsafe.Pointer // of outputs, before all that is added, and of gradients of weights, a vector; those that are not finite make a lane NaN
	Vectors                     int64
}

const (
	patchFrom = 8 * iota
	patchTo
	patchOffset
	patchFromRow
	patchFromColumn
	patchFromBy
	patchToRow
	patchToColumn
	patchToBy
	patchBias
	patchResidual
	patchCheck
	patchVectors
)

const (
	patchSource   = asm.RAX
	patchTarget   = asm.RCX
	patchColumn   = asm.RDX // from one column of the source to the next
	patchColumn3  = asm.RBX
	patchRow      = asm.RSI // from one row of the target to the next
	patchRow3     = asm.R8
	patchAt       = asm.R9
	patchCount    = asm.R10
	patchBiases   = asm.R11
	patchLike     = asm.R13
	patchLikeAt   = asm.R15
	patchHalf     = asm.Reg(31)
	patchZero     = asm.Reg(30)
	patchBad      = asm.Reg(29)
	patchFreeRegs = 29
)

var half = float32(0.5)

// checks reports whether the kernel looks for what is not finite.
func (k Patch) checks() bool { return k.Kind == OutputPatch || k.Kind == FilterGradientPatch }

// Code returns the kernel's code, made once.
func (k Patch) Code() *asm.Code { return patchKernels.Get(k, asm.AVX512) }

var patchKernels Kernels[Patch]

// patchWriter encodes one kernel.
type patchWriter struct {
	planeWriter
	k    Patch
	free []asm.Reg
}

// Encode appends the kernel's code.
func (k Patch) Encode(a *asm.Assembler) {
	w := &patchWriter{planeWriter: newPlaneWriter(a, asm.AVX512), k: k}
	for r := range asm.Reg(patchFreeRegs) {
		w.free = append(w.free, r)
	}
	a.MoveImm(patchCount, int64(uintptr(unsafe.Pointer(&half))))
	a.V(asm.BROADCASTSS, asm.W512, patchHalf, 0, asm.M(asm.At(patchCount, 0)))
	w.clear(patchZero)
	arg := func(r asm.Reg, at int32) { a.Load(r, asm.At(asm.RDI, at)) }
	arg(patchSource, patchFrom)
	a.AddMem(patchSource, asm.At(asm.RDI, patchOffset))
	arg(patchTarget, patchTo)
	arg(patchColumn, patchFromColumn)
	a.Lea(patchColumn3, asm.Indexed(patchColumn, patchColumn, 2, 0))
	arg(patchRow, patchToRow)
	a.Lea(patchRow3, asm.Indexed(patchRow, patchRow, 2, 0))
	if k.Kind == OutputPatch {
		arg(patchBiases, patchBias)
	}
	if k.Residual {
		arg(patchLike, patchResidual)
	}
	if k.checks() {
		arg(patchCount, patchCheck)
		w.load(patchBad, asm.At(patchCount, 0))
	}
	arg(patchCount, patchVectors)
	loop := a.Here()
	w.patch()
	a.AddMem(patchSource, asm.At(asm.RDI, patchFromBy))
	a.AddMem(patchTarget, asm.At(asm.RDI, patchToBy))
	if k.Residual {
		a.AddMem(patchLike, asm.At(asm.RDI, patchToBy))
	}
	a.AddImm(patchBiases, 64)
	a.Dec(patchCount)
	a.JumpIf(asm.NotEqual, loop)
	if k.checks() {
		arg(patchCount, patchCheck)
		w.save(patchBad, asm.At(patchCount, 0))
	}
	a.ZeroUpper()
	a.Ret()
}

// patch transforms rows as they are read, and columns as they are written.
func (w *patchWriter) patch() {
	from, to := w.k.Kind.sides()
	columns := make([][]asm.Reg, to)
	w.Move(patchAt, patchSource)
	for y := range from {
		if y > 0 {
			w.AddMem(patchAt, asm.At(asm.RDI, patchFromRow))
		}
		var row []asm.Reg
		for x := range from {
			row = append(row, w.read(y, x))
		}
		for x, r := range w.transform(row) {
			columns[x] = append(columns[x], r)
		}
	}
	w.Move(patchAt, patchTarget)
	if w.k.Residual {
		w.Move(patchLikeAt, patchLike)
	}
	for x, column := range columns {
		if x > 0 {
			w.AddMem(patchAt, asm.At(asm.RDI, patchToColumn))
			if w.k.Residual {
				w.AddMem(patchLikeAt, asm.At(asm.RDI, patchToColumn))
			}
		}
		for y, r := range w.transform(column) {
			if w.k.Kind != OutputPatch || y < int(w.k.Y1) && x < int(w.k.X1) {
				w.write(y, r)
			}
			w.free = append(w.free, r)
		}
	}
}

// step returns an element at a number of steps, whose length and its triple are in registers, from another one.
func step(at, step, step3 asm.Reg, n int) asm.Mem {
	switch n {
	case 0:
		return asm.At(at, 0)
	case 3:
		return asm.Indexed(at, step3, 1, 0)
	}
	return asm.Indexed(at, step, uint8(n), 0)
}

func (w *patchWriter) read(y, x int) asm.Reg {
	r := w.take()
	inside := y >= int(w.k.Y0) && y < int(w.k.Y1) && x >= int(w.k.X0) && x < int(w.k.X1)
	if (w.k.Kind == InputPatch || w.k.Kind == OutputGradientPatch) && !inside {
		w.clear(r)
	} else {
		w.load(r, step(patchAt, patchColumn, patchColumn3, x))
	}
	return r
}

func (w *patchWriter) write(y int, r asm.Reg) {
	if w.k.checks() {
		w.plus(patchBad, r, patchZero)
	}
	if w.k.Kind == OutputPatch {
		w.V(asm.ADDPS, asm.W512, r, r, asm.M(asm.At(patchBiases, 0)))
	}
	if w.k.Residual {
		w.V(asm.ADDPS, asm.W512, r, r, asm.M(step(patchLikeAt, patchRow, patchRow3, y)))
	}
	if w.k.Relu { // the second operand is what a NaN gives
		w.V(asm.MAXPS, asm.W512, r, patchZero, asm.R(r))
	}
	w.save(r, step(patchAt, patchRow, patchRow3, y))
}

func (w *patchWriter) take() asm.Reg {
	r := w.free[len(w.free)-1]
	w.free = w.free[:len(w.free)-1]
	return r
}

// transform multiplies registers with the matrix of the kind, and frees them.
func (w *patchWriter) transform(x []asm.Reg) []asm.Reg {
	_, n := w.k.Kind.sides()
	to := make([]asm.Reg, n)
	for i := range to {
		to[i] = w.take()
	}
	switch w.k.Kind {
	case InputPatch:
		w.less(to[0], x[0], x[2])
		w.sum(to[1], x[1], x[2])
		w.less(to[2], x[2], x[1])
		w.less(to[3], x[1], x[3])
	case FilterPatch:
		w.copy(to[0], x[0])
		w.copy(to[3], x[2])
		w.sum(x[0], x[0], x[2])
		w.sum(to[1], x[0], x[1])
		w.less(to[2], x[0], x[1])
		w.times(to[1], patchHalf)
		w.times(to[2], patchHalf)
	case OutputPatch:
		w.sum(to[0], x[1], x[2])
		w.sum(to[0], to[0], x[0])
		w.less(to[1], x[1], x[2])
		w.less(to[1], to[1], x[3])
	case OutputGradientPatch:
		w.copy(to[0], x[0])
		w.sum(to[1], x[0], x[1])
		w.less(to[2], x[0], x[1])
		w.less(to[3], patchZero, x[1])
	case FilterGradientPatch:
		w.less(to[1], x[1], x[2])
		w.times(to[1], patchHalf)
		w.sum(x[1], x[1], x[2])
		w.copy(to[0], x[0])
		w.plus(to[0], x[1], patchHalf)
		w.copy(to[2], x[3])
		w.plus(to[2], x[1], patchHalf)
	}
	w.free = append(w.free, x...)
	return to
}

func (w *patchWriter) times(r, by asm.Reg) { w.V(asm.MULPS, asm.W512, r, r, asm.R(by)) }

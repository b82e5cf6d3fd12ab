package tile

import (
	"slices"
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

// patchMatrices are the matrices L of the kinds. What they hold is 1, 1/2 or 0, or their negative.
var patchMatrices = [...][][]float32{
	InputPatch:          {{1, 0, -1, 0}, {0, 1, 1, 0}, {0, -1, 1, 0}, {0, 1, 0, -1}},
	FilterPatch:         {{1, 0, 0}, {.5, .5, .5}, {.5, -.5, .5}, {0, 0, 1}},
	OutputPatch:         {{1, 1, 1, 0}, {0, 1, -1, -1}},
	OutputGradientPatch: {{1, 0}, {1, 1}, {1, -1}, {0, -1}},
	FilterGradientPatch: {{1, .5, .5, 0}, {0, .5, -.5, 0}, {0, .5, .5, 1}},
}

// Patch describes a kernel that transforms a patch, vector after vector of what lies together. It is for float32.
//
// Of what it reads there are rows [Y0, Y1) and columns [X0, X1), the others being zeros; of outputs it writes rows [0, Y1)
// and columns [0, X1).
type Patch struct {
	ISA            asm.ISA
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
	patchSource    = asm.RAX
	patchTarget    = asm.RCX
	patchColumn    = asm.RDX // from one column of the source to the next
	patchColumn3   = asm.RBX
	patchNext      = asm.RSI // from one column of the target to the next
	patchNext3     = asm.R8
	patchSourceRow = asm.R9
	patchTargetRow = asm.R12
	patchCount     = asm.R10
	patchBiases    = asm.R11
	patchLike      = asm.R13
	patchLikeRow   = asm.R15
	patchHalf      = asm.Reg(15)
	patchZero      = asm.Reg(14)
	patchBad       = asm.Reg(13)
)

var half = float32(0.5)

// checks reports whether the kernel looks for what is not finite.
func (k Patch) checks() bool { return k.Kind == OutputPatch || k.Kind == FilterGradientPatch }

// Code returns the kernel's code, made once.
func (k Patch) Code() *asm.Code { return patchKernels.Get(k, k.ISA) }

var patchKernels Kernels[Patch]

// patchWriter encodes one kernel.
type patchWriter struct {
	planeWriter
	k      Patch
	matrix [][]float32
	free   []asm.Reg
}

// Encode appends the kernel's code.
func (k Patch) Encode(a *asm.Assembler) {
	w := &patchWriter{planeWriter: newPlaneWriter(a, k.ISA), k: k, matrix: patchMatrices[k.Kind], free: []asm.Reg{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}
	arg := func(r asm.Reg, at int32) { a.Load(r, asm.At(asm.RDI, at)) }
	w.clear(patchZero)
	if k.Kind == FilterPatch || k.Kind == FilterGradientPatch {
		a.MoveImm(patchCount, int64(uintptr(unsafe.Pointer(&half))))
		a.V(asm.BROADCASTSS, w.width, patchHalf, 0, asm.M(asm.At(patchCount, 0)))
	} else {
		w.free = append(w.free, patchHalf)
	}
	if k.checks() {
		arg(patchCount, patchCheck)
		w.load(patchBad, asm.At(patchCount, 0))
	} else {
		w.free = append(w.free, patchBad)
	}
	arg(patchSource, patchFrom)
	a.AddMem(patchSource, asm.At(asm.RDI, patchOffset))
	arg(patchTarget, patchTo)
	arg(patchColumn, patchFromColumn)
	a.Lea(patchColumn3, asm.Indexed(patchColumn, patchColumn, 2, 0))
	arg(patchNext, patchToColumn)
	a.Lea(patchNext3, asm.Indexed(patchNext, patchNext, 2, 0))
	if k.Kind == OutputPatch {
		arg(patchBiases, patchBias)
	}
	if k.Residual {
		arg(patchLike, patchResidual)
	}
	arg(patchCount, patchVectors)
	loop := a.Here()
	w.patch()
	a.AddMem(patchSource, asm.At(asm.RDI, patchFromBy))
	a.AddMem(patchTarget, asm.At(asm.RDI, patchToBy))
	if k.Residual {
		a.AddMem(patchLike, asm.At(asm.RDI, patchToBy))
	}
	a.AddImm(patchBiases, w.bytes)
	a.Dec(patchCount)
	a.JumpIf(asm.NotEqual, loop)
	if k.checks() {
		arg(patchCount, patchCheck)
		w.save(patchBad, asm.At(patchCount, 0))
	}
	a.ZeroUpper()
	a.Ret()
}

// patch multiplies each row as it is read, and makes the rows of the result as soon as all is there that they are made of: so
// they fit into 16 registers.
func (w *patchWriter) patch() {
	side := len(w.matrix[0])
	columns := make([][]asm.Reg, len(w.matrix)) // of the multiplied rows
	made := 0
	w.Move(patchSourceRow, patchSource)
	w.Move(patchTargetRow, patchTarget)
	if w.k.Residual {
		w.Move(patchLikeRow, patchLike)
	}
	for y := range side {
		if y > 0 {
			w.AddMem(patchSourceRow, asm.At(asm.RDI, patchFromRow))
		}
		row := make([]asm.Reg, side)
		for x := range row {
			row[x] = w.read(y, x)
		}
		for i := range w.matrix {
			columns[i] = append(columns[i], w.combine(i, row))
			w.release(i, row)
		}
		for ; made < len(w.matrix) && lastOf(w.matrix[made]) <= y; made++ {
			if made > 0 {
				w.AddMem(patchTargetRow, asm.At(asm.RDI, patchToRow))
			}
			if made > 0 && w.k.Residual {
				w.AddMem(patchLikeRow, asm.At(asm.RDI, patchToRow))
			}
			for x, column := range columns {
				if w.k.Kind != OutputPatch || made < int(w.k.Y1) && x < int(w.k.X1) {
					r := w.combine(made, column)
					w.write(x, r)
					w.free = append(w.free, r)
				}
				w.release(made, column)
			}
		}
	}
}

// lastOf returns the last element of a row of a matrix that is not zero.
func lastOf(row []float32) int {
	last := len(row) - 1
	for row[last] == 0 {
		last--
	}
	return last
}

// combine multiplies row i of the matrix with some registers.
func (w *patchWriter) combine(i int, x []asm.Reg) asm.Reg {
	var added, taken, whole []asm.Reg // of the terms with the smallest factor, and those that have 1 beside halves
	halved := slices.ContainsFunc(w.matrix[i], func(f float32) bool { return f*f == .25 })
	for j, f := range w.matrix[i] {
		switch {
		case halved && f == 1:
			whole = append(whole, x[j])
		case f > 0:
			added = append(added, x[j])
		case f < 0:
			taken = append(taken, x[j])
		}
	}
	to := w.take()
	switch {
	case len(added) == 0:
		w.less(to, patchZero, taken[0])
		taken = taken[1:]
	case len(added) > 1:
		w.sum(to, added[0], added[1])
		for _, r := range added[2:] {
			w.sum(to, to, r)
		}
	case len(taken) > 0:
		w.less(to, added[0], taken[0])
		taken = taken[1:]
	default:
		w.copy(to, added[0])
	}
	for _, r := range taken {
		w.less(to, to, r)
	}
	switch {
	case len(whole) > 0:
		w.scaled(to, patchHalf, whole[0])
	case halved:
		w.V(asm.MULPS, w.width, to, to, asm.R(patchHalf))
	}
	return to
}

// release frees the registers that no row of the matrix behind row i takes.
func (w *patchWriter) release(i int, x []asm.Reg) {
	isTaken := func(row, j int) bool { return w.matrix[row][j] != 0 }
	for j, r := range x {
		last := len(w.matrix) - 1
		for !isTaken(last, j) {
			last--
		}
		if last == i {
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
		w.load(r, step(patchSourceRow, patchColumn, patchColumn3, x))
	}
	return r
}

func (w *patchWriter) write(x int, r asm.Reg) {
	if w.k.checks() {
		w.plus(patchBad, r, patchZero)
	}
	if w.k.Kind == OutputPatch {
		w.V(asm.ADDPS, w.width, r, r, asm.M(asm.At(patchBiases, 0)))
	}
	if w.k.Residual {
		w.V(asm.ADDPS, w.width, r, r, asm.M(step(patchLikeRow, patchNext, patchNext3, x)))
	}
	if w.k.Relu { // the second operand is what a NaN gives
		w.V(asm.MAXPS, w.width, r, patchZero, asm.R(r))
	}
	w.save(r, step(patchTargetRow, patchNext, patchNext3, x))
}

func (w *patchWriter) take() asm.Reg {
	r := w.free[len(w.free)-1]
	w.free = w.free[:len(w.free)-1]
	return r
}

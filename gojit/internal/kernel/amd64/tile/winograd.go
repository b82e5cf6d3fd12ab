package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Winograd describes the transformations of the convolution algorithm F(4x4, 3x3) on images whose
// channels lie together, channels in the lanes: of a patch of 6 by 6 inputs, or of the 6 by 6 products
// to 4 by 4 outputs. It is for float32 and AVX-512.
//
// The input side reads pixels [Y0, Y1) by [X0, X1) of the patch, the others being padding; the output
// side writes pixels [0, Y1) by [0, X1).
type Winograd struct {
	Output         bool
	Y0, Y1, X0, X1 uint8
	Row, Pixel     int32 // bytes from one row of the image, and from one pixel, to the next
	Plane          int32 // bytes from one of the 36 matrices to the next
	Relu, Residual bool
}

// WinogradArgs is what a kernel of Winograd receives.
type WinogradArgs struct {
	From     unsafe.Pointer
	To       unsafe.Pointer
	Bias     unsafe.Pointer
	Residual unsafe.Pointer
	Scratch  unsafe.Pointer // WinogradScratch bytes
	Vectors  int64          // of channels
	Offset   int64          // bytes added to From, which lead to the first pixel of the patch
}

// WinogradScratch is the size of what a kernel of Winograd works in.
const WinogradScratch = 36 * 64

const (
	winogradFrom = 8 * iota
	winogradTo
	winogradBias
	winogradResidual
	winogradScratch
	winogradVectors
	winogradOffset
)

// winogradFactors are 2, 4, 5 and 8.
var winogradFactors = [4]float32{2, 4, 5, 8}

// Code returns the kernel's code, made once.
func (k Winograd) Code() *asm.Code { return winograds.Get(k, asm.AVX512) }

var winograds Kernels[Winograd]

// winogradWriter encodes one kernel.
type winogradWriter struct {
	*asm.Assembler
	k Winograd
}

const (
	winogradSource  = asm.RAX
	winogradTarget  = asm.RCX
	winogradBiases  = asm.RBX
	winogradAdded   = asm.RSI
	winogradWork    = asm.R8
	winogradCount   = asm.RDX
	winogradFactor2 = asm.Reg(31)
	winogradFactor4 = asm.Reg(30)
	winogradFactor5 = asm.Reg(29)
	winogradFactor8 = asm.Reg(28)
	winogradZero    = asm.Reg(27)
)

// Encode appends the kernel's code.
func (k Winograd) Encode(a *asm.Assembler) {
	w := &winogradWriter{a, k}
	a.Load(winogradSource, asm.At(asm.RDI, winogradFrom))
	a.AddMem(winogradSource, asm.At(asm.RDI, winogradOffset))
	a.Load(winogradTarget, asm.At(asm.RDI, winogradTo))
	a.Load(winogradBiases, asm.At(asm.RDI, winogradBias))
	a.Load(winogradAdded, asm.At(asm.RDI, winogradResidual))
	a.Load(winogradWork, asm.At(asm.RDI, winogradScratch))
	a.MoveImm(winogradCount, int64(uintptr(unsafe.Pointer(&winogradFactors))))
	for i, r := range []asm.Reg{winogradFactor2, winogradFactor4, winogradFactor5, winogradFactor8} {
		a.V(asm.BROADCASTSS, asm.W512, r, 0, asm.M(asm.At(winogradCount, int32(4*i))))
	}
	w.clear(winogradZero)
	a.Load(winogradCount, asm.At(asm.RDI, winogradVectors))
	loop := a.Here()
	if k.Output {
		w.output()
	} else {
		w.input()
	}
	a.AddImm(winogradSource, 64)
	a.AddImm(winogradTarget, 64)
	a.AddImm(winogradBiases, 64)
	a.AddImm(winogradAdded, 64)
	a.Dec(winogradCount)
	a.JumpIf(asm.NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

func (w *winogradWriter) clear(r asm.Reg)           { w.V(asm.PXOR, asm.W512, r, r, asm.R(r)) }
func (w *winogradWriter) load(d asm.Reg, m asm.Mem) { w.V(asm.MOVUPS, asm.W512, d, 0, asm.M(m)) }
func (w *winogradWriter) save(s asm.Reg, m asm.Mem) { w.V(asm.MOVUPSstore, asm.W512, s, 0, asm.M(m)) }
func (w *winogradWriter) copy(d, s asm.Reg)         { w.V(asm.MOVAPS, asm.W512, d, 0, asm.R(s)) }
func (w *winogradWriter) sum(d, x, y asm.Reg)       { w.V(asm.ADDPS, asm.W512, d, x, asm.R(y)) }
func (w *winogradWriter) less(d, x, y asm.Reg)      { w.V(asm.SUBPS, asm.W512, d, x, asm.R(y)) }
func (w *winogradWriter) plus(d, x, y asm.Reg)      { w.V(asm.FMADD231PS, asm.W512, d, x, asm.R(y)) }
func (w *winogradWriter) minus(d, x, y asm.Reg)     { w.V(asm.FNMADD231PS, asm.W512, d, x, asm.R(y)) }

func (w *winogradWriter) scratch(y, x int) asm.Mem { return asm.At(winogradWork, int32(y*6+x)*64) }

// input transforms the columns, by way of scratch memory, and then the rows of a patch.
func (w *winogradWriter) input() {
	for x := range 6 {
		for y := range 6 {
			if y < int(w.k.Y0) || y >= int(w.k.Y1) || x < int(w.k.X0) || x >= int(w.k.X1) {
				w.clear(asm.Reg(y))
			} else {
				w.load(asm.Reg(y), asm.At(winogradSource, int32(y)*w.k.Row+int32(x)*w.k.Pixel))
			}
		}
		w.transformInput()
		for y := range 6 {
			w.save(asm.Reg(6+y), w.scratch(y, x))
		}
	}
	for y := range 6 {
		for x := range 6 {
			w.load(asm.Reg(x), w.scratch(y, x))
		}
		w.transformInput()
		for x := range 6 {
			w.save(asm.Reg(6+x), asm.At(winogradTarget, int32(y*6+x)*w.k.Plane))
		}
	}
}

// transformInput multiplies registers 0 to 5 with the input matrix into 6 to 11.
func (w *winogradWriter) transformInput() {
	w.copy(6, 4)
	w.plus(6, 0, winogradFactor4)
	w.minus(6, 2, winogradFactor5)
	w.copy(12, 4)
	w.minus(12, 2, winogradFactor4)
	w.copy(13, 3)
	w.minus(13, 1, winogradFactor4)
	w.sum(7, 12, 13)
	w.less(8, 12, 13)
	w.less(12, 4, 2)
	w.less(13, 3, 1)
	w.copy(9, 12)
	w.plus(9, 13, winogradFactor2)
	w.copy(10, 12)
	w.minus(10, 13, winogradFactor2)
	w.copy(11, 5)
	w.plus(11, 1, winogradFactor4)
	w.minus(11, 3, winogradFactor5)
}

// output transforms the columns and then the rows of the products, and stores the pixels there are.
func (w *winogradWriter) output() {
	for x := range 6 {
		for y := range 6 {
			w.load(asm.Reg(y), asm.At(winogradSource, int32(y*6+x)*w.k.Plane))
		}
		w.transformOutput()
		for y := range 4 {
			w.save(asm.Reg(6+y), w.scratch(y, x))
		}
	}
	for y := range int(w.k.Y1) {
		for x := range 6 {
			w.load(asm.Reg(x), w.scratch(y, x))
		}
		w.transformOutput()
		for x := range int(w.k.X1) {
			r, at := asm.Reg(6+x), int32(y)*w.k.Row+int32(x)*w.k.Pixel
			w.V(asm.ADDPS, asm.W512, r, r, asm.M(asm.At(winogradBiases, 0)))
			if w.k.Residual {
				w.V(asm.ADDPS, asm.W512, r, r, asm.M(asm.At(winogradAdded, at)))
			}
			if w.k.Relu { // the second operand is what a NaN gives
				w.V(asm.MAXPS, asm.W512, r, winogradZero, asm.R(r))
			}
			w.save(r, asm.At(winogradTarget, at))
		}
	}
}

// transformOutput multiplies registers 0 to 5 with the output matrix into 6 to 9.
func (w *winogradWriter) transformOutput() {
	w.sum(12, 1, 2)
	w.sum(13, 3, 4)
	w.less(14, 1, 2)
	w.less(15, 3, 4)
	w.sum(6, 0, 12)
	w.sum(6, 6, 13)
	w.copy(7, 14)
	w.plus(7, 15, winogradFactor2)
	w.copy(8, 12)
	w.plus(8, 13, winogradFactor4)
	w.sum(9, 14, 5)
	w.plus(9, 15, winogradFactor8)
}

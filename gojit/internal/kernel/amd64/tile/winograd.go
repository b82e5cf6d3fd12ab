package tile

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Winograd describes the transformations of the convolution algorithm F(4x4, 3x3) on images whose
// channels lie together, channels in the lanes: of a patch of 6 by 6 inputs, or of the 6 by 6 products
// to 4 by 4 outputs. It is for float32.
//
// The input side reads pixels [Y0, Y1) by [X0, X1) of the patch, the others being padding; the output
// side writes pixels [0, Y1) by [0, X1).
type Winograd struct {
	ISA            asm.ISA
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

var four = float32(4)

// Code returns the kernel's code, made once.
func (k Winograd) Code() *asm.Code { return winograds.Get(k, k.ISA) }

var winograds Kernels[Winograd]

// planeWriter encodes operations on the vectors of a set of instructions.
type planeWriter struct {
	*asm.Assembler
	width asm.Width
	bytes int32 // of a vector
}

func newPlaneWriter(a *asm.Assembler, isa asm.ISA) planeWriter {
	return planeWriter{a, isa.Width(), int32(isa.Width().Bytes())}
}

func (w *planeWriter) clear(r asm.Reg)           { w.V(asm.PXOR, w.width, r, r, asm.R(r)) }
func (w *planeWriter) load(d asm.Reg, m asm.Mem) { w.V(asm.MOVUPS, w.width, d, 0, asm.M(m)) }
func (w *planeWriter) save(s asm.Reg, m asm.Mem) { w.V(asm.MOVUPSstore, w.width, s, 0, asm.M(m)) }
func (w *planeWriter) copy(d, s asm.Reg)         { w.V(asm.MOVAPS, w.width, d, 0, asm.R(s)) }
func (w *planeWriter) sum(d, x, y asm.Reg)       { w.V(asm.ADDPS, w.width, d, x, asm.R(y)) }
func (w *planeWriter) less(d, x, y asm.Reg)      { w.V(asm.SUBPS, w.width, d, x, asm.R(y)) }
func (w *planeWriter) plus(d, x, y asm.Reg)      { w.V(asm.FMADD231PS, w.width, d, x, asm.R(y)) }
func (w *planeWriter) minus(d, x, y asm.Reg)     { w.V(asm.FNMADD231PS, w.width, d, x, asm.R(y)) }
func (w *planeWriter) scaled(d, x, y asm.Reg)    { w.V(asm.FMADD213PS, w.width, d, x, asm.R(y)) } // d*x + y

// winogradWriter encodes one kernel.
type winogradWriter struct {
	planeWriter
	k Winograd
}

// A transformation takes registers 0 to 5, with 6 to 9 as scratch.
const (
	winogradSource = asm.RAX
	winogradTarget = asm.RCX
	winogradBiases = asm.RBX
	winogradAdded  = asm.RSI
	winogradWork   = asm.R8
	winogradCount  = asm.RDX
	winogradFour   = asm.Reg(10)
	winogradZero   = asm.Reg(11)
)

// Encode appends the kernel's code.
func (k Winograd) Encode(a *asm.Assembler) {
	w := &winogradWriter{newPlaneWriter(a, k.ISA), k}
	a.Load(winogradSource, asm.At(asm.RDI, winogradFrom))
	a.AddMem(winogradSource, asm.At(asm.RDI, winogradOffset))
	a.Load(winogradTarget, asm.At(asm.RDI, winogradTo))
	a.Load(winogradBiases, asm.At(asm.RDI, winogradBias))
	a.Load(winogradAdded, asm.At(asm.RDI, winogradResidual))
	a.Load(winogradWork, asm.At(asm.RDI, winogradScratch))
	a.MoveImm(winogradCount, int64(uintptr(unsafe.Pointer(&four))))
	a.V(asm.BROADCASTSS, w.width, winogradFour, 0, asm.M(asm.At(winogradCount, 0)))
	w.clear(winogradZero)
	a.Load(winogradCount, asm.At(asm.RDI, winogradVectors))
	loop := a.Here()
	if k.Output {
		w.output()
	} else {
		w.input()
	}
	a.AddImm(winogradSource, w.bytes)
	a.AddImm(winogradTarget, w.bytes)
	a.AddImm(winogradBiases, w.bytes)
	a.AddImm(winogradAdded, w.bytes)
	a.Dec(winogradCount)
	a.JumpIf(asm.NotEqual, loop)
	a.ZeroUpper()
	a.Ret()
}

func (w *winogradWriter) scratch(y, x int) asm.Mem { return asm.At(winogradWork, int32(y*6+x)*w.bytes) }

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
		for y, r := range w.transformInput() {
			w.save(r, w.scratch(y, x))
		}
	}
	for y := range 6 {
		for x := range 6 {
			w.load(asm.Reg(x), w.scratch(y, x))
		}
		for x, r := range w.transformInput() {
			w.save(r, asm.At(winogradTarget, int32(y*6+x)*w.k.Plane))
		}
	}
}

// transformInput multiplies registers 0 to 5 with the input matrix. It returns the registers of the results.
func (w *winogradWriter) transformInput() []asm.Reg {
	w.less(6, 4, 2)
	w.less(7, 3, 1)
	w.less(0, 0, 2)
	w.scaled(0, winogradFour, 6) // 4*x0 - 5*x2 + x4
	w.less(5, 5, 3)
	w.minus(5, 7, winogradFour) // 4*x1 - 5*x3 + x5
	w.minus(4, 2, winogradFour)
	w.minus(3, 1, winogradFour)
	w.sum(1, 4, 3)
	w.less(2, 4, 3)
	w.sum(7, 7, 7)
	w.sum(3, 6, 7)
	w.less(4, 6, 7)
	return []asm.Reg{0, 1, 2, 3, 4, 5}
}

// output transforms the columns and then the rows of the products, and stores the pixels there are.
func (w *winogradWriter) output() {
	for x := range 6 {
		for y := range 6 {
			w.load(asm.Reg(y), asm.At(winogradSource, int32(y*6+x)*w.k.Plane))
		}
		for y, r := range w.transformOutput() {
			w.save(r, w.scratch(y, x))
		}
	}
	for y := range int(w.k.Y1) {
		for x := range 6 {
			w.load(asm.Reg(x), w.scratch(y, x))
		}
		for x, r := range w.transformOutput()[:w.k.X1] {
			at := int32(y)*w.k.Row + int32(x)*w.k.Pixel
			w.V(asm.ADDPS, w.width, r, r, asm.M(asm.At(winogradBiases, 0)))
			if w.k.Residual {
				w.V(asm.ADDPS, w.width, r, r, asm.M(asm.At(winogradAdded, at)))
			}
			if w.k.Relu { // the second operand is what a NaN gives
				w.V(asm.MAXPS, w.width, r, winogradZero, asm.R(r))
			}
			w.save(r, asm.At(winogradTarget, at))
		}
	}
}

// transformOutput multiplies registers 0 to 5 with the output matrix. It returns the registers of the results.
func (w *winogradWriter) transformOutput() []asm.Reg {
	w.sum(6, 1, 2)
	w.sum(7, 3, 4)
	w.less(8, 1, 2)
	w.less(9, 3, 4)
	w.sum(0, 0, 6)
	w.sum(0, 0, 7)
	w.sum(9, 9, 9)
	w.sum(1, 8, 9)               // x1 - x2 + 2*(x3 - x4)
	w.scaled(7, winogradFour, 6) // x1 + x2 + 4*(x3 + x4)
	w.sum(5, 5, 8)
	w.plus(5, 9, winogradFour) // x1 - x2 + 8*(x3 - x4) + x5
	return []asm.Reg{0, 1, 7, 5}
}

package tile

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/expand"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Epilogue is a kernel that tiles apply to their sums before they store them: of input 0, the sum,
// input 1, TileArgs.Bias with one element for every column, and input 2, TileArgs.Residual, which
// lies as C does. Its code is written once for each accumulator. It keeps the code of the tiles that
// apply it. Kernels of Channels apply one of a single input in the same way.
type Epilogue struct {
	kernel   *kernel.Kernel
	limits   *limits // of the sum, where that is all that the kernel does; it is not generated then, but written as relu is
	tiles    Kernels[Tile]
	channels Kernels[Channels]
}

// EpilogueInputs is how many inputs an epilogue has at most.
const EpilogueInputs = 3

// EpilogueScratch is the size of the memory that TileArgs.Scratch points to where there is an epilogue.
const EpilogueScratch = 64 * 64

// NewEpilogue makes an epilogue for tiles of float32 or float64. The error is ErrUnsupported where the
// kernel is of other types, has numbers as parameters, or needs more than the instruction set has.
func NewEpilogue(k *kernel.Kernel, t tensor.DType, isa asm.ISA) (*Epilogue, error) {
	plain := isa >= asm.AVX2 && (t == tensor.Float32 || t == tensor.Float64) && len(k.Outputs) == 1 && k.Outputs[0].DType == t &&
		k.Outputs[0].Reduce == kernel.NoReduce && k.Params == 0 && len(k.Inputs) >= 1 && len(k.Inputs) <= EpilogueInputs
	for _, in := range k.Inputs {
		plain = plain && in == t
	}
	for i := range k.Instrs {
		plain = plain && k.Instrs[i].Op != kernel.Iota && !amd64.IsDivision(&k.Instrs[i])
	}
	if !plain {
		return nil, fmt.Errorf("%w (%s): epilogue of other types, parameters or outputs", amd64.ErrUnsupported, isa)
	}
	e := &Epilogue{kernel: expand.For(k, amd64.PrimitivesOf(isa)), limits: limitsOf(k)}
	lanes := isa.Width().Bytes() / t.Size()
	for vectors := 1; vectors <= 2; vectors++ { // the fullest tiles there are
		g, _, err := e.fit(isa, MaxRows(isa, vectors)*vectors)
		if err != nil {
			return nil, err
		}
		if g.Lanes != lanes {
			return nil, fmt.Errorf("%w (%s): epilogue with values of another size", amd64.ErrUnsupported, isa)
		}
	}
	return e, nil
}

// limits are what is done to a sum: the bias is added where inputs are two or three, then the residual where they are three; then it is brought
// between two numbers. NaN stays.
type limits struct {
	inputs    int
	low, high uint64 // bits
}

// limitsOf returns what a kernel does where that is no more than limits.
func limitsOf(k *kernel.Kernel) *limits {
	l := &limits{inputs: len(k.Inputs)}
	x, ok := k.Outputs[0].Value, true
	if x, l.high, ok = besideConst(k, x, kernel.Min); !ok {
		return nil
	}
	if x, l.low, ok = besideConst(k, x, kernel.Max); !ok {
		return nil
	}
	for i := l.inputs - 1; i > 0; i-- {
		sum := &k.Instrs[x]
		if sum.Op != kernel.Add || !isInput(k, sum.Args[1], i) {
			return nil
		}
		x = sum.Args[0]
	}
	if !isInput(k, x, 0) {
		return nil
	}
	return l
}

// isInput reports whether a value is that of an input as it lies.
func isInput(k *kernel.Kernel, v kernel.Value, i int) bool {
	in := &k.Instrs[v]
	return in.Op == kernel.Load && in.Imm == uint64(i) && in.Type == k.Inputs[i]
}

// besideConst returns the operand beside a constant that is a number, and that one's bits, where a value is the result of the operation.
func besideConst(k *kernel.Kernel, v kernel.Value, op kernel.Op) (x kernel.Value, bits uint64, ok bool) {
	in := &k.Instrs[v]
	if in.Op != op {
		return 0, 0, false
	}
	x, c := in.Args[0], &k.Instrs[in.Args[1]]
	if c.Op != kernel.Const {
		x, c = in.Args[1], &k.Instrs[x]
	}
	number := math.Float64frombits(c.Imm)
	if in.Type == tensor.Float32 {
		number = float64(math.Float32frombits(uint32(c.Imm)))
	}
	return x, c.Imm, c.Op == kernel.Const && !math.IsNaN(number)
}

// appendPool appends the limits, low first, of float64 or of float32.
func (l *limits) appendPool(code []byte, double bool) []byte {
	if double {
		return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(code, l.low), l.high)
	}
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(code, uint32(l.low)), uint32(l.high))
}

// fit assigns the registers that so many sums leave free. Where those do not do, some of the last
// sums wait in scratch memory.
func (e *Epilogue) fit(isa asm.ISA, sums int) (g *amd64.Generator, waiting int, err error) {
	for _, waiting = range []int{0, sums / 4, sums / 2} {
		if g, err = e.assign(isa, sums-waiting); err == nil && g.Scratch == g.Expanded() {
			break
		}
	}
	if err == nil && (g.Scratch+waiting)*isa.Width().Bytes() > EpilogueScratch {
		err = fmt.Errorf("%w (%s): epilogue with too many values", amd64.ErrUnsupported, isa)
	}
	return g, waiting, err
}

// assign generates the instructions, in registers from first on.
func (e *Epilogue) assign(isa asm.ISA, first int) (g *amd64.Generator, err error) {
	defer amd64.CatchUnsupported(&err)
	g = &amd64.Generator{Lowerer: amd64.Lowerer{ISA: isa, Kernel: e.kernel}, Unroll: 1}
	g.Lower(0)
	g.LayOutPool()
	free := uint32(1<<isa.Registers()-1) &^ (1<<first - 1)
	if bits.OnesCount32(free) < 3 {
		g.Fail("epilogue with %d registers", bits.OnesCount32(free))
	}
	a := amd64.NewAllocatorIn(&g.Lowerer, free)
	g.Fixed = a.Fixed
	g.Body = a.Assign()
	g.Scratch = a.Scratch
	return g, nil
}

// epilogueMask takes the place of tileMask, whose register the generator uses.
const epilogueMask = tilePack

// finishWith applies the epilogue to the sums, row by row, and stores them.
func (w *tileWriter) finishWith(e *Epilogue) {
	sums := w.rows * w.vectors
	g, waiting, err := e.fit(w.tile.ISA, sums)
	if err != nil {
		panic(err) // NewEpilogue has tried the fullest tiles
	}
	outer := w.Assembler
	g.Asm, w.Assembler = *outer, &g.Asm
	kept := sums - waiting
	w.enterEpilogue(g)
	wait := func(x int) asm.Mem { return asm.At(amd64.ScratchReg, int32(g.Scratch+x-kept)*w.bytes) }
	for x := kept; x < sums; x++ {
		w.V(asm.MOVUPSstore, w.width, asm.Reg(x), 0, asm.M(wait(x)))
	}
	if w.tile.ISA != asm.AVX512 {
		g.ExpandUniforms(func(*amd64.Uniform) bool { return true })
	}
	if w.tile.Add {
		w.addC(kept, wait)
	}
	for i, r := range g.Fixed {
		if r >= 0 {
			g.Instruction(g.ReadUniform(asm.Reg(r), i), 0, amd64.AllLanes)
		}
	}
	for x := range sums {
		j := x % w.vectors
		if x > 0 && j == 0 {
			w.Add(tileC, finishRow)
			w.Add(finishResidual, finishRow)
		}
		sum := asm.Reg(x)
		if x >= kept { // into the register of a sum that is stored
			sum = asm.Reg(x - kept)
			w.V(asm.MOVUPS, w.width, sum, 0, asm.M(wait(x)))
		}
		w.apply(g, sum, j)
	}
	w.leave()
	w.Align(64)
	w.Bind(g.Pool)
	w.Code = append(w.Code, g.PoolData...)
	*outer, w.Assembler = g.Asm, outer
}

// enterEpilogue loads the addresses that the epilogue needs.
func (w *tileWriter) enterEpilogue(g *amd64.Generator) {
	w.mask = epilogueMask
	w.loadTailMask(argMask)
	w.Load(tileC, asm.At(tileArgs, argC))
	w.Load(finishRow, asm.At(tileArgs, argCRow))
	w.Load(finishBias, asm.At(tileArgs, argBias))
	w.Load(finishResidual, asm.At(tileArgs, argResidual))
	w.Load(amd64.ScratchReg, asm.At(tileArgs, argScratch))
	g.Pool = w.NewLabel()
	w.LeaLabel(amd64.PoolReg, g.Pool)
}

// addC adds what C holds to the sums, before other registers than theirs are in use.
func (w *tileWriter) addC(kept int, wait func(x int) asm.Mem) {
	scratch := asm.Reg(kept)
	for x := range w.rows * w.vectors {
		j := x % w.vectors
		if x > 0 && j == 0 {
			w.Add(tileC, finishRow)
		}
		at := asm.At(tileC, int32(j)*w.bytes)
		if x < kept {
			w.addVector(asm.Reg(x), scratch, at, w.isTail(j))
			continue
		}
		w.loadVector(scratch, at, w.isTail(j))
		w.V(w.add, w.width, scratch, scratch, asm.M(wait(x)))
		w.V(asm.MOVUPSstore, w.width, scratch, 0, asm.M(wait(x)))
	}
	w.Load(tileC, asm.At(tileArgs, argC))
}

// apply emits the epilogue of one sum.
func (w *tileWriter) apply(g *amd64.Generator, sum asm.Reg, j int) {
	at := int32(j) * w.bytes
	for _, m := range g.Body {
		switch {
		case m.Kind == amd64.StoreOut:
			w.storeVector(m.V, asm.At(tileC, at), w.isTail(j))
		case m.Kind != amd64.LoadInput:
			g.Instruction(m, 0, amd64.AllLanes)
		case int(m.Index) == 1:
			w.V(asm.MOVAPS, w.width, m.D, 0, asm.R(sum))
		case int(m.Index) == 2:
			w.loadVector(m.D, asm.At(finishBias, at), w.isTail(j))
		default:
			w.loadVector(m.D, asm.At(finishResidual, at), w.isTail(j))
		}
	}
}

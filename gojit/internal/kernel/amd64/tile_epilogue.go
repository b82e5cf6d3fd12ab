package amd64

import (
	"fmt"
	"math/bits"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Epilogue is a kernel that tiles apply to their sums before they store them: of input 0, the sum,
// input 1, TileArgs.Bias with one element for every column, and input 2, TileArgs.Residual, which
// lies as C does. Its code is written once for each accumulator. It keeps the code of the tiles that
// apply it.
type Epilogue struct {
	kernel *kernel.Kernel
	tiles  Kernels[Tile]
}

// EpilogueInputs is how many inputs an epilogue has at most.
const EpilogueInputs = 3

// EpilogueScratch is the size of the memory that TileArgs.Scratch points to where there is an epilogue.
const EpilogueScratch = 64 * 64

// NewEpilogue makes an epilogue for tiles of float32 or float64. The error is ErrUnsupported where the
// kernel is of other types, has numbers as parameters, or needs more than the instruction set has.
func NewEpilogue(k *kernel.Kernel, t tensor.DType, isa ISA) (*Epilogue, error) {
	plain := isa >= AVX2 && (t == tensor.Float32 || t == tensor.Float64) && len(k.Outputs) == 1 && k.Outputs[0].DType == t &&
		k.Outputs[0].Reduce == kernel.NoReduce && k.Params == 0 && len(k.Inputs) >= 1 && len(k.Inputs) <= EpilogueInputs
	for _, in := range k.Inputs {
		plain = plain && in == t
	}
	for i := range k.Instrs {
		plain = plain && k.Instrs[i].Op != kernel.Iota && !isDivision(&k.Instrs[i])
	}
	if !plain {
		return nil, fmt.Errorf("%w (%s): epilogue of other types, parameters or outputs", ErrUnsupported, isa)
	}
	e := &Epilogue{kernel: kernel.ExpandFor(k, isa.Primitives())}
	lanes := isa.Width().Bytes() / t.Size()
	for vectors := 1; vectors <= 2; vectors++ { // the fullest tiles there are
		g, _, err := e.fit(isa, MaxRows(isa, vectors)*vectors)
		if err != nil {
			return nil, err
		}
		if g.lanes != lanes {
			return nil, fmt.Errorf("%w (%s): epilogue with values of another size", ErrUnsupported, isa)
		}
	}
	return e, nil
}

// fit assigns the registers that so many sums leave free. Where those do not do, some of the last
// sums wait in scratch memory.
func (e *Epilogue) fit(isa ISA, sums int) (g *generator, waiting int, err error) {
	for _, waiting = range []int{0, sums / 4, sums / 2} {
		if g, err = e.assign(isa, sums-waiting); err == nil && g.scratch == g.expanded() {
			break
		}
	}
	if err == nil && (g.scratch+waiting)*isa.Width().Bytes() > EpilogueScratch {
		err = fmt.Errorf("%w (%s): epilogue with too many values", ErrUnsupported, isa)
	}
	return g, waiting, err
}

// assign generates the instructions, in registers from first on.
func (e *Epilogue) assign(isa ISA, first int) (g *generator, err error) {
	defer catchUnsupported(&err)
	g = &generator{lowerer: lowerer{isa: isa, kernel: e.kernel}, unroll: 1}
	g.lower(0)
	g.layOutPool()
	free := uint32(1<<isa.Registers()-1) &^ (1<<first - 1)
	if bits.OnesCount32(free) < 3 {
		g.fail("epilogue with %d registers", bits.OnesCount32(free))
	}
	a := newAllocatorIn(&g.lowerer, free)
	g.fixed = a.fixed
	g.body = a.assign()
	g.scratch = a.scratch
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
	g.asm, w.Assembler = *outer, &g.asm
	kept := sums - waiting
	w.enterEpilogue(g)
	wait := func(x int) Mem { return At(scratchReg, int32(g.scratch+x-kept)*w.bytes) }
	for x := kept; x < sums; x++ {
		w.V(MOVUPSstore, w.width, Reg(x), 0, M(wait(x)))
	}
	if w.tile.ISA != AVX512 {
		g.expandUniforms(func(*uniform) bool { return true })
	}
	if w.tile.Add {
		w.addC(kept, wait)
	}
	for i, r := range g.fixed {
		if r >= 0 {
			g.instruction(g.readUniform(Reg(r), i), 0, allLanes)
		}
	}
	for x := range sums {
		j := x % w.vectors
		if x > 0 && j == 0 {
			w.Add(tileC, finishRow)
			w.Add(finishResidual, finishRow)
		}
		sum := Reg(x)
		if x >= kept { // into the register of a sum that is stored
			sum = Reg(x - kept)
			w.V(MOVUPS, w.width, sum, 0, M(wait(x)))
		}
		w.apply(g, sum, j)
	}
	w.leave()
	w.Align(64)
	w.Bind(g.pool)
	w.Code = append(w.Code, g.poolData...)
	*outer, w.Assembler = g.asm, outer
}

// enterEpilogue loads the addresses that the epilogue needs.
func (w *tileWriter) enterEpilogue(g *generator) {
	w.mask = epilogueMask
	w.loadTailMask(argMask)
	w.Load(tileC, At(tileArgs, argC))
	w.Load(finishRow, At(tileArgs, argCRow))
	w.Load(finishBias, At(tileArgs, argBias))
	w.Load(finishResidual, At(tileArgs, argResidual))
	w.Load(scratchReg, At(tileArgs, argScratch))
	g.pool = w.NewLabel()
	w.LeaLabel(poolReg, g.pool)
}

// addC adds what C holds to the sums, before other registers than theirs are in use.
func (w *tileWriter) addC(kept int, wait func(x int) Mem) {
	scratch := Reg(kept)
	for x := range w.rows * w.vectors {
		j := x % w.vectors
		if x > 0 && j == 0 {
			w.Add(tileC, finishRow)
		}
		at := At(tileC, int32(j)*w.bytes)
		if x < kept {
			w.addVector(Reg(x), scratch, at, w.isTail(j))
			continue
		}
		w.loadVector(scratch, at, w.isTail(j))
		w.V(w.add, w.width, scratch, scratch, M(wait(x)))
		w.V(MOVUPSstore, w.width, scratch, 0, M(wait(x)))
	}
	w.Load(tileC, At(tileArgs, argC))
}

// apply emits the epilogue of one sum.
func (w *tileWriter) apply(g *generator, sum Reg, j int) {
	at := int32(j) * w.bytes
	for _, m := range g.body {
		switch {
		case m.kind == storeOut:
			w.storeVector(m.v, At(tileC, at), w.isTail(j))
		case m.kind != loadInput:
			g.instruction(m, 0, allLanes)
		case int(m.index) == 1:
			w.V(MOVAPS, w.width, m.d, 0, R(sum))
		case int(m.index) == 2:
			w.loadVector(m.d, At(finishBias, at), w.isTail(j))
		default:
			w.loadVector(m.d, At(finishResidual, at), w.isTail(j))
		}
	}
}

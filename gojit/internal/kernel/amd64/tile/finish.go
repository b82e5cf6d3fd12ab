package tile

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Registers of the finish of a tile, beside tileC: those of the sums' loop are free.
const (
	finishRow      = tileARow // bytes from one row of C to the next
	finishBias     = tileB
	finishResidual = tileBRow
)

// combine adds the sets of accumulators, pairwise.
func (w *tileWriter) combine() {
	size := w.rows * w.vectors
	for n := w.sets / 2; n >= 1; n /= 2 {
		for i := range n * size {
			w.V(w.add, w.width, asm.Reg(i), asm.Reg(i), asm.R(asm.Reg(i+n*size)))
		}
	}
}

// finishLimited adds what limits say to the sums and brings them between these.
func (w *tileWriter) finishLimited(l *limits) {
	w.tile.Residual = l.inputs > 2
	if l.inputs > 1 {
		w.tile.Bias = ColumnBias
	}
	pool := w.NewLabel()
	w.LeaLabel(amd64.PoolReg, pool)
	w.finish(l)
	w.leave()
	w.Align(8)
	w.Bind(pool)
	w.Code = l.appendPool(w.Code, w.tile.Double)
}

// finish adds what the tile says to the sums, row by row, and stores them, between limits where there are some.
func (w *tileWriter) finish(l *limits) {
	t := &w.tile
	const row, bias, residual = finishRow, finishBias, finishResidual
	free := asm.Reg(w.rows * w.vectors)
	scratch, rowBias, zero := free, free+1, free+2
	w.Load(tileC, asm.At(tileArgs, argC))
	w.Load(row, asm.At(tileArgs, argCRow))
	if t.Bias != NoBias {
		w.Load(bias, asm.At(tileArgs, argBias))
	}
	if t.Residual {
		w.Load(residual, asm.At(tileArgs, argResidual))
	}
	switch {
	case l != nil: // without a bias of rows
		w.V(w.splat, w.width, zero, 0, asm.M(asm.At(amd64.PoolReg, 0)))
		w.V(w.splat, w.width, rowBias, 0, asm.M(asm.At(amd64.PoolReg, w.element)))
	case t.Relu:
		w.clear(zero)
	}
	for r := range w.rows {
		if t.Bias == RowBias {
			w.V(w.splat, w.width, rowBias, 0, asm.M(asm.At(bias, int32(r)*w.element)))
		}
		for j := range w.vectors {
			w.finishVector(w.accumulator(0, r, j), j, scratch, rowBias, zero, l != nil)
		}
		if r+1 < w.rows {
			w.Add(tileC, row)
			if t.Residual {
				w.Add(residual, row)
			}
		}
	}
}

// finishVector adds what there is to vector j of a row and stores it. Where it is limited, the limits are in place of zero and of the bias of rows.
func (w *tileWriter) finishVector(sum asm.Reg, j int, scratch, rowBias, zero asm.Reg, limited bool) {
	t, at := &w.tile, int32(j)*w.bytes
	if t.Add {
		w.addVector(sum, scratch, asm.At(tileC, at), w.isTail(j))
	}
	switch t.Bias {
	case ColumnBias:
		w.addVector(sum, scratch, asm.At(finishBias, at), w.isTail(j))
	case RowBias:
		w.V(w.add, w.width, sum, sum, asm.R(rowBias))
	}
	if t.Residual {
		w.addVector(sum, scratch, asm.At(finishResidual, at), w.isTail(j))
	}
	if t.Relu || limited { // the second operand is what a NaN gives
		w.V(w.maximum, w.width, sum, zero, asm.R(sum))
	}
	if limited {
		w.V(w.minimum, w.width, sum, rowBias, asm.R(sum))
	}
	w.storeVector(sum, asm.At(tileC, at), w.isTail(j))
}

// addVector adds a vector of memory to a sum.
func (w *tileWriter) addVector(sum, scratch asm.Reg, m asm.Mem, tail bool) {
	if !tail {
		w.V(w.add, w.width, sum, sum, asm.M(m))
		return
	}
	w.loadVector(scratch, m, true)
	w.V(w.add, w.width, sum, sum, asm.R(scratch))
}

// leave returns, or goes on with the next block.
func (w *tileWriter) leave() {
	const moved = tileARow
	if w.tile.Walk {
		done := w.NewLabel()
		w.Load(moved, asm.At(tileArgs, argBlocks))
		w.SubImm(moved, 1)
		w.Store(asm.At(tileArgs, argBlocks), moved)
		w.JumpIf(asm.Equal, done)
		w.moveArg(moved, argA, argABlock)
		w.moveArg(moved, argC, argCBlock)
		if w.tile.KeepA {
			w.moveArg(moved, argPackA, argPackABlock)
		}
		if w.tile.Residual || w.tile.Epilogue != nil {
			w.moveArg(moved, argResidual, argCBlock)
		}
		if w.tile.Bias == RowBias {
			w.Load(moved, asm.At(tileArgs, argBias))
			w.AddImm(moved, int32(w.rows)*w.element)
			w.Store(asm.At(tileArgs, argBias), moved)
		}
		w.Jump(w.start)
		w.Bind(done)
	}
	if w.tile.Stream {
		w.StoreFence()
	}
	w.ZeroUpper()
	w.Ret()
}

// moveArg adds one argument to another.
func (w *tileWriter) moveArg(scratch asm.Reg, arg, by int32) {
	w.Load(scratch, asm.At(tileArgs, arg))
	w.AddMem(scratch, asm.At(tileArgs, by))
	w.Store(asm.At(tileArgs, arg), scratch)
}

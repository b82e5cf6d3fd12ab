package tile

import "github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"

// stepsAtOnce returns for how many k step adds the products.
func (w *tileWriter) stepsAtOnce() int {
	if w.tile.Halves {
		return 2
	}
	return 1
}

// stepHalves adds the products of two k. Of a tile with Halves B has, for every two k, the vectors before the last one for the first, those for the second, and
// one vector with the columns that are left: each of them for the first and, beside it, for the second. So does a sum of it have two lanes for each column.
func (w *tileWriter) stepHalves(u int) {
	whole, set := w.vectors-1, u/2%w.sets
	at := func(i int) asm.Mem { return asm.At(tileB, int32(u/2*(2*whole+1)+i)*w.bytes) }
	load := func(d asm.Reg, i int) {
		m := at(i)
		w.V(asm.MOVUPS, w.width, d, 0, asm.M(m))
		if w.tile.Prefetch {
			m.Disp += ahead
			w.Assembler.Prefetch(asm.PrefetchNearest, m)
		}
	}
	for k := range 2 {
		for j := range whole {
			b := asm.Reg(w.firstB + j)
			load(b, k*whole+j)
			for r := range w.rows {
				w.V(w.multiplyAdd, w.width, w.accumulator(set, r, j), b, asm.Splat(w.atA(u+k, r)))
			}
		}
	}
	b := asm.Reg(w.firstB + whole)
	load(b, 2*whole)
	for r := range w.rows {
		x := asm.Reg(w.firstA + r%w.countA)
		w.V(asm.BROADCASTSD, w.width, x, 0, asm.M(w.atA(u, r)))
		w.V(w.multiplyAdd, w.width, w.accumulator(set, r, whole), b, asm.R(x))
	}
}

// foldHalves adds the two lanes of each column and brings the columns together.
func (w *tileWriter) foldHalves() {
	if !w.tile.Halves {
		return
	}
	const swapped = 0xb1 // of each two lanes
	scratch := asm.Reg(w.rows * w.vectors)
	for r := range w.rows {
		sum := w.accumulator(0, r, w.vectors-1)
		w.VImm(asm.SHUFPS, w.width, scratch, sum, asm.R(sum), swapped)
		w.V(w.add, w.width, sum, sum, asm.R(scratch))
		w.V(asm.PMOVQDstore, w.width, sum, 0, asm.R(sum))
	}
}

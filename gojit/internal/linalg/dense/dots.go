package dense

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// runDots multiplies with a transposed B whose rows are summed along the lanes.
func (g *gemm) runDots() {
	columns := tile.DotsGroup(g.double)
	if g.m <= 2 && g.n > columns && (g.m == 1 || g.isa == asm.AVX512) {
		columns *= 2
	}
	groups := (g.n + columns - 1) / columns
	if parts := g.shares(groups); parts > 1 {
		shared := *g
		parallel.For(parts, 1, func(lo, hi int) {
			shared.dots(columns, cut(groups, parts, lo), cut(groups, parts, hi))
		})
		return
	}
	g.dots(columns, 0, groups)
}

// dotsRows is how many rows of A a kernel takes.
func dotsRows(isa asm.ISA) int {
	if isa == asm.AVX512 {
		return 4
	}
	return 2
}

// dots computes groups of columns from lo to hi.
func (g *gemm) dots(columns, lo, hi int) {
	var scratch [4 * 8]float64
	maximum := dotsRows(g.isa)
	tiles := (g.m + maximum - 1) / maximum
	args := tile.DotsArgs{ARow: int64(g.lda * g.size), K: int64(g.k), Mask: tile.TailMask(g.isa, g.k%g.lanes*g.size/4)}
	d := tile.Dots{ISA: g.isa, Double: g.double, Pairs: g.pairs, Half: g.half, Groups: uint8(columns / tile.DotsGroup(g.double))}
	whole := d // of columns that are computed once
	plain := !g.relu && g.biasKind != tile.RowBias && g.residual == nil
	whole.Add, whole.Bias = plain && g.add, plain && g.biasKind == tile.ColumnBias
	for j := lo; j < hi; j++ {
		n0, n1 := j*columns, min((j+1)*columns, g.n)
		args.BRow = int64(g.ldb * g.sizeB())
		switch {
		case n1-n0 == columns:
			if whole.Bias {
				args.Bias = g.at(g.bias, n0)
			}
			g.dotsColumns(&whole, args, &scratch, plain, n0, n0, n1, tiles)
		case g.n >= columns: // some that are known already are computed again
			g.dotsColumns(&d, args, &scratch, false, g.n-columns, n0, n1, tiles)
		default: // each row in place of all that the kernel reads
			args.BRow = 0
			for n := n0; n < n1; n++ {
				g.dotsColumns(&d, args, &scratch, false, n, n, n+1, tiles)
			}
		}
	}
}

// dotsColumns runs the kernel over all rows and the columns that begin at from; those from n0 to n1 go to C.
func (g *gemm) dotsColumns(d *tile.Dots, args tile.DotsArgs, scratch *[32]float64, plain bool, from, n0, n1, tiles int) {
	columns := int(d.Groups) * tile.DotsGroup(g.double)
	args.B = unsafe.Add(g.b, from*g.ldb*g.sizeB())
	var watch parallel.Watch
	for i := range tiles {
		watch.Did(g.k)
		r0, r1 := cut(g.m, tiles, i), cut(g.m, tiles, i+1)
		d.Rows = uint8(r1 - r0)
		args.A = g.elementA(r0, 0)
		if plain {
			args.C, args.CRow = g.at(g.c, r0*g.ldc+from), int64(g.ldc*g.size)
		} else {
			args.C, args.CRow = unsafe.Pointer(scratch), int64(columns*g.size)
		}
		d.Code().Call(unsafe.Pointer(&args))
		switch {
		case plain:
		case g.double:
			finishDots(g, (*[32]float64)(scratch)[:], columns, from, r0, r1, n0, n1)
		default:
			finishDots(g, unsafe.Slice((*float32)(unsafe.Pointer(scratch)), 32), columns, from, r0, r1, n0, n1)
		}
	}
}

// finishDots stores what a kernel has left in scratch.
func finishDots[T Float](g *gemm, scratch []T, columns, from, r0, r1, n0, n1 int) {
	for r := r0; r < r1; r++ {
		c := unsafe.Slice((*T)(g.at(g.c, r*g.ldc)), g.n)
		for j := n0; j < n1; j++ {
			sum := scratch[(r-r0)*columns+j-from]
			if g.add {
				sum += c[j]
			}
			if g.biasKind != tile.NoBias {
				sum += *(*T)(g.biasAt(r, j))
			}
			if g.residual != nil {
				sum += *(*T)(g.at(g.residual, r*g.ldc+j))
			}
			if g.relu && sum < 0 {
				sum = 0
			}
			c[j] = sum
		}
	}
}

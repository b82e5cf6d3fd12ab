package gemm

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// runDots multiplies with a transposed B whose rows are summed along the lanes.
func (g *Tiled) runDots() {
	columns := tile.DotsGroup(g.Double)
	if g.M <= 2 && g.N > columns && (g.M == 1 || g.ISA == asm.AVX512) {
		columns *= 2
	}
	groups := (g.N + columns - 1) / columns
	if parts := g.shares(groups); parts > 1 {
		shared := *g
		parallel.For(parts, 1, func(lo, hi int) {
			shared.dots(columns, Cut(groups, parts, lo), Cut(groups, parts, hi))
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
func (g *Tiled) dots(columns, lo, hi int) {
	var scratch [4 * 8]float64
	maximum := dotsRows(g.ISA)
	tiles := (g.M + maximum - 1) / maximum
	args := tile.DotsArgs{ARow: int64(g.Lda * g.Size), K: int64(g.K), Mask: tile.TailMask(g.ISA, g.K%g.Lanes*g.Size/4)}
	d := tile.Dots{ISA: g.ISA, Double: g.Double, Pairs: g.pairs, Half: g.half, Groups: uint8(columns / tile.DotsGroup(g.Double))}
	whole := d // of columns that are computed once
	plain := !g.relu && g.BiasKind != tile.RowBias && g.residual == nil
	whole.Add, whole.Bias = plain && g.Add, plain && g.BiasKind == tile.ColumnBias
	for j := lo; j < hi; j++ {
		n0, n1 := j*columns, min((j+1)*columns, g.N)
		args.BRow = int64(g.Ldb * g.sizeB())
		switch {
		case n1-n0 == columns:
			if whole.Bias {
				args.Bias = g.at(g.Bias, n0)
			}
			g.dotsColumns(&whole, args, &scratch, plain, n0, n0, n1, tiles)
		case g.N >= columns: // some that are known already are computed again
			g.dotsColumns(&d, args, &scratch, false, g.N-columns, n0, n1, tiles)
		default: // each row in place of all that the kernel reads
			args.BRow = 0
			for n := n0; n < n1; n++ {
				g.dotsColumns(&d, args, &scratch, false, n, n, n+1, tiles)
			}
		}
	}
}

// dotsColumns runs the kernel over all rows and the columns that begin at from; those from n0 to n1 go to C.
func (g *Tiled) dotsColumns(d *tile.Dots, args tile.DotsArgs, scratch *[32]float64, plain bool, from, n0, n1, tiles int) {
	columns := int(d.Groups) * tile.DotsGroup(g.Double)
	args.B = unsafe.Add(g.B, from*g.Ldb*g.sizeB())
	var watch parallel.Watch
	for i := range tiles {
		watch.Did(g.K)
		r0, r1 := Cut(g.M, tiles, i), Cut(g.M, tiles, i+1)
		d.Rows = uint8(r1 - r0)
		args.A = g.elementA(r0, 0)
		if plain {
			args.C, args.CRow = g.at(g.C, r0*g.Ldc+from), int64(g.Ldc*g.Size)
		} else {
			args.C, args.CRow = unsafe.Pointer(scratch), int64(columns*g.Size)
		}
		d.Code().Call(unsafe.Pointer(&args))
		switch {
		case plain:
		case g.Double:
			finishDots(g, (*[32]float64)(scratch)[:], columns, from, r0, r1, n0, n1)
		default:
			finishDots(g, unsafe.Slice((*float32)(unsafe.Pointer(scratch)), 32), columns, from, r0, r1, n0, n1)
		}
	}
}

// finishDots stores what a kernel has left in scratch.
func finishDots[T Float](g *Tiled, scratch []T, columns, from, r0, r1, n0, n1 int) {
	for r := r0; r < r1; r++ {
		c := unsafe.Slice((*T)(g.at(g.C, r*g.Ldc)), g.N)
		for j := n0; j < n1; j++ {
			sum := scratch[(r-r0)*columns+j-from]
			if g.Add {
				sum += c[j]
			}
			if g.BiasKind != tile.NoBias {
				sum += *(*T)(g.biasAt(r, j))
			}
			if g.residual != nil {
				sum += *(*T)(g.at(g.residual, r*g.Ldc+j))
			}
			if g.relu && sum < 0 {
				sum = 0
			}
			c[j] = sum
		}
	}
}

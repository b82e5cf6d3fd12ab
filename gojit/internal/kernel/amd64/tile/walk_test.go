//go:build unix

package tile

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm/asmtest"
)

// TestTilesWalk runs tiles over several blocks whose sums have several runs, over buffers that end at guard
// pages.
func TestTilesWalk(t *testing.T) {
	for _, isa := range vectorSets() {
		for vectors := 1; vectors <= 4; vectors++ {
			for rows := 1; rows <= MaxRows(isa, vectors); rows++ {
				r := rand.New(rand.NewPCG(uint64(vectors), uint64(rows)))
				tile := Tile{ISA: isa, Rows: uint8(rows), Vectors: uint8(vectors), Walk: true, Tail: r.IntN(2) == 0, InPlace: r.IntN(2) == 0,
					Add: r.IntN(2) == 0, Bias: Bias(r.IntN(3)), Residual: r.IntN(2) == 0, Relu: r.IntN(2) == 0, FetchC: r.IntN(2) == 0,
					Fetch: r.IntN(2) == 0, Columns: r.IntN(2) == 0}
				tile.KeepA = !tile.Columns && !tile.InPlace && r.IntN(2) == 0
				tile.PackedA = !tile.Columns && !tile.KeepA && r.IntN(2) == 0
				checkWalk[float32](t, tile, r)
				tile.Double = true
				checkWalk[float64](t, tile, r)
			}
		}
	}
}

func checkWalk[T float32 | float64](t *testing.T, tile Tile, r *rand.Rand) {
	t.Helper()
	var zero T
	size := int(unsafe.Sizeof(zero))
	lanes, rows, front := tile.ISA.Width().Bytes()/size, int(tile.Rows), r.IntN(2) == 0
	k, runs, blocks := 1+r.IntN(11), 1+r.IntN(3), 1+r.IntN(3)
	if tile.KeepA || tile.PackedA {
		runs = 1
	}
	n := int(tile.Vectors) * lanes
	columns, ldb := n, n
	if tile.Tail {
		columns -= r.IntN(lanes)
	}
	if tile.InPlace {
		ldb = columns
	}
	runA, runB := k+r.IntN(3), k*ldb+r.IntN(2) // from one run to the next
	lda, ldc := runs*runA, columns+r.IntN(3)
	nextA, blockA, extentA := runA-k, rows*lda, blocks*rows*lda-(runA-k)
	elementA := func(i, run, p int) int { return i*lda + run*runA + p }
	if tile.Columns {
		lda = rows + r.IntN(3)
		runA = k*lda + nextA
		blockA, extentA = runs*runA, blocks*runs*runA-nextA-(lda-rows)
		elementA = func(i, run, p int) int { return i/rows*blockA + run*runA + p*lda + i%rows }
	}
	packedRow := tile.PackedRow(k) / size
	packed := func(i, p int) int { return i/rows*rows*packedRow + packedElement(rows, i%rows, p) }
	if tile.PackedA {
		blockA, extentA = rows*packedRow, blocks*rows*packedRow
		elementA = func(i, run, p int) int { return packed(i, p) }
	}
	packA := asmtest.Guarded[T](t, blocks*rows*packedRow, front)
	a, b := asmtest.Guarded[T](t, extentA, front), asmtest.Guarded[T](t, (runs-1)*runB+k*ldb, front)
	c, residual := asmtest.Guarded[T](t, blocks*rows*ldc-(ldc-columns), front), asmtest.Guarded[T](t, blocks*rows*ldc-(ldc-columns), front)
	bias := asmtest.Guarded[T](t, max(columns, blocks*rows), front)
	for _, x := range [][]T{a, b, c, residual, bias} {
		fill(r, x)
	}
	want := append([]T(nil), c...)
	for i := range blocks * rows {
		for j := range columns {
			var sum T
			for run := range runs {
				for p := range k {
					sum += a[elementA(i, run, p)] * b[run*runB+p*ldb+j]
				}
			}
			if tile.Add {
				sum += c[i*ldc+j]
			}
			switch tile.Bias {
			case ColumnBias:
				sum += bias[j]
			case RowBias:
				sum += bias[i]
			}
			if tile.Residual {
				sum += residual[i*ldc+j]
			}
			if tile.Relu {
				sum = max(sum, 0)
			}
			want[i*ldc+j] = sum
		}
	}
	at := func(x []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(x)) }
	args := TileArgs{A: at(a), B: at(b), C: at(c), PackA: at(packA), Bias: at(bias), Residual: at(residual), Mask: TailMask(tile.ISA, (columns-(n-lanes))*size/4),
		ARow: int64(lda * size), BRow: int64(ldb * size), CRow: int64(ldc * size), K: int64(k),
		Runs: int64(runs), ANext: int64(nextA * size), BNext: int64((runB - k*ldb) * size),
		Blocks: int64(blocks), ABlock: int64(blockA * size), CBlock: int64(rows * ldc * size), PackABlock: int64(rows * packedRow * size),
		Fetch: uintptr(at(b)), FetchStep: int64(ldb * size)}
	tile.Code().Call(unsafe.Pointer(&args))
	for i := range want {
		if c[i] != want[i] {
			t.Fatalf("%+v %d runs of %d, %d blocks: element %d of C is %v, want %v", tile, runs, k, blocks, i, c[i], want[i])
		}
	}
	w := tileWriter{tile: tile}
	w.plan()
	if fetched := int(args.Fetch-uintptr(at(b))) / (ldb * size); tile.Fetch && fetched != blocks*runs*(k/w.unroll) {
		t.Fatalf("%+v %d runs of %d, %d blocks: %d rows are fetched", tile, runs, k, blocks, fetched)
	}
	for i := range blocks * rows {
		for p := range k {
			if tile.KeepA && packA[packed(i, p)] != a[elementA(i, 0, p)] {
				t.Fatalf("%+v %d blocks: element (%d, %d) of A is kept as %v, want %v", tile, blocks, i, p, packA[packed(i, p)], a[elementA(i, 0, p)])
			}
		}
	}
}

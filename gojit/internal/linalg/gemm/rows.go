package gemm

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// StripWork limits what one call of a kernel does: the collector waits for it.
const StripWork = 1 << 20

// rowTiles is the cut of the rows of a product into tiles of nearly equal size, the larger ones first: tiles of one size follow each other,
// and one call of a kernel walks over them.
type rowTiles struct {
	Count, larger int // tiles; how many of them have a row more than the others
	rows          int // of the others
}

// CutRows cuts m rows, at least one, into as few tiles as have at most so many.
func CutRows(m, maximum int) rowTiles {
	count := (m + maximum - 1) / maximum
	rows := m / count
	return rowTiles{Count: count, larger: m - rows*count, rows: rows}
}

// row returns the first row of tile i.
func (t *rowTiles) row(i int) int { return i*t.rows + min(i, t.larger) }

// Alike returns the rows of tile i and how many tiles from there on, before end, have as many.
func (t *rowTiles) Alike(i, end int) (rows, n int) {
	if i < t.larger {
		return t.rows + 1, min(end, t.larger) - i
	}
	return t.rows, end - i
}

// Walk computes the tiles from i to end of a panel, each of them k but for its rows. args has the addresses of the first one; rows of A are aRow bytes apart, and
// those of a tile aTile more behind those of the tile before it.
func (t *rowTiles) Walk(k *tile.Tile, args *tile.TileArgs, i, end, aRow, aTile int) {
	args.Runs = 1
	var watch parallel.Watch
	for {
		rows, n := t.Alike(i, end)
		if work := rows * n * int(k.Vectors) * k.Lanes() * int(args.K); work > StripWork {
			n = max(1, n*StripWork/work)
		}
		args.Blocks, args.ABlock, args.CBlock = int64(n), int64(rows*aRow+aTile), int64(rows)*args.CRow
		if k.KeepA {
			args.PackABlock = int64(rows * k.PackedRow(int(args.K)))
		}
		k.Rows = uint8(rows)
		k.Code().Call(unsafe.Pointer(args))
		if i += n; i == end {
			return
		}
		watch.Look()
		t.advance(k, args)
	}
}

// advance goes from the last block of a call to the next one.
func (t *rowTiles) advance(k *tile.Tile, args *tile.TileArgs) {
	args.A, args.C = unsafe.Add(args.A, args.ABlock), unsafe.Add(args.C, args.CBlock)
	if k.KeepA {
		args.PackA = unsafe.Add(args.PackA, args.PackABlock)
	}
	if k.Residual || k.Epilogue != nil {
		args.Residual = unsafe.Add(args.Residual, args.CBlock)
	}
	if k.Bias == tile.RowBias {
		args.Bias = unsafe.Add(args.Bias, int(k.Rows)*k.ElementSize())
	}
}

// fetchTiles is how many tiles, while they multiply with a panel, fetch the next one.
const fetchTiles = 4

// WalkPanel computes all tiles of a panel of packed B, each of them k but for its rows, whose rows of A are aRow bytes apart. The first ones fetch what follows
// the panel, which is the next one: weights that come from memory come while another panel is multiplied with.
func (t *rowTiles) WalkPanel(k *tile.Tile, args *tile.TileArgs, aRow int) {
	args.FetchStep = int64(int(k.Vectors) * k.Lanes() * k.ElementSize())
	args.Fetch = uintptr(args.B) + uintptr(args.K*args.FetchStep)
	k.Fetch = true
	n := min(fetchTiles, t.Count)
	t.Walk(k, args, 0, n, aRow, 0)
	k.Fetch = false
	if n < t.Count {
		t.advance(k, args)
		t.Walk(k, args, n, t.Count, aRow, 0)
	}
}

package dense

import (
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// packing is the way through a product with B packed into panels of panelVectors vectors. Blocks of
// blockTiles row tiles go over groups of panels, one block of the sums after the other; the first
// block of rows packs the panels that the others find.
type packing struct {
	*gemm
	panelColumns int
	perImage     int // panels of one image
	panels       int
	tiles        rowTiles
	blockTiles   int  // row tiles in a block
	blocks       int  // of the sums
	unit         int  // blocks are a multiple of
	depth        int  // the most sums of a block
	packA        bool // blocks of A are packed too
	rowA         int  // bytes of a packed row of A at most; of all rows for one k where A is transposed
}

func (g *gemm) packing() packing {
	maximum := tile.MaxRows(g.isa, panelVectors)
	p := packing{gemm: g, panelColumns: panelVectors * g.lanes}
	p.perImage = (g.n + p.panelColumns - 1) / p.panelColumns
	p.panels = p.perImage * max(g.images, 1)
	p.tiles = cutRows(g.m, maximum)
	p.unit = 1
	if g.patches != nil {
		p.unit = g.patches.taps
	}
	p.blockTiles = blockTiles
	depth := blockBytes / g.size
	if near := nearBytes / (p.tiles.count * maximum * g.size); p.tiles.count > blockTiles && near >= depth*3/8 {
		p.blockTiles, depth = p.tiles.count, min(depth, near)
	}
	p.blocks = max(1, min((g.k+depth-1)/depth, g.k/p.unit))
	p.depth = (g.k/p.unit/p.blocks + 1) * p.unit
	if g.columnsA {
		p.packA = p.panels > 2
		p.rowA = (maximum + g.lanes - 1) / g.lanes * g.lanes * g.size
	} else {
		p.packA = p.panels >= 8 && g.m > maximum && (g.lda*g.size%2048 == 0 || p.blocks > 1)
		t := g.tile()
		p.rowA = t.PackedRow(p.depth)
	}
	return p
}

// sharedPacking is a product and the way through it, for the threads that share it out. They are used again.
type sharedPacking struct {
	gemm gemm
	packing
}

var packings = sync.Pool{New: func() any { return new(sharedPacking) }}

// runPacked shares the product out by panels, or by rows where there are few panels. It works on a
// copy, so that the smaller products that do not come here stay off the heap.
func (g *gemm) runPacked() {
	p := packings.Get().(*sharedPacking)
	p.gemm = *g
	p.packing = p.gemm.packing()
	if g.shares(p.panels) > 1 || g.shares(p.tiles.count) > 1 {
		p.share()
	} else {
		p.part(0, p.panels, 0, p.tiles.count)
	}
	*p = sharedPacking{}
	packings.Put(p)
}

// share computes all of the product by several threads, where it has enough parts.
func (p *sharedPacking) share() {
	if parts := p.gemm.shares(p.panels); parts > 1 && p.panels >= 2*parts {
		parallel.For(parts, 1, func(lo, hi int) {
			p.part(cut(p.panels, parts, lo), cut(p.panels, parts, hi), 0, p.tiles.count)
		})
		return
	}
	if parts := p.gemm.shares(p.tiles.count); parts > 1 {
		parallel.For(parts, 1, func(lo, hi int) {
			p.part(0, p.panels, cut(p.tiles.count, parts, lo), cut(p.tiles.count, parts, hi))
		})
		return
	}
	p.part(0, p.panels, 0, p.tiles.count)
}

// buffers are the memory that one thread packs into.
type buffers struct{ a, b, table, scratch buffer }

// buffer is memory for one purpose: a little that is kept, and what is taken for a while.
type buffer struct{ kept, taken []byte }

// keptBytes is how large the memory is that a buffer keeps. Larger memory is there for all that need some.
const keptBytes = 16 << 10

var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

func takeBuffers() *buffers { return bufferPool.Get().(*buffers) }

func (m *buffers) giveBack() {
	m.a.shrink()
	m.b.shrink()
	m.table.shrink()
	m.scratch.shrink()
	bufferPool.Put(m)
}

// shrink gives back what was taken.
func (b *buffer) shrink() {
	if b.taken != nil {
		tensor.GiveBytes(b.taken)
		b.taken = nil
	}
}

// grow returns n bytes on a cache line, in place of what it returned before; the address behind them is in the same allocation.
func grow(b *buffer, n int) unsafe.Pointer {
	n += 128
	memory := &b.kept
	if n > keptBytes {
		if memory = &b.taken; len(b.taken) < n {
			b.shrink()
			b.taken = tensor.TakeBytes(n)
		}
	} else if b.kept == nil {
		b.kept = make([]byte, keptBytes)
	}
	p := unsafe.Pointer(unsafe.SliceData(*memory))
	return unsafe.Add(p, int(-uintptr(p)%64))
}

// elements returns n elements on a cache line.
func elements[T Float](b *buffer, n int) []T {
	return unsafe.Slice((*T)(grow(b, n*int(unsafe.Sizeof(*new(T))))), n)
}

// part computes the panels from j0 to j1 of the row tiles from i0 to i1.
func (p *packing) part(j0, j1, i0, i1 int) {
	memory := takeBuffers()
	defer memory.giveBack()
	panelBytes := p.panelColumns * p.size
	group, kept := j1-j0, p.depth*panelBytes
	if i1-i0 > p.blockTiles {
		group = min(group, groupPanels, max(4, groupBytes/(p.k*panelBytes)))
		kept *= group * p.blocks
	}
	w := packedWriter{packing: p, memory: memory, b: grow(&memory.b, kept)}
	if p.packA {
		rows := p.blockTiles * tile.MaxRows(p.isa, panelVectors) * p.rowA
		if p.columnsA {
			rows = p.blockTiles * p.depth * p.rowA
		}
		w.a = grow(&memory.a, rows)
	}
	w.args.CRow = int64(p.ldc * p.size)
	if p.epilogue != nil {
		w.args.Scratch = grow(&memory.scratch, tile.EpilogueScratch)
	}
	for j := j0; j < j1; j += group {
		for i := i0; i < i1; i += p.blockTiles {
			for block := range p.blocks {
				k0, k1 := cut(p.k/p.unit, p.blocks, block)*p.unit, cut(p.k/p.unit, p.blocks, block+1)*p.unit
				panel, step := w.b, 0 // a panel is done with when the next one comes
				if i1-i0 > p.blockTiles {
					panel, step = unsafe.Add(w.b, block*group*p.depth*panelBytes), p.depth*panelBytes
				}
				w.block(j, min(j+group, j1), i, min(i+p.blockTiles, i1), k0, k1, panel, step, i == i0)
			}
		}
	}
}

// packedWriter is one thread's way through its part.
type packedWriter struct {
	*packing
	memory *buffers
	a, b   unsafe.Pointer // packed
	args   tile.TileArgs
	watch  parallel.Watch
}

// block computes the sums from k0 to k1 of panels and row tiles; where fill it packs the panels,
// which are step bytes apart.
func (w *packedWriter) block(j0, j1, i0, i1, k0, k1 int, panel unsafe.Pointer, step int, fill bool) {
	w.args.K = int64(k1 - k0)
	if w.packA && w.columnsA {
		w.fillA(i0, i1, k0, k1)
	}
	for j := j0; j < j1; j++ {
		w.watch.Look()
		image, at := j/w.perImage, j%w.perImage*w.panelColumns
		b, c := unsafe.Add(w.packing.gemm.b, image*w.stepB), unsafe.Add(w.c, image*w.stepC)
		t := w.tile()
		t.Prefetch, t.FetchC = true, w.m*w.n*w.size > 512<<10
		if w.packA && !w.columnsA { // the first panel's tiles pack what the others find
			t.KeepA, t.PackedA = j == j0, j > j0
		}
		columns := min(w.panelColumns, w.n-at)
		w.tail(&t, &w.args, columns)
		w.ends(&t, k0 == 0, k1 == w.k)
		t.Walk = true
		to, i := unsafe.Add(panel, (j-j0)*step), i0
		if fill && !w.fillPanel(&t, to, b, at, columns, k0, k1) {
			w.packTile(t, to, w.at(b, k0*w.ldb+at), c, i, i0, k0, at)
			i++
			if at+w.panelColumns < w.n && i1-i >= fetchTiles {
				t.Fetch = true
				w.args.Fetch, w.args.FetchStep = uintptr(w.args.B)+uintptr(w.panelColumns*w.size), w.args.BRow
				w.args.B = to
				w.walk(&t, c, i, i+fetchTiles, i0, k0, at)
				t.Fetch = false
				i += fetchTiles
			}
		}
		w.args.B = to
		w.walk(&t, c, i, i1, i0, k0, at)
	}
}

// fetchTiles is how many tiles, while they multiply with a panel that was packed just now, fetch the next one, whose
// rows lie far apart.
const fetchTiles = 4

// fillPanel packs the columns of a panel, unless that is what the first tile is to do: then it reports false.
func (w *packedWriter) fillPanel(t *tile.Tile, to, b unsafe.Pointer, at, columns, k0, k1 int) bool {
	switch {
	case w.patches != nil:
		w.patches.fill(w, to, b, at, at+columns, k0/w.unit, k1/w.unit, int(t.Vectors)*w.lanes*w.size)
	case w.half != tile.NoHalf:
		w.widenPanel(to, b, at, columns, k0, k1)
	case w.columnsB:
		w.transposeB(to, b, at, at+columns, k0, int(t.Vectors))
	case w.pairs:
		w.pairPanel(to, b, at, columns, k0, k1)
	default:
		return false
	}
	return true
}

// packTile computes tile i with the panel where it lies, and packs that.
func (w *packedWriter) packTile(t tile.Tile, to, b, c unsafe.Pointer, i, i0, k0, column int) {
	w.setRows(&t, c, i, i0, k0, column)
	w.args.B, w.args.BRow, w.args.Pack = b, int64(w.ldb*w.size), to
	rows, _ := w.tiles.alike(i, i+1)
	t.Rows, t.Walk, t.InPlace, t.Keep = uint8(rows), false, true, true
	t.Code().Call(unsafe.Pointer(&w.args))
}

// walk computes the tiles from i to end.
func (w *packedWriter) walk(t *tile.Tile, c unsafe.Pointer, i, end, i0, k0, column int) {
	if i < end {
		rowStep, tileStep := w.setRows(t, c, i, i0, k0, column)
		w.tiles.walk(t, &w.args, i, end, rowStep, tileStep)
	}
}

// setRows sets the addresses of tile i: of its rows of A and of what they give from a column of C on. It returns how far apart rows of A are,
// and how far a tile's lie behind those of the tile before it beside that.
func (w *packedWriter) setRows(t *tile.Tile, c unsafe.Pointer, i, i0, k0, column int) (rowStep, tileStep int) {
	row := w.tiles.row(i)
	w.args.C, w.args.Bias = w.at(c, row*w.ldc+column), w.biasAt(row, column)
	w.args.Residual = w.residualAt(w.args.C)
	switch {
	case t.Columns && w.packA:
		tileStep = int(w.args.K) * w.rowA
		w.args.A, w.args.ARow = unsafe.Add(w.a, (i-i0)*tileStep), int64(w.rowA)
		return 0, tileStep
	case t.KeepA || t.PackedA:
		rowStep = t.PackedRow(int(w.args.K))
		packed := unsafe.Add(w.a, (row-w.tiles.row(i0))*rowStep)
		if t.PackedA {
			w.args.A = packed
			return rowStep, 0
		}
		w.args.PackA = packed
	}
	w.args.A, w.args.ARow = w.elementA(row, k0), int64(w.lda*w.size)
	return w.rowStepA(), 0
}

// fillA packs the block of a transposed A.
func (w *packedWriter) fillA(i0, i1, k0, k1 int) {
	args := tile.CopyArgs{FromRow: int64(w.lda * w.size), ToRow: int64(w.rowA), Count: int64(k1 - k0)}
	for i := i0; i < i1; i++ {
		r0, r1 := w.tiles.row(i), w.tiles.row(i+1)
		c := tile.Copying{ISA: w.isa, Vectors: uint8((r1 - r0 + w.lanes - 1) / w.lanes), Tail: (r1-r0)%w.lanes != 0}
		args.Mask = tile.TailMask(w.isa, (r1-r0)%w.lanes*w.size/4)
		args.From, args.To = w.elementA(r0, k0), unsafe.Add(w.a, (i-i0)*(k1-k0)*w.rowA)
		c.Code().Call(unsafe.Pointer(&args))
	}
}

// transposeB packs a panel of a transposed B.
func (w *packedWriter) transposeB(panel, b unsafe.Pointer, n0, n1, k0, vectors int) {
	w.transposePanel(panel, b, n0, n1, k0, k0+int(w.args.K), vectors)
}

// transposePanel packs the columns from n0 to n1 of a transposed B, and its rows from k0 to k1.
func (g *gemm) transposePanel(to, b unsafe.Pointer, n0, n1, k0, k1, vectors int) {
	bytes := g.lanes * g.size
	args := tile.CopyArgs{FromRow: int64(g.ldb * g.size), ToRow: int64(vectors * bytes), Count: int64(k1 - k0),
		Mask: tile.TailMask(g.isa, (k1-k0)%g.lanes*g.size/4)}
	for v := range vectors {
		first := n0 + v*g.lanes
		args.From, args.To = g.at(b, first*g.ldb+k0), unsafe.Add(to, v*bytes)
		tile.Transposition{ISA: g.isa, Double: g.double, Rows: uint8(min(g.lanes, n1-first))}.Code().Call(unsafe.Pointer(&args))
	}
}

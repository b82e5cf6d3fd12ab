package gemm

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
	*Tiled
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

func (g *Tiled) packing() packing {
	maximum := tile.MaxRows(g.ISA, PanelVectors)
	p := packing{Tiled: g, panelColumns: PanelVectors * g.Lanes}
	p.perImage = (g.N + p.panelColumns - 1) / p.panelColumns
	p.panels = p.perImage * max(g.Images, 1)
	p.tiles = CutRows(g.M, maximum)
	p.unit = 1
	if g.Columns != nil {
		p.unit = g.Columns.Unit()
	}
	p.blockTiles = blockTiles
	depth := blockBytes / g.Size
	if near := NearBytes / (p.tiles.Count * maximum * g.Size); p.tiles.Count > blockTiles && near >= depth*3/8 {
		p.blockTiles, depth = p.tiles.Count, min(depth, near)
	}
	p.blocks = max(1, min((g.K+depth-1)/depth, g.K/p.unit))
	p.depth = (g.K/p.unit/p.blocks + 1) * p.unit
	if g.ColumnsA {
		p.packA = p.panels > 2
		p.rowA = (maximum + g.Lanes - 1) / g.Lanes * g.Lanes * g.Size
	} else {
		p.packA = p.panels >= 8 && g.M > maximum && (g.Lda*g.Size%2048 == 0 || p.blocks > 1)
		t := g.Tile()
		p.rowA = t.PackedRow(p.depth)
	}
	return p
}

// sharedPacking is a product and the way through it, for the threads that share it out. They are used again.
type sharedPacking struct {
	gemm Tiled
	packing
}

var packings = sync.Pool{New: func() any { return new(sharedPacking) }}

// RunPacked shares the product out by panels, or by rows where there are few panels. It works on a
// copy, so that the smaller products that do not come here stay off the heap.
func (g *Tiled) RunPacked() {
	p := packings.Get().(*sharedPacking)
	p.gemm = *g
	p.packing = p.gemm.packing()
	if g.shares(p.panels) > 1 || g.shares(p.tiles.Count) > 1 {
		p.share()
	} else {
		p.part(0, p.panels, 0, p.tiles.Count)
	}
	*p = sharedPacking{}
	packings.Put(p)
}

// share computes all of the product by several threads, where it has enough parts.
func (p *sharedPacking) share() {
	if parts := p.gemm.shares(p.panels); parts > 1 && p.panels >= 2*parts {
		parallel.For(parts, 1, func(lo, hi int) {
			p.part(Cut(p.panels, parts, lo), Cut(p.panels, parts, hi), 0, p.tiles.Count)
		})
		return
	}
	if parts := p.gemm.shares(p.tiles.Count); parts > 1 {
		parallel.For(parts, 1, func(lo, hi int) {
			p.part(0, p.panels, Cut(p.tiles.Count, parts, lo), Cut(p.tiles.Count, parts, hi))
		})
		return
	}
	p.part(0, p.panels, 0, p.tiles.Count)
}

// Buffers are the memory that one thread packs into.
type Buffers struct {
	A, B, Table, Scratch Buffer
	filling              Filling
}

// Buffer is memory for one purpose: a little that is kept, and what is taken for a while.
type Buffer struct{ kept, taken []byte }

// keptBytes is how large the memory is that a buffer keeps. Larger memory is there for all that need some.
const keptBytes = 16 << 10

var bufferPool = sync.Pool{New: func() any { return new(Buffers) }}

func TakeBuffers() *Buffers { return bufferPool.Get().(*Buffers) }

func (m *Buffers) Recycle() {
	m.A.shrink()
	m.B.shrink()
	m.Table.shrink()
	m.Scratch.shrink()
	bufferPool.Put(m)
}

// shrink gives back what was taken.
func (b *Buffer) shrink() {
	if b.taken != nil {
		tensor.GiveBytes(b.taken)
		b.taken = nil
	}
}

// Grow returns n bytes on a cache line, in place of what it returned before; the address behind them is in the same allocation.
func Grow(b *Buffer, n int) unsafe.Pointer {
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

// Elements returns n elements on a cache line.
func Elements[T Float](b *Buffer, n int) []T {
	return unsafe.Slice((*T)(Grow(b, n*int(unsafe.Sizeof(*new(T))))), n)
}

// part computes the panels from j0 to j1 of the row tiles from i0 to i1.
func (p *packing) part(j0, j1, i0, i1 int) {
	memory := TakeBuffers()
	defer memory.Recycle()
	panelBytes := p.panelColumns * p.Size
	group, kept := j1-j0, p.depth*panelBytes
	if i1-i0 > p.blockTiles {
		group = min(group, groupPanels, max(4, groupBytes/(p.K*panelBytes)))
		kept *= group * p.blocks
	}
	w := Writer{packing: p, Memory: memory, B: Grow(&memory.B, kept)}
	if p.packA {
		rows := p.blockTiles * tile.MaxRows(p.ISA, PanelVectors) * p.rowA
		if p.ColumnsA {
			rows = p.blockTiles * p.depth * p.rowA
		}
		w.a = Grow(&memory.A, rows)
	}
	w.Args.CRow = int64(p.Ldc * p.Size)
	if p.epilogue != nil {
		w.Args.Scratch = Grow(&memory.Scratch, tile.EpilogueScratch)
	}
	for j := j0; j < j1; j += group {
		for i := i0; i < i1; i += p.blockTiles {
			for block := range p.blocks {
				k0, k1 := Cut(p.K/p.unit, p.blocks, block)*p.unit, Cut(p.K/p.unit, p.blocks, block+1)*p.unit
				panel, step := w.B, 0 // a panel is done with when the next one comes
				if i1-i0 > p.blockTiles {
					panel, step = unsafe.Add(w.B, block*group*p.depth*panelBytes), p.depth*panelBytes
				}
				w.block(j, min(j+group, j1), i, min(i+p.blockTiles, i1), k0, k1, panel, step, i == i0)
			}
		}
	}
}

// Writer is one thread's way through its part.
type Writer struct {
	*packing
	Memory *Buffers
	a, B   unsafe.Pointer // packed
	Args   tile.TileArgs
	watch  parallel.Watch
}

// NewWriter returns the writer of one who packs and multiplies by himself.
func NewWriter(g *Tiled, memory *Buffers) Writer {
	return Writer{packing: &packing{Tiled: g}, Memory: memory}
}

// block computes the sums from k0 to k1 of panels and row tiles; where fill it packs the panels,
// which are step bytes apart.
func (w *Writer) block(j0, j1, i0, i1, k0, k1 int, panel unsafe.Pointer, step int, fill bool) {
	w.Args.K = int64(k1 - k0)
	if w.packA && w.ColumnsA {
		w.fillA(i0, i1, k0, k1)
	}
	for j := j0; j < j1; j++ {
		w.watch.Look()
		image, at := j/w.perImage, j%w.perImage*w.panelColumns
		b, c := unsafe.Add(w.packing.Tiled.B, image*w.StepB), unsafe.Add(w.C, image*w.StepC)
		t := w.Tile()
		t.Prefetch, t.FetchC = true, w.M*w.N*w.Size > 512<<10
		if w.packA && !w.ColumnsA { // the first panel's tiles pack what the others find
			t.KeepA, t.PackedA = j == j0, j > j0
		}
		columns := min(w.panelColumns, w.N-at)
		w.Tail(&t, &w.Args, columns)
		w.ends(&t, k0 == 0, k1 == w.K)
		t.Walk = true
		to, i := unsafe.Add(panel, (j-j0)*step), i0
		if fill && !w.fillPanel(&t, to, b, at, columns, k0, k1) {
			w.packTile(t, to, w.at(b, k0*w.Ldb+at), c, i, i0, k0, at)
			i++
			if at+w.panelColumns < w.N && i1-i >= fetchTiles {
				t.Fetch = true
				w.Args.Fetch, w.Args.FetchStep = uintptr(w.Args.B)+uintptr(w.panelColumns*w.Size), w.Args.BRow
				w.Args.B = to
				w.walk(&t, c, i, i+fetchTiles, i0, k0, at)
				t.Fetch = false
				i += fetchTiles
			}
		}
		w.Args.B = to
		w.walk(&t, c, i, i1, i0, k0, at)
	}
}

// Filling returns what columns are packed by. It lies in the buffers: what is passed to Columns by reference is on the heap.
func (w *Writer) Filling() *Filling {
	f := &w.Memory.filling
	if f.Table == nil {
		f.Table = &w.Memory.Table
	}
	f.ISA, f.Double, f.Lanes, f.Size = w.ISA, w.Double, w.Lanes, w.Size
	return f
}

// fillPanel packs the columns of a panel, unless that is what the first tile is to do: then it reports false.
func (w *Writer) fillPanel(t *tile.Tile, to, b unsafe.Pointer, at, columns, k0, k1 int) bool {
	switch {
	case w.Columns != nil:
		w.Columns.Fill(w.Filling(), to, b, at, at+columns, k0/w.unit, k1/w.unit, int(t.Vectors)*w.Lanes*w.Size)
	case w.half != tile.NoHalf:
		w.widenPanel(to, b, at, columns, k0, k1)
	case w.ColumnsB:
		w.transposeB(to, b, at, at+columns, k0, int(t.Vectors))
	case w.pairs:
		w.pairPanel(to, b, at, columns, k0, k1)
	default:
		return false
	}
	return true
}

// packTile computes tile i with the panel where it lies, and packs that.
func (w *Writer) packTile(t tile.Tile, to, b, c unsafe.Pointer, i, i0, k0, column int) {
	w.setRows(&t, c, i, i0, k0, column)
	w.Args.B, w.Args.BRow, w.Args.Pack = b, int64(w.Ldb*w.Size), to
	rows, _ := w.tiles.Alike(i, i+1)
	t.Rows, t.Walk, t.InPlace, t.Keep = uint8(rows), false, true, true
	t.Code().Call(unsafe.Pointer(&w.Args))
}

// walk computes the tiles from i to end.
func (w *Writer) walk(t *tile.Tile, c unsafe.Pointer, i, end, i0, k0, column int) {
	if i < end {
		rowStep, tileStep := w.setRows(t, c, i, i0, k0, column)
		w.tiles.Walk(t, &w.Args, i, end, rowStep, tileStep)
	}
}

// setRows sets the addresses of tile i: of its rows of A and of what they give from a column of C on. It returns how far apart rows of A are,
// and how far a tile's lie behind those of the tile before it beside that.
func (w *Writer) setRows(t *tile.Tile, c unsafe.Pointer, i, i0, k0, column int) (rowStep, tileStep int) {
	row := w.tiles.row(i)
	w.Args.C, w.Args.Bias = w.at(c, row*w.Ldc+column), w.biasAt(row, column)
	w.Args.Residual = w.residualAt(w.Args.C)
	switch {
	case t.Columns && w.packA:
		tileStep = int(w.Args.K) * w.rowA
		w.Args.A, w.Args.ARow = unsafe.Add(w.a, (i-i0)*tileStep), int64(w.rowA)
		return 0, tileStep
	case t.KeepA || t.PackedA:
		rowStep = t.PackedRow(int(w.Args.K))
		packed := unsafe.Add(w.a, (row-w.tiles.row(i0))*rowStep)
		if t.PackedA {
			w.Args.A = packed
			return rowStep, 0
		}
		w.Args.PackA = packed
	}
	w.Args.A, w.Args.ARow = w.elementA(row, k0), int64(w.Lda*w.Size)
	return w.rowStepA(), 0
}

// fillA packs the block of a transposed A.
func (w *Writer) fillA(i0, i1, k0, k1 int) {
	args := tile.CopyArgs{FromRow: int64(w.Lda * w.Size), ToRow: int64(w.rowA), Count: int64(k1 - k0)}
	for i := i0; i < i1; i++ {
		r0, r1 := w.tiles.row(i), w.tiles.row(i+1)
		c := tile.Copying{ISA: w.ISA, Vectors: uint8((r1 - r0 + w.Lanes - 1) / w.Lanes), Tail: (r1-r0)%w.Lanes != 0}
		args.Mask = tile.TailMask(w.ISA, (r1-r0)%w.Lanes*w.Size/4)
		args.From, args.To = w.elementA(r0, k0), unsafe.Add(w.a, (i-i0)*(k1-k0)*w.rowA)
		c.Code().Call(unsafe.Pointer(&args))
	}
}

// transposeB packs a panel of a transposed B.
func (w *Writer) transposeB(panel, b unsafe.Pointer, n0, n1, k0, vectors int) {
	w.TransposePanel(panel, b, n0, n1, k0, k0+int(w.Args.K), vectors)
}

// TransposePanel packs the columns from n0 to n1 of a transposed B, and its rows from k0 to k1.
func (g *Tiled) TransposePanel(to, b unsafe.Pointer, n0, n1, k0, k1, vectors int) {
	bytes := g.Lanes * g.Size
	args := tile.CopyArgs{FromRow: int64(g.Ldb * g.Size), ToRow: int64(vectors * bytes), Count: int64(k1 - k0),
		Mask: tile.TailMask(g.ISA, (k1-k0)%g.Lanes*g.Size/4)}
	for v := range vectors {
		first := n0 + v*g.Lanes
		args.From, args.To = g.at(b, first*g.Ldb+k0), unsafe.Add(to, v*bytes)
		tile.Transposition{ISA: g.ISA, Double: g.Double, Rows: uint8(min(g.Lanes, n1-first))}.Code().Call(unsafe.Pointer(&args))
	}
}

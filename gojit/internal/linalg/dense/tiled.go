package dense

import (
	"math/bits"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// gemm is one matrix product on generated tiles. Strides are in elements.
//
// Four ways to go through it are told apart: rows summed along the lanes where B is transposed and
// A has few rows (dots); B read where it lies where A has few rows or B is small (inPlace); else B
// packed into panels (packed), by the tiles of the first rows while they compute, or by
// transposition. Tiles lie on a grid that follows from the sizes alone, so the result does not
// depend on how many threads share it out.
type gemm struct {
	isa                 asm.ISA
	double              bool
	pairs               bool      // elements are pairs of bfloat16; where B is not transposed, ldb counts its single elements
	half                tile.Half // what B holds
	odd                 bool      // the last row of B has none below it to make pairs with
	size, lanes         int       // bytes of an element, elements of a vector
	logLanes            uint8
	m, n, k             int
	a, b, c, bias       unsafe.Pointer
	lda, ldb, ldc       int
	stepA, stepB, stepC int  // bytes from one matrix of a batch to the next
	columnsA, columnsB  bool // transposed
	add, relu           bool
	biasKind            tile.Bias
	residual            unsafe.Pointer
	epilogue            *tile.Epilogue
	images              int      // matrices B and C, stepB and stepC apart, that share A; 0 is 1
	patches             *patches // B is what a convolution reads from an image
	single              bool     // runs on one of several threads
}

// Blocking, in bytes where sizes are: a panel of packed B of blockDepth rows stays near, together
// with blockRows tiles of A.
const (
	panelVectors  = 2
	blockBytes    = 4096 // of a row of A: the length of the sums between loads of C
	blockTiles    = 8    // tiles of A above each other, or all where with shorter sums they take
	nearBytes     = 640 << 10
	groupBytes    = 4 << 20 // of packed B
	groupPanels   = 16
	inPlaceBytes  = 64 << 10
	parallelFlops = 1 << 20 // products worth another thread
	farB          = 1 << 20 // bytes of a B that does not stay near: to read it takes as long as the
	farRows       = 8       // products of so many rows
)

// newGemm returns a product of elements of so many bytes that has no matrices yet.
func newGemm(isa asm.ISA, size int) gemm {
	lanes := isa.Width().Bytes() / size
	return gemm{isa: isa, double: size == 8, size: size, lanes: lanes, logLanes: uint8(bits.TrailingZeros(uint(lanes)))}
}

// sizeB returns the bytes of an element of B.
func (g *gemm) sizeB() int {
	if g.half != tile.NoHalf {
		return 2
	}
	return g.size
}

// work returns the multiplications, or where there are fewer what reading B takes in their place.
func (g *gemm) work() int {
	rows := g.m
	if g.n*g.k*g.sizeB() >= farB {
		rows = max(rows, farRows)
	}
	return rows * g.n * g.k * max(g.images, 1)
}

// normalize gives vectors the layout that the ways through the product want.
func (g *gemm) normalize() {
	if g.n == 1 && g.ldc == 1 && g.m > 1 && g.epilogue == nil { // C = A*b is C' = b'*A'
		g.a, g.b, g.lda, g.ldb = g.b, g.a, g.ldb, g.lda
		g.stepA, g.stepB = g.stepB, g.stepA
		g.columnsA, g.columnsB = !g.columnsB, !g.columnsA
		g.m, g.n, g.ldc = 1, g.m, g.m
		switch g.biasKind {
		case tile.RowBias:
			g.biasKind = tile.ColumnBias
		case tile.ColumnBias:
			g.biasKind = tile.RowBias
		}
	}
	if g.m == 1 && g.columnsA && g.lda == 1 {
		g.columnsA, g.lda = false, g.k
	}
	if g.n == 1 && !g.columnsB && g.ldb == 1 {
		g.columnsB, g.ldb = true, g.k
	}
	if g.k == 1 && g.columnsB && g.ldb == 1 {
		g.columnsB, g.ldb = false, g.n
	}
}

// maxDotRows is how many rows of A at most are multiplied with a transposed B without packing it. The
// larger B is, the more its packing costs beside the sums along lanes, which are slower than tiles.
func (g *gemm) maxDotRows() int {
	switch bytes := g.n * g.k * g.size; {
	case bytes <= inPlaceBytes:
		return 4
	case bytes <= 1<<20:
		return 7
	}
	return 12
}

// run computes the product, on several threads where it is large.
func (g *gemm) run() {
	switch {
	case g.columnsB && !g.columnsA && g.epilogue == nil && (g.m <= g.maxDotRows() || g.n < g.lanes):
		g.runDots()
	case g.pairs || g.half != tile.NoHalf:
		g.runPacked()
	case !g.columnsB && g.epilogue == nil && g.m <= tile.MaxRows(g.isa, panelVectors) && g.n <= panelVectors*g.lanes && g.k <= 256:
		g.runTile()
	case !g.columnsB && (2*g.m <= 3*tile.MaxRows(g.isa, panelVectors) || g.n*g.k*g.size <= inPlaceBytes): // to read B twice in tiles that are not full takes less than to pack it
		g.runInPlace()
	default:
		g.runPacked()
	}
}

// shares returns how many threads share n parts of the product out.
func (g *gemm) shares(n int) int {
	if g.single || n < 2 {
		return 1
	}
	return max(1, min(n, parallel.NumThreads(), g.work()/parallelFlops))
}

// cut returns where part i of n elements cut into parts of nearly equal size begins.
func cut(n, parts, i int) int { return n * i / parts }

func (g *gemm) at(base unsafe.Pointer, i int) unsafe.Pointer { return unsafe.Add(base, i*g.size) }

// tile is a tile of the product without what follows from its place.
func (g *gemm) tile() tile.Tile {
	return tile.Tile{ISA: g.isa, Double: g.double, Pairs: g.pairs, Columns: g.columnsA}
}

// tail sets what follows from the columns of a panel: its vectors and the mask of the last one.
func (g *gemm) tail(t *tile.Tile, args *tile.TileArgs, columns int) {
	t.Vectors = uint8((columns + g.lanes - 1) >> g.logLanes)
	rest := columns & (g.lanes - 1)
	t.Tail = rest != 0
	if t.Tail {
		args.Mask = tile.TailMask(g.isa, rest*g.size/4)
	}
}

// ends sets what the first and the last part of the sums do with C.
func (g *gemm) ends(t *tile.Tile, first, last bool) {
	t.Add = g.add || !first
	t.Bias, t.Residual, t.Relu, t.Epilogue = tile.NoBias, false, false, nil
	switch {
	case !last:
	case g.epilogue != nil:
		t.Epilogue = g.epilogue
	default:
		t.Bias, t.Residual, t.Relu = g.biasKind, g.residual != nil, g.relu
	}
}

// residualAt returns where the residual of an element of C is.
func (g *gemm) residualAt(c unsafe.Pointer) unsafe.Pointer {
	if g.residual == nil {
		return c
	}
	return unsafe.Add(g.residual, uintptr(c)-uintptr(g.c))
}

func (g *gemm) biasAt(row, column int) unsafe.Pointer {
	switch g.biasKind {
	case tile.RowBias:
		return g.at(g.bias, row)
	case tile.ColumnBias:
		return g.at(g.bias, column)
	}
	return nil
}

// rowStepA returns the bytes from one row of A to the next.
func (g *gemm) rowStepA() int {
	if g.columnsA {
		return g.size
	}
	return g.lda * g.size
}

func (g *gemm) elementA(row, k int) unsafe.Pointer {
	if g.columnsA {
		return g.at(g.a, k*g.lda+row)
	}
	return g.at(g.a, row*g.lda+k)
}

// wideVectors returns, for a number of rows, the most vectors a tile may have.
func wideVectors(isa asm.ISA, rows int) int { return wide[isa][min(rows, len(wide[isa])-1)] }

var wide = func() (table [asm.AVX512 + 1][32]int) {
	for isa := asm.AVX2; isa <= asm.AVX512; isa++ {
		for vectors := 1; vectors <= isa.Registers()-4; vectors++ {
			for rows := range tile.MaxRows(isa, vectors) + 1 {
				table[isa][rows] = vectors
			}
		}
	}
	return table
}()

// runTile computes a product that is a single tile.
func (g *gemm) runTile() {
	t := g.tile()
	args := tile.TileArgs{A: g.a, B: g.b, C: g.c, Bias: g.bias, Residual: g.residual, ARow: int64(g.lda * g.size), BRow: int64(g.ldb * g.size), CRow: int64(g.ldc * g.size), K: int64(g.k)}
	t.Rows, t.InPlace = uint8(g.m), true
	g.tail(&t, &args, g.n)
	g.ends(&t, true, true)
	t.Code().Call(unsafe.Pointer(&args))
}

// runInPlace multiplies with B where it lies.
func (g *gemm) runInPlace() {
	maximum := tile.MaxRows(g.isa, panelVectors)
	vectors := (g.n + g.lanes - 1) / g.lanes
	wide := panelVectors
	if g.m <= maximum {
		wide = min(wideVectors(g.isa, g.m), vectors)
	}
	panels := (vectors + wide - 1) / wide
	if parts := g.shares(panels); parts > 1 {
		whole := *g
		parallel.For(parts, 1, func(lo, hi int) {
			whole.panelsInPlace(vectors, panels, cut(panels, parts, lo), cut(panels, parts, hi))
		})
		return
	}
	g.panelsInPlace(vectors, panels, 0, panels)
}

// panelsInPlace computes the panels from lo to hi.
func (g *gemm) panelsInPlace(vectors, panels, lo, hi int) {
	tiles := cutRows(g.m, tile.MaxRows(g.isa, panelVectors))
	large := g.n*g.k*g.size > 4*inPlaceBytes
	blocks := 1
	if large {
		depth := blockBytes / g.size
		if g.m == 1 { // C costs little, and a short block of B stays within the pages that are known
			depth /= 4
		}
		blocks = (g.k + depth - 1) / depth
	}
	args := tile.TileArgs{ARow: int64(g.lda * g.size), BRow: int64(g.ldb * g.size), CRow: int64(g.ldc * g.size)}
	if g.epilogue != nil {
		memory := takeBuffers()
		defer memory.giveBack()
		args.Scratch = grow(&memory.scratch, tile.EpilogueScratch)
	}
	for block := range blocks {
		k0, k1 := cut(g.k, blocks, block), cut(g.k, blocks, block+1)
		args.K = int64(k1 - k0)
		t := g.tile()
		t.InPlace, t.Prefetch, t.Walk = true, large, true
		g.ends(&t, block == 0, block == blocks-1)
		for j := lo; j < hi; j++ {
			n0, n1 := cut(vectors, panels, j)*g.lanes, min(cut(vectors, panels, j+1)*g.lanes, g.n)
			g.tail(&t, &args, n1-n0)
			args.B = g.at(g.b, k0*g.ldb+n0)
			args.A, args.C, args.Bias = g.elementA(0, k0), g.at(g.c, n0), g.biasAt(0, n0)
			args.Residual = g.residualAt(args.C)
			tiles.walk(&t, &args, 0, tiles.count, g.rowStepA(), 0)
		}
	}
}

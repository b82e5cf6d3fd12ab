package gemm

import (
	"math/bits"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Tiled is one matrix product on generated tiles. Strides are in elements.
//
// Four ways to go through it are told apart: rows summed along the lanes where B is transposed and
// A has few rows (dots); B read where it lies where A has few rows or B is small (inPlace); else B
// packed into panels (packed), by the tiles of the first rows while they compute, or by
// transposition. Tiles lie on a grid that follows from the sizes alone, so the result does not
// depend on how many threads share it out.
type Tiled struct {
	ISA                 asm.ISA
	Double              bool
	pairs               bool      // elements are pairs of bfloat16; where B is not transposed, ldb counts its single elements
	half                tile.Half // what B holds
	odd                 bool      // the last row of B has none below it to make pairs with
	Size, Lanes         int       // bytes of an element, elements of a vector
	LogLanes            uint8
	M, N, K             int
	A, B, C, Bias       unsafe.Pointer
	Lda, Ldb, Ldc       int
	stepA, StepB, StepC int  // bytes from one matrix of a batch to the next
	ColumnsA, ColumnsB  bool // transposed
	Add, relu           bool
	BiasKind            tile.Bias
	residual            unsafe.Pointer
	epilogue            *tile.Epilogue
	Images              int     // matrices B and C, stepB and stepC apart, that share A; 0 is 1
	Columns             Columns // that B has, where it is never made as a whole
	Single              bool    // runs on one of several threads
}

// Filling is what panels are packed by: the instructions, the type of elements, and memory for a table.
type Filling struct {
	ISA         asm.ISA
	Double      bool
	Lanes, Size int
	Table       *Buffer
}

// Columns packs panels of a matrix that is never made as a whole: what a convolution reads from an image.
type Columns interface {
	// Fill packs columns n0 to n1 of the rows, row bytes apart, that belong to units c0 to c1 of the matrix at from.
	Fill(by *Filling, panel, from unsafe.Pointer, n0, n1, c0, c1, row int)
	// Unit is how many rows are packed together: the taps of a channel.
	Unit() int
}

// Blocking, in bytes where sizes are: a panel of packed B of blockDepth rows stays near, together
// with blockRows tiles of A.
const (
	PanelVectors  = 2
	blockBytes    = 4096 // of a row of A: the length of the sums between loads of C
	blockTiles    = 8    // tiles of A above each other, or all where with shorter sums they take
	NearBytes     = 640 << 10
	groupBytes    = 4 << 20 // of packed B
	groupPanels   = 16
	inPlaceBytes  = 64 << 10
	ParallelFlops = 1 << 20 // products worth another thread
	farB          = 1 << 20 // bytes of a B that does not stay near: to read it takes as long as the
	farRows       = 8       // products of so many rows
)

// NewTiled returns a product of elements of so many bytes that has no matrices yet.
func NewTiled(isa asm.ISA, size int) Tiled {
	lanes := isa.Width().Bytes() / size
	return Tiled{ISA: isa, Double: size == 8, Size: size, Lanes: lanes, LogLanes: uint8(bits.TrailingZeros(uint(lanes)))}
}

// sizeB returns the bytes of an element of B.
func (g *Tiled) sizeB() int {
	if g.half != tile.NoHalf {
		return 2
	}
	return g.Size
}

// Work returns the multiplications, or where there are fewer what reading B takes in their place.
func (g *Tiled) Work() int {
	rows := g.M
	if g.N*g.K*g.sizeB() >= farB {
		rows = max(rows, farRows)
	}
	return rows * g.N * g.K * max(g.Images, 1)
}

// Normalize gives vectors the layout that the ways through the product want.
func (g *Tiled) Normalize() {
	if g.N == 1 && g.Ldc == 1 && g.M > 1 && g.epilogue == nil { // C = A*b is C' = b'*A'
		g.A, g.B, g.Lda, g.Ldb = g.B, g.A, g.Ldb, g.Lda
		g.stepA, g.StepB = g.StepB, g.stepA
		g.ColumnsA, g.ColumnsB = !g.ColumnsB, !g.ColumnsA
		g.M, g.N, g.Ldc = 1, g.M, g.M
		switch g.BiasKind {
		case tile.RowBias:
			g.BiasKind = tile.ColumnBias
		case tile.ColumnBias:
			g.BiasKind = tile.RowBias
		}
	}
	if g.M == 1 && g.ColumnsA && g.Lda == 1 {
		g.ColumnsA, g.Lda = false, g.K
	}
	if g.N == 1 && !g.ColumnsB && g.Ldb == 1 {
		g.ColumnsB, g.Ldb = true, g.K
	}
	if g.K == 1 && g.ColumnsB && g.Ldb == 1 {
		g.ColumnsB, g.Ldb = false, g.N
	}
}

// maxDotRows is how many rows of A at most are multiplied with a transposed B without packing it. The
// larger B is, the more its packing costs beside the sums along lanes, which are slower than tiles.
func (g *Tiled) maxDotRows() int {
	switch bytes := g.N * g.K * g.Size; {
	case bytes <= inPlaceBytes:
		return 4
	case bytes <= 1<<20:
		return 7
	}
	return 12
}

// Run computes the product, on several threads where it is large.
func (g *Tiled) Run() {
	switch {
	case g.ColumnsB && !g.ColumnsA && g.epilogue == nil && (g.M <= g.maxDotRows() || g.N < g.Lanes):
		g.runDots()
	case g.pairs || g.half != tile.NoHalf:
		g.RunPacked()
	case !g.ColumnsB && g.epilogue == nil && g.M <= tile.MaxRows(g.ISA, PanelVectors) && g.N <= PanelVectors*g.Lanes && g.K <= 256:
		g.runTile()
	case !g.ColumnsB && (2*g.M <= 3*tile.MaxRows(g.ISA, PanelVectors) || g.N*g.K*g.Size <= inPlaceBytes): // to read B twice in tiles that are not full takes less than to pack it
		g.runInPlace()
	default:
		g.RunPacked()
	}
}

// shares returns how many threads share n parts of the product out.
func (g *Tiled) shares(n int) int {
	if g.Single || n < 2 {
		return 1
	}
	return max(1, min(n, parallel.NumThreads(), g.Work()/ParallelFlops))
}

// Cut returns where part i of n elements cut into parts of nearly equal size begins.
func Cut(n, parts, i int) int { return n * i / parts }

func (g *Tiled) at(base unsafe.Pointer, i int) unsafe.Pointer { return unsafe.Add(base, i*g.Size) }

// Tile is a tile of the product without what follows from its place.
func (g *Tiled) Tile() tile.Tile {
	return tile.Tile{ISA: g.ISA, Double: g.Double, Pairs: g.pairs, Columns: g.ColumnsA}
}

// Tail sets what follows from the columns of a panel: its vectors and the mask of the last one.
func (g *Tiled) Tail(t *tile.Tile, args *tile.TileArgs, columns int) {
	t.Vectors = uint8((columns + g.Lanes - 1) >> g.LogLanes)
	rest := columns & (g.Lanes - 1)
	t.Tail = rest != 0
	if t.Tail {
		args.Mask = tile.TailMask(g.ISA, rest*g.Size/4)
	}
}

// ends sets what the first and the last part of the sums do with C.
func (g *Tiled) ends(t *tile.Tile, first, last bool) {
	t.Add = g.Add || !first
	t.Bias, t.Residual, t.Relu, t.Epilogue = tile.NoBias, false, false, nil
	switch {
	case !last:
	case g.epilogue != nil:
		t.Epilogue = g.epilogue
	default:
		t.Bias, t.Residual, t.Relu = g.BiasKind, g.residual != nil, g.relu
	}
}

// residualAt returns where the residual of an element of C is.
func (g *Tiled) residualAt(c unsafe.Pointer) unsafe.Pointer {
	if g.residual == nil {
		return c
	}
	return unsafe.Add(g.residual, uintptr(c)-uintptr(g.C))
}

func (g *Tiled) biasAt(row, column int) unsafe.Pointer {
	switch g.BiasKind {
	case tile.RowBias:
		return g.at(g.Bias, row)
	case tile.ColumnBias:
		return g.at(g.Bias, column)
	}
	return nil
}

// rowStepA returns the bytes from one row of A to the next.
func (g *Tiled) rowStepA() int {
	if g.ColumnsA {
		return g.Size
	}
	return g.Lda * g.Size
}

func (g *Tiled) elementA(row, k int) unsafe.Pointer {
	if g.ColumnsA {
		return g.at(g.A, k*g.Lda+row)
	}
	return g.at(g.A, row*g.Lda+k)
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
func (g *Tiled) runTile() {
	t := g.Tile()
	args := tile.TileArgs{A: g.A, B: g.B, C: g.C, Bias: g.Bias, Residual: g.residual, ARow: int64(g.Lda * g.Size), BRow: int64(g.Ldb * g.Size), CRow: int64(g.Ldc * g.Size), K: int64(g.K)}
	t.Rows, t.InPlace = uint8(g.M), true
	g.Tail(&t, &args, g.N)
	g.ends(&t, true, true)
	t.Code().Call(unsafe.Pointer(&args))
}

// runInPlace multiplies with B where it lies.
func (g *Tiled) runInPlace() {
	maximum := tile.MaxRows(g.ISA, PanelVectors)
	vectors := (g.N + g.Lanes - 1) / g.Lanes
	wide := PanelVectors
	if g.M <= maximum {
		wide = min(wideVectors(g.ISA, g.M), vectors)
	}
	panels := (vectors + wide - 1) / wide
	if parts := g.shares(panels); parts > 1 {
		whole := *g
		parallel.For(parts, 1, func(lo, hi int) {
			whole.panelsInPlace(vectors, panels, Cut(panels, parts, lo), Cut(panels, parts, hi))
		})
		return
	}
	g.panelsInPlace(vectors, panels, 0, panels)
}

// panelsInPlace computes the panels from lo to hi.
func (g *Tiled) panelsInPlace(vectors, panels, lo, hi int) {
	tiles := CutRows(g.M, tile.MaxRows(g.ISA, PanelVectors))
	large := g.N*g.K*g.Size > 4*inPlaceBytes
	blocks := 1
	if large {
		depth := blockBytes / g.Size
		if g.M == 1 { // C costs little, and a short block of B stays within the pages that are known
			depth /= 4
		}
		blocks = (g.K + depth - 1) / depth
	}
	args := tile.TileArgs{ARow: int64(g.Lda * g.Size), BRow: int64(g.Ldb * g.Size), CRow: int64(g.Ldc * g.Size)}
	if g.epilogue != nil {
		memory := TakeBuffers()
		defer memory.Recycle()
		args.Scratch = Grow(&memory.Scratch, tile.EpilogueScratch)
	}
	for block := range blocks {
		k0, k1 := Cut(g.K, blocks, block), Cut(g.K, blocks, block+1)
		args.K = int64(k1 - k0)
		t := g.Tile()
		t.InPlace, t.Prefetch, t.Walk = true, large, true
		g.ends(&t, block == 0, block == blocks-1)
		for j := lo; j < hi; j++ {
			n0, n1 := Cut(vectors, panels, j)*g.Lanes, min(Cut(vectors, panels, j+1)*g.Lanes, g.N)
			g.Tail(&t, &args, n1-n0)
			args.B = g.at(g.B, k0*g.Ldb+n0)
			args.A, args.C, args.Bias = g.elementA(0, k0), g.at(g.C, n0), g.biasAt(0, n0)
			args.Residual = g.residualAt(args.C)
			tiles.Walk(&t, &args, 0, tiles.Count, g.rowStepA(), 0)
		}
	}
}

package gemm

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Weights is the right side of many products with few rows on the left, such as the steps of a
// recurrent layer: a K by N matrix, packed once. It does not change while products run.
type Weights[T Number] struct {
	K, N   int
	matrix Matrix[T] // as it came, where it is not packed
	packed []T       // panels of up to wide vectors, one after the other; nil: none
	wide   int
	isa    asm.ISA
}

// PackedSize returns how many elements a packed K by N matrix takes.
func PackedSize[T Number](k, n int) int {
	lanes := 64 / int(unsafe.Sizeof(*new(T))) // of the widest vectors
	return (n + lanes - 1) / lanes * lanes * k
}

// PackWeights prepares a k by n matrix for products of about so many rows. It packs it into room,
// which holds PackedSize elements; where room is nil, or the type has no tiles, products read the
// matrix as it lies. It panics where the matrix reaches outside its data or room is too small.
func PackWeights[T Number](b Matrix[T], k, n, rows int, room []T) Weights[T] {
	if b.extent(k, n) > len(b.Data) {
		panic("gemm: a matrix reaches outside its data")
	}
	w := Weights[T]{K: k, N: n, matrix: b, isa: asm.Target()}
	size := int(unsafe.Sizeof(*new(T)))
	switch any(*new(T)).(type) {
	case float32, float64:
		if room == nil || w.isa < asm.AVX2 || k == 0 || n == 0 {
			return w
		}
	default:
		return w
	}
	w.packed = room[:PackedSize[T](k, n)]
	maximum := tile.MaxRows(w.isa, PanelVectors)
	tiles := (max(rows, 1) + maximum - 1) / maximum
	w.wide = wideVectors(w.isa, (max(rows, 1)+tiles-1)/tiles)
	g := NewTiled(w.isa, size)
	g.N, g.K, g.Ldb, g.ColumnsB = n, k, b.Stride, b.Transposed
	from, to := unsafe.Pointer(unsafe.SliceData(b.Data)), unsafe.Pointer(unsafe.SliceData(w.packed))
	vectors, panels := w.panels(g.Lanes)
	for j := range panels {
		v0, v1 := Cut(vectors, panels, j), Cut(vectors, panels, j+1)
		g.packPanel(g.at(to, v0*g.Lanes*k), from, v0*g.Lanes, min(v1*g.Lanes, n), v1-v0)
	}
	return w
}

// panels returns the vectors of a row and the panels that they are shared out to.
func (w *Weights[T]) panels(lanes int) (vectors, panels int) {
	vectors = (w.N + lanes - 1) / lanes
	return vectors, (vectors + w.wide - 1) / w.wide
}

// Packed returns the weights in the order in which products read them, nil where they read the matrix as it lies.
func (w *Weights[T]) Packed() []T { return w.packed }

// packPanel packs the columns from n0 to n1 of B, completed with zeros to whole vectors.
func (g *Tiled) packPanel(to, b unsafe.Pointer, n0, n1, vectors int) {
	if g.ColumnsB {
		g.TransposePanel(to, b, n0, n1, 0, g.K, vectors)
		return
	}
	rest := (n1 - n0) % g.Lanes
	c := tile.Copying{ISA: g.ISA, Vectors: uint8(vectors), Tail: rest != 0}
	args := tile.CopyArgs{From: g.at(b, n0), To: to, Mask: tile.TailMask(g.ISA, rest*g.Size/4), FromRow: int64(g.Ldb * g.Size),
		ToRow: int64(vectors * g.Lanes * g.Size), Count: int64(g.K)}
	c.Code().Call(unsafe.Pointer(&args))
}

// AlignedRoom returns room for the packed weights of a k by n matrix that begins on a cache line.
func AlignedRoom(k, n int) []float32 { return Aligned[float32](PackedSize[float32](k, n)) }

// Then is what is done to products before they are stored, as Product says it.
type Then[T Number] struct {
	Residual []T
	Relu     bool
	Epilogue *Epilogue
}

// Sweep is the direction in which a product goes through the panels of weights. Each product turns it, so that the next one begins with the panels that
// are in the caches. Results do not depend on it.
type Sweep struct{ backward bool }

// Multiply computes C = A*W, or C += A*W where add, of m rows of A, which is not transposed, and
// adds a bias to every row, nil for none. It panics where a matrix reaches outside its data.
func (w *Weights[T]) Multiply(m int, a, c Matrix[T], add bool, bias []T, sweep *Sweep) {
	w.multiply(m, a, c, add, bias, Then[T]{}, sweep.backward)
	sweep.backward = !sweep.backward
}

// MultiplyThen computes C = A*W with a bias for every row, nil for none, and does more to the sums before they are stored.
func (w *Weights[T]) MultiplyThen(m int, a, c Matrix[T], bias []T, then Then[T]) {
	w.multiply(m, a, c, false, bias, then, false)
}

func (w *Weights[T]) multiply(m int, a, c Matrix[T], add bool, bias []T, then Then[T], backward bool) {
	p := Product[T]{M: m, N: w.N, K: w.K, A: a, B: w.matrix, C: c, Add: add, Bias: bias, Residual: then.Residual, Relu: then.Relu, Epilogue: then.Epilogue}
	if w.packed == nil || then.Epilogue != nil && then.Epilogue.Tile == nil {
		p.Run()
		return
	}
	if m == 0 {
		return
	}
	p.checkExtents()
	g := NewTiled(w.isa, int(unsafe.Sizeof(*new(T))))
	g.M, g.N, g.K, g.Lda, g.Ldc, g.Add = m, w.N, w.K, a.Stride, c.Stride, add
	g.A, g.B, g.C = unsafe.Pointer(unsafe.SliceData(a.Data)), unsafe.Pointer(unsafe.SliceData(w.packed)), unsafe.Pointer(unsafe.SliceData(c.Data))
	if bias != nil {
		g.Bias, g.BiasKind = unsafe.Pointer(unsafe.SliceData(bias)), tile.ColumnBias
	}
	g.relu, g.residual = then.Relu, unsafe.Pointer(unsafe.SliceData(then.Residual))
	if then.Epilogue != nil {
		g.epilogue, g.BiasKind = then.Epilogue.Tile, tile.ColumnBias
		if bias == nil {
			g.Bias = g.C // not read, but an address
		}
	}
	vectors, panels := w.panels(g.Lanes)
	maximum := tile.MaxRows(w.isa, w.wide)
	if parts := g.shares(panels); parts > 1 {
		shared := g
		parallel.For(parts, 1, func(lo, hi int) {
			shared.packedPanels(maximum, vectors, panels, Cut(panels, parts, lo), Cut(panels, parts, hi), backward)
		})
		return
	}
	g.packedPanels(maximum, vectors, panels, 0, panels, backward)
}

// packedPanels computes the panels from lo to hi of B, which is packed whole, with tiles of up to
// maximum rows.
func (g *Tiled) packedPanels(maximum, vectors, panels, lo, hi int, backward bool) {
	tiles := CutRows(g.M, maximum)
	args := tile.TileArgs{ARow: int64(g.Lda * g.Size), CRow: int64(g.Ldc * g.Size), K: int64(g.K)}
	if g.epilogue != nil {
		memory := TakeBuffers()
		defer memory.Recycle()
		args.Scratch = Grow(&memory.Scratch, tile.EpilogueScratch)
	}
	t := g.Tile()
	t.Prefetch, t.Walk = true, true
	g.ends(&t, true, true)
	for i := lo; i < hi; i++ {
		j := i
		if backward {
			j = hi - 1 - (i - lo)
		}
		n0, n1 := Cut(vectors, panels, j)*g.Lanes, min(Cut(vectors, panels, j+1)*g.Lanes, g.N)
		g.Tail(&t, &args, n1-n0)
		args.A, args.B, args.C, args.Bias = g.elementA(0, 0), g.at(g.B, n0*g.K), g.at(g.C, n0), g.biasAt(0, n0)
		args.Residual = g.residualAt(args.C)
		tiles.Walk(&t, &args, 0, tiles.Count, g.rowStepA(), 0)
	}
}

// Aligned returns n cleared elements that begin on a cache line, for weights that many products read.
func Aligned[T Float | byte](n int) []T {
	var zero T
	size := int(unsafe.Sizeof(zero))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(memory.Lasting(max(n*size, memory.Alignment))))), n)
}

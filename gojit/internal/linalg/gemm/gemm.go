package gemm

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Product is a batch of matrix products C = A*B, or C += A*B where Add. A bias is added to every
// column or every row of the result, then Residual, and negative results become zero where Relu. An
// Epilogue, for floats, takes the place of these: its inputs are the sum, Bias and Residual.
type Product[T Number] struct {
	M, N, K             int // A is M by K, B is K by N, C is M by N and not transposed
	A, B, C             Matrix[T]
	Batch               int // 0 is 1
	StepA, StepB, StepC int // elements from one matrix of the batch to the next
	Add                 bool
	Bias                []T  // nil, or
	BiasOfRows          bool // one element for each row, else for each column
	Residual            []T  // nil, or elements that lie as those of C do
	Relu                bool
	Epilogue            *Epilogue
}

// Run computes the product. It panics where a matrix reaches outside its data.
func (p *Product[T]) Run() {
	if p.M == 0 || p.N == 0 {
		return
	}
	p.checkExtents()
	var zero T
	switch any(zero).(type) {
	case float32, float64:
		isa := asm.Target()
		if isa < asm.AVX2 || p.K == 0 {
			break
		}
		if p.Epilogue == nil || p.Epilogue.Tile != nil {
			p.generated(isa)
			return
		}
		sums := *p
		sums.Epilogue, sums.Bias, sums.Residual = nil, nil, nil
		sums.generated(isa)
		for i := range max(p.Batch, 1) {
			p.applyEpilogue(i)
		}
		return
	case complex64:
		if p.suitsReals() {
			overReals[float32](p)
			return
		}
	case complex128:
		if p.suitsReals() {
			overReals[float64](p)
			return
		}
	}
	for i := range max(p.Batch, 1) {
		p.portable(i)
	}
}

func (p *Product[T]) checkExtents() {
	last := max(p.Batch, 1) - 1
	if p.K > 0 && (last*p.StepA+p.A.extent(p.M, p.K) > len(p.A.Data) || last*p.StepB+p.B.extent(p.K, p.N) > len(p.B.Data)) || last*p.StepC+p.C.extent(p.M, p.N) > len(p.C.Data) {
		panic("gemm: a matrix reaches outside its data")
	}
	if n := len(p.Bias); p.Bias != nil && (p.BiasOfRows && n < p.M || !p.BiasOfRows && n < p.N) {
		panic("gemm: a bias is too short")
	}
	if p.Residual != nil && last*p.StepC+p.C.extent(p.M, p.N) > len(p.Residual) {
		panic("gemm: a residual is too short")
	}
	if e := p.Epilogue; e != nil && (p.Relu || p.BiasOfRows || e.Inputs > 1 && p.Bias == nil || e.Inputs > 2 && p.Residual == nil) {
		panic("gemm: an epilogue without its inputs, or beside others")
	}
}

// applyEpilogue applies the epilogue to product i of the batch as a pass of its own.
func (p *Product[T]) applyEpilogue(i int) {
	switch c := any(p.C.Data).(type) {
	case []float32:
		row, _ := any(p.Bias).([]float32)
		like, _ := any(p.Residual).([]float32)
		ApplyEpilogue(p.Epilogue, c[i*p.StepC:], p.M, p.N, p.C.Stride, row, like[min(i*p.StepC, len(like)):])
	case []float64:
		row, _ := any(p.Bias).([]float64)
		like, _ := any(p.Residual).([]float64)
		ApplyEpilogue(p.Epilogue, c[i*p.StepC:], p.M, p.N, p.C.Stride, row, like[min(i*p.StepC, len(like)):])
	default:
		panic("gemm: an epilogue of a type other than float")
	}
}

// extent returns how many elements a matrix spans.
func (m *Matrix[T]) extent(rows, columns int) int {
	if rows == 0 || columns == 0 {
		return 0
	}
	if m.Transposed {
		rows, columns = columns, rows
	}
	return (rows-1)*m.Stride + columns
}

// generated runs the product on generated tiles.
func (p *Product[T]) generated(isa asm.ISA) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	g := NewTiled(isa, size)
	g.M, g.N, g.K = p.M, p.N, p.K
	g.A, g.B, g.C = unsafe.Pointer(unsafe.SliceData(p.A.Data)), unsafe.Pointer(unsafe.SliceData(p.B.Data)), unsafe.Pointer(unsafe.SliceData(p.C.Data))
	g.Lda, g.Ldb, g.Ldc = p.A.Stride, p.B.Stride, p.C.Stride
	g.ColumnsA, g.ColumnsB, g.Add, g.relu = p.A.Transposed, p.B.Transposed, p.Add, p.Relu
	if p.Bias != nil {
		g.Bias, g.BiasKind = unsafe.Pointer(unsafe.SliceData(p.Bias)), tile.ColumnBias
		if p.BiasOfRows {
			g.BiasKind = tile.RowBias
		}
	}
	g.residual = unsafe.Pointer(unsafe.SliceData(p.Residual))
	if p.Epilogue != nil {
		g.epilogue, g.BiasKind = p.Epilogue.Tile, tile.ColumnBias
		if p.Bias == nil {
			g.Bias = g.C // not read, but an address
		}
	}
	g.stepA, g.StepB, g.StepC = p.StepA*size, p.StepB*size, p.StepC*size
	g.Normalize()
	g.runAll(p.Batch)
}

// runAll computes the products of a batch, several at once where that is worth it.
func (g *Tiled) runAll(batch int) {
	if batch <= 1 {
		g.Run()
		return
	}
	if g.Work() >= ParallelFlops && batch < parallel.NumThreads() || parallel.NumThreads() == 1 || g.Work()*batch < 2*ParallelFlops {
		g.runPart(0, batch)
		return
	}
	g.runBatch(batch)
}

// runBatch shares the products of a batch out to threads.
func (g *Tiled) runBatch(batch int) {
	shared := *g
	shared.Single = true
	parallel.For(batch, 1+ParallelFlops/max(g.Work(), 1), func(lo, hi int) { shared.runPart(lo, hi) })
}

// runPart computes products lo to hi of a batch. No address past the last one is made: the collector
// would find it to be nothing of ours.
func (g *Tiled) runPart(lo, hi int) {
	one := *g
	for i := lo; i < hi; i++ {
		one.A, one.B, one.C = unsafe.Add(g.A, i*g.stepA), unsafe.Add(g.B, i*g.StepB), unsafe.Add(g.C, i*g.StepC)
		if g.residual != nil {
			one.residual = unsafe.Add(g.residual, i*g.StepC)
		}
		one.Run()
	}
}

// portable computes one product of the batch in Go.
func (p *Product[T]) portable(i int) {
	a, b, c := p.A, p.B, p.C
	c.Data = c.Data[i*p.StepC:]
	if p.K > 0 {
		a.Data, b.Data = a.Data[i*p.StepA:], b.Data[i*p.StepB:]
	}
	if !p.Add {
		for r := range p.M {
			clear(c.Data[r*c.Stride:][:p.N])
		}
	}
	if p.N == 1 && c.Stride == 1 && a.Transposed && (b.Transposed || b.Stride == 1) { // C = A*b is C' = b'*A'
		a.Transposed = false
		Multiply(1, p.M, p.K, Matrix[T]{Data: b.Data, Stride: p.K}, a, Matrix[T]{Data: c.Data, Stride: p.M})
	} else {
		Multiply(p.M, p.N, p.K, a, b, c)
	}
	if p.Epilogue != nil {
		p.applyEpilogue(i)
		return
	}
	if p.Bias == nil && !p.Relu && p.Residual == nil {
		return
	}
	for r := range p.M {
		row := c.Data[r*c.Stride:][:p.N]
		switch {
		case p.Bias == nil:
		case p.BiasOfRows:
			for j := range row {
				row[j] += p.Bias[r]
			}
		default:
			for j := range row {
				row[j] += p.Bias[j]
			}
		}
		if p.Residual != nil {
			for j, v := range p.Residual[i*p.StepC+r*c.Stride:][:p.N] {
				row[j] += v
			}
		}
		if p.Relu {
			rectify(row)
		}
	}
}

// rectify makes negative elements zero; only floats have them here.
func rectify[T Number](row []T) {
	switch row := any(row).(type) {
	case []float32:
		for j, v := range row {
			if v < 0 {
				row[j] = 0
			}
		}
	case []float64:
		for j, v := range row {
			if v < 0 {
				row[j] = 0
			}
		}
	default:
		panic("gemm: relu of a type other than float")
	}
}

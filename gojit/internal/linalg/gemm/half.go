package gemm

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// HalfProduct is a batch of matrix products of 16-bit floats, C = A*B or C += A*B where Add, whose
// sums are float32. A bias is added to every row of the result.
type HalfProduct[T Half] struct {
	M, N, K             int // A is M by K, B is K by N, C is M by N and not transposed
	A, B                Matrix[T]
	C                   Matrix[float32]
	Batch               int // 0 is 1
	StepA, StepB, StepC int // elements from one matrix of the batch to the next
	Add                 bool
	Bias                []float32 // nil, or one element for each column
}

// MultipliesPairs reports whether the machine multiplies pairs of bfloat16, twice as many in an
// instruction as of float32. It takes numbers below the smallest normal one as zero.
func MultipliesPairs() bool { return asm.Target() == asm.AVX512 && asm.HasBF16() }

// Run computes the product. It panics where a matrix reaches outside its data.
func (p *HalfProduct[T]) Run() {
	if p.M == 0 || p.N == 0 {
		return
	}
	last := max(p.Batch, 1) - 1
	if p.K > 0 && (last*p.StepA+p.A.extent(p.M, p.K) > len(p.A.Data) || last*p.StepB+p.B.extent(p.K, p.N) > len(p.B.Data)) ||
		last*p.StepC+p.C.extent(p.M, p.N) > len(p.C.Data) || p.Bias != nil && len(p.Bias) < p.N {
		panic("gemm: a matrix reaches outside its data")
	}
	switch isa := asm.Target(); {
	case isa < asm.AVX2 || p.K == 0:
		p.portable()
	case kindOf[T]() == tile.BFloat16 && MultipliesPairs():
		p.paired(isa)
	default:
		p.widened(isa)
	}
}

// kindOf tells package amd64 what T is.
func kindOf[T Half]() tile.Half {
	if _, ok := any(*new(T)).(tensor.BF16); ok {
		return tile.BFloat16
	}
	return tile.Float16
}

// portable converts the matrices to float32 in Go.
func (p *HalfProduct[T]) portable() {
	wide := Product[float32]{M: p.M, N: p.N, K: p.K, C: p.C, Batch: p.Batch, StepA: p.StepA, StepB: p.StepB, StepC: p.StepC, Add: p.Add, Bias: p.Bias}
	wide.A, wide.B = float32s(p.A), float32s(p.B)
	wide.Run()
}

func float32s[T Half](m Matrix[T]) Matrix[float32] {
	data := make([]float32, len(m.Data))
	for i, v := range m.Data {
		data[i] = float32Of(kindOf[T](), uint16(v))
	}
	return Matrix[float32]{Data: data, Stride: m.Stride, Transposed: m.Transposed}
}

func float32Of(half tile.Half, bits uint16) float32 {
	if half == tile.BFloat16 {
		return tensor.BF16(bits).Float32()
	}
	return tensor.F16(bits).Float32()
}

// paired runs the product on tiles that multiply pairs of elements, which lie as elements of 32 bits
// do where the rows of A and the columns of B have an even length.
func (p *HalfProduct[T]) paired(isa asm.ISA) {
	g := NewTiled(isa, 4)
	g.pairs, g.odd = true, p.K%2 != 0
	g.M, g.N, g.K, g.Add = p.M, p.N, (p.K+1)/2, p.Add
	memory := TakeBuffers()
	defer memory.Recycle()
	g.A, g.Lda, g.stepA = pairRows(&memory.A, p.A, !p.A.Transposed, p.M, p.K, p.Batch, p.StepA)
	b := p.B
	if !b.Transposed && p.N == 1 && b.Stride == 1 {
		b.Transposed, b.Stride = true, p.K
	}
	switch {
	case b.Transposed || p.N == 1:
		g.ColumnsB = true
		g.B, g.Ldb, g.StepB = pairRows(&memory.B, b, b.Transposed, p.N, p.K, p.Batch, p.StepB)
	default:
		g.B, g.Ldb, g.StepB = unsafe.Pointer(unsafe.SliceData(b.Data)), b.Stride, 2*p.StepB
	}
	g.C, g.Ldc, g.StepC = unsafe.Pointer(unsafe.SliceData(p.C.Data)), p.C.Stride, 4*p.StepC
	if p.Bias != nil {
		g.Bias, g.BiasKind = unsafe.Pointer(unsafe.SliceData(p.Bias)), tile.ColumnBias
	}
	if g.N == 1 && g.K > 1 {
		g.Normalize()
	}
	g.runAll(p.Batch)
}

// pairRows returns a batch of n vectors of k elements, the rows of m or its columns, as vectors of
// pairs: where they lie if they can be read so, else copied and completed with zeros. The step
// between vectors is in pairs, that between matrices in bytes.
func pairRows[T Half](room *Buffer, m Matrix[T], rows bool, n, k, batch, step int) (at unsafe.Pointer, stride, stepBytes int) {
	if rows && k%2 == 0 && (m.Stride%2 == 0 || n == 1) {
		return unsafe.Pointer(unsafe.SliceData(m.Data)), m.Stride / 2, 2 * step
	}
	pairs := (k + 1) / 2
	at = Grow(room, max(batch, 1)*n*pairs*4)
	to := unsafe.Slice((*T)(at), max(batch, 1)*n*pairs*2)
	for i := range max(batch, 1) {
		from := m.Data[i*step:]
		for j := range n {
			row := to[(i*n+j)*pairs*2:][:pairs*2]
			row[len(row)-1] = 0
			if rows {
				copy(row[:k], from[j*m.Stride:])
				continue
			}
			for q := range k {
				row[q] = from[q*m.Stride+j]
			}
		}
	}
	return at, pairs, n * pairs * 4
}

// pairPanel packs the columns of B from n0 on, and the pairs of its rows from k0 to k1.
func (w *Writer) pairPanel(to, b unsafe.Pointer, n0, columns, k0, k1 int) {
	rest := columns % w.Lanes
	c := tile.Pairing{ISA: w.ISA, Vectors: uint8((columns + w.Lanes - 1) / w.Lanes), Tail: rest != 0}
	args := tile.CopyArgs{From: unsafe.Add(b, 2*(2*k0*w.Ldb+n0)), To: to, Mask: tile.TailMask(w.ISA, rest), FromRow: int64(2 * w.Ldb),
		ToRow: int64(int(c.Vectors) * w.Lanes * 4), Count: int64(k1 - k0)}
	if single := w.odd && k1 == w.K; single {
		args.Count--
		last := args
		last.From, last.To, last.Count = unsafe.Add(b, 2*(2*(k1-1)*w.Ldb+n0)), unsafe.Add(to, int(args.Count*args.ToRow)), 1
		alone := c
		alone.Single = true
		alone.Code().Call(unsafe.Pointer(&last))
	}
	if args.Count > 0 {
		c.Code().Call(unsafe.Pointer(&args))
	}
}

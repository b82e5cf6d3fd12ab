package gemm

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
)

// widened multiplies float32 numbers. A is converted before; with AVX-512, B while it is packed or
// summed along the lanes, so that it is read from memory with its 16 bits.
func (p *HalfProduct[T]) widened(isa asm.ISA) {
	one := *p
	if p.N == 1 && p.C.Stride == 1 && p.M > 1 && p.Bias == nil { // C = A*b is C' = b'*A'
		one.A, one.B, one.StepA, one.StepB = p.B, p.A, p.StepB, p.StepA
		one.A.Transposed, one.B.Transposed = !p.B.Transposed, !p.A.Transposed
		one.M, one.N, one.C.Stride = 1, p.M, p.M
	}
	if one.M == 1 && one.A.Transposed && one.A.Stride == 1 {
		one.A.Transposed, one.A.Stride = false, one.K
	}
	one.runWidened(isa)
}

func (p *HalfProduct[T]) runWidened(isa asm.ISA) {
	g := NewTiled(isa, 4)
	g.M, g.N, g.K, g.Add, g.ColumnsA, g.ColumnsB = p.M, p.N, p.K, p.Add, p.A.Transposed, p.B.Transposed
	memory := TakeBuffers()
	defer memory.Recycle()
	g.A, g.Lda, g.stepA = widenBatch(isa, &memory.A, p.A, p.M, p.K, p.Batch, p.StepA)
	if isa == asm.AVX512 {
		g.half = kindOf[T]()
		g.B, g.Ldb, g.StepB = unsafe.Pointer(unsafe.SliceData(p.B.Data)), p.B.Stride, 2*p.StepB
	} else {
		g.B, g.Ldb, g.StepB = widenBatch(isa, &memory.B, p.B, p.K, p.N, p.Batch, p.StepB)
	}
	g.C, g.Ldc, g.StepC = unsafe.Pointer(unsafe.SliceData(p.C.Data)), p.C.Stride, 4*p.StepC
	if p.Bias != nil {
		g.Bias, g.BiasKind = unsafe.Pointer(unsafe.SliceData(p.Bias)), tile.ColumnBias
	}
	g.runAll(p.Batch)
}

// widenBatch converts a batch of matrices into room. It returns where they are, the elements between
// rows, which are whole vectors, and the bytes between matrices.
func widenBatch[T Half](isa asm.ISA, room *Buffer, m Matrix[T], rows, columns, batch, step int) (at unsafe.Pointer, stride, stepBytes int) {
	if m.Transposed {
		rows, columns = columns, rows
	}
	lanes := isa.Width().Bytes() / 4
	stride = (columns + lanes - 1) / lanes * lanes
	stepBytes = rows * stride * 4
	at = Grow(room, max(batch, 1)*stepBytes)
	for i := range max(batch, 1) {
		widenRows(isa, kindOf[T](), unsafe.Add(at, i*stepBytes), stride, unsafe.Pointer(&m.Data[i*step]), m.Stride, rows, columns)
	}
	return at, stride, stepBytes
}

// widenVectors is how many vectors of a row are converted at once.
const widenVectors = 8

// widenRows converts rows. With AVX-512 the last vector of a row is completed with zeros.
func widenRows(isa asm.ISA, half tile.Half, to unsafe.Pointer, toStride int, from unsafe.Pointer, fromStride, rows, columns int) {
	lanes := isa.Width().Bytes() / 4
	args := tile.CopyArgs{FromRow: int64(2 * fromStride), ToRow: int64(4 * toStride), Count: int64(rows)}
	for first := 0; first < columns; first += widenVectors * lanes {
		n := min(columns-first, widenVectors*lanes)
		rest := n % lanes
		c := tile.Widening{ISA: isa, Half: half, Vectors: uint8(n / lanes)}
		if rest != 0 && isa == asm.AVX512 {
			c.Vectors, c.Tail, args.Mask = c.Vectors+1, true, tile.TailMask(isa, rest)
			rest = 0
		}
		args.From, args.To = unsafe.Add(from, 2*first), unsafe.Add(to, 4*first)
		if c.Vectors > 0 {
			c.Code().Call(unsafe.Pointer(&args))
		}
		for r := 0; rest > 0 && r < rows; r++ {
			src := unsafe.Slice((*uint16)(unsafe.Add(from, 2*(r*fromStride+columns-rest))), rest)
			dst := unsafe.Slice((*float32)(unsafe.Add(to, 4*(r*toStride+columns-rest))), rest)
			for j, v := range src {
				dst[j] = float32Of(half, v)
			}
		}
	}
}

// widenPanel packs the columns of B from n0 on, and its rows from k0 to k1.
func (w *Writer) widenPanel(to, b unsafe.Pointer, n0, columns, k0, k1 int) {
	vectors := (columns + w.Lanes - 1) / w.Lanes
	if !w.ColumnsB {
		widenRows(w.ISA, w.half, to, vectors*w.Lanes, unsafe.Add(b, 2*(k0*w.Ldb+n0)), w.Ldb, k1-k0, columns)
		return
	}
	wide := *w.Tiled
	wide.Ldb = (k1-k0+w.Lanes-1)/w.Lanes*w.Lanes + w.Lanes // rows do not collide in a set of the cache
	at := Grow(&w.Memory.Scratch, columns*wide.Ldb*4)
	widenRows(w.ISA, w.half, at, wide.Ldb, unsafe.Add(b, 2*(n0*w.Ldb+k0)), w.Ldb, columns, k1-k0)
	wide.TransposePanel(to, at, 0, columns, 0, k1-k0, vectors)
}

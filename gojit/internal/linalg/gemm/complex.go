package gemm

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// A product of complex numbers is one of real numbers: A and C are read and written where they lie, as matrices of twice as
// many columns, real and imaginary parts in turn. Element b of B becomes the two by two block (re, im; -im, re), by
// which a pair (re, im) is multiplied as a complex number. Where A has few rows that would be more work than the
// product itself; then the parts of A are rows of their own, multiplied with B where it lies (fewRows).

// suitsReals reports whether a product of complex numbers goes that way.
func (p *Product[T]) suitsReals() bool {
	return asm.Target() >= asm.AVX2 && p.K > 0 && !p.BiasOfRows && !p.Relu && p.Epilogue == nil && p.M*p.N > 1 && p.M*p.N*p.K >= 16
}

// overReals computes a product of complex numbers whose parts are R.
func overReals[R Float, T Number](p *Product[T]) {
	if p.Batch > 1 {
		overRealsBatch[R](*p)
		return
	}
	overRealsOne[R](p, 0)
}

// overRealsBatch shares a batch out to threads. It has a copy, so that other products stay off the heap.
func overRealsBatch[R Float, T Number](p Product[T]) {
	parallel.For(p.Batch, 1+ParallelFlops/(8*p.M*p.N*p.K), func(lo, hi int) {
		for i := lo; i < hi; i++ {
			overRealsOne[R](&p, i)
		}
	})
}

// overRealsOne computes product i of the batch.
func overRealsOne[R Float, T Number](p *Product[T], i int) {
	a, b := p.A, p.B
	a.Data, b.Data = a.Data[i*p.StepA:], b.Data[i*p.StepB:]
	one := Product[R]{C: Matrix[R]{Data: parts[R](p.C.Data[i*p.StepC:]), Stride: 2 * p.C.Stride}, Add: p.Add, Bias: parts[R](p.Bias)}
	if p.Residual != nil {
		one.Residual = parts[R](p.Residual[i*p.StepC:])
	}
	switch {
	case p.M == 1 && p.N > 1 && p.Bias == nil && p.Residual == nil && !b.Transposed:
		fewRows(p.M, p.N, p.K, realRows[R](1, p.K, a), Matrix[R]{Data: parts[R](b.Data), Stride: 2 * b.Stride}, one.C, p.Add)
		return
	case p.N == 1 && p.M > 1 && p.C.Stride == 1 && p.Bias == nil && p.Residual == nil && a.Transposed: // C' = B'*A'
		b.Transposed = !b.Transposed
		a.Transposed = false
		fewRows(1, p.M, p.K, realRows[R](1, p.K, b), Matrix[R]{Data: parts[R](a.Data), Stride: 2 * a.Stride}, one.C, p.Add)
		return
	}
	if a.Transposed {
		a = transposed(p.M, p.K, a)
	}
	memory := TakeBuffers()
	defer memory.Recycle()
	one.M, one.N, one.K = p.M, 2*p.N, 2*p.K
	one.A = Matrix[R]{Data: parts[R](a.Data), Stride: 2 * a.Stride}
	one.B = realBlocks(p.K, p.N, parts[R](b.Data), b.Stride, b.Transposed, &memory.A)
	one.Run()
}

// parts shows complex numbers as their real and imaginary parts in turn.
func parts[R Float, T Number](x []T) []R {
	if x == nil {
		return nil
	}
	return unsafe.Slice((*R)(unsafe.Pointer(unsafe.SliceData(x))), 2*len(x))
}

// realBlocks makes the matrix of blocks of the k by n matrix b, with the same orientation.
func realBlocks[R Float](k, n int, b []R, stride int, transposed bool, memory *Buffer) Matrix[R] {
	rows, columns := k, n
	if transposed {
		rows, columns = n, k
	}
	size := int(unsafe.Sizeof(b[0]))
	to := unsafe.Slice((*R)(Grow(memory, 4*rows*columns*size)), 4*rows*columns)
	parallel.For(rows, 1+ParallelFlops/(16*columns), func(lo, hi int) {
		for r := lo; r < hi; r++ {
			from := b[2*r*stride:][:2*columns]
			first, second := to[4*r*columns:][:2*columns], to[(4*r+2)*columns:][:2*columns]
			switch {
			case transposed: // rows of the real and of the imaginary parts of a column of C
				for i := 0; i+1 < len(from); i += 2 {
					re, im := from[i], from[i+1]
					first[i], first[i+1] = re, -im
					second[i], second[i+1] = im, re
				}
			default:
				for i := 0; i+1 < len(from); i += 2 {
					re, im := from[i], from[i+1]
					first[i], first[i+1] = re, im
					second[i], second[i+1] = -im, re
				}
			}
		}
	})
	return Matrix[R]{Data: to, Stride: 2 * columns, Transposed: transposed}
}

// realRows returns the real parts of the m by k matrix a and, below them, the imaginary ones.
func realRows[R Float, T Number](m, k int, a Matrix[T]) []R {
	from, to := parts[R](a.Data), make([]R, 2*m*k)
	for r := range m {
		for i := range k {
			at := r*a.Stride + i
			if a.Transposed {
				at = i*a.Stride + r
			}
			to[r*k+i], to[(m+r)*k+i] = from[2*at], from[2*at+1]
		}
	}
	return to
}

// fewRows multiplies with b where it lies: a has rows of real and then of imaginary parts, whose products with the parts of
// b are put together.
func fewRows[R Float](m, n, k int, a []R, b, c Matrix[R], add bool) {
	sums := make([]R, 4*m*n)
	p := Product[R]{M: 2 * m, N: 2 * n, K: k, A: Matrix[R]{Data: a, Stride: k}, B: b, C: Matrix[R]{Data: sums, Stride: 2 * n}}
	p.Run()
	for r := range m {
		byRe, byIm, to := sums[2*r*n:][:2*n], sums[2*(m+r)*n:][:2*n], c.Data[r*c.Stride:][:2*n]
		for j := 0; j < 2*n; j += 2 {
			re, im := byRe[j]-byIm[j+1], byRe[j+1]+byIm[j]
			if add {
				re, im = re+to[j], im+to[j+1]
			}
			to[j], to[j+1] = re, im
		}
	}
}

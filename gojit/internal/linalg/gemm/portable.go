package gemm

import (
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Float is what the fast loops work on.
type Float interface{ float32 | float64 }

// Number is what products are defined for.
type Number interface {
	Float | int64 | complex64 | complex128
}

// Half is a float of 16 bits, which products only read: they add in float32.
type Half interface{ tensor.F16 | tensor.BF16 }

// Matrix is a row-major matrix: element (i, j) is Data[i*Stride+j]; where Transposed, Data[j*Stride+i].
type Matrix[T Number | Half] struct {
	Data       []T
	Stride     int
	Transposed bool
}

// blocking: a block of B of blockK rows and blockN columns stays in the second-level cache.
const (
	blockK = 128
	blockN = 512
)

// ParallelWork is the number of multiplications worth another goroutine.
const ParallelWork = 1 << 16

// Multiply adds the product of a (m by k) and b (k by n) to c (m by n, not transposed).
func Multiply[T Number](m, n, k int, a, b, c Matrix[T]) {
	if m == 0 || n == 0 || k == 0 {
		return
	}
	if a.Transposed {
		a = transposed(m, k, a)
	}
	if m*n*k <= ParallelWork {
		multiplyRows(0, m, 0, n, k, a, b, c)
		return
	}
	multiplyParallel(m, n, k, a, b, c)
}

// multiplyParallel shares the product out by rows, or by columns where there are more of them.
func multiplyParallel[T Number](m, n, k int, a, b, c Matrix[T]) {
	grain := max(ParallelWork/max(n*k, 1), 1)
	if m >= 2*grain || m >= n {
		parallel.For(m, (grain+1)&^1, func(lo, hi int) { multiplyRows(lo, hi, 0, n, k, a, b, c) })
		return
	}
	parallel.For(n, max(ParallelWork/max(m*k, 1), 8), func(lo, hi int) { multiplyRows(0, m, lo, hi, k, a, b, c) })
}

// transposed returns a row-major copy of the rows by columns matrix a.
func transposed[T Number](rows, columns int, a Matrix[T]) Matrix[T] {
	data := make([]T, rows*columns)
	for j := range columns {
		src := a.Data[j*a.Stride:]
		for i := range rows {
			data[i*columns+j] = src[i]
		}
	}
	return Matrix[T]{Data: data, Stride: columns}
}

// multiplyRows computes rows lo to hi and columns from to end of the product.
func multiplyRows[T Number](lo, hi, from, end, k int, a, b, c Matrix[T]) {
	if b.Transposed {
		dotRows(lo, hi, from, end, k, a, b, c)
		return
	}
	for k0 := 0; k0 < k; k0 += blockK {
		k1 := min(k0+blockK, k)
		for n0 := from; n0 < end; n0 += blockN {
			n1 := min(n0+blockN, end)
			i := lo
			for ; i+2 <= hi; i += 2 {
				addTwoRows(c.Data[i*c.Stride+n0:i*c.Stride+n1], c.Data[(i+1)*c.Stride+n0:(i+1)*c.Stride+n1],
					a.Data[i*a.Stride+k0:i*a.Stride+k1], a.Data[(i+1)*a.Stride+k0:(i+1)*a.Stride+k1],
					b.Data[k0*b.Stride+n0:], b.Stride)
			}
			if i < hi {
				addRow(c.Data[i*c.Stride+n0:i*c.Stride+n1], a.Data[i*a.Stride+k0:i*a.Stride+k1], b.Data[k0*b.Stride+n0:], b.Stride)
			}
		}
	}
}

// addTwoRows adds to c0 and c1 the rows of b weighted by x and y.
func addTwoRows[T Number](c0, c1, x, y, b []T, stride int) {
	n := len(c0)
	c1 = c1[:n]
	p := 0
	for ; p+4 <= len(x); p += 4 {
		b0, b1, b2, b3 := b[p*stride:][:n], b[(p+1)*stride:][:n], b[(p+2)*stride:][:n], b[(p+3)*stride:][:n]
		x0, x1, x2, x3 := x[p], x[p+1], x[p+2], x[p+3]
		y0, y1, y2, y3 := y[p], y[p+1], y[p+2], y[p+3]
		for j := range c0 {
			v0, v1, v2, v3 := b0[j], b1[j], b2[j], b3[j]
			c0[j] += x0*v0 + x1*v1 + (x2*v2 + x3*v3)
			c1[j] += y0*v0 + y1*v1 + (y2*v2 + y3*v3)
		}
	}
	for ; p < len(x); p++ {
		b0, x0, y0 := b[p*stride:][:n], x[p], y[p]
		for j := range c0 {
			c0[j] += x0 * b0[j]
			c1[j] += y0 * b0[j]
		}
	}
}

func addRow[T Number](c, x, b []T, stride int) {
	n := len(c)
	p := 0
	for ; p+4 <= len(x); p += 4 {
		b0, b1, b2, b3 := b[p*stride:][:n], b[(p+1)*stride:][:n], b[(p+2)*stride:][:n], b[(p+3)*stride:][:n]
		x0, x1, x2, x3 := x[p], x[p+1], x[p+2], x[p+3]
		for j := range c {
			c[j] += x0*b0[j] + x1*b1[j] + (x2*b2[j] + x3*b3[j])
		}
	}
	for ; p < len(x); p++ {
		b0, x0 := b[p*stride:][:n], x[p]
		for j := range c {
			c[j] += x0 * b0[j]
		}
	}
}

// dotRows computes products with a transposed b: its rows are the columns, so elements are dot products.
func dotRows[T Number](lo, hi, from, end, k int, a, b, c Matrix[T]) {
	for i := lo; i < hi; i++ {
		x := a.Data[i*a.Stride : i*a.Stride+k]
		out := c.Data[i*c.Stride : i*c.Stride+end]
		j := from
		for ; j+4 <= end; j += 4 {
			s0, s1, s2, s3 := fourDots(x, b.Data[j*b.Stride:], b.Data[(j+1)*b.Stride:], b.Data[(j+2)*b.Stride:], b.Data[(j+3)*b.Stride:])
			out[j] += s0
			out[j+1] += s1
			out[j+2] += s2
			out[j+3] += s3
		}
		for ; j < end; j++ {
			out[j] += Dot(x, b.Data[j*b.Stride:])
		}
	}
}

func fourDots[T Number](x, b0, b1, b2, b3 []T) (s0, s1, s2, s3 T) {
	n := len(x)
	b0, b1, b2, b3 = b0[:n], b1[:n], b2[:n], b3[:n]
	var t0, t1, t2, t3 T
	i := 0
	for ; i+2 <= n; i += 2 {
		u, v := x[i], x[i+1]
		s0 += u * b0[i]
		t0 += v * b0[i+1]
		s1 += u * b1[i]
		t1 += v * b1[i+1]
		s2 += u * b2[i]
		t2 += v * b2[i+1]
		s3 += u * b3[i]
		t3 += v * b3[i+1]
	}
	if i < n {
		s0 += x[i] * b0[i]
		s1 += x[i] * b1[i]
		s2 += x[i] * b2[i]
		s3 += x[i] * b3[i]
	}
	return s0 + t0, s1 + t1, s2 + t2, s3 + t3
}

// Dot returns the sum of products of x with the first len(x) elements of y.
func Dot[T Number](x, y []T) T {
	y = y[:len(x)]
	var s, t T
	i := 0
	for ; i+2 <= len(x); i += 2 {
		s += x[i] * y[i]
		t += x[i+1] * y[i+1]
	}
	if i < len(x) {
		s += x[i] * y[i]
	}
	return s + t
}

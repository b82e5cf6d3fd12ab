// Package lapack computes factorizations of matrices over plain slices: triangles by elimination (LU) and of positive
// definite matrices (Cholesky), reflections (QR), and the eigenvalues and singular values that follow from them.
//
// Matrices are row-major, rows stride elements apart. Large ones are worked on in blocks, whose products are package
// gemm's; what is left are rows of length n, which are products too. So the time goes into generated tiles, for all four types.
//
// Invariant: a result does not depend on the number of threads. The package knows no tensors.
package lapack

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
)

// Scalar is what the factorizations are defined for.
type Scalar interface {
	gemm.Float | complex64 | complex128
}

// conj returns the conjugate.
func conj[T Scalar](x T) T {
	switch v := any(x).(type) {
	case complex64:
		return any(complex(real(v), -imag(v))).(T)
	case complex128:
		return any(complex(real(v), -imag(v))).(T)
	}
	return x
}

// isComplex reports whether numbers have imaginary parts.
func isComplex[T Scalar]() bool {
	var zero T
	switch any(zero).(type) {
	case complex64, complex128:
		return true
	}
	return false
}

// largest returns the place of the first element that no other is larger than; the size of a complex number is the sum of those
// of its parts.
func largest[T Scalar](x []T) int {
	switch x := any(x).(type) {
	case []float32:
		return largestBy(x, func(v float32) float32 { return max(v, -v) })
	case []float64:
		return largestBy(x, math.Abs)
	case []complex64:
		return largestBy(x, func(v complex64) float32 { return max(real(v), -real(v)) + max(imag(v), -imag(v)) })
	case []complex128:
		return largestBy(x, func(v complex128) float64 { return math.Abs(real(v)) + math.Abs(imag(v)) })
	}
	return 0
}

func largestBy[T Scalar, R gemm.Float](x []T, size func(T) R) (best int) {
	most := size(x[0])
	for i, v := range x {
		if s := size(v); s > most {
			best, most = i, s
		}
	}
	return best
}

// conjugate takes the conjugates of all elements.
func conjugate[T Scalar](x []T) {
	if isComplex[T]() {
		for i, v := range x {
			x[i] = conj(v)
		}
	}
}

// dotConjugate returns the sum of the products of x with the conjugates of y.
func dotConjugate[T Scalar](x, y []T) T {
	var sum T
	if isComplex[T]() {
		for i, v := range y {
			sum += x[i] * conj(v)
		}
		return sum
	}
	return gemm.Dot(y, x)
}

// realPart returns the real part.
func realPart[T Scalar](x T) float64 {
	switch v := any(x).(type) {
	case float32:
		return float64(v)
	case float64:
		return v
	case complex64:
		return float64(real(v))
	case complex128:
		return real(v)
	}
	return 0
}

// imaginaryPart returns the imaginary part, zero for real numbers.
func imaginaryPart[T Scalar](x T) float64 {
	switch v := any(x).(type) {
	case complex64:
		return float64(imag(v))
	case complex128:
		return imag(v)
	}
	return 0
}

// number returns x, or its real part where T is real, as a T.
func number[T Scalar](x complex128) T {
	var t T
	switch p := any(&t).(type) {
	case *float32:
		*p = float32(real(x))
	case *float64:
		*p = real(x)
	case *complex64:
		*p = complex64(x)
	case *complex128:
		*p = x
	}
	return t
}

// addProduct adds a (m by k) times b (k by n) to c.
func addProduct[T Scalar](m, n, k int, a, b gemm.Matrix[T], c []T, stride int) {
	p := gemm.Product[T]{M: m, N: n, K: k, A: a, B: b, C: gemm.Matrix[T]{Data: c, Stride: stride}, Add: true}
	p.Run()
}

// rows returns a matrix of rows stride elements apart.
func rows[T Scalar](data []T, stride int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data, Stride: stride}
}

// columns returns a matrix whose columns are stride elements apart.
func columns[T Scalar](data []T, stride int) gemm.Matrix[T] {
	return gemm.Matrix[T]{Data: data, Stride: stride, Transposed: true}
}

// negate writes to to the negated elements of from.
func negate[T Scalar](to, from []T) {
	to = to[:len(from)]
	for i, v := range from {
		to[i] = -v
	}
}

// turn writes to to, whose rows are toStride apart, the transpose of m rows of n elements.
func turn[T Scalar](to []T, toStride int, from []T, stride, m, n int) {
	const block = 8
	for i0 := 0; i0 < m; i0 += block {
		i1 := min(i0+block, m)
		for j := range n {
			row := to[j*toStride:]
			for i := i0; i < i1; i++ {
				row[i] = from[i*stride+j]
			}
		}
	}
}

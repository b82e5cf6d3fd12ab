package lapack

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
)

// Reflections are an orthogonal or unitary matrix Q of m rows as a product of reflections I - tau v v', which are applied in blocks:
// those of a block together are I - V t V'.
type Reflections[T Scalar] struct {
	m      int
	blocks []reflectionBlock[T]
}

// reflectionBlock is some reflections, whose vectors begin at row first.
type reflectionBlock[T Scalar] struct {
	first, count, high int
	v                  []T // the vectors as rows
	conjugate          []T // of v, where numbers are complex; else v
	t                  []T // count by count
}

// add appends reflections; v has their vectors as rows, with zeros and the ones before what is kept of them.
func (r *Reflections[T]) add(first, count, high int, v, taus []T) {
	b := reflectionBlock[T]{first: first, count: count, high: high, v: v, conjugate: v, t: make([]T, count*count)}
	if isComplex[T]() {
		b.conjugate = append([]T(nil), v...)
		conjugate(b.conjugate)
	}
	products := make([]T, count*count) // V'V
	addProduct(count, count, high, rows(b.conjugate, high), columns(v, high), products, count)
	for j := range count {
		for i := range j {
			var s T
			for k := i; k < j; k++ {
				s += b.t[i*count+k] * products[k*count+j]
			}
			b.t[i*count+j] = -taus[j] * s
		}
		b.t[j*count+j] = taus[j]
	}
	r.blocks = append(r.blocks, b)
}

// Apply multiplies the m by n matrix c with Q from the left, or with its adjoint.
func (r *Reflections[T]) Apply(n int, c []T, stride int, adjoint bool) {
	for i := range r.blocks {
		look(r.m)
		if !adjoint {
			i = len(r.blocks) - 1 - i
		}
		r.blocks[i].apply(n, c, stride, adjoint)
	}
}

func (b *reflectionBlock[T]) apply(n int, c []T, stride int, adjoint bool) {
	if n == 0 {
		return
	}
	c = c[b.first*stride:]
	w, tw, t := make([]T, b.count*n), make([]T, b.count*n), make([]T, b.count*b.count)
	addProduct(b.count, n, b.high, rows(b.conjugate, b.high), rows(c, stride), w, n)
	for i := range b.count {
		for j := range b.count {
			if adjoint {
				t[j*b.count+i] = -conj(b.t[i*b.count+j])
			} else {
				t[i*b.count+j] = -b.t[i*b.count+j]
			}
		}
	}
	addProduct(b.count, n, b.count, rows(t, b.count), rows(w, n), tw, n)
	addProduct(b.high, n, b.count, columns(b.v, b.high), rows(tw, n), c, stride)
}

// reflection makes the reflection whose adjoint takes x to (beta, 0, ...): x becomes the vector, whose first element is one.
func reflection[T Scalar](x []T) (beta float64, tau T) {
	alpha := x[0]
	largest := 0.0
	for _, v := range x[1:] {
		largest = max(largest, math.Abs(realPart(v)), math.Abs(imaginaryPart(v)))
	}
	re, im := realPart(alpha), imaginaryPart(alpha)
	x[0] = 1
	if largest == 0 && im == 0 {
		return re, 0
	}
	largest = max(largest, math.Abs(re), math.Abs(im))
	sum := 0.0
	for _, v := range x[1:] {
		a, b := realPart(v)/largest, imaginaryPart(v)/largest
		sum += a*a + b*b
	}
	sum += re/largest*(re/largest) + im/largest*(im/largest)
	beta = -math.Copysign(largest*math.Sqrt(sum), re)
	tau = number[T](complex((beta-re)/beta, -im/beta))
	divide(x[1:], alpha-number[T](complex(beta, 0)))
	return beta, tau
}

// QR factorizes the m by n matrix a in place by reflections: R on and above the diagonal, the vectors of the reflections, without
// their ones, below it. taus, of min(m, n) elements, gets their factors. It returns Q.
func QR[T Scalar](m, n int, a []T, stride int, taus []T) *Reflections[T] {
	q := &Reflections[T]{m: m}
	k := min(m, n)
	for k0 := 0; k0 < k; k0 += panelWidth {
		look(k)
		width, high := min(panelWidth, k-k0), m-k0
		panel := make([]T, width*high)
		turn(panel, high, a[k0*stride+k0:], stride, high, width)
		diagonal := make([]T, width)
		for j := range width {
			column := panel[j*high+j:][:high-j]
			var beta float64
			beta, taus[k0+j] = reflection(column)
			diagonal[j] = number[T](complex(beta, 0))
			if j+1 < width {
				reflectRows(panel[(j+1)*high+j:], width-j-1, high, column, conj(taus[k0+j]))
			}
		}
		turn(a[k0*stride+k0:], stride, panel, high, width, high)
		for j := range width {
			a[(k0+j)*stride+k0+j] = diagonal[j]
			clear(panel[j*high:][:j])
		}
		q.add(k0, width, high, panel, taus[k0:])
		q.blocks[len(q.blocks)-1].apply(n-k0-width, a[k0+width:], stride, true)
	}
	return q
}

// reflectRows subtracts from each of count rows tau times its product with the conjugate of v, times v.
func reflectRows[T Scalar](x []T, count, stride int, v []T, tau T) {
	if count == 0 || tau == 0 {
		return
	}
	if count*len(v) <= smallProduct {
		for r := range count {
			row := x[r*stride:][:len(v)]
			factor := tau * dotConjugate(row, v)
			for i, e := range v {
				row[i] -= factor * e
			}
		}
		return
	}
	factors, other := make([]T, count), v
	if isComplex[T]() {
		other = append([]T(nil), v...)
		conjugate(other)
	}
	addProduct(count, 1, len(v), rows(x, stride), rows(other, 1), factors, 1)
	for i := range factors {
		factors[i] *= -tau
	}
	addProduct(count, len(v), 1, rows(factors, 1), rows(v, len(v)), x, stride)
}

// smallProduct is how many multiplications loops in Go take as little time for as a product does.
const smallProduct = 128

// times returns a, m by n, times x.
func times[T Scalar](m, n int, a []T, stride int, x []T) []T {
	y := make([]T, m)
	if m*n <= smallProduct {
		for i := range y {
			y[i] = gemm.Dot(x[:n], a[i*stride:])
		}
		return y
	}
	addProduct(m, 1, n, rows(a, stride), rows(x, 1), y, 1)
	return y
}

// addOuter adds to a, m by n, x times y, element by element.
func addOuter[T Scalar](m, n int, a []T, stride int, x, y []T) {
	if m*n <= smallProduct {
		for i, f := range x[:m] {
			row := a[i*stride:][:n]
			for j, v := range y[:n] {
				row[j] += f * v
			}
		}
		return
	}
	addProduct(m, n, 1, rows(x, 1), rows(y, n), a, stride)
}

// PackedReflections are the reflections that QR leaves below the diagonal of a matrix of m rows, with their factors: one for each of taus.
func PackedReflections[T Scalar](m int, a []T, stride int, taus []T) *Reflections[T] {
	q := &Reflections[T]{m: m}
	for first := 0; first < len(taus); first += panelWidth {
		look(m)
		width, high := min(panelWidth, len(taus)-first), m-first
		vectors := make([]T, width*high)
		turn(vectors, high, a[first*stride+first:], stride, high, width)
		for j := range width {
			clear(vectors[j*high:][:j])
			vectors[j*high+j] = 1
		}
		q.add(first, width, high, vectors, taus[first:])
	}
	return q
}

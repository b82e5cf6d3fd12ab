package lapack

import "math"

// choleskyWidth is how many columns are factorized before the rest is brought up to date.
const choleskyWidth = 16

// Cholesky factorizes the n by n matrix a, of which the lower triangle is read, in place: L, whose product with its adjoint
// a is, below and on the diagonal, zeros above it. It returns the order of the first leading minor that is not positive, counted from
// one, and then leaves the rest undefined; else zero.
func Cholesky[T Scalar](n int, a []T, stride int) (notPositive int) {
	var factor, negated []T
	if n > smallSize {
		factor, negated = make([]T, choleskyWidth*n), make([]T, choleskyWidth*n)
	}
	width := choleskyWidth
	if n <= smallSize {
		width = max(n, 1)
	}
	for k0 := 0; k0 < n; k0 += width {
		look(n)
		w := min(width, n-k0)
		corner := a[k0*stride+k0:]
		if at := choleskySmall(w, corner, stride); at > 0 {
			return k0 + at
		}
		for i := k0; i < k0+w; i++ {
			clear(a[i*stride+i+1 : i*stride+n])
		}
		below := n - k0 - w
		if below == 0 {
			break
		}
		choleskyBelow(w, below, corner, stride, factor, negated)
	}
	return 0
}

// choleskyBelow computes the rows below a factorized corner of w columns, and subtracts their products from what is right of them.
func choleskyBelow[T Scalar](w, below int, corner []T, stride int, factor, negated []T) {
	left := corner[w*stride:]
	turn(factor, below, left, stride, below, w)
	for i := range w { // conj(L) y = the transposed rows
		for k := range i {
			negated[k] = -conj(corner[i*stride+k])
		}
		if i > 0 {
			addProduct(1, below, i, rows(negated, i), rows(factor, below), factor[i*below:], below)
		}
		divide(factor[i*below:][:below], corner[i*stride+i])
	}
	turn(left, stride, factor, below, w, below)
	negate(negated, factor[:w*below])
	conjugate(factor[:w*below])
	const high = 64
	for i := 0; i < below; i += high { // of the square what is not above these rows
		m := min(high, below-i)
		addProduct(m, i+m, w, columns(negated[i:], below), rows(factor, below), left[i*stride+w:], stride)
	}
}

// choleskySmall is Cholesky for a corner; what lies above its diagonal stays.
func choleskySmall[T Scalar](n int, a []T, stride int) (notPositive int) {
	for j := range n {
		row := a[j*stride:][:j+1]
		d := realPart(row[j]) - realPart(dotConjugate(row[:j], row[:j]))
		if !(d > 0) {
			return j + 1
		}
		root := number[T](complex(math.Sqrt(d), 0))
		row[j] = root
		for i := j + 1; i < n; i++ {
			other := a[i*stride:][:j+1]
			other[j] = (other[j] - dotConjugate(other[:j], row[:j])) / root
		}
	}
	return 0
}

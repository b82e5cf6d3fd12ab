package lapack

import (
	"cmp"
	"math"
	"slices"
)

// Eigen computes the eigenvalues of the Hermitian n by n matrix a, all of whose elements are read, in ascending order, and, where
// vectors is not nil, the eigenvectors as the columns of that n by n matrix. a is overwritten. It fails where the iteration does not end.
func Eigen[T Scalar](n int, a []T, stride int, values []float64, vectors []T) bool {
	q, d, e := tridiagonal(n, a, stride, vectors != nil)
	var z *rotated
	if vectors != nil {
		z = newRotated(n)
	}
	if !implicitQL(d, e, z) {
		return false
	}
	order := ordered(d, cmp.Compare[float64])
	for i, from := range order {
		values[i] = d[from]
	}
	if vectors != nil {
		columnsOf(z, order, vectors, n)
		q.Apply(n, vectors, n, false)
	}
	return true
}

// ordered returns the places of numbers in order.
func ordered(x []float64, compare func(a, b float64) int) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(x[i], x[j]) })
	return order
}

// tridiagonal takes a to a real tridiagonal matrix with diagonal d and, beside it, e, by reflections from both sides; q is
// what makes a of it.
func tridiagonal[T Scalar](n int, a []T, stride int, want bool) (q *Reflections[T], d, e []float64) {
	q = &Reflections[T]{m: n}
	d, e = make([]float64, n), make([]float64, n)
	reflections := collector[T]{to: q, first: 1, count: n - 1, high: n - 1}
	for k := range max(n-1, 0) {
		look(n)
		d[k] = realPart(a[k*stride+k])
		high := n - k - 1
		v := make([]T, high)
		for i := range v {
			v[i] = a[(k+1+i)*stride+k]
		}
		beta, tau := reflection(v)
		e[k] = beta
		rest := a[(k+1)*stride+k+1:]
		if tau != 0 {
			subtractBoth(high, rest, stride, v, tau)
		}
		if want {
			reflections.add(k, v, tau)
		}
	}
	if n > 0 {
		d[n-1] = realPart(a[(n-1)*stride+n-1])
	}
	return q, d, e
}

// subtractBoth applies the reflection of v to the Hermitian matrix a from both sides.
func subtractBoth[T Scalar](n int, a []T, stride int, v []T, tau T) {
	x := times(n, n, a, stride, v)
	for i := range x {
		x[i] *= tau
	}
	alpha := -tau * dotConjugate(v, x) / number[T](2)
	for i, e := range v {
		x[i] += alpha * e
	}
	left, right := make([]T, 2*n), make([]T, 2*n)
	for i, e := range v {
		left[2*i], left[2*i+1] = -e, -x[i]
		right[i], right[n+i] = conj(x[i]), conj(e)
	}
	if n*n <= smallProduct {
		for i := range n {
			row := a[i*stride:][:n]
			for j := range row {
				row[j] += left[2*i]*right[j] + left[2*i+1]*right[n+j]
			}
		}
		return
	}
	addProduct(n, n, 2, rows(left, 2), rows(right, n), a, stride)
}

// stepsEach bounds the steps for one value.
const stepsEach = 60

// implicitQL takes a tridiagonal matrix to its eigenvalues d, and applies the rotations to the rows of z.
func implicitQL(d, e []float64, z *rotated) bool {
	n := len(d)
	const eps = 0x1p-52
	shifted, scale := 0.0, 0.0
	var cs []float64
	for l := range n {
		scale = max(scale, math.Abs(d[l])+math.Abs(e[l]))
		m := l
		for m < n-1 && math.Abs(e[m]) > eps*scale {
			m++
		}
		if m > l {
			for steps := 0; ; steps++ {
				if steps > stepsEach {
					return false
				}
				shifted += shiftQL(d, e, l)
				cs = cs[:0]
				cs = stepQL(d, e, l, m, cs)
				z.sweep(m, true, cs)
				if !(math.Abs(e[l]) > eps*scale) {
					break
				}
			}
		}
		d[l] += shifted
		e[l] = 0
	}
	return true
}

// shiftQL takes the shift from the diagonal from l on, and returns it. e[l+1] is kept for stepQL.
func shiftQL(d, e []float64, l int) float64 {
	g := d[l]
	p := (d[l+1] - g) / (2 * e[l])
	r := math.Copysign(math.Hypot(p, 1), p)
	d[l], d[l+1] = e[l]/(p+r), e[l]*(p+r)
	h := g - d[l]
	for i := l + 2; i < len(d); i++ {
		d[i] -= h
	}
	return h
}

// stepQL is one step on rows l to m, whose rotations it appends.
func stepQL(d, e []float64, l, m int, cs []float64) []float64 {
	next, after := d[l+1], e[l+1]
	p, c, s := d[m], 1.0, 0.0
	c2, c3, s2 := c, c, 0.0
	for i := m - 1; i >= l; i-- {
		c3, c2, s2 = c2, c, s
		g, h := c*e[i], c*p
		r := math.Hypot(p, e[i])
		e[i+1] = s * r
		s, c = e[i]/r, p/r
		p = c*d[i] - s*g
		d[i+1] = h + s*(c*g+s*d[i])
		cs = append(cs, c, s)
	}
	p = -s * s2 * c3 * after * e[l] / next
	e[l], d[l] = s*p, c*p
	return cs
}

// Mirror completes a Hermitian matrix of which one triangle is given.
func Mirror[T Scalar](n int, a []T, stride int, upper bool) {
	for i := range n {
		a[i*stride+i] = number[T](complex(realPart(a[i*stride+i]), 0))
		for j := range i {
			if upper {
				a[i*stride+j] = conj(a[j*stride+i])
			} else {
				a[j*stride+i] = conj(a[i*stride+j])
			}
		}
	}
}

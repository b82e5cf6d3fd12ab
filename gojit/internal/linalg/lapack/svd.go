package lapack

import (
	"cmp"
	"math"
)

// SVD computes the singular values of the m by n matrix a, m not less than n, in descending order, and, where u and v are not nil, the left singular
// vectors as the columns of the m by width matrix u, where width is n or m, and the right ones as the columns of the n by n matrix v. a is
// overwritten. It fails where the iteration does not end.
func SVD[T Scalar](m, n int, a []T, stride int, values []float64, u []T, width int, v []T) bool {
	want := u != nil
	var q *Reflections[T]
	if m > n+n/2 && n > smallSize { // the triangle of a high matrix is much smaller
		q = QR(m, n, a, stride, make([]T, n))
		for i := range n {
			clear(a[i*stride:][:i])
		}
	}
	high := m
	if q != nil {
		high = n
	}
	left, right, d, e := bidiagonal(high, n, a, stride, want)
	var us, vs *rotated
	if want {
		us, vs = newRotated(n), newRotated(n)
	}
	if !diagonalize(d, e, us, vs) {
		return false
	}
	order := ordered(d, func(a, b float64) int { return cmp.Compare(b, a) })
	for i, from := range order {
		values[i] = d[from]
	}
	if !want {
		return true
	}
	columnsOf(vs, order, v, n)
	right.Apply(n, v, n, false)
	columnsOf(us, order, u, width)
	for j := n; j < width; j++ {
		u[j*width+j] = 1
	}
	if q == nil {
		left.Apply(width, u, width, false)
		return true
	}
	left.Apply(n, u, width, false)
	q.Apply(width, u, width, false)
	return true
}

// bidiagonal takes a to a real matrix with diagonal d and, above it, e by reflections: a is left times that times the adjoint of right.
func bidiagonal[T Scalar](m, n int, a []T, stride int, want bool) (left, right *Reflections[T], d, e []float64) {
	left, right = &Reflections[T]{m: m}, &Reflections[T]{m: n}
	d, e = make([]float64, n), make([]float64, n)
	ls, rs := collector[T]{to: left, count: n, high: m}, collector[T]{to: right, first: 1, count: n - 1, high: n - 1}
	for k := range n {
		look(n)
		v := make([]T, m-k)
		for i := range v {
			v[i] = a[(k+i)*stride+k]
		}
		var tau T
		d[k], tau = reflection(v)
		rest := n - k - 1
		if tau != 0 && rest > 0 {
			reflectColumns(m-k, rest, a[k*stride+k+1:], stride, v, tau)
		}
		if want {
			ls.add(k, v, tau)
		}
		if rest == 0 {
			break
		}
		u := append([]T(nil), a[k*stride+k+1:][:rest]...)
		conjugate(u)
		e[k], tau = reflection(u)
		if below := m - k - 1; tau != 0 && below > 0 {
			block := a[(k+1)*stride+k+1:]
			y := times(below, rest, block, stride, u)
			for i := range y {
				y[i] *= -tau
			}
			other := append([]T(nil), u...)
			conjugate(other)
			addOuter(below, rest, block, stride, y, other)
		}
		if want {
			rs.add(k, u, tau)
		}
	}
	return left, right, d, e
}

// reflectColumns applies the adjoint of the reflection of v to a, m by n, from the left.
func reflectColumns[T Scalar](m, n int, a []T, stride int, v []T, tau T) {
	other := append([]T(nil), v...)
	conjugate(other)
	w := make([]T, n)
	if m*n <= smallProduct {
		for i, f := range other {
			row := a[i*stride:][:n]
			for j := range row {
				w[j] += f * row[j]
			}
		}
	} else {
		addProduct(1, n, m, rows(other, m), rows(a, stride), w, n)
	}
	factors := append([]T(nil), v...)
	for i := range factors {
		factors[i] *= -conj(tau)
	}
	addOuter(m, n, a, stride, factors, w)
}

// collector puts reflections together to blocks.
type collector[T Scalar] struct {
	to                 *Reflections[T]
	first, count, high int // the first row, how many reflections there will be, and the length of the first one's vector
	panel, taus        []T
}

// add appends reflection k.
func (c *collector[T]) add(k int, v []T, tau T) {
	begin := k / panelWidth * panelWidth
	count, high := min(panelWidth, c.count-begin), c.high-begin
	if k == begin {
		c.panel, c.taus = make([]T, count*high), make([]T, count)
	}
	copy(c.panel[(k-begin)*high+k-begin:][:high-k+begin], v)
	if c.taus[k-begin] = tau; k-begin == count-1 {
		c.to.add(c.first+begin, count, high, c.panel, c.taus)
	}
}

// diagonalize takes a matrix with diagonal s and, above it, e to its singular values s, in no order, and applies the rotations to the rows of
// u and v.
func diagonalize(s, e []float64, u, v *rotated) bool {
	for p, steps := len(s), 0; p > 0; {
		look(len(s))
		k := blockStart(s, e, p)
		switch zero := zeroIn(s, e, k, p); {
		case k == p-1:
			if s[k] < 0 {
				s[k] = -s[k]
				v.negate(k)
			}
			p, steps = p-1, 0
		case zero == p-1:
			chaseUp(s, e, k, p, v)
		case zero >= k:
			chaseDown(s, e, zero+1, p, u)
		default:
			if steps++; steps > stepsEach {
				return false
			}
			stepQR(s, e, k, p, u, v)
		}
	}
	return true
}

func (r *rotated) negate(i int) {
	if r == nil {
		return
	}
	for k, x := range r.row(i) {
		r.row(i)[k] = -x
	}
}

// blockStart returns where the block that ends before p begins: e is negligible before it.
func blockStart(s, e []float64, p int) int {
	for k := p - 2; k >= 0; k-- {
		if !(math.Abs(e[k]) > 0x1p-966+0x1p-52*(math.Abs(s[k])+math.Abs(s[k+1]))) {
			e[k] = 0
			return k + 1
		}
	}
	return 0
}

// zeroIn returns the last negligible element of the diagonal of a block, or -1.
func zeroIn(s, e []float64, k, p int) int {
	if k == p-1 {
		return -1
	}
	for i := p - 1; i >= k; i-- {
		beside := 0.0
		if i < p-1 {
			beside += math.Abs(e[i])
		}
		if i > k {
			beside += math.Abs(e[i-1])
		}
		if !(math.Abs(s[i]) > 0x1p-966+0x1p-52*beside) {
			s[i] = 0
			return i
		}
	}
	return -1
}

// chaseUp removes the last element of e of a block whose last element of s is zero.
func chaseUp(s, e []float64, k, p int, v *rotated) {
	f := e[p-2]
	e[p-2] = 0
	for j := p - 2; j >= k; j-- {
		c, sn, t := turning(s[j], f)
		s[j] = t
		if j != k {
			f, e[j-1] = -sn*e[j-1], c*e[j-1]
		}
		v.pair(j, p-1, c, sn)
	}
}

// chaseDown removes the element of e before k, behind a zero of s.
func chaseDown(s, e []float64, k, p int, u *rotated) {
	f := e[k-1]
	e[k-1] = 0
	for j := k; j < p; j++ {
		c, sn, t := turning(s[j], f)
		s[j] = t
		f, e[j] = -sn*e[j], c*e[j]
		u.pair(j, k-1, c, sn)
	}
}

// turning returns the rotation that takes (x, y) to (r, 0).
func turning(x, y float64) (c, s, r float64) {
	r = math.Hypot(x, y)
	if r == 0 {
		return 1, 0, 0
	}
	return x / r, y / r, r
}

// stepQR is one step with a shift on a block.
func stepQR(s, e []float64, k, p int, u, v *rotated) {
	scale := max(math.Abs(s[p-1]), math.Abs(s[p-2]), math.Abs(e[p-2]), math.Abs(s[k]), math.Abs(e[k]))
	sp, before, ep, sk, ek := s[p-1]/scale, s[p-2]/scale, e[p-2]/scale, s[k]/scale, e[k]/scale
	b, c := ((before+sp)*(before-sp)+ep*ep)/2, sp*ep*(sp*ep)
	shift := 0.0
	if b != 0 || c != 0 {
		shift = c / (b + math.Copysign(math.Sqrt(b*b+c), b))
	}
	f, g := (sk+sp)*(sk-sp)+shift, sk*ek
	var us, vs []float64
	for j := k; j < p-1; j++ {
		c, sn, t := turning(f, g)
		if j != k {
			e[j-1] = t
		}
		f, e[j] = c*s[j]+sn*e[j], c*e[j]-sn*s[j]
		g, s[j+1] = sn*s[j+1], c*s[j+1]
		vs = append(vs, c, sn)
		c, sn, t = turning(f, g)
		s[j] = t
		f, s[j+1] = c*e[j]+sn*s[j+1], c*s[j+1]-sn*e[j]
		g, e[j+1] = sn*e[j+1], c*e[j+1]
		us = append(us, c, sn)
	}
	e[p-2] = f
	v.sweep(k, false, vs)
	u.sweep(k, false, us)
}

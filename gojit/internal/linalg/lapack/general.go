package lapack

import (
	"math"
	"math/cmplx"
)

// EigenGeneral computes the eigenvalues of the real n by n matrix a, in the order in which they stand on the diagonal of its Schur form: conjugate ones are neighbours,
// the one above the axis first. Where vectors is not nil it gets the eigenvectors, of length one, as the columns of that n by n matrix; the largest element of a complex one is real.
// a, which is contiguous and finite, is overwritten. It fails where the iteration does not end.
func EigenGeneral(n int, a []float64, values, vectors []complex128) bool {
	b := balance(n, a)
	q := hessenberg(n, a, vectors != nil)
	s := &realSchur{n: n, h: a, values: values}
	if vectors != nil {
		s.z = make([]float64, n*n)
		for i := range n {
			s.z[i*n+i] = 1
		}
	}
	if !s.run() {
		return false
	}
	if vectors == nil {
		return true
	}
	x, v := s.vectors(), make([]float64, n*n)
	addProduct(n, n, n, columns(s.z, n), columns(x, n), v, n)
	q.Apply(n, v, n, false)
	b.undo(n, v)
	joinVectors(n, v, values, vectors)
	return true
}

// joinVectors makes unit vectors of columns, of which those of conjugate eigenvalues are the real and the imaginary part of the first one's.
func joinVectors(n int, v []float64, values, to []complex128) {
	for k := 0; k < n; k++ {
		isPair := imag(values[k]) > 0 && k+1 < n
		size, largest, most := 0.0, complex(1, 0), 0.0
		for i := range n {
			e := complex(v[i*n+k], 0)
			if isPair {
				e = complex(v[i*n+k], v[i*n+k+1])
			}
			to[i*n+k] = e
			if m := cmplx.Abs(e); m > most {
				largest, most = e, m
			}
		}
		for i := range n {
			re, im := real(to[i*n+k])/most, imag(to[i*n+k])/most
			size += re*re + im*im
		}
		factor := complex(1/(most*math.Sqrt(size)), 0)
		if isPair {
			// The sign of the real part is LAPACK's choice.
			factor *= cmplx.Conj(largest) / complex(math.Copysign(most, real(largest)), 0)
		}
		for i := range n {
			e := to[i*n+k] * factor
			if isPair {
				if e == largest*factor {
					e = complex(real(e), 0)
				}
				to[i*n+k+1] = cmplx.Conj(e)
			}
			to[i*n+k] = e
		}
		if isPair {
			k++
		}
	}
}

// vectors returns the eigenvectors of h as rows; of conjugate eigenvalues the real and the imaginary part of the first one's.
func (s *realSchur) vectors() []float64 {
	n := s.n
	x := make([]float64, n*n)
	norm := 0.0
	for i := range n {
		for _, e := range s.h[i*n+max(i-1, 0) : (i+1)*n] {
			norm += math.Abs(e)
		}
	}
	for k := n - 1; k >= 0; k-- {
		b := backward{realSchur: s, value: s.values[k], smallest: max(roundoff*norm, tiny)}
		if imag(b.value) == 0 {
			b.re = x[k*n : (k+1)*n]
			b.re[k] = 1
			b.solve(k, k)
			continue
		}
		k--
		b.value = s.values[k]
		b.re, b.im = x[k*n:(k+1)*n], x[(k+1)*n:(k+2)*n]
		b.start(k)
		b.solve(k, k+1)
	}
	return x
}

// backward finds an eigenvector of a Schur form from below: re and, of complex ones, im.
type backward struct {
	*realSchur
	value    complex128
	smallest float64 // in place of a zero that is divided by
	re, im   []float64
}

// start sets the two elements of a complex vector that belong to its own block.
func (b *backward) start(k int) {
	n, h := b.n, b.h
	if above, below := h[k*n+k+1], h[(k+1)*n+k]; math.Abs(above) >= math.Abs(below) {
		b.re[k], b.im[k+1] = 1, imag(b.value)/above
	} else {
		b.re[k], b.im[k+1] = -imag(b.value)/below, 1
	}
}

// solve sets the elements above row first, of which those to last are there.
func (b *backward) solve(first, last int) {
	n, h := b.n, b.h
	for i := first - 1; i >= 0; i-- {
		if i > 0 && h[i*n+i-1] != 0 {
			r, s := b.rest(i, i+1, last), b.rest(i-1, i+1, last)
			b.set(i-1, i, s, r)
			i--
		} else {
			d := complex(h[i*n+i], 0) - b.value
			if cmplx.Abs(d) < b.smallest {
				d = complex(b.smallest, 0)
			}
			b.put(i, -b.rest(i, i+1, last)/d)
		}
		b.rescale(i, last)
	}
}

// rest is the product of row i from column j to last with the vector.
func (b *backward) rest(i, j, last int) complex128 {
	row := b.h[i*b.n+j : i*b.n+last+1]
	re, im := 0.0, 0.0
	x := b.re[j:][:len(row)]
	if b.im == nil {
		for k, e := range row {
			re += e * x[k]
		}
		return complex(re, 0)
	}
	y := b.im[j:][:len(row)]
	for k, e := range row {
		re += e * x[k]
		im += e * y[k]
	}
	return complex(re, im)
}

// set solves the two equations of a block of rows i and j, whose right sides are -s and -r.
func (b *backward) set(i, j int, s, r complex128) {
	n, h := b.n, b.h
	p, q := complex(h[i*n+i], 0)-b.value, complex(h[i*n+j], 0)
	u, v := complex(h[j*n+i], 0), complex(h[j*n+j], 0)-b.value
	determinant := p*v - q*u
	if floor := b.smallest * (cmplx.Abs(p) + cmplx.Abs(q) + cmplx.Abs(u) + cmplx.Abs(v)); cmplx.Abs(determinant) < floor*roundoff {
		determinant = complex(floor*roundoff, 0)
	}
	b.put(i, (q*r-v*s)/determinant)
	b.put(j, (u*s-p*r)/determinant)
}

func (b *backward) put(i int, v complex128) {
	b.re[i] = real(v)
	if b.im != nil {
		b.im[i] = imag(v)
	}
}

// rescale keeps the vector from overflowing.
func (b *backward) rescale(i, last int) {
	size := max(math.Abs(b.re[i]), math.Abs(b.re[i+1]))
	if b.im != nil {
		size = max(size, math.Abs(b.im[i]), math.Abs(b.im[i+1]))
	}
	if size*roundoff*size <= 1 {
		return
	}
	for k := i; k <= last; k++ {
		b.re[k] /= size
		if b.im != nil {
			b.im[k] /= size
		}
	}
}

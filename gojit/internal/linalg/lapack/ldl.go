package lapack

import "math"

// LDL factorizes the symmetric or, where hermitian, Hermitian n by n matrix a, of which the lower triangle is read, in place by the
// pivoting of Bunch and Kaufman: L, whose unit diagonal is not stored, and D, which has blocks of one or two rows. pivots gets, counted
// from one, the row that each row was exchanged with; for both rows of a block of two the second's, negative. It returns the first
// block that is zero, counted from one, or zero.
func LDL[T Scalar](n int, a []T, stride int, hermitian bool, pivots []int32) (zero int) {
	f := ldl[T]{n, a, stride, hermitian && isComplex[T]()}
	for k := 0; k < n; {
		look(n)
		with, step := f.pivot(k)
		if step == 0 { // nothing to be eliminated
			if zero == 0 {
				zero = k + 1
			}
			pivots[k] = int32(k + 1)
			f.makeReal(k)
			k++
			continue
		}
		f.exchange(k, k+step-1, with)
		if step == 1 {
			pivots[k] = int32(with + 1)
			f.eliminate(k)
		} else {
			pivots[k], pivots[k+1] = -int32(with+1), -int32(with+1)
			f.eliminateTwo(k)
		}
		k += step
	}
	for i := range n {
		clear(a[i*stride+i+1:][:n-i-1])
	}
	return zero
}

// ldl is a factorization on its way.
type ldl[T Scalar] struct {
	n         int
	a         []T
	stride    int
	hermitian bool
}

func (f *ldl[T]) at(i, j int) *T { return &f.a[i*f.stride+j] }

// conj returns the conjugate where the matrix is Hermitian.
func (f *ldl[T]) conj(x T) T {
	if f.hermitian {
		return conj(x)
	}
	return x
}

func (f *ldl[T]) makeReal(i int) {
	if f.hermitian {
		*f.at(i, i) = number[T](complex(realPart(*f.at(i, i)), 0))
	}
}

// size is the size of an element, for complex numbers the sum for both parts.
func (f *ldl[T]) size(i, j int) float64 {
	v := *f.at(i, j)
	if f.hermitian && i == j {
		return math.Abs(realPart(v))
	}
	return math.Abs(realPart(v)) + math.Abs(imaginaryPart(v))
}

// pivot chooses the row that takes the place of row k, or with a step of two that of the next one. A step of zero: the column is zero.
func (f *ldl[T]) pivot(k int) (with, step int) {
	alpha := (1 + math.Sqrt(17)) / 8
	own, other, most := f.size(k, k), k, 0.0
	for i := k + 1; i < f.n; i++ {
		if s := f.size(i, k); s > most {
			other, most = i, s
		}
	}
	if max(own, most) == 0 || math.IsNaN(own) {
		return k, 0
	}
	if own >= alpha*most {
		return k, 1
	}
	row := 0.0
	for j := k; j < other; j++ {
		row = max(row, f.size(other, j))
	}
	for i := other + 1; i < f.n; i++ {
		row = max(row, f.size(i, other))
	}
	switch {
	case own >= alpha*most*(most/row):
		return k, 1
	case f.size(other, other) >= alpha*row:
		return other, 1
	}
	return other, 2
}

// exchange exchanges rows and columns i and with of what is left of the matrix from k on.
func (f *ldl[T]) exchange(k, i, with int) {
	if with != i {
		for r := with + 1; r < f.n; r++ {
			x, y := f.at(r, i), f.at(r, with)
			*x, *y = *y, *x
		}
		for r := i + 1; r < with; r++ {
			x, y := f.at(r, i), f.at(with, r)
			*x, *y = f.conj(*y), f.conj(*x)
		}
		*f.at(with, i) = f.conj(*f.at(with, i))
		x, y := f.at(i, i), f.at(with, with)
		*x, *y = *y, *x
		if i > k {
			x, y := f.at(k+1, k), f.at(with, k)
			*x, *y = *y, *x
		}
	}
	f.makeReal(k)
	f.makeReal(i)
	f.makeReal(with)
}

// column returns what lies below row i in a column.
func (f *ldl[T]) column(i, j int) []T {
	x := make([]T, f.n)
	for r := i + 1; r < f.n; r++ {
		x[r] = *f.at(r, j)
	}
	return x
}

func (f *ldl[T]) eliminate(k int) {
	d, x := *f.at(k, k), f.column(k, k)
	for i := k + 1; i < f.n; i++ {
		factor := x[i] / d
		row := f.a[i*f.stride:][:i+1]
		for j := k + 1; j <= i; j++ {
			row[j] -= factor * f.conj(x[j])
		}
		row[k] = factor
		f.makeReal(i)
	}
}

// eliminateTwo eliminates with the block a, c', c, b of rows k and k+1.
func (f *ldl[T]) eliminateTwo(k int) {
	c := *f.at(k+1, k)
	p, q := *f.at(k+1, k+1)/c, *f.at(k, k)/f.conj(c)
	t := 1 / (p*q - 1)
	x, y := f.column(k+1, k), f.column(k+1, k+1)
	first, second := make([]T, f.n), make([]T, f.n)
	for i := k + 2; i < f.n; i++ {
		first[i], second[i] = (p*x[i]-y[i])*(t/f.conj(c)), (q*y[i]-x[i])*(t/c)
		row := f.a[i*f.stride:][:i+1]
		for j := k + 2; j <= i; j++ {
			row[j] -= first[i]*f.conj(x[j]) + second[i]*f.conj(y[j])
		}
		row[k], row[k+1] = first[i], second[i]
		f.makeReal(i)
	}
}

// SolveLDL solves with what LDL has made of a matrix, for count columns b, which the solution takes the place of.
func SolveLDL[T Scalar](n int, a []T, stride int, hermitian bool, pivots []int32, b []T, count, strideB int) {
	f := ldl[T]{n, a, stride, hermitian && isComplex[T]()}
	row := func(i int) []T { return b[i*strideB:][:count] }
	subtract := func(to int, factor T, from int) {
		x := row(from)
		for j, v := range row(to) {
			row(to)[j] = v - factor*x[j]
		}
	}
	for k := 0; k < n; k++ {
		if pivots[k] > 0 {
			swap(row(k), row(int(pivots[k])-1))
			for i := k + 1; i < n; i++ {
				subtract(i, *f.at(i, k), k)
			}
			divide(row(k), *f.at(k, k))
			continue
		}
		swap(row(k+1), row(-int(pivots[k])-1))
		for i := k + 2; i < n; i++ {
			subtract(i, *f.at(i, k), k)
			subtract(i, *f.at(i, k+1), k+1)
		}
		c := *f.at(k+1, k)
		p, q := *f.at(k+1, k+1)/c, *f.at(k, k)/f.conj(c)
		x, y := row(k), row(k+1)
		for j := range x {
			first, second := x[j]/f.conj(c), y[j]/c
			x[j], y[j] = (p*first-second)/(p*q-1), (q*second-first)/(p*q-1)
		}
		k++
	}
	for k := n - 1; k >= 0; k-- {
		for i := k + 1; i < n; i++ {
			subtract(k, f.conj(*f.at(i, k)), i)
		}
		if pivots[k] > 0 {
			swap(row(k), row(int(pivots[k])-1))
			continue
		}
		for i := k + 1; i < n; i++ {
			subtract(k-1, f.conj(*f.at(i, k-1)), i)
		}
		swap(row(k), row(-int(pivots[k])-1))
		k--
	}
}

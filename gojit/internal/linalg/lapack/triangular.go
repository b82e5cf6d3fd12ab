package lapack

// Triangle says which part of a matrix is a triangular one.
type Triangle struct {
	Upper bool
	Unit  bool // the diagonal is of ones, whatever is stored there
}

// solveBase is the size up to which triangles are solved row by row.
const solveBase = 16

// Solve solves a x = b, where a is n by n and only the triangle is read, for count columns b, which x takes the place of.
// Zeros on the diagonal give infinities.
func Solve[T Scalar](t Triangle, n int, a []T, stride int, b []T, count, strideB int) {
	if n == 0 || count == 0 {
		return
	}
	if n <= solveBase || n*n*count <= 4096 {
		solveRows(t, n, a, stride, b, count, strideB)
		return
	}
	negated := make([]T, n*n)
	for i := range n {
		lo, hi := 0, i
		if t.Upper {
			lo, hi = i+1, n
		}
		negate(negated[i*n+lo:i*n+hi], a[i*stride+lo:][:hi-lo])
	}
	s := solver[T]{t, a, stride, negated, n, b, count, strideB}
	s.solve(0, n)
}

// solver is a triangle, with what is beside its diagonal negated, and the columns.
type solver[T Scalar] struct {
	Triangle
	a       []T
	stride  int
	negated []T
	n       int
	b       []T
	count   int
	strideB int
}

// solve solves for the rows from lo to hi, with those solved before already subtracted.
func (s *solver[T]) solve(lo, hi int) {
	if hi-lo <= solveBase {
		s.base(lo, hi)
		return
	}
	middle := lo + (hi-lo+2*solveBase-1)/(2*solveBase)*solveBase
	if s.Upper {
		s.solve(middle, hi)
		s.subtract(lo, middle, middle, hi)
		s.solve(lo, middle)
		return
	}
	s.solve(lo, middle)
	s.subtract(middle, hi, lo, middle)
	s.solve(middle, hi)
}

// subtract subtracts from the rows from lo to hi what solved ones contribute.
func (s *solver[T]) subtract(lo, hi, solvedLo, solvedHi int) {
	addProduct(hi-lo, s.count, solvedHi-solvedLo, rows(s.negated[lo*s.n+solvedLo:], s.n), rows(s.b[solvedLo*s.strideB:], s.strideB), s.b[lo*s.strideB:], s.strideB)
}

// base solves row by row, each of which is a product with those before it.
func (s *solver[T]) base(lo, hi int) {
	if s.count < 8 {
		solveRows(s.Triangle, hi-lo, s.a[lo*s.stride+lo:], s.stride, s.b[lo*s.strideB:], s.count, s.strideB)
		return
	}
	for step := range hi - lo {
		i, from, to := lo+step, lo, lo+step
		if s.Upper {
			i = hi - 1 - step
			from, to = i+1, hi
		}
		if to > from {
			s.subtract(i, i+1, from, to)
		}
		if !s.Unit {
			divide(s.b[i*s.strideB:][:s.count], s.a[i*s.stride+i])
		}
	}
}

// divide divides a row, long ones by way of the reciprocal where that is a number.
func divide[T Scalar](row []T, by T) {
	if len(row) >= 8 {
		if factor := 1 / by; factor-factor == 0 {
			for j := range row {
				row[j] *= factor
			}
			return
		}
	}
	for j := range row {
		row[j] /= by
	}
}

// solveRows solves small triangles.
func solveRows[T Scalar](t Triangle, n int, a []T, stride int, b []T, count, strideB int) {
	for step := range n {
		i, from, to := step, 0, step
		if t.Upper {
			i = n - 1 - step
			from, to = i+1, n
		}
		row := b[i*strideB:][:count]
		for k := from; k < to; k++ {
			factor := a[i*stride+k]
			solved := b[k*strideB:][:len(row)]
			for j := range row {
				row[j] -= factor * solved[j]
			}
		}
		if !t.Unit {
			divide(row, a[i*stride+i])
		}
	}
}

package aten

import (
	"cmp"
	"math"
	"math/cmplx"
	"slices"

	"torchjit/gojit/tensor"
)

// complexBatch gives a copy of the elements of matrices, and their shape and number.
func complexBatch(a *tensor.Tensor) (data []complex128, rows, columns, count int) {
	wide := must(to(a, tensor.Complex128).Clone(tensor.ContiguousFormat))
	return tensor.Data[complex128](wide), a.Size(a.Dim() - 2), a.Size(a.Dim() - 1), numelOf(a.Shape()[:a.Dim()-2])
}

func complexBatchOf(data []complex128, a *tensor.Tensor, shape ...int) *tensor.Tensor {
	return to(must(tensor.FromSlice(data, append(slices.Clone(a.Shape()[:a.Dim()-2]), shape...)...)), a.DType())
}

func realBatchOf(data []float64, a *tensor.Tensor, shape ...int) *tensor.Tensor {
	return to(must(tensor.FromSlice(data, append(slices.Clone(a.Shape()[:a.Dim()-2]), shape...)...)), a.DType().ToReal())
}

// eigenHermitian is eigenSymmetric for complex matrices: their Schur form is diagonal, and its unitary matrix the eigenvectors.
func eigenHermitian(a *tensor.Tensor, upper bool) (values, vectors *tensor.Tensor) {
	data, n, count := squareBatch("linalg.eigh", a)
	var allValues []float64
	var allVectors []complex128
	for m := range count {
		x, q := data[m*n*n:(m+1)*n*n], unitMatrix[complex128](n)
		for i := range n {
			x[i*n+i] = complex(real(x[i*n+i]), 0)
			for j := range i {
				if upper {
					x[i*n+j] = cmplx.Conj(x[j*n+i])
				} else {
					x[j*n+i] = cmplx.Conj(x[i*n+j])
				}
			}
		}
		toHessenberg(x, q, n)
		if !schur(x, q, n) {
			raise(linalgError, "linalg.eigh: the algorithm failed to converge")
		}
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(real(x[i*n+i]), real(x[j*n+j])) })
		for _, k := range order {
			allValues = append(allValues, real(x[k*n+k]))
		}
		for r := range n {
			for _, k := range order {
				allVectors = append(allVectors, q[r*n+k])
			}
		}
	}
	return realBatchOf(allValues, a, n), complexBatchOf(allVectors, a, n, n)
}

// complexSVD is svd for complex matrices with no fewer rows than columns.
func complexSVD(a *tensor.Tensor, full bool) (u, s, vh *tensor.Tensor) {
	data, rows, columns, count := complexBatch(a)
	width := columns
	if full {
		width = rows
	}
	var us, vs []complex128
	var ss []float64
	for m := range count {
		um, sm, vm := complexJacobi(data[m*rows*columns:(m+1)*rows*columns], rows, columns, width)
		us, ss, vs = append(us, um...), append(ss, sm...), append(vs, vm...)
	}
	v := complexBatchOf(vs, a, columns, columns)
	return complexBatchOf(us, a, rows, width), realBatchOf(ss, a, columns), contiguous(conjugate(must(v.MatrixTranspose())))
}

// complexJacobi is oneSidedJacobi; u gets orthonormal columns up to width.
func complexJacobi(a []complex128, rows, columns, width int) (u []complex128, s []float64, v []complex128) {
	v = unitMatrix[complex128](columns)
	for range 60 {
		rotated := false
		for p := range columns {
			for q := p + 1; q < columns; q++ {
				rotated = orthogonal(a, v, rows, columns, p, q) || rotated
			}
		}
		if !rotated {
			break
		}
	}
	lengths, order := make([]float64, columns), make([]int, columns)
	for j := range columns {
		order[j] = j
		for k := range rows {
			lengths[j] = math.Hypot(lengths[j], cmplx.Abs(a[k*columns+j]))
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareNaNLast(lengths[j], lengths[i]) })
	u, sorted := make([]complex128, rows*width), make([]complex128, columns*columns)
	for to, from := range order {
		s = append(s, lengths[from])
		for k := range rows {
			if lengths[from] > 0 {
				u[k*width+to] = a[k*columns+from] / complex(lengths[from], 0)
			}
		}
		for k := range columns {
			sorted[k*columns+to] = v[k*columns+from]
		}
	}
	for j := range width {
		if j >= columns || s[j] == 0 {
			completeColumn(u, rows, width, j)
		}
	}
	return u, s, sorted
}

// orthogonal rotates columns p and q of a, and of v, so that they become orthogonal in a; false where they were.
func orthogonal(a, v []complex128, rows, columns, p, q int) bool {
	var alpha, beta float64
	var gamma complex128
	for k := range rows {
		x, y := a[k*columns+p], a[k*columns+q]
		alpha, beta, gamma = alpha+real(x*cmplx.Conj(x)), beta+real(y*cmplx.Conj(y)), gamma+cmplx.Conj(x)*y
	}
	size := cmplx.Abs(gamma)
	if size <= 1e-16*math.Sqrt(alpha*beta) || size == 0 {
		return false
	}
	zeta := (beta - alpha) / (2 * size)
	t := 1 / (math.Abs(zeta) + math.Sqrt(1+zeta*zeta))
	if zeta < 0 {
		t = -t
	}
	c := complex(1/math.Sqrt(1+t*t), 0)
	s, turn := c*complex(t, 0), cmplx.Conj(gamma)/complex(size, 0)
	for _, m := range []struct {
		x    []complex128
		rows int
	}{{a, rows}, {v, columns}} {
		for k := range m.rows {
			x, y := m.x[k*columns+p], m.x[k*columns+q]*turn
			m.x[k*columns+p], m.x[k*columns+q] = c*x-s*y, s*x+c*y
		}
	}
	return true
}

// completeColumn makes column j a unit vector that is orthogonal to those before it.
func completeColumn(u []complex128, rows, width, j int) {
	for try := range rows {
		for k := range rows {
			u[k*width+j] = 0
		}
		u[try*width+j] = 1
		length := 0.0
		for range 2 {
			for p := range width {
				if p == j {
					continue
				}
				var d complex128
				for k := range rows {
					d += cmplx.Conj(u[k*width+p]) * u[k*width+j]
				}
				for k := range rows {
					u[k*width+j] -= d * u[k*width+p]
				}
			}
		}
		for k := range rows {
			length = math.Hypot(length, cmplx.Abs(u[k*width+j]))
		}
		if length > 1e-8 {
			for k := range rows {
				u[k*width+j] /= complex(length, 0)
			}
			return
		}
	}
}

// complexQR is qr for complex matrices; the diagonal of R is real.
func complexQR(a *tensor.Tensor, complete bool) (q, r *tensor.Tensor) {
	data, rows, columns, count := complexBatch(a)
	qs, rs, width := reflected(data, rows, columns, count, complete, complexReflect)
	return complexBatchOf(qs, a, rows, width), complexBatchOf(rs, a, width, columns)
}

// complexReflect clears column j of x below the diagonal, makes the diagonal real and collects the reflection in q.
func complexReflect(x, q []complex128, rows, columns, j int) {
	length := 0.0
	for i := j + 1; i < rows; i++ {
		length = math.Hypot(length, cmplx.Abs(x[i*columns+j]))
	}
	alpha := x[j*columns+j]
	if length == 0 && imag(alpha) == 0 {
		return
	}
	beta := complex(-math.Copysign(math.Hypot(cmplx.Abs(alpha), length), real(alpha)), 0)
	tau := (beta - alpha) / beta
	w := make([]complex128, rows)
	w[j] = 1
	for i := j + 1; i < rows; i++ {
		w[i] = x[i*columns+j] / (alpha - beta)
	}
	for c := range columns {
		var d complex128
		for i := j; i < rows; i++ {
			d += cmplx.Conj(w[i]) * x[i*columns+c]
		}
		for i := j; i < rows; i++ {
			x[i*columns+c] -= cmplx.Conj(tau) * d * w[i]
		}
	}
	for r := range rows {
		var d complex128
		for i := j; i < rows; i++ {
			d += q[r*rows+i] * w[i]
		}
		for i := j; i < rows; i++ {
			q[r*rows+i] -= tau * d * cmplx.Conj(w[i])
		}
	}
}

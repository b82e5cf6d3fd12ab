package aten

import (
	"cmp"
	"math"
	"slices"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// The decompositions below work on real matrices in double precision: rows by columns, row-major.

// realBatch returns a batch of real matrices.
func realBatch(name string, a *tensor.Tensor) (data []float64, rows, columns, count int) {
	check(a.Dim() >= 2, "%s: The input tensor A must have at least 2 dimensions.", name)
	if a.DType() != tensor.Float32 && a.DType() != tensor.Float64 {
		raise(source.NotImplementedError, "%s is implemented for float and double tensors, but got %s", name, a.DType().CppName())
	}
	wide := must(to(a, tensor.Float64).Clone(tensor.ContiguousFormat))
	rows, columns = a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	return tensor.Data[float64](wide), rows, columns, numelOf(a.Shape()[:a.Dim()-2])
}

// batchOf makes a tensor of matrices, or vectors, for the batch of a.
func batchOf(data []float64, a *tensor.Tensor, shape ...int) *tensor.Tensor {
	return to(must(tensor.FromSlice(data, append(slices.Clone(a.Shape()[:a.Dim()-2]), shape...)...)), a.DType())
}

// jacobi diagonalizes a symmetric matrix by rotations; v gets the eigenvectors as columns, in the
// order of growing eigenvalues.
func jacobi(a []float64, n int) (values, v []float64) {
	v = make([]float64, n*n)
	for i := range n {
		v[i*n+i] = 1
	}
	for range 60 {
		off := 0.0
		for i := range n {
			for j := range i {
				off += a[i*n+j] * a[i*n+j]
			}
		}
		if off < 1e-300 {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(a, v, n, p, q)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return compareNaNLast(a[i*n+i], a[j*n+j]) })
	sorted := make([]float64, n*n)
	for k, i := range order {
		values = append(values, a[i*n+i])
		for r := range n {
			sorted[r*n+k] = v[r*n+i]
		}
	}
	return values, sorted
}

// rotate makes a[p][q] zero.
func rotate(a, v []float64, n, p, q int) {
	apq := a[p*n+q]
	if apq == 0 {
		return
	}
	theta := (a[q*n+q] - a[p*n+p]) / (2 * apq)
	t := 1 / (math.Abs(theta) + math.Sqrt(theta*theta+1))
	if theta < 0 {
		t = -t
	}
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for k := range n {
		x, y := a[k*n+p], a[k*n+q]
		a[k*n+p], a[k*n+q] = c*x-s*y, s*x+c*y
	}
	for k := range n {
		x, y := a[p*n+k], a[q*n+k]
		a[p*n+k], a[q*n+k] = c*x-s*y, s*x+c*y
	}
	for k := range n {
		x, y := v[k*n+p], v[k*n+q]
		v[k*n+p], v[k*n+q] = c*x-s*y, s*x+c*y
	}
}

// eigenSymmetric gives the eigenvalues and eigenvectors of symmetric matrices, of which one triangle is read.
func eigenSymmetric(a *tensor.Tensor, upper bool) (values, vectors *tensor.Tensor) {
	if a.DType().IsComplex() {
		return eigenHermitian(a, upper)
	}
	data, n, columns, count := realBatch("linalg.eigh", a)
	check(n == columns, "linalg.eigh: A must be batches of square matrices, but they are %d by %d matrices", n, columns)
	var allValues, allVectors []float64
	for m := range count {
		x := data[m*n*n : (m+1)*n*n]
		for i := range n {
			for j := range i {
				if upper {
					x[i*n+j] = x[j*n+i]
				} else {
					x[j*n+i] = x[i*n+j]
				}
			}
		}
		values, v := jacobi(x, n)
		allValues, allVectors = append(allValues, values...), append(allVectors, v...)
	}
	return batchOf(allValues, a, n), batchOf(allVectors, a, n, n)
}

// oneSidedJacobi makes the columns of a, rows by columns with rows >= columns, orthogonal: a becomes
// u times the singular values and v collects the rotations.
func oneSidedJacobi(a []float64, rows, columns int) (u, s, v []float64) {
	v = make([]float64, columns*columns)
	for i := range columns {
		v[i*columns+i] = 1
	}
	for range 60 {
		rotated := false
		for p := range columns {
			for q := p + 1; q < columns; q++ {
				var alpha, beta, gamma float64
				for k := range rows {
					x, y := a[k*columns+p], a[k*columns+q]
					alpha, beta, gamma = alpha+x*x, beta+y*y, gamma+x*y
				}
				if math.Abs(gamma) <= 1e-16*math.Sqrt(alpha*beta) || gamma == 0 {
					continue
				}
				rotated = true
				zeta := (beta - alpha) / (2 * gamma)
				t := 1 / (math.Abs(zeta) + math.Sqrt(1+zeta*zeta))
				if zeta < 0 {
					t = -t
				}
				c := 1 / math.Sqrt(1+t*t)
				rotateColumns(a, rows, columns, p, q, c, c*t)
				rotateColumns(v, columns, columns, p, q, c, c*t)
			}
		}
		if !rotated {
			break
		}
	}
	return sortSingular(a, v, rows, columns)
}

func rotateColumns(a []float64, rows, columns, p, q int, c, s float64) {
	for k := range rows {
		x, y := a[k*columns+p], a[k*columns+q]
		a[k*columns+p], a[k*columns+q] = c*x-s*y, s*x+c*y
	}
}

// sortSingular orders the columns by falling length and makes them unit vectors.
func sortSingular(a, v []float64, rows, columns int) (u, s, sortedV []float64) {
	lengths := make([]float64, columns)
	order := make([]int, columns)
	for j := range columns {
		order[j] = j
		for k := range rows {
			lengths[j] = math.Hypot(lengths[j], a[k*columns+j])
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return compareNaNLast(lengths[j], lengths[i]) })
	u, s, sortedV = make([]float64, rows*columns), make([]float64, columns), make([]float64, columns*columns)
	for to, from := range order {
		s[to] = lengths[from]
		for k := range rows {
			if lengths[from] > 0 {
				u[k*columns+to] = a[k*columns+from] / lengths[from]
			}
		}
		for k := range columns {
			sortedV[k*columns+to] = v[k*columns+from]
		}
	}
	completeBasis(u, rows, columns, s)
	return u, s, sortedV
}

// completeBasis replaces columns that have no length by unit vectors orthogonal to the rest.
func completeBasis(u []float64, rows, columns int, s []float64) {
	for j := range columns {
		if s[j] > 0 {
			continue
		}
		for try := range rows {
			for k := range rows {
				u[k*columns+j] = 0
			}
			u[try*columns+j] = 1
			if orthogonalize(u, rows, columns, j) {
				break
			}
		}
	}
}

// orthogonalize removes from column j what lies along those before it; false where nothing is left.
func orthogonalize(u []float64, rows, columns, j int) bool {
	for range 2 {
		for p := range j {
			d := 0.0
			for k := range rows {
				d += u[k*columns+p] * u[k*columns+j]
			}
			for k := range rows {
				u[k*columns+j] -= d * u[k*columns+p]
			}
		}
	}
	length := 0.0
	for k := range rows {
		length = math.Hypot(length, u[k*columns+j])
	}
	if length < 1e-8 {
		return false
	}
	for k := range rows {
		u[k*columns+j] /= length
	}
	return true
}

// svd gives u, the singular values and v transposed; full completes u and v to square matrices.
func svd(a *tensor.Tensor, full bool) (u, s, vh *tensor.Tensor) {
	atLeastMatrices("linalg.svd", a)
	if a.Size(a.Dim()-2) < a.Size(a.Dim()-1) {
		v, s, uh := svd(must(a.MatrixTranspose()), full)
		return contiguous(must(uh.MatrixTranspose())), s, contiguous(must(v.MatrixTranspose()))
	}
	if a.DType().IsComplex() {
		return complexSVD(a, full)
	}
	data, rows, columns, count := realBatch("linalg.svd", a)
	width := columns
	if full {
		width = rows
	}
	var us, ss, vs []float64
	for m := range count {
		um, sm, vm := oneSidedJacobi(data[m*rows*columns:(m+1)*rows*columns], rows, columns)
		if full {
			um = widen(um, rows, columns)
		}
		us, ss, vs = append(us, um...), append(ss, sm...), append(vs, vm...)
	}
	return batchOf(us, a, rows, width), batchOf(ss, a, columns), contiguous(must(batchOf(vs, a, columns, columns).MatrixTranspose()))
}

// widen adds columns until a matrix with orthonormal ones is square.
func widen(u []float64, rows, columns int) []float64 {
	wide := make([]float64, rows*rows)
	s := make([]float64, rows)
	for j := range columns {
		s[j] = 1
		for k := range rows {
			wide[k*rows+j] = u[k*columns+j]
		}
	}
	completeBasis(wide, rows, rows, s)
	return wide
}

func singularValues(a *tensor.Tensor) *tensor.Tensor {
	_, s, _ := svd(a, false)
	return s
}

// qr factorizes by Householder reflections.
func qr(a *tensor.Tensor, complete bool) (q, r *tensor.Tensor) {
	if a.DType().IsComplex() {
		atLeastMatrices("linalg.qr", a)
		return complexQR(a, complete)
	}
	data, rows, columns, count := realBatch("linalg.qr", a)
	qs, rs, width := reflected(data, rows, columns, count, complete, reflectColumn)
	return batchOf(qs, a, rows, width), batchOf(rs, a, width, columns)
}

// reflected factorizes count matrices, which it overwrites. reflect clears a column of x below the diagonal and collects
// the reflection in q. width is the number of columns of Q.
func reflected[T float64 | complex128](data []T, rows, columns, count int, complete bool, reflect func(x, q []T, rows, columns, j int)) (qs, rs []T, width int) {
	k := min(rows, columns)
	width = k
	if complete {
		width = rows
	}
	for m := range count {
		x, full := data[m*rows*columns:(m+1)*rows*columns], unitMatrix[T](rows)
		for j := range k {
			reflect(x, full, rows, columns, j)
		}
		for i := range rows {
			qs = append(qs, full[i*rows:i*rows+width]...)
		}
		for i := range width {
			for j := range columns {
				v := x[i*columns+j]
				if j < i {
					v = 0
				}
				rs = append(rs, v)
			}
		}
	}
	return qs, rs, width
}

// reflectColumn clears column j of x below the diagonal and collects the reflection in q.
func reflectColumn(x, q []float64, rows, columns, j int) {
	length := 0.0
	for i := j + 1; i < rows; i++ {
		length = math.Hypot(length, x[i*columns+j])
	}
	if length == 0 {
		return
	}
	alpha := x[j*columns+j]
	beta := -math.Copysign(math.Hypot(alpha, length), alpha)
	tau := (beta - alpha) / beta
	w := make([]float64, rows)
	w[j] = 1
	for i := j + 1; i < rows; i++ {
		w[i] = x[i*columns+j] / (alpha - beta)
	}
	for c := range columns {
		d := 0.0
		for i := j; i < rows; i++ {
			d += w[i] * x[i*columns+c]
		}
		for i := j; i < rows; i++ {
			x[i*columns+c] -= tau * d * w[i]
		}
	}
	for r := range rows {
		d := 0.0
		for i := j; i < rows; i++ {
			d += q[r*rows+i] * w[i]
		}
		for i := j; i < rows; i++ {
			q[r*rows+i] -= tau * d * w[i]
		}
	}
}

// defaultRank returns the relative size below which singular values count as zero.
func defaultRank(a *tensor.Tensor) float64 {
	atLeastMatrices("linalg.pinv", a)
	eps := 2.220446049250313e-16
	if a.DType() == tensor.Float32 {
		eps = 1.1920928955078125e-07
	}
	return eps * float64(max(a.Size(a.Dim()-1), a.Size(a.Dim()-2)))
}

func pseudoInverse(a *tensor.Tensor, rcond float64) *tensor.Tensor {
	return pseudoInverseAbove(a, 0, rcond)
}

// pseudoInverseAbove inverts on the singular vectors whose values are above the tolerances.
func pseudoInverseAbove(a *tensor.Tensor, atol, rtol float64) *tensor.Tensor {
	u, s, vh := svd(a, false)
	largest := extreme("amax", s, []int{-1}, true, false)
	limit := clampMin.withNumber(scaleBy(largest, rtol), atol)
	weights := choose(gt.on(s, limit), ofTensor(inverted.on(s)), ofScalar(tensor.Float(0)))
	return matmul(mul.on(conjugate(must(vh.MatrixTranspose())), must(weights.Unsqueeze(-2))), conjugate(must(u.MatrixTranspose())))
}

// compareNaNLast orders numbers, NaN as the greatest.
func compareNaNLast(a, b float64) int {
	aNaN, bNaN := a != a, b != b
	switch {
	case aNaN && bNaN:
		return 0
	case aNaN:
		return 1
	case bNaN:
		return -1
	}
	return cmp.Compare(a, b)
}

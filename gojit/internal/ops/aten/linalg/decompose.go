package linalg

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/linalg/lapack"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// lead returns the sizes of a batch of matrices with others behind them.
func lead(a *tensor.Tensor, tail ...int) []int {
	return append(slices.Clone(a.Shape()[:a.Dim()-2]), tail...)
}

// eigenSymmetric gives the eigenvalues and, with vectors, the eigenvectors of Hermitian matrices, of which one triangle is read.
func eigenSymmetric(name string, a *tensor.Tensor, upper, wantVectors bool) (values, vectors *tensor.Tensor) {
	n, count := squareMatrices(name, a)
	if a.OnDevice() {
		values, vectors, failed := eigenSymmetricThere(a, n, upper, wantVectors)
		mustConverge(name, a, failed)
		return values, vectors
	}
	work := writable(a, a.DType())
	values = define.Empty(lead(a, n), a.DType().ToReal())
	if wantVectors {
		vectors = define.Empty(a.Shape(), a.DType())
	}
	failed := make([]int32, count)
	onFactored(a.DType(), func() { eigenEach[float32, float32](work, values, vectors, n, upper, failed) }, func() { eigenEach[float64, float64](work, values, vectors, n, upper, failed) },
		func() { eigenEach[complex64, float32](work, values, vectors, n, upper, failed) }, func() { eigenEach[complex128, float64](work, values, vectors, n, upper, failed) })
	mustConverge(name, a, failed)
	return values, vectors
}

// mustConverge fails where a decomposition of a matrix came to no end.
func mustConverge(name string, a *tensor.Tensor, failed []int32) {
	if m, at := firstFailure(failed); at != 0 {
		source.Raise(linalgError, "%s: %sThe algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated eigenvalues (error code: %d).", name, batchElement(a.Shape()[:a.Dim()-2], m), at)
	}
}

func eigenEach[T factored, R interface {
	float32 | float64
	tensor.Element
}](work, values, vectors *tensor.Tensor, n int, upper bool, failed []int32) {
	data, to := tensor.Data[T](work), tensor.Data[R](values)
	var all []T
	if vectors != nil {
		all = tensor.Data[T](vectors)
	}
	eachMatrix(len(failed), 4*n*n*n, func(m int) {
		x := data[m*n*n:][:n*n]
		lapack.Mirror(n, x, n, upper)
		var v []T
		if all != nil {
			v = all[m*n*n:][:n*n]
		}
		wide := make([]float64, n)
		if !lapack.Eigen(n, x, n, wide, v) {
			failed[m] = 1
		}
		for i, w := range wide {
			to[m*n+i] = R(w)
		}
	})
}

// svd gives u, the singular values and v transposed and conjugated; full completes u and v to square matrices.
func svd(a *tensor.Tensor, full bool) (u, s, vh *tensor.Tensor) {
	u, s, v := singular(a, full, true)
	return u, s, elementwise.Contiguous(elementwise.Conjugate(source.Must(v.MatrixTranspose())))
}

func singularValues(a *tensor.Tensor) *tensor.Tensor {
	_, s, _ := singular(a, false, false)
	return s
}

// singular decomposes matrices; without vectors u and v are nil.
func singular(a *tensor.Tensor, full, wantVectors bool) (u, s, v *tensor.Tensor) {
	const name = "linalg.svd"
	atLeastMatrices(name, a)
	factorable(name, a)
	rows, columns := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	if rows < columns {
		v, s, u = singular(elementwise.Conjugate(source.Must(a.MatrixTranspose())), full, wantVectors)
		return u, s, v
	}
	width := columns
	if full {
		width = rows
	}
	if a.OnDevice() {
		u, s, v, failed := singularThere(a, rows, columns, width, wantVectors)
		mustBeDecomposed(name, a, failed)
		return u, s, v
	}
	work := writable(a, a.DType())
	s = define.Empty(lead(a, columns), a.DType().ToReal())
	if wantVectors {
		u, v = define.Zeros(lead(a, rows, width), a.DType()), define.Empty(lead(a, columns, columns), a.DType())
	}
	failed := make([]int32, define.NumelOf(lead(a)))
	f := singularMatrices{work, u, s, v, rows, columns, width, failed}
	onFactored(a.DType(), func() { singularEach[float32, float32](f) }, func() { singularEach[float64, float64](f) }, func() { singularEach[complex64, float32](f) }, func() { singularEach[complex128, float64](f) })
	mustBeDecomposed(name, a, failed)
	return u, s, v
}

// mustBeDecomposed fails where the singular values of a matrix were not found.
func mustBeDecomposed(name string, a *tensor.Tensor, failed []int32) {
	if m, at := firstFailure(failed); at != 0 {
		why := "is ill-conditioned or has too many repeated singular values (error code: 1)"
		if at == notFinite {
			why = "contained non-finite values"
		}
		source.Raise(linalgError, "%s: %sThe algorithm failed to converge because the input matrix %s.", name, batchElement(a.Shape()[:a.Dim()-2], m), why)
	}
}

// singularMatrices are matrices and where what they are decomposed into goes.
type singularMatrices struct {
	work, u, s, v        *tensor.Tensor
	rows, columns, width int
	failed               []int32
}

// notFinite marks a matrix with elements that are no numbers.
const notFinite = 2

func singularEach[T factored, R interface {
	float32 | float64
	tensor.Element
}](f singularMatrices) {
	data, to, size := tensor.Data[T](f.work), tensor.Data[R](f.s), f.rows*f.columns
	var us, vs []T
	if f.u != nil {
		us, vs = tensor.Data[T](f.u), tensor.Data[T](f.v)
	}
	eachMatrix(len(f.failed), 8*size*f.columns, func(m int) {
		x := data[m*size:][:size]
		for _, e := range x {
			if e-e != 0 {
				f.failed[m] = notFinite
				return
			}
		}
		var u, v []T
		if us != nil {
			u, v = us[m*f.rows*f.width:][:f.rows*f.width], vs[m*f.columns*f.columns:][:f.columns*f.columns]
		}
		wide := make([]float64, f.columns)
		if !lapack.SVD(f.rows, f.columns, x, f.columns, wide, u, f.width, v) {
			f.failed[m] = 1
		}
		for i, w := range wide {
			to[m*f.columns+i] = R(w)
		}
	})
}

// qr factorizes by Householder reflections. The modes are reduced, complete and r, which leaves Q out.
func qr(a *tensor.Tensor, mode string) (q, r *tensor.Tensor) {
	const name = "linalg.qr"
	atLeastMatrices(name, a)
	source.Check(mode == "reduced" || mode == "complete" || mode == "r", "qr received unrecognized mode '%s' but expected one of 'reduced' (default), 'r', or 'complete'", mode)
	factorable(name, a)
	rows, columns := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	width := min(rows, columns)
	if mode == "complete" {
		width = rows
	}
	if a.OnDevice() {
		if q, r := qrLibrary(a, width, mode != "r"); q != nil {
			return q, r
		}
	}
	work := writable(a, a.DType())
	q = define.Empty([]int{0}, a.DType())
	if mode != "r" {
		q = define.Zeros(lead(a, rows, width), a.DType())
	}
	onFactored(a.DType(), func() { reflectEach[float32](work, q, nil, width) }, func() { reflectEach[float64](work, q, nil, width) }, func() { reflectEach[complex64](work, q, nil, width) }, func() { reflectEach[complex128](work, q, nil, width) })
	return q, views.Triangle(source.Must(work.Narrow(-2, 0, width)), 0, true)
}

// reflectEach factorizes matrices in place; q, where it has elements, gets the first columns of Q, and taus, where not nil, the factors of the reflections.
func reflectEach[T factored](work, q, taus *tensor.Tensor, width int) {
	rows, columns := work.Size(work.Dim()-2), work.Size(work.Dim()-1)
	data, k := tensor.Data[T](work), min(rows, columns)
	var unit, all []T
	if q != nil && q.Numel() > 0 {
		unit = tensor.Data[T](q)
	}
	if taus != nil {
		all = tensor.Data[T](taus)
	}
	eachMatrix(define.NumelOf(lead(work)), 4*rows*columns*k, func(m int) {
		own := make([]T, k)
		if all != nil {
			own = all[m*k:][:k]
		}
		x := data[m*rows*columns:][:rows*columns]
		reflections := lapack.QR(rows, columns, x, columns, own)
		if unit == nil {
			return
		}
		to := unit[m*rows*width:][:rows*width]
		for i := range width {
			to[i*width+i] = 1
		}
		reflections.Apply(width, to, width, false)
	})
}

// householder factorizes matrices for geqrf: R above, the reflections below the diagonal, and their factors.
func householder(a *tensor.Tensor) (packed, factors *tensor.Tensor) {
	atLeastMatrices("geqrf", a)
	if !a.DType().IsComplex() && a.DType() != tensor.Float32 && a.DType() != tensor.Float64 {
		source.Raise(source.RuntimeError, "\"geqrf_cpu\" not implemented for '%s'", a.DType().CppName())
	}
	if a.OnDevice() {
		if packed, factors := reflectionsLibrary(a); packed != nil {
			return fromColumns(packed), factors
		}
	}
	packed = writable(a, a.DType())
	factors = define.Empty(lead(a, min(a.Size(a.Dim()-2), a.Size(a.Dim()-1))), a.DType())
	onFactored(a.DType(), func() { reflectEach[float32](packed, nil, factors, 0) }, func() { reflectEach[float64](packed, nil, factors, 0) }, func() { reflectEach[complex64](packed, nil, factors, 0) }, func() { reflectEach[complex128](packed, nil, factors, 0) })
	return packed, factors
}

func unitMatrix(n int) []complex128 {
	q := make([]complex128, n*n)
	for i := range n {
		q[i*n+i] = 1
	}
	return q
}

// defaultRank returns the relative size below which singular values count as zero.
func defaultRank(a *tensor.Tensor) float64 {
	atLeastMatrices("linalg.pinv", a)
	eps := 2.220446049250313e-16
	if a.DType().ToReal() == tensor.Float32 {
		eps = 1.1920928955078125e-07
	}
	return eps * math.Max(float64(a.Size(a.Dim()-1)), float64(a.Size(a.Dim()-2)))
}

// pseudoInverse inverts on the singular vectors whose values are above the tolerances, numbers or one for each matrix. Of matrices
// that are Hermitian only the lower triangle is read.
func pseudoInverse(a *tensor.Tensor, atol, rtol *tensor.Tensor, hermitian bool) *tensor.Tensor {
	atLeastMatrices("linalg.pinv", a)
	if a.Numel() == 0 {
		return define.Zeros(lead(a, a.Size(a.Dim()-1), a.Size(a.Dim()-2)), a.DType())
	}
	var u, s, v *tensor.Tensor
	if hermitian {
		s, u = eigenSymmetric("linalg.eigh", a, false, true)
		v = u
	} else {
		u, s, v = singular(a, false, true)
	}
	sizes := elementwise.Absolute.On(s)
	largest := reduce.Extreme("amax", sizes, []int{-1}, true, false)
	each := func(t *tensor.Tensor) *tensor.Tensor {
		return elementwise.To(source.Must(source.Must(t.ToDevice(s.Device())).Unsqueeze(-1)), s.DType())
	}
	limit := elementwise.ClampMin.On(elementwise.Mul.On(largest, each(rtol)), each(atol))
	weights := elementwise.Choose(elementwise.Gt.On(sizes, limit), elementwise.OfTensor(elementwise.Inverted.On(s)), elementwise.OfScalar(tensor.Float(0)))
	return Matmul(elementwise.Mul.On(v, source.Must(weights.Unsqueeze(-2))), elementwise.Conjugate(source.Must(u.MatrixTranspose())))
}

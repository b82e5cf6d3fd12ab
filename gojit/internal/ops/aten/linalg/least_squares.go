package aten

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// leastSquares solves a x = b where a is not square. The drivers give what LAPACK's of that name find: all but gels the rank, gelsd and
// gelss the singular values, all but gelsy the residuals of a matrix of full rank.
func leastSquares(c call) {
	a, b := c.tensor(0), c.tensor(1)
	vector := b.Dim() == a.Dim()-1
	if vector {
		b = must(b.Unsqueeze(-1))
	}
	checkLeastSquares(a, b, vector)
	d, rows, columns := a.DType(), a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	rcond, driver := c.floatOr(2, -1), c.strOr(3, "gelsy")
	if rcond < 0 {
		rcond = defaultRank(a)
	}
	check(slices.Contains([]string{"gels", "gelsy", "gelsd", "gelss"}, driver), "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
	residuals, values := empty([]int{0}, d.ToReal()), empty([]int{0}, d.ToReal())
	var x, rank *tensor.Tensor
	if driver == "gelsd" || driver == "gelss" {
		x, rank, values = solveByValues(a, b, rcond)
	} else if y, full, ok := solveByReflections(a, b, rcond); ok {
		x, rank = y, full
	} else {
		x, rank, _ = solveByValues(a, b, rcond)
	}
	if driver != "gelsy" && rows > columns && truth(eq.withNumber(rank, float64(columns)), nil, false, true).At().Bool() {
		residuals = squaresOf(sub.on(matmul(a, x), b))
	}
	if vector {
		x = must(x.SqueezeDim(-1))
	}
	if driver == "gels" {
		rank = empty([]int{0}, tensor.Int64)
	}
	c.give(x, residuals, rank, values)
}

// checkLeastSquares raises where the sides of an equation do not fit; vector says that the right one was a vector.
func checkLeastSquares(a, b *tensor.Tensor, vector bool) {
	const name = "torch.linalg.lstsq"
	atLeastMatrices("linalg.lstsq", a, b)
	side := -2
	if vector {
		side = -1
	}
	check(b.Size(b.Dim()-2) == a.Size(a.Dim()-2), "%s: input.size(-2) should match other.size(%d)", name, side)
	check(a.DType() == b.DType(), "%s: Expected input and other to have the same dtype, but got input's dtype %s and other's dtype %s", name, a.DType().CppName(), b.DType().CppName())
	check(a.DType().IsComplex() || a.DType() == tensor.Float32 || a.DType() == tensor.Float64, "This function doesn't handle types other than float and double")
}

// squaresOf adds the squares of the magnitudes in each column.
func squaresOf(r *tensor.Tensor) *tensor.Tensor {
	if r.DType().IsComplex() {
		r = must(r.ViewAsReal())
		return sum(mul.on(r, r), []int{-3, -1}, false, r.DType())
	}
	return sum(mul.on(r, r), []int{-2}, false, r.DType())
}

// solveByValues solves on the singular vectors whose values are not below rcond times the largest one, and gives their number and all values.
func solveByValues(a, b *tensor.Tensor, rcond float64) (x, rank, values *tensor.Tensor) {
	if a.Numel() == 0 {
		return matmul(must(a.Transpose(-2, -1)), b), zeros(lead(a), tensor.Int64), zeros(lead(a, min(a.Size(a.Dim()-2), a.Size(a.Dim()-1))), a.DType().ToReal())
	}
	u, s, v := singular(a, false, true)
	above := gt.on(s, scaleBy(extreme("amax", s, []int{-1}, true, false), rcond))
	weights := choose(above, ofTensor(inverted.on(s)), ofScalar(tensor.Float(0)))
	x = matmul(v, mul.on(must(weights.Unsqueeze(-1)), matmul(conjugate(must(u.MatrixTranspose())), b)))
	return x, sum(above, []int{-1}, false, tensor.Int64), s
}

// solveByReflections solves with the triangles of QR, where these show that no singular value can be below rcond times the
// largest one: the norms of a triangle and of its inverse bound the largest and the smallest. Elsewhere it reports false.
func solveByReflections(a, b *tensor.Tensor, rcond float64) (x, rank *tensor.Tensor, ok bool) {
	d, rows, columns := a.DType(), a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	if a.Numel() == 0 {
		return nil, nil, false
	}
	adjoint := func(t *tensor.Tensor) *tensor.Tensor { return conjugate(must(t.MatrixTranspose())) }
	tall, n := a, min(rows, columns)
	if rows < columns {
		tall = adjoint(a)
	}
	q, r := qr(tall, "reduced")
	inverse := solveTriangular(r, eye(n, n, makeLike{dtype: d}), true, true, false)
	norm := func(t *tensor.Tensor) *tensor.Tensor { return vectorNorm(t, 2, []int{-2, -1}, false, d.ToReal()) }
	condition := extreme("amax", mul.on(norm(r), norm(inverse)), nil, false, false).At().Float64()
	if !(condition*rcond < 1) || math.IsInf(condition, 0) {
		return nil, nil, false
	}
	if rows < columns {
		x = matmul(q, solveTriangular(adjoint(r), b, false, true, false))
	} else {
		x = solveTriangular(r, matmul(adjoint(q), b), true, true, false)
	}
	rank = empty(lead(a), tensor.Int64)
	tensor.Fill(rank, tensor.Int(int64(n)))
	return x, rank, true
}

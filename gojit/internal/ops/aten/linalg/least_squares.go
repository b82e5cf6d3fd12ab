package linalg

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// leastSquares solves a x = b where a is not square. The drivers give what LAPACK's of that name find: all but gels the rank, gelsd and
// gelss the singular values, all but gelsy the residuals of a matrix of full rank.
func leastSquares(c define.Call) {
	a, b := c.Tensor(0), c.Tensor(1)
	vector := b.Dim() == a.Dim()-1
	if vector {
		b = source.Must(b.Unsqueeze(-1))
	}
	checkLeastSquares(a, b, vector)
	d, rows, columns := a.DType(), a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	rcond, driver := c.FloatOr(2, -1), c.StrOr(3, "gelsy")
	if rcond < 0 {
		rcond = defaultRank(a)
	}
	if a.OnDevice() {
		driver = c.StrOr(3, "gels")
		source.Check(driver == "gels", "torch.linalg.lstsq: parameter `driver` other than `gels` is not supported on CUDA")
	}
	source.Check(slices.Contains([]string{"gels", "gelsy", "gelsd", "gelss"}, driver), "torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
	residuals, values := define.Empty([]int{0}, d.ToReal()), define.Empty([]int{0}, d.ToReal())
	var x, rank *tensor.Tensor
	singularBelow := rcond // where solveByReflections does not know
	switch {
	case driver == "gels":
		rcond, singularBelow = 0, defaultRank(a) // it takes a matrix to be of full rank
	case driver == "gelsd" && (rcond <= 0 || rcond >= 1):
		rcond = 0x1p-53 // the precision
		if d.ToReal() == tensor.Float32 {
			rcond = 0x1p-24
		}
	}
	if driver == "gelsd" || driver == "gelss" {
		x, rank, values = solveByValues(a, b, rcond)
	} else if y, full, ok := solveByReflections(a, b, rcond); ok {
		x, rank = y, full
	} else {
		x, rank, _ = solveByValues(a, b, singularBelow)
	}
	if driver != "gelsy" && rows > columns && reduce.Truth(elementwise.Eq.WithNumber(rank, float64(columns)), nil, false, true).At().Bool() {
		residuals = squaresOf(elementwise.Sub.On(Matmul(a, x), b))
	}
	if vector {
		x = source.Must(x.SqueezeDim(-1))
	}
	if driver == "gels" {
		rank = define.Empty([]int{0}, tensor.Int64)
	}
	c.Give(x, residuals, rank, values)
}

// checkLeastSquares raises where the sides of an equation do not fit; vector says that the right one was a vector.
func checkLeastSquares(a, b *tensor.Tensor, vector bool) {
	const name = "torch.linalg.lstsq"
	atLeastMatrices("linalg.lstsq", a, b)
	side := -2
	if vector {
		side = -1
	}
	source.Check(b.Size(b.Dim()-2) == a.Size(a.Dim()-2), "%s: input.size(-2) should match other.size(%d)", name, side)
	source.Check(a.DType() == b.DType(), "%s: Expected input and other to have the same dtype, but got input's dtype %s and other's dtype %s", name, a.DType().CppName(), b.DType().CppName())
	source.Check(a.DType().IsComplex() || a.DType() == tensor.Float32 || a.DType() == tensor.Float64, "This function doesn't handle types other than float and double")
}

// squaresOf adds the squares of the magnitudes in each column.
func squaresOf(r *tensor.Tensor) *tensor.Tensor {
	if r.DType().IsComplex() {
		r = source.Must(r.ViewAsReal())
		return reduce.Sum(elementwise.Mul.On(r, r), []int{-3, -1}, false, r.DType())
	}
	return reduce.Sum(elementwise.Mul.On(r, r), []int{-2}, false, r.DType())
}

// solveByValues solves on the singular vectors whose values are not below rcond times the largest one, and gives their number and all values.
func solveByValues(a, b *tensor.Tensor, rcond float64) (x, rank, values *tensor.Tensor) {
	if a.Numel() == 0 {
		return Matmul(source.Must(a.Transpose(-2, -1)), b), define.Zeros(lead(a), tensor.Int64), define.Zeros(lead(a, min(a.Size(a.Dim()-2), a.Size(a.Dim()-1))), a.DType().ToReal())
	}
	u, s, v := singular(a, false, true)
	above := elementwise.Gt.On(s, elementwise.ScaleBy(reduce.Extreme("amax", s, []int{-1}, true, false), rcond))
	weights := elementwise.Choose(above, elementwise.OfTensor(elementwise.Inverted.On(s)), elementwise.OfScalar(tensor.Float(0)))
	x = Matmul(v, elementwise.Mul.On(source.Must(weights.Unsqueeze(-1)), Matmul(elementwise.Conjugate(source.Must(u.MatrixTranspose())), b)))
	return x, reduce.Sum(above, []int{-1}, false, tensor.Int64), s
}

// solveByReflections solves with the triangles of QR, where these show that no singular value can be below rcond times the
// largest one: the norms of a triangle and of its inverse bound the largest and the smallest. Elsewhere it reports false.
func solveByReflections(a, b *tensor.Tensor, rcond float64) (x, rank *tensor.Tensor, ok bool) {
	d, rows, columns := a.DType(), a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	if a.Numel() == 0 {
		return nil, nil, false
	}
	adjoint := func(t *tensor.Tensor) *tensor.Tensor { return elementwise.Conjugate(source.Must(t.MatrixTranspose())) }
	tall, n := a, min(rows, columns)
	if rows < columns {
		tall = adjoint(a)
	}
	q, r := qr(tall, "reduced")
	inverse := solveTriangular(r, source.Must(views.Eye(n, n, views.MakeLike{Dtype: d}).ToDevice(a.Device())), true, true, false)
	norm := func(t *tensor.Tensor) *tensor.Tensor {
		return reduce.VectorNorm(t, 2, []int{-2, -1}, false, d.ToReal())
	}
	condition := reduce.Extreme("amax", elementwise.Mul.On(norm(r), norm(inverse)), nil, false, false).At().Float64()
	if !(condition*rcond < 1) || math.IsInf(condition, 0) {
		return nil, nil, false
	}
	if rows < columns {
		x = Matmul(q, solveTriangular(adjoint(r), b, false, true, false))
	} else {
		x = solveTriangular(r, Matmul(adjoint(q), b), true, true, false)
	}
	rank = define.Empty(lead(a), tensor.Int64)
	tensor.Fill(rank, tensor.Int(int64(n)))
	return x, rank, true
}

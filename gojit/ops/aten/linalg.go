package aten

import (
	"math"
	"math/cmplx"
	"slices"
	"strconv"

	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
)

// squareBatch returns a batch of square matrices as complex numbers, which hold real ones exactly,
// with their size and count.
func squareBatch(name string, a *tensor.Tensor) (data []complex128, n, count int) {
	check(a.Dim() >= 2, "%s: The input tensor A must have at least 2 dimensions.", name)
	n = a.Size(a.Dim() - 1)
	check(a.Size(a.Dim()-2) == n, "%s: A must be batches of square matrices, but they are %d by %d matrices", name, a.Size(a.Dim()-2), n)
	check(a.DType().IsFloating() || a.DType().IsComplex(), "%s: Expected a floating point or complex tensor as input. Got %s", name, a.DType().CppName())
	check(a.DType() != tensor.Float16 && a.DType() != tensor.BFloat16, "%s: Low precision dtypes not supported. Got %s", name, a.DType().CppName())
	wide := must(to(a, tensor.Complex128).Clone(tensor.ContiguousFormat))
	return tensor.Data[complex128](wide), n, numelOf(a.Shape()[:a.Dim()-2])
}

// factorize does the LU factorization of a in place with partial pivoting. It gives the order of
// rows, the sign of it, and the first column without a pivot, -1 where there is none.
func factorize(a []complex128, n int) (order []int, sign float64, singular int) {
	order, sign, singular = make([]int, n), 1, -1
	for i := range order {
		order[i] = i
	}
	for k := range n {
		best := k
		for i := k + 1; i < n; i++ {
			if cmplx.Abs(a[i*n+k]) > cmplx.Abs(a[best*n+k]) {
				best = i
			}
		}
		if a[best*n+k] == 0 {
			if singular < 0 {
				singular = k
			}
			continue
		}
		if best != k {
			for j := range n {
				a[k*n+j], a[best*n+j] = a[best*n+j], a[k*n+j]
			}
			order[k], order[best] = order[best], order[k]
			sign = -sign
		}
		for i := k + 1; i < n; i++ {
			f := a[i*n+k] / a[k*n+k]
			a[i*n+k] = f
			for j := k + 1; j < n; j++ {
				a[i*n+j] -= f * a[k*n+j]
			}
		}
	}
	return order, sign, singular
}

// substitute solves with a factorized matrix: b, n by columns in the row order, becomes the solution.
func substitute(lu []complex128, n int, b []complex128, columns int) {
	for i := range n {
		for k := range i {
			f := lu[i*n+k]
			for j := range columns {
				b[i*columns+j] -= f * b[k*columns+j]
			}
		}
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			f := lu[i*n+k]
			for j := range columns {
				b[i*columns+j] -= f * b[k*columns+j]
			}
		}
		for j := range columns {
			b[i*columns+j] /= lu[i*n+i]
		}
	}
}

// determinants gives for each matrix the product of the pivots as sign and logarithm of the modulus.
func determinants(name string, a *tensor.Tensor) (signs []complex128, logs []float64) {
	data, n, count := squareBatch(name, a)
	for m := range count {
		matrix := data[m*n*n : (m+1)*n*n]
		_, s, singular := factorize(matrix, n)
		sign, log := complex(s, 0), 0.0
		for k := range n {
			if singular >= 0 {
				sign, log = 0, math.Inf(-1)
				break
			}
			p := matrix[k*n+k]
			sign *= p / complex(cmplx.Abs(p), 0)
			log += math.Log(cmplx.Abs(p))
		}
		signs, logs = append(signs, sign), append(logs, log)
	}
	return signs, logs
}

func determinant(name string, a *tensor.Tensor) *tensor.Tensor {
	data, n, count := squareBatch(name, a)
	out := make([]complex128, count)
	for m := range out {
		matrix := data[m*n*n : (m+1)*n*n]
		_, s, _ := factorize(matrix, n)
		out[m] = complex(s, 0)
		for k := range n {
			out[m] *= matrix[k*n+k]
		}
	}
	return to(must(tensor.FromSlice(out, a.Shape()[:a.Dim()-2]...)), a.DType())
}

func signLogDet(c call) {
	a := c.tensor(0)
	signs, logs := determinants("linalg.slogdet", a)
	shape := a.Shape()[:a.Dim()-2]
	c.give(to(must(tensor.FromSlice(signs, shape...)), a.DType()), to(must(tensor.FromSlice(logs, shape...)), a.DType().ToReal()))
}

// atLeastMatrices fails on tensors with fewer than two dimensions.
func atLeastMatrices(name string, ts ...*tensor.Tensor) {
	for _, t := range ts {
		check(t.Dim() >= 2, "%s: The input tensor must have at least 2 dimensions.", name)
	}
}

// solveBatch solves a x = b for batches of matrices b, n by columns each.
func solveBatch(name string, a, b *tensor.Tensor) *tensor.Tensor {
	atLeastMatrices(name, a, b)
	lead := must(tensor.Broadcast(a.Shape()[:a.Dim()-2], b.Shape()[:b.Dim()-2]))
	n, columns := a.Size(a.Dim()-1), b.Size(b.Dim()-1)
	check(b.Size(b.Dim()-2) == n, "%s: Incompatible shapes of A and B for the equation AX = B (%dx%d and %dx%d)", name, a.Size(a.Dim()-2), n, b.Size(b.Dim()-2), columns)
	a = must(a.Expand(append(slices.Clone(lead), n, n)...))
	data, _, count := squareBatch(name, a)
	right := must(must(to(b, tensor.Complex128).Expand(append(slices.Clone(lead), n, columns)...)).Clone(tensor.ContiguousFormat))
	rhs := tensor.Data[complex128](right)
	for m := range count {
		matrix := data[m*n*n : (m+1)*n*n]
		order, _, singular := factorize(matrix, n)
		if singular >= 0 {
			batch := ""
			if a.Dim() > 2 {
				batch = "(Batch element " + strconv.Itoa(m) + "): "
			}
			text := "The solver failed because the input matrix is singular."
			if name == "linalg.inv" {
				text = "The diagonal element " + strconv.Itoa(singular+1) + " is zero, the inversion could not be completed because the input matrix is singular."
			}
			if name == "linalg.solve" {
				name = "torch." + name
			}
			raise(linalgError, "%s: %s%s", name, batch, text)
		}
		block := rhs[m*n*columns : (m+1)*n*columns]
		permuted := make([]complex128, len(block))
		for i, r := range order {
			copy(permuted[i*columns:(i+1)*columns], block[r*columns:(r+1)*columns])
		}
		substitute(matrix, n, permuted, columns)
		copy(block, permuted)
	}
	return to(right, tensor.Promote(a.DType(), b.DType()))
}

// linalgError is what failures of a decomposition raise.
const linalgError source.Class = "_LinAlgError"

func inverse(a *tensor.Tensor) *tensor.Tensor {
	_, n, _ := squareBatch("linalg.inv", a)
	identity := eye(n, n, makeLike{dtype: a.DType()})
	return solveBatch("linalg.inv", a, identity)
}

// solve handles vectors: b is one where it has one dimension or the shape of a batch of them.
func solve(a, b *tensor.Tensor, left bool) *tensor.Tensor {
	atLeastMatrices("linalg.solve", a)
	vector := b.Dim() == 1 || b.Dim() == a.Dim()-1 && tensor.SameShape(b.Shape(), a.Shape()[:a.Dim()-1])
	if vector {
		check(left, "linalg.solve: Vector broadcasting of the right hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)")
		return must(solveBatch("linalg.solve", a, must(b.Unsqueeze(-1))).SqueezeDim(-1))
	}
	if !left {
		return must(solveBatch("linalg.solve", must(a.MatrixTranspose()), must(b.MatrixTranspose())).MatrixTranspose())
	}
	return solveBatch("linalg.solve", a, b)
}

// cholesky gives the lower triangular factor of each positive definite matrix.
func cholesky(name string, a *tensor.Tensor, upper bool) *tensor.Tensor {
	data, n, count := squareBatch(name, a)
	for m := range count {
		x := data[m*n*n : (m+1)*n*n]
		if upper { // only that triangle is read
			for i := range n {
				for j := range i {
					x[i*n+j] = cmplx.Conj(x[j*n+i])
				}
			}
		}
		for j := range n {
			d := real(x[j*n+j])
			for k := range j {
				d -= real(x[j*n+k] * cmplx.Conj(x[j*n+k]))
			}
			if !(d > 0) {
				raise(linalgError, "%s: The factorization could not be completed because the input is not positive-definite (the leading minor of order %d is not positive-definite).", name, j+1)
			}
			root := math.Sqrt(d)
			x[j*n+j] = complex(root, 0)
			for i := j + 1; i < n; i++ {
				s := x[i*n+j]
				for k := range j {
					s -= x[i*n+k] * cmplx.Conj(x[j*n+k])
				}
				x[i*n+j] = s / complex(root, 0)
			}
			for i := range j {
				x[i*n+j] = 0
			}
		}
	}
	out := to(must(tensor.FromSlice(data, a.Shape()...)), a.DType())
	if upper {
		return contiguous(conjugate(must(out.MatrixTranspose())))
	}
	return out
}

// solveTriangular solves with triangular matrices, of which only that triangle is read.
func solveTriangular(a, b *tensor.Tensor, upper, left, unit bool) *tensor.Tensor {
	if !left {
		return must(solveTriangular(must(a.MatrixTranspose()), must(b.MatrixTranspose()), !upper, true, unit).MatrixTranspose())
	}
	atLeastMatrices("linalg.solve_triangular", a, b)
	lead := must(tensor.Broadcast(a.Shape()[:a.Dim()-2], b.Shape()[:b.Dim()-2]))
	n, columns := a.Size(a.Dim()-1), b.Size(b.Dim()-1)
	check(b.Size(b.Dim()-2) == n, "linalg.solve_triangular: Incompatible shapes of A and B for the equation AX = B (%dx%d and %dx%d)", a.Size(a.Dim()-2), n, b.Size(b.Dim()-2), columns)
	data, _, count := squareBatch("linalg.solve_triangular", must(a.Expand(append(slices.Clone(lead), n, n)...)))
	right := must(must(to(b, tensor.Complex128).Expand(append(slices.Clone(lead), n, columns)...)).Clone(tensor.ContiguousFormat))
	rhs := tensor.Data[complex128](right)
	for m := range count {
		substituteTriangle(data[m*n*n:(m+1)*n*n], n, rhs[m*n*columns:(m+1)*n*columns], columns, upper, unit)
	}
	return to(right, tensor.Promote(a.DType(), b.DType()))
}

func substituteTriangle(a []complex128, n int, b []complex128, columns int, upper, unit bool) {
	for step := range n {
		i, from, to := step, 0, step
		if upper {
			i = n - 1 - step
			from, to = i+1, n
		}
		for j := range columns {
			s := b[i*columns+j]
			for k := from; k < to; k++ {
				s -= a[i*n+k] * b[k*columns+j]
			}
			if !unit {
				s /= a[i*n+i]
			}
			b[i*columns+j] = s
		}
	}
}

// matrixPower multiplies a matrix with itself.
func matrixPower(a *tensor.Tensor, n int) *tensor.Tensor {
	check(a.Dim() >= 2 && a.Size(a.Dim()-1) == a.Size(a.Dim()-2), "linalg.matrix_power: A must be batches of square matrices, but they are %s", shapeText(a.Shape()))
	if n < 0 {
		a, n = inverse(a), -n
	}
	size := a.Size(a.Dim() - 1)
	result := must(eye(size, size, makeLike{dtype: a.DType()}).Expand(a.Shape()...))
	for ; n > 0; n >>= 1 {
		if n&1 != 0 {
			result = matmul(result, a)
		}
		a = matmul(a, a)
	}
	return must(result.Clone(tensor.ContiguousFormat))
}

// matrixNorm gives a norm of each matrix in two dimensions.
func matrixNorm(a *tensor.Tensor, ord string, p float64, dims []int, keepdim bool, d tensor.DType) *tensor.Tensor {
	check(len(dims) == 2, "linalg.matrix_norm: dim must be a 2-tuple. Got %s", shapeText(dims))
	a = to(a, d)
	rows, columns := wrapDim(dims[0], a), wrapDim(dims[1], a)
	if ord == "fro" {
		return vectorNorm(a, 2, dims, keepdim, d)
	}
	magnitude := math.Abs(p)
	if ord == "" && (magnitude == 1 || math.IsInf(magnitude, 0)) {
		summed, best := rows, columns
		if math.IsInf(magnitude, 0) {
			summed, best = columns, rows
		}
		totals := vectorNorm(a, 1, []int{summed}, true, d)
		out := extreme("amax", totals, []int{best}, true, p < 0)
		if !keepdim {
			out = must(must(out.SqueezeDim(max(rows, columns))).SqueezeDim(min(rows, columns)))
		}
		return out
	}
	check(ord == "nuc" || magnitude == 2, "linalg.matrix_norm: Order %v not supported.", p)
	moved := must(a.MoveDims([]int{rows, columns}, []int{-2, -1}))
	singular := singularValues(moved)
	var out *tensor.Tensor
	if ord == "nuc" {
		out = sum(singular, []int{-1}, false, singular.DType())
	} else {
		out = extreme("amax", singular, []int{-1}, false, p < 0)
	}
	if keepdim {
		out = must(must(out.Unsqueeze(min(rows, columns))).Unsqueeze(max(rows, columns)))
	}
	return out
}

// linalgNorm chooses between vector and matrix norms.
func linalgNorm(c call, ord string, p *float64) *tensor.Tensor {
	a, dims, keepdim := c.tensor(0), c.ints(2), c.bool(3)
	d := c.dtypeOr(4, a.DType())
	if ord == "" && p == nil {
		return vectorNorm(a, 2, dims, keepdim, d)
	}
	matrix := len(dims) == 2 || len(dims) == 0 && a.Dim() == 2
	check(ord == "" || matrix, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got %dD.", a.Dim())
	if !matrix {
		check(len(dims) > 0 || a.Dim() == 1, "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got %dD.", a.Dim())
		return vectorNorm(a, *p, dims, keepdim, d)
	}
	if len(dims) == 0 {
		dims = []int{0, 1}
	}
	if p == nil {
		return matrixNorm(a, ord, 0, dims, keepdim, d)
	}
	return matrixNorm(a, "", *p, dims, keepdim, d)
}

var linalgFamily = []definition{
	giving("linalg_inv", func(c call) *tensor.Tensor { return inverse(c.tensor(0)) }),
	giving("inverse", func(c call) *tensor.Tensor { return inverse(c.tensor(0)) }),
	giving("linalg_det", func(c call) *tensor.Tensor { return determinant("linalg.det", c.tensor(0)) }),
	giving("det", func(c call) *tensor.Tensor { return determinant("linalg.det", c.tensor(0)) }),
	giving("logdet", func(c call) *tensor.Tensor { return logarithm.on(determinant("logdet", c.tensor(0))) }),
	define("slogdet", signLogDet),
	define("linalg_slogdet", signLogDet),
	giving("linalg_solve", func(c call) *tensor.Tensor { return solve(c.tensor(0), c.tensor(1), c.bool(2)) }),
	giving("linalg_cholesky", func(c call) *tensor.Tensor { return cholesky("linalg.cholesky", c.tensor(0), c.bool(1)) }),
	giving("cholesky", func(c call) *tensor.Tensor { return cholesky("cholesky", c.tensor(0), c.bool(1)) }),
	giving("linalg_solve_triangular", func(c call) *tensor.Tensor {
		return solveTriangular(c.tensor(0), c.tensor(1), c.bool(2), c.bool(3), c.bool(4))
	}),
	define("triangular_solve", func(c call) {
		b, a, upper := c.tensor(0), c.tensor(1), c.bool(2)
		if c.bool(3) {
			a, upper = must(a.MatrixTranspose()), !upper
		}
		c.give(solveTriangular(a, b, upper, true, c.bool(4)), must(c.tensor(1).Clone(tensor.ContiguousFormat)))
	}),
	giving("linalg_matrix_power", func(c call) *tensor.Tensor { return matrixPower(c.tensor(0), c.int(1)) }),
	giving("matrix_power", func(c call) *tensor.Tensor { return matrixPower(c.tensor(0), c.int(1)) }),
	giving("linalg_norm", func(c call) *tensor.Tensor {
		if c.isNone(1) {
			return linalgNorm(c, "", nil)
		}
		p := c.scalar(1).Float64()
		return linalgNorm(c, "", &p)
	}),
	giving("linalg_norm.ord_str", func(c call) *tensor.Tensor { return linalgNorm(c, c.str(1), nil) }),
	giving("linalg_matrix_norm", func(c call) *tensor.Tensor {
		return matrixNorm(c.tensor(0), "", c.scalar(1).Float64(), c.ints(2), c.bool(3), c.dtypeOr(4, c.tensor(0).DType()))
	}),
	giving("linalg_matrix_norm.str_ord", func(c call) *tensor.Tensor {
		return matrixNorm(c.tensor(0), c.str(1), 0, c.ints(2), c.bool(3), c.dtypeOr(4, c.tensor(0).DType()))
	}),
	giving("nuclear_norm", func(c call) *tensor.Tensor {
		return matrixNorm(c.tensor(0), "nuc", 0, []int{0, 1}, c.bool(1), c.tensor(0).DType())
	}),
	giving("nuclear_norm.dim", func(c call) *tensor.Tensor {
		return matrixNorm(c.tensor(0), "nuc", 0, c.ints(1), c.bool(2), c.tensor(0).DType())
	}),
	define("linalg_svd", func(c call) {
		u, s, vh := svd(c.tensor(0), c.bool(1))
		c.give(u, s, vh)
	}),
	define("svd", func(c call) {
		u, s, vh := svd(c.tensor(0), !c.bool(1))
		c.give(u, s, contiguous(must(vh.MatrixTranspose())))
	}),
	giving("linalg_svdvals", func(c call) *tensor.Tensor { return singularValues(c.tensor(0)) }),
	define("linalg_eigh", func(c call) { c.give(pair(eigenSymmetric(c.tensor(0), c.str(1) == "U"))...) }),
	giving("linalg_eigvalsh", func(c call) *tensor.Tensor {
		values, _ := eigenSymmetric(c.tensor(0), c.str(1) == "U")
		return values
	}),
	define("linalg_qr", func(c call) { c.give(pair(qr(c.tensor(0), c.str(1) == "complete"))...) }),
	define("qr", func(c call) { c.give(pair(qr(c.tensor(0), !c.bool(1)))...) }),
	giving("linalg_pinv", func(c call) *tensor.Tensor { return pseudoInverse(c.tensor(0), c.float(1)) }),
	giving("linalg_pinv.atol_rtol_float", func(c call) *tensor.Tensor {
		a := c.tensor(0)
		rtol := c.floatOr(2, defaultRank(a))
		if c.isNone(2) && !c.isNone(1) {
			rtol = 0
		}
		return pseudoInverseAbove(a, c.floatOr(1, 0), rtol)
	}),
	giving("pinverse", func(c call) *tensor.Tensor { return pseudoInverse(c.tensor(0), c.float(1)) }),
}

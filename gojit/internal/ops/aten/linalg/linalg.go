package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"

	"github.com/torchjit/torchjit/gojit/tensor"
)

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
	giving("linalg_inv", func(c call) *tensor.Tensor { return inverse(c.tensor(0)) }).with(ops.Def{Aliases: []string{"inverse"}, Grad: concrete(func(c gradient) {
		y := c.turn(c.out(0))
		c.give(0, c.neg(c.matmul(y, c.matmul(c.g(), y))))
	})}).byColumns(0),
	giving("inverse", func(c call) *tensor.Tensor { return inverse(c.tensor(0)) }).byColumns(0),
	giving("linalg_det", func(c call) *tensor.Tensor { return determinant("linalg.det", c.tensor(0)) }).with(ops.Def{Aliases: []string{"det"}, Grad: concrete(func(c gradient) {
		scaled := c.mul(c.g(), c.out(0))
		c.give(0, c.mul(c.turn(c.do("linalg_inv", c.in(0))), c.asMatrix(scaled)))
	})}),
	giving("det", func(c call) *tensor.Tensor { return determinant("linalg.det", c.tensor(0)) }),
	giving("logdet", func(c call) *tensor.Tensor { return logarithm.on(determinant("logdet", c.tensor(0))) }),
	define("slogdet", signLogDet),
	define("linalg_slogdet", signLogDet).with(ops.Def{Grad: concrete(slogdetGrad), Tags: ops.AsWritten}),
	giving("linalg_solve", func(c call) *tensor.Tensor { return solve(c.tensor(0), c.tensor(1), c.bool(2)) }).with(ops.Def{Grad: concrete(solveGrad)}).byColumns(0),
	giving("linalg_cholesky", func(c call) *tensor.Tensor { return cholesky("linalg.cholesky", c.tensor(0), c.bool(1)) }).with(ops.Def{Grad: concrete(choleskyGrad), Tags: ops.AsWritten}).byColumns(0),
	deprecated(choleskyDeprecated, giving("cholesky", func(c call) *tensor.Tensor { return cholesky("cholesky", c.tensor(0), c.bool(1)) }).with(ops.Def{Decomp: emitting("linalg_cholesky")}).byColumns(0)),
	giving("linalg_solve_triangular", func(c call) *tensor.Tensor {
		return solveTriangular(c.tensor(0), c.tensor(1), c.bool(2), c.bool(3), c.bool(4))
	}).byColumns(0),
	deprecated(triangularDeprecated, define("triangular_solve", func(c call) {
		b, a, upper := c.tensor(0), c.tensor(1), c.bool(2)
		if c.bool(3) {
			a, upper = must(a.MatrixTranspose()), !upper
		}
		c.give(solveTriangular(a, b, upper, true, c.bool(4)), must(c.tensor(1).Clone(tensor.ContiguousFormat)))
	}).byColumns(0, 1)),
	giving("linalg_matrix_power", func(c call) *tensor.Tensor { return matrixPower(c.tensor(0), c.int(1)) }).with(ops.Def{Aliases: []string{"matrix_power"}}),
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
	}).with(ops.Def{Grad: concrete(svdGrad), Tags: ops.AsWritten}).byColumns(0, 2),
	define("svd", func(c call) {
		a := c.tensor(0)
		u, s, v := singular(a, !c.bool(1), c.bool(2))
		if !c.bool(2) {
			rows, columns := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
			u, v = zeros(lead(a, rows, rows), a.DType()), zeros(lead(a, columns, columns), a.DType())
		}
		c.give(u, s, v)
	}).byColumns(0),
	giving("linalg_svdvals", func(c call) *tensor.Tensor { return singularValues(c.tensor(0)) }),
	define("linalg_eigh", func(c call) { c.give(pair(eigenSymmetric("linalg.eigh", c.tensor(0), c.str(1) == "U", true))...) }).with(ops.Def{Grad: concrete(eighGrad), Tags: ops.AsWritten}).byColumns(1),
	giving("linalg_eigvalsh", func(c call) *tensor.Tensor {
		values, _ := eigenSymmetric("linalg.eigh", c.tensor(0), c.str(1) == "U", false)
		return values
	}),
	define("linalg_qr", func(c call) { c.give(pair(qr(c.tensor(0), c.str(1)))...) }).with(ops.Def{Grad: concrete(qrGrad), Tags: ops.AsWritten}).byColumns(0, 1),
	deprecated(qrDeprecated, define("qr", func(c call) {
		mode := "complete"
		if c.bool(1) {
			mode = "reduced"
		}
		c.give(pair(qr(c.tensor(0), mode))...)
	}).byColumns(0, 1)),
	giving("linalg_pinv", func(c call) *tensor.Tensor {
		return pseudoInverse(c.tensor(0), numberTensor(0), numberTensor(c.float(1)), c.bool(2))
	}).with(ops.Def{Grad: concrete(pinvGrad), Tags: ops.AsWritten}),
	giving("linalg_pinv.rcond_tensor", func(c call) *tensor.Tensor {
		return pseudoInverse(c.tensor(0), numberTensor(0), c.tensor(1), c.bool(2))
	}),
	giving("linalg_pinv.atol_rtol_float", func(c call) *tensor.Tensor {
		a := c.tensor(0)
		rtol := c.floatOr(2, defaultRank(a))
		if c.isNone(2) && !c.isNone(1) {
			rtol = 0
		}
		return pseudoInverse(a, numberTensor(c.floatOr(1, 0)), numberTensor(rtol), c.bool(3))
	}).with(ops.Def{Grad: concrete(pinvGrad), Tags: ops.AsWritten}),
	giving("linalg_pinv.atol_rtol_tensor", func(c call) *tensor.Tensor {
		a, atol, rtol := c.tensor(0), c.optionalTensor(1), c.optionalTensor(2)
		if rtol == nil {
			rtol = numberTensor(defaultRank(a))
			if atol != nil { // where it says something
				rtol = choose(gt.withNumber(atol, 0), ofScalar(tensor.Float(0)), ofTensor(rtol))
			}
		}
		if atol == nil {
			atol = numberTensor(0)
		}
		return pseudoInverse(a, atol, rtol, c.bool(3))
	}).with(ops.Def{Grad: concrete(pinvGrad), Tags: ops.AsWritten}),
	giving("pinverse", func(c call) *tensor.Tensor {
		return pseudoInverse(c.tensor(0), numberTensor(0), numberTensor(c.float(1)), false)
	}),
}

// What is said of operators that have others in their place.
const (
	choleskyDeprecated = "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.\n" +
		"L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\nshould be replaced with\n" +
		"U = torch.linalg.cholesky(A).mH().\nThis transform will produce equivalent results for all valid (symmetric positive definite) inputs."
	qrDeprecated = "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\n" +
		"The boolean parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced with\n" +
		"Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')"
	triangularDeprecated = "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a future PyTorch release.\n" +
		"torch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\nX = torch.triangular_solve(B, A).solution\n" +
		"should be replaced with\nX = torch.linalg.solve_triangular(A, B)."
	luDeprecated = "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a future PyTorch release.\n" +
		"LU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n" +
		"LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\nLU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
)

// numberTensor is a number as a tensor without dimensions.
func numberTensor(v float64) *tensor.Tensor {
	return must(tensor.Full(nil, tensor.Float(v), tensor.Float64))
}

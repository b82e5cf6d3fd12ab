// Package linalg has products of matrices, their decompositions, solutions of equations and Fourier transforms, over packages dense, lapack and fft.
package linalg

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func signLogDet(c define.Call) {
	a := c.Tensor(0)
	signs, logs := determinants("linalg.slogdet", a)
	shape := a.Shape()[:a.Dim()-2]
	c.Give(elementwise.To(source.Must(tensor.FromSlice(signs, shape...)), a.DType()), elementwise.To(source.Must(tensor.FromSlice(logs, shape...)), a.DType().ToReal()))
}

// atLeastMatrices fails on tensors with fewer than two dimensions.
func atLeastMatrices(name string, ts ...*tensor.Tensor) {
	for _, t := range ts {
		source.Check(t.Dim() >= 2, "%s: The input tensor must have at least 2 dimensions.", name)
	}
}

// matrixPower multiplies a matrix with itself.
func matrixPower(a *tensor.Tensor, n int) *tensor.Tensor {
	rest := uint(n)
	switch {
	case n == 0:
		size := a.Size(a.Dim() - 1)
		identity := define.ZerosBeside(a, []int{size, size}, a.DType())
		tensor.Fill(source.Must(identity.Diagonal(0, 0, 1)), tensor.Int(1))
		return source.Must(source.Must(identity.Expand(a.Shape()...)).Clone(tensor.ContiguousFormat))
	case n < 0:
		a, rest = define.Apply("linalg_inv", a), -rest
	}
	var result *tensor.Tensor
	for {
		if rest&1 != 0 {
			if result == nil {
				result = source.Must(a.Clone(tensor.ContiguousFormat))
			} else {
				result = Matmul(result, a)
			}
		}
		if rest >>= 1; rest == 0 {
			return result
		}
		a = Matmul(a, a)
	}
}

// checkMatrixPower asks for square matrices, for inverses of a type that these are computed in.
func checkMatrixPower(c define.Call) {
	a, name := c.Tensor(0), "linalg.matrix_power"
	if c.Int(1) < 0 {
		squareMatrices("linalg.inv", a)
	}
	source.Check(a.Dim() >= 2, "%s: The input tensor A must have at least 2 dimensions.", name)
	rows, columns := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
	source.Check(rows == columns, "%s: A must be batches of square matrices, but they are %d by %d matrices", name, rows, columns)
}

// matrixNorm gives a norm of each matrix in two dimensions.
func matrixNorm(a *tensor.Tensor, ord string, p float64, dims []int, keepdim bool, d tensor.DType) *tensor.Tensor {
	a = elementwise.To(a, d)
	rows, columns := define.WrapDim(dims[0], a), define.WrapDim(dims[1], a)
	if ord == "fro" {
		return reduce.VectorNorm(a, 2, dims, keepdim, d)
	}
	magnitude := math.Abs(p)
	if ord == "" && (magnitude == 1 || math.IsInf(magnitude, 0)) {
		summed, best := rows, columns
		if math.IsInf(magnitude, 0) {
			summed, best = columns, rows
		}
		totals := reduce.VectorNorm(a, 1, []int{summed}, true, d)
		out := reduce.Extreme("amax", totals, []int{best}, true, p < 0)
		if !keepdim {
			out = source.Must(source.Must(out.SqueezeDim(max(rows, columns))).SqueezeDim(min(rows, columns)))
		}
		return out
	}
	moved := source.Must(a.MoveDims([]int{rows, columns}, []int{-2, -1}))
	singular := singularValues(moved)
	var out *tensor.Tensor
	if ord == "nuc" {
		out = reduce.Sum(singular, []int{-1}, false, singular.DType())
	} else {
		out = reduce.Extreme("amax", singular, []int{-1}, false, p < 0)
	}
	if keepdim {
		out = source.Must(source.Must(out.Unsqueeze(min(rows, columns))).Unsqueeze(max(rows, columns)))
	}
	return out
}

// checkMatrixNorm fails for dimensions and orders of norms that matrices have none of.
func checkMatrixNorm(a *tensor.Tensor, ord string, p float64, dims []int) {
	source.Check(a.Dim() >= 2, "linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
	source.Check(len(dims) == 2, "linalg.matrix_norm: dim must be a 2-tuple. Got %s", define.ShapeText(dims))
	define.WrapDim(dims[0], a)
	define.WrapDim(dims[1], a)
	if ord != "" {
		source.Check(ord == "fro" || ord == "nuc", "linalg.matrix_norm: Order %s not supported.", ord)
		return
	}
	magnitude := math.Abs(p)
	source.Check(magnitude == 1 || magnitude == 2 || math.IsInf(magnitude, 0), "linalg.matrix_norm: Order %v not supported.", p)
}

// checkNormType looks at the type that a norm is asked for in, the fourth argument.
func checkNormType(c define.Call) {
	if !c.IsNone(4) {
		reduce.CheckNormType("linalg.matrix_norm", c.Tensor(0), c.DtypeOr(4, tensor.Float32))
	}
}

// checkNorm fails where linalgNorm would.
func checkNorm(c define.Call, ord string, p *float64) {
	a, dims := c.Tensor(0), c.Ints(2)
	checkNormType(c)
	if ord == "" && p == nil {
		return
	}
	source.Check(c.IsNone(2) || len(dims) == 1 || len(dims) == 2, "linalg.norm: If dim is specified, it must be of length 1 or 2. Got %s", define.ShapeText(dims))
	matrix := len(dims) == 2 || len(dims) == 0 && (a.Dim() == 2 || ord != "" && a.Dim() < 2)
	source.Check(matrix || ord == "" && (len(dims) > 0 || a.Dim() == 1), "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got %dD.", a.Dim())
	if !matrix {
		return
	}
	if len(dims) == 0 {
		dims = []int{0, 1}
	}
	order := 0.0
	if p != nil {
		order = *p
	}
	checkMatrixNorm(a, ord, order, dims)
}

// orderOf is an order of a norm that is a number, nil for None.
func orderOf(c define.Call) *float64 {
	if c.IsNone(1) {
		return nil
	}
	p := c.Scalar(1).Float64()
	return &p
}

// linalgNorm chooses between vector and matrix norms.
func linalgNorm(c define.Call, ord string, p *float64) *tensor.Tensor {
	a, dims, keepdim := c.Tensor(0), c.Ints(2), c.Bool(3)
	d := c.DtypeOr(4, a.DType())
	if ord == "" && p == nil {
		return reduce.VectorNorm(a, 2, dims, keepdim, d)
	}
	matrix := len(dims) == 2 || len(dims) == 0 && a.Dim() == 2
	if !matrix {
		return reduce.VectorNorm(a, *p, dims, keepdim, d)
	}
	if len(dims) == 0 {
		dims = []int{0, 1}
	}
	if p == nil {
		return matrixNorm(a, ord, 0, dims, keepdim, d)
	}
	return matrixNorm(a, "", *p, dims, keepdim, d)
}

var LinalgFamily = []define.Definition{
	define.Giving("linalg_inv", func(c define.Call) *tensor.Tensor { return inverse(c.Tensor(0)) }).With(ops.Def{Aliases: []string{"inverse"}, Grad: define.Concrete(func(c define.Gradient) {
		y := c.Turn(c.Out(0))
		c.Give(0, c.Neg(c.Matmul(y, c.Matmul(c.G(), y))))
	})}).ByColumns(0),
	define.Giving("linalg_det", func(c define.Call) *tensor.Tensor { return determinant("linalg.det", c.Tensor(0)) }).With(ops.Def{Aliases: []string{"det"}, Grad: define.Concrete(func(c define.Gradient) {
		scaled := c.Mul(c.G(), c.Out(0))
		whole := c.Mul(c.Turn(c.Do("linalg_inv_ex", c.In(0), false)), asMatrix(c, scaled))
		c.Give(0, c.Do("masked_fill.Scalar", whole, asMatrix(c, c.Do("eq.Scalar", c.Out(0), 0)), 0.0)) // PyTorch's of a singular matrix
	})}),
	define.Giving("logdet", func(c define.Call) *tensor.Tensor {
		return elementwise.Logarithm.On(determinant("logdet", c.Tensor(0)))
	}),
	define.Operator("slogdet", signLogDet),
	define.Operator("linalg_slogdet", signLogDet).With(ops.Def{Grad: define.Concrete(slogdetGrad), Tags: ops.AsWritten}),
	define.Giving("linalg_solve", func(c define.Call) *tensor.Tensor { return solve(c.Tensor(0), c.Tensor(1), c.Bool(2)) }).With(ops.Def{Grad: define.Concrete(solveGrad)}).ByColumns(0),
	define.Giving("linalg_cholesky", func(c define.Call) *tensor.Tensor { return cholesky("linalg.cholesky", c.Tensor(0), c.Bool(1)) }).With(ops.Def{Grad: define.Concrete(choleskyGrad), Tags: ops.AsWritten}).ByColumns(0),
	define.Deprecated(choleskyDeprecated, define.Giving("cholesky", func(c define.Call) *tensor.Tensor { return cholesky("cholesky", c.Tensor(0), c.Bool(1)) }).With(ops.Def{Decomp: define.Emitting("linalg_cholesky")}).ByColumns(0)),
	define.Giving("linalg_solve_triangular", func(c define.Call) *tensor.Tensor {
		return solveTriangular(c.Tensor(0), c.Tensor(1), c.Bool(2), c.Bool(3), c.Bool(4))
	}).ByColumns(0),
	define.Deprecated(triangularDeprecated, define.Operator("triangular_solve", func(c define.Call) {
		b, a, upper := c.Tensor(0), c.Tensor(1), c.Bool(2)
		if c.Bool(3) {
			a, upper = source.Must(a.MatrixTranspose()), !upper
		}
		c.Give(solveTriangular(a, b, upper, true, c.Bool(4)), source.Must(c.Tensor(1).Clone(tensor.ContiguousFormat)))
	}).ByColumns(0, 1)),
	define.Giving("linalg_matrix_power", func(c define.Call) *tensor.Tensor { return matrixPower(c.Tensor(0), c.Int(1)) }).With(ops.Def{Aliases: []string{"matrix_power"}}).
		Checked(checkMatrixPower),
	define.Giving("linalg_norm", func(c define.Call) *tensor.Tensor { return linalgNorm(c, "", orderOf(c)) }).
		Checked(func(c define.Call) { checkNorm(c, "", orderOf(c)) }),
	define.Giving("linalg_norm.ord_str", func(c define.Call) *tensor.Tensor { return linalgNorm(c, c.Str(1), nil) }).
		Checked(func(c define.Call) { checkNorm(c, c.Str(1), nil) }),
	define.Giving("linalg_matrix_norm", func(c define.Call) *tensor.Tensor {
		return matrixNorm(c.Tensor(0), "", c.Scalar(1).Float64(), c.Ints(2), c.Bool(3), c.DtypeOr(4, c.Tensor(0).DType()))
	}).Checked(func(c define.Call) {
		checkMatrixNorm(c.Tensor(0), "", c.Scalar(1).Float64(), c.Ints(2))
		checkNormType(c)
	}),
	define.Giving("linalg_matrix_norm.str_ord", func(c define.Call) *tensor.Tensor {
		return matrixNorm(c.Tensor(0), c.Str(1), 0, c.Ints(2), c.Bool(3), c.DtypeOr(4, c.Tensor(0).DType()))
	}).Checked(func(c define.Call) {
		checkMatrixNorm(c.Tensor(0), c.Str(1), 0, c.Ints(2))
		checkNormType(c)
	}),
	define.Giving("nuclear_norm", func(c define.Call) *tensor.Tensor {
		return matrixNorm(c.Tensor(0), "nuc", 0, []int{0, 1}, c.Bool(1), c.Tensor(0).DType())
	}).Checked(func(c define.Call) {
		source.Check(c.Tensor(0).Dim() == 2, "Expected a tensor with 2 dimensions, but got a tensor with %d dimensions instead.", c.Tensor(0).Dim())
	}),
	define.Giving("nuclear_norm.dim", func(c define.Call) *tensor.Tensor {
		return matrixNorm(c.Tensor(0), "nuc", 0, c.Ints(1), c.Bool(2), c.Tensor(0).DType())
	}).Checked(func(c define.Call) { checkMatrixNorm(c.Tensor(0), "nuc", 0, c.Ints(1)) }),
	define.Operator("linalg_svd", func(c define.Call) {
		checkDriver(c, 2)
		u, s, vh := svd(c.Tensor(0), c.Bool(1))
		c.Give(u, s, vh)
	}).With(ops.Def{Grad: define.Concrete(svdGrad), Tags: ops.AsWritten}).ByColumns(0, 2),
	define.Operator("svd", func(c define.Call) {
		a := c.Tensor(0)
		u, s, v := singular(a, !c.Bool(1), c.Bool(2))
		if !c.Bool(2) {
			rows, columns := a.Size(a.Dim()-2), a.Size(a.Dim()-1)
			u, v = define.Zeros(lead(a, rows, rows), a.DType()), define.Zeros(lead(a, columns, columns), a.DType())
		}
		c.Give(u, s, v)
	}).ByColumns(0),
	define.Giving("linalg_svdvals", func(c define.Call) *tensor.Tensor {
		return singularValues(c.Tensor(0))
	}).Checked(func(c define.Call) { checkDriver(c, 1) }),
	define.Operator("linalg_eigh", func(c define.Call) {
		c.Give(define.Pair(eigenSymmetric("linalg.eigh", c.Tensor(0), isUpper(c), true))...)
	}).With(ops.Def{Grad: define.Concrete(eighGrad), Tags: ops.AsWritten}).ByColumns(1),
	define.Giving("linalg_eigvalsh", func(c define.Call) *tensor.Tensor {
		values, _ := eigenSymmetric("linalg.eigh", c.Tensor(0), isUpper(c), false)
		return values
	}),
	define.Operator("linalg_qr", func(c define.Call) { c.Give(define.Pair(qr(c.Tensor(0), c.Str(1)))...) }).With(ops.Def{Grad: define.Concrete(qrGrad), Tags: ops.AsWritten}).ByColumns(0, 1),
	define.Deprecated(qrDeprecated, define.Operator("qr", func(c define.Call) {
		mode := "complete"
		if c.Bool(1) {
			mode = "reduced"
		}
		c.Give(define.Pair(qr(c.Tensor(0), mode))...)
	}).ByColumns(0, 1)),
	define.Giving("linalg_pinv", func(c define.Call) *tensor.Tensor {
		return pseudoInverse(c.Tensor(0), numberTensor(0), numberTensor(c.Float(1)), c.Bool(2))
	}).With(ops.Def{Grad: define.Concrete(pinvGrad), Tags: ops.AsWritten}),
	define.Giving("linalg_pinv.rcond_tensor", func(c define.Call) *tensor.Tensor {
		return pseudoInverse(c.Tensor(0), numberTensor(0), c.Tensor(1), c.Bool(2))
	}),
	define.Giving("linalg_pinv.atol_rtol_float", func(c define.Call) *tensor.Tensor {
		a := c.Tensor(0)
		rtol := c.FloatOr(2, defaultRank(a))
		if c.IsNone(2) && !c.IsNone(1) {
			rtol = 0
		}
		return pseudoInverse(a, numberTensor(c.FloatOr(1, 0)), numberTensor(rtol), c.Bool(3))
	}).With(ops.Def{Grad: define.Concrete(pinvGrad), Tags: ops.AsWritten}),
	define.Giving("linalg_pinv.atol_rtol_tensor", func(c define.Call) *tensor.Tensor {
		a, atol, rtol := c.Tensor(0), c.OptionalTensor(1), c.OptionalTensor(2)
		if rtol == nil {
			rtol = numberTensor(defaultRank(a))
			if atol != nil { // where it says something
				rtol = elementwise.Choose(elementwise.Gt.WithNumber(atol, 0), elementwise.OfScalar(tensor.Float(0)), elementwise.OfTensor(rtol))
			}
		}
		if atol == nil {
			atol = numberTensor(0)
		}
		return pseudoInverse(a, atol, rtol, c.Bool(3))
	}).With(ops.Def{Grad: define.Concrete(pinvGrad), Tags: ops.AsWritten}),
	define.Giving("pinverse", func(c define.Call) *tensor.Tensor {
		return pseudoInverse(c.Tensor(0), numberTensor(0), numberTensor(c.Float(1)), false)
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
	return source.Must(tensor.Full(nil, tensor.Float(v), tensor.Float64))
}

// checkDriver fails where a driver of CUDA's is asked for.
func checkDriver(c define.Call, i int) {
	if !c.IsNone(i) {
		source.Raise(source.RuntimeError, "torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")
	}
}

// isUpper reports whether the second argument, UPLO, asks for the upper triangle.
func isUpper(c define.Call) bool {
	uplo := c.Str(1)
	if uplo != "L" && uplo != "l" && uplo != "U" && uplo != "u" {
		source.Raise(source.RuntimeError, "Expected UPLO argument to be 'L' or 'U', but got %s", uplo)
	}
	return uplo == "U" || uplo == "u"
}

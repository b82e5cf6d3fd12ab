package linalg

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// checkLUSolve refuses factors, exchanges and sides that do not fit, and returns the size of the matrices.
func checkLUSolve(packed, pivots, b *tensor.Tensor, left bool) (n int) {
	source.Check(packed.DType().IsFloating() || packed.DType().IsComplex(), "torch.linalg.lu_solve: Expected a floating point or complex tensor as input. Got %s", packed.DType().CppName())
	source.Check(packed.DType() == b.DType(), "linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type %s and B of type %s instead", packed.DType().CppName(), b.DType().CppName())
	source.Check(pivots.DType() == tensor.Int32, "linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
	n, _ = squareMatrices("linalg.lu_solve", packed)
	side := -1
	if left {
		side = -2
	}
	source.Check(b.Dim() >= 2 && b.Size(b.Dim()+side) == n, "linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B (%dx%d and %s)", n, n, define.ShapeText(b.Shape()))
	define.WrapDim(-1, pivots)
	source.Check(pivots.Size(pivots.Dim()-1) == n, "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
	source.Check(slices.Equal(pivots.Shape(), packed.Shape()[:packed.Dim()-1]), "linalg.lu_solve: Expected LU.shape[:-1] and pivots.shape to be the same, but got pivots with shape %s instead", define.ShapeText(pivots.Shape()))
	return n
}

// luSolve solves with packed factorizations and their row exchanges, which checkLUSolve has seen.
func luSolve(packed, pivots, b *tensor.Tensor) *tensor.Tensor {
	n := packed.Size(packed.Dim() - 1)
	lead := source.Must(tensor.Broadcast(packed.Shape()[:packed.Dim()-2], b.Shape()[:b.Dim()-2]))
	d := tensor.Promote(packed.DType(), b.DType())
	wide := func(t *tensor.Tensor, d tensor.DType, tail ...int) *tensor.Tensor {
		return elementwise.To(source.Must(t.Expand(append(slices.Clone(lead), tail...)...)), d)
	}
	f := &luFactors{packed: elementwise.Contiguous(wide(packed, d, n, n)), shape: lead, rows: n, columns: n, info: infos{here: make([]int32, define.NumelOf(lead))}}
	f.swaps = tensor.Data[int32](elementwise.Contiguous(wide(pivots, tensor.Int32, n)))
	for _, with := range f.swaps {
		source.Check(with >= 1 && int(with) <= n, "pivots must lie in [1, %d], but got %d", n, with)
	}
	out := writable(wide(b, d, n, b.Size(b.Dim()-1)), d)
	f.solveIn(out)
	return out
}

// luSolveAs is luSolve for A X = B, X A = B and both with the adjoint of A.
func luSolveAs(packed, pivots, b *tensor.Tensor, left, adjoint bool) *tensor.Tensor {
	n := checkLUSolve(packed, pivots, b, left)
	if packed.OnDevice() {
		if x := luSolveLibrary(packed, pivots, b, left, adjoint); x != nil {
			return x
		}
	}
	if left && !adjoint {
		return luSolve(packed, pivots, b)
	}
	inverse := luSolve(packed, pivots, source.Must(views.Eye(n, n, views.MakeLike{Dtype: packed.DType()}).ToDevice(packed.Device())))
	if adjoint {
		inverse = elementwise.Conjugate(source.Must(inverse.MatrixTranspose()))
	}
	if left {
		return Matmul(inverse, b)
	}
	return Matmul(b, inverse)
}

// rankOf counts the singular values above the tolerances.
func rankOf(a *tensor.Tensor, atol, rtol float64) *tensor.Tensor {
	return rankAbove(a, func(_, largest *tensor.Tensor) *tensor.Tensor {
		return elementwise.ClampMin.WithNumber(elementwise.ScaleBy(largest, rtol), atol)
	})
}

// rankAbove counts the singular values above a limit for each matrix, which is given them and the largest of them.
func rankAbove(a *tensor.Tensor, limit func(s, largest *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	if a.Numel() == 0 {
		return define.Zeros(lead(a), tensor.Int64)
	}
	s := singularValues(a)
	return reduce.Sum(elementwise.Gt.On(s, limit(s, reduce.Extreme("amax", s, []int{-1}, true, false))), []int{-1}, false, tensor.Int64)
}

// matrixExponential sums the series of a scaled matrix and squares the sum back.
func matrixExponential(a *tensor.Tensor) *tensor.Tensor {
	wide := a
	switch a.DType() {
	case tensor.Float32, tensor.BFloat16:
		wide = elementwise.To(a, tensor.Float64)
	}
	squareMatrices("linalg.matrix_exp", wide)
	if a.Numel() == 0 {
		return a
	}
	norm := reduce.Extreme("amax", reduce.VectorNorm(wide, 1, []int{-2}, false, wide.DType()), nil, false, false)
	largest := source.Must(norm.ToDevice(tensor.Device{})).At().Float64()
	halvings := max(0, int(math.Ceil(math.Log2(math.Max(largest, 1e-300))))+2)
	scaled := elementwise.ScaleBy(wide, math.Ldexp(1, -halvings))
	n := a.Size(a.Dim() - 1)
	unit := source.Must(views.Eye(n, n, views.MakeLike{Dtype: wide.DType()}).ToDevice(a.Device()))
	term := source.Must(source.Must(unit.Expand(a.Shape()...)).Clone(tensor.ContiguousFormat))
	result := term
	for k := 1; k < 20; k++ {
		term = elementwise.ScaleBy(Matmul(term, scaled), 1/float64(k))
		result = elementwise.Add.On(result, term)
	}
	for range halvings {
		result = Matmul(result, result)
	}
	return elementwise.To(result, a.DType())
}

func condition(a *tensor.Tensor, ord string, p *float64) *tensor.Tensor {
	atLeastMatrices("linalg.cond", a)
	if ord == "" && (p == nil || math.Abs(*p) == 2) {
		s := singularValues(a)
		high := reduce.Extreme("amax", s, []int{-1}, false, false)
		low := reduce.Extreme("amin", s, []int{-1}, false, true)
		if p != nil && *p < 0 {
			high, low = low, high
		}
		return elementwise.Div.On(high, low)
	}
	order := 0.0
	if p != nil {
		order = *p
	}
	squareMatrices("linalg.cond", a)
	checkMatrixNorm(a, ord, order, []int{-2, -1})
	inverted, info := inverseOf("linalg.inv", a)
	singular := define.Empty(a.Shape()[:a.Dim()-2], tensor.Bool)
	for i, at := range info.read() {
		tensor.Data[bool](singular)[i] = at != 0
	}
	singular = source.Must(singular.ToDevice(a.Device()))
	matrices := source.Must(source.Must(singular.Unsqueeze(-1)).Unsqueeze(-1))
	inverted = define.Apply("masked_fill.Scalar", inverted, matrices, 0.0)
	dims := []int{-2, -1}
	found := elementwise.Mul.On(matrixNorm(a, ord, order, dims, false, a.DType()), matrixNorm(inverted, ord, order, dims, false, a.DType()))
	return define.Apply("masked_fill.Scalar", found, singular, math.Inf(1))
}

// tensorInverse inverts a tensor as the matrix whose rows are its first ind dimensions.
func checkTensorInverse(c define.Call) {
	a, ind := c.Tensor(0), c.Int(1)
	source.Check(ind > 0, "Expected a strictly positive integer for 'ind', but got %d", ind)
	source.Check(ind <= a.Dim(), "Expected self to satisfy prod(self.shape[ind:]) == prod(self.shape[:ind]), but ind is %d and self has %d dimensions", ind, a.Dim())
	rows, columns := a.Shape()[:ind], a.Shape()[ind:]
	n := define.NumelOf(rows)
	source.Check(n == define.NumelOf(columns), "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got %d != %d", define.NumelOf(columns), n)
}

func tensorInverse(a *tensor.Tensor, ind int) *tensor.Tensor {
	rows, columns := a.Shape()[:ind], a.Shape()[ind:]
	n := define.NumelOf(rows)
	return source.Must(define.Apply("linalg_inv", source.Must(a.Reshape(n, n))).Reshape(slices.Concat(columns, rows)...))
}

// solvedBy gives the first argument of tensorsolve with some dimensions behind the others.
func solvedBy(a *tensor.Tensor, dims []int) *tensor.Tensor {
	if dims != nil {
		to := make([]int, len(dims))
		for i := range dims {
			to[i] = a.Dim() - len(dims) + i
		}
		a = source.Must(a.MoveDims(dims, to))
	}
	return a
}

// checkTensorSolve asks for as many unknowns as equations.
func checkTensorSolve(c define.Call) {
	a, b := solvedBy(c.Tensor(0), c.Ints(2)), c.Tensor(1)
	source.Check(a.Dim() >= b.Dim(), "Expected self to have at least as many dimensions as other")
	n := define.NumelOf(a.Shape()[b.Dim():])
	source.Check(n == b.Numel(), "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got %d != %d", n, b.Numel())
}

func tensorSolve(a, b *tensor.Tensor, dims []int) *tensor.Tensor {
	a = solvedBy(a, dims)
	shape := a.Shape()[b.Dim():]
	n := define.NumelOf(shape)
	return source.Must(define.Apply("linalg_solve", source.Must(a.Reshape(n, n)), source.Must(b.Reshape(-1)), true).Reshape(shape...))
}

// rankArgs defines a form of matrix_rank by reading its tolerances.
func rankArgs(name string, tolerances func(c define.Call) (atol, rtol float64)) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		atLeastMatrices("linalg.matrix_rank", c.Tensor(0))
		atol, rtol := tolerances(c)
		return rankOf(c.Tensor(0), atol, rtol)
	})
}

// rankWithin is the rank by tolerances for each matrix, nil where one is not given.
func rankWithin(a, atol, rtol *tensor.Tensor) *tensor.Tensor {
	atLeastMatrices("linalg.matrix_rank", a)
	for _, t := range []*tensor.Tensor{atol, rtol} {
		source.Check(t == nil || !t.DType().IsComplex(), "torch.linalg.matrix_rank: tol tensor of complex type is not supported.")
	}
	return rankAbove(a, func(s, largest *tensor.Tensor) *tensor.Tensor {
		perMatrix := func(t *tensor.Tensor) *tensor.Tensor { return source.Must(elementwise.To(t, s.DType()).Unsqueeze(-1)) }
		limit := elementwise.ScaleBy(largest, defaultRank(a))
		if rtol != nil {
			limit = elementwise.Mul.On(largest, perMatrix(rtol))
		}
		if atol != nil {
			absolute := perMatrix(atol)
			if rtol == nil { // an absolute tolerance above zero alone turns the relative one off
				limit = elementwise.Choose(elementwise.Gt.On(absolute, elementwise.ScaleBy(absolute, 0)), elementwise.OfScalar(tensor.Float(0)), elementwise.OfTensor(limit))
			}
			limit = elementwise.Maximum.On(limit, absolute)
		}
		return limit
	})
}

// givenTolerances reads atol and rtol from arguments 1 and 2; an absolute one above zero alone turns the relative one off.
func givenTolerances(c define.Call) (atol, rtol float64) {
	rtol = defaultRank(c.Tensor(0))
	if atol = c.FloatOr(1, 0); atol > 0 {
		rtol = 0
	}
	return atol, c.FloatOr(2, rtol)
}

var SolveFamily = []define.Definition{
	define.Operator("linalg_inv_ex", func(c define.Call) {
		a := c.Tensor(0)
		x, info := inverseOf("linalg.inv_ex", a)
		if c.Bool(1) {
			mustSolve("linalg.inv_ex", a.Shape()[:a.Dim()-2], info)
		}
		c.Give(x, info.tensor(a.Shape()[:a.Dim()-2]))
	}).ByColumns(0),
	define.Operator("linalg_cholesky_ex", func(c define.Call) {
		a := c.Tensor(0)
		l, info := choleskyOf("linalg.cholesky_ex", a, c.Bool(1))
		if c.Bool(2) {
			mustBePositive("linalg.cholesky_ex", a.Shape()[:a.Dim()-2], info)
		}
		c.Give(l, info.tensor(a.Shape()[:a.Dim()-2]))
	}).ByColumns(0),
	define.Operator("linalg_solve_ex", func(c define.Call) {
		a := c.Tensor(0)
		x, info := solveAs("linalg.solve_ex", a, c.Tensor(1), c.Bool(2))
		if c.Bool(3) {
			mustSolve("linalg.solve_ex", a.Shape()[:a.Dim()-2], info)
		}
		c.Give(x, info.tensor(a.Shape()[:a.Dim()-2]))
	}).ByColumns(0),
	define.Giving("lu_solve", func(c define.Call) *tensor.Tensor {
		return luSolveAs(c.Tensor(1), c.Tensor(2), c.Tensor(0), true, false)
	}).ByColumns(0),
	define.Giving("linalg_lu_solve", func(c define.Call) *tensor.Tensor {
		return luSolveAs(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Bool(3), c.Bool(4))
	}).ByColumns(0),
	define.Operator("linalg_lstsq", leastSquares).With(ops.Def{WithoutGrad: []int{1, 2, 3}}),
	define.Giving("linalg_matrix_exp", func(c define.Call) *tensor.Tensor { return matrixExponential(c.Tensor(0)) }).With(ops.Def{Aliases: []string{"matrix_exp"}, Grad: define.Concrete(matrixExpGrad)}),
	define.Decomposed("matrix_exp_backward", matrixExpBackward).With(ops.Def{Decomp: matrixExpBackward}),
	define.Giving("linalg_cond", func(c define.Call) *tensor.Tensor {
		if c.IsNone(1) {
			return condition(c.Tensor(0), "", nil)
		}
		p := c.Scalar(1).Float64()
		return condition(c.Tensor(0), "", &p)
	}),
	define.Giving("linalg_cond.p_str", func(c define.Call) *tensor.Tensor { return condition(c.Tensor(0), c.Str(1), nil) }),
	rankArgs("linalg_matrix_rank", func(c define.Call) (float64, float64) { return c.Float(1), 0 }),
	rankArgs("linalg_matrix_rank.atol_rtol_float", givenTolerances),
	define.Giving("linalg_matrix_rank.tol_tensor", func(c define.Call) *tensor.Tensor {
		return rankWithin(c.Tensor(0), c.Tensor(1), define.Zeros(nil, c.Tensor(1).DType()))
	}),
	define.Giving("linalg_matrix_rank.atol_rtol_tensor", func(c define.Call) *tensor.Tensor {
		return rankWithin(c.Tensor(0), c.OptionalTensor(1), c.OptionalTensor(2))
	}),
	define.Giving("cholesky_inverse", func(c define.Call) *tensor.Tensor {
		l := c.Tensor(0)
		atLeastMatrices("cholesky_inverse", l)
		if c.Bool(1) {
			l = elementwise.Conjugate(source.Must(l.MatrixTranspose()))
		}
		n, _ := squareMatrices("cholesky_inverse", l)
		x := solveTriangular(l, source.Must(views.Eye(n, n, views.MakeLike{Dtype: l.DType()}).ToDevice(l.Device())), false, true, false)
		return Matmul(elementwise.Conjugate(source.Must(x.MatrixTranspose())), x)
	}).ByColumns(0),
	define.Giving("cholesky_solve", func(c define.Call) *tensor.Tensor {
		l := c.Tensor(1)
		atLeastMatrices("cholesky_solve", l, c.Tensor(0))
		if c.Bool(2) {
			l = elementwise.Conjugate(source.Must(l.MatrixTranspose()))
		}
		y := solveTriangular(l, c.Tensor(0), false, true, false)
		return solveTriangular(elementwise.Conjugate(source.Must(l.MatrixTranspose())), y, true, true, false)
	}).ByColumns(0),
	define.Giving("linalg_tensorinv", func(c define.Call) *tensor.Tensor { return tensorInverse(c.Tensor(0), c.Int(1)) }).Checked(checkTensorInverse),
	define.Giving("linalg_tensorsolve", func(c define.Call) *tensor.Tensor { return tensorSolve(c.Tensor(0), c.Tensor(1), c.Ints(2)) }).Checked(func(c define.Call) {
		for _, d := range c.Ints(2) {
			define.WrapDim(d, c.Tensor(0))
		}
		checkTensorSolve(c)
	}),
	define.Giving("pdist", func(c define.Call) *tensor.Tensor { return pairwiseWithin(c.Tensor(0), c.Float(1)) }).With(ops.Def{Decomp: define.Emitting("_pdist_forward")}).Checked(func(c define.Call) {
		source.Check(c.Tensor(0).Dim() == 2, "pdist only supports 2D tensors, got: %dD", c.Tensor(0).Dim())
		source.Check(c.Tensor(0).DType().IsFloating(), "pdist only supports floating-point dtypes")
		source.Check(c.Float(1) >= 0, "pdist only supports non-negative p values")
	}),
	define.Giving("_cdist_forward", func(c define.Call) *tensor.Tensor { return Cdist(c.Tensor(0), c.Tensor(1), c.Float(2), c.IntOr(3, 0)) }),
	define.Giving("_pdist_forward", func(c define.Call) *tensor.Tensor { return pairwiseWithin(c.Tensor(0), c.Float(1)) }),
	define.Giving("_euclidean_dist", func(c define.Call) *tensor.Tensor { return PairDistances(c.Tensor(0), c.Tensor(1), 2) }),
}

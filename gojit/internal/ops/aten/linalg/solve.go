package aten

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// luSolve solves with packed factorizations and their row exchanges.
func luSolve(packed, pivots, b *tensor.Tensor) *tensor.Tensor {
	const name = "linalg.lu_solve"
	n, _ := squareMatrices(name, packed)
	check(b.Dim() >= 2 && b.Size(b.Dim()-2) == n, "linalg.lu_solve: Incompatible shapes of A and B for the equation AX = B (%dx%d and %s)", n, n, shapeText(b.Shape()))
	check(pivots.Dim() >= 1 && pivots.Dim() == packed.Dim()-1 && pivots.Size(pivots.Dim()-1) == n, "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix")
	lead := must(tensor.Broadcast(packed.Shape()[:packed.Dim()-2], b.Shape()[:b.Dim()-2]))
	d := tensor.Promote(packed.DType(), b.DType())
	wide := func(t *tensor.Tensor, d tensor.DType, tail ...int) *tensor.Tensor {
		return to(must(t.Expand(append(slices.Clone(lead), tail...)...)), d)
	}
	f := &luFactors{packed: contiguous(wide(packed, d, n, n)), shape: lead, rows: n, columns: n, info: make([]int32, numelOf(lead))}
	f.swaps = tensor.Data[int32](contiguous(wide(pivots, tensor.Int32, n)))
	for _, with := range f.swaps {
		check(with >= 1 && int(with) <= n, "pivots must lie in [1, %d], but got %d", n, with)
	}
	out := writable(wide(b, d, n, b.Size(b.Dim()-1)), d)
	f.solveIn(out)
	return out
}

// luSolveAs is luSolve for A X = B, X A = B and both with the adjoint of A.
func luSolveAs(packed, pivots, b *tensor.Tensor, left, adjoint bool) *tensor.Tensor {
	if left && !adjoint {
		return luSolve(packed, pivots, b)
	}
	atLeastMatrices("linalg.lu_solve", packed)
	n := packed.Size(packed.Dim() - 1)
	inverse := luSolve(packed, pivots, eye(n, n, makeLike{dtype: packed.DType()}))
	if adjoint {
		inverse = conjugate(must(inverse.MatrixTranspose()))
	}
	if left {
		return matmul(inverse, b)
	}
	return matmul(b, inverse)
}

// rankOf counts the singular values above the tolerances.
func rankOf(a *tensor.Tensor, atol, rtol float64) *tensor.Tensor {
	return rankAbove(a, func(_, largest *tensor.Tensor) *tensor.Tensor {
		return clampMin.withNumber(scaleBy(largest, rtol), atol)
	})
}

// rankAbove counts the singular values above a limit for each matrix, which is given them and the largest of them.
func rankAbove(a *tensor.Tensor, limit func(s, largest *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	if a.Numel() == 0 {
		return zeros(lead(a), tensor.Int64)
	}
	s := singularValues(a)
	return sum(gt.on(s, limit(s, extreme("amax", s, []int{-1}, true, false))), []int{-1}, false, tensor.Int64)
}

// matrixExponential sums the series of a scaled matrix and squares the sum back.
func matrixExponential(a *tensor.Tensor) *tensor.Tensor {
	wide := a
	switch a.DType() {
	case tensor.Float32, tensor.BFloat16:
		wide = to(a, tensor.Float64)
	}
	squareMatrices("linalg.matrix_exp", wide)
	if a.Numel() == 0 {
		return a
	}
	norm := extreme("amax", vectorNorm(wide, 1, []int{-2}, false, wide.DType()), nil, false, false)
	halvings := max(0, int(math.Ceil(math.Log2(math.Max(norm.At().Float64(), 1e-300))))+2)
	scaled := scaleBy(wide, math.Ldexp(1, -halvings))
	n := a.Size(a.Dim() - 1)
	term := must(must(eye(n, n, makeLike{dtype: wide.DType()}).Expand(a.Shape()...)).Clone(tensor.ContiguousFormat))
	result := term
	for k := 1; k < 20; k++ {
		term = scaleBy(matmul(term, scaled), 1/float64(k))
		result = add.on(result, term)
	}
	for range halvings {
		result = matmul(result, result)
	}
	return to(result, a.DType())
}

func condition(a *tensor.Tensor, ord string, p *float64) *tensor.Tensor {
	atLeastMatrices("linalg.cond", a)
	if ord == "" && (p == nil || math.Abs(*p) == 2) {
		s := singularValues(a)
		high := extreme("amax", s, []int{-1}, false, false)
		low := extreme("amin", s, []int{-1}, false, true)
		if p != nil && *p < 0 {
			high, low = low, high
		}
		return div.on(high, low)
	}
	order := 0.0
	if p != nil {
		order = *p
	}
	dims := []int{-2, -1}
	return mul.on(matrixNorm(a, ord, order, dims, false, a.DType()), matrixNorm(inverse(a), ord, order, dims, false, a.DType()))
}

// tensorInverse inverts a tensor as the matrix whose rows are its first ind dimensions.
func tensorInverse(a *tensor.Tensor, ind int) *tensor.Tensor {
	check(ind > 0 && ind <= a.Dim(), "Expected a strictly positive integer for 'ind'")
	rows, columns := a.Shape()[:ind], a.Shape()[ind:]
	n := numelOf(rows)
	check(n == numelOf(columns), "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got %d != %d", numelOf(columns), n)
	return must(inverse(must(a.Reshape(n, n))).Reshape(slices.Concat(columns, rows)...))
}

func tensorSolve(a, b *tensor.Tensor, dims []int) *tensor.Tensor {
	if dims != nil {
		to := make([]int, len(dims))
		for i := range dims {
			to[i] = a.Dim() - len(dims) + i
		}
		a = must(a.MoveDims(dims, to))
	}
	check(a.Dim() >= b.Dim(), "Expected self to have at least as many dimensions as other")
	shape := a.Shape()[b.Dim():]
	n := numelOf(shape)
	check(n == b.Numel(), "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got %d != %d", n, b.Numel())
	return must(solve(must(a.Reshape(n, n)), must(b.Reshape(-1)), true).Reshape(shape...))
}

// rankArgs defines a form of matrix_rank by reading its tolerances.
func rankArgs(name string, tolerances func(c call) (atol, rtol float64)) definition {
	return giving(name, func(c call) *tensor.Tensor {
		atLeastMatrices("linalg.matrix_rank", c.tensor(0))
		atol, rtol := tolerances(c)
		return rankOf(c.tensor(0), atol, rtol)
	})
}

// rankWithin is the rank by tolerances for each matrix, nil where one is not given.
func rankWithin(a, atol, rtol *tensor.Tensor) *tensor.Tensor {
	atLeastMatrices("linalg.matrix_rank", a)
	for _, t := range []*tensor.Tensor{atol, rtol} {
		check(t == nil || !t.DType().IsComplex(), "torch.linalg.matrix_rank: tol tensor of complex type is not supported.")
	}
	return rankAbove(a, func(s, largest *tensor.Tensor) *tensor.Tensor {
		perMatrix := func(t *tensor.Tensor) *tensor.Tensor { return must(to(t, s.DType()).Unsqueeze(-1)) }
		limit := scaleBy(largest, defaultRank(a))
		if rtol != nil {
			limit = mul.on(largest, perMatrix(rtol))
		}
		if atol != nil {
			absolute := perMatrix(atol)
			if rtol == nil { // an absolute tolerance above zero alone turns the relative one off
				limit = choose(gt.on(absolute, scaleBy(absolute, 0)), ofScalar(tensor.Float(0)), ofTensor(limit))
			}
			limit = maximum.on(limit, absolute)
		}
		return limit
	})
}

// givenTolerances reads atol and rtol from arguments 1 and 2; an absolute one above zero alone turns the relative one off.
func givenTolerances(c call) (atol, rtol float64) {
	rtol = defaultRank(c.tensor(0))
	if atol = c.floatOr(1, 0); atol > 0 {
		rtol = 0
	}
	return atol, c.floatOr(2, rtol)
}

// multilabelMargin compares the scores of all targets of a sample, which end at the first -1, with
// those of all others.
func multilabelMargin(x, target *tensor.Tensor, how int) (loss, isTarget *tensor.Tensor) {
	single := x.Dim() <= 1 && target.Dim() <= 1 && x.Numel() == 1 && target.Numel() == 1
	check(single || x.Dim() >= 1 && x.Dim() <= 2 && tensor.SameShape(x.Shape(), target.Shape()), "inconsistent target size: %s for input of size: %s", shapeText(target.Shape()), shapeText(x.Shape()))
	classes := 1
	if !single {
		classes = x.Size(x.Dim() - 1)
	}
	inOrder := asWork(x, tensor.Float64)
	defer forgetMade(x, inOrder)
	data := tensor.Data[float64](inOrder)
	labels, forget := labelsOf(target)
	defer forget()
	rows := 0
	if classes > 0 {
		rows = len(data) / classes
	}
	marked, found := zeros(target.Shape(), tensor.Float64), zeros([]int{rows}, tensor.Float64)
	marks, losses := tensor.Data[float64](marked), tensor.Data[float64](found)
	var own []int64 // the targets of a sample
	var watch tensor.Watch
	for r := range rows {
		watch.Did(classes)
		row, mark := data[r*classes:(r+1)*classes], marks[r*classes:(r+1)*classes]
		own = own[:0]
		for _, l := range labels[r*classes : (r+1)*classes] {
			if l < 0 {
				break
			}
			mark[l] = 1
			own = append(own, l)
		}
		for _, l := range own {
			watch.Did(classes)
			for j, v := range row {
				if mark[j] == 0 {
					losses[r] += max(0, 1-row[l]+v)
				}
			}
		}
		losses[r] /= float64(classes)
	}
	loss = ownTo(reduced(found, how), x.DType())
	if how == reduceNone {
		loss = shownAs(loss, x.Shape()[:max(x.Dim()-1, 0)]...)
	}
	return loss, ownTo(marked, x.DType())
}

// kaiser makes the window of Bessel functions.
func kaiser(n int, periodic bool, beta float64, o makeLike) *tensor.Tensor {
	check(n >= 0, "kaiser_window requires non-negative window_length, got window_length=%d", n)
	last := float64(n - 1)
	if periodic {
		last = float64(n)
	}
	data := table[float64](n)
	bessel := unscaled(besselI0e)
	for i := range data {
		data[i] = 1
		if n > 1 {
			r := 2*float64(i)/last - 1
			data[i] = bessel(beta*math.Sqrt(max(0, 1-r*r))) / bessel(beta)
		}
	}
	return to(must(tensor.FromSlice(data, n)), o.dtype)
}

var solveFamily = []definition{
	define("linalg_inv_ex", func(c call) {
		a := c.tensor(0)
		x, info := inverseOf("linalg.inv_ex", a)
		if c.bool(1) {
			mustSolve("linalg.inv_ex", a.Shape()[:a.Dim()-2], info)
		}
		c.give(x, must(tensor.FromSlice(info, a.Shape()[:a.Dim()-2]...)))
	}).byColumns(0),
	define("linalg_cholesky_ex", func(c call) {
		a := c.tensor(0)
		l, info := choleskyOf("linalg.cholesky_ex", a, c.bool(1))
		if c.bool(2) {
			mustBePositive("linalg.cholesky_ex", a.Shape()[:a.Dim()-2], info)
		}
		c.give(l, must(tensor.FromSlice(info, a.Shape()[:a.Dim()-2]...)))
	}).byColumns(0),
	define("linalg_solve_ex", func(c call) {
		a := c.tensor(0)
		x, info := solveAs("linalg.solve_ex", a, c.tensor(1), c.bool(2))
		if c.bool(3) {
			mustSolve("linalg.solve_ex", a.Shape()[:a.Dim()-2], info)
		}
		c.give(x, must(tensor.FromSlice(info, a.Shape()[:a.Dim()-2]...)))
	}).byColumns(0),
	giving("lu_solve", func(c call) *tensor.Tensor { return luSolve(c.tensor(1), c.tensor(2), c.tensor(0)) }).byColumns(0),
	giving("linalg_lu_solve", func(c call) *tensor.Tensor {
		return luSolveAs(c.tensor(0), c.tensor(1), c.tensor(2), c.bool(3), c.bool(4))
	}).byColumns(0),
	define("linalg_lstsq", leastSquares),
	giving("linalg_matrix_exp", func(c call) *tensor.Tensor { return matrixExponential(c.tensor(0)) }).with(ops.Def{Aliases: []string{"matrix_exp"}, Grad: concrete(matrixExpGrad)}),
	decomposed("matrix_exp_backward", matrixExpBackward).with(ops.Def{Decomp: matrixExpBackward}),
	giving("matrix_exp", func(c call) *tensor.Tensor { return matrixExponential(c.tensor(0)) }),
	giving("linalg_cond", func(c call) *tensor.Tensor {
		if c.isNone(1) {
			return condition(c.tensor(0), "", nil)
		}
		p := c.scalar(1).Float64()
		return condition(c.tensor(0), "", &p)
	}),
	giving("linalg_cond.p_str", func(c call) *tensor.Tensor { return condition(c.tensor(0), c.str(1), nil) }),
	rankArgs("linalg_matrix_rank", func(c call) (float64, float64) { return c.float(1), 0 }),
	rankArgs("linalg_matrix_rank.atol_rtol_float", givenTolerances),
	giving("linalg_matrix_rank.tol_tensor", func(c call) *tensor.Tensor {
		return rankWithin(c.tensor(0), c.tensor(1), zeros(nil, c.tensor(1).DType()))
	}),
	giving("linalg_matrix_rank.atol_rtol_tensor", func(c call) *tensor.Tensor { return rankWithin(c.tensor(0), c.optionalTensor(1), c.optionalTensor(2)) }),
	giving("cholesky_inverse", func(c call) *tensor.Tensor {
		l := c.tensor(0)
		atLeastMatrices("cholesky_inverse", l)
		if c.bool(1) {
			l = conjugate(must(l.MatrixTranspose()))
		}
		n, _ := squareMatrices("cholesky_inverse", l)
		x := solveTriangular(l, eye(n, n, makeLike{dtype: l.DType()}), false, true, false)
		return matmul(conjugate(must(x.MatrixTranspose())), x)
	}).byColumns(0),
	giving("cholesky_solve", func(c call) *tensor.Tensor {
		l := c.tensor(1)
		atLeastMatrices("cholesky_solve", l, c.tensor(0))
		if c.bool(2) {
			l = conjugate(must(l.MatrixTranspose()))
		}
		y := solveTriangular(l, c.tensor(0), false, true, false)
		return solveTriangular(conjugate(must(l.MatrixTranspose())), y, true, true, false)
	}).byColumns(0),
	giving("linalg_tensorinv", func(c call) *tensor.Tensor { return tensorInverse(c.tensor(0), c.int(1)) }),
	giving("linalg_tensorsolve", func(c call) *tensor.Tensor { return tensorSolve(c.tensor(0), c.tensor(1), c.ints(2)) }),
	giving("pdist", func(c call) *tensor.Tensor { return pairwiseWithin(c.tensor(0), c.float(1)) }),
	giving("_cdist_forward", func(c call) *tensor.Tensor { return pairDistances(c.tensor(0), c.tensor(1), c.float(2)) }).with(ops.Def{Decomp: emitting("cdist")}),
	sameAs("_pdist_forward", "pdist"),
	giving("_euclidean_dist", func(c call) *tensor.Tensor { return pairDistances(c.tensor(0), c.tensor(1), 2) }),
}

package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// pairDistances gives the p-norm distance of each row of a from each row of b.
func pairDistances(a, b *tensor.Tensor, p float64) *tensor.Tensor {
	check(a.Dim() >= 2, "cdist only supports at least 2D tensors, X1 got: %dD", a.Dim())
	check(b.Dim() >= 2, "cdist only supports at least 2D tensors, X2 got: %dD", b.Dim())
	check(a.Size(a.Dim()-1) == b.Size(b.Dim()-1), "X1 and X2 must have the same number of columns. X1: %d X2: %d", a.Size(a.Dim()-1), b.Size(b.Dim()-1))
	d := sub.on(must(a.Unsqueeze(-2)), must(b.Unsqueeze(-3)))
	defer d.Release()
	return vectorNorm(d, p, []int{-1}, false, d.DType())
}

// cdist is pairDistances, by a product of matrices where p is 2 and there are many rows, or mode is 1, and not 2.
func cdist(a, b *tensor.Tensor, p float64, mode int) *tensor.Tensor {
	byProduct := p == 2 && mode != 2 && a.Dim() >= 2 && b.Dim() >= 2 && a.DType() == b.DType() && a.DType().IsFloating() && a.Size(a.Dim()-1) == b.Size(b.Dim()-1)
	if byProduct && (mode == 1 || a.Size(a.Dim()-2) > productRows || b.Size(b.Dim()-2) > productRows) {
		return euclideanDistances(a, b)
	}
	return pairDistances(a, b, p)
}

// productRows is how many rows are compared one by one, as PyTorch does it.
const productRows = 25

// euclideanDistances is the square root of |a|^2 + |b|^2 - 2ab.
func euclideanDistances(a, b *tensor.Tensor) *tensor.Tensor {
	squares := func(t *tensor.Tensor) *tensor.Tensor {
		return squaresReducer.reduce(t, []int{-1}, true, kernel.ComputeType(t.DType()), t.DType())
	}
	ones := func(t *tensor.Tensor) *tensor.Tensor {
		shape := slices.Clone(t.Shape())
		shape[len(shape)-1] = 1
		return must(tensor.Full(shape, tensor.Float(1), t.DType()))
	}
	left := concat([]*tensor.Tensor{scaleBy(a, -2), squares(a), ones(a)}, -1)
	right := concat([]*tensor.Tensor{b, ones(b), squares(b)}, -1)
	d := matmul(left, must(right.Transpose(-2, -1)))
	rootOf.runTo(d, d)
	return d
}

// rootOf is the root of what should not be negative.
var rootOf = elementwise("cdist", ops.SameType, func(b builder, x ...element) element {
	return b.Unary(kernel.Sqrt, b.Binary(kernel.Max, x[0], b.Number(x[0], 0)))
})

// cosineSimilarity is the product along a dimension of a and b, each divided by its norm or by eps where that is larger.
func cosineSimilarity(a, b *tensor.Tensor, dim int, eps float64) *tensor.Tensor {
	both := broadcastTensors([]*tensor.Tensor{a, b})
	a, b = both[0], both[1]
	dims := []int{dim}
	norms := func(t *tensor.Tensor) *tensor.Tensor {
		return clampMin.withNumber(vectorNorm(t, 2, dims, true, t.DType()), eps)
	}
	na, nb := norms(a), norms(b)
	d := a.DType()
	if d == b.DType() && d.IsFloating() && a.Dim() > 0 && wrapDim(dim, a) == a.Dim()-1 && a.Numel() > 0 {
		computed := kernel.ComputeType(d)
		x, y, u, v := contiguous(a), contiguous(b), contiguous(to(na, computed)), contiguous(to(nb, computed))
		n := a.Size(a.Dim() - 1)
		out := empty(a.Shape()[:a.Dim()-1], d)
		operands := []launch.Row{launch.SingleOf(out), launch.RowOf(x, n), launch.RowOf(y, n), launch.SingleOf(u), launch.SingleOf(v)}
		rowCosine.program(d, computed).ParallelRows(a.Numel()/n, n, operands, nil)
		return out
	}
	p := mul.on(div.on(a, na), div.on(b, nb))
	return sum(p, dims, false, p.DType())
}

// rowCosine adds up the products of elements of two rows, each divided by a number of its row.
var rowCosine = &rowKernel{build: func(b builder, in, computed tensor.DType) {
	x, y, u, v := b.Input(in, computed), b.Input(in, computed), b.Input(computed, computed), b.Input(computed, computed)
	b.Reduce(kernel.ReduceSum, b.Mul(b.Div(x, u), b.Div(y, v)), in)
}}

package aten

import (
	"slices"

	"torchjit/gojit/kernel"
	"torchjit/gojit/tensor"
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
var rootOf = elementwise("cdist", sameType, func(b builder, x ...element) element {
	return b.Unary(kernel.Sqrt, b.Binary(kernel.Max, x[0], b.Number(x[0], 0)))
})

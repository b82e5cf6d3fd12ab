package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"slices"

	"github.com/torchjit/torchjit/gojit/tensor"
)

func outer(a, b *tensor.Tensor) *tensor.Tensor {
	check(a.Dim() == 1, "outer: Expected 1-D argument self, but got %d-D", a.Dim())
	check(b.Dim() == 1, "outer: Expected 1-D argument vec2, but got %d-D", b.Dim())
	return mul.on(must(a.Unsqueeze(1)), b)
}

// kron gives the Kronecker product.
func kron(a, b *tensor.Tensor) *tensor.Tensor {
	n := max(a.Dim(), b.Dim())
	var x, y, final []int
	for i := range n {
		p, q := 1, 1
		if j := i - (n - a.Dim()); j >= 0 {
			p = a.Size(j)
		}
		if j := i - (n - b.Dim()); j >= 0 {
			q = b.Size(j)
		}
		x, y, final = append(x, p, 1), append(y, 1, q), append(final, p*q)
	}
	if last := len(x) - 2; n > 0 {
		// The last dimension of both is made as long as the result's: rows are multiplied as they lie.
		p, q := x[last], y[last+1]
		left := shownAs(repeatEach(must(a.Reshape(x...)), last, q), append(slices.Clone(x[:last]), p*q)...)
		defer left.Release()
		right := shownAs(repeat(must(b.Reshape(y...)), append(slices.Repeat([]int{1}, last+1), p)), append(slices.Clone(y[:last]), p*q)...)
		defer right.Release()
		a, b = left, right
	}
	return shownAs(mul.on(a, b), final...)
}

// cross gives the vector product along a dimension of size 3.
func cross(a, b *tensor.Tensor, dim int) *tensor.Tensor {
	ab := broadcastTensors([]*tensor.Tensor{a, b})
	a, b = ab[0], ab[1]
	check(a.Dim() > 0, "linalg.cross: inputs must have at least one dimension")
	dim = wrapDim(dim, a)
	check(a.Size(dim) == 3, "linalg.cross: inputs dimension %d must have length 3. Got %d and %d", dim, a.Size(dim), b.Size(dim))
	part := func(t *tensor.Tensor, i int) *tensor.Tensor { return must(t.Select(dim, i%3)) }
	r := tensor.NewResultType()
	r.Tensor(a)
	r.Tensor(b)
	out := emptyBeside(a, a.Shape(), r.DType())
	for i := range 3 {
		crossPart.run(part(out, i), []operand{ofTensor(part(a, i+1)), ofTensor(part(b, i+2)), ofTensor(part(a, i+2)), ofTensor(part(b, i+1))})
	}
	return out
}

// crossPart is a component of a vector product.
var crossPart = elementwise("cross", ops.SameType, func(b builder, x ...element) element { return b.Sub(b.Mul(x[0], x[1]), b.Mul(x[2], x[3])) })

// tensorDot contracts the listed dimensions pairwise.
func tensorDot(a, b *tensor.Tensor, da, db []int) *tensor.Tensor {
	check(len(da) == len(db), "both dimension lists should have same length")
	used := [2][]bool{make([]bool, a.Dim()), make([]bool, b.Dim())}
	k := 1
	var left, right []int
	for i := range da {
		x, y := wrapDim(da[i], a), wrapDim(db[i], b)
		check(a.Size(x) == b.Size(y), "contracted dimensions need to match, but first has size %d in dim %d and second has size %d in dim %d", a.Size(x), x, b.Size(y), y)
		used[0][x], used[1][y] = true, true
		k *= a.Size(x)
		left, right = append(left, x), append(right, y)
	}
	var freeA, freeB, shape []int
	for d, n := range a.Shape() {
		if !used[0][d] {
			freeA, shape = append(freeA, d), append(shape, n)
		}
	}
	m := numelOf(shape)
	for d, n := range b.Shape() {
		if !used[1][d] {
			freeB, shape = append(freeB, d), append(shape, n)
		}
	}
	x := must(must(a.Permute(append(freeA, left...)...)).Reshape(m, k))
	y := must(must(b.Permute(append(right, freeB...)...)).Reshape(k, -1))
	return must(mm(x, y).Reshape(shape...))
}

// bilinear gives x1ᵀ W x2 for each row.
func bilinear(x1, x2, weight, bias *tensor.Tensor) *tensor.Tensor {
	out := einsum("...i,oij,...j->...o", []*tensor.Tensor{x1, weight, x2})
	if bias != nil {
		out = add.on(out, bias)
	}
	return out
}

func multiDot(ts []*tensor.Tensor) *tensor.Tensor {
	check(len(ts) > 0, "multi_dot(): expected at least 2 tensors but got 0")
	out := ts[0]
	for _, t := range ts[1:] {
		out = matmul(out, t)
	}
	return out
}

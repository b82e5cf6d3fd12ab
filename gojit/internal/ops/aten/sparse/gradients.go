package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparsely chooses a derivative by an argument that asks for a sparse gradient.
func sparsely(flag int, sparse, dense derivative) derivative {
	return func(c gradient) {
		if c.bool(flag) {
			sparse(c)
		} else {
			dense(c)
		}
	}
}

// atPlacesOf returns a gradient of a sparse tensor, itself sparse or not, as one of its values.
func (c gradient) atPlacesOf(g, t tensors) tensors {
	return c.do("_sparse_mask_helper", asSparse(c, g, t), c.do("_indices", t))
}

// asSparse returns a gradient as a coalesced sparse one.
func asSparse(c gradient, g, t tensors) tensors {
	if g.IsSparse() {
		return c.do("coalesce", g)
	}
	ones := c.do("ones_like", c.do("_values", t))
	marks := c.do("_sparse_coo_tensor_unsafe", c.do("_indices", t), ones, t.Shape())
	return c.do("sparse_mask", g, c.do("coalesce", marks))
}

func placedValues(c gradient) {
	c.give(1, c.do("reshape", c.atPlacesOf(c.g(), c.out(0)), c.shape(1)))
}

func compressedValues(c gradient) {
	g := c.g()
	if !g.IsSparse() || g.Layout() != c.out(0).Layout() {
		g = c.do("sparse_mask", c.do("to_dense", g), c.out(0))
	}
	c.give(2, c.do("values", g))
}

func valuesGrad(c gradient) {
	t := c.in(0)
	if t.Layout() != tensor.SparseCOO {
		s := t.Sparse()
		c.give(0, c.do("_sparse_compressed_tensor_unsafe", s.Indices, s.Plain, c.g(), t.Shape(), nil, int(s.Layout)))
		return
	}
	made := c.do("_sparse_coo_tensor_unsafe", c.do("_indices", t), c.g(), t.Shape())
	c.give(0, c.do("_coalesced_", made, true))
}

func fromDense(c gradient) { c.give(0, c.do("to_dense", c.g())) }

// wholeSum has the same gradient at each place.
func wholeSum(c gradient) {
	t := c.in(0)
	dims := make([]int, t.Dim())
	for i := range dims {
		dims[i] = i
	}
	c.give(0, c.do("_sparse_sum_backward", c.g(), t, dims))
}

func (c gradient) sparseSoftmax(name string) {
	y := c.out(0)
	c.give(0, c.do(name, c.g(), y, c.int(1), c.do("detach", y)))
}

// sparseFactors gives the gradients of a product of two matrices; that of a sparse one has its places.
func (c gradient) sparseFactors(i, j int, g tensors) {
	a, b := c.in(i), c.in(j)
	if c.needs(i) {
		c.give(i, c.atOwnPlaces(c.do("_sparse_mm", g, c.do("t", b)), a))
	}
	if c.needs(j) {
		c.give(j, c.atOwnPlaces(c.do("_sparse_mm", c.do("t", a), g), b))
	}
}

// atOwnPlaces restricts a gradient to the places of a sparse tensor.
func (c gradient) atOwnPlaces(g, t tensors) tensors {
	if !t.IsSparse() {
		if g.IsSparse() {
			return c.do("to_dense", g)
		}
		return g
	}
	if t.Layout() == tensor.SparseCOO {
		t = c.do("coalesce", t)
	}
	return c.do("sparse_mask", g, t)
}

func sampledGrad(c gradient) {
	t, beta, alpha := c.in(0), plain(c.number(3)), plain(c.number(4))
	g := c.g()
	if !g.IsSparse() {
		g = c.do("sparse_mask", g, t)
	}
	c.give(0, c.do("mul.Scalar", g, beta))
	if c.needs(1) {
		c.give(1, c.do("mul.Scalar", c.do("_sparse_mm", g, c.do("t", c.in(2))), alpha))
	}
	if c.needs(2) {
		c.give(2, c.do("mul.Scalar", c.do("_sparse_mm", c.do("t", g), c.in(1)), alpha))
	}
}

// sparseRows is a gradient of a table: rows at indices, those at padding left out.
func (c gradient) sparseRows(indices, rows tensors, padding int) tensors {
	if padding >= 0 {
		kept := c.do("reshape", c.do("nonzero", c.do("ne.Scalar", indices, padding)), []int{-1})
		indices, rows = c.do("index_select", indices, 0, kept), c.do("index_select", rows, 0, kept)
	}
	at := c.do("unsqueeze", c.do("to.dtype", indices, tensor.Int64), 0)
	return c.do("_sparse_coo_tensor_unsafe", at, rows, c.shape(0))
}

// gatherSparseGrad has a place for each element that was gathered.
func gatherSparseGrad(c gradient) {
	dim, index := wrap(c.int(1), len(c.shape(0))), c.in(2)
	if index.Dim() == 0 {
		c.give(0, c.do("scatter_add", c.zerosOf(0), dim, index, c.g()))
		return
	}
	places := c.do("nonzero", c.do("ones_like", c.do("to.dtype", index, tensor.Bool)))
	c.give(0, c.do("_sparse_coo_tensor_unsafe", placesAlong(c, places, dim, index), c.do("reshape", c.g(), []int{-1}), c.shape(0)))
}

// placesAlong returns the indices of the elements of an index, which stand for those along a dimension.
func placesAlong(c gradient, places tensors, dim int, index tensors) tensors {
	var rows []*tensor.Tensor
	for d := range index.Dim() {
		if d == dim {
			rows = append(rows, c.do("reshape", index, []int{-1}))
		} else {
			rows = append(rows, c.do("select.int", places, 1, d))
		}
	}
	return c.do("stack", rows, 0)
}

func embeddingSparseGrad(c gradient) {
	if c.bool(3) {
		fail("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
	}
	rows := c.do("reshape", c.g(), []int{-1, c.shape(0)[1]})
	c.give(0, c.sparseRows(c.do("reshape", c.in(1), []int{-1}), rows, c.int(2)))
}

func embeddingBagSparsePadded(c gradient) {
	if c.isNone(8) {
		embeddingBagSparseGrad(c, -1)
	} else {
		embeddingBagSparseGrad(c, c.int(8))
	}
}

// embeddingBagSparseGrad gives each row of a bag the bag's gradient, as a sparse gradient of the table.
func embeddingBagSparseGrad(c gradient, padding int) {
	const mean, largest = 1, 2
	if c.int(4) == largest {
		fail("embedding_bag: sparse gradients are not there for mode 'max'")
	}
	indices, g := c.in(1), c.g()
	flat := c.do("to.dtype", c.do("reshape", indices, []int{-1}), tensor.Int64)
	bags := bagsOf(c, indices, flat.Numel(), g.Size(0))
	if c.int(4) == mean {
		counted := c.do("ones_like", c.do("to.dtype", flat, g.DType()))
		if padding >= 0 {
			counted = c.do("masked_fill.Scalar", counted, c.do("eq.Scalar", flat, padding), 0.0)
		}
		sizes := c.do("index_add", must(tensor.Zeros([]int{g.Size(0)}, g.DType())), 0, bags, counted)
		g = c.div(g, c.do("unsqueeze", c.do("clamp_min", sizes, 1.0), 1))
	}
	rows := c.do("index_select", g, 0, bags)
	if weights := c.in(6); weights != nil {
		if c.needs(6) {
			products := c.mul(rows, c.do("index_select", c.in(0), 0, flat))
			c.give(6, c.do("reshape", c.do("sum.dim_IntList", products, []int{1}, false), weights.Shape()))
		}
		rows = c.mul(rows, c.do("reshape", weights, []int{-1, 1}))
	}
	c.give(0, c.sparseRows(flat, rows, padding))
}

// sparseFurther are the records of operators of sparse tensors that are implemented elsewhere.
var sparseFurther = []ops.Def{
	{Name: "_coalesce", Reads: ops.ReadsNothing, Grad: passedOn},
	{Name: "_coalesced", Reads: ops.ReadsNothing, Grad: passedOn},
	{Name: "_sparse_csr_tensor_unsafe", Grad: concrete(compressedValues)},
	{Name: "_sparse_log_softmax", Grad: concrete(func(c gradient) { c.sparseSoftmax("_sparse_log_softmax_backward_data") })},
	{Name: "_sparse_log_softmax.int", Grad: concrete(func(c gradient) { c.sparseSoftmax("_sparse_log_softmax_backward_data") }), Node: "SparseLogSoftmaxBackward0"},
	{Name: "_sparse_softmax", Grad: concrete(func(c gradient) { c.sparseSoftmax("_sparse_softmax_backward_data") })},
	{Name: "_sparse_softmax.int", Grad: concrete(func(c gradient) { c.sparseSoftmax("_sparse_softmax_backward_data") }), Node: "SparseSoftmaxBackward0"},
	{Name: "_sparse_sparse_matmul", Grad: concrete(func(c gradient) { c.sparseFactors(0, 1, c.g()) })},
	{Name: "_sparse_sum", Grad: concrete(wholeSum), Node: "SumBackward0"},
	{Name: "_sparse_sum.dim", Grad: concrete(func(c gradient) { c.give(0, c.do("_sparse_sum_backward", c.g(), c.in(0), c.arg(1))) })},
	{Name: "_sparse_sum.dim_dtype", Grad: concrete(func(c gradient) { c.give(0, c.do("_sparse_sum_backward", c.g(), c.in(0), c.arg(1))) })},
	{Name: "_sparse_sum.dtype", Grad: concrete(wholeSum)},
	{Name: "_to_dense", Grad: concrete(func(c gradient) { c.give(0, c.do("to_dense_backward", c.g(), c.in(0))) })},
	{Name: "sparse_csr_tensor.crow_col_value", Grad: concrete(compressedValues)},
	{Name: "sparse_csr_tensor.crow_col_value_size", Grad: concrete(compressedValues)},
	{Name: "sparse_mask", Grad: concrete(func(c gradient) {
		masked := c.do("sparse_mask", c.do("to_dense", c.g()), c.in(1))
		c.give(0, c.do("to_dense", masked))
	})},
	{Name: "sparse_sampled_addmm", Grad: concrete(sampledGrad)},
	{Name: "values", Grad: concrete(valuesGrad)},
}

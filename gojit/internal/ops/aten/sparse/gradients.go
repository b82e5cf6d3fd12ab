package sparse

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// atPlacesOf returns a gradient of a sparse tensor, itself sparse or not, as one of its values.
func atPlacesOf(c define.Gradient, g, t define.Tensors) define.Tensors {
	return c.Do("_sparse_mask_helper", asSparse(c, g, t), c.Do("_indices", t))
}

// asSparse returns a gradient as a coalesced sparse one.
func asSparse(c define.Gradient, g, t define.Tensors) define.Tensors {
	if g.IsSparse() {
		return c.Do("coalesce", g)
	}
	ones := c.Do("ones_like", c.Do("_values", t))
	marks := c.Do("_sparse_coo_tensor_unsafe", c.Do("_indices", t), ones, t.Shape())
	return c.Do("sparse_mask", g, c.Do("coalesce", marks))
}

func placedValues(c define.Gradient) {
	c.Give(1, c.Do("reshape", atPlacesOf(c, c.G(), c.Out(0)), c.Shape(1)))
}

func compressedValues(c define.Gradient) {
	g := c.G()
	if !g.IsSparse() || g.Layout() != c.Out(0).Layout() {
		g = c.Do("sparse_mask", c.Do("to_dense", g), c.Out(0))
	}
	c.Give(2, c.Do("values", g))
}

func valuesGrad(c define.Gradient) {
	t := c.In(0)
	if t.Layout() != tensor.SparseCOO {
		s := t.Sparse()
		c.Give(0, c.Do("_sparse_compressed_tensor_unsafe", s.Indices, s.Plain, c.G(), t.Shape(), nil, int(s.Layout)))
		return
	}
	made := c.Do("_sparse_coo_tensor_unsafe", c.Do("_indices", t), c.G(), t.Shape())
	c.Give(0, c.Do("_coalesced_", made, true))
}

func fromDense(c define.Gradient) { c.Give(0, c.Do("to_dense", c.G())) }

// wholeSum has the same gradient at each place.
func wholeSum(c define.Gradient) {
	t := c.In(0)
	dims := make([]int, t.Dim())
	for i := range dims {
		dims[i] = i
	}
	c.Give(0, c.Do("_sparse_sum_backward", c.G(), t, dims))
}

func sparseSoftmax(c define.Gradient, name string) {
	y := c.Out(0)
	c.Give(0, c.Do(name, c.G(), y, c.Int(1), c.Do("detach", y)))
}

// sparseFactors gives the gradients of a product of two matrices; that of a sparse one has its places.
func sparseFactors(c define.Gradient, i, j int, g define.Tensors) {
	a, b := c.In(i), c.In(j)
	if c.Needs(i) {
		c.Give(i, atOwnPlaces(c, c.Do("_sparse_mm", g, c.Do("t", b)), a))
	}
	if c.Needs(j) {
		c.Give(j, atOwnPlaces(c, c.Do("_sparse_mm", c.Do("t", a), g), b))
	}
}

// atOwnPlaces restricts a gradient to the places of a sparse tensor.
func atOwnPlaces(c define.Gradient, g, t define.Tensors) define.Tensors {
	if !t.IsSparse() {
		if g.IsSparse() {
			return c.Do("to_dense", g)
		}
		return g
	}
	if t.Layout() == tensor.SparseCOO {
		t = c.Do("coalesce", t)
	}
	return c.Do("sparse_mask", g, t)
}

func sampledGrad(c define.Gradient) {
	t, beta, alpha := c.In(0), define.Plain(c.Number(3)), define.Plain(c.Number(4))
	g := c.G()
	if !g.IsSparse() {
		g = c.Do("sparse_mask", g, t)
	}
	c.Give(0, c.Do("mul.Scalar", g, beta))
	if c.Needs(1) {
		c.Give(1, c.Do("mul.Scalar", c.Do("_sparse_mm", g, c.Do("t", c.In(2))), alpha))
	}
	if c.Needs(2) {
		c.Give(2, c.Do("mul.Scalar", c.Do("_sparse_mm", c.Do("t", g), c.In(1)), alpha))
	}
}

// SparseFurther are the records of operators of sparse tensors that are implemented elsewhere.
var SparseFurther = []ops.Def{
	{Name: "_coalesce", Reads: ops.ReadsNothing, Grad: define.PassedOn},
	{Name: "_coalesced", Reads: ops.ReadsNothing, Grad: define.PassedOn},
	{Name: "_sparse_csr_tensor_unsafe", Grad: define.Concrete(compressedValues)},
	{Name: "_sparse_log_softmax", Grad: define.Concrete(func(c define.Gradient) { sparseSoftmax(c, "_sparse_log_softmax_backward_data") })},
	{Name: "_sparse_log_softmax.int", Grad: define.Concrete(func(c define.Gradient) { sparseSoftmax(c, "_sparse_log_softmax_backward_data") })},
	{Name: "_sparse_softmax", Grad: define.Concrete(func(c define.Gradient) { sparseSoftmax(c, "_sparse_softmax_backward_data") })},
	{Name: "_sparse_softmax.int", Grad: define.Concrete(func(c define.Gradient) { sparseSoftmax(c, "_sparse_softmax_backward_data") })},
	{Name: "_sparse_sparse_matmul", Grad: define.Concrete(func(c define.Gradient) { sparseFactors(c, 0, 1, c.G()) })},
	{Name: "_sparse_sum", Grad: define.Concrete(wholeSum)},
	{Name: "_sparse_sum.dim", Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("_sparse_sum_backward", c.G(), c.In(0), c.Arg(1))) })},
	{Name: "_sparse_sum.dim_dtype", Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("_sparse_sum_backward", c.G(), c.In(0), c.Arg(1))) })},
	{Name: "_sparse_sum.dtype", Grad: define.Concrete(wholeSum)},
	{Name: "_to_dense", Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("to_dense_backward", c.G(), c.In(0))) })},
	{Name: "sparse_csr_tensor.crow_col_value", Grad: define.Concrete(compressedValues)},
	{Name: "sparse_csr_tensor.crow_col_value_size", Grad: define.Concrete(compressedValues)},
	{Name: "sparse_mask", Grad: define.Concrete(func(c define.Gradient) {
		masked := c.Do("sparse_mask", c.Do("to_dense", c.G()), c.In(1))
		c.Give(0, c.Do("to_dense", masked))
	})},
	{Name: "sparse_sampled_addmm", Grad: define.Concrete(sampledGrad)},
	{Name: "values", Grad: define.Concrete(valuesGrad)},
}

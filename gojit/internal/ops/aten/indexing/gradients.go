package indexing

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func embeddingGrad(g define.Grad) {
	if c := g.Concrete(); c != nil && c.Arguments()[4].Bool() {
		embeddingSparseGrad(define.Gradient{Gradient: g, Tape: c})
		return
	}
	g.Give(0, g.Do("embedding_dense_backward", g.Grad(0), g.In(1), g.Size(0, 0), g.Arg(2), g.Arg(3)))
}

// embeddingDenseGrad reads the rows of the gradient that those of the result went to.
func embeddingDenseGrad(c define.Gradient) {
	indices := c.In(1)
	g := c.Do("embedding", c.G(), indices)
	if c.Bool(4) {
		counts := c.Do("bincount", c.Do("reshape", indices, []int{-1}), value.None, c.Int(2))
		counts = c.Do("index_select", counts, 0, c.Do("reshape", indices, []int{-1}))
		g = c.Div(g, c.Do("unsqueeze", c.Do("reshape", counts, indices.Shape()), -1))
	}
	if padding := c.Int(3); padding >= 0 {
		g = c.Do("masked_fill.Scalar", g, c.Do("unsqueeze", c.Do("eq.Scalar", indices, padding), -1), 0.0)
	}
	c.Give(0, g)
}

// FromPlanes reads the elements of planes of n dimensions that the places name.
func FromPlanes(c define.Gradient, t, places define.Tensors, n int) define.Tensors {
	shape := places.Shape()
	lead := append([]int(nil), shape[:len(shape)-n]...)
	flat := func(t define.Tensors) define.Tensors {
		return c.Do("reshape", t, append(lead[:len(lead):len(lead)], -1))
	}
	return c.Do("reshape", c.Do("gather", flat(t), len(lead), flat(places)), shape)
}

func embeddingBagPaddedGrad(c define.Gradient) {
	if c.IsNone(8) {
		embeddingBagGrad(c, -1)
	} else {
		embeddingBagGrad(c, c.Int(8))
	}
}

// embeddingBagGrad sends the gradient of every bag to its rows.
func embeddingBagGrad(c define.Gradient, padding int) {
	const sum, mean, largest = 0, 1, 2
	indices, g, mode := c.In(1), c.G(), c.Int(4)
	flat := c.Do("to.dtype", c.Do("reshape", indices, []int{-1}), tensor.Int64)
	bags := bagsOf(c, indices, flat.Numel(), g.Size(0))
	var counted, sizes define.Tensors
	if padding >= 0 || mode != sum {
		counted = c.Do("ones_like", c.Do("to.dtype", flat, g.DType()))
		if padding >= 0 {
			counted = c.Do("masked_fill.Scalar", counted, c.Do("eq.Scalar", flat, padding), 0.0)
		}
		sizes = c.Into("index_add", c.ZerosAs([]int{g.Size(0)}, g.DType()), 0, bags, counted)
	}
	switch mode {
	case largest:
		empty := c.Do("unsqueeze", c.Do("eq.Scalar", sizes, 0.0), 1)
		c.Give(0, c.Into("scatter_add", c.ZerosOf(0), 0, c.Out(3), c.Do("masked_fill.Scalar", g, empty, 0.0)))
		return
	case mean:
		g = c.Div(g, c.Do("unsqueeze", c.Do("clamp_min", sizes, 1.0), 1))
	}
	rows := c.Do("index_select", g, 0, bags)
	if padding >= 0 {
		rows = c.Mul(rows, c.Do("unsqueeze", counted, 1))
	}
	if weights := c.In(6); weights != nil {
		if c.Needs(6) {
			products := c.Mul(rows, c.Do("index_select", c.In(0), 0, flat))
			c.Give(6, c.Do("reshape", c.Do("sum.dim_IntList", products, []int{1}, false), weights.Shape()))
		}
		rows = c.Mul(rows, c.Do("reshape", weights, []int{-1, 1}))
	}
	c.Give(0, c.Into("index_add", c.ZerosOf(0), 0, flat, rows))
}

// bagsOf returns the bag of each of n indices.
func bagsOf(c define.Gradient, indices define.Tensors, n, bags int) define.Tensors {
	if indices.OnDevice() {
		places := c.Do("arange", n)
		if indices.Dim() == 2 {
			return c.Do("div.Scalar_mode", places, max(indices.Size(1), 1), "floor")
		}
		behind := c.Do("searchsorted.Tensor", c.Do("to.dtype", c.In(2), tensor.Int64), places, false, true)
		return c.Do("clamp", c.Do("sub.Scalar", behind, 1), 0, max(bags-1, 0))
	}
	list := make([]int64, n)
	if indices.Dim() == 2 {
		for i := range list {
			list[i] = int64(i / indices.Size(1))
		}
		return source.Must(tensor.FromSlice(list, n))
	}
	starts := tensor.Data[int64](source.Must(c.Do("to.dtype", c.In(2), tensor.Int64).Contiguous()))
	for b := range bags {
		end := n
		if b+1 < len(starts) {
			end = int(starts[b+1])
		}
		for i := int(starts[b]); i < end; i++ {
			list[i] = int64(b)
		}
	}
	return source.Must(tensor.FromSlice(list, n))
}

// pooledAgain is the derivative of the gradient of a pooling that takes maxima.
func pooledAgain(c define.Gradient, indices, n int) {
	c.Give(0, FromPlanes(c, c.G(), c.In(indices), n))
	if c.Needs(1) {
		c.Give(1, c.ZerosOf(1))
	}
}

// scatterReduceGrad follows the way of the reduction.
func scatterReduceGrad(c define.Gradient) {
	var ofSelf, ofSource define.Tensors
	gathered := func(t define.Tensors) define.Tensors { return c.Do("gather", t, c.Int(1), c.In(2)) }
	g := c.G()
	switch how := c.Arg(4); how.Str() {
	case "sum":
		ofSelf, ofSource = g, gathered(g)
	case "mean":
		counts := c.Do("zeros_like", g)
		if c.Bool(5) {
			counts = c.Do("ones_like", g)
		}
		counts = c.Do("scatter_add", counts, c.Int(1), c.In(2), c.Do("ones_like", c.In(3)))
		g = c.Div(g, c.Do("clamp_min", counts, 1.0))
		ofSelf, ofSource = g, gathered(g)
	case "prod":
		ofSelf, ofSource = scatteredProduct(c, g)
	default: // amax, amin: evenly among the equal ones
		isSelf := c.Do("to.dtype", c.Do("eq.Tensor", c.In(0), c.Out(0)), g.DType())
		isSource := c.Do("to.dtype", c.Do("eq.Tensor", c.In(3), gathered(c.Out(0))), g.DType())
		g = c.Div(g, c.Do("clamp_min", c.Do("scatter_add", isSelf, c.Int(1), c.In(2), isSource), 1.0))
		ofSelf, ofSource = c.Mul(isSelf, g), c.Mul(isSource, gathered(g))
	}
	if !c.Bool(5) {
		ofSelf = c.Do("scatter.value", ofSelf, c.Int(1), c.In(2), 0.0)
	}
	c.Give(0, ofSelf)
	c.Give(3, ofSource)
}

// scatteredProduct divides the products by each factor; where the factor is the only zero, the
// product of the others is computed without it.
func scatteredProduct(c define.Gradient, g define.Tensors) (ofSelf, ofSource define.Tensors) {
	self, source, y := c.In(0), c.In(3), c.Out(0)
	again := func(self, source define.Tensors) define.Tensors {
		return c.Do("scatter_reduce.two", self, c.Int(1), c.In(2), source, "prod", c.Bool(5))
	}
	gathered := func(t define.Tensors) define.Tensors { return c.Do("gather", t, c.Int(1), c.In(2)) }
	zeroSelf := c.Do("eq.Scalar", self, 0.0)
	filled := c.Do("masked_fill.Scalar", self, zeroSelf, 1.0)
	ofSelf = c.Div(c.Mul(g, again(filled, source)), filled)

	zero := c.Do("eq.Scalar", source, 0.0)
	zeros := c.Do("scatter_add", c.Do("zeros_like", g), c.Int(1), c.In(2), c.Do("to.dtype", zero, g.DType()))
	only := c.Do("logical_and", zero, c.Do("eq.Scalar", gathered(zeros), 1.0))
	without := c.Do("masked_fill.Scalar", source, only, 1.0)
	alone := c.Div(gathered(c.Mul(g, again(self, without))), without)
	others := c.Div(gathered(c.Mul(g, y)), c.Do("masked_fill.Scalar", source, zero, 1.0))
	return ofSelf, c.Do("where.self", only, alone, others)
}

// sparsely chooses a derivative by an argument that asks for a sparse gradient.
func sparsely(flag int, sparse, dense define.Derivative) define.Derivative {
	return func(c define.Gradient) {
		if c.Bool(flag) {
			sparse(c)
		} else {
			dense(c)
		}
	}
}

// gatherSparseGrad has a place for each element that was gathered.
func gatherSparseGrad(c define.Gradient) {
	dim, index := define.Wrap(c.Int(1), len(c.Shape(0))), c.In(2)
	if index.Dim() == 0 {
		c.Give(0, c.Do("scatter_add", c.ZerosOf(0), dim, index, c.G()))
		return
	}
	places := c.Do("nonzero", c.Do("ones_like", c.Do("to.dtype", index, tensor.Bool)))
	c.Give(0, c.Do("_sparse_coo_tensor_unsafe", placesAlong(c, places, dim, index), c.Do("reshape", c.G(), []int{-1}), c.Shape(0)))
}

// placesAlong returns the indices of the elements of an index, which stand for those along a dimension.
func placesAlong(c define.Gradient, places define.Tensors, dim int, index define.Tensors) define.Tensors {
	var rows []*tensor.Tensor
	for d := range index.Dim() {
		if d == dim {
			rows = append(rows, c.Do("reshape", index, []int{-1}))
		} else {
			rows = append(rows, c.Do("select.int", places, 1, d))
		}
	}
	return c.Do("stack", rows, 0)
}

func embeddingSparseGrad(c define.Gradient) {
	if c.Bool(3) {
		define.Fail("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
	}
	rows := c.Do("reshape", c.G(), []int{-1, c.Shape(0)[1]})
	c.Give(0, c.SparseRows(c.Do("reshape", c.In(1), []int{-1}), rows, c.Int(2)))
}

func embeddingBagSparsePadded(c define.Gradient) {
	if c.IsNone(8) {
		embeddingBagSparseGrad(c, -1)
	} else {
		embeddingBagSparseGrad(c, c.Int(8))
	}
}

// embeddingBagSparseGrad gives each row of a bag the bag's gradient, as a sparse gradient of the table.
func embeddingBagSparseGrad(c define.Gradient, padding int) {
	const mean, largest = 1, 2
	if c.Int(4) == largest {
		define.Fail("embedding_bag: sparse gradients are not there for mode 'max'")
	}
	indices, g := c.In(1), c.G()
	flat := c.Do("to.dtype", c.Do("reshape", indices, []int{-1}), tensor.Int64)
	bags := bagsOf(c, indices, flat.Numel(), g.Size(0))
	if c.Int(4) == mean {
		counted := c.Do("ones_like", c.Do("to.dtype", flat, g.DType()))
		if padding >= 0 {
			counted = c.Do("masked_fill.Scalar", counted, c.Do("eq.Scalar", flat, padding), 0.0)
		}
		sizes := c.Do("index_add", source.Must(tensor.Zeros([]int{g.Size(0)}, g.DType())), 0, bags, counted)
		g = c.Div(g, c.Do("unsqueeze", c.Do("clamp_min", sizes, 1.0), 1))
	}
	rows := c.Do("index_select", g, 0, bags)
	if weights := c.In(6); weights != nil {
		if c.Needs(6) {
			products := c.Mul(rows, c.Do("index_select", c.In(0), 0, flat))
			c.Give(6, c.Do("reshape", c.Do("sum.dim_IntList", products, []int{1}, false), weights.Shape()))
		}
		rows = c.Mul(rows, c.Do("reshape", weights, []int{-1, 1}))
	}
	c.Give(0, c.SparseRows(flat, rows, padding))
}

func indexGrad(g define.Grad) {
	g.Give(0, g.Into("index_put", g.ZerosOf(0), g.InList(1), g.Grad(0), true))
}

// IndexPutGrad is the derivative of index_put.
func IndexPutGrad(c define.Gradient) {
	indices := c.InList(1)
	g := c.G()
	if !c.Bool(3) {
		c.Give(0, c.Do("index_put", g, indices, c.ZerosAs(nil, g.DType()), false))
	} else {
		c.Give(0, g)
	}
	c.Give(2, c.Do("index.Tensor", g, indices))
}

func gatherGrad(c define.Gradient) {
	c.Give(0, c.Into("scatter_add", c.ZerosOf(0), c.Int(1), c.In(2), c.G()))
}

package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// reshaped gives the gradient the shape of the argument.
func reshaped(g grad) { g.Give(0, g.Do("reshape", g.Grad(0), g.Sizes(0))) }

func wrap(dim, n int) int {
	if dim < 0 {
		dim += max(n, 1)
	}
	return dim
}

func transposedGrad(g grad) { g.Give(0, g.Do("transpose.int", g.Grad(0), g.Arg(1), g.Arg(2))) }

// joined gives the concatenated gradients of parts along the dimension of the third argument; parts without one are zero.
func joined(g grad) { g.Give(0, g.Do("cat", g.GradList(), g.Arg(2))) }

// permuteGrad permutes back.
func permuteGrad(g grad) {
	dims, known := g.Ints(1).([]int)
	if !known {
		g.Give(0, g.Do("movedim.intlist", g.Grad(0), g.Calculate("prim::rangelist", g.Calculate("len", g.Arg(1))), g.Arg(1)))
		return
	}
	back := make([]int, len(dims))
	for i, d := range dims {
		back[wrap(d, len(dims))] = i
	}
	g.Give(0, g.Do("permute", g.Grad(0), back))
}

func indexGrad(g grad) {
	g.Give(0, g.Into("index_put", g.ZerosOf(0), g.InList(1), g.Grad(0), true))
}

func indexPutGrad(c gradient) {
	indices := c.InList(1)
	g := c.g()
	if !c.bool(3) {
		c.give(0, c.do("index_put", g, indices, must(tensor.Zeros(nil, g.DType())), false))
	} else {
		c.give(0, g)
	}
	c.give(2, c.do("index.Tensor", g, indices))
}

func numel(shape []int) int {
	n := 1
	for _, s := range shape {
		n *= s
	}
	return n
}

func gatherGrad(c gradient) {
	c.give(0, c.into("scatter_add", c.zerosOf(0), c.int(1), c.in(2), c.g()))
}

// typeAsGrad leaves complex gradients to whoever wants real ones of them.
func typeAsGrad(g grad) {
	dy := g.Grad(0)
	if !g.IsComplex(dy) {
		dy = g.Do("type_as", dy, g.Arg(0))
	}
	g.Give(0, dy)
}

// unfoldedPlaces are the positions, in a tensor of a shape, of the elements that unfold gives.
func (x composer) unfoldedPlaces(like tensors, shape []int, dim, size, step value.Value) tensors {
	all := x.do("reshape", x.do("arange", numel(shape), nil, nil, value.OfDevice(like.Device())), shape)
	return x.do("reshape", x.do("unfold", all, dim, size, step), []int{-1})
}

// unfoldBackward is aten::unfold_backward.
var unfoldBackward = composing(func(x composer, a []value.Value) tensors {
	g, shape := a[0].Tensor(), call{args: a}.ints(1)
	zeros := x.do("reshape", x.do("new_zeros", g, shape), []int{-1})
	flat := x.do("index_add", zeros, 0, x.unfoldedPlaces(g, shape, a[2], a[3], a[4]), x.do("reshape", g, []int{-1}))
	return x.do("reshape", flat, shape)
})

// viewFurther are the records of operators of views and indexing that are implemented elsewhere.
var viewFurther = []ops.Def{
	{Name: "_index_put_impl", Grad: concrete(indexPutGrad), Tags: ops.IgnoresSelf | ops.AsWritten},
	{Name: "atleast_1d", Grad: concrete(func(c gradient) { c.moved("atleast_1d") }), Tags: ops.AsWritten},
	{Name: "atleast_2d", Grad: concrete(func(c gradient) { c.moved("atleast_2d") }), Tags: ops.AsWritten},
	{Name: "atleast_3d", Grad: concrete(func(c gradient) { c.moved("atleast_3d") }), Tags: ops.AsWritten},
	{Name: "fill_diagonal_", Grad: concrete(func(c gradient) {
		mask := must(tensor.Full(c.shape(0), tensor.Int(1), c.g().DType()))
		c.give(0, c.mul(c.g(), c.do("fill_diagonal_", mask, 0.0, c.arg(2))))
	})},
	{Name: "lift_fresh_copy", Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.AsWritten},
}

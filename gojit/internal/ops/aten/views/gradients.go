package views

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// unpadded takes the padding away again.
func unpadded(c define.Gradient) {
	back := c.Ints(1)
	for i := range back {
		back[i] = -back[i]
	}
	c.Give(0, c.Do("constant_pad_nd", c.G(), back, 0.0))
}

// reshaped gives the gradient the shape of the argument.
func reshaped(g define.Grad) { g.Give(0, g.Do("reshape", g.Grad(0), g.Sizes(0))) }

func transposedGrad(g define.Grad) { g.Give(0, g.Do("transpose.int", g.Grad(0), g.Arg(1), g.Arg(2))) }

// joined gives the concatenated gradients of parts along the dimension of the third argument; parts without one are zero.
func joined(g define.Grad) { g.Give(0, g.Do("cat", g.GradList(), g.Arg(2))) }

// permuteGrad permutes back.
func permuteGrad(g define.Grad) {
	dims, known := g.Ints(1).([]int)
	if !known {
		g.Give(0, g.Do("movedim.intlist", g.Grad(0), g.Calculate("prim::rangelist", g.Calculate("len", g.Arg(1))), g.Arg(1)))
		return
	}
	back := make([]int, len(dims))
	for i, d := range dims {
		back[define.Wrap(d, len(dims))] = i
	}
	g.Give(0, g.Do("permute", g.Grad(0), back))
}

// typeAsGrad leaves complex gradients to whoever wants real ones of them.
func typeAsGrad(g define.Grad) {
	dy := g.Grad(0)
	if !g.IsComplex(dy) {
		dy = g.Do("type_as", dy, g.Arg(0))
	}
	g.Give(0, dy)
}

// unfoldedPlaces are the positions, in a tensor of a shape, of the elements that unfold gives.
func unfoldedPlaces(x define.Composer, like define.Tensors, shape []int, dim, size, step value.Value) define.Tensors {
	all := x.Do("reshape", x.Do("arange", define.Numel(shape), nil, nil, value.OfDevice(like.Device())), shape)
	return x.Do("reshape", x.Do("unfold", all, dim, size, step), []int{-1})
}

// unfoldBackward is aten::unfold_backward.
var unfoldBackward = define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
	g, shape := a[0].Tensor(), define.Call{Args: a}.Ints(1)
	zeros := x.Do("reshape", x.Do("new_zeros", g, shape), []int{-1})
	flat := x.Do("index_add", zeros, 0, unfoldedPlaces(x, g, shape, a[2], a[3], a[4]), x.Do("reshape", g, []int{-1}))
	return x.Do("reshape", flat, shape)
})

// ViewFurther are the records of operators of views and indexing that are implemented elsewhere.
var ViewFurther = []ops.Def{
	{Name: "_index_put_impl", Grad: define.Concrete(indexing.IndexPutGrad), Tags: ops.IgnoresSelf | ops.AsWritten},
	{Name: "atleast_1d", Grad: define.Concrete(func(c define.Gradient) { c.Moved("atleast_1d") }), Tags: ops.AsWritten},
	{Name: "atleast_2d", Grad: define.Concrete(func(c define.Gradient) { c.Moved("atleast_2d") }), Tags: ops.AsWritten},
	{Name: "atleast_3d", Grad: define.Concrete(func(c define.Gradient) { c.Moved("atleast_3d") }), Tags: ops.AsWritten},
	{Name: "fill_diagonal_", Grad: define.Concrete(func(c define.Gradient) {
		mask := source.Must(tensor.Full(c.Shape(0), tensor.Int(1), c.G().DType()))
		c.Give(0, c.Mul(c.G(), c.Do("fill_diagonal_", mask, 0.0, c.Arg(2))))
	})},
	{Name: "lift_fresh_copy", Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.AsWritten},
}

package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// resampledGrad is the derivative of a resampling by the operator that is its gradient.
func resampledGrad(back string) derivative {
	return func(c gradient) {
		c.give(0, c.do(back, append([]any{c.g(), c.arg(1), c.shape(0)}, c.argsFrom(2)...)...))
	}
}

// resampledAgain is the derivative of the gradient of a resampling.
func resampledAgain(name string) derivative {
	return func(c gradient) {
		c.give(0, c.do(name, append([]any{c.g(), c.arg(1)}, c.argsFrom(3)...)...))
	}
}

// argsFrom returns the arguments from one on.
func (c gradient) argsFrom(i int) []any {
	var args []any
	for ; i < len(c.args()); i++ {
		args = append(args, c.arg(i))
	}
	return args
}

func affineGridGrad(c gradient) {
	c.give(0, composer{c.run}.affineGridBackward(c.g(), c.ints(1), c.arg(2)))
}

// affineGridBackward multiplies with the coordinates, which are the grid of the identity.
func (x composer) affineGridBackward(g tensors, size []int, alignCorners value.Value) tensors {
	check(len(size) == 4 || len(size) == 5, "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
	n, places, last := size[0], numel(size[2:]), len(size)-2
	unit := x.do("expand", x.do("eye.m", last, last+1, tensor.Float64, nil, value.OfDevice(g.Device())), []int{n, last, last + 1})
	coordinates := x.do("affine_grid_generator", unit, size, alignCorners)
	flat := x.do("to.dtype", x.do("reshape", coordinates, []int{n, places, last}), g.DType())
	ones := x.do("ones_like", x.do("slice.Tensor", flat, 2, 0, 1))
	homogeneous := x.do("cat", []tensors{flat, ones}, 2)
	turned := x.do("transpose.int", x.do("reshape", g, []int{n, places, last}), -2, -1)
	return x.do("reshape", x.do("matmul", turned, homogeneous), []int{n, last, last + 1})
}

// affineGridBackward is aten::affine_grid_generator_backward.
var affineGridBackward = composing(func(x composer, a []value.Value) tensors {
	return x.affineGridBackward(a[0].Tensor(), call{args: a}.ints(1), a[2])
})

// scatterReduceGrad follows the way of the reduction.
func scatterReduceGrad(c gradient) {
	var ofSelf, ofSource tensors
	gathered := func(t tensors) tensors { return c.do("gather", t, c.int(1), c.in(2)) }
	g := c.g()
	switch how := c.arg(4); how.Str() {
	case "sum":
		ofSelf, ofSource = g, gathered(g)
	case "mean":
		counts := c.do("zeros_like", g)
		if c.bool(5) {
			counts = c.do("ones_like", g)
		}
		counts = c.do("scatter_add", counts, c.int(1), c.in(2), c.do("ones_like", c.in(3)))
		g = c.div(g, c.do("clamp_min", counts, 1.0))
		ofSelf, ofSource = g, gathered(g)
	case "prod":
		ofSelf, ofSource = scatteredProduct(c, g)
	default: // amax, amin: evenly among the equal ones
		isSelf := c.do("to.dtype", c.do("eq.Tensor", c.in(0), c.out(0)), g.DType())
		isSource := c.do("to.dtype", c.do("eq.Tensor", c.in(3), gathered(c.out(0))), g.DType())
		g = c.div(g, c.do("clamp_min", c.do("scatter_add", isSelf, c.int(1), c.in(2), isSource), 1.0))
		ofSelf, ofSource = c.mul(isSelf, g), c.mul(isSource, gathered(g))
	}
	if !c.bool(5) {
		ofSelf = c.do("scatter.value", ofSelf, c.int(1), c.in(2), 0.0)
	}
	c.give(0, ofSelf)
	c.give(3, ofSource)
}

// scatteredProduct divides the products by each factor; where the factor is the only zero, the
// product of the others is computed without it.
func scatteredProduct(c gradient, g tensors) (ofSelf, ofSource tensors) {
	self, source, y := c.in(0), c.in(3), c.out(0)
	again := func(self, source tensors) tensors {
		return c.do("scatter_reduce.two", self, c.int(1), c.in(2), source, "prod", c.bool(5))
	}
	gathered := func(t tensors) tensors { return c.do("gather", t, c.int(1), c.in(2)) }
	zeroSelf := c.do("eq.Scalar", self, 0.0)
	filled := c.do("masked_fill.Scalar", self, zeroSelf, 1.0)
	ofSelf = c.div(c.mul(g, again(filled, source)), filled)

	zero := c.do("eq.Scalar", source, 0.0)
	zeros := c.do("scatter_add", c.do("zeros_like", g), c.int(1), c.in(2), c.do("to.dtype", zero, g.DType()))
	only := c.do("logical_and", zero, c.do("eq.Scalar", gathered(zeros), 1.0))
	without := c.do("masked_fill.Scalar", source, only, 1.0)
	alone := c.div(gathered(c.mul(g, again(self, without))), without)
	others := c.div(gathered(c.mul(g, y)), c.do("masked_fill.Scalar", source, zero, 1.0))
	return ofSelf, c.do("where.self", only, alone, others)
}

// resampleFurther are the records of operators of resampling that are implemented elsewhere.
var resampleFurther = []ops.Def{
	{Name: "_upsample_bicubic2d_aa", Grad: concrete(resampledGrad("_upsample_bicubic2d_aa_backward"))},
	{Name: "_upsample_bicubic2d_aa.vec", Grad: concrete(resampledGrad("_upsample_bicubic2d_aa_backward.vec"))},
	{Name: "_upsample_bicubic2d_aa_backward", Grad: concrete(resampledAgain("_upsample_bicubic2d_aa"))},
	{Name: "_upsample_bicubic2d_aa_backward.vec", Grad: concrete(resampledAgain("_upsample_bicubic2d_aa.vec"))},
	{Name: "_upsample_bilinear2d_aa", Grad: concrete(resampledGrad("_upsample_bilinear2d_aa_backward"))},
	{Name: "_upsample_bilinear2d_aa.vec", Grad: concrete(resampledGrad("_upsample_bilinear2d_aa_backward.vec"))},
	{Name: "_upsample_bilinear2d_aa_backward", Grad: concrete(resampledAgain("_upsample_bilinear2d_aa"))},
	{Name: "_upsample_bilinear2d_aa_backward.vec", Grad: concrete(resampledAgain("_upsample_bilinear2d_aa.vec"))},
	{Name: "_upsample_nearest_exact1d", Grad: concrete(resampledGrad("_upsample_nearest_exact1d_backward"))},
	{Name: "_upsample_nearest_exact1d.vec", Grad: concrete(resampledGrad("_upsample_nearest_exact1d_backward.vec"))},
	{Name: "_upsample_nearest_exact1d_backward", Grad: concrete(resampledAgain("_upsample_nearest_exact1d"))},
	{Name: "_upsample_nearest_exact1d_backward.vec", Grad: concrete(resampledAgain("_upsample_nearest_exact1d.vec"))},
	{Name: "_upsample_nearest_exact2d", Grad: concrete(resampledGrad("_upsample_nearest_exact2d_backward"))},
	{Name: "_upsample_nearest_exact2d.vec", Grad: concrete(resampledGrad("_upsample_nearest_exact2d_backward.vec"))},
	{Name: "_upsample_nearest_exact2d_backward", Grad: concrete(resampledAgain("_upsample_nearest_exact2d"))},
	{Name: "_upsample_nearest_exact2d_backward.vec", Grad: concrete(resampledAgain("_upsample_nearest_exact2d.vec"))},
	{Name: "_upsample_nearest_exact3d", Grad: concrete(resampledGrad("_upsample_nearest_exact3d_backward"))},
	{Name: "_upsample_nearest_exact3d.vec", Grad: concrete(resampledGrad("_upsample_nearest_exact3d_backward.vec"))},
	{Name: "_upsample_nearest_exact3d_backward", Grad: concrete(resampledAgain("_upsample_nearest_exact3d"))},
	{Name: "_upsample_nearest_exact3d_backward.vec", Grad: concrete(resampledAgain("_upsample_nearest_exact3d.vec"))},
	{Name: "upsample_bicubic2d", Grad: concrete(resampledGrad("upsample_bicubic2d_backward"))},
	{Name: "upsample_bicubic2d.vec", Grad: concrete(resampledGrad("upsample_bicubic2d_backward.vec"))},
	{Name: "upsample_bicubic2d_backward", Grad: concrete(resampledAgain("upsample_bicubic2d"))},
	{Name: "upsample_bicubic2d_backward.vec", Grad: concrete(resampledAgain("upsample_bicubic2d.vec"))},
	{Name: "upsample_bilinear2d", Grad: concrete(resampledGrad("upsample_bilinear2d_backward"))},
	{Name: "upsample_bilinear2d.vec", Grad: concrete(resampledGrad("upsample_bilinear2d_backward.vec"))},
	{Name: "upsample_bilinear2d_backward", Grad: concrete(resampledAgain("upsample_bilinear2d"))},
	{Name: "upsample_bilinear2d_backward.vec", Grad: concrete(resampledAgain("upsample_bilinear2d.vec"))},
	{Name: "upsample_linear1d", Grad: concrete(resampledGrad("upsample_linear1d_backward"))},
	{Name: "upsample_linear1d.vec", Grad: concrete(resampledGrad("upsample_linear1d_backward.vec"))},
	{Name: "upsample_linear1d_backward", Grad: concrete(resampledAgain("upsample_linear1d"))},
	{Name: "upsample_linear1d_backward.vec", Grad: concrete(resampledAgain("upsample_linear1d.vec"))},
	{Name: "upsample_nearest1d", Grad: concrete(resampledGrad("upsample_nearest1d_backward"))},
	{Name: "upsample_nearest1d.vec", Grad: concrete(resampledGrad("upsample_nearest1d_backward.vec"))},
	{Name: "upsample_nearest1d_backward", Grad: concrete(resampledAgain("upsample_nearest1d"))},
	{Name: "upsample_nearest1d_backward.vec", Grad: concrete(resampledAgain("upsample_nearest1d.vec"))},
	{Name: "upsample_nearest2d", Grad: concrete(resampledGrad("upsample_nearest2d_backward"))},
	{Name: "upsample_nearest2d.vec", Grad: concrete(resampledGrad("upsample_nearest2d_backward.vec"))},
	{Name: "upsample_nearest2d_backward", Grad: concrete(resampledAgain("upsample_nearest2d"))},
	{Name: "upsample_nearest2d_backward.vec", Grad: concrete(resampledAgain("upsample_nearest2d.vec"))},
	{Name: "upsample_nearest3d", Grad: concrete(resampledGrad("upsample_nearest3d_backward"))},
	{Name: "upsample_nearest3d.vec", Grad: concrete(resampledGrad("upsample_nearest3d_backward.vec"))},
	{Name: "upsample_nearest3d_backward", Grad: concrete(resampledAgain("upsample_nearest3d"))},
	{Name: "upsample_nearest3d_backward.vec", Grad: concrete(resampledAgain("upsample_nearest3d.vec"))},
	{Name: "upsample_trilinear3d", Grad: concrete(resampledGrad("upsample_trilinear3d_backward"))},
	{Name: "upsample_trilinear3d.vec", Grad: concrete(resampledGrad("upsample_trilinear3d_backward.vec"))},
	{Name: "upsample_trilinear3d_backward", Grad: concrete(resampledAgain("upsample_trilinear3d"))},
	{Name: "upsample_trilinear3d_backward.vec", Grad: concrete(resampledAgain("upsample_trilinear3d.vec"))},
}

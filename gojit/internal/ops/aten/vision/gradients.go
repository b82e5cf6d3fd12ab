package vision

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// resampledGrad is the derivative of a resampling by the operator that is its gradient.
func resampledGrad(back string) define.Derivative {
	return func(c define.Gradient) {
		c.Give(0, c.Do(back, append([]any{c.G(), c.Arg(1), c.Shape(0)}, argsFrom(c, 2)...)...))
	}
}

// resampledAgain is the derivative of the gradient of a resampling.
func resampledAgain(name string) define.Derivative {
	return func(c define.Gradient) {
		c.Give(0, c.Do(name, append([]any{c.G(), c.Arg(1)}, argsFrom(c, 3)...)...))
	}
}

// argsFrom returns the arguments from one on.
func argsFrom(c define.Gradient, i int) []any {
	var args []any
	for ; i < len(c.Args()); i++ {
		args = append(args, c.Arg(i))
	}
	return args
}

func affineGridGrad(c define.Gradient) {
	c.Give(0, composedGridBackward(define.Composer{Emitter: c.Tape}, c.G(), c.Ints(1), c.Arg(2)))
}

// composedGridBackward multiplies with the coordinates, which are the grid of the identity.
func composedGridBackward(x define.Composer, g define.Tensors, size []int, alignCorners value.Value) define.Tensors {
	source.Check(len(size) == 4 || len(size) == 5, "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
	n, places, last := size[0], define.Numel(size[2:]), len(size)-2
	unit := x.Do("expand", x.Do("eye.m", last, last+1, tensor.Float64, nil, value.OfDevice(g.Device())), []int{n, last, last + 1})
	coordinates := x.Do("affine_grid_generator", unit, size, alignCorners)
	flat := x.Do("to.dtype", x.Do("reshape", coordinates, []int{n, places, last}), g.DType())
	ones := x.Do("ones_like", x.Do("slice.Tensor", flat, 2, 0, 1))
	homogeneous := x.Do("cat", []define.Tensors{flat, ones}, 2)
	turned := x.Do("transpose.int", x.Do("reshape", g, []int{n, places, last}), -2, -1)
	return x.Do("reshape", x.Do("matmul", turned, homogeneous), []int{n, last, last + 1})
}

// composedGridBackward is aten::affine_grid_generator_backward.
var affineGridBackward = define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
	return composedGridBackward(x, a[0].Tensor(), define.Call{Args: a}.Ints(1), a[2])
})

// ResampleFurther are the records of operators of resampling that are implemented elsewhere.
var ResampleFurther = []ops.Def{
	{Name: "_upsample_bicubic2d_aa", Grad: define.Concrete(resampledGrad("_upsample_bicubic2d_aa_backward"))},
	{Name: "_upsample_bicubic2d_aa.vec", Grad: define.Concrete(resampledGrad("_upsample_bicubic2d_aa_backward.vec"))},
	{Name: "_upsample_bicubic2d_aa_backward", Grad: define.Concrete(resampledAgain("_upsample_bicubic2d_aa"))},
	{Name: "_upsample_bicubic2d_aa_backward.vec", Grad: define.Concrete(resampledAgain("_upsample_bicubic2d_aa.vec"))},
	{Name: "_upsample_bilinear2d_aa", Grad: define.Concrete(resampledGrad("_upsample_bilinear2d_aa_backward"))},
	{Name: "_upsample_bilinear2d_aa.vec", Grad: define.Concrete(resampledGrad("_upsample_bilinear2d_aa_backward.vec"))},
	{Name: "_upsample_bilinear2d_aa_backward", Grad: define.Concrete(resampledAgain("_upsample_bilinear2d_aa"))},
	{Name: "_upsample_bilinear2d_aa_backward.vec", Grad: define.Concrete(resampledAgain("_upsample_bilinear2d_aa.vec"))},
	{Name: "_upsample_nearest_exact1d", Grad: define.Concrete(resampledGrad("_upsample_nearest_exact1d_backward"))},
	{Name: "_upsample_nearest_exact1d.vec", Grad: define.Concrete(resampledGrad("_upsample_nearest_exact1d_backward.vec"))},
	{Name: "_upsample_nearest_exact1d_backward", Grad: define.Concrete(resampledAgain("_upsample_nearest_exact1d"))},
	{Name: "_upsample_nearest_exact1d_backward.vec", Grad: define.Concrete(resampledAgain("_upsample_nearest_exact1d.vec"))},
	{Name: "_upsample_nearest_exact2d", Grad: define.Concrete(resampledGrad("_upsample_nearest_exact2d_backward"))},
	{Name: "_upsample_nearest_exact2d.vec", Grad: define.Concrete(resampledGrad("_upsample_nearest_exact2d_backward.vec"))},
	{Name: "_upsample_nearest_exact2d_backward", Grad: define.Concrete(resampledAgain("_upsample_nearest_exact2d"))},
	{Name: "_upsample_nearest_exact2d_backward.vec", Grad: define.Concrete(resampledAgain("_upsample_nearest_exact2d.vec"))},
	{Name: "_upsample_nearest_exact3d", Grad: define.Concrete(resampledGrad("_upsample_nearest_exact3d_backward"))},
	{Name: "_upsample_nearest_exact3d.vec", Grad: define.Concrete(resampledGrad("_upsample_nearest_exact3d_backward.vec"))},
	{Name: "_upsample_nearest_exact3d_backward", Grad: define.Concrete(resampledAgain("_upsample_nearest_exact3d"))},
	{Name: "_upsample_nearest_exact3d_backward.vec", Grad: define.Concrete(resampledAgain("_upsample_nearest_exact3d.vec"))},
	{Name: "upsample_bicubic2d", Grad: define.Concrete(resampledGrad("upsample_bicubic2d_backward"))},
	{Name: "upsample_bicubic2d.vec", Grad: define.Concrete(resampledGrad("upsample_bicubic2d_backward.vec"))},
	{Name: "upsample_bicubic2d_backward", Grad: define.Concrete(resampledAgain("upsample_bicubic2d"))},
	{Name: "upsample_bicubic2d_backward.vec", Grad: define.Concrete(resampledAgain("upsample_bicubic2d.vec"))},
	{Name: "upsample_bilinear2d", Grad: define.Concrete(resampledGrad("upsample_bilinear2d_backward"))},
	{Name: "upsample_bilinear2d.vec", Grad: define.Concrete(resampledGrad("upsample_bilinear2d_backward.vec"))},
	{Name: "upsample_bilinear2d_backward", Grad: define.Concrete(resampledAgain("upsample_bilinear2d"))},
	{Name: "upsample_bilinear2d_backward.vec", Grad: define.Concrete(resampledAgain("upsample_bilinear2d.vec"))},
	{Name: "upsample_linear1d", Grad: define.Concrete(resampledGrad("upsample_linear1d_backward"))},
	{Name: "upsample_linear1d.vec", Grad: define.Concrete(resampledGrad("upsample_linear1d_backward.vec"))},
	{Name: "upsample_linear1d_backward", Grad: define.Concrete(resampledAgain("upsample_linear1d"))},
	{Name: "upsample_linear1d_backward.vec", Grad: define.Concrete(resampledAgain("upsample_linear1d.vec"))},
	{Name: "upsample_nearest1d", Grad: define.Concrete(resampledGrad("upsample_nearest1d_backward"))},
	{Name: "upsample_nearest1d.vec", Grad: define.Concrete(resampledGrad("upsample_nearest1d_backward.vec"))},
	{Name: "upsample_nearest1d_backward", Grad: define.Concrete(resampledAgain("upsample_nearest1d"))},
	{Name: "upsample_nearest1d_backward.vec", Grad: define.Concrete(resampledAgain("upsample_nearest1d.vec"))},
	{Name: "upsample_nearest2d", Grad: define.Concrete(resampledGrad("upsample_nearest2d_backward"))},
	{Name: "upsample_nearest2d.vec", Grad: define.Concrete(resampledGrad("upsample_nearest2d_backward.vec"))},
	{Name: "upsample_nearest2d_backward", Grad: define.Concrete(resampledAgain("upsample_nearest2d"))},
	{Name: "upsample_nearest2d_backward.vec", Grad: define.Concrete(resampledAgain("upsample_nearest2d.vec"))},
	{Name: "upsample_nearest3d", Grad: define.Concrete(resampledGrad("upsample_nearest3d_backward"))},
	{Name: "upsample_nearest3d.vec", Grad: define.Concrete(resampledGrad("upsample_nearest3d_backward.vec"))},
	{Name: "upsample_nearest3d_backward", Grad: define.Concrete(resampledAgain("upsample_nearest3d"))},
	{Name: "upsample_nearest3d_backward.vec", Grad: define.Concrete(resampledAgain("upsample_nearest3d.vec"))},
	{Name: "upsample_trilinear3d", Grad: define.Concrete(resampledGrad("upsample_trilinear3d_backward"))},
	{Name: "upsample_trilinear3d.vec", Grad: define.Concrete(resampledGrad("upsample_trilinear3d_backward.vec"))},
	{Name: "upsample_trilinear3d_backward", Grad: define.Concrete(resampledAgain("upsample_trilinear3d"))},
	{Name: "upsample_trilinear3d_backward.vec", Grad: define.Concrete(resampledAgain("upsample_trilinear3d.vec"))},
}

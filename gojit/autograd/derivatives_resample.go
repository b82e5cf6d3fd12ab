package autograd

import (
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// resampleDerivatives are those of operators that weigh the elements around a place.
var resampleDerivatives = func() map[string]derivative {
	family := map[string]derivative{
		"affine_grid_generator": affineGridGrad,
		"scatter_reduce.two":    scatterReduceGrad,
	}
	for name, r := range map[string]resampler{
		"upsample_linear1d":       {"upsample_linear1d", 1, true},
		"upsample_bilinear2d":     {"upsample_linear1d", 2, true},
		"upsample_trilinear3d":    {"upsample_linear1d", 3, true},
		"upsample_bicubic2d":      {"upsample_bicubic2d", 2, true},
		"_upsample_bilinear2d_aa": {"_upsample_bilinear2d_aa", 2, true},
		"_upsample_bicubic2d_aa":  {"_upsample_bicubic2d_aa", 2, true},
	} {
		family[name] = func(c *gradient) { r.backward(c, false) }
		family[name+".vec"] = func(c *gradient) { r.backward(c, true) }
	}
	return family
}()

// resampler is an operator that resamples n dimensions one after the other, each by a matrix. The
// operator called line gives the matrix.
type resampler struct {
	line       string
	n          int
	hasCorners bool
}

// backward applies the transposed matrix of every dimension.
func (r resampler) backward(c *gradient, factors bool) {
	g, shape := c.g(), c.shape(0)
	for d := range r.n {
		m := r.matrix(c, shape[d+2], g.Size(d+2), r.factor(c, d, factors))
		turned := c.do("transpose.int", g, d+2, -1)
		g = c.do("transpose.int", c.matmul(turned, c.do("t", c.do("to.dtype", m, g.DType()))), d+2, -1)
	}
	c.give(0, g)
}

// factor returns what the caller gave for a dimension, or None.
func (r resampler) factor(c *gradient, d int, factors bool) value.Value {
	if !factors {
		return c.arg(3 + d)
	}
	if c.isNone(3) {
		return value.None
	}
	return c.arg(3).List().Items[d]
}

// matrix returns what one dimension is multiplied with, (in, out).
func (r resampler) matrix(c *gradient, in, out int, factor value.Value) tensors {
	unit := c.do("eye", in, tensor.Float64)
	if r.line == "upsample_linear1d" {
		return c.do("reshape", c.do(r.line, c.do("reshape", unit, []int{in, 1, in}), []int{out}, c.arg(2), factor), []int{in, out})
	}
	plane := c.do(r.line, c.do("reshape", unit, []int{in, 1, 1, in}), []int{1, out}, c.arg(2), value.None, factor)
	return c.do("reshape", plane, []int{in, out})
}

// affineGridGrad multiplies with the coordinates, which are the grid of the identity.
func affineGridGrad(c *gradient) {
	shape, g := c.shape(0), c.g()
	n, last := g.Size(0), g.Dim()-2
	unit := c.do("expand", c.do("eye.m", last, last+1, tensor.Float64), []int{n, last, last + 1})
	coordinates := c.do("affine_grid_generator", unit, c.arg(1), c.arg(2))
	flat := c.do("to.dtype", c.do("reshape", coordinates, []int{n, -1, last}), g.DType())
	ones := c.do("ones_like", c.do("slice.Tensor", flat, 2, 0, 1))
	homogeneous := c.do("cat", []tensors{flat, ones}, 2)
	c.give(0, c.do("reshape", c.matmul(c.turn(c.do("reshape", g, []int{n, -1, last})), homogeneous), shape))
}

// scatterReduceGrad follows the way of the reduction.
func scatterReduceGrad(c *gradient) {
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
func scatteredProduct(c *gradient, g tensors) (ofSelf, ofSource tensors) {
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

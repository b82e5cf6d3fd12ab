package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/value"
)

// spread gives g the dimensions that a reduction over dims left out.
func (c gradient) spread(g tensors, dims []int, keep bool) tensors {
	n := len(c.shape(0))
	if keep || n == 0 {
		return g
	}
	if len(dims) == 0 {
		ones := make([]int, n)
		for i := range ones {
			ones[i] = 1
		}
		return c.do("reshape", g, ones)
	}
	shape := append([]int(nil), c.shape(0)...)
	for _, d := range dims {
		shape[wrap(d, n)] = 1
	}
	return c.do("reshape", g, shape)
}

// reducedCount returns how many elements go into one result.
func (c gradient) reducedCount(dims []int) float64 {
	shape := c.shape(0)
	if len(dims) == 0 {
		return float64(numel(shape))
	}
	n := 1
	for _, d := range dims {
		if len(shape) > 0 {
			n *= shape[wrap(d, len(shape))]
		}
	}
	return float64(n)
}

func (c gradient) sumGrad(dims []int, keep bool) tensors {
	return c.do("expand", c.spread(c.g(), dims, keep), c.shape(0))
}

// chosenGrad is the derivative of taking elements along a dimension by indices, which are the second result.
func chosenGrad(c gradient, dim int, keep bool) {
	if len(c.shape(0)) == 0 {
		c.give(0, c.g())
		return
	}
	g, indices := c.g(), c.out(1)
	if !keep {
		g, indices = c.do("unsqueeze", g, dim), c.do("unsqueeze", indices, dim)
	}
	c.give(0, c.into("scatter_add", c.zerosOf(0), dim, indices, g))
}

// evenly divides the gradient among all elements that are equal to the result.
func evenly(c gradient, dims []int, keep bool) {
	y := c.spread(c.out(0), dims, keep)
	equal := c.do("to.dtype", c.do("eq.Tensor", c.in(0), y), c.in(0).DType())
	c.give(0, c.div(c.mul(c.spread(c.g(), dims, keep), equal), c.countOf(equal, dims)))
}

func (c gradient) centered(dims []int) tensors {
	x := c.in(0)
	if len(dims) == 0 {
		return c.sub(x, c.do("mean", x))
	}
	return c.sub(x, c.do("mean.dim", x, dims, true))
}

// varianceGrad takes the gradient of a variance with the given correction.
func (c gradient) varianceGrad(g tensors, dims []int, correction int, keep bool) tensors {
	return c.scale(c.mul(c.spread(g, dims, keep), c.centered(dims)), 2/(c.reducedCount(dims)-float64(correction)))
}

func (c gradient) deviationGrad(dims []int, correction int, keep bool) tensors {
	y := c.out(0)
	g := c.div(c.g(), c.scale(y, 2))
	return c.varianceGrad(c.do("masked_fill.Scalar", g, c.do("eq.Scalar", y, 0.0), 0.0), dims, correction, keep)
}

func unbiased(on bool) int {
	if on {
		return 1
	}
	return 0
}

func (c gradient) correction(i int) int {
	if c.isNone(i) {
		return 1
	}
	return c.int(i)
}

// normGrad: outside of 0 and the infinities, sgn(x) |x|^(p-1) g / y^(p-1).
func (c gradient) normGrad(p float64, dims []int, keep bool) {
	x := c.in(0)
	y, g := c.spread(c.out(0), dims, keep), c.spread(c.g(), dims, keep)
	zero := c.do("eq.Scalar", y, 0.0)
	switch {
	case p == 0:
		c.give(0, c.do("mul.Scalar", x, 0.0))
	case p == 1:
		c.give(0, c.mul(g, c.do("sgn", x)))
	case p == 2:
		c.give(0, c.do("masked_fill.Scalar", c.mul(x, c.div(g, y)), zero, 0.0))
	case math.IsInf(p, 0):
		largest := c.do("to.dtype", c.do("eq.Tensor", c.do("abs", x), y), y.DType())
		c.give(0, c.mul(c.mul(c.do("sgn", x), largest), c.div(g, c.countOf(largest, dims))))
	case p < 2:
		powers := c.mul(c.do("sgn", x), c.do("pow.Tensor_Scalar", c.do("abs", x), p-1))
		powers = c.do("masked_fill.Scalar", powers, c.do("eq.Scalar", x, 0.0), 0.0)
		c.give(0, c.do("masked_fill.Scalar", c.mul(powers, c.mul(g, c.do("pow.Tensor_Scalar", y, 1-p))), zero, 0.0))
	default:
		powers := c.mul(x, c.do("pow.Tensor_Scalar", c.do("abs", x), p-2))
		c.give(0, c.do("masked_fill.Scalar", c.mul(powers, c.div(g, c.do("pow.Tensor_Scalar", y, p-1))), zero, 0.0))
	}
}

// countOf sums what was reduced over dims, keeping them; over all where there are none.
func (c gradient) countOf(ones tensors, dims []int) tensors {
	if len(dims) == 0 {
		return c.do("sum", ones)
	}
	return c.do("sum.dim_IntList", ones, dims, true)
}

func (c gradient) order(i int) float64 {
	if c.isNone(i) {
		return 2
	}
	return c.float(i)
}

// cumulative sums g from each place to the end of a dimension.
func (c gradient) cumulative(g tensors, dim int) tensors {
	if g.Dim() == 0 {
		return g
	}
	return c.do("flip", c.do("cumsum", c.do("flip", g, []int{dim}), dim), []int{dim})
}

// logCumulative is exp(x) times the sum of g/exp(y) from each place on, of the g that are positive, computed with logarithms: exp(x) alone
// may be infinite.
func (c gradient) logCumulative(g tensors) tensors {
	x, y, dim := c.in(0), c.out(0), c.int(1)
	positive := c.do("gt.Scalar", g, 0)
	logs := c.do("log", c.do("where.ScalarOther", positive, g, 1.0))
	logs = c.do("where.ScalarOther", positive, logs, -math.MaxFloat32)
	terms := c.sub(logs, y)
	if g.Dim() > 0 {
		terms = c.do("flip", c.do("logcumsumexp", c.do("flip", terms, []int{dim}), dim), []int{dim})
	}
	return c.do("exp", c.add(terms, x))
}

// productGrad multiplies by the product of the other elements.
func (c gradient) productGrad(dim int, all, keep bool) {
	x := c.in(0)
	if x.Dim() == 0 {
		c.give(0, c.g())
		return
	}
	g := c.g()
	if all {
		x, dim, keep = c.do("reshape", x, []int{-1}), 0, false
	}
	if !keep {
		g = c.do("unsqueeze", g, dim)
	}
	c.give(0, c.do("reshape", c.mul(g, c.others(x, dim)), c.shape(0)))
}

// others gives for each element the product of the others along a dimension: of those before it and of those behind it.
func (c gradient) others(x tensors, dim int) tensors {
	n := x.Size(wrap(dim, x.Dim()))
	if n == 0 {
		return x
	}
	one := c.do("ones_like", c.do("narrow", x, dim, 0, 1))
	before := c.do("cumprod", c.do("cat", []tensors{one, c.do("narrow", x, dim, 0, n-1)}, dim), dim)
	turned := c.do("flip", c.do("narrow", x, dim, 1, n-1), []int{dim})
	behind := c.do("flip", c.do("cumprod", c.do("cat", []tensors{one, turned}, dim), dim), []int{dim})
	return c.mul(before, behind)
}

// differencesGrad is for torch.gradient, which multiplies dimensions by matrices: a result for each. spacing and dims are
// the numbers of the arguments, spacing -1 where there is none.
func differencesGrad(spacing, dims int) derivative {
	return func(c gradient) {
		n := len(c.shape(0))
		along := c.ints(dims)
		if along == nil {
			for d := range n {
				along = append(along, d)
			}
		}
		var total tensors
		for i, g := range c.grads() {
			if g == nil {
				continue
			}
			d := wrap(along[i], n)
			m := c.differences(c.do("eye", c.shape(0)[d], g.DType()), spacing, i, c.arg(len(c.args())-1))
			part := c.do("transpose.int", c.matmul(c.do("transpose.int", g, d, -1), m), d, -1)
			if total == nil {
				total = part
			} else {
				total = c.add(total, part)
			}
		}
		c.give(0, total)
	}
}

// differences applies torch.gradient to the first dimension of unit, spaced as the i-th one of the node.
func (c gradient) differences(unit tensors, spacing, i int, order value.Value) tensors {
	name, by := "gradient.scalarint", value.None
	if spacing >= 0 {
		by = c.arg(spacing)
	}
	if by.Kind() == value.KindList {
		by = by.List().Items[min(i, len(by.List().Items)-1)]
		if by.IsTensor() {
			c.run.Reading()
			name, by = "gradient.tensorarrayint", value.OfList(value.Tensors([]tensors{by.Tensor()}))
		}
	}
	return ops.DoAll(c.run, name, unit, by, 0, order)[0].List().Items[0].Tensor()
}

func softmaxGrad(g grad) {
	y := g.Out(0)
	gy := g.Mul(g.Grad(0), y)
	if isNumber(g, y) {
		g.Give(0, g.Zeros(gy))
		return
	}
	g.Give(0, g.Minus(gy, g.Mul(y, g.Do("sum.dim_IntList", gy, g.List(g.Arg(1)), true))))
}

func logSoftmaxGrad(g grad) {
	dy, y := g.Grad(0), g.Out(0)
	if isNumber(g, y) {
		g.Give(0, g.Zeros(dy))
		return
	}
	g.Give(0, g.Minus(dy, g.Mul(g.Do("exp", y), g.Do("sum.dim_IntList", dy, g.List(g.Arg(1)), true))))
}

// isNumber reports whether a tensor is known to have no dimensions.
func isNumber(g grad, t ref) bool {
	n, known := g.Dim(t)
	return known && n == 0
}

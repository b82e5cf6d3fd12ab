package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/value"
)

// spread gives dy the dimensions that a reduction of the first argument over dims left out. What is reduced as a whole broadcasts anyway.
func spread(g grad, dy ref, dims, keep any) ref {
	if xs, known := dims.([]int); known && len(xs) == 0 {
		return dy
	}
	return g.Choose(keep, func() ref { return dy }, func() ref { return g.Do("reshape", dy, g.KeptSizes(0, dims)) })
}

func (c gradient) spread(dy tensors, dims []int, keep bool) tensors {
	return tensorOf(spread(c.Gradient, dy, dims, keep))
}

// sumOver takes the gradient of a sum over dims.
func sumOver(g grad, dy ref, dims, keep any) ref {
	return g.Do("expand", spread(g, dy, dims, keep), g.Sizes(0))
}

// meanOver takes the gradient of a mean over dims. It divides, as PyTorch does and kernels of regions (autograd.Group.RecordSum): the bits are the same.
func meanOver(g grad, dy ref, dims, keep any) ref {
	return g.Do("div.Scalar", sumOver(g, dy, dims, keep), g.ReducedCount(0, dims))
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

// varianceOver takes the gradient of a variance over dims with a correction.
func varianceOver(g grad, dy ref, dims, correction, keep any) ref {
	x := g.In(0)
	var mean ref
	if xs, known := dims.([]int); known && len(xs) == 0 {
		mean = g.Do("mean", x)
	} else {
		mean = g.Do("mean.dim", x, dims, true)
	}
	free := g.SubNumbers(g.ReducedCount(0, dims), correction)
	return g.Do("mul.Scalar", g.Mul(spread(g, dy, dims, keep), g.Minus(x, mean)), g.DivNumbers(2.0, free))
}

// deviationOver is the derivative of a standard deviation: none where that is zero.
func deviationOver(g grad, dims, correction, keep any) ref {
	y := g.Out(0)
	dy := g.Do("masked_fill.Scalar", g.Div(g.Grad(0), g.Scale(y, 2)), g.Do("eq.Scalar", y, 0.0), 0.0)
	return varianceOver(g, dy, dims, correction, keep)
}

// correctionOf returns a correction that is 1 where it is not given.
func correctionOf(g grad, i int) any {
	return g.Choose(g.IsNone(i), func() any { return 1 }, func() any { return g.Arg(i) })
}

// spreadArguments are the arguments of an overload of var, std and their forms with the mean.
type spreadArguments func(g grad) (dims, correction, keep any)

var (
	spreadOfAll        spreadArguments = func(g grad) (dims, correction, keep any) { return []int(nil), g.Integer(g.Arg(1)), false }
	spreadOfDims       spreadArguments = func(g grad) (dims, correction, keep any) { return g.Ints(1), g.Integer(g.Arg(2)), g.Arg(3) }
	spreadOfCorrection spreadArguments = func(g grad) (dims, correction, keep any) { return g.Ints(1), correctionOf(g, 2), g.Arg(3) }
)

// spreadGrad is the derivative of a variance, or of a standard deviation, and of the mean where that is the second result.
func spreadGrad(root, both bool, arguments spreadArguments) func(g grad) {
	return func(g grad) {
		dims, correction, keep := arguments(g)
		var d ref
		if comes(g, 0) {
			if root {
				d = deviationOver(g, dims, correction, keep)
			} else {
				d = varianceOver(g, g.Grad(0), dims, correction, keep)
			}
		}
		if both && comes(g, 1) {
			if mean := meanOver(g, g.Grad(1), dims, keep); d == nil {
				d = mean
			} else {
				d = g.Plus(d, mean)
			}
		}
		g.Give(0, d)
	}
}

// comes reports whether a gradient of a result may have come: on the tape it is known.
func comes(g grad, result int) bool {
	c := g.Concrete()
	return c == nil || c.Grads()[result] != nil
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
	g.Give(0, g.Minus(gy, g.Mul(y, g.Do("sum.dim_IntList", gy, g.ListOf(g.Arg(1)), true))))
}

func logSoftmaxGrad(g grad) {
	dy, y := g.Grad(0), g.Out(0)
	if isNumber(g, y) {
		g.Give(0, g.Zeros(dy))
		return
	}
	g.Give(0, g.Minus(dy, g.Mul(g.Do("exp", y), g.Do("sum.dim_IntList", dy, g.ListOf(g.Arg(1)), true))))
}

// isNumber reports whether a tensor is known to have no dimensions.
func isNumber(g grad, t ref) bool {
	n, known := g.Dim(t)
	return known && n == 0
}

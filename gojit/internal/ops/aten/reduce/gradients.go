package reduce

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// spread gives dy the dimensions that a reduction of the first argument over dims left out. What is reduced as a whole broadcasts anyway.
func spread(g define.Grad, dy define.Ref, dims, keep any) define.Ref {
	if xs, known := dims.([]int); known && len(xs) == 0 {
		return dy
	}
	return g.Choose(keep, func() define.Ref { return dy }, func() define.Ref { return g.Do("reshape", dy, g.KeptSizes(0, dims)) })
}

func spreadTo(c define.Gradient, dy define.Tensors, dims []int, keep bool) define.Tensors {
	return define.TensorOf(spread(c.Gradient, dy, dims, keep))
}

// sumOver takes the gradient of a sum over dims.
func sumOver(g define.Grad, dy define.Ref, dims, keep any) define.Ref {
	return g.Do("expand", spread(g, dy, dims, keep), g.Sizes(0))
}

// meanOver takes the gradient of a mean over dims. It divides, as PyTorch does and kernels of regions (autograd.Group.RecordSum): the bits are the same.
func meanOver(g define.Grad, dy define.Ref, dims, keep any) define.Ref {
	return g.Do("div.Scalar", sumOver(g, dy, dims, keep), g.ReducedCount(0, dims))
}

// ChosenGrad is the derivative of taking elements along a dimension by indices, which are the second result.
func ChosenGrad(c define.Gradient, dim int, keep bool) {
	if len(c.Shape(0)) == 0 {
		c.Give(0, c.G())
		return
	}
	g, indices := c.G(), c.Out(1)
	if !keep {
		g, indices = c.Do("unsqueeze", g, dim), c.Do("unsqueeze", indices, dim)
	}
	c.Give(0, c.Into("scatter_add", c.ZerosOf(0), dim, indices, g))
}

// evenly divides the gradient among all elements that are equal to the result.
func evenly(c define.Gradient, dims []int, keep bool) {
	y := spreadTo(c, c.Out(0), dims, keep)
	equal := c.Do("to.dtype", c.Do("eq.Tensor", c.In(0), y), c.In(0).DType())
	c.Give(0, c.Div(c.Mul(spreadTo(c, c.G(), dims, keep), equal), countOf(c, equal, dims)))
}

// EvenlyOfAll divides the gradient of one element of all among those that are equal to it, or NaN as it is.
func EvenlyOfAll(c define.Gradient) {
	x, y := c.In(0), c.Out(0)
	same := c.Do("where.self", c.Do("isnan", y), c.Do("isnan", x), c.Do("eq.Tensor", x, y))
	c.Give(0, c.Where(same, c.Div(c.G(), c.Do("sum", c.Do("to.dtype", same, x.DType())))))
}

// varianceOver takes the gradient of a variance over dims with a correction.
func varianceOver(g define.Grad, dy define.Ref, dims, correction, keep any) define.Ref {
	x := g.In(0)
	var mean define.Ref
	if xs, known := dims.([]int); known && len(xs) == 0 {
		mean = g.Do("mean", x)
	} else {
		mean = g.Do("mean.dim", x, dims, true)
	}
	free := g.SubNumbers(g.ReducedCount(0, dims), correction)
	return g.Do("mul.Scalar", g.Mul(spread(g, dy, dims, keep), g.Minus(x, mean)), g.DivNumbers(2.0, free))
}

// deviationOver is the derivative of a standard deviation: none where that is zero.
func deviationOver(g define.Grad, dims, correction, keep any) define.Ref {
	y := g.Out(0)
	dy := g.Div(g.Grad(0), g.Do("masked_fill.Scalar", g.Scale(y, 2), g.Do("eq.Scalar", y, 0.0), math.Inf(1)))
	return varianceOver(g, dy, dims, correction, keep)
}

// correctionOf returns a correction that is 1 where it is not given.
func correctionOf(g define.Grad, i int) any {
	return g.Choose(g.IsNone(i), func() any { return 1 }, func() any { return g.Arg(i) })
}

// spreadArguments are the arguments of an overload of var, std and their forms with the mean.
type spreadArguments func(g define.Grad) (dims, correction, keep any)

var (
	spreadOfAll        spreadArguments = func(g define.Grad) (dims, correction, keep any) { return []int(nil), g.Integer(g.Arg(1)), false }
	spreadOfDims       spreadArguments = func(g define.Grad) (dims, correction, keep any) { return g.Ints(1), g.Integer(g.Arg(2)), g.Arg(3) }
	spreadOfCorrection spreadArguments = func(g define.Grad) (dims, correction, keep any) { return g.Ints(1), correctionOf(g, 2), g.Arg(3) }
)

// spreadGrad is the derivative of a variance, or of a standard deviation, and of the mean where that is the second result.
func spreadGrad(root, both bool, arguments spreadArguments) func(g define.Grad) {
	return func(g define.Grad) {
		dims, correction, keep := arguments(g)
		var d define.Ref
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
func comes(g define.Grad, result int) bool {
	c := g.Concrete()
	return c == nil || c.Grads()[result] != nil
}

// normGrad: outside of 0 and the infinities, sgn(x) |x|^(p-1) g / y^(p-1).
func normGrad(c define.Gradient, p float64, dims []int, keep bool) {
	x := c.In(0)
	y, g := spreadTo(c, c.Out(0), dims, keep), spreadTo(c, c.G(), dims, keep)
	zero := c.Do("eq.Scalar", y, 0.0)
	switch {
	case p == 0:
		c.Give(0, c.Do("mul.Scalar", x, 0.0))
	case p == 1:
		c.Give(0, c.Mul(g, c.Do("sgn", x)))
	case p == 2:
		c.Give(0, c.Mul(x, c.Div(g, c.Do("masked_fill.Scalar", y, zero, math.Inf(1)))))
	case math.IsInf(p, 0):
		largest := c.Do("to.dtype", c.Do("eq.Tensor", c.Do("abs", x), y), y.DType())
		c.Give(0, c.Mul(c.Mul(c.Do("sgn", x), largest), c.Div(g, countOf(c, largest, dims))))
	case p < 2:
		powers := c.Mul(c.Do("sgn", x), c.Do("pow.Tensor_Scalar", c.Do("abs", x), p-1))
		powers = c.Do("masked_fill.Scalar", powers, c.Do("eq.Scalar", x, 0.0), 0.0)
		c.Give(0, c.Do("masked_fill.Scalar", c.Mul(powers, c.Mul(g, c.Do("pow.Tensor_Scalar", y, 1-p))), zero, 0.0))
	default:
		powers := c.Mul(x, c.Do("pow.Tensor_Scalar", c.Do("abs", x), p-2))
		c.Give(0, c.Do("masked_fill.Scalar", c.Mul(powers, c.Div(g, c.Do("pow.Tensor_Scalar", y, p-1))), zero, 0.0))
	}
}

// countOf sums what was reduced over dims, keeping them; over all where there are none.
func countOf(c define.Gradient, ones define.Tensors, dims []int) define.Tensors {
	if len(dims) == 0 {
		return c.Do("sum", ones)
	}
	return c.Do("sum.dim_IntList", ones, dims, true)
}

func order(c define.Gradient, i int) float64 {
	if c.IsNone(i) {
		return 2
	}
	return c.Float(i)
}

// cumulative sums g from each place to the end of a dimension.
func cumulative(c define.Gradient, g define.Tensors, dim int) define.Tensors {
	if g.Dim() == 0 {
		return g
	}
	return c.Do("flip", c.Do("cumsum", c.Do("flip", g, []int{dim}), dim), []int{dim})
}

// logCumulative is exp(x) times the sum of g/exp(y) from each place on, of the g that are positive, computed with logarithms: exp(x) alone
// may be infinite.
func logCumulative(c define.Gradient, g define.Tensors) define.Tensors {
	x, y, dim := c.In(0), c.Out(0), c.Int(1)
	positive := c.Do("gt.Scalar", g, 0)
	logs := c.Do("log", c.Do("where.ScalarOther", positive, g, 1.0))
	logs = c.Do("where.ScalarOther", positive, logs, -math.MaxFloat32)
	terms := c.Sub(logs, y)
	if g.Dim() > 0 {
		terms = c.Do("flip", c.Do("logcumsumexp", c.Do("flip", terms, []int{dim}), dim), []int{dim})
	}
	return c.Do("exp", c.Add(terms, x))
}

// productGrad multiplies by the product of the other elements.
func productGrad(c define.Gradient, dim int, all, keep bool) {
	x := c.In(0)
	if x.Dim() == 0 {
		c.Give(0, c.G())
		return
	}
	g := c.G()
	if out := c.Out(0); c.Tape.WritesAlone(g) && !g.OnDevice() && out.DType() == x.DType() {
		if product := c.Mul(g, out); isOfFactors(g, product, out) {
			if !keep && !all {
				product = c.Do("unsqueeze", product, dim)
			}
			c.Give(0, c.Do("div.Tensor", product, x))
			return
		}
	}
	if all {
		x, dim, keep = c.Do("reshape", x, []int{-1}), 0, false
	}
	if !keep {
		g = c.Do("unsqueeze", g, dim)
	}
	c.Give(0, c.Do("reshape", c.Mul(g, others(c, x, dim)), c.Shape(0)))
}

// isOfFactors reports whether products of floats, and those of products and gradients, lost nothing to underflow or overflow, so that a quotient by
// a factor is the product of the others: none of them is zero.
func isOfFactors(g, product, out define.Tensors) bool {
	if out.DType() == tensor.Float32 {
		return areNormal[float32](g, product, out, 0x1p-126)
	}
	return out.DType() == tensor.Float64 && areNormal[float64](g, product, out, 0x1p-1022)
}

func areNormal[T float32 | float64](g, product, out define.Tensors, least T) bool {
	if !g.IsContiguous() || !product.IsContiguous() || !out.IsContiguous() || !tensor.SameShape(g.Shape(), out.Shape()) {
		return false
	}
	normal := func(x T) bool { return x-x == 0 && (x >= least || x <= -least) }
	gs, products, outs := tensor.Data[T](g), tensor.Data[T](product), tensor.Data[T](out)
	for i, x := range outs {
		if !normal(x) || !normal(products[i]) && gs[i] != 0 {
			return false
		}
	}
	return true
}

// others gives for each element the product of the others along a dimension: of those before it and of those behind it.
func others(c define.Gradient, x define.Tensors, dim int) define.Tensors {
	n := x.Size(define.Wrap(dim, x.Dim()))
	if n == 0 {
		return x
	}
	one := c.Do("ones_like", c.Do("narrow", x, dim, 0, 1))
	before := c.Do("cumprod", c.Do("cat", []define.Tensors{one, c.Do("narrow", x, dim, 0, n-1)}, dim), dim)
	turned := c.Do("flip", c.Do("narrow", x, dim, 1, n-1), []int{dim})
	behind := c.Do("flip", c.Do("cumprod", c.Do("cat", []define.Tensors{one, turned}, dim), dim), []int{dim})
	return c.Mul(before, behind)
}

// DifferencesGrad is for torch.gradient, which multiplies dimensions by matrices: a result for each. spacing and dims are
// the numbers of the arguments, spacing -1 where there is none.
func DifferencesGrad(spacing, dims int) define.Derivative {
	return func(c define.Gradient) {
		n := len(c.Shape(0))
		along := c.Ints(dims)
		if along == nil {
			for d := range n {
				along = append(along, d)
			}
		}
		var total define.Tensors
		for i, g := range c.Grads() {
			if g == nil {
				continue
			}
			d := define.Wrap(along[i], n)
			m := differences(c, c.Do("eye", c.Shape(0)[d], g.DType()), spacing, i, c.Arg(len(c.Args())-1))
			part := c.Do("transpose.int", c.Matmul(c.Do("transpose.int", g, d, -1), m), d, -1)
			if total == nil {
				total = part
			} else {
				total = c.Add(total, part)
			}
		}
		c.Give(0, total)
	}
}

// differences applies torch.gradient to the first dimension of unit, spaced as the i-th one of the node.
func differences(c define.Gradient, unit define.Tensors, spacing, i int, order value.Value) define.Tensors {
	name, by := "gradient.scalarint", value.None
	if spacing >= 0 {
		by = c.Arg(spacing)
	}
	if by.Kind() == value.KindList {
		by = by.List().Items[min(i, len(by.List().Items)-1)]
		if by.IsTensor() {
			c.Tape.Reading()
			name, by = "gradient.tensorarrayint", value.OfList(value.Tensors([]define.Tensors{by.Tensor()}))
		}
	}
	return ops.DoAll(c.Tape, name, unit, by, 0, order)[0].List().Items[0].Tensor()
}

// isNumber reports whether a tensor is known to have no dimensions.
func isNumber(g define.Grad, t define.Ref) bool {
	n, known := g.Dim(t)
	return known && n == 0
}

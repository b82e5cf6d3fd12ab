package nn

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// pairGrad makes the derivative of a loss of pairs of an operator of its own, which takes what the loss takes behind the pair. By the target it is that of
// the exchanged pair.
func pairGrad(name string) func(g ops.Gradient) {
	return define.Concrete(func(c define.Gradient) {
		x, y := c.In(0), c.In(1)
		if !tensor.SameShape(x.Shape(), y.Shape()) {
			shape := source.Must(tensor.Broadcast(x.Shape(), y.Shape()))
			x, y = c.Do("expand", x, shape), c.Do("expand", y, shape)
		}
		for i, pair := range [2][2]define.Tensors{{x, y}, {y, x}} {
			if c.Needs(i) {
				args := []any{c.G(), pair[0], pair[1]}
				for _, a := range c.Args()[2:] {
					args = append(args, a)
				}
				c.Give(i, c.Do(name, args...))
			}
		}
	})
}

// unitEntropyGrad is the derivative of binary_cross_entropy by the probabilities and the targets.
func unitEntropyGrad(c define.Gradient) {
	if c.Needs(2) {
		define.Fail("The function 'binary_cross_entropy' is not differentiable with respect to argument 'weight'. This input cannot have requires_grad True.")
	}
	x, y, weight := c.In(0), c.In(1), c.Arg(2)
	c.Give(0, c.Do("binary_cross_entropy_backward", c.G(), x, y, weight, c.Arg(3)))
	if !c.Needs(1) {
		return
	}
	slope := c.Mul(c.G(), c.Sub(c.Do("log1p", c.Neg(x)), c.Do("log", x)))
	if !weight.IsNone() {
		slope = c.Mul(slope, c.In(2))
	}
	if c.Int(3) == reduceMean {
		slope = c.Scale(slope, 1/float64(define.NumelOf(x.Shape())))
	}
	c.Give(1, slope)
}

// logitGrad is the derivative of binary_cross_entropy_with_logits by the logits and the targets.
func logitGrad(g define.Grad) {
	for i, name := range []string{"weight", "pos_weight"} {
		if g.Needs(i + 2) {
			define.Fail("The function 'binary_cross_entropy_with_logits' is not differentiable with respect to argument '%s'. This input cannot have requires_grad True.", name)
		}
	}
	x, target, weight, positive := g.In(0), g.In(1), g.In(2), g.In(3)
	whole := func(d define.Ref) define.Ref {
		if weight != nil {
			d = g.Mul(d, weight)
		}
		return g.Choose(g.IsNumber(g.Arg(4), reduceMean), func() any { return g.Do("div.Scalar", d, g.ReducedCount(0, []int(nil))) }, func() any { return d })
	}
	probability := g.Do("sigmoid", x)
	if positive == nil {
		g.Give(0, whole(g.Mul(g.Minus(probability, target), g.Grad(0))))
	} else {
		found := g.Mul(positive, target)
		g.Give(0, whole(g.Mul(g.Minus(g.Mul(g.Minus(g.Shift(found, 1), target), probability), found), g.Grad(0))))
	}
	switch {
	case !g.Needs(1):
	case positive == nil:
		g.Give(1, whole(g.Mul(x, g.Neg(g.Grad(0)))))
	default:
		less := g.Mul(positive, g.Do("log_sigmoid", x))
		g.Give(1, whole(g.Mul(g.Minus(g.Do("log_sigmoid", g.Neg(x)), less), g.Grad(0))))
	}
}

// giveRunning gives the gradients of running statistics, where these are asked for.
func giveRunning(c define.Gradient, x, mean, variance define.Tensors) {
	if !c.Needs(3) && !c.Needs(4) {
		return
	}
	checkHasChannels(x.Dim())
	along := define.Composer{Emitter: c.Tape}.Along
	g, dims, n := c.G(), channelDims(x.Dim(), 0), x.Dim()
	if w := c.In(1); w != nil {
		g = c.Mul(g, along(value.OfTensor(w), n))
	}
	rstd := c.Do("rsqrt", c.Plus(variance, c.Float(7)))
	distant := c.Mul(g, c.Sub(x, along(value.OfTensor(mean), n)))
	c.Give(3, c.Neg(c.Mul(c.Do("sum.dim_IntList", g, dims, false), rstd)))
	c.Give(4, c.Scale(c.Mul(c.Do("sum.dim_IntList", distant, dims, false), c.Do("pow.Tensor_Scalar", rstd, 3)), -0.5))
}

// statistics returns means and one over deviations.
func statistics(c define.Gradient, x define.Tensors, dims []int, eps float64) (mean, rstd define.Tensors) {
	mean, variance := define.Composer{Emitter: c.Tape}.Moments(x, dims)
	return mean, c.Do("rsqrt", c.Do("add.Scalar", variance, eps))
}

func nativeBatchNormGrad(g define.Grad) {
	x, training := g.In(0), g.Arg(5)
	var mean, rstd, runningMean, runningVar define.Ref
	c := g.Concrete()
	switch {
	case c == nil:
		mean, rstd, runningMean, runningVar = g.Out(1), g.Out(2), g.In(3), g.In(4)
	case !c.Arguments()[5].Bool():
		runningMean, runningVar = g.In(3), g.In(4)
		giveRunning(define.Gradient{Gradient: g, Tape: c}, define.TensorOf(x), define.TensorOf(runningMean), define.TensorOf(runningVar))
	case c.Records():
		t := define.TensorOf(x)
		m, r := statistics(define.Gradient{Gradient: g, Tape: c}, t, channelDims(t.Dim(), 0), c.Arguments()[7].Float())
		mean, rstd = g.Do("reshape", m, []int{-1}), g.Do("reshape", r, []int{-1})
	default:
		mean, rstd = g.Out(1), g.Out(2)
	}
	define.GiveMasked(g, []int{0, 1, 2}, "native_batch_norm_backward", g.Grad(0), x, g.In(1), runningMean, runningVar, mean, rstd, training, g.Arg(7))
}

func nativeLayerNormGrad(g define.Grad) {
	x, mean, rstd := g.In(0), g.Out(1), g.Out(2)
	if c := g.Concrete(); c != nil && c.Records() {
		var dims []int
		for i := range c.Arguments()[1].List().Items {
			dims = append(dims, -1-i)
		}
		mean, rstd = statistics(define.Gradient{Gradient: g, Tape: c}, define.TensorOf(x), dims, c.Arguments()[4].Float())
	}
	define.GiveMasked(g, []int{0, 2, 3}, "native_layer_norm_backward", g.Grad(0), x, g.Arg(1), mean, rstd, g.In(2), nil)
}

package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// giveRunning gives the gradients of running statistics, where these are asked for.
func (c gradient) giveRunning(x, mean, variance tensors) {
	if !c.needs(3) && !c.needs(4) {
		return
	}
	along := composer{c.run}.along
	g, dims, n := c.g(), channelDims(x.Dim(), 0), x.Dim()
	if w := c.in(1); w != nil {
		g = c.mul(g, along(value.OfTensor(w), n))
	}
	rstd := c.do("rsqrt", c.plus(variance, c.float(7)))
	distant := c.mul(g, c.sub(x, along(value.OfTensor(mean), n)))
	c.give(3, c.neg(c.mul(c.do("sum.dim_IntList", g, dims, false), rstd)))
	c.give(4, c.scale(c.mul(c.do("sum.dim_IntList", distant, dims, false), c.do("pow.Tensor_Scalar", rstd, 3)), -0.5))
}

// statistics returns means and one over deviations.
func (c gradient) statistics(x tensors, dims []int, eps float64) (mean, rstd tensors) {
	mean, variance := composer{c.run}.moments(x, dims)
	return mean, c.do("rsqrt", c.do("add.Scalar", variance, eps))
}

// giveMasked gives the gradients of arguments that an operator computes when its last argument asks for them.
func giveMasked(g grad, arguments []int, name string, args ...any) {
	mask := make([]any, len(arguments))
	for j, i := range arguments {
		if mask[j] = false; g.Needs(i) {
			mask[j] = g.Not(g.IsNone(i))
		}
	}
	for j, d := range g.DoAll(name, append(args, g.ListOf(mask...))...) {
		if g.Needs(arguments[j]) {
			g.Give(arguments[j], d)
		}
	}
}

func nativeBatchNormGrad(g grad) {
	x, training := g.In(0), g.Arg(5)
	var mean, rstd, runningMean, runningVar ref
	c := g.Concrete()
	switch {
	case c == nil:
		mean, rstd, runningMean, runningVar = g.Out(1), g.Out(2), g.In(3), g.In(4)
	case !c.Arguments()[5].Bool():
		runningMean, runningVar = g.In(3), g.In(4)
		gradient{g, c}.giveRunning(tensorOf(x), tensorOf(runningMean), tensorOf(runningVar))
	case c.Records():
		t := tensorOf(x)
		m, r := gradient{g, c}.statistics(t, channelDims(t.Dim(), 0), c.Arguments()[7].Float())
		mean, rstd = g.Do("reshape", m, []int{-1}), g.Do("reshape", r, []int{-1})
	default:
		mean, rstd = g.Out(1), g.Out(2)
	}
	giveMasked(g, []int{0, 1, 2}, "native_batch_norm_backward", g.Grad(0), x, g.In(1), runningMean, runningVar, mean, rstd, training, g.Arg(7))
}

func nativeLayerNormGrad(g grad) {
	x, mean, rstd := g.In(0), g.Out(1), g.Out(2)
	if c := g.Concrete(); c != nil && c.Records() {
		var dims []int
		for i := range c.Arguments()[1].List().Items {
			dims = append(dims, -1-i)
		}
		mean, rstd = gradient{g, c}.statistics(tensorOf(x), dims, c.Arguments()[4].Float())
	}
	giveMasked(g, []int{0, 2, 3}, "native_layer_norm_backward", g.Grad(0), x, g.Arg(1), mean, rstd, g.In(2), nil)
}

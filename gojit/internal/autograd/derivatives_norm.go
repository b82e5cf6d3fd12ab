package autograd

import (
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// normDerivatives are those of normalizations. The operators that are their gradients take the statistics; where the gradient is recorded
// itself these are computed from the input again.
var normDerivatives = map[string]derivative{
	"native_layer_norm": func(c *gradient) {
		x, mean, rstd := c.in(0), c.out(1), c.out(2)
		if c.records() {
			var dims []int
			for i := range c.ints(1) {
				dims = append(dims, -1-i)
			}
			mean, rstd = c.statistics(x, dims, c.float(4))
		}
		c.giveNorm([]int{0, 2, 3}, "native_layer_norm_backward", c.g(), x, c.ints(1), mean, rstd, c.in(2), value.None)
	},
	"native_batch_norm": func(c *gradient) {
		x, training := c.in(0), c.bool(5)
		var mean, rstd, runningMean, runningVar tensors
		switch {
		case !training:
			runningMean, runningVar = c.in(3), c.in(4)
			c.giveRunning(x, runningMean, runningVar)
		case c.records():
			mean, rstd = c.statistics(x, channelDims(x.Dim(), 0), c.float(7))
			mean, rstd = c.do("reshape", mean, []int{-1}), c.do("reshape", rstd, []int{-1})
		default:
			mean, rstd = c.out(1), c.out(2)
		}
		c.giveNorm([]int{0, 1, 2}, "native_batch_norm_backward", c.g(), x, c.in(1), runningMean, runningVar, mean, rstd, training, c.float(7))
	},
	"native_group_norm": func(c *gradient) {
		x, mean, rstd := c.in(0), c.out(1), c.out(2)
		if c.records() {
			grouped := []int{c.int(3), c.int(6), -1}
			mean, rstd = c.statistics(c.do("reshape", x, grouped), []int{2}, c.float(7))
			mean, rstd = c.do("squeeze.dim", mean, 2), c.do("squeeze.dim", rstd, 2)
		}
		c.giveNorm([]int{0, 1, 2}, "native_group_norm_backward", c.g(), x, mean, rstd, c.in(1), c.int(3), c.int(4), c.int(5), c.int(6))
	},
}

// giveRunning gives the gradients of running statistics, where these are asked for.
func (c *gradient) giveRunning(x, mean, variance tensors) {
	if !c.needs(3) && !c.needs(4) {
		return
	}
	along := composer{c.Emitter}.along
	g, dims, n := c.g(), channelDims(x.Dim(), 0), x.Dim()
	if w := c.in(1); w != nil {
		g = c.mul(g, along(value.OfTensor(w), n))
	}
	rstd := c.do("rsqrt", c.plus(variance, c.float(7)))
	distant := c.mul(g, c.sub(x, along(value.OfTensor(mean), n)))
	c.give(3, c.neg(c.mul(c.do("sum.dim_IntList", g, dims, false), rstd)))
	c.give(4, c.scale(c.mul(c.do("sum.dim_IntList", distant, dims, false), c.do("pow.Tensor_Scalar", rstd, 3)), -0.5))
}

// records reports whether the gradient is recorded itself.
func (c *gradient) records() bool {
	e, ok := c.Emitter.(*emitter)
	return !ok || e.mode.records()
}

// statistics returns means and one over deviations.
func (c *gradient) statistics(x tensors, dims []int, eps float64) (mean, rstd tensors) {
	mean, variance := composer{c.Emitter}.moments(x, dims)
	return mean, c.do("rsqrt", c.do("add.Scalar", variance, eps))
}

// giveNorm gives the gradients of arguments that an operator computes when its last argument asks for them.
func (c *gradient) giveNorm(arguments []int, name string, args ...any) {
	mask := value.NewList(types.Bool)
	for _, i := range arguments {
		mask.Items = append(mask.Items, value.Bool(c.needs(i)))
	}
	for j, g := range emit(c.Emitter, name, append(args, value.OfList(mask))...) {
		if c.needs(arguments[j]) {
			c.give(arguments[j], g.Tensor())
		}
	}
}

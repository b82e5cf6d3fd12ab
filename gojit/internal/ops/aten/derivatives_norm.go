package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
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

// giveNorm gives the gradients of arguments that an operator computes when its last argument asks for them.
func (c gradient) giveNorm(arguments []int, name string, args ...any) {
	mask := value.NewList(types.Bool)
	for _, i := range arguments {
		mask.Items = append(mask.Items, value.Bool(c.needs(i)))
	}
	for j, g := range ops.DoAll(c.run, name, append(args, value.OfList(mask))...) {
		if c.needs(arguments[j]) {
			c.give(arguments[j], g.Tensor())
		}
	}
}

package aten

import (
	"github.com/torchjit/torchjit/gojit/tensor"
)

// besselGrad is that of a function of order 1: the one of order 0 less the function over x.
func (c gradient) besselGrad(zeroth string) {
	x := c.in(0)
	c.give(0, c.mul(c.g(), c.besselSlope(x, c.sub(c.do(zeroth, x), c.overSelf(c.out(0), x)))))
}

// besselSlope is slope where x is not zero, and its limit 1/2 there.
func (c gradient) besselSlope(x, slope tensors) tensors {
	return c.do("masked_fill.Scalar", slope, c.do("eq.Scalar", x, 0.0), 0.5)
}

// overSelf is y/x, zero where x is.
func (c gradient) overSelf(y, x tensors) tensors {
	zero := c.do("eq.Scalar", x, 0.0)
	return c.do("masked_fill.Scalar", c.div(y, c.do("masked_fill.Scalar", x, zero, 1.0)), zero, 0.0)
}

// incompleteGamma is the derivative of the regularized incomplete gamma functions by the second argument.
func incompleteGamma(c gradient, sign float64) {
	if c.needs(0) {
		fail("derivative for %s by its first argument is not implemented", c.run.Operator())
	}
	a, x := c.in(0), c.in(1)
	logs := c.sub(c.sub(c.mul(c.plus(a, -1), c.do("log", x)), x), c.do("lgamma", a))
	c.give(1, c.scale(c.mul(c.g(), c.do("exp", logs)), sign))
}

func zetaGrad(c gradient) {
	if c.needs(0) {
		fail("derivative for %s by its first argument is not implemented", c.run.Operator())
	}
	s := c.in(0)
	if s == nil {
		s = must(tensor.Full(nil, tensor.Float(c.float(0)), c.g().DType()))
	}
	c.give(1, c.neg(c.mul(c.g(), c.mul(s, c.do("special_zeta", c.plus(s, 1), c.in(1))))))
}

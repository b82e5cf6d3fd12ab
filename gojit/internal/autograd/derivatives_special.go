package autograd

import (
	"math"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// specialDerivatives are those of the special functions.
var specialDerivatives = map[string]derivative{
	"lgamma":  ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("digamma", x)) }),
	"digamma": ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("polygamma", 1, x)) }),
	"polygamma": func(c *gradient) {
		c.give(1, c.mul(c.g(), c.do("polygamma", c.int(0)+1, c.in(1))))
	},
	"erfinv": ofResult(func(c *gradient, g, y tensors) tensors {
		return c.scale(c.mul(g, c.do("exp", c.square(y))), math.Sqrt(math.Pi)/2)
	}),
	"special_erfcx": func(c *gradient) {
		slope := c.plus(c.scale(c.mul(c.in(0), c.out(0)), 2), -2/math.Sqrt(math.Pi))
		c.give(0, c.mul(c.g(), slope))
	},
	"special_ndtri": ofResult(func(c *gradient, g, y tensors) tensors {
		return c.scale(c.mul(g, c.do("exp", c.scale(c.square(y), 0.5))), math.Sqrt(2*math.Pi))
	}),
	"i0": ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("special_i1", x)) }),
	"special_i0e": func(c *gradient) {
		x := c.in(0)
		c.give(0, c.mul(c.g(), c.sub(c.do("special_i1e", x), c.mul(c.do("sgn", x), c.out(0)))))
	},
	"special_i1": func(c *gradient) { c.besselGrad("i0") },
	"special_i1e": func(c *gradient) {
		x := c.in(0)
		less := c.add(c.mul(c.out(0), c.do("sgn", x)), c.overSelf(c.out(0), x))
		c.give(0, c.mul(c.g(), c.besselSlope(x, c.sub(c.do("special_i0e", x), less))))
	},
	"_standard_gamma": func(c *gradient) {
		c.give(0, c.mul(c.g(), c.do("_standard_gamma_grad", c.in(0), c.out(0))))
	},
	"igamma":            func(c *gradient) { incompleteGamma(c, 1) },
	"igammac":           func(c *gradient) { incompleteGamma(c, -1) },
	"special_gammainc":  func(c *gradient) { incompleteGamma(c, 1) },
	"special_gammaincc": func(c *gradient) { incompleteGamma(c, -1) },
	"special_zeta":      zetaGrad, "special_zeta.self_scalar": zetaGrad,
	"special_bessel_j0":          ofSelf(func(c *gradient, g, x tensors) tensors { return c.neg(c.mul(g, c.do("special_bessel_j1", x))) }),
	"special_bessel_y0":          ofSelf(func(c *gradient, g, x tensors) tensors { return c.neg(c.mul(g, c.do("special_bessel_y1", x))) }),
	"special_bessel_j1":          func(c *gradient) { c.besselGrad("special_bessel_j0") },
	"special_bessel_y1":          func(c *gradient) { c.besselGrad("special_bessel_y0") },
	"special_modified_bessel_i0": ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("special_modified_bessel_i1", x)) }),
	"special_modified_bessel_i1": func(c *gradient) { c.besselGrad("special_modified_bessel_i0") },
	"floor_divide":               func(c *gradient) { c.give(0, c.zeros(c.g())); c.give(1, c.zeros(c.g())) },
	"nextafter":                  func(c *gradient) { c.give(0, c.g()); c.give(1, c.zeros(c.g())) },
}

// besselGrad is that of a function of order 1: the one of order 0 less the function over x.
func (c *gradient) besselGrad(zeroth string) {
	x := c.in(0)
	c.give(0, c.mul(c.g(), c.besselSlope(x, c.sub(c.do(zeroth, x), c.overSelf(c.out(0), x)))))
}

// besselSlope is slope where x is not zero, and its limit 1/2 there.
func (c *gradient) besselSlope(x, slope tensors) tensors {
	return c.do("masked_fill.Scalar", slope, c.do("eq.Scalar", x, 0.0), 0.5)
}

// overSelf is y/x, zero where x is.
func (c *gradient) overSelf(y, x tensors) tensors {
	zero := c.do("eq.Scalar", x, 0.0)
	return c.do("masked_fill.Scalar", c.div(y, c.do("masked_fill.Scalar", x, zero, 1.0)), zero, 0.0)
}

// incompleteGamma is the derivative of the regularized incomplete gamma functions by the second argument.
func incompleteGamma(c *gradient, sign float64) {
	if c.needs(0) {
		fail("derivative for %s by its first argument is not implemented", c.node.op)
	}
	a, x := c.in(0), c.in(1)
	logs := c.sub(c.sub(c.mul(c.plus(a, -1), c.do("log", x)), x), c.do("lgamma", a))
	c.give(1, c.scale(c.mul(c.g(), c.do("exp", logs)), sign))
}

func zetaGrad(c *gradient) {
	if c.needs(0) {
		fail("derivative for %s by its first argument is not implemented", c.node.op)
	}
	s := c.in(0)
	if s == nil {
		s = must(tensor.Full(nil, tensor.Float(c.float(0)), c.g().DType()))
	}
	c.give(1, c.neg(c.mul(c.g(), c.mul(s, c.do("special_zeta", c.plus(s, 1), c.in(1))))))
}

package special

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// besselGrad is that of a function of order 1: the one of order 0 less the function over x.
func besselGrad(c define.Gradient, zeroth string) {
	x := c.In(0)
	c.Give(0, c.Mul(c.G(), besselSlope(c, x, c.Sub(c.Do(zeroth, x), overSelf(c, c.Out(0), x)))))
}

// besselSlope is slope where x is not zero, and its limit 1/2 there.
func besselSlope(c define.Gradient, x, slope define.Tensors) define.Tensors {
	return c.Do("masked_fill.Scalar", slope, c.Do("eq.Scalar", x, 0.0), 0.5)
}

// overSelf is y/x, zero where x is.
func overSelf(c define.Gradient, y, x define.Tensors) define.Tensors {
	zero := c.Do("eq.Scalar", x, 0.0)
	return c.Do("masked_fill.Scalar", c.Div(y, c.Do("masked_fill.Scalar", x, zero, 1.0)), zero, 0.0)
}

// incompleteGamma is the derivative of the regularized incomplete gamma functions by the second argument.
func incompleteGamma(c define.Gradient, sign float64) {
	if c.Needs(0) {
		define.Fail("derivative for %s by its first argument is not implemented", c.Tape.Operator())
	}
	a, x := c.In(0), c.In(1)
	logs := c.Sub(c.Sub(c.Mul(c.Plus(a, -1), c.Do("log", x)), x), c.Do("lgamma", a))
	c.Give(1, c.Scale(c.Mul(c.G(), c.Do("exp", logs)), sign))
}

func zetaGrad(c define.Gradient) {
	if c.Needs(0) {
		define.Fail("derivative for %s by its first argument is not implemented", c.Tape.Operator())
	}
	s := c.In(0)
	if s == nil {
		s = source.Must(tensor.Full(nil, tensor.Float(c.Float(0)), c.G().DType()))
	}
	c.Give(1, c.Neg(c.Mul(c.G(), c.Mul(s, c.Do("special_zeta", c.Plus(s, 1), c.In(1))))))
}

package nn

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// activationGradients are the records of the gradients of activations: of the gradient of the result, of the argument and of some numbers.
var activationGradients = []ops.Def{
	{Name: "threshold_backward", Tags: ops.Unfused, Operands: 2, Numbers: 1, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Le, x[1], x[2]), b.Number(x[0], 0), x[0])
	}, Grad: ofSteps(func(g define.Grad, dy define.Ref) define.Ref {
		return g.Do("threshold_backward", dy, g.In(1), g.Arg(2))
	})},
	{Name: "leaky_relu_backward", Tags: ops.Unfused, Operands: 2, Numbers: 1, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Gt, x[1], b.Number(x[1], 0)), x[0], b.Mul(x[0], x[2]))
	}, Grad: ofSteps(func(g define.Grad, dy define.Ref) define.Ref {
		return g.Do("leaky_relu_backward", dy, g.In(1), g.Arg(2), g.Arg(3))
	})},
	{Name: "hardtanh_backward", Tags: ops.Unfused, Operands: 2, Numbers: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.And, b.Binary(kernel.Gt, x[1], x[2]), b.Binary(kernel.Lt, x[1], x[3])), x[0], b.Number(x[0], 0))
	}, Grad: ofSteps(func(g define.Grad, dy define.Ref) define.Ref {
		return g.Do("hardtanh_backward", dy, g.In(1), g.Arg(2), g.Arg(3))
	})},
	{Name: "hardsigmoid_backward", Tags: ops.Unfused, Operands: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		inside := b.Binary(kernel.And, b.Binary(kernel.Gt, x[1], b.Number(x[1], -3)), b.Binary(kernel.Lt, x[1], b.Number(x[1], 3)))
		return b.Select(inside, b.Mul(x[0], b.Number(x[0], 1./6)), b.Number(x[0], 0))
	}, Grad: ofSteps(func(g define.Grad, dy define.Ref) define.Ref { return g.Do("hardsigmoid_backward", dy, g.In(1)) })},
	{Name: "hardswish_backward", Tags: ops.Unfused, Operands: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		middle := b.Mul(x[0], b.Add(b.Div(x[1], b.Number(x[1], 3)), b.Number(x[1], 0.5)))
		return b.Select(b.Binary(kernel.Lt, x[1], b.Number(x[1], -3)), b.Number(x[0], 0), b.Select(b.Binary(kernel.Ge, x[1], b.Number(x[1], 3)), x[0], middle))
	}, Grad: func(g define.Grad) {
		g.Give(0, g.Do("hardswish_backward", g.Grad(0), g.In(1)))
		if g.Needs(1) {
			bent := g.Do("lt.Scalar", g.Do("abs", g.In(1)), 3.0)
			g.Give(1, g.Where(bent, g.Scale(g.Mul(g.Grad(0), g.In(0)), 1./3)))
		}
	}},
	{Name: "silu_backward", Tags: ops.Unfused, Operands: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		one, s := b.Number(x[1], 1), elementwise.SigmoidOf(b, x[1])
		return b.Mul(x[0], b.Mul(s, b.Add(one, b.Mul(x[1], b.Sub(one, s)))))
	}},
	{Name: "mish_backward", Tags: ops.Unfused, Operands: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		t := b.Unary(kernel.Tanh, b.Unary(kernel.Log1p, b.Exp(x[1])))
		slope := b.Sub(b.Number(x[1], 1), b.Mul(t, t))
		return b.Mul(x[0], b.Add(t, b.Mul(b.Mul(x[1], elementwise.SigmoidOf(b, x[1])), slope)))
	}},
	{Name: "softplus_backward", Tags: ops.Unfused, Operands: 2, Numbers: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		scaled := b.Mul(x[1], x[2])
		return b.Select(b.Binary(kernel.Gt, scaled, x[3]), x[0], b.Mul(x[0], elementwise.SigmoidOf(b, scaled)))
	}},
	{Name: "hardshrink_backward", Tags: ops.Unfused, Operands: 2, Numbers: 1, Scalar: outside,
		Grad: ofSteps(func(g define.Grad, dy define.Ref) define.Ref {
			return g.Do("hardshrink_backward", dy, g.In(1), g.Arg(2))
		})},
	{Name: "softshrink_backward", Tags: ops.Unfused, Operands: 2, Numbers: 1, Scalar: outside,
		Grad: ofSteps(func(g define.Grad, dy define.Ref) define.Ref {
			return g.Do("softshrink_backward", dy, g.In(1), g.Arg(2))
		})},
}

// ofSteps is the derivative of the gradient of an activation made of straight lines: the argument has a gradient, which is zero.
func ofSteps(again func(g define.Grad, dy define.Ref) define.Ref) func(g define.Grad) {
	return func(g define.Grad) {
		g.Give(0, again(g, g.Grad(0)))
		g.Give(1, g.Zeros(g.Grad(0)))
	}
}

// outside has a gradient below -x[2] and above x[2].
func outside(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	beyond := b.Binary(kernel.Or, b.Binary(kernel.Lt, x[1], b.Neg(x[2])), b.Binary(kernel.Gt, x[1], x[2]))
	return b.Select(beyond, x[0], b.Number(x[0], 0))
}

// geluGradients are those of gelu and of its approximation by a tanh.
var geluGradients = [...]*elementwise.Operator{
	elementwise.New("gelu_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		number := func(f float64) elementwise.Element { return b.Number(x[1], f) }
		cumulative := b.Mul(b.Add(b.Unary(kernel.Erf, b.Mul(x[1], number(math.Sqrt2/2))), number(1)), number(0.5))
		density := b.Mul(b.Exp(b.Mul(b.Mul(x[1], x[1]), number(-0.5))), number(math.Sqrt2/2/math.SqrtPi))
		return b.Mul(x[0], b.Fma(x[1], density, cumulative))
	}),
	elementwise.New("gelu_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		const width, cubic = math.Sqrt2 / math.SqrtPi, 0.044715 // of tanh(width * (x + cubic * x**3))
		number := func(f float64) elementwise.Element { return b.Number(x[1], f) }
		// With e = exp(-2|y|) of what tanh is of, (1 + tanh(y)) / 2 is 1/(1+e), or e/(1+e) below zero, and 1 - tanh(y)**2 is 4*e/(1+e)**2: nothing cancels.
		square := b.Mul(x[1], x[1])
		y := b.Mul(number(width), b.Mul(x[1], b.Fma(square, number(cubic), number(1))))
		inner := b.Mul(number(width), b.Fma(square, number(3*cubic), number(1)))
		e := b.Exp(b.Mul(number(-2), b.Unary(kernel.Abs, y)))
		inverse := b.Div(number(1), b.Add(number(1), e))
		rest := b.Mul(e, inverse)
		share := b.Select(b.Binary(kernel.Ge, y, number(0)), inverse, rest)
		turn := b.Mul(b.Mul(b.Mul(number(2), b.Mul(x[1], inner)), rest), inverse)
		return b.Mul(x[0], b.Add(share, turn))
	}),
}

// geluGradient is the record of the gradient of gelu.
var geluGradient = []ops.Def{{Name: "gelu_backward", Into: elementwise.Into(func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	approximate := c.Str(2)
	source.Check(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.")
	return geluGradients[define.Btoi(approximate == "tanh")].Run(dst, []elementwise.Operand{elementwise.OfTensor(c.Tensor(0)), elementwise.OfTensor(c.Tensor(1))})
})}}

var eluGradients = [...]*elementwise.Operator{
	elementwise.New("elu_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		below := b.Mul(b.Mul(b.Mul(x[0], x[4]), b.Mul(x[2], x[3])), b.Exp(b.Mul(x[1], x[4])))
		return b.Select(b.Binary(kernel.Gt, x[1], b.Number(x[1], 0)), b.Mul(x[0], x[3]), below)
	}),
	elementwise.New("elu_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element { // of the result
		below := b.Mul(b.Mul(x[0], x[4]), b.Add(x[1], b.Mul(x[2], x[3])))
		return b.Select(b.Binary(kernel.Gt, x[1], b.Number(x[1], 0)), b.Mul(x[0], x[3]), below)
	}),
}

// eluGradient is the record of the gradient of elu, of its argument or of its result.
var eluGradient = []ops.Def{{Name: "elu_backward", Into: elementwise.Into(func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	return eluGradients[define.Btoi(c.Bool(4))].Run(dst, []elementwise.Operand{elementwise.OfTensor(c.Tensor(0)), elementwise.OfTensor(c.Tensor(5))}, c.Scalar(1), c.Scalar(2), c.Scalar(3))
}), Grad: define.Concrete(func(c define.Gradient) {
	alpha, scale, inner, x := c.Float(1), c.Float(2), c.Float(3), c.In(5)
	c.Give(0, c.Do("elu_backward", c.G(), alpha, scale, inner, c.Bool(4), x))
	if c.Needs(5) {
		slope := c.Scale(c.Mul(c.G(), c.In(0)), inner)
		if !c.Bool(4) {
			slope = c.Scale(c.Mul(slope, c.Do("exp", c.Scale(x, inner))), alpha*scale*inner)
		}
		c.Give(5, c.Where(c.Do("lt.Scalar", x, 0.0), slope))
	}
})}}

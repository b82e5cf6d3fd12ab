package autograd

import (
	"maps"
	"math"
	"math/cmplx"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tensors is short for what derivatives compute with.
type tensors = *tensor.Tensor

// derivatives are those of all operators by their names without the namespace; an in-place
// overload has that of the functional one.
var derivatives = map[string]derivative{}

func init() {
	for _, family := range []map[string]derivative{pointwiseDerivatives, viewDerivatives, reduceDerivatives, matrixDerivatives, networkDerivatives, moveDerivatives, resampleDerivatives, specialDerivatives, linalgDerivatives, hermitianDerivatives, complexDerivatives, fourierDerivatives, constantDerivatives, copyDerivatives(), normDerivatives, sparseDerivatives} {
		maps.Copy(derivatives, family)
	}
}

// ofSelf makes a derivative of a function of one tensor from g, the argument and the result.
func ofSelf(f func(c *gradient, g, x tensors) tensors) derivative {
	return func(c *gradient) { c.give(0, f(c, c.g(), c.in(0))) }
}

func ofResult(f func(c *gradient, g, y tensors) tensors) derivative {
	return func(c *gradient) { c.give(0, f(c, c.g(), c.out(0))) }
}

func (c *gradient) mul(a, b tensors) tensors           { return c.do("mul.Tensor", a, b) }
func (c *gradient) div(a, b tensors) tensors           { return c.do("div.Tensor", a, b) }
func (c *gradient) add(a, b tensors) tensors           { return c.do("add.Tensor", a, b) }
func (c *gradient) sub(a, b tensors) tensors           { return c.do("sub.Tensor", a, b) }
func (c *gradient) neg(a tensors) tensors              { return c.do("neg", a) }
func (c *gradient) scale(a tensors, k float64) tensors { return c.do("mul.Scalar", a, k) }
func (c *gradient) plus(a tensors, k float64) tensors  { return c.do("add.Scalar", a, k) }
func (c *gradient) square(a tensors) tensors           { return c.mul(a, a) }
func (c *gradient) zeros(a tensors) tensors            { return c.do("zeros_like", a) }

// where gives a where the condition holds, else zero.
func (c *gradient) where(condition, a tensors) tensors {
	return c.do("where.self", condition, a, c.zeros(a))
}

// oneMinusSquare gives 1 - a².
func (c *gradient) oneMinusSquare(a tensors) tensors { return c.plus(c.neg(c.square(a)), 1) }

func (c *gradient) scaledBy(a tensors, v value.Value) tensors {
	if v.IsInt() && v.Int() == 1 {
		return a
	}
	return c.do("mul.Scalar", a, v)
}

func zeroOfSelf(c *gradient) { c.give(0, c.zeros(c.g())) }

var pointwiseDerivatives = map[string]derivative{
	"add.Tensor":  func(c *gradient) { c.give(0, c.g()); c.give(1, c.scaledBy(c.g(), c.arg(2))) },
	"add.Scalar":  func(c *gradient) { c.give(0, c.g()) },
	"sub.Tensor":  func(c *gradient) { c.give(0, c.g()); c.give(1, c.neg(c.scaledBy(c.g(), c.arg(2)))) },
	"sub.Scalar":  func(c *gradient) { c.give(0, c.g()) },
	"rsub.Tensor": func(c *gradient) { c.give(0, c.neg(c.scaledBy(c.g(), c.arg(2)))); c.give(1, c.g()) },
	"rsub.Scalar": func(c *gradient) { c.give(0, c.neg(c.scaledBy(c.g(), c.arg(2)))) },
	"mul.Tensor":  mulGrad, "multiply.Tensor": mulGrad,
	"mul.Scalar": func(c *gradient) { c.give(0, c.do("mul.Scalar", c.g(), c.arg(1))) },
	"div.Tensor": divGrad, "true_divide.Tensor": divGrad, "divide.Tensor": divGrad,
	"div.Scalar": func(c *gradient) { c.give(0, c.do("div.Scalar", c.g(), c.arg(1))) },
	"div.Tensor_mode": func(c *gradient) {
		if c.isNone(2) {
			divGrad(c)
			return
		}
		c.give(0, c.zeros(c.g()))
		c.give(1, c.zeros(c.g()))
	},
	"neg":        func(c *gradient) { c.give(0, c.neg(c.g())) },
	"negative":   func(c *gradient) { c.give(0, c.neg(c.g())) },
	"positive":   func(c *gradient) { c.give(0, c.g()) },
	"exp":        ofResult(func(c *gradient, g, y tensors) tensors { return c.mul(g, y) }),
	"exp2":       ofResult(func(c *gradient, g, y tensors) tensors { return c.scale(c.mul(g, y), math.Ln2) }),
	"expm1":      ofResult(func(c *gradient, g, y tensors) tensors { return c.mul(g, c.plus(y, 1)) }),
	"log":        ofSelf(func(c *gradient, g, x tensors) tensors { return c.div(g, x) }),
	"log2":       ofSelf(func(c *gradient, g, x tensors) tensors { return c.div(g, c.scale(x, math.Ln2)) }),
	"log10":      ofSelf(func(c *gradient, g, x tensors) tensors { return c.div(g, c.scale(x, math.Ln10)) }),
	"log1p":      ofSelf(func(c *gradient, g, x tensors) tensors { return c.div(g, c.plus(x, 1)) }),
	"sqrt":       ofResult(func(c *gradient, g, y tensors) tensors { return c.div(g, c.scale(y, 2)) }),
	"rsqrt":      ofResult(func(c *gradient, g, y tensors) tensors { return c.scale(c.mul(g, c.mul(y, c.square(y))), -0.5) }),
	"square":     ofSelf(func(c *gradient, g, x tensors) tensors { return c.scale(c.mul(g, x), 2) }),
	"reciprocal": ofResult(func(c *gradient, g, y tensors) tensors { return c.neg(c.mul(g, c.square(y))) }),
	"sin":        ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("cos", x)) }),
	"cos":        ofSelf(func(c *gradient, g, x tensors) tensors { return c.neg(c.mul(g, c.do("sin", x))) }),
	"tan":        ofResult(func(c *gradient, g, y tensors) tensors { return c.mul(g, c.plus(c.square(y), 1)) }),
	"asin":       ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("rsqrt", c.oneMinusSquare(x))) }),
	"acos":       ofSelf(func(c *gradient, g, x tensors) tensors { return c.neg(c.mul(g, c.do("rsqrt", c.oneMinusSquare(x)))) }),
	"atan":       ofSelf(func(c *gradient, g, x tensors) tensors { return c.div(g, c.plus(c.square(x), 1)) }),
	"sinh":       ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("cosh", x)) }),
	"cosh":       ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("sinh", x)) }),
	"tanh": ofResult(func(c *gradient, g, y tensors) tensors {
		if y.DType().IsComplex() {
			return c.mul(g, c.oneMinusSquare(y))
		}
		return c.do("tanh_backward", g, y)
	}),
	"asinh": ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("rsqrt", c.plus(c.square(x), 1))) }),
	"acosh": ofSelf(func(c *gradient, g, x tensors) tensors {
		return c.mul(g, c.mul(c.do("rsqrt", c.plus(x, 1)), c.do("rsqrt", c.plus(x, -1)))) // the branch of complex numbers
	}),
	"atanh": ofSelf(func(c *gradient, g, x tensors) tensors { return c.div(g, c.oneMinusSquare(x)) }),
	"erf": ofSelf(func(c *gradient, g, x tensors) tensors {
		return c.scale(c.mul(g, c.do("exp", c.neg(c.square(x)))), 2/math.Sqrt(math.Pi))
	}),
	"erfc": ofSelf(func(c *gradient, g, x tensors) tensors {
		return c.scale(c.mul(g, c.do("exp", c.neg(c.square(x)))), -2/math.Sqrt(math.Pi))
	}),
	"sigmoid": ofResult(func(c *gradient, g, y tensors) tensors {
		if y.DType().IsComplex() {
			return c.mul(g, c.mul(y, c.plus(c.neg(y), 1)))
		}
		return c.do("sigmoid_backward", g, y)
	}),
	"abs":  ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("sgn", x)) }),
	"sgn":  ofResult(signGrad),
	"sign": zeroOfSelf, "floor": zeroOfSelf, "ceil": zeroOfSelf, "round": zeroOfSelf, "trunc": zeroOfSelf, "round.decimals": zeroOfSelf,
	"frac": func(c *gradient) { c.give(0, c.g()) },
	"pow.Tensor_Scalar": ofSelf(func(c *gradient, g, x tensors) tensors {
		k := c.number(1)
		switch k {
		case 0:
			return c.zeros(g)
		case 2:
			return c.mul(g, c.do("mul.Scalar", x, plain(k)))
		}
		return c.mul(g, c.do("mul.Scalar", c.do("pow.Tensor_Scalar", x, plain(k-1)), plain(k)))
	}),
	"pow.Tensor_Tensor": func(c *gradient) {
		x, k, y := c.in(0), c.in(1), c.out(0)
		less := c.do("pow.Tensor_Tensor", x, c.plus(k, -1))
		c.give(0, c.where(c.do("ne.Scalar", c.do("expand_as", k, y), 0.0), c.mul(c.g(), c.mul(k, less))))
		if c.needs(1) {
			zero := c.do("logical_and", c.do("eq.Scalar", x, 0.0), c.do("ge.Scalar", c.real(k), 0.0))
			c.give(1, c.where(c.do("logical_not", zero), c.mul(c.g(), c.mul(y, c.do("log", x)))))
		}
	},
	"pow.Scalar": func(c *gradient) {
		c.give(1, c.do("mul.Scalar", c.mul(c.g(), c.out(0)), plain(cmplx.Log(c.number(0)))))
	},
	"relu":  ofResult(func(c *gradient, g, y tensors) tensors { return c.do("threshold_backward", g, y, 0) }),
	"relu6": ofSelf(func(c *gradient, g, x tensors) tensors { return c.do("hardtanh_backward", g, x, 0, 6) }),
	"hardtanh": ofSelf(func(c *gradient, g, x tensors) tensors {
		return c.do("hardtanh_backward", g, x, c.float(1), c.float(2))
	}),
	"hardsigmoid": ofSelf(func(c *gradient, g, x tensors) tensors { return c.do("hardsigmoid_backward", g, x) }),
	"hardswish":   ofSelf(func(c *gradient, g, x tensors) tensors { return c.do("hardswish_backward", g, x) }),
	"leaky_relu": ofSelf(func(c *gradient, g, x tensors) tensors {
		return c.do("leaky_relu_backward", g, x, c.float(1), false)
	}),
	"elu":  ofSelf(func(c *gradient, g, x tensors) tensors { return c.elu(g, x, c.float(1), c.float(2), c.float(3)) }),
	"selu": ofSelf(func(c *gradient, g, x tensors) tensors { return c.elu(g, x, 1.6732632423543772, 1.0507009873554805, 1) }),
	"celu": ofSelf(func(c *gradient, g, x tensors) tensors { return c.elu(g, x, c.float(1), 1, 1/c.float(1)) }),
	"silu": ofSelf(func(c *gradient, g, x tensors) tensors {
		if !x.DType().IsComplex() {
			return c.do("silu_backward", g, x)
		}
		s := c.do("sigmoid", x)
		return c.mul(g, c.mul(s, c.plus(c.mul(x, c.plus(c.neg(s), 1)), 1)))
	}),
	"mish": ofSelf(func(c *gradient, g, x tensors) tensors {
		t := c.do("tanh", c.do("softplus", x))
		return c.mul(g, c.add(t, c.mul(c.mul(x, c.do("sigmoid", x)), c.oneMinusSquare(t))))
	}),
	"gelu": ofSelf(func(c *gradient, g, x tensors) tensors { return c.do("gelu_backward", g, x, c.arg(1)) }),
	"softplus": ofSelf(func(c *gradient, g, x tensors) tensors {
		return c.do("softplus_backward", g, x, c.float(1), c.float(2))
	}),
	"log_sigmoid": ofSelf(func(c *gradient, g, x tensors) tensors { return c.mul(g, c.do("sigmoid", c.neg(x))) }),
	"prelu": func(c *gradient) {
		x, w := c.in(0), c.in(1)
		shape := make([]int, x.Dim())
		for i := range shape {
			shape[i] = 1
		}
		if w.Numel() > 1 {
			shape[1] = w.Numel()
		}
		w = c.do("reshape", w, shape)
		positive := c.do("gt.Scalar", x, 0.0)
		c.give(0, c.do("where.self", positive, c.g(), c.mul(c.g(), w)))
		if c.needs(1) {
			below := c.where(c.do("le.Scalar", x, 0.0), c.mul(c.g(), x))
			c.give(1, c.do("reshape", c.sumTo(below, shape), c.shape(1)))
		}
	},
	"threshold": ofSelf(func(c *gradient, g, x tensors) tensors { return c.do("threshold_backward", g, x, c.arg(1)) }),
	"clip":      clampGrad, "clamp": clampGrad,
	"clamp_min": ofSelf(func(c *gradient, g, x tensors) tensors { return c.where(c.do("ge.Scalar", x, c.arg(1)), g) }),
	"clamp_max": ofSelf(func(c *gradient, g, x tensors) tensors { return c.where(c.do("le.Scalar", x, c.arg(1)), g) }),
	"maximum":   func(c *gradient) { extremeGrad(c, "gt.Tensor") },
	"minimum":   func(c *gradient) { extremeGrad(c, "lt.Tensor") },
	"max.other": func(c *gradient) { extremeGrad(c, "gt.Tensor") },
	"min.other": func(c *gradient) { extremeGrad(c, "lt.Tensor") },
	"where.self": func(c *gradient) {
		c.give(1, c.where(c.in(0), c.g()))
		c.give(2, c.where(c.do("logical_not", c.in(0)), c.g()))
	},
	"where.ScalarSelf":   func(c *gradient) { c.give(2, c.where(c.do("logical_not", c.in(0)), c.g())) },
	"where.ScalarOther":  func(c *gradient) { c.give(1, c.where(c.in(0), c.g())) },
	"masked_fill.Scalar": func(c *gradient) { c.give(0, c.where(c.do("logical_not", c.in(1)), c.g())) },
	"masked_fill.Tensor": func(c *gradient) {
		c.give(0, c.where(c.do("logical_not", c.in(1)), c.g()))
		c.give(2, c.where(c.in(1), c.g()))
	},
	"atan2": func(c *gradient) {
		y, x := c.in(0), c.in(1)
		scaled := c.div(c.g(), c.add(c.square(x), c.square(y)))
		c.give(0, c.mul(scaled, x))
		c.give(1, c.neg(c.mul(scaled, y)))
	},
	"xlogy.Tensor": func(c *gradient) {
		x, y := c.in(0), c.in(1)
		nothing := c.do("logical_and", c.do("eq.Scalar", x, 0.0), c.do("le.Scalar", y, 0.0))
		c.give(0, c.do("masked_fill.Scalar", c.mul(c.g(), c.do("log", y)), nothing, 0.0))
		c.give(1, c.div(c.mul(c.g(), x), y))
	},
	"lerp.Tensor": func(c *gradient) {
		w := c.in(2)
		c.give(0, c.sub(c.g(), c.mul(c.g(), w)))
		c.give(1, c.mul(c.g(), w))
		c.give(2, c.mul(c.g(), c.sub(c.in(1), c.in(0))))
	},
	"hypot": func(c *gradient) {
		scaled := c.div(c.g(), c.out(0))
		c.give(0, c.mul(scaled, c.in(0)))
		c.give(1, c.mul(scaled, c.in(1)))
	},
	"logaddexp": func(c *gradient) {
		apart := c.sub(c.in(0), c.in(1))
		c.give(0, c.mul(c.g(), c.do("sigmoid", apart)))
		c.give(1, c.mul(c.g(), c.do("sigmoid", c.neg(apart))))
	},
	"lerp.Scalar": func(c *gradient) {
		c.give(0, c.do("mul.Scalar", c.g(), plain(1-c.number(2))))
		c.give(1, c.do("mul.Scalar", c.g(), plain(c.number(2))))
	},
	"addcmul": func(c *gradient) {
		c.give(0, c.g())
		scaled := c.do("mul.Scalar", c.g(), c.arg(3))
		c.give(1, c.mul(scaled, c.in(2)))
		c.give(2, c.mul(scaled, c.in(1)))
	},
	"addcdiv": func(c *gradient) {
		c.give(0, c.g())
		scaled := c.div(c.do("mul.Scalar", c.g(), c.arg(3)), c.in(2))
		c.give(1, scaled)
		c.give(2, c.neg(c.mul(scaled, c.div(c.in(1), c.in(2)))))
	},
	"remainder.Scalar": func(c *gradient) { c.give(0, c.g()) },
	"fmod.Scalar":      func(c *gradient) { c.give(0, c.g()) },
	"remainder.Tensor": quotientGrad("floor"), "fmod.Tensor": quotientGrad("trunc"),
	"remainder.Scalar_Tensor": func(c *gradient) {
		c.give(1, c.neg(c.mul(c.g(), c.do("floor", c.do("mul.Scalar", c.do("reciprocal", c.in(1)), c.arg(0))))))
	},
	"nan_to_num":   ofSelf(func(c *gradient, g, x tensors) tensors { return c.where(c.do("isfinite", x), g) }),
	"frexp.Tensor": func(c *gradient) { c.give(0, c.div(c.g(), c.do("exp2", c.do("to.dtype", c.out(1), c.g().DType())))) },
	"fill.Scalar":  zeroOfSelf, "zero": zeroOfSelf,
	"bernoulli": zeroOfSelf, "bernoulli.p": zeroOfSelf, "normal.Tensor_float": zeroOfSelf,
	"normal.float_Tensor": func(c *gradient) { c.give(1, c.zeros(c.in(1))) },
	"normal.Tensor_Tensor": func(c *gradient) {
		c.give(0, c.zeros(c.in(0)))
		c.give(1, c.zeros(c.in(1)))
	},
	"fill_diagonal": func(c *gradient) {
		mask := must(tensor.Full(c.shape(0), tensor.Int(1), c.g().DType()))
		c.give(0, c.mul(c.g(), c.do("fill_diagonal_", mask, 0.0, c.arg(2))))
	},
	"fill.Tensor":     func(c *gradient) { c.give(0, c.zeros(c.g())); c.give(1, c.do("sum", c.g())) },
	"copy":            func(c *gradient) { c.give(0, c.zeros(c.g())); c.give(1, c.g()) },
	"clone":           func(c *gradient) { c.give(0, c.g()) },
	"contiguous":      func(c *gradient) { c.give(0, c.g()) },
	"alias":           func(c *gradient) { c.give(0, c.g()) },
	"to.dtype":        func(c *gradient) { c.give(0, c.g()) },
	"to.dtype_layout": func(c *gradient) { c.give(0, c.g()) },
	"to.device":       func(c *gradient) { c.give(0, c.g()) },
	"to.other":        func(c *gradient) { c.give(0, c.g()) },
	"to.prim_Device":  func(c *gradient) { c.give(0, c.g()) },
	"to.prim_dtype":   func(c *gradient) { c.give(0, c.g()) },
	"to.prim_other":   func(c *gradient) { c.give(0, c.g()) },
	"_to_copy":        func(c *gradient) { c.give(0, c.g()) },
	"type_as":         func(c *gradient) { c.give(0, c.g()) },
	"float":           func(c *gradient) { c.give(0, c.g()) },
	"double":          func(c *gradient) { c.give(0, c.g()) },
}

// constantDerivatives are those of operators whose results do not move with their arguments: comparisons and random
// numbers that are written into a tensor.
var constantDerivatives = func() map[string]derivative {
	family := map[string]derivative{}
	for _, name := range strings.Fields(`eq ge gt le lt ne greater greater_equal less less_equal not_equal`) {
		family[name+".Scalar"], family[name+".Tensor"] = zeroOfSelf, constantGrad
	}
	for _, name := range strings.Fields(`logical_and logical_or logical_xor logical_not normal uniform exponential cauchy geometric log_normal
		bernoulli.Tensor bernoulli.float poisson random random.from random.to`) {
		family[name] = constantGrad
	}
	return family
}()

// constantGrad gives zeros to all tensors.
func constantGrad(c *gradient) {
	for _, in := range c.node.inputs {
		if in.element < 0 && in.dtype.IsDifferentiable() {
			c.give(in.argument, c.zerosAs(in.shape, in.dtype))
		}
	}
}

var clampGrad = ofSelf(func(c *gradient, g, x tensors) tensors {
	if !c.isNone(1) {
		g = c.where(c.do("ge.Scalar", x, c.arg(1)), g)
	}
	if !c.isNone(2) {
		g = c.where(c.do("le.Scalar", x, c.arg(2)), g)
	}
	return g
})

func mulGrad(c *gradient) {
	if c.needs(0) {
		c.give(0, c.mul(c.g(), c.in(1)))
	}
	if c.needs(1) {
		c.give(1, c.mul(c.g(), c.in(0)))
	}
}

func divGrad(c *gradient) {
	scaled := c.div(c.g(), c.in(1))
	c.give(0, scaled)
	if c.needs(1) {
		c.give(1, c.neg(c.mul(scaled, c.div(c.in(0), c.in(1)))))
	}
}

// extremeGrad gives the gradient to the chosen one, half of it to each where they are equal.
func extremeGrad(c *gradient, better string) {
	a, b, g := c.in(0), c.in(1), c.g()
	half := c.where(c.do("eq.Tensor", a, b), c.scale(g, 0.5))
	c.give(0, c.add(half, c.where(c.do(better, a, b), g)))
	c.give(1, c.add(half, c.where(c.do(better, b, a), g)))
}

// elu is the derivative of scale*x for x > 0 and scale*alpha*(exp(inner*x)-1) below.
func (c *gradient) elu(g, x tensors, alpha, scale, inner float64) tensors {
	return c.do("elu_backward", g, alpha, scale, inner, false, x)
}

// quotientGrad is for what is left of a division: x - y*q with a quotient q that is rounded, and so constant.
func quotientGrad(mode string) derivative {
	return func(c *gradient) {
		c.give(0, c.g())
		if c.needs(1) {
			c.give(1, c.neg(c.mul(c.g(), c.do("div.Tensor_mode", c.in(0), c.in(1), mode))))
		}
	}
}

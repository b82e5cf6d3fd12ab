package aten

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// activationExpression is the meaning of an elementwise operator under its name.
type activationExpression struct {
	name string
	expr expression
}

// activationExpressions are elementwise operators of one tensor and numbers that follow it.
var activationExpressions = []activationExpression{
	{"relu6", func(b builder, x ...element) element { return limit(b, x[0], b.Number(x[0], 0), b.Number(x[0], 6)) }},
	{"hardtanh", func(b builder, x ...element) element { return limit(b, x[0], x[1], x[2]) }},
	{"leaky_relu", func(b builder, x ...element) element {
		return b.Select(b.Binary(kernel.Gt, x[0], b.Number(x[0], 0)), x[0], b.Mul(x[0], x[1]))
	}},
	{"elu", func(b builder, x ...element) element { return elu(b, x[0], b.Mul(x[1], x[2]), x[2], x[3]) }},
	{"selu", func(b builder, x ...element) element {
		const alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
		return elu(b, x[0], b.Number(x[0], alpha*scale), b.Number(x[0], scale), b.Number(x[0], 1))
	}},
	{"celu", func(b builder, x ...element) element {
		one := b.Number(x[0], 1)
		return elu(b, x[0], x[1], one, b.Div(one, x[1]))
	}},
	{"silu", func(b builder, x ...element) element {
		one := b.Number(x[0], 1)
		return b.Div(x[0], b.Add(one, b.Exp(b.Neg(x[0]))))
	}},
	{"mish", func(b builder, x ...element) element {
		return b.Mul(x[0], b.Unary(kernel.Tanh, b.Unary(kernel.Log1p, b.Exp(x[0]))))
	}},
	{"hardswish", func(b builder, x ...element) element {
		return b.Div(b.Mul(x[0], aboveMinusThree(b, x[0])), b.Number(x[0], 6))
	}},
	{"hardsigmoid", func(b builder, x ...element) element { return b.Div(aboveMinusThree(b, x[0]), b.Number(x[0], 6)) }},
	{"softplus", func(b builder, x ...element) element {
		scaled := b.Mul(x[0], x[1])
		return b.Select(b.Binary(kernel.Gt, scaled, x[2]), x[0], b.Div(b.Unary(kernel.Log1p, b.Exp(scaled)), x[1]))
	}},
	{"softshrink", func(b builder, x ...element) element {
		low := b.Select(b.Binary(kernel.Lt, x[0], b.Neg(x[1])), b.Add(x[0], x[1]), b.Mul(x[0], b.Number(x[0], 0)))
		return b.Select(b.Binary(kernel.Gt, x[0], x[1]), b.Sub(x[0], x[1]), low)
	}},
	{"hardshrink", func(b builder, x ...element) element {
		inside := b.Binary(kernel.And, b.Binary(kernel.Ge, x[0], b.Neg(x[1])), b.Binary(kernel.Le, x[0], x[1]))
		return b.Select(inside, b.Number(x[0], 0), x[0])
	}},
	{"log_sigmoid", func(b builder, x ...element) element {
		low := b.Binary(kernel.Min, x[0], b.Number(x[0], 0))
		return b.Sub(low, b.Unary(kernel.Log1p, b.Exp(b.Neg(b.Unary(kernel.Abs, x[0])))))
	}},
	{"threshold", func(b builder, x ...element) element {
		return b.Select(b.Binary(kernel.Le, x[0], x[1]), x[2], x[0])
	}},
}

func limit(b builder, x, low, high element) element {
	return b.Binary(kernel.Min, b.Binary(kernel.Max, x, low), high)
}

func elu(b builder, x, negative, positive, inner element) element {
	return b.Select(b.Binary(kernel.Le, x, b.Number(x, 0)),
		b.Mul(b.Unary(kernel.Expm1, b.Mul(x, inner)), negative), b.Mul(x, positive))
}

// aboveMinusThree is x + 3 from 0 to 6.
func aboveMinusThree(b builder, x element) element {
	return limit(b, b.Add(x, b.Number(x, 3)), b.Number(x, 0), b.Number(x, 6))
}

var (
	gelu = elementwise("gelu", floatType, func(b builder, x ...element) element {
		half := b.Mul(x[0], b.Number(x[0], 0.5))
		return b.Mul(half, b.Add(b.Number(x[0], 1), b.Unary(kernel.Erf, b.Mul(x[0], b.Number(x[0], math.Sqrt2/2)))))
	})
	geluTanh = elementwise("gelu", floatType, func(b builder, x ...element) element {
		cube := b.Mul(b.Mul(x[0], x[0]), x[0])
		inner := b.Mul(b.Number(x[0], math.Sqrt2*2/math.SqrtPi*0.5), b.Add(x[0], b.Mul(b.Number(x[0], 0.044715), cube)))
		return b.Mul(b.Mul(x[0], b.Number(x[0], 0.5)), b.Add(b.Number(x[0], 1), b.Unary(kernel.Tanh, inner)))
	})
	gated = elementwise("glu", sameType, func(b builder, x ...element) element { return b.Mul(x[0], sigmoidOf(b, x[1])) })
	prelu = elementwise("prelu", sameType, func(b builder, x ...element) element {
		return b.Select(b.Binary(kernel.Gt, x[0], b.Number(x[0], 0)), x[0], b.Mul(x[1], x[0]))
	})
)

var rectifyInto = quantizedInto(onCentered, func(c call, dst *tensor.Tensor) *tensor.Tensor {
	return relu.run(dst, []operand{ofTensor(c.tensor(0))})
})

var activationFamily = slices.Concat(activationDefinitions(), activationGradientDefinitions(), []definition{
	giving("rrelu", func(c call) *tensor.Tensor { return randomLeaky(c, c.generator(4)) }),
	define("log_sigmoid_forward", func(c call) {
		c.give(logSigmoid.on(c.tensor(0)), empty([]int{0}, c.tensor(0).DType()))
	}),
	defineInto("relu", func(c call, dst *tensor.Tensor) *tensor.Tensor {
		if isSmall(c.tensor(0)) {
			return rectifiedIntegers(c.tensor(0), dst)
		}
		return rectifyInto(c, dst)
	}),
	defineInto("gelu", func(c call, dst *tensor.Tensor) *tensor.Tensor {
		approximate := c.str(1)
		check(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.")
		if approximate == "tanh" {
			return geluTanh.run(dst, []operand{ofTensor(c.tensor(0))})
		}
		return gelu.run(dst, []operand{ofTensor(c.tensor(0))})
	}),
	giving("prelu", preluOf),
	giving("glu", gluOf),
	giving("softmax.int", func(c call) *tensor.Tensor { return softmax(castTo(c, 2), c.int(1)) }),
	giving("log_softmax.int", func(c call) *tensor.Tensor { return logSoftmax(castTo(c, 2), c.int(1)) }),
	giving("_softmax", func(c call) *tensor.Tensor { return softmax(c.tensor(0), c.int(1)) }),
	giving("_log_softmax", func(c call) *tensor.Tensor { return logSoftmax(c.tensor(0), c.int(1)) }),
})

// castTo returns the first argument converted to the type in argument i, or as it is for None.
func castTo(c call, i int) *tensor.Tensor { return to(c.tensor(0), c.dtypeOr(i, c.tensor(0).DType())) }

func activationDefinitions() []definition {
	var defs []definition
	for _, a := range activationExpressions {
		p := elementwise(a.name, sameType, a.expr)
		if a.name != "relu6" && a.name != "hardtanh" && a.name != "threshold" {
			p.refusing(noIntegers(a.name))
		}
		defs = append(defs, defineInto(a.name, quantizedInto(onReal, func(c call, dst *tensor.Tensor) *tensor.Tensor {
			operands := [1]operand{{tensor: c.tensor(0)}}
			var extras [4]tensor.Scalar
			n := min(len(c.args), 4) - 1
			for i := range n {
				extras[i] = c.scalar(i + 1)
			}
			if a.name == "softshrink" {
				check(extras[0].Float64() >= 0, "lambda must be greater or equal to 0, but found to be %s.", extras[0])
			}
			return p.run(dst, operands[:], extras[:n]...)
		})))
	}
	return defs
}

func preluOf(c call) *tensor.Tensor {
	self, weight := c.tensor(0), c.tensor(1)
	if weight.Numel() != 1 {
		check(self.Dim() > 0, "Not allow zero-dim input tensor.")
		check(weight.Dim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got ndim = %d", weight.Dim())
		channels := 1
		if self.Dim() > 1 {
			channels = self.Size(1)
		}
		check(channels == weight.Numel(), "Mismatch of parameter numbers and input channel size. Found parameter numbers = %d and channel size = %d.", weight.Numel(), channels)
		shape := make([]int, self.Dim())
		for i := range shape {
			shape[i] = 1
		}
		shape[min(1, self.Dim()-1)] = channels
		weight = must(weight.Reshape(shape...))
	} else {
		weight = must(weight.Reshape())
	}
	return prelu.on(self, weight)
}

func gluOf(c call) *tensor.Tensor {
	self := c.tensor(0)
	check(self.Dim() > 0, "glu does not support 0-dimensional tensors")
	dim := wrapDim(c.int(1), self)
	check(self.Size(dim)%2 == 0, "Halving dimension must be even, but dimension %d is size %d", dim, self.Size(dim))
	halves := must(self.Chunk(2, dim))
	check(self.DType().IsFloating(), "\"glu_cpu\" not implemented for '%s'", self.DType().CppName())
	return gated.on(halves[0], halves[1])
}

// rowGrain is the number of elements worth another goroutine in row operations.
const rowGrain = 1 << 14

type realFloat interface{ float32 | float64 }

// floatRows fails on types that have no kernel for rows along dim.
func floatRows(name string, t *tensor.Tensor, dim int) {
	isLast := t.Dim() == 0 || wrapDim(dim, t) == t.Dim()-1
	switch {
	case t.DType().IsFloating():
	case isLast:
		notImplemented(name+"_lastdim_kernel_impl", t.DType())
	default:
		notImplemented(name+"_kernel_impl", t.DType())
	}
}

// randomLeaky multiplies negative elements by random slopes in training and their mean otherwise.
func randomLeaky(c call, gen *tensor.Generator) *tensor.Tensor {
	x, low, high := c.tensor(0), c.scalar(1).Float64(), c.scalar(2).Float64()
	if low > high {
		raise(source.RuntimeError, "Lower bound should be less than or equal to the upper bound")
	}
	if !c.bool(3) {
		return choose(gt.withNumber(x, 0), ofTensor(x), ofTensor(scaleBy(x, (low+high)/2)))
	}
	// each element that is not positive draws its slope, in the order of the elements
	falls := tensor.Data[bool](contiguous(le.on(x, must(tensor.Full(nil, tensor.Int(0), x.DType())))))
	n := 0
	for _, f := range falls {
		if f {
			n++
		}
	}
	drawn := empty([]int{n}, tensor.Float64)
	drawUniform(gen, drawn, low, high)
	slopes := must(tensor.Full(x.Shape(), tensor.Int(1), tensor.Float64))
	all, next := tensor.Data[float64](slopes), tensor.Data[float64](drawn)
	for i, f := range falls {
		if f {
			all[i], next = next[0], next[1:]
		}
	}
	return mul.on(x, to(slopes, x.DType()))
}

var logSigmoid = elementwise("log_sigmoid", sameType, activationExpressions[slices.IndexFunc(activationExpressions, func(a activationExpression) bool { return a.name == "log_sigmoid" })].expr)

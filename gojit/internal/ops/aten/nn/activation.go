package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// activations are the records of activations of one tensor and numbers that follow it.
var activations = []ops.Def{
	{Name: "relu6", Scalar: func(b builder, x ...element) element { return limit(b, x[0], b.Number(x[0], 0), b.Number(x[0], 6)) },
		Tags:  ops.Grouped | ops.Activation,
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return overGradient(g, "hardtanh_backward", dy, x, 0, 6) })},
	{Name: "hardtanh", Numbers: 2, Scalar: func(b builder, x ...element) element { return limit(b, x[0], x[1], x[2]) }, Tags: ops.Grouped | ops.Activation,
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
			return overGradient(g, "hardtanh_backward", dy, x, g.Number(1), g.Number(2))
		})},
	{Name: "leaky_relu", Quantized: sameScale, Numbers: 1, Refuses: noIntegers("leaky_relu"), Tags: ops.Grouped | ops.Activation, Scalar: func(b builder, x ...element) element {
		return b.Select(b.Binary(kernel.Gt, x[0], b.Number(x[0], 0)), x[0], b.Mul(x[0], x[1]))
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Do("leaky_relu_backward", dy, x, g.Number(1), false) })},
	{Name: "elu", Quantized: sameScale, Numbers: 3, Refuses: noIntegers("elu"), Tags: ops.Activation,
		Scalar: func(b builder, x ...element) element { return elu(b, x[0], b.Mul(x[1], x[2]), x[2], x[3]) },
		Reads:  ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
			return g.Do("elu_backward", dy, g.Number(1), g.Number(2), g.Number(3), false, x)
		})},
	{Name: "selu", Refuses: noIntegers("selu"), Tags: ops.Activation, Scalar: func(b builder, x ...element) element {
		const alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
		return elu(b, x[0], b.Number(x[0], alpha*scale), b.Number(x[0], scale), b.Number(x[0], 1))
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
		return g.Do("elu_backward", dy, 1.6732632423543772, 1.0507009873554805, 1.0, false, x)
	})},
	{Name: "celu", Numbers: 1, Refuses: noIntegers("celu"), Tags: ops.Activation, Scalar: func(b builder, x ...element) element {
		one := b.Number(x[0], 1)
		return elu(b, x[0], x[1], one, b.Div(one, x[1]))
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
		return g.Do("elu_backward", dy, g.Number(1), 1.0, g.DivNumbers(1.0, g.Number(1)), false, x)
	})},
	{Name: "silu", Refuses: noIntegers("silu"), Tags: ops.Grouped | ops.Activation, Scalar: func(b builder, x ...element) element {
		one := b.Number(x[0], 1)
		return b.Div(x[0], b.Add(one, b.Exp(b.Neg(x[0]))))
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
		if !g.IsComplex(x) {
			return g.Do("silu_backward", dy, x)
		}
		s := g.Do("sigmoid", x)
		return g.Mul(dy, g.Mul(s, g.Shift(g.Mul(x, g.Shift(g.Neg(s), 1)), 1)))
	})},
	{Name: "mish", Refuses: noIntegers("mish"), Scalar: func(b builder, x ...element) element {
		return b.Mul(x[0], b.Unary(kernel.Tanh, b.Unary(kernel.Log1p, b.Exp(x[0]))))
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
		t := g.Do("tanh", g.Do("softplus", x))
		return g.Mul(dy, g.Plus(t, g.Mul(g.Mul(x, g.Do("sigmoid", x)), g.OneMinusSquare(t))))
	})},
	{Name: "hardswish", Refuses: noIntegers("hardswish"), Tags: ops.Grouped | ops.Activation, Scalar: func(b builder, x ...element) element {
		return b.Div(b.Mul(x[0], aboveMinusThree(b, x[0])), b.Number(x[0], 6))
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Do("hardswish_backward", dy, x) })},
	{Name: "hardsigmoid", Quantized: unitScale, Refuses: noIntegers("hardsigmoid"), Tags: ops.Grouped | ops.Activation,
		Scalar: func(b builder, x ...element) element { return b.Div(aboveMinusThree(b, x[0]), b.Number(x[0], 6)) },
		Reads:  ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Do("hardsigmoid_backward", dy, x) })},
	{Name: "softplus", Numbers: 2, Refuses: noIntegers("softplus"), Tags: ops.Grouped, Scalar: func(b builder, x ...element) element {
		scaled := b.Mul(x[0], x[1])
		return b.Select(b.Binary(kernel.Gt, scaled, x[2]), x[0], b.Div(b.Unary(kernel.Log1p, b.Exp(scaled)), x[1]))
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Do("softplus_backward", dy, x, g.Number(1), g.Number(2)) })},
	{Name: "softshrink", Numbers: 1, Refuses: noIntegers("softshrink"), Scalar: func(b builder, x ...element) element {
		low := b.Select(b.Binary(kernel.Lt, x[0], b.Neg(x[1])), b.Add(x[0], x[1]), b.Mul(x[0], b.Number(x[0], 0)))
		return b.Select(b.Binary(kernel.Gt, x[0], x[1]), b.Sub(x[0], x[1]), low)
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Do("softshrink_backward", dy, x, g.Arg(1)) })},
	{Name: "hardshrink", Numbers: 1, Refuses: noIntegers("hardshrink"), Tags: ops.Grouped | ops.Activation, Scalar: func(b builder, x ...element) element {
		inside := b.Binary(kernel.And, b.Binary(kernel.Ge, x[0], b.Neg(x[1])), b.Binary(kernel.Le, x[0], x[1]))
		return b.Select(inside, b.Number(x[0], 0), x[0])
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Do("hardshrink_backward", dy, x, g.Arg(1)) })},
	{Name: "log_sigmoid", Refuses: noIntegers("log_sigmoid"), Scalar: func(b builder, x ...element) element {
		low := b.Binary(kernel.Min, x[0], b.Number(x[0], 0))
		return b.Sub(low, b.Unary(kernel.Log1p, b.Exp(b.Neg(b.Unary(kernel.Abs, x[0])))))
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("sigmoid", g.Neg(x))) })},
	{Name: "threshold", Numbers: 2, Tags: ops.Grouped, Scalar: func(b builder, x ...element) element {
		return b.Select(b.Binary(kernel.Le, x[0], x[1]), x[2], x[0])
	}, Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return overGradient(g, "threshold_backward", dy, x, g.Arg(1)) })},
}

// chosenActivations are the records of activations that compute something else for some tensors.
var chosenActivations = []ops.Def{
	{Name: "relu", Tags: ops.Elementwise | ops.Grouped | ops.IgnoresSelf | ops.Activation, Into: into(func(c call, dst *tensor.Tensor) *tensor.Tensor {
		if isSmall(c.tensor(0)) {
			return rectifiedIntegers(c.tensor(0), dst)
		}
		return rectifyInto(c, dst)
	}), Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref { return overGradient(g, "threshold_backward", dy, y, 0) })},
	{Name: "gelu", Tags: ops.Elementwise | ops.Grouped | ops.Activation, Into: into(func(c call, dst *tensor.Tensor) *tensor.Tensor {
		approximate := c.str(1)
		check(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.")
		if approximate == "tanh" {
			return geluTanh.run(dst, []operand{ofTensor(c.tensor(0))})
		}
		return gelu.run(dst, []operand{ofTensor(c.tensor(0))})
	}), Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Do("gelu_backward", dy, x, g.Arg(1)) })},
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
	gelu = elementwise("gelu", ops.FloatType, func(b builder, x ...element) element {
		half := b.Mul(x[0], b.Number(x[0], 0.5))
		return b.Mul(half, b.Add(b.Number(x[0], 1), b.Unary(kernel.Erf, b.Mul(x[0], b.Number(x[0], math.Sqrt2/2)))))
	})
	geluTanh = elementwise("gelu", ops.FloatType, func(b builder, x ...element) element {
		cube := b.Mul(b.Mul(x[0], x[0]), x[0])
		inner := b.Mul(b.Number(x[0], math.Sqrt2*2/math.SqrtPi*0.5), b.Add(x[0], b.Mul(b.Number(x[0], 0.044715), cube)))
		return b.Mul(b.Mul(x[0], b.Number(x[0], 0.5)), b.Add(b.Number(x[0], 1), b.Unary(kernel.Tanh, inner)))
	})
	gated = elementwise("glu", ops.SameType, func(b builder, x ...element) element { return b.Mul(x[0], sigmoidOf(b, x[1])) })
	prelu = elementwise("prelu", ops.SameType, func(b builder, x ...element) element {
		return b.Select(b.Binary(kernel.Gt, x[0], b.Number(x[0], 0)), x[0], b.Mul(x[1], x[0]))
	})
)

var rectifyInto = quantizedInto(onCentered, func(c call, dst *tensor.Tensor) *tensor.Tensor {
	return relu.run(dst, []operand{ofTensor(c.tensor(0))})
})

var activationFamily = slices.Concat(activationDefinitions(), fromRecords(chosenActivations), fromRecords(activationGradients), fromRecords(eluGradient), []definition{
	giving("rrelu", func(c call) *tensor.Tensor { return randomLeaky(c, c.generator(4)) }).with(ops.Def{Tags: ops.Activation}),
	define("log_sigmoid_forward", func(c call) {
		c.give(logSigmoid.on(c.tensor(0)), empty([]int{0}, c.tensor(0).DType()))
	}),
	giving("prelu", preluOf).with(ops.Def{Grad: concrete(func(c gradient) {
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
	}), Tags: ops.Activation}).checked(func(c call) {
		x, weight := c.tensor(0).DType(), c.tensor(1).DType()
		check(x == weight || x == tensor.BFloat16, "Found dtype %s but expected %s", weight.CppName(), x.CppName())
	}),
	giving("glu", gluOf).with(ops.Def{Grad: func(g grad) { g.Give(0, g.Do("glu_backward", g.Grad(0), g.In(0), g.Arg(1))) }, Tags: ops.Activation}),
	decomposed("glu_backward", composing(gluBackward)).with(ops.Def{Decomp: composing(gluBackward)}),
	giving("softmax.int", func(c call) *tensor.Tensor { return softmax(castTo(c, 2), c.int(1)) }).with(ops.Def{Aliases: []string{"special_softmax"}, Reads: ops.ReadsResult, Grad: softmaxGrad, Tags: ops.Grouped | ops.InGroups | ops.Reduces, Node: "SoftmaxBackward0"}),
	giving("log_softmax.int", func(c call) *tensor.Tensor { return logSoftmax(castTo(c, 2), c.int(1)) }).with(ops.Def{Aliases: []string{"special_log_softmax"}, Reads: ops.ReadsResult, Grad: logSoftmaxGrad, Tags: ops.Grouped | ops.InGroups | ops.Reduces, Node: "LogSoftmaxBackward0"}),
	giving("_softmax", func(c call) *tensor.Tensor { return softmax(c.tensor(0), c.int(1)) }).with(ops.Def{Reads: ops.ReadsResult, Grad: softmaxGrad}).outOverlapping(),
	giving("_log_softmax", func(c call) *tensor.Tensor { return logSoftmax(c.tensor(0), c.int(1)) }).with(ops.Def{Reads: ops.ReadsResult, Grad: logSoftmaxGrad}).outOverlapping(),
})

// castTo returns the first argument converted to the type in argument i, or as it is for None.
func castTo(c call, i int) *tensor.Tensor { return to(c.tensor(0), c.dtypeOr(i, c.tensor(0).DType())) }

// activationDefinitions are those of the activations, which know quantized tensors.
func activationDefinitions() []definition {
	defs := fromRecords(activations)
	for i := range defs {
		run := quantizedInto(onReal, defs[i].into)
		defs[i].into = run
		if defs[i].name == "softshrink" {
			defs[i].into = func(c call, dst *tensor.Tensor) *tensor.Tensor {
				check(c.scalar(1).Float64() >= 0, "lambda must be greater or equal to 0, but found to be %s.", c.scalar(1))
				return run(c, dst)
			}
		}
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
	halves := must(self.Chunk(2, halvedDim(self, c.int(1))))
	checkFloating("glu_cpu", self)
	return gated.on(halves[0], halves[1])
}

// halvedDim returns the dimension whose halves are multiplied.
func halvedDim(self *tensor.Tensor, dim int) int {
	check(self.Dim() > 0, "glu does not support 0-dimensional tensors")
	dim = wrapDim(dim, self)
	check(self.Size(dim)%2 == 0, "Halving dimension must be even, but dimension %d is size %d", dim, self.Size(dim))
	return dim
}

// gluBackward multiplies from left to right, as PyTorch does.
func gluBackward(x composer, a []value.Value) tensors {
	parts := ops.DoAll(x.Emitter, "chunk", a[1], 2, halvedDim(a[1].Tensor(), int(a[2].Int())))[0].List().Items
	gate := x.do("sigmoid", parts[1])
	slope := x.do("mul.Tensor", x.oneMinus(gate), gate)
	second := x.do("mul.Tensor", x.do("mul.Tensor", slope, parts[0]), a[0])
	return x.do("cat", []tensors{x.do("mul.Tensor", gate, a[0]), second}, a[2])
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
		above, scaled := gt.withNumber(x, 0), scaleBy(x, (low+high)/2)
		defer above.Release()
		defer scaled.Release()
		return choose(above, ofTensor(x), ofTensor(scaled))
	}
	// each element that is not positive draws its slope, in the order of the elements
	fall := le.on(x, must(tensor.Full(nil, tensor.Int(0), x.DType())))
	defer fall.Release()
	inOrder := contiguous(fall)
	defer forgetMade(fall, inOrder)
	falls := tensor.Data[bool](inOrder)
	n := 0
	for _, f := range falls {
		if f {
			n++
		}
	}
	drawn := empty([]int{n}, tensor.Float64)
	defer drawn.Release()
	drawUniform(gen, drawn, low, high)
	slopes := must(tensor.Full(x.Shape(), tensor.Int(1), tensor.Float64))
	all, next := tensor.Data[float64](slopes), tensor.Data[float64](drawn)
	for i, f := range falls {
		if f {
			all[i], next = next[0], next[1:]
		}
	}
	slopes = rounded(slopes, x.DType())
	defer slopes.Release()
	return mul.on(x, slopes)
}

var logSigmoid = shared(activations, "log_sigmoid")

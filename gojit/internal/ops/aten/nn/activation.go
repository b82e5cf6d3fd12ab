package nn

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/random"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// softplusParts is log(1 + exp(beta*x)) / beta where beta*x is at most a threshold, and x where it is above.
func softplusParts(x define.Composer, t define.Tensors, beta, threshold float64) define.Tensors {
	scaled := x.TimesNumber(t, value.Float(beta))
	soft := x.Do("log1p", x.Do("exp", scaled))
	if beta != 1 {
		soft = x.Do("div.Tensor", soft, beta)
	}
	return x.Do("where.self", x.Do("gt.Scalar", scaled, threshold), t, soft)
}

// activations are the records of activations of one tensor and numbers that follow it.
var activations = []ops.Def{
	{Name: "relu6", Groups: ops.Groups, Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("hardtanh", a[0], 0, 6)
	}), Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return limit(b, x[0], b.Number(x[0], 0), b.Number(x[0], 6))
	},
		Tags:  ops.Grouped | ops.Activation,
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			return define.OverGradient(g, "hardtanh_backward", dy, x, 0, 6)
		})},
	{Name: "hardtanh", Groups: ops.Groups, Numbers: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return limit(b, x[0], x[1], x[2])
	}, Tags: ops.Grouped | ops.Activation,
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			return define.OverGradient(g, "hardtanh_backward", dy, x, g.Number(1), g.Number(2))
		})},
	{Name: "leaky_relu", Groups: ops.Groups, Quantized: define.SameScale, Numbers: 1, Refuses: elementwise.NoIntegers("leaky_relu"), Tags: ops.ThroughNumbers | ops.Grouped | ops.Activation, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Gt, x[0], b.Number(x[0], 0)), x[0], b.Mul(x[0], x[1]))
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		return g.Do("leaky_relu_backward", dy, x, g.Number(1), false)
	})},
	{Name: "elu", Groups: ops.Groups, Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		t := a[0].Tensor()
		below := x.Do("mul.Tensor", x.Do("expm1", x.TimesNumber(t, a[3])), define.NumberOfValue(a[1])*define.NumberOfValue(a[2]))
		return x.Do("where.self", x.Do("gt.Scalar", t, 0), x.TimesNumber(t, a[2]), below)
	}), Quantized: define.SameScale, Numbers: 3, Refuses: elementwise.NoIntegers("elu"), Tags: ops.ThroughNumbers | ops.Activation,
		Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
			return elu(b, x[0], b.Mul(x[1], x[2]), x[2], x[3])
		},
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			return g.Do("elu_backward", dy, g.Number(1), g.Number(2), g.Number(3), false, x)
		})},
	{Name: "selu", Refuses: elementwise.NoIntegers("selu"), Tags: ops.Activation, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		const alpha, scale = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946
		return elu(b, x[0], b.Number(x[0], alpha*scale), b.Number(x[0], scale), b.Number(x[0], 1))
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		return g.Do("elu_backward", dy, 1.6732632423543772, 1.0507009873554805, 1.0, false, x)
	})},
	{Name: "celu", Numbers: 1, Refuses: elementwise.NoIntegers("celu"), Tags: ops.ThroughNumbers | ops.Activation, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		one := b.Number(x[0], 1)
		return elu(b, x[0], x[1], one, b.Div(one, x[1]))
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		return g.Do("elu_backward", dy, g.Number(1), 1.0, g.DivNumbers(1.0, g.Number(1)), false, x)
	})},
	{Name: "silu", Groups: ops.Groups, Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("mul.Tensor", a[0], x.Do("sigmoid", a[0]))
	}), Refuses: elementwise.NoIntegers("silu"), Tags: ops.Grouped | ops.Activation, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		one := b.Number(x[0], 1)
		return b.Div(x[0], b.Add(one, b.Exp(b.Neg(x[0]))))
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		if !g.IsComplex(x) {
			return g.Do("silu_backward", dy, x)
		}
		s := g.Do("sigmoid", x)
		return g.Mul(dy, g.Mul(s, g.Shift(g.Mul(x, g.Shift(g.Neg(s), 1)), 1)))
	})},
	{Name: "mish", Groups: ops.Groups, Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("mul.Tensor", a[0], x.Do("tanh", softplusParts(x, a[0].Tensor(), 1, 20)))
	}), Refuses: elementwise.NoIntegers("mish"), Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Mul(x[0], b.Unary(kernel.Tanh, b.Unary(kernel.Log1p, b.Exp(x[0]))))
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Do("mish_backward", dy, x) })},
	{Name: "hardswish", Groups: ops.Groups, Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("div.Tensor", x.Do("mul.Tensor", a[0], x.Do("clamp", x.Do("add.Tensor", a[0], 3), 0, 6)), 6)
	}), Refuses: elementwise.NoIntegers("hardswish"), Tags: ops.ThroughNumbers | ops.Grouped | ops.Activation, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Div(b.Mul(x[0], aboveMinusThree(b, x[0])), b.Number(x[0], 6))
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Do("hardswish_backward", dy, x) })},
	{Name: "hardsigmoid", Groups: ops.Groups, Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("div.Tensor", x.Do("clamp", x.Do("add.Tensor", a[0], 3), 0, 6), 6)
	}), Quantized: define.UnitScale, Refuses: elementwise.NoIntegers("hardsigmoid"), Tags: ops.Grouped | ops.Activation,
		Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
			return b.Div(aboveMinusThree(b, x[0]), b.Number(x[0], 6))
		},
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Do("hardsigmoid_backward", dy, x) })},
	{Name: "softplus", Groups: ops.Groups, Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return softplusParts(x, a[0].Tensor(), define.NumberOfValue(a[1]), define.NumberOfValue(a[2]))
	}), Numbers: 2, Refuses: elementwise.NoIntegers("softplus"), Tags: ops.Grouped, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		scaled := b.Mul(x[0], x[1])
		return b.Select(b.Binary(kernel.Gt, scaled, x[2]), x[0], b.Div(b.Unary(kernel.Log1p, b.Exp(scaled)), x[1]))
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		return g.Do("softplus_backward", dy, x, g.Number(1), g.Number(2))
	})},
	{Name: "softshrink", Numbers: 1, Refuses: elementwise.NoIntegers("softshrink"), Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		low := b.Select(b.Binary(kernel.Lt, x[0], b.Neg(x[1])), b.Add(x[0], x[1]), b.Mul(x[0], b.Number(x[0], 0)))
		return b.Select(b.Binary(kernel.Gt, x[0], x[1]), b.Sub(x[0], x[1]), low)
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Do("softshrink_backward", dy, x, g.Arg(1)) })},
	{Name: "hardshrink", Groups: ops.Groups, Numbers: 1, Refuses: elementwise.NoIntegers("hardshrink"), Tags: ops.Grouped | ops.Activation, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		inside := b.Binary(kernel.And, b.Binary(kernel.Ge, x[0], b.Neg(x[1])), b.Binary(kernel.Le, x[0], x[1]))
		return b.Select(inside, b.Number(x[0], 0), x[0])
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Do("hardshrink_backward", dy, x, g.Arg(1)) })},
	{Name: "log_sigmoid", Parts: define.FirstOf("log_sigmoid_forward"), Refuses: elementwise.NoIntegers("log_sigmoid"), Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		low := b.Binary(kernel.Min, x[0], b.Number(x[0], 0))
		return b.Sub(low, b.Unary(kernel.Log1p, b.Exp(b.Neg(b.Unary(kernel.Abs, x[0])))))
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("sigmoid", g.Neg(x))) })},
	{Name: "threshold", Groups: ops.Groups, Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Do("where.self", x.Do("le.Scalar", a[0], a[1]), x.Number(a[0].Tensor(), a[2]), a[0])
	}), Numbers: 2, Tags: ops.ThroughNumbers | ops.Grouped, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Le, x[0], x[1]), x[2], x[0])
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		return define.OverGradient(g, "threshold_backward", dy, x, g.Arg(1))
	})},
}

// chosenActivations are the records of activations that compute something else for some tensors.
var chosenActivations = []ops.Def{
	{Name: "relu", Groups: ops.Groups, Tags: ops.Elementwise | ops.Grouped | ops.IgnoresSelf | ops.Activation, Into: elementwise.Into(func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
		if elementwise.IsSmall(c.Tensor(0)) {
			return elementwise.RectifiedIntegers(c.Tensor(0), dst)
		}
		return rectifyInto(c, dst)
	}), Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref {
		return define.OverGradient(g, "threshold_backward", dy, y, 0)
	})},
	{Name: "gelu", Groups: ops.Groups, Quantized: define.SameScale, Tags: ops.Elementwise | ops.Grouped | ops.Activation, Into: elementwise.Into(func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
		approximate := c.Str(1)
		source.Check(approximate == "none" || approximate == "tanh", "approximate argument must be either none or tanh.")
		if approximate == "tanh" {
			return geluTanh.Run(dst, []elementwise.Operand{elementwise.OfTensor(c.Tensor(0))})
		}
		return gelu.Run(dst, []elementwise.Operand{elementwise.OfTensor(c.Tensor(0))})
	}), Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Do("gelu_backward", dy, x, g.Arg(1)) })},
}

func limit(b elementwise.Builder, x, low, high elementwise.Element) elementwise.Element {
	return b.Binary(kernel.Min, b.Binary(kernel.Max, x, low), high)
}

func elu(b elementwise.Builder, x, negative, positive, inner elementwise.Element) elementwise.Element {
	return b.Select(b.Binary(kernel.Le, x, b.Number(x, 0)),
		b.Mul(b.Unary(kernel.Expm1, b.Mul(x, inner)), negative), b.Mul(x, positive))
}

// aboveMinusThree is x + 3 from 0 to 6.
func aboveMinusThree(b elementwise.Builder, x elementwise.Element) elementwise.Element {
	return limit(b, b.Add(x, b.Number(x, 3)), b.Number(x, 0), b.Number(x, 6))
}

var (
	gelu = elementwise.New("gelu", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		half := b.Mul(x[0], b.Number(x[0], 0.5))
		return b.Mul(half, b.Add(b.Number(x[0], 1), b.Unary(kernel.Erf, b.Mul(x[0], b.Number(x[0], math.Sqrt2/2)))))
	})
	geluTanh = elementwise.New("gelu", ops.FloatType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		cube := b.Mul(b.Mul(x[0], x[0]), x[0])
		inner := b.Mul(b.Number(x[0], math.Sqrt2*2/math.SqrtPi*0.5), b.Add(x[0], b.Mul(b.Number(x[0], 0.044715), cube)))
		return b.Mul(b.Mul(x[0], b.Number(x[0], 0.5)), b.Add(b.Number(x[0], 1), b.Unary(kernel.Tanh, inner)))
	})
	gated = elementwise.New("glu", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Mul(x[0], elementwise.SigmoidOf(b, x[1]))
	})
	prelu = elementwise.New("prelu", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Gt, x[0], b.Number(x[0], 0)), x[0], b.Mul(x[1], x[0]))
	})
)

var rectifyInto = elementwise.QuantizedInto(elementwise.OnCentered, func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	return elementwise.Relu.Run(dst, []elementwise.Operand{elementwise.OfTensor(c.Tensor(0))})
})

var ActivationFamily = slices.Concat(activationDefinitions(), elementwise.FromRecords(chosenActivations), elementwise.FromRecords(activationGradients), elementwise.FromRecords(eluGradient), elementwise.FromRecords(geluGradient), []define.Definition{
	define.Giving("rrelu", func(c define.Call) *tensor.Tensor { return randomLeaky(c, c.Generator(4)) }).With(ops.Def{Tags: ops.Activation}).Checked(func(c define.Call) {
		source.Check(c.Scalar(1).Float64() <= c.Scalar(2).Float64(), "Lower bound should be less than or equal to the upper bound")
	}),
	define.Operator("log_sigmoid_forward", func(c define.Call) {
		c.Give(logSigmoid.On(c.Tensor(0)), define.Empty([]int{0}, c.Tensor(0).DType()))
	}).With(ops.Def{Parts: func(e ops.Emitter, a []value.Value) []value.Value {
		x, t := define.Composer{Emitter: e}, a[0].Tensor()
		small := x.Do("minimum", x.Number(t, 0), t)
		result := x.Do("sub.Tensor", small, x.Do("log1p", x.Do("exp", x.Do("neg", x.Do("abs", t)))))
		return []value.Value{value.OfTensor(result), value.OfTensor(x.Do("new_zeros", t, []int{0}))}
	}}),
	define.Giving("prelu", preluOf).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		x, w := c.In(0), c.In(1)
		shape := make([]int, x.Dim())
		for i := range shape {
			shape[i] = 1
		}
		if w.Numel() > 1 {
			shape[1] = w.Numel()
		}
		w = c.Do("reshape", w, shape)
		positive := c.Do("gt.Scalar", x, 0.0)
		c.Give(0, c.Do("where.self", positive, c.G(), c.Mul(c.G(), w)))
		if c.Needs(1) {
			below := c.Where(c.Do("le.Scalar", x, 0.0), c.Mul(c.G(), x))
			c.Give(1, c.Do("reshape", c.SumTo(below, shape), c.Shape(1)))
		}
	}), Tags: ops.Activation | ops.ThroughNumbers}).Checked(func(c define.Call) {
		x, weight := c.Tensor(0).DType(), c.Tensor(1).DType()
		source.Check(x == weight || x == tensor.BFloat16, "Found dtype %s but expected %s", weight.CppName(), x.CppName())
	}).Quantized(define.SameScale),
	define.Giving("glu", gluOf).With(ops.Def{Grad: func(g define.Grad) { g.Give(0, g.Do("glu_backward", g.Grad(0), g.In(0), g.Arg(1))) }, Tags: ops.Activation}),
	define.Decomposed("glu_backward", define.Composing(gluBackward)).With(ops.Def{Decomp: define.Composing(gluBackward)}),
})

// activationDefinitions are those of the activations, which know quantized tensors.
func activationDefinitions() []define.Definition {
	defs := elementwise.FromRecords(activations)
	for i := range defs {
		run := elementwise.QuantizedInto(elementwise.OnReal, defs[i].Into)
		defs[i].Into = run
		if defs[i].Name == "softshrink" {
			defs[i].Into = func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
				source.Check(c.Scalar(1).Float64() >= 0, "lambda must be greater or equal to 0, but found to be %s.", c.Scalar(1))
				return run(c, dst)
			}
		}
	}
	return defs
}

func preluOf(c define.Call) *tensor.Tensor {
	self, weight := c.Tensor(0), c.Tensor(1)
	if weight.Numel() != 1 {
		source.Check(self.Dim() > 0, "Not allow zero-dim input tensor.")
		source.Check(weight.Dim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got ndim = %d", weight.Dim())
		channels := 1
		if self.Dim() > 1 {
			channels = self.Size(1)
		}
		source.Check(channels == weight.Numel(), "Mismatch of parameter numbers and input channel size. Found parameter numbers = %d and channel size = %d.", weight.Numel(), channels)
		shape := make([]int, self.Dim())
		for i := range shape {
			shape[i] = 1
		}
		shape[min(1, self.Dim()-1)] = channels
		weight = source.Must(weight.Reshape(shape...))
	} else {
		weight = source.Must(weight.Reshape())
	}
	return prelu.On(self, weight)
}

func gluOf(c define.Call) *tensor.Tensor {
	self := c.Tensor(0)
	halves := source.Must(self.Chunk(2, halvedDim(self, c.Int(1))))
	define.CheckFloating("glu_cpu", self)
	return gated.On(halves[0], halves[1])
}

// halvedDim returns the dimension whose halves are multiplied.
func halvedDim(self *tensor.Tensor, dim int) int {
	source.Check(self.Dim() > 0, "glu does not support 0-dimensional tensors")
	dim = define.WrapDim(dim, self)
	source.Check(self.Size(dim)%2 == 0, "Halving dimension must be even, but dimension %d is size %d", dim, self.Size(dim))
	return dim
}

// gluBackward multiplies from left to right, as PyTorch does.
func gluBackward(x define.Composer, a []value.Value) define.Tensors {
	parts := ops.DoAll(x.Emitter, "chunk", a[1], 2, halvedDim(a[1].Tensor(), int(a[2].Int())))[0].List().Items
	gate := x.Do("sigmoid", parts[1])
	slope := x.Do("mul.Tensor", x.OneMinus(gate), gate)
	second := x.Do("mul.Tensor", x.Do("mul.Tensor", slope, parts[0]), a[0])
	return x.Do("cat", []define.Tensors{x.Do("mul.Tensor", gate, a[0]), second}, a[2])
}

// randomLeaky multiplies negative elements by random slopes in training and their mean otherwise.
func randomLeaky(c define.Call, gen *rng.Generator) *tensor.Tensor {
	x, low, high := c.Tensor(0), c.Scalar(1).Float64(), c.Scalar(2).Float64()
	if !c.Bool(3) {
		above, scaled := elementwise.Gt.WithNumber(x, 0), elementwise.ScaleBy(x, (low+high)/2)
		defer above.Release()
		defer scaled.Release()
		return elementwise.Choose(above, elementwise.OfTensor(x), elementwise.OfTensor(scaled))
	}
	// each element that is not positive draws its slope, in the order of the elements
	fall := elementwise.Le.On(x, source.Must(tensor.Full(nil, tensor.Int(0), x.DType())))
	defer fall.Release()
	inOrder := elementwise.Contiguous(fall)
	defer define.ForgetMade(fall, inOrder)
	falls := tensor.Data[bool](inOrder)
	n := 0
	for _, f := range falls {
		if f {
			n++
		}
	}
	drawn := define.Empty([]int{n}, tensor.Float64)
	defer drawn.Release()
	random.DrawUniform(gen, drawn, low, high)
	slopes := source.Must(tensor.Full(x.Shape(), tensor.Int(1), tensor.Float64))
	all, next := tensor.Data[float64](slopes), tensor.Data[float64](drawn)
	for i, f := range falls {
		if f {
			all[i], next = next[0], next[1:]
		}
	}
	slopes = elementwise.OwnTo(slopes, x.DType())
	defer slopes.Release()
	return elementwise.Mul.On(x, slopes)
}

var logSigmoid = elementwise.Shared(activations, "log_sigmoid")

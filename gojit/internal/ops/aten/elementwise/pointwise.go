package elementwise

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

type (
	Builder = *kernel.Builder
	Element = kernel.Value
)

// UnaryOp is the expression of one instruction.
func UnaryOp(op kernel.Op) Expression {
	return func(b Builder, x ...Element) Element { return b.Unary(op, x[0]) }
}

func binaryOp(op kernel.Op) Expression {
	return func(b Builder, x ...Element) Element { return b.Binary(op, x[0], x[1]) }
}

// Operators that others use.
var (
	Add       = New("add", ops.SameType, binaryOp(kernel.Add))
	addScaled = New("add", ops.SameType, func(b Builder, x ...Element) Element { return b.Add(x[0], b.Mul(x[2], x[1])) })
	Sub       = New("sub", ops.SameType, binaryOp(kernel.Sub)).refusing(noBoolSub)
	subScaled = New("sub", ops.SameType, func(b Builder, x ...Element) Element { return b.Sub(x[0], b.Mul(x[2], x[1])) }).refusing(noBoolSub)
	Mul       = Shared(elementary, "mul")
	Div       = Shared(elementary, "div")
	divTrunc  = New("div", ops.SameType, func(b Builder, x ...Element) Element {
		return b.Unary(kernel.Trunc, b.Div(x[0], x[1]))
	})
	DivFloor    = Shared(elementary, "floor_divide")
	Remainder   = Shared(elementary, "remainder")
	Pow         = New("pow", ops.SameType, binaryOp(kernel.Pow))
	Maximum     = Shared(elementary, "maximum")
	Minimum     = Shared(elementary, "minimum")
	Eq          = Shared(elementary, "eq")
	Ne          = Shared(elementary, "ne")
	Lt          = Shared(elementary, "lt")
	Le          = Shared(elementary, "le")
	Gt          = Shared(elementary, "gt")
	Neg         = Shared(elementary, "neg")
	Absolute    = Shared(elementary, "abs")
	Exponential = Shared(elementary, "exp")
	Logarithm   = Shared(elementary, "log")
	SquareRoot  = Shared(elementary, "sqrt")
	Sigmoid     = Shared(elementary, "sigmoid")
	Tanh        = Shared(elementary, "tanh")
	Relu        = New("relu", ops.SameType, func(b Builder, x ...Element) Element {
		return b.Binary(kernel.Max, x[0], b.Number(x[0], 0))
	}).refusing(noBoolRelu)
	ClampBoth = New("clamp", ops.SameType, func(b Builder, x ...Element) Element {
		return b.Binary(kernel.Min, b.Binary(kernel.Max, x[0], x[1]), x[2])
	})
	IsNaN = Shared(elementary, "isnan")
	Not   = Shared(elementary, "logical_not")
)

func noBoolSub(d tensor.DType) {
	source.Check(d != tensor.Bool, "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.")
}

// noBoolOfTwo refuses a difference of which one operand holds bools; that of two is noBoolSub's.
func noBoolOfTwo(operands [2]Operand) {
	source.Check(operands[0].isBool() == operands[1].isBool(), "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
}

func noBoolNeg(d tensor.DType) {
	source.Check(d != tensor.Bool, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
}

func noIntegerQuotients(d tensor.DType) {
	source.Check(d.IsFloating() || d.IsComplex(), "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true division of tensor1 and tensor2. "+
		"The historic addcdiv behavior can be implemented as (input + value * torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as "+
		"(input + value * tensor1 / tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: "+
		"(input + value * tensor1 / tensor2), for all dtypes.")
}

func noBoolRelu(d tensor.DType) {
	source.Check(d != tensor.Bool, "Boolean inputs not supported for relu")
}

// NoComplexOrder returns what refuses complex numbers in the words of an operator that compares.
func NoComplexOrder(name string) func(tensor.DType) {
	return func(d tensor.DType) { OrderedOnly(name, d) }
}

// OrderedOnly is that for one type.
func OrderedOnly(name string, d tensor.DType) {
	if d.IsComplex() {
		NotImplemented(name+"_cpu", d)
	}
}

// NotImplemented fails as an operator does that has no kernel for a type.
func NotImplemented(kernel string, d tensor.DType) {
	source.Raise(source.RuntimeError, "\"%s\" not implemented for '%s'", kernel, d.CppName())
}

func noFloats(name string) func(tensor.DType) {
	return func(d tensor.DType) {
		if d.IsFloating() || d.IsComplex() {
			NotImplemented(name+"_cpu", d)
		}
	}
}

func integersOnly(name string) func(tensor.DType) {
	return func(d tensor.DType) {
		if d == tensor.Bool || d.IsFloating() || d.IsComplex() {
			NotImplemented(name+"_cpu", d)
		}
	}
}

// numbersOnly refuses bools and complex numbers, realOnly integers too.
func numbersOnly(kernel string) func(tensor.DType) {
	return func(d tensor.DType) {
		if d == tensor.Bool || d.IsComplex() {
			NotImplemented(kernel, d)
		}
	}
}

func realOnly(kernel string) func(tensor.DType) {
	return func(d tensor.DType) {
		if !d.IsFloating() {
			NotImplemented(kernel, d)
		}
	}
}

const noComplexStep = "heaviside is not yet implemented for complex tensors."

var unitStep = New("heaviside", ops.SameType, stepOf).refusing(noComplex(noComplexStep))

// stepOf is 0 below zero, 1 above it, and the second number at zero.
func stepOf(b Builder, x ...Element) Element {
	zero := b.Number(x[0], 0)
	step := b.Select(b.Binary(kernel.Gt, x[0], zero), b.Number(x[0], 1), zero)
	return b.Select(b.Binary(kernel.Eq, x[0], zero), x[1], step)
}

func noComplex(message string) func(tensor.DType) {
	return func(d tensor.DType) {
		if d.IsComplex() {
			source.Raise(source.RuntimeError, "%s", message)
		}
	}
}

// SigmoidOf is 1 / (1 + exp(-x)).
func SigmoidOf(b Builder, x Element) Element {
	one := b.Number(x, 1)
	return b.Div(one, b.Add(one, b.Exp(b.Neg(x))))
}

func isZero(b Builder, x Element) Element { return b.Binary(kernel.Eq, x, b.Number(x, 0)) }

// elementary are the records of the operators that compute one expression of their operands.
var elementary = []ops.Def{
	{Name: "exp", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Exp),
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref { return g.Mul(dy, y) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "exp2", Aliases: []string{"special_exp2"}, Promote: ops.FloatType, Scalar: func(b Builder, x ...Element) Element {
		return b.Binary(kernel.Pow, b.Number(x[0], 2), x[0])
	},
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref { return g.Scale(g.Mul(dy, y), math.Ln2) })},
	{Name: "expm1", Groups: ops.Groups, Aliases: []string{"special_expm1"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Expm1),
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref { return g.Mul(dy, g.Shift(y, 1)) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "log", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Log),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Div(dy, x) }), Tags: ops.Grouped},
	{Name: "log2", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Log2),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Div(dy, g.Scale(x, math.Ln2)) }), Tags: ops.Grouped},
	{Name: "log10", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Log10),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Div(dy, g.Scale(x, math.Ln10)) }), Tags: ops.Grouped},
	{Name: "log1p", Groups: ops.Groups, Aliases: []string{"special_log1p"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Log1p),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Div(dy, g.Shift(x, 1)) }), Tags: ops.Grouped},
	{Name: "sin", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Sin),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("cos", x)) }), Tags: ops.Grouped},
	{Name: "cos", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Cos),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Neg(g.Mul(dy, g.Do("sin", x))) }), Tags: ops.Grouped},
	{Name: "tan", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Tan),
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref { return g.Mul(dy, g.Shift(g.Square(y), 1)) }), Tags: ops.Grouped},
	{Name: "asin", Groups: ops.Groups, Aliases: []string{"arcsin"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Asin),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("rsqrt", g.OneMinusSquare(x))) }), Tags: ops.Grouped},
	{Name: "acos", Groups: ops.Groups, Aliases: []string{"arccos"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Acos),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			return g.Neg(g.Mul(dy, g.Do("rsqrt", g.OneMinusSquare(x))))
		}), Tags: ops.Grouped},
	{Name: "atan", Groups: ops.Groups, Aliases: []string{"arctan"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Atan),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Div(dy, g.Shift(g.Square(x), 1)) }), Tags: ops.Grouped},
	{Name: "sinh", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Sinh),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("cosh", x)) }), Tags: ops.Grouped},
	{Name: "cosh", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Cosh),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("sinh", x)) }), Tags: ops.Grouped},
	{Name: "tanh", Groups: ops.Groups, Quantized: define.SignedUnitScale, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Tanh),
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref {
			if g.IsComplex(y) {
				return g.Mul(dy, g.OneMinusSquare(y))
			}
			return g.Do("tanh_backward", dy, y)
		}), Tags: ops.Grouped | ops.IgnoresSelf | ops.Activation | ops.ChangesType},
	{Name: "asinh", Aliases: []string{"arcsinh"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Asinh),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			return g.Mul(dy, g.Do("rsqrt", g.Shift(g.Square(x), 1)))
		})},
	{Name: "acosh", Aliases: []string{"arccosh"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Acosh),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			if g.IsComplex(x) {
				return g.Mul(dy, g.Mul(g.Do("rsqrt", g.Shift(x, 1)), g.Do("rsqrt", g.Shift(x, -1)))) // the branch of complex numbers
			}
			return g.Mul(dy, g.Do("rsqrt", g.Shift(g.Square(x), -1)))
		})},
	{Name: "atanh", Aliases: []string{"arctanh"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Atanh),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Div(dy, g.OneMinusSquare(x)) })},
	{Name: "erf", Aliases: []string{"special_erf"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Erf),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			return g.Scale(g.Mul(dy, g.Do("exp", g.Neg(g.Square(x)))), 2/math.Sqrt(math.Pi))
		}), Tags: ops.Grouped},
	{Name: "erfc", Aliases: []string{"special_erfc"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Erfc),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
			return g.Scale(g.Mul(dy, g.Do("exp", g.Neg(g.Square(x)))), -2/math.Sqrt(math.Pi))
		}), Tags: ops.Grouped},
	{Name: "erfinv", Aliases: []string{"special_erfinv"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Erfinv),
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref {
			return g.Scale(g.Mul(dy, g.Do("exp", g.Square(y))), math.Sqrt(math.Pi)/2)
		})},
	{Name: "lgamma", Groups: ops.Groups, Aliases: []string{"special_gammaln"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Lgamma),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("digamma", x)) })},
	{Name: "digamma", Aliases: []string{"special_digamma", "special_psi"}, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Digamma),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Mul(dy, g.Do("polygamma", 1, x)) })},
	{Name: "sqrt", Groups: ops.Groups, Promote: ops.FloatType, Scalar: UnaryOp(kernel.Sqrt),
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref { return g.Div(dy, g.Scale(y, 2)) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "rsqrt", Groups: ops.Groups, Promote: ops.FloatType, Scalar: func(b Builder, x ...Element) Element {
		return b.Div(b.Number(x[0], 1), b.Unary(kernel.Sqrt, x[0]))
	},
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref {
			return g.Scale(g.Mul(dy, g.Mul(y, g.Square(y))), -0.5)
		}), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "reciprocal", Groups: ops.Groups, Promote: ops.FloatType, Scalar: func(b Builder, x ...Element) Element { return b.Div(b.Number(x[0], 1), x[0]) },
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref { return g.Neg(g.Mul(dy, g.Square(y))) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "sigmoid", Groups: ops.Groups, Aliases: []string{"special_expit"}, Quantized: define.UnitScale, Promote: ops.FloatType, Scalar: func(b Builder, x ...Element) Element { return SigmoidOf(b, x[0]) },
		Reads: ops.ReadsResult, Grad: define.OfResult(func(g define.Grad, dy, y define.Ref) define.Ref {
			if g.IsComplex(y) {
				return g.Mul(dy, g.Mul(y, g.Shift(g.Neg(y), 1)))
			}
			return g.Do("sigmoid_backward", dy, y)
		}), Tags: ops.ThroughNumbers | ops.Grouped | ops.IgnoresSelf | ops.Activation | ops.ChangesType},
	{Name: "sinc", Aliases: []string{"special_sinc"}, Promote: ops.FloatType, Scalar: func(b Builder, x ...Element) Element {
		px := b.Mul(x[0], b.Number(x[0], math.Pi))
		return b.Select(isZero(b, x[0]), b.Number(x[0], 1), b.Div(b.Unary(kernel.Sin, px), px))
	}},
	{Name: "deg2rad", Promote: ops.FloatType, Refuses: noComplex("deg2rad is not supported for complex tensors."), Scalar: func(b Builder, x ...Element) Element { return b.Mul(x[0], b.Number(x[0], math.Pi/180)) }},
	{Name: "rad2deg", Promote: ops.FloatType, Refuses: noComplex("rad2deg is not supported for complex tensors."), Scalar: func(b Builder, x ...Element) Element { return b.Mul(x[0], b.Number(x[0], 180/math.Pi)) }},
	{Name: "special_entr", Promote: ops.FloatType, Scalar: func(b Builder, x ...Element) Element {
		zero := b.Number(x[0], 0)
		negative := b.Select(b.Binary(kernel.Lt, x[0], zero), b.Number(x[0], math.Inf(-1)), x[0])
		return b.Select(b.Binary(kernel.Gt, x[0], zero), b.Neg(b.Mul(x[0], b.Unary(kernel.Log, x[0]))), negative)
	}, Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref {
		return g.Neg(g.Mul(dy, g.Shift(g.Do("log", x), 1)))
	})},
	{Name: "sign", Refuses: noComplex("Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."), Scalar: UnaryOp(kernel.Sign),
		Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf},
	{Name: "sgn", Scalar: UnaryOp(kernel.Sign),
		Grad: define.Concrete(func(c define.Gradient) { c.Give(0, signGrad(c, c.G(), c.Out(0))) }), Tags: ops.AsWritten},
	{Name: "floor", Groups: ops.Groups, Refuses: noComplex("floor is not supported for complex inputs"), Scalar: UnaryOp(kernel.Floor),
		Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf, Tags: ops.Grouped},
	{Name: "ceil", Groups: ops.Groups, Refuses: noComplex("ceil is not supported for complex inputs"), Scalar: UnaryOp(kernel.Ceil),
		Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf, Tags: ops.Grouped},
	{Name: "round", Groups: ops.Groups, Scalar: UnaryOp(kernel.Round),
		Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf, Tags: ops.Grouped},
	{Name: "trunc", Groups: ops.Groups, Aliases: []string{"fix"}, Refuses: noComplex("trunc is not supported for complex inputs"), Scalar: UnaryOp(kernel.Trunc),
		Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf, Tags: ops.Grouped},
	{Name: "frac", Groups: ops.Groups, Refuses: realOnly("frac_cpu"), Scalar: func(b Builder, x ...Element) Element { return b.Sub(x[0], b.Unary(kernel.Trunc, x[0])) },
		Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Grad(0)) }, Tags: ops.Grouped},
	{Name: "square", Promote: ops.NumberType, Scalar: func(b Builder, x ...Element) Element { return b.Mul(x[0], x[0]) },
		Parts: define.Composing(squareParts),
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Scale(g.Mul(dy, x), 2) })},
	{Name: "_conj_physical", Scalar: UnaryOp(kernel.Conj), Tags: ops.AsWritten, Grad: ConjugateGrad},
	{Name: "abs", Groups: ops.Groups, Aliases: []string{"absolute"}, Promote: ops.RealResult, CheckInPlace: checking(checkRealAbs), Scalar: UnaryOp(kernel.Abs),
		Reads: ops.ReadsSelf, Grad: absoluteGrad, Tags: ops.Grouped | ops.AsWritten},
	{Name: "angle", Promote: ops.RealOfFloat, Scalar: UnaryOp(kernel.Angle), Tags: ops.AsWritten, Grad: define.Concrete(angleGrad)},
	{Name: "isnan", Groups: ops.Groups, Promote: ops.BoolResult, Scalar: UnaryOp(kernel.IsNaN), Tags: ops.NotDifferentiable},
	{Name: "isinf", Promote: ops.BoolResult, Scalar: func(b Builder, x ...Element) Element {
		return ofParts(b, x[0], false, kernel.Or, func(a Element) Element { return b.Binary(kernel.Eq, a, b.Number(a, math.Inf(1))) })
	}, Tags: ops.NotDifferentiable},
	{Name: "isfinite", Promote: ops.BoolResult, Scalar: func(b Builder, x ...Element) Element {
		return ofParts(b, x[0], true, kernel.And, func(a Element) Element { return b.Binary(kernel.Lt, a, b.Number(a, math.Inf(1))) })
	}, Tags: ops.NotDifferentiable},
	{Name: "isposinf", Promote: ops.BoolResult, Refuses: noComplex("isposinf does not support complex inputs."), Scalar: func(b Builder, x ...Element) Element {
		if !isFloatValue(b, x[0]) {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		return b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(1)))
	}},
	{Name: "isneginf", Promote: ops.BoolResult, Refuses: noComplex("isneginf does not support complex inputs."), Scalar: func(b Builder, x ...Element) Element {
		if !isFloatValue(b, x[0]) {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		return b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(-1)))
	}},
	{Name: "isreal", Promote: ops.BoolResult, Scalar: func(b Builder, x ...Element) Element {
		if !b.Type(x[0]).IsComplex() {
			return b.Const(tensor.Bool, tensor.Boolean(true))
		}
		return isZero(b, b.Unary(kernel.Imag, x[0]))
	}},
	{Name: "signbit", Promote: ops.BoolResult, Refuses: noComplex("signbit is not implemented for complex tensors."), Scalar: func(b Builder, x ...Element) Element {
		if b.Type(x[0]) == tensor.Bool || b.Type(x[0]) == tensor.Uint8 {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		if !isFloatValue(b, x[0]) {
			return b.Binary(kernel.Lt, x[0], b.Number(x[0], 0))
		}
		sign := b.Binary(kernel.CopySign, b.Number(x[0], 1), x[0])
		return b.Binary(kernel.Lt, sign, b.Number(x[0], 0))
	}},
	{Name: "logical_not", Promote: ops.LogicType, Scalar: UnaryOp(kernel.Not),
		Grad: define.ConstantGrad, Tags: ops.Constant},

	{Name: "mul", Groups: ops.Groups, Aliases: []string{"multiply"}, Scalar: binaryOp(kernel.Mul), Operands: 2, Tags: ops.Grouped, Overloads: []ops.Def{
		{Name: "Tensor", Tags: ops.SavesOperand | ops.SelfIgnoresSelf, Reads: ops.ReadsOperands, Grad: func(g define.Grad) {
			if g.Needs(0) {
				g.Give(0, g.Mul(g.Grad(0), g.In(1)))
			}
			if g.Needs(1) {
				g.Give(1, g.Mul(g.Grad(0), g.In(0)))
			}
		}},
		{Name: "Scalar", Tags: ops.IgnoresSelf, Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Do("mul.Scalar", g.Grad(0), g.Arg(1))) }},
	}},
	{Name: "div", Aliases: []string{"divide", "true_divide"}, Groups: ops.Groups, Promote: ops.FloatType, Scalar: binaryOp(kernel.Div), Operands: 2, Tags: ops.Grouped, Overloads: []ops.Def{
		{Name: "Tensor", Tags: ops.SavesOperand | ops.SelfIgnoresSelf, Reads: ops.ReadsOperands, Grad: divGrad},
		{Name: "Scalar", Tags: ops.IgnoresSelf, Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Do("div.Scalar", g.Grad(0), g.Arg(1))) }},
	}},
	{Name: "floor_divide", Scalar: binaryOp(kernel.FloorDiv), Operands: 2, Refuses: numbersOnly("div_floor_cpu"), Overloads: []ops.Def{
		{Grad: func(g define.Grad) { g.Give(0, g.Zeros(g.Grad(0))); g.Give(1, g.Zeros(g.Grad(0))) }},
		{Name: "Scalar"},
	}},
	{Name: "remainder", Scalar: binaryOp(kernel.Mod), Operands: 2, Refuses: numbersOnly("remainder_cpu"), Overloads: []ops.Def{
		{Name: "Tensor", Groups: ops.GroupsFractions, Grad: quotientGrad("floor")},
		{Name: "Scalar", Tags: ops.Grouped, Reads: ops.ReadsNothing, Grad: define.PassedOn},
		{Name: "Scalar_Tensor", Grad: func(g define.Grad) {
			g.Give(1, g.Neg(g.Mul(g.Grad(0), g.Do("floor", g.Do("mul.Scalar", g.Do("reciprocal", g.In(1)), g.Arg(0))))))
		}},
	}},
	{Name: "fmod", Groups: ops.GroupsFractions, Scalar: binaryOp(kernel.Rem), Operands: 2, Refuses: numbersOnly("fmod_cpu"), Overloads: []ops.Def{
		{Name: "Tensor", Grad: quotientGrad("trunc")},
		{Name: "Scalar", Tags: ops.Grouped, Reads: ops.ReadsNothing, Grad: define.PassedOn},
	}},
	{Name: "atan2", Groups: ops.Groups, Aliases: []string{"arctan2"}, Promote: ops.FloatType, Scalar: binaryOp(kernel.Atan2), Operands: 2, Refuses: NoComplexOrder("atan2"), Grad: func(g define.Grad) {
		y, x := g.In(0), g.In(1)
		scaled := g.Div(g.Grad(0), g.Plus(g.Square(x), g.Square(y)))
		g.Give(0, g.Mul(scaled, x))
		g.Give(1, g.Neg(g.Mul(scaled, y)))
	}},
	{Name: "maximum", Scalar: binaryOp(kernel.Max), Operands: 2, Refuses: noComplex("maximum not implemented for complex tensors."), Grad: extremeGrad("le.Tensor")},
	{Name: "minimum", Scalar: binaryOp(kernel.Min), Operands: 2, Refuses: noComplex("minimum not implemented for complex tensors."), Grad: extremeGrad("ge.Tensor")},
	{Name: "fmax", Scalar: func(b Builder, x ...Element) Element { return ignoringNaN(b, kernel.Max, x) }, Operands: 2, Refuses: noComplex("fmax not implemented for complex tensors.")},
	{Name: "fmin", Scalar: func(b Builder, x ...Element) Element { return ignoringNaN(b, kernel.Min, x) }, Operands: 2, Refuses: noComplex("fmin not implemented for complex tensors.")},
	{Name: "hypot", Scalar: hypot, Operands: 2, Refuses: realOnly("hypot_cpu"), Grad: func(g define.Grad) {
		scaled := g.Div(g.Grad(0), g.Out(0))
		g.Give(0, g.Mul(scaled, g.In(0)))
		g.Give(1, g.Mul(scaled, g.In(1)))
	}},
	{Name: "copysign", Promote: ops.FloatType, Scalar: binaryOp(kernel.CopySign), Operands: 2, Refuses: NoComplexOrder("copysign"), Overloads: tensorAndScalar},
	{Name: "nextafter", Scalar: binaryOp(kernel.NextAfter), Operands: 2, Refuses: realOnly("nextafter_cpu"), Grad: func(g define.Grad) { g.Give(0, g.Grad(0)); g.Give(1, g.Zeros(g.Grad(0))) }},
	{Name: "gcd", Scalar: binaryOp(kernel.Gcd), Operands: 2, Refuses: integersOnly("gcd")},
	{Name: "lcm", Operands: 2, Refuses: integersOnly("lcm"), Scalar: func(b Builder, x ...Element) Element {
		g := b.Binary(kernel.Gcd, x[0], x[1])
		safe := b.Select(isZero(b, g), b.Number(g, 1), g)
		return b.Unary(kernel.Abs, b.Mul(b.Binary(kernel.Div, x[0], safe), x[1]))
	}},
	{Name: "logaddexp", Promote: ops.FloatType, Operands: 2, Refuses: NoComplexOrder("logaddexp"), Grad: logAddExpGrad(1), Scalar: func(b Builder, x ...Element) Element { return LogAddExp(b, x, kernel.Exp, 1) }},
	{Name: "logaddexp2", Promote: ops.FloatType, Operands: 2, Refuses: NoComplexOrder("logaddexp2"), Grad: logAddExpGrad(math.Ln2), Scalar: func(b Builder, x ...Element) Element { return LogAddExp(b, x, kernel.Exp, math.Ln2) }},
	{Name: "xlogy", Promote: ops.FloatType, Operands: 2, Scalar: func(b Builder, x ...Element) Element { return XLog(b, x, kernel.Log) }, Overloads: []ops.Def{
		{Name: "Tensor", Aliases: []string{"special_xlogy"}, Grad: func(g define.Grad) {
			x, y := g.In(0), g.In(1)
			nothing := g.Do("logical_and", g.Do("eq.Scalar", x, 0.0), g.Do("le.Scalar", y, 0.0))
			g.Give(0, g.Do("masked_fill.Scalar", g.Mul(g.Grad(0), g.Do("log", y)), nothing, 0.0))
			g.Give(1, g.Div(g.Mul(g.Grad(0), x), y))
		}},
		{Name: "Scalar_Self", Aliases: []string{"special_xlogy.self_scalar"}},
		{Name: "Scalar_Other", Aliases: []string{"special_xlogy.other_scalar"}},
	}},
	{Name: "special_xlog1py", Promote: ops.FloatType, Operands: 2, Scalar: func(b Builder, x ...Element) Element { return XLog(b, x, kernel.Log1p) },
		Overloads: []ops.Def{{}, {Name: "self_scalar"}, {Name: "other_scalar"}}},
	{Name: "heaviside", Operands: 2, Refuses: noComplex(noComplexStep), Scalar: stepOf, Into: func(args []value.Value, dst *tensor.Tensor) *tensor.Tensor {
		x, values := args[0].Tensor(), args[1].Tensor()
		unitStep.fails(x.DType())
		source.Check(values.DType() == x.DType(), "heaviside is not yet implemented for tensors with different dtypes.")
		return unitStep.Run(dst, []Operand{OfTensor(x), OfTensor(values)})
	}},
	{Name: "ldexp", Promote: ops.FloatType, Operands: 2, Overloads: []ops.Def{{Name: "Tensor"}}, Scalar: func(b Builder, x ...Element) Element {
		return b.Mul(x[0], b.Binary(kernel.Pow, b.Number(x[0], 2), x[1]))
	}},
	{Name: "eq", Groups: ops.Groups, Promote: ops.BoolResult, Quantized: define.Unquantized, Scalar: binaryOp(kernel.Eq), Operands: 2, Tags: ops.Constant, Overloads: comparisons},
	{Name: "ne", Groups: ops.Groups, Aliases: []string{"not_equal"}, Promote: ops.BoolResult, Quantized: define.Unquantized, Scalar: binaryOp(kernel.Ne), Operands: 2, Tags: ops.Constant, Overloads: comparisons},
	{Name: "lt", Groups: ops.Groups, Aliases: []string{"less"}, Promote: ops.BoolResult, Quantized: define.Unquantized, Scalar: binaryOp(kernel.Lt), Operands: 2, Refuses: NoComplexOrder("lt"),
		Tags: ops.Constant, Overloads: comparisons},
	{Name: "le", Groups: ops.Groups, Aliases: []string{"less_equal"}, Promote: ops.BoolResult, Quantized: define.Unquantized, Scalar: binaryOp(kernel.Le), Operands: 2, Refuses: NoComplexOrder("le"),
		Tags: ops.Constant, Overloads: comparisons},
	{Name: "gt", Groups: ops.Groups, Aliases: []string{"greater"}, Promote: ops.BoolResult, Quantized: define.Unquantized, Scalar: binaryOp(kernel.Gt), Operands: 2, Refuses: NoComplexOrder("gt"),
		Tags: ops.Constant, Overloads: comparisons},
	{Name: "ge", Groups: ops.Groups, Aliases: []string{"greater_equal"}, Promote: ops.BoolResult, Quantized: define.Unquantized, Scalar: binaryOp(kernel.Ge), Operands: 2, Refuses: NoComplexOrder("ge"),
		Tags: ops.Constant, Overloads: comparisons},
	{Name: "logical_and", Promote: ops.LogicType, Scalar: binaryOp(kernel.And), Operands: 2, Tags: ops.Constant, Grad: define.ConstantGrad},
	{Name: "logical_or", Promote: ops.LogicType, Scalar: binaryOp(kernel.Or), Operands: 2, Tags: ops.Constant, Grad: define.ConstantGrad},
	{Name: "logical_xor", Promote: ops.LogicType, Scalar: binaryOp(kernel.Xor), Operands: 2, Tags: ops.Constant, Grad: define.ConstantGrad},
	{Name: "bitwise_and", Groups: ops.GroupsByPython, Scalar: binaryOp(kernel.And), Operands: 2, Refuses: noFloats("bitwise_and"), Overloads: bitwise("__and__")},
	{Name: "bitwise_or", Groups: ops.GroupsByPython, Scalar: binaryOp(kernel.Or), Operands: 2, Refuses: noFloats("bitwise_or"), Overloads: bitwise("__or__")},
	{Name: "bitwise_xor", Groups: ops.GroupsByPython, Scalar: binaryOp(kernel.Xor), Operands: 2, Refuses: noFloats("bitwise_xor"), Overloads: bitwise("__xor__")},
	{Name: "bitwise_left_shift", Groups: ops.GroupsWholeByPython, Scalar: binaryOp(kernel.Shl), Operands: 2, Refuses: integersOnly("lshift"), Overloads: shifts("__lshift__")},
	{Name: "bitwise_right_shift", Groups: ops.GroupsWholeByPython, Scalar: binaryOp(kernel.Shr), Operands: 2, Refuses: integersOnly("rshift"), Overloads: shifts("__rshift__")},
	{Name: "neg", Groups: ops.Groups, Aliases: []string{"negative"}, Scalar: UnaryOp(kernel.Neg), Refuses: noBoolNeg, Tags: ops.Grouped | ops.IgnoresSelf | ops.AsWritten,
		Grad: func(g define.Grad) { g.Give(0, g.Neg(g.Grad(0))) }},
	{Name: "bitwise_not", Scalar: UnaryOp(kernel.Not), Refuses: noFloats("bitwise_not")},
}

// ofParts gives what a test of its magnitude says of a number, and joins what it says of both parts of a complex one. For
// integers the answer is known.
func ofParts(b Builder, x Element, integers bool, join kernel.Op, test func(magnitude Element) Element) Element {
	switch t := b.Type(x); {
	case t.IsComplex():
		return b.Binary(join, test(b.Unary(kernel.Abs, b.Unary(kernel.Real, x))), test(b.Unary(kernel.Abs, b.Unary(kernel.Imag, x))))
	case !t.IsFloating():
		return b.Const(tensor.Bool, tensor.Boolean(integers))
	}
	return test(b.Unary(kernel.Abs, x))
}

func isFloatValue(b Builder, x Element) bool { return b.Type(x).IsFloating() }

func ignoringNaN(b Builder, op kernel.Op, x []Element) Element {
	best := b.Binary(op, x[0], x[1])
	return b.Select(b.Unary(kernel.IsNaN, x[0]), x[1], b.Select(b.Unary(kernel.IsNaN, x[1]), x[0], best))
}

// logAddExpGrad is the derivative of the logarithm of a sum of powers of a base with this logarithm.
func logAddExpGrad(unit float64) func(g define.Grad) {
	return func(g define.Grad) {
		apart := g.Minus(g.In(0), g.In(1))
		if unit != 1 {
			apart = g.Do("mul.Scalar", apart, unit)
		}
		g.Give(0, g.Mul(g.Grad(0), g.Do("sigmoid", apart)))
		g.Give(1, g.Mul(g.Grad(0), g.Do("sigmoid", g.Neg(apart))))
	}
}

// hypot is a magnitude, which no square makes infinite or zero, and infinite where a side is, whatever the other.
func hypot(b Builder, x ...Element) Element {
	infinity := b.Number(x[0], math.Inf(1))
	infinite := func(side Element) Element { return b.Binary(kernel.Eq, b.Unary(kernel.Abs, side), infinity) }
	return b.Select(b.Binary(kernel.Or, infinite(x[0]), infinite(x[1])), infinity, b.Unary(kernel.Abs, b.Binary(kernel.MakeComplex, x[0], x[1])))
}

// LogAddExp computes log_base(base**x + base**y), ln being the natural logarithm of the base.
func LogAddExp(b Builder, x []Element, exp kernel.Op, ln float64) Element {
	high := b.Binary(kernel.Max, x[0], x[1])
	gap := b.Neg(b.Unary(kernel.Abs, b.Sub(x[0], x[1])))
	scale := b.Number(x[0], ln)
	sum := b.Add(high, b.Div(b.Unary(kernel.Log1p, b.Unary(exp, b.Mul(gap, scale))), scale))
	same := b.Binary(kernel.Eq, x[0], x[1]) // also equal infinities, whose difference is no number
	infinite := b.Binary(kernel.Eq, b.Unary(kernel.Abs, x[0]), b.Number(x[0], math.Inf(1)))
	return b.Select(b.Binary(kernel.And, same, infinite), x[0], sum)
}

// XLog computes x*log(y), 0 where x is 0 and y is a number.
func XLog(b Builder, x []Element, log kernel.Op) Element {
	product := b.Mul(x[0], b.Unary(log, x[1]))
	return b.Select(b.Unary(kernel.IsNaN, x[1]), x[1], b.Select(isZero(b, x[0]), b.Number(x[0], 0), product))
}

// comparisons, tensorAndScalar, bitwise and shifts are the overloads of operators of two operands.
var (
	comparisons     = []ops.Def{{Name: "Tensor", Grad: define.ConstantGrad}, {Name: "Scalar", Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf, Tags: ops.Grouped}}
	tensorAndScalar = []ops.Def{{Name: "Tensor"}, {Name: "Scalar"}}
)

func bitwise(python string) []ops.Def {
	return []ops.Def{{Name: "Tensor", Aliases: []string{python + ".Tensor"}}, {Name: "Scalar", Aliases: []string{python + ".Scalar"}}, {Name: "Scalar_Tensor"}}
}

func shifts(python string) []ops.Def {
	return []ops.Def{{Name: "Tensor", Aliases: []string{python + ".Tensor"}}, {Name: "Tensor_Scalar", Aliases: []string{python + ".Scalar"}}, {Name: "Scalar_Tensor"}}
}

func divGrad(g define.Grad) {
	scaled := g.Div(g.Grad(0), g.In(1))
	g.Give(0, scaled)
	if g.Needs(1) {
		g.Give(1, g.Neg(g.Mul(scaled, g.Div(g.In(0), g.In(1)))))
	}
}

// quotientGrad is for what is left of a division: x - y*q with a quotient q that is rounded, and so constant.
func quotientGrad(mode string) func(g define.Grad) {
	return func(g define.Grad) {
		g.Give(0, g.Grad(0))
		if g.Needs(1) {
			g.Give(1, g.Neg(g.Mul(g.Grad(0), g.Do("div.Tensor_mode", g.In(0), g.In(1), mode))))
		}
	}
}

// extremeGrad gives the gradient to the chosen one, half of it to each where they are equal, all of it to both where one is NaN.
func extremeGrad(noBetter string) func(g define.Grad) {
	return func(g define.Grad) {
		a, b, dy := g.In(0), g.In(1), g.Grad(0)
		half := g.Where(g.Do("eq.Tensor", a, b), g.Scale(dy, 0.5))
		g.Give(0, g.Plus(half, g.Do("masked_fill.Scalar", dy, g.Do(noBetter, a, b), 0.0)))
		g.Give(1, g.Plus(half, g.Do("masked_fill.Scalar", dy, g.Do(noBetter, b, a), 0.0)))
	}
}

func powGrad(g define.Grad) {
	x, k, y := g.In(0), g.In(1), g.Out(0)
	less := g.Do("pow.Tensor_Tensor", x, g.Shift(k, -1))
	g.Give(0, g.Where(g.Do("ne.Scalar", g.Do("expand_as", k, y), 0.0), g.Mul(g.Grad(0), g.Mul(k, less))))
	if g.Needs(1) {
		zero := g.Do("logical_and", g.Do("eq.Scalar", x, 0.0), g.Do("ge.Scalar", g.Real(k), 0.0))
		g.Give(1, g.Where(g.Do("logical_not", zero), g.Mul(g.Grad(0), g.Mul(y, g.Do("log", x)))))
	}
}

func powScalarGrad(g define.Grad, dy, x define.Ref) define.Ref {
	k := g.Number(1)
	return g.Choose(g.IsNumber(k, 0), func() define.Ref { return g.Zeros(dy) }, func() define.Ref {
		power := x
		if !ops.KnownToBe(k, 2) {
			power = g.Do("pow.Tensor_Scalar", x, g.SubNumbers(k, 1))
		}
		return g.Mul(dy, g.Do("mul.Scalar", power, k))
	})
}

// clampGrad is for limits that are numbers or None.
func clampGrad(g define.Grad) {
	x := g.In(0)
	above := func(dy define.Ref) define.Ref {
		return g.Choose(g.IsNone(1), func() define.Ref { return dy }, func() define.Ref { return g.Where(g.Do("ge.Scalar", x, g.Arg(1)), dy) })
	}
	below := func(dy define.Ref) define.Ref {
		return g.Choose(g.IsNone(2), func() define.Ref { return dy }, func() define.Ref { return g.Where(g.Do("le.Scalar", x, g.Arg(2)), dy) })
	}
	g.Give(0, below(above(g.Grad(0))))
}

// clampTensorGrad is for limits that are tensors or None: where the lower one is above, only that counts.
func clampTensorGrad(g define.Grad) {
	x, dy := g.In(0), g.Grad(0)
	without := func(limit int, compare string, dy define.Ref) define.Ref {
		return g.Choose(g.IsNone(limit), func() define.Ref { return dy }, func() define.Ref { return g.Where(g.Do(compare, x, g.In(limit)), dy) })
	}
	g.Give(0, without(2, "le.Tensor", without(1, "ge.Tensor", dy)))
	if g.Needs(1) {
		chosen := g.Where(g.Do("lt.Tensor", x, g.In(1)), dy)
		g.Give(1, g.Choose(g.IsNone(2), func() define.Ref { return chosen }, func() define.Ref { return g.Where(g.Do("lt.Tensor", g.In(1), g.In(2)), chosen) }))
	}
	if g.Needs(2) {
		beyond := func() define.Ref { return g.Do("gt.Tensor", x, g.In(2)) }
		crossed := func() define.Ref { return g.Do("logical_or", beyond(), g.Do("lt.Tensor", g.In(2), g.In(1))) }
		g.Give(2, g.Where(g.Choose(g.IsNone(1), beyond, crossed), dy))
	}
}

// twoOperands applies a pointwise operator to the first two arguments, each a tensor or a number.
func twoOperands(p *Operator) func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	return func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
		operands := [2]Operand{OperandOf(c, 0), OperandOf(c, 1)}
		return p.Run(dst, operands[:])
	}
}

// OperandOf returns an argument that is a tensor or a number.
func OperandOf(c define.Call, i int) Operand {
	if c.Args[i].IsTensor() {
		return Operand{Tensor: c.Args[i].Tensor()}
	}
	return Operand{Number: c.Scalar(i)}
}

// withAlpha applies plain to the first two arguments, or scaled where the third, alpha, is not 1.
func withAlpha(plain, scaled *Operator, swap bool) func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	return func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
		operands := [2]Operand{OperandOf(c, 0), OperandOf(c, 1)}
		if swap {
			operands[0], operands[1] = operands[1], operands[0]
		}
		if plain == Sub {
			noBoolOfTwo(operands)
		}
		alpha := c.Scalar(2)
		if alpha.Kind == tensor.IntScalar && alpha.Int64() == 1 {
			return plain.Run(dst, operands[:])
		}
		if alpha.Kind == tensor.BoolScalar {
			source.Check(plain.commonType(operands[:]) == tensor.Bool, "Boolean alpha only supported for Boolean results.")
		}
		if !alpha.IsIntegral() {
			common := plain.commonType(operands[:])
			source.Check(common.IsComplex() || alpha.Kind != tensor.ComplexScalar, "For non-complex input tensors, argument alpha must not be a complex number.")
			source.Check(common.IsFloating() || common.IsComplex(), "For integral input tensors, argument alpha must not be a floating point number.")
		}
		return scaled.Run(dst, operands[:], alpha)
	}
}

// divMode is division with a rounding mode.
func divMode(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	mode := c.StrOr(2, "")
	op := map[string]*Operator{"": Div, "trunc": divTrunc, "floor": DivFloor}[mode]
	source.Check(op != nil, "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'", mode)
	return twoOperands(op)(c, dst)
}

var (
	squared   = New("pow", ops.SameType, func(b Builder, x ...Element) Element { return b.Mul(x[0], x[0]) })
	cubed     = New("pow", ops.SameType, func(b Builder, x ...Element) Element { return b.Mul(b.Mul(x[0], x[0]), x[0]) })
	Inverted  = New("pow", ops.SameType, func(b Builder, x ...Element) Element { return b.Div(b.Number(x[0], 1), x[0]) })
	zeroth    = New("pow", ops.SameType, func(b Builder, x ...Element) Element { return b.Number(x[0], 1) })
	first     = New("pow", ops.SameType, func(b Builder, x ...Element) Element { return x[0] })
	powFloats = New("float_power", ops.SameType, binaryOp(kernel.Pow))
)

func powScalar(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	self, exponent := c.Tensor(0), c.Scalar(1)
	common := Pow.commonType([]Operand{OfTensor(self), OfScalar(exponent)})
	source.Check(common != tensor.Bool, "\"pow\" not implemented for 'Bool'")
	whole := self.DType().IsIntegral() || self.DType() == tensor.Bool
	if common == tensor.DefaultDType() && whole && exponent.Float64() == 0.5 {
		return SquareRoot.Run(dst, []Operand{OfTensor(self)})
	}
	if self.DType() == tensor.Bool && common.IsIntegral() && exponent.Int64() >= 1 { // 0 and 1 stay what they are
		return Mul.Run(dst, []Operand{OfTensor(self), OfScalar(tensor.Int(1))})
	}
	if common == self.DType() && exponent.Kind != tensor.ComplexScalar {
		switch {
		case exponent.Float64() == 2:
			return squared.Run(dst, []Operand{OfTensor(self)})
		case exponent.Float64() == 3:
			return cubed.Run(dst, []Operand{OfTensor(self)})
		case exponent.Float64() == 0.5 && !common.IsIntegral():
			return SquareRoot.Run(dst, []Operand{OfTensor(self)})
		case exponent.Float64() == -1 && !common.IsIntegral():
			return Inverted.Run(dst, []Operand{OfTensor(self)})
		}
	}
	source.Check(!common.IsIntegral() || exponent.Float64() >= 0, "Integers to negative integer powers are not allowed.")
	return powerOp(Pow, common, exponent).Run(dst, []Operand{OfTensor(self), OfScalar(exponent)})
}

// powerOp is op, or for complex numbers to the power of 0 or 1 what is exact: the logarithm of 0, by which others are computed, is none.
func powerOp(op *Operator, common tensor.DType, exponent tensor.Scalar) *Operator {
	if common.IsComplex() {
		switch exponent.Complex128() {
		case 0:
			return zeroth
		case 1:
			return first
		}
	}
	return op
}

// powerOfTwo has the number in the kernel, which is exp2 then.
var powerOfTwo = New("pow", ops.SameType, func(b Builder, x ...Element) Element { return b.Binary(kernel.Pow, b.Number(x[1], 2), x[1]) })

// scalarPow is a number to the power of a tensor.
func scalarPow(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	base, exponent := OfScalar(c.Scalar(0)), OfTensor(c.Tensor(1))
	if base.Number.Kind != tensor.ComplexScalar && base.Number.Float64() == 2 && Pow.commonType([]Operand{base, exponent}).IsFloating() {
		return powerOfTwo.Run(dst, []Operand{base, exponent})
	}
	return Pow.Run(dst, []Operand{base, exponent})
}

func floatPower(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	operands := []Operand{OperandOf(c, 0), OperandOf(c, 1)}
	wide := powerType(operands...)
	for i := range operands {
		if t := operands[i].Tensor; t != nil {
			operands[i].Tensor = To(t, wide)
		}
	}
	op := powFloats
	if operands[1].Tensor == nil {
		op = powerOp(op, wide, operands[1].Number)
	}
	return op.Run(dst, operands)
}

// powerType is the type that float_power computes in.
func powerType(operands ...Operand) tensor.DType {
	for i := range operands {
		if t := operands[i].Tensor; t != nil && t.DType().IsComplex() || t == nil && operands[i].Number.Kind == tensor.ComplexScalar {
			return tensor.Complex128
		}
	}
	return tensor.Float64
}

var (
	ClampMin = New("clamp_min", ops.SameType, func(b Builder, x ...Element) Element { return b.Binary(kernel.Max, x[0], x[1]) })
	clampMax = New("clamp_max", ops.SameType, func(b Builder, x ...Element) Element { return b.Binary(kernel.Min, x[0], x[1]) })
)

// Clamp limits the first argument by the next two, each a tensor, a number or None.
func Clamp(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	return clampBetween(c, dst, !c.IsNone(1), !c.IsNone(2))
}

func clampBetween(c define.Call, dst *tensor.Tensor, low, high bool) *tensor.Tensor {
	if c.Tensor(0).DType().IsComplex() {
		source.Raise(source.RuntimeError, "clamp is not supported for complex types")
	}
	self := OfTensor(c.Tensor(0))
	switch {
	case low && high:
		return ClampBoth.Run(dst, []Operand{self, OperandOf(c, 1), OperandOf(c, 2)})
	case low:
		return ClampMin.Run(dst, []Operand{self, OperandOf(c, 1)})
	case high:
		return clampMax.Run(dst, []Operand{self, OperandOf(c, 2)})
	}
	source.Raise(source.RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None")
	return nil
}

var clampReal = QuantizedInto(OnReal, Clamp)

// whereByType holds the select of promoted operands by the type they promote to.
var whereByType = makeWhere()

func makeWhere() (table [tensor.NumDTypes]*Operator) {
	for d := range table {
		common := tensor.DType(d)
		table[d] = New("where", ops.OwnTypes, func(b Builder, x ...Element) Element {
			t := kernel.ComputeType(common)
			return b.Select(x[0], b.Convert(x[1], t), b.Convert(x[2], t))
		})
	}
	return table
}

// Choose gives x where the condition holds and y elsewhere, both promoted.
func Choose(condition *tensor.Tensor, x, y Operand) *tensor.Tensor {
	if condition.DType() == tensor.Uint8 {
		define.Warn("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of PyTorch. Use a boolean condition instead.")
		condition = To(condition, tensor.Bool)
	}
	if condition.DType() != tensor.Bool {
		source.Raise(source.RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype %s", condition.DType().CppName())
	}
	r := tensor.NewResultType()
	for _, o := range [2]Operand{x, y} {
		if o.Tensor != nil {
			r.Tensor(o.Tensor)
		} else {
			r.Scalar(o.Number)
		}
	}
	common := r.DType()
	tensors := [2]*tensor.Tensor{x.Tensor, y.Tensor}
	for i, o := range [2]Operand{x, y} {
		if o.Tensor == nil {
			tensors[i] = tensor.FromScalar(o.Number, common)
		}
	}
	operands := []Operand{OfTensor(condition), OfTensor(tensors[0]), OfTensor(tensors[1])}
	return whereByType[common].Run(elementwiseResult(operands, common), operands)
}

var maskedFillByType = makeMaskedFill()

func makeMaskedFill() (table [tensor.NumDTypes]*Operator) {
	for d := range table {
		self := tensor.DType(d)
		table[d] = New("masked_fill", ops.OwnTypes, func(b Builder, x ...Element) Element {
			return b.Select(x[1], b.Convert(x[2], kernel.ComputeType(self)), x[0])
		})
	}
	return table
}

func maskedFill(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	self, mask := c.Tensor(0), c.Tensor(1)
	define.WarnOfBytes("masked_fill_", mask)
	if mask.DType().IsIntegral() {
		mask = To(mask, tensor.Bool)
	}
	source.Check(mask.DType() == tensor.Bool, "masked_fill_ only supports boolean masks, but got mask with dtype %s", mask.DType())
	value := OperandOf(c, 2)
	if value.Tensor == nil {
		MustFit(value.Number, self.DType())
		number := tensor.FromScalar(value.Number, self.DType())
		defer number.Release()
		value.Tensor = number
	}
	source.Check(value.Tensor.Dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", value.Tensor.Dim())
	if value.Tensor.SharesStorage(self) { // the number counts that is there before anything is written
		value.Tensor = source.Must(value.Tensor.Clone(tensor.PreserveFormat))
	}
	if dst == nil && !(self.IsContiguous() && mask.IsContiguous()) { // it is contiguous, as the copy is that PyTorch fills
		dst = define.EmptyBeside(self, source.Must(tensor.Broadcast(self.Shape(), mask.Shape())), self.DType())
	}
	return maskedFillByType[self.DType()].Run(dst, []Operand{OfTensor(self), OfTensor(mask), value})
}

// CppTypeName is the C++ name of an element type, which prints itself when a message is made, not before.
type CppTypeName tensor.DType

func (d CppTypeName) String() string { return tensor.DType(d).CType() }

var (
	addProducts  = New("addcmul", ops.SameType, func(b Builder, x ...Element) Element { return b.Add(x[0], b.Mul(x[3], b.Mul(x[1], x[2]))) })
	addQuotients = New("addcdiv", ops.SameType, func(b Builder, x ...Element) Element { return b.Add(x[0], b.Mul(x[3], b.Div(x[1], x[2]))) }).refusing(noIntegerQuotients)
	lerp         = New("lerp", ops.SameType, func(b Builder, x ...Element) Element {
		near := b.Add(x[0], b.Mul(x[2], b.Sub(x[1], x[0])))
		far := b.Sub(x[1], b.Mul(b.Sub(x[1], x[0]), b.Sub(b.Number(x[0], 1), x[2])))
		if b.Type(x[0]).IsComplex() {
			return near
		}
		return b.Select(b.Binary(kernel.Lt, b.Unary(kernel.Abs, x[2]), b.Number(x[0], 0.5)), near, far)
	}).refusing(NoIntegers("lerp"))
	// lerpNear and lerpFar are lerp by numbers below and from one half.
	lerpNear = New("lerp", ops.SameType, func(b Builder, x ...Element) Element {
		return b.Add(x[0], b.Mul(x[2], b.Sub(x[1], x[0])))
	}).refusing(NoIntegers("lerp"))
	lerpFar = New("lerp", ops.SameType, func(b Builder, x ...Element) Element {
		return b.Sub(x[1], b.Mul(b.Sub(x[1], x[0]), b.Sub(b.Number(x[0], 1), x[2])))
	}).refusing(NoIntegers("lerp"))
	logit = New("logit", ops.FloatType, func(b Builder, x ...Element) Element {
		return b.Unary(kernel.Log, b.Div(x[0], b.Sub(b.Number(x[0], 1), x[0])))
	})
	logitClamped = New("logit", ops.FloatType, func(b Builder, x ...Element) Element {
		one := b.Number(x[0], 1)
		most := b.Sub(one, x[1])
		z := b.Select(b.Binary(kernel.Lt, x[0], x[1]), x[1], b.Select(b.Binary(kernel.Lt, most, x[0]), most, x[0])) // an eps above a half counts from below
		return b.Unary(kernel.Log, b.Div(z, b.Sub(one, z)))
	})
	nanToNum = New("nan_to_num", ops.SameType, func(b Builder, x ...Element) Element {
		if !isFloatValue(b, x[0]) {
			return x[0]
		}
		finite := b.Select(b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(1))), x[2], b.Select(b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(-1))), x[3], x[0]))
		return b.Select(b.Unary(kernel.IsNaN, x[0]), x[1], finite)
	})
	roundTo = New("round", ops.SameType, func(b Builder, x ...Element) Element {
		return b.Div(b.Unary(kernel.Round, b.Mul(x[0], x[1])), x[1])
	})
	roundToTens = New("round", ops.SameType, func(b Builder, x ...Element) Element {
		return b.Mul(b.Unary(kernel.Round, b.Div(x[0], x[1])), x[1])
	})
	MakeComplex = New("complex", ops.OwnTypes, binaryOp(kernel.MakeComplex))
	makePolar   = New("polar", ops.OwnTypes, func(b Builder, x ...Element) Element {
		return b.Binary(kernel.MakeComplex, b.Mul(x[0], b.Unary(kernel.Cos, x[1])), b.Mul(x[0], b.Unary(kernel.Sin, x[1])))
	})
)

// NoIntegers returns what refuses integers in the words of an operator.
func NoIntegers(name string) func(tensor.DType) {
	return func(d tensor.DType) {
		if !d.IsFloating() && !d.IsComplex() {
			NotImplemented(name+"_cpu", d)
		}
	}
}

func largest(d tensor.DType) float64 {
	switch d {
	case tensor.Float16:
		return 65504
	case tensor.BFloat16:
		return float64(tensor.BF16(0x7f7f).Float32())
	case tensor.Float64:
		return math.MaxFloat64
	}
	return math.MaxFloat32
}

// complexFrom joins two real tensors into a complex one.
func complexFrom(p *Operator, c define.Call) *tensor.Tensor {
	re, im := c.Tensor(0), c.Tensor(1)
	isReal := func(d tensor.DType) bool { return d == tensor.Float32 || d == tensor.Float64 }
	source.Check(isReal(re.DType()) && isReal(im.DType()), "Expected both inputs to be Half, Float or Double tensors but got %s and %s", re.DType().CppName(), im.DType().CppName())
	source.Check(re.DType() == im.DType(), "Expected object of scalar type %s but got scalar type %s for second argument", re.DType().CppName(), im.DType().CppName())
	operands := []Operand{OfTensor(re), OfTensor(im)}
	return p.Run(elementwiseResult(operands, re.DType().ToComplex()), operands)
}

// composed are the records of the operators whose expression depends on their arguments.
var composed = []ops.Def{
	{Name: "add", Groups: ops.Groups, Into: Into(withAlpha(Add, addScaled, false)), Tags: ops.Elementwise | ops.Grouped | ops.IgnoresSelf | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Tensor", Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Grad(0)); g.Give(1, g.ScaledBy(g.Grad(0), 2)) }},
		{Name: "Scalar", Reads: ops.ReadsNothing, Grad: define.PassedOn},
	}},
	{Name: "sub", Groups: ops.Groups, Aliases: []string{"subtract"}, Into: Into(withAlpha(Sub, subScaled, false)),
		Tags: ops.Elementwise | ops.Grouped | ops.IgnoresSelf | ops.Broadcasts, Overloads: []ops.Def{
			{Name: "Tensor", Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Grad(0)); g.Give(1, g.Neg(g.ScaledBy(g.Grad(0), 2))) }},
			{Name: "Scalar", Reads: ops.ReadsNothing, Grad: define.PassedOn},
		}},
	{Name: "rsub", Into: Into(withAlpha(Sub, subScaled, true)), Tags: ops.Elementwise | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Tensor", Parts: rsubParts, Tags: ops.Symbolic, Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Neg(g.ScaledBy(g.Grad(0), 2))); g.Give(1, g.Grad(0)) }},
		{Name: "Scalar", Parts: rsubParts, Tags: ops.Grouped, Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Neg(g.ScaledBy(g.Grad(0), 2))) }},
	}},
	{Name: "div", Aliases: []string{"divide"}, Into: Into(divMode), Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Tensor_mode", Grad: func(g define.Grad) { // a rounded quotient is constant
			rounded, dy := g.IsNone(2), g.Grad(0)
			scaled := g.Choose(rounded, func() define.Ref { return g.Div(dy, g.In(1)) }, func() define.Ref { return g.Zeros(dy) })
			g.Give(0, scaled)
			if g.Needs(1) {
				g.Give(1, g.Choose(rounded, func() define.Ref { return g.Neg(g.Mul(scaled, g.Div(g.In(0), g.In(1)))) }, func() define.Ref { return scaled }))
			}
		}},
		{Name: "Scalar_mode", Grad: func(g define.Grad) {
			dy := g.Grad(0)
			g.Give(0, g.Choose(g.IsNone(2), func() define.Ref { return g.Do("div.Scalar", dy, g.Arg(1)) }, func() define.Ref { return g.Zeros(dy) }))
		}},
	}},
	{Name: "pow", Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Tensor_Tensor", Into: Into(twoOperands(Pow)), Tags: ops.SavesOperand, Grad: powGrad},
		{Name: "Tensor_Scalar", Groups: ops.GroupsFractionTensors, Into: Into(powScalar), Reads: ops.ReadsSelf, Grad: define.OfSelf(powScalarGrad)},
		{Name: "Scalar", Into: Into(scalarPow), Grad: func(g define.Grad) {
			g.Give(1, g.Do("mul.Scalar", g.Mul(g.Grad(0), g.Out(0)), g.LogNumber(g.Number(0))))
		}},
	}},
	{Name: "float_power", Into: Into(floatPower), CheckInPlace: checking(checkPowerBase), Overloads: []ops.Def{{Name: "Tensor_Tensor"}, {Name: "Tensor_Scalar"}, {Name: "Scalar"}}},
	{Name: "max", Groups: ops.Groups, Into: Into(twoOperands(Maximum)), Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts,
		Overloads: []ops.Def{{Name: "other", Grad: extremeGrad("le.Tensor"), Parts: define.Emitting("maximum")}}},
	{Name: "min", Groups: ops.Groups, Into: Into(twoOperands(Minimum)), Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts,
		Overloads: []ops.Def{{Name: "other", Grad: extremeGrad("ge.Tensor"), Parts: define.Emitting("minimum")}}},
	{Name: "clamp", Aliases: []string{"clip"}, Tags: ops.ThroughNumbers | ops.Elementwise, Overloads: []ops.Def{
		{Groups: ops.Groups, Into: Into(clampPlain), Tags: ops.Grouped, Grad: clampGrad},
		{Name: "Tensor", Into: Into(Clamp), Tags: ops.Grouped, Grad: clampTensorGrad},
	}},
	{Name: "clamp_min", Into: Into(twoOperands(ClampMin)), Tags: ops.Elementwise, Overloads: []ops.Def{
		{Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Where(g.Do("ge.Scalar", x, g.Arg(1)), dy) })},
		{Name: "Tensor"},
	}},
	{Name: "clamp_max", Into: Into(twoOperands(clampMax)), Tags: ops.Elementwise, Overloads: []ops.Def{
		{Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Where(g.Do("le.Scalar", x, g.Arg(1)), dy) })},
		{Name: "Tensor"},
	}},
	{Name: "addcmul", Groups: ops.Groups, Parts: addingParts("mul.Tensor"), Into: Into(threeTensors(addProducts)), Tags: ops.Elementwise | ops.Grouped | ops.IgnoresSelf | ops.Broadcasts, Grad: func(g define.Grad) {
		g.Give(0, g.Grad(0))
		scaled := g.Do("mul.Scalar", g.Grad(0), g.Arg(3))
		g.Give(1, g.Mul(scaled, g.In(2)))
		g.Give(2, g.Mul(scaled, g.In(1)))
	}},
	{Name: "addcdiv", Parts: addingParts("div.Tensor"), Into: Into(threeTensors(addQuotients)), Tags: ops.Elementwise | ops.IgnoresSelf | ops.Broadcasts, Grad: func(g define.Grad) {
		g.Give(0, g.Grad(0))
		scaled := g.Div(g.Do("mul.Scalar", g.Grad(0), g.Arg(3)), g.In(2))
		g.Give(1, scaled)
		g.Give(2, g.Neg(g.Mul(scaled, g.Div(g.In(1), g.In(2)))))
	}},
	{Name: "lerp", Groups: ops.Groups, Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Scalar", Into: Into(lerpByNumber), Tags: ops.IgnoresSelf, Grad: func(g define.Grad) {
			g.Give(0, g.Do("mul.Scalar", g.Grad(0), g.SubNumbers(1, g.Number(2))))
			g.Give(1, g.Do("mul.Scalar", g.Grad(0), g.Number(2)))
		}},
		{Name: "Tensor", Into: Into(lerpByTensor), Grad: func(g define.Grad) {
			w := g.In(2)
			g.Give(0, g.Minus(g.Grad(0), g.Mul(g.Grad(0), w)))
			g.Give(1, g.Mul(g.Grad(0), w))
			g.Give(2, g.Mul(g.Grad(0), g.Minus(g.In(1), g.In(0))))
		}},
	}},
	{Name: "logit", Aliases: []string{"special_logit"}, Into: Into(logitOf), Tags: ops.Elementwise,
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Do("logit_backward", dy, x, g.Arg(1)) })},
	{Name: "nan_to_num", Parts: define.Composing(nanToNumParts), Into: Into(nanToNumOf), Tags: ops.Elementwise,
		Reads: ops.ReadsSelf, Grad: define.OfSelf(func(g define.Grad, dy, x define.Ref) define.Ref { return g.Where(g.Do("isfinite", x), dy) })},
	{Name: "round", Into: Into(roundOf), Overloads: []ops.Def{{Name: "decimals", Aliases: []string{"special_round"}, Reads: ops.ReadsNothing, Grad: define.ZeroOfSelf}}},
	{Name: "masked_fill", Quantized: define.SameScale, Into: Into(maskedFill), Tags: ops.IgnoresSelf, Overloads: []ops.Def{
		{Name: "Scalar", Parts: define.Composing(maskedFillParts), Reads: ops.ReadsNothing.And(1), Grad: func(g define.Grad) { g.Give(0, g.Where(g.Do("logical_not", g.In(1)), g.Grad(0))) }},
		{Name: "Tensor", Grad: func(g define.Grad) {
			g.Give(0, g.Where(g.Do("logical_not", g.In(1)), g.Grad(0)))
			g.Give(2, g.Where(g.In(1), g.Grad(0)))
		}},
	}},
}

var PointwiseFamily = slices.Concat(FromRecords(elementary), FromRecords(composed), dunders(), []define.Definition{
	define.Operator("frexp.Tensor", func(c define.Call) { c.Give(define.Pair(frexp(c.Tensor(0)))...) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Div(c.G(), c.Do("exp2", c.Do("to.dtype", c.Out(1), c.G().DType()))))
	})}),
	define.Giving("prim::abs", func(c define.Call) *tensor.Tensor { return Absolute.On(c.Tensor(0)) }).With(ops.Def{Reads: ops.ReadsSelf, Grad: absoluteGrad, Tags: ops.AsWritten}),
	define.Operator("positive", func(c define.Call) { c.Give(c.Tensor(0)) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn}),
	define.Giving("where.self", func(c define.Call) *tensor.Tensor { return Choose(c.Tensor(0), OperandOf(c, 1), OperandOf(c, 2)) }).With(ops.Def{Groups: ops.Groups, Reads: ops.ReadsSelf, Grad: func(g define.Grad) {
		g.Give(1, g.Where(g.In(0), g.Grad(0)))
		g.Give(2, g.Where(g.Do("logical_not", g.In(0)), g.Grad(0)))
	}, Tags: ops.Broadcasts | ops.Grouped | ops.AsWritten}).OnMeta(),
	define.Giving("where.ScalarSelf", func(c define.Call) *tensor.Tensor { return Choose(c.Tensor(0), OperandOf(c, 1), OperandOf(c, 2)) }).With(ops.Def{Groups: ops.Groups, Grad: define.Concrete(func(c define.Gradient) { c.Give(2, c.Where(c.Do("logical_not", c.In(0)), c.G())) })}).OnMeta(),
	define.Giving("where.ScalarOther", func(c define.Call) *tensor.Tensor { return Choose(c.Tensor(0), OperandOf(c, 1), OperandOf(c, 2)) }).With(ops.Def{Groups: ops.Groups, Grad: define.Concrete(func(c define.Gradient) { c.Give(1, c.Where(c.In(0), c.G())) })}).OnMeta(),
	define.Giving("where.Scalar", func(c define.Call) *tensor.Tensor { return Choose(c.Tensor(0), OperandOf(c, 1), OperandOf(c, 2)) }).With(ops.Def{Groups: ops.Groups}).OnMeta(),
	define.Giving("complex", func(c define.Call) *tensor.Tensor { return complexFrom(MakeComplex, c) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Do("real", c.G()))
		c.Give(1, c.Do("imag", c.G()))
	}), Tags: ops.AsWritten}),
	define.Giving("polar", func(c define.Call) *tensor.Tensor { return complexFrom(makePolar, c) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		direction := c.Do("polar", c.Do("ones_like", c.In(0)), c.In(1))
		c.Give(0, c.Do("real", c.Mul(c.G(), c.Conj(direction))))
		c.Give(1, c.Do("real", c.Mul(c.G(), c.Conj(Rotate(c, c.Mul(direction, c.In(0)))))))
	}), Tags: ops.AsWritten}),
})

func clampPlain(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	if IsSmall(c.Tensor(0)) && !c.IsNone(1) && !c.IsNone(2) {
		return LimitedNumbers(c.Tensor(0), dst, c.Float(1), c.Float(2))
	}
	return clampReal(c, dst)
}

// checkLerp fails where an argument has another type than the first one.
func checkLerp(c define.Call, name string, i int) {
	if self, other := c.Tensor(0).DType(), c.Tensor(i).DType(); self != other {
		source.Raise(source.RuntimeError, "expected dtype %s for `%s` but got dtype %s", define.LowerNames[self], name, define.LowerNames[other])
	}
}

func lerpByNumber(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	by := lerpNear
	checkLerp(c, "end", 1)
	c.Scalar(2).MustSuit(c.Tensor(0).DType())
	if !c.Tensor(0).DType().IsComplex() && !(math.Abs(c.Scalar(2).Float64()) < 0.5) {
		by = lerpFar
	}
	return by.Run(dst, []Operand{OfTensor(c.Tensor(0)), OfTensor(c.Tensor(1))}, c.Scalar(2))
}

func lerpByTensor(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	checkLerp(c, "end", 1)
	checkLerp(c, "weight", 2)
	return lerp.Run(dst, []Operand{OfTensor(c.Tensor(0)), OfTensor(c.Tensor(1)), OfTensor(c.Tensor(2))})
}

func nanToNumOf(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	self := c.Tensor(0)
	high := largest(self.DType())
	return nanToNum.Run(dst, []Operand{OfTensor(self)}, tensor.Float(c.FloatOr(1, 0)), tensor.Float(c.FloatOr(2, high)), tensor.Float(c.FloatOr(3, -high)))
}

func roundOf(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	decimals := c.Int(1)
	if decimals < 0 {
		return roundToTens.Run(dst, []Operand{OfTensor(c.Tensor(0))}, tensor.Float(math.Pow10(-decimals)))
	}
	return roundTo.Run(dst, []Operand{OfTensor(c.Tensor(0))}, tensor.Float(math.Pow10(decimals)))
}

func logitOf(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	if c.IsNone(1) {
		return logit.Run(dst, []Operand{OfTensor(c.Tensor(0))})
	}
	return logitClamped.Run(dst, []Operand{OfTensor(c.Tensor(0))}, c.Scalar(1))
}

// threeTensors applies an operator to three tensors and a number that is a keyword.
func threeTensors(p *Operator) func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	return func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
		return p.Run(dst, []Operand{OfTensor(c.Tensor(0)), OfTensor(c.Tensor(1)), OfTensor(c.Tensor(2))}, c.Scalar(3))
	}
}

// frexp splits elements into a fraction and a power of two.
func frexp(t *tensor.Tensor) (mantissa, exponent *tensor.Tensor) {
	source.Check(t.DType().IsFloating(), "torch.frexp() only supports floating-point dtypes")
	if t.OnDevice() {
		mantissa, exponent = define.EmptyBeside(t, t.Shape(), t.DType()), define.EmptyBeside(t, t.Shape(), tensor.Int32)
		r := kernel.Routine{Text: "digits", Entry: "split", Types: []tensor.DType{t.DType()}, Threads: t.Numel()}
		if t.Numel() > 0 {
			source.Throw(LaunchRoutine(r, []*tensor.Tensor{mantissa, exponent, Contiguous(t)}))
		}
		return mantissa, exponent
	}
	src := tensor.Data[float64](Contiguous(To(t, tensor.Float64)))
	m, e := define.Empty(t.Shape(), tensor.Float64), define.Empty(t.Shape(), tensor.Int32)
	mantissas, exponents := tensor.Data[float64](m), tensor.Data[int32](e)
	var watch parallel.Watch
	for i, v := range src {
		watch.Did(1)
		f, p := math.Frexp(v)
		mantissas[i], exponents[i] = f, int32(p)
	}
	return To(m, t.DType()), e
}

// dunders defines __iand__ and its kin, which write their first argument.
func dunders() []define.Definition {
	var defs []define.Definition
	for i := range elementary {
		for _, record := range elementary[i].Flat() {
			if strings.HasPrefix(record.Name, "__") {
				into := operatorOf(&elementary[i])
				defs = append(defs, define.Operator("__i"+record.Name[2:], func(c define.Call) {
					into(c, c.Tensor(0))
					c.GiveSelf()
				}))
			}
		}
	}
	return defs
}

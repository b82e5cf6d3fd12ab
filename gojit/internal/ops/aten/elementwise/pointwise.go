package aten

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

type (
	builder = *kernel.Builder
	element = kernel.Value
)

// unaryOp is the expression of one instruction.
func unaryOp(op kernel.Op) expression {
	return func(b builder, x ...element) element { return b.Unary(op, x[0]) }
}

func binaryOp(op kernel.Op) expression {
	return func(b builder, x ...element) element { return b.Binary(op, x[0], x[1]) }
}

// Operators that others use.
var (
	add       = elementwise("add", ops.SameType, binaryOp(kernel.Add))
	addScaled = elementwise("add", ops.SameType, func(b builder, x ...element) element { return b.Add(x[0], b.Mul(x[2], x[1])) })
	sub       = elementwise("sub", ops.SameType, binaryOp(kernel.Sub)).refusing(noBoolSub)
	subScaled = elementwise("sub", ops.SameType, func(b builder, x ...element) element { return b.Sub(x[0], b.Mul(x[2], x[1])) }).refusing(noBoolSub)
	mul       = shared(elementary, "mul")
	div       = shared(elementary, "div")
	divTrunc  = elementwise("div", ops.SameType, func(b builder, x ...element) element {
		return b.Unary(kernel.Trunc, b.Div(x[0], x[1]))
	})
	divFloor    = shared(elementary, "floor_divide")
	remainder   = shared(elementary, "remainder")
	pow         = elementwise("pow", ops.SameType, binaryOp(kernel.Pow))
	maximum     = shared(elementary, "maximum")
	minimum     = shared(elementary, "minimum")
	eq          = shared(elementary, "eq")
	ne          = shared(elementary, "ne")
	lt          = shared(elementary, "lt")
	le          = shared(elementary, "le")
	gt          = shared(elementary, "gt")
	neg         = shared(elementary, "neg")
	absolute    = shared(elementary, "abs")
	exponential = shared(elementary, "exp")
	logarithm   = shared(elementary, "log")
	squareRoot  = shared(elementary, "sqrt")
	sigmoid     = shared(elementary, "sigmoid")
	tanh        = shared(elementary, "tanh")
	relu        = elementwise("relu", ops.SameType, func(b builder, x ...element) element {
		return b.Binary(kernel.Max, x[0], b.Number(x[0], 0))
	}).refusing(noBoolRelu)
	clampBoth = elementwise("clamp", ops.SameType, func(b builder, x ...element) element {
		return b.Binary(kernel.Min, b.Binary(kernel.Max, x[0], x[1]), x[2])
	})
	isNaN = shared(elementary, "isnan")
	not   = shared(elementary, "logical_not")
)

func noBoolSub(d tensor.DType) {
	check(d != tensor.Bool, "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator instead.")
}

// noBoolOfTwo refuses a difference of which one operand holds bools; that of two is noBoolSub's.
func noBoolOfTwo(operands [2]operand) {
	check(operands[0].isBool() == operands[1].isBool(), "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
}

func noBoolNeg(d tensor.DType) {
	check(d != tensor.Bool, "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use the `~` or `logical_not()` operator instead.")
}

func noBoolRelu(d tensor.DType) { check(d != tensor.Bool, "Boolean inputs not supported for relu") }

func noComplexOrder(name string) func(tensor.DType) {
	return func(d tensor.DType) { orderedOnly(name, d) }
}

func orderedOnly(name string, d tensor.DType) {
	if d.IsComplex() {
		notImplemented(name+"_cpu", d)
	}
}

// notImplemented fails as an operator does that has no kernel for a type.
func notImplemented(kernel string, d tensor.DType) {
	raise(source.RuntimeError, "\"%s\" not implemented for '%s'", kernel, d.CppName())
}

func noFloats(name string) func(tensor.DType) {
	return func(d tensor.DType) {
		if d.IsFloating() || d.IsComplex() {
			notImplemented(name+"_cpu", d)
		}
	}
}

func sigmoidOf(b builder, x element) element {
	one := b.Number(x, 1)
	return b.Div(one, b.Add(one, b.Exp(b.Neg(x))))
}

func isZero(b builder, x element) element { return b.Binary(kernel.Eq, x, b.Number(x, 0)) }

// elementary are the records of the operators that compute one expression of their operands.
var elementary = []ops.Def{
	{Name: "exp", Promote: ops.FloatType, Scalar: unaryOp(kernel.Exp),
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref { return g.Mul(dy, y) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "exp2", Aliases: []string{"special_exp2"}, Promote: ops.FloatType, Scalar: func(b builder, x ...element) element {
		return b.Binary(kernel.Pow, b.Number(x[0], 2), x[0])
	},
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref { return g.Scale(g.Mul(dy, y), math.Ln2) })},
	{Name: "expm1", Aliases: []string{"special_expm1"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Expm1),
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref { return g.Mul(dy, g.Shift(y, 1)) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "log", Promote: ops.FloatType, Scalar: unaryOp(kernel.Log),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Div(dy, x) }), Tags: ops.Grouped},
	{Name: "log2", Promote: ops.FloatType, Scalar: unaryOp(kernel.Log2),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Div(dy, g.Scale(x, math.Ln2)) }), Tags: ops.Grouped},
	{Name: "log10", Promote: ops.FloatType, Scalar: unaryOp(kernel.Log10),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Div(dy, g.Scale(x, math.Ln10)) }), Tags: ops.Grouped},
	{Name: "log1p", Aliases: []string{"special_log1p"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Log1p),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Div(dy, g.Shift(x, 1)) }), Tags: ops.Grouped},
	{Name: "sin", Promote: ops.FloatType, Scalar: unaryOp(kernel.Sin),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("cos", x)) }), Tags: ops.Grouped},
	{Name: "cos", Promote: ops.FloatType, Scalar: unaryOp(kernel.Cos),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Neg(g.Mul(dy, g.Do("sin", x))) }), Tags: ops.Grouped},
	{Name: "tan", Promote: ops.FloatType, Scalar: unaryOp(kernel.Tan),
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref { return g.Mul(dy, g.Shift(g.Square(y), 1)) }), Tags: ops.Grouped},
	{Name: "asin", Aliases: []string{"arcsin"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Asin),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("rsqrt", g.OneMinusSquare(x))) }), Tags: ops.Grouped},
	{Name: "acos", Aliases: []string{"arccos"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Acos),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Neg(g.Mul(dy, g.Do("rsqrt", g.OneMinusSquare(x)))) }), Tags: ops.Grouped},
	{Name: "atan", Aliases: []string{"arctan"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Atan),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Div(dy, g.Shift(g.Square(x), 1)) }), Tags: ops.Grouped},
	{Name: "sinh", Promote: ops.FloatType, Scalar: unaryOp(kernel.Sinh),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("cosh", x)) }), Tags: ops.Grouped},
	{Name: "cosh", Promote: ops.FloatType, Scalar: unaryOp(kernel.Cosh),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("sinh", x)) }), Tags: ops.Grouped},
	{Name: "tanh", Quantized: signedUnitScale, Promote: ops.FloatType, Scalar: unaryOp(kernel.Tanh),
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref {
			if g.IsComplex(y) {
				return g.Mul(dy, g.OneMinusSquare(y))
			}
			return g.Do("tanh_backward", dy, y)
		}), Tags: ops.Grouped | ops.IgnoresSelf | ops.Activation | ops.ChangesType},
	{Name: "asinh", Aliases: []string{"arcsinh"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Asinh),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("rsqrt", g.Shift(g.Square(x), 1))) })},
	{Name: "acosh", Aliases: []string{"arccosh"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Acosh),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
			return g.Mul(dy, g.Mul(g.Do("rsqrt", g.Shift(x, 1)), g.Do("rsqrt", g.Shift(x, -1)))) // the branch of complex numbers
		})},
	{Name: "atanh", Aliases: []string{"arctanh"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Atanh),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Div(dy, g.OneMinusSquare(x)) })},
	{Name: "erf", Aliases: []string{"special_erf"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Erf),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
			return g.Scale(g.Mul(dy, g.Do("exp", g.Neg(g.Square(x)))), 2/math.Sqrt(math.Pi))
		}), Tags: ops.Grouped},
	{Name: "erfc", Aliases: []string{"special_erfc"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Erfc),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref {
			return g.Scale(g.Mul(dy, g.Do("exp", g.Neg(g.Square(x)))), -2/math.Sqrt(math.Pi))
		}), Tags: ops.Grouped},
	{Name: "erfinv", Aliases: []string{"special_erfinv"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Erfinv),
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref {
			return g.Scale(g.Mul(dy, g.Do("exp", g.Square(y))), math.Sqrt(math.Pi)/2)
		})},
	{Name: "lgamma", Aliases: []string{"special_gammaln"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Lgamma),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("digamma", x)) })},
	{Name: "digamma", Aliases: []string{"special_digamma", "special_psi"}, Promote: ops.FloatType, Scalar: unaryOp(kernel.Digamma),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("polygamma", 1, x)) })},
	{Name: "sqrt", Promote: ops.FloatType, Scalar: unaryOp(kernel.Sqrt),
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref { return g.Div(dy, g.Scale(y, 2)) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "rsqrt", Promote: ops.FloatType, Scalar: func(b builder, x ...element) element {
		return b.Div(b.Number(x[0], 1), b.Unary(kernel.Sqrt, x[0]))
	},
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref { return g.Scale(g.Mul(dy, g.Mul(y, g.Square(y))), -0.5) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "reciprocal", Promote: ops.FloatType, Scalar: func(b builder, x ...element) element { return b.Div(b.Number(x[0], 1), x[0]) },
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref { return g.Neg(g.Mul(dy, g.Square(y))) }), Tags: ops.Grouped | ops.IgnoresSelf},
	{Name: "sigmoid", Aliases: []string{"special_expit"}, Quantized: unitScale, Promote: ops.FloatType, Scalar: func(b builder, x ...element) element { return sigmoidOf(b, x[0]) },
		Reads: ops.ReadsResult, Grad: ofResult(func(g grad, dy, y ref) ref {
			if g.IsComplex(y) {
				return g.Mul(dy, g.Mul(y, g.Shift(g.Neg(y), 1)))
			}
			return g.Do("sigmoid_backward", dy, y)
		}), Tags: ops.Grouped | ops.IgnoresSelf | ops.Activation | ops.ChangesType},
	{Name: "sinc", Aliases: []string{"special_sinc"}, Promote: ops.FloatType, Scalar: func(b builder, x ...element) element {
		px := b.Mul(x[0], b.Number(x[0], math.Pi))
		return b.Select(isZero(b, x[0]), b.Number(x[0], 1), b.Div(b.Unary(kernel.Sin, px), px))
	}},
	{Name: "deg2rad", Promote: ops.FloatType, Scalar: func(b builder, x ...element) element { return b.Mul(x[0], b.Number(x[0], math.Pi/180)) }},
	{Name: "rad2deg", Promote: ops.FloatType, Scalar: func(b builder, x ...element) element { return b.Mul(x[0], b.Number(x[0], 180/math.Pi)) }},
	{Name: "special_entr", Promote: ops.FloatType, Scalar: func(b builder, x ...element) element {
		zero := b.Number(x[0], 0)
		negative := b.Select(b.Binary(kernel.Lt, x[0], zero), b.Number(x[0], math.Inf(-1)), x[0])
		return b.Select(b.Binary(kernel.Gt, x[0], zero), b.Neg(b.Mul(x[0], b.Unary(kernel.Log, x[0]))), negative)
	}},
	{Name: "sign", Scalar: unaryOp(kernel.Sign),
		Reads: ops.ReadsNothing, Grad: zeroOfSelf},
	{Name: "sgn", Scalar: unaryOp(kernel.Sign),
		Grad: concrete(func(c gradient) { c.give(0, signGrad(c, c.g(), c.out(0))) }), Tags: ops.AsWritten},
	{Name: "floor", Scalar: unaryOp(kernel.Floor),
		Reads: ops.ReadsNothing, Grad: zeroOfSelf, Tags: ops.Grouped},
	{Name: "ceil", Scalar: unaryOp(kernel.Ceil),
		Reads: ops.ReadsNothing, Grad: zeroOfSelf, Tags: ops.Grouped},
	{Name: "round", Scalar: unaryOp(kernel.Round),
		Reads: ops.ReadsNothing, Grad: zeroOfSelf, Tags: ops.Grouped},
	{Name: "trunc", Aliases: []string{"fix"}, Scalar: unaryOp(kernel.Trunc),
		Reads: ops.ReadsNothing, Grad: zeroOfSelf, Tags: ops.Grouped},
	{Name: "frac", Scalar: func(b builder, x ...element) element { return b.Sub(x[0], b.Unary(kernel.Trunc, x[0])) },
		Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Grad(0)) }, Tags: ops.Grouped},
	{Name: "square", Promote: ops.NumberType, Scalar: func(b builder, x ...element) element { return b.Mul(x[0], x[0]) },
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Scale(g.Mul(dy, x), 2) })},
	{Name: "_conj_physical", Scalar: unaryOp(kernel.Conj), Tags: ops.AsWritten, Grad: conjugateGrad},
	{Name: "abs", Aliases: []string{"absolute"}, Promote: ops.RealResult, CheckInPlace: checking(checkRealAbs), Scalar: unaryOp(kernel.Abs),
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Mul(dy, g.Do("sgn", x)) }), Tags: ops.Grouped | ops.AsWritten},
	{Name: "angle", Promote: ops.RealOfFloat, Scalar: unaryOp(kernel.Angle), Tags: ops.AsWritten, Grad: concrete(angleGrad)},
	{Name: "isnan", Promote: ops.BoolResult, Scalar: unaryOp(kernel.IsNaN), Tags: ops.NotDifferentiable},
	{Name: "isinf", Promote: ops.BoolResult, Scalar: func(b builder, x ...element) element {
		return ofParts(b, x[0], false, kernel.Or, func(a element) element { return b.Binary(kernel.Eq, a, b.Number(a, math.Inf(1))) })
	}, Tags: ops.NotDifferentiable},
	{Name: "isfinite", Promote: ops.BoolResult, Scalar: func(b builder, x ...element) element {
		return ofParts(b, x[0], true, kernel.And, func(a element) element { return b.Binary(kernel.Lt, a, b.Number(a, math.Inf(1))) })
	}, Tags: ops.NotDifferentiable},
	{Name: "isposinf", Promote: ops.BoolResult, Scalar: func(b builder, x ...element) element {
		if !isFloatValue(b, x[0]) {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		return b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(1)))
	}},
	{Name: "isneginf", Promote: ops.BoolResult, Scalar: func(b builder, x ...element) element {
		if !isFloatValue(b, x[0]) {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		return b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(-1)))
	}},
	{Name: "isreal", Promote: ops.BoolResult, Scalar: func(b builder, x ...element) element {
		if !b.Type(x[0]).IsComplex() {
			return b.Const(tensor.Bool, tensor.Boolean(true))
		}
		return isZero(b, b.Unary(kernel.Imag, x[0]))
	}},
	{Name: "signbit", Promote: ops.BoolResult, Scalar: func(b builder, x ...element) element {
		if b.Type(x[0]) == tensor.Bool || b.Type(x[0]) == tensor.Uint8 {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		if !isFloatValue(b, x[0]) {
			return b.Binary(kernel.Lt, x[0], b.Number(x[0], 0))
		}
		sign := b.Binary(kernel.CopySign, b.Number(x[0], 1), x[0])
		return b.Binary(kernel.Lt, sign, b.Number(x[0], 0))
	}},
	{Name: "logical_not", Promote: ops.LogicType, Scalar: unaryOp(kernel.Not),
		Grad: constantGrad, Tags: ops.Constant},

	{Name: "mul", Aliases: []string{"multiply"}, Scalar: binaryOp(kernel.Mul), Operands: 2, Tags: ops.Grouped, Overloads: []ops.Def{
		{Name: "Tensor", Tags: ops.SavesOperand | ops.SelfIgnoresSelf, Reads: ops.ReadsOperands, Grad: func(g grad) {
			if g.Needs(0) {
				g.Give(0, g.Mul(g.Grad(0), g.In(1)))
			}
			if g.Needs(1) {
				g.Give(1, g.Mul(g.Grad(0), g.In(0)))
			}
		}},
		{Name: "Scalar", Tags: ops.IgnoresSelf, Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Do("mul.Scalar", g.Grad(0), g.Arg(1))) }},
	}},
	{Name: "div", Aliases: []string{"divide", "true_divide"}, Promote: ops.FloatType, Scalar: binaryOp(kernel.Div), Operands: 2, Tags: ops.Grouped, Overloads: []ops.Def{
		{Name: "Tensor", Tags: ops.SavesOperand | ops.SelfIgnoresSelf, Reads: ops.ReadsOperands, Grad: divGrad},
		{Name: "Scalar", Tags: ops.IgnoresSelf, Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Do("div.Scalar", g.Grad(0), g.Arg(1))) }},
	}},
	{Name: "floor_divide", Scalar: binaryOp(kernel.FloorDiv), Operands: 2, Overloads: []ops.Def{
		{Grad: func(g grad) { g.Give(0, g.Zeros(g.Grad(0))); g.Give(1, g.Zeros(g.Grad(0))) }},
		{Name: "Scalar"},
	}},
	{Name: "remainder", Scalar: binaryOp(kernel.Mod), Operands: 2, Overloads: []ops.Def{
		{Name: "Tensor", Grad: quotientGrad("floor")},
		{Name: "Scalar", Tags: ops.Grouped, Reads: ops.ReadsNothing, Grad: passedOn},
		{Name: "Scalar_Tensor", Grad: func(g grad) {
			g.Give(1, g.Neg(g.Mul(g.Grad(0), g.Do("floor", g.Do("mul.Scalar", g.Do("reciprocal", g.In(1)), g.Arg(0))))))
		}},
	}},
	{Name: "fmod", Scalar: binaryOp(kernel.Rem), Operands: 2, Overloads: []ops.Def{
		{Name: "Tensor", Grad: quotientGrad("trunc")},
		{Name: "Scalar", Tags: ops.Grouped, Reads: ops.ReadsNothing, Grad: passedOn},
	}},
	{Name: "atan2", Aliases: []string{"arctan2"}, Promote: ops.FloatType, Scalar: binaryOp(kernel.Atan2), Operands: 2, Grad: func(g grad) {
		y, x := g.In(0), g.In(1)
		scaled := g.Div(g.Grad(0), g.Plus(g.Square(x), g.Square(y)))
		g.Give(0, g.Mul(scaled, x))
		g.Give(1, g.Neg(g.Mul(scaled, y)))
	}},
	{Name: "maximum", Scalar: binaryOp(kernel.Max), Operands: 2, Grad: extremeGrad("gt.Tensor")},
	{Name: "minimum", Scalar: binaryOp(kernel.Min), Operands: 2, Grad: extremeGrad("lt.Tensor")},
	{Name: "fmax", Scalar: func(b builder, x ...element) element { return ignoringNaN(b, kernel.Max, x) }, Operands: 2},
	{Name: "fmin", Scalar: func(b builder, x ...element) element { return ignoringNaN(b, kernel.Min, x) }, Operands: 2},
	{Name: "hypot", Scalar: hypot, Operands: 2, Grad: func(g grad) {
		scaled := g.Div(g.Grad(0), g.Out(0))
		g.Give(0, g.Mul(scaled, g.In(0)))
		g.Give(1, g.Mul(scaled, g.In(1)))
	}},
	{Name: "copysign", Promote: ops.FloatType, Scalar: binaryOp(kernel.CopySign), Operands: 2, Overloads: tensorAndScalar},
	{Name: "nextafter", Scalar: binaryOp(kernel.NextAfter), Operands: 2, Grad: func(g grad) { g.Give(0, g.Grad(0)); g.Give(1, g.Zeros(g.Grad(0))) }},
	{Name: "gcd", Scalar: binaryOp(kernel.Gcd), Operands: 2, Refuses: noFloats("gcd")},
	{Name: "lcm", Operands: 2, Refuses: noFloats("lcm"), Scalar: func(b builder, x ...element) element {
		g := b.Binary(kernel.Gcd, x[0], x[1])
		safe := b.Select(isZero(b, g), b.Number(g, 1), g)
		return b.Unary(kernel.Abs, b.Mul(b.Binary(kernel.Div, x[0], safe), x[1]))
	}},
	{Name: "logaddexp", Promote: ops.FloatType, Operands: 2,
		Scalar: func(b builder, x ...element) element { return logAddExp(b, x, kernel.Exp, 1) },
		Grad: func(g grad) {
			apart := g.Minus(g.In(0), g.In(1))
			g.Give(0, g.Mul(g.Grad(0), g.Do("sigmoid", apart)))
			g.Give(1, g.Mul(g.Grad(0), g.Do("sigmoid", g.Neg(apart))))
		}},
	{Name: "logaddexp2", Promote: ops.FloatType, Operands: 2, Scalar: func(b builder, x ...element) element { return logAddExp(b, x, kernel.Exp, math.Ln2) }},
	{Name: "xlogy", Promote: ops.FloatType, Operands: 2, Scalar: func(b builder, x ...element) element { return xlog(b, x, kernel.Log) }, Overloads: []ops.Def{
		{Name: "Tensor", Aliases: []string{"special_xlogy"}, Grad: func(g grad) {
			x, y := g.In(0), g.In(1)
			nothing := g.Do("logical_and", g.Do("eq.Scalar", x, 0.0), g.Do("le.Scalar", y, 0.0))
			g.Give(0, g.Do("masked_fill.Scalar", g.Mul(g.Grad(0), g.Do("log", y)), nothing, 0.0))
			g.Give(1, g.Div(g.Mul(g.Grad(0), x), y))
		}},
		{Name: "Scalar_Self", Aliases: []string{"special_xlogy.self_scalar"}},
		{Name: "Scalar_Other", Aliases: []string{"special_xlogy.other_scalar"}},
	}},
	{Name: "special_xlog1py", Promote: ops.FloatType, Operands: 2, Scalar: func(b builder, x ...element) element { return xlog(b, x, kernel.Log1p) },
		Overloads: []ops.Def{{}, {Name: "self_scalar"}, {Name: "other_scalar"}}},
	{Name: "heaviside", Operands: 2, Scalar: func(b builder, x ...element) element {
		zero := b.Number(x[0], 0)
		step := b.Select(b.Binary(kernel.Lt, x[0], zero), zero, b.Number(x[0], 1))
		return b.Select(b.Binary(kernel.Eq, x[0], zero), x[1], step)
	}},
	{Name: "ldexp", Promote: ops.FloatType, Operands: 2, Overloads: []ops.Def{{Name: "Tensor"}}, Scalar: func(b builder, x ...element) element {
		return b.Mul(x[0], b.Binary(kernel.Pow, b.Number(x[0], 2), x[1]))
	}},
	{Name: "eq", Promote: ops.BoolResult, Quantized: unquantized, Scalar: binaryOp(kernel.Eq), Operands: 2, Tags: ops.Constant, Overloads: comparisons},
	{Name: "ne", Aliases: []string{"not_equal"}, Promote: ops.BoolResult, Quantized: unquantized, Scalar: binaryOp(kernel.Ne), Operands: 2, Tags: ops.Constant, Overloads: comparisons},
	{Name: "lt", Aliases: []string{"less"}, Promote: ops.BoolResult, Quantized: unquantized, Scalar: binaryOp(kernel.Lt), Operands: 2, Refuses: noComplexOrder("lt"),
		Tags: ops.Constant, Overloads: comparisons},
	{Name: "le", Aliases: []string{"less_equal"}, Promote: ops.BoolResult, Quantized: unquantized, Scalar: binaryOp(kernel.Le), Operands: 2, Refuses: noComplexOrder("le"),
		Tags: ops.Constant, Overloads: comparisons},
	{Name: "gt", Aliases: []string{"greater"}, Promote: ops.BoolResult, Quantized: unquantized, Scalar: binaryOp(kernel.Gt), Operands: 2, Refuses: noComplexOrder("gt"),
		Tags: ops.Constant, Overloads: comparisons},
	{Name: "ge", Aliases: []string{"greater_equal"}, Promote: ops.BoolResult, Quantized: unquantized, Scalar: binaryOp(kernel.Ge), Operands: 2, Refuses: noComplexOrder("ge"),
		Tags: ops.Constant, Overloads: comparisons},
	{Name: "logical_and", Promote: ops.LogicType, Scalar: binaryOp(kernel.And), Operands: 2, Tags: ops.Constant, Grad: constantGrad},
	{Name: "logical_or", Promote: ops.LogicType, Scalar: binaryOp(kernel.Or), Operands: 2, Tags: ops.Constant, Grad: constantGrad},
	{Name: "logical_xor", Promote: ops.LogicType, Scalar: binaryOp(kernel.Xor), Operands: 2, Tags: ops.Constant, Grad: constantGrad},
	{Name: "bitwise_and", Scalar: binaryOp(kernel.And), Operands: 2, Refuses: noFloats("bitwise_and"), Overloads: bitwise("__and__")},
	{Name: "bitwise_or", Scalar: binaryOp(kernel.Or), Operands: 2, Refuses: noFloats("bitwise_or"), Overloads: bitwise("__or__")},
	{Name: "bitwise_xor", Scalar: binaryOp(kernel.Xor), Operands: 2, Refuses: noFloats("bitwise_xor"), Overloads: bitwise("__xor__")},
	{Name: "bitwise_left_shift", Scalar: binaryOp(kernel.Shl), Operands: 2, Refuses: noFloats("lshift"), Overloads: shifts("__lshift__")},
	{Name: "bitwise_right_shift", Scalar: binaryOp(kernel.Shr), Operands: 2, Refuses: noFloats("rshift"), Overloads: shifts("__rshift__")},
	{Name: "neg", Aliases: []string{"negative"}, Scalar: unaryOp(kernel.Neg), Refuses: noBoolNeg, Tags: ops.Grouped | ops.IgnoresSelf | ops.AsWritten,
		Grad: func(g grad) { g.Give(0, g.Neg(g.Grad(0))) }},
	{Name: "bitwise_not", Scalar: unaryOp(kernel.Not), Refuses: noFloats("bitwise_not")},
}

// ofParts gives what a test of its magnitude says of a number, and joins what it says of both parts of a complex one. For
// integers the answer is known.
func ofParts(b builder, x element, integers bool, join kernel.Op, test func(magnitude element) element) element {
	switch t := b.Type(x); {
	case t.IsComplex():
		return b.Binary(join, test(b.Unary(kernel.Abs, b.Unary(kernel.Real, x))), test(b.Unary(kernel.Abs, b.Unary(kernel.Imag, x))))
	case !t.IsFloating():
		return b.Const(tensor.Bool, tensor.Boolean(integers))
	}
	return test(b.Unary(kernel.Abs, x))
}

func isFloatValue(b builder, x element) bool { return b.Type(x).IsFloating() }

func ignoringNaN(b builder, op kernel.Op, x []element) element {
	best := b.Binary(op, x[0], x[1])
	return b.Select(b.Unary(kernel.IsNaN, x[0]), x[1], b.Select(b.Unary(kernel.IsNaN, x[1]), x[0], best))
}

// hypot is a magnitude, which no square makes infinite or zero, and infinite where a side is, whatever the other.
func hypot(b builder, x ...element) element {
	infinity := b.Number(x[0], math.Inf(1))
	infinite := func(side element) element { return b.Binary(kernel.Eq, b.Unary(kernel.Abs, side), infinity) }
	return b.Select(b.Binary(kernel.Or, infinite(x[0]), infinite(x[1])), infinity, b.Unary(kernel.Abs, b.Binary(kernel.MakeComplex, x[0], x[1])))
}

// logAddExp computes log_base(base**x + base**y), ln being the natural logarithm of the base.
func logAddExp(b builder, x []element, exp kernel.Op, ln float64) element {
	high := b.Binary(kernel.Max, x[0], x[1])
	gap := b.Neg(b.Unary(kernel.Abs, b.Sub(x[0], x[1])))
	scale := b.Number(x[0], ln)
	sum := b.Add(high, b.Div(b.Unary(kernel.Log1p, b.Unary(exp, b.Mul(gap, scale))), scale))
	same := b.Binary(kernel.Eq, x[0], x[1]) // also equal infinities, whose difference is no number
	infinite := b.Binary(kernel.Eq, b.Unary(kernel.Abs, x[0]), b.Number(x[0], math.Inf(1)))
	return b.Select(b.Binary(kernel.And, same, infinite), x[0], sum)
}

// xlog computes x*log(y), 0 where x is 0 and y is a number.
func xlog(b builder, x []element, log kernel.Op) element {
	product := b.Mul(x[0], b.Unary(log, x[1]))
	return b.Select(b.Unary(kernel.IsNaN, x[1]), x[1], b.Select(isZero(b, x[0]), b.Number(x[0], 0), product))
}

// comparisons, tensorAndScalar, bitwise and shifts are the overloads of operators of two operands.
var (
	comparisons     = []ops.Def{{Name: "Tensor", Grad: constantGrad}, {Name: "Scalar", Reads: ops.ReadsNothing, Grad: zeroOfSelf, Tags: ops.Grouped}}
	tensorAndScalar = []ops.Def{{Name: "Tensor"}, {Name: "Scalar"}}
)

func bitwise(python string) []ops.Def {
	return []ops.Def{{Name: "Tensor", Aliases: []string{python + ".Tensor"}}, {Name: "Scalar", Aliases: []string{python + ".Scalar"}}, {Name: "Scalar_Tensor"}}
}

func shifts(python string) []ops.Def {
	return []ops.Def{{Name: "Tensor", Aliases: []string{python + ".Tensor"}}, {Name: "Tensor_Scalar", Aliases: []string{python + ".Scalar"}}, {Name: "Scalar_Tensor"}}
}

func divGrad(g grad) {
	scaled := g.Div(g.Grad(0), g.In(1))
	g.Give(0, scaled)
	if g.Needs(1) {
		g.Give(1, g.Neg(g.Mul(scaled, g.Div(g.In(0), g.In(1)))))
	}
}

// quotientGrad is for what is left of a division: x - y*q with a quotient q that is rounded, and so constant.
func quotientGrad(mode string) func(g grad) {
	return func(g grad) {
		g.Give(0, g.Grad(0))
		if g.Needs(1) {
			g.Give(1, g.Neg(g.Mul(g.Grad(0), g.Do("div.Tensor_mode", g.In(0), g.In(1), mode))))
		}
	}
}

// extremeGrad gives the gradient to the chosen one, half of it to each where they are equal.
func extremeGrad(better string) func(g grad) {
	return func(g grad) {
		a, b, dy := g.In(0), g.In(1), g.Grad(0)
		half := g.Where(g.Do("eq.Tensor", a, b), g.Scale(dy, 0.5))
		g.Give(0, g.Plus(half, g.Where(g.Do(better, a, b), dy)))
		g.Give(1, g.Plus(half, g.Where(g.Do(better, b, a), dy)))
	}
}

func powGrad(g grad) {
	x, k, y := g.In(0), g.In(1), g.Out(0)
	less := g.Do("pow.Tensor_Tensor", x, g.Shift(k, -1))
	g.Give(0, g.Where(g.Do("ne.Scalar", g.Do("expand_as", k, y), 0.0), g.Mul(g.Grad(0), g.Mul(k, less))))
	if g.Needs(1) {
		zero := g.Do("logical_and", g.Do("eq.Scalar", x, 0.0), g.Do("ge.Scalar", g.Real(k), 0.0))
		g.Give(1, g.Where(g.Do("logical_not", zero), g.Mul(g.Grad(0), g.Mul(y, g.Do("log", x)))))
	}
}

func powScalarGrad(g grad, dy, x ref) ref {
	k := g.Number(1)
	return g.Choose(g.IsNumber(k, 0), func() ref { return g.Zeros(dy) }, func() ref {
		power := x
		if !ops.KnownToBe(k, 2) {
			power = g.Do("pow.Tensor_Scalar", x, g.SubNumbers(k, 1))
		}
		return g.Mul(dy, g.Do("mul.Scalar", power, k))
	})
}

// clampGrad is for limits that are numbers or None.
func clampGrad(g grad) {
	x := g.In(0)
	above := func(dy ref) ref {
		return g.Choose(g.IsNone(1), func() ref { return dy }, func() ref { return g.Where(g.Do("ge.Scalar", x, g.Arg(1)), dy) })
	}
	below := func(dy ref) ref {
		return g.Choose(g.IsNone(2), func() ref { return dy }, func() ref { return g.Where(g.Do("le.Scalar", x, g.Arg(2)), dy) })
	}
	g.Give(0, below(above(g.Grad(0))))
}

// clampTensorGrad is for limits that are tensors or None: where the lower one is above, only that counts.
func clampTensorGrad(g grad) {
	x, dy := g.In(0), g.Grad(0)
	without := func(limit int, compare string, dy ref) ref {
		return g.Choose(g.IsNone(limit), func() ref { return dy }, func() ref { return g.Where(g.Do(compare, x, g.In(limit)), dy) })
	}
	g.Give(0, without(2, "le.Tensor", without(1, "ge.Tensor", dy)))
	if g.Needs(1) {
		chosen := g.Where(g.Do("lt.Tensor", x, g.In(1)), dy)
		g.Give(1, g.Choose(g.IsNone(2), func() ref { return chosen }, func() ref { return g.Where(g.Do("lt.Tensor", g.In(1), g.In(2)), chosen) }))
	}
	if g.Needs(2) {
		beyond := func() ref { return g.Do("gt.Tensor", x, g.In(2)) }
		crossed := func() ref { return g.Do("logical_or", beyond(), g.Do("lt.Tensor", g.In(2), g.In(1))) }
		g.Give(2, g.Where(g.Choose(g.IsNone(1), beyond, crossed), dy))
	}
}

// twoOperands applies a pointwise operator to the first two arguments, each a tensor or a number.
func twoOperands(p *pointwise) func(c call, dst *tensor.Tensor) *tensor.Tensor {
	return func(c call, dst *tensor.Tensor) *tensor.Tensor {
		operands := [2]operand{c.operand(0), c.operand(1)}
		return p.run(dst, operands[:])
	}
}

// operand returns an argument that is a tensor or a number.
func (c call) operand(i int) operand {
	if c.args[i].IsTensor() {
		return operand{tensor: c.args[i].Tensor()}
	}
	return operand{number: c.scalar(i)}
}

// withAlpha applies plain to the first two arguments, or scaled where the third, alpha, is not 1.
func withAlpha(plain, scaled *pointwise, swap bool) func(c call, dst *tensor.Tensor) *tensor.Tensor {
	return func(c call, dst *tensor.Tensor) *tensor.Tensor {
		operands := [2]operand{c.operand(0), c.operand(1)}
		if swap {
			operands[0], operands[1] = operands[1], operands[0]
		}
		if plain == sub {
			noBoolOfTwo(operands)
		}
		alpha := c.scalar(2)
		if alpha.Kind == tensor.IntScalar && alpha.Int64() == 1 {
			return plain.run(dst, operands[:])
		}
		if alpha.Kind == tensor.BoolScalar {
			check(plain.commonType(operands[:]) == tensor.Bool, "Boolean alpha only supported for Boolean results.")
		}
		if !alpha.IsIntegral() {
			common := plain.commonType(operands[:])
			check(common.IsComplex() || alpha.Kind != tensor.ComplexScalar, "For non-complex input tensors, argument alpha must not be a complex number.")
			check(common.IsFloating() || common.IsComplex(), "For integral input tensors, argument alpha must not be a floating point number.")
		}
		return scaled.run(dst, operands[:], alpha)
	}
}

// divMode is division with a rounding mode.
func divMode(c call, dst *tensor.Tensor) *tensor.Tensor {
	mode := c.strOr(2, "")
	op := map[string]*pointwise{"": div, "trunc": divTrunc, "floor": divFloor}[mode]
	check(op != nil, "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '%s'", mode)
	return twoOperands(op)(c, dst)
}

var (
	squared   = elementwise("pow", ops.SameType, func(b builder, x ...element) element { return b.Mul(x[0], x[0]) })
	cubed     = elementwise("pow", ops.SameType, func(b builder, x ...element) element { return b.Mul(b.Mul(x[0], x[0]), x[0]) })
	inverted  = elementwise("pow", ops.SameType, func(b builder, x ...element) element { return b.Div(b.Number(x[0], 1), x[0]) })
	powFloats = elementwise("float_power", ops.SameType, binaryOp(kernel.Pow))
)

func powScalar(c call, dst *tensor.Tensor) *tensor.Tensor {
	self, exponent := c.tensor(0), c.scalar(1)
	common := pow.commonType([]operand{ofTensor(self), ofScalar(exponent)})
	check(common != tensor.Bool, "\"pow\" not implemented for 'Bool'")
	whole := self.DType().IsIntegral() || self.DType() == tensor.Bool
	if common == tensor.DefaultDType() && whole && exponent.Float64() == 0.5 {
		return squareRoot.run(dst, []operand{ofTensor(self)})
	}
	if self.DType() == tensor.Bool && common.IsIntegral() && exponent.Int64() >= 1 { // 0 and 1 stay what they are
		return mul.run(dst, []operand{ofTensor(self), ofScalar(tensor.Int(1))})
	}
	if common == self.DType() && exponent.Kind != tensor.ComplexScalar {
		switch {
		case exponent.Float64() == 2:
			return squared.run(dst, []operand{ofTensor(self)})
		case exponent.Float64() == 3:
			return cubed.run(dst, []operand{ofTensor(self)})
		case exponent.Float64() == 0.5 && !common.IsIntegral():
			return squareRoot.run(dst, []operand{ofTensor(self)})
		case exponent.Float64() == -1 && !common.IsIntegral():
			return inverted.run(dst, []operand{ofTensor(self)})
		}
	}
	check(!common.IsIntegral() || exponent.Float64() >= 0, "Integers to negative integer powers are not allowed.")
	return pow.run(dst, []operand{ofTensor(self), ofScalar(exponent)})
}

// powerOfTwo has the number in the kernel, which is exp2 then.
var powerOfTwo = elementwise("pow", ops.SameType, func(b builder, x ...element) element { return b.Binary(kernel.Pow, b.Number(x[1], 2), x[1]) })

// scalarPow is a number to the power of a tensor.
func scalarPow(c call, dst *tensor.Tensor) *tensor.Tensor {
	base, exponent := ofScalar(c.scalar(0)), ofTensor(c.tensor(1))
	if base.number.Kind != tensor.ComplexScalar && base.number.Float64() == 2 && pow.commonType([]operand{base, exponent}).IsFloating() {
		return powerOfTwo.run(dst, []operand{base, exponent})
	}
	return pow.run(dst, []operand{base, exponent})
}

func floatPower(c call, dst *tensor.Tensor) *tensor.Tensor {
	operands := []operand{c.operand(0), c.operand(1)}
	wide := powerType(operands...)
	for i := range operands {
		if t := operands[i].tensor; t != nil {
			operands[i].tensor = to(t, wide)
		}
	}
	return powFloats.run(dst, operands)
}

// powerType is the type that float_power computes in.
func powerType(operands ...operand) tensor.DType {
	for i := range operands {
		if t := operands[i].tensor; t != nil && t.DType().IsComplex() || t == nil && operands[i].number.Kind == tensor.ComplexScalar {
			return tensor.Complex128
		}
	}
	return tensor.Float64
}

var (
	clampMin = elementwise("clamp_min", ops.SameType, func(b builder, x ...element) element { return b.Binary(kernel.Max, x[0], x[1]) })
	clampMax = elementwise("clamp_max", ops.SameType, func(b builder, x ...element) element { return b.Binary(kernel.Min, x[0], x[1]) })
)

// clamp limits the first argument by the next two, each a tensor, a number or None.
func clamp(c call, dst *tensor.Tensor) *tensor.Tensor {
	return clampBetween(c, dst, !c.isNone(1), !c.isNone(2))
}

func clampBetween(c call, dst *tensor.Tensor, low, high bool) *tensor.Tensor {
	self := ofTensor(c.tensor(0))
	switch {
	case low && high:
		return clampBoth.run(dst, []operand{self, c.operand(1), c.operand(2)})
	case low:
		return clampMin.run(dst, []operand{self, c.operand(1)})
	case high:
		return clampMax.run(dst, []operand{self, c.operand(2)})
	}
	raise(source.RuntimeError, "torch.clamp: At least one of 'min' or 'max' must not be None")
	return nil
}

var clampReal = quantizedInto(onReal, clamp)

// whereByType holds the select of promoted operands by the type they promote to.
var whereByType = makeWhere()

func makeWhere() (table [tensor.NumDTypes]*pointwise) {
	for d := range table {
		common := tensor.DType(d)
		table[d] = elementwise("where", ops.OwnTypes, func(b builder, x ...element) element {
			t := kernel.ComputeType(common)
			return b.Select(x[0], b.Convert(x[1], t), b.Convert(x[2], t))
		})
	}
	return table
}

// choose gives x where the condition holds and y elsewhere, both promoted.
func choose(condition *tensor.Tensor, x, y operand) *tensor.Tensor {
	if condition.DType() == tensor.Uint8 {
		warn("where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version of PyTorch. Use a boolean condition instead.")
		condition = to(condition, tensor.Bool)
	}
	if condition.DType() != tensor.Bool {
		raise(source.RuntimeError, "where expected condition to be a boolean tensor, but got a tensor with dtype %s", condition.DType().CppName())
	}
	r := tensor.NewResultType()
	for _, o := range [2]operand{x, y} {
		if o.tensor != nil {
			r.Tensor(o.tensor)
		} else {
			r.Scalar(o.number)
		}
	}
	common := r.DType()
	tensors := [2]*tensor.Tensor{x.tensor, y.tensor}
	for i, o := range [2]operand{x, y} {
		if o.tensor == nil {
			tensors[i] = tensor.FromScalar(o.number, common)
		}
	}
	shape := must(tensor.BroadcastAll(condition.Shape(), tensors[0].Shape(), tensors[1].Shape()))
	dst := emptyAmong(shape, common, condition, tensors[0], tensors[1])
	return whereByType[common].run(dst, []operand{ofTensor(condition), ofTensor(tensors[0]), ofTensor(tensors[1])})
}

var maskedFillByType = makeMaskedFill()

func makeMaskedFill() (table [tensor.NumDTypes]*pointwise) {
	for d := range table {
		self := tensor.DType(d)
		table[d] = elementwise("masked_fill", ops.OwnTypes, func(b builder, x ...element) element {
			return b.Select(x[1], b.Convert(x[2], kernel.ComputeType(self)), x[0])
		})
	}
	return table
}

func maskedFill(c call, dst *tensor.Tensor) *tensor.Tensor {
	self, mask := c.tensor(0), c.tensor(1)
	warnOfBytes("masked_fill_", mask)
	if mask.DType().IsIntegral() {
		mask = to(mask, tensor.Bool)
	}
	check(mask.DType() == tensor.Bool, "masked_fill_ only supports boolean masks, but got mask with dtype %s", mask.DType())
	value := c.operand(2)
	if value.tensor == nil {
		mustFit(value.number, self.DType())
		number := tensor.FromScalar(value.number, self.DType())
		defer number.Release()
		value.tensor = number
	}
	check(value.tensor.Dim() == 0, "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).", value.tensor.Dim())
	if value.tensor.SharesStorage(self) { // the number counts that is there before anything is written
		value.tensor = must(value.tensor.Clone(tensor.PreserveFormat))
	}
	return maskedFillByType[self.DType()].run(dst, []operand{ofTensor(self), ofTensor(mask), value})
}

// cppTypeName is the C++ name of an element type, which prints itself when a message is made, not before.
type cppTypeName tensor.DType

func (d cppTypeName) String() string { return tensor.DType(d).CType() }

var (
	addProducts  = elementwise("addcmul", ops.SameType, func(b builder, x ...element) element { return b.Add(x[0], b.Mul(x[3], b.Mul(x[1], x[2]))) })
	addQuotients = elementwise("addcdiv", ops.SameType, func(b builder, x ...element) element { return b.Add(x[0], b.Mul(x[3], b.Div(x[1], x[2]))) }).refusing(noIntegers("addcdiv"))
	lerp         = elementwise("lerp", ops.SameType, func(b builder, x ...element) element {
		near := b.Add(x[0], b.Mul(x[2], b.Sub(x[1], x[0])))
		far := b.Sub(x[1], b.Mul(b.Sub(x[1], x[0]), b.Sub(b.Number(x[0], 1), x[2])))
		if b.Type(x[0]).IsComplex() {
			return near
		}
		return b.Select(b.Binary(kernel.Lt, b.Unary(kernel.Abs, x[2]), b.Number(x[0], 0.5)), near, far)
	}).refusing(noIntegers("lerp"))
	// lerpNear and lerpFar are lerp by numbers below and from one half.
	lerpNear = elementwise("lerp", ops.SameType, func(b builder, x ...element) element {
		return b.Add(x[0], b.Mul(x[2], b.Sub(x[1], x[0])))
	}).refusing(noIntegers("lerp"))
	lerpFar = elementwise("lerp", ops.SameType, func(b builder, x ...element) element {
		return b.Sub(x[1], b.Mul(b.Sub(x[1], x[0]), b.Sub(b.Number(x[0], 1), x[2])))
	}).refusing(noIntegers("lerp"))
	logit = elementwise("logit", ops.FloatType, func(b builder, x ...element) element {
		return b.Unary(kernel.Log, b.Div(x[0], b.Sub(b.Number(x[0], 1), x[0])))
	})
	logitClamped = elementwise("logit", ops.FloatType, func(b builder, x ...element) element {
		one := b.Number(x[0], 1)
		z := b.Binary(kernel.Min, b.Binary(kernel.Max, x[0], x[1]), b.Sub(one, x[1]))
		return b.Unary(kernel.Log, b.Div(z, b.Sub(one, z)))
	})
	nanToNum = elementwise("nan_to_num", ops.SameType, func(b builder, x ...element) element {
		if !isFloatValue(b, x[0]) {
			return x[0]
		}
		finite := b.Select(b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(1))), x[2], b.Select(b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(-1))), x[3], x[0]))
		return b.Select(b.Unary(kernel.IsNaN, x[0]), x[1], finite)
	})
	roundTo = elementwise("round", ops.SameType, func(b builder, x ...element) element {
		return b.Div(b.Unary(kernel.Round, b.Mul(x[0], x[1])), x[1])
	})
	roundToTens = elementwise("round", ops.SameType, func(b builder, x ...element) element {
		return b.Mul(b.Unary(kernel.Round, b.Div(x[0], x[1])), x[1])
	})
	makeComplex = elementwise("complex", ops.OwnTypes, binaryOp(kernel.MakeComplex))
	makePolar   = elementwise("polar", ops.OwnTypes, func(b builder, x ...element) element {
		return b.Binary(kernel.MakeComplex, b.Mul(x[0], b.Unary(kernel.Cos, x[1])), b.Mul(x[0], b.Unary(kernel.Sin, x[1])))
	})
)

func noIntegers(name string) func(tensor.DType) {
	return func(d tensor.DType) {
		if !d.IsFloating() && !d.IsComplex() {
			notImplemented(name+"_cpu", d)
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
func complexFrom(p *pointwise, c call) *tensor.Tensor {
	re, im := c.tensor(0), c.tensor(1)
	check(re.DType() == im.DType(), "Expected object of scalar type %s but got scalar type %s for second argument", re.DType().CppName(), im.DType().CppName())
	check(re.DType() == tensor.Float32 || re.DType() == tensor.Float64, "Expected both inputs to be Half, Float or Double tensors but got %s and %s", re.DType().CppName(), im.DType().CppName())
	dst := emptyBeside(re, must(tensor.Broadcast(re.Shape(), im.Shape())), re.DType().ToComplex())
	return p.run(dst, []operand{ofTensor(re), ofTensor(im)})
}

// composed are the records of the operators whose expression depends on their arguments.
var composed = []ops.Def{
	{Name: "add", Into: into(withAlpha(add, addScaled, false)), Tags: ops.Elementwise | ops.Grouped | ops.IgnoresSelf | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Tensor", Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Grad(0)); g.Give(1, g.ScaledBy(g.Grad(0), 2)) }},
		{Name: "Scalar", Reads: ops.ReadsNothing, Grad: passedOn},
	}},
	{Name: "sub", Aliases: []string{"subtract"}, Into: into(withAlpha(sub, subScaled, false)),
		Tags: ops.Elementwise | ops.Grouped | ops.IgnoresSelf | ops.Broadcasts, Overloads: []ops.Def{
			{Name: "Tensor", Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Grad(0)); g.Give(1, g.Neg(g.ScaledBy(g.Grad(0), 2))) }},
			{Name: "Scalar", Reads: ops.ReadsNothing, Grad: passedOn},
		}},
	{Name: "rsub", Into: into(withAlpha(sub, subScaled, true)), Tags: ops.Elementwise | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Tensor", Tags: ops.Symbolic, Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Neg(g.ScaledBy(g.Grad(0), 2))); g.Give(1, g.Grad(0)) }},
		{Name: "Scalar", Tags: ops.Grouped, Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Neg(g.ScaledBy(g.Grad(0), 2))) }},
	}},
	{Name: "div", Aliases: []string{"divide"}, Into: into(divMode), Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Tensor_mode", Grad: func(g grad) { // a rounded quotient is constant
			rounded, dy := g.IsNone(2), g.Grad(0)
			scaled := g.Choose(rounded, func() ref { return g.Div(dy, g.In(1)) }, func() ref { return g.Zeros(dy) })
			g.Give(0, scaled)
			if g.Needs(1) {
				g.Give(1, g.Choose(rounded, func() ref { return g.Neg(g.Mul(scaled, g.Div(g.In(0), g.In(1)))) }, func() ref { return scaled }))
			}
		}},
		{Name: "Scalar_mode", Grad: func(g grad) {
			dy := g.Grad(0)
			g.Give(0, g.Choose(g.IsNone(2), func() ref { return g.Do("div.Scalar", dy, g.Arg(1)) }, func() ref { return g.Zeros(dy) }))
		}},
	}},
	{Name: "pow", Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Tensor_Tensor", Node: "PowBackward1", Into: into(twoOperands(pow)), Tags: ops.SavesOperand, Grad: powGrad},
		{Name: "Tensor_Scalar", Into: into(powScalar), Reads: ops.ReadsSelf, Grad: ofSelf(powScalarGrad)},
		{Name: "Scalar", Node: "PowBackward2", Into: into(scalarPow), Grad: func(g grad) {
			g.Give(1, g.Do("mul.Scalar", g.Mul(g.Grad(0), g.Out(0)), g.LogNumber(g.Number(0))))
		}},
	}},
	{Name: "float_power", Into: into(floatPower), CheckInPlace: checking(checkPowerBase), Overloads: []ops.Def{{Name: "Tensor_Tensor"}, {Name: "Tensor_Scalar"}, {Name: "Scalar"}}},
	{Name: "max", Into: into(twoOperands(maximum)), Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts,
		Overloads: []ops.Def{{Name: "other", Grad: extremeGrad("gt.Tensor")}}},
	{Name: "min", Into: into(twoOperands(minimum)), Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts,
		Overloads: []ops.Def{{Name: "other", Grad: extremeGrad("lt.Tensor")}}},
	{Name: "clamp", Aliases: []string{"clip"}, Tags: ops.Elementwise, Overloads: []ops.Def{
		{Into: into(clampPlain), Tags: ops.Grouped, Grad: clampGrad},
		{Name: "Tensor", Into: into(clamp), Tags: ops.Grouped, Grad: clampTensorGrad},
	}},
	{Name: "clamp_min", Into: into(twoOperands(clampMin)), Tags: ops.Elementwise, Overloads: []ops.Def{
		{Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Where(g.Do("ge.Scalar", x, g.Arg(1)), dy) })},
		{Name: "Tensor"},
	}},
	{Name: "clamp_max", Into: into(twoOperands(clampMax)), Tags: ops.Elementwise, Overloads: []ops.Def{
		{Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Where(g.Do("le.Scalar", x, g.Arg(1)), dy) })},
		{Name: "Tensor"},
	}},
	{Name: "addcmul", Into: into(threeTensors(addProducts)), Tags: ops.Elementwise | ops.Grouped | ops.IgnoresSelf | ops.Broadcasts, Grad: func(g grad) {
		g.Give(0, g.Grad(0))
		scaled := g.Do("mul.Scalar", g.Grad(0), g.Arg(3))
		g.Give(1, g.Mul(scaled, g.In(2)))
		g.Give(2, g.Mul(scaled, g.In(1)))
	}},
	{Name: "addcdiv", Into: into(threeTensors(addQuotients)), Tags: ops.Elementwise | ops.IgnoresSelf | ops.Broadcasts, Grad: func(g grad) {
		g.Give(0, g.Grad(0))
		scaled := g.Div(g.Do("mul.Scalar", g.Grad(0), g.Arg(3)), g.In(2))
		g.Give(1, scaled)
		g.Give(2, g.Neg(g.Mul(scaled, g.Div(g.In(1), g.In(2)))))
	}},
	{Name: "lerp", Tags: ops.Elementwise | ops.Grouped | ops.Broadcasts, Overloads: []ops.Def{
		{Name: "Scalar", Into: into(lerpByNumber), Tags: ops.IgnoresSelf, Grad: func(g grad) {
			g.Give(0, g.Do("mul.Scalar", g.Grad(0), g.SubNumbers(1, g.Number(2))))
			g.Give(1, g.Do("mul.Scalar", g.Grad(0), g.Number(2)))
		}},
		{Name: "Tensor", Into: into(lerpByTensor), Grad: func(g grad) {
			w := g.In(2)
			g.Give(0, g.Minus(g.Grad(0), g.Mul(g.Grad(0), w)))
			g.Give(1, g.Mul(g.Grad(0), w))
			g.Give(2, g.Mul(g.Grad(0), g.Minus(g.In(1), g.In(0))))
		}},
	}},
	{Name: "logit", Aliases: []string{"special_logit"}, Into: into(logitOf), Tags: ops.Elementwise},
	{Name: "nan_to_num", Into: into(nanToNumOf), Tags: ops.Elementwise,
		Reads: ops.ReadsSelf, Grad: ofSelf(func(g grad, dy, x ref) ref { return g.Where(g.Do("isfinite", x), dy) })},
	{Name: "round", Into: into(roundOf), Overloads: []ops.Def{{Name: "decimals", Aliases: []string{"special_round"}, Reads: ops.ReadsNothing, Grad: zeroOfSelf}}},
	{Name: "masked_fill", Into: into(maskedFill), Tags: ops.IgnoresSelf, Overloads: []ops.Def{
		{Name: "Scalar", Reads: ops.ReadsNothing.And(1), Grad: func(g grad) { g.Give(0, g.Where(g.Do("logical_not", g.In(1)), g.Grad(0))) }},
		{Name: "Tensor", Node: "MaskedFillBackward1", Grad: func(g grad) {
			g.Give(0, g.Where(g.Do("logical_not", g.In(1)), g.Grad(0)))
			g.Give(2, g.Where(g.In(1), g.Grad(0)))
		}},
	}},
}

var pointwiseFamily = slices.Concat(fromRecords(elementary), fromRecords(composed), dunders(), []definition{
	define("frexp.Tensor", func(c call) { c.give(pair(frexp(c.tensor(0)))...) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.div(c.g(), c.do("exp2", c.do("to.dtype", c.out(1), c.g().DType())))) })}),
	giving("prim::abs", func(c call) *tensor.Tensor { return absolute.on(c.tensor(0)) }),
	define("positive", func(c call) { c.give(c.tensor(0)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn}),
	giving("where.self", func(c call) *tensor.Tensor { return choose(c.tensor(0), c.operand(1), c.operand(2)) }).with(ops.Def{Reads: ops.ReadsSelf, Grad: func(g grad) {
		g.Give(1, g.Where(g.In(0), g.Grad(0)))
		g.Give(2, g.Where(g.Do("logical_not", g.In(0)), g.Grad(0)))
	}, Tags: ops.Broadcasts | ops.Grouped | ops.AsWritten | ops.InGroups}).onMeta(),
	giving("where.ScalarSelf", func(c call) *tensor.Tensor { return choose(c.tensor(0), c.operand(1), c.operand(2)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(2, c.where(c.do("logical_not", c.in(0)), c.g())) }), Tags: ops.InGroups}).onMeta(),
	giving("where.ScalarOther", func(c call) *tensor.Tensor { return choose(c.tensor(0), c.operand(1), c.operand(2)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(1, c.where(c.in(0), c.g())) }), Tags: ops.InGroups}).onMeta(),
	giving("where.Scalar", func(c call) *tensor.Tensor { return choose(c.tensor(0), c.operand(1), c.operand(2)) }).with(ops.Def{Tags: ops.InGroups}).onMeta(),
	giving("complex", func(c call) *tensor.Tensor { return complexFrom(makeComplex, c) }).with(ops.Def{Grad: concrete(func(c gradient) {
		c.give(0, c.do("real", c.g()))
		c.give(1, c.do("imag", c.g()))
	}), Tags: ops.AsWritten}),
	giving("polar", func(c call) *tensor.Tensor { return complexFrom(makePolar, c) }).with(ops.Def{Grad: concrete(func(c gradient) {
		direction := c.do("polar", c.do("ones_like", c.in(0)), c.in(1))
		c.give(0, c.do("real", c.mul(c.g(), c.conj(direction))))
		c.give(1, c.do("real", c.mul(c.g(), c.conj(c.rotate(c.mul(direction, c.in(0)))))))
	}), Tags: ops.AsWritten}),
})

func clampPlain(c call, dst *tensor.Tensor) *tensor.Tensor {
	if isSmall(c.tensor(0)) && !c.isNone(1) && !c.isNone(2) {
		return limitedNumbers(c.tensor(0), dst, c.float(1), c.float(2))
	}
	return clampReal(c, dst)
}

func lerpByNumber(c call, dst *tensor.Tensor) *tensor.Tensor {
	by := lerpNear
	c.scalar(2).MustSuit(c.tensor(0).DType())
	if !c.tensor(0).DType().IsComplex() && !(math.Abs(c.scalar(2).Float64()) < 0.5) {
		by = lerpFar
	}
	return by.run(dst, []operand{ofTensor(c.tensor(0)), ofTensor(c.tensor(1))}, c.scalar(2))
}

func lerpByTensor(c call, dst *tensor.Tensor) *tensor.Tensor {
	return lerp.run(dst, []operand{ofTensor(c.tensor(0)), ofTensor(c.tensor(1)), ofTensor(c.tensor(2))})
}

func nanToNumOf(c call, dst *tensor.Tensor) *tensor.Tensor {
	self := c.tensor(0)
	high := largest(self.DType())
	return nanToNum.run(dst, []operand{ofTensor(self)}, tensor.Float(c.floatOr(1, 0)), tensor.Float(c.floatOr(2, high)), tensor.Float(c.floatOr(3, -high)))
}

func roundOf(c call, dst *tensor.Tensor) *tensor.Tensor {
	decimals := c.int(1)
	if decimals < 0 {
		return roundToTens.run(dst, []operand{ofTensor(c.tensor(0))}, tensor.Float(math.Pow10(-decimals)))
	}
	return roundTo.run(dst, []operand{ofTensor(c.tensor(0))}, tensor.Float(math.Pow10(decimals)))
}

func logitOf(c call, dst *tensor.Tensor) *tensor.Tensor {
	if c.isNone(1) {
		return logit.run(dst, []operand{ofTensor(c.tensor(0))})
	}
	return logitClamped.run(dst, []operand{ofTensor(c.tensor(0))}, c.scalar(1))
}

// threeTensors applies an operator to three tensors and a number that is a keyword.
func threeTensors(p *pointwise) func(c call, dst *tensor.Tensor) *tensor.Tensor {
	return func(c call, dst *tensor.Tensor) *tensor.Tensor {
		return p.run(dst, []operand{ofTensor(c.tensor(0)), ofTensor(c.tensor(1)), ofTensor(c.tensor(2))}, c.scalar(3))
	}
}

// frexp splits elements into a fraction and a power of two.
func frexp(t *tensor.Tensor) (mantissa, exponent *tensor.Tensor) {
	noIntegers("frexp")(t.DType())
	src := tensor.Data[float64](contiguous(to(t, tensor.Float64)))
	m, e := empty(t.Shape(), tensor.Float64), empty(t.Shape(), tensor.Int32)
	mantissas, exponents := tensor.Data[float64](m), tensor.Data[int32](e)
	var watch tensor.Watch
	for i, v := range src {
		watch.Did(1)
		f, p := math.Frexp(v)
		mantissas[i], exponents[i] = f, int32(p)
	}
	return to(m, t.DType()), e
}

// dunders defines __iand__ and its kin, which write their first argument.
func dunders() []definition {
	var defs []definition
	for i := range elementary {
		for _, record := range elementary[i].Flat() {
			if strings.HasPrefix(record.Name, "__") {
				into := operatorOf(&elementary[i])
				defs = append(defs, define("__i"+record.Name[2:], func(c call) {
					into(c, c.tensor(0))
					c.giveSelf()
				}))
			}
		}
	}
	return defs
}

package aten

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
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
	add       = elementwise("add", sameType, binaryOp(kernel.Add))
	addScaled = elementwise("add", sameType, func(b builder, x ...element) element { return b.Add(x[0], b.Mul(x[2], x[1])) })
	sub       = elementwise("sub", sameType, binaryOp(kernel.Sub)).refusing(noBoolSub)
	subScaled = elementwise("sub", sameType, func(b builder, x ...element) element { return b.Sub(x[0], b.Mul(x[2], x[1])) }).refusing(noBoolSub)
	mul       = elementwise("mul", sameType, binaryOp(kernel.Mul))
	div       = elementwise("div", floatType, binaryOp(kernel.Div))
	divTrunc  = elementwise("div", sameType, func(b builder, x ...element) element {
		return b.Unary(kernel.Trunc, b.Div(x[0], x[1]))
	})
	divFloor    = elementwise("div", sameType, binaryOp(kernel.FloorDiv))
	remainder   = elementwise("remainder", sameType, binaryOp(kernel.Mod))
	fmod        = elementwise("fmod", sameType, binaryOp(kernel.Rem))
	pow         = elementwise("pow", sameType, binaryOp(kernel.Pow))
	maximum     = elementwise("maximum", sameType, binaryOp(kernel.Max))
	minimum     = elementwise("minimum", sameType, binaryOp(kernel.Min))
	eq          = elementwise("eq", boolResult, binaryOp(kernel.Eq))
	ne          = elementwise("ne", boolResult, binaryOp(kernel.Ne))
	lt          = elementwise("lt", boolResult, binaryOp(kernel.Lt)).refusing(noComplexOrder("lt"))
	le          = elementwise("le", boolResult, binaryOp(kernel.Le)).refusing(noComplexOrder("le"))
	gt          = elementwise("gt", boolResult, binaryOp(kernel.Gt)).refusing(noComplexOrder("gt"))
	ge          = elementwise("ge", boolResult, binaryOp(kernel.Ge)).refusing(noComplexOrder("ge"))
	neg         = elementwise("neg", sameType, unaryOp(kernel.Neg)).refusing(noBoolNeg)
	absolute    = elementwise("abs", realResult, unaryOp(kernel.Abs))
	exponential = elementwise("exp", floatType, unaryOp(kernel.Exp))
	logarithm   = elementwise("log", floatType, unaryOp(kernel.Log))
	squareRoot  = elementwise("sqrt", floatType, unaryOp(kernel.Sqrt))
	sigmoid     = elementwise("sigmoid", floatType, func(b builder, x ...element) element { return sigmoidOf(b, x[0]) })
	tanh        = elementwise("tanh", floatType, unaryOp(kernel.Tanh))
	relu        = elementwise("relu", sameType, func(b builder, x ...element) element {
		return b.Binary(kernel.Max, x[0], b.Number(x[0], 0))
	}).refusing(noBoolRelu)
	clampBoth = elementwise("clamp", sameType, func(b builder, x ...element) element {
		return b.Binary(kernel.Min, b.Binary(kernel.Max, x[0], x[1]), x[2])
	})
	isNaN = elementwise("isnan", boolResult, unaryOp(kernel.IsNaN))
	not   = elementwise("logical_not", logicType, unaryOp(kernel.Not))
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

// unaryExpressions are the elementwise operators of one tensor.
var unaryExpressions = []struct {
	names []string
	rule  resultRule
	expr  expression
}{
	{[]string{"exp"}, floatType, unaryOp(kernel.Exp)},
	{[]string{"exp2", "special_exp2"}, floatType, func(b builder, x ...element) element {
		return b.Binary(kernel.Pow, b.Number(x[0], 2), x[0])
	}},
	{[]string{"expm1", "special_expm1"}, floatType, unaryOp(kernel.Expm1)},
	{[]string{"log"}, floatType, unaryOp(kernel.Log)},
	{[]string{"log2"}, floatType, unaryOp(kernel.Log2)},
	{[]string{"log10"}, floatType, unaryOp(kernel.Log10)},
	{[]string{"log1p", "special_log1p"}, floatType, unaryOp(kernel.Log1p)},
	{[]string{"sin"}, floatType, unaryOp(kernel.Sin)},
	{[]string{"cos"}, floatType, unaryOp(kernel.Cos)},
	{[]string{"tan"}, floatType, unaryOp(kernel.Tan)},
	{[]string{"asin", "arcsin"}, floatType, unaryOp(kernel.Asin)},
	{[]string{"acos", "arccos"}, floatType, unaryOp(kernel.Acos)},
	{[]string{"atan", "arctan"}, floatType, unaryOp(kernel.Atan)},
	{[]string{"sinh"}, floatType, unaryOp(kernel.Sinh)},
	{[]string{"cosh"}, floatType, unaryOp(kernel.Cosh)},
	{[]string{"tanh"}, floatType, unaryOp(kernel.Tanh)},
	{[]string{"asinh", "arcsinh"}, floatType, unaryOp(kernel.Asinh)},
	{[]string{"acosh", "arccosh"}, floatType, unaryOp(kernel.Acosh)},
	{[]string{"atanh", "arctanh"}, floatType, unaryOp(kernel.Atanh)},
	{[]string{"erf", "special_erf"}, floatType, unaryOp(kernel.Erf)},
	{[]string{"erfc", "special_erfc"}, floatType, unaryOp(kernel.Erfc)},
	{[]string{"erfinv", "special_erfinv"}, floatType, unaryOp(kernel.Erfinv)},
	{[]string{"lgamma", "special_gammaln"}, floatType, unaryOp(kernel.Lgamma)},
	{[]string{"digamma", "special_digamma", "special_psi"}, floatType, unaryOp(kernel.Digamma)},
	{[]string{"sqrt"}, floatType, unaryOp(kernel.Sqrt)},
	{[]string{"rsqrt"}, floatType, func(b builder, x ...element) element {
		return b.Div(b.Number(x[0], 1), b.Unary(kernel.Sqrt, x[0]))
	}},
	{[]string{"reciprocal"}, floatType, func(b builder, x ...element) element { return b.Div(b.Number(x[0], 1), x[0]) }},
	{[]string{"sigmoid", "special_expit"}, floatType, func(b builder, x ...element) element { return sigmoidOf(b, x[0]) }},
	{[]string{"sinc", "special_sinc"}, floatType, func(b builder, x ...element) element {
		px := b.Mul(x[0], b.Number(x[0], math.Pi))
		return b.Select(isZero(b, x[0]), b.Number(x[0], 1), b.Div(b.Unary(kernel.Sin, px), px))
	}},
	{[]string{"deg2rad"}, floatType, func(b builder, x ...element) element { return b.Mul(x[0], b.Number(x[0], math.Pi/180)) }},
	{[]string{"rad2deg"}, floatType, func(b builder, x ...element) element { return b.Mul(x[0], b.Number(x[0], 180/math.Pi)) }},
	{[]string{"special_entr"}, floatType, func(b builder, x ...element) element {
		zero := b.Number(x[0], 0)
		negative := b.Select(b.Binary(kernel.Lt, x[0], zero), b.Number(x[0], math.Inf(-1)), x[0])
		return b.Select(b.Binary(kernel.Gt, x[0], zero), b.Neg(b.Mul(x[0], b.Unary(kernel.Log, x[0]))), negative)
	}},

	{[]string{"sign", "sgn"}, sameType, unaryOp(kernel.Sign)},
	{[]string{"floor"}, sameType, unaryOp(kernel.Floor)},
	{[]string{"ceil"}, sameType, unaryOp(kernel.Ceil)},
	{[]string{"round"}, sameType, unaryOp(kernel.Round)},
	{[]string{"trunc", "fix"}, sameType, unaryOp(kernel.Trunc)},
	{[]string{"frac"}, sameType, func(b builder, x ...element) element { return b.Sub(x[0], b.Unary(kernel.Trunc, x[0])) }},
	{[]string{"square"}, numberType, func(b builder, x ...element) element { return b.Mul(x[0], x[0]) }},
	{[]string{"_conj_physical"}, sameType, unaryOp(kernel.Conj)},
	{[]string{"abs", "absolute"}, realResult, unaryOp(kernel.Abs)},
	{[]string{"angle"}, realOfFloat, unaryOp(kernel.Angle)},

	{[]string{"isnan"}, boolResult, unaryOp(kernel.IsNaN)},
	{[]string{"isinf"}, boolResult, func(b builder, x ...element) element {
		return ofParts(b, x[0], false, kernel.Or, func(a element) element { return b.Binary(kernel.Eq, a, b.Number(a, math.Inf(1))) })
	}},
	{[]string{"isfinite"}, boolResult, func(b builder, x ...element) element {
		return ofParts(b, x[0], true, kernel.And, func(a element) element { return b.Binary(kernel.Lt, a, b.Number(a, math.Inf(1))) })
	}},
	{[]string{"isposinf"}, boolResult, func(b builder, x ...element) element {
		if !isFloatValue(b, x[0]) {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		return b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(1)))
	}},
	{[]string{"isneginf"}, boolResult, func(b builder, x ...element) element {
		if !isFloatValue(b, x[0]) {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		return b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(-1)))
	}},
	{[]string{"isreal"}, boolResult, func(b builder, x ...element) element {
		if !b.Type(x[0]).IsComplex() {
			return b.Const(tensor.Bool, tensor.Boolean(true))
		}
		return isZero(b, b.Unary(kernel.Imag, x[0]))
	}},
	{[]string{"signbit"}, boolResult, func(b builder, x ...element) element {
		if b.Type(x[0]) == tensor.Bool || b.Type(x[0]) == tensor.Uint8 {
			return b.Const(tensor.Bool, tensor.Boolean(false))
		}
		if !isFloatValue(b, x[0]) {
			return b.Binary(kernel.Lt, x[0], b.Number(x[0], 0))
		}
		sign := b.Binary(kernel.CopySign, b.Number(x[0], 1), x[0])
		return b.Binary(kernel.Lt, sign, b.Number(x[0], 0))
	}},
	{[]string{"logical_not"}, logicType, unaryOp(kernel.Not)},
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

// binaryExpressions are the elementwise operators of two operands; names without an overload get
// those that the table of overloads lists.
var binaryExpressions = []struct {
	overloads []string
	op        *pointwise
}{
	{[]string{"mul.Tensor", "mul.Scalar", "multiply.Tensor", "multiply.Scalar"}, mul},
	{[]string{"div.Tensor", "div.Scalar", "divide.Tensor", "divide.Scalar", "true_divide.Tensor", "true_divide.Scalar"}, div},
	{[]string{"floor_divide", "floor_divide.Scalar"}, divFloor},
	{[]string{"remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor"}, remainder},
	{[]string{"fmod.Tensor", "fmod.Scalar"}, fmod},
	{[]string{"atan2", "arctan2"}, elementwise("atan2", floatType, binaryOp(kernel.Atan2))},
	{[]string{"maximum", "max.other"}, maximum},
	{[]string{"minimum", "min.other"}, minimum},
	{[]string{"fmax"}, elementwise("fmax", sameType, func(b builder, x ...element) element { return ignoringNaN(b, kernel.Max, x) })},
	{[]string{"fmin"}, elementwise("fmin", sameType, func(b builder, x ...element) element { return ignoringNaN(b, kernel.Min, x) })},
	{[]string{"hypot"}, elementwise("hypot", sameType, hypot)},
	{[]string{"copysign.Tensor", "copysign.Scalar"}, elementwise("copysign", floatType, binaryOp(kernel.CopySign))},
	{[]string{"nextafter"}, elementwise("nextafter", sameType, binaryOp(kernel.NextAfter))},
	{[]string{"gcd"}, elementwise("gcd", sameType, binaryOp(kernel.Gcd)).refusing(noFloats("gcd"))},
	{[]string{"lcm"}, elementwise("lcm", sameType, func(b builder, x ...element) element {
		g := b.Binary(kernel.Gcd, x[0], x[1])
		safe := b.Select(isZero(b, g), b.Number(g, 1), g)
		return b.Unary(kernel.Abs, b.Mul(b.Binary(kernel.Div, x[0], safe), x[1]))
	}).refusing(noFloats("lcm"))},
	{[]string{"logaddexp"}, elementwise("logaddexp", floatType, func(b builder, x ...element) element {
		return logAddExp(b, x, kernel.Exp, 1)
	})},
	{[]string{"logaddexp2"}, elementwise("logaddexp2", floatType, func(b builder, x ...element) element {
		return logAddExp(b, x, kernel.Exp, math.Ln2)
	})},
	{[]string{"xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other", "special_xlogy", "special_xlogy.self_scalar", "special_xlogy.other_scalar"},
		elementwise("xlogy", floatType, func(b builder, x ...element) element { return xlog(b, x, kernel.Log) })},
	{[]string{"special_xlog1py", "special_xlog1py.self_scalar", "special_xlog1py.other_scalar"},
		elementwise("xlog1py", floatType, func(b builder, x ...element) element { return xlog(b, x, kernel.Log1p) })},
	{[]string{"heaviside"}, elementwise("heaviside", sameType, func(b builder, x ...element) element {
		zero := b.Number(x[0], 0)
		step := b.Select(b.Binary(kernel.Lt, x[0], zero), zero, b.Number(x[0], 1))
		return b.Select(b.Binary(kernel.Eq, x[0], zero), x[1], step)
	})},
	{[]string{"ldexp.Tensor"}, elementwise("ldexp", floatType, func(b builder, x ...element) element {
		return b.Mul(x[0], b.Binary(kernel.Pow, b.Number(x[0], 2), x[1]))
	})},
	{[]string{"eq.Tensor", "eq.Scalar"}, eq},
	{[]string{"ne.Tensor", "ne.Scalar", "not_equal.Tensor", "not_equal.Scalar"}, ne},
	{[]string{"lt.Tensor", "lt.Scalar", "less.Tensor", "less.Scalar"}, lt},
	{[]string{"le.Tensor", "le.Scalar", "less_equal.Tensor", "less_equal.Scalar"}, le},
	{[]string{"gt.Tensor", "gt.Scalar", "greater.Tensor", "greater.Scalar"}, gt},
	{[]string{"ge.Tensor", "ge.Scalar", "greater_equal.Tensor", "greater_equal.Scalar"}, ge},
	{[]string{"logical_and"}, elementwise("logical_and", logicType, binaryOp(kernel.And))},
	{[]string{"logical_or"}, elementwise("logical_or", logicType, binaryOp(kernel.Or))},
	{[]string{"logical_xor"}, elementwise("logical_xor", logicType, binaryOp(kernel.Xor))},
	{[]string{"bitwise_and.Tensor", "bitwise_and.Scalar", "bitwise_and.Scalar_Tensor", "__and__.Tensor", "__and__.Scalar"},
		elementwise("bitwise_and", sameType, binaryOp(kernel.And)).refusing(noFloats("bitwise_and"))},
	{[]string{"bitwise_or.Tensor", "bitwise_or.Scalar", "bitwise_or.Scalar_Tensor", "__or__.Tensor", "__or__.Scalar"},
		elementwise("bitwise_or", sameType, binaryOp(kernel.Or)).refusing(noFloats("bitwise_or"))},
	{[]string{"bitwise_xor.Tensor", "bitwise_xor.Scalar", "bitwise_xor.Scalar_Tensor", "__xor__.Tensor", "__xor__.Scalar"},
		elementwise("bitwise_xor", sameType, binaryOp(kernel.Xor)).refusing(noFloats("bitwise_xor"))},
	{[]string{"bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar", "bitwise_left_shift.Scalar_Tensor", "__lshift__.Tensor", "__lshift__.Scalar"},
		elementwise("lshift", sameType, binaryOp(kernel.Shl)).refusing(noFloats("lshift"))},
	{[]string{"bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar", "bitwise_right_shift.Scalar_Tensor", "__rshift__.Tensor", "__rshift__.Scalar"},
		elementwise("rshift", sameType, binaryOp(kernel.Shr)).refusing(noFloats("rshift"))},
}

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
	squared   = elementwise("pow", sameType, func(b builder, x ...element) element { return b.Mul(x[0], x[0]) })
	cubed     = elementwise("pow", sameType, func(b builder, x ...element) element { return b.Mul(b.Mul(x[0], x[0]), x[0]) })
	inverted  = elementwise("pow", sameType, func(b builder, x ...element) element { return b.Div(b.Number(x[0], 1), x[0]) })
	powFloats = elementwise("float_power", sameType, binaryOp(kernel.Pow))
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
var powerOfTwo = elementwise("pow", sameType, func(b builder, x ...element) element { return b.Binary(kernel.Pow, b.Number(x[1], 2), x[1]) })

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
	clampMin = elementwise("clamp_min", sameType, func(b builder, x ...element) element { return b.Binary(kernel.Max, x[0], x[1]) })
	clampMax = elementwise("clamp_max", sameType, func(b builder, x ...element) element { return b.Binary(kernel.Min, x[0], x[1]) })
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
		table[d] = elementwise("where", ownTypes, func(b builder, x ...element) element {
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
	check(condition.DType() == tensor.Bool, "where expected condition to be a boolean tensor, but got a tensor with dtype %s", condition.DType().CppName())
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
	dst := empty(shape, common)
	if isMeta(condition) || isMeta(tensors[0]) || isMeta(tensors[1]) {
		dst = must(tensor.EmptyMeta(shape, common))
	}
	return whereByType[common].run(dst, []operand{ofTensor(condition), ofTensor(tensors[0]), ofTensor(tensors[1])})
}

var maskedFillByType = makeMaskedFill()

func makeMaskedFill() (table [tensor.NumDTypes]*pointwise) {
	for d := range table {
		self := tensor.DType(d)
		table[d] = elementwise("masked_fill", ownTypes, func(b builder, x ...element) element {
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
		value.tensor = tensor.FromScalar(value.number, self.DType())
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
	addProducts  = elementwise("addcmul", sameType, func(b builder, x ...element) element { return b.Add(x[0], b.Mul(x[3], b.Mul(x[1], x[2]))) })
	addQuotients = elementwise("addcdiv", sameType, func(b builder, x ...element) element { return b.Add(x[0], b.Mul(x[3], b.Div(x[1], x[2]))) }).refusing(noIntegers("addcdiv"))
	lerp         = elementwise("lerp", sameType, func(b builder, x ...element) element {
		near := b.Add(x[0], b.Mul(x[2], b.Sub(x[1], x[0])))
		far := b.Sub(x[1], b.Mul(b.Sub(x[1], x[0]), b.Sub(b.Number(x[0], 1), x[2])))
		if b.Type(x[0]).IsComplex() {
			return near
		}
		return b.Select(b.Binary(kernel.Lt, b.Unary(kernel.Abs, x[2]), b.Number(x[0], 0.5)), near, far)
	}).refusing(noIntegers("lerp"))
	// lerpNear and lerpFar are lerp by numbers below and from one half.
	lerpNear = elementwise("lerp", sameType, func(b builder, x ...element) element {
		return b.Add(x[0], b.Mul(x[2], b.Sub(x[1], x[0])))
	}).refusing(noIntegers("lerp"))
	lerpFar = elementwise("lerp", sameType, func(b builder, x ...element) element {
		return b.Sub(x[1], b.Mul(b.Sub(x[1], x[0]), b.Sub(b.Number(x[0], 1), x[2])))
	}).refusing(noIntegers("lerp"))
	bitwiseNot = elementwise("bitwise_not", sameType, unaryOp(kernel.Not)).refusing(noFloats("bitwise_not"))
	logit      = elementwise("logit", floatType, func(b builder, x ...element) element {
		return b.Unary(kernel.Log, b.Div(x[0], b.Sub(b.Number(x[0], 1), x[0])))
	})
	logitClamped = elementwise("logit", floatType, func(b builder, x ...element) element {
		one := b.Number(x[0], 1)
		z := b.Binary(kernel.Min, b.Binary(kernel.Max, x[0], x[1]), b.Sub(one, x[1]))
		return b.Unary(kernel.Log, b.Div(z, b.Sub(one, z)))
	})
	nanToNum = elementwise("nan_to_num", sameType, func(b builder, x ...element) element {
		if !isFloatValue(b, x[0]) {
			return x[0]
		}
		finite := b.Select(b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(1))), x[2], b.Select(b.Binary(kernel.Eq, x[0], b.Number(x[0], math.Inf(-1))), x[3], x[0]))
		return b.Select(b.Unary(kernel.IsNaN, x[0]), x[1], finite)
	})
	roundTo = elementwise("round", sameType, func(b builder, x ...element) element {
		return b.Div(b.Unary(kernel.Round, b.Mul(x[0], x[1])), x[1])
	})
	roundToTens = elementwise("round", sameType, func(b builder, x ...element) element {
		return b.Mul(b.Unary(kernel.Round, b.Div(x[0], x[1])), x[1])
	})
	makeComplex = elementwise("complex", ownTypes, binaryOp(kernel.MakeComplex))
	makePolar   = elementwise("polar", ownTypes, func(b builder, x ...element) element {
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
	dst := empty(must(tensor.Broadcast(re.Shape(), im.Shape())), re.DType().ToComplex())
	return p.run(dst, []operand{ofTensor(re), ofTensor(im)})
}

var pointwiseFamily = slices.Concat(unaryDefinitions(), binaryDefinitions(), dunders(), []definition{
	define("frexp.Tensor", func(c call) { c.give(pair(frexp(c.tensor(0)))...) }),
	giving("prim::abs", func(c call) *tensor.Tensor { return absolute.on(c.tensor(0)) }),
	giving("special_round", func(c call) *tensor.Tensor {
		scale := math.Pow10(c.int(1))
		return roundTo.with(c.tensor(0), tensor.Float(scale))
	}),
	defineInto("add.Tensor", withAlpha(add, addScaled, false)),
	defineInto("add.Scalar", withAlpha(add, addScaled, false)),
	defineInto("sub.Tensor", withAlpha(sub, subScaled, false)),
	defineInto("sub.Scalar", withAlpha(sub, subScaled, false)),
	defineInto("subtract.Tensor", withAlpha(sub, subScaled, false)),
	defineInto("subtract.Scalar", withAlpha(sub, subScaled, false)),
	defineInto("rsub.Tensor", withAlpha(sub, subScaled, true)),
	defineInto("rsub.Scalar", withAlpha(sub, subScaled, true)),
	defineInto("div.Tensor_mode", divMode),
	defineInto("div.Scalar_mode", divMode),
	defineInto("divide.Tensor_mode", divMode),
	defineInto("divide.Scalar_mode", divMode),
	defineInto("pow.Tensor_Tensor", twoOperands(pow)),
	defineInto("pow.Scalar", scalarPow),
	defineInto("pow.Tensor_Scalar", powScalar),
	defineInto("float_power.Tensor_Tensor", floatPower),
	defineInto("float_power.Tensor_Scalar", floatPower),
	defineInto("float_power.Scalar", floatPower),
	defineInto("neg", func(c call, dst *tensor.Tensor) *tensor.Tensor { return neg.run(dst, []operand{ofTensor(c.tensor(0))}) }),
	defineInto("negative", func(c call, dst *tensor.Tensor) *tensor.Tensor { return neg.run(dst, []operand{ofTensor(c.tensor(0))}) }),
	defineInto("bitwise_not", func(c call, dst *tensor.Tensor) *tensor.Tensor {
		return bitwiseNot.run(dst, []operand{ofTensor(c.tensor(0))})
	}),
	define("positive", func(c call) { c.give(c.tensor(0)) }),
	defineInto("clamp", func(c call, dst *tensor.Tensor) *tensor.Tensor {
		if isSmall(c.tensor(0)) && !c.isNone(1) && !c.isNone(2) {
			return limitedNumbers(c.tensor(0), dst, c.float(1), c.float(2))
		}
		return clampReal(c, dst)
	}),
	defineInto("clamp.Tensor", clamp),
	defineInto("clip", clamp),
	defineInto("clip.Tensor", clamp),
	defineInto("clamp_min", twoOperands(clampMin)),
	defineInto("clamp_min.Tensor", twoOperands(clampMin)),
	defineInto("clamp_max", twoOperands(clampMax)),
	defineInto("clamp_max.Tensor", twoOperands(clampMax)),
	giving("where.self", func(c call) *tensor.Tensor { return choose(c.tensor(0), c.operand(1), c.operand(2)) }),
	giving("where.ScalarSelf", func(c call) *tensor.Tensor { return choose(c.tensor(0), c.operand(1), c.operand(2)) }),
	giving("where.ScalarOther", func(c call) *tensor.Tensor { return choose(c.tensor(0), c.operand(1), c.operand(2)) }),
	giving("where.Scalar", func(c call) *tensor.Tensor { return choose(c.tensor(0), c.operand(1), c.operand(2)) }),
	defineInto("masked_fill.Scalar", maskedFill),
	defineInto("masked_fill.Tensor", maskedFill),
	defineInto("addcmul", threeTensors(addProducts)),
	defineInto("addcdiv", threeTensors(addQuotients)),
	defineInto("lerp.Scalar", func(c call, dst *tensor.Tensor) *tensor.Tensor {
		by := lerpNear
		c.scalar(2).MustSuit(c.tensor(0).DType())
		if !c.tensor(0).DType().IsComplex() && !(math.Abs(c.scalar(2).Float64()) < 0.5) {
			by = lerpFar
		}
		return by.run(dst, []operand{ofTensor(c.tensor(0)), ofTensor(c.tensor(1))}, c.scalar(2))
	}),
	defineInto("lerp.Tensor", func(c call, dst *tensor.Tensor) *tensor.Tensor {
		return lerp.run(dst, []operand{ofTensor(c.tensor(0)), ofTensor(c.tensor(1)), ofTensor(c.tensor(2))})
	}),
	defineInto("logit", logitOf),
	defineInto("special_logit", logitOf),
	defineInto("nan_to_num", func(c call, dst *tensor.Tensor) *tensor.Tensor {
		self := c.tensor(0)
		high := largest(self.DType())
		return nanToNum.run(dst, []operand{ofTensor(self)}, tensor.Float(c.floatOr(1, 0)), tensor.Float(c.floatOr(2, high)), tensor.Float(c.floatOr(3, -high)))
	}),
	defineInto("round.decimals", func(c call, dst *tensor.Tensor) *tensor.Tensor {
		decimals := c.int(1)
		if decimals < 0 {
			return roundToTens.run(dst, []operand{ofTensor(c.tensor(0))}, tensor.Float(math.Pow10(-decimals)))
		}
		return roundTo.run(dst, []operand{ofTensor(c.tensor(0))}, tensor.Float(math.Pow10(decimals)))
	}),
	giving("complex", func(c call) *tensor.Tensor { return complexFrom(makeComplex, c) }),
	giving("polar", func(c call) *tensor.Tensor { return complexFrom(makePolar, c) }),
})

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

func unaryDefinitions() []definition {
	var defs []definition
	for _, u := range unaryExpressions {
		p := elementwise(u.names[0], u.rule, u.expr)
		for _, name := range u.names {
			defs = append(defs, defineInto(name, func(c call, dst *tensor.Tensor) *tensor.Tensor {
				operands := [1]operand{{tensor: c.tensor(0)}}
				return p.run(dst, operands[:])
			}))
		}
	}
	return defs
}

func binaryDefinitions() []definition {
	var defs []definition
	for _, e := range binaryExpressions {
		for _, name := range e.overloads {
			defs = append(defs, defineInto(name, twoOperands(e.op)))
		}
	}
	return defs
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
	for _, e := range binaryExpressions {
		for _, name := range e.overloads {
			if len(name) > 4 && name[:2] == "__" {
				into := twoOperands(e.op)
				defs = append(defs, define("__i"+name[2:], func(c call) {
					into(c, c.tensor(0))
					c.giveSelf()
				}))
			}
		}
	}
	return defs
}

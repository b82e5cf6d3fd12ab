package prim

import (
	"math"
	"math/cmplx"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Math holds the functions of Python's math and cmath modules.
var Math = join(
	analytic(kernel.Acos, kernel.Acosh, kernel.Asin, kernel.Asinh, kernel.Atan, kernel.Atanh, kernel.Cos, kernel.Cosh, kernel.Sin, kernel.Sinh, kernel.Tan, kernel.Tanh,
		kernel.Exp, kernel.Log, kernel.Log10, kernel.Sqrt),
	ofReal(kernel.Expm1, kernel.Log1p, kernel.Erf, kernel.Erfc, kernel.Lgamma),
	realFunction("gamma", math.Gamma, nil),
	realFunction("fabs", math.Abs, nil),
	realFunction("degrees", func(x float64) float64 { return x * (180 / math.Pi) }, nil),
	realFunction("radians", func(x float64) float64 { return x * (math.Pi / 180) }, nil),
	overloads("aten::angle", func(args, out []value.Value) error {
		out[0] = value.Float(cmplx.Phase(asComplex(args[0])))
		return nil
	}, "Scalar", "int", "float", "complex"),
	overloads("aten::floor", toInteger(math.Floor), "Scalar", "int", "float"),
	overloads("aten::ceil", toInteger(math.Ceil), "Scalar", "int", "float"),
	overloads("aten::round", onFloats1(math.RoundToEven), "Scalar", "int", "float"),
	overloads("aten::atan2", onFloats(atan2), "Scalar_Scalar", "int", "float", "int_float", "float_int"),
	overloads("aten::fmod", onFloats(math.Mod), realPairs...),
	overloads("aten::mathremainder", onFloats(math.Remainder), realPairs...),
	overloads("aten::copysign", onFloats(math.Copysign), realPairs...),
	overloads("aten::log", logarithm, "Scalar_Scalar", "int_int", "float_float", "int_float", "float_int",
		"complex_complex", "complex_int", "complex_float", "int_complex", "float_complex"),
	overloads("aten::polar", func(args, out []value.Value) error {
		out[0] = value.Complex(cmplx.Rect(asFloat(args[0]), asFloat(args[1])))
		return nil
	}, "Scalar_Scalar", "int", "float", "int_float", "float_int"),
	overloads("aten::isnan", test(math.IsNaN, func(c complex128) bool { return math.IsNaN(real(c)) || math.IsNaN(imag(c)) }), "float", "complex"),
	overloads("aten::isinf", test(func(f float64) bool { return math.IsInf(f, 0) }, cmplx.IsInf), "float", "complex"),
	overloads("aten::isfinite", test(isFinite, func(c complex128) bool { return isFinite(real(c)) && isFinite(imag(c)) }), "float", "complex"),
	one("aten::factorial.int", factorial),
	one("aten::gcd.int", func(args, out []value.Value) error {
		a, b := args[0].Int(), args[1].Int()
		for b != 0 {
			a, b = b, a%b
		}
		out[0] = value.Int(max(a, -a))
		return nil
	}),
	one("aten::frexp", func(args, out []value.Value) error {
		fraction, exponent := math.Frexp(args[0].Float())
		out[0], out[1] = value.Float(fraction), value.Int(int64(exponent))
		return nil
	}),
	one("aten::modf", func(args, out []value.Value) error {
		whole, fraction := math.Modf(args[0].Float())
		out[0], out[1] = value.Float(math.Copysign(fraction, args[0].Float())), value.Float(whole)
		return nil
	}),
	one("aten::ldexp", func(args, out []value.Value) error {
		exponent := min(max(args[1].Int(), -10000), 10000)
		out[0] = value.Float(math.Ldexp(args[0].Float(), int(exponent)))
		return nil
	}),
)

// analytic makes the overloads of functions of real and complex numbers that kernels have, by their names there.
func analytic(functions ...kernel.Op) (all []ops.Operator) {
	for _, op := range functions {
		all = append(all, realFunction(op.String(), kernel.RealFunction(op), kernel.ComplexFunction(op))...)
	}
	return all
}

// ofReal makes the overloads of functions that are defined here for real numbers alone.
func ofReal(functions ...kernel.Op) (all []ops.Operator) {
	for _, op := range functions {
		all = append(all, realFunction(op.String(), kernel.RealFunction(op), nil)...)
	}
	return all
}

// realFunction makes the overloads of a function for ints, floats and Scalars, and for complex numbers
// where it has a meaning there.
func realFunction(name string, f func(float64) float64, c func(complex128) complex128) []ops.Operator {
	names := []string{"Scalar", "int", "float"}
	if c != nil {
		names = append(names, "complex")
	}
	return overloads("aten::"+name, func(args, out []value.Value) error {
		if args[0].Kind() != value.KindComplex {
			out[0] = value.Float(f(asFloat(args[0])))
			return nil
		}
		if c == nil {
			return errorf("%s is not defined for complex numbers", name)
		}
		out[0] = value.Complex(c(args[0].Complex()))
		return nil
	}, names...)
}

func onFloats1(f func(float64) float64) ops.Operation {
	return func(args, out []value.Value) error {
		out[0] = value.Float(f(asFloat(args[0])))
		return nil
	}
}

func onFloats(f func(a, b float64) float64) ops.Operation {
	return func(args, out []value.Value) error {
		out[0] = value.Float(f(asFloat(args[0]), asFloat(args[1])))
		return nil
	}
}

// toInteger makes floor or ceil: a number rounded to an int.
func toInteger(f func(float64) float64) ops.Operation {
	return func(args, out []value.Value) error {
		if isIntegral(args[0]) {
			out[0] = args[0]
			return nil
		}
		r := f(args[0].Float())
		if !(r >= math.MinInt64 && r < math.MaxInt64) {
			return errorf("Cannot convert float %f to integer", args[0].Float())
		}
		out[0] = value.Int(int64(r))
		return nil
	}
}

var logOf = kernel.RealFunction(kernel.Log)

// atan2 has the sign of its first operand also where the quotient vanishes.
func atan2(a, b float64) float64 { return math.Copysign(math.Atan2(a, b), a) }

func logarithm(args, out []value.Value) error {
	if rank(args[0], args[1]) == value.KindComplex {
		out[0] = value.Complex(cmplx.Log(asComplex(args[0])) / cmplx.Log(asComplex(args[1])))
	} else {
		out[0] = value.Float(logOf(asFloat(args[0])) / logOf(asFloat(args[1])))
	}
	return nil
}

func test(f func(float64) bool, c func(complex128) bool) ops.Operation {
	return func(args, out []value.Value) error {
		if args[0].Kind() == value.KindComplex {
			out[0] = value.Bool(c(args[0].Complex()))
		} else {
			out[0] = value.Bool(f(args[0].Float()))
		}
		return nil
	}
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func factorial(args, out []value.Value) error {
	n := args[0].Int()
	if n < 0 {
		return errorf("factorial() not defined for negative values")
	}
	r := int64(1)
	for i := int64(2); i <= n && r != 0; i++ {
		r *= i
	}
	out[0] = value.Int(r)
	return nil
}

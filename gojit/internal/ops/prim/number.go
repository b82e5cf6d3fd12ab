package prim

import (
	"math"
	"math/cmplx"

	"github.com/torchjit/torchjit/gojit/internal/kernel/function"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Arithmetic holds + - * / // % ** and their relatives on numbers.
var Arithmetic = join(
	overloads("aten::add", binary(
		func(a, b int64) (int64, error) { return a + b, nil },
		func(a, b float64) (float64, error) { return a + b, nil },
		func(a, b complex128) complex128 { return a + b }), realAndMore...),
	overloads("aten::sub", binary(
		func(a, b int64) (int64, error) { return a - b, nil },
		func(a, b float64) (float64, error) { return a - b, nil },
		func(a, b complex128) complex128 { return a - b }), realAndMore...),
	overloads("aten::mul", binary(
		func(a, b int64) (int64, error) { return a * b, nil },
		func(a, b float64) (float64, error) { return a * b, nil },
		func(a, b complex128) complex128 { return a * b }), realAndMore...),
	overloads("aten::div", divide, "", "int", "float", "complex"),
	overloads("aten::floordiv", binary(floorDivInt, floorDivFloat, nil), realPairs...),
	overloads("aten::remainder", binary(remainderInt, remainderFloat, nil), realPairs...),
	overloads("aten::pow", power, "Scalar_Scalar", "int", "float", "int_float", "float_int",
		"complex", "complex_float", "float_complex"),
	one("aten::pow.int_to_int", powerInt),
	overloads("aten::divmod", divmod, "int", "float", "int_float", "float_int"),
	one("aten::__round_to_zero_floordiv.int", func(args, out []value.Value) error {
		if args[1].Int() == 0 {
			return errorf("division by 0")
		}
		out[0] = value.Int(truncatedQuotient(args[0].Int(), args[1].Int()))
		return nil
	}),
	overloads("aten::neg", unary(
		func(a int64) int64 { return -a },
		func(a float64) float64 { return -a },
		func(a complex128) complex128 { return -a }), "Scalar", "int", "float", "complex"),
	overloads("prim::abs", absolute, "Scalar", "int", "float", "complex"),
)

// binary makes an operation on two numbers from what it does to ints, floats and complex numbers.
// onComplex nil: there is no such overload.
func binary(
	onInt func(a, b int64) (int64, error), onFloat func(a, b float64) (float64, error), onComplex func(a, b complex128) complex128,
) ops.Operation {
	return func(args, out []value.Value) error {
		switch rank(args[0], args[1]) {
		case value.KindInt:
			r, err := onInt(args[0].Int(), args[1].Int())
			out[0] = value.Int(r)
			return err
		case value.KindFloat:
			r, err := onFloat(asFloat(args[0]), asFloat(args[1]))
			out[0] = value.Float(r)
			return err
		}
		if onComplex == nil {
			return errorf("unsupported operand type(s): complex")
		}
		out[0] = value.Complex(onComplex(asComplex(args[0]), asComplex(args[1])))
		return nil
	}
}

// unary makes an operation on one number.
func unary(onInt func(int64) int64, onFloat func(float64) float64, onComplex func(complex128) complex128) ops.Operation {
	return func(args, out []value.Value) error {
		switch rank(args[0]) {
		case value.KindInt:
			out[0] = value.Int(onInt(args[0].Int()))
		case value.KindFloat:
			out[0] = value.Float(onFloat(args[0].Float()))
		default:
			out[0] = value.Complex(onComplex(args[0].Complex()))
		}
		return nil
	}
}

func divide(args, out []value.Value) error {
	if rank(args[0], args[1]) == value.KindComplex {
		out[0] = value.Complex(asComplex(args[0]) / asComplex(args[1]))
	} else {
		out[0] = value.Float(asFloat(args[0]) / asFloat(args[1]))
	}
	return nil
}

func truncatedQuotient(a, b int64) int64 {
	if b == -1 {
		return -a // the quotient of the smallest integer does not fit
	}
	return a / b
}

func floorDivInt(a, b int64) (int64, error) {
	if b == 0 {
		return 0, errorf("division by 0")
	}
	q := truncatedQuotient(a, b)
	if q*b != a && (a < 0) != (b < 0) {
		q--
	}
	return q, nil
}

func floorDivFloat(a, b float64) (float64, error) { return math.Floor(a / b), nil }

func remainderInt(a, b int64) (int64, error) {
	q, err := floorDivInt(a, b)
	return a - q*b, err
}

// remainderFloat has the sign of b, a remainder of zero too. It is PyTorch's sum: digits of a that b does not have are lost in it.
func remainderFloat(a, b float64) (float64, error) { return math.Mod(b+math.Mod(a, b), b), nil }

func divmod(args, out []value.Value) error {
	if rank(args[0], args[1]) == value.KindInt {
		if args[1].Int() == 0 {
			return errorf("ZeroDivisionError: integer division or modulo by zero")
		}
		q, _ := floorDivInt(args[0].Int(), args[1].Int())
		r, _ := remainderInt(args[0].Int(), args[1].Int())
		out[0], out[1] = value.Int(q), value.Int(r)
		return nil
	}
	a, b := asFloat(args[0]), asFloat(args[1])
	if b == 0 {
		return errorf("ZeroDivisionError: float divmod()")
	}
	r := math.Mod(a, b)
	if r != 0 && (r < 0) != (b < 0) {
		r += b
	}
	out[0], out[1] = value.Float((a-r)/b), value.Float(r)
	return nil
}

// ErrZeroPower is what zero raised to a negative power fails with.
var ErrZeroPower = errorf("0.0 cannot be raised to a negative power")

// complexPower is exp(b * log(a)), also where log(a) is infinite: the powers of zero are then no numbers, or nothing but one part of them.
func complexPower(a, b complex128) complex128 { return cmplx.Exp(b * cmplx.Log(a)) }

// power gives a float, or a complex number where an operand is one.
func power(args, out []value.Value) error {
	if rank(args[0], args[1]) == value.KindComplex {
		out[0] = value.Complex(complexPower(asComplex(args[0]), asComplex(args[1])))
		return nil
	}
	a, b := asFloat(args[0]), asFloat(args[1])
	if a == 0 && b < 0 {
		return ErrZeroPower
	}
	out[0] = value.Float(function.Power(a, b))
	return nil
}

func powerInt(args, out []value.Value) error {
	a, b := args[0].Int(), args[1].Int()
	if b < 0 {
		out[0] = value.Int(truncate(function.Power(float64(a), float64(b))))
		return nil
	}
	r := int64(1)
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			r *= a
		}
		a *= a
	}
	out[0] = value.Int(r)
	return nil
}

func absolute(args, out []value.Value) error {
	switch rank(args[0]) {
	case value.KindInt:
		out[0] = value.Int(max(args[0].Int(), -args[0].Int()))
	case value.KindFloat:
		out[0] = value.Float(math.Abs(args[0].Float()))
	default:
		out[0] = value.Float(cmplx.Abs(args[0].Complex()))
	}
	return nil
}

// truncate converts to an integer towards zero; what does not fit gives the smallest integer.
func truncate(f float64) int64 {
	if f >= math.MinInt64 && f < math.MaxInt64 {
		return int64(f)
	}
	return math.MinInt64
}

// Bits holds the operators on the bits of ints and on truth values.
var Bits = join(
	bitwise("aten::__and__", func(a, b int64) int64 { return a & b }),
	bitwise("aten::__or__", func(a, b int64) int64 { return a | b }),
	bitwise("aten::__xor__", func(a, b int64) int64 { return a ^ b }),
	one("aten::__lshift__.int", func(args, out []value.Value) error {
		out[0] = value.Int(args[0].Int() << (uint64(args[1].Int()) & 63))
		return nil
	}),
	one("aten::__rshift__.int", func(args, out []value.Value) error {
		out[0] = value.Int(args[0].Int() >> (uint64(args[1].Int()) & 63))
		return nil
	}),
	one("aten::__not__", func(args, out []value.Value) error {
		out[0] = value.Bool(!args[0].Bool())
		return nil
	}),
)

func bitwise(base string, f func(a, b int64) int64) []ops.Operator {
	return join(
		one(base+".int", func(args, out []value.Value) error {
			out[0] = value.Int(f(args[0].Int(), args[1].Int()))
			return nil
		}),
		one(base+".bool", func(args, out []value.Value) error {
			out[0] = value.Bool(f(int64(args[0].Bits()), int64(args[1].Bits())) != 0)
			return nil
		}),
	)
}

// Extremes holds min, max and sums over numbers and lists of them.
var Extremes = join(
	extreme("prim::max", 1, "max"),
	extreme("prim::min", -1, "min"),
	overloads("aten::sum", sum, "int", "float", "complex", "bool"),
	overloads("aten::all", func(args, out []value.Value) error {
		for _, v := range args[0].List().Items {
			if !truth(v) {
				out[0] = value.Bool(false)
				return nil
			}
		}
		out[0] = value.Bool(true)
		return nil
	}, "int", "float", "bool"),
	overloads("aten::any", func(args, out []value.Value) error {
		for _, v := range args[0].List().Items {
			if truth(v) {
				out[0] = value.Bool(true)
				return nil
			}
		}
		out[0] = value.Bool(false)
		return nil
	}, "int", "float", "bool", "str"),
)

func truth(v value.Value) bool {
	switch v.Kind() {
	case value.KindFloat:
		return v.Float() != 0
	case value.KindString:
		return v.Str() != ""
	}
	return v.Int() != 0
}

// extreme makes min (sign -1) or max (sign 1) of two numbers, of two lists and of a list. A NaN
// never wins over what stands before it.
func extreme(base string, sign int, word string) []ops.Operator {
	wins := func(a, b value.Value) bool { return sign*compareNumbers(a, b) > 0 }
	pair := func(args, out []value.Value) error {
		winner := args[0]
		if wins(args[1], args[0]) || isNaN(args[1]) {
			winner = args[1]
		}
		if rank(args...) == value.KindFloat {
			winner = value.Float(asFloat(winner))
		}
		out[0] = winner
		return nil
	}
	return join(
		overloads(base, pair, realPairs...),
		overloads(base, func(args, out []value.Value) error {
			out[0] = args[0]
			if sign*compareLists(args[1].List(), args[0].List()) > 0 {
				out[0] = args[1]
			}
			return nil
		}, "int_list", "float_list", "bool_list"),
		overloads(base, func(args, out []value.Value) error {
			items := args[0].List().Items
			if len(items) == 0 {
				return errorf("%s() arg is an empty sequence", word)
			}
			out[0] = items[0]
			for _, v := range items[1:] {
				if wins(v, out[0]) {
					out[0] = v
				}
			}
			return nil
		}, "self_int", "self_float", "self_bool"),
	)
}

func isNaN(v value.Value) bool { return v.IsFloat() && math.IsNaN(v.Float()) }

func sum(args, out []value.Value) error {
	l := args[0].List()
	var i int64
	var f float64
	var c complex128
	kind := value.KindInt
	for _, v := range l.Items {
		kind = rank(v)
		switch kind {
		case value.KindInt:
			i += v.Int()
		case value.KindFloat:
			f += v.Float()
		default:
			c += v.Complex()
		}
	}
	if len(l.Items) == 0 {
		kind = kindOfElem(l.Elem)
	}
	switch kind {
	case value.KindFloat:
		out[0] = value.Float(f)
	case value.KindComplex:
		out[0] = value.Complex(c)
	default:
		out[0] = value.Int(i)
	}
	return nil
}

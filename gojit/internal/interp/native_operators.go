package interp

import (
	"math"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/function"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// numericOperator is an operator of numbers in a function. Operands names the types of its operands, i f b.
type numericOperator struct {
	operands string
	make     func(t *translation, args []kernel.Value) kernel.Value
	fits     func(n *ir.Node) bool // nil: always
}

// numericOperators are the operators that functions have, by their names. Many are named as the instruction of kernels that they are.
var numericOperators = sync.OnceValue(func() map[string]numericOperator {
	m := map[string]numericOperator{}
	binary := func(op kernel.Op) func(*translation, []kernel.Value) kernel.Value {
		return func(t *translation, args []kernel.Value) kernel.Value { return t.Binary(op, args[0], args[1]) }
	}
	unary := func(op kernel.Op) func(*translation, []kernel.Value) kernel.Value {
		return func(t *translation, args []kernel.Value) kernel.Value { return t.Unary(op, args[0]) }
	}
	to := func(d tensor.DType) func(*translation, []kernel.Value) kernel.Value {
		return func(t *translation, args []kernel.Value) kernel.Value { return t.Convert(args[0], d) }
	}
	// floats converts the operands first.
	floats := func(f func(*translation, []kernel.Value) kernel.Value) func(*translation, []kernel.Value) kernel.Value {
		return func(t *translation, args []kernel.Value) kernel.Value {
			for i := range args {
				args[i] = t.Convert(args[i], tensor.Float64)
			}
			return f(t, args)
		}
	}
	for _, op := range []kernel.Op{kernel.Add, kernel.Sub, kernel.Mul, kernel.Eq, kernel.Ne, kernel.Lt, kernel.Le, kernel.Gt, kernel.Ge} {
		name := op.String()
		m["aten::"+name+".int"] = numericOperator{operands: "ii", make: binary(op)}
		m["aten::"+name+".float"] = numericOperator{operands: "ff", make: binary(op)}
		m["aten::"+name+".int_float"] = numericOperator{operands: "if", make: floats(binary(op))}
		m["aten::"+name+".float_int"] = numericOperator{operands: "fi", make: floats(binary(op))}
	}
	m["aten::eq.bool"], m["aten::ne.bool"] = numericOperator{operands: "bb", make: binary(kernel.Eq)}, numericOperator{operands: "bb", make: binary(kernel.Ne)}
	m["aten::floordiv.int"], m["aten::remainder.int"] = numericOperator{operands: "ii", make: binary(kernel.FloorDiv)}, numericOperator{operands: "ii", make: binary(kernel.Mod)}
	m["aten::div.int"], m["aten::div.float"] = numericOperator{operands: "ii", make: floats(binary(kernel.Div))}, numericOperator{operands: "ff", make: binary(kernel.Div)}
	quotient := floats(func(t *translation, args []kernel.Value) kernel.Value {
		return t.Unary(kernel.Floor, t.Binary(kernel.Div, args[0], args[1]))
	})
	m["aten::floordiv.float"] = numericOperator{operands: "ff", make: quotient}
	m["aten::floordiv.int_float"], m["aten::floordiv.float_int"] = numericOperator{operands: "if", make: quotient}, numericOperator{operands: "fi", make: quotient}
	for _, op := range []kernel.Op{kernel.And, kernel.Or, kernel.Xor} {
		name := "aten::__" + op.String() + "__"
		m[name+".int"], m[name+".bool"] = numericOperator{operands: "ii", make: binary(op)}, numericOperator{operands: "bb", make: binary(op)}
	}
	for name, op := range map[string]kernel.Op{"lshift": kernel.Shl, "rshift": kernel.Shr} { // by the lowest six bits
		m["aten::__"+name+"__.int"] = numericOperator{operands: "ii", make: func(t *translation, args []kernel.Value) kernel.Value {
			return t.Binary(op, args[0], t.Binary(kernel.And, args[1], t.Const(tensor.Int64, tensor.Int(63))))
		}}
	}
	m[aten.Not] = numericOperator{operands: "b", make: unary(kernel.Not)}
	m["aten::neg.int"], m["aten::neg.float"] = numericOperator{operands: "i", make: unary(kernel.Neg)}, numericOperator{operands: "f", make: unary(kernel.Neg)}
	m["prim::abs.int"], m["prim::abs.float"] = numericOperator{operands: "i", make: unary(kernel.Abs)}, numericOperator{operands: "f", make: unary(kernel.Abs)}
	m["prim::min.int"], m["prim::max.int"] = numericOperator{operands: "ii", make: binary(kernel.Min)}, numericOperator{operands: "ii", make: binary(kernel.Max)}
	ofFloats := func(name string, op kernel.Op) {
		m["aten::"+name+".float"], m["aten::"+name+".int"] = numericOperator{operands: "f", make: unary(op)}, numericOperator{operands: "i", make: floats(unary(op))}
	}
	ofFloats("fabs", kernel.Abs)
	for op := kernel.Round; op <= kernel.Lgamma; op++ {
		if o := ops.Find("aten::" + op.String() + ".float"); o != nil && o.Schema().Returns[0].Type == types.Float {
			ofFloats(op.String(), op)
		}
	}
	pairs := func(name string, f func(*translation, []kernel.Value) kernel.Value) {
		for overload, operands := range map[string]string{"int": "ii", "float": "ff", "int_float": "if", "float_int": "fi"} {
			m["aten::"+name+"."+overload] = numericOperator{operands: operands, make: floats(f)}
		}
	}
	pairs("atan2", binary(kernel.Atan2))
	pairs("copysign", binary(kernel.CopySign))
	pairs("fmod", binary(kernel.Rem))
	pairs("pow", power)
	m["aten::remainder.float"] = numericOperator{operands: "ff", make: floats(floatRemainder)}
	m["aten::remainder.int_float"], m["aten::remainder.float_int"] = numericOperator{operands: "if", make: floats(floatRemainder)}, numericOperator{operands: "fi", make: floats(floatRemainder)}
	// Of two ints there are powers of both types.
	m["aten::pow.int"] = numericOperator{operands: "ii", make: floats(power), fits: func(n *ir.Node) bool { return classOf(n.Output().Type()) == classFloat }}
	m["aten::pow.int_to_int"] = numericOperator{operands: "ii", make: wholePower, fits: func(n *ir.Node) bool { return classOf(n.Output().Type()) == classInt }}
	m["aten::gcd.int"] = numericOperator{operands: "ii", make: binary(kernel.Gcd)}
	m["aten::Float.int"], m["aten::Int.float"] = numericOperator{operands: "i", make: to(tensor.Float64)}, numericOperator{operands: "f", make: to(tensor.Int64)}
	m["aten::Float.Scalar"] = m["aten::Float.int"] // of all numbers
	m["aten::Float.bool"], m["aten::Int.bool"] = numericOperator{operands: "b", make: to(tensor.Float64)}, numericOperator{operands: "b", make: to(tensor.Int64)}
	m["aten::Bool.int"], m["aten::Bool.float"] = numericOperator{operands: "i", make: to(tensor.Bool)}, numericOperator{operands: "f", make: to(tensor.Bool)}
	m[aten.Div] = numericOperator{operands: "if", make: floats(binary(kernel.Div))}
	m[aten.DeriveIndex] = numericOperator{operands: "iii", make: func(t *translation, args []kernel.Value) kernel.Value {
		return t.Binary(kernel.Add, args[1], t.Binary(kernel.Mul, args[0], args[2]))
	}}
	m[aten.RangeLength] = numericOperator{operands: "ii+", make: rangeLength, fits: func(n *ir.Node) bool {
		step, ok := n.Input(2).Constant()
		lo, known := n.Input(0).Constant()
		return ok && step.IsInt() && (step.Int() == 1 || step.Int() > 1 && known && lo.IsInt() && lo.Int() >= 0)
	}}
	return m
})

// rangeLength is the length of range(lo, hi, step) for a step above zero, where hi - lo does not overflow or the step is one; the
// largest int where no int holds it.
func rangeLength(t *translation, args []kernel.Value) kernel.Value {
	lo, hi, step := args[0], args[1], args[2]
	one := t.Const(tensor.Int64, tensor.Int(1))
	last := t.Binary(kernel.Sub, t.Binary(kernel.Sub, hi, one), lo)
	zero := t.Const(tensor.Int64, tensor.Int(0))
	length := t.Binary(kernel.Add, one, t.Binary(kernel.FloorDiv, last, step))
	length = t.Select(t.Binary(kernel.Lt, zero, length), length, t.Const(tensor.Int64, tensor.Int(math.MaxInt64))) // where no int holds it
	return t.Select(t.Binary(kernel.Lt, lo, hi), length, zero)
}

// power is a**b of floats, which fails for zero to a negative power.
func power(t *translation, args []kernel.Value) kernel.Value {
	zero := t.Const(tensor.Float64, tensor.Float(0))
	t.fail(t.Binary(kernel.And, t.Binary(kernel.Eq, args[0], zero), t.Binary(kernel.Lt, args[1], zero)), prim.ErrZeroPower)
	return t.Binary(kernel.Pow, args[0], args[1])
}

// floatRemainder is prim's: the remainder of a sum with the divisor, whose sign it has.
func floatRemainder(t *translation, args []kernel.Value) kernel.Value {
	return t.Binary(kernel.Rem, t.Binary(kernel.Add, args[1], t.Binary(kernel.Rem, args[0], args[1])), args[1])
}

// wholePower is a**b of ints; a negative power is that of floats without its fraction.
func wholePower(t *translation, args []kernel.Value) kernel.Value {
	real := t.Binary(kernel.Pow, t.Convert(args[0], tensor.Float64), t.Convert(args[1], tensor.Float64))
	negative := t.Binary(kernel.Lt, args[1], t.Const(tensor.Int64, tensor.Int(0)))
	return t.Select(negative, t.Convert(real, tensor.Int64), t.Binary(kernel.Pow, args[0], args[1]))
}

// fail ends the call with an error where a condition holds.
func (t *translation) fail(c kernel.Value, err error) {
	failing, on := t.Block(), t.Block()
	t.Branch(c, function.Edge{Block: failing}, function.Edge{Block: on})
	t.Enter(failing)
	t.Trap(int32(len(t.raises)))
	t.raises = append(t.raises, raising{err: err, place: t.place})
	t.Enter(on)
}

package interp

import (
	"torchjit/gojit/kernel"
	"torchjit/gojit/tensor"
)

// numericOperator is an operator of numbers in a function. Operands names the types of its operands, i f b.
type numericOperator struct {
	operands string
	make     func(t *translation, args []kernel.Value) kernel.Value
}

// numericOperators are the operators that functions have, by their names.
var numericOperators = func() map[string]numericOperator {
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
	for name, op := range map[string]kernel.Op{"add": kernel.Add, "sub": kernel.Sub, "mul": kernel.Mul, "eq": kernel.Eq, "ne": kernel.Ne,
		"lt": kernel.Lt, "le": kernel.Le, "gt": kernel.Gt, "ge": kernel.Ge} {
		m["aten::"+name+".int"] = numericOperator{"ii", binary(op)}
		m["aten::"+name+".float"] = numericOperator{"ff", binary(op)}
		m["aten::"+name+".int_float"] = numericOperator{"if", floats(binary(op))}
		m["aten::"+name+".float_int"] = numericOperator{"fi", floats(binary(op))}
	}
	m["aten::eq.bool"], m["aten::ne.bool"] = numericOperator{"bb", binary(kernel.Eq)}, numericOperator{"bb", binary(kernel.Ne)}
	m["aten::floordiv.int"], m["aten::remainder.int"] = numericOperator{"ii", binary(kernel.FloorDiv)}, numericOperator{"ii", binary(kernel.Mod)}
	m["aten::div.int"], m["aten::div.float"] = numericOperator{"ii", floats(binary(kernel.Div))}, numericOperator{"ff", binary(kernel.Div)}
	quotient := floats(func(t *translation, args []kernel.Value) kernel.Value {
		return t.Unary(kernel.Floor, t.Binary(kernel.Div, args[0], args[1]))
	})
	m["aten::floordiv.float"] = numericOperator{"ff", quotient}
	m["aten::floordiv.int_float"], m["aten::floordiv.float_int"] = numericOperator{"if", quotient}, numericOperator{"fi", quotient}
	for name, op := range map[string]kernel.Op{"__and__": kernel.And, "__or__": kernel.Or, "__xor__": kernel.Xor} {
		m["aten::"+name+".int"], m["aten::"+name+".bool"] = numericOperator{"ii", binary(op)}, numericOperator{"bb", binary(op)}
	}
	for name, op := range map[string]kernel.Op{"lshift": kernel.Shl, "rshift": kernel.Shr} { // by the lowest six bits
		m["aten::__"+name+"__.int"] = numericOperator{"ii", func(t *translation, args []kernel.Value) kernel.Value {
			return t.Binary(op, args[0], t.Binary(kernel.And, args[1], t.Const(tensor.Int64, tensor.Int(63))))
		}}
	}
	m["aten::__not__"] = numericOperator{"b", unary(kernel.Not)}
	m["aten::neg.int"], m["aten::neg.float"] = numericOperator{"i", unary(kernel.Neg)}, numericOperator{"f", unary(kernel.Neg)}
	m["prim::abs.int"], m["prim::abs.float"] = numericOperator{"i", unary(kernel.Abs)}, numericOperator{"f", unary(kernel.Abs)}
	m["prim::min.int"], m["prim::max.int"] = numericOperator{"ii", binary(kernel.Min)}, numericOperator{"ii", binary(kernel.Max)}
	for name, op := range map[string]kernel.Op{"sqrt": kernel.Sqrt, "fabs": kernel.Abs, "round": kernel.Round} {
		m["aten::"+name+".float"], m["aten::"+name+".int"] = numericOperator{"f", unary(op)}, numericOperator{"i", floats(unary(op))}
	}
	m["aten::Float.int"], m["aten::Int.float"] = numericOperator{"i", to(tensor.Float64)}, numericOperator{"f", to(tensor.Int64)}
	m["aten::Float.Scalar"], m["aten::Int.Scalar"] = m["aten::Float.int"], m["aten::Int.float"] // of all numbers
	m["aten::Float.bool"], m["aten::Int.bool"] = numericOperator{"b", to(tensor.Float64)}, numericOperator{"b", to(tensor.Int64)}
	m["aten::Bool.int"], m["aten::Bool.float"] = numericOperator{"i", to(tensor.Bool)}, numericOperator{"f", to(tensor.Bool)}
	return m
}()

package aten

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// foreachFamily has the operators _foreach_NAME: they do what NAME does with every tensor of a list. Those of several
// lists take the tensors of the same place, those of a list of numbers the number.
var foreachFamily = foreachDefinitions()

func foreachDefinitions() []definition {
	var all []definition
	for _, name := range strings.Fields(`abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2
		neg reciprocal round sigmoid sin sinh sqrt tan tanh trunc`) {
		all = append(all, forEach("_foreach_"+name, name, func(c call, k int) []value.Value { return []value.Value{listed(c, 0, k)} }))
	}
	all = append(all,
		forEach("_foreach_zero", "zeros_like", func(c call, k int) []value.Value {
			return []value.Value{listed(c, 0, k), value.None, value.None, value.None, value.None, value.None}
		}),
		forEach("_foreach_norm.Scalar", "linalg_vector_norm", func(c call, k int) []value.Value {
			return []value.Value{listed(c, 0, k), c.args[1], value.None, value.Bool(false), value.None}
		}))
	for _, name := range [...]string{"maximum", "minimum"} {
		all = append(all, forEach("_foreach_"+name+".List", name, func(c call, k int) []value.Value {
			return []value.Value{listed(c, 0, k), listed(c, 1, k)}
		}))
	}
	for _, name := range [...]string{"add", "sub", "mul", "div"} {
		all = append(all, foreachArithmetic(name, name == "add" || name == "sub")...)
	}
	for _, name := range [...]string{"addcdiv", "addcmul"} {
		all = append(all,
			forEach("_foreach_"+name+".Scalar", name, func(c call, k int) []value.Value {
				return []value.Value{listed(c, 0, k), listed(c, 1, k), listed(c, 2, k), c.args[3]}
			}),
			forEach("_foreach_"+name+".ScalarList", name, func(c call, k int) []value.Value {
				return []value.Value{listed(c, 0, k), listed(c, 1, k), listed(c, 2, k), listed(c, 3, k)}
			}))
	}
	return all
}

// foreachArithmetic defines the overloads of a sum, difference, product or quotient; the first two have a factor.
func foreachArithmetic(name string, hasAlpha bool) []definition {
	with := func(factor value.Value, args ...value.Value) []value.Value {
		if hasAlpha {
			return append(args, factor)
		}
		return args
	}
	return []definition{
		forEach("_foreach_"+name+".List", name+".Tensor", func(c call, k int) []value.Value {
			return with(c.args[len(c.args)-1], listed(c, 0, k), listed(c, 1, k))
		}),
		forEach("_foreach_"+name+".Scalar", name+".Scalar", func(c call, k int) []value.Value {
			return with(value.Int(1), listed(c, 0, k), c.args[1])
		}),
		forEach("_foreach_"+name+".ScalarList", name+".Scalar", func(c call, k int) []value.Value {
			return with(value.Int(1), listed(c, 0, k), listed(c, 1, k))
		}),
	}
}

// listed returns the element of a place in a list of arguments. The lists of a call are equally long.
func listed(c call, i, k int) value.Value {
	items, n := c.args[i].List().Items, len(c.args[0].List().Items)
	check(len(items) == n, "Tensor lists must have the same number of tensors, got %d and %d", n, len(items))
	return items[k]
}

// forEach defines an overload that calls another operator for each place; args are its arguments there.
func forEach(name, one string, args func(c call, k int) []value.Value) definition {
	return define(name, func(c call) {
		n := len(c.args[0].List().Items)
		check(n > 0, "Tensor list must have at least one tensor.")
		run := ops.Find(key(one)).Run
		results := make([]*tensor.Tensor, n)
		for k := range n {
			var out [1]value.Value
			succeed(run(args(c, k), out[:]))
			results[k] = out[0].Tensor()
		}
		c.giveList(results)
	})
}

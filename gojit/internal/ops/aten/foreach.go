package aten

import (
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// foreachFamily has the operators _foreach_NAME: they do what NAME does with every tensor of a list. Those of several
// lists take the tensors of the same place, those of a list of numbers the number. Which there are follows from the schemas.
var foreachFamily = sync.OnceValue(func() []define.Definition {
	var all []define.Definition
	for _, base := range ops.Names() {
		name, ok := strings.CutPrefix(base, "aten::_foreach_")
		if !ok || strings.HasSuffix(name, "_") {
			continue
		}
		for _, o := range ops.Overloads(base) {
			if _, overload, _ := strings.Cut(o.Name, "."); !strings.HasSuffix(overload, "out") {
				all = append(all, forEach(o, eachOf(name, overload)))
			}
		}
	}
	return all
})

// eachOf returns the operator that an overload of _foreach_NAME calls.
func eachOf(name, overload string) *ops.Operator {
	switch name {
	case "zero":
		name = "zeros_like"
	case "norm":
		name = "linalg_vector_norm"
	}
	of := "Scalar"
	if overload == "List" {
		of = "Tensor"
	}
	if o := ops.Find(define.Key(name + "." + of)); o != nil && overload != "" {
		return o
	}
	return ops.Find(define.Key(name))
}

// forEach defines an overload that calls another operator for each place. What that takes besides has its default.
func forEach(o, one *ops.Operator) define.Definition {
	arguments := sync.OnceValues(func() (isList []bool, defaults []value.Value) {
		for _, a := range o.Schema().Arguments {
			isList = append(isList, a.Type.Kind() == types.KindList)
		}
		for _, a := range one.Schema().Arguments[len(isList):] {
			defaults = append(defaults, a.NewDefault())
		}
		return isList, defaults
	})
	return define.Operator(define.Unqualified(o.Name), func(c define.Call) {
		n := len(c.Args[0].List().Items)
		source.Check(n > 0, "Tensor list must have at least one tensor.")
		isList, defaults := arguments()
		args := slices.Concat(c.Args, defaults)
		results := make([]*tensor.Tensor, n)
		for k := range n {
			for i := range isList {
				if isList[i] {
					args[i] = listed(c, i, k)
				}
			}
			var out [1]value.Value
			source.Throw(one.Run(args, out[:]))
			results[k] = out[0].Tensor()
		}
		c.GiveList(results)
	})
}

// listed returns the element of a place in a list of arguments. The lists of a call are equally long.
func listed(c define.Call, i, k int) value.Value {
	items, n := c.Args[i].List().Items, len(c.Args[0].List().Items)
	source.Check(len(items) == n, "Tensor lists must have the same number of tensors, got %d and %d", n, len(items))
	return items[k]
}

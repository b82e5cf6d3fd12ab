package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparsePointwise are the elementwise operators of one tensor.
func sparsePointwise() map[string]sparseForm {
	forms := map[string]sparseForm{
		"square": sparseGiving(func(c call) *tensor.Tensor {
			t := summed(c.tensor(0))
			return onValues(t, apply("square", t.Sparse().Values))
		}),
		"pow.Tensor_Scalar": sparseGiving(func(c call) *tensor.Tensor {
			requireCOO("pow.Tensor_Scalar", c.tensor(0))
			check(c.scalar(1).Float64() != 0, "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
			t := summed(c.tensor(0))
			return onValues(t, apply("pow.Tensor_Scalar", t.Sparse().Values, c.args[1]))
		}),
	}
	for o, how := range ops.WithFact("sparse") {
		name := unqualified(o.Name)
		switch how {
		case "coalesced": // it keeps zeros and is not linear: it acts on the sums at places
			forms[name], forms[name+"_"] = elementwiseForm(name, true), inPlaceCoalesced(name)
		case "places": // it acts on each value
			forms[name] = elementwiseForm(name, false)
		case "compressed": // it knows compressed layouts alone
			forms[name] = sparseRunning(func(c call) {
				if c.tensor(0).Layout() == tensor.SparseCOO {
					refuseSparse(key(name), c.tensor(0))
				}
				elementwiseForm(name, false)(c.args, c.out)
			})
		}
	}
	return forms
}

// summed returns t with one value at each place.
func summed(t *tensor.Tensor) *tensor.Tensor {
	if t.Layout() == tensor.SparseCOO {
		return coalesced(t)
	}
	return t
}

// elementwiseForm is an elementwise operator on the values.
func elementwiseForm(name string, sum bool) sparseForm {
	return sparseGiving(func(c call) *tensor.Tensor {
		t := c.tensor(0)
		if sum {
			t = summed(t)
		}
		return onValues(t, apply(name, onArguments(c, t.Sparse().Values)...))
	})
}

// onArguments returns the arguments of a call with another first one.
func onArguments(c call, first *tensor.Tensor) []any {
	args := []any{first}
	for _, a := range c.args[1:] {
		args = append(args, a)
	}
	return args
}

// inPlaceCoalesced writes the values of a tensor that has one at each place.
func inPlaceCoalesced(name string) sparseForm {
	form := elementwiseForm(name, true).inPlace(name + "_")
	return sparseRunning(func(c call) {
		if t := c.tensor(0); t.Layout() == tensor.SparseCOO {
			check(t.Sparse().Coalesced, "%s_ requires coalesced input", name)
		}
		form(c.args, c.out)
	})
}

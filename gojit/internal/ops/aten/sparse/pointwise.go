package sparse

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparsePointwise are the elementwise operators of one tensor.
func sparsePointwise() map[string]sparseForm {
	forms := map[string]sparseForm{
		"square": sparseGiving(func(c define.Call) *tensor.Tensor {
			t := summed(c.Tensor(0))
			return onValues(t, define.Apply("square", t.Sparse().Values))
		}),
		"pow.Tensor_Scalar": sparseGiving(func(c define.Call) *tensor.Tensor {
			requireCOO("pow.Tensor_Scalar", c.Tensor(0))
			source.Check(c.Scalar(1).Float64() != 0, "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
			t := summed(c.Tensor(0))
			return onValues(t, define.Apply("pow.Tensor_Scalar", t.Sparse().Values, c.Args[1]))
		}),
	}
	for o, how := range ops.WithFact("sparse") {
		name := define.Unqualified(o.Name)
		switch how {
		case "coalesced": // it keeps zeros and is not linear: it acts on the sums at places
			forms[name], forms[name+"_"] = elementwiseForm(name, true), inPlaceCoalesced(name)
		case "places": // it acts on each value
			forms[name] = elementwiseForm(name, false)
		case "compressed": // it knows compressed layouts alone
			forms[name] = sparseRunning(func(c define.Call) {
				if c.Tensor(0).Layout() == tensor.SparseCOO {
					refuseSparse(define.Key(name), c.Tensor(0))
				}
				elementwiseForm(name, false)(c.Args, c.Out)
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
	return sparseGiving(func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		if sum {
			t = summed(t)
		}
		return onValues(t, define.Apply(name, onArguments(c, t.Sparse().Values)...))
	})
}

// onArguments returns the arguments of a call with another first one.
func onArguments(c define.Call, first *tensor.Tensor) []any {
	args := []any{first}
	for _, a := range c.Args[1:] {
		args = append(args, a)
	}
	return args
}

// inPlaceCoalesced writes the values of a tensor that has one at each place.
func inPlaceCoalesced(name string) sparseForm {
	form := elementwiseForm(name, true).inPlace(name + "_")
	return sparseRunning(func(c define.Call) {
		if t := c.Tensor(0); t.Layout() == tensor.SparseCOO {
			source.Check(t.Sparse().Coalesced, "%s_ requires coalesced input", name)
		}
		form(c.Args, c.Out)
	})
}

package autograd

import (
	"torchjit/gojit/ops"
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// Operators are those by which programs differentiate.
var Operators = []ops.Operator{
	{Name: "aten::backward", Run: func(args, out []value.Value) error {
		return Backward([]*tensor.Tensor{args[0].Tensor()}, tensorsOf(args[1]), optionsOf(args[2], args[3]))
	}},
	{Name: "aten::backward.TensorList", Run: func(args, out []value.Value) error {
		return Backward(tensorsOf(args[0]), tensorsOf(args[1]), optionsOf(args[2], args[3]))
	}},
	{Name: "aten::grad", Run: func(args, out []value.Value) error {
		o := optionsOf(args[3], args[4])
		o.AllowUnused = args[5].Bool()
		grads, err := Gradients(tensorsOf(args[0]), tensorsOf(args[1]), tensorsOf(args[2]), o)
		if err != nil {
			return err
		}
		out[0] = optionals(grads)
		return nil
	}},
}

// tensorsOf returns the tensors of a list, of one tensor or of None.
func tensorsOf(v value.Value) []*tensor.Tensor {
	if v.IsTensor() {
		return []*tensor.Tensor{v.Tensor()}
	}
	if v.IsNone() {
		return nil
	}
	items := v.List().Items
	ts := make([]*tensor.Tensor, len(items))
	for i, x := range items {
		if x.IsTensor() {
			ts[i] = x.Tensor()
		}
	}
	return ts
}

func optionsOf(retain, create value.Value) Options {
	o := Options{CreateGraph: create.Bool(), RetainGraph: create.Bool()}
	if !retain.IsNone() {
		o.RetainGraph = retain.Bool()
	}
	return o
}

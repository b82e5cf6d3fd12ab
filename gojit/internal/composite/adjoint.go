package composite

import (
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// linkAdjoints has operators that are the gradient of another one, which stands behind their schemas, run the other and differentiate it:
//
//	aten::prelu_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor) # adjoint_of=prelu
//
// They take the gradient of the result first, then the other's arguments in their order; the results are the gradients of its first tensors.
func linkAdjoints() {
	for o, of := range ops.WithFact("adjoint_of") {
		results, key := len(o.Schema().Returns), o.Name[len("aten::"):]
		linkRun(key, func(m *autograd.Mode, args, out []value.Value) error {
			inner, err := m.Expanding(key, args)
			if err != nil {
				return err
			}
			return adjoint(inner, ops.Find("aten::"+of), results, args, out)
		})
	}
}

// adjoint differentiates an operator at args[1:] with args[0] for the gradient of its result.
func adjoint(m *autograd.Mode, o *ops.Operator, results int, args, out []value.Value) error {
	m.SetGradEnabled(true)
	given := make([]value.Value, len(o.Schema().Arguments))
	var leaves []*tensor.Tensor
	again := args[0].Tensor().RequiresGrad()
	for i := range o.Schema().Arguments {
		a := &o.Schema().Arguments[i]
		if a.KwargOnly {
			given[i] = a.NewDefault()
			continue
		}
		given[i] = args[1+i]
		if len(leaves) == results || !given[i].IsTensor() {
			continue
		}
		x := given[i].Tensor()
		if again = again || x.RequiresGrad(); !x.RequiresGrad() {
			x = x.Detach()
			if err := x.SetRequiresGrad(true); err != nil {
				return err
			}
		}
		leaves = append(leaves, x)
		given[i] = value.OfTensor(x)
	}
	made := make([]value.Value, 1)
	if err := m.Run(o, given, made); err != nil {
		return err
	}
	grads, err := m.Gradients([]*tensor.Tensor{made[0].Tensor()}, leaves, []*tensor.Tensor{args[0].Tensor()}, autograd.Options{CreateGraph: again, RetainGraph: again, AllowUnused: true})
	if err != nil {
		return err
	}
	for i, g := range grads {
		if g == nil {
			zeros := []value.Value{value.OfTensor(leaves[i]), value.None, value.None, value.None, value.None, value.None}
			if err := ops.Find(aten.ZerosLike).Run(zeros, out[i:i+1]); err != nil {
				return err
			}
			continue
		}
		out[i] = value.OfTensor(g)
	}
	return nil
}

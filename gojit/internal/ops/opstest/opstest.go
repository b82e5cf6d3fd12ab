// Package opstest has what tests go over the operators' records with.
package opstest

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Records calls visit for each operator that has a record under its first name. The operators must be linked.
func Records(visit func(o *ops.Operator)) {
	for _, base := range ops.Names() {
		for _, o := range ops.Overloads(base) {
			if o.IsFunctional() {
				visit(o)
			}
		}
	}
}

// Sample makes arguments for an operator: tensors, which are made for their place among the arguments, numbers, else defaults. ok is false
// where an argument is of another kind.
func Sample(o *ops.Operator, make func(i int) *tensor.Tensor) (args []value.Value, ok bool) {
	for i, a := range o.Schema().Arguments {
		kind := a.Type.Kind()
		if optional, ok := a.Type.(*types.Optional); ok && (optional.Elem.Kind() == types.KindTensor || optional.Elem.Kind() == types.KindNumber) {
			kind = optional.Elem.Kind()
		}
		switch {
		case kind == types.KindTensor:
			args = append(args, value.OfTensor(make(i)))
		case a.HasDefault && kind != types.KindNumber:
			args = append(args, a.NewDefault())
		case kind == types.KindNumber:
			args = append(args, value.Float(0.25*float64(i+1)))
		default:
			return nil, false
		}
	}
	return args, true
}

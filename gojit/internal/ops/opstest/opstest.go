// Package opstest has what tests go over the operators' records with.
package opstest

import (
	"math"
	"math/rand/v2"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
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

// RandomTensor makes a tensor of numbers around zero.
func RandomTensor(r *rand.Rand, d tensor.DType, shape ...int) *tensor.Tensor {
	x := source.Must(tensor.Empty(shape, tensor.Float64))
	for i := range tensor.Data[float64](x) {
		tensor.Data[float64](x)[i] = r.Float64() - 0.5
	}
	return source.Must(x.To(d))
}

// LargestDifference is the largest one between elements at the same place.
func LargestDifference(a, b *tensor.Tensor) float64 {
	largest := 0.0
	x, y := numbersOf(a), numbersOf(b)
	for i := range x {
		largest = max(largest, math.Abs(x[i]-y[i]))
	}
	return largest
}

func numbersOf(t *tensor.Tensor) []float64 {
	return tensor.Data[float64](source.Must(source.Must(t.Contiguous()).To(tensor.Float64)))
}

// ForEachIndex calls f for every index into a shape.
func ForEachIndex(shape []int, f func(at []int)) {
	at := make([]int, len(shape))
	for range source.Must(tensor.CheckedProduct(shape...)) {
		f(at)
		for i := len(at) - 1; i >= 0; i-- {
			if at[i]++; at[i] < shape[i] {
				break
			}
			at[i] = 0
		}
	}
}

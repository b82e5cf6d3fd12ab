package aten

import (
	"testing"

	"torchjit/gojit/ops"
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// TestProductsOfHalvesAreRoundedOnce adds one to a sum that is half way between two numbers of the type.
func TestProductsOfHalvesAreRoundedOnce(t *testing.T) {
	for d, k := range map[tensor.DType]int{tensor.BFloat16: 257, tensor.Float16: 2049} {
		ones := func(shape ...int) *tensor.Tensor { return must(tensor.Full(shape, tensor.Int(1), d)) }
		for _, rows := range []int{1, 20} {
			out := make([]value.Value, 1)
			for name, args := range map[string][]value.Value{
				"linear": {value.OfTensor(ones(rows, k)), value.OfTensor(ones(40, k)), value.OfTensor(ones(40))},
				"addmm":  {value.OfTensor(ones(rows, 40)), value.OfTensor(ones(rows, k)), value.OfTensor(ones(k, 40)), value.Int(1), value.Int(1)},
			} {
				if err := ops.Find("aten::"+name).Run(args, out); err != nil {
					t.Fatal(err)
				}
				got := out[0].Tensor()
				if got.DType() != d || got.At(rows-1, 39).Float64() != float64(k+1) {
					t.Errorf("%s of %s: %v of type %s, want %d", name, d, got.At(rows-1, 39), got.DType(), k+1)
				}
			}
		}
	}
}

package vision

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// mixOnDevice makes each element along a dimension of some, on a device: the first tap of all, then the second, and so on.
func mixOnDevice(x *tensor.Tensor, dim int, taps [][]tap) *tensor.Tensor {
	most, plain := 1, true
	for _, own := range taps {
		most = max(most, len(own))
		plain = plain && len(own) == 1 && own[0].weight == 1
	}
	shape, across := slices.Clone(x.Shape()), slices.Repeat([]int{1}, x.Dim())
	shape[dim], across[dim] = len(taps), len(taps)
	var sum *tensor.Tensor
	for k := range most {
		places, weights := make([]int, len(taps)), make([]float64, len(taps))
		for i, own := range taps {
			if k < len(own) {
				places[i], weights[i] = own[k].index, own[k].weight
			}
		}
		part := indexing.SelectAlong(x, dim, elementwise.OnDeviceOf(x, places, len(places)), shape, func(int64) {})
		if plain {
			return part
		}
		factor := source.Must(elementwise.To(source.Must(tensor.FromSlice(weights, across...)), x.DType()).ToDevice(x.Device()))
		if part = elementwise.Mul.On(part, factor); sum != nil {
			part = elementwise.Add.On(sum, part)
		}
		sum = part
	}
	return sum
}

package vision

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// mixOnDevice makes each element along a dimension of some, on a device: the first tap of all, then the second, and so on.
func mixOnDevice(x *tensor.Tensor, dim int, t *taps) *tensor.Tensor {
	most, plain, n := 1, true, t.len()
	for i := range n {
		own := t.of(i)
		most = max(most, own.hi-own.lo)
		plain = plain && own.hi-own.lo == 1 && t.weights[own.lo] == 1
	}
	shape, across := slices.Clone(x.Shape()), slices.Repeat([]int{1}, x.Dim())
	shape[dim], across[dim] = n, n
	var sum *tensor.Tensor
	for k := range most {
		places, weights := make([]int, n), make([]float64, n)
		for i := range n {
			if own := t.of(i); own.lo+k < own.hi {
				places[i], weights[i] = t.inputs[own.lo+k], t.weights[own.lo+k]
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

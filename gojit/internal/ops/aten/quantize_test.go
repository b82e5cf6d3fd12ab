package aten

import (
	"math"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/quantized"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestDynamicLinear holds the quantized layer to values that PyTorch 1.13 computed.
func TestDynamicLinear(t *testing.T) {
	weight := source.Must(tensor.FromSlice([]float32{0.5, -0.25, 0.125, 1, 0.75, -1}, 2, 3))
	q := source.Must(tensor.Quantize(weight, &tensor.Quantizer{Scale: 1.0 / 127, ZeroPoint: 0}, tensor.QInt8))
	bias := source.Must(tensor.FromSlice([]float32{0.1, -0.2}, 2))
	x := source.Must(tensor.FromSlice([]float32{1, -2, 0.3, 0.7, 0.2, -0.9}, 2, 3))
	made, err := run(ops.Find("quantized::linear_prepack"), []value.Value{value.OfTensor(q), value.OfTensor(bias)})
	if err != nil {
		t.Fatal(err)
	}
	loaded := value.OfCapsule(&value.Capsule{Kind: quantized.PackedLinearKind, Native: true, Content: value.OfTuple(value.NewTuple(value.OfTensor(q), value.OfTensor(bias)))})
	for _, p := range []value.Value{made[0], loaded} {
		out, err := run(ops.Find("quantized::linear_dynamic"), []value.Value{value.OfTensor(x), p, value.Bool(false)})
		if err != nil {
			t.Fatal(err)
		}
		want := []float32{1.14641047, -1.00194538, 0.29268181, 1.54960632}
		for i, v := range tensor.Data[float32](out[0].Tensor()) {
			if math.Abs(float64(v-want[i])) > 1e-5 {
				t.Errorf("[%d] = %v, want %v", i, v, want[i])
			}
		}
	}
}

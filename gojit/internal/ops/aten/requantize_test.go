package aten

import (
	"fmt"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/quantized"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestRequantization(t *testing.T) {
	bias := source.Must(tensor.FromSlice([]float32{0, 0.25}, 2))
	x, weight := &tensor.Quantizer{Scale: 0.5}, &tensor.Quantizer{Scales: []float64{0.5, 1}, ZeroPoints: []int64{0, 0}}
	for _, c := range []struct {
		name      string
		bias      *tensor.Tensor
		rectified bool
		sum       float64
		channel   int
		want      float64
	}{
		{"a half goes to the even integer with the zero point added", nil, false, 2, 0, 4},
		{"a half above an even integer goes down", nil, false, 6, 0, 4},
		{"below zero too", nil, false, -2, 0, 2},
		{"each channel has its scale", nil, false, 3, 1, 4},
		{"the bias is in units of the sums", bias, false, 1, 1, 4},
		{"too large", nil, false, 10000, 0, 255},
		{"too small", nil, false, -10000, 0, 0},
		{"rectified at the zero point", nil, true, -10000, 0, 3},
	} {
		r := elementwise.NewRequantization(x, weight, c.bias, &tensor.Quantizer{Scale: 1, ZeroPoint: 3}, tensor.QUInt8, c.rectified)
		if got := r.At(c.sum, c.channel); got != c.want {
			t.Errorf("%s: %v becomes %v, want %v", c.name, c.sum, got, c.want)
		}
	}
}

// TestPackedConvState reads back the state that archives hold, and refuses what is none.
func TestPackedConvState(t *testing.T) {
	weight := source.Must(tensor.Quantize(define.Zeros([]int{4, 1, 3, 3}, tensor.Float32), &tensor.Quantizer{Scale: 1}, tensor.QInt8))
	made, err := run(ops.Find("quantized::conv2d_prepack"), []value.Value{value.OfTensor(weight), value.None,
		value.OfList(value.Ints([]int{2, 1})), value.OfList(value.Ints([]int{1, 0})), value.OfList(value.Ints([]int{1, 2})), value.Int(2)})
	if err != nil {
		t.Fatal(err)
	}
	state := made[0].Capsule().Content.(*quantized.PackedConv).State()
	loaded := value.OfCapsule(&value.Capsule{Kind: quantized.PackedConvKind(2), Native: true, Content: state})
	for name, want := range map[string]string{"stride": "[2 1]", "padding": "[1 0]", "dilation": "[1 2]", "groups": "2"} {
		out, err := run(ops.Find("quantized::conv2d_"+name), []value.Value{loaded})
		if err != nil || fmt.Sprint(geometryOf(out[0])) != want {
			t.Errorf("%s is %v (%v), want %s", name, out, err, want)
		}
	}
	for _, bad := range []value.Value{value.Str("2"), value.OfTuple(value.NewTuple(state.Tuple().Items[:2]...))} {
		if _, err := run(ops.Find("quantized::conv2d_unpack"), []value.Value{value.OfCapsule(&value.Capsule{Kind: quantized.PackedConvKind(2), Native: true, Content: bad})}); err == nil {
			t.Errorf("a value of the kind %s is no state of a packed convolution", bad.Kind())
		}
	}
}

func geometryOf(v value.Value) any {
	if v.Kind() == value.KindList {
		return v.List().AppendInts(nil)
	}
	return v.Int()
}

// TestQuantizerOwnsItsNumbers: the tensors of scales and zero points may be written or released.
func TestQuantizerOwnsItsNumbers(t *testing.T) {
	scales, zero := source.Must(tensor.FromSlice([]float64{0.5}, 1)), source.Must(tensor.FromSlice([]int64{1}, 1))
	out, err := run(ops.Find("aten::quantize_per_channel"), []value.Value{value.OfTensor(define.Zeros([]int{1}, tensor.Float32)),
		value.OfTensor(scales), value.OfTensor(zero), value.Int(0), value.Int(int64(tensor.QInt8))})
	if err != nil {
		t.Fatal(err)
	}
	tensor.Data[float64](scales)[0], tensor.Data[int64](zero)[0] = 9, 9
	if q := out[0].Tensor().Quantizer(); q.Scales[0] != 0.5 || q.ZeroPoints[0] != 1 {
		t.Errorf("the quantizer became %v", q)
	}
}

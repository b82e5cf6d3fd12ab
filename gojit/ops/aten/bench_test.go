package aten

import (
	"testing"

	"torchjit/gojit/ops"
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

func BenchmarkAddTensor(b *testing.B) {
	o := ops.Find("aten::add.Tensor")
	for _, c := range []struct {
		name  string
		shape []int
	}{{"4x4", []int{4, 4}}, {"1M", []int{1 << 20}}} {
		x, y := zeros(c.shape, tensor.Float32), zeros(c.shape, tensor.Float32)
		args := []value.Value{value.OfTensor(x), value.OfTensor(y), value.Int(1)}
		out := make([]value.Value, 1)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := o.Run(args, out); err != nil {
					b.Fatal(err)
				}
				out[0].Tensor().Release()
			}
		})
	}
}

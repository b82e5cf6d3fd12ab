package aten

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// A call of an operator that writes a small tensor in place takes nothing of Go's heap.
func TestSmallCallsAllocateNothing(t *testing.T) {
	o := ops.Find("aten::add_.Tensor")
	x, y := define.Zeros([]int{4, 4}, tensor.Float32), define.Zeros([]int{4, 4}, tensor.Float32)
	args, out := []value.Value{value.OfTensor(x), value.OfTensor(y), value.Int(1)}, make([]value.Value, 1)
	if n := testing.AllocsPerRun(100, func() {
		if err := o.Run(args, out); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations in a call", n)
	}
}

func BenchmarkAddTensor(b *testing.B) {
	o := ops.Find("aten::add.Tensor")
	for _, c := range []struct {
		name  string
		shape []int
	}{{"4x4", []int{4, 4}}, {"1M", []int{1 << 20}}} {
		x, y := define.Zeros(c.shape, tensor.Float32), define.Zeros(c.shape, tensor.Float32)
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

// BenchmarkSmall runs common operators on the sizes that small models and loops have, where the
// time is overhead.
func BenchmarkSmall(b *testing.B) {
	x, y := value.OfTensor(define.Zeros([]int{4, 4}, tensor.Float32)), value.OfTensor(define.Zeros([]int{4, 4}, tensor.Float32))
	row := value.OfTensor(define.Zeros([]int{4}, tensor.Float32))
	n, f := value.Int, value.Bool
	for _, c := range []struct {
		op   string
		args []value.Value
	}{
		{"add.Scalar", []value.Value{x, n(2), n(1)}}, {"add.Tensor", []value.Value{x, row, n(1)}}, {"add_.Tensor", []value.Value{x, y, n(1)}},
		{"relu", []value.Value{x}}, {"sigmoid", []value.Value{x}}, {"mm", []value.Value{x, y}}, {"linear", []value.Value{x, y, row}},
		{"sum", []value.Value{x, value.None}}, {"sum.dim_IntList", []value.Value{x, value.OfList(value.Ints([]int{1})), f(false), value.None}},
		{"softmax.int", []value.Value{x, n(-1), value.None}}, {"select.int", []value.Value{x, n(0), n(1)}}, {"t", []value.Value{x}},
		{"view", []value.Value{x, value.OfList(value.Ints([]int{2, 8}))}}, {"cat", []value.Value{value.OfList(value.Tensors([]*tensor.Tensor{x.Tensor(), y.Tensor()})), n(0)}},
		{"zeros", []value.Value{value.OfList(value.Ints([]int{4, 4})), value.None, value.None, value.None, value.None}}, {"argmax", []value.Value{row, value.None, f(false)}},
		{"item", []value.Value{value.OfTensor(define.Zeros(nil, tensor.Float32))}}, {"layer_norm", []value.Value{x, value.OfList(value.Ints([]int{4})), row, row, value.Float(1e-5), f(true)}},
	} {
		o := ops.Find("aten::" + c.op)
		out := make([]value.Value, len(o.Schema().Returns))
		b.Run(c.op, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := o.Run(c.args, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

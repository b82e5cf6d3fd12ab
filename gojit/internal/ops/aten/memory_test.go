package aten

import (
	"runtime"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestRepeatedCallsReuseMemory checks that a large result, given up or copied, is the memory of the next one.
func TestRepeatedCallsReuseMemory(t *testing.T) {
	parallel.SetNumThreads(1)
	defer parallel.SetNumThreads(0)
	const n = 512
	x, y, out := define.Zeros([]int{n, n}, tensor.Float32), define.Zeros([]int{n, n}, tensor.Float32), define.Zeros([]int{n, n}, tensor.Float32)
	a, b, o := value.OfTensor(x), value.OfTensor(y), value.OfTensor(out)
	for _, c := range []struct {
		op   string
		args []value.Value
	}{
		{"add.Tensor", []value.Value{a, b, value.Int(1)}},
		{"add.out", []value.Value{a, b, value.Int(1), o}},
		{"add_.Tensor", []value.Value{a, b, value.Int(1)}},
		{"exp.out", []value.Value{a, o}},
		{"eq.Tensor_out", []value.Value{a, b, o}},
		{"_softmax.out", []value.Value{a, value.Int(1), value.Bool(false), o}},
		{"cat", []value.Value{value.OfList(value.Tensors([]*tensor.Tensor{x, y})), value.Int(0)}},
		{"constant_pad_nd", []value.Value{a, value.OfList(value.Ints([]int{1, 1})), value.Int(0)}},
		{"tril", []value.Value{a, value.Int(0)}},
		{"flip.out", []value.Value{a, value.OfList(value.Ints([]int{0})), o}},
	} {
		op, results := ops.Find("aten::"+c.op), make([]value.Value, 1)
		run := func() {
			if err := op.Run(c.args, results); err != nil {
				t.Fatalf("%s: %v", c.op, err)
			}
			if r := results[0].Tensor(); r != x && r != out {
				r.Release()
			}
		}
		run()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			run()
		}
		runtime.ReadMemStats(&after)
		if bytes := (after.TotalAlloc - before.TotalAlloc) / 10; bytes > 4*n*n/2 {
			t.Errorf("%s allocates %d bytes in each call", c.op, bytes)
		}
	}
}

// TestOutThatIsAnInput checks out= tensors that share memory with an input or have another shape or type.
func TestOutThatIsAnInput(t *testing.T) {
	numbers := func(shape ...int) *tensor.Tensor {
		x := define.Empty(shape, tensor.Float32)
		for i := range tensor.Data[float32](x) {
			tensor.Data[float32](x)[i] = float32(i + 1)
		}
		return x
	}
	base := numbers(9)
	view := func(from int) *tensor.Tensor { return source.Must(base.AsStrided([]int{4}, []int{1}, from)) }
	for _, c := range []struct {
		name      string
		x, y, out *tensor.Tensor
		want      []float32
	}{
		{"another tensor", numbers(4), numbers(4), numbers(4), []float32{0, 0, 0, 0}},
		{"broadcast", numbers(2, 2), numbers(2), numbers(2, 2), []float32{0, 0, 2, 2}},
		{"both broadcast", numbers(2, 1), numbers(2), numbers(2, 2), []float32{0, -1, 1, 0}},
		{"empty", numbers(4), numbers(1), numbers(0), []float32{0, 1, 2, 3}},
		{"other memory of the storage", view(0), numbers(1), view(4), []float32{0, 1, 2, 3}},
		{"shifted", view(0), numbers(1), view(1), nil},
		{"float64", numbers(4), numbers(1), define.Zeros([]int{4}, tensor.Float64), []float32{0, 1, 2, 3}},
	} {
		args, result := []value.Value{value.OfTensor(c.x), value.OfTensor(c.y), value.Int(1), value.OfTensor(c.out)}, make([]value.Value, 1)
		version := c.out.Version()
		if err := ops.Find("aten::sub.out").Run(args, result); err != nil || c.want == nil {
			if err == nil || c.want != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		if got := tensor.Data[float32](elementwise.Contiguous(elementwise.To(c.out, tensor.Float32))); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if result[0].Tensor() != c.out || c.out.Version() == version {
			t.Errorf("%s: the result is not the out= tensor, or its version is the same", c.name)
		}
	}
}

// An operator may return an element of a list that it is given; copying it to out= must not release it.
func TestOutOfAListsElement(t *testing.T) {
	x := source.Must(tensor.Full([]int{20, 20}, tensor.Float(3), tensor.Float32))
	out, result := define.Zeros([]int{20, 20}, tensor.Float32), make([]value.Value, 1)
	for _, name := range []string{"chain_matmul.out", "cat.out", "hstack.out"} {
		args := []value.Value{value.OfList(value.Tensors([]*tensor.Tensor{x}))}
		if name == "cat.out" {
			args = append(args, value.Int(0))
		}
		if err := ops.Find("aten::"+name).Run(append(args, value.OfTensor(out)), result); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if x.Storage().NBytes() == 0 {
			t.Fatalf("%s released its argument", name)
		}
	}
}

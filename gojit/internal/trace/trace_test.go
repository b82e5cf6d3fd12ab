package trace_test

import (
	"context"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// run runs and records an operator, with defaults for the arguments that are left out.
func run(t *testing.T, r *trace.Recorder, name string, args ...value.Value) value.Value {
	t.Helper()
	o := ops.Find(name)
	for i := len(args); i < len(o.Schema().Arguments); i++ {
		args = append(args, o.Schema().Arguments[i].Default)
	}
	out := make([]value.Value, len(o.Schema().Returns))
	if err := o.Run(args, out); err != nil {
		t.Fatal(err)
	}
	if err := r.Record(o, args, out); err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func TestTraceRunsOnOtherValues(t *testing.T) {
	gojit.LinkOperators()
	r := trace.NewRecorder(nil)
	example, _ := tensor.FromSlice([]float32{1, 2}, 2)
	x, err := r.Input("x", value.OfTensor(example))
	if err != nil {
		t.Fatal(err)
	}
	y := run(t, r, "aten::add.Tensor", x, x)
	run(t, r, "aten::add_.Scalar", y, value.Int(1)) // y has a new value from here on
	z := run(t, r, "aten::mul.Tensor", y, x)
	f, err := r.Finish("f", value.OfTuple(value.NewTuple(z, y)))
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(f.Graph()); err != nil {
		t.Fatal(err)
	}
	if got := f.Graph().String(); !strings.Contains(got, "%x : Float(2, strides=[1], requires_grad=0, device=cpu)") {
		t.Errorf("got\n%s", got)
	}
	other, _ := tensor.FromSlice([]float32{3, 5}, 2)
	out, err := gojit.Run(context.Background(), f, value.OfTensor(other))
	if err != nil {
		t.Fatal(err)
	}
	if got := out.Tuple().Items[0].Tensor().At(1).Float64(); got != 55 {
		t.Errorf("(5 + 5 + 1) * 5 is %v", got)
	}
}

func TestWhatCannotBeTraced(t *testing.T) {
	r := trace.NewRecorder(nil)
	if _, err := r.Input("n", value.Int(3)); err == nil || !strings.Contains(err.Error(), "Type 'int' cannot be traced") {
		t.Errorf("got %v", err)
	}
	if _, err := r.Finish("f", value.OfDict(value.NewDict(types.Str, types.Int))); err == nil {
		t.Error("an empty dictionary was returned")
	}
	mixed := value.NewDict(types.Str, types.Any)
	x, _ := tensor.FromSlice([]float32{1}, 1)
	mixed.Set(value.Str("a"), value.OfTensor(x))
	mixed.Set(value.Str("b"), value.OfTuple(value.NewTuple(value.OfTensor(x))))
	if _, err := r.Finish("f", value.OfDict(mixed)); err == nil || !strings.Contains(err.Error(), "must have one type") {
		t.Errorf("a dictionary of mixed values: %v", err)
	}
}

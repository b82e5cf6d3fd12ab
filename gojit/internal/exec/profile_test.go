package exec_test

import (
	"context"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

const program = `graph(%x : Tensor, %y : Tensor):
  %a : Tensor = aten::mul(%x, %y)
  %b : Tensor = aten::tanh(%a)
  return (%b)
`

// call runs the function's next code on a tensor that requires a gradient or not, and returns the gradient's history.
func call(t *testing.T, e *exec.Engine, f *ir.Function, requiresGrad bool) (y *tensor.Tensor) {
	t.Helper()
	code, err := e.Code(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := tensor.FromSlice([]float32{1, 2}, 2)
	if err := x.SetRequiresGrad(requiresGrad); err != nil {
		t.Fatal(err)
	}
	other, _ := tensor.FromSlice([]float32{3, 0}, 2)
	var out [1]value.Value
	if err := code.Run(context.Background(), []value.Value{value.OfTensor(x), value.OfTensor(other)}, out[:]); err != nil {
		t.Fatal(err)
	}
	return out[0].Tensor()
}

func TestProfiledThenGuarded(t *testing.T) {
	gojit.LinkOperators()
	g, err := ir.Parse(program)
	if err != nil {
		t.Fatal(err)
	}
	f := ir.NewFunction("f", schema.MustParse("aten::f(Tensor x, Tensor y) -> Tensor"), g)
	e := exec.New(exec.Options{})
	e.Change(func(s *exec.Settings) { s.Profiling, s.ProfiledRuns = true, 2 })

	var kinds []string
	for range 3 {
		if y := call(t, e, f, true); !y.RequiresGrad() {
			t.Error("the result has no history")
		}
		text := e.Function(f).Executed().Text(false)
		if err := ir.Verify(e.Function(f).Executed()); err != nil {
			t.Error(err)
		}
		switch {
		case strings.Contains(text, "prim::profile"):
			kinds = append(kinds, "profile")
		case strings.Contains(text, "types=[Tensor(requires_grad=0), Tensor(requires_grad=1)]](%y, %x)") && strings.Contains(text, "prim::DifferentiableGraph_0"):
			kinds = append(kinds, "guard")
		}
	}
	if got := strings.Join(kinds, " "); got != "profile profile guard" {
		t.Errorf("the calls ran %q:\n%s", got, e.Function(f).Executed())
	}
	if y := call(t, e, f, false); y.RequiresGrad() || tensor.Data[float32](y)[1] != 0 {
		t.Errorf("where the guard fails the result is %v", y)
	}
	if strings.Contains(f.Graph().Text(false), "profile") {
		t.Error("the function's own graph has changed")
	}
}

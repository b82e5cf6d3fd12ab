package exec_test

import (
	"context"
	"slices"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TestGradientsRunAsShown trains a step three times and compares the nodes that the functions of the differentiable graph and of its gradient were made
// of with the graphs that are shown of them.
func TestGradientsRunAsShown(t *testing.T) {
	gojit.LinkOperators()
	p, err := gojit.Compile("f.py", "def f(x, y):\n    a, b = (torch.tanh(x * y) * 2 + x).chunk(2, 0)\n    return a * torch.sigmoid(b)\n")
	if err != nil {
		t.Fatal(err)
	}
	for _, grouping := range []bool{false, true} {
		e := gojit.New(exec.Options{}).Exec()
		e.Change(func(s *exec.Settings) { s.Profiling, s.Grouping = true, grouping })
		f := p.Function("f")
		for range 4 {
			step(t, e, f)
		}
		forward, backward := e.Function(f).Differentiable()
		if len(forward) != 1 || len(backward) != 1 {
			t.Fatalf("there are %d differentiable graphs and %d gradients\n%s", len(forward), len(backward), e.Function(f).Executed())
		}
		for _, part := range []*ir.Function{forward[0], backward[0]} {
			compareWithSteps(t, e, part, grouping)
		}
	}
}

// compareWithSteps compares the nodes that a function's code was made of with the graph that is shown.
func compareWithSteps(t *testing.T, e *exec.Engine, f *ir.Function, grouped bool) {
	t.Helper()
	isGroup := func(kind string) bool { return kind == "prim::TensorExprGroup" }
	plan, err := e.Function(f).Next(false, nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := e.Function(f).Executed()
	want := kinds(shown.Block())
	if slices.Contains(want, "prim::TensorExprGroup") != grouped {
		t.Errorf("grouped: %v, but what is shown is\n%s", grouped, shown)
	}
	ran := slices.DeleteFunc(plan.Code.Steps(), isGroup)
	slices.Sort(ran)
	if want = slices.DeleteFunc(want, isGroup); !slices.Equal(ran, want) {
		t.Errorf("the code ran\n%v\nbut what is shown has\n%v\n%s", ran, want, shown)
	}
}

// step calls the function and checks its gradient by x against that of its operators.
func step(t *testing.T, e *exec.Engine, f *ir.Function) {
	t.Helper()
	want := gradient(t, exec.New(exec.Options{AsDefined: true}), f)
	got := gradient(t, e, f)
	for i := range want {
		if d := got[i] - want[i]; d > 1e-6 || d < -1e-6 {
			t.Errorf("the gradient is %v, that of the operators %v", got, want)
		}
	}
}

func gradient(t *testing.T, e *exec.Engine, f *ir.Function) []float32 {
	t.Helper()
	code, err := e.Code(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	x, _ := tensor.FromSlice([]float32{0.5, -1, 2, 0.25}, 4)
	y, _ := tensor.FromSlice([]float32{1, 2, -0.5, 1}, 4)
	if err := x.SetRequiresGrad(true); err != nil {
		t.Fatal(err)
	}
	var out [1]value.Value
	if err := code.Run(context.Background(), []value.Value{value.OfTensor(x), value.OfTensor(y)}, out[:]); err != nil {
		t.Fatal(err)
	}
	ones, _ := tensor.FromSlice([]float32{1, 1}, 2)
	var m autograd.Mode
	if err := m.Backward([]*tensor.Tensor{out[0].Tensor()}, []*tensor.Tensor{ones}, autograd.Options{}); err != nil {
		t.Fatal(err)
	}
	return tensor.Data[float32](autograd.Grad(x))
}

package gojit_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestExportedProgramsKeepState(t *testing.T) {
	gojit.LinkOperators()
	g, err := ir.Parse(`graph(%count : Tensor, %x : Tensor):
  %1 : int = prim::Constant[value=1]()
  %more : Tensor = aten::add_(%count, %x, %1)
  %y : Tensor = aten::mul(%more, %x)
  return (%y)`)
	if err != nil {
		t.Fatal(err)
	}
	count, _ := tensor.FromSlice([]float32{0, 0}, 2)
	x, _ := tensor.FromSlice([]float32{1, 2}, 2)
	p, err := export.Capture(g, &export.Options{
		Inputs: []export.Input{
			{Spec: exportir.InputSpec{Kind: exportir.Buffer, Name: "b_count", Target: "count"}, Value: value.OfTensor(count), Parameter: g.Inputs()[0]},
			{Spec: exportir.InputSpec{Kind: exportir.UserInput, Name: "x"}, Value: value.OfTensor(x), Parameter: g.Inputs()[1]},
		},
		Results: []export.Result{{Spec: exportir.OutputSpec{Kind: exportir.UserOutput}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := (&exportir.Archive{Program: p, Tensors: map[string]*tensor.Tensor{"count": count}}).Write()
	if err != nil {
		t.Fatal(err)
	}
	e, err := gojit.ReadExported(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{4, 8} {
		out, err := e.Run(context.Background(), value.OfTensor(x))
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].Tensor().At(1).Float64(); len(out) != 1 || got != want {
			t.Errorf("got %v, not %v", got, want)
		}
	}
	if _, err := e.Run(context.Background()); err == nil {
		t.Error("a call without its input runs")
	}
}

// A program refuses what it was not captured for, by the names of its inputs.
func TestExportedProgramsCheckTheirInputs(t *testing.T) {
	p, err := gojit.Compile("f.py", `
def f(x, n: int):
    return x * n
`)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojit.ModuleOf(p.Unit.Functions()[0])
	if err != nil {
		t.Fatal(err)
	}
	e, err := m.Export([]float32{1, 2}, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x, n any
		want string
	}{
		{[]float32{1, 2}, 3, ""},
		{[]float32{1, 2, 3}, 3, "Expected input at x.shape[0] to be equal to 2, but got 3"},
		{[][]float32{{1, 2}}, 3, "Unexpected number of dimensions in input at x.shape (expected torch.Size([2]), got torch.Size([1, 2]))"},
		{[]float64{1, 2}, 3, "Expected input at x to have dtype torch.float32, but got torch.float64"},
		{[]float32{1, 2}, 4, "Expected input at n to be equal to 3, but got 4"},
	} {
		_, err := e.Call(context.Background(), "forward", c.x, c.n)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%v, %v: %v", c.x, c.n, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v, %v: %v, not %s", c.x, c.n, err, c.want)
		case c.want != "" && errs.FaultOf(err) != errs.CallerFault:
			t.Errorf("%v, %v: not the caller's fault", c.x, c.n)
		}
	}
}

// reread returns a program as it is read from what is written of it.
func reread(t *testing.T, e *gojit.Exported) *gojit.Exported {
	t.Helper()
	data, err := e.Write()
	if err != nil {
		t.Fatal(err)
	}
	again, err := gojit.ReadExported(data)
	if err != nil {
		t.Fatal(err)
	}
	return again
}

// A program that is exported says which containers its arguments and results form; parameters that keep their defaults are no inputs.
func TestExportDescribesContainers(t *testing.T) {
	p, err := gojit.Compile("nested.py", `
def nested(x, d: Dict[str, Tensor], pair: Tuple[Tensor, List[Tensor]], n: int = 2, scale: float = 1.0):
    return x + d["a"] * n, {"s": pair[1][0] * scale, "t": d["b"] - pair[0]}
`)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojit.ModuleOf(p.Unit.Functions()[0])
	if err != nil {
		t.Fatal(err)
	}
	one, two := []float32{1, 2}, []float32{3, 4}
	e, err := m.Export(one, map[string]any{"a": one, "b": two}, gojit.Keyword{Name: "scale", Value: 0.5}, gojit.Keyword{Name: "pair", Value: []any{two, []any{two}}})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"tuple","context":null,"children":[{"type":"tuple","context":null,"children":[null,{"type":"dict","context":["a","b"],"children":[null,null]}]},` +
		`{"type":"dict","context":["scale","pair"],"children":[null,{"type":"tuple","context":null,"children":[null,{"type":"list","context":null,"children":[null]}]}]}],` +
		`"names":["x","d","scale","pair"],"calls":{}}`
	if e.Program.InSpec != want {
		t.Errorf("the arguments are described as\n%s\nnot as\n%s", e.Program.InSpec, want)
	}
	if want := `{"type":"tuple","context":null,"children":[null,{"type":"dict","context":["s","t"],"children":[null,null]}]}`; e.Program.OutSpec != want {
		t.Errorf("the results are described as\n%s\nnot as\n%s", e.Program.OutSpec, want)
	}
	again := reread(t, e)
	s, err := again.Signature("forward")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range s.Parameters {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "x d_a d_b scale pair_0 pair_1_0" {
		t.Errorf("the inputs are %s", got)
	}
	out, err := again.Call(context.Background(), "forward", one, one, two, 0.5, two, two)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]float32{{3, 6}, {1.5, 2}, {0, 0}} {
		got, err := gojit.As[[]float32](out.Tuple().Items[i])
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("result %d is %v (%v), not %v", i, got, err, want)
		}
	}
}

// WithContainers takes and gives what the captured module took and gave; an argument that does not fit is the caller's error.
func TestExportedCallsInContainers(t *testing.T) {
	p, err := gojit.Compile("nested.py", `
def nested(x, d: Dict[str, Tensor], pair: Tuple[Tensor, List[Tensor]], scale: float = 1.0):
    return x + d["a"], {"s": pair[1][0] * scale, "t": d["b"] - pair[0]}, [x, (d["b"], pair[0])[0]]
`)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojit.ModuleOf(p.Unit.Functions()[0])
	if err != nil {
		t.Fatal(err)
	}
	one, two := []float32{1, 2}, []float32{3, 4}
	args := []any{one, map[string]any{"b": two, "a": one}, []any{two, [][]float32{two}}, gojit.Keyword{Name: "scale", Value: 0.5}}
	e, err := m.Export(args...)
	if err != nil {
		t.Fatal(err)
	}
	e = reread(t, e)
	out, err := e.Call(context.Background(), "forward", append(args, gojit.WithContainers())...)
	if err != nil {
		t.Fatal(err)
	}
	type result struct {
		Sum   []float32
		Named map[string][]float32
		List  [][]float32
	}
	got, err := gojit.As[result](out)
	want := result{[]float32{2, 4}, map[string][]float32{"s": {1.5, 2}, "t": {0, 0}}, [][]float32{{1, 2}, {3, 4}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %v (%v), not %v", got, err, want)
	}
	for _, c := range []struct {
		args []any
		says string
	}{
		{[]any{one, map[string]any{"a": one}, args[2], args[3]}, "found a Go map without the key 'b'"},
		{[]any{one, map[string]any{"a": one, "b": two, "c": two}, args[2], args[3]}, "found 3 keys, expected 2: a, b"},
		{[]any{one, args[1], []any{two}, args[3]}, "found 1 elements, expected 2"},
		{[]any{one, args[1], args[2]}, "missing a value for the argument 'scale'"},
	} {
		_, err := e.Call(context.Background(), "forward", append(c.args, gojit.WithContainers())...)
		if errs.FaultOf(err) != errs.CallerFault || !strings.Contains(err.Error(), c.says) {
			t.Errorf("the error is %v, not one with %q", err, c.says)
		}
	}
}

func TestExportOfArgumentsThatDoNotFit(t *testing.T) {
	p, err := gojit.Compile("add.py", "def add(x, y):\n    return x + y\n")
	if err != nil {
		t.Fatal(err)
	}
	m, err := gojit.ModuleOf(p.Unit.Functions()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]any{{[]float32{1}}, {[]float32{1}, gojit.Keyword{Name: "z", Value: 1}}, {[]float32{1}, []float32{1}, []float32{1}}} {
		if _, err := m.Export(args...); errs.FaultOf(err) != errs.CallerFault {
			t.Errorf("%v: %v", args, err)
		}
	}
}

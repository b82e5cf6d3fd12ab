package export_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// captured captures a graph whose parameters are float tensors of the given shapes.
func captured(t *testing.T, text string, o *export.Options, shapes ...[]int) (*exportir.Program, error) {
	t.Helper()
	gojit.LinkOperators()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, in := range g.Inputs() {
		x, err := tensor.Zeros(shapes[i], tensor.Float32)
		if err != nil {
			t.Fatal(err)
		}
		given := export.Input{Spec: exportir.InputSpec{Kind: exportir.UserInput, Name: in.Name()}, Value: value.OfTensor(x), Parameter: in}
		if i < len(o.Inputs) {
			given.Dims = o.Inputs[i].Dims
			o.Inputs[i] = given
		} else {
			o.Inputs = append(o.Inputs, given)
		}
	}
	for range g.Outputs() {
		o.Results = append(o.Results, export.Result{Spec: exportir.OutputSpec{Kind: exportir.UserOutput}})
	}
	return export.Capture(g, o)
}

// captureText captures a graph whose parameters are what inputs say.
func captureText(text string, inputs []export.Input) (*exportir.Program, error) {
	gojit.LinkOperators()
	g, err := ir.Parse(text)
	if err != nil {
		return nil, err
	}
	o := &export.Options{Inputs: inputs}
	for i, in := range g.Inputs() {
		o.Inputs[i].Parameter = in
	}
	for range g.Outputs() {
		o.Results = append(o.Results, export.Result{Spec: exportir.OutputSpec{Kind: exportir.UserOutput}})
	}
	return export.Capture(g, o)
}

// programTexts are programs with all kinds of nodes and arguments.
func programTexts(t testing.TB) []string {
	text, err := json.Marshal(archive(t).Program)
	if err != nil {
		t.Fatal(err)
	}
	whole := string(text)
	replace := func(from, to string) string { return strings.Replace(whole, from, to, 1) }
	return []string{whole, replace(`{"int":0}`, `{"list":[{"int":1},{"none":true}]}`), replace(`{"int":0}`, `{"float":"inf"}`), replace(`"sizes":[2]`, `"sizes":[["//",["+","s0",1],2]]`)}
}

const writes = `graph(%x : Tensor):
  %0 : int = prim::Constant[value=0]()
  %1 : int = prim::Constant[value=1]()
  %row : Tensor = aten::select(%x, %0, %1)
  %two : int = prim::Constant[value=2]()
  %changed : Tensor = aten::mul_(%row, %two)
  %none : NoneType = prim::Constant()
  %sum : Tensor = aten::sum(%x, %none)
  return (%sum)`

func TestWritesToViewsBecomeNewTensors(t *testing.T) {
	p, err := captured(t, writes, &export.Options{}, []int{3, 2})
	if err != nil {
		t.Fatal(err)
	}
	want := `graph():
    %x : [num_users=2] = placeholder[target=x]
    %select : [num_users=1] = call_function[target=torch.ops.aten.select.int](args = (%x, 0, 1), kwargs = {})
    %mul : [num_users=1] = call_function[target=torch.ops.aten.mul.Tensor](args = (%select, 2), kwargs = {})
    %select_scatter : [num_users=2] = call_function[target=torch.ops.aten.select_scatter.default](args = (%x, %mul, 0, 1), kwargs = {})
    %sum_1 : [num_users=1] = call_function[target=torch.ops.aten.sum.default](args = (%select_scatter,), kwargs = {})
    return (select_scatter, sum_1)
`
	if got := p.Graph.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if out := p.Signature.Outputs[0]; out.Kind != exportir.UserInputMutation || out.Target != "x" {
		t.Errorf("the first output is %+v", out)
	}
}

func TestProgramsGoThroughJSON(t *testing.T) {
	p, err := captured(t, writes, &export.Options{}, []int{3, 2})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var again exportir.Program
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if err := again.Check(); err != nil {
		t.Error(err)
	}
	if got, want := again.Graph.String(), p.Graph.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCheckRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*exportir.Program)
		want   string
	}{
		"an operator that writes": {func(p *exportir.Program) { p.Graph.Nodes[2].Target = "aten::mul_.Tensor" }, "is not functional"},
		"no such operator":        {func(p *exportir.Program) { p.Graph.Nodes[2].Target = "aten::mult" }, "is not registered"},
		"a node before its input": {func(p *exportir.Program) { p.Graph.Nodes[1], p.Graph.Nodes[2] = p.Graph.Nodes[2], p.Graph.Nodes[1] }, "which no node before it gives"},
		"no metadata":             {func(p *exportir.Program) { p.Graph.Nodes[2].Meta.Val = nil }, "missing the field val"},
		"a name twice":            {func(p *exportir.Program) { p.Graph.Nodes[2].Name = "x" }, "no name of its own"},
		"no output":               {func(p *exportir.Program) { p.Graph.Nodes = p.Graph.Nodes[:2] }, "one output node, at its end"},
		"another signature":       {func(p *exportir.Program) { p.Signature.Inputs[0].Name = "y" }, "in the signature"},
		"an unknown buffer":       {func(p *exportir.Program) { p.Signature.Outputs[0].Kind = exportir.BufferMutation }, "no such input"},
		"an unknown symbol": {func(p *exportir.Program) {
			s := symbolic.Symbol("s0")
			p.Graph.Nodes[2].Meta.Val.Sizes[0] = s
		}, "does not say the range"},
	} {
		p, err := captured(t, writes, &export.Options{}, []int{3, 2})
		if err != nil {
			t.Fatal(err)
		}
		test.change(p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package ir_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func TestNamesOfOlderValuesGetNumbers(t *testing.T) {
	g := ir.NewGraph()
	a := g.AddInput("x")
	b, err := g.Insert("aten::relu", ir.Arg(a))
	if err != nil {
		t.Fatal(err)
	}
	b.SetName("x")
	c, _ := g.Insert("aten::relu", ir.Arg(b))
	c.SetName("x")
	if a.Name() != "x.1" || b.Name() != "x.3" || c.Name() != "x" {
		t.Errorf("got %s, %s, %s", a.Name(), b.Name(), c.Name())
	}
}

func TestInsertChoosesOverloadAndFillsDefaults(t *testing.T) {
	g := ir.NewGraph()
	x := g.AddInput("x")
	sum, err := g.Insert("aten::add", ir.Arg(x), ir.Arg(g.Constant(value.Int(2), source.Range{})))
	if err != nil {
		t.Fatal(err)
	}
	pair, err := g.Insert("aten::max", ir.Arg(sum), ir.Arg(g.Constant(value.Int(0), source.Range{})))
	if err != nil {
		t.Fatal(err)
	}
	g.AddOutput(pair)
	want := `graph(%x : Tensor):
  %1 : int = prim::Constant[value=2]()
  %2 : int = prim::Constant[value=1]()
  %3 : Tensor = aten::add(%x, %1, %2)
  %4 : int = prim::Constant[value=0]()
  %5 : bool = prim::Constant[value=0]()
  %6 : Tensor, %7 : Tensor = aten::max(%3, %4, %5)
  %8 : NamedTuple(values : Tensor, indices : Tensor) = prim::TupleConstruct(%6, %7)
  return (%8)
`
	if got := g.String(); got != want {
		t.Errorf("got\n%s", got)
	}
	if err := ir.Verify(g); err != nil {
		t.Error(err)
	}
	if got := g.Copy().String(); got != want {
		t.Errorf("the copy is\n%s", got)
	}
}

func TestMatchErrorsNameEachOverload(t *testing.T) {
	g := ir.NewGraph()
	_, err := g.InsertAt(source.Range{}, "aten::relu", []ir.Argument{ir.ConstArg(value.Str("a"))}, nil)
	if err == nil || !strings.Contains(err.Error(), "Expected a value of type 'Tensor' for argument 'self' but instead found type 'str'") {
		t.Errorf("got %v", err)
	}
}

func TestEditsKeepUses(t *testing.T) {
	g := ir.NewGraph()
	a, b := g.AddInput("a"), g.AddInput("b")
	n := g.InsertNode(g.Create("aten::mul", []*ir.Value{a, b, a}, 1))
	n.RemoveInput(0)
	n.InsertInput(1, b)
	n.ReplaceInputWith(b, a)
	if len(a.Uses()) != 3 || b.HasUses() {
		t.Errorf("a has %d uses, b has %v", len(a.Uses()), b.HasUses())
	}
	loop := g.InsertNode(g.Create("prim::Loop", nil, 1))
	inner := loop.AddBlock()
	m := inner.Append(g.Create("aten::neg", []*ir.Value{n.Output()}, 1))
	inner.AddOutput(m.Output())
	if !n.IsBefore(m) || m.IsBefore(n) || !n.IsBefore(loop) || !loop.IsBefore(m) || !ir.Dominates(n, m) {
		t.Error("the order of nodes is wrong")
	}
	for range 200 {
		g.Create("aten::neg", []*ir.Value{a}, 1).InsertAfter(n)
	}
	if !n.IsBefore(loop) || !n.Next().IsBefore(loop.Prev()) {
		t.Error("the order of nodes is wrong after many insertions at one place")
	}
	g.AddOutput(loop.Output())
	loop.Output().SetType(types.Tensor)
	if err := ir.Verify(g); err != nil {
		t.Error(err)
	}
	g.Block().EraseOutput(0)
	loop.Destroy()
	if len(n.Output().Uses()) != 0 {
		t.Error("destroying a node leaves uses of its blocks behind")
	}
}

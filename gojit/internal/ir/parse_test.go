package ir_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

const loopGraph = `graph(%xs.1 : int[],
      %stop.1 : int,
      %t : Float(2, 3, strides=[3, 1], requires_grad=0, device=cpu)):
  %53 : int = prim::Constant[value=9223372036854775807]()
  %s : str = prim::Constant[value="a\nb"]()
  %n : NoneType = prim::Constant()
  %d : Device = prim::Constant[value="cpu"]()
  %f : float = prim::Constant[value=2.5]()
  %c : complex = prim::Constant[value=1.-2.j]()
  %z : Tensor = prim::Constant[value={3}]()
  %e : int[] = prim::Constant[value=annotate(List[int], [])]()
  %p : (int, str) = prim::Constant[value=(-1, "x")]()
  %5 : bool = prim::Constant[value=1]()
  %acc.1 : int = prim::Constant[value=0]()
  %acc : int = prim::Loop(%53, %5, %acc.1)
    block0(%6 : int, %acc.11 : int):
      %x.1 : int = aten::__getitem__(%xs.1, %6)
      %10 : bool = aten::eq(%x.1, %stop.1)
      %49 : int = prim::If(%10)
        block0():
          -> (%acc.11)
        block1():
          %acc.13 : int = aten::add(%acc.11, %x.1)
          -> (%acc.13)
      %i : bool = prim::isinstance[types=[int, str]](%49)
      -> (%10, %49)
   = prim::Print(%acc)
  return (%acc, %p)
`

func TestParseReadsWhatStringPrints(t *testing.T) {
	g, err := ir.Parse(strings.Replace(loopGraph, "%acc.11, %x.1)", "%acc.11, %x.1) # f.py:3:4", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := ir.Verify(g); err != nil {
		t.Error(err)
	}
	again, err := ir.Parse(g.String())
	if err != nil {
		t.Fatal(err)
	}
	if g.String() != again.String() {
		t.Errorf("got\n%s\nthen\n%s", g, again)
	}
	// Names survive; numbers are given anew.
	for _, part := range []string{"%acc.13 : int = aten::add(%acc.11, %x.1)", "annotate(List[int], [])", `(-1, "x")`, "Float(2, 3, strides=[3, 1]", "[types=[int, str]]"} {
		if !strings.Contains(g.String(), part) {
			t.Errorf("%s is missing in\n%s", part, g)
		}
	}
}

// TestParseErrorsShowThePlace: all but the end of the text.
func TestParseErrorsShowThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"graph(%x : Tensor):\n  return (%y)\n":                                    "Cannot find a variable with name 'y'",
		"graph(%x : Blah):\n  return (%x)\n":                                      "unknown type specifier",
		"graph():\n  %a : int = prim::Constant[value=x]()\n  return (%a)\n":       `"x" is no value of type int`,
		"graph():\n  %a : Tensor = prim::Constant[value=<Tensor>]()\n  return ()": "`parse_tensor_constants` set to false",
		"graph(":                        "expected % but found 'eof' here",
		"graph(%x):\n  return (%x\n":    "expected ) but found 'eof' here",
		"graph(%x):\n  %y = neg(%x)\n":  "expected : but found '(' here",
		"graph(%x : Dict(int)):\n":      "expected , but found ')' here",
		"graph(%x):\n  %y = a::b[x=]()": "Could not parse literal]",
	} {
		_, err := ir.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "<--- HERE") == strings.Contains(want, "eof") {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
}

// TestParseTakesTheLastDefinition: a name means the value that was defined last.
func TestParseTakesTheLastDefinition(t *testing.T) {
	g, err := ir.Parse("graph(%x : int):\n  %x : int = aten::neg(%x)\n  return (%x)\n")
	if err != nil {
		t.Fatal(err)
	}
	n := g.Block().First()
	if g.Outputs()[0] != n.Output() || n.Input(0) != g.Inputs()[0] {
		t.Errorf("read as\n%s", g)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(loopGraph)
	f.Fuzz(func(t *testing.T, text string) {
		g, err := ir.Parse(text)
		if err != nil {
			return
		}
		if err := ir.Verify(g); err != nil {
			t.Skip() // a use before its definition is read, and Verify says so
		}
		if _, err := ir.Parse(g.String()); err != nil {
			t.Fatalf("%v\n%s", err, g)
		}
	})
}

// TestParseReadsSubgraphs: what nodes run stands behind their graph, and has numbers of its own.
func TestParseReadsSubgraphs(t *testing.T) {
	const text = `graph(%x : Tensor):
  %y : Tensor = prim::DifferentiableGraph_0(%x)
  %z : Tensor = prim::TensorExprGroup_1[region=1](%y)
  return (%z)
with prim::DifferentiableGraph_0 = graph(%a : Tensor):
  %b : Tensor = prim::FallbackGraph_0(%a)
  return (%b)
with prim::FallbackGraph_0 = graph(%a : Tensor):
  %b : Tensor = aten::neg(%a)
  return (%b)
with prim::TensorExprGroup_1 = graph(%a : Tensor):
  %b : Tensor = aten::relu(%a)
  return (%b)
`
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if found := g.String(); found != text {
		t.Errorf("read and printed again:\n%s", found)
	}
	if inner := g.Block().First().GraphAttr("Subgraph"); g.Block().First().Kind() != "prim::DifferentiableGraph" || inner == nil {
		t.Errorf("the first node is %s", g.Block().First())
	}
	_, err = ir.Parse("graph(%x : Tensor):\n  return (%x)\nwith prim::X_0 = graph():\n  return ()\n")
	if err == nil || !strings.Contains(err.Error(), "no node of the text runs prim::X_0") {
		t.Errorf("a graph that no node runs: %v", err)
	}
}

// TestParseReadsSymbols: sizes that are symbols keep their numbers, and new symbols are others.
func TestParseReadsSymbols(t *testing.T) {
	g, err := ir.Parse("graph(%x : Float(SS(-7), 3, SS(-8)), %y : Float(SS(-7), *)):\n  return (%x, %y)\n")
	if err != nil {
		t.Fatal(err)
	}
	x, y := g.Inputs()[0].Type().(*types.TensorInfo), g.Inputs()[1].Type().(*types.TensorInfo)
	if x.Sizes[0] != -7 || x.Sizes[2] != -8 || y.Sizes[0] != -7 || y.Sizes[1] != -1 {
		t.Errorf("sizes %v and %v", x.Sizes, y.Sizes)
	}
	if n := types.NewSymbol(); n >= -8 {
		t.Errorf("%d is a new symbol", n)
	}
}

package ir_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
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

func TestParseErrorsShowThePlace(t *testing.T) {
	for text, want := range map[string]string{
		"graph(%x : Tensor):\n  return (%y)\n":                                    "Cannot find a variable with name 'y'",
		"graph(%x : Tensor, %x : int):\n  return (%x)\n":                          "defined twice",
		"graph(%x : Blah):\n  return (%x)\n":                                      `"Blah" is not a type`,
		"graph():\n  %a : int = prim::Constant[value=x]()\n  return (%a)\n":       `"x" is no value of type int`,
		"graph():\n  %a : Tensor = prim::Constant[value=<Tensor>]()\n  return ()": "cannot be read",
		"graph(": "expected",
	} {
		_, err := ir.Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "<--- HERE") {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
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

package ir_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
)

func parse(t *testing.T, text string) *ir.Graph {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

const (
	mulRelu = "graph(%x, %y):\n  %c = aten::mul(%x, %y)\n  %d = aten::relu(%c)\n  return (%d)"
	fused   = "graph(%x, %y):\n  %r = my::mulrelu(%x, %y)\n  return (%r)"
)

func TestPatternsAreReplaced(t *testing.T) {
	p, ok := ir.NewPattern(parse(t, mulRelu))
	if !ok {
		t.Fatal("not a pattern")
	}
	for _, c := range []struct {
		name, text string
		count      int
	}{
		{"once", "graph(%a, %b):\n  %c = aten::mul(%a, %b)\n  %d = aten::relu(%c)\n  return (%d)", 1},
		{"chain", "graph(%a, %b):\n  %c = aten::mul(%a, %b)\n  %d = aten::relu(%c)\n  %e = aten::mul(%d, %b)\n  %f = aten::relu(%e)\n  return (%f)", 2},
		{"used outside", "graph(%a, %b):\n  %c = aten::mul(%a, %b)\n  %d = aten::relu(%c)\n  return (%d, %c)", 0},
		{"other kind", "graph(%a, %b):\n  %c = aten::div(%a, %b)\n  %d = aten::relu(%c)\n  return (%d)", 0},
		{"in a block", "graph(%a, %b, %k : bool):\n  %r = prim::If(%k)\n    block0():\n      %c = aten::mul(%a, %b)\n      %d = aten::relu(%c)\n      -> (%d)\n    block1():\n      -> (%a)\n  return (%r)", 1},
		{"over a block", "graph(%a, %b, %k : bool):\n  %c = aten::mul(%a, %b)\n  %r = prim::If(%k)\n    block0():\n      %d = aten::relu(%c)\n      -> (%d)\n    block1():\n      -> (%a)\n  return (%r)", 0},
	} {
		g := parse(t, c.text)
		if n := p.ReplaceAll(g, parse(t, fused)); n != c.count {
			t.Errorf("%s: replaced %d times\n%s", c.name, n, g)
		}
		if err := ir.Verify(g); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, g)
		}
	}
}

func TestPatternsWithConstants(t *testing.T) {
	p, _ := ir.NewPattern(parse(t, "graph(%x):\n  %c : int = prim::Constant[value=2]()\n  %r = aten::mul(%x, %c)\n  return (%r)"))
	double := parse(t, "graph(%x):\n  %r = my::double(%x)\n  return (%r)")
	for text, want := range map[string]int{
		"graph(%a):\n  %k : int = prim::Constant[value=2]()\n  %r = aten::mul(%a, %k)\n  %s = aten::mul(%r, %k)\n  return (%s)": 2,
		"graph(%a):\n  %k : int = prim::Constant[value=3]()\n  %r = aten::mul(%a, %k)\n  return (%r)":                           0,
		"graph(%a):\n  %k : float = prim::Constant[value=2.]()\n  %r = aten::mul(%a, %k)\n  return (%r)":                        0,
	} {
		g := parse(t, text)
		if n := p.ReplaceAll(g, double); n != want {
			t.Errorf("replaced %d times, want %d\n%s", n, want, g)
		}
	}
}

func TestWhatIsNoPattern(t *testing.T) {
	for _, text := range []string{"graph(%x):\n  return (%x)", "graph(%x):\n  return ()", "graph(%x, %k : bool):\n  %r = prim::If(%k)\n    block0():\n      -> (%x)\n    block1():\n      -> (%x)\n  return (%r)"} {
		if _, ok := ir.NewPattern(parse(t, text)); ok {
			t.Errorf("%q is taken for a pattern", text)
		}
	}
}

// What replaces an occurrence stands behind its arguments, where nothing writes between them and the occurrence.
func TestReplacementsStandBehindTheirArguments(t *testing.T) {
	p, _ := ir.NewPattern(parse(t, mulRelu))
	for _, c := range []struct{ name, text, want string }{
		{"nothing between", "graph(%a, %b):\n  %n : NoneType = prim::Constant()\n  %c = aten::mul(%a, %b)\n  %d = aten::relu(%c)\n  return (%d, %n)",
			"graph(%a : Tensor,\n      %b : Tensor):\n  %r : Tensor = my::mulrelu(%a, %b)\n  %n : NoneType = prim::Constant()\n  return (%r, %n)\n"},
		{"a write between", "graph(%a, %b):\n  %n = aten::relu_(%a)\n  %c = aten::mul(%a, %b)\n  %d = aten::relu(%c)\n  return (%d)",
			"graph(%a : Tensor,\n      %b : Tensor):\n  %n : Tensor = aten::relu_(%a)\n  %r : Tensor = my::mulrelu(%a, %b)\n  return (%r)\n"},
	} {
		g := parse(t, c.text)
		if p.ReplaceAll(g, parse(t, fused)); g.Text(false) != c.want {
			t.Errorf("%s: got\n%s", c.name, g.Text(false))
		}
	}
}

func TestPatternsWithSeveralResults(t *testing.T) {
	p, ok := ir.NewPattern(parse(t, "graph(%x):\n  %c = aten::neg(%x)\n  %d = aten::relu(%c)\n  return (%c, %d)"))
	g := parse(t, "graph(%a):\n  %c = aten::neg(%a)\n  %d = aten::relu(%c)\n  %e = aten::mul(%c, %d)\n  return (%e)")
	two := parse(t, "graph(%x):\n  %a, %b = my::two(%x)\n  return (%a, %b)")
	if !ok || p.ReplaceAll(g, two) != 1 {
		t.Fatal("not replaced")
	}
	if want := "graph(%a.1 : Tensor):\n  %a : Tensor, %b : Tensor = my::two(%a.1)\n  %e : Tensor = aten::mul(%a, %b)\n  return (%e)\n"; g.Text(false) != want {
		t.Errorf("got\n%s", g.Text(false))
	}
}

package ir

import "testing"

func TestSpareMakesTheNextGraph(t *testing.T) {
	g := NewGraphFrom(&NodePool{})
	in := g.AddInput("x")
	dead := g.InsertNode(g.Create("aten::neg", []*Value{in}, 1))
	kept := g.InsertNode(g.Create("aten::abs", []*Value{in}, 1))
	g.AddOutput(kept.Output())
	dead.Destroy()

	h := NewGraphFrom(g.Recycle())
	y := h.AddInput("y")
	n := h.InsertNode(h.Create("aten::sin", []*Value{y}, 1))
	h.AddOutput(n.Output())
	another := h.InsertNode(h.Create("aten::cos", []*Value{y}, 1))
	if h.Block().ParamNode() != dead && n != dead && another != dead {
		t.Error("the destroyed node is not used again")
	}
	for _, x := range []*Graph{g, h} {
		if err := Verify(x); err != nil {
			t.Error(err)
		}
	}
	if got, want := g.String(), "graph(%x : Tensor):\n  %2 : Tensor = aten::abs(%x)\n  return (%2)\n"; got != want {
		t.Errorf("the first graph is now\n%s, want\n%s", got, want)
	}
}

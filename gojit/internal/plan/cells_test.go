package plan

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
)

// TestCellsAreRestored: a step of an LSTM gets a branch with the operator, whose results all that follows reads, and two steps read each other's. What
// reads something between, and a step of other numbers, stay as they are.
func TestCellsAreRestored(t *testing.T) {
	step := func(text, from, to string) string {
		if !strings.Contains(text, from) {
			t.Fatalf("no %q", from)
		}
		return strings.Replace(text, from, to, 1)
	}
	again := lstmText[strings.Index(lstmText, "  %h : Tensor"):strings.Index(lstmText, "  return")]
	for _, name := range []string{"h", "x", "sum", "parts", "a", "b", "c", "d", "in", "forget", "cell", "out", "kept", "added", "next_memory", "active", "next_hidden"} {
		again = strings.ReplaceAll(strings.ReplaceAll(again, "%"+name+" ", "%"+name+"2 "), "%"+name+",", "%"+name+"2,")
		again = strings.ReplaceAll(again, "%"+name+")", "%"+name+"2)")
	}
	again = strings.ReplaceAll(strings.ReplaceAll(again, "%hidden", "%next_hidden"), "%memory", "%next_memory")
	for _, c := range []struct {
		name, text string
		cells      int
	}{
		{"one", lstmText, 1},
		{"constants between", step(lstmText, "  %x : Tensor", "  %2 : int = prim::Constant[value=3]()\n  %x : Tensor"), 1},
		{"two", step(lstmText, "  return (%next_hidden, %next_memory)", again+"  return (%next_hidden2, %next_memory2)"), 2},
		{"read between", step(lstmText, "return (%next_hidden, %next_memory)", "return (%next_hidden, %kept)"), 0},
		{"the products alone", lstmText[:strings.Index(lstmText, "  %sum")] + "  return (%h, %x)\n", 0},
		{"another number", step(lstmText, "%kept, %added, %one", "%kept, %added, %four"), 0},
		{"another gate", step(lstmText, "aten::mul(%forget", "aten::mul(%in"), 0},
		{"another operator", step(lstmText, "aten::tanh_(%c)", "aten::relu_(%c)"), 0},
		{"something between", step(lstmText, "  %x : Tensor", "  %2 : Tensor = aten::add_(%input, %one, %one)\n  %x : Tensor"), 0},
	} {
		g, err := ir.Parse(c.text)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if changed := RestoreCells(g); changed != (c.cells > 0) {
			t.Errorf("%s: changed: %v", c.name, changed)
		}
		if err := ir.Verify(g); err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, g)
		}
		cells := 0
		g.Block().Walk(func(n *ir.Node) {
			if n.Kind() == aten.LstmCell {
				cells++
			}
		})
		if cells != c.cells {
			t.Errorf("%s: %d cells\n%s", c.name, cells, g)
		}
		for _, v := range g.Outputs() {
			if c.cells > 0 && v.Node().Kind() != prim.If {
				t.Errorf("%s: a result is not the choice's\n%s", c.name, g)
			}
		}
	}
}

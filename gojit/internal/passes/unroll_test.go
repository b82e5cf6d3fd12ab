package passes

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// What unrolling the inner loop leaves shows that nobody needs the outer one, which goes while its blocks are looked through.
func TestUnrollWithinWhatIsDead(t *testing.T) {
	g, err := ir.Parse(`graph(%x : Tensor, %n : int):
  %on : bool = prim::Constant[value=1]()
  %two : int = prim::Constant[value=2]()
  %one : int = prim::Constant[value=1]()
  %dead : Tensor = prim::Loop(%n, %on, %x)
    block0(%i : int, %a : Tensor):
      %b : Tensor = prim::Loop(%two, %on, %a)
        block0(%j : int, %c : Tensor):
          %d : Tensor = aten::add(%x, %one, %one)
          -> (%on, %d)
      -> (%on, %b)
  %more : Tensor = prim::Loop(%two, %on, %x)
    block0(%k : int, %e : Tensor):
      %f : Tensor = aten::add(%e, %one, %one)
      -> (%on, %f)
  return (%more)`)
	if err != nil {
		t.Fatal(err)
	}
	if !UnrollLoops(g) {
		t.Error("nothing was unrolled")
	}
	if err := ir.Verify(g); err != nil {
		t.Error(err)
	}
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == "prim::Loop" {
			t.Errorf("a loop is left:\n%s", g)
		}
	})
}

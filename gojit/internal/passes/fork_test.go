package passes

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
)

func TestLiftForks(t *testing.T) {
	g, err := ir.Parse(`graph(%x : Tensor, %k : int):
  %c : NoneType = prim::Closure()
    block0():
      %y : Tensor = aten::mul(%x, %k)
      %z : Tensor = aten::mul(%y, %x)
      -> (%z)
  %f : Future[Tensor] = prim::forkClosure(%c)
  %r : Tensor = aten::wait(%f)
  return (%r)
`)
	if err != nil {
		t.Fatal(err)
	}
	LiftForks(g)
	if err := ir.Verify(g); err != nil {
		t.Error(err)
	}
	want := `graph(%x : Tensor,
      %k : int):
  %f : Future[Tensor] = prim::fork_0(%x, %k)
  %r : Tensor = aten::wait(%f)
  return (%r)
with prim::fork_0 = graph(%x : Tensor,
      %k : int):
  %y : Tensor = aten::mul(%x, %k)
  %z : Tensor = aten::mul(%y, %x)
  return (%z)
`
	if got := g.String(); got != want {
		t.Errorf("got\n%s", got)
	}
}

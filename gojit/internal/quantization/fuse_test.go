package quantization

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
)

func fused(t *testing.T, text string) string {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	Fuse(g, Static)
	if err := ir.Verify(g); err != nil {
		t.Fatal(err)
	}
	return g.String()
}

func TestFuseReplacesSumsOfRoundedTensors(t *testing.T) {
	got := fused(t, `graph(%a : Tensor, %b : Tensor, %s : float, %z : int, %t : int):
  %one : int = prim::Constant[value=1]()
  %x : Tensor = aten::dequantize(%a)
  %y : Tensor = aten::dequantize(%b)
  %c : Tensor = aten::add(%x, %y, %one)
  %d : Tensor = aten::relu(%c)
  %q : Tensor = aten::quantize_per_tensor(%d, %s, %z, %t)
  return (%q)`)
	want := `graph(%a : Tensor,
      %b : Tensor,
      %s : float,
      %z : int,
      %t : int):
  %one : int = prim::Constant[value=1]()
  %11 : Tensor = quantized::add_relu(%a, %b, %s, %z)
  return (%11)
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

// A factor of the second operand is no part of quantized::add.
func TestFuseLeavesScaledSums(t *testing.T) {
	text := `graph(%a : Tensor,
      %s : float,
      %z : int,
      %t : int):
  %two : int = prim::Constant[value=2]()
  %x : Tensor = aten::dequantize(%a)
  %c : Tensor = aten::add(%x, %x, %two)
  %q : Tensor = aten::quantize_per_tensor(%c, %s, %z, %t)
  return (%q)
`
	if got := fused(t, text); got != text {
		t.Errorf("got\n%s", got)
	}
}

// A list that is filled later is read where the operator was.
func TestFuseKeepsThePlaceBehindWrites(t *testing.T) {
	got := fused(t, `graph(%a : Tensor, %n : int):
  %x : Tensor = aten::dequantize(%a)
  %l : int[] = prim::ListConstruct()
  %m : int[] = aten::append(%l, %n)
  %y : Tensor = aten::adaptive_avg_pool1d(%x, %l)
  %s : float = aten::q_scale(%a)
  %z : int = aten::q_zero_point(%a)
  %t : int = prim::dtype(%a)
  %q : Tensor = aten::quantize_per_tensor(%y, %s, %z, %t)
  return (%q)`)
	want := `graph(%a : Tensor,
      %n : int):
  %l : int[] = prim::ListConstruct()
  %m : int[] = aten::append(%l, %n)
  %10 : Tensor = aten::adaptive_avg_pool1d(%a, %l)
  return (%10)
`
	if got != want {
		t.Errorf("got\n%s", got)
	}
}

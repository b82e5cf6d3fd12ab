package fuse

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestConstantTensorsBecomeNumbers(t *testing.T) {
	g, err := ir.Parse("graph(%x : Tensor, %c : Tensor):\n  %y : Tensor = aten::mul(%x, %c)\n  %z : Tensor = aten::mul(%c, %y)\n  return (%z)")
	if err != nil {
		t.Fatal(err)
	}
	g.SetInsertPoint(g.Block().First())
	c := g.Constant(value.OfTensor(tensor.FromScalar(tensor.Float(2), tensor.Float64)), source.Range{})
	g.Inputs()[1].ReplaceAllUsesWith(c)
	if !ConstantsToNumbers(g) {
		t.Fatal("nothing changed")
	}
	text := g.Text(false)
	if !strings.Contains(text, "float = prim::Constant[value=2.]()") || strings.Count(text, "aten::mul(%x") != 1 || ConstantsToNumbers(g) {
		t.Errorf("%s", text)
	}
}

package exec_test

import (
	"context"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Whether operators meet layers is decided once for a call, and again where the program changes the mode; equal nodes in different modes stay two.
func TestModesThatChangeInACall(t *testing.T) {
	gojit.LinkOperators()
	g, err := ir.Parse(`graph(%x : Tensor):
  %on : bool = prim::Constant[value=1]()
  %off : bool = prim::Constant[value=0]()
  %none : NoneType = prim::Constant()
  %a : Tensor = aten::mm(%x, %x)
  %sum_a : Tensor = aten::sum(%a, %none)
   = aten::set_grad_enabled(%on)
  %b : Tensor = aten::mm(%x, %x)
  %sum_b : Tensor = aten::sum(%b, %none)
   = aten::set_grad_enabled(%off)
  %c : Tensor = aten::mm(%x, %x)
  %sum_c : Tensor = aten::sum(%c, %none)
  %r : (Tensor, Tensor, Tensor) = prim::TupleConstruct(%sum_a, %sum_b, %sum_c)
  return (%r)
`)
	if err != nil {
		t.Fatal(err)
	}
	f := ir.NewFunction("f", schema.MustParse("aten::f(Tensor x) -> (Tensor, Tensor, Tensor)"), g)
	x, _ := tensor.FromSlice([]float32{1}, 1, 1)
	if err := x.SetRequiresGrad(true); err != nil {
		t.Fatal(err)
	}
	for _, o := range []exec.Options{{}, {AsDefined: true}} {
		m := &autograd.Mode{}
		m.SetGradEnabled(false)
		code, err := exec.New(o).Code(f, nil)
		if err != nil {
			t.Fatal(err)
		}
		var out [1]value.Value
		if err := code.Run(autograd.WithMode(context.Background(), m), []value.Value{value.OfTensor(x)}, out[:]); err != nil {
			t.Fatal(err)
		}
		for i, want := range []bool{false, true, false} {
			if got := out[0].Tuple().Items[i].Tensor().RequiresGrad(); got != want {
				t.Errorf("as defined %v: result %d requires a gradient: %v", o.AsDefined, i, got)
			}
		}
	}
}

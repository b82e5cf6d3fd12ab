package gojit_test

import (
	"context"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestExportedProgramsKeepState(t *testing.T) {
	gojit.LinkOperators()
	g, err := ir.Parse(`graph(%count : Tensor, %x : Tensor):
  %1 : int = prim::Constant[value=1]()
  %more : Tensor = aten::add_(%count, %x, %1)
  %y : Tensor = aten::mul(%more, %x)
  return (%y)`)
	if err != nil {
		t.Fatal(err)
	}
	count, _ := tensor.FromSlice([]float32{0, 0}, 2)
	x, _ := tensor.FromSlice([]float32{1, 2}, 2)
	p, err := export.Capture(g, &export.Options{
		Inputs: []export.Input{
			{Spec: export.InputSpec{Kind: export.Buffer, Name: "b_count", Target: "count"}, Value: value.OfTensor(count), Parameter: g.Inputs()[0]},
			{Spec: export.InputSpec{Kind: export.UserInput, Name: "x"}, Value: value.OfTensor(x), Parameter: g.Inputs()[1]},
		},
		Results: []export.Result{{Spec: export.OutputSpec{Kind: export.UserOutput}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	data, err := (&export.Archive{Program: p, Tensors: map[string]*tensor.Tensor{"count": count}}).Write()
	if err != nil {
		t.Fatal(err)
	}
	e, err := gojit.ReadExported(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []float64{4, 8} {
		out, err := e.Run(context.Background(), value.OfTensor(x))
		if err != nil {
			t.Fatal(err)
		}
		if got := out[0].Tensor().At(1).Float64(); len(out) != 1 || got != want {
			t.Errorf("got %v, not %v", got, want)
		}
	}
	if _, err := e.Run(context.Background()); err == nil {
		t.Error("a call without its input runs")
	}
}

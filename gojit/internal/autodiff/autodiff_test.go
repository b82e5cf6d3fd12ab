package autodiff_test

import (
	"fmt"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/autodiff"
	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// TestDifferentiate holds the two graphs of a gradient, and the second one made ready to run, to the archives.
func TestDifferentiate(t *testing.T) {
	gojit.LinkOperators()
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		g, err := ir.Parse(c.Input("in.ir"))
		if err != nil {
			t.Fatal(err)
		}
		d, err := autodiff.Differentiate(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, made := range []*ir.Graph{d.F, d.DF} {
			if err := ir.Verify(made); err != nil {
				t.Error(err)
			}
		}
		c.Check("out/f", d.F.Text(false))
		c.Check("out/df", d.DF.Text(false))
		c.Check("out/parts", fmt.Sprintf("%d %v %v %v %v\n", d.FRealOutputs, d.DFInputVJPs, d.DFInputCapturedInputs, d.DFInputCapturedOutputs, d.DFOutputVJPs))
		if autodiff.Lower(d.DF); ir.Verify(d.DF) != nil {
			t.Error(ir.Verify(d.DF))
		}
		c.Check("out/lowered", d.DF.Text(false))
	})
}

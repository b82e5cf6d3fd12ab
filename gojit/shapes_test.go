package gojit_test

import (
	"testing"

	"torchjit/gojit"
	"torchjit/gojit/internal/golden"
	"torchjit/gojit/ir"
	"torchjit/gojit/passes"
)

// TestPropagateShapes stands here because the pass runs operators.
func TestPropagateShapes(t *testing.T) {
	gojit.LinkOperators()
	golden.Run(t, "testdata/shapes/*.txtar", func(t *testing.T, c *golden.Case) {
		g, err := ir.Parse(c.Input("in.ir"))
		if err != nil {
			t.Fatal(err)
		}
		if !passes.PropagateShapes(g) {
			t.Error("nothing has changed")
		}
		if err := ir.Verify(g); err != nil {
			t.Error(err)
		}
		c.Check("out/propagate-shapes", g.Text(false))
		if passes.PropagateShapes(g) {
			t.Error("it changes the graph when it runs again")
		}
	})
}

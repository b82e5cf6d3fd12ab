package gojit_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
)

// TestPropagation of shapes, element types and devices stands here because the passes run operators.
func TestPropagation(t *testing.T) {
	gojit.LinkOperators()
	golden.Run(t, "testdata/shapes/*.txtar", func(t *testing.T, c *golden.Case) {
		for _, name := range []string{"propagate-shapes", "propagate-dtypes", "propagate-devices"} {
			if !c.Has("out/" + name) {
				continue
			}
			g, err := ir.Parse(c.Input("in.ir"))
			if err != nil {
				t.Fatal(err)
			}
			pass := parity.Find(name)
			if !pass.Run(g) {
				t.Errorf("%s: nothing has changed", name)
			}
			if err := ir.Verify(g); err != nil {
				t.Error(err)
			}
			c.Check("out/"+name, g.Text(false))
			if pass.Run(g) {
				t.Errorf("%s changes the graph when it runs again", name)
			}
		}
	})
}

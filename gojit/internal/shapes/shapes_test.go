package shapes_test

import (
	"fmt"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/shapes"
)

// TestPropagate holds what sizes a graph's tensors have, and how they are computed, to the archives.
func TestPropagate(t *testing.T) {
	gojit.LinkOperators()
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		g, err := ir.Parse(c.Input("in.ir"))
		if err != nil {
			t.Fatal(err)
		}
		made, err := shapes.Propagate(g, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		c.Check("out/types", g.Text(false))
		c.Check("out/computation", made.Graph.Text(false))
		if len(made.Symbols) != len(made.Graph.Outputs()) {
			t.Errorf("%d symbols for %d outputs", len(made.Symbols), len(made.Graph.Outputs()))
		}
	})
}

// TestFunctions: every operator of the table is one, and its function compiles and takes no more than its arguments.
func TestFunctions(t *testing.T) {
	gojit.LinkOperators()
	operators, names := shapes.Operators()
	for i, name := range operators {
		if err := shapes.Check(name); err != nil {
			t.Error(fmt.Errorf("%s of %s: %w", names[i], name, err))
		}
	}
}

package parity_test

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
)

// TestPasses runs the passes that an archive's sections name over its graph.
func TestPasses(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		for _, p := range parity.All {
			if !c.Has("out/" + p.Name) {
				continue
			}
			g, err := ir.Parse(c.Input("in.ir"))
			if err != nil {
				t.Fatal(err)
			}
			before := g.Text(false)
			changed := p.Run(g)
			if err := ir.Verify(g); err != nil {
				t.Errorf("%s: %v\n%s", p.Name, err, g)
			}
			if after := g.Text(false); changed != (after != before) {
				t.Errorf("%s says that it changed the graph: %v, but it did: %v", p.Name, changed, after != before)
			}
			c.Check("out/"+p.Name, g.Text(false))
			again := strings.Contains(p.Name, "unrolling") || p.Name == "conv1d-to-conv2d" // which makes the lists of the last run constants
			if p.Run(g) && !again {
				t.Errorf("%s changes the graph when it runs again", p.Name)
			}
		}
	})
}

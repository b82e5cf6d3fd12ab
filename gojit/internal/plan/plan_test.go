package plan

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestMain(m *testing.M) {
	if err := ops.Register(aten.Operators()); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// TestRegions shows the regions of graphs, and the plan of each for tensors of the shapes that the section "shapes" lists: a line for each
// input of the region.
func TestRegions(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		g, err := ir.Parse(c.Input("in.ir"))
		if err != nil {
			t.Fatal(err)
		}
		Regions(g)
		if err := ir.Verify(g); err != nil {
			t.Errorf("%v\n%s", err, g)
		}
		c.Check("out/regions", g.Text(false))
		if Regions(g) {
			t.Error("it finds a region in what it has joined")
		}
		var plans strings.Builder
		for _, n := range g.Block().Nodes() {
			if IsRegion(n) {
				plans.WriteString(planText(t, n, c.Input("shapes")))
			}
		}
		c.Check("out/plan", plans.String())
	})
}

func planText(t *testing.T, n *ir.Node, shapes string) string {
	p, ok := newProgram(n)
	if !ok {
		return "none\n"
	}
	values := make([]*tensor.Tensor, p.values)
	lines := strings.Split(strings.TrimSpace(shapes), "\n")
	if len(lines) != p.inputs {
		t.Fatalf("a region of %d inputs, %d shapes", p.inputs, len(lines))
	}
	for i, line := range lines {
		var shape []int
		for _, word := range strings.Fields(line) {
			size, err := strconv.Atoi(word)
			if err != nil {
				t.Fatal(err)
			}
			shape = append(shape, size)
		}
		var err error
		if values[i], err = tensor.EmptyMeta(shape, tensor.Float32); err != nil {
			t.Fatal(err)
		}
	}
	found, err := p.shapesOf(values)
	if err != nil {
		return err.Error() + "\n"
	}
	return p.build(found, true).String()
}

package plan

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func TestMain(m *testing.M) {
	if err := ops.Register(append(prim.Families(), aten.Operators())...); err != nil {
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
		fuse.Fuse(g) // what runs where a plan cannot
		var plans strings.Builder
		for _, n := range g.Block().Nodes() {
			if IsRegion(n) {
				plans.WriteString(planText(t, n, c.Input("shapes")))
			}
		}
		if asm.Target() >= asm.AVX2 { // else windows have no steps of their own
			c.Check("out/plan", plans.String())
		}
	})
}

func planText(t *testing.T, n *ir.Node, shapes string) string {
	p, why := newProgram(n)
	if p == nil {
		return why + "\n"
	}
	in := given{tensors: make([]*tensor.Tensor, p.inputs+len(p.constants)), numbers: make([]value.Value, p.inputs)}
	copy(in.tensors[p.inputs:], p.constants)
	lines := strings.Split(strings.TrimSpace(shapes), "\n")
	if len(lines) != p.inputs {
		t.Fatalf("a region of %d inputs, %d shapes", p.inputs, len(lines))
	}
	for i, line := range lines {
		if number, isNumber := strings.CutPrefix(line, "= "); isNumber {
			in.numbers[i] = value.Int(int64(atoi(t, number)))
			continue
		}
		var shape []int
		for _, word := range strings.Fields(line) {
			shape = append(shape, atoi(t, word))
		}
		var err error
		if in.tensors[i], err = tensor.EmptyMeta(shape, tensor.Float32); err != nil {
			t.Fatal(err)
		}
		p.weights[i] = i > 0
	}
	made, err := p.plan(in, true, &weightCache{all: &Weights{}})
	if err != nil {
		return err.Error() + "\n"
	}
	return made.String()
}

func atoi(t *testing.T, word string) int {
	n, err := strconv.Atoi(word)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

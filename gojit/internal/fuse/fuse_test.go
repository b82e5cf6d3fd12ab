package fuse_test

import (
	"os"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
)

func TestMain(m *testing.M) {
	if err := ops.Register(aten.Operators()); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func TestFuse(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		g, err := ir.Parse(c.Input("in.ir"))
		if err != nil {
			t.Fatal(err)
		}
		fuse.Fuse(g)
		if err := ir.Verify(g); err != nil {
			t.Errorf("%v\n%s", err, g)
		}
		c.Check("out/fuse", g.Text(false))
		if fuse.Fuse(g) {
			t.Error("it finds something to fuse in what it has fused")
		}
	})
}

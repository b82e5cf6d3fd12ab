package fuser_test

import (
	"os"
	"testing"

	"torchjit/gojit/fuser"
	"torchjit/gojit/internal/golden"
	"torchjit/gojit/ir"
	"torchjit/gojit/ops"
	"torchjit/gojit/ops/aten"
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
		fuser.Fuse(g)
		if err := ir.Verify(g); err != nil {
			t.Errorf("%v\n%s", err, g)
		}
		c.Check("out/fuse", g.Text(false))
		if fuser.Fuse(g) {
			t.Error("it finds something to fuse in what it has fused")
		}
	})
}

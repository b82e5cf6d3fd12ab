package composite_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// TestDefinitions: every definition compiles and takes and gives what its operator does.
func TestDefinitions(t *testing.T) {
	gojit.LinkOperators()
	for _, name := range composite.Names() {
		f, err := composite.Function(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		o := ops.Find("aten::" + name)
		if o == nil {
			t.Errorf("there is no operator aten::%s", name)
			continue
		}
		if got, want := len(f.Schema.Arguments), len(o.Schema().Arguments); got != want {
			t.Errorf("%s takes %d arguments, the operator %d", name, got, want)
			continue
		}
		for i := range f.Schema.Arguments {
			got, want := f.Schema.Arguments[i].Type.String(), o.Schema().Arguments[i].Type.String()
			if got != want {
				t.Errorf("argument %d of %s is %s, the operator's %s", i, name, got, want)
			}
		}
	}
}

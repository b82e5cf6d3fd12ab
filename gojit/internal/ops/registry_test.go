package ops_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

func TestOverloadsKeepTheirOrder(t *testing.T) {
	var got []string
	for _, o := range ops.Overloads("aten::reciprocal") {
		got = append(got, o.Schema().QualifiedName())
	}
	if len(got) != 2 || got[0] != "aten::reciprocal" || got[1] != "aten::reciprocal.out" {
		t.Errorf("got %q", got)
	}
	if o := ops.Find("aten::add.Tensor"); o == nil || o.Schema().Arguments[2].Name != "alpha" {
		t.Errorf("aten::add.Tensor: %v", o)
	}
}

func TestRegister(t *testing.T) {
	run := func(args, out []value.Value) error { return nil }
	name := "mylib::twice"
	for len(ops.Overloads(name)) > 0 { // of a run before
		name += "_again"
	}
	if err := ops.Register([]ops.Operator{{Name: name + "(Tensor self) -> Tensor", Run: run}}); err != nil {
		t.Fatal(err)
	}
	if o := ops.Find(name); o == nil || o.Run == nil || len(ops.Overloads(name)) != 1 {
		t.Errorf("%s is not found", name)
	}
	for _, bad := range []string{name + "(Tensor self) -> Tensor", "mylib::unknown", "mylib::broken(Tensor"} {
		if err := ops.Register([]ops.Operator{{Name: bad, Run: run}}); err == nil {
			t.Errorf("%q was registered", bad)
		}
	}
}

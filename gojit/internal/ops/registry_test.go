package ops_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
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

// TestFormsAreNamed: a form that writes its result into self or into out= is named by the operator whose arguments it takes, and only such a form is.
func TestFormsAreNamed(t *testing.T) {
	for _, base := range ops.Names() {
		if !strings.HasPrefix(base, "aten::") {
			continue
		}
		overloads := ops.Overloads(base)
		for _, o := range overloads {
			inPlace, out := o.Forms()
			wantInPlace, wantOut := "", ""
			if s := o.Schema(); !s.IsMutable() && returnsTensors(s) {
				for _, other := range ops.Overloads(base + "_") {
					if a := other.Schema().Arguments; len(a) > 0 && isWritten(&a[0]) && takesSame(a, s.Arguments) {
						wantInPlace = strings.TrimPrefix(other.Name, "aten::")
					}
				}
				for _, other := range overloads {
					a, n := other.Schema().Arguments, len(s.Arguments)
					if len(a) > n && takesSame(a[:n], s.Arguments) && allWritten(a[n:]) {
						wantOut = strings.TrimPrefix(other.Name, "aten::")
						break
					}
				}
			}
			if inPlace != wantInPlace || out != wantOut {
				t.Errorf("%s names the forms %q and %q, and its overloads are %q and %q", o.Name, inPlace, out, wantInPlace, wantOut)
			}
		}
	}
}

func isWritten(a *schema.Argument) bool { return a.Alias != nil && a.Alias.ShownWrite() }

func allWritten(all []schema.Argument) bool {
	for i := range all {
		if !isWritten(&all[i]) {
			return false
		}
	}
	return true
}

func returnsTensors(s *schema.FunctionSchema) bool {
	return slices.ContainsFunc(s.Returns, func(r schema.Argument) bool { return strings.Contains(r.RealType.String(), "Tensor") })
}

func takesSame(a, b []schema.Argument) bool {
	return slices.EqualFunc(a, b, func(x, y schema.Argument) bool {
		return x.RealType.String() == y.RealType.String() && x.ListSize == y.ListSize
	})
}

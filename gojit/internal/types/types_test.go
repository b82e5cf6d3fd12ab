package types_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/types"
)

func parse(t *testing.T, text string) types.Type {
	t.Helper()
	x, err := types.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func TestPrintedFormsRoundTrip(t *testing.T) {
	for text, annotation := range map[string]string{
		"Tensor": "Tensor", "int[]": "List[int]", "int[][]?": "Optional[List[List[int]]]", "(int, str)": "Tuple[int, str]",
		"Dict(str, Tensor[])": "Dict[str, List[Tensor]]", "Future(int)": "Future[int]", "Scalar": "number",
		"Union(float, int, str)": "Union[float, int, str]", "()": "Tuple[()]", "NoneType": "NoneType",
		"Float(2, *, strides=[3, 1], requires_grad=0, device=cpu)": "Tensor",
	} {
		x := parse(t, text)
		if x.String() != text || x.Annotation(nil) != annotation {
			t.Errorf("%s prints as %s and %s, want %s", text, x, x.Annotation(nil), annotation)
		}
	}
	for _, bad := range []string{"", "int[", "Dict(int)", "(int", "Blah", "Future()", "int x"} {
		if x, err := types.Parse(bad); err == nil {
			t.Errorf("%q was read as %s", bad, x)
		}
	}
}

func TestSubtyping(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"int", "int", true}, {"int", "float", false}, {"int", "Scalar", true}, {"Scalar", "int", false},
		{"int", "int?", true}, {"int?", "int", false}, {"NoneType", "int?", true}, {"int", "Any", true}, {"Any", "int", false},
		{"int[]", "int[]", true}, {"int[]", "int?[]", false}, {"int[]", "list", true}, {"(int, int)", "(int, int?)", true},
		{"(int, int)", "(int, int, int)", false}, {"int", "Union(float, int, str)", true}, {"Union(float, int)", "Union(float, int, str)", true},
		{"Float(2)", "Tensor", true}, {"Tensor", "Float(2)", false}, {"Dict(str, int)", "Dict(str, int?)", false}, {"int?", "Union(NoneType, int, str)", true},
		{"Future(int)", "Future(int?)", true}, {"bool", "int", false},
	} {
		if got := types.IsSubtype(parse(t, c.a), parse(t, c.b)); got != c.want {
			t.Errorf("%s as %s: %v", c.a, c.b, got)
		}
	}
}

func TestUnify(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"int", "int", "int"}, {"int", "NoneType", "int?"}, {"int?", "int", "int?"}, {"Float(2)", "Long(3)", "Tensor"},
		{"(int, NoneType)", "(int, str)", "(int, str?)"}, {"int", "str", ""}, {"int[]", "float[]", ""}, {"NoneType", "str[]", "str[]?"},
	} {
		got := ""
		if x := types.Unify(parse(t, c.a), parse(t, c.b), false, nil); x != nil {
			got = x.String()
		}
		if got != c.want {
			t.Errorf("%s and %s: %q, want %q", c.a, c.b, got, c.want)
		}
	}
	if x := types.Unify(types.Int, types.Str, true, nil); x.String() != "Union(int, str)" {
		t.Errorf("int and str: %s", x)
	}
}

func TestUnionsAreFlatAndOrdered(t *testing.T) {
	for text, want := range map[string]string{
		"Union(str, int, float)": "Union(float, int, str)", "Union(int, NoneType)": "int?", "Union(int, int)": "int",
		"Union(int?, str)": "Union(int, NoneType, str)", "Union(int, Scalar)": "Scalar", "Union(str, int[])": "Union(int[], str)",
	} {
		if x := parse(t, text); x.String() != want {
			t.Errorf("%s is %s, want %s", text, x, want)
		}
	}
}

func TestTypeVariables(t *testing.T) {
	vars := types.Bindings{}
	if x, why := vars.Match(parse(t, "Dict(str, t)"), parse(t, "Dict(str, int)")); x == nil {
		t.Fatal(why)
	}
	if got := vars.Apply(parse(t, "(str, t)[]")).String(); got != "(str, int)[]" {
		t.Errorf("got %s", got)
	}
	if x, why := vars.Match(parse(t, "t[]"), parse(t, "str[]")); x != nil || why == "" {
		t.Errorf("t is int and was matched to str: %v", x)
	}
}

package schema_test

import (
	"os"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/schema"
)

// Every schema of the operator table prints as it was written.
func TestRoundTripOfTheOperatorTable(t *testing.T) {
	text, err := os.ReadFile("../ops/schemas.txt")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) < 4000 {
		t.Fatalf("the table has %d lines", len(lines))
	}
	bad := 0
	for _, line := range lines {
		line, _, _ = strings.Cut(line, " # ") // tags of the operator
		s, err := schema.Parse(line)
		if err != nil {
			t.Errorf("%s: %v", line, err)
		} else if got := s.String(); got != line {
			t.Errorf("got  %s\nwant %s", got, line)
		} else {
			continue
		}
		if bad++; bad > 20 {
			t.Fatal("too many")
		}
	}
}

func TestParseErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "expected ident but found 'eof' here",
		"aten::f":                            "only the operator name was given",
		"a::b::f() -> ()":                    "expected eof but found ':' here",
		"a::f.x.y() -> ()":                   "expected eof but found '.' here",
		"a::f.() -> ()":                      "expected ident but found '(' here",
		"aten::f(":                           "expected ident but found 'eof' here",
		"aten::f(int) -> ()":                 "expected ident but found ')' here",
		"aten::f(int a":                      "expected ) but found 'eof' here",
		"aten::f(int a,) -> ()":              "expected ident but found ')' here",
		"aten::f(int a -> ()":                "expected ) but found 'arrow' here",
		"aten::f(int a=) -> int":             "expected number but found ')' here",
		"aten::f(int a=b) -> int":            "invalid numeric default value",
		"aten::f(int[] a=3) -> int":          "expected [ but found 'number' here",
		"aten::f(int[] a=[1 2]) -> int":      "expected ] but found 'number' here",
		"aten::f(int[2][] a) -> int":         "expected ident but found '[' here",
		"aten::f(..., int a) -> ()":          "... must be the last element of the argument list",
		"aten::f(int a) -> ":                 "expected ident but found 'eof' here",
		"aten::f(int a) -> int x y":          "expected eof but found 'ident' here",
		"aten::f(Tensor(a! self) -> int":     "expected ) but found 'ident' here",
		"aten::f(Blah x) -> int":             "unknown type specifier",
		"aten::f(int ä) -> ()":               "expected a valid token but found 'ä' here",
		"aten::f(int a); -> ()":              "expected a valid token but found ';' here",
		"aten::f(str s=\"x) -> int":          "expected a valid token but found '\"' here",
		"aten::f(Dict(int, int, int) a)->()": "expected ) but found ',' here",
	} {
		s, err := schema.Parse(text)
		if err == nil {
			t.Errorf("%q was read as %s", text, s)
		} else if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, not %s", text, err, want)
		}
	}
}

// TestParseNamesOfNumbers: a default value can be the name of a number.
func TestParseNamesOfNumbers(t *testing.T) {
	s, err := schema.Parse("f.x(ScalarType a=float, ScalarType? b=long, Layout c=strided, MemoryFormat d=contiguous_format, int e=Mean, complex f=2j) -> ()")
	const want = "f.x(ScalarType a=6, ScalarType? b=4, Layout c=0, MemoryFormat d=0, int e=1, complex f=0.+2.j) -> ()"
	if err != nil || s.String() != want || s.Overload != "x" {
		t.Errorf("%v %v, not %s", s, err, want)
	}
}

// TestVarargsHaveNoDefaults: what follows a default could not be told from it.
func TestVarargsHaveNoDefaults(t *testing.T) {
	_, err := schema.Parse("a::b(int x=1, ...) -> int")
	if err == nil || !strings.Contains(err.Error(), "schemas with vararg (...) can't have default value args") {
		t.Error(err)
	}
	if _, err := schema.Parse("a::b(int x, ...) -> int"); err != nil {
		t.Error(err)
	}
}

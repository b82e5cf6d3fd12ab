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
	for _, text := range []string{"", "aten::f", "aten::f(", "aten::f(int)", "aten::f(int a", "aten::f(int a=) -> int",
		"aten::f(int a) -> ", "aten::f(int a) -> int x y", "aten::f(Tensor(a! self) -> int", "aten::f(Blah x) -> int", `aten::f(str s="x) -> int`} {
		if s, err := schema.Parse(text); err == nil {
			t.Errorf("%q was read as %s", text, s)
		} else if !strings.Contains(err.Error(), "<--- HERE") && text != "" {
			t.Errorf("%q: the error shows no place: %v", text, err)
		}
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

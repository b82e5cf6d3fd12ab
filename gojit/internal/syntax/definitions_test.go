package syntax

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

func TestParseDefinitionsRefusesOtherStatements(t *testing.T) {
	for text, want := range map[string]string{
		"x = 3\n":                       "expected def",
		"def f(x):\n  return x\nf(3)\n": "expected def",
		"class A:\n  def f(self):\n    return self\n":    "expected def but found 'class'",
		"def f(x):\n  return x\ndef f(y):\n  return y\n": "method 'f' already defined.",
	} {
		if _, err := ParseDefinitions(source.NewText("text", text, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

package syntax

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Operators that are two in texts are taken apart in one pass, however many there are.
func TestOperatorsAreTakenApartInOnePass(t *testing.T) {
	tokens, _, err := scan(source.NewText("program", "def f(x):\n"+strings.Repeat("    x //= 2\n", 500), 1))
	if err != nil {
		t.Fatal(err)
	}
	var apart []token
	if allocations := testing.AllocsPerRun(1, func() { apart = asText(tokens) }); allocations > 1 {
		t.Errorf("%g allocations for 500 operators", allocations)
	}
	if found := len(apart) - len(tokens); found != 500 {
		t.Errorf("%d more tokens, expected 500", found)
	}
}

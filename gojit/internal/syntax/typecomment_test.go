package syntax

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

func TestParseTypeComment(t *testing.T) {
	decl, err := ParseTypeComment(source.NewText("", "# type: (int, List[int]) -> None", 1))
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(strings.Fields(decl.String()), " ")
	want := "(decl (list (param (ident ) (option (variable (ident int))) (option) (False)) " +
		"(param (ident ) (option (subscript (variable (ident List)) (list (variable (ident int))))) (option) (False))) (option (None)))"
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for text, want := range map[string]string{"(int) -> int": "expected type comment but found '('", "": "expected type comment", "# type: (int": "expected"} {
		if _, err := ParseTypeComment(source.NewText("", text, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

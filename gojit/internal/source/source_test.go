package source

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestHighlight has what PyTorch prints for ranges of ten lines line0 ... line9.
func TestHighlight(t *testing.T) {
	var body strings.Builder
	for i := range 10 {
		fmt.Fprintf(&body, "line%d\n", i)
	}
	text := NewText("f.py", body.String(), 8)
	for _, c := range []struct {
		start, end int
		want       string
	}{
		{30, 32, "line3 line4 line5 ~~<---HERE line6 line7"},
		{30, 30, "line3 line4 line5 line6 line7"},
		{0, 3, "line0 ~~~<---HERE line1 line2"},
		{30, 45, "line3 line4 line5 ~~~~~ line6 ~~~~~ line7 ~~~<---HERE line8 line9"},
		{30, 36, "line3 line4 line5 ~~~~~ line6 line7 line8"},
		{31, 44, "line3 line4 line5 .~~~~ line6 ~~~~~ line7 ~~<---HERE line8 line9"},
		{58, 60, "line7 line8 line9 ....~"},
	} {
		got := Range{text, c.start, c.end}.Highlight()
		head, rest, _ := strings.Cut(got, "\n")
		if want := fmt.Sprintf("  File \"f.py\", line %d", 8+c.start/6); head != want {
			t.Errorf("[%d:%d): first line %q, want %q", c.start, c.end, head, want)
		}
		rest = strings.ReplaceAll(strings.TrimSuffix(rest, "\n"), " <--- HERE", "<---HERE")
		rest = strings.ReplaceAll(strings.ReplaceAll(rest, " ", "."), "\n", " ")
		if rest != c.want {
			t.Errorf("[%d:%d):\n got %s\nwant %s", c.start, c.end, rest, c.want)
		}
	}
}

func TestHighlightIndent(t *testing.T) {
	text := NewText("m.py", "def f(self):\n    return x\n", 5)
	text.Indent = 4
	r := Range{text, 24, 25}
	want := "  File \"m.py\", line 6, in f\n    def f(self):\n        return x\n               ~ <--- HERE\n"
	if got := r.HighlightIn("f"); got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
	if file, line, col, ok := r.FileLineCol(); file != "m.py" || line != 6 || col != 15 || !ok {
		t.Errorf("FileLineCol is %s:%d:%d %v", file, line, col, ok)
	}
}

func TestIndentedText(t *testing.T) {
	text := NewIndentedText("<string>", "\n    def f(x):\n        return x\n\n    ")
	if text.Body != "\ndef f(x):\n    return x\n\n" || text.Indent != 4 {
		t.Errorf("%q, indented by %d", text.Body, text.Indent)
	}
	if text := NewIndentedText("", "\n \n"); text.Body != "\n \n" || text.Indent != 0 {
		t.Errorf("blank lines: %q, indented by %d", text.Body, text.Indent)
	}
}

func TestRangeExtend(t *testing.T) {
	a, b := NewText("a", "abcdef", 1), NewText("b", "abcdef", 1)
	if got := (Range{a, 1, 2}).Extend(Range{a, 4, 5}); got != (Range{a, 1, 5}) {
		t.Errorf("in one text: %v", got)
	}
	if got := (Range{a, 1, 2}).Extend(Range{b, 4, 5}); got != (Range{a, 1, 2}) {
		t.Errorf("in two texts: %v", got)
	}
	if got := (Range{}).Extend(Range{b, 4, 5}); got != (Range{b, 4, 5}) {
		t.Errorf("from nowhere: %v", got)
	}
}

func TestError(t *testing.T) {
	text := NewText("e.py", "return foo(x)\n", 1)
	at := Range{text, 7, 10}
	e := Errorf(ValueError, at, "undefined value %s", "foo").WithNote(Range{}, "look elsewhere")
	e.Stack = []Frame{{Function: "g", Caller: "f", Range: at}}
	want := "undefined value foo:\n  File \"e.py\", line 1\nreturn foo(x)\n       ~~~ <--- HERE\n" +
		"'g' is being compiled since it was called from 'f'\n  File \"e.py\", line 1\nreturn foo(x)\n       ~~~ <--- HERE\nnote: look elsewhere\n"
	if got := e.Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if c := ClassOf(fmt.Errorf("wrapped: %w", e)); c != ValueError {
		t.Errorf("class %s", c)
	}
	if c := ClassOf(errors.New("plain")); c != RuntimeError {
		t.Errorf("class of a plain error is %s", c)
	}
}

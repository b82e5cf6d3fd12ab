package gojit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// TestLanguage compiles the functions of testdata/language: out/ir has their graphs and out/results
// what each line of calls gives, or the last line of its error.
func TestLanguage(t *testing.T) {
	golden.Run(t, "testdata/language/*.txtar", func(t *testing.T, c *golden.Case) {
		calls := strings.Split(strings.TrimSpace(c.Input("calls")), "\n")
		var text strings.Builder
		text.WriteString(c.Input("in.py"))
		for i, call := range calls {
			fmt.Fprintf(&text, "\ndef call_%d():\n    return %s\n", i, call)
		}
		p, err := gojit.Compile("in.py", text.String())
		if err != nil {
			t.Fatal(err)
		}
		var graphs, results strings.Builder
		for _, f := range p.Unit.Functions() {
			if !strings.HasPrefix(f.ShortName(), "call_") {
				fmt.Fprintf(&graphs, "%s = %s", f.ShortName(), f.Graph().Text(false))
			}
		}
		for i, call := range calls {
			fmt.Fprintf(&results, "%s -> ", call)
			if v, err := p.Call(context.Background(), fmt.Sprintf("call_%d", i)); err != nil {
				lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
				results.WriteString(lines[len(lines)-1] + "\n")
			} else {
				results.WriteString(prim.Display(v) + "\n")
			}
		}
		c.Check("out/ir", graphs.String())
		c.Check("out/results", results.String())
	})
}

// TestMessages compiles the programs of testdata/messages one by one: each fails, with the message in
// out/messages.
func TestMessages(t *testing.T) {
	golden.Run(t, "testdata/messages/*.txtar", func(t *testing.T, c *golden.Case) {
		var messages strings.Builder
		for _, program := range strings.Split(strings.TrimSpace(c.Input("in.py")), "\n\n\n") {
			_, err := gojit.Compile("in.py", program+"\n")
			if err == nil {
				t.Errorf("accepted:\n%s", program)
				continue
			}
			fmt.Fprintf(&messages, "%s: %s\n", source.ClassOf(err), err)
		}
		c.Check("out/messages", messages.String())
	})
}

// TestNestedExpressions compiles expressions that PyTorch emits twice on each level: the work must not
// double with each level.
func TestNestedExpressions(t *testing.T) {
	for _, c := range []struct{ parameter, start, level string }{
		{"x: int", "x", "(%s) % 7"}, {"x", "x", "x[%s]"}, {"x", "[(1, 2)]", "list(dict(%s).items())"},
	} {
		text := c.start
		for range 40 {
			text = strings.Replace(c.level, "%s", text, 1)
		}
		if _, err := gojit.Compile("nested.py", "def f("+c.parameter+"):\n    return "+text+"\n"); err != nil {
			t.Errorf("%s: %v", c.level, err)
		}
	}
}

// TestLanguageRejects compiles the programs of testdata/language/rejected.py one by one: each must
// fail at the line that says so.
func TestLanguageRejects(t *testing.T) {
	data, err := os.ReadFile("testdata/language/rejected.py")
	if err != nil {
		t.Fatal(err)
	}
	for _, program := range strings.Split(string(data), "\n\n\n") {
		want := golden.Expectations(t, program)
		if len(want) != 1 {
			t.Errorf("%d expectations in:\n%s", len(want), program)
			continue
		}
		_, err := gojit.Compile("rejected.py", program)
		var e *source.Error
		if !errors.As(err, &e) {
			t.Errorf("accepted:\n%s", program)
			continue
		}
		_, line, _, _ := e.Range.FileLineCol()
		if !want[0].Pattern.MatchString(e.Text) || line != want[0].Line {
			t.Errorf("got %q at line %d, want %s in:\n%s", e.Text, line, want[0].Pattern, program)
		}
	}
}

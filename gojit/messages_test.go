package gojit_test

import (
	"encoding/json"
	"errors"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/golden"
)

// needPython are mistakes of which only Python knows all: what is no function or class of the file has another meaning without it.
var needPython = []string{"ignored_result", "numpy_inside"}

var scripted = regexp.MustCompile(`(?m)^@torch\.jit\.script\ndef (\w+)`)

// The common mistakes of tests/messages that are made in compiled functions, as Go and the command meet them: compiled from the file, and called with the
// inputs there. What is said is what Python says, with the same place and the same cure.
func TestMistakesAreSaidAsInPython(t *testing.T) {
	tried := 0
	golden.Run(t, "../tests/messages/*.txtar", func(t *testing.T, c *golden.Case) {
		text, message := c.Input("program.py"), c.Input("message")
		function := scripted.FindStringSubmatch(text)
		if function == nil || slices.Contains(needPython, path.Base(t.Name())) {
			return
		}
		tried++
		err := mistakeOf(t, strings.Replace(text, "import torchjit as torch", "import torch", 1), function[1], c)
		if err == nil {
			t.Fatal("the program does not fail")
		}
		var cures []string
		for line := range strings.Lines(message) {
			if strings.HasPrefix(line, "TJ") {
				cures = append(cures, strings.TrimRight(line, "\n"))
			}
		}
		said := slices.DeleteFunc(errs.AdviceOf(err), func(note string) bool { return !strings.HasPrefix(note, "TJ") })
		if !slices.Equal(said, cures) {
			t.Errorf("%v\nadvises %q, expected %q", err, said, cures)
		}
		if !slices.ContainsFunc(cures, func(cure string) bool { return strings.HasPrefix(cure, errs.CodeOf(err)+":") }) {
			t.Errorf("the code is %q, expected one of %q", errs.CodeOf(err), cures)
		}
		var asked *errs.CallError
		if errors.As(err, &asked) {
			return // a call from Go has words of its own for what it lacks
		}
		_, line, _, ok := errs.PlaceOf(err)
		if !ok || !strings.Contains(message, `File "program.py", line `) || line == 0 {
			t.Errorf("%v\nhas no place", err)
		}
		for line := range strings.Lines(message) {
			if strings.Contains(line, "<--- HERE") && !strings.Contains(err.Error(), strings.TrimSpace(line)) {
				t.Errorf("%v\ndoes not show the place\n%s", err, line)
			}
		}
	})
	if tried < 40 {
		t.Errorf("%d mistakes were tried", tried)
	}
}

// mistakeOf returns the error of compiling a function of a file, or of calling it.
func mistakeOf(t *testing.T, text, function string, c *golden.Case) error {
	p, err := gojit.CompileFile("program.py", text)
	if err != nil || !c.Has("inputs") {
		return err
	}
	var args []any
	for line := range strings.Lines(c.Input("inputs")) {
		line = strings.TrimSpace(line)
		if name, value, named := strings.Cut(line, "="); named {
			args = append(args, gojit.Keyword{Name: name, Value: json.RawMessage(value)})
		} else {
			args = append(args, json.RawMessage(line))
		}
	}
	_, err = p.Call(t.Context(), function, args...)
	return err
}

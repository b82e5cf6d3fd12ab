package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// compiled is the report of compile.
type compiled struct {
	Functions []functionInfo  `json:"functions"`
	Skipped   []gojit.Skipped `json:"skipped"`
}

type functionInfo struct {
	Name   string `json:"name"`
	Schema string `json:"schema"`
	Graph  string `json:"graph"`
}

func (r *compiled) text(w io.Writer) {
	for _, f := range r.Functions {
		fmt.Fprintf(w, "%s\n%s", f.Schema, f.Graph)
	}
}

func compileVerb(s *Session) *cobra.Command {
	output := ""
	verb := &cobra.Command{
		Use: "compile FILE.py [FUNCTION...]", Short: "Compile a file of Python, without Python", GroupID: groupLook, Args: cobra.MinimumNArgs(1),
		Long: "Compiles what is TorchScript in a file: functions, script classes, named tuples, enumerations and interfaces, with the names that its imports give to torch, math and typing. " +
			"It prints the graphs of the functions, and on the standard error what it skips, with the reason. Functions that are named, or decorated with torch.jit.script, must compile.",
		Example: "  gojit compile model.py\n  gojit compile model.py step -o step.pt",
		RunE:    func(_ *cobra.Command, args []string) error { return s.compile(args[0], args[1:], output) },
	}
	verb.Flags().StringVarP(&output, "output", "o", "", "write the function, which is named alone, as the method forward of a module")
	return verb
}

func (s *Session) compile(file string, names []string, output string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return usageError{err}
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return &errs.FileError{Path: file, Err: fmt.Errorf("%s: found bytes that are no text in UTF-8, expected a file of Python", file)}
	}
	p, err := gojit.CompileFile(file, string(text))
	if err != nil {
		return err
	}
	functions, err := chosen(p, file, names)
	if err != nil {
		return err
	}
	if len(names) == 0 && !s.JSON {
		for _, skipped := range p.Skipped {
			fmt.Fprintf(s.Err, "%s:%d: %s: skipped: %s\n", file, skipped.Line, skipped.Name, skipped.Reason)
		}
	}
	if output != "" {
		return s.saveFunction(functions, output)
	}
	r := &compiled{Functions: []functionInfo{}, Skipped: append([]gojit.Skipped{}, p.Skipped...)}
	for _, f := range functions {
		r.Functions = append(r.Functions, functionInfo{f.ShortName(), f.Schema.String(), f.Graph().String()})
	}
	return s.print(r)
}

// chosen returns the functions that were named, or all. It fails where there is none, with the error of the first that does not compile.
func chosen(p *gojit.Program, file string, names []string) ([]*ir.Function, error) {
	all := p.Functions()
	if len(names) == 0 {
		for _, s := range p.Skipped {
			if len(all) == 0 && s.Err != nil {
				return nil, s.Err
			}
		}
		return all, nil
	}
	var found []*ir.Function
	for _, name := range names {
		if f := p.Function(name); f != nil {
			if err := f.EnsureDefined(); err != nil {
				return nil, err
			}
			found = append(found, f)
			continue
		}
		for _, s := range p.Skipped {
			if s.Name == name || strings.HasPrefix(s.Name, "def "+name+"(") {
				if s.Err != nil {
					return nil, s.Err
				}
				return nil, fmt.Errorf("%s:%d: %s: %s", file, s.Line, name, s.Reason)
			}
		}
		return nil, usagef("%s has no function %s", file, name)
	}
	return found, nil
}

func (s *Session) saveFunction(functions []*ir.Function, output string) error {
	if len(functions) != 1 {
		return usagef("-o %s: expected one function, found %d: name it", output, len(functions))
	}
	m, err := gojit.ModuleOf(functions[0])
	if err != nil {
		return err
	}
	if err := m.Save(output, nil); err != nil {
		return fmt.Errorf("%s cannot be written: %w", output, err)
	}
	return nil
}

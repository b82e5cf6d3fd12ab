package command

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit/internal/draw"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// passed is the report of opt.
type passed struct {
	Passes []passedOne `json:"passes"`
	Graph  string      `json:"graph"`
}

type passedOne struct {
	Name    string `json:"name"`
	Changed bool   `json:"changed"`
}

func (r *passed) text(w io.Writer) {
	for _, p := range r.Passes {
		word := "unchanged"
		if p.Changed {
			word = "changed"
		}
		fmt.Fprintf(w, "# %s: %s\n", p.Name, word)
	}
	io.WriteString(w, r.Graph)
}

func optVerb(s *Session) *cobra.Command {
	var names []string
	output := ""
	verb := &cobra.Command{
		Use: "opt --passes NAME,... MODEL|FILE.py|FILE.ir [METHOD]", Short: "Run passes over a graph and print it", GroupID: groupLook, Args: cobra.RangeArgs(0, 2),
		Long: "Runs passes over the graph of a method, or over the text of a graph, in the order in which they are named. Without a model it lists the passes. -o FILE.html writes a page with the source " +
			"and a column for each pass: values are marked in all columns, places are links to lines. With -o and without --passes the columns are the steps that a call's graph goes through.",
		Example: "  gojit opt -passes=inline,cse,dce model.pt\n  gojit opt model.pt -o steps.html",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if len(names) > 0 || output != "" {
					return usagef("opt: expected a model, or a file with a graph")
				}
				return s.print(plainText{passNames()})
			}
			return s.opt(names, args, output)
		},
	}
	verb.Flags().StringVarP(&output, "output", "o", "", "write a page with a column for each pass to this file")
	verb.Flags().StringSliceVar(&names, "passes", nil, "the passes, with commas between")
	return verb
}

func passNames() string {
	var b strings.Builder
	for _, p := range parity.All {
		b.WriteString(p.Name + "\n")
	}
	return b.String()
}

func (s *Session) opt(names, args []string, output string) error {
	for _, name := range names {
		if parity.Find(name) == nil {
			return usagef("there is no pass %q; gojit opt lists them", name)
		}
	}
	if output != "" && filepath.Ext(output) != ".html" {
		return usagef("-o %s: the end of the name says the form: expected .html", output)
	}
	p, err := s.openProgram(args)
	if err != nil {
		return err
	}
	if p.graph == nil {
		return usagef("%s is an exported program: passes run over graphs of TorchScript", args[0])
	}
	page := &passPage{}
	if len(names) == 0 && output != "" {
		if p.function == nil {
			return usagef("%s is the text of a graph, which no call runs: name the passes with --passes", args[0])
		}
		if err := page.run(p.function); err != nil {
			return err
		}
		return s.writePage(output, args[0], page)
	}
	r := &passed{Passes: []passedOne{}}
	g := p.graph.Copy()
	page.add("before", g)
	for _, name := range names {
		r.Passes = append(r.Passes, passedOne{name, parity.Find(name).Run(g)})
		if err := ir.Verify(g); err != nil {
			return fmt.Errorf("the graph is not well formed behind %s: %w", name, err)
		}
		page.add(name, g)
	}
	if output != "" {
		return s.writePage(output, args[0], page)
	}
	r.Graph = g.String()
	return s.print(r)
}

// passPage is a page with a column for each pass.
type passPage struct {
	columns []draw.Column
	sources []*source.Text
}

// add adds the column of a pass that has just run.
func (p *passPage) add(name string, g *ir.Graph) {
	text := g.String()
	n := len(p.columns)
	p.columns = append(p.columns, draw.Column{Title: name, Text: text, Dim: n > 0 && p.columns[n-1].Text == text})
	for _, t := range draw.Sources(g) {
		if !slices.Contains(p.sources, t) {
			p.sources = append(p.sources, t)
		}
	}
}

// run adds the columns of the steps that the graph of a function's calls goes through, but of those that change nothing.
func (p *passPage) run(f *ir.Function) error {
	e := exec.New(exec.Options{Watch: func(watched *ir.Function, step string, g *ir.Graph) {
		n := len(p.columns)
		if watched != f || n > 0 && p.columns[n-1].Text == g.String() {
			return
		}
		if step == "" {
			step = "as it is defined"
		}
		p.add(step, g)
	}})
	_, err := e.Code(f, nil)
	return err
}

func (s *Session) writePage(path, title string, p *passPage) error {
	return s.writeFile(path, func(w io.Writer) error {
		_, err := io.WriteString(w, draw.Document(title, draw.Columns(p.sources, p.columns)))
		return err
	})
}

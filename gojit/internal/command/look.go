package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
)

// program is a function that was named on the command line: a method of a model, a function of a file of Python, or the graph of an exported program.
type program struct {
	function *ir.Function // nil for an exported program and for the text of a graph
	graph    *ir.Graph
	exported *gojit.Exported
}

// openProgram reads MODEL [METHOD] or FILE.py [FUNCTION] or FILE.ir.
func openProgram(args []string) (*program, error) {
	file, name := args[0], ""
	if len(args) > 1 {
		name = args[1]
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, usageError{err}
	}
	gojit.LinkOperators()
	switch {
	case strings.HasSuffix(file, ".py"):
		return functionOfFile(file, string(data), name)
	case strings.HasSuffix(file, ".ir"):
		g, err := ir.Parse(string(data))
		if err != nil {
			return nil, &gojit.FileError{Path: file, Err: named(file, err)}
		}
		return &program{graph: g}, nil
	}
	model, err := gojit.OpenBytes(data, gojit.LoadOptions{})
	if err != nil {
		return nil, named(file, err)
	}
	if e, ok := model.(*gojit.Exported); ok {
		return &program{exported: e}, nil
	}
	if name == "" {
		name = "forward"
	}
	f, err := model.(*gojit.Module).Method(name)
	if err != nil {
		return nil, err
	}
	return &program{function: f, graph: f.Graph()}, nil
}

func functionOfFile(file, text, name string) (*program, error) {
	p, err := gojit.CompileFile(file, text)
	if err != nil {
		return nil, err
	}
	functions := p.Functions()
	if name == "" && len(functions) == 1 {
		return &program{function: functions[0], graph: functions[0].Graph()}, nil
	}
	var names []string
	for _, f := range functions {
		if f.ShortName() == name {
			return &program{function: f, graph: f.Graph()}, nil
		}
		names = append(names, f.ShortName())
	}
	for _, s := range p.Skipped {
		if s.Name == name && s.Err != nil {
			return nil, s.Err
		}
	}
	return nil, Usagef("%s: which function? It has %s", file, strings.Join(names, ", "))
}

func graphVerb(s *Session) *cobra.Command {
	var optimized, inlined bool
	verb := &cobra.Command{
		Use: "graph MODEL|FILE.py [METHOD]", Short: "Print the graph of a method", GroupID: groupLook, Args: cobra.RangeArgs(1, 2),
		Long: "Prints the graph of a method (forward), of a function of a file of Python, or of an exported program.",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := openProgram(args)
			if err != nil {
				return err
			}
			if p.exported != nil {
				return s.print(plainText{p.exported.Program.Graph.String()})
			}
			g := p.graph
			if optimized {
				text, err := gojit.ExplainFunction(p.function)
				if err != nil {
					return err
				}
				return s.print(plainText{text})
			}
			if inlined {
				g = g.Copy()
				passes.Inline(g)
			}
			return s.print(plainText{g.String()})
		},
	}
	verb.Flags().BoolVar(&inlined, "inline", false, "put the bodies of functions in the place of their calls")
	verb.Flags().BoolVar(&optimized, "optimized", false, "the graph that runs")
	return verb
}

func codeVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "code MODEL|FILE.py [METHOD]", Short: "Print a method as source text", GroupID: groupLook, Args: cobra.RangeArgs(1, 2),
		Long: "Prints a method (forward) as the source text that an archive holds.",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := openProgram(args)
			if err != nil {
				return err
			}
			if p.function == nil {
				return Usagef("%s has a graph and no source text: see gojit graph", args[0])
			}
			text, _ := code.PrintFunction(p.function)
			return s.print(plainText{text})
		},
	}
}

func explainVerb(s *Session) *cobra.Command {
	c := &call{}
	verb := &cobra.Command{
		Use: "explain MODEL [INPUT...]", Short: "Say what runs: the graph, its fused regions, and what did not run as one", GroupID: groupLook, Args: cobra.MinimumNArgs(1),
		Long: "Prints the graph that calls of a method run, and for each region in it whether calls had to run its nodes one by one, and why. With inputs the method is called first.",
		RunE: func(cmd *cobra.Command, args []string) error { return s.explain(cmd.Context(), c, args) },
	}
	c.flags(verb)
	return verb
}

func (s *Session) explain(ctx context.Context, c *call, args []string) error {
	model, inputs, err := c.open(s, args)
	if err != nil {
		return err
	}
	m, ok := model.(*gojit.Module)
	if !ok {
		return Usagef("%s is an exported program, whose graph runs as it is: see gojit graph", args[0])
	}
	if len(args)+len(c.inputs) > 1 {
		if _, err := m.Call(ctx, c.method, inputs...); err != nil {
			return err
		}
	}
	text, err := m.Explain(c.method)
	if err != nil {
		return err
	}
	return s.print(plainText{text})
}

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
	verb := &cobra.Command{
		Use: "opt --passes NAME,... MODEL|FILE.py|FILE.ir [METHOD]", Short: "Run passes over a graph and print it", GroupID: groupLook, Args: cobra.RangeArgs(0, 2),
		Long:    "Runs passes over the graph of a method, or over the text of a graph, in the order in which they are named. Without a model it lists the passes.",
		Example: "  gojit opt -passes=inline,cse,dce model.pt",
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				if len(names) > 0 {
					return Usagef("opt: expected a model, or a file with a graph")
				}
				return s.print(plainText{passNames()})
			}
			return s.opt(names, args)
		},
	}
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

func (s *Session) opt(names, args []string) error {
	r := &passed{Passes: []passedOne{}}
	for _, name := range names {
		if parity.Find(name) == nil {
			return Usagef("there is no pass %q; gojit opt lists them", name)
		}
	}
	p, err := openProgram(args)
	if err != nil {
		return err
	}
	if p.graph == nil {
		return Usagef("%s is an exported program: passes run over graphs of TorchScript", args[0])
	}
	g := p.graph.Copy()
	for _, name := range names {
		r.Passes = append(r.Passes, passedOne{name, parity.Find(name).Run(g)})
		if err := ir.Verify(g); err != nil {
			return fmt.Errorf("the graph is not well formed behind %s: %w", name, err)
		}
	}
	r.Graph = g.String()
	return s.print(r)
}

package command

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/draw"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
)

// program is a function that was named on the command line: a method of a model, a function of a file of Python, or the graph of an exported program.
type program struct {
	function *ir.Function // nil for an exported program and for the text of a graph
	graph    *ir.Graph
	exported *gojit.Exported
}

// openProgram reads MODEL [METHOD] or FILE.py [FUNCTION] or FILE.ir.
func (s *Session) openProgram(args []string) (*program, error) {
	file, name := args[0], ""
	if len(args) > 1 {
		name = args[1]
	}
	data, err := s.readFile(file)
	if err != nil {
		return nil, err
	}
	gojit.LinkOperators()
	switch {
	case strings.HasSuffix(file, ".py"):
		return functionOfFile(file, string(data), name)
	case strings.HasSuffix(file, ".ir"):
		g, err := ir.Parse(string(data))
		if err != nil {
			return nil, &errs.FileError{Path: file, Err: named(file, err)}
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
	return nil, usagef("%s: which function? It has %s", file, strings.Join(names, ", "))
}

func graphVerb(s *Session) *cobra.Command {
	var optimized, inlined bool
	output := ""
	verb := &cobra.Command{
		Use: "graph MODEL|FILE.py [METHOD]", Short: "Print the graph of a method", GroupID: groupLook, Args: cobra.RangeArgs(1, 2),
		Long:    "Prints the graph of a method (forward), of a function of a file of Python, or of an exported program. -o FILE.svg or FILE.dot draws it.",
		Example: "  gojit graph --inline model.pt -o model.svg",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := s.openProgram(args)
			if err != nil {
				return err
			}
			if output != "" && optimized {
				return usagef("--optimized has no drawing: see gojit explain -o FILE.html")
			}
			if p.exported != nil {
				if output != "" {
					return s.writeDrawing(output, p.exported.Program.Draw())
				}
				return s.print(plainText{p.exported.Program.Graph.String()})
			}
			g := p.graph
			if optimized {
				x, err := gojit.ExplainFunction(p.function)
				if err != nil {
					return err
				}
				return s.print(plainText{x.String()})
			}
			if inlined {
				g = g.Copy()
				passes.Inline(g)
			}
			if output != "" {
				return s.writeDrawing(output, draw.Graph(g))
			}
			return s.print(plainText{g.String()})
		},
	}
	verb.Flags().BoolVar(&inlined, "inline", false, "put the bodies of functions in the place of their calls")
	verb.Flags().BoolVar(&optimized, "optimized", false, "the graph that runs")
	verb.Flags().StringVarP(&output, "output", "o", "", "draw the graph to this file, .svg or .dot")
	return verb
}

func (s *Session) writeDrawing(path string, d *draw.Drawing) error {
	var text string
	switch filepath.Ext(path) {
	case ".svg":
		if n := d.Count(); n > draw.Most {
			return fmt.Errorf("the graph has %d boxes: a drawing with more than %d helps nobody; -o FILE.dot writes it for other programs", n, draw.Most)
		}
		text = d.SVG()
	case ".dot":
		text = d.DOT()
	default:
		return usagef("-o %s: the end of the name says the form: expected .svg or .dot", path)
	}
	return s.writeFile(path, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

func codeVerb(s *Session) *cobra.Command {
	return &cobra.Command{
		Use: "code MODEL|FILE.py [METHOD]", Short: "Print a method as source text", GroupID: groupLook, Args: cobra.RangeArgs(1, 2),
		Long: "Prints a method (forward) as the source text that an archive holds.",
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := s.openProgram(args)
			if err != nil {
				return err
			}
			if p.function == nil {
				return usagef("%s has a graph and no source text: see gojit graph", args[0])
			}
			text, _ := code.PrintFunction(p.function)
			return s.print(plainText{text})
		},
	}
}

func explainVerb(s *Session) *cobra.Command {
	c, output := &call{}, ""
	verb := &cobra.Command{
		Use: "explain MODEL [INPUT...]", Short: "Say what runs: the graph, its fused regions, and what did not run as one", GroupID: groupLook, Args: cobra.MinimumNArgs(1),
		Long: "Prints the graph that calls of a method run, and for each region in it whether calls had to run its nodes one by one, and why. With inputs the method is called some times, and " +
			"there are the times of steps, kernels and operators. -o FILE.html writes a page with a drawing of the graph.",
		Example: "  gojit explain model.pt randn:1x3x224x224 -o model.html",
		RunE:    func(cmd *cobra.Command, args []string) error { return s.explain(cmd.Context(), c, args, output) },
	}
	c.flags(verb)
	verb.Flags().StringVarP(&output, "output", "o", "", "write a page to this file")
	return verb
}

// explained is the report of explain.
type explained struct{ *gojit.Explanation }

func (x explained) text(w io.Writer) { io.WriteString(w, x.String()) }

func (s *Session) explain(ctx context.Context, c *call, args []string, output string) error {
	model, inputs, err := c.open(s, args)
	if err != nil {
		return err
	}
	m, ok := model.(*gojit.Module)
	if !ok {
		return usagef("%s is an exported program, whose graph runs as it is: see gojit graph", args[0])
	}
	if len(args)+len(c.inputs) == 1 {
		inputs = nil // the options of a call
	}
	x, err := m.Explain(ctx, c.method, inputs...)
	if err != nil {
		return err
	}
	if output == "" {
		return s.print(explained{x})
	}
	if filepath.Ext(output) != ".html" {
		return usagef("-o %s: the end of the name says the form: expected .html", output)
	}
	return s.writeFile(output, func(w io.Writer) error { _, err := io.WriteString(w, x.HTML()); return err })
}

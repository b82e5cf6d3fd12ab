package pt2archive

import (
	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// withGradEnabled is a part of the program for which gradients are recorded, or are not. Its nodes become those of the graph around it. What comes out
// of a part without gradients has none: it is detached.
func (s *scope) withGradEnabled(n *node) {
	if len(n.Inputs) < 2 || n.Inputs[1].Argument.kind != "as_graph" {
		source.Throw(exportir.Violation("it does not say whether gradients are recorded in which graph"))
	}
	records := plain(n.Inputs[0].Argument).Int != 0
	if records && s.detached {
		source.Throw(exportir.Violation("gradients are recorded in a part without gradients, of which there is no form here"))
	}
	inner := read[graphArgument](n.Inputs[1].Argument)
	detached := s.detached
	s.detached = !records
	g := s.subgraph(inner)
	s.detached = detached
	var operands []exportir.Argument
	for _, given := range n.Inputs[2:] {
		operands = append(operands, s.argument(given.Argument))
	}
	results := s.splice(g, inner.Name+"_", operands)
	outputs := partsOf(n.Outputs)
	if len(outputs) != len(results) {
		source.Throw(exportir.Violation("it gives %d values, and its graph %d", len(outputs), len(results)))
	}
	for i, out := range outputs {
		name := valueName(out)
		val := s.meaning(name)
		if name == "" {
			continue
		}
		if records || val.Kind != exportir.TensorValue {
			s.renamed[name] = results[i]
			continue
		}
		meta := s.place(n.Metadata)
		meta.Val = val
		s.add(&exportir.Node{Op: exportir.CallFunction, Name: name, Target: aten.Detach, Args: results[i : i+1], Meta: meta})
	}
}

// splice adds the nodes of a graph, with a prefix to their names, whose placeholders are operands. It returns what the outputs of the graph are.
func (s *scope) splice(g *exportir.Graph, prefix string, operands []exportir.Argument) []exportir.Argument {
	inputs := g.Placeholders()
	if len(inputs) != len(operands) {
		source.Throw(exportir.Violation("it gives %d operands to a graph that takes %d", len(operands), len(inputs)))
	}
	known := map[string]exportir.Argument{}
	for i, in := range inputs {
		known[in.Name] = operands[i]
	}
	for _, n := range g.Nodes[len(inputs) : len(g.Nodes)-1] {
		spliced := *n
		spliced.Name = prefix + n.Name
		if n.Op == exportir.GetAttr {
			spliced.Target = prefix + n.Target
		}
		spliced.Args = substituted(n.Args, known)
		spliced.Kwargs = nil
		for _, k := range n.Kwargs {
			spliced.Kwargs = append(spliced.Kwargs, exportir.Keyword{Name: k.Name, Value: substitute(k.Value, known)})
		}
		known[n.Name] = exportir.Ref(spliced.Name)
		s.add(&spliced)
	}
	for _, inner := range g.Graphs {
		s.to.Graphs = append(s.to.Graphs, exportir.Subgraph{Name: prefix + inner.Name, Graph: inner.Graph})
	}
	return substituted(g.Outputs(), known)
}

func substituted(args []exportir.Argument, known map[string]exportir.Argument) []exportir.Argument {
	var all []exportir.Argument
	for _, a := range args {
		all = append(all, substitute(a, known))
	}
	return all
}

// substitute puts other arguments in the places of nodes.
func substitute(a exportir.Argument, known map[string]exportir.Argument) exportir.Argument {
	if a.Kind == exportir.NodeArgument {
		if other, ok := known[a.Text]; ok {
			return other
		}
	}
	a.Items = substituted(a.Items, known)
	return a
}

package exportir

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/draw"
)

// Draw returns the drawing of a program: its parameters and constants are text in the boxes that use them.
func (p *Program) Draw() *draw.Drawing {
	d := &draw.Drawing{Block: &draw.Block{}}
	texts := map[string]string{}
	for _, in := range p.Signature.Inputs {
		if in.Kind != UserInput {
			texts[in.Name] = in.Target
		}
	}
	p.Graph.draw(d, d.Block, texts)
	return d
}

// draw adds the nodes of a graph to a block; texts are the names of nodes that are no boxes.
func (g *Graph) draw(d *draw.Drawing, to *draw.Block, texts map[string]string) {
	of := map[string]*draw.Node{}
	for _, n := range g.Nodes {
		if _, is := texts[n.Name]; is || n.Op == GetAttr {
			continue
		}
		made := to.Add(&draw.Node{Title: n.title(), Kind: n.kind(), Hint: n.hint()})
		of[n.Name] = made
		var parts []string
		each := func(name string, a Argument) {
			a.walk(func(part Argument) {
				if part.Kind != NodeArgument {
					return
				}
				if from := of[part.Text]; from != nil {
					d.Connect(from, made, part.Text)
				} else if inner := g.Graph(part.Text); inner != nil {
					block := &draw.Block{Title: part.Text}
					made.Blocks = append(made.Blocks, block)
					inner.draw(d, block, map[string]string{})
				}
			})
			if text, ok := a.text(texts); ok {
				parts = append(parts, name+text)
			}
		}
		for _, a := range n.Args {
			each("", a)
		}
		for _, k := range n.Kwargs {
			each(k.Name+"=", k.Value)
		}
		made.Detail = draw.Cut(strings.Join(parts, ", "))
		if n.Op == Placeholder {
			made.Detail = n.Meta.text()
		}
	}
}

// text is an argument without boxes in it.
func (a Argument) text(texts map[string]string) (text string, ok bool) {
	ok = a.Kind != NoneArgument
	a.walk(func(part Argument) { ok = ok && (part.Kind != NodeArgument || texts[part.Text] != "") })
	if a.Kind == NodeArgument {
		return texts[a.Text], ok
	}
	var b strings.Builder
	a.write(&b)
	return b.String(), ok
}

func (n *Node) title() string {
	if n.Op == Output {
		return "return"
	}
	_, base, found := strings.Cut(n.Target, "::")
	if !found || n.Op == Placeholder {
		return n.Name
	}
	return strings.TrimSuffix(base, ".default")
}

func (n *Node) kind() draw.Kind {
	switch {
	case n.Op == Placeholder:
		return draw.Input
	case n.Op == Output:
		return draw.Output
	case strings.HasPrefix(n.Target, "higher_order::"):
		return draw.Control
	}
	return draw.Plain
}

func (n *Node) hint() string {
	where, _, _ := strings.Cut(n.Meta.Stack, "\n")
	return strings.TrimSpace(strings.Join([]string{n.Name + " = " + n.Target, n.Meta.text(), where}, "\n"))
}

// text is the type of a node's value.
func (m *Meta) text() string {
	if m.Val == nil || m.Val.Kind != TensorValue {
		return ""
	}
	sizes := make([]string, len(m.Val.Sizes))
	for i, s := range m.Val.Sizes {
		sizes[i] = s.String()
	}
	return m.Val.DType + "[" + strings.Join(sizes, ", ") + "]"
}

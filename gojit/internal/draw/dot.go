package draw

import (
	"fmt"
	"strconv"
	"strings"
)

// DOT returns the drawing as text in the language of Graphviz: blocks in boxes are clusters.
func (d *Drawing) DOT() string {
	var b strings.Builder
	b.WriteString("digraph {\n  node [shape=box, fontname=monospace, fontsize=10];\n")
	names := map[*Node]string{}
	d.Block.dot(&b, names, "  ")
	for _, e := range d.Edges {
		fmt.Fprintf(&b, "  %s -> %s;\n", names[e.From], names[e.To])
	}
	b.WriteString("}\n")
	return b.String()
}

func (block *Block) dot(b *strings.Builder, names map[*Node]string, indent string) {
	for _, n := range block.Nodes {
		name := "n" + strconv.Itoa(len(names))
		names[n] = name
		label := n.Title
		if n.Detail != "" {
			label += "\n" + n.Detail
		}
		style := ""
		if n.Kind == Input || n.Kind == Output {
			style = ", style=rounded"
		}
		fmt.Fprintf(b, "%s%s [label=%s%s];\n", indent, name, strconv.Quote(label), style)
		for i, inner := range n.Blocks {
			fmt.Fprintf(b, "%ssubgraph cluster_%s_%d {\n%s  label=%s;\n", indent, name, i, indent, strconv.Quote(strings.TrimSpace(n.Title+" "+inner.Title)))
			inner.dot(b, names, indent+"  ")
			b.WriteString(indent + "}\n")
		}
	}
}

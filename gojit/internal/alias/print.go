package alias

import (
	"fmt"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// String shows the graph, what each value may point to and contain, and what each node writes.
func (db *Db) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n===1. GRAPH===\n%s\n===2. ALIAS DB===\n", db.graph)
	for _, e := range db.all {
		if e.value == nil {
			continue
		}
		if len(e.pointsTo.to) > 0 {
			fmt.Fprintf(&b, "%s points to: %s\n", e, names(e.pointsTo.to))
		}
		if len(e.contains.to) > 0 {
			fmt.Fprintf(&b, "%s contains: %s\n", e, names(e.contains.to))
		}
	}
	b.WriteString("\n===3. Writes===\n")
	db.graph.Block().Walk(func(n *ir.Node) {
		if s := db.writesOf(n); !s.empty() {
			line, _, _ := strings.Cut(n.String(), "\n")
			fmt.Fprintf(&b, "%s\n  %s\n", line, names(db.at(s)))
		}
	})
	return b.String()
}

// Graphviz returns the memory DAG as a graph in the language of dot.
func (db *Db) Graphviz() string {
	var b strings.Builder
	b.WriteString("digraph alias_db {\n  rankdir=LR\n")
	for _, e := range db.all {
		fmt.Fprintf(&b, "  n%d [label=%q]\n", e.index, e)
		for _, to := range e.pointsTo.to {
			fmt.Fprintf(&b, "  n%d -> n%d\n", e.index, to.index)
		}
		for _, inner := range e.contains.to {
			fmt.Fprintf(&b, "  n%d -> n%d [style=dashed]\n", e.index, inner.index)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func (e *element) String() string {
	switch {
	case e.wildcard != "":
		return "WILDCARD for type " + e.wildcard
	case e.value == nil:
		return "element of type " + e.typ.String()
	}
	return "%" + e.value.Name()
}

// at returns the elements at locations.
func (db *Db) at(s set) []*element {
	var out []*element
	s.each(func(i int) { out = append(out, db.all[i]) })
	return out
}

func names(elements []*element) string {
	parts := make([]string, len(elements))
	for i, e := range elements {
		parts[i] = e.String()
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

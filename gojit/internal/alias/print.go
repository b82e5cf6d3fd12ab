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
		if to := e.shownPointers(); len(to) > 0 {
			fmt.Fprintf(&b, "%s points to: %s\n", e, strings.Join(sorted(names(to)), ", "))
		}
		if inner := e.shownContents(); len(inner) > 0 {
			fmt.Fprintf(&b, "%s contains: %s\n", e, strings.Join(sorted(names(inner)), ", "))
		}
	}
	b.WriteString("\n===3. Writes===\n")
	db.graph.Block().Walk(func(n *ir.Node) {
		if len(db.writes[n]) > 0 {
			line, _, _ := strings.Cut(n.String(), "\n")
			fmt.Fprintf(&b, "%s\n  %s\n", line, strings.Join(names(written(db.writes[n])), ", "))
		}
	})
	return b.String()
}

// Graphviz returns the memory DAG as a graph in the language of dot, behind a comment that shows the database.
func (db *Db) Graphviz() string {
	var b strings.Builder
	fmt.Fprintf(&b, "/*\n%s*/\ndigraph alias_db {\n  rankdir=LR\n  node [shape=rect, color=gray];\n  edge [color=black];\n", db)
	for _, e := range db.all {
		if e.value == nil {
			continue
		}
		for _, to := range e.shownPointers() {
			fmt.Fprintf(&b, "  %s -> %s\n", e.quoted(), to.quoted())
		}
		for _, inner := range e.shownContents() {
			fmt.Fprintf(&b, "  %s -> %s [style=dashed, color=blue]\n", e.quoted(), inner.quoted())
		}
	}
	b.WriteString("}\n")
	return b.String()
}

// shownPointers are what e may be, without the memory from outside where it is known what else it is.
func (e *element) shownPointers() []*element {
	known := slices.DeleteFunc(slices.Clone(e.pointsTo.to), func(to *element) bool { return to.wildcard != "" })
	if len(known) > 0 {
		return known
	}
	return e.pointsTo.to
}

// shownContents are what may be in e, and in the memory from outside that it may be.
func (e *element) shownContents() []*element {
	found := slices.Clone(e.contains.to)
	for _, to := range e.shownPointers() {
		if to.wildcard == "" {
			continue
		}
		for _, inner := range to.contains.to {
			if !slices.Contains(found, inner) {
				found = append(found, inner)
			}
		}
	}
	return found
}

// written lists what writes to elements change: memory from outside first, then the values that are known to be it.
func written(elements []*element) (found []*element) {
	for _, e := range elements {
		e.reach(func(x *element) {
			leaf := x.wildcard != "" || len(x.shownPointers()) == 0 || x.shownPointers()[0].wildcard != ""
			if leaf && !slices.Contains(found, x) {
				found = append(found, x)
			}
		})
	}
	slices.SortStableFunc(found, func(a, b *element) int {
		if outside := (a.wildcard == "") == (b.wildcard == ""); outside {
			return a.index - b.index
		}
		return strings.Compare(b.wildcard, a.wildcard)
	})
	return found
}

// quoted is the name of e in a graph of dot.
func (e *element) quoted() string {
	if e.wildcard != "" {
		return `"WILDCARD for ` + e.wildcard + `"`
	}
	return `"\` + e.String() + `"`
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

func names(elements []*element) []string {
	parts := make([]string, len(elements))
	for i, e := range elements {
		parts[i] = e.String()
	}
	return parts
}

func sorted(names []string) []string {
	slices.Sort(names)
	return names
}

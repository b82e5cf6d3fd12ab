package alias

import "github.com/torchjit/torchjit/gojit/internal/ir"

// CouldMoveBefore reports whether n can stand before m, with those of the nodes between them that
// n needs moved along, so that the graph still does the same.
func (db *Db) CouldMoveBefore(n, m *ir.Node) bool { return db.tryMove(n, m, true, true) }

// CouldMoveAfter is CouldMoveBefore for a place behind m.
func (db *Db) CouldMoveAfter(n, m *ir.Node) bool { return db.tryMove(n, m, false, true) }

// MoveBefore moves n before m if it can stand there, with the nodes that must go along. It reports
// whether it has.
func (db *Db) MoveBefore(n, m *ir.Node) bool { return db.tryMove(n, m, true, false) }

// MoveAfter is MoveBefore for a place behind m.
func (db *Db) MoveAfter(n, m *ir.Node) bool { return db.tryMove(n, m, false, false) }

// tryMove collects the nodes between n and m that depend on n, or on which n depends, on the way
// to m. They must get to the far side of m, or stay beside n where n itself does not pass m.
func (db *Db) tryMove(n, m *ir.Node, before, dry bool) bool {
	if n.Block() != m.Block() || n.Block() == nil {
		return false
	}
	if n == m {
		return true
	}
	forward := n.IsBefore(m)
	w := &working{db: db}
	w.add(n)
	for at := step(n, forward); at != nil && at != m; at = step(at, forward) {
		if w.dependsOn(at) {
			w.add(at)
		}
	}
	// Where n ends up on the near side of m, the others must pass m while n need not.
	split := before == forward
	group := w
	if split {
		group = &working{db: db}
		for _, x := range w.nodes[1:] {
			group.add(x)
		}
	}
	if group.dependsOn(m) {
		return false
	}
	if !dry {
		w.move(n, m, before, split)
	}
	return true
}

func step(n *ir.Node, forward bool) *ir.Node {
	if forward {
		return n.Next()
	}
	return n.Prev()
}

// working is a group of nodes that move together.
type working struct {
	db            *Db
	nodes         []*ir.Node
	users         map[*ir.Value]bool // values that the group uses
	reads, writes set
	effects       bool
}

func (w *working) add(n *ir.Node) {
	if w.users == nil {
		w.users = map[*ir.Value]bool{}
	}
	w.nodes = append(w.nodes, n)
	eachInput(n, func(v *ir.Value) { w.users[v] = true })
	w.reads.union(w.db.reads(n))
	w.writes.union(w.db.allWrites(n))
	w.effects = w.effects || hasEffects(n)
}

// eachInput calls visit for the inputs of n and of the nodes in its blocks.
func eachInput(n *ir.Node, visit func(*ir.Value)) {
	for _, in := range n.Inputs() {
		visit(in)
	}
	for _, b := range n.Blocks() {
		b.Walk(func(m *ir.Node) {
			for _, in := range m.Inputs() {
				visit(in)
			}
		})
		for _, out := range b.Outputs() {
			visit(out)
		}
	}
}

func hasEffects(n *ir.Node) bool {
	if n.HasSideEffects() || n.IsNondeterministic() {
		return true
	}
	found := false
	look := func(b *ir.Block) {
		b.Walk(func(m *ir.Node) { found = found || m.HasSideEffects() || m.IsNondeterministic() })
	}
	for _, b := range n.Blocks() {
		look(b)
	}
	if body := n.GraphAttr("Subgraph"); body != nil {
		look(body.Block())
	}
	return found
}

// dependsOn reports whether the order of n and the group matters.
func (w *working) dependsOn(n *ir.Node) bool {
	if len(w.nodes) == 0 {
		return false
	}
	if w.effects && hasEffects(n) {
		return true
	}
	for _, out := range n.Outputs() {
		if w.users[out] {
			return true
		}
	}
	uses := false
	eachInput(n, func(v *ir.Value) {
		for _, x := range w.nodes {
			uses = uses || v.Node() == x
		}
	})
	if uses {
		return true
	}
	writes := w.db.allWrites(n)
	return w.db.overlap(writes, w.reads) || w.db.overlap(writes, w.writes) || w.db.overlap(w.db.reads(n), w.writes)
}

// move puts n beside m. The other nodes of the group follow: behind n, or, with split, on the
// other side of m.
func (w *working) move(n, m *ir.Node, before, split bool) {
	place := func(x, at *ir.Node, before bool) {
		if before {
			x.MoveBefore(at)
		} else {
			x.MoveAfter(at)
		}
	}
	place(n, m, before)
	at, side := n, before
	if split {
		at, side = m, !before
	}
	for _, x := range w.nodes[1:] {
		place(x, at, side)
		at = x
	}
}

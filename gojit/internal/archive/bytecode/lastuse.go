package bytecode

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
)

const dropKind = prim.Drop

// insertDrops adds a prim::Drop for every value at the place from which on nothing uses it: behind the node that defines it where nothing
// does, and behind a node with blocks where the last use lies in these.
//
//	%y : int = prim::If(%c)     -- uses %x in one of its blocks
//	 = prim::Drop(%x)           -- added
func insertDrops(g *ir.Graph) {
	dropUnused(g.Block())
	d := &dropper{seen: map[*ir.Value]bool{}, behind: map[*ir.Node]*ir.Node{}}
	d.block(g.Block())
}

func dropUnused(b *ir.Block) {
	g := b.Graph()
	if unused := unusedOf(b.Inputs()); len(unused) > 0 {
		b.Prepend(g.Create(dropKind, unused, 0))
	}
	for _, n := range b.Nodes() {
		if unused := unusedOf(n.Outputs()); len(unused) > 0 {
			g.Create(dropKind, unused, 0).InsertAfter(n)
		}
		for _, inner := range n.Blocks() {
			dropUnused(inner)
		}
	}
}

func unusedOf(vs []*ir.Value) []*ir.Value {
	return slices.DeleteFunc(slices.Clone(vs), func(v *ir.Value) bool { return v.HasUses() || v.Node().Is(prim.Constant) })
}

// dropper walks a graph from its end, so that the first use it meets is the last.
type dropper struct {
	seen   map[*ir.Value]bool
	behind map[*ir.Node]*ir.Node // the drop that it put behind a node
}

func (d *dropper) block(b *ir.Block) {
	d.node(b.ReturnNode())
	for n := b.Last(); n != nil; n = n.Prev() {
		d.node(n)
	}
}

func (d *dropper) node(n *ir.Node) {
	for _, b := range n.Blocks() {
		d.block(b)
	}
	for _, v := range slices.Backward(slices.Clone(n.Inputs())) {
		if d.seen[v] {
			continue
		}
		d.seen[v] = true
		if beside := besideDefinition(n, v); beside != n {
			d.drop(v, beside)
		}
	}
}

// drop adds v to the drop behind n. That of constants alone stays empty: it drops nothing, but PyTorch has it, and it ends
// expression trees.
func (d *dropper) drop(v *ir.Value, n *ir.Node) {
	drop := d.behind[n]
	if drop == nil {
		drop = v.Node().Graph().Create(dropKind, nil, 0).InsertAfter(n)
		d.behind[n] = drop
	}
	if !v.Node().Is(prim.Constant) && !slices.Contains(drop.Inputs(), v) {
		drop.AddInput(v)
	}
}

// besideDefinition returns the node that is n or holds it and stands in the block in which v is defined.
func besideDefinition(n *ir.Node, v *ir.Value) *ir.Node {
	for n.Block() != v.Node().Block() {
		n = n.Block().Owner()
	}
	return n
}

// treeOrder finds the nodes whose results go straight from the stack to their only users: those whose places among the nodes are those at
// which a walk of expression trees comes to them. Constants do not count.
type treeOrder map[*ir.Node]bool

func inTreeOrder(g *ir.Graph) treeOrder {
	t := treeOrder{}
	t.block(g.Block())
	return t
}

func (t treeOrder) block(b *ir.Block) {
	t.node(b.ReturnNode())
	for n := b.Last(); n != nil; n = n.Prev() {
		t.node(n)
	}
}

// node looks at the inputs of n, last first, and returns the node before the tree that n is the root of, nil where n was met before.
func (t treeOrder) node(n *ir.Node) *ir.Node {
	if t[n] {
		return nil
	}
	for _, b := range n.Blocks() {
		t.block(b)
	}
	next := beforeConstants(n)
	for _, v := range slices.Backward(n.Inputs()) {
		if next != nil && v.Node() == next && len(v.Uses()) == 1 && len(next.Outputs()) == 1 {
			made := next
			next = t.node(made)
			t[made] = true
		}
	}
	return next
}

// beforeConstants returns the node before n that is no constant, nil where there is none.
func beforeConstants(n *ir.Node) *ir.Node {
	for n = n.Prev(); n != nil && n.Is(prim.Constant); n = n.Prev() {
	}
	return n
}

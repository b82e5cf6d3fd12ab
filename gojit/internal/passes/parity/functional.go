package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
)

// FunctionalKind is the kind of a node whose Subgraph writes nothing and whose results nothing writes.
const FunctionalKind = prim.FunctionalGraph

// leastFunctional is how many nodes make a functional graph.
const leastFunctional = 6

// functionalRounds is how often groups are made: what a round moves may let the next one make larger groups.
const functionalRounds = 4

// CreateFunctionalGraphs groups the nodes that write nothing, whose results nothing writes and nobody outside of the graph
// sees, at least six of them with those of their blocks. It reports whether there were any.
//
//	%a = aten::mul(%x, %y)          %b = prim::FunctionalGraph_0(%y, %x)
//	...                       ->    %r = aten::neg(%b)
//	%b = aten::tanh(%e)             with prim::FunctionalGraph_0 = graph(%y, %x): ...
//	%r = aten::neg(%b)
func CreateFunctionalGraphs(g *ir.Graph) bool {
	before := g.Text(false)
	for range functionalRounds {
		f := &functionalGroups{memory: alias.Analyze(g, alias.Options{}), functional: map[*ir.Node]bool{}}
		f.analyze(g.Block())
		f.group(g.Block())
		f.keep(g)
	}
	return g.Text(false) != before
}

// keep puts the nodes of groups that are too small back, under new numbers.
func (f *functionalGroups) keep(g *ir.Graph) {
	dissolved := false
	for _, n := range f.groups {
		if n.IsDestroyed() {
			continue
		}
		body := n.GraphAttr("Subgraph")
		if countNodes(body.Block()) < leastFunctional {
			passes.InlineSubgraph(n)
			dissolved = true
			continue
		}
		passes.ConstantPooling(body)
	}
	if dissolved {
		passes.ConstantPooling(g)
	}
}

// InlineFunctionalGraphs puts the nodes of functional graphs in their places. It reports whether there were any.
func InlineFunctionalGraphs(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == FunctionalKind {
			passes.InlineSubgraph(n)
			changed = true
		}
	})
	return changed
}

// countNodes counts the nodes of a block and of the blocks in it that are no constants.
func countNodes(b *ir.Block) (count int) {
	b.Walk(func(n *ir.Node) {
		if n.Kind() != prim.Constant {
			count++
		}
	})
	return count
}

// functionalGroups is the state of one CreateFunctionalGraphs.
type functionalGroups struct {
	memory     *alias.Db
	functional map[*ir.Node]bool
	groups     []*ir.Node
}

// analyze finds out which nodes of a block are functional and reports whether all are.
func (f *functionalGroups) analyze(b *ir.Block) bool {
	all := !slices.ContainsFunc(b.Inputs(), f.memory.HasWriters)
	for n := b.First(); n != nil; n = n.Next() {
		is := !f.memory.Writes(n)
		for _, v := range n.Outputs() {
			is = is && !f.memory.HasWriters(v) && !f.memory.Escapes(v)
		}
		for _, inner := range n.Blocks() {
			is = f.analyze(inner) && is
		}
		is = is || n.Kind() == FunctionalKind // a group of an earlier round
		f.functional[n] = is
		all = all && is
	}
	return all
}

// group makes the groups of a block, from its end on.
func (f *functionalGroups) group(b *ir.Block) {
	group := f.empty(b).InsertBefore(b.ReturnNode())
	for n := group.Prev(); n != nil; {
		at := n
		n = n.Prev()
		switch {
		case at == group || at.Kind() == prim.Constant:
		case !f.functional[at]:
			for _, inner := range at.Blocks() {
				f.group(inner)
			}
		case at.Kind() == FunctionalKind && group.GraphAttr("Subgraph").Block().First() == nil:
			group.Destroy()
			group = at
			f.groups = append(f.groups, group)
		case f.memory.MoveBefore(at, group):
			f.take(at, group)
		default:
			dropEmpty(group)
			group = f.empty(b).InsertAfter(at)
			f.take(at, group)
		}
	}
	dropEmpty(group)
}

// take moves a node, or the nodes of a group, into the group that it stands before.
func (f *functionalGroups) take(n, group *ir.Node) {
	if n.Kind() != FunctionalKind {
		passes.MergeUnderNames(f.memory, n, group)
		return
	}
	former := n.Prev()
	passes.InlineSubgraph(n)
	for at := group.Prev(); at != former; {
		m := at
		at = at.Prev()
		if m.Kind() != prim.Constant {
			passes.MergeUnderNames(f.memory, m, group)
		}
	}
}

// empty makes a group, which is in no block yet.
func (f *functionalGroups) empty(b *ir.Block) *ir.Node {
	group := passes.NewSubgraph(b.Graph(), FunctionalKind)
	f.groups = append(f.groups, group)
	return group
}

func dropEmpty(group *ir.Node) {
	if group.GraphAttr("Subgraph").Block().First() == nil {
		group.Destroy()
	}
}

package passes

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
)

// A node with the attribute Subgraph stands for the nodes of that graph, whose parameters are its inputs and whose results
// are its outputs.

// NewSubgraph makes a node with an empty Subgraph, which is in no block yet.
func NewSubgraph(g *ir.Graph, kind string) *ir.Node {
	return g.Create(kind, nil, 0).SetAttr("Subgraph", ir.NewGraph())
}

// MergeIntoSubgraph moves n to the front of a group's Subgraph. n stands before the group with nothing between that uses
// it. Constants that n uses are copied; what it makes becomes an output where something else uses it.
func MergeIntoSubgraph(memory *alias.Db, n, group *ir.Node) {
	body := group.GraphAttr("Subgraph")
	inner := map[*ir.Value]*ir.Value{}
	for i, v := range group.Inputs() {
		inner[v] = body.Inputs()[i]
	}
	front := orReturn(body.Block().First(), body.Block())
	old := body.SetInsertPoint(front)
	defer body.SetInsertPoint(old)
	for _, v := range outsideOf(n) {
		switch {
		case inner[v] != nil:
		case v.Node().Kind() == prim.Constant:
			inner[v] = body.InsertNode(body.Clone(v.Node(), nil)).Output()
		default:
			group.AddInput(v)
			inner[v] = body.AddInput("").CopyMetadata(v)
		}
	}
	merged := body.InsertNode(body.Clone(n, func(v *ir.Value) *ir.Value { return inner[v] }))
	for i, out := range n.Outputs() {
		takeOutput(memory, group, out, merged.Outputs()[i])
	}
	n.Destroy()
}

// takeOutput has everything that uses outer, which something outside of the group has made, use inner, which is in it now.
func takeOutput(memory *alias.Db, group *ir.Node, outer, inner *ir.Value) {
	body := group.GraphAttr("Subgraph")
	if at := slices.Index(group.Inputs(), outer); at >= 0 {
		body.Inputs()[at].ReplaceAllUsesWith(inner)
		body.Block().EraseInput(at)
		group.RemoveInput(at)
		inner.CopyMetadata(outer) // the name of the input is free now
	}
	if !outer.HasUses() {
		return
	}
	body.AddOutput(inner)
	given := group.AddOutput().CopyMetadata(outer)
	memory.Forget(outer, given)
	outer.ReplaceAllUsesWith(given)
}

// outsideOf lists the values that n and the nodes in its blocks use and do not define.
func outsideOf(n *ir.Node) []*ir.Value {
	var found []*ir.Value
	own := map[*ir.Value]bool{}
	use := func(vs []*ir.Value) {
		for _, v := range vs {
			if !own[v] && !slices.Contains(found, v) {
				found = append(found, v)
			}
		}
	}
	define := func(vs []*ir.Value) {
		for _, v := range vs {
			own[v] = true
		}
	}
	use(n.Inputs())
	var blocks func(n *ir.Node)
	blocks = func(n *ir.Node) {
		for _, b := range n.Blocks() {
			define(b.Inputs())
			for m := b.First(); m != nil; m = m.Next() {
				use(m.Inputs())
				blocks(m)
				define(m.Outputs())
			}
			use(b.Outputs())
		}
	}
	blocks(n)
	return found
}

func orReturn(n *ir.Node, b *ir.Block) *ir.Node {
	if n == nil {
		return b.ReturnNode()
	}
	return n
}

// InlineSubgraph puts the Subgraph of a node in its place.
func InlineSubgraph(n *ir.Node) {
	g := n.Graph()
	old := g.SetInsertPoint(n)
	outs := g.InsertGraph(n.GraphAttr("Subgraph"), n.Inputs())
	g.SetInsertPoint(old)
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(outs[i])
	}
	n.Destroy()
}

// NodesOf lists the nodes of a graph, those of a block before those in the blocks of its nodes, of which the last come first.
func NodesOf(g *ir.Graph) []*ir.Node {
	var found []*ir.Node
	blocks := []*ir.Block{g.Block()}
	for len(blocks) > 0 {
		b := blocks[len(blocks)-1]
		blocks = blocks[:len(blocks)-1]
		for n := b.First(); n != nil; n = n.Next() {
			found = append(found, n)
			blocks = append(blocks, n.Blocks()...)
		}
	}
	return found
}

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
// it. Constants that n uses are copied; what it makes becomes an output where something else uses it. The names that its
// outputs have are given away first: those in the group and outside have the next numbers.
func MergeIntoSubgraph(memory *alias.Db, n, group *ir.Node) {
	mergeRenamed(memory, n, group, outsideOf(n))
}

// mergeRenamed is MergeIntoSubgraph where what n uses becomes inputs of the group in a certain order. It returns the node in the group.
func mergeRenamed(memory *alias.Db, n, group *ir.Node, uses []*ir.Value) (inner *ir.Node) {
	holder := n.Graph().Create(prim.Uninitialized, nil, 0)
	for _, out := range n.Outputs() {
		holder.AddOutput().CopyMetadata(out)
	}
	inner = merge(memory, n, group, uses)
	holder.Destroy()
	return inner
}

// MergeUnderNames is MergeIntoSubgraph where what n makes has its name in the group and outside.
func MergeUnderNames(memory *alias.Db, n, group *ir.Node) {
	merge(memory, n, group, outsideOf(n))
}

func merge(memory *alias.Db, n, group *ir.Node, uses []*ir.Value) (inside *ir.Node) {
	body := group.GraphAttr("Subgraph")
	inner := map[*ir.Value]*ir.Value{}
	for i, v := range group.Inputs() {
		inner[v] = body.Inputs()[i]
	}
	front := orReturn(body.Block().First(), body.Block())
	old := body.SetInsertPoint(front)
	defer body.SetInsertPoint(old)
	for _, v := range uses {
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
	return merged
}

// takeOut puts nodes of a group's Subgraph, each of which follows those that it needs, behind the group.
func takeOut(memory *alias.Db, nodes []*ir.Node, group *ir.Node) {
	body := group.GraphAttr("Subgraph")
	outer := map[*ir.Value]*ir.Value{}
	old := group.Graph().SetInsertPoint(orReturn(group.Next(), group.Block()))
	defer group.Graph().SetInsertPoint(old)
	for _, n := range nodes {
		for _, v := range n.Inputs() {
			switch at := slices.Index(body.Inputs(), v); {
			case outer[v] != nil:
			case at >= 0:
				outer[v] = group.Input(at)
			case v.Node().Kind() == prim.Constant:
				outer[v] = group.Graph().InsertNode(group.Graph().Clone(v.Node(), nil)).Output()
			default:
				outer[v] = resultOf(memory, group, v)
			}
		}
		clone := group.Graph().InsertNode(group.Graph().Clone(n, func(v *ir.Value) *ir.Value { return outer[v] }))
		for i, out := range n.Outputs() {
			outer[out] = clone.Outputs()[i]
			if at := slices.Index(body.Outputs(), out); at >= 0 {
				memory.Forget(group.Outputs()[at], outer[out])
				group.Outputs()[at].ReplaceAllUsesWith(outer[out])
				body.Block().EraseOutput(at)
				group.EraseOutput(at)
			}
		}
	}
	for _, n := range slices.Backward(nodes) {
		n.Destroy()
	}
}

// resultOf returns the output of a group that is a value of its Subgraph.
func resultOf(memory *alias.Db, group *ir.Node, inner *ir.Value) *ir.Value {
	body := group.GraphAttr("Subgraph")
	if at := slices.Index(body.Outputs(), inner); at >= 0 {
		return group.Outputs()[at]
	}
	body.AddOutput(inner)
	return group.AddOutput().CopyMetadata(inner)
}

// takeOutput has everything that uses outer, which something outside of the group has made, use inner, which is in it now.
func takeOutput(memory *alias.Db, group *ir.Node, outer, inner *ir.Value) {
	body := group.GraphAttr("Subgraph")
	if at := slices.Index(group.Inputs(), outer); at >= 0 {
		body.Inputs()[at].ReplaceAllUsesWith(inner)
		body.Block().EraseInput(at)
		group.RemoveInput(at)
	}
	given := group.AddOutput()
	if !outer.HasUses() {
		group.EraseOutput(given.Offset())
		return
	}
	body.AddOutput(inner)
	given.CopyMetadata(outer)
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

package ir

import (
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
)

// Block is a list of nodes with parameters and results. Its parameters are the outputs of a
// hidden first node and its results the inputs of a hidden last one, so that both are values and
// uses like others.
type Block struct {
	graph *Graph
	owner *Node // the node that holds the block; nil for the top-level block
	param *Node
	ret   *Node
}

func (g *Graph) newBlock(owner *Node) *Block {
	b := &Block{graph: g, owner: owner}
	b.param, b.ret = g.newNode(prim.Param), g.newNode(prim.Return)
	b.param.block, b.ret.block = b, b
	b.param.position, b.ret.position = minPosition, maxPosition
	b.param.next, b.ret.prev = b.ret, b.param
	return b
}

// index returns the position among the owner's blocks.
func (b *Block) index() int {
	for i, other := range b.owner.blocks {
		if other == b {
			return i
		}
	}
	return -1
}

// Graph returns the graph that the block belongs to, nil once it is destroyed.
func (b *Block) Graph() *Graph { return b.graph }

// IsDestroyed reports whether the block has been destroyed with the node that held it.
func (b *Block) IsDestroyed() bool { return b.graph == nil }

// Owner returns the node that holds the block, nil for the top-level block.
func (b *Block) Owner() *Node { return b.owner }

// Inputs returns the parameters. The slice must not be changed.
func (b *Block) Inputs() []*Value { return b.param.outputs }

// Outputs returns the results. The slice must not be changed.
func (b *Block) Outputs() []*Value { return b.ret.inputs }

// ParamNode returns the hidden node whose outputs are the parameters.
func (b *Block) ParamNode() *Node { return b.param }

// ReturnNode returns the hidden node whose inputs are the results.
func (b *Block) ReturnNode() *Node { return b.ret }

// AddInput adds a parameter; name may be "".
func (b *Block) AddInput(name string) *Value {
	v := b.param.AddOutput()
	if ValidName(name) {
		v.SetName(name)
	}
	return v
}

// InsertInput adds a parameter at a position.
func (b *Block) InsertInput(i int) *Value { return b.param.InsertOutput(i) }

// EraseInput removes a parameter, which has no uses.
func (b *Block) EraseInput(i int) { b.param.EraseOutput(i) }

// AddOutput adds a result and returns its position.
func (b *Block) AddOutput(v *Value) int {
	if v.Node().Graph() != b.Graph() {
		panic("ir: %" + v.Name() + " belongs to another graph")
	}
	b.ret.AddInput(v)
	return len(b.ret.inputs) - 1
}

// InsertOutput adds a result at a position.
func (b *Block) InsertOutput(i int, v *Value) { b.ret.InsertInput(i, v) }

// EraseOutput removes a result.
func (b *Block) EraseOutput(i int) { b.ret.RemoveInput(i) }

// ReplaceOutput replaces a result.
func (b *Block) ReplaceOutput(i int, v *Value) { b.ret.ReplaceInput(i, v) }

// First returns the first node, nil where there is none. Follow Node.Next from it.
func (b *Block) First() *Node {
	if b.param.next == b.ret {
		return nil
	}
	return b.param.next
}

// Last returns the last node, nil where there is none. Follow Node.Prev from it.
func (b *Block) Last() *Node {
	if b.ret.prev == b.param {
		return nil
	}
	return b.ret.prev
}

// Nodes returns the nodes in order, as they are now: the block may be changed meanwhile.
func (b *Block) Nodes() []*Node {
	var nodes []*Node
	for n := b.First(); n != nil; n = n.Next() {
		nodes = append(nodes, n)
	}
	return nodes
}

// Append puts n at the end and returns it.
func (b *Block) Append(n *Node) *Node { return n.InsertBefore(b.ret) }

// Prepend puts n at the beginning and returns it.
func (b *Block) Prepend(n *Node) *Node { return n.InsertAfter(b.param) }

// CloneFrom adds copies of what src holds, its parameters and its results too, to b. outer maps
// the values that src uses but does not define.
func (b *Block) CloneFrom(src *Block, outer func(*Value) *Value) {
	env := map[*Value]*Value{}
	lookup := func(v *Value) *Value {
		if c, ok := env[v]; ok {
			return c
		}
		return outer(v)
	}
	for _, in := range src.Inputs() {
		env[in] = b.AddInput("").CopyMetadata(in)
	}
	for n := src.First(); n != nil; n = n.Next() {
		c := b.Append(b.graph.Clone(n, lookup))
		for i, out := range n.outputs {
			env[out] = c.outputs[i].CopyMetadata(out) // the name moves on once more within a graph
		}
	}
	for _, out := range src.Outputs() {
		b.AddOutput(lookup(out))
	}
}

// Walk calls visit for each node of the block and, after it, for those of its blocks.
func (b *Block) Walk(visit func(*Node)) {
	for n := b.First(); n != nil; {
		next := n.Next()
		visit(n)
		if n.graph != nil {
			for _, inner := range n.blocks {
				inner.Walk(visit)
			}
		}
		n = next
	}
}

// destroy removes all nodes, last first, and the parameters.
func (b *Block) destroy() {
	b.ret.RemoveAllInputs()
	for n := b.Last(); n != nil; n = b.Last() {
		n.Destroy()
	}
	for i := len(b.param.outputs) - 1; i >= 0; i-- {
		b.param.EraseOutput(i)
	}
	if b.graph.insertPoint == b.ret {
		b.graph.insertPoint = b.graph.block.ret
	}
	b.graph.spare.destroyed(b.param)
	b.graph.spare.destroyed(b.ret)
	b.graph, b.param.graph, b.ret.graph = nil, nil, nil
}

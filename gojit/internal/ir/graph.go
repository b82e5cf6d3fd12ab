// Package ir holds the intermediate representation: graphs of nodes in blocks over values in
// static single assignment form.
//
// A Graph has one top-level Block; a Block is a list of Nodes in an order that is both the order
// of execution and a topological order of the data; a Node applies an operator to Values and
// defines new ones, and may hold blocks of its own (prim::If, prim::Loop, ...). A Value knows its
// producer and all its uses. Fields that must agree are private; the methods keep them so: after
// any of them, v is in n's inputs exactly where (n, index) is in v's uses.
//
// The text form is PyTorch's. Parse reads what String prints. The package knows schemas and
// operators, but neither passes nor execution. A graph may be read from many goroutines at once
// and changed by one alone.
package ir

import (
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// Graph is a function body.
type Graph struct {
	block       *Block
	nextID      int
	names       map[string]*nameSet // by what stands before the number
	insertPoint *Node               // new nodes go before it
	marks       uint32              // the last set of marked nodes
	scope       string              // of new nodes

	slabs slabs
	spare *NodePool

	matching []*Value // room for the inputs of the schema that is tried
}

// NewGraph returns an empty graph with the insertion point at the end of its block.
func NewGraph() *Graph { return NewGraphFrom(nil) }

// Block returns the top-level block.
func (g *Graph) Block() *Block { return g.block }

// Inputs returns the parameters. The slice must not be changed.
func (g *Graph) Inputs() []*Value { return g.block.Inputs() }

// Outputs returns the results. The slice must not be changed.
func (g *Graph) Outputs() []*Value { return g.block.Outputs() }

// AddInput adds a parameter; name may be "".
func (g *Graph) AddInput(name string) *Value { return g.block.AddInput(name) }

// AddOutput adds a result and returns its position.
func (g *Graph) AddOutput(v *Value) int { return g.block.AddOutput(v) }

// Create returns a new node that is in no block yet, with the given inputs and number of outputs.
func (g *Graph) Create(kind string, inputs []*Value, outputs int) *Node {
	n := g.newNode(kind)
	n.inputs, n.outputs = g.room(n.inputs, len(inputs)), g.room(n.outputs, outputs)
	n.Scope = g.scope
	for _, v := range inputs {
		n.AddInput(v)
	}
	for range outputs {
		n.AddOutput()
	}
	return n
}

// InsertNode puts n at the insertion point and returns it.
func (g *Graph) InsertNode(n *Node) *Node { return n.InsertBefore(g.insertPoint) }

// InsertPoint returns the node before which InsertNode puts new nodes.
func (g *Graph) InsertPoint() *Node { return g.insertPoint }

// SetInsertPoint moves the insertion point before n and returns the former one.
func (g *Graph) SetInsertPoint(n *Node) *Node {
	old := g.insertPoint
	g.insertPoint = n
	return old
}

// SetScope makes scope that of the nodes that are created from here on and returns the former one.
func (g *Graph) SetScope(scope string) string {
	old := g.scope
	g.scope = scope
	return old
}

// SetInsertEnd moves the insertion point to the end of b and returns the former one.
func (g *Graph) SetInsertEnd(b *Block) *Node { return g.SetInsertPoint(b.ret) }

func (g *Graph) newNode(kind string) *Node {
	n := g.spare.node()
	if n == nil {
		n = g.slabs.nodes.one()
	}
	n.graph, n.kind = g, kind
	return n
}

func (g *Graph) newValue(n *Node, offset int) *Value {
	v := g.spare.value()
	if v == nil {
		v = g.slabs.values.one()
	}
	v.node, v.offset, v.id, v.typ = n, offset, g.nextID, types.Tensor
	if v.uses == nil {
		v.uses = g.slabs.uses.many(2) // most values have one or two
	}
	g.nextID++
	return v
}

// ValidName reports whether a value may be called name: something other than a number.
func ValidName(name string) bool {
	for i := range len(name) {
		if name[i] < '0' || name[i] > '9' {
			return true
		}
	}
	return false
}

// Copy returns a graph like g, with values numbered anew in order.
func (g *Graph) Copy() *Graph {
	c := NewGraph()
	c.block.CloneFrom(g.block, func(v *Value) *Value { return v })
	return c
}

// Twin returns a copy whose values have the numbers of g's, so that both have one text.
func (g *Graph) Twin() *Graph {
	c := g.Copy()
	c.block.takeNumbers(g.block)
	c.nextID = g.nextID
	return c
}

// takeNumbers gives the values of b, a copy, the numbers of the original's.
func (b *Block) takeNumbers(original *Block) {
	take := func(to, from []*Value) {
		for i, v := range to {
			v.id = from[i].id
		}
	}
	take(b.Inputs(), original.Inputs())
	from := original.First()
	for n := b.First(); n != nil; n, from = n.Next(), from.Next() {
		take(n.outputs, from.outputs)
		for i, inner := range n.blocks {
			inner.takeNumbers(from.blocks[i])
		}
	}
}

// InsertGraph puts a copy of callee's body at the insertion point, with arguments for its
// parameters, and returns the copies of its results.
func (g *Graph) InsertGraph(callee *Graph, arguments []*Value) []*Value {
	env := make(map[*Value]*Value, len(arguments))
	for i, in := range callee.Inputs() {
		env[in] = arguments[i]
	}
	lookup := func(v *Value) *Value { return env[v] }
	for n := callee.block.First(); n != nil; n = n.Next() {
		clone := g.InsertNode(g.Clone(n, lookup))
		for i, out := range n.outputs {
			env[out] = clone.outputs[i]
		}
	}
	outputs := make([]*Value, len(callee.Outputs()))
	for i, out := range callee.Outputs() {
		outputs[i] = env[out]
	}
	return outputs
}

// Clone returns a copy of n, with its blocks, that is in no block yet; inputs are mapped by
// lookup.
func (g *Graph) Clone(n *Node, lookup func(*Value) *Value) *Node {
	c := g.newNode(n.kind)
	c.Range, c.Scope, c.Calls, c.operator, c.ReadsNoFloat32 = n.Range, n.Scope, n.Calls, n.operator, n.ReadsNoFloat32
	c.inputs, c.outputs = g.room(c.inputs, len(n.inputs)), g.room(c.outputs, len(n.outputs))
	for _, a := range n.attrs {
		switch inner := a.Value.(type) {
		case *Graph:
			a.Value = inner.Copy()
		case []*Graph:
			copies := make([]*Graph, len(inner))
			for i, g := range inner {
				copies[i] = g.Copy()
			}
			a.Value = copies
		}
		c.attrs = append(c.attrs, a)
	}
	for _, out := range n.outputs {
		c.AddOutput().CopyMetadata(out)
	}
	for _, in := range n.inputs {
		c.AddInput(lookup(in))
	}
	for _, b := range n.blocks {
		c.AddBlock().CloneFrom(b, lookup)
	}
	return c
}

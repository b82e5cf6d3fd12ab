package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// LiftForks turns the block of each forked call into a graph of its own, which takes the values
// that the block used from outside as inputs.
//
//	%c = prim::Closure()             %f = prim::fork_0(%x)
//	  block0():                      with prim::fork_0 = graph(%x):
//	    %y = ... (%x)                  %y = ... (%x)
//	    -> (%y)                        return (%y)
//	%f = prim::forkClosure(%c)
func LiftForks(g *ir.Graph) {
	found, tuples := false, 0
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == forkClosure {
			found, tuples = true, tuples+2
			if _, ok := n.Attr("InComprehension"); ok {
				tuples--
			}
		}
	})
	if !found {
		return
	}
	DCE(g)
	// The numbers of values are those that PyTorch gives: before the first fork two go to tuples of what each call captures, and one in a
	// comprehension.
	for range tuples {
		g.Create(prim.TupleConstruct, nil, 1).Destroy()
	}
	liftForks(g.Block())
}

const forkClosure = prim.ForkClosure

// liftForks lifts the forked calls of a block, and before each those within it.
func liftForks(b *ir.Block) {
	for _, n := range b.Nodes() {
		if n.Kind() == forkClosure {
			liftForks(n.Input(0).Node().Blocks()[0])
			liftFork(n)
			continue
		}
		if n.Kind() == prim.Closure {
			continue // its fork comes after it
		}
		for _, inner := range n.Blocks() {
			liftForks(inner)
		}
	}
}

func liftFork(n *ir.Node) {
	closure := n.Input(0).Node()
	l := newLifting(closure.Blocks()[0])
	kind := prim.Fork
	if _, lazy := n.Attr("Lazy"); lazy {
		kind = prim.Awaitable
	}
	fork := n.Graph().Create(kind, l.captured, 1).SetRange(n.Range).SetAttr("Subgraph", l.graph)
	fork.InsertBefore(n)
	fork.Output().CopyMetadata(n.Output())
	n.Output().ReplaceAllUsesWith(fork.Output())
	n.Destroy()
	closure.Destroy()
}

// LiftClosures turns the block of each function inside another into a graph of its own, which takes what it uses from outside as a tuple,
// its first input. The function's value becomes a pair of itself and that tuple.
func LiftClosures(g *ir.Graph) {
	var closures []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == prim.Closure && len(n.Blocks()) > 0 {
			closures = append(closures, n)
		}
	})
	if len(closures) > 0 {
		DCE(g)
	}
	for i := len(closures) - 1; i >= 0; i-- {
		if n := closures[i]; n.Graph() != nil {
			liftClosure(n)
		}
	}
}

func liftClosure(n *ir.Node) {
	l := newClosureLifting(n.Blocks()[0])
	g := n.Graph()
	ConstantPooling(l.graph)
	n.EraseBlock(0)
	n.SetAttr("Subgraph", l.graph)
	context := g.CreateTuple(l.captured, nil).SetRange(n.Range).InsertAfter(n).Output()
	pair := g.CreateTuple([]*ir.Value{context, context}, nil)
	pair.InsertAfter(context.Node())
	n.Output().ReplaceAllUsesWith(pair.Output())
	pair.ReplaceInput(0, n.Output())
	pair.Output().SetType(types.NewTuple(n.Output().Type(), context.Type()))
}

// lifting copies a block into a graph.
type lifting struct {
	graph    *ir.Graph
	env      map[*ir.Value]*ir.Value
	captured []*ir.Value // outer values, in the order in which they are used
	holder   *ir.Node    // defines what stands for them until they are inputs
}

func newLifting(b *ir.Block) *lifting {
	l := &lifting{graph: ir.NewGraph(), env: map[*ir.Value]*ir.Value{}}
	// And here one goes to that tuple as a parameter.
	l.graph.AddInput("")
	l.graph.Block().EraseInput(0)
	l.holder = l.graph.Block().Append(l.graph.Create(prim.TupleUnpack, nil, 0))
	l.copy(b)
	for i, v := range l.captured {
		in := l.graph.AddInput("")
		l.holder.Outputs()[i].ReplaceAllUsesWith(in)
		in.CopyMetadata(v)
	}
	l.holder.Destroy()
	return l
}

// newClosureLifting is newLifting for the block of a function: what is captured stays a tuple, before the parameters.
func newClosureLifting(b *ir.Block) *lifting {
	l := &lifting{graph: ir.NewGraph(), env: map[*ir.Value]*ir.Value{}}
	context := l.graph.AddInput("context")
	l.holder = l.graph.Block().Append(l.graph.Create(prim.TupleUnpack, []*ir.Value{context}, 0))
	for _, in := range b.Inputs() {
		l.env[in] = l.graph.AddInput("").CopyMetadata(in)
	}
	l.copy(b)
	elems := make([]types.Type, len(l.captured))
	for i, v := range l.captured {
		elems[i] = l.holder.Outputs()[i].CopyMetadata(v).Type()
	}
	context.SetType(types.NewTuple(elems...))
	return l
}

// copy adds copies of the nodes and results of a block.
func (l *lifting) copy(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		l.capture(b, n)
		c := l.graph.Block().Append(l.graph.Clone(n, l.lookup))
		for i, out := range n.Outputs() {
			l.env[out] = c.Outputs()[i]
		}
	}
	for _, out := range b.Outputs() {
		l.graph.AddOutput(l.lookup(out))
	}
}

// capture makes what n and the nodes in it use from outside of b known to lookup.
func (l *lifting) capture(b *ir.Block, n *ir.Node) {
	for _, v := range n.Inputs() {
		if !within(v.Node().Block(), b) {
			l.lookup(v)
		}
	}
	for _, inner := range n.Blocks() {
		for m := inner.First(); m != nil; m = m.Next() {
			l.capture(b, m)
		}
		l.capture(b, inner.ReturnNode())
	}
}

// within reports whether inner is outer or lies in it.
func within(inner, outer *ir.Block) bool {
	for inner != outer {
		if inner.Owner() == nil {
			return false
		}
		inner = inner.Owner().Block()
	}
	return true
}

func (l *lifting) lookup(v *ir.Value) *ir.Value {
	if c, ok := l.env[v]; ok {
		return c
	}
	c := l.holder.AddOutput().SetType(v.Type())
	l.env[v] = c
	l.captured = append(l.captured, v)
	return c
}

package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// LowerAllTuples replaces tuples by their elements: in parameters and results of the graph and its
// blocks, in what flows through prim::If and prim::Loop, where they are made and taken apart, among what
// aten::format writes, and where they are items of containers that are read. It raises where a tuple is left, but for unused parameters.
//
//	graph(%t : (Tensor, int)): ... return (%t)   -- graph(%a : Tensor, %b : int): ... return (%a, %b)
func LowerAllTuples(g *ir.Graph) {
	l := &tupleLowering{g: g}
	l.parameters(g.Block())
	l.block(g.Block())
	l.results(g.Block())
	passes.DCE(g)
	g.Block().Walk(func(n *ir.Node) {
		for _, out := range n.Outputs() {
			source.Check(out.Type().Kind() != types.KindTuple, "Couldn't lower all tuples.")
		}
	})
}

type tupleLowering struct{ g *ir.Graph }

// parameters replaces parameters of a block that are tuples by ones for their elements, from which
// a tuple is made at the beginning.
func (l *tupleLowering) parameters(b *ir.Block) {
	for i := 0; i < len(b.Inputs()); {
		in := b.Inputs()[i]
		t, ok := in.Type().(*types.Tuple)
		if !ok || !in.HasUses() && b == l.g.Block() {
			i++
			continue
		}
		elements := make([]*ir.Value, len(t.Elems))
		for k, elem := range t.Elems {
			elements[k] = b.InsertInput(i + 1 + k).SetType(elem)
		}
		made := b.Prepend(l.g.CreateTuple(elements, t))
		in.ReplaceAllUsesWith(made.Output())
		b.EraseInput(i)
	}
}

// results replaces results of a block that are tuples by their elements.
func (l *tupleLowering) results(b *ir.Block) {
	for i := 0; i < len(b.Outputs()); {
		out := b.Outputs()[i]
		if _, ok := out.Type().(*types.Tuple); !ok {
			i++
			continue
		}
		elements := l.elements(out)
		b.EraseOutput(i)
		for k, v := range elements {
			b.InsertOutput(i+k, v)
		}
	}
}

// elements returns the elements of a tuple, which only a node that makes one tells.
func (l *tupleLowering) elements(v *ir.Value) []*ir.Value {
	n := v.Node()
	if n.Kind() != prim.TupleConstruct {
		source.Raise(source.RuntimeError, "tuple use not matched to tuple construct. Instead found: %s", n.Kind())
	}
	return slices.Clone(n.Inputs())
}

// constant replaces a constant that is a tuple by a tuple of constants.
func (l *tupleLowering) constant(n *ir.Node) {
	c, ok := n.Output().Constant()
	if !ok || c.Kind() != value.KindTuple {
		return
	}
	old := l.g.SetInsertPoint(n)
	defer l.g.SetInsertPoint(old)
	items := c.Tuple().Items
	elements := make([]*ir.Value, len(items))
	for i, item := range items {
		elements[i] = l.g.Constant(item, source.Range{})
	}
	t, _ := n.Output().Type().(*types.Tuple)
	if t != nil && t.Name == "" {
		t = nil
	}
	made := l.g.InsertNode(l.g.CreateTuple(elements, t))
	n.Output().ReplaceAllUsesWith(made.Output())
	for _, element := range elements {
		l.constant(element.Node())
	}
}

func (l *tupleLowering) block(b *ir.Block) {
	for n := b.First(); n != nil; {
		next := n.Next()
		l.node(n)
		n = next
	}
}

func (l *tupleLowering) node(n *ir.Node) {
	switch n.Kind() {
	case prim.Constant:
		l.constant(n)
	case prim.If:
		l.branches(n)
	case prim.Loop:
		l.loop(n)
	case prim.TupleUnpack:
		for i, v := range l.made(n) {
			n.Outputs()[i].ReplaceAllUsesWith(v)
		}
	case prim.TupleIndex:
		index, ok := passes.ConstantInts(n.Inputs()[1:])
		source.Check(ok, "tuple index with non-constant index")
		items := l.made(n)
		i := int(index[0])
		if i < 0 {
			i += len(items)
		}
		if i >= 0 && i < len(items) {
			n.Output().ReplaceAllUsesWith(items[i])
		}
	case prim.TupleSlice:
		l.slice(n)
	case aten.Format:
		l.inputs(n, 0)
	case aten.Getitem, prim.Uninitialized:
		l.outputs(n)
	default:
		for _, b := range n.Blocks() {
			l.block(b)
		}
	}
}

// made returns the elements of a node's first input, which is a tuple that another node makes.
func (l *tupleLowering) made(n *ir.Node) []*ir.Value {
	maker := n.Input(0).Node()
	if maker.Kind() != prim.TupleConstruct {
		source.Raise(source.RuntimeError, "%s not matched to tuple construct", n.Kind())
	}
	return slices.Clone(maker.Inputs())
}

func (l *tupleLowering) slice(n *ir.Node) {
	items := l.made(n)
	from, ok := n.Attr("beg")
	to, ok2 := n.Attr("end")
	first, isInt := from.(int64)
	last, isInt2 := to.(int64)
	if !ok || !ok2 || !isInt || !isInt2 || first < 0 || last > int64(len(items)) || first > last {
		return
	}
	t, _ := n.Output().Type().(*types.Tuple)
	made := l.g.CreateTuple(items[first:last], t).InsertBefore(n)
	n.Output().ReplaceAllUsesWith(made.Output())
}

// branches lowers the results of both blocks; behind the node a tuple is made of them.
func (l *tupleLowering) branches(n *ir.Node) {
	for _, b := range n.Blocks() {
		l.block(b)
		l.results(b)
	}
	l.outputs(n)
}

// inputs replaces inputs from one on that are tuples by their elements.
func (l *tupleLowering) inputs(n *ir.Node, from int) {
	for i := from; i < len(n.Inputs()); {
		v := n.Input(i)
		if _, ok := v.Type().(*types.Tuple); !ok {
			i++
			continue
		}
		elements := l.elements(v)
		n.RemoveInput(i)
		for k, e := range elements {
			n.InsertInput(i+k, e)
		}
	}
}

// loop lowers the values that the loop carries.
func (l *tupleLowering) loop(n *ir.Node) {
	l.inputs(n, 2)
	body := n.Blocks()[0]
	l.parameters(body)
	l.block(body)
	l.results(body)
	l.outputs(n)
}

// outputs replaces outputs that are tuples by ones for their elements, and makes a tuple of them
// behind the node.
func (l *tupleLowering) outputs(n *ir.Node) {
	for i := 0; i < len(n.Outputs()); {
		out := n.Outputs()[i]
		t, ok := out.Type().(*types.Tuple)
		if !ok || !out.HasUses() && len(n.Blocks()) == 0 {
			i++
			continue
		}
		elements := make([]*ir.Value, len(t.Elems))
		for k, elem := range t.Elems {
			elements[k] = n.InsertOutput(i + 1 + k).SetType(elem)
		}
		made := l.g.CreateTuple(elements, t).InsertAfter(n)
		out.ReplaceAllUsesWith(made.Output())
		n.EraseOutput(i)
	}
}

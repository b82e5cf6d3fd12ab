package passes

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// RemoveMutation replaces writes to memory that is made in the graph, and that nothing else reads
// between its making and the write, by operators that make new memory. It reports whether it
// changed a write of a tensor.
//
//	%x = aten::relu(%a)
//	%y = aten::add_(%x, %b, 1)   -- becomes aten::add; later uses of %x become uses of it
func RemoveMutation(g *ir.Graph) bool {
	RemoveListMutation(g)
	return RemoveTensorMutation(g)
}

// RemoveTensorMutation is RemoveMutation for tensors alone.
func RemoveTensorMutation(g *ir.Graph) bool {
	return RemoveMutationOf(g, func(n *ir.Node) *ir.Node { return FunctionalNode(n) })
}

// RemoveListMutation is RemoveMutation for what is appended to, inserted into and set in lists that are
// constructed in the graph.
func RemoveListMutation(g *ir.Graph) bool {
	return RemoveMutationOf(g, func(n *ir.Node) *ir.Node {
		if n.Input(0).Node().Kind() != prim.ListConstruct {
			return nil
		}
		list := n.Input(0).Node()
		items, ok := itemsAfter(n, slices.Clone(list.Inputs()))
		if !ok {
			return nil
		}
		list.RemoveAllInputs()
		for _, item := range items {
			list.AddInput(item)
		}
		return list
	})
}

// itemsAfter returns the elements of a list behind a node that changes it at a constant index.
func itemsAfter(n *ir.Node, items []*ir.Value) (changed []*ir.Value, ok bool) {
	if n.Kind() == aten.Append {
		return append(items, n.Input(1)), true
	}
	if !n.Is(aten.SetItem, aten.Insert) || len(n.Inputs()) != 3 {
		return nil, false
	}
	index, ok := ConstantInts(n.Inputs()[1:2])
	if !ok {
		return nil, false
	}
	i := int(index[0])
	if i < 0 {
		i += len(items)
	}
	if n.Kind() == aten.Insert {
		return slices.Insert(items, max(0, min(i, len(items))), n.Input(2)), true
	}
	if i < 0 || i >= len(items) {
		return nil, false
	}
	items[i] = n.Input(2)
	return items, true
}

// RemoveMutationOf replaces each node that replacement has one for, a new one or that which makes what the node writes, where that is
// safe. The graph's memory is analyzed anew after each change.
func RemoveMutationOf(g *ir.Graph, replacement func(*ir.Node) *ir.Node) bool {
	changed := false
	for again := true; again; {
		again = false
		db := alias.Analyze(g, alias.Options{})
		for _, n := range writers(g, db) {
			if !ownsWritten(db, n) {
				continue
			}
			if made := replacement(n); made != nil {
				functionalize(n, made)
				changed, again = true, true
				break
			}
		}
	}
	return changed
}

func writers(g *ir.Graph, db *alias.Db) []*ir.Node {
	var found []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if len(n.Blocks()) == 0 && len(n.Outputs()) <= 1 && len(n.Inputs()) > 0 && db.Writes(n) {
			found = append(found, n)
		}
	})
	return found
}

// ownsWritten reports whether n's first input is new memory of the same block that only it can
// have seen when n writes it.
func ownsWritten(db *alias.Db, n *ir.Node) bool {
	v := n.Input(0)
	maker := v.Node()
	if maker.Block() != n.Block() || maker.Is(prim.Param, prim.Constant, prim.Loop, prim.GetAttr) {
		return false
	}
	if maker.Kind() == prim.If {
		return freshInBranches(v) && db.CouldMoveBefore(maker, n)
	}
	if len(maker.Blocks()) > 0 {
		return false
	}
	if db.IsWildcard(v) || sharesInput(db, maker, v) {
		return false
	}
	return db.CouldMoveBefore(maker, n)
}

// isFreshHere reports whether a value is one that its node has made, over memory of its own.
func isFreshHere(v *ir.Value) bool {
	n := v.Node()
	if n.Is(prim.ListConstruct, prim.DictConstruct, prim.CreateObject) {
		return true
	}
	o := n.Operator()
	if o == nil || n.HasSideEffects() || o.Schema().IsMutable() || v.Offset() >= len(o.Schema().Returns) || o.Has(ops.GivesArgument) {
		return false
	}
	r := &o.Schema().Returns[v.Offset()]
	return r.Alias == nil && !types.HasVars(r.Type) && r.Type.Kind() != types.KindAny // of any type is what comes out of a container
}

// freshInBranches reports whether both branches of an If make new memory for an output that nothing else in them uses.
func freshInBranches(v *ir.Value) bool {
	for _, b := range v.Node().Blocks() {
		made := b.Outputs()[v.Offset()]
		if made.Node().Block() != b || made.Node().Is(prim.Param, prim.Constant) || !isFreshHere(made) || len(made.Uses()) != 1 {
			return false
		}
	}
	return true
}

// sharesInput reports whether what n makes is memory of one of its inputs.
func sharesInput(db *alias.Db, n *ir.Node, v *ir.Value) bool {
	for _, in := range n.Inputs() {
		if types.IsMutable(in.Type()) && db.MayAlias(in, v) {
			return true
		}
	}
	return false
}

// FunctionalNode returns a node like n, which is in no block yet, by the operator without the
// underscore; nil where there is none that takes the inputs.
func FunctionalNode(n *ir.Node) *ir.Node {
	kind := n.Kind()
	if len(n.Outputs()) != 1 || !strings.HasPrefix(kind, "aten::") || !strings.HasSuffix(kind, "_") || strings.HasSuffix(kind, "__") || n.Output().Type().Kind() != types.KindTensor {
		return nil
	}
	switch {
	case n.Is(aten.Zero_):
		return createWith(n, aten.ZerosLike, n.Inputs(), "", "", "", "", "")
	case n.Is(aten.Fill_) && n.Input(1).Type().Kind() != types.KindTensor:
		return createWith(n, aten.FullLike, n.Inputs(), prim.Dtype, "", "", "", "")
	case n.Is(aten.Normal_):
		if n.Input(3).Type().Kind() != types.KindNone {
			return nil // of a generator
		}
		inputs := []*ir.Value{n.Input(1), n.Input(2), createWith(n, aten.Size, n.Inputs()[:1]).InsertBefore(n).Output().SetType(types.NewList(types.Int))}
		return createWith(n, aten.Normal, inputs, prim.Dtype, prim.Layout, prim.Device, aten.IsPinned, generatorFact)
	}
	made := n.Graph().Create(strings.TrimSuffix(kind, "_"), n.Inputs(), 1).SetRange(n.Range)
	if o := made.Operator(); o == nil || o.Schema().IsMutable() || o.Run == nil && n.Operator().Run != nil {
		made.Destroy()
		return nil
	}
	return made
}

// generatorFact is None for createWith, which stands before the other facts.
const generatorFact = "generator"

// createWith returns a node that is to stand for n, which writes a tensor. Behind its inputs come the results of operators that tell facts of the
// tensor, or None for "".
func createWith(n *ir.Node, kind string, inputs []*ir.Value, further ...string) *ir.Node {
	g := n.Graph()
	none := func() *ir.Value { return g.CreateNone().InsertBefore(n).Output() }
	given := len(inputs)
	inputs = slices.Clone(inputs)
	for _, fact := range further {
		if fact == generatorFact {
			inputs = slices.Insert(inputs, given, none())
			continue
		}
		if fact == "" {
			inputs = append(inputs, none())
			continue
		}
		of := []*ir.Value{n.Input(0)}
		if fact == aten.IsPinned {
			of = append(of, none()) // of any device
		}
		asked := g.Create(fact, of, 1).SetRange(n.Range).InsertBefore(n)
		inputs = append(inputs, asked.Output().SetType(asked.Operator().Schema().Returns[0].Type))
	}
	return g.Create(kind, inputs, 1).SetRange(n.Range)
}

// functionalize puts made in the place of n: later uses of what n writes become uses of its output.
func functionalize(n, made *ir.Node) {
	written := n.Input(0)
	if made == written.Node() {
		made.MoveBefore(n)
	} else {
		made.InsertBefore(n)
		made.Output().SetType(types.Unshaped(written.Type()))
		written.ReplaceAllUsesAfter(n, made.Output())
	}
	if len(n.Outputs()) == 1 {
		n.Output().ReplaceAllUsesWith(made.Output())
	}
	n.Destroy()
}

// RemoveInplaceOps replaces arithmetic and filling that write a tensor by what makes a new one, and later
// uses of the tensor by it, without a look at who else sees the memory: it is for graphs of values.
func RemoveInplaceOps(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if len(n.Outputs()) != 1 || !n.Has(ops.PlainWrite) {
			return
		}
		made := zerosFirst(n)
		if made == nil {
			made = FunctionalNode(n)
		}
		if made != nil {
			if made != n.Input(0).Node() {
				made.Output().CopyMetadata(n.Output())
			}
			functionalize(n, made)
			changed = true
		}
	})
	return changed
}

// zerosFirst is FunctionalNode for zero_, where what the new node reads has the numbers behind its own; nil for other nodes.
func zerosFirst(n *ir.Node) *ir.Node {
	if n.Kind() != aten.Zero_ {
		return nil
	}
	g := n.Graph()
	zeros := g.Create(aten.ZerosLike, n.Inputs(), 1).SetRange(n.Range)
	for range 5 { // dtype, layout, device, pin_memory, memory_format
		zeros.AddInput(g.CreateNone().InsertBefore(n).Output())
	}
	return zeros
}

// DecomposeOps replaces aten::addmm whose factors are 1 by aten::mm and aten::add.
func DecomposeOps(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != aten.Addmm || len(n.Inputs()) != 5 || !isNumber(n.Input(3), 1) || !isNumber(n.Input(4), 1) {
			return
		}
		old := g.SetInsertPoint(n)
		defer g.SetInsertPoint(old)
		one := g.Constant(value.Int(1), n.Range)
		product := g.InsertNode(g.Create(aten.Mm, n.Inputs()[1:3], 1)).SetRange(n.Range).Output()
		sum := g.InsertNode(g.Create(aten.Add, []*ir.Value{n.Input(0), product, one}, 1)).SetRange(n.Range).Output()
		n.Output().ReplaceAllUsesWith(sum)
		n.Destroy()
		changed = true
	})
	if changed {
		DCE(g)
	}
	return changed
}

// RemoveExpands removes aten::expand that operators imply anyway: those marked as implicit.
func RemoveExpands(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != aten.Expand || len(n.Inputs()) != 3 {
			return
		}
		if implicit, ok := n.Input(2).Constant(); ok && implicit.Bool() {
			n.Output().ReplaceAllUsesWith(n.Input(0))
			n.Destroy()
			changed = true
		}
	})
	return changed
}

// InlineForkWait runs forked calls in their place: the body of the prim::fork stands where it was,
// and waiting for it gives the result.
func InlineForkWait(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		body := n.GraphAttr("Subgraph")
		if n.Kind() != prim.Fork || body == nil {
			return
		}
		for _, u := range n.Output().Uses() {
			if u.User.Kind() != aten.Wait {
				return // the future is used for more than its result
			}
		}
		old := g.SetInsertPoint(n)
		results := g.InsertGraph(body, n.Inputs())
		g.SetInsertPoint(old)
		for _, u := range append([]ir.Use(nil), n.Output().Uses()...) {
			u.User.Output().ReplaceAllUsesWith(results[0])
			u.User.Destroy()
		}
		n.Destroy()
		changed = true
	})
	return changed
}

// Canonicalize returns a copy whose values are numbered in order, and so in graphs that its nodes run; without keepNames none has a
// name but those in blocks.
func Canonicalize(g *ir.Graph, keepNames bool) *ir.Graph {
	c := g.Copy()
	if keepNames {
		return c
	}
	forgetNames(c)
	return c
}

// forgetNames takes the names from the values of a graph that are not in blocks of its nodes.
func forgetNames(g *ir.Graph) {
	forget := func(vs []*ir.Value) {
		for _, v := range vs {
			v.SetName("")
		}
	}
	forget(g.Inputs())
	for _, n := range g.Block().Nodes() {
		forget(n.Outputs())
		if inner := n.GraphAttr("Subgraph"); inner != nil {
			forgetNames(inner)
		}
	}
}

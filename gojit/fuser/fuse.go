// Package fuser makes kernels of elementwise operators that follow each other.
//
// Fuse groups such nodes of a graph; Group makes the operation that runs a group as one kernel for the types that it
// meets. Where it cannot (a gradient is wanted, shapes or types that are done one by one) the nodes of the group run
// as they are. A fused result has the same bits as the nodes' own.
package fuser

import (
	"slices"

	"torchjit/gojit/interp"
	"torchjit/gojit/ir"
	"torchjit/gojit/ops/aten"
	"torchjit/gojit/types"
)

// Graph returns the body to run for a function: its graph, or where there is something to fuse or a constant that is a number, a copy.
// It fails where the function cannot be defined.
func Graph(f *ir.Function) (*ir.Graph, error) {
	if err := f.EnsureDefined(); err != nil {
		return nil, err
	}
	g := f.Graph()
	if g == nil || !worthwhile(g.Block()) && !hasNumbers(g.Block()) {
		return g, nil
	}
	c := g.Copy()
	ConstantsToNumbers(c)
	Fuse(c)
	return c, nil
}

// worthwhile reports whether there may be a group.
func worthwhile(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		if (Fusible(n) || isReduction(n)) && slices.ContainsFunc(n.Inputs(), func(v *ir.Value) bool { return v.Node().Block() == b && Fusible(v.Node()) }) {
			return true
		}
		if n.Kind() != interp.GroupKind && slices.ContainsFunc(n.Blocks(), worthwhile) {
			return true
		}
		if body := n.GraphAttr("Subgraph"); body != nil && n.Kind() == interp.GroupKind && worthwhile(body.Block()) {
			return true
		}
	}
	return false
}

// Fusible reports whether n may be part of a group: it is elementwise, and its numbers are known as such.
func Fusible(n *ir.Node) bool {
	o := n.Operator()
	if o == nil || o.Run == nil || !aten.IsElementwise(o.Name) {
		return false
	}
	for _, v := range n.Inputs() {
		switch v.Type().Kind() {
		case types.KindTensor:
		case types.KindInt, types.KindFloat:
			// Some exponents and bases have operators of their own.
			if _, known := v.Constant(); !known && o.BaseName() == "aten::pow" {
				return false
			}
		default:
			if _, known := v.Constant(); !known {
				return false
			}
		}
	}
	return true
}

// Fuse puts elementwise nodes that follow each other into groups. The nodes of a group run where its last one stood;
// nothing between that reads their results or could write what they read.
//
//	%a = aten::mul(%x, %w)          %b = prim::TensorExprGroup(%x, %w)
//	%b = aten::tanh(%a)       ->      block0():
//	                                    %a = aten::mul(%x, %w)
//	                                    %b = aten::tanh(%a)
//	                                    -> (%b)
func Fuse(g *ir.Graph) bool {
	f := &fusion{g: g, of: map[*ir.Node]*group{}}
	f.block(g.Block())
	return f.changed
}

type fusion struct {
	g       *ir.Graph
	of      map[*ir.Node]*group // of the nodes of groups that are open
	open    []*group            // in the order of their first nodes
	changed bool
}

// group is nodes of a block in order.
type group struct{ nodes []*ir.Node }

func (f *fusion) block(b *ir.Block) {
	outer, outerOf := f.open, f.of
	f.open, f.of = nil, map[*ir.Node]*group{}
	for n := b.First(); n != nil; {
		next := n.Next()
		switch {
		case n.Kind() == "prim::Constant":
		case n.Kind() == interp.GroupKind:
			if body := n.GraphAttr("Subgraph"); body != nil { // a group that a program has asked for
				f.changed = Fuse(body) || f.changed
			}
			f.closeRead(n)
		case Fusible(n):
			f.join(n)
		case isReduction(n) && f.reduce(n):
		case len(n.Blocks()) > 0 || isBarrier(n):
			f.closeAll(n)
			for _, inner := range n.Blocks() {
				f.block(inner)
			}
		default:
			f.closeRead(n)
		}
		n = next
	}
	f.closeAll(b.ReturnNode())
	f.open, f.of = outer, outerOf
}

// isBarrier reports whether n may write something, or do what can be seen from outside.
func isBarrier(n *ir.Node) bool {
	if n.HasSideEffects() || n.Is("prim::CallFunction", "prim::CallMethod", "prim::fork", "prim::forkClosure", "aten::wait", "prim::SetAttr", "aten::Delete") {
		return true
	}
	o := n.Operator()
	return o != nil && o.Schema().IsMutable()
}

// join puts n into the groups that make its inputs, which become one as far as that fits, or into a new one. The
// others end: no open group reads another.
func (f *fusion) join(n *ir.Node) {
	joined := &group{}
	for _, v := range n.Inputs() {
		if of := f.of[v.Node()]; of != nil && of != joined {
			joined = f.merge(joined, of)
		}
	}
	if !fits(joined.nodes, n) {
		joined = &group{}
	}
	for _, v := range n.Inputs() {
		if of := f.of[v.Node()]; of != nil && of != joined {
			f.close(of, n)
		}
	}
	if len(joined.nodes) == 0 {
		f.open = append(f.open, joined)
	}
	joined.nodes = append(joined.nodes, n)
	f.of[n] = joined
}

// merge makes one group of two where that is small enough, else it gives the first that is one.
func (f *fusion) merge(a, b *group) *group {
	if len(a.nodes) == 0 {
		return b
	}
	if !fits(append(slices.Clone(a.nodes), b.nodes...), nil) {
		return a
	}
	a.nodes = append(a.nodes, b.nodes...)
	slices.SortFunc(a.nodes, func(x, y *ir.Node) int {
		if x.IsBefore(y) {
			return -1
		}
		return 1
	})
	for _, n := range b.nodes {
		f.of[n] = a
	}
	f.open = slices.DeleteFunc(f.open, func(g *group) bool { return g == b })
	return a
}

// fits reports whether nodes, and one more unless that is nil, read and write few enough tensors for one kernel.
func fits(nodes []*ir.Node, more *ir.Node) bool {
	if more != nil {
		nodes = append(slices.Clone(nodes), more)
	}
	tensors := 0
	for _, v := range inputsOf(nodes) {
		if v.Type().Kind() == types.KindTensor {
			tensors++
		}
	}
	return tensors+len(outputsOf(nodes)) <= aten.MostFused && len(inputsOf(nodes))-tensors <= mostNumbers
}

// inputsOf returns the values from outside that nodes use, constants aside.
func inputsOf(nodes []*ir.Node) []*ir.Value {
	var inputs []*ir.Value
	for _, n := range nodes {
		for _, v := range n.Inputs() {
			if v.Node().Kind() != "prim::Constant" && !slices.Contains(nodes, v.Node()) && !slices.Contains(inputs, v) {
				inputs = append(inputs, v)
			}
		}
	}
	return inputs
}

// outputsOf returns the results of nodes that others use.
func outputsOf(nodes []*ir.Node) []*ir.Value {
	var outputs []*ir.Value
	for _, n := range nodes {
		if slices.ContainsFunc(n.Output().Uses(), func(u ir.Use) bool { return !slices.Contains(nodes, u.User) }) {
			outputs = append(outputs, n.Output())
		}
	}
	return outputs
}

// closeRead ends the groups that make inputs of n, which stands behind them.
func (f *fusion) closeRead(n *ir.Node) {
	for _, v := range n.Inputs() {
		if of := f.of[v.Node()]; of != nil {
			f.close(of, n)
		}
	}
}

// closeAll ends all groups before n.
func (f *fusion) closeAll(n *ir.Node) {
	for len(f.open) > 0 {
		f.close(f.open[0], n)
	}
}

// close moves the nodes of a group, where it is one, into a node before at.
func (f *fusion) close(g *group, at *ir.Node) {
	f.open = slices.DeleteFunc(f.open, func(other *group) bool { return other == g })
	for _, n := range g.nodes {
		delete(f.of, n)
	}
	inputs, outputs := inputsOf(g.nodes), outputsOf(g.nodes)
	if len(g.nodes) < 2 || len(outputs) == 0 || !slices.ContainsFunc(inputs, func(v *ir.Value) bool { return v.Type().Kind() == types.KindTensor }) {
		return
	}
	f.changed = true
	n := f.g.Create(interp.GroupKind, inputs, 0).InsertBefore(at)
	n.SetRange(g.nodes[0].Range)
	body := n.AddBlock()
	for _, member := range g.nodes {
		member.MoveBefore(body.ReturnNode())
	}
	for _, v := range outputs {
		out := n.AddOutput().SetType(v.Type())
		for _, u := range slices.Clone(v.Uses()) {
			if u.User.Block() != body {
				u.User.ReplaceInput(u.Index, out)
			}
		}
		body.AddOutput(v)
	}
}

// Package fuse makes kernels of elementwise operators that follow each other.
//
//	region.go   which nodes of a graph join into a region (a GroupKind node)
//	plan.go     the kernels of a region for the types that it meets
//	run.go      a run of a region
//	gradient.go, sketch.go, program.go   kernels where gradients are wanted, and those of the gradients
//	explain.go  why nodes of regions ran one by one
//
// A Fuser is what one engine's regions share. Where a region cannot run as kernels (a mode looks at its operators, shapes or types that are done
// one by one), its nodes run as they are. A fused result has the same bits as the nodes' own.
package fuse

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Fusible reports whether n may be part of a group: it is elementwise, and its numbers are known as such.
func Fusible(n *ir.Node) bool {
	o := n.Operator()
	if o == nil || o.Run == nil || !o.IsElementwise() {
		return false
	}
	for _, v := range n.Inputs() {
		switch v.Type().Kind() {
		case types.KindTensor:
		case types.KindInt, types.KindFloat:
			// Some exponents and bases have operators of their own.
			if _, known := v.Constant(); !known && o.BaseName() == aten.Pow {
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
	open    []*group            // in the order of their first nodes; those that have ended or were merged have no nodes
	changed bool
}

// mostNodes bounds the nodes of a group to those of a kernel: longer chains are several groups.
const mostNodes = elementwise.MostSteps

// group is nodes of a block in order, with what they read and write as a kernel.
type group struct {
	nodes   []*ir.Node
	inputs  []*ir.Value       // from outside, constants in code aside, in the order of their first uses
	tensors int               // of inputs
	unread  map[*ir.Value]int // of the nodes' results that others read: by how many uses
}

// add puts n, whose inputs are computed before it, at the end of g.
func (g *group) add(n *ir.Node) {
	if g.unread == nil {
		g.unread = map[*ir.Value]int{}
	}
	for _, v := range n.Inputs() {
		g.read(v)
	}
	g.nodes = append(g.nodes, n)
	if uses := len(n.Output().Uses()); uses > 0 {
		g.unread[n.Output()] = uses
	}
}

// read notes that a node of g has v among its inputs.
func (g *group) read(v *ir.Value) {
	switch uses, isOwn := g.unread[v]; {
	case isOwn && uses == 1:
		delete(g.unread, v)
	case isOwn:
		g.unread[v] = uses - 1
	case isInner(v) || slices.Contains(g.inputs, v):
	default:
		g.inputs = append(g.inputs, v)
		if v.Type().Kind() == types.KindTensor {
			g.tensors++
		}
	}
}

// isInner reports whether a value is a constant that a kernel has in its code: not a tensor of several elements, which it reads as any other.
func isInner(v *ir.Value) bool {
	c, known := v.Constant()
	return known && !(c.IsTensor() && c.Tensor().Dim() > 0)
}

// fits reports whether g reads and writes few enough tensors for one kernel.
func (g *group) fits() bool {
	return g.tensors+len(g.unread) <= elementwise.MostFused && len(g.inputs)-g.tensors <= mostNumbers && len(g.nodes) <= mostNodes
}

// outputs returns the results that others read, in order.
func (g *group) outputs() []*ir.Value {
	var outputs []*ir.Value
	for _, n := range g.nodes {
		if g.unread[n.Output()] > 0 {
			outputs = append(outputs, n.Output())
		}
	}
	return outputs
}

// groupOf returns a group of nodes in order.
func groupOf(nodes ...*ir.Node) *group {
	g := &group{}
	for _, n := range nodes {
		g.add(n)
	}
	return g
}

// takes reports whether n, which stands behind the nodes of g, can be added.
func (g *group) takes(n *ir.Node) bool {
	tensors, numbers, read := g.tensors, len(g.inputs)-g.tensors, 0
	for i, v := range n.Inputs() {
		switch {
		case isInner(v) || slices.Contains(n.Inputs()[:i], v) || slices.Contains(g.inputs, v):
		case g.unread[v] > 0:
			if g.unread[v] == usesBy(n, v) {
				read++
			}
		case v.Type().Kind() == types.KindTensor:
			tensors++
		default:
			numbers++
		}
	}
	results := len(g.unread) - read
	if n.Output().HasUses() {
		results++
	}
	return tensors+results <= elementwise.MostFused && numbers <= mostNumbers && len(g.nodes) < mostNodes
}

// usesBy counts how often v is an input of n.
func usesBy(n *ir.Node, v *ir.Value) (uses int) {
	for _, in := range n.Inputs() {
		if in == v {
			uses++
		}
	}
	return uses
}

func (f *fusion) block(b *ir.Block) {
	outer, outerOf := f.open, f.of
	f.open, f.of = nil, map[*ir.Node]*group{}
	for n := b.First(); n != nil; {
		next := n.Next()
		switch {
		case n.Kind() == prim.Constant:
		case n.Kind() == interp.GroupKind:
			if body := n.GraphAttr("Subgraph"); body != nil { // a group that a program has asked for
				f.changed = Fuse(body) || f.changed
			}
			f.closeRead(n)
			if _, planned := n.Attr(interp.PlannedAttr); planned { // its nodes run where a gradient is wanted
				f.block(n.Blocks()[0])
			}
		case Fusible(n):
			f.join(n)
		case isReduction(n) && f.reduce(n):
		case len(n.Blocks()) > 0 || IsBarrier(n):
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

// IsBarrier reports whether n may write something, or do what can be seen from outside.
func IsBarrier(n *ir.Node) bool {
	if n.HasSideEffects() || n.Is(prim.CallFunction, prim.CallMethod, prim.Fork, prim.Awaitable, prim.ForkClosure, aten.Wait, prim.AwaitableWait, prim.SetAttr, aten.Delete) {
		return true
	}
	o := n.Operator()
	return o != nil && o.Schema().IsMutable()
}

// join puts n into the groups that make its inputs, which become one as far as that fits, or into a new one. The
// others end: no open group reads another.
func (f *fusion) join(n *ir.Node) {
	var joined *group
	for _, v := range n.Inputs() {
		if of := f.of[v.Node()]; of != nil && of != joined {
			joined = f.merge(joined, of)
		}
	}
	if joined != nil && !joined.takes(n) {
		joined = nil
	}
	for _, v := range n.Inputs() {
		if of := f.of[v.Node()]; of != nil && of != joined {
			f.close(of, n)
		}
	}
	if joined == nil {
		joined = &group{}
		f.open = append(f.open, joined)
	}
	joined.add(n)
	f.of[n] = joined
}

// merge makes one group of two where that is small enough, else it gives the first that is one.
func (f *fusion) merge(a, b *group) *group {
	if a == nil {
		return b
	}
	if len(a.nodes)+len(b.nodes) > mostNodes {
		return a
	}
	both := groupOf(inOrder(a.nodes, b.nodes)...)
	if !both.fits() {
		return a
	}
	for _, n := range b.nodes {
		f.of[n] = a
	}
	*a, *b = *both, group{}
	return a
}

// inOrder returns the nodes of two lists, which are in order, in order.
func inOrder(a, b []*ir.Node) []*ir.Node {
	nodes := make([]*ir.Node, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].IsBefore(b[0]) {
			nodes, a = append(nodes, a[0]), a[1:]
		} else {
			nodes, b = append(nodes, b[0]), b[1:]
		}
	}
	return append(append(nodes, a...), b...)
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
	for _, g := range f.open {
		f.close(g, n)
	}
	f.open = f.open[:0]
}

// close ends g: where it is two nodes or more, which read a tensor and whose results are read, they become one node before at.
func (f *fusion) close(g *group, at *ir.Node) {
	nodes, inputs, outputs, tensors := g.nodes, g.inputs, g.outputs(), g.tensors
	*g = group{}
	for _, n := range nodes {
		delete(f.of, n)
	}
	if len(nodes) < 2 || len(outputs) == 0 || tensors == 0 {
		return
	}
	f.changed = true
	Join(f.g, nodes, inputs, outputs, at)
}

// Join makes nodes of a block one node before at, whose block has them: it reads inputs, and what read outputs behind the nodes reads its own.
func Join(g *ir.Graph, nodes []*ir.Node, inputs, outputs []*ir.Value, at *ir.Node) *ir.Node {
	n := g.Create(interp.GroupKind, inputs, 0).InsertBefore(at)
	n.SetRange(nodes[0].Range)
	body := n.AddBlock()
	for _, member := range nodes {
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
	return n
}

// Split puts the nodes of all groups of a block, and of blocks in it, where the groups stand: it undoes Join.
func Split(b *ir.Block) {
	for _, n := range b.Nodes() {
		for _, inner := range n.Blocks() {
			Split(inner)
		}
		if n.Kind() != interp.GroupKind {
			continue
		}
		body := n.Blocks()[0]
		for _, member := range body.Nodes() {
			member.MoveBefore(n)
		}
		for i, out := range n.Outputs() {
			out.ReplaceAllUsesWith(body.Outputs()[i])
		}
		n.Destroy()
	}
}

// isReduction reports whether n is a reduction that a kernel of elementwise nodes may end with: what it does besides them is known.
func isReduction(n *ir.Node) bool {
	o := n.Operator()
	if o == nil || o.Run == nil || len(n.Outputs()) != 1 || o.Def().Reduce == kernel.NoReduce {
		return false
	}
	for i, a := range o.Schema().Arguments {
		if i == 0 {
			continue
		}
		known, ok := constant(n.Input(i))
		switch a.Name {
		case "dim", "keepdim":
			if !ok || a.Type.Kind() == types.KindInt { // max.dim gives places too
				return false
			}
		case "dtype":
			if !ok || !known.IsNone() {
				return false
			}
		default:
			return false
		}
	}
	return n.Input(0).Type().Kind() == types.KindTensor
}

// constant returns what a value always is: lists of constant ints are made by nodes, for one user, so that nobody writes them.
func constant(v *ir.Value) (value.Value, bool) {
	if c, ok := v.Constant(); ok {
		return c, true
	}
	if v.Node().Kind() != prim.ListConstruct || len(v.Uses()) != 1 {
		return value.None, false
	}
	var ints []int
	for _, in := range v.Node().Inputs() {
		c, ok := in.Constant()
		if !ok || !c.IsInt() {
			return value.None, false
		}
		ints = append(ints, int(c.Int()))
	}
	return value.OfList(value.Ints(ints)), true
}

// reduce puts n, which reduces the result of a node of an open group and is the only one to read that, into the group, which ends. It
// reports whether it did; lists of constant ints that n reads are constants behind it.
func (f *fusion) reduce(n *ir.Node) bool {
	v := n.Input(0)
	g := f.of[v.Node()]
	if g == nil || len(v.Uses()) != 1 {
		return false
	}
	for i, in := range n.Inputs() {
		if list := in.Node(); list.Kind() == prim.ListConstruct {
			ints, _ := constant(in)
			old := f.g.SetInsertPoint(n)
			n.ReplaceInput(i, f.g.Constant(ints, list.Range))
			f.g.SetInsertPoint(old)
			if !in.HasUses() {
				list.Destroy()
			}
		}
	}
	if !g.takes(n) {
		return false
	}
	g.add(n)
	at := n.Next()
	if at == nil {
		at = n.Block().ReturnNode()
	}
	f.close(g, at)
	return true
}

// Package tensorexpr makes groups of elementwise nodes that stand for tensors of certain types or of any size, each with a guard.
package tensorexpr

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// The kinds of nodes around a group of elementwise nodes that stands for tensors of certain types.
const (
	// typeCheckKind gives its inputs on, and whether they are of the types that the attribute says.
	typeCheckKind = prim.TypeCheck
	// FallbackKind has a Subgraph that runs where they are not.
	FallbackKind = prim.FallbackGraph
)

// Exprs says which groups of nodes FuseExprs makes.
type Exprs struct {
	Least      int  // how many nodes make a group, without constants and lists
	Reductions bool // what combines elements along dimensions is in groups, too
	Dynamic    bool // groups are for all sizes
}

// FuseTensorExprs is FuseExprs for groups of two nodes. It forgets what types say of other tensors, and makes nodes that compute the
// same one.
func FuseTensorExprs(g *ir.Graph) bool {
	changed := FuseExprs(g, Exprs{Least: 2})
	changed = EraseOuterShapes(g) || changed
	return passes.CSE(g) || changed
}

// FuseExprs groups elementwise nodes whose tensors' types, shapes and strides are all known, and guards the groups: where tensors are
// of other types the nodes run one by one. It reports whether there are groups.
//
//	%a : Float(2) = aten::mul(%x, %y)        %x', %y', %ok = prim::TypeCheck[types=[Float(2), Float(2)]](%x, %y)
//	%b : Float(2) = aten::tanh(%a)      ->   %b = prim::If(%ok)
//	                                           block0(): %c = prim::TensorExprGroup_0(%x', %y') -> (%c)
//	                                           block1(): %d = prim::FallbackGraph_1(%x, %y) -> (%d)
func FuseExprs(g *ir.Graph, o Exprs) bool {
	f := &tensorExprs{options: o, graph: g, memory: alias.Analyze(g, alias.Options{})}
	f.block(g.Block())
	if len(f.groups) == 0 {
		passes.DCE(g)
		return false
	}
	if f.dissolveSmall() {
		f.memory = alias.Analyze(g, alias.Options{})
	}
	f.joinNeighbours()
	for _, n := range slices.Backward(f.inOrder()) {
		f.giveNoSizes(n)
		passes.ConstantPooling(n.GraphAttr("Subgraph"))
		f.guardTypes(n)
	}
	passes.ConstantPooling(g)
	if f.sized {
		passes.CSE(g)
	}
	passes.DCE(g)
	return len(f.groups) > 0
}

// dissolveSmall puts the nodes of groups that are too small back. It reports whether there were such.
func (f *tensorExprs) dissolveSmall() bool {
	before := len(f.groups)
	f.groups = slices.DeleteFunc(f.groups, func(n *ir.Node) bool {
		if workOf(n.GraphAttr("Subgraph")) >= max(f.options.Least, 1) {
			return false
		}
		passes.InlineSubgraph(n)
		return true
	})
	return len(f.groups) < before
}

// workOf counts the nodes of a group's body, without those that only come in with others: constants and lists.
func workOf(body *ir.Graph) (count int) {
	body.Block().Walk(func(n *ir.Node) {
		if !n.Is(prim.ListConstruct, prim.Constant) {
			count++
		}
	})
	return count
}

// computes reports whether a node makes elements: lists, parts and other views do not.
func computes(n *ir.Node) bool {
	o := n.Operator()
	return o != nil && !n.Is(passes.PartsKind, prim.ListConstruct, prim.Constant) && !isShown(n, o)
}

// isShown reports whether a node gives elements of its first input as they are.
func isShown(n *ir.Node, o *ops.Operator) bool {
	if !o.IsView() {
		return false
	}
	in, ok := n.Input(0).Type().(*types.TensorInfo)
	out, isTensor := n.Output().Type().(*types.TensorInfo)
	return ok && isTensor && in.DType == out.DType
}

type tensorExprs struct {
	options Exprs
	graph   *ir.Graph
	memory  *alias.Db
	groups  []*ir.Node
	sized   bool // sizes are computed instead of asked for
}

// block makes the groups of a block and of the blocks in it, from its end on: each takes in what makes its inputs. What moves behind a group then is
// seen in the next round.
func (f *tensorExprs) block(b *ir.Block) {
	for again := true; again; {
		again = false
		for n := b.Last(); n != nil; n = n.Prev() {
			group := n
			if !slices.Contains(f.groups, n) {
				if n.Kind() == interp.GroupKind || !f.joins(n) || !computes(n) {
					continue
				}
				group = passes.NewSubgraph(b.Graph(), interp.GroupKind).InsertAfter(n)
				f.take(n, group)
				f.groups = append(f.groups, group)
				again = true
			}
			for f.takeProducer(group) {
				again = true
			}
			n = group
		}
	}
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			f.block(inner)
		}
	}
}

// joinNeighbours makes one group of groups of a block that follow each other and do not depend on each other.
func (f *tensorExprs) joinNeighbours() {
	former := map[*ir.Block]*ir.Node{}
	joined := map[*ir.Node]bool{}
	for _, n := range f.inOrder() {
		b := n.Block()
		if former[b] != nil && f.memory.MoveBefore(n, former[b]) {
			f.absorb(n, former[b])
			joined[n] = true
			continue
		}
		former[b] = n
	}
	f.groups = slices.DeleteFunc(f.groups, func(n *ir.Node) bool { return joined[n] })
}

// inOrder returns the groups in the order of the graph.
func (f *tensorExprs) inOrder() (groups []*ir.Node) {
	f.graph.Block().Walk(func(n *ir.Node) {
		if slices.Contains(f.groups, n) {
			groups = append(groups, n)
		}
	})
	return groups
}

// absorb moves the nodes of a group, which stands before another one, into that.
func (f *tensorExprs) absorb(n, into *ir.Node) {
	before := n.Prev()
	block := n.Block()
	passes.InlineSubgraph(n)
	first := block.First()
	if before != nil {
		first = before.Next()
	}
	var moved []*ir.Node
	for m := first; m != into; m = m.Next() {
		moved = append(moved, m)
	}
	for _, m := range slices.Backward(moved) {
		if m.Kind() != prim.Constant {
			passes.MergeIntoSubgraph(f.memory, m, into)
		}
	}
	f.memory = alias.Analyze(into.Graph(), alias.Options{}) // it does not know the group's outputs
}

// take moves n, which stands before a group, into it; a list that n alone reads goes with it. The nodes of another group are moved.
func (f *tensorExprs) take(n, group *ir.Node) {
	if n.Kind() == interp.GroupKind {
		f.groups = slices.DeleteFunc(f.groups, func(g *ir.Node) bool { return g == n })
		f.absorb(n, group)
		return
	}
	lists := listsOf(n)
	passes.MergeIntoSubgraph(f.memory, n, group)
	for _, l := range lists {
		passes.MergeIntoSubgraph(f.memory, l, group)
	}
}

// listsOf are the nodes that make the lists of tensors that n reads.
func listsOf(n *ir.Node) (lists []*ir.Node) {
	for _, v := range n.Inputs() {
		if isList(v.Node()) && !slices.Contains(lists, v.Node()) {
			lists = append(lists, v.Node())
		}
	}
	return lists
}

// isList reports whether a node makes a list of tensors.
func isList(n *ir.Node) bool {
	if n.Kind() != prim.ListConstruct {
		return false
	}
	l, ok := n.Output().Type().(*types.List)
	return ok && l.Elem.Kind() == types.KindTensor
}

// takeProducer moves the last of the nodes that make inputs of a group into it, and reports whether there was one.
func (f *tensorExprs) takeProducer(group *ir.Node) bool {
	var producers []*ir.Node
	for _, v := range group.Inputs() {
		if p := v.Node(); p.Block() == group.Block() && (slices.Contains(f.groups, p) || f.joins(p) && !isList(p)) && !slices.Contains(producers, p) {
			producers = append(producers, p)
		}
	}
	slices.SortFunc(producers, func(a, b *ir.Node) int {
		if b.IsBefore(a) {
			return -1
		}
		return 1
	})
	for _, p := range producers {
		if f.memory.MoveBefore(p, group) {
			f.take(p, group)
			return true
		}
	}
	return false
}

// joins reports whether n may be part of a group: its operator may, its numbers are known as such, and all is known of its tensors.
func (f *tensorExprs) joins(n *ir.Node) bool {
	if n.Kind() == passes.PartsKind {
		return isTyped(n.Inputs()) && isTyped(used(n.Outputs()))
	}
	o := n.Operator()
	switch {
	case o == nil || !f.mayJoin(n, o) || f.memory.Writes(n):
		return false
	case fuse.Fusible(n) || o.Def().IsElementwise() && isTyped(n.Inputs()):
		return isTyped(n.Inputs()) && isTyped(used(n.Outputs()))
	case o.BaseName() == aten.Matmul && !(isMatrix(n.Input(0)) && isMatrix(n.Input(1))):
		return false
	}
	for i, v := range n.Inputs() {
		if !f.isKnown(n, v) || o.Schema().Arguments[i].Name == "training" && passes.IsTrue(v) {
			return false
		}
	}
	return isTyped(used(n.Outputs()))
}

// isMatrix reports whether a tensor has two dimensions and its rows lie one behind the other.
func isMatrix(v *ir.Value) bool {
	t, ok := v.Type().(*types.TensorInfo)
	return ok && len(t.Sizes) == 2 && slices.Equal(t.Strides, []int{t.Sizes[1], 1})
}

// isKnown reports whether an input of n is a tensor of which all is known, a constant, or a list of such that n alone reads.
func (f *tensorExprs) isKnown(n *ir.Node, v *ir.Value) bool {
	switch v.Type().Kind() {
	case types.KindTensor:
		return isTyped([]*ir.Value{v})
	case types.KindList:
		_, known := v.Constant()
		return known || isList(v.Node()) && len(v.Uses()) == 1 && v.Node().Block() == n.Block() && isTyped(v.Node().Inputs()) && f.memory.MoveBefore(v.Node(), n)
	}
	_, known := v.Constant()
	return known
}

// isTyped reports whether all is known of those of some values that are tensors, and groups have tensors of their element types.
func isTyped(vs []*ir.Value) bool {
	return !slices.ContainsFunc(vs, func(v *ir.Value) bool {
		t, ok := v.Type().(*types.TensorInfo)
		if ok && v.Node().Kind() == prim.Constant {
			c, _ := v.Constant()
			return !c.IsTensor() || !hasGroupedType(value.CompleteType(c.Tensor()).(*types.TensorInfo))
		}
		return ok && !hasGroupedType(t)
	})
}

// used returns those of some values that something reads.
func used(vs []*ir.Value) []*ir.Value {
	return slices.DeleteFunc(slices.Clone(vs), func(v *ir.Value) bool { return !v.HasUses() })
}

// hasGroupedType reports whether a type is complete, for the processor, and of an element type that groups compute with.
func hasGroupedType(t *types.TensorInfo) bool {
	return t.Device == "cpu" && t.IsComplete() && len(t.Strides) == len(t.Sizes) && slices.Contains(groupedTypes, t.DType)
}

// groupedTypes are the element types that groups compute with.
var groupedTypes = []string{"float32", "float64", "int64", "int32", "int16", "int8", "bool"}

// EraseOuterShapes forgets what types say of tensors outside of groups. It reports whether they said anything.
func EraseOuterShapes(g *ir.Graph) bool {
	changed := false
	erase := func(vs []*ir.Value) {
		for _, v := range vs {
			if t, ok := v.Type().(*types.TensorInfo); ok && v.Node().Kind() != prim.Constant && t.String() != types.Tensor.String() {
				v.SetType(types.Tensor)
				changed = true
			}
		}
	}
	erase(g.Inputs())
	g.Block().Walk(func(n *ir.Node) {
		if !n.Is(typeCheckKind, interp.GroupKind) { // of former groups
			erase(n.Outputs())
		}
		for _, b := range n.Blocks() {
			erase(b.Inputs())
		}
	})
	return changed
}

// guardTypes has a group run only where its tensors are of the types that its Subgraph says, or of such with other sizes.
func (f *tensorExprs) guardTypes(group *ir.Node) {
	g, body := group.Graph(), group.GraphAttr("Subgraph")
	other, inputs := body.Copy(), slices.Clone(group.Inputs())
	eraseInner(other)
	var sizes *symbolicSizes
	if f.options.Dynamic {
		sizes = forAnySize(group)
	}
	var ok *ir.Value
	if sizes != nil {
		ok = sizes.check(group)
	} else {
		ok = checkTypes(group)
	}
	choice := g.Create(prim.If, []*ir.Value{ok}, len(group.Outputs())).InsertBefore(group)
	yes, no := choice.AddBlock(), choice.AddBlock()
	fallback := no.Append(g.Create(FallbackKind, inputs, len(group.Outputs())).SetAttr("Subgraph", other))
	for i, out := range group.Outputs() {
		out.ReplaceAllUsesWith(choice.Outputs()[i].CopyMetadata(out).SetType(types.Tensor))
		no.AddOutput(fallback.Outputs()[i])
	}
	group.MoveBefore(yes.ReturnNode())
	if sizes != nil {
		sizes.give(group)
	}
	for _, out := range group.Outputs() {
		yes.AddOutput(out)
	}
}

// tensorsOf are the inputs of a group that are tensors.
func tensorsOf(group *ir.Node) (tensors []*ir.Value) {
	for _, v := range group.Inputs() {
		if v.Type().Kind() == types.KindTensor {
			tensors = append(tensors, v)
		}
	}
	return tensors
}

// checkTypes puts a check of the types of a group's tensors before the group, which reads the tensors from there.
func checkTypes(group *ir.Node) (ok *ir.Value) {
	tensors, body := tensorsOf(group), group.GraphAttr("Subgraph")
	var expected []types.Type
	for _, in := range body.Inputs() {
		if in.Type().Kind() == types.KindTensor {
			expected = append(expected, in.Type())
		}
	}
	for i, out := range group.Outputs() {
		out.SetType(body.Outputs()[i].Type())
	}
	check := group.Graph().Create(typeCheckKind, tensors, len(tensors)+1).SetAttr("types", expected).InsertBefore(group)
	passed := map[*ir.Value]*ir.Value{}
	for i, v := range tensors {
		passed[v] = check.Outputs()[i].SetType(expected[i])
	}
	for i, v := range group.Inputs() {
		if given := passed[v]; given != nil {
			group.ReplaceInput(i, given)
		}
	}
	return check.Outputs()[len(tensors)].SetType(types.Bool)
}

// eraseInner forgets what types say of tensors that a graph makes.
func eraseInner(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		for _, v := range n.Outputs() {
			if v.Type().Kind() == types.KindTensor && n.Kind() != prim.Constant {
				v.SetType(types.Tensor)
			}
		}
	})
}

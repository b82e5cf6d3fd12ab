package passes

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/fuse"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// The kinds of nodes around a group of elementwise nodes that stands for tensors of certain types.
const (
	// typeCheckKind gives its inputs on, and whether they are of the types that the attribute says.
	typeCheckKind = "prim::TypeCheck"
	// fallbackKind has a Subgraph that runs where they are not.
	fallbackKind = "prim::FallbackGraph"
)

// leastFused is how many nodes make a group.
const leastFused = 2

// FuseTensorExprs groups elementwise nodes whose tensors' types, shapes and strides are all known, and guards the groups: where tensors are
// of other types the nodes run one by one. What types say of other tensors is forgotten. It reports whether it changed anything.
//
//	%a : Float(2) = aten::mul(%x, %y)        %x', %y', %ok = prim::TypeCheck[types=[Float(2), Float(2)]](%x, %y)
//	%b : Float(2) = aten::tanh(%a)      ->   %b = prim::If(%ok)
//	                                           block0(): %c = prim::TensorExprGroup_0(%x', %y') -> (%c)
//	                                           block1(): %d = prim::FallbackGraph_1(%x, %y) -> (%d)
func FuseTensorExprs(g *ir.Graph) bool {
	f := &tensorExprs{memory: alias.Analyze(g, alias.Options{})}
	f.block(g.Block())
	groups := slices.DeleteFunc(f.groups, func(n *ir.Node) bool {
		if countNodes(n.GraphAttr("Subgraph").Block()) >= leastFused {
			return false
		}
		InlineSubgraph(n)
		return true
	})
	erased := eraseOuterShapes(g)
	for _, n := range groups {
		guardTypes(n)
	}
	if len(groups) > 0 {
		DCE(g)
	}
	return erased || len(groups) > 0
}

type tensorExprs struct {
	memory *alias.Db
	groups []*ir.Node
}

// block makes the groups of a block, from its end on: each takes in what makes its inputs.
func (f *tensorExprs) block(b *ir.Block) {
	for n := b.Last(); n != nil; n = n.Prev() {
		for _, inner := range n.Blocks() {
			f.block(inner)
		}
		if !isTyped(n) {
			continue
		}
		group := newSubgraph(b.Graph(), interp.GroupKind).InsertAfter(n)
		mergeIntoSubgraph(f.memory, n, group)
		for f.takeProducer(group) {
		}
		f.groups = append(f.groups, group)
		n = group
	}
}

// takeProducer moves the last of the nodes that make inputs of a group into it, and reports whether there was one.
func (f *tensorExprs) takeProducer(group *ir.Node) bool {
	var producers []*ir.Node
	for _, v := range group.Inputs() {
		if p := v.Node(); p.Block() == group.Block() && isTyped(p) && !slices.Contains(producers, p) {
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
			mergeIntoSubgraph(f.memory, p, group)
			return true
		}
	}
	return false
}

// isTyped reports whether n is elementwise and all is known of the tensors that it takes and gives.
func isTyped(n *ir.Node) bool {
	if !fuse.Fusible(n) {
		return false
	}
	return !slices.ContainsFunc(slices.Concat(n.Inputs(), n.Outputs()), func(v *ir.Value) bool {
		t, ok := v.Type().(*types.TensorInfo)
		return ok && (t.DType == "" || t.Device != "cpu" || t.Sizes == nil || slices.Contains(t.Sizes, -1) || len(t.Strides) != len(t.Sizes))
	})
}

// eraseOuterShapes forgets what types say of tensors outside of groups. It reports whether they said anything.
func eraseOuterShapes(g *ir.Graph) bool {
	changed := false
	erase := func(vs []*ir.Value) {
		for _, v := range vs {
			if t, ok := v.Type().(*types.TensorInfo); ok && v.Node().Kind() != "prim::Constant" && t.String() != types.Tensor.String() {
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

// guardTypes has a group run only where its tensors are of the types that its Subgraph says.
func guardTypes(group *ir.Node) {
	g, body := group.Graph(), group.GraphAttr("Subgraph")
	other := body.Copy()
	eraseInner(other)
	var tensors []*ir.Value
	var expected []types.Type
	for i, v := range group.Inputs() {
		if t := body.Inputs()[i].Type(); t.Kind() == types.KindTensor {
			tensors, expected = append(tensors, v), append(expected, t)
		}
	}
	check := g.Create(typeCheckKind, tensors, len(tensors)+1).SetAttr("types", expected).InsertBefore(group)
	passed := map[*ir.Value]*ir.Value{}
	for i, v := range tensors {
		passed[v] = check.Outputs()[i].SetType(expected[i])
	}
	ok := check.Outputs()[len(tensors)].SetType(types.Bool)
	choice := g.Create("prim::If", []*ir.Value{ok}, len(group.Outputs())).InsertBefore(group)
	yes, no := choice.AddBlock(), choice.AddBlock()
	fallback := no.Append(g.Create(fallbackKind, group.Inputs(), len(group.Outputs())).SetAttr("Subgraph", other))
	for i, out := range group.Outputs() {
		out.ReplaceAllUsesWith(choice.Outputs()[i].CopyMetadata(out).SetType(types.Tensor))
		out.SetType(body.Outputs()[i].Type())
		no.AddOutput(fallback.Outputs()[i])
	}
	group.MoveBefore(yes.ReturnNode())
	for i, v := range group.Inputs() {
		if given := passed[v]; given != nil {
			group.ReplaceInput(i, given)
		}
	}
	for _, out := range group.Outputs() {
		yes.AddOutput(out)
	}
}

// eraseInner forgets what types say of tensors that a graph makes.
func eraseInner(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		for _, v := range n.Outputs() {
			if v.Type().Kind() == types.KindTensor && n.Kind() != "prim::Constant" {
				v.SetType(types.Tensor)
			}
		}
	})
}

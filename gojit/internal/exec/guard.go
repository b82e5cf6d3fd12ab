package exec

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/tensorexpr"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// guardKind is the kind of a node that gives its inputs on, and whether they require gradients as its types say.
const guardKind = prim.RequiresGradCheck

// differentiate groups what is differentiable and guards the groups, also those whose tensors required no gradients.
func differentiate(g *ir.Graph, met map[*ir.Value]*types.TensorInfo, inlining bool) (guarded []*ir.Node) {
	least := 1
	if inlining {
		least = 2
	}
	guarded = passes.CreateDifferentiableGraphs(g, least, true)
	passes.ConstantPooling(g)
	passes.DCE(g)
	if len(guarded) == 0 {
		return nil
	}
	for _, n := range guarded {
		noteGradients(n, met)
		guard(n, met)
	}
	for _, in := range g.Inputs() {
		if t := met[in]; t != nil {
			in.SetType(t)
		}
	}
	return guarded
}

// noteGradients has the inputs of a differentiable graph say which of them required gradients.
func noteGradients(n *ir.Node, met map[*ir.Value]*types.TensorInfo) {
	for i, in := range n.GraphAttr("Subgraph").Inputs() {
		if t := met[n.Input(i)]; t != nil && in.Type().Kind() == types.KindTensor {
			in.SetType(&types.TensorInfo{RequiresGrad: t.RequiresGrad})
		}
	}
}

// guard has a differentiable graph run only where its tensors require gradients as before, and its nodes one by one else. One that
// reads lists alone always runs.
//
//	%y = prim::DifferentiableGraph_0(%x)   ->   %x', %ok = prim::RequiresGradCheck[types=[Tensor(requires_grad=1)]](%x)
//	                                            %y = prim::If(%ok)
//	                                              block0(): %z = prim::DifferentiableGraph_0(%x') -> (%z)
//	                                              block1(): %w = prim::CallFunction(%fallback_function, %x) -> ...
func guard(n *ir.Node, met map[*ir.Value]*types.TensorInfo) {
	g := n.Graph()
	var tensors []*ir.Value
	var expected []types.Type
	for _, v := range n.Inputs() {
		if t := met[v]; t != nil && t.RequiresGrad != nil {
			tensors = append(tensors, v)
			expected = append(expected, &types.TensorInfo{RequiresGrad: t.RequiresGrad})
		}
	}
	if len(tensors) == 0 {
		return
	}
	fallback := g.Create(tensorexpr.FallbackKind, n.Inputs(), len(n.Outputs())).SetAttr("Subgraph", n.GraphAttr("Subgraph").Copy())
	check := g.Create(guardKind, tensors, len(tensors)+1).SetAttr("types", expected).InsertBefore(n)
	passed := map[*ir.Value]*ir.Value{}
	for i, v := range tensors {
		passed[v] = check.Outputs()[i].SetType(met[v])
	}
	ok := check.Outputs()[len(tensors)].SetType(types.Bool)
	choice := g.Create(prim.If, []*ir.Value{ok}, len(n.Outputs())).InsertBefore(n)
	yes, no := choice.AddBlock(), choice.AddBlock()
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(choice.Outputs()[i].CopyMetadata(out))
	}

	no.Append(fallback)
	for i, out := range n.Outputs() {
		no.AddOutput(fallback.Outputs()[i].SetType(types.Unshaped(out.Type())))
	}
	n.MoveBefore(yes.ReturnNode())
	for i, v := range n.Inputs() {
		if given := passed[v]; given != nil {
			n.ReplaceInput(i, given)
		}
	}
	for _, out := range n.Outputs() {
		yes.AddOutput(out)
	}
}

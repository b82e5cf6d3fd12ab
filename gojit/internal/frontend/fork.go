package frontend

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// liftForks turns each prim::forkClosure, whose block uses values from outside, into a prim::fork
// whose Subgraph takes them as inputs.
func liftForks(g *ir.Graph) {
	var forks []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == "prim::forkClosure" {
			forks = append(forks, n)
		}
	})
	for _, n := range forks {
		liftFork(n)
	}
}

func liftFork(n *ir.Node) {
	body := ir.NewGraph()
	context := body.AddInput("context")
	unpack := body.InsertNode(body.Create("prim::TupleUnpack", []*ir.Value{context}, 0))
	captured := map[*ir.Value]*ir.Value{}
	var outside []*ir.Value
	body.Block().CloneFrom(n.Blocks()[0], func(v *ir.Value) *ir.Value {
		if in := captured[v]; in != nil {
			return in
		}
		in := unpack.AddOutput().CopyMetadata(v)
		captured[v] = in
		outside = append(outside, v)
		return in
	})
	context.SetType(types.NewTuple(typesOf(outside)...))
	cleanUp(body)
	body = body.Copy()
	bindCaptures(body, outside)
	cleanUp(body)

	fork := n.Graph().Create("prim::fork", outside, 1).SetRange(n.Range).SetAttr("Subgraph", body).InsertAfter(n)
	fork.Output().CopyMetadata(n.Output())
	n.Output().ReplaceAllUsesWith(fork.Output())
	n.Destroy()
}

// bindCaptures replaces the one input of a forked body, the tuple of what it captures, by an input
// for each.
func bindCaptures(body *ir.Graph, outside []*ir.Value) {
	context := body.Inputs()[0]
	for i, v := range outside {
		in := body.Block().InsertInput(i).CopyMetadata(v)
		if len(context.Uses()) > 0 {
			context.Uses()[0].User.Outputs()[i].ReplaceAllUsesWith(in)
		}
	}
	if len(context.Uses()) > 0 {
		context.Uses()[0].User.Destroy()
	}
	body.Block().EraseInput(len(outside))
}

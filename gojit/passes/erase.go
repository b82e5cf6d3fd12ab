package passes

import (
	"torchjit/gojit/ir"
	"torchjit/gojit/types"
)

// EraseShapeInformation makes every tensor type, also those in containers and in blocks, one that
// says nothing of shapes.
func EraseShapeInformation(g *ir.Graph) {
	eraseShapes(g.Inputs())
	g.Block().Walk(func(n *ir.Node) {
		eraseShapes(n.Outputs())
		for _, b := range n.Blocks() {
			eraseShapes(b.Inputs())
		}
		if inner := n.GraphAttr("Subgraph"); inner != nil {
			EraseShapeInformation(inner)
		}
	})
}

// EraseInnerShapes is EraseShapeInformation but for the parameters of the graph.
func EraseInnerShapes(g *ir.Graph) {
	var kept []types.Type
	for _, v := range g.Inputs() {
		kept = append(kept, v.Type())
	}
	EraseShapeInformation(g)
	for i, v := range g.Inputs() {
		v.SetType(kept[i])
	}
}

func eraseShapes(vs []*ir.Value) {
	for _, v := range vs {
		if t := types.Unshaped(v.Type()); !types.Equal(t, v.Type()) {
			v.SetType(t)
		}
	}
}

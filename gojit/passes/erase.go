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

func eraseShapes(vs []*ir.Value) {
	for _, v := range vs {
		if t := types.Unshaped(v.Type()); !types.Equal(t, v.Type()) {
			v.SetType(t)
		}
	}
}

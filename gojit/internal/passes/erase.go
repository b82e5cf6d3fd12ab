package passes

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
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

// ForgetSizes leaves of the sizes and strides of tensors their number. Only parameters may require a gradient.
//
//	%y : Float(2, 3, strides=[3, 1], device=cpu) = ...   ->   %y : Float(*, *, requires_grad=0, device=cpu) = ...
func ForgetSizes(g *ir.Graph) {
	for _, in := range g.Inputs() {
		in.SetType(withoutSizes(in.Type()))
	}
	g.Block().Walk(func(n *ir.Node) {
		for _, out := range n.Outputs() {
			out.SetType(withoutSizes(out.Type()))
		}
	})
}

func withoutSizes(t types.Type) types.Type {
	switch t := t.(type) {
	case *types.TensorInfo:
		if t.Sizes == nil {
			return t
		}
		return &types.TensorInfo{DType: t.DType, Device: t.Device, Dims: t.Dims, Sizes: slices.Repeat([]int{-1}, len(t.Sizes)), RequiresGrad: t.RequiresGrad}
	case *types.Tuple:
		if t.Name != "" {
			return t
		}
		elems := make([]types.Type, len(t.Elems))
		for i, e := range t.Elems {
			elems[i] = withoutSizes(e)
		}
		return types.NewTuple(elems...)
	}
	return t
}

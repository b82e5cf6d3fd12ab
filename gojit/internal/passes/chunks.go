package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
)

// PartsKind gives the parts of a tensor along a dimension, one output each.
const PartsKind = prim.ConstantChunk

// ConstantChunks makes one node of a chunk with known arguments whose list is only taken apart. It reports whether there was one.
//
//	%l : Tensor[] = aten::chunk(%x, %two, %one)
//	%a, %b = prim::ListUnpack(%l)                  ->   %a, %b = prim::ConstantChunk[chunks=2, dim=1](%x)
func ConstantChunks(g *ir.Graph) bool {
	var chunks []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == aten.Chunk && len(n.Inputs()) == 3 && len(n.Output().Uses()) == 1 {
			chunks = append(chunks, n)
		}
	})
	changed := false
	for _, n := range chunks {
		unpack := n.Output().Uses()[0].User
		count, known := n.Input(1).Constant()
		dim, isKnown := n.Input(2).Constant()
		if !known || !isKnown || unpack.Kind() != prim.ListUnpack || unpack.Block() != n.Block() || int64(len(unpack.Outputs())) != count.Int() {
			continue
		}
		parts := g.Create(PartsKind, []*ir.Value{n.Input(0)}, len(unpack.Outputs())).SetRange(n.Range).InsertBefore(n)
		parts.SetAttr("chunks", count.Int()).SetAttr("dim", dim.Int())
		for i, out := range unpack.Outputs() {
			out.ReplaceAllUsesWith(parts.Outputs()[i])
		}
		unpack.Destroy()
		n.Destroy()
		changed = true
	}
	return changed
}

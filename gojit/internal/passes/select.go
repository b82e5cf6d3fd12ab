package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
)

// SelectBranches replaces each prim::If whose blocks have no nodes by prim::IfThenElse.
//
//	%y = prim::If(%c) block0(): -> (%a) block1(): -> (%b)   -- becomes prim::IfThenElse(%c, %a, %b)
func SelectBranches(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != prim.If || len(n.Outputs()) == 0 || n.Blocks()[0].First() != nil || n.Blocks()[1].First() != nil {
			return
		}
		for i, out := range n.Outputs() {
			inputs := []*ir.Value{n.Input(0), n.Blocks()[0].Outputs()[i], n.Blocks()[1].Outputs()[i]}
			made := g.Create(prim.IfThenElse, inputs, 1).InsertBefore(n)
			made.Output().SetType(out.Type())
			out.ReplaceAllUsesWith(made.Output())
		}
		n.Destroy()
		changed = true
	})
	return changed
}

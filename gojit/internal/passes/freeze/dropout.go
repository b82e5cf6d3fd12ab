package freeze

import "github.com/torchjit/torchjit/gojit/internal/ir"

// RemoveDropout removes the dropouts that are switched off.
//
//	%y = aten::dropout(%x, %p, %training)   -- with %training False: uses of %y become uses of %x
func RemoveDropout(g *ir.Graph) bool {
	return removeDropouts(g, func(n *ir.Node) bool {
		training, ok := n.Input(2).Constant()
		return ok && !training.Bool()
	})
}

// RemoveDropoutAnyway removes all dropouts, for graphs of modules in eval mode.
func RemoveDropoutAnyway(g *ir.Graph) bool {
	return removeDropouts(g, func(*ir.Node) bool { return true })
}

func removeDropouts(g *ir.Graph, is func(*ir.Node) bool) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if _, ok := n.Fact("dropout"); ok && is(n) {
			n.Output().ReplaceAllUsesWith(n.Input(0))
			n.Destroy()
			changed = true
		}
	})
	return changed
}

package trace

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
)

// dropDeadWrites removes in-place operators whose tensor nothing sees afterwards:
//
//	%n = prim::NumToTensor(%size)
//	%m = aten::mul_(%n, %other)    -- removed where %m has no uses and %n no other
func dropDeadWrites(g *ir.Graph) {
	for removed := true; removed; {
		removed = false
		for n := g.Block().Last(); n != nil; {
			previous := n.Prev()
			if isWrite(n) && !n.Output().HasUses() && isUnseen(n.Input(0)) {
				n.Destroy()
				removed = true
			}
			n = previous
		}
		if removed {
			passes.DCE(g)
		}
	}
}

// isWrite reports whether n writes its first input and returns it.
func isWrite(n *ir.Node) bool {
	return strings.HasPrefix(n.Kind(), "aten::") && strings.HasSuffix(n.Kind(), "_") && len(n.Inputs()) > 0 && len(n.Outputs()) == 1
}

// isUnseen reports whether v, which is used once, is new memory that nothing else can see.
func isUnseen(v *ir.Value) bool {
	if len(v.Uses()) != 1 {
		return false
	}
	n := v.Node()
	return n.Kind() == prim.NumToTensor || n.Has(ops.SizeArithmetic) || isWrite(n) && isUnseen(n.Input(0))
}

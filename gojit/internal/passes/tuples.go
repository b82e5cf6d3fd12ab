package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// LowerSimpleTuples connects the uses of a tuple's elements to the values that it was made of, and
// removes what is left over.
//
//	%t = prim::TupleConstruct(%a, %b)
//	%x, %y = prim::TupleUnpack(%t)      -- uses of %x become uses of %a
func LowerSimpleTuples(g *ir.Graph) {
	lowerTuples(g.Block())
	DCE(g)
}

func lowerTuples(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		lowerTuple(n)
		for _, inner := range n.Blocks() {
			lowerTuples(inner)
		}
	}
}

func lowerTuple(n *ir.Node) {
	if !n.Is("prim::TupleUnpack", "prim::TupleIndex") {
		return
	}
	made := n.Input(0).Node()
	if made.Kind() != "prim::TupleConstruct" {
		return
	}
	if n.Kind() == "prim::TupleUnpack" {
		for i, out := range n.Outputs() {
			out.ReplaceAllUsesWith(made.Input(i))
		}
		return
	}
	c, ok := n.Input(1).Constant()
	if !ok {
		return
	}
	i := int(c.Int())
	size := len(made.Output().Type().(*types.Tuple).Elems)
	if i < 0 {
		i += size
	}
	if i >= 0 && i < size {
		n.Output().ReplaceAllUsesWith(made.Input(i))
	}
}

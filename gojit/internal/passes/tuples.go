package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// LowerSimpleTuples connects the uses of a tuple's elements to the values that it was made of, and
// removes what is left over.
//
//	%t = prim::TupleConstruct(%a, %b)
//	%x, %y = prim::TupleUnpack(%t)      -- uses of %x become uses of %a
func LowerSimpleTuples(g *ir.Graph) {
	lowerTuples(g.Block())
	DCEWithWrites(g)
}

// SplitBranchTuples has branches give the elements of tuples that are only taken apart behind them, and reports whether it changed something.
//
//	%t : (A, B) = prim::If(%c)          -- becomes %x, %y = prim::If(%c), whose blocks give two values each
//	...
//	%x, %y = prim::TupleUnpack(%t)
func SplitBranchTuples(g *ir.Graph) (changed bool) {
	var branches []*ir.Node // outer ones come first: what an inner one gives to them is taken apart then
	g.Block().Walk(func(n *ir.Node) {
		if n.Is(prim.If) {
			branches = append(branches, n)
		}
	})
	for _, n := range branches {
		for i := len(n.Outputs()) - 1; i >= 0; i-- {
			if isOnlyUnpacked(n.Outputs()[i]) {
				splitOutput(n, i)
				changed = true
			}
		}
	}
	if changed {
		LowerSimpleTuples(g)
	}
	return changed
}

func isOnlyUnpacked(v *ir.Value) bool {
	if _, isTuple := v.Type().(*types.Tuple); !isTuple || !v.HasUses() {
		return false
	}
	for _, use := range v.Uses() {
		if !use.User.Is(prim.TupleUnpack) {
			return false
		}
	}
	return true
}

// splitOutput has the elements of output i of a prim::If, a tuple, stand in its place.
func splitOutput(n *ir.Node, i int) {
	tuple := n.Outputs()[i]
	elements := tuple.Type().(*types.Tuple).Elems
	for k, t := range elements {
		n.InsertOutput(i + 1 + k).SetType(t)
	}
	for _, b := range n.Blocks() {
		parts := b.Append(n.Graph().CreateTupleUnpack(b.Outputs()[i]).SetRange(n.Range))
		for k := range elements {
			b.InsertOutput(i+1+k, parts.Outputs()[k])
		}
		b.EraseOutput(i)
	}
	for len(tuple.Uses()) > 0 {
		unpack := tuple.Uses()[0].User
		for k, out := range unpack.Outputs() {
			out.ReplaceAllUsesWith(n.Outputs()[i+1+k])
		}
		unpack.Destroy()
	}
	n.EraseOutput(i)
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
	if !n.Is(prim.TupleUnpack, prim.TupleIndex) {
		return
	}
	made := n.Input(0).Node()
	if made.Kind() != prim.TupleConstruct {
		return
	}
	if n.Kind() == prim.TupleUnpack {
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

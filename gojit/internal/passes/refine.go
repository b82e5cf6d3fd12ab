package passes

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// RefineIntegers replaces integers by the constants that conditions say they are: in the branch where %a == 3, and
// behind an if whose other branch raises.
//
//	%e = aten::eq(%a, %three)
//	prim::If(%e)
//	  block0():
//	    use(%a)   ->   use(3)
func RefineIntegers(g *ir.Graph) bool {
	r := &refinement{g: g}
	r.block(g.Block())
	return r.changed
}

// fact says which integer a value is.
type fact struct {
	value *ir.Value
	is    int64
}

type refinement struct {
	g       *ir.Graph
	changed bool
}

func (r *refinement) block(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() != "prim::If" {
			for _, inner := range n.Blocks() {
				r.block(inner)
			}
			continue
		}
		for i, branch := range n.Blocks() {
			r.block(branch)
			facts := factsOf(n.Input(0), i == 0)
			for _, f := range facts {
				r.within(branch, f)
			}
			if raises(n.Blocks()[1-i]) {
				for _, f := range facts {
					r.behind(n, f)
				}
			}
		}
	}
}

// factsOf returns what follows from a condition that has an outcome.
func factsOf(condition *ir.Value, outcome bool) []fact {
	n := condition.Node()
	switch {
	case n.Is("aten::eq") && outcome || n.Is("aten::ne") && !outcome:
		for i := range n.Inputs() {
			if is, ok := constantInt(n.Input(i)); ok && n.Input(1-i).Type().Kind() == types.KindInt && !isConstant(n.Input(1-i)) {
				return []fact{{n.Input(1 - i), is}}
			}
		}
	case n.Is("aten::__not__"):
		return factsOf(n.Input(0), !outcome)
	case n.Is("aten::__and__") && outcome || n.Is("aten::__or__") && !outcome:
		return append(factsOf(n.Input(0), outcome), factsOf(n.Input(1), outcome)...)
	case n.Is("prim::If") && outcome: // a and b: in both branches the first holds where the second is what counts
		no, ok := n.Blocks()[1].Outputs()[condition.Offset()].Constant()
		first := n.Blocks()[1].Outputs()[condition.Offset()] == n.Input(0)
		if ok && no.IsBool() && !no.Bool() || first {
			return append(factsOf(n.Input(0), true), factsOf(n.Blocks()[0].Outputs()[condition.Offset()], true)...)
		}
	}
	return nil
}

func isConstant(v *ir.Value) bool { return v.Node().Kind() == "prim::Constant" }

// raises reports whether a block ends with an exception.
func raises(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() == "prim::RaiseException" {
			return true
		}
	}
	return false
}

// within makes the uses of a value in a block uses of the constant.
func (r *refinement) within(b *ir.Block, f fact) {
	front := b.First()
	if front == nil {
		front = b.ReturnNode()
	}
	r.replace(f, front, func(u *ir.Node) bool {
		for at := u; at != nil; at = at.Block().Owner() {
			if at.Block() == b {
				return true
			}
		}
		return false
	})
}

// behind makes the uses of a value that n dominates uses of the constant.
func (r *refinement) behind(n *ir.Node, f fact) {
	next := n.Next()
	if next == nil {
		next = n.Block().ReturnNode()
	}
	r.replace(f, next, func(u *ir.Node) bool { return u != n && ir.Dominates(n, u) && !isWithin(u, n) })
}

// isWithin reports whether a node stands in a block of n.
func isWithin(u, n *ir.Node) bool {
	for at := u; at != nil; at = at.Block().Owner() {
		if at == n {
			return true
		}
	}
	return false
}

func (r *refinement) replace(f fact, at *ir.Node, where func(*ir.Node) bool) {
	var constant *ir.Value
	for _, u := range slices.Clone(f.value.Uses()) {
		if !where(u.User) {
			continue
		}
		if constant == nil {
			old := r.g.SetInsertPoint(at)
			constant = r.g.Constant(value.Int(f.is), source.Range{})
			r.g.SetInsertPoint(old)
		}
		u.User.ReplaceInput(u.Index, constant)
		r.changed = true
	}
}

package parity

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
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
	r := &refinement{g: g, replace: replaceInteger, subject: func(v *ir.Value) *ir.Value {
		if v.Type().Kind() == types.KindInt && !isConstant(v) {
			return v
		}
		return nil
	}}
	r.block(g.Block())
	return r.changed
}

// RefineListLengths does the same for the lengths of lists that nothing writes.
//
//	%n = aten::len(%l)
//	%e = aten::eq(%n, %three)
//	prim::If(%e)
//	  block0():
//	    %m = aten::len(%l)
//	    use(%m)   ->   use(3)
func RefineListLengths(g *ir.Graph) bool {
	return refineListLengths(g, alias.Analyze(g, alias.Options{}))
}

func refineListLengths(g *ir.Graph, db *alias.Db) bool {
	r := &refinement{g: g, replace: replaceLengths, subject: func(v *ir.Value) *ir.Value {
		if n := v.Node(); n.Is(aten.Len) && n.Input(0).Type().Kind() == types.KindList && !db.HasWriters(n.Input(0)) {
			return n.Input(0)
		}
		return nil
	}}
	r.block(g.Block())
	return r.changed
}

// fact says which integer a value is, or how long a list.
type fact struct {
	value *ir.Value
	is    int64
}

type refinement struct {
	g       *ir.Graph
	subject func(v *ir.Value) *ir.Value                                           // what is known where an int is: itself, or the list whose length it is; nil: nothing
	replace func(r *refinement, f fact, at *ir.Node, where func(u *ir.Node) bool) // uses a fact where it holds; at is before all these places
	changed bool
}

func (r *refinement) block(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() != prim.If {
			for _, inner := range n.Blocks() {
				r.block(inner)
			}
			continue
		}
		for i, branch := range n.Blocks() {
			r.block(branch)
			facts := r.factsOf(n.Input(0), i == 0)
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
func (r *refinement) factsOf(condition *ir.Value, outcome bool) []fact {
	n := condition.Node()
	switch {
	case n.Is(aten.Eq) && outcome || n.Is(aten.Ne) && !outcome:
		for i := range n.Inputs() {
			if is, ok := passes.ConstantInt(n.Input(i)); ok {
				if subject := r.subject(n.Input(1 - i)); subject != nil {
					return []fact{{subject, is}}
				}
			}
		}
	case n.Is(aten.Not):
		return r.factsOf(n.Input(0), !outcome)
	case n.Is(aten.And) && outcome || n.Is(aten.Or) && !outcome:
		return append(r.factsOf(n.Input(0), outcome), r.factsOf(n.Input(1), outcome)...)
	case n.Is(prim.If): // "a and b", "a or b": where one branch gives the other outcome it was not taken
		for i, branch := range n.Blocks() {
			given := n.Blocks()[1-i].Outputs()[condition.Offset()]
			if is, ok := truthIn(n, 1-i, given); ok && is != outcome {
				return append(r.factsOf(n.Input(0), i == 0), r.factsOf(branch.Outputs()[condition.Offset()], outcome)...)
			}
		}
	}
	return nil
}

// truthIn is what a bool that a branch of an if gives is: a constant, or the condition itself.
func truthIn(n *ir.Node, branch int, v *ir.Value) (is, ok bool) {
	if v == n.Input(0) {
		return branch == 0, true
	}
	c, ok := v.Constant()
	if !ok || !c.IsBool() {
		return false, false
	}
	return c.Bool(), true
}

func isConstant(v *ir.Value) bool { return v.Node().Kind() == prim.Constant }

// raises reports whether a block ends with an exception.
func raises(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		if n.Kind() == prim.RaiseException {
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
	r.replace(r, f, front, func(u *ir.Node) bool {
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
	r.replace(r, f, next, func(u *ir.Node) bool { return u != n && ir.Dominates(n, u) && !isWithin(u, n) })
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

// replaceInteger makes the uses of an int uses of the constant.
func replaceInteger(r *refinement, f fact, at *ir.Node, where func(*ir.Node) bool) {
	var constant *ir.Value
	for _, u := range slices.Clone(f.value.Uses()) {
		if !where(u.User) {
			continue
		}
		if constant == nil {
			constant = r.constant(f.is, at)
		}
		u.User.ReplaceInput(u.Index, constant)
		r.changed = true
	}
}

// replaceLengths makes the uses of a list's lengths uses of the constant.
func replaceLengths(r *refinement, f fact, _ *ir.Node, where func(*ir.Node) bool) {
	for _, u := range f.value.Uses() {
		if u.User.Is(aten.Len) && passes.HasUses(u.User) && where(u.User) {
			u.User.Output().ReplaceAllUsesWith(r.constant(f.is, u.User))
			r.changed = true
		}
	}
}

func (r *refinement) constant(is int64, before *ir.Node) *ir.Value {
	old := r.g.SetInsertPoint(before)
	defer r.g.SetInsertPoint(old)
	return r.g.Constant(value.Int(is), source.Range{})
}

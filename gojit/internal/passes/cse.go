package passes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// CSE replaces nodes by earlier ones of the same kind with the same inputs and attributes, where
// neither writes nor is written, the outputs may share memory and nothing between them changes the
// mode. It reports whether it changed anything.
//
//	%a = aten::neg(%x)
//	%b = aten::neg(%x)   -- removed, uses of %b become uses of %a
func CSE(g *ir.Graph) bool {
	c := &cse{db: alias.Analyze(g, alias.Options{})}
	return c.block(g.Block(), nil)
}

type cse struct {
	db   *alias.Db
	mode int // how often the mode may have changed
}

// scope has the nodes of a block by what they compute, within the scopes around it.
type scope struct {
	outer *scope
	nodes map[string][]*ir.Node
}

// changesMode reports whether operators behind n may be recorded or cast where those before it were not.
func changesMode(n *ir.Node) bool {
	return n.Is(prim.Enter, prim.Exit, aten.SetGradEnabled)
}

func (s *scope) find(key string, fits func(*ir.Node) bool) *ir.Node {
	for ; s != nil; s = s.outer {
		for _, n := range s.nodes[key] {
			if fits(n) {
				return n
			}
		}
	}
	return nil
}

func (c *cse) block(b *ir.Block, outer *scope) bool {
	changed := false
	s := &scope{outer, map[string][]*ir.Node{}}
	for n := b.First(); n != nil; {
		next := n.Next()
		for _, inner := range n.Blocks() {
			changed = c.block(inner, s) || changed
		}
		if changesMode(n) {
			c.mode++
		}
		if c.eligible(n) {
			key := cseKey(n)
			if n.Kind() != prim.Constant {
				key += fmt.Sprintf(" in mode %d", c.mode)
			}
			same := s.find(key, func(other *ir.Node) bool { return c.same(n, other) })
			if same == nil {
				s.nodes[key] = append(s.nodes[key], n)
			} else {
				for i, out := range n.Outputs() {
					out.ReplaceAllUsesWith(same.Outputs()[i])
				}
				n.Destroy()
				changed = true
			}
		}
		n = next
	}
	return changed
}

func (c *cse) eligible(n *ir.Node) bool {
	return len(n.Blocks()) == 0 && n.Kind() != prim.PythonOp && !n.HasSideEffects() && !n.IsNondeterministic() &&
		!c.db.Writes(n) && !c.isWritten(n) && len(n.Outputs()) > 0
}

// isWritten reports whether what n reads or gives is written. An attribute is read from its object alone, and containers whose elements an
// operator does not look at are read without them, whatever writes what is in other attributes or in the elements.
func (c *cse) isWritten(n *ir.Node) bool {
	if n.Kind() == prim.GetAttr {
		return c.db.HasWriters(n.Input(0)) || c.db.HasWriters(n.Output())
	}
	for i, in := range n.Inputs() {
		if c.db.HasWriters(in) || !leavesElements(n, i) && c.db.HasContentWriters(in) {
			return true
		}
	}
	if n.Kind() == prim.Constant {
		return c.db.HasContentWriters(n.Output())
	}
	return slices.ContainsFunc(n.Outputs(), c.db.HasWriters)
}

// leavesElements reports whether a node does not look at what is in its input i: it makes a container or takes one apart, or is an operator of
// containers of any type, which may only order elements.
func leavesElements(n *ir.Node, i int) bool {
	switch n.Kind() {
	case prim.ListConstruct, prim.TupleConstruct, prim.DictConstruct, prim.TupleUnpack, prim.TupleIndex, prim.ListUnpack:
		return true
	case aten.Sorted:
		return false
	}
	o := n.Operator()
	return o != nil && i < len(o.Schema().Arguments) && types.HasVars(o.Schema().Arguments[i].Type)
}

// cseKey is equal for nodes that may be the same.
func cseKey(n *ir.Node) string {
	var b strings.Builder
	b.WriteString(n.Kind())
	for _, in := range n.Inputs() {
		fmt.Fprintf(&b, " %d", in.ID())
	}
	if n.Kind() == prim.Constant { // there are many, and no inputs tell them apart
		if c, ok := n.Output().Constant(); ok && c.Kind() < value.KindTensor {
			fmt.Fprintf(&b, " %d %s", c.Kind(), value.Repr(c, nil))
		}
	}
	return b.String()
}

func (c *cse) same(n, other *ir.Node) bool {
	if len(n.Outputs()) != len(other.Outputs()) || !equalAttributes(n, other) {
		return false
	}
	for i, out := range n.Outputs() {
		if out.Type().String() != other.Outputs()[i].Type().String() || !c.mayBeOne(out, other.Outputs()[i]) {
			return false
		}
	}
	return true
}

// mayBeOne reports whether nobody can tell whether two values share memory: nothing writes them, and not both are seen outside the graph.
func (c *cse) mayBeOne(a, b *ir.Value) bool {
	if a.Node().Kind() == prim.GetAttr && a.Type().Kind() == types.KindClass {
		return true // it is one object already
	}
	if c.db.HasWriters(a) || c.db.HasWriters(b) || c.db.Returned(a) && c.db.Returned(b) {
		return false
	}
	return !c.isOutside(a) || !c.isOutside(b)
}

// isOutside reports whether something from outside may have a value.
func (c *cse) isOutside(v *ir.Value) bool {
	return c.db.IsWildcard(v) && c.mayBeKept(v, map[*ir.Value]bool{})
}

// mayBeKept reports whether something from outside may get a value, which may have come from there: by a write, or by a container or a block's
// result that has it. A view of a tensor is another value.
func (c *cse) mayBeKept(v *ir.Value, seen map[*ir.Value]bool) bool {
	if seen[v] {
		return false
	}
	seen[v] = true
	return slices.ContainsFunc(v.Uses(), func(u ir.Use) bool {
		if c.db.WritesWildcard(u.User) || u.User.Kind() == prim.Return {
			return true
		}
		return slices.ContainsFunc(u.User.Outputs(), func(out *ir.Value) bool {
			view := v.Type().Kind() == types.KindTensor && out.Type().Kind() == types.KindTensor && !isCast(u.User)
			has := alias.Tracked(out.Type()) && !view && c.db.MayContainAlias([]*ir.Value{out}, []*ir.Value{v})
			return has && c.mayBeKept(out, seen)
		})
	})
}

// isCast reports whether a node gives its input as a value of another type.
func isCast(n *ir.Node) bool {
	return n.Is(prim.UncheckedCast, prim.UncheckedUnwrapOptional, aten.UnwrapOptional)
}

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

// isWritten reports whether what n reads or gives is written. An attribute is read from its object alone, whatever writes what is in
// other attributes.
func (c *cse) isWritten(n *ir.Node) bool {
	if n.Kind() != prim.GetAttr {
		return c.db.HasNodeWriters(n)
	}
	return c.db.HasWriters(n.Input(0)) || c.db.HasWriters(n.Output())
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

// mayBeOne reports whether nobody can tell whether two values share memory.
func (c *cse) mayBeOne(a, b *ir.Value) bool {
	if a.Node().Kind() == prim.GetAttr && a.Type().Kind() == types.KindClass {
		return true // it is one object already
	}
	return c.db.MayShare(a, b) || c.db.MayBeOne(a, b) && !c.mayBeKept(a) && !c.mayBeKept(b)
}

// mayBeKept reports whether something from outside may get a value: by a write, or by a container or a block's result that has it.
func (c *cse) mayBeKept(v *ir.Value) bool {
	return slices.ContainsFunc(v.Uses(), func(u ir.Use) bool {
		holds := func(out *ir.Value) bool { return alias.Tracked(out.Type()) && out.Type().Kind() != types.KindTensor }
		return c.db.WritesWildcard(u.User) || u.User.Kind() == prim.Return || slices.ContainsFunc(u.User.Outputs(), holds)
	})
}

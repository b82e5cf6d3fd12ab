package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// RemoveDeadWrites removes the nodes that write values which the function has made itself and which nothing reads, and then what is
// not needed without them.
//
//	%l = prim::ListConstruct()
//	%m = aten::append(%l, %x)   -- removed, and %l with it, where nothing else uses %l or %m
func RemoveDeadWrites(g *ir.Graph) bool {
	changed := false
	for removeWrites(g) {
		DCE(g)
		changed = true
	}
	return changed
}

// removeWrites removes the writes of values that are not read, and reports whether there were any.
func removeWrites(g *ir.Graph) bool {
	var made []*ir.Value
	known := map[*ir.Value]bool{}
	g.Block().Walk(func(n *ir.Node) {
		if isWriter(n) {
			if v := n.Input(0); !known[v] && isFreshHere(v) {
				known[v] = true
				made = append(made, v)
			}
		}
	})
	changed := false
	for _, v := range made {
		u := unread{seen: map[*ir.Value]bool{}, written: map[*ir.Node]bool{}}
		if !u.value(v) {
			continue
		}
		for i := len(u.writes) - 1; i >= 0; i-- {
			removeUnread(u.writes[i])
		}
		changed = true
	}
	return changed
}

// removeUnread removes a write, whose results only other removed nodes or nobody uses.
func removeUnread(n *ir.Node) {
	if n.Graph() == nil {
		return
	}
	for _, out := range n.Outputs() {
		for out.HasUses() {
			removeUnread(out.Uses()[0].User)
		}
	}
	n.Destroy()
}

// isWriter reports whether a node writes its first input and does nothing else that can be seen.
func isWriter(n *ir.Node) bool {
	if n.Kind() == "prim::SetAttr" || n.Kind() == "aten::Delete" {
		return len(n.Inputs()) > 0
	}
	o := n.Operator()
	if len(n.Inputs()) == 0 || o == nil || !o.Schema().IsMutable() || len(n.Outputs()) > 0 && n.HasSideEffects() {
		return false
	}
	if len(o.Schema().Arguments) != len(n.Inputs()) {
		return false
	}
	for i, a := range o.Schema().Arguments {
		if a.Alias != nil && a.Alias.IsWrite != (i == 0) && (a.Alias.IsWrite || i == 0) {
			return false
		}
		if a.Alias == nil && i == 0 {
			return false
		}
	}
	return true
}

// isFreshHere reports whether a value is one that its node has made, over memory of its own.
func isFreshHere(v *ir.Value) bool {
	n := v.Node()
	if n.Is("prim::ListConstruct", "prim::DictConstruct", "prim::CreateObject") {
		return true
	}
	o := n.Operator()
	if o == nil || n.HasSideEffects() || o.Schema().IsMutable() || v.Offset() >= len(o.Schema().Returns) || o.Has(ops.GivesArgument) {
		return false
	}
	r := &o.Schema().Returns[v.Offset()]
	return r.Alias == nil && !types.HasVars(r.Type) // of any type is what comes out of a container
}

// unread follows the uses of a value.
type unread struct {
	seen    map[*ir.Value]bool
	written map[*ir.Node]bool
	writes  []*ir.Node
}

// value reports whether a value is only written, by the nodes that it adds to writes.
func (u *unread) value(v *ir.Value) bool {
	if u.seen[v] {
		return true
	}
	u.seen[v] = true
	for _, use := range v.Uses() {
		if !u.use(use) {
			return false
		}
	}
	return true
}

func (u *unread) use(use ir.Use) bool {
	n := use.User
	switch {
	case use.Index == 0 && isWriter(n):
		if !u.written[n] {
			u.written[n] = true
			u.writes = append(u.writes, n)
		}
		return u.outputs(n)
	case n.Graph() == nil || n.HasSideEffects() || len(n.Blocks()) > 0 || n.Operator() == nil || n.Operator().Schema().IsMutable():
		return false
	}
	return !HasUses(n) // what nobody needs does not count
}

func (u *unread) outputs(n *ir.Node) bool {
	for _, out := range n.Outputs() {
		if !u.value(out) {
			return false
		}
	}
	return true
}

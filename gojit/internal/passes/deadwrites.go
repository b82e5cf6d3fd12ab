package passes

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// RemoveDeadWrites removes the nodes that write values which the function has made itself and which nothing reads, and then what is
// not needed without them.
//
//	%l = prim::ListConstruct()
//	%m = aten::append(%l, %x)   -- removed, and %l with it, where nothing else uses %l or %m
//
//	%y = aten::zeros(...)
//	%v = aten::select(%y, %zero, %zero)
//	%w = aten::copy_(%v, %x, %no)   -- removed, and %v and %y with it
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
			if v := viewed(n.Input(0)); !known[v] && isFreshHere(v) {
				known[v] = true
				made = append(made, v)
			}
		}
	})
	changed := false
	for _, v := range made {
		u := unread{seen: map[*ir.Value]bool{}, written: map[*ir.Node]bool{}}
		if !u.value(v) || !u.writesAll() {
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
	return r.Alias == nil && !types.HasVars(r.Type) && r.Type.Kind() != types.KindAny // of any type is what comes out of a container
}

// viewed returns the value over whose memory another one is a view, the value itself where it is none.
func viewed(v *ir.Value) *ir.Value {
	for {
		o := v.Node().Operator()
		if o == nil || !o.IsView() || v.Offset() > 0 {
			return v
		}
		v = v.Node().Input(0)
	}
}

// unread follows the uses of a value.
type unread struct {
	seen    map[*ir.Value]bool
	written map[*ir.Node]bool
	writes  []*ir.Node
	readers []*ir.Node // writes that read the value, or what was computed from it
}

// writesAll reports whether the writes that read the value are writes of it.
func (u *unread) writesAll() bool {
	return !slices.ContainsFunc(u.readers, func(n *ir.Node) bool { return !u.written[n] })
}

// value reports whether a value is only written, by the nodes that it adds to writes, if those that it adds to readers are among them.
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
	case isWriter(n) && use.Index > 0:
		u.readers = append(u.readers, n)
		return true
	case isWriter(n):
		if !u.written[n] {
			u.written[n] = true
			u.writes = append(u.writes, n)
		}
	case n.Graph() == nil || n.HasSideEffects() || len(n.Blocks()) > 0 || n.Operator() == nil || n.Operator().Schema().IsMutable():
		return false
	}
	return u.outputs(n) // what is computed for such writes alone does not count
}

func (u *unread) outputs(n *ir.Node) bool {
	for _, out := range n.Outputs() {
		if !u.value(out) {
			return false
		}
	}
	return true
}

package ir

import (
	"strconv"

	"github.com/torchjit/torchjit/gojit/internal/types"
)

// Use is one place where a value is an input.
type Use struct {
	User  *Node
	Index int // in User.Inputs
}

// Value is what a node defines or a block takes.
type Value struct {
	node   *Node
	offset int // in node's outputs
	uses   []Use
	id     int
	names  *nameSet // of its name; nil where it has none
	number int      // behind the name
	typ    types.Type
}

// Node returns the producer.
func (v *Value) Node() *Node { return v.node }

// IsErased reports whether v is no longer an output of its producer, which may be destroyed.
func (v *Value) IsErased() bool {
	n := v.node
	return n.graph == nil || v.offset >= len(n.outputs) || n.outputs[v.offset] != v
}

// Offset returns the position among the producer's outputs.
func (v *Value) Offset() int { return v.offset }

// Uses returns the places where v is an input, in the order in which they were made. The slice
// must not be changed.
func (v *Value) Uses() []Use { return v.uses }

// HasUses reports whether v is an input anywhere.
func (v *Value) HasUses() bool { return len(v.uses) > 0 }

// ID returns the number that is unique in the graph.
func (v *Value) ID() int { return v.id }

// Type returns the static type.
func (v *Value) Type() types.Type { return v.typ }

// SetType sets the static type and returns v. Overloads chosen by the old type are chosen anew.
func (v *Value) SetType(t types.Type) *Value {
	v.typ = t
	for _, u := range v.uses {
		u.User.operator = nil
	}
	return v
}

// HasName reports whether v has a name of its own.
func (v *Value) HasName() bool { return v.names != nil }

// Name returns the name, or the number where there is none.
func (v *Value) Name() string {
	if v.names != nil {
		return v.names.text(v.number)
	}
	return strconv.Itoa(v.id)
}

// BaseName returns the name without a number behind it; "" where there is none.
func (v *Value) BaseName() string {
	if v.names == nil {
		return ""
	}
	base, _ := splitSuffix(v.names.base)
	return base
}

// SetName names v; the value that had the name gets a number behind it. "" takes the name away.
// Anything else than a valid name is ignored.
func (v *Value) SetName(name string) *Value {
	if name == "" || ValidName(name) {
		v.node.graph.setName(v, name)
	}
	return v
}

// CopyMetadata gives v the type and the name of other and returns v.
func (v *Value) CopyMetadata(other *Value) *Value {
	v.SetType(other.typ)
	if other.HasName() {
		v.node.graph.copyName(v, other)
	}
	return v
}

// ReplaceAllUsesWith makes every use of v one of other.
func (v *Value) ReplaceAllUsesWith(other *Value) {
	if v == other {
		return
	}
	for _, u := range v.uses {
		u.User.inputs[u.Index] = other
		u.User.operator = nil
		other.uses = append(other.uses, u)
	}
	v.uses = nil
}

// ReplaceAllUsesAfter makes the uses of v by nodes that follow n uses of other.
func (v *Value) ReplaceAllUsesAfter(n *Node, other *Value) {
	for _, u := range append([]Use(nil), v.uses...) {
		if n.IsBefore(u.User) {
			u.User.ReplaceInput(u.Index, other)
		}
	}
}

// ReplaceAllUsesDominatedBy makes the uses of v by nodes that n dominates uses of other.
func (v *Value) ReplaceAllUsesDominatedBy(n *Node, other *Value) {
	for _, u := range append([]Use(nil), v.uses...) {
		if Dominates(n, u.User) {
			u.User.ReplaceInput(u.Index, other)
		}
	}
}

// Dominates reports whether m is executed only after n.
func Dominates(n, m *Node) bool {
	for at := m; at != nil; at = at.block.owner {
		if at.block == n.block {
			return at == n || n.position < at.position
		}
	}
	return false
}

// dropUse forgets a use. Nodes are mostly destroyed from the first or the last on, so it looks at both ends at once and moves the shorter rest.
func (v *Value) dropUse(n *Node, index int) {
	is := func(i int) bool { return v.uses[i].User == n && v.uses[i].Index == index }
	for i, j := 0, len(v.uses)-1; i <= j; i, j = i+1, j-1 {
		switch {
		case is(j):
			v.uses = append(v.uses[:j], v.uses[j+1:]...)
			return
		case is(i):
			copy(v.uses[1:i+1], v.uses[:i])
			v.uses = v.uses[1:]
			return
		}
	}
	panic("a use is missing: " + n.kind)
}

func (v *Value) moveUse(n *Node, from, to int) {
	for i, u := range v.uses {
		if u.User == n && u.Index == from {
			v.uses[i].Index = to
			return
		}
	}
	panic("a use is missing: " + n.kind)
}

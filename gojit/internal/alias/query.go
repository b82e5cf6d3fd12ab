package alias

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// overlap reports whether two sets of locations may be the same memory: they have one in common,
// or one has a wildcard that stands for every type and the other any wildcard.
func (db *Db) overlap(a, b set) bool {
	return a.intersects(b) || a.intersects(db.anything) && b.intersects(db.wild) || b.intersects(db.anything) && a.intersects(db.wild)
}

// locations returns where a value may be; values that are new to the database may be anywhere.
func (db *Db) locations(v *ir.Value) set {
	if !Tracked(v.Type()) {
		return set{}
	}
	if e := db.elements[v]; e != nil {
		return e.locations
	}
	return db.everywhere()
}

// contents returns where a value and all that is in it may be.
func (db *Db) contents(v *ir.Value) set {
	if !Tracked(v.Type()) {
		return set{}
	}
	if e := db.elements[v]; e != nil {
		return e.all
	}
	return db.everywhere()
}

func (db *Db) everywhere() set {
	var s set
	for i := range db.all {
		s.add(i)
	}
	return s
}

// MayAlias reports whether two values may be the same memory.
func (db *Db) MayAlias(a, b *ir.Value) bool { return db.overlap(db.locations(a), db.locations(b)) }

// MayContainAlias reports whether a value of as and one of bs, or anything in them, may be the
// same memory.
func (db *Db) MayContainAlias(as, bs []*ir.Value) bool {
	for _, a := range as {
		for _, b := range bs {
			if db.overlap(db.contents(a), db.contents(b)) {
				return true
			}
		}
	}
	return false
}

// IsWildcard reports whether v may be memory that comes from outside the graph.
func (db *Db) IsWildcard(v *ir.Value) bool { return db.locations(v).intersects(db.wild) }

// HasWriters reports whether any node may write v.
func (db *Db) HasWriters(v *ir.Value) bool { return db.overlap(db.locations(v), db.written) }

// HasContentWriters reports whether any node may write v or anything in it.
func (db *Db) HasContentWriters(v *ir.Value) bool { return db.overlap(db.contents(v), db.written) }

// HasNodeWriters reports whether any node may write an input or an output of n, or what is in it.
func (db *Db) HasNodeWriters(n *ir.Node) bool {
	return slices.ContainsFunc(n.Inputs(), db.HasContentWriters) || slices.ContainsFunc(n.Outputs(), db.HasContentWriters)
}

// Writes reports whether n, or a node in its blocks, writes any value.
func (db *Db) Writes(n *ir.Node) bool {
	return !db.allWrites(n).empty()
}

// WritesTo reports whether n, or a node in its blocks, may write one of the values or what is in it.
func (db *Db) WritesTo(n *ir.Node, vs []*ir.Value) bool {
	writes := db.allWrites(n)
	return slices.ContainsFunc(vs, func(v *ir.Value) bool { return db.overlap(db.contents(v), writes) })
}

// Memory is that of some values, and what comes from outside the graph.
type Memory struct {
	db        *Db
	locations set
}

// NewMemory returns the memory that comes from outside.
func (db *Db) NewMemory() *Memory {
	m := &Memory{db: db}
	m.locations.union(db.wild)
	return m
}

// Add adds the memory of v and of what is in it.
func (m *Memory) Add(v *ir.Value) {
	if Tracked(v.Type()) {
		m.locations.union(m.db.contents(v))
	}
}

// IsWrittenBy reports whether a node itself may write the memory.
func (m *Memory) IsWrittenBy(n *ir.Node) bool { return m.db.overlap(m.db.writesOf(n), m.locations) }

// WritesWildcard reports whether n, or a node in its blocks, may write memory from outside the graph.
func (db *Db) WritesWildcard(n *ir.Node) bool { return db.allWrites(n).intersects(db.wild) }

// allWrites returns what n and the nodes in its blocks write.
func (db *Db) allWrites(n *ir.Node) set {
	var s set
	s.union(db.writesOf(n))
	for _, b := range n.Blocks() {
		b.Walk(func(m *ir.Node) { s.union(db.writesOf(m)) })
	}
	return s
}

// reads returns what n and the nodes in its blocks may read.
func (db *Db) reads(n *ir.Node) set {
	var s set
	for _, in := range n.Inputs() {
		s.union(db.contents(in))
	}
	for _, b := range n.Blocks() {
		b.Walk(func(m *ir.Node) { s.union(db.reads(m)) })
		for _, out := range b.Outputs() {
			s.union(db.contents(out))
		}
	}
	return s
}

// Forget says that v, a new value, is what another is: a pass that replaces other by v calls it.
func (db *Db) Forget(other, v *ir.Value) {
	if e := db.elements[other]; e != nil {
		db.elements[v] = e
	}
}

// escapes reports whether v may be seen outside the graph: it comes from there or is returned.
func (db *Db) escapes(v *ir.Value) bool {
	return db.contents(v).intersects(db.wild) || db.Returned(v)
}

// Escapes reports whether v, or something in it, may be seen outside the graph.
func (db *Db) Escapes(v *ir.Value) bool { return Tracked(v.Type()) && db.escapes(v) }

// MayShare reports whether a and b may be made the same memory where they are not yet: nothing
// writes either, and not both are seen outside the graph.
func (db *Db) MayShare(a, b *ir.Value) bool {
	if !Tracked(a.Type()) && !Tracked(b.Type()) {
		return true
	}
	return !db.HasContentWriters(a) && !db.HasContentWriters(b) && !(db.Escapes(a) && db.Escapes(b))
}

// Returned reports whether v, or something in it, may be in what the graph returns.
func (db *Db) Returned(v *ir.Value) bool {
	return db.MayContainAlias([]*ir.Value{v}, db.graph.Outputs())
}

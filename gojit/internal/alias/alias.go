// Package alias finds out which values of a graph may share memory and which of it the graph's
// nodes write, so that passes may move, merge and remove nodes.
//
// Its rules come from the alias annotations of operators' schemas. Values whose origin is not seen
// (parameters, attributes, elements of containers that came from outside) may be each other: each
// type has a wildcard that stands for all memory of the kind. An answer "may" is never wrong; an
// answer "may not" holds as long as the graph is not changed, but for nodes removed.
package alias

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Db is what is known of a graph's memory.
type Db struct {
	graph     *ir.Graph
	options   Options
	calls     []*ir.Function // whose bodies are being looked into
	elements  map[*ir.Value]*element
	all       []*element // by index
	wildcards map[string]*element
	writes    map[*ir.Node][]*element
	inner     map[*ir.Node][]*element // writes into what an element contains
	extracts  []extraction
	escaped   []*element // what something from outside the graph may keep
	conflicts []*ir.Node // nodes that may write every wildcard
	written   set        // all locations that anything writes
	anything  set        // wildcards of types that stand for all
	wild      set        // wildcards
	byNode    map[*ir.Node]set
	tensors   map[*tensor.Tensor]*ir.Value // the first constant of each tensor
}

// extraction says that out may be anything that is in from.
type extraction struct{ out, from *element }

// Options say what an analysis may assume.
type Options struct {
	// Frozen says that attributes of modules are not changed by anybody and shared by none.
	Frozen bool
	// Descend looks into the bodies of functions that are called.
	Descend bool
}

// Analyze makes the database of a graph.
func Analyze(g *ir.Graph, o Options) *Db {
	db := &Db{graph: g, options: o, elements: map[*ir.Value]*element{}, wildcards: map[string]*element{},
		writes: map[*ir.Node][]*element{}, inner: map[*ir.Node][]*element{}, byNode: map[*ir.Node]set{}}
	for _, in := range g.Inputs() {
		db.setWildcard(in)
	}
	db.block(g.Block())
	db.close()
	return db
}

// Tracked reports whether a value of type t can be changed in place, or contains what can.
func Tracked(t types.Type) bool { return types.IsMutable(t) }

// element returns the element of a value, nil where the value cannot be changed.
func (db *Db) element(v *ir.Value) *element {
	if e, ok := db.elements[v]; ok {
		return e
	}
	if !Tracked(v.Type()) {
		return nil
	}
	e := &element{index: len(db.all), value: v, typ: v.Type()}
	db.all = append(db.all, e)
	db.elements[v] = e
	return e
}

// wildcard returns the element that stands for all memory of a type.
func (db *Db) wildcard(t types.Type) *element {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	key := types.Unshaped(t).String()
	if t.Kind() == types.KindTensor {
		key = "Tensor"
	}
	if e, ok := db.wildcards[key]; ok {
		return e
	}
	e := &element{index: len(db.all), wildcard: key, typ: t}
	db.all = append(db.all, e)
	db.wildcards[key] = e
	db.wild.add(e.index)
	if standsForAll(t) {
		db.anything.add(e.index)
	}
	for _, c := range parts(t) {
		e.addContained(db.wildcard(c))
	}
	return e
}

// parts returns the types of what a container of type t holds that can be changed in place.
func parts(t types.Type) []types.Type {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	var out []types.Type
	for _, c := range types.Contained(t) {
		if Tracked(c) {
			out = append(out, c)
		}
	}
	return out
}

// standsForAll reports whether a value of type t may be of types that are not seen.
func standsForAll(t types.Type) bool {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	switch t.Kind() {
	case types.KindTensor, types.KindList, types.KindDict, types.KindTuple, types.KindFuture, types.KindAwait, types.KindClass:
		return false
	}
	return true
}

func (db *Db) setWildcard(v *ir.Value) {
	if e := db.element(v); e != nil {
		e.addPointer(db.wildcard(v.Type()))
	}
}

// escape says that v, and so all that it may be or be a view of, may be kept outside the graph or be met in other containers.
func (db *Db) escape(v *ir.Value) {
	if e := db.element(v); e != nil {
		db.escaped = append(db.escaped, e)
	}
}

// fresh says that v is new memory. What it contains is not: it may come from anywhere.
func (db *Db) fresh(v *ir.Value) {
	e := db.element(v)
	if e == nil {
		return
	}
	for _, c := range parts(v.Type()) {
		e.addContained(db.wildcard(c))
	}
}

// sameTensor says that a constant may be what an earlier one of the same tensor is.
func (db *Db) sameTensor(v *ir.Value) {
	c, ok := v.Constant()
	if !ok || !c.IsTensor() {
		return
	}
	if db.tensors == nil {
		db.tensors = map[*tensor.Tensor]*ir.Value{}
	}
	if earlier := db.tensors[c.Tensor()]; earlier != nil {
		db.point(v, earlier)
	} else {
		db.tensors[c.Tensor()] = v
	}
}

// ownParts says that what a container of type t contains is in no other one. Objects may have been put into several.
func (db *Db) ownParts(e *element, t types.Type) {
	for _, c := range parts(t) {
		if standsForAll(c) || c.Kind() == types.KindClass {
			e.addContained(db.wildcard(c))
			continue
		}
		inner := &element{index: len(db.all), typ: c}
		db.all = append(db.all, inner)
		e.addContained(inner)
		db.ownParts(inner, c)
	}
}

// point says that v may be what to is.
func (db *Db) point(v, to *ir.Value) {
	e, target := db.element(v), db.element(to)
	if e != nil && target != nil {
		e.addPointer(target)
	}
}

// contain says that inner may be in container.
func (db *Db) contain(container, inner *ir.Value) {
	c, e := db.element(container), db.element(inner)
	if c != nil && e != nil {
		c.addContained(e)
	}
}

// extract says that out may be anything that is in from.
func (db *Db) extract(out, from *ir.Value) {
	o, f := db.element(out), db.element(from)
	if o != nil && f != nil {
		db.extracts = append(db.extracts, extraction{o, f})
	}
}

func (db *Db) write(n *ir.Node, v *ir.Value) {
	if e := db.element(v); e != nil {
		db.writes[n] = append(db.writes[n], e)
	}
}

func (db *Db) block(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		db.node(n)
	}
}

func (db *Db) node(n *ir.Node) {
	switch n.Kind() {
	case prim.If:
		db.branches(n)
	case prim.Loop:
		db.loop(n)
	case prim.Constant: // its tensors may be in other constants, too
		for _, out := range n.Outputs() {
			db.fresh(out)
			db.sameTensor(out)
		}
	case prim.Uninitialized, prim.CreateObject, prim.AutogradZero, prim.Print,
		prim.RaiseException, prim.Isinstance, prim.EmptyListLiteral, prim.BroadcastSizes, prim.MMBatchSide:
		for _, out := range n.Outputs() {
			db.element(out)
		}
	case prim.ListConstruct, prim.TupleConstruct, prim.DictConstruct:
		db.container(n)
	case prim.TupleUnpack, prim.TupleIndex, prim.TupleSlice, prim.ListUnpack:
		for _, out := range n.Outputs() {
			db.extract(out, n.Input(0))
		}
		if n.Kind() == prim.TupleSlice {
			db.extract(n.Output(), n.Input(0))
		}
	case prim.UncheckedCast, prim.UncheckedUnwrapOptional, aten.UnwrapOptional, prim.Profile, prim.ProfileIvalue:
		if len(n.Outputs()) > 0 {
			db.point(n.Output(), n.Input(0))
		}
	case prim.ConstantChunk, prim.TypeCheck, prim.RequiresGradCheck, prim.TensorExprDynamicGuard:
		db.shown(n)
	case prim.TensorExprGroup:
		if n.GraphAttr("Subgraph") == nil {
			db.operator(n)
			break
		}
		db.shown(n) // a group writes nothing, but views may be in it
	case prim.GetAttr:
		db.attribute(n)
	case prim.SetAttr:
		db.write(n, n.Input(0))
		db.escape(n.Input(1))
	case aten.Wait, prim.AwaitableWait:
		db.setWildcard(n.Output())
		db.extract(n.Output(), n.Input(0))
		db.conflicts = append(db.conflicts, n)
	default:
		db.operator(n)
		if o := n.Operator(); o != nil && o.Has(ops.WritesStatistics) {
			db.runningStatistics(n)
		}
	}
}

// container makes a new container of values. What is put into a container may be met again wherever one is read, so that it counts as memory
// from outside from then on, as in PyTorch; but for a list whose only user is an operator that only reads it, and a tuple that a block only
// returns.
func (db *Db) container(n *ir.Node) {
	out := n.Output()
	if db.element(out) == nil {
		return
	}
	if staysTogether(out) {
		for _, in := range n.Inputs() {
			db.contain(out, in)
		}
		return
	}
	db.fresh(out)
	for _, in := range n.Inputs() {
		db.escape(in)
	}
}

// staysTogether reports whether a new container has one user, which takes nothing out of it.
func staysTogether(container *ir.Value) bool {
	uses := container.Uses()
	if len(uses) != 1 {
		return false
	}
	user := uses[0].User
	switch container.Type().Kind() {
	case types.KindList:
		o := user.Operator()
		return o != nil && o.Has(ops.BorrowsItems)
	case types.KindTuple:
		return user.Kind() == prim.Return && user.Block() == container.Node().Block()
	}
	return false
}

// shown says that each output of a node may be any of its inputs, or part of one.
func (db *Db) shown(n *ir.Node) {
	for _, out := range n.Outputs() {
		db.element(out)
		for _, in := range n.Inputs() {
			if out.Type().Kind() == types.KindTensor && in.Type().Kind() == types.KindTensor {
				db.point(out, in)
			}
		}
	}
}

// runningStatistics says that a normalization writes its running mean and variance, of which its schema says nothing, unless its flag
// for training is known to be off.
func (db *Db) runningStatistics(n *ir.Node) {
	const mean, variance, training = 3, 4, 5
	if len(n.Inputs()) <= training || db.options.Frozen && n.Is(aten.BatchNorm) {
		return // what is frozen no longer trains
	}
	if flag, ok := n.Input(training).Constant(); ok && flag.IsBool() && !flag.Bool() {
		return
	}
	db.write(n, n.Input(mean))
	db.write(n, n.Input(variance))
}

func (db *Db) branches(n *ir.Node) {
	for _, b := range n.Blocks() {
		db.block(b)
		for i, out := range n.Outputs() {
			db.point(out, b.Outputs()[i])
		}
	}
}

func (db *Db) loop(n *ir.Node) {
	body := n.Blocks()[0]
	for i, in := range body.Inputs()[1:] {
		db.point(in, n.Input(i+2))
	}
	db.block(body)
	for i, out := range n.Outputs() {
		db.point(out, body.Outputs()[i+1])
		db.point(out, n.Input(i+2))
		db.point(body.Inputs()[i+1], body.Outputs()[i+1])
	}
}

func (db *Db) attribute(n *ir.Node) {
	out := n.Output()
	class, ok := n.Input(0).Type().(*types.Class)
	if db.options.Frozen && ok && class.IsModule {
		if e := db.element(out); e != nil {
			db.ownParts(e, out.Type())
		}
		return
	}
	db.setWildcard(out)
}

// maxCalls is how many calls within calls are looked into.
const maxCalls = 32

// call looks into the body of the function that n calls. It reports whether it could.
func (db *Db) call(n *ir.Node) bool {
	f, args := callee(n)
	if f == nil || len(db.calls) == maxCalls || slices.Contains(db.calls, f) {
		return false
	}
	if err := f.EnsureDefined(); err != nil || f.Graph() == nil {
		return false
	}
	db.calls = append(db.calls, f)
	defer func() { db.calls = db.calls[:len(db.calls)-1] }()
	body := f.Graph().Copy()
	for i, in := range body.Inputs() {
		db.point(in, args[i])
	}
	db.block(body.Block())
	for i, out := range n.Outputs() {
		db.point(out, body.Outputs()[i])
	}
	body.Block().Walk(func(m *ir.Node) {
		db.writes[n] = append(db.writes[n], db.writes[m]...)
		db.inner[n] = append(db.inner[n], db.inner[m]...)
	})
	return true
}

// callee returns the function that n calls, nil where it is not known, and its arguments.
func callee(n *ir.Node) (*ir.Function, []*ir.Value) {
	switch n.Kind() {
	case prim.CallFunction:
		if t, ok := n.Input(0).Type().(*types.Function); ok {
			f, _ := t.Target.(*ir.Function)
			return f, n.Inputs()[1:]
		}
	case prim.CallMethod:
		if c, ok := n.Input(0).Type().(*types.Class); ok {
			f, _ := c.FindMethod(n.StringAttr("name")).(*ir.Function)
			return f, n.Inputs()
		}
	}
	return nil, nil
}

// operator follows the annotations of the node's schema; without one the node may do anything with
// its inputs.
func (db *Db) operator(n *ir.Node) {
	if db.options.Descend && db.call(n) {
		return
	}
	o := n.Operator()
	if o == nil || o.Alias == ops.AliasConservative || n.Is(prim.CallFunction, prim.CallMethod, prim.Fork, prim.PythonOp) || n.Is(prim.Awaitable, prim.AwaitableNowait) {
		db.conservative(n)
		return
	}
	s := o.Schema()
	sets := map[string][]*ir.Value{}
	for i, in := range n.Inputs() {
		if i >= len(s.Arguments) {
			break // operators of any number of arguments read them
		}
		a := s.Arguments[i].Alias
		if a == nil {
			continue
		}
		for _, name := range a.Before {
			sets[name] = append(sets[name], in)
		}
		if a.IsWrite {
			db.write(n, in)
		}
		for _, c := range a.Contained {
			if c != nil && c.IsWrite {
				if e := db.element(in); e != nil {
					db.inner[n] = append(db.inner[n], e)
				}
			}
		}
		if contains(a.After, "*") {
			db.escape(in)
		}
	}
	for i, out := range n.Outputs() {
		var a *schema.Alias
		if i < len(s.Returns) {
			a = s.Returns[i].Alias
		}
		db.returned(n, out, a, sets)
	}
}

func (db *Db) returned(n *ir.Node, out *ir.Value, a *schema.Alias, sets map[string][]*ir.Value) {
	if !Tracked(out.Type()) {
		return
	}
	if a == nil || len(a.Before) == 0 {
		db.returnedContainer(n, out, a, sets)
		return
	}
	for _, name := range a.Before {
		if name == "*" {
			db.setWildcard(out)
			for _, in := range n.Inputs() {
				db.extract(out, in)
			}
			continue
		}
		if len(sets[name]) == 0 {
			db.setWildcard(out)
		}
		for _, in := range sets[name] {
			db.point(out, in)
			db.extract(out, in)
		}
	}
}

// returnedContainer is returned for new memory, whose elements may be annotated.
func (db *Db) returnedContainer(n *ir.Node, out *ir.Value, a *schema.Alias, sets map[string][]*ir.Value) {
	if a == nil || len(a.Contained) == 0 {
		db.fresh(out)
		for _, in := range n.Inputs() {
			// A new container, as of list(l) or l + m, holds what its inputs hold.
			if e, f := db.element(out), db.element(in); e != nil && f != nil && len(parts(out.Type())) > 0 {
				for _, inner := range f.contains.to {
					e.addContained(inner)
				}
			}
		}
		return
	}
	for _, c := range a.Contained {
		if c == nil {
			continue
		}
		for _, name := range c.Before {
			for _, in := range sets[name] {
				db.contain(out, in)
			}
			if len(sets[name]) == 0 {
				db.fresh(out)
			}
		}
	}
	db.element(out)
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// conservative says that a node may write, keep and return anything that it is given.
func (db *Db) conservative(n *ir.Node) {
	for _, in := range n.Inputs() {
		if e := db.element(in); e != nil {
			db.writes[n] = append(db.writes[n], e)
			db.inner[n] = append(db.inner[n], e)
			db.escape(in)
		}
	}
	for _, out := range n.Outputs() {
		db.setWildcard(out)
	}
	for _, b := range n.Blocks() {
		for _, in := range b.Inputs() {
			db.setWildcard(in)
		}
		db.block(b)
		for _, out := range b.Outputs() {
			db.escape(out)
		}
	}
	if !n.Is(prim.Fork) || len(n.Blocks()) > 0 {
		db.conflicts = append(db.conflicts, n)
	}
}

// close follows extractions, and makes wildcards of what is in wildcards, until nothing is new;
// then it computes where every value may be.
func (db *Db) close() {
	for changed := true; changed; {
		changed = false
		for _, x := range db.extracts {
			x.from.reach(func(e *element) {
				for _, inner := range e.contains.to {
					changed = x.out.addPointer(inner) || changed
				}
			})
		}
		for _, e := range db.escaped {
			changed = db.keepOutside(e) || changed
		}
		wild := closure(db.all, pointers, func(e *element, s *set) {
			if e.wildcard != "" {
				s.add(0)
			}
		})
		for i, e := range slices.Clone(db.all) {
			if wild[i].empty() {
				continue
			}
			for _, inner := range e.contains.to {
				if inner.wildcard == "" {
					changed = inner.addPointer(db.wildcard(inner.typ)) || changed
				}
			}
		}
	}
	locations := closure(db.all, pointers, func(e *element, s *set) {
		if len(e.pointsTo.to) == 0 {
			s.add(e.index)
		}
	})
	for i, e := range db.all {
		if e.locations = locations[i]; e.locations.empty() {
			e.locations.add(e.index) // elements that point to each other alone
		}
	}
	contents := closure(db.all, pointersAndContents, func(e *element, s *set) {
		s.union(e.locations)
		if hasAttributes(e.typ) {
			s.union(db.wild)
		}
	})
	for i, e := range db.all {
		e.all = contents[i]
	}
	for n := range db.writes {
		db.written.union(db.writesOf(n))
	}
	for n := range db.inner {
		db.written.union(db.writesOf(n))
	}
	if len(db.conflicts) > 0 {
		db.written.union(db.wild)
	}
}

// keepOutside makes all that e may be, is a view of or has in it what may be outside. It reports whether that is new.
func (db *Db) keepOutside(e *element) (changed bool) {
	seen := map[*element]bool{}
	stack := []*element{e}
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if x.wildcard != "" || seen[x] {
			continue
		}
		seen[x] = true
		changed = x.addPointer(db.wildcard(x.typ)) || changed
		stack = append(append(stack, x.pointsTo.to...), x.contains.to...)
	}
	return changed
}

// hasAttributes reports whether a value of type t may be an object, which refers to memory that is
// not seen. Objects of native classes, such as packed weights, hold memory of their own.
func hasAttributes(t types.Type) bool {
	class, ok := t.(*types.Class)
	return ok && !strings.HasPrefix(class.Name, types.NativePrefix) || standsForAll(t)
}

// writesOf returns what a node itself writes.
func (db *Db) writesOf(n *ir.Node) set {
	if s, ok := db.byNode[n]; ok {
		return s
	}
	var s set
	for _, e := range db.writes[n] {
		s.union(e.locations)
	}
	for _, e := range db.inner[n] {
		s.union(e.all)
	}
	for _, c := range db.conflicts {
		if c == n {
			s.union(db.wild)
		}
	}
	db.byNode[n] = s
	return s
}

package freeze

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// FreezeOptions say what stays of a module that is frozen.
type FreezeOptions struct {
	// Preserved are attributes that stay and methods that stay beside forward, those of submodules with dots.
	Preserved []string
	// PreserveParameters leaves parameters and buffers as attributes.
	PreserveParameters bool
	// RefuseInterfaces has modules whose methods use attributes of interface types fail.
	RefuseInterfaces bool
	// Mangle gives the name of the new class.
	Mangle func(name string) string
}

// Freeze returns a copy of a module whose attributes are constants of its methods' graphs and whose
// submodules are inlined. What a method writes or is to be preserved stays as it is. It fails where
// something to be preserved is unknown or a method cannot be compiled.
func Freeze(module *value.Object, o FreezeOptions) (*value.Object, error) {
	f := &freezer{options: o, root: module, kept: map[Slot]bool{}, used: map[Slot][]*ir.Graph{}, written: map[Slot]bool{}, copies: map[*value.Object]*value.Object{}, names: map[*types.Class]string{}}
	if training, ok := module.Attr("training"); ok && training.Kind() == value.KindBool && training.Bool() {
		f.training, f.options.PreserveParameters = true, true
	}
	if err := f.collect(); err != nil {
		return nil, err
	}
	f.giveNames(module)
	for _, m := range f.methods {
		if err := f.prepare(m.graph); err != nil {
			return nil, err
		}
		for _, out := range m.graph.Outputs() {
			if returned, _ := f.resolve(out); returned == module && m.name == "forward" && m.owner == module {
				return nil, source.Errorf(source.RuntimeError, source.Range{}, "attempted to freeze a module that return itself")
			}
		}
	}
	f.collectGraphs()
	preserved := maps.Clone(f.kept)
	f.findWrites()
	if err := f.checkInterfaces(preserved); err != nil {
		return nil, err
	}
	f.keepSharedMemory()
	if err := f.checkWrittenElements(); err != nil {
		return nil, err
	}
	for _, g := range slices.Backward(f.graphs) { // forked graphs before those that fork them
		f.propagate(g)
		simplifyFrozen(g)
		g.Block().Walk(removeDetach)
		f.dropUnusedInputs(g)
	}
	f.kept = preserved
	f.collectGraphs()
	for _, g := range f.graphs {
		f.findUses(g)
	}
	return f.build(), nil
}

// Slot is an attribute of an object.
type Slot struct {
	Object *value.Object
	Name   string
}

type frozenMethod struct {
	owner *value.Object // the module, or one in it
	name  string
	from  *ir.Function
	graph *ir.Graph
}

type freezer struct {
	options FreezeOptions
	root    *value.Object
	methods []*frozenMethod
	graphs  []*ir.Graph            // of the methods, and those that they fork
	forks   map[*ir.Graph]*ir.Node // what runs a graph that is forked
	owners  map[*ir.Graph]*value.Object
	kept    map[Slot]bool // attributes that stay
	// used are the attributes that methods get, with the graphs that do; written are those of them whose elements a graph writes.
	used    map[Slot][]*ir.Graph
	written map[Slot]bool
	// interfaces are the attributes of interface types with the modules that they hold.
	interfaces map[Slot]*value.Object
	training   bool // the module is training: what training decides stays
	copies     map[*value.Object]*value.Object
	names      map[*types.Class]string // of the copies of classes
}

// collect finds the methods that stay and notes the attributes that are to be preserved.
func (f *freezer) collect() error {
	names := []string{"forward"}
	for i := 0; f.root.Class.FindMethod(fmt.Sprintf("forward__%d", i)) != nil; i++ { // a forward that is overloaded
		names = append(names, fmt.Sprintf("forward__%d", i))
	}
	for _, name := range f.options.Preserved {
		if f.root.Class.FindMethod(name) != nil {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		} else if f.root.Class.AttributeIndex(name) >= 0 {
			f.keepAll(Slot{f.root, name})
		} else if !f.keepPath(name) {
			return source.Errorf(source.RuntimeError, source.Range{}, "Unknown name: %s", name)
		}
	}
	for _, name := range names {
		if err := f.keepMethod(f.root, name); err != nil {
			return err
		}
	}
	for _, path := range f.options.Preserved {
		if o, name := f.follow(path); o != nil && o != f.root {
			if err := f.keepMethod(o, name); err != nil {
				return err
			}
		}
	}
	f.collectGraphs()
	return nil
}

// keepMethod notes a method that stays, if a module has it.
func (f *freezer) keepMethod(o *value.Object, name string) error {
	m, ok := o.Class.FindMethod(name).(*ir.Function)
	if !ok {
		return nil
	}
	if err := m.EnsureDefined(); err != nil {
		return err
	}
	f.methods = append(f.methods, &frozenMethod{o, name, m, m.Graph().Copy()})
	return nil
}

// keepAll keeps an attribute, and all of it where it is a module.
func (f *freezer) keepAll(s Slot) {
	f.kept[s] = true
	if v, _ := s.Object.Attr(s.Name); v.Kind() == value.KindObject && v.Object().Class.IsModule {
		for _, a := range v.Object().Class.Attributes {
			f.keepAll(Slot{v.Object(), a.Name})
		}
	}
}

// keepPath keeps an attribute of a submodule, written with dots, or the submodules on the way to a method. It reports whether there is one.
func (f *freezer) keepPath(path string) bool {
	o, last := f.follow(path)
	if o == nil || o.Class.AttributeIndex(last) < 0 && o.Class.FindMethod(last) == nil {
		return false
	}
	at := f.root
	for _, name := range strings.Split(path, ".") {
		if at == o {
			break
		}
		f.kept[Slot{at, name}] = true
		v, _ := at.Attr(name)
		at = v.Object()
	}
	if o.Class.AttributeIndex(last) >= 0 {
		f.keepAll(Slot{o, last})
	}
	return true
}

// follow returns the module whose attribute or method a path with dots names, nil where there is none, and the last name.
func (f *freezer) follow(path string) (o *value.Object, last string) {
	o = f.root
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		v, ok := o.Attr(name)
		if !ok || v.Kind() != value.KindObject {
			return nil, ""
		}
		o = v.Object()
	}
	return o, names[len(names)-1]
}

// prepare inlines what a graph calls, also in the graphs that it forks.
func (f *freezer) prepare(g *ir.Graph) (err error) {
	passes.Inline(g)
	if f.inlineInterfaces(g); f.options.RefuseInterfaces && len(f.interfaces) > 0 {
		return source.Errorf(source.RuntimeError, source.Range{}, "attempted to freeze a module that uses interface attributes")
	}
	passes.EraseShapeInformation(g)
	eachFork(g, func(_ *ir.Node, inner *ir.Graph) {
		if err == nil {
			err = f.prepare(inner)
		}
	})
	return err
}

// removeDetach has what uses a detached attribute use the attribute: nothing of a frozen module is trained. Gradients of inputs
// still end where they are detached.
func removeDetach(n *ir.Node) {
	if n.Kind() == aten.Detach && n.Input(0).Node().Is(prim.GetAttr, prim.Constant) {
		n.Output().ReplaceAllUsesWith(n.Input(0))
		n.Destroy()
	}
}

func eachFork(g *ir.Graph, visit func(n *ir.Node, inner *ir.Graph)) {
	g.Block().Walk(func(n *ir.Node) {
		if inner := n.GraphAttr("Subgraph"); inner != nil {
			visit(n, inner)
		}
	})
}

// collectGraphs notes the methods' graphs and those that they fork, behind what forks them.
func (f *freezer) collectGraphs() {
	f.graphs, f.forks, f.owners = nil, map[*ir.Graph]*ir.Node{}, map[*ir.Graph]*value.Object{}
	for _, m := range f.methods {
		f.graphs = append(f.graphs, m.graph)
		f.owners[m.graph] = m.owner
	}
	for i := 0; i < len(f.graphs); i++ {
		eachFork(f.graphs[i], func(n *ir.Node, inner *ir.Graph) {
			f.forks[inner] = n
			f.graphs = append(f.graphs, inner)
		})
	}
}

// dropUnusedInputs removes what a forked graph is given and does not use any more.
func (f *freezer) dropUnusedInputs(g *ir.Graph) {
	fork := f.forks[g]
	if fork == nil {
		return
	}
	for i := len(g.Inputs()) - 1; i >= 0; i-- {
		if !g.Inputs()[i].HasUses() {
			g.Block().EraseInput(i)
			fork.RemoveInput(i)
		}
	}
}

// resolve returns the module that a value is, and its path from the root; nil where it is not known.
func (f *freezer) resolve(v *ir.Value) (*value.Object, string) {
	n := v.Node()
	if n.Kind() == prim.Param && n.Block().Owner() == nil {
		if fork := f.forks[n.Graph()]; fork != nil {
			return f.resolve(fork.Input(v.Offset()))
		}
		if o := f.owners[n.Graph()]; v.Offset() == 0 && o != nil {
			return o, "self"
		}
	}
	if n.Kind() != prim.GetAttr {
		return nil, ""
	}
	o, path := f.resolve(n.Input(0))
	if o == nil {
		return nil, ""
	}
	name := n.StringAttr("name")
	attribute, ok := o.Attr(name)
	if !ok || attribute.Kind() != value.KindObject || !attribute.Object().Class.IsModule {
		return nil, ""
	}
	return attribute.Object(), path + "." + name
}

// inlineInterfaces makes values of interface type values of the class that they are, and inlines
// the calls of their methods.
func (f *freezer) inlineInterfaces(g *ir.Graph) {
	for again := true; again; {
		again = false
		g.Block().Walk(func(n *ir.Node) {
			if n.Kind() != prim.GetAttr || n.Output().Type().Kind() != types.KindInterface {
				return
			}
			if o, _ := f.resolve(n.Output()); o != nil {
				holder, _ := f.resolve(n.Input(0))
				if f.interfaces == nil {
					f.interfaces = map[Slot]*value.Object{}
				}
				f.interfaces[Slot{holder, n.StringAttr("name")}] = o
				n.Output().SetType(o.Class)
				again = true
			}
		})
		if again {
			passes.Inline(g)
		}
	}
}

// checkInterfaces fails where an attribute of an interface type is set or to be preserved, so that somebody may set it, or the module that it holds is written.
func (f *freezer) checkInterfaces(preserved map[Slot]bool) error {
	for s, module := range f.interfaces {
		for kept := range f.kept {
			if kept == s || kept.Object == module && !preserved[kept] {
				return source.Errorf(source.RuntimeError, source.Range{}, "failed to freeze interface attribute '%s'", s.Name)
			}
		}
	}
	return nil
}

// findWrites notes the attributes that a method sets or writes, and those of modules that are
// reached in a way that is not seen.
func (f *freezer) findWrites() {
	for _, g := range f.graphs {
		db := alias.Analyze(g, alias.Options{Frozen: true})
		g.Block().Walk(func(n *ir.Node) {
			switch n.Kind() {
			case prim.SetAttr:
				if o, _ := f.resolve(n.Input(0)); o != nil {
					f.keep(n.Input(0), o, n.StringAttr("name"))
				}
			case prim.GetAttr:
				o, _ := f.resolve(n.Input(0))
				if o == nil {
					break
				}
				s := Slot{o, n.StringAttr("name")}
				if !slices.Contains(f.used[s], g) {
					f.used[s] = append(f.used[s], g)
				}
				if f.mustStay(db, o, n) {
					f.keep(n.Input(0), o, s.Name)
				} else if types.IsMutable(n.Output().Type()) && db.HasContentWriters(n.Output()) {
					f.written[s] = true
				}
			}
		})
	}
	f.keepWrittenElements()
}

// findUses notes the attributes that a simplified graph still gets or sets.
func (f *freezer) findUses(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if !n.Is(prim.GetAttr, prim.SetAttr) {
			return
		}
		o, _ := f.resolve(n.Input(0))
		if o == nil {
			return
		}
		name := n.StringAttr("name")
		v, _ := o.Attr(name)
		if n.Kind() == prim.GetAttr && v.Kind() == value.KindObject && v.Object().Class.IsModule && !usedAsValue(n.Output()) {
			return // what is used of the module is noted
		}
		f.keep(n.Input(0), o, name)
	})
}

// mustStay reports whether an attribute that n gets is written or cannot be a constant.
func (f *freezer) mustStay(db *alias.Db, o *value.Object, n *ir.Node) bool {
	i := o.Class.AttributeIndex(n.StringAttr("name"))
	v := o.Slots[i]
	if holdsSparse(v) {
		return true
	}
	if v.Kind() == value.KindObject && v.Object().Class.IsModule {
		return usedAsValue(n.Output())
	}
	if f.training && n.StringAttr("name") == "training" {
		return true
	}
	if f.options.PreserveParameters && (o.Class.Attributes[i].IsParameter || o.Class.Attributes[i].IsBuffer) {
		return true
	}
	return types.IsMutable(n.Output().Type()) && db.HasWriters(n.Output()) || !ir.IsConstantable(withoutGradient(v))
}

// holdsSparse reports whether v is a sparse tensor or contains one: those stay attributes.
func holdsSparse(v value.Value) bool {
	switch v.Kind() {
	case value.KindTensor:
		return v.Tensor().IsSparse()
	case value.KindList:
		return slices.ContainsFunc(v.List().Items, holdsSparse)
	case value.KindTuple:
		return slices.ContainsFunc(v.Tuple().Items, holdsSparse)
	case value.KindDict:
		for _, item := range v.Dict().All {
			if holdsSparse(item) {
				return true
			}
		}
	}
	return false
}

// usedAsValue reports whether a module is used for more than its attributes and methods.
func usedAsValue(v *ir.Value) bool {
	return slices.ContainsFunc(v.Uses(), func(u ir.Use) bool {
		if inner := u.User.GraphAttr("Subgraph"); inner != nil {
			return usedAsValue(inner.Inputs()[u.Index])
		}
		return !u.User.Is(prim.GetAttr, prim.SetAttr)
	})
}

// keep notes that an attribute stays, and so do the modules on the way to it.
func (f *freezer) keep(holder *ir.Value, o *value.Object, name string) {
	if v, _ := o.Attr(name); v.Kind() == value.KindObject && v.Object().Class.IsModule {
		f.keepAll(Slot{o, name})
	}
	f.kept[Slot{o, name}] = true
	for n := holder.Node(); ; {
		if fork := f.forks[n.Graph()]; fork != nil && n.Kind() == prim.Param {
			holder = fork.Input(holder.Offset())
			n = holder.Node()
			continue
		}
		if n.Kind() != prim.GetAttr {
			return
		}
		if outer, _ := f.resolve(n.Input(0)); outer != nil {
			f.kept[Slot{outer, n.StringAttr("name")}] = true
		}
		holder = n.Input(0)
		n = holder.Node()
	}
}

// propagate replaces attributes that do not stay by constants before the first node, called by
// their paths.
func (f *freezer) propagate(g *ir.Graph) {
	constants := map[Slot]*ir.Value{}
	if first := g.Block().First(); first != nil {
		old := g.SetInsertPoint(first)
		defer g.SetInsertPoint(old)
	}
	for _, n := range passes.NodesOf(g) {
		if n.Kind() != prim.GetAttr {
			continue
		}
		o, path := f.resolve(n.Input(0))
		if o == nil {
			continue
		}
		name := n.StringAttr("name")
		s := Slot{o, name}
		v, _ := o.Attr(name)
		if f.kept[s] || v.Kind() == value.KindObject && v.Object().Class.IsModule {
			continue
		}
		if constants[s] == nil {
			c := g.Constant(withoutGradient(v), source.Range{}).SetName(path + "." + name)
			if v.IsNone() {
				c.SetType(types.None)
			}
			constants[s] = c
		}
		n.Output().ReplaceAllUsesWith(constants[s])
	}
}

// withoutGradient returns v with tensors that need no gradient and share the memory of v's.
func withoutGradient(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindTensor:
		if t := v.Tensor(); t.RequiresGrad() {
			return value.OfTensor(t.Detach())
		}
	case value.KindList:
		l := value.NewList(v.List().Elem)
		for _, item := range v.List().Items {
			l.Items = append(l.Items, withoutGradient(item))
		}
		return value.OfList(l)
	case value.KindTuple:
		t := &value.Tuple{Type: v.Tuple().Type}
		for _, item := range v.Tuple().Items {
			t.Items = append(t.Items, withoutGradient(item))
		}
		return value.OfTuple(t)
	case value.KindDict:
		d := value.NewDict(v.Dict().Key, v.Dict().Elem)
		for key, item := range v.Dict().All {
			d.Set(key, withoutGradient(item))
		}
		return value.OfDict(d)
	}
	return v
}

// simplifyFrozen removes what the constants have made superfluous.
func simplifyFrozen(g *ir.Graph) {
	passes.DCE(g)
	passes.CSE(g)
	passes.Peephole(g)
	passes.ConstantPropagation(g)
	passes.ConstantPooling(g)
	passes.UnrollShortLoops(g, true)
	for changed := true; changed; {
		changed = passes.CSE(g)
		changed = passes.Peephole(g) || changed
		changed = passes.ConstantPropagation(g) || changed
	}
	passes.LowerSimpleTuples(g)
	passes.DCE(g)
}

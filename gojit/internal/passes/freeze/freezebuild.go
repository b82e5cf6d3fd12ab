package freeze

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// build makes the new module: a class with what stays, and the methods over it.
func (f *freezer) build() *value.Object {
	made := f.copy(f.root)
	for _, m := range f.methods {
		owner := f.copies[m.owner]
		if owner.Class.FindMethod(m.name) != nil {
			continue // of a submodule that stays as a whole
		}
		f.retypeFrom(m.graph, m.owner, owner)
		s := *m.from.Schema
		s.Arguments = append([]schema.Argument(nil), s.Arguments...)
		s.Arguments[0].Type, s.Arguments[0].RealType = owner.Class, owner.Class
		function := ir.NewFunction(owner.Class.Name+"."+m.name, &s, m.graph)
		function.IsMethod = true
		owner.Class.AddMethod(m.name, function)
	}
	return made
}

// copy makes an object with those attributes of o that stay, the same for the same o.
func (f *freezer) copy(o *value.Object) *value.Object {
	if made := f.copies[o]; made != nil {
		return made
	}
	class := types.NewClass(f.nameOf(o.Class), true)
	made := value.NewObject(class)
	f.copies[o] = made
	for i, a := range o.Class.Attributes {
		if !f.kept[Slot{o, a.Name}] && !(a.Name == "training" && f.keepsTraining(o)) {
			continue
		}
		v := o.Slots[i]
		if v.Kind() == value.KindObject && v.Object().Class.IsModule {
			v = value.OfObject(f.copy(v.Object()))
			a.Type = v.Object().Class
		}
		class.AddAttribute(a)
		made.Slots = append(made.Slots, v)
	}
	if o != f.root {
		f.copyMethods(o, class)
	}
	return made
}

// giveNames gives the classes of a module and of those in it names for their copies, which those have that stay.
func (f *freezer) giveNames(o *value.Object) {
	if f.names[o.Class] != "" {
		return
	}
	f.names[o.Class] = f.options.Mangle(o.Class.Name)
	for _, v := range o.Slots {
		if v.Kind() == value.KindObject && v.Object().Class.IsModule {
			f.giveNames(v.Object())
		}
	}
}

// nameOf returns the name of a copy of a class; the second has another one.
func (f *freezer) nameOf(class *types.Class) string {
	name := f.names[class]
	if name == "" {
		return f.options.Mangle(class.Name)
	}
	f.names[class] = ""
	return name
}

// keepsTraining reports whether the module's mode stays: it is a submodule that is kept whole.
func (f *freezer) keepsTraining(o *value.Object) bool {
	return o != f.root && f.kept[Slot{o, "training"}]
}

// copyMethods gives a submodule that stays the methods that it had, over its new class.
func (f *freezer) copyMethods(o *value.Object, class *types.Class) {
	for _, a := range o.Class.Attributes {
		if !f.kept[Slot{o, a.Name}] {
			return // a part of it is gone: its methods cannot stay
		}
	}
	for _, name := range o.Class.MethodNames() {
		m, ok := o.Class.FindMethod(name).(*ir.Function)
		if !ok || m.EnsureDefined() != nil || m.Graph() == nil {
			continue
		}
		g := m.Graph().Copy()
		passes.Inline(g)
		f.retypeFrom(g, o, f.copies[o])
		s := *m.Schema
		s.Arguments = append([]schema.Argument(nil), s.Arguments...)
		s.Arguments[0].Type, s.Arguments[0].RealType = class, class
		copied := ir.NewFunction(class.Name+"."+name, &s, g)
		copied.IsMethod = true
		class.AddMethod(name, copied)
	}
}

// retypeFrom gives self and the modules reached from it their new classes.
func (f *freezer) retypeFrom(g *ir.Graph, from, made *value.Object) {
	self := g.Inputs()[0]
	self.SetType(made.Class)
	f.retypeUses(g, map[*ir.Value]*value.Object{self: from})
}

// retypeUses gives the modules that are reached from others their new classes, also in forked
// graphs.
func (f *freezer) retypeUses(g *ir.Graph, objects map[*ir.Value]*value.Object) {
	g.Block().Walk(func(n *ir.Node) {
		if inner := n.GraphAttr("Subgraph"); inner != nil {
			given := map[*ir.Value]*value.Object{}
			for i, in := range n.Inputs() {
				if o := objects[in]; o != nil {
					inner.Inputs()[i].SetType(in.Type())
					given[inner.Inputs()[i]] = o
				}
			}
			f.retypeUses(inner, given)
			return
		}
		if n.Kind() != prim.GetAttr {
			return
		}
		o := objects[n.Input(0)]
		if o == nil {
			return
		}
		if v, ok := o.Attr(n.StringAttr("name")); ok && v.Kind() == value.KindObject && v.Object().Class.IsModule {
			objects[n.Output()] = v.Object()
			if made := f.copies[v.Object()]; made != nil {
				n.Output().SetType(made.Class)
			}
		}
	})
}

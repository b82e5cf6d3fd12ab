package passes

import (
	"slices"
	"strings"

	"torchjit/gojit/ir"
	"torchjit/gojit/schema"
	"torchjit/gojit/types"
	"torchjit/gojit/value"
)

// ClonedModule is a copy of a module with classes of its own, whose methods may be changed.
type ClonedModule struct {
	Root    *value.Object
	Modules []*value.Object // the root and all modules in it, each once, in the order of attributes

	mangle  func(name string) string
	left    Left
	classes map[*types.Class]*types.Class
	objects map[*value.Object]*value.Object
}

// CloneModule copies a module and those in it. Modules of one class have one class in the copy as well, and what is not a module is
// shared. mangle gives the names of the new classes. It fails where a method cannot be compiled.
func CloneModule(module *value.Object, mangle func(name string) string) (*ClonedModule, error) {
	return CloneModuleWithout(module, mangle, Left{})
}

// Left names the methods and attributes of a module that a copy of it does not have.
type Left struct{ Methods, Attributes []string }

// CloneModuleWithout is CloneModule without some methods and attributes of the root. It fails as well where a method that stays uses one of them.
func CloneModuleWithout(module *value.Object, mangle func(name string) string, left Left) (*ClonedModule, error) {
	if err := left.check(module.Class); err != nil {
		return nil, err
	}
	c := &ClonedModule{mangle: mangle, left: left, classes: map[*types.Class]*types.Class{}, objects: map[*value.Object]*value.Object{}}
	c.Root = c.object(module)
	if len(left.Attributes) > 0 {
		c.leaveAttributes()
	}
	done := map[*types.Class]bool{}
	for from := range c.objects {
		if done[from.Class] {
			continue
		}
		done[from.Class] = true
		var without []string
		if from == module {
			without = left.Methods
		}
		if err := c.methods(from.Class, without); err != nil {
			return nil, err
		}
	}
	return c, nil
}

func (c *ClonedModule) object(o *value.Object) *value.Object {
	if made := c.objects[o]; made != nil {
		return made
	}
	class, isNew := c.classes[o.Class], false
	if class == nil {
		class, isNew = types.NewClass(c.mangle(o.Class.Name), true), true
		class.Constants, class.Properties, class.Unsupported = o.Class.Constants, o.Class.Properties, o.Class.Unsupported
		c.classes[o.Class] = class
	}
	made := value.NewObject(class)
	c.objects[o] = made
	c.Modules = append(c.Modules, made)
	made.Slots = slices.Clone(o.Slots)
	for i, v := range o.Slots {
		if v.Kind() == value.KindObject && v.Object().Class.IsModule {
			made.Slots[i] = value.OfObject(c.object(v.Object()))
		}
	}
	if isNew {
		for _, a := range o.Class.Attributes {
			a.Type = c.typeOf(a.Type)
			class.AddAttribute(a)
		}
	}
	return made
}

// typeOf returns the type in the copy.
func (c *ClonedModule) typeOf(t types.Type) types.Type {
	if class, ok := t.(*types.Class); ok && c.classes[class] != nil {
		return c.classes[class]
	}
	return t
}

// methods gives a class of the copy the methods and hooks of the one that it was made of.
func (c *ClonedModule) methods(from *types.Class, without []string) error {
	class := c.classes[from]
	for _, name := range from.MethodNames() {
		if slices.Contains(without, name) {
			continue
		}
		m, ok := from.FindMethod(name).(*ir.Function)
		if !ok {
			continue
		}
		made, err := c.function(m, class.Name+"."+name)
		if err != nil {
			return err
		}
		class.AddMethod(name, made)
	}
	hooks := func(of []types.Method) (made []types.Method, err error) {
		for _, h := range of {
			m, ok := h.(*ir.Function)
			if !ok {
				made = append(made, h)
				continue
			}
			f, err := c.function(m, class.Name+strings.TrimPrefix(m.Name, from.Name))
			if err != nil {
				return nil, err
			}
			made = append(made, f)
		}
		return made, nil
	}
	var err error
	if class.Hooks, err = hooks(from.Hooks); err == nil {
		class.PreHooks, err = hooks(from.PreHooks)
	}
	return err
}

func (c *ClonedModule) function(m *ir.Function, name string) (*ir.Function, error) {
	if err := m.EnsureDefined(); err != nil {
		return nil, err
	}
	g := m.Graph().Copy()
	c.retype(g)
	s := *m.Schema
	s.Arguments = slices.Clone(s.Arguments)
	for i := range s.Arguments {
		a := &s.Arguments[i]
		a.Type, a.RealType = c.typeOf(a.Type), c.typeOf(a.RealType)
	}
	s.Returns = append([]schema.Argument(nil), s.Returns...)
	for i := range s.Returns {
		s.Returns[i].Type, s.Returns[i].RealType = c.typeOf(s.Returns[i].Type), c.typeOf(s.Returns[i].RealType)
	}
	made := ir.NewFunction(name, &s, g)
	made.IsMethod = true
	return made, nil
}

// retype gives the modules in a graph their types in the copy.
func (c *ClonedModule) retype(g *ir.Graph) {
	values := func(vs []*ir.Value) {
		for _, v := range vs {
			if t := c.typeOf(v.Type()); t != v.Type() {
				v.SetType(t)
			}
		}
	}
	values(g.Inputs())
	g.Block().Walk(func(n *ir.Node) {
		values(n.Outputs())
		for _, b := range n.Blocks() {
			values(b.Inputs())
		}
		if inner := n.GraphAttr("Subgraph"); inner != nil {
			c.retype(inner)
		}
	})
}

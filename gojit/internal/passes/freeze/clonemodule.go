package freeze

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ClonedModule is a copy of a module with classes of its own, whose methods may be changed.
type ClonedModule struct {
	Root    *value.Object
	Modules []*value.Object // the root and all modules in it, each once, in the order of attributes

	options CloneOptions
	classes map[classKey]*types.Class
	objects map[*value.Object]*value.Object
	origins map[*value.Object]*types.Class // of the modules in the copy: the classes that they were made of
	tensors map[*tensor.Tensor]*tensor.Tensor
	err     error
}

// CloneOptions say how a module is copied.
type CloneOptions struct {
	// Mangle gives the names of the new classes.
	Mangle func(name string) string
	// Key tells modules of one class apart whose copies are to have classes of their own; nil: there are none. Modules with equal keys
	// have submodules with equal keys.
	Key func(*value.Object) any
	// CopyTensors copies tensors too; else the copy shares them.
	CopyTensors bool
	// Left are methods and attributes that the copy of the root does not have.
	Left Left
}

// Left names methods and attributes of a module.
type Left struct{ Methods, Attributes []string }

// classKey is what has a class of its own in a copy.
type classKey struct {
	class *types.Class
	key   any
}

// CloneModule copies a module and those in it. Modules of one class have one class in the copy as well, and what is not a module is
// shared. mangle gives the names of the new classes. It fails where a method cannot be compiled.
func CloneModule(module *value.Object, mangle func(name string) string) (*ClonedModule, error) {
	return CloneModuleWith(module, CloneOptions{Mangle: mangle})
}

// CloneModuleWith is CloneModule with options. It fails as well where a method that stays uses what is left.
func CloneModuleWith(module *value.Object, options CloneOptions) (*ClonedModule, error) {
	if err := options.Left.check(module.Class); err != nil {
		return nil, err
	}
	c := &ClonedModule{options: options, classes: map[classKey]*types.Class{}, objects: map[*value.Object]*value.Object{},
		origins: map[*value.Object]*types.Class{}, tensors: map[*tensor.Tensor]*tensor.Tensor{}}
	c.Root = c.object(module)
	if len(options.Left.Attributes) > 0 {
		c.leaveAttributes()
	}
	done := map[*types.Class]bool{}
	for from, made := range c.objects {
		if !done[made.Class] && c.err == nil {
			done[made.Class] = true
			c.err = c.methods(from.Class, made.Class)
		}
	}
	return c, c.err
}

func (c *ClonedModule) object(o *value.Object) *value.Object {
	if made := c.objects[o]; made != nil {
		return made
	}
	key := classKey{class: o.Class}
	if c.options.Key != nil {
		key.key = c.options.Key(o)
	}
	class, isNew := c.classes[key], false
	if class == nil {
		class, isNew = types.NewClass(c.options.Mangle(o.Class.Name), true), true
		class.Constants, class.Properties, class.Unsupported = o.Class.Constants, o.Class.Properties, o.Class.Unsupported
		c.classes[key] = class
	}
	made := value.NewObject(class)
	c.objects[o], c.origins[made] = made, o.Class
	c.Modules = append(c.Modules, made)
	made.Slots = slices.Clone(o.Slots)
	for i, v := range o.Slots {
		made.Slots[i] = c.slot(v)
	}
	if isNew {
		for i, a := range o.Class.Attributes {
			if v := made.Slots[i]; v.Kind() == value.KindObject && v.Object().Class.IsModule && isClass(a.Type) {
				a.Type = v.Object().Class
			}
			class.AddAttribute(a)
		}
	}
	return made
}

func isClass(t types.Type) bool { return t.Kind() == types.KindClass }

// slot returns the content of an attribute in the copy.
func (c *ClonedModule) slot(v value.Value) value.Value {
	switch {
	case v.Kind() == value.KindObject && v.Object().Class.IsModule:
		return value.OfObject(c.object(v.Object()))
	case v.IsTensor() && c.options.CopyTensors:
		return value.OfTensor(c.copyTensor(v.Tensor()))
	}
	return v
}

// copyTensor copies a tensor once.
func (c *ClonedModule) copyTensor(t *tensor.Tensor) *tensor.Tensor {
	if made := c.tensors[t]; made != nil {
		return made
	}
	made, err := t.Clone(1)
	if err == nil {
		err = made.SetRequiresGrad(t.RequiresGrad())
	}
	if err != nil {
		c.err = err
		return t
	}
	c.tensors[t] = made
	return made
}

// typeOf returns the type in the copy, for a method of from, which is class there. Where modules of one class have several in the copy,
// it is one of them.
func (c *ClonedModule) typeOf(t types.Type, from, class *types.Class) types.Type {
	old, ok := t.(*types.Class)
	if !ok || !old.IsModule {
		return t
	}
	if old == from {
		return class
	}
	for _, made := range c.Modules {
		if c.origins[made] == old {
			return made.Class
		}
	}
	return t
}

// methods gives a class of the copy the methods and hooks of the one that it was made of.
func (c *ClonedModule) methods(from, class *types.Class) error {
	for _, name := range from.MethodNames() {
		if class == c.Root.Class && slices.Contains(c.options.Left.Methods, name) {
			continue
		}
		m, ok := from.FindMethod(name).(*ir.Function)
		if !ok {
			continue
		}
		made, err := c.function(m, class.Name+"."+name, from, class)
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
			f, err := c.function(m, class.Name+strings.TrimPrefix(m.Name, from.Name), from, class)
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

func (c *ClonedModule) function(m *ir.Function, name string, from, class *types.Class) (*ir.Function, error) {
	if err := m.EnsureDefined(); err != nil {
		return nil, err
	}
	g := m.Graph().Copy()
	c.retype(g, from, class)
	s := *m.Schema
	s.Arguments = slices.Clone(s.Arguments)
	for i := range s.Arguments {
		a := &s.Arguments[i]
		a.Type, a.RealType = c.typeOf(a.Type, from, class), c.typeOf(a.RealType, from, class)
	}
	s.Returns = append([]schema.Argument(nil), s.Returns...)
	for i := range s.Returns {
		r := &s.Returns[i]
		r.Type, r.RealType = c.typeOf(r.Type, from, class), c.typeOf(r.RealType, from, class)
	}
	made := ir.NewFunction(name, &s, g)
	made.IsMethod = true
	return made, nil
}

// retype gives the modules in a graph of a method of from their types in the copy.
func (c *ClonedModule) retype(g *ir.Graph, from, class *types.Class) {
	values := func(vs []*ir.Value) {
		for _, v := range vs {
			if t := c.typeOf(v.Type(), from, class); t != v.Type() {
				v.SetType(t)
			}
		}
	}
	values(g.Inputs())
	g.Block().Walk(func(n *ir.Node) {
		values(n.Outputs())
		if holder, ok := ownerClass(n); ok && isClass(n.Output().Type()) {
			n.Output().SetType(holder.AttributeType(n.StringAttr("name")))
		}
		for _, b := range n.Blocks() {
			values(b.Inputs())
		}
		if inner := n.GraphAttr("Subgraph"); inner != nil {
			c.retype(inner, from, class)
		}
	})
}

// ownerClass returns the class of the module that a node reads an attribute of.
func ownerClass(n *ir.Node) (*types.Class, bool) {
	if n.Kind() != prim.GetAttr {
		return nil, false
	}
	holder, ok := n.Input(0).Type().(*types.Class)
	return holder, ok && holder.IsModule && holder.AttributeIndex(n.StringAttr("name")) >= 0
}

package frontend

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// ModuleHost is what the embedding language knows of a class of modules besides its attributes and
// methods.
type ModuleHost interface {
	// Attr returns what a name of self stands for that the class does not have: a function, a
	// method that had not been compiled and now is. nil: there is nothing of that name.
	Attr(name string) (SugaredValue, error)
	// Overloads returns the methods that a name stands for, nil where it is no overloaded method.
	Overloads(name string) []string
	// Hint says why a name that the object has cannot be used, "" where nothing is known.
	Hint(name string) string
	// IsInstance reports whether modules of the class are instances of another one.
	IsInstance(class *ModuleClass) bool
	// Container is "list", "dict", "sequential", "parameter_list", "parameter_dict" or "".
	Container() string
}

// moduleValue is a module that is known while the program is compiled.
type moduleValue struct {
	NotFirstClass
	self *ir.Value
	host ModuleHost
}

// NewModule returns a module that self is and of which the embedding language knows more.
func NewModule(self *ir.Value, host ModuleHost) SugaredValue {
	return &moduleValue{"module", self, host}
}

func (m *moduleValue) class() *types.Class { return m.self.Type().(*types.Class) }

// AsValue implements SugaredValue.
func (m *moduleValue) AsValue(*Emitter, source.Range) *ir.Value { return m.self }

// Attr implements SugaredValue.
func (m *moduleValue) Attr(e *Emitter, at source.Range, name string) SugaredValue {
	if s := m.lookUp(e, at, name); s != nil {
		return s
	}
	hint := m.host.Hint(name)
	failNoted([]string{didYouMean(name, attributeNames(m.class()))}, at, "Module '%s' has no attribute '%s' %s", lastAtom(m.class().Name), name, hint)
	return nil
}

// HasAttr implements SugaredValue.
func (m *moduleValue) HasAttr(e *Emitter, at source.Range, name string) bool {
	return m.lookUp(e, at, name) != nil
}

func (m *moduleValue) lookUp(e *Emitter, at source.Range, name string) SugaredValue {
	class := m.class()
	if class.AttributeIndex(name) >= 0 {
		return m.attribute(e, name)
	}
	if c := class.FindConstant(name); c != nil {
		return simple{NewConstant(c.Value.(value.Value)).AsValue(e, at)}
	}
	if names := m.host.Overloads(name); names != nil {
		return newMethod(m.self, names...)
	}
	if s := m.containerMethod(name); s != nil {
		return s
	}
	if class.FindMethod(name) == nil && class.FindProperty(name) == nil {
		s, err := m.host.Attr(name)
		check(err)
		if f, ok := s.(*hostFunction); ok {
			bound := *f
			bound.self = m.self
			return &bound
		}
		if s != nil {
			return lookedUp(e, at, s)
		}
		if f, ok := class.FindMethod(name).(*ir.Function); ok {
			e.compileNow(f)
		}
	}
	if class.FindMethod(name) != nil {
		return newMethod(m.self, name)
	}
	if p := class.FindProperty(name); p != nil {
		return newMethod(m.self, shortName(p.Getter)).Call(e, at, nil, nil, 1)
	}
	return nil
}

// attribute reads a slot; a submodule is a module again.
func (m *moduleValue) attribute(e *Emitter, name string) SugaredValue {
	v := e.g.InsertNode(e.g.CreateGetAttr(m.self, name)).Output()
	if class, ok := v.Type().(*types.Class); ok && class.IsModule && class.Host == nil && e.o.Version == 0 {
		return NewModule(v, loadedHost{})
	}
	return sugarOf(v)
}

// loadedHost is what is known of a class of modules that was loaded: nothing besides the class itself.
type loadedHost struct{}

func (loadedHost) Attr(string) (SugaredValue, error) { return nil, nil }
func (loadedHost) Overloads(string) []string         { return nil }
func (loadedHost) Hint(string) string                { return "" }
func (loadedHost) IsInstance(*ModuleClass) bool      { return false }
func (loadedHost) Container() string                 { return "" }

// sugarOf returns a value as the module that it is, where the embedding language knows its class.
func sugarOf(v *ir.Value) SugaredValue {
	if host, ok := hostOf(v); ok {
		return NewModule(v, host)
	}
	return simple{v}
}

// hostOf returns what the embedding language knows of the module that a value is.
func hostOf(v *ir.Value) (ModuleHost, bool) {
	if class, ok := v.Type().(*types.Class); ok && class.IsModule {
		host, ok := class.Host.(ModuleHost)
		return host, ok
	}
	return nil, false
}

// SetAttr implements SugaredValue.
func (m *moduleValue) SetAttr(e *Emitter, at source.Range, name string, v *ir.Value) {
	(simple{m.self}).SetAttr(e, at, name, v)
}

// Call implements SugaredValue: it runs the hooks around forward.
func (m *moduleValue) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	class := m.class()
	if len(class.PreHooks)+len(class.Hooks) == 0 {
		return m.Attr(e, at, "forward").Call(e, at, args, kwargs, binders)
	}
	vs := make([]*ir.Value, len(args))
	for i, a := range args {
		vs[i] = a.Value(e.g)
	}
	inputs := e.g.InsertNode(e.g.CreateTuple(vs, nil)).Output()
	for _, h := range class.PreHooks {
		changed := m.runHook(e, at, h, inputs)
		switch changed.Type().Kind() {
		case types.KindNone:
		case types.KindTuple:
			inputs = changed
		default:
			inputs = e.g.InsertNode(e.g.CreateTuple([]*ir.Value{changed}, nil)).Output()
		}
	}
	if len(class.PreHooks) > 0 {
		args = nil
		for _, v := range e.g.UnpackTuple(inputs) {
			args = append(args, ir.ArgAt(v, at))
		}
	}
	result := m.Attr(e, at, "forward").Call(e, at, args, kwargs, binders).AsValue(e, at)
	for _, h := range class.Hooks {
		if changed := m.runHook(e, at, h, inputs, result); changed.Type().Kind() != types.KindNone {
			result = changed
		}
	}
	return simple{result}
}

// runHook calls a hook with the module and what the hook is shown.
func (m *moduleValue) runHook(e *Emitter, at source.Range, hook types.Method, shown ...*ir.Value) *ir.Value {
	args := []ir.Argument{ir.ArgAt(m.self, at)}
	for _, v := range shown {
		args = append(args, ir.ArgAt(v, at))
	}
	return NewFunctionValue(hook.(*ir.Function)).Call(e, at, args, nil, 1).AsValue(e, at)
}

// entries returns the names and values of a container's elements. The names are constants of the
// graph, though most go unused, so that values are numbered as PyTorch numbers them.
func (m *moduleValue) entries(e *Emitter, at source.Range) (names []*ir.Value, items []SugaredValue) {
	wantParameters := strings.HasPrefix(m.host.Container(), "parameter")
	class := m.class()
	for _, a := range class.Attributes {
		isModule := false
		if c, ok := a.Type.(*types.Class); ok {
			isModule = c.IsModule
		}
		if i, ok := a.Type.(*types.Interface); ok {
			isModule = i.IsModule
		}
		if wantParameters && a.IsParameter || !wantParameters && isModule {
			names = append(names, e.g.Constant(value.Str(a.Name), source.Range{}))
			if wantParameters {
				e.g.InsertNode(e.g.CreateGetAttr(m.self, a.Name))
			}
			items = append(items, m.attribute(e, a.Name))
		}
	}
	return names, items
}

// containerMethod returns keys, values or items of a dictionary of modules, or one of the methods
// that list what is in a module.
func (m *moduleValue) containerMethod(name string) SugaredValue {
	isDict := m.host.Container() == "dict" || m.host.Container() == "parameter_dict"
	c := &containerMethod{NotFirstClass: NotFirstClass("method"), name: name, lists: m.entries}
	within := func(e *Emitter, at source.Range) ([]*ir.Value, []SugaredValue) { return m.within(e, at, name, "") }
	exists := m.class().FindMethod(name) == nil
	switch name {
	case "keys":
		c.keys, exists = true, isDict
	case "values":
		c.items, exists = true, isDict
	case "items":
		c.keys, c.items, exists = true, true, isDict
	case "children":
		c.items = true
	case "named_children":
		c.keys, c.items = true, true
	case "modules":
		c.items, c.lists = true, within
	case "named_modules":
		c.keys, c.items, c.lists = true, true, within
	case "named_buffers":
		c.keys, c.items, c.lists = true, true, m.buffers
	default:
		return nil
	}
	if !exists {
		return nil
	}
	return c
}

// containerMethod is a method of a container that is carried out while the program is compiled.
type containerMethod struct {
	NotFirstClass
	name        string
	keys, items bool // what it gives of each entry
	lists       func(e *Emitter, at source.Range) (names []*ir.Value, items []SugaredValue)
}

// Call implements SugaredValue.
func (c *containerMethod) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	if len(args)+len(kwargs) > 0 {
		fail(at, "%s method does not accept any arguments", c.name)
	}
	names, items := c.lists(e, at)
	out := &TupleValue{}
	for i, name := range names {
		key := simple{name}
		switch {
		case !c.items:
			out.Items = append(out.Items, key)
		case !c.keys:
			out.Items = append(out.Items, items[i])
		default:
			out.Items = append(out.Items, &TupleValue{Items: []SugaredValue{key, items[i]}})
		}
	}
	return out
}

// buffers returns the buffers of a module and their names.
func (m *moduleValue) buffers(e *Emitter, _ source.Range) (names []*ir.Value, items []SugaredValue) {
	for _, a := range m.class().Attributes {
		if a.IsBuffer {
			names = append(names, e.g.Constant(value.Str(a.Name), source.Range{}))
			items = append(items, m.attribute(e, a.Name))
		}
	}
	return names, items
}

// within returns a module with the name path, then all that are in it.
func (m *moduleValue) within(e *Emitter, at source.Range, method, path string) (names []*ir.Value, items []SugaredValue) {
	names, items = []*ir.Value{e.g.Constant(value.Str(path), source.Range{})}, []SugaredValue{m}
	if path != "" {
		path += "."
	}
	for _, a := range m.class().Attributes {
		if i, ok := a.Type.(*types.Interface); ok && i.IsModule {
			fail(at, "Could not compile %s() because module is an interface type. Please file issue.", method)
		}
		if class, ok := a.Type.(*types.Class); ok && class.IsModule {
			inner, ok := m.attribute(e, a.Name).(*moduleValue)
			if !ok {
				continue
			}
			innerNames, innerItems := inner.within(e, at, method, path+a.Name)
			names, items = append(names, innerNames...), append(items, innerItems...)
		}
	}
	return names, items
}

// chosen returns an element that an index chooses when the program runs; all elements must be of the type.
func (m *moduleValue) chosen(e *Emitter, at source.Range, index *ir.Value, t types.Type) SugaredValue {
	for _, a := range m.class().Attributes {
		class, isClass := a.Type.(*types.Class)
		if !isClass || !class.IsModule {
			continue
		}
		if ok, why := types.IsSubtypeWhy(class, t); !ok {
			fail(at, "Attribute %s is not of annotated type %s: %s", a.Name, t.Annotation(nil), why)
		}
	}
	return simple{e.Insert(source.Range{}, prim.ModuleContainerIndex, m.self, index).SetType(t)}
}

func (m *moduleValue) elements(e *Emitter, at source.Range) *TupleValue {
	names, items := m.entries(e, at)
	switch m.host.Container() {
	case "list", "sequential", "parameter_list":
		return &TupleValue{Items: items}
	case "dict", "parameter_dict":
		out := &TupleValue{}
		for _, name := range names {
			out.Items = append(out.Items, simple{name})
		}
		return out
	}
	fail(at, "Only constant Sequential, ModuleList, ModuleDict, or ParameterList can be used as an iterable")
	return nil
}

// Iter implements SugaredValue.
func (m *moduleValue) Iter(e *Emitter, at source.Range) SugaredValue { return m.elements(e, at) }

// AsTuple implements SugaredValue.
func (m *moduleValue) AsTuple(e *Emitter, at source.Range, _ int) []SugaredValue {
	return m.elements(e, at).Items
}

// Len implements SugaredValue.
func (m *moduleValue) Len(e *Emitter, at source.Range) *ir.Value {
	return e.g.Constant(value.Int(int64(len(m.elements(e, at).Items))), at)
}

// GetItem implements SugaredValue.
func (m *moduleValue) GetItem(e *Emitter, at source.Range, index *ir.Value, hint types.Type) SugaredValue {
	switch m.host.Container() {
	case "list", "sequential", "parameter_list":
		if _, constant := index.Constant(); !constant && hint != nil {
			return m.chosen(e, at, index, hint)
		}
		items := m.elements(e, at)
		if c, ok := index.Constant(); ok && c.IsInt() && (c.Int() >= int64(len(items.Items)) || c.Int() < -int64(len(items.Items))) {
			fail(at, "Index %d out of range of length %d", c.Int(), len(items.Items))
		}
		return items.GetItem(e, at, index, hint)
	case "dict", "parameter_dict":
		return m.dictItem(e, at, index, hint)
	}
	return m.Attr(e, at, "__getitem__").Call(e, at, []ir.Argument{ir.Arg(index)}, nil, 1)
}

func (m *moduleValue) dictItem(e *Emitter, at source.Range, index *ir.Value, hint types.Type) SugaredValue {
	c, ok := index.Constant()
	if !ok || c.Kind() != value.KindString {
		if hint != nil {
			return m.chosen(e, at, index, hint)
		}
		fail(at, "Unable to extract string literal index. ModuleDict indexing is only supported with string literals. Enumeration of ModuleDict is supported, e.g. 'for k, v in self.items(): ...'")
	}
	names, items := m.entries(e, at)
	for i, name := range names {
		if n, _ := name.Constant(); n.Str() == c.Str() {
			return items[i]
		}
	}
	fail(at, "Key Error, %s", c.Str())
	return nil
}

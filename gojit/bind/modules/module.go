package modules

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/scripts"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// moduleFunctions make compiled modules and give access to them. torchjit/jit/_recursive.py says
// what their arguments look like.
var moduleFunctions = []abi.Function{
	{Schema: "define_module_class(str name, dict description, object provider) -> str", Run: defineModuleClass},
	{Schema: "new_module(str class_name, list values) -> Module", Run: newModule},
	{Schema: "compile_module_methods(str class_name, list stubs, list properties, list hooks, list pre_hooks) -> None", Run: compileModuleMethods},
	{Schema: "define_module_method(Handle module, str text, object scope) -> None", Run: defineModuleMethod},
	{Schema: "new_instance(str class_name) -> any", Run: newInstance},
	{Schema: "module_slots(Handle module) -> list", Run: moduleSlots},
	{Schema: "module_get(Handle module, str name) -> any", Run: moduleGet},
	{Schema: "module_constants(Handle module) -> list", Run: moduleConstants},
	{Schema: "module_set(Handle module, str name, any value) -> None", Run: moduleSet},
	{Schema: "module_method(Handle module, str name) -> ScriptMethod", Run: moduleMethod},
	{Schema: "module_properties(any module) -> list", Run: moduleProperties},
	{Schema: "module_hooks(Handle module) -> tuple", Run: moduleHooks},
	{Schema: "module_method_names(Handle module) -> list", Run: moduleMethodNames},
	{Schema: "module_class_name(Handle module) -> str", Run: moduleClassName},
	{Schema: "module_class_text(Handle module) -> str", Run: moduleClassText},
	{Schema: "module_identity(Handle module) -> int", Run: moduleIdentity},
	{Schema: "module_copy(Handle module, bool deep) -> Module", Run: moduleCopy},
	{Schema: "object_get(Handle object, str name) -> any", Run: objectGet},
	{Schema: "object_set(Handle object, str name, any value) -> None", Run: moduleSet},
	{Schema: "object_class_name(Handle object) -> str", Run: moduleClassName},
}

// moduleHost is what Python knows of a class of modules; it implements frontend.ModuleHost.
type moduleHost struct {
	class     *types.Class
	provider  *abi.Object // a torchjit.jit._recursive.ConcreteType
	functions map[string]frontend.SugaredValue
	overloads map[string][]string
	failed    map[string]string
	container string
}

func defineModuleClass(c *abi.Call) error {
	name := abi.Program.FreeTypeName(c.ArgString(0))
	class := types.NewClass(name, true)
	h := &moduleHost{class: class, provider: c.ArgObject(2), functions: map[string]frontend.SugaredValue{},
		overloads: map[string][]string{}, failed: map[string]string{}}
	for key, item := range c.Arg(1).Entries {
		if err := h.describe(key, item); err != nil {
			return err
		}
	}
	abi.Program.AddType(name, class)
	class.Host = h
	c.String(name)
	return nil
}

// describe takes one entry of a description.
func (h *moduleHost) describe(key string, item *abi.Word) error {
	switch key {
	case "container":
		if item.Kind() == abi.KindString {
			h.container = strings.Clone(item.Text())
		}
		return nil
	case "python_class":
		return nil
	}
	for x := range item.Items {
		f := x.Fields()
		name := strings.Clone(f[0].Text())
		var err error
		switch key {
		case "attributes":
			err = h.addAttribute(name, f[1], f[2].Text())
		case "constants":
			err = h.addConstant(name, f[1])
		case "functions":
			h.functions[name], err = scripts.Sugared(f[1])
		case "overloads":
			for o := range f[1].Items {
				h.overloads[name] = append(h.overloads[name], strings.Clone(o.Text()))
			}
		case "failed":
			h.failed[name] = strings.Clone(f[1].Text())
		default:
			err = abi.ValueErrorf("define_module_class: unknown entry %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addAttribute adds an attribute, whose type is given by its text or, for a submodule that was loaded, by the module.
func (h *moduleHost) addAttribute(name string, typed *abi.Word, kind string) error {
	var t types.Type
	if o, ok := typed.Content().(*value.Object); ok {
		t = o.Class
	} else {
		var err error
		if t, err = abi.ParseType(typed.Text()); err != nil {
			return err
		}
	}
	h.class.AddAttribute(types.Attribute{Name: name, Type: t, IsParameter: kind == "parameter", IsBuffer: kind == "buffer"})
	return nil
}

func (h *moduleHost) addConstant(name string, w *abi.Word) error {
	v, err := abi.PlainValue(w)
	if err != nil {
		return err
	}
	h.class.Constants = append(h.class.Constants, types.Constant{Name: name, Value: v})
	return nil
}

// Attr implements frontend.ModuleHost.
func (h *moduleHost) Attr(name string) (answer frontend.SugaredValue, err error) {
	if f := h.functions[name]; f != nil {
		return f, nil
	}
	if h.failed[name] != "" {
		return nil, nil
	}
	err = h.provider.Invoke("attribute", 1, func(w *abi.Writer) { w.String(name) }, func(w *abi.Word) error {
		if w.Kind() == abi.KindTuple && w.Count() == 2 && w.After(1).Kind() == abi.KindString && w.After(1).Text() == "stub" {
			return h.addMethod(w.Fields()[1])
		}
		answer, err = scripts.Sugared(w)
		return err
	})
	return answer, err
}

// Overloads implements frontend.ModuleHost.
func (h *moduleHost) Overloads(name string) []string { return h.overloads[name] }

// Hint implements frontend.ModuleHost.
func (h *moduleHost) Hint(name string) string { return h.failed[name] }

// Container implements frontend.ModuleHost.
func (h *moduleHost) Container() string { return h.container }

// IsInstance implements frontend.ModuleHost.
func (h *moduleHost) IsInstance(class *frontend.ModuleClass) (is bool) {
	err := h.provider.Invoke("is_a", 1, func(w *abi.Writer) { w.Object(class.Object.(*abi.Object)) }, func(w *abi.Word) error {
		is = w.Bool()
		return nil
	})
	return err == nil && is
}

// self is the first parameter of the class's methods.
func (h *moduleHost) self() *frontend.Self {
	return &frontend.Self{Type: h.class, Sugar: func(v *ir.Value) frontend.SugaredValue { return frontend.NewModule(v, h) }}
}

// readStub reads (name, tree, scope, defaults, signature or None).
func readStub(w *abi.Word) (scripts.Stub, error) {
	f := w.Fields()
	return scripts.NewStub(strings.Clone(f[0].Text()), []byte(f[1].Text()), f[2].Object(), f[3], f[4])
}

// newMethod makes a method of a stub, to be compiled when it is needed.
func (h *moduleHost) newMethod(w *abi.Word) (*ir.Function, error) {
	s, err := readStub(w)
	if err != nil {
		return nil, err
	}
	f := s.Function(h.class.Name+"."+s.Name, h.self())
	abi.Program.AddFunction(f)
	return f, nil
}

func (h *moduleHost) addMethod(w *abi.Word) error {
	f, err := h.newMethod(w)
	if err == nil {
		h.class.AddMethod(f.ShortName(), f)
	}
	return err
}

func argHost(c *abi.Call, i int) (*moduleHost, error) {
	if class, ok := abi.Program.Type(c.ArgText(i)).(*types.Class); ok {
		if h, ok := class.Host.(*moduleHost); ok {
			return h, nil
		}
	}
	return nil, abi.ValueErrorf("there is no module class %q", c.ArgText(i))
}

// compileModuleMethods adds methods, properties and hooks to a class and compiles them.
func compileModuleMethods(c *abi.Call) error {
	h, err := argHost(c, 0)
	if err != nil {
		return err
	}
	var made []*ir.Function
	add := func(w *abi.Word) (*ir.Function, error) {
		f, err := h.newMethod(w)
		if err == nil {
			h.class.AddMethod(f.ShortName(), f)
			made = append(made, f)
		}
		return f, err
	}
	for w := range c.Arg(2).Items {
		if err := h.addProperty(w, add); err != nil {
			return err
		}
	}
	for w := range c.Arg(1).Items {
		if _, err := add(w); err != nil {
			return err
		}
	}
	for _, f := range made {
		if err := f.EnsureDefined(); err != nil {
			return err
		}
	}
	annotated := map[types.Method]bool{}
	for i, hooks := range []*[]types.Method{3: &h.class.Hooks, 4: &h.class.PreHooks} {
		if hooks == nil {
			continue
		}
		for w := range c.Arg(i).Items {
			f, err := h.addHook(w, c.Arg(1), annotated)
			if err != nil {
				return err
			}
			*hooks = append(*hooks, f)
			if err := f.EnsureDefined(); err != nil {
				return err
			}
		}
	}
	c.None()
	return frontend.CheckHooks(h.class, func(m types.Method) bool { return annotated[m] })
}

// addHook adds a hook, which may run more than once. annotated says which hooks have the type of a result written.
func (h *moduleHost) addHook(w, methods *abi.Word, annotated map[types.Method]bool) (*ir.Function, error) {
	s, err := readStub(w)
	if err != nil {
		return nil, err
	}
	for _, hooks := range [][]types.Method{h.class.Hooks, h.class.PreHooks} {
		for _, m := range hooks {
			if f := m.(*ir.Function); f.ShortName() == s.Name {
				return f, nil
			}
		}
	}
	taken := h.class.FindMethod(s.Name) != nil
	for m := range methods.Items {
		taken = taken || m.Fields()[0].Text() == s.Name
	}
	if taken {
		return nil, abi.RuntimeErrorf("Can't define hook: %s on class: %s because a method or hook with that name already exists.", s.Name, types.Repr(h.class))
	}
	f := s.Function(h.class.Name+"."+s.Name, h.self())
	abi.Program.AddFunction(f)
	h.class.AddMethod(s.Name, f)
	annotated[f] = s.Def.Decl().Return() != nil
	return f, nil
}

func (h *moduleHost) addProperty(w *abi.Word, add func(*abi.Word) (*ir.Function, error)) error {
	f := w.Fields()
	getter, err := add(f[1])
	if err != nil {
		return err
	}
	p := types.Property{Name: strings.Clone(f[0].Text()), Getter: getter}
	if f[2].Kind() != abi.KindNone {
		setter, err := add(f[2])
		if err != nil {
			return err
		}
		p.Setter = setter
	}
	h.class.Properties = append(h.class.Properties, p)
	return nil
}

// defineModuleMethod compiles the methods of a text and adds them to a module's class.
func defineModuleMethod(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	self := &frontend.Self{Type: o.Class} // of a module that was loaded or copied
	if h, _ := o.Class.Host.(*moduleHost); h != nil {
		self = h.self()
	}
	defs, err := syntax.ParseProgram(source.NewIndentedText("<string>", c.ArgString(1)))
	if err != nil {
		return err
	}
	resolver := scripts.NewScope(c.ArgObject(2))
	methods := make([]*ir.Function, len(defs))
	for i, def := range defs {
		s := scripts.Stub{Name: def.Name().Name(), Def: def, Scope: resolver}
		if o.Class.FindMethod(s.Name) != nil {
			return abi.RuntimeErrorf("Can't redefine method: %s on class: %s", s.Name, types.Repr(o.Class))
		}
		methods[i] = s.Function(o.Class.Name+"."+s.Name, self)
		abi.Program.AddFunction(methods[i])
		o.Class.AddMethod(s.Name, methods[i])
	}
	for _, f := range methods {
		if err := f.EnsureDefined(); err != nil {
			return err
		}
	}
	c.None()
	return nil
}

func newModule(c *abi.Call) error {
	class, ok := abi.Program.Type(c.ArgText(0)).(*types.Class)
	if !ok {
		return abi.ValueErrorf("there is no module class %q", c.ArgText(0))
	}
	o := value.NewObject(class)
	i := 0
	for w := range c.Arg(1).Items {
		v, err := slotValue(w, &class.Attributes[i])
		if a := &class.Attributes[i]; err != nil && a.Type.Kind() == types.KindInterface {
			return abi.RuntimeErrorf("Could not cast attribute '%s' to type %s: %s", a.Name, a.Type.Annotation(nil), err)
		} else if err != nil {
			return err
		}
		o.Slots[i] = v
		i++
	}
	c.Handle(abi.HandleModule, o)
	return nil
}

// newInstance replies an object of a class whose attributes have no values yet; no method has been called.
func newInstance(c *abi.Call) error {
	class, ok := abi.Program.Type(c.ArgText(0)).(*types.Class)
	if !ok {
		return abi.ValueErrorf("there is no class %q", c.ArgText(0))
	}
	kind := abi.HandleObject
	if class.IsModule {
		kind = abi.HandleModule
	}
	c.Handle(kind, value.NewObject(class))
	return nil
}

// slotValue converts what is put into an attribute. It fails where the type is another.
func slotValue(w *abi.Word, a *types.Attribute) (value.Value, error) {
	v, ok, err := abi.ProgramValue(w, a.Type)
	if err != nil {
		return value.None, err
	}
	if !ok {
		if x, isObject := w.Content().(*value.Object); isObject {
			v = value.OfObject(x)
		}
		if v.Kind() == value.KindObject {
			return v, checkInterface(v.Object().Class, a)
		}
		return value.None, abi.RuntimeErrorf("Could not cast attribute '%s' to type %s: the value is a %s", a.Name, a.Type.Annotation(nil), w.KindName())
	}
	if v.Kind() == value.KindObject {
		return v, checkInterface(v.Object().Class, a)
	}
	return v, nil
}

// checkInterface fails where an attribute's type is an interface that a class does not satisfy.
func checkInterface(class *types.Class, a *types.Attribute) error {
	if a.Type.Kind() != types.KindInterface {
		return nil
	}
	if ok, why := types.IsSubtypeWhy(class, a.Type); !ok {
		return abi.RuntimeErrorf("Object of type %s is not compatible with interface %s\n%s", types.Repr(class), a.Type.Annotation(nil), why)
	}
	return nil
}

// ArgInstance returns the object that argument i is.
func ArgInstance(c *abi.Call, i int) (*value.Object, error) {
	o, ok := c.Arg(i).Content().(*value.Object)
	if !ok {
		return nil, abi.TypeErrorf("expected a module or an object of a compiled class")
	}
	o.Complete()
	return o, nil
}

// argSlot returns the object and the index of its attribute that the first two arguments name.
func argSlot(c *abi.Call) (o *value.Object, i int, err error) {
	if o, err = ArgInstance(c, 0); err != nil {
		return nil, 0, err
	}
	if i = o.Class.AttributeIndex(c.ArgText(1)); i < 0 {
		return nil, 0, abi.AttributeErrorf("'%s' object has no attribute '%s'", o.Class.Name, c.ArgText(1))
	}
	return o, i, nil
}

func moduleSlots(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	c.Open(abi.KindList, len(o.Class.Attributes))
	for i := range o.Class.Attributes {
		a := &o.Class.Attributes[i]
		c.Open(abi.KindTuple, 2)
		c.String(a.Name)
		c.String(slotKind(a, o.Slots[i]))
	}
	return nil
}

func slotKind(a *types.Attribute, v value.Value) string {
	switch {
	case a.IsParameter:
		return "parameter"
	case a.IsBuffer:
		return "buffer"
	case v.Kind() == value.KindObject && v.Object().Class.IsModule:
		return "module"
	}
	return "attribute"
}

func moduleGet(c *abi.Call) error {
	o, i, err := argSlot(c)
	if err != nil {
		return err
	}
	if v := o.Slots[i]; o.Class.Attributes[i].IsParameter && v.IsTensor() {
		c.Parameter(v.Tensor())
		return nil
	}
	return c.KeptValue(o.Slots[i])
}

// moduleConstants replies the constants of an object's class: names and values.
func moduleConstants(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	c.Open(abi.KindList, len(o.Class.Constants))
	for _, constant := range o.Class.Constants {
		c.Open(abi.KindTuple, 2)
		c.String(constant.Name)
		if err := c.Value(constant.Value.(value.Value)); err != nil {
			return err
		}
	}
	return nil
}

func moduleSet(c *abi.Call) error {
	o, i, err := argSlot(c)
	if err != nil {
		return err
	}
	v, err := slotValue(c.Arg(2), &o.Class.Attributes[i])
	if err == nil {
		o.Slots[i] = v
	}
	c.None()
	return err
}

// moduleProperties replies the properties of an object's class: names, and the methods that read and set them.
func moduleProperties(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	method := func(m types.Method) {
		if f, ok := m.(*ir.Function); ok {
			c.ScriptMethod(&scripts.Function{Function: f, Self: o})
		} else {
			c.None()
		}
	}
	c.Open(abi.KindList, len(o.Class.Properties))
	for _, p := range o.Class.Properties {
		c.Open(abi.KindTuple, 3)
		c.String(p.Name)
		method(p.Getter)
		method(p.Setter)
	}
	return nil
}

// moduleMethod replies a method bound to the module, None where there is none of that name.
func moduleMethod(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	f, ok := o.Class.FindMethod(c.ArgText(1)).(*ir.Function)
	if !ok {
		c.None()
		return nil
	}
	c.ScriptMethod(&scripts.Function{Function: f, Self: o})
	return nil
}

// moduleHooks replies the compiled pre-hooks and the compiled hooks of a module.
func moduleHooks(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	c.Open(abi.KindTuple, 2)
	for _, hooks := range [][]types.Method{o.Class.PreHooks, o.Class.Hooks} {
		c.Open(abi.KindList, len(hooks))
		for _, h := range hooks {
			c.ScriptFunction(&scripts.Function{Function: h.(*ir.Function)})
		}
	}
	return nil
}

func moduleMethodNames(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	c.Strings(o.Class.MethodNames())
	return nil
}

func moduleClassName(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	c.String(o.Class.Name)
	return nil
}

// moduleClassText replies the class of a module as messages have it, with the program that it is of.
func moduleClassText(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	c.String(types.Repr(o.Class))
	return nil
}

// moduleIdentity replies a number that no other living module has.
func moduleIdentity(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	c.Int64(int64(uintptr(unsafe.Pointer(o))))
	return nil
}

func objectGet(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	if v, ok := o.Attr(c.ArgText(1)); ok {
		return c.KeptValue(v)
	}
	f, ok := o.Class.FindMethod(c.ArgText(1)).(*ir.Function)
	if !ok {
		return abi.AttributeErrorf("'%s' object has no attribute '%s'", o.Class.Name, c.ArgText(1))
	}
	c.ScriptMethod(&scripts.Function{Function: f, Self: o})
	return nil
}

// moduleCopy replies a copy; a deep one has tensors of its own.
func moduleCopy(c *abi.Call) error {
	o, err := ArgInstance(c, 0)
	if err != nil {
		return err
	}
	copied, err := copyObject(o, c.ArgBool(1), map[any]value.Value{})
	if err != nil {
		return err
	}
	c.Handle(abi.HandleModule, copied.Object())
	return nil
}

// copyObject copies an object and the modules in it; deep copies tensors as well. Shared parts stay
// shared.
func copyObject(o *value.Object, deep bool, done map[any]value.Value) (value.Value, error) {
	if v, ok := done[o]; ok {
		return v, nil
	}
	made := value.NewObject(o.Class)
	done[o] = value.OfObject(made)
	for i, v := range o.Slots {
		copied, err := copySlot(v, deep, done)
		if err != nil {
			return value.None, err
		}
		made.Slots[i] = copied
	}
	return value.OfObject(made), nil
}

func copySlot(v value.Value, deep bool, done map[any]value.Value) (value.Value, error) {
	switch {
	case v.Kind() == value.KindObject:
		return copyObject(v.Object(), deep, done)
	case deep && v.IsTensor():
		t := v.Tensor()
		if c, ok := done[t]; ok {
			return c, nil
		}
		cloned, err := t.Clone(1)
		if err != nil {
			return value.None, err
		}
		if err := cloned.SetRequiresGrad(t.RequiresGrad()); err != nil {
			return value.None, err
		}
		done[t] = value.OfTensor(cloned)
		return done[t], nil
	case deep:
		return copyContainer(v, done)
	}
	return v, nil
}

// copyContainer copies a list, a dictionary or a tuple with what is in it. A value that is in several is one in the copies, too.
func copyContainer(v value.Value, done map[any]value.Value) (value.Value, error) {
	copyAll := func(items []value.Value) (err error) {
		for i := range items {
			if items[i], err = copySlot(items[i], true, done); err != nil {
				return err
			}
		}
		return nil
	}
	switch v.Kind() {
	case value.KindList:
		l := v.List()
		if c, ok := done[l]; ok {
			return c, nil
		}
		made := value.NewList(l.Elem, slices.Clone(l.Items)...)
		done[l] = value.OfList(made)
		return done[l], copyAll(made.Items)
	case value.KindTuple:
		made := &value.Tuple{Type: v.Tuple().Type, Items: slices.Clone(v.Tuple().Items)}
		return value.OfTuple(made), copyAll(made.Items)
	case value.KindDict:
		d := v.Dict()
		if c, ok := done[d]; ok {
			return c, nil
		}
		made := value.NewDict(d.Key, d.Elem)
		done[d] = value.OfDict(made)
		for key, item := range d.All {
			copied, err := copySlot(item, true, done)
			if err != nil {
				return value.None, err
			}
			made.Set(key, copied)
		}
		return done[d], nil
	}
	return v, nil
}

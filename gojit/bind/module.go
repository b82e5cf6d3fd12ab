package bind

import (
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// moduleFunctions make compiled modules and give access to them. torchjit/jit/_recursive.py says
// what their arguments look like.
var moduleFunctions = []function{
	{schema: "define_module_class(str name, dict description, object provider) -> str", run: defineModuleClass},
	{schema: "new_module(str class_name, list values) -> Module", run: newModule},
	{schema: "compile_module_methods(str class_name, list stubs, list properties, list hooks, list pre_hooks) -> None", run: compileModuleMethods},
	{schema: "define_module_method(Handle module, str text, object scope) -> None", run: defineModuleMethod},
	{schema: "new_instance(str class_name) -> any", run: newInstance},
	{schema: "module_slots(Handle module) -> list", run: moduleSlots},
	{schema: "module_get(Handle module, str name) -> any", run: moduleGet},
	{schema: "module_constants(Handle module) -> list", run: moduleConstants},
	{schema: "module_set(Handle module, str name, any value) -> None", run: moduleSet},
	{schema: "module_method(Handle module, str name) -> ScriptMethod", run: moduleMethod},
	{schema: "module_properties(any module) -> list", run: moduleProperties},
	{schema: "module_hooks(Handle module) -> tuple", run: moduleHooks},
	{schema: "module_method_names(Handle module) -> list", run: moduleMethodNames},
	{schema: "module_class_name(Handle module) -> str", run: moduleClassName},
	{schema: "module_class_text(Handle module) -> str", run: moduleClassText},
	{schema: "module_identity(Handle module) -> int", run: moduleIdentity},
	{schema: "module_copy(Handle module, bool deep) -> Module", run: moduleCopy},
	{schema: "object_get(Handle object, str name) -> any", run: objectGet},
	{schema: "object_set(Handle object, str name, any value) -> None", run: moduleSet},
	{schema: "object_class_name(Handle object) -> str", run: moduleClassName},
}

// moduleHost is what Python knows of a class of modules; it implements frontend.ModuleHost.
type moduleHost struct {
	class     *types.Class
	provider  *object // a torchjit.jit._recursive.ConcreteType
	functions map[string]frontend.SugaredValue
	overloads map[string][]string
	failed    map[string]string
	container string
}

// entries calls yield for the pairs in a dict's words until it returns false.
func (w *Word) entries(yield func(key string, item *Word) bool) {
	x := w.after(1)
	for range w.count() {
		item := x.next()
		if !yield(x.text(), item) {
			return
		}
		x = item.next()
	}
}

// fields returns the elements of a tuple.
func (w *Word) fields() []*Word {
	var out []*Word
	for x := range w.items {
		out = append(out, x)
	}
	return out
}

func defineModuleClass(c *call) error {
	name := program.FreeTypeName(c.argString(0))
	class := types.NewClass(name, true)
	h := &moduleHost{class: class, provider: c.argObject(2), functions: map[string]frontend.SugaredValue{},
		overloads: map[string][]string{}, failed: map[string]string{}}
	for key, item := range c.arg(1).entries {
		if err := h.describe(key, item); err != nil {
			return err
		}
	}
	program.AddType(name, class)
	class.Host = h
	c.string(name)
	return nil
}

// describe takes one entry of a description.
func (h *moduleHost) describe(key string, item *Word) error {
	switch key {
	case "container":
		if item.kind() == kindString {
			h.container = strings.Clone(item.text())
		}
		return nil
	case "python_class":
		return nil
	}
	for x := range item.items {
		f := x.fields()
		name := strings.Clone(f[0].text())
		var err error
		switch key {
		case "attributes":
			err = h.addAttribute(name, f[1], f[2].text())
		case "constants":
			err = h.addConstant(name, f[1])
		case "functions":
			h.functions[name], err = sugared(f[1])
		case "overloads":
			for o := range f[1].items {
				h.overloads[name] = append(h.overloads[name], strings.Clone(o.text()))
			}
		case "failed":
			h.failed[name] = strings.Clone(f[1].text())
		default:
			err = valueErrorf("define_module_class: unknown entry %q", key)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// addAttribute adds an attribute, whose type is given by its text or, for a submodule that was loaded, by the module.
func (h *moduleHost) addAttribute(name string, typed *Word, kind string) error {
	var t types.Type
	if o, ok := typed.content().(*value.Object); ok {
		t = o.Class
	} else {
		var err error
		if t, err = parseType(typed.text()); err != nil {
			return err
		}
	}
	h.class.AddAttribute(types.Attribute{Name: name, Type: t, IsParameter: kind == "parameter", IsBuffer: kind == "buffer"})
	return nil
}

func (h *moduleHost) addConstant(name string, w *Word) error {
	v, err := plainValue(w)
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
	err = h.provider.invoke("attribute", 1, func(w *writer) { w.string(name) }, func(w *Word) error {
		if w.kind() == kindTuple && w.count() == 2 && w.after(1).kind() == kindString && w.after(1).text() == "stub" {
			return h.addMethod(w.fields()[1])
		}
		answer, err = sugared(w)
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
	err := h.provider.invoke("is_a", 1, func(w *writer) { w.object(class.Object.(*object)) }, func(w *Word) error {
		is = w.bool()
		return nil
	})
	return err == nil && is
}

// self is the first parameter of the class's methods.
func (h *moduleHost) self() *frontend.Self {
	return &frontend.Self{Type: h.class, Sugar: func(v *ir.Value) frontend.SugaredValue { return frontend.NewModule(v, h) }}
}

// readStub reads (name, tree, scope, defaults, signature or None).
func readStub(w *Word) (stub, error) {
	f := w.fields()
	return newStub(strings.Clone(f[0].text()), []byte(f[1].text()), f[2].object(), f[3], f[4])
}

// newMethod makes a method of a stub, to be compiled when it is needed.
func (h *moduleHost) newMethod(w *Word) (*ir.Function, error) {
	s, err := readStub(w)
	if err != nil {
		return nil, err
	}
	f := s.function(h.class.Name+"."+s.name, h.self())
	program.AddFunction(f)
	return f, nil
}

func (h *moduleHost) addMethod(w *Word) error {
	f, err := h.newMethod(w)
	if err == nil {
		h.class.AddMethod(f.ShortName(), f)
	}
	return err
}

func (c *call) argHost(i int) (*moduleHost, error) {
	if class, ok := program.Type(c.argText(i)).(*types.Class); ok {
		if h, ok := class.Host.(*moduleHost); ok {
			return h, nil
		}
	}
	return nil, valueErrorf("there is no module class %q", c.argText(i))
}

// compileModuleMethods adds methods, properties and hooks to a class and compiles them.
func compileModuleMethods(c *call) error {
	h, err := c.argHost(0)
	if err != nil {
		return err
	}
	var made []*ir.Function
	add := func(w *Word) (*ir.Function, error) {
		f, err := h.newMethod(w)
		if err == nil {
			h.class.AddMethod(f.ShortName(), f)
			made = append(made, f)
		}
		return f, err
	}
	for w := range c.arg(2).items {
		if err := h.addProperty(w, add); err != nil {
			return err
		}
	}
	for w := range c.arg(1).items {
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
		for w := range c.arg(i).items {
			f, err := h.addHook(w, c.arg(1), annotated)
			if err != nil {
				return err
			}
			*hooks = append(*hooks, f)
			if err := f.EnsureDefined(); err != nil {
				return err
			}
		}
	}
	c.none()
	return frontend.CheckHooks(h.class, func(m types.Method) bool { return annotated[m] })
}

// addHook adds a hook, which may run more than once. annotated says which hooks have the type of a result written.
func (h *moduleHost) addHook(w, methods *Word, annotated map[types.Method]bool) (*ir.Function, error) {
	s, err := readStub(w)
	if err != nil {
		return nil, err
	}
	for _, hooks := range [][]types.Method{h.class.Hooks, h.class.PreHooks} {
		for _, m := range hooks {
			if f := m.(*ir.Function); f.ShortName() == s.name {
				return f, nil
			}
		}
	}
	taken := h.class.FindMethod(s.name) != nil
	for m := range methods.items {
		taken = taken || m.fields()[0].text() == s.name
	}
	if taken {
		return nil, runtimeErrorf("Can't define hook: %s on class: %s because a method or hook with that name already exists.", s.name, types.Repr(h.class))
	}
	f := s.function(h.class.Name+"."+s.name, h.self())
	program.AddFunction(f)
	h.class.AddMethod(s.name, f)
	annotated[f] = s.def.Decl().Return() != nil
	return f, nil
}

func (h *moduleHost) addProperty(w *Word, add func(*Word) (*ir.Function, error)) error {
	f := w.fields()
	getter, err := add(f[1])
	if err != nil {
		return err
	}
	p := types.Property{Name: strings.Clone(f[0].text()), Getter: getter}
	if f[2].kind() != kindNone {
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
func defineModuleMethod(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	self := &frontend.Self{Type: o.Class} // of a module that was loaded or copied
	if h, _ := o.Class.Host.(*moduleHost); h != nil {
		self = h.self()
	}
	defs, err := syntax.ParseProgram(source.NewIndentedText("<string>", c.argString(1)))
	if err != nil {
		return err
	}
	resolver := newScope(c.argObject(2))
	methods := make([]*ir.Function, len(defs))
	for i, def := range defs {
		s := stub{name: def.Name().Name(), def: def, scope: resolver}
		methods[i] = s.function(o.Class.Name+"."+s.name, self)
		program.AddFunction(methods[i])
		o.Class.AddMethod(s.name, methods[i])
	}
	for _, f := range methods {
		if err := f.EnsureDefined(); err != nil {
			return err
		}
	}
	c.none()
	return nil
}

func newModule(c *call) error {
	class, ok := program.Type(c.argText(0)).(*types.Class)
	if !ok {
		return valueErrorf("there is no module class %q", c.argText(0))
	}
	o := value.NewObject(class)
	i := 0
	for w := range c.arg(1).items {
		v, err := slotValue(w, &class.Attributes[i])
		if a := &class.Attributes[i]; err != nil && a.Type.Kind() == types.KindInterface {
			return runtimeErrorf("Could not cast attribute '%s' to type %s: %s", a.Name, a.Type.Annotation(nil), err)
		} else if err != nil {
			return err
		}
		o.Slots[i] = v
		i++
	}
	c.handle(handleModule, o)
	return nil
}

// newInstance replies an object of a class whose attributes have no values yet; no method has been called.
func newInstance(c *call) error {
	class, ok := program.Type(c.argText(0)).(*types.Class)
	if !ok {
		return valueErrorf("there is no class %q", c.argText(0))
	}
	kind := handleObject
	if class.IsModule {
		kind = handleModule
	}
	c.handle(kind, value.NewObject(class))
	return nil
}

// slotValue converts what is put into an attribute. It fails where the type is another.
func slotValue(w *Word, a *types.Attribute) (value.Value, error) {
	v, ok, err := programValue(w, a.Type)
	if err != nil {
		return value.None, err
	}
	if !ok {
		if x, isObject := w.content().(*value.Object); isObject {
			v = value.OfObject(x)
		}
		if v.Kind() == value.KindObject {
			return v, checkInterface(v.Object().Class, a)
		}
		return value.None, runtimeErrorf("Could not cast attribute '%s' to type %s: the value is a %s", a.Name, a.Type.Annotation(nil), w.kindName())
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
		return runtimeErrorf("Object of type %s is not compatible with interface %s\n%s", types.Repr(class), a.Type.Annotation(nil), why)
	}
	return nil
}

// argInstance returns the object that argument i is.
func (c *call) argInstance(i int) (*value.Object, error) {
	o, ok := c.arg(i).content().(*value.Object)
	if !ok {
		return nil, typeErrorf("expected a module or an object of a compiled class")
	}
	o.Complete()
	return o, nil
}

// argSlot returns the object and the index of its attribute that the first two arguments name.
func (c *call) argSlot() (o *value.Object, i int, err error) {
	if o, err = c.argInstance(0); err != nil {
		return nil, 0, err
	}
	if i = o.Class.AttributeIndex(c.argText(1)); i < 0 {
		return nil, 0, attributeErrorf("'%s' object has no attribute '%s'", o.Class.Name, c.argText(1))
	}
	return o, i, nil
}

func moduleSlots(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	c.open(kindList, len(o.Class.Attributes))
	for i := range o.Class.Attributes {
		a := &o.Class.Attributes[i]
		c.open(kindTuple, 2)
		c.string(a.Name)
		c.string(slotKind(a, o.Slots[i]))
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

func moduleGet(c *call) error {
	o, i, err := c.argSlot()
	if err != nil {
		return err
	}
	if v := o.Slots[i]; o.Class.Attributes[i].IsParameter && v.IsTensor() {
		c.parameter(v.Tensor())
		return nil
	}
	return c.keptValue(o.Slots[i])
}

// moduleConstants replies the constants of an object's class: names and values.
func moduleConstants(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	c.open(kindList, len(o.Class.Constants))
	for _, constant := range o.Class.Constants {
		c.open(kindTuple, 2)
		c.string(constant.Name)
		if err := c.value(constant.Value.(value.Value)); err != nil {
			return err
		}
	}
	return nil
}

func moduleSet(c *call) error {
	o, i, err := c.argSlot()
	if err != nil {
		return err
	}
	v, err := slotValue(c.arg(2), &o.Class.Attributes[i])
	if err == nil {
		o.Slots[i] = v
	}
	c.none()
	return err
}

// moduleProperties replies the properties of an object's class: names, and the methods that read and set them.
func moduleProperties(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	method := func(m types.Method) {
		if f, ok := m.(*ir.Function); ok {
			c.scriptMethod(&scriptFunction{function: f, self: o})
		} else {
			c.none()
		}
	}
	c.open(kindList, len(o.Class.Properties))
	for _, p := range o.Class.Properties {
		c.open(kindTuple, 3)
		c.string(p.Name)
		method(p.Getter)
		method(p.Setter)
	}
	return nil
}

// moduleMethod replies a method bound to the module, None where there is none of that name.
func moduleMethod(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	f, ok := o.Class.FindMethod(c.argText(1)).(*ir.Function)
	if !ok {
		c.none()
		return nil
	}
	c.scriptMethod(&scriptFunction{function: f, self: o})
	return nil
}

// moduleHooks replies the compiled pre-hooks and the compiled hooks of a module.
func moduleHooks(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	c.open(kindTuple, 2)
	for _, hooks := range [][]types.Method{o.Class.PreHooks, o.Class.Hooks} {
		c.open(kindList, len(hooks))
		for _, h := range hooks {
			c.scriptFunction(&scriptFunction{function: h.(*ir.Function)})
		}
	}
	return nil
}

func moduleMethodNames(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	c.strings(o.Class.MethodNames())
	return nil
}

func moduleClassName(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	c.string(o.Class.Name)
	return nil
}

// moduleClassText replies the class of a module as messages have it, with the program that it is of.
func moduleClassText(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	c.string(types.Repr(o.Class))
	return nil
}

// moduleIdentity replies a number that no other living module has.
func moduleIdentity(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	c.int64(int64(uintptr(unsafe.Pointer(o))))
	return nil
}

func objectGet(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	if v, ok := o.Attr(c.argText(1)); ok {
		return c.keptValue(v)
	}
	f, ok := o.Class.FindMethod(c.argText(1)).(*ir.Function)
	if !ok {
		return attributeErrorf("'%s' object has no attribute '%s'", o.Class.Name, c.argText(1))
	}
	c.scriptMethod(&scriptFunction{function: f, self: o})
	return nil
}

// moduleCopy replies a copy; a deep one has tensors of its own.
func moduleCopy(c *call) error {
	o, err := c.argInstance(0)
	if err != nil {
		return err
	}
	copied, err := copyObject(o, c.argBool(1), map[any]value.Value{})
	if err != nil {
		return err
	}
	c.handle(handleModule, copied.Object())
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

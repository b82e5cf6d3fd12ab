package frontend

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// SugaredValue is what an expression stands for while it is being emitted. The methods end the
// compilation with an error (Emitter.Fail) where the value cannot do what they ask; embed NotFirstClass
// for those.
type SugaredValue interface {
	// Kind says what the value is, for messages.
	Kind() string
	// AsValue returns a value of the graph.
	AsValue(e *Emitter, at source.Range) *ir.Value
	// Attr returns an attribute.
	Attr(e *Emitter, at source.Range, name string) SugaredValue
	// HasAttr reports whether there is an attribute.
	HasAttr(e *Emitter, at source.Range, name string) bool
	// SetAttr assigns to an attribute.
	SetAttr(e *Emitter, at source.Range, name string, v *ir.Value)
	// Call calls the value. binders is the number of variables that the result is unpacked into.
	Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue
	// AsTuple returns the elements; size is the number that is expected, -1 where it is not known.
	AsTuple(e *Emitter, at source.Range, size int) []SugaredValue
	// Iter returns what a loop runs over: a value that has Len and GetItem.
	Iter(e *Emitter, at source.Range) SugaredValue
	// Len returns the number of elements.
	Len(e *Emitter, at source.Range) *ir.Value
	// StaticLen returns the number of elements where it is known now.
	StaticLen() (n int, ok bool)
	// Unrolled reports whether a loop over the value is unrolled.
	Unrolled() bool
	// GetItem returns an element. hint, if not nil, is the type that the context expects.
	GetItem(e *Emitter, at source.Range, index *ir.Value, hint types.Type) SugaredValue
}

// NotFirstClass refuses everything. Its text is the kind, which its messages name.
type NotFirstClass string

// Kind implements SugaredValue.
func (k NotFirstClass) Kind() string { return string(k) }

// AsValue implements SugaredValue.
func (k NotFirstClass) AsValue(_ *Emitter, at source.Range) *ir.Value {
	fail(at, "%s cannot be used as a value", string(k))
	return nil
}

// Attr implements SugaredValue.
func (k NotFirstClass) Attr(_ *Emitter, at source.Range, name string) SugaredValue {
	fail(at, "attribute lookup is not defined on %s", string(k))
	return nil
}

// HasAttr implements SugaredValue.
func (k NotFirstClass) HasAttr(_ *Emitter, at source.Range, name string) bool {
	fail(at, "attribute lookup is not defined on %s", string(k))
	return false
}

// SetAttr implements SugaredValue.
func (k NotFirstClass) SetAttr(_ *Emitter, at source.Range, name string, _ *ir.Value) {
	fail(at, "attribute assignment is not defined on %s", string(k))
}

// Call implements SugaredValue.
func (k NotFirstClass) Call(_ *Emitter, at source.Range, _, _ []ir.Argument, _ int) SugaredValue {
	fail(at, "cannot call a %s", string(k))
	return nil
}

// AsTuple implements SugaredValue.
func (k NotFirstClass) AsTuple(_ *Emitter, at source.Range, _ int) []SugaredValue {
	fail(at, "%s cannot be used as a tuple", string(k))
	return nil
}

// Iter implements SugaredValue.
func (k NotFirstClass) Iter(_ *Emitter, at source.Range) SugaredValue {
	fail(at, "%s cannot be used as an iterable", string(k))
	return nil
}

// Len implements SugaredValue.
func (k NotFirstClass) Len(_ *Emitter, at source.Range) *ir.Value {
	fail(at, "'%s' object is not iterable", string(k))
	return nil
}

// StaticLen implements SugaredValue.
func (k NotFirstClass) StaticLen() (int, bool) { return 0, false }

// Unrolled implements SugaredValue.
func (k NotFirstClass) Unrolled() bool { return false }

// GetItem implements SugaredValue.
func (k NotFirstClass) GetItem(_ *Emitter, at source.Range, _ *ir.Value, _ types.Type) SugaredValue {
	fail(at, "'%s' object is not subscriptable", string(k))
	return nil
}

// simple is a value of the graph.
type simple struct{ v *ir.Value }

// NewSimple returns a sugared value that is a value of the graph.
func NewSimple(v *ir.Value) SugaredValue { return simple{v} }

func asSimple(s SugaredValue) *ir.Value {
	if x, ok := s.(simple); ok {
		return x.v
	}
	return nil
}

func (s simple) Kind() string                             { return "value of type '" + s.v.Type().Annotation(nil) + "'" }
func (s simple) AsValue(*Emitter, source.Range) *ir.Value { return s.v }
func (s simple) StaticLen() (int, bool)                   { return 0, false }
func (s simple) Unrolled() bool                           { return false }
func (s simple) lookUp(e *Emitter, at source.Range, name string) SugaredValue {
	switch t := s.v.Type().(type) {
	case *types.TensorInfo:
		if dtype, ok := castMethods[name]; ok {
			return &tensorCast{NotFirstClass("cast"), s.v, dtype}
		}
	case *types.Tuple:
		if i := t.FieldIndex(name); i >= 0 {
			index := e.g.Constant(value.Int(int64(i)), source.Range{})
			return simple{e.g.InsertNode(e.g.CreateTupleIndex(s.v, index, t.Elems[i])).Output()}
		}
	case *types.Class:
		if operator, ok := nativeMethods[t.Name][name]; ok {
			return &nativeMethod{NewBuiltin(operator), s.v}
		}
		e.ensureClassCompiled(at, t)
		if t.FindMethod(name) != nil {
			return newMethod(s.v, name)
		}
		if t.AttributeIndex(name) >= 0 {
			return simple{e.g.InsertNode(e.g.CreateGetAttr(s.v, name)).Output()}
		}
		if p := t.FindProperty(name); p != nil {
			return newMethod(s.v, shortName(p.Getter)).Call(e, at, nil, nil, 1)
		}
		if c := t.FindConstant(name); c != nil {
			if v, ok := c.Value.(value.Value); ok {
				return simple{e.g.Constant(v, at)}
			}
		}
	case *types.Interface:
		if t.FindMethod(name) != nil {
			return newMethod(s.v, name)
		}
	case *types.Enum:
		switch name {
		case "name":
			n := e.g.InsertNode(e.g.Create(prim.EnumName, []*ir.Value{s.v}, 1))
			return simple{n.Output().SetType(types.Str)}
		case "value":
			n := e.g.InsertNode(e.g.Create(prim.EnumValue, []*ir.Value{s.v}, 1))
			return simple{n.Output().SetType(t.Value)}
		}
	}
	if name == "tolist" && s.v.Type().Kind() == types.KindTensor {
		return &toList{"tolist", s.v}
	}
	if name == "__getitem__" && s.v.Type().Kind() == types.KindTensor {
		return &tensorItem{"tensor item", s.v}
	}
	if name == "type" && s.v.Type().Kind() == types.KindTensor {
		return newBuiltinMethod(aten.To, s.v, at)
	}
	if property := e.propertyOf(s.v.Type().Kind(), name); property != "" {
		return simple{e.Insert(source.Range{}, property, s.v)}
	}
	if hasSelfOverload("aten::"+name, s.v.Type()) {
		return newBuiltinMethod("aten::"+name, s.v, at)
	}
	return nil
}

func shortName(m types.Method) string {
	name := m.QualifiedName()
	for i := len(name) - 1; i >= 0; i-- {
		if name[i] == '.' {
			return name[i+1:]
		}
	}
	return name
}

func (s simple) Attr(e *Emitter, at source.Range, name string) SugaredValue {
	if found := s.lookUp(e, at, name); found != nil {
		return found
	}
	if m, ok := sugarOf(s.v).(*moduleValue); ok {
		return m.Attr(e, at, name)
	}
	if s.v.Type().Kind() == types.KindAwait { // what it has are those of its result
		return simple{e.Insert(at, prim.AwaitableWait, s.v)}.Attr(e, at, name)
	}
	hint := ""
	if class, ok := s.v.Type().(*types.Class); ok {
		hint = " Did you forget to initialize an attribute in __init__()?"
		if slices.Contains(class.Unsupported, name) {
			hint = " '" + name + "' is defined as a class attribute which currently is not supported. Consider converting this to an instance attribute."
		}
	}
	object := strings.TrimSuffix(strings.TrimRight(strings.TrimSuffix(at.String(), name), " "), ".")
	failNoted(attributeNotes(object, s.v.Type(), name), at, "'%s' object has no attribute or method '%s'.%s", types.Repr(s.v.Type()), name, hint)
	return nil
}

func (s simple) HasAttr(e *Emitter, at source.Range, name string) bool {
	switch t := s.v.Type().(type) {
	case *types.Class:
		e.ensureClassCompiled(at, t)
		return t.FindMethod(name) != nil || t.AttributeIndex(name) >= 0 || t.FindConstant(name) != nil || t.FindProperty(name) != nil
	case *types.Tuple:
		if t.Fields != nil {
			return t.FieldIndex(name) >= 0
		}
	}
	if s.v.Type().Kind() != types.KindTuple {
		fail(at, "hasattr's first argument must be an object, got %s instead", types.Repr(s.v.Type()))
	}
	fail(at, "hasattr's first argument must be an object or NamedTuple, but got a normal Tuple instead")
	return false
}

func (s simple) SetAttr(e *Emitter, at source.Range, name string, v *ir.Value) {
	class, ok := s.v.Type().(*types.Class)
	if !ok {
		fail(at, "Tried to set an attribute: %s on a non-class: %s", name, types.Repr(s.v.Type()))
	}
	expected := class.AttributeType(name)
	if expected == nil {
		if !e.addAttribute(at, class, name, v) {
			s.setProperty(e, at, class, name, v)
			return
		}
		expected = v.Type()
	}
	v = ir.ConvertTo(e.g, at, expected, v, false)
	if !types.IsSubtype(v.Type(), expected) {
		fail(at, "Wrong type for attribute assignment. Expected %s but got %s", types.Repr(expected), types.Repr(v.Type()))
	}
	e.g.InsertNode(e.g.CreateSetAttr(s.v, name, v))
}

// addAttribute adds an attribute that __init__ of a script class assigns first. It reports false
// where the function is no such method.
func (e *Emitter) addAttribute(at source.Range, class *types.Class, name string, v *ir.Value) bool {
	isInit := e.f.ShortName() == "__init__" && len(e.g.Inputs()) > 0 && e.g.Inputs()[0].Type() == types.Type(class)
	if !isInit {
		return false
	}
	t := v.Type()
	if x, ok := t.(*types.TensorInfo); ok && x.Inferred {
		t = types.Tensor
	}
	if mentions(t, class) {
		fail(at, "Assignment to attribute '%s' cannot be of a type that contains class '%s'.\nClasses that recursively contain instances of themselves are not yet supported", name, types.Repr(class))
	}
	class.AddAttribute(types.Attribute{Name: name, Type: t})
	if e.g.InsertPoint().Block() != e.g.Block() {
		fail(at, "First assignment cannot be in a control-flow block. Initialize the field at the top level first")
	}
	return true
}

// mentions reports whether t is a class or is written with it.
func mentions(t types.Type, class *types.Class) bool {
	return t == types.Type(class) || slices.ContainsFunc(types.Contained(t), func(c types.Type) bool { return mentions(c, class) })
}

func (s simple) setProperty(e *Emitter, at source.Range, class *types.Class, name string, v *ir.Value) {
	p := class.FindProperty(name)
	if p == nil {
		fail(at, "Tried to set nonexistent attribute: %s. Did you forget to initialize it in __init__()?", name)
	}
	if p.Setter == nil {
		fail(at, "Tried to set read-only attribute: %s", name)
	}
	newMethod(s.v, shortName(p.Setter)).Call(e, at, []ir.Argument{ir.Arg(v)}, nil, 1)
}

func (s simple) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	if m, ok := sugarOf(s.v).(*moduleValue); ok {
		return m.Call(e, at, args, kwargs, binders)
	}
	if s.v.Type().Kind() == types.KindClass {
		return s.Attr(e, at, "__call__").Call(e, at, args, kwargs, binders)
	}
	if i, ok := s.v.Type().(*types.Interface); ok && i.IsModule {
		return s.Attr(e, at, "forward").Call(e, at, args, kwargs, binders)
	}
	fail(at, "cannot call a %s", s.Kind())
	return nil
}

func (s simple) AsTuple(e *Emitter, at source.Range, size int) []SugaredValue {
	var vs []*ir.Value
	switch s.v.Type().Kind() {
	case types.KindTuple:
		vs = e.g.UnpackTuple(s.v)
	case types.KindList:
		if size < 0 {
			fail(at, "cannot statically infer the expected size of a list in this context")
		}
		vs = e.g.InsertNode(e.g.CreateListUnpack(s.v, size)).Outputs()
	case types.KindAnyTuple:
		fail(at, "Provided tuple is not fully defined/refined including its element types, please provide a value of type like Tuple[int, int]")
	default:
		fail(at, "%s cannot be used as a tuple", types.Repr(s.v.Type()))
	}
	out := make([]SugaredValue, len(vs))
	for i, v := range vs {
		out[i] = simple{v}
	}
	return out
}

func (s simple) Iter(e *Emitter, at source.Range) SugaredValue {
	switch s.v.Type().Kind() {
	case types.KindList, types.KindString, types.KindTensor:
		return s
	case types.KindDict:
		return simple{e.Insert(at, aten.Keys, s.v)}
	case types.KindTuple:
		return &TupleValue{Items: s.AsTuple(e, at, -1)}
	}
	fail(at, "'%s' object is not iterable", types.Repr(s.v.Type()))
	return nil
}

func (s simple) Len(e *Emitter, at source.Range) *ir.Value {
	switch s.v.Type().Kind() {
	case types.KindList, types.KindString, types.KindTensor:
		return e.Insert(at, aten.Len, s.v)
	}
	fail(at, "'%s' object is not iterable", types.Repr(s.v.Type()))
	return nil
}

func (s simple) GetItem(e *Emitter, at source.Range, index *ir.Value, hint types.Type) SugaredValue {
	t := s.v.Type()
	switch {
	case t.Kind() == types.KindList, t.Kind() == types.KindString, t.Kind() == types.KindDict:
		return simple{e.Insert(at, aten.Getitem, s.v, index)}
	case types.IsSubtype(t, types.Tensor):
		return simple{e.insertArgs(at, aten.Select, []ir.Argument{ir.Arg(s.v), ir.ConstArg(value.Int(0)), ir.Arg(index)})}
	case t.Kind() == types.KindClass:
		if t.(*types.Class).IsModule && hint != nil {
			v := e.Insert(at, prim.ModuleContainerIndex, s.v, index)
			return simple{v.SetType(hint)}
		}
		return s.Attr(e, at, "__getitem__").Call(e, at, []ir.Argument{ir.Arg(index)}, nil, 1)
	}
	fail(at, "'%s' object is not subscriptable", types.Repr(t))
	return nil
}

// TupleValue is a tuple of sugared values.
type TupleValue struct{ Items []SugaredValue }

// Kind implements SugaredValue.
func (t *TupleValue) Kind() string { return "Tuple" }

// AsValue implements SugaredValue.
func (t *TupleValue) AsValue(e *Emitter, at source.Range) *ir.Value {
	vs := make([]*ir.Value, len(t.Items))
	for i, item := range t.Items {
		vs[i] = item.AsValue(e, at)
	}
	return e.g.InsertNode(e.g.CreateTuple(vs, nil)).Output()
}

// AsTuple implements SugaredValue.
func (t *TupleValue) AsTuple(*Emitter, source.Range, int) []SugaredValue { return t.Items }

// Iter implements SugaredValue.
func (t *TupleValue) Iter(*Emitter, source.Range) SugaredValue { return t }

// StaticLen implements SugaredValue.
func (t *TupleValue) StaticLen() (int, bool) { return len(t.Items), true }

// Unrolled implements SugaredValue.
func (t *TupleValue) Unrolled() bool { return true }

// Len implements SugaredValue.
func (t *TupleValue) Len(e *Emitter, at source.Range) *ir.Value {
	return e.g.Constant(value.Int(int64(len(t.Items))), at)
}

// GetItem implements SugaredValue.
func (t *TupleValue) GetItem(e *Emitter, at source.Range, index *ir.Value, _ types.Type) SugaredValue {
	c, ok := index.Constant()
	if !ok || !c.IsInt() {
		fail(at, "Expected integer literal for index. ModuleList/Sequential indexing is only supported with integer literals. Enumeration is supported, e.g. 'for index, v in enumerate(self): ...'")
	}
	i := int(c.Int())
	if i < 0 {
		i += len(t.Items)
	}
	if i < 0 || i >= len(t.Items) {
		fail(at, "Tuple index out of range. Tuple is length %d and index is %d", len(t.Items), c.Int())
	}
	return t.Items[i]
}

// Attr implements SugaredValue.
func (t *TupleValue) Attr(e *Emitter, at source.Range, name string) SugaredValue {
	return (simple{t.AsValue(e, at)}).Attr(e, at, name)
}

// HasAttr implements SugaredValue.
func (t *TupleValue) HasAttr(*Emitter, source.Range, string) bool { return false }

// SetAttr implements SugaredValue.
func (t *TupleValue) SetAttr(_ *Emitter, at source.Range, name string, _ *ir.Value) {
	fail(at, "attribute assignment is not defined on Tuple")
}

// Call implements SugaredValue.
func (t *TupleValue) Call(_ *Emitter, at source.Range, _, _ []ir.Argument, _ int) SugaredValue {
	fail(at, "cannot call a Tuple")
	return nil
}

// BuiltinFunction is an operator by name, bound to a first argument where it is used as a method.
type BuiltinFunction struct {
	NotFirstClass
	Name string
	self *ir.Argument // nil where it is not bound
}

// NewBuiltin returns an operator as a function: "aten::relu".
func NewBuiltin(name string) *BuiltinFunction {
	return &BuiltinFunction{NotFirstClass: "builtin", Name: name}
}

func newBuiltinMethod(name string, self *ir.Value, at source.Range) *BuiltinFunction {
	b := NewBuiltin(name)
	a := ir.ArgAt(self, at)
	b.self = &a
	return b
}

// hasSelfOverload reports whether an operator has an overload whose parameter self takes a value
// of type t.
func hasSelfOverload(name string, t types.Type) bool {
	for _, o := range ops.Overloads(name) {
		i := o.Schema().ArgumentIndex("self")
		if i < 0 {
			continue
		}
		vars := types.Bindings{}
		formal := o.Schema().Arguments[i].Type
		if matched, _ := vars.Match(formal, t); matched != nil && types.IsSubtype(t, vars.Apply(formal)) {
			return true
		}
	}
	return false
}

// Call implements SugaredValue.
func (b *BuiltinFunction) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	return simple{e.callBuiltin(at, b.Name, args, kwargs, b.self)}
}

package frontend

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// constantValue is a constant of the embedding language. It becomes a node where it is looked up.
type constantValue struct {
	NotFirstClass
	v value.Value
}

// NewConstant returns a constant. A tuple is built of its elements.
func NewConstant(v value.Value) SugaredValue { return &constantValue{"constant", v} }

// AsValue implements SugaredValue.
func (c *constantValue) AsValue(e *Emitter, at source.Range) *ir.Value {
	if c.v.Kind() != value.KindTuple {
		return e.g.Constant(c.v, at)
	}
	items := c.v.Tuple().Items
	vs := make([]*ir.Value, len(items))
	for i, item := range items {
		vs[i] = (&constantValue{"constant", item}).AsValue(e, at)
	}
	return e.g.InsertNode(e.g.CreateTuple(vs, nil)).Output()
}

// lookedUp turns what a host answered into a value of the graph where it is a constant.
func lookedUp(e *Emitter, at source.Range, s SugaredValue) SugaredValue {
	if c, ok := s.(*constantValue); ok {
		return simple{c.AsValue(e, at)}
	}
	return s
}

// hostModule is a namespace of the embedding language.
type hostModule struct {
	NotFirstClass
	attr func(name string) (SugaredValue, error)
}

// NewHostModule returns a namespace whose attributes attr knows; it returns nil where there is none.
func NewHostModule(attr func(name string) (SugaredValue, error)) SugaredValue {
	return &hostModule{"module", attr}
}

// AsValue implements SugaredValue.
func (m *hostModule) AsValue(e *Emitter, at source.Range) *ir.Value {
	return (&hostObject{typeName: "module"}).AsValue(e, at)
}

// Attr implements SugaredValue.
func (m *hostModule) Attr(e *Emitter, at source.Range, name string) SugaredValue {
	s, err := m.attr(name)
	check(err)
	if s == nil {
		failNoted([]string{didYouMean(name, torchNames())}, at, "object has no attribute %s", name)
	}
	e.compileResolved(at, s)
	return lookedUp(e, at, s)
}

// HasAttr implements SugaredValue.
func (m *hostModule) HasAttr(_ *Emitter, _ source.Range, name string) bool {
	s, err := m.attr(name)
	check(err)
	return s != nil
}

// ModuleClass is a class of modules of the embedding language. Programs can call its functions that take no module, and
// ask whether a module is an instance.
type ModuleClass struct {
	hostObject
	Object     any  // what the embedding language calls the class
	isCompiled bool // modules of the class have been compiled: programs know a class of its name, which has no __init__
	attr       func(name string) (SugaredValue, error)
}

// NewModuleClass returns a class whose attributes are given by attr, nil where there is none.
func NewModuleClass(name string, object any, isCompiled bool, attr func(name string) (SugaredValue, error)) *ModuleClass {
	return &ModuleClass{hostObject{NotFirstClass("python value of type 'type'"), "type", name, nil}, object, isCompiled, attr}
}

// Attr implements SugaredValue.
func (m *ModuleClass) Attr(e *Emitter, at source.Range, name string) SugaredValue {
	s, err := m.attr(name)
	check(err)
	if s == nil {
		fail(at, "Tried to lookup unknown attribute on class %s", m.text)
	}
	e.compileResolved(at, s)
	return lookedUp(e, at, s)
}

// HasAttr implements SugaredValue.
func (m *ModuleClass) HasAttr(_ *Emitter, _ source.Range, name string) bool {
	s, err := m.attr(name)
	check(err)
	return s != nil
}

// Call implements SugaredValue.
func (m *ModuleClass) Call(_ *Emitter, at source.Range, _, _ []ir.Argument, _ int) SugaredValue {
	if m.isCompiled {
		fail(at, "Class %s does not have an __init__ function defined", lastAtom(m.text))
	}
	check(source.Errorf(source.FrontendError, at, "Cannot instantiate class '%s' in a script function", lastAtom(m.text)))
	return nil
}

// moduleClass returns the class of modules that an expression names, nil where it names something else.
func (e *Emitter) moduleClass(expr syntax.Expr) *ModuleClass {
	class, _ := e.hostName(expr).(*ModuleClass)
	return class
}

// hostName returns what a dotted name of the embedding language stands for, nil where it is none.
func (e *Emitter) hostName(expr syntax.Expr) SugaredValue {
	switch expr.Kind {
	case syntax.KindVar:
		return e.lookUp(syntax.AsVar(expr).Name().Name(), expr.Range, false)
	case syntax.KindSelect:
		s := syntax.AsSelect(expr)
		if module, ok := e.hostName(s.Value()).(*hostModule); ok {
			found, err := module.attr(s.Selector().Name())
			check(err)
			return found
		}
	}
	return nil
}

// hostObject is an object of the embedding language that programs can name but not use, unless it can
// be called.
type hostObject struct {
	NotFirstClass
	typeName, text string
	callable       func(args int) *hostFunction
}

// NewHostObject returns an object that programs cannot use; text is how it prints.
func NewHostObject(typeName, text string) SugaredValue {
	return &hostObject{NotFirstClass("python value of type '" + typeName + "'"), typeName, text, nil}
}

// uncallable is an object of the embedding language whose calls fail for a reason.
type uncallable struct {
	*hostObject
	class  source.Class
	reason string
}

// NewUncallable returns an object that programs cannot use, and whose calls fail with an error of the class for the reason.
func NewUncallable(typeName, text string, class source.Class, reason string) SugaredValue {
	return &uncallable{NewHostObject(typeName, text).(*hostObject), class, reason}
}

// outsideModule is a compiled module that is no part of the one that is compiled: neither it nor its attributes can be used.
type outsideModule struct{ *uncallable }

// NewOutsideModule returns a compiled module that programs cannot use.
func NewOutsideModule() SugaredValue {
	u := NewUncallable("ScriptModule", "a script module", source.RuntimeError, "Cannot call a ScriptModule that is not a submodule of the caller")
	return outsideModule{u.(*uncallable)}
}

// Attr implements SugaredValue.
func (o outsideModule) Attr(_ *Emitter, at source.Range, _ string) SugaredValue {
	fail(at, "%s", o.reason)
	return nil
}

// Call implements SugaredValue.
func (u *uncallable) Call(_ *Emitter, at source.Range, _, _ []ir.Argument, _ int) SugaredValue {
	check(source.Errorf(u.class, at, "%s", u.reason))
	return nil
}

// NewHostCallable returns an object that programs can call in the embedding language: target, a
// capsule, says what is called. Where s is nil, the arguments and the result are tensors.
func NewHostCallable(typeName, name string, s *schema.FunctionSchema, target value.Value) SugaredValue {
	return &hostObject{NotFirstClass("python value of type '" + typeName + "'"), typeName, name, func(args int) *hostFunction {
		if s != nil {
			return &hostFunction{"python value", s, target, nil}
		}
		return &hostFunction{"python value", tensorSchema(name, args), target, nil}
	}}
}

// tensorSchema is the schema of a function of which nothing is known: n tensors give a tensor.
func tensorSchema(name string, n int) *schema.FunctionSchema {
	s := &schema.FunctionSchema{Name: name}
	for i := range n {
		s.Arguments = append(s.Arguments, schema.Argument{Name: itoa(i), Type: types.Tensor, RealType: types.Tensor, ListSize: -1})
	}
	s.Returns = []schema.Argument{{Name: "0", Type: types.Tensor, RealType: types.Tensor, ListSize: -1}}
	return s
}

// AsValue implements SugaredValue.
func (o *hostObject) AsValue(_ *Emitter, at source.Range) *ir.Value {
	failHostValue(at, o.typeName)
	return nil
}

// failHostValue says that an object of the embedding language is no value of a program.
func failHostValue(at source.Range, typeName string) {
	fail(at, "python value of type '%s' cannot be used as a value. Perhaps it is a closed over global variable? If so, please consider passing it in as an argument or use a local varible instead.", typeName)
}

// Call implements SugaredValue.
func (o *hostObject) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	if o.callable == nil {
		fail(at, "Python builtin %s is currently not supported in Torchscript", o.text)
	}
	return o.callable(len(args)+len(kwargs)).Call(e, at, args, kwargs, binders)
}

// typedConstructor is torch.LongTensor and its like: of sizes it makes a tensor without values, else one of data.
type typedConstructor struct {
	NotFirstClass
	dtype int64
}

// NewTypedConstructor returns a function that makes tensors of the type that a number stands for.
func NewTypedConstructor(dtype int64) SugaredValue {
	return &typedConstructor{"LegacyTypedConstructor", dtype}
}

// Call implements SugaredValue.
func (c *typedConstructor) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, _ int) SugaredValue {
	dtype := ir.Arg(e.g.Constant(value.Int(c.dtype), source.Range{})).Named("dtype")
	kwargs = append([]ir.Argument{dtype}, kwargs...)
	sizes := make([]*ir.Value, len(args))
	isSize := true
	for i, a := range args {
		sizes[i] = a.Value(e.g)
		isSize = isSize && sizes[i].Type().Kind() == types.KindInt
	}
	switch {
	case len(args) == 0:
		return simple{e.insertArgs(at, aten.Tensor, []ir.Argument{ir.Arg(e.g.InsertNode(e.g.CreateList(types.Int, nil)).Output())}, kwargs...)}
	case isSize:
		list := e.g.InsertNode(e.g.CreateList(types.Int, sizes)).Output()
		return simple{e.insertArgs(at, aten.Empty, []ir.Argument{ir.Arg(list)}, kwargs...)}
	case len(args) > 1:
		fail(at, "Legacy Tensor Constructor only supports sizes that are integers, or data:\nGot multiple positional arguments that were not all integers")
	}
	return simple{e.insertArgs(at, aten.Tensor, args, kwargs...)}
}

// dispatch is one of two functions, chosen by a bool argument that the program fixes.
type dispatch struct {
	NotFirstClass
	argument        string
	index           int
	otherwise       bool
	ifTrue, ifFalse SugaredValue
}

// NewDispatch returns a function that is one of two by the value of the named argument, which is at
// index where it is positional; otherwise is its value where it is not given.
func NewDispatch(argument string, index int, otherwise bool, ifTrue, ifFalse SugaredValue) SugaredValue {
	return &dispatch{"function", argument, index, otherwise, ifTrue, ifFalse}
}

// Call implements SugaredValue.
func (d *dispatch) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	chosen := d.otherwise
	choose := func(given ir.Argument, format string, of any) {
		c, ok := given.Value(e.g).Constant()
		if !ok || !c.IsBool() {
			fail(at, format, of)
		}
		chosen = c.Bool()
	}
	if d.index < len(args) {
		choose(args[d.index], "Argument for boolean dispatch at position %d was not constant", d.index)
	}
	for _, a := range kwargs {
		if a.Name == d.argument {
			choose(a, "Keyword argument '%s' for boolean dispatch at position was not constant", a.Name)
		}
	}
	if chosen {
		return d.ifTrue.Call(e, at, args, kwargs, binders)
	}
	return d.ifFalse.Call(e, at, args, kwargs, binders)
}

// hostFunction is a function of the embedding language that the program calls there.
type hostFunction struct {
	NotFirstClass
	schema *schema.FunctionSchema
	target value.Value
	self   *ir.Value // the first argument of a method, else nil
}

// NewHostFunction returns a function that runs in the embedding language: target, a capsule, says
// what is called. The schema of a method has no self.
func NewHostFunction(s *schema.FunctionSchema, target value.Value) SugaredValue {
	return &hostFunction{"python value", s, target, nil}
}

// AsValue implements SugaredValue.
func (f *hostFunction) AsValue(_ *Emitter, at source.Range) *ir.Value {
	failHostValue(at, "function")
	return nil
}

// Call implements SugaredValue.
func (f *hostFunction) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	match, err := ir.MatchSchema(e.g, at, f.schema, args, kwargs, nil)
	check(err)
	result := hostResult(f.schema, match, binders)
	inputs := match.Inputs
	if f.self != nil {
		inputs = append([]*ir.Value{f.self}, inputs...)
	}
	n := e.g.Create(prim.PythonOp, inputs, 1).SetRange(at).SetAttr("name", f.schema.Name).SetAttr("target", f.target)
	return simple{e.g.InsertNode(n).Output().SetType(result)}
}

// hostResult returns the type that a call in the embedding language gives. A function without a written type gives as many tensors as the
// statement has names for: a tuple of several, None where the call is all of it.
func hostResult(s *schema.FunctionSchema, match *ir.Match, binders int) types.Type {
	switch {
	case !s.IsVarret:
		return match.Returns[0]
	case binders == 0:
		return types.None
	case binders == 1:
		return types.Tensor
	}
	return types.NewTuple(slices.Repeat([]types.Type{types.Tensor}, binders)...)
}

// unusedFunction is a function that the program names but must not call.
type unusedFunction struct {
	NotFirstClass
	schema *schema.FunctionSchema
}

// NewUnusedFunction returns a function whose calls raise an exception.
func NewUnusedFunction(s *schema.FunctionSchema) SugaredValue {
	return &unusedFunction{"python value", s}
}

// AsValue implements SugaredValue.
func (f *unusedFunction) AsValue(_ *Emitter, at source.Range) *ir.Value {
	failHostValue(at, "function")
	return nil
}

// Call implements SugaredValue.
func (f *unusedFunction) Call(e *Emitter, at source.Range, args, kwargs []ir.Argument, binders int) SugaredValue {
	match, err := ir.MatchSchema(e.g, at, f.schema, args, kwargs, nil)
	check(err)
	text := e.g.Constant(value.Str("This Python function is annotated to be ignored and cannot be run"), source.Range{})
	e.Insert(at, prim.RaiseException, text)
	return simple{e.g.InsertNode(e.g.CreateUninitialized(hostResult(f.schema, match, binders))).Output()}
}

package frontend

import (
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/frontend/upgrade"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Importer makes the functions and classes of a program from the source text of an archive, each
// when it is first asked for.
type Importer struct {
	Unit *ir.Unit
	// Source returns the text that defines the names below a qualified prefix
	// ("__torch__.torch.nn"), nil where there is none.
	Source func(prefix string) (*source.Text, error)
	// Constants are what the text calls CONSTANTS.c0, CONSTANTS.c1, ...
	Constants []value.Value
	// Version is that of the archive: operators mean what they meant then.
	Version int

	defining sync.Mutex // held while a function or a type of the program is being made
	mu       sync.Mutex
	loaded   map[string]bool         // prefixes whose text has been read
	known    map[string]*syntax.Tree // definitions by qualified name
	making   map[string]bool         // types that are being made
}

// NewImporter returns an importer that adds to unit.
func NewImporter(unit *ir.Unit, read func(prefix string) (*source.Text, error), constants []value.Value) *Importer {
	return &Importer{Unit: unit, Source: read, Constants: constants, loaded: map[string]bool{}, known: map[string]*syntax.Tree{}, making: map[string]bool{}}
}

// definition returns the tree that defines a qualified name, nil where there is none.
func (im *Importer) definition(name string) (*syntax.Tree, error) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil, nil
	}
	prefix := name[:dot]
	im.mu.Lock()
	defer im.mu.Unlock()
	if !im.loaded[prefix] {
		im.loaded[prefix] = true
		text, err := im.Source(prefix)
		if err != nil {
			return nil, err
		}
		if text == nil {
			return nil, nil
		}
		trees, err := syntax.ParseArchive(text)
		if err != nil {
			return nil, err
		}
		for _, t := range trees {
			upgrade.Text(t, im.Version)
			switch t.Kind {
			case syntax.KindDef:
				im.known[prefix+"."+syntax.AsDef(t).Name().Name()] = t
			case syntax.KindClassDef:
				im.known[prefix+"."+syntax.AsClassDef(t).Name().Name()] = t
			}
		}
	}
	return im.known[name], nil
}

// Type returns the named type, nil where the source does not define it.
func (im *Importer) Type(name string) (t types.Type, err error) {
	defer source.Catch(&err)
	im.defining.Lock()
	defer im.defining.Unlock()
	return im.findType(name), nil
}

// Function returns the named function, nil where the source does not define it.
func (im *Importer) Function(name string) (f *ir.Function, err error) {
	defer source.Catch(&err)
	im.defining.Lock()
	defer im.defining.Unlock()
	return im.findFunction(name), nil
}

func (im *Importer) findType(name string) types.Type {
	if t := im.Unit.Type(name); t != nil {
		return t
	}
	if strings.HasPrefix(name, types.NativePrefix) {
		return types.NativeClass(name)
	}
	tree, err := im.definition(name)
	check(err)
	if tree == nil || tree.Kind != syntax.KindClassDef {
		return nil
	}
	def := syntax.AsClassDef(tree)
	base := ""
	if s := def.Superclass(); s != nil {
		base = dottedName(s)
	}
	if im.making[name] {
		fail(tree.Range, "The type '%s' is defined in terms of itself", name)
	}
	im.making[name] = true
	defer delete(im.making, name)
	switch base {
	case "NamedTuple":
		return im.namedTuple(name, def)
	case "Enum":
		return im.enum(name, def)
	case "Interface", "ModuleInterface":
		return im.interfaceType(name, def, base == "ModuleInterface")
	case "Module", "":
		return im.class(name, def, base == "Module")
	}
	fail(tree.Range, "Torchscript does not support class inheritance.")
	return nil
}

func (im *Importer) findFunction(name string) *ir.Function {
	if f := im.Unit.Function(name); f != nil {
		return f
	}
	tree, err := im.definition(name)
	check(err)
	if tree == nil || tree.Kind != syntax.KindDef {
		return nil
	}
	def := syntax.AsDef(tree)
	f := ir.NewLazyFunction(name, &im.defining, func(f *ir.Function) error {
		return Compile(f, def, Options{Resolver: im, Unit: im.Unit, FromText: true, Version: im.Version})
	})
	im.Unit.AddFunction(f)
	return f
}

// emitterFor returns an Emitter for the annotations and constants of a class.
func (im *Importer) emitterFor(name string) *Emitter {
	e := newEmitter(ir.NewLazyFunction(name, nil, nil), Options{Resolver: im, Unit: im.Unit})
	e.pushFrame(e.g.Block())
	return e
}

func (im *Importer) namedTuple(name string, def syntax.ClassDef) types.Type {
	e := im.emitterFor(name)
	t := &types.Tuple{Name: name, Fields: []string{}}
	for _, s := range def.Body() {
		if s.Kind != syntax.KindAssign {
			fail(s.Range, "Unexpected statement in NamedTuple body: only attribute annotations are currently supported.")
		}
		a := syntax.AsAssign(s)
		field := e.typeOf(a.Type())
		t.Fields = append(t.Fields, dottedName(a.LHS()))
		t.Elems = append(t.Elems, field)
		if a.RHS() != nil {
			d, ok := value.Coerce(e.constantOf(a.RHS(), field), field)
			if !ok {
				fail(a.RHS().Range, "The default is no value of type %s", types.Repr(field))
			}
			t.Defaults = append(t.Defaults, d)
		}
	}
	im.Unit.AddType(name, t)
	return t
}

func (im *Importer) enum(name string, def syntax.ClassDef) types.Type {
	e := im.emitterFor(name)
	t := &types.Enum{Name: name, Value: types.Int}
	for i, s := range def.Body() {
		if s.Kind != syntax.KindAssign || syntax.AsAssign(s).RHS() == nil {
			fail(s.Range, "Unexpected statement in Enum class body: only enum attribute definitions are currently supported.")
		}
		a := syntax.AsAssign(s)
		v := e.constantOf(a.RHS(), nil)
		if i == 0 {
			t.Value = value.TypeOf(v)
		}
		t.Members = append(t.Members, types.EnumMember{Name: dottedName(a.LHS()), Value: v})
	}
	im.Unit.AddType(name, t)
	return t
}

func (im *Importer) interfaceType(name string, def syntax.ClassDef, isModule bool) types.Type {
	t := NewInterface(name, isModule)
	im.Unit.AddType(name, t)
	for _, s := range def.Body() {
		if s.Kind != syntax.KindDef {
			fail(s.Range, "Unexpected statement in interface class body: only method definitions are allowed")
		}
		method := syntax.AsDef(s)
		schema, err := SchemaOf(method, Options{Resolver: im, Unit: im.Unit, Self: &Self{Type: t}})
		check(err)
		AddInterfaceMethod(t, schema)
	}
	return t
}

func (im *Importer) class(name string, def syntax.ClassDef, isModule bool) types.Type {
	c := types.NewClass(name, isModule)
	im.Unit.AddType(name, c)
	b := &classBuilder{im: im, e: im.emitterFor(name), c: c, parameters: map[string]bool{}, buffers: map[string]bool{}}
	for _, s := range def.Body() {
		b.statement(s)
	}
	for _, method := range b.methods {
		im.addMethod(c, method)
	}
	b.addHooks()
	for _, p := range def.Properties() {
		im.addProperty(c, p)
	}
	return c
}

// addMethod adds a method that is compiled on first use.
func (im *Importer) addMethod(c *types.Class, def syntax.Def) *ir.Function {
	name := def.Name().Name()
	f := ir.NewLazyFunction(c.Name+"."+name, &im.defining, func(f *ir.Function) error {
		return Compile(f, def, Options{Resolver: im, Unit: im.Unit, FromText: true, Version: im.Version, Self: &Self{Type: c}})
	})
	f.IsMethod = true
	c.AddMethod(name, f)
	return f
}

func (im *Importer) addProperty(c *types.Class, p syntax.Property) {
	property := types.Property{Name: p.Name().Name(), Getter: im.addMethod(c, p.Getter())}
	if setter, ok := p.Setter(); ok {
		property.Setter = im.addMethod(c, setter)
	}
	c.Properties = append(c.Properties, property)
}

// classBuilder reads the body of a class.
type classBuilder struct {
	im                  *Importer
	e                   *Emitter
	c                   *types.Class
	parameters, buffers map[string]bool
	hooks, preHooks     []string
	methods             []syntax.Def
}

func (b *classBuilder) statement(s syntax.Stmt) {
	switch s.Kind {
	case syntax.KindDef:
		b.methods = append(b.methods, syntax.AsDef(s))
	case syntax.KindAssign:
		b.assign(syntax.AsAssign(s))
	case syntax.KindPass:
	default:
		fail(s.Range, "Unexpected statement kind in class body: %s", s.Kind)
	}
}

func (b *classBuilder) assign(a syntax.Assign) {
	lhs := a.LHS()
	if lhs.Kind == syntax.KindSubscript {
		s := syntax.AsSubscript(lhs)
		if dottedName(s.Value()) != "__annotations__" || len(s.Subscripts()) != 1 || s.Subscripts()[0].Kind != syntax.KindStringLiteral || a.RHS() == nil {
			fail(lhs.Range, "Unexpected assignment in class body")
		}
		b.attribute(syntax.AsStringLiteral(s.Subscripts()[0]).Value(), a.RHS())
		return
	}
	name := dottedName(lhs)
	switch name {
	case "__parameters__":
		for _, p := range b.strings(a.RHS()) {
			b.parameters[p] = true
		}
	case "__buffers__":
		for _, p := range b.strings(a.RHS()) {
			b.buffers[p] = true
		}
	case "__forward_hooks__":
		b.hooks = b.strings(a.RHS())
	case "__forward_pre_hooks__":
		b.preHooks = b.strings(a.RHS())
	case "__annotations__":
	default:
		if a.Type() == nil {
			fail(a.Range, "The attribute '%s' has no type", name)
		}
		if a.RHS() != nil {
			t := b.e.typeOf(a.Type())
			v, ok := value.Coerce(b.e.constantOf(a.RHS(), t), t)
			if !ok {
				fail(a.RHS().Range, "The constant is no value of type %s", types.Repr(t))
			}
			b.c.Constants = append(b.c.Constants, types.Constant{Name: name, Value: v})
			return
		}
		b.attribute(name, a.Type())
	}
}

func (b *classBuilder) attribute(name string, annotation syntax.Expr) {
	a := types.Attribute{Name: name, Type: b.e.typeOf(annotation), IsParameter: b.parameters[name], IsBuffer: b.buffers[name]}
	switch {
	case a.IsParameter && a.IsBuffer:
		fail(annotation.Range, "The attribute '%s' is both a parameter and a buffer", name)
	case (a.IsParameter || a.IsBuffer) && !types.IsSubtype(a.Type, types.NewOptional(types.Tensor)):
		fail(annotation.Range, "Expecting parameter or buffer to have either None, Tensor or Optional[Tensor] type, but got: %s", a.Type)
	}
	b.c.AddAttribute(a)
}

func (b *classBuilder) strings(expr syntax.Expr) []string {
	if expr == nil || expr.Kind != syntax.KindListLiteral {
		fail(rangeOf(expr), "Expected a list of names")
	}
	var names []string
	for _, x := range syntax.AsListLiteral(expr).Inputs() {
		if x.Kind != syntax.KindStringLiteral {
			fail(x.Range, "Expected a name in quotes")
		}
		names = append(names, syntax.AsStringLiteral(x).Value())
	}
	return names
}

// rangeOf returns the range of an expression that may be missing.
func rangeOf(expr syntax.Expr) source.Range {
	if expr == nil {
		return source.Range{}
	}
	return expr.Range
}

// addHooks moves the methods that are hooks from the methods to the hooks.
func (b *classBuilder) addHooks() {
	take := func(names []string) []types.Method {
		var hooks []types.Method
		for _, name := range names {
			m := b.c.FindMethod(name)
			if m == nil {
				fail(source.Range{}, "The hook '%s' of '%s' is not defined", name, b.c.Name)
			}
			hooks = append(hooks, m)
		}
		return hooks
	}
	b.c.Hooks, b.c.PreHooks = take(b.hooks), take(b.preHooks)
	for _, name := range append(append([]string{}, b.hooks...), b.preHooks...) {
		b.c.RemoveMethod(name)
	}
}

// ResolveType implements Resolver.
func (im *Importer) ResolveType(name string, _ source.Range) (t types.Type, err error) {
	defer source.Catch(&err)
	return im.findType(name), nil
}

// ResolveValue implements Resolver.
func (im *Importer) ResolveValue(name string, _ source.Range) (SugaredValue, error) {
	switch name {
	case "torch":
		return NewNamespace("aten"), nil
	case "ops":
		return &operatorNamespaces{"operator namespaces"}, nil
	case "__torch__":
		return &qualifiedName{"namespace", im, "__torch__"}, nil
	case "CONSTANTS":
		return &constantTable{"constant table", im.Constants}, nil
	case "inf":
		return &literal{"constant", value.Float(math.Inf(1))}, nil
	case "nan":
		return &literal{"constant", value.Float(math.NaN())}, nil
	case "infj":
		return &literal{"constant", value.Complex(complex(0, math.Inf(1)))}, nil
	case "nanj":
		return &literal{"constant", value.Complex(complex(0, math.NaN()))}, nil
	}
	if s := importedNames[name]; s != nil {
		return s, nil
	}
	return nil, nil
}

// importedNames are the names that printed source uses and programs do not.
var importedNames = map[string]SugaredValue{
	"annotate":       NewSpecialForm(prim.Annotate),
	"unchecked_cast": NewSpecialForm(prim.UncheckedCast),
	"uninitialized":  NewSpecialForm(prim.Uninitialized),
	"fork":           NewSpecialForm(prim.Fork),
	"awaitable":      NewSpecialForm(prim.Awaitable),
}

// literal is a constant that becomes a node where it is used.
type literal struct {
	NotFirstClass
	v value.Value
}

func (l *literal) AsValue(e *Emitter, at source.Range) *ir.Value { return e.g.Constant(l.v, at) }

// operatorNamespaces is ops: ops.prim.min, ops.quantized.linear.
type operatorNamespaces struct{ NotFirstClass }

func (o *operatorNamespaces) Attr(_ *Emitter, _ source.Range, name string) SugaredValue {
	return NewNamespace(name)
}

// qualifiedName is a part of a qualified name: a namespace until a definition is reached.
type qualifiedName struct {
	NotFirstClass
	im   *Importer
	name string
}

func (q *qualifiedName) Attr(_ *Emitter, _ source.Range, name string) SugaredValue {
	full := q.name + "." + name
	switch t := q.im.findType(full).(type) {
	case *types.Class:
		return NewClassValue(t)
	case *types.Tuple:
		return NewNamedTuple(t)
	case *types.Enum:
		return NewEnumClass(t)
	}
	if f := q.im.findFunction(full); f != nil {
		return NewFunctionValue(f)
	}
	return &qualifiedName{"namespace", q.im, full}
}

// constantTable is CONSTANTS.
type constantTable struct {
	NotFirstClass
	values []value.Value
}

func (c *constantTable) Attr(e *Emitter, at source.Range, name string) SugaredValue {
	i, err := strconv.Atoi(strings.TrimPrefix(name, "c"))
	if err != nil || !strings.HasPrefix(name, "c") || i < 0 || i >= len(c.values) {
		fail(at, "There is no constant %s: the archive has %d", name, len(c.values))
	}
	v := e.g.Constant(c.values[i], at)
	return simple{v.SetType(types.Unshaped(v.Type()))} // programs know no shapes
}

// Annotation reads the text of an annotation: "List[Tuple[int, float]]".
func (im *Importer) Annotation(text string) (t types.Type, err error) {
	defer source.Catch(&err)
	im.defining.Lock()
	defer im.defining.Unlock()
	expr, err := syntax.ParseExpr(source.NewText("", text, 1))
	check(err)
	return im.emitterFor("annotation").typeOf(expr), nil
}

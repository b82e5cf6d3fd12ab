package bind

import (
	"slices"
	"strings"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// program holds what Python code of this process has had compiled: named types and functions.
var program = ir.NewUnit()

// programFunctions compile functions and define types. Python's side of them is described in
// torchjit/jit/_resolve.py and _script.py.
var programFunctions = []function{
	{schema: "set_inline_everything(bool enabled) -> None", run: func(c *call) error { frontend.SetInlineEverything(c.argBool(0)); c.none(); return nil }},
	{schema: "mangle(str name) -> str", run: mangle},
	{schema: "free_name(str name) -> str", run: freeName},
	{schema: "release_type_names() -> None", run: func(c *call) error { program.ReleaseTypeNames(); c.none(); return nil }},
	{schema: "define_named_tuple(str name, list fields, list types, list defaults) -> None", run: defineNamedTuple},
	{schema: "define_enum(str name, list members, list values) -> None", run: defineEnum},
	{schema: "define_interface(str name, bytes tree, object scope, bool is_module) -> None", run: defineInterface},
	{schema: "compile_function(str name, bytes tree, object scope, dict defaults, bytes? signature=None) -> ScriptFunction", run: compileFunction},
	{schema: "ensure_compiled(function f) -> None", run: ensureCompiled},
	{schema: "compile_class(str name, bytes tree, object scope, dict defaults, list statics) -> None", run: compileClass},
	{schema: "ensure_class_compiled(str name) -> None", run: ensureClassCompiled},
	{schema: "future_wait(Handle future) -> any", run: futureWait},
	{schema: "future_done(Handle future) -> bool", run: futureDone},
	{schema: "parse_definition(str text) -> list", run: parseDefinition},
	{schema: "parse_type_comment(str text) -> list", run: parseTypeComment},
	{schema: "compile_source(str text, object scope) -> list", run: compileSource},
}

func mangle(c *call) error {
	c.string(program.Mangle(c.argString(0)))
	return nil
}

// freeName replies a name that no type of the program has: the one given, or one like it.
func freeName(c *call) error {
	c.string(program.FreeTypeName(c.argString(0)))
	return nil
}

func (c *call) argStrings(i int) []string {
	var out []string
	for w := range c.arg(i).items {
		out = append(out, strings.Clone(w.text()))
	}
	return out
}

func (c *call) argTypes(i int) ([]types.Type, error) {
	var out []types.Type
	for w := range c.arg(i).items {
		t, err := parseType(w.text())
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// argValues returns the elements of a list by what they are themselves.
func (c *call) argValues(i int) ([]value.Value, error) {
	v, err := plainSequence(c.arg(i))
	if err != nil {
		return nil, err
	}
	if v.Kind() == value.KindTuple {
		return v.Tuple().Items, nil
	}
	return v.List().Items, nil
}

func defineNamedTuple(c *call) error {
	elems, err := c.argTypes(2)
	if err != nil {
		return err
	}
	defaults, err := c.argValues(3)
	if err != nil {
		return err
	}
	t := types.NewTuple(elems...)
	t.Name, t.Fields = c.argString(0), c.argStrings(1)
	for i, d := range defaults {
		if coerced, ok := value.Coerce(d, elems[len(elems)-len(defaults)+i]); ok {
			d = coerced
		}
		t.Defaults = append(t.Defaults, d)
	}
	program.AddType(t.Name, t)
	c.none()
	return nil
}

func defineEnum(c *call) error {
	values, err := c.argValues(2)
	if err != nil {
		return err
	}
	t := &types.Enum{Name: c.argString(0), Value: value.TypeOf(values[0])}
	for i, name := range c.argStrings(1) {
		t.Members = append(t.Members, types.EnumMember{Name: name, Value: values[i]})
	}
	program.AddType(t.Name, t)
	c.none()
	return nil
}

// isDeclared reports whether a method's body is pass alone, with texts before and behind it.
func isDeclared(body []syntax.Stmt) bool {
	passes := 0
	for _, s := range body {
		switch {
		case s.Kind == syntax.KindPass:
			passes++
		case s.Kind != syntax.KindExprStmt || syntax.AsExprStmt(s).Expr().Kind != syntax.KindStringLiteral:
			return false
		}
	}
	return passes == 1
}

// defineInterface declares what methods an object of the interface has.
func defineInterface(c *call) error {
	tree, err := syntax.Decode([]byte(c.argText(1)))
	if err != nil {
		return err
	}
	t := frontend.NewInterface(c.argString(0), c.argBool(3))
	options := frontend.Options{Resolver: newScope(c.argObject(2)), Unit: program, Self: &frontend.Self{Type: t}}
	program.AddType(t.Name, t)
	for _, stmt := range syntax.AsClassDef(tree).Body() {
		def := syntax.AsDef(stmt)
		if def.Decl().Return() == nil {
			return source.Errorf(source.RuntimeError, def.Range, "interface declarations must have a return type annotated.")
		}
		if !isDeclared(def.Body()) {
			return source.Errorf(source.RuntimeError, def.Range, "interfaces declarations should contain 'pass' statement.")
		}
		s, err := frontend.SchemaOf(def, options)
		if err != nil {
			return err
		}
		frontend.AddInterfaceMethod(t, s)
	}
	c.none()
	return nil
}

// stub is a definition that is ready to be compiled.
type stub struct {
	name     string
	def      syntax.Def
	scope    *scope
	defaults map[string]value.Value
	overload bool // the signature is one of several
}

// newStub reads a definition. signature, if not nil, is the tree whose parameters replace its own.
func newStub(name string, tree []byte, scopeObject *object, defaults *Word, signature *Word) (stub, error) {
	t, err := syntax.Decode(tree)
	if err != nil {
		return stub{}, err
	}
	s := stub{name: name, def: syntax.AsDef(t), scope: newScope(scopeObject), defaults: map[string]value.Value{}}
	if signature != nil && signature.kind() == kindBytes {
		other, err := syntax.Decode([]byte(signature.text()))
		if err != nil {
			return stub{}, err
		}
		s.def, s.overload = s.def.WithDecl(overloadDecl(s.def.Decl(), syntax.AsDef(other).Decl())), true
	}
	s.defaults, err = defaultValues(defaults)
	return s, err
}

// overloadDecl is the declaration of an overload with the parameters of the implementation that it leaves out, which have defaults.
func overloadDecl(own, declared syntax.Decl) syntax.Decl {
	params := declared.Params()
	for _, p := range own.Params() {
		if !slices.ContainsFunc(params, func(q syntax.Param) bool { return q.Ident().Name() == p.Ident().Name() }) {
			params = append(params, p)
		}
	}
	if len(params) == len(declared.Params()) {
		return declared
	}
	return syntax.NewDecl(declared.Range, params, declared.Return())
}

// namesIn returns the variables that a target of an assignment binds.
func namesIn(target syntax.Expr) (names []string) {
	switch target.Kind {
	case syntax.KindVar:
		return []string{syntax.AsVar(target).Name().Name()}
	case syntax.KindTupleLiteral:
		for _, item := range syntax.AsTupleLiteral(target).Inputs() {
			names = append(names, namesIn(item)...)
		}
	case syntax.KindListLiteral:
		for _, item := range syntax.AsListLiteral(target).Inputs() {
			names = append(names, namesIn(item)...)
		}
	}
	return names
}

// defaultValues reads a dict of parameters' defaults; those that programs cannot have are left out.
func defaultValues(w *Word) (map[string]value.Value, error) {
	out := map[string]value.Value{}
	if w == nil || w.kind() != kindDict {
		return out, nil
	}
	x := w.after(1)
	for range w.count() {
		item := x.next()
		if v, err := plainValue(item); err == nil && v.Kind() != value.KindCapsule {
			out[strings.Clone(x.text())] = v
		}
		x = item.next()
	}
	return out, nil
}

// function returns the function of the stub, which is compiled when it is first needed.
func (s stub) function(name string, self *frontend.Self) *ir.Function {
	f := ir.NewLazyFunction(name, nil, func(f *ir.Function) error {
		return frontend.Compile(f, s.def, frontend.Options{Resolver: s.scope, Self: self, Defaults: s.defaults, Overload: s.overload, Unit: program})
	})
	f.IsMethod = self != nil
	return f
}

func compileFunction(c *call) error {
	name := c.argString(0)
	s, err := newStub(name, []byte(c.argText(1)), c.argObject(2), c.arg(3), c.arg(4))
	if err != nil {
		return err
	}
	if program.Function(name) != nil {
		name = program.Mangle(name)
	}
	f := s.function(name, nil)
	program.AddFunction(f)
	c.scriptFunction(&scriptFunction{function: f})
	return nil
}

// ensureCompiled compiles a function now, if that has not been done.
func ensureCompiled(c *call) error {
	f, ok := c.arg(0).callable().(*scriptFunction)
	if !ok {
		return typeErrorf("ensure_compiled expects a compiled function")
	}
	c.none()
	err := f.function.EnsureDefined()
	return err
}

// compileClass defines a class, whose methods are compiled when it is first used.
func compileClass(c *call) error {
	name := c.argString(0)
	tree, err := syntax.Decode([]byte(c.argText(1)))
	if err != nil {
		return err
	}
	defaults, err := methodDefaults(c.arg(3))
	if err != nil {
		return err
	}
	class := types.NewClass(name, false)
	def := syntax.AsClassDef(tree)
	resolver := newScope(c.argObject(2))
	program.AddType(name, class)
	self := &frontend.Self{Type: class}
	add := func(def syntax.Def) *ir.Function {
		short := def.Name().Name()
		f := stub{name: short, def: def, scope: resolver, defaults: defaults[short]}.function(name+"."+short, self)
		class.AddMethod(short, f)
		program.AddFunction(f)
		class.Uncompiled = append(class.Uncompiled, f)
		return f
	}
	for _, stmt := range def.Body() {
		add(syntax.AsDef(stmt))
	}
	for _, a := range def.Assigns() {
		for _, target := range a.LHSList() {
			class.Unsupported = append(class.Unsupported, namesIn(target)...)
		}
	}
	for _, p := range def.Properties() {
		property := types.Property{Name: p.Name().Name(), Getter: add(p.Getter())}
		if setter, ok := p.Setter(); ok {
			property.Setter = add(setter)
		}
		class.Properties = append(class.Properties, property)
	}
	for w := range c.arg(4).items {
		f, ok := w.fields()[1].callable().(*scriptFunction)
		if !ok {
			return typeErrorf("compile_class expects compiled functions as static methods")
		}
		class.AddStaticMethod(strings.Clone(w.fields()[0].text()), f.function)
	}
	c.none()
	return nil
}

// ensureClassCompiled compiles the methods of a class now, if that has not been done.
func ensureClassCompiled(c *call) error {
	class, ok := program.Type(c.argString(0)).(*types.Class)
	if !ok {
		return typeErrorf("'%s' is no class of the program", c.argText(0))
	}
	c.none()
	_, err := frontend.CompileMethods(class)
	return err
}

func methodDefaults(w *Word) (map[string]map[string]value.Value, error) {
	out := map[string]map[string]value.Value{}
	x := w.after(1)
	for range w.count() {
		item := x.next()
		d, err := defaultValues(item)
		if err != nil {
			return nil, err
		}
		out[strings.Clone(x.text())] = d
		x = item.next()
	}
	return out, nil
}

// compileSource compiles the functions of a program's text and replies them.
func compileSource(c *call) error {
	defs, err := syntax.ParseProgram(source.NewIndentedText("<string>", c.argString(0)))
	if err != nil {
		return err
	}
	resolver := newScope(c.argObject(1))
	local := unitScope{resolver, map[string]*ir.Function{}}
	finisher := frontend.NewBackgroundFinisher()
	var compiled []*ir.Function
	for _, def := range defs {
		f := ir.NewLazyFunction(def.Name().Name(), nil, func(f *ir.Function) error {
			return frontend.Compile(f, def, frontend.Options{Resolver: local, Unit: program, FromText: true, Finisher: finisher})
		})
		local.functions[f.Name] = f
		compiled = append(compiled, f)
	}
	if err := finisher.Define(compiled); err != nil {
		return err
	}
	c.open(kindList, len(compiled))
	for _, f := range compiled {
		c.scriptFunction(&scriptFunction{function: f})
	}
	return nil
}

// unitScope finds the functions of one text before it asks Python.
type unitScope struct {
	*scope
	functions map[string]*ir.Function
}

// ResolveValue implements frontend.Resolver.
func (s unitScope) ResolveValue(name string, at source.Range) (frontend.SugaredValue, error) {
	if f := s.functions[name]; f != nil {
		return frontend.NewFunctionValue(f), nil
	}
	return s.scope.ResolveValue(name, at)
}

func (c *call) argFuture(i int) (*value.Future, error) {
	f, ok := c.arg(i).content().(*value.Future)
	if !ok {
		return nil, typeErrorf("expected a future")
	}
	return f, nil
}

// futureWait replies the result of a future once it is there; signals interrupt the waiting.
func futureWait(c *call) error {
	f, err := c.argFuture(0)
	if err != nil {
		return err
	}
	var result value.Value
	err = c.withoutGIL(func() error {
		var s signals
		for {
			select {
			case <-f.Done():
				result, err = f.Wait()
				return err
			case <-time.After(signalInterval):
				if err := s.poll(); err != nil {
					return err
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if r := c.thread.recorder; r != nil {
		if err := r.Wait(f, result); err != nil {
			return err
		}
	}
	return c.keptValue(result) // the future holds it
}

func futureDone(c *call) error {
	f, err := c.argFuture(0)
	if err != nil {
		return err
	}
	select {
	case <-f.Done():
		c.bool(true)
	default:
		c.bool(false)
	}
	return nil
}

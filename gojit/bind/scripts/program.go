package scripts

import (
	"slices"
	"strings"
	"time"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// programFunctions compile functions and define types. Python's side of them is described in
// torchjit/jit/_resolve.py and _script.py.
var programFunctions = []abi.Function{
	{Schema: "set_inline_everything(bool enabled) -> None", Run: func(c *abi.Call) error { frontend.SetInlineEverything(c.ArgBool(0)); c.None(); return nil }},
	{Schema: "mangle(str name) -> str", Run: mangle},
	{Schema: "free_name(str name) -> str", Run: freeName},
	{Schema: "release_type_names() -> None", Run: func(c *abi.Call) error { abi.Program.ReleaseTypeNames(); c.None(); return nil }},
	{Schema: "define_named_tuple(str name, list fields, list types, list defaults) -> None", Run: defineNamedTuple},
	{Schema: "define_enum(str name, list members, list values) -> None", Run: defineEnum},
	{Schema: "define_interface(str name, bytes tree, object scope, bool is_module) -> None", Run: defineInterface},
	{Schema: "compile_function(str name, bytes tree, object scope, dict defaults, bytes? signature=None) -> ScriptFunction", Run: compileFunction},
	{Schema: "ensure_compiled(function f) -> None", Run: ensureCompiled},
	{Schema: "compile_class(str name, bytes tree, object scope, dict defaults, list statics) -> None", Run: compileClass},
	{Schema: "ensure_class_compiled(str name) -> None", Run: ensureClassCompiled},
	{Schema: "future_wait(Handle future) -> any", Run: futureWait},
	{Schema: "future_done(Handle future) -> bool", Run: futureDone},
	{Schema: "parse_definition(str text) -> list", Run: parseDefinition},
	{Schema: "parse_type_comment(str text) -> list", Run: parseTypeComment},
	{Schema: "compile_source(str text, object scope) -> list", Run: compileSource},
}

func mangle(c *abi.Call) error {
	c.String(abi.Program.Mangle(c.ArgString(0)))
	return nil
}

// freeName replies a name that no type of the program has: the one given, or one like it.
func freeName(c *abi.Call) error {
	c.String(abi.Program.FreeTypeName(c.ArgString(0)))
	return nil
}

func argTypes(c *abi.Call, i int) ([]types.Type, error) {
	var out []types.Type
	for w := range c.Arg(i).Items {
		t, err := abi.ParseType(w.Text())
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

func defineNamedTuple(c *abi.Call) error {
	elems, err := argTypes(c, 2)
	if err != nil {
		return err
	}
	defaults, err := c.ArgValues(3)
	if err != nil {
		return err
	}
	t := types.NewTuple(elems...)
	t.Name, t.Fields = c.ArgString(0), c.ArgStrings(1)
	for i, d := range defaults {
		if coerced, ok := value.Coerce(d, elems[len(elems)-len(defaults)+i]); ok {
			d = coerced
		}
		t.Defaults = append(t.Defaults, d)
	}
	abi.Program.AddType(t.Name, t)
	c.None()
	return nil
}

func defineEnum(c *abi.Call) error {
	values, err := c.ArgValues(2)
	if err != nil {
		return err
	}
	t := &types.Enum{Name: c.ArgString(0), Value: value.TypeOf(values[0])}
	for i, name := range c.ArgStrings(1) {
		t.Members = append(t.Members, types.EnumMember{Name: name, Value: values[i]})
	}
	abi.Program.AddType(t.Name, t)
	c.None()
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
func defineInterface(c *abi.Call) error {
	tree, err := syntax.Decode([]byte(c.ArgText(1)))
	if err != nil {
		return err
	}
	t := frontend.NewInterface(c.ArgString(0), c.ArgBool(3))
	options := frontend.Options{Resolver: NewScope(c.ArgObject(2)), Unit: abi.Program, Self: &frontend.Self{Type: t}}
	abi.Program.AddType(t.Name, t)
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
	c.None()
	return nil
}

// Stub is a definition that is ready to be compiled.
type Stub struct {
	Name     string
	Def      syntax.Def
	Scope    *scope
	defaults map[string]value.Value
	overload bool // the signature is one of several
}

// NewStub reads a definition. signature, if not nil, is the tree whose parameters replace its own.
func NewStub(name string, tree []byte, scopeObject *abi.Object, defaults *abi.Word, signature *abi.Word) (Stub, error) {
	t, err := syntax.Decode(tree)
	if err != nil {
		return Stub{}, err
	}
	s := Stub{Name: name, Def: syntax.AsDef(t), Scope: NewScope(scopeObject), defaults: map[string]value.Value{}}
	if signature != nil && signature.Kind() == abi.KindBytes {
		other, err := syntax.Decode([]byte(signature.Text()))
		if err != nil {
			return Stub{}, err
		}
		s.Def, s.overload = s.Def.WithDecl(overloadDecl(s.Def.Decl(), syntax.AsDef(other).Decl())), true
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
func defaultValues(w *abi.Word) (map[string]value.Value, error) {
	out := map[string]value.Value{}
	if w == nil || w.Kind() != abi.KindDict {
		return out, nil
	}
	x := w.After(1)
	for range w.Count() {
		item := x.Next()
		if v, err := abi.PlainValue(item); err == nil && v.Kind() != value.KindCapsule {
			out[strings.Clone(x.Text())] = v
		}
		x = item.Next()
	}
	return out, nil
}

// Function returns the function of the stub, which is compiled when it is first needed.
func (s Stub) Function(name string, self *frontend.Self) *ir.Function {
	f := ir.NewLazyFunction(name, nil, func(f *ir.Function) error {
		return frontend.Compile(f, s.Def, frontend.Options{Resolver: s.Scope, Self: self, Defaults: s.defaults, Overload: s.overload, Unit: abi.Program})
	})
	f.IsMethod = self != nil
	return f
}

func compileFunction(c *abi.Call) error {
	name := c.ArgString(0)
	s, err := NewStub(name, []byte(c.ArgText(1)), c.ArgObject(2), c.Arg(3), c.Arg(4))
	if err != nil {
		return err
	}
	if abi.Program.Function(name) != nil {
		name = abi.Program.Mangle(name)
	}
	f := s.Function(name, nil)
	abi.Program.AddFunction(f)
	c.ScriptFunction(&Function{Function: f})
	return nil
}

// ensureCompiled compiles a function now, if that has not been done.
func ensureCompiled(c *abi.Call) error {
	f, ok := c.Arg(0).Callable().(*Function)
	if !ok {
		return abi.TypeErrorf("ensure_compiled expects a compiled function")
	}
	c.None()
	err := f.Function.EnsureDefined()
	return err
}

// compileClass defines a class, whose methods are compiled when it is first used.
func compileClass(c *abi.Call) error {
	name := c.ArgString(0)
	tree, err := syntax.Decode([]byte(c.ArgText(1)))
	if err != nil {
		return err
	}
	defaults, err := methodDefaults(c.Arg(3))
	if err != nil {
		return err
	}
	class := types.NewClass(name, false)
	def := syntax.AsClassDef(tree)
	resolver := NewScope(c.ArgObject(2))
	abi.Program.AddType(name, class)
	self := &frontend.Self{Type: class}
	add := func(def syntax.Def) *ir.Function {
		short := def.Name().Name()
		f := Stub{Name: short, Def: def, Scope: resolver, defaults: defaults[short]}.Function(name+"."+short, self)
		class.AddMethod(short, f)
		abi.Program.AddFunction(f)
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
	for w := range c.Arg(4).Items {
		f, ok := w.Fields()[1].Callable().(*Function)
		if !ok {
			return abi.TypeErrorf("compile_class expects compiled functions as static methods")
		}
		class.AddStaticMethod(strings.Clone(w.Fields()[0].Text()), f.Function)
	}
	c.None()
	return nil
}

// ensureClassCompiled compiles the methods of a class now, if that has not been done.
func ensureClassCompiled(c *abi.Call) error {
	class, ok := abi.Program.Type(c.ArgString(0)).(*types.Class)
	if !ok {
		return abi.TypeErrorf("'%s' is no class of the program", c.ArgText(0))
	}
	c.None()
	_, err := frontend.CompileMethods(class)
	return err
}

func methodDefaults(w *abi.Word) (map[string]map[string]value.Value, error) {
	out := map[string]map[string]value.Value{}
	x := w.After(1)
	for range w.Count() {
		item := x.Next()
		d, err := defaultValues(item)
		if err != nil {
			return nil, err
		}
		out[strings.Clone(x.Text())] = d
		x = item.Next()
	}
	return out, nil
}

// compileSource compiles the functions of a program's text and replies them.
func compileSource(c *abi.Call) error {
	defs, err := syntax.ParseProgram(source.NewIndentedText("<string>", c.ArgString(0)))
	if err != nil {
		return err
	}
	resolver := NewScope(c.ArgObject(1))
	local := unitScope{resolver, map[string]*ir.Function{}}
	finisher := frontend.NewBackgroundFinisher()
	var compiled []*ir.Function
	for _, def := range defs {
		f := ir.NewLazyFunction(def.Name().Name(), nil, func(f *ir.Function) error {
			return frontend.Compile(f, def, frontend.Options{Resolver: local, Unit: abi.Program, FromText: true, Finisher: finisher})
		})
		local.functions[f.Name] = f
		compiled = append(compiled, f)
	}
	if err := finisher.Define(compiled); err != nil {
		return err
	}
	c.Open(abi.KindList, len(compiled))
	for _, f := range compiled {
		c.ScriptFunction(&Function{Function: f})
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

func argFuture(c *abi.Call, i int) (*value.Future, error) {
	f, ok := c.Arg(i).Content().(*value.Future)
	if !ok {
		return nil, abi.TypeErrorf("expected a future")
	}
	return f, nil
}

// futureWait replies the result of a future once it is there; signals interrupt the waiting.
func futureWait(c *abi.Call) error {
	f, err := argFuture(c, 0)
	if err != nil {
		return err
	}
	var result value.Value
	err = c.WithoutGIL(func() error {
		if f.Lazy {
			result, err = f.Wait()
			return err
		}
		var s abi.Signals
		for {
			select {
			case <-f.Done():
				result, err = f.Wait()
				return err
			case <-time.After(abi.SignalInterval):
				if err := s.Poll(); err != nil {
					return err
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if r := c.Thread.Recorder; r != nil {
		if err := r.Wait(f, result); err != nil {
			return err
		}
	}
	return c.KeptValue(result) // the future holds it
}

func futureDone(c *abi.Call) error {
	f, err := argFuture(c, 0)
	if err != nil {
		return err
	}
	select {
	case <-f.Done():
		c.Bool(true)
	default:
		c.Bool(false)
	}
	return nil
}

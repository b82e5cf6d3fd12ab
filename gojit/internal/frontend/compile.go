// Package frontend compiles Trees to graphs.
//
// The steps, in order: Compile emits the body of a function as nodes in which variables are
// prim::Load and prim::Store and jumps are prim::BreakStmt, prim::ContinueStmt and
// prim::ReturnStmt (stmt.go, expr.go, call.go, index.go, loop.go, cond.go); convertToSSA gives
// control flow explicit inputs and outputs and removes the rest (ssa.go, exits.go); canonicalize
// rewrites loops that have both a trip count and a condition (loops.go); cleanUp runs the passes
// that leave the graph in its final form.
//
// A SugaredValue is what an expression stands for while it is being emitted: often a Value of the
// graph, but also a module, a function, a type or a namespace. A Resolver gives meaning to names
// that the program does not define; an Environment maps names to sugared values. Errors are
// *source.Error; inside the package they travel as panics and are caught in Compile.
package frontend

import (
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/frontend/ssa"
	"github.com/torchjit/torchjit/gojit/internal/frontend/upgrade"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Resolver gives meaning to names that a function does not define itself.
type Resolver interface {
	// ResolveValue returns what name stands for, nil where it does not know the name.
	ResolveValue(name string, at source.Range) (SugaredValue, error)
	// ResolveType returns the type that name stands for, nil where it does not know the name.
	ResolveType(name string, at source.Range) (types.Type, error)
}

// Self is the first parameter of a method.
type Self struct {
	Type types.Type
	// Sugar returns what the parameter stands for; nil: a plain value.
	Sugar func(self *ir.Value) SugaredValue
}

// Options of a compilation.
type Options struct {
	Resolver Resolver
	Self     *Self // nil for a function
	// Defaults are the values of parameters with defaults, evaluated where the function was
	// defined; nil: only constants in the text are taken.
	Defaults map[string]value.Value
	// Overload says that the signature is one of several of a definition: a default that does not fit it is for another.
	Overload bool
	Unit     *ir.Unit

	// FromText says that the definition was read from text by this compiler's parser, for which -1
	// is one constant where the Python door gives a minus and a constant.
	FromText bool
	// FromFile says that the text is a file of Python, where a default is what Python makes of it, and need not have the very type of its parameter.
	FromFile bool
	// Version is that of the archive that the definition is from; 0 where it is from none.
	Version int

	// Finisher, where it is set, gives the function its graph later.
	Finisher *BackgroundFinisher

	// operatorsOnly says that the function is itself an overload of an operator: its body calls
	// the operators that are not written in the language.
	operatorsOnly bool
}

// Compile compiles a definition and sets the graph and schema of f.
func Compile(f *ir.Function, def syntax.Def, o Options) error {
	e, err := emit(f, def, o)
	if err != nil {
		return err
	}
	if o.Finisher != nil {
		o.Finisher.add(e.finish)
		return nil
	}
	return e.finish()
}

// emit makes the nodes of the body and the schema: what needs other definitions and finds the errors of the
// program.
func emit(f *ir.Function, def syntax.Def, o Options) (e *Emitter, err error) {
	defer source.Catch(&err)
	e = newEmitter(f, o)
	s := e.emitDef(def)
	s.Name = def.Name().Name()
	f.SetDefinition(s, nil)
	return e, nil
}

// finish gives the function its graph. It works on that alone.
func (e *Emitter) finish() (err error) {
	defer source.Catch(&err)
	ssa.Convert(e.g)
	ssa.EraseDiscarded(e.g.Block())
	ssa.CanonicalizeLoops(e.g)
	upgrade.Graph(e.g, e.o.Version)
	passes.NormalizeOps(e.g)
	cleanUp(e.g)
	if e.o.Finisher != nil {
		e.o.Finisher.recycle(e.g.Recycle())
	}
	e.f.SetGraph(e.g)
	return nil
}

// SchemaOf returns the schema that a definition declares, without compiling its body. The return
// type is nil where it is not annotated.
func SchemaOf(def syntax.Def, o Options) (s *schema.FunctionSchema, err error) {
	defer source.Catch(&err)
	e := newEmitter(ir.NewLazyFunction(def.Name().Name(), nil, nil), o)
	return e.declaredSchema(def), nil
}

var inlineEverything atomic.Bool

// SetInlineEverything has functions that are compiled from now on hold the bodies of what they call, or calls.
func SetInlineEverything(on bool) { inlineEverything.Store(on) }

// InlinesEverything reports what SetInlineEverything has set.
func InlinesEverything() bool { return inlineEverything.Load() }

// cleanUp runs the passes after which successive runs change nothing.
func cleanUp(g *ir.Graph) {
	passes.LiftForks(g)
	passes.LiftClosures(g)
	if inlineEverything.Load() {
		passes.Inline(g)
	}
	ssa.EraseListLiterals(g.Block())
	passes.LowerSimpleTuples(g)
	passes.ConstantPropagationImmutableTypes(g)
	passes.ConstantPooling(g)
	passes.CanonicalizeOutputs(g)
	passes.AnnotateWarnings(g)
}

// fail ends the compilation with an error at a range.
func fail(at source.Range, format string, args ...any) {
	panic(source.Errorf(source.RuntimeError, at, format, args...))
}

// check ends the compilation with err if there is one.
func check(err error) { source.Throw(err) }

// Emitter compiles one function.
type Emitter struct {
	f        *ir.Function
	g        *ir.Graph
	resolver Resolver
	o        Options
	env      *environment
	exits    map[*ir.Block]bool // blocks that always leave by a jump or an exception
	jumps    map[*ir.Block]bool // those of them that may end by break or continue

	declaredReturn types.Type // nil where not annotated
	mergedReturn   types.Type
	loop           loopStatus
	comprehensions int          // how many comprehensions the expression being emitted lies in
	probes         int          // how many probes the expression being emitted lies in
	probed         int          // how many probes there have been
	pending        source.Range // what is being emitted: where a callee's error says it was called
	temporaries    int
	ints           map[int64]*ir.Value
	schemas        []*schema.FunctionSchema // of the overloads that are being tried
	floats         map[float64]*ir.Value
	complexes      map[complex128]*ir.Value
}

// Graph returns the graph that is made; nodes go to its insert point.
func (e *Emitter) Graph() *ir.Graph { return e.g }

// Fail ends the compilation with an error at a range.
func (*Emitter) Fail(at source.Range, format string, args ...any) { fail(at, format, args...) }

type loopStatus uint8

const (
	notInLoop loopStatus = iota
	inLoop
	inUnrolledLoop
)

func newEmitter(f *ir.Function, o Options) *Emitter {
	if o.Resolver == nil {
		o.Resolver = noResolver{}
	}
	g := ir.NewGraphFrom(o.Finisher.spare())
	return &Emitter{f: f, g: g, resolver: o.Resolver, o: o, exits: map[*ir.Block]bool{}, jumps: map[*ir.Block]bool{},
		ints: map[int64]*ir.Value{}, floats: map[float64]*ir.Value{}, complexes: map[complex128]*ir.Value{}}
}

type noResolver struct{}

func (noResolver) ResolveValue(string, source.Range) (SugaredValue, error) { return nil, nil }
func (noResolver) ResolveType(string, source.Range) (types.Type, error)    { return nil, nil }

func (e *Emitter) emitDef(def syntax.Def) *schema.FunctionSchema {
	e.pending = def.Range
	e.pushFrame(e.g.Block())
	if e.o.Self != nil && len(def.Decl().Params()) == 0 {
		fail(def.Decl().Range, "methods must have a self argument")
	}
	declared := e.declaredSchema(def)
	e.declaredReturn = declared.Returns[0].Type
	s := &schema.FunctionSchema{Name: declared.Name}
	s.Arguments = e.emitParameters(def, declared)
	e.emitBody(def, e.g.Block())
	s.Returns = []schema.Argument{{Type: e.mergedReturn, RealType: e.mergedReturn, ListSize: -1}}
	return s
}

// emitBody emits the statements of a definition into a block, whose result they give.
func (e *Emitter) emitBody(def syntax.Def, b *ir.Block) {
	e.emitStatements(def.Body())
	e.finishReturn(def, b)
	b.AddOutput(e.g.InsertNode(e.g.CreateUninitialized(e.mergedReturn)).Output())
}

func (e *Emitter) emitParameters(def syntax.Def, declared *schema.FunctionSchema) []schema.Argument {
	var arguments []schema.Argument
	params := def.Decl().Params()
	if e.o.Self != nil {
		name := params[0].Ident().Name()
		in := e.g.AddInput(name).SetType(e.o.Self.Type)
		var sugared SugaredValue = simple{in}
		if e.o.Self.Sugar != nil {
			sugared = e.o.Self.Sugar(in)
		}
		e.env.setSugared(params[0].Ident().Range, name, sugared, nil)
		arguments = append(arguments, schema.Argument{Name: name, Type: in.Type(), RealType: in.Type(), ListSize: -1})
		params = params[1:]
	}
	for i, p := range params {
		a := declared.Arguments[i]
		in := e.g.AddInput("")
		if ssa.MeaningfulName(a.Name) {
			in.SetName(a.Name)
		}
		in.SetType(a.Type)
		e.env.set(p.Ident().Range, a.Name, in)
		arguments = append(arguments, a)
	}
	return arguments
}

// declaredSchema reads the parameters and the return of a definition, without self.
func (e *Emitter) declaredSchema(def syntax.Def) *schema.FunctionSchema {
	s := &schema.FunctionSchema{Name: def.Name().Name()}
	params := def.Decl().Params()
	if e.o.Self != nil {
		params = params[1:]
	}
	state := e.stateType(def)
	var written defaultTypes
	for _, p := range params {
		a := schema.Argument{Name: p.Ident().Name(), Type: types.InferredTensor, ListSize: -1, KwargOnly: p.KwargOnly()}
		if p.Type() == nil && state != nil {
			a.Type = state
		} else if p.Type() != nil {
			a.Type, a.ListSize = e.parameterType(p.Type())
		}
		a.RealType = a.Type
		if v, ok := e.o.Defaults[a.Name]; ok {
			checkImmutable(def, a, v)
			if a.Default, a.HasDefault = coerceDefault(a.Type, a.ListSize, v); !a.HasDefault && !e.o.Overload {
				failDefault(def, a)
			}
		} else if d := p.Default(); d != nil && e.o.Defaults == nil {
			v, t := e.typedConstantOf(d, defaultHint(d, a.Type))
			if e.o.FromFile {
				checkImmutable(def, a, v)
			}
			if a.Default, a.HasDefault = coerceDefault(a.Type, a.ListSize, v); !e.o.FromFile {
				written.add(a, t)
			} else if !a.HasDefault {
				failDefault(def, a)
			}
		}
		s.Arguments = append(s.Arguments, a)
	}
	written.check(def)
	ret := schema.Argument{ListSize: -1}
	if r := def.Decl().Return(); r != nil {
		ret.Type = e.typeOf(r)
		ret.RealType = ret.Type
	}
	s.Returns = []schema.Argument{ret}
	return s
}

// checkImmutable fails for a default that Python would make once and give to each call.
func checkImmutable(def syntax.Def, a schema.Argument, v value.Value) {
	if isMutable(v) {
		fail(def.Range, "Mutable default parameters are not supported because Python binds them to the function and they persist across "+
			"function calls.\n As a workaround, make the default None and instantiate the default parameter within the body of the "+
			"function. Found <class '%s'> on parameter %s", v.Kind(), a.Name)
	}
}

// stateType returns what the class's __getstate__ returns where the definition is of its __setstate__, nil otherwise.
func (e *Emitter) stateType(def syntax.Def) types.Type {
	if e.o.Self == nil || def.Name().Name() != "__setstate__" || len(def.Decl().Params()) != 2 {
		return nil
	}
	class, ok := e.o.Self.Type.(*types.Class)
	if !ok {
		return nil
	}
	get, ok := class.FindMethod("__getstate__").(*ir.Function)
	if !ok {
		return nil
	}
	e.compileNow(get)
	if s := get.Schema; s != nil && len(s.Returns) == 1 {
		return s.Returns[0].Type
	}
	return nil
}

// coerceDefault makes the value of a default one of the parameter's type; ok is false where it cannot be. For a list of size
// elements it is one element, which stands for all.
func coerceDefault(t types.Type, size int, v value.Value) (c value.Value, ok bool) {
	if list, isList := t.(*types.List); isList && size > 0 {
		t = list.Elem
	}
	if v.IsNone() && t.Kind() == types.KindTensor {
		return v, true // no tensor
	}
	return value.Coerce(castDefault(v, t), t)
}

// castDefault makes a number of Python one of another type as Python's int, float, complex and bool do where that is a default.
func castDefault(v value.Value, t types.Type) value.Value {
	switch x := t.(type) {
	case *types.Optional:
		if v.IsNone() {
			return v
		}
		return castDefault(v, x.Elem)
	case *types.List:
		return castItems(v, func(int) types.Type { return x.Elem })
	case *types.Tuple:
		return castItems(v, func(i int) types.Type { return x.Elems[min(i, len(x.Elems)-1)] })
	}
	switch t.Kind() {
	case types.KindInt, types.KindFloat, types.KindComplex:
		switch {
		case v.IsBool() && v.Bool():
			return value.Int(1)
		case v.IsBool():
			return value.Int(0)
		}
	case types.KindBool:
		switch v.Kind() {
		case value.KindInt:
			return value.Bool(v.Int() != 0)
		case value.KindFloat:
			return value.Bool(v.Float() != 0)
		case value.KindComplex:
			return value.Bool(v.Complex() != 0)
		case value.KindNone:
			return value.Bool(false)
		}
	}
	return v
}

// castItems casts the items of a tuple.
func castItems(v value.Value, typeAt func(int) types.Type) value.Value {
	if v.Kind() != value.KindTuple || len(v.Tuple().Items) == 0 {
		return v
	}
	items := make([]value.Value, len(v.Tuple().Items))
	elems := make([]types.Type, len(items))
	for i, item := range v.Tuple().Items {
		items[i] = castDefault(item, typeAt(i))
		elems[i] = value.TypeOf(items[i])
	}
	return value.OfTuple(&value.Tuple{Type: &types.Tuple{Elems: elems}, Items: items})
}

// defaultTypes are the types of parameters whose defaults a text gives, and of these defaults: what a function returns would have to have.
type defaultTypes struct {
	wanted, found []types.Type
	differ        bool
}

func (d *defaultTypes) add(a schema.Argument, found types.Type) {
	d.wanted, d.found = append(d.wanted, a.Type), append(d.found, found)
	d.differ = d.differ || !a.HasDefault || a.ListSize <= 0 && !types.IsSubtype(found, a.Type) && !isListOf(found, a.Type)
}

// isListOf reports whether a tuple stands for a list: all its items have the type of its elements.
func isListOf(tuple, list types.Type) bool {
	t, isTuple := tuple.(*types.Tuple)
	l, isList := list.(*types.List)
	return isTuple && isList && !slices.ContainsFunc(t.Elems, func(e types.Type) bool { return !types.Equal(e, l.Elem) })
}

// check fails where a default does not have the type of its parameter, in the function that PyTorch makes of the defaults.
func (d *defaultTypes) check(def syntax.Def) {
	if !d.differ {
		return
	}
	err := source.Errorf(source.RuntimeError, def.Decl().Range, "Return value was annotated as having type %s but is actually of type %s",
		types.Repr(&types.Tuple{Elems: d.wanted}), types.Repr(&types.Tuple{Elems: d.found}))
	err.Stack = []source.Frame{{Function: "defaults", Caller: def.Name().Name(), Range: def.Range}}
	source.Throw(err)
}

// defaultHint is the type that the expression of a default is compiled for: an empty list or dictionary has that of its parameter.
func defaultHint(expr syntax.Expr, t types.Type) types.Type {
	switch t.(type) {
	case *types.List:
		if expr.Kind == syntax.KindListLiteral && len(syntax.AsListLiteral(expr).Inputs()) == 0 {
			return t
		}
	case *types.Dict:
		if expr.Kind == syntax.KindDictLiteral && len(syntax.AsDictLiteral(expr).Keys()) == 0 {
			return t
		}
	}
	return nil
}

// failDefault says that the default of a parameter does not have its type.
func failDefault(def syntax.Def, a schema.Argument) {
	t, inferred := a.Type, ""
	if list, isList := t.(*types.List); isList && a.ListSize > 0 {
		t = list.Elem
	}
	if x, isTensor := t.(*types.TensorInfo); isTensor && x.Inferred {
		inferred = fmt.Sprintf("Because \"%s\" was not annotated with an explicit type it is assumed to be type 'Tensor'.", a.Name)
	}
	fail(def.Range, "Expected a default value of type %s on parameter \"%s\".%s", types.Repr(t), a.Name, inferred)
}

// isMutable reports whether a value is, or is a tuple that holds, a list or a dictionary.
func isMutable(v value.Value) bool {
	if v.Kind() == value.KindTuple {
		return slices.ContainsFunc(v.Tuple().Items, isMutable)
	}
	return v.Kind() == value.KindList || v.Kind() == value.KindDict
}

// constantOf evaluates an expression that is a constant.
func (e *Emitter) constantOf(expr syntax.Expr, hint types.Type) value.Value {
	v, _ := e.typedConstantOf(expr, hint)
	return v
}

// typedConstantOf evaluates an expression that is a constant by compiling it on its own, and tells the type that it was compiled with.
func (e *Emitter) typedConstantOf(expr syntax.Expr, hint types.Type) (value.Value, types.Type) {
	inner := newEmitter(ir.NewLazyFunction("default", nil, nil), Options{Resolver: e.resolver, Unit: e.o.Unit})
	inner.pushFrame(inner.g.Block())
	v := inner.emitExpr(expr, hint)
	inner.g.AddOutput(v)
	c, ok := passes.EvaluateConstant(v)
	if !ok {
		fail(expr.Range, "Default values must be constants")
	}
	return c, v.Type()
}

// finishReturn adds the return of None where the end of the body can be reached.
func (e *Emitter) finishReturn(def syntax.Def, b *ir.Block) {
	if e.exits[b] {
		if e.mergedReturn == nil {
			e.mergedReturn = types.None
			if e.declaredReturn != nil {
				e.mergedReturn = e.declaredReturn
			}
		}
		return
	}
	if e.declaredReturn != nil && e.declaredReturn.Kind() != types.KindNone {
		fail(def.Range, "Function was not annotated as having type None, but does not return along all paths")
	}
	e.emitReturn(syntax.NewReturn(def.Range, syntax.NewSimple(syntax.KindNone, def.Range)))
}

// temporary returns the name of a variable that the program cannot name.
func (e *Emitter) temporary(prefix string) string {
	e.temporaries++
	return prefix + string(rune('0'+e.temporaries%10)) + "_" + itoa(e.temporaries)
}

// TypeOf returns the type that an annotation stands for.
func TypeOf(expr syntax.Expr, o Options) (t types.Type, err error) {
	defer source.Catch(&err)
	return newEmitter(ir.NewLazyFunction("annotation", nil, nil), o).typeOf(expr), nil
}

// ConstantOf returns the value of an expression of constants, of a type unless that is nil.
func ConstantOf(expr syntax.Expr, t types.Type, o Options) (v value.Value, err error) {
	defer source.Catch(&err)
	v = newEmitter(ir.NewLazyFunction("constant", nil, nil), o).constantOf(expr, t)
	if t == nil {
		return v, nil
	}
	c, ok := value.Coerce(v, t)
	if !ok {
		fail(expr.Range, "Expected a value of type %s, found one of type %s", types.Repr(t), types.Repr(value.TypeOf(v)))
	}
	return c, nil
}

// DottedName returns "a.b.c" of a chain of selections, "" for anything else.
func DottedName(expr syntax.Expr) string { return dottedName(expr) }

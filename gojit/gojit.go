package gojit

import (
	"context"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/archive"
	"github.com/torchjit/torchjit/gojit/internal/autodiff"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/export"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops/prim"
	"github.com/torchjit/torchjit/gojit/internal/pyfile"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// LinkOperators puts the operators into the registry. Everything here does it on first use.
var LinkOperators = sync.OnceFunc(func() {
	if err := ops.Register(append(prim.Families(), aten.Operators(), autograd.Operators, export.Operators)...); err != nil {
		panic(err)
	}
	composite.Link()
})

// Engine loads, compiles and runs programs. Engines share nothing but the operators.
type Engine struct{ exec *exec.Engine }

// Options are what an engine is made with.
type Options = exec.Options

// New returns an engine.
func New(o Options) *Engine {
	if o.Differentiate == nil {
		o.Differentiate = autodiff.ForEngine
	}
	return &Engine{exec.New(o)}
}

// standard is the engine of the functions of this package that have none. With GOJIT_CHECK=forks in the environment it checks forks, and
// GOJIT_DUMP names functions whose graphs it prints on their way to code.
var standard = New(FromEnvironment())

// FromEnvironment returns the options that the environment asks for.
func FromEnvironment() Options {
	checks := strings.Split(os.Getenv("GOJIT_CHECK"), ",")
	return Options{CheckForks: slices.Contains(checks, "forks"), Watch: exec.DumpTo(os.Stderr, os.Getenv("GOJIT_DUMP"))}
}

// Exec returns what takes graphs to code.
func (e *Engine) Exec() *exec.Engine { return e.exec }

// Run calls a compiled function with arguments in the order of its schema. It stops soon after
// ctx is cancelled. Errors carry the places in the program.
func (e *Engine) Run(ctx context.Context, f *ir.Function, args ...value.Value) (value.Value, error) {
	LinkOperators()
	code, err := e.exec.Code(f, args)
	if err != nil {
		return value.None, err
	}
	var out [1]value.Value
	err = code.Run(ctx, args, out[:])
	return out[0], err
}

// Run is Engine.Run of the package's own engine.
func Run(ctx context.Context, f *ir.Function, args ...value.Value) (value.Value, error) {
	return standard.Run(ctx, f, args...)
}

// Module is a loaded module.
type Module struct {
	// Object holds the parameters, buffers, attributes and submodules.
	Object *value.Object
	Unit   *ir.Unit
	// Extra are the extra files that were asked for and are there.
	Extra map[string][]byte

	engine *Engine
}

// owner is the engine that runs the module's methods.
func (m *Module) owner() *Engine {
	if m.engine == nil {
		return standard
	}
	return m.engine
}

// Module returns the module that an object is.
func (e *Engine) Module(o *value.Object) *Module { return &Module{Object: o, engine: e} }

// Load loads the module that torch.jit.save wrote to a file, which is read into memory: what happens to it later changes nothing. extra
// names extra files to read. Methods __setstate__ of the program run; see LoadWith.
func Load(path string, extra ...string) (*Module, error) {
	return standard.LoadWith(path, archive.Options{Extra: extra})
}

// LoadWith is Load with options, which may refuse archives that run code.
func LoadWith(path string, o archive.Options) (*Module, error) { return standard.LoadWith(path, o) }

// LoadWith is the function LoadWith of the engine.
func (e *Engine) LoadWith(path string, o archive.Options) (m *Module, err error) {
	LinkOperators()
	defer fileError(path, &err)
	return e.moduleOf(archive.LoadFile(path, o, e.Run))
}

// LoadBytes is Load of an archive in memory, which must stay as it is while the module is in use.
func LoadBytes(data []byte, extra ...string) (*Module, error) {
	return standard.LoadBytesWith(data, archive.Options{Extra: extra})
}

// LoadBytesWith is LoadBytes with options.
func LoadBytesWith(data []byte, o archive.Options) (*Module, error) {
	return standard.LoadBytesWith(data, o)
}

// LoadBytesWith is the function LoadBytesWith of the engine.
func (e *Engine) LoadBytesWith(data []byte, o archive.Options) (m *Module, err error) {
	LinkOperators()
	defer fileError("", &err)
	return e.moduleOf(archive.Load(data, o, e.Run))
}

func (e *Engine) moduleOf(l *archive.Loaded, err error) (*Module, error) {
	if err != nil {
		return nil, err
	}
	return &Module{Object: l.Module, Unit: l.Unit, Extra: l.Extra, engine: e}, nil
}

// Inspect reports what an archive file contains and what is wrong with it, and runs nothing of it. It fails where
// the file is no archive.
func Inspect(path string) (report *archive.Report, err error) {
	LinkOperators()
	defer fileError(path, &err)
	return archive.InspectFile(path)
}

// InspectBytes is Inspect of an archive in memory.
func InspectBytes(data []byte) (report *archive.Report, err error) {
	LinkOperators()
	defer fileError("", &err)
	return archive.Inspect(data)
}

// Save writes the module and extra files to a file that Load and PyTorch's torch.jit.load read. A
// file of that name is replaced when all is written, and stays as it is where that fails. It fails
// on values that archives cannot hold, and on methods that do not compile or call Python.
func (m *Module) Save(path string, extra map[string][]byte) error {
	return m.SaveReporting(path, extra, nil)
}

// SaveReporting is Save that tells now and then how far it is. An error of progress ends it.
func (m *Module) SaveReporting(path string, extra map[string][]byte, progress archive.Progress) error {
	LinkOperators()
	return archive.SaveFile(m.Object, path, extra, progress, m.owner().Run)
}

// SaveBytes is Save to memory.
func (m *Module) SaveBytes(extra map[string][]byte) ([]byte, error) {
	LinkOperators()
	return archive.Save(m.Object, extra, m.owner().Run)
}

// SaveLite is Save for PyTorch's lite interpreter: the archive has bytecode as well. It fails on what that interpreter lacks, too.
func (m *Module) SaveLite(path string, extra map[string][]byte, o archive.LiteOptions) error {
	LinkOperators()
	return archive.SaveLiteFile(m.Object, path, extra, o, m.owner().Run)
}

// SaveLiteBytes is SaveLite to memory.
func (m *Module) SaveLiteBytes(extra map[string][]byte, o archive.LiteOptions) ([]byte, error) {
	LinkOperators()
	return archive.SaveLite(m.Object, extra, o, m.owner().Run)
}

// SaveFlatBuffer returns the module in PyTorch's mobile format as a FlatBuffer, which Load reads too. It fails where SaveLite does.
func (m *Module) SaveFlatBuffer(extra map[string][]byte, o archive.LiteOptions) ([]byte, error) {
	LinkOperators()
	return archive.SaveFlat(m.Object, extra, o, m.owner().Run)
}

// ModuleOf returns a module whose method forward is a compiled function. It fails where the function
// does not compile.
func (e *Engine) ModuleOf(f *ir.Function) (*Module, error) {
	o, err := archive.ModuleOfFunction(f)
	if err != nil {
		return nil, err
	}
	return e.Module(o), nil
}

// ModuleOf is Engine.ModuleOf of the package's own engine.
func ModuleOf(f *ir.Function) (*Module, error) { return standard.ModuleOf(f) }

// FunctionOf returns the function that ModuleOf made a module of, under a name. It fails where forward uses its module.
func FunctionOf(m *Module, name string) (*ir.Function, error) {
	return archive.FunctionOfModule(m.Object, name)
}

// Methods returns the names of the methods.
func (m *Module) Methods() []string { return m.Object.Class.MethodNames() }

// Method returns the named method. It fails where there is none or where it does not compile.
func (m *Module) Method(name string) (*ir.Function, error) {
	f, ok := m.Object.Class.FindMethod(name).(*ir.Function)
	if !ok {
		return nil, callErrorf(source.AttributeError, name, "", "The module has no method '%s'; it has %s", name, strings.Join(m.Methods(), ", "))
	}
	err := f.EnsureDefined()
	return f, err
}

// Forward calls the method forward. See Call for the arguments.
func (m *Module) Forward(args ...any) (value.Value, error) {
	return m.Call(context.Background(), "forward", args...)
}

// Call calls a method with Go values in the order of its parameters, of which those with defaults may be left out at the end. An argument may also be
// a Keyword, or a CallOption, which says how the call runs.
//
// A parameter takes what loses nothing: tensors; numbers; strings; slices, arrays and maps for lists, tuples and dictionaries, and for tensors where
// their elements are numbers; structs for tuples and dictionaries of strings; nil for an optional one; JSON as json.RawMessage; and every Value. As gives
// the result as a Go value.
//
// Nothing is recorded for differentiation without WithGradients. The call ends soon after ctx is cancelled.
func (m *Module) Call(ctx context.Context, method string, args ...any) (out value.Value, err error) {
	defer guard(&err)
	f, err := m.Method(method)
	if err != nil {
		return value.None, err
	}
	return m.owner().callBound(ctx, f, []value.Value{value.OfObject(m.Object)}, args)
}

// Call is Engine.Call of the package's own engine.
func Call(ctx context.Context, f *ir.Function, args ...any) (value.Value, error) {
	return standard.Call(ctx, f, args...)
}

// Program is a set of functions compiled from source text.
type Program struct {
	Unit *ir.Unit
	// Skipped are the statements of a file of Python that are no part of the program, each with the reason.
	Skipped []Skipped

	engine   *Engine
	defining sync.Mutex
}

// Compile compiles the functions of a source text. name is what messages call the text.
func Compile(name, text string) (*Program, error) { return standard.Compile(name, text) }

// Compile is the function Compile of the engine.
func (e *Engine) Compile(name, text string) (*Program, error) { return e.CompileWith(name, text, nil) }

// CompileWith is the function CompileWith of the engine.
func (e *Engine) CompileWith(name, text string, resolve Resolver) (*Program, error) {
	LinkOperators()
	defs, err := syntax.ParseDefinitions(source.NewText(name, text, 1))
	if err != nil {
		return nil, err
	}
	p := &Program{Unit: ir.NewUnit(), engine: e}
	finisher := frontend.NewBackgroundFinisher()
	for _, def := range defs {
		p.Unit.AddFunction(ir.NewLazyFunction(qualify(def.Name().Name()), &p.defining, func(f *ir.Function) error {
			return frontend.Compile(f, def, frontend.Options{Resolver: resolver{p.Unit, resolve}, Unit: p.Unit, FromText: true, Finisher: finisher})
		}))
	}
	if err := finisher.Define(p.Unit.Functions()); err != nil {
		return nil, err
	}
	return p, nil
}

// CompileFile compiles what is TorchScript in the text of a file of Python: functions, script classes, named tuples, enumerations and interfaces. What is
// no part of a program is in Skipped; so are functions that do not compile, unless a decorator of torch.jit asks for them.
func CompileFile(name, text string) (p *Program, err error) {
	LinkOperators()
	defer guard(&err)
	f, err := pyfile.Compile(source.NewText(name, text, 1))
	if err != nil {
		return nil, err
	}
	return &Program{Unit: f.Unit, Skipped: f.Skipped, engine: standard}, nil
}

// Functions returns the functions that compiled, without the methods of classes.
func (p *Program) Functions() []*Function {
	return slices.DeleteFunc(p.Unit.Functions(), func(f *Function) bool { return f.IsMethod || f.EnsureDefined() != nil })
}

func qualify(name string) string { return "__torch__." + name }

// Function returns the named function, or nil.
func (p *Program) Function(name string) *ir.Function { return p.Unit.Function(qualify(name)) }

// Call calls the named function; see Module.Call for the arguments.
func (p *Program) Call(ctx context.Context, name string, args ...any) (value.Value, error) {
	f := p.Function(name)
	if f == nil {
		return value.None, callErrorf(source.AttributeError, name, "", "The program has no function '%s'", name)
	}
	return p.engine.Call(ctx, f, args...)
}

// resolver gives meaning to the names of a source text: those that the caller knows, torch, math, exceptions, and its own
// functions.
type resolver struct {
	unit   *ir.Unit
	caller Resolver // nil where the caller knows none
}

// ResolveType implements frontend.Resolver.
func (resolver) ResolveType(string, source.Range) (types.Type, error) { return nil, nil }

// ResolveValue implements frontend.Resolver.
func (r resolver) ResolveValue(name string, at source.Range) (frontend.SugaredValue, error) {
	if r.caller != nil {
		if found, err := r.caller(name, at); found != nil || err != nil {
			return found, err
		}
	}
	switch name {
	case "torch", "math":
		return frontend.NewNamespace("aten"), nil
	case "Exception", "RuntimeError", "ValueError", "TypeError", "IndexError", "KeyError", "NotImplementedError", "AssertionError":
		return frontend.NewException("builtins." + name), nil
	}
	if f := r.unit.Function(qualify(name)); f != nil {
		return frontend.NewFunctionValue(f), nil
	}
	return nil, nil
}

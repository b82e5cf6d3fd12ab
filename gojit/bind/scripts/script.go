package scripts

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"weak"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/dimnames"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// scriptMembers show compiled functions; torchjit/_C/__init__.py gives them to methods also.
var scriptMembers = []abi.Function{
	{Schema: "ScriptFunction.graph(function self) -> Graph", Doc: "The function's graph.", Property: true, Run: abi.Bind(functionGraph)},
	{Schema: "ScriptFunction.inlined_graph(function self) -> Graph", Doc: "The graph with all calls inlined.", Property: true, Run: abi.Bind(functionInlinedGraph)},
	{Schema: "ScriptFunction.code(function self) -> str", Doc: "The function as Python source.", Property: true, Run: abi.Bind(functionCode)},
	{Schema: "ScriptFunction._code_and_constants(function self) -> tuple", Doc: "The function as Python source and what the source calls CONSTANTS.c0 and so on.", Run: abi.Bind(functionConstants)},
	{Schema: "ScriptFunction.schema(function self) -> FunctionSchema", Doc: "The function's signature.", Property: true, Run: abi.Bind(functionSchema)},
	{Schema: "ScriptFunction.qualified_name(function self) -> str", Doc: "The name in the program.", Property: true, Run: abi.Bind(func(f *Function) string { return f.Function.Name })},
	{Schema: "ScriptFunction._debug_flush_compilation_cache(function self) -> None", Doc: "Makes the next call run the graph as it is then.", Run: abi.Bind(flushCode)},
	{Schema: "ScriptFunction._set_ignore_amp(function self, bool ignore) -> None", Doc: "Has an autocast cast in the function as in Python, not by the rules of compiled code.", Run: abi.Bind(ignoreAutocast)},
	{Schema: "ScriptFunction._executed_graph(function self) -> Graph", Doc: "The optimized graph that the last call ran; a RuntimeError before the first.", Run: abi.Bind(executedGraph)},
	{Schema: "ScriptFunction._specialized_graph(function self) -> Graph?", Doc: "The graph that calls run for what the first ones have met, None before.", Run: abi.Bind(func(f *Function) *ir.Graph { return Engine.Function(f.Function).Specialized() })},
	{Schema: "ScriptFunction._differentiable_functions(function self) -> tuple", Doc: "The functions that the differentiable graphs of the last call run, and those of their gradients.", Run: abi.Bind(differentiableFunctions)},
	{Schema: "ScriptFunction._has_run(function self) -> bool", Doc: "Whether it has been called.", Run: abi.Bind(func(f *Function) bool { return Engine.Function(f.Function).Executed() != nil })},
	{Schema: "ScriptFunction._explain(function self) -> str", Doc: "The graph that runs, and what did not run as kernels, as JSON.", Run: abi.Bind(explainFunction)},
	{Schema: "ScriptFunction._time_steps(function self, bool on) -> None", Doc: "Has calls note how long the steps of plans take, or no more.", Run: abi.Bind(timeSteps)},
	{Schema: "ScriptFunction._owner(function self) -> Module", Doc: "The module whose method it is, None for a function.", Run: abi.Bind(func(f *Function) *value.Object { return f.Self })},
}

// Function is a compiled function, or a compiled method with its object.
type Function struct {
	Function *ir.Function
	Self     *value.Object // nil for a function
	// AsOperators says that errors are those of the operators, as where these are called one by one: they do not show the places in the program.
	AsOperators bool
	ready       atomic.Pointer[exec.Function]
	weak        weak.Pointer[exec.Function] // ready; set with it
}

// CallableName implements abi.Callable.
func (f *Function) CallableName() string { return f.Function.ShortName() }

// prepare returns what the engine makes of the function, whose schema is known then.
func (f *Function) prepare() (*exec.Function, error) {
	if ready := f.ready.Load(); ready != nil {
		return ready, nil
	}
	gojit.LinkOperators()
	ready := Engine.Function(f.Function)
	if err := ready.Check(); err != nil {
		return nil, err
	}
	f.weak = weak.Make(ready)
	f.ready.Store(ready)
	return ready, nil
}

// LastExecuted is what Python called last. It does not keep the function alive.
var LastExecuted weak.Pointer[exec.Function]

// Call implements callable.
func (f *Function) Call(c *abi.Call) error {
	ready, err := f.prepare()
	if err != nil {
		return err
	}
	LastExecuted = f.weak
	Engine.NoteCall()
	s := f.Function.Schema
	n := len(s.Arguments)
	c.Values = slices.Grow(c.Values[:0], n+1)[:n]
	work, err := f.bind(c, s, c.Values)
	if err != nil {
		return err
	}
	if tensor.NamesInUse() && dimnames.Any(c.Values) {
		return abi.RuntimeErrorf("NYI: Named tensors are currently unsupported in TorchScript. As a  workaround please drop names via `tensor = tensor.rename(None)`.")
	}
	plan, err := ready.Next(c.Thread.Recorder != nil, c.Values)
	if err != nil {
		return err
	}
	code, keeps := plan.Code, plan.Keeps || f.Self != nil
	c.Values = slices.Grow(c.Values, code.NumOutputs())[:n+code.NumOutputs()]
	args, out := c.Values[:n:n], c.Values[n:]
	if plan.Light || plan.Brief && work <= abi.ReleaseAbove {
		err = code.RunIn(context.Background(), c.Memory, c.Thread.Mode, args, out)
	} else {
		err = c.WithoutGIL(func() error {
			return abi.NewInterruptible().Run(func(ctx context.Context) error { return code.RunIn(ctx, c.Memory, c.Thread.Mode, args, out) })
		})
	}
	mayKeep := keeps && (err != nil || c.Memory.MayKeep())
	if mayKeep {
		abi.KeepTensors(args)
	}
	if err != nil {
		return f.failure(err)
	}
	if len(out) == 0 {
		c.None()
		return nil
	}
	result := Packed(out)
	if r := c.Thread.Recorder; r != nil {
		abi.KeepTensors(args)
		if err := r.Call(f.Function, args, result); err != nil {
			return err
		}
	}
	if !keeps {
		return c.Value(result)
	}
	return c.ResultOf(result, args, mayKeep)
}

// failure is what the caller gets of an error that left the code.
func (f *Function) failure(err error) error {
	var e *source.Error
	if f.AsOperators && errors.As(err, &e) && e.Cause != nil {
		return e.Cause
	}
	return err
}

// Packed returns the only value, or a tuple of all.
func Packed(values []value.Value) value.Value {
	if len(values) == 1 {
		return values[0]
	}
	return value.OfTuple(value.NewTuple(slices.Clone(values)...))
}

// bind converts the arguments into args and returns how many elements they have.
func (f *Function) bind(c *abi.Call, s *schema.FunctionSchema, args []value.Value) (work int, err error) {
	at := 0
	if f.Self != nil {
		args[0] = value.OfObject(f.Self)
		at = 1
	}
	if given := at + c.Positional + c.Keywords; given > len(args) {
		return 0, abi.RuntimeErrorf("%s() expected at most %d argument(s) but received %d argument(s). Declaration: %s",
			s.Name, len(args), given, declaration(s))
	}
	if at+c.Positional > s.NumPositional() {
		return 0, abi.RuntimeErrorf("%s() takes %d positional argument(s) but %d was/were given.  Declaration: %s",
			s.Name, s.NumPositional()-at, c.Positional, declaration(s))
	}
	w := c.Args
	for range c.Positional {
		if args[at], err = ToArgument(w, s, at); err != nil {
			return 0, err
		}
		work += abi.ElementsOf(args[at])
		w = w.Next()
		at++
	}
	if at < len(args) || c.Keywords > 0 {
		err = f.bindRest(c, s, args, at)
	}
	return work, err
}

// bindRest takes the arguments from index at on from keywords and defaults.
func (f *Function) bindRest(c *abi.Call, s *schema.FunctionSchema, args []value.Value, at int) error {
	used := 0
	for i := at; i < len(args); i++ {
		a := &s.Arguments[i]
		found := false
		for name, w := range c.KeywordPairs {
			if name.Text() == a.Name {
				v, err := ToArgument(w, s, i)
				if err != nil {
					return err
				}
				args[i], found = v, true
				used++
			}
		}
		switch {
		case found:
		case a.HasDefault:
			args[i] = a.NewDefault()
		default:
			return abi.RuntimeErrorf("%s() is missing value for argument '%s'. Declaration: %s", s.Name, a.Name, declaration(s))
		}
	}
	if used == c.Keywords {
		return nil
	}
	for name := range c.KeywordPairs {
		if i := s.ArgumentIndex(name.Text()); i >= 0 && i < at {
			return abi.RuntimeErrorf("Argument '%s' specified both as positional and keyword argument. Schema: %s", name.Text(), declaration(s))
		} else if i < 0 {
			return abi.RuntimeErrorf("Unknown keyword argument '%s' for operator '%s'. Schema: %s", name.Text(), s.Name, declaration(s))
		}
	}
	return nil
}

func declaration(s *schema.FunctionSchema) string { return s.String() }

// ToArgument converts an argument to the type of a parameter.
func ToArgument(w *abi.Word, s *schema.FunctionSchema, i int) (value.Value, error) {
	a := &s.Arguments[i]
	if t := w.Tensor(); t != nil && a.Type.Kind() == types.KindTensor {
		return value.OfTensor(t), nil
	}
	v, ok, err := abi.ProgramValue(w, a.Type)
	if err != nil || ok {
		return v, err
	}
	if v, ok := repeatedNumber(w, a); ok {
		return v, nil
	}
	if w.Kind() == abi.KindString && present(a.Type).Kind() == types.KindDevice {
		_, err = tensor.ParseDevice(w.Text())
		return value.None, err
	}
	return value.None, argumentError(w, s, i)
}

// present is a type without None.
func present(t types.Type) types.Type {
	if o, ok := t.(*types.Optional); ok {
		return o.Elem
	}
	return t
}

// repeatedNumber is the list that a number stands for where a parameter is a list of a fixed length.
func repeatedNumber(w *abi.Word, a *schema.Argument) (value.Value, bool) {
	list, isList := present(a.Type).(*types.List)
	if !isList || a.ListSize <= 0 || !abi.IsNumber(w) {
		return value.None, false
	}
	item, ok, err := abi.ProgramValue(w, list.Elem)
	if err != nil || !ok {
		return value.None, false
	}
	return value.OfList(value.NewList(list.Elem, slices.Repeat([]value.Value{item}, a.ListSize)...)), true
}

// argumentError says that an argument has the wrong type, in PyTorch's words.
func argumentError(w *abi.Word, s *schema.FunctionSchema, i int) error {
	a := &s.Arguments[i]
	d := abi.Describe(w)
	inferred := ""
	if t, ok := a.Type.(*types.TensorInfo); ok && t.Inferred {
		inferred = fmt.Sprintf("Inferred '%s' to be of type 'Tensor' because it was not annotated with an explicit type.\n", a.Name)
	}
	return abi.RuntimeErrorf("%s() Expected a value of type '%s' for argument '%s' but instead found type '%s'.\n%sPosition: %d\nValue: %s\nDeclaration: %s\n%s",
		s.Name, types.Repr(a.Type), a.Name, d.TypeName, inferred, i, d.Repr, declaration(s), abi.CastFailure(w, a.Type))
}

func functionGraph(f *Function) (*ir.Graph, error) {
	err := f.Function.EnsureDefined()
	return f.Function.Expose(), err
}

func functionInlinedGraph(f *Function) (*ir.Graph, error) {
	if err := f.Function.EnsureDefined(); err != nil {
		return nil, err
	}
	g := f.Function.Graph().Copy()
	passes.Inline(g)
	return g, nil
}

func functionCode(f *Function) (string, error) {
	text, _, err := functionConstants(f)
	return text, err
}

func functionConstants(f *Function) (string, []value.Value, error) {
	if err := f.Function.EnsureDefined(); err != nil {
		return "", nil, err
	}
	text, constants := code.PrintFunction(f.Function)
	return text, constants, nil
}

func functionSchema(f *Function) (*schema.FunctionSchema, error) {
	err := f.Function.EnsureDefined()
	return f.Function.Schema, err
}

func executedGraph(f *Function) (*ir.Graph, error) {
	if g := Engine.Function(f.Function).Executed(); g != nil {
		return g, nil
	}
	return nil, abi.RuntimeErrorf("%s has not been called yet", f.Function.ShortName())
}

func differentiableFunctions(f *Function) (forward, backward []*Function) {
	runs, gradients := Engine.Function(f.Function).Differentiable()
	for i := range runs {
		forward = append(forward, &Function{Function: runs[i]})
		backward = append(backward, &Function{Function: gradients[i]})
	}
	return forward, backward
}

// flushCode forgets what the graph was compiled to.
func ignoreAutocast(f *Function, ignore bool) {
	f.Function.IgnoresAutocast.Store(ignore)
	flushCode(f)
}

func flushCode(f *Function) { Engine.Function(f.Function).Forget() }

func explainFunction(f *Function) (string, error) {
	var args []value.Value
	if f.Self != nil {
		args = []value.Value{value.OfObject(f.Self)}
	}
	x, err := Engine.Explain(f.Function, args...)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(x)
	return string(text), err
}

func timeSteps(f *Function, on bool) error { return Engine.TimeSteps(f.Function, on) }

package bind

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync/atomic"
	"weak"

	"github.com/torchjit/torchjit/gojit/internal/archive/code"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// scriptMembers show compiled functions; torchjit/_C/__init__.py gives them to methods also.
var scriptMembers = []function{
	{schema: "ScriptFunction.graph(function self) -> Graph", doc: "The function's graph.", property: true, run: bind(functionGraph)},
	{schema: "ScriptFunction.inlined_graph(function self) -> Graph", doc: "The graph with all calls inlined.", property: true, run: bind(functionInlinedGraph)},
	{schema: "ScriptFunction.code(function self) -> str", doc: "The function as Python source.", property: true, run: bind(functionCode)},
	{schema: "ScriptFunction._code_and_constants(function self) -> tuple", doc: "The function as Python source and what the source calls CONSTANTS.c0 and so on.", run: bind(functionConstants)},
	{schema: "ScriptFunction.schema(function self) -> FunctionSchema", doc: "The function's signature.", property: true, run: bind(functionSchema)},
	{schema: "ScriptFunction.qualified_name(function self) -> str", doc: "The name in the program.", property: true, run: bind(func(f *scriptFunction) string { return f.function.Name })},
	{schema: "ScriptFunction._debug_flush_compilation_cache(function self) -> None", doc: "Makes the next call run the graph as it is then.", run: bind(flushCode)},
	{schema: "ScriptFunction._set_ignore_amp(function self, bool ignore) -> None", doc: "Has an autocast cast in the function as in Python, not by the rules of compiled code.", run: bind(ignoreAutocast)},
	{schema: "ScriptFunction._executed_graph(function self) -> Graph", doc: "The optimized graph that the last call ran; a RuntimeError before the first.", run: bind(executedGraph)},
	{schema: "ScriptFunction._specialized_graph(function self) -> Graph?", doc: "The graph that calls run for what the first ones have met, None before.", run: bind(func(f *scriptFunction) *ir.Graph { return engine.Function(f.function).Specialized() })},
	{schema: "ScriptFunction._differentiable_functions(function self) -> tuple", doc: "The functions that the differentiable graphs of the last call run, and those of their gradients.", run: bind(differentiableFunctions)},
	{schema: "ScriptFunction._has_run(function self) -> bool", doc: "Whether it has been called.", run: bind(func(f *scriptFunction) bool { return engine.Function(f.function).Executed() != nil })},
	{schema: "ScriptFunction._explain(function self) -> str", doc: "The graph that runs, and what did not run as kernels, as JSON.", run: bind(explainFunction)},
	{schema: "ScriptFunction._time_steps(function self, bool on) -> None", doc: "Has calls note how long the steps of plans take, or no more.", run: bind(timeSteps)},
	{schema: "ScriptFunction._owner(function self) -> Module", doc: "The module whose method it is, None for a function.", run: bind(func(f *scriptFunction) *value.Object { return f.self })},
}

// scriptFunction is a compiled function, or a compiled method with its object.
type scriptFunction struct {
	function *ir.Function
	self     *value.Object // nil for a function
	ready    atomic.Pointer[exec.Function]
	weak     weak.Pointer[exec.Function] // ready; set with it
}

func (f *scriptFunction) callableName() string { return f.function.ShortName() }

// prepare returns what the engine makes of the function, whose schema is known then.
func (f *scriptFunction) prepare() (*exec.Function, error) {
	if ready := f.ready.Load(); ready != nil {
		return ready, nil
	}
	linkOperators()
	ready := engine.Function(f.function)
	if err := ready.Check(); err != nil {
		return nil, err
	}
	f.weak = weak.Make(ready)
	f.ready.Store(ready)
	return ready, nil
}

// lastExecuted is what Python called last. It does not keep the function alive.
var lastExecuted weak.Pointer[exec.Function]

// call implements callable.
func (f *scriptFunction) call(c *call) error {
	ready, err := f.prepare()
	if err != nil {
		return err
	}
	lastExecuted = f.weak
	engine.NoteCall()
	s := f.function.Schema
	n := len(s.Arguments)
	c.values = slices.Grow(c.values[:0], n+1)[:n]
	work, err := f.bind(c, s, c.values)
	if err != nil {
		return err
	}
	plan, err := ready.Next(c.thread.recorder != nil, c.values)
	if err != nil {
		return err
	}
	code, keeps := plan.Code, plan.Keeps || f.self != nil
	c.values = slices.Grow(c.values, code.NumOutputs())[:n+code.NumOutputs()]
	args, out := c.values[:n:n], c.values[n:]
	if plan.Light || plan.Brief && work <= releaseAbove {
		err = code.RunIn(context.Background(), c.memory, c.thread.mode, args, out)
	} else {
		err = c.withoutGIL(func() error {
			return newInterruptible().run(func(ctx context.Context) error { return code.RunIn(ctx, c.memory, c.thread.mode, args, out) })
		})
	}
	mayKeep := keeps && (err != nil || c.memory.MayKeep())
	if mayKeep {
		keepTensors(args)
	}
	if err != nil {
		return err
	}
	if len(out) == 0 {
		c.none()
		return nil
	}
	result := packed(out)
	if r := c.thread.recorder; r != nil {
		keepTensors(args)
		if err := r.Call(f.function, args, result); err != nil {
			return err
		}
	}
	if !keeps {
		return c.value(result)
	}
	return c.resultOf(result, args, mayKeep)
}

// resultOf writes the result of a method. Something besides Python may hold its tensors, but those that the code has made for its caller,
// and the arguments unless it has kept some.
func (c *call) resultOf(result value.Value, args []value.Value, mayKeep bool) error {
	own := interp.Temporaries(result, nil)
	if !mayKeep {
		for _, v := range args {
			if v.IsTensor() && v.Tensor().PyObject() != 0 && !slots[v.Tensor().PyObject()].kept {
				own = append(own, v.Tensor())
			}
		}
	}
	if err := c.keptValue(result); err != nil {
		return err
	}
	for _, t := range own {
		slots[t.PyObject()].kept = false
	}
	return nil
}

// packed returns the only value, or a tuple of all.
func packed(values []value.Value) value.Value {
	if len(values) == 1 {
		return values[0]
	}
	return value.OfTuple(value.NewTuple(slices.Clone(values)...))
}

// bind converts the arguments into args and returns how many elements they have.
func (f *scriptFunction) bind(c *call, s *schema.FunctionSchema, args []value.Value) (work int, err error) {
	at := 0
	if f.self != nil {
		args[0] = value.OfObject(f.self)
		at = 1
	}
	if given := at + c.positional + c.keywords; given > len(args) {
		return 0, runtimeErrorf("%s() expected at most %d argument(s) but received %d argument(s). Declaration: %s",
			s.Name, len(args), given, declaration(s))
	}
	if at+c.positional > s.NumPositional() {
		return 0, runtimeErrorf("%s() takes %d positional argument(s) but %d was/were given.  Declaration: %s",
			s.Name, s.NumPositional()-at, c.positional, declaration(s))
	}
	w := c.args
	for range c.positional {
		if args[at], err = toArgument(w, s, at); err != nil {
			return 0, err
		}
		work += elementsOf(args[at])
		w = w.next()
		at++
	}
	if at < len(args) || c.keywords > 0 {
		err = f.bindRest(c, s, args, at)
	}
	return work, err
}

// bindRest takes the arguments from index at on from keywords and defaults.
func (f *scriptFunction) bindRest(c *call, s *schema.FunctionSchema, args []value.Value, at int) error {
	used := 0
	for i := at; i < len(args); i++ {
		a := &s.Arguments[i]
		found := false
		for name, w := range c.keywordPairs {
			if name.text() == a.Name {
				v, err := toArgument(w, s, i)
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
			return runtimeErrorf("%s() is missing value for argument '%s'. Declaration: %s", s.Name, a.Name, declaration(s))
		}
	}
	if used == c.keywords {
		return nil
	}
	for name := range c.keywordPairs {
		if i := s.ArgumentIndex(name.text()); i >= 0 && i < at {
			return runtimeErrorf("Argument '%s' specified both as positional and keyword argument. Schema: %s", name.text(), declaration(s))
		} else if i < 0 {
			return runtimeErrorf("Unknown keyword argument '%s' for operator '%s'. Schema: %s", name.text(), s.Name, declaration(s))
		}
	}
	return nil
}

func declaration(s *schema.FunctionSchema) string { return s.String() }

// toArgument converts an argument to the type of a parameter.
func toArgument(w *Word, s *schema.FunctionSchema, i int) (value.Value, error) {
	a := &s.Arguments[i]
	if t := w.tensor(); t != nil && a.Type.Kind() == types.KindTensor {
		return value.OfTensor(t), nil
	}
	v, ok, err := programValue(w, a.Type)
	if err != nil || ok {
		return v, err
	}
	if v, ok := repeatedNumber(w, a); ok {
		return v, nil
	}
	if w.kind() == kindString && present(a.Type).Kind() == types.KindDevice {
		_, err = tensor.ParseDevice(w.text())
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
func repeatedNumber(w *Word, a *schema.Argument) (value.Value, bool) {
	list, isList := present(a.Type).(*types.List)
	if !isList || a.ListSize <= 0 || !isNumber(w) {
		return value.None, false
	}
	item, ok, err := programValue(w, list.Elem)
	if err != nil || !ok {
		return value.None, false
	}
	return value.OfList(value.NewList(list.Elem, slices.Repeat([]value.Value{item}, a.ListSize)...)), true
}

// argumentError says that an argument has the wrong type, in PyTorch's words.
func argumentError(w *Word, s *schema.FunctionSchema, i int) error {
	a := &s.Arguments[i]
	d := describe(w)
	inferred := ""
	if t, ok := a.Type.(*types.TensorInfo); ok && t.Inferred {
		inferred = fmt.Sprintf("Inferred '%s' to be of type 'Tensor' because it was not annotated with an explicit type.\n", a.Name)
	}
	return runtimeErrorf("%s() Expected a value of type '%s' for argument '%s' but instead found type '%s'.\n%sPosition: %d\nValue: %s\nDeclaration: %s\n%s",
		s.Name, types.Repr(a.Type), a.Name, d.typeName, inferred, i, d.repr, declaration(s), castFailure(w, a.Type))
}

func functionGraph(f *scriptFunction) (*ir.Graph, error) {
	err := f.function.EnsureDefined()
	return f.function.Expose(), err
}

func functionInlinedGraph(f *scriptFunction) (*ir.Graph, error) {
	if err := f.function.EnsureDefined(); err != nil {
		return nil, err
	}
	g := f.function.Graph().Copy()
	passes.Inline(g)
	return g, nil
}

func functionCode(f *scriptFunction) (string, error) {
	text, _, err := functionConstants(f)
	return text, err
}

func functionConstants(f *scriptFunction) (string, []value.Value, error) {
	if err := f.function.EnsureDefined(); err != nil {
		return "", nil, err
	}
	text, constants := code.PrintFunction(f.function)
	return text, constants, nil
}

func functionSchema(f *scriptFunction) (*schema.FunctionSchema, error) {
	err := f.function.EnsureDefined()
	return f.function.Schema, err
}

func executedGraph(f *scriptFunction) (*ir.Graph, error) {
	if g := engine.Function(f.function).Executed(); g != nil {
		return g, nil
	}
	return nil, runtimeErrorf("%s has not been called yet", f.function.ShortName())
}

func differentiableFunctions(f *scriptFunction) (forward, backward []*scriptFunction) {
	runs, gradients := engine.Function(f.function).Differentiable()
	for i := range runs {
		forward = append(forward, &scriptFunction{function: runs[i]})
		backward = append(backward, &scriptFunction{function: gradients[i]})
	}
	return forward, backward
}

// flushCode forgets what the graph was compiled to.
func ignoreAutocast(f *scriptFunction, ignore bool) {
	f.function.IgnoresAutocast.Store(ignore)
	flushCode(f)
}

func flushCode(f *scriptFunction) { engine.Function(f.function).Forget() }

func explainFunction(f *scriptFunction) (string, error) {
	var args []value.Value
	if f.self != nil {
		args = []value.Value{value.OfObject(f.self)}
	}
	x, err := engine.Explain(f.function, args...)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(x)
	return string(text), err
}

func timeSteps(f *scriptFunction, on bool) error { return engine.TimeSteps(f.function, on) }

package tracing

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/bind/modules"
	"github.com/torchjit/torchjit/gojit/bind/scripts"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// traceFunctions record what Python does as a graph.
var traceFunctions = []abi.Function{
	{Schema: "is_tracing() -> bool", Run: isTracing},
	{Schema: "trace_observe(Tensor self, str what) -> None", Run: func(c *abi.Call) error { return c.Thread.WarnTraced(c.ArgTensor(0), c.ArgString(1)) }},
	{Schema: "trace_begin(any module, list names, any inputs, bool outplace) -> any", Run: traceBegin},
	{Schema: "trace_end(str name, any result, any module, str method) -> any", Run: traceEnd},
	{Schema: "trace_abort() -> None", Run: traceAbort},
	{Schema: "trace_push_scope(str path) -> None", Run: tracePushScope},
	{Schema: "trace_pop_scope() -> None", Run: tracePopScope},
	{Schema: "trace_begin_fork() -> bool", Run: traceBeginFork},
	{Schema: "trace_end_fork(any result) -> any", Run: traceEndFork},
	{Schema: "trace_drop_fork() -> None", Run: traceDropFork},
	{Schema: "trace_begin_function(list inputs) -> bool", Run: traceBeginFunction},
	{Schema: "trace_end_function(str name, str module, str convention, str constants, any target, list results) -> None", Run: traceEndFunction},
	{Schema: "trace_drop_function() -> None", Run: traceDropFork},
	{Schema: "trace_constant(Tensor made, bool detached) -> Tensor", Run: traceConstant},
	{Schema: "trace_nodes(any function) -> list", Run: traceNodes},
	{Schema: "trace_to(Tensor self, any device, any dtype, bool non_blocking, bool copy, any memory_format) -> Tensor", Run: traceTo},
}

func isTracing(c *abi.Call) error {
	c.Bool(c.Thread.Recorder != nil)
	return nil
}

// traceBegin starts a trace and replies the inputs that the program is to be called with. module is
// None for a function.
func traceBegin(c *abi.Call) error {
	if c.Thread.Recorder != nil {
		return abi.RuntimeErrorf("Tracing can't be nested")
	}
	r := trace.NewRecorder(abi.PythonHost{Thread: c.Thread})
	r.Outplace = c.ArgBool(3)
	if !c.IsNone(0) {
		o, err := modules.ArgInstance(c, 0)
		if err != nil {
			return err
		}
		r.Self(o)
	}
	names := slices.Clone(c.ArgStrings(1))
	inputs, err := abi.PlainValue(c.Arg(2))
	if err != nil {
		return err
	}
	if err := trace.CheckInputs(inputs); err != nil {
		return err
	}
	items := inputs.Tuple().Items
	bound := make([]value.Value, len(items))
	for i, item := range items {
		name := ""
		if len(names) == len(items) {
			name = names[i]
		}
		if bound[i], err = r.Input(name, item); err != nil {
			return err
		}
	}
	if err := c.Value(value.OfTuple(value.NewTuple(bound...))); err != nil {
		return err
	}
	c.Thread.BeginRecorder(r)
	return nil
}

func traceAbort(c *abi.Call) error {
	c.Thread.EndRecorder()
	c.None()
	return nil
}

func tracePushScope(c *abi.Call) error {
	if r := c.Thread.Recorder; r != nil {
		r.PushScope(strings.Clone(c.ArgString(0)))
	}
	c.None()
	return nil
}

func tracePopScope(c *abi.Call) error {
	if r := c.Thread.Recorder; r != nil {
		r.PopScope()
	}
	c.None()
	return nil
}

// traceBeginFork begins a forked call, and replies whether the trace has such calls: that of an export has what they do in their place.
func traceBeginFork(c *abi.Call) error {
	r := c.Thread.Recorder
	records := r != nil && !r.Exact
	if records {
		r.BeginFork()
	}
	c.Bool(records)
	return nil
}

// traceDropFork ends a forked call that has failed.
func traceDropFork(c *abi.Call) error {
	if r := c.Thread.Recorder; r != nil {
		r.DropFork()
	}
	c.None()
	return nil
}

// traceEndFork replies the future of a forked call that has returned.
func traceEndFork(c *abi.Call) error {
	r, err := recording(c)
	if err != nil {
		return err
	}
	result, err := abi.PlainValue(c.Arg(0))
	if err != nil {
		return err
	}
	future, err := r.EndFork(result)
	if err != nil {
		return err
	}
	return c.KeptValue(value.OfFuture(future))
}

// traceBeginFunction begins the call of an autograd function, and replies whether the trace has such calls: that of an export has what they do.
func traceBeginFunction(c *abi.Call) error {
	r := c.Thread.Recorder
	records := r != nil && !r.Exact
	if records {
		inputs, err := c.ArgTensors(0)
		if err != nil {
			return err
		}
		if err := r.BeginFunction(inputs); err != nil {
			return err
		}
	}
	c.Bool(records)
	return nil
}

// traceEndFunction ends the call of an autograd function that has given results.
func traceEndFunction(c *abi.Call) error {
	r, err := recording(c)
	if err != nil {
		return err
	}
	results, err := c.ArgTensors(5)
	if err != nil {
		return err
	}
	target := value.OfCapsule(&value.Capsule{Kind: "python function", Content: c.ArgObject(4)})
	c.None()
	text := func(i int) string { return strings.Clone(c.ArgString(i)) }
	return r.EndFunction(trace.HostFunction{Name: text(0), Module: text(1), Convention: text(2), Constants: text(3), Target: target}, results)
}

// traceConstant records that Python made a tensor of numbers, and replies it as the trace knows it.
func traceConstant(c *abi.Call) error {
	made := c.ArgTensor(0)
	if c.Thread.Recorder == nil {
		return c.Value(value.OfTensor(made))
	}
	c.Arg(0).Keep()
	if c.Thread.Recorder.Exact {
		out, err := c.Thread.Run(abi.OpLiftFreshCopy, value.OfTensor(made))
		if err != nil {
			return err
		}
		return c.Value(out)
	}
	moved, err := c.Thread.TracedData(made)
	if err != nil {
		return err
	}
	out := value.OfTensor(moved)
	if c.ArgBool(1) {
		if out, err = c.Thread.Run(abi.OpDetach, out); err != nil {
			return err
		}
	}
	return c.Value(out)
}

// traceTo is Tensor.to with a device, a type, a memory format or several of them, by the overloads that PyTorch chooses.
func traceTo(c *abi.Call) error {
	t := c.ArgTensor(0)
	c.Arg(0).Keep()
	self, dtype, format := value.OfTensor(t), value.Int(int64(t.DType())), value.None
	nonBlocking, fresh := value.Bool(c.ArgBool(3)), value.Bool(c.ArgBool(4))
	if !c.IsNone(2) {
		dtype = value.Int(c.Arg(2).Int())
	}
	if !c.IsNone(5) {
		format = value.Int(c.Arg(5).Int())
	}
	device := value.OfDevice(t.Device())
	if !c.IsNone(1) {
		device = value.OfDevice(abi.DeviceOfCode(c.Arg(1).Int()))
	}
	var err error
	var out value.Value
	switch {
	case c.IsNone(2):
		out, err = c.Thread.Run(abi.OpToDtypeLayout, self, dtype, value.Int(0), device, value.None, nonBlocking, fresh, format)
	case c.IsNone(1):
		out, err = c.Thread.Run(abi.OpToDtype, self, dtype, nonBlocking, fresh, format)
	default:
		out, err = c.Thread.Run(abi.OpToDevice, self, device, dtype, nonBlocking, fresh, format)
	}
	if err != nil {
		return err
	}
	return c.Value(out)
}

// traceEnd ends the trace. It replies the function, or adds it to the class of module as a method.
func traceEnd(c *abi.Call) error {
	r := c.Thread.Recorder
	if r == nil {
		return abi.RuntimeErrorf("no trace is being recorded")
	}
	defer c.Thread.EndRecorder()
	result, err := abi.PlainValue(c.Arg(1))
	if err != nil {
		return err
	}
	name := c.ArgString(0)
	if c.IsNone(2) {
		if abi.Program.Function(name) != nil {
			name = abi.Program.Mangle(name)
		}
		f, err := r.Finish(name, result)
		if err != nil {
			return err
		}
		if frontend.InlinesEverything() {
			passes.Inline(f.Graph())
		}
		abi.Program.AddFunction(f)
		c.ScriptFunction(&scripts.Function{Function: f})
		return nil
	}
	o, err := modules.ArgInstance(c, 2)
	if err != nil {
		return err
	}
	method := strings.Clone(c.ArgString(3))
	f, err := r.Finish(o.Class.Name+"."+method, result)
	if err != nil {
		return err
	}
	if frontend.InlinesEverything() {
		passes.Inline(f.Graph())
	}
	f.IsMethod = true
	for _, made := range append([]*ir.Function{f}, r.Made()...) {
		abi.Program.AddFunction(made)
	}
	o.Class.AddMethod(method, f)
	c.None()
	return nil
}

// traceNodes replies the nodes of a function's graph, inlined and without shapes: text, kind, place, file, line,
// the constant that is a tensor, and whether equal inputs may give different outputs. The first item is the graph's text.
func traceNodes(c *abi.Call) error {
	f, ok := c.Arg(0).Callable().(*scripts.Function)
	if !ok {
		return abi.TypeErrorf("expected a compiled function or method, not %s", c.Arg(0).KindName())
	}
	g := f.Function.Graph().Copy()
	passes.Inline(g)
	eraseShapes(g.Block())
	g = g.Copy()
	nodes := g.Block().Nodes()
	c.Open(abi.KindList, len(nodes)+1)
	c.String(g.String())
	for _, n := range nodes {
		c.Open(abi.KindTuple, 7)
		c.String(n.String())
		c.String(n.Kind())
		c.String(strings.TrimSuffix(n.Range.Highlight(), "\n"))
		file, line, _, _ := n.Range.FileLineCol()
		c.String(file)
		c.Int(line)
		v, isConstant := value.None, false
		if len(n.Outputs()) == 1 {
			v, isConstant = n.Output().Constant()
		}
		if isConstant && v.IsTensor() {
			if err := c.KeptValue(v); err != nil {
				return err
			}
		} else {
			c.None()
		}
		c.Bool(n.IsNondeterministic())
	}
	return nil
}

func eraseShapes(b *ir.Block) {
	for _, v := range b.Inputs() {
		v.SetType(types.Unshaped(v.Type()))
	}
	b.Walk(func(n *ir.Node) {
		for _, v := range n.Outputs() {
			v.SetType(types.Unshaped(v.Type()))
		}
	})
}

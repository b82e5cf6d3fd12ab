package bind

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// traceFunctions record what Python does as a graph.
var traceFunctions = []function{
	{schema: "is_tracing() -> bool", run: isTracing},
	{schema: "trace_observe(Tensor self, str what) -> None", run: func(c *call) error { return c.thread.warnTraced(c.argTensor(0), c.argString(1)) }},
	{schema: "trace_begin(any module, list names, any inputs, bool outplace) -> any", run: traceBegin},
	{schema: "trace_end(str name, any result, any module, str method) -> any", run: traceEnd},
	{schema: "trace_abort() -> None", run: traceAbort},
	{schema: "trace_push_scope(str path) -> None", run: tracePushScope},
	{schema: "trace_pop_scope() -> None", run: tracePopScope},
	{schema: "trace_begin_fork() -> bool", run: traceBeginFork},
	{schema: "trace_end_fork(any result) -> any", run: traceEndFork},
	{schema: "trace_drop_fork() -> None", run: traceDropFork},
	{schema: "trace_begin_function(list inputs) -> bool", run: traceBeginFunction},
	{schema: "trace_end_function(str name, str module, str convention, str constants, any target, list results) -> None", run: traceEndFunction},
	{schema: "trace_drop_function() -> None", run: traceDropFork},
	{schema: "trace_constant(Tensor made, bool detached) -> Tensor", run: traceConstant},
	{schema: "trace_nodes(any function) -> list", run: traceNodes},
	{schema: "trace_to(Tensor self, any device, any dtype, bool non_blocking, bool copy, any memory_format) -> Tensor", run: traceTo},
}

// pythonPlaces are the places of traces by the calls that lead to them, while a thread records. The GIL guards them.
var pythonPlaces struct {
	texts     map[string]*source.Text
	recorders int
}

// dispatchModes is the number of Python's modes that see operators below autograd, in all threads. The GIL guards it.
var dispatchModes int

// recorders is how many threads record and how many modes see operators.
func recorders() int { return pythonPlaces.recorders + dispatchModes }

// noteRecorders tells the embedder how many look at what it could answer without asking.
func noteRecorders() { embedder.SetRecorders(recorders()) }

func (h *thread) beginRecorder(r *trace.Recorder) {
	h.recorder = r
	pythonPlaces.recorders++
	noteRecorders()
}

func (h *thread) endRecorder() {
	if h.recorder == nil {
		return
	}
	h.recorder = nil
	if pythonPlaces.recorders--; pythonPlaces.recorders == 0 {
		pythonPlaces.texts = nil
	}
	noteRecorders()
}

// pythonHost tells recorders where the Python program is.
type pythonHost struct{ thread *thread }

// Place implements trace.Host.
func (pythonHost) Place() source.Range {
	var file, stack string
	var line int
	err := host.invoke("trace_place", 0, nil, func(w *Word) error {
		if w.kind() != kindTuple || w.count() != 3 {
			return nil
		}
		x := w.after(1)
		file, x = strings.Clone(x.text()), x.next()
		line, x = int(x.int()), x.next()
		stack = strings.Clone(x.text())
		return nil
	})
	if err != nil || stack == "" {
		return source.Range{}
	}
	t := pythonPlaces.texts[stack]
	if t == nil {
		t = source.NewText(file, stack, line)
		if pythonPlaces.texts == nil {
			pythonPlaces.texts = map[string]*source.Text{}
		}
		pythonPlaces.texts[stack] = t
	}
	return source.Range{Text: t, Start: 0, End: len(stack)}
}

// Name implements trace.Host.
func (h pythonHost) Name(t *tensor.Tensor) string {
	if h.thread.nameless || t.PyObject() == 0 {
		return ""
	}
	var name string
	_ = host.invoke("trace_name", 1, func(w *writer) { _ = w.value(value.OfTensor(t)) }, func(w *Word) error {
		name = strings.Clone(w.text())
		return nil
	})
	return name
}

// Warn implements trace.Host.
func (pythonHost) Warn(text string) error {
	return host.invoke("trace_warn_text", 1, func(w *writer) { w.string(text) }, nil)
}

// warnTraced tells, while a trace is being recorded, that what the program does now with a tensor is not recorded. An exact trace
// notes it.
func (h *thread) warnTraced(t *tensor.Tensor, what string) error {
	if h.recorder == nil {
		return nil
	}
	if h.recorder.Exact {
		h.recorder.Observe(t, what)
		return nil
	}
	return host.invoke("trace_warn", 1, func(w *writer) { w.string(what) }, nil)
}

// elementTraced is told that the program makes a number of a tensor's only element. In an exact trace it returns the tensor that stands for the number; else
// it warns, as it does of what no tensor can stand for.
func (h *thread) elementTraced(t *tensor.Tensor) (*tensor.Tensor, error) {
	if h.recorder != nil && h.recorder.Exact {
		if element := h.recorder.Element(t); element != nil {
			return element, nil
		}
	}
	return nil, h.warnTraced(t, "Converting a tensor to a Python number")
}

// numberTraced is asked of each operator in a trace whether it makes a number of the elements of tensors, which the program takes for a constant: a trace
// warns. An exact one has a tensor in place of the number that one element is, which it puts among the results, and notes that the program depends on
// other elements; then the operator is done.
func (h *thread) numberTraced(op *ops.Operator, args, out []value.Value) (done bool, err error) {
	if len(out) != 1 || !ops.DependsOnElements(op.BaseName()) {
		return false, nil
	}
	kind := "number"
	switch out[0].Kind() {
	case value.KindBool:
		kind = "boolean"
	case value.KindInt, value.KindFloat, value.KindComplex:
	default:
		return false, nil
	}
	for _, arg := range args {
		if !arg.IsTensor() {
			continue
		}
		var element *tensor.Tensor
		if op.Schema().Returns[0].Type.Kind() == types.KindNumber {
			element, err = h.elementTraced(arg.Tensor())
		} else {
			err = h.warnTraced(arg.Tensor(), "Converting a tensor to a Python "+kind)
		}
		if element != nil {
			out[0] = value.OfTensor(element)
			return true, nil
		}
		if err != nil || !h.recorder.Exact {
			return false, err
		}
	}
	return h.recorder.Exact, nil
}

// record adds a call of an operator to the trace that is being recorded, if there is one.
func (h *thread) record(op *ops.Operator, args, out []value.Value, given ...trace.Given) error {
	if h.recorder == nil {
		return nil
	}
	keepTensors(args)
	return h.recorder.Record(op, args, out, given...)
}

// castTraced returns the arguments of an operator as an autocast has them, where a trace is being recorded: the trace has the casts.
func (h *thread) castTraced(op *ops.Operator, args []value.Value) ([]value.Value, error) {
	if h.recorder == nil || !h.mode.IsCasting() {
		return args, nil
	}
	return h.mode.CastBy(op, args, func(v value.Value, to tensor.DType) (value.Value, error) {
		return h.run(opToDtype, v, value.Int(int64(to)), value.Bool(false), value.Bool(false), value.None)
	})
}

// keepTensors says of tensors that a trace has them: those that no operator of it made become
// constants of the graph.
func keepTensors(vs []value.Value) {
	for _, v := range vs {
		switch v.Kind() {
		case value.KindTensor:
			if i := v.Tensor().PyObject(); i != 0 {
				slots[i].kept = true
			}
		case value.KindList:
			keepTensors(v.List().Items)
		case value.KindTuple:
			keepTensors(v.Tuple().Items)
		}
	}
}

// givenNumbers lists the bound arguments of an overload that are numbers but were given as tensors,
// the last first: that is the order in which PyTorch converts them.
func (v *overload) givenNumbers(c *call) []trace.Given {
	var given []trace.Given
	for i := len(c.bound) - 1; i >= 0; i-- {
		w := c.bound[i]
		if w == nil {
			continue
		}
		t := v.parameters[i].written
		if o, ok := t.(*types.Optional); ok {
			t = o.Elem
		}
		list, ok := t.(*types.List)
		switch {
		case !ok:
			given = appendGiven(given, i, -1, t, w)
		case w.isSequence():
			k := 0
			for x := range w.items {
				given = appendGiven(given, i, k, list.Elem, x)
				k++
			}
		case i == v.varargs && c.positional > i && w == c.args.skip(i) && (v.schema.Arguments[i].ListSize <= 1 || c.positional > i+1):
			for k := range c.positional - i {
				given = appendGiven(given, i, k, list.Elem, w)
				w = w.next()
			}
		case list.Elem.Kind() != types.KindTensor:
			for k := range max(1, v.schema.Arguments[i].ListSize) {
				given = appendGiven(given, i, k, list.Elem, w)
			}
		}
	}
	return given
}

func appendGiven(given []trace.Given, argument, item int, t types.Type, w *Word) []trace.Given {
	x := w.tensor()
	if x == nil || t.Kind() == types.KindTensor || t.Kind() == types.KindOptional {
		return given
	}
	return append(given, trace.Given{Argument: argument, Item: item, Kind: t.Kind(), Tensor: x})
}

func isTracing(c *call) error {
	c.bool(c.thread.recorder != nil)
	return nil
}

// traceBegin starts a trace and replies the inputs that the program is to be called with. module is
// None for a function.
func traceBegin(c *call) error {
	if c.thread.recorder != nil {
		return runtimeErrorf("Tracing can't be nested")
	}
	r := trace.NewRecorder(pythonHost{c.thread})
	r.Outplace = c.argBool(3)
	if !c.isNone(0) {
		o, err := c.argInstance(0)
		if err != nil {
			return err
		}
		r.Self(o)
	}
	names := slices.Clone(c.argStrings(1))
	inputs, err := plainValue(c.arg(2))
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
	if err := c.value(value.OfTuple(value.NewTuple(bound...))); err != nil {
		return err
	}
	c.thread.beginRecorder(r)
	return nil
}

func traceAbort(c *call) error {
	c.thread.endRecorder()
	c.none()
	return nil
}

func tracePushScope(c *call) error {
	if r := c.thread.recorder; r != nil {
		r.PushScope(strings.Clone(c.argString(0)))
	}
	c.none()
	return nil
}

func tracePopScope(c *call) error {
	if r := c.thread.recorder; r != nil {
		r.PopScope()
	}
	c.none()
	return nil
}

// traceBeginFork begins a forked call, and replies whether the trace has such calls: that of an export has what they do in their place.
func traceBeginFork(c *call) error {
	r := c.thread.recorder
	records := r != nil && !r.Exact
	if records {
		r.BeginFork()
	}
	c.bool(records)
	return nil
}

// traceDropFork ends a forked call that has failed.
func traceDropFork(c *call) error {
	if r := c.thread.recorder; r != nil {
		r.DropFork()
	}
	c.none()
	return nil
}

// traceEndFork replies the future of a forked call that has returned.
func traceEndFork(c *call) error {
	r, err := c.recording()
	if err != nil {
		return err
	}
	result, err := plainValue(c.arg(0))
	if err != nil {
		return err
	}
	future, err := r.EndFork(result)
	if err != nil {
		return err
	}
	return c.keptValue(value.OfFuture(future))
}

// traceBeginFunction begins the call of an autograd function, and replies whether the trace has such calls: that of an export has what they do.
func traceBeginFunction(c *call) error {
	r := c.thread.recorder
	records := r != nil && !r.Exact
	if records {
		inputs, err := c.argTensors(0)
		if err != nil {
			return err
		}
		if err := r.BeginFunction(inputs); err != nil {
			return err
		}
	}
	c.bool(records)
	return nil
}

// traceEndFunction ends the call of an autograd function that has given results.
func traceEndFunction(c *call) error {
	r, err := c.recording()
	if err != nil {
		return err
	}
	results, err := c.argTensors(5)
	if err != nil {
		return err
	}
	target := value.OfCapsule(&value.Capsule{Kind: "python function", Content: c.argObject(4)})
	c.none()
	text := func(i int) string { return strings.Clone(c.argString(i)) }
	return r.EndFunction(trace.HostFunction{Name: text(0), Module: text(1), Convention: text(2), Constants: text(3), Target: target}, results)
}

// traceConstant records that Python made a tensor of numbers, and replies it as the trace knows it.
func traceConstant(c *call) error {
	made := c.argTensor(0)
	if c.thread.recorder == nil {
		return c.value(value.OfTensor(made))
	}
	c.arg(0).keep()
	if c.thread.recorder.Exact {
		out, err := c.thread.run(opLiftFreshCopy, value.OfTensor(made))
		if err != nil {
			return err
		}
		return c.value(out)
	}
	moved, err := c.thread.tracedData(made)
	if err != nil {
		return err
	}
	out := value.OfTensor(moved)
	if c.argBool(1) {
		if out, err = c.thread.run(opDetach, out); err != nil {
			return err
		}
	}
	return c.value(out)
}

// traceTo is Tensor.to with a device, a type, a memory format or several of them, by the overloads that PyTorch chooses.
func traceTo(c *call) error {
	t := c.argTensor(0)
	c.arg(0).keep()
	self, dtype, format := value.OfTensor(t), value.Int(int64(t.DType())), value.None
	nonBlocking, fresh := value.Bool(c.argBool(3)), value.Bool(c.argBool(4))
	if !c.isNone(2) {
		dtype = value.Int(c.arg(2).int())
	}
	if !c.isNone(5) {
		format = value.Int(c.arg(5).int())
	}
	device := value.OfDevice(t.Device())
	if !c.isNone(1) {
		device = value.OfDevice(deviceOfCode(c.arg(1).int()))
	}
	var err error
	var out value.Value
	switch {
	case c.isNone(2):
		out, err = c.thread.run(opToDtypeLayout, self, dtype, value.Int(0), device, value.None, nonBlocking, fresh, format)
	case c.isNone(1):
		out, err = c.thread.run(opToDtype, self, dtype, nonBlocking, fresh, format)
	default:
		out, err = c.thread.run(opToDevice, self, device, dtype, nonBlocking, fresh, format)
	}
	if err != nil {
		return err
	}
	return c.value(out)
}

// traceEnd ends the trace. It replies the function, or adds it to the class of module as a method.
func traceEnd(c *call) error {
	r := c.thread.recorder
	if r == nil {
		return runtimeErrorf("no trace is being recorded")
	}
	defer c.thread.endRecorder()
	result, err := plainValue(c.arg(1))
	if err != nil {
		return err
	}
	name := c.argString(0)
	if c.isNone(2) {
		if program.Function(name) != nil {
			name = program.Mangle(name)
		}
		f, err := r.Finish(name, result)
		if err != nil {
			return err
		}
		if frontend.InlinesEverything() {
			passes.Inline(f.Graph())
		}
		program.AddFunction(f)
		c.scriptFunction(&scriptFunction{function: f})
		return nil
	}
	o, err := c.argInstance(2)
	if err != nil {
		return err
	}
	method := strings.Clone(c.argString(3))
	f, err := r.Finish(o.Class.Name+"."+method, result)
	if err != nil {
		return err
	}
	if frontend.InlinesEverything() {
		passes.Inline(f.Graph())
	}
	f.IsMethod = true
	for _, made := range append([]*ir.Function{f}, r.Made()...) {
		program.AddFunction(made)
	}
	o.Class.AddMethod(method, f)
	c.none()
	return nil
}

// traceNodes replies the nodes of a function's graph, inlined and without shapes: text, kind, place, file, line,
// the constant that is a tensor, and whether equal inputs may give different outputs. The first item is the graph's text.
func traceNodes(c *call) error {
	f, ok := c.arg(0).callable().(*scriptFunction)
	if !ok {
		return typeErrorf("expected a compiled function or method, not %s", c.arg(0).kindName())
	}
	g := f.function.Graph().Copy()
	passes.Inline(g)
	eraseShapes(g.Block())
	g = g.Copy()
	nodes := g.Block().Nodes()
	c.open(kindList, len(nodes)+1)
	c.string(g.String())
	for _, n := range nodes {
		c.open(kindTuple, 7)
		c.string(n.String())
		c.string(n.Kind())
		c.string(strings.TrimSuffix(n.Range.Highlight(), "\n"))
		file, line, _, _ := n.Range.FileLineCol()
		c.string(file)
		c.int(line)
		v, isConstant := value.None, false
		if len(n.Outputs()) == 1 {
			v, isConstant = n.Output().Constant()
		}
		if isConstant && v.IsTensor() {
			if err := c.keptValue(v); err != nil {
				return err
			}
		} else {
			c.none()
		}
		c.bool(n.IsNondeterministic())
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

package operators

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// defineFunctions add operators at run time: torchjit.library.
var defineFunctions = []abi.Function{
	{Schema: "define_operator(str schema, str alias) -> str", Run: defineOperator},
	{Schema: "implement_operator(str name, object fn, str key) -> None", Run: implementOperator},
	{Schema: "operator_is_implemented(str name) -> bool", Run: operatorIsImplemented},
}

var aliasKinds = map[string]ops.AliasKind{
	"": ops.AliasFromSchema, "FROM_SCHEMA": ops.AliasFromSchema, "PURE_FUNCTION": ops.AliasPure, "CONSERVATIVE": ops.AliasConservative,
}

// defineOperator adds an operator by its schema and replies its name.
func defineOperator(c *abi.Call) error {
	alias, ok := aliasKinds[c.ArgText(1)]
	if !ok {
		return abi.RuntimeErrorf("there is no kind of alias analysis called %q; there are FROM_SCHEMA, PURE_FUNCTION and CONSERVATIVE", c.ArgString(1))
	}
	o, err := ops.Define(c.ArgString(0), alias)
	if err == nil {
		c.String(o.Name)
	}
	return err
}

func operatorIsImplemented(c *abi.Call) error {
	o := ops.Find(c.ArgString(0))
	c.Bool(o != nil && o.Run != nil)
	return nil
}

// overridden are the implementations of operators by the key that they were given for.
type overridden struct{ plain, meta ops.Operation }

var pythonOperators = map[string]*overridden{}

// implementOperator gives an operator a Python function: for tensors on the CPU ("CPU"), for those and
// their gradients ("CompositeImplicitAutograd"), for gradients alone ("Autograd"), or for tensors that
// have a shape but no elements ("Meta").
func implementOperator(c *abi.Call) error {
	name := c.ArgString(0)
	o := ops.Find(name)
	if o == nil {
		return abi.RuntimeErrorf("There is no schema for the operator %s", name)
	}
	run := pythonOperation(o.Schema(), c.ArgObject(1))
	known := pythonOperators[name]
	if known == nil {
		known = &overridden{plain: o.Run}
		pythonOperators[name] = known
	}
	c.None()
	switch key := c.ArgText(2); key {
	case "Autograd", "AutogradCPU":
		autograd.Composite(o, recordedBy(run))
		return nil
	case "Meta":
		known.meta = run
	case "CPU", "CompositeExplicitAutograd":
		known.plain = run
	case "", "CompositeImplicitAutograd":
		known.plain = run
		autograd.Composite(o, recordedBy(run))
	default:
		return source.Errorf(source.NotImplementedError, source.Range{}, "implementations for the dispatch key %s are not used by this version of torchjit", key)
	}
	_, err := ops.Implement(name, known.run)
	return err
}

// recordedBy runs a Python function that is recorded by what it does.
func recordedBy(run ops.Operation) autograd.Operation {
	return func(m *autograd.Mode, args, out []value.Value) error {
		return abi.InMode(m, func() error { return run(args, out) })
	}
}

func (f *overridden) run(args, out []value.Value) error {
	if f.meta != nil {
		for _, v := range args {
			if v.IsTensor() && v.Tensor().ShownDevice().Type == tensor.Meta {
				return f.meta(args, out)
			}
		}
	}
	if f.plain == nil {
		return source.Errorf(source.NotImplementedError, source.Range{}, "the operator has no implementation for tensors on the CPU")
	}
	return f.plain(args, out)
}

// pythonOperation calls a Python function as an operator of a schema.
func pythonOperation(s *schema.FunctionSchema, target *abi.Object) ops.Operation {
	return func(args, out []value.Value) error {
		defer pauseTrace()()
		return abi.CallPython(target, args, func(w *abi.Word) error { return readResults(s, w, out) })
	}
}

// pauseTrace leaves the trace that the thread records, in which the operator is one call, until the function that it returns is called.
func pauseTrace() func() {
	defer abi.HoldGIL()()
	t := abi.ThisThread()
	r := t.Recorder
	if r == nil {
		return func() {}
	}
	t.Recorder = nil
	return func() { t.Recorder = r }
}

// readResults reads what an operator gives from Python's answer: a value, or a sequence of as many as it has.
func readResults(s *schema.FunctionSchema, w *abi.Word, out []value.Value) error {
	switch len(s.Returns) {
	case 0:
		return nil
	case 1:
		return readResult(s, w, 0, out)
	}
	if !w.IsSequence() || w.Count() != len(out) {
		return abi.TypeErrorf("%s returns %d values, but its function returned a %s", s.Name, len(out), w.KindName())
	}
	for i, x := range w.Fields() {
		if err := readResult(s, x, i, out); err != nil {
			return err
		}
	}
	return nil
}

func readResult(s *schema.FunctionSchema, w *abi.Word, i int, out []value.Value) error {
	if w.Kind() == abi.KindNone && s.ArgumentIndex("output_mask") >= 0 {
		out[i] = value.None // is not asked for
		return nil
	}
	v, ok, err := abi.ProgramValue(w, s.Returns[i].Type)
	if err == nil && !ok {
		err = abi.TypeErrorf("%s returns a %s, but its function returned a %s", s.Name, s.Returns[i].Type.Annotation(nil), w.KindName())
	}
	out[i] = v
	return err
}

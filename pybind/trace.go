package main

// #include <pthread.h>
// #include <stdint.h>
// static uintptr_t tj_thread(void) { return (uintptr_t)pthread_self(); }
import "C"

import (
	"torchjit/gojit/ops"
	"torchjit/gojit/trace"
	"torchjit/gojit/value"
)

// traceFunctions record what Python does as a graph.
var traceFunctions = []function{
	{schema: "is_tracing() -> bool", run: isTracing},
	{schema: "trace_begin(any module, list names, any inputs) -> any", run: traceBegin},
	{schema: "trace_end(str name, any result, any module, str method) -> any", run: traceEnd},
	{schema: "trace_abort() -> None", run: traceAbort},
}

// tracing is the trace that a thread is recording, nil where none is. The GIL guards it.
var tracing struct {
	recorder *trace.Recorder
	thread   C.uintptr_t
}

// recorder returns the trace that this thread is recording, nil where it records none.
func recorder() *trace.Recorder {
	if tracing.recorder == nil || tracing.thread != C.tj_thread() {
		return nil
	}
	return tracing.recorder
}

// record adds a call of an operator to the trace that is being recorded, if there is one.
func record(op *ops.Operator, args, out []value.Value) {
	if r := recorder(); r != nil {
		keepTensors(args)
		r.Record(op, args, out)
	}
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

func isTracing(c *call) error {
	c.bool(recorder() != nil)
	return nil
}

// traceBegin starts a trace and replies the inputs that the program is to be called with. module is
// None for a function.
func traceBegin(c *call) error {
	if tracing.recorder != nil {
		return runtimeErrorf("Tracing can't be nested")
	}
	r := trace.NewRecorder()
	if !c.isNone(0) {
		o, err := c.argInstance(0)
		if err != nil {
			return err
		}
		r.Self(o)
	}
	names := c.argStrings(1)
	inputs, err := plainValue(c.arg(2))
	if err != nil {
		return err
	}
	items := inputs.Tuple().Items
	bound := make([]value.Value, len(items))
	for i, item := range items {
		if bound[i], err = r.Input(names[i], item); err != nil {
			return err
		}
	}
	if err := c.value(value.OfTuple(value.NewTuple(bound...))); err != nil {
		return err
	}
	tracing.recorder, tracing.thread = r, C.tj_thread()
	return nil
}

func traceAbort(c *call) error {
	tracing.recorder = nil
	c.none()
	return nil
}

// traceEnd ends the trace. It replies the function, or adds it to the class of module as a method.
func traceEnd(c *call) error {
	r := recorder()
	if r == nil {
		return runtimeErrorf("no trace is being recorded")
	}
	tracing.recorder = nil
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
		program.AddFunction(f)
		c.scriptFunction(&scriptFunction{function: f})
		return nil
	}
	o, err := c.argInstance(2)
	if err != nil {
		return err
	}
	method := c.argString(3)
	f, err := r.Finish(o.Class.Name+"."+method, result)
	if err != nil {
		return err
	}
	f.IsMethod = true
	f.Schema.Name = method
	program.AddFunction(f)
	o.Class.AddMethod(method, f)
	c.none()
	return nil
}

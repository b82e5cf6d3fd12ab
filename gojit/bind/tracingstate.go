package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tracingMembers look into the trace that is being recorded, suspend it and go on with it.
var tracingMembers = []function{
	{schema: "_C._get_tracing_state() -> TracingState?", doc: "What records a trace, None where none is recorded.", run: bind(func(c *call) *trace.Recorder { return c.thread.recorder })},
	{schema: "_C._set_tracing_state(TracingState? state) -> None", doc: "Goes on with a trace; None suspends the one that is being recorded.", run: bind(setTracingState)},
	{schema: "_C._get_value_trace(Tensor var) -> Value", doc: "The value of the graph that a tensor is: one that the trace does not know becomes a constant. RuntimeError where no trace is recorded.", run: bind(tracedValue)},
	{schema: "_C._set_value_trace(Tensor var, Value? value) -> None", doc: "Makes a tensor another value of the graph, or with None one that the trace does not know. RuntimeError where no trace is recorded.", run: bind(setTracedValue)},
	{schema: "_C._tracer_set_force_outplace(bool force_outplace) -> None", doc: "Has operators that write a tensor recorded as ones that make a new one, or not. RuntimeError where no trace is recorded.", run: bind(setOutplace)},

	{schema: "TracingState.__str__(TracingState self) -> str", doc: "The graph so far.", run: bind(func(r *trace.Recorder) string { return r.Graph().String() })},
	{schema: "TracingState.graph(TracingState self) -> Graph", doc: "The graph so far.", run: bind((*trace.Recorder).Graph)},
	{schema: "TracingState.set_graph(TracingState self, Graph graph) -> None", doc: "Records into another graph from now on.", run: bind((*trace.Recorder).SetGraph)},
	{schema: "TracingState.push_scope(TracingState self, str name) -> None", doc: "Begins a scope that the nodes to come are of.", run: bind((*trace.Recorder).PushScope)},
	{schema: "TracingState.pop_scope(TracingState self) -> None", doc: "Ends what push_scope has begun. RuntimeError where no scope is open.", run: bind(popScope)},
	{schema: "TracingState.current_scope(TracingState self) -> str", doc: "The innermost scope, \"\" outside of all.", run: bind((*trace.Recorder).Scope)},
}

func setTracingState(c *call, r *trace.Recorder) {
	c.thread.endRecorder()
	if r != nil {
		c.thread.beginRecorder(r)
	}
}

// recording returns the recorder of the call's thread. It fails where there is none.
func (c *call) recording() (*trace.Recorder, error) {
	if c.thread.recorder == nil {
		return nil, runtimeErrorf("no trace is being recorded")
	}
	return c.thread.recorder, nil
}

func tracedValue(c *call, t *tensor.Tensor) (*ir.Value, error) {
	r, err := c.recording()
	if err != nil {
		return nil, err
	}
	return r.ValueOf(t)
}

func setTracedValue(c *call, t *tensor.Tensor, v *ir.Value) error {
	r, err := c.recording()
	if err != nil {
		return err
	}
	if v != nil && v.Node().Graph() != r.Graph() {
		return runtimeErrorf("the value %%%s is of another graph than the one that is being recorded", v.Name())
	}
	r.SetValueOf(t, v)
	return nil
}

func setOutplace(c *call, on bool) error {
	r, err := c.recording()
	if err == nil {
		r.Outplace = on
	}
	return err
}

func popScope(r *trace.Recorder) error {
	if !r.InScope() {
		return runtimeErrorf("no scope of the trace is open")
	}
	r.PopScope()
	return nil
}

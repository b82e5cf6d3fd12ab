package tracing

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/trace"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// tracingMembers look into the trace that is being recorded, suspend it and go on with it.
var tracingMembers = []abi.Function{
	{Schema: "_C._get_tracing_state() -> TracingState?", Doc: "What records a trace, None where none is recorded.", Run: abi.Bind(func(c *abi.Call) *trace.Recorder { return c.Thread.Recorder })},
	{Schema: "_C._set_tracing_state(TracingState? state) -> None", Doc: "Goes on with a trace; None suspends the one that is being recorded.", Run: abi.Bind(setTracingState)},
	{Schema: "_C._get_value_trace(Tensor var) -> Value", Doc: "The value of the graph that a tensor is: one that the trace does not know becomes a constant. RuntimeError where no trace is recorded.", Run: abi.Bind(tracedValue)},
	{Schema: "_C._set_value_trace(Tensor var, Value? value) -> None", Doc: "Makes a tensor another value of the graph, or with None one that the trace does not know. RuntimeError where no trace is recorded.", Run: abi.Bind(setTracedValue)},
	{Schema: "_C._tracer_set_force_outplace(bool force_outplace) -> None", Doc: "Has operators that write a tensor recorded as ones that make a new one, or not. RuntimeError where no trace is recorded.", Run: abi.Bind(setOutplace)},

	{Schema: "TracingState.__str__(TracingState self) -> str", Doc: "The graph so far.", Run: abi.Bind(func(r *trace.Recorder) string { return r.Graph().String() })},
	{Schema: "TracingState.graph(TracingState self) -> Graph", Doc: "The graph so far.", Run: abi.Bind((*trace.Recorder).Graph)},
	{Schema: "TracingState.set_graph(TracingState self, Graph graph) -> None", Doc: "Records into another graph from now on.", Run: abi.Bind((*trace.Recorder).SetGraph)},
	{Schema: "TracingState.push_scope(TracingState self, str name) -> None", Doc: "Begins a scope that the nodes to come are of.", Run: abi.Bind((*trace.Recorder).PushScope)},
	{Schema: "TracingState.pop_scope(TracingState self) -> None", Doc: "Ends what push_scope has begun. RuntimeError where no scope is open.", Run: abi.Bind(popScope)},
	{Schema: "TracingState.current_scope(TracingState self) -> str", Doc: "The innermost scope, \"\" outside of all.", Run: abi.Bind((*trace.Recorder).Scope)},
}

func setTracingState(c *abi.Call, r *trace.Recorder) {
	c.Thread.EndRecorder()
	if r != nil {
		c.Thread.BeginRecorder(r)
	}
}

// recording returns the recorder of the call's thread. It fails where there is none.
func recording(c *abi.Call) (*trace.Recorder, error) {
	if c.Thread.Recorder == nil {
		return nil, abi.RuntimeErrorf("no trace is being recorded")
	}
	return c.Thread.Recorder, nil
}

func tracedValue(c *abi.Call, t *tensor.Tensor) (*ir.Value, error) {
	r, err := recording(c)
	if err != nil {
		return nil, err
	}
	return r.ValueOf(t)
}

func setTracedValue(c *abi.Call, t *tensor.Tensor, v *ir.Value) error {
	r, err := recording(c)
	if err != nil {
		return err
	}
	if v != nil && v.Node().Graph() != r.Graph() {
		return abi.RuntimeErrorf("the value %%%s is of another graph than the one that is being recorded", v.Name())
	}
	r.SetValueOf(t, v)
	return nil
}

func setOutplace(c *abi.Call, on bool) error {
	r, err := recording(c)
	if err == nil {
		r.Outplace = on
	}
	return err
}

func popScope(r *trace.Recorder) error {
	if !r.InScope() {
		return abi.RuntimeErrorf("no scope of the trace is open")
	}
	r.PopScope()
	return nil
}

package gojit

import (
	"context"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/exec"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Explanation tells how calls of a function run: the graph, its groups of operators that run together, the reasons why some did not, and times where
// calls were measured. String gives it as text, HTML as a page with a drawing.
type Explanation = exec.Explanation

// explainedCalls is how many calls Explain measures.
const explainedCalls = 5

// ExplainFunction tells how calls of a function run.
func ExplainFunction(f *ir.Function) (x *Explanation, err error) {
	defer guard(&err)
	return standard.exec.Explain(f)
}

// Explain tells how calls of a method run. With inputs it calls the method some times, and the explanation has times: one such call of Explain at a time
// in a process, and no other calls beside it, which would be measured too.
func (m *Module) Explain(ctx context.Context, method string, inputs ...any) (x *Explanation, err error) {
	defer guard(&err)
	f, err := m.Method(method)
	if err != nil {
		return nil, err
	}
	e := m.owner().exec
	if len(inputs) == 0 {
		return e.Explain(f, value.OfObject(m.Object))
	}
	if _, err := m.Call(ctx, method, inputs...); err != nil { // plans are made in the first calls
		return nil, err
	}
	if err := e.TimeSteps(f, true); err != nil {
		return nil, err
	}
	defer func() { _ = e.TimeSteps(f, false) }() // it fails where it fails above
	if err := autograd.BeginProfile(false); err != nil {
		return nil, err
	}
	for range explainedCalls {
		if _, err = m.Call(ctx, method, inputs...); err != nil {
			break
		}
	}
	events := autograd.EndProfile()
	if err != nil {
		return nil, err
	}
	if x, err = e.Explain(f, value.OfObject(m.Object)); err == nil {
		x.Times, x.Calls = exec.Sum(events), explainedCalls
	}
	return x, err
}

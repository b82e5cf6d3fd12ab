package autograd

import (
	"context"

	"github.com/torchjit/torchjit/gojit/internal/dimnames"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Mode says what happens with the operators that one thread runs. It belongs to that thread (one of Python's, or
// one run of the interpreter with what it calls); a forked call starts with a copy. The zero Mode records.
type Mode struct {
	off, inference bool
	noTangent      bool // tangents are not computed
	saving         []*SavedHooks
	thread         int
	casting        *casting // the innermost autocast
	uncached       bool     // casts of parameters are not kept
	differentiated *Node    // whose derivative runs, while anomalies are looked for
	dispatcher     Dispatcher
	belowAutograd  bool       // autograd has had the operators that run: nothing is recorded, though GradEnabled may say so
	bypass         bool       // tensors whose classes run operators count as any other
	within         int        // how many gradients of composite operators run within each other
	expanding      *expansion // the composite operators whose bodies run, from the innermost on
	withoutNames   bool       // an operator on tensors with named dimensions runs, or derivatives do: names do not count
	wrapsNumbers   bool       // nodes of operators that take numbers are called as where those are tensors
}

// deepest is how many gradients of composite operators may run within each other.
const deepest = 200

// SetWrapsNumbers says whether operators that take numbers are recorded as where these are tensors, as Python's calls of them are in PyTorch. It
// returns what was before.
func (m *Mode) SetWrapsNumbers(on bool) (before bool) {
	before = m.wrapsNumbers
	m.wrapsNumbers = on
	return before
}

// GradEnabled reports whether operations are to be recorded for differentiation.
func (m *Mode) GradEnabled() bool { return !m.off }

// SetGradEnabled switches the recording of operations on or off.
func (m *Mode) SetGradEnabled(on bool) { m.off = !on }

// Inference reports whether the results of operators are inference tensors.
func (m *Mode) Inference() bool { return m.inference }

// SetInference begins or ends inference mode. It does not change GradEnabled, which does not count in that mode.
func (m *Mode) SetInference(on bool) { m.inference = on }

// SetForward switches the computing of tangents on or off and returns what was before.
func (m *Mode) SetForward(on bool) (before bool) {
	before = !m.noTangent
	m.noTangent = !on
	return before
}

// records reports whether operators on tensors that require gradients are recorded.
func (m *Mode) records() bool { return !m.off && !m.belowAutograd && !m.inference }

// OnlyComputes reports whether operators on t do nothing in the mode besides computing their results.
func (m *Mode) OnlyComputes(t *tensor.Tensor) bool {
	return !m.inference && m.dispatcher == nil && !t.Dispatches() && (m.off || m.belowAutograd || !t.RequiresGrad()) && (m.noTangent || !InForward())
}

// Groups reports whether an operator on t among others may run at once with them, and whether that is recorded.
func (m *Mode) Groups(t *tensor.Tensor) (recorded, ok bool) {
	if m.OnlyComputes(t) || m.inference && m.dispatcher == nil && !t.Dispatches() && (m.noTangent || !InForward()) {
		return false, true
	}
	ok = t.RequiresGrad() && m.records() && m.dispatcher == nil && !t.Dispatches() && (m.noTangent || !InForward()) && m.SavedHooks() == nil && anomaly.Load() == nil
	return ok, ok
}

type modeKey struct{}

// WithMode returns a context in which programs start in a copy of the mode.
func WithMode(ctx context.Context, m *Mode) context.Context {
	return context.WithValue(ctx, modeKey{}, *m)
}

// ModeOf returns the mode in which programs start in a context: one that records where none was given.
func ModeOf(ctx context.Context) Mode {
	m, _ := ctx.Value(modeKey{}).(Mode)
	return m
}

// Operation is an operator that runs in a mode.
type Operation func(m *Mode, args, out []value.Value) error

// OperationOf returns how an operator that has an implementation runs in a mode.
func OperationOf(op *ops.Operator) Operation {
	if run := readsMode[op.Name]; run != nil {
		return run
	}
	if f := dimnames.FormOf(op); f != nil {
		return func(m *Mode, args, out []value.Value) error { return f.Run(args, out, m.Run, m.runUnnamed) }
	}
	return func(m *Mode, args, out []value.Value) error { return m.Run(op, args, out) }
}

// ReadsMode reports whether an operator reads or changes the mode itself.
func ReadsMode(op *ops.Operator) bool { return readsMode[op.Name] != nil }

// CompiledOperationOf is OperationOf for compiled code, where an autocast casts by rules of its own while casts says so: takes are the static types of
// what the operator reads, and mayBeFloat32 says whether MayBeFloat32 is so of any.
func CompiledOperationOf(op *ops.Operator, takes []types.Type, mayBeFloat32 bool, casts func() bool) Operation {
	if run := readsMode[op.Name]; run != nil {
		return run
	}
	return compiledCast(op, takes, mayBeFloat32, casts)
}

var errSavedInference = errorf("Inference tensors cannot be saved for backward. To work around you can make a clone to get a normal tensor and use it in autograd.")

func anyInference(args []value.Value) (found bool) {
	if !tensor.InferenceInUse() {
		return false
	}
	eachTensor(args, func(t *tensor.Tensor) bool { found = t.IsInference(); return !found })
	return found
}

// checkInference fails where an operator outside of inference mode writes an inference tensor or would save it.
func checkInference(m *Mode, op *ops.Operator, args []value.Value) error {
	p := planOf(op)
	if p.writes && args[0].IsTensor() && args[0].Tensor().IsInference() {
		return errorf("Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.")
	}
	if m.records() && !p.notDifferentiable && p.savesOperand && anyRequiresGrad(args) {
		return errSavedInference
	}
	return nil
}

package autograd

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Dispatcher runs operators below autograd: those that are not made of others, once it is known how they are recorded.
type Dispatcher interface {
	// Dispatch runs an operator.
	Dispatch(m *Mode, op *ops.Operator, args, out []value.Value) error
	// Expand runs what a composite operator is made of in the mode, and reports whether it knows that.
	Expand(m *Mode, op *ops.Operator, args, out []value.Value) (known bool, err error)
}

// SetDispatcher has d run the operators of the mode, nil: nothing but themselves.
func (m *Mode) SetDispatcher(d Dispatcher) {
	if m.dispatcher = d; d != nil {
		tensor.Track()
	}
}

// Dispatches reports whether something other than themselves runs the operators of the mode.
func (m *Mode) Dispatches() bool { return m.dispatcher != nil && !m.bypass }

// classes runs operators on tensors whose classes say what becomes of them.
var classes Dispatcher

// SetClassDispatcher has d run operators on tensors that dispatch.
func SetClassDispatcher(d Dispatcher) { classes = d }

// SetBypass says whether the mode runs every operator itself, and returns what was before: without a dispatcher, and tensors whose
// classes run operators count as any other.
func (m *Mode) SetBypass(on bool) (before bool) {
	before, m.bypass = m.bypass, on
	return before
}

// SetBelow says whether autograd is to leave operators alone, whatever GradEnabled says, and returns what was before.
func (m *Mode) SetBelow(on bool) (before bool) {
	before, m.belowAutograd = m.belowAutograd, on
	return before
}

// hasDispatching reports whether the class of an argument runs operators.
func (m *Mode) hasDispatching(args []value.Value) (found bool) {
	if m.bypass || classes == nil || !tensor.ForeignInUse() {
		return false
	}
	eachTensor(args, func(t *tensor.Tensor) bool { found = t.Dispatches(); return !found })
	return found
}

// dispatcherOf returns what runs an operator in the mode, nil for the operator itself.
func (m *Mode) dispatcherOf(args []value.Value) Dispatcher {
	switch {
	case m.bypass:
		return nil
	case m.dispatcher != nil:
		return m.dispatcher
	case m.hasDispatching(args):
		return classes
	}
	return nil
}

// BelowAutograd returns a copy of the mode in which nothing is recorded and nothing dispatched.
func (m *Mode) BelowAutograd() *Mode {
	below := *m
	below.belowAutograd, below.noTangent, below.dispatcher, below.casting = true, true, nil, nil
	return &below
}

// compute runs an operator that is not recorded, or that will be from its results.
func (m *Mode) compute(op *ops.Operator, args, out []value.Value) error {
	d := m.dispatcherOf(args)
	if d == nil {
		return op.Run(args, out)
	}
	if err := d.Dispatch(m, op, args, out); err != nil {
		return err
	}
	noteViews(op, args, out)
	return nil
}

// noteViews says of results whose class has made them that they are views of the first argument, where the operator gives views.
func noteViews(op *ops.Operator, args, out []value.Value) {
	p := planOf(op)
	if !p.views || p.notDifferentiable || p.writes || len(args) == 0 || !args[0].IsTensor() {
		return
	}
	eachTensor(out, func(t *tensor.Tensor) bool {
		if t.Dispatches() && t != args[0].Tensor() && t.Base() == nil {
			t.SetBase(args[0].Tensor())
			t.ShareWrites(args[0].Tensor())
		}
		return true
	})
}

// expand runs a composite operator as what it is made of where that is known.
func (m *Mode) expand(op *ops.Operator, args, out []value.Value) (known bool, err error) {
	d := m.dispatcherOf(args)
	if d == nil || !op.IsComposite() || m.isExpanding(op) {
		return false, nil
	}
	if known, err = d.Expand(m, op, args, out); known || err != nil {
		return true, err
	}
	return m.takeApart(op, args, out)
}

// takeApart runs a composite operator as what its record says that it is made of, or as the operator that it is another name of.
func (m *Mode) takeApart(op *ops.Operator, args, out []value.Value) (known bool, err error) {
	p := planOf(op)
	alias := op.Def().Name
	if alias == strings.TrimPrefix(op.Name, "aten::") {
		alias = ""
	}
	if p.decompose == nil && alias == "" || p.writes || p.hasOut {
		return false, nil
	}
	defer source.Catch(&err)
	if alias != "" {
		copy(out, (&emitter{mode: m}).Emit(alias, args...))
	} else {
		copy(out, p.decompose(&emitter{mode: m}, args))
	}
	return true, nil
}

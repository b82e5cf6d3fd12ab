package autograd

import (
	"torchjit/gojit/ops"
	"torchjit/gojit/source"
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
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
func (m *Mode) Dispatches() bool { return m.dispatcher != nil }

// BelowAutograd returns a copy of the mode in which nothing is recorded and nothing dispatched.
func (m *Mode) BelowAutograd() *Mode {
	below := *m
	below.off, below.primal, below.dispatcher, below.casting = true, true, nil, nil
	return &below
}

// compute runs an operator that is not recorded, or that will be from its results.
func (m *Mode) compute(op *ops.Operator, args, out []value.Value) error {
	if m.dispatcher != nil {
		return m.dispatcher.Dispatch(m, op, args, out)
	}
	return op.Run(args, out)
}

// expand runs a composite operator as what it is made of where that is known.
func (m *Mode) expand(op *ops.Operator, args, out []value.Value) (known bool, err error) {
	if !op.IsComposite() {
		return false, nil
	}
	if known, err = m.dispatcher.Expand(m, op, args, out); known || err != nil {
		return true, err
	}
	p := planOf(op)
	if p.decompose == nil || p.writes || p.hasOut {
		return false, nil
	}
	defer source.Catch(&err)
	copy(out, p.decompose(&emitter{m}, args))
	return true, nil
}

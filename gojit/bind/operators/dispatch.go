package operators

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// dispatchFunctions have Python see the operators that run below autograd.
var dispatchFunctions = []abi.Function{
	{Schema: "set_dispatching(bool on) -> None", Run: setDispatching},
	{Schema: "count_dispatch_modes(int change) -> None", Run: countDispatchModes},
	{Schema: "below_autograd(object f) -> any", Run: belowAutograd},
	{Schema: "set_undispatched(bool on) -> bool", Run: setUndispatched},
	{Schema: "set_below(bool on) -> bool", Run: func(c *abi.Call) error {
		c.Bool(c.Thread.Mode.SetBelow(c.ArgBool(0)))
		return nil
	}},
	{Schema: "enter_above() -> bool", Run: enterAbove},
	{Schema: "leave_above() -> None", Run: leaveAbove},
}

// setDispatching switches on or off that Python's modes see the operators of this thread.
func setDispatching(c *abi.Call) error {
	if c.ArgBool(0) {
		c.Thread.Mode.SetDispatcher(pythonDispatcher{})
	} else {
		c.Thread.Mode.SetDispatcher(nil)
	}
	c.None()
	return nil
}

// countDispatchModes notes that modes of Python's have become active or inactive.
func countDispatchModes(c *abi.Call) error {
	abi.DispatchModes += c.ArgInt(0)
	abi.NoteRecorders()
	c.None()
	return nil
}

// belowAutograd calls a Python function while nothing is recorded or dispatched.
func belowAutograd(c *abi.Call) error {
	f := c.ArgObject(0)
	return abi.InMode(c.Thread.Mode.BelowAutograd(), func() error {
		return f.Invoke("", 0, nil, func(w *abi.Word) error {
			c.Writer.Copy(w)
			return nil
		})
	})
}

// pythonDispatcher asks the innermost mode of Python's.
type pythonDispatcher struct{}

func init() { autograd.SetClassDispatcher(pythonDispatcher{}) }

// setUndispatched has the operators of this thread seen by no mode and no class, or ends that. It replies what was before.
func setUndispatched(c *abi.Call) error {
	c.Bool(c.Thread.Mode.SetBypass(c.ArgBool(0)))
	return nil
}

// enterAbove has the thread record and dispatch as it did where the operator was called that Python is asked about. It replies false where
// none is.
func enterAbove(c *abi.Call) error {
	t := c.Thread
	if c.Bool(len(t.Above) > 0); len(t.Above) == 0 {
		return nil
	}
	again := *t.Above[len(t.Above)-1]
	t.Below, t.Mode = append(t.Below, t.Mode), &again
	return nil
}

// leaveAbove ends the last enterAbove.
func leaveAbove(c *abi.Call) error {
	t := c.Thread
	last := len(t.Below) - 1
	t.Mode, t.Below = t.Below[last], t.Below[:last]
	c.None()
	return nil
}

// inModeBelow has work run in a mode below autograd.
func inModeBelow(m *autograd.Mode, work func() error) error {
	return abi.InMode(m.BelowAutograd(), func() error {
		t := abi.ThisThread()
		t.Above = append(t.Above, m)
		defer func() { t.Above = t.Above[:len(t.Above)-1] }()
		return work()
	})
}

// Dispatch implements autograd.Dispatcher.
func (pythonDispatcher) Dispatch(m *autograd.Mode, op *ops.Operator, args, out []value.Value) error {
	versions := versionsOfWritten(op, args)
	err := inModeBelow(m, func() error {
		return callOperator("dispatch", op, args, func(w *abi.Word) error {
			return abi.PassOn(w, func() error { return readResults(op.Schema(), w, out) })
		})
	})
	if err == nil {
		finishWrites(op, args, out, versions)
	}
	return err
}

// versionsOfWritten returns the versions of the tensors that an operator writes and whose class runs it, -1 for other arguments; nil where
// there are none.
func versionsOfWritten(op *ops.Operator, args []value.Value) (versions []int) {
	s := op.Schema()
	for i := range s.Arguments {
		if a := s.Arguments[i].Alias; a == nil || !a.IsWrite || !args[i].IsTensor() || !args[i].Tensor().Dispatches() {
			continue
		}
		if versions == nil {
			versions = slices.Repeat([]int{-1}, len(args))
		}
		versions[i] = args[i].Tensor().Version()
	}
	return versions
}

// finishWrites makes the tensors that were written the results, whatever the class gave, and counts the writes that it made to what
// stands for their elements.
func finishWrites(op *ops.Operator, args, out []value.Value, versions []int) {
	s := op.Schema()
	for i, v := range versions {
		if v >= 0 && args[i].Tensor().Version() == v {
			args[i].Tensor().Bump()
		}
	}
	for i := range s.Returns {
		r := s.Returns[i].Alias
		if r == nil || !r.IsWrite {
			continue
		}
		for j := range s.Arguments {
			if a := s.Arguments[j].Alias; a != nil && a.IsWrite && slices.Equal(a.Before, r.Before) {
				out[i] = args[j]
			}
		}
	}
}

// Expand implements autograd.Dispatcher.
func (pythonDispatcher) Expand(m *autograd.Mode, op *ops.Operator, args, out []value.Value) (known bool, err error) {
	err = abi.InMode(m, func() (err error) {
		if parts := op.Def().Parts; parts != nil && op.IsFunctional() {
			defer source.Catch(&err)
			known = true
			copy(out, parts(pythonParts{}, args))
			return nil
		}
		return callOperator("expand", op, args, func(w *abi.Word) error {
			if known = w.Kind() != abi.KindNone; !known {
				return nil
			}
			return readResults(op.Schema(), w.After(1), out) // a tuple of the answer
		})
	})
	return known, err
}

// callOperator calls a function of the host with an operator's name, the positional arguments without the last ones that have their
// defaults, and a dict of the keyword arguments that have not.
func callOperator(function string, op *ops.Operator, args []value.Value, read func(*abi.Word) error) error {
	s := op.Schema()
	positional := 0
	for i := range s.Arguments {
		if !s.Arguments[i].KwargOnly {
			positional = i + 1
		}
	}
	for positional > 0 && isDefault(&s.Arguments[positional-1], args[positional-1]) {
		positional--
	}
	var named []int
	for i := positional; i < len(s.Arguments); i++ {
		if s.Arguments[i].KwargOnly && !isDefault(&s.Arguments[i], args[i]) {
			named = append(named, i)
		}
	}
	var failed error
	write := func(w *abi.Writer, i int) {
		if err := argument(w, abi.RealType(&s.Arguments[i]), args[i]); failed == nil {
			failed = err
		}
	}
	err := abi.Host.Invoke(function, 3, func(w *abi.Writer) {
		w.String(s.QualifiedName())
		w.Open(abi.KindTuple, positional)
		for i := range positional {
			write(w, i)
		}
		w.Open(abi.KindDict, len(named))
		for _, i := range named {
			w.String(s.Arguments[i].Name)
			write(w, i)
		}
	}, read)
	if failed != nil {
		return failed
	}
	return err
}

func isDefault(a *schema.Argument, v value.Value) bool {
	return a.HasDefault && value.EqualConstants(a.NewDefault(), v)
}

// argument writes an argument of an operator as Python knows it: dtypes, layouts and memory formats instead of their numbers.
func argument(w *abi.Writer, t types.Type, v value.Value) error {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if v.IsInt() {
		switch t.Kind() {
		case types.KindScalarType:
			w.Token(abi.TokenDType, v.Int())
			return nil
		case types.KindLayout:
			w.Token(abi.TokenLayout, v.Int())
			return nil
		case types.KindMemoryFormat:
			w.Token(abi.TokenMemoryFormat, v.Int())
			return nil
		}
	}
	if v.IsTensor() && v.Tensor().Wraps() && v.Tensor().PyObject() != 0 {
		w.Tensor(v.Tensor()) // who made the object holds it
		return nil
	}
	return w.KeptValue(v)
}

package bind

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// dispatchFunctions have Python see the operators that run below autograd.
var dispatchFunctions = []function{
	{schema: "set_dispatching(bool on) -> None", run: setDispatching},
	{schema: "count_dispatch_modes(int change) -> None", run: countDispatchModes},
	{schema: "below_autograd(object f) -> any", run: belowAutograd},
	{schema: "set_undispatched(bool on) -> bool", run: setUndispatched},
	{schema: "set_below(bool on) -> bool", run: func(c *call) error {
		c.bool(c.thread.mode.SetBelow(c.argBool(0)))
		return nil
	}},
	{schema: "enter_above() -> bool", run: enterAbove},
	{schema: "leave_above() -> None", run: leaveAbove},
}

// setDispatching switches on or off that Python's modes see the operators of this thread.
func setDispatching(c *call) error {
	if c.argBool(0) {
		c.thread.mode.SetDispatcher(pythonDispatcher{})
	} else {
		c.thread.mode.SetDispatcher(nil)
	}
	c.none()
	return nil
}

// countDispatchModes notes that modes of Python's have become active or inactive.
func countDispatchModes(c *call) error {
	dispatchModes += c.argInt(0)
	noteRecorders()
	c.none()
	return nil
}

// element returns the only element of a tensor, as the thread's modes and the tensor's class have it.
func (c *call) element(t *tensor.Tensor) (value.Value, error) {
	if c.thread.mode.Dispatches() && t.Numel() == 1 {
		return elementIn(c.thread.mode, t)
	}
	s, err := itemOf(t)
	return value.OfScalar(s), err
}

func elementIn(m *autograd.Mode, t *tensor.Tensor) (value.Value, error) {
	var out [1]value.Value
	err := m.Run(ops.Find("aten::_local_scalar_dense"), []value.Value{value.OfTensor(t)}, out[:])
	return out[0], err
}

// itemOf returns the only element of a tensor, as its class or the mode of the thread has it.
func itemOf(t *tensor.Tensor) (tensor.Scalar, error) {
	if t.Numel() != 1 || dispatchModes == 0 && !t.Dispatches() {
		return t.Item()
	}
	mode := thisThread().mode // which takes a call to find
	if !t.Dispatches() && !mode.Dispatches() {
		return t.Item()
	}
	v, err := elementIn(mode, t)
	if err != nil {
		return tensor.Scalar{}, err
	}
	s, ok := v.Scalar()
	if !ok {
		return s, typeErrorf("aten._local_scalar_dense gave no number")
	}
	return s, nil
}

func isNonzero(v value.Value) bool {
	switch v.Kind() {
	case value.KindFloat:
		return v.Float() != 0
	case value.KindComplex:
		return v.Complex() != 0
	}
	return v.Bool()
}

// belowAutograd calls a Python function while nothing is recorded or dispatched.
func belowAutograd(c *call) error {
	f := c.argObject(0)
	return inMode(c.thread.mode.BelowAutograd(), func() error {
		return f.invoke("", 0, nil, func(w *Word) error {
			c.writer.copy(w)
			return nil
		})
	})
}

// pythonDispatcher asks the innermost mode of Python's.
type pythonDispatcher struct{}

func init() { autograd.SetClassDispatcher(pythonDispatcher{}) }

// setUndispatched has the operators of this thread seen by no mode and no class, or ends that. It replies what was before.
func setUndispatched(c *call) error {
	c.bool(c.thread.mode.SetBypass(c.argBool(0)))
	return nil
}

// enterAbove has the thread record and dispatch as it did where the operator was called that Python is asked about. It replies false where
// none is.
func enterAbove(c *call) error {
	t := c.thread
	if c.bool(len(t.above) > 0); len(t.above) == 0 {
		return nil
	}
	again := *t.above[len(t.above)-1]
	t.below, t.mode = append(t.below, t.mode), &again
	return nil
}

// leaveAbove ends the last enterAbove.
func leaveAbove(c *call) error {
	t := c.thread
	last := len(t.below) - 1
	t.mode, t.below = t.below[last], t.below[:last]
	c.none()
	return nil
}

// inModeBelow has work run in a mode below autograd.
func inModeBelow(m *autograd.Mode, work func() error) error {
	return inMode(m.BelowAutograd(), func() error {
		t := thisThread()
		t.above = append(t.above, m)
		defer func() { t.above = t.above[:len(t.above)-1] }()
		return work()
	})
}

func (pythonDispatcher) Dispatch(m *autograd.Mode, op *ops.Operator, args, out []value.Value) error {
	versions := versionsOfWritten(op, args)
	err := inModeBelow(m, func() error {
		return callOperator("dispatch", op, args, func(w *Word) error {
			return passOn(w, func() error { return readResults(op.Schema(), w, out) })
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

func (pythonDispatcher) Expand(m *autograd.Mode, op *ops.Operator, args, out []value.Value) (known bool, err error) {
	err = inMode(m, func() (err error) {
		if parts := op.Def().Parts; parts != nil && op.IsFunctional() {
			defer source.Catch(&err)
			known = true
			copy(out, parts(pythonParts{}, args))
			return nil
		}
		return callOperator("expand", op, args, func(w *Word) error {
			if known = w.kind() != kindNone; !known {
				return nil
			}
			return readResults(op.Schema(), w.after(1), out) // a tuple of the answer
		})
	})
	return known, err
}

// callOperator calls a function of the host with an operator's name, the positional arguments without the last ones that have their
// defaults, and a dict of the keyword arguments that have not.
func callOperator(function string, op *ops.Operator, args []value.Value, read func(*Word) error) error {
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
	write := func(w *writer, i int) {
		if err := w.argument(realType(&s.Arguments[i]), args[i]); failed == nil {
			failed = err
		}
	}
	err := host.invoke(function, 3, func(w *writer) {
		w.string(s.QualifiedName())
		w.open(kindTuple, positional)
		for i := range positional {
			write(w, i)
		}
		w.open(kindDict, len(named))
		for _, i := range named {
			w.string(s.Arguments[i].Name)
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
func (w *writer) argument(t types.Type, v value.Value) error {
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if v.IsInt() {
		switch t.Kind() {
		case types.KindScalarType:
			w.token(tokenDType, v.Int())
			return nil
		case types.KindLayout:
			w.token(tokenLayout, v.Int())
			return nil
		case types.KindMemoryFormat:
			w.token(tokenMemoryFormat, v.Int())
			return nil
		}
	}
	if v.IsTensor() && v.Tensor().Wraps() && v.Tensor().PyObject() != 0 {
		w.tensor(v.Tensor()) // who made the object holds it
		return nil
	}
	return w.keptValue(v)
}

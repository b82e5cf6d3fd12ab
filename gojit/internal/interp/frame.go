package interp

import (
	"context"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/routine"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

const (
	chunkSize = 4096  // values in a chunk of a stack
	maxDepth  = 10000 // calls within calls
	pollEvery = 1024  // jumps back between two looks at the context

	operatorCost = 32 // of an operator, in jumps back
)

// stack is the state of one run: the memory of its frames and what may stop it.
type stack struct {
	chunk   []value.Value
	top     int
	depth   int
	budget  int
	ctx     context.Context
	done    <-chan struct{}
	mode    *autograd.Mode
	direct  bool          // operators run without a layer: mode.Direct, as it was when the call began or an operation may have changed it
	numbers routine.Frame // of machine code that runs
	entered []entered     // with statements that are open, outermost first
	warned  []*site       // the warnings that this run has given
	clock   lineClock
	escaped int // how often others may have got a tensor that no register owned
}

// entered is an object whose __enter__ has been called and whose __exit__ has not.
type entered struct {
	object value.Value
	exit   *site
}

var stacks = sync.Pool{New: func() any { return &stack{chunk: make([]value.Value, chunkSize)} }}

// mark is where a frame began.
type mark struct {
	chunk []value.Value
	top   int
}

// push returns the memory of a frame for c, with the registers set up and the inputs yet to come.
func (s *stack) push(c *Code) ([]value.Value, mark) {
	m := mark{s.chunk, s.top}
	n := c.numRegisters + c.numArguments
	if s.top+n > len(s.chunk) {
		s.chunk, s.top = make([]value.Value, max(chunkSize, n)), 0
	}
	frame := s.chunk[s.top : s.top+n : s.top+n]
	s.top += n
	copy(frame[c.numInputs:], c.template[c.numInputs:])
	return frame, m
}

// pop gives a frame back; what it holds is let go.
func (s *stack) pop(frame []value.Value, m mark) {
	clear(frame)
	s.chunk, s.top = m.chunk, m.top
}

// Run runs the code on arguments and writes the results to out, which has NumOutputs elements. It
// fails on an argument that is not of the parameter's type: the code relies on it. It stops soon
// after ctx is cancelled, within an operator too. Errors carry the traceback in the program.
func (c *Code) Run(ctx context.Context, args, out []value.Value) error {
	if len(args) != c.numInputs || len(out) != c.numOutputs {
		return source.Errorf(source.RuntimeError, source.Range{}, "%s takes %d arguments and gives %d results, not %d and %d",
			c.name, c.numInputs, c.numOutputs, len(args), len(out))
	}
	for i := range args {
		if p := &c.parameters[i]; !p.accepts(args[i]) {
			return source.Errorf(source.RuntimeError, source.Range{},
				"%s() Expected a value of type '%s' for argument '%s' but instead found type '%s'.\nPosition: %d",
				c.name, p.typ.Annotation(nil), p.name, value.TypeOf(args[i]).Annotation(nil), i)
		}
	}
	if err := c.runPooled(ctx, args, out); err != nil {
		return c.report(err)
	}
	keepResults(out)
	return nil
}

// RunUntraced is Run for code that its caller knows nothing of: an error has no traceback. Arguments are not checked.
func (c *Code) RunUntraced(ctx context.Context, args, out []value.Value) error {
	err := causeOf(c.runPooled(ctx, args, out))
	keepResults(out)
	return err
}

func (c *Code) runPooled(ctx context.Context, args, out []value.Value) error {
	s := stacks.Get().(*stack)
	mode := autograd.ModeOf(ctx)
	var err error
	if ctx.Done() == nil {
		err = s.runCode(ctx, &mode, c, args, out)
	} else {
		ask := func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return nil
		}
		parallel.Interruptible(ask, func() { err = s.runCode(ctx, &mode, c, args, out) })
	}
	stacks.Put(s)
	return err
}

// Memory is what a run needs besides its arguments and results. It serves one run at a time.
type Memory struct{ s *stack }

// NewMemory returns memory for RunIn.
func NewMemory() *Memory { return &Memory{stacks.New().(*stack)} }

// MayKeep reports whether the last run may have left tensors of its arguments in attributes, containers or forked calls.
func (m *Memory) MayKeep() bool { return m.s.escaped != 0 }

// RunIn is Run in memory that the caller keeps and in a mode, which the program may change. The numbers of
// arguments and results are right. Results that nobody else has are temporary.
func (c *Code) RunIn(ctx context.Context, m *Memory, mode *autograd.Mode, args, out []value.Value) error {
	if err := m.s.runCode(ctx, mode, c, args, out); err != nil {
		return c.report(err)
	}
	return nil
}

// runCode runs c on an unused stack.
func (s *stack) runCode(ctx context.Context, mode *autograd.Mode, c *Code, args, out []value.Value) error {
	s.ctx, s.done, s.mode, s.direct = ctx, ctx.Done(), mode, mode.Direct()
	s.budget, s.escaped = pollEvery, 0
	lent := lend(args, nil)
	var done bool
	var err error
	if c.whole != nil && tensor.AwayInUse() {
		done, err = c.whole(mode, args, out, func(args, out []value.Value) error { return s.callSilently(c, args, out) })
	}
	if !done && err == nil {
		err = s.call(c, args, out)
	}
	if lent != 0 && err == nil && s.escaped == 0 {
		takeBack(args, lent, out)
	}
	s.top, s.depth, s.mode, s.warned = 0, 0, nil, nil
	if s.clock.at.Text != nil {
		s.clock.tick(s.clock.of, source.Range{})
	}
	if s.done != nil {
		s.ctx, s.done = nil, nil
	}
	return err
}

var errWarned = source.Errorf(source.RuntimeError, source.Range{}, "a warning was given")

// callSilently is call that fails where a warning is given, which is not given again in the run.
func (s *stack) callSilently(c *Code, args, out []value.Value) error {
	err := s.call(c, args, out)
	if err == nil && s.warned != nil {
		err = errWarned
	}
	return err
}

// call runs c on a frame of its own.
func (s *stack) call(c *Code, args, out []value.Value) error {
	if s.depth >= maxDepth {
		return source.Errorf(source.RuntimeError, source.Range{}, "maximum recursion depth of %d exceeded in %s", maxDepth, c.name)
	}
	s.depth++
	frame, m := s.push(c)
	copy(frame, args)
	open := len(s.entered)
	err := s.run(c, frame[:c.numRegisters:c.numRegisters], frame[c.numRegisters:], out)
	if err != nil {
		s.leave(open)
	}
	s.pop(frame, m)
	s.depth--
	return err
}

// leave calls __exit__ of the with statements that an error has left open.
func (s *stack) leave(open int) {
	for len(s.entered) > open {
		e := s.entered[len(s.entered)-1]
		s.entered = s.entered[:len(s.entered)-1]
		_ = s.exit(e.exit, e.object) // the first error is the one that is reported
	}
}

// poll fails where the context of the run has been cancelled.
func (s *stack) poll() error {
	s.budget = pollEvery
	select {
	case <-s.done:
		return context.Cause(s.ctx)
	default:
		return nil
	}
}

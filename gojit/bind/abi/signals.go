package abi

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// SignalInterval is how often a long call looks for signals.
const SignalInterval = 50 * time.Millisecond

// Signals lets a long call be interrupted: poll runs Python's signal handlers now and then.
type Signals struct {
	last atomic.Int64 // when they were run, in nanoseconds
}

// Poll fails with what a signal handler raised: KeyboardInterrupt on Ctrl-C.
func (s *Signals) Poll() error {
	now := time.Now().UnixNano()
	last := s.last.Load()
	if now-last < int64(SignalInterval) || !s.last.CompareAndSwap(last, now) {
		return nil
	}
	return checkSignals()
}

// checkSignals runs Python's signal handlers and fails with what one of them raised.
func checkSignals() error {
	raised := Attached.CheckSignals()
	if raised == nil {
		return nil
	}
	return &pythonError{newObject(raised), true}
}

// watchSignals has operators look for signals while they run.
func watchSignals() {
	parallel.SetInterruptOf(func() bool { return Attached.IsFirstThread() }, checkSignals, SignalInterval)
}

// interruptible is the context of a long run. It is always due to be looked at, and looking at it
// runs Python's signal handlers: a run that polls its context ends when one of them raises.
type interruptible struct {
	context.Context
	Signals
	stopped chan struct{} // closed where a signal has ended the run: what it forked ends too; nil where it forked nothing
}

// Forked returns the context of what the run forks: it ends where a signal has ended the run.
func (c *interruptible) Forked() context.Context {
	if c.stopped == nil {
		c.stopped = make(chan struct{})
	}
	return forkedContext{context.Background(), c.stopped}
}

// Run runs code, and ends what it has forked where a signal handler raises.
func (c *interruptible) Run(code func(ctx context.Context) error) error {
	err := code(c)
	if err != nil && c.stopped != nil {
		var raised *pythonError
		if errors.As(err, &raised) && raised.signal {
			close(c.stopped)
		}
	}
	return err
}

// forkedContext is the context of a forked call. Signals are those of the run that forked it.
type forkedContext struct {
	context.Context
	stopped chan struct{}
}

var errForkStopped = errors.New("the program that forked this call has been interrupted")

// Done implements context.Context.
func (c forkedContext) Done() <-chan struct{} { return c.stopped }

// Err implements context.Context.
func (c forkedContext) Err() error {
	select {
	case <-c.stopped:
		return errForkStopped
	default:
		return nil
	}
}

var alwaysDue = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// NewInterruptible makes the context of a run.
func NewInterruptible() *interruptible {
	c := &interruptible{Context: context.Background()}
	c.last.Store(time.Now().UnixNano())
	return c
}

// Done implements context.Context.
func (c *interruptible) Done() <-chan struct{} { return alwaysDue }

// Err implements context.Context.
func (c *interruptible) Err() error { return c.Poll() }

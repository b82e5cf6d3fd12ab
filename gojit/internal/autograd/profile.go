package autograd

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Event is a run of an operator, or a part of a program that was given a name.
type Event struct {
	Name       string
	Thread     int // a number of the thread
	Start, End time.Duration
}

// Profile collects events, of all threads.
type Profile struct {
	began time.Time
	lock  sync.Mutex
	all   []Event
}

var profiling atomic.Pointer[Profile]

// BeginProfile begins to collect events. It fails where that goes on already.
func BeginProfile() error {
	tensor.Track()
	if !profiling.CompareAndSwap(nil, &Profile{began: time.Now()}) {
		return errorf("profiler is already enabled on this thread")
	}
	return nil
}

// EndProfile returns the events in the order of their ends; nil where none were collected.
func EndProfile() []Event {
	p := profiling.Swap(nil)
	if p == nil {
		return nil
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return p.all
}

// SetThread gives the number of the mode's thread, which events show.
func (m *Mode) SetThread(number int) { m.thread = number }

// BeginEvent begins an event. What it returns ends it.
func (m *Mode) BeginEvent(name string) (end func()) {
	p := profiling.Load()
	if p == nil {
		return func() {}
	}
	e := Event{Name: name, Thread: m.thread, Start: time.Since(p.began)}
	return func() {
		e.End = time.Since(p.began)
		p.lock.Lock()
		defer p.lock.Unlock()
		p.all = append(p.all, e)
	}
}

// runProfiled runs an operator as an event.
func runProfiled(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	defer m.BeginEvent(op.BaseName())()
	return m.next(rest, op, args, out)
}

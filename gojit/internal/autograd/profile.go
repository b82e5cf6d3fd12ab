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
	open  map[int64]func() // what ends the events that programs have begun, by the numbers that they have for them
	last  int64            // of these numbers
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

// IsProfiling reports whether events are collected.
func IsProfiling() bool { return profiling.Load() != nil }

// beginNamed begins an event of a program, and gives a tensor by which it is ended.
func beginNamed(m *Mode, args, out []value.Value) error {
	number := int64(0)
	if p := profiling.Load(); p != nil {
		end := m.BeginEvent(args[0].Str())
		p.lock.Lock()
		defer p.lock.Unlock()
		if p.open == nil {
			p.open = map[int64]func(){}
		}
		p.last++
		number = p.last
		p.open[number] = end
	}
	handle, err := tensor.FromSlice([]int64{number}, 1)
	out[0] = value.OfTensor(handle)
	return err
}

// endNamed ends the event that a tensor stands for.
func endNamed(_ *Mode, args, _ []value.Value) error {
	p := profiling.Load()
	if p == nil {
		return nil
	}
	number, err := args[0].Tensor().Item()
	if err != nil {
		return err
	}
	p.lock.Lock()
	end := p.open[number.Int64()]
	delete(p.open, number.Int64())
	p.lock.Unlock()
	if end != nil {
		end()
	}
	return nil
}

// runProfiled runs an operator as an event.
func runProfiled(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	defer m.BeginEvent(op.BaseName())()
	return m.next(rest, op, args, out)
}

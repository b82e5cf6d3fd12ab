package autograd

import (
	"slices"
	"sync"
	"sync/atomic"
	_ "unsafe" // for the name of nanotime

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Event is a run of an operator, of what stands for several, or of a part of a program that was given a name.
type Event struct {
	Name       string
	Thread     int     // a number of the thread
	Start, End int64   // nanoseconds of the system's monotonic clock, by which the program around the library can add events of its own
	Shapes     [][]int // of an operator's arguments, empty for those that are no tensors; nil where they are not recorded
}

// Profile collects events, of all threads.
type Profile struct {
	lock   sync.Mutex
	shapes bool // events of operators have the shapes of their arguments
	all    []Event
	open   map[int64]Span // events that programs have begun, by the numbers that they have for them
	last   int64          // of these numbers
}

// Span is an event that has begun. That of a time without profile does nothing.
type Span struct {
	profile *Profile
	event   Event
}

var profiling atomic.Pointer[Profile]

// nanotime reads the monotonic clock. Package time gives no absolute time of it.
//
//go:linkname nanotime runtime.nanotime
func nanotime() int64

// BeginProfile begins to collect events, with the shapes of operators' arguments or without. It fails where that goes on already.
func BeginProfile(shapes bool) error {
	tensor.Track()
	if !profiling.CompareAndSwap(nil, &Profile{shapes: shapes}) {
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

// firstFork is where the numbers of the threads of forked calls begin, which events show beside those that SetThread gave.
const firstFork = 1 << 16

var forks atomic.Int64

// Forked returns the mode of a forked call: a copy whose events are those of a thread of its own.
func (m *Mode) Forked() Mode {
	forked := *m
	if IsProfiling() {
		forked.thread = firstFork + int(forks.Add(1))
	}
	return forked
}

// BeginEvent begins an event.
func (m *Mode) BeginEvent(name string) Span {
	p := profiling.Load()
	if p == nil {
		return Span{}
	}
	return Span{p, Event{Name: name, Thread: m.thread, Start: nanotime()}}
}

// End ends the event. One that is not ended is not collected, and its time is that of the event around it.
func (s *Span) End() {
	if s.profile == nil {
		return
	}
	s.event.End = nanotime()
	s.profile.lock.Lock()
	s.profile.all = append(s.profile.all, s.event)
	s.profile.lock.Unlock()
	s.profile = nil
}

// IsProfiling reports whether events are collected.
func IsProfiling() bool { return profiling.Load() != nil }

// beginNamed begins an event of a program, and gives a tensor by which it is ended.
func beginNamed(m *Mode, args, out []value.Value) error {
	number := int64(0)
	if p := profiling.Load(); p != nil {
		span := m.BeginEvent(args[0].Str())
		p.lock.Lock()
		if p.open == nil {
			p.open = map[int64]Span{}
		}
		p.last++
		number = p.last
		p.open[number] = span
		p.lock.Unlock()
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
	span := p.open[number.Int64()]
	delete(p.open, number.Int64())
	p.lock.Unlock()
	span.End()
	return nil
}

// runProfiled runs an operator as an event.
func runProfiled(m *Mode, rest layerSet, op *ops.Operator, args, out []value.Value) error {
	span := m.BeginEvent(op.BaseName())
	defer span.End()
	if span.profile != nil && span.profile.shapes {
		span.event.Shapes = shapesOf(args)
	}
	return m.next(rest, op, args, out)
}

func shapesOf(args []value.Value) [][]int {
	shapes := make([][]int, len(args))
	for i, v := range args {
		if v.IsTensor() {
			shapes[i] = slices.Clone(v.Tensor().Shape())
		}
	}
	return shapes
}

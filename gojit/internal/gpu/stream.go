package gpu

import (
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
)

// Stream is a queue of work of a device, which is done in order; the work of two streams may overlap. Streams last as long as the process.
type Stream struct {
	device   *Device
	handle   uintptr
	priority int
	memory   pool
	scratch  atomic.Pointer[Memory]  // see workspace
	capture  atomic.Pointer[capture] // that takes the stream's work, nil while the device does it
}

// streamTable has the streams of a device.
type streamTable struct {
	mu     sync.Mutex
	byName map[uintptr]*Stream
	given  map[int][]*Stream // those that NewStream gives, by priority, in turn
	next   map[int]int
}

// streamsOfPriority is how many streams of one priority there are at most: who asks for more shares them.
const streamsOfPriority = 32

// newStream makes a stream that waits for no other.
func (v *Device) newStream(priority int) (*Stream, error) {
	s := &Stream{device: v, priority: priority}
	const nonBlocking = 1
	err := v.do(func() error {
		return v.driver.check("cuStreamCreateWithPriority", v.driver.cuStreamCreateWithPriority(&s.handle, nonBlocking, int32(priority)))
	})
	if err != nil {
		return nil, err
	}
	v.streams.add(s)
	return s, nil
}

func (t *streamTable) add(s *Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName, t.given, t.next = map[uintptr]*Stream{}, map[int][]*Stream{}, map[int]int{}
	}
	s.memory.stream = s
	t.byName[s.handle] = s
}

// all returns the streams that there are.
func (t *streamTable) all() (all []*Stream) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, s := range t.byName {
		all = append(all, s)
	}
	return all
}

// PriorityRange returns the least and the greatest priority of streams, which are smaller numbers the more is done first.
func (v *Device) PriorityRange() (least, greatest int, err error) {
	var l, g int32
	err = v.do(func() error {
		return v.driver.check("cuCtxGetStreamPriorityRange", v.driver.cuCtxGetStreamPriorityRange(&l, &g))
	})
	return int(l), int(g), err
}

// NewStream returns a stream of a priority, one after the other of so many.
func (v *Device) NewStream(priority int) (*Stream, error) {
	least, greatest, err := v.PriorityRange()
	if err != nil {
		return nil, err
	}
	priority = max(greatest, min(least, priority))
	t := &v.streams
	t.mu.Lock()
	if made := t.given[priority]; len(made) == streamsOfPriority {
		s := made[t.next[priority]%len(made)]
		t.next[priority]++
		t.mu.Unlock()
		return s, nil
	}
	t.mu.Unlock()
	s, err := v.newStream(priority)
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.given[priority] = append(t.given[priority], s)
	return s, nil
}

// StreamOf returns the stream of a driver's handle: one that is known, or one that something else has made, which must outlive its use.
func (v *Device) StreamOf(handle uintptr) *Stream {
	v.streams.mu.Lock()
	s := v.streams.byName[handle]
	v.streams.mu.Unlock()
	if s == nil {
		s = &Stream{device: v, handle: handle}
		v.streams.add(s)
	}
	return s
}

// Stream returns the stream that the calling goroutine gives work on.
func (v *Device) Stream() *Stream {
	if s := v.current.Here(); s != nil {
		return s
	}
	return v.home
}

// DefaultStream returns the stream that work is given on where nothing is said.
func (v *Device) DefaultStream() *Stream { return v.home }

// SetStream has the calling goroutine give work on a stream.
func (v *Device) SetStream(s *Stream) {
	if s == v.home {
		s = nil
	} else {
		chosen.Store(v, nil)
	}
	v.current.Put(goroutine.ID(), s)
}

// chosen are the devices that goroutines have chosen streams of.
var chosen sync.Map

// ForgetStreams has the calling goroutine give work on default streams: it runs for another thread than before, which has chosen none.
func ForgetStreams() {
	chosen.Range(func(v, _ any) bool {
		v.(*Device).current.Put(goroutine.ID(), nil)
		return true
	})
}

// Handle returns what the driver and CUDA's libraries know the stream by.
func (s *Stream) Handle() uintptr { return s.handle }

// Priority returns the stream's priority.
func (s *Stream) Priority() int { return s.priority }

// workspace returns memory that libraries use while they do the stream's work, which is the calling goroutine's. It stays the same.
func (s *Stream) workspace(bytes int) (*Memory, error) {
	if c := s.capture.Load(); c != nil {
		return c.workspace(s, bytes)
	}
	if m := s.scratch.Load(); m != nil && m.bytes >= bytes {
		return m, nil
	}
	m, err := s.device.Allocate(bytes)
	if err == nil {
		s.scratch.Store(m)
	}
	return m, err
}

// IsCapturing reports whether the stream's work becomes a graph.
func (s *Stream) IsCapturing() bool { return s.capture.Load() != nil }

// Synchronize waits until the stream's work is done. A stream that is captured cannot be waited for.
func (s *Stream) Synchronize() error {
	if err := s.refuse("a stream is synchronized"); err != nil {
		return err
	}
	return s.device.do(s.wait)
}

// wait is Synchronize where the device's context is current.
func (s *Stream) wait() error {
	d := s.device.driver
	return d.check("cuStreamSynchronize", d.cuStreamSynchronize.call(s.handle))
}

// IsDone reports whether the stream's work is done.
func (s *Stream) IsDone() (done bool, err error) {
	if err := s.refuse("a stream is queried"); err != nil {
		return false, err
	}
	d := s.device.driver
	err = s.device.do(func() error {
		code := d.cuStreamQuery.call(s.handle)
		if done = code == 0; code == notReady {
			return nil
		}
		return d.check("cuStreamQuery", code)
	})
	return done, err
}

// WaitFor has what is given on the stream from now on be done behind a mark, which may be another device's.
func (s *Stream) WaitFor(e *Event) error {
	if c := e.capture; c != nil && c.isOpen() {
		if err := c.join(s); err != nil {
			return err
		}
	} else if s.capture.Load() != nil {
		return s.refuse("a captured stream waits for an event that was recorded outside of the capture")
	}
	return s.device.do(func() error { return s.await(e.handle) })
}

// await has what is given on the stream from now on be done behind an event. The device's context is current.
func (s *Stream) await(event uintptr) error {
	d := s.device.driver
	return d.check("cuStreamWaitEvent", d.cuStreamWaitEvent.call(s.handle, event, 0))
}

// Synchronize waits until the device has done what it was given, on all streams but those that other goroutines capture.
func (v *Device) Synchronize() error {
	if err := v.Stream().refuse("a device is synchronized"); err != nil {
		return err
	}
	v.captures.mu.RLock() // nothing is captured in the meantime
	if v.captures.open == 0 {
		defer v.captures.mu.RUnlock()
		return v.do(func() error { return v.driver.check("cuCtxSynchronize", v.driver.cuCtxSynchronize()) })
	}
	v.captures.mu.RUnlock()
	for _, s := range v.streams.all() {
		if s.capture.Load() == nil {
			if err := v.do(s.wait); err != nil {
				return err
			}
		}
	}
	return nil
}

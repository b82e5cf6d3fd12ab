package gpu

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// lane is what work that was captured for one stream shares: its memory, and the right to run. What is on the stream is done in order, so that work of one
// graph is over before that of another begins.
type lane struct {
	mu   sync.Mutex
	pool *GraphPool
}

// lanes are those of a device, and the stream that work is captured on, which nobody else gives anything.
type lanes struct {
	mu     sync.Mutex // held during a capture
	stream *Stream
	of     map[*Stream]*lane

	worksMu sync.Mutex
	works   map[weak.Pointer[captured]]struct{} // that have a graph
}

// giveUp takes their memory from all works but those that are being done: the device has no other left.
func (l *lanes) giveUp() {
	l.worksMu.Lock()
	works := slices.Collect(maps.Keys(l.works))
	l.worksMu.Unlock()
	for _, w := range works {
		if c := w.Value(); c != nil && c.shared.mu.TryLock() {
			c.Reset()
			c.shared.mu.Unlock()
		}
	}
}

// Lane implements kernel.Capturer.
func (b *Backend) Lane(d tensor.Device) (handle uintptr, ok bool) {
	v, err := b.Device(d)
	if err != nil {
		return 0, false
	}
	s := v.Stream()
	return s.handle, s.capture.Load() == nil
}

// Capture implements kernel.Capturer.
func (b *Backend) Capture(d tensor.Device, f func() error) (w kernel.Work, launches int, err error) {
	v, err := b.Device(d)
	if err != nil {
		return nil, 0, err
	}
	l := &v.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream == nil {
		if l.stream, err = v.newStream(0); err != nil {
			return nil, 0, err
		}
		l.of = map[*Stream]*lane{}
	}
	caller := v.Stream()
	shared := l.of[caller]
	if shared == nil {
		shared = &lane{pool: v.NewGraphPool()}
		l.of[caller] = shared
	}
	g := v.NewGraph()
	v.SetStream(l.stream)
	defer v.SetStream(caller)
	if err := g.Begin(shared.pool); err != nil {
		return nil, 0, err
	}
	ended := false
	defer func() {
		if !ended {
			g.Reset()
		}
	}()
	if err := f(); err != nil {
		return nil, 0, err
	}
	if err := g.End(); err != nil {
		return nil, 0, err
	}
	ended = true
	c := &captured{l, shared, g}
	l.add(c)
	return c, g.Launches(), nil
}

func (l *lanes) add(c *captured) {
	l.worksMu.Lock()
	defer l.worksMu.Unlock()
	if l.works == nil {
		l.works = map[weak.Pointer[captured]]struct{}{}
	}
	w := weak.Make(c)
	l.works[w] = struct{}{}
	runtime.AddCleanup(c, l.remove, w)
}

func (l *lanes) remove(w weak.Pointer[captured]) {
	l.worksMu.Lock()
	defer l.worksMu.Unlock()
	delete(l.works, w)
}

// captured is a kernel.Work.
type captured struct {
	all    *lanes
	shared *lane
	graph  *Graph
}

func (c *captured) Lock()         { c.shared.mu.Lock() }
func (c *captured) Unlock()       { c.shared.mu.Unlock() }
func (c *captured) Replay() error { return c.graph.Replay() }

func (c *captured) Reset() {
	c.all.remove(weak.Make(c))
	c.graph.Reset()
}

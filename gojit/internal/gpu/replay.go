package gpu

import (
	"maps"
	"runtime"
	"slices"
	"sync"
	"weak"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// lane is what work that was captured for one stream shares: its memory, and the right to run. What is on the stream is done in order, so that work of one
// graph is over before that of another begins.
type lane struct {
	mu    sync.Mutex
	pool  *GraphPool // of graphs without an arena
	arena *arena     // the largest one
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
func (b *Backend) Capture(d tensor.Device, f func() error, arrange func(blocks []kernel.Life) (offsets []int, size int)) (kernel.Work, error) {
	v, err := b.Device(d)
	if err != nil {
		return nil, err
	}
	l := &v.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stream == nil {
		if l.stream, err = v.newStream(0); err != nil {
			return nil, err
		}
		l.of = map[*Stream]*lane{}
	}
	caller := v.Stream()
	shared := l.of[caller]
	if shared == nil {
		shared = &lane{pool: v.NewGraphPool()}
		l.of[caller] = shared
	}
	noted := &blocks{}
	first, err := l.put(v, caller, shared.pool, noted, f)
	if err != nil {
		return nil, err
	}
	c := &captured{all: l, shared: shared, graph: first}
	if known := noted.known(); len(known) > 0 {
		if err := l.arrange(v, caller, c, known, f, arrange); err != nil {
			first.Reset()
			return nil, err
		}
	}
	l.add(c)
	return c, nil
}

// put has the work that f gives become a graph. The lock is held.
func (l *lanes) put(v *Device, caller *Stream, in *GraphPool, asked *blocks, f func() error) (*Graph, error) {
	g := v.NewGraph()
	v.SetStream(l.stream)
	defer v.SetStream(caller)
	if err := g.begin(in, asked); err != nil {
		return nil, err
	}
	ended := false
	defer func() {
		if !ended {
			g.Reset()
		}
	}()
	if err := f(); err != nil {
		return nil, err
	}
	if err := g.End(); err != nil {
		return nil, err
	}
	ended = true
	return g, nil
}

// arrange has the work be put down once more, with its memory in one arena, unless that comes to nothing. The lock is held.
func (l *lanes) arrange(v *Device, caller *Stream, c *captured, known []kernel.Life, f func() error, arrange func(blocks []kernel.Life) (offsets []int, size int)) error {
	offsets, size := arrange(known)
	a, err := c.shared.arenaOf(v, size)
	if isOutOfMemory(err) {
		return nil
	} else if err != nil {
		return err
	}
	placed := &blocks{lives: known, offsets: offsets, at: a.m.at}
	g, err := l.put(v, caller, v.NewGraphPool(), placed, f)
	if err != nil || !placed.isAll() { // the first graph is right as it is
		if err == nil {
			g.Reset()
		}
		a.release()
		if source.ClassOf(err) == source.KeyboardInterrupt {
			return err
		}
		return nil
	}
	g.work.kept = append(g.work.kept, a.release)
	c.graph.Reset()
	c.graph, c.arena = g, size
	v.captures.whenNoneIsOpen(func() { // what the first graph had
		v.memory.mu.Lock()
		defer v.memory.mu.Unlock()
		_ = v.empty(&l.stream.memory)
	})
	return nil
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
	arena  int
}

func (c *captured) Lock()         { c.shared.mu.Lock() }
func (c *captured) Unlock()       { c.shared.mu.Unlock() }
func (c *captured) Replay() error { return c.graph.Replay() }
func (c *captured) Launches() int { return c.graph.Launches() }
func (c *captured) Arena() int    { return c.arena }

func (c *captured) Reset() {
	c.all.remove(weak.Make(c))
	c.graph.Reset()
}

package gpu

import (
	"runtime"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// captures are those of a device that are open. While there are any, nothing may wait for the device as a whole.
type captures struct {
	mu    sync.RWMutex
	open  int
	later []func() // what waits for the device, to be done when no capture is open
}

// whenNoneIsOpen calls f, which waits for the device, now or once no capture is open.
func (c *captures) whenNoneIsOpen(f func()) {
	c.mu.RLock()
	if c.open == 0 {
		defer c.mu.RUnlock()
		f()
		return
	}
	c.mu.RUnlock()
	c.mu.Lock()
	if c.open == 0 {
		c.mu.Unlock()
		f()
		return
	}
	c.later = append(c.later, f)
	c.mu.Unlock()
}

// GraphPool is memory of graphs: what is allocated while they are captured. The graphs of one pool must not run at the same time.
type GraphPool struct {
	device *Device
	by     map[*Stream]*pool
	users  int // graphs
}

// NewGraphPool returns a pool without memory.
func (v *Device) NewGraphPool() *GraphPool { return &GraphPool{device: v, by: map[*Stream]*pool{}} }

// of returns the pool's memory for what is done on a stream.
func (g *GraphPool) of(s *Stream) *pool {
	a := &g.device.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	p := g.by[s]
	if p == nil {
		p = &pool{stream: s, ofGraphs: true}
		g.by[s] = p
	}
	return p
}

// join begins the use by a graph.
func (g *GraphPool) join() {
	a := &g.device.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	g.users++
}

// leave ends the use by a graph. Without graphs the memory is that of the streams that it was made on.
func (g *GraphPool) leave() {
	a := &g.device.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	if g.users--; g.users > 0 {
		return
	}
	for s, p := range g.by {
		p.bequeath(&s.memory)
	}
	clear(g.by)
}

// capture is work of streams that is put down rather than done.
type capture struct {
	graph  *Graph
	work   *work
	origin *Stream

	mu      sync.Mutex
	streams []*Stream // those whose work it takes, nil once it is closed
	scratch map[*Stream]*Memory
}

// workspace returns memory for libraries, which is the capture's: graphs of one stream may run on others.
func (c *capture) workspace(s *Stream, bytes int) (*Memory, error) {
	c.mu.Lock()
	m := c.scratch[s]
	c.mu.Unlock()
	if m != nil && m.bytes >= bytes {
		return m, nil
	}
	m, err := s.device.Allocate(bytes)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.scratch == nil {
		c.scratch = map[*Stream]*Memory{}
	}
	c.scratch[s] = m
	return m, nil
}

func (c *capture) isOpen() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.streams != nil
}

// join has the capture take the work of a further stream, which waits for what is captured.
func (c *capture) join(s *Stream) error {
	if other := s.capture.Load(); other == c {
		return nil
	} else if other != nil {
		return other.refuse(notPermitted, "a captured stream waits for another capture")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.streams = append(c.streams, s)
	s.capture.Store(c)
	return nil
}

// notPermitted is CUDA's text for what a capture cannot hold.
const notPermitted = "operation not permitted when stream is capturing"

// refuse fails where the stream is captured, as that cannot hold what is asked for. The capture ends, and its graph is none.
func (s *Stream) refuse(what string) error {
	c := s.capture.Load()
	if c == nil {
		return nil
	}
	return c.refuse(notPermitted, what)
}

func (c *capture) refuse(text, what string) error {
	err := kernel.NewCaptureError("CUDA error: %s: %s", text, what)
	if c.isOpen() {
		_, _ = c.close()
		c.graph.fail(err)
	}
	return err
}

// close ends the capture and returns the driver's graph.
func (c *capture) close() (graph uintptr, err error) {
	v, d := c.graph.device, c.graph.device.driver
	c.mu.Lock()
	for _, s := range c.streams {
		s.capture.Store(nil)
	}
	c.streams = nil
	for _, m := range c.scratch {
		_ = m.Free()
	}
	c.mu.Unlock()
	err = v.do(func() error { return d.check("cuStreamEndCapture", d.cuStreamEndCapture(c.origin.handle, &graph)) })
	v.captures.mu.Lock()
	var later []func()
	if v.captures.open--; v.captures.open == 0 {
		later, v.captures.later = v.captures.later, nil
	}
	v.captures.mu.Unlock()
	for _, f := range later {
		f()
	}
	return graph, err
}

// Graph is work of a device that was captured, and is done again by one launch, at the addresses that it was captured with. Its methods are for one
// goroutine at a time.
type Graph struct {
	device  *Device
	capture *capture // that is open
	failed  error    // why there is no work
	work    *work
	cleanup runtime.Cleanup
}

// work is what a graph has.
type work struct {
	device     *Device
	pool       *GraphPool
	executable uintptr
	launches   int                  // of kernels, that the graph is made of
	modules    map[*module]struct{} // their texts, which stay loaded
	replayed   map[*Stream]struct{} // where it ran
	drawn      drawn
	kept       []func() // gives up what the graph has of libraries
}

// NewGraph returns a graph without work.
func (v *Device) NewGraph() *Graph { return &Graph{device: v} }

// Begin has the work that the calling goroutine's stream is given from now on become the graph's; memory is the pool's, of one of the graph's own where that
// is nil.
func (g *Graph) Begin(in *GraphPool) error {
	v := g.device
	s := v.Stream()
	switch {
	case g.work != nil || g.failed != nil:
		return source.Errorf(source.RuntimeError, source.Range{},
			"This CUDAGraph instance already owns a captured graph. To capture a new graph, create a new instance or call reset() on this one.")
	case in != nil && in.device != v:
		return source.Errorf(source.RuntimeError, source.Range{}, "the pool of a CUDA graph is that of another device: %s, not %s", in.device.Place(), v.Place())
	}
	if err := s.refuse("a capture begins"); err != nil {
		return err
	}
	if in == nil {
		in = v.NewGraphPool()
	}
	w := &work{device: v, pool: in, modules: map[*module]struct{}{}, replayed: map[*Stream]struct{}{}, drawn: drawn{begun: rng.Default().Restarts()}}
	c := &capture{graph: g, work: w, origin: s, streams: []*Stream{s}}
	v.captures.mu.Lock()
	defer v.captures.mu.Unlock()
	const relaxed = 2 // what the capture cannot hold is refused here, and what others do has nothing to do with it
	err := v.do(func() error {
		return v.driver.check("cuStreamBeginCapture", v.driver.cuStreamBeginCapture_v2(s.handle, relaxed))
	})
	if err != nil {
		return err
	}
	v.captures.open++
	in.join()
	g.capture, g.work = c, w
	s.capture.Store(c)
	return nil
}

// End ends what Begin began, and makes the graph ready. It fails where something was asked for in between that a graph cannot hold.
func (g *Graph) End() error {
	c := g.capture
	if c == nil {
		return source.Errorf(source.RuntimeError, source.Range{}, "a capture was ended that had not begun: capture_begin() comes first")
	}
	g.capture = nil
	if !c.isOpen() {
		return source.Errorf(source.RuntimeError, source.Range{}, "CUDA error: operation failed due to a previous error during capture: %v", g.failed)
	}
	v, d := g.device, g.device.driver
	graph, err := c.close()
	if err == nil {
		err = g.work.drawn.check()
	}
	if err == nil {
		err = v.do(func() error {
			defer d.cuGraphDestroy(graph)
			return d.check("cuGraphInstantiate", d.cuGraphInstantiateWithFlags(&g.work.executable, graph, 0))
		})
	}
	if err != nil {
		g.fail(err)
		return err
	}
	g.cleanup = runtime.AddCleanup(g, (*work).free, g.work)
	return nil
}

// fail leaves the graph without work.
func (g *Graph) fail(why error) {
	g.failed = why
	g.work.free()
	g.work = nil
}

// Replay has the calling goroutine's stream do the work.
func (g *Graph) Replay() error {
	if g.work == nil || g.work.executable == 0 {
		return source.Errorf(source.RuntimeError, source.Range{}, "Called CUDAGraph::replay without a preceding successful capture.")
	}
	v := g.device
	s := v.Stream()
	if err := s.refuse("a graph is launched"); err != nil {
		return err
	}
	if _, known := g.work.replayed[s]; !known {
		g.work.replayed[s] = struct{}{}
	}
	v.counts.graphLaunches.Add(1)
	launch := func() error {
		return v.do(func() error {
			return v.driver.check("cuGraphLaunch", v.driver.cuGraphLaunch.call(g.work.executable, s.handle))
		})
	}
	var err error
	if d := &g.work.drawn; d.state != nil {
		err = d.replay(v, s, launch)
	} else {
		err = launch()
	}
	runtime.KeepAlive(g)
	return err
}

// Reset takes the work, and the memory of the pool where no other graph has it, from the graph.
func (g *Graph) Reset() {
	if g.capture != nil {
		_ = g.capture.refuse(notPermitted, "the graph is reset")
		g.capture = nil
	}
	if g.work != nil {
		g.cleanup.Stop()
		g.work.free()
	}
	g.work, g.failed = nil, nil
}

// Pool returns the memory of the graph, nil where nothing was captured.
func (g *Graph) Pool() *GraphPool {
	if g.work == nil {
		return nil
	}
	return g.work.pool
}

// Launches returns of how many kernels the graph is made.
func (g *Graph) Launches() int { return g.work.launches }

// note says that a kernel of a module belongs to the graph.
func (c *capture) note(m *module) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.work.launches++; m != nil {
		c.work.modules[m] = struct{}{}
	}
}

// keep has something that the graph needs be given up with it.
func (c *capture) keep(release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.work.kept = append(c.work.kept, release)
}

// free gives up the work. Memory of the pool is used again behind what was launched of it.
func (w *work) free() {
	v := w.device
	v.captures.whenNoneIsOpen(func() {
		if w.executable != 0 {
			_ = v.do(func() error { return v.driver.check("cuGraphExecDestroy", v.driver.cuGraphExecDestroy(w.executable)) })
		}
		for ran := range w.replayed {
			w.pool.waitFor(ran)
		}
		w.drawn.free(v)
		for _, release := range w.kept {
			release()
		}
		w.pool.leave()
		runtime.KeepAlive(w.modules)
	})
}

// waitFor has the streams of the pool's memory wait for what another stream was given to do.
func (g *GraphPool) waitFor(ran *Stream) {
	g.device.memory.mu.Lock()
	var all []*Stream
	for s := range g.by {
		if s != ran {
			all = append(all, s)
		}
	}
	g.device.memory.mu.Unlock()
	if len(all) == 0 {
		return
	}
	if e, err := ran.NewEvent(false, false); err == nil {
		for _, s := range all {
			_ = s.WaitFor(e)
		}
	}
}

package gpu

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/cuda"
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// generator is a device's stream of random numbers: Philox, by a seed and how many numbers each thread has drawn. It begins anew when the default
// stream of the processor does, with its seed.
type generator struct {
	mu           sync.Mutex
	begun        bool
	restarts     uint64 // of the processor's stream, when this one began
	seed, offset uint64
}

// follow has the stream begin anew where the processor's did. The lock is held.
func (s *generator) follow() {
	if g := rng.Default(); !s.begun || s.restarts != g.Restarts() {
		s.begun, s.restarts, s.seed, s.offset = true, g.Restarts(), g.InitialSeed(), 0
	}
}

// Seed has the device's stream of random numbers begin anew.
func (v *Device) Seed(seed uint64) error { return v.SetRandomState(seed, 0) }

// RandomState returns the seed of the device's stream of random numbers, and how many numbers each thread has drawn.
func (v *Device) RandomState() (seed, offset uint64, err error) {
	if err := v.Stream().refuse("the state of random numbers is asked for, which is that of each replay"); err != nil {
		return 0, 0, err
	}
	s := &v.random
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow()
	return s.seed, s.offset, nil
}

// SetRandomState has the stream go on from a state. Threads draw four numbers at once: other offsets are refused.
func (v *Device) SetRandomState(seed, offset uint64) error {
	if offset%numbersAtOnce != 0 {
		return source.Errorf(source.RuntimeError, source.Range{}, "offset must be a multiple of %d, not %d", numbersAtOnce, offset)
	}
	if err := v.Stream().refuse("the state of random numbers is set, which is that of each replay"); err != nil {
		return err
	}
	s := &v.random
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow()
	s.seed, s.offset = seed, offset
	return nil
}

// numbersAtOnce is how many numbers a thread draws at once.
const numbersAtOnce = 4

// Draw implements kernel.Runner: it returns how n numbers are drawn, and moves the stream on. As many threads draw as CUDA's programs have drawing.
func (b *Backend) Draw(d tensor.Device, n, turn, turns int) (kernel.Draws, error) {
	v, err := b.Device(d)
	if err != nil {
		return kernel.Draws{}, err
	}
	blocks := max(1, min(int(v.units)*int(v.threads)/cuda.Width, (n+cuda.Width-1)/cuda.Width))
	draws := kernel.Draws{Threads: blocks * cuda.Width}
	moved := uint64((n-1)/(draws.Threads*turn)+1) * uint64(turns) * numbersAtOnce
	if c := v.Stream().capture.Load(); c != nil {
		return draws, c.draw(&draws, moved)
	}
	s := &v.random
	s.mu.Lock()
	defer s.mu.Unlock()
	s.follow()
	draws.Seed, draws.Offset = s.seed, s.offset
	s.offset += moved
	return draws, nil
}

// drawn is what the random numbers of a graph are drawn by. Its kernels read the seed, and the place of the device's stream that the first of them
// begins at, from memory, which is written before each launch of the graph and behind the launch before it.
type drawn struct {
	once    sync.Once      // makes the next three, when something is drawn
	why     error          // why they are not there
	state   *tensor.Tensor // the two numbers
	begin   *module        // writes them
	numbers uint64         // that each thread draws in all, under the capture's lock
	begun   uint64         // how often the processor's stream had begun anew when the capture began
	last    *Stream        // that did the work
	passed  uintptr        // an event: it has done it
}

// drawsBegin is the routine that writes them.
var drawsBegin = &kernel.Routine{Text: "generator", Entry: "begin", Threads: 2}

// draw has a kernel of the capture draw from the state of the graph, behind what was drawn before.
func (c *capture) draw(draws *kernel.Draws, moved uint64) error {
	d, v := &c.work.drawn, c.graph.device
	d.once.Do(func() {
		if d.state, d.why = v.Empty([]int{2}, tensor.Int64); d.why == nil {
			d.begin, d.why = v.routine(drawsBegin)
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	draws.State, draws.Offset = d.state, d.numbers
	d.numbers += moved
	return d.why
}

// check fails where the processor's stream, and so the device's, was to begin anew within the capture.
func (d *drawn) check() error {
	if d.state == nil || d.begun == rng.Default().Restarts() {
		return nil
	}
	return kernel.NewCaptureError("CUDA error: %s: the seed of random numbers is set, which are drawn from where each replay begins", notPermitted)
}

// replay launches the graph on a stream, behind a kernel that writes where the device's stream of random numbers is, and moves that on.
func (d *drawn) replay(v *Device, s *Stream, launch func() error) error {
	g := &v.random
	g.mu.Lock()
	defer g.mu.Unlock()
	g.follow()
	words, err := routineWords(drawsBegin, []*tensor.Tensor{d.state}, []int64{int64(g.seed), int64(g.offset)})
	if err != nil {
		return err
	}
	if d.last != nil && d.last != s { // that may still read what is written
		if err := v.do(func() error { return s.await(d.passed) }); err != nil {
			return err
		}
	}
	if err := v.runRoutine(d.begin, drawsBegin, words); err != nil {
		return err
	}
	if err := launch(); err != nil {
		return err
	}
	g.offset += d.numbers
	d.last = s
	if d.passed == 0 {
		d.passed, err = s.mark(eventUntimed)
		return err
	}
	return v.do(func() error { return v.driver.check("cuEventRecord", v.driver.cuEventRecord.call(d.passed, s.handle)) })
}

// free gives up what was made.
func (d *drawn) free(v *Device) {
	if d.state != nil {
		d.state.Release()
	}
	if d.passed != 0 {
		_ = v.destroyEvent(d.passed)
	}
}

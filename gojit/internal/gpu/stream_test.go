package gpu

import (
	"runtime"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// deferred has the software device put work off until somebody waits for it, for one test.
func deferred(t *testing.T) *Device {
	t.Helper()
	v := ownDevice(t)
	call(t, "host_defer", 1)
	t.Cleanup(func() { call(t, "host_defer", 0) })
	return v
}

// on has the calling goroutine give work on a stream while f runs.
func on(v *Device, s *Stream, f func()) {
	before := v.Stream()
	v.SetStream(s)
	defer v.SetStream(before)
	f()
}

// doubling is a program that stores twice an input.
func doubling(t *testing.T, v *Device) *Program {
	t.Helper()
	b := kernel.NewBuilder()
	x := b.Input(tensor.Float32, tensor.Float32)
	b.Output(b.Add(x, x), tensor.Float32)
	return must(NewProgram(v, b.Kernel()))
}

func filled(t *testing.T, v *Device, n int, value float64) *tensor.Tensor {
	t.Helper()
	x := must(v.Empty([]int{n}, tensor.Float32))
	check(t, v.fill(x, tensor.Float(value)))
	return x
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// first returns the first element of a tensor of the device.
func first(t *testing.T, v *Device, x *tensor.Tensor) float64 {
	t.Helper()
	return must(v.Download(x)).At(0).Float64()
}

// TestStreams gives work on two streams: one waits for a mark in the other.
func TestStreams(t *testing.T) {
	v := deferred(t)
	a, b := must(v.NewStream(0)), must(v.NewStream(-1))
	if a == b || a == v.home || b.Priority() != -1 {
		t.Errorf("the streams are %+v and %+v", a, b)
	}
	p := doubling(t, v)
	x, y := filled(t, v, 8, 3), must(v.Empty([]int{8}, tensor.Float32))
	z := must(v.Empty([]int{8}, tensor.Float32))
	check(t, v.Synchronize())
	var mark *Event
	on(v, a, func() {
		check(t, p.Run([]*tensor.Tensor{y, x}, nil))
		mark = must(a.NewEvent(false, false))
	})
	if done := must(a.IsDone()); done || must(mark.IsDone()) {
		t.Errorf("the stream is done, %v, before anybody has waited", done)
	}
	check(t, b.WaitFor(mark))
	on(v, b, func() { check(t, p.Run([]*tensor.Tensor{z, y}, nil)) })
	check(t, b.Synchronize())
	if !must(mark.IsDone()) || !must(a.IsDone()) {
		t.Error("the mark that the other stream waited for was not passed")
	}
	if got := first(t, v, z); got != 12 {
		t.Errorf("the element is %v", got)
	}
}

// TestStreamsAreShared looks at how many streams there are.
func TestStreamsAreShared(t *testing.T) {
	v := ownDevice(t)
	one := must(v.NewStream(0))
	for range streamsOfPriority - 1 {
		if must(v.NewStream(0)) == one {
			t.Fatal("a stream was given twice before all were")
		}
	}
	if must(v.NewStream(0)) != one || v.StreamOf(one.Handle()) != one {
		t.Error("the streams are not given in turn")
	}
}

// TestCurrentStream looks at the stream of goroutines.
func TestCurrentStream(t *testing.T) {
	v := ownDevice(t)
	s := must(v.NewStream(0))
	v.SetStream(s)
	defer v.SetStream(v.DefaultStream())
	other := make(chan *Stream)
	go func() { other <- v.Stream() }()
	if v.Stream() != s || <-other != v.DefaultStream() {
		t.Error("a goroutine gives work on the stream that another has chosen")
	}
}

// TestMemoryOfStreams frees blocks that other streams use.
func TestMemoryOfStreams(t *testing.T) {
	if exact {
		t.Skip("guarded memory is not used again")
	}
	v := deferred(t)
	s := must(v.NewStream(0))
	p := doubling(t, v)
	for _, n := range []int{1000, 2 << 20} {
		m := must(v.Allocate(n))
		at := m.at
		check(t, m.Free())
		on(v, s, func() {
			if other := must(v.Allocate(n)); other.at == at {
				t.Errorf("a block of %d bytes of one stream was given to another", n)
			}
		})
		m = must(v.Allocate(n))
		if m.at != at {
			t.Errorf("a block of %d bytes was not used again on its stream", n)
		}
		x := must(tensor.FromStorage(tensor.DeviceStorage(uint64(at), n, v.Place(), nil), 0, []int{8}, []int{1}, tensor.Float32))
		y := filled(t, v, 8, 1)
		on(v, s, func() { check(t, p.Run([]*tensor.Tensor{x, y}, nil)) })
		v.RecordStream(uint64(at), s)
		check(t, m.Free())
		if other := must(v.Allocate(n)); other.at == at {
			t.Errorf("a block of %d bytes was used again while another stream had work with it", n)
		}
		check(t, s.Synchronize())
		if other := must(v.Allocate(n)); other.at != at {
			t.Errorf("a block of %d bytes was not used again when the other stream was done", n)
		}
	}
}

// TestSegments looks at how small blocks share what the driver allocates.
func TestSegments(t *testing.T) {
	if exact {
		t.Skip("guarded memory is of exact sizes")
	}
	v := ownDevice(t)
	var all []*Memory
	for range 400 {
		all = append(all, must(v.Allocate(3000)))
	}
	if n := v.Counts().Allocations; n != 1 {
		t.Errorf("400 blocks of 3 KB are %d allocations", n)
	}
	for _, m := range all {
		check(t, m.Free())
	}
	for range 2 { // the second of blocks that are joined
		all = append(all, must(v.Allocate(600<<10)))
	}
	if s := v.Statistics(); s.Reserved != segmentBytes {
		t.Errorf("after 400 small blocks 2 of 600 KB make %d bytes be reserved", s.Reserved)
	}
	all[0] = must(v.Allocate(5000))
	for _, m := range all {
		check(t, m.Free())
	}
	check(t, v.EmptyCache())
	if s := v.Statistics(); s.Reserved != 0 || s.Allocated != 0 {
		t.Errorf("nothing is used, and the allocator counts %+v", s)
	}
}

// TestPinnedMemory copies from and to pinned memory, which nobody waits for, and others.
func TestPinnedMemory(t *testing.T) {
	v := deferred(t)
	storage := must(v.Pin(32))
	here := must(tensor.FromStorage(storage, 0, []int{8}, []int{1}, tensor.Float32))
	tensor.Fill(here, tensor.Float(5))
	plain := must(tensor.Zeros([]int{8}, tensor.Float32))
	part := must(here.Slice(0, 2, 4, 1))
	if pinned.of(here) == nil || pinned.of(plain) != nil || pinned.of(part) == nil {
		t.Error("which tensors are pinned is not known")
	}
	part.ReleaseMemory()
	x := must(v.Empty([]int{8}, tensor.Float32))
	check(t, v.write(x, here, false))
	if must(v.Stream().IsDone()) {
		t.Error("a copy from pinned memory was waited for")
	}
	y := must(v.Empty([]int{8}, tensor.Float32))
	check(t, v.move(y, x))
	check(t, v.read(here, y, false))
	tensor.Fill(here, tensor.Float(6))
	check(t, v.Stream().Synchronize())
	if got := here.At(0).Float64(); got != 6 { // the first copy was put off until after the second write
		t.Errorf("an element that came back is %v", got)
	}
	check(t, v.write(x, plain, false))
	if got := first(t, v, x); got != 0 || !must(v.Stream().IsDone()) {
		t.Errorf("after a copy from memory that is not pinned an element is %v", got)
	}
	at := storage.Pointer()
	check(t, v.write(x, here, false))
	here.ReleaseMemory()
	if other := must(v.Pin(32)); other.Pointer() == at {
		t.Error("pinned memory was used again while a copy from it was to come")
	}
	check(t, v.Synchronize())
	if other := must(v.Pin(32)); other.Pointer() != at {
		t.Error("pinned memory was not used again")
	}
}

// captured captures what f gives on a stream.
func capturedOn(t *testing.T, v *Device, s *Stream, pool *GraphPool, f func()) *Graph {
	t.Helper()
	g := v.NewGraph()
	on(v, s, func() {
		check(t, g.Begin(pool))
		f()
		check(t, g.End())
	})
	return g
}

// TestGraphs does captured work again, on other streams and with other elements.
func TestGraphs(t *testing.T) {
	v := testDevice(t)
	s := must(v.NewStream(0))
	p := doubling(t, v)
	x := filled(t, v, 1000, 1)
	var y, z *tensor.Tensor
	check(t, v.Synchronize())
	g := capturedOn(t, v, s, nil, func() {
		if !s.IsCapturing() {
			t.Error("nothing is captured")
		}
		y, z = must(v.Empty([]int{1000}, tensor.Float32)), must(v.Empty([]int{1000}, tensor.Float32))
		check(t, p.Run([]*tensor.Tensor{y, x}, nil))
		check(t, v.fill(z, tensor.Float(0)))
		check(t, v.move(z, y))
		check(t, p.Run([]*tensor.Tensor{y, z}, nil))
	})
	if g.Launches() != 2 {
		t.Errorf("the graph has %d kernels", g.Launches())
	}
	before := v.Counts()
	for _, c := range []struct {
		on    *Stream
		value float64
	}{{s, 1}, {v.home, 2}, {s, 3}} {
		check(t, v.fill(x, tensor.Float(c.value)))
		check(t, v.Synchronize())
		on(v, c.on, func() { check(t, g.Replay()) })
		check(t, v.Synchronize())
		if got := first(t, v, y); got != 4*c.value {
			t.Errorf("after a replay with %v an element is %v", c.value, got)
		}
	}
	if n := v.Counts(); n.GraphLaunches != before.GraphLaunches+3 {
		t.Errorf("the device counts %+v", n)
	}
	g.Reset()
	if err := g.Replay(); err == nil || !strings.Contains(err.Error(), "without a preceding successful capture") {
		t.Errorf("a graph that was reset gives %v", err)
	}
}

// TestGraphMemory looks at who has the memory of a graph.
func TestGraphMemory(t *testing.T) {
	v := ownDevice(t)
	s := must(v.NewStream(0))
	pool := v.NewGraphPool()
	var at pointer
	for _, n := range []int{1000, 2 << 20} {
		g := capturedOn(t, v, s, pool, func() {
			m := must(v.Allocate(n))
			at = m.at
			check(t, m.Free())
			if again := must(v.Allocate(n)); again.at != at {
				t.Errorf("a capture does not use a block of %d bytes again", n)
			} else {
				check(t, again.Free())
			}
		})
		check(t, v.EmptyCache()) // it is not given back
		on(v, s, func() {
			if m := must(v.Allocate(n)); m.at == at {
				t.Error("memory of a graph was given away")
			}
		})
		h := capturedOn(t, v, s, pool, func() {
			if m := must(v.Allocate(n)); m.at != at {
				t.Error("graphs of one pool do not share memory")
			} else {
				check(t, m.Free())
			}
		})
		g.Reset()
		on(v, s, func() {
			if m := must(v.Allocate(n)); m.at == at {
				t.Error("memory of a graph that another shares was given away")
			}
		})
		h.Reset()
		on(v, s, func() {
			if m := must(v.Allocate(n)); m.at != at && !exact {
				t.Error("memory of graphs that are gone is not used again")
			}
		})
	}
}

// TestGraphKeepsPrograms has the collector look for the programs of a graph.
func TestGraphKeepsPrograms(t *testing.T) {
	v := ownDevice(t)
	s := must(v.NewStream(0))
	x, y := filled(t, v, 8, 3), must(v.Empty([]int{8}, tensor.Float32))
	check(t, v.Synchronize())
	p := doubling(t, v)
	g := capturedOn(t, v, s, nil, func() { check(t, p.Run([]*tensor.Tensor{y, x}, nil)) })
	p = nil
	for range 3 {
		tensor.CollectAll()
	}
	check(t, g.Replay())
	if got := first(t, v, y); got != 6 {
		t.Errorf("an element is %v", got)
	}
	runtime.KeepAlive([]any{p, x})
}

// TestReplayOfFreedMemory has a graph write memory that was given back to the driver.
func TestReplayOfFreedMemory(t *testing.T) {
	v := ownDevice(t)
	s := must(v.NewStream(0))
	at := must(v.driver.allocated(v, 64))
	x := must(tensor.FromStorage(tensor.DeviceStorage(uint64(at), 64, v.Place(), nil), 0, []int{16}, []int{1}, tensor.Float32))
	g := capturedOn(t, v, s, nil, func() { check(t, v.fill(x, tensor.Float(2))) })
	check(t, g.Replay())
	check(t, v.freeBlock(at))
	if err := g.Replay(); err == nil || !strings.Contains(err.Error(), "illegal memory access") || !strings.Contains(err.Error(), "begin a new one") {
		t.Errorf("a replay with memory that was given back gives %v", err)
	}
}

// TestGraphsThatDraw launches a graph that draws on two streams: what the second launch draws by is written once the first was done, and begins where that ended.
func TestGraphsThatDraw(t *testing.T) {
	v := deferred(t)
	backend := &Backend{devices: func() ([]*Device, error) { return []*Device{v}, nil }}
	s, x := must(v.NewStream(0)), filled(t, v, 8, 3)
	check(t, v.Seed(7))
	g := capturedOn(t, v, s, nil, func() {
		for want := range 2 {
			draws := must(backend.Draw(v.Place(), 8, numbersAtOnce, 1))
			if draws.Offset != uint64(want*numbersAtOnce) || draws.State == nil {
				t.Errorf("a kernel of a graph draws by %+v", draws)
			}
		}
		check(t, v.fill(x, tensor.Float(7)))
	})
	on(v, s, func() { check(t, g.Replay()) })
	check(t, g.Replay())
	check(t, v.home.Synchronize())
	if !must(s.IsDone()) {
		t.Error("the first launch is not done, and what it draws by is another")
	}
	if got := must(v.Download(g.work.drawn.state)); got.At(0).Int64() != 7 || got.At(1).Int64() != 2*numbersAtOnce {
		t.Errorf("the second launch draws by %v", got)
	}
	if seed, offset, err := v.RandomState(); err != nil || seed != 7 || offset != 4*numbersAtOnce {
		t.Errorf("the stream is at %d of seed %d, %v", offset, seed, err)
	}
	g.Reset()
}

// TestCaptureRefuses asks for what a graph cannot hold: the capture ends, and the stream goes on.
func TestCaptureRefuses(t *testing.T) {
	v := testDevice(t)
	s := must(v.NewStream(0))
	x := filled(t, v, 8, 3)
	here := must(tensor.Zeros([]int{8}, tensor.Float32))
	b := kernel.NewBuilder()
	n := b.Input(tensor.Int32, tensor.Int32)
	b.Output(b.Binary(kernel.Div, n, n), tensor.Int32)
	divide := must(NewProgram(v, b.Kernel()))
	numbers := must(v.Empty([]int{8}, tensor.Int32))
	other := v.NewGraph()
	check(t, v.Synchronize())
	for want, f := range map[string]func() error{
		"copied to the processor": func() error { return v.read(here, x, true) },
		"that is not pinned":      func() error { return v.write(x, here, false) },
		"a device is synchron":    v.Synchronize,
		"a stream is synchron":    s.Synchronize,
		"a stream is queried":     func() error { _, err := s.IsDone(); return err },
		"last recorded":           func() error { return must(s.NewEvent(false, false)).Synchronize() },
		"outside of the capture":  func() error { return s.WaitFor(must(v.home.NewEvent(false, false))) },
		"a capture begins":        func() error { return other.Begin(nil) },
		"random numbers is set":   func() error { return v.Seed(4) },
		"random numbers is asked": func() error { _, _, err := v.RandomState(); return err },
		"a division of integers":  func() error { return divide.Run([]*tensor.Tensor{numbers, numbers}, nil) },
	} {
		g := v.NewGraph()
		on(v, s, func() {
			check(t, g.Begin(nil))
			check(t, v.fill(x, tensor.Float(7)))
			if err := f(); err == nil || !strings.HasPrefix(err.Error(), "CUDA error: operation not permitted ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v", want, err)
			}
			if s.IsCapturing() {
				t.Errorf("%s: the stream is still captured", want)
			}
			if err := g.End(); err == nil || !strings.HasPrefix(err.Error(), "CUDA error: operation failed due to a previous error during capture") {
				t.Errorf("%s: the capture ends with %v", want, err)
			}
			if got := first(t, v, x); got != 3 {
				t.Errorf("%s: an element is %v: what was captured was done", want, got)
			}
		})
		g.Reset()
	}
	if v.captures.open != 0 {
		t.Errorf("%d captures are open", v.captures.open)
	}
}

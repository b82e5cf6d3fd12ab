package gpu

import (
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ownDevice is a device of the software driver whose allocator is its own.
func ownDevice(t *testing.T) *Device {
	t.Helper()
	testDevice(t)
	if onGPU() {
		t.Skip("what is tested is asked of the software device")
	}
	shared, _ := host()
	v := &Device{driver: shared.driver}
	if err := v.open(0); err != nil {
		t.Fatal(err)
	}
	return v
}

// call calls a function of the software driver that tests alone have.
func call(t *testing.T, name string, argument int64) {
	t.Helper()
	l, err := openLibrary(hostPath)
	if err != nil {
		t.Fatal(err)
	}
	var f func(int64)
	if err := l.function(&f, name); err != nil {
		t.Fatal(err)
	}
	f(argument)
}

// TestBlocksAreReused looks at what the allocator counts.
func TestBlocksAreReused(t *testing.T) {
	if exact {
		t.Skip("guarded memory is not used again")
	}
	v := ownDevice(t)
	a, err := v.Allocate(1000)
	if err != nil {
		t.Fatal(err)
	}
	at := a.at
	if err := a.Free(); err != nil {
		t.Fatal(err)
	}
	b, err := v.Allocate(1024)
	if err != nil || b.at != at {
		t.Errorf("a block of 1024 bytes is at %d, not at %d where one of 1000 was given back: %v", b.at, at, err)
	}
	c, err := v.Allocate(1025)
	if err != nil || c.at == at {
		t.Errorf("a block that is in use was given away: %v", err)
	}
	if got, want := v.Statistics(), (Statistics{Allocated: 1024 + 1536, MostAllocated: 1024 + 1536, Reserved: segmentBytes, MostReserved: segmentBytes}); got != want {
		t.Errorf("the allocator counts %+v, not %+v", got, want)
	}
	_, _ = b.Free(), c.Free()
	if err := v.EmptyCache(); err != nil {
		t.Fatal(err)
	}
	if got, want := v.Statistics(), (Statistics{MostAllocated: 1024 + 1536, MostReserved: segmentBytes}); got != want {
		t.Errorf("the allocator counts %+v, not %+v", got, want)
	}
}

// TestClassSizes looks at how many bytes are wasted.
func TestClassSizes(t *testing.T) {
	if exact {
		t.Skip("guarded memory has no classes")
	}
	for n := 1; n < 1<<20; n += 1 + n/7 {
		if size := classSize(n); size < n || size >= n+max(smallestBlock, n/4+4) || classSize(size) != size {
			t.Errorf("a block of %d bytes takes %d", n, size)
		}
	}
}

// TestOutOfMemory fills the device: what is kept for reuse is given back first, then there is an error with a summary.
func TestOutOfMemory(t *testing.T) {
	v := ownDevice(t)
	before := allocatedOn(t, v)()
	call(t, "host_set_limit", before+100<<20)
	defer call(t, "host_set_limit", 1<<30)
	kept, err := v.Allocate(60 << 20)
	if err != nil {
		t.Fatal(err)
	}
	if err := kept.Free(); err != nil {
		t.Fatal(err)
	}
	held, err := v.Allocate(80 << 20) // only without the block that is kept
	if err != nil {
		t.Fatal(err)
	}
	_, err = v.Allocate(40 << 20)
	if err == nil || source.ClassOf(err) != source.OutOfMemoryError || !strings.Contains(err.Error(), "Tried to allocate 40.00 MiB (GPU 0;") || !strings.Contains(err.Error(), "80.00 MiB already allocated; 20.0") {
		t.Errorf("the error of a full device is %v", err)
	}
	if err := held.Free(); err != nil {
		t.Fatal(err)
	}
	if err := v.EmptyCache(); err != nil {
		t.Fatal(err)
	}
}

// TestForbiddenAccess has a kernel read before its memory, after it and that of the processor: the launch fails, and the next one does not.
func TestForbiddenAccess(t *testing.T) {
	v := ownDevice(t)
	b := kernel.NewBuilder()
	b.Output(b.Input(tensor.Float32, tensor.Float32), tensor.Float32)
	p, err := NewProgram(v, b.Kernel())
	if err != nil {
		t.Fatal(err)
	}
	m, err := v.driver.allocated(v, 64)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = v.freeBlock(m) }()
	out := must(v.Empty([]int{16}, tensor.Float32))
	here := must(tensor.Zeros([]int{1 << 12}, tensor.Float32))
	for name, c := range map[string]struct {
		at   uint64
		n    int
		fine bool
	}{
		"inside":    {uint64(m), 16, true},
		"beyond":    {uint64(m) + 4, 16, false},
		"before":    {uint64(m) - 4, 16, false},
		"processor": {uint64(uintptr(here.DataPtr())), 16, false},
		"nothing":   {0, 1, false},
	} {
		x, err := tensor.FromStorage(tensor.DeviceStorage(c.at, 4*c.n, v.Place(), nil), 0, []int{c.n}, []int{1}, tensor.Float32)
		if err != nil {
			t.Fatal(err)
		}
		into := must(out.Slice(0, 0, c.n, 1))
		if err := p.Run([]*tensor.Tensor{into, x}, nil); (err == nil) != c.fine || err != nil && !strings.Contains(err.Error(), "illegal memory access") {
			t.Errorf("%s: reading gives %v", name, err)
		}
		if err := p.Run([]*tensor.Tensor{x, into}, nil); (err == nil) != c.fine {
			t.Errorf("%s: writing gives %v", name, err)
		}
		if err := v.write(x, must(tensor.Zeros([]int{c.n}, tensor.Float32)), true); (err == nil) != c.fine {
			t.Errorf("%s: a copy gives %v", name, err)
		}
	}
}

// allocated returns memory of the driver's, of just so many bytes.
func (d *driver) allocated(v *Device, bytes uint64) (at pointer, err error) {
	err = v.do(func() error { return d.check("cuMemAlloc", d.cuMemAlloc_v2(&at, bytes)) })
	return at, err
}

// TestFailingLaunch looks for the error of a launch.
func TestFailingLaunch(t *testing.T) {
	v := ownDevice(t)
	x := must(v.Empty([]int{3, 4}, tensor.Float32))
	if err := v.fill(x, tensor.Float(2)); err != nil {
		t.Fatal(err)
	}
	call(t, "host_fail_launch", 1)
	if err := v.fill(x, tensor.Float(3)); err == nil || !strings.Contains(err.Error(), "CUDA error: unspecified launch failure (cuLaunchKernel)") {
		t.Errorf("a launch that fails gives %v", err)
	}
	if got := must(v.Download(x)).At(2, 3).Float64(); got != 2 {
		t.Errorf("after a launch that failed an element is %v", got)
	}
}

package gpu

import (
	"slices"
	"sync"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// pinnedMemory is memory of the processor that stays where it is, so that devices copy from and to it while the processor goes on. Blocks that were given
// back are kept for the next who asks for as many bytes.
type pinnedMemory struct {
	mu   sync.Mutex
	held map[uintptr]*pinnedBlock // by where they begin
	free map[int][]*pinnedBlock
}

// pinned is that of the process.
var pinned pinnedMemory

// pinnedBlock is a block of pinned memory.
type pinnedBlock struct {
	device *Device // whose driver made it
	at     uintptr
	bytes  int // as many as its class has

	mu    sync.Mutex
	marks map[*Stream]uintptr // in the work of streams, behind what copies from it or to it
}

// Pin returns a storage of pinned memory, whose bytes are undefined.
func (v *Device) Pin(bytes int) (*tensor.Storage, error) {
	b, err := pinned.take(v, classSize(max(bytes, 1)))
	if err != nil {
		return nil, err
	}
	return tensor.ForeignStorage(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&b.at))), b.bytes)[:bytes:bytes], func() { pinned.put(b) }), nil
}

// take returns a block that no copy has to do with any more, or one of the driver's.
func (p *pinnedMemory) take(v *Device, size int) (*pinnedBlock, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := p.free[size]
	for i := len(kept) - 1; i >= 0; i-- {
		if b := kept[i]; b.device == v && b.isIdle() {
			kept[i] = kept[len(kept)-1]
			p.free[size] = kept[:len(kept)-1]
			p.held[b.at] = b
			return b, nil
		}
	}
	b := &pinnedBlock{device: v, bytes: size}
	const portable = 1 // all devices know that it is pinned
	var code int32
	if err := v.do(func() error { code = v.driver.cuMemHostAlloc(&b.at, uint64(size), portable); return nil }); err != nil {
		return nil, err
	}
	if code == outOfMemory {
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "CUDA error: out of memory: %s of pinned memory were asked for (cuMemHostAlloc)", sizeText(size))
	}
	if p.held == nil {
		p.held, p.free = map[uintptr]*pinnedBlock{}, map[int][]*pinnedBlock{}
	}
	p.held[b.at] = b
	return b, v.driver.check("cuMemHostAlloc", code)
}

// empty gives the blocks of a device's driver that nobody uses back to it.
func (p *pinnedMemory) empty(v *Device) (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for size, kept := range p.free {
		p.free[size] = slices.DeleteFunc(kept, func(b *pinnedBlock) bool {
			if b.device != v || !b.isIdle() || err != nil {
				return false
			}
			err = v.do(func() error { return v.driver.check("cuMemFreeHost", v.driver.cuMemFreeHost(b.at)) })
			for s, mark := range b.marks {
				_ = s.device.destroyEvent(mark)
			}
			return true
		})
	}
	return err
}

// put keeps a block for the next.
func (p *pinnedMemory) put(b *pinnedBlock) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.held, b.at)
	p.free[b.bytes] = append(p.free[b.bytes], b)
}

// of returns the block that a tensor's memory is, nil where it is not pinned.
func (p *pinnedMemory) of(t *tensor.Tensor) *pinnedBlock {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.held) == 0 {
		return nil
	}
	return p.held[uintptr(t.Storage().Pointer())]
}

// Pin implements tensor.Pinner with the current device's driver.
func (b *Backend) Pin(nbytes int) (*tensor.Storage, error) {
	v, err := b.Device(tensor.NewDevice(tensor.CUDA, -1))
	if err != nil {
		return nil, err
	}
	return v.Pin(nbytes)
}

// IsPinned implements tensor.Pinner.
func (b *Backend) IsPinned(t *tensor.Tensor) bool { return pinned.of(t) != nil }

// pinnedAt returns the block of pinned memory that a tensor of the processor lies in, nil where there is none.
func (v *Device) pinnedAt(t *tensor.Tensor) *pinnedBlock { return pinned.of(t) }

// usedBy says that a stream was given a copy from the block or to it. The device's context is current.
func (b *pinnedBlock) usedBy(s *Stream) error {
	if s.capture.Load() != nil {
		return nil // whoever replays the graph keeps the tensor
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d := s.device.driver
	mark := b.marks[s]
	if mark == 0 {
		if err := d.check("cuEventCreate", d.cuEventCreate(&mark, eventUntimed)); err != nil {
			return err
		}
		if b.marks == nil {
			b.marks = map[*Stream]uintptr{}
		}
		b.marks[s] = mark
	}
	return d.check("cuEventRecord", d.cuEventRecord.call(mark, s.handle))
}

// isIdle reports whether all copies are done.
func (b *pinnedBlock) isIdle() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s, mark := range b.marks {
		code := int32(0)
		if s.device.do(func() error { code = s.device.driver.cuEventQuery.call(mark); return nil }) != nil || code == notReady {
			return false
		}
	}
	return true
}

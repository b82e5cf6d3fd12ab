package gpu

import (
	"cmp"
	"fmt"
	"math/bits"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Memory is a block of a device's memory.
type Memory struct {
	device *Device
	at     pointer
	bytes  int
	pool   *pool   // that it goes back to; nil for a part of an arena, which nobody gives back
	blocks *blocks // of a capture that notes it, with its number
	life   int
}

// Statistics says what the memory of a device is used for, in bytes.
type Statistics struct {
	Allocated, MostAllocated int // of blocks that are in use
	Reserved, MostReserved   int // of those and of what is kept for reuse
}

// allocator keeps blocks that were given back, by streams, for the next who asks for as many bytes on the stream that a block was given out on.
type allocator struct {
	mu    sync.Mutex
	stats Statistics
	// abroad are blocks that other streams use, too, and waiting those of them that were given back while these had work to do.
	abroad  map[pointer][]*Stream
	waiting []waiting
}

// pool has the free memory of a stream. What is done with a block on the stream is done in order, so that the block may be used again at once.
//
// Large blocks are allocations of the driver. Small ones are parts of segments: what was cut out stays a block of its size until no room for
// another size is left, and is joined with its neighbours then.
type pool struct {
	stream   *Stream
	free     map[int][]pointer // by the size of their class
	segments []span
	gaps     []span // of segments: what is no block
	loose    int    // bytes of small blocks in free
	ofGraphs bool   // it is theirs as long as there are any
	heir     *pool  // that has it all then
}

type span struct {
	at    pointer
	bytes int
}

// waiting is a block that waits for marks in the work of streams other than its own.
type waiting struct {
	m     Memory
	marks []uintptr
	late  []*Stream // that were captured when the block was given back, and have no mark yet
}

// Requests below smallBelow bytes share segments.
const (
	smallBelow   = 1 << 20
	segmentBytes = 2 << 20
)

// exact has each block be an allocation of its own, of just the bytes that were asked for: GOJIT_CHECK=guard. A driver that checks addresses then
// finds what lies outside of a tensor.
var exact = slices.Contains(strings.Split(os.Getenv("GOJIT_CHECK"), ","), "guard")

// smallestBlock is the size in bytes of the smallest blocks, and what others are multiples of.
const smallestBlock = 512

// classSize returns the bytes of the blocks that requests of n bytes get: powers of two and three steps between two of them.
func classSize(n int) int {
	if exact {
		return n
	}
	n = max(n, smallestBlock)
	step := max(smallestBlock, 1<<(bits.Len(uint(n-1))-3))
	return (n + step - 1) / step * step
}

// Allocate returns a block of a size in bytes for the calling goroutine's stream; what it holds is undefined. Free gives it back. It fails with an
// OutOfMemoryError.
func (v *Device) Allocate(bytes int) (*Memory, error) {
	m := &Memory{device: v, bytes: bytes}
	if bytes == 0 {
		return m, nil
	}
	s := v.Stream()
	m.pool = &s.memory
	c := s.capture.Load()
	if c != nil {
		if at, ok := c.blocks.place(s, bytes); ok {
			m.at, m.pool = at, nil
			return m, nil
		}
		m.pool = c.work.pool.of(s)
	}
	for attempt := range 3 {
		switch attempt {
		case 1:
			v.EmptyCache()
		case 2: // tensors that nobody holds have not been collected
			v.lanes.giveUp()
			tensor.CollectAll()
			v.EmptyCache()
		}
		code, err := v.take(m)
		if err != nil || code == 0 {
			if err == nil && c != nil {
				c.blocks.note(m)
			}
			return m, err
		}
		if code != outOfMemory {
			return nil, v.driver.check("cuMemAlloc", code)
		}
	}
	return nil, v.outOfMemory(bytes)
}

// outOfMemory is the driver's code for that.
const outOfMemory = 2

// take gives m a block of its pool: one that was given back, a part of a segment, or an allocation of its own.
func (v *Device) take(m *Memory) (code int32, err error) {
	a, size := &v.memory, classSize(m.bytes)
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.waiting) > 0 {
		if err := v.endWaiting(false); err != nil {
			return 0, err
		}
	}
	p := m.pool.last()
	switch kept := p.free[size]; {
	case len(kept) > 0:
		m.at = kept[len(kept)-1]
		p.free[size] = kept[:len(kept)-1]
		if isSmall(size) {
			p.loose -= size
		}
	case !isSmall(size):
		m.at, code, err = v.reserve(size)
	case !p.cut(m, size):
		var at pointer
		if at, code, err = v.reserve(segmentBytes); at != 0 {
			p.segments = append(p.segments, span{at, segmentBytes})
			p.gaps = append(p.gaps, span{at, segmentBytes})
			p.cut(m, size)
		}
	}
	if m.at == 0 {
		return code, err
	}
	a.stats.Allocated += size
	a.stats.MostAllocated = max(a.stats.MostAllocated, a.stats.Allocated)
	return 0, nil
}

func isSmall(size int) bool { return size < smallBelow && !exact }

// reserve asks the driver for memory. The lock is held.
func (v *Device) reserve(bytes int) (at pointer, code int32, err error) {
	v.counts.allocations.Add(1)
	err = v.do(func() error { code = v.driver.cuMemAlloc_v2(&at, uint64(bytes)); return nil })
	if err != nil || code != 0 {
		return 0, code, err
	}
	a := &v.memory
	a.stats.Reserved += bytes
	a.stats.MostReserved = max(a.stats.MostReserved, a.stats.Reserved)
	return at, 0, nil
}

// last returns the pool that has the memory of p.
func (p *pool) last() *pool {
	for p.heir != nil {
		p = p.heir
	}
	return p
}

// cut gives m a part of a segment. ok is false where no segment has room.
func (p *pool) cut(m *Memory, size int) (ok bool) {
	for range 2 {
		for i := range p.gaps {
			if gap := &p.gaps[i]; gap.bytes >= size {
				m.at = gap.at
				gap.at += pointer(size)
				gap.bytes -= size
				return true
			}
		}
		if p.loose < segmentBytes/2 {
			return false // too little for what joining costs
		}
		p.join()
	}
	return false
}

// join makes gaps of the free small blocks.
func (p *pool) join() {
	for size, kept := range p.free {
		if isSmall(size) {
			for _, at := range kept {
				p.gaps = append(p.gaps, span{at, size})
			}
			delete(p.free, size)
		}
	}
	p.loose = 0
	slices.SortFunc(p.gaps, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	starts := map[pointer]bool{}
	for _, s := range p.segments {
		starts[s.at] = true
	}
	joined := p.gaps[:0]
	for _, gap := range p.gaps {
		if last := len(joined) - 1; gap.bytes > 0 && last >= 0 && joined[last].at+pointer(joined[last].bytes) == gap.at && !starts[gap.at] {
			joined[last].bytes += gap.bytes
		} else if gap.bytes > 0 {
			joined = append(joined, gap)
		}
	}
	p.gaps = joined
}

// Free gives the block back. It may be called again.
func (m *Memory) Free() error {
	if m.at == 0 {
		return nil
	}
	v := m.device
	a, given := &v.memory, *m
	m.at = 0
	a.mu.Lock()
	defer a.mu.Unlock()
	users := a.abroad[given.at]
	if given.blocks != nil {
		given.blocks.end(&given, users != nil)
	}
	if given.pool == nil {
		delete(a.abroad, given.at)
		return nil
	}
	a.stats.Allocated -= classSize(given.bytes)
	if users != nil {
		delete(a.abroad, given.at)
		w := waiting{m: given}
		for _, s := range users {
			if s.capture.Load() != nil {
				w.late = append(w.late, s)
				continue
			}
			mark, err := s.mark(eventUntimed)
			if err != nil {
				return err
			}
			w.marks = append(w.marks, mark)
		}
		a.waiting = append(a.waiting, w)
		return nil
	}
	return v.keep(given)
}

// keep has a block wait for the next who asks for one of its size. The lock is held.
func (v *Device) keep(m Memory) error {
	size, p := classSize(m.bytes), m.pool.last()
	if exact && !p.ofGraphs {
		v.memory.stats.Reserved -= size
		return v.freeBlock(m.at)
	}
	if p.free == nil {
		p.free = map[int][]pointer{}
	}
	p.free[size] = append(p.free[size], m.at)
	if isSmall(size) {
		p.loose += size
	}
	return nil
}

// endWaiting keeps the blocks that other streams are done with, or waits until they are. The lock is held.
func (v *Device) endWaiting(wait bool) error {
	a := &v.memory
	left := a.waiting[:0]
	for _, w := range a.waiting {
		done, err := v.isDoneWith(&w, wait)
		if err == nil && done {
			err = v.keep(w.m)
		} else {
			left = append(left, w)
		}
		if err != nil {
			return err
		}
	}
	a.waiting = left
	return nil
}

// isDoneWith reports whether streams have come to the marks behind which a block is free.
func (v *Device) isDoneWith(w *waiting, wait bool) (done bool, err error) {
	d := v.driver
	for len(w.late) > 0 {
		s := w.late[0]
		if s.capture.Load() != nil {
			return false, nil
		}
		mark, err := s.mark(eventUntimed)
		if err != nil {
			return false, err
		}
		w.marks, w.late = append(w.marks, mark), w.late[1:]
	}
	for len(w.marks) > 0 {
		code := int32(0)
		err := v.do(func() error {
			if wait {
				code = d.cuEventSynchronize(w.marks[0])
			} else {
				code = d.cuEventQuery.call(w.marks[0])
			}
			return nil
		})
		if err != nil || code == notReady {
			return false, err
		}
		if code != 0 {
			return false, d.check("cuEventQuery", code)
		}
		if err := v.destroyEvent(w.marks[0]); err != nil {
			return false, err
		}
		w.marks = w.marks[1:]
	}
	return true, nil
}

// RecordStream says that a stream other than its own uses the block that begins at an address: once it is given back, it is used again when the stream is
// done with what it was given until then.
func (v *Device) RecordStream(at uint64, s *Stream) {
	a := &v.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.abroad == nil {
		a.abroad = map[pointer][]*Stream{}
	}
	if users := a.abroad[pointer(at)]; at != 0 && !slices.Contains(users, s) {
		a.abroad[pointer(at)] = append(users, s)
	}
}

// freeBlock gives a block back to the driver, which waits until the device has done what it was given.
func (v *Device) freeBlock(at pointer) error {
	return v.do(func() error { return v.driver.check("cuMemFree", v.driver.cuMemFree_v2(at)) })
}

// EmptyCache gives the memory that nobody uses back to the driver; what graphs have stays theirs.
func (v *Device) EmptyCache() error {
	a := &v.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := v.endWaiting(true); err != nil {
		return err
	}
	for _, s := range v.streams.all() {
		if err := v.empty(&s.memory); err != nil {
			return err
		}
	}
	return pinned.empty(v)
}

// empty gives the large blocks and the segments without blocks of a pool back to the driver. The lock is held.
func (v *Device) empty(p *pool) error {
	a := &v.memory
	p.join()
	for size, kept := range p.free {
		for len(kept) > 0 {
			if err := v.freeBlock(kept[len(kept)-1]); err != nil {
				return err
			}
			kept = kept[:len(kept)-1]
			p.free[size] = kept
			a.stats.Reserved -= size
		}
		delete(p.free, size)
	}
	var err error
	p.segments = slices.DeleteFunc(p.segments, func(s span) bool {
		at := slices.Index(p.gaps, s)
		if at < 0 || err != nil {
			return false
		}
		if err = v.freeBlock(s.at); err != nil {
			return false
		}
		p.gaps = slices.Delete(p.gaps, at, at+1)
		a.stats.Reserved -= s.bytes
		return true
	})
	return err
}

// bequeath has another pool have all that p has, and what comes back to it. The lock is held.
func (p *pool) bequeath(heir *pool) {
	if heir.free == nil {
		heir.free = map[int][]pointer{}
	}
	for size, kept := range p.free {
		heir.free[size] = append(heir.free[size], kept...)
	}
	heir.segments, heir.gaps, heir.loose = append(heir.segments, p.segments...), append(heir.gaps, p.gaps...), heir.loose+p.loose
	*p = pool{stream: p.stream, heir: heir}
}

// Statistics returns what the memory is used for.
func (v *Device) Statistics() Statistics {
	v.memory.mu.Lock()
	defer v.memory.mu.Unlock()
	return v.memory.stats
}

// ResetPeak has the most that was used count from now on.
func (v *Device) ResetPeak() {
	v.memory.mu.Lock()
	defer v.memory.mu.Unlock()
	v.memory.stats.MostAllocated, v.memory.stats.MostReserved = v.memory.stats.Allocated, v.memory.stats.Reserved
}

// MemoryInfo returns how many bytes the device has left, and how many it has.
func (v *Device) MemoryInfo() (free, total int, err error) {
	var f, t uint64
	err = v.do(func() error { return v.driver.check("cuMemGetInfo", v.driver.cuMemGetInfo_v2(&f, &t)) })
	return int(f), int(t), err
}

// outOfMemory is the error of a request that the device has no memory for.
func (v *Device) outOfMemory(bytes int) error {
	s := v.Statistics()
	free, total, err := v.MemoryInfo()
	if err != nil {
		return err
	}
	return source.Errorf(source.OutOfMemoryError, source.Range{},
		"CUDA out of memory. Tried to allocate %s (GPU %d; %s total capacity; %s already allocated; %s free; %s reserved in total, with the blocks kept for reuse)",
		sizeText(bytes), v.ordinal, sizeText(total), sizeText(s.Allocated), sizeText(free), sizeText(s.Reserved))
}

// sizeText returns a number of bytes in the largest unit that it has one of.
func sizeText(bytes int) string {
	units := []string{"KiB", "MiB", "GiB"}
	if bytes < 1<<10 {
		return fmt.Sprintf("%d bytes", bytes)
	}
	at, f := 0, float64(bytes)/1024
	for ; f >= 1024 && at < len(units)-1; at++ {
		f /= 1024
	}
	return fmt.Sprintf("%.2f %s", f, units[at])
}

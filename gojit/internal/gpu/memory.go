package gpu

import (
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
}

// Statistics says what the memory of a device is used for, in bytes.
type Statistics struct {
	Allocated, MostAllocated int // of blocks that are in use
	Reserved, MostReserved   int // of those and of the blocks that are kept for reuse
}

// allocator keeps blocks that were given back for the next who asks for as many bytes. All that a device is given to do is done in order, so a
// block may be used again at once.
type allocator struct {
	mu    sync.Mutex
	free  map[int][]pointer // by the size of their class
	stats Statistics
}

// exact has each block be an allocation of its own, of just the bytes that were asked for: GOJIT_CHECK=guard. A driver that checks addresses then
// finds what lies outside of a tensor.
var exact = slices.Contains(strings.Split(os.Getenv("GOJIT_CHECK"), ","), "guard")

// smallestBlock is the size in bytes of the smallest blocks.
const smallestBlock = 512

// classSize returns the bytes of the blocks that requests of n bytes get: powers of two and three steps between two of them.
func classSize(n int) int {
	if exact {
		return n
	}
	n = max(n, smallestBlock)
	step := 1 << (bits.Len(uint(n-1)) - 3)
	return (n + step - 1) / step * step
}

// Allocate returns a block of a size in bytes; what it holds is undefined. Free gives it back. It fails with an OutOfMemoryError.
func (v *Device) Allocate(bytes int) (*Memory, error) {
	m := &Memory{device: v, bytes: bytes}
	if bytes == 0 {
		return m, nil
	}
	size := classSize(bytes)
	for attempt := range 3 {
		switch attempt {
		case 1:
			v.EmptyCache()
		case 2: // tensors that nobody holds have not been collected
			tensor.CollectAll()
			v.EmptyCache()
		}
		code, err := v.take(m, size)
		if err != nil || code == 0 {
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

// take gives m a block of a size: one that was given back, or the driver's.
func (v *Device) take(m *Memory, size int) (code int32, err error) {
	a := &v.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	if kept := a.free[size]; len(kept) > 0 {
		m.at = kept[len(kept)-1]
		a.free[size] = kept[:len(kept)-1]
	} else {
		v.counts.allocations.Add(1)
		err = v.do(func() error { code = v.driver.cuMemAlloc_v2(&m.at, uint64(size)); return nil })
		if err != nil || code != 0 {
			return code, err
		}
		a.stats.Reserved += size
		a.stats.MostReserved = max(a.stats.MostReserved, a.stats.Reserved)
	}
	a.stats.Allocated += size
	a.stats.MostAllocated = max(a.stats.MostAllocated, a.stats.Allocated)
	return 0, nil
}

// Free gives the block back. It may be called again.
func (m *Memory) Free() error {
	if m.at == 0 {
		return nil
	}
	at, size, a := m.at, classSize(m.bytes), &m.device.memory
	m.at = 0
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stats.Allocated -= size
	if exact {
		a.stats.Reserved -= size
		return m.device.freeBlock(at)
	}
	if a.free == nil {
		a.free = map[int][]pointer{}
	}
	a.free[size] = append(a.free[size], at)
	return nil
}

// freeBlock gives a block back to the driver, which waits until the device has done what it was given.
func (v *Device) freeBlock(at pointer) error {
	return v.do(func() error { return v.driver.check("cuMemFree", v.driver.cuMemFree_v2(at)) })
}

// EmptyCache gives the blocks that nobody uses back to the driver.
func (v *Device) EmptyCache() error {
	a := &v.memory
	a.mu.Lock()
	defer a.mu.Unlock()
	for size, kept := range a.free {
		for _, at := range kept {
			if err := v.freeBlock(at); err != nil {
				return err
			}
			a.stats.Reserved -= size
		}
	}
	a.free = nil
	return nil
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

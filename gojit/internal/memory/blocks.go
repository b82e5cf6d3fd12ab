package memory

import (
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Alignment is the alignment in bytes of every block of at least that size.
const Alignment = 64

// Take returns a block of at least n bytes and reports whether it is clear; nil where there is no room for it.
func Take(n int) (block []byte, isClear bool) { return blocks.take(n) }

// Give gives back what Take returned. Nobody may use it any more.
func Give(block []byte) { blocks.put(block) }

// Empty drops the blocks that are kept to be used again.
func Empty() {
	blocks.mu.Lock()
	blocks.free, blocks.old, blocks.bytes = nil, nil, 0
	blocks.count.Store(0)
	blocks.mu.Unlock()
}

// Large returns n bytes that may hold anything. It fails where there is no room for them.
func Large(n int) ([]byte, error) {
	switch {
	case n < LargeFrom:
		block := make([]byte, n)
		Poison(block)
		return block, nil
	case n > Limit():
		return nil, OutOfMemory(n)
	case n < ProbedFrom || !isAddressSpaceLimited() && IsMappable(n):
		return uncleared(n), nil
	}
	block, _ := blocks.take(n) // of a size that the cache keeps
	if block == nil {
		return nil, OutOfMemory(n)
	}
	return block[:n:n], nil
}

// OutOfMemory is the error of whoever cannot have so many bytes.
func OutOfMemory(nbytes int) error {
	return source.Errorf(source.RuntimeError, source.Range{},
		"[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory: you tried to allocate %d bytes. Error code 12 (Cannot allocate memory)", nbytes)
}

// alignedBytes returns n cleared bytes on the Go heap. Size classes that are multiples of 64 are
// aligned to 64; the offset covers an allocator that does otherwise.
func alignedBytes(n int) []byte {
	if n == 0 {
		return nil
	}
	if n < Alignment {
		return make([]byte, n)
	}
	b := make([]byte, (n+Alignment-1)&^(Alignment-1))
	if off := int(uintptr(unsafe.Pointer(&b[0])) % Alignment); off != 0 {
		b = make([]byte, n+Alignment)
		off = int(-uintptr(unsafe.Pointer(&b[0])) % Alignment)
		return b[off : off+n : off+n]
	}
	return b[:n:n]
}

// LargeFrom is the size from which fresh blocks are not cleared, and from which a block is worth waiting
// for another goroutine to leave the cache.
const LargeFrom = 32 << 10

// hugeFrom is the size from which the system is asked to map fresh blocks with huge pages.
const hugeFrom = 4 << 20

// cacheLimit bounds the bytes that wait in the block cache.
const cacheLimit = 512 << 20

// blockCache keeps released blocks by size class. A class is a power of two or one of the three
// quarter steps above it, from 1<<finelyBits on one of seven eighths, so at most a fifth of a block is unused, of a large one a ninth.
// A block that nobody takes between two collections is left to the second.
type blockCache struct {
	count atomic.Int32 // of all blocks
	mu    sync.Mutex
	free  *blockLists
	old   *blockLists // put before the last collection
	bytes int         // in free
	watch bool        // a sentinel waits for the next collection
	aged  time.Time   // when blocks became old
}

type blockLists [4*finelyBits + 8*(64-finelyBits)][][]byte

// finelyBits is the exponent of the size from which classes are eighths of powers of two.
const finelyBits = 20

var blocks blockCache

// classOf returns the class of a size and the size of the class's blocks.
func classOf(n int) (class, size int) {
	n = max(n, 8)
	exponent := bits.Len(uint(n-1)) - 1 // 2^exponent < n <= 2^(exponent+1)
	first, steps := 4*exponent, 2       // the steps are 2^steps to a power of two
	if exponent >= finelyBits {
		first, steps = 4*finelyBits+8*(exponent-finelyBits), 3
	}
	step := 1 << (exponent - steps)
	count := (n - (1 << exponent) + step - 1) / step
	return first + count - 1, 1<<exponent + count*step
}

// lock begins a change of the lists for a block of a size; it fails where the block is not worth waiting.
func (c *blockCache) lock(size int) bool {
	if size >= LargeFrom {
		c.mu.Lock()
		return true
	}
	return c.mu.TryLock()
}

// take returns a block of at least n bytes and reports whether it is clear.
func (c *blockCache) take(n int) (block []byte, isClear bool) {
	class, size := classOf(n)
	if c.count.Load() > 0 && c.lock(size) {
		if block = c.free.pop(class); block != nil {
			c.bytes -= size
		} else {
			block = c.old.pop(class)
		}
		if block != nil {
			c.count.Add(-1)
		}
		c.mu.Unlock()
		if block != nil {
			return block, false
		}
	}
	if size < LargeFrom {
		block = alignedBytes(size)
		Poison(block)
		return block, !Poisoning
	}
	if size < ProbedFrom || IsMappable(size) {
		return uncleared(size), false
	}
	if block = c.takeLarger(class); block == nil {
		// Finalizers give back what is no longer used.
		for range 10 {
			CollectAll()
			if block = c.takeLarger(class); block != nil {
				break
			}
		}
	}
	return block, false
}

// CollectAll runs the collector and waits for the finalizers of what it found, for a second where the machine is busy.
func CollectAll() {
	done, found := make(chan struct{}), &struct{ self *byte }{}
	runtime.SetFinalizer(found, func(*struct{ self *byte }) { close(done) })
	runtime.GC()
	select {
	case <-done:
	case <-time.After(time.Second):
	}
	time.Sleep(time.Millisecond)
}

// takeLarger returns a block of a class or the next larger one there is, nil where the cache has none.
func (c *blockCache) takeLarger(class int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	for ; class < len(blockLists{}); class++ {
		block := c.free.pop(class)
		if block != nil {
			c.bytes -= len(block)
		} else {
			block = c.old.pop(class)
		}
		if block != nil {
			c.count.Add(-1)
			return block
		}
	}
	return nil
}

// pop removes a block of a class, nil where there is none.
func (lists *blockLists) pop(class int) []byte {
	if lists == nil || len(lists[class]) == 0 {
		return nil
	}
	list := lists[class]
	b := list[len(list)-1]
	list[len(list)-1] = nil
	lists[class] = list[:len(list)-1]
	return b
}

// len returns the number of blocks.
func (lists *blockLists) len() (n int) {
	if lists != nil {
		for i := range lists {
			n += len(lists[i])
		}
	}
	return n
}

// put keeps a block for the next take of its class, or leaves it to the collector.
func (c *blockCache) put(b []byte) {
	Poison(b)
	class, size := classOf(len(b))
	if cap(b) < size || !c.lock(size) {
		return
	}
	if c.bytes+size <= cacheLimit || size >= ProbedFrom && isAddressSpaceLimited() {
		if c.free == nil {
			c.free = &blockLists{}
		}
		c.free[class] = append(c.free[class], b[:size])
		c.bytes += size
		c.count.Add(1)
		c.watchCollection()
	}
	c.mu.Unlock()
}

// watchCollection arranges for collected to run after the next collection. The lock is held.
func (c *blockCache) watchCollection() {
	if c.watch {
		return
	}
	c.watch = true
	sentinel := new([16]*byte) // has pointers, so it is an object of its own
	runtime.AddCleanup(sentinel, (*blockCache).collected, c)
}

// leastAge is how long a block waits at least, however many collections there are, unless addresses are short.
const leastAge = time.Second

// collected has the blocks age where the collection comes long enough after the last one that had them age.
func (c *blockCache) collected() {
	now := time.Now()
	c.mu.Lock()
	isDue := now.Sub(c.aged) >= leastAge || addresses.state.Load() == addressesShort
	if c.watch = false; isDue {
		c.aged = now
	} else {
		c.watchCollection()
	}
	c.mu.Unlock()
	if isDue {
		c.age()
	}
}

// age drops the blocks that are old; those that are free become old.
func (c *blockCache) age() {
	c.mu.Lock()
	c.count.Add(-int32(c.old.len()))
	c.old, c.free, c.bytes = c.free, nil, 0
	if c.old != nil {
		c.watchCollection()
	}
	c.mu.Unlock()
}

// ProbedFrom is the size from which a fresh block is asked of the system before it is asked of Go's heap, which ends the process
// where the system refuses.
const ProbedFrom = 8 << 20

// uncleared returns n bytes of heap memory that the allocator has not cleared. A strings.Builder is
// the one thing in the standard library that allocates so; nobody else holds its string.
func uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n + Alignment)
	b.WriteByte(0)
	start := unsafe.Pointer(unsafe.StringData(b.String()))
	off := int(-uintptr(start) % Alignment)
	block := unsafe.Slice((*byte)(unsafe.Add(start, off)), n)
	if n >= ProbedFrom && isAddressSpaceLimited() {
		keepFromHeap((*byte)(start), off, n)
	}
	if n >= hugeFrom {
		adviseHuge(block)
	}
	Poison(block)
	return block
}

// keepFromHeap sees to it that a block which the collector finds unused is put into the cache again: Go's heap would keep its addresses, but
// not say whether they are enough for the next large block.
func keepFromHeap(start *byte, off, n int) {
	runtime.SetFinalizer(start, func(start *byte) {
		keepFromHeap(start, off, n)
		blocks.put(unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(start), off)), n))
	})
}

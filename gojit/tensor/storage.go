package tensor

import (
	"math/bits"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Alignment is the alignment in bytes of every allocated storage of at least that size.
const Alignment = 64

// Storage is the memory that tensors view. Several tensors may share one.
//
// Memory made here lies on the Go heap as pointer-free blocks, so a slice into it keeps it alive and
// a forgotten Release costs only time. Blocks are reused through a cache when the last tensor is
// released. Foreign memory comes with a function that gives it back.
type Storage struct {
	data    []byte
	foreign *foreignMemory
	refs    atomic.Int32 // tensors made over the storage and not released
	version atomic.Uint32
	writes  atomic.Uint32 // of all tensors, also those that count apart: see Writes
	// inference says that the memory was made in inference mode: its writes are not counted.
	inference atomic.Bool
	device    Device
	cached    bool    // data came from the block cache and may return there
	lent      bool    // others have had the address: see Lend
	hollow    *hollow // of memory that is made when it is looked at, else nil
}

// foreignMemory is memory owned by somebody else: a mapped file, a Python buffer, or a device.
type foreignMemory struct {
	once    sync.Once
	release func()
	at      uint64        // of a device: where the memory is there
	nbytes  int           // of a device: how much it is
	writes  atomic.Uint64 // of a device: see Tensor.DeviceWrites
}

func (f *foreignMemory) free() {
	if f.release != nil {
		f.once.Do(f.release)
	}
}

// NewStorage returns a storage of nbytes cleared bytes. It fails where that is more than the machine has.
func NewStorage(nbytes int) (*Storage, error) {
	s, err := newStorage(nbytes, true)
	return s, err
}

func newStorage(nbytes int, cleared bool) (*Storage, error) {
	s := &Storage{}
	if err := s.allocate(nbytes, cleared); err != nil {
		return nil, err
	}
	return s, nil
}

// ForeignStorage returns a storage over memory that release gives back once no tensor uses it.
// The memory must stay valid until then.
func ForeignStorage(memory []byte, release func()) *Storage {
	f := &foreignMemory{release: release}
	s := &Storage{data: memory, foreign: f}
	runtime.AddCleanup(s, (*foreignMemory).free, f)
	return s
}

// allocate gives the storage nbytes bytes.
func (s *Storage) allocate(nbytes int, cleared bool) error {
	if nbytes < 0 || nbytes > memoryLimit() {
		return outOfMemory(nbytes)
	}
	if err := CheckRoom(nbytes); err != nil {
		return err
	}
	if nbytes == 0 {
		s.data = nil
		return nil
	}
	if guarding {
		if data := s.guard(nbytes); data != nil {
			s.data, s.cached = data, false
			if cleared {
				clear(s.data)
			}
			return nil
		}
	}
	block, isClear := blocks.take(nbytes)
	if block == nil {
		return outOfMemory(nbytes)
	}
	if cleared && !isClear {
		if err := clearBlock(block[:nbytes]); err != nil {
			blocks.put(block)
			return err
		}
	}
	s.data, s.cached = block[:nbytes], true
	return nil
}

// clearedAtOnce is how many bytes are cleared between two looks.
const clearedAtOnce = 16 << 20

// clearBlock clears memory. It fails where an interrupt ends that.
func clearBlock(block []byte) (err error) {
	for len(block) > clearedAtOnce {
		clear(block[:clearedAtOnce])
		block = block[clearedAtOnce:]
		if err := interrupted(); err != nil {
			return err
		}
	}
	clear(block)
	return nil
}

func interrupted() (err error) {
	defer source.Catch(&err)
	parallel.Look()
	return nil
}

func outOfMemory(nbytes int) error {
	return source.Errorf(source.RuntimeError, source.Range{},
		"[enforce fail at alloc_cpu.cpp:66] . DefaultCPUAllocator: can't allocate memory: you tried to allocate %d bytes. Error code 12 (Cannot allocate memory)", nbytes)
}

// MemoryLimit returns the bytes that the process may have: those of the machine, or of the container that it runs in.
func MemoryLimit() int { return memoryLimit() }

// Lend says that code outside the library gets the address of the memory, until Return. From then on the storage keeps its size.
func (s *Storage) Lend() {
	s.materialize()
	s.lent = true
	s.refs.Add(1)
}

// Return ends what Lend began.
func (s *Storage) Return() { s.leave() }

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

// Bytes returns the memory. It raises a HostAccessError where that is a device's.
func (s *Storage) Bytes() []byte {
	if s.device.Type == CUDA {
		s.refuseAccess()
	}
	s.materialize()
	return s.data
}

// NBytes returns the size in bytes.
func (s *Storage) NBytes() int {
	if s.hollow != nil {
		return s.hollow.nbytes
	}
	if s.device.Type == CUDA {
		return s.foreign.nbytes
	}
	return len(s.data)
}

// Address returns where the memory begins in that of its device, 0 for memory of the processor.
func (s *Storage) Address() uint64 {
	if s.foreign == nil {
		return 0
	}
	return s.foreign.at
}

// Device returns where the memory is.
func (s *Storage) Device() Device { return s.device }

// Pointer returns the address of the first byte, nil for an empty storage.
func (s *Storage) Pointer() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s.Bytes())) }

// Version returns how many times an in-place operation has written the storage.
func (s *Storage) Version() int { return int(s.version.Load()) }

// Resize changes the size and keeps the common prefix. It fails on foreign memory.
func (s *Storage) Resize(nbytes int) error {
	if nbytes <= s.NBytes() {
		return nil
	}
	if s.device.Type == CUDA {
		return s.resizeOnDevice(nbytes)
	}
	s.materialize()
	s.hollow = nil
	if s.foreign != nil || s.lent {
		return source.Errorf(source.RuntimeError, source.Range{}, "Trying to resize storage that is not resizable")
	}
	old := s.data
	s.cached = false
	if err := s.allocate(nbytes, true); err != nil {
		return err
	}
	copy(s.data, old)
	return nil
}

// leave ends the use by one tensor, and gives the memory back where that was the last one.
func (s *Storage) leave() (isLast bool) {
	if s.refs.Add(-1) != 0 {
		return false
	}
	s.free()
	return true
}

// free returns the memory to where it came from. No tensor may use the storage any more.
func (s *Storage) free() {
	switch {
	case s.foreign != nil:
		s.foreign.free()
	case s.cached:
		blocks.put(s.data)
	case guarding:
		unguard(s.data)
	default: // it lies beside its tensor
		poison(s.data)
	}
	s.data, s.cached = nil, false
}

// largeFrom is the size from which fresh blocks are not cleared, and from which a block is worth waiting
// for another goroutine to leave the cache.
const largeFrom = 32 << 10

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
	if size >= largeFrom {
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
	if size < largeFrom {
		block = alignedBytes(size)
		poison(block)
		return block, !poisoning
	}
	if size < probedFrom || isMappable(size) {
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
	poison(b)
	class, size := classOf(len(b))
	if cap(b) < size || !c.lock(size) {
		return
	}
	if c.bytes+size <= cacheLimit || size >= probedFrom && isAddressSpaceLimited() {
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

// LargeBytes returns n bytes for working memory, which may hold anything. It throws where there is no room for them.
func LargeBytes(n int) []byte {
	block, err := TryLargeBytes(n)
	source.Throw(err)
	return block
}

// TryLargeBytes is LargeBytes that returns the error where there is no room.
func TryLargeBytes(n int) ([]byte, error) {
	if err := CheckRoom(n); err != nil {
		return nil, err
	}
	switch {
	case n < largeFrom:
		block := make([]byte, n)
		poison(block)
		return block, nil
	case n > memoryLimit():
		return nil, outOfMemory(n)
	case n < probedFrom || !isAddressSpaceLimited() && isMappable(n):
		return uncleared(n), nil
	}
	block, _ := blocks.take(n) // of a size that the cache keeps
	if block == nil {
		return nil, outOfMemory(n)
	}
	return block[:n:n], nil
}

// probedFrom is the size from which a fresh block is asked of the system before it is asked of Go's heap, which ends the process
// where the system refuses.
const probedFrom = 8 << 20

// uncleared returns n bytes of heap memory that the allocator has not cleared. A strings.Builder is
// the one thing in the standard library that allocates so; nobody else holds its string.
func uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n + Alignment)
	b.WriteByte(0)
	start := unsafe.Pointer(unsafe.StringData(b.String()))
	off := int(-uintptr(start) % Alignment)
	block := unsafe.Slice((*byte)(unsafe.Add(start, off)), n)
	if n >= probedFrom && isAddressSpaceLimited() {
		keepFromHeap((*byte)(start), off, n)
	}
	if n >= hugeFrom {
		adviseHuge(block)
	}
	poison(block)
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

// TakeBytes returns n bytes of working memory, which may hold anything, from what is kept for reuse. It throws where there is no room for them.
func TakeBytes(n int) []byte {
	source.Throw(CheckRoom(n))
	var block []byte
	if n <= memoryLimit() {
		block, _ = blocks.take(n)
	}
	if block == nil {
		source.Throw(outOfMemory(n))
	}
	return block[:n]
}

// GiveBytes gives back what TakeBytes returned. Nobody may use it any more.
func GiveBytes(b []byte) { blocks.put(b) }

// EmptyCache drops the blocks kept for reuse.
func EmptyCache() {
	blocks.mu.Lock()
	blocks.free, blocks.old, blocks.bytes = nil, nil, 0
	blocks.count.Store(0)
	blocks.mu.Unlock()
}

package tensor

import (
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/memory"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Alignment is the alignment in bytes of every allocated storage of at least that size.
const Alignment = 64

var _ = [1]struct{}{}[Alignment-memory.Alignment] // they are the same

// Storage is the memory that tensors view. Several tensors may share one.
//
// Memory made here lies on the Go heap as pointer-free blocks, so a slice into it keeps it alive and
// a forgotten Release costs only time. Blocks are reused through a cache when the last tensor is
// released. Foreign memory comes with a function that gives it back.
type Storage struct {
	data    []byte
	foreign *foreignMemory
	refs    counter // tensors made over the storage and not released
	version atomic.Uint32
	apart   atomic.Uint32 // writes of tensors that count apart: see Writes
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
	if nbytes < 0 || nbytes > memory.Limit() {
		return memory.OutOfMemory(nbytes)
	}
	if err := CheckRoom(nbytes); err != nil {
		return err
	}
	if nbytes == 0 {
		s.data = nil
		return nil
	}
	if memory.Guarding {
		if data := memory.Guard(s, nbytes); data != nil {
			s.data, s.cached = data, false
			if cleared {
				clear(s.data)
			}
			return nil
		}
	}
	block, isClear := memory.Take(nbytes)
	if block == nil {
		return memory.OutOfMemory(nbytes)
	}
	if cleared && !isClear {
		if err := clearBlock(block[:nbytes]); err != nil {
			memory.Give(block)
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

// MemoryLimit returns the bytes that the process may have: those of the machine, or of the container that it runs in.
func MemoryLimit() int { return memory.Limit() }

// Lend says that code outside the library gets the address of the memory, until Return. From then on the storage keeps its size.
func (s *Storage) Lend() {
	s.materialize()
	s.lent = true
	s.refs.Add(1)
}

// Return ends what Lend began.
func (s *Storage) Return() { s.leave() }

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
	if s.refs.Load() != 1 && s.refs.Add(-1) != 0 { // nobody else makes one over the storage of the last
		return false
	}
	s.refs = 0
	s.free()
	return true
}

// free returns the memory to where it came from. No tensor may use the storage any more.
func (s *Storage) free() {
	switch {
	case s.foreign != nil:
		s.foreign.free()
	case s.cached:
		memory.Give(s.data)
	case memory.Guarding:
		memory.Unguard(s.data)
	default: // it lies beside its tensor
		memory.Poison(s.data)
	}
	s.data, s.cached = nil, false
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
	return memory.Large(n)
}

// TakeBytes returns n bytes of working memory, which may hold anything, from what is kept for reuse. It throws where there is no room for them.
func TakeBytes(n int) []byte {
	source.Throw(CheckRoom(n))
	var block []byte
	if n <= memory.Limit() {
		block, _ = memory.Take(n)
	}
	if block == nil {
		source.Throw(memory.OutOfMemory(n))
	}
	return block[:n]
}

// GiveBytes gives back what TakeBytes returned. Nobody may use it any more.
func GiveBytes(b []byte) { memory.Give(b) }

// EmptyCache drops the blocks kept for reuse.
func EmptyCache() { memory.Empty() }

// CollectAll runs the collector and waits for the finalizers of what it found, for a second where the machine is busy.
func CollectAll() { memory.CollectAll() }

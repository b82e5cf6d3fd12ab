package memory

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Guarding says that every block is memory of its own between two pages that nobody may touch (GOJIT_CHECK=guard): code that reads or
// writes outside of a block, or after it has been given back, ends the process there.
var Guarding = checks("guard")

// guardedBlock is memory between two forbidden pages. Blocks end at the second one and begin behind the first one in turn.
type guardedBlock struct {
	data  []byte
	whole []byte // with the forbidden pages
	freed atomic.Bool
	owned atomic.Int32 // owners that have had it and that the collector has not found unused
}

// quarantine keeps the addresses of blocks that were given back from being used again at once; nobody may touch them.
var quarantine struct {
	sync.Mutex
	blocks []*guardedBlock
	bytes  int
}

const (
	quarantineBlocks = 4096
	quarantineBytes  = 256 << 20
)

var (
	guardedBlocks atomic.Uint64 // that were made
	live          atomic.Int64  // of them, those that have not been freed
)

// liveLimit bounds the blocks at one time: the system counts three ranges of addresses for each, and ends what has more than 65,530.
const liveLimit = 12_000

// retired are the blocks that the collector found unused, and when. They wait a little: an operator may still look at memory whose storage it
// has forgotten, which is right in Go's heap, where memory of storages lies otherwise.
var retired struct {
	sync.Mutex
	blocks []retiredBlock
}

type retiredBlock struct {
	block *guardedBlock
	at    time.Time
}

const retirement = 3 * time.Second

func (b *guardedBlock) retire() {
	if b.owned.Add(-1) > 0 || b.freed.Load() {
		return
	}
	retired.Lock()
	retired.blocks = append(retired.blocks, retiredBlock{b, time.Now()})
	retired.Unlock()
}

// freeRetired frees the blocks that have been retired for long enough.
func freeRetired() {
	retired.Lock()
	defer retired.Unlock()
	for len(retired.blocks) > 0 && time.Since(retired.blocks[0].at) > retirement {
		retired.blocks[0].block.free()
		retired.blocks = retired.blocks[1:]
	}
}

// guardedAt are the blocks that have not been freed, by the addresses of their memory.
var guardedAt sync.Map

// Guard returns memory for its owner between forbidden pages, nil where there is no more room for such. The collector gives it back with the owner.
func Guard[T any](owner *T, n int) []byte {
	b := newGuardedBlock(n)
	if b == nil {
		return nil
	}
	guardedAt.Store(unsafe.Pointer(unsafe.SliceData(b.data)), b)
	giveTo(b, owner)
	return b.data
}

// giveTo makes an owner of the block.
func giveTo[T any](b *guardedBlock, owner *T) {
	b.owned.Add(1)
	runtime.AddCleanup(owner, (*guardedBlock).retire, b)
}

// KeepGuarded has an owner that got the memory of another one keep it.
func KeepGuarded[T any](owner *T, data []byte) {
	if b, ok := guardedAt.Load(unsafe.Pointer(unsafe.SliceData(data))); ok {
		giveTo(b.(*guardedBlock), owner)
	}
}

// GuardOf reports whether data is guarded, and whether it waits to be forbidden because nobody has it.
func GuardOf(data []byte) (guarded, retires bool) {
	b, ok := guardedAt.Load(unsafe.Pointer(unsafe.SliceData(data)))
	if !ok {
		return false, false
	}
	retired.Lock()
	defer retired.Unlock()
	return true, slices.ContainsFunc(retired.blocks, func(r retiredBlock) bool { return r.block == b })
}

// Unguard frees the guarded block that data is in, if it is in one.
func Unguard(data []byte) {
	if b, ok := guardedAt.Load(unsafe.Pointer(unsafe.SliceData(data))); ok {
		b.(*guardedBlock).free()
	}
}

// newGuardedBlock returns a block of n bytes that hold arbitrary elements, nil where the system has no more room for such.
func newGuardedBlock(n int) *guardedBlock {
	freeRetired()
	if live.Load() > liveLimit {
		return nil
	}
	page := syscall.Getpagesize()
	inner := (n + page - 1) / page * page
	whole, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	used := whole[page : page+inner]
	if syscall.Mprotect(used, syscall.PROT_READ|syscall.PROT_WRITE) != nil {
		_ = syscall.Munmap(whole)
		return nil
	}
	start := inner - n
	if guardedBlocks.Add(1)%2 == 0 {
		start = 0
	}
	for i := range min(inner, page) { // what is read before it was written shows as such
		used[i] = 0xA5
	}
	live.Add(1)
	return &guardedBlock{data: used[start : start+n : start+n], whole: whole}
}

// free forbids the memory, and gives the addresses back when many blocks have been freed after it. The second call does nothing.
func (b *guardedBlock) free() {
	if b.freed.Swap(true) {
		return
	}
	live.Add(-1)
	guardedAt.Delete(unsafe.Pointer(unsafe.SliceData(b.data)))
	_ = syscall.Mprotect(b.whole, syscall.PROT_NONE)
	_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(unsafe.Pointer(unsafe.SliceData(b.whole))), uintptr(len(b.whole)), syscall.MADV_DONTNEED)
	quarantine.Lock()
	defer quarantine.Unlock()
	quarantine.blocks = append(quarantine.blocks, b)
	quarantine.bytes += len(b.whole)
	for len(quarantine.blocks) > quarantineBlocks || quarantine.bytes > quarantineBytes {
		oldest := quarantine.blocks[0]
		quarantine.blocks = quarantine.blocks[1:]
		quarantine.bytes -= len(oldest.whole)
		_ = syscall.Munmap(oldest.whole)
	}
}

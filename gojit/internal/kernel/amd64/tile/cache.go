package tile

import (
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
)

// Kernel is the description of a kernel that can be encoded: two kernels that compare equal have the
// same code.
type Kernel interface {
	comparable
	Encode(a *asm.Assembler)
}

// Kernels keeps the code of kernels of one kind. Looking one up takes no lock.
type Kernels[K Kernel] struct {
	mu    sync.Mutex
	first [firstKernels]atomic.Pointer[placed[K]] // to compare with these takes less than to hash
	table atomic.Pointer[map[K]*asm.Code]
}

// firstKernels is how many kernels of a kind are looked at before the table.
const firstKernels = 6

// placed is a kernel and its code.
type placed[K Kernel] struct {
	kernel K
	code   *asm.Code
}

// kernelLimit bounds the kernels kept of one kind; the code of those dropped lives as long as somebody holds it.
const kernelLimit = 1024

var assemblers = sync.Pool{New: func() any { return new(asm.Assembler) }}

// Get returns the code of a kernel, making it where it has none. It panics where the system gives no
// more executable memory.
func (c *Kernels[K]) Get(k K, isa asm.ISA) *asm.Code {
	for i := range c.first {
		p := c.first[i].Load()
		if p == nil {
			break
		}
		if p.kernel == k {
			return p.code
		}
	}
	if t := c.table.Load(); t != nil {
		if code := (*t)[k]; code != nil {
			return code
		}
	}
	return c.make(k, isa)
}

func (c *Kernels[K]) make(k K, isa asm.ISA) *asm.Code {
	c.mu.Lock()
	defer c.mu.Unlock()
	grown := map[K]*asm.Code{}
	if t := c.table.Load(); t != nil {
		if code := (*t)[k]; code != nil {
			return code
		}
		if len(*t) < kernelLimit {
			grown = maps.Clone(*t)
		}
	}
	a := assemblers.Get().(*asm.Assembler)
	defer assemblers.Put(a)
	a.Reset(isa)
	k.Encode(a)
	code, err := asm.Place(a.Code)
	if err != nil {
		panic(fmt.Errorf("no executable memory for a kernel: %w", err))
	}
	grown[k] = code
	c.table.Store(&grown)
	for i := range c.first {
		if c.first[i].CompareAndSwap(nil, &placed[K]{k, code}) {
			break
		}
	}
	return code
}

var (
	tiles          Kernels[Tile]
	copyings       Kernels[Copying]
	transpositions Kernels[Transposition]
	interleavings  Kernels[Interleaving]
	pairings       Kernels[Pairing]
	widenings      Kernels[Widening]
)

// Code returns the kernel's code, made once.
func (t *Tile) Code() *asm.Code {
	if t.Epilogue != nil {
		return t.Epilogue.tiles.Get(*t, t.ISA)
	}
	table := tileTables[t.index()].Load()
	if table != nil {
		if code := table[t.Vectors%32][t.Rows%16].Load(); code != nil {
			return code
		}
	}
	return t.remember()
}

// tileTables hold the code of tiles by what they do, and by their size: a look-up takes two loads.
var tileTables [1 << 18]atomic.Pointer[[32][16]atomic.Pointer[asm.Code]]

// index numbers what the tile does.
func (t *Tile) index() int {
	layout := bit(t.Columns) | bit(t.KeepA)<<1
	if t.PackedA {
		layout = 3
	}
	pairs, double := t.Pairs || t.Halves, t.Double || t.Halves // nothing else is both
	return bit(t.Stream)<<17 | layout<<15 | bit(t.Fetch)<<14 | bit(t.Walk)<<13 | bit(pairs)<<12 | int(t.Bias)<<10 | bit(t.ISA == asm.AVX512)<<9 | bit(double)<<8 | bit(t.Tail)<<7 | bit(t.InPlace)<<6 |
		bit(t.Keep)<<5 | bit(t.Prefetch)<<4 | bit(t.FetchC)<<3 | bit(t.Add)<<2 | bit(t.Residual)<<1 | bit(t.Relu)
}

func bit(set bool) int {
	if set {
		return 1
	}
	return 0
}

func (t *Tile) remember() *asm.Code {
	code := tiles.Get(*t, t.ISA)
	slot := &tileTables[t.index()]
	for slot.Load() == nil {
		slot.CompareAndSwap(nil, new([32][16]atomic.Pointer[asm.Code]))
	}
	slot.Load()[t.Vectors%32][t.Rows%16].Store(code)
	return code
}

// Code returns the kernel's code, made once.
func (c Copying) Code() *asm.Code { return copyings.Get(c, c.ISA) }

// Code returns the kernel's code, made once.
func (t Transposition) Code() *asm.Code { return transpositions.Get(t, t.ISA) }

// Code returns the kernel's code, made once.
func (i Interleaving) Code() *asm.Code { return interleavings.Get(i, i.ISA) }

// Code returns the kernel's code, made once.
func (p Pairing) Code() *asm.Code { return pairings.Get(p, p.ISA) }

// Code returns the kernel's code, made once.
func (c Widening) Code() *asm.Code { return widenings.Get(c, c.ISA) }

// Masks of the partial vectors: AVX-512 takes a bit for each 4 bytes, AVX2 a lane.
var (
	bitMasks  [17]uint64
	laneMasks [16]uint32
)

func init() {
	for i := range bitMasks {
		bitMasks[i] = 1<<i - 1
	}
	for i := range 8 {
		laneMasks[i] = 0xffffffff
	}
}

// TailMask returns the mask of the first n times four bytes of a vector.
func TailMask(isa asm.ISA, n int) unsafe.Pointer {
	if isa == asm.AVX512 {
		return unsafe.Pointer(&bitMasks[n])
	}
	return unsafe.Pointer(&laneMasks[8-n])
}

package asm

import (
	"runtime"
	"slices"
	"sync"
	"unsafe"
)

// Code is a function in executable memory. The memory is reused when Free is called, or when the
// collector finds that nobody holds the Code.
type Code struct {
	entry   uintptr
	size    int
	cleanup runtime.Cleanup
}

// Entry returns the address of the function. It is valid while the Code is held.
func (c *Code) Entry() uintptr { return c.entry }

// Size returns the bytes of the function.
func (c *Code) Size() int { return c.size }

// Call runs the function with a pointer to its arguments, which may lie on the stack.
func (c *Code) Call(args unsafe.Pointer) {
	enter(c.entry, args)
	runtime.KeepAlive(c)
}

// Call runs the function at an entry that the caller keeps valid.
func Call(entry uintptr, args unsafe.Pointer) { enter(entry, args) }

// Place copies a function into executable memory. It fails where the system allows none.
func Place(code []byte) (*Code, error) {
	s, err := executable.take(len(code))
	if err != nil {
		return nil, err
	}
	if err := s.region.write(s.offset, code); err != nil {
		executable.give(s)
		return nil, err
	}
	c := &Code{entry: s.region.base + uintptr(s.offset), size: len(code)}
	c.cleanup = runtime.AddCleanup(c, executable.give, s)
	return c, nil
}

// Free lets the memory of the function be reused. Nobody may run it any more.
func (c *Code) Free() {
	c.cleanup.Stop()
	executable.release(c.entry)
	c.entry = 0
}

// CodeBytes returns how much executable memory functions take.
func CodeBytes() int {
	executable.mu.Lock()
	defer executable.mu.Unlock()
	n := 0
	for _, s := range executable.taken {
		n += s.size
	}
	return n
}

// region is a stretch of executable memory; write puts bytes into it.
type region struct {
	base  uintptr
	size  int
	write func(offset int, code []byte) error
	whole bool     // holds one function at a time
	free  []extent // by offset, not adjacent
}

type extent struct{ offset, size int }

// span is memory taken from a region.
type span struct {
	region       *region
	offset, size int
}

const (
	regionSize = 1 << 20
	codeAlign  = 64
)

// heap hands out executable memory.
type heap struct {
	mu      sync.Mutex
	regions []*region
	taken   map[uintptr]span
}

var executable = &heap{taken: map[uintptr]span{}}

func (h *heap) take(n int) (span, error) {
	size := (n + codeAlign - 1) &^ (codeAlign - 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.regions {
		for i, e := range r.free {
			if e.size >= size {
				return h.cut(r, i, size), nil
			}
		}
	}
	r, err := newRegion(size)
	if err != nil {
		return span{}, err
	}
	r.free = []extent{{0, r.size}}
	h.regions = append(h.regions, r)
	return h.cut(r, 0, size), nil
}

// cut takes size bytes from the start of a free extent. The lock is held.
func (h *heap) cut(r *region, i, size int) span {
	e := &r.free[i]
	if r.whole {
		size = e.size
	}
	s := span{r, e.offset, size}
	e.offset, e.size = e.offset+size, e.size-size
	if e.size == 0 {
		r.free = slices.Delete(r.free, i, i+1)
	}
	h.taken[r.base+uintptr(s.offset)] = s
	return s
}

// give makes a span free again.
func (h *heap) give(s span) { h.release(s.region.base + uintptr(s.offset)) }

func (h *heap) release(entry uintptr) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.taken[entry]
	if !ok {
		return
	}
	delete(h.taken, entry)
	r := s.region
	i, _ := slices.BinarySearchFunc(r.free, s.offset, func(e extent, at int) int { return e.offset - at })
	r.free = slices.Insert(r.free, i, extent{s.offset, s.size})
	if i+1 < len(r.free) && r.free[i].offset+r.free[i].size == r.free[i+1].offset {
		r.free[i].size += r.free[i+1].size
		r.free = slices.Delete(r.free, i+1, i+2)
	}
	if i > 0 && r.free[i-1].offset+r.free[i-1].size == r.free[i].offset {
		r.free[i-1].size += r.free[i].size
		r.free = slices.Delete(r.free, i, i+1)
	}
}

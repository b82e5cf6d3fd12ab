package gpu

import (
	"math"
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
)

// blocks are the blocks of memory that work asks for while it is captured: they are noted, or, where they are known from another time, placed in an arena.
type blocks struct {
	origin *Stream
	mu     sync.Mutex
	lives  []kernel.Life
	// offsets are the places of known blocks, behind at; nil where blocks are noted.
	offsets []int
	at      pointer
	next    int
	isOther bool // what was asked for cannot be placed: it is not what was known, or other streams have it
}

// place returns where the next block lies. ok is false where that is not known.
func (b *blocks) place(s *Stream, bytes int) (at pointer, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s != b.origin {
		b.isOther = true
	}
	if b.offsets == nil || b.isOther {
		return 0, false
	}
	if b.next == len(b.lives) || b.lives[b.next].Bytes != classSize(bytes) {
		b.isOther = true
		return 0, false
	}
	b.next++
	return b.at + pointer(b.offsets[b.next-1]), true
}

// note notes a block that was given out, and how it is told from others.
func (b *blocks) note(m *Memory) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.offsets != nil {
		return
	}
	m.blocks, m.life = b, len(b.lives)
	b.lives = append(b.lives, kernel.Life{Bytes: classSize(m.bytes), From: m.life, Last: math.MaxInt})
}

// end notes that a block was given back. One that another stream uses, too, is not done with then.
func (b *blocks) end(m *Memory, isAbroad bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.isOther = b.isOther || isAbroad
	b.lives[m.life].Last = len(b.lives) - 1
}

// known returns the blocks that were noted; nothing where they cannot be placed.
func (b *blocks) known() []kernel.Life {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.isOther || exact { // blocks of exact sizes are told apart by the device
		return nil
	}
	return slices.Clone(b.lives)
}

// isAll reports whether the blocks that were asked for are those that were known.
func (b *blocks) isAll() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return !b.isOther && b.next == len(b.lives)
}

// arena is memory that graphs share whose work is done in order: what is in it is of use while one of them runs.
type arena struct {
	mu    sync.Mutex
	m     *Memory // nil once nobody has it
	users int     // graphs
}

// take begins the use by a graph. ok is false where the arena is too small.
func (a *arena) take(bytes int) (ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.m == nil || a.m.bytes < bytes {
		return false
	}
	a.users++
	return true
}

// release ends the use by a graph.
func (a *arena) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.users--; a.users == 0 {
		_ = a.m.Free()
		a.m = nil
	}
}

// arenaOf returns an arena of the lane that has room, whose use begins. The calling goroutine gives work on the lane's stream.
func (l *lane) arenaOf(v *Device, bytes int) (*arena, error) {
	if l.arena != nil && l.arena.take(bytes) {
		return l.arena, nil
	}
	m, err := v.Allocate(bytes)
	if err != nil {
		return nil, err
	}
	l.arena = &arena{m: m, users: 1}
	return l.arena, nil
}

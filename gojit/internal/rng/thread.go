package rng

import (
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
)

// A thread of the host may have a stream of its own in place of the default one, so that threads that work beside each other draw numbers that
// do not depend on how they are scheduled.

var (
	threadStreams sync.Map // of *Generator by thread id
	threadCount   atomic.Int32
)

// OwnStream gives the calling thread a stream of its own, started from a seed: from now on the default generator is that one to calls from this
// thread. It reports whether threads can be told apart here.
func OwnStream(seed uint64) bool {
	id := goroutine.Thread()
	if id == 0 {
		return false
	}
	if _, had := threadStreams.Swap(id, New(seed)); !had {
		threadCount.Add(1)
	}
	return true
}

// DropStream ends what OwnStream began.
func DropStream() {
	if _, had := threadStreams.LoadAndDelete(goroutine.Thread()); had {
		threadCount.Add(-1)
	}
}

// current returns the generator, or for the default one the calling thread's own.
func (g *Generator) current() *Generator {
	if g != defaultGenerator || threadCount.Load() == 0 {
		return g
	}
	if own, ok := threadStreams.Load(goroutine.Thread()); ok {
		return own.(*Generator)
	}
	return g
}

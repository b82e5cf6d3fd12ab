package tensor

import (
	"sync"
	"sync/atomic"
)

// ofGoroutines are values of single goroutines, by the goroutine's address, which it keeps for its life. The zero T is no value.
type ofGoroutines[T comparable] struct {
	count atomic.Int32
	mu    sync.RWMutex
	by    map[uintptr]T
}

// put sets the value of a goroutine and returns the one before.
func (o *ofGoroutines[T]) put(g uintptr, v T) (before T) {
	var none T
	o.mu.Lock()
	defer o.mu.Unlock()
	before = o.by[g]
	if v == none {
		delete(o.by, g)
	} else {
		if o.by == nil {
			o.by = map[uintptr]T{}
		}
		o.by[g] = v
	}
	o.count.Store(int32(len(o.by)))
	return before
}

// here returns the value of the calling goroutine.
func (o *ofGoroutines[T]) here() (v T) {
	if o.count.Load() == 0 {
		return v
	}
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.by[goroutine()]
}

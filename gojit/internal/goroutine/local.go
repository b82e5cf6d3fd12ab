package goroutine

import (
	"sync"
	"sync/atomic"
)

// Local are values of single goroutines. The zero T is no value, the zero Local has none.
type Local[T comparable] struct {
	count atomic.Int32
	mu    sync.RWMutex
	by    map[uintptr]T
}

// Put sets the value of a goroutine, by its ID, and returns the one before.
func (o *Local[T]) Put(g uintptr, v T) (before T) {
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

// Here returns the value of the calling goroutine.
func (o *Local[T]) Here() (v T) {
	if o.IsEmpty() {
		return v
	}
	return o.find()
}

func (o *Local[T]) find() T {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.by[ID()]
}

// IsEmpty reports whether no goroutine has a value.
func (o *Local[T]) IsEmpty() bool { return o.count.Load() == 0 }

// Each calls f for all values.
func (o *Local[T]) Each(f func(v T)) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	for _, v := range o.by {
		f(v)
	}
}

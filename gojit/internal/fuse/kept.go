package fuse

import (
	"sync"
	"sync/atomic"
)

// mostKinds bounds the keys of a kept.
const mostKinds = 16

// kept holds what was made for each of a few keys, combinations of types for example. To look something up takes no lock.
type kept[K comparable, V any] struct {
	mu  sync.Mutex
	all atomic.Pointer[[]keptValue[K, V]]
}

// keptValue is what was made for a key, nil where nothing can be.
type keptValue[K comparable, V any] struct {
	key  K
	made *V
}

// find returns what is kept for a key. ok is false where that is not known yet.
func (k *kept[K, V]) find(key K) (made *V, ok bool) {
	if all := k.all.Load(); all != nil {
		for i := range *all {
			if (*all)[i].key == key {
				return (*all)[i].made, true
			}
		}
	}
	return nil, false
}

// add makes what is kept for a key from now on, or returns what somebody else made meanwhile. full says that there are too many.
func (k *kept[K, V]) add(key K, make func() *V) (made *V, full bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if made, ok := k.find(key); ok {
		return made, false
	}
	var all []keptValue[K, V]
	if known := k.all.Load(); known != nil {
		all = append(all, *known...)
	}
	if len(all) == mostKinds {
		return nil, true
	}
	made = make()
	all = append(all, keptValue[K, V]{key, made})
	k.all.Store(&all)
	return made, false
}

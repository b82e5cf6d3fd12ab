package launch

import (
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// Key names a specialization of an expression: the types of its operands, five bits each.
type Key uint64

// With returns the key with one more type.
func (k Key) With(d tensor.DType) Key { return k<<5 | Key(d) }

// maxEntries bounds the programs of one expression. The oldest one goes; the collector frees its code.
const maxEntries = 64

// Cache keeps the programs of one expression by their types. Looking up takes no lock and no
// allocation. The zero Cache is empty.
type Cache struct {
	entries atomic.Pointer[[]cacheEntry]
	mu      sync.Mutex
}

type cacheEntry struct {
	key     Key
	program *Program
}

// Get returns the program of a key, or nil.
func (c *Cache) Get(key Key) *Program {
	if entries := c.entries.Load(); entries != nil {
		for i := range *entries {
			if (*entries)[i].key == key {
				return (*entries)[i].program
			}
		}
	}
	return nil
}

// Make returns the program of a key, building it where it is not there yet.
func (c *Cache) Make(key Key, build func() (*Program, error)) (*Program, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p := c.Get(key); p != nil {
		return p, nil
	}
	p, err := build()
	if err != nil {
		return nil, err
	}
	var entries []cacheEntry
	if old := c.entries.Load(); old != nil {
		entries = append(entries, (*old)[max(0, len(*old)-maxEntries+1):]...)
	}
	entries = append(entries, cacheEntry{key, p})
	c.entries.Store(&entries)
	return p, nil
}

package serialize

import (
	"runtime"
	"sync"
)

// checkedLater is the size in bytes from which on a record of numbers is checked by other goroutines.
const checkedLater = 1 << 16

// checkStep is how much is read before its memory is given back.
const checkStep = 4 << 20

// checks compares the checksums of records, several at once.
type checks struct {
	running sync.WaitGroup
	once    sync.Once
	room    chan struct{}

	mu    sync.Mutex
	err   error
	first string // the record that err is about: the first by name, whichever is found first
}

// add begins to check a record.
func (c *checks) add(m *mapping, name string, b []byte, want uint32) {
	c.once.Do(func() { c.room = make(chan struct{}, runtime.GOMAXPROCS(0)) })
	c.running.Add(1)
	go func() {
		defer c.running.Done()
		c.room <- struct{}{}
		defer func() { <-c.room }()
		sum := uint32(0)
		for rest := b; len(rest) > 0; {
			n := min(len(rest), checkStep)
			sum = checksum(sum, rest[:n])
			m.forget(rest[:n])
			rest = rest[n:]
		}
		runtime.KeepAlive(m)
		if sum == want {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.err == nil || name < c.first {
			c.err, c.first = damaged(name), name
		}
	}()
}

// wait returns when all checks are done.
func (c *checks) wait() error {
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

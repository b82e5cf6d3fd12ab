package archive

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/archive/checksum"
)

// checkedLater is the size in bytes from which on a record of numbers is checked by other goroutines.
const checkedLater = 1 << 16

// checks compares the checksums of records, several at once.
type checks struct {
	running sync.WaitGroup
	once    sync.Once
	room    chan struct{}
	ahead   bool         // all large records are checked
	next    atomic.Int64 // of these

	mu    sync.Mutex
	err   error
	first string // the record that err is about: the first by name, whichever is found first
}

// begin checks all large records of an archive.
func (c *checks) begin(a *Archive) {
	c.ahead = true
	for range min(runtime.GOMAXPROCS(0), len(a.large)) {
		c.running.Go(func() {
			for i := c.next.Add(1) - 1; i < int64(len(a.large)); i = c.next.Add(1) - 1 {
				name := a.large[i]
				f := a.records[name]
				if b, err := a.place(name, f); err == nil && f.CRC32 != 0 { // who reads it sees the error
					c.check(name, b, f.CRC32)
				}
			}
		})
	}
}

// add begins to check a record, unless that has been done.
func (c *checks) add(name string, b []byte, want uint32) {
	if c.ahead {
		return
	}
	c.once.Do(func() { c.room = make(chan struct{}, runtime.GOMAXPROCS(0)) })
	c.running.Go(func() {
		c.room <- struct{}{}
		defer func() { <-c.room }()
		c.check(name, b, want)
	})
}

func (c *checks) check(name string, b []byte, want uint32) {
	if checksum.Update(0, b) == want {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil || name < c.first {
		c.err, c.first = damaged(name), name
	}
}

// wait returns when all checks are done.
func (c *checks) wait() error {
	c.running.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

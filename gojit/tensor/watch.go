package tensor

import (
	"sync/atomic"
	"time"

	"torchjit/gojit/source"
)

// asking is what long operations ask now and then, and how long they wait in between.
type asking struct {
	ask   func() error
	every time.Duration
}

var asked atomic.Pointer[asking]

// SetInterrupt makes long operations call ask about every so often; an error of it ends the operation,
// which then fails with that error. It is called by the goroutine that works, which may be one of several
// of an operation. nil: operations run to their end.
func SetInterrupt(ask func() error, every time.Duration) {
	if ask == nil {
		asked.Store(nil)
		return
	}
	asked.Store(&asking{ask, every})
}

// Watch tells a long operation when to end. The zero Watch begins with its first Look.
type Watch struct{ last time.Time }

// Look throws (source.Throw) the error of what SetInterrupt was given, if it has one. It is for the gaps
// between pieces of work of some microseconds.
func (w *Watch) Look() {
	a := asked.Load()
	if a == nil {
		return
	}
	now := time.Now()
	if w.last.IsZero() {
		w.last = now
	}
	if now.Sub(w.last) < a.every {
		return
	}
	w.last = now
	source.Throw(a.ask())
}

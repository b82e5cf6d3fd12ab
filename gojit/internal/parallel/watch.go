package parallel

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// asking is what long operations ask now and then, and how long they wait in between.
type asking struct {
	ask     func() error
	every   time.Duration
	isHeard func() bool  // whether the calling goroutine may ask at all; nil: all may
	last    atomic.Int64 // when somebody asked, since begun
}

var asked atomic.Pointer[asking]

// SetInterrupt makes long operations call ask about every so often; an error of it ends the operation,
// which then fails with that error. It is called by the goroutine that works, which may be one of several
// of an operation. nil: operations run to their end.
func SetInterrupt(ask func() error, every time.Duration) { SetInterruptOf(nil, ask, every) }

// SetInterruptOf is SetInterrupt for those goroutines for which isHeard is true, which it is for a goroutine always or never. The
// others do not ask, and do not keep these from asking.
func SetInterruptOf(isHeard func() bool, ask func() error, every time.Duration) {
	if ask == nil {
		asked.Store(nil)
		return
	}
	asked.Store(&asking{ask: ask, every: every, isHeard: isHeard})
}

// own is what the operations of single goroutines ask besides.
var own goroutine.Local[*asking]

// Interruptible calls f and makes the operations in it call ask about every millisecond too, whichever of the workers
// it is called by: an error of it ends the operation, which then fails with that error.
func Interruptible(ask func() error, f func()) {
	interruptible(&asking{ask: ask, every: time.Millisecond}, f)
}

func interruptible(a *asking, f func()) {
	g := goroutine.ID()
	if g == 0 { // unknown here: operations run to their end
		f()
		return
	}
	before := own.Put(g, a)
	defer own.Put(g, before)
	f()
}

// Watch tells a long operation when to end.
type Watch struct {
	began bool
	mute  bool // there is nobody who hears this goroutine
	done  int  // of the work since it last looked
	own   *asking
}

// workBetweenLooks is how many elements loops handle between two looks: some ten microseconds of work.
const workBetweenLooks = 1 << 15

// Did says that a loop has handled a number of elements. It looks, as Look does, once they are enough.
func (w *Watch) Did(elements int) {
	if w.done += elements; w.done >= workBetweenLooks {
		w.done = 0
		w.Look()
	}
}

// begun is where the clock of all watches begins. A difference to it reads one clock of the system, time.Now two.
var begun = time.Now()

// Look throws (source.Throw) the error of what SetInterrupt or Interruptible was given, if it has one. It is for the gaps
// between pieces of work of some microseconds. Whoever looks asks, once the time is over since anybody has: short operations one after
// another end like a long one.
func (w *Watch) Look() {
	if failing.Load() > 0 {
		pool.abandon()
	}
	a := asked.Load()
	if a == nil && own.IsEmpty() {
		return
	}
	now := time.Since(begun)
	if !w.began {
		w.began, w.own = true, own.Here()
	}
	if w.own != nil && w.own.isDue(now) {
		source.Throw(w.own.ask())
	}
	if a == nil || w.mute || !a.isOver(now) {
		return
	}
	if a.isHeard != nil && !a.isHeard() {
		w.mute = true
		return
	}
	if a.isDue(now) {
		source.Throw(a.ask())
	}
}

// Stretches cuts [0, n) into parts for a loop over many elements, and looks between them, as Watch does.
func Stretches(n int) iter.Seq2[int, int] {
	return func(yield func(lo, hi int) bool) {
		var watch Watch
		for lo := 0; lo < n; lo += workBetweenLooks {
			if lo > 0 {
				watch.Look()
			}
			if !yield(lo, min(lo+workBetweenLooks, n)) {
				return
			}
		}
	}
}

// Look is for operations that have no Watch: it throws the error of what SetInterrupt or Interruptible was given, if it has one.
func Look() {
	var w Watch
	w.Look()
}

// isOver reports whether it is time to ask again.
func (a *asking) isOver(now time.Duration) bool { return int64(now)-a.last.Load() >= int64(a.every) }

// isDue is isOver for one of those who look at once.
func (a *asking) isDue(now time.Duration) bool {
	last := a.last.Load()
	return int64(now)-last >= int64(a.every) && a.last.CompareAndSwap(last, int64(now))
}

// interruptContext is the context of a run that what SetInterrupt was given ends. It is always due to be looked at.
type interruptContext struct {
	context.Context
	asking *asking
	last   atomic.Int64 // when it was asked, since begun
}

// InterruptContext returns a context for runs that nobody else cancels: they end with the error of what SetInterrupt was given.
func InterruptContext() context.Context {
	a := asked.Load()
	if a == nil {
		return context.Background()
	}
	c := &interruptContext{Context: context.Background(), asking: a}
	c.last.Store(int64(time.Since(begun)))
	return c
}

var alwaysDue = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()

// Done implements context.Context.
func (c *interruptContext) Done() <-chan struct{} { return alwaysDue }

// Err implements context.Context: it asks, where the last time is some while ago.
func (c *interruptContext) Err() error {
	now, last := int64(time.Since(begun)), c.last.Load()
	if now-last < int64(c.asking.every) || !c.last.CompareAndSwap(last, now) {
		return nil
	}
	return c.asking.ask()
}

// Await waits until done is closed. It fails with the error of what SetInterrupt or Interruptible was given.
func Await(done <-chan struct{}) (err error) {
	select {
	case <-done:
		return nil
	default:
	}
	defer source.Catch(&err)
	ticker := time.NewTicker(awaitInterval)
	defer ticker.Stop()
	var watch Watch
	for {
		select {
		case <-done:
			return nil
		case <-ticker.C:
			watch.Look()
		}
	}
}

// awaitInterval is how often who waits looks whether it is to end.
const awaitInterval = 20 * time.Millisecond

package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// workers are the goroutines that help the callers of For, each with a thread of its own. They start when they are first
// wanted, and are as many as one operation may use beside its caller. Several callers share them:
// each takes those that are idle and waits for none that is busy with another's work.
type workers struct {
	mu  sync.Mutex // held to change all
	all atomic.Pointer[[]*worker]
}

var pool workers

// maxWorkers bounds the workers, whatever the number of threads.
const maxWorkers = 255

// shared returns the workers, and starts some where there are fewer than wanted.
func (p *workers) shared(wanted int) []*worker {
	wanted = min(wanted, maxWorkers)
	all := p.all.Load()
	if all == nil || len(*all) < wanted {
		p.mu.Lock()
		p.grow(min(wanted, NumThreads()-1))
		all = p.all.Load()
		p.mu.Unlock()
	}
	return *all
}

// grow starts workers until there are n. The lock is held.
func (p *workers) grow(n int) {
	var all []*worker
	if old := p.all.Load(); old != nil {
		all = append(all, *old...)
	}
	for len(all) < n {
		w := &worker{sleeper: newSleeper(), thread: len(all) + 1}
		w.patience.Store(int64(leastPatience))
		all = append(all, w)
		go w.serve()
	}
	p.all.Store(&all)
}

// shrink ends the workers beyond n. A caller that still offers them work withdraws it. The lock is held.
func (p *workers) shrink(n int) {
	old := p.all.Load()
	if old == nil || len(*old) <= n {
		return
	}
	n = max(n, 0)
	for _, w := range (*old)[n:] {
		w.retired.Store(true)
		w.rouse()
	}
	rest := append([]*worker(nil), (*old)[:n]...)
	p.all.Store(&rest)
}

// A worker is a goroutine with a thread of its own that takes the regions it is offered, one after another.
type worker struct {
	job      atomic.Pointer[region] // what it is offered, busy while it works, nil while it is idle
	retired  atomic.Bool            // it ends when it is idle
	roused   atomic.Int64           // when it was, in nanoseconds since epoch; 0 before it sleeps
	patience atomic.Int64           // how long it looks out for work before it sleeps
	thread   int                    // whose share of a region it takes first
	address  atomic.Uintptr         // of its goroutine
	current  atomic.Pointer[region] // that it works in
	sleeper
	_ [64]byte
}

// busy is the job of a worker that works.
var busy = new(region)

// offer gives an idle worker a region to take, and fails where the worker is not idle. What it has
// not taken yet can be withdrawn by setting job back to nil.
func (w *worker) offer(r *region) bool {
	if w.job.Load() != nil || !w.job.CompareAndSwap(nil, r) {
		return false
	}
	if w.asleep() {
		w.rouse()
	}
	return true
}

// rouse ends the worker's sleep.
func (w *worker) rouse() {
	w.roused.Store(int64(time.Since(epoch)))
	w.wake()
}

// epoch is when the clock of the workers began.
var epoch = time.Now()

// serve is the life of a worker: it looks out for work for a while before it sleeps.
func (w *worker) serve() {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	w.address.Store(goroutine.ID())
	due := func() bool { return w.job.Load() != nil || w.retired.Load() }
	for {
		spin(due, time.Duration(w.patience.Load()))
		if r := w.job.Load(); r != nil {
			w.help(r)
			continue
		}
		if w.retired.Load() {
			return
		}
		w.roused.Store(0)
		w.sleep(due)
		w.learn()
	}
}

// Bounds of a worker's patience.
const (
	leastPatience = 40 * time.Microsecond
	mostPatience  = 300 * time.Microsecond
)

// learn adapts the patience after a sleep to how long waking takes: some ten microseconds on real machines, more than a
// hundred on virtual ones, whose processors have to be resumed. To look out for as long as that costs at most twice what
// the best choice would have; consecutive operations of a program are closer to each other.
func (w *worker) learn() {
	at := w.roused.Load()
	if at == 0 {
		return
	}
	woken := time.Since(epoch) - time.Duration(at)
	mean := (3*time.Duration(w.patience.Load()) + 2*woken) / 4 // of twice the time, over the last few sleeps
	w.patience.Store(int64(min(max(mean, leastPatience), mostPatience)))
}

// help takes the region and works in it, unless it has been withdrawn.
func (w *worker) help(r *region) {
	if !w.job.CompareAndSwap(r, busy) {
		return
	}
	w.current.Store(r)
	defer r.leave()
	defer w.job.Store(nil)
	defer w.current.Store(nil)
	if r.asking == nil && r.limit == 0 {
		r.work(w.thread)
		return
	}
	LimitThreads(r.limit, func() { interruptible(r.asking, func() { r.work(w.thread) }) })
}

// failing counts regions of which a part has panicked, and which workers may not have left yet.
var failing atomic.Int32

// abandon throws where the calling goroutine is a worker in a region that has failed: nobody wants the rest of its part.
func (p *workers) abandon() {
	g, all := goroutine.ID(), p.all.Load()
	if g == 0 || all == nil {
		return
	}
	for _, w := range *all {
		if w.address.Load() != g {
			continue
		}
		if r := w.current.Load(); r != nil && r.failure.Load() != nil {
			source.Throw(errAbandoned)
		}
		return
	}
}

var errAbandoned = source.Errorf(source.RuntimeError, source.Range{}, "another part of the operation has failed")

// spin waits until due reports true, or for a time.
func spin(due func() bool, patience time.Duration) {
	const looks = 64 // between two looks at the clock
	var begin time.Time
	for i := 0; ; i++ {
		for range looks {
			if due() {
				return
			}
			pause()
		}
		switch {
		case i == 0:
			begin = time.Now()
		case time.Since(begin) > patience:
			return
		}
	}
}

package tensor

import (
	"sync"
	"sync/atomic"
	"time"
)

// workers are the goroutines that help the callers of Parallel. They start when they are first
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
		w := &worker{wake: make(chan struct{}, 1)}
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

// A worker is a goroutine that takes the regions it is offered, one after another.
type worker struct {
	job     atomic.Pointer[region] // what it is offered, busy while it works, nil while it is idle
	parked  atomic.Bool            // it waits on wake, or is about to
	retired atomic.Bool            // it ends when it is idle
	wake    chan struct{}
	_       [64]byte
}

// busy is the job of a worker that works.
var busy = new(region)

// offer gives an idle worker a region to take, and fails where the worker is not idle. What it has
// not taken yet can be withdrawn by setting job back to nil.
func (w *worker) offer(r *region) bool {
	if w.job.Load() != nil || !w.job.CompareAndSwap(nil, r) {
		return false
	}
	if w.parked.Load() {
		w.rouse()
	}
	return true
}

// rouse ends the worker's sleep, or the next one where it is awake.
func (w *worker) rouse() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// serve is the life of a worker: it looks out for work for a while before it sleeps.
func (w *worker) serve() {
	due := func() bool { return w.job.Load() != nil || w.retired.Load() }
	for {
		spin(due)
		if r := w.job.Load(); r != nil {
			w.help(r)
			continue
		}
		if w.retired.Load() {
			return
		}
		w.parked.Store(true)
		if !due() {
			<-w.wake
		}
		w.parked.Store(false)
	}
}

// help takes the region and works in it, unless it has been withdrawn.
func (w *worker) help(r *region) {
	if !w.job.CompareAndSwap(r, busy) {
		return
	}
	defer r.leave()
	defer w.job.Store(nil)
	r.work()
}

// spinTime is how long a goroutine waits before it lets its thread go. Consecutive operations of a
// program are closer to each other than that; waking a sleeping thread takes about as long.
const spinTime = 40 * time.Microsecond

// spin waits until due reports true, or for spinTime.
func spin(due func() bool) {
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
		case time.Since(begin) > spinTime:
			return
		}
	}
}

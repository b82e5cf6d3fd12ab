package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/goroutine"
)

// maxChunks bounds the chunks into which For cuts a range.
const maxChunks = 64

var threads atomic.Int32

// threadLimits are how many goroutines the operations of single goroutines may use.
var threadLimits goroutine.Local[int]

// NumThreads returns how many goroutines one operation of the calling goroutine may use: what LimitThreads or SetNumThreads
// was given, or GOMAXPROCS.
func NumThreads() int {
	if n := threadLimits.Here(); n > 0 {
		return n
	}
	return commonThreads()
}

// commonThreads is NumThreads of goroutines without a limit of their own.
func commonThreads() int {
	if n := threads.Load(); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// SetNumThreads changes how many goroutines one operation may use; n < 1 means as many as
// GOMAXPROCS. Operations that run go on with those they have.
func SetNumThreads(n int) {
	pool.mu.Lock()
	defer pool.mu.Unlock()
	threads.Store(int32(max(n, 0)))
	pool.shrink(commonThreads() - 1)
}

// LimitThreads calls f, whose operations may use n goroutines each, whatever SetNumThreads was given; n < 1 limits nothing.
func LimitThreads(n int, f func()) {
	g := goroutine.ID()
	if n < 1 || g == 0 { // goroutines are unknown on some processors: nothing is limited there
		f()
		return
	}
	before := threadLimits.Put(g, n)
	defer threadLimits.Put(g, before)
	f()
}

// ThreadLimit returns the limit of the calling goroutine, 0 for none. Goroutines that go on with its work take it over.
func ThreadLimit() int { return threadLimits.Here() }

// For calls f for consecutive parts of [0, n) that together are the whole, several at once
// where there are threads for them. Each part but the last is the same multiple of grain, which
// should be work for ten microseconds or more.
//
// The parts follow from n and grain alone. Each thread begins with a share of them that is the same in every call, so that it finds
// in its own cache what it left there in the last one, and whoever is done with it helps the others. f must give the
// same result for any partition: a reduction over the whole range uses Chunks. A panic in f reaches
// the caller once, after the parts that had begun; the others are left out. So does what SetInterrupt was
// given. f may call For.
func For(n, grain int, f func(lo, hi int)) {
	grain = max(grain, 1)
	grains := (n + grain - 1) / grain
	size := grain * max(1, (grains+maxChunks-1)/maxChunks)
	count := NumChunks(n, size)
	workers := helpers(count)
	if len(workers) == 0 {
		alone(n, size, grain, f)
		return
	}
	r := regions.Get().(*region)
	r.part = f
	r.run(workers, n, size, count)
}

// partsBetweenLooks is how many parts a thread without help does between two looks, where a part is some microseconds of work.
const partsBetweenLooks = 8

// alone is For by the calling goroutine alone. A part of grain one may be any amount of work.
func alone(n, size, grain int, f func(lo, hi int)) {
	var watch Watch
	every := size * min(grain, partsBetweenLooks)
	for lo := 0; lo < n; lo += size {
		if lo%every == 0 && n > every {
			watch.Look()
		}
		f(lo, min(lo+size, n))
	}
}

// Chunks is For over chunks of size elements, numbered from 0 to NumChunks(n, size)-1; the last
// one may be shorter. A reduction keeps one partial result for each number and combines them in
// their order, so that it does not depend on the number of threads.
func Chunks(n, size int, f func(chunk, lo, hi int)) {
	size = max(size, 1)
	count := NumChunks(n, size)
	workers := helpers(count)
	if len(workers) == 0 {
		var watch Watch
		for i := range count {
			watch.Look()
			f(i, i*size, min((i+1)*size, n))
		}
		return
	}
	r := regions.Get().(*region)
	r.chunk = f
	r.run(workers, n, size, count)
}

// NumChunks returns how many chunks of size elements [0, n) has.
func NumChunks(n, size int) int {
	size = max(size, 1)
	return (max(n, 0) + size - 1) / size
}

// helpers returns the workers that may help with a number of chunks, none where the caller does all.
func helpers(chunks int) []*worker {
	if chunks <= 1 {
		return nil
	}
	beside := NumThreads() - 1
	if beside <= 0 {
		return nil
	}
	workers := pool.shared(min(beside, chunks-1))
	return workers[:min(beside, len(workers))]
}

// region is one call of For or Chunks: chunks of a range, claimed one after another by the
// caller and by the workers that took the region.
type region struct {
	part    func(lo, hi int)        // called for each chunk; or
	chunk   func(chunk, lo, hi int) // this is
	n, size int
	limit   int                 // of the caller's threads, which holds for what f calls too
	asking  *asking             // what the caller's operations ask of their own
	failure atomic.Pointer[any] // the first panic
	shares  []share             // the caller's, then those of the workers
	_       [64]byte
	// inside is less one for each worker that has left, and, once the caller has no chunk to claim,
	// more one for each that took the region. The worker that brings it back to zero sends on ended.
	inside atomic.Int32
	ended  chan struct{}
}

var regions = sync.Pool{New: func() any { return &region{ended: make(chan struct{}, 1)} }}

// share is the chunks that are left of those one thread claims first, the upper half of the number being the first of them and the
// lower half the one behind the last. Their owner claims them from the first on, the others from the last.
type share struct {
	left atomic.Uint64
	_    [56]byte
}

// claim takes the first chunk, or the last; ok is false where none is left.
func (s *share) claim(last bool) (chunk int, ok bool) {
	for {
		left := s.left.Load()
		first, end := left>>32, left&(1<<32-1)
		if first >= end {
			return 0, false
		}
		chunk, first = int(first), first+1
		if last {
			chunk, first, end = int(end-1), first-1, end-1
		}
		if s.left.CompareAndSwap(left, first<<32|end) {
			return chunk, true
		}
	}
}

// run works through the region together with those of the workers that are idle.
func (r *region) run(workers []*worker, n, size, count int) {
	r.n, r.size, r.asking, r.limit = n, size, own.Here(), threadLimits.Here()
	r.cut(count, len(workers)+1)
	offers := 0
	for _, w := range workers {
		if w.offer(r) {
			offers++
		}
	}
	defer r.finish(workers, offers)
	r.work(0)
}

// cut gives each thread its share of the chunks.
func (r *region) cut(count, threads int) {
	if cap(r.shares) < threads {
		r.shares = make([]share, threads)
	}
	r.shares = r.shares[:threads]
	for i := range r.shares {
		r.shares[i].left.Store(uint64(count*i/threads)<<32 | uint64(count*(i+1)/threads))
	}
}

// work claims the chunks of a thread's share, then those that the others have not come to. A panic ends it, and nobody claims more.
func (r *region) work(thread int) {
	defer func() {
		if v := recover(); v != nil {
			r.fail(v)
		}
	}()
	var watch Watch
	for i := range r.shares {
		s := &r.shares[(thread+i)%len(r.shares)]
		for {
			chunk, ok := s.claim(i > 0)
			if !ok {
				break
			}
			watch.Look()
			lo := chunk * r.size
			hi := min(lo+r.size, r.n)
			if r.part != nil {
				r.part(lo, hi)
			} else {
				r.chunk(chunk, lo, hi)
			}
		}
	}
}

// fail records the first panic and leaves no chunk to be claimed.
func (r *region) fail(v any) {
	if r.failure.CompareAndSwap(nil, &v) {
		failing.Add(1)
	}
	for i := range r.shares {
		r.shares[i].left.Store(0)
	}
}

// finish withdraws the region from the workers that have not taken it, waits for the others, and
// panics where f has.
func (r *region) finish(workers []*worker, offers int) {
	taken := offers
	for _, w := range workers {
		if w.job.Load() == r && w.job.CompareAndSwap(r, nil) {
			taken--
		}
	}
	if taken > 0 && r.inside.Add(int32(taken)) != 0 {
		r.await()
		<-r.ended
	}
	failure := r.failure.Load()
	if failure != nil {
		failing.Add(-1)
	}
	r.part, r.chunk, r.asking = nil, nil, nil
	r.failure.Store(nil)
	regions.Put(r)
	if failure != nil {
		panic(*failure)
	}
}

// callersWaiting counts those who wait for workers to end.
var callersWaiting atomic.Int32

// await waits for the workers without giving the thread up for as long as that is worth it: to be woken takes about as long
// as a chunk, and the processor has nothing else to do for the caller. Where several callers wait, a worker may need it.
func (r *region) await() {
	patience := callerPatience
	if callersWaiting.Add(1) > 1 {
		patience = leastPatience
	}
	spin(func() bool { return r.inside.Load() == 0 }, patience)
	callersWaiting.Add(-1)
}

// callerPatience is how long a caller who is alone waits for the workers before it lets its thread go.
const callerPatience = time.Millisecond

// leave tells the caller that a worker has done its part.
func (r *region) leave() {
	if r.inside.Add(-1) == 0 {
		r.ended <- struct{}{}
	}
}

package tensor

import (
	"runtime"
	"sync"
	"sync/atomic"
)

var threads atomic.Int32

// NumThreads returns how many goroutines one operation may use.
func NumThreads() int {
	if n := threads.Load(); n > 0 {
		return int(n)
	}
	return runtime.GOMAXPROCS(0)
}

// SetNumThreads changes how many goroutines one operation may use.
func SetNumThreads(n int) { threads.Store(int32(n)) }

// Parallel calls f for consecutive parts of [0, n), at once where there are several threads and
// each gets at least grain. A panic in f reaches the caller.
func Parallel(n, grain int, f func(lo, hi int)) {
	parts := min(NumThreads(), n/max(grain, 1))
	if parts <= 1 {
		if n > 0 {
			f(0, n)
		}
		return
	}
	var group sync.WaitGroup
	var failure atomic.Pointer[any]
	part := func(i int) {
		defer func() {
			if r := recover(); r != nil {
				failure.Store(&r)
			}
			group.Done()
		}()
		f(n*i/parts, n*(i+1)/parts)
	}
	group.Add(parts)
	for i := 1; i < parts; i++ {
		go part(i)
	}
	part(0)
	group.Wait()
	if r := failure.Load(); r != nil {
		panic(*r)
	}
}

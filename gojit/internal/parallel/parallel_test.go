package parallel_test

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// withThreads sets the number of threads for a test.
func withThreads(t testing.TB, n int) {
	t.Helper()
	parallel.SetNumThreads(n)
	t.Cleanup(func() { parallel.SetNumThreads(0) })
}

// partsOf returns the parts of a call of For in order.
func partsOf(n, grain int) [][2]int {
	var mu sync.Mutex
	var parts [][2]int
	parallel.For(n, grain, func(lo, hi int) {
		mu.Lock()
		defer mu.Unlock()
		parts = append(parts, [2]int{lo, hi})
	})
	slices.SortFunc(parts, func(a, b [2]int) int { return a[0] - b[0] })
	return parts
}

func TestParallelPartition(t *testing.T) {
	for _, c := range []struct{ n, grain, parts int }{
		{0, 1, 0}, {-3, 1, 0}, {1, 1, 1}, {7, 0, 7}, {7, 3, 3}, {6, 3, 2}, {100, 1000, 1}, {64, 1, 64}, {65, 1, 33}, {100000, 1, 64},
	} {
		withThreads(t, 1)
		want := partsOf(c.n, c.grain)
		if len(want) != c.parts {
			t.Errorf("For(%d, %d) has %d parts, want %d", c.n, c.grain, len(want), c.parts)
		}
		at, grain := 0, max(c.grain, 1)
		for i, p := range want {
			if p[0] != at || p[1] <= at || (p[1]-p[0])%grain != 0 && i != len(want)-1 {
				t.Fatalf("For(%d, %d): part %v after %d", c.n, c.grain, p, at)
			}
			at = p[1]
		}
		if at != max(c.n, 0) {
			t.Errorf("For(%d, %d) ends at %d", c.n, c.grain, at)
		}
		for _, threads := range []int{2, 3, 8} {
			parallel.SetNumThreads(threads)
			if got := partsOf(c.n, c.grain); !slices.Equal(got, want) {
				t.Errorf("For(%d, %d) with %d threads: %v, with one: %v", c.n, c.grain, threads, got, want)
			}
		}
	}
}

// sumInChunks adds numbers whose sum depends on the order of the additions.
func sumInChunks(n int) float32 {
	const size = 64
	partial := make([]float32, parallel.NumChunks(n, size))
	parallel.Chunks(n, size, func(chunk, lo, hi int) {
		for i := lo; i < hi; i++ {
			partial[chunk] += 1 / float32(i+1)
		}
	})
	sum := float32(0)
	for _, p := range partial {
		sum += p
	}
	return sum
}

func TestChunksGiveOneResultForAnyNumberOfThreads(t *testing.T) {
	withThreads(t, 1)
	want := sumInChunks(10001)
	for _, threads := range []int{2, 3, 16} {
		parallel.SetNumThreads(threads)
		for range 20 {
			if got := sumInChunks(10001); got != want {
				t.Fatalf("%d threads: %v, one: %v", threads, got, want)
			}
		}
	}
}

// Two parts wait for each other, so one goroutine alone would not end.
func TestParallelRunsPartsAtOnce(t *testing.T) {
	withThreads(t, 2)
	for range 3 {
		var began sync.WaitGroup
		began.Add(2)
		parallel.For(2, 1, func(lo, hi int) {
			began.Done()
			began.Wait()
		})
		time.Sleep(time.Millisecond) // the worker sleeps, and is woken
	}
}

func TestParallelDoesNotWaitForBusyWorkers(t *testing.T) {
	withThreads(t, 2)
	var began sync.WaitGroup
	began.Add(2)
	release, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		parallel.For(2, 1, func(lo, hi int) {
			began.Done()
			<-release
		})
	}()
	began.Wait()
	if parts := partsOf(10, 1); len(parts) != 10 {
		t.Errorf("%d parts", len(parts))
	}
	close(release)
	<-ended
}

func TestParallelInsideParallel(t *testing.T) {
	withThreads(t, 4)
	var sum atomic.Int64
	parallel.For(30, 1, func(lo, hi int) {
		parallel.For(40, 1, func(a, b int) {
			parallel.Chunks(5, 1, func(chunk, _, _ int) { sum.Add(int64(chunk)) })
		})
	})
	if sum.Load() != 30*40*10 {
		t.Errorf("sum %d", sum.Load())
	}
}

func TestPanicInParallelReachesTheCallerOnce(t *testing.T) {
	withThreads(t, 4)
	for i := range 50 {
		caught := func() (v any) {
			defer func() { v = recover() }()
			parallel.For(60, 1, func(lo, hi int) {
				if lo%10 == i%10 {
					panic("in a part")
				}
			})
			return nil
		}()
		if caught != "in a part" {
			t.Fatalf("recovered %v", caught)
		}
		if got := partsOf(60, 1); len(got) != 60 {
			t.Fatalf("%d parts after a panic", len(got))
		}
	}
}

func TestParallelFromManyGoroutines(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	withThreads(t, 3)
	want := sumInChunks(3000)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				parallel.SetNumThreads(1 + i%5)
				runtime.Gosched()
			}
		}
	}()
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			for range 100 {
				if got := sumInChunks(3000); got != want {
					t.Errorf("sum %v, want %v", got, want)
					return
				}
			}
		})
	}
	group.Wait()
	close(stop)
	<-stopped
}

func TestFewerThreadsEndWorkers(t *testing.T) {
	withThreads(t, 1)
	before := settled(t, 0)
	parallel.SetNumThreads(9)
	partsOf(60, 1)
	if n := runtime.NumGoroutine(); n < before+8 {
		t.Errorf("%d goroutines, %d before there were workers", n, before)
	}
	parallel.SetNumThreads(3)
	settled(t, before+2)
	if got := partsOf(60, 1); len(got) != 60 {
		t.Errorf("%d parts", len(got))
	}
}

// settled waits until the number of goroutines is want, or, where want is 0, until it has stayed the same for a while.
func settled(t *testing.T, want int) int {
	t.Helper()
	last, same := -1, 0
	for range 500 {
		n := runtime.NumGoroutine()
		if same++; n != last {
			last, same = n, 0
		}
		if n == want || want == 0 && same == 10 {
			return n
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%d goroutines, want %d", last, want)
	return 0
}

func BenchmarkParallel(b *testing.B) {
	for _, threads := range []int{1, 2} {
		b.Run(fmt.Sprintf("empty/threads=%d", threads), func(b *testing.B) {
			withThreads(b, threads)
			f := func(lo, hi int) {}
			for b.Loop() {
				parallel.For(2, 1, f)
			}
		})
	}
	b.Run("both/threads=2", func(b *testing.B) { // the worker takes its part each time
		withThreads(b, 2)
		var began atomic.Int32
		f := func(lo, hi int) {
			for began.Add(1); began.Load() < 2; {
			}
		}
		for b.Loop() {
			began.Store(0)
			parallel.For(2, 1, f)
		}
	})
}

// An operation ends when what it asks has an error; the parts that are left are not begun.
func TestInterruptEndsAnOperation(t *testing.T) {
	failure := errors.New("enough")
	for _, threads := range []int{1, 3} {
		withThreads(t, threads)
		var begun, looks atomic.Int64
		parallel.SetInterrupt(func() error {
			if looks.Add(1) > 5 {
				return failure
			}
			return nil
		}, 0)
		run := func(f func()) (err error) {
			defer parallel.SetInterrupt(nil, 0)
			defer source.Catch(&err)
			f()
			return nil
		}
		err := run(func() { parallel.For(60, 1, func(lo, hi int) { begun.Add(1) }) })
		if err != failure || begun.Load() >= 60 {
			t.Errorf("%d threads: %v after %d of 60 parts", threads, err, begun.Load())
		}
		parallel.SetInterrupt(func() error { return failure }, 0)
		if err := run(func() { parallel.Chunks(9, 1, func(chunk, lo, hi int) {}) }); err != failure {
			t.Errorf("%d threads: chunks end with %v", threads, err)
		}
		if got := partsOf(60, 1); len(got) != 60 {
			t.Errorf("%d parts afterwards", len(got))
		}
	}
}

// What a goroutine asks of its own ends its operations, in workers too, and nobody else's.
func TestInterruptibleEndsOperationsOfItsGoroutine(t *testing.T) {
	failure := errors.New("enough")
	for _, threads := range []int{1, 3} {
		withThreads(t, threads)
		var begun atomic.Int64
		var err error
		parallel.Interruptible(func() error { return failure }, func() {
			defer source.Catch(&err)
			other := make(chan int)
			go func() { other <- len(partsOf(60, 1)) }()
			if n := <-other; n != 60 {
				t.Errorf("another goroutine has %d parts", n)
			}
			parallel.For(60, 1, func(lo, hi int) {
				begun.Add(1)
				parallel.For(2, 1, func(lo, hi int) { time.Sleep(2 * time.Millisecond) })
			})
		})
		if err != failure || begun.Load() >= 60 {
			t.Errorf("%d threads: %v after %d of 60 parts", threads, err, begun.Load())
		}
		if got := partsOf(60, 1); len(got) != 60 {
			t.Errorf("%d parts afterwards", len(got))
		}
	}
}

// Callers share the workers: however many there are, there is one part at a time for each caller and
// each worker.
func TestManyCallersShareTheWorkers(t *testing.T) {
	const callers, threads = 16, 3
	withThreads(t, threads)
	var now, most atomic.Int64
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			for range 20 {
				parallel.For(30, 1, func(lo, hi int) {
					n := now.Add(1)
					for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
					}
					runtime.Gosched()
					now.Add(-1)
				})
			}
		})
	}
	group.Wait()
	if most.Load() > callers+threads-1 {
		t.Errorf("%d parts at once for %d callers and %d workers", most.Load(), callers, threads-1)
	}
}

// The limit of a goroutine holds for it, for what its workers do, and for no other.
func TestLimitThreads(t *testing.T) {
	before := parallel.NumThreads()
	parallel.LimitThreads(before+1, func() {
		if parallel.NumThreads() == before {
			t.Skip("goroutines are not known on this processor")
		}
	})
	var all sync.WaitGroup
	for n := 1; n <= 4; n++ {
		all.Go(func() {
			parallel.LimitThreads(n, func() {
				var wrong atomic.Int32
				for range 20 {
					parallel.For(64, 1, func(lo, hi int) {
						if parallel.NumThreads() != n {
							wrong.Add(1)
						}
					})
				}
				if wrong.Load() > 0 || parallel.ThreadLimit() != n {
					t.Errorf("with the limit %d, %d parts had another", n, wrong.Load())
				}
				parallel.LimitThreads(0, func() {
					if parallel.NumThreads() != n {
						t.Errorf("no limit within a limit of %d gives %d threads", n, parallel.NumThreads())
					}
				})
			})
			if parallel.ThreadLimit() != 0 {
				t.Errorf("the limit %d is left", n)
			}
		})
	}
	all.Wait()
	if parallel.NumThreads() != before {
		t.Errorf("%d threads, %d before", parallel.NumThreads(), before)
	}
}

//go:build !race

package parallel_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// With the race detector a sync.Pool drops some of what it is given, by chance, so that regions are made anew.
func TestParallelAllocatesNothing(t *testing.T) {
	withThreads(t, 2)
	f := func(lo, hi int) {}
	parallel.For(8, 1, f)
	if n := testing.AllocsPerRun(100, func() { parallel.For(8, 1, f) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

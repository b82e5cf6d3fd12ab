//go:build !race

package tensor_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// With the race detector a sync.Pool drops some of what it is given, by chance, so that regions are made anew.
func TestParallelAllocatesNothing(t *testing.T) {
	withThreads(t, 2)
	f := func(lo, hi int) {}
	tensor.Parallel(8, 1, f)
	if n := testing.AllocsPerRun(100, func() { tensor.Parallel(8, 1, f) }); n >= 1 {
		t.Errorf("%v allocations", n)
	}
}

package tensor

import (
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/rng"
)

// NumThreads returns how many goroutines one operation of the calling goroutine may use: what SetNumThreads was given, or GOMAXPROCS.
func NumThreads() int { return parallel.NumThreads() }

// SetNumThreads changes how many goroutines one operation may use; n < 1 means as many as GOMAXPROCS. Operations that run go on with those they have.
func SetNumThreads(n int) { parallel.SetNumThreads(n) }

// Seed starts the stream of random numbers that operators draw from anew.
func Seed(seed uint64) { rng.Default().Seed(seed) }

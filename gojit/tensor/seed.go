package tensor

import "github.com/torchjit/torchjit/gojit/internal/rng"

// Seed starts the stream of random numbers that operators draw from anew.
func Seed(seed uint64) { rng.Default().Seed(seed) }

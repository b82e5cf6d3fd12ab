package prim

import (
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Modes holds the operators on the state of random numbers.
var Modes = join(
	one("aten::manual_seed", func(args, out []value.Value) error {
		rng.Default().Seed(uint64(args[0].Int()))
		return nil
	}),
)

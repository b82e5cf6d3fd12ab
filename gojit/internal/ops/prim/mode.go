package prim

import (
	"github.com/torchjit/torchjit/gojit/internal/rng"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Modes holds the operators on the state of random numbers.
var Modes = join(
	one("aten::manual_seed", func(args, out []value.Value) error {
		rng.Default().Seed(uint64(args[0].Int()))
		return nil
	}),
	one("aten::Generator(*, Device? device=None, int? seed=None) -> Generator # random", func(args, out []value.Value) error {
		if d := args[0]; !d.IsNone() && d.Device().Type != tensor.CPU {
			return errorf("random numbers of the device %s have no generator of their own here", d.Device())
		}
		seed := uint64(rng.DefaultSeed)
		if !args[1].IsNone() {
			seed = uint64(args[1].Int())
		}
		out[0] = value.OfGenerator(rng.New(seed))
		return nil
	}),
	one("aten::manual_seed.generator(Generator(a!) self, int seed) -> Generator(a!) # effectful", func(args, out []value.Value) error {
		args[0].Generator().Seed(uint64(args[1].Int()))
		out[0] = args[0]
		return nil
	}),
	one("aten::seed(Generator(a!) self) -> int # effectful", func(args, out []value.Value) error {
		out[0] = value.Int(int64(args[0].Generator().SeedFromTime()))
		return nil
	}),
	one("aten::initial_seed(Generator self) -> int", func(args, out []value.Value) error {
		out[0] = value.Int(int64(args[0].Generator().InitialSeed()))
		return nil
	}),
)

package prim

import (
	"torchjit/gojit/tensor"
	"torchjit/gojit/value"
)

// DTypes holds the operators on the state of grad mode and of random numbers.
var Modes = join(
	one("aten::is_grad_enabled", func(args, out []value.Value) error {
		out[0] = value.Bool(tensor.GradEnabled())
		return nil
	}),
	one("aten::set_grad_enabled", func(args, out []value.Value) error {
		tensor.SetGradEnabled(args[0].Bool())
		return nil
	}),
	one("aten::manual_seed", func(args, out []value.Value) error {
		tensor.DefaultGenerator().Seed(uint64(args[0].Int()))
		return nil
	}),
)

package tensors

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/nn"
)

// optimizerFunctions are steps of optimizers for one parameter in one pass. They reply false, and do nothing, where the tensors are not plain ones
// that lie alike, or somebody is to see the operators.
var optimizerFunctions = []abi.Function{
	{Schema: "momentum_step(Tensor parameter, Tensor gradient, Tensor sum, float momentum, float taken, float rate) -> bool", Run: func(c *abi.Call) error {
		c.Bool(runsUnseen(c) && nn.MomentumStep(c.ArgTensor(0), c.ArgTensor(1), c.ArgTensor(2), c.ArgFloat(3), c.ArgFloat(4), c.ArgFloat(5)))
		return nil
	}},
	{Schema: "adam_step(Tensor parameter, Tensor gradient, Tensor mean, Tensor square, float kept, float beta1, float beta2, float root, float eps, float rate) -> bool", Run: func(c *abi.Call) error {
		c.Bool(runsUnseen(c) && nn.AdamStep(c.ArgTensor(0), c.ArgTensor(1), c.ArgTensor(2), c.ArgTensor(3), nn.AdamNumbers{
			Kept: c.ArgFloat(4), Beta1: c.ArgFloat(5), Beta2: c.ArgFloat(6), Root: c.ArgFloat(7), Eps: c.ArgFloat(8), Rate: c.ArgFloat(9)}))
		return nil
	}},
}

// runsUnseen reports whether operators over plain tensors run in this thread without anybody who sees them.
func runsUnseen(c *abi.Call) bool { return c.Thread.Recorder == nil && c.Thread.Mode.DirectOverPlain() }

package bind

import "github.com/torchjit/torchjit/gojit/internal/ops/aten/nn"

// optimizerFunctions are steps of optimizers for one parameter in one pass. They reply false, and do nothing, where the tensors are not plain ones
// that lie alike, or somebody is to see the operators.
var optimizerFunctions = []function{
	{schema: "momentum_step(Tensor parameter, Tensor gradient, Tensor sum, float momentum, float taken, float rate) -> bool", run: func(c *call) error {
		c.bool(c.runsUnseen() && nn.MomentumStep(c.argTensor(0), c.argTensor(1), c.argTensor(2), c.argFloat(3), c.argFloat(4), c.argFloat(5)))
		return nil
	}},
	{schema: "adam_step(Tensor parameter, Tensor gradient, Tensor mean, Tensor square, float kept, float beta1, float beta2, float root, float eps, float rate) -> bool", run: func(c *call) error {
		c.bool(c.runsUnseen() && nn.AdamStep(c.argTensor(0), c.argTensor(1), c.argTensor(2), c.argTensor(3), nn.AdamNumbers{
			Kept: c.argFloat(4), Beta1: c.argFloat(5), Beta2: c.argFloat(6), Root: c.argFloat(7), Eps: c.argFloat(8), Rate: c.argFloat(9)}))
		return nil
	}},
}

// runsUnseen reports whether operators over plain tensors run in this thread without anybody who sees them.
func (c *call) runsUnseen() bool { return c.thread.recorder == nil && c.thread.mode.DirectOverPlain() }

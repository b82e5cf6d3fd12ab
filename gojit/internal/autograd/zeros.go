package autograd

import "github.com/torchjit/torchjit/gojit/tensor"

// Zeros returns zeros that nobody but the derivative has.
func (c *gradient) Zeros(shape []int, d tensor.DType) *tensor.Tensor {
	t := c.zeros(shape, d)
	if e, ok := c.Emitter.(*emitter); ok && e.made != nil {
		e.made[t] = true
	}
	return t
}

// zeros returns zeros on the device of the gradients that are there.
func (c *gradient) zeros(shape []int, dtype tensor.DType) *tensor.Tensor {
	if d := c.device(); d.Type != tensor.CPU {
		t := must(tensor.EmptyOn(d, shape, dtype))
		tensor.Fill(t, tensor.Int(0))
		return t
	}
	return must(tensor.Zeros(shape, dtype))
}

// WritesAlone reports whether the derivative may write a tensor like t that it has made: nothing is recorded, and nobody else runs operators.
func (c *gradient) WritesAlone(t *tensor.Tensor) bool {
	e, ok := c.Emitter.(*emitter)
	return ok && e.made != nil && e.mode.off && !t.Dispatches() && t.Device().Type != tensor.Meta
}

// IsOwn reports whether nobody else has a gradient, nor gets it later.
func (c *gradient) IsOwn(t *tensor.Tensor) bool {
	return c.owns != nil && c.owns(t) && !c.node.hasHooks()
}

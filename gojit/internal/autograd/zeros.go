package autograd

import "github.com/torchjit/torchjit/gojit/tensor"

// Zeros returns zeros that nobody but the derivative has.
func (c *gradient) Zeros(shape []int, d tensor.DType) *tensor.Tensor {
	t := must(tensor.Zeros(shape, d))
	if e, ok := c.Emitter.(*emitter); ok && e.made != nil {
		e.made[t] = true
	}
	return t
}

// WritesAlone reports whether the derivative may write a tensor like t that it has made: nothing is recorded, and nobody else runs operators.
func (c *gradient) WritesAlone(t *tensor.Tensor) bool {
	e, ok := c.Emitter.(*emitter)
	return ok && e.made != nil && e.mode.off && !t.Dispatches() && t.Device().Type != tensor.Meta
}

// IsOwn reports whether nobody else has a gradient.
func (c *gradient) IsOwn(t *tensor.Tensor) bool { return c.owns != nil && c.owns(t) }

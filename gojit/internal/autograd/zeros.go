package autograd

import "github.com/torchjit/torchjit/gojit/tensor"

// zerosAs returns zeros that nobody but the derivative has.
func (c *gradient) zerosAs(shape []int, d tensor.DType) tensors {
	t := must(tensor.Zeros(shape, d))
	if e, ok := c.Emitter.(*emitter); ok && e.made != nil {
		e.made[t] = true
	}
	return t
}

// zerosOf returns zeros for the gradient of an argument.
func (c *gradient) zerosOf(argument int) tensors {
	in := c.find(argument, -1)
	return c.zerosAs(in.shape, in.dtype)
}

// into runs an operator on zeros that nobody else has. It writes them in place where that is not recorded and no class of tensors runs the
// operator.
func (c *gradient) into(name string, zeros tensors, args ...any) tensors {
	alone := c.writesAlone(zeros)
	for _, a := range args {
		if t, ok := a.(tensors); ok {
			alone = alone && !t.Dispatches() && t.Device() == zeros.Device()
		}
	}
	if alone {
		name += "_"
	}
	return c.do(name, append([]any{zeros}, args...)...)
}

// writesAlone reports whether the derivative may write a tensor like t that it has made: nothing is recorded, and nobody else runs operators.
func (c *gradient) writesAlone(t tensors) bool {
	e, ok := c.Emitter.(*emitter)
	return ok && e.made != nil && e.mode.off && !t.Dispatches() && t.Device().Type != tensor.Meta
}

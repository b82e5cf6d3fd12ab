package autograd

import "torchjit/gojit/tensor"

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
	all := append([]any{zeros}, args...)
	if e, ok := c.Emitter.(*emitter); !ok || e.made == nil || !e.mode.off {
		return c.do(name, all...)
	}
	for _, a := range args {
		if t, ok := a.(tensors); ok && (t.Dispatches() || t.Device() != zeros.Device()) {
			return c.do(name, all...)
		}
	}
	return c.do(name+"_", all...)
}

package abi

import (
	"github.com/torchjit/torchjit/gojit/internal/autograd"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Element returns the only element of a tensor, as the thread's modes and the tensor's class have it.
func (c *Call) Element(t *tensor.Tensor) (value.Value, error) {
	if c.Thread.Mode.Dispatches() && t.Numel() == 1 {
		return elementIn(c.Thread.Mode, t)
	}
	s, err := ItemOf(t)
	return value.OfScalar(s), err
}

func elementIn(m *autograd.Mode, t *tensor.Tensor) (value.Value, error) {
	var out [1]value.Value
	err := m.Run(ops.Find(aten.LocalScalarDense), []value.Value{value.OfTensor(t)}, out[:])
	return out[0], err
}

// ItemOf returns the only element of a tensor, as its class or the mode of the thread has it.
func ItemOf(t *tensor.Tensor) (tensor.Scalar, error) {
	if t.Numel() != 1 || DispatchModes == 0 && !t.Dispatches() {
		return t.Item()
	}
	mode := ThisThread().Mode // which takes a call to find
	if !t.Dispatches() && !mode.Dispatches() {
		return t.Item()
	}
	v, err := elementIn(mode, t)
	if err != nil {
		return tensor.Scalar{}, err
	}
	s, ok := v.Scalar()
	if !ok {
		return s, TypeErrorf("aten._local_scalar_dense gave no number")
	}
	return s, nil
}

// IsNonzero reports whether a number counts as true.
func IsNonzero(v value.Value) bool {
	switch v.Kind() {
	case value.KindFloat:
		return v.Float() != 0
	case value.KindComplex:
		return v.Complex() != 0
	}
	return v.Bool()
}

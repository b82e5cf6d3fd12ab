package define

import (
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Tensors on a device have their elements where the processor cannot look. The bodies of operators are the same for them: views need no
// elements, and kernels, copies and fills run where their operands are. A body that reads elements itself fails when it asks for their address,
// and its operator has no form for the device then.

// IsAway reports whether t has no elements in the memory of the processor: it is on a device, on meta among them.
func IsAway(t *tensor.Tensor) bool { return t.Device().Type != tensor.CPU }

// DeviceAmong returns the device of the first tensor on one among the arguments; ok is false where there is none.
func DeviceAmong(args []value.Value) (d tensor.Device, ok bool) {
	EachTensorIn(args, func(t *tensor.Tensor) bool {
		if ok = t.OnDevice(); ok {
			d = t.Device()
		}
		return !ok
	})
	return d, ok
}

// EachTensorIn calls f with the tensors among values and in lists of them, until it returns false.
func EachTensorIn(values []value.Value, f func(t *tensor.Tensor) bool) bool {
	for _, v := range values {
		switch v.Kind() {
		case value.KindTensor:
			if !f(v.Tensor()) {
				return false
			}
		case value.KindList:
			if !EachTensorIn(v.List().Items, f) {
				return false
			}
		}
	}
	return true
}

// Tensors of the device "meta" have a shape and no elements. Elementwise operators, views and what makes tensors know
// that. All others run on tensors of zeros that stand for them, and of their results only the shapes are kept; those
// whose results follow from elements fail. The zeros are hollow: operators with much to do, which ask for that, give
// hollow results without computing them.

// EmptyBeside is empty for a result of t, on its device, and hollow where t is.
func EmptyBeside(t *tensor.Tensor, shape []int, d tensor.DType) *tensor.Tensor {
	switch {
	case t.IsHollow():
		return source.Must(tensor.EmptyHollow(shape, nil, d, nil))
	case t.OnDevice():
		return source.Must(tensor.EmptyOn(t.Device(), shape, d))
	}
	return Empty(shape, d)
}

// FullBeside is a tensor of a number, on the device of t.
func FullBeside(t *tensor.Tensor, shape []int, s tensor.Scalar, d tensor.DType) *tensor.Tensor {
	if !t.OnDevice() {
		return source.Must(tensor.Full(shape, s, d))
	}
	out := source.Must(tensor.EmptyOn(t.Device(), shape, d))
	tensor.Fill(out, s)
	return out
}

// ZerosBeside is zeros on the device of t.
func ZerosBeside(t *tensor.Tensor, shape []int, d tensor.DType) *tensor.Tensor {
	if !t.OnDevice() {
		return Zeros(shape, d)
	}
	return FullBeside(t, shape, tensor.Int(0), d)
}

// WithoutElements returns a tensor on meta that is as t is.
func WithoutElements(t *tensor.Tensor) *tensor.Tensor {
	meta := source.Must(tensor.EmptyMeta(t.Shape(), t.DType()))
	source.Throw(meta.SetGeometry(0, t.Shape(), t.Strides()))
	return meta
}

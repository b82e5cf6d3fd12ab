package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Operators that take quantized tensors besides others: they run on the numbers that these stand for. What chooses or moves elements
// gives the same integers so, because quantizing a number that is a multiple of the scale gives back its integer.

// quantizedForm gives how results are quantized for the first quantized argument; nil leaves them as they are.
type quantizedForm func(x *tensor.Tensor) *tensor.Quantizer

// sameScale keeps scale and zero point.
func sameScale(x *tensor.Tensor) *tensor.Quantizer { return x.Quantizer() }

// unquantized leaves results as they are.
func unquantized(*tensor.Tensor) *tensor.Quantizer { return nil }

// unitScale is for results from 0 to 1, signedUnitScale for those from -1 to 1.
func unitScale(x *tensor.Tensor) *tensor.Quantizer {
	switch x.DType() {
	case tensor.QInt32:
		return &tensor.Quantizer{Scale: 1.0 / (1 << 31) / 2}
	case tensor.QInt8:
		return &tensor.Quantizer{Scale: 1.0 / 256, ZeroPoint: -128}
	}
	return &tensor.Quantizer{Scale: 1.0 / 256}
}

func signedUnitScale(x *tensor.Tensor) *tensor.Quantizer {
	q := &tensor.Quantizer{Scale: 2.0 / 256}
	switch x.DType() {
	case tensor.QInt32:
		q.Scale = 2.0 / (1 << 31) / 2
	case tensor.QUInt8:
		q.ZeroPoint = 128
	}
	return q
}

// takingQuantized returns the definition of an operator that takes quantized tensors with that form.
func (d definition) takingQuantized() *definition {
	form := d.form
	if form == nil && d.record != nil {
		form = d.record.Quantized
	}
	if form == nil {
		return &d
	}
	if plain := d.into; plain != nil {
		d.into = func(c call, dst *tensor.Tensor) *tensor.Tensor {
			if firstQuantized(c.args) == nil {
				return plain(c, dst)
			}
			var out [1]value.Value
			onNumbers(call{c.args, out[:]}, form, func(c call) { c.out[0] = value.OfTensor(plain(c, nil)) })
			if dst == nil {
				return out[0].Tensor()
			}
			succeed(tensor.Copy(dst, out[0].Tensor()))
			return dst
		}
		return &d
	}
	plain := d.body
	d.body = func(c call) {
		if firstQuantized(c.args) == nil {
			plain(c)
			return
		}
		onNumbers(c, form, plain)
	}
	return &d
}

// firstQuantized returns the first quantized tensor among arguments, nil where there is none.
func firstQuantized(args []value.Value) *tensor.Tensor {
	for _, a := range args {
		switch {
		case a.IsTensor() && a.Tensor().Quantizer() != nil:
			return a.Tensor()
		case a.Kind() == value.KindList && a.List().Elem.Kind() == types.KindTensor:
			if x := firstQuantized(a.List().Items); x != nil {
				return x
			}
		}
	}
	return nil
}

// onNumbers runs an operator on the numbers that quantized arguments stand for, and quantizes floating results.
func onNumbers(c call, form quantizedForm, run func(c call)) {
	x := firstQuantized(c.args)
	q := form(x)
	check(q == nil || !q.PerChannel(), "expected a tensor that is quantized per tensor, but got one quantized per channel")
	run(call{numbersOf(c.args), c.out})
	for i, v := range c.out {
		if q != nil && v.IsTensor() && v.Tensor().DType() == tensor.Float32 {
			c.out[i] = value.OfTensor(quantized(v.Tensor(), q, x.DType()))
		}
	}
}

func numbersOf(args []value.Value) []value.Value {
	out := make([]value.Value, len(args))
	for i, a := range args {
		out[i] = a
		switch {
		case a.IsTensor() && a.Tensor().Quantizer() != nil:
			out[i] = value.OfTensor(dequantized(a.Tensor()))
		case a.Kind() == value.KindList && a.List().Elem.Kind() == types.KindTensor:
			out[i] = value.OfList(value.NewList(types.Tensor, numbersOf(a.List().Items)...))
		}
	}
	return out
}

// throughNumbers defines a quantized operator as another one on the numbers: arguments gives those of the other, which follow the
// tensor; scaleAt is where the scale of the result stands, negative where it is that of the first argument.
func throughNumbers(name, other string, scaleAt int, arguments func(c call) []value.Value) definition {
	return throughRectified(name, other, scaleAt, arguments, func(t *tensor.Tensor) *tensor.Tensor { return t })
}

// throughRectified is throughNumbers with a function on the numbers of the result.
func throughRectified(name, other string, scaleAt int, arguments func(c call) []value.Value, rectify func(t *tensor.Tensor) *tensor.Tensor) definition {
	return giving("quantized::"+name, func(c call) *tensor.Tensor {
		x := c.tensor(0)
		q := quantizerOf(x)
		check(!q.PerChannel(), "quantized::%s expects a tensor that is quantized per tensor", name)
		if scaleAt >= 0 {
			q = outputQuantizer(c, scaleAt)
		}
		var out [1]value.Value
		args := append([]value.Value{value.OfTensor(dequantized(x))}, arguments(c)...)
		succeed(ops.Find(key(other)).Run(args, out[:]))
		real := rectify(out[0].Tensor())
		made := quantized(real, q, x.DType())
		if isFresh(real, args) && isFresh(real, c.args) {
			args[0].Tensor().Release()
			real.Release()
		}
		return made
	})
}

// alias defines an operator on quantized tensors as another one, which takes these too.
func alias(name, other string) definition {
	return giving(name, func(c call) *tensor.Tensor {
		check(!quantizerOf(c.tensor(0)).PerChannel(), "%s expects a tensor that is quantized per tensor", name)
		var out [1]value.Value
		succeed(ops.Find(key(other)).Run(c.args, out[:]))
		return out[0].Tensor()
	})
}

func positive(t *tensor.Tensor) *tensor.Tensor { return relu.on(t) }

// rectified gives the quantized tensor without what is below zero.
func rectified(t *tensor.Tensor) *tensor.Tensor {
	return quantized(relu.on(dequantized(t)), t.Quantizer(), t.DType())
}

// given returns arguments of a call.
func given(at ...int) func(c call) []value.Value {
	return func(c call) []value.Value {
		var args []value.Value
		for _, i := range at {
			args = append(args, c.args[i])
		}
		return args
	}
}

// quantizedScalar moves the scale instead of the integers where it can: x*b has the integers of x.
func quantizedScalar(c call, product bool) *tensor.Tensor {
	x, b := c.tensor(0), c.float(1)
	q := *quantizerOf(x)
	check(!q.PerChannel(), "quantized arithmetic with a number expects a tensor that is quantized per tensor")
	real := dequantized(x)
	low, high := tensor.IntegerRange(x.DType())
	if !product {
		shift := int64(b/q.Scale + 0.5)
		if b < 0 {
			shift = -int64(-b/q.Scale + 0.5)
		}
		b = float64(shift) * q.Scale // whole steps are added
		moved := float64(q.ZeroPoint - shift)
		switch {
		case moved < low:
			q.Scale = q.Scale * (high - moved) / (high - low)
			q.ZeroPoint = int64(low)
		case moved > high:
			q.Scale = q.Scale * (moved - low) / (high - low)
			q.ZeroPoint = int64(high)
		default:
			q.ZeroPoint = int64(moved)
		}
		return quantized(add.run(nil, []operand{ofTensor(real), ofScalar(tensor.Float(b))}), &q, x.DType())
	}
	switch {
	case b > 0:
		q.Scale *= b
	case b < 0:
		q.Scale *= -b
		q.ZeroPoint = int64(low+high) - q.ZeroPoint
	default:
		q.Scale, q.ZeroPoint = 1, 0
	}
	return quantized(mul.run(nil, []operand{ofTensor(real), ofScalar(tensor.Float(b))}), &q, x.DType())
}

var quantizedFormFamily = []definition{
	throughNumbers("sigmoid", "sigmoid", 1, given()),
	throughNumbers("hardswish", "hardswish", 1, given()),
	throughNumbers("leaky_relu", "leaky_relu", 3, given(1)),
	throughNumbers("elu", "elu", 1, given(3, 4, 5)),
	throughNumbers("celu", "celu", 1, given(3)),
	throughNumbers("prelu", "prelu", 2, given(1)),
	throughNumbers("threshold", "threshold", -1, given(1, 2)),
	throughNumbers("clamp", "clamp", -1, given(1, 2)),
	throughNumbers("softmax", "softmax.int", 2, func(c call) []value.Value { return []value.Value{c.args[1], value.None} }),
	alias("quantized::max_pool2d", "max_pool2d"),
	alias("quantized_max_pool1d", "max_pool1d"),
	alias("quantized_max_pool2d", "max_pool2d"),
	throughNumbers("layer_norm", "layer_norm", 5, func(c call) []value.Value {
		return []value.Value{c.args[1], c.args[2], c.args[3], c.args[4], value.Bool(false)}
	}),
	throughNumbers("group_norm", "group_norm", 5, func(c call) []value.Value {
		return []value.Value{c.args[1], c.args[2], c.args[3], c.args[4], value.Bool(false)}
	}),
	throughNumbers("instance_norm", "instance_norm", 4, func(c call) []value.Value {
		return []value.Value{c.args[1], c.args[2], value.None, value.None, value.Bool(true), value.Float(0), c.args[3], value.Bool(false)}
	}),
	throughNumbers("batch_norm", "batch_norm", 6, normalizing),
	throughNumbers("batch_norm1d", "batch_norm", 6, normalizing),
	throughNumbers("batch_norm2d", "batch_norm", 6, normalizing),
	throughNumbers("batch_norm3d", "batch_norm", 6, normalizing),
	throughRectified("batch_norm_relu", "batch_norm", 6, normalizing, positive),
	throughRectified("batch_norm1d_relu", "batch_norm", 6, normalizing, positive),
	throughRectified("batch_norm2d_relu", "batch_norm", 6, normalizing, positive),
	throughRectified("batch_norm3d_relu", "batch_norm", 6, normalizing, positive),
	alias("quantized::max_pool1d", "max_pool1d"),
	giving("quantized::dropout", func(c call) *tensor.Tensor { return c.tensor(0) }),
	giving("quantized::add.Scalar", func(c call) *tensor.Tensor { return quantizedScalar(c, false) }),
	giving("quantized::mul.Scalar", func(c call) *tensor.Tensor { return quantizedScalar(c, true) }),
	giving("quantized::add_relu.Scalar", func(c call) *tensor.Tensor { return rectified(quantizedScalar(c, false)) }),
	giving("quantized::mul_relu.Scalar", func(c call) *tensor.Tensor { return rectified(quantizedScalar(c, true)) }),
	giving("quantized::add_scalar", func(c call) *tensor.Tensor { return quantizedScalar(c, false) }),
	giving("quantized::mul_scalar", func(c call) *tensor.Tensor { return quantizedScalar(c, true) }),
	giving("quantized::add_scalar_relu", func(c call) *tensor.Tensor { return rectified(quantizedScalar(c, false)) }),
	giving("quantized::mul_scalar_relu", func(c call) *tensor.Tensor { return rectified(quantizedScalar(c, true)) }),
	quantizedBinary("quantized::matmul", false, nil, matmul),
}

// normalizing are the arguments of batch_norm with running statistics.
func normalizing(c call) []value.Value {
	return []value.Value{c.args[1], c.args[2], c.args[3], c.args[4], value.Bool(false), value.Float(0), c.args[5], value.Bool(false)}
}

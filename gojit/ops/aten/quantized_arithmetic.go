package aten

import "torchjit/gojit/tensor"

// quantizedBinary computes on the numbers that two quantized tensors stand for and quantizes the result.
func quantizedBinary(name string, f func(a, b *tensor.Tensor) *tensor.Tensor) definition {
	return giving(name, func(c call) *tensor.Tensor {
		a, b := c.tensor(0), c.tensor(1)
		quantizerOf(a)
		quantizerOf(b)
		check(a.DType() == b.DType(), "%s operands should have same data type.", name)
		out := f(must(tensor.Dequantize(a)), must(tensor.Dequantize(b)))
		return must(tensor.Quantize(out, outputQuantizer(c, 2), a.DType()))
	})
}

// quantizedCat joins quantized tensors under the given scale and zero point, or those of the first.
func quantizedCat(rectified bool) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		parts := c.tensors(0)
		check(len(parts) > 0, "Expected at least one tensor to concatenate")
		q, d := *quantizerOf(parts[0]), parts[0].DType()
		q.Scale, q.ZeroPoint = c.floatOr(2, q.Scale), int64(c.intOr(3, int(q.ZeroPoint)))
		real := make([]*tensor.Tensor, len(parts))
		for i, t := range parts {
			check(t.DType() == d && !quantizerOf(t).PerChannel(), "All dtypes must be the same, and quantized per tensor.")
			real[i] = must(tensor.Dequantize(t))
		}
		out := concat(real, c.int(1))
		if rectified {
			out = relu.on(out)
		}
		return must(tensor.Quantize(out, &q, d))
	}
}

// quantizedRelu6 limits a quantized tensor to 0 through 6, over its memory where argument 1 says so.
func quantizedRelu6(c call) *tensor.Tensor {
	x := c.tensor(0)
	q := quantizerOf(x)
	limited := clampBoth.run(nil, []operand{ofTensor(must(tensor.Dequantize(x))), ofScalar(tensor.Float(0)), ofScalar(tensor.Float(6))})
	out := must(tensor.Quantize(limited, q, x.DType()))
	if !c.bool(1) {
		return out
	}
	succeed(tensor.Copy(x, out))
	return x
}

var quantizedArithmeticFamily = []definition{
	quantizedBinary("quantized::add", func(a, b *tensor.Tensor) *tensor.Tensor { return add.on(a, b) }),
	quantizedBinary("quantized::add_relu", func(a, b *tensor.Tensor) *tensor.Tensor { return relu.on(add.on(a, b)) }),
	quantizedBinary("quantized::mul", func(a, b *tensor.Tensor) *tensor.Tensor { return mul.on(a, b) }),
	quantizedBinary("quantized::mul_relu", func(a, b *tensor.Tensor) *tensor.Tensor { return relu.on(mul.on(a, b)) }),
	giving("quantized::relu6", quantizedRelu6),
	giving("quantized::cat", quantizedCat(false)),
	giving("quantized::cat_relu", quantizedCat(true)),
}

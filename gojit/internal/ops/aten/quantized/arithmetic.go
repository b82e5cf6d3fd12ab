package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// quantizedBinary computes on the numbers that two quantized tensors stand for and quantizes the result: by f, or by a kernel of expr,
// limited to what is not below zero where rectified, where expr is not nil and the integers are bytes.
func quantizedBinary(name string, rectified bool, expr func(b *kernel.Builder, x, y kernel.Value) kernel.Value, f func(a, b *tensor.Tensor) *tensor.Tensor) definition {
	programs := &binaryPrograms{expr: expr, rectified: rectified}
	return giving(name, func(c call) *tensor.Tensor {
		a, b := c.tensor(0), c.tensor(1)
		quantizerOf(a)
		quantizerOf(b)
		check(a.DType() == b.DType(), "%s operands should have same data type.", name)
		if expr != nil && isSmall(a) && isSmall(b) {
			return programs.on(a, b, outputQuantizer(c, 2))
		}
		out := f(dequantized(a), dequantized(b))
		return quantized(out, outputQuantizer(c, 2), a.DType())
	})
}

// quantizedCat joins quantized tensors under the given scale and zero point, or those of the first.
func quantizedCat(rectified bool) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		parts := c.tensors(0)
		check(len(parts) > 0, "Expected at least one tensor to concatenate")
		q := *quantizerOf(parts[0])
		q.Scale, q.ZeroPoint = c.floatOr(2, q.Scale), int64(c.intOr(3, int(q.ZeroPoint)))
		return joinQuantized(parts, c.int(1), &q, rectified)
	}
}

// joinQuantized joins quantized tensors of one type under q.
func joinQuantized(parts []*tensor.Tensor, dim int, q *tensor.Quantizer, rectified bool) *tensor.Tensor {
	d := parts[0].DType()
	small := d != tensor.QInt32
	joined := make([]*tensor.Tensor, len(parts))
	for i, t := range parts {
		check(t.DType() == d && !quantizerOf(t).PerChannel(), "All dtypes must be the same, and quantized per tensor.")
		if small {
			joined[i] = integersUnder(t, q, rectified)
		} else {
			joined[i] = dequantized(t)
		}
	}
	out := concat(slices.Clone(joined), dim)
	for _, t := range joined {
		t.Release()
	}
	if small {
		return underQuantizer(out, q)
	}
	if rectified {
		out = relu.on(out)
	}
	return quantized(out, q, d)
}

// quantizedRelu6 limits a quantized tensor to 0 through 6, over its memory where argument 1 says so.
func quantizedRelu6(c call) *tensor.Tensor {
	x := c.tensor(0)
	q := quantizerOf(x)
	if isSmall(x) {
		var dst *tensor.Tensor
		if c.bool(1) {
			dst = x
		}
		return limitedNumbers(x, dst, 0, 6)
	}
	limited := clampBoth.run(nil, []operand{ofTensor(dequantized(x)), ofScalar(tensor.Float(0)), ofScalar(tensor.Float(6))})
	out := quantized(limited, q, x.DType())
	if !c.bool(1) {
		return out
	}
	succeed(tensor.Copy(x, out))
	return x
}

func sumOf(b *kernel.Builder, x, y kernel.Value) kernel.Value { return b.Add(x, y) }

func productOf(b *kernel.Builder, x, y kernel.Value) kernel.Value { return b.Mul(x, y) }

var quantizedArithmeticFamily = []definition{
	quantizedBinary("quantized::add", false, sumOf, func(a, b *tensor.Tensor) *tensor.Tensor { return add.on(a, b) }),
	quantizedBinary("quantized::add_relu", true, sumOf, func(a, b *tensor.Tensor) *tensor.Tensor { return relu.on(add.on(a, b)) }),
	quantizedBinary("quantized::mul", false, productOf, func(a, b *tensor.Tensor) *tensor.Tensor { return mul.on(a, b) }),
	quantizedBinary("quantized::mul_relu", true, productOf, func(a, b *tensor.Tensor) *tensor.Tensor { return relu.on(mul.on(a, b)) }),
	giving("quantized::relu6", quantizedRelu6),
	giving("quantized::cat", quantizedCat(false)),
	giving("quantized::cat_relu", quantizedCat(true)),
}

package quantized

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// quantizedBinary computes on the numbers that two quantized tensors stand for and quantizes the result: by f, or by a kernel of expr,
// limited to what is not below zero where rectified, where expr is not nil and the integers are bytes.
func quantizedBinary(name string, rectified bool, expr func(b *kernel.Builder, x, y kernel.Value) kernel.Value, f func(a, b *tensor.Tensor) *tensor.Tensor) define.Definition {
	programs := &elementwise.BinaryPrograms{Expr: expr, Rectified: rectified}
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		a, b := c.Tensor(0), c.Tensor(1)
		elementwise.QuantizerOf(a)
		elementwise.QuantizerOf(b)
		source.Check(a.DType() == b.DType(), "%s operands should have same data type.", name)
		if expr != nil && elementwise.IsSmall(a) && elementwise.IsSmall(b) {
			return programs.On(a, b, outputQuantizer(c, 2))
		}
		out := f(elementwise.Dequantized(a), elementwise.Dequantized(b))
		return elementwise.Quantized(out, outputQuantizer(c, 2), a.DType())
	})
}

// quantizedCat joins quantized tensors under the given scale and zero point, or those of the first.
func quantizedCat(rectified bool) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		parts := c.Tensors(0)
		source.Check(len(parts) > 0, "Expected at least one tensor to concatenate")
		q := *elementwise.QuantizerOf(parts[0])
		q.Scale, q.ZeroPoint = c.FloatOr(2, q.Scale), int64(c.IntOr(3, int(q.ZeroPoint)))
		return views.JoinQuantized(parts, c.Int(1), &q, rectified)
	}
}

// quantizedRelu6 limits a quantized tensor to 0 through 6, over its memory where argument 1 says so.
func quantizedRelu6(c define.Call) *tensor.Tensor {
	x := c.Tensor(0)
	q := elementwise.QuantizerOf(x)
	if elementwise.IsSmall(x) {
		var dst *tensor.Tensor
		if c.Bool(1) {
			dst = x
		}
		return elementwise.LimitedNumbers(x, dst, 0, 6)
	}
	limited := elementwise.ClampBoth.Run(nil, []elementwise.Operand{elementwise.OfTensor(elementwise.Dequantized(x)), elementwise.OfScalar(tensor.Float(0)), elementwise.OfScalar(tensor.Float(6))})
	out := elementwise.Quantized(limited, q, x.DType())
	if !c.Bool(1) {
		return out
	}
	source.Throw(tensor.Copy(x, out))
	return x
}

func sumOf(b *kernel.Builder, x, y kernel.Value) kernel.Value { return b.Add(x, y) }

func productOf(b *kernel.Builder, x, y kernel.Value) kernel.Value { return b.Mul(x, y) }

var quantizedArithmeticFamily = []define.Definition{
	quantizedBinary("quantized::add", false, sumOf, func(a, b *tensor.Tensor) *tensor.Tensor { return elementwise.Add.On(a, b) }),
	quantizedBinary("quantized::add_relu", true, sumOf, func(a, b *tensor.Tensor) *tensor.Tensor { return elementwise.Relu.On(elementwise.Add.On(a, b)) }),
	quantizedBinary("quantized::mul", false, productOf, func(a, b *tensor.Tensor) *tensor.Tensor { return elementwise.Mul.On(a, b) }),
	quantizedBinary("quantized::mul_relu", true, productOf, func(a, b *tensor.Tensor) *tensor.Tensor { return elementwise.Relu.On(elementwise.Mul.On(a, b)) }),
	define.Giving("quantized::relu6", quantizedRelu6),
	define.Giving("quantized::cat", quantizedCat(false)),
	define.Giving("quantized::cat_relu", quantizedCat(true)),
}

package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var inf = math.Inf(1)

var (
	logicalAnd = elementwise("logical_and", ops.LogicType, binaryOp(kernel.And))
	logicalOr  = elementwise("logical_or", ops.LogicType, binaryOp(kernel.Or))
)

// scaleBy multiplies a tensor with a number.
func scaleBy(t *tensor.Tensor, f float64) *tensor.Tensor {
	return mul.run(nil, []operand{ofTensor(t), ofScalar(tensor.Float(f))})
}

// timesOwn multiplies a tensor with a number in the tensor's type, which the number must suit.
func timesOwn(t *tensor.Tensor, s tensor.Scalar) *tensor.Tensor {
	s.MustSuit(t.DType())
	return to(mul.run(nil, []operand{ofTensor(t), ofScalar(s)}), t.DType())
}

// addNumber adds a number to a tensor.
func addNumber(t *tensor.Tensor, f float64) *tensor.Tensor {
	return add.run(nil, []operand{ofTensor(t), ofScalar(tensor.Float(f))})
}

// into applies an operator to a tensor and a number, and writes the result to dst.
func (p *pointwise) into(dst, t *tensor.Tensor, f float64) {
	p.run(dst, []operand{ofTensor(t), ofScalar(tensor.Float(f))})
}

// withNumber applies an operator to a tensor and a number.
func (p *pointwise) withNumber(t *tensor.Tensor, f float64) *tensor.Tensor {
	return p.run(nil, []operand{ofTensor(t), ofScalar(tensor.Float(f))})
}

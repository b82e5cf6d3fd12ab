package elementwise

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var Inf = math.Inf(1)

var (
	LogicalAnd = New("logical_and", ops.LogicType, binaryOp(kernel.And))
	LogicalOr  = New("logical_or", ops.LogicType, binaryOp(kernel.Or))
)

// ScaleBy multiplies a tensor with a number.
func ScaleBy(t *tensor.Tensor, f float64) *tensor.Tensor {
	return Mul.Run(nil, []Operand{OfTensor(t), OfScalar(tensor.Float(f))})
}

// TimesOwn multiplies a tensor with a number in the tensor's type, which the number must suit.
func TimesOwn(t *tensor.Tensor, s tensor.Scalar) *tensor.Tensor {
	s.MustSuit(t.DType())
	return To(Mul.Run(nil, []Operand{OfTensor(t), OfScalar(s)}), t.DType())
}

// AddNumber adds a number to a tensor.
func AddNumber(t *tensor.Tensor, f float64) *tensor.Tensor {
	return Add.Run(nil, []Operand{OfTensor(t), OfScalar(tensor.Float(f))})
}

// Into applies an operator to a tensor and a number, and writes the result to dst.
func (p *Operator) Into(dst, t *tensor.Tensor, f float64) {
	p.Run(dst, []Operand{OfTensor(t), OfScalar(tensor.Float(f))})
}

// WithNumber applies an operator to a tensor and a number.
func (p *Operator) WithNumber(t *tensor.Tensor, f float64) *tensor.Tensor {
	return p.Run(nil, []Operand{OfTensor(t), OfScalar(tensor.Float(f))})
}

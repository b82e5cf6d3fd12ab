package nn

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// activationGradients are the records of the gradients of activations: of the gradient of the result, of the argument and of some numbers.
var activationGradients = []ops.Def{
	{Name: "threshold_backward", Tags: ops.Unfused | ops.InGroups, Operands: 2, Numbers: 1, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Le, x[1], x[2]), b.Number(x[0], 0), x[0])
	}},
	{Name: "leaky_relu_backward", Tags: ops.Unfused | ops.InGroups, Operands: 2, Numbers: 1, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Gt, x[1], b.Number(x[1], 0)), x[0], b.Mul(x[0], x[2]))
	}},
	{Name: "hardtanh_backward", Tags: ops.Unfused | ops.InGroups, Operands: 2, Numbers: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Select(b.Binary(kernel.Or, b.Binary(kernel.Le, x[1], x[2]), b.Binary(kernel.Ge, x[1], x[3])), b.Number(x[0], 0), x[0])
	}},
	{Name: "hardsigmoid_backward", Tags: ops.Unfused | ops.InGroups, Operands: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		inside := b.Binary(kernel.And, b.Binary(kernel.Gt, x[1], b.Number(x[1], -3)), b.Binary(kernel.Lt, x[1], b.Number(x[1], 3)))
		return b.Select(inside, b.Mul(x[0], b.Number(x[0], 1./6)), b.Number(x[0], 0))
	}},
	{Name: "hardswish_backward", Tags: ops.Unfused | ops.InGroups, Operands: 2, Scalar: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		middle := b.Mul(x[0], b.Add(b.Div(x[1], b.Number(x[1], 3)), b.Number(x[1], 0.5)))
		return b.Select(b.Binary(kernel.Lt, x[1], b.Number(x[1], -3)), b.Number(x[0], 0), b.Select(b.Binary(kernel.Le, x[1], b.Number(x[1], 3)), middle, x[0]))
	}},
	{Name: "hardshrink_backward", Tags: ops.Unfused | ops.InGroups, Operands: 2, Numbers: 1, Scalar: insideZero},
	{Name: "softshrink_backward", Tags: ops.Unfused | ops.InGroups, Operands: 2, Numbers: 1, Scalar: insideZero},
}

// insideZero has no gradient from -x[2] to x[2].
func insideZero(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	inside := b.Binary(kernel.And, b.Binary(kernel.Ge, x[1], b.Neg(x[2])), b.Binary(kernel.Le, x[1], x[2]))
	return b.Select(inside, b.Number(x[0], 0), x[0])
}

var eluGradients = [...]*elementwise.Operator{
	elementwise.New("elu_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		below := b.Mul(b.Mul(b.Mul(x[0], x[4]), b.Mul(x[2], x[3])), b.Exp(b.Mul(x[1], x[4])))
		return b.Select(b.Binary(kernel.Le, x[1], b.Number(x[1], 0)), below, b.Mul(x[0], x[3]))
	}),
	elementwise.New("elu_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element { // of the result
		below := b.Mul(b.Mul(x[0], x[4]), b.Add(x[1], b.Mul(x[2], x[3])))
		return b.Select(b.Binary(kernel.Le, x[1], b.Number(x[1], 0)), below, b.Mul(x[0], x[3]))
	}),
}

// eluGradient is the record of the gradient of elu, of its argument or of its result.
var eluGradient = []ops.Def{{Name: "elu_backward", Into: elementwise.Into(func(c define.Call, dst *tensor.Tensor) *tensor.Tensor {
	return eluGradients[define.Btoi(c.Bool(4))].Run(dst, []elementwise.Operand{elementwise.OfTensor(c.Tensor(0)), elementwise.OfTensor(c.Tensor(5))}, c.Scalar(1), c.Scalar(2), c.Scalar(3))
})}}

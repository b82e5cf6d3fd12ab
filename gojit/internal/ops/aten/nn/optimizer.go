package nn

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Steps of optimizers as one kernel for a parameter: what the operators one after the other compute, in the same order and with the same bits.
var (
	momentumStep = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		parameter, gradient, sum := b.Input(in, computed), b.Input(in, computed), b.Input(in, computed)
		momentum, taken, rate := b.Param(computed), b.Param(computed), b.Param(computed)
		sum = b.Add(b.Mul(sum, momentum), b.Mul(taken, gradient))
		b.Output(b.Add(parameter, b.Mul(rate, sum)), in)
		b.Output(sum, in)
	}}
	adamStep = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		parameter, gradient, mean, square := b.Input(in, computed), b.Input(in, computed), b.Input(in, computed), b.Input(in, computed)
		kept, beta1, taken1, beta2, taken2 := b.Param(computed), b.Param(computed), b.Param(computed), b.Param(computed), b.Param(computed)
		root, eps, rate := b.Param(computed), b.Param(computed), b.Param(computed)
		mean = b.Add(b.Mul(mean, beta1), b.Mul(taken1, gradient))
		square = b.Add(b.Mul(square, beta2), b.Mul(taken2, b.Mul(gradient, gradient)))
		denominator := b.Add(b.Div(b.Unary(kernel.Sqrt, square), root), eps)
		b.Output(b.Add(b.Mul(parameter, kept), b.Mul(rate, b.Div(mean, denominator))), in)
		b.Output(mean, in)
		b.Output(square, in)
	}}
)

// MomentumStep multiplies sum by the momentum, adds the gradient times taken, and adds that times rate to the parameter. It reports whether it
// did: the tensors have to lie alike, and apart.
func MomentumStep(parameter, gradient, sum *tensor.Tensor, momentum, taken, rate float64) bool {
	return stepTogether(momentumStep, []*tensor.Tensor{parameter, sum}, []*tensor.Tensor{parameter, gradient, sum}, momentum, taken, rate)
}

// AdamNumbers are what a step of Adam is computed with: the parameter is multiplied by Kept, moves by Rate times the mean over the root of the
// square, divided by Root, plus Eps.
type AdamNumbers struct{ Kept, Beta1, Beta2, Root, Eps, Rate float64 }

// AdamStep moves the mean of gradients and that of their squares, and then the parameter. It reports whether it did, as MomentumStep does.
func AdamStep(parameter, gradient, mean, square *tensor.Tensor, n AdamNumbers) bool {
	return stepTogether(adamStep, []*tensor.Tensor{parameter, mean, square}, []*tensor.Tensor{parameter, gradient, mean, square},
		n.Kept, n.Beta1, 1-n.Beta1, n.Beta2, 1-n.Beta2, n.Root, n.Eps, n.Rate)
}

func stepTogether(k *reduce.RowKernel, written, read []*tensor.Tensor, numbers ...float64) bool {
	if !lieAlike(read) {
		return false
	}
	params := make([]tensor.Scalar, len(numbers))
	for i, n := range numbers {
		params[i] = tensor.Float(n)
	}
	d := read[0].DType()
	k.Program(d, d).Run(slices.Concat(written, read), params)
	for _, t := range written {
		t.Bump()
	}
	return true
}

// lieAlike reports whether tensors are plain ones of float32 or float64 in the processor's memory, of one layout without gaps, in memory of their own.
func lieAlike(ts []*tensor.Tensor) bool {
	first := ts[0]
	if d := first.DType(); d != tensor.Float32 && d != tensor.Float64 || !first.IsNonOverlappingAndDense() {
		return false
	}
	for i, t := range ts {
		if t.Device().Type != tensor.CPU || t.Dispatches() || t.IsSparse() || t.IsHollow() || t.IsInference() || t.Names() != nil || t.DType() != first.DType() ||
			!tensor.SameShape(t.Shape(), first.Shape()) || !slices.Equal(t.Strides(), first.Strides()) ||
			slices.ContainsFunc(ts[:i], t.SharesStorage) {
			return false
		}
	}
	return true
}

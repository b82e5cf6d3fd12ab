package linalg

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// dot is the sum of the products of two vectors' elements.
func dot(a, b *tensor.Tensor) *tensor.Tensor {
	source.Check(a.Dim() == 1 && b.Dim() == 1, "1D tensors expected, but got %dD and %dD tensors", a.Dim(), b.Dim())
	source.Check(a.DType() == b.DType(), "dot : expected both vectors to have same dtype, but found %s and %s", a.DType().CppName(), b.DType().CppName())
	source.Check(a.Numel() == b.Numel(), "inconsistent tensor size, expected tensor [%d] and src [%d] to have the same number of elements, but got %d and %d elements respectively", a.Numel(), b.Numel(), a.Numel(), b.Numel())
	source.Check(a.DType() != tensor.Bool, "\"dot\" not implemented for 'Bool'")
	switch {
	case a.OnDevice(): // a product, as others
	case isWhole(a.DType()) && a.IsContiguous() && b.IsContiguous() && a.Numel() > 0:
		return dotsOfIntegers(a, b, nil)
	case a.DType() == tensor.Complex64 || a.DType() == tensor.Complex128:
		return complexDot(elementwise.Contiguous(a), elementwise.Contiguous(b))
	case (a.DType() == tensor.Float16 || a.DType() == tensor.BFloat16) && a.Numel() > 0:
		return dotOfSmallFloats(elementwise.Contiguous(a), elementwise.Contiguous(b))
	}
	return source.Must(Products(source.Must(a.Unsqueeze(0)), source.Must(b.Unsqueeze(1))).Reshape())
}

// complexDot is the dot product of contiguous vectors of complex numbers.
func complexDot(a, b *tensor.Tensor) *tensor.Tensor {
	d, n := a.DType(), a.Numel()
	out := define.Empty(nil, d)
	re, im := reduce.PartRows(out)
	p := complexDots.Of(d, func(b *kernel.Builder) {
		product := b.Mul(b.Input(d, d), b.Input(d, d))
		b.Reduce(kernel.ReduceSum, b.Unary(kernel.Real, product), d.ToReal())
		b.Reduce(kernel.ReduceSum, b.Unary(kernel.Imag, product), d.ToReal())
	})
	p.ParallelRows(1, n, []launch.Row{re, im, launch.RowOf(a, n), launch.RowOf(b, n)}, nil)
	return out
}

var complexDots, smallFloatDots elementwise.TypePrograms

// dotOfSmallFloats is the dot product of contiguous vectors of floats of 16 bits, added up in float32.
func dotOfSmallFloats(a, b *tensor.Tensor) *tensor.Tensor {
	d, n := a.DType(), a.Numel()
	out := define.Empty(nil, d)
	p := smallFloatDots.Of(d, func(b *kernel.Builder) {
		b.Reduce(kernel.ReduceSum, b.Mul(b.Input(d, tensor.Float32), b.Input(d, tensor.Float32)), d)
	})
	p.ParallelRows(1, n, []launch.Row{launch.SingleOf(out), launch.RowOf(a, n), launch.RowOf(b, n)}, nil)
	return out
}

// isWhole reports whether a type has whole numbers.
func isWhole(d tensor.DType) bool { return d.IsIntegral() && d != tensor.Bool }

// dotReducers keeps the program of each type of integers.
var dotReducers elementwise.TypePrograms

// dotsOfIntegers gives the sum of products with x of each row of a, in the shape of the rows. Sums wrap as those of the type do.
func dotsOfIntegers(a, x *tensor.Tensor, shape []int) *tensor.Tensor {
	d, computed := a.DType(), tensor.Int64
	if d == tensor.Int32 {
		computed = d
	}
	p := dotReducers.Of(d, func(b *kernel.Builder) {
		b.Reduce(kernel.ReduceSum, b.Mul(b.Input(d, computed), b.Input(d, computed)), d)
	})
	out, n := define.Empty(shape, d), x.Numel()
	p.ParallelRows(a.Numel()/n, n, []launch.Row{launch.SingleOf(out), launch.RowOf(a, n), {Ptr: x.DataPtr()}}, nil)
	return out
}

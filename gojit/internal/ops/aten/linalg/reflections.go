package linalg

import (
	"github.com/torchjit/torchjit/gojit/internal/linalg/lapack"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

var ReflectionFamily = []define.Definition{
	define.Operator("geqrf", func(c define.Call) { c.Give(define.Pair(householder(c.Tensor(0)))...) }).ByColumns(0),
	define.Giving("linalg_householder_product", func(c define.Call) *tensor.Tensor {
		return productOfReflections(c.Tensor(0), c.Tensor(1))
	}).ByColumns(0).With(ops.Def{Aliases: []string{"orgqr"}}),
	define.Giving("ormqr", func(c define.Call) *tensor.Tensor {
		return timesReflections(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Bool(3), c.Bool(4))
	}).ByColumns(0),
}

// productOfReflections gives the first columns of the product Q of the reflections that geqrf leaves in matrices, as many as these have.
func productOfReflections(packed, factors *tensor.Tensor) *tensor.Tensor {
	const name = "torch.linalg.householder_product"
	source.Check(packed.Dim() >= 2, "%s: input must have at least 2 dimensions.", name)
	rows, columns, count := packed.Size(packed.Dim()-2), packed.Size(packed.Dim()-1), lastSize(factors)
	source.Check(rows >= columns, "%s: input.shape[-2] must be greater than or equal to input.shape[-1]", name)
	source.Check(columns >= count, "%s: input.shape[-1] must be greater than or equal to tau.shape[-1]", name)
	checkFactors(name, packed, factors)
	source.Check(factors.DType() == packed.DType(), "%s: tau dtype %s does not match input dtype %s", name, factors.DType().CppName(), packed.DType().CppName())
	reflectable("orgqr_cpu", packed)
	if q := productLibrary(packed, factors); q != nil {
		return q
	}
	q := define.Zeros(packed.Shape(), packed.DType())
	tensor.Fill(source.Must(q.Diagonal(0, -2, -1)), tensor.Int(1))
	applyReflections(q, packed, factors, false)
	return q
}

// timesReflections multiplies matrices by the product Q of the reflections that geqrf leaves in others, or by its adjoint, from the left or the right.
func timesReflections(packed, factors, other *tensor.Tensor, left, adjoint bool) *tensor.Tensor {
	const name = "torch.ormqr"
	source.Check(packed.Dim() >= 2, "%s: input must have at least 2 dimensions.", name)
	source.Check(other.Dim() >= 2, "%s: other must have at least 2 dimensions.", name)
	side := -1
	if left {
		side = -2
	}
	rows, columns, count, size := packed.Size(packed.Dim()-2), packed.Size(packed.Dim()-1), lastSize(factors), other.Size(other.Dim()+side)
	source.Check(size >= count, "%s: other.shape[%d] must be greater than or equal to tau.shape[-1]", name, side)
	source.Check(size == rows, "%s: other.shape[%d] must be equal to input.shape[-2]", name, side)
	source.Check(count <= columns, "%s: tau.shape[-1] must be less than or equal to input.shape[-1]", name)
	source.Check(count <= rows, "%s: tau.shape[-1] must be less than or equal to input.shape[-2]", name)
	checkFactors(name, packed, factors)
	source.Check(other.Dim() == packed.Dim(), "%s: Expected other to have the same number of dimensions as input, but got other.ndim equal to %d and input.ndim is equal to %d",
		name, other.Dim(), packed.Dim())
	source.Check(tensor.SameShape(lead(other), lead(packed)), "%s: Expected batch dimensions of other to be equal to input.shape[:-2], but got %s", name, define.ShapeText(lead(other)))
	for _, t := range []struct {
		name string
		*tensor.Tensor
	}{{"tau", factors}, {"other", other}} {
		source.Check(t.DType() == packed.DType(), "%s: Expected input and %s to have the same dtype, but input has dtype%s and %s has dtype %s",
			name, t.name, packed.DType().CppName(), t.name, t.DType().CppName())
	}
	reflectable("ormqr_cpu", packed)
	if out := timesLibrary(packed, factors, other, left, adjoint); out != nil {
		return out
	}
	if left {
		out := source.Must(other.Clone(tensor.ContiguousFormat))
		applyReflections(out, packed, factors, adjoint)
		return out
	}
	turned := func(t *tensor.Tensor) *tensor.Tensor { return elementwise.Conjugate(source.Must(t.MatrixTranspose())) }
	out := source.Must(turned(other).Clone(tensor.ContiguousFormat)) // C Q is the adjoint of Q' C'
	applyReflections(out, packed, factors, !adjoint)
	return turned(out)
}

// checkFactors fails where there is no row of factors for each matrix of reflections.
func checkFactors(name string, packed, factors *tensor.Tensor) {
	source.Check(factors.Dim() == packed.Dim()-1, "%s: Expected tau to have one dimension less than input, but got tau.ndim equal to %d and input.ndim is equal to %d",
		name, factors.Dim(), packed.Dim())
	own := factors.Shape()[:factors.Dim()-1]
	source.Check(tensor.SameShape(own, lead(packed)), "%s: Expected batch dimensions of tau to be equal to input.shape[:-2], but got %s", name, define.ShapeText(own))
}

func reflectable(name string, packed *tensor.Tensor) {
	if d := packed.DType(); d != tensor.Float32 && d != tensor.Float64 && d != tensor.Complex64 && d != tensor.Complex128 {
		source.Raise(source.RuntimeError, "\"%s\" not implemented for '%s'", name, d.CppName())
	}
}

func lastSize(t *tensor.Tensor) int {
	if t.Dim() == 0 {
		return 1
	}
	return t.Size(t.Dim() - 1)
}

// reflect multiplies contiguous matrices in place by Q or its adjoint from the left.
func applyReflections(to, packed, factors *tensor.Tensor, adjoint bool) {
	packed, factors = elementwise.Contiguous(packed), elementwise.Contiguous(factors)
	onFactored(to.DType(), func() { reflectMatrices[float32](to, packed, factors, adjoint) }, func() { reflectMatrices[float64](to, packed, factors, adjoint) },
		func() { reflectMatrices[complex64](to, packed, factors, adjoint) }, func() { reflectMatrices[complex128](to, packed, factors, adjoint) })
}

func reflectMatrices[T factored](to, packed, factors *tensor.Tensor, adjoint bool) {
	if to.Numel() == 0 || factors.Numel() == 0 {
		return
	}
	rows, stride, width, count := packed.Size(packed.Dim()-2), packed.Size(packed.Dim()-1), lastSize(to), lastSize(factors)
	data, vectors, all := tensor.Data[T](to), tensor.Data[T](packed), tensor.Data[T](factors)
	eachMatrix(define.NumelOf(lead(packed)), 4*rows*width*count, func(m int) {
		q := lapack.PackedReflections(rows, vectors[m*rows*stride:][:rows*stride], stride, all[m*count:][:count])
		q.Apply(width, data[m*rows*width:][:rows*width], width, adjoint)
	})
}

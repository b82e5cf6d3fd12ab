package linalg

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/linalg/lapack"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ldlFactors are the packed factors of symmetric or Hermitian matrices, the exchanges of rows, and where a block is zero.
func ldlFactors(a *tensor.Tensor, hermitian bool) (packed, pivots *tensor.Tensor, info []int32) {
	n, count := squareMatrices("torch.linalg.ldl_factor_ex", a)
	if a.OnDevice() {
		return ldlFactorsThere(a, n, hermitian)
	}
	packed, pivots, info = writable(a, a.DType()), define.Empty(lead(a, n), tensor.Int32), make([]int32, count)
	onFactored(a.DType(), func() { ldlEach[float32](packed, pivots, info, n, hermitian) }, func() { ldlEach[float64](packed, pivots, info, n, hermitian) },
		func() { ldlEach[complex64](packed, pivots, info, n, hermitian) }, func() { ldlEach[complex128](packed, pivots, info, n, hermitian) })
	return packed, pivots, info
}

func ldlEach[T factored](packed, pivots *tensor.Tensor, info []int32, n int, hermitian bool) {
	data, rows := tensor.Data[T](packed), tensor.Data[int32](pivots)
	eachMatrix(len(info), n*n*n/3, func(m int) {
		info[m] = int32(lapack.LDL(n, data[m*n*n:][:n*n], n, hermitian, rows[m*n:][:n]))
	})
}

// mustHaveBlocks fails where a block of D is zero.
func mustHaveBlocks(name string, a *tensor.Tensor, info []int32) {
	if m, at := firstFailure(info); at != 0 {
		source.Raise(source.RuntimeError, "%s: %sUnknown error code: %d.", name, batchElement(a.Shape()[:a.Dim()-2], m), at)
	}
}

// ldlSolve solves with the factors of matrices.
func ldlSolve(packed, pivots, b *tensor.Tensor, hermitian bool) *tensor.Tensor {
	const name = "torch.linalg.ldl_solve"
	n, _ := squareMatrices(name, packed)
	if b.Dim() < 2 {
		source.Raise(source.IndexError, "Dimension out of range (expected to be in range of [%d, %d], but got -2)", -max(b.Dim(), 1), max(b.Dim(), 1)-1)
	}
	source.Check(b.Size(b.Dim()-2) == n, "Incompatible matrix sizes for %s: each A matrix is %d by %d but each b matrix is %d by %d", name, n, n, b.Size(b.Dim()-2), b.Size(b.Dim()-1))
	source.Check(tensor.SameShape(pivots.Shape(), packed.Shape()[:packed.Dim()-1]), "%s: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape %s instead", name, define.ShapeText(pivots.Shape()))
	source.Check(pivots.DType().IsIntegral() && pivots.DType() != tensor.Bool, "%s: Expected pivots to be integers. Got %s", name, pivots.DType().CppName())
	source.Check(b.DType() == packed.DType(), "Expected b and A to have the same dtype, but found b of type %s and A of type %s instead.", b.DType().CppName(), packed.DType().CppName())
	batch := source.Must(tensor.Broadcast(packed.Shape()[:packed.Dim()-2], b.Shape()[:b.Dim()-2]))
	expanded := func(t *tensor.Tensor, tail ...int) *tensor.Tensor {
		return source.Must(t.Expand(append(slices.Clone(batch), tail...)...))
	}
	factors, rows := elementwise.Contiguous(expanded(packed, n, n)), elementwise.Contiguous(expanded(elementwise.To(pivots, tensor.Int32), n))
	here := tensor.Data[int32](source.Must(rows.ToDevice(tensor.Device{})))
	for m := range define.NumelOf(batch) {
		checkPivots(name, here[m*n:][:n])
	}
	if b.OnDevice() {
		return ldlSolveThere(factors, rows, expanded(b, n, b.Size(b.Dim()-1)), n, hermitian)
	}
	out := writable(expanded(b, n, b.Size(b.Dim()-1)), b.DType())
	onFactored(b.DType(), func() { ldlSolveEach[float32](factors, rows, out, n, hermitian) }, func() { ldlSolveEach[float64](factors, rows, out, n, hermitian) },
		func() { ldlSolveEach[complex64](factors, rows, out, n, hermitian) }, func() { ldlSolveEach[complex128](factors, rows, out, n, hermitian) })
	return out
}

// checkPivots fails on exchanges that no factorization gives: rows that are not there, half a block of two.
func checkPivots(name string, rows []int32) {
	n := int32(len(rows))
	for i := 0; i < len(rows); i++ {
		with := rows[i]
		source.Check(with != 0 && with <= n && with >= -n, "%s: pivots must lie in [1, %d], or in [-%d, -1] for blocks of two rows, but got %d", name, n, n, with)
		if with < 0 {
			i++
			source.Check(i < len(rows) && rows[i] == with, "%s: pivot %d is that of a block of two rows, of which one is missing", name, with)
		}
	}
}

func ldlSolveEach[T factored](packed, pivots, b *tensor.Tensor, n int, hermitian bool) {
	data, rows, x := tensor.Data[T](packed), tensor.Data[int32](pivots), tensor.Data[T](b)
	columns := b.Size(b.Dim() - 1)
	eachMatrix(define.NumelOf(b.Shape()[:b.Dim()-2]), 2*n*n*columns, func(m int) {
		lapack.SolveLDL(n, data[m*n*n:][:n*n], n, hermitian, rows[m*n:][:n], x[m*n*columns:][:n*columns], columns, columns)
	})
}

var LdlFamily = []define.Definition{
	define.Operator("linalg_ldl_factor", func(c define.Call) {
		packed, pivots, info := ldlFactors(c.Tensor(0), c.Bool(1))
		mustHaveBlocks("torch.linalg.ldl_factor", c.Tensor(0), info)
		c.Give(packed, pivots)
	}).ByColumns(0),
	define.Operator("linalg_ldl_factor_ex", func(c define.Call) {
		packed, pivots, info := ldlFactors(c.Tensor(0), c.Bool(1))
		if c.Bool(2) {
			mustHaveBlocks("torch.linalg.ldl_factor_ex", c.Tensor(0), info)
		}
		c.Give(packed, pivots, source.Must(source.Must(tensor.FromSlice(info, lead(c.Tensor(0))...)).ToDevice(packed.Device())))
	}).ByColumns(0),
	define.Giving("linalg_ldl_solve", func(c define.Call) *tensor.Tensor {
		return ldlSolve(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Bool(3))
	}).ByColumns(0),
}

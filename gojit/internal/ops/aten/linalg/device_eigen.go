package linalg

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// wideOf is the type in which devices decompose matrices of a type.
func wideOf(d tensor.DType) tensor.DType {
	if d.IsComplex() {
		return tensor.Complex128
	}
	return tensor.Float64
}

// decomposeThere runs a routine of the text "eigen" with a block of threads for each matrix, and returns what failed of each. The last tensor is for that.
func decomposeThere(text, entry string, d tensor.DType, tensors []*tensor.Tensor, numbers ...int64) []int32 {
	failed := tensors[len(tensors)-1]
	if failed.Numel() == 0 {
		return nil
	}
	parts := 1
	if d.IsComplex() {
		parts = 2
	}
	r := kernel.Routine{Text: text, Entry: entry, Types: []tensor.DType{tensor.Float64}, Sizes: []int{parts}, Blocks: failed.Numel()}
	source.Throw(elementwise.LaunchRoutine(r, tensors, numbers...))
	return tensor.Data[int32](source.Must(failed.ToDevice(tensor.Device{})))
}

// eigenSymmetricThere is eigenSymmetric on a device.
func eigenSymmetricThere(a *tensor.Tensor, n int, upper, wantVectors bool) (values, vectors *tensor.Tensor, failed []int32) {
	if values, vectors, failed, ok := symmetricLibrary(a, n, upper, wantVectors); ok {
		return values, vectors, failed
	}
	work := writable(a, wideOf(a.DType()))
	values, vectors = room(a, tensor.Float64, n), work
	place := work
	if wantVectors {
		vectors, place = room(a, work.DType(), n, n), room(a, work.DType(), n, n)
	}
	tensors := []*tensor.Tensor{values, vectors, work, place, room(a, tensor.Float64, n+1, 4), room(a, tensor.Int32)}
	failed = decomposeThere("eigen_symmetric", "symmetric", a.DType(), tensors, int64(n), int64(define.Btoi(wantVectors)), int64(define.Btoi(upper)))
	values = elementwise.To(values, a.DType().ToReal())
	if wantVectors {
		return values, elementwise.To(vectors, a.DType()), failed
	}
	return values, nil, failed
}

// singularThere is singularEach on a device.
func singularThere(a *tensor.Tensor, rows, columns, width int, wantVectors bool) (u, s, v *tensor.Tensor, failed []int32) {
	if u, s, v, failed, ok := singularLibrary(a, rows, columns, width, wantVectors); ok {
		return u, s, v, failed
	}
	work := writable(source.Must(a.MatrixTranspose()), wideOf(a.DType()))
	s = room(a, tensor.Float64, columns)
	u, v, place := work, work, work
	if wantVectors {
		u, v, place = room(a, work.DType(), rows, width), room(a, work.DType(), columns, columns), room(a, work.DType(), columns, columns)
	} else {
		width = 0
	}
	tensors := []*tensor.Tensor{s, u, v, work, place, room(a, tensor.Float64, columns), room(a, tensor.Int32)}
	failed = decomposeThere("eigen_singular", "singular", a.DType(), tensors, int64(rows), int64(columns), int64(width))
	s = elementwise.To(s, a.DType().ToReal())
	if !wantVectors {
		return nil, s, nil, failed
	}
	return elementwise.To(u, a.DType()), s, elementwise.To(v, a.DType()), failed
}

// eigenGeneralThere is eigenGeneral on a device.
func eigenGeneralThere(name string, a *tensor.Tensor, n int, wantVectors bool) (values, vectors *tensor.Tensor) {
	const d = tensor.Complex128
	work := writable(a, d)
	values, vectors = room(a, d, n), work
	turned, triangle := work, work
	if wantVectors {
		vectors, turned, triangle = room(a, d, n, n), room(a, d, n, n), room(a, d, n, n)
	}
	tensors := []*tensor.Tensor{values, vectors, work, turned, triangle, room(a, d, 2, n), room(a, tensor.Int32)}
	for _, at := range decomposeThere("eigen_general", "general", d, tensors, int64(n), int64(define.Btoi(wantVectors))) {
		source.Check(at != notFinite, "torch.%s: input tensor should not contain infs or NaNs.", name)
		if at != 0 {
			source.Raise(linalgError, "torch.%s: the algorithm failed to converge", name)
		}
	}
	values = elementwise.To(values, a.DType().ToComplex())
	if wantVectors {
		return values, elementwise.To(vectors, a.DType().ToComplex())
	}
	return values, nil
}

// ldlFactorsThere is ldlFactors on a device.
func ldlFactorsThere(a *tensor.Tensor, n int, hermitian bool) (packed, pivots *tensor.Tensor, info []int32) {
	packed = writable(a, wideOf(a.DType()))
	pivots = room(a, tensor.Int32, n)
	tensors := []*tensor.Tensor{packed, pivots, room(a, packed.DType(), 2, n), room(a, tensor.Int32)}
	info = decomposeThere("eigen_ldl", "factors", a.DType(), tensors, int64(n), int64(define.Btoi(hermitian)))
	return elementwise.To(packed, a.DType()), pivots, info
}

// ldlSolveThere solves on a device with contiguous factors and checked pivots, for right sides of their batch.
func ldlSolveThere(factors, pivots, b *tensor.Tensor, n int, hermitian bool) *tensor.Tensor {
	d, columns := wideOf(b.DType()), b.Size(b.Dim()-1)
	x := writable(b, d)
	if x.Numel() == 0 {
		return elementwise.To(x, b.DType())
	}
	parts := 1
	if d.IsComplex() {
		parts = 2
	}
	r := kernel.Routine{Text: "eigen_ldl", Entry: "solution", Types: []tensor.DType{tensor.Float64}, Sizes: []int{parts}, Threads: x.Numel() / n}
	tensors := []*tensor.Tensor{x, elementwise.Contiguous(elementwise.To(factors, d)), pivots}
	source.Throw(elementwise.LaunchRoutine(r, tensors, int64(n), int64(define.Btoi(hermitian)), int64(columns)))
	return elementwise.To(x, b.DType())
}

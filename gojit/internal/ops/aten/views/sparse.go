package views

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// LayoutName is how messages name a layout.
func LayoutName(l tensor.Layout) string {
	return map[tensor.Layout]string{tensor.Strided: "Strided", tensor.SparseCOO: "Sparse", tensor.SparseCSR: "SparseCsr",
		tensor.SparseCSC: "SparseCsc", tensor.SparseBSR: "SparseBsr", tensor.SparseBSC: "SparseBsc"}[l]
}

// Coo makes a tensor of parts that fit. One with a single value is coalesced anyway.
func Coo(shape []int, indices, values *tensor.Tensor, coalesced bool) *tensor.Tensor {
	return source.Must(tensor.NewSparse(shape, tensor.Sparse{Layout: tensor.SparseCOO, Indices: indices, Values: values, Coalesced: coalesced || indices.Size(1) < 2}))
}

// EmptyCOO makes a tensor without values.
func EmptyCOO(shape []int, sparseDim int, d tensor.DType) *tensor.Tensor {
	return Coo(shape, define.Empty([]int{sparseDim, 0}, tensor.Int64), define.Empty(slices.Concat([]int{0}, shape[sparseDim:]), d), true)
}

// Compressed returns a tensor in a compressed layout of its parts.
func Compressed(shape []int, indices, plain, values *tensor.Tensor, l tensor.Layout) *tensor.Tensor {
	return source.Must(tensor.NewSparse(shape, tensor.Sparse{Layout: l, Indices: indices, Plain: plain, Values: values}))
}

// EmptyCompressed makes a tensor without values.
func EmptyCompressed(shape []int, l tensor.Layout, d tensor.DType, block []int) *tensor.Tensor {
	batch := len(shape) - 2
	size := 1
	if block != nil {
		size = block[0]
	}
	rows := shape[batch] / size
	if !l.ByRows() {
		if block != nil {
			size = block[1]
		}
		rows = shape[batch+1] / size
	}
	lead := shape[:batch]
	return Compressed(shape, define.Zeros(slices.Concat(lead, []int{rows + 1}), tensor.Int64), define.Empty(slices.Concat(lead, []int{0}), tensor.Int64),
		define.Empty(slices.Concat(lead, []int{0}, block), d), l)
}

// RefuseElsewhere fails where options, which start at argument i, ask for a tensor that is not the processor's.
func RefuseElsewhere(c define.Call, i int) {
	if d := c.DeviceOr(i+2, tensor.Device{}); d.Type != tensor.CPU {
		source.Raise(source.NotImplementedError, "sparse tensors on the device %s are not implemented", d)
	}
}

// LayoutOf reads the layout of options, which start at argument i.
func LayoutOf(c define.Call, i int, none tensor.Layout) tensor.Layout {
	if c.IsNone(i + 1) {
		return none
	}
	l := tensor.Layout(c.Int(i + 1))
	source.Check(l.Valid(), "layout %d is not supported", c.Int(i+1))
	return l
}

// ZerosLayout makes a sparse tensor without values.
func ZerosLayout(shape []int, layout tensor.Layout, sparseDim int, d tensor.DType, block []int) *tensor.Tensor {
	_ = source.Must(tensor.SparseNumel(shape))
	if layout == tensor.MKLDNN {
		return Opaque(define.Zeros(shape, d))
	}
	if layout == tensor.SparseCOO {
		return EmptyCOO(shape, sparseDim, d)
	}
	if layout.Blocked() && block == nil {
		source.Raise(source.RuntimeError, "\"empty_sparse_compressed\" expected sparse compressed (non-block) tensor layout but got %s", LayoutName(layout))
	}
	source.Check(len(shape) >= 2, "torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size %s", define.ShapeText(shape))
	return EmptyCompressed(shape, layout, d, block)
}

// wantsSparse reports whether options from argument i on ask for a sparse layout.
func wantsSparse(c define.Call, i int) bool {
	return !c.IsNone(i+1) && c.Int(i+1) != int(tensor.Strided)
}

// sparseOfOptions is what a function gives that is asked for a tensor in a sparse layout by options from argument i on.
func sparseOfOptions(c define.Call, name string, i int) *tensor.Tensor {
	RefuseElsewhere(c, i)
	layout, d := LayoutOf(c, i, tensor.Strided), c.DtypeOr(i, tensor.DefaultDType())
	shape := []int(nil)
	switch name {
	case "zeros", "empty.memory_format":
		shape = c.Ints(0)
	case "zeros_like", "empty_like":
		shape, d = c.Tensor(0).Shape(), c.DtypeOr(i, c.Tensor(0).DType())
	case "new_zeros", "new_empty":
		shape, d = c.Ints(1), c.DtypeOr(i, c.Tensor(0).DType())
	case "full", "ones":
		source.Check(false, "full(...) is not implemented for sparse layout")
	default:
		if layout.Compressed() {
			define.RefuseBackend(define.Key(name), "SparseCsrCPU")
		}
		define.RefuseBackend(define.Key(name), "SparseCPU")
	}
	return ZerosLayout(shape, layout, len(shape), d, nil)
}

// Opaque returns a tensor in the layout _mkldnn with the elements of t.
func Opaque(t *tensor.Tensor) *tensor.Tensor {
	source.Check(t.DType() == tensor.Float32 || t.DType() == tensor.BFloat16, "dense_to_mkldnn expects float or bfloat16 tensor input")
	return source.Must(tensor.NewSparse(t.Shape(), tensor.Sparse{Layout: tensor.MKLDNN, Values: t}))
}

package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparseConversions are copies and conversions of sparse tensors.
var sparseConversions = []ops.Def{
	{Name: "to_dense", Sparse: sparseGiving(toDenseForm)},
	{Name: "_to_dense", Sparse: sparseGiving(toDenseForm)},
	{Name: "to_dense_backward", Sparse: sparseGiving(func(c call) *tensor.Tensor { return toDenseGradient(c.tensor(0), c.tensor(1)) })},
	{Name: "to_sparse", Sparse: sparseGiving(func(c call) *tensor.Tensor { return compressedOnly("to_sparse", c.tensor(0)) })},
	{Name: "to_sparse.sparse_dim", Sparse: sparseGiving(toSparseDim)},
	{Name: "to_sparse_csr", Sparse: sparseGiving(func(c call) *tensor.Tensor { return toCompressed(c.tensor(0), tensor.SparseCSR, nil) })},
	{Name: "to_sparse_csc", Sparse: sparseGiving(func(c call) *tensor.Tensor { return toCompressed(c.tensor(0), tensor.SparseCSC, nil) })},
	{Name: "to_sparse_bsr", Sparse: sparseGiving(func(c call) *tensor.Tensor { return toCompressed(c.tensor(0), tensor.SparseBSR, c.ints(1)) })},
	{Name: "to_sparse_bsc", Sparse: sparseGiving(func(c call) *tensor.Tensor { return toCompressed(c.tensor(0), tensor.SparseBSC, c.ints(1)) })},
	{Name: "clone", Sparse: sparseGiving(func(c call) *tensor.Tensor { return must(c.tensor(0).Clone(tensor.PreserveFormat)) })},
	{Name: "contiguous", Sparse: sparseGiving(func(c call) *tensor.Tensor {
		check(!c.tensor(0).Layout().Compressed(), "Sparse CSR tensors do not have is_contiguous")
		return c.tensor(0)
	})},
	{Name: "to.device", Sparse: sparseGiving(func(c call) *tensor.Tensor { return convertSparse(c.tensor(0), c, 2, 1, 4) })},
	{Name: "to.dtype", Sparse: sparseGiving(func(c call) *tensor.Tensor { return convertSparse(c.tensor(0), c, 1, -1, 3) })},
	{Name: "to.dtype_layout", Sparse: sparseGiving(func(c call) *tensor.Tensor { return convertSparse(c.tensor(0), c, 1, 3, 6) })},
	{Name: "to.prim_Device", Sparse: sparseGiving(func(c call) *tensor.Tensor { return convertSparse(c.tensor(0), c, 2, 1, 4) })},
	{Name: "to.prim_dtype", Sparse: sparseGiving(func(c call) *tensor.Tensor { return convertSparse(c.tensor(0), c, 1, -1, 3) })},
	{Name: "to.prim_other", Sparse: sparseGiving(func(c call) *tensor.Tensor { return convertSparse(c.tensor(0), c, -1, -1, 2) })},
	{Name: "_to_copy", Sparse: sparseGiving(func(c call) *tensor.Tensor { return must(c.tensor(0).ToSparseCopy(c.dtypeOr(1, c.tensor(0).DType()))) })},
	{Name: "to.other", Sparse: sparseGiving(func(c call) *tensor.Tensor { return toOther(c.tensor(0), c.tensor(1), c.bool(3)) })},
	{Name: "type_as", Sparse: sparseGiving(func(c call) *tensor.Tensor { return toOther(c.tensor(0), c.tensor(1), false) })},
	{Name: "cpu", Sparse: sparseGiving(func(c call) *tensor.Tensor { return c.tensor(0) })},
	{Name: "copy_", Sparse: sparseRunning(copySparse)},
	{Name: "copy_sparse_to_sparse_", Sparse: sparseRunning(copySparse)},
	{Name: "zero_", Sparse: sparseRunning(zeroSparse)},
	{Name: "sparse_mask", Sparse: sparseGiving(maskValues)},
	{Name: "_sparse_mask_helper", Sparse: sparseGiving(atOther)},
	{Name: "resize_", Sparse: sparseRunning(resizeCompressed)},
	{Name: "resize_as_", Sparse: sparseRunning(resizeAsSparse)},
	{Name: "resize_as_sparse_", Sparse: sparseRunning(resizeAsSparse)},
	{Name: "sparse_resize_", Sparse: sparseRunning(func(c call) { resizeSparse(c, false) })},
	{Name: "sparse_resize_and_clear_", Sparse: sparseRunning(func(c call) { resizeSparse(c, true) })},
	{Name: "item", Sparse: sparseRunning(itemSparse)},
	{Name: "_local_scalar_dense", Sparse: sparseRunning(itemSparse)},
	{Name: "is_nonzero", Sparse: sparseRunning(func(c call) {
		t := c.tensor(0)
		check(t.Numel() > 0, "Boolean value of Tensor with no values is ambiguous")
		check(t.Numel() == 1, "Boolean value of Tensor with more than one value is ambiguous")
		c.out[0] = value.Bool(must(toDense(t).Item()).Bool())
	})},
	{Name: "fill_.Scalar", Sparse: sparseRunning(func(c call) {
		if !c.tensor(0).Layout().Compressed() {
			refuseSparse("aten::fill_.Scalar", c.tensor(0))
		}
		tensor.Fill(c.tensor(0).Sparse().Values, c.scalar(1))
		c.giveSelf()
	})},
}

func itemSparse(c call) {
	t := c.tensor(0)
	check(t.Numel() == 1, "a Tensor with %d elements cannot be converted to Scalar", t.Numel())
	c.out[0] = value.OfScalar(must(toDense(t).Item()))
}

func toDenseForm(c call) *tensor.Tensor {
	check(c.isNone(1), "dtype argument is not supported by sparse_to_dense")
	return toDense(c.tensor(0))
}

// toDenseGradient returns a gradient of the elements as one of a tensor in its layout.
func toDenseGradient(g, t *tensor.Tensor) *tensor.Tensor {
	if !t.IsSparse() {
		return toDenseOf(g)
	}
	return maskValues(call{args: []value.Value{value.OfTensor(g), value.OfTensor(summed(t))}})
}

// toSparse returns the elements that are not zero, over the first dimensions.
func toSparse(t *tensor.Tensor, dims int) *tensor.Tensor {
	if t.Dim() == 0 {
		check(dims == 0, "sparse_dim must be less than or equal to self.dim()")
	} else {
		check(dims > 0, "sparse_dim must be >0 if dimensionality > 0")
	}
	check(dims <= t.Dim(), "sparse_dim must be less than or equal to self.dim()")
	if t.Dim() == 0 {
		values := must(t.Reshape(1))
		if !must(t.Item()).Bool() {
			return emptyCOO(nil, 0, t.DType())
		}
		return coo(nil, empty([]int{0, 1}, tensor.Int64), contiguous(must(values.Clone(tensor.ContiguousFormat))), true)
	}
	rows, _ := tensor.SparseNumel(t.Shape()[:dims])
	inner := t.Shape()[dims:]
	width, _ := tensor.SparseNumel(inner)
	flat := must(contiguous(t).Reshape(rows, width))
	used := must(flat.Reshape(rows, width))
	var marks *tensor.Tensor
	if dims == t.Dim() {
		marks = apply("ne.Scalar", must(used.Reshape(rows)), 0)
	} else {
		marks = apply("any.dim", apply("ne.Scalar", used, 0), 1)
	}
	places := contiguous(must(apply("nonzero", marks).Reshape(-1)))
	at := must(places.Clone(tensor.ContiguousFormat))
	indices := zeros([]int{dims, places.Numel()}, tensor.Int64)
	if n := places.Numel(); n > 0 {
		unravel(tensor.Data[int64](indices), tensor.Data[int64](at), t.Shape()[:dims])
	}
	values := apply("index_select", flat, 0, places)
	return coo(t.Shape(), indices, must(values.Reshape(slices.Concat([]int{places.Numel()}, inner)...)), true)
}

// unravel writes the indices of places, which are numbers over a shape, a row for each dimension.
func unravel(indices, places []int64, shape []int) {
	n := len(places)
	for d := len(shape) - 1; d >= 0; d-- {
		size := int64(shape[d])
		for j := range places {
			indices[d*n+j] = places[j] % size
			places[j] /= size
		}
	}
}

func compressedOnly(name string, t *tensor.Tensor) *tensor.Tensor {
	if t.Layout() == tensor.SparseCOO {
		refuseSparse(key(name), t)
	}
	return compressedToCOO(t)
}

func toSparseDim(c call) *tensor.Tensor {
	t := compressedOnly("to_sparse.sparse_dim", c.tensor(0))
	check(c.int(1) == 2, "sparse dim %d is not supported by sparse_csr_to_dense", c.int(1))
	return t
}

// convertSparse gives a tensor in the type of an argument, itself where nothing changes. Arguments below 0 are not there.
func convertSparse(t *tensor.Tensor, c call, dtype, device, copied int) *tensor.Tensor {
	d := t.DType()
	if dtype >= 0 {
		d = c.dtypeOr(dtype, d)
	}
	if device >= 0 {
		if to := found(c.deviceOr(device, t.ShownDevice())); to.Type != tensor.CPU {
			raise(source.NotImplementedError, "sparse tensors on the device %s are not implemented", to)
		}
	}
	if d == t.DType() && !c.bool(copied) {
		return t
	}
	warnOfReal(t.DType(), d)
	return must(t.ToSparseCopy(d))
}

func toOther(t, other *tensor.Tensor, copied bool) *tensor.Tensor {
	if t.Layout() != other.Layout() {
		check(t.DType() == other.DType() && !copied, "to(options) doesn't support converting to a different layout, but got self.layout being %s and options.layout set as %s", layoutName(t.Layout()), layoutName(other.Layout()))
		return t
	}
	if t.DType() == other.DType() && !copied {
		return t
	}
	if !t.IsSparse() {
		return to(t, other.DType())
	}
	return must(t.ToSparseCopy(other.DType()))
}

// copySparse makes the first argument, a sparse tensor, one with copies of the parts of the second.
func copySparse(c call) {
	t, from := c.tensor(0), c.tensor(1)
	if t.IsSparse() != from.IsSparse() {
		succeed(tensor.Copy(t, from))
	}
	check(t.Layout() == from.Layout(), "copy_() between tensors of different layouts is not implemented! Found self layout = %s and src layout = %s", layoutName(t.Layout()), layoutName(from.Layout()))
	if t != from {
		if t.Layout().Compressed() {
			check(tensor.SameShape(t.Shape(), from.Shape()), "copy_: only tensors with the same size are supported, but got %s and %s", shapeText(t.Shape()), shapeText(from.Shape()))
		}
		t.Become(must(from.ToSparseCopy(t.DType())))
	}
	c.giveSelf()
}

func zeroSparse(c call) {
	t := c.tensor(0)
	t.Become(zerosLayout(t.Shape(), t.Layout(), t.Dim(), t.DType(), blockOf(t)))
	c.giveSelf()
}

// resizeSparse changes the shape of a tensor, whose places stay unless it is cleared.
func resizeSparse(c call, clear bool) {
	t, shape, dims, dense := c.tensor(0), c.ints(1), c.int(2), c.int(3)
	s := requireCOO("sparse_resize_", t)
	check(dims+dense == len(shape), "number of dimensions must be sparse_dim (%d) + dense_dim (%d), but got %d", dims, dense, len(shape))
	if clear || s.NNZ() == 0 {
		t.Become(emptyCOO(shape, dims, t.DType()))
		c.giveSelf()
		return
	}
	old := sparseDims(t)
	check(dims == old, "changing the number of sparse dimensions (from %d to %d) on a non-empty sparse tensor is not supported.", old, dims)
	check(dense == denseDims(t), "changing the number of dense dimensions (from %d to %d) on a non-empty sparse tensor is not supported.", denseDims(t), dense)
	for d := range dims {
		check(shape[d] >= t.Size(d), "shrinking the size of sparse dimensions (from %s to %s) on a non-empty sparse tensor is not supported.", shapeText(t.Shape()[:dims]), shapeText(shape[:dims]))
	}
	for d := dims; d < len(shape); d++ {
		check(shape[d] >= t.Size(d), "shrinking the size of dense dimensions (from %s to %s) on a non-empty sparse tensor is not supported.", shapeText(t.Shape()[dims:]), shapeText(shape[dims:]))
	}
	values := s.Values
	for d := dims; d < len(shape); d++ {
		values = paddedAlong(values, d-dims+1, 0, shape[d]-t.Size(d))
	}
	t.Become(coo(shape, s.Indices, values, s.Coalesced))
	c.giveSelf()
}

func resizeAsSparse(c call) {
	t, like := c.tensor(0), c.tensor(1)
	check(t.IsSparse() && like.IsSparse(), "resize_as_sparse_: self and other must be sparse")
	if !tensor.SameShape(t.Shape(), like.Shape()) {
		if t.Layout().Compressed() {
			resizeCompressed(call{[]value.Value{c.args[0], value.OfList(value.Ints(like.Shape()))}, c.out})
			return
		}
		args := []value.Value{c.args[0], value.OfList(value.Ints(like.Shape())), value.Int(int64(sparseDims(like))), value.Int(int64(denseDims(like)))}
		resizeSparse(call{args, c.out}, false)
		return
	}
	c.out[0] = c.args[0]
}

package sparse

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparseConversions are copies and conversions of sparse tensors.
var sparseConversions = []ops.Def{
	{Name: "to_dense", Sparse: sparseGiving(toDenseForm)},
	{Name: "_to_dense", Sparse: sparseGiving(toDenseForm)},
	{Name: "to_dense_backward", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return toDenseGradient(c.Tensor(0), c.Tensor(1)) })},
	{Name: "to_sparse", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return compressedOnly("to_sparse", c.Tensor(0)) })},
	{Name: "to_sparse.sparse_dim", Sparse: sparseGiving(toSparseDim)},
	{Name: "to_sparse_csr", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return toCompressed(c.Tensor(0), tensor.SparseCSR, nil) })},
	{Name: "to_sparse_csc", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return toCompressed(c.Tensor(0), tensor.SparseCSC, nil) })},
	{Name: "to_sparse_bsr", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return toCompressed(c.Tensor(0), tensor.SparseBSR, c.Ints(1)) })},
	{Name: "to_sparse_bsc", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return toCompressed(c.Tensor(0), tensor.SparseBSC, c.Ints(1)) })},
	{Name: "clone", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return source.Must(c.Tensor(0).Clone(tensor.PreserveFormat)) })},
	{Name: "contiguous", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		source.Check(!c.Tensor(0).Layout().Compressed(), "Sparse CSR tensors do not have is_contiguous")
		return c.Tensor(0)
	})},
	{Name: "to.device", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return convertSparse(c.Tensor(0), c, 2, 1, 4) })},
	{Name: "to.dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return convertSparse(c.Tensor(0), c, 1, -1, 3) })},
	{Name: "to.dtype_layout", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return convertSparse(c.Tensor(0), c, 1, 3, 6) })},
	{Name: "to.prim_Device", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return convertSparse(c.Tensor(0), c, 2, 1, 4) })},
	{Name: "to.prim_dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return convertSparse(c.Tensor(0), c, 1, -1, 3) })},
	{Name: "to.prim_other", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return convertSparse(c.Tensor(0), c, -1, -1, 2) })},
	{Name: "_to_copy", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return source.Must(c.Tensor(0).ToSparseCopy(c.DtypeOr(1, c.Tensor(0).DType())))
	})},
	{Name: "to.other", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return toOther(c.Tensor(0), c.Tensor(1), c.Bool(3)) })},
	{Name: "type_as", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return toOther(c.Tensor(0), c.Tensor(1), false) })},
	{Name: "cpu", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return c.Tensor(0) })},
	{Name: "copy_", Sparse: sparseRunning(copySparse)},
	{Name: "copy_sparse_to_sparse_", Sparse: sparseRunning(copySparse)},
	{Name: "zero_", Sparse: sparseRunning(zeroSparse)},
	{Name: "sparse_mask", Sparse: sparseGiving(maskValues)},
	{Name: "_sparse_mask_helper", Sparse: sparseGiving(atOther)},
	{Name: "resize_", Sparse: sparseRunning(resizeCompressed)},
	{Name: "resize_as_", Sparse: sparseRunning(resizeAsSparse)},
	{Name: "resize_as_sparse_", Sparse: sparseRunning(resizeAsSparse)},
	{Name: "sparse_resize_", Sparse: sparseRunning(func(c define.Call) { resizeSparse(c, false) })},
	{Name: "sparse_resize_and_clear_", Sparse: sparseRunning(func(c define.Call) { resizeSparse(c, true) })},
	{Name: "item", Sparse: sparseRunning(itemSparse)},
	{Name: "_local_scalar_dense", Sparse: sparseRunning(itemSparse)},
	{Name: "is_nonzero", Sparse: sparseRunning(func(c define.Call) {
		t := c.Tensor(0)
		source.Check(t.Numel() > 0, "Boolean value of Tensor with no values is ambiguous")
		source.Check(t.Numel() == 1, "Boolean value of Tensor with more than one value is ambiguous")
		c.Out[0] = value.Bool(source.Must(toDense(t).Item()).Bool())
	})},
	{Name: "fill_.Scalar", Sparse: sparseRunning(func(c define.Call) {
		if !c.Tensor(0).Layout().Compressed() {
			refuseSparse("aten::fill_.Scalar", c.Tensor(0))
		}
		tensor.Fill(c.Tensor(0).Sparse().Values, c.Scalar(1))
		c.GiveSelf()
	})},
}

func itemSparse(c define.Call) {
	t := c.Tensor(0)
	source.Check(t.Numel() == 1, "a Tensor with %d elements cannot be converted to Scalar", t.Numel())
	c.Out[0] = value.OfScalar(source.Must(toDense(t).Item()))
}

func toDenseForm(c define.Call) *tensor.Tensor {
	source.Check(c.IsNone(1), "dtype argument is not supported by sparse_to_dense")
	return toDense(c.Tensor(0))
}

// toDenseGradient returns a gradient of the elements as one of a tensor in its layout.
func toDenseGradient(g, t *tensor.Tensor) *tensor.Tensor {
	if !t.IsSparse() {
		return ToDenseOf(g)
	}
	return maskValues(define.Call{Args: []value.Value{value.OfTensor(g), value.OfTensor(summed(t))}})
}

// toSparse returns the elements that are not zero, over the first dimensions.
func toSparse(t *tensor.Tensor, dims int) *tensor.Tensor {
	if t.Dim() == 0 {
		source.Check(dims == 0, "sparse_dim must be less than or equal to self.dim()")
	} else {
		source.Check(dims > 0, "sparse_dim must be >0 if dimensionality > 0")
	}
	source.Check(dims <= t.Dim(), "sparse_dim must be less than or equal to self.dim()")
	if t.Dim() == 0 {
		values := source.Must(t.Reshape(1))
		if !source.Must(t.Item()).Bool() {
			return views.EmptyCOO(nil, 0, t.DType())
		}
		return views.Coo(nil, define.Empty([]int{0, 1}, tensor.Int64), elementwise.Contiguous(source.Must(values.Clone(tensor.ContiguousFormat))), true)
	}
	rows, _ := tensor.SparseNumel(t.Shape()[:dims])
	inner := t.Shape()[dims:]
	width, _ := tensor.SparseNumel(inner)
	flat := source.Must(elementwise.Contiguous(t).Reshape(rows, width))
	used := source.Must(flat.Reshape(rows, width))
	var marks *tensor.Tensor
	if dims == t.Dim() {
		marks = define.Apply("ne.Scalar", source.Must(used.Reshape(rows)), 0)
	} else {
		marks = define.Apply("any.dim", define.Apply("ne.Scalar", used, 0), 1)
	}
	places := elementwise.Contiguous(source.Must(define.Apply("nonzero", marks).Reshape(-1)))
	at := source.Must(places.Clone(tensor.ContiguousFormat))
	indices := define.Zeros([]int{dims, places.Numel()}, tensor.Int64)
	if n := places.Numel(); n > 0 {
		unravel(tensor.Data[int64](indices), tensor.Data[int64](at), t.Shape()[:dims])
	}
	values := define.Apply("index_select", flat, 0, places)
	return views.Coo(t.Shape(), indices, source.Must(values.Reshape(slices.Concat([]int{places.Numel()}, inner)...)), true)
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
		refuseSparse(define.Key(name), t)
	}
	return compressedToCOO(t)
}

func toSparseDim(c define.Call) *tensor.Tensor {
	t := compressedOnly("to_sparse.sparse_dim", c.Tensor(0))
	source.Check(c.Int(1) == 2, "sparse dim %d is not supported by sparse_csr_to_dense", c.Int(1))
	return t
}

// convertSparse gives a tensor in the type of an argument, itself where nothing changes. Arguments below 0 are not there.
func convertSparse(t *tensor.Tensor, c define.Call, dtype, device, copied int) *tensor.Tensor {
	d := t.DType()
	if dtype >= 0 {
		d = c.DtypeOr(dtype, d)
	}
	if device >= 0 {
		if to := views.Found(c.DeviceOr(device, t.ShownDevice())); to.Type != tensor.CPU {
			source.Raise(source.NotImplementedError, "sparse tensors on the device %s are not implemented", to)
		}
	}
	if d == t.DType() && !c.Bool(copied) {
		return t
	}
	define.WarnOfReal(t.DType(), d)
	return source.Must(t.ToSparseCopy(d))
}

func toOther(t, other *tensor.Tensor, copied bool) *tensor.Tensor {
	if t.Layout() != other.Layout() {
		source.Check(t.DType() == other.DType() && !copied, "to(options) doesn't support converting to a different layout, but got self.layout being %s and options.layout set as %s", views.LayoutName(t.Layout()), views.LayoutName(other.Layout()))
		return t
	}
	if t.DType() == other.DType() && !copied {
		return t
	}
	if !t.IsSparse() {
		return elementwise.To(t, other.DType())
	}
	return source.Must(t.ToSparseCopy(other.DType()))
}

// copySparse makes the first argument, a sparse tensor, one with copies of the parts of the second.
func copySparse(c define.Call) {
	t, from := c.Tensor(0), c.Tensor(1)
	if t.IsSparse() != from.IsSparse() {
		source.Throw(tensor.Copy(t, from))
	}
	source.Check(t.Layout() == from.Layout(), "copy_() between tensors of different layouts is not implemented! Found self layout = %s and src layout = %s", views.LayoutName(t.Layout()), views.LayoutName(from.Layout()))
	if t != from {
		if t.Layout().Compressed() {
			source.Check(tensor.SameShape(t.Shape(), from.Shape()), "copy_: only tensors with the same size are supported, but got %s and %s", define.ShapeText(t.Shape()), define.ShapeText(from.Shape()))
		}
		t.Become(source.Must(from.ToSparseCopy(t.DType())))
	}
	c.GiveSelf()
}

func zeroSparse(c define.Call) {
	t := c.Tensor(0)
	t.Become(views.ZerosLayout(t.Shape(), t.Layout(), t.Dim(), t.DType(), blockOf(t)))
	c.GiveSelf()
}

// resizeSparse changes the shape of a tensor, whose places stay unless it is cleared.
func resizeSparse(c define.Call, clear bool) {
	t, shape, dims, dense := c.Tensor(0), c.Ints(1), c.Int(2), c.Int(3)
	s := requireCOO("sparse_resize_", t)
	source.Check(dims >= 0 && dense >= 0, "a sparse tensor cannot have %d sparse and %d dense dimensions", dims, dense)
	source.Check(dims+dense == len(shape), "number of dimensions must be sparse_dim (%d) + dense_dim (%d), but got %d", dims, dense, len(shape))
	if clear || s.NNZ() == 0 {
		t.Become(views.EmptyCOO(shape, dims, t.DType()))
		c.GiveSelf()
		return
	}
	old := sparseDims(t)
	source.Check(dims == old, "changing the number of sparse dimensions (from %d to %d) on a non-empty sparse tensor is not supported.", old, dims)
	source.Check(dense == denseDims(t), "changing the number of dense dimensions (from %d to %d) on a non-empty sparse tensor is not supported.", denseDims(t), dense)
	for d := range dims {
		source.Check(shape[d] >= t.Size(d), "shrinking the size of sparse dimensions (from %s to %s) on a non-empty sparse tensor is not supported.", define.ShapeText(t.Shape()[:dims]), define.ShapeText(shape[:dims]))
	}
	for d := dims; d < len(shape); d++ {
		source.Check(shape[d] >= t.Size(d), "shrinking the size of dense dimensions (from %s to %s) on a non-empty sparse tensor is not supported.", define.ShapeText(t.Shape()[dims:]), define.ShapeText(shape[dims:]))
	}
	values := s.Values
	for d := dims; d < len(shape); d++ {
		values = paddedAlong(values, d-dims+1, 0, shape[d]-t.Size(d))
	}
	t.Become(views.Coo(shape, s.Indices, values, s.Coalesced))
	c.GiveSelf()
}

func resizeAsSparse(c define.Call) {
	t, like := c.Tensor(0), c.Tensor(1)
	source.Check(t.IsSparse() && like.IsSparse(), "resize_as_sparse_: self and other must be sparse")
	if !tensor.SameShape(t.Shape(), like.Shape()) {
		if t.Layout().Compressed() {
			resizeCompressed(define.Call{Args: []value.Value{c.Args[0], value.OfList(value.Ints(like.Shape()))}, Out: c.Out})
			return
		}
		args := []value.Value{c.Args[0], value.OfList(value.Ints(like.Shape())), value.Int(int64(sparseDims(like))), value.Int(int64(denseDims(like)))}
		resizeSparse(define.Call{Args: args, Out: c.Out}, false)
		return
	}
	c.Out[0] = c.Args[0]
}

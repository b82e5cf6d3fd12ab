package aten

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparseFamily are the operators that make sparse tensors of others, and those that are for sparse tensors alone.
var sparseFamily = slices.Concat([]definition{
	giving("sparse_coo_tensor.indices", func(c call) *tensor.Tensor {
		return newCOO(long(c.tensor(0)), valuesAs(c, 1, 2), nil)
	}).with(ops.Def{Grad: concrete(placedValues), Node: "SparseCooTensorWithDimsAndTensorsBackward0"}),
	giving("sparse_coo_tensor.indices_size", func(c call) *tensor.Tensor {
		return newCOO(long(c.tensor(0)), valuesAs(c, 1, 3), c.shape(2))
	}).with(ops.Def{Grad: concrete(placedValues), Node: "SparseCooTensorWithDimsAndTensorsBackward0"}),
	giving("sparse_coo_tensor.size", func(c call) *tensor.Tensor {
		c.refuseMeta(1)
		d := c.dtypeOr(1, tensor.DefaultDType())
		_ = must(tensor.SparseNumel(c.ints(0)))
		return emptyCOO(c.ints(0), len(c.ints(0)), d)
	}),
	giving("_sparse_coo_tensor_unsafe", func(c call) *tensor.Tensor {
		values := valuesAs(c, 1, 3)
		if values.Dim() == 0 {
			values = must(values.Expand(1))
		}
		checkCOO(c.tensor(0), values, c.shape(2))
		return coo(c.shape(2), c.tensor(0), values, false)
	}).with(ops.Def{Grad: concrete(placedValues), Node: "SparseCooTensorWithDimsAndTensorsBackward0"}),
	giving("_sparse_coo_tensor_with_dims", func(c call) *tensor.Tensor {
		check(c.int(0)+c.int(1) == len(c.ints(2)), "number of dimensions must be sparse_dim (%d) + dense_dim (%d), but got %d", c.int(0), c.int(1), len(c.ints(2)))
		checkSparseDims(c)
		_ = must(tensor.SparseNumel(c.ints(2)))
		return emptyCOO(c.ints(2), c.int(0), c.dtypeOr(3, tensor.DefaultDType()))
	}),
	giving("_sparse_coo_tensor_with_dims_and_tensors", func(c call) *tensor.Tensor {
		checkSparseDims(c)
		checkCOO(c.tensor(3), c.tensor(4), c.shape(2))
		return coo(c.shape(2), c.tensor(3), c.tensor(4), false)
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.give(4, c.atPlacesOf(c.g(), c.out(0))) }), Node: "SparseCooTensorWithDimsAndTensorsBackward0"}),
	define("_validate_sparse_coo_tensor_args", func(c call) {
		_ = newCOO(c.tensor(0), c.tensor(1), c.shape(2))
	}),
	giving("to_sparse", func(c call) *tensor.Tensor { return toSparse(c.tensor(0), c.tensor(0).Dim()) }).with(ops.Def{Grad: concrete(fromDense)}),
	giving("to_sparse.sparse_dim", func(c call) *tensor.Tensor { return toSparse(c.tensor(0), c.int(1)) }).with(ops.Def{Grad: concrete(fromDense), Node: "ToSparseBackward1"}),
	giving("to_sparse_csr", func(c call) *tensor.Tensor { return toCompressed(c.tensor(0), tensor.SparseCSR, nil) }).with(ops.Def{Grad: concrete(fromDense)}),
	giving("to_sparse_csc", func(c call) *tensor.Tensor { return toCompressed(c.tensor(0), tensor.SparseCSC, nil) }).with(ops.Def{Grad: concrete(fromDense)}),
	giving("to_sparse_bsr", func(c call) *tensor.Tensor { return toCompressed(c.tensor(0), tensor.SparseBSR, c.ints(1)) }).with(ops.Def{Grad: concrete(fromDense)}),
	giving("to_sparse_bsc", func(c call) *tensor.Tensor { return toCompressed(c.tensor(0), tensor.SparseBSC, c.ints(1)) }).with(ops.Def{Grad: concrete(fromDense)}),
	giving("to_dense", func(c call) *tensor.Tensor { return to(c.tensor(0), c.dtypeOr(1, c.tensor(0).DType())) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("to_dense_backward", c.g(), c.in(0))) })}),
	giving("to_dense_backward", func(c call) *tensor.Tensor { return c.tensor(0) }),
	giving("_sparse_mm", func(c call) *tensor.Tensor { return apply("mm", c.tensor(0), c.tensor(1)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.sparseFactors(0, 1, c.g()) }), Node: "SparseAddmmBackward0"}),
	giving("_sparse_addmm", func(c call) *tensor.Tensor {
		return apply("addmm", c.tensor(0), c.tensor(1), c.tensor(2), c.args[3], c.args[4])
	}).with(ops.Def{Grad: concrete(func(c gradient) {
		if c.needs(0) {
			c.give(0, c.do("mul.Scalar", c.g(), plain(c.number(3))))
		}
		c.sparseFactors(1, 2, c.do("mul.Scalar", c.g(), plain(c.number(4))))
	})}),
	define("coalesce", func(call) { refuseBackend("aten::is_coalesced", "CPU") }).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn}),
}, compressedFamily)

// checkSparseDims checks the numbers of dimensions that the first two arguments are.
func checkSparseDims(c call) {
	check(c.int(0) >= 0, "Trying to create tensor with negative dimension %d: [%d, 0]", c.int(0), c.int(0))
	check(c.int(1) >= 0, "dense_dim must be non-negative, but got %d", c.int(1))
}

// keepsParts reports whether an operator makes a tensor of indices and values, whose memory that keeps.
func keepsParts(name string) bool {
	_, kind, ok := strings.Cut(name, "sparse_")
	return ok && strings.Contains(kind, "_tensor")
}

// makesSparse reports whether an operator makes sparse tensors of others.
func makesSparse(name string) bool {
	return keepsParts(name) || strings.HasPrefix(name, "aten::to_sparse")
}

// refuseMeta fails where options, which start at argument i, ask for a tensor on meta.
func (c call) refuseMeta(i int) {
	if c.deviceOr(i+2, tensor.Device{}).Type == tensor.Meta {
		raise(source.NotImplementedError, "sparse tensors on the device meta are not implemented")
	}
}

// forSparseAlone defines the operators of records that have a form for sparse tensors alone: they refuse others.
func forSparseAlone(known []Family) []definition {
	defined := map[string]bool{}
	for _, family := range known {
		for i := range family.definitions {
			defined[family.definitions[i].name] = true
		}
	}
	var defs []definition
	for _, records := range sparseRecords {
		for i := range records {
			name := records[i].Name
			if of, copies := strings.CutSuffix(name, "_copy"); !defined[name] && !(copies && defined[of]) {
				defs = append(defs, define(name, func(call) { refuseBackend(key(name), "CPU") }))
			}
		}
	}
	return defs
}

// long returns indices of another type as int64.
func long(indices *tensor.Tensor) *tensor.Tensor {
	if indices.IsSparse() {
		return indices
	}
	return to(indices, tensor.Int64)
}

// valuesAs returns the values in the type of an argument.
func valuesAs(c call, i, dtype int) *tensor.Tensor {
	c.refuseMeta(dtype)
	if c.tensor(i).IsSparse() {
		return c.tensor(i)
	}
	return to(c.tensor(i), c.dtypeOr(dtype, c.tensor(i).DType()))
}

// shape returns a list of integers that is not nil.
func (c call) shape(i int) []int {
	return append([]int{}, c.ints(i)...)
}

// sparseCreation are the operators that make tensors after a sparse one.
var sparseCreation = []ops.Def{
	{Name: "empty_like", Sparse: sparseGiving(func(c call) *tensor.Tensor { return likeSparse(c, 1, true) })},
	{Name: "zeros_like", Sparse: sparseGiving(func(c call) *tensor.Tensor { return likeSparse(c, 1, false) })},
	{Name: "ones_like", Sparse: sparseGiving(func(c call) *tensor.Tensor { return filledLikeSparse(c, "ones_like", value.Int(1), 1) })},
	{Name: "full_like", Sparse: sparseGiving(func(c call) *tensor.Tensor { return filledLikeSparse(c, "full_like", c.args[1], 2) })},
	{Name: "new_zeros", Sparse: sparseGiving(func(c call) *tensor.Tensor { return newOfLayout(c) })},
	{Name: "new_empty", Sparse: sparseGiving(func(c call) *tensor.Tensor { return newOfLayout(c) })},
	{Name: "sparse_coo_tensor.indices", Sparse: sparseRunning(refusingParts)}, // of sparse indices or values
	{Name: "sparse_coo_tensor.indices_size", Sparse: sparseRunning(refusingParts)},
}

func refusingParts(c call) {
	newCOO(c.tensor(0), c.tensor(1), []int{})
}

// layoutOf reads the layout of options, which start at argument i.
func (c call) layoutOf(i int, none tensor.Layout) tensor.Layout {
	if c.isNone(i + 1) {
		return none
	}
	l := tensor.Layout(c.int(i + 1))
	check(l.Valid(), "layout %d is not supported", c.int(i+1))
	return l
}

// likeSparse makes a tensor of the shape of a sparse one, without values; in a compressed layout empty_like keeps the places.
func likeSparse(c call, i int, keeps bool) *tensor.Tensor {
	t := c.tensor(0)
	d, layout := c.dtypeOr(i, t.DType()), c.layoutOf(i, t.Layout())
	switch {
	case layout == tensor.Strided:
		return zeros(t.Shape(), d)
	case keeps && layout == t.Layout() && layout.Compressed():
		return onValues(must(t.Clone(tensor.PreserveFormat)), zeros(t.Sparse().Values.Shape(), d))
	case layout == t.Layout():
		return zerosLayout(t.Shape(), layout, sparseDims(t), d, blockOf(t))
	}
	return zerosLayout(t.Shape(), layout, t.Dim(), d, nil)
}

func filledLikeSparse(c call, name string, number value.Value, i int) *tensor.Tensor {
	t := c.tensor(0)
	if c.layoutOf(i, t.Layout()) == tensor.Strided {
		return must(tensor.Full(t.Shape(), scalarOf(number), c.dtypeOr(i, t.DType())))
	}
	if t.Layout() == tensor.SparseCOO {
		refuseSparse("aten::fill_.Scalar", t)
	}
	values := must(tensor.Full(t.Sparse().Values.Shape(), scalarOf(number), c.dtypeOr(i, t.DType())))
	return onValues(must(t.Clone(tensor.PreserveFormat)), values)
}

func newOfLayout(c call) *tensor.Tensor {
	t := c.tensor(0)
	d, layout := c.dtypeOr(2, t.DType()), c.layoutOf(2, t.Layout())
	if layout == tensor.Strided {
		return zeros(c.ints(1), d)
	}
	return zerosLayout(c.ints(1), layout, len(c.ints(1)), d, nil)
}

// zerosLayout makes a sparse tensor without values.
func zerosLayout(shape []int, layout tensor.Layout, sparseDim int, d tensor.DType, block []int) *tensor.Tensor {
	_ = must(tensor.SparseNumel(shape))
	if layout == tensor.SparseCOO {
		return emptyCOO(shape, sparseDim, d)
	}
	if layout.Blocked() && block == nil {
		raise(source.RuntimeError, "\"empty_sparse_compressed\" expected sparse compressed (non-block) tensor layout but got %s", layoutName(layout))
	}
	check(len(shape) >= 2, "torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got size %s", shapeText(shape))
	return emptyCompressed(shape, layout, d, block)
}

// wantsSparse reports whether options from argument i on ask for a sparse layout.
func (c call) wantsSparse(i int) bool { return !c.isNone(i+1) && c.int(i+1) != int(tensor.Strided) }

// sparseOfOptions is what a function gives that is asked for a tensor in a sparse layout by options from argument i on.
func (c call) sparseOfOptions(name string, i int) *tensor.Tensor {
	c.refuseMeta(i)
	layout, d := c.layoutOf(i, tensor.Strided), c.dtypeOr(i, tensor.DefaultDType())
	shape := []int(nil)
	switch name {
	case "zeros", "empty.memory_format":
		shape = c.ints(0)
	case "zeros_like", "empty_like":
		shape, d = c.tensor(0).Shape(), c.dtypeOr(i, c.tensor(0).DType())
	case "new_zeros", "new_empty":
		shape, d = c.ints(1), c.dtypeOr(i, c.tensor(0).DType())
	case "full", "ones":
		check(false, "full(...) is not implemented for sparse layout")
	default:
		if layout.Compressed() {
			refuseBackend(key(name), "SparseCsrCPU")
		}
		refuseBackend(key(name), "SparseCPU")
	}
	return zerosLayout(shape, layout, len(shape), d, nil)
}

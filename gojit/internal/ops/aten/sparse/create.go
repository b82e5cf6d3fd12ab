package sparse

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// SparseFamily are the operators that make sparse tensors of others, and those that are for sparse tensors alone.
var SparseFamily = slices.Concat([]define.Definition{
	define.Giving("sparse_coo_tensor.indices", func(c define.Call) *tensor.Tensor {
		return newCOO(long(c.Tensor(0)), valuesAs(c, 1, 2), nil)
	}).With(ops.Def{Grad: define.Concrete(placedValues)}),
	define.Giving("sparse_coo_tensor.indices_size", func(c define.Call) *tensor.Tensor {
		return newCOO(long(c.Tensor(0)), valuesAs(c, 1, 3), shape(c, 2))
	}).With(ops.Def{Grad: define.Concrete(placedValues)}),
	define.Giving("sparse_coo_tensor.size", func(c define.Call) *tensor.Tensor {
		views.RefuseElsewhere(c, 1)
		d := c.DtypeOr(1, tensor.DefaultDType())
		_ = source.Must(tensor.SparseNumel(c.Ints(0)))
		return views.EmptyCOO(c.Ints(0), len(c.Ints(0)), d)
	}),
	define.Giving("_sparse_coo_tensor_unsafe", func(c define.Call) *tensor.Tensor {
		values := valuesAs(c, 1, 3)
		if values.Dim() == 0 {
			values = source.Must(values.Expand(1))
		}
		checkCOO(c.Tensor(0), values, shape(c, 2))
		return views.Coo(shape(c, 2), c.Tensor(0), values, false)
	}).With(ops.Def{Grad: define.Concrete(placedValues)}),
	define.Giving("_sparse_coo_tensor_with_dims", func(c define.Call) *tensor.Tensor {
		source.Check(c.Int(0)+c.Int(1) == len(c.Ints(2)), "number of dimensions must be sparse_dim (%d) + dense_dim (%d), but got %d", c.Int(0), c.Int(1), len(c.Ints(2)))
		checkSparseDims(c)
		_ = source.Must(tensor.SparseNumel(c.Ints(2)))
		return views.EmptyCOO(c.Ints(2), c.Int(0), c.DtypeOr(3, tensor.DefaultDType()))
	}),
	define.Giving("_sparse_coo_tensor_with_dims_and_tensors", func(c define.Call) *tensor.Tensor {
		checkSparseDims(c)
		checkCOO(c.Tensor(3), c.Tensor(4), shape(c, 2))
		return views.Coo(shape(c, 2), c.Tensor(3), c.Tensor(4), false)
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(4, atPlacesOf(c, c.G(), c.Out(0))) })}),
	define.Operator("_validate_sparse_coo_tensor_args", func(c define.Call) {
		_ = newCOO(c.Tensor(0), c.Tensor(1), shape(c, 2))
	}),
	define.Giving("to_sparse", func(c define.Call) *tensor.Tensor { return toSparse(c.Tensor(0), c.Tensor(0).Dim()) }).With(ops.Def{Grad: define.Concrete(fromDense)}),
	define.Giving("to_sparse.sparse_dim", func(c define.Call) *tensor.Tensor { return toSparse(c.Tensor(0), c.Int(1)) }).With(ops.Def{Grad: define.Concrete(fromDense)}),
	define.Giving("to_sparse_csr", func(c define.Call) *tensor.Tensor { return toCompressed(c.Tensor(0), tensor.SparseCSR, nil) }).With(ops.Def{Grad: define.Concrete(fromDense)}),
	define.Giving("to_sparse_csc", func(c define.Call) *tensor.Tensor { return toCompressed(c.Tensor(0), tensor.SparseCSC, nil) }).With(ops.Def{Grad: define.Concrete(fromDense)}),
	define.Giving("to_sparse_bsr", func(c define.Call) *tensor.Tensor { return toCompressed(c.Tensor(0), tensor.SparseBSR, c.Ints(1)) }).With(ops.Def{Grad: define.Concrete(fromDense)}),
	define.Giving("to_sparse_bsc", func(c define.Call) *tensor.Tensor { return toCompressed(c.Tensor(0), tensor.SparseBSC, c.Ints(1)) }).With(ops.Def{Grad: define.Concrete(fromDense)}),
	define.Giving("to_dense", func(c define.Call) *tensor.Tensor {
		return elementwise.To(c.Tensor(0), c.DtypeOr(1, c.Tensor(0).DType()))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("to_dense_backward", c.G(), c.In(0))) })}),
	define.Giving("to_dense_backward", func(c define.Call) *tensor.Tensor { return c.Tensor(0) }),
	define.Giving("_sparse_mm", func(c define.Call) *tensor.Tensor { return define.Apply("mm", c.Tensor(0), c.Tensor(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { sparseFactors(c, 0, 1, c.G()) })}),
	define.Giving("_sparse_addmm", func(c define.Call) *tensor.Tensor {
		return define.Apply("addmm", c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Args[3], c.Args[4])
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		if c.Needs(0) {
			c.Give(0, c.Do("mul.Scalar", c.G(), define.Plain(c.Number(3))))
		}
		sparseFactors(c, 1, 2, c.Do("mul.Scalar", c.G(), define.Plain(c.Number(4))))
	})}),
	define.Operator("coalesce", func(define.Call) { define.RefuseBackend("aten::is_coalesced", "CPU") }).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn}),
}, compressedFamily, mkldnnFamily)

// checkSparseDims checks the numbers of dimensions that the first two arguments are.
func checkSparseDims(c define.Call) {
	source.Check(c.Int(0) >= 0, "Trying to create tensor with negative dimension %d: [%d, 0]", c.Int(0), c.Int(0))
	source.Check(c.Int(1) >= 0, "dense_dim must be non-negative, but got %d", c.Int(1))
}

// KeepsParts reports whether an operator makes a tensor of indices and values, whose memory that keeps.
func KeepsParts(name string) bool {
	_, kind, ok := strings.Cut(name, "sparse_")
	return ok && strings.Contains(kind, "_tensor")
}

// MakesSparse reports whether an operator makes sparse tensors of others.
func MakesSparse(name string) bool {
	return KeepsParts(name) || strings.HasPrefix(name, "aten::to_sparse")
}

// ForSparseAlone defines the operators of records that have a form for sparse tensors alone: they refuse others.
func ForSparseAlone(known []define.Family) []define.Definition {
	defined := map[string]bool{}
	for _, family := range known {
		for i := range family.Definitions {
			defined[family.Definitions[i].Name] = true
		}
	}
	var defs []define.Definition
	for _, records := range sparseRecords {
		for i := range records {
			name := records[i].Name
			if of, copies := strings.CutSuffix(name, "_copy"); !defined[name] && !(copies && defined[of]) {
				defs = append(defs, define.Operator(name, func(define.Call) { define.RefuseBackend(define.Key(name), "CPU") }))
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
	return elementwise.To(indices, tensor.Int64)
}

// valuesAs returns the values in the type of an argument.
func valuesAs(c define.Call, i, dtype int) *tensor.Tensor {
	views.RefuseElsewhere(c, dtype)
	if c.Tensor(i).IsSparse() {
		return c.Tensor(i)
	}
	return elementwise.To(c.Tensor(i), c.DtypeOr(dtype, c.Tensor(i).DType()))
}

// shape returns a list of integers that is not nil.
func shape(c define.Call, i int) []int {
	return append([]int{}, c.Ints(i)...)
}

// sparseCreation are the operators that make tensors after a sparse one.
var sparseCreation = []ops.Def{
	{Name: "empty_like", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return likeSparse(c, 1, true) })},
	{Name: "zeros_like", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return likeSparse(c, 1, false) })},
	{Name: "ones_like", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return filledLikeSparse(c, "ones_like", value.Int(1), 1) })},
	{Name: "full_like", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return filledLikeSparse(c, "full_like", c.Args[1], 2) })},
	{Name: "new_zeros", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return newOfLayout(c) })},
	{Name: "new_empty", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return newOfLayout(c) })},
	{Name: "sparse_coo_tensor.indices", Sparse: sparseRunning(refusingParts)}, // of sparse indices or values
	{Name: "sparse_coo_tensor.indices_size", Sparse: sparseRunning(refusingParts)},
}

func refusingParts(c define.Call) {
	newCOO(c.Tensor(0), c.Tensor(1), []int{})
}

// likeSparse makes a tensor of the shape of a sparse one, without values; in a compressed layout empty_like keeps the places.
func likeSparse(c define.Call, i int, keeps bool) *tensor.Tensor {
	t := c.Tensor(0)
	d, layout := c.DtypeOr(i, t.DType()), views.LayoutOf(c, i, t.Layout())
	switch {
	case layout == tensor.Strided:
		return define.Zeros(t.Shape(), d)
	case keeps && layout == t.Layout() && layout.Compressed():
		return onValues(source.Must(t.Clone(tensor.PreserveFormat)), define.Zeros(t.Sparse().Values.Shape(), d))
	case layout == t.Layout():
		return views.ZerosLayout(t.Shape(), layout, sparseDims(t), d, blockOf(t))
	}
	return views.ZerosLayout(t.Shape(), layout, t.Dim(), d, nil)
}

func filledLikeSparse(c define.Call, name string, number value.Value, i int) *tensor.Tensor {
	t := c.Tensor(0)
	if views.LayoutOf(c, i, t.Layout()) == tensor.Strided {
		return source.Must(tensor.Full(t.Shape(), define.ScalarOf(number), c.DtypeOr(i, t.DType())))
	}
	if t.Layout() == tensor.SparseCOO {
		refuseSparse("aten::fill_.Scalar", t)
	}
	values := source.Must(tensor.Full(t.Sparse().Values.Shape(), define.ScalarOf(number), c.DtypeOr(i, t.DType())))
	return onValues(source.Must(t.Clone(tensor.PreserveFormat)), values)
}

func newOfLayout(c define.Call) *tensor.Tensor {
	t := c.Tensor(0)
	d, layout := c.DtypeOr(2, t.DType()), views.LayoutOf(c, 2, t.Layout())
	if layout == tensor.Strided {
		return define.Zeros(c.Ints(1), d)
	}
	return views.ZerosLayout(c.Ints(1), layout, len(c.Ints(1)), d, nil)
}

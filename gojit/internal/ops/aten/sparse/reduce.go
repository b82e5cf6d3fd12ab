package aten

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// sparseReductions are sums, norms and softmax.
var sparseReductions = []ops.Def{
	{Name: "any", Sparse: sparseGiving(func(c call) *tensor.Tensor { return apply("any", coalesced(c.tensor(0)).Sparse().Values) })},
	{Name: "norm.Scalar", Sparse: sparseGiving(func(c call) *tensor.Tensor { return normSparse(c.tensor(0), c.args[1], value.None) })},
	{Name: "norm.ScalarOpt_dtype", Sparse: sparseGiving(func(c call) *tensor.Tensor { return normSparse(c.tensor(0), c.args[1], c.args[2]) })},
	{Name: "norm.ScalarOpt_dim", Sparse: sparseGiving(func(c call) *tensor.Tensor { return normOver(c, value.None) })},
	{Name: "norm.ScalarOpt_dim_dtype", Sparse: sparseGiving(func(c call) *tensor.Tensor { return normOver(c, c.args[4]) })},
	{Name: "native_norm", Sparse: sparseGiving(func(c call) *tensor.Tensor { return normSparse(c.tensor(0), c.args[1], value.None) })},
	{Name: "frobenius_norm", Sparse: sparseGiving(func(c call) *tensor.Tensor { return normSparse(c.tensor(0), value.Int(2), value.None) })},
	{Name: "_sparse_sum", Sparse: sparseGiving(func(c call) *tensor.Tensor { return apply("sum", coalesced(c.tensor(0)).Sparse().Values) })},
	{Name: "_sparse_sum.dtype", Sparse: sparseGiving(func(c call) *tensor.Tensor {
		return apply("sum", coalesced(c.tensor(0)).Sparse().Values, c.args[1])
	})},
	{Name: "_sparse_sum.dim", Sparse: sparseGiving(func(c call) *tensor.Tensor { return sumSparse(c.tensor(0), c.ints(1)) })},
	{Name: "_sparse_sum.dim_dtype", Sparse: sparseGiving(func(c call) *tensor.Tensor {
		return sumSparse(must(c.tensor(0).To(c.dtypeOr(2, c.tensor(0).DType()))), c.ints(1))
	})},
	{Name: "_sparse_sum_backward", Sparse: sparseGiving(sumSparseGradient)},
	{Name: "_sparse_softmax.int", Sparse: sparseGiving(func(c call) *tensor.Tensor { return softmaxOfType(c, "softmax.int") })},
	{Name: "_sparse_log_softmax.int", Sparse: sparseGiving(func(c call) *tensor.Tensor { return softmaxOfType(c, "log_softmax.int") })},
	{Name: "_sparse_softmax", Sparse: sparseGiving(func(c call) *tensor.Tensor { return softmaxSparse(c.tensor(0), c.int(1), "softmax.int") })},
	{Name: "_sparse_log_softmax", Sparse: sparseGiving(func(c call) *tensor.Tensor { return softmaxSparse(c.tensor(0), c.int(1), "log_softmax.int") })},
	{Name: "_sparse_softmax_backward_data", Sparse: sparseGiving(func(c call) *tensor.Tensor { return softmaxGradient(c, "_softmax_backward_data") })},
	{Name: "_sparse_log_softmax_backward_data", Sparse: sparseGiving(func(c call) *tensor.Tensor { return softmaxGradient(c, "_log_softmax_backward_data") })},
	{Name: "sum", Sparse: sparseGiving(func(c call) *tensor.Tensor { return sumCompressed(c) })},
	{Name: "_sparse_csr_sum.dim_dtype", Sparse: sparseGiving(func(c call) *tensor.Tensor { return reduceCompressed(c, "sum") })},
	{Name: "_sparse_csr_prod.dim_dtype", Sparse: sparseGiving(func(c call) *tensor.Tensor { return reduceCompressed(c, "prod") })},
}

func normSparse(t *tensor.Tensor, p, dtype value.Value) *tensor.Tensor {
	requireCOO("norm", t)
	if p.IsNone() {
		p = value.Int(2)
	}
	values := must(coalesced(t).Sparse().Values.Reshape(-1))
	if dtype.IsNone() {
		return apply("norm.Scalar", values, p)
	}
	return apply("norm.ScalarOpt_dtype", values, p, dtype)
}

// normOver is the norm over all dimensions, and fails for others.
func normOver(c call, dtype value.Value) *tensor.Tensor {
	t, dims := c.tensor(0), c.ints(2)
	all := len(dims) == 0
	if len(dims) == t.Dim() {
		sorted := make([]int, len(dims))
		for i, d := range dims {
			sorted[i] = wrapDim(d, t)
		}
		slices.Sort(sorted)
		all = len(slices.Compact(sorted)) == t.Dim()
	}
	check(all, "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions of the input")
	check(!c.bool(3), "norm_sparse currently does not support keepdim=True")
	return normSparse(t, c.args[1], dtype)
}

// summedDims marks the dimensions to sum over.
func summedDims(t *tensor.Tensor, dims []int) []bool {
	reduced := make([]bool, t.Dim())
	for _, d := range dims {
		d = wrapDim(d, t)
		check(!reduced[d], "dim %d appears multiple times in the list of dims", d)
		reduced[d] = true
	}
	return reduced
}

// keptPlaces splits the sparse dimensions into those that are kept and the shape that is left.
func keptPlaces(t *tensor.Tensor, reduced []bool) (kept, shape []int) {
	dims := sparseDims(t)
	for d, n := range t.Shape() {
		if reduced[d] {
			continue
		}
		if d < dims {
			kept = append(kept, d)
		}
		shape = append(shape, n)
	}
	return kept, shape
}

// sumSparse sums over dimensions: what is left has no sparse dimension, or is sparse.
func sumSparse(t *tensor.Tensor, dims []int) *tensor.Tensor {
	requireCOO("_sparse_sum", t)
	check(len(dims) > 0, "Trying to sum over an empty list of dimensions")
	check(t.Dim() > 0, "_sparse_sum: a sparse tensor of no dimensions has none to sum over, but got dim=%v", dims)
	reduced, sparse := summedDims(t, dims), sparseDims(t)
	t = coalesced(t)
	s := t.Sparse()
	values := s.Values
	var dense []int
	for d := sparse; d < t.Dim(); d++ {
		if reduced[d] {
			dense = append(dense, d-sparse+1)
		}
	}
	if len(dense) > 0 {
		values = apply("sum.dim_IntList", values, dense)
	}
	kept, shape := keptPlaces(t, reduced)
	if len(kept) == 0 {
		return apply("sum.dim_IntList", values, []int{0})
	}
	indices := apply("index_select", s.Indices, 0, int64s(kept))
	return coalesced(coo(shape, indices, values, len(kept) == sparse))
}

// sumSparseGradient is the gradient of sumSparse: at the places of the summed tensor.
func sumSparseGradient(c call) *tensor.Tensor {
	g, t := c.tensor(0), coalesced(c.tensor(1))
	reduced, sparse := summedDims(t, c.ints(2)), sparseDims(t)
	s := t.Sparse()
	kept, _ := keptPlaces(t, reduced)
	var values *tensor.Tensor
	switch {
	case len(kept) == 0:
		values = must(toDenseOf(g).Unsqueeze(0))
	default:
		values = valuesAt(g, apply("index_select", s.Indices, 0, int64s(kept)))
	}
	for d := sparse; d < t.Dim(); d++ {
		if reduced[d] {
			values = must(values.Unsqueeze(d - sparse + 1))
		}
	}
	return onValues(t, contiguous(must(values.Expand(s.Values.Shape()...))))
}

func toDenseOf(t *tensor.Tensor) *tensor.Tensor {
	if t.IsSparse() {
		return toDense(t)
	}
	return t
}

func softmaxOfType(c call, name string) *tensor.Tensor {
	t := c.tensor(0)
	return softmaxSparse(must(t.To(c.dtypeOr(2, t.DType()))), c.int(1), name)
}

// pools groups the values that a softmax over a sparse dimension sees together: those whose other indices agree.
func pools(t *tensor.Tensor, dim int) [][]int {
	s, dims := t.Sparse(), sparseDims(t)
	var others []int
	for d := range dims {
		if d != dim {
			others = append(others, d)
		}
	}
	shape := make([]int, len(others))
	for i, d := range others {
		shape[i] = t.Size(d)
	}
	keys := placeKeys(apply("index_select", s.Indices, 0, int64s(others)), shape)
	var groups [][]int
	order := stableOrder(keys)
	for i, j := range order {
		if i == 0 || keys[j] != keys[order[i-1]] {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], j)
	}
	return groups
}

// overPools runs an operator over each group of values, and puts the results where the values were.
func overPools(groups [][]int, f func(rows []*tensor.Tensor) *tensor.Tensor, values ...*tensor.Tensor) *tensor.Tensor {
	out := must(values[0].Clone(tensor.ContiguousFormat))
	for _, group := range groups {
		places := int64s(group)
		rows := make([]*tensor.Tensor, len(values))
		for i, v := range values {
			rows[i] = apply("index_select", v, 0, places)
		}
		out = apply("index_copy", out, 0, places, f(rows))
	}
	return out
}

func softmaxSparse(t *tensor.Tensor, dim int, name string) *tensor.Tensor {
	requireCOO("_sparse_softmax", t)
	check(dim >= 0 && dim < t.Dim(), ": dim must be non-negative and less than input dimensions")
	if !t.DType().IsFloating() {
		raise(source.RuntimeError, "\"softmax\" not implemented for '%s'", t.DType().CppName())
	}
	t = coalesced(t)
	values := t.Sparse().Values
	if dims := sparseDims(t); dim >= dims {
		return onValues(t, apply(name, values, dim-dims+1, value.None))
	}
	return onValues(t, overPools(pools(t, dim), func(rows []*tensor.Tensor) *tensor.Tensor { return apply(name, rows[0], 0, value.None) }, values))
}

// softmaxGradient takes gradients at places that the result does not have for nothing.
func softmaxGradient(c call, name string) *tensor.Tensor {
	g, out, dim := c.tensor(0), coalesced(c.tensor(1)), c.int(2)
	if dim < 0 {
		dim += out.Dim()
	}
	values := out.Sparse().Values
	grads := atPlaces(g, out)
	if dims := sparseDims(out); dim >= dims {
		return onValues(out, apply(name, grads, values, dim-dims+1, out.DType()))
	}
	return onValues(out, overPools(pools(out, dim), func(rows []*tensor.Tensor) *tensor.Tensor {
		return apply(name, rows[1], rows[0], 0, out.DType())
	}, values, grads))
}

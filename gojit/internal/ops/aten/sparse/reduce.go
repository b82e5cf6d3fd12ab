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

// sparseReductions are sums, norms and softmax.
var sparseReductions = []ops.Def{
	{Name: "any", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return define.Apply("any", coalesced(c.Tensor(0)).Sparse().Values) })},
	{Name: "norm.Scalar", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return normSparse(c.Tensor(0), c.Args[1], value.None) })},
	{Name: "norm.ScalarOpt_dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return normSparse(c.Tensor(0), c.Args[1], c.Args[2]) })},
	{Name: "norm.ScalarOpt_dim", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return normOver(c, value.None) })},
	{Name: "norm.ScalarOpt_dim_dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return normOver(c, c.Args[4]) })},
	{Name: "native_norm", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return normSparse(c.Tensor(0), c.Args[1], value.None) })},
	{Name: "frobenius_norm", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return normSparse(c.Tensor(0), value.Int(2), value.None) })},
	{Name: "_sparse_sum", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return define.Apply("sum", coalesced(c.Tensor(0)).Sparse().Values) })},
	{Name: "_sparse_sum.dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return define.Apply("sum", coalesced(c.Tensor(0)).Sparse().Values, c.Args[1])
	})},
	{Name: "_sparse_sum.dim", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return sumSparse(c.Tensor(0), c.Ints(1)) })},
	{Name: "_sparse_sum.dim_dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor {
		return sumSparse(source.Must(c.Tensor(0).To(c.DtypeOr(2, c.Tensor(0).DType()))), c.Ints(1))
	})},
	{Name: "_sparse_sum_backward", Sparse: sparseGiving(sumSparseGradient)},
	{Name: "_sparse_softmax.int", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return softmaxOfType(c, "softmax.int") })},
	{Name: "_sparse_log_softmax.int", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return softmaxOfType(c, "log_softmax.int") })},
	{Name: "_sparse_softmax", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return softmaxSparse(c.Tensor(0), c.Int(1), "softmax.int") })},
	{Name: "_sparse_log_softmax", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return softmaxSparse(c.Tensor(0), c.Int(1), "log_softmax.int") })},
	{Name: "_sparse_softmax_backward_data", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return softmaxGradient(c, "_softmax_backward_data") })},
	{Name: "_sparse_log_softmax_backward_data", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return softmaxGradient(c, "_log_softmax_backward_data") })},
	{Name: "sum", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return sumCompressed(c) })},
	{Name: "_sparse_csr_sum.dim_dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return reduceCompressed(c, "sum") })},
	{Name: "_sparse_csr_prod.dim_dtype", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return reduceCompressed(c, "prod") })},
}

func normSparse(t *tensor.Tensor, p, dtype value.Value) *tensor.Tensor {
	requireCOO("norm", t)
	if p.IsNone() {
		p = value.Int(2)
	}
	values := source.Must(coalesced(t).Sparse().Values.Reshape(-1))
	if dtype.IsNone() {
		return define.Apply("norm.Scalar", values, p)
	}
	return define.Apply("norm.ScalarOpt_dtype", values, p, dtype)
}

// normOver is the norm over all dimensions, and fails for others.
func normOver(c define.Call, dtype value.Value) *tensor.Tensor {
	t, dims := c.Tensor(0), c.Ints(2)
	all := len(dims) == 0
	if len(dims) == t.Dim() {
		sorted := make([]int, len(dims))
		for i, d := range dims {
			sorted[i] = define.WrapDim(d, t)
		}
		slices.Sort(sorted)
		all = len(slices.Compact(sorted)) == t.Dim()
	}
	source.Check(all, "norm_sparse currently only supports full reductions, so 'dim' must either be empty or contain all dimensions of the input")
	source.Check(!c.Bool(3), "norm_sparse currently does not support keepdim=True")
	return normSparse(t, c.Args[1], dtype)
}

// summedDims marks the dimensions to sum over.
func summedDims(t *tensor.Tensor, dims []int) []bool {
	reduced := make([]bool, t.Dim())
	for _, d := range dims {
		d = define.WrapDim(d, t)
		source.Check(!reduced[d], "dim %d appears multiple times in the list of dims", d)
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
	source.Check(len(dims) > 0, "Trying to sum over an empty list of dimensions")
	source.Check(t.Dim() > 0, "_sparse_sum: a sparse tensor of no dimensions has none to sum over, but got dim=%v", dims)
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
		values = define.Apply("sum.dim_IntList", values, dense)
	}
	kept, shape := keptPlaces(t, reduced)
	if len(kept) == 0 {
		return define.Apply("sum.dim_IntList", values, []int{0})
	}
	indices := define.Apply("index_select", s.Indices, 0, int64s(kept))
	return coalesced(views.Coo(shape, indices, values, len(kept) == sparse))
}

// sumSparseGradient is the gradient of sumSparse: at the places of the summed tensor.
func sumSparseGradient(c define.Call) *tensor.Tensor {
	g, t := c.Tensor(0), coalesced(c.Tensor(1))
	reduced, sparse := summedDims(t, c.Ints(2)), sparseDims(t)
	s := t.Sparse()
	kept, _ := keptPlaces(t, reduced)
	var values *tensor.Tensor
	switch {
	case len(kept) == 0:
		values = source.Must(ToDenseOf(g).Unsqueeze(0))
	default:
		values = valuesAt(g, define.Apply("index_select", s.Indices, 0, int64s(kept)))
	}
	for d := sparse; d < t.Dim(); d++ {
		if reduced[d] {
			values = source.Must(values.Unsqueeze(d - sparse + 1))
		}
	}
	return onValues(t, elementwise.Contiguous(source.Must(values.Expand(s.Values.Shape()...))))
}

// ToDenseOf returns a sparse tensor with all its elements, and others as they are.
func ToDenseOf(t *tensor.Tensor) *tensor.Tensor {
	if t.IsSparse() {
		return toDense(t)
	}
	return t
}

func softmaxOfType(c define.Call, name string) *tensor.Tensor {
	t := c.Tensor(0)
	return softmaxSparse(source.Must(t.To(c.DtypeOr(2, t.DType()))), c.Int(1), name)
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
	keys := placeKeys(define.Apply("index_select", s.Indices, 0, int64s(others)), shape)
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
	out := source.Must(values[0].Clone(tensor.ContiguousFormat))
	for _, group := range groups {
		places := int64s(group)
		rows := make([]*tensor.Tensor, len(values))
		for i, v := range values {
			rows[i] = define.Apply("index_select", v, 0, places)
		}
		define.Apply("index_copy_", out, 0, places, f(rows))
	}
	return out
}

func softmaxSparse(t *tensor.Tensor, dim int, name string) *tensor.Tensor {
	requireCOO("_sparse_softmax", t)
	source.Check(dim >= 0 && dim < t.Dim(), ": dim must be non-negative and less than input dimensions")
	if !t.DType().IsFloating() {
		source.Raise(source.RuntimeError, "\"softmax\" not implemented for '%s'", t.DType().CppName())
	}
	t = coalesced(t)
	values := t.Sparse().Values
	if dims := sparseDims(t); dim >= dims {
		return onValues(t, define.Apply(name, values, dim-dims+1, value.None))
	}
	return onValues(t, overPools(pools(t, dim), func(rows []*tensor.Tensor) *tensor.Tensor { return define.Apply(name, rows[0], 0, value.None) }, values))
}

// softmaxGradient takes gradients at places that the result does not have for nothing.
func softmaxGradient(c define.Call, name string) *tensor.Tensor {
	g, out, dim := c.Tensor(0), coalesced(c.Tensor(1)), c.Int(2)
	if dim < 0 {
		dim += out.Dim()
	}
	values := out.Sparse().Values
	grads := atPlaces(g, out)
	if dims := sparseDims(out); dim >= dims {
		return onValues(out, define.Apply(name, grads, values, dim-dims+1, out.DType()))
	}
	return onValues(out, overPools(pools(out, dim), func(rows []*tensor.Tensor) *tensor.Tensor {
		return define.Apply(name, rows[1], rows[0], 0, out.DType())
	}, values, grads))
}

package sparse

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// checkCOO fails where indices and values are no parts of a tensor of a shape. It does not read the indices.
func checkCOO(indices, values *tensor.Tensor, shape []int) {
	source.Check(!indices.IsSparse(), "expected indices to be a dense tensor, but got indices of layout %s", views.LayoutName(indices.Layout()))
	source.Check(!values.IsSparse(), "expected values to be a dense tensor, but got values of layout %s", views.LayoutName(values.Layout()))
	source.Check(indices.Dim() == 2, "indices must be sparse_dim x nnz, but got: %s", define.ShapeText(indices.Shape()))
	source.Check(indices.DType() == tensor.Int64, "indices must be an int64 tensor")
	sparse, dense := indices.Size(0), values.Dim()-1
	source.Check(len(shape) == sparse+dense, "number of dimensions must be sparse_dim (%d) + dense_dim (%d), but got %d", sparse, dense, len(shape))
	checkPairs(indices, values)
	expected := slices.Concat([]int{values.Size(0)}, shape[sparse:])
	source.Check(tensor.SameShape(expected, values.Shape()), "values has incorrect size, expected %s, got %s", define.ShapeText(expected), define.ShapeText(values.Shape()))
}

// checkPairs fails unless there is a value for each place.
func checkPairs(indices, values *tensor.Tensor) {
	source.Check(indices.Size(1) == values.Size(0), "indices and values must have same nnz, but got nnz from indices: %d, nnz from values: %d", indices.Size(1), values.Size(0))
}

// indexBounds returns the smallest and the largest index of each sparse dimension, nil where there are no places.
func indexBounds(indices *tensor.Tensor) (low, high []int) {
	source.Check(indices.DType() == tensor.Int64, "indices must be an int64 tensor, but got %s", indices.DType().CppName())
	dims, n := indices.Size(0), indices.Size(1)
	if dims == 0 || n == 0 {
		return nil, nil
	}
	all := tensor.Data[int64](elementwise.Contiguous(indices))
	for d := range dims {
		row := all[d*n : (d+1)*n]
		least, greatest := row[0], row[0]
		for from, to := range parallel.Stretches(n) {
			least, greatest = min(least, slices.Min(row[from:to])), max(greatest, slices.Max(row[from:to]))
		}
		low, high = append(low, int(least)), append(high, int(greatest))
	}
	return low, high
}

// checkIndices fails where a place lies outside of the shape.
func checkIndices(indices *tensor.Tensor, shape []int) {
	low, high := indexBounds(indices)
	for d := range low {
		source.Check(low[d] >= 0, "found negative index %d for dim %d", low[d], d)
		source.Check(high[d] < shape[d], "size is inconsistent with indices: for dim %d, size is %d but found index %d", d, shape[d], high[d])
	}
}

// newCOO checks parts and makes a tensor of them.
func newCOO(indices, values *tensor.Tensor, shape []int) *tensor.Tensor {
	if values.Dim() == 0 && !values.IsSparse() {
		values = source.Must(values.Expand(1))
	}
	source.Check(!indices.IsSparse(), "expected indices to be a dense tensor, but got indices of layout %s", views.LayoutName(indices.Layout()))
	source.Check(!values.IsSparse(), "expected values to be a dense tensor, but got values of layout %s", views.LayoutName(values.Layout()))
	source.Check(indices.Dim() == 2, "indices must be sparse_dim x nnz, but got: %s", define.ShapeText(indices.Shape()))
	if shape == nil {
		_, high := indexBounds(indices)
		shape = make([]int, indices.Size(0), indices.Size(0)+values.Dim()-1)
		for d := range high {
			shape[d] = high[d] + 1
		}
		shape = append(shape, values.Shape()[1:]...)
	}
	sparse, dense := indices.Size(0), values.Dim()-1
	source.Check(len(shape) == sparse+dense, "number of dimensions must be sparse_dim (%d) + dense_dim (%d), but got %d", sparse, dense, len(shape))
	checkIndices(indices, shape)
	checkCOO(indices, values, shape)
	return views.Coo(shape, indices, values, false)
}

// placeKeys returns the place of each value as one number, in row-major order over the sparse dimensions.
func placeKeys(indices *tensor.Tensor, shape []int) []int {
	source.Check(!indices.IsSparse() && indices.Dim() == 2 && indices.DType() == tensor.Int64, "expected indices (sparse_dim x nnz) of the type Long, but got a tensor %s of the type %s",
		define.ShapeText(indices.Shape()), indices.DType().CppName())
	source.Check(indices.Size(0) <= len(shape), "expected indices of at most %d dimensions, but got those of %d", len(shape), indices.Size(0))
	dims, n := indices.Size(0), indices.Size(1)
	keys := make([]int, n)
	if n == 0 || dims == 0 {
		return keys
	}
	all := tensor.Data[int64](elementwise.Contiguous(indices))
	for d := range dims {
		size, row := shape[d], all[d*n:(d+1)*n]
		for lo, hi := range parallel.Stretches(n) {
			for j := lo; j < hi; j++ {
				i := row[j]
				if i < 0 || int(i) >= size {
					source.Raise(source.RuntimeError, "size is inconsistent with indices: for dim %d, size is %d but found index %d", d, size, i)
				}
				keys[j] = keys[j]*size + int(i)
			}
		}
	}
	return keys
}

// cooKeys is placeKeys the places of a tensor.
func cooKeys(t *tensor.Tensor) []int { return placeKeys(t.Sparse().Indices, t.Shape()) }

// stableOrder returns the order in which keys rise.
func stableOrder(keys []int) []int {
	order := make([]int, len(keys))
	if slices.IsSorted(keys) {
		for i := range order {
			order[i] = i
		}
		return order
	}
	sorted := tensor.Data[int64](define.Apply("argsort.stable", int64s(keys), true))
	for lo, hi := range parallel.Stretches(len(order)) {
		for i := lo; i < hi; i++ {
			order[i] = int(sorted[i])
		}
	}
	return order
}

func int64s(xs []int) *tensor.Tensor {
	t := define.Empty([]int{len(xs)}, tensor.Int64)
	if len(xs) > 0 {
		for i, d := 0, tensor.Data[int64](t); i < len(xs); i++ {
			d[i] = int64(xs[i])
		}
	}
	return t
}

// sumInto returns n rows, of which row at[i] is the sum of the rows i of values.
func sumInto(n int, at []int, values *tensor.Tensor) *tensor.Tensor {
	return addRows(define.Zeros(slices.Concat([]int{n}, values.Shape()[1:]), values.DType()), at, values, value.Int(1))
}

// addRows adds alpha times the rows of values to those of sums, which nobody else has, at places.
func addRows(sums *tensor.Tensor, at []int, values *tensor.Tensor, alpha value.Value) *tensor.Tensor {
	if len(at) == 0 || values.Numel() == 0 {
		return sums
	}
	if sums.DType() == tensor.Bool {
		counts := addRows(elementwise.To(sums, tensor.Int64), at, elementwise.To(values, tensor.Int64), value.Int(1))
		return elementwise.To(counts, tensor.Bool)
	}
	return define.Apply("index_add_", sums, 0, int64s(at), values, alpha)
}

// coalesced returns t with places in order, none of which occurs twice.
func coalesced(t *tensor.Tensor) *tensor.Tensor {
	s := requireCOO("coalesce", t)
	if s.Coalesced {
		return t
	}
	if s.NNZ() < 2 {
		return views.Coo(t.Shape(), s.Indices, s.Values, true)
	}
	keys := cooKeys(t)
	order := stableOrder(keys)
	first, groups := order[:0:0], make([]int, len(order))
	for lo, hi := range parallel.Stretches(len(order)) {
		for i, j := range order[lo:hi] {
			if i += lo; i == 0 || keys[j] != keys[order[i-1]] {
				first = append(first, j)
			}
			groups[i] = len(first) - 1
		}
	}
	values := define.Apply("index_select", s.Values, 0, int64s(order))
	if len(first) < len(order) {
		values = sumInto(len(first), groups, values)
	}
	return views.Coo(t.Shape(), define.Apply("index_select", s.Indices, 1, int64s(first)), values, true)
}

// showing defines a form that gives a part of its argument, a tensor over the part's elements. It fails on layouts that do not have it.
func showing(name string, part func(s *tensor.Sparse) *tensor.Tensor) sparseForm {
	return sparseRunning(func(c define.Call) {
		found := part(c.Tensor(0).Sparse())
		if found == nil {
			refuseSparse(define.Key(name), c.Tensor(0))
		}
		c.Out[0] = value.OfTensor(found.Detach())
	})
}

// ofCOO restricts a part to sparse_coo.
func ofCOO(part func(s *tensor.Sparse) *tensor.Tensor) func(s *tensor.Sparse) *tensor.Tensor {
	return func(s *tensor.Sparse) *tensor.Tensor {
		if s.Layout != tensor.SparseCOO {
			return nil
		}
		return part(s)
	}
}

func needsCoalesced(name string, s *tensor.Sparse) {
	source.Check(s.Layout != tensor.SparseCOO || s.Coalesced, "Cannot get %s on an uncoalesced tensor, please call .coalesce() first", name)
}

func indicesPart(s *tensor.Sparse) *tensor.Tensor { return s.Indices }
func valuesPart(s *tensor.Sparse) *tensor.Tensor  { return s.Values }

func answeringSparse(f func(t *tensor.Tensor, s *tensor.Sparse) value.Value) sparseForm {
	return sparseRunning(func(c define.Call) { c.Out[0] = f(c.Tensor(0), c.Tensor(0).Sparse()) })
}

// sparseParts are the operators that tell what a sparse tensor is made of.
var sparseParts = []ops.Def{
	{Name: "_indices", Sparse: showing("_indices", ofCOO(indicesPart))},
	{Name: "_values", Sparse: showing("_values", ofCOO(valuesPart))},
	{Name: "indices", Sparse: showing("indices", ofCOO(func(s *tensor.Sparse) *tensor.Tensor {
		needsCoalesced("indices", s)
		return s.Indices
	}))},
	{Name: "values", Sparse: showing("values", func(s *tensor.Sparse) *tensor.Tensor {
		needsCoalesced("values", s)
		return s.Values
	})},
	{Name: "_nnz", Sparse: answeringSparse(func(_ *tensor.Tensor, s *tensor.Sparse) value.Value { return value.Int(int64(s.NNZ())) })},
	{Name: "sparse_dim", Sparse: answeringSparse(func(t *tensor.Tensor, _ *tensor.Sparse) value.Value {
		return value.Int(int64(sparseDims(t)))
	})},
	{Name: "_dimI", Sparse: answeringSparse(func(t *tensor.Tensor, _ *tensor.Sparse) value.Value { return value.Int(int64(sparseDims(t))) })},
	{Name: "dense_dim", Sparse: answeringSparse(func(t *tensor.Tensor, _ *tensor.Sparse) value.Value {
		return value.Int(int64(denseDims(t)))
	})},
	{Name: "_dimV", Sparse: answeringSparse(func(t *tensor.Tensor, _ *tensor.Sparse) value.Value { return value.Int(int64(denseDims(t))) })},
	{Name: "is_coalesced", Sparse: sparseRunning(func(c define.Call) {
		c.Out[0] = value.Bool(requireCOO("is_coalesced", c.Tensor(0)).Coalesced)
	})},
	{Name: "coalesce", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return coalesced(c.Tensor(0)) })},
	{Name: "_coalesce", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return coalesced(c.Tensor(0)) })},
	{Name: "_coalesced_", Sparse: sparseRunning(func(c define.Call) {
		t := c.Tensor(0)
		s := *requireCOO("_coalesced_", t)
		s.Coalesced = c.Bool(1)
		t.Become(source.Must(tensor.NewSparse(t.Shape(), s)))
		c.Out[0] = c.Args[0]
	})},
	{Name: "crow_indices", Sparse: showing("crow_indices", compressedBy("crow_indices", true, indicesPart))},
	{Name: "col_indices", Sparse: showing("col_indices", compressedBy("col_indices", true, func(s *tensor.Sparse) *tensor.Tensor { return s.Plain }))},
	{Name: "ccol_indices", Sparse: showing("ccol_indices", compressedBy("ccol_indices", false, indicesPart))},
	{Name: "row_indices", Sparse: showing("row_indices", compressedBy("row_indices", false, func(s *tensor.Sparse) *tensor.Tensor { return s.Plain }))},
	{Name: "prim::layout", Sparse: answeringSparse(func(_ *tensor.Tensor, s *tensor.Sparse) value.Value { return value.Int(int64(s.Layout)) })},
	{Name: "prim::is_sparse", Sparse: answeringSparse(func(_ *tensor.Tensor, s *tensor.Sparse) value.Value {
		return value.Bool(s.Layout == tensor.SparseCOO)
	})},
	{Name: "prim::is_mkldnn", Sparse: answeringSparse(func(_ *tensor.Tensor, s *tensor.Sparse) value.Value {
		return value.Bool(s.Layout == tensor.MKLDNN)
	})},
	{Name: "prim::is_sparse_csr", Sparse: answeringSparse(func(_ *tensor.Tensor, s *tensor.Sparse) value.Value {
		return value.Bool(s.Layout == tensor.SparseCSR)
	})},
	{Name: "prim::device", Sparse: answeringSparse(func(t *tensor.Tensor, _ *tensor.Sparse) value.Value { return value.OfDevice(t.ShownDevice()) })},
	{Name: "prim::is_cpu", Sparse: answeringSparse(func(t *tensor.Tensor, _ *tensor.Sparse) value.Value {
		return value.Bool(t.ShownDevice().Type == tensor.CPU)
	})},
	{Name: "prim::is_meta", Sparse: answeringSparse(func(t *tensor.Tensor, _ *tensor.Sparse) value.Value {
		return value.Bool(t.ShownDevice().Type == tensor.Meta)
	})},
}

// compressedBy restricts a part to layouts that compress rows, or columns.
func compressedBy(name string, rows bool, part func(s *tensor.Sparse) *tensor.Tensor) func(s *tensor.Sparse) *tensor.Tensor {
	return func(s *tensor.Sparse) *tensor.Tensor {
		source.Check(s.Layout != tensor.SparseCOO && s.Layout.ByRows() == rows || s.Layout == tensor.SparseCOO,
			"\"%s\" expected sparse %s tensor layout but got %s", name, map[bool]string{true: "row compressed", false: "column compressed"}[rows], views.LayoutName(s.Layout))
		if s.Layout == tensor.SparseCOO {
			return nil
		}
		return part(s)
	}
}

// denseDims returns how many dimensions the values of a place have.
func denseDims(t *tensor.Tensor) int {
	s := t.Sparse()
	if s.Layout == tensor.SparseCOO {
		return s.Values.Dim() - 1
	}
	blocks := 0
	if s.Layout.Blocked() {
		blocks = 2
	}
	return s.Values.Dim() - s.Plain.Dim() - blocks
}

// toDense returns the elements of a sparse tensor.
func toDense(t *tensor.Tensor) *tensor.Tensor {
	if t.Layout().Compressed() {
		t = compressedToCOO(t)
	}
	return addToDense(define.Zeros(t.Shape(), t.DType()), t, value.Int(1))
}

// alone says of a result over fresh memory that it alone uses that, and is no view of what the operator has forgotten.
func alone(t *tensor.Tensor) *tensor.Tensor {
	t.SetBase(nil)
	t.SetUsers(1)
	return t
}

// addToDense adds alpha times a sparse tensor to a contiguous one of its shape and type, which nobody else has.
func addToDense(dense, t *tensor.Tensor, alpha value.Value) *tensor.Tensor {
	s, dims := t.Sparse(), sparseDims(t)
	rows, _ := tensor.SparseNumel(t.Shape()[:dims])
	flat := source.Must(dense.Reshape(slices.Concat([]int{rows}, t.Shape()[dims:])...))
	return alone(source.Must(addRows(flat, cooKeys(t), s.Values, alpha).Reshape(t.Shape()...)))
}

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

// sparseMoves are the operators that move places.
var sparseMoves = []ops.Def{
	{Name: "permute", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return permuteSparse(c.Tensor(0), c.Ints(1)) })},
	{Name: "transpose.int", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return transposeSparse(c.Tensor(0), c.Int(1), c.Int(2)) })},
	{Name: "t", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return tSparse(c.Tensor(0)) })},
	{Name: "numpy_T", Sparse: sparseGiving(reverseDims)},
	{Name: "mT", Sparse: sparseGiving(matrixTransposeSparse)},
	{Name: "matrix_H", Sparse: sparseGiving(adjointSparse)},
	{Name: "mH", Sparse: sparseGiving(adjointSparse)},
	{Name: "movedim.int", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return moveSparseDims(c.Tensor(0), c.Ints(1), c.Ints(2)) })},
	{Name: "movedim.intlist", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return moveSparseDims(c.Tensor(0), c.Ints(1), c.Ints(2)) })},
	{Name: "unsqueeze", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return unsqueezeSparse(c.Tensor(0), c.Int(1)) })},
	{Name: "select.int", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return selectSparse(c.Tensor(0), c.Int(1), c.Int(2)) })},
	{Name: "unbind.int", Sparse: sparseRunning(func(c define.Call) { c.GiveList(unbindSparse(c.Tensor(0), c.Int(1))) })},
	{Name: "index_select", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return indexSelectSparse(c.Tensor(0), c.Int(1), c.Tensor(2)) })},
	{Name: "narrow_copy", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return narrowSparse(c.Tensor(0), c.Int(1), c.Int(2), c.Int(3)) })},
	{Name: "cat", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return catSparse(c.Tensors(0), c.Int(1)) })},
	{Name: "stack", Sparse: sparseGiving(stackSparse)},
	{Name: "_sparse_broadcast_to", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return broadcastSparse(c.Tensor(0), c.Ints(1)) })},
	{Name: "reshape", Sparse: sparseRunning(refusingReshape)},
	{Name: "flatten.using_ints", Sparse: sparseRunning(refusingReshape)},
}

func refusingReshape(c define.Call) {
	source.Check(c.Tensor(0).Layout() == tensor.SparseCOO, "Sparse %s tensors do not have strides", "CSR")
	source.Check(false, "reshape is not implemented for sparse tensors")
}

// permuteSparse orders the sparse dimensions, and the dense ones, anew.
func permuteSparse(t *tensor.Tensor, order []int) *tensor.Tensor {
	s := requireCOO("permute", t)
	source.Check(len(order) == t.Dim(), "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = %d", t.Dim(), len(order))
	dims := sparseDims(t)
	var rows, inner, shape []int
	inner = append(inner, 0)
	seen := make([]bool, t.Dim())
	moves := false
	for i, d := range order {
		d = define.WrapDim(d, t)
		source.Check(!seen[d], "permute(sparse_coo): duplicate dims are not allowed.")
		seen[d] = true
		source.Check((i < dims) == (d < dims), "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.Only transpositions within sparse and dense dimensions are supported.")
		if moves = moves || d != i; d < dims {
			rows = append(rows, d)
		} else {
			inner = append(inner, d-dims+1)
		}
		shape = append(shape, t.Size(d))
	}
	if !moves {
		return t.Alias()
	}
	inPlace := slices.IsSorted(rows)
	indices, values := s.Indices, s.Values
	if !inPlace {
		indices = define.Apply("index_select", indices, 0, int64s(rows))
	}
	if !slices.IsSorted(inner) {
		values = source.Must(values.Permute(inner...))
	}
	return views.Coo(shape, indices, values, s.Coalesced && inPlace)
}

func transposeSparse(t *tensor.Tensor, a, b int) *tensor.Tensor {
	a, b = define.WrapDim(a, t), define.WrapDim(b, t)
	if t.Layout().Compressed() {
		return transposeCompressed(t, a, b)
	}
	if a == b {
		return t.Alias()
	}
	dims := sparseDims(t)
	source.Check(a < dims && b < dims, "sparse transpose: transposed dimensions must be sparse Got sparse_dim: %d, d0: %d, d1: %d", dims, a, b)
	order := make([]int, t.Dim())
	for i := range order {
		order[i] = i
	}
	order[a], order[b] = b, a
	return permuteSparse(t, order)
}

func tSparse(t *tensor.Tensor) *tensor.Tensor {
	if t.Layout() == tensor.SparseCOO {
		source.Check(sparseDims(t) <= 2 && denseDims(t) == 0, "t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got %d sparse and %d dense dimensions", sparseDims(t), denseDims(t))
	} else {
		source.Check(t.Dim() <= 2, "t() expects a tensor with <= 2 dimensions, but self is %dD", t.Dim())
	}
	if t.Dim() < 2 {
		return t.Alias()
	}
	return transposeSparse(t, 0, 1)
}

func reverseDims(c define.Call) *tensor.Tensor {
	t := c.Tensor(0)
	order := make([]int, t.Dim())
	for i := range order {
		order[i] = t.Dim() - 1 - i
	}
	if t.Layout().Compressed() && t.Dim() == 2 {
		return transposeSparse(t, 0, 1)
	}
	return permuteSparse(t, order)
}

func matrixTransposeSparse(c define.Call) *tensor.Tensor {
	t := c.Tensor(0)
	source.Check(t.Dim() >= 2, "tensor.mT is only supported on matrices or batches of matrices. Got %d-D tensor.", t.Dim())
	return transposeSparse(t, -2, -1)
}

func adjointSparse(c define.Call) *tensor.Tensor {
	t := transposeSparse(c.Tensor(0), -2, -1)
	if t.DType().IsComplex() {
		return onValues(t, define.Apply("conj_physical", t.Sparse().Values))
	}
	return t
}

func moveSparseDims(t *tensor.Tensor, from, to []int) *tensor.Tensor {
	order, err := tensor.MovedOrder(t.Dim(), from, to)
	source.Throw(err)
	return permuteSparse(t, order)
}

func unsqueezeSparse(t *tensor.Tensor, dim int) *tensor.Tensor {
	s := requireCOO("unsqueeze", t)
	dim = source.Must(tensor.WrapDim(dim, t.Dim()+1))
	shape := slices.Insert(slices.Clone(t.Shape()), dim, 1)
	dims := sparseDims(t)
	if dim > dims {
		return views.Coo(shape, s.Indices, source.Must(s.Values.Unsqueeze(dim-dims+1)), false)
	}
	parts := []*tensor.Tensor{source.Must(s.Indices.Narrow(0, 0, dim)), define.Zeros([]int{1, s.NNZ()}, tensor.Int64), source.Must(s.Indices.Narrow(0, dim, dims-dim))}
	return views.Coo(shape, define.Apply("cat", parts, 0), s.Values, false)
}

// withoutRow returns indices without those of a dimension, at some of the places.
func withoutRow(indices *tensor.Tensor, dim int, places []int) *tensor.Tensor {
	var rows []int
	for d := range indices.Size(0) {
		if d != dim {
			rows = append(rows, d)
		}
	}
	return define.Apply("index_select", define.Apply("index_select", indices, 0, int64s(rows)), 1, int64s(places))
}

// rowOf returns the indices of a sparse dimension.
func rowOf(indices *tensor.Tensor, dim int) []int64 {
	if indices.Size(1) == 0 {
		return nil
	}
	return tensor.Data[int64](elementwise.Contiguous(source.Must(indices.Select(0, dim))))
}

func selectSparse(t *tensor.Tensor, dim, index int) *tensor.Tensor {
	if t.Dim() == 0 {
		source.Raise(source.IndexError, "select() cannot be applied to a 0-dim tensor.")
	}
	dim = define.WrapDim(dim, t)
	if n := t.Size(dim); index < -n || index >= n {
		source.Raise(source.IndexError, "select(): index %d out of range for tensor of size %s at dimension %d", index, define.ShapeText(t.Shape()), dim)
	} else if index < 0 {
		index += n
	}
	if t.Layout().Compressed() {
		t = compressedToCOO(t)
	}
	s, dims := t.Sparse(), sparseDims(t)
	shape := slices.Delete(slices.Clone(t.Shape()), dim, dim+1)
	if dim >= dims {
		return views.Coo(shape, s.Indices, elementwise.Contiguous(source.Must(s.Values.Select(dim-dims+1, index))), false)
	}
	var places []int
	for j, i := range rowOf(s.Indices, dim) {
		if int(i) == index {
			places = append(places, j)
		}
	}
	values := define.Apply("index_select", s.Values, 0, int64s(places))
	if dims == 1 {
		return define.Apply("sum.dim_IntList", values, []int{0}, false, t.DType())
	}
	return views.Coo(shape, withoutRow(s.Indices, dim, places), values, false)
}

func unbindSparse(t *tensor.Tensor, dim int) []*tensor.Tensor {
	if t.Dim() == 0 {
		source.Raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", dim)
	}
	dim = define.WrapDim(dim, t)
	parts := make([]*tensor.Tensor, t.Size(dim))
	for i := range parts {
		parts[i] = selectSparse(t, dim, i)
	}
	return parts
}

// indexSelectSparse gives the indices of a dimension in the order of those that are wanted.
func indexSelectSparse(t *tensor.Tensor, dim int, index *tensor.Tensor) *tensor.Tensor {
	s, dims := requireCOO("index_select", t), sparseDims(t)
	if t.Dim() == 0 {
		source.Raise(source.IndexError, "index_select() cannot be applied to a 0-dim tensor.")
	}
	dim = define.WrapDim(dim, t)
	if index.Dim() != 1 || index.DType() != tensor.Int64 {
		source.Raise(source.IndexError, "index_select() argument index must be 1-D long-tensor.")
	}
	shape := slices.Clone(t.Shape())
	shape[dim] = index.Size(0)
	wanted := make([]int, index.Size(0))
	for k := range wanted {
		i := int(index.At(k).Int64())
		if i < -t.Size(dim) || i >= t.Size(dim) {
			source.Raise(source.IndexError, "index_select(): index contains %d that is out of range for tensor of size %s at dimension %d", i, define.ShapeText(t.Shape()), dim)
		}
		if i < 0 {
			i += t.Size(dim)
		}
		wanted[k] = i
	}
	if dim >= dims {
		return views.Coo(shape, s.Indices, define.Apply("index_select", s.Values, dim-dims+1, int64s(wanted)), false)
	}
	places, renamed := matches(rowOf(s.Indices, dim), wanted)
	indices := define.Apply("index_select", s.Indices, 1, int64s(places))
	if len(places) > 0 {
		copy(tensor.Data[int64](indices)[dim*len(places):], tensor.Data[int64](int64s(renamed)))
	}
	return views.Coo(shape, indices, define.Apply("index_select", s.Values, 0, int64s(places)), false)
}

// matches pairs the indices of places with those that are wanted: the numbers of the places and of what they match, by what is wanted where there
// are as many places, else by places, as PyTorch orders them.
func matches(row []int64, wanted []int) (places, renamed []int) {
	by := map[int][]int{}
	if len(row) >= len(wanted) {
		for j, i := range row {
			by[int(i)] = append(by[int(i)], j)
		}
		for k, i := range wanted {
			for _, j := range by[i] {
				places, renamed = append(places, j), append(renamed, k)
			}
		}
		return places, renamed
	}
	for k, i := range wanted {
		by[i] = append(by[i], k)
	}
	for j, i := range row {
		for _, k := range by[int(i)] {
			places, renamed = append(places, j), append(renamed, k)
		}
	}
	return places, renamed
}

func narrowSparse(t *tensor.Tensor, dim, start, length int) *tensor.Tensor {
	s, dims := requireCOO("narrow_copy", t), sparseDims(t)
	source.Check(t.Dim() > 0, "narrow() cannot be applied to a 0-dim tensor.")
	dim = define.WrapDim(dim, t)
	source.Check(length >= 0, "narrow(): length must be non-negative.")
	if start < 0 {
		start += t.Size(dim)
	}
	source.Check(start >= 0 && start+length <= t.Size(dim), "Invalid range to narrow. range(start, start+length) must be a subset of range(0, %d).", t.Size(dim))
	shape := slices.Clone(t.Shape())
	shape[dim] = length
	if dim >= dims {
		return views.Coo(shape, s.Indices, define.Apply("narrow_copy", s.Values, dim-dims+1, start, length), s.Coalesced)
	}
	var places []int
	for j, i := range rowOf(s.Indices, dim) {
		if int(i) >= start && int(i) < start+length {
			places = append(places, j)
		}
	}
	indices := define.Apply("index_select", s.Indices, 1, int64s(places))
	if len(places) > 0 {
		row := tensor.Data[int64](indices)[dim*len(places) : (dim+1)*len(places)]
		for j := range row {
			row[j] -= int64(start)
		}
	}
	return views.Coo(shape, indices, define.Apply("index_select", s.Values, 0, int64s(places)), s.Coalesced)
}

// catSparse joins tensors. Along a dense dimension the values get zeros for those of the others.
func catSparse(ts []*tensor.Tensor, dim int) *tensor.Tensor {
	first := ts[0]
	for i, t := range ts {
		source.Check(t.IsSparse() || !ts[0].IsSparse(), "Concatenating sparse tensors, but a dense tensor was found at position %d.", i)
		source.Check(t.IsSparse() == first.IsSparse(), "Concatenating sparse tensors, but a dense tensor was found at position %d.", 0)
		requireCOO("cat", t)
	}
	dim = define.WrapDim(dim, first)
	dims, size, d := sparseDims(first), 0, first.DType()
	for i, t := range ts {
		same := t.Dim() == first.Dim()
		for k := 0; same && k < t.Dim(); k++ {
			same = k == dim || t.Size(k) == first.Size(k)
		}
		source.Check(same, "All tensors must have the same shape: %s (except in the concatenating dimension), but found shape: %s at position %d.", define.ShapeText(first.Shape()), define.ShapeText(t.Shape()), i)
		source.Check(sparseDims(t) == dims && denseDims(t) == denseDims(first), "All tensors must have the same sparse_dim and dense_dim: %d, %d, but tensor at position %d has %d, %d.", dims, denseDims(first), i, sparseDims(t), denseDims(t))
		size += t.Size(dim)
		d = tensor.Promote(d, t.DType())
	}
	shape := slices.Clone(first.Shape())
	shape[dim] = size
	var indices, values []*tensor.Tensor
	before := 0
	for _, t := range ts {
		s := t.Sparse()
		part, v := s.Indices, source.Must(s.Values.To(d))
		if dim < dims {
			part = elementwise.Contiguous(source.Must(part.Clone(tensor.ContiguousFormat)))
			for j, row := 0, rowOf(part, dim); j < len(row); j++ {
				row[j] += int64(before)
			}
		} else {
			v = paddedAlong(v, dim-dims+1, before, size-before-t.Size(dim))
		}
		indices, values = append(indices, part), append(values, v)
		before += t.Size(dim)
	}
	return views.Coo(shape, define.Apply("cat", indices, 1), define.Apply("cat", values, 0), false)
}

// paddedAlong returns t with zeros before and behind it along a dimension.
func paddedAlong(t *tensor.Tensor, dim, before, behind int) *tensor.Tensor {
	blank := func(n int) *tensor.Tensor {
		shape := slices.Clone(t.Shape())
		shape[dim] = n
		return define.Zeros(shape, t.DType())
	}
	return define.Apply("cat", []*tensor.Tensor{blank(before), t, blank(behind)}, dim)
}

func stackSparse(c define.Call) *tensor.Tensor {
	ts := c.Tensors(0)
	dim := source.Must(tensor.WrapDim(c.Int(1), ts[0].Dim()+1))
	parts := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		source.Check(t.IsSparse(), "Concatenating sparse tensors, but a dense tensor was found at position %d.", i)
		source.Check(tensor.SameShape(t.Shape(), ts[0].Shape()), "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d", define.ShapeText(ts[0].Shape()), define.ShapeText(t.Shape()), i)
		parts[i] = unsqueezeSparse(t, dim)
	}
	return catSparse(parts, dim)
}

// maskValues gives a tensor's elements at the places of another one.
func maskValues(c define.Call) *tensor.Tensor {
	t, mask := c.Tensor(0), c.Tensor(1)
	if !mask.IsSparse() {
		refuseSparse("aten::sparse_mask", t)
	}
	source.Check(tensor.SameShape(t.Shape(), mask.Shape()), "sparse_mask(): operands have incompatible sizes; self has size %s but mask has size %s", define.ShapeText(t.Shape()), define.ShapeText(mask.Shape()))
	if mask.Layout().Compressed() {
		places := compressedToCOO(mask)
		found := valuesAt(t, places.Sparse().Indices)
		if mask.Layout() != tensor.SparseCSR || mask.Dim() != 2 {
			return toCompressed(onValues(places, found), mask.Layout(), blockOf(mask))
		}
		return onValues(mask, found)
	}
	source.Check(mask.Sparse().Coalesced, "sparse_mask: mask is uncoalesced")
	if mask.Sparse().NNZ() == 0 {
		return views.EmptyCOO(t.Shape(), t.Dim(), t.DType())
	}
	return onValues(mask, elementwise.Contiguous(valuesAt(t, mask.Sparse().Indices)))
}

// atOther returns the values of t at the places of indices, as a form.
func atOther(c define.Call) *tensor.Tensor { return valuesAt(c.Tensor(0), c.Tensor(1)) }

// valuesAt returns the values of t, sparse or with elements, at places, of which there is an index for each dimension that is not among those of a
// value. Where a sparse one has none they are zero.
func valuesAt(t, indices *tensor.Tensor) *tensor.Tensor {
	keys := placeKeys(indices, t.Shape())
	if !t.IsSparse() {
		dims := indices.Size(0)
		rows, _ := tensor.SparseNumel(t.Shape()[:dims])
		flat := source.Must(t.Reshape(slices.Concat([]int{rows}, t.Shape()[dims:])...))
		return define.Apply("index_select", flat, 0, int64s(keys))
	}
	t = coalesced(asCOO(t))
	s := t.Sparse()
	if s.NNZ() == 0 {
		return define.Zeros(slices.Concat([]int{indices.Size(1)}, t.Shape()[indices.Size(0):]), t.DType())
	}
	source.Check(sparseDims(t) == indices.Size(0), "expected indices of %d sparse dimensions, but got those of %d", sparseDims(t), indices.Size(0))
	where := map[int]int{}
	for j, k := range cooKeys(t) {
		where[k] = j
	}
	var from, at []int
	for j, k := range keys {
		if i, ok := where[k]; ok {
			from, at = append(from, i), append(at, j)
		}
	}
	found := define.Apply("index_select", s.Values, 0, int64s(from))
	return addRows(define.Zeros(slices.Concat([]int{indices.Size(1)}, s.Values.Shape()[1:]), t.DType()), at, found, value.Int(1))
}

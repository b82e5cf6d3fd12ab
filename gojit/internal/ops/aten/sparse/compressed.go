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

// A compressed layout has, for each row (CSR, BSR) or column (CSC, BSC) of a matrix, where its values begin, and their columns or rows. The
// values of BSR and BSC are blocks. Leading dimensions are stacks of matrices, with as many values each.

// compressedNames are how messages name the parts of a layout, and its rows.
func compressedNames(l tensor.Layout) (compressed, plain, rows, columns string) {
	if l.ByRows() {
		compressed, plain, rows, columns = "crow_indices", "col_indices", "row", "column"
	} else {
		compressed, plain, rows, columns = "ccol_indices", "row_indices", "column", "row"
	}
	return compressed, plain, rows, columns
}

// blockOf returns the sizes of the blocks of a tensor, nil where the values are none.
func blockOf(t *tensor.Tensor) []int {
	s := t.Sparse()
	if !s.Layout.Blocked() {
		return nil
	}
	n := s.Plain.Dim()
	return []int{s.Values.Size(n), s.Values.Size(n + 1)}
}

// newCompressed checks parts and makes a tensor of them. Where shape is nil it is the smallest one.
func newCompressed(indices, plain, values *tensor.Tensor, shape []int, l tensor.Layout) *tensor.Tensor {
	if !l.Compressed() {
		source.Raise(source.RuntimeError, "\"sparse_compressed_tensor\" expected sparse compressed tensor layout but got %s", views.LayoutName(l))
	}
	if shape == nil {
		shape = smallestShape(indices, plain, values, l)
	}
	checkCompressed(indices, plain, values, shape, l)
	return views.Compressed(shape, indices, plain, values, l)
}

func smallestShape(indices, plain, values *tensor.Tensor, l tensor.Layout) []int {
	compressedName, _, _, _ := compressedNames(l)
	source.Check(indices.Dim() >= 1, "%s must have dimensionality >= 1 but got %d", compressedName, indices.Dim())
	batch := indices.Dim() - 1
	block, blocks := []int{1, 1}, 0
	if l.Blocked() {
		blocks = 2
		source.Check(values.Dim() >= batch+3, "values must have dimensionality > sum of batch and block dimensionalities (=%d + %d) but got %d", batch, 2, values.Dim())
		block = values.Shape()[batch+1 : batch+3]
	}
	source.Check(values.Dim() >= batch+1+blocks, "values must have dimensionality > sum of batch and block dimensionalities (=%d + %d) but got %d", batch, blocks, values.Dim())
	rows, columns := indices.Size(batch)-1, 0
	for _, x := range indexNumbers(plain) {
		columns = max(columns, x+1)
	}
	if !l.ByRows() {
		rows, columns = columns, rows
	}
	return slices.Concat(indices.Shape()[:batch], []int{rows * block[0], columns * block[1]}, values.Shape()[batch+1+blocks:])
}

// single fails unless a compressed tensor is one matrix without dense dimensions.
func single(t *tensor.Tensor) *tensor.Sparse {
	source.Check(t.Dim() == 2, "operators on stacks of matrices in the layout %s, and on those with dense dimensions, are not implemented, but got a tensor of size %s", views.LayoutName(t.Layout()), define.ShapeText(t.Shape()))
	return t.Sparse()
}

// compressedToCOO gives the places of a tensor in a compressed layout one by one, in the order of rows.
func compressedToCOO(t *tensor.Tensor) *tensor.Tensor {
	s, shape := t.Sparse(), t.Shape()
	if s.Layout == tensor.SparseCSR && len(shape) == 2 {
		return rowsToCOO(t)
	}
	batch := s.Plain.Dim() - 1
	block, blocks := []int{1, 1}, 0
	if b := blockOf(t); b != nil {
		block, blocks = b, 2
	}
	dense := s.Values.Dim() - batch - 1 - blocks
	stacks, _ := tensor.SparseNumel(shape[:batch])
	begin, plain, nnz := indexNumbers(s.Indices), indexNumbers(s.Plain), s.NNZ()
	each := block[0] * block[1]
	indices := define.Zeros([]int{batch + 2, stacks * nnz * each}, tensor.Int64)
	n := stacks * nnz * each
	lead := make([]int64, stacks)
	for i := range lead {
		lead[i] = int64(i)
	}
	where := make([]int64, batch*stacks)
	unravel(where, lead, shape[:batch])
	if n > 0 {
		d := tensor.Data[int64](indices)
		rows := len(begin)/max(stacks, 1) - 1
		for m := range stacks {
			for r := range rows {
				for j := begin[m*(rows+1)+r]; j < begin[m*(rows+1)+r+1]; j++ {
					for e := range each {
						at := (m*nnz+j)*each + e
						row, column := r, plain[m*nnz+j]
						if !s.Layout.ByRows() {
							row, column = column, row
						}
						for k := range batch {
							d[k*n+at] = where[k*stacks+m]
						}
						d[batch*n+at], d[(batch+1)*n+at] = int64(row*block[0]+e/block[1]), int64(column*block[1]+e%block[1])
					}
				}
			}
		}
	}
	values := source.Must(elementwise.Contiguous(s.Values).Reshape(slices.Concat([]int{n}, s.Values.Shape()[batch+1+blocks:])...))
	out := views.Coo(shape, indices, values, s.Layout == tensor.SparseCSR && dense == 0)
	if s.Layout != tensor.SparseCSR {
		return coalesced(views.Coo(shape, indices, values, false))
	}
	return out
}

// rowsToCOO is compressedToCOO for a matrix in the layout CSR.
func rowsToCOO(t *tensor.Tensor) *tensor.Tensor {
	s, n := t.Sparse(), t.Sparse().NNZ()
	indices := define.Empty([]int{2, n}, tensor.Int64)
	source.Throw(tensor.Copy(source.Must(indices.Select(0, 1)), s.Plain))
	if begin := indexNumbers(s.Indices); n > 0 {
		rows := tensor.Data[int64](indices)[:n]
		for r := range begin[1:] {
			for j := begin[r]; j < begin[r+1]; j++ {
				rows[j] = int64(r)
			}
		}
	}
	return views.Coo(t.Shape(), indices, elementwise.Contiguous(s.Values), true)
}

// toCompressed gives a matrix, with elements or sparse, in a compressed layout.
func toCompressed(t *tensor.Tensor, l tensor.Layout, block []int) *tensor.Tensor {
	if t.Layout() == l && (block == nil || slices.Equal(block, blockOf(t))) {
		return t
	}
	if l.Blocked() {
		source.Check(len(block) == 2, "blocksize must have 2 elements, but got %d", len(block))
	}
	source.Check(t.Dim() >= 2, "Only tensors with two or more dimensions can be converted to the %s layout.", views.LayoutName(l))
	batch := t.Dim() - 2
	for i, n := range block {
		source.Check(n > 0 && t.Size(batch+i)%n == 0, "Tensor size(%d) %d needs to be divisible by blocksize[%d] %d", i-2, t.Size(batch+i), i, n)
	}
	if batch > 0 {
		return stackCompressed(t, l, block)
	}
	var places *tensor.Tensor
	switch {
	case !t.IsSparse():
		places = toSparse(t, 2)
	case t.Layout() == tensor.SparseCOO:
		source.Check(sparseDims(t) == 2 && denseDims(t) == 0, "Only 2D sparse tensors can be converted to the %s layout but got input with %d dimensions.", views.LayoutName(l), t.Dim())
		places = coalesced(t)
	default:
		places = compressedToCOO(t)
	}
	return compressPlaces(places, l, block)
}

// compressPlaces gives a matrix in sparse_coo, one value a place and in order, in a compressed layout.
func compressPlaces(t *tensor.Tensor, l tensor.Layout, block []int) *tensor.Tensor {
	size := []int{1, 1}
	if block != nil {
		size = block
	}
	rows, columns := cooRows(t)
	if l == tensor.SparseCSR {
		return compressRows(t, rows, columns)
	}
	height, width := t.Size(0)/size[0], t.Size(1)/size[1]
	keys, inside := make([]int, len(rows)), make([]int, len(rows))
	for j := range rows {
		r, k := rows[j]/size[0], columns[j]/size[1]
		if keys[j] = r*width + k; !l.ByRows() {
			keys[j] = k*height + r
		}
		inside[j] = rows[j]%size[0]*size[1] + columns[j]%size[1]
	}
	if !l.ByRows() {
		height, width = width, height
	}
	order := stableOrder(keys)
	var major, minor, at []int // of the blocks; where each value goes
	for i, j := range order {
		if i == 0 || keys[j] != keys[order[i-1]] {
			major, minor = append(major, keys[j]/max(width, 1)), append(minor, keys[j]%max(width, 1))
		}
		at = append(at, (len(major)-1)*size[0]*size[1]+inside[j])
	}
	values := define.Apply("index_select", t.Sparse().Values, 0, int64s(order))
	if block != nil {
		values = source.Must(sumInto(len(major)*size[0]*size[1], at, values).Reshape(len(major), size[0], size[1]))
	}
	return views.Compressed(t.Shape(), int64s(beginnings(major, height)), int64s(minor), values, l)
}

// compressRows is compressPlaces for the layout CSR.
func compressRows(t *tensor.Tensor, rows, columns []int) *tensor.Tensor {
	begin, values := int64s(beginnings(rows, t.Size(0))), t.Sparse().Values
	if areInOrder(rows, columns) {
		return views.Compressed(t.Shape(), begin, int64s(columns), source.Must(values.Clone(tensor.ContiguousFormat)), tensor.SparseCSR)
	}
	keys, width := define.Table[int](len(rows)), t.Size(1)
	for i := range keys {
		keys[i] = rows[i]*width + columns[i]
	}
	order := int64s(stableOrder(keys))
	return views.Compressed(t.Shape(), begin, define.Apply("index_select", int64s(columns), 0, order), define.Apply("index_select", values, 0, order), tensor.SparseCSR)
}

// areInOrder reports whether places follow each other by rows, and by columns within rows.
func areInOrder(rows, columns []int) bool {
	for i := 1; i < len(rows); i++ {
		if rows[i] < rows[i-1] || rows[i] == rows[i-1] && columns[i] <= columns[i-1] {
			return false
		}
	}
	return true
}

// stackCompressed gives a stack of matrices in a compressed layout. They must have as many values each.
func stackCompressed(t *tensor.Tensor, l tensor.Layout, block []int) *tensor.Tensor {
	dense := elementwise.Contiguous(ToDenseOf(t))
	batch := t.Dim() - 2
	stacks, _ := tensor.SparseNumel(t.Shape()[:batch])
	source.Check(stacks > 0, "to_sparse_%s: Expected product of batch dimensions to be non-zero.", l.String()[len("sparse_"):])
	flat := source.Must(dense.Reshape(stacks, t.Size(batch), t.Size(batch+1)))
	parts := make([][]*tensor.Tensor, 3)
	for m := range stacks {
		s := toCompressed(source.Must(flat.Select(0, m)), l, block).Sparse()
		if m > 0 {
			source.Check(s.NNZ() == parts[1][0].Numel(), "Expect the same number of specified elements per batch.")
		}
		parts[0], parts[1], parts[2] = append(parts[0], s.Indices), append(parts[1], s.Plain), append(parts[2], s.Values)
	}
	joined := make([]*tensor.Tensor, 3)
	for i := range parts {
		j := define.Apply("stack", parts[i], 0)
		joined[i] = source.Must(j.Reshape(slices.Concat(t.Shape()[:batch], j.Shape()[1:])...))
	}
	return views.Compressed(t.Shape(), joined[0], joined[1], joined[2], l)
}

// compressedLike gives a product of two matrices in the layout of a factor.
func compressedLike(a, b, product *tensor.Tensor) *tensor.Tensor {
	l := a.Layout()
	if !l.Compressed() {
		l = b.Layout()
	}
	if l.Blocked() {
		l = tensor.SparseCSR
	}
	return toCompressed(product, l, nil)
}

// flippedLayout is the layout of the transposed matrix with the same parts.
var flippedLayout = map[tensor.Layout]tensor.Layout{
	tensor.SparseCSR: tensor.SparseCSC, tensor.SparseCSC: tensor.SparseCSR, tensor.SparseBSR: tensor.SparseBSC, tensor.SparseBSC: tensor.SparseBSR,
}

func transposeCompressed(t *tensor.Tensor, a, b int) *tensor.Tensor {
	if a == b {
		return t.Alias()
	}
	s := single(t)
	values := s.Values
	if s.Layout.Blocked() {
		values = source.Must(values.Transpose(1, 2))
	}
	return views.Compressed([]int{t.Size(1), t.Size(0)}, s.Indices, s.Plain, values, flippedLayout[s.Layout])
}

// addCompressed returns a + alpha*b, of which at least one is in a compressed layout, which the sum has.
func addCompressed(a, b *tensor.Tensor, alpha value.Value) *tensor.Tensor {
	x, y := promoted(a, b)
	l := x.Layout()
	block := blockOf(x)
	if !l.Compressed() {
		l, block = y.Layout(), blockOf(y)
	}
	return toCompressed(mergeSum(asCOO(x), asCOO(y), alpha), l, block)
}

// mulCompressed returns the product at the places of factors in a compressed layout.
func mulCompressed(a, b *tensor.Tensor) *tensor.Tensor {
	if !a.IsSparse() {
		a, b = b, a
	}
	if !b.IsSparse() {
		source.Check(tensor.SameShape(source.Must(tensor.Broadcast(a.Shape(), b.Shape())), a.Shape()), "mul: expected a factor that broadcasts to %s, but got %s", define.ShapeText(a.Shape()), define.ShapeText(b.Shape()))
		if blockOf(a) == nil && a.Layout() == tensor.SparseCSR {
			places := compressedToCOO(a)
			return onValues(a, define.Apply("mul.Tensor", a.Sparse().Values, atPlaces(source.Must(b.Expand(a.Shape()...)), places)))
		}
		return toCompressed(mulDense(compressedToCOO(a), b), a.Layout(), blockOf(a))
	}
	source.Check(tensor.SameShape(a.Shape(), b.Shape()), "mul: expected factors of one size, but got %s and %s", define.ShapeText(a.Shape()), define.ShapeText(b.Shape()))
	l := a.Layout()
	if !l.Compressed() {
		return toCompressed(intersect(asCOO(a), asCOO(b)), b.Layout(), blockOf(b))
	}
	return toCompressed(intersect(asCOO(a), asCOO(b)), l, blockOf(a))
}

func sumCompressed(c define.Call) *tensor.Tensor {
	t := c.Tensor(0)
	if t.Layout() == tensor.SparseCOO {
		refuseSparse("aten::sum.dim_IntList", t)
	}
	return define.Apply("sum", t.Sparse().Values, c.Args[1])
}

// reduceCompressed sums or multiplies the values of rows, columns, or all, and keeps the dimensions.
func reduceCompressed(c define.Call, name string) *tensor.Tensor {
	t := c.Tensor(0)
	source.Check(t.Layout() == tensor.SparseCSR, "Expected a tensor in the layout SparseCsr, but got %s", views.LayoutName(t.Layout()))
	source.Check(c.Bool(2), "reduction operations on CSR tensors with keepdim=False is unsupported")
	reduced := summedDims(t, c.Ints(1))
	places := compressedToCOO(t)
	shape := slices.Clone(t.Shape())
	keys := make([]int, places.Sparse().NNZ())
	rows, columns := cooRows(places)
	for d, on := range reduced {
		if on {
			shape[d] = 1
		}
	}
	for j := range keys {
		keys[j] = min(rows[j], shape[0]-1)*shape[1] + min(columns[j], shape[1]-1)
	}
	order := stableOrder(keys)
	var groups [][]int
	for i, j := range order {
		if i == 0 || keys[j] != keys[order[i-1]] {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], j)
	}
	d := c.DtypeOr(3, t.DType())
	indices := define.Zeros([]int{2, len(groups)}, tensor.Int64)
	values := make([]*tensor.Tensor, len(groups))
	for g, group := range groups {
		at := tensor.Data[int64](indices)
		at[g], at[len(groups)+g] = int64(keys[group[0]]/shape[1]), int64(keys[group[0]]%shape[1])
		values[g] = define.Apply(name, define.Apply("index_select", t.Sparse().Values, 0, int64s(group)), d)
	}
	if len(groups) == 0 {
		return views.EmptyCompressed(shape, tensor.SparseCSR, d, nil)
	}
	return compressPlaces(views.Coo(shape, indices, define.Apply("stack", values, 0), true), tensor.SparseCSR, nil)
}

// resizeCompressed changes the number of rows or columns of a matrix that stays as it is there.
func resizeCompressed(c define.Call) {
	t, shape := c.Tensor(0), c.Ints(1)
	if t.Layout() != tensor.SparseCSR {
		refuseSparse("aten::resize_", t)
	}
	s := single(t)
	source.Check(len(shape) == 2, "torch.resize_: Only batched sparse CSR matrices are supported, but got size %s", define.ShapeText(shape))
	source.Check(shape[1] >= t.Size(1), "torch.resize_: Resizing columns of sparse CSR tensors to a smaller value is not supported. The original number of columns is %d while the requested new number of columns is %d.", t.Size(1), shape[1])
	begin := indexNumbers(s.Indices)
	kept := begin[min(shape[0], t.Size(0))]
	for len(begin) < shape[0]+1 {
		begin = append(begin, kept)
	}
	t.Become(views.Compressed(shape, elementwise.To(int64s(begin[:shape[0]+1]), s.Indices.DType()), source.Must(s.Plain.Narrow(0, 0, kept)), source.Must(s.Values.Narrow(0, 0, kept)), s.Layout))
	c.GiveSelf()
}

// compressedFamily are the constructors of compressed layouts.
var compressedFamily = func() []define.Definition {
	defs := []define.Definition{
		define.Giving("sparse_compressed_tensor.comp_plain_value_size", func(c define.Call) *tensor.Tensor {
			return newCompressed(c.Tensor(0), c.Tensor(1), valuesAs(c, 2, 4), shape(c, 3), givenLayout(c, 4))
		}).With(ops.Def{Grad: define.Concrete(compressedValues)}),
		define.Giving("sparse_compressed_tensor.comp_plain_value", func(c define.Call) *tensor.Tensor {
			return newCompressed(c.Tensor(0), c.Tensor(1), valuesAs(c, 2, 3), nil, givenLayout(c, 3))
		}).With(ops.Def{Grad: define.Concrete(compressedValues)}),
		define.Giving("_sparse_compressed_tensor_unsafe", func(c define.Call) *tensor.Tensor {
			return newCompressed(c.Tensor(0), c.Tensor(1), valuesAs(c, 2, 4), shape(c, 3), givenLayout(c, 4))
		}),
		define.Operator("_validate_sparse_compressed_tensor_args", func(c define.Call) {
			checkCompressed(c.Tensor(0), c.Tensor(1), c.Tensor(2), shape(c, 3), tensor.Layout(c.Int(4)))
		}),
	}
	for _, l := range []tensor.Layout{tensor.SparseCSR, tensor.SparseCSC, tensor.SparseBSR, tensor.SparseBSC} {
		kind, overload := l.String()[len("sparse_"):], "ccol_row_value"
		if l.ByRows() {
			overload = "crow_col_value"
		}
		defs = append(defs,
			define.Giving("sparse_"+kind+"_tensor."+overload+"_size", func(c define.Call) *tensor.Tensor {
				return newCompressed(c.Tensor(0), c.Tensor(1), valuesAs(c, 2, 4), shape(c, 3), l)
			}),
			define.Giving("sparse_"+kind+"_tensor."+overload, func(c define.Call) *tensor.Tensor {
				return newCompressed(c.Tensor(0), c.Tensor(1), valuesAs(c, 2, 3), nil, l)
			}),
			define.Giving("_sparse_"+kind+"_tensor_unsafe", func(c define.Call) *tensor.Tensor {
				return newCompressed(c.Tensor(0), c.Tensor(1), valuesAs(c, 2, 4), shape(c, 3), l)
			}),
			define.Operator("_validate_sparse_"+kind+"_tensor_args", func(c define.Call) {
				checkCompressed(c.Tensor(0), c.Tensor(1), c.Tensor(2), shape(c, 3), l)
			}),
		)
	}
	return defs
}()

func givenLayout(c define.Call, i int) tensor.Layout {
	source.Check(!c.IsNone(i+1), "sparse_compressed_tensor expected sparse compressed tensor layout but got none")
	return views.LayoutOf(c, i, tensor.Strided)
}

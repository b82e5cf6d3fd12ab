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

// sparseProducts are the products of matrices, of which one is sparse.
var sparseProducts = []ops.Def{
	{Name: "mm", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return mmSparse("aten::mm", c.Tensor(0), c.Tensor(1)) })},
	{Name: "_sparse_mm", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return mmSparse("aten::_sparse_mm", c.Tensor(0), c.Tensor(1)) })},
	{Name: "matmul", Sparse: sparseGiving(matmulSparse)},
	{Name: "mv", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return mvSparse(c.Tensor(0), c.Tensor(1)) })},
	{Name: "bmm", Sparse: sparseGiving(bmmSparse)},
	{Name: "addmm", Sparse: sparseGiving(addmmSparse)},
	{Name: "_sparse_addmm", Sparse: sparseGiving(addmmSparse)},
	{Name: "addmv", Sparse: sparseGiving(addmvSparse)},
	{Name: "linear", Sparse: sparseGiving(linearSparse)},
	{Name: "smm", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return smm(c.Tensor(0), c.Tensor(1)) })},
	{Name: "sspaddmm", Sparse: sparseGiving(sspaddmm)},
	{Name: "hspmm", Sparse: sparseGiving(hspmm)},
	{Name: "_sparse_sparse_matmul", Sparse: sparseGiving(func(c define.Call) *tensor.Tensor { return mulMatrices(c.Tensor(0), c.Tensor(1)) })},
	{Name: "sparse_sampled_addmm", Sparse: sparseGiving(sampledAddmm)},
}

// asCOO returns a tensor in the layout sparse_coo.
func asCOO(t *tensor.Tensor) *tensor.Tensor {
	if t.Layout().Compressed() {
		return compressedToCOO(t)
	}
	return t
}

// mmSparse multiplies matrices, of which one is sparse.
func mmSparse(name string, a, b *tensor.Tensor) *tensor.Tensor {
	switch {
	case a.IsSparse() && b.IsSparse():
		if a.Layout().Compressed() || b.Layout().Compressed() {
			return compressedLike(a, b, mulMatrices(asCOO(a), asCOO(b)))
		}
		return mulMatrices(a, b)
	case a.IsSparse():
		return timesDense(a, b)
	case b.Layout().Compressed():
		return denseTimes(a, b)
	}
	define.RefuseBackend("aten::sparse_dim", "CPU")
	return nil
}

// denseTimes multiplies a matrix by one in a compressed layout.
func denseTimes(a, b *tensor.Tensor) *tensor.Tensor {
	source.Check(a.Dim() == 2 && a.Size(1) == b.Size(0), "mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", a.Size(0), a.Size(1), b.Size(0), b.Size(1))
	flipped := transposedCOO(compressedToCOO(b))
	return elementwise.Contiguous(source.Must(timesDense(flipped, source.Must(a.Transpose(0, 1))).Transpose(0, 1)))
}

// transposedCOO swaps the two dimensions of a matrix.
func transposedCOO(t *tensor.Tensor) *tensor.Tensor { return permuteSparse(t, []int{1, 0}) }

// timesDense multiplies a sparse matrix by one with elements.
func timesDense(t, dense *tensor.Tensor) *tensor.Tensor {
	if t.Layout() == tensor.SparseCOO {
		source.Check(sparseDims(t) == 2, "addmm: matrices expected, got %dD tensor", sparseDims(t))
		source.Check(denseDims(t) == 0, "addmm: scalar values expected, got %dD values", denseDims(t))
		source.Check(dense.Dim() == 2, "addmm: matrices expected, got %dD tensor", dense.Dim())
		source.Check(t.Size(1) == dense.Size(0), "addmm: Argument #3 (dense): Expected dim 0 size %d, got %d", t.Size(1), dense.Size(0))
	} else {
		source.Check(t.Dim() == 2 && dense.Dim() == 2, "mat1 and mat2 must be matrices, but got %dD and %dD tensors", t.Dim(), dense.Dim())
		source.Check(t.Size(1) == dense.Size(0), "mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", t.Size(0), t.Size(1), dense.Size(0), dense.Size(1))
		t = compressedToCOO(t)
	}
	source.Check(t.DType() == dense.DType(), "addmm: expected same dtype, but got %s and %s", t.DType().CppName(), dense.DType().CppName())
	s := t.Sparse()
	if !dense.OnDevice() && !dense.IsHollow() {
		switch dense.DType() {
		case tensor.Float32:
			return addTerms[float32](s, t.Size(0), dense)
		case tensor.Float64:
			return addTerms[float64](s, t.Size(0), dense)
		}
	}
	rows, columns := cooRows(t)
	terms := define.Apply("mul.Tensor", define.Apply("index_select", dense, 0, int64s(columns)), source.Must(s.Values.Reshape(-1, 1)))
	return sumInto(t.Size(0), rows, terms)
}

// addTerms adds, for each element of a matrix of n rows, that times a row of the other one to the row where it is.
func addTerms[T float32 | float64](s *tensor.Sparse, n int, dense *tensor.Tensor) *tensor.Tensor {
	width := dense.Size(1)
	out := define.Zeros([]int{n, width}, dense.DType())
	places, values := tensor.Data[int64](elementwise.Contiguous(s.Indices)), tensor.Data[T](elementwise.Contiguous(s.Values))
	from, to := tensor.Data[T](elementwise.Contiguous(dense)), tensor.Data[T](out)
	rows, columns := places[:len(values)], places[len(values):]
	var watch parallel.Watch
	for i, v := range values {
		watch.Did(width)
		row, x := to[int(rows[i])*width:][:width], from[int(columns[i])*width:][:width]
		for j := range row {
			row[j] += v * x[j]
		}
	}
	return out
}

// cooRows returns the rows and the columns of the places of a matrix.
func cooRows(t *tensor.Tensor) (rows, columns []int) {
	indices := t.Sparse().Indices
	checkIndices(indices, t.Shape())
	both, n := indexNumbers(indices), indices.Size(1)
	return both[:n:n], both[n:]
}

func matmulSparse(c define.Call) *tensor.Tensor {
	a, b := c.Tensor(0), c.Tensor(1)
	switch {
	case a.Dim() == 2 && b.Dim() == 1:
		return mvSparse(a, b)
	case a.Dim() == 2 && b.Dim() == 2:
		return mmSparse("aten::mm", a, b)
	case a.Dim() == 3 && b.Dim() == 3:
		return bmmSparse(c)
	}
	refuseSparse("aten::matmul", firstSparse(c.Args))
	return nil
}

func mvSparse(a, b *tensor.Tensor) *tensor.Tensor {
	if !a.IsSparse() || b.IsSparse() {
		refuseSparse("aten::mv", firstSparse([]value.Value{value.OfTensor(a), value.OfTensor(b)}))
	}
	source.Check(a.Dim() == 2 && b.Dim() == 1, "mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: %d Tensor Dim: %d", a.Dim(), b.Dim())
	source.Check(a.Size(1) == b.Size(0), "mv: expected self.size(-1) == vec.size(-1)")
	return alone(source.Must(timesDense(a, source.Must(b.Unsqueeze(1))).SqueezeDim(1)))
}

// bmmSparse multiplies a sparse stack of matrices by one with elements.
func bmmSparse(c define.Call) *tensor.Tensor {
	a, b := c.Tensor(0), c.Tensor(1)
	source.Check(!b.IsSparse(), "bmm_sparse: Tensor 'mat2' must be dense")
	source.Check(requireCOO("bmm", a) != nil && denseDims(a) == 0, "bmm_sparse: Tensor 'self' must have 0 dense dims, but has %d", denseDims(a))
	source.Check(sparseDims(a) == 3, "bmm_sparse: Tensor 'self' must have 3 sparse dims, but has %d", sparseDims(a))
	source.Check(b.Dim() == 3, "bmm_sparse: Tensor 'mat2' must have 3 dims, but has %d", b.Dim())
	source.Check(a.Size(0) == b.Size(0), "bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match")
	source.Check(a.Size(2) == b.Size(1), "bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match")
	n, rows, inner, columns := a.Size(0), a.Size(1), a.Size(2), b.Size(2)
	var at, from []int
	for _, k := range cooKeys(a) {
		at, from = append(at, k/max(inner, 1)), append(from, k/max(inner*rows, 1)*inner+k%max(inner, 1))
	}
	flat := source.Must(elementwise.Contiguous(b).Reshape(n*inner, columns))
	terms := define.Apply("mul.Tensor", define.Apply("index_select", flat, 0, int64s(from)), source.Must(a.Sparse().Values.Reshape(-1, 1)))
	return alone(source.Must(sumInto(n*rows, at, terms).Reshape(n, rows, columns)))
}

// scaledSumOf returns beta*t + alpha*u; t is broadcast.
func scaledSumOf(t, u *tensor.Tensor, beta, alpha value.Value) *tensor.Tensor {
	if define.ScalarOf(alpha).Complex128() != 1 {
		u = define.Apply("mul.Scalar", u, alpha)
	}
	if define.ScalarOf(beta).Complex128() == 0 {
		return u
	}
	if define.ScalarOf(beta).Complex128() != 1 {
		t = define.Apply("mul.Scalar", t, beta)
	}
	return define.Apply("add.Tensor", t, u)
}

// addmmSparse returns beta*t + alpha*(a @ b). The arguments are those of addmm and _sparse_addmm.
func addmmSparse(c define.Call) *tensor.Tensor {
	t, a, b, beta, alpha := c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Args[3], c.Args[4]
	product := mmSparse("aten::addmm", a, b)
	if t.IsSparse() != product.IsSparse() {
		source.Check(!t.IsSparse(), "addmm: expected 'self' to be a dense tensor")
		product = toDense(product)
	}
	sum := scaledSumOf(t, product, beta, alpha)
	source.Check(tensor.SameShape(sum.Shape(), product.Shape()), "The expanded size of the tensor (%s) must match the existing size (%s)", define.ShapeText(product.Shape()), define.ShapeText(t.Shape()))
	return sum
}

func addmvSparse(c define.Call) *tensor.Tensor {
	return scaledSumOf(c.Tensor(0), mvSparse(c.Tensor(1), c.Tensor(2)), c.Args[3], c.Args[4])
}

// linearSparse is x @ w.t() + bias, where w is sparse or x is a sparse matrix.
func linearSparse(c define.Call) *tensor.Tensor {
	x, w := c.Tensor(0), c.Tensor(1)
	var product *tensor.Tensor
	switch {
	case x.IsSparse() && !w.IsSparse():
		product = timesDense(x, source.Must(w.Transpose(0, 1)))
	case !x.IsSparse() && w.IsSparse() && x.Dim() == 2 && w.Dim() == 2:
		source.Check(x.Size(1) == w.Size(1), "mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", x.Size(0), x.Size(1), w.Size(1), w.Size(0))
		if w.Layout() == tensor.SparseCOO {
			refuseSparse("aten::linear", w)
		}
		product = elementwise.Contiguous(source.Must(timesDense(asCOO(w), source.Must(x.Transpose(0, 1))).Transpose(0, 1)))
	default:
		refuseSparse("aten::linear", firstSparse(c.Args))
	}
	if c.IsNone(2) {
		return product
	}
	return define.Apply("add.Tensor", product, c.Tensor(2))
}

// smm returns the product of a sparse and a dense matrix as a sparse one with all elements of the rows that have places.
func smm(a, b *tensor.Tensor) *tensor.Tensor {
	requireCOO("smm", a)
	source.Check(a.Dim() == 2, "sspaddmm: Argument #2: matrices expected, got %dD tensor", a.Dim())
	source.Check(b.Dim() == 2, "sspaddmm: Argument #2: matrices expected, got %dD tensor", b.Dim())
	return sspaddmmOf(views.EmptyCOO([]int{a.Size(0), b.Size(1)}, 2, a.DType()), a, b, value.Int(0), value.Int(1))
}

func sspaddmm(c define.Call) *tensor.Tensor {
	return sspaddmmOf(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Args[3], c.Args[4])
}

func sspaddmmOf(t, a, b *tensor.Tensor, beta, alpha value.Value) *tensor.Tensor {
	if !a.IsSparse() || !t.IsSparse() || b.IsSparse() {
		define.RefuseBackend("aten::sspaddmm.out", "CPU")
	}
	source.Check(sparseDims(a) == 2, "sspaddmm: Argument #2: matrices expected, got %dD tensor", sparseDims(a))
	source.Check(b.Dim() == 2, "sspaddmm: Argument #2: matrices expected, got %dD tensor", b.Dim())
	source.Check(a.Size(1) == b.Size(0), "sspaddmm: Argument #3: Expected dim 0 size %d, got %d", a.Size(1), b.Size(0))
	source.Check(t.Size(0) == a.Size(0), "sspaddmm: Argument #1: Expected dim 0 size %d, got %d", a.Size(0), t.Size(0))
	source.Check(t.Size(1) == b.Size(1), "sspaddmm: Argument #1: Expected dim 1 size %d, got %d", b.Size(1), t.Size(1))
	rows := filledRows(a)
	product := define.Apply("index_select", timesDense(a, b), 0, int64s(rows))
	shape := []int{t.Size(0), t.Size(1)}
	places := define.Zeros([]int{2, len(rows) * shape[1]}, tensor.Int64)
	if n := len(rows) * shape[1]; n > 0 {
		d := tensor.Data[int64](places)
		for i := range n {
			d[i], d[n+i] = int64(rows[i/shape[1]]), int64(i%shape[1])
		}
	}
	if define.ScalarOf(alpha).Complex128() != 1 {
		product = define.Apply("mul.Scalar", product, alpha)
	}
	values := source.Must(elementwise.Contiguous(product).Reshape(-1))
	s := t.Sparse()
	if s.NNZ() == 0 {
		return views.Coo(shape, places, values, false)
	}
	old := define.Apply("mul.Scalar", s.Values, beta)
	return views.Coo(shape, define.Apply("cat", []*tensor.Tensor{s.Indices, places}, 1), define.Apply("cat", []*tensor.Tensor{old, values}, 0), false)
}

// filledRows returns the rows of a matrix that have places, in order.
func filledRows(t *tensor.Tensor) []int {
	rows, _ := cooRows(t)
	rows = slices.Clone(rows)
	slices.Sort(rows)
	return slices.Compact(rows)
}

// hspmm returns the product of a sparse and a dense matrix, with one sparse dimension: the rows that have places.
func hspmm(c define.Call) *tensor.Tensor {
	a, b := c.Tensor(0), c.Tensor(1)
	requireCOO("hspmm", a)
	source.Check(sparseDims(a) == 2 && b.Dim() == 2, "hspmm: Argument #2: matrices expected, got %dD tensor", sparseDims(a))
	source.Check(a.Size(1) == b.Size(0), "hspmm: Argument #3: Expected dim 0 size %d, got %d", a.Size(1), b.Size(0))
	rows := filledRows(a)
	places := source.Must(int64s(rows).Unsqueeze(0))
	return views.Coo([]int{a.Size(0), b.Size(1)}, places, define.Apply("index_select", timesDense(a, b), 0, int64s(rows)), false)
}

// mulMatrices multiplies two matrices in the layout sparse_coo. The columns of a row are in the order in which they are met from the last one on, as PyTorch's are.
func mulMatrices(a, b *tensor.Tensor) *tensor.Tensor {
	for _, t := range []*tensor.Tensor{a, b} {
		if t.Dim() != 2 {
			source.Check(false, "sparse_sparse_matmul_cpu: %dD tensor", t.Dim())
		}
		requireCOO("_sparse_sparse_matmul", t)
		source.Check(denseDims(t) == 0, "sparse_sparse_matmul_cpu: scalar values expected, got %dD values", denseDims(t))
	}
	source.Check(a.Size(1) == b.Size(0), "mat1 and mat2 shapes cannot be multiplied (%dx%d and %dx%d)", a.Size(0), a.Size(1), b.Size(0), b.Size(1))
	source.Check(a.DType() == b.DType(), "mat1 dtype %s does not match mat2 dtype %s", a.DType(), b.DType())
	a, b = coalesced(a), coalesced(b)
	aRows, aColumns := cooRows(a)
	bRows, bColumns := cooRows(b)
	begin := beginnings(bRows, b.Size(0))
	p := places{met: make([]int, b.Size(1))}
	var values *tensor.Tensor
	switch x, y := elementwise.Contiguous(a.Sparse().Values), elementwise.Contiguous(b.Sparse().Values); {
	case a.OnDevice() || x.IsHollow() || y.IsHollow():
		values = p.terms(aRows, aColumns, begin, bColumns, x, y)
	case a.DType() == tensor.Float32:
		values = sumsOfProducts[float32](&p, aRows, aColumns, begin, bColumns, x, y)
	case a.DType() == tensor.Float64:
		values = sumsOfProducts[float64](&p, aRows, aColumns, begin, bColumns, x, y)
	default:
		values = p.terms(aRows, aColumns, begin, bColumns, x, y)
	}
	indices := define.Apply("stack", []*tensor.Tensor{int64s(p.rows), int64s(p.columns)}, 0)
	return views.Coo([]int{a.Size(0), b.Size(1)}, indices, values, true)
}

// places are those of a product of sparse matrices that were met so far.
type places struct {
	rows, columns []int
	met           []int // one more than the place of a column in the row, if it is behind the row's first
}

// of returns the place of a column in a row, the first place of which is given.
func (p *places) of(row, column, first int) int {
	place := p.met[column] - 1
	if place < first {
		place = len(p.rows)
		p.met[column] = place + 1
		p.rows, p.columns = append(p.rows, row), append(p.columns, column)
	}
	return place
}

// terms returns the values of a product as sums of terms, which are numbered first.
func (p *places) terms(aRows, aColumns, begin, bColumns []int, x, y *tensor.Tensor) *tensor.Tensor {
	var at, left, right []int
	for i := 0; i < len(aRows); {
		parallel.Look()
		row, first, begun := aRows[i], len(p.rows), len(at)
		for ; i < len(aRows) && aRows[i] == row; i++ {
			for j := begin[aColumns[i]]; j < begin[aColumns[i]+1]; j++ {
				at, left, right = append(at, p.of(row, bColumns[j], first)), append(left, i), append(right, j)
			}
		}
		slices.Reverse(p.columns[first:])
		for k := begun; k < len(at); k++ {
			at[k] = first + len(p.columns) - 1 - at[k]
		}
	}
	terms := define.Apply("mul.Tensor", define.Apply("index_select", x, 0, int64s(left)), define.Apply("index_select", y, 0, int64s(right)))
	return sumInto(len(p.rows), at, terms)
}

// sumsOfProducts is terms for numbers that are added up as they are met.
func sumsOfProducts[T float32 | float64](p *places, aRows, aColumns, begin, bColumns []int, x, y *tensor.Tensor) *tensor.Tensor {
	var sums []T
	left, right := tensor.Data[T](x), tensor.Data[T](y)
	for i := 0; i < len(aRows); {
		parallel.Look()
		row, first := aRows[i], len(p.rows)
		for ; i < len(aRows) && aRows[i] == row; i++ {
			v := left[i]
			for j := begin[aColumns[i]]; j < begin[aColumns[i]+1]; j++ {
				term, place := v*right[j], p.of(row, bColumns[j], first)
				if place == len(sums) {
					sums = append(sums, 0+term) // without the sign of a zero
				} else {
					sums[place] += term
				}
			}
		}
		slices.Reverse(p.columns[first:])
		slices.Reverse(sums[first:])
	}
	return source.Must(tensor.FromSlice(sums, len(sums)))
}

// beginnings returns where the entries of each of n rows begin, and where the last one ends. The rows are in order.
func beginnings(rows []int, n int) []int {
	begin := define.Table[int](views.PaddedSize(n, 0, 1))
	for _, r := range rows {
		begin[r+1]++
	}
	for i := range n {
		begin[i+1] += begin[i]
	}
	return begin
}

// sampledAddmm is beta*t + alpha*(a @ b) at the places of t.
func sampledAddmm(c define.Call) *tensor.Tensor {
	t, a, b := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	source.Check(t.Layout() == tensor.SparseCSR, "sparse_sampled_addmm: Expected self to have layout SparseCsr, but got %s", views.LayoutName(t.Layout()))
	source.Check(a.Dim() == 2 && b.Dim() == 2 && a.Size(1) == b.Size(0), "sampled_addmm: mat1 and mat2 shapes cannot be multiplied (%s and %s)", define.ShapeText(a.Shape()), define.ShapeText(b.Shape()))
	source.Check(t.Size(0) == a.Size(0) && t.Size(1) == b.Size(1), "sampled_addmm: self.shape must match the product's")
	rows, columns := cooRows(compressedToCOO(t))
	products := define.Apply("sum.dim_IntList", define.Apply("mul.Tensor", define.Apply("index_select", a, 0, int64s(rows)), define.Apply("index_select", source.Must(b.Transpose(0, 1)), 0, int64s(columns))), []int{1})
	return onValues(t, scaledSumOf(t.Sparse().Values, products, c.Args[3], c.Args[4]))
}

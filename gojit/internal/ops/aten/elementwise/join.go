package elementwise

import (
	"math/big"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Joining is what is to be joined along a dimension: the tensors but for vectors without elements, and the shape and type of the result.
type Joining struct {
	Tensors []*tensor.Tensor
	Dim     int
	Shape   []int
	Dtype   tensor.DType
	Format  tensor.MemoryFormat
}

// JoiningOf fails where tensors cannot be joined.
func JoiningOf(ts []*tensor.Tensor, dim int) *Joining {
	source.Check(len(ts) > 0, "torch.cat(): expected a non-empty list of Tensors")
	r := tensor.NewResultType()
	var kept []*tensor.Tensor
	for i, t := range ts {
		source.Check(t.Dim() > 0, "zero-dimensional tensor (at position %d) cannot be concatenated", i)
		r.Tensor(t)
		if t.Dim() != 1 || t.Numel() > 0 {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return &Joining{Shape: ts[0].Shape(), Dtype: r.DType(), Format: tensor.ContiguousFormat}
	}
	first := kept[0]
	dim = define.WrapDim(dim, first)
	shape := slices.Clone(first.Shape())
	shape[dim] = 0
	for i, t := range kept {
		source.Check(t.Dim() == first.Dim(), "Tensors must have same number of dimensions: got %d and %d", first.Dim(), t.Dim())
		for d, n := range t.Shape() {
			source.Check(d == dim || n == shape[d], "Sizes of tensors must match except in dimension %d. Expected size %d but got size %d for tensor number %d in the list.", dim, shape[d], n, i)
		}
		shape[dim] += t.Size(dim)
	}
	return &Joining{kept, dim, shape, r.DType(), commonFormat(kept)}
}

// commonFormat is the memory format that the strides of all tensors are taken for.
func commonFormat(ts []*tensor.Tensor) tensor.MemoryFormat {
	format := ts[0].SuggestedFormat()
	for _, t := range ts[1:] {
		if format == tensor.ContiguousFormat || t.SuggestedFormat() != format {
			return tensor.ContiguousFormat
		}
	}
	return format
}

// Concat joins tensors along a dimension. Vectors without elements are left out.
func Concat(ts []*tensor.Tensor, dim int) *tensor.Tensor { return JoiningOf(ts, dim).run() }

func (j *Joining) run() *tensor.Tensor {
	if len(j.Tensors) == 0 {
		return define.Empty(j.Shape, j.Dtype)
	}
	if define.IsMeta(j.Tensors[0]) {
		return source.Must(tensor.EmptyMetaFormat(source.Must(tensor.EmptyMeta(j.Shape, j.Dtype)), j.Dtype, j.Format))
	}
	if j.Tensors[0].OnDevice() {
		out := source.Must(tensor.EmptyFormatOn(j.Tensors[0].Device(), source.Must(tensor.EmptyMeta(j.Shape, j.Dtype)), j.Dtype, j.Format))
		at := 0
		for _, t := range j.Tensors {
			CheckBeside(t, out.Device())
			source.Throw(tensor.Copy(source.Must(out.Slice(j.Dim, at, at+t.Size(j.Dim), 1)), t))
			at += t.Size(j.Dim)
		}
		return out
	}
	if j.Format != tensor.ContiguousFormat {
		out := source.Must(tensor.EmptyChannelsLast(j.Shape, j.Dtype, j.Format))
		views := []*tensor.Tensor{source.Must(out.MoveDims([]int{1}, []int{-1}))} // as its elements lie
		for _, t := range j.Tensors {
			views = append(views, source.Must(t.MoveDims([]int{1}, []int{-1})))
		}
		dim := j.Dim
		switch {
		case dim == 1:
			dim = out.Dim() - 1
		case dim > 1:
			dim--
		}
		Join(views[0], views[1:], dim)
		for _, v := range views {
			v.Release()
		}
		return out
	}
	out := define.Empty(j.Shape, j.Dtype)
	Join(out, j.Tensors, j.Dim)
	return out
}

// Join fills out, contiguous, with tensors.
func Join(out *tensor.Tensor, kept []*tensor.Tensor, dim int) {
	if outer := define.NumelOf(out.Shape()[:dim]); outer == 1 && joinRow(out, kept) || joinRows(out, kept, outer) {
		return
	}
	at := 0
	for _, t := range kept {
		n := t.Size(dim)
		part := source.Must(out.Slice(dim, at, at+n, 1))
		Assign(part, t)
		part.Release()
		at += n
	}
}

// joinRow fills out, contiguous, where the parts are contiguous and make one row.
func joinRow(out *tensor.Tensor, ts []*tensor.Tensor) (done bool) {
	d := out.DType()
	if !IsElement(d) || out.IsHollow() || define.IsAway(out) {
		return false
	}
	for _, t := range ts {
		if t.DType() != d || !t.IsContiguous() || t.IsHollow() || define.IsAway(t) {
			return false
		}
	}
	to := define.BytesOf(out)
	all := len(to)
	for _, t := range ts {
		from := define.BytesOf(t)
		parallel.Copy(to, from, all)
		to = to[len(from):]
	}
	return true
}

// joinRows fills out, contiguous, in so many rows from tensors that lie as it does. done is false for others, where each is one
// row, and for short rows, of which a kernel handles many at a time.
func joinRows(out *tensor.Tensor, ts []*tensor.Tensor, outer int) (done bool) {
	if outer <= 1 || out.Numel() <= outer*longestCopiedRow*len(ts) {
		return false
	}
	var room [16][]byte
	parts := room[:0]
	for _, t := range ts {
		if !t.IsContiguous() || t.DType() != out.DType() {
			return false
		}
		parts = append(parts, define.BytesOf(t))
	}
	to := define.BytesOf(out)
	row := len(to) / outer
	parallel.For(outer, define.RowGrain*4/row+1, func(lo, hi int) {
		at := lo * row
		for k := lo; k < hi; k++ {
			for _, p := range parts {
				n := len(p) / outer
				at += copy(to[at:], p[k*n:(k+1)*n])
			}
		}
	})
	return true
}

// Stack returns tensors of one shape one behind the other along a new dimension.
func Stack(ts []*tensor.Tensor, dim int) *tensor.Tensor {
	if out, ok := stackSmall(ts, dim); ok {
		return out
	}
	j := StackOf(ts, dim)
	if first := ts[0]; j.Dim < first.Dim() && first.SuggestedFormat() != tensor.ContiguousFormat {
		j.Release() // they are joined along the dimension that the new one divides, so that they lie as images do
		return source.Must(Concat(ts, j.Dim).Unflatten(j.Dim, []int{len(ts), first.Size(j.Dim)}))
	}
	out := j.run()
	j.Release()
	return out
}

// Release gives up tensors that are views.
func (j *Joining) Release() {
	for _, t := range j.Tensors {
		t.Release()
	}
}

// smallStack is the most bytes that are stacked without views.
const smallStack = 16 << 10

// stackSmall is stack of small tensors along the first dimension.
func stackSmall(ts []*tensor.Tensor, dim int) (out *tensor.Tensor, ok bool) {
	if dim != 0 || len(ts) == 0 {
		return nil, false
	}
	first := ts[0]
	if n := first.Numel() * first.DType().Size(); n == 0 || n*len(ts) > smallStack || define.IsAway(first) || first.IsHollow() || first.DType().IsQuantized() {
		return nil, false
	}
	for _, t := range ts {
		if t.DType() != first.DType() || !tensor.SameShape(t.Shape(), first.Shape()) {
			return nil, false
		}
	}
	out = define.Empty(append([]int{len(ts)}, first.Shape()...), first.DType())
	if !joinRow(out, ts) {
		out.Release()
		return nil, false
	}
	return out, true
}

// StackOf prepares that.
func StackOf(ts []*tensor.Tensor, dim int) *Joining {
	source.Check(len(ts) > 0, "stack expects a non-empty TensorList")
	dim = source.Must(tensor.WrapDim(dim, ts[0].Dim()+1))
	parts := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		source.Check(tensor.SameShape(t.Shape(), ts[0].Shape()), "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d",
			define.ShapeText(ts[0].Shape()), define.ShapeText(t.Shape()), i)
		parts[i] = source.Must(t.Unsqueeze(dim))
	}
	j := JoiningOf(parts, dim)
	j.Format = tensor.ContiguousFormat
	return j
}

// AtLeastAll returns tensors with n dimensions at least.
func AtLeastAll(ts []*tensor.Tensor, n int) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		out[i] = AtLeast(t, n)
	}
	return out
}

// Vstack is vstack.
func Vstack(c define.Call) *tensor.Tensor {
	source.Check(len(c.Tensors(0)) > 0, "vstack expects a non-empty TensorList")
	return Concat(AtLeastAll(c.Tensors(0), 2), 0)
}

// BlockDiagonal returns matrices along the diagonal of one that is zero elsewhere.
func BlockDiagonal(ts []*tensor.Tensor) *tensor.Tensor {
	if len(ts) == 0 {
		return define.Empty([]int{1, 0}, tensor.DefaultDType())
	}
	r := tensor.NewResultType()
	rows, columns := 0, 0
	parts := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		source.Check(t.Dim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input %d has %d dimensions", i, t.Dim())
		r.Tensor(t)
		parts[i] = AtLeast(t, 2)
		rows += parts[i].Size(0)
		columns += parts[i].Size(1)
	}
	out := define.Zeros([]int{rows, columns}, r.DType())
	rows, columns = 0, 0
	for _, p := range parts {
		block := source.Must(source.Must(out.Slice(0, rows, rows+p.Size(0), 1)).Slice(1, columns, columns+p.Size(1), 1))
		source.Throw(tensor.Copy(block, p))
		rows += p.Size(0)
		columns += p.Size(1)
	}
	return out
}

// Meshgrid expands vectors to the grid that they span.
func Meshgrid(ts []*tensor.Tensor, swapped bool) []*tensor.Tensor {
	source.Check(len(ts) > 0, "meshgrid expects a non-empty TensorList")
	swapped = swapped && len(ts) >= 2
	shape := make([]int, len(ts))
	for i, t := range ts {
		source.Check(t.DType() == ts[0].DType(), "meshgrid expects all tensors to have the same dtype")
		source.Check(t.Dim() <= 1, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: %d-D", t.Dim())
		shape[i] = t.Numel()
	}
	out := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		view := make([]int, len(ts))
		for j := range view {
			view[j] = 1
		}
		view[i] = t.Numel()
		out[i] = source.Must(source.Must(t.Reshape(view...)).Expand(shape...))
		if swapped {
			out[i] = source.Must(out[i].Transpose(0, 1))
		}
	}
	return out
}

// Choices lists the index tuples of combinations.
func Choices(n, r int, repeat bool) [][]int64 {
	columns := make([][]int64, r)
	pick := make([]int, r)
	var walk func(depth, from int)
	walk = func(depth, from int) {
		if depth == r {
			if len(columns[0])%(1<<12) == 0 {
				parallel.Look()
			}
			for i, p := range pick {
				columns[i] = append(columns[i], int64(p))
			}
			return
		}
		for i := from; i < n; i++ {
			pick[depth] = i
			next := i + 1
			if repeat {
				next = i
			}
			walk(depth+1, next)
		}
	}
	walk(0, 0)
	return columns
}

// Binomial is how many sets of r there are of n things. It stops where there are more than any memory holds.
func Binomial(n, r int) *big.Int {
	r = min(r, n-r)
	count := big.NewInt(1)
	for i := 1; i <= r && count.BitLen() < 100; i++ {
		count.Mul(count, big.NewInt(int64(n-r+i))).Div(count, big.NewInt(int64(i)))
	}
	return count
}

// PadSequences stacks sequences of different lengths.
func PadSequences(c define.Call) *tensor.Tensor {
	ts, batchFirst := c.Tensors(0), c.Bool(1)
	source.Check(len(ts) > 0, "received an empty list of sequences")
	for _, t := range ts {
		source.Check(t.Dim() > 0, "pad_sequence: expected sequences of at least one dimension, but got a number")
	}
	longest := 0
	for _, t := range ts {
		longest = max(longest, t.Size(0))
	}
	shape := append([]int{len(ts), longest}, ts[0].Shape()[1:]...)
	at := 0
	if !batchFirst {
		shape[0], shape[1] = longest, len(ts)
		at = 1
	}
	out := source.Must(tensor.Full(shape, tensor.Float(c.Float(2)), ts[0].DType()))
	for i, t := range ts {
		source.Throw(tensor.Copy(source.Must(source.Must(out.Select(at, i)).Slice(0, 0, t.Size(0), 1)), t))
	}
	return out
}

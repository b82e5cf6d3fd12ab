package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math/big"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// joining is what is to be joined along a dimension: the tensors but for vectors without elements, and the shape and type of the result.
type joining struct {
	tensors []*tensor.Tensor
	dim     int
	shape   []int
	dtype   tensor.DType
}

// joiningOf fails where tensors cannot be joined.
func joiningOf(ts []*tensor.Tensor, dim int) *joining {
	check(len(ts) > 0, "torch.cat(): expected a non-empty list of Tensors")
	r := tensor.NewResultType()
	var kept []*tensor.Tensor
	for i, t := range ts {
		check(t.Dim() > 0, "zero-dimensional tensor (at position %d) cannot be concatenated", i)
		r.Tensor(t)
		if t.Dim() != 1 || t.Numel() > 0 {
			kept = append(kept, t)
		}
	}
	if len(kept) == 0 {
		return &joining{shape: ts[0].Shape(), dtype: r.DType()}
	}
	first := kept[0]
	dim = wrapDim(dim, first)
	shape := slices.Clone(first.Shape())
	shape[dim] = 0
	for i, t := range kept {
		check(t.Dim() == first.Dim(), "Tensors must have same number of dimensions: got %d and %d", first.Dim(), t.Dim())
		for d, n := range t.Shape() {
			check(d == dim || n == shape[d], "Sizes of tensors must match except in dimension %d. Expected size %d but got size %d for tensor number %d in the list.", dim, shape[d], n, i)
		}
		shape[dim] += t.Size(dim)
	}
	return &joining{kept, dim, shape, r.DType()}
}

// isLast reports whether the result is laid out with its channels last.
func (j *joining) isLast() bool {
	first := j.tensors[0]
	return first.Dim() == 4 && !first.IsContiguous() && allChannelsLast(j.tensors)
}

// concat joins tensors along a dimension. Vectors without elements are left out.
func concat(ts []*tensor.Tensor, dim int) *tensor.Tensor { return joiningOf(ts, dim).run() }

func (j *joining) run() *tensor.Tensor {
	if len(j.tensors) == 0 {
		return empty(j.shape, j.dtype)
	}
	if isMeta(j.tensors[0]) {
		return must(tensor.EmptyMeta(j.shape, j.dtype))
	}
	if j.tensors[0].OnDevice() {
		format := tensor.ContiguousFormat
		if j.isLast() {
			format = tensor.ChannelsLast
		}
		out := must(tensor.EmptyFormatOn(j.tensors[0].Device(), must(tensor.EmptyMeta(j.shape, j.dtype)), j.dtype, format))
		at := 0
		for _, t := range j.tensors {
			checkBeside(t, out.Device())
			succeed(tensor.Copy(must(out.Slice(j.dim, at, at+t.Size(j.dim), 1)), t))
			at += t.Size(j.dim)
		}
		return out
	}
	if j.isLast() {
		out := must(tensor.EmptyChannelsLast(j.shape, j.dtype, tensor.ChannelsLast))
		pixels := func(t *tensor.Tensor) *tensor.Tensor { return must(t.Permute(0, 2, 3, 1)) } // as its elements lie
		views := []*tensor.Tensor{pixels(out)}
		for _, t := range j.tensors {
			views = append(views, pixels(t))
		}
		join(views[0], views[1:], [...]int{0, 3, 1, 2}[j.dim])
		for _, v := range views {
			v.Release()
		}
		return out
	}
	out := empty(j.shape, j.dtype)
	join(out, j.tensors, j.dim)
	return out
}

// join fills out, contiguous, with tensors.
func join(out *tensor.Tensor, kept []*tensor.Tensor, dim int) {
	if joinSmall(out, kept, numelOf(out.Shape()[:dim])) || joinRows(out, kept, dim) {
		return
	}
	at := 0
	for _, t := range kept {
		n := t.Size(dim)
		part := must(out.Slice(dim, at, at+n, 1))
		assign(part, t)
		part.Release()
		at += n
	}
}

// smallJoin is the most bytes that are joined without views and threads.
const smallJoin = 16 << 10

// joinSmall fills out, contiguous, where it and its parts are small, the parts are contiguous and there is one row of them.
func joinSmall(out *tensor.Tensor, ts []*tensor.Tensor, outer int) (done bool) {
	d := out.DType()
	if outer != 1 || out.Numel()*d.Size() > smallJoin || !isElement(d) || out.IsHollow() || isAway(out) {
		return false
	}
	for _, t := range ts {
		if t.DType() != d || !t.IsContiguous() || t.IsHollow() || isAway(t) {
			return false
		}
	}
	to := bytesOf(out)
	for _, t := range ts {
		to = to[copy(to, bytesOf(t)):]
	}
	return true
}

// joinRows fills out, contiguous, row by row from tensors that lie as it does. done is false for others, where each is one
// row, and for short rows, of which a kernel handles many at a time.
func joinRows(out *tensor.Tensor, ts []*tensor.Tensor, dim int) (done bool) {
	outer := numelOf(out.Shape()[:dim])
	if outer <= 1 || out.Numel() <= outer*longestCopiedRow*len(ts) {
		return false
	}
	var room [16][]byte
	parts := room[:0]
	for _, t := range ts {
		if !t.IsContiguous() || t.DType() != out.DType() {
			return false
		}
		parts = append(parts, bytesOf(t))
	}
	to := bytesOf(out)
	row := len(to) / outer
	tensor.Parallel(outer, rowGrain*4/row+1, func(lo, hi int) {
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

// bytesOf are the elements of a contiguous tensor.
func bytesOf(t *tensor.Tensor) []byte {
	return unsafe.Slice((*byte)(t.DataPtr()), t.Numel()*t.DType().Size())
}

func allChannelsLast(ts []*tensor.Tensor) bool {
	for _, t := range ts {
		if !t.IsContiguousFormat(tensor.ChannelsLast) {
			return false
		}
	}
	return true
}

func stack(ts []*tensor.Tensor, dim int) *tensor.Tensor {
	if out, ok := stackSmall(ts, dim); ok {
		return out
	}
	j := stackOf(ts, dim)
	out := j.run()
	j.release()
	return out
}

// release gives up tensors that are views.
func (j *joining) release() {
	for _, t := range j.tensors {
		t.Release()
	}
}

// stackSmall is stack of small tensors along the first dimension.
func stackSmall(ts []*tensor.Tensor, dim int) (out *tensor.Tensor, ok bool) {
	if dim != 0 || len(ts) == 0 {
		return nil, false
	}
	first := ts[0]
	if n := first.Numel() * first.DType().Size(); n == 0 || n*len(ts) > smallJoin || isAway(first) || first.IsHollow() || first.DType().IsQuantized() {
		return nil, false
	}
	for _, t := range ts {
		if t.DType() != first.DType() || !tensor.SameShape(t.Shape(), first.Shape()) {
			return nil, false
		}
	}
	out = empty(append([]int{len(ts)}, first.Shape()...), first.DType())
	if !joinSmall(out, ts, 1) {
		out.Release()
		return nil, false
	}
	return out, true
}

func stackOf(ts []*tensor.Tensor, dim int) *joining {
	check(len(ts) > 0, "stack expects a non-empty TensorList")
	dim = must(tensor.WrapDim(dim, ts[0].Dim()+1))
	parts := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		check(tensor.SameShape(t.Shape(), ts[0].Shape()), "stack expects each tensor to be equal size, but got %s at entry 0 and %s at entry %d",
			shapeText(ts[0].Shape()), shapeText(t.Shape()), i)
		parts[i] = must(t.Unsqueeze(dim))
	}
	return joiningOf(parts, dim)
}

func atLeastAll(ts []*tensor.Tensor, n int) []*tensor.Tensor {
	out := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		out[i] = atLeast(t, n)
	}
	return out
}

func vstack(c call) *tensor.Tensor {
	check(len(c.tensors(0)) > 0, "vstack expects a non-empty TensorList")
	return concat(atLeastAll(c.tensors(0), 2), 0)
}

func cat(c call) *tensor.Tensor {
	ts := c.tensors(0)
	if x := firstQuantized(c.args); x != nil {
		return joinQuantized(ts, c.int(1), quantizerOf(ts[0]), false)
	}
	return concat(ts, c.int(1))
}

func blockDiagonal(ts []*tensor.Tensor) *tensor.Tensor {
	if len(ts) == 0 {
		return empty([]int{1, 0}, tensor.DefaultDType())
	}
	r := tensor.NewResultType()
	rows, columns := 0, 0
	parts := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		check(t.Dim() <= 2, "torch.block_diag: Input tensors must have 2 or fewer dimensions. Input %d has %d dimensions", i, t.Dim())
		r.Tensor(t)
		parts[i] = atLeast(t, 2)
		rows += parts[i].Size(0)
		columns += parts[i].Size(1)
	}
	out := zeros([]int{rows, columns}, r.DType())
	rows, columns = 0, 0
	for _, p := range parts {
		block := must(must(out.Slice(0, rows, rows+p.Size(0), 1)).Slice(1, columns, columns+p.Size(1), 1))
		succeed(tensor.Copy(block, p))
		rows += p.Size(0)
		columns += p.Size(1)
	}
	return out
}

// meshgrid expands vectors to the grid that they span.
func meshgrid(ts []*tensor.Tensor, swapped bool) []*tensor.Tensor {
	check(len(ts) > 0, "meshgrid expects a non-empty TensorList")
	swapped = swapped && len(ts) >= 2
	shape := make([]int, len(ts))
	for i, t := range ts {
		check(t.DType() == ts[0].DType(), "meshgrid expects all tensors to have the same dtype")
		check(t.Dim() <= 1, "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: %d-D", t.Dim())
		shape[i] = t.Numel()
	}
	out := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		view := make([]int, len(ts))
		for j := range view {
			view[j] = 1
		}
		view[i] = t.Numel()
		out[i] = must(must(t.Reshape(view...)).Expand(shape...))
		if swapped {
			out[i] = must(out[i].Transpose(0, 1))
		}
	}
	return out
}

var joinFamily = []definition{
	giving("combinations", combinations),
	giving("cartesian_prod", func(c call) *tensor.Tensor {
		ts := c.tensors(0)
		check(len(ts) > 0, "cartesian_prod: expected a non-empty list of Tensors")
		if len(ts) == 1 {
			return ts[0]
		}
		grids := meshgrid(ts, false)
		for i := range grids {
			grids[i] = must(grids[i].Reshape(-1))
		}
		return stack(grids, 1)
	}),
	giving("pad_sequence", padSequences),
	giving("cat", cat).with(ops.Def{Aliases: []string{"concat", "concatenate"}, Reads: ops.ReadsNothing, Grad: func(g grad) { g.GiveParts(0, g.Grad(0), g.Arg(1)) }, Tags: ops.Grouped | ops.AsWritten | ops.InGroups}).direct(joinedOut).outApart(),
	giving("concat", cat).direct(joinedOut),
	giving("concatenate", cat).direct(joinedOut),
	giving("stack", func(c call) *tensor.Tensor { return stack(c.tensors(0), c.int(1)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: func(g grad) { g.GiveRows(0, g.Grad(0), g.Arg(1)) }, Tags: ops.Grouped | ops.AsWritten}).direct(stackedOut).quantized(sameScale),
	giving("_stack", func(c call) *tensor.Tensor { return stack(c.tensors(0), c.int(1)) }).with(ops.Def{Decomp: emitting("stack")}),
	giving("hstack", func(c call) *tensor.Tensor {
		ts := atLeastAll(c.tensors(0), 1)
		check(len(ts) > 0, "hstack expects a non-empty TensorList")
		return concat(ts, min(1, ts[0].Dim()-1))
	}),
	giving("vstack", vstack).with(ops.Def{Aliases: []string{"row_stack"}}),
	giving("row_stack", vstack),
	giving("dstack", func(c call) *tensor.Tensor {
		check(len(c.tensors(0)) > 0, "dstack expects a non-empty TensorList")
		return concat(atLeastAll(c.tensors(0), 3), 2)
	}),
	giving("column_stack", func(c call) *tensor.Tensor {
		ts := c.tensors(0)
		for i, t := range ts {
			if t.Dim() <= 1 {
				ts[i] = must(t.Reshape(t.Numel(), 1))
			}
		}
		return concat(ts, 1)
	}),
	giving("block_diag", func(c call) *tensor.Tensor { return blockDiagonal(c.tensors(0)) }),
	deprecated("torch.meshgrid: in an upcoming release, it will be required to pass the indexing argument.",
		define("meshgrid", func(c call) { c.giveList(meshgrid(c.tensors(0), false)) })),
	define("meshgrid.indexing", func(c call) { c.giveList(meshgrid(c.tensors(0), c.str(1) == "xy")) }),
}

// choices lists the index tuples of combinations.
func choices(n, r int, repeat bool) [][]int64 {
	columns := make([][]int64, r)
	pick := make([]int, r)
	var walk func(depth, from int)
	walk = func(depth, from int) {
		if depth == r {
			if len(columns[0])%(1<<12) == 0 {
				tensor.Look()
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

// binomial is how many sets of r there are of n things. It stops where there are more than any memory holds.
func binomial(n, r int) *big.Int {
	r = min(r, n-r)
	count := big.NewInt(1)
	for i := 1; i <= r && count.BitLen() < 100; i++ {
		count.Mul(count, big.NewInt(int64(n-r+i))).Div(count, big.NewInt(int64(i)))
	}
	return count
}

func combinations(c call) *tensor.Tensor {
	t, r := c.tensor(0), c.int(1)
	check(t.Dim() == 1, "Expect a 1D vector, but got shape %s", shapeText(t.Shape()))
	check(r >= 0, "Expect a non-negative number, but got %d", r)
	if r == 0 {
		return empty([]int{0}, t.DType())
	}
	count := big.NewInt(0)
	if n := t.Size(0); c.bool(2) && n > 0 {
		count = binomial(paddedSize(n, 0, r-1), r)
	} else if r <= n {
		count = binomial(n, r)
	}
	check(count.IsInt64() && count.Int64() < 1<<60, "Storage size calculation overflowed with sizes=[%s, %d]", count, r)
	if room(16, int(count.Int64()), r) == 0 {
		return empty([]int{0, r}, t.DType())
	}
	var parts []*tensor.Tensor
	for _, column := range choices(t.Size(0), r, c.bool(2)) {
		parts = append(parts, indexSelect(t, 0, must(tensor.FromSlice(column, len(column)))))
	}
	return stack(parts, 1)
}

// padSequences stacks sequences of different lengths.
func padSequences(c call) *tensor.Tensor {
	ts, batchFirst := c.tensors(0), c.bool(1)
	check(len(ts) > 0, "received an empty list of sequences")
	for _, t := range ts {
		check(t.Dim() > 0, "pad_sequence: expected sequences of at least one dimension, but got a number")
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
	out := must(tensor.Full(shape, tensor.Float(c.float(2)), ts[0].DType()))
	for i, t := range ts {
		succeed(tensor.Copy(must(must(out.Select(at, i)).Slice(0, 0, t.Size(0), 1)), t))
	}
	return out
}

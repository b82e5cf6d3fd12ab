package aten

import (
	"math"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// viewing defines an overload by a method of the first argument that can fail.
func viewing(name string, f func(c call, t *tensor.Tensor) (*tensor.Tensor, error)) definition {
	return giving(name, func(c call) *tensor.Tensor { return must(f(c, c.tensor(0))) })
}

// parting defines an overload that gives a list of parts of the first argument.
func parting(name string, f func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error)) definition {
	return define(name, func(c call) { c.giveList(must(f(c, c.tensor(0)))) })
}

// apart makes parts that may be written one by one: none is a view of the whole.
func apart(parts []*tensor.Tensor, err error) ([]*tensor.Tensor, error) {
	for _, p := range parts {
		p.CountApart()
	}
	return parts, err
}

// reshaping defines an in-place overload that changes only the geometry of its first argument.
func reshaping(name string, f func(c call, t *tensor.Tensor) (*tensor.Tensor, error)) definition {
	return define(name, func(c call) {
		t := c.tensor(0)
		v := must(f(c, t))
		succeed(t.SetGeometry(v.Offset(), v.Shape(), v.Strides()))
		c.giveSelf()
	})
}

func transposeView(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.Transpose(c.int(1), c.int(2))
}

func sliceView(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.Slice(c.int(1), c.intOr(2, 0), c.intOr(3, math.MaxInt), c.int(4))
}

func squeezeView(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
	if len(c.args) > 1 {
		return t.SqueezeDim(c.int(1))
	}
	return t.Squeeze(), nil
}

func unsqueezeView(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Unsqueeze(c.int(1)) }

func splitSizes(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
	return t.SplitSizes(c.ints(1), c.int(2))
}

func moveDims(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.MoveDims(c.ints(1), c.ints(2))
}

func asStrided(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.AsStrided(c.ints(1), c.ints(2), c.intOr(3, t.Offset()))
}

// splitAlong is hsplit, vsplit and dsplit.
func splitAlong(name string, dim, least int) []definition {
	place := func(t *tensor.Tensor) int {
		check(t.Dim() >= least, "torch.%s requires a tensor with at least %d dimension, but got a tensor with %d dimensions!", name, least, t.Dim())
		return min(dim, t.Dim()-1)
	}
	return []definition{
		parting(name+".int", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
			d, n := place(t), c.int(1)
			check(n > 0 && t.Size(d)%n == 0, "torch.%s attempted to split along dimension %d, but the size of the dimension %d is not divisible by the split_size %d!", name, d, t.Size(d), n)
			return t.TensorSplit(n, d)
		}),
		parting(name+".array", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
			return t.TensorSplitAt(c.ints(1), place(t))
		}),
	}
}

// reversed shows the dimensions in opposite order.
func reversed(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.Dim() != 2 && t.Dim() != 0 {
		warnOnce("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future release. " +
			"Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.")
	}
	order := make([]int, t.Dim())
	for i := range order {
		order[i] = t.Dim() - 1 - i
	}
	return t.Permute(order...)
}

func conjugate(t *tensor.Tensor) *tensor.Tensor {
	if t.DType().IsComplex() {
		return conjOp.on(t)
	}
	return t
}

var conjOp = elementwise("conj", ops.SameType, unaryOp(kernel.Conj))

func adjoint(_ call, t *tensor.Tensor) (*tensor.Tensor, error) {
	v, err := transposeMatrix(call{}, t)
	if err != nil {
		return nil, err
	}
	return conjugate(v), nil
}

// adjointMatrix is the conjugate transpose of what is a single matrix, or a number.
func adjointMatrix(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
	switch n := t.Dim(); {
	case n > 2:
		raise(source.RuntimeError, "tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor. For batches of matrices, consider using tensor.mH", n)
	case n == 1:
		raise(source.RuntimeError, "tensor.H is only supported on matrices (2-D tensors). Got 1-D tensor.")
	}
	return adjoint(c, t)
}

// transposeMatrix is the transposed matrix; a tensor without dimensions is its own.
func transposeMatrix(_ call, t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.Dim() == 0 {
		return t.View()
	}
	return t.MatrixTranspose()
}

func itself(c call) *tensor.Tensor { return c.tensor(0) }

// broadcastTensors expands tensors to their common shape.
func broadcastTensors(ts []*tensor.Tensor) []*tensor.Tensor {
	shapes := make([][]int, len(ts))
	for i, t := range ts {
		shapes[i] = t.Shape()
	}
	shape := must(tensor.BroadcastAll(shapes...))
	out := make([]*tensor.Tensor, len(ts))
	for i, t := range ts {
		out[i] = t // itself where it has the shape
		if !tensor.SameShape(t.Shape(), shape) {
			out[i] = must(t.Expand(shape...))
		}
	}
	return out
}

// atLeast shows a tensor with at least n dimensions.
func atLeast(t *tensor.Tensor, n int) *tensor.Tensor {
	switch {
	case t.Dim() >= n:
		return t
	case t.Dim() == 0:
		shape := []int{1, 1, 1}
		return must(t.Reshape(shape[:n]...))
	case t.Dim() == 1 && n == 2:
		return must(t.Unsqueeze(0))
	case t.Dim() == 1:
		return must(must(t.Unsqueeze(0)).Unsqueeze(-1))
	}
	return must(t.Unsqueeze(-1))
}

func atLeastDefinitions() []definition {
	var defs []definition
	for n, name := range map[int]string{1: "atleast_1d", 2: "atleast_2d", 3: "atleast_3d"} {
		defs = append(defs, giving(name, func(c call) *tensor.Tensor { return atLeast(c.tensor(0), n) }),
			define(name+".Sequence", func(c call) {
				ts := c.tensors(0)
				for i := range ts {
					ts[i] = atLeast(ts[i], n)
				}
				c.giveList(ts)
			}))
	}
	return defs
}

// repeat copies a tensor several times along each dimension.
// flip reverses the order along dimensions.
func flip(t *tensor.Tensor, dims []int) *tensor.Tensor {
	reversedDims := make([]bool, max(t.Dim(), 1))
	for _, d := range dims {
		d = wrapDim(d, t)
		check(!reversedDims[d], "dim %d appears multiple times in the list of dims", d)
		reversedDims[d] = true
	}
	out := emptyBeside(t, t.Shape(), t.DType())
	if t.Dim() == 0 {
		succeed(tensor.Copy(out, t))
		return out
	}
	if t.OnDevice() {
		order := make([][]int, t.Dim())
		for d, n := range t.Shape() {
			if reversedDims[d] {
				order[d] = countTo(n)
				slices.Reverse(order[d])
			}
		}
		pickAlong(out, t, order)
		return keptStrides(out, t)
	}
	bySize(t.DType().Size(),
		func() { flipInto[uint8](out, t, reversedDims) }, func() { flipInto[uint16](out, t, reversedDims) }, func() { flipInto[uint32](out, t, reversedDims) },
		func() { flipInto[uint64](out, t, reversedDims) }, func() { flipInto[[2]uint64](out, t, reversedDims) })
	if t.IsContiguous() {
		return out
	}
	alike := must(tensor.EmptyFormat(t, t.DType(), tensor.PreserveFormat))
	assign(alike, out)
	out.Release()
	return alike
}

// flipInto fills out, contiguous, with the elements of t, which has dimensions; some of them are gone through from their ends.
func flipInto[T word](out, t *tensor.Tensor, reversed []bool) {
	shape, last, first := t.Shape(), t.Dim()-1, 0
	steps := slices.Clone(t.Strides())
	for d, n := range shape {
		if reversed[d] {
			first += (n - 1) * steps[d]
			steps[d] = -steps[d]
		}
	}
	dst, src := unsafe.Slice((*T)(out.DataPtr()), out.Numel()), t.DataPtr()
	size := int(unsafe.Sizeof(*new(T)))
	tensor.Parallel(len(dst), rowGrain, func(lo, hi int) {
		n, step := shape[last], steps[last]*size
		index, row, begin := make([]int, last), lo/n, lo%n
		at := first
		for d := last - 1; d >= 0; d-- {
			index[d], row = row%shape[d], row/shape[d]
			at += index[d] * steps[d]
		}
		for lo < hi {
			part := dst[lo:min(lo+n-begin, hi)]
			from := (at + begin*steps[last]) * size
			switch step {
			case size:
				copy(part, unsafe.Slice((*T)(unsafe.Add(src, from)), len(part)))
			case -size:
				reverse(part, unsafe.Slice((*T)(unsafe.Add(src, from-(len(part)-1)*size)), len(part)))
			default:
				for i := range part {
					part[i] = *(*T)(unsafe.Add(src, from))
					from += step
				}
			}
			lo, begin = lo+len(part), 0
			for d := last - 1; d >= 0; d-- {
				index[d]++
				at += steps[d]
				if index[d] < shape[d] {
					break
				}
				index[d] = 0
				at -= shape[d] * steps[d]
			}
		}
	})
}

// roll moves elements along dimensions; those that fall off an end come in at the other.
func roll(t *tensor.Tensor, shifts, dims []int) *tensor.Tensor {
	check(len(shifts) > 0, "`shifts` required")
	if len(dims) == 0 {
		check(len(shifts) == 1, "shifts and dimensions must align. shifts: %d, dims:%d", len(shifts), len(dims))
		flat := must(t.Reshape(-1))
		return must(roll(flat, shifts, []int{0}).View(t.Shape()...))
	}
	check(len(shifts) == len(dims), "shifts and dimensions must align. shifts: %d, dims:%d", len(shifts), len(dims))
	for _, d := range dims {
		if t.Dim() == 0 {
			raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", d)
		}
		wrapDim(d, t)
	}
	if t.Numel() == 0 {
		return must(t.Clone(tensor.ContiguousFormat))
	}
	for i, d := range dims {
		d = wrapDim(d, t)
		n := t.Size(d)
		start := ((n-shifts[i])%n + n) % n
		head, tail := must(t.Narrow(d, start, n-start)), must(t.Narrow(d, 0, start))
		t = concat([]*tensor.Tensor{head, tail}, d)
	}
	return contiguous(t)
}

func rot90(t *tensor.Tensor, k int, dims []int) *tensor.Tensor {
	check(len(dims) == 2, "expected total rotation dims == 2, but got dims = %d", len(dims))
	check(t.Dim() >= 2, "expected total dims >= 2, but got total dims = %d", t.Dim())
	a, b := wrapDim(dims[0], t), wrapDim(dims[1], t)
	check(a != b, "expected rotation dims to be different, but got dim0 = %d and dim1 = %d", dims[0], dims[1])
	switch (k%4 + 4) % 4 {
	case 1:
		return ownTransposed(flip(t, []int{b}), a, b)
	case 2:
		return flip(t, []int{a, b})
	case 3:
		return ownTransposed(flip(t, []int{a}), a, b)
	}
	return must(t.Clone(tensor.ContiguousFormat))
}

// repeatInterleave repeats each index of a dimension as often as repeats says; nil dims flatten.
func repeatInterleave(t *tensor.Tensor, repeats []int64, dim *int) *tensor.Tensor {
	d := 0
	if dim == nil {
		t = must(t.Reshape(-1))
	} else {
		noScalar(*dim, t)
		d = wrapDim(*dim, t)
	}
	n := 1
	if t.Dim() > 0 {
		n = t.Size(d)
	} else {
		t = must(t.Reshape(1))
	}
	if len(repeats) == 1 {
		room(t.DType().Size(), t.Numel(), int(repeats[0]))
		return repeatEach(t, d, int(repeats[0]))
	}
	if len(repeats) == 1 && n != 1 {
		repeats = slices.Repeat(repeats, n)
	}
	check(len(repeats) == n, "repeats must have the same size as input along dim")
	index := table[int](checkedCount(repeats))[:0]
	for i, r := range repeats {
		for k := range r {
			if k%lookEvery == lookEvery-1 {
				tensor.Look()
			}
			index = append(index, i)
		}
	}
	shape := slices.Clone(t.Shape())
	shape[d] = len(index)
	out := empty(shape, t.DType())
	order := make([][]int, t.Dim())
	order[d] = index
	pickAlong(out, t, order)
	return out
}

// repeatInterleaveArgs is repeatInterleave of the first argument along the dimension that the third one tells.
func repeatInterleaveArgs(c call, repeats []int64) *tensor.Tensor {
	t := c.tensor(0)
	var dim *int
	n := t.Numel()
	if !c.isNone(2) {
		d := c.int(2)
		noScalar(d, t)
		dim = &d
		if t.Dim() > 0 {
			n = t.Size(wrapDim(d, t))
		}
	}
	switch {
	case len(repeats) == n:
		c.checkRepeated(3, checkedCount(repeats))
	case len(repeats) == 1:
		c.checkRepeated(3, room(1, n, checkedCount(repeats)))
	}
	return repeatInterleave(t, repeats, dim)
}

// checkedCount is the sum of repeats.
func checkedCount(repeats []int64) int {
	for _, r := range repeats {
		check(r >= 0, "repeats can not be negative")
	}
	return checkedSum(repeats)
}

// checkRepeated checks the size of the result that argument i tells in advance.
func (c call) checkRepeated(i, size int) {
	told := c.intOr(i, size)
	check(told >= 0, "Trying to create tensor with negative dimension %d: [%d]", told, told)
	check(told == size, "allocated size does not match required size")
}

// toldSize is the size of the result that argument i tells in advance.
func (c call) toldSize(i int) int {
	check(!c.isNone(i), "cannot repeat_interleave a meta tensor without output_size")
	return c.int(i)
}

// repeatedMeta is a tensor without elements of the size that the last argument tells, or the repeats where these have elements.
func repeatedMeta(c call) *tensor.Tensor {
	t, n, dim := c.tensor(0), c.tensor(0).Numel(), 0
	shape := []int{n}
	if !c.isNone(2) && t.Dim() > 0 {
		dim = wrapDim(c.int(2), t)
		shape = slices.Clone(t.Shape())
		n = shape[dim]
	}
	if repeats := c.args[1]; repeats.IsTensor() && !isMeta(repeats.Tensor()) {
		counts := tensor.Data[int64](contiguous(to(repeats.Tensor(), tensor.Int64)))
		size := checkedCount(counts)
		if len(counts) == 1 {
			size = room(1, n, size)
		}
		check(len(counts) == 1 || len(counts) == n, "repeats must have the same size as input along dim")
		c.checkRepeated(3, size)
		shape[dim] = size
	} else {
		shape[dim] = c.toldSize(3)
	}
	return must(tensor.EmptyMeta(shape, t.DType()))
}

// sections returns a number of pieces of a tensor, and fails where the pieces alone do not fit the memory.
func sections(n int) int {
	room(int(unsafe.Sizeof(tensor.Tensor{})), max(n, 0))
	return n
}

func pixelShuffle(t *tensor.Tensor, factor int) *tensor.Tensor {
	check(t.Dim() >= 3, "pixel_shuffle expects input to have at least 3 dimensions, but got input with %d dimension(s)", t.Dim())
	check(factor > 0, "pixel_shuffle expects a positive upscale_factor, but got %d", factor)
	smallInts([]int{factor})
	n := t.Dim()
	channels, h, w := t.Size(n-3), t.Size(n-2), t.Size(n-1)
	check(channels%(factor*factor) == 0, "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)=%d is not divisible by %d", channels, factor*factor)
	lead := slices.Clone(t.Shape()[:n-3])
	v := must(t.Reshape(append(slices.Clone(lead), channels/(factor*factor), factor, factor, h, w)...))
	k := len(lead)
	order := make([]int, 0, k+5)
	for i := range k {
		order = append(order, i)
	}
	v = must(v.Permute(append(order, k, k+3, k+1, k+4, k+2)...))
	return must(must(v.Clone(tensor.ContiguousFormat)).View(append(lead, channels/(factor*factor), h*factor, w*factor)...))
}

func pixelUnshuffle(t *tensor.Tensor, factor int) *tensor.Tensor {
	check(t.Dim() >= 3, "pixel_unshuffle expects input to have at least 3 dimensions, but got input with %d dimension(s)", t.Dim())
	check(factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got %d", factor)
	smallInts([]int{factor})
	n := t.Dim()
	channels, h, w := t.Size(n-3), t.Size(n-2), t.Size(n-1)
	check(h%factor == 0, "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=%d is not divisible by %d", h, factor)
	check(w%factor == 0, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=%d is not divisible by %d", w, factor)
	lead := slices.Clone(t.Shape()[:n-3])
	v := must(t.Reshape(append(slices.Clone(lead), channels, h/factor, factor, w/factor, factor)...))
	k := len(lead)
	order := make([]int, 0, k+5)
	for i := range k {
		order = append(order, i)
	}
	v = must(v.Permute(append(order, k, k+2, k+4, k+1, k+3)...))
	return must(must(v.Clone(tensor.ContiguousFormat)).View(append(lead, channels*factor*factor, h/factor, w/factor)...))
}

func channelShuffle(t *tensor.Tensor, groups int) *tensor.Tensor {
	check(t.Dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes %s", shapeText(t.Shape()))
	check(groups > 0 && t.Size(1)%groups == 0, "Number of channels must be divisible by groups. Got %d channels and %d groups.", t.Size(1), groups)
	shape := append([]int{t.Size(0), groups, t.Size(1) / groups}, t.Shape()[2:]...)
	v := must(must(t.Reshape(shape...)).Transpose(1, 2))
	return must(must(v.Clone(tensor.ContiguousFormat)).View(t.Shape()...))
}

var viewFamily = slices.Concat([]definition{
	viewing("view", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.View(c.ints(1)...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Symbolic | ops.AsWritten}),
	viewing("view.dtype", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.ViewDType(c.dtypeOr(1, t.DType())) }),
	viewing("_unsafe_view", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.View(c.ints(1)...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("_reshape_alias", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.AsStrided(c.ints(1), c.ints(2), t.Offset())
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("view_as", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.View(c.tensor(1).Shape()...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten | ops.ShapeOnly}),
	viewing("reshape", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Reshape(c.ints(1)...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Symbolic | ops.AsWritten, Node: "ReshapeAliasBackward0"}),
	viewing("reshape_as", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Reshape(c.tensor(1).Shape()...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten | ops.ShapeOnly}),
	viewing("ravel", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Reshape(-1) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("flatten.using_ints", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Flatten(c.int(1), c.int(2)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten, Node: "ReshapeAliasBackward0"}),
	viewing("unflatten.int", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
		noScalar(c.int(1), t)
		return t.Unflatten(c.int(1), c.ints(2))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("transpose.int", transposeView).with(ops.Def{Aliases: []string{"swapaxes", "swapdims"}, Reads: ops.ReadsNothing, Grad: transposedGrad, Tags: ops.Symbolic | ops.AsWritten}),
	viewing("swapaxes", transposeView),
	viewing("swapdims", transposeView),
	viewing("t", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.T() }).with(ops.Def{Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Do("t", g.Grad(0))) }, Tags: ops.Grouped | ops.AsWritten}),
	viewing("permute", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Permute(c.ints(1)...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: permuteGrad, Tags: ops.Grouped | ops.AsWritten}),
	viewing("movedim.intlist", moveDims).with(ops.Def{Aliases: []string{"moveaxis.intlist"}, Grad: concrete(func(c gradient) { c.give(0, c.do("movedim.intlist", c.g(), c.arg(2), c.arg(1))) }), Tags: ops.AsWritten}),
	viewing("movedim.int", moveDims).with(ops.Def{Aliases: []string{"moveaxis.int"}, Grad: concrete(func(c gradient) { c.give(0, c.do("movedim.int", c.g(), c.arg(2), c.arg(1))) }), Tags: ops.AsWritten}),
	viewing("moveaxis.intlist", moveDims),
	viewing("moveaxis.int", moveDims),
	viewing("expand", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Expand(c.ints(1)...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: concrete(func(c gradient) { c.give(0, c.sumTo(c.g(), c.shape(0))) }), Tags: ops.AsWritten}),
	viewing("expand_as", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Expand(c.tensor(1).Shape()...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.Broadcasts | ops.Symbolic | ops.AsWritten | ops.ShapeOnly}),
	viewing("broadcast_to", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Expand(c.ints(1)...) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: concrete(func(c gradient) { c.give(0, c.sumTo(c.g(), c.shape(0))) }), Tags: ops.AsWritten}),
	viewing("squeeze", squeezeView).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Grouped | ops.AsWritten}),
	viewing("squeeze.dim", squeezeView).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Grouped | ops.AsWritten, Node: "SqueezeBackward1"}),
	viewing("unsqueeze", unsqueezeView).with(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Grouped | ops.AsWritten | ops.InGroups}),
	viewing("select.int", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Select(c.int(1), c.int(2)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: concrete(func(c gradient) {
		c.give(0, c.do("select_backward", c.g(), c.shape(0), c.int(1), c.int(2)))
	}), Tags: ops.AsWritten}),
	viewing("slice.Tensor", sliceView).with(ops.Def{Reads: ops.ReadsNothing, Grad: concrete(func(c gradient) {
		start, end := 0, math.MaxInt64
		if !c.isNone(2) {
			start = c.int(2)
		}
		if !c.isNone(3) {
			end = c.int(3)
		}
		c.give(0, c.do("slice_backward", c.g(), c.shape(0), c.int(1), start, end, c.int(4)))
	}), Tags: ops.AsWritten}),
	viewing("narrow", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Narrow(c.int(1), c.int(2), c.int(3)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: concrete(func(c gradient) {
		start := wrap(c.int(2), c.shape(0)[wrap(c.int(1), len(c.shape(0)))])
		c.give(0, c.do("slice_backward", c.g(), c.shape(0), c.int(1), start, start+c.int(3), 1))
	}), Tags: ops.AsWritten}),
	viewing("narrow.Tensor", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Narrow(c.int(1), c.int(2), c.int(3)) }),
	viewing("diagonal", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Diagonal(c.int(1), c.int(2), c.int(3))
	}).with(ops.Def{Grad: concrete(func(c gradient) {
		c.give(0, c.do("diagonal_backward", c.g(), c.shape(0), c.arg(1), c.arg(2), c.arg(3)))
	}), Tags: ops.AsWritten}),
	viewing("linalg_diagonal", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Diagonal(c.int(1), c.int(2), c.int(3))
	}).with(ops.Def{Decomp: emitting("diagonal")}),
	viewing("unfold", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Unfold(c.int(1), c.int(2), c.int(3)) }).with(ops.Def{Grad: concrete(func(c gradient) {
		places := composer{c.run}.unfoldedPlaces(c.g(), c.shape(0), c.arg(1), c.arg(2), c.arg(3))
		flat := c.into("index_add", c.zerosAs([]int{numel(c.shape(0))}, c.g().DType()), 0, places, c.do("reshape", c.g(), []int{-1}))
		c.give(0, c.do("reshape", flat, c.shape(0)))
	}), Tags: ops.AsWritten}),
	decomposed("unfold_backward", unfoldBackward).with(ops.Def{Decomp: unfoldBackward}),
	viewing("as_strided", asStrided).with(ops.Def{Grad: concrete(asStridedGrad), Tags: ops.AsWritten}),
	viewing("view_as_real", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.ViewAsReal() }).with(ops.Def{Grad: concrete(ofSelfWith(func(c gradient, g tensors) tensors { return c.do("view_as_complex", c.do("contiguous", g)) })), Tags: ops.AsWritten}),
	viewing("view_as_complex", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.ViewAsComplex() }).with(ops.Def{Grad: concrete(ofSelfWith(func(c gradient, g tensors) tensors { return c.do("view_as_real", g) })), Tags: ops.AsWritten}),
	viewing("real", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.RealPart(), nil }).with(ops.Def{Grad: concrete(ofSelfWith(func(c gradient, g tensors) tensors { return g })), Tags: ops.AsWritten}),
	viewing("imag", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.ImagPart() }).with(ops.Def{Grad: concrete(ofSelfWith((gradient).rotate)), Tags: ops.AsWritten}),
	viewing("mT", transposeMatrix),
	viewing("mT.a", transposeMatrix),
	viewing("mH", adjoint).with(ops.Def{Aliases: []string{"adjoint"}, Grad: concrete(adjointGrad), Tags: ops.AsWritten}),
	viewing("mH.a", adjoint).with(ops.Def{Grad: concrete(adjointGrad), Tags: ops.AsWritten}),
	viewing("adjoint", adjoint),
	viewing("matrix_H", adjointMatrix).with(ops.Def{Grad: concrete(adjointGrad), Tags: ops.AsWritten}),
	viewing("matrix_H.a", adjointMatrix).with(ops.Def{Grad: concrete(adjointGrad), Tags: ops.AsWritten}),
	viewing("numpy_T", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return reversed(t) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("numpy_T", c.g())) }), Tags: ops.AsWritten}),
	viewing("numpy_T.a", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return reversed(t) }),
	giving("conj", func(c call) *tensor.Tensor { return conjugate(c.tensor(0)) }).with(ops.Def{Grad: conjugateGrad, Tags: ops.AsWritten}),
	giving("conj_physical", func(c call) *tensor.Tensor { return conjugate(c.tensor(0)) }).with(ops.Def{Grad: conjugateGrad, Tags: ops.AsWritten}),
	giving("_conj", func(c call) *tensor.Tensor { return conjugate(c.tensor(0)) }).with(ops.Def{Grad: conjugateGrad, Tags: ops.AsWritten}),
	giving("resolve_conj", itself).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.AsWritten}),
	giving("resolve_neg", itself).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.AsWritten}),
	giving("lift_fresh", itself),
	giving("lift", itself),
	giving("alias", func(c call) *tensor.Tensor { return c.tensor(0).Alias() }).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.AsWritten}),
	giving("detach", func(c call) *tensor.Tensor { return c.tensor(0).Detach() }),

	reshaping("squeeze_", squeezeView),
	reshaping("squeeze_.dim", squeezeView),
	reshaping("unsqueeze_", unsqueezeView),
	reshaping("transpose_", transposeView),
	reshaping("swapaxes_", transposeView),
	reshaping("swapdims_", transposeView),
	reshaping("t_", func(c call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.T() }),
	reshaping("as_strided_", asStrided),

	parting("split.Tensor", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return t.Split(c.int(1), c.int(2)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.Symbolic | ops.AsWritten}),
	parting("unsafe_split.Tensor", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return apart(t.Split(c.int(1), c.int(2))) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("split.sizes", splitSizes).with(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("split", splitSizes).with(ops.Def{Decomp: emitting("split_with_sizes")}),
	parting("split_with_sizes", splitSizes).with(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten, Node: "SplitWithSizesBackward0"}),
	parting("unsafe_split_with_sizes", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return apart(splitSizes(c, t)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("chunk", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return t.Chunk(c.int(1), c.int(2)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten, Node: "SplitBackward0"}),
	parting("unsafe_chunk", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return apart(t.Chunk(c.int(1), c.int(2))) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("tensor_split.sections", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
		return t.TensorSplit(sections(c.int(1)), c.int(2))
	}).with(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("tensor_split.indices", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return t.TensorSplitAt(c.ints(1), c.int(2)) }),
	parting("tensor_split.tensor_indices_or_sections", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
		at := c.tensor(1)
		check(at.DType() == tensor.Int64 && at.Dim() <= 1, "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor of dtype long")
		if at.Dim() == 0 {
			return t.TensorSplit(sections(int(must(at.Item()).Int64())), c.int(2))
		}
		return t.TensorSplitAt(integersOf(at), c.int(2))
	}).onZeros(),
	parting("unbind.int", func(c call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return t.Unbind(c.int(1)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: func(g grad) { g.Give(0, g.Do("stack", g.GradList(), g.Arg(1))) }, Tags: ops.Symbolic | ops.AsWritten}),
	define("broadcast_tensors", func(c call) { c.giveList(broadcastTensors(c.tensors(0))) }).with(ops.Def{Decomp: broadcastEach}),

	giving("repeat", func(c call) *tensor.Tensor { return repeat(c.tensor(0), c.ints(1)) }).with(ops.Def{Grad: concrete(func(c gradient) {
		shape := c.shape(0)
		repeats := c.ints(1)
		split, sums := []int{}, []int{}
		lead := len(repeats) - len(shape)
		for i, r := range repeats {
			sums = append(sums, len(split))
			split = append(split, r)
			if i >= lead {
				split = append(split, shape[i-lead])
			}
		}
		c.give(0, c.do("reshape", c.do("sum.dim_IntList", c.do("reshape", c.g(), split), sums, false), shape))
	}), Tags: ops.AsWritten}).onZeros(),
	giving("tile", func(c call) *tensor.Tensor {
		times := c.ints(1)
		for len(times) < c.tensor(0).Dim() {
			times = append([]int{1}, times...)
		}
		return repeat(c.tensor(0), times)
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.moved("tile") }), Tags: ops.AsWritten}).onZeros(),
	giving("flip", func(c call) *tensor.Tensor { return flip(c.tensor(0), c.ints(1)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("flip", c.g(), c.arg(1))) }), Tags: ops.AsWritten}).onZeros().quantized(sameScale),
	giving("fliplr", func(c call) *tensor.Tensor {
		check(c.tensor(0).Dim() >= 2, "Input must be >= 2-d.")
		return flip(c.tensor(0), []int{1})
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("fliplr", c.g())) }), Tags: ops.AsWritten}).onZeros(),
	giving("flipud", func(c call) *tensor.Tensor {
		check(c.tensor(0).Dim() >= 1, "Input must be >= 1-d.")
		return flip(c.tensor(0), []int{0})
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("flipud", c.g())) }), Tags: ops.AsWritten}).onZeros(),
	giving("roll", func(c call) *tensor.Tensor { return roll(c.tensor(0), c.ints(1), c.ints(2)) }).with(ops.Def{Grad: concrete(func(c gradient) {
		back := c.ints(1)
		for i := range back {
			back[i] = -back[i]
		}
		c.give(0, c.do("roll", c.g(), back, c.arg(2)))
	}), Tags: ops.AsWritten}),
	giving("rot90", func(c call) *tensor.Tensor { return rot90(c.tensor(0), c.int(1), c.ints(2)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("rot90", c.g(), -(c.arg(1).Int()%4), c.arg(2))) }), Tags: ops.AsWritten}).onZeros(),
	giving("repeat_interleave.Tensor", func(c call) *tensor.Tensor {
		repeats := c.tensor(0)
		check(repeats.Dim() == 1, "repeat_interleave only accept 1D vector as repeat")
		if isMeta(repeats) {
			return must(tensor.EmptyMeta([]int{c.toldSize(1)}, tensor.Int64))
		}
		counts := tensor.Data[int64](contiguous(to(repeats, tensor.Int64)))
		c.checkRepeated(1, checkedCount(counts))
		return repeatInterleave(sequence(len(counts)), counts, nil)
	}),
	giving("repeat_interleave.self_Tensor", func(c call) *tensor.Tensor {
		check(c.tensor(1).Dim() <= 1, "repeats must be 0-dim or 1-dim tensor")
		if isMeta(c.tensor(0)) || isMeta(c.tensor(1)) {
			return repeatedMeta(c)
		}
		return repeatInterleaveArgs(c, tensor.Data[int64](contiguous(to(c.tensor(1), tensor.Int64))))
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.moved("repeat_interleave.self_Tensor") }), Tags: ops.AsWritten}),
	giving("repeat_interleave.self_int", func(c call) *tensor.Tensor {
		if isMeta(c.tensor(0)) {
			return repeatedMeta(c)
		}
		return repeatInterleaveArgs(c, []int64{int64(c.int(1))})
	}).with(ops.Def{Grad: concrete(func(c gradient) { c.moved("repeat_interleave.self_int") }), Tags: ops.AsWritten}),
	giving("pixel_shuffle", func(c call) *tensor.Tensor { return pixelShuffle(c.tensor(0), c.int(1)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("pixel_unshuffle", c.g(), c.arg(1))) }), Tags: ops.AsWritten}),
	giving("pixel_unshuffle", func(c call) *tensor.Tensor { return pixelUnshuffle(c.tensor(0), c.int(1)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("pixel_shuffle", c.g(), c.arg(1))) }), Tags: ops.AsWritten}),
	giving("channel_shuffle", func(c call) *tensor.Tensor { return channelShuffle(c.tensor(0), c.int(1)) }).with(ops.Def{Grad: concrete(func(c gradient) {
		c.give(0, c.do("channel_shuffle", c.g(), max(1, c.shape(0)[1]/int(c.arg(1).Int()))))
	}), Tags: ops.AsWritten}),
	giving("_shape_as_tensor", func(c call) *tensor.Tensor {
		shape := c.tensor(0).Shape()
		t := empty([]int{len(shape)}, tensor.Int64)
		for i, n := range shape {
			tensor.Data[int64](t)[i] = int64(n)
		}
		return t
	}),
	answering("_infer_size", func(c call) value.Value {
		return value.OfList(value.Ints(must(tensor.Broadcast(c.ints(0), c.ints(1)))))
	}),
	giving("native_channel_shuffle", func(c call) *tensor.Tensor { return channelShuffle(c.tensor(0), c.int(1)) }).with(ops.Def{Decomp: emitting("channel_shuffle")}),
	giving("data", func(c call) *tensor.Tensor { return c.tensor(0).Apart() }),
	define("set_data", func(c call) { c.tensor(0).Set(c.tensor(1)) }),
}, splitAlong("hsplit", 1, 1), splitAlong("vsplit", 0, 2), splitAlong("dsplit", 2, 3), atLeastDefinitions())

// integersOf returns the elements of an integer tensor.
func integersOf(t *tensor.Tensor) []int {
	data := tensor.Data[int64](contiguous(to(t, tensor.Int64)))
	out := table[int](len(data))
	for lo, hi := range tensor.Stretches(len(data)) {
		for i := lo; i < hi; i++ {
			out[i] = int(data[i])
		}
	}
	return out
}

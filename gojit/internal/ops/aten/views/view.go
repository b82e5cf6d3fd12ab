// Package views has the operators whose results show, copy or join elements of their arguments as they are, and those that make tensors.
package views

import (
	"math"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// broadcastEach expands each tensor: what requires no gradient stays so.
func broadcastEach(e ops.Emitter, a []value.Value) []value.Value {
	shape, items := []int{}, slices.Clone(a[0].List().Items)
	for _, v := range items {
		shape = source.Must(tensor.Broadcast(shape, v.Tensor().Shape()))
	}
	for i, v := range items {
		if !tensor.SameShape(v.Tensor().Shape(), shape) {
			items[i] = value.OfTensor(ops.Do(e, "expand", v, shape))
		}
	}
	return []value.Value{value.OfList(value.NewList(a[0].List().Elem, items...))}
}

// viewing defines an overload by a method of the first argument that can fail.
func viewing(name string, f func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error)) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor { return source.Must(f(c, c.Tensor(0))) })
}

// parting defines an overload that gives a list of parts of the first argument.
func parting(name string, f func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error)) define.Definition {
	return define.Operator(name, func(c define.Call) { c.GiveList(source.Must(f(c, c.Tensor(0)))) })
}

// apart makes parts that may be written one by one: none is a view of the whole.
func apart(parts []*tensor.Tensor, err error) ([]*tensor.Tensor, error) {
	for _, p := range parts {
		p.CountApart()
	}
	return parts, err
}

// reshaping defines an in-place overload that changes only the geometry of its first argument.
func reshaping(name string, f func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error)) define.Definition {
	return define.Operator(name, func(c define.Call) {
		t := c.Tensor(0)
		v := source.Must(f(c, t))
		source.Throw(t.SetGeometry(v.Offset(), v.Shape(), v.Strides()))
		c.GiveSelf()
	})
}

func transposeView(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.Transpose(c.Int(1), c.Int(2))
}

func squeezeView(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	if len(c.Args) > 1 {
		return t.SqueezeDim(c.Int(1))
	}
	return t.Squeeze(), nil
}

func unsqueezeView(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.Unsqueeze(c.Int(1))
}

func splitSizes(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
	return t.SplitSizes(c.Ints(1), c.Int(2))
}

func moveDims(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	return t.MoveDims(c.Ints(1), c.Ints(2))
}

// splitAlong is hsplit, vsplit and dsplit.
func splitAlong(name string, dim, least int) []define.Definition {
	place := func(t *tensor.Tensor) int {
		source.Check(t.Dim() >= least, "torch.%s requires a tensor with at least %d dimension, but got a tensor with %d dimensions!", name, least, t.Dim())
		return min(dim, t.Dim()-1)
	}
	return []define.Definition{
		parting(name+".int", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
			d, n := place(t), c.Int(1)
			source.Check(n > 0 && t.Size(d)%n == 0, "torch.%s attempted to split along dimension %d, but the size of the dimension %d is not divisible by the split_size %d!", name, d, t.Size(d), n)
			return t.TensorSplit(n, d)
		}),
		parting(name+".array", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
			return t.TensorSplitAt(c.Ints(1), place(t))
		}),
	}
}

// reversed shows the dimensions in opposite order.
func reversed(t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.Dim() != 2 && t.Dim() != 0 {
		define.WarnOnce("The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will throw an error in a future release. " +
			"Consider `x.mT` to transpose batches of matrices or `x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.")
	}
	order := make([]int, t.Dim())
	for i := range order {
		order[i] = t.Dim() - 1 - i
	}
	return t.Permute(order...)
}

func adjoint(_ define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	v, err := transposeMatrix(define.Call{}, t)
	if err != nil {
		return nil, err
	}
	return conjugate(v), nil
}

// conjugate is a view of the conjugates of complex elements, and t itself where they are real. On a device the conjugates have memory of their own.
func conjugate(t *tensor.Tensor) *tensor.Tensor {
	switch {
	case !t.DType().IsComplex():
		return t
	case t.ShownDevice().Type != tensor.CPU || t.IsSparse() || t.IsHollow():
		return elementwise.Conjugate(t)
	}
	return t.WithBits(t.Bits() ^ tensor.ConjugateBit)
}

// negative is a view of the negatives of numbers. On a device they have memory of their own.
func negative(c define.Call) *tensor.Tensor {
	t := c.Tensor(0)
	if t.DType() == tensor.Bool {
		source.Raise(source.RuntimeError, "\"neg_cpu\" not implemented for 'Bool'")
	}
	if t.DType().IsQuantized() {
		define.RefuseBackend("aten::neg", "QuantizedCPU")
	}
	if t.ShownDevice().Type != tensor.CPU || t.IsSparse() || t.IsHollow() {
		return elementwise.Neg.On(t)
	}
	return t.WithBits(t.Bits() ^ tensor.NegativeBit)
}

// resolved gives a tensor without one of the bits: itself where it has not got it.
func resolved(bit tensor.Bits) func(c define.Call) *tensor.Tensor {
	return func(c define.Call) *tensor.Tensor {
		t := c.Tensor(0)
		if t.Bits()&bit == 0 {
			return t
		}
		return source.Must(t.Resolved())
	}
}

// adjointMatrix is the conjugate transpose of what is a single matrix, or a number.
func adjointMatrix(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	switch n := t.Dim(); {
	case n > 2:
		source.Raise(source.RuntimeError, "tensor.H is only supported on matrices (2-D tensors). Got %d-D tensor. For batches of matrices, consider using tensor.mH", n)
	case n == 1:
		source.Raise(source.RuntimeError, "tensor.H is only supported on matrices (2-D tensors). Got 1-D tensor.")
	}
	return adjoint(c, t)
}

// transposeMatrix is the transposed matrix; a tensor without dimensions is its own.
func transposeMatrix(_ define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
	if t.Dim() == 0 {
		return t.View()
	}
	return t.MatrixTranspose()
}

func itself(c define.Call) *tensor.Tensor { return c.Tensor(0) }

func atLeastDefinitions() []define.Definition {
	var defs []define.Definition
	for n, name := range map[int]string{1: "atleast_1d", 2: "atleast_2d", 3: "atleast_3d"} {
		defs = append(defs, define.Giving(name, func(c define.Call) *tensor.Tensor { return elementwise.AtLeast(c.Tensor(0), n) }),
			define.Operator(name+".Sequence", func(c define.Call) {
				ts := c.Tensors(0)
				for i := range ts {
					ts[i] = elementwise.AtLeast(ts[i], n)
				}
				c.GiveList(ts)
			}))
	}
	return defs
}

// flip reverses the order along dimensions. The result is laid out as t is.
func flip(t *tensor.Tensor, dims []int) *tensor.Tensor {
	reversedDims := make([]bool, max(t.Dim(), 1))
	for _, d := range dims {
		d = define.WrapDim(d, t)
		source.Check(!reversedDims[d], "dim %d appears multiple times in the list of dims", d)
		reversedDims[d] = true
	}
	if t.Dim() == 0 {
		return source.Must(t.Clone(tensor.PreserveFormat))
	}
	if t.OnDevice() {
		out := define.EmptyBeside(t, t.Shape(), t.DType())
		order := make([][]int, t.Dim())
		for d, n := range t.Shape() {
			if reversedDims[d] {
				order[d] = indexing.CountTo(n)
				slices.Reverse(order[d])
			}
		}
		indexing.PickAlong(out, t, order)
		return indexing.KeptStrides(out, t)
	}
	out := source.Must(tensor.EmptyFormat(t, t.DType(), tensor.PreserveFormat))
	laid, from := out, t
	if !out.IsContiguous() {
		order := indexing.CountTo(t.Dim())
		slices.SortStableFunc(order, func(i, j int) int { return out.Strides()[j] - out.Strides()[i] })
		laid, from = source.Must(out.Permute(order...)), source.Must(t.Permute(order...))
		turned := make([]bool, len(order))
		for i, d := range order {
			turned[i] = reversedDims[d]
		}
		reversedDims = turned
		defer laid.Release()
		defer from.Release()
	}
	indexing.BySize(t.DType().Size(),
		func() { flipInto[uint8](laid, from, reversedDims) }, func() { flipInto[uint16](laid, from, reversedDims) },
		func() { flipInto[uint32](laid, from, reversedDims) }, func() { flipInto[uint64](laid, from, reversedDims) },
		func() { flipInto[[2]uint64](laid, from, reversedDims) })
	return out
}

// flipInto fills out, contiguous, with the elements of t, which has dimensions; some of them are gone through from their ends.
func flipInto[T indexing.Word](out, t *tensor.Tensor, reversed []bool) {
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
	parallel.For(len(dst), define.RowGrain, func(lo, hi int) {
		n, step := shape[last], steps[last]*size
		index, row, begin := make([]int, last), lo/n, lo%n
		at := first
		for d := last - 1; d >= 0; d-- {
			index[d], row = row%shape[d], row/shape[d]
			at += index[d] * steps[d]
		}
		for lo < hi {
			rows, apart := 1, 0
			if last > 0 && begin == 0 && hi-lo >= n {
				rows, apart = min((hi-lo)/n, shape[last-1]-index[last-1]), steps[last-1]
			}
			part := min(n-begin, hi-lo)
			flipRows(dst[lo:lo+rows*part], unsafe.Add(src, (at+begin*steps[last])*size), part, apart*size, step)
			if lo, begin = lo+rows*part, 0; rows > 1 {
				index[last-1] += rows - 1
				at += (rows - 1) * apart
			}
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

// flipRows fills dst with rows of n elements that begin apart bytes behind each other from src on; the elements of a row are step bytes apart.
func flipRows[T indexing.Word](dst []T, src unsafe.Pointer, n, apart, step int) {
	size := int(unsafe.Sizeof(*new(T)))
	for from := 0; len(dst) > 0; dst, from = dst[n:], from+apart {
		switch row := dst[:n]; step {
		case size:
			copy(row, unsafe.Slice((*T)(unsafe.Add(src, from)), n))
		case -size:
			indexing.Reverse(row, unsafe.Slice((*T)(unsafe.Add(src, from-(n-1)*size)), n))
		default:
			for i := range row {
				row[i] = *(*T)(unsafe.Add(src, from+i*step))
			}
		}
	}
}

// Roll moves elements along dimensions; those that fall off an end come in at the other.
func Roll(t *tensor.Tensor, shifts, dims []int) *tensor.Tensor {
	source.Check(len(shifts) > 0, "`shifts` required")
	if len(dims) == 0 {
		source.Check(len(shifts) == 1, "shifts and dimensions must align. shifts: %d, dims:%d", len(shifts), len(dims))
		flat := source.Must(t.Reshape(-1))
		return source.Must(Roll(flat, shifts, []int{0}).View(t.Shape()...))
	}
	source.Check(len(shifts) == len(dims), "shifts and dimensions must align. shifts: %d, dims:%d", len(shifts), len(dims))
	for _, d := range dims {
		if t.Dim() == 0 {
			source.Raise(source.IndexError, "Dimension specified as %d but tensor has no dimensions", d)
		}
		define.WrapDim(d, t)
	}
	if t.Numel() == 0 {
		return source.Must(t.Clone(tensor.ContiguousFormat))
	}
	for i, d := range dims {
		d = define.WrapDim(d, t)
		n := t.Size(d)
		start := ((n-shifts[i])%n + n) % n
		head, tail := source.Must(t.Narrow(d, start, n-start)), source.Must(t.Narrow(d, 0, start))
		t = elementwise.Concat([]*tensor.Tensor{head, tail}, d)
	}
	return t
}

func rot90(t *tensor.Tensor, k int, dims []int) *tensor.Tensor {
	source.Check(len(dims) == 2, "expected total rotation dims == 2, but got dims = %d", len(dims))
	source.Check(t.Dim() >= 2, "expected total dims >= 2, but got total dims = %d", t.Dim())
	a, b := define.WrapDim(dims[0], t), define.WrapDim(dims[1], t)
	source.Check(a != b, "expected rotation dims to be different, but got dim0 = %d and dim1 = %d", dims[0], dims[1])
	switch (k%4 + 4) % 4 {
	case 1:
		return elementwise.OwnTransposed(flip(t, []int{b}), a, b)
	case 2:
		return flip(t, []int{a, b})
	case 3:
		return elementwise.OwnTransposed(flip(t, []int{a}), a, b)
	}
	return source.Must(t.Clone(tensor.ContiguousFormat))
}

// repeatInterleave repeats each index of a dimension as often as repeats says; nil dims flatten.
func repeatInterleave(t *tensor.Tensor, repeats []int64, dim *int) *tensor.Tensor {
	d := 0
	if dim == nil {
		t = source.Must(t.Reshape(-1))
	} else {
		indexing.NoScalar(*dim, t)
		d = define.WrapDim(*dim, t)
	}
	n := 1
	if t.Dim() > 0 {
		n = t.Size(d)
	} else {
		t = source.Must(t.Reshape(1))
	}
	if len(repeats) == 1 {
		define.Room(t.DType().Size(), t.Numel(), int(repeats[0]))
		return indexing.RepeatEach(t, d, int(repeats[0]))
	}
	if len(repeats) == 1 && n != 1 {
		repeats = slices.Repeat(repeats, n)
	}
	source.Check(len(repeats) == n, "repeats must have the same size as input along dim")
	index := define.Table[int](checkedCount(repeats))[:0]
	for i, r := range repeats {
		for k := range r {
			if k%define.LookEvery == define.LookEvery-1 {
				parallel.Look()
			}
			index = append(index, i)
		}
	}
	shape := slices.Clone(t.Shape())
	shape[d] = len(index)
	out := define.Empty(shape, t.DType())
	order := make([][]int, t.Dim())
	order[d] = index
	indexing.PickAlong(out, t, order)
	return out
}

// repeatInterleaveArgs is repeatInterleave of the first argument along the dimension that the third one tells.
func repeatInterleaveArgs(c define.Call, repeats []int64) *tensor.Tensor {
	t := c.Tensor(0)
	var dim *int
	n := t.Numel()
	if !c.IsNone(2) {
		d := c.Int(2)
		indexing.NoScalar(d, t)
		dim = &d
		if t.Dim() > 0 {
			n = t.Size(define.WrapDim(d, t))
		}
	}
	switch {
	case len(repeats) == n:
		checkRepeated(c, 3, checkedCount(repeats))
	case len(repeats) == 1:
		checkRepeated(c, 3, define.Room(1, n, checkedCount(repeats)))
	}
	return repeatInterleave(t, repeats, dim)
}

// checkedCount is the sum of repeats.
func checkedCount(repeats []int64) int {
	for _, r := range repeats {
		source.Check(r >= 0, "repeats can not be negative")
	}
	return define.CheckedSum(repeats)
}

// checkRepeated checks the size of the result that argument i tells in advance.
func checkRepeated(c define.Call, i, size int) {
	told := c.IntOr(i, size)
	source.Check(told >= 0, "Trying to create tensor with negative dimension %d: [%d]", told, told)
	source.Check(told == size, "allocated size does not match required size")
}

// toldSize is the size of the result that argument i tells in advance.
func toldSize(c define.Call, i int) int {
	source.Check(!c.IsNone(i), "cannot repeat_interleave a meta tensor without output_size")
	return c.Int(i)
}

// repeatedMeta is a tensor without elements of the size that the last argument tells, or the repeats where these have elements.
func repeatedMeta(c define.Call) *tensor.Tensor {
	t, n, dim := c.Tensor(0), c.Tensor(0).Numel(), 0
	shape := []int{n}
	if !c.IsNone(2) && t.Dim() > 0 {
		dim = define.WrapDim(c.Int(2), t)
		shape = slices.Clone(t.Shape())
		n = shape[dim]
	}
	if repeats := c.Args[1]; repeats.IsTensor() && !define.IsMeta(repeats.Tensor()) {
		counts := tensor.Data[int64](elementwise.Contiguous(elementwise.To(repeats.Tensor(), tensor.Int64)))
		size := checkedCount(counts)
		if len(counts) == 1 {
			size = define.Room(1, n, size)
		}
		source.Check(len(counts) == 1 || len(counts) == n, "repeats must have the same size as input along dim")
		checkRepeated(c, 3, size)
		shape[dim] = size
	} else {
		shape[dim] = toldSize(c, 3)
	}
	return source.Must(tensor.EmptyMeta(shape, t.DType()))
}

// interleaved returns the shape that repeat_interleave repeats along a dimension, and that: without one it is all elements in a row.
func interleaved(c define.Gradient) (shape []int, dim int) {
	shape = c.Shape(0)
	if c.Arg(2).IsNone() || len(shape) == 0 {
		return []int{define.NumelOf(shape)}, 0
	}
	return shape, define.Wrap(int(c.Arg(2).Int()), len(shape))
}

// tileRepeats returns how often tile repeats each dimension of a tensor and those before it.
func tileRepeats(times []int, dims int) []int {
	return append(slices.Repeat([]int{1}, max(0, dims-len(times))), times...)
}

// repeatedGrad gives the gradient of what has been repeated along each dimension, and new ones before them.
func repeatedGrad(c define.Gradient, repeats []int) {
	shape := c.Shape(0)
	split, sums := []int{}, []int{}
	lead := len(repeats) - len(shape)
	for i, r := range repeats {
		sums = append(sums, len(split))
		split = append(split, r)
		if i >= lead {
			split = append(split, shape[i-lead])
		}
	}
	c.Give(0, c.Do("reshape", c.Do("sum.dim_IntList", c.Do("reshape", c.G(), split), sums, false), shape))
}

// sections returns a number of pieces of a tensor, and fails where the pieces alone do not fit the memory.
func sections(n int) int {
	define.Room(int(unsafe.Sizeof(tensor.Tensor{})), max(n, 0))
	return n
}

func pixelShuffle(t *tensor.Tensor, factor int) *tensor.Tensor {
	source.Check(t.Dim() >= 3, "pixel_shuffle expects input to have at least 3 dimensions, but got input with %d dimension(s)", t.Dim())
	source.Check(factor > 0, "pixel_shuffle expects a positive upscale_factor, but got %d", factor)
	define.SmallInts([]int{factor})
	n := t.Dim()
	channels, h, w := t.Size(n-3), t.Size(n-2), t.Size(n-1)
	source.Check(channels%(factor*factor) == 0, "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but input.size(-3)=%d is not divisible by %d", channels, factor*factor)
	lead := slices.Clone(t.Shape()[:n-3])
	v := source.Must(t.Reshape(append(slices.Clone(lead), channels/(factor*factor), factor, factor, h, w)...))
	k := len(lead)
	order := make([]int, 0, k+5)
	for i := range k {
		order = append(order, i)
	}
	v = source.Must(v.Permute(append(order, k, k+3, k+1, k+4, k+2)...))
	return shuffled(v, t, append(lead, channels/(factor*factor), h*factor, w*factor))
}

func pixelUnshuffle(t *tensor.Tensor, factor int) *tensor.Tensor {
	source.Check(t.Dim() >= 3, "pixel_unshuffle expects input to have at least 3 dimensions, but got input with %d dimension(s)", t.Dim())
	source.Check(factor > 0, "pixel_unshuffle expects a positive downscale_factor, but got %d", factor)
	define.SmallInts([]int{factor})
	n := t.Dim()
	channels, h, w := t.Size(n-3), t.Size(n-2), t.Size(n-1)
	source.Check(h%factor == 0, "pixel_unshuffle expects height to be divisible by downscale_factor, but input.size(-2)=%d is not divisible by %d", h, factor)
	source.Check(w%factor == 0, "pixel_unshuffle expects width to be divisible by downscale_factor, but input.size(-1)=%d is not divisible by %d", w, factor)
	lead := slices.Clone(t.Shape()[:n-3])
	v := source.Must(t.Reshape(append(slices.Clone(lead), channels, h/factor, factor, w/factor, factor)...))
	k := len(lead)
	order := make([]int, 0, k+5)
	for i := range k {
		order = append(order, i)
	}
	v = source.Must(v.Permute(append(order, k, k+2, k+4, k+1, k+3)...))
	return shuffled(v, t, append(lead, channels*factor*factor, h/factor, w/factor))
}

func channelShuffle(t *tensor.Tensor, groups int) *tensor.Tensor {
	source.Check(t.Dim() > 2, "channel_shuffle expects input with > 2 dims, but got input with sizes %s", define.ShapeText(t.Shape()))
	source.Check(groups > 0 && t.Size(1)%groups == 0, "Number of channels must be divisible by groups. Got %d channels and %d groups.", t.Size(1), groups)
	shape := append([]int{t.Size(0), groups, t.Size(1) / groups}, t.Shape()[2:]...)
	v := source.Must(source.Must(t.Reshape(shape...)).Transpose(1, 2))
	return shuffled(v, t, t.Shape())
}

// shuffled is a copy of v with neighbouring dimensions joined to a shape, in the memory format that the strides of t are taken for.
func shuffled(v, t *tensor.Tensor, shape []int) *tensor.Tensor {
	format := t.SuggestedFormat()
	if format == tensor.ContiguousFormat {
		return source.Must(source.Must(v.Clone(format)).View(shape...))
	}
	out := source.Must(tensor.EmptyFormat(define.EmptyBeside(t, shape, t.DType()), t.DType(), format))
	source.Throw(tensor.Copy(source.Must(out.View(v.Shape()...)), v))
	return out
}

// broadcastShape gives the shape to which two shapes broadcast.
func broadcastShape(c define.Call) value.Value {
	return value.OfList(value.Ints(source.Must(tensor.Broadcast(c.Ints(0), c.Ints(1)))))
}

var ViewFamily = slices.Concat([]define.Definition{
	viewing("view", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.View(c.Ints(1)...) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Symbolic | ops.AsWritten}),
	viewing("view.dtype", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.ViewDType(c.DtypeOr(1, t.DType()))
	}),
	viewing("_unsafe_view", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.View(c.Ints(1)...) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("_reshape_alias", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.AsStrided(c.Ints(1), c.Ints(2), t.Offset())
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("view_as", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.View(c.Tensor(1).Shape()...) }).With(ops.Def{Parts: likeOther("view"), Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten | ops.ShapeOnly}),
	viewing("reshape", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Reshape(c.Ints(1)...) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Symbolic | ops.AsWritten}),
	viewing("reshape_as", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Reshape(c.Tensor(1).Shape()...)
	}).With(ops.Def{Parts: likeOther("reshape"), Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten | ops.ShapeOnly}),
	viewing("ravel", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Reshape(-1) }).With(ops.Def{Parts: define.Composing(ravelParts), Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("flatten.using_ints", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Flatten(c.Int(1), c.Int(2)) }).With(ops.Def{Parts: define.Composing(flattenParts), Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("unflatten.int", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		indexing.NoScalar(c.Int(1), t)
		return t.Unflatten(c.Int(1), c.Ints(2))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.AsWritten}),
	viewing("transpose.int", transposeView).With(ops.Def{Parts: define.Composing(transposedParts), Aliases: []string{"swapaxes", "swapdims"}, Reads: ops.ReadsNothing, Grad: transposedGrad, Tags: ops.Symbolic | ops.AsWritten}),
	viewing("t", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.T() }).With(ops.Def{Parts: define.Composing(turnedParts), Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Do("t", g.Grad(0))) }, Tags: ops.Grouped | ops.AsWritten}),
	viewing("permute", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Permute(c.Ints(1)...) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: permuteGrad, Tags: ops.Grouped | ops.AsWritten}),
	viewing("movedim.intlist", moveDims).With(ops.Def{Parts: define.Composing(moveDimsParts), Aliases: []string{"moveaxis.intlist"}, Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("movedim.intlist", c.G(), c.Arg(2), c.Arg(1))) }), Tags: ops.AsWritten}),
	viewing("movedim.int", moveDims).With(ops.Def{Parts: define.Composing(moveDimsParts), Aliases: []string{"moveaxis.int"}, Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("movedim.int", c.G(), c.Arg(2), c.Arg(1))) }), Tags: ops.AsWritten}),
	viewing("expand", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Expand(c.Ints(1)...) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.SumTo(c.G(), c.Shape(0))) }), Tags: ops.AsWritten}),
	viewing("expand_as", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Expand(c.Tensor(1).Shape()...) }).With(ops.Def{Parts: likeOther("expand"), Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.Broadcasts | ops.Symbolic | ops.AsWritten | ops.ShapeOnly}),
	viewing("broadcast_to", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Expand(c.Ints(1)...) }).With(ops.Def{Parts: define.Emitting("expand"), Reads: ops.ReadsNothing, Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.SumTo(c.G(), c.Shape(0))) }), Tags: ops.AsWritten}),
	viewing("squeeze", squeezeView).With(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Grouped | ops.AsWritten}),
	viewing("squeeze.dim", squeezeView).With(ops.Def{Reads: ops.ReadsNothing, Grad: reshaped, Tags: ops.Grouped | ops.AsWritten}),
	viewing("unsqueeze", unsqueezeView).With(ops.Def{Groups: ops.Groups, Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Do("squeeze.dim", g.Grad(0), g.Arg(1))) }, Tags: ops.Grouped | ops.AsWritten}),
	viewing("select.int", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.Select(c.Int(1), c.Int(2)) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Do("select_backward", c.G(), c.Shape(0), c.Int(1), c.Int(2)))
	}), Tags: ops.AsWritten}),
	viewing("slice.Tensor", indexing.SliceView).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.Concrete(func(c define.Gradient) {
		start, end := 0, math.MaxInt64
		if !c.IsNone(2) {
			start = c.Int(2)
		}
		if !c.IsNone(3) {
			end = c.Int(3)
		}
		c.Give(0, c.Do("slice_backward", c.G(), c.Shape(0), c.Int(1), start, end, c.Int(4)))
	}), Tags: ops.AsWritten}),
	viewing("narrow", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Narrow(c.Int(1), c.Int(2), c.Int(3))
	}).With(ops.Def{Parts: define.Composing(narrowParts), Reads: ops.ReadsNothing, Grad: define.Concrete(func(c define.Gradient) {
		start := define.Wrap(c.Int(2), c.Shape(0)[define.Wrap(c.Int(1), len(c.Shape(0)))])
		c.Give(0, c.Do("slice_backward", c.G(), c.Shape(0), c.Int(1), start, start+c.Int(3), 1))
	}), Tags: ops.AsWritten}),
	viewing("narrow.Tensor", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Narrow(c.Int(1), c.Int(2), c.Int(3))
	}),
	viewing("diagonal", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Diagonal(c.Int(1), c.Int(2), c.Int(3))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Do("diagonal_backward", c.G(), c.Shape(0), c.Arg(1), c.Arg(2), c.Arg(3)))
	}), Tags: ops.AsWritten}),
	viewing("linalg_diagonal", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Diagonal(c.Int(1), c.Int(2), c.Int(3))
	}).With(ops.Def{Decomp: define.Emitting("diagonal")}),
	viewing("unfold", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) {
		return t.Unfold(c.Int(1), c.Int(2), c.Int(3))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		places := unfoldedPlaces(define.Composer{Emitter: c.Tape}, c.G(), c.Shape(0), c.Arg(1), c.Arg(2), c.Arg(3))
		flat := c.Into("index_add", c.ZerosAs([]int{define.Numel(c.Shape(0))}, c.G().DType()), 0, places, c.Do("reshape", c.G(), []int{-1}))
		c.Give(0, c.Do("reshape", flat, c.Shape(0)))
	}), Tags: ops.AsWritten}),
	define.Decomposed("unfold_backward", unfoldBackward).With(ops.Def{Decomp: unfoldBackward}),
	viewing("as_strided", indexing.AsStrided).With(ops.Def{Grad: define.Concrete(define.AsStridedGrad), Tags: ops.AsWritten}),
	viewing("view_as_real", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.ViewAsReal() }).With(ops.Def{Grad: define.Concrete(elementwise.OfSelfWith(func(c define.Gradient, g define.Tensors) define.Tensors {
		return c.Do("view_as_complex", c.Do("contiguous", g))
	})), Tags: ops.AsWritten}),
	viewing("view_as_complex", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.ViewAsComplex() }).With(ops.Def{Grad: define.Concrete(elementwise.OfSelfWith(func(c define.Gradient, g define.Tensors) define.Tensors { return c.Do("view_as_real", g) })), Tags: ops.AsWritten}),
	viewing("real", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.RealPart(), nil }).With(ops.Def{Grad: define.Concrete(elementwise.OfSelfWith(func(c define.Gradient, g define.Tensors) define.Tensors { return g })), Tags: ops.AsWritten}),
	viewing("imag", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.ImagPart() }).With(ops.Def{Grad: define.Concrete(elementwise.OfSelfWith(elementwise.Rotate)), Tags: ops.AsWritten}),
	viewing("mT", transposeMatrix),
	viewing("mT.a", transposeMatrix),
	viewing("mH", adjoint).With(ops.Def{Aliases: []string{"adjoint"}, Grad: define.Concrete(elementwise.AdjointGrad), Tags: ops.AsWritten}),
	viewing("mH.a", adjoint).With(ops.Def{Grad: define.Concrete(elementwise.AdjointGrad), Tags: ops.AsWritten}),
	viewing("matrix_H", adjointMatrix).With(ops.Def{Grad: define.Concrete(elementwise.AdjointGrad), Tags: ops.AsWritten}),
	viewing("matrix_H.a", adjointMatrix).With(ops.Def{Grad: define.Concrete(elementwise.AdjointGrad), Tags: ops.AsWritten}),
	viewing("numpy_T", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return reversed(t) }).With(ops.Def{Parts: define.Composing(reversedParts), Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("numpy_T", c.G())) }), Tags: ops.AsWritten}),
	viewing("numpy_T.a", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return reversed(t) }),
	define.Giving("conj", func(c define.Call) *tensor.Tensor { return conjugate(c.Tensor(0)) }).With(ops.Def{Grad: elementwise.ConjugateGrad, Tags: ops.AsWritten}),
	define.Giving("conj_physical", func(c define.Call) *tensor.Tensor { return elementwise.Conjugate(c.Tensor(0)) }).With(ops.Def{Grad: elementwise.ConjugateGrad, Tags: ops.AsWritten}),
	define.Giving("_conj", func(c define.Call) *tensor.Tensor { return conjugate(c.Tensor(0)) }).With(ops.Def{Grad: elementwise.ConjugateGrad, Tags: ops.AsWritten}),
	define.Giving("_neg_view", negative).With(ops.Def{Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Neg(g.Grad(0))) }, Tags: ops.AsWritten}),
	define.Giving("resolve_conj", resolved(tensor.ConjugateBit)).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.AsWritten}),
	define.Giving("resolve_neg", resolved(tensor.NegativeBit)).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.AsWritten}),
	define.Giving("lift_fresh", itself),
	define.Giving("lift", itself),
	define.Giving("alias", func(c define.Call) *tensor.Tensor { return c.Tensor(0).Alias() }).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.AsWritten}),
	define.Giving("detach", func(c define.Call) *tensor.Tensor { return c.Tensor(0).Detach() }),

	reshaping("squeeze_", squeezeView),
	reshaping("squeeze_.dim", squeezeView),
	reshaping("unsqueeze_", unsqueezeView),
	reshaping("transpose_", transposeView),
	reshaping("swapaxes_", transposeView),
	reshaping("swapdims_", transposeView),
	reshaping("t_", func(c define.Call, t *tensor.Tensor) (*tensor.Tensor, error) { return t.T() }),
	reshaping("as_strided_", indexing.AsStrided),

	parting("split.Tensor", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return t.Split(c.Int(1), c.Int(2)) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.Symbolic | ops.AsWritten}),
	parting("unsafe_split.Tensor", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
		return apart(t.Split(c.Int(1), c.Int(2)))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("split.sizes", splitSizes).With(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("split", splitSizes).With(ops.Def{Decomp: define.Emitting("split_with_sizes")}),
	parting("split_with_sizes", splitSizes).With(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("unsafe_split_with_sizes", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return apart(splitSizes(c, t)) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("chunk", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return t.Chunk(c.Int(1), c.Int(2)) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("unsafe_chunk", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
		return apart(t.Chunk(c.Int(1), c.Int(2)))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("tensor_split.sections", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
		return t.TensorSplit(sections(c.Int(1)), c.Int(2))
	}).With(ops.Def{Reads: ops.ReadsNothing, Grad: joined, Tags: ops.AsWritten}),
	parting("tensor_split.indices", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
		return t.TensorSplitAt(c.Ints(1), c.Int(2))
	}),
	parting("tensor_split.tensor_indices_or_sections", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) {
		at := c.Tensor(1)
		if at.Dim() == 0 {
			return t.TensorSplit(sections(int(source.Must(at.Item()).Int64())), c.Int(2))
		}
		return t.TensorSplitAt(elementwise.IntegersOf(at), c.Int(2))
	}).OnZeros().Checked(func(c define.Call) {
		at := c.Tensor(1)
		source.Check(at.DType() == tensor.Int64, "tensor_split expected tensor_indices_or_sections to have dtype of long, but got %s", at.DType().CppName())
		source.Check(at.Dim() <= 1, "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got a tensor with %d dims", at.Dim())
	}),
	parting("unbind.int", func(c define.Call, t *tensor.Tensor) ([]*tensor.Tensor, error) { return t.Unbind(c.Int(1)) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: func(g define.Grad) { g.Give(0, g.Do("stack", g.GradList(), g.Arg(1))) }, Tags: ops.Symbolic | ops.AsWritten}),
	define.Operator("broadcast_tensors", func(c define.Call) { c.GiveList(elementwise.BroadcastTensors(c.Tensors(0))) }).With(ops.Def{Decomp: broadcastEach}),

	define.Giving("repeat", func(c define.Call) *tensor.Tensor { return indexing.Repeat(c.Tensor(0), c.Ints(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		repeatedGrad(c, c.Ints(1))
	}), Tags: ops.AsWritten}).OnZeros().Quantized(define.SameScale),
	define.Giving("tile", func(c define.Call) *tensor.Tensor {
		return indexing.Repeat(c.Tensor(0), tileRepeats(c.Ints(1), c.Tensor(0).Dim()))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { repeatedGrad(c, tileRepeats(c.Ints(1), len(c.Shape(0)))) }), Tags: ops.AsWritten}).OnZeros().Quantized(define.SameScale),
	define.Giving("flip", func(c define.Call) *tensor.Tensor { return flip(c.Tensor(0), c.Ints(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("flip", c.G(), c.Arg(1))) }), Tags: ops.AsWritten}).OnZeros().Quantized(define.SameScale),
	define.Giving("fliplr", func(c define.Call) *tensor.Tensor {
		source.Check(c.Tensor(0).Dim() >= 2, "Input must be >= 2-d.")
		return flip(c.Tensor(0), []int{1})
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("fliplr", c.G())) }), Tags: ops.AsWritten}).OnZeros().Quantized(define.SameScale),
	define.Giving("flipud", func(c define.Call) *tensor.Tensor {
		source.Check(c.Tensor(0).Dim() >= 1, "Input must be >= 1-d.")
		return flip(c.Tensor(0), []int{0})
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("flipud", c.G())) }), Tags: ops.AsWritten}).OnZeros().Quantized(define.SameScale),
	define.Giving("roll", func(c define.Call) *tensor.Tensor { return Roll(c.Tensor(0), c.Ints(1), c.Ints(2)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		back := c.Ints(1)
		for i := range back {
			back[i] = -back[i]
		}
		c.Give(0, c.Do("roll", c.G(), back, c.Arg(2)))
	}), Tags: ops.AsWritten}),
	define.Giving("rot90", func(c define.Call) *tensor.Tensor { return rot90(c.Tensor(0), c.Int(1), c.Ints(2)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("rot90", c.G(), -(c.Arg(1).Int()%4), c.Arg(2))) }), Tags: ops.AsWritten}).OnZeros().Quantized(define.SameScale),
	define.Giving("repeat_interleave.Tensor", func(c define.Call) *tensor.Tensor {
		repeats := c.Tensor(0)
		source.Check(repeats.Dim() == 1, "repeat_interleave only accept 1D vector as repeat")
		if define.IsMeta(repeats) {
			return source.Must(tensor.EmptyMeta([]int{toldSize(c, 1)}, tensor.Int64))
		}
		counts := tensor.Data[int64](elementwise.Contiguous(elementwise.To(repeats, tensor.Int64)))
		checkRepeated(c, 1, checkedCount(counts))
		return repeatInterleave(elementwise.Sequence(len(counts)), counts, nil)
	}),
	define.Giving("repeat_interleave.self_Tensor", func(c define.Call) *tensor.Tensor {
		source.Check(c.Tensor(1).Dim() <= 1, "repeats must be 0-dim or 1-dim tensor")
		if define.IsMeta(c.Tensor(0)) || define.IsMeta(c.Tensor(1)) {
			return repeatedMeta(c)
		}
		return repeatInterleaveArgs(c, tensor.Data[int64](elementwise.Contiguous(elementwise.To(c.Tensor(1), tensor.Int64))))
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		shape, dim := interleaved(c)
		rows := c.Do("repeat_interleave.self_Tensor", c.Do("arange", shape[dim]), c.Arg(1), nil, nil)
		sums := c.Into("index_add", c.ZerosAs(shape, c.G().DType()), dim, rows, c.G())
		c.Give(0, c.Do("reshape", sums, c.Shape(0)))
	}), Tags: ops.AsWritten}),
	define.Giving("repeat_interleave.self_int", func(c define.Call) *tensor.Tensor {
		if define.IsMeta(c.Tensor(0)) {
			return repeatedMeta(c)
		}
		return repeatInterleaveArgs(c, []int64{int64(c.Int(1))})
	}).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		shape, dim := interleaved(c)
		apart := slices.Insert(slices.Clone(shape), dim+1, int(c.Arg(1).Int()))
		c.Give(0, c.Do("reshape", c.Do("sum.dim_IntList", c.Do("reshape", c.G(), apart), []int{dim + 1}, false), c.Shape(0)))
	}), Tags: ops.AsWritten}).Quantized(define.SameScale),
	define.Giving("pixel_shuffle", func(c define.Call) *tensor.Tensor { return pixelShuffle(c.Tensor(0), c.Int(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("pixel_unshuffle", c.G(), c.Arg(1))) }), Tags: ops.AsWritten}),
	define.Giving("pixel_unshuffle", func(c define.Call) *tensor.Tensor { return pixelUnshuffle(c.Tensor(0), c.Int(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("pixel_shuffle", c.G(), c.Arg(1))) }), Tags: ops.AsWritten}),
	define.Giving("channel_shuffle", func(c define.Call) *tensor.Tensor { return channelShuffle(c.Tensor(0), c.Int(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		c.Give(0, c.Do("channel_shuffle", c.G(), max(1, c.Shape(0)[1]/int(c.Arg(1).Int()))))
	}), Tags: ops.AsWritten}),
	define.Giving("_shape_as_tensor", func(c define.Call) *tensor.Tensor {
		shape := c.Tensor(0).Shape()
		t := define.Empty([]int{len(shape)}, tensor.Int64)
		for i, n := range shape {
			tensor.Data[int64](t)[i] = int64(n)
		}
		return t
	}),
	Answering("_infer_size", broadcastShape),
	Answering("broadcast_shapes", broadcastShape).OfSchema("aten::broadcast_shapes(int[] a, int[] b) -> int[]").With(ops.Def{Doc: "The shape to which two shapes broadcast."}),
	define.Giving("native_channel_shuffle", func(c define.Call) *tensor.Tensor { return channelShuffle(c.Tensor(0), c.Int(1)) }).With(ops.Def{Decomp: define.Emitting("channel_shuffle")}),
	define.Giving("data", func(c define.Call) *tensor.Tensor { return c.Tensor(0).Apart() }),
	define.Operator("set_data", func(c define.Call) { c.Tensor(0).Set(c.Tensor(1)) }),
}, splitAlong("hsplit", 1, 1), splitAlong("vsplit", 0, 2), splitAlong("dsplit", 2, 3), atLeastDefinitions())

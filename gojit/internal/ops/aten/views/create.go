package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"
	"math/big"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// creating defines an overload that makes a tensor of a shape with options from argument i on.
func creating(name string, i int, f func(c call, o makeLike) *tensor.Tensor) definition {
	return giving(name, func(c call) *tensor.Tensor {
		if c.wantsSparse(i) {
			return c.sparseOfOptions(name, i)
		}
		o := c.options(i, tensor.DefaultDType(), tensor.Device{})
		return o.placed(f(c, o))
	})
}

// placed returns t on the device of the options.
func (o makeLike) placed(t *tensor.Tensor) *tensor.Tensor {
	switch {
	case o.device == t.Device() || isMeta(t):
		return t
	case o.device.Type == tensor.Meta:
		return withoutElements(t)
	}
	return must(t.ToDevice(o.device))
}

// creatingLike defines an overload that makes a tensor after the first argument.
func creatingLike(name string, i int, f func(c call, o makeLike, like *tensor.Tensor) *tensor.Tensor) definition {
	return giving(name, func(c call) *tensor.Tensor {
		if c.wantsSparse(i) {
			return c.sparseOfOptions(name, i)
		}
		like := c.tensor(0)
		o := c.options(i, like.DType(), like.Device())
		return o.placed(f(c, o, like))
	})
}

// emptyLike makes a tensor of the shape of like in the memory format of argument i.
func (o makeLike) emptyLike(c call, i int, like *tensor.Tensor) *tensor.Tensor {
	switch {
	case o.device.Type == tensor.Meta:
		return o.empty(like.Shape())
	case o.device != like.Device():
		return must(tensor.EmptyFormatOn(o.device, like, o.dtype, c.formatOr(i, tensor.PreserveFormat)))
	}
	return must(tensor.EmptyFormat(like, o.dtype, c.formatOr(i, tensor.PreserveFormat)))
}

func filledLike(name string, f func(c call) tensor.Scalar, i int) definition {
	return creatingLike(name, i, func(c call, o makeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.emptyLike(c, i+4, like)
		mustFit(f(c), t.DType())
		tensor.Fill(t, f(c))
		if isMeta(t) {
			noteFill(t, like, f(c))
		}
		return t
	})
}

func zero(call) tensor.Scalar { return tensor.Int(0) }
func one(call) tensor.Scalar  { return tensor.Int(1) }

// fullType returns the type of a tensor filled with a number.
func fullType(c call, i int, s tensor.Scalar) tensor.DType { return c.dtypeOr(i, s.ResultDType()) }

// arange makes start, start+step, ... below end.
func arange(start, end, step tensor.Scalar, o makeLike, given bool) *tensor.Tensor {
	if !given {
		o.dtype = tensor.DefaultDType()
		if start.IsIntegral() && end.IsIntegral() && step.IsIntegral() {
			o.dtype = tensor.Int64
		}
	}
	if o.dtype == tensor.Int64 {
		start, end, step = tensor.Int(start.Int64()), tensor.Int(end.Int64()), tensor.Int(step.Int64())
	}
	check(!o.dtype.IsComplex(), "\"arange_cpu\" not implemented for '%s'", o.dtype.CppName())
	check(step.Float64() != 0 && !(o.dtype.IsIntegral() && step.Int64() == 0), "step must be nonzero")
	check(step.Float64() > 0 && end.Float64() >= start.Float64() || step.Float64() < 0 && end.Float64() <= start.Float64(),
		"upper bound and larger bound inconsistent with step sign")
	integral := start.IsIntegral() && end.IsIntegral() && step.IsIntegral()
	var n int
	if integral {
		n = int(math.Ceil(float64(end.Int64()-start.Int64()) / float64(step.Int64())))
	} else {
		check(!math.IsInf(start.Float64(), 0) && !math.IsInf(end.Float64(), 0) && start.Float64() == start.Float64() && end.Float64() == end.Float64(),
			"unsupported range: %s -> %s", start, end)
		n = int(math.Ceil((end.Float64() - start.Float64()) / step.Float64()))
	}
	return o.steps(n, integral, start, step)
}

func eye(rows, columns int, o makeLike) *tensor.Tensor {
	check(rows >= 0, "n must be greater or equal to 0, got %d", rows)
	check(columns >= 0, "m must be greater or equal to 0, got %d", columns)
	t := o.full([]int{rows, columns}, tensor.Int(0))
	tensor.Fill(must(t.Diagonal(0, 0, 1)), tensor.Int(1))
	return t
}

// emptyStrided makes a tensor of sizes and steps, of which there are as many.
func emptyStrided(shape, strides []int, d tensor.DType) *tensor.Tensor {
	check(len(shape) == len(strides), "dimensionality of sizes (%d) must match dimensionality of strides (%d)", len(shape), len(strides))
	return must(tensor.EmptyStrided(shape, strides, d))
}

// triangle copies a batch of matrices and clears the part above, or below, a diagonal.
func triangle(t *tensor.Tensor, diagonal int, upper bool) *tensor.Tensor {
	name := map[bool]string{true: "triu", false: "tril"}[upper]
	if t.Dim() < 2 {
		wrapDim(-2, t)
		check(t.Dim() >= 2, "%s: input tensor must have at least 2 dimensions", name)
	}
	out := must(t.Clone(tensor.ContiguousFormat))
	if out.Numel() == 0 || out.IsHollow() {
		return out
	}
	rows, columns := t.Size(t.Dim()-2), t.Size(t.Dim()-1)
	diagonal = min(max(diagonal, -rows), columns)
	if isAway(out) {
		clearTriangles(must(out.View(-1, rows, columns)), diagonal, upper)
		return out
	}
	size := out.DType().Size()
	data := unsafe.Slice((*byte)(out.DataPtr()), out.Numel()*size) // zeros of every type are bytes of zeros
	tensor.Parallel(out.Numel()/columns, rowGrain/columns+1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			from, to := clearedColumns(i%rows, columns, diagonal, upper)
			clear(data[(i*columns+from)*size : (i*columns+to)*size])
		}
	})
	return out
}

// clearedColumns returns which columns of a row triangle clears.
func clearedColumns(row, columns, diagonal int, upper bool) (from, to int) {
	if upper {
		return 0, min(max(row+diagonal, 0), columns)
	}
	return min(max(row+diagonal+1, 0), columns), columns
}

// clearTriangles clears what triangle clears in a batch of matrices whose elements are elsewhere, row by row of all of them.
func clearTriangles(matrices *tensor.Tensor, diagonal int, upper bool) {
	columns := matrices.Size(2)
	for r := range matrices.Size(1) {
		from, to := clearedColumns(r, columns, diagonal, upper)
		tensor.Fill(must(must(matrices.Select(1, r)).Slice(1, from, to, 1)), tensor.Int(0))
	}
}

// triangleIndices lists row and column of the elements on one side of a diagonal.
func triangleIndices(c call, upper bool) *tensor.Tensor {
	o := c.options(3, tensor.Int64, tensor.Device{})
	rows, columns, offset := c.int(0), c.int(1), c.int(2)
	check(rows >= 0, "row must be non-negative, got%d", rows)
	check(columns >= 0, "col must be non-negative, got%d", columns)
	const most = 1 << 61
	check(rows < most && columns < most, "Storage size calculation overflowed with sizes=[%d, %d]", rows, columns)
	offset = min(max(offset, -rows-1), columns+1)
	if upper {
		offset-- // the rows begin where those of the lower triangle end
	}
	first, full := min(max(-offset, 0), rows), min(max(columns-offset-1, 0), rows) // rows with a column below the diagonal, with all of them
	full = max(full, first)
	count := big.NewInt(int64(first + 1 + offset + full + offset)) // twice the mean of the rows between
	count.Mul(count, big.NewInt(int64(full-first))).Rsh(count, 1)
	count.Add(count, new(big.Int).Mul(big.NewInt(int64(rows-full)), big.NewInt(int64(columns))))
	if upper {
		count.Sub(new(big.Int).Mul(big.NewInt(int64(rows)), big.NewInt(int64(columns))), count)
	}
	check(count.IsInt64(), "Storage size calculation overflowed with sizes=[2, %s]", count)
	n := room(16, int(count.Int64()))
	out := empty([]int{2, n}, tensor.Int64)
	data, at := tensor.Data[int64](out), 0
	if upper {
		first = 0
	}
	for i := first; at < n; i++ {
		from, end := 0, min(i+offset+1, columns)
		if upper {
			from, end = max(end, 0), columns
		}
		for j := from; j < end; j++ {
			data[at], data[n+at] = int64(i), int64(j)
			at++
		}
	}
	return to(out, o.dtype)
}

// diagonalEmbed makes matrices with the last dimension of t on a diagonal.
func diagonalEmbed(t *tensor.Tensor, offset, dim1, dim2 int) *tensor.Tensor {
	n := t.Dim() + 1
	d1, d2 := must(tensor.WrapDim(dim1, n)), must(tensor.WrapDim(dim2, n))
	check(d1 != d2, "diagonal dimensions cannot be identical %d, %d", dim1, dim2)
	size := paddedSize(t.Size(t.Dim()-1), 0, max(offset, -offset))
	shape := slices.Clone(t.Shape()[:t.Dim()-1])
	low, high := min(d1, d2), max(d1, d2)
	shape = slices.Insert(shape, low, size)
	shape = slices.Insert(shape, high, size)
	out := zeros(shape, t.DType())
	succeed(tensor.Copy(must(out.Diagonal(offset, d1, d2)), t))
	return out
}

func diag(t *tensor.Tensor, offset int) *tensor.Tensor {
	switch t.Dim() {
	case 1:
		return diagonalEmbed(t, offset, 0, 1)
	case 2:
		return must(must(t.Diagonal(offset, 0, 1)).Clone(tensor.ContiguousFormat))
	}
	check(false, "matrix or a vector expected")
	return nil
}

func oneHot(t *tensor.Tensor, classes int) *tensor.Tensor {
	check(t.DType() == tensor.Int64, "one_hot is only applicable to index tensor.")
	labels := tensor.Data[int64](contiguous(t))
	if t.Numel() == 0 {
		check(classes > 0, "Can not infer total number of classes from empty tensor.")
	} else {
		check(slices.Min(labels) >= 0, "Class values must be non-negative.")
		if classes == -1 {
			classes = int(slices.Max(labels)) + 1
		}
		check(int(slices.Max(labels)) < classes, "Class values must be smaller than num_classes.")
	}
	check(classes >= 0, "Trying to create tensor with negative dimension %d: %s", classes, shapeText(append(slices.Clone(t.Shape()), classes)))
	out := zeros(append(slices.Clone(t.Shape()), classes), tensor.Int64)
	data := tensor.Data[int64](out)
	var watch tensor.Watch
	for i, l := range labels {
		watch.Did(1)
		data[i*classes+int(l)] = 1
	}
	return out
}

// window makes a window function of n points.
func window(name string, f func(x float64) float64) []definition {
	make := func(n int, periodic bool, o makeLike) *tensor.Tensor {
		check(n >= 0, "%s requires non-negative window_length, got window_length=%d", name, n)
		t := empty([]int{n}, tensor.Float64)
		data := tensor.Data[float64](t)
		last := float64(n - 1)
		if periodic {
			last = float64(n)
		}
		for i := range data {
			data[i] = 1
			if n > 1 {
				data[i] = f(float64(i) / last)
			}
		}
		return to(t, o.dtype)
	}
	return []definition{
		creating(name, 1, func(c call, o makeLike) *tensor.Tensor { return make(c.int(0), true, o) }),
		creating(name+".periodic", 2, func(c call, o makeLike) *tensor.Tensor { return make(c.int(0), c.bool(1), o) }),
	}
}

func raisedCosine(alpha, beta float64) func(float64) float64 {
	return func(x float64) float64 { return alpha - beta*math.Cos(2*math.Pi*x) }
}

var createFamily = slices.Concat([]definition{
	giving("vander", func(c call) *tensor.Tensor {
		check(c.tensor(0).Dim() == 1, "x must be a one-dimensional tensor.")
		return vandermonde(c.tensor(0), c.intOr(1, c.tensor(0).Numel()), c.bool(2))
	}).onZeros(),
	giving("linalg_vander", func(c call) *tensor.Tensor {
		x := atLeast(c.tensor(0), 1)
		check(x.DType() != tensor.Bool, "linalg.vander supports floating point, complex, and integer tensors, but got Bool")
		if x.DType().IsIntegral() {
			x = to(x, tensor.Int64)
		}
		return vandermonde(x, c.intOr(1, x.Size(x.Dim()-1)), true)
	}).onZeros(),
	creating("zeros", 1, func(c call, o makeLike) *tensor.Tensor { return o.full(c.ints(0), tensor.Int(0)) }).direct(func(c call, out *tensor.Tensor) bool { return filledOut(c, out, tensor.Int(0)) }),
	creating("ones", 1, func(c call, o makeLike) *tensor.Tensor { return o.full(c.ints(0), tensor.Int(1)) }).direct(func(c call, out *tensor.Tensor) bool { return filledOut(c, out, tensor.Int(1)) }),
	giving("full", func(c call) *tensor.Tensor {
		if c.wantsSparse(2) {
			return c.sparseOfOptions("full", 2)
		}
		o := c.options(2, fullType(c, 2, c.scalar(1)), tensor.Device{})
		return o.full(c.ints(0), c.scalar(1))
	}).direct(func(c call, out *tensor.Tensor) bool {
		return out.DType().IsFloating() && c.scalar(1).Kind != tensor.ComplexScalar && filledOut(c, out, c.scalar(1))
	}),
	creating("empty.memory_format", 1, func(c call, o makeLike) *tensor.Tensor {
		if f := c.formatOr(5, tensor.ContiguousFormat); f == tensor.ChannelsLast || f == tensor.ChannelsLast3D {
			return must(tensor.EmptyChannelsLast(c.ints(0), o.dtype, f))
		}
		return o.empty(c.ints(0))
	}),
	creating("empty_strided", 2, func(c call, o makeLike) *tensor.Tensor {
		return emptyStrided(c.ints(0), c.ints(1), o.dtype)
	}),
	filledLike("zeros_like", zero, 1),
	filledLike("ones_like", one, 1),
	filledLike("full_like", func(c call) tensor.Scalar { return c.scalar(1) }, 2),
	creatingLike("empty_like", 1, func(c call, o makeLike, like *tensor.Tensor) *tensor.Tensor { return o.emptyLike(c, 5, like) }),
	creatingLike("new_zeros", 2, func(c call, o makeLike, _ *tensor.Tensor) *tensor.Tensor { return o.full(c.ints(1), tensor.Int(0)) }),
	creatingLike("new_ones", 2, func(c call, o makeLike, _ *tensor.Tensor) *tensor.Tensor { return o.full(c.ints(1), tensor.Int(1)) }),
	creatingLike("new_full", 3, func(c call, o makeLike, _ *tensor.Tensor) *tensor.Tensor { return o.full(c.ints(1), c.scalar(2)) }),
	creatingLike("new_empty", 2, func(c call, o makeLike, _ *tensor.Tensor) *tensor.Tensor { return o.empty(c.ints(1)) }),
	creatingLike("new_empty_strided", 3, func(c call, o makeLike, _ *tensor.Tensor) *tensor.Tensor {
		return emptyStrided(c.ints(1), c.ints(2), o.dtype)
	}),
	creating("arange", 1, func(c call, o makeLike) *tensor.Tensor {
		return arange(tensor.Int(0), c.scalar(0), tensor.Int(1), o, !c.isNone(1))
	}),
	creating("arange.start", 2, func(c call, o makeLike) *tensor.Tensor {
		return arange(c.scalar(0), c.scalar(1), tensor.Int(1), o, !c.isNone(2))
	}),
	creating("arange.start_step", 3, func(c call, o makeLike) *tensor.Tensor {
		return arange(c.scalar(0), c.scalar(1), c.scalar(2), o, !c.isNone(3))
	}),
	creating("range", 2, func(c call, o makeLike) *tensor.Tensor { return closedRange(c, tensor.Int(1), o) }),
	creating("range.step", 3, func(c call, o makeLike) *tensor.Tensor { return closedRange(c, c.scalar(2), o) }),
	creating("linspace", 3, func(c call, o makeLike) *tensor.Tensor { return linspace(c.scalar(0), c.scalar(1), c.int(2), o) }),
	creating("logspace", 4, func(c call, o makeLike) *tensor.Tensor {
		start, end := c.scalar(0), c.scalar(1)
		if o.dtype.IsIntegral() {
			start, end = tensor.Int(start.Int64()), tensor.Int(end.Int64())
		}
		exponents := linspace(start, end, c.int(2), makeLike{dtype: tensor.Float64})
		return to(pow.run(nil, []operand{ofTensor(must(tensor.Full(nil, tensor.Float(c.float(3)), tensor.Float64))), ofTensor(exponents)}), o.dtype)
	}),
	creating("eye", 1, func(c call, o makeLike) *tensor.Tensor { return eye(c.int(0), c.int(0), o) }).direct(func(c call, out *tensor.Tensor) bool { return identityOut(out, c.int(0), c.int(0)) }),
	creating("eye.m", 2, func(c call, o makeLike) *tensor.Tensor { return eye(c.int(0), c.int(1), o) }).direct(func(c call, out *tensor.Tensor) bool { return identityOut(out, c.int(0), c.int(1)) }),
	giving("tril", func(c call) *tensor.Tensor { return triangle(c.tensor(0), c.int(1), false) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("tril", c.g(), c.arg(1))) }), Tags: ops.IgnoresSelf | ops.AsWritten}).outOverlapping(),
	giving("triu", func(c call) *tensor.Tensor { return triangle(c.tensor(0), c.int(1), true) }).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("triu", c.g(), c.arg(1))) }), Tags: ops.IgnoresSelf | ops.AsWritten}).outOverlapping(),
	giving("tril_indices", func(c call) *tensor.Tensor { return triangleIndices(c, false) }),
	giving("triu_indices", func(c call) *tensor.Tensor { return triangleIndices(c, true) }),
	giving("diag", func(c call) *tensor.Tensor { return diag(c.tensor(0), c.int(1)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.moved("diag") }), Tags: ops.AsWritten}),
	giving("diag_embed", func(c call) *tensor.Tensor { return diagonalEmbed(c.tensor(0), c.int(1), c.int(2), c.int(3)) }).with(ops.Def{Grad: concrete(func(c gradient) { c.moved("diag_embed") }), Tags: ops.AsWritten}),
	giving("diagflat", func(c call) *tensor.Tensor {
		return diagonalEmbed(must(c.tensor(0).Reshape(-1)), c.int(1), 0, 1)
	}),
	giving("one_hot", func(c call) *tensor.Tensor { return oneHot(c.tensor(0), c.int(1)) }).onZeros(),
}, window("hann_window", raisedCosine(0.5, 0.5)), window("hamming_window", raisedCosine(0.54, 0.46)),
	window("bartlett_window", func(x float64) float64 { return 1 - math.Abs(2*x-1) }),
	window("blackman_window", func(x float64) float64 {
		return 0.42 - 0.5*math.Cos(2*math.Pi*x) + 0.08*math.Cos(4*math.Pi*x)
	}))

// closedRange makes start, start+step, ... up to and including end.
func closedRange(c call, step tensor.Scalar, o makeLike) *tensor.Tensor {
	warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range builtin. " +
		"Instead, use torch.arange, which produces values in [start, end).")
	start, end := c.scalar(0), c.scalar(1)
	check(!o.dtype.IsComplex(), "\"arange_cpu\" not implemented for '%s'", o.dtype.CppName())
	check(step.Float64() != 0 && !(o.dtype.IsIntegral() && step.Int64() == 0), "step must be nonzero")
	n := int(math.Floor((end.Float64()-start.Float64())/step.Float64())) + 1
	check(n > 0, "upper bound and larger bound inconsistent with step sign")
	return o.steps(n, false, start, step)
}

// columnWork is what a column of a few elements is as elements of a loop.
const columnWork = 256

func vandermonde(x *tensor.Tensor, n int, increasing bool) *tensor.Tensor {
	check(n >= 0, "N must be non-negative.")
	shape := append(slices.Clone(x.Shape()), n)
	room(x.DType().Size(), shape...)
	out := emptyBeside(x, shape, x.DType())
	if out.Numel() == 0 { // of any number of columns
		return out
	}
	var before *tensor.Tensor
	var watch tensor.Watch
	for i := range n {
		watch.Did(columnWork)
		at := i
		if !increasing {
			at = n - 1 - i
		}
		column := must(out.Select(-1, at))
		if before == nil {
			tensor.Fill(column, tensor.Int(1))
		} else {
			mul.runTo(column, before, x)
			before.Release()
		}
		before = column
	}
	if before != nil {
		before.Release()
	}
	return out
}

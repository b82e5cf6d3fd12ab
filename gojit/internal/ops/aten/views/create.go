package views

import (
	"math"
	"math/big"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Creating defines an overload that makes a tensor of a shape with options from argument i on.
func Creating(name string, i int, f func(c define.Call, o MakeLike) *tensor.Tensor) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		if wantsSparse(c, i) {
			return sparseOfOptions(c, name, i)
		}
		o := Options(c, i, tensor.DefaultDType(), tensor.Device{})
		return o.Placed(f(c, o))
	})
}

// Placed returns t on the device of the options.
func (o MakeLike) Placed(t *tensor.Tensor) *tensor.Tensor {
	switch {
	case o.pinned && t.Device().Type == tensor.CPU:
		return source.Must(t.PinMemory())
	case o.device == t.Device() || define.IsMeta(t):
		return t
	case o.device.Type == tensor.Meta:
		return define.WithoutElements(t)
	}
	return source.Must(t.ToDevice(o.device))
}

// CreatingLike defines an overload that makes a tensor after the first argument.
func CreatingLike(name string, i int, f func(c define.Call, o MakeLike, like *tensor.Tensor) *tensor.Tensor) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		if wantsSparse(c, i) {
			return sparseOfOptions(c, name, i)
		}
		like := c.Tensor(0)
		o := Options(c, i, like.DType(), like.Device())
		return o.Placed(f(c, o, like))
	})
}

// EmptyLike makes a tensor of the shape of like in the memory format of argument i.
func (o MakeLike) EmptyLike(c define.Call, i int, like *tensor.Tensor) *tensor.Tensor {
	switch {
	case o.device.Type == tensor.Meta:
		return o.Empty(like.Shape())
	case o.device != like.Device():
		return source.Must(tensor.EmptyFormatOn(o.device, like, o.Dtype, c.FormatOr(i, tensor.PreserveFormat)))
	}
	t := source.Must(tensor.EmptyFormat(like, o.Dtype, c.FormatOr(i, tensor.PreserveFormat)))
	if o.pinned {
		return source.Must(tensor.EmptyPinned(t.Shape(), t.Strides(), o.Dtype))
	}
	if q := like.Quantizer(); q != nil && o.Dtype == like.DType() {
		t.SetQuantizer(q)
	}
	return t
}

func filledLike(name string, f func(c define.Call) tensor.Scalar, i int) define.Definition {
	return CreatingLike(name, i, func(c define.Call, o MakeLike, like *tensor.Tensor) *tensor.Tensor {
		t := o.EmptyLike(c, i+4, like)
		elementwise.MustFit(f(c), t.DType())
		fill(t, f(c))
		if define.IsMeta(t) {
			elementwise.NoteFill(t, like, f(c))
		}
		return t
	})
}

func zero(define.Call) tensor.Scalar { return tensor.Int(0) }
func one(define.Call) tensor.Scalar  { return tensor.Int(1) }

// fullType returns the type of a tensor filled with a number.
func fullType(c define.Call, i int, s tensor.Scalar) tensor.DType {
	return c.DtypeOr(i, s.ResultDType())
}

// checkRange refuses types that have no order, and bounds that are no numbers.
func checkRange(start, end tensor.Scalar, d tensor.DType) {
	if d.IsComplex() {
		source.Raise(source.RuntimeError, "\"arange_cpu\" not implemented for '%s'", d.CppName())
	}
	unbounded := func(x tensor.Scalar) bool { return math.IsNaN(x.Float64()) || math.IsInf(x.Float64(), 0) }
	if unbounded(start) || unbounded(end) {
		source.Raise(source.RuntimeError, "unsupported range: %v -> %v", start, end)
	}
}

// arange makes start, start+step, ... below end.
func arange(start, end, step tensor.Scalar, o MakeLike, given bool) *tensor.Tensor {
	if !given {
		o.Dtype = tensor.DefaultDType()
		if start.IsIntegral() && end.IsIntegral() && step.IsIntegral() {
			o.Dtype = tensor.Int64
		}
	}
	if o.Dtype == tensor.Int64 {
		start, end, step = tensor.Int(start.Int64()), tensor.Int(end.Int64()), tensor.Int(step.Int64())
	}
	checkRange(start, end, o.Dtype)
	source.Check(step.Float64() != 0 && !(o.Dtype.IsIntegral() && step.Int64() == 0), "step must be nonzero")
	source.Check(step.Float64() > 0 && end.Float64() >= start.Float64() || step.Float64() < 0 && end.Float64() <= start.Float64(),
		"upper bound and larger bound inconsistent with step sign")
	integral := start.IsIntegral() && end.IsIntegral() && step.IsIntegral()
	var n int
	if integral {
		n = int(math.Ceil(float64(end.Int64()-start.Int64()) / float64(step.Int64())))
	} else {
		source.Check(!math.IsInf(start.Float64(), 0) && !math.IsInf(end.Float64(), 0) && start.Float64() == start.Float64() && end.Float64() == end.Float64(),
			"unsupported range: %s -> %s", start, end)
		n = int(math.Ceil((end.Float64() - start.Float64()) / step.Float64()))
	}
	return o.steps(n, integral, start, step)
}

// Eye is eye.
func Eye(rows, columns int, o MakeLike) *tensor.Tensor {
	source.Check(rows >= 0, "n must be greater or equal to 0, got %d", rows)
	source.Check(columns >= 0, "m must be greater or equal to 0, got %d", columns)
	t := o.full([]int{rows, columns}, tensor.Int(0))
	tensor.Fill(source.Must(t.Diagonal(0, 0, 1)), tensor.Int(1))
	return t
}

// emptyStrided makes a tensor of sizes and steps, of which there are as many.
func emptyStrided(shape, strides []int, d tensor.DType) *tensor.Tensor {
	source.Check(len(shape) == len(strides), "dimensionality of sizes (%d) must match dimensionality of strides (%d)", len(shape), len(strides))
	return source.Must(tensor.EmptyStrided(shape, strides, d))
}

// Triangle copies a batch of matrices and clears the part above, or below, a diagonal.
func Triangle(t *tensor.Tensor, diagonal int, upper bool) *tensor.Tensor {
	name := map[bool]string{true: "triu", false: "tril"}[upper]
	if t.Dim() < 2 && t.Numel() > 0 {
		define.WrapDim(-2, t)
		source.Check(t.Dim() >= 2, "%s: input tensor must have at least 2 dimensions", name)
	}
	out := source.Must(t.Clone(tensor.ContiguousFormat))
	if out.Numel() == 0 || out.IsHollow() {
		return out
	}
	rows, columns := t.Size(t.Dim()-2), t.Size(t.Dim()-1)
	diagonal = min(max(diagonal, -rows), columns)
	if define.IsAway(out) {
		clearTriangles(source.Must(out.View(-1, rows, columns)), diagonal, upper)
		return out
	}
	size := out.DType().Size()
	data := unsafe.Slice((*byte)(out.DataPtr()), out.Numel()*size) // zeros of every type are bytes of zeros
	parallel.For(out.Numel()/columns, define.RowGrain/columns+1, func(lo, hi int) {
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
		tensor.Fill(source.Must(source.Must(matrices.Select(1, r)).Slice(1, from, to, 1)), tensor.Int(0))
	}
}

// triangleIndices lists row and column of the elements on one side of a diagonal.
func triangleIndices(c define.Call, upper bool) *tensor.Tensor {
	o := Options(c, 3, tensor.Int64, tensor.Device{})
	rows, columns, offset := c.Int(0), c.Int(1), c.Int(2)
	source.Check(rows >= 0, "row must be non-negative, got%d", rows)
	source.Check(columns >= 0, "col must be non-negative, got%d", columns)
	const most = 1 << 61
	source.Check(rows < most && columns < most, "Storage size calculation overflowed with sizes=[%d, %d]", rows, columns)
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
	source.Check(count.IsInt64(), "Storage size calculation overflowed with sizes=[2, %s]", count)
	n := define.Room(16, int(count.Int64()))
	out := define.Empty([]int{2, n}, tensor.Int64)
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
	return o.Placed(elementwise.To(out, o.Dtype))
}

// diagonalEmbed makes matrices with the last dimension of t on a diagonal.
func diagonalEmbed(t *tensor.Tensor, offset, dim1, dim2 int) *tensor.Tensor {
	n := t.Dim() + 1
	d1, d2 := source.Must(tensor.WrapDim(dim1, n)), source.Must(tensor.WrapDim(dim2, n))
	source.Check(d1 != d2, "diagonal dimensions cannot be identical %d, %d", dim1, dim2)
	size := PaddedSize(t.Size(t.Dim()-1), 0, max(offset, -offset))
	shape := slices.Clone(t.Shape()[:t.Dim()-1])
	low, high := min(d1, d2), max(d1, d2)
	shape = slices.Insert(shape, low, size)
	shape = slices.Insert(shape, high, size)
	out := define.Zeros(shape, t.DType())
	source.Throw(tensor.Copy(source.Must(out.Diagonal(offset, d1, d2)), t))
	return out
}

func diag(t *tensor.Tensor, offset int) *tensor.Tensor {
	switch t.Dim() {
	case 1:
		return diagonalEmbed(t, offset, 0, 1)
	case 2:
		return source.Must(source.Must(t.Diagonal(offset, 0, 1)).Clone(tensor.ContiguousFormat))
	}
	source.Check(false, "matrix or a vector expected")
	return nil
}

func oneHot(t *tensor.Tensor, classes int) *tensor.Tensor {
	source.Check(t.DType() == tensor.Int64, "one_hot is only applicable to index tensor.")
	labels := tensor.Data[int64](elementwise.Contiguous(t))
	if t.Numel() == 0 {
		source.Check(classes > 0, "Can not infer total number of classes from empty tensor.")
	} else {
		source.Check(slices.Min(labels) >= 0, "Class values must be non-negative.")
		if classes == -1 {
			classes = int(slices.Max(labels)) + 1
		}
		source.Check(int(slices.Max(labels)) < classes, "Class values must be smaller than num_classes.")
	}
	source.Check(classes >= 0, "Trying to create tensor with negative dimension %d: %s", classes, define.ShapeText(append(slices.Clone(t.Shape()), classes)))
	out := define.Zeros(append(slices.Clone(t.Shape()), classes), tensor.Int64)
	data := tensor.Data[int64](out)
	var watch parallel.Watch
	for i, l := range labels {
		watch.Did(1)
		data[i*classes+int(l)] = 1
	}
	return out
}

// window makes a window function of n points, which is 1 for a single one.
func window(name string, f func(b elementwise.Builder, x elementwise.Element) elementwise.Element) []define.Definition {
	points := &elementwise.Counting{Computed: tensor.Float64, Params: 1, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return f(b, b.Div(x[0], x[1]))
	}}
	make := func(n int, periodic bool, o MakeLike) *tensor.Tensor {
		source.Check(o.Dtype.IsFloating() || o.Dtype.IsComplex(), "%s expects floating point dtypes, got: %s", name, o.Dtype.CppName())
		source.Check(n >= 0, "%s requires non-negative window_length, got window_length=%d", name, n)
		if n == 1 {
			return source.Must(tensor.Full([]int{1}, tensor.Float(1), o.Dtype))
		}
		last := float64(n - 1)
		if periodic {
			last = float64(n)
		}
		if o.Dtype.IsComplex() {
			return elementwise.OwnTo(points.Fill(n, tensor.Float64, tensor.Float(last)), o.Dtype)
		}
		return points.Fill(n, o.Dtype, tensor.Float(last))
	}
	return []define.Definition{
		Creating(name, 1, func(c define.Call, o MakeLike) *tensor.Tensor { return make(c.Int(0), true, o) }),
		Creating(name+".periodic", 2, func(c define.Call, o MakeLike) *tensor.Tensor { return make(c.Int(0), c.Bool(1), o) }),
	}
}

// cosine is factor times the cosine of angle times x.
func cosine(b elementwise.Builder, x elementwise.Element, angle, factor float64) elementwise.Element {
	return b.Mul(b.Unary(kernel.Cos, b.Mul(x, b.Number(x, angle))), b.Number(x, factor))
}

func raisedCosine(alpha, beta float64) func(b elementwise.Builder, x elementwise.Element) elementwise.Element {
	return func(b elementwise.Builder, x elementwise.Element) elementwise.Element {
		return b.Sub(b.Number(x, alpha), cosine(b, x, 2*math.Pi, beta))
	}
}

var CreateFamily = slices.Concat([]define.Definition{
	define.Giving("vander", func(c define.Call) *tensor.Tensor {
		x := c.Tensor(0)
		if x.DType() == tensor.Bool || x.DType().IsIntegral() {
			x = elementwise.To(x, tensor.Int64)
		}
		return vandermonde(x, c.IntOr(1, x.Numel()), c.Bool(2))
	}).OnZeros().Checked(func(c define.Call) {
		source.Check(c.Tensor(0).Dim() == 1, "x must be a one-dimensional tensor.")
	}),
	define.Giving("linalg_vander", func(c define.Call) *tensor.Tensor {
		x := elementwise.AtLeast(c.Tensor(0), 1)
		if x.DType().IsIntegral() {
			x = elementwise.To(x, tensor.Int64)
		}
		return vandermonde(x, c.IntOr(1, x.Size(x.Dim()-1)), true)
	}).OnZeros().Checked(func(c define.Call) {
		x := c.Tensor(0)
		source.Check(x.DType() != tensor.Bool, "linalg.vander supports floating point, complex, and integer tensors, but got Bool")
		size := 1
		if x.Dim() > 0 {
			size = x.Size(x.Dim() - 1)
		}
		source.Check(c.IntOr(1, size) > 1, "N must be greater than 1.")
	}),
	Creating("zeros", 1, func(c define.Call, o MakeLike) *tensor.Tensor { return o.full(c.Ints(0), tensor.Int(0)) }).Direct(func(c define.Call, out *tensor.Tensor) bool { return indexing.FilledOut(c, out, tensor.Int(0)) }),
	Creating("ones", 1, func(c define.Call, o MakeLike) *tensor.Tensor { return o.full(c.Ints(0), tensor.Int(1)) }).Direct(func(c define.Call, out *tensor.Tensor) bool { return indexing.FilledOut(c, out, tensor.Int(1)) }),
	define.Giving("full", func(c define.Call) *tensor.Tensor {
		if wantsSparse(c, 2) {
			return sparseOfOptions(c, "full", 2)
		}
		o := Options(c, 2, fullType(c, 2, c.Scalar(1)), tensor.Device{})
		return o.full(c.Ints(0), c.Scalar(1))
	}).Direct(func(c define.Call, out *tensor.Tensor) bool {
		return out.DType().IsFloating() && c.Scalar(1).Kind != tensor.ComplexScalar && indexing.FilledOut(c, out, c.Scalar(1))
	}),
	Creating("empty.memory_format", 1, func(c define.Call, o MakeLike) *tensor.Tensor {
		if f := c.FormatOr(5, tensor.ContiguousFormat); f == tensor.ChannelsLast || f == tensor.ChannelsLast3D {
			return source.Must(tensor.EmptyChannelsLast(c.Ints(0), o.Dtype, f))
		}
		return o.Empty(c.Ints(0))
	}),
	Creating("empty_strided", 2, func(c define.Call, o MakeLike) *tensor.Tensor {
		return emptyStrided(c.Ints(0), c.Ints(1), o.Dtype)
	}),
	filledLike("zeros_like", zero, 1),
	filledLike("ones_like", one, 1),
	filledLike("full_like", func(c define.Call) tensor.Scalar { return c.Scalar(1) }, 2),
	CreatingLike("empty_like", 1, func(c define.Call, o MakeLike, like *tensor.Tensor) *tensor.Tensor { return o.EmptyLike(c, 5, like) }),
	CreatingLike("new_zeros", 2, func(c define.Call, o MakeLike, _ *tensor.Tensor) *tensor.Tensor {
		return o.full(c.Ints(1), tensor.Int(0))
	}),
	CreatingLike("new_ones", 2, func(c define.Call, o MakeLike, _ *tensor.Tensor) *tensor.Tensor {
		return o.full(c.Ints(1), tensor.Int(1))
	}),
	CreatingLike("new_full", 3, func(c define.Call, o MakeLike, _ *tensor.Tensor) *tensor.Tensor {
		return o.full(c.Ints(1), c.Scalar(2))
	}),
	CreatingLike("new_empty", 2, func(c define.Call, o MakeLike, _ *tensor.Tensor) *tensor.Tensor { return o.Empty(c.Ints(1)) }),
	CreatingLike("new_empty_strided", 3, func(c define.Call, o MakeLike, _ *tensor.Tensor) *tensor.Tensor {
		return emptyStrided(c.Ints(1), c.Ints(2), o.Dtype)
	}),
	Creating("arange", 1, func(c define.Call, o MakeLike) *tensor.Tensor {
		return arange(tensor.Int(0), c.Scalar(0), tensor.Int(1), o, !c.IsNone(1))
	}),
	Creating("arange.start", 2, func(c define.Call, o MakeLike) *tensor.Tensor {
		return arange(c.Scalar(0), c.Scalar(1), tensor.Int(1), o, !c.IsNone(2))
	}),
	Creating("arange.start_step", 3, func(c define.Call, o MakeLike) *tensor.Tensor {
		return arange(c.Scalar(0), c.Scalar(1), c.Scalar(2), o, !c.IsNone(3))
	}),
	Creating("range", 2, func(c define.Call, o MakeLike) *tensor.Tensor { return closedRange(c, tensor.Int(1), o) }),
	Creating("range.step", 3, func(c define.Call, o MakeLike) *tensor.Tensor { return closedRange(c, c.Scalar(2), o) }),
	Creating("linspace", 3, func(c define.Call, o MakeLike) *tensor.Tensor { return linspace(c.Scalar(0), c.Scalar(1), c.Int(2), o) }),
	Creating("logspace", 4, func(c define.Call, o MakeLike) *tensor.Tensor {
		start, end := c.Scalar(0), c.Scalar(1)
		if o.Dtype.IsIntegral() {
			start, end = tensor.Int(start.Int64()), tensor.Int(end.Int64())
		}
		exponents := linspace(start, end, c.Int(2), MakeLike{Dtype: tensor.Float64})
		return elementwise.To(elementwise.Pow.Run(nil, []elementwise.Operand{elementwise.OfTensor(source.Must(tensor.Full(nil, tensor.Float(c.Float(3)), tensor.Float64))), elementwise.OfTensor(exponents)}), o.Dtype)
	}),
	Creating("eye", 1, func(c define.Call, o MakeLike) *tensor.Tensor { return Eye(c.Int(0), c.Int(0), o) }).Direct(func(c define.Call, out *tensor.Tensor) bool { return indexing.IdentityOut(out, c.Int(0), c.Int(0)) }),
	Creating("eye.m", 2, func(c define.Call, o MakeLike) *tensor.Tensor { return Eye(c.Int(0), c.Int(1), o) }).Direct(func(c define.Call, out *tensor.Tensor) bool { return indexing.IdentityOut(out, c.Int(0), c.Int(1)) }),
	define.Giving("tril", func(c define.Call) *tensor.Tensor { return Triangle(c.Tensor(0), c.Int(1), false) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("tril", c.G(), c.Arg(1))) }), Tags: ops.IgnoresSelf | ops.AsWritten}).OutOverlapping(),
	define.Giving("triu", func(c define.Call) *tensor.Tensor { return Triangle(c.Tensor(0), c.Int(1), true) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("triu", c.G(), c.Arg(1))) }), Tags: ops.IgnoresSelf | ops.AsWritten}).OutOverlapping(),
	define.Giving("tril_indices", func(c define.Call) *tensor.Tensor { return triangleIndices(c, false) }),
	define.Giving("triu_indices", func(c define.Call) *tensor.Tensor { return triangleIndices(c, true) }),
	define.Giving("diag", func(c define.Call) *tensor.Tensor { return diag(c.Tensor(0), c.Int(1)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		if shape := c.Shape(0); len(shape) == 2 {
			c.Give(0, c.Do("diagonal_backward", c.G(), shape, c.Arg(1), 0, 1))
		} else {
			c.Give(0, c.Do("diagonal", c.G(), c.Arg(1), 0, 1))
		}
	}), Tags: ops.AsWritten}),
	define.Giving("diag_embed", func(c define.Call) *tensor.Tensor { return diagonalEmbed(c.Tensor(0), c.Int(1), c.Int(2), c.Int(3)) }).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("diagonal", c.G(), c.Arg(1), c.Arg(2), c.Arg(3))) }), Tags: ops.AsWritten}),
	define.Giving("diagflat", func(c define.Call) *tensor.Tensor {
		return diagonalEmbed(source.Must(c.Tensor(0).Reshape(-1)), c.Int(1), 0, 1)
	}),
	define.Giving("one_hot", func(c define.Call) *tensor.Tensor { return oneHot(c.Tensor(0), c.Int(1)) }).OnZeros(),
}, window("hann_window", raisedCosine(0.5, 0.5)), window("hamming_window", raisedCosine(0.54, 0.46)),
	window("bartlett_window", func(b elementwise.Builder, x elementwise.Element) elementwise.Element {
		one := b.Number(x, 1)
		return b.Sub(one, b.Unary(kernel.Abs, b.Sub(b.Mul(x, b.Number(x, 2)), one)))
	}),
	window("blackman_window", func(b elementwise.Builder, x elementwise.Element) elementwise.Element {
		return b.Add(b.Sub(b.Number(x, 0.42), cosine(b, x, 2*math.Pi, 0.5)), cosine(b, x, 4*math.Pi, 0.08))
	}))

// closedRange makes start, start+step, ... up to and including end.
func closedRange(c define.Call, step tensor.Scalar, o MakeLike) *tensor.Tensor {
	define.Warn("torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with Python's range builtin. " +
		"Instead, use torch.arange, which produces values in [start, end).")
	start, end := c.Scalar(0), c.Scalar(1)
	checkRange(start, end, o.Dtype)
	source.Check(step.Float64() != 0 && !(o.Dtype.IsIntegral() && step.Int64() == 0), "step must be nonzero")
	n := int(math.Floor((end.Float64()-start.Float64())/step.Float64())) + 1
	source.Check(n > 0, "upper bound and larger bound inconsistent with step sign")
	return o.steps(n, false, start, step)
}

// columnWork is what a column of a few elements is as elements of a loop.
const columnWork = 256

// vandermonde has the powers from 0 to n-1 of each element in a row. They are running products, which narrow types have in wide ones.
func vandermonde(x *tensor.Tensor, n int, increasing bool) *tensor.Tensor {
	source.Check(n >= 0, "N must be non-negative.")
	shape := append(slices.Clone(x.Shape()), n)
	define.Room(x.DType().Size(), shape...)
	out := define.EmptyBeside(x, shape, x.DType())
	if out.Numel() == 0 { // of any number of columns
		return out
	}
	held := reduce.ScannedIn(x.DType())
	wide := elementwise.To(x, held)
	defer define.ForgetMade(x, wide)
	power := define.FullBeside(x, x.Shape(), tensor.Int(1), held)
	defer power.Release()
	var watch parallel.Watch
	for i := range n {
		watch.Did(columnWork)
		at := i
		if !increasing {
			at = n - 1 - i
		}
		if i > 0 {
			elementwise.Mul.RunTo(power, power, wide)
		}
		column := source.Must(out.Select(-1, at))
		elementwise.Assign(column, power)
		column.Release()
	}
	return out
}

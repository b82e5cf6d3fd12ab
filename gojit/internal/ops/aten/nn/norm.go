// Package nn has what layers of neural networks are: activations, normalizations, losses, attention, recurrent layers.
package nn

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// affine computes x * scale + shift, all broadcast.
var affine = elementwise.New("affine", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Add(b.Mul(x[0], x[1]), x[2])
})

// alongChannels shows a vector of channels so that it broadcasts over dimension 1 of n.
func alongChannels(v *tensor.Tensor, n int) *tensor.Tensor {
	shape := slices.Repeat([]int{1}, n)
	shape[1] = v.Numel()
	return source.Must(v.Reshape(shape...))
}

// batchStatistics gives mean and biased variance of each channel, in float32 at least.
func batchStatistics(x *tensor.Tensor) (mean, variance *tensor.Tensor) {
	dims := []int{0}
	for d := 2; d < x.Dim(); d++ {
		dims = append(dims, d)
	}
	if x.OnDevice() && x.DType().IsFloating() {
		return batchStatisticsOnDevice(x)
	}
	work := kernel.ComputeType(x.DType())
	variance, mean = reduce.WideMoments(x, dims, 0, false, false)
	return elementwise.To(mean, work), elementwise.To(variance, work)
}

// batchNorm normalizes each channel, by the statistics of the batch in training and by the running
// ones otherwise; in training it moves the running ones.
func batchNorm(x, weight, bias, runningMean, runningVar *tensor.Tensor, training bool, momentum, eps float64) (out, mean, invStd *tensor.Tensor) {
	if x.Numel() == 0 {
		work := kernel.ComputeType(x.DType())
		return source.Must(x.Clone(tensor.PreserveFormat)), define.Empty([]int{0}, work), define.Empty([]int{0}, work)
	}
	define.WrapDim(1, x)
	channels := x.Size(1)
	var variance *tensor.Tensor
	if training {
		mean, variance = batchStatistics(x)
		n := x.Numel() / max(channels, 1)
		if runningMean != nil {
			moveAverage(runningMean, mean, momentum)
		}
		if runningVar != nil {
			moveAverage(runningVar, elementwise.ScaleBy(variance, float64(n)/float64(n-1)), momentum)
		}
	} else {
		source.Check(runningMean != nil && runningVar != nil, "running_mean must be defined in evaluation mode")
		mean, variance = runningMean, runningVar
	}
	work := kernel.ComputeType(x.DType())
	if x.OnDevice() && x.DType().IsFloating() {
		out = normalizeChannelsOnDevice(x, mean, variance, weight, bias, eps)
		if !training {
			return out, define.EmptyBeside(x, []int{0}, work), define.EmptyBeside(x, []int{0}, work)
		}
		return out, mean, inverseDeviation(variance, eps)
	}
	invStd = inverseDeviation(elementwise.To(variance, work), eps)
	scale := invStd
	if weight != nil {
		scale = elementwise.Mul.On(scale, elementwise.To(weight, work))
	}
	shift := elementwise.Neg.On(elementwise.Mul.On(elementwise.To(mean, work), scale))
	if bias != nil {
		shift = elementwise.Add.On(shift, elementwise.To(bias, work))
	}
	n := x.Dim()
	out = source.Must(tensor.EmptyFormat(x, x.DType(), x.SuggestedFormat()))
	affine.RunTo(out, x, alongChannels(scale, n), alongChannels(shift, n))
	if !training {
		return out, define.Empty([]int{0}, work), define.Empty([]int{0}, work)
	}
	return out, mean, invStd
}

func numelOr(t *tensor.Tensor) int {
	if t == nil {
		return 0
	}
	return t.Numel()
}

func inverseDeviation(variance *tensor.Tensor, eps float64) *tensor.Tensor {
	return inverseRoot.With(variance, tensor.Float(eps))
}

var inverseRoot = elementwise.New("rsqrt", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Div(b.Number(x[0], 1), b.Unary(kernel.Sqrt, b.Add(x[0], x[1])))
})

// moveAverage moves a running statistic towards a new value.
func moveAverage(running, value *tensor.Tensor, momentum float64) {
	moved := elementwise.Add.On(elementwise.ScaleBy(running, 1-momentum), elementwise.ScaleBy(elementwise.To(value, running.DType()), momentum))
	source.Throw(tensor.Copy(running, moved))
	running.Bump()
}

// layerNorm normalizes over the last dimensions.
func layerNorm(x *tensor.Tensor, shape []int, weight, bias *tensor.Tensor, eps float64) (out, mean, invStd *tensor.Tensor) {
	checkLayerNorm(x, shape, weight, bias)
	lead := x.Dim() - len(shape)
	work := kernel.ComputeType(x.DType())
	n := define.NumelOf(shape)
	statShape := slices.Clone(x.Shape())
	for d := lead; d < x.Dim(); d++ {
		statShape[d] = 1
	}
	mean, invStd = define.EmptyBeside(x, statShape, work), define.EmptyBeside(x, statShape, work)
	if x.OnDevice() && x.DType().IsFloating() && n > 0 {
		out = define.EmptyBeside(x, x.Shape(), x.DType())
		normalizeOnDevice(x, n, weight, bias, out, mean, invStd, eps)
		return out, mean, invStd
	}
	out = define.EmptyBeside(x, x.Shape(), x.DType())
	if x.IsHollow() {
		return out, mean, invStd
	}
	if n == 0 { // rows of no elements have PyTorch's statistics
		tensor.Fill(mean, tensor.Int(0))
		tensor.Fill(invStd, tensor.Float(math.NaN()))
		return out, mean, invStd
	}
	rows, w, b := elementwise.Contiguous(x), vectorOf(weight, work), vectorOf(bias, work)
	if work == tensor.Float32 {
		normalizeRows[float32](rows.Numel()/n, n, rows, w, b, out, mean, invStd, eps)
	} else {
		normalizeRows[float64](rows.Numel()/n, n, rows, w, b, out, mean, invStd, eps)
	}
	return out, mean, invStd
}

func vectorOf(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if t == nil {
		return nil
	}
	return elementwise.Contiguous(elementwise.To(t, d))
}

var (
	rowSum = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		b.Reduce(kernel.ReduceSum, b.Input(in, computed), computed)
	}}
	// rowDeviation adds squares of distances from a number.
	rowDeviation = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) {
		d := b.Sub(b.Input(in, computed), b.Input(computed, computed))
		b.Reduce(kernel.ReduceSum, b.Mul(d, d), computed)
	}}
	// rowNormal is (x - center) * scale, rowNormalScaled multiplies it by a vector, rowNormalAffine adds another.
	rowNormal       = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildNormal(b, in, computed, 0) }}
	rowNormalScaled = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildNormal(b, in, computed, 1) }}
	rowNormalAffine = &reduce.RowKernel{Build: func(b elementwise.Builder, in, computed tensor.DType) { buildNormal(b, in, computed, 2) }}
)

func buildNormal(b elementwise.Builder, in, computed tensor.DType, vectors int) {
	x, center, scale := b.Input(in, computed), b.Input(computed, computed), b.Input(computed, computed)
	y := b.Mul(b.Sub(x, center), scale)
	switch vectors {
	case 1:
		y = b.Mul(y, b.Input(computed, computed))
	case 2:
		w, bias := b.Input(computed, computed), b.Input(computed, computed)
		y = b.Fma(y, w, bias)
	}
	b.Output(y, in)
}

func normalizeRows[T interface {
	reduce.RealFloat
	tensor.Element
}](outer, n int, x, weight, bias, out, mean, invStd *tensor.Tensor, eps float64) {
	in, d := x.DType(), mean.DType()
	if weight == nil && bias != nil {
		weight = source.Must(tensor.Full([]int{n}, tensor.Float(1), d))
	}
	normal := rowNormal
	vectors := make([]launch.Row, 0, 2)
	for _, v := range []*tensor.Tensor{weight, bias} {
		if v != nil {
			vectors = append(vectors, launch.Row{Ptr: v.DataPtr()})
			normal = [...]*reduce.RowKernel{rowNormalScaled, rowNormalAffine}[len(vectors)-1]
		}
	}
	sum, deviation, result := rowSum.Program(in, d), rowDeviation.Program(in, d), normal.Program(in, d)
	m, s := tensor.Data[T](mean), tensor.Data[T](invStd)
	reduce.AlongRows(outer, n, func(from, count int) {
		src, dst := launch.RowOf(x, n).From(from), launch.RowOf(out, n).From(from)
		center, scale := launch.SingleOf(mean).From(from), launch.SingleOf(invStd).From(from)
		sum.Rows(count, n, []launch.Row{center, src}, nil)
		for i := from; i < from+count; i++ {
			m[i] /= T(n)
		}
		deviation.Rows(count, n, []launch.Row{scale, src, center}, nil)
		for i := from; i < from+count; i++ {
			s[i] = T(1 / math.Sqrt(float64(s[i])/float64(n)+eps))
		}
		var operands [6]launch.Row
		used := append(append(operands[:0], dst, src, center, scale), vectors...)
		result.Rows(count, n, used, nil)
	})
}

// GroupNorm normalizes groups of channels.
func GroupNorm(x *tensor.Tensor, groups int, weight, bias *tensor.Tensor, eps float64) *tensor.Tensor {
	n := x.Size(0)
	if x.Numel() == 0 {
		return define.Empty(x.Shape(), x.DType())
	}
	flat := source.Must(elementwise.Contiguous(x).View(n*groups, -1))
	out, _, _ := layerNorm(flat, []int{flat.Size(1)}, nil, nil, eps)
	out = source.Must(out.View(x.Shape()...))
	switch {
	case weight != nil && bias != nil:
		affine.RunTo(out, out, alongChannels(weight, x.Dim()), alongChannels(bias, x.Dim()))
	case weight != nil:
		elementwise.Mul.RunTo(out, out, alongChannels(weight, x.Dim()))
	case bias != nil:
		elementwise.Add.RunTo(out, out, alongChannels(bias, x.Dim()))
	}
	return conv.KeepFormat(elementwise.To(out, x.DType()), x)
}

// instanceNorm is batch normalization of each sample by itself.
func instanceNorm(c define.Call) *tensor.Tensor {
	x, weight, bias, mean, variance := c.Tensor(0), c.OptionalTensor(1), c.OptionalTensor(2), c.OptionalTensor(3), c.OptionalTensor(4)
	useInput, momentum, eps := c.Bool(5), c.Float(6), c.Float(7)
	n, channels := x.Size(0), x.Size(1)
	shape := slices.Clone(x.Shape())
	shape[0], shape[1] = 1, n*channels
	times := func(t *tensor.Tensor) *tensor.Tensor {
		if t == nil {
			return nil
		}
		return indexing.Repeat(t, []int{n})
	}
	m, v := times(mean), times(variance)
	inOrder := elementwise.Contiguous(x)
	defer define.ForgetMade(x, inOrder)
	out, _, _ := batchNorm(source.Must(inOrder.View(shape...)), times(weight), times(bias), m, v, useInput, momentum, eps)
	if useInput {
		backTo := func(dst, src *tensor.Tensor) {
			if dst != nil {
				averaged := tensorMean(source.Must(src.View(n, channels)), 0)
				source.Throw(tensor.Copy(dst, averaged))
				dst.Bump()
			}
		}
		backTo(mean, m)
		backTo(variance, v)
	}
	return define.ShownAs(out, x.Shape()...)
}

func tensorMean(t *tensor.Tensor, dim int) *tensor.Tensor {
	return reduce.Mean(t, []int{dim}, false, t.DType())
}

var NormFamily = []define.Definition{
	define.Giving("_weight_norm", func(c define.Call) *tensor.Tensor {
		v, g := c.Tensor(0), c.Tensor(1)
		return elementwise.Mul.On(v, elementwise.Div.On(g, normExcept(v, 2, c.Int(2))))
	}),
	define.Giving("norm_except_dim", func(c define.Call) *tensor.Tensor { return normExcept(c.Tensor(0), float64(c.Int(1)), c.Int(2)) }),
	define.Giving("batch_norm", func(c define.Call) *tensor.Tensor {
		out, _, _ := batchNorm(c.Tensor(0), c.OptionalTensor(1), c.OptionalTensor(2), c.OptionalTensor(3), c.OptionalTensor(4), c.Bool(5), c.Float(6), c.Float(7))
		return out
	}).With(ops.Def{Groups: ops.Groups, Decomp: define.Composing(composeBatchNorm), Saving: "native_batch_norm", Tags: ops.Grouped | ops.AnySizes}).Checked(func(c define.Call) { checkBatchNorm(c, c.Tensor(0).Dim() > 1) }),
	define.Operator("native_batch_norm", func(c define.Call) {
		out, mean, invStd := batchNorm(c.Tensor(0), c.OptionalTensor(1), c.OptionalTensor(2), c.OptionalTensor(3), c.OptionalTensor(4), c.Bool(5), c.Float(6), c.Float(7))
		c.Give(out, mean, invStd)
	}).With(ops.Def{Reads: ops.ReadsOperands.And(3).And(4).AndResult(1).AndResult(2), Grad: nativeBatchNormGrad, WithoutGrad: []int{1, 2}, Tags: ops.Grouped}).Checked(func(c define.Call) { checkBatchNorm(c, c.Tensor(0).Dim() > 1) }),
	define.Giving("layer_norm", func(c define.Call) *tensor.Tensor {
		out, _, _ := layerNorm(c.Tensor(0), c.Ints(1), c.OptionalTensor(2), c.OptionalTensor(3), c.Float(4))
		return out
	}).With(ops.Def{Decomp: define.FirstOf("native_layer_norm"), Saving: "native_layer_norm", Tags: ops.ThroughNumbers | ops.Grouped | ops.AnySizes}).Checked(func(c define.Call) {
		checkLayerNorm(c.Tensor(0), c.Ints(1), c.OptionalTensor(2), c.OptionalTensor(3))
	}),
	define.Decomposed("rms_norm", define.Composing(composeRmsNorm)).
		OfSchema("aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor # composite").
		With(ops.Def{Decomp: define.Composing(composeRmsNorm), Sample: "(x, [3])", Doc: "The input over the root of the mean of its squares."}),
	define.Operator("native_layer_norm", func(c define.Call) {
		out, mean, invStd := layerNorm(c.Tensor(0), c.Ints(1), c.OptionalTensor(2), c.OptionalTensor(3), c.Float(4))
		c.Give(out, mean, invStd)
	}).With(ops.Def{Reads: ops.ReadsSelf.And(2).AndResult(1).AndResult(2), Grad: nativeLayerNormGrad, WithoutGrad: []int{1, 2}, Tags: ops.Symbolic}),
	define.Giving("group_norm", func(c define.Call) *tensor.Tensor {
		return GroupNorm(c.Tensor(0), c.Int(1), c.OptionalTensor(2), c.OptionalTensor(3), c.Float(4))
	}).With(ops.Def{Decomp: define.Composing(composeGroupNorm), Tags: ops.ThroughNumbers | ops.AnySizes}).Checked(checkGroupNorm),
	define.Giving("instance_norm", instanceNorm).With(ops.Def{Decomp: define.Composing(composeInstanceNorm)}).Checked(func(c define.Call) {
		source.Check(c.Tensor(0).Dim() >= 2, "instance_norm expects an input of samples and channels, but got %s", define.ShapeText(c.Tensor(0).Shape()))
		source.Check(c.Bool(5) || !c.IsNone(3) && !c.IsNone(4), "Expected running_mean and running_var to be defined when use_input_stats is false")
		checkBatchNorm(c, true)
		checkParameterTypes(c.Tensor(0), c.OptionalTensor(1), c.OptionalTensor(2), c.OptionalTensor(3), c.OptionalTensor(4))
	}),
	define.Giving("renorm", func(c define.Call) *tensor.Tensor {
		x, p, dim, limit := c.Tensor(0), c.Scalar(1).Float64(), define.WrapDim(c.Int(2), c.Tensor(0)), c.Scalar(3).Float64()
		source.Check(x.Dim() > 1, "renorm: input needs at least 2 dimensions, got %d dimensions", x.Dim())
		source.Check(p > 0, "renorm: non-positive-norm not supported")
		source.Check(limit >= 0, "renorm: expected maxnorm to be >= 0 but got %v", c.Scalar(3))
		var dims []int
		for d := range x.Dim() {
			if d != dim {
				dims = append(dims, d)
			}
		}
		norms := reduce.VectorNorm(x, p, dims, true, x.DType())
		factor := elementwise.Div.Run(nil, []elementwise.Operand{elementwise.OfTensor(source.Must(tensor.Full(nil, tensor.Float(limit), x.DType()))), elementwise.OfTensor(elementwise.AddNumber(norms, 1e-7))})
		large := elementwise.Gt.Run(nil, []elementwise.Operand{elementwise.OfTensor(norms), elementwise.OfScalar(tensor.Float(limit))})
		out := define.EmptyBeside(x, x.Shape(), x.DType())
		elementwise.Mul.RunTo(out, x, elementwise.Choose(large, elementwise.OfTensor(factor), elementwise.OfScalar(tensor.Float(1))))
		return out
	}),
	define.Operator("_batch_norm_impl_index", func(c define.Call) {
		out, mean, invStd := batchNorm(c.Tensor(0), c.OptionalTensor(1), c.OptionalTensor(2), c.OptionalTensor(3), c.OptionalTensor(4), c.Bool(5), c.Float(6), c.Float(7))
		c.Give(out, mean, invStd, define.Empty([]int{0}, tensor.Uint8))
		c.Out[4] = value.Int(0)
	}),
	define.Operator("native_group_norm", func(c define.Call) {
		x, groups := c.Tensor(0), c.Int(6)
		checkGroups(x, c.OptionalTensor(1), c.OptionalTensor(2), c.Int(3), c.Int(4), c.Int(5), groups)
		checkGroupNorm(define.Call{Args: []value.Value{c.Args[0], c.Args[6], c.Args[1], c.Args[2]}})
		source.Check(x.Size(0) == c.Int(3) && x.Size(1) == c.Int(4), "Expected X.numel() == N * C * HxW to be true, but got false.")
		out := GroupNorm(x, groups, c.OptionalTensor(1), c.OptionalTensor(2), c.Float(7))
		flat := source.Must(elementwise.Contiguous(x).View(x.Size(0), groups, -1))
		spread, center := reduce.Moments(flat, []int{2}, 0, false, false)
		c.Give(out, center, inverseDeviation(spread, c.Float(7)))
	}).With(ops.Def{WithoutGrad: []int{1, 2}, Grad: define.Concrete(func(c define.Gradient) {
		x, mean, rstd := c.In(0), c.Out(1), c.Out(2)
		if c.Tape.Records() {
			grouped := []int{c.Int(3), c.Int(6), -1}
			mean, rstd = statistics(c, c.Do("reshape", x, grouped), []int{2}, c.Float(7))
			mean, rstd = c.Do("squeeze.dim", mean, 2), c.Do("squeeze.dim", rstd, 2)
		}
		define.GiveMasked(c.Gradient, []int{0, 1, 2}, "native_group_norm_backward", c.G(), x, mean, rstd, c.In(1), c.Int(3), c.Int(4), c.Int(5), c.Int(6))
	})}),
}

// normExcept gives the norms over all dimensions but one.
func normExcept(v *tensor.Tensor, p float64, dim int) *tensor.Tensor {
	if dim == -1 {
		return reduce.VectorNorm(v, p, nil, false, v.DType())
	}
	dim = define.WrapDim(dim, v)
	var dims []int
	for d := range v.Dim() {
		if d != dim {
			dims = append(dims, d)
		}
	}
	if dims == nil { // each element is a row
		return reduce.VectorNorm(source.Must(v.Unsqueeze(-1)), p, []int{-1}, false, v.DType())
	}
	return reduce.VectorNorm(v, p, dims, true, v.DType())
}

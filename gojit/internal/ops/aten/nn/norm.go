package aten

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/kernel/launch"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// affine computes x * scale + shift, all broadcast.
var affine = elementwise("affine", ops.SameType, func(b builder, x ...element) element { return b.Add(b.Mul(x[0], x[1]), x[2]) })

// alongChannels shows a vector of channels so that it broadcasts over dimension 1 of n.
func alongChannels(v *tensor.Tensor, n int) *tensor.Tensor {
	shape := slices.Repeat([]int{1}, n)
	shape[1] = v.Numel()
	return must(v.Reshape(shape...))
}

// batchStatistics gives mean and biased variance of each channel, in float32 at least.
func batchStatistics(x *tensor.Tensor) (mean, variance *tensor.Tensor) {
	dims := []int{0}
	for d := 2; d < x.Dim(); d++ {
		dims = append(dims, d)
	}
	work := kernel.ComputeType(x.DType())
	variance, mean = wideMoments(x, dims, 0, false, false)
	return to(mean, work), to(variance, work)
}

// batchNorm normalizes each channel, by the statistics of the batch in training and by the running
// ones otherwise; in training it moves the running ones.
func batchNorm(x, weight, bias, runningMean, runningVar *tensor.Tensor, training bool, momentum, eps float64) (out, mean, invStd *tensor.Tensor) {
	if x.Numel() == 0 {
		work := kernel.ComputeType(x.DType())
		return must(x.Clone(tensor.PreserveFormat)), empty([]int{0}, work), empty([]int{0}, work)
	}
	wrapDim(1, x)
	channels := x.Size(1)
	var variance *tensor.Tensor
	if training {
		mean, variance = batchStatistics(x)
		n := x.Numel() / max(channels, 1)
		if runningMean != nil {
			moveAverage(runningMean, mean, momentum)
		}
		if runningVar != nil {
			moveAverage(runningVar, scaleBy(variance, float64(n)/float64(n-1)), momentum)
		}
	} else {
		check(runningMean != nil && runningVar != nil, "running_mean must be defined in evaluation mode")
		mean, variance = runningMean, runningVar
	}
	work := kernel.ComputeType(x.DType())
	invStd = inverseDeviation(to(variance, work), eps)
	scale := invStd
	if weight != nil {
		scale = mul.on(scale, to(weight, work))
	}
	shift := neg.on(mul.on(to(mean, work), scale))
	if bias != nil {
		shift = add.on(shift, to(bias, work))
	}
	n := x.Dim()
	out = must(tensor.EmptyFormat(x, x.DType(), tensor.PreserveFormat))
	affine.runTo(out, x, alongChannels(scale, n), alongChannels(shift, n))
	if !training {
		return out, empty([]int{0}, work), empty([]int{0}, work)
	}
	return out, mean, invStd
}

// runTo applies the operator to tensors of which the others are at most as wide as the first, and
// stores in the type of out.
func (p *pointwise) runTo(out *tensor.Tensor, ts ...*tensor.Tensor) {
	operands := make([]operand, len(ts))
	for i, t := range ts {
		operands[i].tensor = t
	}
	p.run(out, operands)
}

func numelOr(t *tensor.Tensor) int {
	if t == nil {
		return 0
	}
	return t.Numel()
}

func inverseDeviation(variance *tensor.Tensor, eps float64) *tensor.Tensor {
	return inverseRoot.with(variance, tensor.Float(eps))
}

var inverseRoot = elementwise("rsqrt", ops.SameType, func(b builder, x ...element) element {
	return b.Div(b.Number(x[0], 1), b.Unary(kernel.Sqrt, b.Add(x[0], x[1])))
})

// moveAverage moves a running statistic towards a new value.
func moveAverage(running, value *tensor.Tensor, momentum float64) {
	moved := add.on(scaleBy(running, 1-momentum), scaleBy(to(value, running.DType()), momentum))
	succeed(tensor.Copy(running, moved))
	running.Bump()
}

// layerNorm normalizes over the last dimensions.
func layerNorm(x *tensor.Tensor, shape []int, weight, bias *tensor.Tensor, eps float64) (out, mean, invStd *tensor.Tensor) {
	checkLayerNorm(x, shape, weight, bias)
	lead := x.Dim() - len(shape)
	work := kernel.ComputeType(x.DType())
	rows := contiguous(to(x, work))
	n := numelOf(shape)
	statShape := slices.Clone(x.Shape())
	for d := lead; d < x.Dim(); d++ {
		statShape[d] = 1
	}
	out, mean, invStd = emptyBeside(x, x.Shape(), work), emptyBeside(x, statShape, work), emptyBeside(x, statShape, work)
	if x.IsHollow() {
		return to(out, x.DType()), mean, invStd
	}
	if n == 0 { // rows of no elements have PyTorch's statistics
		tensor.Fill(mean, tensor.Int(0))
		tensor.Fill(invStd, tensor.Float(math.NaN()))
		return to(out, x.DType()), mean, invStd
	}
	w, b := vectorOf(weight, work), vectorOf(bias, work)
	if work == tensor.Float32 {
		normalizeRows[float32](rows.Numel()/n, n, rows, w, b, out, mean, invStd, eps)
	} else {
		normalizeRows[float64](rows.Numel()/n, n, rows, w, b, out, mean, invStd, eps)
	}
	return to(out, x.DType()), mean, invStd
}

func vectorOf(t *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	if t == nil {
		return nil
	}
	return contiguous(to(t, d))
}

var (
	rowSum = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		b.Reduce(kernel.ReduceSum, b.Input(in, computed), computed)
	}}
	// rowDeviation adds squares of distances from a number.
	rowDeviation = &rowKernel{build: func(b builder, in, computed tensor.DType) {
		d := b.Sub(b.Input(in, computed), b.Input(computed, computed))
		b.Reduce(kernel.ReduceSum, b.Mul(d, d), computed)
	}}
	// rowNormal is (x - center) * scale, rowNormalScaled multiplies it by a vector, rowNormalAffine adds another.
	rowNormal       = &rowKernel{build: func(b builder, in, computed tensor.DType) { buildNormal(b, in, computed, 0) }}
	rowNormalScaled = &rowKernel{build: func(b builder, in, computed tensor.DType) { buildNormal(b, in, computed, 1) }}
	rowNormalAffine = &rowKernel{build: func(b builder, in, computed tensor.DType) { buildNormal(b, in, computed, 2) }}
)

func buildNormal(b builder, in, computed tensor.DType, vectors int) {
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
	realFloat
	tensor.Element
}](outer, n int, x, weight, bias, out, mean, invStd *tensor.Tensor, eps float64) {
	d := x.DType()
	if weight == nil && bias != nil {
		weight = must(tensor.Full([]int{n}, tensor.Float(1), d))
	}
	normal := rowNormal
	vectors := make([]launch.Row, 0, 2)
	for _, v := range []*tensor.Tensor{weight, bias} {
		if v != nil {
			vectors = append(vectors, launch.Row{Ptr: v.DataPtr()})
			normal = [...]*rowKernel{rowNormalScaled, rowNormalAffine}[len(vectors)-1]
		}
	}
	sum, deviation, result := rowSum.program(d, d), rowDeviation.program(d, d), normal.program(d, d)
	m, s := tensor.Data[T](mean), tensor.Data[T](invStd)
	alongRows(outer, n, func(from, count int) {
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

// groupNorm normalizes groups of channels.
func groupNorm(x *tensor.Tensor, groups int, weight, bias *tensor.Tensor, eps float64) *tensor.Tensor {
	n := x.Size(0)
	if x.Numel() == 0 {
		return empty(x.Shape(), x.DType())
	}
	flat := must(contiguous(x).View(n*groups, -1))
	out, _, _ := layerNorm(flat, []int{flat.Size(1)}, nil, nil, eps)
	out = must(out.View(x.Shape()...))
	switch {
	case weight != nil && bias != nil:
		affine.runTo(out, out, alongChannels(weight, x.Dim()), alongChannels(bias, x.Dim()))
	case weight != nil:
		mul.runTo(out, out, alongChannels(weight, x.Dim()))
	case bias != nil:
		add.runTo(out, out, alongChannels(bias, x.Dim()))
	}
	return keepFormat(to(out, x.DType()), x)
}

// instanceNorm is batch normalization of each sample by itself.
func instanceNorm(c call) *tensor.Tensor {
	x, weight, bias, mean, variance := c.tensor(0), c.optionalTensor(1), c.optionalTensor(2), c.optionalTensor(3), c.optionalTensor(4)
	useInput, momentum, eps := c.bool(5), c.float(6), c.float(7)
	check(useInput || mean != nil && variance != nil, "Expected running_mean and running_var to be defined when use_input_stats is false")
	n, channels := x.Size(0), x.Size(1)
	shape := slices.Clone(x.Shape())
	shape[0], shape[1] = 1, n*channels
	times := func(t *tensor.Tensor) *tensor.Tensor {
		if t == nil {
			return nil
		}
		return repeat(t, []int{n})
	}
	m, v := times(mean), times(variance)
	inOrder := contiguous(x)
	defer forgetMade(x, inOrder)
	out, _, _ := batchNorm(must(inOrder.View(shape...)), times(weight), times(bias), m, v, useInput, momentum, eps)
	if useInput {
		backTo := func(dst, src *tensor.Tensor) {
			if dst != nil {
				averaged := tensorMean(must(src.View(n, channels)), 0)
				succeed(tensor.Copy(dst, averaged))
				dst.Bump()
			}
		}
		backTo(mean, m)
		backTo(variance, v)
	}
	return shownAs(out, x.Shape()...)
}

func tensorMean(t *tensor.Tensor, dim int) *tensor.Tensor {
	return mean(t, []int{dim}, false, t.DType())
}

var normFamily = []definition{
	giving("_weight_norm", func(c call) *tensor.Tensor {
		v, g := c.tensor(0), c.tensor(1)
		return mul.on(v, div.on(g, normExcept(v, 2, c.int(2))))
	}),
	giving("norm_except_dim", func(c call) *tensor.Tensor { return normExcept(c.tensor(0), float64(c.int(1)), c.int(2)) }),
	giving("batch_norm", func(c call) *tensor.Tensor {
		out, _, _ := batchNorm(c.tensor(0), c.optionalTensor(1), c.optionalTensor(2), c.optionalTensor(3), c.optionalTensor(4), c.bool(5), c.float(6), c.float(7))
		return out
	}).with(ops.Def{Decomp: composing(composeBatchNorm), Saving: "native_batch_norm", Tags: ops.Grouped | ops.InGroups | ops.AnySizes}).checked(func(c call) { checkBatchNorm(c, c.tensor(0).Dim() > 1) }),
	define("native_batch_norm", func(c call) {
		out, mean, invStd := batchNorm(c.tensor(0), c.optionalTensor(1), c.optionalTensor(2), c.optionalTensor(3), c.optionalTensor(4), c.bool(5), c.float(6), c.float(7))
		c.give(out, mean, invStd)
	}).with(ops.Def{Reads: ops.ReadsOperands.And(3).And(4).AndResult(1).AndResult(2), Grad: nativeBatchNormGrad, WithoutGrad: []int{1, 2}, Tags: ops.Grouped}).checked(func(c call) { checkBatchNorm(c, c.tensor(0).Dim() > 1) }),
	giving("layer_norm", func(c call) *tensor.Tensor {
		out, _, _ := layerNorm(c.tensor(0), c.ints(1), c.optionalTensor(2), c.optionalTensor(3), c.float(4))
		return out
	}).with(ops.Def{Decomp: firstOf("native_layer_norm"), Saving: "native_layer_norm", Tags: ops.Grouped | ops.AnySizes}).checked(func(c call) {
		checkLayerNorm(c.tensor(0), c.ints(1), c.optionalTensor(2), c.optionalTensor(3))
	}),
	decomposed("rms_norm", composing(composeRmsNorm)).
		ofSchema("aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor").
		with(ops.Def{Decomp: composing(composeRmsNorm), Sample: "(x, [3])"}),
	define("native_layer_norm", func(c call) {
		out, mean, invStd := layerNorm(c.tensor(0), c.ints(1), c.optionalTensor(2), c.optionalTensor(3), c.float(4))
		c.give(out, mean, invStd)
	}).with(ops.Def{Reads: ops.ReadsSelf.And(2).AndResult(1).AndResult(2), Grad: nativeLayerNormGrad, WithoutGrad: []int{1, 2}, Tags: ops.Symbolic}),
	giving("group_norm", func(c call) *tensor.Tensor {
		return groupNorm(c.tensor(0), c.int(1), c.optionalTensor(2), c.optionalTensor(3), c.float(4))
	}).with(ops.Def{Decomp: composing(composeGroupNorm), Tags: ops.AnySizes}).checked(checkGroupNorm),
	giving("instance_norm", instanceNorm).with(ops.Def{Decomp: composing(composeInstanceNorm)}).checked(func(c call) {
		check(c.tensor(0).Dim() >= 2, "instance_norm expects an input of samples and channels, but got %s", shapeText(c.tensor(0).Shape()))
		checkParameterTypes(c.tensor(0), c.optionalTensor(1), c.optionalTensor(2), c.optionalTensor(3), c.optionalTensor(4))
	}),
	giving("renorm", func(c call) *tensor.Tensor {
		x, p, dim, limit := c.tensor(0), c.scalar(1).Float64(), wrapDim(c.int(2), c.tensor(0)), c.scalar(3).Float64()
		check(x.Dim() > 1, "renorm: input needs at least 2 dimensions, got %d dimensions", x.Dim())
		var dims []int
		for d := range x.Dim() {
			if d != dim {
				dims = append(dims, d)
			}
		}
		norms := vectorNorm(x, p, dims, true, x.DType())
		factor := div.run(nil, []operand{ofTensor(must(tensor.Full(nil, tensor.Float(limit), x.DType()))), ofTensor(addNumber(norms, 1e-7))})
		large := gt.run(nil, []operand{ofTensor(norms), ofScalar(tensor.Float(limit))})
		return mul.on(x, choose(large, ofTensor(factor), ofScalar(tensor.Float(1))))
	}),
	define("_batch_norm_impl_index", func(c call) {
		out, mean, invStd := batchNorm(c.tensor(0), c.optionalTensor(1), c.optionalTensor(2), c.optionalTensor(3), c.optionalTensor(4), c.bool(5), c.float(6), c.float(7))
		c.give(out, mean, invStd, empty([]int{0}, tensor.Uint8))
		c.out[4] = value.Int(0)
	}),
	define("native_group_norm", func(c call) {
		x, groups := c.tensor(0), c.int(6)
		checkGroups(x, c.optionalTensor(1), c.optionalTensor(2), c.int(3), c.int(4), c.int(5), groups)
		checkGroupNorm(call{args: []value.Value{c.args[0], c.args[6], c.args[1], c.args[2]}})
		check(x.Size(0) == c.int(3) && x.Size(1) == c.int(4), "Expected X.numel() == N * C * HxW to be true, but got false.")
		out := groupNorm(x, groups, c.optionalTensor(1), c.optionalTensor(2), c.float(7))
		flat := must(contiguous(x).View(x.Size(0), groups, -1))
		spread, center := moments(flat, []int{2}, 0, false, false)
		c.give(out, center, inverseDeviation(spread, c.float(7)))
	}).with(ops.Def{WithoutGrad: []int{1, 2}, Grad: concrete(func(c gradient) {
		x, mean, rstd := c.in(0), c.out(1), c.out(2)
		if c.run.Records() {
			grouped := []int{c.int(3), c.int(6), -1}
			mean, rstd = c.statistics(c.do("reshape", x, grouped), []int{2}, c.float(7))
			mean, rstd = c.do("squeeze.dim", mean, 2), c.do("squeeze.dim", rstd, 2)
		}
		giveMasked(c.Gradient, []int{0, 1, 2}, "native_group_norm_backward", c.g(), x, mean, rstd, c.in(1), c.int(3), c.int(4), c.int(5), c.int(6))
	})}),
}

// normExcept gives the norms over all dimensions but one.
func normExcept(v *tensor.Tensor, p float64, dim int) *tensor.Tensor {
	if dim == -1 {
		return vectorNorm(v, p, nil, false, v.DType())
	}
	var dims []int
	for d := range v.Dim() {
		if d != dim {
			dims = append(dims, d)
		}
	}
	return vectorNorm(v, p, dims, true, v.DType())
}

package nn

import (
	"math"
	"slices"
	"strings"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/indexing"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// How the losses of elements become one.
const (
	reduceNone = 0
	reduceMean = 1
	reduceSum  = 2
)

// reduction reads how a loss is reduced; a number that means nothing reduces nothing.
func reduction(c define.Call, i int) int {
	if how := c.Int(i); how == reduceMean || how == reduceSum {
		return how
	}
	return reduceNone
}

// reduced adds up or averages losses that nobody else has.
func reduced(t *tensor.Tensor, how int) *tensor.Tensor {
	switch how {
	case reduceMean:
		defer t.Release()
		return reduce.Mean(t, nil, false, t.DType())
	case reduceSum:
		defer t.Release()
		return reduce.Sum(t, nil, false, t.DType())
	}
	return t
}

// lossOf applies a loss to elements and reduces it.
func lossOf(p *elementwise.Operator, how int, ts []*tensor.Tensor, extras ...tensor.Scalar) *tensor.Tensor {
	if how != reduceNone {
		if total, ok := p.Total(ts, extras...); ok {
			if how == reduceMean {
				return reduce.DivideBy(total, tensor.Int(int64(ts[0].Numel())))
			}
			return total
		}
	}
	operands := make([]elementwise.Operand, len(ts))
	for i, t := range ts {
		operands[i] = elementwise.OfTensor(t)
	}
	return reduced(p.Run(nil, operands, extras...), how)
}

var (
	squareError = elementwise.New("mse", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		d := b.Sub(x[0], x[1])
		return b.Mul(d, d)
	})
	squareErrorGradient = elementwise.New("mse_loss_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Mul(b.Mul(b.Mul(x[3], b.Number(x[1], 2)), b.Sub(x[1], x[2])), x[0])
	})
	absoluteError = elementwise.New("l1", ops.RealResult, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Unary(kernel.Abs, b.Sub(x[0], x[1]))
	})
	smoothError = elementwise.New("smooth_l1_loss", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		d := b.Unary(kernel.Abs, b.Sub(x[0], x[1]))
		half := b.Number(d, 0.5)
		return b.Select(b.Binary(kernel.Lt, d, x[2]), b.Div(b.Mul(half, b.Mul(d, d)), x[2]), b.Sub(d, b.Mul(half, x[2])))
	})
	huberError = elementwise.New("huber_loss", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		d := b.Unary(kernel.Abs, b.Sub(x[0], x[1]))
		half := b.Number(d, 0.5)
		return b.Select(b.Binary(kernel.Le, d, x[2]), b.Mul(half, b.Mul(d, d)), b.Mul(x[2], b.Sub(d, b.Mul(half, x[2]))))
	})
	// The gradients of both are those of lines beyond the limit; the factor is last.
	smoothErrorGradient = elementwise.New("smooth_l1_loss_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		d := b.Sub(x[1], x[2])
		return limitedSlope(b, d, x[3], b.Mul(x[4], x[0]), b.Div(b.Mul(b.Mul(x[4], d), x[0]), x[3]))
	})
	huberErrorGradient = elementwise.New("huber_loss_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		d := b.Sub(x[1], x[2])
		return limitedSlope(b, d, x[3], b.Mul(b.Mul(x[4], x[0]), x[3]), b.Mul(b.Mul(x[4], d), x[0]))
	})
	unitEntropyGradient = elementwise.New("binary_cross_entropy_backward", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		spread := b.Binary(kernel.Max, b.Mul(b.Sub(b.Number(x[1], 1), x[1]), x[1]), b.Number(x[1], 1e-12))
		return b.Mul(b.Div(b.Mul(x[0], b.Sub(x[1], x[2])), spread), x[3])
	})
	crossEntropyOfUnit = elementwise.New("binary_cross_entropy", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		one, floor := b.Number(x[0], 1), b.Number(x[0], -100)
		yes := b.Binary(kernel.Max, b.Unary(kernel.Log, x[0]), floor)
		no := b.Binary(kernel.Max, b.Unary(kernel.Log1p, b.Neg(x[0])), floor)
		return b.Sub(b.Mul(b.Sub(x[1], one), no), b.Mul(x[1], yes))
	})
	crossEntropyOfLogit = elementwise.New("binary_cross_entropy_with_logits", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		zero, one := b.Number(x[0], 0), b.Number(x[0], 1)
		low := b.Binary(kernel.Max, b.Neg(x[0]), zero)
		log := b.Unary(kernel.Log, b.Add(b.Exp(b.Neg(low)), b.Exp(b.Sub(b.Neg(x[0]), low))))
		return b.Add(b.Mul(b.Sub(one, x[1]), x[0]), b.Add(log, low))
	})
	weightedLogit = elementwise.New("binary_cross_entropy_with_logits", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		zero, one := b.Number(x[0], 0), b.Number(x[0], 1)
		low := b.Binary(kernel.Max, b.Neg(x[0]), zero)
		log := b.Unary(kernel.Log, b.Add(b.Exp(b.Neg(low)), b.Exp(b.Sub(b.Neg(x[0]), low))))
		weight := b.Add(b.Mul(b.Sub(x[2], one), x[1]), one)
		return b.Add(b.Mul(b.Sub(one, x[1]), x[0]), b.Mul(weight, b.Add(log, low)))
	})
	divergence = elementwise.New("kl_div", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		entropy := elementwise.XLog(b, []elementwise.Element{x[1], x[1]}, kernel.Log)
		return b.Sub(entropy, b.Mul(x[1], x[0]))
	})
	divergenceOfLogs = elementwise.New("kl_div", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Mul(b.Exp(x[1]), b.Sub(x[1], x[0]))
	})
	softMargin = elementwise.New("soft_margin_loss", ops.SameType, func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
		return b.Unary(kernel.Log1p, b.Exp(b.Mul(b.Neg(x[1]), x[0])))
	})
)

// outsideUnit tells whether an element is less than zero or greater than one.
var outsideUnit = &reduce.Reducer{Op: kernel.ReduceMax, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Binary(kernel.Or, b.Binary(kernel.Lt, x[0], b.Number(x[0], 0)), b.Binary(kernel.Gt, x[0], b.Number(x[0], 1)))
}}

func sameSize(a, b *tensor.Tensor) {
	if !tensor.SameShape(a.Shape(), b.Shape()) {
		source.Raise(source.ValueError, "Using a target size (%s) that is different to the input size (%s) is deprecated. Please ensure they have the same size.", torchSize(b), torchSize(a))
	}
}

func torchSize(t *tensor.Tensor) string { return "torch.Size(" + tensor.FormatShape(t.Shape()) + ")" }

// nllLoss picks the negative log probability of each target, and gives the total weight. The probabilities
// are given by their logarithms or, where logits, by numbers that log_softmax makes these of.
func nllLoss(x, target, weight *tensor.Tensor, how, ignore int, logits bool) (loss, total *tensor.Tensor) {
	source.Check(x.Dim() > 0 && x.Dim() <= 2, "input tensor should be 1D or 2D")
	source.Check(target.Dim() <= 1, "0D or 1D target tensor expected, multi-target not supported")
	source.Check(x.Dim() == 1 && target.Dim() == 0 || x.Dim() == 2 && target.Dim() <= 1 && x.Size(0) == target.Numel(),
		"size mismatch (got input: %s, target: %s)", define.ShapeText(x.Shape()), define.ShapeText(target.Shape()))
	classes := x.Size(x.Dim() - 1)
	rows := source.Must(x.Reshape(-1, classes, 1))
	loss, total = nllPixels(rows, source.Must(target.Reshape(-1, 1)), weight, how, ignore, logits)
	if how == reduceNone {
		loss = source.Must(loss.Reshape(target.Shape()...))
	}
	return loss, total
}

// nllPixels does it for inputs (batch, classes, places) and targets (batch, places).
func nllPixels(x, target, weight *tensor.Tensor, how, ignore int, logits bool) (loss, total *tensor.Tensor) {
	source.Check(target.DType() == tensor.Int64 || target.DType() == tensor.Uint8, "expected scalar type Long but found %s", target.DType().CppName())
	batch, classes, places := x.Size(0), x.Size(1), x.Size(2)
	source.Check(weight == nil || weight.Dim() == 1 && weight.Numel() == classes, "weight tensor should be defined either for all %d classes or no classes but got weight tensor of shape: %s", classes, define.OptionalShape(weight))
	elementwise.NoIntegers("nll_loss_out_frame")(x.DType())
	var made define.Scratch
	defer made.Release()
	whole := made.Copied(elementwise.To(target, tensor.Int64), target)
	labels := tensor.Data[int64](made.Copied(elementwise.Contiguous(whole), whole))
	var watch parallel.Watch
	for _, label := range labels {
		watch.Did(1)
		if int(label) != ignore && (label < 0 || int(label) >= classes) {
			source.Raise(source.IndexError, "Target %d is out of bounds.", label)
		}
	}
	out := define.Empty([]int{batch, places}, tensor.Float64)
	losses := tensor.Data[float64](out)
	switch {
	case x.DType() == tensor.Float32 && !logits:
		pickLabels[float32](losses, x, labels, ignore)
	case x.DType() == tensor.Float64 && !logits:
		pickLabels[float64](losses, x, labels, ignore)
	default:
		source.Throw(tensor.Copy(out, made.Of(labelled(x, labels, ignore, logits))))
	}
	var weights []float64
	if weight != nil {
		wide := made.Copied(elementwise.To(weight, tensor.Float64), weight)
		weights = tensor.Data[float64](made.Copied(elementwise.Contiguous(wide), wide))
	}
	s, w := 0.0, 0.0
	for i, label := range labels {
		watch.Did(1)
		if int(label) == ignore {
			losses[i] = 0
			continue
		}
		factor := 1.0
		if weights != nil {
			factor = weights[label]
		}
		losses[i] *= -factor
		s += losses[i]
		w += factor
	}
	total = tensor.FromScalar(tensor.Float(w), x.DType())
	switch how {
	case reduceMean:
		made.Of(out)
		return tensor.FromScalar(tensor.Float(s/w), x.DType()), total
	case reduceSum:
		made.Of(out)
		return tensor.FromScalar(tensor.Float(s), x.DType()), total
	}
	loss = elementwise.To(out, x.DType())
	made.Copied(out, loss)
	return loss, define.Zeros(nil, x.DType())
}

// labelPlace returns the offset, in elements, of class label at place i of all, in inputs (batch, classes, places).
func labelPlace(x *tensor.Tensor, i int, label int64) int {
	places := x.Size(2)
	return i/places*x.Strides()[0] + int(label)*x.Strides()[1] + i%places*x.Strides()[2]
}

// pickLabels takes from x what it has of each label, but of those that are ignored.
func pickLabels[T float32 | float64](picked []float64, x *tensor.Tensor, labels []int64, ignore int) {
	data, size := x.DataPtr(), int(unsafe.Sizeof(*new(T)))
	var watch parallel.Watch
	for i, label := range labels {
		watch.Did(1)
		if int(label) != ignore {
			picked[i] = float64(*(*T)(unsafe.Add(data, labelPlace(x, i, label)*size)))
		}
	}
}

// labelled is what x has of each label, or of the logarithm of its distribution where it has logits.
func labelled(x *tensor.Tensor, labels []int64, ignore int, logits bool) *tensor.Tensor {
	offsets := make([]int, len(labels))
	var watch parallel.Watch
	for i, label := range labels {
		watch.Did(1)
		if int(label) != ignore {
			offsets[i] = labelPlace(x, i, label)
		}
	}
	picked := define.Zeros([]int{x.Size(0), x.Size(2)}, x.DType())
	if x.Numel() > 0 {
		indexing.MoveFrom(picked, x, offsets, indexing.OneOffset)
	}
	if !logits {
		return picked
	}
	defer picked.Release()
	var made define.Scratch
	defer made.Release()
	wide := made.Copied(elementwise.To(picked, kernel.ComputeType(x.DType())), picked)
	logs := made.Of(elementwise.Sub.On(wide, made.Of(reduce.LogTotals(x))))
	out := elementwise.To(logs, x.DType())
	if out == logs {
		return source.Must(out.Clone(tensor.PreserveFormat))
	}
	return out
}

// lossOfLabels is the reduced loss of rows of logits against labels, nil unless they lie side by side in the types that this mostly
// has.
func lossOfLabels(x, target, weight *tensor.Tensor, how, ignore int) *tensor.Tensor {
	if x.Dim() != 2 || target.Dim() != 1 || weight != nil || target.DType() != tensor.Int64 || x.Numel() == 0 || !x.IsContiguous() || !target.IsContiguous() {
		return nil
	}
	var s float64
	var count int
	labels := tensor.Data[int64](target)
	switch x.DType() {
	case tensor.Float32:
		s, count = sumOfLosses[float32](x, labels, ignore)
	case tensor.Float64:
		s, count = sumOfLosses[float64](x, labels, ignore)
	default:
		return nil
	}
	if how == reduceMean {
		s /= float64(count)
	}
	return tensor.FromScalar(tensor.Float(s), x.DType())
}

// sumOfLosses adds up the losses of rows of logits, and tells how many were not ignored.
func sumOfLosses[T float32 | float64](x *tensor.Tensor, labels []int64, ignore int) (s float64, count int) {
	classes, all := x.Size(1), tensor.Data[T](x)
	for _, label := range labels {
		if int(label) != ignore && (label < 0 || int(label) >= classes) {
			source.Raise(source.IndexError, "Target %d is out of bounds.", label)
		}
	}
	totals := define.Empty([]int{len(labels)}, x.DType())
	reduce.FillLogTotals[T](totals, x)
	for i, total := range tensor.Data[T](totals) {
		if label := int(labels[i]); label != ignore {
			s -= float64(all[i*classes+label] - total)
			count++
		}
	}
	totals.Release()
	return s, count
}

// nllLossNd takes inputs with any number of places after the classes.
func nllLossNd(x, target, weight *tensor.Tensor, how, ignore int, logits bool) *tensor.Tensor {
	checkTargets(x, target)
	if x.Dim() <= 2 {
		if logits && how != reduceNone {
			if loss := lossOfLabels(x, target, weight, how, ignore); loss != nil {
				return loss
			}
		}
		loss, _ := nllLoss(x, target, weight, how, ignore, logits)
		return loss
	}
	loss, _ := nllImages(x, target, weight, how, ignore, logits)
	return loss
}

// checkTargets fails where inputs and targets are not of one batch.
func checkTargets(x, target *tensor.Tensor) {
	if x.Dim() == 0 {
		source.Raise(source.ValueError, "Expected 1 or more dimensions (got 0)")
	}
	if x.Dim() == 1 || x.Dim() == 2 && target.Dim() != 1 {
		return
	}
	targets := 0
	if target.Dim() > 0 {
		targets = target.Size(0)
	}
	if x.Size(0) != targets || target.Dim() == 0 {
		source.Raise(source.ValueError, "Expected input batch_size (%d) to match target batch_size (%d).", x.Size(0), targets)
	}
}

// nllImages is nllLoss with more dimensions behind that of the classes.
func nllImages(x, target, weight *tensor.Tensor, how, ignore int, logits bool) (loss, total *tensor.Tensor) {
	source.Check(x.Dim() > 2, "nll_loss2d expects an input of at least 3 dimensions, but got %s", define.ShapeText(x.Shape()))
	checkTargets(x, target)
	batch, classes := x.Size(0), x.Size(1)
	want := append([]int{batch}, x.Shape()[2:]...)
	source.Check(tensor.SameShape(target.Shape(), want), "Expected target size %s, got %s", define.ShapeText(want), define.ShapeText(target.Shape()))
	places := define.NumelOf(x.Shape()[2:])
	loss, total = nllPixels(source.Must(x.Reshape(batch, classes, places)), source.Must(target.Reshape(batch, places)), weight, how, ignore, logits)
	if how == reduceNone {
		loss = source.Must(loss.Reshape(want...))
	}
	return loss, total
}

// crossEntropy is the loss of logits against labels or probabilities.
func crossEntropy(x, target, weight *tensor.Tensor, how, ignore int, smoothing float64) *tensor.Tensor {
	classDim := min(1, x.Dim()-1)
	if tensor.SameShape(x.Shape(), target.Shape()) {
		return crossEntropyOfProbabilities(x, target, weight, how, smoothing, classDim)
	}
	reduce.FloatRows("log_softmax", x, classDim)
	if smoothing == 0 {
		return nllLossNd(x, target, weight, how, ignore, true)
	}
	source.Check(smoothing > 0 && smoothing <= 1, "label_smoothing must be between 0.0 and 1.0. Got: %v", smoothing)
	log := reduce.LogSoftmax(x, classDim)
	nll := nllLossNd(log, target, weight, how, ignore, false)
	spread := log
	if weight != nil {
		shape := slices.Repeat([]int{1}, x.Dim())
		shape[classDim] = weight.Numel()
		spread = elementwise.Mul.On(log, source.Must(weight.Reshape(shape...)))
	}
	smooth := elementwise.Neg.On(reduce.Sum(spread, []int{classDim}, false, spread.DType()))
	ignored := elementwise.Eq.Run(nil, []elementwise.Operand{elementwise.OfTensor(target), elementwise.OfScalar(tensor.Int(int64(ignore)))})
	smooth = elementwise.Choose(ignored, elementwise.OfScalar(tensor.Float(0)), elementwise.OfTensor(smooth))
	switch how {
	case reduceMean:
		var n *tensor.Tensor
		if weight != nil {
			safe := elementwise.Choose(ignored, elementwise.OfScalar(tensor.Int(0)), elementwise.OfTensor(target))
			picked := source.Must(indexing.IndexSelect(weight, 0, source.Must(safe.Reshape(-1))).Reshape(target.Shape()...))
			n = reduce.Sum(elementwise.Choose(ignored, elementwise.OfScalar(tensor.Float(0)), elementwise.OfTensor(picked)), nil, false, weight.DType())
		} else {
			n = reduce.Sum(elementwise.Not.On(ignored), nil, false, tensor.Int64)
		}
		smooth = elementwise.Div.On(reduce.Sum(smooth, nil, false, smooth.DType()), n)
	case reduceSum:
		smooth = reduce.Sum(smooth, nil, false, smooth.DType())
	}
	return elementwise.Add.On(elementwise.ScaleBy(nll, 1-smoothing), elementwise.ScaleBy(smooth, smoothing/float64(x.Size(classDim))))
}

// checkCrossEntropy knows targets that are probabilities by their shape.
func checkCrossEntropy(c define.Call) {
	target := c.Tensor(1)
	if !tensor.SameShape(c.Tensor(0).Shape(), target.Shape()) {
		if !target.DType().IsFloating() {
			checkClassWeights(c)
		}
		smoothing := c.Float(5)
		source.Check(smoothing >= 0 && smoothing <= 1, "label_smoothing must be between 0.0 and 1.0. Got: %v", smoothing)
		return
	}
	source.Check(target.DType().IsFloating(), "Expected floating point type for target with class probabilities, got %s", target.DType().CppName())
	source.Check(c.Int(4) < 0, "ignore_index is not supported for floating point target")
	if c.Tensor(0).Dim() == 0 {
		source.Raise(source.IndexError, "Dimension specified as 1 but tensor has no dimensions")
	}
}

func crossEntropyOfProbabilities(x, target, weight *tensor.Tensor, how int, smoothing float64, classDim int) *tensor.Tensor {
	log := reduce.LogSoftmax(x, classDim)
	if smoothing > 0 {
		target = elementwise.AddNumber(elementwise.ScaleBy(target, 1-smoothing), smoothing/float64(x.Size(classDim)))
	}
	p := elementwise.Mul.On(log, target)
	if weight != nil {
		shape := slices.Repeat([]int{1}, x.Dim())
		shape[classDim] = weight.Numel()
		p = elementwise.Mul.On(p, source.Must(weight.Reshape(shape...)))
	}
	p = elementwise.Neg.On(p)
	switch how {
	case reduceMean:
		n := x.Numel() / max(x.Size(classDim), 1)
		return elementwise.ScaleBy(reduce.Sum(p, nil, false, p.DType()), 1/float64(n))
	case reduceSum:
		return reduce.Sum(p, nil, false, p.DType())
	}
	return reduce.Sum(p, []int{classDim}, false, p.DType())
}

// multiMargin compares the score of the target with the others.
func multiMargin(c define.Call) *tensor.Tensor {
	x, target, p, margin, weight, how := c.Tensor(0), c.Tensor(1), c.Scalar(2).Float64(), c.Scalar(3).Float64(), c.OptionalTensor(4), reduction(c, 5)
	var made define.Scratch
	defer made.Release()
	inOrder := made.Copied(elementwise.AsWork(x, tensor.Float64), x)
	filled := made.Copied(elementwise.AtLeast(inOrder, 1), inOrder)
	rows := made.Of(source.Must(filled.View(-1, filled.Size(filled.Dim()-1))))
	n, classes := rows.Size(0), rows.Size(1)
	data := tensor.Data[float64](rows)
	labels := elementwise.IntegersOf(source.Must(target.Reshape(-1)))
	source.Check(weight == nil || weight.Dim() <= 1 && weight.Numel() == classes, "inconsistent weight size, expected %d but got %s", classes, define.OptionalShape(weight))
	if weight != nil {
		weight = source.Must(weight.Reshape(-1))
	}
	out := define.Empty([]int{n}, tensor.Float64)
	for i, l := range labels {
		s := 0.0
		for j := range classes {
			if gap := margin - data[i*classes+l] + data[i*classes+j]; j != l && gap > 0 {
				s += math.Pow(gap, p)
			}
		}
		if weight != nil {
			s *= weight.At(l).Float64()
		}
		tensor.Data[float64](out)[i] = s / float64(classes)
	}
	loss := reduced(out, how)
	if how == reduceNone {
		loss = source.Must(loss.Reshape(target.Shape()...))
	}
	return elementwise.To(loss, x.DType())
}

// checkCTC fails for labels and lengths that ctc_loss would read beyond its arguments for. The lengths are lists or tensors.
func checkCTC(c define.Call) {
	logs, targets, blank := c.Tensor(0), c.Tensor(1), c.Int(4)
	source.Check(logs.Dim() == 2 || logs.Dim() == 3, "ctc_loss: expected log probabilities of 2 or 3 dimensions, but got %s", define.ShapeText(logs.Shape()))
	source.Check(targets.Dim() == 1 || targets.Dim() == 2, "ctc_loss: expected targets of 1 or 2 dimensions, but got %s", define.ShapeText(targets.Shape()))
	steps, batch, classes := logs.Size(0), 1, logs.Size(logs.Dim()-1)
	if logs.Dim() == 3 {
		batch = logs.Size(1)
	}
	source.Check(blank >= 0 && blank < classes, "blank must be in label range")
	inputLengths, targetLengths := lengthsOf(c, 2), lengthsOf(c, 3)
	source.Check(len(inputLengths) == batch, "input_lengths must be of size batch_size")
	source.Check(len(targetLengths) == batch, "target_lengths must be of size batch_size")
	if !define.IsMeta(targets) {
		for _, l := range elementwise.IntegersOf(source.Must(targets.Reshape(-1))) {
			if l < 0 || l >= classes {
				source.Raise(source.RuntimeError, "ctc_loss: targets must lie in [0, %d), but got %d", classes, l)
			}
		}
	}
	whole, total := targets.Size(targets.Dim()-1), 0
	source.Check(targets.Dim() == 1 || targets.Size(0) == batch, "Expected tensor to have size %d at dimension 0, but got size %d for argument #2 'targets' (while checking arguments for ctc_loss_cpu)", batch, targets.Size(0))
	for b, n := range targetLengths {
		source.Check(n >= 0, "Expected target_lengths to have value at least 0, but got value %d (while checking arguments for ctc_loss_cpu)", n)
		source.Check(n <= whole, "Expected tensor to have size at least %d at dimension %d, but got size %d for argument #2 'targets' (while checking arguments for ctc_loss_cpu)", n, targets.Dim()-1, whole)
		total += n
		source.Check(inputLengths[b] >= 0, "ctc_loss: input_lengths must not be negative, but got %d", inputLengths[b])
		source.Check(inputLengths[b] <= steps, "Expected input_lengths to have value at most %d, but got value %d (while checking arguments for ctc_loss_cpu)", steps, inputLengths[b])
	}
	source.Check(targets.Dim() == 2 || total == whole, "Expected tensor to have size %d at dimension 0, but got size %d for argument #2 'targets' (while checking arguments for ctc_loss_cpu)", total, whole)
}

// lengthsOf reads a list of integers, or a tensor of them: zeros, where it has no elements to read.
func lengthsOf(c define.Call, i int) []int {
	if c.Args[i].IsTensor() && define.IsMeta(c.Tensor(i)) {
		return make([]int, c.Tensor(i).Numel())
	}
	if c.Args[i].IsTensor() {
		return elementwise.IntegersOf(source.Must(c.Tensor(i).Reshape(-1)))
	}
	return c.Ints(i)
}

// ctcLoss is the negative log likelihood of label sequences under all alignments.
func ctcLoss(c define.Call) *tensor.Tensor {
	logs, targets, inputLengths, targetLengths := c.Tensor(0), c.Tensor(1), lengthsOf(c, 2), lengthsOf(c, 3)
	blank, how, zeroInfinity := c.Int(4), reduction(c, 5), c.Bool(6)
	batched := logs.Dim() == 3
	if !batched {
		logs = source.Must(logs.Unsqueeze(1))
	}
	batch, classes := logs.Size(1), logs.Size(2)
	data := tensor.Data[float64](elementwise.Contiguous(elementwise.To(logs, tensor.Float64)))
	flat := elementwise.IntegersOf(source.Must(targets.Reshape(-1)))
	out := define.Empty([]int{batch}, tensor.Float64)
	start := 0
	for b := range batch {
		if targets.Dim() == 2 {
			start = b * targets.Size(1)
		}
		labels := flat[start : start+targetLengths[b]]
		start += targetLengths[b]
		loss := -alignments(inputLengths[b], labels, blank, func(t, l int) float64 { return data[(t*batch+b)*classes+l] })
		if zeroInfinity && math.IsInf(loss, 1) {
			loss = 0
		}
		tensor.Data[float64](out)[b] = loss
	}
	switch how {
	case reduceMean:
		for b, n := range targetLengths {
			tensor.Data[float64](out)[b] /= float64(max(n, 1))
		}
		return elementwise.To(reduce.Mean(out, nil, false, tensor.Float64), logs.DType())
	case reduceSum:
		return elementwise.To(reduce.Sum(out, nil, false, tensor.Float64), logs.DType())
	}
	if !batched {
		out = source.Must(out.Select(0, 0))
	}
	return elementwise.To(out, logs.DType())
}

// alignments returns the log probability of labels with blanks between them in steps steps.
func alignments(steps int, labels []int, blank int, log func(t, label int) float64) float64 {
	n := 2*len(labels) + 1
	label := func(s int) int {
		if s%2 == 0 {
			return blank
		}
		return labels[s/2]
	}
	alpha, next := make([]float64, n), make([]float64, n)
	for s := range alpha {
		alpha[s] = math.Inf(-1)
		if s < 2 && steps > 0 {
			alpha[s] = log(0, label(s))
		}
	}
	for t := 1; t < steps; t++ {
		for s := range next {
			v := alpha[s]
			if s > 0 {
				v = logAdd(v, alpha[s-1])
			}
			if s > 1 && s%2 == 1 && label(s) != label(s-2) {
				v = logAdd(v, alpha[s-2])
			}
			next[s] = v + log(t, label(s))
		}
		alpha, next = next, alpha
	}
	if n == 1 {
		return alpha[0]
	}
	return logAdd(alpha[n-1], alpha[n-2])
}

func logAdd(a, b float64) float64 {
	high, low := max(a, b), min(a, b)
	if math.IsInf(high, -1) {
		return high
	}
	return high + math.Log1p(math.Exp(low-high))
}

// pairLoss defines a loss of two tensors and a reduction.
func pairLoss(name string, p *elementwise.Operator) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		return lossOf(p, reduction(c, 2), define.Pair(c.Tensor(0), c.Tensor(1)))
	})
}

// limitedLoss defines one with a threshold after the reduction.
func limitedLoss(name, limit string, p *elementwise.Operator) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		l := c.Float(3)
		if d := tensor.Promote(c.Tensor(0).DType(), c.Tensor(1).DType()); !d.IsFloating() {
			elementwise.NotImplemented(strings.TrimSuffix(name, "_loss")+"_cpu", d)
		}
		if name == "smooth_l1_loss" {
			source.Check(l >= 0, "smooth_l1_loss does not support negative values for beta.")
			if l == 0 {
				return lossOf(absoluteError, reduction(c, 2), define.Pair(c.Tensor(0), c.Tensor(1)))
			}
		} else {
			source.Check(l > 0, "huber_loss does not support non-positive values for %s.", limit)
		}
		return lossOf(p, reduction(c, 2), define.Pair(c.Tensor(0), c.Tensor(1)), tensor.Float(l))
	})
}

// limitedSlope is the slope of a loss of d: beyond the limit, in its sign, or between.
func limitedSlope(b elementwise.Builder, d, limit, beyond, between elementwise.Element) elementwise.Element {
	below := b.Binary(kernel.Le, d, b.Neg(limit))
	return b.Select(below, b.Neg(beyond), b.Select(b.Binary(kernel.Ge, d, limit), beyond, between))
}

// lossGradient is the gradient of a loss of pairs by the first of them: of the gradient, both, and numbers, with the way of reduction in argument how.
func lossGradient(c define.Call, p *elementwise.Operator, how int, numbers ...tensor.Scalar) *tensor.Tensor {
	factor := 1.0
	if reduction(c, how) == reduceMean {
		factor /= float64(c.Tensor(1).Numel())
	}
	operands := []elementwise.Operand{elementwise.OfTensor(c.Tensor(0)), elementwise.OfTensor(c.Tensor(1)), elementwise.OfTensor(c.Tensor(2))}
	return p.Run(nil, operands, append(numbers, tensor.Float(factor))...)
}

// limitedGradient defines the gradient of a loss with a limit.
func limitedGradient(name string, p *elementwise.Operator) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor { return lossGradient(c, p, 3, tensor.Float(c.Float(4))) })
}

// positivePart gives max(0, t).
func positivePart(t *tensor.Tensor) *tensor.Tensor { return elementwise.ClampMin.WithNumber(t, 0) }

// distance is the norm of each row of a-b+eps.
func distance(a, b *tensor.Tensor, p, eps float64, keepdim bool) *tensor.Tensor {
	var made define.Scratch
	defer made.Release()
	d := made.Of(elementwise.AddNumber(made.Of(elementwise.Sub.On(a, b)), eps))
	return reduce.VectorNorm(d, p, []int{-1}, keepdim, d.DType())
}

var LossFamily = []define.Definition{
	pairLoss("mse_loss", squareError).With(ops.Def{Parts: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Reduce(x.Do("pow.Tensor_Scalar", x.Do("sub.Tensor", a[0], a[1]), 2), a[2])
	}), Grad: pairGrad("mse_loss_backward")}),
	define.Giving("mse_loss_backward", func(c define.Call) *tensor.Tensor { return lossGradient(c, squareErrorGradient, 3) }),
	pairLoss("l1_loss", absoluteError).With(ops.Def{Decomp: define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return x.Reduce(x.Do("abs", x.Do("sub.Tensor", a[0], a[1])), a[2])
	}), Tags: ops.AnySizes}),
	limitedLoss("smooth_l1_loss", "beta", smoothError).With(ops.Def{Parts: define.Composing(smoothL1), Grad: pairGrad("smooth_l1_loss_backward")}),
	limitedLoss("huber_loss", "delta", huberError).With(ops.Def{Parts: define.Composing(huber), Grad: pairGrad("huber_loss_backward")}),
	limitedGradient("smooth_l1_loss_backward", smoothErrorGradient),
	limitedGradient("huber_loss_backward", huberErrorGradient),
	pairLoss("soft_margin_loss", softMargin).Checked(func(c define.Call) {
		source.Check(!define.IsIntegral(c.Tensor(0).DType()), "result type Float can't be cast to the desired output type %s", c.Tensor(0).DType().CppName())
	}),
	define.Giving("cross_entropy_loss", func(c define.Call) *tensor.Tensor {
		return crossEntropy(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), reduction(c, 3), c.Int(4), c.Float(5))
	}).With(ops.Def{Decomp: define.Composing(composeCrossEntropy), Tags: ops.AnySizes}).Checked(checkCrossEntropy),
	define.Giving("nll_loss", func(c define.Call) *tensor.Tensor {
		loss, _ := nllLoss(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), reduction(c, 3), c.Int(4), false)
		return loss
	}).With(ops.Def{Decomp: define.FirstOf("nll_loss_forward"), Saving: "nll_loss_forward", Tags: ops.Grouped | ops.AnySizes}).Checked(checkClassWeights),
	define.Operator("nll_loss_forward", func(c define.Call) {
		c.Give(define.Pair(nllLoss(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), reduction(c, 3), c.Int(4), false))...)
	}).With(ops.Def{Reads: ops.ReadsSelf.And(1).And(2).AndResult(1), Grad: nllGradBy("nll_loss_backward"), Tags: ops.Symbolic}).Checked(checkClassWeights),
	define.Operator("nll_loss2d_forward", func(c define.Call) {
		c.Give(define.Pair(nllImages(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), reduction(c, 3), c.Int(4), false))...)
	}).With(ops.Def{Grad: nllGradBy("nll_loss2d_backward")}).Checked(checkClassWeights),
	define.Decomposed("nll_loss_backward", define.Composing(nllBackward)).With(ops.Def{Decomp: define.Composing(nllBackward)}),
	define.Decomposed("nll_loss2d_backward", define.Composing(nllBackward)).With(ops.Def{Decomp: define.Composing(nllBackward)}),
	define.Giving("nll_loss_nd", func(c define.Call) *tensor.Tensor {
		return nllLossNd(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), reduction(c, 3), c.Int(4), false)
	}).With(ops.Def{Decomp: composeNll, Tags: ops.AnySizes}).Checked(checkClassWeights),
	define.Giving("nll_loss2d", func(c define.Call) *tensor.Tensor {
		return nllLossNd(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), reduction(c, 3), c.Int(4), false)
	}).With(ops.Def{Decomp: composeNll}).Checked(checkClassWeights),
	define.Giving("binary_cross_entropy", func(c define.Call) *tensor.Tensor {
		x, target := c.Tensor(0), c.Tensor(1)
		sameSize(x, target)
		outside := outsideUnit.Reduce(x, nil, false, kernel.ComputeType(x.DType()), tensor.Bool)
		source.Check(!outside.At().Bool(), "all elements of input should be between 0 and 1")
		if w := c.OptionalTensor(2); w != nil {
			return reduced(elementwise.Mul.On(crossEntropyOfUnit.On(x, target), elementwise.To(w, x.DType())), reduction(c, 3))
		}
		return lossOf(crossEntropyOfUnit, reduction(c, 3), define.Pair(x, target))
	}).With(ops.Def{Parts: define.Composing(binaryCrossEntropy), Grad: define.Concrete(unitEntropyGrad)}).Checked(func(c define.Call) {
		x, target := c.Tensor(0).DType(), c.Tensor(1).DType()
		source.Check(!define.IsIntegral(x), "\"binary_cross_entropy\" not implemented for '%s'", x.CppName())
		source.Check(x == target, "Found dtype %s but expected %s", target.CppName(), x.CppName())
	}),
	define.Giving("binary_cross_entropy_backward", func(c define.Call) *tensor.Tensor {
		out := lossGradient(c, unitEntropyGradient, 4)
		if w := c.OptionalTensor(3); w != nil {
			return elementwise.Mul.On(out, elementwise.To(w, out.DType()))
		}
		return out
	}),
	define.Giving("binary_cross_entropy_with_logits", func(c define.Call) *tensor.Tensor {
		p, operands := crossEntropyOfLogit, define.Pair(c.Tensor(0), c.Tensor(1))
		if pos := c.OptionalTensor(3); pos != nil {
			p, operands = weightedLogit, append(operands, pos)
		}
		if w := c.OptionalTensor(2); w != nil {
			return reduced(elementwise.Mul.On(p.On(operands...), w), reduction(c, 4))
		}
		return lossOf(p, reduction(c, 4), operands)
	}).With(ops.Def{Grad: logitGrad}),
	define.Giving("kl_div", func(c define.Call) *tensor.Tensor {
		p := divergence
		if c.Bool(3) {
			p = divergenceOfLogs
		}
		return lossOf(p, reduction(c, 2), define.Pair(c.Tensor(0), c.Tensor(1)))
	}).With(ops.Def{Decomp: define.Composing(composeDivergence)}).Checked(func(c define.Call) {
		source.Check(!c.Tensor(0).DType().IsComplex() && !c.Tensor(1).DType().IsComplex(), "kl_div: Complex inputs not supported.")
		source.Check(!define.IsIntegral(c.Tensor(0).DType()) && !define.IsIntegral(c.Tensor(1).DType()), "kl_div: Integral inputs not supported.")
	}),
	define.Giving("hinge_embedding_loss", func(c define.Call) *tensor.Tensor {
		x, y := c.Tensor(0), c.Tensor(1)
		var made define.Scratch
		defer made.Release()
		margin := made.Of(positivePart(made.Of(elementwise.AddNumber(made.Of(elementwise.Neg.On(x)), c.Float(2)))))
		far := made.Of(elementwise.Choose(made.Of(elementwise.Ne.WithNumber(y, 1)), elementwise.OfTensor(margin), elementwise.OfScalar(tensor.Float(0))))
		near := made.Of(elementwise.Choose(made.Of(elementwise.Ne.WithNumber(y, -1)), elementwise.OfTensor(x), elementwise.OfScalar(tensor.Float(0))))
		return reduced(elementwise.Add.On(far, near), reduction(c, 3))
	}).Checked(func(c define.Call) {
		if reduction(c, 3) == reduceMean {
			reduce.CheckMean(c.Tensor(0).DType())
		}
	}).QuantizedInParts(),
	define.Giving("margin_ranking_loss", func(c define.Call) *tensor.Tensor {
		var made define.Scratch
		defer made.Release()
		d := made.Of(elementwise.Mul.On(made.Of(elementwise.Neg.On(c.Tensor(2))), made.Of(elementwise.Sub.On(c.Tensor(0), c.Tensor(1)))))
		return reduced(positivePart(made.Of(elementwise.AddNumber(d, c.Float(3)))), reduction(c, 4))
	}),
	define.Giving("cosine_embedding_loss", func(c define.Call) *tensor.Tensor {
		a, b, y := c.Tensor(0), c.Tensor(1), c.Tensor(2)
		last := []int{-1}
		var made define.Scratch
		defer made.Release()
		total := func(x, y *tensor.Tensor) *tensor.Tensor {
			products := made.Of(elementwise.Mul.On(x, y))
			return made.Of(reduce.Sum(products, last, false, reduce.SumType(products.DType())))
		}
		const eps = 1e-12
		squares := made.Of(elementwise.Mul.On(made.Of(elementwise.AddNumber(total(a, a), eps)), made.Of(elementwise.AddNumber(total(b, b), eps))))
		cosine := made.Of(elementwise.Div.On(total(a, b), made.Of(elementwise.SquareRoot.On(squares))))
		apart := made.Of(elementwise.AddNumber(made.Of(elementwise.Neg.On(cosine)), 1))
		beyond := made.Of(positivePart(made.Of(elementwise.AddNumber(cosine, -c.Float(3)))))
		same := made.Of(elementwise.Choose(made.Of(elementwise.Eq.WithNumber(y, 1)), elementwise.OfTensor(apart), elementwise.OfScalar(tensor.Float(0))))
		other := made.Of(elementwise.Choose(made.Of(elementwise.Eq.WithNumber(y, -1)), elementwise.OfTensor(beyond), elementwise.OfScalar(tensor.Float(0))))
		return reduced(elementwise.Add.On(same, other), reduction(c, 4))
	}).Checked(checkCosineEmbedding).QuantizedInParts(),
	define.Giving("triplet_margin_loss", func(c define.Call) *tensor.Tensor {
		p, eps := c.Float(4), c.Float(5)
		var made define.Scratch
		defer made.Release()
		between := func(i, j int) *tensor.Tensor {
			return made.Of(distance(c.Tensor(i), c.Tensor(j), p, eps, false))
		}
		near, far := between(0, 1), between(0, 2)
		if c.Bool(6) {
			far = made.Of(elementwise.Minimum.On(far, between(1, 2)))
		}
		return reduced(positivePart(made.Of(elementwise.Sub.On(made.Of(elementwise.AddNumber(near, c.Float(3))), far))), reduction(c, 7))
	}),
	define.Giving("multi_margin_loss", multiMargin).Checked(checkMultiMargin),
	define.Giving("poisson_nll_loss", func(c define.Call) *tensor.Tensor {
		x, y := c.Tensor(0), c.Tensor(1)
		var made define.Scratch
		defer made.Release()
		var loss *tensor.Tensor
		if c.Bool(2) {
			loss = elementwise.Sub.On(made.Of(elementwise.Exponential.On(x)), made.Of(elementwise.Mul.On(y, x)))
		} else {
			loss = elementwise.Sub.On(x, made.Of(elementwise.Mul.On(y, made.Of(elementwise.Logarithm.On(made.Of(elementwise.AddNumber(x, c.Float(4))))))))
		}
		if c.Bool(3) {
			small := made.Of(elementwise.ScaleBy(made.Of(elementwise.Logarithm.On(made.Of(elementwise.ScaleBy(y, 2*math.Pi)))), 0.5))
			stirling := made.Of(elementwise.Add.On(made.Of(elementwise.Sub.On(made.Of(elementwise.Mul.On(y, made.Of(elementwise.Logarithm.On(y)))), y)), small))
			loss = elementwise.Add.On(made.Of(loss), made.Of(elementwise.Choose(made.Of(elementwise.Le.WithNumber(y, 1)), elementwise.OfScalar(tensor.Float(0)), elementwise.OfTensor(stirling))))
		}
		return reduced(loss, reduction(c, 5))
	}),
	define.Giving("ctc_loss.IntList", ctcLoss).Checked(checkCTC),
	define.Giving("ctc_loss.Tensor", ctcLoss).Checked(checkCTC),
	define.Giving("multilabel_margin_loss", func(c define.Call) *tensor.Tensor {
		loss, isTarget := multilabelMargin(c.Tensor(0), c.Tensor(1), reduction(c, 2))
		isTarget.Release()
		return loss
	}).Checked(checkMultilabel),
	define.Operator("multilabel_margin_loss_forward", func(c define.Call) {
		c.Give(define.Pair(multilabelMargin(c.Tensor(0), c.Tensor(1), reduction(c, 2)))...)
	}).Checked(checkMultilabel),
	define.Giving("cosine_similarity", func(c define.Call) *tensor.Tensor {
		return linalg.CosineSimilarity(c.Tensor(0), c.Tensor(1), c.Int(2), c.Float(3))
	}).With(ops.Def{Decomp: define.Composing(composeCosine)}),
	define.Giving("pairwise_distance", func(c define.Call) *tensor.Tensor {
		return distance(c.Tensor(0), c.Tensor(1), c.Float(2), c.Float(3), c.Bool(4))
	}),
}

// multilabelMargin compares the scores of all targets of a sample, which end at the first -1, with
// those of all others.
func multilabelMargin(x, target *tensor.Tensor, how int) (loss, isTarget *tensor.Tensor) {
	single := x.Dim() <= 1 && target.Dim() <= 1 && x.Numel() == 1 && target.Numel() == 1
	source.Check(single || x.Dim() >= 1 && x.Dim() <= 2 && tensor.SameShape(x.Shape(), target.Shape()), "inconsistent target size: %s for input of size: %s", define.ShapeText(target.Shape()), define.ShapeText(x.Shape()))
	classes := 1
	if !single {
		classes = x.Size(x.Dim() - 1)
	}
	inOrder := elementwise.AsWork(x, tensor.Float64)
	defer define.ForgetMade(x, inOrder)
	data := tensor.Data[float64](inOrder)
	labels, forget := labelsOf(target)
	defer forget()
	rows := 0
	if classes > 0 {
		rows = len(data) / classes
	}
	marked, found := define.Zeros(target.Shape(), tensor.Float64), define.Zeros([]int{rows}, tensor.Float64)
	marks, losses := tensor.Data[float64](marked), tensor.Data[float64](found)
	var own []int64 // the targets of a sample
	var watch parallel.Watch
	for r := range rows {
		watch.Did(classes)
		row, mark := data[r*classes:(r+1)*classes], marks[r*classes:(r+1)*classes]
		own = own[:0]
		for _, l := range labels[r*classes : (r+1)*classes] {
			if l < 0 {
				break
			}
			mark[l] = 1
			own = append(own, l)
		}
		for _, l := range own {
			watch.Did(classes)
			for j, v := range row {
				if mark[j] == 0 {
					losses[r] += max(0, 1-row[l]+v)
				}
			}
		}
		losses[r] /= float64(classes)
	}
	loss = elementwise.OwnTo(reduced(found, how), x.DType())
	if how == reduceNone {
		loss = define.ShownAs(loss, x.Shape()[:max(x.Dim()-1, 0)]...)
	}
	return loss, elementwise.OwnTo(marked, x.DType())
}

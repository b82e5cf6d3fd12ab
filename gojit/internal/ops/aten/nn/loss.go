package aten

import (
	"math"
	"slices"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
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
func (c call) reduction(i int) int {
	if how := c.int(i); how == reduceMean || how == reduceSum {
		return how
	}
	return reduceNone
}

// reduced adds up or averages losses that nobody else has.
func reduced(t *tensor.Tensor, how int) *tensor.Tensor {
	switch how {
	case reduceMean:
		defer t.Release()
		return mean(t, nil, false, t.DType())
	case reduceSum:
		defer t.Release()
		return sum(t, nil, false, t.DType())
	}
	return t
}

// lossOf applies a loss to elements and reduces it.
func lossOf(p *pointwise, how int, ts []*tensor.Tensor, extras ...tensor.Scalar) *tensor.Tensor {
	if how != reduceNone {
		if total, ok := p.total(ts, extras...); ok {
			if how == reduceMean {
				return divideBy(total, tensor.Int(int64(ts[0].Numel())))
			}
			return total
		}
	}
	operands := make([]operand, len(ts))
	for i, t := range ts {
		operands[i] = ofTensor(t)
	}
	return reduced(p.run(nil, operands, extras...), how)
}

var (
	squareError = elementwise("mse", ops.SameType, func(b builder, x ...element) element {
		d := b.Sub(x[0], x[1])
		return b.Mul(d, d)
	})
	squareErrorGradient = elementwise("mse_loss_backward", ops.SameType, func(b builder, x ...element) element {
		return b.Mul(b.Mul(x[3], b.Sub(x[1], x[2])), x[0])
	})
	absoluteError = elementwise("l1", ops.RealResult, func(b builder, x ...element) element {
		return b.Unary(kernel.Abs, b.Sub(x[0], x[1]))
	})
	smoothError = elementwise("smooth_l1_loss", ops.SameType, func(b builder, x ...element) element {
		d := b.Unary(kernel.Abs, b.Sub(x[0], x[1]))
		half := b.Number(d, 0.5)
		return b.Select(b.Binary(kernel.Lt, d, x[2]), b.Div(b.Mul(half, b.Mul(d, d)), x[2]), b.Sub(d, b.Mul(half, x[2])))
	})
	huberError = elementwise("huber_loss", ops.SameType, func(b builder, x ...element) element {
		d := b.Unary(kernel.Abs, b.Sub(x[0], x[1]))
		half := b.Number(d, 0.5)
		return b.Select(b.Binary(kernel.Le, d, x[2]), b.Mul(half, b.Mul(d, d)), b.Mul(x[2], b.Sub(d, b.Mul(half, x[2]))))
	})
	crossEntropyOfUnit = elementwise("binary_cross_entropy", ops.SameType, func(b builder, x ...element) element {
		one, floor := b.Number(x[0], 1), b.Number(x[0], -100)
		yes := b.Binary(kernel.Max, b.Unary(kernel.Log, x[0]), floor)
		no := b.Binary(kernel.Max, b.Unary(kernel.Log1p, b.Neg(x[0])), floor)
		return b.Sub(b.Mul(b.Sub(x[1], one), no), b.Mul(x[1], yes))
	})
	crossEntropyOfLogit = elementwise("binary_cross_entropy_with_logits", ops.SameType, func(b builder, x ...element) element {
		zero, one := b.Number(x[0], 0), b.Number(x[0], 1)
		low := b.Binary(kernel.Max, b.Neg(x[0]), zero)
		log := b.Unary(kernel.Log, b.Add(b.Exp(b.Neg(low)), b.Exp(b.Sub(b.Neg(x[0]), low))))
		return b.Add(b.Mul(b.Sub(one, x[1]), x[0]), b.Add(log, low))
	})
	weightedLogit = elementwise("binary_cross_entropy_with_logits", ops.SameType, func(b builder, x ...element) element {
		zero, one := b.Number(x[0], 0), b.Number(x[0], 1)
		low := b.Binary(kernel.Max, b.Neg(x[0]), zero)
		log := b.Unary(kernel.Log, b.Add(b.Exp(b.Neg(low)), b.Exp(b.Sub(b.Neg(x[0]), low))))
		weight := b.Add(b.Mul(b.Sub(x[2], one), x[1]), one)
		return b.Add(b.Mul(b.Sub(one, x[1]), x[0]), b.Mul(weight, b.Add(log, low)))
	})
	divergence = elementwise("kl_div", ops.SameType, func(b builder, x ...element) element {
		zero := b.Number(x[0], 0)
		return b.Select(b.Binary(kernel.Gt, x[1], zero), b.Mul(x[1], b.Sub(b.Unary(kernel.Log, x[1]), x[0])), zero)
	})
	divergenceOfLogs = elementwise("kl_div", ops.SameType, func(b builder, x ...element) element {
		return b.Mul(b.Exp(x[1]), b.Sub(x[1], x[0]))
	})
	softMargin = elementwise("soft_margin_loss", ops.SameType, func(b builder, x ...element) element {
		return b.Unary(kernel.Log1p, b.Exp(b.Mul(b.Neg(x[1]), x[0])))
	})
)

// outsideUnit tells whether an element is less than zero or greater than one.
var outsideUnit = &reducer{op: kernel.ReduceMax, expr: func(b builder, x ...element) element {
	return b.Binary(kernel.Or, b.Binary(kernel.Lt, x[0], b.Number(x[0], 0)), b.Binary(kernel.Gt, x[0], b.Number(x[0], 1)))
}}

func sameSize(a, b *tensor.Tensor) {
	if !tensor.SameShape(a.Shape(), b.Shape()) {
		raise(source.ValueError, "Using a target size (%s) that is different to the input size (%s) is deprecated. Please ensure they have the same size.", torchSize(b), torchSize(a))
	}
}

func torchSize(t *tensor.Tensor) string { return "torch.Size(" + tensor.FormatShape(t.Shape()) + ")" }

// nllLoss picks the negative log probability of each target, and gives the total weight. The probabilities
// are given by their logarithms or, where logits, by numbers that log_softmax makes these of.
func nllLoss(x, target, weight *tensor.Tensor, how, ignore int, logits bool) (loss, total *tensor.Tensor) {
	check(x.Dim() > 0 && x.Dim() <= 2, "input tensor should be 1D or 2D")
	check(target.Dim() <= 1, "0D or 1D target tensor expected, multi-target not supported")
	check(x.Dim() == 1 && target.Dim() == 0 || x.Dim() == 2 && target.Dim() <= 1 && x.Size(0) == target.Numel(),
		"size mismatch (got input: %s, target: %s)", shapeText(x.Shape()), shapeText(target.Shape()))
	classes := x.Size(x.Dim() - 1)
	rows := must(x.Reshape(-1, classes, 1))
	loss, total = nllPixels(rows, must(target.Reshape(-1, 1)), weight, how, ignore, logits)
	if how == reduceNone {
		loss = must(loss.Reshape(target.Shape()...))
	}
	return loss, total
}

// nllPixels does it for inputs (batch, classes, places) and targets (batch, places).
func nllPixels(x, target, weight *tensor.Tensor, how, ignore int, logits bool) (loss, total *tensor.Tensor) {
	check(target.DType() == tensor.Int64 || target.DType() == tensor.Uint8, "expected scalar type Long but found %s", target.DType().CppName())
	batch, classes, places := x.Size(0), x.Size(1), x.Size(2)
	check(weight == nil || weight.Dim() == 1 && weight.Numel() == classes, "weight tensor should be defined either for all %d classes or no classes but got weight tensor of shape: %s", classes, optionalShape(weight))
	noIntegers("nll_loss_out_frame")(x.DType())
	var made scratch
	defer made.release()
	whole := made.copied(to(target, tensor.Int64), target)
	labels := tensor.Data[int64](made.copied(contiguous(whole), whole))
	var watch tensor.Watch
	for _, label := range labels {
		watch.Did(1)
		if int(label) != ignore && (label < 0 || int(label) >= classes) {
			raise(source.IndexError, "Target %d is out of bounds.", label)
		}
	}
	out := empty([]int{batch, places}, tensor.Float64)
	losses := tensor.Data[float64](out)
	switch {
	case x.DType() == tensor.Float32 && !logits:
		pickLabels[float32](losses, x, labels, ignore)
	case x.DType() == tensor.Float64 && !logits:
		pickLabels[float64](losses, x, labels, ignore)
	default:
		succeed(tensor.Copy(out, made.of(labelled(x, labels, ignore, logits))))
	}
	var weights []float64
	if weight != nil {
		wide := made.copied(to(weight, tensor.Float64), weight)
		weights = tensor.Data[float64](made.copied(contiguous(wide), wide))
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
		made.of(out)
		return tensor.FromScalar(tensor.Float(s/w), x.DType()), total
	case reduceSum:
		made.of(out)
		return tensor.FromScalar(tensor.Float(s), x.DType()), total
	}
	loss = to(out, x.DType())
	made.copied(out, loss)
	return loss, zeros(nil, x.DType())
}

// labelPlace returns the offset, in elements, of class label at place i of all, in inputs (batch, classes, places).
func labelPlace(x *tensor.Tensor, i int, label int64) int {
	places := x.Size(2)
	return i/places*x.Strides()[0] + int(label)*x.Strides()[1] + i%places*x.Strides()[2]
}

// pickLabels takes from x what it has of each label, but of those that are ignored.
func pickLabels[T float32 | float64](picked []float64, x *tensor.Tensor, labels []int64, ignore int) {
	data, size := x.DataPtr(), int(unsafe.Sizeof(*new(T)))
	var watch tensor.Watch
	for i, label := range labels {
		watch.Did(1)
		if int(label) != ignore {
			picked[i] = float64(*(*T)(unsafe.Add(data, labelPlace(x, i, label)*size)))
		}
	}
}

// labelled is what x has of each label, or of its logarithm of softmax where it has logits.
func labelled(x *tensor.Tensor, labels []int64, ignore int, logits bool) *tensor.Tensor {
	offsets := make([]int, len(labels))
	var watch tensor.Watch
	for i, label := range labels {
		watch.Did(1)
		if int(label) != ignore {
			offsets[i] = labelPlace(x, i, label)
		}
	}
	picked := zeros([]int{x.Size(0), x.Size(2)}, x.DType())
	if x.Numel() > 0 {
		moveFrom(picked, x, offsets, oneOffset)
	}
	if !logits {
		return picked
	}
	defer picked.Release()
	var made scratch
	defer made.release()
	wide := made.copied(to(picked, kernel.ComputeType(x.DType())), picked)
	logs := made.of(sub.on(wide, made.of(logTotals(x))))
	out := to(logs, x.DType())
	if out == logs {
		return must(out.Clone(tensor.PreserveFormat))
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
			raise(source.IndexError, "Target %d is out of bounds.", label)
		}
	}
	totals := empty([]int{len(labels)}, x.DType())
	fillLogTotals[T](totals, x)
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
		raise(source.ValueError, "Expected 1 or more dimensions (got 0)")
	}
	if x.Dim() == 1 || x.Dim() == 2 && target.Dim() != 1 {
		return
	}
	targets := 0
	if target.Dim() > 0 {
		targets = target.Size(0)
	}
	if x.Size(0) != targets || target.Dim() == 0 {
		raise(source.ValueError, "Expected input batch_size (%d) to match target batch_size (%d).", x.Size(0), targets)
	}
}

// nllImages is nllLoss with more dimensions behind that of the classes.
func nllImages(x, target, weight *tensor.Tensor, how, ignore int, logits bool) (loss, total *tensor.Tensor) {
	check(x.Dim() > 2, "nll_loss2d expects an input of at least 3 dimensions, but got %s", shapeText(x.Shape()))
	checkTargets(x, target)
	batch, classes := x.Size(0), x.Size(1)
	want := append([]int{batch}, x.Shape()[2:]...)
	check(tensor.SameShape(target.Shape(), want), "Expected target size %s, got %s", shapeText(want), shapeText(target.Shape()))
	places := numelOf(x.Shape()[2:])
	loss, total = nllPixels(must(x.Reshape(batch, classes, places)), must(target.Reshape(batch, places)), weight, how, ignore, logits)
	if how == reduceNone {
		loss = must(loss.Reshape(want...))
	}
	return loss, total
}

// crossEntropy is the loss of logits against labels or probabilities.
func crossEntropy(x, target, weight *tensor.Tensor, how, ignore int, smoothing float64) *tensor.Tensor {
	classDim := min(1, x.Dim()-1)
	if tensor.SameShape(x.Shape(), target.Shape()) {
		return crossEntropyOfProbabilities(x, target, weight, how, smoothing, classDim)
	}
	floatRows("log_softmax", x, classDim)
	if smoothing == 0 {
		return nllLossNd(x, target, weight, how, ignore, true)
	}
	check(smoothing > 0 && smoothing <= 1, "label_smoothing must be between 0.0 and 1.0. Got: %v", smoothing)
	log := logSoftmax(x, classDim)
	nll := nllLossNd(log, target, weight, how, ignore, false)
	spread := log
	if weight != nil {
		shape := slices.Repeat([]int{1}, x.Dim())
		shape[classDim] = weight.Numel()
		spread = mul.on(log, must(weight.Reshape(shape...)))
	}
	smooth := neg.on(sum(spread, []int{classDim}, false, spread.DType()))
	ignored := eq.run(nil, []operand{ofTensor(target), ofScalar(tensor.Int(int64(ignore)))})
	smooth = choose(ignored, ofScalar(tensor.Float(0)), ofTensor(smooth))
	switch how {
	case reduceMean:
		var n *tensor.Tensor
		if weight != nil {
			safe := choose(ignored, ofScalar(tensor.Int(0)), ofTensor(target))
			picked := must(indexSelect(weight, 0, must(safe.Reshape(-1))).Reshape(target.Shape()...))
			n = sum(choose(ignored, ofScalar(tensor.Float(0)), ofTensor(picked)), nil, false, weight.DType())
		} else {
			n = sum(not.on(ignored), nil, false, tensor.Int64)
		}
		smooth = div.on(sum(smooth, nil, false, smooth.DType()), n)
	case reduceSum:
		smooth = sum(smooth, nil, false, smooth.DType())
	}
	return add.on(scaleBy(nll, 1-smoothing), scaleBy(smooth, smoothing/float64(x.Size(classDim))))
}

// checkCrossEntropy knows targets that are probabilities by their shape.
func checkCrossEntropy(c call) {
	target := c.tensor(1)
	if !tensor.SameShape(c.tensor(0).Shape(), target.Shape()) {
		if !target.DType().IsFloating() {
			checkClassWeights(c)
		}
		return
	}
	check(target.DType().IsFloating(), "Expected floating point type for target with class probabilities, got %s", target.DType().CppName())
	check(c.int(4) < 0, "ignore_index is not supported for floating point target")
}

func crossEntropyOfProbabilities(x, target, weight *tensor.Tensor, how int, smoothing float64, classDim int) *tensor.Tensor {
	log := logSoftmax(x, classDim)
	if smoothing > 0 {
		target = addNumber(scaleBy(target, 1-smoothing), smoothing/float64(x.Size(classDim)))
	}
	p := mul.on(log, target)
	if weight != nil {
		shape := slices.Repeat([]int{1}, x.Dim())
		shape[classDim] = weight.Numel()
		p = mul.on(p, must(weight.Reshape(shape...)))
	}
	p = neg.on(p)
	switch how {
	case reduceMean:
		n := x.Numel() / max(x.Size(classDim), 1)
		return scaleBy(sum(p, nil, false, p.DType()), 1/float64(n))
	case reduceSum:
		return sum(p, nil, false, p.DType())
	}
	return sum(p, []int{classDim}, false, p.DType())
}

// multiMargin compares the score of the target with the others.
func multiMargin(c call) *tensor.Tensor {
	x, target, p, margin, weight, how := c.tensor(0), c.tensor(1), c.scalar(2).Float64(), c.scalar(3).Float64(), c.optionalTensor(4), c.reduction(5)
	var made scratch
	defer made.release()
	inOrder := made.copied(asWork(x, tensor.Float64), x)
	filled := made.copied(atLeast(inOrder, 1), inOrder)
	rows := made.of(must(filled.View(-1, filled.Size(filled.Dim()-1))))
	n, classes := rows.Size(0), rows.Size(1)
	data := tensor.Data[float64](rows)
	labels := integersOf(must(target.Reshape(-1)))
	check(weight == nil || weight.Dim() <= 1 && weight.Numel() == classes, "inconsistent weight size, expected %d but got %s", classes, optionalShape(weight))
	if weight != nil {
		weight = must(weight.Reshape(-1))
	}
	out := empty([]int{n}, tensor.Float64)
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
		loss = must(loss.Reshape(target.Shape()...))
	}
	return to(loss, x.DType())
}

// ctcLoss is the negative log likelihood of label sequences under all alignments.
func ctcLoss(logs, targets *tensor.Tensor, inputLengths, targetLengths []int, blank, how int, zeroInfinity bool) *tensor.Tensor {
	check(logs.Dim() == 2 || logs.Dim() == 3, "ctc_loss: expected log probabilities of 2 or 3 dimensions, but got %s", shapeText(logs.Shape()))
	batched := logs.Dim() == 3
	if !batched {
		logs = must(logs.Unsqueeze(1))
	}
	steps, batch, classes := logs.Size(0), logs.Size(1), logs.Size(2)
	check(blank >= 0 && blank < classes, "blank must be in label range")
	check(len(inputLengths) == batch, "input_lengths must be of size batch_size")
	check(len(targetLengths) == batch, "target_lengths must be of size batch_size")
	data := tensor.Data[float64](contiguous(to(logs, tensor.Float64)))
	flat := integersOf(must(targets.Reshape(-1)))
	for _, l := range flat {
		check(l >= 0 && l < classes, "ctc_loss: targets must lie in [0, %d), but got %d", classes, l)
	}
	out := empty([]int{batch}, tensor.Float64)
	start := 0
	for b := range batch {
		if targets.Dim() == 2 {
			start = b * targets.Size(1)
		}
		check(targetLengths[b] >= 0 && targetLengths[b] <= len(flat)-start, "ctc_loss: a target length is %d behind label %d, but there are %d labels", targetLengths[b], start, len(flat))
		check(inputLengths[b] >= 0, "ctc_loss: input_lengths must not be negative, but got %d", inputLengths[b])
		labels := flat[start : start+targetLengths[b]]
		start += targetLengths[b]
		check(inputLengths[b] <= steps, "Expected input_lengths to have value at most %d, but got value %d (while checking arguments for ctc_loss_cpu)", steps, inputLengths[b])
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
		return to(mean(out, nil, false, tensor.Float64), logs.DType())
	case reduceSum:
		return to(sum(out, nil, false, tensor.Float64), logs.DType())
	}
	if !batched {
		out = must(out.Select(0, 0))
	}
	return to(out, logs.DType())
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
func pairLoss(name string, p *pointwise) definition {
	return giving(name, func(c call) *tensor.Tensor { return lossOf(p, c.reduction(2), pair(c.tensor(0), c.tensor(1))) })
}

// limitedLoss defines one with a threshold after the reduction.
func limitedLoss(name, limit string, p *pointwise) definition {
	return giving(name, func(c call) *tensor.Tensor {
		l := c.float(3)
		if name == "smooth_l1_loss" {
			check(l >= 0, "smooth_l1_loss does not support negative values for beta.")
			if l == 0 {
				return lossOf(absoluteError, c.reduction(2), pair(c.tensor(0), c.tensor(1)))
			}
		} else {
			check(l > 0, "huber_loss does not support non-positive values for %s.", limit)
		}
		return lossOf(p, c.reduction(2), pair(c.tensor(0), c.tensor(1)), tensor.Float(l))
	})
}

// positivePart gives max(0, t).
func positivePart(t *tensor.Tensor) *tensor.Tensor { return clampMin.withNumber(t, 0) }

// distance is the norm of each row of a-b+eps.
func distance(a, b *tensor.Tensor, p, eps float64, keepdim bool) *tensor.Tensor {
	var made scratch
	defer made.release()
	d := made.of(addNumber(made.of(sub.on(a, b)), eps))
	return vectorNorm(d, p, []int{-1}, keepdim, d.DType())
}

var lossFamily = []definition{
	pairLoss("mse_loss", squareError).with(ops.Def{Grad: concrete(squareErrorGrad)}),
	giving("mse_loss_backward", func(c call) *tensor.Tensor {
		factor := 2.0
		if c.reduction(3) == reduceMean {
			factor /= float64(c.tensor(1).Numel())
		}
		return squareErrorGradient.run(nil, []operand{ofTensor(c.tensor(0)), ofTensor(c.tensor(1)), ofTensor(c.tensor(2))}, tensor.Float(factor))
	}),
	pairLoss("l1_loss", absoluteError).with(ops.Def{Decomp: composing(func(x composer, a []value.Value) tensors {
		return x.reduce(x.do("abs", x.do("sub.Tensor", a[0], a[1])), a[2])
	}), Tags: ops.AnySizes}),
	limitedLoss("smooth_l1_loss", "beta", smoothError).with(ops.Def{Decomp: composing(smoothL1)}),
	limitedLoss("huber_loss", "delta", huberError).with(ops.Def{Decomp: composing(huber)}),
	pairLoss("soft_margin_loss", softMargin).checked(func(c call) {
		check(!isIntegral(c.tensor(0).DType()), "result type Float can't be cast to the desired output type %s", c.tensor(0).DType().CppName())
	}),
	giving("cross_entropy_loss", func(c call) *tensor.Tensor {
		return crossEntropy(c.tensor(0), c.tensor(1), c.optionalTensor(2), c.reduction(3), c.int(4), c.float(5))
	}).with(ops.Def{Decomp: composing(composeCrossEntropy), Tags: ops.AnySizes}).checked(checkCrossEntropy),
	giving("nll_loss", func(c call) *tensor.Tensor {
		loss, _ := nllLoss(c.tensor(0), c.tensor(1), c.optionalTensor(2), c.reduction(3), c.int(4), false)
		return loss
	}).with(ops.Def{Decomp: firstOf("nll_loss_forward"), Saving: "nll_loss_forward", Tags: ops.Grouped | ops.AnySizes}).checked(checkClassWeights),
	define("nll_loss_forward", func(c call) {
		c.give(pair(nllLoss(c.tensor(0), c.tensor(1), c.optionalTensor(2), c.reduction(3), c.int(4), false))...)
	}).with(ops.Def{Reads: ops.ReadsSelf.And(1).And(2).AndResult(1), Grad: nllGradBy("nll_loss_backward"), Tags: ops.Symbolic, Node: "NllLossBackward0"}).checked(checkClassWeights),
	define("nll_loss2d_forward", func(c call) {
		c.give(pair(nllImages(c.tensor(0), c.tensor(1), c.optionalTensor(2), c.reduction(3), c.int(4), false))...)
	}).with(ops.Def{Grad: nllGradBy("nll_loss2d_backward"), Node: "NllLoss2DBackward0"}).checked(checkClassWeights),
	decomposed("nll_loss_backward", composing(nllBackward)).with(ops.Def{Decomp: composing(nllBackward)}),
	decomposed("nll_loss2d_backward", composing(nllBackward)).with(ops.Def{Decomp: composing(nllBackward)}),
	giving("nll_loss_nd", func(c call) *tensor.Tensor {
		return nllLossNd(c.tensor(0), c.tensor(1), c.optionalTensor(2), c.reduction(3), c.int(4), false)
	}).with(ops.Def{Decomp: composeNll, Tags: ops.AnySizes}).checked(checkClassWeights),
	giving("nll_loss2d", func(c call) *tensor.Tensor {
		return nllLossNd(c.tensor(0), c.tensor(1), c.optionalTensor(2), c.reduction(3), c.int(4), false)
	}).with(ops.Def{Decomp: composeNll}).checked(checkClassWeights),
	giving("binary_cross_entropy", func(c call) *tensor.Tensor {
		x, target := c.tensor(0), c.tensor(1)
		sameSize(x, target)
		outside := outsideUnit.reduce(x, nil, false, kernel.ComputeType(x.DType()), tensor.Bool)
		check(!outside.At().Bool(), "all elements of input should be between 0 and 1")
		if w := c.optionalTensor(2); w != nil {
			return reduced(mul.on(crossEntropyOfUnit.on(x, target), to(w, x.DType())), c.reduction(3))
		}
		return lossOf(crossEntropyOfUnit, c.reduction(3), pair(x, target))
	}).with(ops.Def{Decomp: composing(binaryCrossEntropy)}).checked(func(c call) {
		x, target := c.tensor(0).DType(), c.tensor(1).DType()
		check(!isIntegral(x), "\"binary_cross_entropy\" not implemented for '%s'", x.CppName())
		check(x == target, "Found dtype %s but expected %s", target.CppName(), x.CppName())
	}),
	giving("binary_cross_entropy_with_logits", func(c call) *tensor.Tensor {
		p, operands := crossEntropyOfLogit, pair(c.tensor(0), c.tensor(1))
		if pos := c.optionalTensor(3); pos != nil {
			p, operands = weightedLogit, append(operands, pos)
		}
		if w := c.optionalTensor(2); w != nil {
			return reduced(mul.on(p.on(operands...), w), c.reduction(4))
		}
		return lossOf(p, c.reduction(4), operands)
	}).with(ops.Def{Grad: logitGrad}),
	giving("kl_div", func(c call) *tensor.Tensor {
		p := divergence
		if c.bool(3) {
			p = divergenceOfLogs
		}
		return lossOf(p, c.reduction(2), pair(c.tensor(0), c.tensor(1)))
	}).with(ops.Def{Decomp: composing(composeDivergence)}).checked(func(c call) {
		check(!isIntegral(c.tensor(0).DType()) && !isIntegral(c.tensor(1).DType()), "kl_div: Integral inputs not supported.")
	}),
	giving("hinge_embedding_loss", func(c call) *tensor.Tensor {
		x, y := c.tensor(0), c.tensor(1)
		var made scratch
		defer made.release()
		margin := made.of(positivePart(made.of(addNumber(made.of(neg.on(x)), c.float(2)))))
		far := made.of(choose(made.of(ne.withNumber(y, 1)), ofTensor(margin), ofScalar(tensor.Float(0))))
		near := made.of(choose(made.of(ne.withNumber(y, -1)), ofTensor(x), ofScalar(tensor.Float(0))))
		return reduced(add.on(far, near), c.reduction(3))
	}).checked(func(c call) {
		if c.reduction(3) == reduceMean {
			checkMean(c.tensor(0).DType())
		}
	}),
	giving("margin_ranking_loss", func(c call) *tensor.Tensor {
		var made scratch
		defer made.release()
		d := made.of(mul.on(made.of(neg.on(c.tensor(2))), made.of(sub.on(c.tensor(0), c.tensor(1)))))
		return reduced(positivePart(made.of(addNumber(d, c.float(3)))), c.reduction(4))
	}),
	giving("cosine_embedding_loss", func(c call) *tensor.Tensor {
		a, b, y := c.tensor(0), c.tensor(1), c.tensor(2)
		last := []int{-1}
		var made scratch
		defer made.release()
		total := func(x, y *tensor.Tensor) *tensor.Tensor {
			return made.of(sum(made.of(mul.on(x, y)), last, false, x.DType()))
		}
		const eps = 1e-12
		squares := made.of(mul.on(made.of(addNumber(total(a, a), eps)), made.of(addNumber(total(b, b), eps))))
		cosine := made.of(div.on(total(a, b), made.of(squareRoot.on(squares))))
		apart := made.of(addNumber(made.of(neg.on(cosine)), 1))
		beyond := made.of(positivePart(made.of(addNumber(cosine, -c.float(3)))))
		same := made.of(choose(made.of(eq.withNumber(y, 1)), ofTensor(apart), ofScalar(tensor.Float(0))))
		other := made.of(choose(made.of(eq.withNumber(y, -1)), ofTensor(beyond), ofScalar(tensor.Float(0))))
		return reduced(add.on(same, other), c.reduction(4))
	}).checked(checkCosineEmbedding),
	giving("triplet_margin_loss", func(c call) *tensor.Tensor {
		p, eps := c.float(4), c.float(5)
		var made scratch
		defer made.release()
		between := func(i, j int) *tensor.Tensor {
			return made.of(distance(c.tensor(i), c.tensor(j), p, eps, false))
		}
		near, far := between(0, 1), between(0, 2)
		if c.bool(6) {
			far = made.of(minimum.on(far, between(1, 2)))
		}
		return reduced(positivePart(made.of(addNumber(made.of(sub.on(near, far)), c.float(3)))), c.reduction(7))
	}),
	giving("multi_margin_loss", multiMargin).checked(checkMultiMargin),
	giving("poisson_nll_loss", func(c call) *tensor.Tensor {
		x, y := c.tensor(0), c.tensor(1)
		var made scratch
		defer made.release()
		var loss *tensor.Tensor
		if c.bool(2) {
			loss = sub.on(made.of(exponential.on(x)), made.of(mul.on(y, x)))
		} else {
			loss = sub.on(x, made.of(mul.on(y, made.of(logarithm.on(made.of(addNumber(x, c.float(4))))))))
		}
		if c.bool(3) {
			small := made.of(scaleBy(made.of(logarithm.on(made.of(scaleBy(y, 2*math.Pi)))), 0.5))
			stirling := made.of(add.on(made.of(sub.on(made.of(mul.on(y, made.of(logarithm.on(y)))), y)), small))
			loss = add.on(made.of(loss), made.of(choose(made.of(le.withNumber(y, 1)), ofScalar(tensor.Float(0)), ofTensor(stirling))))
		}
		return reduced(loss, c.reduction(5))
	}),
	giving("ctc_loss.IntList", func(c call) *tensor.Tensor {
		return ctcLoss(c.tensor(0), c.tensor(1), c.ints(2), c.ints(3), c.int(4), c.reduction(5), c.bool(6))
	}),
	giving("ctc_loss.Tensor", func(c call) *tensor.Tensor {
		return ctcLoss(c.tensor(0), c.tensor(1), integersOf(must(c.tensor(2).Reshape(-1))), integersOf(must(c.tensor(3).Reshape(-1))), c.int(4), c.reduction(5), c.bool(6))
	}),
	giving("multilabel_margin_loss", func(c call) *tensor.Tensor {
		loss, isTarget := multilabelMargin(c.tensor(0), c.tensor(1), c.reduction(2))
		isTarget.Release()
		return loss
	}).checked(checkMultilabel),
	define("multilabel_margin_loss_forward", func(c call) { c.give(pair(multilabelMargin(c.tensor(0), c.tensor(1), c.reduction(2)))...) }).checked(checkMultilabel),
	giving("cosine_similarity", func(c call) *tensor.Tensor { return cosineSimilarity(c.tensor(0), c.tensor(1), c.int(2), c.float(3)) }).with(ops.Def{Decomp: composing(composeCosine)}),
	giving("pairwise_distance", func(c call) *tensor.Tensor {
		return distance(c.tensor(0), c.tensor(1), c.float(2), c.float(3), c.bool(4))
	}),
}

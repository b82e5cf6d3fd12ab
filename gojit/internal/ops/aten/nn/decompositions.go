package aten

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// composer is an emitter with the short forms that decompositions use.
type composer struct{ ops.Emitter }

func (x composer) do(name string, args ...any) tensors { return ops.Do(x.Emitter, name, args...) }

// one makes a ops.Decomposition of a function with one result.
func composing(f func(x composer, a []value.Value) tensors) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value {
		return []value.Value{value.OfTensor(f(composer{e}, a))}
	}
}

func numberOfValue(v value.Value) float64 {
	if v.IsFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

func numbersOfValue(v value.Value, n int) []int {
	if v.IsInt() {
		v = value.OfList(value.Ints([]int{int(v.Int())}))
	}
	xs := v.List().AppendInts(nil)
	for len(xs) > 0 && len(xs) < n {
		xs = append(xs, xs[0])
	}
	return xs
}

// reduce applies the reduction of a loss: 0 none, 1 mean, 2 sum.
func (x composer) reduce(t tensors, how value.Value) tensors {
	switch how.Int() {
	case 1:
		return x.do("mean", t)
	case 2:
		return x.do("sum", t)
	}
	return t
}

// broadcastEach expands each tensor: what requires no gradient stays so.
func broadcastEach(e ops.Emitter, a []value.Value) []value.Value {
	shape, items := []int{}, slices.Clone(a[0].List().Items)
	for _, v := range items {
		shape = must(tensor.Broadcast(shape, v.Tensor().Shape()))
	}
	for i, v := range items {
		if !tensor.SameShape(v.Tensor().Shape(), shape) {
			items[i] = value.OfTensor(ops.Do(e, "expand", v, shape))
		}
	}
	return []value.Value{value.OfList(value.NewList(a[0].List().Elem, items...))}
}

// composeDropout draws the same numbers as the operator.
func composeDropout(x composer, a []value.Value) tensors {
	t, p := a[0].Tensor(), numberOfValue(a[1])
	if !a[2].Bool() || p == 0 || t.Numel() == 0 {
		return t
	}
	if p == 1 {
		return x.do("mul.Tensor", t, x.do("zeros", []int{}, int(t.DType()), nil, value.OfDevice(t.Device())))
	}
	noise := x.do("bernoulli_.float", x.do("empty_like", t, nil, nil, nil, nil, int(tensor.ContiguousFormat)), 1-p)
	return x.do("mul.Tensor", t, x.do("div_.Scalar", noise, 1-p))
}

// emitting is an operator as another one that takes the same arguments, in their order, and more where these have defaults.
func emitting(name string) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value { return e.Emit(name, a...) }
}

// firstOf is an operator as the first result of another one, which takes the same arguments or the first of them.
func firstOf(name string) ops.Decomposition {
	return func(e ops.Emitter, a []value.Value) []value.Value {
		return e.Emit(name, a[:min(len(a), len(ops.Find("aten::"+name).Schema().Arguments))]...)[:1]
	}
}

// convSame pads by the convolution itself; what is uneven is padded behind the input first.
func composeSame(name string) ops.Decomposition {
	return composing(func(x composer, a []value.Value) tensors {
		input, weight := a[0].Tensor(), a[1].Tensor()
		n := max(weight.Dim()-2, 0) // the convolution says what is wrong with a weight of too few dimensions
		padding := make([]int, n)
		if n > 0 && a[4].Str() == "same" {
			dilation := numbersOfValue(a[5], n)
			check(len(dilation) == n, "dilation cannot broadcast to %d dimensions", n)
			behind := make([]int, 2*n)
			for d := range n {
				total := dilation[d] * (weight.Size(d+2) - 1)
				padding[d], behind[2*(n-1-d)+1] = total/2, total%2
			}
			if slices.Max(behind) > 0 && (input.Dim() == n+1 || input.Dim() == n+2) {
				input = x.do("constant_pad_nd", input, behind, 0.0)
			}
		}
		return x.do(name, input, weight, a[2], a[3], padding, a[5], a[6])
	})
}

// size is a size of a tensor: an integer, or the tensor that stands for it in a program for any sizes.
func (x composer) size(t tensors, d int) value.Value {
	if e, ok := x.Emitter.(ops.Sizer); ok {
		return e.Size(t, d)
	}
	return value.Int(int64(t.Size(d)))
}

// fixedSize is a size that a program is for: with another one it is another program.
func (x composer) fixedSize(t tensors, d int) int {
	if e, ok := x.Emitter.(ops.Sizer); ok {
		return e.FixedSize(t, d)
	}
	return t.Size(d)
}

// product multiplies sizes.
func (x composer) product(a, b value.Value) value.Value {
	switch {
	case a.IsInt() && b.IsInt():
		return value.Int(a.Int() * b.Int())
	case a.IsInt() && a.Int() == 1:
		return b
	case a.IsInt():
		a, b = b, a
	}
	if b.IsInt() {
		return value.OfTensor(x.do("mul.Scalar", a, b))
	}
	return value.OfTensor(x.do("mul.Tensor", a, b))
}

// along shows a vector of channels so that it broadcasts over dimension 1 of n.
func (x composer) along(v value.Value, n int) tensors {
	shape := make([]int, n)
	for i := range shape {
		shape[i] = 1
	}
	shape[1] = -1
	return x.do("reshape", v, shape)
}

func (x composer) moments(t tensors, dims []int) (mean, variance tensors) {
	return x.do("mean.dim", t, dims, true), x.do("var.dim", t, dims, false, true)
}

func composeBatchNorm(x composer, a []value.Value) tensors {
	t := a[0].Tensor()
	if t.Numel() == 0 {
		return x.normOfNothing(t, a[1], a[2])
	}
	return x.Emit("native_batch_norm", a[:8]...)[0].Tensor()
}

// normOfNothing has no elements and is linked to what it comes from.
func (x composer) normOfNothing(t tensors, weight, bias value.Value) tensors {
	y := x.do("clone", t)
	for i, name := range []string{"mul.Tensor", "add.Tensor"} {
		if v := []value.Value{weight, bias}[i]; !v.IsNone() && v.Tensor().Numel() > 0 {
			y = x.do(name, y, x.do("select.int", v, 0, 0))
		}
	}
	return y
}

// channelDims returns the dimensions but the channels; without the batch where first is 2.
func channelDims(n, first int) []int {
	var dims []int
	for d := first; d < n; d++ {
		if d != 1 {
			dims = append(dims, d)
		}
	}
	return dims
}

func (x composer) affine(y tensors, weight, bias value.Value) tensors {
	if !weight.IsNone() {
		y = x.do("mul.Tensor", y, x.along(weight, y.Dim()))
	}
	if !bias.IsNone() {
		y = x.do("add.Tensor", y, x.along(bias, y.Dim()))
	}
	return y
}

// composeInstanceNorm normalizes the channels of each sample as those of one sample.
func composeInstanceNorm(x composer, a []value.Value) tensors {
	t := a[0].Tensor()
	if !a[5].Bool() {
		return composeBatchNorm(x, a)
	}
	if !a[3].IsNone() || !a[4].IsNone() || t.Numel() == 0 { // the running statistics are written, arguments are checked
		unrecorded(x).Emit("instance_norm", append([]value.Value{value.OfTensor(t.Detach())}, a[1:]...)...)
	}
	if t.Numel() == 0 {
		return x.normOfNothing(t, a[1], a[2])
	}
	samples, shape := t.Size(0), slices.Clone(t.Shape())
	shape[0], shape[1] = 1, samples*t.Size(1)
	ofSamples := func(v value.Value) value.Value {
		if v.IsNone() || samples == 1 {
			return v
		}
		return value.OfTensor(x.do("repeat", v, []int{samples}))
	}
	y := x.Emit("native_batch_norm", value.OfTensor(x.do("reshape", t, shape)), ofSamples(a[1]), ofSamples(a[2]), value.None, value.None, a[5], a[6], a[7])[0].Tensor()
	return x.do("view", y, t.Shape())
}

func composeGroupNorm(x composer, a []value.Value) tensors {
	t := a[0].Tensor()
	if t.Numel() == 0 {
		return x.affine(t, a[2], a[3])
	}
	if !t.IsContiguous() {
		t = x.do("contiguous", t)
	}
	places := value.Int(1)
	for d := 2; d < t.Dim(); d++ {
		places = x.product(places, x.size(t, d))
	}
	return x.do("native_group_norm", t, a[2], a[3], x.size(t, 0), x.size(t, 1), places, a[1], a[4])
}

func smoothL1(x composer, a []value.Value) tensors {
	size := x.do("abs", x.do("sub.Tensor", a[0], a[1]))
	beta := numberOfValue(a[3])
	if beta == 0 {
		return x.reduce(size, a[2])
	}
	small := x.do("mul.Scalar", x.do("mul.Tensor", size, size), 0.5/beta)
	return x.reduce(x.do("where.self", x.do("lt.Scalar", size, beta), small, x.do("add.Scalar", size, -0.5*beta)), a[2])
}

func huber(x composer, a []value.Value) tensors {
	size, delta := x.do("abs", x.do("sub.Tensor", a[0], a[1])), numberOfValue(a[3])
	small := x.do("mul.Scalar", x.do("mul.Tensor", size, size), 0.5)
	large := x.do("mul.Scalar", x.do("add.Scalar", size, -0.5*delta), delta)
	return x.reduce(x.do("where.self", x.do("lt.Scalar", size, delta), small, large), a[2])
}

func (x composer) negate(t tensors) tensors { return x.do("neg", t) }

func (x composer) weighted(t tensors, weight value.Value) tensors {
	if weight.IsNone() {
		return t
	}
	return x.do("mul.Tensor", t, x.do("to.dtype", weight, t.DType()))
}

// oneMinus gives 1 - t.
func (x composer) oneMinus(t any) tensors { return x.do("rsub.Scalar", t, 1.0) }

func binaryCrossEntropy(x composer, a []value.Value) tensors {
	unrecorded(x).Emit("binary_cross_entropy", a...) // the operator itself looks for elements that are no probabilities
	yes := x.do("clamp_min", x.do("log", a[0]), -100.0)
	no := x.do("clamp_min", x.do("log", x.oneMinus(a[0])), -100.0)
	both := x.do("add.Tensor", x.do("mul.Tensor", yes, a[1]), x.do("mul.Tensor", no, x.oneMinus(a[1])))
	return x.reduce(x.weighted(x.negate(both), a[2]), a[3])
}

func composeDivergence(x composer, a []value.Value) tensors {
	target := a[1].Tensor()
	if a[3].Bool() {
		return x.reduce(x.do("mul.Tensor", x.do("exp", target), x.do("sub.Tensor", target, a[0])), a[2])
	}
	entropy := x.do("xlogy.Tensor", target, target)
	return x.reduce(x.do("sub.Tensor", entropy, x.do("mul.Tensor", target, a[0])), a[2])
}

// composeNll: the number of dimensions says which of two operators the loss is.
func composeNll(e ops.Emitter, a []value.Value) []value.Value {
	checkTargets(a[0].Tensor(), a[1].Tensor())
	if a[0].Tensor().Dim() <= 2 {
		return e.Emit("nll_loss_forward", a...)[:1]
	}
	return e.Emit("nll_loss2d_forward", a...)[:1]
}

// weightsOfTargets returns targets, 0 for those that are ignored, and what they weigh.
func (x composer) weightsOfTargets(t, target tensors, weight, ignore value.Value) (safe, weights tensors) {
	ignored := x.do("eq.Scalar", target, ignore)
	safe = x.do("masked_fill.Scalar", target, ignored, 0)
	if weight.IsNone() {
		weights = x.do("ones_like", safe, t.DType())
	} else {
		weights = x.do("reshape", x.do("index_select", weight.Tensor().Detach(), 0, x.do("reshape", safe, []int{-1})), safe.Shape())
	}
	return safe, x.do("masked_fill.Scalar", weights, ignored, 0.0)
}

// nllBackward scatters the gradients of losses, and what the targets weigh, to the places of the targets.
func nllBackward(x composer, a []value.Value) tensors {
	t, target := a[1].Tensor(), a[2].Tensor()
	dim := min(1, t.Dim()-1)
	if t.Dim() == 1 {
		target = x.do("reshape", target, []int{})
	}
	safe, weights := x.weightsOfTargets(t, target, a[3], a[5])
	d := x.negate(x.do("mul.Tensor", weights, a[0]))
	if a[4].Int() == 1 {
		d = x.do("div.Tensor", d, a[6])
	}
	return x.do("scatter_.src", x.do("zeros_like", t), dim, x.do("unsqueeze", safe, dim), x.do("unsqueeze", d, dim))
}

// nllGradBy is the derivative of a loss and its total weight, which an operator computes.
func nllGradBy(name string) func(g grad) {
	return func(g grad) {
		g.Give(0, g.Do(name, g.Grad(0), g.In(0), g.In(1), g.In(2), g.Arg(3), g.Arg(4), g.Out(1)))
	}
}

func composeCrossEntropy(x composer, a []value.Value) tensors {
	t, target := a[0].Tensor(), a[1].Tensor()
	dim := min(1, t.Dim()-1)
	logs := x.do("log_softmax.int", t, dim)
	smoothing := numberOfValue(a[5])
	classes := func() float64 { return float64(x.fixedSize(t, dim)) }
	if tensor.SameShape(t.Shape(), target.Shape()) {
		if smoothing > 0 {
			target = x.do("add.Scalar", x.do("mul.Scalar", target, 1-smoothing), smoothing/classes())
		}
		losses := x.do("mul.Tensor", logs, target)
		if !a[2].IsNone() {
			losses = x.do("mul.Tensor", losses, x.classWeights(a[2], t.Dim(), dim))
		}
		losses = x.negate(x.do("sum.dim_IntList", losses, []int{dim}, false))
		if a[3].Int() == 1 {
			count := value.Int(1)
			for d := range t.Dim() {
				if d != dim {
					count = x.product(count, x.size(t, d))
				}
			}
			return x.do("div.Scalar", x.do("sum", losses), count)
		}
		return x.reduce(losses, a[3])
	}
	nll := x.do("nll_loss_nd", logs, target, a[2], a[3], a[4])
	if smoothing == 0 {
		return nll
	}
	spread := logs
	if !a[2].IsNone() {
		spread = x.do("mul.Tensor", logs, x.classWeights(a[2], t.Dim(), dim))
	}
	ignored := x.do("eq.Scalar", target, a[4])
	smooth := x.do("masked_fill.Scalar", x.negate(x.do("sum.dim_IntList", spread, []int{dim}, false)), ignored, 0.0)
	if a[3].Int() == 1 {
		kept := x.do("to.dtype", x.do("logical_not", ignored), t.DType())
		if !a[2].IsNone() {
			safe := x.do("reshape", x.do("masked_fill.Scalar", target, ignored, 0), []int{-1})
			kept = x.do("mul.Tensor", kept, x.do("reshape", x.do("index_select", a[2].Tensor().Detach(), 0, safe), target.Shape()))
		}
		smooth = x.do("div.Tensor", x.do("sum", smooth), x.do("sum", kept))
	} else {
		smooth = x.reduce(smooth, a[3])
	}
	return x.do("add.Tensor", x.do("mul.Scalar", nll, 1-smoothing), x.do("mul.Scalar", smooth, smoothing/classes()))
}

func (x composer) classWeights(weight value.Value, n, dim int) tensors {
	shape := make([]int, n)
	for i := range shape {
		shape[i] = 1
	}
	shape[dim] = -1
	return x.do("reshape", weight.Tensor().Detach(), shape)
}

func composeAttention(e ops.Emitter, a []value.Value) []value.Value {
	x := composer{e}
	q, k := a[0].Tensor(), a[1].Tensor()
	scores := x.do("matmul", x.do("mul.Scalar", q, 1/math.Sqrt(float64(q.Size(q.Dim()-1)))), x.do("transpose.int", k, -2, -1))
	mask := a[3]
	if a[6].Bool() {
		mask = value.OfTensor(x.do("tril", fullBeside(q, []int{q.Size(q.Dim() - 2), k.Size(k.Dim() - 2)}, tensor.Int(1), tensor.Bool)))
	}
	switch {
	case mask.IsNone():
	case mask.Tensor().DType() == tensor.Bool:
		scores = x.do("masked_fill.Scalar", scores, x.do("logical_not", mask), math.Inf(-1))
	default:
		scores = x.do("add.Tensor", scores, mask)
	}
	weights := x.do("softmax.int", scores, -1)
	if p := numberOfValue(a[4]); p > 0 {
		weights = x.do("dropout", weights, p, true)
	}
	return []value.Value{value.OfTensor(x.do("matmul", weights, a[2])), value.OfTensor(weights)}
}

func composeCosine(x composer, a []value.Value) tensors {
	dims := []int{int(a[2].Int())}
	both := ops.DoAll(x.Emitter, "broadcast_tensors", []tensors{a[0].Tensor(), a[1].Tensor()})[0].List().Items
	p, q := both[0], both[1]
	dot := func(u, v value.Value) tensors { return x.do("sum.dim_IntList", x.do("mul.Tensor", u, v), dims, false) }
	lengths := x.do("clamp_min", x.do("mul.Tensor", dot(p, p), dot(q, q)), numberOfValue(a[3])*numberOfValue(a[3]))
	return x.do("mul.Tensor", dot(p, q), x.do("rsqrt", lengths))
}

// plainly runs operators below autograd.
type plainly struct {
	made []*tensor.Tensor // by operators
}

// Emit implements ops.Emitter.
func (p *plainly) Emit(name string, args ...value.Value) []value.Value {
	o := ops.Find("aten::" + name)
	if o.Run == nil {
		raise(source.NotImplementedError, "an operator is made of %s, which is not implemented", o.Name)
	}
	s := o.Schema()
	for i := len(args); i < len(s.Arguments); i++ {
		args = append(args, s.Arguments[i].Default)
	}
	out := make([]value.Value, len(s.Returns))
	succeed(o.Run(args, out))
	for _, v := range out {
		if v.IsTensor() && !isAmong(v.Tensor(), args) {
			p.made = append(p.made, v.Tensor())
		}
	}
	return out
}

// Unrecorded is for decompositions, which have the operator itself check its arguments.
func (p *plainly) Unrecorded() ops.Emitter { return p }

// giveUp gives up what operators made and is not among the results.
func (p *plainly) giveUp(results []value.Value) {
	for _, t := range p.made {
		if !isAmong(t, results) {
			t.GiveUp()
		}
	}
}

// decomposed defines an overload that has no implementation but what it is made of.
func decomposed(name string, as ops.Decomposition) definition {
	return define(name, func(c call) {
		run := &plainly{}
		copy(c.out, as(run, c.args))
		run.giveUp(c.out)
	}).onMeta()
}

// sameAs defines an overload that is another one.
func sameAs(name, other string) definition {
	return decomposed(name, emitting(other)).with(ops.Def{Decomp: emitting(other)})
}

// composeRmsNorm computes in Float32 what has fewer bits.
func composeRmsNorm(x composer, a []value.Value) tensors {
	input, shape := a[0].Tensor(), call{args: a}.ints(1)
	if isIntegral(input.DType()) {
		raise(source.NotImplementedError, "\"rms_norm\" not implemented for '%s'", input.DType().CppName())
	}
	checkLayerNorm(input, shape, call{args: a}.optionalTensor(2), nil)
	dims := make([]int, len(shape))
	for i := range dims {
		dims[i] = -1 - i
	}
	wide := input
	if input.DType() == tensor.Float16 || input.DType() == tensor.BFloat16 {
		wide = x.do("to.dtype", input, tensor.Float32)
	}
	eps := 0x1p-23 // the distance of 1 to the next number
	if wide.DType() == tensor.Float64 {
		eps = 0x1p-52
	}
	if !a[3].IsNone() {
		eps = a[3].Float()
	}
	squares := x.do("mean.dim", x.do("pow.Tensor_Scalar", wide, 2), dims, true)
	y := x.do("mul.Tensor", wide, x.do("rsqrt", x.do("add.Scalar", squares, eps)))
	if !a[2].IsNone() {
		y = x.do("mul.Tensor", y, a[2])
	}
	return x.do("to.dtype", y, input.DType())
}

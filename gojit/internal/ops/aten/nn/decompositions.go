package nn

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func composeBatchNorm(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	if t.Numel() == 0 {
		return x.NormOfNothing(t, a[1], a[2])
	}
	return x.Emit("native_batch_norm", a[:8]...)[0].Tensor()
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

// composeInstanceNorm normalizes the channels of each sample as those of one sample.
func composeInstanceNorm(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	if !a[5].Bool() {
		return composeBatchNorm(x, a)
	}
	if !a[3].IsNone() || !a[4].IsNone() || t.Numel() == 0 { // the running statistics are written, arguments are checked
		define.Unrecorded(x).Emit("instance_norm", append([]value.Value{value.OfTensor(t.Detach())}, a[1:]...)...)
	}
	if t.Numel() == 0 {
		return x.NormOfNothing(t, a[1], a[2])
	}
	samples, shape := t.Size(0), slices.Clone(t.Shape())
	shape[0], shape[1] = 1, samples*t.Size(1)
	ofSamples := func(v value.Value) value.Value {
		if v.IsNone() || samples == 1 {
			return v
		}
		return value.OfTensor(x.Do("repeat", v, []int{samples}))
	}
	y := x.Emit("native_batch_norm", value.OfTensor(x.Do("reshape", t, shape)), ofSamples(a[1]), ofSamples(a[2]), value.None, value.None, a[5], a[6], a[7])[0].Tensor()
	return x.Do("view", y, t.Shape())
}

func composeGroupNorm(x define.Composer, a []value.Value) define.Tensors {
	t := a[0].Tensor()
	if t.Numel() == 0 {
		return x.Affine(t, a[2], a[3])
	}
	if !t.IsContiguous() {
		t = x.Do("contiguous", t)
	}
	places := value.Int(1)
	for d := 2; d < t.Dim(); d++ {
		places = x.Product(places, x.Size(t, d))
	}
	return x.Do("native_group_norm", t, a[2], a[3], x.Size(t, 0), x.Size(t, 1), places, a[1], a[4])
}

func smoothL1(x define.Composer, a []value.Value) define.Tensors {
	size := x.Do("abs", x.Do("sub.Tensor", a[0], a[1]))
	beta := define.NumberOfValue(a[3])
	if beta == 0 {
		return x.Reduce(size, a[2])
	}
	// the square of what is at most beta, so that the gradient of an infinite size is that of the straight part
	near := x.Do("masked_fill.Scalar", size, x.Do("ge.Scalar", size, beta), beta)
	small := x.Do("mul.Scalar", x.Do("mul.Tensor", near, near), 0.5/beta)
	return x.Reduce(x.Do("where.self", x.Do("lt.Scalar", size, beta), small, x.Do("add.Scalar", size, -0.5*beta)), a[2])
}

func huber(x define.Composer, a []value.Value) define.Tensors {
	size, delta := x.Do("abs", x.Do("sub.Tensor", a[0], a[1])), define.NumberOfValue(a[3])
	near := x.Do("masked_fill.Scalar", size, x.Do("ge.Scalar", size, delta), delta)
	small := x.Do("mul.Scalar", x.Do("mul.Tensor", near, near), 0.5)
	large := x.Do("mul.Scalar", x.Do("add.Scalar", size, -0.5*delta), delta)
	return x.Reduce(x.Do("where.self", x.Do("lt.Scalar", size, delta), small, large), a[2])
}

func weighted(x define.Composer, t define.Tensors, weight value.Value) define.Tensors {
	if weight.IsNone() {
		return t
	}
	return x.Do("mul.Tensor", t, x.Do("to.dtype", weight, t.DType()))
}

func binaryCrossEntropy(x define.Composer, a []value.Value) define.Tensors {
	sameSize(a[0].Tensor(), a[1].Tensor()) // the operator itself looks for elements that are no probabilities, too
	yes := x.Do("clamp_min", x.Do("log", a[0]), -100.0)
	no := x.Do("clamp_min", x.Do("log", x.OneMinus(a[0])), -100.0)
	both := x.Do("add.Tensor", x.Do("mul.Tensor", yes, a[1]), x.Do("mul.Tensor", no, x.OneMinus(a[1])))
	return x.Reduce(weighted(x, x.Negate(both), a[2]), a[3])
}

func composeDivergence(x define.Composer, a []value.Value) define.Tensors {
	target := a[1].Tensor()
	if a[3].Bool() {
		return x.Reduce(x.Do("mul.Tensor", x.Do("exp", target), x.Do("sub.Tensor", target, a[0])), a[2])
	}
	entropy := x.Do("xlogy.Tensor", target, target)
	return x.Reduce(x.Do("sub.Tensor", entropy, x.Do("mul.Tensor", target, a[0])), a[2])
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
func weightsOfTargets(x define.Composer, t, target define.Tensors, weight, ignore value.Value) (safe, weights define.Tensors) {
	ignored := x.Do("eq.Scalar", target, ignore)
	safe = x.Do("masked_fill.Scalar", target, ignored, 0)
	if weight.IsNone() {
		weights = x.Do("ones_like", safe, t.DType())
	} else {
		weights = x.Do("reshape", x.Do("index_select", weight.Tensor().Detach(), 0, x.Do("reshape", safe, []int{-1})), safe.Shape())
	}
	return safe, x.Do("masked_fill.Scalar", weights, ignored, 0.0)
}

// nllBackward scatters the gradients of losses, and what the targets weigh, to the places of the targets.
func nllBackward(x define.Composer, a []value.Value) define.Tensors {
	t, target := a[1].Tensor(), a[2].Tensor()
	dim := min(1, t.Dim()-1)
	if t.Dim() == 1 {
		target = x.Do("reshape", target, []int{})
	}
	safe, weights := weightsOfTargets(x, t, target, a[3], a[5])
	d := x.Negate(x.Do("mul.Tensor", weights, a[0]))
	if a[4].Int() == 1 {
		d = x.Do("div.Tensor", d, a[6])
	}
	return x.Do("scatter_.src", x.Do("zeros_like", t), dim, x.Do("unsqueeze", safe, dim), x.Do("unsqueeze", d, dim))
}

// nllGradBy is the derivative of a loss and its total weight, which an operator computes.
func nllGradBy(name string) func(g define.Grad) {
	return func(g define.Grad) {
		g.Give(0, g.Do(name, g.Grad(0), g.In(0), g.In(1), g.In(2), g.Arg(3), g.Arg(4), g.Out(1)))
	}
}

func composeCrossEntropy(x define.Composer, a []value.Value) define.Tensors {
	t, target := a[0].Tensor(), a[1].Tensor()
	dim := min(1, t.Dim()-1)
	logs := x.Do("log_softmax.int", t, dim)
	smoothing := define.NumberOfValue(a[5])
	classes := func() float64 { return float64(x.FixedSize(t, dim)) }
	if tensor.SameShape(t.Shape(), target.Shape()) {
		if smoothing > 0 {
			target = x.Do("add.Scalar", x.Do("mul.Scalar", target, 1-smoothing), smoothing/classes())
		}
		losses := x.Do("mul.Tensor", logs, target)
		if !a[2].IsNone() {
			losses = x.Do("mul.Tensor", losses, classWeights(x, a[2], t.Dim(), dim))
		}
		losses = x.Negate(x.Do("sum.dim_IntList", losses, []int{dim}, false))
		if a[3].Int() == 1 {
			count := value.Int(1)
			for d := range t.Dim() {
				if d != dim {
					count = x.Product(count, x.Size(t, d))
				}
			}
			return x.Do("div.Scalar", x.Do("sum", losses), count)
		}
		return x.Reduce(losses, a[3])
	}
	nll := x.Do("nll_loss_nd", logs, target, a[2], a[3], a[4])
	if smoothing == 0 {
		return nll
	}
	spread := logs
	if !a[2].IsNone() {
		spread = x.Do("mul.Tensor", logs, classWeights(x, a[2], t.Dim(), dim))
	}
	ignored := x.Do("eq.Scalar", target, a[4])
	smooth := x.Do("masked_fill.Scalar", x.Negate(x.Do("sum.dim_IntList", spread, []int{dim}, false)), ignored, 0.0)
	if a[3].Int() == 1 {
		kept := x.Do("to.dtype", x.Do("logical_not", ignored), t.DType())
		if !a[2].IsNone() {
			safe := x.Do("reshape", x.Do("masked_fill.Scalar", target, ignored, 0), []int{-1})
			kept = x.Do("mul.Tensor", kept, x.Do("reshape", x.Do("index_select", a[2].Tensor().Detach(), 0, safe), target.Shape()))
		}
		smooth = x.Do("div.Tensor", x.Do("sum", smooth), x.Do("sum", kept))
	} else {
		smooth = x.Reduce(smooth, a[3])
	}
	return x.Do("add.Tensor", x.Do("mul.Scalar", nll, 1-smoothing), x.Do("mul.Scalar", smooth, smoothing/classes()))
}

func classWeights(x define.Composer, weight value.Value, n, dim int) define.Tensors {
	shape := make([]int, n)
	for i := range shape {
		shape[i] = 1
	}
	shape[dim] = -1
	return x.Do("reshape", weight.Tensor().Detach(), shape)
}

func composeAttention(e ops.Emitter, a []value.Value) []value.Value {
	x := define.Composer{Emitter: e}
	q, k := a[0].Tensor(), a[1].Tensor()
	scores := x.Do("matmul", x.Do("mul.Scalar", q, 1/math.Sqrt(float64(q.Size(q.Dim()-1)))), x.Do("transpose.int", k, -2, -1))
	mask := a[3]
	if a[6].Bool() {
		mask = value.OfTensor(x.Do("tril", define.FullBeside(q, []int{q.Size(q.Dim() - 2), k.Size(k.Dim() - 2)}, tensor.Int(1), tensor.Bool)))
	}
	if !mask.IsNone() {
		scores = masked(x, scores, mask)
	}
	weights := dropped(x, x.Do("softmax.int", scores, -1), a[4])
	return []value.Value{value.OfTensor(x.Do("matmul", weights, a[2])), value.OfTensor(weights)}
}

// composeScaledAttention gives rows that may attend to nothing zeros, and heads of queries to heads of keys in groups where that is asked for.
func composeScaledAttention(x define.Composer, a []value.Value) define.Tensors {
	q, k, v := a[0].Tensor(), a[1].Tensor(), a[2].Tensor()
	mask, causal := a[3], a[5].Bool()
	checkScaledAttention(q, k, v, mask, causal)
	key, weighed := define.Tensors(k), define.Tensors(v)
	if a[7].Bool() {
		key, weighed = repeatHeads(x, q, k), repeatHeads(x, q, v)
	}
	factor := 1 / math.Sqrt(float64(x.FixedSize(q, q.Dim()-1)))
	if !a[6].IsNone() {
		factor = define.NumberOfValue(a[6])
	}
	scores := x.Do("matmul", x.Do("mul.Scalar", q, factor), x.Do("transpose.int", key, -2, -1))
	if causal {
		pairs := define.SizesOf(x.Size(q, q.Dim()-2), x.Size(k, k.Dim()-2))
		mask = value.OfTensor(x.Do("tril", x.Do("new_ones", q, pairs, tensor.Bool)))
	}
	if mask.IsNone() {
		return x.Do("matmul", dropped(x, x.Do("softmax.int", scores, -1), a[4]), weighed)
	}
	scores = masked(x, scores, mask)
	nothing := x.Do("all.dim", x.Do("eq.Scalar", x.Do("detach", scores), math.Inf(-1)), -1, true)
	weights := x.Do("masked_fill.Scalar", x.Do("softmax.int", x.Do("masked_fill.Scalar", scores, nothing, 0.0), -1), nothing, 0.0)
	return x.Do("matmul", dropped(x, weights, a[4]), weighed)
}

// masked gives scores without those that a mask of bools lacks, or with what one of numbers adds.
func masked(x define.Composer, scores define.Tensors, mask value.Value) define.Tensors {
	elementwise.CheckBroadcastsTo(scores, mask.Tensor())
	if mask.Tensor().DType() == tensor.Bool { // true: may attend
		return x.Do("masked_fill.Scalar", scores, x.Do("logical_not", mask), math.Inf(-1))
	}
	return x.Do("add.Tensor", scores, mask)
}

// dropped gives weights of which some are dropped, each with probability p.
func dropped(x define.Composer, weights define.Tensors, p value.Value) define.Tensors {
	if p := define.NumberOfValue(p); p > 0 {
		return x.Do("dropout", weights, p, true)
	}
	return weights
}

// repeatHeads gives t, keys or values, as many heads as the queries have.
func repeatHeads(x define.Composer, q, t *tensor.Tensor) define.Tensors {
	source.Check(q.Dim() >= 3 && t.Dim() >= 3, "Expected query, key, and value to all be  at least 3 dimensional with enable_gqa, but got query.dim: %d and %d", q.Dim(), t.Dim())
	heads, wanted := x.FixedSize(t, t.Dim()-3), x.FixedSize(q, q.Dim()-3)
	if heads == wanted {
		return t
	}
	source.Check(heads > 0 && wanted%heads == 0, "Number of heads in key and value must divide the number of heads in query")
	sizes := slices.Repeat([]int{-1}, t.Dim()+1)
	sizes[t.Dim()-2] = wanted / heads
	return x.Do("flatten.using_ints", x.Do("expand", x.Do("unsqueeze", t, -3), sizes, false), -4, -3)
}

func checkScaledAttention(q, k, v *tensor.Tensor, mask value.Value, causal bool) {
	source.Check(q.Dim() >= 2 && k.Dim() >= 2 && v.Dim() >= 2, "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: %d key.dim: %d and value.dim: %d instead.", q.Dim(), k.Dim(), v.Dim())
	source.Check(q.DType() == k.DType() && q.DType() == v.DType(), "Expected query, key, and value to have the same dtype, but got query.dtype: %s key.dtype: %s and value.dtype: %s instead.", q.DType().CType(), k.DType().CType(), v.DType().CType())
	if mask.IsNone() {
		return
	}
	source.Check(!causal, "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
	t := mask.Tensor().DType()
	source.Check(t == tensor.Bool || t == tensor.Float32 || t == q.DType(), "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: %s and  query.dtype: %s instead.", t.CType(), q.DType().CType())
}

func composeCosine(x define.Composer, a []value.Value) define.Tensors {
	dims, p, q := []int{int(a[2].Int())}, a[0].Tensor(), a[1].Tensor()
	common := linalg.CosineType(p, q)
	if p.DType() != common {
		p = x.Do("to.dtype", p, common)
	}
	if q.DType() != common {
		q = x.Do("to.dtype", q, common)
	}
	both := ops.DoAll(x.Emitter, "broadcast_tensors", []define.Tensors{p, q})[0].List().Items
	least := define.NumberOfValue(a[3]) * define.NumberOfValue(a[3])
	unit := func(v value.Value) define.Tensors {
		square := x.Do("sum.dim_IntList", x.Do("pow.Tensor_Scalar", v, 2), dims, true)
		at := x.Do("detach", square) // gradients do not see that lengths are limited
		limited := x.Do("where.self", x.Do("lt.Scalar", at, least), x.Do("add.Scalar", x.Do("sub.Tensor", square, at), least), square)
		return x.Do("div.Tensor", v, x.Do("sqrt", limited))
	}
	return x.Do("sum.dim_IntList", x.Do("mul.Tensor", unit(both[0]), unit(both[1])), dims, false)
}

// composeRmsNorm computes in Float32 what has fewer bits.
func composeRmsNorm(x define.Composer, a []value.Value) define.Tensors {
	input, shape := a[0].Tensor(), define.Call{Args: a}.Ints(1)
	if define.IsIntegral(input.DType()) {
		source.Raise(source.NotImplementedError, "\"rms_norm\" not implemented for '%s'", input.DType().CppName())
	}
	checkLayerNorm(input, shape, define.Call{Args: a}.OptionalTensor(2), nil)
	dims := make([]int, len(shape))
	for i := range dims {
		dims[i] = -1 - i
	}
	wide := input
	if input.DType() == tensor.Float16 || input.DType() == tensor.BFloat16 {
		wide = x.Do("to.dtype", input, tensor.Float32)
	}
	eps := 0x1p-23 // the distance of 1 to the next number
	if wide.DType() == tensor.Float64 {
		eps = 0x1p-52
	}
	if !a[3].IsNone() {
		eps = a[3].Float()
	}
	squares := x.Do("mean.dim", x.Do("pow.Tensor_Scalar", wide, 2), dims, true)
	y := x.Do("mul.Tensor", wide, x.Do("rsqrt", x.Do("add.Scalar", squares, eps)))
	if !a[2].IsNone() {
		y = x.Do("mul.Tensor", y, a[2])
	}
	return x.Do("to.dtype", y, input.DType())
}

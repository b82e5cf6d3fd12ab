package nn

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// checkMultiHead checks the arguments of attention with packed projections.
func checkMultiHead(q, k, v *tensor.Tensor, embed, n int, qkvWeight, qkvBias *tensor.Tensor) {
	source.Check(q.Dim() == 3, "expected 3-D `query`, got %d-D tensor", q.Dim())
	source.Check(k.Dim() == 3, "expected 3-D `key`, got %d-D tensor", k.Dim())
	source.Check(v.Dim() == 3, "expected 3-D `value`, got %d-D tensor", v.Dim())
	source.Check(q.Size(2) == embed, "passed-in embed_dim %d didn't match last dim of query %d", embed, q.Size(2))
	source.Check(qkvWeight.Dim() == 2 && qkvWeight.Size(0) == 3*embed, "expected `qkv_weight` first dim to be 3x embed_dim")
	source.Check(qkvBias.Dim() == 1, "expected 1-D `qkv_bias`, got %d-D tensor", qkvBias.Dim())
	source.Check(qkvBias.Size(0) == 3*embed, "expected `qkv_bias` first dim and first dim of query to be equal")
	source.Check(n > 0, "`num_heads` must be positive, but got %d", n)
	source.Check(embed%n == 0, "`embed_dim` must divide evenly by `num_heads`")
}

// multiHead is attention of several heads with packed projections: of weights and biases for queries, keys and values, and of those of the result.
// A mask is true where it may not attend.
func multiHead(x define.Composer, q, k, v define.Tensors, heads value.Value, weights []value.Value, mask value.Value) (out, attention define.Tensors) {
	ofHeads := func(rows define.Tensors) define.Tensors {
		split := x.Do("view", rows, define.SizesOf(x.Size(rows, 0), x.Size(rows, 1), heads, value.Int(-1)))
		return x.Do("transpose.int", split, 1, 2)
	}
	var parts [3]define.Tensors
	if q == k && k == v { // one product for all
		rows := x.Do("linear", q, weights[0], weights[1])
		split := x.Do("view", rows, define.SizesOf(x.Size(rows, 0), x.Size(rows, 1), value.Int(3), heads, value.Int(-1)))
		for i := range parts {
			parts[i] = x.Do("transpose.int", x.Do("select.int", split, 2, i), 1, 2)
		}
	} else {
		for i, from := range []define.Tensors{q, k, v} {
			weight := x.Do("select.int", x.Do("unflatten.int", weights[0], 0, []int{3, -1}), 0, i)
			bias := x.Do("select.int", x.Do("unflatten.int", weights[1], 0, []int{3, -1}), 0, i)
			parts[i] = ofHeads(x.Do("linear", from, weight, bias))
		}
	}
	if !mask.IsNone() {
		mask = value.OfTensor(x.Do("logical_not", mask))
	}
	attended := ops.DoAll(x.Emitter, "_scaled_dot_product_attention", parts[0], parts[1], parts[2], mask, 0.0, true, false)
	inTime := x.Do("transpose.int", attended[0].Tensor(), 1, 2)
	rows := x.Do("reshape", inTime, define.SizesOf(x.Size(q, 0), x.Size(q, 1), value.Int(-1)))
	return x.Do("linear", rows, weights[2], weights[3]), attended[1].Tensor()
}

// completeMask shows a mask so that it broadcasts over batch, heads, time and keys: one of type 0 is (time, time), of type 1 (batch, time) over keys,
// of type 2 complete.
func completeMask(mask *tensor.Tensor, maskType int) value.Value {
	if mask == nil {
		return value.None
	}
	if maskType == maskOverKeys {
		mask = source.Must(mask.View(mask.Size(0), 1, 1, mask.Size(1)))
	}
	return value.OfTensor(mask)
}

func nativeMultiHead(c define.Call) {
	q, k, v := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	checkMultiHead(q, k, v, c.Int(3), c.Int(4), c.Tensor(5), c.Tensor(6))
	run := define.PlainlyBeside(c.Args)
	out, weights := multiHead(define.Composer{Emitter: run}, q, k, v, c.Args[4], c.Args[5:9], completeMask(c.OptionalTensor(9), c.IntOr(12, 2)))
	switch {
	case !c.Bool(10):
		weights = define.Empty([]int{0}, out.DType())
	case c.Bool(11):
		weights = reduce.Mean(weights, []int{1}, false, weights.DType())
	}
	c.Give(out, weights)
	run.GiveUp(c.Out)
}

// EncoderLayer is what a whole layer of a transformer in evaluation mode is made of, by the arguments of the operator; its mask is complete.
// Attention comes first, then two linear layers; each is added to what it reads, and a normalization stands behind the sum, or before.
func EncoderLayer(e ops.Emitter, a []value.Value) []value.Value {
	x, src := define.Composer{Emitter: e}, a[0].Tensor()
	norm := func(t define.Tensors, i int) define.Tensors {
		return x.Do("layer_norm", t, define.SizesOf(a[1]), a[i], a[i+1], a[9], true)
	}
	attend := func(t define.Tensors) define.Tensors {
		y, _ := multiHead(x, t, t, t, a[2], a[3:7], a[18])
		return x.Do("add.Tensor", src, y)
	}
	feed := func(t define.Tensors) define.Tensors {
		h := x.Do("linear", t, a[14], a[15])
		if a[7].Bool() {
			h = x.Do("gelu", h)
		} else {
			h = x.Do("relu", h)
		}
		return x.Do("linear", h, a[16], a[17])
	}
	var out define.Tensors
	if a[8].Bool() {
		between := attend(norm(src, 10))
		out = x.Do("add.Tensor", between, feed(norm(between, 12)))
	} else {
		between := norm(attend(src), 10)
		out = norm(x.Do("add.Tensor", between, feed(between)), 12)
	}
	return []value.Value{value.OfTensor(out)}
}

// encoderLayer runs a layer. That of a nested tensor is that of the padded one, with a mask over what lies behind the lengths.
func encoderLayer(c define.Call) *tensor.Tensor {
	src, mask, maskType := c.Tensor(0), c.OptionalTensor(18), c.IntOr(19, 2)
	checkMultiHead(src, src, src, c.Int(1), c.Int(2), c.Tensor(3), c.Tensor(4))
	args := append([]value.Value{}, c.Args...)
	lengths := src.Lengths()
	if lengths != nil {
		source.Check(mask == nil, "the mask of a nested tensor is its own: expected none, but got one of shape %s", define.OptionalShape(mask))
		mask, maskType = source.Must(paddingMask(lengths, src.Size(1)).ToDevice(src.Device())), maskOverKeys
		args[0] = value.OfTensor(src.Padded())
	}
	args[18] = completeMask(mask, maskType)
	run := define.PlainlyBeside(args)
	results := EncoderLayer(run, args)
	run.GiveUp(results)
	if lengths != nil {
		return results[0].Tensor().WithLengths(lengths)
	}
	return results[0].Tensor()
}

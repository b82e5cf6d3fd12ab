package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"math"

	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func checkAttention(q, k, v, mask *tensor.Tensor, causal bool) {
	check(q.Dim() >= 3 && k.Dim() >= 3 && v.Dim() >= 3, "_scaled_dot_product_attention: Expected query, key, and value to all be at least 3 dimensional, but got query: %dD, key: %dD, value: %dD instead.", q.Dim(), k.Dim(), v.Dim())
	check(!causal || mask == nil, "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
}

// attention gives softmax(q kᵀ / sqrt(d) + mask) v and the weights.
func attention(q, k, v, mask *tensor.Tensor, dropoutP float64, causal bool) (out, weights *tensor.Tensor) {
	n := q.Dim()
	checkAttention(q, k, v, mask, causal)
	if causal {
		mask = triangle(must(tensor.Full([]int{q.Size(n - 2), k.Size(n - 2)}, tensor.Int(1), tensor.Bool)), 0, false)
	}
	var made scratch
	defer made.release()
	scores := made.of(matmul(made.of(scaleBy(q, 1/math.Sqrt(float64(q.Size(n-1))))), made.of(must(k.Transpose(-2, -1)))))
	if mask != nil {
		if mask.DType() == tensor.Bool { // true: may attend
			scores = made.of(choose(made.of(must(mask.Expand(scores.Shape()...))), ofTensor(scores), ofScalar(tensor.Float(-inf))))
		} else {
			scores = made.of(add.on(scores, mask))
		}
	}
	weights = softmax(scores, -1)
	if dropoutP > 0 {
		dropped := dropout(weights, dropoutP, true)
		made.copied(weights, dropped) // without elements it is the same
		weights = dropped
	}
	return matmul(weights, v), weights
}

// multiHead is self attention with packed projections. A mask is true where it may not attend: of
// type 0 (time, time), of type 1 (batch, time) over keys, of type 2 already complete.
func multiHead(q, k, v *tensor.Tensor, embed, n int, qkvWeight, qkvBias, outWeight, outBias, mask *tensor.Tensor, maskType int) (out, weights *tensor.Tensor) {
	check(q.Dim() == 3, "expected 3-D `query`, got %d-D tensor", q.Dim())
	check(k.Dim() == 3, "expected 3-D `key`, got %d-D tensor", k.Dim())
	check(v.Dim() == 3, "expected 3-D `value`, got %d-D tensor", v.Dim())
	check(q.Size(2) == embed, "passed-in embed_dim %d didn't match last dim of query %d", embed, q.Size(2))
	check(qkvWeight.Dim() == 2 && qkvWeight.Size(0) == 3*embed, "expected `qkv_weight` first dim to be 3x embed_dim")
	check(qkvBias.Dim() == 1, "expected 1-D `qkv_bias`, got %d-D tensor", qkvBias.Dim())
	check(qkvBias.Size(0) == 3*embed, "expected `qkv_bias` first dim and first dim of query to be equal")
	check(n > 0, "`num_heads` must be positive, but got %d", n)
	check(embed%n == 0, "`embed_dim` must divide evenly by `num_heads`")
	var made scratch
	defer made.release()
	project := func(x *tensor.Tensor, i int) *tensor.Tensor {
		w := made.of(must(qkvWeight.Slice(0, i*embed, (i+1)*embed, 1)))
		b := made.of(must(qkvBias.Slice(0, i*embed, (i+1)*embed, 1)))
		rows := made.of(linear(x, w, b))
		split := made.of(must(rows.Reshape(rows.Size(0), rows.Size(1), n, embed/n)))
		return made.of(must(split.Transpose(1, 2)))
	}
	scores := made.of(matmul(made.of(scaleBy(project(q, 0), 1/math.Sqrt(float64(embed/n)))), made.of(must(project(k, 1).Transpose(-2, -1)))))
	if mask != nil {
		if maskType == maskOverKeys {
			mask = must(mask.View(mask.Size(0), 1, 1, mask.Size(1)))
		}
		scores = made.of(choose(must(to(mask, tensor.Bool).Expand(scores.Shape()...)), ofScalar(tensor.Float(-inf)), ofTensor(scores)))
	}
	weights = softmax(scores, -1)
	ofHeads := made.of(matmul(weights, project(v, 2)))
	inTime := made.of(must(ofHeads.Transpose(1, 2)))
	rows := made.of(must(inTime.Reshape(inTime.Size(0), inTime.Size(1), embed)))
	return linear(rows, outWeight, outBias), weights
}

func nativeMultiHead(c call) {
	out, weights := multiHead(c.tensor(0), c.tensor(1), c.tensor(2), c.int(3), c.int(4), c.tensor(5), c.tensor(6), c.tensor(7), c.tensor(8), c.optionalTensor(9), c.intOr(12, 2))
	switch {
	case !c.bool(10):
		weights = empty([]int{0}, out.DType())
	case c.bool(11):
		weights = mean(weights, []int{1}, false, weights.DType())
	}
	c.give(out, weights)
}

// encoderLayer is a whole transformer encoder layer in evaluation mode.
func encoderLayer(c call) *tensor.Tensor {
	src, embed, n := c.tensor(0), c.int(1), c.int(2)
	useGelu, normFirst, eps := c.bool(7), c.bool(8), c.float(9)
	norm := func(x *tensor.Tensor, i int) *tensor.Tensor {
		y, _, _ := layerNorm(x, []int{embed}, c.tensor(i), c.tensor(i+1), eps)
		return y
	}
	mask, maskType := c.optionalTensor(18), c.intOr(19, 2)
	if lengths := src.Lengths(); lengths != nil {
		check(mask == nil, "the mask of a nested tensor is its own: expected none, but got one of shape %s", optionalShape(mask))
		mask, maskType = paddingMask(lengths, src.Size(1)), maskOverKeys
	}
	attend := func(x *tensor.Tensor) *tensor.Tensor {
		y, _ := multiHead(x, x, x, embed, n, c.tensor(3), c.tensor(4), c.tensor(5), c.tensor(6), mask, maskType)
		return y
	}
	feed := func(x *tensor.Tensor) *tensor.Tensor {
		h := linear(x, c.tensor(14), c.tensor(15))
		if useGelu {
			h = gelu.on(h)
		} else {
			h = relu.on(h)
		}
		return linear(h, c.tensor(16), c.tensor(17))
	}
	var out *tensor.Tensor
	if normFirst {
		x := add.on(src, attend(norm(src, 10)))
		out = add.on(x, feed(norm(x, 12)))
	} else {
		x := norm(add.on(src, attend(src)), 10)
		out = norm(add.on(x, feed(x)), 12)
	}
	if lengths := src.Lengths(); lengths != nil {
		return out.WithLengths(lengths)
	}
	return out
}

// maskOverKeys is the mask type that tells for each batch which keys are padding.
const maskOverKeys = 1

// paddingMask is true behind each length.
func paddingMask(lengths []int, longest int) *tensor.Tensor {
	mask := zeros([]int{len(lengths), longest}, tensor.Bool)
	for i, n := range lengths {
		tensor.Fill(must(must(mask.Select(0, i)).Slice(0, n, longest, 1)), tensor.Boolean(true))
	}
	return mask
}

// leftAligned returns how many elements of each row of a mask are true, and whether they all come first.
func leftAligned(mask *tensor.Tensor) (lengths []int, ok bool) {
	check(mask.DType() == tensor.Bool && mask.Dim() == 2, "Expected a 2-dimensional mask of type bool, but got %s of shape %s", mask.DType(), shapeText(mask.Shape()))
	rows, columns := mask.Size(0), mask.Size(1)
	data := tensor.Data[bool](contiguous(mask))
	ok = true
	for i := range rows {
		n := 0
		for j, v := range data[i*columns : (i+1)*columns] {
			if v {
				ok = ok && j == n
				n++
			}
		}
		lengths = append(lengths, n)
	}
	return lengths, ok
}

// raggedFromMask keeps the leading elements of each sequence that a mask marks.
func raggedFromMask(c call) *tensor.Tensor {
	t, mask := c.tensor(0), c.tensor(1)
	check(t.Dim() == 3, "Input tensor should be a 3 dimensional tensor, N * L * D")
	check(tensor.SameShape(mask.Shape(), t.Shape()[:2]), "Mask has to be 2 dimensional with the size of the input's first two dimensions, but got %s", shapeText(mask.Shape()))
	lengths, ok := leftAligned(mask)
	check(ok || !c.bool(2), "Mask must be left-aligned without gaps")
	return t.WithLengths(lengths)
}

// paddedFromRagged fills what lies behind each sequence with one number.
func paddedFromRagged(c call) *tensor.Tensor {
	t, fill := c.tensor(0), c.float(1)
	lengths := t.Lengths()
	check(lengths != nil, "to_padded_tensor expects a nested tensor")
	size := []int{len(lengths), 0, t.Size(2)}
	for _, n := range lengths {
		size[1] = max(size[1], n)
	}
	if !c.isNone(2) {
		size = c.ints(2)
		check(len(size) == 3 && size[0] == len(lengths) && size[2] == t.Size(2), "Length of output_size does not match NestedTensor dims: got %s", shapeText(size))
	}
	out := must(tensor.Full(size, tensor.Float(fill), t.DType()))
	for i, n := range lengths {
		check(n <= size[1], "Value in output_size is less than NestedTensor padded size. Truncation is not supported.")
		succeed(tensor.Copy(must(must(out.Select(0, i)).Slice(0, 0, n, 1)), must(must(t.Select(0, i)).Slice(0, 0, n, 1))))
	}
	return out
}

var attentionFamily = []definition{
	sameAs("_scaled_dot_product_attention_forward", "_scaled_dot_product_attention"),
	sameAs("_scaled_dot_product_attention_math", "_scaled_dot_product_attention"),
	define("_scaled_dot_product_attention", func(c call) {
		out, weights := attention(c.tensor(0), c.tensor(1), c.tensor(2), c.optionalTensor(3), c.float(4), c.bool(6))
		c.give(out, weights)
	}).with(ops.Def{Decomp: composeAttention}).checked(func(c call) {
		checkAttention(c.tensor(0), c.tensor(1), c.tensor(2), c.optionalTensor(3), c.bool(6))
	}),
	define("_native_multi_head_attention", nativeMultiHead),
	giving("_transformer_encoder_layer_fwd", encoderLayer),
	giving("_nested_tensor_from_mask", raggedFromMask),
	giving("to_padded_tensor", paddedFromRagged),
	answering("_nested_tensor_from_mask_left_aligned", func(c call) value.Value {
		_, ok := leftAligned(c.tensor(1))
		return value.Bool(ok)
	}),
}

package nn

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/random"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

func checkAttention(q, k, v, mask *tensor.Tensor, causal bool) {
	source.Check(q.Dim() >= 3 && k.Dim() >= 3 && v.Dim() >= 3, "_scaled_dot_product_attention: Expected query, key, and value to all be at least 3 dimensional, but got query: %dD, key: %dD, value: %dD instead.", q.Dim(), k.Dim(), v.Dim())
	source.Check(!causal || mask == nil, "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True")
}

// attention gives softmax(q kᵀ / sqrt(d) + mask) v and the weights.
func attention(q, k, v, mask *tensor.Tensor, dropoutP float64, causal bool) (out, weights *tensor.Tensor) {
	n := q.Dim()
	checkAttention(q, k, v, mask, causal)
	if causal {
		mask = views.Triangle(source.Must(tensor.Full([]int{q.Size(n - 2), k.Size(n - 2)}, tensor.Int(1), tensor.Bool)), 0, false)
	}
	var made define.Scratch
	defer made.Release()
	scores := made.Of(linalg.Matmul(made.Of(elementwise.ScaleBy(q, 1/math.Sqrt(float64(q.Size(n-1))))), made.Of(source.Must(k.Transpose(-2, -1)))))
	if mask != nil {
		if mask.DType() == tensor.Bool { // true: may attend
			scores = made.Of(elementwise.Choose(made.Of(source.Must(mask.Expand(scores.Shape()...))), elementwise.OfTensor(scores), elementwise.OfScalar(tensor.Float(-elementwise.Inf))))
		} else {
			scores = made.Of(elementwise.Add.On(scores, mask))
		}
	}
	weights = reduce.Softmax(scores, -1)
	if dropoutP > 0 {
		dropped := random.Dropout(weights, dropoutP, true)
		made.Copied(weights, dropped) // without elements it is the same
		weights = dropped
	}
	return linalg.Matmul(weights, v), weights
}

// multiHead is self attention with packed projections. A mask is true where it may not attend: of
// type 0 (time, time), of type 1 (batch, time) over keys, of type 2 already complete.
func multiHead(q, k, v *tensor.Tensor, embed, n int, qkvWeight, qkvBias, outWeight, outBias, mask *tensor.Tensor, maskType int) (out, weights *tensor.Tensor) {
	source.Check(q.Dim() == 3, "expected 3-D `query`, got %d-D tensor", q.Dim())
	source.Check(k.Dim() == 3, "expected 3-D `key`, got %d-D tensor", k.Dim())
	source.Check(v.Dim() == 3, "expected 3-D `value`, got %d-D tensor", v.Dim())
	source.Check(q.Size(2) == embed, "passed-in embed_dim %d didn't match last dim of query %d", embed, q.Size(2))
	source.Check(qkvWeight.Dim() == 2 && qkvWeight.Size(0) == 3*embed, "expected `qkv_weight` first dim to be 3x embed_dim")
	source.Check(qkvBias.Dim() == 1, "expected 1-D `qkv_bias`, got %d-D tensor", qkvBias.Dim())
	source.Check(qkvBias.Size(0) == 3*embed, "expected `qkv_bias` first dim and first dim of query to be equal")
	source.Check(n > 0, "`num_heads` must be positive, but got %d", n)
	source.Check(embed%n == 0, "`embed_dim` must divide evenly by `num_heads`")
	var made define.Scratch
	defer made.Release()
	project := func(x *tensor.Tensor, i int) *tensor.Tensor {
		w := made.Of(source.Must(qkvWeight.Slice(0, i*embed, (i+1)*embed, 1)))
		b := made.Of(source.Must(qkvBias.Slice(0, i*embed, (i+1)*embed, 1)))
		rows := made.Of(linalg.Linear(x, w, b))
		split := made.Of(source.Must(rows.Reshape(rows.Size(0), rows.Size(1), n, embed/n)))
		return made.Of(source.Must(split.Transpose(1, 2)))
	}
	scores := made.Of(linalg.Matmul(made.Of(elementwise.ScaleBy(project(q, 0), 1/math.Sqrt(float64(embed/n)))), made.Of(source.Must(project(k, 1).Transpose(-2, -1)))))
	if mask != nil {
		if maskType == maskOverKeys {
			mask = source.Must(mask.View(mask.Size(0), 1, 1, mask.Size(1)))
		}
		scores = made.Of(elementwise.Choose(source.Must(elementwise.To(mask, tensor.Bool).Expand(scores.Shape()...)), elementwise.OfScalar(tensor.Float(-elementwise.Inf)), elementwise.OfTensor(scores)))
	}
	weights = reduce.Softmax(scores, -1)
	ofHeads := made.Of(linalg.Matmul(weights, project(v, 2)))
	inTime := made.Of(source.Must(ofHeads.Transpose(1, 2)))
	rows := made.Of(source.Must(inTime.Reshape(inTime.Size(0), inTime.Size(1), embed)))
	return linalg.Linear(rows, outWeight, outBias), weights
}

func nativeMultiHead(c define.Call) {
	out, weights := multiHead(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.Int(3), c.Int(4), c.Tensor(5), c.Tensor(6), c.Tensor(7), c.Tensor(8), c.OptionalTensor(9), c.IntOr(12, 2))
	switch {
	case !c.Bool(10):
		weights = define.Empty([]int{0}, out.DType())
	case c.Bool(11):
		weights = reduce.Mean(weights, []int{1}, false, weights.DType())
	}
	c.Give(out, weights)
}

// encoderLayer is a whole transformer encoder layer in evaluation mode.
func encoderLayer(c define.Call) *tensor.Tensor {
	src, embed, n := c.Tensor(0), c.Int(1), c.Int(2)
	useGelu, normFirst, eps := c.Bool(7), c.Bool(8), c.Float(9)
	norm := func(x *tensor.Tensor, i int) *tensor.Tensor {
		y, _, _ := layerNorm(x, []int{embed}, c.Tensor(i), c.Tensor(i+1), eps)
		return y
	}
	mask, maskType := c.OptionalTensor(18), c.IntOr(19, 2)
	if lengths := src.Lengths(); lengths != nil {
		source.Check(mask == nil, "the mask of a nested tensor is its own: expected none, but got one of shape %s", define.OptionalShape(mask))
		mask, maskType = paddingMask(lengths, src.Size(1)), maskOverKeys
	}
	attend := func(x *tensor.Tensor) *tensor.Tensor {
		y, _ := multiHead(x, x, x, embed, n, c.Tensor(3), c.Tensor(4), c.Tensor(5), c.Tensor(6), mask, maskType)
		return y
	}
	feed := func(x *tensor.Tensor) *tensor.Tensor {
		h := linalg.Linear(x, c.Tensor(14), c.Tensor(15))
		if useGelu {
			h = gelu.On(h)
		} else {
			h = elementwise.Relu.On(h)
		}
		return linalg.Linear(h, c.Tensor(16), c.Tensor(17))
	}
	var out *tensor.Tensor
	if normFirst {
		x := elementwise.Add.On(src, attend(norm(src, 10)))
		out = elementwise.Add.On(x, feed(norm(x, 12)))
	} else {
		x := norm(elementwise.Add.On(src, attend(src)), 10)
		out = norm(elementwise.Add.On(x, feed(x)), 12)
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
	mask := define.Zeros([]int{len(lengths), longest}, tensor.Bool)
	for i, n := range lengths {
		tensor.Fill(source.Must(source.Must(mask.Select(0, i)).Slice(0, n, longest, 1)), tensor.Boolean(true))
	}
	return mask
}

// leftAligned returns how many elements of each row of a mask are true, and whether they all come first.
func leftAligned(mask *tensor.Tensor) (lengths []int, ok bool) {
	source.Check(mask.DType() == tensor.Bool && mask.Dim() == 2, "Expected a 2-dimensional mask of type bool, but got %s of shape %s", mask.DType(), define.ShapeText(mask.Shape()))
	rows, columns := mask.Size(0), mask.Size(1)
	data := tensor.Data[bool](elementwise.Contiguous(mask))
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
func raggedFromMask(c define.Call) *tensor.Tensor {
	t, mask := c.Tensor(0), c.Tensor(1)
	source.Check(t.Dim() == 3, "Input tensor should be a 3 dimensional tensor, N * L * D")
	source.Check(tensor.SameShape(mask.Shape(), t.Shape()[:2]), "Mask has to be 2 dimensional with the size of the input's first two dimensions, but got %s", define.ShapeText(mask.Shape()))
	lengths, ok := leftAligned(mask)
	source.Check(ok || !c.Bool(2), "Mask must be left-aligned without gaps")
	return t.WithLengths(lengths)
}

// paddedFromRagged fills what lies behind each sequence with one number.
func paddedFromRagged(c define.Call) *tensor.Tensor {
	t, fill := c.Tensor(0), c.Float(1)
	lengths := t.Lengths()
	source.Check(lengths != nil, "to_padded_tensor expects a nested tensor")
	size := []int{len(lengths), 0, t.Size(2)}
	for _, n := range lengths {
		size[1] = max(size[1], n)
	}
	if !c.IsNone(2) {
		size = c.Ints(2)
		source.Check(len(size) == 3 && size[0] == len(lengths) && size[2] == t.Size(2), "Length of output_size does not match NestedTensor dims: got %s", define.ShapeText(size))
	}
	out := source.Must(tensor.Full(size, tensor.Float(fill), t.DType()))
	for i, n := range lengths {
		source.Check(n <= size[1], "Value in output_size is less than NestedTensor padded size. Truncation is not supported.")
		source.Throw(tensor.Copy(source.Must(source.Must(out.Select(0, i)).Slice(0, 0, n, 1)), source.Must(source.Must(t.Select(0, i)).Slice(0, 0, n, 1))))
	}
	return out
}

var AttentionFamily = []define.Definition{
	define.SameAs("_scaled_dot_product_attention_forward", "_scaled_dot_product_attention"),
	define.SameAs("_scaled_dot_product_attention_math", "_scaled_dot_product_attention"),
	define.Operator("_scaled_dot_product_attention", func(c define.Call) {
		out, weights := attention(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.OptionalTensor(3), c.Float(4), c.Bool(6))
		c.Give(out, weights)
	}).With(ops.Def{Decomp: composeAttention}).Checked(func(c define.Call) {
		checkAttention(c.Tensor(0), c.Tensor(1), c.Tensor(2), c.OptionalTensor(3), c.Bool(6))
	}),
	define.Operator("_native_multi_head_attention", nativeMultiHead),
	define.Giving("_transformer_encoder_layer_fwd", encoderLayer),
	define.Giving("_nested_tensor_from_mask", raggedFromMask),
	define.Giving("to_padded_tensor", paddedFromRagged),
	views.Answering("_nested_tensor_from_mask_left_aligned", func(c define.Call) value.Value {
		_, ok := leftAligned(c.Tensor(1))
		return value.Bool(ok)
	}),
}

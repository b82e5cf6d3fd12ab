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
		mask = views.Triangle(source.Must(tensor.Full([]int{q.Size(n - 2), k.Size(k.Dim() - 2)}, tensor.Int(1), tensor.Bool)), 0, false)
	}
	var made define.Scratch
	defer made.Release()
	scores := made.Of(linalg.Matmul(made.Of(elementwise.ScaleBy(q, 1/math.Sqrt(float64(q.Size(n-1))))), made.Of(source.Must(k.Transpose(-2, -1)))))
	if mask != nil {
		elementwise.CheckBroadcastsTo(scores, mask)
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
	data := tensor.Data[bool](elementwise.Contiguous(source.Must(mask.ToDevice(tensor.Device{}))))
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
	out := define.FullBeside(t, size, tensor.Float(fill), t.DType())
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
	define.Decomposed("scaled_dot_product_attention", define.Composing(composeScaledAttention)).
		OfSchema("aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor # plan=attending").
		With(ops.Def{Decomp: define.Composing(composeScaledAttention), Tags: ops.AnySizes, Sample: "(x.view(1, 2, 3), x.view(1, 2, 3), x.view(1, 2, 3))", Doc: "Values weighed by the softmax of the scaled products of queries and keys."}),
	define.Operator("_native_multi_head_attention", nativeMultiHead),
	define.Giving("_transformer_encoder_layer_fwd", encoderLayer),
	define.Giving("_nested_tensor_from_mask", raggedFromMask),
	define.Giving("to_padded_tensor", paddedFromRagged),
	views.Answering("_nested_tensor_from_mask_left_aligned", func(c define.Call) value.Value {
		_, ok := leftAligned(c.Tensor(1))
		return value.Bool(ok)
	}),
}

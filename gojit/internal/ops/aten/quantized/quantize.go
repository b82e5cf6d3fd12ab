// Package quantized has the operators on integers with a scale, and how other operators take these.
package quantized

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// packedLinear is what quantized::linear_prepack makes: the weight of a linear layer in the form
// that the quantized products use.
type packedLinear struct {
	weight  *tensor.Tensor // quantized, or float16 for the half-precision form
	bias    *tensor.Tensor // nil: none
	half    bool
	product *byteProduct // nil for the half-precision form
}

// State is what archives hold of the packed form: weight and bias.
func (p *packedLinear) State() value.Value {
	bias := value.None
	if p.bias != nil {
		bias = value.OfTensor(p.bias)
	}
	return value.OfTuple(value.NewTuple(value.OfTensor(p.weight), bias))
}

// PackedLinearKind is the class of the packed form, without the namespace of classes.
const PackedLinearKind = "quantized.LinearPackedParamsBase"

// packed returns the packed form in argument i: one made here, or the state that an archive holds
// of one, which is weight and bias.
func packed(c define.Call, i int) *packedLinear {
	if c.Args[i].Kind() == value.KindCapsule && c.Args[i].Capsule().Kind == PackedLinearKind {
		if p, _ := c.Args[i].Capsule().Prepared(packedOfState).(*packedLinear); p != nil {
			return p
		}
	}
	source.Raise(source.RuntimeError, "Expected a value of type '__torch__.torch.classes.%s' but found type '%s'", PackedLinearKind, c.Args[i].Kind())
	return nil
}

// packedOfState returns what a packed form's content is or says.
func packedOfState(content any) any {
	state, ok := content.(value.Value)
	if !ok {
		return content
	}
	if state.Kind() != value.KindTuple || len(state.Tuple().Items) != 2 {
		return nil
	}
	items := define.Call{Args: state.Tuple().Items}
	return newPacked(items.Tensor(0), items.OptionalTensor(1), items.Tensor(0).DType() == tensor.Float16)
}

// newPacked checks the parts of a packed form.
func newPacked(w, b *tensor.Tensor, half bool) *packedLinear {
	source.Check(w.Dim() == 2, "The weight tensor for quantized::linear_prepack should be 2-dimensional.")
	if half {
		w = elementwise.To(w, tensor.Float16)
	} else {
		source.Check(w.DType() == tensor.QInt8, "quantized::linear_prepack expects a weight of type QInt8, but got %s", w.DType().CppName())
	}
	source.Check(b == nil || b.Dim() == 1 && b.Size(0) == w.Size(0), "bias should be a vector (1D Tensor) of the number of outputs %d, but got shape %s", w.Size(0), define.OptionalShape(b))
	if half {
		return &packedLinear{weight: w, bias: b, half: true}
	}
	return &packedLinear{weight: w, bias: b, product: &byteProduct{weight: w, bias: b}}
}

func packLinear(c define.Call, half bool) value.Value {
	p := newPacked(c.Tensor(0), c.OptionalTensor(1), half)
	return value.OfCapsule(&value.Capsule{Kind: PackedLinearKind, Native: true, Content: p})
}

func unpackLinear(c define.Call) {
	p := packed(c, 0)
	w := p.weight
	if p.half {
		w = elementwise.To(w, tensor.Float32)
	}
	c.Give(w, p.bias)
}

// dequantizedParts gives the numbers of a quantized tensor, and of those in a list or a tuple; anything else is given as it is.
func dequantizedParts(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindTensor:
		return value.OfTensor(elementwise.Dequantized(v.Tensor()))
	case value.KindTuple:
		items := slices.Clone(v.Tuple().Items)
		for i, item := range items {
			items[i] = dequantizedParts(item)
		}
		return value.OfTuple(value.NewTuple(items...))
	case value.KindList:
		items := slices.Clone(v.List().Items)
		for i, item := range items {
			items[i] = dequantizedParts(item)
		}
		return value.OfList(value.NewList(v.List().Elem, items...))
	}
	return v
}

// dynamicQuantizer chooses scale and zero point for the range of a tensor's elements.
func dynamicQuantizer(x *tensor.Tensor, reduceRange bool) *tensor.Quantizer {
	source.Check(x.DType() == tensor.Float32, "Quantize only works on Float Tensor, got %s", x.DType().CppName())
	low, high := float32(0), float32(0)
	if x.Numel() > 0 {
		low, high = min(low, rangeEnd(x, true)), max(high, rangeEnd(x, false))
	}
	source.Check(low <= high, "In ChooseQuantizationParams, min should be less than or equal to max")
	top := 255.0
	if reduceRange {
		top = 127
	}
	scale := (float64(high) - float64(low)) / top
	if float32(scale) == 0 || math.IsInf(1/float64(float32(scale)), 0) {
		scale = 0.1
	}
	const smallest = float32(6.1e-5)
	if scale < float64(smallest) { // the range grows to what the smallest scale covers
		growth := float32(float64(smallest) / scale)
		scale = float64(smallest)
		low, high = low*growth, high*growth
	}
	zero := -float64(low) / scale
	if math.Abs(float64(low)/scale) >= top+math.Abs(float64(high)/scale) {
		zero = top - float64(high)/scale
	}
	return &tensor.Quantizer{Scale: scale, ZeroPoint: int64(math.RoundToEven(min(max(zero, 0), top)))}
}

// rangeEnd returns the smallest or largest element.
func rangeEnd(x *tensor.Tensor, smallest bool) float32 {
	end := reduce.Extreme("aminmax", x, nil, false, smallest)
	defer end.Release()
	return tensor.Data[float32](end)[0]
}

// dynamicLinear quantizes its input on the way, to 7 bits where the range is reduced. That is meant for
// products whose instructions saturate; these do not, but the numbers are PyTorch's.
func dynamicLinear(c define.Call) *tensor.Tensor {
	return dynamicProduct("quantized::linear_dynamic", c.Tensor(0), packed(c, 1), c.Bool(2))
}

func dynamicProduct(name string, x *tensor.Tensor, p *packedLinear, reduceRange bool) *tensor.Tensor {
	source.Check(x.DType() == tensor.Float32, "%s expects a float input, but got %s", name, x.DType().CppName())
	source.Check(x.Dim() > 0 && x.Size(x.Dim()-1) == p.weight.Size(1), "The size of input tensor at the last dimension (%s) must be equal to K (%d)", define.ShapeText(x.Shape()), p.weight.Size(1))
	source.Check(!p.half, "%s expects packed weights of type qint8, but got float16", name)
	return p.dynamicRows(x, dynamicQuantizer(x, reduceRange))
}

func halfLinear(c define.Call) *tensor.Tensor {
	p := packed(c, 1)
	return linalg.Linear(c.Tensor(0), elementwise.To(p.weight, tensor.Float32), p.bias)
}

// staticLinear takes and gives quantized tensors.
func staticLinear(name string, rectified bool) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		x, p := c.Tensor(0), packed(c, 1)
		source.Check(x.Dim() > 0 && x.Size(x.Dim()-1) == p.weight.Size(1), "%s: the size of the input's last dimension must be %d, but got input of size %s", name, p.weight.Size(1), define.ShapeText(x.Shape()))
		source.Check(!p.half, "%s expects packed weights of type qint8, but got float16", name)
		return p.staticRows(name, x, outputQuantizer(c, 2), rectified)
	})
}

// outputQuantizer reads scale and zero point from argument i on.
func outputQuantizer(c define.Call, i int) *tensor.Quantizer {
	return &tensor.Quantizer{Scale: c.Float(i), ZeroPoint: int64(c.Int(i + 1))}
}

// channelQuantizer reads scales, zero points and the dimension of the channels of the first argument from argument i on. Zero points of floats
// lie between integers.
func channelQuantizer(c define.Call, i int) *tensor.Quantizer {
	if c.Tensor(i + 1).DType().IsFloating() {
		return &tensor.Quantizer{Scales: slices.Clone(tensor.Data[float64](elementwise.Contiguous(elementwise.To(c.Tensor(i), tensor.Float64)))),
			FloatZeros: slices.Clone(tensor.Data[float32](elementwise.Contiguous(elementwise.To(c.Tensor(i+1), tensor.Float32)))), Axis: define.WrapDim(c.Int(i+2), c.Tensor(0))}
	}
	return &tensor.Quantizer{Scales: slices.Clone(tensor.Data[float64](elementwise.Contiguous(elementwise.To(c.Tensor(i), tensor.Float64)))),
		ZeroPoints: slices.Clone(tensor.Data[int64](elementwise.Contiguous(elementwise.To(c.Tensor(i+1), tensor.Int64)))), Axis: define.WrapDim(c.Int(i+2), c.Tensor(0))}
}

func oneScaleOf(t *tensor.Tensor) *tensor.Quantizer {
	q := elementwise.QuantizerOf(t)
	source.Check(!q.PerChannel(), "Expected quantizer->qscheme() == kPerTensorAffine to be true, but got false.")
	return q
}

func channelQuantizerOf(t *tensor.Tensor) *tensor.Quantizer {
	q := elementwise.QuantizerOf(t)
	source.Check(q.PerChannel(), "Expected quantizer->qscheme() == kPerChannelAffine to be true, but got false.")
	return q
}

var QuantizeFamily = slices.Concat([]define.Definition{
	define.Giving("quantize_per_tensor", func(c define.Call) *tensor.Tensor {
		return elementwise.Quantized(c.Tensor(0), &tensor.Quantizer{Scale: c.Float(1), ZeroPoint: int64(c.Int(2))}, c.DtypeOr(3, tensor.QUInt8))
	}),
	define.Giving("quantize_per_tensor.tensor_qparams", func(c define.Call) *tensor.Tensor {
		return elementwise.Quantized(c.Tensor(0), &tensor.Quantizer{Scale: c.Float(1), ZeroPoint: int64(c.Int(2))}, c.DtypeOr(3, tensor.QUInt8))
	}),
	define.Giving("quantize_per_channel", func(c define.Call) *tensor.Tensor {
		return elementwise.Quantized(c.Tensor(0), channelQuantizer(c, 1), c.DtypeOr(4, tensor.QInt8))
	}),
	define.Giving("quantize_per_tensor_dynamic", func(c define.Call) *tensor.Tensor {
		if d := c.DtypeOr(1, tensor.QUInt8); d == tensor.Float16 {
			return elementwise.To(c.Tensor(0), d) // halves have no scale
		}
		return elementwise.Quantized(c.Tensor(0), dynamicQuantizer(c.Tensor(0), c.Bool(2)), c.DtypeOr(1, tensor.QUInt8))
	}),
	define.Giving("_make_per_tensor_quantized_tensor", func(c define.Call) *tensor.Tensor {
		return elementwise.UnderQuantizer(source.Must(c.Tensor(0).Clone(tensor.ContiguousFormat)), &tensor.Quantizer{Scale: c.Float(1), ZeroPoint: int64(c.Int(2))})
	}),
	define.Giving("_make_per_channel_quantized_tensor", func(c define.Call) *tensor.Tensor {
		return elementwise.UnderQuantizer(source.Must(c.Tensor(0).Clone(tensor.ContiguousFormat)), channelQuantizer(c, 1))
	}),
	define.Giving("dequantize.self", func(c define.Call) *tensor.Tensor { return elementwise.Dequantized(c.Tensor(0)) }).With(ops.Def{Reads: ops.ReadsNothing, Grad: define.PassedOn, Tags: ops.AsWritten}),
	define.Giving("dequantize.tensor", func(c define.Call) *tensor.Tensor { return elementwise.Dequantized(c.Tensor(0)) }),
	define.Operator("dequantize.tensors", func(c define.Call) {
		ts := c.Tensors(0)
		for i, t := range ts {
			ts[i] = elementwise.Dequantized(t)
		}
		c.GiveList(ts)
	}),
	views.Answering("dequantize.any", func(c define.Call) value.Value { return dequantizedParts(c.Args[0]) }),
	define.Operator("_choose_qparams_per_tensor", func(c define.Call) {
		q := dynamicQuantizer(c.Tensor(0), c.Bool(1))
		c.Out[0], c.Out[1] = value.Float(q.Scale), value.Int(q.ZeroPoint)
	}),
	define.Giving("_saturate_weight_to_fp16", func(c define.Call) *tensor.Tensor {
		const largest = 65504.0
		var out [1]value.Value
		source.Throw(ops.Find("aten::clamp").Run([]value.Value{c.Args[0], value.Float(-largest), value.Float(largest)}, out[:]))
		return out[0].Tensor()
	}),
	define.Giving("int_repr", func(c define.Call) *tensor.Tensor {
		view := c.Tensor(0).IntegersView()
		defer view.Release()
		return source.Must(view.Clone(c.Tensor(0).SuggestedFormat()))
	}),
	views.Answering("q_scale", func(c define.Call) value.Value { return value.Float(oneScaleOf(c.Tensor(0)).Scale) }),
	views.Answering("q_zero_point", func(c define.Call) value.Value { return value.Int(oneScaleOf(c.Tensor(0)).ZeroPoint) }),
	define.Giving("q_per_channel_scales", func(c define.Call) *tensor.Tensor {
		scales, _, err := channelQuantizerOf(c.Tensor(0)).ChannelTensors()
		return source.Must(scales, err)
	}),
	define.Giving("q_per_channel_zero_points", func(c define.Call) *tensor.Tensor {
		_, zeros, err := channelQuantizerOf(c.Tensor(0)).ChannelTensors()
		return source.Must(zeros, err)
	}),
	views.Answering("q_per_channel_axis", func(c define.Call) value.Value { return value.Int(int64(channelQuantizerOf(c.Tensor(0)).Axis)) }),
	views.Answering("quantized::linear_prepack", func(c define.Call) value.Value { return packLinear(c, false) }),
	views.Answering("quantized::linear_prepack_fp16", func(c define.Call) value.Value { return packLinear(c, true) }),
	define.Operator("quantized::linear_unpack", unpackLinear),
	define.Operator("quantized::linear_unpack_fp16", unpackLinear),
	define.Giving("quantized::linear_dynamic", dynamicLinear),
	define.Giving("quantized::linear_relu_dynamic", func(c define.Call) *tensor.Tensor { return elementwise.Relu.On(dynamicLinear(c)) }),
	define.Giving("quantized::linear_dynamic_fp16", halfLinear),
	define.Giving("quantized::linear_relu_dynamic_fp16", func(c define.Call) *tensor.Tensor { return elementwise.Relu.On(halfLinear(c)) }),
	staticLinear("quantized::linear", false),
	staticLinear("quantized::linear_relu", true),
}, quantizedConvFamily, conv.PrepackedFamily, quantizedArithmeticFamily, quantizedRecurrentFamily, quantizedFormFamily, quantizedEmbeddingFamily)

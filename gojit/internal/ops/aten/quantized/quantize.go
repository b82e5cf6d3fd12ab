package aten

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"
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

// packedLinearKind is the class of the packed form, without the namespace of classes.
const packedLinearKind = "quantized.LinearPackedParamsBase"

// packed returns the packed form in argument i: one made here, or the state that an archive holds
// of one, which is weight and bias.
func packed(c call, i int) *packedLinear {
	if c.args[i].Kind() == value.KindCapsule && c.args[i].Capsule().Kind == packedLinearKind {
		if p, _ := c.args[i].Capsule().Prepared(packedOfState).(*packedLinear); p != nil {
			return p
		}
	}
	raise(source.RuntimeError, "Expected a value of type '__torch__.torch.classes.%s' but found type '%s'", packedLinearKind, c.args[i].Kind())
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
	items := call{args: state.Tuple().Items}
	return newPacked(items.tensor(0), items.optionalTensor(1), items.tensor(0).DType() == tensor.Float16)
}

// newPacked checks the parts of a packed form.
func newPacked(w, b *tensor.Tensor, half bool) *packedLinear {
	check(w.Dim() == 2, "The weight tensor for quantized::linear_prepack should be 2-dimensional.")
	if half {
		w = to(w, tensor.Float16)
	} else {
		check(w.DType() == tensor.QInt8, "quantized::linear_prepack expects a weight of type QInt8, but got %s", w.DType().CppName())
	}
	check(b == nil || b.Dim() == 1 && b.Size(0) == w.Size(0), "bias should be a vector (1D Tensor) of the number of outputs %d, but got shape %s", w.Size(0), optionalShape(b))
	if half {
		return &packedLinear{weight: w, bias: b, half: true}
	}
	return &packedLinear{weight: w, bias: b, product: &byteProduct{weight: w, bias: b}}
}

func packLinear(c call, half bool) value.Value {
	p := newPacked(c.tensor(0), c.optionalTensor(1), half)
	return value.OfCapsule(&value.Capsule{Kind: packedLinearKind, Native: true, Content: p})
}

func unpackLinear(c call) {
	p := packed(c, 0)
	w := p.weight
	if p.half {
		w = to(w, tensor.Float32)
	}
	c.give(w, p.bias)
}

// dequantizedParts gives the numbers of a quantized tensor, and of those in a list or a tuple; anything else is given as it is.
func dequantizedParts(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindTensor:
		return value.OfTensor(dequantized(v.Tensor()))
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
	check(x.DType() == tensor.Float32, "Quantize only works on Float Tensor, got %s", x.DType().CppName())
	low, high := float32(0), float32(0)
	if x.Numel() > 0 {
		low, high = min(low, rangeEnd(x, true)), max(high, rangeEnd(x, false))
	}
	check(low <= high, "In ChooseQuantizationParams, min should be less than or equal to max")
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
	end := extreme("aminmax", x, nil, false, smallest)
	defer end.Release()
	return tensor.Data[float32](end)[0]
}

// dynamicLinear quantizes its input on the way, to 7 bits where the range is reduced. That is meant for
// products whose instructions saturate; these do not, but the numbers are PyTorch's.
func dynamicLinear(c call) *tensor.Tensor {
	return dynamicProduct("quantized::linear_dynamic", c.tensor(0), packed(c, 1), c.bool(2))
}

func dynamicProduct(name string, x *tensor.Tensor, p *packedLinear, reduceRange bool) *tensor.Tensor {
	check(x.DType() == tensor.Float32, "%s expects a float input, but got %s", name, x.DType().CppName())
	check(x.Dim() > 0 && x.Size(x.Dim()-1) == p.weight.Size(1), "The size of input tensor at the last dimension (%s) must be equal to K (%d)", shapeText(x.Shape()), p.weight.Size(1))
	check(!p.half, "%s expects packed weights of type qint8, but got float16", name)
	return p.dynamicRows(x, dynamicQuantizer(x, reduceRange))
}

func halfLinear(c call) *tensor.Tensor {
	p := packed(c, 1)
	return linear(c.tensor(0), to(p.weight, tensor.Float32), p.bias)
}

// staticLinear takes and gives quantized tensors.
func staticLinear(name string, rectified bool) definition {
	return giving(name, func(c call) *tensor.Tensor {
		x, p := c.tensor(0), packed(c, 1)
		check(x.Dim() > 0 && x.Size(x.Dim()-1) == p.weight.Size(1), "%s: the size of the input's last dimension must be %d, but got input of size %s", name, p.weight.Size(1), shapeText(x.Shape()))
		check(!p.half, "%s expects packed weights of type qint8, but got float16", name)
		return p.staticRows(name, x, outputQuantizer(c, 2), rectified)
	})
}

// outputQuantizer reads scale and zero point from argument i on.
func outputQuantizer(c call, i int) *tensor.Quantizer {
	return &tensor.Quantizer{Scale: c.float(i), ZeroPoint: int64(c.int(i + 1))}
}

// channelQuantizer reads scales, zero points and the dimension of the channels of the first argument from argument i on. Zero points of floats
// lie between integers.
func channelQuantizer(c call, i int) *tensor.Quantizer {
	if c.tensor(i + 1).DType().IsFloating() {
		return &tensor.Quantizer{Scales: slices.Clone(tensor.Data[float64](contiguous(to(c.tensor(i), tensor.Float64)))),
			FloatZeros: slices.Clone(tensor.Data[float32](contiguous(to(c.tensor(i+1), tensor.Float32)))), Axis: wrapDim(c.int(i+2), c.tensor(0))}
	}
	return &tensor.Quantizer{Scales: slices.Clone(tensor.Data[float64](contiguous(to(c.tensor(i), tensor.Float64)))),
		ZeroPoints: slices.Clone(tensor.Data[int64](contiguous(to(c.tensor(i+1), tensor.Int64)))), Axis: wrapDim(c.int(i+2), c.tensor(0))}
}

func quantizerOf(t *tensor.Tensor) *tensor.Quantizer {
	q := t.Quantizer()
	check(q != nil, "Expected a quantized tensor, but got %s", t.DType().CppName())
	return q
}

func channelQuantizerOf(t *tensor.Tensor) *tensor.Quantizer {
	q := quantizerOf(t)
	check(q.PerChannel(), "Expected quantizer->qscheme() == kPerChannelAffine to be true, but got false.")
	return q
}

var quantizeFamily = slices.Concat([]definition{
	giving("quantize_per_tensor", func(c call) *tensor.Tensor {
		return quantized(c.tensor(0), &tensor.Quantizer{Scale: c.float(1), ZeroPoint: int64(c.int(2))}, c.dtypeOr(3, tensor.QUInt8))
	}),
	giving("quantize_per_tensor.tensor_qparams", func(c call) *tensor.Tensor {
		return quantized(c.tensor(0), &tensor.Quantizer{Scale: c.float(1), ZeroPoint: int64(c.int(2))}, c.dtypeOr(3, tensor.QUInt8))
	}),
	giving("quantize_per_channel", func(c call) *tensor.Tensor {
		return quantized(c.tensor(0), channelQuantizer(c, 1), c.dtypeOr(4, tensor.QInt8))
	}),
	giving("quantize_per_tensor_dynamic", func(c call) *tensor.Tensor {
		if d := c.dtypeOr(1, tensor.QUInt8); d == tensor.Float16 {
			return to(c.tensor(0), d) // halves have no scale
		}
		return quantized(c.tensor(0), dynamicQuantizer(c.tensor(0), c.bool(2)), c.dtypeOr(1, tensor.QUInt8))
	}),
	giving("_make_per_tensor_quantized_tensor", func(c call) *tensor.Tensor {
		return underQuantizer(must(c.tensor(0).Clone(tensor.ContiguousFormat)), &tensor.Quantizer{Scale: c.float(1), ZeroPoint: int64(c.int(2))})
	}),
	giving("_make_per_channel_quantized_tensor", func(c call) *tensor.Tensor {
		return underQuantizer(must(c.tensor(0).Clone(tensor.ContiguousFormat)), channelQuantizer(c, 1))
	}),
	giving("dequantize.self", func(c call) *tensor.Tensor { return dequantized(c.tensor(0)) }).with(ops.Def{Reads: ops.ReadsNothing, Grad: passedOn, Tags: ops.AsWritten}),
	giving("dequantize.tensor", func(c call) *tensor.Tensor { return dequantized(c.tensor(0)) }),
	define("dequantize.tensors", func(c call) {
		ts := c.tensors(0)
		for i, t := range ts {
			ts[i] = dequantized(t)
		}
		c.giveList(ts)
	}),
	answering("dequantize.any", func(c call) value.Value { return dequantizedParts(c.args[0]) }),
	define("_choose_qparams_per_tensor", func(c call) {
		q := dynamicQuantizer(c.tensor(0), c.bool(1))
		c.out[0], c.out[1] = value.Float(q.Scale), value.Int(q.ZeroPoint)
	}),
	giving("_saturate_weight_to_fp16", func(c call) *tensor.Tensor {
		const largest = 65504.0
		var out [1]value.Value
		succeed(ops.Find("aten::clamp").Run([]value.Value{c.args[0], value.Float(-largest), value.Float(largest)}, out[:]))
		return out[0].Tensor()
	}),
	giving("int_repr", func(c call) *tensor.Tensor {
		view := c.tensor(0).IntegersView()
		defer view.Release()
		return must(view.Clone(suggestedFormat(c.tensor(0))))
	}),
	answering("q_scale", func(c call) value.Value { return value.Float(quantizerOf(c.tensor(0)).Scale) }),
	answering("q_zero_point", func(c call) value.Value { return value.Int(quantizerOf(c.tensor(0)).ZeroPoint) }),
	giving("q_per_channel_scales", func(c call) *tensor.Tensor {
		scales, _, err := channelQuantizerOf(c.tensor(0)).ChannelTensors()
		return must(scales, err)
	}),
	giving("q_per_channel_zero_points", func(c call) *tensor.Tensor {
		_, zeros, err := channelQuantizerOf(c.tensor(0)).ChannelTensors()
		return must(zeros, err)
	}),
	answering("q_per_channel_axis", func(c call) value.Value { return value.Int(int64(channelQuantizerOf(c.tensor(0)).Axis)) }),
	answering("quantized::linear_prepack", func(c call) value.Value { return packLinear(c, false) }),
	answering("quantized::linear_prepack_fp16", func(c call) value.Value { return packLinear(c, true) }),
	define("quantized::linear_unpack", unpackLinear),
	define("quantized::linear_unpack_fp16", unpackLinear),
	giving("quantized::linear_dynamic", dynamicLinear),
	giving("quantized::linear_relu_dynamic", func(c call) *tensor.Tensor { return relu.on(dynamicLinear(c)) }),
	giving("quantized::linear_dynamic_fp16", halfLinear),
	giving("quantized::linear_relu_dynamic_fp16", func(c call) *tensor.Tensor { return relu.on(halfLinear(c)) }),
	staticLinear("quantized::linear", false),
	staticLinear("quantized::linear_relu", true),
}, quantizedConvFamily, prepackedFamily, quantizedArithmeticFamily, quantizedRecurrentFamily, quantizedFormFamily, quantizedEmbeddingFamily)

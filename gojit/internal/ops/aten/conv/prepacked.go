package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// The operators prepacked::* are layers of models for mobile devices: a weight with all that a layer is told besides, and what limits its
// results. The packed form is an object of a class of the namespace xnnpack, whose state archives hold.

// prepackedKind is a kind of such a layer.
type prepackedKind struct {
	class      string // of the packed form, without the namespace of classes
	parts      int    // of the state: the arguments of the operator that packs; the last two are the limits
	dims       int    // of the weight
	convolves  bool
	transposes bool
}

var (
	prepackedLinear     = prepackedKind{class: "xnnpack.LinearOpContext", parts: 4, dims: 2}
	prepackedConv       = prepackedKind{class: "xnnpack.Conv2dOpContext", parts: 8, dims: 4, convolves: true}
	prepackedTransposed = prepackedKind{class: "xnnpack.TransposeConv2dOpContext", parts: 9, dims: 4, convolves: true, transposes: true}
)

// pack makes the packed form of the arguments of a call.
func (k *prepackedKind) pack(c call) value.Value {
	weight, bias := c.tensor(0), c.optionalTensor(1)
	layer := "Linear"
	if k.convolves {
		layer = "Convolution"
	}
	ok := weight.Dim() == k.dims && weight.DType() == tensor.Float32
	if ok && bias != nil {
		ok = bias.Dim() == 1 && bias.DType() == tensor.Float32
	}
	if low, high := c.args[k.parts-2], c.args[k.parts-1]; ok && !low.IsNone() && !high.IsNone() {
		ok = scalarOf(low).Float64() < scalarOf(high).Float64()
	}
	check(ok, "XNNPACK %s not available! Reason: The provided (weight, bias, output_min, output_max) parameters are either invalid individually or their combination is not supported by XNNPACK.", layer)
	return k.ofState(value.OfTuple(value.NewTuple(append([]value.Value(nil), c.args[:k.parts]...)...)))
}

func (k *prepackedKind) ofState(state value.Value) value.Value {
	return value.OfCapsule(&value.Capsule{Kind: k.class, Native: true, Content: state})
}

// state returns the parts of the packed form in argument i.
func (k *prepackedKind) state(c call, i int) call {
	if v := c.args[i]; v.Kind() == value.KindCapsule && v.Capsule().Kind == k.class {
		if state, ok := v.Capsule().Content.(value.Value); ok && state.Kind() == value.KindTuple && len(state.Tuple().Items) == k.parts {
			return call{args: state.Tuple().Items}
		}
	}
	raise(source.RuntimeError, "Expected a value of type '__torch__.torch.classes.%s' but found type '%s'", k.class, value.TypeOf(c.args[i]))
	return call{}
}

// run applies the layer to a tensor.
func (k *prepackedKind) run(c call) *tensor.Tensor {
	x, s := c.tensor(0), k.state(c, 1)
	weight, bias := s.tensor(0), s.optionalTensor(1)
	var out *tensor.Tensor
	switch {
	case !k.convolves:
		check(x.Dim() >= 1 && x.DType() == tensor.Float32 && x.Size(x.Dim()-1) == weight.Size(1), "XNNPACK Linear not usable! Reason: The provided input tensor is either invalid or unsupported by XNNPACK.")
		out = linear(x, weight, bias)
	default:
		check(x.Dim() == 4, "required rank 4 tensor to use channels_last format")
		channels := weight.Size(1) * s.int(k.parts-3)
		if k.transposes {
			channels = weight.Size(0)
		}
		check(x.DType() == tensor.Float32 && x.Size(1) == channels, "XNNPACK Convolution not usable! Reason: The provided input tensor is either invalid or unsupported by XNNPACK.")
		out = convolution(x, weight, bias, k.geometry(s))
	}
	low, high := s.args[k.parts-2], s.args[k.parts-1]
	if low.IsNone() && high.IsNone() {
		return out
	}
	return clamp(call{args: []value.Value{value.OfTensor(out), low, high}}, nil)
}

func (k *prepackedKind) geometry(s call) convArgs {
	a := convArgs{n: 2, stride: s.intsOf(2, 2, "stride"), padding: s.intsOf(3, 2, "padding"), groups: s.int(k.parts - 3), transposed: k.transposes}
	at := 4
	if k.transposes {
		a.outputPadding = s.intsOf(at, 2, "output_padding")
		at++
	}
	a.dilation = s.intsOf(at, 2, "dilation")
	return a
}

// sizes tells the sizes of weight and bias, and how a convolution was made.
func (k *prepackedKind) sizes(c call) value.Value {
	s := k.state(c, 0)
	items := []value.Value{value.OfList(value.Ints(s.tensor(0).Shape())), value.None}
	if bias := s.optionalTensor(1); bias != nil {
		items[1] = value.OfList(value.Ints(bias.Shape()))
	}
	return value.OfTuple(value.NewTuple(append(items, s.args[2:k.parts-2]...)...))
}

var prepackedFamily = []definition{
	answering("prepacked::linear_clamp_prepack", prepackedLinear.pack),
	giving("prepacked::linear_clamp_run", prepackedLinear.run),
	answering("prepacked::conv2d_clamp_prepack", prepackedConv.pack),
	giving("prepacked::conv2d_clamp_run", prepackedConv.run),
	answering("prepacked::conv2d_transpose_clamp_prepack", prepackedTransposed.pack),
	giving("prepacked::conv2d_transpose_clamp_run", prepackedTransposed.run),
	answering("prepacked::unpack_prepacked_sizes_linear", prepackedLinear.sizes),
	answering("prepacked::unpack_prepacked_sizes_conv2d", prepackedConv.sizes),
}

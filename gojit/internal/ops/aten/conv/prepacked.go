package conv

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
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
func (k *prepackedKind) pack(c define.Call) value.Value {
	weight, bias := c.Tensor(0), c.OptionalTensor(1)
	layer := "Linear"
	if k.convolves {
		layer = "Convolution"
	}
	ok := weight.Dim() == k.dims && weight.DType() == tensor.Float32
	if ok && bias != nil {
		ok = bias.Dim() == 1 && bias.DType() == tensor.Float32
	}
	if low, high := c.Args[k.parts-2], c.Args[k.parts-1]; ok && !low.IsNone() && !high.IsNone() {
		ok = define.ScalarOf(low).Float64() < define.ScalarOf(high).Float64()
	}
	source.Check(ok, "XNNPACK %s not available! Reason: The provided (weight, bias, output_min, output_max) parameters are either invalid individually or their combination is not supported by XNNPACK.", layer)
	return k.ofState(value.OfTuple(value.NewTuple(append([]value.Value(nil), c.Args[:k.parts]...)...)))
}

func (k *prepackedKind) ofState(state value.Value) value.Value {
	return value.OfCapsule(&value.Capsule{Kind: k.class, Native: true, Content: state})
}

// state returns the parts of the packed form in argument i.
func (k *prepackedKind) state(c define.Call, i int) define.Call {
	if v := c.Args[i]; v.Kind() == value.KindCapsule && v.Capsule().Kind == k.class {
		if state, ok := v.Capsule().Content.(value.Value); ok && state.Kind() == value.KindTuple && len(state.Tuple().Items) == k.parts {
			return define.Call{Args: state.Tuple().Items}
		}
	}
	source.Raise(source.RuntimeError, "Expected a value of type '__torch__.torch.classes.%s' but found type '%s'", k.class, value.TypeOf(c.Args[i]))
	return define.Call{}
}

// run applies the layer to a tensor.
func (k *prepackedKind) run(c define.Call) *tensor.Tensor {
	x, s := c.Tensor(0), k.state(c, 1)
	weight, bias := s.Tensor(0), s.OptionalTensor(1)
	var out *tensor.Tensor
	switch {
	case !k.convolves:
		source.Check(x.Dim() >= 1 && x.DType() == tensor.Float32 && x.Size(x.Dim()-1) == weight.Size(1), "XNNPACK Linear not usable! Reason: The provided input tensor is either invalid or unsupported by XNNPACK.")
		out = linalg.Linear(x, weight, bias)
	default:
		source.Check(x.Dim() == 4, "required rank 4 tensor to use channels_last format")
		channels := weight.Size(1) * s.Int(k.parts-3)
		if k.transposes {
			channels = weight.Size(0)
		}
		source.Check(x.DType() == tensor.Float32 && x.Size(1) == channels, "XNNPACK Convolution not usable! Reason: The provided input tensor is either invalid or unsupported by XNNPACK.")
		out = Convolution(x, weight, bias, k.geometry(s))
	}
	low, high := s.Args[k.parts-2], s.Args[k.parts-1]
	if low.IsNone() && high.IsNone() {
		return out
	}
	return elementwise.Clamp(define.Call{Args: []value.Value{value.OfTensor(out), low, high}}, nil)
}

func (k *prepackedKind) geometry(s define.Call) ConvArgs {
	a := ConvArgs{N: 2, Stride: s.IntsOf(2, 2, "stride"), Padding: s.IntsOf(3, 2, "padding"), Groups: s.Int(k.parts - 3), Transposed: k.transposes}
	at := 4
	if k.transposes {
		a.OutputPadding = s.IntsOf(at, 2, "output_padding")
		at++
	}
	a.Dilation = s.IntsOf(at, 2, "dilation")
	return a
}

// sizes tells the sizes of weight and bias, and how a convolution was made.
func (k *prepackedKind) sizes(c define.Call) value.Value {
	s := k.state(c, 0)
	items := []value.Value{value.OfList(value.Ints(s.Tensor(0).Shape())), value.None}
	if bias := s.OptionalTensor(1); bias != nil {
		items[1] = value.OfList(value.Ints(bias.Shape()))
	}
	return value.OfTuple(value.NewTuple(append(items, s.Args[2:k.parts-2]...)...))
}

var PrepackedFamily = []define.Definition{
	views.Answering("prepacked::linear_clamp_prepack", prepackedLinear.pack),
	define.Giving("prepacked::linear_clamp_run", prepackedLinear.run),
	views.Answering("prepacked::conv2d_clamp_prepack", prepackedConv.pack),
	define.Giving("prepacked::conv2d_clamp_run", prepackedConv.run),
	views.Answering("prepacked::conv2d_transpose_clamp_prepack", prepackedTransposed.pack),
	define.Giving("prepacked::conv2d_transpose_clamp_run", prepackedTransposed.run),
	views.Answering("prepacked::unpack_prepacked_sizes_linear", prepackedLinear.sizes),
	views.Answering("prepacked::unpack_prepacked_sizes_conv2d", prepackedConv.sizes),
}

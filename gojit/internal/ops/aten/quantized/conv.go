package aten

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// packedConv is what the prepack operators make: the weight of a convolution with its geometry.
type packedConv struct {
	weight  *tensor.Tensor
	bias    *tensor.Tensor // nil: none
	args    convArgs
	product *byteProduct
}

// packedConvKind is the class of the packed form over n dimensions, without the namespace of
// classes. The form over one dimension is that over two, the first of size 1.
func packedConvKind(n int) string { return fmt.Sprintf("quantized.Conv%ddPackedParamsBase", n) }

// packedConvVersion begins the state of a packed convolution in archives.
const packedConvVersion = "2"

// newPackedConv checks the parts of a packed convolution.
func newPackedConv(weight, bias *tensor.Tensor, a convArgs) *packedConv {
	check(weight.Dim() == a.n+2, "Weights are expected to have %d dimensions", a.n+2)
	check(weight.DType() == tensor.QInt8, "quantized::conv%dd_prepack expects a weight of type QInt8, but got %s", a.n, weight.DType().CppName())
	q := quantizerOf(weight)
	outputs := weight.Size(0)
	if a.transposed {
		check(!q.PerChannel(), "Per channel quantization is not supported for the weights of transposed convolutions")
		outputs = weight.Size(1) * a.groups
	}
	check(!q.PerChannel() || q.Axis == 0, "only per output channel quantization is supported for the weights")
	check(bias == nil || bias.Dim() == 1 && bias.Size(0) == outputs, "bias should be a vector (1D Tensor) with %d elements, but got shape %s", outputs, optionalShape(bias))
	for i := range a.n {
		check(a.stride[i] > 0 && a.dilation[i] > 0 && a.padding[i] >= 0, "stride and dilation of a packed convolution should be positive and padding not negative")
	}
	check(a.groups > 0, "groups should be positive, but got %d", a.groups)
	return &packedConv{weight, bias, a, &byteProduct{weight: weight, bias: bias}}
}

// State is what archives hold of a packed convolution: a version, the geometry as a row of 16-bit
// integers with the weight, and the bias.
func (p *packedConv) State() value.Value {
	row := []int16{int16(p.args.n)}
	transposed := 0
	if p.args.transposed {
		transposed = 1
	}
	for _, xs := range [][]int{p.args.stride, p.args.padding, p.args.dilation, p.args.outputPaddings(), {p.args.groups, transposed}} {
		for _, x := range xs {
			row = append(row, int16(x))
		}
	}
	bias := value.None
	if p.bias != nil {
		bias = value.OfTensor(p.bias)
	}
	return value.OfTuple(value.NewTuple(value.Str(packedConvVersion),
		value.OfList(value.Tensors([]*tensor.Tensor{must(tensor.FromSlice(row, len(row))), p.weight})),
		value.OfList(value.NewList(types.NewOptional(types.Tensor), bias))))
}

// outputPaddings are those of each dimension, zero where the convolution is not transposed.
func (a *convArgs) outputPaddings() []int {
	if a.outputPadding == nil {
		return make([]int, a.n)
	}
	return a.outputPadding
}

// packedConvOf reads the state that an archive holds.
func packedConvOf(state value.Value, n int) (p *packedConv, ok bool) {
	if state.Kind() != value.KindTuple || len(state.Tuple().Items) != 3 {
		return nil, false
	}
	items := state.Tuple().Items
	if items[0].Kind() != value.KindString || items[0].Str() != packedConvVersion || items[1].Kind() != value.KindList || items[2].Kind() != value.KindList {
		return nil, false
	}
	tensors, biases := call{args: items[1].List().Items}, call{args: items[2].List().Items}
	if len(tensors.args) != 2 || len(biases.args) != 1 {
		return nil, false
	}
	row := tensor.Data[int64](contiguous(to(tensors.tensor(0), tensor.Int64)))
	if len(row) != 4*n+3 || row[0] != int64(n) {
		return nil, false
	}
	parts := make([][]int, 4)
	for i, x := range row[1 : 4*n+1] {
		parts[i/n] = append(parts[i/n], int(x))
	}
	a := convArgs{n: n, stride: parts[0], padding: parts[1], dilation: parts[2], outputPadding: parts[3], groups: int(row[4*n+1]), transposed: row[4*n+2] != 0}
	return newPackedConv(tensors.tensor(1), biases.optionalTensor(0), a), true
}

// packedConvIn returns the packed convolution over n dimensions in argument i: one made here, or
// the state that an archive holds of one.
func packedConvIn(c call, i, n int) *packedConv {
	if c.args[i].Kind() == value.KindCapsule && c.args[i].Capsule().Kind == packedConvKind(n) {
		made := c.args[i].Capsule().Prepared(func(content any) any {
			state, ok := content.(value.Value)
			if !ok {
				return content
			}
			if p, ok := packedConvOf(state, n); ok {
				return p
			}
			return nil
		})
		if p, _ := made.(*packedConv); p != nil {
			return p
		}
	}
	raise(source.RuntimeError, "Expected a value of type '__torch__.torch.classes.%s' but found type '%s'", packedConvKind(n), c.args[i].Kind())
	return nil
}

// prepackConv defines the operator that packs a convolution over n dimensions.
func prepackConv(n int) definition {
	return answering(fmt.Sprintf("quantized::conv%dd_prepack", n), func(c call) value.Value {
		weight := c.tensor(0)
		a := convArgs{n: n, stride: c.intsOf(2, n, "stride"), padding: c.intsOf(3, n, "padding"), dilation: c.intsOf(4, n, "dilation"), groups: c.int(5)}
		if n == 1 {
			check(weight.Dim() == 3, "Weights are expected to have 3 dimensions")
			weight = asPlane(weight)
			a.n, a.stride, a.padding, a.dilation = 2, slices.Insert(a.stride, 0, 1), slices.Insert(a.padding, 0, 0), slices.Insert(a.dilation, 0, 1)
		}
		return value.OfCapsule(&value.Capsule{Kind: packedConvKind(a.n), Native: true, Content: newPackedConv(weight, c.optionalTensor(1), a)})
	})
}

// prepackTransposed defines the operator that packs a transposed convolution over n dimensions.
func prepackTransposed(n int) definition {
	return answering(fmt.Sprintf("quantized::conv_transpose%dd_prepack", n), func(c call) value.Value {
		weight := c.tensor(0)
		a := convArgs{n: n, stride: c.intsOf(2, n, "stride"), padding: c.intsOf(3, n, "padding"), outputPadding: c.intsOf(4, n, "output_padding"),
			dilation: c.intsOf(5, n, "dilation"), groups: c.int(6), transposed: true}
		if n == 1 {
			check(weight.Dim() == 3, "Weights are expected to have 3 dimensions")
			weight = asPlane(weight)
			a.n, a.stride, a.padding, a.dilation = 2, slices.Insert(a.stride, 0, 1), slices.Insert(a.padding, 0, 0), slices.Insert(a.dilation, 0, 1)
			a.outputPadding = slices.Insert(a.outputPadding, 0, 0)
		}
		return value.OfCapsule(&value.Capsule{Kind: packedConvKind(a.n), Native: true, Content: newPackedConv(weight, c.optionalTensor(1), a)})
	})
}

// asPlane gives a row with channels a first dimension of size 1.
func asPlane(t *tensor.Tensor) *tensor.Tensor { return must(t.Unsqueeze(2)) }

// unpackConv defines the operator that gives weight and bias back.
func unpackConv(prefix string, n int) definition {
	return define(fmt.Sprintf("quantized::%s%dd_unpack", prefix, n), func(c call) {
		p := packedConvIn(c, 0, max(n, 2))
		w := p.weight
		if n == 1 {
			w = must(w.SqueezeDim(2))
		}
		c.give(w, p.bias)
	})
}

// staticConv defines a convolution that takes and gives quantized tensors.
func staticConv(name string, n int, rectified bool) definition {
	return giving(name, func(c call) *tensor.Tensor {
		x, p := c.tensor(0), packedConvIn(c, 1, max(n, 2))
		check(x.Dim() == n+2, "%s(): Expected activation tensor to have %d dimensions, but got %d", name, n+2, x.Dim())
		if n == 1 {
			x = asPlane(x)
		}
		var out *tensor.Tensor
		if p.args.transposed {
			out = p.transposed(name, x, outputQuantizer(c, 2))
		} else {
			out = p.static(name, x, outputQuantizer(c, 2), rectified)
		}
		if n == 1 {
			out = must(out.SqueezeDim(2))
		}
		return out
	})
}

// convGeometry defines the operators that tell how a packed convolution over n dimensions was made.
func convGeometry(prefix string, n int) []definition {
	ints := func(name string, f func(a *convArgs) []int) definition {
		return answering(fmt.Sprintf("quantized::%s%dd_%s", prefix, n, name), func(c call) value.Value {
			return value.OfList(value.Ints(f(&packedConvIn(c, 0, n).args)))
		})
	}
	return []definition{
		ints("stride", func(a *convArgs) []int { return a.stride }),
		ints("padding", func(a *convArgs) []int { return a.padding }),
		ints("output_padding", func(a *convArgs) []int { return a.outputPaddings() }),
		ints("dilation", func(a *convArgs) []int { return a.dilation }),
		answering(fmt.Sprintf("quantized::%s%dd_groups", prefix, n), func(c call) value.Value {
			return value.Int(int64(packedConvIn(c, 0, n).args.groups))
		}),
		answering(fmt.Sprintf("quantized::%s%dd_transpose", prefix, n), func(c call) value.Value {
			if packedConvIn(c, 0, n).args.transposed {
				return value.Int(1)
			}
			return value.Int(0)
		}),
	}
}

var quantizedConvFamily = slices.Concat([]definition{
	prepackConv(1), prepackConv(2), prepackConv(3),
	unpackConv("conv", 1), unpackConv("conv", 2), unpackConv("conv", 3),
	prepackTransposed(1), prepackTransposed(2), prepackTransposed(3),
	unpackConv("conv_transpose", 1), unpackConv("conv_transpose", 2), unpackConv("conv_transpose", 3),
	staticConv("quantized::conv_transpose1d", 1, false), staticConv("quantized::conv_transpose2d", 2, false),
	staticConv("quantized::conv_transpose3d", 3, false),
	staticConv("quantized::conv1d", 1, false), staticConv("quantized::conv1d_relu", 1, true),
	staticConv("quantized::conv2d.new", 2, false), staticConv("quantized::conv2d_relu.new", 2, true),
	staticConv("quantized::conv3d.new", 3, false), staticConv("quantized::conv3d_relu.new", 3, true),
}, convGeometry("conv", 2), convGeometry("conv", 3), convGeometry("conv_transpose", 2), convGeometry("conv_transpose", 3))

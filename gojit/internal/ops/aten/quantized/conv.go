package quantized

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// PackedConv is what the prepack operators make: the weight of a convolution with its geometry.
type PackedConv struct {
	weight  *tensor.Tensor
	bias    *tensor.Tensor // nil: none
	args    conv.ConvArgs
	product *byteProduct
}

// PackedConvKind is the class of the packed form over n dimensions, without the namespace of
// classes. The form over one dimension is that over two, the first of size 1.
func PackedConvKind(n int) string { return fmt.Sprintf("quantized.Conv%ddPackedParamsBase", n) }

// packedConvVersion begins the state of a packed convolution in archives.
const packedConvVersion = "2"

// newPackedConv checks the parts of a packed convolution.
func newPackedConv(weight, bias *tensor.Tensor, a conv.ConvArgs) *PackedConv {
	source.Check(weight.Dim() == a.N+2, "Weights are expected to have %d dimensions", a.N+2)
	source.Check(weight.DType() == tensor.QInt8, "quantized::conv%dd_prepack expects a weight of type QInt8, but got %s", a.N, weight.DType().CppName())
	q := elementwise.QuantizerOf(weight)
	outputs := weight.Size(0)
	if a.Transposed {
		source.Check(!q.PerChannel(), "Per channel quantization is not supported for the weights of transposed convolutions")
		outputs = weight.Size(1) * a.Groups
	}
	source.Check(!q.PerChannel() || q.Axis == 0, "only per output channel quantization is supported for the weights")
	source.Check(bias == nil || bias.Dim() == 1 && bias.Size(0) == outputs, "bias should be a vector (1D Tensor) with %d elements, but got shape %s", outputs, define.OptionalShape(bias))
	for i := range a.N {
		source.Check(a.Stride[i] > 0 && a.Dilation[i] > 0 && a.Padding[i] >= 0, "stride and dilation of a packed convolution should be positive and padding not negative")
	}
	source.Check(a.Groups > 0, "groups should be positive, but got %d", a.Groups)
	return &PackedConv{weight, bias, a, &byteProduct{weight: weight, bias: bias}}
}

// State is what archives hold of a packed convolution: a version, the geometry as a row of 16-bit
// integers with the weight, and the bias.
func (p *PackedConv) State() value.Value {
	row := []int16{int16(p.args.N)}
	transposed := 0
	if p.args.Transposed {
		transposed = 1
	}
	for _, xs := range [][]int{p.args.Stride, p.args.Padding, p.args.Dilation, outputPaddings(&p.args), {p.args.Groups, transposed}} {
		for _, x := range xs {
			row = append(row, int16(x))
		}
	}
	bias := value.None
	if p.bias != nil {
		bias = value.OfTensor(p.bias)
	}
	return value.OfTuple(value.NewTuple(value.Str(packedConvVersion),
		value.OfList(value.Tensors([]*tensor.Tensor{source.Must(tensor.FromSlice(row, len(row))), p.weight})),
		value.OfList(value.NewList(types.NewOptional(types.Tensor), bias))))
}

// outputPaddings are those of each dimension, zero where the convolution is not transposed.
func outputPaddings(a *conv.ConvArgs) []int {
	if a.OutputPadding == nil {
		return make([]int, a.N)
	}
	return a.OutputPadding
}

// packedConvOf reads the state that an archive holds.
func packedConvOf(state value.Value, n int) (p *PackedConv, ok bool) {
	if state.Kind() != value.KindTuple || len(state.Tuple().Items) != 3 {
		return nil, false
	}
	items := state.Tuple().Items
	if items[0].Kind() != value.KindString || items[0].Str() != packedConvVersion || items[1].Kind() != value.KindList || items[2].Kind() != value.KindList {
		return nil, false
	}
	tensors, biases := define.Call{Args: items[1].List().Items}, define.Call{Args: items[2].List().Items}
	if len(tensors.Args) != 2 || len(biases.Args) != 1 {
		return nil, false
	}
	row := tensor.Data[int64](elementwise.Contiguous(elementwise.To(tensors.Tensor(0), tensor.Int64)))
	if len(row) != 4*n+3 || row[0] != int64(n) {
		return nil, false
	}
	parts := make([][]int, 4)
	for i, x := range row[1 : 4*n+1] {
		parts[i/n] = append(parts[i/n], int(x))
	}
	a := conv.ConvArgs{N: n, Stride: parts[0], Padding: parts[1], Dilation: parts[2], OutputPadding: parts[3], Groups: int(row[4*n+1]), Transposed: row[4*n+2] != 0}
	return newPackedConv(tensors.Tensor(1), biases.OptionalTensor(0), a), true
}

// packedConvIn returns the packed convolution over n dimensions in argument i: one made here, or
// the state that an archive holds of one.
func packedConvIn(c define.Call, i, n int) *PackedConv {
	if c.Args[i].Kind() == value.KindCapsule && c.Args[i].Capsule().Kind == PackedConvKind(n) {
		made := c.Args[i].Capsule().Prepared(func(content any) any {
			state, ok := content.(value.Value)
			if !ok {
				return content
			}
			if p, ok := packedConvOf(state, n); ok {
				return p
			}
			return nil
		})
		if p, _ := made.(*PackedConv); p != nil {
			return p
		}
	}
	source.Raise(source.RuntimeError, "Expected a value of type '__torch__.torch.classes.%s' but found type '%s'", PackedConvKind(n), c.Args[i].Kind())
	return nil
}

// prepackConv defines the operator that packs a convolution over n dimensions.
func prepackConv(n int) define.Definition {
	return views.Answering(fmt.Sprintf("quantized::conv%dd_prepack", n), func(c define.Call) value.Value {
		weight := c.Tensor(0)
		a := conv.ConvArgs{N: n, Stride: c.IntsOf(2, n, "stride"), Padding: c.IntsOf(3, n, "padding"), Dilation: c.IntsOf(4, n, "dilation"), Groups: c.Int(5)}
		if n == 1 {
			source.Check(weight.Dim() == 3, "Weights are expected to have 3 dimensions")
			weight = asPlane(weight)
			a.N, a.Stride, a.Padding, a.Dilation = 2, slices.Insert(a.Stride, 0, 1), slices.Insert(a.Padding, 0, 0), slices.Insert(a.Dilation, 0, 1)
		}
		return value.OfCapsule(&value.Capsule{Kind: PackedConvKind(a.N), Native: true, Content: newPackedConv(weight, c.OptionalTensor(1), a)})
	})
}

// prepackTransposed defines the operator that packs a transposed convolution over n dimensions.
func prepackTransposed(n int) define.Definition {
	return views.Answering(fmt.Sprintf("quantized::conv_transpose%dd_prepack", n), func(c define.Call) value.Value {
		weight := c.Tensor(0)
		a := conv.ConvArgs{N: n, Stride: c.IntsOf(2, n, "stride"), Padding: c.IntsOf(3, n, "padding"), OutputPadding: c.IntsOf(4, n, "output_padding"),
			Dilation: c.IntsOf(5, n, "dilation"), Groups: c.Int(6), Transposed: true}
		if n == 1 {
			source.Check(weight.Dim() == 3, "Weights are expected to have 3 dimensions")
			weight = asPlane(weight)
			a.N, a.Stride, a.Padding, a.Dilation = 2, slices.Insert(a.Stride, 0, 1), slices.Insert(a.Padding, 0, 0), slices.Insert(a.Dilation, 0, 1)
			a.OutputPadding = slices.Insert(a.OutputPadding, 0, 0)
		}
		return value.OfCapsule(&value.Capsule{Kind: PackedConvKind(a.N), Native: true, Content: newPackedConv(weight, c.OptionalTensor(1), a)})
	})
}

// asPlane gives a row with channels a first dimension of size 1.
func asPlane(t *tensor.Tensor) *tensor.Tensor { return source.Must(t.Unsqueeze(2)) }

// unpackConv defines the operator that gives weight and bias back.
func unpackConv(prefix string, n int) define.Definition {
	return define.Operator(fmt.Sprintf("quantized::%s%dd_unpack", prefix, n), func(c define.Call) {
		p := packedConvIn(c, 0, max(n, 2))
		w := p.weight
		if n == 1 {
			w = source.Must(w.SqueezeDim(2))
		}
		c.Give(w, p.bias)
	})
}

// staticConv defines a convolution that takes and gives quantized tensors.
func staticConv(name string, n int, rectified bool) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		x, p := c.Tensor(0), packedConvIn(c, 1, max(n, 2))
		source.Check(x.Dim() == n+2, "%s(): Expected activation tensor to have %d dimensions, but got %d", name, n+2, x.Dim())
		return p.run(name, n, x, outputQuantizer(c, 2), rectified)
	})
}

// run convolves a quantized image over n dimensions. One dimension is a plane of one row.
func (p *PackedConv) run(name string, n int, x *tensor.Tensor, q *tensor.Quantizer, rectified bool) *tensor.Tensor {
	if n == 1 {
		x = asPlane(x)
	}
	var out *tensor.Tensor
	if p.args.Transposed {
		out = p.transposed(name, x, q)
	} else {
		out = p.static(name, x, q, rectified)
	}
	if n == 1 {
		out = source.Must(out.SqueezeDim(2))
	}
	return out
}

// convGeometry defines the operators that tell how a packed convolution over n dimensions was made.
func convGeometry(prefix string, n int) []define.Definition {
	ints := func(name string, f func(a *conv.ConvArgs) []int) define.Definition {
		return views.Answering(fmt.Sprintf("quantized::%s%dd_%s", prefix, n, name), func(c define.Call) value.Value {
			return value.OfList(value.Ints(f(&packedConvIn(c, 0, n).args)))
		})
	}
	return []define.Definition{
		ints("stride", func(a *conv.ConvArgs) []int { return a.Stride }),
		ints("padding", func(a *conv.ConvArgs) []int { return a.Padding }),
		ints("output_padding", func(a *conv.ConvArgs) []int { return outputPaddings(a) }),
		ints("dilation", func(a *conv.ConvArgs) []int { return a.Dilation }),
		views.Answering(fmt.Sprintf("quantized::%s%dd_groups", prefix, n), func(c define.Call) value.Value {
			return value.Int(int64(packedConvIn(c, 0, n).args.Groups))
		}),
		views.Answering(fmt.Sprintf("quantized::%s%dd_transpose", prefix, n), func(c define.Call) value.Value {
			if packedConvIn(c, 0, n).args.Transposed {
				return value.Int(1)
			}
			return value.Int(0)
		}),
	}
}

var quantizedConvFamily = slices.Concat([]define.Definition{
	prepackConv(1), prepackConv(2), prepackConv(3),
	unpackConv("conv", 1), unpackConv("conv", 2), unpackConv("conv", 3),
	prepackTransposed(1), prepackTransposed(2), prepackTransposed(3),
	unpackConv("conv_transpose", 1), unpackConv("conv_transpose", 2), unpackConv("conv_transpose", 3),
	staticConv("quantized::conv_transpose1d", 1, false), staticConv("quantized::conv_transpose2d", 2, false),
	staticConv("quantized::conv_transpose3d", 3, false),
	staticConv("quantized::conv1d", 1, false), staticConv("quantized::conv1d_relu", 1, true),
	staticConv("quantized::conv2d.new", 2, false), staticConv("quantized::conv2d_relu.new", 2, true),
	staticConv("quantized::conv3d.new", 3, false), staticConv("quantized::conv3d_relu.new", 3, true),
	dynamicConv("quantized::conv1d_dynamic", 1), dynamicConv("quantized::conv2d_dynamic", 2), dynamicConv("quantized::conv3d_dynamic", 3),
	dynamicConv("quantized::conv_transpose1d_dynamic", 1), dynamicConv("quantized::conv_transpose2d_dynamic", 2),
	dynamicConv("quantized::conv_transpose3d_dynamic", 3),
}, convGeometry("conv", 2), convGeometry("conv", 3), convGeometry("conv_transpose", 2), convGeometry("conv_transpose", 3))

// transposed convolves a quantized image with a transposed convolution: in float64, where the sums are exact.
func (p *PackedConv) transposed(name string, x *tensor.Tensor, q *tensor.Quantizer) *tensor.Tensor {
	from := checkActivation(name, x)
	sums := elementwise.Contiguous(conv.Convolution(elementwise.To(elementwise.Centered(x), tensor.Float64), elementwise.To(elementwise.Centered(p.weight), tensor.Float64), nil, p.args))
	r := elementwise.NewRequantization(from, elementwise.QuantizerOf(p.weight), p.bias, q, x.DType(), false)
	channels, inner := sums.Size(1), max(define.NumelOf(sums.Shape()[2:]), 1)
	integers := define.Empty(sums.Shape(), tensor.Uint8)
	src, dst := tensor.Data[float64](sums), tensor.Data[uint8](integers)
	parallel.For(len(dst), define.RowGrain, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			dst[i] = uint8(r.At(src[i], i/inner%channels))
		}
	})
	return elementwise.UnderQuantizer(integers, q)
}

// dynamicConv defines a convolution that takes floats, which are quantized on the way, and gives floats: as in PyTorch those that the quantizer of the input knows.
func dynamicConv(name string, n int) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		x, p := c.Tensor(0), packedConvIn(c, 1, max(n, 2))
		source.Check(x.DType() == tensor.Float32, "%s expects a float input, but got %s", name, x.DType().CppName())
		source.Check(x.Dim() == n+2, "%s(): Expected activation tensor to have %d dimensions, but got %d", name, n+2, x.Dim())
		q := dynamicQuantizer(x, c.Bool(2))
		return elementwise.Dequantized(p.run(name, n, elementwise.Quantized(x, q, tensor.QUInt8), q, false))
	})
}

package conv

import (
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/reduce"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// convGradient is the gradient of a convolution: args and geometry are those of the convolution, g is the gradient of its result.
type convGradient struct {
	args             ConvArgs
	geometry         conv.Convolution
	g, input, weight *tensor.Tensor
}

// convolutionBackward gives the gradients of the input, the weight and the bias that the mask asks for.
func convolutionBackward(c define.Call) {
	x, n := c.Tensor(1), c.Tensor(2).Dim()-2
	source.Check(n >= 1 && n <= 3, "expected weight to have 3 to 5 dimensions, but got %d", n+2)
	a := ConvArgs{N: n, Stride: c.IntsOf(4, n, "stride"), Padding: c.IntsOf(5, n, "padding"), Dilation: c.IntsOf(6, n, "dilation"),
		Transposed: c.Bool(7), OutputPadding: c.IntsOf(8, n, "output_padding"), Groups: c.Int(9)}
	source.Check(x.Dim() == n+2, "Expected %d-dimensional input for %d-dimensional weight %s, but got %d-dimensional input of size %s instead", n+2, n+2, define.ShapeText(c.Tensor(2).Shape()), x.Dim(), define.ShapeText(x.Shape()))
	d := convGradient{args: a, g: c.Tensor(0), input: x, weight: c.Tensor(2)}
	d.prepare()
	for j, of := range []func() *tensor.Tensor{d.ofInput, d.ofWeight, d.ofBias} {
		if c.Out[j] = value.None; c.Masked(10, j) {
			c.Out[j] = value.OfTensor(of())
		}
	}
}

// prepare checks the tensors and makes the geometry.
func (d *convGradient) prepare() {
	d.args.check(d.input, d.weight, nil)
	d.args.CheckShapes(d.input, d.weight, nil)
	geometry, shape := d.args.Geometry(d.input, d.weight)
	source.Check(tensor.SameShape(shape, d.g.Shape()), "convolution_backward(): expected a gradient of size %s, got one of size %s", define.ShapeText(shape), define.ShapeText(d.g.Shape()))
	source.Check(d.g.DType() == d.input.DType(), "expected scalar type %s but found %s", d.input.DType().CppName(), d.g.DType().CppName())
	if !d.g.DType().IsDifferentiable() {
		source.Raise(source.NotImplementedError, "convolution_backward not implemented for '%s'", d.g.DType().CppName())
	}
	d.geometry = geometry
}

func (d *convGradient) ofBias() *tensor.Tensor {
	dims := []int{0}
	for i := range d.args.N {
		dims = append(dims, i+2)
	}
	return reduce.Sum(d.g, dims, false, d.g.DType())
}

// ofInput is the convolution the other way round.
func (d *convGradient) ofInput() *tensor.Tensor {
	if d.g.DType().IsComplex() {
		return d.ofParts(d.g, d.weight, func(part *convGradient, g, w *tensor.Tensor) *tensor.Tensor {
			part.g, part.weight = g, w
			return part.ofInput()
		})
	}
	if d.g.IsHollow() || d.weight.IsHollow() {
		return source.Must(tensor.EmptyHollow(d.input.Shape(), nil, d.g.DType(), nil))
	}
	channelsLast := hasChannelsLast(d.g)
	if d.g.OnDevice() {
		return convolveOnDevice(d.geometry, !d.args.Transposed, d.g, d.weight, nil, d.input.Shape(), channelsLast)
	}
	work := linalg.ProductType(d.g.DType())
	g, w, out := elementwise.AsWork(d.g, work), elementwise.AsWork(d.weight, work), define.Empty(d.input.Shape(), work)
	defer define.ForgetMade(d.g, g)
	defer define.ForgetMade(d.weight, w)
	if work == tensor.Float32 {
		convolve[float32](d.geometry, !d.args.Transposed, g, w, nil, out)
	} else {
		convolve[float64](d.geometry, !d.args.Transposed, g, w, nil, out)
	}
	return laidOut(elementwise.OwnTo(out, d.g.DType()), channelsLast, false)
}

// ofWeight correlates what goes into the convolution with the gradient of what comes out.
func (d *convGradient) ofWeight() *tensor.Tensor {
	in, out := d.input, d.g
	if d.args.Transposed {
		in, out = out, in
	}
	if d.g.DType().IsComplex() {
		return d.ofParts(d.g, d.input, func(part *convGradient, g, x *tensor.Tensor) *tensor.Tensor {
			part.g, part.input = g, x
			return part.ofWeight()
		})
	}
	if in.IsHollow() || out.IsHollow() {
		return source.Must(tensor.EmptyHollow(d.weight.Shape(), nil, d.g.DType(), nil))
	}
	if in.OnDevice() {
		return weightGradientOnDevice(d.geometry, in, out, d.weight.Shape())
	}
	work := linalg.ProductType(d.g.DType())
	x, g := elementwise.AsWork(in, work), elementwise.AsWork(out, work)
	defer define.ForgetMade(in, x)
	defer define.ForgetMade(out, g)
	result := define.Empty(d.weight.Shape(), work)
	if work == tensor.Float32 {
		conv.WeightGradient(d.geometry, tensor.Data[float32](x), tensor.Data[float32](g), tensor.Data[float32](result))
	} else {
		conv.WeightGradient(d.geometry, tensor.Data[float64](x), tensor.Data[float64](g), tensor.Data[float64](result))
	}
	return elementwise.OwnTo(result, d.g.DType())
}

// ofParts makes a gradient of complex numbers, which is linear in a and b, of four of their parts.
func (d *convGradient) ofParts(a, b *tensor.Tensor, of func(part *convGradient, a, b *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	product := func(a, b *tensor.Tensor) *tensor.Tensor {
		part := *d
		return of(&part, a, b)
	}
	ar, ai, br, bi := a.RealPart(), source.Must(a.ImagPart()), b.RealPart(), source.Must(b.ImagPart())
	return views.WithParts(elementwise.Sub.On(product(ar, br), product(ai, bi)), elementwise.Add.On(product(ar, bi), product(ai, br)), d.g.DType())
}

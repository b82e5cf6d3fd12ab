package aten

import (
	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// convGradient is the gradient of a convolution: args and geometry are those of the convolution, g is the gradient of its result.
type convGradient struct {
	args             convArgs
	geometry         dense.Convolution
	g, input, weight *tensor.Tensor
}

// convolutionBackward gives the gradients of the input, the weight and the bias that the mask asks for.
func convolutionBackward(c call) {
	x, n := c.tensor(1), c.tensor(2).Dim()-2
	check(n >= 1 && n <= 3, "expected weight to have 3 to 5 dimensions, but got %d", n+2)
	a := convArgs{n: n, stride: c.intsOf(4, n, "stride"), padding: c.intsOf(5, n, "padding"), dilation: c.intsOf(6, n, "dilation"),
		transposed: c.bool(7), outputPadding: c.intsOf(8, n, "output_padding"), groups: c.int(9)}
	check(x.Dim() == n+2, "Expected %d-dimensional input for %d-dimensional weight %s, but got %d-dimensional input of size %s instead", n+2, n+2, shapeText(c.tensor(2).Shape()), x.Dim(), shapeText(x.Shape()))
	d := convGradient{args: a, g: c.tensor(0), input: x, weight: c.tensor(2)}
	d.prepare()
	for j, of := range []func() *tensor.Tensor{d.ofInput, d.ofWeight, d.ofBias} {
		if c.out[j] = value.None; c.masked(10, j) {
			c.out[j] = value.OfTensor(of())
		}
	}
}

// prepare checks the tensors and makes the geometry.
func (d *convGradient) prepare() {
	d.args.check(d.input, d.weight, nil)
	d.args.checkShapes(d.input, d.weight, nil)
	geometry, shape := d.args.geometry(d.input, d.weight)
	check(tensor.SameShape(shape, d.g.Shape()), "convolution_backward(): expected a gradient of size %s, got one of size %s", shapeText(shape), shapeText(d.g.Shape()))
	check(d.g.DType() == d.input.DType(), "expected scalar type %s but found %s", d.input.DType().CppName(), d.g.DType().CppName())
	if !d.g.DType().IsDifferentiable() {
		raise(source.NotImplementedError, "convolution_backward not implemented for '%s'", d.g.DType().CppName())
	}
	d.geometry = geometry
}

func (d *convGradient) ofBias() *tensor.Tensor {
	dims := []int{0}
	for i := range d.args.n {
		dims = append(dims, i+2)
	}
	return sum(d.g, dims, false, d.g.DType())
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
		return must(tensor.EmptyHollow(d.input.Shape(), nil, d.g.DType(), nil))
	}
	channelsLast := d.g.Dim() == 4 && !d.g.IsContiguous() && d.g.IsContiguousFormat(tensor.ChannelsLast)
	if d.g.OnDevice() {
		out := emptyBeside(d.g, d.input.Shape(), d.g.DType())
		convolveOnDevice(d.geometry, !d.args.transposed, d.g, d.weight, nil, out)
		return laidOut(out, channelsLast, false)
	}
	work := productType(d.g.DType())
	g, w, out := asWork(d.g, work), asWork(d.weight, work), empty(d.input.Shape(), work)
	defer forgetMade(d.g, g)
	defer forgetMade(d.weight, w)
	if work == tensor.Float32 {
		convolve[float32](d.geometry, !d.args.transposed, g, w, nil, out)
	} else {
		convolve[float64](d.geometry, !d.args.transposed, g, w, nil, out)
	}
	return laidOut(to(out, d.g.DType()), channelsLast, false)
}

// ofWeight correlates what goes into the convolution with the gradient of what comes out.
func (d *convGradient) ofWeight() *tensor.Tensor {
	in, out := d.input, d.g
	if d.args.transposed {
		in, out = out, in
	}
	if d.g.DType().IsComplex() {
		return d.ofParts(d.g, d.input, func(part *convGradient, g, x *tensor.Tensor) *tensor.Tensor {
			part.g, part.input = g, x
			return part.ofWeight()
		})
	}
	if in.IsHollow() || out.IsHollow() {
		return must(tensor.EmptyHollow(d.weight.Shape(), nil, d.g.DType(), nil))
	}
	if in.OnDevice() {
		result := emptyBeside(in, d.weight.Shape(), d.g.DType())
		weightGradientOnDevice(d.geometry, in, out, result)
		return result
	}
	work := productType(d.g.DType())
	x, g := asWork(in, work), asWork(out, work)
	defer forgetMade(in, x)
	defer forgetMade(out, g)
	result := empty(d.weight.Shape(), work)
	if work == tensor.Float32 {
		dense.WeightGradient(d.geometry, tensor.Data[float32](x), tensor.Data[float32](g), tensor.Data[float32](result))
	} else {
		dense.WeightGradient(d.geometry, tensor.Data[float64](x), tensor.Data[float64](g), tensor.Data[float64](result))
	}
	return to(result, d.g.DType())
}

// ofParts makes a gradient of complex numbers, which is linear in a and b, of four of their parts.
func (d *convGradient) ofParts(a, b *tensor.Tensor, of func(part *convGradient, a, b *tensor.Tensor) *tensor.Tensor) *tensor.Tensor {
	product := func(a, b *tensor.Tensor) *tensor.Tensor {
		part := *d
		return of(&part, a, b)
	}
	ar, ai, br, bi := a.RealPart(), must(a.ImagPart()), b.RealPart(), must(b.ImagPart())
	return withParts(sub.on(product(ar, br), product(ai, bi)), add.on(product(ar, bi), product(ai, br)), d.g.DType())
}

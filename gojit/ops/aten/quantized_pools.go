package aten

import (
	"torchjit/gojit/dense"
	"torchjit/gojit/kernel/amd64"
	"torchjit/gojit/tensor"
)

// byteGeometry describes the windows of a pooling over images of bytes; ok is false where they are not alike.
func (p *pooling) byteGeometry(x *tensor.Tensor) (g dense.Convolution, ok bool) {
	if p.kernel == nil || x.DType() != tensor.QUInt8 || !isSmall(x) || x.Dim() != p.n+2 {
		return g, false
	}
	one := [3]int{1, 1, 1}
	channels := x.Size(1)
	g = dense.Convolution{Batch: x.Size(0), Groups: channels, InChannels: channels, OutChannels: channels, In: one, Out: one, Kernel: one, Stride: one, Dilation: one}
	for d := range p.n {
		at := 3 - p.n + d
		g.In[at], g.Out[at], g.Kernel[at] = x.Size(2+d), len(p.windows[d]), p.kernel[d]
		g.Stride[at], g.Padding[at], g.Dilation[at] = p.stride[d], p.padding[d], p.dilation[d]
	}
	return g, channels > 0
}

// runBytes runs the plan of a pooling; the result lies as x does.
func (p *pooling) runBytes(x *tensor.Tensor, plan func(planes bool) *dense.BytePlan) *tensor.Tensor {
	format := suggestedFormat(x)
	shape := p.shape(x)
	in := x.IntegersView()
	planes := format == tensor.ContiguousFormat
	if planes {
		in = contiguous(in)
	} else if !in.IsContiguousFormat(format) {
		in = must(in.Clone(format))
	}
	// The channels lie together in the result: the strides are those of a tensor with the channels behind.
	last := append(append([]int{shape[0]}, shape[2:]...), shape[1])
	out := empty(last, tensor.Uint8)
	plan(planes).Run(tensor.Data[uint8](in), tensor.Data[uint8](out))
	order := []int{0, len(shape) - 1}
	for d := 1; d < len(shape)-1; d++ {
		order = append(order, d)
	}
	out = must(out.Permute(order...))
	if planes {
		out = must(out.Clone(tensor.ContiguousFormat))
	}
	return must(tensor.QuantizedOf(out, x.Quantizer()))
}

// largestBytes gives the largest integer of each window; ok is false where there is no plan for it.
func (p *pooling) largestBytes(x *tensor.Tensor) (out *tensor.Tensor, ok bool) {
	g, ok := p.byteGeometry(x)
	if !ok {
		return nil, false
	}
	return p.runBytes(x, func(planes bool) *dense.BytePlan { return dense.NewByteMaxPool(g, planes) }), true
}

// meanBytes gives the mean of each window, whose elements are counted with the padding; ok is false where there is no plan for it.
func (p *pooling) meanBytes(x *tensor.Tensor, divisor int) (out *tensor.Tensor, ok bool) {
	g, ok := p.byteGeometry(x)
	if !ok {
		return nil, false
	}
	checkZeroPoint(x.Quantizer(), x.DType())
	zero := int(x.Quantizer().ZeroPoint)
	options := dense.ByteOptions{Zero: uint8(zero), Scale: make([]float32, g.OutChannels)}
	for i := range options.Scale {
		options.Scale[i] = 1 / float32(divisor)
	}
	options.Limits = amd64.NewByteLimits(0, 255, zero, 0)
	if roundsCentered(x) {
		options.Limits = amd64.NewByteLimits(0, 255, 0, zero)
	}
	return p.runBytes(x, func(planes bool) *dense.BytePlan {
		options.Planes = planes
		return dense.NewByteSums(g, options)
	}), true
}

// roundsCentered reports whether means are rounded before the zero point is added to them: where the channels lie together.
func roundsCentered(x *tensor.Tensor) bool {
	return x.Dim() == 4 && x.IsContiguousFormat(tensor.ChannelsLast)
}

// onMeans is onCentered for means, which round with the zero point where the channels do not lie together.
func onMeans(f func(c call) *tensor.Tensor) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		x := c.tensor(0)
		if x.Quantizer() == nil || roundsCentered(x) {
			return onCentered(f)(c)
		}
		check(!x.Quantizer().PerChannel(), "expected a tensor that is quantized per tensor, but got one quantized per channel")
		means := add.run(nil, []operand{ofTensor(to(f(c.withFirst(centered(x))), tensor.Float32)), ofScalar(tensor.Int(x.Quantizer().ZeroPoint))})
		out := quantized(means, &tensor.Quantizer{Scale: 1}, x.DType())
		out.SetQuantizer(x.Quantizer())
		return out
	}
}

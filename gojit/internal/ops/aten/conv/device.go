package conv

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// convolutionNumbers are the numbers that routines of convolutions take.
func convolutionNumbers(g *conv.Convolution) []int64 {
	numbers := []int64{int64(g.InChannels / g.Groups), int64(g.OutChannels / g.Groups), int64(g.Groups)}
	for _, sizes := range [][3]int{g.In, g.Out, g.Kernel, g.Stride, g.Padding, g.Dilation} {
		for _, n := range sizes {
			numbers = append(numbers, int64(n))
		}
	}
	return numbers
}

func volumeOf(sizes [3]int) int { return sizes[0] * sizes[1] * sizes[2] }

// convolveOnDevice is convolve on a device: a library of the device convolves where it does, else a routine. The channels of the result lie together
// where channelsLast is set.
func convolveOnDevice(g conv.Convolution, transposed bool, in, weight, bias *tensor.Tensor, shape []int, channelsLast bool) *tensor.Tensor {
	if define.NumelOf(shape) == 0 {
		return laidOut(define.EmptyBeside(in, shape, in.DType()), channelsLast, false)
	}
	if bias != nil { // an element for each channel
		bias = source.Must(elementwise.Contiguous(bias).View(append([]int{-1}, slices.Repeat([]int{1}, len(shape)-2)...)...))
	}
	c := &kernel.Convolution{Shape: kernel.ConvolutionShape(g), Bias: bias}
	if transposed {
		c.Of = kernel.ConvolutionOfInput
	}
	for _, last := range []bool{true, false} {
		if last && !channelsLast {
			continue
		}
		c.ChannelsLast, c.Out = last, emptyImages(in, shape, last)
		c.Left, c.Right = imagesAs(in, last), imagesAs(weight, last)
		if transposed {
			c.Left, c.Right = c.Right, c.Left
		}
		if elementwise.Convolve(c) {
			if bias != nil && !c.IsBiased {
				elementwise.Add.Run(c.Out, []elementwise.Operand{elementwise.OfTensor(c.Out), elementwise.OfTensor(bias)})
			}
			return laidOut(c.Out, channelsLast && !last, false)
		}
	}
	tensors := []*tensor.Tensor{c.Out, c.Right, c.Left}
	ci, co, taps := g.InChannels/g.Groups, g.OutChannels/g.Groups, volumeOf(g.Kernel)
	p := linalg.Tiles{Entry: "convolve", Rows: co, Columns: g.Batch * volumeOf(g.Out), Depth: ci * taps, Left: linalg.LinesOf(c.Right, ci*taps)}
	if transposed {
		tensors[1], tensors[2] = c.Left, c.Right
		p = linalg.Tiles{Entry: "transpose", Rows: ci, Columns: g.Batch * volumeOf(g.In), Depth: co * taps, Left: linalg.LinesAlong}
	}
	if bias != nil {
		tensors = append(tensors, bias)
	}
	p.Tensors, p.Batches, p.Numbers, p.Convolution = tensors, g.Groups, convolutionNumbers(&g), true
	p.Run()
	return laidOut(c.Out, channelsLast, false)
}

// hasChannelsLast reports whether the channels of images lie together.
func hasChannelsLast(x *tensor.Tensor) bool {
	return x.Dim() == 4 && !x.IsContiguous() && x.IsContiguousFormat(tensor.ChannelsLast)
}

// emptyImages makes images, or a filter, on the device of a tensor.
func emptyImages(beside *tensor.Tensor, shape []int, channelsLast bool) *tensor.Tensor {
	if !channelsLast {
		return define.EmptyBeside(beside, shape, beside.DType())
	}
	return source.Must(define.EmptyBeside(beside, []int{shape[0], shape[2], shape[3], shape[1]}, beside.DType()).Permute(0, 3, 1, 2))
}

// imagesAs returns images, or a filter, whose channels lie together or do not: a copy where they are not so.
func imagesAs(t *tensor.Tensor, channelsLast bool) *tensor.Tensor {
	switch {
	case !channelsLast:
		return elementwise.Contiguous(t)
	case t.IsContiguousFormat(tensor.ChannelsLast):
		return t
	}
	return source.Must(t.Clone(tensor.ChannelsLast))
}

// weightGradientOnDevice returns the gradient of a convolution's weight, which has a shape.
func weightGradientOnDevice(g conv.Convolution, x, dy *tensor.Tensor, shape []int) *tensor.Tensor {
	out := define.EmptyBeside(x, shape, x.DType())
	if out.Numel() == 0 {
		return out
	}
	c := &kernel.Convolution{Shape: kernel.ConvolutionShape(g), Of: kernel.ConvolutionOfWeight}
	if hasChannelsLast(x) && hasChannelsLast(dy) {
		c.Left, c.Right, c.Out, c.ChannelsLast = x, dy, emptyImages(x, shape, true), true
		if elementwise.Convolve(c) {
			return source.Must(c.Out.Clone(tensor.ContiguousFormat))
		}
	}
	c.Left, c.Right, c.Out, c.ChannelsLast = elementwise.Contiguous(x), elementwise.Contiguous(dy), out, false
	if !elementwise.Convolve(c) {
		ci, co := g.InChannels/g.Groups, g.OutChannels/g.Groups
		(&linalg.Tiles{
			Entry: "weights", Rows: co, Columns: ci * volumeOf(g.Kernel), Depth: g.Batch * volumeOf(g.Out), Batches: g.Groups, Tensors: []*tensor.Tensor{out, c.Right, c.Left},
			Numbers: convolutionNumbers(&g), Left: linalg.LinesOf(c.Right, volumeOf(g.Out)), Convolution: true,
		}).Run()
	}
	return out
}

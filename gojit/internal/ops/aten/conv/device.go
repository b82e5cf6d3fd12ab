package conv

import (
	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// convolutionNumbers are the numbers that routines of convolutions take.
func convolutionNumbers(g *dense.Convolution) []int64 {
	numbers := []int64{int64(g.InChannels / g.Groups), int64(g.OutChannels / g.Groups), int64(g.Groups)}
	for _, sizes := range [][3]int{g.In, g.Out, g.Kernel, g.Stride, g.Padding, g.Dilation} {
		for _, n := range sizes {
			numbers = append(numbers, int64(n))
		}
	}
	return numbers
}

func volumeOf(sizes [3]int) int { return sizes[0] * sizes[1] * sizes[2] }

// convolveOnDevice is convolve on a device.
func convolveOnDevice(g dense.Convolution, transposed bool, in, weight, bias, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	tensors := []*tensor.Tensor{out, elementwise.Contiguous(weight), elementwise.Contiguous(in)}
	if bias != nil {
		tensors = append(tensors, elementwise.Contiguous(bias))
	}
	of, left, right := kernel.ConvolutionForward, tensors[2], tensors[1]
	if transposed {
		of, left, right = kernel.ConvolutionOfInput, tensors[1], tensors[2]
	}
	if elementwise.Convolve(&kernel.Convolution{Shape: kernel.ConvolutionShape(g), Of: of, Left: left, Right: right, Out: out}) {
		if bias != nil {
			addToChannels(out, bias)
		}
		return
	}
	ci, co, taps := g.InChannels/g.Groups, g.OutChannels/g.Groups, volumeOf(g.Kernel)
	if transposed {
		linalg.RunTiles("transpose", ci, g.Batch*volumeOf(g.In), co*taps, g.Groups, tensors, convolutionNumbers(&g)...)
		return
	}
	linalg.RunTiles("convolve", co, g.Batch*volumeOf(g.Out), ci*taps, g.Groups, tensors, convolutionNumbers(&g)...)
}

// addToChannels adds an element of a bias to each channel of a result.
func addToChannels(out, bias *tensor.Tensor) {
	shape := make([]int, out.Dim())
	for i := range shape {
		shape[i] = 1
	}
	shape[1] = bias.Numel()
	elementwise.Add.Run(out, []elementwise.Operand{elementwise.OfTensor(out), elementwise.OfTensor(source.Must(bias.Reshape(shape...)))})
}

// weightGradientOnDevice writes the gradient of a convolution's weight.
func weightGradientOnDevice(g dense.Convolution, x, dy, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	x, dy = elementwise.Contiguous(x), elementwise.Contiguous(dy)
	if g.Batch > 0 && elementwise.Convolve(&kernel.Convolution{Shape: kernel.ConvolutionShape(g), Of: kernel.ConvolutionOfWeight, Left: x, Right: dy, Out: out}) {
		return
	}
	ci, co := g.InChannels/g.Groups, g.OutChannels/g.Groups
	linalg.RunTiles("weights", co, ci*volumeOf(g.Kernel), g.Batch*volumeOf(g.Out), g.Groups, []*tensor.Tensor{out, dy, x}, convolutionNumbers(&g)...)
}

package aten

import (
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/linalg/dense"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// convArgs are the arguments of a convolution over n dimensions.
type convArgs struct {
	n                         int
	stride, padding, dilation []int
	transposed                bool
	outputPadding             []int
	groups                    int
}

// convolution convolves x, batched or not, with the weight and adds the bias.
func convolution(x, weight, bias *tensor.Tensor, a convArgs) *tensor.Tensor {
	a.n = weight.Dim() - 2
	a.check(x, weight, bias)
	if x.DType().IsComplex() {
		return complexConvolution(x, weight, bias, a)
	}
	unbatched := x.Dim() == a.n+1
	if unbatched {
		x = must(x.Unsqueeze(0))
	}
	a.checkShapes(x, weight, bias)
	work := productType(x.DType())
	if work == tensor.Int64 {
		check(x.DType() != tensor.Bool, "\"slow_conv2d_cpu\" not implemented for '%s'", x.DType().CppName())
		out := integerConvolution(x, weight, bias, a)
		if unbatched {
			out = must(out.Select(0, 0))
		}
		return out
	}
	channelsLast := x.Dim() == 4 && !x.IsContiguous() && x.IsContiguousFormat(tensor.ChannelsLast)
	g, shape := a.geometry(x, weight)
	if x.IsHollow() {
		return laidOut(emptyBeside(x, shape, x.DType()), channelsLast, unbatched)
	}
	if x.OnDevice() {
		out := emptyBeside(x, shape, x.DType())
		convolveOnDevice(g, a.transposed, x, weight, bias, out)
		return laidOut(out, channelsLast, unbatched)
	}
	if channelsLast && x.DType() == work && !a.transposed && g.SuitsLast() {
		return convolveLast(g, x, weight, bias, shape)
	}
	in, w := contiguous(to(x, work)), contiguous(to(weight, work))
	if bias != nil {
		bias = contiguous(to(bias, work))
	}
	out := empty(shape, work)
	if work == tensor.Float32 {
		convolve[float32](g, a.transposed, in, w, bias, out)
	} else {
		convolve[float64](g, a.transposed, in, w, bias, out)
	}
	return laidOut(to(out, x.DType()), channelsLast, unbatched)
}

// laidOut is the result of a convolution as the input lies, without its batch where that has none.
func laidOut(out *tensor.Tensor, channelsLast, unbatched bool) *tensor.Tensor {
	if channelsLast {
		out = must(out.Clone(tensor.ChannelsLast))
	}
	if unbatched {
		out = must(out.Select(0, 0))
	}
	return out
}

// convolveLast convolves images whose channels lie together, and so do those of the result.
func convolveLast(g dense.Convolution, x, weight, bias *tensor.Tensor, shape []int) *tensor.Tensor {
	pixels := func(t *tensor.Tensor) *tensor.Tensor { return must(t.Permute(0, 2, 3, 1)) }
	weightLast := !weight.IsContiguous() && weight.IsContiguousFormat(tensor.ChannelsLast)
	if weightLast {
		weight = pixels(weight)
	} else {
		weight = contiguous(weight)
	}
	if bias != nil {
		bias = contiguous(bias)
	}
	out := empty([]int{shape[0], shape[2], shape[3], shape[1]}, x.DType())
	if x.DType() == tensor.Float32 {
		convolveLastOf[float32](g, pixels(x), weight, bias, out, weightLast)
	} else {
		convolveLastOf[float64](g, pixels(x), weight, bias, out, weightLast)
	}
	return must(out.Permute(0, 3, 1, 2))
}

func convolveLastOf[T interface {
	dense.Float
	tensor.Element
}](g dense.Convolution, in, weight, bias, out *tensor.Tensor, weightLast bool) {
	var added []T
	if bias != nil {
		added = tensor.Data[T](bias)
	}
	dense.ConvolveLast(g, tensor.Data[T](in), tensor.Data[T](weight), added, tensor.Data[T](out), weightLast)
}

// integerConvolution is convolution of integers, which wrap around.
func integerConvolution(x, weight, bias *tensor.Tensor, a convArgs) *tensor.Tensor {
	taps := weight.Numel() / max(min(weight.Size(0), weight.Size(1)), 1) // no sum has more
	out := byDoubles(x, weight, taps, func(x, w *tensor.Tensor) *tensor.Tensor { return convolution(x, w, nil, a) })
	if bias != nil {
		shape := make([]int, out.Dim())
		for i := range shape {
			shape[i] = 1
		}
		shape[1] = -1
		out = add.on(out, must(to(bias, tensor.Int64).Reshape(shape...)))
	}
	return to(out, x.DType())
}

// complexConvolution is made of four real ones.
func complexConvolution(x, weight, bias *tensor.Tensor, a convArgs) *tensor.Tensor {
	xr, xi, wr, wi := x.RealPart(), must(x.ImagPart()), weight.RealPart(), must(weight.ImagPart())
	var br, bi *tensor.Tensor
	if bias != nil {
		br, bi = bias.RealPart(), must(bias.ImagPart())
	}
	re := sub.on(convolution(xr, wr, br, a), convolution(xi, wi, nil, a))
	im := add.on(convolution(xr, wi, bi, a), convolution(xi, wr, nil, a))
	return withParts(re, im, x.DType())
}

func withParts(re, im *tensor.Tensor, d tensor.DType) *tensor.Tensor {
	out := empty(re.Shape(), d)
	succeed(tensor.Copy(out.RealPart(), re))
	succeed(tensor.Copy(must(out.ImagPart()), im))
	return out
}

func convolve[T interface {
	dense.Float
	tensor.Element
}](g dense.Convolution, transposed bool, in, weight, bias, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	var added []T
	if bias != nil {
		added = tensor.Data[T](bias)
	}
	if transposed {
		dense.Transpose(g, tensor.Data[T](in), tensor.Data[T](weight), added, tensor.Data[T](out))
		return
	}
	dense.Convolve(g, tensor.Data[T](in), tensor.Data[T](weight), added, tensor.Data[T](out))
}

func (a *convArgs) check(x, weight, bias *tensor.Tensor) {
	check(a.n >= 1 && a.n <= 3, "expected weight to have 3 to 5 dimensions, but got %d", weight.Dim())
	if x.Dim() != a.n+1 && x.Dim() != a.n+2 {
		name := "conv"
		if a.transposed {
			name = "conv_transpose"
		}
		raise(source.RuntimeError, "Expected %dD (unbatched) or %dD (batched) input to %s%dd, but got input of size: %s", a.n+1, a.n+2, name, a.n, shapeText(x.Shape()))
	}
	check(a.n == 1 || bias == nil || bias.DType() == x.DType(), "Input type (%s) and bias type (%s) should be the same", lowerNames[x.DType()], typeOf(bias))
	check(x.DType() == weight.DType(), "expected scalar type %s but found %s", x.DType().CppName(), weight.DType().CppName())
	if bias != nil {
		check(bias.DType() == x.DType(), "expected scalar type %s but found %s", x.DType().CppName(), bias.DType().CppName())
	}
	for i := range a.n {
		check(a.padding[i] >= 0, "negative padding is not supported")
		check(a.stride[i] > 0, "non-positive stride is not supported")
		check(a.dilation[i] > 0, "dilation should be greater than zero")
	}
	check(a.groups > 0, "non-positive groups is not supported")
}

func typeOf(t *tensor.Tensor) string {
	if t == nil {
		return ""
	}
	return lowerNames[t.DType()]
}

// lowerNames are the C++ names of the element types.
var lowerNames = map[tensor.DType]string{tensor.Uint8: "unsigned char", tensor.Int8: "signed char", tensor.Int16: "short", tensor.Int32: "int",
	tensor.Int64: "long int", tensor.Float16: "c10::Half", tensor.Float32: "float", tensor.Float64: "double", tensor.Bool: "bool",
	tensor.BFloat16: "c10::BFloat16", tensor.Complex64: "c10::complex<float>", tensor.Complex128: "c10::complex<double>"}

func (a *convArgs) checkShapes(x, weight, bias *tensor.Tensor) {
	ws := shapeText(weight.Shape())
	check(weight.Size(0) >= a.groups, "Given groups=%d, expected weight to be at least %d at dimension 0, but got weight of size %s instead", a.groups, a.groups, ws)
	check(weight.Size(0)%a.groups == 0, "Given groups=%d, expected weight to be divisible by %d at dimension 0, but got weight of size %s instead", a.groups, a.groups, ws)
	want, filters := weight.Size(1)*a.groups, weight.Size(0)
	if a.transposed {
		check(x.Size(1) == weight.Size(0), "Given transposed=1, weight of size %s, expected input%s to have %d channels, but got %d channels instead", ws, shapeText(x.Shape()), weight.Size(0), x.Size(1))
		want, filters = x.Size(1), weight.Size(1)*a.groups
	}
	check(x.Size(1) == want, "Given groups=%d, weight of size %s, expected input%s to have %d channels, but got %d channels instead", a.groups, ws, shapeText(x.Shape()), want, x.Size(1))
	check(bias == nil || bias.Dim() == 1 && bias.Size(0) == filters, "Given transposed=%d, weight of size %s, expected bias to be 1-dimensional with %d elements, but got bias of size %s instead", btoi(a.transposed), ws, filters, optionalShape(bias))
	if a.transposed {
		checkHasPlaces(x)
		return
	}
	var padded, kernel []int
	bad := false
	for i := range a.n {
		padded = append(padded, x.Size(i+2)+2*a.padding[i])
		kernel = append(kernel, a.dilation[i]*(weight.Size(i+2)-1)+1)
		bad = bad || padded[i] < kernel[i]
	}
	check(!bad, "Calculated padded input size per channel: %s. Kernel size: %s. Kernel size can't be greater than actual input size", timesText(padded), timesText(kernel))
	checkHasPlaces(x)
}

// checkHasPlaces fails where images with channels have no pixels.
func checkHasPlaces(x *tensor.Tensor) {
	shape := x.Shape()
	if x.Dim() == 3 {
		shape = slices.Insert(slices.Clone(shape), 2, 1)
	}
	check(x.Numel() > 0 || shape[0] == 0 || shape[1] == 0, "Only zero batch or zero channel inputs are supported, but got input shape: %s", shapeText(shape))
}

// optionalShape prints the shape of a tensor that may be nil.
func optionalShape(t *tensor.Tensor) shapeText {
	if t == nil {
		return nil
	}
	return t.Shape()
}

// timesText writes sizes as "(2 x 3)".
// closeTimes prints as timesText without spaces, when a message is made.
type closeTimes []int

func (sizes closeTimes) String() string { return strings.ReplaceAll(timesText(sizes), " ", "") }

func timesText(sizes []int) string {
	text := "("
	for i, n := range sizes {
		if i > 0 {
			text += " x "
		}
		text += strconv.Itoa(n)
	}
	return text + ")"
}

// geometry describes the convolution to package dense, and gives the shape of the result. A
// transposed one is described by the convolution it is the transpose of.
func (a *convArgs) geometry(x, weight *tensor.Tensor) (dense.Convolution, []int) {
	one := [3]int{1, 1, 1}
	g := dense.Convolution{Batch: x.Size(0), Groups: a.groups, Stride: one, Dilation: one, In: one, Out: one, Kernel: one}
	lead := 3 - a.n
	shape := []int{x.Size(0), weight.Size(0)}
	g.InChannels, g.OutChannels = x.Size(1), weight.Size(0)
	if a.transposed {
		shape[1] = weight.Size(1) * a.groups
		g.InChannels, g.OutChannels = shape[1], x.Size(1)
	}
	for i := range a.n {
		in, k := x.Size(i+2), weight.Size(i+2)
		span := a.dilation[i]*(k-1) + 1
		g.Kernel[lead+i], g.Stride[lead+i], g.Dilation[lead+i], g.Padding[lead+i] = k, a.stride[i], a.dilation[i], a.padding[i]
		if a.transposed {
			out := (in-1)*a.stride[i] - 2*a.padding[i] + span + a.outputPadding[i]
			check(a.outputPadding[i] >= 0, "negative output_padding is not supported")
			check(a.outputPadding[i] < max(a.stride[i], a.dilation[i]), "output padding must be smaller than either stride or dilation, but got output_padding: %d", a.outputPadding[i])
			check(out > 0, "Given input size per channel: %s. Calculated output size per channel: %d. Output size is too small", shapeText(x.Shape()[2:]), out)
			shape = append(shape, out)
			g.In[lead+i], g.Out[lead+i] = out, in
			continue
		}
		out := (in+2*a.padding[i]-span)/a.stride[i] + 1
		shape = append(shape, out)
		g.In[lead+i], g.Out[lead+i] = in, out
	}
	return g, shape
}

// convNd defines conv1d, conv2d and conv3d with numbers as padding.
func convNd(name string, n int) definition {
	return giving(name, func(c call) *tensor.Tensor {
		checkConvDims(c, n, name)
		return convolution(c.tensor(0), c.tensor(1), c.optionalTensor(2), convArgs{
			stride: c.intsOf(3, n, "stride"), padding: c.intsOf(4, n, "padding"), dilation: c.intsOf(5, n, "dilation"), groups: c.int(6)})
	})
}

func checkConvDims(c call, n int, name string) {
	w, x := c.tensor(1), c.tensor(0)
	check(x.Dim() == n+1 || x.Dim() == n+2, "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s", n+1, n+2, name, shapeText(x.Shape()))
	check(w.Dim() == n+2, "weight should have at least three dimensions")
}

// convSame defines the forms whose padding is "valid" or "same".
func convSame(name string, n int) definition {
	return giving(name+".padding", func(c call) *tensor.Tensor {
		checkConvDims(c, n, name)
		x, weight := c.tensor(0), c.tensor(1)
		a := convArgs{stride: c.intsOf(3, n, "stride"), padding: make([]int, n), dilation: c.intsOf(5, n, "dilation"), groups: c.int(6)}
		switch mode := c.str(4); mode {
		case "valid":
		case "same":
			x = a.padSame(x, weight, n)
		default:
			check(false, "Invalid padding string: '%s'", mode)
		}
		return convolution(x, weight, c.optionalTensor(2), a)
	})
}

// padSame sets the padding that keeps the size; what is uneven is padded behind the input.
func (a *convArgs) padSame(x, weight *tensor.Tensor, n int) *tensor.Tensor {
	amounts := make([]int, 2*n)
	uneven := false
	for i := range n {
		check(a.stride[i] == 1, "padding='same' is not supported for strided convolutions")
		total := a.dilation[i] * (weight.Size(i+2) - 1)
		a.padding[i] = total / 2
		amounts[2*(n-1-i)+1] = total % 2
		uneven = uneven || total%2 != 0
	}
	if !uneven {
		return x
	}
	return constantPad(x, amounts, tensor.Int(0))
}

func convTranspose(name string, n int) definition {
	return giving(name, func(c call) *tensor.Tensor {
		checkConvDims(c, n, strings.TrimSuffix(name, ".input"))
		return convolution(c.tensor(0), c.tensor(1), c.optionalTensor(2), convArgs{
			stride: c.intsOf(3, n, "stride"), padding: c.intsOf(4, n, "padding"), outputPadding: c.intsOf(5, n, "output_padding"),
			groups: c.int(6), dilation: c.intsOf(7, n, "dilation"), transposed: true})
	})
}

func generalConv(c call) *tensor.Tensor {
	n := c.tensor(1).Dim() - 2
	check(n >= 1 && n <= 3, "expected weight to have 3 to 5 dimensions, but got %d", n+2)
	return convolution(c.tensor(0), c.tensor(1), c.optionalTensor(2), convArgs{
		stride: c.intsOf(3, n, "stride"), padding: c.intsOf(4, n, "padding"), dilation: c.intsOf(5, n, "dilation"),
		transposed: c.bool(6), outputPadding: c.intsOf(7, n, "output_padding"), groups: c.int(8)})
}

// patches describes the sliding windows of im2col and col2im over images of one channel.
func patches(images int, in [2]int, c call, at int) dense.Convolution {
	kernel, dilation, padding, stride := c.intsOf(at, 2, "kernel_size"), c.intsOf(at+1, 2, "dilation"), c.intsOf(at+2, 2, "padding"), c.intsOf(at+3, 2, "stride")
	g := dense.Convolution{Batch: images, Groups: 1, InChannels: 1, In: [3]int{1, in[0], in[1]}, Out: [3]int{1, 1, 1},
		Kernel: [3]int{1, kernel[0], kernel[1]}, Stride: [3]int{1, stride[0], stride[1]}, Dilation: [3]int{1, dilation[0], dilation[1]}, Padding: [3]int{0, padding[0], padding[1]}}
	checkPair("kernel size", "kernel", kernel)
	checkPair("dilation", "dilation", dilation)
	checkPair("stride", "stride", stride)
	for i := range 2 {
		g.Out[i+1] = (in[i]+2*padding[i]-dilation[i]*(kernel[i]-1)-1)/stride[i] + 1
	}
	check(g.Out[1] > 0 && g.Out[2] > 0, "Given input with spatial size (%d, %d), kernel_size=(%d, %d), the calculated shape of the array of sliding blocks is (%d, %d), but its components must be at least one.", in[0], in[1], kernel[0], kernel[1], g.Out[1], g.Out[2])
	return g
}

// checkPair fails where a height or a width is not positive.
func checkPair(what, name string, v []int) {
	check(v[0] > 0 && v[1] > 0, "%s should be greater than zero, but got %s_height: %d %s_width: %d", what, name, v[0], name, v[1])
}

// byParts makes a function that moves numbers one of complex numbers too: it moves their parts.
func byParts(move func(c call, x *tensor.Tensor) *tensor.Tensor) func(c call) *tensor.Tensor {
	return func(c call) *tensor.Tensor {
		x := c.tensor(0)
		if !x.DType().IsComplex() {
			return move(c, x)
		}
		return withParts(move(c, x.RealPart()), move(c, must(x.ImagPart())), x.DType())
	}
}

func im2col(c call, x *tensor.Tensor) *tensor.Tensor {
	check(x.Dim() == 3 || x.Dim() == 4, "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", shapeText(x.Shape()))
	batched := x.Dim() == 4
	if !batched {
		x = must(x.Unsqueeze(0))
	}
	g := patches(x.Size(0)*x.Size(1), [2]int{x.Size(2), x.Size(3)}, c, 1)
	checkFloating("im2col_out_cpu", x)
	shape := []int{x.Size(0), x.Size(1) * g.Kernel[1] * g.Kernel[2], g.Out[1] * g.Out[2]}
	var out *tensor.Tensor
	if x.DType() == tensor.Float64 {
		out = moved(x, empty(shape, tensor.Float64), func(in, columns []float64) { dense.Unfold(g, in, columns) })
	} else {
		out = moved(x, empty(shape, tensor.Float32), func(in, columns []float32) { dense.Unfold(g, in, columns) })
	}
	if !batched {
		out = must(out.Select(0, 0))
	}
	return rounded(out, x.DType())
}

func col2im(c call, x *tensor.Tensor) *tensor.Tensor {
	size := c.intsOf(1, 2, "output_size")
	check(x.Dim() == 2 || x.Dim() == 3, "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: %s", shapeText(x.Shape()))
	batched := x.Dim() == 3
	if !batched {
		x = must(x.Unsqueeze(0))
	}
	kernel := c.intsOf(2, 2, "kernel_size")
	checkPair("kernel size", "kernel", kernel)
	check(x.Size(1)%(kernel[0]*kernel[1]) == 0, "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=%d and kernel_size=(%d, %d).", x.Size(1), kernel[0], kernel[1])
	channels := x.Size(1) / (kernel[0] * kernel[1])
	g := patches(x.Size(0)*channels, [2]int{size[0], size[1]}, c, 2)
	check(x.Size(2) == g.Out[1]*g.Out[2], "Given output_size=(%d, %d), expected input.size(2)=%d, but got %d", size[0], size[1], g.Out[1]*g.Out[2], x.Size(2))
	checkFloating("col2im_out_cpu", x)
	shape := []int{x.Size(0), channels, size[0], size[1]}
	var out *tensor.Tensor
	if x.DType() == tensor.Float64 {
		out = moved(x, zeros(shape, tensor.Float64), func(columns, in []float64) { dense.Fold(g, columns, in) })
	} else {
		out = moved(x, zeros(shape, tensor.Float32), func(columns, in []float32) { dense.Fold(g, columns, in) })
	}
	if !batched {
		out = must(out.Select(0, 0))
	}
	return rounded(out, x.DType())
}

// moved returns out after a function has written to its elements from those of x in the same type.
func moved[T float32 | float64](x, out *tensor.Tensor, move func(from, to []T)) *tensor.Tensor {
	in := contiguous(to(x, out.DType()))
	move(tensor.Data[T](in), tensor.Data[T](out))
	if in != x {
		in.Release()
	}
	return out
}

var convFamily = []definition{
	decomposed("_slow_conv2d_forward", composeSlowConv).with(ops.Def{Grad: slowConvGrad, Tags: ops.Grouped | ops.SavesOperand}),
	convNd("conv1d", 1).with(ops.Def{Reads: ops.ReadsOperands, Grad: convGrad, Tags: ops.SavesOperand}),
	convNd("conv2d", 2).with(ops.Def{Reads: ops.ReadsOperands, Grad: convGrad, Tags: ops.SavesOperand}),
	convNd("conv3d", 3).with(ops.Def{Reads: ops.ReadsOperands, Grad: convGrad, Tags: ops.SavesOperand}),
	convSame("conv1d", 1), convSame("conv2d", 2), convSame("conv3d", 3),
	convTranspose("conv_transpose1d", 1).with(ops.Def{Reads: ops.ReadsOperands, Grad: transposedConvGrad}), convTranspose("conv_transpose2d.input", 2).with(ops.Def{Reads: ops.ReadsOperands, Grad: transposedConvGrad}), convTranspose("conv_transpose3d.input", 3).with(ops.Def{Reads: ops.ReadsOperands, Grad: transposedConvGrad}),
	giving("_convolution", generalConv).with(ops.Def{Reads: ops.ReadsOperands, Grad: generalConvGrad}),
	giving("_convolution.deprecated", generalConv).with(ops.Def{Reads: ops.ReadsOperands, Grad: generalConvGrad}),
	giving("convolution", generalConv).with(ops.Def{Reads: ops.ReadsOperands, Grad: generalConvGrad}),
	giving("convolution_overrideable", generalConv),
	define("convolution_backward", convolutionBackward).with(ops.Def{Grad: concrete(convolutionAgain)}),
	giving("im2col", byParts(im2col)).with(ops.Def{Grad: concrete(func(c gradient) {
		shape := c.shape(0)
		c.give(0, c.do("col2im", c.g(), shape[len(shape)-2:], c.arg(1), c.arg(2), c.arg(3), c.arg(4)))
	}), Tags: ops.AsWritten}),
	giving("col2im", byParts(col2im)).with(ops.Def{Grad: concrete(func(c gradient) { c.give(0, c.do("im2col", c.g(), c.arg(2), c.arg(3), c.arg(4), c.arg(5))) })}),
	giving("conv_tbc", func(c call) *tensor.Tensor {
		check(c.tensor(0).Dim() == 3 && c.tensor(1).Dim() == 3, "Input and weight must have 3 dims: time, batch, in_channel and width, in_channel, out_channel, but got %s and %s",
			shapeText(c.tensor(0).Shape()), shapeText(c.tensor(1).Shape()))
		x := must(c.tensor(0).Permute(1, 2, 0))
		w := must(c.tensor(1).Permute(2, 1, 0))
		padding := c.int(3)
		if x.Size(2) == 0 && padding > 0 {
			x, padding = constantPad(x, []int{padding, padding}, tensor.Int(0)), 0
		}
		out := convolution(x, w, c.tensor(2), convArgs{stride: []int{1}, padding: []int{padding}, dilation: []int{1}, groups: 1})
		return must(out.Permute(2, 0, 1))
	}),
}

// convFurther are the records of operators of convolutions that are implemented elsewhere.
var convFurther = []ops.Def{
	{Name: "conv1d.padding", Decomp: composeSame("conv1d")},
	{Name: "conv2d.padding", Decomp: composeSame("conv2d")},
	{Name: "conv3d.padding", Decomp: composeSame("conv3d")},
}

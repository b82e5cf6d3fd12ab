// Package conv has convolutions and pooling over the plans of package dense.
package conv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/views"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ConvArgs are the arguments of a convolution over n dimensions.
type ConvArgs struct {
	N                         int
	Stride, Padding, Dilation []int
	Transposed                bool
	OutputPadding             []int
	Groups                    int
}

// Convolution convolves x, batched or not, with the weight and adds the bias.
func Convolution(x, weight, bias *tensor.Tensor, a ConvArgs) *tensor.Tensor {
	a.N = weight.Dim() - 2
	a.check(x, weight, bias)
	if x.DType().IsComplex() {
		return complexConvolution(x, weight, bias, a)
	}
	unbatched := x.Dim() == a.N+1
	if unbatched {
		x = source.Must(x.Unsqueeze(0))
	}
	a.CheckShapes(x, weight, bias)
	work := linalg.ProductType(x.DType())
	if work == tensor.Int64 {
		source.Check(x.DType() != tensor.Bool, "\"slow_conv2d_cpu\" not implemented for '%s'", x.DType().CppName())
		out := integerConvolution(x, weight, bias, a)
		if unbatched {
			out = source.Must(out.Select(0, 0))
		}
		return out
	}
	channelsLast := hasChannelsLast(x)
	g, shape := a.Geometry(x, weight)
	if x.IsHollow() {
		return laidOut(define.EmptyBeside(x, shape, x.DType()), channelsLast, unbatched)
	}
	if x.OnDevice() {
		return laidOut(convolveOnDevice(g, a.Transposed, x, weight, bias, shape, channelsLast), false, unbatched)
	}
	if channelsLast && x.DType() == work && !a.Transposed && g.SuitsLast() {
		return convolveLast(g, x, weight, bias, shape)
	}
	in, w := elementwise.AsWork(x, work), elementwise.AsWork(weight, work)
	defer define.ForgetMade(x, in)
	defer define.ForgetMade(weight, w)
	if given := bias; bias != nil {
		bias = elementwise.AsWork(bias, work)
		defer define.ForgetMade(given, bias)
	}
	out := define.Empty(shape, work)
	if work == tensor.Float32 {
		convolve[float32](g, a.Transposed, in, w, bias, out)
	} else {
		convolve[float64](g, a.Transposed, in, w, bias, out)
	}
	return laidOut(elementwise.OwnTo(out, x.DType()), channelsLast, unbatched)
}

// laidOut is the result of a convolution as the input lies, without its batch where that has none. Nobody else has out.
func laidOut(out *tensor.Tensor, channelsLast, unbatched bool) *tensor.Tensor {
	if channelsLast {
		made := source.Must(out.Clone(tensor.ChannelsLast))
		out.Release()
		out = made
	}
	if unbatched {
		out = source.Must(out.Select(0, 0))
	}
	return out
}

// convolveLast convolves images whose channels lie together, and so do those of the result.
func convolveLast(g conv.Convolution, x, weight, bias *tensor.Tensor, shape []int) *tensor.Tensor {
	pixels := func(t *tensor.Tensor) *tensor.Tensor { return source.Must(t.Permute(0, 2, 3, 1)) }
	weightLast := !weight.IsContiguous() && weight.IsContiguousFormat(tensor.ChannelsLast)
	if weightLast {
		weight = pixels(weight)
	} else {
		weight = elementwise.Contiguous(weight)
	}
	if bias != nil {
		bias = elementwise.Contiguous(bias)
	}
	out := define.Empty([]int{shape[0], shape[2], shape[3], shape[1]}, x.DType())
	if x.DType() == tensor.Float32 {
		convolveLastOf[float32](g, pixels(x), weight, bias, out, weightLast)
	} else {
		convolveLastOf[float64](g, pixels(x), weight, bias, out, weightLast)
	}
	return source.Must(out.Permute(0, 3, 1, 2))
}

func convolveLastOf[T interface {
	gemm.Float
	tensor.Element
}](g conv.Convolution, in, weight, bias, out *tensor.Tensor, weightLast bool) {
	var added []T
	if bias != nil {
		added = tensor.Data[T](bias)
	}
	conv.ConvolveLast(g, tensor.Data[T](in), tensor.Data[T](weight), added, tensor.Data[T](out), weightLast)
}

// integerConvolution is convolution of integers, which wrap around.
func integerConvolution(x, weight, bias *tensor.Tensor, a ConvArgs) *tensor.Tensor {
	taps := weight.Numel() / max(min(weight.Size(0), weight.Size(1)), 1) // no sum has more
	out := linalg.ByDoubles(x, weight, taps, func(x, w *tensor.Tensor) *tensor.Tensor { return Convolution(x, w, nil, a) })
	if bias != nil {
		shape := make([]int, out.Dim())
		for i := range shape {
			shape[i] = 1
		}
		shape[1] = -1
		out = elementwise.Add.On(out, source.Must(elementwise.To(bias, tensor.Int64).Reshape(shape...)))
	}
	return elementwise.To(out, x.DType())
}

// complexConvolution is made of four real ones.
func complexConvolution(x, weight, bias *tensor.Tensor, a ConvArgs) *tensor.Tensor {
	xr, xi, wr, wi := x.RealPart(), source.Must(x.ImagPart()), weight.RealPart(), source.Must(weight.ImagPart())
	var br, bi *tensor.Tensor
	if bias != nil {
		br, bi = bias.RealPart(), source.Must(bias.ImagPart())
	}
	re := elementwise.Sub.On(Convolution(xr, wr, br, a), Convolution(xi, wi, nil, a))
	im := elementwise.Add.On(Convolution(xr, wi, bi, a), Convolution(xi, wr, nil, a))
	return views.WithParts(re, im, x.DType())
}

func convolve[T interface {
	gemm.Float
	tensor.Element
}](g conv.Convolution, transposed bool, in, weight, bias, out *tensor.Tensor) {
	if out.Numel() == 0 {
		return
	}
	var added []T
	if bias != nil {
		added = tensor.Data[T](bias)
	}
	if transposed {
		conv.Transpose(g, tensor.Data[T](in), tensor.Data[T](weight), added, tensor.Data[T](out))
		return
	}
	conv.Convolve(g, tensor.Data[T](in), tensor.Data[T](weight), added, tensor.Data[T](out))
}

func (a *ConvArgs) check(x, weight, bias *tensor.Tensor) {
	source.Check(a.N >= 1 && a.N <= 3, "expected weight to have 3 to 5 dimensions, but got %d", weight.Dim())
	if x.Dim() != a.N+1 && x.Dim() != a.N+2 {
		name := "conv"
		if a.Transposed {
			name = "conv_transpose"
		}
		source.Raise(source.RuntimeError, "Expected %dD (unbatched) or %dD (batched) input to %s%dd, but got input of size: %s", a.N+1, a.N+2, name, a.N, define.ShapeText(x.Shape()))
	}
	source.Check(a.N == 1 || bias == nil || bias.DType() == x.DType(), "Input type (%s) and bias type (%s) should be the same", define.LowerNames[x.DType()], typeOf(bias))
	source.Check(x.DType() == weight.DType(), "expected scalar type %s but found %s", x.DType().CppName(), weight.DType().CppName())
	if bias != nil {
		source.Check(bias.DType() == x.DType(), "expected scalar type %s but found %s", x.DType().CppName(), bias.DType().CppName())
	}
	for i := range a.N {
		source.Check(a.Padding[i] >= 0, "negative padding is not supported")
		source.Check(a.Stride[i] > 0, "non-positive stride is not supported")
		source.Check(a.Dilation[i] > 0, "dilation should be greater than zero")
	}
	source.Check(a.Groups > 0, "non-positive groups is not supported")
}

func typeOf(t *tensor.Tensor) string {
	if t == nil {
		return ""
	}
	return define.LowerNames[t.DType()]
}

// CheckShapes refuses operands whose dimensions, channels and sizes do not fit each other.
func (a *ConvArgs) CheckShapes(x, weight, bias *tensor.Tensor) {
	ws := define.ShapeText(weight.Shape())
	source.Check(weight.Size(0) >= a.Groups, "Given groups=%d, expected weight to be at least %d at dimension 0, but got weight of size %s instead", a.Groups, a.Groups, ws)
	source.Check(weight.Size(0)%a.Groups == 0, "Given groups=%d, expected weight to be divisible by %d at dimension 0, but got weight of size %s instead", a.Groups, a.Groups, ws)
	want, filters := weight.Size(1)*a.Groups, weight.Size(0)
	if a.Transposed {
		source.Check(x.Size(1) == weight.Size(0), "Given transposed=1, weight of size %s, expected input%s to have %d channels, but got %d channels instead", ws, define.ShapeText(x.Shape()), weight.Size(0), x.Size(1))
		want, filters = x.Size(1), weight.Size(1)*a.Groups
	}
	source.Check(x.Size(1) == want, "Given groups=%d, weight of size %s, expected input%s to have %d channels, but got %d channels instead", a.Groups, ws, define.ShapeText(x.Shape()), want, x.Size(1))
	source.Check(bias == nil || bias.Dim() == 1 && bias.Size(0) == filters, "Given transposed=%d, weight of size %s, expected bias to be 1-dimensional with %d elements, but got bias of size %s instead", define.Btoi(a.Transposed), ws, filters, define.OptionalShape(bias))
	if a.Transposed {
		checkHasPlaces(x)
		return
	}
	var padded, kernel []int
	bad := false
	for i := range a.N {
		padded = append(padded, x.Size(i+2)+2*a.Padding[i])
		kernel = append(kernel, a.Dilation[i]*(weight.Size(i+2)-1)+1)
		bad = bad || padded[i] < kernel[i]
	}
	source.Check(!bad, "Calculated padded input size per channel: %s. Kernel size: %s. Kernel size can't be greater than actual input size", timesText(padded), timesText(kernel))
	checkHasPlaces(x)
}

// checkHasPlaces fails where images with channels have no pixels.
func checkHasPlaces(x *tensor.Tensor) {
	shape := x.Shape()
	if x.Dim() == 3 {
		shape = slices.Insert(slices.Clone(shape), 2, 1)
	}
	source.Check(x.Numel() > 0 || shape[0] == 0 || shape[1] == 0, "Only zero batch or zero channel inputs are supported, but got input shape: %s", define.ShapeText(shape))
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

// Geometry describes the convolution to package dense, and gives the shape of the result. A
// transposed one is described by the convolution it is the transpose of.
func (a *ConvArgs) Geometry(x, weight *tensor.Tensor) (conv.Convolution, []int) {
	one := [3]int{1, 1, 1}
	g := conv.Convolution{Batch: x.Size(0), Groups: a.Groups, Stride: one, Dilation: one, In: one, Out: one, Kernel: one}
	lead := 3 - a.N
	shape := []int{x.Size(0), weight.Size(0)}
	g.InChannels, g.OutChannels = x.Size(1), weight.Size(0)
	if a.Transposed {
		shape[1] = weight.Size(1) * a.Groups
		g.InChannels, g.OutChannels = shape[1], x.Size(1)
	}
	for i := range a.N {
		in, k := x.Size(i+2), weight.Size(i+2)
		span := a.Dilation[i]*(k-1) + 1
		g.Kernel[lead+i], g.Stride[lead+i], g.Dilation[lead+i], g.Padding[lead+i] = k, a.Stride[i], a.Dilation[i], a.Padding[i]
		if a.Transposed {
			out := (in-1)*a.Stride[i] - 2*a.Padding[i] + span + a.OutputPadding[i]
			source.Check(a.OutputPadding[i] >= 0, "negative output_padding is not supported")
			source.Check(a.OutputPadding[i] < max(a.Stride[i], a.Dilation[i]), "output padding must be smaller than either stride or dilation, but got output_padding: %d", a.OutputPadding[i])
			source.Check(out > 0, "Given input size per channel: %s. Calculated output size per channel: %d. Output size is too small", define.ShapeText(x.Shape()[2:]), out)
			shape = append(shape, out)
			g.In[lead+i], g.Out[lead+i] = out, in
			continue
		}
		out := (in+2*a.Padding[i]-span)/a.Stride[i] + 1
		shape = append(shape, out)
		g.In[lead+i], g.Out[lead+i] = in, out
	}
	return g, shape
}

// convNd defines conv1d, conv2d and conv3d with numbers as padding.
func convNd(name string, n int) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		checkConvDims(c, n, name)
		return Convolution(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), ConvArgs{
			Stride: c.IntsOf(3, n, "stride"), Padding: c.IntsOf(4, n, "padding"), Dilation: c.IntsOf(5, n, "dilation"), Groups: c.Int(6)})
	})
}

func checkConvDims(c define.Call, n int, name string) {
	w, x := c.Tensor(1), c.Tensor(0)
	source.Check(x.Dim() == n+1 || x.Dim() == n+2, "Expected %dD (unbatched) or %dD (batched) input to %s, but got input of size: %s", n+1, n+2, name, define.ShapeText(x.Shape()))
	source.Check(w.Dim() == n+2, "weight should have at least three dimensions")
}

// convSame defines the forms whose padding is "valid" or "same".
func convSame(name string, n int) define.Definition {
	return define.Giving(name+".padding", func(c define.Call) *tensor.Tensor {
		x, weight := c.Tensor(0), c.Tensor(1)
		a := ConvArgs{Stride: c.IntsOf(3, n, "stride"), Padding: make([]int, n), Dilation: c.IntsOf(5, n, "dilation"), Groups: c.Int(6)}
		if c.Str(4) == "same" {
			x = a.padSame(x, weight, n)
		}
		return Convolution(x, weight, c.OptionalTensor(2), a)
	}).Checked(func(c define.Call) {
		checkConvDims(c, n, name)
		checkPadding(c.Str(4))
		for _, stride := range c.IntsOf(3, n, "stride") {
			source.Check(c.Str(4) != "same" || stride == 1, "padding='same' is not supported for strided convolutions")
		}
	})
}

// padSame sets the padding that keeps the size; what is uneven is padded behind the input.
func (a *ConvArgs) padSame(x, weight *tensor.Tensor, n int) *tensor.Tensor {
	amounts := make([]int, 2*n)
	uneven := false
	for i := range n {
		total := a.Dilation[i] * (weight.Size(i+2) - 1)
		a.Padding[i] = total / 2
		amounts[2*(n-1-i)+1] = total % 2
		uneven = uneven || total%2 != 0
	}
	if !uneven {
		return x
	}
	return views.ConstantPad(x, amounts, tensor.Int(0))
}

func convTranspose(name string, n int) define.Definition {
	return define.Giving(name, func(c define.Call) *tensor.Tensor {
		checkConvDims(c, n, strings.TrimSuffix(name, ".input"))
		return Convolution(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), ConvArgs{
			Stride: c.IntsOf(3, n, "stride"), Padding: c.IntsOf(4, n, "padding"), OutputPadding: c.IntsOf(5, n, "output_padding"),
			Groups: c.Int(6), Dilation: c.IntsOf(7, n, "dilation"), Transposed: true})
	})
}

func generalConv(c define.Call) *tensor.Tensor {
	n := c.Tensor(1).Dim() - 2
	source.Check(n >= 1 && n <= 3, "expected weight to have 3 to 5 dimensions, but got %d", n+2)
	return Convolution(c.Tensor(0), c.Tensor(1), c.OptionalTensor(2), ConvArgs{
		Stride: c.IntsOf(3, n, "stride"), Padding: c.IntsOf(4, n, "padding"), Dilation: c.IntsOf(5, n, "dilation"),
		Transposed: c.Bool(6), OutputPadding: c.IntsOf(7, n, "output_padding"), Groups: c.Int(8)})
}

// windowsText is what messages say of sliding windows.
func windowsText(g conv.Convolution) string {
	return fmt.Sprintf("kernel_size=(%d, %d), dilation=(%d, %d), padding=(%d, %d)", g.Kernel[1], g.Kernel[2], g.Dilation[1], g.Dilation[2], g.Padding[1], g.Padding[2])
}

// patches describes the sliding windows of im2col and col2im over images of one channel.
func patches(images int, in [2]int, c define.Call, at int) conv.Convolution {
	kernel, dilation, padding, stride := c.IntsOf(at, 2, "kernel_size"), c.IntsOf(at+1, 2, "dilation"), c.IntsOf(at+2, 2, "padding"), c.IntsOf(at+3, 2, "stride")
	g := conv.Convolution{Batch: images, Groups: 1, InChannels: 1, In: [3]int{1, in[0], in[1]}, Out: [3]int{1, 1, 1},
		Kernel: [3]int{1, kernel[0], kernel[1]}, Stride: [3]int{1, stride[0], stride[1]}, Dilation: [3]int{1, dilation[0], dilation[1]}, Padding: [3]int{0, padding[0], padding[1]}}
	checkPair("kernel size", "kernel", kernel)
	checkPair("dilation", "dilation", dilation)
	checkPair("stride", "stride", stride)
	for i := range 2 {
		g.Out[i+1] = (in[i]+2*padding[i]-dilation[i]*(kernel[i]-1)-1)/stride[i] + 1
	}
	if g.Out[1] <= 0 || g.Out[2] <= 0 {
		source.Raise(source.RuntimeError, "Given input with spatial size (%d, %d), %s, calculated shape of the array of sliding blocks as (%d, %d), but its components must be at least one.", in[0], in[1], windowsText(g), g.Out[1], g.Out[2])
	}
	return g
}

// checkPair fails where a height or a width is not positive.
func checkPair(what, name string, v []int) {
	source.Check(v[0] > 0 && v[1] > 0, "%s should be greater than zero, but got %s_height: %d %s_width: %d", what, name, v[0], name, v[1])
}

func im2col(c define.Call, x *tensor.Tensor) *tensor.Tensor {
	define.WrapDim(1, x)
	define.WrapDim(2, x)
	batched := x.Dim() == 4
	if x.Dim() > 4 || x.Dim() < 3 || slices.Contains(x.Shape()[x.Dim()-3:], 0) {
		source.Raise(source.RuntimeError, "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: %s", define.ShapeText(x.Shape()))
	}
	if !batched {
		x = source.Must(x.Unsqueeze(0))
	}
	g := patches(x.Size(0)*x.Size(1), [2]int{x.Size(2), x.Size(3)}, c, 1)
	define.CheckFloating("im2col_out_cpu", x)
	shape := []int{x.Size(0), x.Size(1) * g.Kernel[1] * g.Kernel[2], g.Out[1] * g.Out[2]}
	var out *tensor.Tensor
	if x.DType() == tensor.Float64 {
		out = moved(x, define.Empty(shape, tensor.Float64), func(in, columns []float64) { conv.Unfold(g, in, columns) })
	} else {
		out = moved(x, define.Empty(shape, tensor.Float32), func(in, columns []float32) { conv.Unfold(g, in, columns) })
	}
	if !batched {
		out = source.Must(out.Select(0, 0))
	}
	return elementwise.OwnTo(out, x.DType())
}

func col2im(c define.Call, x *tensor.Tensor) *tensor.Tensor {
	size := c.IntsOf(1, 2, "output_size")
	source.Check(x.Dim() == 2 || x.Dim() == 3, "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: %s", define.ShapeText(x.Shape()))
	batched := x.Dim() == 3
	if !batched {
		x = source.Must(x.Unsqueeze(0))
	}
	kernel := c.IntsOf(2, 2, "kernel_size")
	checkPair("kernel size", "kernel", kernel)
	source.Check(x.Size(1)%(kernel[0]*kernel[1]) == 0, "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)=%d and kernel_size=(%d, %d).", x.Size(1), kernel[0], kernel[1])
	channels := x.Size(1) / (kernel[0] * kernel[1])
	g := patches(x.Size(0)*channels, [2]int{size[0], size[1]}, c, 2)
	if x.Size(2) != g.Out[1]*g.Out[2] {
		source.Raise(source.RuntimeError, "Given output_size=(%d, %d), %s, stride=(%d, %d), expected size of input's dimension 2 to match the calculated number of sliding blocks %d * %d = %d, but got input.size(2)=%d.",
			size[0], size[1], windowsText(g), g.Stride[1], g.Stride[2], g.Out[1], g.Out[2], g.Out[1]*g.Out[2], x.Size(2))
	}
	define.CheckFloating("col2im_out_cpu", x)
	shape := []int{x.Size(0), channels, size[0], size[1]}
	var out *tensor.Tensor
	if x.DType() == tensor.Float64 {
		out = moved(x, define.Zeros(shape, tensor.Float64), func(columns, in []float64) { conv.Fold(g, columns, in) })
	} else {
		out = moved(x, define.Zeros(shape, tensor.Float32), func(columns, in []float32) { conv.Fold(g, columns, in) })
	}
	if !batched {
		out = source.Must(out.Select(0, 0))
	}
	return elementwise.OwnTo(out, x.DType())
}

// moved returns out after a function has written to its elements from those of x in the same type.
func moved[T float32 | float64](x, out *tensor.Tensor, move func(from, to []T)) *tensor.Tensor {
	in := elementwise.Contiguous(elementwise.To(x, out.DType()))
	move(tensor.Data[T](in), tensor.Data[T](out))
	if in != x {
		in.Release()
	}
	return out
}

var ConvFamily = []define.Definition{
	define.Decomposed("_slow_conv2d_forward", composeSlowConv).With(ops.Def{Grad: slowConvGrad, Tags: ops.Grouped | ops.SavesOperand}),
	convNd("conv1d", 1).With(ops.Def{Parts: convParts(1), Reads: ops.ReadsOperands, Grad: convGrad, Tags: ops.SavesOperand}),
	convNd("conv2d", 2).With(ops.Def{Parts: convParts(2), Reads: ops.ReadsOperands, Grad: convGrad, Tags: ops.SavesOperand}),
	convNd("conv3d", 3).With(ops.Def{Parts: convParts(3), Reads: ops.ReadsOperands, Grad: convGrad, Tags: ops.SavesOperand}),
	convSame("conv1d", 1), convSame("conv2d", 2), convSame("conv3d", 3),
	convTranspose("conv_transpose1d", 1).With(ops.Def{Parts: transposedConvParts(1), Reads: ops.ReadsOperands, Grad: transposedConvGrad}), convTranspose("conv_transpose2d.input", 2).With(ops.Def{Parts: transposedConvParts(2), Reads: ops.ReadsOperands, Grad: transposedConvGrad}), convTranspose("conv_transpose3d.input", 3).With(ops.Def{Parts: transposedConvParts(3), Reads: ops.ReadsOperands, Grad: transposedConvGrad}),
	define.Giving("_convolution", generalConv).With(ops.Def{Reads: ops.ReadsOperands, Grad: generalConvGrad}),
	define.Giving("_convolution.deprecated", generalConv).With(ops.Def{Reads: ops.ReadsOperands, Grad: generalConvGrad}),
	define.Giving("convolution", generalConv).With(ops.Def{Reads: ops.ReadsOperands, Grad: generalConvGrad}),
	define.Giving("convolution_overrideable", generalConv),
	define.Operator("convolution_backward", convolutionBackward).With(ops.Def{Grad: define.Concrete(convolutionAgain)}),
	define.Giving("im2col", views.ByParts(im2col)).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) {
		shape := c.Shape(0)
		c.Give(0, c.Do("col2im", c.G(), shape[len(shape)-2:], c.Arg(1), c.Arg(2), c.Arg(3), c.Arg(4)))
	}), Tags: ops.AsWritten}),
	define.Giving("col2im", views.ByParts(col2im)).With(ops.Def{Grad: define.Concrete(func(c define.Gradient) { c.Give(0, c.Do("im2col", c.G(), c.Arg(2), c.Arg(3), c.Arg(4), c.Arg(5))) })}),
	define.Giving("conv_tbc", func(c define.Call) *tensor.Tensor {
		source.Check(c.Tensor(0).Dim() == 3 && c.Tensor(1).Dim() == 3, "Input and weight must have 3 dims: time, batch, in_channel and width, in_channel, out_channel, but got %s and %s",
			define.ShapeText(c.Tensor(0).Shape()), define.ShapeText(c.Tensor(1).Shape()))
		x := source.Must(c.Tensor(0).Permute(1, 2, 0))
		w := source.Must(c.Tensor(1).Permute(2, 1, 0))
		padding := c.Int(3)
		if x.Size(2) == 0 && padding > 0 {
			x, padding = views.ConstantPad(x, []int{padding, padding}, tensor.Int(0)), 0
		}
		out := Convolution(x, w, c.Tensor(2), ConvArgs{Stride: []int{1}, Padding: []int{padding}, Dilation: []int{1}, Groups: 1})
		return source.Must(out.Permute(2, 0, 1))
	}),
}

// ConvFurther are the records of operators of convolutions that are implemented elsewhere.
var ConvFurther = []ops.Def{
	{Name: "conv1d.padding", Decomp: composeSame("conv1d")},
	{Name: "conv2d.padding", Decomp: composeSame("conv2d")},
	{Name: "conv3d.padding", Decomp: composeSame("conv3d")},
}

// convParts is a convolution of n dimensions as the general one.
func convParts(n int) ops.Decomposition {
	return define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return oneImage(x, a[0].Tensor(), n, func(in define.Tensors) define.Tensors {
			return x.Do("convolution", in, a[1], a[2], define.NumbersOfValue(a[3], n), define.NumbersOfValue(a[4], n), define.NumbersOfValue(a[5], n), false, make([]int, n), a[6])
		})
	})
}

// transposedConvParts is a transposed convolution of n dimensions as the general one.
func transposedConvParts(n int) ops.Decomposition {
	return define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		return oneImage(x, a[0].Tensor(), n, func(in define.Tensors) define.Tensors {
			return x.Do("convolution", in, a[1], a[2], define.NumbersOfValue(a[3], n), define.NumbersOfValue(a[4], n), define.NumbersOfValue(a[7], n), true, define.NumbersOfValue(a[5], n), a[6])
		})
	})
}

// oneImage has an image without a batch be one of a batch of one.
func oneImage(x define.Composer, t define.Tensors, n int, f func(in define.Tensors) define.Tensors) define.Tensors {
	if t.Dim() != n+1 {
		return f(t)
	}
	return x.Do("squeeze.dim", f(x.Do("unsqueeze", t, 0)), 0)
}

// convSame pads by the convolution itself; what is uneven is padded behind the input first.
// checkPadding fails on a word for padding that there is not.
func checkPadding(mode string) {
	if mode != "same" && mode != "valid" {
		source.Raise(source.RuntimeError, "Invalid padding string: '%s'", mode)
	}
}

func composeSame(name string) ops.Decomposition {
	return define.Composing(func(x define.Composer, a []value.Value) define.Tensors {
		checkPadding(a[4].Str())
		input, weight := a[0].Tensor(), a[1].Tensor()
		n := max(weight.Dim()-2, 0) // the convolution says what is wrong with a weight of too few dimensions
		padding := make([]int, n)
		if n > 0 && a[4].Str() == "same" {
			dilation := define.NumbersOfValue(a[5], n)
			source.Check(len(dilation) == n, "dilation cannot broadcast to %d dimensions", n)
			behind := make([]int, 2*n)
			for d := range n {
				total := dilation[d] * (weight.Size(d+2) - 1)
				padding[d], behind[2*(n-1-d)+1] = total/2, total%2
			}
			if slices.Max(behind) > 0 && (input.Dim() == n+1 || input.Dim() == n+2) {
				input = x.Do("constant_pad_nd", input, behind, 0.0)
			}
		}
		return x.Do(name, input, weight, a[2], a[3], padding, a[5], a[6])
	})
}

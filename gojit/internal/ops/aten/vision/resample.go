// Package vision has the operators on images: resampling, grids, boxes of detections.
package vision

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/kernel"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/conv"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// scheme is a way to resample.
type scheme struct {
	taps       resizing
	picks      func(in, out int, scale float64) *tensor.Tensor // the input that each output is, where it is one
	between    func(in, out int, scale float64, d tensor.DType) between
	contiguous bool // whatever the layout of the input
}

// between tells of outputs that lie between an input and the next one, if there is a next one, where that is and how much of both they are.
type between struct{ low, ownShare, nextShare *tensor.Tensor }

func (b *between) release() {
	b.low.Release()
	b.ownShare.Release()
	b.nextShare.Release()
}

// resizing appends the outputs from lo to hi along one dimension.
type resizing func(t *taps, lo, hi, in int, scale float64)

// pixelScale returns the inputs per output. given is the factor the caller asked for, 0 for none. What is more than twice all of them is cut: the first
// output lies behind the last input already, and products with it are numbers that an integer holds.
func pixelScale(in, out int, given float64, alignCorners bool) float64 {
	switch {
	case alignCorners && out > 1:
		return float64(in-1) / float64(out-1)
	case alignCorners:
		return 0
	case given > 0:
		return min(1/given, float64(2*in+2))
	}
	return float64(in) / float64(out)
}

// nearestPlaces is where the outputs are among the inputs: (i+shift)*scale without its fraction, at most the last.
var nearestPlaces = &elementwise.Counting{Computed: tensor.Float32, Params: 3, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
	return b.Binary(kernel.Min, b.Unary(kernel.Trunc, b.Mul(b.Add(x[0], x[1]), x[2])), x[3])
}}

func nearest(exact bool) scheme {
	shift := float32(0)
	if exact {
		shift = 0.5
	}
	picks := func(in, out int, scale float64) *tensor.Tensor {
		return nearestPlaces.Fill(out, tensor.Int64, tensor.Float(float64(shift)), tensor.Float(float64(float32(scale))), tensor.Float(float64(in-1)))
	}
	return scheme{picks: picks, taps: func(t *taps, lo, hi, in int, scale float64) {
		s := float32(scale)
		inputs, weights := t.fixed(lo, hi, 1)
		for i := range inputs {
			inputs[i], weights[i] = max(min(int((float32(lo+i)+shift)*s), in-1), 0), 1 // what is rounded to zero is not below it
		}
	}}
}

// linearPlaces are the kernels of between by whether corners are aligned: of low, ownShare and nextShare. They count outputs, and take the scale and the last input.
var linearPlaces = func() (kernels [2][3]*elementwise.Counting) {
	for corners := range kernels {
		at := func(b elementwise.Builder, x []elementwise.Element) elementwise.Element {
			if corners == 1 {
				return b.Mul(x[1], x[0])
			}
			half := b.Number(x[0], 0.5)
			return b.Binary(kernel.Max, b.Sub(b.Mul(x[1], b.Add(x[0], half)), half), b.Number(x[0], 0))
		}
		low := func(b elementwise.Builder, x []elementwise.Element) elementwise.Element {
			return b.Binary(kernel.Min, b.Unary(kernel.Trunc, at(b, x)), x[2])
		}
		next := func(b elementwise.Builder, x []elementwise.Element) elementwise.Element {
			return b.Sub(at(b, x), low(b, x))
		}
		kernels[corners] = [3]*elementwise.Counting{
			{Computed: tensor.Float64, Params: 2, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element { return low(b, x) }},
			{Computed: tensor.Float64, Params: 2, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element {
				return b.Sub(b.Number(x[0], 1), next(b, x))
			}},
			{Computed: tensor.Float64, Params: 2, Expr: func(b elementwise.Builder, x ...elementwise.Element) elementwise.Element { return next(b, x) }},
		}
	}
	return kernels
}()

func linearTaps(alignCorners bool) scheme {
	places := func(in, out int, scale float64, d tensor.DType) between {
		k, params := linearPlaces[define.Btoi(alignCorners)], []tensor.Scalar{tensor.Float(scale), tensor.Float(float64(in - 1))}
		return between{k[0].Fill(out, tensor.Int64, params...), k[1].Fill(out, d, params...), k[2].Fill(out, d, params...)}
	}
	return scheme{between: places, taps: func(t *taps, lo, hi, in int, scale float64) {
		inputs, weights := t.fixed(lo, hi, 2)
		pairs, shares := grouped[[2]int](inputs, hi-lo), grouped[[2]float64](weights, hi-lo)
		for i := range pairs {
			at := sourceIndex(lo+i, scale, alignCorners)
			if at < 0 {
				at = 0
			}
			low := min(int(at), in-1)
			f := at - float64(low)
			pairs[i][0], pairs[i][1] = low, min(low+1, in-1)
			shares[i][0], shares[i][1] = 1-f, f
		}
	}}
}

func sourceIndex(i int, scale float64, alignCorners bool) float64 {
	if alignCorners {
		return scale * float64(i)
	}
	return scale*(float64(i)+0.5) - 0.5
}

func cubicTaps(alignCorners bool) scheme {
	return scheme{taps: func(t *taps, lo, hi, in int, scale float64) {
		inputs, weights := t.fixed(lo, hi, 4)
		for i := range hi - lo {
			at := sourceIndex(lo+i, scale, alignCorners)
			base := int(math.Floor(at))
			for j := range 4 {
				inputs[4*i+j], weights[4*i+j] = min(max(base-1+j, 0), in-1), cubic(math.Abs(at-float64(base-1+j)), -0.75)
			}
		}
	}, contiguous: true}
}

// cubic is Keys' interpolation kernel.
func cubic(x, a float64) float64 {
	switch {
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return (((x-5)*x+8)*x - 4) * a
	}
	return 0
}

// smooth makes antialiasing taps of a filter with a support.
func smooth(support float64, filter func(x float64) float64) scheme {
	return scheme{taps: func(t *taps, lo, hi, in int, scale float64) {
		reach, squeeze := support, 1.0
		if scale >= 1 {
			reach, squeeze = support*scale, 1/scale
		}
		define.Room(16, hi-lo, int(min(float64(in), 2*reach+1)))
		var watch parallel.Watch
		for i := lo; i < hi; i++ {
			center := scale * (float64(i) + 0.5)
			low, high := max(int(center-reach+0.5), 0), min(int(center+reach+0.5), in)
			watch.Did(max(0, high-low))
			from, total := len(t.weights), 0.0
			for j := low; j < high; j++ {
				w := filter(math.Abs((float64(j) - center + 0.5) * squeeze))
				t.add(j, w)
				total += w
			}
			for j := range t.weights[from:] {
				t.weights[from+j] /= total
			}
			t.end()
		}
	}, contiguous: support > 1}
}

func triangleFilter(x float64) float64 { return max(0, 1-x) }
func cubicFilter(x float64) float64    { return cubic(x, -0.5) }

// lanczosFilter is the sinc below three times as wide a one.
func lanczosFilter(x float64) float64 {
	switch {
	case x == 0:
		return 1
	case x >= 3:
		return 0
	}
	return 3 * math.Sin(math.Pi*x) * math.Sin(math.Pi*x/3) / (math.Pi * math.Pi * x * x)
}

// scaledSizes returns the output sizes for an input of a shape, given directly or by factors, and the factors.
func scaledSizes(c define.Call, shape []int, sizes, factors, n int) ([]int, []float64) {
	source.Check(c.IsNone(sizes) != c.IsNone(factors), "Must specify exactly one of output_size and scale_factors")
	if !c.IsNone(sizes) {
		return outputSize(c, sizes, n), nil
	}
	f := c.Floats(factors)
	source.Check(len(f) == n, "scale_factors must have %d elements, but got %d", n, len(f))
	source.Check(len(shape) == n+2, "It is expected input_size equals to %d, but got size %d", n+2, len(shape))
	out := make([]int, n)
	for i := range out {
		out[i] = int(float64(shape[i+2]) * f[i])
	}
	return out, f
}

// outputSize reads the sizes of n dimensions.
func outputSize(c define.Call, i, n int) []int {
	sizes := c.Ints(i)
	source.Check(len(sizes) == n, "It is expected output_size equals to %d, but got size %d", n, len(sizes))
	return sizes
}

// resampler is an operator over n dimensions.
type resampler struct {
	name       string
	n          int
	hasCorners bool
	how        func(alignCorners bool) scheme
	weights    string // the kernel of PyTorch that makes weights, which has no integers but bytes; "" where there are none
}

// input reads the tensor to resample.
func (r *resampler) input(c define.Call) *tensor.Tensor {
	t := c.Tensor(0)
	if d := t.DType(); r.weights != "" && !d.IsFloating() && !d.IsQuantized() && d != tensor.Uint8 {
		elementwise.NotImplemented(r.weights, d)
	}
	return t
}

// corners reads argument i of an operator that has the argument.
func (r *resampler) corners(c define.Call, i int) bool { return r.hasCorners && c.Bool(i) }

// factors reads one factor for each dimension from argument i on.
func (r *resampler) factors(c define.Call, i int) []float64 {
	factors := make([]float64, r.n)
	for d := range factors {
		factors[d] = c.FloatOr(i+d, 0)
	}
	return factors
}

// definitions returns both overloads of the operator and of its gradient.
func (r resampler) definitions() []define.Definition {
	corners := define.Btoi(r.hasCorners)
	all := []define.Definition{
		define.Giving(r.name+".vec", func(c define.Call) *tensor.Tensor {
			sizes, factors := scaledSizes(c, c.Tensor(0).Shape(), 1, 2+corners, r.n)
			return resample(r.input(c), sizes, factors, r.corners(c, 2), r.how(r.corners(c, 2)))
		}),
		define.Giving(r.name, func(c define.Call) *tensor.Tensor {
			return resample(r.input(c), outputSize(c, 1, r.n), r.factors(c, 2+corners), r.corners(c, 2), r.how(r.corners(c, 2)))
		}),
		define.Giving(r.name+"_backward.vec", func(c define.Call) *tensor.Tensor {
			sizes, factors := scaledSizes(c, c.Ints(2), 1, 3+corners, r.n)
			return r.gradient(c.Tensor(0), sizes, c.Ints(2), factors, r.corners(c, 3))
		}),
		define.Giving(r.name+"_backward", func(c define.Call) *tensor.Tensor {
			return r.gradient(c.Tensor(0), c.Ints(1), c.Ints(2), r.factors(c, 3+corners), r.corners(c, 3))
		}),
	}
	if strings.Contains(r.name, "nearest") || r.name == "upsample_bilinear2d" {
		all[0].Form, all[1].Form = define.SameScale, define.SameScale
	}
	return all
}

// lanczos are operators of PyTorch 2, which its interpolate names in every archive.
func lanczos() []define.Definition {
	const name = "_upsample_lanczos2d_aa"
	all := resampler{name, 2, true, whatever(smooth(3, lanczosFilter)), "compute_indices_weights_aa"}.definitions()
	for i, of := range []struct {
		arguments string
		grad      define.Derivative
	}{
		{".vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors)", resampledGrad(name + "_backward.vec")},
		{"(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None)", resampledGrad(name + "_backward")},
		{"_backward.vec(Tensor grad_output, SymInt[]? output_size, SymInt[] input_size, bool align_corners, float[]? scale_factors)", resampledAgain(name + ".vec")},
		{"_backward(Tensor grad_output, SymInt[2] output_size, SymInt[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None)", resampledAgain(name)},
	} {
		all[i] = all[i].OfSchema("aten::" + name + of.arguments + " -> Tensor").With(ops.Def{Grad: define.Concrete(of.grad)})
	}
	return all
}

// gradient gives that of an input from that of the output.
func (r *resampler) gradient(g *tensor.Tensor, sizes, shape []int, factors []float64, alignCorners bool) *tensor.Tensor {
	source.Check(len(sizes) == r.n, "It is expected output_size equals to %d, but got size %d", r.n, len(sizes))
	source.Check(len(shape) == r.n+2, "It is expected input_size equals to %d, but got size %d", r.n+2, len(shape))
	checkResized(shape[2:], sizes)
	source.Check(g.Dim() == r.n+2, "Expected grad_output to be a tensor of dimension %d but got: dimension %d", r.n+2, g.Dim())
	for d, size := range slices.Concat(shape[:2], sizes) {
		source.Check(g.Size(d) == size, "Expected grad_output to have the same shape as output; output.size(%d) = %d but got grad_output.size(%d) = %d", d, size, d, g.Size(d))
	}
	if !g.DType().IsFloating() {
		elementwise.NotImplemented(r.name+"_backward", g.DType())
	}
	define.Room(g.DType().Size(), shape...)
	return resampleGradient(g, shape, factors, alignCorners, r.how(alignCorners))
}

func whatever(s scheme) func(bool) scheme { return func(bool) scheme { return s } }

// interpolateOf is the general form: mode and either a size or factors.
func interpolateOf(c define.Call) *tensor.Tensor {
	x, mode := c.Tensor(0), c.Str(3)
	n := x.Dim() - 2
	corners := !c.IsNone(4) && c.Bool(4)
	source.Check(n >= 1, "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got %s)", x.Dim(), mode)
	source.Check(c.IsNone(1) != c.IsNone(2), "only one of size or scale_factor should be defined")
	sizes := make([]int, n)
	var scales []float64
	if !c.IsNone(1) {
		sizes = c.IntsOf(1, n, "size")
	} else {
		if c.Args[2].IsFloat() {
			scales = slices.Repeat([]float64{c.Float(2)}, n)
		} else {
			scales = c.Floats(2)
		}
		source.Check(len(scales) == n, "scale_factor shape must match input shape. Input is %dD, scale_factor size is %d", n, len(scales))
		for i := range sizes {
			sizes[i] = int(float64(x.Size(i+2)) * scales[i])
		}
		if !c.IsNone(5) && c.Bool(5) {
			scales = nil
		}
	}
	antialias := c.Bool(6)
	var how scheme
	switch {
	case mode == "nearest":
		how = nearest(false)
	case mode == "nearest-exact":
		how = nearest(true)
	case mode == "area":
		p := conv.Pooling{N: n}
		for i, s := range sizes {
			p.Windows = append(p.Windows, conv.AdaptiveWindows(x.Size(i+2), s))
		}
		return conv.AveragePool(x, p, false, 0)
	case mode == "linear" && n == 1, mode == "bilinear" && n == 2 && !antialias, mode == "trilinear" && n == 3:
		how = linearTaps(corners)
	case mode == "bicubic" && n == 2 && !antialias:
		how = cubicTaps(corners)
	case mode == "bilinear" && n == 2:
		how = smooth(1, triangleFilter)
	case mode == "bicubic" && n == 2:
		how = smooth(2, cubicFilter)
	default:
		source.Check(false, "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got %s)", x.Dim(), mode)
	}
	return resample(x, sizes, scales, corners, how)
}

var ResampleFamily = slices.Concat(
	resampler{"upsample_nearest1d", 1, false, whatever(nearest(false)), ""}.definitions(),
	resampler{"upsample_nearest2d", 2, false, whatever(nearest(false)), ""}.definitions(),
	resampler{"upsample_nearest3d", 3, false, whatever(nearest(false)), ""}.definitions(),
	resampler{"_upsample_nearest_exact1d", 1, false, whatever(nearest(true)), ""}.definitions(),
	resampler{"_upsample_nearest_exact2d", 2, false, whatever(nearest(true)), ""}.definitions(),
	resampler{"_upsample_nearest_exact3d", 3, false, whatever(nearest(true)), ""}.definitions(),
	resampler{"upsample_linear1d", 1, true, linearTaps, "compute_indices_weights_linear"}.definitions(),
	resampler{"upsample_bilinear2d", 2, true, linearTaps, "compute_indices_weights_linear"}.definitions(),
	resampler{"upsample_trilinear3d", 3, true, linearTaps, "compute_indices_weights_linear"}.definitions(),
	resampler{"upsample_bicubic2d", 2, true, cubicTaps, "compute_indices_weights_cubic"}.definitions(),
	resampler{"_upsample_bilinear2d_aa", 2, true, whatever(smooth(1, triangleFilter)), "compute_indices_weights_aa"}.definitions(),
	resampler{"_upsample_bicubic2d_aa", 2, true, whatever(smooth(2, cubicFilter)), "compute_indices_weights_aa"}.definitions(),
	lanczos(),
	[]define.Definition{
		define.Giving("__interpolate", interpolateOf).With(ops.Def{Decomp: define.Composing(composeInterpolate)}),
		define.Giving("__interpolate.scale_list", interpolateOf).With(ops.Def{Decomp: define.Composing(composeInterpolate)}),
		define.Giving("__interpolate.size_list", interpolateOf).With(ops.Def{Decomp: define.Composing(composeInterpolate)}),
		define.Giving("__interpolate.size_list_scale_list", interpolateOf).With(ops.Def{Decomp: define.Composing(composeInterpolate)}),
		define.Giving("grid_sampler", gridSampleOf).With(ops.Def{Decomp: define.Composing(samplerOfDims)}).Checked(func(c define.Call) { define.CheckType(c.Tensor(0), c.Tensor(1)) }),
		define.Giving("grid_sampler_3d", gridSampleVolume).With(ops.Def{Grad: define.Concrete(gridGrad("grid_sampler_3d_backward"))}),
		define.Giving("_grid_sampler_2d_cpu_fallback", gridSampleOf).With(ops.Def{Decomp: define.Composing(composeGridSample)}),
		define.Giving("grid_sampler_2d", gridSample).With(ops.Def{Grad: define.Concrete(gridGrad("grid_sampler_2d_backward"))}).Quantized(define.SameScale),
		define.Operator("grid_sampler_2d_backward", gridSampleBackward),
		define.Operator("grid_sampler_3d_backward", gridSampleBackward),
		define.Giving("affine_grid_generator", func(c define.Call) *tensor.Tensor { return affineGrid(c.Tensor(0), c.Ints(1), c.Bool(2)) }).With(ops.Def{Grad: define.Concrete(affineGridGrad)}),
		define.Decomposed("affine_grid_generator_backward", affineGridBackward).With(ops.Def{Decomp: affineGridBackward}),
	})

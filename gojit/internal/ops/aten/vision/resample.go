package aten

import (
	"strings"

	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ops"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// tap is one input that an output is made of along a dimension.
type tap struct {
	index  int
	weight float64
}

// scheme is a way to resample.
type scheme struct {
	taps       resizing
	contiguous bool // whatever the layout of the input
}

// resizing tells for each output along one dimension which inputs it is made of.
type resizing func(in, out int, scale float64) [][]tap

// pixelScale returns the inputs per output. given is the factor the caller asked for, 0 for none.
func pixelScale(in, out int, given float64, alignCorners bool) float64 {
	switch {
	case alignCorners && out > 1:
		return float64(in-1) / float64(out-1)
	case alignCorners:
		return 0
	case given > 0:
		return 1 / given
	}
	return float64(in) / float64(out)
}

// tapsWork is what the taps of one output are as elements of a loop.
const tapsWork = 16

// tapsEach makes lists of n taps for some outputs.
func tapsEach(outputs, n int) [][]tap {
	taps, all := table[[]tap](outputs), table[tap](room(1, n, outputs))
	for i := range taps {
		taps[i] = all[i*n : (i+1)*n : (i+1)*n]
	}
	return taps
}

func nearest(exact bool) scheme {
	return scheme{taps: func(in, out int, scale float64) [][]tap {
		taps := tapsEach(out, 1)
		s := float32(scale)
		var watch tensor.Watch
		for i := range taps {
			watch.Did(tapsWork)
			at := float32(i)
			if exact {
				at += 0.5
			}
			taps[i][0] = tap{max(min(int(math.Floor(float64(at*s))), in-1), 0), 1}
		}
		return taps
	}}
}

func linearTaps(alignCorners bool) scheme {
	return scheme{taps: func(in, out int, scale float64) [][]tap {
		taps := tapsEach(out, 2)
		var watch tensor.Watch
		for i := range taps {
			watch.Did(tapsWork)
			at := max(sourceIndex(i, scale, alignCorners), 0)
			low := min(int(at), in-1)
			high := min(low+1, in-1)
			f := at - float64(low)
			taps[i][0], taps[i][1] = tap{low, 1 - f}, tap{high, f}
		}
		return taps
	}}
}

func sourceIndex(i int, scale float64, alignCorners bool) float64 {
	if alignCorners {
		return scale * float64(i)
	}
	return scale*(float64(i)+0.5) - 0.5
}

func cubicTaps(alignCorners bool) scheme {
	return scheme{taps: func(in, out int, scale float64) [][]tap {
		taps := tapsEach(out, 4)
		var watch tensor.Watch
		for i := range taps {
			watch.Did(tapsWork)
			at := sourceIndex(i, scale, alignCorners)
			base := int(math.Floor(at))
			for k := range taps[i] {
				j := k - 1
				w := cubic(math.Abs(at-float64(base+j)), -0.75)
				taps[i][k] = tap{min(max(base+j, 0), in-1), w}
			}
		}
		return taps
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
	return scheme{taps: func(in, out int, scale float64) [][]tap {
		taps := table[[]tap](out)
		reach, squeeze := support, 1.0
		if scale >= 1 {
			reach, squeeze = support*scale, 1/scale
		}
		room(16, out, int(min(float64(in), 2*reach+1)))
		var watch tensor.Watch
		for i := range taps {
			watch.Did(tapsWork)
			center := scale * (float64(i) + 0.5)
			low, high := max(int(center-reach+0.5), 0), min(int(center+reach+0.5), in)
			total := 0.0
			for j := low; j < high; j++ {
				w := filter(math.Abs((float64(j) - center + 0.5) * squeeze))
				taps[i] = append(taps[i], tap{j, w})
				total += w
			}
			for j := range taps[i] {
				taps[i][j].weight /= total
			}
		}
		return taps
	}, contiguous: support > 1}
}

func triangleFilter(x float64) float64 { return max(0, 1-x) }
func cubicFilter(x float64) float64    { return cubic(x, -0.5) }

// scaledSizes returns the output sizes for an input of a shape, given directly or by factors, and the factors.
func scaledSizes(c call, shape []int, sizes, factors, n int) ([]int, []float64) {
	check(c.isNone(sizes) != c.isNone(factors), "Must specify exactly one of output_size and scale_factors")
	if !c.isNone(sizes) {
		return outputSize(c, sizes, n), nil
	}
	f := c.floats(factors)
	check(len(f) == n, "scale_factors must have %d elements, but got %d", n, len(f))
	check(len(shape) == n+2, "It is expected input_size equals to %d, but got size %d", n+2, len(shape))
	out := make([]int, n)
	for i := range out {
		out[i] = int(float64(shape[i+2]) * f[i])
	}
	return out, f
}

// outputSize reads the sizes of n dimensions.
func outputSize(c call, i, n int) []int {
	sizes := c.ints(i)
	check(len(sizes) == n, "It is expected output_size equals to %d, but got size %d", n, len(sizes))
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
func (r *resampler) input(c call) *tensor.Tensor {
	t := c.tensor(0)
	if d := t.DType(); r.weights != "" && !d.IsFloating() && !d.IsQuantized() && d != tensor.Uint8 {
		notImplemented(r.weights, d)
	}
	return t
}

// corners reads argument i of an operator that has the argument.
func (r *resampler) corners(c call, i int) bool { return r.hasCorners && c.bool(i) }

// factors reads one factor for each dimension from argument i on.
func (r *resampler) factors(c call, i int) []float64 {
	factors := make([]float64, r.n)
	for d := range factors {
		factors[d] = c.floatOr(i+d, 0)
	}
	return factors
}

// definitions returns both overloads of the operator and of its gradient.
func (r resampler) definitions() []definition {
	corners := btoi(r.hasCorners)
	all := []definition{
		giving(r.name+".vec", func(c call) *tensor.Tensor {
			sizes, factors := scaledSizes(c, c.tensor(0).Shape(), 1, 2+corners, r.n)
			return resample(r.input(c), sizes, factors, r.corners(c, 2), r.how(r.corners(c, 2)))
		}),
		giving(r.name, func(c call) *tensor.Tensor {
			return resample(r.input(c), outputSize(c, 1, r.n), r.factors(c, 2+corners), r.corners(c, 2), r.how(r.corners(c, 2)))
		}),
		giving(r.name+"_backward.vec", func(c call) *tensor.Tensor {
			sizes, factors := scaledSizes(c, c.ints(2), 1, 3+corners, r.n)
			return r.gradient(c.tensor(0), sizes, c.ints(2), factors, r.corners(c, 3))
		}),
		giving(r.name+"_backward", func(c call) *tensor.Tensor {
			return r.gradient(c.tensor(0), c.ints(1), c.ints(2), r.factors(c, 3+corners), r.corners(c, 3))
		}),
	}
	if strings.HasPrefix(r.name, "upsample_nearest") || r.name == "upsample_bilinear2d" {
		all[0].form, all[1].form = sameScale, sameScale
	}
	return all
}

// gradient gives that of an input from that of the output.
func (r *resampler) gradient(g *tensor.Tensor, sizes, shape []int, factors []float64, alignCorners bool) *tensor.Tensor {
	check(len(sizes) == r.n, "It is expected output_size equals to %d, but got size %d", r.n, len(sizes))
	check(len(shape) == r.n+2, "It is expected input_size equals to %d, but got size %d", r.n+2, len(shape))
	checkResized(shape[2:], sizes)
	check(g.Dim() == r.n+2, "Expected grad_output to be a tensor of dimension %d but got: dimension %d", r.n+2, g.Dim())
	for d, size := range slices.Concat(shape[:2], sizes) {
		check(g.Size(d) == size, "Expected grad_output to have the same shape as output; output.size(%d) = %d but got grad_output.size(%d) = %d", d, size, d, g.Size(d))
	}
	if !g.DType().IsFloating() {
		notImplemented(r.name+"_backward", g.DType())
	}
	room(g.DType().Size(), shape...)
	return resampleGradient(g, shape, factors, alignCorners, r.how(alignCorners))
}

func whatever(s scheme) func(bool) scheme { return func(bool) scheme { return s } }

// interpolateOf is the general form: mode and either a size or factors.
func interpolateOf(c call) *tensor.Tensor {
	x, mode := c.tensor(0), c.str(3)
	n := x.Dim() - 2
	corners := !c.isNone(4) && c.bool(4)
	check(n >= 1, "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got %s)", x.Dim(), mode)
	check(c.isNone(1) != c.isNone(2), "only one of size or scale_factor should be defined")
	sizes := make([]int, n)
	var scales []float64
	if !c.isNone(1) {
		sizes = c.intsOf(1, n, "size")
	} else {
		if c.args[2].IsFloat() {
			scales = slices.Repeat([]float64{c.float(2)}, n)
		} else {
			scales = c.floats(2)
		}
		check(len(scales) == n, "scale_factor shape must match input shape. Input is %dD, scale_factor size is %d", n, len(scales))
		for i := range sizes {
			sizes[i] = int(float64(x.Size(i+2)) * scales[i])
		}
		if !c.isNone(5) && c.bool(5) {
			scales = nil
		}
	}
	antialias := c.bool(6)
	var how scheme
	switch {
	case mode == "nearest":
		how = nearest(false)
	case mode == "nearest-exact":
		how = nearest(true)
	case mode == "area":
		p := pooling{n: n}
		for i, s := range sizes {
			p.windows = append(p.windows, adaptiveWindows(x.Size(i+2), s))
		}
		return averagePool(x, p, false, 0)
	case mode == "linear" && n == 1, mode == "bilinear" && n == 2 && !antialias, mode == "trilinear" && n == 3:
		how = linearTaps(corners)
	case mode == "bicubic" && n == 2 && !antialias:
		how = cubicTaps(corners)
	case mode == "bilinear" && n == 2:
		how = smooth(1, triangleFilter)
	case mode == "bicubic" && n == 2:
		how = smooth(2, cubicFilter)
	default:
		check(false, "Input Error: Only 3D, 4D and 5D input Tensors supported (got %dD) for the modes: nearest | linear | bilinear | bicubic | trilinear | area | nearest-exact (got %s)", x.Dim(), mode)
	}
	return resample(x, sizes, scales, corners, how)
}

var resampleFamily = slices.Concat(
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
	[]definition{
		giving("__interpolate", interpolateOf).with(ops.Def{Decomp: composing(composeInterpolate)}),
		giving("__interpolate.scale_list", interpolateOf).with(ops.Def{Decomp: composing(composeInterpolate)}),
		giving("__interpolate.size_list", interpolateOf).with(ops.Def{Decomp: composing(composeInterpolate)}),
		giving("__interpolate.size_list_scale_list", interpolateOf).with(ops.Def{Decomp: composing(composeInterpolate)}),
		giving("grid_sampler", func(c call) *tensor.Tensor {
			if c.tensor(0).Dim() == 5 {
				return gridSampleVolume(c)
			}
			return gridSample(c)
		}).with(ops.Def{Decomp: composing(composeGridSample)}).checked(func(c call) { checkType(c.tensor(0), c.tensor(1)) }),
		giving("grid_sampler_3d", gridSampleVolume).with(ops.Def{Decomp: composing(composeGridSample)}),
		sameAs("_grid_sampler_2d_cpu_fallback", "grid_sampler_2d"),
		giving("grid_sampler_2d", gridSample).with(ops.Def{Decomp: composing(composeGridSample)}),
		giving("affine_grid_generator", func(c call) *tensor.Tensor { return affineGrid(c.tensor(0), c.ints(1), c.bool(2)) }).with(ops.Def{Grad: concrete(affineGridGrad)}),
		decomposed("affine_grid_generator_backward", affineGridBackward).with(ops.Def{Decomp: affineGridBackward}),
	})

package aten

import (
	"math"
	"slices"

	"torchjit/gojit/tensor"
)

// tap is one input that an output is made of along a dimension.
type tap struct {
	index  int
	weight float64
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

func nearest(exact bool) resizing {
	return func(in, out int, scale float64) [][]tap {
		taps := make([][]tap, out)
		s := float32(scale)
		for i := range taps {
			at := float32(i)
			if exact {
				at += 0.5
			}
			taps[i] = []tap{{min(int(math.Floor(float64(at*s))), in-1), 1}}
		}
		return taps
	}
}

func linearTaps(alignCorners bool) resizing {
	return func(in, out int, scale float64) [][]tap {
		taps := make([][]tap, out)
		for i := range taps {
			at := max(sourceIndex(i, scale, alignCorners), 0)
			low := min(int(at), in-1)
			high := min(low+1, in-1)
			f := at - float64(low)
			taps[i] = []tap{{low, 1 - f}, {high, f}}
		}
		return taps
	}
}

func sourceIndex(i int, scale float64, alignCorners bool) float64 {
	if alignCorners {
		return scale * float64(i)
	}
	return scale*(float64(i)+0.5) - 0.5
}

func cubicTaps(alignCorners bool) resizing {
	return func(in, out int, scale float64) [][]tap {
		taps := make([][]tap, out)
		for i := range taps {
			at := sourceIndex(i, scale, alignCorners)
			base := int(math.Floor(at))
			for j := -1; j <= 2; j++ {
				w := cubic(math.Abs(at-float64(base+j)), -0.75)
				taps[i] = append(taps[i], tap{min(max(base+j, 0), in-1), w})
			}
		}
		return taps
	}
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
func smooth(support float64, filter func(x float64) float64) resizing {
	return func(in, out int, scale float64) [][]tap {
		taps := make([][]tap, out)
		reach, squeeze := support, 1.0
		if scale >= 1 {
			reach, squeeze = support*scale, 1/scale
		}
		for i := range taps {
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
	}
}

func triangleFilter(x float64) float64 { return max(0, 1-x) }
func cubicFilter(x float64) float64    { return cubic(x, -0.5) }

// resample changes the sizes of the last dimensions.
func resample(x *tensor.Tensor, sizes []int, scales []float64, alignCorners bool, how resizing) *tensor.Tensor {
	n := len(sizes)
	check(x.Dim() == n+2, "Expected a %dD tensor as input, but got a %dD tensor", n+2, x.Dim())
	for i, size := range sizes {
		check(x.Size(i+2) > 0 && size > 0, "Input and output sizes should be greater than 0, but got input (%s) output (%s)", shapeText(x.Shape()[2:]), shapeText(sizes))
	}
	d := tensor.Float64 // whole numbers are exact in it
	if x.DType().IsFloating() {
		d = accumulator(x.DType())
	}
	work := to(x, d)
	for i, size := range sizes {
		given := 0.0
		if i < len(scales) {
			given = scales[i]
		}
		in := x.Size(i + 2)
		taps := how(in, size, pixelScale(in, size, given, alignCorners))
		var next *tensor.Tensor
		if d == tensor.Float32 {
			next = resampleDim[float32](work, i+2, taps)
		} else {
			next = resampleDim[float64](work, i+2, taps)
		}
		if work != x {
			work.Release()
		}
		work = next
	}
	return keepFormat(to(work, x.DType()), x)
}

func resampleDim[T interface {
	realFloat
	tensor.Element
}](x *tensor.Tensor, dim int, taps [][]tap) *tensor.Tensor {
	x = contiguous(x)
	in := x.Size(dim)
	shape := slices.Clone(x.Shape())
	shape[dim] = len(taps)
	out := empty(shape, x.DType())
	inner, index := numelOf(shape[dim+1:]), singleTaps(taps)
	src, dst := tensor.Data[T](x), tensor.Data[T](out)
	tensor.Parallel(numelOf(shape[:dim]), rowGrain/max(inner*len(taps), 1)+1, func(lo, hi int) {
		for o := lo; o < hi; o++ {
			from, to := src[o*in*inner:][:in*inner], dst[o*len(taps)*inner:][:len(taps)*inner]
			switch {
			case inner > 1:
			case index != nil:
				for i, at := range index {
					to[i] = from[at]
				}
				continue
			default:
				resampleRow(to, from, taps)
				continue
			}
			for i, list := range taps {
				mixRows(to[i*inner:][:inner], from, list)
			}
		}
	})
	return out
}

// singleTaps returns the input of each output where that is all it is made of, else nil.
func singleTaps(taps [][]tap) []int {
	index := make([]int, len(taps))
	for i, list := range taps {
		if len(list) != 1 || list[0].weight != 1 {
			return nil
		}
		index[i] = list[0].index
	}
	return index
}

// resampleRow makes the elements of a row.
func resampleRow[T realFloat](to, from []T, taps [][]tap) {
	for i, list := range taps {
		if len(list) == 2 {
			to[i] = T(list[0].weight)*from[list[0].index] + T(list[1].weight)*from[list[1].index]
			continue
		}
		sum := T(0)
		for _, t := range list {
			sum += T(t.weight) * from[t.index]
		}
		to[i] = sum
	}
}

// mixRows makes a row of some of the rows behind each other in from.
func mixRows[T realFloat](to, from []T, list []tap) {
	row := func(t tap) []T { return from[t.index*len(to):][:len(to)] }
	switch {
	case len(list) == 1 && list[0].weight == 1:
		copy(to, row(list[0]))
	case len(list) == 2:
		a, b, v, w := row(list[0]), row(list[1]), T(list[0].weight), T(list[1].weight)
		for j := range to {
			to[j] = v*a[j] + w*b[j]
		}
	default:
		clear(to)
		for _, t := range list {
			w := T(t.weight)
			for j, v := range row(t) {
				to[j] += w * v
			}
		}
	}
}

// scaledSizes returns the output sizes given directly or by factors, and the factors.
func scaledSizes(c call, sizes, factors, n int) ([]int, []float64) {
	x := c.tensor(0)
	check(c.isNone(sizes) != c.isNone(factors), "Must specify exactly one of output_size and scale_factors")
	if !c.isNone(sizes) {
		return c.intsOf(sizes, n, "output_size"), nil
	}
	f := c.floats(factors)
	check(len(f) == n, "scale_factors must have %d elements, but got %d", n, len(f))
	out := make([]int, n)
	for i := range out {
		out[i] = int(float64(x.Size(i+2)) * f[i])
	}
	return out, f
}

// upsample defines both overloads of an upsampling over n dimensions.
func upsample(name string, n int, hasCorners bool, how func(alignCorners bool) resizing) []definition {
	corners := func(c call, i int) bool { return hasCorners && c.bool(i) }
	return []definition{
		giving(name+".vec", func(c call) *tensor.Tensor {
			factors := 2 + btoi(hasCorners)
			sizes, scales := scaledSizes(c, 1, factors, n)
			return resample(c.tensor(0), sizes, scales, corners(c, 2), how(corners(c, 2)))
		}),
		giving(name, func(c call) *tensor.Tensor {
			scales := make([]float64, n)
			for i := range scales {
				scales[i] = c.floatOr(2+btoi(hasCorners)+i, 0)
			}
			return resample(c.tensor(0), c.intsOf(1, n, "output_size"), scales, corners(c, 2), how(corners(c, 2)))
		}),
	}
}

func whatever(r resizing) func(bool) resizing { return func(bool) resizing { return r } }

// interpolateOf is the general form: mode and either a size or factors.
func interpolateOf(c call) *tensor.Tensor {
	x, mode := c.tensor(0), c.str(3)
	n := x.Dim() - 2
	corners := !c.isNone(4) && c.bool(4)
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
	var how resizing
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

// gridSample reads an image at the places that a grid of coordinates in [-1, 1] names.
func gridSample(c call) *tensor.Tensor {
	x, grid, mode, border, corners := c.tensor(0), c.tensor(1), c.int(2), c.int(3), c.bool(4)
	check(x.Dim() != 4 || grid.Dim() != 4 || grid.Size(3) == 2, "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes %s", shapeText(grid.Shape()))
	check(x.Dim() == 4 && grid.Dim() == 4, "grid_sampler(): expected 4D input and grid with a last dimension of size 2, but got input with sizes %s and grid with sizes %s", shapeText(x.Shape()), shapeText(grid.Shape()))
	check(x.Size(0) == grid.Size(0), "grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid with sizes %s", shapeText(x.Shape()), shapeText(grid.Shape()))
	n, channels, h, w := x.Size(0), x.Size(1), x.Size(2), x.Size(3)
	oh, ow := grid.Size(1), grid.Size(2)
	src := tensor.Data[float64](contiguous(to(x, tensor.Float64)))
	at := tensor.Data[float64](contiguous(to(grid, tensor.Float64)))
	out := zeros([]int{n, channels, oh, ow}, tensor.Float64)
	dst := tensor.Data[float64](out)
	for b := range n {
		for p := range oh * ow {
			gx, gy := at[(b*oh*ow+p)*2], at[(b*oh*ow+p)*2+1]
			xs := gridTaps(gx, w, mode, border, corners)
			ys := gridTaps(gy, h, mode, border, corners)
			for ch := range channels {
				plane := src[(b*channels+ch)*h*w:][:h*w]
				s := 0.0
				for _, ty := range ys {
					for _, tx := range xs {
						s += ty.weight * tx.weight * plane[ty.index*w+tx.index]
					}
				}
				dst[(b*channels+ch)*oh*ow+p] = s
			}
		}
	}
	return to(out, x.DType())
}

// Modes of gridSample.
const (
	gridBilinear = 0
	gridNearest  = 1
	gridBicubic  = 2

	gridZeros   = 0
	gridBorder  = 1
	gridReflect = 2
)

// gridTaps returns the inputs within bounds for one coordinate.
func gridTaps(v float64, n, mode, border int, corners bool) []tap {
	place := ((v+1)*float64(n) - 1) / 2
	if corners {
		place = (v + 1) / 2 * float64(n-1)
	}
	fix := func(p float64) float64 {
		switch border {
		case gridBorder:
			return min(max(p, 0), float64(n-1))
		case gridReflect:
			return min(max(reflect(p, n, corners), 0), float64(n-1))
		}
		return p
	}
	var taps []tap
	put := func(i int, w float64) {
		if i >= 0 && i < n {
			taps = append(taps, tap{i, w})
		}
	}
	switch mode {
	case gridNearest:
		put(int(math.RoundToEven(fix(place))), 1)
	case gridBicubic:
		base := math.Floor(place)
		for j := -1.0; j <= 2; j++ {
			put(int(fix(base+j)), cubic(math.Abs(place-base-j), -0.75))
		}
	default:
		place = fix(place)
		low := math.Floor(place)
		put(int(low), low+1-place)
		put(int(low)+1, place-low)
	}
	return taps
}

// reflect folds a coordinate back between the borders.
func reflect(p float64, n int, corners bool) float64 {
	low, high := -0.5, float64(n)-0.5
	if corners {
		low, high = 0, float64(n-1)
	}
	span := high - low
	if span <= 0 {
		return 0
	}
	d := math.Abs(p - low)
	flips, rest := math.Floor(d/span), math.Mod(d, span)
	if math.Mod(flips, 2) == 0 {
		return rest + low
	}
	return span - rest + low
}

var resampleFamily = slices.Concat(
	upsample("upsample_nearest1d", 1, false, whatever(nearest(false))),
	upsample("upsample_nearest2d", 2, false, whatever(nearest(false))),
	upsample("upsample_nearest3d", 3, false, whatever(nearest(false))),
	upsample("_upsample_nearest_exact1d", 1, false, whatever(nearest(true))),
	upsample("_upsample_nearest_exact2d", 2, false, whatever(nearest(true))),
	upsample("_upsample_nearest_exact3d", 3, false, whatever(nearest(true))),
	upsample("upsample_linear1d", 1, true, linearTaps),
	upsample("upsample_bilinear2d", 2, true, linearTaps),
	upsample("upsample_trilinear3d", 3, true, linearTaps),
	upsample("upsample_bicubic2d", 2, true, cubicTaps),
	upsample("_upsample_bilinear2d_aa", 2, true, whatever(smooth(1, triangleFilter))),
	upsample("_upsample_bicubic2d_aa", 2, true, whatever(smooth(2, cubicFilter))),
	[]definition{
		giving("__interpolate", interpolateOf),
		giving("__interpolate.scale_list", interpolateOf),
		giving("__interpolate.size_list", interpolateOf),
		giving("__interpolate.size_list_scale_list", interpolateOf),
		giving("grid_sampler", func(c call) *tensor.Tensor {
			if c.tensor(0).Dim() == 5 {
				return gridSampleVolume(c)
			}
			return gridSample(c)
		}),
		giving("grid_sampler_3d", gridSampleVolume),
		giving("grid_sampler_2d", gridSample),
		giving("affine_grid_generator", func(c call) *tensor.Tensor { return affineGrid(c.tensor(0), c.ints(1), c.bool(2)) }),
	})

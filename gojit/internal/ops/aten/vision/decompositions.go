package vision

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Ways of grid_sampler to read between the pixels and beyond the border.
const (
	sampleBilinear, sampleNearest, sampleBicubic = 0, 1, 2
	beyondZeros, beyondBorder, beyondReflection  = 0, 1, 2
)

// sampler is one call of grid_sampler over images (N, C, ..., W) and places (N, ..., dims), the last
// dimension first.
type sampler struct {
	define.Composer
	mode, beyond int64
	corners      bool
	flat         define.Tensors // (N, C, pixels)
	sizes        []int
	points       []int // the shape of the places
}

// samplerOfDims is the operator for images or the one for volumes.
func samplerOfDims(x define.Composer, a []value.Value) define.Tensors {
	name := "grid_sampler_2d"
	if a[0].Tensor().Dim() == 5 {
		name = "grid_sampler_3d"
	}
	return x.Do(name, a[0], a[1], a[2], a[3], a[4])
}

// composeGridSample reads every neighbour with gather and adds them up by their weights, which depend on the place.
func composeGridSample(x define.Composer, a []value.Value) define.Tensors {
	image, grid := a[0].Tensor(), a[1].Tensor()
	if image.Dim() == 5 {
		checkVolumes(image, grid, int(a[2].Int()))
	} else {
		checkImages(image, grid)
	}
	shape, n := image.Shape(), image.Dim()-2
	s := sampler{x, a[2].Int(), a[3].Int(), a[4].Bool(), nil, shape[2:], grid.Shape()[1 : n+1]}
	s.flat = x.Do("reshape", image, []int{shape[0], shape[1], -1})
	places := make([]define.Tensors, n) // in the order of the image's dimensions
	for d := range n {
		places[d] = x.Do("reshape", x.Do("select.int", grid, n+1, n-1-d), []int{shape[0], -1})
		places[d] = s.pixel(places[d], s.sizes[d])
	}
	taps := make([][]samplerTap, n)
	for d := range n {
		taps[d] = s.taps(places[d], s.sizes[d])
	}
	sum := s.sum(taps, samplerTap{}, 0)
	return x.Do("reshape", sum, append([]int{shape[0], shape[1]}, s.points...))
}

// samplerTap is a neighbour along some dimensions: its index, how much it weighs, and whether it is in
// the image (nil: always).
type samplerTap struct{ index, weight, inside define.Tensors }

// pixel turns coordinates from -1 to 1 into pixels.
func (s sampler) pixel(t define.Tensors, size int) define.Tensors {
	if s.corners {
		t = s.Do("mul.Scalar", s.Do("add.Scalar", t, 1.0), float64(size-1)/2)
	} else {
		t = s.Do("mul.Scalar", s.Do("add.Scalar", s.Do("mul.Scalar", s.Do("add.Scalar", t, 1.0), float64(size)), -1.0), 0.5)
	}
	if s.mode == sampleBicubic {
		return t
	}
	return s.fold(t, size)
}

// fold brings places beyond the border back, as far as that is asked for.
func (s sampler) fold(t define.Tensors, size int) define.Tensors {
	if s.beyond == beyondZeros {
		return t
	}
	if s.beyond == beyondReflection {
		low, high := -0.5, float64(size)-0.5
		if s.corners {
			low, high = 0, float64(size-1)
		}
		if high <= low {
			return s.Do("zeros_like", t)
		}
		away := s.Do("abs", s.Do("add.Scalar", t, -low))
		flips := s.Do("floor", s.Do("mul.Scalar", away, 1/(high-low))).Detach()
		rest := s.Do("sub.Tensor", away, s.Do("mul.Scalar", flips, high-low))
		even := s.Do("eq.Scalar", s.Do("remainder.Scalar", flips, 2.0), 0.0)
		t = s.Do("where.self", even, s.Do("add.Scalar", rest, low), s.Do("rsub.Scalar", rest, high))
	}
	return s.Do("clamp", t, 0.0, float64(size-1))
}

// taps returns the neighbours of places along one dimension.
func (s sampler) taps(t define.Tensors, size int) []samplerTap {
	if s.mode == sampleNearest {
		// The gradient of the place is zero, not missing.
		one := s.Do("masked_fill.Scalar", t, s.Do("ones_like", t.Detach(), tensor.Bool), 1.0)
		return []samplerTap{s.tap(s.Do("round", t.Detach()), one, size)}
	}
	base := s.Do("floor", t.Detach())
	part := s.Do("sub.Tensor", t, base)
	var taps []samplerTap
	if s.mode == sampleBilinear {
		weights := []define.Tensors{s.Do("rsub.Scalar", part, 1.0), part}
		for i, w := range weights {
			taps = append(taps, s.tap(s.Do("add.Scalar", base, float64(i)), w, size))
		}
		return taps
	}
	for i := -1; i <= 2; i++ {
		at := s.fold(s.Do("add.Scalar", base, float64(i)), size)
		distance := s.Do("abs", s.Do("add.Scalar", part, float64(-i)))
		taps = append(taps, s.tap(s.Do("floor", at), s.keys(distance, i == 0 || i == 1), size))
	}
	return taps
}

// keys is Keys' kernel with -0.75 at a distance of up to 1 (near) or 2.
func (s sampler) keys(d define.Tensors, near bool) define.Tensors {
	const k = -0.75
	coefficients := []float64{k, -5 * k, 8 * k, -4 * k}
	if near {
		coefficients = []float64{k + 2, -(k + 3), 0, 1}
	}
	y := s.Do("mul.Scalar", d, coefficients[0])
	for _, c := range coefficients[1:3] {
		y = s.Do("mul.Tensor", s.Do("add.Scalar", y, c), d)
	}
	return s.Do("add.Scalar", y, coefficients[3])
}

// tap is the neighbour at whole pixels, which may be outside.
func (s sampler) tap(at, weight define.Tensors, size int) samplerTap {
	inside := s.Do("logical_and", s.Do("ge.Scalar", at, 0.0), s.Do("le.Scalar", at, float64(size-1)))
	return samplerTap{s.Do("to.dtype", s.Do("clamp", at, 0.0, float64(size-1)), tensor.Int64), weight, inside}
}

// sum adds up the pixels at all combinations of taps from dimension d on; so is the combination before it.
func (s sampler) sum(taps [][]samplerTap, so samplerTap, d int) define.Tensors {
	if d == len(taps) {
		channels := s.flat.Size(1)
		wide := func(t define.Tensors) define.Tensors {
			return s.Do("expand", s.Do("unsqueeze", t, 1), []int{t.Size(0), channels, t.Size(1)})
		}
		read := s.Do("gather", s.flat, 2, wide(so.index))
		read = s.Do("masked_fill.Scalar", read, s.Do("unsqueeze", s.Do("logical_not", so.inside), 1), 0.0)
		return s.Do("mul.Tensor", read, s.Do("unsqueeze", so.weight, 1))
	}
	var total define.Tensors
	for _, tap := range taps[d] {
		next := tap
		if so.index != nil {
			next.index = s.Do("add.Tensor", s.Do("mul.Scalar", so.index, s.sizes[d]), tap.index)
			next.inside = s.Do("logical_and", so.inside, tap.inside)
			next.weight = s.Do("mul.Tensor", so.weight, tap.weight)
		}
		part := s.sum(taps, next, d+1)
		if total == nil {
			total = part
		} else {
			total = s.Do("add.Tensor", total, part)
		}
	}
	return total
}

// interpolations are the operators behind the modes of __interpolate, by the number of dimensions.
var interpolations = map[string][4]string{
	"nearest":       {1: "upsample_nearest1d", 2: "upsample_nearest2d", 3: "upsample_nearest3d"},
	"nearest-exact": {1: "_upsample_nearest_exact1d", 2: "_upsample_nearest_exact2d", 3: "_upsample_nearest_exact3d"},
	"area":          {1: "adaptive_avg_pool1d", 2: "adaptive_avg_pool2d", 3: "adaptive_avg_pool3d"},
	"linear":        {1: "upsample_linear1d"},
	"bilinear":      {2: "upsample_bilinear2d"},
	"bicubic":       {2: "upsample_bicubic2d"},
	"trilinear":     {3: "upsample_trilinear3d"},
}

// composeInterpolate runs the operator of the mode, with the sizes and the factors that it takes.
func composeInterpolate(x define.Composer, a []value.Value) define.Tensors {
	define.Unrecorded(x).Emit("__interpolate", a...) // the operator itself checks its arguments
	input, mode := a[0].Tensor(), a[3].Str()
	n := input.Dim() - 2
	sizes, factors := make([]int, n), make([]any, n)
	for d := range n {
		factors[d] = value.None
		switch {
		case !a[1].IsNone():
			sizes[d] = define.NumbersOfValue(a[1], n)[d]
			continue
		case a[2].IsFloat():
			factors[d] = a[2]
		default:
			factors[d] = a[2].List().Items[d]
		}
		sizes[d] = int(float64(input.Size(d+2)) * define.NumberOfValue(factors[d].(value.Value)))
		if !a[5].IsNone() && a[5].Bool() {
			factors[d] = value.None
		}
	}
	name := interpolations[mode][n]
	if a[6].Bool() {
		name = "_" + name + "_aa"
	}
	given := []any{input, sizes}
	if mode != "area" {
		if mode != "nearest" && mode != "nearest-exact" {
			given = append(given, !a[4].IsNone() && a[4].Bool())
		}
		given = append(given, factors...)
	}
	return x.Do(name, given...)
}

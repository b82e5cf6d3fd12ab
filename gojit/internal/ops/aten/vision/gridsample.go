package vision

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// gridSampleVolume is gridSample for volumes.
func gridSampleVolume(c define.Call) *tensor.Tensor {
	x, grid, mode, border, corners := c.Tensor(0), c.Tensor(1), c.Int(2), c.Int(3), c.Bool(4)
	source.Check(x.Dim() == 5 && grid.Dim() == 5 && grid.Size(4) == 3, "grid_sampler(): expected 5D input and grid with a last dimension of size 3, but got input with sizes %s and grid with sizes %s", define.ShapeText(x.Shape()), define.ShapeText(grid.Shape()))
	source.Check(x.Size(0) == grid.Size(0), "grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid with sizes %s", define.ShapeText(x.Shape()), define.ShapeText(grid.Shape()))
	source.Check(mode != gridBicubic, "grid_sampler(): bicubic interpolation only supports 4D input")
	n, channels, depth, h, w := x.Size(0), x.Size(1), x.Size(2), x.Size(3), x.Size(4)
	count := grid.Size(1) * grid.Size(2) * grid.Size(3)
	src := tensor.Data[float64](elementwise.Contiguous(elementwise.To(x, tensor.Float64)))
	at := tensor.Data[float64](elementwise.Contiguous(elementwise.To(grid, tensor.Float64)))
	out := define.Zeros([]int{n, channels, grid.Size(1), grid.Size(2), grid.Size(3)}, tensor.Float64)
	dst := tensor.Data[float64](out)
	for b := range n {
		for p := range count {
			place := at[(b*count+p)*3:]
			xs := gridTaps(place[0], w, mode, border, corners)
			ys := gridTaps(place[1], h, mode, border, corners)
			zs := gridTaps(place[2], depth, mode, border, corners)
			for ch := range channels {
				volume := src[(b*channels+ch)*depth*h*w:][:depth*h*w]
				s := 0.0
				for _, tz := range zs {
					for _, ty := range ys {
						for _, tx := range xs {
							s += tz.weight * ty.weight * tx.weight * volume[(tz.index*h+ty.index)*w+tx.index]
						}
					}
				}
				dst[(b*channels+ch)*count+p] = s
			}
		}
	}
	return elementwise.To(out, x.DType())
}

// gridSample reads an image at the places that a grid of coordinates in [-1, 1] names.
func gridSample(c define.Call) *tensor.Tensor {
	x, grid, mode, border, corners := c.Tensor(0), c.Tensor(1), c.Int(2), c.Int(3), c.Bool(4)
	source.Check(x.Dim() != 4 || grid.Dim() != 4 || grid.Size(3) == 2, "grid_sampler(): expected grid to have size 2 in last dimension, but got grid with sizes %s", define.ShapeText(grid.Shape()))
	source.Check(x.Dim() == 4 && grid.Dim() == 4, "grid_sampler(): expected 4D input and grid with a last dimension of size 2, but got input with sizes %s and grid with sizes %s", define.ShapeText(x.Shape()), define.ShapeText(grid.Shape()))
	source.Check(x.Size(0) == grid.Size(0), "grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid with sizes %s", define.ShapeText(x.Shape()), define.ShapeText(grid.Shape()))
	n, channels, h, w := x.Size(0), x.Size(1), x.Size(2), x.Size(3)
	oh, ow := grid.Size(1), grid.Size(2)
	src := tensor.Data[float64](elementwise.Contiguous(elementwise.To(x, tensor.Float64)))
	at := tensor.Data[float64](elementwise.Contiguous(elementwise.To(grid, tensor.Float64)))
	out := define.Zeros([]int{n, channels, oh, ow}, tensor.Float64)
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
	return elementwise.To(out, x.DType())
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

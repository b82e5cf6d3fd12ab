package aten

import (
	"math"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// fractionalStarts returns where the windows of one dimension begin: evenly spread, shifted by a random number in [0, 1).
// PyTorch computes with the element type.
func fractionalStarts[T float32 | float64](sample T, in, out, kernel int) []int {
	starts := table[int](out)
	if out > 1 {
		alpha := T(in-kernel) / T(out-1)
		for i := range out - 1 {
			starts[i] = int(T(T(i)+sample)*alpha) - int(sample*alpha)
		}
	}
	if out > 0 {
		starts[out-1] = in - kernel
	}
	return starts
}

// fractionalMaxPool gives the largest elements of windows that begin at random places, and their indices in the plane or volume of n dimensions.
func fractionalMaxPool(c call, n int) (out, indices *tensor.Tensor) {
	x, kernel, size, samples := c.tensor(0), c.intsOf(1, n, "kernel_size"), c.intsOf(2, n, "output_size"), c.tensor(3)
	name := [...]string{2: "fractional_max_pool2d", 3: "fractional_max_pool3d"}[n]
	check(x.Dim() == n+1 || x.Dim() == n+2, "%s(): Expected %dD or %dD tensor, but got: %s", name, n+1, n+2, shapeText(x.Shape()))
	check(x.DType().IsFloating(), "\"%s\" not implemented for '%s'", name, x.DType().CppName())
	in := x.Shape()[x.Dim()-n:]
	for d := range n {
		check(size[d]+kernel[d]-1 <= in[d], "%s(): pool size in dimension %d (%d) too large relative to input size (%d)", name, d, kernel[d], in[d])
	}
	shape := append(append([]int(nil), x.Shape()[:x.Dim()-n]...), size...)
	work := tensor.Float32
	if x.DType() == tensor.Float64 {
		work = tensor.Float64
	}
	planes := numelOf(shape[:len(shape)-n])
	check(samples.Numel() >= planes*n, "%s(): expected %d random samples for each plane, but got samples of shape %s", name, n, shapeText(samples.Shape()))
	out, indices = empty(shape, work), empty(shape, tensor.Int64)
	if work == tensor.Float64 {
		fractionalPlanes[float64](x, samples, out, indices, in, kernel, size)
	} else {
		fractionalPlanes[float32](x, samples, out, indices, in, kernel, size)
	}
	return to(out, x.DType()), indices
}

func fractionalPlanes[T float32 | float64](x, samples, out, indices *tensor.Tensor, in, kernel, size []int) {
	n := len(in)
	src := tensor.Data[T](contiguous(to(x, out.DType())))
	random := tensor.Data[T](contiguous(to(samples, out.DType())))
	dst, at := tensor.Data[T](out), tensor.Data[int64](indices)
	inside, outside := numelOf(in), numelOf(size)
	if outside == 0 {
		return
	}
	tensor.Parallel(len(dst)/outside, 1, func(lo, hi int) {
		for p := lo; p < hi; p++ {
			starts := make([][]int, n)
			for d := range n {
				sample := random[p*n+d]
				if n == 2 { // the samples of planes are in the order width, height
					sample = random[p*n+1-d]
				}
				starts[d] = fractionalStarts(sample, in[d], size[d], kernel[d])
			}
			fractionalPlane(src[p*inside:][:inside], dst[p*outside:][:outside], at[p*outside:][:outside], starts, in, kernel)
		}
	})
}

// fractionalPlane pools one plane or volume. A NaN in a window is its largest element.
func fractionalPlane[T float32 | float64](src, dst []T, at []int64, starts [][]int, in, kernel []int) {
	if len(in) == 2 { // a plane is a volume of depth one
		starts, in = append([][]int{{0}}, starts...), append([]int{1}, in...)
		kernel = append([]int{1}, kernel...)
	}
	o := 0
	for _, a := range starts[0] {
		for _, b := range starts[1] {
			for _, c := range starts[2] {
				best, index := T(math.Inf(-1)), (a*in[1]+b)*in[2]+c
				for i := a; i < a+kernel[0]; i++ {
					for j := b; j < b+kernel[1]; j++ {
						for k := c; k < c+kernel[2]; k++ {
							e := (i*in[1]+j)*in[2] + k
							if v := src[e]; v > best || v != v {
								best, index = v, e
							}
						}
					}
				}
				dst[o], at[o] = best, int64(index)
				o++
			}
		}
	}
}

// gridSampleVolume is gridSample for volumes.
func gridSampleVolume(c call) *tensor.Tensor {
	x, grid, mode, border, corners := c.tensor(0), c.tensor(1), c.int(2), c.int(3), c.bool(4)
	check(x.Dim() == 5 && grid.Dim() == 5 && grid.Size(4) == 3, "grid_sampler(): expected 5D input and grid with a last dimension of size 3, but got input with sizes %s and grid with sizes %s", shapeText(x.Shape()), shapeText(grid.Shape()))
	check(x.Size(0) == grid.Size(0), "grid_sampler(): expected grid and input to have same batch size, but got input with sizes %s and grid with sizes %s", shapeText(x.Shape()), shapeText(grid.Shape()))
	check(mode != gridBicubic, "grid_sampler(): bicubic interpolation only supports 4D input")
	n, channels, depth, h, w := x.Size(0), x.Size(1), x.Size(2), x.Size(3), x.Size(4)
	count := grid.Size(1) * grid.Size(2) * grid.Size(3)
	src := tensor.Data[float64](contiguous(to(x, tensor.Float64)))
	at := tensor.Data[float64](contiguous(to(grid, tensor.Float64)))
	out := zeros([]int{n, channels, grid.Size(1), grid.Size(2), grid.Size(3)}, tensor.Float64)
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
	return to(out, x.DType())
}

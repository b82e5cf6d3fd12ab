package conv

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// fractionalStarts returns where the windows of one dimension begin: evenly spread, shifted by a random number in [0, 1).
// PyTorch computes with the element type.
func fractionalStarts[T float32 | float64](sample T, in, out, kernel int) []int {
	starts := define.Table[int](out)
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
func fractionalMaxPool(c define.Call, n int) (out, indices *tensor.Tensor) {
	x, kernel, size, samples := c.Tensor(0), c.IntsOf(1, n, "kernel_size"), c.IntsOf(2, n, "output_size"), c.Tensor(3)
	name := [...]string{2: "fractional_max_pool2d", 3: "fractional_max_pool3d"}[n]
	source.Check(x.Dim() == n+1 || x.Dim() == n+2, "%s(): Expected %dD or %dD tensor, but got: %s", name, n+1, n+2, define.ShapeText(x.Shape()))
	source.Check(x.DType().IsFloating(), "\"%s\" not implemented for '%s'", name, x.DType().CppName())
	in := x.Shape()[x.Dim()-n:]
	for d := range n {
		source.Check(size[d]+kernel[d]-1 <= in[d], "%s(): pool size in dimension %d (%d) too large relative to input size (%d)", name, d, kernel[d], in[d])
	}
	shape := append(append([]int(nil), x.Shape()[:x.Dim()-n]...), size...)
	work := tensor.Float32
	if x.DType() == tensor.Float64 {
		work = tensor.Float64
	}
	planes := define.NumelOf(shape[:len(shape)-n])
	source.Check(samples.Numel() >= planes*n, "%s(): expected %d random samples for each plane, but got samples of shape %s", name, n, define.ShapeText(samples.Shape()))
	out, indices = define.Empty(shape, work), define.Empty(shape, tensor.Int64)
	if work == tensor.Float64 {
		fractionalPlanes[float64](x, samples, out, indices, in, kernel, size)
	} else {
		fractionalPlanes[float32](x, samples, out, indices, in, kernel, size)
	}
	return elementwise.To(out, x.DType()), indices
}

func fractionalPlanes[T float32 | float64](x, samples, out, indices *tensor.Tensor, in, kernel, size []int) {
	n := len(in)
	src := tensor.Data[T](elementwise.Contiguous(elementwise.To(x, out.DType())))
	random := tensor.Data[T](elementwise.Contiguous(elementwise.To(samples, out.DType())))
	dst, at := tensor.Data[T](out), tensor.Data[int64](indices)
	inside, outside := define.NumelOf(in), define.NumelOf(size)
	if outside == 0 {
		return
	}
	parallel.For(len(dst)/outside, 1, func(lo, hi int) {
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

package vision

import (
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/define"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/elementwise"
	"github.com/torchjit/torchjit/gojit/internal/ops/aten/linalg"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// affineGrid makes the sampling grid of affine maps of planes or volumes.
func affineGrid(theta *tensor.Tensor, size []int, corners bool) *tensor.Tensor {
	source.Check(len(size) == 4 || len(size) == 5, "AffineGridGenerator needs 4d (spatial) or 5d (volumetric) inputs.")
	extents := size[2:]
	dims := len(extents)
	points := 1
	for _, n := range extents {
		points *= n
	}
	base := define.Empty([]int{1, points, dims + 1}, tensor.Float64)
	data := tensor.Data[float64](base)
	for p := range points {
		row, rest := data[p*(dims+1):], p
		for d := dims - 1; d >= 0; d-- { // the last extent comes first in a point
			row[dims-1-d] = gridCoordinate(rest%extents[d], extents[d], corners)
			rest /= extents[d]
		}
		row[dims] = 1
	}
	base = source.Must(base.ToDevice(theta.Device()))
	flat := source.Must(base.Expand(size[0], points, dims+1))
	grid := linalg.Bmm(flat, source.Must(elementwise.To(theta, tensor.Float64).Transpose(1, 2)))
	shape := append(append([]int{size[0]}, extents...), dims)
	return elementwise.To(source.Must(grid.View(shape...)), theta.DType())
}

// gridCoordinate is where element i of n lies between -1 and 1, which are the centers of the outer elements or, without corners, their edges.
func gridCoordinate(i, n int, corners bool) float64 {
	if n <= 1 {
		return 0
	}
	v := -1 + 2*float64(i)/float64(n-1)
	if !corners {
		v *= float64(n-1) / float64(n)
	}
	return v
}

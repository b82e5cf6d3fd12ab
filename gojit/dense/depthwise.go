package dense

import (
	"unsafe"

	"torchjit/gojit/kernel/amd64"
	"torchjit/gojit/tensor"
)

// canDepthwise reports whether generated kernels convolve each channel with its own filters.
func (g *Convolution) canDepthwise() bool {
	return g.InChannels == g.Groups && g.In[0] == 1 && g.Kernel[0] == 1 && g.Out[0] == 1 && g.Padding[0] == 0 &&
		g.Stride[2] <= 2 && g.Kernel[1]*g.Kernel[2] <= 64 && g.In[2] < 1<<16 && g.Out[2] < 1<<16
}

// rowTile is a kernel for some rows of the output and where they are.
type rowTile struct {
	code      *amd64.Code
	row       int
	inputFrom int // row of the input, which may be in the padding
}

// convolveDepthwise convolves each channel with its own filters.
func convolveDepthwise[T Float](isa amd64.ISA, g Convolution, in, weight, bias, out []T) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	tiles := depthwiseTiles(isa, amd64.Convolved, g, size)
	inSize, outSize, taps, filters := volume(g.In), volume(g.Out), volume(g.Kernel), g.OutChannels/g.Groups
	planes := func(lo, hi int) {
		var args amd64.DepthwiseArgs
		for i := lo; i < hi; i++ {
			channel := i % g.OutChannels
			args.In = unsafe.Pointer(&in[(i/g.OutChannels*g.InChannels+channel/filters)*inSize])
			args.Weight, args.Bias = unsafe.Pointer(&weight[channel*taps]), unsafe.Pointer(&zero)
			if bias != nil {
				args.Bias = unsafe.Pointer(&bias[channel])
			}
			for _, t := range tiles {
				args.Out = unsafe.Pointer(&out[i*outSize+t.row*g.Out[2]])
				args.Offset = int64(t.inputFrom * g.In[2] * size)
				t.code.Call(unsafe.Pointer(&args))
			}
		}
	}
	tensor.Parallel(g.Batch*g.OutChannels, 1+parallelFlops/4/(outSize*taps), planes)
}

// depthwiseTiles cuts the rows of the output into tiles.
func depthwiseTiles(isa amd64.ISA, kind amd64.DepthwiseKind, g Convolution, size int) []rowTile {
	rows, maximum := g.Out[1], amd64.DepthwiseRows(isa)
	parts := (rows + maximum - 1) / maximum
	tiles := make([]rowTile, parts)
	d := amd64.Depthwise{Kind: kind, ISA: isa, Double: size == 8, In: int32(g.In[2]), Out: int32(g.Out[2]), KernelY: int32(g.Kernel[1]), KernelX: int32(g.Kernel[2]),
		StepY: int32(g.Stride[1]), StepX: int32(g.Stride[2]), DilationY: int32(g.Dilation[1]), DilationX: int32(g.Dilation[2]), Padding: int32(g.Padding[2])}
	reach := (g.Kernel[1]-1)*g.Dilation[1] + 1
	for i := range tiles {
		row := cut(rows, parts, i)
		d.Rows = int32(cut(rows, parts, i+1) - row)
		from := row*g.Stride[1] - g.Padding[1]
		last := (int(d.Rows)-1)*g.Stride[1] + reach
		d.FirstRow, d.LastRow = int32(max(0, -from)), int32(min(last, g.In[1]-from))
		tiles[i] = rowTile{d.Code(), row, from}
	}
	return tiles
}

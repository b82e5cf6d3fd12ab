package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// canDepthwise reports whether generated kernels convolve the channels one by one.
func (g *Convolution) canDepthwise() bool {
	return g.In[0] == 1 && g.Kernel[0] == 1 && g.Out[0] == 1 && g.Padding[0] == 0 &&
		g.Stride[2] <= 2 && g.Kernel[1]*g.Kernel[2] <= 64 && (g.In[2] < longestRow && g.Out[2] < longestRow || g.isLine())
}

// longestRow is below what the addresses of a kernel reach. A line that is longer is cut into pieces of about linePiece outputs.
const (
	longestRow = 1 << 16
	linePiece  = 1 << 14
)

// isLine reports whether an image is one row that pieces with what they read of their neighbours are made of.
func (g *Convolution) isLine() bool {
	return g.In[1] == 1 && g.Out[1] == 1 && g.Kernel[1] == 1 && g.Padding[1] == 0 && g.Padding[2] <= linePiece/4 && (g.Kernel[2]-1)*g.Dilation[2] < linePiece
}

// pieces returns how many parts of the output threads may make apart.
func (g *Convolution) pieces() int {
	if g.isLine() && max(g.In[2], g.Out[2]) >= longestRow {
		return (g.Out[2] + linePiece - 1) / linePiece
	}
	return 1
}

// suitsDepthwise reports whether the groups are so small that channels one by one are faster than
// products of matrices.
func (g *Convolution) suitsDepthwise() bool {
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	return g.canDepthwise() && (channels == 1 && filters <= 16 || channels <= 4 && filters <= 8)
}

// rowTile is a kernel for some rows of the output, or for a piece of a line.
type rowTile struct {
	code    *asm.Code
	out, in int // elements before its first output, and before its first input, which may be in the padding of rows
}

// convolveDepthwise convolves channels one by one and adds up those of a group.
func convolveDepthwise[T gemm.Float](isa asm.ISA, g Convolution, in, weight, bias, out []T) {
	start := make([]T, 1)
	size := int(unsafe.Sizeof(start[0]))
	d := depthwiseOf(isa, &g, size)
	tiles, further := depthwiseTiles(d, &g), []rowTile(nil)
	channels, filters := g.InChannels/g.Groups, g.OutChannels/g.Groups
	if channels > 1 {
		d.Add = true
		further = depthwiseTiles(d, &g)
	}
	inSize, outSize, taps := Volume(g.In), Volume(g.Out), Volume(g.Kernel)
	pieces := g.pieces()
	each := len(tiles) / pieces
	parallel.For(g.Batch*g.OutChannels*pieces, 1+gemm.ParallelFlops/4/(outSize/pieces*taps*channels), func(lo, hi int) {
		for k := lo; k < hi; k++ {
			i, first := k/pieces, k%pieces*each
			filter := i % g.OutChannels
			args := tile.DepthwiseArgs{Bias: unsafe.Pointer(&start[0])}
			if bias != nil {
				args.Bias = unsafe.Pointer(&bias[filter])
			}
			kernels := tiles
			for c := range channels {
				args.In = unsafe.Pointer(&in[(i/g.OutChannels*g.InChannels+filter/filters*channels+c)*inSize])
				args.Weight = unsafe.Pointer(&weight[(filter*channels+c)*taps])
				for _, t := range kernels[first : first+each] {
					args.Out = unsafe.Pointer(&out[i*outSize+t.out])
					args.Offset = int64(t.in * size)
					t.code.Call(unsafe.Pointer(&args))
				}
				kernels = further
			}
		}
	})
}

// depthwiseOf describes the kernels of a geometry but for their rows.
func depthwiseOf(isa asm.ISA, g *Convolution, size int) tile.Depthwise {
	return tile.Depthwise{ISA: isa, Double: size == 8, In: int32(g.In[2]), Out: int32(g.Out[2]), KernelY: int32(g.Kernel[1]), KernelX: int32(g.Kernel[2]),
		StepY: int32(g.Stride[1]), StepX: int32(g.Stride[2]), DilationY: int32(g.Dilation[1]), DilationX: int32(g.Dilation[2]), Padding: int32(g.Padding[2])}
}

// depthwiseTiles cuts the rows of the output, or a line, into tiles.
func depthwiseTiles(d tile.Depthwise, g *Convolution) []rowTile {
	if pieces := g.pieces(); pieces > 1 {
		return lineTiles(d, g, pieces)
	}
	rows, maximum := g.Out[1], tile.DepthwiseRows(d.ISA)
	parts := (rows + maximum - 1) / maximum
	tiles := make([]rowTile, parts)
	reach := (g.Kernel[1]-1)*g.Dilation[1] + 1
	for i := range tiles {
		row := gemm.Cut(rows, parts, i)
		d.Rows = int32(gemm.Cut(rows, parts, i+1) - row)
		from := row*g.Stride[1] - g.Padding[1]
		last := (int(d.Rows)-1)*g.Stride[1] + reach
		d.FirstRow, d.LastRow = int32(max(0, -from)), int32(min(last, g.In[1]-from))
		tiles[i] = rowTile{d.Code(), row * g.Out[2], from * g.In[2]}
	}
	return tiles
}

// lineTiles cuts a line into pieces, the first and the last of which have its padding.
func lineTiles(d tile.Depthwise, g *Convolution, pieces int) []rowTile {
	tiles := make([]rowTile, pieces)
	d.Rows, d.FirstRow, d.LastRow = 1, 0, 1
	for i := range tiles {
		first, end := gemm.Cut(g.Out[2], pieces, i), gemm.Cut(g.Out[2], pieces, i+1)
		from := first*g.Stride[2] - g.Padding[2]
		last := min(from+(end-first-1)*g.Stride[2]+(g.Kernel[2]-1)*g.Dilation[2]+1, g.In[2])
		d.Padding = int32(max(0, -from))
		from = max(0, from)
		d.In, d.Out = int32(last-from), int32(end-first)
		tiles[i] = rowTile{d.Code(), first, from}
	}
	return tiles
}

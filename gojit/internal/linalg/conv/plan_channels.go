package conv

import (
	"math"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// ChannelsPlan is a depthwise convolution or a pooling in two dimensions over images whose channels
// lie together (batch, height, width, channel). It never changes: any number of goroutines may run it.
type ChannelsPlan[T gemm.Float] struct {
	geometry Convolution
	kind     tile.DepthwiseKind
	relu     bool
	isa      asm.ISA
	weight   []T            // tap by channel
	divisors []T            // of the places, for averages
	start    []T            // for each channel, what its sums begin with
	rows     []channelRow   // of the output
	block    int            // vectors of channels whose places a tile reads at once
	epilogue *gemm.Epilogue // of one input, done with each sum; nil: nothing
}

// nearLine is the size of a line of the caches.
const nearLine = 64

// farBytes is the size of all images from which they are fetched ahead: they come from memory then, and
// not from a cache, where the processor finds them in time by itself.
const farBytes = 8 << 20

// channelRow is a row of the output: the kernels of its tiles, the row of the input that its first tap inside
// reads, and that tap.
type channelRow struct {
	codes   []*asm.Code
	in, tap int
}

// NewDepthwisePlan makes a plan of a convolution whose groups are the channels, one filter for each.
func NewDepthwisePlan[T gemm.Float](g Convolution, weight, bias []T, relu bool) *ChannelsPlan[T] {
	return newDepthwisePlan(g, weight, bias, relu, nil)
}

func newDepthwisePlan[T gemm.Float](g Convolution, weight, bias []T, relu bool, epilogue *gemm.Epilogue) *ChannelsPlan[T] {
	taps := Volume(g.Kernel)
	p := &ChannelsPlan[T]{geometry: g, kind: tile.Convolved, relu: relu, epilogue: epilogue, weight: make([]T, taps*g.InChannels), start: make([]T, g.InChannels)}
	copy(p.start, bias)
	for c := range g.InChannels {
		for t := range taps {
			p.weight[t*g.InChannels+c] = weight[c*taps+t]
		}
	}
	return p.cut()
}

// NewDepthwisePlanThen is NewDepthwisePlan, with an epilogue of one input, the sum with the bias. It panics where that has others.
func NewDepthwisePlanThen[T gemm.Float](g Convolution, weight, bias []T, epilogue *gemm.Epilogue) *ChannelsPlan[T] {
	if epilogue.Inputs != 1 {
		panic("conv: an epilogue of channels reads the sum alone")
	}
	return newDepthwisePlan(g, weight, bias, false, epilogue)
}

// NewMaxPoolPlan makes a plan of a maximum, which is NaN where an input is.
func NewMaxPoolPlan[T gemm.Float](g Convolution) *ChannelsPlan[T] {
	p := &ChannelsPlan[T]{geometry: g, kind: tile.Largest, start: make([]T, g.InChannels)}
	for i := range p.start {
		p.start[i] = T(math.Inf(-1))
	}
	return p.cut()
}

// NewAveragePoolPlan makes a plan of sums divided by what divisors has for every place of the output.
func NewAveragePoolPlan[T gemm.Float](g Convolution, divisors []T) *ChannelsPlan[T] {
	return (&ChannelsPlan[T]{geometry: g, kind: tile.Averaged, divisors: append([]T(nil), divisors[:Volume(g.Out)]...), start: make([]T, g.InChannels)}).cut()
}

// nearBytes is what a tile reads at most that the next one, a row below, finds in the cache of the first level.
const nearBytes = 20 << 10

// channelProducts bounds what one kernel does for a vector of channels.
const channelProducts = 4096

// PoolsLast reports whether generated kernels run a ChannelsPlan of the geometry.
func (g *Convolution) PoolsLast() bool {
	isa := asm.Target()
	return isa >= asm.AVX2 && Volume(g.Kernel)*tile.ChannelsPlaces(isa) <= channelProducts
}

// cut cuts the output of an image into tiles. It panics where the geometry is not one of channels.
func (p *ChannelsPlan[T]) cut() *ChannelsPlan[T] {
	g := &p.geometry
	if g.InChannels != g.OutChannels || g.InChannels != g.Groups || g.In[0] != 1 || g.Kernel[0] != 1 || g.Out[0] != 1 || g.Padding[0] != 0 {
		panic("conv: a plan of channels is for two dimensions and channels by themselves")
	}
	p.isa = asm.Target()
	if !g.PoolsLast() {
		return p
	}
	size := int(unsafe.Sizeof(p.start[0]))
	k := tile.Channels{Kind: p.kind, ISA: p.isa, Double: size == 8, Relu: p.relu, Tail: g.InChannels%lanesOf[T](p.isa) != 0, Step: int32(g.Stride[2]),
		KernelX: int32(g.Kernel[2]), DilationY: int32(g.Dilation[1]), DilationX: int32(g.Dilation[2]), Width: int32(g.In[2]),
		Pixel: int32(g.InChannels * size), Row: int32(g.In[2] * g.InChannels * size), OutPixel: int32(g.InChannels * size)}
	if p.epilogue != nil && p.epilogue.LongPass() == nil {
		k.Epilogue = p.epilogue.Tile
	}
	maximum := tile.ChannelsPlaces(p.isa)
	parts := (g.Out[2] + maximum - 1) / maximum
	far := g.Batch*g.InChannels*Volume(g.In)*size > farBytes
	known := make([][]*asm.Code, g.Kernel[1]+1) // by the rows of the filter that are inside
	p.rows = make([]channelRow, g.Out[1])
	for y := range p.rows {
		lo, hi := valid(y, g.In[1], g.Kernel[1], g.Stride[1], g.Dilation[1], g.Padding[1])
		k.KernelY = int32(max(hi-lo, 0))
		codes := known[k.KernelY]
		for i := len(codes); i < parts; i++ {
			x := gemm.Cut(g.Out[2], parts, i)
			k.Places = int32(gemm.Cut(g.Out[2], parts, i+1) - x)
			k.First = int32(x*g.Stride[2] - g.Padding[2])
			if far { // the next tile is the one of the row below
				k.AheadRows = min(k.KernelY, int32(g.Stride[1]))
				k.Ahead = int32(g.Stride[1]) * k.Row
			}
			codes = append(codes, k.Code())
		}
		known[k.KernelY] = codes
		p.rows[y] = channelRow{codes, y*g.Stride[1] - g.Padding[1] + lo*g.Dilation[1], min(lo, g.Kernel[1]-1) * g.Kernel[2]}
	}
	places := min((maximum-1)*g.Stride[2]+(g.Kernel[2]-1)*g.Dilation[2]+1, g.In[2]) * g.Kernel[1]
	line := max(1, nearLine/p.isa.Width().Bytes()) // vectors that a line of the cache has
	p.block = max(1, nearBytes/(places*line*p.isa.Width().Bytes())) * line
	return p
}

// Run computes a batch of images.
func (p *ChannelsPlan[T]) Run(in, out []T) {
	g := &p.geometry
	if len(in) < g.Batch*g.InChannels*Volume(g.In) || len(out) < g.Batch*g.InChannels*Volume(g.Out) {
		panic("conv: a plan of channels reaches outside its data")
	}
	if len(p.rows) == 0 || g.InChannels == 0 {
		p.runPortable(in, out)
		return
	}
	work := 4 * g.InChannels * Volume(g.Kernel) * g.Out[2]
	if n := g.Batch * len(p.rows); parallel.NumThreads() > 1 {
		p.share(n, 1+gemm.ParallelFlops/work, in, out)
	} else {
		p.runRows(0, n, in, out)
	}
}

// share computes rows of the output by several threads.
func (p *ChannelsPlan[T]) share(n, grain int, in, out []T) {
	parallel.For(n, grain, func(lo, hi int) { p.runRows(lo, hi, in, out) })
}

// runRows computes the rows from lo to hi of all outputs together.
func (p *ChannelsPlan[T]) runRows(lo, hi int, in, out []T) {
	for lo < hi {
		image, y := lo/len(p.rows), lo%len(p.rows)
		n := min(hi-lo, len(p.rows)-y)
		from, to := image*p.geometry.InChannels*Volume(p.geometry.In), image*p.geometry.InChannels*Volume(p.geometry.Out)
		p.runImage(y, y+n, unsafe.Pointer(&in[from]), 0, out[to:], 0)
		lo += n
	}
}

// runImage computes the rows from y0 to y1 of the output of an image, whose input and output begin with rows. Tiles that read the same follow each other: those
// of a column, for some vectors of channels at a time.
func (p *ChannelsPlan[T]) runImage(y0, y1 int, in unsafe.Pointer, begin int, out []T, outBegin int) {
	g := &p.geometry
	lanes, size := lanesOf[T](p.isa), int(unsafe.Sizeof(p.start[0]))
	args := tile.ChannelsArgs{Mask: tile.TailMask(p.isa, g.InChannels%lanes*size/4)}
	if p.epilogue != nil {
		memory := gemm.TakeBuffers()
		defer memory.Recycle()
		args.Scratch = gemm.Grow(&memory.Scratch, tile.EpilogueScratch)
	}
	whole := g.InChannels / lanes
	var watch parallel.Watch
	for v := 0; v == 0 || v < whole; v += p.block {
		watch.Look()
		channel := v * lanes
		args.In = unsafe.Add(in, channel*size)
		args.Bias = unsafe.Pointer(&p.start[channel])
		args.Vectors = int64(min(p.block, whole-v))
		args.Last = 0
		if v+p.block >= whole {
			args.Last = 1
		}
		for part := range len(p.rows[y0].codes) {
			p.runColumn(&args, y0, y1, part, begin, outBegin, channel, out)
		}
	}
	if p.epilogue != nil && p.epilogue.Tile == nil {
		sums := out[(y0-outBegin)*g.Out[2]*g.InChannels:]
		gemm.ApplyEpilogue(p.epilogue, sums, (y1-y0)*g.Out[2], g.InChannels, g.InChannels, nil, nil)
	}
}

// runColumn computes the tiles of some rows one below the other, from a channel on.
func (p *ChannelsPlan[T]) runColumn(args *tile.ChannelsArgs, y0, y1, part, begin, outBegin, channel int, out []T) {
	g, size := &p.geometry, int(unsafe.Sizeof(p.start[0]))
	x := gemm.Cut(g.Out[2], len(p.rows[y0].codes), part)
	for y := y0; y < y1; y++ {
		row := &p.rows[y]
		switch p.kind {
		case tile.Convolved:
			args.Weight = unsafe.Pointer(&p.weight[row.tap*g.InChannels+channel])
		case tile.Averaged:
			args.Weight = unsafe.Pointer(&p.divisors[y*g.Out[2]+x])
		}
		args.Offset = int64(((row.in-begin)*g.In[2] + x*g.Stride[2] - g.Padding[2]) * g.InChannels * size)
		args.Out = unsafe.Pointer(&out[((y-outBegin)*g.Out[2]+x)*g.InChannels+channel])
		row.codes[part].Call(unsafe.Pointer(args))
		if p.epilogue.LongPass() != nil {
			p.applyPass(args, gemm.Cut(g.Out[2], len(row.codes), part+1)-x)
		}
	}
}

// applyPass applies the pass to what a kernel has written, some places.
func (p *ChannelsPlan[T]) applyPass(args *tile.ChannelsArgs, places int) {
	channels, size := p.geometry.InChannels, int(unsafe.Sizeof(p.start[0]))
	lanes := lanesOf[T](p.isa)
	rows, columns := places, int(args.Vectors)*lanes
	if args.Last != 0 {
		columns += channels % lanes
	}
	if columns == channels {
		rows, columns = 1, places*channels
	}
	p.epilogue.Pass.Run(args.Out, args.Out, args.Scratch, rows, columns, channels*size)
}

// runPortable computes the plan by its definition.
func (p *ChannelsPlan[T]) runPortable(in, out []T) {
	g := &p.geometry
	for at := range g.Batch * Volume(g.Out) {
		image, place := at/Volume(g.Out), at%Volume(g.Out)
		y, x := place/g.Out[2], place%g.Out[2]
		for c := range g.InChannels {
			sum := p.start[c]
			for ky := range g.Kernel[1] {
				for kx := range g.Kernel[2] {
					iy, ix := y*g.Stride[1]+ky*g.Dilation[1]-g.Padding[1], x*g.Stride[2]+kx*g.Dilation[2]-g.Padding[2]
					if iy < 0 || iy >= g.In[1] || ix < 0 || ix >= g.In[2] {
						continue
					}
					v := in[((image*g.In[1]+iy)*g.In[2]+ix)*g.InChannels+c]
					switch {
					case p.kind == tile.Convolved:
						sum += v * p.weight[(ky*g.Kernel[2]+kx)*g.InChannels+c]
					case p.kind == tile.Averaged:
						sum += v
					case v > sum || v != v:
						sum = v
					}
				}
			}
			if p.kind == tile.Averaged {
				sum /= p.divisors[place]
			}
			if p.relu && sum < 0 {
				sum = 0
			}
			out[at*g.InChannels+c] = sum
		}
	}
	if p.epilogue != nil {
		gemm.ApplyEpilogue(p.epilogue, out, g.Batch*Volume(g.Out), g.InChannels, g.InChannels, nil, nil)
	}
}

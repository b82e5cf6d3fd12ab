package integer

import (
	"bytes"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/conv"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// BytePlan is a convolution of images of bytes whose channels lie together (batch, depth, height, width, channel), made once for a
// geometry. It never changes: any number of goroutines may run it at once. A matrix product is a convolution of images of one place.
//
// The sums of 32 bits wrap around. Each place of the output reads the same taps: an image with padding is copied with its padding,
// which holds the zero point.
type BytePlan struct {
	geometry conv.Convolution
	options  ByteOptions
	weights  *ByteWeights
	copied   bool    // the input is read from a copy
	size     [3]int  // of the image that is read
	start    []int32 // what sums begin with; like scale and bias by group, completed to whole vectors
	scale    []float32
	bias     []float32
	offsets  []int64 // of the runs
	outer    []byteLevel
	strips   []byteStrip
	blank    []uint8 // a row of the image that is all padding
}

// ByteOptions says how bytes are read and what becomes of the sums.
type ByteOptions struct {
	Zero   uint8            // the zero point of the input
	Planes bool             // the channels of the input lie apart: batch, channel, depth, height, width
	Scale  []float32        // for each out channel
	Bias   []float32        // for each out channel, nil: none; in units of the sums, to which it is added
	Limits *tile.ByteLimits // what bytes results become; not for floats
}

// byteLevel is one of the nested loops over the places of the output: count places, so many bytes apart in what they read, and places
// of the output.
type byteLevel struct{ count, step, out int }

// byteStrip is a run of tiles of one size.
type byteStrip struct {
	in, out             int // byte of the first place, and its number
	rows, split, blocks int
	step, splitStep     int // bytes from one place to the next, and to those behind the split
	blockStep           int
}

// NewBytePlan makes a plan. The kernel, the channels and the dilation of the geometry are those that the weights were packed for. It
// panics where scale or bias are too short.
func NewBytePlan(g conv.Convolution, w *ByteWeights, options ByteOptions) *BytePlan {
	if len(options.Scale) < g.OutChannels || options.Bias != nil && len(options.Bias) < g.OutChannels {
		panic("integer: a scale or bias is too short")
	}
	p := &BytePlan{geometry: g, options: options, weights: w, size: g.In}
	// Four bytes at a time are read of the channels, or, of channels by themselves with AVX2, eight.
	p.copied = options.Planes && conv.Volume(g.In) > 1 && g.InChannels > 1 || w.isa != asm.None && w.taps == nil && w.channels%4 != 0 ||
		w.isa == asm.AVX2 && w.taps != nil && w.pooled != tile.Largest && g.InChannels%w.lanes() != 0
	for d := range p.size {
		reach := (g.Out[d]-1)*g.Stride[d] + (g.Kernel[d]-1)*g.Dilation[d] + 1
		p.copied = p.copied || g.Padding[d] > 0 || reach > g.In[d]
	}
	if p.copied {
		for d := range p.size {
			p.size[d] = max(0, (g.Out[d]-1)*g.Stride[d]+(g.Kernel[d]-1)*g.Dilation[d]+1)
		}
		p.blank = bytes.Repeat([]byte{options.Zero}, p.size[2]*g.InChannels)
	}
	p.expandColumns()
	p.setOffsets()
	p.cutLevels()
	return p
}

// expandColumns completes what there is for each out channel to whole vectors.
func (p *BytePlan) expandColumns() {
	w, filters, whole := p.weights, p.weights.filters, p.weights.filters
	groups := w.groups
	if w.taps != nil {
		filters, groups = w.groups, 1
		whole = (w.groups + w.lanes() - 1) / w.lanes() * w.lanes()
	} else if w.isa != asm.None {
		whole = w.whole()
	}
	n := groups*whole + 16
	p.start, p.scale, p.bias = make([]int32, n), make([]float32, n), make([]float32, n)
	for o := range p.geometry.OutChannels {
		to := o/filters*whole + o%filters
		p.start[to] = -int32(p.options.Zero) * w.sums[o]
		p.scale[to] = p.options.Scale[o]
		if p.options.Bias != nil {
			p.bias[to] = p.options.Bias[o]
		}
	}
}

// setOffsets finds where the runs of a sum begin in the image.
func (p *BytePlan) setOffsets() {
	g := &p.geometry
	pixel := int64(g.InChannels)
	for range p.weights.parts {
		for z := range g.Kernel[0] {
			for y := range g.Kernel[1] {
				row := int64((z*g.Dilation[0]*p.size[1]+y*g.Dilation[1])*p.size[2]) * pixel
				if p.weights.joined {
					p.offsets = append(p.offsets, row)
					continue
				}
				for x := range g.Kernel[2] {
					p.offsets = append(p.offsets, row+int64(x*g.Dilation[2])*pixel)
				}
			}
		}
	}
}

// cutLevels finds the loops over the places of all images, joins those that go on in equal steps, and cuts the inner ones into strips.
func (p *BytePlan) cutLevels() {
	g := &p.geometry
	pixel := g.InChannels
	levels := []byteLevel{{g.Batch, conv.Volume(p.size) * pixel, 0}, {g.Out[0], g.Stride[0] * p.size[1] * p.size[2] * pixel, 0},
		{g.Out[1], g.Stride[1] * p.size[2] * pixel, 0}, {g.Out[2], g.Stride[2] * pixel, 0}}
	var kept []byteLevel // the innermost first
	places := 1
	for i := len(levels) - 1; i >= 0; i-- {
		l := levels[i]
		l.out = places
		places *= l.count
		if l.count == 1 {
			continue
		}
		if n := len(kept); n > 0 && kept[n-1].count*kept[n-1].step == l.step {
			kept[n-1].count *= l.count
			continue
		}
		kept = append(kept, l)
	}
	for len(kept) < 2 {
		kept = append(kept, byteLevel{1, 0, places})
	}
	p.outer = kept[2:]
	if p.weights.isa != asm.None && places > 0 {
		p.cutStrips(kept[0], kept[1])
	}
}

// maximumRows returns how many places a tile computes at most.
func (p *BytePlan) maximumRows() int {
	if p.weights.taps != nil {
		return tile.ByteChannelsPlaces(p.weights.isa)
	}
	return tile.MaxByteRows(p.weights.isa, gemm.PanelVectors)
}

// cutStrips cuts the places of two loops.
func (p *BytePlan) cutStrips(inner, next byteLevel) {
	maximum := p.maximumRows()
	s := byteStrip{rows: inner.count, step: inner.step, blockStep: next.step}
	switch {
	case inner.count > maximum:
		tiles := gemm.CutRows(inner.count, maximum)
		for i := range next.count {
			s.in, s.out = i*next.step, i*next.out
			for at := 0; at < tiles.Count; {
				rows, n := tiles.Alike(at, tiles.Count)
				s.rows, s.blockStep = rows, rows*inner.step
				p.addStrips(s, n)
				s.in, s.out = s.in+n*rows*inner.step, s.out+n*rows
				at += n
			}
		}
	case 2*inner.count <= maximum && next.count > 1 && p.weights.taps == nil:
		s.rows, s.split, s.splitStep, s.blockStep = 2*inner.count, inner.count, next.step, 2*next.step
		p.addStrips(s, next.count/2)
		if next.count%2 != 0 {
			last := next.count - 1
			p.addStrips(byteStrip{in: last * next.step, out: last * next.out, rows: inner.count, step: inner.step}, 1)
		}
	default:
		p.addStrips(s, next.count)
	}
}

// addStrips adds strips of so many blocks, cut so that a call of a kernel takes a moment only.
func (p *BytePlan) addStrips(s byteStrip, blocks int) {
	n, _, fours := p.weights.runs()
	if p.weights.taps != nil {
		n = p.geometry.InChannels // all of them in one call
	}
	limit := max(1, gemm.StripWork/(s.rows*max(1, p.weights.parts*n*fours)*gemm.PanelVectors*p.weights.lanes()))
	for ; blocks > 0; blocks -= s.blocks {
		s.blocks = min(blocks, limit)
		p.strips = append(p.strips, s)
		s.in, s.out = s.in+s.blocks*s.blockStep, s.out+s.blocks*s.rows
	}
}

// outerAt returns where in input and output round i of the outer loops begins.
func (p *BytePlan) outerAt(i int) (in, out int) {
	for _, l := range p.outer {
		at := i % l.count
		in, out, i = in+at*l.step, out+at*l.out, i/l.count
	}
	return in, out
}

// Run convolves a batch of images. It panics where in or out is too short, or the options have no limits.
func (p *BytePlan) Run(in, out []uint8) {
	if p.options.Limits == nil {
		panic("integer: a convolution of bytes without limits")
	}
	runBytes(p, in, out)
}

// RunReal convolves a batch of images; the results are numbers.
func (p *BytePlan) RunReal(in []uint8, out []float32) { runBytes(p, in, out) }

func runBytes[T uint8 | float32](p *BytePlan, in []uint8, out []T) {
	g := &p.geometry
	places := g.Batch * conv.Volume(g.Out)
	if len(in) < g.Batch*g.InChannels*conv.Volume(g.In) || len(out) < places*g.OutChannels {
		panic("integer: a convolution reaches outside its data")
	}
	if places*g.OutChannels == 0 {
		return
	}
	if p.copied {
		memory := gemm.TakeBuffers()
		defer memory.Recycle()
		in = p.pad(in, memory)
	}
	switch {
	case p.weights.isa == asm.None:
		portableBytes(p, in, out)
	case p.weights.taps != nil:
		runByteChannels(p, in, out)
	default:
		runByteTiles(p, in, out)
	}
}

// work returns the multiplications of a run.
func (p *BytePlan) work() int {
	g := &p.geometry
	return g.Batch * g.OutChannels * conv.Volume(g.Out) * conv.Volume(g.Kernel) * p.weights.channels
}

// bytesWorth is how many products of bytes take the time of one of floats.
const bytesWorth = 3

// runByteTiles shares the panels out where there are more of them, else the strips.
func runByteTiles[T uint8 | float32](p *BytePlan, in []uint8, out []T) {
	w := p.weights
	panels := (w.filters + gemm.PanelVectors*w.lanes() - 1) / (gemm.PanelVectors * w.lanes())
	n := len(p.strips)
	for _, l := range p.outer {
		n *= l.count
	}
	outer := len(w.packed) > 400<<10 // weights are read once
	run := func(j0, j1, s0, s1 int) {
		var watch parallel.Watch
		if outer {
			for j := j0; j < j1; j++ {
				watch.Look()
				for s := s0; s < s1; s++ {
					runByteStrip(p, in, out, s, j/panels, j%panels)
				}
			}
			return
		}
		for s := s0; s < s1; s++ {
			watch.Look()
			for j := j0; j < j1; j++ {
				runByteStrip(p, in, out, s, j/panels, j%panels)
			}
		}
	}
	threads := parallel.NumThreads()
	if p.work() < 2*bytesWorth*gemm.ParallelFlops || threads == 1 {
		run(0, w.groups*panels, 0, n)
		return
	}
	if outer && w.groups*panels >= 2*threads || n < threads {
		parallel.For(w.groups*panels, 1, func(lo, hi int) { run(lo, hi, 0, n) })
		return
	}
	parallel.For(n, max(1, n/(16*threads)), func(lo, hi int) { run(0, w.groups*panels, lo, hi) })
}

// runByteStrip computes a strip of the output for one panel of the out channels of a group.
func runByteStrip[T uint8 | float32](p *BytePlan, in []uint8, out []T, index, group, panel int) {
	w, s := p.weights, &p.strips[index%len(p.strips)]
	inAt, outAt := p.outerAt(index / len(p.strips))
	size := int(unsafe.Sizeof(out[0]))
	first := panel * gemm.PanelVectors * w.lanes()
	columns, column := min(gemm.PanelVectors*w.lanes(), w.filters-first), group*w.whole()+first
	rest := columns % w.lanes()
	t := tile.ByteTile{ISA: w.isa, Dot: w.dot, Real: size == 4, Rows: uint8(s.rows), Split: uint8(s.split), Vectors: uint8((columns + w.lanes() - 1) / w.lanes()), Tail: rest != 0}
	_, _, fours := w.runs()
	args := tile.ByteTileArgs{A: unsafe.Pointer(&in[inAt+s.in+group*w.channels]), B: unsafe.Pointer(&w.packed[w.panelAt(group, panel)]),
		C: unsafe.Pointer(&out[(outAt+s.out)*p.geometry.OutChannels+group*w.filters+first]), Offsets: unsafe.Pointer(&p.offsets[0]), Runs: int64(len(p.offsets)), K: int64(fours),
		ARow: int64(s.step), ASplit: int64(s.splitStep), CRow: int64(p.geometry.OutChannels * size),
		Start: unsafe.Pointer(&p.start[column]), Scale: unsafe.Pointer(&p.scale[column]), Bias: unsafe.Pointer(&p.bias[column]), Limits: p.options.Limits,
		Tail: int64(rest), Blocks: int64(s.blocks), ABlock: int64(s.blockStep), CBlock: int64(s.rows * p.geometry.OutChannels * size)}
	if rest != 0 {
		args.Mask = tile.TailMask(w.isa, rest)
	}
	t.Code().Call(unsafe.Pointer(&args))
}

package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Expanded is a depthwise convolution with a product with every pixel before it, one behind it, or both. What lies between them is never there as a
// whole: some rows of it at a time lie in buffers that stay in the cache of the second level. It never changes: any number of goroutines may run it at
// once.
type Expanded struct {
	shape    ExpandedShape
	channels *ChannelsPlan[float32]
	blocks   []expandedBlock        // of an image
	firsts   map[int]*Plan[float32] // the product before, by its rows
	lasts    map[int]*Plan[float32] // the product behind, by its rows
}

// ExpandedShape is the geometries of an Expanded: First and Last are nil where there is no product.
type ExpandedShape struct {
	First     *Convolution
	Depthwise *Convolution
	Last      *Convolution
}

// expandedBlock is some rows of the result, and of what they are computed of.
type expandedBlock struct {
	out0, out1 int
	in0, in1   int // rows that the depthwise convolution reads for them
	kept       int // of them, those that the block before has too
}

// Both buffers together stay in a cache of the second level of 512 KB, which is the smallest that processors with AVX2 commonly have.
const (
	expandedFrom  = 384 << 10 // bytes of the product before, of an image, from which it does not stay in the cache by itself
	expandedBytes = 320 << 10 // of the buffer of its rows
	narrowedFrom  = 256 << 10 // bytes of what the product behind reads, of an image, from which it is computed by rows
	narrowedBytes = 128 << 10 // of the buffer of these
	narrowWeights = 64 << 10  // bytes of the weights of the product behind, which every block reads
	expandedParts = 16        // that run at the same time, at most
)

// SuitsExpanded reports whether a product with the pixels of an image, and a depthwise convolution behind, are to be computed together.
func SuitsExpanded(product, depthwise *Convolution) bool {
	return product.isProduct() && product.Groups == 1 && depthwise.runsByRows() && depthwise.InChannels == product.OutChannels && depthwise.In == product.Out &&
		depthwise.Batch == product.Batch && product.OutChannels*Volume(product.Out)*4 >= expandedFrom && rowsOfBuffer(depthwise) >= depthwise.Kernel[1]
}

// SuitsNarrowed reports whether a depthwise convolution, and a product with the pixels of its result, are to be computed together.
func SuitsNarrowed(depthwise, product *Convolution) bool {
	return product.isProduct() && product.Groups == 1 && depthwise.runsByRows() && product.InChannels == depthwise.OutChannels && product.In == depthwise.Out &&
		product.Batch == depthwise.Batch && depthwise.OutChannels*Volume(depthwise.Out)*4 >= narrowedFrom &&
		product.InChannels*product.OutChannels*4 <= narrowWeights && rowsOfResult(depthwise) >= 1
}

// runsByRows reports whether a convolution is a depthwise one that runs some rows at a time.
func (g *Convolution) runsByRows() bool {
	return g.Groups == g.InChannels && g.InChannels == g.OutChannels && g.Groups > 1 && g.In[0] == 1 && g.Kernel[0] == 1 && g.Dilation[1] == 1 && g.PoolsLast()
}

// rowsOfBuffer returns how many rows of a depthwise convolution's input a buffer has.
func rowsOfBuffer(g *Convolution) int { return expandedBytes / (g.In[2] * g.InChannels * 4) }

// rowsOfResult returns how many rows of a depthwise convolution's result a buffer has.
func rowsOfResult(g *Convolution) int { return narrowedBytes / (g.Out[2] * g.OutChannels * 4) }

// rowsOfBlock returns how many rows of the result are computed at a time.
func (s *ExpandedShape) rowsOfBlock() int {
	g, rows := s.Depthwise, s.Depthwise.Out[1]
	if s.First != nil {
		rows = min(rows, max(1, (rowsOfBuffer(g)-g.Kernel[1])/g.Stride[1]+1))
	}
	if s.Last != nil {
		rows = min(rows, rowsOfResult(g))
	}
	return rows
}

// parts returns into how many parts the work is cut that may run at the same time.
func (s *ExpandedShape) parts() int {
	each := s.rowsOfBlock()
	return min(expandedParts, s.Depthwise.Batch*((s.Depthwise.Out[1]+each-1)/each))
}

// buffers returns the elements of the buffers of a part: of what the depthwise convolution reads, and of what it gives.
func (s *ExpandedShape) buffers() (first, last int) {
	g := s.Depthwise
	if s.First != nil {
		first = rowsOfBuffer(g) * g.In[2] * g.InChannels
	}
	if s.Last != nil {
		last = s.rowsOfBlock() * g.Out[2] * g.OutChannels
	}
	return first, last
}

// Room returns the elements that a run needs.
func (s *ExpandedShape) Room() int {
	first, last := s.buffers()
	return s.parts() * (first + last)
}

// NewExpanded joins the plans of a depthwise convolution and of products that are made for a shape, SuitsExpanded and SuitsNarrowed; first and last are
// nil where there is none. ok is false where a product runs in another way than by tiles.
func NewExpanded(shape ExpandedShape, first *Plan[float32], channels *ChannelsPlan[float32], last *Plan[float32]) (_ *Expanded, ok bool) {
	g := &channels.geometry
	e := &Expanded{shape: shape, channels: channels, firsts: map[int]*Plan[float32]{}, lasts: map[int]*Plan[float32]{}}
	before, each := 0, shape.rowsOfBlock()
	for y := 0; y < g.Out[1]; y += each {
		b := expandedBlock{out0: y, out1: min(y+each, g.Out[1])}
		b.in0 = min(max(0, b.out0*g.Stride[1]-g.Padding[1]), g.In[1])
		b.in1 = max(b.in0, min(g.In[1], (b.out1-1)*g.Stride[1]-g.Padding[1]+g.Kernel[1]))
		b.kept = max(0, before-b.in0)
		before = b.in1
		e.blocks = append(e.blocks, b)
		if first != nil { // a part may begin with any block
			ok := addRows(e.firsts, first, *shape.First, b.in1-b.in0) && addRows(e.firsts, first, *shape.First, b.in1-b.in0-b.kept)
			if !ok {
				return nil, false
			}
		}
		if last != nil && !addRows(e.lasts, last, *shape.Last, b.out1-b.out0) {
			return nil, false
		}
	}
	return e, true
}

// addRows adds a plan of a product of some rows of one image. It reports whether that runs by tiles.
func addRows(plans map[int]*Plan[float32], plan *Plan[float32], of Convolution, rows int) bool {
	if plan.way() != byTiles {
		return false
	}
	if rows <= 0 || plans[rows] != nil {
		return true
	}
	of.Batch, of.In[1], of.Out[1] = 1, rows, rows
	resized, ok := plan.Resized(of)
	plans[rows] = resized
	return ok
}

// Run computes a batch of images, whose channels lie together. residual is what the product behind is given as that; room has Room elements.
func (e *Expanded) Run(in, residual, out, room []float32) {
	n, parts := e.channels.geometry.Batch*len(e.blocks), e.shape.parts()
	size := e.shape.Room() / parts
	if parallel.NumThreads() == 1 {
		e.some(0, n, in, residual, out, room[:size])
		return
	}
	parallel.For(parts, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			e.some(n*i/parts, n*(i+1)/parts, in, residual, out, room[i*size:(i+1)*size])
		}
	})
}

// some computes the blocks from lo to hi of all images together.
func (e *Expanded) some(lo, hi int, in, residual, out, room []float32) {
	first, _ := e.shape.buffers()
	var watch parallel.Watch
	for i := lo; i < hi; i++ {
		watch.Look()
		at, b := i/len(e.blocks), &e.blocks[i%len(e.blocks)]
		from, begin := e.imageOf(at, in), 0
		if e.shape.First != nil {
			var before *expandedBlock
			if i > lo && i%len(e.blocks) > 0 {
				before = &e.blocks[i%len(e.blocks)-1]
			}
			e.expand(b, before, from, room[:first])
			from, begin = room, b.in0
		}
		e.narrow(b, at, from, begin, residual, out, room[first:])
	}
}

// imageOf returns an image of the input.
func (e *Expanded) imageOf(at int, in []float32) []float32 {
	channels := e.shape.Depthwise.InChannels
	if e.shape.First != nil {
		channels = e.shape.First.InChannels
	}
	return in[at*channels*Volume(e.shape.Depthwise.In):]
}

// expand computes the rows that a block reads, behind those that are there from the block before.
func (e *Expanded) expand(b, before *expandedBlock, in, buffer []float32) {
	g, product := e.shape.Depthwise, e.shape.First
	row, kept := g.In[2]*g.InChannels, 0
	if before != nil && b.kept > 0 {
		kept = b.kept
		copy(buffer, buffer[(b.in0-before.in0)*row:(before.in1-before.in0)*row])
	}
	if rows := b.in1 - b.in0 - kept; rows > 0 {
		from := (b.in0 + kept) * g.In[2] * product.InChannels
		e.firsts[rows].Run(in[from:][:rows*g.In[2]*product.InChannels], nil, buffer[kept*row:])
	}
}

// narrow computes a block of an image from what the depthwise convolution reads, which begins with a row.
func (e *Expanded) narrow(b *expandedBlock, image int, in []float32, begin int, residual, out, buffer []float32) {
	g, product := e.shape.Depthwise, e.shape.Last
	from := unsafe.Pointer(unsafe.SliceData(in))
	if product == nil {
		e.channels.runImage(b.out0, b.out1, from, begin, out[image*g.OutChannels*Volume(g.Out):], 0)
		return
	}
	e.channels.runImage(b.out0, b.out1, from, begin, buffer, b.out0)
	rows := b.out1 - b.out0
	place, n := (image*g.Out[1]+b.out0)*g.Out[2]*product.OutChannels, rows*g.Out[2]*product.OutChannels
	if residual != nil {
		residual = residual[place:][:n]
	}
	e.lasts[rows].Run(buffer[:rows*g.Out[2]*g.OutChannels], residual, out[place:][:n])
}

package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Expanded is a depthwise convolution with a convolution before it, a product with every pixel behind it, or both. What lies between them is never
// there as a whole: some rows of it at a time lie in buffers that stay in the cache of the second level. It never changes: any number of goroutines may
// run it at once.
type Expanded struct {
	shape    ExpandedShape
	channels *ChannelsPlan[float32]
	blocks   []expandedBlock                 // of an image
	firsts   map[expandedRows]*Plan[float32] // the convolution before, by its rows
	lasts    map[int]*Plan[float32]          // the product behind, by how many rows
}

// expandedRows are the rows of a result from y0 to y1. Those of a product begin with 0: it is the same everywhere.
type expandedRows struct{ y0, y1 int }

// ExpandedShape is the geometries of an Expanded: First and Last are nil where there is no convolution.
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
	expandedFrom  = 384 << 10 // bytes of the result of the convolution before, of an image, from which it does not stay in the cache by itself
	expandedBytes = 320 << 10 // of the buffer of its rows
	narrowedFrom  = 256 << 10 // bytes of what the product behind reads, of an image, from which it is computed by rows
	narrowedBytes = 128 << 10 // of the buffer of these
	expandWeights = 64 << 10  // bytes of the weights of a convolution before that is no product, which every block reads
	narrowWeights = 64 << 10  // bytes of the weights of the product behind, which every block reads
	expandedParts = 16        // that run at the same time, at most
)

// SuitsExpanded reports whether a convolution of images by a plan with options, and a depthwise convolution behind, are to be computed together.
func SuitsExpanded(before, depthwise *Convolution, options PlanOptions) bool {
	return (before.isProduct() || before.OutChannels*before.InChannels*Volume(before.Kernel)*4 <= expandWeights) && before.Groups == 1 &&
		wayOf[float32](before, &options) == byTiles && depthwise.runsByRows() && depthwise.InChannels == before.OutChannels && depthwise.In == before.Out &&
		depthwise.Batch == before.Batch && before.OutChannels*Volume(before.Out)*4 >= expandedFrom && rowsOfBuffer(depthwise) >= depthwise.Kernel[1]
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

// NewExpanded joins the plans of a depthwise convolution and of those around it that are made for a shape, SuitsExpanded and SuitsNarrowed; first and
// last are nil where there is none. ok is false where one runs in another way than by tiles.
func NewExpanded(shape ExpandedShape, first *Plan[float32], channels *ChannelsPlan[float32], last *Plan[float32]) (_ *Expanded, ok bool) {
	g := &channels.geometry
	e := &Expanded{shape: shape, channels: channels, firsts: map[expandedRows]*Plan[float32]{}, lasts: map[int]*Plan[float32]{}}
	if first != nil && first.way() != byTiles || last != nil && last.way() != byTiles {
		return nil, false
	}
	before, each := 0, shape.rowsOfBlock()
	for y := 0; y < g.Out[1]; y += each {
		b := expandedBlock{out0: y, out1: min(y+each, g.Out[1])}
		b.in0 = min(max(0, b.out0*g.Stride[1]-g.Padding[1]), g.In[1])
		b.in1 = max(b.in0, min(g.In[1], (b.out1-1)*g.Stride[1]-g.Padding[1]+g.Kernel[1]))
		b.kept = max(0, before-b.in0)
		before = b.in1
		e.blocks = append(e.blocks, b)
		if first != nil { // a part may begin with any block
			e.addFirst(first, b.in0, b.in1)
			e.addFirst(first, b.in0+b.kept, b.in1)
		}
		if rows := b.out1 - b.out0; last != nil && e.lasts[rows] == nil {
			e.lasts[rows] = rowsOfProduct(last, *shape.Last, rows)
		}
	}
	return e, true
}

// firstRows is the key of the plan of some rows of the convolution before.
func (e *Expanded) firstRows(y0, y1 int) expandedRows {
	if e.shape.First.isProduct() {
		return expandedRows{0, y1 - y0}
	}
	return expandedRows{y0, y1}
}

// addFirst adds a plan of some rows of the convolution before.
func (e *Expanded) addFirst(first *Plan[float32], y0, y1 int) {
	key := e.firstRows(y0, y1)
	switch {
	case y0 >= y1 || e.firsts[key] != nil:
	case e.shape.First.isProduct():
		e.firsts[key] = rowsOfProduct(first, *e.shape.First, key.y1)
	default:
		e.firsts[key] = first.rowsOnly(y0, y1)
	}
}

// rowsOfProduct returns a plan, which runs by tiles, for some rows of one image of a product.
func rowsOfProduct(plan *Plan[float32], of Convolution, rows int) *Plan[float32] {
	of.Batch, of.In[1], of.Out[1] = 1, rows, rows
	resized, ok := plan.Resized(of)
	if !ok {
		panic("conv: some rows of a product run in another way than all")
	}
	return resized
}

// Run computes a batch of images, whose channels lie together. residual is what the product behind is given as that; room has Room elements. ahead is
// what is read next, as for Plan.RunAhead.
func (e *Expanded) Run(in, residual, out, room []float32, ahead *Ahead) {
	n, parts := e.channels.geometry.Batch*len(e.blocks), e.shape.parts()
	size := e.shape.Room() / parts
	if parallel.NumThreads() == 1 {
		e.some(0, n, in, residual, out, room[:size], ahead)
		return
	}
	parallel.For(parts, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			e.some(n*i/parts, n*(i+1)/parts, in, residual, out, room[i*size:(i+1)*size], nil)
		}
	})
}

// some computes the blocks from lo to hi of all images together. ahead is what is read next, nil where nothing is to be fetched.
func (e *Expanded) some(lo, hi int, in, residual, out, room []float32, ahead *Ahead) {
	first, _ := e.shape.buffers()
	top := 0 // the row of the buffer that a block's rows begin with
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
			top = e.expand(b, before, from, room[:first], top, ahead)
			from, begin = room[top*e.shape.Depthwise.In[2]*e.shape.Depthwise.InChannels:], b.in0
		}
		e.narrow(b, at, from, begin, residual, out, room[first:], ahead)
	}
}

// imageOf returns an image of the input.
func (e *Expanded) imageOf(at int, in []float32) []float32 {
	g := e.shape.Depthwise
	if e.shape.First != nil {
		g = e.shape.First
	}
	return in[at*g.InChannels*Volume(g.In):]
}

// expand computes the rows that a block reads, behind those that are there from the block before, which begin with row top of the buffer. It returns the
// row that they begin with.
func (e *Expanded) expand(b, before *expandedBlock, in, buffer []float32, top int, ahead *Ahead) int {
	g, first := e.shape.Depthwise, e.shape.First
	row, kept := g.In[2]*g.InChannels, 0
	if before != nil && b.kept > 0 {
		kept = b.kept
		top += b.in0 - before.in0
	} else {
		top = 0
	}
	if (top+b.in1-b.in0)*row > len(buffer) {
		copy(buffer, buffer[top*row:(top+kept)*row])
		top = 0
	}
	y0, y1 := b.in0+kept, b.in1
	if y0 >= y1 {
		return top
	}
	if first.isProduct() {
		in = in[y0*g.In[2]*first.InChannels:][:(y1-y0)*g.In[2]*first.InChannels]
	}
	e.firsts[e.firstRows(y0, y1)].RunAhead(in, nil, buffer[(top+kept)*row:], ahead)
	return top
}

// narrow computes a block of an image from what the depthwise convolution reads, which begins with a row.
func (e *Expanded) narrow(b *expandedBlock, image int, in []float32, begin int, residual, out, buffer []float32, ahead *Ahead) {
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
	e.lasts[rows].RunAhead(buffer[:rows*g.Out[2]*g.OutChannels], residual, out[place:][:n], ahead)
}

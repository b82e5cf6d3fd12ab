package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Expanded is a depthwise convolution of what a product with every pixel gives, which is never there as a whole: some rows of it at a time lie in a
// buffer that stays in the cache of the second level. It never changes: any number of goroutines may run it at once.
type Expanded struct {
	product  Convolution
	channels *ChannelsPlan[float32]
	blocks   []expandedBlock // of an image
	products map[int]*Plan[float32]
}

// expandedBlock is some rows of the result, and of what they are computed of.
type expandedBlock struct {
	out0, out1 int
	in0, in1   int // rows of the product that the result reads
	kept       int // of them, those that the block before has too
}

const (
	expandedFrom  = 768 << 10 // bytes of the product of an image from which it does not stay in the cache by itself
	expandedBytes = 512 << 10 // of the buffer
	expandedParts = 16        // that run at the same time, at most
)

// SuitsExpanded reports whether a product with the pixels of an image, and a depthwise convolution behind, are to be computed together.
func SuitsExpanded(product, depthwise *Convolution) bool {
	return product.isProduct() && product.Groups == 1 && depthwise.Groups == depthwise.InChannels && depthwise.InChannels == depthwise.OutChannels &&
		depthwise.Groups > 1 && depthwise.InChannels == product.OutChannels && depthwise.In == product.Out && depthwise.Batch == product.Batch &&
		depthwise.In[0] == 1 && depthwise.Kernel[0] == 1 && depthwise.Dilation[1] == 1 && depthwise.PoolsLast() &&
		product.OutChannels*Volume(product.Out)*4 >= expandedFrom && rowsOfBuffer(depthwise) >= depthwise.Kernel[1]
}

// rowsOfBuffer returns how many rows of a depthwise convolution's input a buffer has.
func rowsOfBuffer(g *Convolution) int { return expandedBytes / (g.In[2] * g.InChannels * 4) }

// rowsOfBlock returns for how many rows of a depthwise convolution's result a buffer has what they read.
func rowsOfBlock(g *Convolution) int { return max(1, (rowsOfBuffer(g)-g.Kernel[1])/g.Stride[1]+1) }

// expandedPartsOf returns into how many parts the work of a depthwise convolution behind a product is cut that may run at the same time.
func expandedPartsOf(g *Convolution) int {
	each := rowsOfBlock(g)
	return min(expandedParts, g.Batch*((g.Out[1]+each-1)/each))
}

// NewExpanded joins the plans of a product, which is made for a geometry, and of a depthwise convolution that SuitsExpanded. ok is false where the
// product runs in another way than by tiles.
func NewExpanded(product Convolution, plan *Plan[float32], channels *ChannelsPlan[float32]) (_ *Expanded, ok bool) {
	if plan.way() != byTiles {
		return nil, false
	}
	g := &channels.geometry
	e := &Expanded{product: product, channels: channels, products: map[int]*Plan[float32]{}}
	before, each := 0, rowsOfBlock(g)
	for y := 0; y < g.Out[1]; y += each {
		b := expandedBlock{out0: y, out1: min(y+each, g.Out[1])}
		b.in0 = min(max(0, b.out0*g.Stride[1]-g.Padding[1]), g.In[1])
		b.in1 = max(b.in0, min(g.In[1], (b.out1-1)*g.Stride[1]-g.Padding[1]+g.Kernel[1]))
		b.kept = max(0, before-b.in0)
		before = b.in1
		e.blocks = append(e.blocks, b)
		for _, rows := range []int{b.in1 - b.in0, b.in1 - b.in0 - b.kept} { // a part may begin with any block
			if rows > 0 && e.products[rows] == nil {
				of := product
				of.Batch, of.In, of.Out = 1, [3]int{1, rows, g.In[2]}, [3]int{1, rows, g.In[2]}
				if e.products[rows], ok = plan.Resized(of); !ok {
					return nil, false
				}
			}
		}
	}
	return e, true
}

// bufferOf returns the elements of the buffer of a part.
func bufferOf(depthwise *Convolution) int {
	return rowsOfBuffer(depthwise) * depthwise.In[2] * depthwise.InChannels
}

// RoomOf returns the elements that a run of a depthwise convolution behind a product needs.
func RoomOf(depthwise *Convolution) int { return expandedPartsOf(depthwise) * bufferOf(depthwise) }

// Run computes a batch of images, whose channels lie together. room has RoomOf elements.
func (e *Expanded) Run(in, out, room []float32) {
	n := e.product.Batch * len(e.blocks)
	size := bufferOf(&e.channels.geometry)
	if parallel.NumThreads() == 1 {
		e.some(0, n, in, out, room[:size])
		return
	}
	parts := expandedPartsOf(&e.channels.geometry)
	parallel.For(parts, 1, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			e.some(n*i/parts, n*(i+1)/parts, in, out, room[i*size:(i+1)*size])
		}
	})
}

// some computes the blocks from lo to hi of all images together.
func (e *Expanded) some(lo, hi int, in, out, buffer []float32) {
	g := &e.channels.geometry
	width, channels, image := g.In[2], g.InChannels, e.product.InChannels*Volume(e.product.In)
	row := width * channels
	var watch parallel.Watch
	for i := lo; i < hi; i++ {
		watch.Look()
		at, b := i/len(e.blocks), &e.blocks[i%len(e.blocks)]
		kept := 0
		if i > lo && i%len(e.blocks) > 0 {
			before := &e.blocks[i%len(e.blocks)-1]
			if kept = b.kept; kept > 0 {
				copy(buffer, buffer[(b.in0-before.in0)*row:(before.in1-before.in0)*row])
			}
		}
		if rows := b.in1 - b.in0 - kept; rows > 0 {
			from := at*image + (b.in0+kept)*width*e.product.InChannels
			e.products[rows].Run(in[from:][:rows*width*e.product.InChannels], nil, buffer[kept*row:])
		}
		e.channels.runImage(at, b.out0, b.out1, unsafe.Pointer(unsafe.SliceData(buffer)), b.in0, out)
	}
}

package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// Plan is a convolution in two dimensions over images whose channels lie together (batch, height,
// width, channel), made once for a geometry and weights. It never changes: any number of goroutines
// may run it at once.
//
// Weights are packed into panels of out channels; the output is cut into strips of places that read
// alike, each the rows of some tiles of a matrix product. Places that read from the padding have strips of
// their own, whose products leave those taps out.
type Plan[T gemm.Float] struct {
	geometry Convolution
	options  PlanOptions
	isa      asm.ISA
	weight   []T  // by group, panel, tap and channel, on a cache line
	halves   bool // the last vector of a panel may have the weights of two channels
	bias     []T
	strips   []strip
	winograd *winograd[T]
	pairs    *pairs
	portable []T // the weights as they came, where no code is generated
}

// PlanOptions says what a Plan does beside the convolution.
type PlanOptions struct {
	Relu     bool
	Residual bool // Run adds a tensor like the result, before Relu
	// Epilogue, where not nil, takes the place of the bias, Residual and Relu: its inputs are the sum,
	// the bias and what Run is given as residual.
	Epilogue *gemm.Epilogue
	// Exact forbids to trade accuracy for speed: without it convolutions of 3 by 3 may take four
	// times fewer multiplications at an error up to 2e-5 of the largest result.
	Exact bool
	// ByDefinition forbids algorithms in which one sum that is not finite reaches others: Run never fails.
	ByDefinition bool
}

// way is how a plan computes.
type way uint8

const (
	byTiles way = iota
	byPairs
	byWinograd
	byPortable
)

// wayOf returns how a plan computes a convolution.
func wayOf[T gemm.Float](g *Convolution, options *PlanOptions) way {
	passes := options.Epilogue == nil || options.Epilogue.Pass != nil
	switch isa := asm.Target(); {
	case isa < asm.AVX2 || Volume(g.Kernel)*g.InChannels == 0:
		return byPortable
	case options.ByDefinition:
		return byTiles
	case !passes: // the epilogue is that of tiles
		return byTiles
	case !options.Exact && suitsWinograd[T](g, lanesOf[T](isa)):
		return byWinograd
	case suitsPairs[T](g, fewestOfPlanned):
		return byPairs
	}
	return byTiles
}

// NewPlan makes a plan of weights laid out as Convolve takes them; bias may be nil. It panics where
// they are shorter than the geometry says or have a depth.
func NewPlan[T gemm.Float](g Convolution, weight, bias []T, options PlanOptions) *Plan[T] {
	if g.In[0] != 1 || g.Kernel[0] != 1 || g.Out[0] != 1 || g.Padding[0] != 0 {
		panic("conv: a plan is for two dimensions")
	}
	g.checkExtents(g.Batch*g.InChannels*Volume(g.In), len(weight), len(bias), g.Batch*g.OutChannels*Volume(g.Out), bias != nil)
	p := planOf(g, bias, options)
	g = p.geometry
	switch wayOf[T](&g, &options) {
	case byPortable:
		p.portable = append(p.portable, weight...)
	case byWinograd:
		p.winograd = newWinograd(p.isa, g, weight, p.bias, options)
	case byPairs:
		p.pairs = planPairs(g, asFloat32(weight), asFloat32(p.bias), options)
	default:
		p.pack(weight)
		p.cutStrips()
	}
	return p
}

// Resized returns a plan with the weights of p for images of other sizes, or another number of them. ok is false where these are to be laid
// out in another way.
func (p *Plan[T]) Resized(g Convolution) (resized *Plan[T], ok bool) {
	r := planOf(g, p.bias, p.options)
	g = r.geometry
	found := wayOf[T](&g, &p.options)
	if found != p.way() {
		return nil, false
	}
	switch found {
	case byPortable:
		r.portable = p.portable
	case byWinograd:
		r.winograd = cutWinograd(p.isa, g, p.winograd.weight, r.bias, p.options)
	case byPairs:
		r.pairs = p.pairs.planned(g, asFloat32(r.bias), p.options)
	default:
		r.weight, r.halves = p.weight, p.halves
		r.cutStrips()
	}
	return r, true
}

// way returns how the plan computes.
func (p *Plan[T]) way() way {
	switch {
	case p.portable != nil:
		return byPortable
	case p.winograd != nil:
		return byWinograd
	case p.pairs != nil:
		return byPairs
	}
	return byTiles
}

// Sharing returns a plan of a product with the weights of p, which is one, a bias of its own, nil for none, and other options.
func (p *Plan[T]) Sharing(g Convolution, bias []T, options PlanOptions) *Plan[T] {
	r := planOf(g, bias, options)
	if r.weight, r.halves, r.portable = p.weight, p.halves, p.portable; p.portable == nil {
		r.cutStrips()
	}
	return r
}

// MayOverwriteResidual reports whether a Plan of float32, of a geometry and options, reads each element of the residual before it writes anything to the
// same element of the output, and does not fail: the two may be one then.
func (g *Convolution) MayOverwriteResidual(options PlanOptions) bool {
	if g.Groups != 1 || g.Dilation[2] != 1 { // sums are stored before the last is added
		return false
	}
	found := wayOf[float32](g, &options)
	if e := options.Epilogue; e != nil { // a pass comes when all sums are stored
		return found == byTiles && e.Generated() && e.LongPass() == nil
	}
	return found == byTiles || found == byWinograd
}

// planOf returns a plan without its weights.
func planOf[T gemm.Float](g Convolution, bias []T, options PlanOptions) *Plan[T] {
	if g.isProduct() { // all places of all images are the rows of one matrix
		places := [3]int{1, 1, g.Batch * Volume(g.In)}
		g.Batch, g.In, g.Out = 1, places, places
	}
	p := &Plan[T]{geometry: g, options: options, isa: asm.Target()}
	p.bias = append(p.bias, bias...)
	if bias == nil || options.Epilogue != nil && options.Epilogue.Inputs == 1 {
		p.bias = make([]T, g.OutChannels)
	}
	return p
}

// lanesOf returns the elements of a vector.
func lanesOf[T gemm.Float](isa asm.ISA) int {
	var zero T
	return isa.Width().Bytes() / int(unsafe.Sizeof(zero))
}

// PanelWidth returns the columns of panel j of filters out channels, completed to whole vectors.
func PanelWidth(filters, j, lanes int) int {
	width := min(gemm.PanelVectors*lanes, filters-j*gemm.PanelVectors*lanes)
	return (width + lanes - 1) / lanes * lanes
}

// pack lays the weights out as the tiles read them.
func (p *Plan[T]) pack(weight []T) {
	g, lanes := &p.geometry, lanesOf[T](p.isa)
	channels, filters, taps := g.InChannels/g.Groups, g.OutChannels/g.Groups, Volume(g.Kernel)
	whole := (filters + lanes - 1) / lanes * lanes
	p.weight, p.halves = gemm.Aligned[T](g.Groups*whole*taps*channels+1024), true
	for group := range g.Groups {
		for first := 0; first < filters; first += gemm.PanelVectors * lanes {
			panel := first / (gemm.PanelVectors * lanes)
			width := PanelWidth(filters, panel, lanes)
			to, halves := p.weight[(group*whole+first)*taps*channels:], p.hasHalves(panel)
			for f := first; f < min(first+width, filters); f++ {
				from := weight[(group*filters+f)*channels*taps:]
				for c := range channels {
					for t := range taps {
						at := (t*channels+c)*width + f - first
						if halves {
							at = halfPlace(c, f-first, width, lanes)
						}
						to[at] = from[c*taps+t]
					}
				}
			}
		}
	}
}

// hasHalves reports whether the last vector of a panel has the weights of two channels of the input, because it has no more than half as many columns.
func (p *Plan[T]) hasHalves(panel int) bool {
	g, lanes := &p.geometry, lanesOf[T](p.isa)
	left := (g.OutChannels - panel*gemm.PanelVectors*lanes) % lanes
	isLast := g.OutChannels-panel*gemm.PanelVectors*lanes < gemm.PanelVectors*lanes
	return p.halves && isLast && left > 0 && left <= lanes/2 && p.isa == asm.AVX512 && unsafe.Sizeof(p.weight[0]) == 4 && g.Groups == 1 && Volume(g.Kernel) == 1 && g.InChannels%2 == 0
}

// halfPlace returns where the weight of a channel of the input for a column is in a panel with halves.
func halfPlace(channel, column, width, lanes int) int {
	whole := width - lanes
	at := channel / 2 * (2*whole + lanes)
	if column < whole {
		return at + channel%2*whole + column
	}
	return at + 2*whole + 2*(column-whole) + channel%2
}

// Ahead is memory that is read after a run, such as the weights of what comes then: tiles fetch it into the cache of the second level, a little with every
// few steps of their sums.
type Ahead struct{ next, end uintptr }

// aheadBytes bounds what is fetched: the cache has to hold it beside what a run reads itself.
const aheadBytes = 256 << 10

// Weights returns the weights of a plan by tiles, the first that a run reads first, to be fetched.
func (p *Plan[T]) Weights() Ahead { return AheadOf(p.weight) }

// AheadOf returns the first of some elements to be fetched.
func AheadOf[T gemm.Float](data []T) Ahead {
	at := uintptr(unsafe.Pointer(unsafe.SliceData(data)))
	return Ahead{at, at + uintptr(min(len(data)*int(unsafe.Sizeof(*new(T))), aheadBytes))}
}

// Run convolves a batch of images; residual is read where the options say so. It reports whether the results are right: where that sums are not finite, and the
// options are not ByDefinition, some may be wrong.
func (p *Plan[T]) Run(in, residual, out []T) bool { return p.RunAhead(in, residual, out, nil) }

// RunAhead is Run, and fetches what is read next where one thread runs tiles: ahead, nil for nothing, goes on as it is fetched.
func (p *Plan[T]) RunAhead(in, residual, out []T, ahead *Ahead) bool {
	g := &p.geometry
	if len(in) < g.Batch*g.InChannels*Volume(g.In) || len(out) < g.Batch*g.OutChannels*Volume(g.Out) || (p.options.Residual || p.options.Epilogue != nil && p.options.Epilogue.Inputs > 2) && len(residual) < g.Batch*g.OutChannels*Volume(g.Out) {
		panic("conv: a convolution reaches outside its data")
	}
	switch {
	case g.Batch*g.OutChannels*Volume(g.Out) == 0:
	case p.portable != nil:
		p.runPortable(in, residual, out)
	case p.winograd != nil:
		p.winograd.run(in, residual, out)
		if e := p.options.Epilogue; e != nil {
			like := unsafe.Pointer(unsafe.SliceData(residual))
			e.Pass.RunAll(unsafe.Pointer(&out[0]), like, g.Batch*g.OutChannels*Volume(g.Out), int(unsafe.Sizeof(out[0])))
		}
	case p.pairs != nil:
		memory := gemm.TakeBuffers()
		defer memory.Recycle()
		return p.pairs.run(asFloat32(in), asFloat32(residual), asFloat32(out), memory)
	default:
		p.runTiles(in, residual, out, ahead)
		if e := p.options.Epilogue; e != nil && e.Tile == nil {
			p.applyEpilogue(residual, out)
		}
	}
	return true
}

// applyEpilogue applies the epilogue as a pass of its own.
func (p *Plan[T]) applyEpilogue(residual, out []T) {
	channels := p.geometry.OutChannels
	gemm.ApplyEpilogue(p.options.Epilogue, out, p.geometry.Batch*Volume(p.geometry.Out), channels, channels, p.bias, residual)
}

// streamFrom is a variable for tests.
var streamFrom = amd64.StreamFrom

// runTiles shares the panels out where there are more of them, else the strips. What one thread does alone takes no memory from the heap.
func (p *Plan[T]) runTiles(in, residual, out []T, ahead *Ahead) {
	g := &p.geometry
	panels, n := g.Groups*p.panels(), g.Batch*len(p.strips)
	if p.work() < 2*gemm.ParallelFlops || parallel.NumThreads() == 1 {
		p.runPart(in, residual, out, 0, panels, 0, n, ahead)
		return
	}
	p.shareTiles(in, residual, out, panels, n)
}

// shareTiles is runTiles by several threads.
func (p *Plan[T]) shareTiles(in, residual, out []T, panels, n int) {
	threads := parallel.NumThreads()
	if p.readsWeightsOnce() && panels >= 2*threads {
		parallel.For(panels, 1, func(lo, hi int) { p.runPart(in, residual, out, lo, hi, 0, n, nil) })
		return
	}
	parallel.For(n, max(1, n/(16*threads)), func(lo, hi int) { p.runPart(in, residual, out, 0, panels, lo, hi, nil) })
}

// panels returns the panels of a group.
func (p *Plan[T]) panels() int {
	columns := gemm.PanelVectors * lanesOf[T](p.isa)
	return (p.geometry.OutChannels/p.geometry.Groups + columns - 1) / columns
}

// readsWeightsOnce reports whether the weights are so large that all strips are computed for some panels before the next ones.
func (p *Plan[T]) readsWeightsOnce() bool {
	var zero T
	return len(p.weight)*int(unsafe.Sizeof(zero)) > 400<<10
}

// runPart computes the panels from j0 to j1 of the strips from s0 to s1.
func (p *Plan[T]) runPart(in, residual, out []T, j0, j1, s0, s1 int, ahead *Ahead) {
	panels := p.panels()
	w := stripWriter[T]{Plan: p, in: in, residual: residual, out: out, ahead: ahead, filters: p.geometry.OutChannels / p.geometry.Groups, streams: len(out)*int(unsafe.Sizeof(out[0])) >= streamFrom}
	if p.options.Epilogue != nil {
		memory := gemm.TakeBuffers()
		defer memory.Recycle()
		w.scratch = gemm.Grow(&memory.Scratch, tile.EpilogueScratch)
		w.pass = p.options.Epilogue.LongPass()
	}
	block := j1 - j0
	if p.readsWeightsOnce() {
		block = p.panelsOfBlock()
	}
	var watch parallel.Watch
	for j := j0; j < j1; j += block {
		past, begun := min(j+block, j1), j
		if past < j1 {
			w.fetchPanels(past, min(past+block, j1))
		}
		if w.pass != nil && block < passPanels { // the pass comes when some blocks are done
			begun = j0 + (j-j0)/passPanels*passPanels
		}
		isPassed := w.pass != nil && (block >= passPanels || past == j1 || past-begun >= passPanels)
		for s := s0; s < s1; s++ {
			watch.Look()
			for i := j; i < past; i++ {
				w.strip(s, i/panels, i%panels)
			}
			if isPassed {
				w.applyPass(s, begun, past)
			}
		}
	}
}

// blockBytes is how many bytes of weights all strips are computed with before the next ones, where the weights are read once: they stay in a cache of the
// second level, beside those that are fetched meanwhile.
const blockBytes = 200 << 10

// panelsOfBlock returns how many panels these are; passPanels is a multiple of it, or it is larger.
func (p *Plan[T]) panelsOfBlock() int {
	g, size := &p.geometry, int(unsafe.Sizeof(p.weight[0]))
	n := blockBytes / (gemm.PanelVectors * lanesOf[T](p.isa) * Volume(g.Kernel) * g.InChannels / g.Groups * size)
	switch {
	case n >= passPanels:
		return n
	case n >= 2:
		return 2
	}
	return 1
}

// passPanels is for how many panels at least a pass comes at a time where the weights are read once: so much of each place that the start of a row costs little.
const passPanels = 4

// work returns the multiplications of a run.
func (p *Plan[T]) work() int {
	g := &p.geometry
	return g.Batch * g.OutChannels * Volume(g.Out) * Volume(g.Kernel) * g.InChannels / g.Groups
}

// runPortable computes the convolution in the other layout.
func (p *Plan[T]) runPortable(in, residual, out []T) {
	g := p.geometry
	inSize, outSize := Volume(g.In), Volume(g.Out)
	turned, result := make([]T, g.Batch*g.InChannels*inSize), make([]T, g.Batch*g.OutChannels*outSize)
	for i := range turned {
		b, c, at := i/(g.InChannels*inSize), i/inSize%g.InChannels, i%inSize
		turned[i] = in[(b*inSize+at)*g.InChannels+c]
	}
	if p.options.Epilogue == nil {
		fillBias(g, p.bias, result)
	}
	convolve(g, turned, p.portable, result)
	for i, v := range result {
		b, c, at := i/(g.OutChannels*outSize), i/outSize%g.OutChannels, i%outSize
		to := (b*outSize+at)*g.OutChannels + c
		if p.options.Epilogue == nil {
			if p.options.Residual {
				v += residual[to]
			}
			if p.options.Relu && v < 0 {
				v = 0
			}
		}
		out[to] = v
	}
	if p.options.Epilogue != nil {
		p.applyEpilogue(residual, out)
	}
}

package conv

import (
	"sync/atomic"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/asm"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
	"github.com/torchjit/torchjit/gojit/internal/parallel"
)

// pairs is a convolution of 3 by 3, or its gradient by the weights, by the algorithm F(2x2, 3x3): two
// by two outputs take 16 products for a channel where the definition takes 36. The matrices of its transformations have zeros, ones and
// halves only, so that its error is about that of the definition. What is not finite would reach all outputs of a patch; that
// is noticed, and the caller takes another way.
//
// The output is cut into groups of patches: some images, or some rows of patches of one. The channels of a group are laid together, as lanes
// of what transforms patches, unless they come so. Weights are transformed for a panel of filters at a time. The groups, and with them the
// order of all sums, follow from the sizes alone.
type pairs struct {
	geometry     Convolution
	isa          asm.ISA
	lanes, width int   // of a vector, and the filters of a panel
	vector       int64 // bytes
	down, across int   // patches of an image
	images, rows int   // of a group: images, and rows of patches of each
	perImage     int   // groups of an image, where one has several
	groups       int
	panels       int // of filters

	last    bool // the channels of images lie together
	weight  []float32
	order   tapOrder
	factors unsafe.Pointer // panel by panel: those of the weights, or sums that the gradients of weights are made of
	bias    []float32      // of all panels, with zeros behind
	options PlanOptions    // of a plan; an epilogue has a pass
}

// tapOrder is how weights lie.
type tapOrder uint8

const (
	tapsLast     tapOrder = iota // filter, channel, taps
	channelsLast                 // filter, taps, channel
	turnedTaps                   // channel, filter, taps from the last one on
)

// pairsRun is a run of pairs, which is at one group of patches at a time. What is not finite is noted there.
type pairsRun struct {
	*pairs
	in, residual, out []float32
	gradient          []float32 // of the weights

	inputs        unsafe.Pointer // their factors, of the group
	gradients     unsafe.Pointer // of outputs: their factors, of the group
	laid          unsafe.Pointer // room for images of the group with their channels together
	hasNotFinites atomic.Bool
	group         pairGroup // where the run is
}

// pairGroup is a group of patches.
type pairGroup struct {
	image, images int
	row, rows     int            // of patches
	y, height     int            // the rows of the inputs that they read
	pixels        unsafe.Pointer // images with their channels together, which have these rows
	patches       int
	isLast        bool
}

const (
	pairFactors = 16        // of a patch
	pairNear    = 384 << 10 // bytes of the factors of a group's inputs, or more where weights are read for each
	pairFar     = 8 << 20
)

// The fewest patches, of all images, for which the algorithm pays: where each call transforms weights, and where they are transformed once.
const (
	fewestPatches   = 24
	fewestOfPlanned = 9
)

// suitsPairs reports whether the algorithm applies, and pays for its transformations: of so many patches at least.
func suitsPairs[T gemm.Float](g *Convolution, fewest int) bool {
	three, one := [3]int{1, 3, 3}, [3]int{1, 1, 1}
	flat := g.In[0] == 1 && g.Out[0] == 1 && g.Padding[0] == 0
	lanes := lanesOf[float32](asm.Target())
	if unsafe.Sizeof(*new(T)) != 4 || asm.Target() < asm.AVX2 || !flat || g.Kernel != three || g.Stride != one || g.Dilation != one || g.Groups != 1 ||
		g.Padding[1] > 2 || g.Padding[2] > 2 || g.InChannels%lanes != 0 || g.OutChannels%lanes != 0 || g.InChannels < 32 || g.OutChannels < 32 {
		return false
	}
	patches := ((g.Out[1] + 1) / 2) * ((g.Out[2] + 1) / 2)
	return g.Batch*patches >= fewest && 16*patches <= 6*Volume(g.Out)
}

// newPairs cuts the output of a convolution into groups.
func newPairs(g Convolution) *pairs {
	isa := asm.Target()
	p := &pairs{geometry: g, isa: isa, lanes: lanesOf[float32](isa), down: (g.Out[1] + 1) / 2, across: (g.Out[2] + 1) / 2, perImage: 1}
	p.width, p.vector = gemm.PanelVectors*p.lanes, int64(4*p.lanes)
	p.panels = (g.OutChannels + p.width - 1) / p.width
	weights := pairFactors * g.InChannels * g.OutChannels * 4
	most := max(1, min(max(pairNear, weights/2), pairFar)/(pairFactors*g.InChannels*4))
	if image := p.down * p.across; image <= most {
		p.images, p.rows = min(most/image, g.Batch), p.down
		p.groups = (g.Batch + p.images - 1) / p.images
		return p
	}
	p.images = 1
	p.perImage = (p.down + max(1, most/p.across) - 1) / max(1, most/p.across)
	p.rows = (p.down + p.perImage - 1) / p.perImage
	p.perImage = (p.down + p.rows - 1) / p.rows
	p.groups = g.Batch * p.perImage
	return p
}

// convolvePairs is Convolve where that suitsPairs, or ConvolveLast, with weights that lie in an order. It reports whether all sums are finite; else some
// results are wrong.
func convolvePairs[T gemm.Float](g Convolution, in, weight, bias, out []T, last bool, order tapOrder) bool {
	p := newPairs(g)
	p.weight, p.last, p.order = asFloat32(weight), last, order
	p.bias = make([]float32, p.panels*p.width)
	copy(p.bias, asFloat32(bias))
	memory := gemm.TakeBuffers()
	defer memory.Recycle()
	if p.groups > 1 {
		p.factors = gemm.Grow(&memory.Table, pairFactors*g.InChannels*g.OutChannels*4)
		p.transformAllWeights()
	}
	return p.run(asFloat32(in), nil, asFloat32(out), memory)
}

// planPairs makes pairs of a plan, whose images have their channels together.
func planPairs(g Convolution, weight, bias []float32, options PlanOptions) *pairs {
	p := newPairs(g)
	p.weight = weight
	factors := gemm.Aligned[float32](pairFactors*g.InChannels*g.OutChannels + 1024) // tiles fetch ahead
	p.factors = unsafe.Pointer(&factors[0])
	p.transformAllWeights()
	return p.planned(g, bias, options)
}

// planned returns pairs of a plan with the transformed weights of p.
func (p *pairs) planned(g Convolution, bias []float32, options PlanOptions) *pairs {
	r := newPairs(g)
	r.last, r.factors, r.options = true, p.factors, options
	r.bias = make([]float32, r.panels*r.width)
	copy(r.bias, bias)
	return r
}

// transformAllWeights makes factors.
func (p *pairs) transformAllWeights() {
	parallel.For(p.panels, 1, func(lo, hi int) {
		own := gemm.TakeBuffers()
		defer own.Recycle()
		for panel := lo; panel < hi; panel++ {
			p.transformWeights(panel, p.panelAt(panel), own)
		}
	})
}

// run computes the outputs. It reports whether all sums are finite; else some results are wrong.
func (p *pairs) run(in, residual, out []float32, memory *gemm.Buffers) bool {
	g, r := &p.geometry, &pairsRun{pairs: p, in: in, residual: residual, out: out}
	r.takeRoom(memory)
	lay, transform, convolve := r.layInputs, r.transformInputs, r.convolve
	for i := range p.groups {
		r.enter(i)
		r.inputsTogether(lay)
		r.eachRow(g.InChannels, transform)
		parallel.For(p.panels, 1, convolve)
		if p.options.Epilogue != nil {
			r.applyEpilogue()
		}
	}
	return !r.hasNotFinites.Load()
}

// weightGradientPairs is WeightGradient where that suitsPairs. It reports whether all results are finite; else some are wrong.
func weightGradientPairs[T gemm.Float](g Convolution, in, out, weight []T) bool {
	p := newPairs(g)
	r := &pairsRun{pairs: p, in: asFloat32(in), out: asFloat32(out), gradient: asFloat32(weight)}
	memory := gemm.TakeBuffers()
	defer memory.Recycle()
	if p.groups > 1 {
		p.factors = gemm.Grow(&memory.Table, pairFactors*g.InChannels*g.OutChannels*4)
	}
	r.takeRoom(memory)
	r.gradients = gemm.Grow(&memory.Scratch, pairFactors*p.images*p.rows*p.across*g.OutChannels*4)
	lay, transform, layGradients, transformGradients, correlate := r.layInputs, r.transformInputs, r.layGradients, r.transformGradients, r.correlate
	for i := range p.groups {
		r.enter(i)
		r.inputsTogether(lay)
		r.eachRow(g.InChannels, transform)
		r.eachBlock(g.OutChannels, r.outRows()*g.Out[2], layGradients)
		r.eachRow(g.OutChannels, transformGradients)
		parallel.For(p.panels, 1, correlate)
	}
	return !r.hasNotFinites.Load()
}

// asFloat32 returns elements as what they are.
func asFloat32[T gemm.Float](x []T) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), len(x))
}

// takeRoom takes memory for the inputs of a group.
func (r *pairsRun) takeRoom(memory *gemm.Buffers) {
	g := &r.geometry
	r.inputs = gemm.Grow(&memory.A, pairFactors*r.images*r.rows*r.across*g.InChannels*4)
	if !r.last {
		r.laid = gemm.Grow(&memory.B, r.images*max(min(2*r.rows+2, g.In[1])*g.In[2]*g.InChannels, 2*r.rows*g.Out[2]*g.OutChannels)*4)
	}
}

// panelAt returns where the factors of a panel are kept, all 16 matrices of it.
func (p *pairs) panelAt(panel int) unsafe.Pointer {
	return unsafe.Add(p.factors, panel*p.width*pairFactors*p.geometry.InChannels*4)
}

// transformWeights writes the factors of a panel: matrices of channels by its filters.
func (p *pairs) transformWeights(panel int, to unsafe.Pointer, memory *gemm.Buffers) {
	g := &p.geometry
	channels, first, width := g.InChannels, panel*p.width, PanelWidth(g.OutChannels, panel, p.lanes)
	taps := gemm.Grow(&memory.Table, channels*9*int(p.vector))
	code := tile.Transposition{ISA: p.isa, Rows: uint8(p.lanes)}.Code()
	args := tile.PatchArgs{From: taps, FromRow: 3 * p.vector, FromColumn: p.vector, FromBy: 9 * p.vector, ToColumn: int64(channels * width * 4), ToBy: int64(width * 4), Vectors: int64(channels)}
	p.finish(&args)
	switch p.order {
	case turnedTaps:
		args.Offset, args.FromRow, args.FromColumn = 8*p.vector, -args.FromRow, -args.FromColumn
	case channelsLast:
		args.FromRow, args.FromColumn, args.FromBy = 3*int64(channels)*p.vector, int64(channels)*p.vector, p.vector
	}
	for v := 0; v < width; v += p.lanes {
		copying := tile.CopyArgs{To: taps, ToRow: p.vector}
		if p.order == turnedTaps {
			copying.FromRow, copying.Count, copying.Mask = 9*4, 9, tile.TailMask(p.isa, 9%p.lanes)
			for c := range channels {
				copying.From, copying.To = unsafe.Pointer(&p.weight[(c*g.OutChannels+first+v)*9]), unsafe.Add(taps, c*9*int(p.vector))
				code.Call(unsafe.Pointer(&copying))
			}
		} else {
			copying.From, copying.FromRow, copying.Count = unsafe.Pointer(&p.weight[(first+v)*channels*9]), int64(channels*9*4), int64(channels*9)
			copying.Mask = tile.TailMask(p.isa, channels*9%p.lanes)
			code.Call(unsafe.Pointer(&copying))
		}
		args.To = unsafe.Add(to, v*4)
		tile.Patch{ISA: p.isa, Kind: tile.FilterPatch}.Code().Call(unsafe.Pointer(&args))
	}
}

// finish sets what follows from the other arguments: rows of four matrices.
func (p *pairs) finish(args *tile.PatchArgs) {
	if args.ToRow == 0 {
		args.ToRow = 4 * args.ToColumn
	}
	if args.FromRow == 0 {
		args.FromRow = 4 * args.FromColumn
	}
}

// checking has a vector at an address tell what is not finite.
func (p *pairs) checking(args *tile.PatchArgs, at unsafe.Pointer) []float32 {
	args.Check = at
	check := unsafe.Slice((*float32)(at), p.lanes)
	clear(check)
	return check
}

// enter goes to a group.
func (r *pairsRun) enter(i int) {
	g := &r.geometry
	to := pairGroup{image: i / r.perImage * r.images, row: i % r.perImage * r.rows, isLast: i == r.groups-1}
	to.images, to.rows = min(r.images, g.Batch-to.image), min(r.rows, r.down-to.row)
	to.y = min(max(0, 2*to.row-g.Padding[1]), g.In[1])
	to.height = max(to.y, min(g.In[1], 2*(to.row+to.rows)-g.Padding[1]+2)) - to.y
	to.patches = to.images * to.rows * r.across
	r.group = to
}

// outRows returns the rows of the outputs of the group.
func (r *pairsRun) outRows() int { return min(2*r.group.rows, r.geometry.Out[1]-2*r.group.row) }

// eachBlock does something with blocks of channels of the images of the group, each of some pixels.
func (r *pairsRun) eachBlock(channels, pixels int, f func(lo, hi int)) {
	if pixels > 0 {
		parallel.For(r.group.images*channels/r.lanes, 1+gemm.ParallelWork/(16*pixels), f)
	}
}

// layTogether copies rows of blocks from lo to hi so that the channels of an image lie together.
func (r *pairsRun) layTogether(lo, hi int, data []float32, channels, height, width, y, rows int) {
	blocks := channels / r.lanes
	code := tile.Transposition{ISA: r.isa, Rows: uint8(r.lanes)}.Code()
	args := tile.CopyArgs{FromRow: int64(height * width * 4), ToRow: int64(channels * 4), Count: int64(rows * width), Mask: tile.TailMask(r.isa, rows*width%r.lanes)}
	for i := lo; i < hi; i++ {
		image, c := i/blocks, i%blocks*r.lanes
		args.From = unsafe.Pointer(&data[(((r.group.image+image)*channels+c)*height+y)*width])
		args.To = unsafe.Add(r.laid, (image*rows*width*channels+c)*4)
		code.Call(unsafe.Pointer(&args))
	}
}

// inputsTogether lays the channels of the inputs together, where they do not come so.
func (r *pairsRun) inputsTogether(lay func(lo, hi int)) {
	g := &r.geometry
	if r.last {
		r.group.pixels, r.group.y, r.group.height = unsafe.Pointer(&r.in[r.group.image*g.InChannels*Volume(g.In)]), 0, g.In[1]
		return
	}
	r.group.pixels = r.laid
	r.eachBlock(g.InChannels, r.group.height*g.In[2], lay)
}

func (r *pairsRun) layInputs(lo, hi int) {
	g := &r.geometry
	r.layTogether(lo, hi, r.in, g.InChannels, g.In[1], g.In[2], r.group.y, r.group.height)
}

func (r *pairsRun) layGradients(lo, hi int) {
	g := &r.geometry
	r.layTogether(lo, hi, r.out, g.OutChannels, g.Out[1], g.Out[2], 2*r.group.row, r.outRows())
}

// eachRow does something with the rows of patches of the group: those of image after image.
func (r *pairsRun) eachRow(channels int, f func(lo, hi int)) {
	parallel.For(r.group.images*r.group.rows, 1+gemm.ParallelWork/(32*r.across*channels), f)
}

// transformInputs writes the factors of the inputs of rows from lo to hi: matrices of patches by channels.
func (r *pairsRun) transformInputs(lo, hi int) {
	g := &r.geometry
	pixel := g.InChannels * 4
	args := tile.PatchArgs{FromRow: int64(g.In[2] * pixel), FromColumn: int64(pixel), FromBy: r.vector,
		ToColumn: int64(r.group.patches * pixel), ToBy: r.vector, Vectors: int64(g.InChannels / r.lanes)}
	r.finish(&args)
	k := tile.Patch{ISA: r.isa, Kind: tile.InputPatch}
	for i := lo; i < hi; i++ {
		args.From = unsafe.Add(r.group.pixels, i/r.group.rows*r.group.height*g.In[2]*pixel)
		y := 2*(r.group.row+i%r.group.rows) - g.Padding[1]
		k.Y0, k.Y1 = within(y, 4, g.In[1])
		var code *asm.Code
		for column := range r.across {
			x := 2*column - g.Padding[2]
			if x0, x1 := within(x, 4, g.In[2]); code == nil || x0 != k.X0 || x1 != k.X1 {
				k.X0, k.X1 = x0, x1
				code = k.Code()
			}
			args.Offset, args.To = int64(((y-r.group.y)*g.In[2]+x)*pixel), unsafe.Add(r.inputs, (i*r.across+column)*pixel)
			code.Call(unsafe.Pointer(&args))
		}
	}
}

// within returns the part of n places from one on that is in [0, size).
func within(from, n, size int) (lo, hi uint8) {
	first := min(max(0, -from), n)
	return uint8(first), uint8(max(first, min(n, size-from)))
}

// transformGradients writes the factors of the gradients of outputs, of rows from lo to hi: matrices of patches by filters.
func (r *pairsRun) transformGradients(lo, hi int) {
	g := &r.geometry
	pixel := g.OutChannels * 4
	args := tile.PatchArgs{FromRow: int64(g.Out[2] * pixel), FromColumn: int64(pixel), FromBy: r.vector,
		ToColumn: int64(r.group.patches * pixel), ToBy: r.vector, Vectors: int64(g.OutChannels / r.lanes)}
	r.finish(&args)
	k := tile.Patch{ISA: r.isa, Kind: tile.OutputGradientPatch}
	for i := lo; i < hi; i++ {
		image, row := i/r.group.rows, i%r.group.rows
		_, k.Y1 = within(2*(r.group.row+row), 2, g.Out[1])
		var code *asm.Code
		for column := range r.across {
			if _, x1 := within(2*column, 2, g.Out[2]); code == nil || x1 != k.X1 {
				k.X1 = x1
				code = k.Code()
			}
			args.From = unsafe.Add(r.laid, ((image*r.outRows()+2*row)*g.Out[2]+2*column)*pixel)
			args.To = unsafe.Add(r.gradients, (i*r.across+column)*pixel)
			code.Call(unsafe.Pointer(&args))
		}
	}
}

// convolve computes the outputs of the filters of some panels.
func (r *pairsRun) convolve(lo, hi int) {
	g := &r.geometry
	memory := gemm.TakeBuffers()
	defer memory.Recycle()
	for panel := lo; panel < hi; panel++ {
		width := PanelWidth(g.OutChannels, panel, r.lanes)
		var weights unsafe.Pointer
		if r.factors != nil {
			weights = r.panelAt(panel)
		} else {
			weights = gemm.Grow(&memory.Scratch, pairFactors*g.InChannels*width*4+4096) // tiles fetch ahead
			r.transformWeights(panel, weights, memory)
		}
		products := gemm.Grow(&memory.A, pairFactors*r.group.patches*width*4)
		t := tile.Tile{ISA: r.isa, Vectors: uint8(width / r.lanes), Prefetch: true, Walk: true}
		tiles := gemm.CutRows(r.group.patches, tile.MaxRows(r.isa, gemm.PanelVectors))
		args := tile.TileArgs{ARow: int64(g.InChannels * 4), CRow: int64(width * 4), K: int64(g.InChannels)}
		for e := range pairFactors {
			args.A, args.B, args.C = unsafe.Add(r.inputs, e*r.group.patches*g.InChannels*4), unsafe.Add(weights, e*g.InChannels*width*4), unsafe.Add(products, e*r.group.patches*width*4)
			tiles.WalkPanel(&t, &args, g.InChannels*4)
		}
		r.transformOutputs(panel, width, products, memory)
	}
}

// transformOutputs makes the outputs of a panel, with their channels together, and moves them to where they belong where they do not lie so.
func (r *pairsRun) transformOutputs(panel, width int, products unsafe.Pointer, memory *gemm.Buffers) {
	g := &r.geometry
	rows, first := r.outRows(), panel*r.width
	n := rows * g.Out[2]
	args := tile.PatchArgs{FromColumn: int64(r.group.patches * width * 4), FromBy: r.vector, ToBy: r.vector, Vectors: int64(width / r.lanes), Bias: unsafe.Pointer(&r.bias[first])}
	var check []float32
	if r.last {
		check = r.checking(&args, gemm.Grow(&memory.B, 64))
	} else {
		laid := unsafe.Add(gemm.Grow(&memory.B, 64+r.group.images*n*width*4), 64)
		check = r.checking(&args, unsafe.Add(laid, -64))
		args.To = laid
	}
	r.finish(&args)
	for image := range r.group.images {
		if r.last {
			at := ((r.group.image+image)*Volume(g.Out)+2*r.group.row*g.Out[2])*g.OutChannels + first
			args.To = unsafe.Pointer(&r.out[at])
			if r.options.Residual && r.options.Epilogue == nil {
				args.Residual = unsafe.Pointer(&r.residual[at])
			}
			r.transformImage(args, image, rows, width*4, g.OutChannels*4, products)
			continue
		}
		r.transformImage(args, image, rows, width*4, width*4, products)
		to := r.out[((r.group.image+image)*g.OutChannels+first)*Volume(g.Out)+2*r.group.row*g.Out[2]:]
		r.layApart(args.To, to, n, width, Volume(g.Out))
		args.To = unsafe.Add(args.To, n*width*4)
	}
	r.look(check)
}

// transformImage makes the outputs of an image, some rows, whose pixels lie so many bytes apart, from products that lie so many bytes apart.
func (r *pairsRun) transformImage(args tile.PatchArgs, image, rows, product, pixel int, products unsafe.Pointer) {
	g := &r.geometry
	args.ToRow, args.ToColumn = int64(g.Out[2]*pixel), int64(pixel)
	k := tile.Patch{ISA: r.isa, Kind: tile.OutputPatch, Relu: r.options.Relu && r.options.Epilogue == nil, Residual: args.Residual != nil}
	to, like := args.To, args.Residual
	args.From = unsafe.Add(products, image*r.group.rows*r.across*product)
	for row := range r.group.rows {
		_, k.Y1 = within(2*row, 2, rows)
		var code *asm.Code
		for column := range r.across {
			if _, x1 := within(2*column, 2, g.Out[2]); code == nil || x1 != k.X1 {
				k.X1 = x1
				code = k.Code()
			}
			at := (2*row*g.Out[2] + 2*column) * pixel
			args.To = unsafe.Add(to, at)
			if k.Residual {
				args.Residual = unsafe.Add(like, at)
			}
			code.Call(unsafe.Pointer(&args))
			args.From = unsafe.Add(args.From, product)
		}
	}
}

// applyEpilogue applies the epilogue to the outputs of the group, whose pixels follow each other.
func (r *pairsRun) applyEpilogue() {
	g := &r.geometry
	n := r.group.images * r.outRows() * g.Out[2]
	from := (r.group.image*Volume(g.Out) + 2*r.group.row*g.Out[2]) * g.OutChannels
	like := unsafe.Pointer(unsafe.SliceData(r.residual))
	if r.options.Epilogue.Inputs > 2 {
		like = unsafe.Pointer(&r.residual[from])
	}
	r.options.Epilogue.Pass.RunAll(unsafe.Pointer(&r.out[from]), like, n*g.OutChannels, 4)
}

// look notices what is not finite.
func (r *pairsRun) look(check []float32) {
	for _, v := range check {
		if v != 0 {
			r.hasNotFinites.Store(true)
		}
	}
}

// layApart copies n pixels of some channels to planes, the first elements of which are size apart.
func (p *pairs) layApart(from unsafe.Pointer, to []float32, n, channels, size int) {
	if n < p.lanes {
		pixels := unsafe.Slice((*float32)(from), n*channels)
		for i := range n {
			for c := range channels {
				to[c*size+i] = pixels[i*channels+c]
			}
		}
		return
	}
	code := tile.Transposition{ISA: p.isa, Rows: uint8(p.lanes)}.Code()
	args := tile.CopyArgs{FromRow: int64(channels * 4), ToRow: int64(size * 4), Count: int64(channels), Mask: tile.TailMask(p.isa, 0)}
	for i := 0; i < n; i += p.lanes {
		i := min(i, n-p.lanes) // the last pixels may be copied twice
		args.From, args.To = unsafe.Add(from, i*channels*4), unsafe.Pointer(&to[i])
		code.Call(unsafe.Pointer(&args))
	}
}

// correlate adds what the group has to the sums of some panels, and makes the gradients of weights of them behind the last group.
func (r *pairsRun) correlate(lo, hi int) {
	g := &r.geometry
	memory := gemm.TakeBuffers()
	defer memory.Recycle()
	for panel := lo; panel < hi; panel++ {
		width := PanelWidth(g.OutChannels, panel, r.lanes)
		var sums unsafe.Pointer
		if r.factors != nil {
			sums = r.panelAt(panel)
		} else {
			sums = gemm.Grow(&memory.Scratch, pairFactors*g.InChannels*width*4)
		}
		for e := range pairFactors {
			m := gemm.NewTiled(r.isa, 4)
			m.M, m.N, m.K, m.Lda, m.Ldb, m.Ldc = g.InChannels, width, r.group.patches, g.InChannels, g.OutChannels, width
			m.ColumnsA, m.Single, m.Add = true, true, r.group.image > 0 || r.group.row > 0
			m.A = unsafe.Add(r.inputs, e*r.group.patches*g.InChannels*4)
			m.B = unsafe.Add(r.gradients, (e*r.group.patches*g.OutChannels+panel*r.width)*4)
			m.C = unsafe.Add(sums, e*g.InChannels*width*4)
			m.Normalize()
			m.Run()
		}
		if r.group.isLast {
			r.weightGradient(panel, width, sums, memory)
		}
	}
}

// weightGradient transforms the sums of a panel and moves the gradients to where they belong.
func (r *pairsRun) weightGradient(panel, width int, sums unsafe.Pointer, memory *gemm.Buffers) {
	g := &r.geometry
	channels := g.InChannels
	taps := unsafe.Add(gemm.Grow(&memory.Table, 64+channels*9*int(r.vector)), 64)
	args := tile.PatchArgs{FromColumn: int64(channels * width * 4), FromBy: int64(width * 4), To: taps, ToRow: 3 * r.vector, ToColumn: r.vector, ToBy: 9 * r.vector, Vectors: int64(channels)}
	r.finish(&args)
	check := r.checking(&args, unsafe.Add(taps, -64))
	for v := 0; v < width; v += r.lanes {
		args.From = unsafe.Add(sums, v*4)
		tile.Patch{ISA: r.isa, Kind: tile.FilterGradientPatch}.Code().Call(unsafe.Pointer(&args))
		r.layApart(taps, r.gradient[(panel*r.width+v)*channels*9:], channels*9, r.lanes, channels*9)
	}
	r.look(check)
}

package conv

import (
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64"
	"github.com/torchjit/torchjit/gojit/internal/kernel/amd64/tile"
	"github.com/torchjit/torchjit/gojit/internal/linalg/gemm"
)

// strip is a run of places of the output that read the same taps of the filter: blocks of places, each
// the rows of a tile.
type strip struct {
	out, in        int // elements of the first place; of the first channel that tap (0, 0) reads, which may lie in the padding
	outStep, steps int // elements from one place to the next, and between what they read
	places, blocks int
	y0, y1, x0, x1 int // taps
}

// valid returns the taps, from lo to hi, that place o of the output reads inside the input.
func valid(o, in, kernel, stride, dilation, padding int) (lo, hi int) {
	at := o*stride - padding
	for lo < kernel && at+lo*dilation < 0 {
		lo++
	}
	hi = kernel
	for hi > lo && at+(hi-1)*dilation >= in {
		hi--
	}
	return lo, hi
}

// cutStrips cuts the output of one image into strips: along rows where all taps in x are inside, and
// down the columns at both sides.
func (p *Plan[T]) cutStrips() { p.cutRows(0, p.geometry.Out[1]) }

// rowsOnly returns a plan, by tiles, of some rows of the output of one image: what it writes begins with the first of them. Each row is cut by itself, so
// that the order of its sums does not depend on the others.
func (p *Plan[T]) rowsOnly(y0, y1 int) *Plan[T] {
	r := *p
	r.strips = nil
	for y := y0; y < y1; y++ {
		r.cutRows(y, y+1)
	}
	for i := range r.strips {
		r.strips[i].out -= y0 * r.geometry.Out[2] * r.geometry.OutChannels
	}
	r.geometry.Batch, r.geometry.Out[1] = 1, y1-y0
	return &r
}

// cutRows cuts some rows of the output.
func (p *Plan[T]) cutRows(y0, y1 int) {
	g := &p.geometry
	width := g.Out[2]
	inner0, inner1 := width, width // places where no tap in x is in the padding
	for x := range width {
		if lo, hi := valid(x, g.In[2], g.Kernel[2], g.Stride[2], g.Dilation[2], g.Padding[2]); lo == 0 && hi == g.Kernel[2] {
			inner0 = min(inner0, x)
			inner1 = x + 1
		}
	}
	if inner0 == width {
		inner1 = width
	}
	for y := y0; y < y1; y++ {
		p.addStrips(y, 1, inner0, inner1-inner0)
	}
	for x := range width {
		if x >= inner0 && x < inner1 {
			continue
		}
		for y := y0; y < y1; { // as many rows as read the same taps in y
			lo, hi := valid(y, g.In[1], g.Kernel[1], g.Stride[1], g.Dilation[1], g.Padding[1])
			n := 1
			for y+n < y1 {
				if a, b := valid(y+n, g.In[1], g.Kernel[1], g.Stride[1], g.Dilation[1], g.Padding[1]); a != lo || b != hi {
					break
				}
				n++
			}
			p.addStrips(y, n, x, 1)
			y += n
		}
	}
}

// addStrips adds strips of the places of some rows and columns, one of which is single.
func (p *Plan[T]) addStrips(y, rows, x, columns int) {
	g := &p.geometry
	s := strip{outStep: g.OutChannels, steps: g.Stride[2] * g.InChannels}
	if columns == 1 {
		s.outStep, s.steps = g.Out[2]*g.OutChannels, g.Stride[1]*g.In[2]*g.InChannels
	}
	maximum := tile.MaxRows(p.isa, gemm.PanelVectors)
	if s.steps*int(unsafe.Sizeof(*new(T)))%nearSets == 0 {
		maximum = min(maximum, nearWays)
	}
	n := rows * columns
	parts := (n + maximum - 1) / maximum
	if parts == 0 {
		return
	}
	s.y0, s.y1 = valid(y, g.In[1], g.Kernel[1], g.Stride[1], g.Dilation[1], g.Padding[1])
	s.x0, s.x1 = valid(x, g.In[2], g.Kernel[2], g.Stride[2], g.Dilation[2], g.Padding[2])
	s.out = (y*g.Out[2] + x) * g.OutChannels
	s.in = ((y*g.Stride[1]-g.Padding[1])*g.In[2] + x*g.Stride[2] - g.Padding[2]) * g.InChannels
	larger := n % parts // tiles that have a place more than the others
	p.addBlocks(s, n/parts+1, larger)
	past := larger * (n/parts + 1)
	s.out, s.in = s.out+past*s.outStep, s.in+past*s.steps
	p.addBlocks(s, n/parts, parts-larger)
}

// stripBytes limits what one call of a kernel reads of the input, which is read again for the next out channels.
const stripBytes = 48 << 10

// passBytes limits what a pass reads behind the tiles.
const passBytes = 48 << 10

// Rows that are a multiple of so many bytes apart share a set of the first cache, which has places for so many of them.
const (
	nearSets = 4096
	nearWays = 8
)

// addBlocks adds strips of so many blocks, each of a number of places, that begin where s does.
func (p *Plan[T]) addBlocks(s strip, places, blocks int) {
	var zero T
	taps := max(1, (s.y1-s.y0)*(s.x1-s.x0)) * p.geometry.InChannels
	limit := max(1, min(gemm.StripWork/(places*taps*gemm.PanelVectors*lanesOf[T](p.isa)), stripBytes/(places*s.steps*int(unsafe.Sizeof(zero)))))
	if p.options.Epilogue.LongPass() != nil && !p.readsWeightsOnce() {
		limit = max(1, min(limit, passBytes/(places*p.geometry.OutChannels*int(unsafe.Sizeof(zero)))))
	}
	s.places = places
	for ; blocks > 0; blocks -= s.blocks {
		s.blocks = min(blocks, limit)
		p.strips = append(p.strips, s)
		s.out, s.in = s.out+s.blocks*places*s.outStep, s.in+s.blocks*places*s.steps
	}
}

// stripWriter is one goroutine's way through strips and panels.
type stripWriter[T gemm.Float] struct {
	*Plan[T]
	in, residual, out []T
	filters           int
	scratch           unsafe.Pointer // of epilogues
	pass              *gemm.Pass     // of whole strips, in place of the epilogue; nil: none
	streams           bool           // the output goes past the caches, which do not hold it
	panel             Ahead          // weights of the next panels, which the next tiles fetch
	ahead             *Ahead         // what they fetch behind these, nil: nothing
}

// fetchPanels has the next tiles fetch the weights of the panels from j0 to j1, of those of all groups, while they multiply with those of others.
func (w *stripWriter[T]) fetchPanels(j0, j1 int) {
	g, lanes, size := &w.geometry, lanesOf[T](w.isa), int(unsafe.Sizeof(w.in[0]))
	whole, panels := (w.filters+lanes-1)/lanes*lanes, w.panels()
	taps := Volume(g.Kernel) * g.InChannels / g.Groups
	at := func(j int) int { return (j/panels*whole + j%panels*gemm.PanelVectors*lanes) * taps }
	w.panel.next = uintptr(unsafe.Pointer(&w.weight[at(j0)]))
	w.panel.end = uintptr(unsafe.Pointer(&w.weight[at(j1-1)])) + uintptr(taps*PanelWidth(w.filters, (j1-1)%panels, lanes)*size)
}

// toFetch returns what the next tiles fetch, nil where there is nothing left.
func (w *stripWriter[T]) toFetch() *Ahead {
	switch {
	case w.panel.next < w.panel.end:
		return &w.panel
	case w.ahead != nil && w.ahead.next < w.ahead.end:
		return w.ahead
	}
	return nil
}

// strip computes a strip of the output for one panel of the out channels of a group.
func (w *stripWriter[T]) strip(index, group, panel int) {
	g, s := &w.geometry, &w.strips[index%len(w.strips)]
	lanes, size := lanesOf[T](w.isa), int(unsafe.Sizeof(w.in[0]))
	image := index / len(w.strips)
	channels, first := g.InChannels/g.Groups, panel*gemm.PanelVectors*lanes
	columns, width := min(gemm.PanelVectors*lanes, w.filters-first), PanelWidth(w.filters, panel, lanes)
	whole := (w.filters + lanes - 1) / lanes * lanes
	from := image*g.InChannels*Volume(g.In) + s.in + group*channels
	to := image*g.OutChannels*Volume(g.Out) + s.out + group*w.filters + first
	weights := (group*whole + first) * Volume(g.Kernel) * channels
	t := tile.Tile{ISA: w.isa, Double: size == 8, Rows: uint8(s.places), Vectors: uint8(width / lanes), Tail: columns%lanes != 0, Prefetch: true}
	args := tile.TileArgs{C: unsafe.Pointer(&w.out[to]), Bias: unsafe.Pointer(&w.bias[group*w.filters+first]), ARow: int64(s.steps * size), CRow: int64(s.outStep * size)}
	t.Halves = w.hasHalves(panel)
	if t.Tail {
		args.Mask = tile.TailMask(w.isa, columns%lanes*size/4)
	}
	args.Residual, args.Scratch = args.C, w.scratch
	if len(w.residual) > 0 {
		args.Residual = unsafe.Pointer(&w.residual[to])
	}
	if s.y0 >= s.y1 || s.x0 >= s.x1 {
		w.blank(s, to, columns)
		return
	}
	t.Walk = true
	args.Blocks, args.ABlock, args.CBlock = int64(s.blocks), int64(s.places*s.steps*size), int64(s.places*s.outStep*size)
	row := g.Dilation[1] * g.In[2] * g.InChannels // from one row of taps to the next
	taps := func(y int) {
		first := from + y*row + s.x0*g.Dilation[2]*g.InChannels
		args.A = unsafe.Pointer(&w.in[first])
		args.B = unsafe.Pointer(&w.weight[weights+(y*g.Kernel[2]+s.x0)*channels*width])
		t.Code().Call(unsafe.Pointer(&args))
	}
	if g.Dilation[2] == 1 && g.Groups == 1 { // the channels of the taps of a row follow each other
		run := (s.x1 - s.x0) * channels
		args.K, args.Runs = int64(run), int64(s.y1-s.y0)
		args.ANext, args.BNext = int64((row-run)*size), int64((g.Kernel[2]*channels-run)*width*size)
		w.finish(&t)
		t.Stream = w.streams && w.pass == nil && uintptr(args.C)%amd64.StreamAlignment == 0 && args.CRow%amd64.StreamAlignment == 0
		t.FetchC = !t.Stream && w.fetches(run*(s.y1-s.y0))
		fetched := w.toFetch()
		if t.Fetch = fetched != nil; t.Fetch {
			args.Fetch, args.FetchStep = fetched.next, int64(width*size)
		}
		taps(s.y0)
		if t.Fetch {
			fetched.next = args.Fetch
		}
		return
	}
	args.K, args.Runs = int64(channels), int64(s.x1-s.x0)
	args.ANext = int64((g.Dilation[2]*g.InChannels - channels) * size)
	begin := args
	for y := s.y0; y < s.y1; y++ {
		args = begin
		t.Add = y != s.y0
		if y == s.y1-1 {
			w.finish(&t)
		}
		taps(y)
	}
}

// Outputs are fetched ahead where a tile has enough sums, products each, to hide what that costs, or where they are too
// large for a cache of the second level.
const (
	fetchProducts = 256
	fetchBytes    = 8 << 20
)

func (w *stripWriter[T]) fetches(products int) bool {
	return products >= fetchProducts || len(w.out)*int(unsafe.Sizeof(w.out[0])) >= fetchBytes
}

// finish sets what the last tile of a place does with the sums.
func (w *stripWriter[T]) finish(t *tile.Tile) {
	switch e := w.options.Epilogue; {
	case w.pass != nil:
		t.Bias = tile.ColumnBias
	case e == nil:
		t.Bias, t.Residual, t.Relu = tile.ColumnBias, w.options.Residual, w.options.Relu
	case e.Tile != nil:
		t.Epilogue = e.Tile
	}
}

// applyPass applies the pass to the panels from j0 to j1 of a strip.
func (w *stripWriter[T]) applyPass(index, j0, j1 int) {
	g, s, size := &w.geometry, &w.strips[index%len(w.strips)], int(unsafe.Sizeof(w.in[0]))
	first := w.columnOf(j0)
	to := index/len(w.strips)*g.OutChannels*Volume(g.Out) + s.out + first
	rows, columns := s.blocks*s.places, w.columnOf(j1)-first
	if s.outStep == columns {
		rows, columns = 1, rows*columns
	}
	sums := unsafe.Pointer(&w.out[to])
	residual := sums
	if len(w.residual) > 0 {
		residual = unsafe.Pointer(&w.residual[to])
	}
	w.pass.Run(sums, residual, w.scratch, rows, columns, s.outStep*size)
}

// columnOf returns the out channel that a panel, of those of all groups, begins with.
func (w *stripWriter[T]) columnOf(panel int) int {
	panels := w.panels()
	return panel/panels*w.filters + panel%panels*gemm.PanelVectors*lanesOf[T](w.isa)
}

// blank writes places that read the padding only.
func (w *stripWriter[T]) blank(s *strip, to, columns int) {
	e := w.options.Epilogue
	for i := range s.blocks * s.places {
		at := to + i*s.outStep
		channel := at % w.geometry.OutChannels
		if w.pass != nil {
			copy(w.out[at:][:columns], w.bias[channel:])
			continue
		}
		if e != nil {
			clear(w.out[at:][:columns])
			if e.Tile != nil { // else all of the result is still to come
				var like []T
				if len(w.residual) > 0 {
					like = w.residual[at:][:columns]
				}
				gemm.ApplyEpilogue(e, w.out[at:][:columns], 1, columns, columns, w.bias[channel:][:columns], like)
			}
			continue
		}
		for j := range columns {
			v := w.bias[channel+j]
			if w.options.Residual {
				v += w.residual[at+j]
			}
			if w.options.Relu && v < 0 {
				v = 0
			}
			w.out[at+j] = v
		}
	}
}

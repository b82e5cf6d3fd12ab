package draw

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"unicode/utf8"
)

// Sizes of a picture, in its units.
const (
	titleChar, detailChar   = 7.3, 6.1 // widths of a character
	titleHeight, lineHeight = 20.0, 14.0
	padding                 = 8.0
	gapAcross, gapDown      = 18.0, 30.0
	leastWidth              = 44.0
	mostBends               = 40 // of an edge that goes around boxes
	sweeps                  = 8  // over the layers, for their order and then for places
)

type point struct{ x, y float64 }

// cell is what a layer holds: a box, or a bend of an edge that passes it.
type cell struct {
	node    *Node // nil for a bend
	edge    *Edge
	width   float64
	center  float64
	up      []*cell // in the layer above
	down    []*cell
	order   int
	average float64
}

// passages are the edges that are routed through blocks: between two boxes of the block, or of what lies in them, and from outside.
type passages struct{ inside, into map[*Block][]*Edge }

// layOut gives boxes and edges their places in the picture.
func (d *Drawing) layOut() {
	d.Block.adopt(nil)
	through := passages{inside: map[*Block][]*Edge{}, into: map[*Block][]*Edge{}}
	for _, e := range d.Edges {
		if b, from, to := common(e.From, e.To); b != nil && from.at < to.at {
			through.inside[b] = append(through.inside[b], e)
			for _, inner := range e.To.blocksWithin(b) {
				through.into[inner] = append(through.into[inner], e)
			}
		}
	}
	d.Block.layOut(through)
	d.Block.move(padding, padding)
	d.attach()
}

// adopt tells nodes and blocks what they lie in.
func (b *Block) adopt(owner *Node) {
	b.owner = owner
	for i, n := range b.Nodes {
		n.parent, n.at = b, i
		for _, inner := range n.Blocks {
			inner.adopt(n)
		}
	}
}

// common returns the innermost block that holds both ends of an edge, and the nodes in it that these lie in.
func common(from, to *Node) (*Block, *Node, *Node) {
	for a := from; a != nil; a = a.parent.owner {
		for b := to; b != nil; b = b.parent.owner {
			if a.parent == b.parent {
				return a.parent, a, b
			}
		}
	}
	return nil, nil, nil
}

// in returns the node of a block that n lies in.
func (n *Node) in(b *Block) *Node {
	for n.parent != b {
		n = n.parent.owner
	}
	return n
}

// blocksWithin returns the blocks within another one that the node lies in, the outermost first.
func (n *Node) blocksWithin(outer *Block) (blocks []*Block) {
	for b := n.parent; b != outer; b = b.owner.parent {
		blocks = append(blocks, b)
	}
	slices.Reverse(blocks)
	return blocks
}

func (b *Block) layOut(through passages) {
	for _, n := range b.Nodes {
		n.measure(through)
	}
	b.rankNodes(through.inside[b])
	layers := b.layers(through.inside[b], through.into[b])
	orderLayers(layers)
	placeLayers(layers)
	b.place(layers)
}

// measure gives a box its size, with what lies in it.
func (n *Node) measure(through passages) {
	n.width = max(leastWidth, float64(utf8.RuneCountInString(n.Title))*titleChar, float64(utf8.RuneCountInString(n.Detail))*detailChar) + 2*padding
	n.height = titleHeight + padding
	if n.Detail != "" {
		n.height += lineHeight
	}
	if len(n.Blocks) == 0 {
		return
	}
	across, tallest := padding, 0.0
	for _, b := range n.Blocks {
		b.layOut(through)
		b.left, b.top = across, n.height
		across += b.width + padding
		tallest = max(tallest, b.height)
	}
	n.width, n.height = max(n.width, across), n.height+tallest+padding
}

// rankNodes gives each node the layer below the lowest of those that it reads; one that reads nothing goes right above its first reader.
func (b *Block) rankNodes(edges []*Edge) {
	reads := map[*Node][]*Node{}
	first := map[*Node]*Node{}
	for _, e := range edges {
		from, to := e.From.in(b), e.To.in(b)
		reads[to] = append(reads[to], from)
		if first[from] == nil || to.at < first[from].at {
			first[from] = to
		}
	}
	for _, n := range b.Nodes {
		n.rank = 0
		for _, from := range reads[n] {
			n.rank = max(n.rank, from.rank+1)
		}
	}
	for _, n := range b.Nodes {
		if to := first[n]; len(reads[n]) == 0 && to != nil && n.Kind != Input {
			n.rank = to.rank - 1
		}
	}
	lowest := 0
	for _, n := range b.Nodes {
		lowest = max(lowest, n.rank)
	}
	if last := len(b.Nodes) - 1; last > 0 && b.Nodes[last].Kind == Output {
		b.Nodes[last].rank = lowest
		if slices.ContainsFunc(b.Nodes[:last], func(n *Node) bool { return n.rank == lowest }) {
			b.Nodes[last].rank++
		}
	}
}

// layers returns the cells of each layer, connected from layer to layer: boxes, and bends of edges between them and of those that come from outside.
func (b *Block) layers(inside, into []*Edge) [][]*cell {
	var layers [][]*cell
	put := func(rank int, c *cell) *cell {
		for len(layers) <= rank {
			layers = append(layers, nil)
		}
		layers[rank] = append(layers[rank], c)
		return c
	}
	of := map[*Node]*cell{}
	for _, n := range b.Nodes {
		of[n] = put(n.rank, &cell{node: n, width: n.width})
	}
	route := func(e *Edge, from *cell, rank int) {
		to := e.To.in(b)
		if to.rank-rank >= mostBends {
			return // it goes straight, behind boxes
		}
		for ; rank < to.rank; rank++ {
			bend := put(rank, &cell{edge: e, width: 2})
			from.connect(bend)
			from = bend
		}
		from.connect(of[to])
	}
	for _, e := range inside {
		from := e.From.in(b)
		route(e, of[from], from.rank+1)
	}
	for _, e := range into {
		route(e, nil, 0)
	}
	for _, layer := range layers {
		for i, c := range layer {
			c.order = i
		}
	}
	return layers
}

// connect says that a cell has another one below it; an edge that comes from outside has none above its first.
func (c *cell) connect(below *cell) {
	if c != nil {
		c.down, below.up = append(c.down, below), append(below.up, c)
	}
}

// orderLayers brings each layer into the order of what its cells are connected with, downwards and upwards in turns.
func orderLayers(layers [][]*cell) {
	sweep(layers, func(layer []*cell, above bool) {
		for _, c := range layer {
			c.average = averageOf(c.neighbours(above), float64(c.order), func(o *cell) float64 { return float64(o.order) })
		}
		sort.SliceStable(layer, func(i, j int) bool { return layer[i].average < layer[j].average })
		for i, c := range layer {
			c.order = i
		}
	})
}

// sweep goes through the layers downwards and upwards in turns; above says that neighbours are those in the layers above.
func sweep(layers [][]*cell, visit func(layer []*cell, above bool)) {
	for turn := range sweeps {
		above := turn%2 == 0
		for i, layer := range layers {
			if !above {
				layer = layers[len(layers)-1-i]
			}
			visit(layer, above)
		}
	}
}

func (c *cell) neighbours(above bool) []*cell {
	if above {
		return c.up
	}
	return c.down
}

func averageOf(cells []*cell, otherwise float64, of func(*cell) float64) float64 {
	if len(cells) == 0 {
		return otherwise
	}
	sum := 0.0
	for _, c := range cells {
		sum += of(c)
	}
	return sum / float64(len(cells))
}

// placeLayers gives cells centers as near to those of their neighbours as their widths allow.
func placeLayers(layers [][]*cell) {
	for _, layer := range layers {
		spread(layer)
	}
	sweep(layers, func(layer []*cell, above bool) {
		for _, c := range layer {
			c.center = averageOf(c.neighbours(above), c.center, func(o *cell) float64 { return o.center })
		}
		spread(layer)
	})
}

// spread moves the centers of a layer apart, so that cells do not touch, and no farther than needed in the sum of squares: neighbours that would touch
// become one run, which lies where its cells want it on average.
func spread(layer []*cell) {
	type run struct {
		first, count int
		sum          float64
	}
	offsets := make([]float64, len(layer))
	var runs []run
	for i, c := range layer {
		if i > 0 {
			offsets[i] = offsets[i-1] + (layer[i-1].width+c.width)/2 + gapAcross
		}
		runs = append(runs, run{i, 1, c.center - offsets[i]})
		for n := len(runs); n > 1 && runs[n-2].sum/float64(runs[n-2].count) >= runs[n-1].sum/float64(runs[n-1].count); n = len(runs) {
			runs[n-2].count += runs[n-1].count
			runs[n-2].sum += runs[n-1].sum
			runs = runs[:n-1]
		}
	}
	for _, r := range runs {
		for i := r.first; i < r.first+r.count; i++ {
			layer[i].center = math.Round(r.sum/float64(r.count) + offsets[i])
		}
	}
}

// place gives boxes and bends their places in the block, and the block its size.
func (b *Block) place(layers [][]*cell) {
	leftmost := math.Inf(1)
	for _, layer := range layers {
		for _, c := range layer {
			leftmost = min(leftmost, c.center-c.width/2)
		}
	}
	top := padding
	if b.Title != "" {
		top += lineHeight
	}
	b.routes = map[*Edge][]point{}
	for i, layer := range layers {
		height := 0.0
		for _, c := range layer {
			if c.node != nil {
				height = max(height, c.node.height)
			}
		}
		for _, c := range layer {
			x := c.center - leftmost + padding
			b.width = max(b.width, x+c.width/2+padding)
			if c.node != nil {
				c.node.left, c.node.top, c.node.below = x-c.width/2, top, top+height
				continue
			}
			b.routes[c.edge] = append(b.routes[c.edge], point{x, top}, point{x, top + height})
		}
		if top += height; i+1 < len(layers) {
			top += gapDown
		}
	}
	b.width, b.height = max(b.width, float64(utf8.RuneCountInString(b.Title))*detailChar+2*padding), top+padding
}

// move turns the places of what lies in the block from those in the block into those in the picture.
func (b *Block) move(left, top float64) {
	b.left, b.top = left, top
	for _, bends := range b.routes {
		for i := range bends {
			bends[i].x += left
			bends[i].y += top
		}
	}
	for _, n := range b.Nodes {
		n.left += left
		n.top += top
		n.below += top
		for _, inner := range n.Blocks {
			inner.move(n.left+inner.left, n.top+inner.top)
		}
	}
}

// attach spreads the ends of edges over the upper sides of boxes, in the order in which the edges come.
func (d *Drawing) attach() {
	to := map[*Node][]*Edge{}
	for _, e := range d.Edges {
		to[e.To] = append(to[e.To], e)
	}
	for _, edges := range to {
		from := func(e *Edge) float64 { return d.before(e).x }
		sort.SliceStable(edges, func(i, j int) bool { return from(edges[i]) < from(edges[j]) })
		for i, e := range edges {
			e.attach = float64(i+1) / float64(len(edges)+1)
		}
	}
}

// before returns the last point of an edge before its end.
func (d *Drawing) before(e *Edge) point {
	bends := e.bends()
	return bends[len(bends)-1]
}

// end returns where an edge ends.
func (e *Edge) end() point { return point{e.To.left + cmp.Or(e.attach, 0.5)*e.To.width, e.To.top} }

// bends returns the points of an edge but its end.
func (e *Edge) bends() []point {
	middle := e.From.left + e.From.width/2
	points := []point{{middle, e.From.top + e.From.height}}
	if e.From.below > points[0].y {
		points = append(points, point{middle, e.From.below}) // past what is higher in its layer
	}
	if b, _, _ := common(e.From, e.To); b != nil {
		points = append(points, b.routes[e]...)
		for _, inner := range e.To.blocksWithin(b) {
			bends := inner.routes[e]
			x := append(slices.Clip(bends), e.end())[0].x
			points = append(points, point{x, inner.owner.top}) // across above the box that holds the block, then down past its title
			points = append(points, bends...)
		}
	}
	return points
}

// Package draw draws graphs: boxes in layers, with blocks nested in boxes, as SVG and as DOT text, and pages of HTML about them.
//
//	drawing.go  what a drawing holds
//	graph.go    the drawing of an ir.Graph
//	layout.go   where boxes and edges lie
//	svg.go      pictures
//	dot.go      text for other programs that draw
//	page.go     pages: columns of text whose values and places are linked
//
// A drawing is data: who has another kind of graph makes one too. Pictures depend on the drawing alone, and are the same on every machine.
package draw

// Kind is how a box looks.
type Kind int

const (
	Plain   Kind = iota
	Input        // what a block takes
	Output       // what a block gives
	Call         // of a function
	Control      // a branch, a loop, a context
	Fused        // several operators that run together
)

// Node is a box.
type Node struct {
	Title  string
	Detail string // a line below the title
	Hint   string // shown where the pointer rests
	Kind   Kind
	Blocks []*Block // within the box

	parent        *Block
	left, top     float64 // in the coordinates of the block, then of the picture
	width, height float64
	below         float64 // where the layer of the box ends, as top
	rank          int
	at            int // among the nodes of its block
}

// Block is what lies in a box, or the whole drawing. Its nodes are in an order in which they could run.
type Block struct {
	Title string
	Nodes []*Node

	owner         *Node // nil for the whole drawing
	left, top     float64
	width, height float64
	routes        map[*Edge][]point // the bends of edges, in the coordinates of the block, then of the picture
}

// Edge leads from a box to another, which may lie in blocks of others.
type Edge struct {
	From, To *Node
	Hint     string

	attach float64 // where it meets To: a part of the width, 0 while that is not known
}

// Drawing is a graph to be drawn.
type Drawing struct {
	Block *Block
	Edges []*Edge
}

// Most is the number of boxes beyond which a drawing helps nobody.
const Most = 2000

// Count returns the number of boxes.
func (d *Drawing) Count() int { return d.Block.count() }

func (b *Block) count() (n int) {
	for _, node := range b.Nodes {
		n++
		for _, inner := range node.Blocks {
			n += inner.count()
		}
	}
	return n
}

// Add adds a box at the end of the block and returns it.
func (b *Block) Add(n *Node) *Node {
	b.Nodes = append(b.Nodes, n)
	return n
}

// Connect adds an edge.
func (d *Drawing) Connect(from, to *Node, hint string) {
	d.Edges = append(d.Edges, &Edge{From: from, To: to, Hint: hint})
}

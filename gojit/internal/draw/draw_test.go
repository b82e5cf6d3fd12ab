package draw

import (
	"math"
	"strings"
	"testing"

	"github.com/torchjit/torchjit/gojit/internal/golden"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

func graphOf(t *testing.T, text string) *ir.Graph {
	t.Helper()
	g, err := ir.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestDrawings(t *testing.T) {
	golden.Run(t, "testdata/*.txtar", func(t *testing.T, c *golden.Case) {
		d := Graph(graphOf(t, c.Input("in.ir")))
		c.Check("out/dot", d.DOT())
		c.Check("out/svg", d.SVG())
		checkPlaces(t, d, d.Block)
		for _, e := range d.Edges {
			if points := e.bends(); points[len(points)-1].y > e.To.top {
				t.Errorf("the edge from %s to %s does not come from above", e.From.Title, e.To.Title)
			}
		}
	})
}

// checkPlaces fails where boxes of a block touch, or leave what they lie in.
func checkPlaces(t *testing.T, d *Drawing, b *Block) {
	t.Helper()
	for i, n := range b.Nodes {
		if n.left < b.left || n.top < b.top || n.left+n.width > b.left+b.width+0.01 || n.top+n.height > b.top+b.height+0.01 {
			t.Errorf("%s leaves its block", n.Title)
		}
		for _, other := range b.Nodes[:i] {
			across := math.Abs(n.left+n.width/2-other.left-other.width/2) < (n.width+other.width)/2
			down := math.Abs(n.top+n.height/2-other.top-other.height/2) < (n.height+other.height)/2
			if across && down {
				t.Errorf("%s and %s overlap", n.Title, other.Title)
			}
		}
		for _, inner := range n.Blocks {
			checkPlaces(t, d, inner)
		}
	}
}

// An edge touches no box but those at its ends and those that hold its end: it goes around a higher box beside its beginning, and past the boxes in a
// block that it leads into.
func TestEdgesGoAroundBoxes(t *testing.T) {
	d := Graph(graphOf(t, `graph(%x : Tensor, %n : int, %c : bool):
  %long_name_of_a_value : int = aten::dim(%x)
  %r : Tensor = prim::If(%c)
    block0():
      %1 : Tensor = aten::sin(%x)
      %2 : Tensor = aten::cos(%1)
      %3 : Tensor = aten::mul(%2, %n)
      %4 : Tensor = prim::If(%c)
        block0():
          %5 : Tensor = aten::sin(%3)
          %6 : Tensor = aten::mul(%5, %n)
          -> (%6)
        block1():
          -> (%1)
      -> (%4)
    block1():
      -> (%x)
  %8 : Tensor = aten::mul(%r, %long_name_of_a_value)
  return (%8)
`))
	d.SVG()
	for _, e := range d.Edges {
		points := append(e.bends(), e.end())
		for i, p := range points[1:] {
			for part := 0.0; part < 1; part += 1.0 / 64 {
				if n := d.Block.boxAt(curve(points[i], p, part), e); n != nil {
					t.Fatalf("the edge from %s to %s crosses %s", e.From.Title, e.To.Title, n.Title)
				}
			}
		}
	}
}

// curve returns a point of the curve that is drawn from one point to another.
func curve(from, to point, part float64) point {
	rest := 1 - part
	x := from.x*(rest*rest*rest+3*rest*rest*part) + to.x*(3*rest*part*part+part*part*part)
	middle := (from.y + to.y) / 2
	return point{x, from.y*rest*rest*rest + 3*middle*rest*part + to.y*part*part*part}
}

// boxAt returns a box that a point lies in, other than those at the ends of an edge and those that hold its end.
func (b *Block) boxAt(p point, e *Edge) *Node {
	for _, n := range b.Nodes {
		if n == e.From || n == e.To || p.x <= n.left || p.x >= n.left+n.width || p.y <= n.top || p.y >= n.top+n.height {
			continue
		}
		holds := false
		for _, inner := range n.Blocks {
			holds = holds || e.To.isIn(inner)
			if found := inner.boxAt(p, e); found != nil {
				return found
			}
		}
		if !holds {
			return n
		}
	}
	return nil
}

func (n *Node) isIn(b *Block) bool {
	for ; n != nil; n = n.parent.owner {
		if n.parent == b {
			return true
		}
	}
	return false
}

// A chain of boxes of one width lies in one column: nothing pushes it aside.
func TestChainsAreStraight(t *testing.T) {
	g := graphOf(t, `graph(%x : Tensor):
  %1 : Tensor = aten::sin(%x)
  %2 : Tensor = aten::cos(%1)
  %3 : Tensor = aten::tan(%2)
  return (%3)
`)
	d := Graph(g)
	d.SVG()
	for _, n := range d.Block.Nodes {
		if n.left+n.width/2 != d.Block.Nodes[0].left+d.Block.Nodes[0].width/2 {
			t.Errorf("%s is not below %s", n.Title, d.Block.Nodes[0].Title)
		}
	}
}

func TestLargeGraphsAreLaidOutSoon(t *testing.T) {
	var b strings.Builder
	b.WriteString("graph(%0 : Tensor):\n")
	for i := 1; i < Most; i++ {
		b.WriteString("  %" + itoa(i) + " : Tensor = aten::add(%" + itoa(i-1) + ", %" + itoa(i/2) + ", %" + itoa(i-1) + ")\n")
	}
	b.WriteString("  return (%" + itoa(Most-1) + ")\n")
	d := Graph(graphOf(t, strings.ReplaceAll(b.String(), ", %0, %0)", ", %0)")))
	if d.Count() != Most+1 || len(d.SVG()) == 0 {
		t.Errorf("%d boxes", d.Count())
	}
}

func itoa(i int) string { return number(float64(i)) }

func TestColumnsLinkValuesAndPlaces(t *testing.T) {
	text := source.NewText("model.py", "def f(x):\n    return x < 1\n", 7)
	page := Columns([]*source.Text{text}, []Column{{Title: "a & b", Text: "%y.1 : Tensor = aten::lt(%x, %2) # model.py:8:11\n%z = aten::x(%2) # other.py:8:11\n"}})
	for _, want := range []string{
		`<span id="s0-8">   8      return x &lt; 1</span>`,
		`<span class="v">%y.1</span> : Tensor = aten::lt(<span class="v">%x</span>, <span class="v">%2</span>) <a href="#s0-8"># model.py:8:11</a>`,
		`# other.py:8:11`, `<h2>a &amp; b</h2>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s:\n%s", want, page)
		}
	}
	if strings.Count(page, "<a href") != 1 {
		t.Error("a place that is not on the page is a link")
	}
}

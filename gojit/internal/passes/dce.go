package passes

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ir"
)

// DCE removes the nodes whose outputs nobody needs and that do nothing besides computing them, and
// the outputs of prim::If and prim::Loop that nobody needs. A node that writes one of its inputs
// is kept.
//
//	%b = aten::neg(%a)   -- removed where %b has no uses
func DCE(g *ir.Graph) bool {
	d := newDCE(g)
	d.markOutputs(g.Block())
	d.markEffects(g.Block())
	return d.sweep(g.Block())
}

type dce struct {
	live    ir.Marks
	carried map[*ir.Value]bool // parameters of loop bodies that are needed
	chosen  map[*ir.Value]bool // outputs of ifs that are needed
}

func newDCE(g *ir.Graph) *dce {
	return &dce{live: g.NewMarks(), carried: map[*ir.Value]bool{}, chosen: map[*ir.Value]bool{}}
}

// markEffects marks the nodes that must run whoever needs their outputs.
func (d *dce) markEffects(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		if hasEffects(n) {
			d.mark(n)
		}
		if n.Kind() == "prim::Loop" {
			// What decides whether a loop goes on is kept, and so is a loop that computes it.
			d.markValue(n.Blocks()[0].Outputs()[0])
			if isEndless(n) {
				d.mark(n)
			}
		}
		for _, inner := range n.Blocks() {
			d.markEffects(inner)
		}
	}
}

// isEndless reports whether a loop goes on until something raises: a program that does not end must not do so for want of a result.
func isEndless(loop *ir.Node) bool {
	trips, ok := loop.Input(0).Constant()
	if !ok || trips.Int() != math.MaxInt64 {
		return false
	}
	again, ok := loop.Blocks()[0].Outputs()[0].Constant()
	return ok && again.Bool()
}

func hasEffects(n *ir.Node) bool {
	if n.HasSideEffects() {
		return true
	}
	o := n.Operator()
	return o != nil && o.Schema().IsMutable() || n.Is("aten::Delete", "prim::fork", "prim::forkClosure")
}

// mark marks a node, the nodes that it is nested in and those that define its inputs.
func (d *dce) mark(n *ir.Node) {
	if !d.live.Add(n) {
		return
	}
	for _, in := range n.Inputs() {
		d.markValue(in)
	}
	if n.Block() != nil && n.Block().Owner() != nil {
		d.mark(n.Block().Owner())
	}
	switch n.Kind() {
	case "prim::If":
	case "prim::Loop":
		// The condition is needed to run the loop at all.
		d.markValue(n.Blocks()[0].Outputs()[0])
	default:
		for _, b := range n.Blocks() {
			d.markOutputs(b)
		}
	}
}

func (d *dce) markOutputs(b *ir.Block) {
	for _, out := range b.Outputs() {
		d.markValue(out)
	}
}

// markValue marks what computes v.
func (d *dce) markValue(v *ir.Value) {
	n := v.Node()
	switch n.Kind() {
	case "prim::Param":
		owner := n.Block().Owner()
		if owner == nil {
			return
		}
		if owner.Kind() == "prim::Loop" && v.Offset() > 0 {
			d.markCarried(owner, v.Offset()-1)
		}
		return
	case "prim::If":
		if d.chosen[v] {
			return
		}
		d.chosen[v] = true
		d.mark(n)
		for _, b := range n.Blocks() {
			d.markValue(b.Outputs()[v.Offset()])
		}
		return
	case "prim::Loop":
		d.mark(n)
		d.markCarried(n, v.Offset())
		return
	}
	d.mark(n)
}

// markCarried marks what computes the i-th carried value of a loop.
func (d *dce) markCarried(loop *ir.Node, i int) {
	key := loop.Blocks()[0].Inputs()[i+1]
	if d.carried[key] {
		return
	}
	d.carried[key] = true
	d.mark(loop)
	d.markValue(loop.Inputs()[i+2])
	d.markValue(loop.Blocks()[0].Outputs()[i+1])
}

func (d *dce) sweep(b *ir.Block) bool {
	changed := false
	for n := b.Last(); n != nil; {
		prev := n.Prev()
		changed = removeDeadOutputs(n) || changed
		for _, inner := range n.Blocks() {
			changed = d.sweep(inner) || changed
		}
		if !d.live.Has(n) && !HasUses(n) {
			n.Destroy()
			changed = true
		}
		n = prev
	}
	return changed
}

func HasUses(n *ir.Node) bool {
	for _, out := range n.Outputs() {
		if out.HasUses() {
			return true
		}
	}
	return false
}

func removeDeadOutputs(n *ir.Node) bool {
	changed := false
	switch n.Kind() {
	case "prim::If":
		for i := len(n.Outputs()) - 1; i >= 0; i-- {
			if !n.Outputs()[i].HasUses() {
				eraseIfOutput(n, i)
				changed = true
			}
		}
	case "prim::Loop":
		body := n.Blocks()[0]
		for i := len(n.Outputs()) - 1; i >= 0; i-- {
			if !n.Outputs()[i].HasUses() && !body.Inputs()[i+1].HasUses() {
				eraseCarried(n, i)
				changed = true
			}
		}
	}
	return changed
}

func eraseIfOutput(n *ir.Node, i int) {
	n.EraseOutput(i)
	for _, b := range n.Blocks() {
		b.EraseOutput(i)
	}
}

func eraseCarried(n *ir.Node, i int) {
	n.EraseOutput(i)
	n.RemoveInput(i + 2)
	n.Blocks()[0].EraseInput(i + 1)
	n.Blocks()[0].EraseOutput(i + 1)
}

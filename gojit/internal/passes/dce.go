package passes

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// DCE removes the nodes whose outputs nobody needs and that do nothing besides computing them, and
// the outputs of prim::If and prim::Loop that nobody needs. A node that writes one of its inputs
// is kept, and so is a loop that computes what it carries from what it carried.
//
//	%b = aten::neg(%a)   -- removed where %b has no uses
func DCE(g *ir.Graph) bool { return newDCE(g, nil).run() }

// DCEWithWrites is DCE that also removes nodes which write memory that nothing needs. Only a graph that is whole tells which that is.
//
//	%l = prim::ListConstruct()
//	%m = aten::append(%l, %x)   -- removed, and %l with it, where nothing else uses %l or %m
//
//	%y = aten::zeros(...)
//	%v = aten::select(%y, %zero, %zero)
//	%w = aten::copy_(%v, %x, %no)   -- removed, and %v and %y with it
func DCEWithWrites(g *ir.Graph) bool {
	writes := false
	g.Block().Walk(func(n *ir.Node) { writes = writes || isWriter(n) })
	if !writes {
		return DCE(g)
	}
	return newDCE(g, alias.Analyze(g, alias.Options{})).run()
}

// DCEWithoutEffects is DCE that also removes nodes whose only purpose is an effect: printing,
// writing and raising.
func DCEWithoutEffects(g *ir.Graph) bool {
	d := newDCE(g, nil)
	d.markOutputs(g.Block())
	d.markLoops(g.Block())
	return d.sweep(g.Block())
}

type dce struct {
	g       *ir.Graph
	live    ir.Marks
	needed  map[*ir.Value]bool // outputs of ifs and loops
	writers []*ir.Node         // whose only effect is that they write, and which are not known to be needed
	aliases *alias.Db          // nil: all writers are needed
	memory  *alias.Memory      // of values that are needed
}

func newDCE(g *ir.Graph, aliases *alias.Db) *dce {
	d := &dce{g: g, live: g.NewMarks(), needed: map[*ir.Value]bool{}, aliases: aliases}
	if aliases != nil {
		d.memory = aliases.NewMemory()
	}
	return d
}

func (d *dce) run() bool {
	d.markOutputs(d.g.Block())
	d.markLoops(d.g.Block())
	d.markEffects(d.g.Block())
	d.markWriters()
	return d.sweep(d.g.Block())
}

// markLoops marks what loops are kept for, whoever needs their outputs: what decides whether they go on, and what computes the next value of what they
// carry and read.
func (d *dce) markLoops(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			if n.Kind() == "prim::Loop" {
				for i, out := range inner.Outputs() {
					if i == 0 || inner.Inputs()[i].HasUses() {
						d.markValue(out)
					}
				}
			}
			d.markLoops(inner)
		}
	}
}

// markEffects marks the nodes that must run whoever needs their outputs.
func (d *dce) markEffects(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		switch {
		case isWriter(n) && d.aliases != nil:
			d.writers = append(d.writers, n)
		case hasEffects(n) || n.Kind() == "prim::Loop" && isEndless(n):
			d.mark(n)
		}
		for _, inner := range n.Blocks() {
			d.markEffects(inner)
		}
	}
}

// markWriters marks the nodes that write memory of what is needed, until there are no more.
func (d *dce) markWriters() {
	for count := -1; count != len(d.writers); {
		count = len(d.writers)
		for i := count - 1; i >= 0; i-- {
			if n := d.writers[i]; d.live.Has(n) || d.memory.IsWrittenBy(n) {
				d.mark(n)
				d.writers = slices.Delete(d.writers, i, i+1)
			}
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

// isWriter reports whether a node does nothing but compute its outputs and write some of its inputs.
func isWriter(n *ir.Node) bool {
	if n.Kind() == "aten::Delete" {
		return true
	}
	o := n.Operator()
	return o != nil && !o.HasSideEffects() && (o.Schema().IsMutable() || o.Has(ops.WritesStatistics))
}

func hasEffects(n *ir.Node) bool { return n.HasSideEffects() || isWriter(n) || n.Is("prim::fork", "prim::forkClosure") }

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
	if n.Is("prim::If", "prim::Loop") {
		return
	}
	for _, b := range n.Blocks() {
		d.markOutputs(b)
	}
}

func (d *dce) markOutputs(b *ir.Block) {
	for _, out := range b.Outputs() {
		d.markValue(out)
	}
}

// markValue marks what computes v.
func (d *dce) markValue(v *ir.Value) {
	if d.memory != nil {
		d.memory.Add(v)
	}
	n := v.Node()
	switch n.Kind() {
	case "prim::Param": // a loop is kept for what it computes
	case "prim::If", "prim::Loop":
		if d.needed[v] {
			return
		}
		d.needed[v] = true
		d.mark(n)
		for _, b := range n.Blocks() {
			d.markValue(b.Outputs()[len(b.Outputs())-len(n.Outputs())+v.Offset()])
		}
	default:
		d.mark(n)
	}
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

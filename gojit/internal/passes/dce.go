package passes

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
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
	d.dropEffects = true
	return d.run()
}

// dce goes through a graph from its end to its beginning, so that the users of a value are known before what computes it.
type dce struct {
	g           *ir.Graph
	live        ir.Marks           // nodes that are needed
	needed      map[*ir.Value]bool // values that are
	memory      *alias.Memory      // of needed values; nil: all that is written is needed
	dropEffects bool
	marked      int // nodes and values
}

func newDCE(g *ir.Graph, aliases *alias.Db) *dce {
	d := &dce{g: g, live: g.NewMarks(), needed: map[*ir.Value]bool{}}
	if aliases != nil {
		d.memory = aliases.NewMemory()
	}
	return d
}

func (d *dce) run() bool {
	d.needAll(d.g.Block().Outputs())
	d.block(d.g.Block())
	return d.sweep(d.g.Block())
}

// block marks what is needed in a block, whose needed outputs are known. It reports whether any node of it is.
func (d *dce) block(b *ir.Block) (any bool) {
	for n := b.Last(); n != nil; n = n.Prev() {
		if d.blocks(n) || d.isNeeded(n) {
			d.mark(n)
		}
		any = any || d.live.Has(n)
	}
	return any
}

// blocks marks what is needed in the blocks of a node, and reports whether any node of them is.
func (d *dce) blocks(n *ir.Node) (any bool) {
	switch n.Kind() {
	case prim.Loop:
		body := n.Blocks()[0]
		for before := -1; before != d.marked; { // what one round needs, the round before computes
			before = d.marked
			for i, out := range body.Outputs() {
				// Whether the loop goes on, and what a round computes from what the last one has computed, are needed whoever needs the outputs.
				if i == 0 || d.needed[n.Outputs()[i-1]] || body.Inputs()[i].HasUses() {
					d.need(out)
				}
			}
			any = d.block(body)
		}
	case prim.If:
		for _, b := range n.Blocks() {
			for i, out := range b.Outputs() {
				if d.needed[n.Outputs()[i]] {
					d.need(out)
				}
			}
			any = d.block(b) || any
		}
	default:
		for _, b := range n.Blocks() {
			d.needAll(b.Outputs())
			any = d.block(b) || any
		}
	}
	return any
}

func (d *dce) isNeeded(n *ir.Node) bool {
	for _, out := range n.Outputs() {
		if d.needed[out] {
			return true
		}
	}
	if d.dropEffects {
		return false
	}
	if isWriter(n) && d.memory != nil {
		return d.memory.IsWrittenBy(n)
	}
	return hasEffects(n) || n.Kind() == prim.Loop && isEndless(n)
}

func (d *dce) mark(n *ir.Node) {
	if d.live.Add(n) {
		d.marked++
		d.needAll(n.Inputs())
	}
}

func (d *dce) needAll(vs []*ir.Value) {
	for _, v := range vs {
		d.need(v)
	}
}

func (d *dce) need(v *ir.Value) {
	if !d.needed[v] {
		d.needed[v] = true
		d.marked++
		if d.memory != nil {
			d.memory.Add(v)
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
	if n.Kind() == aten.Delete {
		return true
	}
	o := n.Operator()
	return o != nil && !o.HasSideEffects() && (o.Schema().IsMutable() || o.Has(ops.WritesStatistics))
}

func hasEffects(n *ir.Node) bool {
	return n.HasSideEffects() || isWriter(n) || n.Is(prim.Fork, prim.ForkClosure)
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
	case prim.If:
		for i := len(n.Outputs()) - 1; i >= 0; i-- {
			if !n.Outputs()[i].HasUses() {
				eraseIfOutput(n, i)
				changed = true
			}
		}
	case prim.Loop:
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

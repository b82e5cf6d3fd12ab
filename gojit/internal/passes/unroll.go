package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

const (
	unrollFactor       = 8  // bodies in a row of a loop whose length is not known
	maxUnrolledBody    = 32 // nodes of a body that is repeated
	maxUnrolledRepeats = 8  // of a loop whose length is known
)

// UnrollConstantLoops replaces for-loops of a few rounds, whose number is a constant, by their
// bodies in a row. It reports whether it changed anything.
func UnrollConstantLoops(g *ir.Graph) bool { return unrollBlock(g, g.Block(), true) }

// UnrollLoops is UnrollConstantLoops that also makes each round of other for-loops of small bodies
// eight of before, with a loop for what remains.
func UnrollLoops(g *ir.Graph) bool { return unrollBlock(g, g.Block(), false) }

// unrollBlock unrolls the loops in a block of g. What nobody needs afterwards goes, which may be the block itself.
func unrollBlock(g *ir.Graph, b *ir.Block, constantOnly bool) bool {
	changed := false
	isThere := func(n *ir.Node) bool { return n.Graph() != nil }
	for _, n := range b.Nodes() {
		if !isThere(n) {
			continue
		}
		for _, inner := range n.Blocks() {
			if isThere(n) {
				changed = unrollBlock(g, inner, constantOnly) || changed
			}
		}
		if isThere(n) && n.Kind() == "prim::Loop" && isForLoop(n) && !isEndless(n) {
			changed = unroll(n, constantOnly) || changed
		}
	}
	if changed {
		DCE(g)
	}
	return changed
}

// isForLoop reports whether the loop runs a number of rounds that is known when it starts.
func isForLoop(n *ir.Node) bool {
	start, ok := n.Input(1).Constant()
	again, ok2 := n.Blocks()[0].Outputs()[0].Constant()
	return ok && ok2 && start.Bool() && again.Bool()
}

func unroll(n *ir.Node, constantOnly bool) bool {
	body := n.Blocks()[0]
	if !isSmall(body) {
		return false
	}
	if trips, ok := n.Input(0).Constant(); ok && trips.Int() <= maxUnrolledRepeats {
		repeatLoop(n, int(trips.Int()))
		return true
	}
	if constantOnly {
		return false
	}
	unrollUnknown(n)
	return true
}

// isSmall reports whether a body has few enough nodes to be repeated, and none that is a loop.
func isSmall(b *ir.Block) bool {
	count, loops := 0, false
	b.Walk(func(n *ir.Node) {
		count++
		loops = loops || n.Kind() == "prim::Loop"
	})
	return count <= maxUnrolledBody && !loops
}

// unroller repeats the body of a loop, which counts its rounds itself.
type unroller struct {
	g    *ir.Graph
	body *ir.Block
}

func (u *unroller) number(n int64) *ir.Value { return u.g.Constant(value.Int(n), source.Range{}) }

func (u *unroller) calculate(kind string, a, b *ir.Value) *ir.Value {
	return u.g.InsertNode(u.g.Create(kind, []*ir.Value{a, b}, 1)).Output().SetType(types.Int)
}

// rounds inserts copies of the body for rounds from counter on. It returns the counter behind them
// and what they carry on.
func (u *unroller) rounds(times int, counter *ir.Value, carried []*ir.Value) (*ir.Value, []*ir.Value) {
	for range times {
		carried = u.round(counter, carried)
		counter = u.calculate("aten::add", counter, u.number(1))
	}
	return counter, carried
}

// round inserts a copy of the body and returns what it carries on.
func (u *unroller) round(counter *ir.Value, carried []*ir.Value) []*ir.Value {
	env := map[*ir.Value]*ir.Value{u.body.Inputs()[0]: counter}
	for i, in := range u.body.Inputs()[1:] {
		env[in] = carried[i]
	}
	lookup := func(v *ir.Value) *ir.Value {
		if mapped, ok := env[v]; ok {
			return mapped
		}
		return v
	}
	for m := u.body.First(); m != nil; m = m.Next() {
		c := u.g.InsertNode(u.g.Clone(m, lookup))
		for i, out := range m.Outputs() {
			env[out] = c.Outputs()[i]
		}
	}
	next := make([]*ir.Value, len(carried))
	for i, out := range u.body.Outputs()[1:] {
		next[i] = lookup(out)
	}
	return next
}

// repeatLoop replaces a loop by copies of its body.
func repeatLoop(n *ir.Node, times int) {
	u := &unroller{n.Graph(), n.Blocks()[0]}
	old := u.g.SetInsertPoint(n)
	_, carried := u.rounds(times, u.number(0), n.Inputs()[2:])
	u.g.SetInsertPoint(old)
	replaceLoop(n, carried)
}

func replaceLoop(n *ir.Node, results []*ir.Value) {
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(results[i])
	}
	n.Destroy()
}

// unrollUnknown makes a loop of trips/8 rounds of eight bodies, and one of the trips that remain.
func unrollUnknown(n *ir.Node) {
	u := &unroller{n.Graph(), n.Blocks()[0]}
	old := u.g.SetInsertPoint(n)
	defer u.g.SetInsertPoint(old)
	start := append([]*ir.Value{u.number(0)}, n.Inputs()[2:]...)
	rounds := u.calculate("aten::__round_to_zero_floordiv", n.Input(0), u.number(unrollFactor))
	rest := u.calculate("aten::sub", n.Input(0), u.calculate("aten::mul", rounds, u.number(unrollFactor)))
	fast := u.loop(n, rounds, start, unrollFactor)
	slow := u.loop(n, rest, fast.Outputs(), 1)
	replaceLoop(n, slow.Outputs()[1:])
}

// loop inserts a for-loop like n of so many trips, whose body is the body several times. It carries
// the number of rounds first.
func (u *unroller) loop(n *ir.Node, trips *ir.Value, start []*ir.Value, times int) *ir.Node {
	loop := u.g.InsertNode(u.g.Create("prim::Loop", append([]*ir.Value{trips, n.Input(1)}, start...), 0)).SetRange(n.Range)
	b := loop.AddBlock()
	b.AddInput("").SetType(types.Int)
	var carried []*ir.Value
	for _, v := range start {
		loop.AddOutput().SetType(v.Type())
		carried = append(carried, b.AddInput("").SetType(v.Type()))
	}
	for i, out := range n.Outputs() {
		loop.Outputs()[i+1].SetType(out.Type())
		carried[i+1].SetType(out.Type())
	}
	old := u.g.SetInsertEnd(b)
	counter, next := u.rounds(times, carried[0], carried[1:])
	u.g.SetInsertPoint(old)
	b.AddOutput(n.Input(1))
	for _, v := range append([]*ir.Value{counter}, next...) {
		b.AddOutput(v)
	}
	return loop
}

package passes

import (
	"torchjit/gojit/ir"
	"torchjit/gojit/source"
	"torchjit/gojit/types"
	"torchjit/gojit/value"
)

const (
	unrollFactor       = 8  // bodies in a row of a loop whose length is not known
	maxUnrolledBody    = 32 // nodes of a body that is repeated
	maxUnrolledRepeats = 8  // of a loop whose length is known
)

// UnrollConstantLoops replaces for-loops of a few rounds, whose number is a constant, by their
// bodies in a row. It reports whether it changed anything.
func UnrollConstantLoops(g *ir.Graph) bool { return unrollBlock(g.Block(), true) }

// UnrollLoops is UnrollConstantLoops that also makes each round of other for-loops of small bodies
// eight of before, with a loop for what remains.
func UnrollLoops(g *ir.Graph) bool { return unrollBlock(g.Block(), false) }

func unrollBlock(b *ir.Block, constantOnly bool) bool {
	changed := false
	for n := b.First(); n != nil; {
		next := n.Next()
		for _, inner := range n.Blocks() {
			changed = unrollBlock(inner, constantOnly) || changed
		}
		if n.Kind() == "prim::Loop" && isForLoop(n) {
			changed = unroll(n, constantOnly) || changed
		}
		n = next
	}
	if changed {
		DCE(b.Graph())
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

// repeatLoop replaces a loop by copies of its body.
func repeatLoop(n *ir.Node, times int) {
	g := n.Graph()
	old := g.SetInsertPoint(n)
	carried := append([]*ir.Value(nil), n.Inputs()[2:]...)
	for i := range times {
		carried = insertBody(g, n.Blocks()[0], g.Constant(value.Int(int64(i)), source.Range{}), carried)
	}
	g.SetInsertPoint(old)
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(carried[i])
	}
	n.Destroy()
}

// insertBody inserts a copy of a loop's body for round i and returns what it carries on.
func insertBody(g *ir.Graph, body *ir.Block, i *ir.Value, carried []*ir.Value) []*ir.Value {
	env := map[*ir.Value]*ir.Value{body.Inputs()[0]: i}
	for k, in := range body.Inputs()[1:] {
		env[in] = carried[k]
	}
	lookup := func(v *ir.Value) *ir.Value {
		if mapped, ok := env[v]; ok {
			return mapped
		}
		return v
	}
	for m := body.First(); m != nil; m = m.Next() {
		c := g.InsertNode(g.Clone(m, lookup))
		for k, out := range m.Outputs() {
			env[out] = c.Outputs()[k]
		}
	}
	next := make([]*ir.Value, len(carried))
	for k, out := range body.Outputs()[1:] {
		next[k] = lookup(out)
	}
	return next
}

// unrollUnknown makes a loop of trips/8 rounds of eight bodies, and one of the trips that remain.
func unrollUnknown(n *ir.Node) {
	g, body := n.Graph(), n.Blocks()[0]
	old := g.SetInsertPoint(n)
	defer g.SetInsertPoint(old)
	calculate := func(kind string, a, b *ir.Value) *ir.Value {
		return g.InsertNode(g.Create(kind, []*ir.Value{a, b}, 1)).Output().SetType(types.Int)
	}
	factor := g.Constant(value.Int(unrollFactor), source.Range{})
	rounds := calculate("aten::__round_to_zero_floordiv", n.Input(0), factor)
	done := calculate("aten::mul", rounds, factor)
	rest := calculate("aten::sub", n.Input(0), done)

	fast := insertLoop(n, rounds, n.Inputs()[2:], func(round *ir.Value, carried []*ir.Value) []*ir.Value {
		first := calculate("aten::mul", round, factor)
		for i := range int64(unrollFactor) {
			at := calculate("aten::add", first, g.Constant(value.Int(i), source.Range{}))
			carried = insertBody(g, body, at, carried)
		}
		return carried
	})
	slow := insertLoop(n, rest, fast.Outputs(), func(round *ir.Value, carried []*ir.Value) []*ir.Value {
		return insertBody(g, body, calculate("aten::add", round, done), carried)
	})
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(slow.Outputs()[i])
	}
	n.Destroy()
}

// insertLoop inserts a for-loop like n with another number of trips, other values to start from
// and the body that fill inserts.
func insertLoop(n *ir.Node, trips *ir.Value, start []*ir.Value, fill func(round *ir.Value, carried []*ir.Value) []*ir.Value) *ir.Node {
	g := n.Graph()
	loop := g.InsertNode(g.Create("prim::Loop", append([]*ir.Value{trips, n.Input(1)}, start...), 0)).SetRange(n.Range)
	b := loop.AddBlock()
	round := b.AddInput("").SetType(types.Int)
	var carried []*ir.Value
	for _, out := range n.Outputs() {
		loop.AddOutput().SetType(out.Type())
		carried = append(carried, b.AddInput("").SetType(out.Type()))
	}
	old := g.SetInsertEnd(b)
	next := fill(round, carried)
	g.SetInsertPoint(old)
	b.AddOutput(n.Input(1))
	for _, v := range next {
		b.AddOutput(v)
	}
	return loop
}

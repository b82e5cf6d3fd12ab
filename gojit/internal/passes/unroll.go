package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

const (
	unrollFactor = 8  // bodies in a row of a loop whose length is not known
	smallBody    = 32 // what a body at most has that is repeated
	manyRounds   = 64 // a loop of fewer, whose number is known, becomes its bodies in a row
	fewRounds    = 9  // the same where a program is to run, which copies of large loops would not make faster
)

// unrolling says which loops are unrolled.
type unrolling struct {
	g            *ir.Graph
	constantOnly bool // those alone whose number of rounds is a constant
	short        bool // those alone of a few rounds, whose bodies have no loops
}

// UnrollConstantLoops replaces for-loops of less than 64 rounds, whose number is a constant, by their
// bodies in a row. It reports whether it changed anything.
func UnrollConstantLoops(g *ir.Graph) bool { return unrolling{g, true, false}.run() }

// UnrollLoops is UnrollConstantLoops that also makes each round of other for-loops of small bodies
// eight of before, with a loop for what remains.
func UnrollLoops(g *ir.Graph) bool { return unrolling{g, false, false}.run() }

// UnrollShortLoops is UnrollConstantLoops, or UnrollLoops, for small loops of at most eight rounds in which there are no other loops.
func UnrollShortLoops(g *ir.Graph, constantOnly bool) bool {
	return unrolling{g, constantOnly, true}.run()
}

// run unrolls the loops of the graph, those in others first, and removes what nobody needs afterwards.
func (u unrolling) run() bool {
	changed := u.block(u.g.Block())
	if changed {
		DCE(u.g)
	}
	return changed
}

// block unrolls the loops in a block.
func (u unrolling) block(b *ir.Block) bool {
	changed := false
	for _, n := range b.Nodes() {
		for _, inner := range n.Blocks() {
			changed = u.block(inner) || changed
		}
		if n.Kind() == prim.Loop && isForLoop(n) && !isEndless(n) {
			changed = u.unroll(n) || changed
		}
	}
	return changed
}

// isForLoop reports whether the loop runs a number of rounds that is known when it starts.
func isForLoop(n *ir.Node) bool {
	start, ok := n.Input(1).Constant()
	again, ok2 := n.Blocks()[0].Outputs()[0].Constant()
	return ok && ok2 && start.Bool() && again.Bool()
}

func (u unrolling) unroll(n *ir.Node) bool {
	trips, known := n.Input(0).Constant()
	known = known && trips.Int() < manyRounds && (!u.short || trips.Int() < fewRounds)
	switch {
	case !known && u.constantOnly, u.short && hasLoops(n.Blocks()[0]):
		return false
	case (u.short || !u.constantOnly) && !isSmall(n.Blocks()[0]):
		return false
	}
	if n.Blocks()[0].Inputs()[0].HasUses() {
		countRounds(n)
	}
	if known {
		repeatBody(n, int(trips.Int()))
		inlineBody(n)
	} else {
		unrollUnknown(n)
	}
	return true
}

// isSmall reports whether a body has few enough nodes to be repeated.
func isSmall(b *ir.Block) bool { return sizeOf(b) <= smallBody }

func hasLoops(b *ir.Block) (has bool) {
	b.Walk(func(n *ir.Node) { has = has || n.Kind() == prim.Loop })
	return has
}

// sizeOf counts the nodes of a block and of those in it that are executed, with the one that ends each.
func sizeOf(b *ir.Block) int {
	size := 1
	for n := b.First(); n != nil && size <= smallBody; n = n.Next() {
		if !n.Is(prim.Constant, prim.Profile, prim.ProfileIvalue) {
			size++
		}
		for _, inner := range n.Blocks() {
			size += sizeOf(inner)
		}
	}
	return size
}

// calculate inserts an operation on integers.
func calculate(g *ir.Graph, kind string, a, b ir.Argument) *ir.Value {
	v, err := g.Insert(kind, a, b)
	if err != nil {
		panic(err) // there are such operators
	}
	return v
}

// countRounds makes a loop carry the number of its rounds first, which its body reads in place of its own counter.
func countRounds(n *ir.Node) {
	g, body := n.Graph(), n.Blocks()[0]
	old := g.SetInsertPoint(n)
	defer g.SetInsertPoint(old)
	n.InsertInput(2, g.Constant(value.Int(0), source.Range{}))
	n.InsertOutput(0).SetType(types.Int)
	counter := body.InsertInput(1).SetType(types.Int)
	body.Inputs()[0].ReplaceAllUsesWith(counter)
	g.SetInsertEnd(body)
	body.InsertOutput(1, calculate(g, aten.Add, ir.Arg(counter), number(1)))
}

// repeatBody replaces the body of a loop by copies of it in a row.
func repeatBody(n *ir.Node, times int) {
	g, body, row := n.Graph(), n.Blocks()[0], n.AddBlock()
	for _, in := range body.Inputs() {
		row.AddInput("").CopyMetadata(in)
	}
	old := g.SetInsertEnd(row)
	defer g.SetInsertPoint(old)
	again, carried := body.Outputs()[0], row.Inputs()[1:]
	for range times {
		again, carried = insertBody(g, body, carried)
	}
	row.AddOutput(again)
	for _, v := range carried {
		row.AddOutput(v)
	}
	n.EraseBlock(0)
	d := newDCE(g, nil)
	d.needAll(row.Outputs())
	d.block(row)
	d.sweep(row)
}

// insertBody inserts a copy of a body of a loop, and returns whether another round follows, and what it carries on.
func insertBody(g *ir.Graph, body *ir.Block, carried []*ir.Value) (again *ir.Value, next []*ir.Value) {
	copies := map[*ir.Value]*ir.Value{}
	for i, in := range body.Inputs()[1:] {
		copies[in] = carried[i]
	}
	lookup := func(v *ir.Value) *ir.Value {
		if mapped, ok := copies[v]; ok {
			return mapped
		}
		return v
	}
	for m := body.First(); m != nil; m = m.Next() {
		c := g.InsertNode(g.Clone(m, lookup))
		for i, out := range m.Outputs() {
			copies[out] = c.Outputs()[i]
		}
	}
	outputs := body.Outputs()
	next = make([]*ir.Value, len(outputs)-1)
	for i, out := range outputs[1:] {
		next[i] = lookup(out)
	}
	return lookup(outputs[0]), next
}

// inlineBody replaces a loop by one round of it.
func inlineBody(n *ir.Node) {
	g := n.Graph()
	old := g.SetInsertPoint(n)
	defer g.SetInsertPoint(old)
	_, results := insertBody(g, n.Blocks()[0], n.Inputs()[2:])
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(results[i])
	}
	g.SetInsertPoint(old)
	n.Destroy()
}

// unrollUnknown makes of a loop one of trips/8 rounds of eight bodies, and puts one of the trips that remain behind it.
func unrollUnknown(n *ir.Node) {
	g := n.Graph()
	old := g.SetInsertPoint(n)
	defer g.SetInsertPoint(old)
	rest := g.Clone(n, func(v *ir.Value) *ir.Value { return v }).InsertAfter(n)
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(rest.Outputs()[i])
		rest.ReplaceInput(i+2, out)
	}
	repeatBody(n, unrollFactor)
	trips := n.Input(0)
	rounds := calculate(g, aten.RoundToZeroFloordiv, ir.Arg(trips), number(unrollFactor))
	n.ReplaceInput(0, rounds)
	covered := calculate(g, aten.Mul, ir.Arg(rounds), number(unrollFactor))
	rest.ReplaceInput(0, calculate(g, aten.Sub, ir.Arg(trips), ir.Arg(covered)))
}

func number(n int64) ir.Argument { return ir.ConstArg(value.Int(n)) }

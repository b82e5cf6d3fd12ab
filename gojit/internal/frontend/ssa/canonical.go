package ssa

import (
	"math"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// CanonicalizeLoops rewrites each loop that has both a number of trips and a condition, which
// Python has no statement for, as one that has a condition alone and counts by itself.
func CanonicalizeLoops(g *ir.Graph) { canonicalizeBlock(g.Block()) }

func canonicalizeBlock(b *ir.Block) {
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			canonicalizeBlock(inner)
		}
		if n.Kind() == prim.Loop && hasTripsAndCondition(n) {
			canonicalizeLoop(n)
		}
	}
}

func isConstantTrue(v *ir.Value) bool {
	c, ok := v.Constant()
	return ok && c.Bool()
}

func hasTripsAndCondition(n *ir.Node) bool {
	body := n.Blocks()[0]
	if isConstantTrue(n.Input(1)) && isConstantTrue(body.Outputs()[0]) {
		return false
	}
	c, ok := n.Input(0).Constant()
	return !ok || c.Int() != math.MaxInt64 || body.Inputs()[0].HasUses()
}

func canonicalizeLoop(n *ir.Node) {
	g, body := n.Graph(), n.Blocks()[0]
	nowhere := source.Range{}
	must := func(v *ir.Value, err error) *ir.Value {
		source.Throw(err)
		return v
	}
	old := g.SetInsertPoint(n)
	zero := g.Constant(value.Int(0), nowhere)
	one := g.Constant(value.Int(1), nowhere)
	trips := n.Input(0)
	cond := must(g.Insert(aten.Gt, ir.Arg(trips), ir.Arg(zero)))
	n.ReplaceInput(0, g.Constant(value.Int(math.MaxInt64), nowhere))
	if !isConstantTrue(n.Input(1)) {
		cond = must(g.Insert(aten.And, ir.Arg(cond), ir.Arg(n.Input(1))))
	}
	n.ReplaceInput(1, cond)
	n.AddOutput().SetType(types.Int)
	g.SetInsertEnd(body)
	n.AddInput(zero)
	trip := body.AddInput("").SetType(types.Int)
	body.Inputs()[0].SetName("").ReplaceAllUsesWith(trip)
	next := must(g.Insert(aten.Add, ir.Arg(trip), ir.Arg(one)))
	body.AddOutput(next)
	more := must(g.Insert(aten.Lt, ir.Arg(next), ir.Arg(trips)))
	again := must(g.Insert(aten.And, ir.Arg(more), ir.Arg(body.Outputs()[0])))
	body.ReplaceOutput(0, again)
	g.SetInsertPoint(old)
}

package exec

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Facts are what callers have to know of code.
type Facts struct {
	// Brief says that the function has no loop and calls nothing: its time is known from its arguments.
	Brief bool
	// Light says that no operator of the code has to do with tensors: its time does not depend on their sizes.
	Light bool
	// Keeps says that the code may store arguments somewhere, or return tensors that something else holds.
	Keeps bool
}

// factsOf finds out about a function and the graph that runs for it.
func factsOf(definition, runs *ir.Graph) Facts {
	brief := isBrief(definition.Block(), 64)
	return Facts{Brief: brief, Light: brief && isLight(runs.Block()), Keeps: mayKeep(runs)}
}

// isLight reports whether no node of a block runs an operator that takes or gives a tensor.
func isLight(b *ir.Block) bool {
	isTensor := func(v *ir.Value) bool { return v.Type().Kind() == types.KindTensor }
	for n := b.First(); n != nil; n = n.Next() {
		if n.Operator() != nil && (slices.ContainsFunc(n.Inputs(), isTensor) || slices.ContainsFunc(n.Outputs(), isTensor)) {
			return false
		}
		for _, inner := range n.Blocks() {
			if !isLight(inner) {
				return false
			}
		}
	}
	return true
}

// mayKeep reports whether a graph may store its arguments somewhere, or return tensors that objects or the graph itself hold.
func mayKeep(g *ir.Graph) bool {
	for _, in := range g.Inputs() {
		switch in.Type().Kind() {
		case types.KindClass, types.KindInterface, types.KindAny, types.KindFuture, types.KindAwait:
			return true
		}
	}
	return blockKeeps(g.Block())
}

func blockKeeps(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		switch n.Kind() {
		case prim.Fork, prim.Awaitable, prim.PythonOp, prim.CallMethod, prim.CallFunction, prim.SetAttr:
			return true
		case prim.Constant:
			if v, ok := n.Output().Constant(); ok && v.Kind() >= value.KindTensor {
				return true
			}
		}
		for _, inner := range n.Blocks() {
			if blockKeeps(inner) {
				return true
			}
		}
	}
	return false
}

// isBrief reports whether a block has fewer than limit nodes and none that may take long.
func isBrief(b *ir.Block, limit int) bool {
	count := 0
	for n := b.First(); n != nil; n = n.Next() {
		count++
		switch n.Kind() {
		case prim.Loop, prim.CallFunction, prim.CallMethod, prim.PythonOp, aten.Wait, prim.AwaitableWait, prim.Fork:
			return false
		}
		for _, inner := range n.Blocks() {
			if !isBrief(inner, limit) {
				return false
			}
		}
	}
	return count < limit
}

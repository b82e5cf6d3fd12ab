package exec

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Facts are what callers have to know of code.
type Facts struct {
	// Brief says that the function has no loop and calls nothing: its time is known from its arguments.
	Brief bool
	// Keeps says that the code may store arguments somewhere, or return tensors that something else holds.
	Keeps bool
}

// factsOf finds out about a function and the graph that runs for it.
func factsOf(definition, runs *ir.Graph) Facts {
	return Facts{Brief: isBrief(definition.Block(), 64), Keeps: mayKeep(runs)}
}

// mayKeep reports whether a graph may store its arguments somewhere, or return tensors that objects or the graph itself hold.
func mayKeep(g *ir.Graph) bool {
	for _, in := range g.Inputs() {
		switch in.Type().Kind() {
		case types.KindClass, types.KindInterface, types.KindAny, types.KindFuture:
			return true
		}
	}
	return blockKeeps(g.Block())
}

func blockKeeps(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		switch n.Kind() {
		case "prim::fork", "prim::PythonOp", "prim::CallMethod", "prim::CallFunction", "prim::SetAttr":
			return true
		case "prim::Constant":
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
		case "prim::Loop", "prim::CallFunction", "prim::CallMethod", "prim::PythonOp", "aten::wait", "prim::fork":
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

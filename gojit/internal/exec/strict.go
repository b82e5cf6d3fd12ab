package exec

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes/tensorexpr"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// strictClass is the class of contexts in which all operators are expected to be in one group or differentiable graph.
const strictClass = "strict_fusion"

// checkStrict fails where operators in a context of torch.jit.strict_fusion are not in a group or differentiable graph, or in several.
func (j *job) checkStrict() (err error) {
	j.graph.Block().Walk(func(n *ir.Node) {
		if n.Kind() == prim.Enter && err == nil && isStrict(n.Input(0)) {
			err = checkContext(n)
		}
	})
	return err
}

func isStrict(v *ir.Value) bool {
	c, ok := v.Type().(*types.Class)
	return ok && (c.Name == strictClass || strings.HasSuffix(c.Name, "."+strictClass))
}

// checkContext looks at the nodes between a prim::Enter and its prim::Exit.
func checkContext(enter *ir.Node) error {
	var unfused, fused []*ir.Node
	for n := enter.Next(); n != nil && !(n.Kind() == prim.Exit && n.Input(0) == enter.Input(0)); n = n.Next() {
		switch {
		case isFused(n):
			fused = append(fused, n)
		case !isHarmless(n):
			unfused = append(unfused, n)
		}
	}
	var text strings.Builder
	switch {
	case len(fused) > 1:
		text.WriteString("\nFound multiple fusions: \n")
		for _, n := range fused {
			text.WriteString(n.String() + "\n")
		}
	case len(unfused) > 0:
		text.WriteString("\nFound unfused operators: \n")
		for _, n := range unfused {
			schema := ""
			if o := n.Operator(); o != nil {
				schema = o.Schema().String()
			}
			text.WriteString("\t" + schema + "\n")
		}
	default:
		return nil
	}
	return source.Errorf(source.RuntimeError, source.Range{}, "%s:\n%s", text.String(), enter.Input(0).Node().Range.Highlight())
}

// isFused reports whether a node is the choice between a group or differentiable graph and what runs where its guard fails.
func isFused(n *ir.Node) bool {
	return n.Kind() == prim.If && isGuard(n.Input(0).Node())
}

func isGuard(n *ir.Node) bool {
	return n.Is(prim.TypeCheck, guardKind, tensorexpr.AnySizeGuardKind)
}

// isHarmless reports whether a node computes nothing: it makes constants and containers, asks for all sizes of a tensor, or is a guard.
func isHarmless(n *ir.Node) bool {
	if o := n.Operator(); o != nil && o.Name == "aten::size.int" {
		return false
	}
	return isGuard(n) || n.Is(prim.Constant, prim.ListConstruct, prim.TupleConstruct, prim.TupleUnpack, prim.ListUnpack, prim.GetAttr,
		prim.CreateObject, prim.UncheckedCast, aten.Size, prim.BroadcastSizes)
}

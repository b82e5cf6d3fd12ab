package autodiff

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/composite"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// ForEngine differentiates a graph for an engine, which runs the gradient for real numbers: nothing is left in the gradient's graph that cannot run,
// and what is defined by elementwise operators alone is these, so that kernels have them.
func ForEngine(g *ir.Graph) (*Gradient, error) {
	d, err := Differentiate(g)
	if err != nil {
		return nil, err
	}
	Lower(d.DF)
	inlineDefinitions(d.DF)
	chooseZeros(d.DF)
	return d, nil
}

// inlineDefinitions puts the definitions of operators that have no kernel of their own in their places, where these are elementwise.
func inlineDefinitions(g *ir.Graph) {
	var found []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if o := n.Operator(); o != nil && o.Def().Name == "" && strings.HasPrefix(o.Name, "aten::") {
			found = append(found, n)
		}
	})
	for _, n := range found {
		f, err := composite.Function(strings.TrimPrefix(n.Operator().Name, "aten::"))
		if err != nil || f == nil || !isElementwise(f.Graph().Block()) || len(f.Graph().Inputs()) != len(n.Inputs()) {
			continue
		}
		old := g.SetInsertPoint(n)
		outs := g.InsertGraph(f.Graph(), n.Inputs())
		g.SetInsertPoint(old)
		for i, out := range n.Outputs() {
			out.ReplaceAllUsesWith(outs[i])
		}
		n.Destroy()
	}
	noComplex(g)
	if len(found) > 0 {
		passes.ConstantPropagation(g)
		passes.Peephole(g)
		passes.ConstantPooling(g)
		passes.DCE(g)
	}
}

// noComplex has nodes that ask for complex numbers say that there are none.
func noComplex(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == aten.IsComplex {
			old := g.SetInsertPoint(n)
			n.Output().ReplaceAllUsesWith(g.Constant(value.Bool(false), n.Range))
			g.SetInsertPoint(old)
		}
	})
}

// chooseZeros has nodes that choose between a tensor and zeros like it choose between it and the number.
//
//	%z = aten::zeros_like(%g, ..)
//	%y = aten::where(%c, %g, %z)     ->   %y = aten::where(%c, %g, %zero)
func chooseZeros(g *ir.Graph) {
	var choices []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == aten.Where && len(n.Inputs()) == 3 {
			choices = append(choices, n)
		}
	})
	for _, n := range choices {
		for i, other := range []int{2, 1} { // the zeros are the second choice or the first
			zeros := n.Input(other).Node()
			if zeros.Kind() != aten.ZerosLike || zeros.Input(0) != n.Input(1+i) {
				continue
			}
			old := g.SetInsertPoint(n)
			n.ReplaceInput(other, g.Constant(value.Int(0), n.Range))
			g.SetInsertPoint(old)
			break
		}
	}
	passes.DCE(g)
}

// isElementwise reports whether the nodes of a definition apply expressions to elements, or choose between such.
func isElementwise(b *ir.Block) bool {
	for n := b.First(); n != nil; n = n.Next() {
		o := n.Operator()
		switch {
		case n.Is(prim.Constant, prim.If, aten.IsComplex, aten.Conj):
		case o == nil || !o.Def().IsElementwise() && o.Def().Scalar == nil && o.Def().Groups == ops.NoGroups:
			return false
		}
		for _, inner := range n.Blocks() {
			if !isElementwise(inner) {
				return false
			}
		}
	}
	return true
}

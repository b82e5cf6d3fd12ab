package autodiff_test

import (
	"testing"

	"github.com/torchjit/torchjit/gojit"
	"github.com/torchjit/torchjit/gojit/internal/autodiff"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// call is a graph that calls an operator with its inputs and returns the results.
func call(o *ops.Operator) *ir.Graph {
	g := ir.NewGraph()
	var inputs []*ir.Value
	for _, a := range o.Schema().Arguments {
		inputs = append(inputs, g.AddInput(a.Name).SetType(a.Type))
	}
	n := g.InsertNode(g.Create(o.BaseName(), inputs, 0))
	for _, r := range o.Schema().Returns {
		g.AddOutput(n.AddOutput().SetType(r.Type))
	}
	return g
}

// TestDerivativesAreForGraphs: what differentiable graphs may hold has a derivative that needs to know no size, no dimension and no number.
func TestDerivativesAreForGraphs(t *testing.T) {
	gojit.LinkOperators()
	count := 0
	for _, base := range ops.Names() {
		for _, o := range ops.Overloads(base) {
			d := o.Def()
			if !o.IsFunctional() || !d.Has(ops.Grouped|ops.Symbolic) || d.Has(ops.Constant|ops.NotDifferentiable) || d.Grad == nil && d.Saving == "" {
				continue
			}
			count++
			made, err := autodiff.Differentiate(call(o))
			if err != nil {
				t.Errorf("%s: %v", o.Name, err)
				continue
			}
			made.DF.Block().Walk(func(n *ir.Node) {
				if n.Kind() == "prim::Constant" && !n.Output().HasUses() {
					t.Errorf("the gradient of %s has a constant that nothing uses", o.Name)
				}
			})
			if autodiff.Lower(made.DF); ir.Verify(made.DF) != nil {
				t.Errorf("%s: %v", o.Name, ir.Verify(made.DF))
			}
			if len(made.DFOutputVJPs) == 0 {
				t.Errorf("%s has no gradient", o.Name)
			}
		}
	}
	if count < 90 {
		t.Errorf("%d operators were differentiated", count)
	}
}

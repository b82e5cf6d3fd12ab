package freeze

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// fuseLinear is what products with transposed weights, and additions of biases to them, become: aten::linear of the weights that are
// transposed again. What is transposed twice is then taken as it was.
var fuseLinear = []rewriting{
	{from: `graph(%b, %x, %t, %beta, %alpha):
  %r = aten::addmm(%b, %x, %t, %beta, %alpha)
  return (%r)`, to: `graph(%b, %x, %t, %beta, %alpha):
  %w = aten::t(%t)
  %r = aten::linear(%x, %w, %b)
  return (%r)`, where: func(named func(string) *ir.Value) bool {
		return isOne(named("alpha")) && isOne(named("beta")) && isTransposed(named("t"))
	}},
	{from: `graph(%x, %t, %b, %alpha):
  %m = aten::matmul(%x, %t)
  %r = aten::add_(%m, %b, %alpha)
  return (%r)`, to: `graph(%x, %t, %b, %alpha):
  %w = aten::t(%t)
  %r = aten::linear(%x, %w, %b)
  return (%r)`, where: func(named func(string) *ir.Value) bool { return isOne(named("alpha")) && isTransposed(named("t")) }},
	{from: `graph(%x, %t):
  %r = aten::matmul(%x, %t)
  return (%r)`, to: `graph(%x, %t):
  %w = aten::t(%t)
  %b : Tensor? = prim::Constant()
  %r = aten::linear(%x, %w, %b)
  return (%r)`, where: func(named func(string) *ir.Value) bool { return isTransposed(named("t")) }},
	{from: `graph(%x, %w, %b):
  %t = aten::t(%w)
  %u = aten::t(%t)
  %r = aten::linear(%x, %u, %b)
  return (%r)`, to: `graph(%x, %w, %b):
  %r = aten::linear(%x, %w, %b)
  return (%r)`},
}

// isOne reports whether a value is the constant number one.
func isOne(v *ir.Value) bool {
	c, ok := v.Constant()
	return ok && value.EqualConstants(c, value.Int(1))
}

func isTransposed(v *ir.Value) bool { return v.Node().Kind() == aten.T }

// FuseLinear replaces products with transposed weights, and additions of biases to them, by
// aten::linear.
//
//	%t = aten::t(%w)
//	%y = aten::matmul(%x, %t)   -- becomes aten::linear(%x, %w, None)
func FuseLinear(g *ir.Graph) bool { return rewriteWhere(g, fuseLinear) }

// TransposeFrozenLinear replaces aten::linear with constant weights by a product with the
// transposed weights and an addition of the bias.
func TransposeFrozenLinear(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != aten.Linear || len(n.Inputs()) != 3 {
			return
		}
		weight := constantTensor(n.Input(1))
		if weight == nil || weight.Dim() != 2 {
			return
		}
		var k calculator
		transposed := k.run(aten.T, value.OfTensor(weight))
		if transposed != nil {
			transposed = k.run(aten.Contiguous, value.OfTensor(transposed), value.Int(0))
		}
		if transposed == nil {
			return
		}
		old := g.SetInsertPoint(n)
		defer g.SetInsertPoint(old)
		w := g.Constant(value.OfTensor(transposed), source.Range{})
		product := g.Create(aten.Matmul, []*ir.Value{n.Input(0), w}, 1)
		biased := !n.Input(2).MustBeNone()
		var one *ir.Value // before the product, as PyTorch has it
		if biased {
			one = g.Constant(value.Int(1), source.Range{})
		}
		result := g.InsertNode(product).SetRange(n.Range).Output()
		if biased {
			result = g.InsertNode(g.Create(aten.Add, []*ir.Value{result, n.Input(2), one}, 1)).SetRange(n.Range).Output()
		}
		n.Output().ReplaceAllUsesWith(result)
		n.Destroy()
		changed = true
	})
	return changed
}

// SwapFunctionalLinear replaces calls of functions that are called linear, as programs of older versions have them, by aten::linear.
func SwapFunctionalLinear(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != prim.CallFunction || len(n.Inputs()) != 4 {
			return
		}
		t, ok := n.Input(0).Type().(*types.Function)
		if !ok || t.Name != "linear" && !strings.HasSuffix(t.Name, ".linear") {
			return
		}
		made := g.Create(aten.Linear, n.Inputs()[1:], 1).SetRange(n.Range).InsertBefore(n)
		n.Output().ReplaceAllUsesWith(made.Output().CopyMetadata(n.Output()))
		n.Destroy()
		changed = true
	})
	if changed {
		passes.DCE(g)
	}
	return changed
}

// ReplicateDequantize gives each use of a tensor that aten::dequantize makes one of its own, so that patterns find it.
func ReplicateDequantize(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != aten.Dequantize || len(n.Output().Uses()) < 2 {
			return
		}
		for _, u := range slices.Clone(n.Output().Uses()) {
			made := g.Create(n.Kind(), n.Inputs(), 1).SetRange(n.Range).InsertBefore(u.User)
			made.Output().SetType(n.Output().Type())
			u.User.ReplaceInput(u.Index, made.Output())
		}
		n.Destroy()
		changed = true
	})
	return changed
}

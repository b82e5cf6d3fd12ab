package fuse

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// ConstantsToNumbers makes numbers of constant tensors without dimensions that are added to tensors, subtracted from them, or multiply or divide
// them, as PyTorch's executor does: they decide no element type then. It reports whether there was one.
//
//	%c : Double() = prim::Constant[value={2}]()
//	%y = aten::mul(%x, %c)   -- becomes aten::mul(%x, 2.)
func ConstantsToNumbers(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if number, ok := SecondNumber(n); ok {
			old := g.SetInsertPoint(n)
			n.ReplaceInput(1, g.Constant(number, source.Range{}))
			g.SetInsertPoint(old)
			changed = true
		}
	})
	return changed
}

// takesSecondNumber reports whether PyTorch's executor knows of an operator that a number may be its second operand: of those that Python calls
// with a tensor for it, the ones with an overload for either and no other names.
func takesSecondNumber(o *ops.Operator) bool {
	return o.Has(ops.WrapsNumbers) && !o.Schema().IsMutable() && ops.Find(o.BaseName()+".Tensor") != nil && ops.CanonicalName(o.BaseName()) == o.BaseName()
}

// SecondNumber is the number that the second operand of n stands for: a constant tensor without dimensions beside a tensor.
func SecondNumber(n *ir.Node) (number value.Value, ok bool) {
	if o := n.Operator(); o == nil || !takesSecondNumber(o) || len(n.Inputs()) < 2 || n.Input(0).Type().Kind() != types.KindTensor {
		return value.None, false
	}
	c, ok := n.Input(1).Constant()
	if !ok || !c.IsTensor() || c.Tensor().Dim() != 0 {
		return value.None, false
	}
	s, err := c.Tensor().Item()
	return value.OfScalar(s), err == nil
}

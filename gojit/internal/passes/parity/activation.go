package parity

import (
	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// InplaceToFunctionalActivation is RemoveTensorMutation for activations alone.
func InplaceToFunctionalActivation(g *ir.Graph) bool {
	return passes.RemoveMutationOf(g, func(n *ir.Node) *ir.Node {
		if !n.Operator().Def().Has(ops.Activation) {
			return nil
		}
		return passes.FunctionalNode(n)
	})
}

// FunctionalToInplaceActivation makes activations write their input where that is new memory of the graph that nothing
// else uses, so that they need none of their own.
//
//	%a = aten::add(%x, %y, %one)
//	%b = aten::relu(%a)          -- becomes aten::relu_; uses of %b become uses of %a
func FunctionalToInplaceActivation(g *ir.Graph) bool {
	db := alias.Analyze(g, alias.Options{})
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if !mayWriteInput(db, n) {
			return
		}
		made := g.Create(n.Kind()+"_", n.Inputs(), 1).SetRange(n.Range)
		if made.Operator() == nil {
			made.Destroy()
			return
		}
		made.InsertBefore(n)
		made.Output().SetType(n.Output().Type())
		n.Output().ReplaceAllUsesWith(n.Input(0))
		n.Destroy()
		changed = true
	})
	return changed
}

// mayWriteInput reports whether an activation may write what it reads: a tensor that a node of the graph makes for it alone.
func mayWriteInput(db *alias.Db, n *ir.Node) bool {
	o := n.Operator()
	if !o.Def().Has(ops.Activation) || !o.IsFunctional() || o.Def().Has(ops.ChangesType) && !sameKnownDType(n.Input(0), n.Output()) {
		return false
	}
	in := n.Input(0)
	maker := in.Node()
	if len(in.Uses()) != 1 || len(maker.Blocks()) > 0 || maker.Is(prim.Param, prim.Constant) || maker.HasSideEffects() {
		return false
	}
	return !db.MayContainAlias(maker.Inputs(), []*ir.Value{in})
}

func sameKnownDType(a, b *ir.Value) bool {
	x, ok := a.Type().(*types.TensorInfo)
	y, both := b.Type().(*types.TensorInfo)
	return ok && both && x.DType != "" && x.DType == y.DType
}

package parity

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Peephole is a peephole pass as PyTorch shows it: outputs that can only be None are changes each time, after which dead
// code goes.
func Peephole(g *ir.Graph, pass func(g *ir.Graph) bool) bool {
	changed := pass(g)
	g.Block().Walk(func(n *ir.Node) {
		isNone := func(v *ir.Value) bool { return v.Type().Kind() == types.KindNone }
		changed = changed || n.Kind() != prim.Constant && slices.ContainsFunc(n.Outputs(), isNone)
	})
	if changed {
		passes.DCE(g)
	}
	return changed
}

// DecomposeOps is passes.DecomposeOps that completes shapes and constants where it changed anything.
func DecomposeOps(g *ir.Graph) bool {
	if !passes.DecomposeOps(g) {
		return false
	}
	CompleteShapes(g, true)
	passes.ConstantPropagation(g)
	return true
}

// CompleteShapes is PropagateShapes that says of results what PyTorch's complete shape analysis says: of some operators, and of all that is
// computed from their results, the number of dimensions alone; of others whether gradients are required, as of their first argument, whose
// element type it gives them. Of tensors that resize_ or out= may resize it says nothing.
//
//	%y : Tensor = aten::relu(%x)     ->   %y : Float(*, *, requires_grad=0, device=cpu) = aten::relu(%x)
//	%y : Tensor = aten::mm(%x, %w)   ->   %y : Float(2, 4, strides=[4, 1], device=cpu) = aten::mm(%x, %w)
//
// With ranks it is asked for the numbers of dimensions alone, from which PyTorch learns a bit more of products.
func CompleteShapes(g *ir.Graph, ranks bool) {
	p := &shapes{memory: alias.Analyze(g, alias.Options{}), known: map[*ir.Value]value.Value{}, untyped: map[*ir.Value]bool{}}
	p.detail = &detail{vague: map[*ir.Value]bool{}, hidden: map[*ir.Value]bool{}, resized: resizedBy(g), ranks: ranks}
	for _, v := range g.Inputs() {
		if p.mayBeResized(v) {
			p.detail.hidden[v] = true
			v.SetType(types.Unshaped(v.Type()))
		}
	}
	p.parameters(g.Inputs())
	p.block(g.Block())
}

// detail is what CompleteShapes keeps besides what is known.
type detail struct {
	vague   map[*ir.Value]bool // tensors of which the number of dimensions alone is told
	hidden  map[*ir.Value]bool // tensors of which nothing is told
	resized []*ir.Value        // tensors that an operator may resize
	ranks   bool
}

// resizedBy lists the tensors that operators of a graph may resize.
func resizedBy(g *ir.Graph) (found []*ir.Value) {
	g.Block().Walk(func(n *ir.Node) {
		o := n.Operator()
		switch {
		case o.Has(ops.Resizes):
			found = append(found, n.Input(0))
		case o != nil:
			for i, a := range o.Schema().Arguments {
				if a.Name == "out" && a.IsOut() && i < len(n.Inputs()) {
					found = append(found, n.Input(i))
				}
			}
		}
	})
	return found
}

func (p *shapes) mayBeResized(v *ir.Value) bool {
	return v.Type().Kind() == types.KindTensor && slices.ContainsFunc(p.detail.resized, func(r *ir.Value) bool { return p.memory.MayAlias(r, v) })
}

// describe is what is told of a result: the type t, or less.
func (p *shapes) describe(v *ir.Value, t *types.TensorInfo) *types.TensorInfo {
	n := v.Node()
	p.detail.hidden[v] = !isAnalyzed(n) || p.mayBeResized(v) || slices.ContainsFunc(n.Inputs(), func(in *ir.Value) bool { return p.detail.hidden[in] })
	if p.detail.hidden[v] {
		return &types.TensorInfo{}
	}
	told := *t
	for _, in := range n.Inputs() {
		if in.Type().Kind() == types.KindTensor {
			p.detail.vague[v] = p.detail.vague[v] || p.detail.vague[in]
		}
	}
	if (n.Has(ops.RankAlone) || len(n.Outputs()) > 1 && strings.HasPrefix(n.Kind(), "aten::")) && len(told.Sizes) > 0 {
		p.detail.vague[v] = true
	}
	if n.Has(ops.SameGradient|ops.SameGradientOfNumber) || p.detail.ranks && n.Is(aten.Mm) {
		if first, ok := n.Input(0).Type().(*types.TensorInfo); ok {
			told.RequiresGrad = first.RequiresGrad
			if n.Has(ops.SameGradient) && len(n.Outputs()) == 1 && first.DType != "" && !choosesElementType(n) {
				told.DType = first.DType
			}
		}
	}
	if n.Is(aten.Cat) && n.Input(0).Node().Is(prim.ListConstruct) && len(n.Input(0).Node().Inputs()) > 0 {
		if first, ok := n.Input(0).Node().Input(0).Type().(*types.TensorInfo); ok {
			told.RequiresGrad = first.RequiresGrad
		}
	}
	if n.Is(aten.Detach, aten.Nonzero) {
		off := false
		told.RequiresGrad = &off
	}
	if p.detail.vague[v] {
		told.Sizes, told.Strides = nil, nil
	}
	return &told
}

// choosesElementType reports whether the element type of a node's result is that of another tensor, or of an argument.
func choosesElementType(n *ir.Node) bool {
	at := n.Operator().Schema().ArgumentIndex("dtype")
	return n.Is(aten.TypeAs) || at >= 0 && !n.Input(at).MustBeNone()
}

// isAnalyzed reports whether PyTorch's analysis knows anything of the results of a node.
func isAnalyzed(n *ir.Node) bool {
	o := n.Operator()
	return o == nil || !strings.HasPrefix(n.Kind(), "aten::") || n.Has(ops.RankAlone|ops.SameGradient|ops.SameGradientOfNumber|ops.Analyzed) ||
		n.Is(aten.Detach, aten.Nonzero)
}

// describeRank tells of the result of an operator that refuses its tensors what the first of them says but for the sizes.
func (p *shapes) describeRank(n *ir.Node) {
	if !n.Has(ops.KeepsRank) || len(n.Outputs()) != 1 || p.mayBeResized(n.Output()) {
		return
	}
	if first, ok := n.Input(0).Type().(*types.TensorInfo); ok && first.DType != "" && first.Dims != nil && !p.detail.hidden[n.Input(0)] {
		t := &types.TensorInfo{DType: first.DType, Device: first.Device, Dims: first.Dims}
		if n.Has(ops.SameGradient) {
			t.RequiresGrad = first.RequiresGrad
		}
		n.Output().SetType(t)
	}
}

// describePartly tells of a result what is known of an argument whose sizes are not: its element type and device.
func (p *shapes) describePartly(n *ir.Node) {
	if len(n.Inputs()) == 0 || len(n.Outputs()) != 1 || !n.Has(ops.SameGradient) || n.Output().Type().Kind() != types.KindTensor {
		return
	}
	if first, ok := n.Input(0).Type().(*types.TensorInfo); ok && first.DType != "" && !p.mayBeResized(n.Output()) {
		n.Output().SetType(&types.TensorInfo{DType: first.DType, Device: first.Device, RequiresGrad: first.RequiresGrad})
	}
}

// describeUnknown tells of operators whose results have sizes that follow from elements how many dimensions there are.
func (p *shapes) describeUnknown(n *ir.Node) {
	ranks := map[string]int{aten.MaskedSelect: 1, aten.Nonzero: 2}
	dims, ok := ranks[n.Kind()]
	first, isTensor := n.Input(0).Type().(*types.TensorInfo)
	if !ok || !isTensor || first.DType == "" {
		return
	}
	t := &types.TensorInfo{DType: first.DType, Device: first.Device, Dims: &dims}
	if n.Is(aten.Nonzero) {
		t.DType = "int64"
	}
	n.Output().SetType(p.describe(n.Output(), t))
}

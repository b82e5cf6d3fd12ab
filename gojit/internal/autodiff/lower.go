package autodiff

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// Lower makes a graph of gradients, as Differentiate gives, one of operators and choices, which runs. It reports whether it changed
// anything. An undefined gradient is None.
//
//	%y = prim::GradOf[name="aten::exp"](%x)     %some : bool = prim::AutogradAnyNonZero(%x)
//	  block0():                                  %y = prim::If(%some)
//	    %z = aten::mul(%x, %r)             ->      block0():
//	    -> (%z)                                      %z = aten::mul(%x, %r)
//	                                                 -> (%z)
//	                                               block1():
//	                                                 %zero = prim::AutogradZero()
//	                                                 -> (%zero)
func Lower(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		switch n.Kind() {
		case gradOfKind:
			lowerGradOf(n)
		case addKind:
			lowerAdd(n)
		default:
			return
		}
		changed = true
	})
	return changed
}

// choose puts a prim::If before n, with as many outputs as n, whose condition is an operator of values.
func choose(n *ir.Node, condition string, of ...*ir.Value) (choice *ir.Node, yes, no *ir.Block) {
	g := n.Graph()
	test := g.Create(condition, of, 1).InsertBefore(n)
	test.Output().SetType(types.Bool)
	choice = g.Create(prim.If, []*ir.Value{test.Output()}, len(n.Outputs())).InsertBefore(n)
	return choice, choice.AddBlock(), choice.AddBlock()
}

// become has the users of n's outputs use those of another node, and removes n.
func become(n, other *ir.Node) {
	for i, out := range n.Outputs() {
		out.ReplaceAllUsesWith(other.Outputs()[i].CopyMetadata(out))
	}
	n.Destroy()
}

func lowerGradOf(n *ir.Node) {
	choice, yes, no := choose(n, prim.AutogradAnyNonZero, n.Inputs()...)
	body := n.Blocks()[0]
	for _, m := range body.Nodes() {
		m.MoveBefore(yes.ReturnNode())
	}
	for _, v := range body.Outputs() {
		yes.AddOutput(v)
		zero := no.Append(n.Graph().Create(zeroKind, nil, 1))
		no.AddOutput(zero.Output().SetType(v.Type()))
	}
	become(n, choice)
}

// lowerAdd makes a sum of what are tensors, and else gives the one that is a tensor, if any.
func lowerAdd(n *ir.Node) {
	g := n.Graph()
	a, b := n.Input(0), n.Input(1)
	choice, yes, no := choose(n, prim.AutogradAllNonZero, a, b)
	one := no.Append(g.Create(prim.AutogradAnyNonZero, []*ir.Value{a}, 1))
	one.Output().SetType(types.Bool)
	either := no.Append(g.Create(prim.If, []*ir.Value{one.Output()}, 1))
	either.AddBlock().AddOutput(a)
	either.AddBlock().AddOutput(b)
	no.AddOutput(either.Output())
	old := g.SetInsertEnd(yes)
	defer g.SetInsertPoint(old)
	if sum, err := g.Insert(aten.Add, ir.Arg(a), ir.Arg(b)); err == nil {
		yes.AddOutput(sum)
	}
	become(n, choice)
}

// RemoveZeros has sums with a gradient that is undefined be the other summand, and makes sums of parameters of the graph plain ones. It
// reports whether it changed anything.
func RemoveZeros(g *ir.Graph) bool {
	changed := false
	isZero := func(v *ir.Value) bool { return v.Node().Kind() == zeroKind }
	isGiven := func(v *ir.Value) bool { return v.Node() == g.Block().ParamNode() }
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != addKind {
			return
		}
		is := n.Input(0)
		switch {
		case isZero(is):
			is = n.Input(1)
		case isZero(n.Input(1)):
		case isGiven(is) && isGiven(n.Input(1)):
			old := g.SetInsertPoint(n)
			sum, err := g.Insert(aten.Add, ir.Arg(is), ir.Arg(n.Input(1)))
			g.SetInsertPoint(old)
			if err != nil {
				return
			}
			is = sum
		default:
			return
		}
		n.Output().ReplaceAllUsesWith(is)
		n.Destroy()
		changed = true
	})
	return changed
}

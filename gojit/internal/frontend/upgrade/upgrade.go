// Package upgrade gives operators in archives of older versions the meaning that they had then.
package upgrade

import (
	"strconv"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// The versions of archives from which on an operator means what it means now. Version 0 is no archive.
const (
	fullVersion  = 5 // aten::full gives the type of its value; floats before
	stepsVersion = 9 // linspace and logspace need the number of steps; it was 100 before where it was left out
)

// Graph makes operators that an archive of an older version uses do what they did then.
func Graph(g *ir.Graph, version int) {
	if version == 0 || version >= fullVersion {
		return
	}
	var nodes []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if meansSince(n.Kind()) > version {
			nodes = append(nodes, n)
		}
	})
	for _, n := range nodes {
		old := g.SetInsertPoint(n)
		switch {
		case meansSince(n.Kind()) == fullVersion:
			upgradeFull(n)
		case isPlainDivision(n):
			upgradeDivision(n)
		}
		g.SetInsertPoint(old)
	}
}

// meansSince returns the version of archives from which on an operator means what it means now, 0 where it always did.
func meansSince(kind string) int {
	since, _ := ops.FactOf(kind, "since")
	version, _ := strconv.Atoi(since)
	return version
}

// upgradeFull makes the value a float where no type is given.
func upgradeFull(n *ir.Node) {
	o := n.Operator()
	if o == nil {
		return
	}
	dtype := o.Schema().ArgumentIndex("dtype")
	if dtype >= 0 && !n.Input(dtype).MustBeNone() {
		return
	}
	g := n.Graph()
	fill := g.InsertNode(g.Create(aten.Float, []*ir.Value{n.Input(1)}, 1).SetRange(n.Range)).Output()
	n.ReplaceInput(1, fill.SetType(types.Float))
}

// isPlainDivision reports whether a division has no rounding mode. The others mean what they meant before.
func isPlainDivision(n *ir.Node) bool {
	o := n.Operator()
	return o != nil && n.Input(0).Type().Kind() == types.KindTensor && o.Schema().ArgumentIndex("rounding_mode") < 0
}

// upgradeDivision makes a division of integers, or into integers where it has an out=, drop the fraction, as versions before 4 did.
func upgradeDivision(n *ir.Node) {
	g := n.Graph()
	self, other := n.Input(0), n.Input(1)
	test := func(kind string, t types.Type, in ...*ir.Value) *ir.Value {
		return g.InsertNode(g.Create(kind, in, 1).SetRange(n.Range)).Output().SetType(t)
	}
	isFloat := test(aten.IsFloatingPoint, types.Bool, self)
	switch other.Type().Kind() {
	case types.KindFloat, types.KindComplex:
		return
	case types.KindTensor:
		isFloat = test(aten.Or, types.Bool, isFloat, test(aten.IsFloatingPoint, types.Bool, other))
	case types.KindNumber:
		number := g.InsertNode(g.CreateIsInstance(other, []types.Type{types.Float}).SetRange(n.Range)).Output()
		isFloat = test(aten.Or, types.Bool, isFloat, number)
	}
	out := n.Inputs()[2:]
	for _, o := range out {
		isFloat = test(aten.Or, types.Bool, isFloat, test(aten.IsFloatingPoint, types.Bool, o))
	}
	branch := g.InsertNode(g.Create(prim.If, []*ir.Value{isFloat}, 1).SetRange(n.Range))
	for i := range 2 {
		b := branch.AddBlock()
		outer := g.SetInsertEnd(b)
		inputs := []*ir.Value{self, other}
		if i == 1 {
			inputs = append(inputs, g.Constant(value.Str("trunc"), n.Range))
		}
		inputs = append(inputs, out...)
		d := g.InsertNode(g.Create(n.Kind(), inputs, 1).SetRange(n.Range))
		b.AddOutput(d.Output().SetType(n.Output().Type()))
		g.SetInsertPoint(outer)
	}
	branch.Output().CopyMetadata(n.Output())
	n.Output().ReplaceAllUsesWith(branch.Output())
	n.Destroy()
}

// Text gives calls of linspace and logspace in an archive of an older version the number of steps that
// they had where it was left out.
func Text(t *syntax.Tree, version int) {
	if version == 0 || version >= stepsVersion {
		return
	}
	for _, child := range t.Children {
		if child != nil {
			Text(child, version)
		}
	}
	if t.Kind != syntax.KindApply {
		return
	}
	a := syntax.AsApply(t)
	name, ok := dottedCallee(a.Callee())
	if !ok || name != "torch.linspace" && name != "torch.logspace" {
		return
	}
	inputs := a.Inputs()
	steps := syntax.NewConst(t.Range, "100").Tree
	switch {
	case len(inputs) == 2:
		inputs = append(append([]syntax.Expr{}, inputs...), steps)
	case len(inputs) > 2 && inputs[2].Kind == syntax.KindNone:
		inputs = append([]syntax.Expr{}, inputs...)
		inputs[2] = steps
	default:
		return
	}
	for _, attribute := range a.Attributes() {
		if attribute.Name().Name() == "steps" {
			return
		}
	}
	*t = *syntax.NewApply(t.Range, a.Callee(), inputs, a.Attributes()).Tree
}

// dottedCallee returns "torch.linspace" for the tree that it is.
func dottedCallee(e syntax.Expr) (string, bool) {
	switch e.Kind {
	case syntax.KindVar:
		return syntax.AsVar(e).Name().Name(), true
	case syntax.KindSelect:
		s := syntax.AsSelect(e)
		base, ok := dottedCallee(s.Value())
		return base + "." + s.Selector().Name(), ok
	}
	return "", false
}

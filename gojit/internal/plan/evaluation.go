package plan

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// SplitEvaluation gives a graph of convolutions whose branches hang on the attributes "training" of modules a second body, for calls where all
// of these are false: there the branches are gone, and the operators on images follow each other. Which of them runs is decided at the start of
// each call, from the attributes as they are then.
//
//	%t = prim::GetAttr[name="training"](%norm)      %t = prim::GetAttr[name="training"](%norm)
//	%y = prim::If(%t) ...                     ->    %z = prim::If(%t)
//	return (%z)                                       block0(): %y = prim::If(%t) ...
//	                                                  block1(): the same without branches
func SplitEvaluation(g *ir.Graph) bool {
	flags, ok := trainingFlags(g)
	if !ok || len(flags) == 0 {
		return false
	}
	evaluation := g.Copy()
	copied, _ := trainingFlags(evaluation)
	for _, all := range copied {
		for _, n := range all {
			old := evaluation.SetInsertPoint(n)
			no := evaluation.Constant(value.Bool(false), n.Range)
			evaluation.SetInsertPoint(old)
			n.Output().ReplaceAllUsesWith(no)
		}
	}
	simplify(evaluation)

	first := g.Block().First()
	general := g.Block().Nodes()
	var any *ir.Value
	for _, all := range flags {
		flag := copyChain(g, all[0].Output(), first)
		if any == nil {
			any = flag
			continue
		}
		any = g.Create("aten::__or__", []*ir.Value{any, flag}, 1).InsertBefore(first).Output().SetType(types.Bool)
	}
	branch := g.Create("prim::If", []*ir.Value{any}, 0).InsertBefore(g.Block().ReturnNode())
	train, evaluate := branch.AddBlock(), branch.AddBlock()
	for _, n := range general {
		n.MoveBefore(train.ReturnNode())
	}
	old := g.SetInsertEnd(evaluate)
	results := g.InsertGraph(evaluation, g.Inputs())
	g.SetInsertPoint(old)
	for i, v := range g.Outputs() {
		train.AddOutput(v)
		evaluate.AddOutput(results[i])
		out := branch.AddOutput().SetType(v.Type())
		g.Block().ReplaceOutput(i, out)
	}
	return true
}

// trainingFlags returns the nodes that read attributes "training" which decide branches, by the paths from the graph's first argument. ok is
// false where the graph has too few convolutions for a plan, where it may change such an attribute, or where something unknown runs in it.
func trainingFlags(g *ir.Graph) (flags [][]*ir.Node, ok bool) {
	at, convolutions, decides := map[string]int{}, 0, false
	ok = true
	g.Block().Walk(func(n *ir.Node) {
		switch n.Kind() {
		case "prim::CallFunction", "prim::CallMethod", "prim::PythonOp", "prim::fork", "aten::wait":
			ok = false
		case "prim::SetAttr":
			ok = ok && n.StringAttr("name") != "training"
		case "prim::GetAttr":
			path, known := pathOf(g, n.Output())
			if n.StringAttr("name") != "training" || n.Output().Type().Kind() != types.KindBool || !known {
				return
			}
			for _, u := range n.Output().Uses() {
				decides = decides || u.User.Kind() == "prim::If"
			}
			i, seen := at[path]
			if !seen {
				i = len(flags)
				at[path] = i
				flags = append(flags, nil)
			}
			flags[i] = append(flags[i], n)
		case "aten::conv2d", "aten::_convolution":
			convolutions++
		}
	})
	return flags, ok && decides && convolutions >= fewestProducts
}

// pathOf returns the names of the attributes that lead from the graph's first argument to a value.
func pathOf(g *ir.Graph, v *ir.Value) (string, bool) {
	var names []string
	for v.Node().Kind() == "prim::GetAttr" {
		names = append(names, v.Node().StringAttr("name"))
		v = v.Node().Input(0)
	}
	return strings.Join(names, "."), len(g.Inputs()) > 0 && v == g.Inputs()[0]
}

// copyChain reads what v reads, from the graph's first argument, before a node.
func copyChain(g *ir.Graph, v *ir.Value, before *ir.Node) *ir.Value {
	n := v.Node()
	if n.Kind() != "prim::GetAttr" {
		return v
	}
	object := copyChain(g, n.Input(0), before)
	return g.CreateGetAttr(object, n.StringAttr("name")).InsertBefore(before).Output().SetType(v.Type())
}

// simplify removes the branches that constants decide.
func simplify(g *ir.Graph) {
	for changed := true; changed; {
		changed = passes.ConstantPropagationImmutableTypes(g)
		changed = passes.Peephole(g) || changed
	}
	passes.CSE(g)
	passes.DCE(g)
}

// FoldRanks answers what a graph asks of the number of dimensions of images: how long lists of their sizes, and the ends of these, are. What a
// convolution in two dimensions gives has three or four. Loops over such lists become their rounds.
//
//	%s = aten::size(%image)
//	%n = aten::len(%s)                      ->   %b = prim::Constant[value=0]()
//	%b = aten::le(%n, %two)
func FoldRanks(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if c, ok := rankAnswer(n); ok {
			old := g.SetInsertPoint(n)
			known := g.Constant(c, n.Range)
			g.SetInsertPoint(old)
			n.Output().ReplaceAllUsesWith(known)
			changed = true
		}
	})
	if changed {
		simplify(g)
	}
	return changed
}

// rankAnswer returns what a node is known to give.
func rankAnswer(n *ir.Node) (value.Value, bool) {
	if len(n.Outputs()) != 1 || !n.Output().HasUses() {
		return value.None, false
	}
	switch n.Kind() {
	case "aten::le":
		limit, known := n.Input(1).Constant()
		length := n.Input(0).Node()
		if known && limit.IsInt() && length.Kind() == "aten::len" && leastLength(length.Input(0)) > int(limit.Int()) {
			return value.Bool(false), true
		}
	case "prim::min": // of a list of lengths
		return leastOf(n.Input(0).Node())
	case "aten::len":
		slice := n.Input(0).Node()
		if slice.Kind() != "aten::slice" || len(slice.Inputs()) != 4 {
			return value.None, false
		}
		start, known := slice.Input(1).Constant()
		end, knownEnd := slice.Input(2).Constant()
		step, knownStep := slice.Input(3).Constant()
		if known && knownEnd && knownStep && start.IsInt() && start.Int() < 0 && end.IsNone() && step.IsInt() && step.Int() == 1 && leastLength(slice.Input(0)) >= -int(start.Int()) {
			return value.Int(-start.Int()), true
		}
	}
	return value.None, false
}

// leastOf returns the least of a list of constants that is made for that alone.
func leastOf(list *ir.Node) (value.Value, bool) {
	if list.Kind() != "prim::ListConstruct" || len(list.Inputs()) == 0 || len(list.Output().Uses()) != 1 {
		return value.None, false
	}
	var least value.Value
	for i, v := range list.Inputs() {
		c, known := v.Constant()
		if !known || !c.IsInt() {
			return value.None, false
		}
		if i == 0 || c.Int() < least.Int() {
			least = c
		}
	}
	return least, true
}

// leastLength returns how many sizes there are at least in a list, 0 where that is not known.
func leastLength(v *ir.Value) int {
	if v.Node().Kind() != "aten::size" || len(v.Node().Inputs()) != 1 {
		return 0
	}
	return leastRank(v.Node().Input(0))
}

// leastRank returns how many dimensions a tensor has at least, 0 where that is not known.
func leastRank(v *ir.Value) int {
	for range 64 {
		n := v.Node()
		if n.Operator() == nil {
			return 0
		}
		switch kindOf(n) {
		case convolution:
			return 3
		case normalization, pointwise:
			v = n.Input(0)
		default:
			return 0
		}
	}
	return 0
}

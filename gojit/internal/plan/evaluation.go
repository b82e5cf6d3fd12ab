package plan

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// SplitEvaluation gives a graph of convolutions whose branches hang on the attributes "training" of modules, or on the number of dimensions of
// images, a second body, for calls where all of these attributes are false and images have four dimensions: there the branches are gone, and the
// operators on images follow each other. Which of them runs is decided at the start of each call, from the attributes and images as they are then.
//
//	%t = prim::GetAttr[name="training"](%norm)      %t = prim::GetAttr[name="training"](%norm)
//	%y = prim::If(%t) ...                     ->    %z = prim::If(%t)
//	return (%z)                                       block0(): %y = prim::If(%t) ...
//	                                                  block1(): the same without branches
func SplitEvaluation(g *ir.Graph) bool {
	flags, ok := trainingFlags(g)
	if !ok || len(flags) == 0 && !asksForRanks(g) {
		return false
	}
	evaluation := g.Copy()
	copied, _ := trainingFlags(evaluation)
	for _, all := range copied {
		for _, n := range all {
			answer(n, value.Bool(false))
		}
	}
	simplify(evaluation)
	images := rankedImages(evaluation)
	if len(flags)+len(images) == 0 {
		return false
	}
	for len(images) > 0 && foldExactRanks(evaluation, images) {
		simplify(evaluation)
		if passes.UnrollConstantLoops(evaluation) { // over as many sizes as there are dimensions
			passes.RemoveListMutation(evaluation)
			simplify(evaluation)
		}
	}

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
	for _, i := range images {
		old := g.SetInsertPoint(first)
		rank := g.Create("aten::dim", []*ir.Value{g.Inputs()[i]}, 1).InsertBefore(first).Output().SetType(types.Int)
		four := g.Constant(value.Int(imageRank), first.Range)
		g.SetInsertPoint(old)
		other := g.Create("aten::ne", []*ir.Value{rank, four}, 1).InsertBefore(first).Output().SetType(types.Bool)
		if any != nil {
			other = g.Create("aten::__or__", []*ir.Value{any, other}, 1).InsertBefore(first).Output().SetType(types.Bool)
		}
		any = other
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

// answer has a value that a node gives be a constant.
func answer(n *ir.Node, known value.Value) {
	g := n.Graph()
	old := g.SetInsertPoint(n)
	c := g.Constant(known, n.Range)
	g.SetInsertPoint(old)
	n.Output().ReplaceAllUsesWith(c)
}

// asksForRanks reports whether a graph asks how many dimensions a tensor has.
func asksForRanks(g *ir.Graph) bool {
	found := false
	g.Block().Walk(func(n *ir.Node) { found = found || n.Kind() == "aten::dim" })
	return found
}

// imageRank is the number of dimensions of images with a batch.
const imageRank = 4

// rankedImages returns the inputs of a graph that convolutions read, where branches hang on the number of dimensions of what is computed of them.
func rankedImages(g *ir.Graph) (inputs []int) {
	ranks := map[*ir.Value]int{}
	for i, v := range g.Inputs() {
		if isTensor(v) && slices.ContainsFunc(v.Uses(), func(u ir.Use) bool { return u.Index == 0 && kindOf(u.User) == convolution }) {
			ranks[v] = imageRank
			inputs = append(inputs, i)
		}
	}
	decides := false
	g.Block().Walk(func(n *ir.Node) {
		decides = decides || n.Kind() == "aten::dim" && n.Output().HasUses() && exactRank(n.Input(0), ranks) > 0
	})
	if !decides {
		return nil
	}
	return inputs
}

// foldExactRanks answers how many dimensions values have, where some inputs of the graph are images.
func foldExactRanks(g *ir.Graph, images []int) bool {
	changed, ranks := false, map[*ir.Value]int{}
	for _, i := range images {
		ranks[g.Inputs()[i]] = imageRank
	}
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() != "aten::dim" || !n.Output().HasUses() {
			return
		}
		if rank := exactRank(n.Input(0), ranks); rank > 0 {
			answer(n, value.Int(int64(rank)))
			changed = true
		}
	})
	return changed
}

// exactRank returns how many dimensions a tensor has where that follows from what is known, which it adds to; else 0.
func exactRank(v *ir.Value, ranks map[*ir.Value]int) int {
	if rank, known := ranks[v]; known {
		return rank
	}
	ranks[v] = 0 // as long as that is found out
	n := v.Node()
	if n.Kind() == "prim::ListConstruct" || len(n.Inputs()) == 0 {
		return 0
	}
	switch kindOf(n) {
	case convolution, normalization, windowed:
		if n.Kind() != "aten::mean" {
			ranks[v] = exactRank(n.Input(0), ranks)
		}
	case pointwise:
		ranks[v] = commonRank(slices.DeleteFunc(slices.Clone(n.Inputs()), func(in *ir.Value) bool { return !isTensor(in) }), ranks)
	case joined:
		if list := n.Input(0).Node(); list.Kind() == "prim::ListConstruct" {
			ranks[v] = commonRank(list.Inputs(), ranks)
		}
	}
	return ranks[v]
}

// commonRank returns the number of dimensions that all of some tensors have, 0 where that is not known.
func commonRank(tensors []*ir.Value, ranks map[*ir.Value]int) int {
	rank := 0
	for i, v := range tensors {
		one := exactRank(v, ranks)
		if one == 0 || i > 0 && one != rank {
			return 0
		}
		rank = one
	}
	return rank
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
	if !decides {
		flags = nil
	}
	return flags, ok && convolutions >= fewestProducts
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
			answer(n, c)
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

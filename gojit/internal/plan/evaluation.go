package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// SplitEvaluation gives a graph of convolutions whose branches hang on attributes of modules, or on the number of dimensions of images, a second body,
// for calls where all attributes "training" are false, other bools are what they are now in self, the graph's first argument, and images have four
// dimensions: there the branches are gone, and the operators on images follow each other. Which of them runs is decided at the start of each call, from the
// attributes and images as they are then. Where self is nil, other bools are read by both.
//
//	%t = prim::GetAttr[name="training"](%norm)      %t = prim::GetAttr[name="training"](%norm)
//	%y = prim::If(%t) ...                     ->    %z = prim::If(%t)
//	return (%z)                                       block0(): %y = prim::If(%t) ...
//	                                                  block1(): the same without branches
func SplitEvaluation(g *ir.Graph, self *value.Object) bool {
	flags, ok := flagsOf(g, self)
	if !ok || len(flags) == 0 && !asksForRanks(g) {
		return false
	}
	evaluation := g.Copy()
	copied, _ := flagsOf(evaluation, self)
	for i, f := range copied {
		for _, n := range f.reads {
			answer(n, value.Bool(flags[i].expected)) // not what another thread has set since
		}
	}
	simplify(evaluation)
	FoldRanks(evaluation)
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
	for _, f := range flags {
		flag := copyChain(g, f.reads[0].Output(), first)
		if f.expected {
			flag = g.Create("aten::__not__", []*ir.Value{flag}, 1).InsertBefore(first).Output().SetType(types.Bool)
		}
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
	g.Block().Walk(func(n *ir.Node) { found = found || ranked(n) != nil })
	return found
}

// ranked returns the tensor whose number of dimensions a node gives, nil for other nodes.
func ranked(n *ir.Node) *ir.Value {
	switch n.Kind() {
	case "aten::dim":
		return n.Input(0)
	case "aten::len":
		return sized(n.Input(0))
	}
	return nil
}

// sized returns the tensor whose sizes are in a list as long as that lives, nil for other lists.
func sized(list *ir.Value) *ir.Value {
	if n := list.Node(); n.Kind() == "aten::size" && len(n.Inputs()) == 1 && isNeverWritten(list) {
		return n.Input(0)
	}
	return nil
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
		v := ranked(n)
		decides = decides || v != nil && n.Output().HasUses() && exactRank(v, ranks) > 0
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
		v := ranked(n)
		if v == nil || !n.Output().HasUses() {
			return
		}
		if rank := exactRank(v, ranks); rank > 0 {
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

// flag is a bool attribute that a graph reads, and what the second body takes it for.
type flag struct {
	path     []string // the attributes that lead to it from the graph's first argument
	reads    []*ir.Node
	expected bool
}

// flagsOf returns the attributes that the second body knows, none where no branch hangs on one. ok is false where the graph has too few convolutions
// for a plan, where it may change such an attribute or an object on the way to it, or where something unknown runs in it.
func flagsOf(g *ir.Graph, self *value.Object) (flags []flag, ok bool) {
	at, convolutions, decides, written := map[string]int{}, 0, false, map[string]bool{}
	ok = true
	g.Block().Walk(func(n *ir.Node) {
		switch n.Kind() {
		case "prim::CallFunction", "prim::CallMethod", "prim::PythonOp", "prim::fork", "aten::wait":
			ok = false
		case "prim::SetAttr":
			written[n.StringAttr("name")] = true
		case "prim::GetAttr":
			path, known := pathOf(g, n.Output())
			if !known || n.Output().Type().Kind() != types.KindBool {
				return
			}
			key := strings.Join(path, ".")
			i, seen := at[key]
			if !seen {
				expected, known := expectedOf(self, path)
				if !known {
					return
				}
				i = len(flags)
				at[key] = i
				flags = append(flags, flag{path: path, expected: expected})
			}
			flags[i].reads = append(flags[i].reads, n)
			for _, u := range n.Output().Uses() {
				decides = decides || u.User.Kind() == "prim::If" || u.User.Kind() == "aten::__not__"
			}
		case "aten::conv2d", "aten::_convolution":
			convolutions++
		}
	})
	for _, f := range flags { // what is read behind a write on the way is another object's
		ok = ok && !slices.ContainsFunc(f.path, func(name string) bool { return written[name] })
	}
	if !decides {
		flags = nil
	}
	return flags, ok && convolutions >= fewestProducts
}

// expectedOf returns what a bool attribute, the last of a path of attributes from an object on, is taken for; known is false where nothing tells.
func expectedOf(self *value.Object, path []string) (expected, known bool) {
	last := len(path) - 1
	if path[last] == "training" {
		return false, true
	}
	if self == nil {
		return false, false
	}
	for _, name := range path[:last] {
		v, ok := self.Attr(name)
		if !ok || v.Kind() != value.KindObject {
			return false, false
		}
		self = v.Object()
	}
	v, ok := self.Attr(path[last])
	return ok && v.Kind() == value.KindBool && v.Bool(), ok && v.Kind() == value.KindBool
}

// pathOf returns the names of the attributes that lead from the graph's first argument to a value.
func pathOf(g *ir.Graph, v *ir.Value) (names []string, ok bool) {
	for v.Node().Kind() == "prim::GetAttr" {
		names = append(names, v.Node().StringAttr("name"))
		v = v.Node().Input(0)
	}
	slices.Reverse(names)
	return names, len(g.Inputs()) > 0 && v == g.Inputs()[0]
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
	default:
		return comparisonAnswer(n)
	}
	return value.None, false
}

// comparisonAnswer returns what a comparison of a number of dimensions with a constant gives, where all numbers that it may be compare alike.
func comparisonAnswer(n *ir.Node) (value.Value, bool) {
	if len(n.Inputs()) != 2 || n.Output().Type().Kind() != types.KindBool || n.Operator() == nil || n.Operator().Run == nil {
		return value.None, false
	}
	of := ranked(n.Input(0).Node())
	limit, known := n.Input(1).Constant()
	if of == nil || !known || !limit.IsInt() {
		return value.None, false
	}
	least := int64(leastRank(of))
	var answer [1]value.Value
	for i, number := range []int64{least, limit.Int() - 1, limit.Int(), limit.Int() + 1, math.MaxInt32} {
		var out [1]value.Value
		if number < least {
			continue
		}
		if err := n.Operator().Run([]value.Value{value.Int(number), limit}, out[:]); err != nil || i > 0 && out != answer {
			return value.None, false
		}
		answer = out
	}
	return answer[0], true
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
	if of := sized(v); of != nil {
		return leastRank(of)
	}
	return 0
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
		case windowed:
			if n.Kind() == "aten::mean" {
				return 0
			}
			v = n.Input(0)
		default:
			return 0
		}
	}
	return 0
}

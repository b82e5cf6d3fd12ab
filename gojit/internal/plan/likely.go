package plan

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// SplitLikely gives a graph of convolutions and products a second body, for calls like the one with some arguments, its first: modules are not in
// training, their other bools and the integers that branches hang on are what they are there, and so are those among the arguments, which optional
// arguments are None, how many dimensions tensors have and of what type their elements are. The branches that hang on these are gone in it, so that the
// operators follow each other. Which body runs is decided at the start of each call. Without arguments all but "training" is read by both. It reports
// whether there is a second body: there is none where it would have as many branches.
//
//	%t = prim::GetAttr[name="training"](%norm)      %t = prim::GetAttr[name="training"](%norm)
//	%y = prim::If(%t) ...                     ->    %z = prim::If(%t)
//	return (%z)                                       block0(): %y = prim::If(%t) ...
//	                                                  block1(): the same without branches
func SplitLikely(g *ir.Graph, args []value.Value) bool {
	if !isPlannable(g) || branches(g) == 0 {
		return false
	}
	likely := g.Copy()
	held, ok := assume(likely, args)
	if !ok {
		return false
	}
	simplify(likely)
	FoldRanks(likely)
	forms := inputForms(likely, args)
	for forms.fold() {
		simplify(likely)
		if passes.UnrollShortLoops(likely, true) { // over as many sizes as there are dimensions
			simplify(likely)
		}
	}
	if branches(likely) >= branches(g) {
		return false
	}
	held = append(held, forms.assumptions()...)
	if len(held) == 0 {
		return false
	}
	first, general := g.Block().First(), g.Block().Nodes()
	var other *ir.Value // whether the call is another one
	for _, a := range held {
		differs := a.differs(g, first)
		if other != nil {
			differs = g.Create(aten.Or, []*ir.Value{other, differs}, 1).InsertBefore(first).Output().SetType(types.Bool)
		}
		other = differs
	}
	branch := g.Create(prim.If, []*ir.Value{other}, 0).InsertBefore(g.Block().ReturnNode())
	whole, short := branch.AddBlock(), branch.AddBlock()
	for _, n := range general {
		n.MoveBefore(whole.ReturnNode())
	}
	old := g.SetInsertEnd(short)
	results := g.InsertGraph(likely, g.Inputs())
	g.SetInsertPoint(old)
	for i, v := range g.Outputs() {
		whole.AddOutput(v)
		short.AddOutput(results[i])
		out := branch.AddOutput().SetType(v.Type())
		g.Block().ReplaceOutput(i, out)
	}
	return true
}

// isPlannable reports whether a graph has enough convolutions and products for a plan, and nothing unknown runs in it.
func isPlannable(g *ir.Graph) bool {
	products, known := 0, true
	g.Block().Walk(func(n *ir.Node) {
		switch n.Kind() {
		case prim.CallFunction, prim.CallMethod, prim.PythonOp, prim.Fork, aten.Wait, prim.Awaitable, prim.AwaitableWait:
			known = false
		case aten.Conv2d, aten.Convolution: // planned or not once the arguments are constants
			products++
		case layerKind:
			products += fewestProducts
		default:
			products += kindOf(n).products()
		}
	})
	return known && products >= fewestProducts
}

// branches counts the branches and loops of a graph, and the layers of which it is not known what they consist of.
func branches(g *ir.Graph) (count int) {
	g.Block().Walk(func(n *ir.Node) {
		if len(n.Blocks()) > 0 || n.Kind() == layerKind && !isDecomposable(n) {
			count++
		}
	})
	return count
}

// assumption is what the second body takes an argument, or an attribute behind it, to be.
type assumption struct {
	input int      // of the graph
	path  []string // the attributes that lead from the input to the value, none for the input itself
	known value.Value
	what  assumed
}

type assumed uint8

const (
	isKnown   assumed = iota // the value, a bool or an integer, is known
	isNone                   // an optional value is None
	isPresent                // it is not
	hasRank                  // a tensor has as many dimensions as known says
	hasDType                 // its elements have the type that known says
)

// of completes an assumption: a value of a type is like v in what branches hang on, its truth or whether it is None. ok is false for other types.
func (a assumption) of(t types.Type, v value.Value) (_ assumption, ok bool) {
	switch t.Kind() {
	case types.KindBool:
		a.what, a.known, ok = isKnown, v, v.Kind() == value.KindBool
	case types.KindInt:
		a.what, a.known, ok = isKnown, v, v.IsInt()
	case types.KindOptional:
		if a.what, ok = isPresent, true; v.IsNone() {
			a.what = isNone
		}
	}
	return a, ok
}

// differs adds nodes that tell whether the assumption does not hold, before a node.
func (a *assumption) differs(g *ir.Graph, before *ir.Node) *ir.Value {
	old := g.SetInsertPoint(before)
	defer g.SetInsertPoint(old)
	v := g.Inputs()[a.input]
	for _, name := range a.path {
		v = g.CreateGetAttr(v, name).InsertBefore(before).Output()
	}
	switch a.what {
	case isNone:
		return ask(before, aten.Isnot, v, g.Constant(value.None, before.Range))
	case isPresent:
		return ask(before, aten.Is, v, g.Constant(value.None, before.Range))
	case hasRank:
		return a.differsIn(aten.Dim, v, before)
	case hasDType:
		return a.differsIn(prim.Dtype, v, before)
	}
	switch {
	case a.known.IsInt():
		return ask(before, aten.Ne, v, g.Constant(a.known, before.Range))
	case a.known.Bool():
		return ask(before, aten.Not, v)
	}
	return v
}

// ask adds a node that gives a bool.
func ask(before *ir.Node, kind string, inputs ...*ir.Value) *ir.Value {
	return before.Graph().Create(kind, inputs, 1).InsertBefore(before).Output().SetType(types.Bool)
}

// differsIn adds nodes that tell whether a number of a tensor is another one than is known, or the tensor is None.
func (a *assumption) differsIn(kind string, v *ir.Value, before *ir.Node) *ir.Value {
	g := before.Graph()
	compare := func(v *ir.Value, before *ir.Node) *ir.Value {
		number := g.Create(kind, []*ir.Value{v}, 1).InsertBefore(before).Output().SetType(types.Int)
		return ask(before, aten.Ne, number, g.Constant(a.known, before.Range))
	}
	if isTensor(v) {
		return compare(v, before)
	}
	missing := ask(before, aten.Is, v, g.Constant(value.None, before.Range))
	always := g.Constant(value.Bool(true), before.Range)
	choice := g.Create(prim.If, []*ir.Value{missing}, 1).InsertBefore(before)
	none, some := choice.AddBlock(), choice.AddBlock()
	none.AddOutput(always)
	cast := g.Create(prim.UncheckedCast, []*ir.Value{v}, 1).InsertBefore(some.ReturnNode())
	cast.Output().SetType(types.Tensor)
	old := g.SetInsertEnd(some)
	some.AddOutput(compare(cast.Output(), some.ReturnNode()))
	g.SetInsertPoint(old)
	return choice.Output().SetType(types.Bool)
}

// assume has a graph be what it is where bools and optional values are what they are in a call. ok is false where the graph writes an attribute that it
// reads, or an object on the way to it: what is read behind that is another one.
func assume(g *ir.Graph, args []value.Value) (held []assumption, ok bool) {
	for i, v := range g.Inputs() {
		if i >= len(args) {
			break
		}
		if a, known := (assumption{input: i}).of(v.Type(), args[i]); known && isAsked(v) {
			held = append(held, a)
			a.replace(g, v, g.Block().First())
		}
	}
	written, reads := map[string]bool{}, []*ir.Node{}
	g.Block().Walk(func(n *ir.Node) {
		switch n.Kind() {
		case prim.SetAttr:
			written[n.StringAttr("name")] = true
		case prim.GetAttr:
			reads = append(reads, n)
		}
	})
	var self *value.Object
	if len(args) > 0 && args[0].Kind() == value.KindObject {
		self = args[0].Object()
	}
	at := map[string]*assumption{}
	for _, n := range reads {
		path, known := pathOf(g, n.Output())
		key := strings.Join(path, ".")
		if !known || at[key] != nil || !isAsked(n.Output()) {
			continue
		}
		a, known := assumption{path: path}.ofAttribute(self, n.Output().Type())
		if !known {
			continue
		}
		if slices.ContainsFunc(path, func(name string) bool { return written[name] }) {
			return nil, false
		}
		at[key] = &a
		held = append(held, a)
	}
	for _, n := range reads {
		path, known := pathOf(g, n.Output())
		if a := at[strings.Join(path, ".")]; known && a != nil {
			a.replace(g, n.Output(), n.Next())
		}
	}
	return held, true
}

// ofAttribute is of, for an attribute of an object, nil where that is not known. Modules are not in training, whatever they are now.
func (a assumption) ofAttribute(self *value.Object, t types.Type) (_ assumption, ok bool) {
	last := len(a.path) - 1
	if a.path[last] == "training" && t.Kind() == types.KindBool {
		return a.of(t, value.Bool(false))
	}
	for i, name := range a.path {
		if self == nil {
			return a, false
		}
		v, found := self.Attr(name)
		if i == last {
			a, ok = a.of(t, v)
			return a, ok && found
		}
		if self = nil; found && v.Kind() == value.KindObject {
			self = v.Object()
		}
	}
	return a, false
}

// isAsked reports whether a branch, or what a layer consists of, may hang on a bool, on whether an optional value is None (something else reads it than
// operators on tensors), or on an integer and constants.
func isAsked(v *ir.Value) bool {
	if v.Type().Kind() == types.KindInt {
		return decides(v)
	}
	return slices.ContainsFunc(v.Uses(), func(u ir.Use) bool {
		return u.User.Operator() == nil || u.User.Kind() == prim.UncheckedCast || u.User.Kind() == layerKind || !slices.ContainsFunc(u.User.Outputs(), isTensor)
	})
}

// decides reports whether a branch, or what a layer consists of, hangs on a value and constants alone.
func decides(v *ir.Value) bool { return leadsToBranch(v, map[*ir.Value]bool{}) }

// leadsToBranch is decides for values that were not asked about before.
func leadsToBranch(v *ir.Value, asked map[*ir.Value]bool) bool {
	if asked[v] {
		return false
	}
	asked[v] = true
	return slices.ContainsFunc(v.Uses(), func(u ir.Use) bool {
		if u.User.Kind() == prim.If || u.User.Kind() == layerKind && v.Type().Kind() == types.KindBool {
			return true
		}
		return isPure(u.User) && len(u.User.Outputs()) == 1 && isPlain(u.User.Output().Type()) && !slices.ContainsFunc(u.User.Inputs(), func(in *ir.Value) bool {
			_, isConstant := in.Constant()
			return in != v && !isConstant
		}) && leadsToBranch(u.User.Output(), asked)
	})
}

// replace has v, from a node on, be what is assumed.
func (a *assumption) replace(g *ir.Graph, v *ir.Value, from *ir.Node) {
	old := g.SetInsertPoint(from)
	defer g.SetInsertPoint(old)
	switch a.what {
	case isKnown:
		v.ReplaceAllUsesWith(g.Constant(a.known, from.Range))
	case isNone:
		v.ReplaceAllUsesWith(g.Constant(value.None, from.Range))
	case isPresent:
		t := v.Type().(*types.Optional).Elem
		cast := g.Create(prim.UncheckedCast, nil, 1).InsertBefore(from)
		cast.Output().SetType(t)
		v.ReplaceAllUsesWith(cast.Output())
		cast.AddInput(v)
	}
}

// pathOf returns the names of the attributes that lead from the graph's first argument to a value.
func pathOf(g *ir.Graph, v *ir.Value) (names []string, ok bool) {
	for v.Node().Kind() == prim.GetAttr {
		names = append(names, v.Node().StringAttr("name"))
		v = v.Node().Input(0)
	}
	slices.Reverse(names)
	return names, len(g.Inputs()) > 0 && v == g.Inputs()[0]
}

// answer has a value that a node gives be a constant.
func answer(n *ir.Node, known value.Value) {
	g := n.Graph()
	old := g.SetInsertPoint(n)
	c := g.Constant(known, n.Range)
	g.SetInsertPoint(old)
	n.Output().ReplaceAllUsesWith(c)
}

// simplify removes the branches that constants decide.
func simplify(g *ir.Graph) {
	for changed := true; changed; {
		passes.LowerSimpleTuples(g) // those that branches took apart
		changed = passes.ConstantPropagationImmutableTypes(g)
		changed = passes.Peephole(g) || changed
		changed = passes.RemoveListMutation(g) || changed
	}
	passes.CSE(g)
	passes.DCE(g)
}

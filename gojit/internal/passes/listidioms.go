package passes

import (
	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// PeepholeListIdioms answers what is asked of lists that are made in the graph and never changed.
// It reports whether it changed anything; the nodes that are not needed any more stay.
//
//	%l = prim::ListConstruct(%a, %b)
//	%n = aten::len(%l)                -- 2
//	%x = aten::__getitem__(%l, 1)     -- %b
//	%p, %q = prim::ListUnpack(%l)     -- %a, %b
func PeepholeListIdioms(g *ir.Graph) bool { return listIdioms(g, alias.Analyze(g, alias.Options{})) }

func listIdioms(g *ir.Graph, db *alias.Db) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		changed = listIdiom(g, db, n) || changed
	})
	return changed
}

// elementsOf returns what a list that never changes was made of.
func elementsOf(db *alias.Db, v *ir.Value) (elements []*ir.Value, ok bool) {
	n := v.Node()
	if n.Kind() != prim.ListConstruct || db.HasWriters(v) {
		return nil, false
	}
	return n.Inputs(), true
}

// longestJoined bounds the lists that are written out element by element: each of a few sums in a row doubles one.
const longestJoined = 256

// constantSlice returns the elements that a slice with constant bounds chooses: those at the places that it takes from the list of all places.
func constantSlice(n *ir.Node, elements []*ir.Value) (part []*ir.Value, ok bool) {
	places := make([]int, len(elements))
	for i := range places {
		places[i] = i
	}
	args := []value.Value{value.OfList(value.Ints(places))}
	for _, v := range n.Inputs()[1:] {
		c, ok := v.Constant()
		if !ok {
			return nil, false
		}
		args = append(args, c)
	}
	chosen, ok := RunOperator(n.Operator(), args, 1)
	if !ok {
		return nil, false
	}
	for _, i := range chosen[0].List().Items {
		part = append(part, elements[i.Int()])
	}
	return part, true
}

func listIdiom(g *ir.Graph, db *alias.Db, n *ir.Node) bool {
	if len(n.Inputs()) == 0 || n.Input(0).Type().Kind() != types.KindList || !HasUses(n) {
		return false
	}
	elements, ok := elementsOf(db, n.Input(0))
	if !ok {
		return false
	}
	old := g.SetInsertPoint(n)
	defer g.SetInsertPoint(old)
	switch n.Kind() {
	case aten.Len:
		n.Output().ReplaceAllUsesWith(g.Constant(value.Int(int64(len(elements))), source.Range{}))
		return true
	case aten.Getitem:
		index, ok := ConstantInts(n.Inputs()[1:])
		if !ok {
			return false
		}
		i := int(index[0])
		if i < 0 {
			i += len(elements)
		}
		if i < 0 || i >= len(elements) {
			return false
		}
		n.Output().ReplaceAllUsesWith(elements[i])
		return true
	case aten.Slice:
		part, ok := constantSlice(n, elements)
		if !ok {
			return false
		}
		replaceByList(g, db, n, part)
		return true
	case prim.ListUnpack:
		if len(n.Outputs()) != len(elements) {
			return false
		}
		for i, out := range n.Outputs() {
			out.ReplaceAllUsesWith(elements[i])
		}
		return true
	case aten.Add:
		more, ok := elementsOf(db, n.Input(1))
		if !ok || db.HasWriters(n.Output()) || len(elements)+len(more) > longestJoined {
			return false
		}
		replaceByList(g, db, n, append(append([]*ir.Value{}, elements...), more...))
		return true
	}
	return false
}

// replaceByList has a list of the elements stand for the list that a node gives.
func replaceByList(g *ir.Graph, db *alias.Db, n *ir.Node, elements []*ir.Value) {
	made := g.InsertNode(g.CreateList(n.Output().Type().(*types.List).Elem, elements)).Output()
	db.Forget(n.Output(), made)
	n.Output().ReplaceAllUsesWith(made)
}

package passes

import (
	"sort"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// CanonicalizeOutputs puts the outputs of each prim::If and prim::Loop into the order of their
// first uses.
func CanonicalizeOutputs(g *ir.Graph) { canonicalizeOutputs(g.Block()) }

func canonicalizeOutputs(b *ir.Block) {
	for n := b.Last(); n != nil; n = n.Prev() {
		switch n.Kind() {
		case prim.Loop:
			permuteLoop(n, useOrder(n.Outputs()))
		case prim.If:
			order := useOrder(n.Outputs())
			if sort.IntsAreSorted(order) { // as they are
				break
			}
			for _, inner := range n.Blocks() {
				inner.ReturnNode().PermuteInputs(order)
			}
			n.PermuteOutputs(order)
		}
		for _, inner := range n.Blocks() {
			canonicalizeOutputs(inner)
		}
	}
}

// useOrder returns the positions of vs in the order of their first uses; those without come last.
func useOrder(vs []*ir.Value) []int {
	order := make([]int, len(vs))
	first := make([]*ir.Use, len(vs))
	for i, v := range vs {
		order[i] = i
		for k := range v.Uses() {
			u := v.Uses()[k]
			if first[i] == nil || useBefore(u, *first[i]) {
				first[i] = &u
			}
		}
	}
	sort.SliceStable(order, func(i, j int) bool {
		a, b := first[order[i]], first[order[j]]
		if a == nil || b == nil {
			return a != nil
		}
		return useBefore(*a, *b)
	})
	return order
}

func useBefore(a, b ir.Use) bool {
	if a.User == b.User {
		return a.Index < b.Index
	}
	return a.User.IsBefore(b.User)
}

// permuteLoop reorders the carried values of a loop.
func permuteLoop(n *ir.Node, order []int) {
	shifted := func(by int) []int {
		out := make([]int, 0, len(order)+by)
		for i := range by {
			out = append(out, i)
		}
		for _, i := range order {
			out = append(out, i+by)
		}
		return out
	}
	body := n.Blocks()[0]
	n.PermuteOutputs(order)
	body.ReturnNode().PermuteInputs(shifted(1))
	n.PermuteInputs(shifted(2))
	body.ParamNode().PermuteOutputs(shifted(1))
}

// NormalizeOps gives operators with several names one of them, turns aten::rsub into aten::sub and
// tests of truth values for identity into tests for equality.
func NormalizeOps(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if !strings.HasPrefix(n.Kind(), "aten::") {
			return
		}
		switch kind := ops.CanonicalName(n.Kind()); {
		case kind != n.Kind():
			rename(n, kind)
		case n.Kind() == aten.Rsub && len(n.Inputs()) == 3 && n.Input(1).Type().Kind() == types.KindTensor:
			n.PermuteInputs([]int{1, 0, 2})
			rename(n, aten.Sub)
		case n.Is(aten.Is, aten.Isnot) && isBool(n.Input(0)) && isBool(n.Input(1)):
			if n.Kind() == aten.Is {
				rename(n, aten.Eq)
			} else {
				rename(n, aten.Ne)
			}
		}
	})
}

func isBool(v *ir.Value) bool { return v.Type().Kind() == types.KindBool }

// rename replaces n by a node of another kind that is the same in all else.
func rename(n *ir.Node, kind string) {
	g := n.Graph()
	m := g.Create(kind, n.Inputs(), 0).SetRange(n.Range).InsertBefore(n)
	for _, out := range n.Outputs() {
		out.ReplaceAllUsesWith(m.AddOutput().CopyMetadata(out))
	}
	n.Destroy()
}

// AnnotateWarnings numbers the calls of aten::warn, so that each place warns once.
func AnnotateWarnings(g *ir.Graph) {
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == aten.Warn {
			if _, ok := n.Attr("warn_id"); !ok {
				n.SetAttr("warn_id", nextWarning.Add(1)-1)
			}
		}
	})
}

package plan

import (
	_ "embed"
	"slices"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// lstmText is what traces have of a step of an LSTM, from the operator's arguments to its results.
//
//go:embed lstm_cell.ir
var lstmText string

var lstmCell = sync.OnceValue(func() (c cellPattern) {
	c.graph = source.Must(ir.Parse(lstmText))
	c.pattern, _ = ir.NewPattern(c.graph)
	return c
})

// cellPattern is a pattern with its graph.
type cellPattern struct {
	graph   *ir.Graph
	pattern *ir.Pattern
}

// RestoreCells makes the operators that a trace has of a step of an LSTM one operator again where gradients are recorded: the tape then has a node for the
// step, with a kernel of its own. Without gradients plans join the operators, an autocast is for each of them, and tensors of
// other sizes are no step.
//
//	%h = aten::linear(%hidden, ...)        ->   %r, %s = prim::If(%recorded)
//	...                                             block0(): %u, %v = aten::lstm_cell(%input, [%hidden, %memory], ...) -> (%u, %v)
//	%y = aten::mul(%out, %active)                   block1(): %h = aten::linear(%hidden, ...) ... -> (%y, %next_memory)
func RestoreCells(g *ir.Graph) bool {
	var products []*ir.Node
	g.Block().Walk(func(n *ir.Node) {
		if n.Kind() == aten.Mul { // the last of the pattern
			products = append(products, n)
		}
	})
	restored := false
	for _, n := range products {
		if m := lstmCell().match(n); m != nil { // it reads what the last one gives
			m.restore(g, lstmCell().graph)
			restored = true
		}
	}
	return restored
}

// cellMatch is where the nodes of a pattern stand in a graph, what constants stand between them, and which values are those of the pattern.
type cellMatch struct {
	nodes, constants []*ir.Node
	of               map[*ir.Value]*ir.Value
}

// match finds the pattern with a node as the last one, nil where it is another. Only constants stand between its nodes, so that nothing is written there.
func (c cellPattern) match(last *ir.Node) *cellMatch {
	m := &cellMatch{of: c.pattern.Find(last)}
	if m.of == nil {
		return nil
	}
	for _, v := range c.graph.Inputs() {
		if v.Type() == types.Tensor && !isTensor(m.of[v]) {
			return nil
		}
	}
	var n *ir.Node
	for _, p := range c.graph.Block().Nodes() {
		if p.Kind() == prim.Constant {
			continue
		}
		at := m.of[p.Outputs()[0]].Node()
		for ; n != nil && n.Kind() == prim.Constant; n = n.Next() {
			m.constants = append(m.constants, n)
		}
		if n != nil && n != at {
			return nil
		}
		m.nodes = append(m.nodes, at)
		n = at.Next()
	}
	return m
}

// restore puts the choice in the place of the nodes.
func (m *cellMatch) restore(g *ir.Graph, pattern *ir.Graph) {
	first := m.nodes[0]
	for _, n := range m.constants {
		n.MoveBefore(first)
	}
	args := make([]*ir.Value, len(pattern.Inputs()))
	for i, v := range pattern.Inputs() {
		args[i] = m.of[v]
	}
	input, state, weights := args[0], args[1:3], args[3:]
	choice := g.Create(prim.If, []*ir.Value{isRecordedStep(first, input, weights[0], state)}, 0).InsertBefore(first).SetRange(first.Range)
	whole, parts := choice.AddBlock(), choice.AddBlock()
	list := whole.Append(g.CreateList(types.Tensor, state)).Output()
	cell := whole.Append(g.Create(aten.LstmCell, append([]*ir.Value{input, list}, weights...), len(pattern.Outputs()))).SetRange(first.Range)
	for _, n := range m.nodes {
		n.MoveBefore(parts.ReturnNode())
	}
	for i, result := range pattern.Outputs() {
		v, out := m.of[result], choice.AddOutput()
		out.CopyMetadata(v)
		for _, use := range slices.Clone(v.Uses()) {
			if use.User.Block() != parts {
				use.User.ReplaceInput(use.Index, out)
			}
		}
		whole.AddOutput(cell.Outputs()[i])
		parts.AddOutput(v)
	}
}

// isRecordedStep adds nodes that tell whether gradients are recorded, there is no autocast, and the tensors have the sizes of a step.
func isRecordedStep(before *ir.Node, input, weight *ir.Value, state []*ir.Value) *ir.Value {
	g := before.Graph()
	defer g.SetInsertPoint(g.SetInsertPoint(before))
	of := func(kind string, t types.Type, inputs ...*ir.Value) *ir.Value {
		return g.Create(kind, inputs, 1).InsertBefore(before).Output().SetType(t)
	}
	is := func(a, b *ir.Value) *ir.Value { return of(aten.Eq, types.Bool, a, b) }
	number := func(n int64) *ir.Value { return g.Constant(value.Int(n), before.Range) }
	size := func(v *ir.Value, dim int64) *ir.Value { return of(aten.Size, types.Int, v, number(dim)) }
	cast := of(aten.Or, types.Bool, ask(before, aten.IsAutocastEnabled), ask(before, aten.IsAutocastCpuEnabled))
	found := of(aten.And, types.Bool, ask(before, aten.IsGradEnabled), ask(before, aten.Not, cast))
	sizes := types.NewList(types.Int)
	for _, condition := range []*ir.Value{
		is(of(aten.Dim, types.Int, input), number(2)), is(of(aten.Dim, types.Int, state[0]), number(2)),
		is(of(aten.Size, sizes, state[0]), of(aten.Size, sizes, state[1])),
		is(size(input, 0), size(state[0], 0)), is(size(input, 1), size(weight, 1)),
	} {
		found = of(aten.And, types.Bool, found, condition)
	}
	return found
}

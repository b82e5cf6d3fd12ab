package export

import (
	"math"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/export/exportir"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// inner returns the graph that an argument names.
func (l *lowerer) inner(a exportir.Argument) *exportir.Graph {
	return l.from.Graph(l.from.Node(a.Text).Target)
}

// place gives the placeholders of a graph values.
func (l *lowerer) place(g *exportir.Graph, given []*ir.Value) {
	for i, n := range g.Placeholders() {
		l.values[n.Name] = given[i]
	}
}

// within adds the nodes of a graph at the insertion point. Its names are its own.
func (l *lowerer) within(g *exportir.Graph, given []*ir.Value) []*ir.Value {
	values, lists := l.values, l.lists
	l.values, l.lists = map[string]*ir.Value{}, map[string][]*ir.Value{}
	defer func() { l.values, l.lists = values, lists }()
	l.place(g, given)
	return l.graph(g)
}

func (l *lowerer) operands(n *exportir.Node, a exportir.Argument) []*ir.Value {
	var given []*ir.Value
	for _, item := range a.Items {
		given = append(given, l.value(n, item, types.Any))
	}
	return given
}

func (l *lowerer) cond(n *exportir.Node) {
	truth := l.value(n, n.Args[0], types.Any)
	if truth.Type().Kind() == types.KindTensor {
		truth = l.insert(aten.Bool, types.Bool, truth)
	}
	given := l.operands(n, n.Args[3])
	branch := l.node(l.g.Create(prim.If, []*ir.Value{truth}, 0))
	after := l.g.InsertPoint()
	count := 0
	for _, a := range n.Args[1:3] {
		b := branch.AddBlock()
		l.g.SetInsertEnd(b)
		results := l.within(l.inner(a), given)
		if len(branch.Blocks()) == 2 && len(results) != count {
			l.fail(n, "the branches give %d and %d values", count, len(results))
		}
		for count = range results {
			b.AddOutput(results[count])
		}
		count = len(results)
	}
	l.g.SetInsertPoint(after)
	for range count {
		branch.AddOutput()
	}
	l.control(n, branch.Outputs())
}

// control makes values what a control flow operator gives.
func (l *lowerer) control(n *exportir.Node, outs []*ir.Value) {
	l.lists[n.Name] = outs
	if len(outs) == 1 {
		l.values[n.Name] = outs[0]
	}
}

// mapOver adds a loop over the items, whose results are collected in lists and stacked.
func (l *lowerer) mapOver(n *exportir.Node) {
	over, others := l.operands(n, n.Args[1]), l.operands(n, n.Args[2])
	l.control(n, l.over(l.inner(n.Args[0]), nil, over, others))
}

// scan adds a loop over the items that hands on the first results.
func (l *lowerer) scan(n *exportir.Node) {
	carried, over, others := l.operands(n, n.Args[1]), l.operands(n, n.Args[2]), l.operands(n, n.Args[3])
	l.control(n, l.over(l.inner(n.Args[0]), carried, over, others))
}

// over adds a loop over the items of the first dimension of tensors: what the body gives in the places of carried it takes in the next
// turn, the rest is stacked.
func (l *lowerer) over(body *exportir.Graph, carried, over, others []*ir.Value) []*ir.Value {
	zero := l.constant(value.Int(0))
	count := l.insert(aten.Size, types.Int, over[0], zero)
	var lists []*ir.Value
	for range len(body.Outputs()) - len(carried) {
		lists = append(lists, l.node(l.g.CreateList(types.Tensor, nil)).Output())
	}
	always := l.constant(value.Bool(true))
	loop := l.node(l.g.Create(prim.Loop, append([]*ir.Value{count, always}, carried...), 0))
	after := l.g.InsertPoint()
	b := loop.AddBlock()
	turn := b.AddInput("").SetType(types.Int)
	var given []*ir.Value
	for _, x := range carried {
		given = append(given, b.AddInput("").SetType(types.Unshaped(x.Type())))
	}
	l.g.SetInsertEnd(b)
	for _, x := range over {
		given = append(given, l.insert(aten.Select, types.Tensor, x, zero, turn))
	}
	results := l.within(body, append(given, others...))
	for i, v := range results[len(carried):] {
		l.insert(aten.Append, types.NewList(types.Tensor), lists[i], v)
	}
	b.AddOutput(l.constant(value.Bool(true)))
	l.carry(loop, b, results[:len(carried)])
	l.g.SetInsertPoint(after)
	outs := slices.Clone(loop.Outputs())
	for _, list := range lists {
		outs = append(outs, l.insert(aten.Stack, types.Tensor, list, zero))
	}
	return outs
}

// carry makes values what a loop hands on, and gives in the end.
func (l *lowerer) carry(loop *ir.Node, b *ir.Block, results []*ir.Value) {
	for _, v := range results {
		b.AddOutput(v)
		loop.AddOutput().SetType(types.Unshaped(v.Type()))
	}
}

// whileLoop adds a loop whose condition is computed before the first turn, and in each.
func (l *lowerer) whileLoop(n *exportir.Node) {
	test, body := l.inner(n.Args[0]), l.inner(n.Args[1])
	carried, others := l.operands(n, n.Args[2]), l.operands(n, n.Args[3])
	truth := func(of []*ir.Value) *ir.Value {
		return l.insert(aten.Bool, types.Bool, l.within(test, append(slices.Clone(of), others...))[0])
	}
	most := l.constant(value.Int(math.MaxInt64))
	loop := l.node(l.g.Create(prim.Loop, append([]*ir.Value{most, truth(carried)}, carried...), 0))
	after := l.g.InsertPoint()
	b := loop.AddBlock()
	b.AddInput("").SetType(types.Int)
	var given []*ir.Value
	for _, x := range carried {
		given = append(given, b.AddInput("").SetType(types.Unshaped(x.Type())))
	}
	l.g.SetInsertEnd(b)
	results := l.within(body, append(given, others...))
	b.AddOutput(truth(results))
	l.carry(loop, b, results)
	l.g.SetInsertPoint(after)
	l.control(n, loop.Outputs())
}

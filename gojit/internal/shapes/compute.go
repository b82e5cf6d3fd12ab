package shapes

import (
	"maps"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/passes/parity"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Computation computes the sizes of a graph's tensors that are not known before it runs.
type Computation struct {
	// Graph takes the sizes of the tensors that are parameters of the graph, and gives those that are symbols.
	Graph *ir.Graph
	// Symbols are, for each output of Graph, the number by which types call it.
	Symbols []int
}

// Propagate gives the tensors of a graph the types that follow from those of its parameters, and returns how the sizes that are symbols are
// computed. Only the nodes from first on, and those before last, count where these are not nil. It fails where a function of sizes cannot
// be compiled.
func Propagate(g *ir.Graph, first, last *ir.Node) (*Computation, error) {
	if err := Analyze(g); err != nil {
		return nil, err
	}
	c := &computation{graph: ir.NewGraph(), shapes: map[*ir.Value]*ir.Value{}, numbers: map[*ir.Value]*ir.Value{}, symbols: map[int]*ir.Value{}, named: map[*ir.Value]int{}}
	for _, v := range g.Inputs() {
		c.parameter(v)
	}
	for n := g.Block().First(); n != nil; n = n.Next() {
		if first != nil && n.IsBefore(first) || last != nil && !n.IsBefore(last) {
			continue
		}
		if err := c.node(n); err != nil {
			return nil, err
		}
	}
	found := c.finish(g)
	return found, ir.Verify(c.graph)
}

type computation struct {
	graph   *ir.Graph
	shapes  map[*ir.Value]*ir.Value // lists of sizes of tensors
	numbers map[*ir.Value]*ir.Value // what else is computed
	symbols map[int]*ir.Value       // sizes of parameters, and in the end of all tensors
	named   map[*ir.Value]int       // the symbols of sizes
}

// parameter makes a parameter for the sizes of a tensor, or for a number.
func (c *computation) parameter(v *ir.Value) {
	switch v.Type().Kind() {
	case types.KindTensor:
		in := c.graph.AddInput("").SetType(types.NewList(types.Int))
		if v.HasName() {
			in.SetName(v.BaseName())
		}
		c.shapes[v] = c.sizesOf(v.Type(), in)
	case types.KindInt, types.KindFloat, types.KindBool, types.KindList:
		c.numbers[v] = c.graph.AddInput("").SetType(v.Type())
	}
}

// sizesOf returns a list of sizes with those that a type says; the others come from a list, if there is one.
func (c *computation) sizesOf(t types.Type, from *ir.Value) *ir.Value {
	info, ok := t.(*types.TensorInfo)
	if !ok || info.Sizes == nil {
		return from
	}
	items := make([]*ir.Value, len(info.Sizes))
	for i, n := range info.Sizes {
		switch {
		case n >= 0:
			items[i] = c.constant(value.Int(int64(n)))
		case c.symbols[n] != nil:
			items[i] = c.symbols[n]
		case from == nil:
			return nil
		default:
			items[i] = c.item(from, i)
			c.symbols[n] = items[i]
		}
	}
	return c.graph.InsertNode(c.graph.CreateList(types.Int, items)).Output()
}

func (c *computation) constant(v value.Value) *ir.Value { return c.graph.Constant(v, source.Range{}) }

func (c *computation) item(list *ir.Value, i int) *ir.Value {
	n := c.graph.InsertNode(c.graph.Create(aten.Getitem, []*ir.Value{list, c.constant(value.Int(int64(i)))}, 1))
	return n.Output().SetType(types.Int)
}

// node computes what a node gives, as far as that is known.
func (c *computation) node(n *ir.Node) error {
	switch {
	case n.Kind() == prim.Constant:
		return nil
	case n.AsksSize() && c.shapeOf(n.Input(0)) != nil:
		c.question(n)
		return nil
	case len(n.Outputs()) == 0 || len(n.Blocks()) > 0:
		return nil
	}
	if !slices.ContainsFunc(n.Outputs(), func(v *ir.Value) bool { return v.Type().Kind() == types.KindTensor }) {
		c.clone(n)
		return nil
	}
	shape, err := Graph(n)
	if shape == nil || err != nil {
		return err
	}
	arguments := make([]*ir.Value, len(shape.Inputs()))
	for i := range arguments {
		if i >= len(n.Inputs()) {
			return nil
		}
		if arguments[i] = c.argument(n.Input(i)); arguments[i] == nil {
			return nil
		}
	}
	outs := c.graph.InsertGraph(shape, arguments)
	if len(outs) == 1 && outs[0].Type().Kind() == types.KindTuple {
		outs = c.graph.UnpackTuple(outs[0])
	}
	for i, v := range n.Outputs() {
		if i < len(outs) && isList(outs[i].Type()) {
			c.shapes[v] = outs[i]
		}
	}
	return nil
}

// question answers what a node asks of a tensor's sizes.
func (c *computation) question(n *ir.Node) {
	shape := c.shapeOf(n.Input(0))
	switch {
	case n.Kind() == aten.Dim:
		c.numbers[n.Output()] = c.insert(aten.Len, types.Int, shape)
	case n.Kind() == aten.Size && len(n.Inputs()) == 1:
		c.numbers[n.Output()] = shape
	case n.Kind() == aten.Size:
		if at := c.argument(n.Input(1)); at != nil {
			c.numbers[n.Output()] = c.insert(aten.Getitem, types.Int, shape, at)
		}
	}
}

func (c *computation) insert(kind string, t types.Type, in ...*ir.Value) *ir.Value {
	return c.graph.InsertNode(c.graph.Create(kind, in, 1)).Output().SetType(t)
}

// clone computes numbers and lists as the graph does.
func (c *computation) clone(n *ir.Node) {
	if n.HasSideEffects() || n.IsNondeterministic() || !n.Is(prim.ListConstruct, prim.NumToTensor) && n.Operator() == nil {
		return
	}
	if n.Kind() == prim.ListConstruct && n.Output().Type().(*types.List).Elem.Kind() == types.KindTensor {
		c.listOfShapes(n)
		return
	}
	known := map[*ir.Value]*ir.Value{}
	for _, v := range n.Inputs() {
		if v.Type().Kind() == types.KindTensor {
			return
		}
		if known[v] = c.argument(v); known[v] == nil {
			return
		}
	}
	made := c.graph.InsertNode(c.graph.Clone(n, func(v *ir.Value) *ir.Value { return known[v] }))
	for i, v := range n.Outputs() {
		c.numbers[v] = made.Outputs()[i]
	}
}

func (c *computation) listOfShapes(n *ir.Node) {
	items := make([]*ir.Value, len(n.Inputs()))
	for i, v := range n.Inputs() {
		if items[i] = c.shapeOf(v); items[i] == nil {
			return
		}
	}
	c.numbers[n.Output()] = c.graph.InsertNode(c.graph.CreateList(types.NewList(types.Int), items)).Output()
}

// shapeOf returns the list of a tensor's sizes, nil where it is not known.
func (c *computation) shapeOf(v *ir.Value) *ir.Value {
	if c.shapes[v] == nil {
		if k, ok := v.Constant(); ok && k.IsTensor() {
			c.shapes[v] = c.constant(value.OfList(value.Ints(k.Tensor().Shape())))
		} else if v.Type().Kind() == types.KindTensor {
			c.shapes[v] = c.sizesOf(v.Type(), nil)
		}
	}
	return c.shapes[v]
}

// argument returns what a function of sizes is given for an input of a node, nil where it is not known.
func (c *computation) argument(v *ir.Value) *ir.Value {
	if v.Type().Kind() == types.KindTensor {
		return c.shapeOf(v)
	}
	if t, ok := v.Type().(*types.Optional); ok && t.Elem.Kind() == types.KindTensor && !v.MustBeNone() {
		return c.shapeOf(v)
	}
	if c.numbers[v] == nil && v.Node().Kind() == prim.Constant {
		c.numbers[v] = c.graph.InsertNode(c.graph.Clone(v.Node(), nil)).Output()
	}
	return c.numbers[v]
}

// finish simplifies the computation, gives tensors the types that it shows, and has it give the size behind each symbol.
func (c *computation) finish(g *ir.Graph) *Computation {
	var tensors []*ir.Value
	note := func(vs []*ir.Value) {
		for _, v := range vs {
			if c.shapes[v] != nil {
				tensors = append(tensors, v)
				c.graph.AddOutput(c.shapes[v])
			}
		}
	}
	note(g.Inputs())
	for n := g.Block().First(); n != nil; n = n.Next() {
		note(n.Outputs())
	}
	isSize := func(v *ir.Value) bool { return slices.Contains(slices.Collect(maps.Values(c.symbols)), v) }
	simplify(c.graph, isSize)
	found := &Computation{Graph: c.graph}
	clear(c.symbols)
	var outputs []*ir.Value
	for i, v := range tensors {
		items := c.items(v, c.graph.Outputs()[i])
		if items == nil {
			continue
		}
		for d, symbol := range c.learn(v, items) {
			if symbol < 0 && !slices.Contains(found.Symbols, symbol) {
				found.Symbols, outputs = append(found.Symbols, symbol), append(outputs, items[d])
			}
		}
	}
	for range tensors {
		c.graph.Block().EraseOutput(0)
	}
	for _, v := range outputs {
		c.graph.AddOutput(v)
	}
	simplify(c.graph, isSize)
	return found
}

// items returns the sizes that are in a list of those of a tensor, nil where neither the list nor the tensor's type tells how many there are.
func (c *computation) items(v, list *ir.Value) []*ir.Value {
	t, ok := v.Type().(*types.TensorInfo)
	switch {
	case !ok:
		return nil
	case list.Node().Kind() == prim.ListConstruct:
		return list.Node().Inputs()
	case t.Sizes == nil:
		return nil
	}
	items := make([]*ir.Value, len(t.Sizes))
	for i := range items {
		items[i] = c.item(list, i)
	}
	return items
}

// learn gives a tensor the sizes that items compute, and returns them. named has the symbols of what is computed: what is computed in one way is one
// symbol, whatever the type says.
func (c *computation) learn(v *ir.Value, items []*ir.Value) []int {
	t := v.Type().(*types.TensorInfo)
	sizes := make([]int, len(items))
	for i, item := range items {
		k, constant := item.Constant()
		switch {
		case constant:
			sizes[i] = int(k.Int())
		case c.named[item] != 0:
			sizes[i] = c.named[item]
		case t.Sizes != nil && (t.Sizes[i] >= 0 || c.symbols[t.Sizes[i]] == nil || c.symbols[t.Sizes[i]] == item):
			sizes[i] = t.Sizes[i]
		default:
			sizes[i] = types.NewSymbol()
		}
		if sizes[i] < 0 {
			c.named[item], c.symbols[sizes[i]] = sizes[i], item
		}
	}
	if !slices.Equal(sizes, t.Sizes) {
		learned := *t
		learned.Sizes, learned.Strides = sizes, nil
		v.SetType(&learned)
	}
	return sizes
}

// mostRounds bounds how often the graph of a computation is simplified.
const mostRounds = 12

// simplify runs what is known of a graph: conditions by ranks, loops over dimensions, lists that are built there. Values that are sizes are
// not negative.
func simplify(g *ir.Graph, isSize func(v *ir.Value) bool) {
	for range mostRounds {
		changed := passes.ConstantPropagation(g)
		changed = passes.UnrollConstantLoops(g) || changed
		changed = passes.RemoveListMutation(g) || changed
		changed = passes.Peephole(g) || changed
		changed = passes.PeepholeListIdioms(g) || changed
		changed = parity.RefineListLengths(g) || changed
		changed = passes.CSE(g) || changed
		changed = compareSame(g) || changed
		changed = compareSizes(g, isSize) || changed
		changed = takeFromConstants(g) || changed
		passes.LowerSimpleTuples(g)
		if !changed {
			break
		}
	}
	passes.ConstantPooling(g)
	passes.DCE(g)
}

// takeFromConstants replaces lists that are taken from a constant list of lists: functions of sizes do not write what they are given.
func takeFromConstants(g *ir.Graph) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if !n.Is(aten.Getitem) || !isList(n.Output().Type()) || !n.Output().HasUses() {
			return
		}
		lists, ok := n.Input(0).Constant()
		at, known := n.Input(1).Constant()
		if !ok || !known || at.Int() < 0 || int(at.Int()) >= len(lists.List().Items) {
			return
		}
		old := g.SetInsertPoint(n)
		n.Output().ReplaceAllUsesWith(g.Constant(lists.List().Items[at.Int()], n.Range))
		g.SetInsertPoint(old)
		changed = true
	})
	return changed
}

// compareSame answers comparisons of a number, or a list, with itself.
func compareSame(g *ir.Graph) bool {
	return answerComparisons(g, func(n *ir.Node) (is, ok bool) {
		same := n.Input(0) == n.Input(1) && (n.Input(0).Type().Kind() == types.KindInt || isList(n.Input(0).Type()))
		how, _ := ops.FactOf(n.Kind(), "compares")
		return how == "reflexive", same
	})
}

// compareSizes answers comparisons of sizes with negative numbers, and whether they are at least 0.
func compareSizes(g *ir.Graph, isSize func(v *ir.Value) bool) bool {
	return answerComparisons(g, func(n *ir.Node) (is, ok bool) {
		c, constant := n.Input(1).Constant()
		if !constant || c.Kind() != value.KindInt || !isCount(n.Input(0), isSize) {
			return false, false
		}
		none, some := compareInts(n, 0, c), compareInts(n, 1, c)
		return none, none == some && c.Int() <= 0
	})
}

// compareInts answers the comparison of a node for two ints.
func compareInts(n *ir.Node, a int64, b value.Value) bool {
	var out [1]value.Value
	if err := n.Operator().Run([]value.Value{value.Int(a), b}, out[:]); err != nil {
		panic(err) // ints can be compared
	}
	return out[0].Bool()
}

// isCount reports whether an int is a size, or a sum or product of such.
func isCount(v *ir.Value, isSize func(v *ir.Value) bool) bool {
	if c, ok := v.Constant(); ok {
		return c.Kind() == value.KindInt && c.Int() >= 0
	}
	n := v.Node()
	return isSize(v) || n.Is(aten.Mul, aten.Add) && len(n.Inputs()) == 2 && isCount(n.Input(0), isSize) && isCount(n.Input(1), isSize)
}

// answerComparisons replaces comparisons by what they give.
func answerComparisons(g *ir.Graph, answer func(n *ir.Node) (is, ok bool)) bool {
	changed := false
	g.Block().Walk(func(n *ir.Node) {
		if _, compares := ops.FactOf(n.Kind(), "compares"); !compares || len(n.Inputs()) != 2 {
			return
		}
		is, ok := answer(n)
		if !ok {
			return
		}
		old := g.SetInsertPoint(n)
		made := g.Constant(value.Bool(is), n.Range)
		g.SetInsertPoint(old)
		n.Output().ReplaceAllUsesWith(made)
		n.Destroy()
		changed = true
	})
	return changed
}

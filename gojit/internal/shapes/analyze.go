package shapes

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/alias"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Analyze gives the tensors of a graph the sizes that follow from those of its parameters by the functions of sizes; what else their types say
// stays. Sizes that are not known, but their number, are symbols: those of arguments where the function hands them on, new ones else.
//
//	graph(%x : Float(SS(-2), 3), ...)
//	  %y : Tensor = aten::t(%x)   ->   %y : Tensor(3, SS(-2)) = aten::t(%x)
func Analyze(g *ir.Graph) error {
	for _, v := range g.Inputs() {
		if t, ok := v.Type().(*types.TensorInfo); ok && slices.Contains(t.Sizes, -1) {
			v.SetType(withSizes(t, named(t.Sizes)))
		}
	}
	a := &analysis{memory: alias.Analyze(g, alias.Options{})}
	return a.block(g.Block())
}

// named gives sizes that are not known symbols.
func named(sizes []int) []int {
	found := slices.Clone(sizes)
	for i, n := range found {
		if n == -1 {
			found[i] = types.NewSymbol()
		}
	}
	return found
}

// withSizes is a type with other sizes.
func withSizes(t *types.TensorInfo, sizes []int) *types.TensorInfo {
	c, dims := *t, len(sizes)
	if !slices.Equal(t.Sizes, sizes) {
		c.Strides = nil
	}
	c.Sizes, c.Dims = sizes, &dims
	return &c
}

type analysis struct {
	memory *alias.Db
}

func (a *analysis) block(b *ir.Block) error {
	for n := b.First(); n != nil; n = n.Next() {
		for _, inner := range n.Blocks() {
			if err := a.block(inner); err != nil {
				return err
			}
		}
		switch n.Kind() {
		case prim.Constant:
		case prim.If:
			joinBranches(n)
		case prim.TupleConstruct:
			retypeTuple(n)
		default:
			if err := a.node(n); err != nil {
				return err
			}
		}
	}
	return nil
}

// joinBranches gives the results of an if what both branches say alike.
func joinBranches(n *ir.Node) {
	for i, out := range n.Outputs() {
		_, isTensor := out.Type().(*types.TensorInfo)
		yes, _ := n.Blocks()[0].Outputs()[i].Type().(*types.TensorInfo)
		no, _ := n.Blocks()[1].Outputs()[i].Type().(*types.TensorInfo)
		if !isTensor || yes == nil || no == nil {
			continue
		}
		both := yes.Common(no)
		if yes.Sizes == nil || no.Sizes == nil || len(yes.Sizes) != len(no.Sizes) {
			out.SetType(both)
			continue
		}
		sizes := slices.Clone(yes.Sizes)
		for d := range sizes {
			if sizes[d] != no.Sizes[d] {
				sizes[d] = types.NewSymbol()
			}
		}
		out.SetType(withSizes(both, sizes))
	}
}

// retypeTuple gives a tuple the types of its elements.
func retypeTuple(n *ir.Node) {
	t, ok := n.Output().Type().(*types.Tuple)
	if !ok || len(t.Elems) != len(n.Inputs()) {
		return
	}
	c := *t
	c.Elems = slices.Clone(t.Elems)
	for i, v := range n.Inputs() {
		c.Elems[i] = v.Type()
	}
	n.Output().SetType(&c)
}

// node gives a node's results the sizes that its function computes.
func (a *analysis) node(n *ir.Node) error {
	known, err := Graph(n)
	if known == nil || err != nil {
		return err
	}
	s := &substitution{memory: a.memory, graph: known.Copy(), symbols: map[*ir.Value]int{}, parameters: map[int]*ir.Value{}}
	for i, p := range slices.Clone(s.graph.Inputs()) {
		if i < len(n.Inputs()) {
			s.parameter(p, n.Input(i))
		}
	}
	simplify(s.graph, func(v *ir.Value) bool { return s.symbols[v] < 0 })
	if alwaysRaises(s.graph) {
		return nil
	}
	s.memory = alias.Analyze(s.graph, alias.Options{})
	results := s.graph.Outputs()
	if len(results) == 1 && results[0].Type().Kind() == types.KindTuple {
		if results[0].Node().Kind() != prim.TupleConstruct {
			return nil
		}
		results = results[0].Node().Inputs()
	}
	for i, out := range n.Outputs() {
		t, isTensor := out.Type().(*types.TensorInfo)
		if !isTensor || i >= len(results) {
			continue
		}
		if sizes, ok := s.sizes(results[i]); ok {
			out.SetType(withSizes(t, sizes))
		}
	}
	return nil
}

// alwaysRaises reports whether a graph raises an exception whatever it is given.
func alwaysRaises(g *ir.Graph) bool {
	for n := g.Block().First(); n != nil; n = n.Next() {
		if n.Kind() == prim.RaiseException {
			return true
		}
	}
	return false
}

// substitution is a function of sizes into which what is known of a node's arguments is put.
type substitution struct {
	memory     *alias.Db // of the graph of the node, in the end of this one
	graph      *ir.Graph
	symbols    map[*ir.Value]int // what is a symbol in the graph
	parameters map[int]*ir.Value // the other way round
}

// parameter puts what is known of an argument in the place of a parameter.
func (s *substitution) parameter(p, argument *ir.Value) {
	front := s.graph.Block().First()
	if front == nil {
		front = s.graph.Block().ReturnNode()
	}
	old := s.graph.SetInsertPoint(front)
	defer s.graph.SetInsertPoint(old)
	if is := s.known(argument); is != nil {
		p.ReplaceAllUsesWith(is)
	}
}

// known computes in the graph what is known of an argument: sizes of a tensor, or a number or list. It returns nil for what is not known.
func (s *substitution) known(v *ir.Value) *ir.Value {
	if c, ok := v.Constant(); ok {
		if c.IsTensor() {
			return s.constant(value.OfList(value.Ints(c.Tensor().Shape())))
		}
		if k := v.Type().Kind(); k == types.KindList && v.Type().(*types.List).Elem.Kind() == types.KindTensor {
			return nil
		}
		return s.constant(c)
	}
	switch t := v.Type().(type) {
	case *types.TensorInfo:
		return s.sizesOf(t)
	case *types.Optional:
		if inner, ok := t.Elem.(*types.TensorInfo); ok {
			return s.sizesOf(inner)
		}
	case *types.List:
		return s.list(v, t)
	case *types.Simple:
		if t.Kind() == types.KindInt {
			return s.size(v)
		}
	}
	return nil
}

func (s *substitution) constant(v value.Value) *ir.Value { return s.graph.Constant(v, source.Range{}) }

// sizesOf is the list of sizes that a type says.
func (s *substitution) sizesOf(t *types.TensorInfo) *ir.Value {
	if t.Sizes == nil {
		return nil
	}
	items := make([]*ir.Value, len(t.Sizes))
	for i, n := range t.Sizes {
		items[i] = s.number(n)
	}
	return s.graph.InsertNode(s.graph.CreateList(types.Int, items)).Output()
}

// number is a size in the graph: a constant, or a parameter for a symbol.
func (s *substitution) number(n int) *ir.Value {
	if n >= 0 {
		return s.constant(value.Int(int64(n)))
	}
	if s.parameters[n] == nil {
		p := s.graph.AddInput("").SetType(types.Int)
		s.parameters[n], s.symbols[p] = p, n
	}
	return s.parameters[n]
}

// list is a list that is made in the graph and never written: of the sizes of tensors, or of numbers.
func (s *substitution) list(v *ir.Value, t *types.List) *ir.Value {
	n := v.Node()
	if n.Kind() != prim.ListConstruct || s.memory.HasWriters(v) {
		return nil
	}
	elem := t.Elem
	if elem.Kind() == types.KindTensor {
		elem = types.NewList(types.Int)
	}
	items := make([]*ir.Value, len(n.Inputs()))
	for i, item := range n.Inputs() {
		is := s.known(item)
		if is == nil && elem.Kind() == types.KindInt {
			is = s.graph.AddInput("").SetType(types.Int)
		}
		if is == nil {
			return nil
		}
		items[i] = is
	}
	return s.graph.InsertNode(s.graph.CreateList(elem, items)).Output()
}

// size is the size of a tensor that an int is, as far as the tensor's type tells, or a sum or product of such.
func (s *substitution) size(v *ir.Value) *ir.Value {
	n := v.Node()
	if n.Is(aten.Mul, aten.Add) && len(n.Inputs()) == 2 {
		a, b := s.known(n.Input(0)), s.known(n.Input(1))
		if a == nil || b == nil {
			return nil
		}
		return s.graph.InsertNode(s.graph.Create(n.Kind(), []*ir.Value{a, b}, 1)).Output().SetType(types.Int)
	}
	if n.Kind() != aten.Size || len(n.Inputs()) != 2 {
		return nil
	}
	t, ok := n.Input(0).Type().(*types.TensorInfo)
	at, known := n.Input(1).Constant()
	if !ok || !known || t.Sizes == nil {
		return nil
	}
	d := int(at.Int())
	if d < 0 {
		d += len(t.Sizes)
	}
	if d < 0 || d >= len(t.Sizes) {
		return nil
	}
	return s.number(t.Sizes[d])
}

// sizes are those in a list of the graph, if it tells at least how many there are.
func (s *substitution) sizes(list *ir.Value) ([]int, bool) {
	if c, ok := list.Constant(); ok && c.Kind() == value.KindList {
		sizes := make([]int, len(c.List().Items))
		for i, item := range c.List().Items {
			sizes[i] = int(item.Int())
		}
		return sizes, true
	}
	n := list.Node()
	if n.Kind() != prim.ListConstruct || s.memory.HasWriters(list) {
		return nil, false
	}
	sizes := make([]int, len(n.Inputs()))
	for i, item := range n.Inputs() {
		if c, ok := item.Constant(); ok && c.Kind() == value.KindInt {
			sizes[i] = int(c.Int())
			continue
		}
		if s.symbols[item] == 0 {
			s.symbols[item] = types.NewSymbol()
		}
		sizes[i] = s.symbols[item]
	}
	return sizes, true
}

package tensorexpr

import (
	"fmt"
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/interp"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// AnySizeGuardKind tells whether tensors are of element types, numbers of dimensions and layouts as its attributes say. Sizes that are one symbol are
// equal, and neither 0 nor 1.
const AnySizeGuardKind = prim.TensorExprDynamicGuard

// symbolicSizes are the sizes of a group's tensors as symbols.
type symbolicSizes struct {
	symbols  map[int]int // by size
	order    []int       // the symbols, the last made first
	where    map[int]sizeAt
	expected []types.Type
	layouts  [][]string
}

// forAnySize makes the types in a group's body say symbols for sizes, the same for sizes that are equal, and has the group take the sizes. It
// returns nil where a size is 0 or what the nodes do hangs on sizes otherwise.
//
//	%y : Float(3, 5) = prim::TensorExprGroup_0(%x)  ->  %y : Float(3, 5) = prim::TensorExprGroup_0[symbolic_shape_inputs=[-3, -2], ..](%x, %five, %three)
func forAnySize(group *ir.Node) *symbolicSizes {
	body := group.GraphAttr("Subgraph")
	if !hangsOnRankAlone(body) {
		return nil
	}
	s := &symbolicSizes{symbols: map[int]int{}, where: map[int]sizeAt{}}
	for i, in := range body.Inputs() {
		t, ok := in.Type().(*types.TensorInfo)
		if !ok {
			continue
		}
		if slices.Contains(t.Sizes, 0) {
			return nil
		}
		s.add(group.Input(i), t)
	}
	for i, out := range group.Outputs() {
		out.SetType(body.Outputs()[i].Type())
	}
	return s
}

// add notes the sizes of an input.
func (s *symbolicSizes) add(v *ir.Value, t *types.TensorInfo) {
	for d, size := range t.Sizes {
		if size != 1 && s.symbols[size] == 0 {
			symbol := types.NewSymbol()
			s.symbols[size], s.where[symbol] = symbol, sizeAt{v, d}
			s.order = append([]int{symbol}, s.order...)
		}
	}
	s.layouts = append(s.layouts, interp.LayoutOf(t.Sizes, t.Strides))
	s.expected = append(s.expected, symbolic(t, s.symbols, false))
}

// check puts a check of element types, layouts and symbols before the group.
func (s *symbolicSizes) check(group *ir.Node) *ir.Value {
	guard := group.Graph().Create(AnySizeGuardKind, tensorsOf(group), 1).SetAttr("types", s.expected).SetAttr("striding_inputs_desc", nested(s.layouts))
	return guard.InsertBefore(group).Output().SetType(types.Bool)
}

// give has the group take the sizes.
func (s *symbolicSizes) give(group *ir.Node) {
	body := group.GraphAttr("Subgraph")
	var outputs []string
	for _, out := range body.Outputs() {
		t := out.Type().(*types.TensorInfo)
		outputs = append(outputs, interp.LayoutOf(t.Sizes, t.Strides)...)
	}
	setSymbols(body, s.symbols)
	for _, symbol := range s.order {
		body.AddInput(fmt.Sprintf("SS_%d", -symbol)).SetType(types.Int)
		group.AddInput(s.where[symbol].value(group))
	}
	group.SetAttr("symbolic_shape_inputs", int64s(s.order))
	group.SetAttr("striding_inputs_desc", nested(s.layouts)).SetAttr("striding_outputs_desc", outputs)
}

// hangsOnRankAlone reports whether the nodes of a body do the same for all sizes: no parts of one or products.
func hangsOnRankAlone(body *ir.Graph) bool {
	for n := body.Block().First(); n != nil; n = n.Next() {
		if n.Kind() == passes.PartsKind || n.Kind() == aten.Matmul {
			return false
		}
	}
	return true
}

// setSymbols has the types of a body's tensors say symbols for sizes. Those of its inputs and outputs say nothing of strides.
func setSymbols(body *ir.Graph, symbols map[int]int) {
	set := func(v *ir.Value, strides bool) {
		if t, ok := v.Type().(*types.TensorInfo); ok && t.Sizes != nil {
			v.SetType(symbolic(t, symbols, strides))
		}
	}
	for _, out := range body.Outputs() {
		set(out, false)
	}
	for _, in := range body.Inputs() {
		set(in, false)
	}
	for n := body.Block().First(); n != nil; n = n.Next() {
		for _, v := range n.Outputs() {
			if n.Kind() != prim.Constant && !slices.Contains(body.Outputs(), v) {
				set(v, true)
			}
		}
	}
}

// sizeAt is a size of a tensor.
type sizeAt struct {
	of  *ir.Value
	dim int
}

// value puts nodes before a group that give the size.
func (s sizeAt) value(group *ir.Node) *ir.Value {
	g := group.Graph()
	old := g.SetInsertPoint(group)
	defer g.SetInsertPoint(old)
	var sizes *ir.Value
	for n := group.Prev(); n != nil && sizes == nil; n = n.Prev() {
		if n.Kind() == aten.Size && n.Input(0) == s.of {
			sizes = n.Output()
		}
	}
	if sizes == nil {
		sizes = g.InsertNode(g.Create(aten.Size, []*ir.Value{s.of}, 1)).Output().SetType(types.NewList(types.Int))
	}
	at := g.Constant(value.Int(int64(s.dim)), group.Range)
	return g.InsertNode(g.Create(aten.Getitem, []*ir.Value{sizes, at}, 1)).Output().SetType(types.Int)
}

// symbolic is a type with symbols for sizes: 1 stays 1, and a size without a symbol is not known.
func symbolic(t *types.TensorInfo, symbols map[int]int, strides bool) types.Type {
	c := *t
	c.Sizes = slices.Clone(t.Sizes)
	for i, size := range c.Sizes {
		switch {
		case size == 1:
		case symbols[size] != 0:
			c.Sizes[i] = symbols[size]
		default:
			c.Sizes[i] = -1
		}
	}
	if !strides {
		c.Strides = nil
	}
	return &c
}

func int64s(ints []int) []int64 {
	all := make([]int64, len(ints))
	for i, x := range ints {
		all[i] = int64(x)
	}
	return all
}

// nested is a list of lists of strings as a value.
func nested(lists [][]string) value.Value {
	outer := value.NewList(types.NewList(types.Str))
	for _, words := range lists {
		inner := value.NewList(types.Str)
		for _, w := range words {
			inner.Items = append(inner.Items, value.Str(w))
		}
		outer.Items = append(outer.Items, value.OfList(inner))
	}
	return value.OfList(outer)
}

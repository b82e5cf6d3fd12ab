package tensorexpr

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/passes"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// giveNoSizes takes away the outputs of a group of which only the sizes are read, where these follow from the sizes of the group's inputs.
//
//	%c, %b = prim::TensorExprGroup_0(%x, %y)          %c = prim::TensorExprGroup_0(%x, %y)
//	%s : int[] = aten::size(%b)                  ->   %sx : int[] = aten::size(%x)
//	                                                  %sy : int[] = aten::size(%y)
//	                                                  %s : int[] = prim::BroadcastSizes(%sx, %sy)
func (f *tensorExprs) giveNoSizes(group *ir.Node) {
	body := group.GraphAttr("Subgraph")
	if !slices.ContainsFunc(group.Outputs(), onlySizesRead) || len(group.Outputs()) == 1 {
		return
	}
	s := &groupSizes{group: group, at: group.Next(), of: map[*ir.Value]*ir.Value{}}
	if s.at == nil {
		s.at = group.Block().ReturnNode()
	}
	for i, in := range body.Inputs() {
		if in.Type().Kind() == types.KindTensor {
			s.of[in] = s.size(group.Input(i))
		}
	}
	for i, out := range body.Outputs() {
		if v := group.Outputs()[i]; v.HasUses() && !onlySizesRead(v) {
			s.of[out] = s.size(v)
		}
	}
	for n := body.Block().First(); n != nil; n = n.Next() {
		s.node(n)
	}
	f.sized = true
	for i := len(group.Outputs()) - 1; i >= 0; i-- {
		v, known := group.Outputs()[i], s.of[body.Outputs()[i]]
		if known == nil || !onlySizesRead(v) || len(group.Outputs()) == 1 {
			continue
		}
		for _, u := range slices.Clone(v.Uses()) {
			u.User.Output().ReplaceAllUsesWith(known)
			u.User.Destroy()
		}
		group.EraseOutput(i)
		body.Block().EraseOutput(i)
	}
	passes.DCE(body)
	passes.DCE(group.Graph())
}

// onlySizesRead reports whether what reads a value, if anything does, asks for its size.
func onlySizesRead(v *ir.Value) bool {
	return v.HasUses() && !slices.ContainsFunc(v.Uses(), func(u ir.Use) bool { return u.User.Kind() != aten.Size || len(u.User.Inputs()) != 1 })
}

// groupSizes are the sizes of the values in a group's body, as values outside of the group.
type groupSizes struct {
	group, at *ir.Node // at: where nodes are added
	of        map[*ir.Value]*ir.Value
}

// size adds a node that gives the size of a value outside.
func (s *groupSizes) size(v *ir.Value) *ir.Value {
	return s.add(aten.Size, []*ir.Value{v})
}

func (s *groupSizes) add(kind string, inputs []*ir.Value) *ir.Value {
	n := s.group.Graph().Create(kind, inputs, 1).InsertBefore(s.at)
	return n.Output().SetType(types.NewList(types.Int))
}

// node notes the size of what an elementwise node of the body gives: what its tensors are broadcast to.
func (s *groupSizes) node(n *ir.Node) {
	o := n.Operator()
	if o == nil || !o.Def().IsElementwise() || len(n.Outputs()) != 1 || s.of[n.Output()] != nil {
		return
	}
	var sizes []*ir.Value
	for _, v := range n.Inputs() {
		if v.Type().Kind() != types.KindTensor {
			continue
		}
		if s.of[v] == nil {
			return
		}
		if !slices.Contains(sizes, s.of[v]) {
			sizes = append(sizes, s.of[v])
		}
	}
	switch len(sizes) {
	case 0:
	case 1:
		s.of[n.Output()] = sizes[0]
	default:
		s.of[n.Output()] = s.add(prim.BroadcastSizes, sizes)
	}
}

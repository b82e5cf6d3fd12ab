package ir

import (
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Constant inserts a prim::Constant that holds v. A function value becomes a constant with its
// name.
func (g *Graph) Constant(v value.Value, r source.Range) *Value {
	n := g.Create(prim.Constant, nil, 1).SetRange(r)
	out := n.Output()
	switch v.Kind() {
	case value.KindNone:
		out.SetType(types.None)
	case value.KindFunction:
		f := v.Function()
		n.SetAttr("name", f.Name)
		out.SetType(&types.Function{Name: f.Name, Target: f.Target})
	default:
		n.SetAttr("value", v)
		out.SetType(value.ConstantType(v))
	}
	return g.InsertNode(n).Output()
}

// IsConstantable reports whether v can be held by a prim::Constant: it is no module and no
// container of one.
func IsConstantable(v value.Value) bool {
	switch v.Kind() {
	case value.KindList:
		return allConstantable(v.List().Items)
	case value.KindTuple:
		return allConstantable(v.Tuple().Items)
	case value.KindDict:
		for k, item := range v.Dict().All {
			if !IsConstantable(k) || !IsConstantable(item) {
				return false
			}
		}
		return true
	case value.KindTensor:
		return !v.Tensor().RequiresGrad()
	case value.KindCapsule:
		return v.Capsule().Native
	case value.KindNone, value.KindBool, value.KindInt, value.KindFloat, value.KindComplex, value.KindString,
		value.KindDevice, value.KindEnum, value.KindFunction:
		return true
	}
	return false
}

func allConstantable(items []value.Value) bool {
	for _, item := range items {
		if !IsConstantable(item) {
			return false
		}
	}
	return true
}

// CreateList returns a prim::ListConstruct of elements of a type.
func (g *Graph) CreateList(elem types.Type, items []*Value) *Node {
	n := g.Create(prim.ListConstruct, items, 1)
	n.Output().SetType(types.NewList(elem))
	return n
}

// CreateTuple returns a prim::TupleConstruct; t nil stands for the types of the items.
func (g *Graph) CreateTuple(items []*Value, t *types.Tuple) *Node {
	if t == nil {
		elems := make([]types.Type, len(items))
		for i, v := range items {
			elems[i] = v.typ
		}
		t = types.NewTuple(elems...)
	}
	n := g.Create(prim.TupleConstruct, items, 1)
	n.Output().SetType(t)
	return n
}

// CreateTupleUnpack returns a prim::TupleUnpack of a value of tuple type.
func (g *Graph) CreateTupleUnpack(v *Value) *Node {
	elems := v.typ.(*types.Tuple).Elems
	n := g.Create(prim.TupleUnpack, []*Value{v}, len(elems))
	for i, t := range elems {
		n.outputs[i].SetType(t)
	}
	return n
}

// UnpackTuple returns the elements of a value of tuple type: the inputs of the node that makes it
// where that is at hand, else the outputs of a new prim::TupleUnpack.
func (g *Graph) UnpackTuple(v *Value) []*Value {
	if v.node.kind == prim.TupleConstruct {
		return v.node.inputs
	}
	return g.InsertNode(g.CreateTupleUnpack(v)).outputs
}

// CreateTupleIndex returns a prim::TupleIndex with an element of type t.
func (g *Graph) CreateTupleIndex(tuple, index *Value, t types.Type) *Node {
	n := g.Create(prim.TupleIndex, []*Value{tuple, index}, 1)
	n.Output().SetType(t)
	return n
}

// CreateListUnpack returns a prim::ListUnpack of a list into size values.
func (g *Graph) CreateListUnpack(v *Value, size int) *Node {
	n := g.Create(prim.ListUnpack, []*Value{v}, size)
	for _, out := range n.outputs {
		out.SetType(v.typ.(*types.List).Elem)
	}
	return n
}

// CreateDict returns a prim::DictConstruct.
func (g *Graph) CreateDict(key, elem types.Type, keys, items []*Value) *Node {
	n := g.Create(prim.DictConstruct, nil, 1)
	for i := range keys {
		n.AddInput(keys[i])
		n.AddInput(items[i])
	}
	n.Output().SetType(types.NewDict(key, elem))
	return n
}

// CreateGetAttr returns a prim::GetAttr of an object of class type.
func (g *Graph) CreateGetAttr(object *Value, field string) *Node {
	n := g.Create(prim.GetAttr, []*Value{object}, 1).SetAttr("name", field)
	out := n.Output().SetType(object.typ.(*types.Class).AttributeType(field))
	if field[0] >= '0' && field[0] <= '9' {
		field = "_" + field
	}
	return out.SetName(field).node
}

// CreateSetAttr returns a prim::SetAttr.
func (g *Graph) CreateSetAttr(object *Value, field string, v *Value) *Node {
	return g.Create(prim.SetAttr, []*Value{object, v}, 0).SetAttr("name", field)
}

// CreateUncheckedCast returns a prim::unchecked_cast: v taken for a value of type t.
func (g *Graph) CreateUncheckedCast(v *Value, t types.Type) *Node {
	n := g.Create(prim.UncheckedCast, []*Value{v}, 1)
	n.Output().SetType(t)
	return n
}

// CreateNone returns a prim::Constant of None.
func (g *Graph) CreateNone() *Node {
	n := g.Create(prim.Constant, nil, 1)
	n.Output().SetType(types.None)
	return n
}

// CreateUninitialized returns a prim::Uninitialized of type t.
func (g *Graph) CreateUninitialized(t types.Type) *Node {
	n := g.Create(prim.Uninitialized, nil, 1)
	n.Output().SetType(t)
	return n
}

// CreateIsInstance returns a prim::isinstance test against types.
func (g *Graph) CreateIsInstance(v *Value, ts []types.Type) *Node {
	n := g.Create(prim.Isinstance, []*Value{v}, 1).SetAttr("types", ts)
	n.Output().SetType(types.Bool)
	return n
}

// CreateLoad returns a prim::Load of a variable, which conversion to SSA removes. name is a string; the nodes of
// one variable may share it.
func (g *Graph) CreateLoad(name any, t types.Type) *Node {
	n := g.Create(prim.Load, nil, 1).SetAttr("name", name)
	n.Output().SetType(t)
	return n
}

// CreateStore returns a prim::Store to a variable, which conversion to SSA removes; see CreateLoad.
func (g *Graph) CreateStore(name any, v *Value) *Node {
	return g.Create(prim.Store, []*Value{v}, 0).SetAttr("name", name)
}

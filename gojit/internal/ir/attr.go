package ir

import (
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Attribute is a named constant of a node. Value is a value.Value, a string, an int64, a float64, a
// complex128, a *Graph, a types.Type, or a slice of one of these other than value.Value and
// complex128.
type Attribute struct {
	Name  string
	Value any
}

// Attributes returns the attributes in the order in which they were set. The slice must not be
// changed.
func (n *Node) Attributes() []Attribute { return n.attrs }

// SetAttr sets an attribute and returns the node.
func (n *Node) SetAttr(name string, v any) *Node {
	for i := range n.attrs {
		if n.attrs[i].Name == name {
			n.attrs[i].Value = v
			return n
		}
	}
	if n.attrs == nil && n.graph != nil {
		n.attrs = n.graph.slabs.attrs.many(1) // most nodes have one
	}
	n.attrs = append(n.attrs, Attribute{name, v})
	return n
}

// RemoveAttr removes an attribute if it is there.
func (n *Node) RemoveAttr(name string) {
	for i := range n.attrs {
		if n.attrs[i].Name == name {
			n.attrs = append(n.attrs[:i:i], n.attrs[i+1:]...)
			return
		}
	}
}

// Attr returns an attribute.
func (n *Node) Attr(name string) (v any, ok bool) {
	for i := range n.attrs {
		if n.attrs[i].Name == name {
			return n.attrs[i].Value, true
		}
	}
	return nil, false
}

// StringAttr returns an attribute that is a string, "" where there is none.
func (n *Node) StringAttr(name string) string {
	v, _ := n.Attr(name)
	s, _ := v.(string)
	return s
}

// GraphAttr returns an attribute that is a graph, nil where there is none.
func (n *Node) GraphAttr(name string) *Graph {
	v, _ := n.Attr(name)
	g, _ := v.(*Graph)
	return g
}

// TypesAttr returns an attribute that is a list of types, nil where there is none.
func (n *Node) TypesAttr(name string) []types.Type {
	v, _ := n.Attr(name)
	ts, _ := v.([]types.Type)
	return ts
}

// Constant returns the value of v where v is the output of a prim::Constant that holds one. A
// function used as a value is none.
func (v *Value) Constant() (c value.Value, ok bool) {
	if v.node.kind != prim.Constant {
		return value.None, false
	}
	if v.typ.Kind() == types.KindNone {
		return value.None, true
	}
	a, ok := v.node.Attr("value")
	if !ok {
		return value.None, v.typ.Kind() == types.KindOptional
	}
	return constantOf(a, v.typ)
}

// constantOf returns what an attribute stands for in a constant of type t.
func constantOf(a any, t types.Type) (c value.Value, ok bool) {
	switch a := a.(type) {
	case value.Value:
		return a, true
	case int64:
		if t.Kind() == types.KindBool {
			return value.Bool(a != 0), true
		}
		return value.Int(a), true
	case float64:
		return value.Float(a), true
	case complex128:
		return value.Complex(a), true
	case string:
		if t.Kind() == types.KindDevice {
			d, err := tensor.ParseDevice(a)
			return value.OfDevice(d), err == nil
		}
		return value.Str(a), true
	case []int64:
		return listOf(types.Int, a, value.Int), true
	case []float64:
		return listOf(types.Float, a, value.Float), true
	case []string:
		return listOf(types.Str, a, value.Str), true
	}
	return value.None, false
}

func listOf[T any](elem types.Type, items []T, convert func(T) value.Value) value.Value {
	l := value.NewList(elem)
	for _, x := range items {
		l.Items = append(l.Items, convert(x))
	}
	return value.OfList(l)
}

// MustBeNone reports whether v is always None.
func (v *Value) MustBeNone() bool {
	if v.typ.Kind() == types.KindNone {
		return true
	}
	c, ok := v.Constant()
	return ok && c.IsNone()
}

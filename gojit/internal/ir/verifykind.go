package ir

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/kinds/aten"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// VerifyKinds checks that the nodes whose kinds have a meaning of their own (control flow,
// containers, attributes, constants) have the inputs, outputs, blocks and types that it asks for.
// What looks into such nodes relies on it. It returns the first violation.
func VerifyKinds(g *Graph) error {
	var failure error
	g.block.Walk(func(n *Node) {
		if failure == nil {
			failure = verifyKind(n)
		}
	})
	return failure
}

// kindFacts are of a kind of nodes that are no operators: how many inputs, outputs and blocks such a node has, -1 is any number, and whether it does
// nothing but what its results and its blocks tell.
type kindFacts struct {
	inputs, outputs, blocks int
	plain                   bool
}

var kinds = map[string]kindFacts{
	prim.Constant:                {0, 1, 0, false},
	prim.If:                      {1, -1, 2, true},
	prim.Loop:                    {-1, -1, 1, true},
	prim.ListConstruct:           {-1, 1, 0, true},
	prim.TupleConstruct:          {-1, 1, 0, true},
	prim.DictConstruct:           {-1, 1, 0, true},
	prim.TupleUnpack:             {1, -1, 0, true},
	prim.ListUnpack:              {1, -1, 0, true},
	prim.TupleIndex:              {2, 1, 0, true},
	prim.TupleSlice:              {1, 1, 0, false},
	prim.GetAttr:                 {1, 1, 0, false},
	prim.SetAttr:                 {2, 0, 0, false},
	prim.Isinstance:              {1, 1, 0, true},
	prim.UncheckedCast:           {1, 1, 0, true},
	prim.UncheckedUnwrapOptional: {1, 1, 0, true},
	aten.UnwrapOptional:          {1, 1, 0, false},
	aten.Wait:                    {1, 1, 0, false},
	prim.NumToTensor:             {1, 1, 0, false},
	prim.CreateObject:            {0, 1, 0, false},
	prim.Uninitialized:           {0, 1, 0, true},
	prim.EmptyListLiteral:        {0, 1, 0, false},
	prim.EnumName:                {1, 1, 0, false},
	prim.EnumValue:               {1, 1, 0, false},
	prim.RaiseException:          {-1, -1, -1, true},
	prim.IfThenElse:              {-1, -1, -1, true},
	prim.Param:                   {-1, -1, -1, true},
	prim.Return:                  {-1, -1, -1, true},
	aten.Warn:                    {-1, -1, -1, true}, // a run that warns fails
}

// IsPlain reports whether nodes of a kind are no operators and do nothing but what their results and their blocks tell.
func IsPlain(kind string) bool { return kinds[kind].plain }

func verifyKind(n *Node) error {
	s, ok := kinds[n.kind]
	if !ok {
		return nil
	}
	for _, c := range []struct {
		what      string
		want, got int
	}{{"inputs", s.inputs, len(n.inputs)}, {"outputs", s.outputs, len(n.outputs)}, {"blocks", s.blocks, len(n.blocks)}} {
		if c.want >= 0 && c.want != c.got {
			return fmt.Errorf("%s has %d %s, expected %d", n.kind, c.got, c.what, c.want)
		}
	}
	switch n.kind {
	case prim.If:
		return verifyIf(n)
	case prim.Loop:
		return verifyLoop(n)
	case prim.ListConstruct, prim.EmptyListLiteral:
		return expectType(n, n.outputs[0], types.KindList)
	case prim.ListUnpack:
		return expectType(n, n.inputs[0], types.KindList)
	case prim.TupleConstruct:
		return verifyTuple(n, n.outputs[0], len(n.inputs))
	case prim.TupleUnpack:
		return verifyTuple(n, n.inputs[0], len(n.outputs))
	case prim.TupleIndex, prim.TupleSlice:
		return verifyTuple(n, n.inputs[0], -1)
	case prim.DictConstruct:
		if len(n.inputs)%2 != 0 {
			return fmt.Errorf("%s has a key without a value", n.kind)
		}
		return expectType(n, n.outputs[0], types.KindDict)
	case prim.GetAttr, prim.SetAttr:
		return verifyAttribute(n)
	}
	return nil
}

func verifyIf(n *Node) error {
	for i, b := range n.blocks {
		if len(b.Inputs()) != 0 || len(b.Outputs()) != len(n.outputs) {
			return fmt.Errorf("block %d of %s has %d inputs and %d outputs, expected none and %d",
				i, n.kind, len(b.Inputs()), len(b.Outputs()), len(n.outputs))
		}
	}
	return expectType(n, n.inputs[0], types.KindBool)
}

func verifyLoop(n *Node) error {
	body := n.blocks[0]
	carried := len(n.inputs) - 2
	if carried < 0 || len(n.outputs) != carried {
		return fmt.Errorf("%s has %d inputs and %d outputs, expected two inputs more than outputs", n.kind, len(n.inputs), len(n.outputs))
	}
	if len(body.Inputs()) != carried+1 || len(body.Outputs()) != carried+1 {
		return fmt.Errorf("the body of %s has %d inputs and %d outputs, expected %d", n.kind, len(body.Inputs()), len(body.Outputs()), carried+1)
	}
	if err := expectType(n, n.inputs[0], types.KindInt); err != nil {
		return err
	}
	if err := expectType(n, n.inputs[1], types.KindBool); err != nil {
		return err
	}
	return expectType(n, body.Outputs()[0], types.KindBool)
}

func verifyTuple(n *Node, v *Value, size int) error {
	t, ok := v.typ.(*types.Tuple)
	if !ok {
		return expectType(n, v, types.KindTuple)
	}
	if size >= 0 && len(t.Elems) != size {
		return fmt.Errorf("%s: %%%s has the type %s, expected %d elements", n.kind, v.Name(), t, size)
	}
	return nil
}

func expectType(n *Node, v *Value, kind types.Kind) error {
	if v.typ.Kind() != kind {
		return fmt.Errorf("%s: the type %s of %%%s does not fit", n.kind, v.typ, v.Name())
	}
	return nil
}

// verifyAttribute checks that the object has the attribute. Objects of interfaces are not looked into.
func verifyAttribute(n *Node) error {
	name := n.StringAttr("name")
	if name == "" {
		return fmt.Errorf("%s has no name", n.kind)
	}
	if class, ok := n.inputs[0].typ.(*types.Class); ok && class.AttributeIndex(name) < 0 {
		return fmt.Errorf("%s: %s has no attribute %q", n.kind, class.Name, name)
	}
	return nil
}

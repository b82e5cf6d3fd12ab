package bind

import (
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// valueMembers are the methods of values and of their uses.
var valueMembers = []function{
	{schema: "Value.__repr__(any self) -> str", doc: "The value's name and the node that defines it.", run: bind(valueText)},
	{schema: "Value.type(Value self) -> Type", doc: "The static type.", run: bind((*ir.Value).Type)},
	{schema: "Value.setType(Value self, Type t) -> Value", doc: "Sets the static type.", run: bind((*ir.Value).SetType)},
	{schema: "Value.setTypeAs(Value self, Value other) -> Value", doc: "Takes over the type of another value.", run: bindAcross(func(v, other *ir.Value) *ir.Value { return v.SetType(other.Type()) })},
	{schema: "Value.inferTypeFrom(Value self, any value) -> None", doc: "Sets the type to the most precise one of a tensor or an object.", run: bind(inferTypeFrom)},
	{schema: "Value.unique(Value self) -> int", doc: "A number that no other value of the graph has.", run: bind((*ir.Value).ID)},
	{schema: "Value.debugName(Value self) -> str", doc: "The name, or the number where there is none.", run: bind((*ir.Value).Name)},
	{schema: "Value.setDebugName(Value self, str name) -> Value", doc: "Names the value; the value that had the name gets a number behind it.", run: bind(setDebugName)},
	{schema: "Value.offset(Value self) -> int", doc: "The position among the outputs of the node that defines it.", run: bind((*ir.Value).Offset)},
	{schema: "Value.uses(Value self) -> list", doc: "The places where the value is an input.", run: bind((*ir.Value).Uses)},
	{schema: "Value.node(Value self) -> Node", doc: "The node that defines the value.", run: bind((*ir.Value).Node)},
	{schema: "Value.replaceAllUsesWith(Value self, Value other) -> None", doc: "Makes every use one of another value.", run: bind((*ir.Value).ReplaceAllUsesWith)},
	{schema: "Value.replaceAllUsesAfterNodeWith(Value self, Node node, Value other) -> None", doc: "Makes the uses by nodes behind a node uses of another value.", run: bind(func(v *ir.Value, n *ir.Node, other *ir.Value) error {
		if n.Block() == nil {
			return runtimeErrorf("the node %s is in no block", n.Kind())
		}
		v.ReplaceAllUsesAfter(n, other)
		return nil
	})},
	{schema: "Value.replaceAllUsesDominatedByNodeWith(Value self, Node node, Value other) -> None", doc: "Makes the uses by nodes that run only after a node uses of another value.", run: bind(func(v *ir.Value, n *ir.Node, other *ir.Value) error {
		if n.Block() == nil {
			return runtimeErrorf("the node %s is in no block", n.Kind())
		}
		v.ReplaceAllUsesDominatedBy(n, other)
		return nil
	})},
	{schema: "Value.copyMetadata(Value self, Value other) -> Value", doc: "Takes over the type and the name of another value.", run: bindAcross((*ir.Value).CopyMetadata)},
	{schema: "Value.isCompleteTensor(Value self) -> bool", doc: "Whether the type says all of a tensor: element type, device, sizes and strides.", run: bind(func(v *ir.Value) bool { t, ok := v.Type().(*types.TensorInfo); return ok && t.IsComplete() })},
	{schema: "Value.requires_grad(Value self) -> bool", doc: "Whether the value may need a gradient by its type.", run: bind(func(v *ir.Value) bool { return typeRequiresGrad(v.Type()) })},
	{schema: "Value.requiresGrad(Value self) -> bool", doc: "Whether the type says that a gradient is needed; None where it does not tell.", run: bind(func(v *ir.Value) (*bool, error) {
		t, err := tensorInfo(v.Type())
		if err != nil {
			return nil, err
		}
		return t.RequiresGrad, nil
	})},
	{schema: "Value.toIValue(Value self) -> any", doc: "The value of a constant, None of anything else.", run: bind(func(v *ir.Value) value.Value { c, _ := v.Constant(); return c })},

	{schema: "Use.user(Use self) -> Node", doc: "The node that uses the value.", property: true, run: bind(func(u ir.Use) (*ir.Node, error) { return u.User, destroyed(u.User) })},
	{schema: "Use.offset(Use self) -> int", doc: "The position among the node's inputs.", property: true, run: bind(func(u ir.Use) int { return u.Index })},
	{schema: "Use.isAfter(Use self, Use other) -> bool", doc: "Whether the use stands behind another in the text.", run: bind(useIsAfter)},
}

func valueText(w *Word) (string, error) {
	v, ok := w.content().(*ir.Value)
	if !ok {
		return "", typeErrorf("expected a Value, not a %s", w.kindName())
	}
	if err := destroyed(v); err != nil {
		return "", err
	}
	return v.Name() + " defined in (" + v.Node().String() + ")", nil
}

func inferTypeFrom(v *ir.Value, from value.Value) error {
	switch from.Kind() {
	case value.KindTensor:
		v.SetType(value.CompleteType(from.Tensor()))
	case value.KindObject:
		v.SetType(from.Object().Class)
	default:
		return typeErrorf("inferTypeFrom(): incompatible function arguments: expected a Tensor or an object, not a %s", from.Kind())
	}
	return nil
}

func setDebugName(v *ir.Value, name string) (*ir.Value, error) {
	if name != "" && !ir.ValidName(name) {
		return nil, runtimeErrorf("Invalid name: '%s'", name)
	}
	return v.SetName(name), nil
}

// typeRequiresGrad reports whether a value of a type may need a gradient.
func typeRequiresGrad(t types.Type) bool {
	if t, ok := t.(*types.TensorInfo); ok {
		return t.RequiresGrad == nil || *t.RequiresGrad
	}
	for _, c := range types.Contained(t) {
		if typeRequiresGrad(c) {
			return true
		}
	}
	return false
}

func tensorInfo(t types.Type) (*types.TensorInfo, error) {
	info, ok := t.(*types.TensorInfo)
	if !ok {
		return nil, runtimeErrorf("expected a Tensor type, but the type is %s", t.Annotation(nil))
	}
	return info, nil
}

func useIsAfter(u, other ir.Use) (bool, error) {
	if err := destroyed(u.User); err != nil {
		return false, err
	}
	if err := destroyed(other.User); err != nil {
		return false, err
	}
	if u.User == other.User {
		return u.Index > other.Index, nil
	}
	return isBefore(other.User, u.User)
}

package graphs

import (
	"github.com/torchjit/torchjit/gojit/bind/abi"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// valueMembers are the methods of values and of their uses.
var valueMembers = []abi.Function{
	{Schema: "Value.__repr__(any self) -> str", Doc: "The value's name and the node that defines it.", Run: abi.Bind(valueText)},
	{Schema: "Value.type(Value self) -> Type", Doc: "The static type.", Run: abi.Bind((*ir.Value).Type)},
	{Schema: "Value.setType(Value self, Type t) -> Value", Doc: "Sets the static type.", Run: abi.Bind((*ir.Value).SetType)},
	{Schema: "Value.setTypeAs(Value self, Value other) -> Value", Doc: "Takes over the type of another value.", Run: abi.BindAcross(func(v, other *ir.Value) *ir.Value { return v.SetType(other.Type()) })},
	{Schema: "Value.inferTypeFrom(Value self, any value) -> None", Doc: "Sets the type to the most precise one of a tensor or an object.", Run: abi.Bind(inferTypeFrom)},
	{Schema: "Value.unique(Value self) -> int", Doc: "A number that no other value of the graph has.", Run: abi.Bind((*ir.Value).ID)},
	{Schema: "Value.debugName(Value self) -> str", Doc: "The name, or the number where there is none.", Run: abi.Bind((*ir.Value).Name)},
	{Schema: "Value.setDebugName(Value self, str name) -> Value", Doc: "Names the value; the value that had the name gets a number behind it.", Run: abi.Bind(setDebugName)},
	{Schema: "Value.offset(Value self) -> int", Doc: "The position among the outputs of the node that defines it.", Run: abi.Bind((*ir.Value).Offset)},
	{Schema: "Value.uses(Value self) -> list", Doc: "The places where the value is an input.", Run: abi.Bind((*ir.Value).Uses)},
	{Schema: "Value.node(Value self) -> Node", Doc: "The node that defines the value.", Run: abi.Bind((*ir.Value).Node)},
	{Schema: "Value.replaceAllUsesWith(Value self, Value other) -> None", Doc: "Makes every use one of another value.", Run: abi.Bind((*ir.Value).ReplaceAllUsesWith)},
	{Schema: "Value.replaceAllUsesAfterNodeWith(Value self, Node node, Value other) -> None", Doc: "Makes the uses by nodes behind a node uses of another value.", Run: abi.Bind(func(v *ir.Value, n *ir.Node, other *ir.Value) error {
		if n.Block() == nil {
			return abi.RuntimeErrorf("the node %s is in no block", n.Kind())
		}
		v.ReplaceAllUsesAfter(n, other)
		return nil
	})},
	{Schema: "Value.replaceAllUsesDominatedByNodeWith(Value self, Node node, Value other) -> None", Doc: "Makes the uses by nodes that run only after a node uses of another value.", Run: abi.Bind(func(v *ir.Value, n *ir.Node, other *ir.Value) error {
		if n.Block() == nil {
			return abi.RuntimeErrorf("the node %s is in no block", n.Kind())
		}
		v.ReplaceAllUsesDominatedBy(n, other)
		return nil
	})},
	{Schema: "Value.copyMetadata(Value self, Value other) -> Value", Doc: "Takes over the type and the name of another value.", Run: abi.BindAcross((*ir.Value).CopyMetadata)},
	{Schema: "Value.isCompleteTensor(Value self) -> bool", Doc: "Whether the type says all of a tensor: element type, device, sizes and strides.", Run: abi.Bind(func(v *ir.Value) bool { t, ok := v.Type().(*types.TensorInfo); return ok && t.IsComplete() })},
	{Schema: "Value.requires_grad(Value self) -> bool", Doc: "Whether the value may need a gradient by its type.", Run: abi.Bind(func(v *ir.Value) bool { return typeRequiresGrad(v.Type()) })},
	{Schema: "Value.requiresGrad(Value self) -> bool", Doc: "Whether the type says that a gradient is needed; None where it does not tell.", Run: abi.Bind(func(v *ir.Value) (*bool, error) {
		t, err := tensorInfo(v.Type())
		if err != nil {
			return nil, err
		}
		return t.RequiresGrad, nil
	})},
	{Schema: "Value.toIValue(Value self) -> any", Doc: "The value of a constant, None of anything else.", Run: abi.Bind(func(v *ir.Value) value.Value { c, _ := v.Constant(); return c })},

	{Schema: "Use.user(Use self) -> Node", Doc: "The node that uses the value.", Property: true, Run: abi.Bind(func(u ir.Use) (*ir.Node, error) { return u.User, abi.Destroyed(u.User) })},
	{Schema: "Use.offset(Use self) -> int", Doc: "The position among the node's inputs.", Property: true, Run: abi.Bind(func(u ir.Use) int { return u.Index })},
	{Schema: "Use.isAfter(Use self, Use other) -> bool", Doc: "Whether the use stands behind another in the text.", Run: abi.Bind(useIsAfter)},
}

func valueText(w *abi.Word) (string, error) {
	v, ok := w.Content().(*ir.Value)
	if !ok {
		return "", abi.TypeErrorf("expected a Value, not a %s", w.KindName())
	}
	if err := abi.Destroyed(v); err != nil {
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
		return abi.TypeErrorf("inferTypeFrom(): incompatible function arguments: expected a Tensor or an object, not a %s", from.Kind())
	}
	return nil
}

func setDebugName(v *ir.Value, name string) (*ir.Value, error) {
	if name != "" && !ir.ValidName(name) {
		return nil, abi.RuntimeErrorf("Invalid name: '%s'", name)
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
		return nil, abi.RuntimeErrorf("expected a Tensor type, but the type is %s", t.Annotation(nil))
	}
	return info, nil
}

func useIsAfter(u, other ir.Use) (bool, error) {
	if err := abi.Destroyed(u.User); err != nil {
		return false, err
	}
	if err := abi.Destroyed(other.User); err != nil {
		return false, err
	}
	if u.User == other.User {
		return u.Index > other.Index, nil
	}
	return isBefore(other.User, u.User)
}

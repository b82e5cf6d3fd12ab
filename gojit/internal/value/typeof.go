package value

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// TypeOf returns the type of a value, as precise as the value itself tells.
func TypeOf(v Value) types.Type {
	switch v.Kind() {
	case KindNone:
		return types.None
	case KindBool:
		return types.Bool
	case KindInt:
		return types.Int
	case KindFloat:
		return types.Float
	case KindComplex:
		return types.Complex
	case KindString:
		return types.Str
	case KindDevice:
		return types.Device
	case KindTensor:
		return types.Tensor
	case KindList:
		return types.NewList(v.List().Elem)
	case KindDict:
		return types.NewDict(v.Dict().Key, v.Dict().Elem)
	case KindTuple:
		return tupleType(v.Tuple())
	case KindObject:
		return v.Object().Class
	case KindEnum:
		return v.Enum().Type
	case KindFuture:
		return &types.Future{Elem: v.Future().Type, Lazy: v.Future().Lazy}
	case KindGenerator:
		return types.Generator
	case KindStorage:
		return types.Storage
	case KindFunction:
		return &types.Function{Name: v.Function().Name, Target: v.Function().Target}
	case KindCapsule:
		if c := v.Capsule(); c.Native {
			return types.NativeClass(types.NativePrefix + c.Kind)
		}
		return types.Capsule
	}
	return types.Any
}

// CompleteType returns the type of a tensor with all that is known of it.
func CompleteType(t *tensor.Tensor) types.Type {
	dims, grad := t.Dim(), t.RequiresGrad()
	if t.IsSparse() { // types say nothing of sizes in other layouts
		return &types.TensorInfo{DType: t.DType().String(), Device: t.ShownDevice().String(), RequiresGrad: &grad}
	}
	info := &types.TensorInfo{DType: t.DType().String(), Device: t.Device().String(), Dims: &dims, RequiresGrad: &grad,
		Sizes: append([]int{}, t.Shape()...)}
	if dims > 0 {
		info.Strides = append([]int{}, t.Strides()...)
	}
	return info
}

// ConstantType returns the type of a constant: that of the value, with all that is known of a tensor, and of those in tuples without names.
func ConstantType(v Value) types.Type {
	switch v.Kind() {
	case KindTensor:
		return CompleteType(v.Tensor())
	case KindTuple:
		known := tupleType(v.Tuple())
		t, ok := known.(*types.Tuple)
		if !ok || t.Name != "" {
			return known
		}
		elems := slices.Clone(t.Elems)
		for i, item := range v.Tuple().Items {
			if k := item.Kind(); k == KindTensor && elems[i].Kind() == types.KindTensor || k == KindTuple && elems[i].Kind() == types.KindTuple {
				elems[i] = ConstantType(item)
			}
		}
		return types.NewTuple(elems...)
	}
	return TypeOf(v)
}

func tupleType(t *Tuple) types.Type {
	if t.Type != nil {
		return t.Type
	}
	elems := make([]types.Type, len(t.Items))
	for i, item := range t.Items {
		elems[i] = TypeOf(item)
	}
	return types.NewTuple(elems...)
}

// Conforms reports whether v is a value of type t at run time. An int is no float here.
func Conforms(v Value, t types.Type) bool {
	switch x := t.(type) {
	case *types.Optional:
		return v.IsNone() || Conforms(v, x.Elem)
	case *types.Union:
		for _, e := range x.Elems {
			if Conforms(v, e) {
				return true
			}
		}
		return false
	case *types.List:
		if v.Kind() != KindList {
			return false
		}
		return types.IsSubtype(v.List().Elem, x.Elem)
	case *types.Tuple:
		if v.Kind() != KindTuple || len(v.Tuple().Items) != len(x.Elems) {
			return false
		}
		if x.Name != "" && (v.Tuple().Type == nil || v.Tuple().Type.Name != x.Name) {
			return false
		}
		for i, item := range v.Tuple().Items {
			if !Conforms(item, x.Elems[i]) {
				return false
			}
		}
		return true
	}
	if v.Kind() == KindCapsule {
		c, ok := t.(*types.Class)
		return ok && c.Name == types.NativePrefix+v.Capsule().Kind || t.Kind() == types.KindCapsule || t.Kind() == types.KindAny
	}
	switch t.Kind() {
	case types.KindAnyList:
		return v.Kind() == KindList
	case types.KindAnyTuple:
		return v.Kind() == KindTuple
	}
	return types.IsSubtype(TypeOf(v), t)
}

// CommonType returns the type of the elements of a container: that of all values, Any where they differ, and Tensor where there are none.
func CommonType(items []Value) types.Type {
	if len(items) == 0 {
		return types.Tensor
	}
	t := TypeOf(items[0])
	for _, item := range items[1:] {
		if !types.Equal(TypeOf(item), t) {
			return types.Any
		}
	}
	return t
}

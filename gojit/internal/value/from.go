package value

import "github.com/torchjit/torchjit/gojit/tensor"

// From returns a Go value as a Value: a Value as it is, numbers, strings, element types, tensors,
// slices of ints and of tensors as lists, None for nil and for a nil tensor. It fails on other types.
func From(x any) (v Value, ok bool) {
	switch x := x.(type) {
	case Value:
		return x, true
	case *tensor.Tensor:
		if x == nil {
			return None, true
		}
		return OfTensor(x), true
	case nil:
		return None, true
	case bool:
		return Bool(x), true
	case int:
		return Int(int64(x)), true
	case int64:
		return Int(x), true
	case float64:
		return Float(x), true
	case string:
		return Str(x), true
	case tensor.DType:
		return Int(int64(x)), true
	case []int:
		return OfList(Ints(x)), true
	case []*tensor.Tensor:
		return OfList(Tensors(x)), true
	}
	return None, false
}

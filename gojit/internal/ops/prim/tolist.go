package prim

import (
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// listElements are the element types that prim::tolist knows by number.
var listElements = []struct {
	typ  types.Type
	kind tensor.ScalarKind
	of   func(tensor.Scalar) value.Value
}{
	{types.Int, tensor.IntScalar, func(s tensor.Scalar) value.Value { return value.Int(s.Int64()) }},
	{types.Float, tensor.FloatScalar, func(s tensor.Scalar) value.Value { return value.Float(s.Float64()) }},
	{types.Bool, tensor.BoolScalar, func(s tensor.Scalar) value.Value { return value.Bool(s.Bool()) }},
	{types.Complex, tensor.ComplexScalar, func(s tensor.Scalar) value.Value { return value.Complex(s.Complex128()) }},
}

// toList converts a tensor to nested lists: the arguments are the tensor, the number of dimensions
// and the number of the element type that the program expects.
func toList(args, out []value.Value) error {
	if len(args) != 3 || !args[0].IsTensor() || !args[1].IsInt() || !args[2].IsInt() {
		return errorf("tolist() takes a tensor, a number of dimensions and an element type")
	}
	t, dims, code := args[0].Tensor(), args[1].Int(), args[2].Int()
	if code < 0 || code >= int64(len(listElements)) {
		return errorf("%d is not the number of an element type for tolist()", code)
	}
	if dims != int64(t.Dim()) {
		return errorf("Output annotation list dimension and runtime tensor dimension must match for tolist()")
	}
	if !holds(t.DType(), code) {
		return errorf("Output annotation element type and runtime tensor element type must match for tolist()")
	}
	if t.OnDevice() {
		here, err := t.ToDevice(tensor.Device{})
		if err != nil {
			return err
		}
		t = here
	}
	out[0] = nested(t, make([]int, 0, dims), code)
	return nil
}

// holds reports whether elements of dtype become values of the element type without loss of
// meaning: int is int64 alone, float and complex are of any width.
func holds(dtype tensor.DType, code int64) bool {
	switch listElements[code].kind {
	case tensor.IntScalar:
		return dtype == tensor.Int64
	case tensor.BoolScalar:
		return dtype == tensor.Bool
	case tensor.FloatScalar:
		return dtype.IsFloating()
	}
	return dtype.IsComplex()
}

// nested returns the part of t that begins with index.
func nested(t *tensor.Tensor, index []int, code int64) value.Value {
	if len(index) == t.Dim() {
		return listElements[code].of(t.At(index...))
	}
	elem := listElements[code].typ
	for range t.Dim() - len(index) - 1 {
		elem = types.NewList(elem)
	}
	l := value.NewList(elem, make([]value.Value, t.Shape()[len(index)])...)
	for i := range l.Items {
		l.Items[i] = nested(t, append(index, i), code)
	}
	return value.OfList(l)
}

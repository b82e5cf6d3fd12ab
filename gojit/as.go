package gojit

import (
	"fmt"
	"math"
	"reflect"

	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// As returns a value of a program as a Go value: a *tensor.Tensor, a bool, a number, a string, a slice of these for a list or a tuple, a map for a dictionary,
// a struct for a tuple or a dictionary of strings, whose fields are called as in the tag `torch:"name"` or as themselves in lower case, a pointer for what
// may be None, or any. Slices also take the elements of a tensor, nested as it has dimensions, and numbers those of a tensor of one element.
//
// It fails where the value is another, where a number would lose something, and says where in the value that is.
func As[T any](v Value) (T, error) {
	var out T
	if err := assign(reflect.ValueOf(&out).Elem(), v, "the value"); err != nil {
		var zero T
		return zero, err
	}
	return out, nil
}

// AsTensor returns the tensor that a value is, or a new one of its numbers: a vector of those of a list, one without dimensions of a number or a bool.
// It fails where the value is another.
func AsTensor(v Value) (*tensor.Tensor, error) {
	t, err := As[*tensor.Tensor](v)
	if err == nil {
		return t, nil
	}
	switch s, _ := v.Scalar(); v.Kind() {
	case value.KindBool:
		return tensor.FromScalar(s, tensor.Bool), nil
	case value.KindInt:
		return tensor.FromScalar(s, tensor.Int64), nil
	case value.KindFloat:
		return tensor.FromScalar(s, tensor.Float64), nil
	}
	if i, err := As[[]int64](v); err == nil {
		return tensor.FromSlice(i, len(i))
	}
	if f, err := As[[]float64](v); err == nil {
		return tensor.FromSlice(f, len(f))
	}
	return nil, err
}

var tensorType, valueType = reflect.TypeFor[*tensor.Tensor](), reflect.TypeFor[value.Value]()

func assign(to reflect.Value, v value.Value, place string) error {
	switch {
	case to.Type() == valueType:
		to.Set(reflect.ValueOf(v))
		return nil
	case to.Type() == tensorType:
		if v.IsTensor() {
			to.Set(reflect.ValueOf(v.Tensor()))
			return nil
		}
		return mismatch(place, v, "a tensor")
	}
	switch to.Kind() {
	case reflect.Pointer:
		if v.IsNone() {
			to.SetZero()
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		return assign(to.Elem(), v, place)
	case reflect.Interface:
		if to.NumMethod() == 0 {
			x, err := plain(v, place)
			if err == nil && x != nil {
				to.Set(reflect.ValueOf(x))
			}
			return err
		}
	case reflect.Slice:
		return assignSlice(to, v, place)
	case reflect.Map:
		return assignMap(to, v, place)
	case reflect.Struct:
		return assignStruct(to, v, place)
	case reflect.String:
		if v.Kind() == value.KindString {
			to.SetString(v.Str())
			return nil
		}
		return mismatch(place, v, "a string")
	}
	if v.IsTensor() && v.Tensor().Numel() == 1 {
		s, err := v.Tensor().Item()
		if err != nil {
			return err
		}
		v = value.OfScalar(s)
	}
	return assignNumber(to, v, place)
}

func mismatch(place string, v value.Value, expected string) error {
	found := value.TypeOf(v).Annotation(nil)
	if v.IsTensor() {
		found = fmt.Sprintf("a tensor of type %s and shape %s", v.Tensor().DType(), tensor.FormatShape(v.Tensor().Shape()))
	}
	return &errs.CallError{Err: source.Errorf(source.TypeError, source.Range{}, "%s is %s, not %s", place, found, expected)}
}

func assignNumber(to reflect.Value, v value.Value, place string) error {
	wants := "a value that the Go type " + to.Type().String() + " holds"
	switch v.Kind() {
	case value.KindBool:
		if to.Kind() == reflect.Bool {
			to.SetBool(v.Bool())
			return nil
		}
	case value.KindInt:
		switch i := v.Int(); {
		case to.CanInt() && !to.OverflowInt(i):
			to.SetInt(i)
			return nil
		case to.CanUint() && i >= 0 && !to.OverflowUint(uint64(i)):
			to.SetUint(uint64(i))
			return nil
		case to.CanFloat() && int64(float64(i)) == i && (to.Kind() == reflect.Float64 || int64(float32(i)) == i):
			to.SetFloat(float64(i))
			return nil
		}
	case value.KindFloat:
		f := v.Float()
		if to.Kind() == reflect.Float64 || to.Kind() == reflect.Float32 && (float64(float32(f)) == f || math.IsNaN(f)) {
			to.SetFloat(f)
			return nil
		}
	case value.KindComplex:
		if to.Kind() == reflect.Complex128 {
			to.SetComplex(v.Complex())
			return nil
		}
	}
	return mismatch(place, v, wants)
}

func itemsOf(v value.Value) ([]value.Value, bool) {
	switch v.Kind() {
	case value.KindList:
		return v.List().Items, true
	case value.KindTuple:
		return v.Tuple().Items, true
	}
	return nil, false
}

func assignSlice(to reflect.Value, v value.Value, place string) error {
	if v.IsTensor() {
		return assignElements(to, v.Tensor(), place)
	}
	items, ok := itemsOf(v)
	if !ok {
		return mismatch(place, v, "a list or a tuple")
	}
	out := reflect.MakeSlice(to.Type(), len(items), len(items))
	for i, item := range items {
		if err := assign(out.Index(i), item, fmt.Sprintf("element %d of %s", i, place)); err != nil {
			return err
		}
	}
	to.Set(out)
	return nil
}

// assignElements gives nested slices the elements of a tensor with as many dimensions.
func assignElements(to reflect.Value, t *tensor.Tensor, place string) error {
	dims, elem := 0, to.Type()
	for elem.Kind() == reflect.Slice {
		dims, elem = dims+1, elem.Elem()
	}
	if dims != t.Dim() {
		return mismatch(place, value.OfTensor(t), fmt.Sprintf("one of %d dimensions, as %s has", dims, to.Type()))
	}
	want := elementType(elem)
	if want == tensor.NoDType || !holds(want, t.DType()) {
		return mismatch(place, value.OfTensor(t), "one whose elements "+elem.String()+" holds")
	}
	converted, err := t.To(want)
	if err != nil {
		return err
	}
	flat, err := flatElements(converted)
	if err != nil {
		return err
	}
	rest := reflect.ValueOf(flat)
	to.Set(nested(to.Type(), t.Shape(), &rest))
	return nil
}

// nested takes rows of a shape off the front of flat.
func nested(t reflect.Type, shape []int, flat *reflect.Value) reflect.Value {
	out := reflect.MakeSlice(t, shape[0], shape[0])
	if len(shape) == 1 {
		row := flat.Slice(0, shape[0])
		if row.Type() == t {
			reflect.Copy(out, row)
		} else {
			for i := range shape[0] {
				out.Index(i).Set(row.Index(i).Convert(t.Elem()))
			}
		}
		*flat = flat.Slice(shape[0], flat.Len())
		return out
	}
	for i := range shape[0] {
		out.Index(i).Set(nested(t.Elem(), shape[1:], flat))
	}
	return out
}

// holds reports whether every number of type b is one of type a.
func holds(a, b tensor.DType) bool {
	if a == b {
		return true
	}
	switch a {
	case tensor.Float32:
		return b == tensor.Float16 || b == tensor.BFloat16
	case tensor.Float64:
		return b.IsFloating()
	case tensor.Int16, tensor.Int32, tensor.Int64:
		return b.IsIntegral() && b.Size() < a.Size()
	case tensor.Complex128:
		return b == tensor.Complex64
	}
	return false
}

// flatElements returns the elements in row-major order as a slice of their Go type.
func flatElements(t *tensor.Tensor) (any, error) {
	switch t.DType() {
	case tensor.Bool:
		return tensor.Elements[bool](t)
	case tensor.Uint8:
		return tensor.Elements[uint8](t)
	case tensor.Int8:
		return tensor.Elements[int8](t)
	case tensor.Int16:
		return tensor.Elements[int16](t)
	case tensor.Int32:
		return tensor.Elements[int32](t)
	case tensor.Int64:
		return tensor.Elements[int64](t)
	case tensor.Float32:
		return tensor.Elements[float32](t)
	case tensor.Complex64:
		return tensor.Elements[complex64](t)
	case tensor.Complex128:
		return tensor.Elements[complex128](t)
	}
	return tensor.Elements[float64](t)
}

func assignMap(to reflect.Value, v value.Value, place string) error {
	if v.Kind() != value.KindDict {
		return mismatch(place, v, "a dictionary")
	}
	out := reflect.MakeMap(to.Type())
	for k, item := range v.Dict().All {
		name := value.Repr(k, nil)
		key, elem := reflect.New(to.Type().Key()).Elem(), reflect.New(to.Type().Elem()).Elem()
		if err := assign(key, k, "the key "+name+" of "+place); err != nil {
			return err
		}
		if err := assign(elem, item, "the item "+name+" of "+place); err != nil {
			return err
		}
		out.SetMapIndex(key, elem)
	}
	to.Set(out)
	return nil
}

func assignStruct(to reflect.Value, v value.Value, place string) error {
	fields := fieldsOf(to.Type())
	find := func(i int) (value.Value, bool) { return value.None, false }
	count := 0
	switch v.Kind() {
	case value.KindTuple:
		t := v.Tuple()
		count = len(t.Items)
		find = func(i int) (value.Value, bool) {
			if t.Type != nil && t.Type.Fields != nil {
				i = t.Type.FieldIndex(fields[i].name)
			}
			if i < 0 || i >= len(t.Items) {
				return value.None, false
			}
			return t.Items[i], true
		}
	case value.KindDict:
		if d := v.Dict(); d.Key.Kind() == types.KindString {
			count = d.Len()
			find = func(i int) (value.Value, bool) { return d.Get(value.Str(fields[i].name)) }
		}
	default:
		return mismatch(place, v, "a tuple or a dictionary of strings")
	}
	for i, f := range fields {
		item, ok := find(i)
		if !ok {
			return mismatch(place, v, fmt.Sprintf("one with a part '%s', as %s has", f.name, to.Type()))
		}
		if err := assign(to.Field(f.index), item, "'"+f.name+"' of "+place); err != nil {
			return err
		}
	}
	if count > len(fields) {
		return mismatch(place, v, fmt.Sprintf("one of %d parts, as %s has", len(fields), to.Type()))
	}
	return nil
}

// plain returns a value as the Go value that is nearest to it.
func plain(v value.Value, place string) (any, error) {
	switch v.Kind() {
	case value.KindNone:
		return nil, nil
	case value.KindBool:
		return v.Bool(), nil
	case value.KindInt:
		return v.Int(), nil
	case value.KindFloat:
		return v.Float(), nil
	case value.KindComplex:
		return v.Complex(), nil
	case value.KindString:
		return v.Str(), nil
	case value.KindTensor:
		return v.Tensor(), nil
	case value.KindList, value.KindTuple:
		items, _ := itemsOf(v)
		out := make([]any, len(items))
		for i, item := range items {
			x, err := plain(item, fmt.Sprintf("element %d of %s", i, place))
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
		return out, nil
	case value.KindDict:
		out := map[any]any{}
		for k, item := range v.Dict().All {
			key, err := plain(k, "a key of "+place)
			if err != nil {
				return nil, err
			}
			if out[key], err = plain(item, "the item "+value.Repr(k, nil)+" of "+place); err != nil {
				return nil, err
			}
		}
		return out, nil
	}
	return v, nil
}

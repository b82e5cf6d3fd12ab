package gojit

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// ValueOf returns a Go value as a value of a program, by what it is itself: slices of numbers are lists. It fails on values that programs do not have.
func ValueOf(x any) (Value, error) { return valueFor(x, types.Any) }

// valueFor returns a Go value as a value of a type. The error says what was found, and where in x.
func valueFor(x any, t types.Type) (value.Value, error) {
	switch x := x.(type) {
	case json.RawMessage:
		return valueOfJSON(x, t)
	case json.Number:
		return valueOfNumber(x, t)
	case map[string]any:
		if t.Kind() == types.KindTensor || t.Kind() == types.KindAny {
			if form, ok := tensorForm(x); ok {
				return form.value()
			}
		}
	}
	if v, ok := value.From(x); ok {
		if c, ok := value.Coerce(v, t); ok {
			return c, nil
		}
		if _, isValue := x.(value.Value); isValue || v.IsNone() || v.IsTensor() {
			return value.None, fmt.Errorf("found %s", value.TypeOf(v).Annotation(nil))
		}
	}
	return reflected(reflect.ValueOf(x), t)
}

// reflected is valueFor of values whose Go types are not known here.
func reflected(x reflect.Value, t types.Type) (value.Value, error) {
	for x.Kind() == reflect.Pointer || x.Kind() == reflect.Interface {
		if x.IsNil() {
			return valueFor(nil, t)
		}
		if inner := x.Elem(); x.Kind() == reflect.Interface || inner.Kind() != reflect.Struct {
			return valueFor(inner.Interface(), t)
		}
		x = x.Elem()
	}
	switch to := t.(type) {
	case *types.Optional:
		return valueFor(x.Interface(), to.Elem)
	case *types.Union:
		for _, e := range to.Elems {
			if v, err := valueFor(x.Interface(), e); err == nil {
				return v, nil
			}
		}
		return value.None, found(x)
	case *types.List:
		return listOf(x, to)
	case *types.Tuple:
		return tupleOf(x, to)
	case *types.Dict:
		return dictOf(x, to)
	}
	switch t.Kind() {
	case types.KindTensor:
		if x.Kind() == reflect.Slice || x.Kind() == reflect.Array {
			return tensorOf(x)
		}
	case types.KindInt, types.KindFloat, types.KindComplex, types.KindBool, types.KindString, types.KindNumber:
		return numberOf(x, t)
	case types.KindDevice:
		if x.Kind() == reflect.String {
			d, err := tensor.ParseDevice(x.String())
			return value.OfDevice(d), err
		}
	case types.KindAny:
		return anyOf(x)
	}
	return value.None, found(x)
}

func found(x reflect.Value) error { return fmt.Errorf("found a Go value of type %s", x.Type()) }

// numberOf converts a number, a truth or a text of any Go type.
func numberOf(x reflect.Value, t types.Type) (value.Value, error) {
	var v value.Value
	switch {
	case x.CanInt():
		v = value.Int(x.Int())
	case x.CanUint():
		if x.Uint() > math.MaxInt64 {
			return value.None, fmt.Errorf("found %d, which is more than 64 bits hold", x.Uint())
		}
		v = value.Int(int64(x.Uint()))
	case x.CanFloat():
		v = value.Float(x.Float())
	case x.CanComplex():
		v = value.Complex(x.Complex())
	case x.Kind() == reflect.Bool:
		v = value.Bool(x.Bool())
	case x.Kind() == reflect.String:
		v = value.Str(x.String())
	default:
		return value.None, found(x)
	}
	if c, ok := value.Coerce(v, t); ok {
		return c, nil
	}
	return value.None, found(x)
}

func listOf(x reflect.Value, t *types.List) (value.Value, error) {
	if x.Kind() != reflect.Slice && x.Kind() != reflect.Array {
		return value.None, found(x)
	}
	items := make([]value.Value, x.Len())
	for i := range items {
		v, err := valueFor(x.Index(i).Interface(), t.Elem)
		if err != nil {
			return value.None, fmt.Errorf("element %d: expected %s, %w", i, t.Elem.Annotation(nil), err)
		}
		items[i] = v
	}
	return value.OfList(value.NewList(t.Elem, items...)), nil
}

func tupleOf(x reflect.Value, t *types.Tuple) (value.Value, error) {
	var parts []reflect.Value
	switch x.Kind() {
	case reflect.Slice, reflect.Array:
		for i := range x.Len() {
			parts = append(parts, x.Index(i))
		}
	case reflect.Struct:
		fields := fieldsOf(x.Type())
		for i := range fields {
			at := i
			if i < len(t.Fields) {
				at = slices.IndexFunc(fields, func(f field) bool { return f.name == t.Fields[i] })
			}
			if at < 0 {
				return value.None, fmt.Errorf("found a Go struct without a field for '%s': %s", t.Fields[i], x.Type())
			}
			parts = append(parts, x.Field(fields[at].index))
		}
	case reflect.Map:
		if len(t.Fields) != len(t.Elems) || x.Type().Key().Kind() != reflect.String {
			return value.None, found(x)
		}
		for _, name := range t.Fields {
			part := x.MapIndex(reflect.ValueOf(name).Convert(x.Type().Key()))
			if !part.IsValid() {
				return value.None, fmt.Errorf("found a Go map without the key '%s'", name)
			}
			parts = append(parts, part)
		}
		if x.Len() > len(parts) {
			return value.None, fmt.Errorf("found %d keys, expected %d: %s", x.Len(), len(parts), strings.Join(t.Fields, ", "))
		}
	default:
		return value.None, found(x)
	}
	if len(parts) != len(t.Elems) {
		return value.None, fmt.Errorf("found %d elements, expected %d", len(parts), len(t.Elems))
	}
	items := make([]value.Value, len(parts))
	for i, part := range parts {
		v, err := valueFor(part.Interface(), t.Elems[i])
		if err != nil {
			return value.None, fmt.Errorf("element %d: expected %s, %w", i, t.Elems[i].Annotation(nil), err)
		}
		items[i] = v
	}
	return value.OfTuple(&value.Tuple{Type: t, Items: items}), nil
}

func dictOf(x reflect.Value, t *types.Dict) (value.Value, error) {
	d := value.NewDict(t.Key, t.Value)
	add := func(key, item any) error {
		k, err := valueFor(key, t.Key)
		if err != nil {
			return fmt.Errorf("key %v: expected %s, %w", key, t.Key.Annotation(nil), err)
		}
		v, err := valueFor(item, t.Value)
		if err != nil {
			return fmt.Errorf("value of %v: expected %s, %w", key, t.Value.Annotation(nil), err)
		}
		d.Set(k, v)
		return nil
	}
	switch x.Kind() {
	case reflect.Map:
		keys := x.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			if err := add(key.Interface(), x.MapIndex(key).Interface()); err != nil {
				return value.None, err
			}
		}
	case reflect.Struct:
		for _, f := range fieldsOf(x.Type()) {
			if err := add(f.name, x.Field(f.index).Interface()); err != nil {
				return value.None, err
			}
		}
	default:
		return value.None, found(x)
	}
	return value.OfDict(d), nil
}

// anyOf converts a value whose type the program leaves open: the type is that of the first element.
func anyOf(x reflect.Value) (value.Value, error) {
	switch x.Kind() {
	case reflect.Slice, reflect.Array:
		items := make([]value.Value, x.Len())
		elem := types.Type(types.Tensor)
		for i := range items {
			v, err := valueFor(x.Index(i).Interface(), types.Any)
			if err != nil {
				return value.None, fmt.Errorf("element %d: %w", i, err)
			}
			if i == 0 {
				elem = types.Unshaped(value.TypeOf(v))
			}
			c, ok := value.Coerce(v, elem)
			if !ok {
				return value.None, fmt.Errorf("element %d: expected %s as the elements before, found %s", i, elem.Annotation(nil), value.TypeOf(v).Annotation(nil))
			}
			items[i] = c
		}
		return value.OfList(value.NewList(elem, items...)), nil
	case reflect.Map:
		var key, elem types.Type = types.Str, types.Tensor
		iter := x.MapRange()
		if iter.Next() {
			k, err := valueFor(iter.Key().Interface(), types.Any)
			if err != nil {
				return value.None, err
			}
			v, err := valueFor(iter.Value().Interface(), types.Any)
			if err != nil {
				return value.None, err
			}
			key, elem = value.TypeOf(k), types.Unshaped(value.TypeOf(v))
		}
		return dictOf(x, types.NewDict(key, elem))
	}
	return numberOf(x, types.Any)
}

// field is a field of a struct that stands for a name of a program.
type field struct {
	name  string
	index int
}

// fieldsOf lists the exported fields, under the names that their tags say (`torch:"name"`) or their own in lower case.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, tagged := f.Tag.Lookup("torch")
		if !f.IsExported() || name == "-" {
			continue
		}
		if !tagged {
			name = strings.ToLower(f.Name)
		}
		fields = append(fields, field{name, i})
	}
	return fields
}

// tensorOf makes a tensor of nested slices of numbers, which must be of one length in each dimension.
func tensorOf(x reflect.Value) (value.Value, error) {
	if t, err := rowOf(x.Interface()); t != nil || err != nil {
		return value.OfTensor(t), err
	}
	var shape []int
	elem := x
	for elem.Kind() == reflect.Slice || elem.Kind() == reflect.Array {
		shape = append(shape, elem.Len())
		if elem.Len() == 0 {
			break
		}
		for elem = elem.Index(0); elem.Kind() == reflect.Interface && !elem.IsNil(); elem = elem.Elem() {
		}
	}
	b := &tensorBuilder{shape: shape}
	if err := b.read(x, 0, ""); err != nil {
		return value.None, err
	}
	t, err := b.tensor(elementType(x.Type()))
	return value.OfTensor(t), err
}

// rowOf makes a tensor of a slice of numbers, nil where x is none.
func rowOf(x any) (*tensor.Tensor, error) {
	switch x := x.(type) {
	case []float32:
		return tensor.FromSlice(x, len(x))
	case []float64:
		return tensor.FromSlice(x, len(x))
	case []int64:
		return tensor.FromSlice(x, len(x))
	case []int32:
		return tensor.FromSlice(x, len(x))
	case []uint8:
		return tensor.FromSlice(x, len(x))
	case []bool:
		return tensor.FromSlice(x, len(x))
	}
	return nil, nil
}

// elementType returns the element type that a Go type of nested slices says, NoDType where it leaves it open.
func elementType(t reflect.Type) tensor.DType {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Array {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Bool:
		return tensor.Bool
	case reflect.Uint8:
		return tensor.Uint8
	case reflect.Int8:
		return tensor.Int8
	case reflect.Int16:
		return tensor.Int16
	case reflect.Int32:
		return tensor.Int32
	case reflect.Int, reflect.Int64:
		return tensor.Int64
	case reflect.Float32:
		return tensor.Float32
	case reflect.Float64:
		return tensor.Float64
	case reflect.Complex64:
		return tensor.Complex64
	case reflect.Complex128:
		return tensor.Complex128
	}
	return tensor.NoDType
}

// tensorBuilder collects the numbers of nested slices.
type tensorBuilder struct {
	shape   []int
	numbers []tensor.Scalar
	kind    tensor.ScalarKind // the widest so far
}

func (b *tensorBuilder) read(x reflect.Value, dim int, place string) error {
	for x.Kind() == reflect.Interface && !x.IsNil() {
		x = x.Elem()
	}
	if dim < len(b.shape) {
		if x.Kind() != reflect.Slice && x.Kind() != reflect.Array {
			return fmt.Errorf("element %s: expected a row of %d, found %v", place, b.shape[dim], x)
		}
		if x.Len() != b.shape[dim] {
			return fmt.Errorf("element %s: expected a row of %d, found one of %d", orItself(place), b.shape[dim], x.Len())
		}
		for i := range x.Len() {
			if err := b.read(x.Index(i), dim+1, fmt.Sprintf("%s[%d]", place, i)); err != nil {
				return err
			}
		}
		return nil
	}
	var v value.Value
	err := error(nil)
	if n, ok := x.Interface().(json.Number); ok {
		v, err = valueOfNumber(n, types.Any)
	} else if x.Kind() == reflect.String {
		v, err = valueOfNumber(json.Number(x.String()), types.Float)
	} else {
		v, err = numberOf(x, types.Any)
	}
	if err != nil {
		return fmt.Errorf("element %s: expected a number, %w", place, err)
	}
	s, _ := v.Scalar()
	b.kind = max(b.kind, s.Kind)
	b.numbers = append(b.numbers, s)
	return nil
}

func orItself(place string) string {
	if place == "" {
		return "0"
	}
	return place
}

// tensor returns the numbers as elements of a type, NoDType for the one that Python would choose.
func (b *tensorBuilder) tensor(dtype tensor.DType) (*tensor.Tensor, error) {
	if dtype == tensor.NoDType {
		dtype = tensor.Float32
		if len(b.numbers) > 0 {
			dtype = [...]tensor.DType{tensor.Bool, tensor.Int64, tensor.DefaultDType(), tensor.DefaultDType().ToComplex()}[b.kind]
		}
	}
	if err := b.check(dtype); err != nil {
		return nil, err
	}
	t, err := tensor.Empty(b.shape, dtype)
	if err != nil {
		return nil, err
	}
	tensor.StoreAll(t, b.numbers)
	return t, nil
}

// check fails where a number is none of the type.
func (b *tensorBuilder) check(dtype tensor.DType) error {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	switch dtype {
	case tensor.Bool, tensor.Uint8:
		low, high = 0, 255
		if dtype == tensor.Bool {
			high = 1
		}
	case tensor.Int8, tensor.Int16, tensor.Int32:
		high = 1<<(8*dtype.Size()-1) - 1
		low = -high - 1
	}
	isInteger := dtype.IsIntegral() || dtype == tensor.Bool
	for i, n := range b.numbers {
		switch {
		case n.Kind == tensor.ComplexScalar && !dtype.IsComplex(), n.Kind == tensor.FloatScalar && isInteger:
			return fmt.Errorf("element %d: expected a number of type %s, found one of another kind", i, dtype)
		case isInteger && (n.Int64() < low || n.Int64() > high):
			return fmt.Errorf("element %d: %d is no %s", i, n.Int64(), dtype)
		}
	}
	return nil
}

// outputNames names the parts of a result of a type.
func outputNames(t types.Type) []string {
	tuple, ok := t.(*types.Tuple)
	if !ok {
		if t.Kind() == types.KindNone {
			return []string{}
		}
		return []string{"output"}
	}
	if tuple.Fields != nil {
		return slices.Clone(tuple.Fields)
	}
	names := make([]string, len(tuple.Elems))
	for i := range names {
		names[i] = fmt.Sprintf("output_%d", i)
	}
	return names
}

// Output is a part of a result, with its name.
type Output struct {
	Name  string
	Value Value
}

// Outputs returns the parts of a result: the fields of a named tuple, the items of a dictionary of strings, output_0 and so on of a tuple or a list,
// and every other value as "output".
func Outputs(v Value) []Output {
	var outputs []Output
	numbered := func(items []value.Value, fields []string) {
		for i, item := range items {
			name := fmt.Sprintf("output_%d", i)
			if i < len(fields) {
				name = fields[i]
			}
			outputs = append(outputs, Output{name, item})
		}
	}
	switch v.Kind() {
	case value.KindNone:
	case value.KindTuple:
		var fields []string
		if t := v.Tuple().Type; t != nil {
			fields = t.Fields
		}
		numbered(v.Tuple().Items, fields)
	case value.KindList:
		numbered(v.List().Items, nil)
	case value.KindDict:
		if v.Dict().Key.Kind() != types.KindString {
			return []Output{{"output", v}}
		}
		for key, item := range v.Dict().All {
			outputs = append(outputs, Output{key.Str(), item})
		}
	default:
		return []Output{{"output", v}}
	}
	return outputs
}

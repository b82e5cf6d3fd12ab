package gojit

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/torchjit/torchjit/gojit/errs"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// MarshalJSON returns a value as JSON. A tensor is an object of its type, its shape and its elements in nested lists; numbers that JSON lacks are the
// strings "NaN", "Infinity" and "-Infinity", a complex number is a list of two. json.RawMessage arguments are read the same way. It fails on objects.
func MarshalJSON(v Value) ([]byte, error) {
	var b bytes.Buffer
	if err := writeJSON(&b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, v value.Value) error {
	switch v.Kind() {
	case value.KindNone:
		b.WriteString("null")
	case value.KindBool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case value.KindInt:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case value.KindFloat:
		writeFloat(b, v.Float(), 64)
	case value.KindComplex:
		writeComplex(b, v.Complex(), 64)
	case value.KindString:
		text, err := json.Marshal(v.Str())
		if err != nil {
			return err
		}
		b.Write(text)
	case value.KindDevice:
		b.WriteString(strconv.Quote(v.Device().String()))
	case value.KindTensor:
		return writeTensor(b, v.Tensor())
	case value.KindList, value.KindTuple:
		items, _ := itemsOf(v)
		return writeRow(b, len(items), func(i int) error { return writeJSON(b, items[i]) })
	case value.KindDict:
		return writeDict(b, v.Dict())
	case value.KindEnum:
		b.WriteString(strconv.Quote(v.Enum().Name()))
	default:
		return &errs.CallError{Err: source.Errorf(source.TypeError, source.Range{}, "a value of type %s has no form in JSON", value.TypeOf(v).Annotation(nil))}
	}
	return nil
}

func writeRow(b *bytes.Buffer, n int, write func(i int) error) error {
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := write(i); err != nil {
			return err
		}
	}
	b.WriteByte(']')
	return nil
}

func writeDict(b *bytes.Buffer, d *value.Dict) error {
	b.WriteByte('{')
	first := true
	for k, item := range d.All {
		if !first {
			b.WriteByte(',')
		}
		first = false
		name := value.Repr(k, nil)
		if k.Kind() == value.KindString {
			name = k.Str()
		}
		text, err := json.Marshal(name)
		if err != nil {
			return err
		}
		b.Write(text)
		b.WriteByte(':')
		if err := writeJSON(b, item); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func writeFloat(b *bytes.Buffer, f float64, bits int) {
	switch {
	case math.IsNaN(f):
		b.WriteString(`"NaN"`)
	case math.IsInf(f, 1):
		b.WriteString(`"Infinity"`)
	case math.IsInf(f, -1):
		b.WriteString(`"-Infinity"`)
	default:
		b.Write(strconv.AppendFloat(b.AvailableBuffer(), f, 'g', -1, bits))
	}
}

func writeComplex(b *bytes.Buffer, c complex128, bits int) {
	b.WriteByte('[')
	writeFloat(b, real(c), bits)
	b.WriteByte(',')
	writeFloat(b, imag(c), bits)
	b.WriteByte(']')
}

func writeTensor(b *bytes.Buffer, t *tensor.Tensor) error {
	if t.DType().IsQuantized() {
		real, err := tensor.Dequantize(t)
		if err != nil {
			return err
		}
		t = real
	}
	bits := 64
	if t.DType().Size() < 8 || t.DType() == tensor.Complex64 {
		bits = 32
	}
	t, err := t.Resolved()
	if err != nil {
		return err
	}
	if t, err = t.Contiguous(); err != nil {
		return err
	}
	if t.Device().Type == tensor.Meta || t.IsSparse() {
		return &errs.CallError{Err: source.Errorf(source.TypeError, source.Range{}, "a tensor without elements in rows has no form in JSON")}
	}
	fmt.Fprintf(b, `{"dtype":%q,"shape":`, t.DType())
	if err := writeRow(b, t.Dim(), func(i int) error { b.WriteString(strconv.Itoa(t.Size(i))); return nil }); err != nil {
		return err
	}
	b.WriteString(`,"data":`)
	index := make([]int, t.Dim())
	var row func(dim int) error
	row = func(dim int) error {
		if dim == t.Dim() {
			switch s := t.At(index...); s.Kind {
			case tensor.BoolScalar:
				b.WriteString(strconv.FormatBool(s.Bool()))
			case tensor.IntScalar:
				b.Write(strconv.AppendInt(b.AvailableBuffer(), s.Int64(), 10))
			case tensor.FloatScalar:
				writeFloat(b, s.Float64(), bits)
			default:
				writeComplex(b, s.Complex128(), bits)
			}
			return nil
		}
		return writeRow(b, t.Size(dim), func(i int) error { index[dim] = i; return row(dim + 1) })
	}
	if err := row(0); err != nil {
		return err
	}
	b.WriteByte('}')
	return nil
}

// valueOfJSON reads JSON as a value of a type.
func valueOfJSON(text json.RawMessage, t types.Type) (value.Value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return value.None, fmt.Errorf("found no JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return value.None, fmt.Errorf("found more behind the JSON value, at byte %d", d.InputOffset())
	}
	return valueFor(x, t)
}

// valueOfNumber reads a number of JSON.
func valueOfNumber(n json.Number, t types.Type) (value.Value, error) {
	var v value.Value
	if i, err := strconv.ParseInt(string(n), 10, 64); err == nil {
		v = value.Int(i)
	} else if f, err := strconv.ParseFloat(string(n), 64); err == nil {
		v = value.Float(f)
	} else {
		return value.None, fmt.Errorf("found %q, which is no number", string(n))
	}
	if c, ok := value.Coerce(v, t); ok {
		return c, nil
	}
	if t.Kind() == types.KindTensor {
		number, _ := v.Scalar()
		b := &tensorBuilder{numbers: []tensor.Scalar{number}, kind: number.Kind}
		made, err := b.tensor(tensor.NoDType)
		return value.OfTensor(made), err
	}
	return value.None, fmt.Errorf("found the number %s", n)
}

// form is a tensor as an object of JSON.
type form struct {
	dtype any
	shape any
	data  any
}

func tensorForm(x map[string]any) (*form, bool) {
	f := &form{x["dtype"], x["shape"], x["data"]}
	_, isText := f.dtype.(string)
	return f, isText && f.data != nil
}

func (f *form) value() (value.Value, error) {
	dtype, ok := tensor.ParseDType(f.dtype.(string))
	if !ok || dtype.IsQuantized() {
		return value.None, fmt.Errorf("found the element type %q, which there is not", f.dtype)
	}
	shape, err := f.sizes()
	if err != nil {
		return value.None, err
	}
	if text, ok := f.data.(string); ok {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return value.None, fmt.Errorf("the elements are no base64: %w", err)
		}
		t, err := tensor.FromBytes(raw, shape, dtype)
		return value.OfTensor(t), err
	}
	b := &tensorBuilder{}
	if err := b.flatten(f.data, dtype.IsComplex()); err != nil {
		return value.None, err
	}
	if f.shape == nil {
		shape = []int{len(b.numbers)}
	}
	count, err := tensor.Numel(shape)
	if err != nil {
		return value.None, err
	}
	if count != len(b.numbers) {
		return value.None, fmt.Errorf("found %d elements for the shape %s, which has %d", len(b.numbers), tensor.FormatShape(shape), count)
	}
	b.shape = shape
	t, err := b.tensor(dtype)
	return value.OfTensor(t), err
}

func (f *form) sizes() ([]int, error) {
	list, ok := f.shape.([]any)
	if !ok && f.shape != nil {
		return nil, fmt.Errorf("found %v for the shape, expected a list of sizes", f.shape)
	}
	shape := make([]int, len(list))
	for i, n := range list {
		number, _ := n.(json.Number)
		size, err := strconv.Atoi(string(number))
		if err != nil || size < 0 {
			return nil, fmt.Errorf("found %v in the shape, expected a size", n)
		}
		shape[i] = size
	}
	return shape, nil
}

// flatten collects the numbers of nested lists in order; a pair is a complex number where pairs is set.
func (b *tensorBuilder) flatten(x any, pairs bool) error {
	list, ok := x.([]any)
	if ok && pairs && len(list) == 2 {
		re, isRe := list[0].(json.Number)
		im, isIm := list[1].(json.Number)
		if isRe && isIm {
			r, err := re.Float64()
			if err != nil {
				return err
			}
			i, err := im.Float64()
			if err != nil {
				return err
			}
			b.numbers = append(b.numbers, tensor.Complex(complex(r, i)))
			return nil
		}
	}
	if ok {
		for _, item := range list {
			if err := b.flatten(item, pairs); err != nil {
				return err
			}
		}
		return nil
	}
	var v value.Value
	var err error
	switch x := x.(type) {
	case json.Number:
		v, err = valueOfNumber(x, types.Any)
	case bool:
		v = value.Bool(x)
	case string:
		v, err = valueOfNumber(json.Number(x), types.Float)
	default:
		err = fmt.Errorf("element %d: expected a number, found %v", len(b.numbers), x)
	}
	if err != nil {
		return err
	}
	number, _ := v.Scalar()
	b.numbers = append(b.numbers, number)
	return nil
}

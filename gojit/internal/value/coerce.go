package value

import "github.com/torchjit/torchjit/gojit/internal/types"

// Coerce returns v as a value of type t where that loses nothing: an int as a float or complex
// number, a tuple as a list or the other way round, containers element by element. ok is false
// where it cannot be one.
func Coerce(v Value, t types.Type) (c Value, ok bool) {
	switch x := t.(type) {
	case *types.Optional:
		if v.IsNone() {
			return v, true
		}
		return Coerce(v, x.Elem)
	case *types.Union:
		if Conforms(v, t) {
			return v, true
		}
		for _, e := range x.Elems {
			if c, ok := Coerce(v, e); ok {
				return c, true
			}
		}
		return None, false
	case *types.List:
		items, ok := itemsOf(v)
		if !ok {
			return None, false
		}
		items, ok = coerceItems(items, func(int) types.Type { return x.Elem })
		return OfList(NewList(x.Elem, items...)), ok
	case *types.Tuple:
		items, ok := itemsOf(v)
		if !ok || len(items) != len(x.Elems) {
			return None, false
		}
		items, ok = coerceItems(items, func(i int) types.Type { return x.Elems[i] })
		return OfTuple(&Tuple{Type: x, Items: items}), ok
	case *types.Dict:
		if v.Kind() != KindDict {
			return None, false
		}
		return coerceDict(v.Dict(), x)
	}
	switch t.Kind() {
	case types.KindFloat:
		if v.IsInt() {
			return Float(float64(v.Int())), true
		}
	case types.KindComplex:
		switch v.Kind() {
		case KindInt:
			return Complex(complex(float64(v.Int()), 0)), true
		case KindFloat:
			return Complex(complex(v.Float(), 0)), true
		}
	}
	return v, Conforms(v, t)
}

func itemsOf(v Value) ([]Value, bool) {
	switch v.Kind() {
	case KindList:
		return v.List().Items, true
	case KindTuple:
		return v.Tuple().Items, true
	}
	return nil, false
}

func coerceItems(items []Value, typeAt func(int) types.Type) (out []Value, ok bool) {
	out = make([]Value, len(items))
	for i, item := range items {
		if out[i], ok = Coerce(item, typeAt(i)); !ok {
			return nil, false
		}
	}
	return out, true
}

func coerceDict(d *Dict, t *types.Dict) (c Value, ok bool) {
	out := NewDict(t.Key, t.Value)
	for k, v := range d.All {
		key, ok := Coerce(k, t.Key)
		if !ok {
			return None, false
		}
		val, ok := Coerce(v, t.Value)
		if !ok {
			return None, false
		}
		out.Set(key, val)
	}
	return OfDict(out), true
}

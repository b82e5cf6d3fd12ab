package prim

import (
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// keyTypes are the types of keys, as overloads of dictionary operators are named.
var keyTypes = []string{"str", "int", "bool", "float", "complex", "Tensor"}

// perKey makes the overloads prefix+KEY of an operator for every type of key.
func perKey(base, prefix string, run ops.Operation) []ops.Operator {
	names := make([]string, len(keyTypes))
	for i, k := range keyTypes {
		names[i] = prefix + k
	}
	return overloads(base, run, names...)
}

// Dicts holds the operators on dictionaries.
var Dicts = join(
	perKey("aten::__getitem__", "Dict_", func(args, out []value.Value) error {
		v, ok := args[0].Dict().Get(args[1])
		if !ok {
			return keyError(args[1])
		}
		out[0] = v
		return nil
	}),
	perKey("aten::_set_item", "", func(args, out []value.Value) error {
		args[0].Dict().Set(args[1], args[2])
		return nil
	}),
	perKey("aten::Delete", "Dict_", func(args, out []value.Value) error {
		if !args[0].Dict().Delete(args[1]) {
			return keyError(args[1])
		}
		return nil
	}),
	perKey("aten::__contains__", "", func(args, out []value.Value) error {
		_, ok := args[0].Dict().Get(args[1])
		out[0] = value.Bool(ok)
		return nil
	}),
	perKey("aten::get", "", func(args, out []value.Value) error {
		out[0], _ = args[0].Dict().Get(args[1])
		return nil
	}),
	perKey("aten::get", "default_", func(args, out []value.Value) error {
		out[0] = args[2]
		if v, ok := args[0].Dict().Get(args[1]); ok {
			out[0] = v
		}
		return nil
	}),
	perKey("aten::setdefault", "", func(args, out []value.Value) error {
		d := args[0].Dict()
		v, ok := d.Get(args[1])
		if !ok {
			v = args[2]
			d.Set(args[1], v)
		}
		out[0] = v
		return nil
	}),
	perKey("aten::pop", "Dict_", func(args, out []value.Value) error {
		d := args[0].Dict()
		v, ok := d.Get(args[1])
		if !ok {
			return keyError(args[1])
		}
		d.Delete(args[1])
		out[0] = v
		return nil
	}),
	perKey("aten::pop", "Dict_default_", func(args, out []value.Value) error {
		d := args[0].Dict()
		v, ok := d.Get(args[1])
		if !ok {
			v = args[2]
		}
		d.Delete(args[1])
		out[0] = v
		return nil
	}),
	perKey("aten::popitem", "", func(args, out []value.Value) error {
		d := args[0].Dict()
		for k, v := range d.All {
			out[0] = value.OfTuple(value.NewTuple(k, v))
			d.Delete(k)
			return nil
		}
		return errorf("popitem(): dictionary is empty")
	}),
	perKey("aten::clear", "", func(args, out []value.Value) error {
		args[0].Dict().Clear()
		return nil
	}),
	perKey("aten::update", "", func(args, out []value.Value) error {
		for k, v := range args[1].Dict().Copy().All {
			args[0].Dict().Set(k, v)
		}
		return nil
	}),
	perKey("aten::copy", "Dict_", copyDict),
	perKey("aten::dict", "Dict_", copyDict),
	one("aten::dict", func(args, out []value.Value) error {
		out[0] = value.OfDict(value.NewDict(types.Str, types.Tensor))
		return nil
	}),
	perKey("aten::dict", "", dictOfPairs),
	perKey("aten::len", "Dict_", func(args, out []value.Value) error {
		out[0] = value.Int(int64(args[0].Dict().Len()))
		return nil
	}),
	perKey("aten::keys", "", func(args, out []value.Value) error {
		d := args[0].Dict()
		l := value.NewList(d.Key)
		for k := range d.All {
			l.Items = append(l.Items, k)
		}
		out[0] = value.OfList(l)
		return nil
	}),
	perKey("aten::values", "", func(args, out []value.Value) error {
		d := args[0].Dict()
		l := value.NewList(d.Elem)
		for _, v := range d.All {
			l.Items = append(l.Items, v)
		}
		out[0] = value.OfList(l)
		return nil
	}),
	perKey("aten::items", "", func(args, out []value.Value) error {
		d := args[0].Dict()
		t := types.NewTuple(d.Key, d.Elem)
		l := value.NewList(t)
		for k, v := range d.All {
			l.Items = append(l.Items, value.OfTuple(&value.Tuple{Type: t, Items: []value.Value{k, v}}))
		}
		out[0] = value.OfList(l)
		return nil
	}),
)

func keyError(key value.Value) error { return errorf("KeyError: %s", Display(key)) }

func copyDict(args, out []value.Value) error {
	out[0] = value.OfDict(args[0].Dict().Copy())
	return nil
}

func dictOfPairs(args, out []value.Value) error {
	l := args[0].List()
	pair, ok := l.Elem.(*types.Tuple)
	if !ok || len(pair.Elems) != 2 {
		return errorf("a dict is made of pairs, not of %s", l.Elem.Annotation(nil))
	}
	d := value.NewDict(pair.Elems[0], pair.Elems[1])
	for _, p := range l.Items {
		d.Set(p.Tuple().Items[0], p.Tuple().Items[1])
	}
	out[0] = value.OfDict(d)
	return nil
}

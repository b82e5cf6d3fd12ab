package prim

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Comparisons holds == != < <= > >= and `is` on everything but tensors.
var Comparisons = join(
	equality("aten::eq", true),
	equality("aten::ne", false),
	ordering("aten::lt", func(c int, ordered bool) bool { return ordered && c < 0 }),
	ordering("aten::le", func(c int, ordered bool) bool { return ordered && c <= 0 }),
	ordering("aten::gt", func(c int, ordered bool) bool { return ordered && c > 0 }),
	ordering("aten::ge", func(c int, ordered bool) bool { return ordered && c >= 0 }),
	one("aten::__is__", func(args, out []value.Value) error {
		out[0] = value.Bool(value.Same(args[0], args[1]))
		return nil
	}),
	one("aten::__isnot__", func(args, out []value.Value) error {
		out[0] = value.Bool(!value.Same(args[0], args[1]))
		return nil
	}),
)

func equality(base string, want bool) []ops.Operator {
	return overloads(base, func(args, out []value.Value) error {
		out[0] = value.Bool(Equal(args[0], args[1]) == want)
		return nil
	}, "", "int", "float", "int_float", "float_int", "complex", "complex_float", "float_complex", "bool",
		"str", "device", "enum", "int_list", "float_list", "bool_list", "str_list")
}

func ordering(base string, holds func(c int, ordered bool) bool) []ops.Operator {
	return overloads(base, func(args, out []value.Value) error {
		if rank(args[0], args[1]) == value.KindComplex {
			return errorf("complex numbers have no order")
		}
		out[0] = value.Bool(holds(Compare(args[0], args[1]), !isNaN(args[0]) && !isNaN(args[1])))
		return nil
	}, "", "int", "float", "int_float", "float_int", "str")
}

// Equal reports whether two values that are no tensors are equal in Python's sense.
func Equal(a, b value.Value) bool {
	switch ka, kb := a.Kind(), b.Kind(); {
	case isNumber(ka) && isNumber(kb):
		switch rank(a, b) {
		case value.KindInt:
			return a.Int() == b.Int()
		case value.KindFloat:
			return asFloat(a) == asFloat(b)
		}
		return asComplex(a) == asComplex(b)
	case ka != kb:
		return false
	case ka == value.KindString:
		return a.Str() == b.Str()
	case ka == value.KindList:
		return slices.EqualFunc(a.List().Items, b.List().Items, Equal)
	case ka == value.KindTuple:
		return slices.EqualFunc(a.Tuple().Items, b.Tuple().Items, Equal)
	case ka == value.KindDict:
		return equalDicts(a.Dict(), b.Dict())
	case ka == value.KindEnum:
		return types.Equal(a.Enum().Type, b.Enum().Type) && a.Enum().Index == b.Enum().Index
	}
	return a == b
}

func isNumber(k value.Kind) bool {
	return k == value.KindInt || k == value.KindFloat || k == value.KindBool || k == value.KindComplex
}

func equalDicts(a, b *value.Dict) bool {
	if a.Len() != b.Len() {
		return false
	}
	for k, v := range a.All {
		if w, ok := b.Get(k); !ok || !Equal(v, w) {
			return false
		}
	}
	return true
}

// Compare orders two strings or two numbers that are not complex: -1, 0 or 1.
func Compare(a, b value.Value) int {
	if a.Kind() == value.KindString {
		return strings.Compare(a.Str(), b.Str())
	}
	return compareNumbers(a, b)
}

func compareNumbers(a, b value.Value) int {
	if rank(a, b) == value.KindInt {
		switch x, y := a.Int(), b.Int(); {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	}
	switch x, y := asFloat(a), asFloat(b); {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// compareLists orders lists of numbers by their first difference, then by length.
func compareLists(a, b *value.List) int {
	for i := range min(len(a.Items), len(b.Items)) {
		if c := compareNumbers(a.Items[i], b.Items[i]); c != 0 {
			return c
		}
	}
	return len(a.Items) - len(b.Items)
}

// kindOfElem returns the kind of the numbers of a type.
func kindOfElem(t types.Type) value.Kind {
	switch t.Kind() {
	case types.KindFloat:
		return value.KindFloat
	case types.KindComplex:
		return value.KindComplex
	}
	return value.KindInt
}

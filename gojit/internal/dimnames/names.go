// Package dimnames knows the names of dimensions: which the results of operators have, and the overloads that take names where others take positions.
//
// A list of names has "" for a dimension without a name. Functions that fail raise a *source.Error.
package dimnames

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Of returns the names of t's dimensions, one for each.
func Of(t *tensor.Tensor) []string {
	if names := t.Names(); names != nil {
		return names
	}
	return make([]string, t.Dim())
}

// Any reports whether a tensor among the arguments has named dimensions.
func Any(args []value.Value) bool {
	return slices.ContainsFunc(args, func(v value.Value) bool {
		return v.IsTensor() && v.Tensor().Names() != nil || v.Kind() == value.KindList && len(v.List().Items) > 0 && Any(v.List().Items)
	})
}

// Set names t's dimensions. It fails on names that are not as many as these or are given twice.
func Set(t *tensor.Tensor, names []string) {
	checkNumber(t, names)
	checkDistinct(names)
	t.SetNames(names)
}

func checkNumber(t *tensor.Tensor, names []string) {
	if len(names) != t.Dim() {
		source.Raise(source.RuntimeError, "Number of names (%d) and number of dimensions in tensor (%d) do not match. Attempted to create a tensor with names %s",
			len(names), t.Dim(), text(names))
	}
}

func checkDistinct(names []string) {
	for i, n := range names {
		if n != "" && slices.Contains(names[:i], n) {
			source.Raise(source.RuntimeError, "Cannot construct a tensor with duplicate names. Got names: %s.", text(names))
		}
	}
}

// Read returns the names that a list or a single value gives: strings, None for none. It fails on a name that is no identifier.
func Read(v value.Value) (names []string) {
	switch v.Kind() {
	case value.KindList:
		names = make([]string, 0, len(v.List().Items))
		for _, x := range v.List().Items {
			names = append(names, Read(x)...)
		}
		return names
	case value.KindTuple:
		return Read(value.OfList(&value.List{Items: v.Tuple().Items}))
	case value.KindString:
		return []string{named(v.Str())}
	case value.KindNone:
		return []string{""}
	}
	source.Raise(source.TypeError, "expected None or string for Dimname but got %s", v.Kind())
	return nil
}

// named returns a name that was given: "*" stands for none.
func named(name string) string {
	if name == "*" {
		return ""
	}
	for i, c := range []byte(name) {
		if c != '_' && (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			raiseInvalid(name)
		}
	}
	if name == "" {
		raiseInvalid(name)
	}
	return strings.Clone(name)
}

func raiseInvalid(name string) {
	source.Raise(source.RuntimeError, "Invalid name: a valid identifier contains only digits, alphabetical characters, and/or underscore and starts with a non-digit. got: '%s'.", name)
}

// text writes names as a list of Python's.
func text(names []string) string {
	shown := make([]string, len(names))
	for i, n := range names {
		shown[i] = quoted(n)
	}
	return "[" + strings.Join(shown, ", ") + "]"
}

func quoted(name string) string {
	if name == "" {
		return "None"
	}
	return "'" + name + "'"
}

// Position returns the position of a name among the dimensions of t.
func Position(t *tensor.Tensor, name string) int {
	at := slices.Index(Of(t), name)
	if name == "" {
		source.Raise(source.RuntimeError, "Please look up dimensions by name, got: name = None.")
	}
	if at < 0 {
		source.Raise(source.RuntimeError, "Name %s not found in Tensor%s.", quoted(name), text(Of(t)))
	}
	return at
}

// unify returns the names of what two tensors are broadcast to; action is what is done with them.
func unify(a, b []string, action string) []string {
	result := make([]string, max(len(a), len(b)))
	for i := 1; i <= len(result); i++ {
		x, y := fromRight(a, i), fromRight(b, i)
		switch {
		case x == y:
		case x != "" && y != "":
			source.Raise(source.RuntimeError, "Error when attempting to %s dims %s and dims %s: dim %s and dim %s are at the same position from the right but do not match.",
				action, text(a), text(b), quoted(x), quoted(y))
		case x != "" && slices.Contains(b, x), y != "" && slices.Contains(a, y):
			source.Raise(source.RuntimeError, "Misaligned dims when attempting to %s dims %s and dims %s: dim %s appears in a different position from the right across both lists.",
				action, text(a), text(b), quoted(x+y))
		}
		if result[len(result)-i] = x; x == "" {
			result[len(result)-i] = y
		}
	}
	return result
}

func fromRight(names []string, i int) string {
	if i > len(names) {
		return ""
	}
	return names[len(names)-i]
}

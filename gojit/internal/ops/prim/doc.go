// Package prim holds the operators on values that are no tensors: numbers, strings, lists,
// dictionaries, enums, devices and futures, and printing.
//
// An operator is one entry of a family (Arithmetic, Math, Strings, Lists ...), which the facade
// registers. Overloads that differ in the type of number or key alone share one function: it looks
// at the kinds of its arguments. Strings are bytes, and only ASCII letters have a case or a class,
// as in TorchScript.
//
// Invariant: a function trusts the kinds that its schema promises and nothing else; lengths,
// positions and divisors are checked.
package prim

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Families returns all operators of the package.
func Families() [][]ops.Operator {
	return [][]ops.Operator{Arithmetic, Comparisons, Bits, Math, Extremes, Conversions, Strings, Formatting,
		Lists, Dicts, Ranges, Objects, Shapes, Modes, Statistical}
}

func errorf(format string, args ...any) error {
	return source.Errorf(source.RuntimeError, source.Range{}, format, args...)
}

// overloads returns an operator for each overload of a name; "" is the one without. Where none is for complex numbers, the overloads
// for numbers of any type take none with an imaginary part.
func overloads(base string, run ops.Operation, names ...string) []ops.Operator {
	family := make([]ops.Operator, len(names))
	real := !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "complex") })
	for i, name := range names {
		family[i] = ops.Operator{Name: base, Run: run}
		if real && (name == "" || strings.HasPrefix(name, "Scalar")) {
			family[i].Run = ofReals(base, run)
		}
		if name != "" {
			family[i].Name += "." + name
		}
	}
	return family
}

// ofReals is an operation on real numbers for arguments that may be complex ones: their imaginary parts must be zero.
func ofReals(name string, run ops.Operation) ops.Operation {
	as := "double"
	if name == "aten::Int" {
		as = "int"
	}
	return func(args, out []value.Value) error {
		for i, v := range args {
			if v.Kind() != value.KindComplex {
				continue
			}
			if imag(v.Complex()) != 0 {
				return errorf("value cannot be converted to type %s without overflow", as)
			}
			args[i] = value.Float(real(v.Complex()))
		}
		return run(args, out)
	}
}

func join(families ...[]ops.Operator) (all []ops.Operator) {
	for _, f := range families {
		all = append(all, f...)
	}
	return all
}

func one(name string, run ops.Operation) []ops.Operator {
	return []ops.Operator{{Name: name, Run: run}}
}

// The numeric overloads that most operators have.
var (
	realPairs    = []string{"", "int", "float", "int_float", "float_int"}
	complexPairs = []string{"complex", "complex_int", "complex_float", "int_complex", "float_complex"}
	realAndMore  = append(append([]string{}, realPairs...), complexPairs...)
)

// asFloat converts an int, bool or float.
func asFloat(v value.Value) float64 {
	if v.Kind() == value.KindFloat {
		return v.Float()
	}
	return float64(v.Int())
}

// asComplex converts any number.
func asComplex(v value.Value) complex128 {
	if v.Kind() == value.KindComplex {
		return v.Complex()
	}
	return complex(asFloat(v), 0)
}

// isIntegral reports whether v is an int or a bool.
func isIntegral(v value.Value) bool { return v.IsInt() || v.IsBool() }

// rank orders the kinds of numbers by what they convert to: int, float, complex.
func rank(vs ...value.Value) value.Kind {
	r := value.KindInt
	for _, v := range vs {
		switch v.Kind() {
		case value.KindComplex:
			return value.KindComplex
		case value.KindFloat:
			r = value.KindFloat
		}
	}
	return r
}

package prim

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Conversions holds what turns values into other kinds of values, and into text.
var Conversions = join(
	overloads("aten::Int", func(args, out []value.Value) error {
		if args[0].IsFloat() {
			out[0] = value.Int(truncate(args[0].Float()))
		} else {
			out[0] = value.Int(args[0].Int())
		}
		return nil
	}, "bool", "float"),
	one("aten::Int.Scalar", ofReals("aten::Int", func(args, out []value.Value) error {
		if !args[0].IsFloat() {
			out[0] = value.Int(args[0].Int())
			return nil
		}
		f := args[0].Float()
		if !(f >= math.MinInt64 && f < -math.MinInt64) {
			return errorf("value cannot be converted to type int without overflow")
		}
		out[0] = value.Int(int64(f))
		return nil
	})),
	one("aten::Int.str", parseInt),
	overloads("aten::Float", onFloats1(func(f float64) float64 { return f }), "Scalar", "bool", "int"),
	one("aten::Float.str", parseFloat),
	overloads("aten::Bool", func(args, out []value.Value) error {
		out[0] = value.Bool(truth(args[0]))
		return nil
	}, "int", "float"),
	one("aten::Complex.Scalar", func(args, out []value.Value) error {
		out[0] = value.Complex(asComplex(args[0]))
		return nil
	}),
	overloads("aten::Complex", func(args, out []value.Value) error {
		out[0] = value.Complex(complex(asFloat(args[0]), asFloat(args[1])))
		return nil
	}, "bool_bool", "bool_float", "bool_int", "float_bool", "float_float", "float_int", "int_bool", "int_float", "int_int"),
	one("aten::str", func(args, out []value.Value) error {
		out[0] = value.Str(Display(args[0]))
		return nil
	}),
	one("prim::tolist", toList),
	one("aten::ord", func(args, out []value.Value) error {
		s := args[0].Str()
		if len(s) != 1 {
			return errorf("String for ord() must be 1 character, found %d", len(s))
		}
		out[0] = value.Int(int64(s[0]))
		return nil
	}),
	one("aten::chr", func(args, out []value.Value) error {
		i := args[0].Int()
		if i < 0 || i > 0x10ffff {
			return errorf("chr() arg not in range(0x110000), found %d", i)
		}
		out[0] = value.Str(string(rune(i)))
		return nil
	}),
	one("aten::hex", inBase(16, "0x")),
	one("aten::oct", inBase(8, "0o")),
	one("aten::bin", inBase(2, "0b")),
)

// pointed is the text of a float: a number that is an int has all its digits and a point, and zero no sign.
func pointed(f float64) string {
	if f == math.Trunc(f) && f >= math.MinInt64 && f < -math.MinInt64 {
		return strconv.FormatInt(int64(f), 10) + "."
	}
	return decimal.Pointed(f, 17)
}

func inBase(base int, prefix string) ops.Operation {
	return func(args, out []value.Value) error {
		digits, negative := strings.CutPrefix(strconv.FormatInt(args[0].Int(), base), "-")
		sign := ""
		if negative {
			sign = "-"
		}
		out[0] = value.Str(sign + prefix + digits)
		return nil
	}
}

// parseInt reads an int as C's stoll does, and refuses what is left over.
func parseInt(args, out []value.Value) error {
	s := args[0].Str()
	text := strings.TrimLeft(s, " \t\n\v\f\r")
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || end == 0 && (text[0] == '-' || text[0] == '+')) {
		end++
	}
	i, err := strconv.ParseInt(text[:end], 10, 64)
	if err != nil {
		return errorf("stoll")
	}
	if end != len(text) {
		return errorf("invalid literal for int() with base 10: '%s'", s)
	}
	out[0] = value.Int(i)
	return nil
}

func parseFloat(args, out []value.Value) error {
	s := args[0].Str()
	text := strings.TrimLeft(s, " \t\n\v\f\r")
	f, err := strconv.ParseFloat(text, 64)
	if strings.Trim(text, "+-") == "nan" {
		f, err = math.NaN(), nil
	}
	if err != nil || strings.Contains(text, "_") {
		if err != nil && math.IsInf(f, 0) {
			return errorf("stod")
		}
		if text == "" || strings.IndexByte("0123456789+-.niNI", text[0]) < 0 {
			return errorf("stod")
		}
		return errorf("could not convert string to float: '%s'", s)
	}
	out[0] = value.Float(f)
	return nil
}

// Display returns the text that print and str show for a value.
func Display(v value.Value) string {
	var b strings.Builder
	display(&b, v)
	return b.String()
}

func display(b *strings.Builder, v value.Value) {
	switch v.Kind() {
	case value.KindNone:
		b.WriteString("None")
	case value.KindBool:
		if v.Bool() {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case value.KindInt:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case value.KindFloat:
		b.WriteString(pointed(v.Float()))
	case value.KindComplex:
		c := v.Complex()
		b.WriteString(pointed(real(c)))
		if imag(c) >= 0 {
			b.WriteByte('+')
		} else if math.IsNaN(imag(c)) {
			b.WriteByte('-')
		}
		b.WriteString(pointed(imag(c)) + "j")
	case value.KindString:
		b.WriteString(v.Str())
	case value.KindDevice:
		b.WriteString(v.Device().String())
	case value.KindTensor:
		b.WriteString(v.Tensor().CppString())
	case value.KindList:
		displayItems(b, "[", v.List().Items, "]")
	case value.KindTuple:
		end := ")"
		if len(v.Tuple().Items) == 1 {
			end = ",)"
		}
		displayItems(b, "(", v.Tuple().Items, end)
	case value.KindDict:
		displayDict(b, v.Dict())
	case value.KindEnum:
		b.WriteString("Enum<" + shortName(v.Enum().Type.Name) + "." + v.Enum().Name() + ">")
	case value.KindObject:
		fmt.Fprintf(b, "<%s object at %p>", v.Object().Class.Name, v.Object())
	default:
		b.WriteString("<" + v.Kind().String() + ">")
	}
}

func shortName(qualified string) string { return qualified[strings.LastIndexByte(qualified, '.')+1:] }

func displayItems(b *strings.Builder, open string, items []value.Value, end string) {
	b.WriteString(open)
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		display(b, item)
	}
	b.WriteString(end)
}

func displayDict(b *strings.Builder, d *value.Dict) {
	b.WriteByte('{')
	sep := ""
	for k, v := range d.All {
		b.WriteString(sep)
		sep = ", "
		display(b, k)
		b.WriteString(": ")
		display(b, v)
	}
	b.WriteByte('}')
}

// Formatting holds the operators that put values into a text, and print it.
var Formatting = join(
	one("aten::format", format),
	one("aten::percentFormat", percentFormat),
	one("prim::Print", func(args, out []value.Value) error {
		texts := make([]string, len(args))
		for i, a := range args {
			texts[i] = Display(a)
		}
		return output(strings.Join(texts, " ") + "\n")
	}),
)

// format replaces each {} by the next value; what is left over of either stays or is dropped.
func format(args, out []value.Value) error {
	rest := args[0].Str()
	var b strings.Builder
	used := 1
	for {
		before, after, found := strings.Cut(rest, "{}")
		b.WriteString(before)
		if !found {
			break
		}
		if used == len(args) {
			return errorf("Too few arguments for format string: %s", args[0].Str())
		}
		display(&b, args[used])
		if err := checkText(b.Len()); err != nil {
			return err
		}
		used++
		rest = after
	}
	out[0] = value.Str(b.String())
	return nil
}

// percentFormat is Python's % with the specifiers d i f F e E c s and %%, without widths. A
// tuple stands for its items.
func percentFormat(args, out []value.Value) error {
	s := args[0].Str()
	if len(args) == 2 && args[1].Kind() == value.KindTuple {
		args = append([]value.Value{args[0]}, args[1].Tuple().Items...)
	}
	var b strings.Builder
	used := 1
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return errorf("Incomplete format specifier")
		}
		if s[i] == '%' {
			b.WriteByte('%')
			continue
		}
		if used == len(args) {
			return errorf("Too few arguments for format string")
		}
		if err := writeSpecifier(&b, s[i], args[used]); err != nil {
			return err
		}
		if err := checkText(b.Len()); err != nil {
			return err
		}
		used++
	}
	if used < len(args) {
		return errorf("Too many arguments for format string")
	}
	out[0] = value.Str(b.String())
	return nil
}

// describe names the kind of a value as messages of percentFormat do.
func describe(v value.Value) string {
	name := v.Kind().String()
	if name == "str" {
		return "String"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

func writeSpecifier(b *strings.Builder, specifier byte, v value.Value) error {
	number := v.IsInt() || v.IsFloat()
	switch specifier {
	case 'd', 'i':
		if !number {
			return errorf("%%%c requires a number for formatting, but got %s", specifier, describe(v))
		}
		if v.IsFloat() {
			b.WriteString(strconv.FormatInt(truncate(v.Float()), 10))
		} else {
			b.WriteString(strconv.FormatInt(v.Int(), 10))
		}
	case 'e', 'E', 'f', 'F':
		if !number {
			return errorf("%%%c requires a number for formatting, but got %s", specifier, describe(v))
		}
		verb := string(specifier)
		if specifier == 'F' {
			verb = "f"
		}
		fmt.Fprintf(b, "%"+verb, asFloat(v))
	case 'c':
		switch {
		case v.IsInt():
			b.WriteString(string(rune(v.Int())))
		case v.Kind() == value.KindString && len(v.Str()) == 1:
			b.WriteString(v.Str())
		default:
			return errorf("%%c requires an int or char for formatting, but got %s", describe(v))
		}
	case 's':
		display(b, v)
	default:
		return errorf("The specifier %%%c is not supported in TorchScript format strings", specifier)
	}
	return nil
}

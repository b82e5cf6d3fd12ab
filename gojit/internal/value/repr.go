package value

import (
	"math"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// Repr returns v as source text: what constants look like in graphs and in printed code. format,
// if not nil, may write a value itself and then returns true.
func Repr(v Value, format func(*strings.Builder, Value) bool) string {
	var b strings.Builder
	writeRepr(&b, v, format)
	return b.String()
}

func writeRepr(b *strings.Builder, v Value, format func(*strings.Builder, Value) bool) {
	if format != nil && format(b, v) {
		return
	}
	switch v.Kind() {
	case KindNone:
		b.WriteString("None")
	case KindBool:
		if v.Bool() {
			b.WriteString("True")
		} else {
			b.WriteString("False")
		}
	case KindInt:
		b.WriteString(strconv.FormatInt(v.Int(), 10))
	case KindFloat:
		b.WriteString(FloatRepr(v.Float()))
	case KindComplex:
		c := v.Complex()
		sign := "+"
		if imag(c) < 0 {
			sign = "-"
		}
		b.WriteString(FloatRepr(real(c)) + sign + FloatRepr(math.Abs(imag(c))) + "j")
	case KindString:
		b.WriteString(Quote(v.Str()))
	case KindDevice:
		b.WriteString("torch.device(" + Quote(v.Device().String()) + ")")
	case KindTensor:
		b.WriteString("<Tensor>")
	case KindList:
		writeList(b, v.List(), format)
	case KindTuple:
		writeTuple(b, v.Tuple(), format)
	case KindDict:
		writeDict(b, v.Dict(), format)
	case KindEnum:
		b.WriteString(v.Enum().Type.Name + "." + v.Enum().Name())
	case KindObject:
		b.WriteString("object(" + v.Object().Class.Name + ")")
	default:
		b.WriteString("<" + v.Kind().String() + ">")
	}
}

// FloatRepr prints a number: "2." where it is whole and small, else with 17 digits.
func FloatRepr(f float64) string {
	if math.Abs(f) < 1e10 && f == math.Trunc(f) {
		if f == 0 && math.Signbit(f) {
			return "-0."
		}
		return strconv.FormatInt(int64(f), 10) + "."
	}
	return decimal.General(f, 17)
}

func writeSequence(b *strings.Builder, items []Value, open, end string, format func(*strings.Builder, Value) bool) {
	b.WriteString(open)
	for i, item := range items {
		if i > 0 {
			b.WriteString(", ")
		}
		writeRepr(b, item, format)
	}
	b.WriteString(end)
}

// elementsTellType reports whether the type of a container can be seen from its elements.
func elementsTellType(elem types.Type) bool {
	switch elem.Kind() {
	case types.KindOptional, types.KindUnion, types.KindNumber, types.KindInterface, types.KindAny:
		return false
	}
	return true
}

func writeList(b *strings.Builder, l *List, format func(*strings.Builder, Value) bool) {
	if len(l.Items) > 0 && elementsTellType(l.Elem) {
		writeSequence(b, l.Items, "[", "]", format)
		return
	}
	b.WriteString("annotate(" + types.NewList(l.Elem).Annotation(nil) + ", ")
	writeSequence(b, l.Items, "[", "])", format)
}

func writeTuple(b *strings.Builder, t *Tuple, format func(*strings.Builder, Value) bool) {
	end := ")"
	if len(t.Items) == 1 {
		end = ",)"
	}
	writeSequence(b, t.Items, "(", end, format)
}

func writeDict(b *strings.Builder, d *Dict, format func(*strings.Builder, Value) bool) {
	annotate := d.Len() == 0 || !elementsTellType(d.Elem)
	if annotate {
		b.WriteString("annotate(" + types.NewDict(d.Key, d.Elem).Annotation(nil) + ", ")
	}
	b.WriteString("{")
	sep := ""
	for k, v := range d.All {
		b.WriteString(sep)
		sep = ", "
		writeRepr(b, k, format)
		b.WriteString(": ")
		writeRepr(b, v, format)
	}
	b.WriteString("}")
	if annotate {
		b.WriteString(")")
	}
}

// Quote returns s in double quotes with escapes for what is not printable.
func Quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\', '\'', '"':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\a':
			b.WriteString(`\a`)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		case '\v':
			b.WriteString(`\v`)
		default:
			if c >= 32 && c < 127 {
				b.WriteByte(c)
				continue
			}
			// three octal digits, which no following digit can extend
			b.WriteByte('\\')
			b.WriteByte('0' + c>>6)
			b.WriteByte('0' + c>>3&7)
			b.WriteByte('0' + c&7)
		}
	}
	b.WriteByte('"')
	return b.String()
}

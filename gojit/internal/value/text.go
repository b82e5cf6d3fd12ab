package value

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unsafe"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
)

// String returns v as Python's repr shows it: `3.0`, `[1, 2]`, `{'a': tensor([1.])}`, `Point(x=1, y=2)`. What is in objects is not shown.
func (v Value) String() string {
	var t texts
	t.write(v)
	return t.String()
}

// texts writes values as Python does.
type texts struct {
	strings.Builder
	within []unsafe.Pointer // the containers around, which may be in themselves
}

func (t *texts) write(v Value) {
	switch v.Kind() {
	case KindFloat:
		t.WriteString(decimal.Python(v.Float()))
	case KindComplex:
		t.complex(v.Complex())
	case KindString, KindEmptyString:
		t.WriteString(quoted(v.Str()))
	case KindDevice:
		t.WriteString("device(type='" + strings.SplitN(v.Device().String(), ":", 2)[0] + "'")
		if i := v.Device().Index(); i >= 0 {
			t.WriteString(", index=" + strconv.Itoa(i))
		}
		t.WriteString(")")
	case KindTensor:
		t.WriteString(v.Tensor().String())
	case KindEnum:
		t.WriteString("<" + lastName(v.Enum().Type.Name) + "." + v.Enum().Name() + ": ")
		t.write(v.Enum().Value())
		t.WriteString(">")
	case KindObject:
		t.WriteString("<" + v.Object().Class.Name + " object>")
	case KindList, KindTuple, KindDict:
		t.container(v)
	default:
		t.WriteString(Repr(v, nil))
	}
}

func (t *texts) container(v Value) {
	if slices.Contains(t.within, v.ref) {
		t.WriteString("...")
		return
	}
	t.within = append(t.within, v.ref)
	switch v.Kind() {
	case KindList:
		t.sequence("[", v.List().Items, nil, "]")
	case KindTuple:
		t.tuple(v.Tuple())
	case KindDict:
		t.WriteString("{")
		sep := ""
		for k, item := range v.Dict().All {
			t.WriteString(sep)
			sep = ", "
			t.write(k)
			t.WriteString(": ")
			t.write(item)
		}
		t.WriteString("}")
	}
	t.within = t.within[:len(t.within)-1]
}

func (t *texts) tuple(v *Tuple) {
	switch {
	case v.Type != nil && v.Type.Name != "":
		t.sequence(lastName(v.Type.Name)+"(", v.Items, v.Type.Fields, ")")
	case len(v.Items) == 1:
		t.sequence("(", v.Items, nil, ",)")
	default:
		t.sequence("(", v.Items, nil, ")")
	}
}

func (t *texts) sequence(open string, items []Value, names []string, end string) {
	t.WriteString(open)
	for i, item := range items {
		if i > 0 {
			t.WriteString(", ")
		}
		if i < len(names) {
			t.WriteString(names[i] + "=")
		}
		t.write(item)
	}
	t.WriteString(end)
}

func (t *texts) complex(c complex128) {
	part := func(f float64) string { return strings.TrimSuffix(decimal.Python(f), ".0") }
	re, im := part(real(c)), part(imag(c))
	if im[0] != '-' {
		im = "+" + im
	}
	if re == "0" {
		t.WriteString(strings.TrimPrefix(im, "+") + "j")
		return
	}
	t.WriteString("(" + re + im + "j)")
}

// lastName returns the name of a class without those of the modules that it is in.
func lastName(qualified string) string { return qualified[strings.LastIndex(qualified, ".")+1:] }

// quoted returns Python's repr of a text.
func quoted(s string) string {
	quote := '\''
	if strings.Contains(s, "'") && !strings.Contains(s, `"`) {
		quote = '"'
	}
	var b strings.Builder
	b.WriteRune(quote)
	for _, c := range s {
		switch {
		case c == quote || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '\t':
			b.WriteString(`\t`)
		case unicode.IsPrint(c):
			b.WriteRune(c)
		case c < 0x100:
			b.WriteString(`\x` + hexadecimal(c, 2))
		case c < 0x10000:
			b.WriteString(`\u` + hexadecimal(c, 4))
		default:
			b.WriteString(`\U` + hexadecimal(c, 8))
		}
	}
	b.WriteRune(quote)
	return b.String()
}

func hexadecimal(c rune, digits int) string {
	text := strconv.FormatInt(int64(c), 16)
	return strings.Repeat("0", digits-len(text)) + text
}

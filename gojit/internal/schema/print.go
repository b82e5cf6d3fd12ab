package schema

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// String returns the text form. Parse reads it back.
func (s *FunctionSchema) String() string {
	var b strings.Builder
	b.WriteString(s.QualifiedName())
	b.WriteByte('(')
	sep, kwargs := "", false
	for i := range s.Arguments {
		a := &s.Arguments[i]
		b.WriteString(sep)
		sep = ", "
		if a.KwargOnly && !kwargs {
			kwargs = true
			b.WriteString("*, ")
		}
		a.write(&b)
	}
	if s.IsVararg {
		b.WriteString(sep)
		b.WriteString("...")
	}
	b.WriteString(") -> ")
	s.writeReturns(&b)
	return b.String()
}

func (s *FunctionSchema) writeReturns(b *strings.Builder) {
	if s.IsVarret && len(s.Returns) == 0 {
		b.WriteString("...")
		return
	}
	// A single return whose text begins with a bracket is told from several returns.
	brackets := len(s.Returns) != 1 || s.IsVarret || strings.HasPrefix(s.Returns[0].RealType.String(), "(")
	if brackets {
		b.WriteByte('(')
	}
	for i := range s.Returns {
		if i > 0 {
			b.WriteString(", ")
		}
		s.Returns[i].write(b)
	}
	if s.IsVarret {
		b.WriteString(", ...")
	}
	if brackets {
		b.WriteByte(')')
	}
}

func (a *Argument) write(b *strings.Builder) {
	writeType(b, a.RealType, a.Alias, a.ListSize)
	if a.Name != "" {
		b.WriteByte(' ')
		b.WriteString(a.Name)
	}
	if a.HasDefault {
		b.WriteByte('=')
		b.WriteString(a.defaultText())
	}
}

// defaultText prints the default; that of a list of several ints that are equal, and of a T[N] with N equal elements, is the element. Only strings of a type str have quotes.
func (a *Argument) defaultText() string {
	t := a.Type
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if a.Default.Kind() == value.KindString && t.Kind() != types.KindString {
		return a.Default.Str()
	}
	if a.Default.IsNone() && a.Type.Kind() == types.KindTensor {
		return "[ Tensor (undefined) ]"
	}
	if list, ok := a.Type.(*types.List); ok && a.Default.Kind() == value.KindList && len(a.Default.List().Items) > 1 {
		items := a.Default.List().Items
		same := len(items) == a.ListSize || list.Elem.Kind() == types.KindInt
		for _, item := range items {
			same = same && item == items[0]
		}
		if same {
			return literalText(items[0])
		}
	}
	return literalText(a.Default)
}

// writeType prints a type with its alias annotation where that belongs: behind the type or, for a
// list, behind the element's or the list's brackets, and before the mark of an optional.
func writeType(b *strings.Builder, t types.Type, alias *Alias, listSize int) {
	switch x := t.(type) {
	case *types.Optional:
		writeType(b, x.Elem, alias, listSize)
		b.WriteByte('?')
		return
	case *types.List:
		var inner *Alias
		if alias != nil && len(alias.Contained) == 1 {
			inner = alias.Contained[0]
		}
		writeType(b, x.Elem, inner, -1)
		b.WriteByte('[')
		if listSize >= 0 {
			b.WriteString(strconv.Itoa(listSize))
		}
		b.WriteByte(']')
	default:
		b.WriteString(t.String())
	}
	if alias != nil && len(alias.Before) > 0 {
		alias.write(b)
	}
}

func (a *Alias) write(b *strings.Builder) {
	b.WriteByte('(')
	writeSets(b, a.Before)
	if a.IsWrite {
		b.WriteByte('!')
	}
	if strings.Join(a.After, "|") != strings.Join(a.Before, "|") {
		b.WriteString(" -> ")
		writeSets(b, a.After)
	}
	b.WriteByte(')')
}

func writeSets(b *strings.Builder, names []string) { b.WriteString(strings.Join(names, "|")) }

// literalText prints a default the way schemas have it: floats with 17 digits and a point.
func literalText(v value.Value) string {
	switch v.Kind() {
	case value.KindNone:
		return "None"
	case value.KindBool:
		if v.Bool() {
			return "True"
		}
		return "False"
	case value.KindInt:
		return strconv.FormatInt(v.Int(), 10)
	case value.KindFloat:
		return decimal.Pointed(v.Float()+0, 17) // a negative zero has no sign
	case value.KindComplex:
		c := v.Complex()
		sign := "+"
		if imag(c) < 0 {
			sign = ""
		}
		return decimal.Pointed(real(c), 17) + sign + decimal.Pointed(imag(c), 17) + "j"
	case value.KindString:
		return `"` + escape(v.Str()) + `"`
	case value.KindList:
		return "[" + itemTexts(v.List().Items) + "]"
	case value.KindTuple:
		if len(v.Tuple().Items) == 1 {
			return "(" + itemTexts(v.Tuple().Items) + ",)"
		}
		return "(" + itemTexts(v.Tuple().Items) + ")"
	case value.KindDict:
		var parts []string
		for key, item := range v.Dict().All {
			parts = append(parts, itemTexts([]value.Value{key})+": "+itemTexts([]value.Value{item}))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case value.KindTensor:
		return v.Tensor().CppString()
	case value.KindDevice:
		return v.Device().String()
	case value.KindEnum:
		e := v.Enum()
		return "Enum<" + e.Type.Name[strings.LastIndexByte(e.Type.Name, '.')+1:] + "." + e.Name() + ">"
	}
	return fmt.Sprintf("<%s>", v.Kind())
}

// itemTexts prints the items of a container, where strings have no quotes.
func itemTexts(vs []value.Value) string {
	parts := make([]string, len(vs))
	for i, v := range vs {
		if parts[i] = literalText(v); v.Kind() == value.KindString {
			parts[i] = v.Str()
		}
	}
	return strings.Join(parts, ", ")
}

func escape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\n':
			b.WriteString(`\n`)
		case '\t':
			b.WriteString(`\t`)
		case '\f':
			b.WriteString(`\f`)
		case '\v':
			b.WriteString(`\v`)
		case '\r':
			b.WriteString(`\r`)
		case '"', '\'', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

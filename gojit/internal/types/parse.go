package types

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Parser reads types in their printed form (see Type.String) from Src at Pos.
type Parser struct {
	Src string
	Pos int
	// Named resolves a qualified class name; nil: such names become opaque class types.
	Named func(name string) (Type, bool)
	// Alias, if not nil, is called after each type and each level of container with Pos before a
	// possible alias annotation.
	Alias func(container bool) error
	// ListSize receives the N of a type written T[N]; it stays -1 without one.
	ListSize int
}

// Parse reads the printed form of a type that takes up all of src.
func Parse(src string) (Type, error) {
	p := &Parser{Src: src}
	t, err := p.Type()
	if err != nil {
		return nil, err
	}
	p.Space()
	if p.Pos != len(src) {
		return nil, p.Errorf("the type ends before %q", src[p.Pos:])
	}
	return t, nil
}

// Errorf returns an error about the token at Pos.
func (p *Parser) Errorf(format string, args ...any) error {
	_, at := p.token()
	return source.Errorf(source.RuntimeError, at, format, args...)
}

// Expected returns the error that another token than the one wanted is at Pos.
func (p *Parser) Expected(wanted string) error {
	kind, at := p.token()
	if kind == "" {
		return source.Misread(at, "expected a valid token but found '%s' here", p.Src[at.Start:at.End])
	}
	return source.Misread(at, "expected %s but found '%s' here", wanted, kind)
}

// keywords are the names that are tokens of their own in programs, and in the texts that this parser reads.
var keywords = strings.Fields("return def in None True False if else elif for while and or not is lambda class import pass break " +
	"continue del with as assert raise global")

// token returns what messages call the token at Pos, "" for none, and where it is.
func (p *Parser) token() (kind string, at source.Range) {
	p.Space()
	rest := p.Src[p.Pos:]
	_, length := utf8.DecodeRuneInString(rest)
	switch {
	case rest == "":
		kind, length = "eof", 0
	case rest[0] >= '0' && rest[0] <= '9':
		kind, length = "number", len(rest)-len(strings.TrimLeft(rest, "0123456789."))
	case strings.HasPrefix(rest, "->"):
		kind, length = "arrow", 2
	case strings.HasPrefix(rest, "..."):
		kind, length = "dots", 3
	case rest[0] == '"' || rest[0] == '\'':
		if end := strings.IndexByte(rest[1:], rest[0]); end >= 0 {
			kind, length = "string_literal", end+2
		}
	case strings.IndexByte("()[]{}<>,.:=+-*/%!?|&@~^", rest[0]) >= 0:
		kind = rest[:1]
	default:
		if name := (&Parser{Src: rest}).Ident(false); name != "" {
			kind, length = "ident", len(name)
			if slices.Contains(keywords, name) {
				kind = name
			}
		}
	}
	text := source.NewText("", p.Src, 1)
	return kind, source.Range{Text: text, Start: p.Pos, End: p.Pos + length}
}

// Space skips blanks.
func (p *Parser) Space() {
	for p.Pos < len(p.Src) && (p.Src[p.Pos] == ' ' || p.Src[p.Pos] == '\n') {
		p.Pos++
	}
}

// Peek reports whether text comes next, after blanks.
func (p *Parser) Peek(text string) bool {
	p.Space()
	return strings.HasPrefix(p.Src[p.Pos:], text)
}

// Accept skips text if it comes next.
func (p *Parser) Accept(text string) bool {
	if p.Peek(text) {
		p.Pos += len(text)
		return true
	}
	return false
}

// Expect skips text, which must come next.
func (p *Parser) Expect(text string) error {
	if !p.Accept(text) {
		return p.Expected(tokenName(text))
	}
	return nil
}

// tokenName is what messages call the token that a text begins with.
func tokenName(text string) string {
	if text == "->" {
		return "arrow"
	}
	return text[:1]
}

// Ident reads a name of letters, digits, '_', and, with dots, '.'.
func (p *Parser) Ident(dots bool) string {
	p.Space()
	start := p.Pos
	for p.Pos < len(p.Src) {
		c := p.Src[p.Pos]
		if c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' && p.Pos > start || dots && c == '.' && p.Pos > start {
			p.Pos++
			continue
		}
		break
	}
	return p.Src[start:p.Pos]
}

// Integer reads a decimal integer with an optional sign.
func (p *Parser) Integer() (int, error) {
	p.Space()
	start := p.Pos
	if p.Pos < len(p.Src) && p.Src[p.Pos] == '-' {
		p.Pos++
	}
	for p.Pos < len(p.Src) && p.Src[p.Pos] >= '0' && p.Src[p.Pos] <= '9' {
		p.Pos++
	}
	n, err := strconv.Atoi(p.Src[start:p.Pos])
	if err != nil {
		p.Pos = start
		return 0, p.Expected("number")
	}
	return n, nil
}

var simpleTypes = map[string]Type{
	"Any": Any, "NoneType": None, "None": None, "bool": Bool, "int": Int, "float": Float, "complex": Complex,
	"Scalar": Number, "number": Number, "str": Str, "Device": Device, "Generator": Generator, "Stream": Stream,
	"Storage": Storage, "ScalarType": ScalarType, "Layout": Layout, "MemoryFormat": MemoryFormat,
	"QScheme": QScheme, "SymInt": SymInt, "Capsule": Capsule, "PyObject": PyObject, "Quantizer": Quantizer,
	"list": AnyList, "tuple": AnyTuple, "AnyClassType": AnyClass, "AnyEnumType": AnyEnum, "Tensor": Tensor,
	"Function": &Function{},
}

// Type reads a type.
func (p *Parser) Type() (Type, error) {
	p.ListSize = -1
	t, err := p.base()
	if err != nil {
		return nil, err
	}
	if err := p.alias(false); err != nil {
		return nil, err
	}
	for {
		switch {
		case p.Accept("[]"):
			t = NewList(t)
			if err := p.alias(true); err != nil {
				return nil, err
			}
		case p.Peek("[") && p.Pos+1 < len(p.Src) && p.Src[p.Pos+1] >= '0' && p.Src[p.Pos+1] <= '9':
			p.Pos++
			n, err := p.Integer()
			if err != nil {
				return nil, err
			}
			if err := p.Expect("]"); err != nil {
				return nil, err
			}
			p.ListSize = n
			t = NewList(t)
			if err := p.alias(true); err != nil {
				return nil, err
			}
			if p.Accept("?") {
				t = NewOptional(t)
			}
			return t, nil
		case p.Accept("?"):
			t = NewOptional(t)
		default:
			return t, nil
		}
	}
}

func (p *Parser) alias(container bool) error {
	if p.Alias == nil {
		return nil
	}
	return p.Alias(container)
}

func (p *Parser) base() (Type, error) {
	if p.Accept("(") {
		elems, err := p.list(")")
		if err != nil {
			return nil, err
		}
		return NewTuple(elems...), nil
	}
	start := p.Pos
	name := p.Ident(true)
	if name == "" {
		return nil, p.Expected("ident")
	}
	switch name {
	case "Dict":
		if err := p.Expect("("); err != nil {
			return nil, err
		}
		key, err := p.Type()
		if err != nil {
			return nil, err
		}
		if err := p.Expect(","); err != nil {
			return nil, err
		}
		value, err := p.Type()
		if err != nil {
			return nil, err
		}
		return NewDict(key, value), p.Expect(")")
	case "Future", "Await", "RRef", "Union", "Optional":
		end := ")"
		if p.Accept("[") { // as graphs have it
			end = "]"
		} else if err := p.Expect("("); err != nil {
			return nil, err
		}
		elems, err := p.list(end)
		if err != nil {
			return nil, err
		}
		if len(elems) != 1 && name != "Union" || len(elems) == 0 {
			return nil, p.Errorf("%s cannot have %d types", name, len(elems))
		}
		switch name {
		case "Future", "Await":
			return &Future{elems[0], name == "Await"}, nil
		case "RRef":
			return &RRef{elems[0]}, nil
		case "Optional":
			return NewOptional(elems[0]), nil
		}
		return NewUnion(elems...), nil
	case "NamedTuple":
		return p.namedFields()
	case "InterfaceType", "Enum":
		if err := p.Expect("<"); err != nil {
			return nil, err
		}
		inner := p.Ident(true)
		if err := p.Expect(">"); err != nil {
			return nil, err
		}
		return p.named(inner, name)
	}
	if dtype, ok := tensorTypeDTypes[name]; ok {
		if !p.Peek("(") {
			return &TensorInfo{DType: dtype}, nil
		}
		return p.tensor(dtype)
	}
	if dtype, ok := tensorTypeDTypes[strings.TrimSuffix(name, "Tensor")]; ok { // of unknown dimensions
		if !p.Peek("(") {
			return &TensorInfo{DType: dtype}, nil
		}
		t, err := p.tensor(dtype)
		if info, ok := t.(*TensorInfo); ok {
			info.Sizes, info.Dims = nil, nil
		}
		return t, err
	}
	if name == "Tensor" && p.Alias == nil && p.Peek("(") {
		return p.tensor("")
	}
	if t, ok := simpleTypes[name]; ok {
		return t, nil
	}
	if strings.Contains(name, ".") {
		return p.named(name, "")
	}
	if c := name[0]; c >= 'a' && c <= 'z' {
		return &Var{name}, nil
	}
	p.Pos = start
	return nil, p.Errorf("unknown type specifier")
}

// namedFields reads the fields of a named tuple that has no name: "(values : Tensor)".
func (p *Parser) namedFields() (Type, error) {
	if err := p.Expect("("); err != nil {
		return nil, err
	}
	t := &Tuple{Fields: []string{}}
	for !p.Accept(")") {
		field := p.Ident(false)
		if field == "" {
			return nil, p.Expected("ident")
		}
		if err := p.Expect(":"); err != nil {
			return nil, err
		}
		elem, err := p.Type()
		if err != nil {
			return nil, err
		}
		t.Fields, t.Elems = append(t.Fields, field), append(t.Elems, elem)
		if !p.Accept(",") && !p.Peek(")") {
			return nil, p.Expected(")")
		}
	}
	return t, nil
}

func (p *Parser) named(name, form string) (Type, error) {
	if p.Named != nil {
		if t, ok := p.Named(name); ok {
			return t, nil
		}
	}
	switch form {
	case "InterfaceType":
		return &Interface{Name: name, Satisfies: func(*Class) (bool, string) { return false, "the interface is not defined" }}, nil
	case "Enum":
		return &Enum{Name: name, Value: Int}, nil
	}
	if strings.HasPrefix(name, NativePrefix) {
		return NativeClass(name), nil
	}
	return NewClass(name, false), nil
}

func (p *Parser) list(end string) ([]Type, error) {
	var elems []Type
	if p.Accept(end) {
		return elems, nil
	}
	for {
		t, err := p.Type()
		if err != nil {
			return nil, err
		}
		elems = append(elems, t)
		if p.Accept(end) {
			return elems, nil
		}
		if !p.Accept(",") {
			return nil, p.Expected(end)
		}
	}
}

// tensor reads the bracketed part of a tensor type of which something is known.
func (p *Parser) tensor(dtype string) (Type, error) {
	t := &TensorInfo{DType: dtype, Sizes: []int{}}
	if err := p.Expect("("); err != nil {
		return nil, err
	}
	for !p.Accept(")") {
		switch {
		case p.Accept("strides=["):
			t.Strides = []int{}
			for !p.Accept("]") {
				n, err := p.dim()
				if err != nil {
					return nil, err
				}
				t.Strides = append(t.Strides, n)
				p.Accept(",")
			}
		case p.Accept("requires_grad="):
			n, err := p.Integer()
			if err != nil {
				return nil, err
			}
			on := n != 0
			t.RequiresGrad = &on
		case p.Accept("device="):
			t.Device = p.Ident(false)
			if p.Accept(":") {
				n, err := p.Integer()
				if err != nil {
					return nil, err
				}
				t.Device += ":" + strconv.Itoa(n)
			}
		default:
			n, err := p.dim()
			if err != nil {
				return nil, err
			}
			t.Sizes = append(t.Sizes, n)
		}
		if !p.Accept(",") && !p.Peek(")") {
			return nil, p.Expected(")")
		}
	}
	dims := len(t.Sizes)
	t.Dims = &dims
	if dims == 0 && dtype == "" {
		t.Sizes, t.Dims = nil, nil
	}
	return t, nil
}

// dim reads a size: a number, "*", or a symbol, "SS(-2)".
func (p *Parser) dim() (int, error) {
	if p.Accept("*") {
		return -1, nil
	}
	if !p.Accept("SS(") {
		if name := p.Ident(false); name != "" {
			return 0, p.Errorf("Unexpected specifier '%s'", name)
		}
		return p.Integer()
	}
	n, err := p.Integer()
	if err != nil {
		return 0, err
	}
	if n < 0 {
		keepSymbol(n)
	}
	return n, p.Expect(")")
}

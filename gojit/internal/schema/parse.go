package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Parse reads the text form of a schema. It fails with a source.Error that shows the place.
func Parse(text string) (*FunctionSchema, error) {
	p := &parser{Parser: types.Parser{Src: text}}
	p.Parser.Alias = p.alias
	return p.schema()
}

// MustParse is Parse for text that is known to be right.
func MustParse(text string) *FunctionSchema {
	s, err := Parse(text)
	if err != nil {
		panic(err)
	}
	return s
}

type parser struct {
	types.Parser
	pending *Alias // the annotation of the type being read
}

func (p *parser) schema() (*FunctionSchema, error) {
	s := &FunctionSchema{}
	if err := p.name(s); err != nil {
		return nil, err
	}
	if !p.Peek("(") {
		if err := p.end(); err != nil {
			return nil, err
		}
		return nil, source.Errorf(source.RuntimeError, source.Range{}, "Tried to parse a function schema but only the operator name was given")
	}
	if err := p.arguments(s); err != nil {
		return nil, err
	}
	if err := p.Expect("->"); err != nil {
		return nil, err
	}
	if err := p.returns(s); err != nil {
		return nil, err
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return s, nil
}

// end fails unless all text is read.
func (p *parser) end() error {
	p.Space()
	if p.Pos != len(p.Src) {
		return p.Expected("eof")
	}
	return nil
}

// name reads "namespace::name.overload", of which the first and the last part may be left out.
func (p *parser) name(s *FunctionSchema) (err error) {
	if s.Name, err = p.ident(); err != nil {
		return err
	}
	if p.Accept("::") {
		inner, err := p.ident()
		if err != nil {
			return err
		}
		s.Name += "::" + inner
	}
	if p.Accept(".") {
		s.Overload, err = p.ident()
	}
	return err
}

// ident reads a name, which must come next.
func (p *parser) ident() (string, error) {
	name := p.Ident(false)
	if name == "" {
		return "", p.Expected("ident")
	}
	return name, nil
}

func (p *parser) arguments(s *FunctionSchema) error {
	if err := p.Expect("("); err != nil {
		return err
	}
	kwargOnly := false
	for more := !p.Accept(")"); more; {
		switch {
		case s.IsVararg:
			return p.Errorf("... must be the last element of the argument list")
		case p.Accept("..."):
			if slices.ContainsFunc(s.Arguments, func(a Argument) bool { return a.HasDefault }) {
				return p.Errorf("schemas with vararg (...) can't have default value args")
			}
			s.IsVararg = true
		case p.Accept("*"):
			kwargOnly = true
		default:
			a, err := p.argument(false)
			if err != nil {
				return err
			}
			a.KwargOnly = kwargOnly
			s.Arguments = append(s.Arguments, a)
		}
		var err error
		if more, err = p.another(")"); err != nil {
			return err
		}
	}
	return nil
}

// another reads what comes behind an item of a list, and reports whether it is a comma and not the end.
func (p *parser) another(end string) (bool, error) {
	if p.Accept(",") {
		return true, nil
	}
	return false, p.Expect(end)
}

func (p *parser) returns(s *FunctionSchema) error {
	if p.Accept("...") {
		s.IsVarret = true
		return nil
	}
	if !p.Accept("(") {
		a, err := p.argument(true)
		if err != nil {
			return err
		}
		s.Returns = []Argument{a}
		return nil
	}
	for more := !p.Accept(")"); more; {
		if p.Accept("...") {
			s.IsVarret = true
		} else {
			a, err := p.argument(true)
			if err != nil {
				return err
			}
			s.Returns = append(s.Returns, a)
		}
		var err error
		if more, err = p.another(")"); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) argument(isReturn bool) (Argument, error) {
	a := Argument{}
	p.pending = nil
	t, err := p.Type()
	if err != nil {
		return a, err
	}
	a.RealType, a.Type, a.ListSize, a.Alias = t, graphType(t), p.ListSize, p.pending
	a.Name = p.Ident(false)
	if a.Name == "" && !isReturn {
		return a, p.Expected("ident")
	}
	if !isReturn && p.Accept("=") {
		a.HasDefault = true
		if a.Default, err = p.literal(t, a.ListSize); err != nil {
			return a, err
		}
	}
	return a, nil
}

// graphType returns t with the types that are ints at run time replaced by int.
func graphType(t types.Type) types.Type {
	return types.Map(t, func(t types.Type) types.Type {
		switch t.Kind() {
		case types.KindScalarType, types.KindLayout, types.KindMemoryFormat, types.KindSymInt, types.KindQScheme:
			return types.Int
		}
		return t
	})
}

// alias reads the annotation behind a type, if there is one.
func (p *parser) alias(container bool) error {
	inner := p.pending
	if container {
		p.pending = nil
		if inner != nil {
			p.pending = &Alias{Contained: []*Alias{inner}}
		}
	} else if inner != nil {
		// the next element of Dict(K, V) or a tuple: each annotates itself
		p.pending = nil
	}
	if p.Pos >= len(p.Src) || p.Src[p.Pos] != '(' {
		return nil
	}
	p.Pos++
	a := &Alias{}
	var err error
	if a.Before, err = p.sets(a); err != nil {
		return err
	}
	a.After = a.Before
	if p.Accept("->") {
		if a.After, err = p.sets(a); err != nil {
			return err
		}
	}
	if err := p.Expect(")"); err != nil {
		return err
	}
	if p.pending != nil {
		a.Contained = p.pending.Contained
	}
	p.pending = a
	return nil
}

func (p *parser) sets(a *Alias) ([]string, error) {
	var names []string
	for {
		if p.Accept("*") {
			names = append(names, "*")
		} else {
			name, err := p.ident()
			if err != nil {
				return nil, err
			}
			names = append(names, name)
		}
		if p.Accept("!") {
			a.IsWrite = true
		}
		if !p.Accept("|") {
			return names, nil
		}
	}
}

// literal reads the default of an argument of type t.
func (p *parser) literal(t types.Type, listSize int) (value.Value, error) {
	if p.Accept("None") {
		return value.None, nil
	}
	if o, ok := t.(*types.Optional); ok {
		t = o.Elem
	}
	if l, ok := t.(*types.List); ok {
		return p.listLiteral(l, listSize)
	}
	p.Space()
	switch {
	case p.Accept("True"):
		return value.Bool(true), nil
	case p.Accept("False"):
		return value.Bool(false), nil
	case p.Accept("\""), p.Accept("'"):
		return p.stringLiteral(p.Src[p.Pos-1])
	}
	return p.number(t)
}

func (p *parser) listLiteral(l *types.List, listSize int) (value.Value, error) {
	elem := graphType(l.Elem)
	if listSize > 0 && !p.Peek("[") {
		v, err := p.literal(l.Elem, -1)
		if err != nil {
			return v, err
		}
		items := make([]value.Value, listSize)
		for i := range items {
			items[i] = v
		}
		return value.OfList(value.NewList(elem, items...)), nil
	}
	if err := p.Expect("["); err != nil {
		return value.None, err
	}
	var items []value.Value
	for more := !p.Accept("]"); more; {
		v, err := p.literal(l.Elem, -1)
		if err != nil {
			return v, err
		}
		items = append(items, v)
		if more, err = p.another("]"); err != nil {
			return v, err
		}
	}
	return value.OfList(value.NewList(elem, items...)), nil
}

// stringLiteral reads the rest of a string whose first character, one of both quotes, has been read.
func (p *parser) stringLiteral(quote byte) (value.Value, error) {
	start := p.Pos
	for p.Pos < len(p.Src) && p.Src[p.Pos] != quote {
		if p.Src[p.Pos] == '\\' {
			p.Pos++
		}
		p.Pos++
	}
	if p.Pos >= len(p.Src) {
		p.Pos = start - 1
		return value.None, p.Expected("string_literal")
	}
	body := strings.ReplaceAll(p.Src[start:p.Pos], `\'`, `'`)
	p.Pos++
	if quote == '\'' {
		body = strings.ReplaceAll(body, `"`, `\"`)
	}
	s, err := strconv.Unquote(`"` + body + `"`)
	if err != nil {
		return value.None, p.Errorf("a string with a bad escape")
	}
	return value.Str(s), nil
}

// named are the numbers that a default value can be called by.
var named = map[string]int64{"strided": 0, "contiguous_format": 0, "Mean": 1, "long": int64(tensor.Int64), "float": int64(tensor.Float32)}

// number reads a number, with a sign and, if it is complex, a "j", or the name of one.
func (p *parser) number(t types.Type) (value.Value, error) {
	p.Space()
	start := p.Pos
	p.Accept("-")
	if name := p.Ident(false); name != "" && !(t.Kind() == types.KindFloat && (name == "inf" || name == "nan")) {
		n, known := named[name]
		if !known || p.Src[start] == '-' {
			return value.None, p.Errorf("invalid numeric default value")
		}
		return value.Int(n), nil
	}
	for p.Pos < len(p.Src) && isOfNumber(p.Src[start:p.Pos], p.Src[p.Pos]) {
		p.Pos++
	}
	text := p.Src[start:p.Pos]
	imaginary := p.Accept("j")
	f, err := strconv.ParseFloat(text, 64)
	i, notInt := strconv.ParseInt(text, 10, 64)
	switch {
	case err != nil:
		p.Pos = start
		return value.None, p.Expected("number")
	case imaginary:
		return value.Complex(complex(0, f)), nil
	case notInt == nil && t.Kind() != types.KindFloat:
		return value.Int(i), nil
	}
	return value.Float(f), nil
}

// isOfNumber reports whether c goes on with the number that before begins.
func isOfNumber(before string, c byte) bool {
	if c == '+' || c == '-' {
		return strings.HasSuffix(before, "e")
	}
	return c >= '0' && c <= '9' || c == '.' || c == 'e'
}

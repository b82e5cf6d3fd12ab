package schema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Parse reads the text form of a schema. It fails with a source.Error that shows the place.
func Parse(text string) (*FunctionSchema, error) {
	p := &parser{Parser: types.Parser{Src: text}}
	p.Parser.Alias = p.alias
	s, err := p.schema()
	if err != nil {
		start := max(min(p.Pos, len(text)-1), 0) // the last byte where the text ends too early
		at := source.Range{Text: source.NewText("", text, 1), Start: start, End: min(start+1, len(text))}
		return nil, source.Errorf(source.RuntimeError, at, "Not a schema: %s", err)
	}
	return s, nil
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
	name := p.Ident(true)
	if p.Accept("::") {
		name += "::" + p.Ident(true)
	}
	if name == "" {
		return nil, p.Errorf("expected a name")
	}
	base := 0
	if i := strings.Index(name, "::"); i >= 0 {
		base = i + 2
	}
	if dot := strings.LastIndexByte(name[base:], '.'); dot >= 0 && strings.Contains(name, "::") {
		s.Name, s.Overload = name[:base+dot], name[base+dot+1:]
	} else {
		s.Name = name
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
	p.Space()
	if p.Pos != len(p.Src) {
		return nil, p.Errorf("unexpected text after the schema")
	}
	return s, nil
}

func (p *parser) arguments(s *FunctionSchema) error {
	if err := p.Expect("("); err != nil {
		return err
	}
	kwargOnly := false
	for !p.Accept(")") {
		switch {
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
		if !p.Accept(",") && !p.Peek(")") {
			return p.Errorf("expected , or )")
		}
	}
	return nil
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
	for !p.Accept(")") {
		if p.Accept("...") {
			s.IsVarret = true
		} else {
			a, err := p.argument(true)
			if err != nil {
				return err
			}
			s.Returns = append(s.Returns, a)
		}
		if !p.Accept(",") && !p.Peek(")") {
			return p.Errorf("expected , or )")
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
		return a, p.Errorf("expected the name of an argument")
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
			name := p.Ident(false)
			if name == "" {
				return nil, p.Errorf("expected the name of an alias set")
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
	if !p.Accept("[") {
		v, err := p.literal(l.Elem, -1)
		if err != nil {
			return v, err
		}
		items := make([]value.Value, max(1, listSize))
		for i := range items {
			items[i] = v
		}
		return value.OfList(value.NewList(elem, items...)), nil
	}
	var items []value.Value
	for !p.Accept("]") {
		v, err := p.literal(l.Elem, -1)
		if err != nil {
			return v, err
		}
		items = append(items, v)
		if !p.Accept(",") && !p.Peek("]") {
			return v, p.Errorf("expected , or ]")
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
		return value.None, p.Errorf("a string without end")
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

func (p *parser) number(t types.Type) (value.Value, error) {
	start := p.Pos
	for p.Pos < len(p.Src) && strings.IndexByte("+-.0123456789einfa", p.Src[p.Pos]) >= 0 {
		p.Pos++
	}
	text := p.Src[start:p.Pos]
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		if t.Kind() == types.KindFloat {
			return value.Float(float64(i)), nil
		}
		return value.Int(i), nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		p.Pos = start
		return value.None, p.Errorf("expected a default value of type %s", t)
	}
	return value.Float(f), nil
}

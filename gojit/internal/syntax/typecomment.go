package syntax

import (
	"sort"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

const typeComment = "# type:"

// withTypeComments merges the type comments of a definition that has just been read.
func (p *parser) withTypeComments(d Def, isMethod bool) Def {
	out, err := mergeTypeComments(d, commentsIn(p.comments, d.Range.Start, endOfDef(d.Tree)), isMethod)
	if err != nil {
		panic(err)
	}
	return out
}

func commentsIn(comments []comment, start, end int) []comment {
	lo := sort.Search(len(comments), func(i int) bool { return comments[i].start >= start })
	hi := sort.Search(len(comments), func(i int) bool { return comments[i].start >= end })
	return comments[lo:max(lo, hi)]
}

// mergeTypeComments puts the types of "# type:" comments into the declaration. There may be one
// signature line, or a comment for each parameter and then "# type: (...) -> T".
func mergeTypeComments(d Def, comments []comment, isMethod bool) (Def, error) {
	text := d.Range.Text
	var lines []comment
	for _, c := range comments {
		at := strings.Index(text.Body[c.start:c.end], typeComment)
		if at >= 0 && !isIgnore(text.Body[c.start+at+len(typeComment):c.end]) {
			lines = append(lines, comment{c.start + at, c.end})
		}
	}
	if len(lines) == 0 {
		return d, nil
	}
	if body := d.Body(); len(lines) == 1 && len(body) > 0 && lines[0].start > body[0].tree().Range.Start {
		start := text.LineStart(text.LineOf(lines[0].start))
		if before := strings.TrimLeft(text.Body[start:lines[0].start], " \t"); before != "" && before[0] != '#' {
			return d, notTypeComment(source.Range{Text: text, Start: lines[0].start - len(before), End: lines[0].end})
		}
	}
	params, result, err := readTypeLines(text, lines)
	if err != nil {
		return d, err
	}
	return mergeTypes(d, params, result, isMethod)
}

// isIgnore recognizes "ignore" and "ignore[code]", which are for other tools.
func isIgnore(s string) bool {
	rest, ok := strings.CutPrefix(strings.TrimSpace(s), "ignore")
	return ok && (rest == "" || rest[0] == '[' && strings.HasSuffix(rest, "]"))
}

func readTypeLines(text *source.Text, lines []comment) (params []Expr, result Expr, err error) {
	if len(lines) == 1 {
		return parseSignature(text, lines[0])
	}
	for i, line := range lines {
		if !strings.HasPrefix(text.Body[line.start:line.end], typeComment+" (...) -> ") {
			continue
		}
		_, result, err = parseSignature(text, line)
		for _, c := range lines[:i] {
			if err != nil {
				break
			}
			var typ Expr
			typ, err = parseType(text, c.start+len(typeComment), c.end)
			params = append(params, typ)
		}
		return params, result, err
	}
	return nil, nil, &source.Error{Class: source.RuntimeError, Text: multipleTypeLines(text, lines)}
}

func multipleTypeLines(text *source.Text, lines []comment) string {
	var b strings.Builder
	b.WriteString("Return type line '# type: (...) -> ...' not found on multiline type annotation\nfor type lines:\n")
	indent := strings.Repeat(" ", text.Indent)
	for _, line := range lines {
		b.WriteString(indent + text.Line(text.LineOf(line.start)) + "\n")
	}
	b.WriteString("(See PEP 484 https://www.python.org/dev/peps/pep-0484/#suggested-syntax-for-python-2-7-and-straddling-code)")
	return b.String()
}

func parseType(text *source.Text, start, end int) (typ Expr, err error) {
	tokens, err := scanExpr(text, start, end)
	if err != nil {
		return nil, err
	}
	p := &parser{Lexer: Lexer{text: text, tokens: tokens}}
	defer source.Catch(&err)
	typ = p.expr()
	p.expect(tokenEOF, "newline")
	return typ, nil
}

// parseSignature reads "# type: (A, B) -> C" or "# type: (A, B)" from a comment; (...) has no parameters, and a result that is not there is nil.
func parseSignature(text *source.Text, c comment) (params []Expr, result Expr, err error) {
	tokens, err := scanExpr(text, c.start+len(typeComment), c.end)
	if err != nil {
		return nil, nil, err
	}
	p := &parser{Lexer: Lexer{text: text, tokens: tokens}}
	defer source.Catch(&err)
	p.expectWord("(")
	if p.atWord("...") && p.lookahead().is(")") {
		p.advance()
	}
	for !p.atWord(")") {
		params = append(params, p.expr())
		if !p.nextWord(",") && !p.atWord(")") {
			p.expected(")")
		}
	}
	p.advance()
	if p.nextWord("->") {
		result = p.expr()
	}
	p.expect(tokenEOF, "newline")
	return params, result, nil
}

// ParseTypeComment reads a text that is a type comment, "# type: (A, B) -> C", as a declaration whose parameters
// have types and no names.
func ParseTypeComment(text *source.Text) (decl Decl, err error) {
	all := source.Range{Text: text, End: len(text.Body)}
	if !strings.HasPrefix(text.Body, typeComment) {
		return decl, notTypeComment(all)
	}
	types, result, err := parseSignature(text, comment{0, len(text.Body)})
	if err != nil {
		return decl, err
	}
	params := make([]Param, len(types))
	for i, typ := range types {
		params[i] = NewParam(typ.tree().Range, NewIdent(typ.tree().Range, ""), typ, nil, false)
	}
	return NewDecl(all, params, result), nil
}

// notTypeComment says what stands in a range where a type comment should.
func notTypeComment(r source.Range) error {
	found := ""
	if tokens, _ := scanExpr(r.Text, r.Start, r.End); len(tokens) > 0 {
		r, found = tokens[0].rangeIn(r.Text), tokens[0].describe()
	}
	return source.Errorf(source.RuntimeError, r, "expected type comment but found '%s' here", found)
}

// mergeTypes gives the parameters of d, without self in a method, the types in order.
func mergeTypes(d Def, types []Expr, result Expr, isMethod bool) (Def, error) {
	decl := d.Decl()
	params := decl.Params()
	first, what := 0, "function"
	if isMethod {
		first, what = 1, "method"
	}
	if len(types) != len(params)-first {
		return d, source.Errorf(source.RuntimeError, decl.Range,
			"Number of type annotations (%d) did not match the number of %s parameters (%d)",
			len(types), what, len(params)-first)
	}
	for i, typ := range types {
		params[first+i] = params[first+i].withComment(typ)
	}
	return d.withDecl(newDeclOf(decl, params, result)), nil
}

// withComment returns the parameter annotated by a comment, which does not extend its range.
func (v Param) withComment(typ Expr) Param {
	p := v.WithType(typ)
	p.Range = v.Range
	return p
}

// newDeclOf returns decl with other types and its own range.
func newDeclOf(decl Decl, params []Param, result Expr) Decl {
	d := NewDecl(decl.Range, params, result)
	d.Range = decl.Range
	d.Children[0].Range = decl.Children[0].Range
	return d
}

// withDecl returns the definition with another declaration and its own range.
func (v Def) withDecl(decl Decl) Def {
	d := v.WithDecl(decl)
	d.Range = v.Range
	return d
}

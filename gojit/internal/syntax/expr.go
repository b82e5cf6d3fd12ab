package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Precedences of the operators between expressions, weakest first.
const (
	precOr uint8 = iota + 1
	precAnd
	precNot
	precCompare
	precBitOr
	precBitXor
	precBitAnd
	precShift
	precSum
	precProduct
	precUnary
	precPower
)

// exprList reads expressions separated by commas; one with a comma after it is a tuple.
func (p *parser) exprList() Expr { return p.list(p.starredOrExpr) }

// targetList reads what stands between "for" and "in".
func (p *parser) targetList() Expr {
	return p.list(func() Expr {
		if p.atWord("*") {
			return p.starred()
		}
		return p.binary(precBitOr)
	})
}

func (p *parser) list(item func() Expr) Expr {
	start := p.cur().start
	first := item()
	if !p.atWord(",") {
		return first
	}
	items := []Expr{first}
	for p.nextWord(",") && !p.endsList() {
		items = append(items, item())
	}
	return NewTupleLiteral(p.span(start, start+1), items).Tree
}

// endsList reports whether the current token cannot begin another item after a comma.
func (p *parser) endsList() bool {
	t := p.cur()
	switch t.kind {
	case tokenNewline, tokenEOF, tokenDedent:
		return true
	case tokenKeyword:
		return t.text == "in" || t.text == "for"
	case tokenOperator:
		return strings.HasSuffix(t.text, "=") || strings.Contains(")]}:;", t.text)
	}
	return false
}

func (p *parser) starredOrExpr() Expr {
	if p.atWord("*") {
		return p.starred()
	}
	return p.expr()
}

func (p *parser) starred() Expr {
	star := p.advance()
	return NewStarred(star.rangeIn(p.text), p.binary(precBitOr)).Tree
}

// expr reads one expression, a conditional one included.
func (p *parser) expr() Expr {
	p.enter()
	defer p.leave()
	if p.atWord("lambda") {
		p.unsupportedExpr("Lambda")
	}
	yes := p.binary(precOr)
	if p.atWord(":=") {
		p.fail(UnsupportedNode, p.firstByte(yes), "NamedExpr aren't supported")
	}
	if !p.nextWord("if") {
		return yes
	}
	cond := p.binary(precOr)
	p.expectWord("else")
	return NewTernaryIf(cond, yes, p.expr()).Tree
}

// unsupported reports a construct of Python at the current token.
func (p *parser) unsupported(what string) {
	p.fail(UnsupportedNode, p.here(), "%s aren't supported", what)
}

// unsupportedExpr reports an expression that begins at the current token.
func (p *parser) unsupportedExpr(what string) {
	start := p.cur().start
	p.fail(UnsupportedNode, p.span(start, start+1), "%s aren't supported", what)
}

func (p *parser) firstByte(t *Tree) source.Range { return p.span(t.Range.Start, t.Range.Start+1) }

// binary reads an expression whose operators all have at least the precedence.
func (p *parser) binary(prec uint8) Expr {
	lhs := p.unary(prec)
	for {
		op := p.cur().between
		switch {
		case prec <= precCompare && p.atComparison():
			lhs = p.comparison(lhs)
		case op.prec >= prec && op.prec != precCompare:
			p.advance()
			lhs = NewBinOp(op.makes, lhs, p.binary(op.prec+1)).Tree
		default:
			return lhs
		}
	}
}

func (p *parser) atComparison() bool {
	t := p.cur()
	return t.between.prec == precCompare || t.is("not") && p.lookahead().is("in")
}

// comparison reads a chain of comparisons, which is the "and" of its pairs.
func (p *parser) comparison(lhs Expr) Expr {
	var chain Expr
	for p.atComparison() {
		pair, rhs := p.comparisonPair(lhs)
		if chain == nil {
			chain = pair
		} else {
			chain = NewBinOp(KindAnd, chain, pair).Tree
		}
		lhs = rhs
	}
	return chain
}

func (p *parser) comparisonPair(lhs Expr) (pair, rhs Expr) {
	if p.nextWord("not") {
		p.advance()
		rhs = p.binary(precBitOr)
		in := NewBinOp(KindIn, lhs, rhs).Tree
		return NewUnaryOp(KindNot, in.Range, in).Tree, rhs
	}
	kind := p.advance().between.makes
	if kind == KindIs && p.nextWord("not") {
		kind = KindIsNot
	}
	rhs = p.binary(precBitOr)
	return NewBinOp(kind, lhs, rhs).Tree, rhs
}

// unary reads prefix operators, powers and what they apply to.
func (p *parser) unary(prec uint8) Expr {
	p.enter()
	defer p.leave()
	op := p.cur()
	switch {
	case op.is("not") && prec <= precNot:
		p.advance()
		return NewUnaryOp(KindNot, op.rangeIn(p.text), p.binary(precNot)).Tree
	case op.is("-"):
		p.advance()
		return NewUnaryOp(KindUnaryMinus, op.rangeIn(p.text), p.unary(precUnary)).Tree
	case op.is("~"):
		p.advance()
		return NewUnaryOp(KindInvert, op.rangeIn(p.text), p.unary(precUnary)).Tree
	case op.is("+") && !p.inText:
		p.fail(source.NotSupportedError, p.here(), "unsupported unary operator: UAdd")
	case op.is("await"):
		p.unsupportedExpr("Await")
	}
	base := p.postfix(p.atom())
	if !p.nextWord("**") {
		return base
	}
	return NewBinOp(KindPow, base, p.unary(precUnary)).Tree
}

// postfix reads calls, subscripts and selections after an atom.
func (p *parser) postfix(e Expr) Expr {
	for {
		switch {
		case p.atWord("("):
			e = p.call(e)
		case p.atWord("["):
			e = p.subscript(e)
		case p.nextWord("."):
			name := p.expect(tokenIdent, "ident").text
			e = NewSelect(e, NewIdent(p.selectorRange(e, name), name)).Tree
		default:
			return e
		}
	}
}

// selectorRange is where the Python door finds the name after a dot: past the operand's range,
// the dot and white space.
func (p *parser) selectorRange(value Expr, name string) source.Range {
	start := value.Range.End + 1
	for start < len(p.text.Body) && strings.IndexByte(" \t\n\r\v\f", p.text.Body[start]) >= 0 {
		start++
	}
	return p.span(start, start+len(name))
}

func (p *parser) call(callee Expr) Expr {
	open := p.advance()
	var inputs []Expr
	var attributes []Attribute
	for !p.atWord(")") {
		switch {
		case p.atWord("**") && !p.inText:
			p.advance()
			p.fail(source.NotSupportedError, p.here(), "keyword-arg expansion is not supported")
		case p.at(tokenIdent) && p.lookahead().is("="):
			name := p.advance()
			p.advance()
			value := p.expr()
			attributes = append(attributes, NewAttribute(value.Range, NewIdent(value.Range, name.text), value))
		default:
			input := p.starredOrExpr()
			if p.atWord("for") {
				input = p.listComp(open, input)
			}
			inputs = append(inputs, input)
		}
		if !p.nextWord(",") && !p.atWord(")") {
			p.expected(")")
		}
	}
	p.advance()
	return NewApply(callee.Range, callee, inputs, attributes).Tree
}

func (p *parser) subscript(value Expr) Expr {
	p.advance()
	var items []Expr
	single := true
	for !p.atWord("]") {
		items = append(items, p.subscriptItem(value))
		if p.nextWord(",") {
			single = false
		} else if !p.atWord("]") {
			p.expected("]")
		}
	}
	if len(items) == 0 {
		p.expected("ident")
	}
	p.advance()
	if single && items[0].Kind == KindTupleLiteral {
		if inner := AsTupleLiteral(items[0]).Inputs(); len(inner) > 0 {
			items = inner
		} else {
			items[0].Range.End = items[0].Range.Start + 2
		}
	}
	end := 0
	for _, item := range items {
		end = max(end, item.Range.End)
	}
	return NewSubscript(p.span(value.Range.Start, end+1), value, items).Tree
}

func (p *parser) subscriptItem(value Expr) Expr {
	var bounds [3]Expr
	n := 0
	for ; n < 3; n++ {
		if !p.atWord(":") && !p.atWord("]") && !p.atWord(",") {
			bounds[n] = p.starredOrExpr()
		}
		if n == 2 || !p.nextWord(":") {
			break
		}
	}
	if n == 0 {
		if bounds[0] == nil {
			p.expected("ident")
		}
		return bounds[0]
	}
	return NewSliceExpr(value.Range, bounds[0], bounds[1], bounds[2]).Tree
}

func (p *parser) atom() Expr {
	t := p.cur()
	switch t.kind {
	case tokenIdent:
		p.advance()
		return newVar(t.rangeIn(p.text), t.text).Tree
	case tokenNumber:
		return p.number()
	case tokenString:
		return p.stringLiteral()
	}
	switch {
	case t.is("("):
		return p.parenthesized()
	case t.is("["):
		return p.listLiteral()
	case t.is("{"):
		return p.dictLiteral()
	case t.is("..."):
		return p.simple(KindDots)
	case t.is("True"):
		return p.simple(KindTrue)
	case t.is("False"):
		return p.simple(KindFalse)
	case t.is("None"):
		return p.simple(KindNone)
	case t.is("yield"):
		p.unsupportedExpr("Yield")
	case t.is("lambda"):
		p.unsupportedExpr("Lambda")
	}
	p.expected("ident")
	return nil
}

func (p *parser) simple(kind Kind) *Tree {
	return NewSimple(kind, p.advance().rangeIn(p.text))
}

func (p *parser) number() Expr {
	t := p.advance()
	text, ok := numberText(t.text)
	if !ok {
		p.fail(source.RuntimeError, t.rangeIn(p.text), "invalid number '%s' here", t.text)
	}
	return NewConst(p.span(t.start, t.start+len(text)), text).Tree
}

func (p *parser) parenthesized() Expr {
	open := p.advance()
	at := p.span(open.start, open.start+1)
	if p.nextWord(")") {
		return NewTupleLiteral(at, nil).Tree
	}
	if p.atWord("yield") {
		p.unsupportedExpr("Yield")
	}
	first := p.starredOrExpr()
	switch {
	case p.atWord("for"):
		first = p.listComp(open, first)
	case p.atWord(","):
		items := []Expr{first}
		for p.nextWord(",") && !p.atWord(")") {
			items = append(items, p.starredOrExpr())
		}
		first = NewTupleLiteral(at, items).Tree
	}
	p.expectWord(")")
	return first
}

func (p *parser) listLiteral() Expr {
	open := p.advance()
	var items []Expr
	for !p.atWord("]") {
		items = append(items, p.starredOrExpr())
		if len(items) == 1 && p.atWord("for") {
			comp := p.listComp(open, items[0])
			p.expectWord("]")
			return comp
		}
		if !p.nextWord(",") && !p.atWord("]") {
			p.expected("]")
		}
	}
	p.advance()
	return NewListLiteral(p.span(open.start, open.start+1), items).Tree
}

// listComp reads the rest of a comprehension or generator whose bracket and element are read.
func (p *parser) listComp(open *token, elt Expr) Expr {
	target, iter := p.generator(open)
	return NewListComp(p.span(open.start, open.start+1), elt, target, iter).Tree
}

func (p *parser) generator(open *token) (target, iter Expr) {
	p.expectWord("for")
	target = p.targetList()
	p.expectWord("in")
	if p.inText {
		iter = p.expr()
	} else {
		iter = p.binary(precOr)
	}
	if p.atWord("if") {
		p.fail(source.NotSupportedError, p.span(open.start, open.start), "Comprehension ifs are not supported yet")
	}
	if p.atWord("for") {
		p.fail(source.NotSupportedError, p.span(open.start, open.start), "Only a single generator is currently supported")
	}
	return target, iter
}

func (p *parser) dictLiteral() Expr {
	open := p.advance()
	at := p.span(open.start, open.start+1)
	var keys, values []Expr
	for !p.atWord("}") {
		if !p.inText && p.atWord("**") {
			p.fail(source.NotSupportedError, at, "Dict expansion (e.g. `{**dict}`) is not supported")
		}
		key := p.starredOrExpr()
		if !p.inText && (p.atWord(",") || p.atWord("}")) {
			p.fail(UnsupportedNode, at, "Set aren't supported")
		}
		if !p.inText && p.atWord("for") {
			p.fail(UnsupportedNode, at, "SetComp aren't supported")
		}
		p.expectWord(":")
		value := p.expr()
		if len(keys) == 0 && p.atWord("for") {
			target, iter := p.generator(open)
			p.expectWord("}")
			return NewDictComp(at, key, value, target, iter).Tree
		}
		keys, values = append(keys, key), append(values, value)
		if !p.nextWord(",") && !p.atWord("}") {
			p.expected("}")
		}
	}
	p.advance()
	return NewDictLiteral(at, keys, values).Tree
}

// stringLiteral reads adjacent string tokens as one string, or as a call of format where one of
// them is formatted.
func (p *parser) stringLiteral() Expr {
	start, end := p.cur().start, p.cur().end
	var pieces strings.Builder
	var values []Expr
	formatted := false
	for p.at(tokenString) {
		t := p.advance()
		s := splitString(t)
		if s.bytes {
			p.fail(source.NotSupportedError, t.rangeIn(p.text), "bytes literals aren't supported")
		}
		if s.formatted {
			formatted = true
			values = append(values, p.formatted(s, &pieces, p.span(start, start+1))...)
		} else {
			pieces.WriteString(p.unescaped(s.raw, s.start, s.end))
		}
	}
	text := pieces.String()
	if !formatted && p.inText {
		return NewStringLiteral(p.span(start, end), text).Tree
	}
	if !formatted {
		return NewStringLiteral(p.span(start, start+utf8.RuneCountInString(text)+1), text).Tree
	}
	r := p.span(start, start+1)
	callee := NewSelect(NewStringLiteral(r, text).Tree, NewIdent(r, "format")).Tree
	return NewApply(r, callee, values, nil).Tree
}

func (p *parser) unescaped(raw bool, start, end int) string {
	if raw {
		return strings.ReplaceAll(p.text.Body[start:end], "\r\n", "\n")
	}
	s, err := unescape(p.text, start, end, p.byteEscapes)
	if err != nil {
		panic(err)
	}
	return s
}

// formatted appends the text of an f-string to pieces, with {} for every expression in it, and
// returns the expressions.
func (p *parser) formatted(s stringLiteral, pieces *strings.Builder, where source.Range) (values []Expr) {
	body := p.text.Body
	for pos := s.start; pos < s.end; {
		next := strings.IndexAny(body[pos:s.end], "{}")
		if next < 0 {
			next = s.end - pos
		}
		pieces.WriteString(p.unescaped(s.raw, pos, pos+next))
		pos += next
		switch {
		case pos == s.end:
		case strings.HasPrefix(body[pos:s.end], "{{"), strings.HasPrefix(body[pos:s.end], "}}"):
			pieces.WriteByte(body[pos])
			pos += 2
		case body[pos] == '}':
			p.fail(source.RuntimeError, p.span(pos, pos+1), "single '}' is not allowed in an f-string")
		default:
			end := p.fieldEnd(pos+1, s.end, where)
			values = append(values, p.field(pos+1, end))
			pieces.WriteString("{}")
			pos = end + 1
		}
	}
	return values
}

// fieldEnd returns the offset of the brace that closes the replacement field.
func (p *parser) fieldEnd(start, end int, where source.Range) int {
	depth := 0
	for pos := start; pos < end; pos++ {
		switch c := p.text.Body[pos]; {
		case c == '{' || c == '(' || c == '[':
			depth++
		case c == '}' && depth == 0:
			return pos
		case c == '}' || c == ')' || c == ']':
			depth--
		case c == '!' && depth == 0 && pos+1 < end && p.text.Body[pos+1] != '=':
			p.fail(source.NotSupportedError, where, "Don't support conversion in JoinedStr")
		case c == ':' && depth == 0:
			p.fail(source.NotSupportedError, where, "Don't support formatting in JoinedStr")
		}
	}
	p.fail(source.RuntimeError, p.span(start-1, start), "'{' is never closed in an f-string")
	return end
}

// field reads the expression between two offsets.
func (p *parser) field(start, end int) Expr {
	tokens, err := scanExpr(p.text, start, end)
	if err != nil {
		panic(err)
	}
	p.enter()
	defer p.leave()
	inner := &parser{Lexer: Lexer{text: p.text, tokens: tokens}, byteEscapes: p.byteEscapes, depth: p.depth}
	e := inner.exprList()
	inner.expect(tokenEOF, "}")
	return e
}

package syntax

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// UnsupportedNode is the class of the error for a statement or expression of Python that
// TorchScript does not have.
const UnsupportedNode source.Class = "UnsupportedNodeError"

// statement reads a compound statement, or the simple statements of one line.
func (p *parser) statement() []Stmt {
	p.enter()
	defer p.leave()
	t := p.cur()
	if t.kind == tokenIndent {
		p.expected("newline")
	}
	if t.kind != tokenKeyword && !t.is("@") {
		return p.simpleLine()
	}
	switch t.text {
	case "@", "class":
		if p.inText {
			break
		}
		return []Stmt{p.definition()}
	case "def":
		return []Stmt{p.definition()}
	case "if":
		return []Stmt{p.ifStmt()}
	case "for":
		return []Stmt{p.forStmt()}
	case "while":
		return []Stmt{p.whileStmt()}
	case "with":
		return []Stmt{p.withStmt()}
	case "try":
		p.unsupported("try blocks")
	case "async":
		p.async()
	}
	return p.simpleLine()
}

// async reports a statement that begins with "async".
func (p *parser) async() {
	what := map[string]string{"def": "async function definitions", "for": "async for loops", "with": "async with statements"}
	next := p.lookahead()
	if what[next.text] == "" {
		p.advance()
		p.expected("def")
	}
	p.fail(UnsupportedNode, p.span(p.cur().start, next.end), "%s aren't supported", what[next.text])
}

func (p *parser) definition() Stmt {
	p.decorators()
	texts := p.texts
	t := p.undecorated()
	if p.keepsDecorators {
		name := t.Children[0].Text
		p.definitions = append(p.definitions, decorated{name, texts})
	}
	return t
}

// undecorated reads a definition behind its decorators.
func (p *parser) undecorated() Stmt {
	switch {
	case p.atWord("class"):
		if p.inFunction {
			p.unsupported("class definitions")
		}
		return p.classDef().Tree
	case p.atWord("def"):
		return p.def().Tree
	}
	p.expected("def")
	return nil
}

// decorators skips the decorators of a definition and counts them.
func (p *parser) decorators() {
	p.decorated, p.texts = 0, nil
	for p.nextWord("@") {
		p.decorated++
		first := p.pos
		p.expr()
		if p.keepsDecorators {
			p.texts = append(p.texts, p.decoratorText(first))
		}
		p.expect(tokenNewline, "newline")
	}
}

// block reads ":" and the statements that belong to it.
func (p *parser) block() []Stmt { return p.bodyOf("indent") }

// bodyOf is block where begins is what messages say that the statements begin with.
func (p *parser) bodyOf(begins string) []Stmt {
	p.expectWord(":")
	if !p.at(tokenNewline) {
		return p.simpleLine()
	}
	if p.lookahead().kind != tokenIndent {
		p.expected(begins)
	}
	p.advance()
	p.advance()
	var stmts []Stmt
	for !p.next(tokenDedent) {
		if p.at(tokenEOF) {
			p.expected("dedent")
		}
		stmts = append(stmts, p.statement()...)
	}
	return stmts
}

// def reads a function definition and merges its type comments.
func (p *parser) def() Def {
	isMethod, wasClass, wasFunction := p.inClass, p.inClass, p.inFunction
	def := p.expectWord("def")
	name := p.expect(tokenIdent, "ident")
	r := p.defRange(def.rangeIn(p.text))
	if p.inText {
		r = name.rangeIn(p.text)
	}
	head := p.here()
	params := p.params()
	var result Expr
	if p.nextWord("->") {
		result = p.expr()
	}
	head.End = p.here().End
	if result != nil {
		head.End = result.Range.End
	}
	if !p.inText {
		head = r
	}
	p.inClass, p.inFunction = false, true
	body := p.bodyOf("ident")
	p.inClass, p.inFunction = wasClass, wasFunction
	d := NewDef(r, NewIdent(r, name.text), NewDecl(head, params, result), body)
	return p.withTypeComments(d, isMethod)
}

// defRange returns where PyTorch says that a function starts, whose def stands at r: as many lines
// below it as it has decorators.
func (p *parser) defRange(r source.Range) source.Range {
	line := p.text.LineOf(r.Start)
	shifted := min(line+p.decorated, p.text.NumLines()-1)
	p.decorated = 0
	start := p.text.LineStart(shifted) + r.Start - p.text.LineStart(line)
	return source.Range{Text: p.text, Start: start, End: start + r.End - r.Start}
}

const variadicParameters = "Compiled functions can't take variable number of arguments or use keyword-only arguments with defaults"

func (p *parser) params() []Param {
	p.expectWord("(")
	var params []Param
	kwargOnly := false
	for !p.atWord(")") {
		switch {
		case !p.inText && (p.atWord("**") || p.atWord("*") && !p.lookahead().is(",")):
			p.advance()
			at := p.here()
			at.Start-- // the star before the name
			p.fail(source.NotSupportedError, at, variadicParameters)
		case p.nextWord("*"):
			kwargOnly = true
		case p.nextWord("/"):
		default:
			params = append(params, p.param(kwargOnly))
		}
		if !p.nextWord(",") && !p.atWord(")") {
			p.expected(")")
		}
	}
	p.advance()
	return params
}

func (p *parser) param(kwargOnly bool) Param {
	name := p.expect(tokenIdent, "ident")
	r := name.rangeIn(p.text)
	var typ, def Expr
	if p.nextWord(":") {
		typ = p.expr()
	}
	if p.nextWord("=") {
		def = p.expr()
		if p.inText && typ == nil {
			p.fail(source.RuntimeError, p.span(r.Start, def.Range.End), "Keyword arguments with defaults need to be type-hinted (TorchScript C++ frontend)")
		}
	}
	return NewParam(r, NewIdent(r, name.text), typ, def, kwargOnly)
}

func (p *parser) classDef() ClassDef {
	class := p.advance()
	name := p.expect(tokenIdent, "ident")
	r := class.rangeIn(p.text)
	var base Expr
	if p.nextWord("(") {
		if !p.atWord(")") {
			base = p.expr()
		}
		if p.atWord(",") {
			p.fail(source.NotSupportedError, p.here(), "only one base class is supported")
		}
		p.expectWord(")")
	}
	wasClass := p.inClass
	p.inClass = true
	body := p.block()
	p.inClass = wasClass
	return NewClassDef(r, NewIdent(r, name.text), base, body, nil, nil)
}

func (p *parser) ifStmt() Stmt {
	p.enter()
	defer p.leave()
	r := p.advance().rangeIn(p.text)
	cond := p.expr()
	body := p.block()
	var orelse []Stmt
	missing := r // where the statements are that there are not
	if p.atWord("elif") {
		orelse = []Stmt{p.ifStmt()}
	} else if p.nextWord("else") {
		orelse = p.block()
	} else if p.inText {
		missing = p.here()
	}
	r.End = r.Start + len("if")
	return newTree(KindIf, r.Extend(missing), cond, newList(r, body), newList(missing, orelse))
}

func (p *parser) whileStmt() Stmt {
	r := p.advance().rangeIn(p.text)
	cond := p.expr()
	body := p.block()
	if p.atWord("else") {
		p.fail(source.NotSupportedError, r, "else branches of while loops aren't supported")
	}
	return NewWhile(r, cond, body).Tree
}

func (p *parser) forStmt() Stmt {
	r := p.advance().rangeIn(p.text)
	target := p.targetList()
	p.expectWord("in")
	iters := []Expr{p.starredOrExpr()}
	for p.nextWord(",") && !p.atWord(":") {
		iters = append(iters, p.starredOrExpr())
	}
	body := p.block()
	if p.atWord("else") {
		p.fail(source.NotSupportedError, r, "else branches of for loops aren't supported")
	}
	return NewFor(r, []Expr{target}, iters, body).Tree
}

func (p *parser) withStmt() Stmt {
	r := p.advance().rangeIn(p.text)
	parens := !p.inText && p.atWord("(") && p.tokens[p.matching()+1].is(":")
	if parens {
		p.advance()
	}
	var items []WithItem
	for {
		items = append(items, p.withItem())
		if !p.nextWord(",") || parens && p.atWord(")") {
			break
		}
	}
	if parens {
		p.expectWord(")")
	}
	return NewWith(r, items, p.block()).Tree
}

func (p *parser) withItem() WithItem {
	target := p.expr()
	var name Expr
	if p.nextWord("as") {
		if p.inText && !p.at(tokenIdent) {
			p.expected("ident")
		}
		name = p.targetItem()
		if name.Kind != KindVar {
			p.fail(source.NotSupportedError, name.Range, "'as' expression in with statement must be a variable")
		}
	}
	return NewWithItem(target.Range, target, name)
}

// matching returns the index of the token that closes the bracket at the current token, or of the last but one if none does.
func (p *parser) matching() int {
	depth, last := 0, len(p.tokens)-2
	for i := p.pos; ; i++ {
		if i >= last {
			return last
		}
		switch t := p.tokens[i]; {
		case t.is("("), t.is("["), t.is("{"):
			depth++
		case t.is(")"), t.is("]"), t.is("}"):
			depth--
			if depth == 0 {
				return i
			}
		}
	}
}

// simpleLine reads the simple statements of a line, separated by semicolons.
func (p *parser) simpleLine() []Stmt {
	var stmts []Stmt
	for {
		stmts = append(stmts, p.simpleStmt())
		if p.nextWord(";") && !p.at(tokenNewline) {
			continue
		}
		p.expect(tokenNewline, "newline")
		return stmts
	}
}

func (p *parser) simpleStmt() Stmt {
	t := p.cur()
	if t.kind != tokenKeyword {
		return p.exprStmt()
	}
	r := t.rangeIn(p.text)
	switch t.text {
	case "pass":
		return p.simple(KindPass)
	case "break":
		return p.simple(KindBreak)
	case "continue":
		return p.simple(KindContinue)
	case "return":
		p.advance()
		var value Expr
		if !p.endsStmt() {
			value = p.exprList()
		}
		return NewReturn(r, value).Tree
	case "raise":
		return p.raise()
	case "assert":
		return p.assert()
	case "del":
		return p.delete()
	case "import", "from":
		if !p.inText {
			return p.importStmt()
		}
	case "global":
		if p.inText {
			p.global()
		}
		p.unsupported("global variables")
	case "nonlocal":
		p.unsupported("nonlocal variables")
	}
	return p.exprStmt()
}

func (p *parser) endsStmt() bool {
	return p.at(tokenNewline) || p.at(tokenEOF) || p.atWord(";")
}

func (p *parser) raise() Stmt {
	r := p.advance().rangeIn(p.text)
	if p.endsStmt() && !p.inText {
		p.fail(source.NotSupportedError, r, "raise without an exception is not supported")
	}
	value := p.expr()
	if p.nextWord("from") {
		p.expr()
	}
	return NewRaise(r, value).Tree
}

func (p *parser) assert() Stmt {
	r := p.advance().rangeIn(p.text)
	test := p.expr()
	var message Expr
	if p.nextWord(",") {
		message = p.expr()
	}
	return NewAssert(r, test, message).Tree
}

func (p *parser) delete() Stmt {
	r := p.advance().rangeIn(p.text)
	targets := []Expr{p.deleted()}
	for p.nextWord(",") && !p.endsStmt() {
		targets = append(targets, p.deleted())
	}
	return NewDelete(r, targets).Tree
}

// deleted reads an expression behind del. The compiler tells which of a text's it can delete.
func (p *parser) deleted() Expr {
	if p.inText {
		return p.binary(precBitOr)
	}
	return p.targetItem()
}

// global reports a statement about global variables, which a text may have and the compiler does not know.
func (p *parser) global() {
	start := p.advance().start
	end := p.expect(tokenIdent, "ident").end
	for p.nextWord(",") {
		end = p.expect(tokenIdent, "ident").end
	}
	p.fail(source.RuntimeError, p.span(start, end), "Unrecognized statement kind global")
}

// importStmt reads an import as the text of its line; only files have them.
func (p *parser) importStmt() Stmt {
	if p.inFunction {
		p.unsupported("import statements")
	}
	first := p.advance()
	for !p.endsStmt() {
		p.advance()
	}
	r := p.span(first.start, p.prev().end)
	return newLeaf(KindImport, r, strings.Join(strings.Fields(r.String()), " "))
}

// exprStmt reads an expression statement or an assignment.
func (p *parser) exprStmt() Stmt {
	lhs := p.exprList()
	t := p.cur()
	switch {
	case t.is(":"):
		return p.annotatedAssign(lhs)
	case t.is("="):
		return p.assign(lhs)
	case t.kind == tokenOperator && strings.HasSuffix(t.text, "=") && len(t.text) > 1:
		return p.augAssign(lhs)
	}
	return NewExprStmt(lhs).Tree
}

func (p *parser) assign(lhs Expr) Stmt {
	var targets []Expr
	rhs := lhs
	for p.nextWord("=") {
		p.checkTarget(rhs)
		targets = append(targets, rhs)
		if p.atWord("yield") {
			p.unsupportedExpr("Yield")
		}
		rhs = p.exprList()
	}
	return NewAssign(targets[0].Range, targets, rhs, nil).Tree
}

func (p *parser) annotatedAssign(lhs Expr) Stmt {
	p.advance()
	if lhs.Kind == KindTupleLiteral || lhs.Kind == KindListLiteral {
		p.fail(source.RuntimeError, lhs.Range, "only single target (not tuple) can be annotated")
	}
	p.checkTarget(lhs)
	typ := p.expr()
	var rhs Expr
	if p.nextWord("=") {
		rhs = p.exprList()
	} else if p.inText {
		p.fail(source.RuntimeError, p.span(lhs.Range.Start, typ.Range.End), "For an assignment, expected an expression on the right-hand side")
	} else if !p.inClass {
		p.fail(UnsupportedNode, p.firstByte(lhs), "annotated assignments without assigned value aren't supported")
	}
	return NewAssign(lhs.Range, []Expr{lhs}, rhs, typ).Tree
}

func (p *parser) augAssign(lhs Expr) Stmt {
	p.checkAugmented(lhs)
	t := p.advance()
	op := strings.TrimSuffix(t.text, "=")
	if _, ok := augmentedKinds[op]; !ok {
		name := map[string]string{"//": "FloorDiv", "@": "MatMult"}[op]
		p.fail(source.NotSupportedError, p.span(t.end-2, t.end), "unsupported kind of augumented assignment: %s", name)
	}
	return NewAugAssign(lhs.Range, lhs, op, p.exprList()).Tree
}

// targetItem reads one expression that can be assigned to.
func (p *parser) targetItem() Expr {
	e := p.binary(precBitOr)
	p.checkTarget(e)
	return e
}

// checkTarget fails unless e can stand on the left of an assignment.
func (p *parser) checkTarget(e Expr) {
	switch e.Kind {
	case KindVar, KindSelect, KindSubscript:
	case KindStarred:
		p.checkTarget(AsStarred(e).Expr())
	case KindTupleLiteral, KindListLiteral:
		for _, item := range e.Children[0].Children {
			p.checkItem(item)
		}
	default:
		p.fail(source.RuntimeError, e.Range, "unexpected expression on left-hand side of assignment")
	}
}

// checkItem fails unless e can stand in a tuple on the left of an assignment.
func (p *parser) checkItem(e Expr) {
	switch e.Kind {
	case KindVar, KindSelect, KindSubscript, KindStarred, KindTupleLiteral, KindListLiteral:
		p.checkTarget(e)
	default:
		p.fail(source.RuntimeError, e.Range, "lhs of assignment must be a variable, subscript, or starred expression")
	}
}

// checkAugmented fails unless e can stand on the left of an augmented assignment.
func (p *parser) checkAugmented(e Expr) {
	switch e.Kind {
	case KindVar, KindSelect, KindSubscript:
	case KindTupleLiteral:
		p.fail(source.RuntimeError, e.Range, "augmented assignment can only have one LHS expression")
	default:
		p.fail(source.RuntimeError, e.Range, "unexpected expression on left-hand side of augmented assignment")
	}
}

package syntax

import (
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// parser reads statements and expressions from tokens by top-down operator precedence. A mistake in
// the text leaves it by a panic with a *source.Error, which the entry points turn into an error.
type parser struct {
	Lexer
	comments    []comment
	byteEscapes bool // escapes in strings stand for bytes, as in archives
	inClass     bool // the statements being read stand directly in a class
	inFunction  bool
	inText      bool // the text is a program's, which is read as PyTorch's reader of texts does
	decorated   int  // decorators of the definition being read
	depth       int

	keepsDecorators bool
	texts           []string    // of the definition being read
	definitions     []decorated // that have been read, where decorators are kept
}

// maxDepth bounds the nesting of expressions and blocks.
const maxDepth = 1000

// ParseFile reads a whole file: functions, classes, imports and other statements in order.
func ParseFile(text *source.Text) ([]*Tree, error) { return parseFile(text, false) }

// ParseDefinitions is ParseFile for text that holds functions alone, each of another name.
func ParseDefinitions(text *source.Text) ([]Def, error) {
	trees, err := ParseFile(text)
	if err != nil {
		return nil, err
	}
	defs, known := make([]Def, len(trees)), map[string]bool{}
	for i, t := range trees {
		switch t.Kind {
		case KindDef:
			defs[i] = AsDef(t)
		case KindClassDef:
			return nil, source.Misread(t.Range, "expected def but found 'class' here")
		default:
			return nil, source.Misread(t.Range, "expected def but found a statement here")
		}
		name := defs[i].Name().Name()
		if known[name] {
			return nil, source.Errorf(source.RuntimeError, source.Range{}, "method '%s' already defined.", name)
		}
		known[name] = true
	}
	return defs, nil
}

// ParseArchive is ParseFile for the code of an archive, where \ooo and \xhh in strings stand for
// bytes of UTF-8.
func ParseArchive(text *source.Text) ([]*Tree, error) {
	trees, err := parseFile(text, true)
	return trees, ofText(err)
}

func parseFile(text *source.Text, byteEscapes bool) ([]*Tree, error) {
	tokens, comments, err := scan(text)
	if err != nil {
		return nil, firstOf(err, &parser{Lexer: Lexer{text: text, tokens: tokens}, comments: comments, byteEscapes: byteEscapes})
	}
	middle := 0
	if len(tokens) >= worthHalving {
		middle = halfOf(tokens)
	}
	if middle == 0 {
		return parseStatements(&parser{Lexer: Lexer{text: text, tokens: tokens}, comments: comments, byteEscapes: byteEscapes})
	}
	var later []*Tree
	var laterErr error
	done := make(chan struct{})
	room := append(*tokenRoom.Get().(*[]token), tokens[middle:]...)
	second := &parser{Lexer: Lexer{text: text, tokens: room}, comments: comments, byteEscapes: byteEscapes}
	go func() {
		defer close(done)
		later, laterErr = parseStatements(second)
	}()
	at := tokens[middle].start
	tokens[middle] = token{kind: tokenEOF, start: at, end: at}
	trees, err := parseStatements(&parser{Lexer: Lexer{text: text, tokens: tokens[:middle+1]}, comments: comments, byteEscapes: byteEscapes})
	<-done
	if err != nil {
		return nil, err
	}
	return append(trees, later...), laterErr
}

// worthHalving is how many tokens a file has whose halves are parsed at once.
const worthHalving = 1 << 12

// halfOf returns where a definition begins in the second half of the tokens of a file, outside of all others; 0 where
// there is none.
func halfOf(tokens []token) int {
	depth, decorated := 0, false
	for i := range tokens {
		switch tokens[i].kind {
		case tokenIndent:
			depth++
			continue
		case tokenDedent:
			depth--
			continue
		}
		begins := depth == 0 && i > 0 && (tokens[i-1].kind == tokenNewline || tokens[i-1].kind == tokenDedent)
		if !begins {
			continue
		}
		if i > len(tokens)/2 && !decorated && (tokens[i].is("def") || tokens[i].is("class") || tokens[i].is("@")) {
			return i
		}
		decorated = tokens[i].is("@")
	}
	return 0
}

// parseStatements reads statements up to the end of the tokens, which it frees.
func parseStatements(p *parser) (trees []*Tree, err error) {
	defer freeTokens(p.tokens)
	defer source.Catch(&err)
	for !p.at(tokenEOF) {
		trees = append(trees, p.statement()...)
	}
	return trees, nil
}

// ParseDef reads one function definition. A method is one whose type comment leaves out self.
func ParseDef(text *source.Text, isMethod bool) (def Def, err error) {
	err = parse(text, false, func(p *parser) {
		p.next(tokenIndent)
		p.inClass = isMethod
		p.decorators()
		def = p.def()
		p.next(tokenDedent)
		p.expect(tokenEOF, "eof")
	})
	return def, err
}

// ParseExpr reads one expression.
func ParseExpr(text *source.Text) (expr Expr, err error) {
	err = parse(text, false, func(p *parser) {
		expr = p.exprList()
		p.next(tokenNewline)
		p.expect(tokenEOF, "eof")
	})
	return expr, err
}

// parse lexes the text and runs read over it.
func parse(text *source.Text, byteEscapes bool, read func(*parser)) (err error) {
	tokens, comments, err := scan(text)
	if err != nil {
		return err
	}
	p := &parser{Lexer: Lexer{text: text, tokens: tokens}, comments: comments, byteEscapes: byteEscapes}
	defer freeTokens(tokens)
	defer source.Catch(&err)
	read(p)
	return nil
}

// fail leaves the parser with an error.
func (p *parser) fail(class source.Class, r source.Range, format string, args ...any) {
	panic(withHint(source.Errorf(class, r, format, args...)))
}

func withHint(e *source.Error) *source.Error {
	if hint := hintFor(e.Text); hint != "" {
		e.WithNote(source.Range{}, "%s", hint)
	}
	return e
}

func (p *parser) expect(kind tokenKind, what string) *token {
	if !p.at(kind) {
		p.expected(what)
	}
	return p.advance()
}

func (p *parser) expectWord(word string) *token {
	if !p.atWord(word) {
		p.expected(word)
	}
	return p.advance()
}

func (p *parser) expected(what string) {
	panic(withHint(source.Misread(p.place(), "expected %s but found '%s' here", what, p.described())))
}

// place is where the current token is in a message. The end of a line is where the next one begins.
func (p *parser) place() source.Range {
	if t := p.cur(); t.kind == tokenNewline && t.start < t.end {
		next := p.lookahead()
		return p.span(next.start, next.start)
	}
	return p.here()
}

// described names the current token in a message. A line whose next one is deeper ends with the indent, and the last one, where nothing ends it, with the
// end of the text.
func (p *parser) described() string {
	t := p.cur()
	switch {
	case t.kind == tokenNewline && p.lookahead().kind == tokenIndent:
		return "indent"
	case t.kind == tokenNewline && t.start == t.end:
		return "eof"
	}
	return t.describe()
}

// span returns the range [start, end) clipped to the text.
func (p *parser) span(start, end int) source.Range { return span(p.text, start, end) }

func span(text *source.Text, start, end int) source.Range {
	n := len(text.Body)
	return source.Range{Text: text, Start: min(start, n), End: min(end, n)}
}

// enter counts one level of nesting; the caller defers leave.
func (p *parser) enter() {
	p.depth++
	if p.depth > maxDepth {
		p.fail(source.RuntimeError, p.here(), "the program is nested more than %d levels deep here", maxDepth)
	}
}

func (p *parser) leave() { p.depth-- }

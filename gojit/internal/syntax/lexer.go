package syntax

import "github.com/torchjit/torchjit/gojit/internal/source"

// Lexer walks over the tokens of a text, which newline, indent and dedent tokens divide into statements and blocks. The parser reads through one.
type Lexer struct {
	text   *source.Text
	tokens []token
	pos    int
}

// Token is a word of a text.
type Token struct {
	// Kind is what the token is: an operator or a keyword is its own spelling, as in the trees that it makes ("if", "+"), and others are "ident",
	// "number", "string_literal", "newline", "indent", "dedent" and, behind the last one, "eof".
	Kind string
	// Text is what the token covers.
	Text string
	// Range is its place.
	Range source.Range
}

// NewLexer returns a lexer at the first token of a text. It fails on a text that has no tokens: an open string, brackets that do not match.
func NewLexer(text *source.Text) (*Lexer, error) {
	tokens, _, err := scan(text)
	if err != nil {
		return nil, err
	}
	return &Lexer{text: text, tokens: tokens}, nil
}

// Cur returns the current token.
func (l *Lexer) Cur() Token { return l.shown(l.cur()) }

// Lookahead returns the token behind the current one.
func (l *Lexer) Lookahead() Token { return l.shown(l.lookahead()) }

// Next returns the current token and goes on behind it, unless it is the last.
func (l *Lexer) Next() Token { return l.shown(l.advance()) }

// NextIf goes on behind the current token if it is of a kind, and reports whether it is.
func (l *Lexer) NextIf(kind string) bool {
	found := l.cur().kindName() == kind
	if found {
		l.advance()
	}
	return found
}

// Expect is Next for a token of a kind. It fails on others.
func (l *Lexer) Expect(kind string) (Token, error) {
	if found := l.cur().kindName(); found != kind {
		return Token{}, source.Misread(l.here(), "expected %s but found '%s' here", kind, found)
	}
	return l.Next(), nil
}

func (l *Lexer) shown(t *token) Token {
	return Token{Kind: t.kindName(), Text: t.text, Range: t.rangeIn(l.text)}
}

func (l *Lexer) cur() *token  { return &l.tokens[l.pos] }
func (l *Lexer) prev() *token { return &l.tokens[l.pos-1] }

func (l *Lexer) lookahead() *token {
	return &l.tokens[min(l.pos+1, len(l.tokens)-1)]
}

func (l *Lexer) advance() *token {
	t := l.cur()
	if t.kind != tokenEOF {
		l.pos++
	}
	return t
}

func (l *Lexer) at(kind tokenKind) bool { return l.cur().kind == kind }

// atWord reports whether the current token is the operator or keyword.
func (l *Lexer) atWord(word string) bool { return l.cur().is(word) }

func (l *Lexer) next(kind tokenKind) bool {
	if l.at(kind) {
		l.advance()
		return true
	}
	return false
}

func (l *Lexer) nextWord(word string) bool {
	if l.atWord(word) {
		l.advance()
		return true
	}
	return false
}

// here is the range of the current token.
func (l *Lexer) here() source.Range { return l.cur().rangeIn(l.text) }

package syntax

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// Statement is a statement of a file outside of all functions and classes.
type Statement struct {
	// Tree is the statement, nil where Err says why it cannot be read.
	Tree *Tree
	Err  error
	// Range is all of it, its decorators included.
	Range source.Range
	// Decorators are the texts of the decorators behind their @; those of the methods of a class are in Methods, by name.
	Decorators []string
	Methods    map[string][]string
}

// ParseModule reads a file of Python as ParseFile does, and goes on behind a statement that it cannot read. It fails where the text has no tokens.
func ParseModule(text *source.Text) ([]Statement, error) {
	tokens, comments, err := scan(text)
	if err != nil {
		return nil, err
	}
	defer freeTokens(tokens)
	p := &parser{Lexer: Lexer{text: text, tokens: tokens}, comments: comments, keepsDecorators: true}
	var statements []Statement
	for !p.at(tokenEOF) {
		statements = append(statements, p.outermost()...)
	}
	return statements, nil
}

// outermost reads the next statement, or the simple ones of a line, and passes over one that cannot be read.
func (p *parser) outermost() []Statement {
	first := p.pos
	p.definitions = nil
	trees, err := func() (trees []*Tree, err error) {
		defer source.Catch(&err)
		return p.statement(), nil
	}()
	if err != nil {
		p.pos, p.depth, p.inClass, p.inFunction = first, 0, false, false
		p.skipStatement()
	}
	all := p.span(p.tokens[first].start, p.prev().end)
	if err != nil {
		return []Statement{{Err: err, Range: all}}
	}
	statements := make([]Statement, len(trees))
	for i, t := range trees {
		statements[i] = Statement{Tree: t, Range: all}
	}
	if len(p.definitions) > 0 {
		statements[0].Decorators = p.definitions[len(p.definitions)-1].decorators // the outer one ends last
		statements[0].Methods = map[string][]string{}
		for _, d := range p.definitions[:len(p.definitions)-1] {
			statements[0].Methods[d.name] = append(statements[0].Methods[d.name], d.decorators...)
		}
	}
	return statements
}

// skipStatement passes over the statement at the current token: to the next one that begins outside of all blocks.
func (p *parser) skipStatement() {
	depth, definition := 0, p.atWord("@")
	for !p.at(tokenEOF) {
		t := p.advance()
		switch t.kind {
		case tokenIndent:
			depth++
		case tokenDedent:
			depth--
		}
		ends := depth == 0 && (t.kind == tokenNewline || t.kind == tokenDedent) && !p.at(tokenIndent)
		if ends && !definition && !p.atWord("else") && !p.atWord("elif") && !p.atWord("except") && !p.atWord("finally") {
			return
		}
		if ends {
			definition = p.atWord("@")
		}
	}
}

// decorated is a definition and the texts of its decorators.
type decorated struct {
	name       string
	decorators []string
}

// decoratorText returns the text of the decorator whose expression begins at a token, without the ends of lines.
func (p *parser) decoratorText(first int) string {
	r := p.span(p.tokens[first].start, p.prev().end)
	return strings.Join(strings.Fields(r.String()), " ")
}

package syntax

import (
	"errors"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// ParseProgram reads a program that is given as text: functions alone, each of another name. What cannot be read fails with the messages of PyTorch's reader of
// texts, which knows fewer words than Python: the others are names.
func ParseProgram(text *source.Text) (defs []Def, err error) {
	tokens, comments, scanErr := scan(text)
	p := &parser{Lexer: Lexer{text: text, tokens: asText(tokens)}, comments: comments, inText: true}
	if scanErr != nil {
		return nil, ofText(firstOf(scanErr, p))
	}
	defer freeTokens(p.tokens)
	defer func() { err = ofText(err) }()
	defer source.Catch(&err)
	known := map[string]bool{}
	for !p.at(tokenEOF) {
		d := p.topLevel()
		name := AsDef(d).Name().Name()
		if known[name] {
			return nil, source.Errorf(source.RuntimeError, source.Range{}, "method '%s' already defined.", name)
		}
		known[name] = true
		defs = append(defs, AsDef(d))
	}
	return defs, nil
}

// topLevel reads a definition, the only statement that a text has outside of functions.
func (p *parser) topLevel() Stmt {
	if !p.atWord("def") {
		p.expected("def")
	}
	return p.statement()[0]
}

// firstOf returns the first mistake of a text whose tokens end with one: that of the statements before, or else that of the tokens.
func firstOf(scanErr error, p *parser) (err error) {
	defer func() {
		if end := p.cur(); err == nil || end.kind == tokenEOF && end.start < len(p.text.Body) {
			err = scanErr
		}
		freeTokens(p.tokens)
	}()
	defer source.Catch(&err)
	for !p.at(tokenEOF) {
		if p.inText {
			p.topLevel()
		} else {
			p.statement()
		}
	}
	return nil
}

// ofText gives an error the class that it has in PyTorch's reader of texts: only files of Python, which its front end reads, have what is not supported.
func ofText(err error) error {
	var e *source.Error
	if errors.As(err, &e) && e.Class == source.NotSupportedError {
		e.Class = source.RuntimeError
	}
	return err
}

// namesInTexts are the words of Python that are names in texts, and the operators of Python that are two there.
var (
	namesInTexts = map[string]bool{
		"async": true, "await": true, "except": true, "finally": true, "from": true, "lambda": true, "nonlocal": true, "try": true, "yield": true,
	}
	splitInTexts = map[string]bool{":=": true, "@=": true, "//=": true}
)

// asText returns the tokens that PyTorch's reader of texts finds where Python finds the given ones.
func asText(tokens []token) []token {
	split := 0
	for i := range tokens {
		switch t := &tokens[i]; {
		case t.kind == tokenKeyword && namesInTexts[t.text]:
			t.kind, t.between = tokenIdent, infix{}
		case isSplitInTexts(t):
			split++
		}
	}
	if split == 0 {
		return tokens
	}
	apart := make([]token, 0, len(tokens)+split)
	for i := range tokens {
		first := tokens[i]
		if !isSplitInTexts(&first) {
			apart = append(apart, first)
			continue
		}
		second, n := first, len(first.text)-1
		first.text, first.end, first.between = first.text[:n], first.start+n, infixes[first.text[:n]]
		second.text, second.start = second.text[n:], second.start+n
		apart = append(apart, first, second)
	}
	return apart
}

func isSplitInTexts(t *token) bool { return t.kind == tokenOperator && splitInTexts[t.text] }

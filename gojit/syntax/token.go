package syntax

import "torchjit/gojit/source"

// token is a word of the program: its kind and the bytes it covers.
type token struct {
	kind       tokenKind
	text       string // the covered bytes; for an operator or keyword its spelling
	start, end int
}

type tokenKind uint8

const (
	tokenEOF tokenKind = iota
	tokenNewline
	tokenIndent
	tokenDedent
	tokenIdent
	tokenNumber
	tokenString
	tokenKeyword
	tokenOperator
)

// keywords are the names that cannot be identifiers, including those of constructs that are refused.
var keywords = map[string]bool{
	"and": true, "as": true, "assert": true, "async": true, "await": true, "break": true,
	"class": true, "continue": true, "def": true, "del": true, "elif": true, "else": true,
	"except": true, "False": true, "finally": true, "for": true, "from": true, "global": true,
	"if": true, "import": true, "in": true, "is": true, "lambda": true, "None": true,
	"nonlocal": true, "not": true, "or": true, "pass": true, "raise": true, "return": true,
	"True": true, "try": true, "while": true, "with": true, "yield": true,
}

// operators, longest first, so that the first that matches is the token.
var operators = []string{
	"**=", "//=", "<<=", ">>=", "...",
	"**", "//", "<<", ">>", "<=", ">=", "==", "!=", "->", ":=",
	"+=", "-=", "*=", "/=", "%=", "@=", "&=", "|=", "^=",
	"+", "-", "*", "/", "%", "@", "&", "|", "^", "~", "<", ">",
	"(", ")", "[", "]", "{", "}", ",", ":", ".", ";", "=",
}

// operatorsFrom are the operators by their first byte.
var operatorsFrom = func() (from [256][]string) {
	for _, op := range operators {
		from[op[0]] = append(from[op[0]], op)
	}
	return from
}()

// describe names the token in a message.
func (t token) describe() string {
	switch t.kind {
	case tokenEOF:
		return "eof"
	case tokenNewline:
		return "newline"
	case tokenIndent:
		return "indent"
	case tokenDedent:
		return "dedent"
	case tokenIdent:
		return "ident"
	case tokenNumber:
		return "number"
	case tokenString:
		return "string_literal"
	}
	return t.text
}

func (t token) rangeIn(text *source.Text) source.Range {
	return source.Range{Text: text, Start: t.start, End: t.end}
}

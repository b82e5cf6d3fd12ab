package syntax

import (
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// token is a word of the program: its kind and the bytes it covers.
type token struct {
	kind       tokenKind
	between    infix  // what it is between two expressions
	text       string // the covered bytes; for an operator or keyword its spelling
	start, end int
}

// tokenRoom keeps slices of tokens, which a text needs until it is parsed.
var tokenRoom = sync.Pool{New: func() any { return new([]token) }}

// mostKept is how many tokens of one text are kept room for.
const mostKept = 1 << 17

func freeTokens(tokens []token) {
	if cap(tokens) <= mostKept {
		clear(tokens)
		tokens = tokens[:0]
		tokenRoom.Put(&tokens)
	}
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

// infix is an operator between expressions: the kind of tree that it makes, and how strongly it binds; 0 where it
// is none.
type infix struct {
	makes Kind
	prec  uint8
}

// infixes are the operators that are left-associative, and the comparisons.
var infixes = map[string]infix{
	"or": {KindOr, precOr}, "and": {KindAnd, precAnd},
	"==": {KindEq, precCompare}, "!=": {KindNe, precCompare}, "<": {KindLt, precCompare}, "<=": {KindLe, precCompare},
	">": {KindGt, precCompare}, ">=": {KindGe, precCompare}, "is": {KindIs, precCompare}, "in": {KindIn, precCompare},
	"|": {KindBitOr, precBitOr}, "^": {KindBitXor, precBitXor}, "&": {KindBitAnd, precBitAnd},
	"<<": {KindLShift, precShift}, ">>": {KindRShift, precShift},
	"+": {KindAdd, precSum}, "-": {KindSub, precSum},
	"*": {KindMul, precProduct}, "/": {KindDiv, precProduct}, "//": {KindFloorDiv, precProduct},
	"%": {KindMod, precProduct}, "@": {KindMatMul, precProduct},
}

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
	"?", "!", // of no expression: messages name them
}

// operator is one of operators.
type operator struct {
	text    string
	between infix
}

// operatorsFrom are the operators by their first byte.
var operatorsFrom = func() (from [256][]operator) {
	for _, op := range operators {
		from[op[0]] = append(from[op[0]], operator{op, infixes[op]})
	}
	return from
}()

func (t *token) is(word string) bool { return t.kind >= tokenKeyword && t.text == word }

// operatorNames are what messages call operators that are not called by their spelling.
var operatorNames = map[string]string{
	"->": "arrow", "**": "pow operator", "//": "floordiv", "<=": "le", ">=": "ge", "==": "eq", "!=": "ne", "...": "dots",
}

// describe names the token in a message.
func (t *token) describe() string {
	if name := operatorNames[t.text]; name != "" && t.kind == tokenOperator {
		return name
	}
	return t.kindName()
}

// kindName says what the token is: an operator or a keyword by its spelling.
func (t *token) kindName() string {
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

func (t *token) rangeIn(text *source.Text) source.Range {
	return source.Range{Text: text, Start: t.start, End: t.end}
}

package syntax

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/torchjit/torchjit/gojit/internal/source"
)

// scanner cuts a span of a text into tokens. Newlines and indentation become tokens outside of
// brackets, so that the parser can treat them like braces and semicolons.
type scanner struct {
	text     *source.Text
	body     string // the text up to the end of the span
	pos      int
	indents  []int
	brackets []byte // open brackets, innermost last
	mismatch error  // the first bracket that closes no other, or that nothing closes
	tokens   []token
	comments []comment
}

// comment is a "#" remark, from the "#" to the end of its line.
type comment struct{ start, end int }

// scan returns the tokens of a whole text, ended by tokenEOF, and its comments. Where it fails, the tokens are those that come before the mistake, or,
// if it is one of brackets, all.
func scan(text *source.Text) ([]token, []comment, error) {
	l := &scanner{text: text, body: text.Body, indents: []int{0}, tokens: *tokenRoom.Get().(*[]token)}
	err := l.run()
	if err != nil {
		l.emit(tokenEOF, l.pos, l.pos)
		return l.tokens, l.comments, err
	}
	return l.tokens, l.comments, l.mismatch
}

// scanExpr returns the tokens of an expression that stands between two offsets of a text.
func scanExpr(text *source.Text, start, end int) ([]token, error) {
	l := &scanner{text: text, body: text.Body[:end], pos: start, indents: []int{0}, brackets: []byte{'('}}
	if err := l.scanLine(); err != nil {
		return nil, err
	}
	l.emit(tokenEOF, end, end)
	return l.tokens, nil
}

func (l *scanner) run() error {
	for l.pos < len(l.body) {
		if err := l.indentation(); err != nil {
			return err
		}
		if err := l.scanLine(); err != nil {
			return err
		}
	}
	if n := len(l.brackets); n > 0 && l.mismatch == nil {
		l.mismatch = l.fail(l.pos, l.pos, "expected %c but found 'eof' here", closing(l.brackets[n-1]))
	}
	end := len(l.body)
	if n := len(l.tokens); n > 0 && l.tokens[n-1].kind != tokenNewline {
		l.emit(tokenNewline, end, end)
	}
	for range l.indents[1:] {
		l.emit(tokenDedent, end, end)
	}
	l.emit(tokenEOF, end, end)
	return nil
}

func (l *scanner) emit(kind tokenKind, start, end int) {
	l.tokens = append(l.tokens, token{kind: kind, text: l.body[start:end], start: start, end: end})
}

func (l *scanner) fail(start, end int, format string, args ...any) error {
	r := source.Range{Text: l.text, Start: start, End: end}
	return source.Misread(r, format, args...)
}

// indentation reads the white space that a line starts with, and emits indent and dedent tokens
// unless nothing but a comment follows.
func (l *scanner) indentation() error {
	column, pos := 0, l.pos
	for ; pos < len(l.body); pos++ {
		switch l.body[pos] {
		case ' ':
			column++
			continue
		case '\t':
			column += 8 - column%8
			continue
		case '\f':
			column = 0
			continue
		}
		break
	}
	l.pos = pos
	if pos == len(l.body) || strings.IndexByte("#\r\n", l.body[pos]) >= 0 {
		return nil
	}
	top := l.indents[len(l.indents)-1]
	if column > top {
		l.indents = append(l.indents, column)
		l.emit(tokenIndent, pos, pos)
		return nil
	}
	for column < l.indents[len(l.indents)-1] {
		l.indents = l.indents[:len(l.indents)-1]
		l.emit(tokenDedent, pos, pos)
	}
	if column != l.indents[len(l.indents)-1] {
		return l.fail(pos, pos, "invalid indent level %d", column)
	}
	return nil
}

// scanLine emits the tokens up to the end of a logical line.
func (l *scanner) scanLine() error {
	for l.pos < len(l.body) {
		c := l.body[l.pos]
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\f':
			l.pos++
		case c == '\n':
			l.pos++
			if len(l.brackets) == 0 {
				if n := len(l.tokens); n > 0 && l.tokens[n-1].kind > tokenDedent {
					l.emit(tokenNewline, l.pos-1, l.pos)
				}
				return nil
			}
		case c == '\\' && l.continuesLine():
		case c == '#':
			l.comment()
		default:
			if err := l.scanToken(c); err != nil {
				return err
			}
		}
	}
	return nil
}

// continuesLine skips a backslash before a newline and reports whether there was one.
func (l *scanner) continuesLine() bool {
	rest := l.body[l.pos+1:]
	switch {
	case strings.HasPrefix(rest, "\n"):
		l.pos += 2
	case strings.HasPrefix(rest, "\r\n"):
		l.pos += 3
	default:
		return false
	}
	return true
}

func (l *scanner) comment() {
	start := l.pos
	if n := strings.IndexByte(l.body[start:], '\n'); n >= 0 {
		l.pos += n
	} else {
		l.pos = len(l.body)
	}
	l.comments = append(l.comments, comment{start, l.pos})
}

func (l *scanner) scanToken(c byte) error {
	start := l.pos
	if n := stringPrefix(l.body[start:]); n >= 0 {
		return l.scanString(start, start+n)
	}
	if isIdentStart(l.body[start:]) {
		l.pos += identLen(l.body[start:])
		t := token{kind: tokenIdent, text: l.body[start:l.pos], start: start, end: l.pos}
		if keywords[t.text] {
			t.kind, t.between = tokenKeyword, infixes[t.text]
		}
		l.tokens = append(l.tokens, t)
		return nil
	}
	if isDigit(c) || c == '.' && start+1 < len(l.body) && isDigit(l.body[start+1]) {
		l.scanNumber()
		return nil
	}
	for _, op := range operatorsFrom[c] {
		if strings.HasPrefix(l.body[start:], op.text) {
			l.pos += len(op.text)
			l.tokens = append(l.tokens, token{tokenOperator, op.between, op.text, start, l.pos})
			l.trackBracket(c, start)
			return nil
		}
	}
	_, n := utf8.DecodeRuneInString(l.body[start:])
	found := l.body[start : start+n]
	line := l.body[strings.LastIndexByte(l.body[:start], '\n')+1 : start]
	if before := strings.TrimRight(line, " \t"); before != "" && before != line {
		found = line[len(line)-1:] // PyTorch names what is behind the token before
	}
	return l.fail(start, start+n, "expected a valid token but found '%s' here", found)
}

// trackBracket keeps the stack of open brackets; newlines count only when it is empty.
func (l *scanner) trackBracket(c byte, at int) {
	switch c {
	case '(', '[', '{':
		l.brackets = append(l.brackets, c)
	case ')', ']', '}':
		n := len(l.brackets)
		if n == 0 {
			l.mismatched(at, "expected ident but found '%c' here", c)
			return
		}
		if want := closing(l.brackets[n-1]); want != c {
			l.mismatched(at, "expected %c but found '%c' here", want, c)
		}
		l.brackets = l.brackets[:n-1]
	}
}

// mismatched keeps the first mistake of brackets.
func (l *scanner) mismatched(at int, format string, args ...any) {
	if l.mismatch == nil {
		l.mismatch = l.fail(at, at+1, format, args...)
	}
}

func closing(open byte) byte {
	switch open {
	case '(':
		return ')'
	case '[':
		return ']'
	}
	return '}'
}

// stringPrefix returns the length of the prefix of the string literal that s starts with, or -1
// where it does not start with one.
func stringPrefix(s string) int {
	for i := 0; i < len(s) && i < 3; i++ {
		switch s[i] {
		case '\'', '"':
			return i
		case 'r', 'R', 'b', 'B', 'u', 'U', 'f', 'F':
		default:
			return -1
		}
	}
	return -1
}

// scanString emits a string token whose opening quote stands at quote.
func (l *scanner) scanString(start, quote int) error {
	delim := l.body[quote : quote+1]
	if triple := strings.Repeat(delim, 3); strings.HasPrefix(l.body[quote:], triple) {
		delim = triple
	}
	for pos := quote + len(delim); pos < len(l.body); pos++ {
		switch {
		case strings.HasPrefix(l.body[pos:], delim):
			l.pos = pos + len(delim)
			l.emit(tokenString, start, l.pos)
			return nil
		case l.body[pos] == '\\':
			pos++
		case l.body[pos] == '\n' && len(delim) == 1:
			return l.unterminated(start)
		}
	}
	return l.unterminated(start)
}

// unterminated says that the string that begins at start is not closed.
func (l *scanner) unterminated(start int) error {
	r := source.Range{Text: l.text, Start: start, End: start + 1}
	return source.Misread(r, "expected a valid token but found ' ' here").WithNote(source.Range{}, "the string is not closed")
}

// scanNumber emits a number token: decimal, 0x, 0o, 0b, with a fraction, an exponent, j and
// underscores between digits. Letters behind it are the next token, as in "1if x else y".
func (l *scanner) scanNumber() {
	start, s := l.pos, l.body
	if s[start] == '0' && start+2 < len(s) && strings.IndexByte("xXoObB", s[start+1]) >= 0 && (isHexDigit(s[start+2]) || s[start+2] == '_') {
		l.pos += 2
		l.digits(isHexDigit)
	} else {
		l.digits(isDigit)
		if l.at('.') {
			l.pos++
			l.digits(isDigit)
		}
		l.exponent()
		if l.at('j') || l.at('J') {
			l.pos++
		}
	}
	l.emit(tokenNumber, start, l.pos)
}

func (l *scanner) at(c byte) bool { return l.pos < len(l.body) && l.body[l.pos] == c }

func (l *scanner) digits(is func(byte) bool) {
	for l.pos < len(l.body) && (is(l.body[l.pos]) || l.body[l.pos] == '_' && l.pos+1 < len(l.body) && is(l.body[l.pos+1])) {
		l.pos++
	}
}

func (l *scanner) exponent() {
	if !l.at('e') && !l.at('E') {
		return
	}
	pos := l.pos + 1
	if pos < len(l.body) && (l.body[pos] == '+' || l.body[pos] == '-') {
		pos++
	}
	if pos < len(l.body) && isDigit(l.body[pos]) {
		l.pos = pos
		l.digits(isDigit)
	}
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHexDigit(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isIdentStart(s string) bool {
	c := s[0]
	if c < utf8.RuneSelf {
		return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// isIdentByte tells which ASCII letters an identifier may have behind its first one.
var isIdentByte = func() (is [256]bool) {
	for c := range utf8.RuneSelf {
		is[c] = c == '_' || isDigit(byte(c)) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	return is
}()

// identLen returns the number of bytes of the identifier that s starts with.
func identLen(s string) int {
	n := 0
	for n < len(s) && isIdentByte[s[n]] {
		n++
	}
	if n == len(s) || s[n] < utf8.RuneSelf {
		return n
	}
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(s)
}

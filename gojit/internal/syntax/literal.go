package syntax

import (
	"math/big"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
	"github.com/torchjit/torchjit/gojit/internal/source"
)

// numberText returns Python's str() of the number that a token spells: decimal integers, the
// shortest float that reads back equal, and a trailing j for imaginary ones.
func numberText(literal string) (string, bool) {
	if !validUnderscores(literal) {
		return "", false
	}
	digits := strings.ToLower(strings.ReplaceAll(literal, "_", ""))
	if strings.HasPrefix(digits, "0x") || strings.HasPrefix(digits, "0o") || strings.HasPrefix(digits, "0b") ||
		!strings.ContainsAny(digits, ".ej") {
		return integerText(digits)
	}
	mantissa, imaginary := strings.CutSuffix(digits, "j")
	f, err := strconv.ParseFloat(mantissa, 64)
	if err != nil && !isRangeError(err) {
		return "", false
	}
	if imaginary {
		return strings.TrimSuffix(decimal.Python(f), ".0") + "j", true
	}
	return decimal.Python(f), true
}

// validUnderscores reports whether each underscore of a number stands between two digits or after
// the prefix of a base.
func validUnderscores(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != '_' {
			continue
		}
		if i+1 == len(s) || !isHexDigit(s[i+1]) || !isHexDigit(s[i-1]) && i != 2 {
			return false
		}
	}
	return true
}

func integerText(digits string) (string, bool) {
	base := 10
	if len(digits) > 1 && digits[0] == '0' {
		base = 0
		if isDigit(digits[1]) {
			if strings.Trim(digits, "0") != "" {
				return "", false
			}
			return "0", true
		}
	}
	if base == 10 && strings.Trim(digits, "0123456789") == "" {
		return digits, digits != ""
	}
	n, ok := new(big.Int).SetString(digits, base)
	if !ok {
		return "", false
	}
	return n.String(), true
}

// stringLiteral is the parts of a string token.
type stringLiteral struct {
	raw, formatted, bytes bool
	start, end            int // offsets of the contents in the text
}

func splitString(t *token) stringLiteral {
	n := stringPrefix(t.text)
	prefix := strings.ToLower(t.text[:n])
	quotes := 1
	if q := t.text[n:]; len(q) >= 6 && q[0] == q[1] && q[0] == q[2] {
		quotes = 3
	}
	return stringLiteral{
		raw:       strings.Contains(prefix, "r"),
		formatted: strings.Contains(prefix, "f"),
		bytes:     strings.Contains(prefix, "b"),
		start:     t.start + n + quotes,
		end:       t.end - quotes,
	}
}

// unescape replaces the escape sequences of text.Body[start:end]. With byteEscapes \ooo and \xhh
// stand for bytes of UTF-8, as they do in archives, else for code points, as in Python.
func unescape(text *source.Text, start, end int, byteEscapes bool) (string, error) {
	s := text.Body[start:end]
	if strings.IndexByte(s, '\\') < 0 && strings.IndexByte(s, '\r') < 0 {
		return s, nil
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '\r' && i+1 < len(s) && s[i+1] == '\n' {
			i++
			continue
		}
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			i++
			continue
		}
		n, ok := writeEscape(&b, s[i:], byteEscapes)
		if !ok {
			at := source.Range{Text: text, Start: start + i, End: start + i + 2}
			return "", source.Errorf(source.RuntimeError, at, "invalid escape sequence in string literal")
		}
		i += n
	}
	return b.String(), nil
}

var simpleEscapes = map[byte]string{
	'\n': "", '\\': "\\", '\'': "'", '"': "\"", 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n",
	'r': "\r", 't': "\t", 'v': "\v",
}

// writeEscape writes what the sequence at the start of s stands for and returns its length.
func writeEscape(b *strings.Builder, s string, byteEscapes bool) (n int, ok bool) {
	if r, found := simpleEscapes[s[1]]; found {
		b.WriteString(r)
		return 2, true
	}
	if s[1] == '\r' && len(s) > 2 && s[2] == '\n' {
		return 3, true
	}
	base, digits, from := 16, 0, 2
	switch s[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case '0', '1', '2', '3', '4', '5', '6', '7':
		base, from = 8, 1
		for digits < 3 && from+digits < len(s) && '0' <= s[from+digits] && s[from+digits] <= '7' {
			digits++
		}
	case 'N':
		return 0, false
	default:
		b.WriteString(s[:2])
		return 2, true
	}
	if from+digits > len(s) {
		return 0, false
	}
	code, err := strconv.ParseUint(s[from:from+digits], base, 32)
	if err != nil || code > utf8.MaxRune {
		return 0, false
	}
	if byteEscapes && (base == 8 || s[1] == 'x') {
		b.WriteByte(byte(code))
	} else {
		b.WriteRune(rune(code))
	}
	return from + digits, true
}

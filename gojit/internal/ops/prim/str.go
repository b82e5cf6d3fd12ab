package prim

import (
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// Strings holds the methods of str.
var Strings = join(
	one("aten::add.str", func(args, out []value.Value) error {
		a, b := args[0].Str(), args[1].Str()
		if err := checkText(len(a) + len(b)); err != nil {
			return err
		}
		out[0] = value.Str(a + b)
		return nil
	}),
	one("aten::len.str", onText(func(s string) value.Value { return value.Int(int64(len(s))) })),
	one("aten::list", onText(func(s string) value.Value {
		l := value.NewList(types.Str)
		for i := range len(s) {
			l.Items = append(l.Items, value.Str(s[i:i+1]))
		}
		return value.OfList(l)
	})),
	overloads("aten::__getitem__", stringItem, "str"),
	one("prim::StringIndex", stringItem),
	one("aten::slice.str", func(args, out []value.Value) error {
		s := args[0].Str()
		positions, err := sliceOf(len(s), args, "String")
		if err != nil {
			return err
		}
		var b strings.Builder
		for _, i := range positions {
			b.WriteByte(s[i])
		}
		out[0] = value.Str(b.String())
		return nil
	}),

	one("aten::upper", onText(func(s string) value.Value { return value.Str(mapLetters(s, upper)) })),
	one("aten::lower", onText(func(s string) value.Value { return value.Str(mapLetters(s, lower)) })),
	one("aten::swapcase", onText(func(s string) value.Value { return value.Str(mapLetters(s, swapCase)) })),
	one("aten::capitalize", onText(func(s string) value.Value {
		if s == "" {
			return value.Str("")
		}
		return value.Str(mapLetters(s[:1], upper) + mapLetters(s[1:], lower))
	})),
	one("aten::title", onText(func(s string) value.Value { return value.Str(title(s)) })),

	one("aten::isalnum", allBytes(func(c byte) bool { return isLetter(c) || isDigit(c) }, false)),
	one("aten::isalpha", allBytes(isLetter, false)),
	one("aten::isdigit", allBytes(isDigit, false)),
	one("aten::isdecimal", allBytes(isDigit, false)),
	one("aten::isnumeric", allBytes(isDigit, false)),
	one("aten::isspace", allBytes(isSpace, false)),
	one("aten::isprintable", allBytes(func(c byte) bool { return c >= 32 && c < 127 }, true)),
	one("aten::islower", onText(func(s string) value.Value { return value.Bool(hasOnlyCase(s, isLower, isUpper)) })),
	one("aten::isupper", onText(func(s string) value.Value { return value.Bool(hasOnlyCase(s, isUpper, isLower)) })),
	one("aten::istitle", onText(func(s string) value.Value {
		return value.Bool(strings.IndexFunc(s, func(r rune) bool { return r < 128 && isLetter(byte(r)) }) >= 0 && title(s) == s)
	})),
	one("aten::isidentifier", onText(func(s string) value.Value { return value.Bool(isIdentifier(s)) })),

	one("aten::find", search(strings.Index, "")),
	one("aten::rfind", search(strings.LastIndex, "")),
	one("aten::index.str", search(strings.Index, "ValueError: substring not found")),
	one("aten::rindex", search(strings.LastIndex, "ValueError: substring not found")),
	one("aten::count", func(args, out []value.Value) error {
		part, _, ok := window(args)
		found := 0
		if ok {
			found = strings.Count(part, args[1].Str())
		}
		out[0] = value.Int(int64(found))
		return nil
	}),
	one("aten::startswith", func(args, out []value.Value) error {
		part, _, ok := window(args)
		out[0] = value.Bool(ok && strings.HasPrefix(part, args[1].Str()))
		return nil
	}),
	one("aten::endswith", func(args, out []value.Value) error {
		part, _, ok := window(args)
		out[0] = value.Bool(ok && strings.HasSuffix(part, args[1].Str()))
		return nil
	}),

	one("aten::strip", trim(strings.Trim)),
	one("aten::lstrip", trim(strings.TrimLeft)),
	one("aten::rstrip", trim(strings.TrimRight)),
	one("aten::replace", func(args, out []value.Value) error {
		s, old, by, n := args[0].Str(), args[1].Str(), args[2].Str(), int(max(args[3].Int(), -1))
		if len(by) > len(old) && len(s)+1 > shortText/len(by) { // it may become long
			count := strings.Count(s, old)
			if n >= 0 {
				count = min(count, n)
			}
			if err := checkText(len(s) + int(min(float64(count)*float64(len(by)-len(old)), maxText))); err != nil {
				return err
			}
		}
		out[0] = value.Str(strings.Replace(s, old, by, n))
		return nil
	}),
	one("aten::expandtabs", expandTabs),
	one("aten::center", pad(centerLeft)),
	one("aten::ljust", pad(func(_, _ int) int { return 0 })),
	one("aten::rjust", pad(func(_, missing int) int { return missing })),
	one("aten::zfill", func(args, out []value.Value) error {
		s, width := args[0].Str(), args[1].Int()
		sign := ""
		if s != "" && (s[0] == '-' || s[0] == '+') {
			sign, s = s[:1], s[1:]
		}
		zeros, err := repeated("0", width-int64(len(sign)+len(s)))
		out[0] = value.Str(sign + zeros + s)
		return err
	}),

	one("aten::split.str", func(args, out []value.Value) error {
		if args[1].IsNone() {
			out[0] = texts(splitBlanks(args[0].Str(), args[2].Int()))
			return nil
		}
		if args[1].Str() == "" {
			return errorf("ValueError: empty separator")
		}
		out[0] = texts(strings.SplitN(args[0].Str(), args[1].Str(), pieces(args[2].Int())))
		return nil
	}),
	one("aten::rsplit", rightSplit),
	one("aten::splitlines", func(args, out []value.Value) error {
		out[0] = texts(splitLines(args[0].Str(), args[1].Bool()))
		return nil
	}),
	one("aten::partition", partition(strings.Index, func(s string) (string, string, string) { return s, "", "" })),
	one("aten::rpartition", partition(strings.LastIndex, func(s string) (string, string, string) { return "", "", s })),
	one("aten::join", func(args, out []value.Value) error {
		parts, length := make([]string, len(args[1].List().Items)), 0
		for i, v := range args[1].List().Items {
			parts[i] = v.Str()
			if length += len(parts[i]) + len(args[0].Str()); length > maxText {
				return checkText(length)
			}
		}
		if err := checkText(length); err != nil {
			return err
		}
		out[0] = value.Str(strings.Join(parts, args[0].Str()))
		return nil
	}),
)

func onText(f func(string) value.Value) ops.Operation {
	return func(args, out []value.Value) error {
		out[0] = f(args[0].Str())
		return nil
	}
}

func onText2(f func(a, b string) value.Value) ops.Operation {
	return func(args, out []value.Value) error {
		out[0] = f(args[0].Str(), args[1].Str())
		return nil
	}
}

func texts(parts []string) value.Value {
	l := value.NewList(types.Str)
	for _, p := range parts {
		l.Items = append(l.Items, value.Str(p))
	}
	return value.OfList(l)
}

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isSpace(c byte) bool  { return c == ' ' || '\t' <= c && c <= '\r' }

func upper(c byte) byte {
	if isLower(c) {
		return c - 'a' + 'A'
	}
	return c
}

func lower(c byte) byte {
	if isUpper(c) {
		return c - 'A' + 'a'
	}
	return c
}

func swapCase(c byte) byte {
	if isUpper(c) {
		return lower(c)
	}
	return upper(c)
}

func mapLetters(s string, f func(byte) byte) string {
	b := []byte(s)
	for i := range b {
		b[i] = f(b[i])
	}
	return string(b)
}

// title makes the first letter of each run of letters upper case and the others lower case.
func title(s string) string {
	inWord := false
	return mapLetters(s, func(c byte) byte {
		first := !inWord
		inWord = isLetter(c)
		if first {
			return upper(c)
		}
		return lower(c)
	})
}

// allBytes makes a test that all bytes of a string pass; empty is what it says of "".
func allBytes(is func(byte) bool, empty bool) ops.Operation {
	return onText(func(s string) value.Value {
		for i := range len(s) {
			if !is(s[i]) {
				return value.Bool(false)
			}
		}
		return value.Bool(s != "" || empty)
	})
}

// hasOnlyCase reports whether s has letters of one case and none of the other.
func hasOnlyCase(s string, wanted, other func(byte) bool) bool {
	found := false
	for i := range len(s) {
		if other(s[i]) {
			return false
		}
		found = found || wanted(s[i])
	}
	return found
}

func isIdentifier(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && s[i] != '_' && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != ""
}

func stringItem(args, out []value.Value) error {
	s := args[0].Str()
	i, err := position(args[1].Int(), len(s), "string")
	if err != nil {
		return err
	}
	out[0] = value.Str(s[i : i+1])
	return nil
}

// window returns the part of args[0] from start, args[2], to end, args[3], and where it begins. An
// end of -1 is the end of the string. ok is false where it begins behind its end or that of the string, so that not even "" is in it.
func window(args []value.Value) (part string, from int, ok bool) {
	s := args[0].Str()
	n := int64(len(s))
	clamp := func(i int64) int64 {
		if i < 0 {
			i += n
		}
		return min(max(i, 0), n)
	}
	start, end := clamp(args[2].Int()), n
	if args[3].Int() != -1 {
		end = clamp(args[3].Int())
	}
	if start > end || args[2].Int() > n {
		return "", 0, false
	}
	return s[start:end], int(start), true
}

// search makes a method that finds a part of a string. missing is the error where there is none;
// "": the result is -1.
func search(find func(s, part string) int, missing string) ops.Operation {
	return func(args, out []value.Value) error {
		part, from, ok := window(args)
		i := -1
		if ok {
			i = find(part, args[1].Str())
		}
		if i < 0 && missing != "" {
			return errorf("%s", missing)
		}
		if i >= 0 {
			i += from
		}
		out[0] = value.Int(int64(i))
		return nil
	}
}

func trim(f func(s, cutset string) string) ops.Operation {
	return onText2(func(s, chars string) value.Value { return value.Str(f(s, chars)) })
}

// maxText is how many bytes a string has at most. A program that asks for more gets an error where the system would end the process.
const maxText = 1 << 30

// shortText is a length that needs no look at what there is room for.
const shortText = 1 << 16

// checkText fails where a string of n bytes would be too long.
func checkText(n int) error {
	if n > maxText {
		return errorf("the string would have more than %d bytes", maxText)
	}
	return tensor.CheckHeapRoom(n)
}

// repeated returns n copies of s, none where n is negative.
func repeated(s string, n int64) (string, error) {
	if n <= 0 {
		return "", nil
	}
	if n > maxText/int64(max(len(s), 1)) {
		return "", checkText(maxText + 1)
	}
	if err := checkText(len(s) * int(n)); err != nil {
		return "", err
	}
	return strings.Repeat(s, int(n)), nil
}

// pad makes a method that fills a string up to a width; left says how many of the missing
// characters go to the left of a string of that length.
func pad(left func(length, missing int) int) ops.Operation {
	return func(args, out []value.Value) error {
		s, fill := args[0].Str(), args[2].Str()
		if len(fill) != 1 {
			return errorf("TypeError: The fill character must be exactly one character long")
		}
		padding, err := repeated(fill, args[1].Int()-int64(len(s)))
		if err != nil {
			return err
		}
		n := left(len(s), len(padding))
		out[0] = value.Str(padding[:n] + s + padding[n:])
		return nil
	}
}

// centerLeft splits the padding of a centred string: the odd character goes to the left where the whole text has an odd length.
func centerLeft(length, missing int) int { return missing/2 + missing&(length+missing)&1 }

func expandTabs(args, out []value.Value) error {
	size := args[1].Int()
	var b strings.Builder
	column := int64(0)
	for _, c := range []byte(args[0].Str()) {
		switch {
		case c == '\t':
			if size > 0 {
				spaces, err := repeated(" ", size-column%size)
				if err != nil {
					return err
				}
				b.WriteString(spaces)
				if err := checkText(b.Len()); err != nil {
					return err
				}
				column += int64(len(spaces))
			}
		case c == '\n' || c == '\r':
			b.WriteByte(c)
			column = 0
		default:
			b.WriteByte(c)
			column++
		}
	}
	out[0] = value.Str(b.String())
	return nil
}

// pieces converts a largest number of splits, negative for no limit, to one of pieces.
func pieces(splits int64) int {
	if splits < 0 {
		return -1
	}
	return int(min(splits, maxText)) + 1
}

// splitBlanks splits at runs of white space, at most limit times unless limit is negative.
func splitBlanks(s string, limit int64) []string {
	blank := func(r rune) bool { return r < 128 && isSpace(byte(r)) }
	var parts []string
	s = strings.TrimFunc(s, blank) // as in PyTorch, at the end too
	for s != "" {
		i := strings.IndexFunc(s, blank)
		if i < 0 || limit >= 0 && int64(len(parts)) == limit {
			return append(parts, s)
		}
		parts = append(parts, s[:i])
		s = strings.TrimLeftFunc(s[i:], blank)
	}
	return parts
}

func rightSplit(args, out []value.Value) error {
	s, separator, limit := args[0].Str(), args[1].Str(), args[2].Int()
	if separator == "" {
		return errorf("ValueError: empty separator")
	}
	var parts []string
	for limit < 0 || int64(len(parts)) < limit {
		i := strings.LastIndex(s, separator)
		if i < 0 {
			break
		}
		parts = append(parts, s[i+len(separator):])
		s = s[:i]
	}
	parts = append(parts, s)
	for i, j := 0, len(parts)-1; i < j; i, j = i+1, j-1 {
		parts[i], parts[j] = parts[j], parts[i]
	}
	out[0] = texts(parts)
	return nil
}

// splitLines splits at line ends as Python does; keep leaves them on the lines.
func splitLines(s string, keep bool) []string {
	var lines []string
	for s != "" {
		i := strings.IndexAny(s, "\n\r\v\f\x1c\x1d\x1e")
		if i < 0 {
			return append(lines, s)
		}
		end := i + 1
		if strings.HasPrefix(s[i:], "\r\n") {
			end++
		}
		if keep {
			lines = append(lines, s[:end])
		} else {
			lines = append(lines, s[:i])
		}
		s = s[end:]
	}
	return lines
}

// partition makes a method that splits a string in three at a separator.
func partition(find func(s, part string) int, without func(s string) (a, b, c string)) ops.Operation {
	return func(args, out []value.Value) error {
		s, separator := args[0].Str(), args[1].Str()
		if separator == "" {
			return errorf("ValueError: empty separator")
		}
		a, b, c := without(s)
		if i := find(s, separator); i >= 0 {
			a, b, c = s[:i], separator, s[i+len(separator):]
		}
		out[0], out[1], out[2] = value.Str(a), value.Str(b), value.Str(c)
		return nil
	}
}

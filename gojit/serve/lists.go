package serve

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/torchjit/torchjit/gojit/tensor"
)

// takeLists returns the JSON of a request with null in place of the lists of numbers that its inputs have as data, and these lists by the places of
// their inputs. encoding/json would read each number three times before anybody reads it as one. What is not understood stays where it is, for
// encoding/json to judge: the rest and the lists are JSON where the whole text is.
func takeLists(text []byte) (rest []byte, taken [][]byte) {
	var depth, input, copied int
	var inside, seen bool // inside the list of inputs; whether there was one
	for at := 0; at < len(text); {
		c := text[at]
		at++
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			inside = inside && depth > 2
			depth--
		case ',':
			if inside && depth == 2 {
				input++
			}
		case '"':
			begin := at
			at = behindText(text, at)
			if at < 0 {
				return text, nil
			}
			name := text[begin : at-1]
			value := behindSpace(text, at)
			if value == len(text) || text[value] != ':' {
				continue
			}
			at = behindSpace(text, value+1)
			switch {
			case at == len(text) || text[at] != '[':
			case depth == 1 && string(name) == "inputs":
				if seen {
					return text, nil
				}
				inside, seen = true, true
			case inside && depth == 3 && string(name) == "data":
				end := behindNumbers(text, at)
				if end < 0 {
					continue
				}
				rest = append(append(rest, text[copied:at]...), "null"...)
				for len(taken) <= input {
					taken = append(taken, nil)
				}
				taken[input] = text[at:end]
				at, copied = end, end
			}
		}
	}
	if taken == nil {
		return text, nil
	}
	return append(rest, text[copied:]...), taken
}

func behindSpace(text []byte, at int) int {
	for at < len(text) && (text[at] == ' ' || text[at] == '\n' || text[at] == '\t' || text[at] == '\r') {
		at++
	}
	return at
}

// behindText returns the place behind the quote that ends a text which begins at a place, -1 where there is none.
func behindText(text []byte, at int) int {
	for ; at < len(text); at++ {
		switch text[at] {
		case '"':
			return at + 1
		case '\\':
			at++
		}
	}
	return -1
}

// behindNumbers returns the place behind the list at a place, -1 where it has texts or objects, or no end.
func behindNumbers(text []byte, at int) int {
	if end := bytes.IndexByte(text[at:], ']') + 1; end > 0 { // a list without lists is most often all
		if list := text[at : at+end]; bytes.LastIndexByte(list, '[') == 0 && bytes.IndexByte(list, '"') < 0 && bytes.IndexByte(list, '{') < 0 && bytes.IndexByte(list, '}') < 0 {
			return at + end
		}
	}
	depth := 0
	for ; at < len(text); at++ {
		switch text[at] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return at + 1
			}
		case '"', '{', '}':
			return -1
		}
	}
	return -1
}

// behindWord returns the place where what begins at a place ends: at a space, a comma or a bracket.
func behindWord(text []byte, at int) int {
	for at++; at < len(text) && !endsWord(text[at]); at++ {
	}
	return at
}

func endsWord(c byte) bool {
	switch c {
	case '[', ']', ',', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}

// powers are the powers of ten that float64 holds.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// floatAt reads the number of JSON at a place and returns the place behind it. It reads those that one product or quotient of what float64 holds gives, which
// is rounded once; of others the place is 0, and so it is of what is no number: strconv reads these.
func floatAt(text []byte, at int) (f float64, end int) {
	negative := at < len(text) && text[at] == '-'
	if negative {
		at++
	}
	begin, point, digits := at, 0, uint64(0)
	for ; at < len(text); at++ {
		if c := text[at] - '0'; c < 10 {
			digits = digits*10 + uint64(c)
		} else if text[at] == '.' && point == 0 && at > begin {
			point = at + 1
		} else {
			break
		}
	}
	count := at - begin // of digits, and of the point
	if count == 0 || count > 18 || point == at || text[begin] == '0' && count > 1 && point != begin+2 {
		return 0, 0
	}
	power := 0
	if point > 0 {
		power = point - at
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		exponent, behind := exponentAt(text, at+1)
		if behind == 0 {
			return 0, 0
		}
		power, at = power+exponent, behind
	}
	if digits >= 1<<53 || power <= -len(powers) || power >= len(powers) {
		return 0, 0
	}
	if f = float64(digits); power < 0 {
		f /= powers[-power]
	} else {
		f *= powers[power]
	}
	if negative {
		f = -f
	}
	return f, at
}

// exponentAt reads an exponent of at most three digits at a place. It returns the place behind it, 0 where there is none.
func exponentAt(text []byte, at int) (exponent, end int) {
	negative := at < len(text) && text[at] == '-'
	if negative || at < len(text) && text[at] == '+' {
		at++
	}
	begin := at
	for ; at < len(text) && text[at]-'0' < 10; at++ {
		if at == begin+3 {
			return 0, 0
		}
		exponent = exponent*10 + int(text[at]-'0')
	}
	if at == begin {
		return 0, 0
	}
	if negative {
		exponent = -exponent
	}
	return exponent, at
}

// behindNumber returns the place behind the number of JSON at a place, which is less than what Go reads as one; -1 where there is none.
func behindNumber(text []byte, at int) int {
	if at < len(text) && text[at] == '-' {
		at++
	}
	end := behindDigits(text, at)
	if end == at || text[at] == '0' && end > at+1 {
		return -1
	}
	if at = end; at < len(text) && text[at] == '.' {
		if end = behindDigits(text, at+1); end == at+1 {
			return -1
		}
		at = end
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		if at++; at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		if end = behindDigits(text, at); end == at {
			return -1
		}
		at = end
	}
	return at
}

func behindDigits(text []byte, at int) int {
	for at < len(text) && text[at]-'0' < 10 {
		at++
	}
	return at
}

// readElements reads a number, or lists of numbers, of JSON into a tensor.
func readElements(t *tensor.Tensor, count int, text []byte) error {
	var floats []float32 // the elements, where they are these
	var numbers []tensor.Scalar
	if t.DType() == tensor.Float32 {
		floats = tensor.Data[float32](t)
	} else {
		numbers = make([]tensor.Scalar, count)
	}
	n, depth, wanted, open := 0, 0, true, false // whether a value must follow; whether a list has just begun
	for at := behindSpace(text, 0); at < len(text); at = behindSpace(text, at) {
		switch c := text[at]; {
		case c == '[' && wanted:
			depth++
			open = true
			at++
		case c == ']' && depth > 0 && (open || !wanted):
			depth--
			wanted, open = false, false
			at++
		case c == ',' && depth > 0 && !wanted:
			wanted = true
			at++
		case c == '[' || c == ']' || c == ',' || !wanted:
			return fmt.Errorf("the list of elements is no JSON: found %q behind %d numbers", c, n)
		case n == count:
			return fmt.Errorf("more than %d elements for the shape %v", count, t.Shape())
		default:
			f, end := 0.0, 0
			if floats != nil {
				f, end = floatAt(text, at)
			}
			if end == 0 || end < len(text) && !endsWord(text[end]) {
				end = behindWord(text, at)
				number, err := readNumber(t.DType(), text[at:end])
				if err != nil {
					return fmt.Errorf("element %d: %w", n, err)
				}
				if floats == nil {
					numbers[n] = number
				} else {
					f = number.Float64()
				}
			}
			if floats != nil {
				floats[n] = float32(f)
			}
			wanted, open = false, false
			n++
			at = end
		}
	}
	if depth > 0 || wanted {
		return fmt.Errorf("the list of elements is no JSON: it ends behind %d numbers", n)
	}
	if n != count {
		return fmt.Errorf("%d elements for the shape %v, which has %d", n, t.Shape(), count)
	}
	if floats == nil {
		tensor.StoreAll(t, numbers)
	}
	return nil
}

// readNumber reads a number, or a truth, that the element type holds.
func readNumber(dtype tensor.DType, word []byte) (tensor.Scalar, error) {
	if dtype == tensor.Bool {
		switch string(word) {
		case "true", "1":
			return tensor.Boolean(true), nil
		case "false", "0":
			return tensor.Boolean(false), nil
		}
		return tensor.Scalar{}, fmt.Errorf("found %.40q, expected true or false", word)
	}
	if dtype.IsFloating() {
		if f, end := floatAt(word, 0); end > 0 && end == len(word) {
			return tensor.Float(f), nil
		}
	}
	ok := behindNumber(word, 0) == len(word)
	if dtype.IsFloating() {
		f, err := strconv.ParseFloat(string(word), 64)
		if err != nil || !ok {
			return tensor.Scalar{}, fmt.Errorf("found %.40q, expected a number", word)
		}
		return tensor.Float(f), nil
	}
	bits := 8 * dtype.Size()
	if dtype == tensor.Uint8 {
		u, err := strconv.ParseUint(string(word), 10, 8)
		if err != nil || !ok {
			return tensor.Scalar{}, fmt.Errorf("found %.40q, expected a number from 0 to 255", word)
		}
		return tensor.Int(int64(u)), nil
	}
	i, err := strconv.ParseInt(string(word), 10, bits)
	if err != nil || !ok {
		return tensor.Scalar{}, fmt.Errorf("found %.40q, expected a whole number of %d bits", word, bits)
	}
	return tensor.Int(i), nil
}

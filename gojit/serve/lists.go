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
	for at++; at < len(text); at++ {
		switch text[at] {
		case '[', ']', ',', ' ', '\n', '\t', '\r':
			return at
		}
	}
	return at
}

// number is a word that was read as a number of JSON, which is less than what Go reads as one: its digits as a whole number, and the power of ten that
// this is multiplied with.
type number struct {
	negative bool
	digits   uint64
	many     bool // there are more digits than the whole number holds
	power    int
}

// add adds a digit.
func (n *number) add(c byte) {
	n.many = n.many || n.digits >= 1e18
	n.digits = n.digits*10 + uint64(c-'0')
}

// numberAt reads the number that a text begins with. It returns how long that is, 0 where the text begins with none.
func numberAt(text []byte) (n number, length int) {
	at := 0
	if at < len(text) && text[at] == '-' {
		n.negative = true
		at++
	}
	begin := at
	for ; at < len(text) && text[at]-'0' < 10; at++ {
		n.add(text[at])
	}
	if at == begin || text[begin] == '0' && at-begin > 1 {
		return n, 0
	}
	if at < len(text) && text[at] == '.' {
		at++
		point := at
		for ; at < len(text) && text[at]-'0' < 10; at++ {
			n.add(text[at])
		}
		if n.power = point - at; n.power == 0 {
			return n, 0
		}
	}
	if at < len(text) && (text[at] == 'e' || text[at] == 'E') {
		var exponent int
		if exponent, at = exponentAt(text, at+1); at == 0 {
			return n, 0
		}
		n.power += exponent
	}
	return n, at
}

// largestExponent stands for all exponents above it: numbers that have one are read by strconv.
const largestExponent = 1 << 20

// exponentAt reads an exponent at a place. It returns the place behind it, 0 where there is none.
func exponentAt(text []byte, at int) (exponent, end int) {
	negative := false
	if at < len(text) && (text[at] == '+' || text[at] == '-') {
		negative = text[at] == '-'
		at++
	}
	begin := at
	for ; at < len(text) && text[at]-'0' < 10; at++ {
		exponent = min(exponent*10+int(text[at]-'0'), largestExponent)
	}
	if at == begin {
		return 0, 0
	}
	if negative {
		exponent = -exponent
	}
	return exponent, at
}

// powers are the powers of ten that float64 holds.
var powers = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float64 returns the number where one product or quotient of what float64 holds gives it, which is rounded once.
func (n number) float64() (f float64, ok bool) {
	if n.many || n.digits >= 1<<53 || n.power <= -len(powers) || n.power >= len(powers) {
		return 0, false
	}
	f = float64(n.digits)
	if n.power < 0 {
		f /= powers[-n.power]
	} else {
		f *= powers[n.power]
	}
	if n.negative {
		f = -f
	}
	return f, true
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
			if end == 0 {
				end = behindWord(text, at)
				number, err := readNumber(t.DType(), text[at:end])
				if err != nil {
					return fmt.Errorf("element %d: %w", n, err)
				}
				if floats == nil {
					numbers[n] = number
				}
				f = number.Float64()
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

// floatAt reads the number at a place. It returns the place behind it, 0 where that is no number or none that is rounded once.
func floatAt(text []byte, at int) (f float64, end int) {
	n, length := numberAt(text[at:])
	f, quick := n.float64()
	end = at + length
	if length == 0 || !quick || end < len(text) && behindWord(text, end-1) != end {
		return 0, 0
	}
	return f, end
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
	n, length := numberAt(word)
	ok := length > 0 && length == len(word)
	if dtype.IsFloating() {
		f, quick := n.float64()
		if !quick {
			var err error
			if f, err = strconv.ParseFloat(string(word), 64); err != nil {
				ok = false
			}
		}
		if !ok {
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

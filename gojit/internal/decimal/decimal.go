// Package decimal writes floating-point numbers in decimal: as Python's repr does, and as C and C++
// streams do. It knows nothing of tensors or values.
package decimal

import (
	"math"
	"strconv"
	"strings"
)

// Python returns Python's repr of a float: the shortest text that reads back equal, with ".0" behind
// a whole number.
func Python(f float64) string {
	if text, ok := special(f); ok {
		return text
	}
	if a := math.Abs(f); a != 0 && (a < 1e-4 || a >= 1e16) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// General returns a number with at most the given number of significant digits, as C's %g prints it
// and as C++ streams do: "1", "0.5", "1e-05".
func General(f float64, digits int) string {
	if text, ok := special(f); ok {
		return text
	}
	scientific := strconv.FormatFloat(f, 'e', digits-1, 64)
	mantissa, exponent, _ := strings.Cut(scientific, "e")
	e, _ := strconv.Atoi(exponent)
	if e < -4 || e >= digits {
		return trimZeros(mantissa) + "e" + exponent
	}
	return trimZeros(strconv.FormatFloat(f, 'f', digits-1-e, 64))
}

// Pointed is General with a point behind what would read as an integer: "1.", "0.5", "1e-05".
func Pointed(f float64, digits int) string {
	s := General(f, digits)
	if strings.Trim(s, "-0123456789") == "" {
		s += "."
	}
	return s
}

// special returns the text of what has no digits.
func special(f float64) (string, bool) {
	switch {
	case math.IsNaN(f):
		return "nan", true
	case math.IsInf(f, 1):
		return "inf", true
	case math.IsInf(f, -1):
		return "-inf", true
	}
	return "", false
}

// trimZeros removes zeros behind the point, and the point where nothing stays behind it.
func trimZeros(s string) string {
	if strings.Contains(s, ".") {
		return strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

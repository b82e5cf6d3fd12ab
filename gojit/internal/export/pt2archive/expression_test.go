package pt2archive

import (
	"strings"
	"testing"
)

func TestExpressions(t *testing.T) {
	const s, u = "Symbol('s77', positive=True, integer=True)", "Symbol('u0', integer=True)"
	for text, want := range map[string]string{
		"Integer(-3)":                            "-3",
		s:                                        "s77",
		"Mul(Integer(2), " + s + ")":             "2*s77",
		"Add(Integer(-1), " + s + ", " + u + ")": "s77 + u0 - 1",
		"Mul(" + s + ", Integer(2), " + u + ", Integer(3))": "2*3*s77*u0",
		"FloorDiv(Add(" + s + ", Integer(1)), Integer(2))":  "((s77 + 1)//2)",
		"Mod(" + s + ", Integer(4))":                        "(s77%4)",
		"Max(Integer(1), " + s + ")":                        "max(1, s77)",
		"Pow(" + s + ", Integer(2))":                        "s77*s77",
		"TruncToInt(IntTrueDiv(" + s + ", Integer(2)))":     "",
		"Mul(Rational(1, 2), " + s + ")":                    "",
		"FloorDiv(" + s + ", Integer(2), Integer(2))":       "",
		"Symbol('s 77')":                                    "",
		"Symbol('s77'":                                      "",
		"Add(" + s + ")":                                    "",
		"Add(Integer(1), )":                                 "",
		"Integer(99999999999999999999)":                     "",
		s + s:                                               "",
		"":                                                  "",
		strings.Repeat("Add(", 1<<20):                       "",
		strings.Repeat("Pow(", 60) + s + strings.Repeat(", Integer(8))", 60): "",
	} {
		size, ok := parseExpression(text)
		if ok != (want != "") || ok && size.String() != want {
			t.Errorf("%.80s is %s, %v; want %q", text, size, ok, want)
		}
	}
}

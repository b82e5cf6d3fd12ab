package pt2archive

import (
	"slices"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
)

// Sizes are texts as sympy prints expressions for Python to read them: "Mul(Integer(2), Symbol('s77', positive=True, integer=True))".

// operations are sympy's functions of sizes that are operations of sizes here.
var operations = map[string]string{
	"Add": "+", "Mul": "*", "FloorDiv": "//", "CleanDiv": "//", "Mod": "%", "PythonMod": "%", "Max": "max", "Min": "min",
}

// maxPower bounds the powers that are written as products, maxTerms the constants and symbols in a size: so it is no deeper than sizes may be.
const (
	maxPower = 8
	maxTerms = symbolic.MaxDepth
)

// terms counts the constants and symbols in a size.
func terms(s symbolic.Size) int {
	if len(s.Args) == 0 {
		return 1
	}
	return terms(s.Args[0]) + terms(s.Args[1])
}

// parseExpression reads a text as a size. ok is false where it is none: damaged, nested too deep, or of functions that sizes do not have here.
func parseExpression(text string) (s symbolic.Size, ok bool) {
	p := &expressionParser{rest: text}
	s, ok = p.expression(0)
	p.space()
	return s, ok && p.rest == ""
}

type expressionParser struct{ rest string }

func (p *expressionParser) space() { p.rest = strings.TrimLeft(p.rest, " ") }

// take takes a text that comes next, if it does.
func (p *expressionParser) take(text string) bool {
	p.space()
	rest, found := strings.CutPrefix(p.rest, text)
	p.rest = rest
	return found
}

// word takes letters, digits and underscores.
func (p *expressionParser) word() string {
	p.space()
	end := strings.IndexFunc(p.rest, func(c rune) bool {
		return c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	})
	if end < 0 {
		end = len(p.rest)
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word
}

func (p *expressionParser) number() (int, bool) {
	sign := ""
	if p.take("-") {
		sign = "-"
	}
	n, err := strconv.Atoi(sign + p.word())
	return n, err == nil
}

func (p *expressionParser) expression(depth int) (s symbolic.Size, ok bool) {
	if depth > symbolic.MaxDepth {
		return s, false
	}
	function := p.word()
	if !p.take("(") {
		return s, false
	}
	switch function {
	case "Symbol":
		return p.symbol()
	case "Integer":
		n, ok := p.number()
		return symbolic.Constant(n), ok && p.take(")")
	}
	var args []symbolic.Size
	for {
		arg, ok := p.expression(depth + 1)
		if !ok {
			return s, false
		}
		args = append(args, arg)
		if p.take(")") {
			s, ok = apply(function, args)
			return s, ok && terms(s) <= maxTerms
		}
		if !p.take(",") {
			return s, false
		}
	}
}

// symbol reads a name in quotes, and what is assumed of the symbol.
func (p *expressionParser) symbol() (s symbolic.Size, ok bool) {
	if !p.take("'") {
		return s, false
	}
	name := p.word()
	if !p.take("'") || !symbolic.ValidName(name) {
		return s, false
	}
	for !p.take(")") {
		if !p.take(",") || p.word() == "" || !p.take("=") || p.word() == "" {
			return s, false
		}
	}
	return symbolic.Symbol(name), true
}

// apply makes a size of a function and its arguments. Functions of several arguments are applied one after the other.
func apply(function string, args []symbolic.Size) (s symbolic.Size, ok bool) {
	if power := args[len(args)-1]; (function == "Pow" || function == "PowByNatural") && len(args) == 2 && power.IsConstant() && power.Const > 0 && power.Const <= maxPower {
		return apply("Mul", slices.Repeat(args[:1], power.Const))
	}
	operation := operations[function]
	if operation == "" || len(args) == 1 || len(args) > 2 && (operation == "//" || operation == "%") {
		return s, false
	}
	number := func(s symbolic.Size) bool { return s.IsConstant() }
	variable := func(s symbolic.Size) bool { return !s.IsConstant() }
	switch operation {
	case "*": // numbers come first, as in 2*(3*s)
		args = append(slices.DeleteFunc(slices.Clone(args), variable), slices.DeleteFunc(slices.Clone(args), number)...)
		s = args[len(args)-1]
		for _, x := range slices.Backward(args[:len(args)-1]) {
			s = symbolic.Size{Op: operation, Args: []symbolic.Size{x, s}}
		}
		return s, true
	case "+": // numbers come last, as in (s + t) + 1
		args = append(slices.DeleteFunc(slices.Clone(args), number), slices.DeleteFunc(slices.Clone(args), variable)...)
	}
	s = args[0]
	for _, x := range args[1:] {
		s = symbolic.Size{Op: operation, Args: []symbolic.Size{s, x}}
	}
	return s, true
}

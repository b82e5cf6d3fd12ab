package pt2archive

import (
	"fmt"

	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
)

// functionsOf are sympy's functions of operations of sizes.
var functionsOf = map[string]string{"+": "Add", "*": "Mul", "//": "FloorDiv", "%": "Mod", "max": "Max", "min": "Min"}

// expressionText is a size as sympy prints it for Python to read.
func expressionText(s symbolic.Size) string {
	switch {
	case s.Name != "":
		return symbolText(s.Name)
	case s.Op == "":
		return fmt.Sprintf("Integer(%d)", s.Const)
	}
	return functionsOf[s.Op] + "(" + expressionText(s.Args[0]) + ", " + expressionText(s.Args[1]) + ")"
}

// symbolText is a symbol with what PyTorch assumes of it: a size that elements tell need not be positive.
func symbolText(name string) string {
	if name[0] == unbacked {
		return fmt.Sprintf("Symbol('%s', integer=True)", name)
	}
	return fmt.Sprintf("Symbol('%s', positive=True, integer=True)", name)
}

// unbacked begins the names that PyTorch has for symbols that elements tell; backed those of sizes of inputs.
const (
	unbacked = 'u'
	backed   = 's'
)

// renamed is a size with other names of symbols.
func renamed(s symbolic.Size, names map[string]string) symbolic.Size {
	if s.Name != "" {
		return symbolic.Symbol(names[s.Name])
	}
	if s.Args != nil {
		s.Args = []symbolic.Size{renamed(s.Args[0], names), renamed(s.Args[1], names)}
	}
	return s
}

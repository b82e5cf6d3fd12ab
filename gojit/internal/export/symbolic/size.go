// Package symbolic has the sizes of exported programs: expressions over symbols, what programs compute of them, and how expressions are
// found that numbers have.
package symbolic

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/torchjit/torchjit/gojit/internal/ops"
)

// Size is an integer that may depend on symbols: a constant, a symbol, or an operation on sizes.
type Size struct {
	Op    string // "" for a constant and for a symbol; "+", "*", "//", "%", "max", "min"
	Const int
	Name  string // of a symbol
	Args  []Size
}

// Operation is an operation on sizes: Python's function of the module operator, the operator of the language and the sign in expressions of
// sizes, "" where these have none.
type Operation struct {
	Name, Operator, Sign string
	Arguments            int
}

// operations are what programs compute of sizes: the operators of integers behind whose schemas that stands, and what takes a size of a list.
var operations = sync.OnceValue(func() []Operation {
	all := []Operation{{"getitem", "", "", 2}}
	for o, name := range ops.WithFact("of_sizes") {
		sign, _ := o.Fact("sign")
		all = append(all, Operation{name, o.BaseName(), sign, len(o.Schema().Arguments)})
	}
	return all
})

// OperationOf returns the operation that is as asked for, nil where there is none.
func OperationOf(is func(o *Operation) bool) *Operation {
	all := operations()
	if i := slices.IndexFunc(all, func(o Operation) bool { return is(&o) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Constant returns the size that is always n.
func Constant(n int) Size { return Size{Const: n} }

// Symbol returns the size that a symbol stands for.
func Symbol(name string) Size { return Size{Name: name} }

// IsConstant reports whether the size depends on no symbol.
func (s Size) IsConstant() bool { return s.Op == "" && s.Name == "" }

// Key is a text that two sizes share where they are the same expression.
func (s Size) Key() string { return s.String() }

// String prints the size as an expression of Python.
func (s Size) String() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Op == "":
		return strconv.Itoa(s.Const)
	case s.Op == "max" || s.Op == "min":
		return s.Op + "(" + s.Args[0].String() + ", " + s.Args[1].String() + ")"
	case s.Op == "+" && s.Args[1].IsConstant() && s.Args[1].Const < 0:
		return s.Args[0].String() + " - " + strconv.Itoa(-s.Args[1].Const)
	case s.Op == "+":
		return s.Args[0].String() + " + " + s.Args[1].String()
	case s.Op == "*":
		return s.Args[0].factor() + "*" + s.Args[1].factor()
	}
	return "(" + s.Args[0].factor() + s.Op + s.Args[1].factor() + ")"
}

// factor prints the size so that it can stand beside a multiplication.
func (s Size) factor() string {
	if s.Op == "+" {
		return "(" + s.String() + ")"
	}
	return s.String()
}

// Eval returns the number that the size is where symbols are what at says. It fails on a symbol that at does not have, and
// on a division by zero.
func (s Size) Eval(at map[string]int) (int, error) {
	if s.Name != "" {
		n, ok := at[s.Name]
		if !ok {
			return 0, fmt.Errorf("the symbol %s is not known", s.Name)
		}
		return n, nil
	}
	if s.Op == "" {
		return s.Const, nil
	}
	a, err := s.Args[0].Eval(at)
	if err != nil {
		return 0, err
	}
	b, err := s.Args[1].Eval(at)
	if err != nil {
		return 0, err
	}
	switch s.Op {
	case "+":
		return a + b, nil
	case "*":
		return a * b, nil
	case "max":
		return max(a, b), nil
	case "min":
		return min(a, b), nil
	}
	if b == 0 {
		return 0, fmt.Errorf("%s divides by zero", s)
	}
	if s.Op == "//" {
		return floorDiv(a, b), nil
	}
	return a - b*floorDiv(a, b), nil
}

func floorDiv(a, b int) int {
	q := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		q--
	}
	return q
}

// Symbols calls visit for each symbol in the size.
func (s Size) Symbols(visit func(string)) {
	if s.Name != "" {
		visit(s.Name)
	}
	for _, a := range s.Args {
		a.Symbols(visit)
	}
}

// Affine returns m and c of a size that is m*symbol + c, with m above 0.
func (s Size) Affine() (symbol string, m, c int, ok bool) {
	switch {
	case s.Name != "":
		return s.Name, 1, 0, true
	case s.Op == "+" && s.Args[1].IsConstant():
		symbol, m, c, ok = s.Args[0].Affine()
		return symbol, m, c + s.Args[1].Const, ok
	case s.Op == "*" && s.Args[0].IsConstant() && s.Args[0].Const > 0:
		symbol, m, c, ok = s.Args[1].Affine()
		return symbol, m * s.Args[0].Const, c * s.Args[0].Const, ok
	}
	return "", 0, 0, false
}

// MaxDepth bounds how deep the expressions are that are read.
const MaxDepth = 64

// MarshalJSON writes a number, a name, or a list of an operation and its operands.
func (s Size) MarshalJSON() ([]byte, error) {
	switch {
	case s.Name != "":
		return json.Marshal(s.Name)
	case s.Op == "":
		return json.Marshal(s.Const)
	}
	return json.Marshal([]any{s.Op, s.Args[0], s.Args[1]})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (s *Size) UnmarshalJSON(data []byte) error { return s.read(data, 0) }

func (s *Size) read(data []byte, depth int) error {
	*s = Size{}
	if depth > MaxDepth {
		return fmt.Errorf("a size is nested more than %d deep", MaxDepth)
	}
	if len(data) > 0 && data[0] == '"' {
		if err := json.Unmarshal(data, &s.Name); err != nil {
			return err
		}
		if !ValidName(s.Name) {
			return fmt.Errorf("%q is no name of a symbol", s.Name)
		}
		return nil
	}
	if len(data) == 0 || data[0] != '[' {
		return json.Unmarshal(data, &s.Const)
	}
	var parts []json.RawMessage
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	if len(parts) != 3 {
		return fmt.Errorf("a size is an operation and two operands, not %d items", len(parts))
	}
	if err := json.Unmarshal(parts[0], &s.Op); err != nil {
		return err
	}
	switch s.Op {
	case "+", "*", "//", "%", "max", "min":
	default:
		return fmt.Errorf("there is no operation %q of sizes", s.Op)
	}
	s.Args = make([]Size, 2)
	for i := range s.Args {
		if err := s.Args[i].read(parts[i+1], depth+1); err != nil {
			return err
		}
	}
	return nil
}

// ValidName reports whether a text can be the name of a node or a symbol: an identifier.
func ValidName(name string) bool {
	for i, c := range name {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

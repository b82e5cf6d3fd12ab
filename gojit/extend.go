package gojit

import (
	"slices"

	"github.com/torchjit/torchjit/gojit/internal/autodiff"
	"github.com/torchjit/torchjit/gojit/internal/frontend"
	"github.com/torchjit/torchjit/gojit/internal/ir"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/syntax"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
)

// Types of the compiler's parts, for programs that extend it: that resolve names of a program, emit nodes, and define operators which read them.
type (
	// Graph is what a function compiles to: nodes that compute values, in order.
	Graph = ir.Graph
	// Node is a node of a graph: one use of an operator, a constant, a branch, a loop.
	Node = ir.Node
	// GraphValue is a value of a graph: a parameter, or what a node computes.
	GraphValue = ir.Value
	// Argument is an argument of a call that is being compiled.
	Argument = ir.Argument
	// Symbol is a kind of nodes, "aten::add": a name in a namespace, which is there once.
	Symbol = ir.Symbol
	// Type is the type of a value of a graph.
	Type = types.Type
	// Range is a place in a text.
	Range = source.Range
	// Lexer walks over the tokens of a text.
	Lexer = syntax.Lexer
	// Token is a word of a text.
	Token = syntax.Token
	// SugaredValue is what an expression stands for while a program is compiled: a value of the graph, or something that exists in the compiler alone,
	// such as a module, a function or a namespace, and becomes nodes where it is used. A type of a program's own embeds NotFirstClass and has the methods
	// for what it can do.
	SugaredValue = frontend.SugaredValue
	// NotFirstClass is a SugaredValue that refuses everything. Its text is what messages call it.
	NotFirstClass = frontend.NotFirstClass
	// Emitter makes the nodes of a function that is being compiled. Its Fail ends the compilation.
	Emitter = frontend.Emitter
)

// NewLexer returns a lexer at the first token of a text. name is what messages call the text. It fails on a text that has no tokens: an open string,
// brackets that do not match.
func NewLexer(name, text string) (*Lexer, error) {
	return syntax.NewLexer(source.NewText(name, text, 1))
}

// NewSymbol returns the symbol of a text, "aten::add". It fails where the namespace or the name is missing.
func NewSymbol(text string) (Symbol, error) { return ir.NewSymbol(text) }

// SugaredGraphValue returns a value of a graph as a sugared one.
func SugaredGraphValue(v *GraphValue) SugaredValue { return frontend.NewSimple(v) }

// SugaredConstant returns a constant as a sugared value.
func SugaredConstant(v Value) SugaredValue { return frontend.NewConstant(v) }

// SugaredFunction returns a compiled function as a sugared value.
func SugaredFunction(f *Function) SugaredValue { return frontend.NewFunctionValue(f) }

// SugaredOperator returns an operator, "aten::relu", as a sugared value.
func SugaredOperator(name string) SugaredValue { return frontend.NewBuiltin(name) }

// Resolver says what a name stands for that a program uses and does not define; nil where it does not know the name. An error ends the compilation.
type Resolver func(name string, at Range) (SugaredValue, error)

// CompileWith is Compile for a program whose names a resolver gives meaning to, before torch, math and the exceptions have theirs.
func CompileWith(name, text string, resolve Resolver) (*Program, error) {
	return standard.CompileWith(name, text, resolve)
}

// ParseGraph reads the text of a graph, as Graph.String gives it.
func ParseGraph(text string) (*Graph, error) {
	LinkOperators()
	return ir.Parse(text)
}

// FunctionOfGraph returns a function that runs a copy of a graph; several outputs, or none, are a tuple. It fails on a graph that is not well formed.
func FunctionOfGraph(name string, g *Graph) (*Function, error) {
	LinkOperators()
	for _, verify := range []func(*Graph) error{ir.Verify, ir.VerifyKinds} {
		if err := verify(g); err != nil {
			return nil, source.Errorf(source.RuntimeError, source.Range{}, "the graph of %s is not well formed: %v", name, err)
		}
	}
	body := g.Copy()
	packOutputs(body)
	autodiff.Lower(body)
	return ir.NewFunction(name, body.Schema(name), body), nil
}

// packOutputs makes a tuple of the outputs of a graph, unless it has one.
func packOutputs(g *Graph) {
	if len(g.Outputs()) == 1 {
		return
	}
	tuple := g.PackOutputs(slices.Clone(g.Outputs()), nil)
	for range len(g.Outputs()) {
		g.Block().EraseOutput(0)
	}
	g.AddOutput(tuple)
}

// Stack holds the arguments of an operator, the last one on top, and then its results.
type Stack struct{ values []Value }

// Push puts values onto the stack, the last one on top.
func (s *Stack) Push(values ...Value) { s.values = append(s.values, values...) }

// Pop takes the value from the top of the stack; it panics where there is none.
func (s *Stack) Pop() Value { return s.PopN(1)[0] }

// PopN takes n values from the top of the stack, and returns them with the top last; it panics where there are fewer.
func (s *Stack) PopN(n int) []Value {
	rest := len(s.values) - n
	taken := s.values[rest:]
	s.values = s.values[:rest:rest]
	return taken
}

// Peek returns the value that lies i values below the top.
func (s *Stack) Peek(i int) Value { return s.values[len(s.values)-1-i] }

// Len returns how many values the stack holds.
func (s *Stack) Len() int { return len(s.values) }

// Operation runs an operator: it takes the arguments from the stack and leaves the results there, in the order of the schema.
type Operation func(*Stack) error

// RegisterOperation adds an operator that reads its node: compile is called once for each node that calls the operator, and returns what the node runs. The
// attributes are those that the graph's text has (my::scale[multiplier=2.](%x)) or that Node.SetAttr sets. It fails where RegisterOperator does.
// Operators that need no node are for RegisterOperator, which calls from outside of a graph can run, too.
func RegisterOperation(schema string, compile func(*Node) (Operation, error)) error {
	LinkOperators()
	return ops.Register([]ops.Operator{{Name: schema, Make: func(n ops.Node) (ops.Operation, error) {
		run, err := compile(n.(*Node))
		if err != nil {
			return nil, err
		}
		return func(args, out []value.Value) error {
			stack := &Stack{append(make([]Value, 0, len(args)+len(out)), args...)}
			if err := run(stack); err != nil {
				return err
			}
			if stack.Len() != len(out) {
				return source.Errorf(source.RuntimeError, source.Range{}, "%s left %d values on the stack, and has %d results", schema, stack.Len(), len(out))
			}
			copy(out, stack.values)
			return nil
		}, nil
	}}})
}

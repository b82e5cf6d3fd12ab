package ir

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/decimal"
	"github.com/torchjit/torchjit/gojit/internal/kinds/prim"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/internal/value"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// String returns the text form with source places.
func (g *Graph) String() string { return g.Text(true) }

// Text returns the text form; with places, a comment tells where in the source each node is from.
func (g *Graph) Text(places bool) string {
	p := &printer{places: places}
	p.graph(g)
	return p.b.String()
}

// String returns the node's line, and its blocks.
func (n *Node) String() string { return n.Text(true) }

// Text is String with or without the places in the source.
func (n *Node) Text(places bool) string {
	p := &printer{places: places}
	p.node(n, 0)
	return p.b.String()
}

type printer struct {
	b         strings.Builder
	places    bool
	subgraphs []*Node // of the graph that is printed: the nodes that run others
}

// graph prints a graph and, behind it, those that its nodes run.
func (p *printer) graph(g *Graph) {
	outer := p.subgraphs
	p.subgraphs = nil
	p.b.WriteString("graph(")
	for i, in := range g.Inputs() {
		if i > 0 {
			p.b.WriteString(",\n      ")
		}
		p.definition(in)
	}
	p.b.WriteString("):\n")
	for n := g.block.First(); n != nil; n = n.Next() {
		p.node(n, 1)
	}
	p.b.WriteString("  return (")
	p.names(g.Outputs())
	p.b.WriteString(")\n")
	for i, n := range p.subgraphs {
		fmt.Fprintf(&p.b, "with %s_%d = ", n.kind, i)
		p.graph(n.GraphAttr("Subgraph"))
	}
	p.subgraphs = outer
}

func (p *printer) definition(v *Value) {
	p.b.WriteByte('%')
	p.b.WriteString(v.Name())
	if typeVerbosity > 0 {
		p.b.WriteString(" : ")
		p.b.WriteString(typeText(types.Brief(v.typ, typeVerbosity)))
	}
}

// typeVerbosity is how much graphs show of types: PYTORCH_JIT_TYPE_VERBOSITY, 0 (nothing) to 3 (everything).
var typeVerbosity = func() int {
	if n, err := strconv.Atoi(os.Getenv("PYTORCH_JIT_TYPE_VERBOSITY")); err == nil {
		return n
	}
	return 3
}()

// typeText prints a type as graphs have it: like schemas, but a named tuple shows its fields and
// not its name, and Future[T] and RRef[T] are in square brackets.
func typeText(t types.Type) string {
	switch t := t.(type) {
	case *types.Tuple:
		return tupleText(t)
	case *types.List:
		return typeText(t.Elem) + "[]"
	case *types.Optional:
		return typeText(t.Elem) + "?"
	case *types.Future:
		if t.Lazy {
			return "Await(" + typeText(t.Elem) + ")"
		}
		return "Future[" + typeText(t.Elem) + "]"
	case *types.RRef:
		return "RRef[" + typeText(t.Elem) + "]"
	}
	return t.String()
}

func tupleText(t *types.Tuple) string {
	parts := make([]string, len(t.Elems))
	for i, e := range t.Elems {
		parts[i] = typeText(e)
		if t.Fields != nil {
			parts[i] = t.Fields[i] + " : " + parts[i]
		}
		if d := i - (len(t.Elems) - len(t.Defaults)); d >= 0 {
			if v, ok := t.Defaults[d].(value.Value); ok {
				parts[i] += " = " + value.Repr(v, unquoted)
			}
		}
	}
	text := "(" + strings.Join(parts, ", ") + ")"
	if t.Fields != nil {
		return "NamedTuple" + text
	}
	return text
}

// unquoted writes strings as they are: so the defaults of a named tuple's fields are shown.
func unquoted(b *strings.Builder, v value.Value) bool {
	if v.Kind() != value.KindString && v.Kind() != value.KindEmptyString {
		return false
	}
	b.WriteString(v.Str())
	return true
}

func (p *printer) names(vs []*Value) {
	for i, v := range vs {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.b.WriteByte('%')
		p.b.WriteString(v.Name())
	}
}

func (p *printer) indent(level int) {
	for range level {
		p.b.WriteString("  ")
	}
}

func (p *printer) node(n *Node, level int) {
	p.indent(level)
	for i, out := range n.outputs {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.definition(out)
	}
	p.b.WriteString(" = ")
	if n.kind == prim.PythonOp {
		name, _ := n.Attr("name")
		fmt.Fprintf(&p.b, "^%v[%s](", name, strings.Join(pythonAttributes(n), ", "))
		if constants, ok := n.Attr("constants"); ok {
			p.b.WriteString(constants.(string))
		}
		p.b.WriteString(")(")
		p.names(n.inputs)
		p.endNode(n)
		return
	}
	p.b.WriteString(n.kind)
	if n.GraphAttr("Subgraph") != nil {
		fmt.Fprintf(&p.b, "_%d", len(p.subgraphs))
		p.subgraphs = append(p.subgraphs, n)
	}
	p.attributes(n)
	p.b.WriteByte('(')
	p.names(n.inputs)
	p.endNode(n)
	for i, b := range n.blocks {
		p.indent(level + 1)
		fmt.Fprintf(&p.b, "block%d(", i)
		for k, in := range b.Inputs() {
			if k > 0 {
				p.b.WriteString(", ")
			}
			p.definition(in)
		}
		p.b.WriteString("):\n")
		for m := b.First(); m != nil; m = m.Next() {
			p.node(m, level+2)
		}
		p.indent(level + 2)
		p.b.WriteString("-> (")
		p.names(b.Outputs())
		p.b.WriteString(")\n")
	}
}

// endNode closes the line of a node, with its place.
func (p *printer) endNode(n *Node) {
	p.b.WriteByte(')')
	if n.Scope != "" {
		p.b.WriteString(", scope: " + n.Scope)
	}
	if p.places {
		if file, line, col, ok := n.Range.Program().FileLineCol(); ok {
			fmt.Fprintf(&p.b, " # %s:%d:%d", file, line, col)
		}
	}
	p.b.WriteByte('\n')
}

// pythonAttributes are those attributes of a call of a Python function that are shown.
func pythonAttributes(n *Node) (texts []string) {
	for _, a := range n.attrs {
		if _, isGraph := a.Value.(*Graph); isGraph {
			texts = append(texts, a.Name+"=<Graph>")
		} else if a.Name == "inplace" || a.Name == "module" {
			texts = append(texts, a.Name+"="+attributeText(a.Value))
		}
	}
	return texts
}

func (p *printer) attributes(n *Node) {
	written := 0
	for _, a := range n.attrs {
		if _, isGraph := a.Value.(*Graph); isGraph && a.Name == "Subgraph" {
			continue
		}
		if written == 0 {
			p.b.WriteByte('[')
		} else {
			p.b.WriteString(", ")
		}
		written++
		p.b.WriteString(a.Name)
		p.b.WriteByte('=')
		p.b.WriteString(attributeText(a.Value))
	}
	if written > 0 {
		p.b.WriteByte(']')
	}
}

func attributeText(a any) string {
	switch a := a.(type) {
	case value.Value:
		return constantText(a)
	case string:
		return value.Quote(a)
	case int64:
		return strconv.FormatInt(a, 10)
	case float64:
		return value.FloatRepr(a)
	case complex128:
		return value.Repr(value.Complex(a), nil)
	case []string:
		return listText(a, value.Quote)
	case []int64:
		return listText(a, func(n int64) string { return strconv.FormatInt(n, 10) })
	case []float64:
		return listText(a, value.FloatRepr)
	case types.Type:
		return a.String()
	case []types.Type:
		return listText(a, types.Type.String)
	case *Graph:
		return "<Graph>"
	case []*Graph:
		return "[<Graphs>]"
	}
	return fmt.Sprintf("<%T>", a)
}

func listText[T any](items []T, text func(T) string) string {
	parts := make([]string, len(items))
	for i, x := range items {
		parts[i] = text(x)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// maxPrintedElements is the largest number of elements of a tensor constant that is shown.
const maxPrintedElements = 10

func constantText(v value.Value) string {
	switch v.Kind() {
	case value.KindBool:
		if v.Bool() {
			return "1"
		}
		return "0"
	case value.KindDevice:
		return value.Quote(v.Device().String())
	}
	return value.Repr(v, func(b *strings.Builder, v value.Value) bool {
		if v.Kind() == value.KindCapsule {
			fmt.Fprintf(b, "object(%s)", v.Capsule().Kind)
			return true
		}
		if v.Kind() == value.KindList && len(v.List().Items) > 0 && v.List().Items[0].IsTensor() {
			b.WriteString("[<Tensors>]")
			return true
		}
		if v.IsTensor() {
			b.WriteString(tensorText(v))
			return true
		}
		return false
	})
}

func tensorText(v value.Value) string {
	t := v.Tensor()
	switch n := t.Numel(); {
	case n == 1:
		return "{" + elementText(t) + "}"
	case n <= maxPrintedElements:
		return strings.ReplaceAll(t.CppString(), "\n", " ")
	}
	return "<Tensor>"
}

// elementText prints the element of a tensor that has one.
func elementText(t *tensor.Tensor) string {
	s, err := t.Item()
	if err != nil {
		return "?"
	}
	switch s.Kind {
	case tensor.FloatScalar:
		return decimal.General(s.Float64(), 6)
	case tensor.ComplexScalar:
		c := s.Complex128()
		return "(" + decimal.General(real(c), 6) + "," + decimal.General(imag(c), 6) + ")"
	}
	return strconv.FormatInt(s.Int64(), 10)
}

package exportir

import (
	"slices"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
	"github.com/torchjit/torchjit/gojit/internal/ops"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
	"github.com/torchjit/torchjit/gojit/tensor"
)

// MaxNesting bounds how deep graphs are nested in each other, and containers.
const MaxNesting = 32

// maxDimensions bounds the dimensions of tensors.
const maxDimensions = 64

// Check fails where the program is not what Export IR allows: placeholders come first and one output last, nodes use nodes before them,
// calls are of functional operators with the arguments of their schemas, get_attr names graphs, metadata is there, and the
// signature agrees with the graph.
func (p *Program) Check() error { return p.check(rules{}) }

// CheckWriting is Check of a program whose calls may write to their arguments, as they do in what PyTorch captures for training.
func (p *Program) CheckWriting() error { return p.check(rules{writes: true}) }

// rules are what a check goes by.
type rules struct {
	symbols map[string]bool
	writes  bool // calls may write to their arguments
}

func (p *Program) check(r rules) error {
	if p.Graph == nil {
		return Violation("the program has no graph")
	}
	r.symbols = map[string]bool{}
	for _, s := range p.Symbols {
		if !symbolic.ValidName(s.Name) || r.symbols[s.Name] {
			return Violation("%q is no name for one more symbol", s.Name)
		}
		if s.Upper >= 0 && s.Lower > s.Upper {
			return Violation("the range of %s, from %d to %d, is empty", s.Name, s.Lower, s.Upper)
		}
		r.symbols[s.Name] = true
	}
	if err := p.Graph.check(&r, 0); err != nil {
		return err
	}
	return p.checkSignature()
}

func Violation(format string, args ...any) error {
	return source.Errorf(source.ValueError, source.Range{}, format, args...)
}

// checkSignature compares the signature with the placeholders and the outputs.
func (p *Program) checkSignature() error {
	inputs := p.Graph.Placeholders()
	if len(inputs) != len(p.Signature.Inputs) {
		return Violation("the graph has %d placeholders and the signature %d inputs", len(inputs), len(p.Signature.Inputs))
	}
	for i, in := range p.Signature.Inputs {
		if in.Name != inputs[i].Name {
			return Violation("input %d is called %q in the signature and %q in the graph", i, in.Name, inputs[i].Name)
		}
		switch in.Kind {
		case UserInput:
		case Parameter, Buffer, ConstantTensor:
			if in.Target == "" {
				return Violation("the signature does not say which tensor the input %s is", in.Name)
			}
		default:
			return Violation("there are no inputs of kind %q", in.Kind)
		}
	}
	outputs := p.Graph.Outputs()
	if len(outputs) != len(p.Signature.Outputs) {
		return Violation("the graph has %d outputs and the signature %d", len(outputs), len(p.Signature.Outputs))
	}
	for i, out := range p.Signature.Outputs {
		if err := p.checkOutput(out, outputs[i]); err != nil {
			return err
		}
	}
	return nil
}

func (p *Program) checkOutput(out OutputSpec, is Argument) error {
	if name := map[bool]string{true: is.Text}[is.Kind == NodeArgument]; out.Name != name {
		return Violation("an output is called %q in the signature and %q in the graph", out.Name, name)
	}
	switch out.Kind {
	case UserOutput:
		return nil
	case BufferMutation:
		for _, in := range p.Signature.Inputs {
			if in.Kind == Buffer && in.Target == out.Target {
				return nil
			}
		}
	case UserInputMutation:
		for _, in := range p.Signature.Inputs {
			if in.Kind == UserInput && in.Name == out.Target {
				return nil
			}
		}
	default:
		return Violation("there are no outputs of kind %q", out.Kind)
	}
	return Violation("the output %s is the new value of %q, which is no such input", out.Name, out.Target)
}

// Outputs are the arguments of the output node one by one.
func (g *Graph) Outputs() []Argument {
	a := g.Output().Args[0]
	if a.Kind == TupleArgument || a.Kind == ListArgument {
		return a.Items
	}
	return []Argument{a}
}

func (g *Graph) check(r *rules, depth int) error {
	if depth > MaxNesting {
		return Violation("graphs are nested more than %d deep", MaxNesting)
	}
	if len(g.Nodes) == 0 {
		return Violation("a graph has no nodes: it has one output at least")
	}
	for i := range g.Graphs {
		if g.Graphs[i].Graph == nil || !symbolic.ValidName(g.Graphs[i].Name) {
			return Violation("the graph %q is none", g.Graphs[i].Name)
		}
		if err := g.Graphs[i].Graph.check(r, depth+1); err != nil {
			return err
		}
	}
	before := map[string]*Node{}
	calls := false
	for i, n := range g.Nodes {
		if n == nil {
			return Violation("node %d is none", i)
		}
		if !symbolic.ValidName(n.Name) || before[n.Name] != nil {
			return Violation("node %d has no name of its own: %.80q", i, n.Name)
		}
		if (n.Op == Output) != (i == len(g.Nodes)-1) {
			return Violation("a graph has one output node, at its end; %s is node %d of %d", n.Name, i+1, len(g.Nodes))
		}
		if n.Op == Placeholder && calls {
			return Violation("placeholders come before all other nodes; %s does not", n.Name)
		}
		calls = calls || n.Op != Placeholder
		if err := g.checkNode(n, before, r); err != nil {
			return err
		}
		before[n.Name] = n
	}
	return nil
}

func (g *Graph) checkNode(n *Node, before map[string]*Node, r *rules) error {
	for name := range n.uses() {
		used := before[name]
		if used == nil {
			return Violation("%s uses %s, which no node before it gives", n.Name, name)
		}
		if used.Op == GetAttr && !strings.HasPrefix(n.Target, "higher_order::") {
			return Violation("%s uses the graph %s: only control flow operators do", n.Name, name)
		}
	}
	if n.Meta.Val != nil {
		if err := n.Meta.Val.check(n.Name, r.symbols, 0); err != nil {
			return err
		}
	}
	switch n.Op {
	case Placeholder:
		if len(n.Args) > 1 {
			return Violation("the placeholder %s has more than one argument", n.Name)
		}
		if n.Target != "" && !symbolic.ValidName(n.Target) {
			return Violation("the placeholder %s has the target %q, which is no name", n.Name, n.Target)
		}
	case GetAttr:
		if g.Graph(n.Target) == nil {
			return Violation("%s reads the attribute %s: a get_attr node of Export IR reads a graph, and parameters and buffers are inputs", n.Name, n.Target)
		}
		return nil
	case Output:
		if len(n.Args) != 1 {
			return Violation("the output node has %d arguments, not one", len(n.Args))
		}
		return nil
	case CallFunction:
		if err := g.checkCall(n, r); err != nil {
			return err
		}
	default:
		return Violation("%s is a node of kind %s, which Export IR does not have", n.Name, n.Op)
	}
	if n.Meta.Val == nil {
		return Violation("node.meta of %s is missing the field val", n.Name)
	}
	return nil
}

func (v *Value) check(name string, symbols map[string]bool, depth int) error {
	if depth > MaxNesting {
		return Violation("the metadata of %s is nested more than %d deep", name, MaxNesting)
	}
	sizes := append(append([]symbolic.Size(nil), v.Sizes...), v.Strides...)
	if v.Int != nil {
		sizes = append(sizes, *v.Int)
	}
	if v.Kind == TensorValue {
		if err := v.checkTensor(name); err != nil {
			return err
		}
	}
	missing := ""
	for _, s := range sizes {
		s.Symbols(func(symbol string) {
			if !symbols[symbol] {
				missing = symbol
			}
		})
	}
	if missing != "" {
		return Violation("the metadata of %s has the symbol %s, of which the program does not say the range", name, missing)
	}
	for i := range v.Items {
		if err := v.Items[i].check(name, symbols, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// checkTensor fails where constant sizes and strides are negative, or stand for more elements than can be counted.
func (v *Value) checkTensor(name string) error {
	if len(v.Sizes) > maxDimensions || v.Strides != nil && len(v.Strides) != len(v.Sizes) {
		return Violation("the metadata of %s has %d sizes and %d strides", name, len(v.Sizes), len(v.Strides))
	}
	var shape []int
	for i, s := range v.Sizes {
		if s.IsConstant() {
			shape = append(shape, s.Const)
		}
		if s.IsConstant() && s.Const < 0 || v.Strides != nil && v.Strides[i].IsConstant() && v.Strides[i].Const < 0 {
			return Violation("the metadata of %s has a negative size or stride", name)
		}
	}
	if _, err := tensor.Numel(shape); err != nil {
		return Violation("the metadata of %s: %s", name, err)
	}
	return nil
}

func (g *Graph) checkCall(n *Node, r *rules) error {
	namespace, name, _ := strings.Cut(n.Target, "::")
	switch namespace {
	case "operator":
		if o := symbolic.OperationOf(func(o *symbolic.Operation) bool { return o.Name == name }); o == nil || len(n.Args) != o.Arguments || len(n.Kwargs) > 0 {
			return Violation("%s calls operator.%s with %d arguments, which Export IR does not have", n.Name, name, len(n.Args))
		}
		return nil
	case "higher_order":
		return g.checkControl(n, name)
	}
	o := ops.Find(n.Target)
	if o == nil {
		return Violation("%s calls %s: Operator is not registered", n.Name, TargetText(n))
	}
	s := o.Schema()
	if s.IsMutable() && !r.writes {
		return Violation("operator '%s' is not functional: it writes to its arguments", TargetText(n))
	}
	if len(n.Args) > s.NumPositional() {
		return Violation("%s gives %d arguments by position to %s, which takes %d", n.Name, len(n.Args), TargetText(n), s.NumPositional())
	}
	given := map[string]bool{}
	for i := range n.Args {
		given[s.Arguments[i].Name] = true
	}
	for _, k := range n.Kwargs {
		if s.ArgumentIndex(k.Name) < 0 || given[k.Name] {
			return Violation("%s gives the argument %s to %s, which does not take it", n.Name, k.Name, TargetText(n))
		}
		given[k.Name] = true
	}
	for i := range s.Arguments {
		a := &s.Arguments[i]
		if !given[a.Name] && !a.HasDefault && a.Type.Kind() != types.KindGenerator {
			return Violation("%s does not give the argument %s to %s", n.Name, a.Name, TargetText(n))
		}
	}
	return nil
}

// control says what the arguments of a control flow operator are: how many, which are graphs, which are operands of the graphs, and which
// of these has the tensors that the operator goes over.
type control struct {
	arguments        int
	graphs, operands []int
	over             int
}

var controls = map[string]control{
	"cond":       {4, []int{1, 2}, []int{3}, 0},
	"map_impl":   {3, []int{0}, []int{1, 2}, 1},
	"while_loop": {4, []int{0, 1}, []int{2, 3}, 0},
	"scan":       {4, []int{0}, []int{1, 2, 3}, 2},
}

// checkControl checks the call of a control flow operator.
func (g *Graph) checkControl(n *Node, name string) error {
	form, known := controls[name]
	if !known || len(n.Args) != form.arguments || len(n.Kwargs) > 0 {
		return Violation("%s calls the higher-order operator %s with %d arguments, which Export IR does not have", n.Name, name, len(n.Args))
	}
	operands := 0
	for _, i := range form.operands {
		if n.Args[i].Kind != ListArgument && n.Args[i].Kind != TupleArgument {
			return Violation("the operands of %s are no list", n.Name)
		}
		operands += len(n.Args[i].Items)
	}
	if form.over > 0 && len(n.Args[form.over].Items) == 0 {
		return Violation("%s goes over nothing", n.Name)
	}
	for _, i := range form.graphs {
		from := g.Node(n.Args[i].Text)
		if n.Args[i].Kind != NodeArgument || from == nil || from.Op != GetAttr {
			return Violation("argument %d of %s is no graph", i, n.Name)
		}
		inner := g.Graph(from.Target)
		if inner == nil || len(inner.Placeholders()) != operands {
			return Violation("%s gives %d operands to the graph %s", n.Name, operands, from.Target)
		}
	}
	return nil
}

// HasEffect reports whether an operator does something besides computing its results. What it tells a profiler does not count.
func HasEffect(o *ops.Operator) bool {
	return o != nil && o.HasSideEffects() && !strings.HasPrefix(o.Name, "profiler::")
}

// Writes reports whether a run of the program writes to its inputs: buffers, or what the user gives.
func (p *Program) Writes() bool {
	mutation := func(out OutputSpec) bool { return out.Kind == BufferMutation || out.Kind == UserInputMutation }
	return slices.ContainsFunc(p.Signature.Outputs, mutation) || p.Graph.writes()
}

// writes reports whether calls of the graph, or of graphs in it, write to their arguments.
func (g *Graph) writes() bool {
	inner := func(s Subgraph) bool { return s.Graph.writes() }
	return slices.ContainsFunc(g.Nodes, (*Node).writes) || slices.ContainsFunc(g.Graphs, inner)
}

// writes reports whether a call writes to its arguments: its schema says so, or it is a normalization that keeps statistics.
func (n *Node) writes() bool {
	o := ops.Find(n.Target)
	if n.Op != CallFunction || o == nil {
		return false
	}
	s := o.Schema()
	training := s.ArgumentIndex("training")
	if s.IsMutable() || training < 0 || s.ArgumentIndex("running_mean") < 0 {
		return s.IsMutable()
	}
	return training < len(n.Args) && n.Args[training].Int != 0
}

// Sweep removes the nodes that nothing uses and that have no effect, and graphs that no node names.
func Sweep(g *Graph) {
	used := map[string]bool{}
	var kept []*Node
	for i := len(g.Nodes) - 1; i >= 0; i-- {
		n := g.Nodes[i]
		if n.Op == Placeholder || n.Op == Output || used[n.Name] || n.Op == CallFunction && HasEffect(ops.Find(n.Target)) {
			for name := range n.uses() {
				used[name] = true
			}
			kept = append(kept, n)
		}
	}
	for i, j := 0, len(kept)-1; i < j; i, j = i+1, j-1 {
		kept[i], kept[j] = kept[j], kept[i]
	}
	g.Nodes = kept
	var graphs []Subgraph
	for _, s := range g.Graphs {
		for _, n := range kept {
			if n.Op == GetAttr && n.Target == s.Name {
				graphs = append(graphs, s)
				break
			}
		}
	}
	g.Graphs = graphs
}

package exportir

import (
	"encoding/json"
	"strings"

	"github.com/torchjit/torchjit/gojit/internal/export/symbolic"
)

// Program is a captured program.
type Program struct {
	Graph     *Graph    `json:"graph"`
	Signature Signature `json:"signature"`
	Symbols   []Symbol  `json:"symbols"`
	// InSpec and OutSpec say what containers the inputs and the outputs form, in the words of whoever captured.
	InSpec  string `json:"in_spec"`
	OutSpec string `json:"out_spec"`
	// Modules are the classes of the modules that nodes come from, by their paths.
	Modules map[string]string `json:"modules,omitempty"`
	// Points are what tensors that whoever captured asked for are in the graph.
	Points []Argument `json:"points,omitempty"`
}

// Graph is a list of nodes: placeholders, then calls, then one output.
type Graph struct {
	Nodes []*Node `json:"nodes"`
	// Graphs are those that get_attr nodes name.
	Graphs []Subgraph `json:"graphs,omitempty"`
}

// Subgraph is a graph that belongs to a call of a control flow operator.
type Subgraph struct {
	Name  string `json:"name"`
	Graph *Graph `json:"graph"`
}

// The kinds of nodes.
const (
	Placeholder  = "placeholder"
	GetAttr      = "get_attr"
	CallFunction = "call_function"
	Output       = "output"
)

// Node is one line of a graph.
type Node struct {
	Op     string     `json:"op"`
	Name   string     `json:"name"`
	Target string     `json:"target"` // "aten::add.Tensor", "operator::getitem", "higher_order::cond"; the name elsewhere
	Args   []Argument `json:"args,omitempty"`
	Kwargs []Keyword  `json:"kwargs,omitempty"`
	Meta   Meta       `json:"meta"`
}

// Keyword is an argument that is given by its name.
type Keyword struct {
	Name  string   `json:"name"`
	Value Argument `json:"value"`
}

// Meta is what is known of a node besides what it does.
type Meta struct {
	Val *Value `json:"val,omitempty"`
	// Stack is where the captured program was: a line "FILE(LINE): FUNCTION" for each frame, innermost first, or a traceback.
	Stack string `json:"stack,omitempty"`
	// Scope are the paths of the modules whose forward was running, outermost first, with "/" between them.
	Scope string `json:"scope,omitempty"`
	// Source names the function or the module that the operator belongs to.
	Source string `json:"source,omitempty"`
}

// The kinds of values.
const (
	TensorValue = "tensor"
	IntValue    = "int"   // of an expression over symbols
	FloatValue  = "float" // that is not known before the program runs
	BoolValue   = "bool"
	ListValue   = "list"
	NoneValue   = "none"
)

// Value describes what a node gives.
type Value struct {
	Kind    string          `json:"kind"`
	DType   string          `json:"dtype,omitempty"`
	Device  string          `json:"device,omitempty"`
	Sizes   []symbolic.Size `json:"sizes,omitempty"`
	Strides []symbolic.Size `json:"strides,omitempty"`
	Grad    bool            `json:"grad,omitempty"` // the tensor wants a gradient: of inputs
	Int     *symbolic.Size  `json:"int,omitempty"`
	Items   []Value         `json:"items,omitempty"`
}

// Symbol is an integer that is known when the program runs, and the range that it is in. An upper end of -1 stands for none.
type Symbol struct {
	Name  string `json:"name"`
	Lower int    `json:"lower"`
	Upper int    `json:"upper"`
	Hint  int    `json:"hint"`            // what it was when the program was captured
	Label string `json:"label,omitempty"` // the user's name
	Place string `json:"place,omitempty"` // the size of an input that it is
	Must  bool   `json:"must,omitempty"`  // a program in which it is a constant is not what was asked for
}

// The kinds of inputs and outputs.
const (
	UserInput      = "USER_INPUT"
	Parameter      = "PARAMETER"
	Buffer         = "BUFFER"
	ConstantTensor = "CONSTANT_TENSOR"

	UserOutput        = "USER_OUTPUT"
	BufferMutation    = "BUFFER_MUTATION"
	UserInputMutation = "USER_INPUT_MUTATION"

	// Point is a result that is no output: Program.Points has it.
	Point = "POINT"
)

// Signature says what the placeholders and the outputs of a program are, in their order.
type Signature struct {
	Inputs  []InputSpec  `json:"inputs"`
	Outputs []OutputSpec `json:"outputs"`
}

// InputSpec is one placeholder.
type InputSpec struct {
	Kind       string    `json:"kind"`
	Name       string    `json:"name"`                 // of the placeholder
	Target     string    `json:"target,omitempty"`     // of a parameter, a buffer or a constant: its path in the module
	Persistent bool      `json:"persistent,omitempty"` // the buffer is part of the state_dict
	Constant   *Argument `json:"constant,omitempty"`   // the input has this value
}

// OutputSpec is one output.
type OutputSpec struct {
	Kind   string `json:"kind"`
	Name   string `json:"name"`             // of the node, "" for a constant
	Target string `json:"target,omitempty"` // of a mutation: what gets the value
}

// Parse reads a program from JSON. It fails where CheckWriting does.
func Parse(text []byte) (*Program, error) {
	p := &Program{}
	if err := json.Unmarshal(text, p); err != nil {
		return nil, Violation("the program cannot be read: %s", err)
	}
	return p, p.CheckWriting()
}

// Node returns the node of a name, nil where there is none.
func (g *Graph) Node(name string) *Node {
	for _, n := range g.Nodes {
		if n.Name == name {
			return n
		}
	}
	return nil
}

// Graph returns the graph of a name, nil where there is none.
func (g *Graph) Graph(name string) *Graph {
	for i := range g.Graphs {
		if g.Graphs[i].Name == name {
			return g.Graphs[i].Graph
		}
	}
	return nil
}

// Placeholders returns the placeholders in order.
func (g *Graph) Placeholders() []*Node {
	var found []*Node
	for _, n := range g.Nodes {
		if n.Op == Placeholder {
			found = append(found, n)
		}
	}
	return found
}

// Output returns the last node, which gives the outputs; nil in a graph without nodes.
func (g *Graph) Output() *Node {
	if len(g.Nodes) == 0 {
		return nil
	}
	return g.Nodes[len(g.Nodes)-1]
}

// String returns the text of a graph, a node in each line.
func (g *Graph) String() string {
	users := g.users()
	var b strings.Builder
	b.WriteString("graph():\n")
	for _, n := range g.Nodes {
		b.WriteString("    ")
		n.write(&b, users[n.Name])
		b.WriteByte('\n')
	}
	return b.String()
}

// users counts, for each node, the nodes that use it.
func (g *Graph) users() map[string]int {
	users := map[string]int{}
	for _, n := range g.Nodes {
		for name := range n.uses() {
			users[name]++
		}
	}
	return users
}

// uses are the names of the nodes among the arguments.
func (n *Node) uses() map[string]bool {
	names := map[string]bool{}
	add := func(a Argument) {
		if a.Kind == NodeArgument {
			names[a.Text] = true
		}
	}
	for _, a := range n.Args {
		a.walk(add)
	}
	for _, k := range n.Kwargs {
		k.Value.walk(add)
	}
	return names
}

// Called is what errors call a symbol.
func (s *Symbol) Called() string {
	if s.Label != "" {
		return s.Label
	}
	return s.Name
}

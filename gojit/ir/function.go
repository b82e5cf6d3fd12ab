package ir

import (
	"sync"

	"torchjit/gojit/schema"
)

// Function is a compiled function or method: a name, a schema and a graph. The graph is made on
// first use where Define is set, so that functions may refer to each other in any order.
type Function struct {
	Name   string // qualified: "__torch__.f", "__torch__.M.forward"
	Schema *schema.FunctionSchema
	// IsMethod says that the last but one part of the name is a class.
	IsMethod bool

	mu      sync.Mutex
	graph   *Graph
	define  func(*Function) error
	failure error
	state   defineState
	// Compiled is a side table of whoever runs the function, filled on first use.
	Compiled sync.Map
}

type defineState uint8

const (
	undefined defineState = iota
	beingDefined
	defined
)

// NewFunction returns a function with a graph.
func NewFunction(name string, s *schema.FunctionSchema, g *Graph) *Function {
	return &Function{Name: name, Schema: s, graph: g, state: defined}
}

// NewLazyFunction returns a function whose schema and graph define fills in by SetDefinition.
func NewLazyFunction(name string, define func(*Function) error) *Function {
	return &Function{Name: name, define: define}
}

// SetDefinition sets the graph and the schema; define calls it.
func (f *Function) SetDefinition(s *schema.FunctionSchema, g *Graph) { f.Schema, f.graph = s, g }

// EnsureDefined makes the graph if that has not been done. It fails with the error of the
// definition, each time, and with recursive set where the function is being defined just now.
func (f *Function) EnsureDefined() (recursive bool, err error) {
	if f.state == beingDefined {
		return true, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.state == undefined {
		f.state = beingDefined
		f.failure = f.define(f)
		f.state = defined
	}
	return false, f.failure
}

// Graph returns the body, nil where the definition has failed or not been done.
func (f *Function) Graph() *Graph { return f.graph }

// QualifiedName implements types.Method.
func (f *Function) QualifiedName() string { return f.Name }

// ShortName returns the last part of the name.
func (f *Function) ShortName() string {
	for i := len(f.Name) - 1; i >= 0; i-- {
		if f.Name[i] == '.' {
			return f.Name[i+1:]
		}
	}
	return f.Name
}

package ir

import (
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/torchjit/torchjit/gojit/internal/schema"
	"github.com/torchjit/torchjit/gojit/internal/source"
	"github.com/torchjit/torchjit/gojit/internal/types"
)

// Function is a compiled function or method: a name, a schema and a graph. The graph is made on
// first use where Define is set, so that functions may refer to each other in any order.
type Function struct {
	Name   string // qualified: "__torch__.f", "__torch__.M.forward"
	Schema *schema.FunctionSchema
	// IsMethod says that the last but one part of the name is a class.
	IsMethod bool

	graph   *Graph
	define  func(*Function) error
	lock    sync.Locker // held while the function is being defined; nil: the caller sees to it
	failure error
	state   atomic.Uint32
	exposed atomic.Bool
	// IgnoresAutocast says that an autocast casts in the function's code as elsewhere, not by the rules of compiled code.
	IgnoresAutocast atomic.Bool
	// Compiled is a side table of whoever runs the function, filled on first use.
	Compiled sync.Map
}

// The states of a function.
const (
	undefined uint32 = iota
	beingDefined
	defined
)

// NewFunction returns a function with a graph.
func NewFunction(name string, s *schema.FunctionSchema, g *Graph) *Function {
	f := &Function{Name: name, Schema: s, graph: g}
	f.state.Store(defined)
	return f
}

// Schema describes the parameters and results of a graph as those of a function: parameters are called argument_0 and so on where their values have no
// names.
func (g *Graph) Schema(name string) *schema.FunctionSchema {
	s := &schema.FunctionSchema{Name: name}
	for i, in := range g.Inputs() {
		argument := schema.Argument{Name: "argument_" + strconv.Itoa(i), Type: types.Unshaped(in.Type()), ListSize: -1}
		if in.HasName() {
			argument.Name = in.BaseName()
		}
		argument.RealType = argument.Type
		s.Arguments = append(s.Arguments, argument)
	}
	for _, out := range g.Outputs() {
		t := types.Unshaped(out.Type())
		s.Returns = append(s.Returns, schema.Argument{Type: t, RealType: t, ListSize: -1})
	}
	return s
}

// NewLazyFunction returns a function whose schema and graph define fills in by SetDefinition.
// Functions that refer to each other share a lock; nil where the caller lets one goroutine alone
// define them.
func NewLazyFunction(name string, lock sync.Locker, define func(*Function) error) *Function {
	return &Function{Name: name, lock: lock, define: define}
}

// SetDefinition sets the graph and the schema; define calls it.
func (f *Function) SetDefinition(s *schema.FunctionSchema, g *Graph) { f.Schema, f.graph = s, g }

// SetGraph sets the graph of a function that has a schema.
func (f *Function) SetGraph(g *Graph) { f.graph = g }

// EnsureDefined makes the graph if that has not been done. It fails with the error of the
// definition, each time. It must not be called while a function with the same lock is being
// defined: see EnsureDefinedWithin.
func (f *Function) EnsureDefined() error {
	if f.state.Load() == defined {
		return f.failure
	}
	if f.lock != nil {
		f.lock.Lock()
		defer f.lock.Unlock()
	}
	_, err := f.EnsureDefinedWithin()
	return err
}

// EnsureDefinedWithin is EnsureDefined for whoever is defining another function and so holds the
// lock. recursive is set where f itself is being defined just now.
func (f *Function) EnsureDefinedWithin() (recursive bool, err error) {
	switch f.state.Load() {
	case beingDefined:
		return true, nil
	case undefined:
		f.state.Store(beingDefined)
		f.failure = f.define(f)
		f.state.Store(defined)
	}
	return false, f.failure
}

// Graph returns the body, nil where the definition has failed or not been done.
func (f *Function) Graph() *Graph { return f.graph }

// Expose notes that the graph is given to whoever may change it, and returns the graph.
func (f *Function) Expose() *Graph {
	f.exposed.Store(true)
	return f.graph
}

// CheckExposed fails where the graph has been given away and is not well formed now.
func (f *Function) CheckExposed() error {
	if !f.exposed.Load() || f.graph == nil {
		return nil
	}
	err := Verify(f.graph)
	if err == nil {
		err = VerifyKinds(f.graph)
	}
	if err != nil {
		return source.Errorf(source.RuntimeError, source.Range{}, "the graph of %s is not well formed: %s", f.Name, err)
	}
	return nil
}

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
